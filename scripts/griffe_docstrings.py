"""The API reference takes types from the stubs of the compiled module, and docstrings from the module itself."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

COMPILED = "_stiction"


class CompiledDocstrings(griffe.Extension):
    """Puts the docstrings of the compiled module into what was read from its stubs."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Called when a package was read."""
        if COMPILED in pkg.members:
            _fill(pkg.members[COMPILED], importlib.import_module(f"{pkg.path}.{COMPILED}"))


def _fill(stub: Any, value: Any) -> None:
    for name, member in stub.members.items():
        if name.startswith("_") or member.is_alias or not hasattr(value, name):
            continue
        found = inspect.getattr_static(value, name)
        text = inspect.getdoc(found)
        if text and not member.docstring:
            member.docstring = griffe.Docstring(text, parser="numpy", parent=member)
        if member.is_class:
            # Classes of the compiled module are made by `__new__`; the reference looks for `__init__`.
            made = member.members.get("__new__")
            if made is not None and "__init__" not in member.members:
                member.set_member("__init__", griffe.Function("__init__", parameters=made.parameters))
            _fill(member, getattr(value, name))

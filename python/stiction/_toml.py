"""Python values as TOML: the one text format of scenes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .errors import InputError

__all__ = ["dumps"]


def dumps(description: Mapping[str, Any]) -> str:
    """The text of a scene given as a dictionary."""
    return "".join(f"{_key(key)} = {_value(str(key), value)}\n" for key, value in description.items())


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InputError(f"keys of a scene are text, found {key!r}")
    return _text(key)


def _text(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in plain) + '"'


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


#: Deeper than any scene; a list that holds itself has no end.
_MOST_LEVELS = 32


def _value(place: str, value: Any, level: int = 0) -> str:
    if level > _MOST_LEVELS:
        raise InputError(f"{place[:60]}...: a scene has at most {_MOST_LEVELS} levels; does this one hold itself?")
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, str):
        return _text(value)
    if hasattr(value, "__fspath__"):
        return _text(str(value))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(f'{place}.{k}', v, level + 1)}" for k, v in value.items())
        return "{ " + inner + " }"
    if isinstance(value, np.ndarray):
        return _value(place, value.tolist(), level)
    if isinstance(value, Iterable):
        return "[" + ", ".join(_value(f"{place}[{i}]", v, level + 1) for i, v in enumerate(value)) + "]"
    raise InputError(f"{place}: a scene holds numbers, text, lists and dictionaries, found {type(value).__name__}")

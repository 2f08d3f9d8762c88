"""Formulas of the documentation site: blocks marked ``math`` become MathML, which browsers draw without a script."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def _block(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    # One formula per line, or several joined by a blank line between them.
    return "".join(f'<div class="{css_class}">{convert(part.strip(), display="block")}</div>' for part in source.split("\n\n") if part.strip())


def on_config(config: Any) -> Any:
    """Adds the kind of block."""
    fences = config["mdx_configs"].setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "formula", "format": _block})
    return config

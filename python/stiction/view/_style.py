"""Controls for what is shown of contacts, the same for simulations and recordings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..sim import Mode
from ._contacts import COLORS, ContactStyle

__all__ = ["add_style"]

#: Ways to draw forces.
_ARROWS = ("force", "normal and friction", "pairs", "none")
_NAMES = {Mode.STICK: "sticking", Mode.SLIDE: "sliding", Mode.OPEN: "breaking"}


def add_style(gui: Any, style: Callable[[], ContactStyle], changed: Callable[[], None]) -> None:
    """Add the controls; each sets its part of the style, and then says so."""

    def kept(handle: Any, name: str) -> None:
        def set_it(_: Any) -> None:
            setattr(style(), name, handle.value)
            changed()

        handle.on_update(set_it)

    now = style()
    kept(gui.add_dropdown("Forces", _ARROWS, initial_value=now.arrows, hint="pairs: sums per pair of bodies, which are unique"), "arrows")
    kept(gui.add_checkbox("Points", now.points), "points")
    kept(gui.add_checkbox("Friction cones", now.cones), "cones")
    kept(gui.add_slider("Length", min=0.2, max=5.0, step=0.1, initial_value=now.scale, hint="of arrows"), "scale")
    parts = "".join(
        f"<span style='white-space:nowrap'><span style='display:inline-block;width:10px;height:10px;border-radius:50%;margin-right:5px;"
        f"background:rgb{COLORS[mode]}'></span>{name}</span>"
        for mode, name in _NAMES.items()
    )
    gui.add_html(f"<div style='display:flex;gap:14px;padding:4px 12px 8px 12px;font-size:12px'>{parts}</div>")

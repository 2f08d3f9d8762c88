"""Which geoms are drawn: what a file gives to be looked at, what touches, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import InputError

if TYPE_CHECKING:
    from ._stiction import Geom

__all__ = ["SHAPES", "checked", "opacity"]

#: Visual shapes, and those that touch on bodies that have none; those that touch; both.
SHAPES = ("visual", "collision", "both")
#: Of what touches, over what is looked at.
_OVER = 0.35


def checked(shapes: str) -> str:
    """The name of a choice, if it is one."""
    if shapes not in SHAPES:
        raise InputError(f"shapes must be one of {', '.join(SHAPES)}, found {shapes!r}")
    return shapes


def opacity(geom: Geom, shapes: str) -> float:
    """From 0, not drawn, to 1."""
    if shapes == "collision":
        # A file may hide what touches by its opacity.
        return 0.0 if geom.visual else geom.color[3] or 1.0
    if geom.drawn:
        return geom.color[3]
    return _OVER if shapes == "both" and not geom.visual else 0.0

"""Tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .errors import BusyError

__all__ = ["render"]

_FIELDS: dict[str, tuple[str, ...]] = {
    "Solved": ("status", "z", "w", "basis", "certificate", "stats"),
    "Unsolvable": ("status", "proof", "farkas", "stats"),
    "Ray": ("status", "claim", "direction", "stats"),
    "Stopped": ("status", "why", "best", "certificate", "stats"),
    "ContactSolved": ("status", "level", "motion", "normal", "tangent_s", "tangent_t", "modes", "certificate", "stats"),
    "Infeasible": ("status", "least_speed", "stats"),
    "NoSolution": ("status", "proof", "island", "stats"),
    "ContactRay": ("status", "claim", "stats"),
    "ContactFailed": ("status", "why", "certificate", "stats"),
    "Scene": ("title", "bodies", "actuators", "nq", "nv", "dt", "duration", "model", "simulator", "parameters", "notes"),
    "Simulation": ("t", "steps", "q", "v", "certificate"),
    "BatchSimulation": ("n", "threads", "t", "failed"),
    "StepReport": ("ok", "why", "step", "t", "contacts", "active", "pivots", "certificate", "place", "penetration", "slip"),
    "RunReport": ("ok", "why", "steps", "certificate", "contacts", "pivots", "guessed", "penetration", "slip"),
    "Trajectory": ("report", "t", "q", "v"),
}


def render(value: Any) -> str:
    """A table of what an object holds."""
    name = type(value).__name__
    rows = []
    for field in _FIELDS.get(name, ()):
        try:
            text = _text(getattr(value, field))
        except BusyError:
            text = "running in another thread"
        if text:
            rows.append(f"<tr><th style='text-align:left'>{escape(field)}</th><td style='text-align:left'>{escape(text)}</td></tr>")
    return f"<table><caption>{escape(name)}</caption>{''.join(rows)}</table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, threshold=20, edgeitems=4)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(str(x) for x in value[:12])
        return shown + (f", … ({len(value)} in all)" if len(value) > 12 else "")
    if isinstance(value, dict):
        return ", ".join(f"{key} = {x:.6g}" if isinstance(x, float) else f"{key} = {x}" for key, x in value.items())
    return str(value)

"""What notebooks show: tables, and animations of what moves."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .errors import BusyError

__all__ = ["render"]

#: What is shown of each class, by its name.
_FIELDS: dict[str, tuple[str, ...]] = {
    "lcp.Solved": ("status", "z", "w", "basis", "certificate", "stats"),
    "lcp.Unsolvable": ("status", "proof", "farkas", "stats"),
    "lcp.Ray": ("status", "claim", "direction", "stats"),
    "lcp.Stopped": ("status", "why", "best", "certificate", "stats"),
    "lcp.Certificate": ("residual", "backward_error", "worst_row"),
    "lcp.Stats": ("pivots", "iterations", "refactorizations", "restarts", "flops", "attempts"),
    "contact.Solved": ("status", "level", "motion", "normal", "tangent_s", "tangent_t", "modes", "certificate", "stats"),
    "contact.Infeasible": ("status", "least_speed", "multipliers", "stats"),
    "contact.NoSolution": ("status", "proof", "island", "stats"),
    "contact.Ray": ("status", "claim", "direction", "stats"),
    "contact.Failed": ("status", "why", "certificate", "stats"),
    "contact.PhysicalCertificate": ("worst", "place", "momentum", "bilateral", "signorini", "friction", "bounded", "work"),
    "contact.ContactProblem": ("m", "contacts", "dt", "v", "force", "mu", "gap"),
    "Scene": ("title", "bodies", "actuators", "nq", "nv", "dt", "duration", "model", "simulator", "parameters", "notes"),
    "Simulation": ("t", "steps", "q", "v", "certificate"),
    "Recording": ("scene", "dt", "model", "simulator", "tolerance", "notes", "damage"),
    "BatchSimulation": ("n", "threads", "t", "failed"),
    "StepReport": ("ok", "accepted", "why", "step", "t", "contacts", "active", "pivots", "certificate", "place", "penetration", "slip"),
    "EnergyBalance": ("kinetic_before", "kinetic_after", "potential_change", "actuators", "joints", "driven", "projection"),
    "RunReport": ("ok", "why", "steps", "outcomes", "certificate", "contacts", "pivots", "guessed", "penetration", "slip"),
    "sim.Trajectory": ("report", "t", "q", "v"),
    "sim.InverseDynamics": ("effort", "acceleration", "certificate"),
}

#: What shows as an animation, too.
_ANIMATED = ("Simulation", "Recording", "sim.Trajectory")


def render(value: Any) -> str:
    """A table of what an object holds; of what moves an animation, too."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__name__}".removeprefix("stiction.")
    rows = []
    for field in _FIELDS[name]:
        try:
            text = _text(getattr(value, field))
        except BusyError:
            text = "running in another thread"
        if text:
            rows.append(f"<tr><th style='text-align:left'>{escape(field)}</th><td style='text-align:left'>{escape(text)}</td></tr>")
    table = f"<table><caption>{escape(name)}</caption>{''.join(rows)}</table>"
    if name in _ANIMATED:
        from ._notebook import animation

        return animation(value) + table
    return table


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
        return ", ".join(f"{key} = {_text(x)}" for key, x in value.items())
    return str(value)

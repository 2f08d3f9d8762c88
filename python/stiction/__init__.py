"""Exact, certified rigid contact: complementarity solvers, contact models and simulation on NumPy arrays."""

from __future__ import annotations

from . import lcp
from ._stiction import __version__
from .errors import BusyError, InputError, NotSolved, SceneError, StepFailed, StictionError

__all__ = [
    "BusyError",
    "InputError",
    "NotSolved",
    "SceneError",
    "StepFailed",
    "StictionError",
    "__version__",
    "lcp",
]

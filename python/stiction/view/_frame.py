"""What the page shows of one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._stiction import Scene

__all__ = ["Frame", "Pull"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pull:
    """Somebody drags a body: where it is held, where it is drawn to (m), and the force on it (N), world axes."""

    held: Array
    target: Array
    force: Array


@dataclass(frozen=True)
class Frame:
    """A state of the simulation and what its last step came to."""

    #: Changes with the bodies on the page.
    world: int
    scene: Scene
    step: int
    t: float
    #: Poses of the geoms, (geoms, 7).
    poses: Array
    #: Positions of the bodies, (bodies, 3).
    bodies: Array
    #: Contacts of the last step: ``Simulation.contacts``.
    contacts: npt.NDArray[Any]
    #: Largest measure of the last step's certificate; None where there was no step.
    certificate: float | None
    #: A certificate must be at most this.
    tolerance: float
    #: "certified", "accepted", "failed", or "" where there was no step.
    verdict: str = ""
    #: Why a step failed.
    why: str = ""
    pull: Pull | None = None

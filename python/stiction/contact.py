"""Rigid contact with friction from matrices alone: inertia, velocities, forces and Jacobians, wherever they come from.

A solve ends in `Solved`, `Infeasible`, `NoSolution`, `Ray` or `Failed`. Forces cannot be reached unless they were certified from the problem as
given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ._stiction import ContactFailed as Failed
from ._stiction import ContactProblem, Infeasible, Model, NoSolution, PhysicalCertificate
from ._stiction import ContactRay as Ray
from ._stiction import ContactSolved as Solved
from ._stiction import contact_catalog as catalog
from ._stiction import solve_contact as solve
from ._stiction import solve_contact_batch as solve_batch

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "BaraffFriction",
    "ContactProblem",
    "CoulombCone",
    "CoulombPolyhedral",
    "CoulombPyramid",
    "DrumwrightShell",
    "Failed",
    "Frictionless",
    "Infeasible",
    "Model",
    "NoSlip",
    "NoSolution",
    "Outcome",
    "PhysicalCertificate",
    "Ray",
    "Solved",
    "Viscous",
    "catalog",
    "solve",
    "solve_batch",
]

#: What a solve can come to.
Outcome: TypeAlias = Solved | Infeasible | NoSolution | Ray | Failed


#: What every model takes.
_OPTIONS = """

    Parameters
    ----------
    level : {"velocity", "acceleration"}, optional
        What it solves for; ``None`` is the model's usual level.
    tolerance : float
        A solution is certified if every measure of its certificate is at most this. Above 0, below 1.
    max_pivots : int, optional
        Most pivots or iterations per island; ``None`` leaves it to the method.
    """


class _Named(Model):
    """A model whose class says its name."""

    _name = "coulomb-cone"

    def __new__(cls, *, level: str | None = None, tolerance: float = 1e-10, max_pivots: int | None = None) -> Self:
        return super().__new__(cls, cls._name, level=level, tolerance=tolerance, max_pivots=max_pivots)

    # What messages about wrong arguments call it.
    __new__.__qualname__ = "Model.__new__"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ and "Parameters" not in cls.__doc__:
            cls.__doc__ += _OPTIONS


class CoulombCone(_Named):
    """Coulomb with the quadratic cone: the default. Velocity or acceleration level."""


class CoulombPolyhedral(_Named):
    """Coulomb with a cone of eight sides: a solution is certain. Velocity level."""

    _name = "coulomb-polyhedral"


class CoulombPyramid(_Named):
    """Coulomb with a pyramid: rolling, sliding, soft fingers. Acceleration level."""

    _name = "coulomb-pyramid"


class Frictionless(_Named):
    """Signorini alone. Velocity or acceleration level."""

    _name = "frictionless"


class Viscous(_Named):
    """Drag in proportion to slip, whatever the normal force. Velocity or acceleration level."""

    _name = "viscous"


class NoSlip(_Named):
    """Touching contacts do not slip: grasps and feet that must hold. Velocity level."""

    _name = "no-slip"


class BaraffFriction(_Named):
    """Static and dynamic friction by the driving method; rays become impacts. Acceleration level."""

    _name = "baraff-friction"


class DrumwrightShell(_Named):
    """Least kinetic energy within the cones. Velocity level."""

    _name = "drumwright-shell"


_CLASSES = {
    kind._name: kind
    for kind in (CoulombCone, CoulombPolyhedral, CoulombPyramid, Frictionless, Viscous, NoSlip, BaraffFriction, DrumwrightShell)
}


def _model(name: str, level: str, tolerance: float, max_pivots: int | None) -> Model:
    """A model from its pickle."""
    return _CLASSES[name](level=level, tolerance=tolerance, max_pivots=max_pivots)

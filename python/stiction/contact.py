"""Rigid contact with friction from matrices alone: inertia, velocities, forces and Jacobians, wherever they come from.

A solve ends in `Solved`, `Infeasible`, `NoSolution`, `Ray` or `Failed`. Forces cannot be reached unless they were certified from the problem as
given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ._solutions import AllSolutions
from ._stiction import ContactFailed as Failed
from ._stiction import ContactProblem, Infeasible, Model, NoSolution, PhysicalCertificate
from ._stiction import ContactRay as Ray
from ._stiction import ContactSolved as Solved
from ._stiction import contact_catalog as catalog
from ._stiction import pyramid_existence, pyramid_solutions
from ._stiction import solve_contact as solve
from ._stiction import solve_contact_batch as solve_batch

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AllSolutions",
    "BaraffFriction",
    "ContactProblem",
    "CoulombCone",
    "CoulombPolyhedral",
    "CoulombPyramid",
    "DrumwrightShell",
    "Existence",
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
    solver : str, optional
        The method: one of the model's ``solvers`` in `catalog`; ``None`` is the usual one.
    """


class _Named(Model):
    """A model whose class says its name."""

    _name = "coulomb-cone"

    def __new__(cls, *, level: str | None = None, tolerance: float = 1e-10, max_pivots: int | None = None, solver: str | None = None) -> Self:
        return super().__new__(cls, cls._name, level=level, tolerance=tolerance, max_pivots=max_pivots, solver=solver)

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


@dataclass(frozen=True)
class Existence:
    """Whether a problem is known to have a solution before it is solved. True in a condition if it is.

    Attributes
    ----------
    guaranteed : bool
        Every island has a solution.
    island : int, optional
        The first island that the theorem does not speak of; it may have a solution all the same.
    why : str
        Which of the theorem's conditions does not hold there; empty if all do.
    """

    guaranteed: bool
    island: int | None
    why: str

    def __bool__(self) -> bool:
        return self.guaranteed


class CoulombPyramid(_Named):
    """Coulomb with a pyramid: rolling, sliding, soft fingers. Acceleration level.

    Parameters
    ----------
    level : {"acceleration"}, optional
    tolerance : float
        A solution is certified if every measure of its certificate is at most this. Above 0, below 1.
    max_pivots : int, optional
        Most pivots or iterations per island; ``None`` leaves it to the method.
    solver : {"auto", "lemke", "feasible-interior-point"}, optional
    quasistatic : bool
        Leaves inertia out: forces are in equilibrium, ``force + N.T @ normal + ... == 0``, and the motion is what the rows then allow. With targets
        and rates that are speeds, the motion is a velocity. It need not be unique, and there may be no equilibrium. Without a choice of solver.

    Examples
    --------
    A box of 4 kg lies on the floor, pushed by 12 N: within the friction of 0.5 it rests, in equilibrium.

    >>> import numpy as np, stiction
    >>> problem = stiction.contact.ContactProblem(4.0 * np.eye(2), v=[0.0, 0.0], force=[12.0, -40.0], dt=1e-3)
    >>> problem.add_contacts([[0.0, 1.0]], [[1.0, 0.0]], mu=0.5)
    >>> found = stiction.contact.CoulombPyramid(quasistatic=True).solve(problem).require()
    >>> found.normal.tolist(), found.tangent_s.tolist()
    ([40.0], [-12.0])
    """

    _name = "coulomb-pyramid"

    def __new__(cls, *, level: str | None = None, tolerance: float = 1e-10, max_pivots: int | None = None, solver: str | None = None,
                quasistatic: bool = False) -> Self:
        options = {"level": level, "tolerance": tolerance, "max_pivots": max_pivots, "solver": solver, "quasistatic": quasistatic}
        return Model.__new__(cls, cls._name, **options)  # type: ignore[arg-type]

    __new__.__qualname__ = "Model.__new__"

    def existence(self, problem: ContactProblem) -> Existence:
        """Whether Theorem 1 of Trinkle et al. guarantees a solution, verified numerically island by island.

        It does where no contact slides and no forces that balance each other gain from the velocity products; and where the accelerations of
        normals and rolling tangents per unit of their forces are a positive definite matrix, as for small friction.

        Parameters
        ----------
        problem : ContactProblem

        Returns
        -------
        Existence
        """
        doubt = pyramid_existence(self, problem)
        return Existence(True, None, "") if doubt is None else Existence(False, *doubt)

    def all_solutions(self, problem: ContactProblem) -> AllSolutions[Solved]:
        """Every solution of a small problem, by trying all bases of each island in exact arithmetic.

        Parameters
        ----------
        problem : ContactProblem
            Up to 12 unknowns per island: one per contact, two more per tangent that does not slide.

        Returns
        -------
        AllSolutions

        Raises
        ------
        InputError
            An island is larger, there are more than 1024 solutions, or the model is quasistatic.
        """
        return AllSolutions(*pyramid_solutions(self, problem))


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


def _model(name: str, level: str, tolerance: float, max_pivots: int | None, solver: str | None = None, quasistatic: bool = False) -> Model:
    """A model from its pickle."""
    if quasistatic:
        return CoulombPyramid(level=level, tolerance=tolerance, max_pivots=max_pivots, quasistatic=True)
    return _CLASSES[name](level=level, tolerance=tolerance, max_pivots=max_pivots, solver=solver)

"""Complementarity problems on arrays: ``w = M z + q``, ``z >= 0``, ``w >= 0``, ``z * w == 0``.

A solve ends in `Solved`, `Unsolvable`, `Ray` or `Stopped`. ``z`` cannot be reached unless it was certified from the problem and ``z`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy.typing as npt

from ._solutions import AllSolutions
from ._stiction import (
    Certificate,
    ExactCheck,
    Ray,
    Solved,
    Solver,
    Stats,
    Stopped,
    Unsolvable,
    boxed,
    catalog,
    certify,
    classify,
    factored,
    mlcp,
    nnls,
    solve,
    solve_batch,
)
from ._stiction import all_solutions as _all_solutions

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AllSolutions",
    "Auto",
    "Certificate",
    "Dantzig",
    "Enumerate",
    "ExactCheck",
    "FeasibleInteriorPoint",
    "InteriorPoint",
    "Lemke",
    "ModifiedPpm",
    "Nnls",
    "Outcome",
    "PrincipalPivot",
    "ProjectedGaussSeidel",
    "Ray",
    "Solved",
    "Solver",
    "Stats",
    "Stopped",
    "Unsolvable",
    "all_solutions",
    "boxed",
    "catalog",
    "certify",
    "classify",
    "factored",
    "mlcp",
    "nnls",
    "solve",
    "solve_batch",
]

#: What a solve can come to.
Outcome: TypeAlias = Solved | Unsolvable | Ray | Stopped


def all_solutions(M: npt.ArrayLike, q: npt.ArrayLike, *, tolerance: float = 1e-10, max_order: int = 20) -> AllSolutions[Solved]:
    """Every solution of a small problem, by trying all of its bases in exact arithmetic.

    Parameters
    ----------
    M : array_like, (n, n)
    q : array_like, (n,)
    tolerance : float
        Solutions are certified to this, once each entry is rounded to a double.
    max_order : int
        Largest n: there are 2**n bases.

    Returns
    -------
    AllSolutions

    Raises
    ------
    InputError
        The problem is larger.

    Examples
    --------
    >>> import stiction
    >>> found = stiction.lcp.all_solutions([[-1.0]], [1.0])
    >>> [s.z.tolist() for s in found], found.complete
    ([[0.0], [1.0]], True)
    """
    return AllSolutions(*_all_solutions(M, q, tolerance, max_order))


#: What every solver takes.
_OPTIONS = """

    Parameters
    ----------
    tolerance : float
        A solution is certified if its certificate holds at this tolerance (``Certificate.holds``). Above 0, below 1.
    max_pivots : int, optional
        Most pivots or iterations; ``None`` leaves it to the method.
    max_flops : int, optional
        Most floating-point operations, over everything the method tries; ``None`` for 2e10 or 20 n**3, whichever is
        more. What ends there is `Stopped` with the reason ``"budget"``, at the same place in every run.
    trace : bool
        Keep a line per pivot in ``outcome.stats.trace``.
    """


class _Named(Solver):
    """A solver whose class says its name."""

    _name = "auto"

    def __new__(
        cls,
        *,
        tolerance: float = 1e-10,
        max_pivots: int | None = None,
        max_flops: int | None = None,
        trace: bool = False,
    ) -> Self:
        return super().__new__(
            cls, cls._name, tolerance=tolerance, max_pivots=max_pivots, max_flops=max_flops, trace=trace
        )

    # What messages about wrong arguments call it.
    __new__.__qualname__ = "Solver.__new__"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ and "Parameters" not in cls.__doc__:
            cls.__doc__ += _OPTIONS


class Auto(_Named):
    """Looks at the problem, picks a method, verifies, falls back, and says what it did."""


class Lemke(_Named):
    """Lemke's complementary pivoting: any matrix; Coulomb friction."""

    _name = "lemke"


class PrincipalPivot(_Named):
    """Principal pivoting (PPM I) with the least-index rule: P-matrices; short solves from a good basis."""

    _name = "principal-pivot"


class ModifiedPpm(_Named):
    """Principal pivoting on a factored matrix: many contacts on few degrees of freedom."""

    _name = "modified-ppm"


class Nnls(_Named):
    """Active-set least squares with an updated QR factor: factored problems; always ends."""

    _name = "nnls"


class Dantzig(_Named):
    """Baraff's driving method with an incremental factor: symmetric positive semidefinite problems."""

    _name = "dantzig"


class InteriorPoint(_Named):
    """Predictor-corrector, then crossover to an exact basis: large monotone problems."""

    _name = "interior-point"


class FeasibleInteriorPoint(_Named):
    """The feasible path-following method of Trinkle and others, to compare with the literature."""

    _name = "feasible-interior-point"


class ProjectedGaussSeidel(_Named):
    """The iteration of most physics engines, to compare with them; rarely reaches the tolerance."""

    _name = "projected-gauss-seidel"


class Enumerate(_Named):
    """Every complementary basis in exact arithmetic: small problems, proofs that there is no solution."""

    _name = "enumerate"


_CLASSES = {
    kind._name: kind
    for kind in (
        Auto,
        Lemke,
        PrincipalPivot,
        ModifiedPpm,
        Nnls,
        Dantzig,
        InteriorPoint,
        FeasibleInteriorPoint,
        ProjectedGaussSeidel,
        Enumerate,
    )
}


def _solver(
    name: str, tolerance: float, max_pivots: int | None, trace: bool, max_flops: int | None = None
) -> Solver:
    """A solver from its pickle; pickles of before have no budget."""
    return _CLASSES[name](tolerance=tolerance, max_pivots=max_pivots, max_flops=max_flops, trace=trace)

"""The certificate of a complementarity problem in rational arithmetic: `docs/certificate.md`, from the numbers alone.

This module shares no code with the solvers, nor with the certificate it checks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["LcpMeasures", "check_lcp", "gram"]

#: The relative rounding of doubles.
ROUNDING = Fraction(1, 2**53)


@dataclass(frozen=True)
class LcpMeasures:
    """The exact numbers of a vector z."""

    #: Row-by-row backward error; `None` where z is outside its bounds.
    backward_error: Fraction | None
    #: Natural-map residual.
    residual: Fraction
    #: The residual that rounding z to doubles can produce by itself.
    rounding_limit: Fraction

    def solved(self, tolerance: float) -> bool:
        """True if z may be called solved at this tolerance.

        Parameters
        ----------
        tolerance : float
        """
        t = Fraction(tolerance)
        close = self.backward_error is not None and self.backward_error <= t
        return close and self.residual <= max(t, self.rounding_limit)


def gram(G: Sequence[Sequence[float]]) -> list[list[Fraction]]:
    """Gᵀ G without rounding.

    Parameters
    ----------
    G : matrix
        By its rows.
    """
    columns = [[Fraction(x) for x in column] for column in zip(*G, strict=True)]
    return [[sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) for b in columns] for a in columns]


def check_lcp(
    M: Sequence[Sequence[float | Fraction]],
    q: Sequence[float],
    z: Sequence[float],
    *,
    free: Sequence[bool] | None = None,
    lo: Sequence[float] | None = None,
    hi: Sequence[float] | None = None,
) -> LcpMeasures:
    """The exact measures of z for w = M z + q: an LCP; with `free` a mixed one; with `lo` and `hi` one with bounds.

    Parameters
    ----------
    M : matrix
        By its rows; fractions are taken as they are.
    q, z : sequence of float
    free : sequence of bool, optional
        Rows with w = 0 whose z has any sign.
    lo, hi : sequence of float, optional

    Returns
    -------
    LcpMeasures
    """
    n = len(q)
    exact_z = [Fraction(float(x)) for x in z]
    exact_q = [Fraction(float(x)) for x in q]
    rows = [[x if isinstance(x, Fraction) else Fraction(float(x)) for x in row] for row in M]
    largest = max((abs(x) for row in rows for x in row), default=Fraction(0))
    norm = max((abs(x) for x in exact_q), default=Fraction(0))
    mu, sigma = largest or Fraction(1), norm or Fraction(1)
    bounds = _bounds(n, free, lo, hi)
    scale = _scale(mu, norm, bounds, free is not None, lo is not None or hi is not None)
    backward: Fraction | None = Fraction(0)
    residual, size = Fraction(0), Fraction(0)
    for i in range(n):
        terms = [a * x for a, x in zip(rows[i], exact_z, strict=True)]
        w, omega = exact_q[i] + sum(terms), abs(exact_q[i]) + sum((abs(t) for t in terms), Fraction(0))
        low, high = bounds[i]
        if (low is not None and exact_z[i] < low) or (high is not None and exact_z[i] > high):
            backward = None
        if low is None or high is None or low < high:
            size = max(size, omega)
            below = Fraction(0) if exact_z[i] == high else -w
            above = Fraction(0) if exact_z[i] == low else w
            wrong = max(below, above)
            if backward is not None and wrong > 0:
                backward = max(backward, wrong / omega)
        if free is not None and free[i]:
            residual = max(residual, abs(w) / sigma)
        else:
            step = w if high is None else max(w, mu * (exact_z[i] - high))
            step = step if low is None else min(step, mu * (exact_z[i] - low))
            residual = max(residual, abs(step) / scale)
    return LcpMeasures(backward, residual, 2 * ROUNDING * size / scale)


def _bounds(
    n: int, free: Sequence[bool] | None, lo: Sequence[float] | None, hi: Sequence[float] | None
) -> list[tuple[Fraction | None, Fraction | None]]:
    if free is not None:
        return [(None, None) if f else (Fraction(0), None) for f in free]
    low = [0.0] * n if lo is None else [float(x) for x in lo]
    high = [math.inf] * n if hi is None else [float(x) for x in hi]

    def finite(x: float) -> Fraction | None:
        return None if math.isinf(x) else Fraction(x)

    return [(finite(a), finite(b)) for a, b in zip(low, high, strict=True)]


def _scale(
    mu: Fraction, norm: Fraction, bounds: list[tuple[Fraction | None, Fraction | None]], mixed: bool, bounded: bool
) -> Fraction:
    if mixed:
        return norm or Fraction(1)
    if not bounded:
        return norm or mu
    largest = max((abs(b) for pair in bounds for b in pair if b is not None), default=Fraction(0))
    return max(mu * largest, norm) or mu

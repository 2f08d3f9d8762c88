"""Random complementarity problems, by family."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Matrix = list[list[float]]


@dataclass
class LcpCase:
    """A problem: M (or G, where factored), q, and what kind it is."""

    kind: str
    M: Matrix
    q: list[float]
    extra: dict[str, Any] = field(default_factory=dict)


def _times(a: Matrix, x: list[float]) -> list[float]:
    return [sum(p * q for p, q in zip(row, x, strict=True)) for row in a]


def _gram(g: Matrix, shift: float = 0.0) -> Matrix:
    n = len(g[0])
    return [[sum(row[i] * row[j] for row in g) + (shift if i == j else 0.0) for j in range(n)] for i in range(n)]


def _normal(rng: random.Random, rows: int, cols: int) -> Matrix:
    return [[rng.gauss(0, 1) for _ in range(cols)] for _ in range(rows)]


def _scaled(rng: random.Random, M: Matrix, q: list[float], power: float) -> tuple[Matrix, list[float]]:
    """Rows and columns in other units, up to 10^power, and some rows redundant."""
    n = len(q)
    d = [10 ** rng.uniform(-power, power) for _ in range(n)]
    return [[M[i][j] * d[i] * d[j] for j in range(n)] for i in range(n)], [q[i] * d[i] for i in range(n)]


def _solvable(rng: random.Random, M: Matrix, spread: float) -> list[float]:
    """A q for which some z ≥ 0 with numbers over 10^±spread is a solution but for rounding."""
    n = len(M)
    z = [10 ** rng.uniform(-spread, spread) if rng.random() < 0.6 else 0.0 for _ in range(n)]
    w = [0.0 if x > 0 or rng.random() < 0.2 else 10 ** rng.uniform(-spread, spread) for x in z]
    return [a - b for a, b in zip(w, _times(M, z), strict=True)]


def semidefinite(rng: random.Random) -> LcpCase:
    """Symmetric, positive semidefinite, of low rank."""
    n = rng.randint(1, 8)
    M = _gram(_normal(rng, rng.randint(1, n), n))
    return LcpCase("lcp", M, _solvable(rng, M, rng.choice([0, 3])))


def monotone(rng: random.Random) -> LcpCase:
    """The same plus a skew part."""
    n = rng.randint(2, 8)
    M, s = _gram(_normal(rng, rng.randint(1, n), n)), _normal(rng, n, n)
    M = [[M[i][j] + s[i][j] - s[j][i] for j in range(n)] for i in range(n)]
    return LcpCase("lcp", M, _solvable(rng, M, 1))


def scaled(rng: random.Random) -> LcpCase:
    """Units over 10^±8."""
    case = rng.choice([semidefinite, monotone])(rng)
    M, q = _scaled(rng, case.M, case.q, rng.uniform(0, 4))
    return LcpCase("lcp", M, q)


def two_by_two(rng: random.Random) -> LcpCase:
    """Entries of any size, which may cancel."""
    entry = lambda: rng.choice([-1, 1, 1]) * rng.uniform(0.5, 1) * 10 ** rng.uniform(-8, 8)  # noqa: E731
    a, b = abs(entry()), entry()
    M = [[a, b], [b if rng.random() < 0.5 else entry(), abs(entry())]]
    return LcpCase("lcp", M, [entry(), entry()])


def redundant(rng: random.Random) -> LcpCase:
    """Rows doubled, exactly or but for rounding."""
    n = rng.randint(2, 5)
    g = _normal(rng, rng.randint(1, 4), n)
    copies = [k for k in range(n) for _ in range(rng.randint(1, 2))]
    factor = [1.0 if rng.random() < 0.7 else rng.uniform(0.1, 9) for _ in copies]
    g = [[row[k] * f for k, f in zip(copies, factor, strict=True)] for row in g]
    M = _gram(g)
    return LcpCase("lcp", M, _solvable(rng, M, 0))


def any_matrix(rng: random.Random) -> LcpCase:
    """No class at all."""
    n = rng.randint(1, 5)
    small = rng.random() < 0.5
    pick = (lambda: float(rng.randint(-2, 2))) if small else (lambda: rng.gauss(0, 1))
    return LcpCase("lcp", [[pick() for _ in range(n)] for _ in range(n)], [pick() for _ in range(n)])


def mixed(rng: random.Random) -> LcpCase:
    """Some rows free."""
    case = rng.choice([semidefinite, monotone, scaled])(rng)
    return LcpCase("mlcp", case.M, case.q, {"free": [rng.random() < 0.4 for _ in case.q]})


def bounded(rng: random.Random) -> LcpCase:
    """Bounds on both sides, some infinite, some equal."""
    case = rng.choice([semidefinite, monotone, scaled, redundant])(rng)
    lo, hi = [], []
    for _ in case.q:
        a, b = sorted([rng.gauss(0, 1) * 10 ** rng.uniform(-2, 2), rng.gauss(0, 1)])
        low = rng.choice([a, 0.0, float("-inf")])
        lo.append(low)
        hi.append(rng.choice([max(b, low), max(1.0, low), float("inf"), low if low > float("-inf") else b]))
    return LcpCase("box", case.M, case.q, {"lo": lo, "hi": hi})


def factored(rng: random.Random) -> LcpCase:
    """Gᵀ G with columns over 10^±4, which need not be independent."""
    n, m = rng.randint(1, 8), rng.randint(1, 5)
    g = _normal(rng, m, n)
    size = [10 ** rng.uniform(-4, 4) if rng.random() < 0.5 else 1.0 for _ in range(n)]
    g = [[x * s for x, s in zip(row, size, strict=True)] for row in g]
    e = _solvable(rng, _gram(g), 0)
    case = LcpCase("factored", g, e)
    if rng.random() < 0.4:
        case.extra = {"lo": [0.0] * n, "hi": [rng.choice([1.0, 1e-3, float("inf")]) for _ in range(n)]}
    return case


def chain(rng: random.Random) -> LcpCase:
    """Masses between springs: tridiagonal, with a mass ratio."""
    n, ratio = rng.randint(2, 12), 10 ** rng.uniform(0, 6)
    inverse = [1.0 if rng.random() < 0.5 else 1 / ratio for _ in range(n + 1)]
    M = [[0.0] * n for _ in range(n)]
    for i in range(n):
        M[i][i] = inverse[i] + inverse[i + 1]
        if i + 1 < n:
            M[i][i + 1] = M[i + 1][i] = -inverse[i + 1]
    return LcpCase("lcp", M, [rng.gauss(-1, 1) for _ in range(n)])


FAMILIES: dict[str, Callable[[random.Random], LcpCase]] = {
    "lcp/semidefinite": semidefinite,
    "lcp/monotone": monotone,
    "lcp/scaled": scaled,
    "lcp/two-by-two": two_by_two,
    "lcp/redundant": redundant,
    "lcp/any": any_matrix,
    "lcp/chain": chain,
    "mlcp": mixed,
    "box": bounded,
    "factored": factored,
}

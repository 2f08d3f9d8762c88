"""quantecon: Lemke's method with a lexicographic rule against cycling."""

import importlib.metadata

from quantecon.optimize import lcp_lemke

VERSION = importlib.metadata.version("quantecon")
WHAT = "Lemke's method with a lexicographic rule, compiled by Numba"
GROUPS = ("LCPs",)
SETTINGS = ("default",)
TOLERANCES = (None,)


def prepare(problem, setting, tolerance):
    def solve():
        outcome = lcp_lemke(problem.matrix, problem.q, max_iter=10**5)
        return outcome.z if outcome.success else None

    return solve

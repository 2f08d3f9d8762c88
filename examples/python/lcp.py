"""An LCP in five lines: two contacts that share a body, so M is singular, as redundant contacts make it."""

import numpy as np

import stiction

match stiction.lcp.solve(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([-1.0, -1.0])):
    case stiction.lcp.Solved(z) as solved:
        print(f"z1 + z2 = {z.sum():.6f}, certified: {solved.certificate.holds(1e-10)}, exactly: {solved.verify_exact().verdict}")
    case other:
        print(f"not solved: {other.status}")

"""Siconos: nonsmooth Gauss-Seidel on contact problems, Lemke's method on LCPs."""

import numpy as np
import siconos.numerics as sn

VERSION = str(getattr(sn, "__version__", "unknown"))
WHAT = "nonsmooth Gauss-Seidel over the contacts; LCPs by Lemke's method"
GROUPS = ("contact problems", "LCPs")
SETTINGS = ("default",)
TOLERANCES = (1e-3, 1e-6, 1e-9)
ITERATIONS = 100_000


def prepare(problem, setting, tolerance):
    if problem.group == "LCPs":
        matrix = np.asfortranarray(problem.matrix)

        def solve():
            z, w = np.zeros(len(problem.q)), np.zeros(len(problem.q))
            options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
            info = sn.linearComplementarity_driver(sn.LCP(matrix, problem.q), z, w, options)
            return None if info else z

        return solve

    contacts = sn.FrictionContactProblem(3, problem.delassus, problem.free, problem.friction)

    def solve():
        p, u = np.zeros(len(problem.free)), np.zeros(len(problem.free))
        options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = ITERATIONS
        info = sn.fc3d_driver(contacts, p, u, options)
        return None if info else p

    return solve

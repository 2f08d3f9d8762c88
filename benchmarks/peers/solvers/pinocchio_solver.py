"""Pinocchio: its ADMM and its projected Gauss-Seidel on contact problems."""

import numpy as np
import pinocchio as pin

VERSION = pin.__version__
WHAT = "ADMM or projected Gauss-Seidel on the Delassus matrix, which is given; *islands*: ADMM island by island, with settings that make it faster"
GROUPS = ("contact problems",)
SETTINGS = ("default", "islands", "projected Gauss-Seidel")
TOLERANCES = (1e-3, 1e-6, 1e-9)
ITERATIONS = 10_000
#: From this many rows on a sparse Delassus matrix is faster.
SPARSE_ROWS = 60


class Part:
    """Some contacts of a problem, ready to be solved from the start."""

    def __init__(self, problem, contacts, setting, tolerance):
        # Its rows are the tangents, then the normal.
        self.rows = (3 * np.asarray(contacts)[:, None] + np.array([1, 2, 0])).ravel()
        matrix = np.ascontiguousarray(problem.delassus[np.ix_(self.rows, self.rows)])
        self.free = problem.free[self.rows]
        sweeps, islands = setting == "projected Gauss-Seidel", setting == "islands"
        if islands and len(self.rows) >= SPARSE_ROWS:
            import scipy.sparse

            self.make_delassus = lambda: pin.DelassusOperatorSparse(scipy.sparse.csc_matrix(matrix))
        else:
            self.make_delassus = lambda: pin.DelassusOperatorDense(matrix)
        self.pair = pin.PGSConstraintSolver if sweeps else pin.ADMMConstraintSolver, pin.PGSSolverResult if sweeps else pin.ADMMSolverResult
        self.settings = pin.PGSSolverSettings() if sweeps else pin.ADMMSolverSettings()
        self.settings.max_iterations = ITERATIONS
        for name in ("absolute_feasibility_tol", "relative_feasibility_tol", "absolute_complementarity_tol", "relative_complementarity_tol"):
            setattr(self.settings, name, tolerance)
        if islands:
            self.settings.lanczos_size = min(5, len(self.rows))
            self.settings.rho_min_update_frequency = 10
            self.settings.anderson_capacity = 5
        model = pin.Model()
        self.models, self.datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for i in contacts:
            contact = pin.PointContactConstraintModel(model)
            contact.setFriction(float(problem.friction[i]))
            wrapped = pin.ConstraintModel(contact)
            self.models.append(wrapped)
            self.datas.append(wrapped.createData())

    def solve(self, out):
        """Writes the impulses; false if they are said not to be solved."""
        solver, result = self.pair[0](len(self.rows)), self.pair[1]()
        if not solver.solve(self.make_delassus(), self.free, self.models, self.datas, self.settings, result):
            return False
        out[self.rows] = result.retrieveConstraintImpulses()
        return True


def prepare(problem, setting, tolerance):
    every = [np.arange(len(problem.friction))]
    parts = [Part(problem, contacts, setting, tolerance) for contacts in (problem.islands if setting == "islands" else every)]

    def solve():
        out = np.zeros(len(problem.free))
        return out if all([part.solve(out) for part in parts]) else None

    return solve

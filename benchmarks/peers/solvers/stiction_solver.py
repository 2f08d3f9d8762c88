"""Stiction: the cone model on contact problems, Lemke's method on LCPs."""

import numpy as np
import stiction

VERSION = stiction.__version__
WHAT = "cone model, cold, with its certificate of 1e-10; LCPs by Lemke's method, with theirs"
GROUPS = ("contact problems", "LCPs")
SETTINGS = ("default",)
TOLERANCES = (1e-10,)


def prepare(problem, setting, tolerance):
    if problem.group == "LCPs":
        lemke = stiction.lcp.Lemke()
        return lambda: outcome.z if (outcome := lemke.solve(problem.matrix, problem.q)).status == "solved" else None
    contacts, model = stiction.contact.ContactProblem.from_json(problem.json), stiction.contact.CoulombCone()

    def solve():
        outcome = model.solve(contacts)
        return np.stack([outcome.normal, outcome.tangent_s, outcome.tangent_t], axis=1) if outcome.status == "solved" else None

    return solve

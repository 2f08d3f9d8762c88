#!/usr/bin/env python3
"""Random problems, solved by the package and judged in rational or 60-digit arithmetic that shares no code with it.

    python tests/checker/run.py [--count 2000] [--seed 1] [--family NAME] [--first K] [--fractions]

No answer may be called solved whose exact measure is above the stated one. Prints a line per family; the exit code is 1 if one is.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import contact_families  # noqa: E402
import lcp_families  # noqa: E402

from stiction import InputError, contact, lcp, verify  # noqa: E402

TOLERANCE = 1e-10
#: Models and levels that a contact problem is given to, in turn.
MODELS = [
    ("coulomb-cone", "velocity"),
    ("coulomb-polyhedral", "velocity"),
    ("frictionless", "velocity"),
    ("viscous", "velocity"),
    ("no-slip", "velocity"),
    ("drumwright-shell", "velocity"),
    ("coulomb-cone", "acceleration"),
    ("coulomb-pyramid", "acceleration"),
    ("frictionless", "acceleration"),
    ("viscous", "acceleration"),
    ("baraff-friction", "acceleration"),
]


@dataclass
class Tally:
    """What the problems of a family came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    #: Answers called solved with a measure above the stated one, by measure.
    above: Counter[str] = field(default_factory=Counter)
    #: Those of them with a measure above the tolerance too.
    wrong: int = 0
    worst: float = 0.0
    example: str = ""

    def note(self, index: int, what: str, exact: float, stated: float, limit: float) -> None:
        """An exact measure beside the stated one, and beside the largest that may be called solved."""
        self.worst = max(self.worst, exact)
        if exact > limit or math.isnan(exact):
            self.wrong += 1
        if exact > stated or math.isnan(exact):
            self.above[what] += 1
            if not self.example or exact > limit:
                self.example = f"#{index} {what}: exact {exact:.3e}, stated {stated:.3e}"


def check_lcp(case: lcp_families.LcpCase, index: int, tally: Tally) -> None:
    """Solve a complementarity problem and judge the answer."""
    extra = case.extra
    M: Any = case.M
    if case.kind == "factored":
        answer = lcp.factored(case.M, case.q, **extra)
        M = verify.gram(case.M)
    elif case.kind == "box":
        answer = lcp.boxed(case.M, case.q, **extra)
    elif case.kind == "mlcp":
        answer = lcp.mlcp(case.M, case.q, **extra)
    else:
        answer = lcp.solve(case.M, case.q)
    tally.outcomes[answer.status] += 1
    if answer.status != "solved":
        return
    exact = verify.check_lcp(M, case.q, answer.z, **extra)
    stated = answer.certificate
    backward = Fraction(10) ** 300 if exact.backward_error is None else exact.backward_error
    limit = max(TOLERANCE, float(exact.rounding_limit))
    for what, value, said, most in [
        ("backward error", backward, stated.backward_error, TOLERANCE),
        ("residual", exact.residual, stated.residual, limit),
    ]:
        # Doubles round: compare as fractions, report as doubles.
        is_above = math.isfinite(said) and value > Fraction(said)
        tally.note(index, what, float(value) if is_above else min(float(value), said), said, most)
    limited = getattr(stated, "rounding_limit", None)
    if limited is not None and Fraction(limited) > exact.rounding_limit:
        tally.note(index, "rounding limit", limited, float(exact.rounding_limit), math.inf)


def fitting(problem: contact_families.Problem, model: str, level: str) -> contact_families.Problem:
    """The problem without what the model has no place for."""
    unknown = []
    if (model, level) not in [("coulomb-cone", "velocity"), ("coulomb-pyramid", "acceleration"), ("no-slip", "velocity")]:
        unknown += ["spin", "mu_spin"]
    if (model, level) != ("coulomb-cone", "velocity"):
        unknown += ["roll_s", "roll_t", "mu_roll"]
    if model != "viscous":
        unknown += ["mu_viscous"]
    contacts = [{key: x for key, x in row.items() if key not in unknown} for row in problem["contacts"]]
    return {**problem, "contacts": contacts}


def check_contact(problem: contact_families.Problem, index: int, tally: Tally, arithmetic: verify.Arithmetic) -> None:
    """Solve a contact problem by one of the models and judge the answer."""
    model, level = MODELS[index % len(MODELS)]
    name = f"{model}/{level[0]}"
    problem = fitting(problem, model, level)
    try:
        given = contact.ContactProblem.from_json(json.dumps(problem))
        answer = contact.Model(model, level=level).solve(given)
    except InputError as error:
        tally.outcomes["refused"] += 1
        if not tally.example:
            tally.example = str(error)
        return
    tally.outcomes[answer.status] += 1
    if answer.status != "solved":
        return
    forces = {kind: [float(x) for x in getattr(answer, kind)] for kind in verify.KINDS}
    exact = verify.check_contact(problem, forces, [float(x) for x in answer.motion], model, level, arithmetic)
    for what, value in exact.named().items():
        stated = getattr(answer.certificate, what, None)
        tally.note(index, f"{name} {what}", value, math.inf if stated is None else stated + verify.SLACK, TOLERANCE)


def main() -> int:
    """Run the families in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="problems in all (default 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", help="only those whose name contains this")
    parser.add_argument("--fractions", action="store_true", help="contact problems in rational arithmetic, too")
    options = parser.parse_args()
    arithmetic: verify.Arithmetic = verify.Fractions() if options.fractions else verify.Decimals()
    all_names = [*lcp_families.FAMILIES, *contact_families.FAMILIES]
    names = [name for name in all_names if not options.family or options.family in name]
    tallies = {name: Tally() for name in names}
    start = last = time.monotonic()
    for k in range(options.count):
        name, index = names[k % len(names)], options.first + k // len(names)
        rng = random.Random(f"{options.seed} {name} {index}")
        if name in lcp_families.FAMILIES:
            check_lcp(lcp_families.FAMILIES[name](rng), index, tallies[name])
        else:
            check_contact(contact_families.FAMILIES[name](rng), index, tallies[name], arithmetic)
        if sys.stderr.isatty() and time.monotonic() - last > 0.2:
            last = time.monotonic()
            print(f"\r{k + 1}/{options.count}", end="", file=sys.stderr)
    print(f"{'family':18} {'problems':>8} {'solved':>7} {'above':>6} {'wrong':>6} {'worst exact':>12}")
    for name, tally in tallies.items():
        total, above = sum(tally.outcomes.values()), sum(tally.above.values())
        print(f"{name:18} {total:8} {tally.outcomes['solved']:7} {above:6} {tally.wrong:6} {tally.worst:12.2e}")
        others = {status: n for status, n in tally.outcomes.items() if status != "solved"}
        if others:
            print(f"    {', '.join(f'{n} {status}' for status, n in others.items())}")
        for what, n in tally.above.most_common(6):
            print(f"    {n} with {what} above the stated one")
        if tally.example:
            print(f"    {tally.example}")
    print(f"{options.count} problems in {time.monotonic() - start:.1f} s")
    return 1 if any(tally.above or tally.wrong for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Everything that a solve or a run gives can be pickled and copied, and comes back as it was."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction import contact, lcp
from stiction.scene import box

M2, Q2 = [[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]
ROOT = Path(__file__).resolve().parents[2]


def sliding(mu: float = 0.5) -> contact.ContactProblem:
    """A particle of 2 kg that slides on the floor."""
    problem = contact.ContactProblem(2.0 * np.eye(3), [1.0, 0.0, 0.0], [0.0, 0.0, -20.0], 0.01)
    problem.add_contacts([[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], mu=mu)
    return problem


def rod() -> contact.ContactProblem:
    """Painlevé's rod of 1 kg and 2 m in a plane (x, z, angle): its lower end slides over a floor so rough that no force answers."""
    c, s = np.cos(np.radians(30.0)), np.sin(np.radians(30.0))
    problem = contact.ContactProblem(np.diag([1.0, 1.0, 1.0 / 3.0]), [-1.0, 0.0, 0.0], [0.0, -9.81, 0.0], 0.01)
    problem.add_contacts([[0.0, 1.0, -c]], [[1.0, 0.0, s]], mu=3.0)
    return problem


def vice() -> contact.ContactProblem:
    """A particle on the floor that is moved into it."""
    problem = sliding()
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=-1.0)
    return problem


def failed_report() -> stiction.StepReport:
    builder = stiction.SceneBuilder("vice", gravity=[0, 0, 0]).body("block", mass=1.0, shape=box(0.1, 0.1, 0.1))
    for name, side in (("left", -1.0), ("right", 1.0)):
        joint = {"type": "prismatic", "axis": [1, 0, 0]}
        builder.body(name, mass=1.0, position=[0.1 * side, 0, 0], shape=box(0.1, 0.1, 0.1), joint=joint)
        builder.motion(name, [[0, 0], [0.01, 0], [0.02, -0.05 * side]])
    with pytest.raises(stiction.StepFailed) as error:
        stiction.Simulation(builder.build()).run(100)
    return error.value.report


def things() -> dict[str, Any]:
    simulation = stiction.Simulation(ROOT / "scenes" / "stack.toml")
    simulation.run(3)
    solved, slid = lcp.solve(M2, Q2, lcp.Lemke(trace=True)), contact.solve(sliding())
    return {
        "lcp solved": solved,
        "boxed": lcp.boxed(np.eye(2), [-3.0, 0.5], -1.0, np.inf),
        "mixed": lcp.mlcp([[2.0, 1.0], [-1.0, 1.0]], [-3.0, 1.0], [True, False]),
        "factored": lcp.nnls([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [-2.0, 1.0]),
        "of order 0": lcp.solve(np.zeros((0, 0)), []),
        "unsolvable": lcp.solve([[0.0]], [-1.0]),
        "unsolvable by enumeration": lcp.solve([[-1.0]], [-1.0], "enumerate"),
        "stopped": lcp.solve(M2, Q2, lcp.Lemke(max_pivots=1)),
        "lcp ray": lcp.solve([[-1.0, 1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, 1.0, 1.0]], [-2.0, -2.0, -1.0], "lemke"),
        "certificate": solved.certificate,
        "stats": solved.stats,
        "exact check": solved.verify_exact(),
        "solver": lcp.Dantzig(tolerance=1e-9),
        "contact solved": slid,
        "started": contact.solve(sliding(), start=slid),
        **{f"by {e['name']}": contact.solve(sliding(), contact.Model(e["name"])) for e in contact.catalog()},
        "of a tower": contact.solve(simulation.problem()),
        "infeasible": contact.solve(vice(), "frictionless"),
        "no solution": contact.solve(rod(), contact.CoulombPyramid()),
        "contact ray": contact.solve(rod(), contact.BaraffFriction()),
        "contact failed": contact.solve(rod(), contact.CoulombCone(tolerance=1e-18)),
        "physical certificate": slid.certificate,
        "model": contact.NoSlip(max_pivots=7),
        "problem": vice(),
        "step": simulation.step(),
        "failed step": failed_report(),
        "run": simulation.run(2),
        "trajectory": stiction.record(simulation, 3),
        "inverse dynamics": stiction.inverse_dynamics(simulation, 0.0),
        "scene": simulation.scene.with_settings(dt=0.002),
        "simulation": simulation,
        "batch": stiction.BatchSimulation(simulation.scene, 2, threads=2),
    }


THINGS = things()


def facts(value: Any) -> Any:
    """All that can be read of an object, as plain values."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: facts(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [facts(x) for x in value]
    if type(value).__module__.startswith("stiction"):
        names = [n for n in dir(value) if not n.startswith("_") and not callable(getattr(value, n))]
        if isinstance(value, stiction.Simulation):
            names = ["q", "v", "t", "steps", "hash", "raises", "force"]  # what the last step found is no part of the state
        return {"repr": repr(value), **{n: facts(getattr(value, n)) for n in names}}
    return repr(value)


def test_there_is_one_of_every_kind() -> None:
    kinds = {type(x) for x in THINGS.values()}
    wanted = {lcp.Solved, lcp.Unsolvable, lcp.Ray, lcp.Stopped, lcp.Certificate, lcp.Stats, lcp.ExactCheck}
    wanted |= {contact.Solved, contact.Infeasible, contact.NoSolution, contact.Ray, contact.Failed}
    wanted |= {contact.PhysicalCertificate, contact.ContactProblem}
    wanted |= {stiction.StepReport, stiction.RunReport, stiction.Trajectory, stiction.InverseDynamics, stiction.Scene}
    assert wanted <= kinds, wanted - kinds


@pytest.mark.parametrize("name", THINGS)
def test_pickles_and_copies_are_as_they_were(name: str) -> None:
    value = THINGS[name]
    expected = facts(value)
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert type(again) is type(value) and facts(again) == expected


@pytest.mark.parametrize("name", THINGS)
def test_everything_has_a_short_line_and_outcomes_a_table(name: str) -> None:
    value = THINGS[name]
    assert 0 < len(repr(value)) < 400 and "object at 0x" not in repr(value)
    if not isinstance(value, (lcp.Solver, contact.Model, lcp.ExactCheck)):
        assert "<table><caption>" in value._repr_html_()


def test_a_contact_solution_that_lies_is_refused() -> None:
    restore, (kind, (asked, motion, *rest)) = THINGS["contact solved"].__reduce__()
    assert restore(kind, (asked, motion, *rest)).modes == ["slide"]
    with pytest.raises(stiction.InputError, match="do not solve their problem"):
        restore(kind, (asked, motion + 1e-3, *rest))
    with pytest.raises(stiction.InputError, match="motion must have 3 entries, found 2"):
        restore(kind, (asked, motion[:2], *rest))


def test_a_pickled_solution_is_a_start() -> None:
    again = pickle.loads(pickle.dumps(THINGS["of a tower"]))
    problem = stiction.Simulation(ROOT / "scenes" / "stack.toml")
    problem.run(3)
    assert contact.solve(problem.problem(), start=again).stats["pivots"] == 0


def test_a_failed_copy_stays_failed() -> None:
    batch = stiction.BatchSimulation(THINGS["scene"], 3)
    batch.v[1, 0] = np.nan
    batch.step()
    again = pickle.loads(pickle.dumps(batch))
    assert again.failed.tolist() == [False, True, False] and again.messages == batch.messages
    again.reset(1)
    assert again.step().all()


def unsolvable(_: int) -> None:
    lcp.solve([[0.0]], [-1.0]).require()


def test_results_and_errors_come_back_from_other_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        outcome = pool.submit(contact.solve, sliding()).result()
        assert facts(outcome) == facts(THINGS["contact solved"])
        with pytest.raises(stiction.NotSolved, match="no solution") as error:
            pool.submit(unsolvable, 0).result()
    assert isinstance(error.value.outcome, lcp.Unsolvable) and error.value.outcome.verify_exact() is True


@pytest.mark.parametrize("name", [name for name, x in THINGS.items() if hasattr(x, "require")])
def test_patterns_take_every_outcome_apart(name: str) -> None:
    match THINGS[name]:
        case lcp.Solved(z, w):
            assert z.shape == w.shape
        case lcp.Unsolvable(proof) | contact.NoSolution(proof):
            assert isinstance(proof, str)
        case lcp.Ray(direction, claim):
            assert direction.any() and "ray" in claim
        case lcp.Stopped(why, reason=reason) | contact.Failed(why, status=reason):
            assert why and reason
        case contact.Solved(motion, normal):
            assert motion.ndim == 1 and (normal >= 0).all()
        case contact.Infeasible(least_speed):
            assert least_speed >= 1e8
        case contact.Ray(direction, claim):
            assert direction["normal"].any() and claim
        case other:
            pytest.fail(repr(other))
    if not THINGS[name]:
        with pytest.raises(stiction.NotSolved) as error:
            THINGS[name].require()
        assert error.value.outcome is THINGS[name]


def test_the_problem_of_an_island_without_a_solution_has_none() -> None:
    match THINGS["no solution"]:
        case contact.NoSolution(lcp=(M, q)):
            assert isinstance(lcp.solve(M, q), lcp.Unsolvable)
        case other:
            pytest.fail(repr(other))

"""Contact problems from matrices."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction import contact

N, S, T = [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]


def particle(mu: float = 0.5, v: tuple[float, ...] = (1.0, 0.0, 0.0), **options: object) -> contact.ContactProblem:
    """A particle of 2 kg on the floor, in a step of 10 ms under 20 N."""
    problem = contact.ContactProblem(2.0 * np.eye(3), v, [0.0, 0.0, -20.0], 0.01)
    problem.add_contacts(N, S, T, mu=mu, **options)
    return problem


def test_a_sliding_particle() -> None:
    solution = contact.solve(particle())
    assert isinstance(solution, contact.Solved) and solution and solution.level == "velocity"
    np.testing.assert_allclose(solution.motion, [0.95, 0, 0], atol=1e-15)
    np.testing.assert_allclose([solution.normal[0], solution.tangent_s[0]], [0.2, -0.1], rtol=1e-14)
    assert solution.modes == ["slide"] and solution.certificate.holds(1e-10) and solution.stats["islands"] == 1
    np.testing.assert_allclose(solution.generalized_force, [-0.1, 0, 0.2], atol=1e-15)
    again = contact.solve(particle(), start=solution)
    assert again.stats["pivots"] == 0 and again.require() is again


@pytest.mark.parametrize("entry", contact.catalog(), ids=lambda e: e["name"])
def test_every_model(entry: dict) -> None:
    for level in entry["levels"]:
        outcome = contact.solve(particle(), contact.Model(entry["name"], level=level))
        assert outcome.level == level and outcome.certificate.holds(1e-10)
        # Least energy lets a body that slides jump; all other laws keep it on the floor.
        assert outcome.motion[2] > -1e-9 and (outcome.motion[2] < 1e-9 or entry["name"] == "drumwright-shell")


def test_named_models() -> None:
    assert contact.solve(particle(), contact.NoSlip()).modes == ["stick"]
    assert contact.solve(particle(), contact.CoulombCone(level="acceleration")).level == "acceleration"
    names = {getattr(contact, name)().name for name in contact.__all__
             if isinstance(getattr(contact, name), type) and issubclass(getattr(contact, name), contact.Model) and name != "Model"}
    assert names == {entry["name"] for entry in contact.catalog()}


def test_patterns() -> None:
    match contact.solve(particle()):
        case contact.Solved(motion, normal):
            assert motion.shape == (3,) and normal.shape == (1,)
        case _:
            pytest.fail("not solved")
    problem = particle()
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=-1.0)
    match contact.solve(problem, "frictionless"):
        case contact.Infeasible(least_speed) as outcome:
            assert least_speed >= 1e8 and outcome.multipliers["normal"][0] > 0
            with pytest.raises(stiction.NotSolved, match="no motion satisfies the rows") as error:
                outcome.require()
            assert error.value.outcome is outcome
        case other:
            pytest.fail(repr(other))


def test_all_kinds_of_rows() -> None:
    problem = contact.ContactProblem(np.eye(4), [0.0, 0.0, 1.0, 1.0], np.zeros(4), 0.1)
    problem.add_bilateral([[1.0, 0, 0, 0]], target=2.0)
    problem.add_limits([[0, 0, -1.0, 0]], gap=0.05)
    problem.add_bounded([[0, 0, 0, 1.0]], -3.0, 3.0)
    solution = contact.solve(problem)
    np.testing.assert_allclose(solution.motion, [2.0, 0.0, 0.5, 0.7], atol=1e-14)
    np.testing.assert_allclose([*solution.bilateral, *solution.limit, *solution.bounded], [2.0, 0.5, -0.3], atol=1e-14)


def test_blocks_of_the_mass_are_found() -> None:
    mass = np.diag([1.0, 2.0, 3.0, 4.0])
    mass[1, 2] = mass[2, 1] = 0.5
    assert "blocks=3" in repr(contact.ContactProblem(mass, np.zeros(4), np.zeros(4), 0.1))
    given = contact.ContactProblem([np.eye(3), 2.0 * np.eye(3)], np.zeros(6), np.zeros(6), 0.1)
    assert "blocks=2" in repr(given)
    np.testing.assert_array_equal(given.mass, np.diag([1.0] * 3 + [2.0] * 3))


def test_sparse_and_dense_are_the_same(scenes: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    simulation = stiction.Simulation(scenes / "stack.toml")
    simulation.run(3)
    own = simulation.problem()
    dense = contact.ContactProblem(own.mass, own.v, own.force, own.dt)
    dense.add_contacts(own.N, own.S, own.T, mu=own.mu, gap=own.gap, size=0.1)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        other = contact.ContactProblem(kind(own.mass), own.v, own.force, own.dt)
        other.add_contacts(kind(own.N), kind(own.S), kind(own.T), mu=own.mu, gap=own.gap, size=0.1)
        assert other == dense
    solution = contact.solve(dense)
    np.testing.assert_allclose(solution.motion, simulation.v, atol=1e-9)
    bodies = len(own.v) // 6
    blocks = [own.mass[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] for b in range(bodies)]
    by_body = contact.ContactProblem(blocks, own.v, own.force, own.dt)
    by_body.add_contacts(own.N, own.S, own.T, mu=own.mu, gap=own.gap, size=0.1)
    solution = contact.solve(by_body)
    np.testing.assert_allclose(solution.motion, simulation.v, atol=1e-9)
    (ground,) = [r["on"][0] for r in solution.resultants if len(r["blocks"]) == 1]
    np.testing.assert_allclose(ground[2], -own.force.sum() * own.dt, rtol=1e-9)


@pytest.mark.parametrize("kind", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("of", ["array", "matrix"])
def test_every_sparse_format(kind: str, of: str) -> None:
    make = getattr(pytest.importorskip("scipy.sparse"), f"{kind}_{of}")
    problem = contact.ContactProblem(make(2.0 * np.eye(3)), [1.0, 0.0, 0.0], [0.0, 0.0, -20.0], 0.01)
    problem.add_contacts(make(np.array(N)), make(np.array(S)), make(np.array(T)), mu=0.5)
    assert problem == particle()


def test_broken_sparse_matrices_are_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for indptr, index in (([0, 9], 2), ([0, -1], 2), ([0, 1, 1], 2), ([0, 1], 77), ([0, 1], -1)):
        broken = sparse.csr_matrix(np.array(N))
        broken.indptr, broken.indices = np.array(indptr, np.int32), np.array([index], np.int32)
        with pytest.raises(stiction.InputError, match="N is no valid sparse matrix"):
            particle().add_contacts(broken)


def test_numbers_may_be_given_once() -> None:
    for mu in (0.5, np.float32(0.5), np.array(0.5), [0.5], np.array([0.5])):
        assert particle(mu=mu) == particle()


def test_contacts_one_by_one_are_contacts_at_once() -> None:
    rows, along = np.random.default_rng(5).normal(size=(2, 30, 3))
    once, again = (contact.ContactProblem(np.eye(3), np.zeros(3), np.zeros(3), 0.1) for _ in range(2))
    once.add_contacts(rows, along, mu=0.1)
    for row, tangent in zip(rows, along):
        before = again.__copy__()
        again.add_contacts([row], [tangent], mu=0.1)
        assert before.contacts == again.contacts - 1
    assert once == again


def test_matrices_come_back(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "quad-flat.toml")
    simulation.run(5)
    problem = simulation.problem()
    np.testing.assert_array_equal(problem.N, simulation.contact_jacobian()[::3])
    assert problem.J.shape == (0, 18) and problem.m == 18 and problem.contacts == len(simulation.contacts)


def test_batches_do_not_depend_on_threads() -> None:
    problems = [particle(mu) for mu in np.linspace(0.0, 2.0, 21)]
    alone = [contact.solve(p).motion for p in problems]
    for threads in (1, 2, 3, None):
        for motion, outcome in zip(alone, contact.solve_batch(problems, threads=threads)):
            np.testing.assert_array_equal(outcome.motion, motion)


def test_pickles(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "stack.toml")
    simulation.run(3)
    for problem in (particle(mu=np.inf), simulation.problem()):
        assert pickle.loads(pickle.dumps(problem)) == problem
        assert contact.ContactProblem.from_json(problem.to_json()) == problem
    assert pickle.loads(pickle.dumps(contact.NoSlip(tolerance=1e-9))) == contact.NoSlip(tolerance=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: contact.ContactProblem(np.ones((2, 3)), [0, 0], [0, 0], 0.1), stiction.InputError, r"mass must be square, found shape \(2, 3\)"),
        (lambda: contact.ContactProblem(-np.eye(2), [0, 0], [0, 0], 0.1), stiction.InputError, "mass block 0 is not symmetric and positive definite"),
        (lambda: contact.ContactProblem(np.eye(2), [0], [0, 0], 0.1), stiction.InputError, "v must have 2 entries, found 1"),
        (lambda: contact.ContactProblem(np.eye(2), [0, np.nan], [0, 0], 0.1), stiction.InputError, r"v\[1\] is NaN"),
        (lambda: contact.ContactProblem(np.eye(2), [0, 0], [0, 0], 0.0), stiction.InputError, "dt"),
        (lambda: particle(mu=-1.0), stiction.InputError, "contact 0: mu"),
        (lambda: particle(mu=np.nan), stiction.InputError, "contact 0: mu"),
        (lambda: particle(gap=[0.0, 1.0]), stiction.InputError, "gap must have 1 entries, found 2"),
        (lambda: particle(rate=[[1.0, 2.0]]), stiction.InputError, r"rate must have shape \(1, 3\), found \(1, 2\)"),
        (lambda: particle().add_contacts([[1.0, 2.0]]), stiction.InputError, "N must have 3 columns, one per velocity, found 2"),
        (lambda: particle().add_contacts(N, np.eye(3)), stiction.InputError, "S must have 1 rows, as N has, found 3"),
        (lambda: particle().add_contacts([[1j, 0, 0]]), TypeError, "N must hold real numbers"),
        (lambda: particle().add_bounded(N, 1.0, -1.0), stiction.InputError, "is empty"),
        (lambda: contact.solve(particle(), "glue"), stiction.InputError, "there is no 'glue'|glue"),
        (lambda: contact.solve(particle(), 3), TypeError, "model must be a name or a stiction.contact.Model, found int"),
        (lambda: contact.Model("no-slip", level="acceleration"), stiction.InputError, "expected a model of accelerations"),
        (lambda: contact.Model(level="position"), stiction.InputError, "level must be 'velocity' or 'acceleration', found 'position'"),
        (lambda: contact.ContactProblem.from_json("{}"), stiction.InputError, "problem.json"),
    ],
)
def test_messages(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_refused_row_leaves_no_trace() -> None:
    problem = particle()
    before = pickle.loads(pickle.dumps(problem))
    with pytest.raises(stiction.InputError):
        problem.add_contacts([[1.0, 0, 0], [0, 1.0, 0]], mu=[0.5, -1.0])
    assert problem == before and problem.contacts == 1

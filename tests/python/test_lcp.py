"""Complementarity problems on arrays: outcomes, proofs, messages."""

from __future__ import annotations

import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

import stiction
from stiction import lcp

SOLVERS = [entry["name"] for entry in lcp.catalog()]
M2 = np.array([[2.0, 1.0], [1.0, 2.0]])
Q2 = np.array([-5.0, -6.0])


def check(M: np.ndarray, q: np.ndarray, outcome: lcp.Outcome) -> None:
    """The definition of the problem, in NumPy."""
    assert isinstance(outcome, lcp.Solved), outcome
    w = M @ outcome.z + q
    scale = 1e-9 * (np.abs(q) + np.abs(M) @ np.abs(outcome.z) + 1e-300)
    assert (outcome.z >= 0).all() and (w >= -scale).all()
    assert (np.minimum(outcome.z, np.abs(w) / scale) <= 1).all() or ((outcome.z == 0) | (np.abs(w) <= scale)).all()
    np.testing.assert_allclose(outcome.w, w, atol=scale.max())
    assert outcome.certificate.holds(1e-10)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_of_the_catalog_solves(name: str) -> None:
    outcome = lcp.solve(M2, Q2, name)
    if name == "projected-gauss-seidel" and not outcome:
        assert isinstance(outcome, lcp.Stopped)
        return
    check(M2, Q2, outcome)
    np.testing.assert_allclose(outcome.z, [4 / 3, 7 / 3], rtol=1e-9)


def test_classes_and_names_are_the_same_solvers() -> None:
    made = [getattr(lcp, name)() for name in lcp.__all__ if isinstance(getattr(lcp, name), type)
            and issubclass(getattr(lcp, name), lcp.Solver) and getattr(lcp, name) is not lcp.Solver]
    assert sorted(solver.name for solver in made) == sorted(SOLVERS)
    assert lcp.solve(M2, Q2, lcp.Lemke()).basis == "zz"
    assert lcp.Lemke() == lcp.Solver("lemke") != lcp.Dantzig()


@pytest.mark.parametrize("n", [1, 5, 24, 60])
def test_random_problems_of_every_layout(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    M = A @ A.T / n + 0.1 * np.eye(n)
    q = rng.normal(size=n)
    plain = lcp.solve(M, q)
    check(M, q, plain)
    padded = np.zeros((2 * n, 3 * n))
    padded[::2, ::3] = M
    twice = np.repeat(q, 2)
    for same in (np.asfortranarray(M), padded[::2, ::3], M[::-1, ::-1][::-1, ::-1], M.astype(">f8"), M.tolist()):
        np.testing.assert_array_equal(lcp.solve(same, twice[::2]).z, plain.z)
    np.testing.assert_array_equal(lcp.solve(M.T.copy(order="F"), q).z, lcp.solve(M.T, q).z)


def test_an_asymmetric_matrix_is_not_transposed() -> None:
    M = np.array([[1.0, 5.0], [0.0, 1.0]])
    for layout in (M, np.asfortranarray(M)):
        np.testing.assert_allclose(lcp.solve(layout, [-10.0, -1.0]).z, [5.0, 1.0], rtol=1e-14)


def test_integers_and_small_floats_are_taken() -> None:
    assert lcp.solve([[2, 1], [1, 2]], [-5, -6]).basis == "zz"
    assert lcp.solve(M2.astype(np.float32), Q2.astype(np.float32)).basis == "zz"


def test_nothing_to_solve() -> None:
    assert lcp.solve(np.zeros((0, 0)), []).z.shape == (0,)
    assert lcp.nnls(np.zeros((3, 0)), [1.0, 2.0, 3.0]).basis == ""
    assert lcp.nnls(np.zeros((0, 3)), []).z.tolist() == [0.0, 0.0, 0.0]


def test_solvers_are_written_as_they_are_made() -> None:
    for solver in (lcp.Lemke(), lcp.Dantzig(tolerance=1e-9, max_pivots=7), lcp.Solver("nnls", max_flops=10, trace=True)):
        assert eval(repr(solver), {"Solver": lcp.Solver}) == solver


def test_patterns() -> None:
    match lcp.solve(M2, Q2):
        case lcp.Solved(z, w):
            assert z.shape == w.shape == (2,)
        case _:
            pytest.fail("not solved")
    match lcp.solve([[0.0]], [-1.0]):
        case lcp.Unsolvable(proof):
            assert "Farkas" in proof
        case _:
            pytest.fail("solved")
    match lcp.solve(M2, Q2, lcp.Lemke(max_pivots=1)):
        case lcp.Stopped(why, reason="limit"):
            assert "limit" in why
        case other:
            pytest.fail(repr(other))
    match lcp.solve(M2, Q2, lcp.PrincipalPivot(max_flops=0)):
        case lcp.Stopped(why, reason="budget"):
            assert "budget" in why
        case other:
            pytest.fail(repr(other))


def test_outcomes_are_true_if_solved_and_require_raises_otherwise() -> None:
    solved, none = lcp.solve(M2, Q2), lcp.solve([[0.0]], [-1.0])
    assert solved and not none
    assert solved.require() is solved
    with pytest.raises(stiction.NotSolved, match="no solution") as error:
        none.require()
    assert error.value.outcome is none


def test_farkas_vectors_are_proofs() -> None:
    M, q = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([-1.0, 1.0])
    outcome = lcp.solve(M, q)
    assert isinstance(outcome, lcp.Unsolvable)
    y = outcome.farkas
    assert y is not None and (y >= 0).all() and (M.T @ y <= 0).all() and q @ y < 0
    assert outcome.verify_exact() is True


def test_exact_check() -> None:
    outcome = lcp.solve(M2, Q2)
    assert outcome.verify_exact() and outcome.verify_exact().verdict == "proven"
    z, w = outcome.exact_solution()
    assert z == [Fraction(4, 3), Fraction(7, 3)] and w == [0, 0]


def test_results_cannot_be_written() -> None:
    outcome = lcp.solve(M2, Q2)
    assert outcome.z is outcome.z
    with pytest.raises(ValueError, match="read-only"):
        outcome.z[0] = 1.0


def test_results_outlive_everything() -> None:
    z = lcp.solve(M2, Q2).z
    np.testing.assert_allclose(z, [4 / 3, 7 / 3])


def test_a_start_needs_no_pivots() -> None:
    first = lcp.solve(M2, Q2, "lemke")
    assert first.stats.pivots > 0
    assert lcp.solve(M2, Q2, "lemke", start=first).stats.pivots == 0
    assert lcp.solve(M2, Q2, "lemke", start="zz").stats.pivots == 0


def test_trace() -> None:
    outcome = lcp.solve(M2, Q2, lcp.Lemke(trace=True))
    assert len(outcome.stats.trace) == outcome.stats.pivots


def test_other_kinds_of_problem() -> None:
    mixed = lcp.mlcp([[2.0, 1.0], [-1.0, 1.0]], [-3.0, 1.0], [True, False])
    np.testing.assert_allclose(mixed.z, [4 / 3, 1 / 3], rtol=1e-14)
    assert lcp.boxed(np.eye(2), [-3.0, 0.5], -1.0, 1.0).basis == "uz"
    G, u = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([-2.0, 1.0])
    np.testing.assert_allclose(lcp.nnls(G, u).z, [2.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(lcp.nnls(G, u, lo=0.0, hi=1.0).z.max(), 1.0)
    np.testing.assert_allclose(lcp.factored(G, G.T @ u).z, [2.0, 0.0, 0.0], atol=1e-15)


def test_sparse_matrices() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    assert lcp.solve(scipy_sparse.csc_matrix(M2), Q2).basis == "zz"


def test_batches_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(40, 12, 12))
    M, q = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(12), rng.normal(size=(40, 12))
    alone = [lcp.solve(m, x).z for m, x in zip(M, q)]
    for threads in (1, 2, 5, None):
        for z, outcome in zip(alone, lcp.solve_batch(M, q, threads=threads)):
            np.testing.assert_array_equal(outcome.z, z)
    assert lcp.solve_batch(np.zeros((0, 2, 2)), np.zeros((0, 2))) == []


def test_one_solver_in_many_threads() -> None:
    rng = np.random.default_rng(2)
    A = rng.normal(size=(30, 30))
    M, q = A @ A.T + np.eye(30), rng.normal(size=30)
    solver, results = lcp.Lemke(), []
    work = lambda: results.extend(solver.solve(M, q).z.tobytes() for _ in range(50))  # noqa: E731
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(results) == 200 and len(set(results)) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lcp.solve(np.eye(3), [1.0, 2.0]), stiction.InputError, r"q must have 3 entries because M has shape \(3, 3\), found 2"),
        (lambda: lcp.solve(np.ones((2, 3)), [1.0, 2.0]), stiction.InputError, r"M must be square, found shape \(2, 3\)"),
        (lambda: lcp.solve(np.ones(4), [1.0]), stiction.InputError, r"M must be a matrix \(two dimensions\), found an array of shape \(4,\)"),
        (lambda: lcp.solve(np.eye(2), np.eye(2)), stiction.InputError, r"q must be a vector \(one dimension\), found an array of shape \(2, 2\)"),
        (lambda: lcp.solve(M2, [np.nan, 1.0]), stiction.InputError, r"q\[0\] is NaN"),
        (lambda: lcp.solve([[np.inf]], [1.0]), stiction.InputError, r"M.*inf.*finite"),
        (lambda: lcp.solve(M2 * 1j, Q2), TypeError, "M must hold real numbers .* found dtype complex128"),
        (lambda: lcp.solve(M2, ["a", "b"]), TypeError, "q must hold real numbers"),
        (lambda: lcp.solve(M2, [None, 1.0]), TypeError, "q must hold real numbers .* found dtype object"),
        (lambda: lcp.solve([[1.0, 2.0], [3.0]], Q2), stiction.InputError, "M is no array of numbers"),
        (lambda: lcp.solve(M2, Q2, "simplex"), stiction.InputError, "there is no 'simplex'; there are auto, lemke"),
        (lambda: lcp.solve(M2, Q2, 7), TypeError, "solver must be a name or a stiction.lcp.Solver, found int"),
        (lambda: lcp.solve(M2, Q2, start="zq"), stiction.InputError, "letter 1 is 'q'"),
        (lambda: lcp.solve(M2, Q2, start="zzz"), stiction.InputError, "has 3 letters, the problem has 2 rows"),
        (lambda: lcp.solve(M2, Q2, start=3), TypeError, "start must be a basis"),
        (lambda: lcp.Lemke(tolerance=2.0), stiction.InputError, "tolerance"),
        (lambda: lcp.mlcp(M2, Q2, [0, 1]), TypeError, "free must be a vector of booleans"),
        (lambda: lcp.mlcp(M2, Q2, [True]), stiction.InputError, "free must have 2 entries, found 1"),
        (lambda: lcp.boxed(M2, Q2, 1.0, -1.0), stiction.InputError, "is empty"),
        (lambda: lcp.nnls(M2, Q2, lo=0.0), stiction.InputError, "lo and hi go together"),
        (lambda: lcp.solve_batch([M2, M2], [Q2]), stiction.InputError, "M holds 2 matrices, q 1 vectors"),
        (lambda: lcp.solve_batch([M2, M2], [Q2, Q2[:1]]), stiction.InputError, "problem 1: q must have 2 entries"),
        (lambda: lcp.solve_batch([M2], [Q2], threads=0), stiction.InputError, "threads must be at least 1, found 0"),
        (lambda: lcp.certify(M2, Q2, [1.0]), stiction.InputError, "z must have 2 entries, found 1"),
        (lambda: lcp.Lemke(max_pivots=-1), stiction.InputError, "max_pivots must be at least 0, found -1"),
        (lambda: lcp.Lemke(max_flops=-1), stiction.InputError, "max_flops must be at least 0, found -1"),
        (lambda: lcp.Lemke(max_flops=1e9), TypeError, "max_flops must be a whole number, found float"),
        (lambda: lcp.Lemke(max_pivots=1.5), TypeError, "max_pivots must be a whole number, found float"),
        (lambda: lcp.Lemke(tolerence=1e-9), TypeError, r"^Solver.__new__\(\) got an unexpected keyword argument 'tolerence'"),
        (lambda: lcp.solve(M2.astype(np.longdouble), Q2), TypeError, "M must hold real numbers"),
        (lambda: lcp.solve_batch([M2], [Q2], threads=1.0), TypeError, "threads must be a whole number, found float"),
    ],
)
def test_messages(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_input_errors_are_value_errors_of_one_tree() -> None:
    assert issubclass(stiction.InputError, stiction.StictionError) and issubclass(stiction.InputError, ValueError)
    assert issubclass(stiction.StepFailed, stiction.NotSolved) and issubclass(stiction.NotSolved, stiction.StictionError)
    assert issubclass(stiction.SceneError, stiction.StictionError)


def test_pickles() -> None:
    outcome = lcp.solve(M2, Q2)
    again = pickle.loads(pickle.dumps(outcome))
    assert again.z.tobytes() == outcome.z.tobytes() and again.basis == outcome.basis
    assert again.certificate.worst == outcome.certificate.worst and again.verify_exact()
    solver = pickle.loads(pickle.dumps(lcp.Dantzig(tolerance=1e-9, max_pivots=7, max_flops=10**9)))
    assert isinstance(solver, lcp.Dantzig)
    assert (solver.tolerance, solver.max_pivots, solver.max_flops) == (1e-9, 7, 10**9)


def test_a_pickle_that_lies_is_refused() -> None:
    restore, (kind, (problem, z, *rest)) = lcp.solve(M2, Q2).__reduce__()
    assert restore(kind, (problem, z, *rest)).basis == "zz"
    with pytest.raises(stiction.InputError, match="does not solve its problem"):
        restore(kind, (problem, z + 1e-3, *rest))
    restore, (kind, (problem, (proof, y, *more), stats)) = lcp.solve([[0.0]], [-1.0]).__reduce__()
    with pytest.raises(stiction.InputError, match="proves nothing about its problem"):
        restore(kind, (problem, (proof, 0.0 * y, *more), stats))
    with pytest.raises(stiction.InputError, match='no "lcp.answer" to unpickle'):
        restore("lcp.answer", ())

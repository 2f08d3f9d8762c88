"""Rows that are dependent but for rounding: followed where that can be certified, left out where they add nothing, reported between."""

from __future__ import annotations

import numpy as np
import pytest

from stiction import contact


def nearly_parallel(sine: float) -> contact.ContactProblem:
    """A body of 1 kg in the plane under two bilateral rows with this angle between them: exactly, it must stop."""
    problem = contact.ContactProblem(np.eye(2), v=[0.3, 0.7], force=[0.0, 0.0], dt=0.01)
    problem.add_bilateral([[1.0, 0.3]])
    problem.add_bilateral([[1.0, 0.3 + sine]])
    return problem


COMPROMISE = np.array([0.3, 0.7]) - np.array([1.0, 0.3]) * 0.51 / 1.09


@pytest.mark.parametrize("sine", [10.0**-k for k in range(3, 14)])
def test_one_answer_or_none(sine: float) -> None:
    start = contact.solve(nearly_parallel(1e-12), contact.CoulombCone()).require()
    for outcome in [
        contact.solve(nearly_parallel(sine), contact.CoulombCone()),
        contact.solve(nearly_parallel(sine), contact.CoulombCone(), start=start),
    ]:
        if sine > 2e-6:
            # A row is certified to 1e-10 of its speed, and what it says of the other direction to that beside the sine.
            assert np.abs(outcome.require().motion).max() < 1e-9 / sine
        elif sine < 2e-10:
            assert np.abs(outcome.require().motion - COMPROMISE).max() < 1e-9
        elif outcome.status == "failed":
            assert "is the row redundant but for rounding?" in outcome.why
            assert outcome.certificate.worst > 1e-10
        else:
            # Where the rounding of large forces is lucky, the answer is the exact one.
            assert np.abs(outcome.require().motion).max() < 1e-9 / sine


def test_a_target_elsewhere_does_not_excuse_rows_without_one() -> None:
    """A second body with a row that is driven: the nearly parallel rows of the first are measured as they are."""
    problem = contact.ContactProblem([np.eye(2), np.eye(1)], v=[0.3, 0.7, 0.0], force=[0.0, 0.0, 0.0], dt=0.01)
    problem.add_bilateral([[1.0, 0.3, 0.0]])
    problem.add_bilateral([[1.0, 0.3 + 1e-8, 0.0]])
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=[0.5])
    outcome = contact.solve(problem, contact.CoulombCone())
    assert outcome.status == "failed"
    assert outcome.certificate.worst > 1e-10


def test_what_is_no_solution_says_so_where_one_is_asked_for() -> None:
    outcome = contact.solve(nearly_parallel(1e-8), contact.CoulombCone())
    assert outcome.status == "failed"
    with pytest.raises(AttributeError, match=r"'stiction.contact.Failed' object has no attribute 'motion', and is no solution: not solved: .*bilateral row [01].*redundant but for rounding"):
        outcome.motion  # noqa: B018
    assert not hasattr(outcome, "normal")
    assert outcome.best_motion.shape == (2,)
    with pytest.raises(AttributeError, match="has no attribute '__array__'$"):
        outcome.__array__  # noqa: B018

"""Rolling friction and friction that depends on the direction, from Python."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import stiction
from stiction import contact, verify

G = 9.81
RADIUS = 0.1
MASS = 2.0


def ball(mu_roll: float = 2e-3) -> contact.ContactProblem:
    """A ball that rolls along x with 1 m/s."""
    inertia = 0.4 * MASS * RADIUS**2
    mass = np.diag([MASS] * 3 + [inertia] * 3)
    problem = contact.ContactProblem([mass], [1, 0, 0, 0, 1 / RADIUS, 0], [0, 0, -MASS * G, 0, 0, 0], 1e-2)
    normal, first, second = [[0, 0, 1, 0, 0, 0]], [[1, 0, 0, 0, -RADIUS, 0]], [[0, 1, 0, RADIUS, 0, 0]]
    roll = ([[0, 0, 0, 1, 0, 0]], [[0, 0, 0, 0, 1, 0]])
    problem.add_contacts(normal, first, second, mu=0.8, roll=roll, mu_roll=mu_roll)
    return problem


def test_a_ball_slows_down_by_its_closed_form() -> None:
    problem = ball()
    answer = contact.solve(problem, "coulomb-cone")
    assert isinstance(answer, contact.Solved)
    assert answer.motion[0] == pytest.approx(1 - 1e-2 * 2e-3 * G / (1.4 * RADIUS), abs=1e-15)
    assert answer.roll_s[0] == 0 and answer.roll_t[0] == pytest.approx(-2e-3 * MASS * G * 1e-2, rel=1e-14)
    again = pickle.loads(pickle.dumps(answer))
    assert (again.roll_t == answer.roll_t).all() and (again.motion == answer.motion).all()
    same = contact.solve(contact.ContactProblem.from_json(problem.to_json()), "coulomb-cone")
    assert isinstance(same, contact.Solved) and (same.motion == answer.motion).all()


def test_the_checker_sees_a_wrong_moment() -> None:
    problem = ball()
    answer = contact.solve(problem, "coulomb-cone")
    assert isinstance(answer, contact.Solved)
    forces = {kind: [float(x) for x in getattr(answer, kind)] for kind in verify.KINDS}
    motion = [float(x) for x in answer.motion]
    given = json.loads(problem.to_json())
    assert verify.check_contact(given, forces, motion, "coulomb-cone").worst()[1] < 1e-14
    wrong = {**forces, "roll_t": [0.9 * forces["roll_t"][0]]}
    assert verify.check_contact(given, wrong, motion, "coulomb-cone").named()["friction"] > 1e-10


def test_bad_rolling_is_refused() -> None:
    problem = ball()
    normal = [[0, 0, 1, 0, 0, 0]]
    for wrong in ({"mu_roll": 0.1}, {"mu_roll": np.inf, "roll": (normal, normal)}, {"mu_roll": -1, "roll": (normal, normal)}):
        with pytest.raises(stiction.InputError, match="mu_roll"):
            problem.add_contacts(normal, **wrong)
    with pytest.raises(stiction.InputError, match="mu_roll"):
        contact.solve(problem, "coulomb-polyhedral")


SCENE = """
dt = 0.001
gravity = [1.0, 0.5, -9.81]
[[bodies]]
name = "floor"
fixed = true
friction = [0.8, 0.2]
friction_direction = [1, 1, 0]
rolling_friction = 0.01
shape = { plane = true }
[[bodies]]
name = "cube"
friction = 0.5
rolling_friction = 0.01
mass = 1
position = [0, 0, 0.01]
shape = { box = [0.2, 0.2, 0.02] }
"""


def test_contacts_have_moments_and_both_coefficients() -> None:
    simulation = stiction.Simulation(stiction.Scene.parse(SCENE))
    for _ in range(20):
        simulation.step()
    contacts = simulation.contacts
    assert contacts["rolling_moment"].shape == (4, 2)
    assert contacts["mu"] == pytest.approx(np.sqrt(0.8 * 0.5)) and contacts["mu_across"] == pytest.approx(np.sqrt(0.2 * 0.5))
    along = contacts["frame"][:, 1]
    assert np.abs(along @ [1, 1, 0]) == pytest.approx(np.sqrt(2))
    # At rest the floor carries what gravity pulls along, whatever the axes.
    assert contacts["force"].sum(axis=0) == pytest.approx([-1.0, -0.5, 9.81], abs=1e-9)
    jacobian = simulation.contact_jacobian()
    assert np.abs(jacobian[2::3, :3]) == pytest.approx(np.abs(contacts["frame"][:, 2]), abs=1e-12)

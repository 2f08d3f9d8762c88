"""Bodies and robots that come and go, held together and released."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from first_week import arm, cube

import stiction
from stiction.scene import sphere

ROOT = Path(__file__).resolve().parents[2]


def test_state_time_inputs_and_parameters_go_over() -> None:
    simulation = stiction.Simulation(arm())
    simulation.kp[1], simulation.target[1], simulation.mass[1] = 5.0, 0.2, 0.7
    simulation.body("hand").apply_wrench(force=[1, 0, 0])
    simulation.run(20)
    more = simulation.with_body("ball", mass=1.0, position=[2, 0, 0], shape=sphere(0.1))
    assert more.scene.bodies == ["upper", "hand", "ball"] and more.t == simulation.t and more.steps == 20
    assert (more.q[:2] == simulation.q).all() and (more.v[:2] == simulation.v).all()
    assert more.kp[1] == 5.0 and more.mass.tolist() == [1.0, 0.7, 1.0] and more.wrench[1, 0] == 1.0
    back = more.without_body("ball")
    back.run(20), simulation.run(20)
    assert back.hash == simulation.hash


def test_the_motion_goes_on_with_the_same_bits() -> None:
    simulation = stiction.Simulation(cube(velocity=[1, 0, 0]))
    simulation.run(10)
    fresh = stiction.Simulation(simulation.scene)
    fresh.q, fresh.v = simulation.q, simulation.v
    more = simulation.with_body("far", mass=1.0, position=[50, 0, 5], shape=sphere(0.1))
    more.run(20), fresh.run(20)
    assert (more.q[:7] == fresh.q).all()


def test_welds_hold_exactly_and_pickle() -> None:
    builder = stiction.SceneBuilder(dt=0.001, gravity=[0, 0, 0]).body("a", mass=1, shape=sphere(0.1), angular_velocity=[0, 0, 2])
    builder.body("b", mass=2, position=[0.15, 0, 0], rpy=[0.3, 0, 0], shape=sphere(0.1), collides_with=0, groups=0)
    simulation = stiction.Simulation(builder.build(), separate=True)
    held = simulation.welded("a", "b")
    held.run(500)
    a, b = held.body("a"), held.body("b")
    before = simulation.body("a").rotation.T @ (simulation.body("b").position - simulation.body("a").position)
    assert np.allclose(a.rotation.T @ (b.position - a.position), before, atol=1e-9)
    assert np.allclose(a.angular_velocity, b.angular_velocity, atol=1e-9)
    again = pickle.loads(pickle.dumps(held))
    again.run(5), held.run(5)
    assert again.hash == held.hash
    free = held.released("a", "b")
    assert free.hash == held.hash and free.scene.joints == simulation.scene.joints
    with pytest.raises(stiction.InputError, match="not held together"):
        free.released("a", "b")


def test_a_body_is_held_to_the_world() -> None:
    simulation = stiction.Simulation(cube()).welded("cube")
    simulation.gravity[:] = [20.0, 0, 0]
    simulation.run(100)
    assert np.allclose(simulation.body("cube").position, [0, 0, 0.1], atol=1e-9)


def test_a_robot_file_gets_a_body() -> None:
    simulation = stiction.Simulation(ROOT / "examples/slider.xml")
    simulation.ctrl[:] = 3.0
    simulation.run(10)
    more = simulation.with_body("ball", mass=0.1, position=[0, 0, 2], shape=sphere(0.1))
    assert set(simulation.scene.bodies) < set(more.scene.bodies) and (more.ctrl == 3.0).all()
    for name in simulation.scene.bodies:
        assert (more.body(name).position == simulation.body(name).position).all()


def test_what_cannot_be_taken_out_is_refused() -> None:
    simulation = stiction.Simulation(arm())
    with pytest.raises(stiction.InputError, match="'hand' hangs on it"):
        simulation.without_body("upper")
    with pytest.raises(stiction.InputError, match="no body called 'nobody'"):
        simulation.without_body("nobody")
    with pytest.raises(stiction.SceneError):
        simulation.with_body("hand", mass=1.0, shape=sphere(0.1))

"""The tasks of the first week, and what they rest on: parameters that change, readings, rays."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import first_week
import numpy as np
import pytest
from first_week import ROOT, TASKS, arm, cube

import stiction
from stiction.scene import box, sphere


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_task(task: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert first_week.lines(task) <= first_week.MOST_LINES
    task()


def test_parameters_are_part_of_saved_states_copies_and_pickles() -> None:
    simulation = stiction.Simulation(cube(velocity=[1, 0, 0]))
    simulation.run(5)
    simulation.friction[:], simulation.mass[0], simulation.gravity[2] = 0.2, 2.0, -5.0
    others = [simulation.copy(), pickle.loads(pickle.dumps(simulation)), stiction.Simulation(simulation.scene)]
    others[2].load_state(simulation.save_state())
    simulation.run(50)
    for other in others:
        other.run(50)
        assert other.hash == simulation.hash and other.mass[0] == 2.0 and (other.friction == 0.2).all()


def test_parameters_set_at_run_time_are_those_of_a_scene_with_the_same_numbers() -> None:
    changed = stiction.Simulation(cube(velocity=[1, 0, 0]))
    changed.friction[:], changed.gravity[:] = 0.25, [0, 0, -3.0]
    same = stiction.Simulation(cube(velocity=[1, 0, 0]).with_settings(friction=0.25, gravity=[0, 0, -3.0]))
    changed.run(200), same.run(200)
    assert changed.hash == same.hash


@pytest.mark.parametrize("sleeping", [True, False])
def test_what_rests_wakes_when_a_parameter_changes(sleeping: bool) -> None:
    slope = stiction.SceneBuilder(dt=0.001, gravity=[3.0, 0, -9.0], sleeping=sleeping).material(friction=0.5).ground()
    slope.body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2))
    slope.body("ball", mass=1.0, position=[0, 3, 1.0], velocity=[0, 0, 1], shape=sphere(0.1))
    simulation = stiction.Simulation(slope.build())
    simulation.run(100)
    assert simulation.v[0] == 0.0
    simulation.body("cube").friction = 0.0
    simulation.run(100)
    assert simulation.v[0] > 0.1


def test_a_whole_scene_that_sleeps_wakes_when_gravity_changes() -> None:
    simulation = stiction.Simulation(cube())
    simulation.run(200)
    simulation.gravity[:] = [6.0, 0, -9.0]
    simulation.run(100)
    assert np.isclose(simulation.v[0], 0.1 * (6.0 - 0.5 * 9.0))


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("mass", 0, -1.0, "cube"),
        ("mass", 0, float("nan"), r"mass\[0\]"),
        ("friction", 1, -0.1, "cube"),
        ("gravity", 2, float("inf"), r"gravity\[2\]"),
        ("damping", 2, 0.5, "one value for all its velocities"),
        ("inertia", (0, 0, 0), 100.0, "cube"),
        ("restitution", 0, 1.5, "ground"),
    ],
)
def test_parameters_that_cannot_be_are_refused_with_their_place(name: str, index: object, value: float, message: str) -> None:
    simulation = stiction.Simulation(cube())
    before = simulation.hash
    getattr(simulation, name)[index] = value
    with pytest.raises(stiction.InputError, match=message):
        simulation.step()
    simulation.reset_physical()
    assert simulation.hash == before and simulation.step().ok


def test_reset_keeps_parameters_and_reset_physical_does_not() -> None:
    simulation = stiction.Simulation(cube())
    simulation.mass[0] = 3.0
    simulation.run(3)
    simulation.reset()
    assert simulation.mass[0] == 3.0 and simulation.run(3) and np.isclose(simulation.contact_wrenches[0, 2], 3 * 9.81)
    simulation.reset_physical()
    assert simulation.mass[0] == 1.0


def test_a_randomised_batch_is_its_simulations() -> None:
    scene = stiction.scene.shipped("quad-flat")
    batch = stiction.BatchSimulation(scene, 4)
    rng = np.random.default_rng(1)
    batch.mass *= rng.uniform(0.8, 1.2, batch.mass.shape)
    batch.friction[:] = rng.uniform(0.3, 0.9, batch.friction.shape)
    batch.damping += 0.01
    batch.gravity[:, 2] = [-9.81, -9.0, -5.0, -1.62]
    alone = []
    for i in range(4):
        simulation = stiction.Simulation(scene)
        simulation.mass, simulation.friction, simulation.damping = batch.mass[i], batch.friction[i], batch.damping[i]
        simulation.gravity = batch.gravity[i]
        alone.append(simulation)
    assert batch.step(30).all()
    for i, simulation in enumerate(alone):
        simulation.run(30)
        assert (simulation.q == batch.q[i]).all() and simulation.hash == batch.simulation(i).hash
        assert (simulation.poses == batch.poses[i]).all() and (simulation.contact_wrenches == batch.contact_wrenches[i]).all()
        assert (simulation.applied_effort == batch.applied_effort[i]).all()


def test_a_bad_parameter_fails_one_copy_only() -> None:
    batch = stiction.BatchSimulation(cube(), 3)
    batch.mass[1] = -1.0
    assert batch.step().tolist() == [True, False, True] and "cube" in batch.messages[1]
    batch.mass[1] = 1.0
    batch.reset(1)
    assert batch.step().all()


def test_a_batch_of_scenes_pickles_and_refuses_other_structures() -> None:
    batch = stiction.BatchSimulation(stiction.scene.shipped("slide"), parameters={"mu": [0.1, 0.4]})
    batch.step(10)
    again = pickle.loads(pickle.dumps(batch))
    batch.step(10), again.step(10)
    assert (batch.q == again.q).all() and batch.q[0, 0] != batch.q[1, 0]
    with pytest.raises(stiction.InputError, match="structure"):
        stiction.BatchSimulation([cube(), arm()])


def test_a_rollout_is_its_steps() -> None:
    controls = np.random.default_rng(2).normal(size=(3, 20, 1))
    batch, other = (stiction.BatchSimulation(ROOT / "examples/slider.xml", 3) for _ in range(2))
    found = batch.rollout(controls)
    for k in range(20):
        other.ctrl[:] = controls[:, k]
        other.step()
        assert (other.q == found["q"][:, k]).all() and (other.v == found["v"][:, k]).all()
    assert (batch.q == other.q).all() and (batch.ctrl == other.ctrl).all()
    with pytest.raises(stiction.InputError, match="shape"):
        batch.rollout(np.zeros((2, 20, 1)))


def test_wrenches_go_with_the_body_and_with_saved_states() -> None:
    simulation = stiction.Simulation(arm())
    simulation.body("hand").apply_wrench(force=[1.0, 0, 0])
    expected = simulation.jacobian("hand").T @ [1.0, 0, 0, 0, 0, 0]
    other = stiction.Simulation(arm())
    other.force[:] = expected
    simulation.step(), other.step()
    assert np.allclose(simulation.v, other.v, rtol=1e-12)
    third = stiction.Simulation(arm())
    third.load_state(simulation.save_state())
    simulation.run(5), third.run(5)
    assert third.hash == simulation.hash and third.wrench[1, 0] == 1.0


def test_joint_wrenches_of_a_pushed_chain_are_those_of_statics() -> None:
    simulation = stiction.Simulation(arm())
    simulation.kd[:] = 1e9
    simulation.body("hand").apply_wrench(force=[2.0, 0, 0])
    simulation.step()
    carried = simulation.joint_wrenches
    assert np.allclose(carried[0, :3], [-2.0, 0, 1.5 * 9.81], atol=1e-4)
    assert np.allclose(carried[1, :3], [-2.0, 0, 0.5 * 9.81], atol=1e-4)
    # The efforts of the motors are the moments about the joints' axes.
    assert np.allclose(simulation.applied_effort, carried[:, 4], atol=1e-6)


def test_loop_wrenches_are_taken_off_the_joints() -> None:
    builder = stiction.SceneBuilder(dt=0.001).body("a", mass=1, shape=sphere(0.1)).body("b", mass=3, position=[1, 0, 0], shape=sphere(0.1))
    builder.loop("weld", "a", "b", [0.5, 0, 0])
    simulation = stiction.Simulation(builder.build())
    simulation.body("a").apply_wrench(force=[4.0, 0, 0])
    simulation.step()
    # Both are free: nothing is carried by their own joints, and the loop carries what the other needs.
    assert np.allclose(simulation.joint_wrenches, 0.0, atol=1e-9)
    assert np.allclose(simulation.loop_force[[0, 6]], [-3.0, 3.0])


def test_dry_friction_and_limits_of_joints_are_read() -> None:
    builder = stiction.SceneBuilder(dt=0.001, gravity=[0, 0, 0])
    builder.body("wheel", mass=1, joint={"type": "revolute", "axis": [0, 0, 1], "friction": 0.5, "velocity": 10}, shape=sphere(0.1))
    simulation = stiction.Simulation(builder.build())
    simulation.step()
    assert np.isclose(simulation.friction_force[0], -0.5) and simulation.limit_force[0] == 0.0


def test_setters_refuse_what_is_no_state() -> None:
    simulation = stiction.Simulation(arm())
    with pytest.raises(stiction.InputError, match="hangs on a revolute joint"):
        simulation.body("hand").position = [0, 0, 1]
    with pytest.raises(AttributeError, match="target"):
        simulation.joint("elbow").tagret = 1.0
    with pytest.raises(stiction.InputError, match="did you mean"):
        simulation.body("hnad")


@pytest.mark.parametrize("shape", [box(0.2, 0.2, 0.2), sphere(0.1), stiction.scene.cylinder(0.1, 0.2), stiction.scene.ellipsoid(0.1, 0.1, 0.1)])
def test_rays_meet_every_shape_from_outside_only(shape: dict[str, object]) -> None:
    simulation = stiction.Simulation(stiction.SceneBuilder().body("it", mass=1.0, position=[0, 0, 1], shape=shape).build())
    hit = simulation.raycast([0, 0, 3], [0, 0, -2.0])
    assert hit is not None and np.isclose(hit.distance, 1.9) and np.allclose(hit.normal, [0, 0, 1])
    assert simulation.raycast([0, 0, 1], [0, 0, 1]) is None
    assert simulation.raycast([0, 0, 3], [0, 0, -1], reach=1.0) is None and simulation.raycast([0, 0, 3], [0, 0, -1], exclude="it") is None
    sideways = simulation.raycast(np.array([[0.05, 0.02, 3.0], [0.3, 0, 3.0]]), [0, 0, -1])
    assert sideways.hit.tolist() == [True, False]


def test_rays_meet_meshes_and_height_fields() -> None:
    scene = stiction.Scene.load(ROOT / "scenes/quad-terrain.toml")
    simulation = stiction.Simulation(scene)
    x = np.linspace(-0.4, 0.4, 50)
    hits = simulation.raycast(np.stack([x, 0.3 * x, 0 * x + 5.0], axis=1), [0, 0, -1], exclude=list(range(len(scene.bodies))))
    assert hits.hit.all() and (hits.body == -1).all()
    # What is just above the ground is near it.
    for point, normal in zip(hits.point[::10], hits.normal[::10]):
        assert abs(simulation.distance("world", point + 1e-3 * normal).distance) < 1.1e-3


def test_rays_that_cannot_be_are_refused() -> None:
    simulation = stiction.Simulation(cube())
    for origin, direction in [([0, 0], [0, 0, 1]), ([0, 0, 1], [0, 0, 0]), ([0, 0, float("nan")], [0, 0, 1])]:
        with pytest.raises(stiction.InputError):
            simulation.raycast(origin, direction)

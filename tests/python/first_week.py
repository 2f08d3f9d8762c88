"""What a robotics user tries in the first week: sixty small tasks of at most five lines each.

``python tests/python/first_week.py`` runs them and says which fail; ``test_first_week.py`` runs them with the other tests.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import stiction
from stiction.scene import box, sphere

#: Lines a task may have.
MOST_LINES = 5
ROOT = Path(__file__).resolve().parents[2]
TASKS: list[Callable[[], None]] = []


def task(function: Callable[[], None]) -> Callable[[], None]:
    """Lists a task."""
    TASKS.append(function)
    return function


def cube(**options: object) -> stiction.Scene:
    """A cube of 1 kg at rest on the ground."""
    builder = stiction.SceneBuilder(dt=0.001).material(friction=0.5).ground()
    return builder.body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2), **options).build()


def arm() -> stiction.Scene:
    """Two links that hang on motors without servos."""
    builder = stiction.SceneBuilder(dt=0.001)
    hinge = {"type": "revolute", "axis": [0, 1, 0], "name": "shoulder", "limits": [-1, 1]}
    builder.body("upper", mass=1.0, joint=hinge, shape=box(0.1, 0.1, 0.4, position=[0, 0, -0.2]))
    elbow = {"type": "revolute", "axis": [0, 1, 0], "name": "elbow"}
    builder.body("hand", parent="upper", position=[0, 0, -0.4], mass=0.5, joint=elbow, shape=box(0.1, 0.1, 0.2, position=[0, 0, -0.1]))
    return builder.build()


def box_and_hand() -> stiction.Scene:
    """A box on the ground, and on it a hand that is moved from outside."""
    builder = stiction.SceneBuilder(dt=0.001).ground().body("box", mass=1, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2))
    return builder.body("hand", position=[0, 0, 0.3], joint="mocap", shape=box(0.1, 0.1, 0.2)).build()


def sensing_arm() -> str:
    """A robot file with a sensor."""
    file = Path(tempfile.mkdtemp(), "arm.xml")
    body = "<body><joint name='j' axis='0 1 0'/><geom size='.1' pos='0 0 .3'/></body>"
    file.write_text(f"<mujoco><worldbody>{body}</worldbody><sensor><jointpos name='angle' joint='j'/></sensor></mujoco>")
    return str(file)


def four_bar() -> stiction.Scene:
    """A mechanism with a closed loop."""
    return stiction.scene.shipped("four-bar")


def command(*arguments: str, code: int = 0, **options: object) -> str:
    """What the command prints."""
    done = subprocess.run([sys.executable, "-m", "stiction", *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


# 1: batches


@task
def batch_with_other_masses_and_friction() -> None:
    batch = stiction.BatchSimulation(cube(), 8)
    batch.mass[:, 0] = np.linspace(0.5, 2.0, 8)
    batch.friction[:] = np.linspace(0.1, 0.8, 8)[:, None]
    assert batch.step(100).all()
    assert np.allclose(batch.contact_wrenches[:, 0, 2], 9.81 * batch.mass[:, 0])


@task
def batch_with_other_gravity_damping_and_limits() -> None:
    batch = stiction.BatchSimulation(arm(), 4)
    batch.gravity[1:] = [0, 0, -1.62]
    batch.damping[:, 0], batch.effort_limits[2, 1] = [0, 0.1, 0.2, 0.3], [-2.0, 2.0]
    batch.q[:, 0] = 0.5
    assert batch.step(200).all() and len(set(batch.q[:, 0])) == 4


@task
def batch_of_scene_parameters() -> None:
    scene = stiction.scene.shipped("slide")
    batch = stiction.BatchSimulation(scene, 3, parameters={"mu": [0.1, 0.2, 0.3]})
    batch.step(100)
    assert len(set(batch.v[:, 0])) == 3


@task
def batch_of_scenes() -> None:
    batch = stiction.BatchSimulation([cube(velocity=[x, 0, 0]) for x in (0.5, 1.0, 2.0)])
    batch.step(10)
    assert batch.n == 3 and batch.v[0, 0] < batch.v[1, 0] < batch.v[2, 0]


@task
def batch_arrays_of_all_copies() -> None:
    batch = stiction.BatchSimulation(cube(), 5)
    batch.step(3)
    assert batch.poses.shape == (5, 1, 7) and batch.body_velocities.shape == (5, 1, 6)
    assert batch.contact_wrenches.shape == (5, 1, 6)


@task
def batch_callback_per_step() -> None:
    batch, seen = stiction.BatchSimulation(arm(), 4), []
    batch.run(20, lambda b: seen.append(b.q.copy()))
    assert len(seen) == 20 and seen[0].shape == (4, 2)


@task
def batch_rollout_of_controls() -> None:
    batch = stiction.BatchSimulation(stiction.Scene.load(ROOT / "examples/slider.xml"), 4)
    found = batch.rollout(np.random.default_rng(0).normal(size=(4, 50, batch.ctrl.shape[1])))
    assert found["q"].shape == (4, 50, batch.q.shape[1]) and found["ok"].all()


@task
def batch_reset_of_some_to_start_states() -> None:
    batch = stiction.BatchSimulation(cube(), 4)
    batch.step(5)
    mask = np.array([True, False, True, False])
    batch.reset(mask, v=np.full((2, 6), 0.1))
    assert np.allclose(batch.v[mask], 0.1) and (batch.t[mask] == 0).all() and (batch.t[~mask] > 0).all()


# 2: everything readable


@task
def motor_torques_that_were_applied() -> None:
    simulation = stiction.Simulation(arm())
    simulation.kp[:], simulation.kd[:], simulation.target[:] = 100.0, 10.0, 0.3
    simulation.run(2000)
    weight = simulation.inverse_dynamics(0.0)
    assert np.allclose(simulation.applied_effort, weight, atol=0.05)


@task
def joint_reaction_wrench() -> None:
    simulation = stiction.Simulation(arm())
    simulation.step()
    assert np.allclose(simulation.joint("shoulder").reaction[:3], [0, 0, 1.5 * 9.81])


@task
def limit_forces() -> None:
    simulation = stiction.Simulation(arm())
    simulation.effort[0] = 20.0
    simulation.run(1000)
    assert simulation.q[0] > 0.99 and simulation.limit_force[0] < -1.0


@task
def loop_forces() -> None:
    simulation = stiction.Simulation(four_bar())
    simulation.run(10)
    assert np.abs(simulation.loop_force).max() > 0.0


@task
def accelerations() -> None:
    simulation = stiction.Simulation(cube(velocity=[1, 0, 0]))
    simulation.step()
    assert np.allclose(simulation.body("cube").acceleration, [-0.5 * 9.81, 0, 0])
    assert np.allclose(simulation.acceleration[:3], [-0.5 * 9.81, 0, 0])


@task
def centre_of_mass_momentum_energy() -> None:
    simulation = stiction.Simulation(cube(velocity=[1, 0, 0]))
    linear, angular = simulation.momentum()
    assert np.allclose(simulation.center_of_mass(), [0, 0, 0.1]) and np.allclose(linear, [1, 0, 0])
    assert np.allclose(angular, 0) and simulation.energy()[0] == 0.5


@task
def a_body_by_name_is_moved() -> None:
    body = stiction.Simulation(cube()).body("cube")
    body.position, body.rotation = [0, 0, 2], [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    body.velocity = [0, 1, 0]
    assert np.allclose(body.position, [0, 0, 2]) and np.allclose(body.quaternion, [0.5**0.5, 0, 0, 0.5**0.5])


@task
def a_body_is_pushed() -> None:
    simulation = stiction.Simulation(cube())
    simulation.body("cube").apply_wrench(force=[10, 0, 0])
    simulation.run(100)
    assert np.isclose(simulation.body("cube").velocity[0], 0.1 * (10 - 0.5 * 9.81))


@task
def a_joint_by_name_has_a_target() -> None:
    simulation = stiction.Simulation(arm())
    simulation.joint("elbow").kp, simulation.joint("elbow").kd = 200.0, 5.0
    simulation.joint("elbow").target = 0.4
    simulation.run(3000)
    assert abs(simulation.joint("elbow").position - 0.4) < 0.02


@task
def writing_to_what_is_only_read_raises() -> None:
    simulation = stiction.Simulation(cube())
    for array in (simulation.poses, simulation.body_velocities, simulation.contact_wrenches, simulation.scene.masses):
        try: array[:] = 0  # noqa: E701
        except ValueError: continue  # noqa: E701
        raise AssertionError("written to")


# 3: queries


@task
def one_ray() -> None:
    hit = stiction.Simulation(cube()).raycast([0, 0, 5], [0, 0, -1])
    assert hit.body == "cube" and np.isclose(hit.distance, 4.8) and np.allclose(hit.normal, [0, 0, 1])


@task
def many_rays() -> None:
    x = np.linspace(-1, 1, 100)
    hits = stiction.Simulation(cube()).raycast(np.stack([x, 0 * x, 0 * x + 1], 1), [0, 0, -1])
    assert np.allclose(hits.distance, np.where(abs(x) < 0.1, 0.8, 1.0)) and (hits.body[:3] == -1).all()


@task
def distance_between_bodies() -> None:
    builder = stiction.SceneBuilder().body("a", mass=1, shape=sphere(0.1)).body("b", mass=1, position=[1, 0, 0], shape=box(0.2, 0.2, 0.2))
    found = stiction.Simulation(builder.build()).distance("a", "b")
    assert np.isclose(found.distance, 0.8) and np.allclose(found.point_a, [0.1, 0, 0]) and np.allclose(found.point_b, [0.9, 0, 0])


@task
def distance_to_a_point() -> None:
    found = stiction.Simulation(cube()).distance("cube", [0, 0, 1])
    assert np.isclose(found.distance, 0.8) and np.allclose(found.point_a, [0, 0, 0.2])


@task
def what_a_shape_would_overlap() -> None:
    simulation = stiction.Simulation(cube())
    assert simulation.overlapping(box(0.1, 0.1, 0.1), position=[0, 0, 0.3]) == []
    assert simulation.overlapping(sphere(0.2), position=[0, 0, 0.3]) == ["cube"]


# 4: the world changes


@task
def friction_while_it_runs() -> None:
    simulation = stiction.Simulation(cube(velocity=[1, 0, 0]))
    simulation.run(10)
    simulation.friction[:] = 0.0
    v = simulation.v[0]
    assert simulation.run(100).ok and np.isclose(simulation.v[0], v)


@task
def gravity_and_masses_while_it_runs_are_in_saved_states() -> None:
    simulation = stiction.Simulation(cube())
    simulation.gravity[:], simulation.body("cube").mass = [0, 0, -1.62], 3.0
    again = stiction.Simulation(cube())
    again.load_state(simulation.save_state())
    assert again.run(5) and simulation.run(5) and np.isclose(again.contact_wrenches[0, 2], 3 * 1.62) and again.hash == simulation.hash


@task
def a_body_is_added_and_removed() -> None:
    simulation = stiction.Simulation(cube())
    simulation.run(10)
    more = simulation.with_body("ball", mass=0.1, position=[0, 0, 1], shape=sphere(0.05))
    assert more.scene.bodies == ["cube", "ball"] and more.t == simulation.t
    assert more.without_body("ball").hash == simulation.hash


@task
def a_body_is_welded_and_released() -> None:
    builder = stiction.SceneBuilder().body("a", mass=1, shape=sphere(0.1)).body("b", mass=1, position=[1, 0, 0], shape=sphere(0.1))
    held = stiction.Simulation(builder.build()).welded("a", "b")
    held.body("a").apply_wrench(force=[5, 0, 0])
    free = held.run(100) and held.released("a", "b")
    assert np.allclose(held.body("a").velocity, held.body("b").velocity) and free.hash


# 5: recordings and trajectories


@task
def python_reads_what_the_command_records() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command("run", "scenes/slide.toml", "--steps", "50", "--record", f"{folder}/run.stic")
        found = stiction.Recording(f"{folder}/run.stic").trajectory()
    assert found.orientations.shape[2] == 4 and len(found) == 51


@task
def record_with_a_controller() -> None:
    found = stiction.record(stiction.Simulation(arm()), 100, controller=lambda s: s.effort.__setitem__(0, -s.v[0]))
    assert len(found.t) == 101 and found.q.shape == (101, 2)


@task
def csv_as_genfromtxt_reads_it() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command("run", "scenes/slide.toml", "--steps", "20", "--record", f"{folder}/run.stic")
        command("export", f"{folder}/run.stic", "--csv", folder)
        table = np.genfromtxt(f"{folder}/states.csv", names=True, delimiter=",")
    assert "q_cube_x" in table.dtype.names and len(table) == 21


# 6: the command


@task
def a_robot_file_is_run_as_it_is() -> None:
    said = command("run", "examples/slider.xml", "--steps", "1e2", cwd=ROOT)
    assert "cart" in said


@task
def errors_as_json() -> None:
    said = json.loads(command("run", "no-such.toml", "--json", code=2))
    assert "no-such.toml" in said["error"]


@task
def completions_and_a_man_page() -> None:
    assert "stiction" in command("completions", "bash")
    assert ".TH stiction" in command("man")


@task
def a_starter_scene() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command("new", "first", cwd=folder)
        assert "cube" in command("run", "first.toml", "--steps", "10", cwd=folder)
        subprocess.run([sys.executable, "first.py"], cwd=folder, check=True, capture_output=True, env=os.environ)


# 7: forgiving


@task
def a_quaternion_of_six_digits() -> None:
    simulation = stiction.Simulation(cube(orientation=[0.707107, 0.707107, 0, 0]))
    simulation.q[3:] = [0.7071, 0, 0.7071, 0]
    assert simulation.run(10).ok and np.isclose(np.linalg.norm(simulation.q[3:]), 1.0, atol=1e-12)


@task
def parent_without_joint_is_fixed() -> None:
    builder = stiction.SceneBuilder().body("cup", mass=1, shape=sphere(0.1)).body("handle", parent="cup", mass=0.1, shape=sphere(0.02))
    assert builder.build().joint_types == ["free", "fixed"]


@task
def bodies_in_any_order() -> None:
    builder = stiction.SceneBuilder().body("hand", parent="arm", mass=1, joint="revolute", shape=sphere(0.1))
    assert builder.body("arm", mass=1, joint="revolute", shape=sphere(0.1)).build().nv == 2


@task
def a_missing_file_is_a_file_not_found_error() -> None:
    try: stiction.Scene.load("no-such-scene.toml")  # noqa: E701
    except FileNotFoundError as error: assert isinstance(error, stiction.SceneError)  # noqa: E701


# 10: other tools


@task
def a_mujoco_file_and_its_state() -> None:
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(ROOT / "examples/slider.xml"))
    data, simulation = mujoco.MjData(model), stiction.Simulation(ROOT / "examples/slider.xml")
    data.qvel[:] = np.arange(7.0)
    stiction.state_from_mujoco(simulation, model, data)
    assert np.allclose(simulation.q, data.qpos) and np.allclose(simulation.v, data.qvel)


@task
def a_free_body_of_mujoco_turns_the_same_way() -> None:
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    data, simulation = mujoco.MjData(model), stiction.from_mujoco(model)
    simulation.q[3:], simulation.v[3:] = [0.5**0.5, 0.5**0.5, 0, 0], [0, 0, 2.0]
    stiction.state_to_mujoco(simulation, model, data)
    assert np.allclose(data.qvel[3:], [0, 2.0, 0])


# The same with other words


@task
def a_height_scan_around_a_robot() -> None:
    simulation = stiction.Simulation("scenes/quad-terrain.toml")
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-0.3, 0.3, 5), np.linspace(-0.3, 0.3, 5)))
    hits = simulation.raycast(np.stack([x, y, np.full(25, 3.0)], axis=1), [0, 0, -1], exclude=simulation.scene.bodies)
    assert hits.hit.all() and np.ptp(hits.point[:, 2]) < 0.5


@task
def positions_of_all_joints_by_name() -> None:
    simulation = stiction.Simulation("examples/arm.urdf")
    simulation.joints["elbow"].position = 0.5
    assert {name: joint.position for name, joint in simulation.joints.items()} == {"shoulder": 0.0, "elbow": 0.5}
    assert list(simulation.bodies) == ["base", "upper", "lower"] and simulation.bodies["base"].position[2] == 0.0


@task
def contact_force_with_the_ground_of_all_copies() -> None:
    batch = stiction.BatchSimulation(cube(), 2)
    batch.step(5)
    assert np.allclose(batch.pair_wrenches("ground", "cube")[:, 2], 9.81)
    assert np.allclose(batch.pair_wrenches("cube", "world")[:, 2], -9.81)


@task
def another_step_length_in_the_middle() -> None:
    simulation = stiction.Simulation(cube())
    simulation.run(10)
    simulation = simulation.with_scene(simulation.scene.with_settings(dt=0.01))
    simulation.run(10)
    assert np.isclose(simulation.t, 0.11)


@task
def gravity_compensation() -> None:
    simulation = stiction.Simulation(arm())
    simulation.q[:] = [0.4, 0.3]
    kept = stiction.record(simulation, 200, controller=lambda s: s.effort.__setitem__(slice(None), s.inverse_dynamics(np.zeros(2))))
    assert np.allclose(kept.q[-1], kept.q[0], atol=1e-3)


@task
def computed_torque() -> None:
    simulation = stiction.Simulation(arm())
    for _ in range(2000):
        simulation.effort[:] = simulation.inverse_dynamics(100 * (np.array([0.5, 0.2]) - simulation.q) - 20 * simulation.v)
        simulation.step()
    assert np.allclose(simulation.q, [0.5, 0.2], atol=1e-3)


@task
def inverse_kinematics_by_the_jacobian() -> None:
    simulation = stiction.Simulation(arm())
    for _ in range(200):
        error = np.array([0.2, 0, -np.sqrt(0.12)]) - simulation.body("hand").position
        simulation.q[:] += np.linalg.lstsq(simulation.jacobian("hand")[:3], 0.5 * error, rcond=1e-3)[0]
    assert np.allclose(simulation.body("hand").position, [0.2, 0, -np.sqrt(0.12)], atol=1e-6)


@task
def carry_a_box_with_a_hand_that_is_moved() -> None:
    simulation = stiction.Simulation(box_and_hand()).welded("box", "hand")
    for k in range(300):
        simulation.set_mocap("hand", [0, 0, 0.3 + 0.001 * k])
        simulation.step()
    assert np.allclose(simulation.body("box").position, [0, 0, 0.399], atol=2e-3)


@task
def take_the_lower_box_away() -> None:
    builder = stiction.SceneBuilder(dt=0.001).ground().body("a", mass=1, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2))
    simulation = stiction.Simulation(builder.body("b", mass=1, position=[0, 0, 0.3], shape=box(0.2, 0.2, 0.2)).build())
    simulation.run(20)
    simulation = simulation.without_body("a")
    assert simulation.run(300).ok and np.isclose(simulation.body("b").position[2], 0.1)


@task
def servo_gains_for_each_copy() -> None:
    batch = stiction.BatchSimulation(arm(), 4)
    batch.kp[:], batch.kd[:], batch.target[:] = np.array([50, 100, 200, 400.0])[:, None], 20.0, 0.3
    assert batch.step(3000).all()
    assert (np.diff(np.abs(batch.q[:, 0] - 0.3)) < 0).all()


@task
def what_would_happen_if() -> None:
    simulation = stiction.Simulation(cube())
    pushed, left = simulation.copy(), simulation.copy()
    pushed.force[0] = 20.0
    pushed.run(50), left.run(50)
    assert pushed.q[0] > left.q[0] and simulation.t == 0.0


@task
def time_in_the_air() -> None:
    kept = stiction.record(stiction.Simulation(cube(velocity=[0, 0, 2])), 1000)
    assert np.isclose(kept.t[kept.contacts == 0].max(), 2 * 2 / 9.81, atol=2e-3)


@task
def pairs_that_do_not_touch() -> None:
    builder = stiction.SceneBuilder(dt=0.001).ground().body("a", mass=1, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2))
    scene = builder.body("b", mass=1, position=[0, 0, 0.25], shape=box(0.2, 0.2, 0.2)).pair("a", "b", collide=False).build()
    simulation = stiction.Simulation(scene)
    assert simulation.run(1000).ok and np.isclose(simulation.body("b").position[2], 0.1)


@task
def record_by_hand_and_replay() -> None:
    file, simulation = f"{tempfile.mkdtemp()}/a.rec", stiction.Simulation(cube())
    with stiction.Recorder(simulation, file):
        simulation.body("cube").apply_wrench([7.0, 0, 0])
        simulation.run(50)
    assert "identical: 50 steps" in command("replay", file)


@task
def a_recording_as_a_table_of_pandas() -> None:
    with tempfile.TemporaryDirectory() as folder:
        stiction.record(stiction.Simulation(cube(velocity=[1, 0, 0])), 20, path=f"{folder}/a.rec")
        command("export", f"{folder}/a.rec", "--csv", folder)
        table = np.genfromtxt(f"{folder}/states.csv", names=True, delimiter=",")
    assert table["positions_cube_x"][-1] > 0.01 and np.allclose(table["orientations_cube_w"], 1.0)


@task
def a_trajectory_saved_and_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        stiction.record(stiction.Simulation(cube()), 10).save(f"{folder}/a.npz")
        saved = np.load(f"{folder}/a.npz")
        assert list(saved["bodies"]) == ["cube"] and saved["q_names"][0] == "cube.x" and saved["dt"] == 0.001


@task
def how_fast_a_robot_file_runs() -> None:
    said = json.loads(command("bench", "examples/slider.xml", "--steps", "10", "--turns", "3", "--json", cwd=ROOT))
    assert said["us_per_step"]["total"] > 0 and said["nv"] == stiction.Scene.load(ROOT / "examples/slider.xml").nv


@task
def a_robot_file_on_a_floor() -> None:
    said = command("run", "examples/arm.urdf", "--floor", "--separate", "--steps", "10", cwd=ROOT)
    assert "lower" in said and "10 of 0.001 s" in said


@task
def randomise_and_read_sensors_of_a_batch() -> None:
    batch = stiction.BatchSimulation(sensing_arm(), 3)
    batch.q[:, 0], batch.mass[:, 0] = [0.1, 0.2, 0.3], [0.5, 1.0, 2.0]
    assert batch.step().all() and np.allclose(batch.sensors["angle"], batch.q)


@task
def a_number_that_is_none_is_named() -> None:
    simulation = stiction.Simulation(cube())
    try:
        simulation.raycast([[0, 0, 1], [0, float("inf"), 1]], [0, 0, -1])
    except stiction.InputError as error:
        assert "origin of ray 1[1]" in str(error) and "inf" in str(error)


def lines(function: Callable[[], None]) -> int:
    """Lines of a task's body, without blank ones and imports."""
    body = inspect.getsource(function).split("\n")[2:]
    return sum(1 for line in body if line.strip() and not line.strip().startswith(("import ", "#")))


def main() -> int:
    """Runs all tasks; returns how many fail."""
    os.chdir(ROOT)
    failed = 0
    for function in TASKS:
        try:
            function()
        except Exception as error:
            failed += 1
            print(f"{function.__name__}: {type(error).__name__}: {error}")
    print(f"{len(TASKS) - failed} of {len(TASKS)} tasks pass")
    return failed


if __name__ == "__main__":
    sys.exit(main())

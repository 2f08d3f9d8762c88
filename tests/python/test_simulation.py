"""One simulation: state as views, contacts, dynamics, saved states, threads."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.scene import box, sphere

G = 9.81


@pytest.fixture
def cube() -> stiction.Scene:
    """A cube of 2 kg at rest on the ground."""
    builder = stiction.SceneBuilder("cube", dt=0.001, duration=0.1).material(friction=0.5).ground()
    return builder.body("cube", mass=2.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2)).build()


@pytest.fixture
def ball() -> stiction.Scene:
    """A ball that flies."""
    return stiction.SceneBuilder("ball").body("ball", mass=1.0, shape=sphere(0.1)).build()


@pytest.fixture
def impossible() -> stiction.Scene:
    """Two walls that are moved together through a block."""
    builder = stiction.SceneBuilder("vice", gravity=[0, 0, 0]).body("block", mass=1.0, shape=box(0.1, 0.1, 0.1))
    for name, side in (("left", -1.0), ("right", 1.0)):
        builder.body(
            name, mass=1.0, position=[0.1 * side, 0, 0], shape=box(0.1, 0.1, 0.1), joint={"type": "prismatic", "axis": [1, 0, 0]}
        )
        builder.motion(name, [[0, 0], [0.01, 0], [0.02, -0.05 * side]])
    return builder.build()


@pytest.mark.parametrize("name", ["grasp", "stack", "quad-flat"])
def test_same_bits_as_the_command(scenes: Path, name: str) -> None:
    main = "import sys; from stiction._stiction import _main; sys.exit(_main(['stiction', *sys.argv[1:]]))"
    command = [sys.executable, "-c", main, "run", str(scenes / f"{name}.toml"), "--steps", "200", "--json"]
    summary = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    simulation = stiction.Simulation(scenes / f"{name}.toml")
    report = simulation.run(200)
    assert report and report.steps == 200
    assert f"{simulation.hash:016x}" == summary["hash"].removeprefix("0x")


def test_steps_and_runs_are_the_same(cube: stiction.Scene) -> None:
    one, many = stiction.Simulation(cube), stiction.Simulation(cube)
    for _ in range(100):
        report = one.step()
        assert report and report.ok and report.certificate <= cube.tolerance
    assert many.run().steps == cube.steps == 100
    assert one.hash == many.hash and one.steps == 100 and abs(one.t - 0.1) < 1e-12


def test_views_are_the_state(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    q, v = simulation.q, simulation.v
    assert q is simulation.q and v is simulation.v and q.base is not None
    assert q.tolist() == [0, 0, 0.1, 1, 0, 0, 0]
    v[0] = 1.0
    simulation.step()
    assert 0.9 < v[0] < 1.0 - 0.4 * G * 0.001 and q[0] > 0
    simulation.q = [1.0, 0, 0.1, 1, 0, 0, 0]
    simulation.v = 0.0
    assert q[0] == 1.0 and not v.any()
    simulation.step()
    np.testing.assert_allclose(simulation.q, [1.0, 0, 0.1, 1, 0, 0, 0], atol=1e-12)


def test_views_outlive_their_simulation(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    simulation.step()
    q, contacts = simulation.q, simulation.contacts
    expected = q.copy()
    del simulation
    gc.collect()
    np.testing.assert_array_equal(q, expected)
    q[0] = 3.0
    assert q[0] == 3.0 and len(contacts) == 4


def test_states_are_validated_when_the_step_begins(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    simulation.q[2] = np.nan
    with pytest.raises(stiction.InputError, match=r"q\[2\].*cube.*NaN"):
        simulation.step()
    simulation.q = [0, 0, 0.1, 2.0, 0, 0, 0]
    with pytest.raises(stiction.InputError, match="quaternion"):
        simulation.step()
    simulation.q = [0, 0, 0.1, 1.0, 0, 0, 0]
    simulation.v[3] = np.inf
    with pytest.raises(stiction.InputError, match=r"v\[3\]"):
        simulation.energy()
    simulation.v = 0
    assert simulation.step()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: setattr(s, "q", [1.0, 2.0]), stiction.InputError, "q must have 7 entries, found 2"),
        (lambda s: setattr(s, "v", ["a"] * 6), TypeError, "v must hold real numbers"),
        (lambda s: setattr(s, "effort", np.zeros((2, 3))), stiction.InputError, r"effort must be a vector"),
        (lambda s: s.kp.__setitem__(0, 1.0) or s.step(), stiction.InputError, r"kp\[0\] must be 0: the joint of \"cube\" has several"),
        (lambda s: s.kd.__setitem__(0, -1.0) or s.step(), stiction.InputError, r"kd\[0\] is -1; it must be at least 0"),
        (lambda s: s.force.__setitem__(2, np.nan) or s.step(), stiction.InputError, r"force\[2\] is NaN; it must be finite"),
        (lambda s: s.jacobian("cub"), stiction.InputError, 'there is no body called "cub"; did you mean "cube"'),
        (lambda s: s.jacobian(5), stiction.InputError, "there is no body 5; there are 1"),
        (lambda s: s.jacobian(-1), stiction.InputError, "there is no body -1; there are 1"),
        (lambda s: s.run(-1), stiction.InputError, "steps must be at least 0, found -1"),
        (lambda s: s.run(2**70), stiction.InputError, r"steps must be below 2\*\*64"),
        (lambda s: s.run(2.5), TypeError, "steps must be a whole number, found float"),
        (lambda s: stiction.record(s, 5, every=0), stiction.InputError, "every must be at least 1, found 0"),
        (lambda s: s.jacobian("cube", [1.0, 2.0]), stiction.InputError, "point must have 3 entries, found 2"),
        (lambda s: s.inverse_dynamics([np.nan] * 6), stiction.InputError, r"a\[0\] is NaN"),
        (lambda s: s.mass_matrix(out=np.zeros((6, 6), order="F")), TypeError, "C-contiguous float64 array .* this one is not contiguous"),
        (lambda s: s.mass_matrix(out=np.zeros((6, 6), dtype=np.float32)), TypeError, "found dtype float32"),
        (lambda s: s.mass_matrix(out=np.zeros((5, 6))), stiction.InputError, r"found shape \(5, 6\)"),
        (lambda s: s.mass_matrix(out=[[0.0]]), TypeError, "found list"),
        (lambda s: s.load_state(b"nonsense"), stiction.SceneError, "no saved state"),
        (lambda s: stiction.Simulation(7), TypeError, "scene must be a Scene or the path of one, found int"),
        (lambda s: stiction.Simulation("no-such.toml"), stiction.SceneError, "no-such.toml"),
    ],
)
def test_messages(cube: stiction.Scene, change, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        change(stiction.Simulation(cube))


def test_contacts_of_a_cube_at_rest(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    assert simulation.contacts.dtype == stiction.sim.CONTACT_DTYPE and len(simulation.contacts) == 0
    simulation.run(10)
    contacts = simulation.contacts
    assert contacts.dtype.names is not None and len(contacts) == 4
    assert {tuple(sorted((c["body_a"], c["body_b"]))) for c in contacts} == {(-1, 0)}
    np.testing.assert_allclose(contacts["normal_force"].sum(), 2.0 * G, rtol=1e-12)
    np.testing.assert_allclose(np.abs(contacts["frame"][:, 0]), [[0, 0, 1]] * 4, atol=1e-12)
    assert (np.linalg.norm(contacts["friction_force"], axis=1) <= 0.5 * contacts["normal_force"] * (1 + 1e-12)).all()
    assert set(contacts["mode"]) == {stiction.Mode.STICK}
    np.testing.assert_allclose(np.abs(contacts["point"][:, :2]), 0.1, atol=1e-9)
    sign = np.where(contacts["body_b"] == 0, 1.0, -1.0)
    np.testing.assert_allclose((sign[:, None] * contacts["force"]).sum(axis=0), [0, 0, 2.0 * G], atol=1e-10)
    np.testing.assert_allclose(simulation.contact_wrenches, [[0, 0, 2.0 * G, 0, 0, 0]], atol=1e-9)
    (pair,) = simulation.contact_pairs
    assert (pair["body_a"], pair["body_b"], pair["contacts"]) == (-1, 0, 4)
    np.testing.assert_allclose(pair["force"], [0, 0, 2.0 * G], atol=1e-10)


def test_friction_has_the_sign_that_brakes(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    simulation.v[0] = 1.0
    simulation.step()
    wrench = simulation.contact_wrenches[0]
    np.testing.assert_allclose(wrench[[0, 2]], [-0.5 * 2.0 * G, 2.0 * G], rtol=1e-9)
    # The ground's friction acts 0.1 m below the origin: its moment turns the cube forward, and the normal forces hold against it.
    np.testing.assert_allclose(wrench[3:], 0.0, atol=1e-9)
    assert stiction.Mode.SLIDE in simulation.contacts["mode"]


def test_contact_jacobian_gives_the_motion_of_the_contacts(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    simulation.v[:2] = [1.0, 0.5]
    simulation.step()
    rows = simulation.contact_jacobian()
    assert rows.shape == (12, 6)
    speeds = (rows @ simulation.v).reshape(-1, 3)
    np.testing.assert_allclose(speeds[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(speeds[:, 1:], axis=1), np.linalg.norm(simulation.v[:2]), rtol=1e-9)
    # Momentum: what the rows' forces add is what the cube lost.
    contacts = simulation.contacts
    forces = np.column_stack([contacts["normal_force"], contacts["friction_force"]]).ravel()
    np.testing.assert_allclose(rows.T @ forces + [0, 0, -2.0 * G, 0, 0, 0],
                               simulation.mass_matrix() @ (simulation.v - [1.0, 0.5, 0, 0, 0, 0]) / 0.001, atol=1e-8)


def test_dynamics_agree_with_each_other(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "quad-flat.toml")
    rng = np.random.default_rng(3)
    simulation.v = rng.normal(size=simulation.v.size)
    simulation.q[7:] = rng.normal(size=simulation.q.size - 7) * 0.3
    M, v = simulation.mass_matrix(), simulation.v
    assert M.shape == (18, 18) and np.array_equal(M, M.T) and (np.linalg.eigvalsh(M) > 0).all()
    np.testing.assert_allclose(0.5 * v @ M @ v, simulation.energy()[0], rtol=1e-12)
    for i, body in enumerate(simulation.scene.bodies):
        np.testing.assert_allclose(simulation.jacobian(body) @ v, simulation.body_velocities[i], atol=1e-12)
    a = rng.normal(size=18)
    np.testing.assert_allclose(simulation.inverse_dynamics(a) - simulation.inverse_dynamics(0.0), M @ a, atol=1e-10)
    out = np.empty((18, 18))
    assert simulation.mass_matrix(out=out) is out and np.array_equal(out, M)


def test_jacobian_of_a_point_is_its_velocity(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "quad-flat.toml")
    simulation.v = np.random.default_rng(4).normal(size=18)
    point, h = np.array([0.02, -0.01, -0.1]), 1e-6
    J = simulation.jacobian("shank11", point)

    def place() -> np.ndarray:
        p, (w, *xyz) = np.split(simulation.poses[simulation.scene.body("shank11")], [3])
        return p + point + 2 * np.cross(xyz, np.cross(xyz, point) + w * point)

    before = place()
    v = simulation.v.copy()
    q = simulation.q.copy()
    simulation.q[7:] += h * v[6:]
    simulation.q[:3] += h * v[:3]
    rotation = np.concatenate([[1.0], 0.5 * h * v[3:6]])
    w1, x1 = rotation[0], rotation[1:]
    w2, x2 = q[3], q[4:7]
    simulation.q[3:7] = np.concatenate([[w1 * w2 - x1 @ x2], w1 * x2 + w2 * x1 + np.cross(x1, x2)])
    simulation.q[3:7] /= np.linalg.norm(simulation.q[3:7])
    np.testing.assert_allclose((place() - before) / h, (J @ v)[:3], atol=1e-5)


def test_inverse_dynamics_without_contact(ball: stiction.Scene) -> None:
    simulation = stiction.Simulation(ball)
    np.testing.assert_allclose(simulation.inverse_dynamics(0.0), [0, 0, G, 0, 0, 0], atol=1e-12)


def test_inverse_dynamics_with_contact_of_a_standing_quadruped(scenes: Path) -> None:
    scene = stiction.Scene.load(scenes / "quad-flat.toml", push=0.0)
    simulation = stiction.Simulation(scene)
    simulation.run(500)
    state = simulation.hash
    found = stiction.inverse_dynamics(simulation, np.zeros(18))
    assert simulation.hash == state and found.certificate.holds(1e-10)
    weight = scene.masses.sum() * G
    np.testing.assert_allclose(found.contacts["normal_force"].sum(), weight, rtol=1e-3)
    assert not found.effort[:6].any() and np.abs(found.effort[6:]).max() > 1e-3
    # The efforts and the contact forces are what the motion takes.
    check = stiction.Simulation(scene.with_parameters(kp=0.0, kd=0.0))
    check.q, check.v = simulation.q, simulation.v
    check.effort = found.effort
    before = check.v.copy()
    check.step()
    np.testing.assert_allclose((check.v - before) / scene.dt, found.acceleration, atol=1e-6)


def test_inputs_act(ball: stiction.Scene) -> None:
    simulation = stiction.Simulation(ball)
    simulation.force[2] = G
    simulation.run(100)
    np.testing.assert_allclose(simulation.v, 0.0, atol=1e-12)


def test_servos_from_python_are_those_of_scenes() -> None:
    def pendulum() -> stiction.SceneBuilder:
        joint = {"type": "revolute", "axis": [0, 1, 0]}
        return stiction.SceneBuilder().body("arm", mass=1.0, shape=box(0.1, 0.1, 0.5, position=[0, 0, -0.3]), joint=joint)

    own = stiction.Simulation(pendulum().servo("arm", kp=30.0, kd=2.0, target=0.7).build())
    ours = stiction.Simulation(pendulum().build())
    ours.kp, ours.kd, ours.target = 30.0, 2.0, 0.7
    own.run(300), ours.run(300)
    assert own.q.tobytes() == ours.q.tobytes() and abs(own.q[0]) > 0.1


def test_saved_states_continue_bit_for_bit(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "dominoes.toml")
    simulation.run(150)
    state, other = simulation.save_state(), simulation.copy()
    stored = pickle.dumps(simulation)
    simulation.run(150)
    assert other.steps == 150
    for again in (other, copy.deepcopy(other), pickle.loads(stored)):
        assert again.run(150).ok and again.hash == simulation.hash
    simulation.load_state(state)
    assert simulation.steps == 150 and simulation.run(150) and simulation.hash == other.hash


def test_inputs_are_part_of_the_state(ball: stiction.Scene) -> None:
    simulation = stiction.Simulation(ball)
    simulation.force[0] = 2.0
    state = simulation.save_state()
    simulation.force[0] = 0.0
    simulation.load_state(state)
    assert simulation.force[0] == 2.0
    assert pickle.loads(pickle.dumps(simulation)).force[0] == 2.0


def test_states_of_other_scenes_are_refused(cube: stiction.Scene, scenes: Path) -> None:
    simulation = stiction.Simulation(cube)
    with pytest.raises(stiction.SceneError, match="saved state"):
        simulation.load_state(stiction.Simulation(scenes / "grasp.toml").save_state())
    assert simulation.step()


def test_reset(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    start = simulation.hash
    simulation.v[0], simulation.force[1] = 1.0, 3.0
    simulation.run(20)
    simulation.reset()
    assert simulation.hash == start and simulation.steps == 0 and not simulation.force.any()
    assert len(simulation.contacts) == 0 and simulation.certificate is None
    new = stiction.Simulation(cube)
    assert simulation.run(20) and new.run(20) and simulation.hash == new.hash


def test_a_failed_step_raises_or_reports(impossible: stiction.Scene) -> None:
    simulation = stiction.Simulation(impossible)
    with pytest.raises(stiction.StepFailed, match=r"step \d+ \(t = ") as error:
        simulation.run(100)
    failed = error.value.report
    assert not failed and failed.why and failed.problem is not None
    assert not stiction.contact.solve(failed.problem)
    quiet = stiction.Simulation(impossible, raises=False)
    report = quiet.run(100)
    assert not report.ok and report.steps == failed.step == quiet.steps and failed.why in report.why
    before = quiet.hash
    assert not quiet.step() and quiet.hash == before


def test_accepted_steps_go_on_and_are_not_ok(cube: stiction.Scene) -> None:
    # A tolerance below rounding makes every step one that is not certified.
    strict = cube.with_settings(tolerance=1e-20, on_failure="accept")
    assert (strict.on_failure, strict.accept_bound) == ("accept", 1e-6)
    simulation, plain = stiction.Simulation(strict), stiction.Simulation(cube)
    simulation.v[:2] = plain.v[:2] = [0.3, 0.1]
    report = simulation.step()
    assert report.accepted and not report.ok and not report and not report.why and report.certificate > 1e-20
    run = simulation.run(20)
    assert not run and not run.ok and run.accepted == 20 and run.steps == 20 and run.why == ""
    assert run.outcomes == {"certified": 0, "fallback": 0, "accepted": 20, "failed": 0}
    good = plain.run(21)
    assert good and good.outcomes["certified"] == 21
    np.testing.assert_allclose(simulation.q, plain.q, atol=1e-9)
    assert 0 < good.step_time["median"] <= good.step_time["percentile_99"] <= good.step_time["worst"]
    assert 0 <= good.step_time["worst_step"] < 21 and good.us_per_step["total"] > good.us_per_step["solve"] > 0
    assert good.factorizations > 0 and good.most_factorizations > 0
    trajectory = stiction.record(stiction.Simulation(strict), 5)
    assert trajectory.accepted.tolist() == [False] + 5 * [True]
    stopped = stiction.Simulation(strict.with_settings(accept_bound=0.0), raises=False)
    assert "not accepted" in stopped.step().why and "smaller step" in stopped.run(1).why
    batch = stiction.BatchSimulation(strict, 2)
    assert batch.step(3).all() and batch.accepted.tolist() == [3, 3] and (batch.certificate > 1e-20).all()
    with pytest.raises(stiction.SceneError, match="accept_bound"):
        cube.with_settings(accept_bound=-1.0)
    with pytest.raises(stiction.SceneError, match="on_failure"):
        cube.with_settings(on_failure="ignore")


def test_trajectories(cube: stiction.Scene, tmp_path: Path) -> None:
    simulation, plain = stiction.Simulation(cube), stiction.Simulation(cube)
    simulation.v[0] = plain.v[0] = 0.3
    trajectory = stiction.record(simulation, 50, every=5)
    plain.run(50)
    assert len(trajectory) == 11 and simulation.hash == plain.hash
    np.testing.assert_array_equal(trajectory.q[-1], plain.q)
    np.testing.assert_array_equal(trajectory.position("cube")[-1], plain.q[:3])
    assert (np.diff(trajectory.energy) <= 1e-12).all() and (trajectory.certificate <= 1e-10).all()
    np.testing.assert_allclose(trajectory.normal_force[1:], 2.0 * G, rtol=1e-9)
    trajectory.save(str(tmp_path / "run.npz"))
    stored = np.load(tmp_path / "run.npz")
    assert stored["q"].shape == (11, 7)
    assert stored.files[:6] == "step t q v positions orientations".split()
    assert {"certificate", "normal_force", "slip", "bodies", "q_names", "v_names", "dt"} <= set(stored.files)
    assert stored["q_names"].shape == (7,) and stored["dt"] == cube.dt
    with pytest.raises(stiction.InputError, match="every must be at least 1"):
        stiction.record(simulation, 1, every=0)


def awake(scene: Path) -> stiction.Simulation:
    """A simulation whose steps all take their time."""
    return stiction.Simulation(stiction.Scene.load(scene).with_settings(sleeping=False))


def test_one_simulation_in_two_threads_raises(scenes: Path) -> None:
    simulation = awake(scenes / "stack.toml")
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            try:
                simulation.run(2000)
                ended.set()
            except stiction.BusyError:  # the other thread was first
                pass

    thread = threading.Thread(target=run)
    thread.start()
    refused, q = 0, simulation.q
    while not ended.is_set() and not refused:
        try:
            simulation.step()
        except stiction.BusyError as error:
            assert "another thread" in str(error)
            refused += 1
            assert "running in another thread" in repr(simulation) and "running" in simulation._repr_html_()
            # The state can be read meanwhile, and not written.
            assert np.isfinite(q).all()
            with pytest.raises(ValueError, match="read-only"):
                q[0] = 1.0
    thread.join()
    assert refused
    q[0] = q[0]
    assert simulation.step()


def test_threads_run_at_the_same_time(scenes: Path) -> None:
    """Python code goes on while a run does: with the GIL held it could not see the run's middle."""
    simulation, started, ended = awake(scenes / "stack.toml"), threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        simulation.run(2000)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    other, meanwhile = stiction.Simulation(scenes / "grasp.toml"), 0
    while not ended.is_set():
        other.step()
        meanwhile += 1
    thread.join()
    assert meanwhile > 10


def test_a_write_through_an_older_view_is_noticed(scenes: Path) -> None:
    simulation, ended, errors = awake(scenes / "stack.toml"), threading.Event(), []
    part = simulation.q[:3]

    def run() -> None:
        try:
            simulation.run(2000)
        except stiction.BusyError as error:
            errors.append(str(error))
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    written = False
    while not ended.is_set() and not written:
        if not simulation.q.flags.writeable:
            part[0] = 77.0
            written = True
    thread.join()
    assert written and errors and "that write is lost" in errors[0]
    assert simulation.q[0] != 77.0 and simulation.step()


@pytest.mark.parametrize("run", [lambda s: s.run(10**9), lambda s: stiction.record(s, 10**9, every=10**6)])
def test_ctrl_c_ends_a_run_soon_and_leaves_it_valid(cube: stiction.Scene, run) -> None:
    simulation, other = stiction.Simulation(cube), stiction.Simulation(cube)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(simulation)
    assert simulation.steps > 0 and simulation.q.flags.writeable
    other.run(simulation.steps)
    assert simulation.hash == other.hash and simulation.step()


def test_what_the_last_step_found_is_no_part_of_the_state(cube: stiction.Scene) -> None:
    simulation = stiction.Simulation(cube)
    simulation.run(3)
    assert len(simulation.contacts) == 4 and simulation.certificate is not None
    simulation.load_state(simulation.save_state())
    assert len(simulation.contacts) == 0 and simulation.certificate is None
    with pytest.raises(stiction.InputError, match="no contact problem yet"):
        simulation.problem()
    simulation.step()
    assert len(simulation.contacts) == 4


def test_the_energy_of_a_step_is_accounted_for(ball: stiction.Scene) -> None:
    simulation = stiction.Simulation(ball)
    energy = simulation.step().energy
    after = simulation.energy()[0]
    assert energy.kinetic_after == after > energy.kinetic_before == 0.0
    assert energy.potential_change < 0.0 == energy.actuators == energy.joints == energy.driven == energy.projection
    simulation.force[0] = 3.0
    energy = simulation.step().energy
    assert energy.actuators > 0.0 and energy.kinetic_before == after
    assert "kinetic_after=" in repr(energy)


def test_a_fast_spin_neither_explodes_nor_fades() -> None:
    builder = stiction.SceneBuilder("spin", dt=1e-2, gravity=[0, 0, 0])
    builder.body("b", mass=1.0, position=[0, 0, 0], angular_velocity=[5, 100.0, 5], shape=stiction.scene.box(0.1, 0.2, 0.3))
    simulation = stiction.Simulation(builder.build())
    start = simulation.energy()[0]
    simulation.run(300)
    assert simulation.energy()[0] == pytest.approx(start, rel=1e-9)

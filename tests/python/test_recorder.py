"""Recordings written from Python: the command reads them, and finds no bit that differs."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction._stiction import _main
from stiction.scene import box, sphere

HAND = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="palm" mocap="true" pos="0 0 .5"><geom type="box" size=".1 .1 .02"/></body>
<body name="finger" pos=".5 0 .2"><joint name="j" axis="0 1 0" damping=".1"/><geom size=".05" pos="0 0 -.1"/></body>
<body name="ball" pos="0 0 .1"><freejoint/><geom size=".1"/></body>
</worldbody><actuator><motor name="m" joint="j" ctrlrange="-1 1"/><general name="slow" joint="j" dyntype="filter" dynprm="0.1"/></actuator>
<keyframe><key name="up" qpos="0.5 0 0 .1 1 0 0 0"/></keyframe></mujoco>"""


def command(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> Any:
    capfd.readouterr()
    assert _main(["stiction", *(str(word) for word in words), "--json"]) == code
    return json.loads(capfd.readouterr().out)


def replayed(capfd: pytest.CaptureFixture[str], file: Path) -> int:
    found = command(capfd, "replay", file)
    assert found["identical"] and found["complete"] and not found["notes"], found
    return int(found["steps"])


def cubes() -> stiction.Scene:
    builder = stiction.SceneBuilder(dt=0.002).material(friction=0.5).ground()
    builder.body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2))
    builder.body("ball", mass=0.5, position=[0.5, 0, 0.1], shape=sphere(0.1))
    return builder.build()


def test_a_controller_in_python(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.rec"
    simulation = stiction.Simulation(cubes())

    def push(s: stiction.Simulation) -> None:
        s.body("cube").apply_wrench([8 * np.sin(5 * s.t), 1, 0])
        s.force[6] = -0.2 * s.q[7]

    kept = stiction.record(simulation, 250, controller=push, path=file)
    assert replayed(capfd, file) == 250
    recording = stiction.Recording(file)
    assert len(recording) == 250 and recording.scene.bodies == simulation.scene.bodies
    read = recording.trajectory()
    for name in ("step", "t", "q", "v", "positions", "orientations", "kinetic", "potential", "certificate", "pivots", "contacts", "normal_force"):
        np.testing.assert_array_equal(getattr(read, name), getattr(kept, name), err_msg=name)
    np.testing.assert_array_equal(recording.contacts(-1), simulation.contacts)
    assert all(np.array_equal(step["remade_v"], step["v"]) for step in recording)
    problem = tmp_path / "step.json"
    command(capfd, "extract", file, "--step", 123, "--out", problem)
    assert command(capfd, "solve", problem)["outcome"] == "solved"


def test_everything_done_by_hand(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    robot, file = tmp_path / "hand.xml", tmp_path / "a.rec"
    robot.write_text(HAND)
    for keyframe in (None, "up", 0, -1):
        simulation = stiction.Simulation(stiction.Scene.load(robot, keyframe=keyframe).with_settings(gravity=[0, 0, -3.0], friction=0.3))
        simulation.run(3)
        with stiction.Recorder(simulation, file, every=3, overwrite=True) as recorder:
            assert "open" in repr(recorder) and str(simulation.recorded_to) == str(file)
            for k in range(220):
                simulation.ctrl[:] = [np.sin(0.1 * k), 0.2]
                simulation.wrench[simulation.scene.body("ball"), 0] = 0.3
                turn = [np.cos(0.01 * k), 0, np.sin(0.01 * k), 0]
                simulation.set_mocap("palm", [0.001 * k, 0, 0.5 - 0.0005 * k], turn)
                if k == 50:
                    simulation.friction[:] = 0.1
                    simulation.body("ball").set_mass(2.0)
                if k == 90:
                    simulation.body("ball").velocity = [0.3, 0, 0.1]
                if k == 130:
                    simulation.act = [0.0, 0.5]
                simulation.step()
        assert "closed" in repr(recorder) and simulation.recorded_to is None
        assert replayed(capfd, file) == 73, keyframe
        simulation.step()


def test_scenes_of_all_kinds(tmp_path: Path, scenes: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, first = tmp_path / "a.rec", stiction.Simulation(cubes())
    made = [
        stiction.Simulation(scenes / "grasp.toml"),
        stiction.Simulation(stiction.Scene.load(scenes / "stack.toml", n=3).with_settings(model="no-slip", dt=0.002)),
        stiction.Simulation(stiction.scene.shipped("bounce").with_settings(simulator="event-driven")),
        first.welded("cube"),
        first.with_body("third", mass=1.0, position=[0, 0, 0.4], shape=sphere(0.1)),
        stiction.BatchSimulation(cubes(), 2).simulation(1),
        stiction.Simulation(Path(__file__).parents[2] / "examples/arm.urdf"),
    ]
    for simulation in made:
        stiction.record(simulation, 40, path=file, overwrite=True)
        assert replayed(capfd, file) == 40, simulation
        assert stiction.Recording(file).trajectory().q.shape[0] == 41


def test_one_set_of_keys(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.rec"
    kept = stiction.record(stiction.Simulation(cubes()), 20, path=file)
    kept.save(tmp_path / "saved.npz")
    command(capfd, "export", file, "--npz", tmp_path / "exported.npz", "--csv", tmp_path)
    saved, exported = np.load(tmp_path / "saved.npz"), np.load(tmp_path / "exported.npz")
    assert set(saved.files) <= set(exported.files) and all(name.startswith("contact_") for name in set(exported.files) - set(saved.files))
    for name in saved.files:
        if name == "slip":
            np.testing.assert_allclose(saved[name], exported[name], atol=1e-15)
        else:
            np.testing.assert_array_equal(saved[name], exported[name], err_msg=name)
            assert saved[name].dtype.kind == exported[name].dtype.kind, name
    table = np.genfromtxt(tmp_path / "states.csv", names=True, delimiter=",")
    plain = ["step", "t", "certificate", "accepted", "pivots", "factorizations", "contacts", "normal_force", "slip", "kinetic", "potential"]
    first = (tmp_path / "states.csv").read_text().splitlines()[0].split(",")
    assert list(table.dtype.names or ()) == first and first[: len(plain)] == plain, "as they stand there"
    for name in plain:
        np.testing.assert_array_equal(table[name], exported[name], err_msg=name)
    for i, body in enumerate(["cube", "ball"]):
        for k, axis in enumerate("xyz"):
            np.testing.assert_array_equal(table[f"positions_{body}_{axis}"], exported["positions"][:, i, k])
        for k, axis in enumerate("wxyz"):
            np.testing.assert_array_equal(table[f"orientations_{body}_{axis}"], exported["orientations"][:, i, k])
    np.testing.assert_array_equal(table["q_ball_x"], kept.q[:, 7])
    recording = stiction.Recording(file)
    last = exported["contact_step"] == 19
    for name in ("body_a", "body_b", "geom_a", "geom_b", "feature", "point", "frame", "gap", "mode", "normal_force", "friction_force", "spin_moment", "rolling_moment", "force"):
        np.testing.assert_allclose(exported[f"contact_{name}"][last], recording.contacts(-1)[name], atol=1e-15, err_msg=name)
    pandas = pytest.importorskip("pandas")
    assert list(pandas.read_csv(tmp_path / "states.csv").columns) == first
    touching = pandas.read_csv(tmp_path / "contacts.csv")
    np.testing.assert_array_equal(touching["force_z"], exported["contact_force"][:, 2])


def test_what_cannot_be_recorded_says_why(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.rec"
    simulation = stiction.Simulation(cubes())
    with stiction.Recorder(simulation, file):
        with pytest.raises(stiction.InputError, match="is recorded to .* already"):
            stiction.Recorder(simulation, tmp_path / "b.rec")
        simulation.run(10)
        simulation.reset()
        with pytest.raises(stiction.InputError, match="its number of steps went from 10 to 0.*begin another"):
            simulation.step()
    assert replayed(capfd, file) == 10
    with pytest.raises(FileExistsError, match=r"a\.rec"):
        stiction.record(simulation, 1, path=file)
    with pytest.raises(FileNotFoundError, match="no-such"):
        stiction.record(simulation, 1, path=tmp_path / "no-such" / "a.rec")
    with pytest.raises(ZeroDivisionError):
        stiction.record(simulation, 5, path=file, overwrite=True, controller=lambda _: 1 / 0)
    assert simulation.recorded_to is None and replayed(capfd, file) == 0


def test_a_recorder_that_nobody_closed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.rec"
    simulation = stiction.Simulation(cubes())
    recorder = stiction.Recorder(simulation, file)
    simulation.run(30)
    copy = simulation.copy()
    assert copy.recorded_to is None
    del simulation, recorder
    assert replayed(capfd, file) == 30


def test_a_step_that_fails_is_the_end_of_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.rec"
    scene = cubes().with_settings(tolerance=1e-300)
    simulation = stiction.Simulation(scene, raises=False)
    simulation.v[0] = 1.0
    with contextlib.redirect_stdout(io.StringIO()):
        report = stiction.record(simulation, 50, path=file).report
    assert not report.ok
    assert replayed(capfd, file) == report.steps
    assert not stiction.Recording(file).trajectory().report.ok

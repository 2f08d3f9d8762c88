"""The viewer without a browser: meshes, the spring of the mouse, the thread of the simulation, errors."""

from __future__ import annotations

import asyncio
import importlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from browser import until
from stiction._stiction import _main
from stiction.scene import box, capsule, cylinder, sphere
from stiction.view._between import Between
from stiction.view._frame import Frame, Pull
from stiction.view._meshes import creased
from stiction.view._runner import Runner
from stiction.view._spring import Spring

ROOT = Path(__file__).resolve().parents[2]


def view(*arguments: Any, **options: Any) -> Any:
    pytest.importorskip("viser", reason="needs viser: pip install 'stiction[view]'")
    return importlib.import_module("stiction.view").view(*arguments, port=0, **options)


def scene_of(*shapes: dict[str, Any], gravity: float = 9.81, **options: Any) -> stiction.Scene:
    builder = stiction.SceneBuilder(gravity=[0, 0, -gravity], **options).ground(position=[0, 0, -5])
    for i, shape in enumerate(shapes):
        builder.body(f"b{i}", mass=1.0, position=[0.5 * i, 0, 0.2], shape=shape)
    return builder.build()


# Meshes.


def test_edges_are_split_and_round_surfaces_are_not() -> None:
    geoms = scene_of(box(1, 1, 1), sphere(1.0), cylinder(1.0, 1.0), capsule(0.5, 1.0)).geoms[1:]
    counts = []
    for geom in geoms:
        vertices, faces = geom.mesh(32)
        split, corners = creased(vertices, faces)
        np.testing.assert_array_equal(split[corners], vertices[faces], err_msg="the triangles are the same")
        counts.append((len(vertices), len(split)))
    assert counts[0] == (8, 24) and counts[1][0] == counts[1][1] and counts[3][0] == counts[3][1]
    assert counts[2][1] == counts[2][0] + 2 * 32, "the rims of a cylinder are edges"
    empty = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    assert creased(*empty)[1].shape == (0, 3)


# The spring.


def pulled(simulation: stiction.Simulation, body: int, offset: list[float], way: list[float], steps: int) -> tuple[np.ndarray, list[Pull]]:
    """Distances left along the way, step by step, and the pulls."""
    held = simulation.poses[body, :3] + np.array(offset)
    spring = Spring(simulation, body, held)
    spring.target = held + np.array(way)
    left, pulls = [], []
    for _ in range(steps):
        pulls.append(spring.apply(simulation))
        report = simulation.step()
        assert report.ok, report.why
        left.append(float(np.linalg.norm(spring.target - pulls[-1].held)))
    spring.release(simulation)
    return np.array(left), pulls


@pytest.mark.parametrize("dt", [0.0005, 0.002, 0.01])
@pytest.mark.parametrize(("mass", "offset"), [(1e-3, [0.0, 0, 0]), (1.0, [0.05, 0.05, 0.05]), (1e4, [0.05, 0, 0])])
def test_a_free_body_comes_to_the_mouse_without_swinging(mass: float, offset: list[float], dt: float) -> None:
    builder = stiction.SceneBuilder(gravity=[0, 0, 0], dt=dt)
    simulation = stiction.Simulation(builder.body("b", mass=mass, shape=box(0.1, 0.1, 0.1)).build())
    left, pulls = pulled(simulation, 0, offset, [0.05, 0.0, 0.02], int(2.0 / dt))
    assert left[-1] < 1e-3 and left.max() <= left[0] * 1.001, "it settles and never goes farther away"
    assert all(np.linalg.norm(p.force) <= 300.0 * mass * 1.01 for p in pulls), "the force has a limit"
    assert (simulation.force == 0.0).all()


def test_a_weight_hangs_a_centimetre_below_the_mouse() -> None:
    simulation = stiction.Simulation(scene_of(sphere(0.05)))
    left, pulls = pulled(simulation, 0, [0, 0, 0], [0, 0, 0.3], 2000)
    assert 0.005 < left[-1] < 0.02 and pulls[-1].force[2] == pytest.approx(9.81, rel=0.02)


def test_joints_and_other_forces_stay_what_they_are() -> None:
    builder = stiction.SceneBuilder(gravity=[0, 0, 0])
    builder.body("arm", mass=1.0, joint={"type": "revolute", "axis": [0, 0, 1]}, shape=box(0.4, 0.05, 0.05, position=[0.2, 0, 0]))
    simulation = stiction.Simulation(builder.build())
    simulation.force[0] = 0.25
    _, pulls = pulled(simulation, 0, [0.4, 0, 0], [0.0, 0.1, 0.5], 500)
    assert abs(pulls[-1].force[2]) < 1e-9 * (1.0 + np.linalg.norm(pulls[-1].force)), "no force along what the joint forbids"
    assert simulation.q[0] > 0.1 and simulation.force[0] == 0.25


@pytest.mark.parametrize("name", ["stack", "grasp", "quad-terrain", "four-bar", "ragdolls"])
def test_no_drag_breaks_the_solver(name: str) -> None:
    simulation = stiction.Simulation(stiction.scene.shipped(name), raises=False, separate=True)
    random = np.random.default_rng(4)
    for _ in range(6):
        body = int(random.integers(len(simulation.scene.bodies)))
        spring = Spring(simulation, body, simulation.poses[body, :3])
        spring.target = spring.target + random.normal(0.0, 1.0, 3)
        for _ in range(40):
            spring.apply(simulation)
            report = simulation.step()
            assert report.ok, report.why
        spring.release(simulation)


def test_mobility_is_the_inverse_inertia_at_a_point() -> None:
    simulation = stiction.Simulation(stiction.scene.shipped("quad-flat"))
    simulation.run(5)
    for body, point in ((0, [0.1, 0.2, 0.3]), (3, [0, 0, 0.1])):
        rows = simulation.jacobian(body, point)[:3]
        expected = rows @ np.linalg.solve(simulation.mass_matrix(), rows.T)
        np.testing.assert_allclose(simulation.mobility(body, point), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


# The thread of the simulation.


def started(scene: stiction.Scene, **options: Any) -> Runner:
    runner = Runner(stiction.Simulation(scene, raises=False), **{"run": True, "speed": 1.0, **options})
    runner.start()
    return runner


def test_it_keeps_its_pace_and_obeys() -> None:
    runner = started(scene_of(box(0.1, 0.1, 0.1)), speed=0.5)
    until(lambda: runner.next_frame(0, 1.0)[0].t > 0.05, "it runs")
    start, t = time.perf_counter(), runner.next_frame(0, 1.0)[0].t
    time.sleep(0.5)
    assert runner.next_frame(0, 1.0)[0].t - t < 0.5 * (time.perf_counter() - start) + 0.05, "no faster than asked for"
    runner.do(lambda: runner.run(False))
    until(lambda: not runner.running, "it pauses")
    frame, number = runner.next_frame(0, 1.0)
    assert runner.next_frame(number + 1, 0.3)[1] <= number + 1
    step = runner.simulation.steps
    runner.do(runner.step)
    until(lambda: runner.next_frame(0, 1.0)[0].step == step + 1, "one step")
    runner.do(runner.reset)
    until(lambda: runner.next_frame(0, 1.0)[0].step == 0, "it is reset")
    runner.close()
    assert runner.simulation.step().ok


def test_another_scene_goes_on_from_here_where_it_fits() -> None:
    scene = scene_of(box(0.1, 0.1, 0.1))
    runner = started(scene, run=False)
    runner.do(lambda: [runner.step() for _ in range(20)] and None)
    runner.do(lambda: runner.replace(scene.with_settings(model="no-slip", gravity=[0, 0, -1], friction=0.1, dt=0.002), keep=True, same_shapes=True))
    until(lambda: runner.next_frame(0, 1.0)[0].scene.model == "no-slip", "the model is another")
    frame = runner.next_frame(0, 1.0)[0]
    assert frame.step == 20 and frame.world == 0 and frame.scene.gravity == (0.0, 0.0, -1.0) and frame.scene.geoms[1].friction == 0.1
    runner.do(lambda: runner.replace(scene_of(sphere(0.1), sphere(0.1)), keep=True))
    until(lambda: runner.next_frame(0, 1.0)[0].world == 1, "other bodies begin at the start")
    assert runner.next_frame(0, 1.0)[0].step == 0
    runner.do(lambda: runner.replace(scene.with_settings(dt=-1.0), keep=True))
    until(lambda: runner.next_frame(0, 1.0)[0].verdict == "failed", "what cannot be is said")
    runner.do(lambda: runner.run(True))
    until(lambda: runner.next_frame(0, 1.0)[0].verdict == "certified", "and it goes on")
    runner.close()


def test_a_failed_step_pauses_and_says_why() -> None:
    runner = started(scene_of(box(0.1, 0.1, 0.1)), run=False)
    runner.do(lambda: runner.simulation.v.fill(1e300))
    runner.do(runner.step)
    until(lambda: runner.next_frame(0, 1.0)[0].verdict == "failed", "it fails")
    assert runner.next_frame(0, 1.0)[0].why
    runner.close()


class LongStep:
    """A simulation whose steps go on for hours, unless they are ended."""

    def __init__(self, simulation: stiction.Simulation) -> None:
        object.__setattr__(self, "inner", simulation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def step(self) -> Any:
        state = self.inner.save_state()
        try:
            return self.inner.run(10**9)
        except stiction.StepInterrupted:
            self.inner.load_state(state)
            raise


def test_a_button_does_not_wait_for_the_end_of_a_step() -> None:
    simulation = stiction.Simulation(scene_of(box(0.1, 0.1, 0.1)))
    simulation.interrupt = own = lambda: False
    runner = Runner(LongStep(simulation), run=True, speed=1.0)  # type: ignore[arg-type]
    runner.start()
    until(lambda: runner.busy() > 0.1, "a step is under way")
    runner.do(lambda: runner.drag(np.zeros(3)))
    time.sleep(0.2)
    assert runner.busy() > 0.2, "the mouse does not end it"
    runner.do(lambda: runner.run(False), at_once=True)
    until(lambda: not runner.running and runner.busy() == 0.0, "it pauses")
    assert simulation.steps == 0, "as if the step had not begun"
    # What was asked for before a step began does not end it.
    runner.do(lambda: runner.run(True), at_once=True)
    until(lambda: runner.busy() > 0.1, "it runs again")
    runner.do(runner.reset, at_once=True)
    until(lambda: runner.busy() < 0.1, "it is reset")
    runner.close()
    assert simulation.interrupt is own and simulation.raises and simulation.step().ok


def test_a_step_that_was_ended_leaves_the_last_contacts() -> None:
    simulation = stiction.Simulation(stiction.scene.shipped("slide"))
    runner = Runner(simulation, run=False, speed=1.0)
    runner.start()
    runner.do(lambda: [runner.step() for _ in range(5)] and None)
    until(lambda: runner.next_frame(0, 1.0)[0].step == 5, "five steps")
    runner.simulation = LongStep(simulation)  # type: ignore[assignment]
    runner.do(lambda: runner.run(True))
    until(lambda: runner.busy() > 0.1, "a step is under way")
    runner.do(lambda: runner.run(False), at_once=True)
    until(lambda: not runner.running, "it pauses")
    until(lambda: runner.next_frame(0, 1.0)[0].step == 5, "it is where it was")
    frame = runner.next_frame(0, 1.0)[0]
    assert frame.verdict == "certified" and (frame.contacts["normal_force"] > 0.0).sum() == 4
    runner.close()


def test_a_page_says_that_a_step_takes_long() -> None:
    pytest.importorskip("viser")
    from stiction.view._live import LiveViewer
    from stiction.view._server import started as served

    simulation: Any = LongStep(stiction.Simulation(scene_of(sphere(0.1))))
    with LiveViewer(served("127.0.0.1", 0), simulation, run=True, speed=1.0) as viewer:
        until(lambda: "next step:" in viewer._light._html.content, "the light says so")
        viewer._contacts.style.cones = True
        frames = viewer.frames
        viewer._runner.offer_again()
        until(lambda: viewer.frames > frames, "what is to be seen is drawn all the same")
        viewer.pause()
        assert not viewer.running


def test_friction_cones_are_ellipses() -> None:
    from stiction.view._contacts import cones

    builder = stiction.SceneBuilder().ground(friction=[0.6, 0.2], friction_direction=[1, 1, 0])
    simulation = stiction.Simulation(builder.body("b", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2), friction=[0.6, 0.2]).build())
    simulation.run(3)
    touching = simulation.contacts[simulation.contacts["normal_force"] > 0.0]
    assert len(touching) == 4 and (touching["mu_across"] < touching["mu"]).all()
    turns, scales = cones(touching, 2.0)
    for (w, x, y, z), scale, contact in zip(turns, scales, touching, strict=True):
        matrix = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])
        normal, along, across = contact["frame"]
        np.testing.assert_allclose(matrix, np.stack([along, across, normal], axis=1), atol=1e-12)
        np.testing.assert_allclose(scale, [2 * contact["mu"], 2 * contact["mu_across"], 2.0])
    random = np.random.default_rng(1)
    for _ in range(50):
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        turn *= np.linalg.det(turn)
        fake = touching[:1].copy()
        fake["frame"] = turn.T[[2, 0, 1]]
        (w, x, y, z), = cones(fake, 1.0)[0]
        np.testing.assert_allclose([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], turn[:, 2], atol=1e-9)


# The page.


def test_many_alike_are_few_messages() -> None:
    with view(stiction.scene.shipped("dominoes", n=200), run=False) as viewer:
        assert len(viewer._shapes._moving) == 1
        buffer = viewer._server._websock_server.get_message_buffer()
        until(lambda: viewer.frames >= 1, "it is drawn")
        viewer.run()
        until(lambda: viewer.frames > 20, "it runs")
        size = len(buffer.message_from_id)
        until(lambda: viewer.frames > 60, "it runs on")
        assert len(buffer.message_from_id) <= size + 5, "what nobody reads is replaced, and does not pile up"


def test_two_look_and_one_does_not_read() -> None:
    websockets = pytest.importorskip("websockets")
    viser = pytest.importorskip("viser")

    async def connected(port: int) -> tuple[int, int]:
        options = {"subprotocols": [websockets.Subprotocol(f"viser-v{viser.__version__}")], "max_size": None}
        address = f"ws://127.0.0.1:{port}"
        async with websockets.connect(address, **options) as first, websockets.connect(address, **options) as second:
            async with websockets.connect(address, **options, max_queue=1):
                counts = [0, 0]
                for _ in range(10):
                    for k, connection in enumerate((first, second)):
                        counts[k] += len(await asyncio.wait_for(connection.recv(), 30)) > 0
                return counts[0], counts[1]

    with view(stiction.scene.shipped("dominoes")) as viewer:
        assert viewer._server.get_host() == "127.0.0.1"
        assert asyncio.run(connected(int(viewer.url.rsplit(":", 1)[1]))) == (10, 10)
        t = viewer.frame.t
        until(lambda: viewer.frame.t > t + 0.05, "it runs on when all have left")


def test_a_page_that_does_not_read_takes_no_memory() -> None:
    """What it has not taken is replaced: neither messages nor bytes that wait for it pile up."""
    websockets = pytest.importorskip("websockets")
    viser = pytest.importorskip("viser")

    async def connected(viewer: Any) -> tuple[list[int], list[int]]:
        options = {"subprotocols": [websockets.Subprotocol(f"viser-v{viser.__version__}")], "max_size": None, "max_queue": 1}
        async with websockets.connect(f"ws://127.0.0.1:{viewer.url.rsplit(':', 1)[1]}", **options) as deaf:
            deaf.transport.pause_reading()
            buffer, messages, steps = viewer._server._websock_server.get_message_buffer(), [], []
            for _ in range(4):
                frames, step = viewer.frames, viewer.frame.step
                while viewer.frames < frames + 60:
                    await asyncio.sleep(0.02)
                messages.append(len(buffer.message_from_id))
                steps.append(viewer.frame.step - step)
            return messages, steps

    with view(stiction.scene.shipped("dominoes", n=40)) as viewer:
        until(lambda: viewer.frames > 5, "it runs")
        messages, steps = asyncio.run(connected(viewer))
    assert max(messages[1:]) <= messages[0] + 5 and min(steps) > 0, (messages, steps)


@pytest.mark.parametrize("arrows", ["force", "normal and friction", "pairs", "none"])
def test_forces_are_drawn(arrows: str) -> None:
    simulation = stiction.Simulation(stiction.scene.shipped("slide"))
    with view(simulation) as viewer:
        viewer._contacts.style.arrows, viewer._contacts.style.cones = arrows, True
        simulation.run(10)
        viewer.show()
        until(lambda: viewer.frame.step == 10, "it is shown")
        count = {"force": 4, "normal and friction": 8, "pairs": 1, "none": 1}[arrows]
        until(lambda: viewer._contacts._cones.visible, "cones are there")
        assert viewer._contacts._arrows.points.shape == (count, 2, 3) and viewer._contacts._arrows.visible == (arrows != "none")
        assert (viewer._contacts._points.colors == [232, 98, 18]).all(), "all of them slide"
    assert simulation.raises and simulation.step().ok


def shown(step: int, x: float, turn: float, world: int = 0) -> Frame:
    """A geom and its body at a place, turned about z."""
    pose = np.array([[x, 0.0, 0.0, np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)]])
    scene = scene_of(sphere(0.1))
    return Frame(
        world=world, scene=scene, step=step, t=0.0, poses=pose, bodies=pose[:, :3], contacts=np.zeros(0), certificate=None, tolerance=1e-10
    )


def test_slow_steps_are_shown_as_motion() -> None:
    between = Between(0.05)
    between.add(shown(0, 0.0, 0.0), 10.0, running=True)
    assert not between.moves(10.0)
    # A step that took a second is shown over the next one; of a turn and its opposite the nearer one is taken.
    slow = shown(1, 1.0, 0.2)
    slow.poses[:, 3:] *= -1.0
    between.add(slow, 11.0, running=True)
    poses, bodies = between.at(11.5)
    assert between.moves(11.5) and np.allclose(poses[0, :3], [0.5, 0, 0]) and np.allclose(bodies, [[0.5, 0, 0]])
    assert np.allclose(poses[0, 3:], [np.cos(0.05), 0, 0, np.sin(0.05)], atol=1e-6)
    # The next one comes early: it goes on from what is shown.
    between.add(shown(2, 2.0, 0.2), 11.6, running=True)
    assert np.allclose(between.at(11.6)[1], [[0.6, 0, 0]]) and np.allclose(between.at(11.9)[1], [[1.3, 0, 0]])
    assert not between.moves(12.3) and np.allclose(between.at(12.3)[1], [[2.0, 0, 0]])
    # What is quick, stands, begins anew or is another scene is shown at once.
    for frame, came, running in [(shown(3, 3.0, 0.0), 11.62, True), (shown(4, 4.0, 0.0), 13.0, False), (shown(0, 0.0, 0.0), 14.0, True), (shown(5, 5.0, 0.0, 1), 15.0, True)]:
        between.add(frame, came, running=running)
        assert not between.moves(came) and np.array_equal(between.at(came)[0], frame.poses)


def test_a_page_moves_while_a_step_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long steps take, what is drawn goes on."""
    simulation = stiction.Simulation(scene_of(sphere(0.1)))
    make_step = Runner._make_step

    def slow_step(runner: Runner) -> None:
        make_step(runner)
        time.sleep(0.4)

    monkeypatch.setattr(Runner, "_make_step", slow_step)
    moves: list[int] = []
    with view(simulation, run=True) as viewer:
        move = viewer._move
        monkeypatch.setattr(viewer, "_move", lambda *poses: (moves.append(viewer.frame.step), move(*poses)))
        until(lambda: viewer.frame.step >= 5, "steps are made")
    assert max(moves.count(step) for step in (2, 3, 4)) > 3, moves


def test_a_body_stays_where_it_is() -> None:
    with view(scene_of(sphere(0.1), sphere(0.2)), run=False) as viewer:
        (menu,) = [h for h in viewer._server.gui._gui_input_handle_from_uuid.values() if h.label == "Follow"]
        assert menu.options == ("nothing", "b0", "b1")
        start = viewer.frame.bodies[1].copy()
        viewer.follow("b1")
        camera = viewer._server.initial_camera
        assert menu.value == "b1" and np.allclose(camera.look_at, start)
        viewer.run()
        until(lambda: viewer.frame.bodies[1, 2] < start[2] - 0.3, "it falls")
        viewer.pause()
        until(lambda: np.allclose(viewer._follow.shift, start - viewer.frame.bodies[1]), "the scene rises")
        assert np.allclose(viewer._follow._node.position, start - viewer.frame.bodies[1], atol=1e-6)
        viewer.follow(None)
        shift = viewer._follow.shift.copy()
        viewer._runner.do(viewer._runner.step)
        until(lambda: not viewer.running and np.array_equal(viewer._follow.shift, shift), "it stays")
        with pytest.raises(stiction.InputError, match="b7"):
            viewer.follow("b7")
        other = scene_of(sphere(0.1))
        viewer.follow(1)
        viewer._runner.do(lambda: viewer._runner.replace(other, keep=False))
        until(lambda: viewer.frame.scene is other and menu.options == ("nothing", "b0"), "another scene")
        assert viewer._follow.body is None and not viewer._follow.shift.any() and menu.value == "nothing"


def test_what_touches_is_drawn_on_request(tmp_path: Path) -> None:
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    one, other = ("<geometry><sphere radius='0.1'/></geometry>", "<geometry><box size='1 1 1'/></geometry>")
    (tmp_path / "a.urdf").write_text(f"<robot name='r'><link name='a'>{inertial}<visual>{one}</visual><collision>{other}</collision></link></robot>")
    with view(tmp_path / "a.urdf") as viewer:

        def drawn() -> list[tuple[str, list[float]]]:
            opacities = lambda batch: [1.0] if batch.handle.batched_opacities is None else list(batch.handle.batched_opacities)  # noqa: E731
            return [(batch.geoms[0].shape, opacities(batch)) for batch, _ in viewer._shapes._moving]

        assert drawn() == [("sphere", [1.0])]
        (menu,) = [h for h in viewer._server.gui._gui_input_handle_from_uuid.values() if h.label == "Shapes"]
        for choice, expected in [("collision", [("box", [1.0])]), ("both", [("box", [pytest.approx(0.35)]), ("sphere", [1.0])])]:
            menu.value = choice
            until(lambda: drawn() == expected, choice)


def test_every_shipped_scene_can_be_shown() -> None:
    files = {file.stem: file.read_text() for file in (ROOT / "scenes").glob("*.toml")}
    assert stiction._stiction._shipped_scenes == files
    with view("grasp", run=False) as viewer:
        for name in stiction.scene.shipped_names():
            small = {"n": 5.0} if "n" in stiction.scene.shipped(name).parameters else {}
            scene = stiction.scene.shipped(name, **small)
            viewer._runner.do(lambda scene=scene: viewer._runner.replace(scene, keep=False))
            viewer._runner.do(viewer._runner.step)
            until(lambda: viewer.frame.scene is scene and viewer.frame.step == 1, name)
            assert viewer.frame.verdict == "certified", name


def test_a_recording_is_shown_as_it_was(scenes: Path, tmp_path: Path) -> None:
    assert _main(["stiction", "run", str(scenes / "slide.toml"), "--steps", "80", "--record", str(tmp_path / "a.rec")]) == 0
    with view(tmp_path / "a.rec", run=False) as viewer:
        for row in (0, 80, 7, 7, -3, 10**9):
            viewer.seek(row)
            until(lambda: viewer.frame.step == int(np.clip(row, 0, 80)), f"row {row}")
        simulation = stiction.Simulation(viewer.recording.scene)
        simulation.run(80)
        np.testing.assert_array_equal(viewer.frame.poses, simulation.geom_poses())
        np.testing.assert_array_equal(viewer.frame.contacts, simulation.contacts)
        viewer.play()
        until(lambda: viewer.cursor > 10 and viewer.playing, "it plays from the start")


# Errors.


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "stiction", "view", *arguments], capture_output=True, text=True, timeout=120)


def test_the_command_says_in_a_line_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("viser")
    (tmp_path / "broken.toml").write_text("title = \n")
    (tmp_path / "broken.rec").write_bytes(b"STICREC\nnonsense")
    (tmp_path / "broken.urdf").write_text("<robot>")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, message in [
            (["nowhere.toml"], "there is no file 'nowhere.toml'"),
            ([str(tmp_path)], "is a folder"),
            ([str(tmp_path / "broken.toml")], "broken.toml:1:"),
            ([str(tmp_path / "broken.rec")], "broken.rec"),
            ([str(tmp_path / "broken.urdf")], "broken.urdf"),
            (["grasp", "--port", port], f"cannot listen on 127.0.0.1:{port}"),
            (["grasp", "--port", "99999"], "the port must be from 0 to 65535"),
            (["grasp", "--set", "n"], "--set takes NAME=VALUE"),
            (["grasp", "--speed", "0"], "the speed must be above 0"),
            (["grasp", "--set", "m=2"], "m"),
            (["grasp", "--model", "no"], "no"),
        ]:
            done = command(*arguments)
            lines = done.stderr.strip().splitlines()
            assert done.returncode == 2 and len(lines) == 1 and lines[0].startswith("error: ") and message in lines[0], (arguments, done.stderr)


def test_without_viser_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    from stiction.view._command import main

    assert main(["grasp"]) == 2
    assert re.fullmatch(r"error: .*pip install 'stiction\[view\]'\n", capsys.readouterr().err)


def test_a_robot_stands_on_a_ground() -> None:
    from stiction.view._target import on_ground

    path = ROOT / "examples" / "arm.urdf"
    robot = stiction.Scene.load(path)
    standing = on_ground(robot, path)
    assert ("free" in robot.joint_types) == (standing.title == robot.title and len(standing.geoms) == len(robot.geoms) + 1)


# The panel.


def control(viewer: Any, label: str) -> Any:
    (found,) = [h for h in viewer._controls._dynamic if getattr(h, "label", None) == label]
    return found


def test_every_slider_does_what_it_says() -> None:
    with view(stiction.scene.shipped("slide"), run=False) as viewer:
        viewer._runner.do(lambda: [viewer._runner.step() for _ in range(10)] and None)
        until(lambda: viewer.frame.step == 10, "ten steps")
        for label, value, expected in [
            ("Gravity", 4.0, lambda s: s.gravity == (0.0, 0.0, -4.0)),
            ("Tilt", 30.0, lambda s: np.allclose(s.gravity, [4.0 * np.sin(np.pi / 6), 0.0, -4.0 * np.cos(np.pi / 6)])),
            ("Friction", 0.125, lambda s: all(g.friction == 0.125 for g in s.geoms)),
            ("Step", 2.5, lambda s: s.dt == 2.5e-3),
            ("speed", 1.5, lambda s: s.parameters["speed"] == 1.5 and s.dt == 2.5e-3),
        ]:
            control(viewer, label).value = value
            until(lambda expected=expected: expected(viewer.frame.scene), label)
            assert viewer.frame.step == 10, f"{label}: it goes on from where it was"
        viewer.run()
        until(lambda: viewer.frame.step > 20 and viewer.frame.verdict == "certified", "it runs")


def test_a_parameter_that_changes_the_bodies_begins_anew() -> None:
    with view(stiction.scene.shipped("dominoes"), run=False) as viewer:
        viewer._runner.do(viewer._runner.step)
        control(viewer, "n").value = 7
        until(lambda: len(viewer.frame.scene.bodies) == 7, "seven dominoes")
        assert viewer.frame.step == 0 and viewer.frame.world == 1
        control(viewer, "n").value = 1
        until(lambda: len(viewer.frame.scene.bodies) == 1, "one domino")


def test_joints_go_where_their_sliders_say() -> None:
    with view(stiction.scene.shipped("gripper"), run=True) as viewer:
        assert not [h for h in viewer._controls._dynamic if getattr(h, "label", None) == "palm"], "a controller of the scene moves it"
        slider = control(viewer, "finger1")
        v = viewer.frame.scene.v_slice("finger1").start
        slider.value = slider.min + 0.75 * (slider.max - slider.min)
        until(lambda: viewer.simulation.target[v] == slider.value and viewer.simulation.kp[v] > 0.0, "a servo pulls")
        step = viewer.frame.step
        until(lambda: viewer.frame.step > step, "it goes on")
    with view(ROOT / "examples" / "slider.xml") as viewer:
        control(viewer, "lift (motor)").value = 2.5
        until(lambda: viewer.simulation.ctrl[0] == 2.5, "a motor is controlled")


def test_the_command_serves_until_ctrl_c() -> None:
    pytest.importorskip("viser")
    command = [sys.executable, "-m", "stiction", "view", "grasp", "--port", "0", "--set", "n=3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert re.match(r"http://localhost:\d+ ", line), line + process.stderr.read()
        with urllib.request.urlopen(line.split()[0]) as answer:
            assert answer.status == 200 and b"html" in answer.read(2000).lower()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0 and out == "" and err == ""


def test_what_cannot_be_is_said_and_not_kept() -> None:
    with view(stiction.scene.shipped("slide"), run=False) as viewer:
        changes = viewer._controls._changes
        changes.set(dt=-1.0)
        until(lambda: viewer.frame.verdict == "failed" and "dt" in viewer.frame.why, "the step is refused")
        changes.set_parameter("mu", -1.0)
        until(lambda: "friction" in viewer.frame.why, "the parameter is refused")
        for x in np.linspace(0.1, 0.4, 50):
            changes.set(friction=float(x))
        until(lambda: viewer.frame.scene.geoms[0].friction == 0.4, "the last of many changes counts")
        viewer.run()
        until(lambda: viewer.frame.verdict == "certified", "it goes on")


def test_nothing_to_see_is_shown_too() -> None:
    scene = stiction.SceneBuilder().body("point", mass=1.0, inertia=[1, 1, 1]).build()
    with view(scene) as viewer:
        until(lambda: viewer.frame.t > 0.05, "it runs")
        assert viewer._repr_html_().count(viewer.url) == 3

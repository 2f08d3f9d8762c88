"""Pictures and videos: what is in them is what projection says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction import errors
from stiction._cli import _python
from stiction.scene import box, sphere

from conftest import need_pictures

need_pictures()
from PIL import Image  # noqa: E402

from stiction import render  # noqa: E402
from stiction._frames import Frame  # noqa: E402
from stiction.render import Camera, Renderer  # noqa: E402

WIDTH, HEIGHT = 200, 150
RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.2, 0.9)


def scene(ground: bool = True, height: float = 0.5) -> stiction.Scene:
    """A red ball above a blue box."""
    builder = stiction.SceneBuilder("a ball above a box")
    if ground:
        builder.ground()
    builder.body("box", mass=1.0, position=[0, 0, 0.1], shape=box(0.6, 0.6, 0.2, color=list(BLUE)))
    builder.body("ball", mass=1.0, position=[0, 0, 0.2 + height], shape=sphere(0.1, color=list(RED)))
    return builder.build()


def is_color(pixels: Any, color: tuple[float, float, float]) -> Any:
    """Pixels of that hue, lit or not."""
    rgb = np.asarray(pixels, float)
    strong = int(np.argmax(color))
    others = [k for k in range(3) if k != strong]
    return (rgb[..., strong] > 1.6 * rgb[..., others[0]]) & (rgb[..., strong] > 1.6 * rgb[..., others[1]])


@pytest.mark.parametrize("camera", [Camera(), Camera(azimuth=20.0, elevation=50.0, zoom=0.7), Camera(target=(0.3, 0.0, 0.4), distance=4.0, fov=45.0)])
def test_bodies_are_where_projection_says(camera: Camera) -> None:
    of = scene()
    renderer = Renderer(of, WIDTH, HEIGHT, camera=camera)
    poses = stiction.Simulation(of).poses
    picture = renderer.render(poses)
    assert picture.shape == (HEIGHT, WIDTH, 3) and picture.dtype == np.uint8
    rows, columns = np.nonzero(is_color(picture, RED))
    x, y, depth = renderer.view.project(poses[1, :3], WIDTH, HEIGHT)[0]
    assert abs(columns.mean() - x) < 1.5 and abs(rows.mean() - y) < 1.5
    # The disk of the ball has the radius that distance and angle of view give.
    radius = HEIGHT / 2 / np.tan(np.radians(camera.fov) / 2) * 0.1 / depth
    assert np.sqrt(len(rows) / np.pi) == pytest.approx(radius, abs=1.2)
    renderer.close()


def test_the_camera_sees_all_that_moves() -> None:
    of = scene()
    simulation = stiction.Simulation(of)
    for width, height in ((160, 120), (120, 200)):
        renderer = Renderer(of, width, height)
        renderer.render(simulation.poses)
        corners = [(x, y, z) for x in (-0.3, 0.3) for y in (-0.3, 0.3) for z in (0.0, 0.2)] + [(0, 0, 0.8)]
        seen = renderer.view.project(corners, width, height)
        assert (seen[:, 0] > 0).all() and (seen[:, 0] < width).all() and (seen[:, 1] > 0).all() and (seen[:, 1] < height).all()
        # and fills the picture in one direction at least
        assert max(np.ptp(seen[:, 0]) / width, np.ptp(seen[:, 1]) / height) > 0.7
        renderer.close()


def test_a_large_floor_and_a_lost_body_do_not_matter() -> None:
    builder = stiction.SceneBuilder("a floor that is a box").body("floor", fixed=True, position=[0, 0, -1], shape=box(400, 400, 2))
    for i in range(8):
        builder.body(f"cube{i}", mass=1.0, position=[0.3 * i, 0, 0.05], shape=box(0.1, 0.1, 0.1))
    builder.body("lost", mass=1.0, position=[0, 0, 500.0], shape=sphere(0.1))
    of = builder.build()
    renderer = Renderer(of, WIDTH, HEIGHT)
    renderer.render(stiction.Simulation(of).poses)
    ends = renderer.view.project([(0, 0, 0.05), (2.1, 0, 0.05)], WIDTH, HEIGHT)
    assert abs(ends[1, 0] - ends[0, 0]) > WIDTH / 2
    renderer.close()


def test_shadows_lie_where_the_light_does_not_come() -> None:
    """The ball's shadow is on the box: the top of the box is dark there, and brighter around; without the ball it is even."""
    of, camera = scene(height=0.3), Camera(azimuth=-90.0, elevation=60.0)
    poses = stiction.Simulation(of).poses
    renderer = Renderer(of, WIDTH, HEIGHT, camera=camera)
    with_ball = renderer.render(poses).astype(float)
    away = poses.copy()
    away[1, 2] = 50.0
    without = renderer.render(away).astype(float)
    darker = without[..., 2] - with_ball[..., 2]
    top = is_color(with_ball, BLUE)
    shadow = top & (darker > 25)
    assert 100 < shadow.sum() < 0.5 * top.sum()
    # Away from the light, which is to the left of the camera: to the right of the ball.
    x, _, _ = renderer.view.project(poses[1, :3], WIDTH, HEIGHT)[0]
    assert np.nonzero(shadow)[1].mean() > x + 5
    # A body that rests has its shadow right beside it: no light comes through under it.
    light = renderer.view.toward(50.0, 55.0)
    at = np.array([0.3, 0.0, 0.0]) if light[0] < 0 else np.array([-0.3, 0.0, 0.0])
    edge = renderer.view.project([at * 1.2, -at * 1.2], WIDTH, HEIGHT).astype(int)
    beside, lit = (with_ball[row, column].mean() for column, row, _ in edge)
    assert lit - beside > 40
    renderer.close()


def test_the_same_picture_in_every_run(tmp_path: Path) -> None:
    of = scene()
    first, second = (render.picture(of, at=0.05, width=WIDTH, height=HEIGHT, forces=True) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    code = (
        "import sys, zlib, stiction, stiction.render as r\n"
        "s = stiction.Simulation(sys.argv[1]); s.run(20)\n"
        "print(zlib.crc32(s.render(160, 120, forces=True).tobytes()))"
    )
    file = Path(__file__).resolve().parents[2] / "scenes" / "slide.toml"
    runs = {subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 1


def test_a_simulation_is_drawn_and_not_changed(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "slide.toml")
    simulation.run(10)
    before = simulation.hash
    picture = simulation.render(160, 120)
    later = render.picture(simulation, at=0.3, width=160, height=120)
    assert picture.shape == later.shape == (120, 160, 3) and simulation.hash == before and simulation.steps == 10
    assert render.picture(scenes / "slide.toml", width=160, height=120).std() > 5


def test_arrows_of_forces_are_drawn_on_request(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "slide.toml")
    simulation.run(10)
    plain, with_forces = simulation.render(WIDTH, HEIGHT), simulation.render(WIDTH, HEIGHT, forces=True)
    # It slides: arrows are red, and nothing else is.
    red = is_color(with_forces, RED)
    assert 30 < red.sum() < 0.1 * red.size and not is_color(plain, RED).any()
    # They are at the contacts: over the lower corners of the cube.
    assert np.nonzero(red)[0].mean() > HEIGHT / 2


@pytest.mark.parametrize("samples", [0, 8])
@pytest.mark.parametrize("forces", [False, True])
def test_edges_are_smooth(samples: int, forces: bool) -> None:
    """Around the ball are pixels that are neither ball nor background, whatever else is drawn."""
    of = scene(ground=False)
    simulation = stiction.Simulation(of)
    simulation.step()
    picture = Renderer(of, WIDTH, HEIGHT, forces=forces, samples=samples).render(simulation.poses, simulation.contacts).astype(int)
    redness = picture[..., 0] - picture[..., 1:].max(axis=2)
    assert (redness > 60).sum() > 100 and ((redness > 8) & (redness < 45)).sum() > 8


def test_near_walls_of_a_bin_are_glass() -> None:
    builder = stiction.SceneBuilder("a ball behind a wall").ground().body("ball", mass=1.0, position=[0, 0, 0.1], shape=sphere(0.1, color=list(RED)))
    for name, y in (("near", -0.3), ("far", 0.3)):
        builder.body(name, fixed=True, position=[0, y, 0.2], shape=box(0.6, 0.02, 0.4))
    of = builder.build()
    picture = render.picture(of, width=WIDTH, height=HEIGHT, camera=Camera(azimuth=-90.0, elevation=10.0))
    rgb = picture.astype(int)
    assert ((rgb[..., 0] - rgb[..., 1]) > 30).sum() > 100


@pytest.mark.parametrize("name", ["a.mp4", "a.gif", "a.webp", "a.webm"])
def test_videos(scenes: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert render.video(scenes / "slide.toml", file, end=0.3, fps=10, width=96, height=72) == 4
    if name.endswith((".mp4", ".webm")):
        import imageio_ffmpeg

        frames = imageio_ffmpeg.read_frames(str(file))
        meta = next(frames)
        assert tuple(meta["size"]) == (96, 72) and meta["fps"] == 10.0 and len(list(frames)) == 4
    else:
        with Image.open(file) as opened:
            assert opened.size == (96, 72) and opened.n_frames == 4  # type: ignore[attr-defined]


def test_recordings_and_trajectories(scenes: Path, tmp_path: Path) -> None:
    from stiction._stiction import _main

    file = tmp_path / "a.rec"
    assert _main(["stiction", "run", str(scenes / "slide.toml"), "--record", str(file), "--steps", "200"]) == 0
    at = render.picture(file, at=0.1, width=160, height=120, camera=Camera(azimuth=-90.0, target=(0.5, 0, 0), distance=3.0), forces=True)
    simulation = stiction.Simulation(scenes / "slide.toml")
    trajectory = stiction.record(simulation, 100)
    same = simulation.render(160, 120, camera=Camera(azimuth=-90.0, target=(0.5, 0, 0), distance=3.0), forces=True)
    np.testing.assert_array_equal(at, same)
    assert render.video(trajectory, tmp_path / "a.gif", fps=20, width=64, height=48) == 3
    with pytest.raises(errors.InputError, match="ends at 0.2 s, before 1 s"):
        render.picture(file, at=1.0)


def test_a_camera_goes_along_with_what_travels(tmp_path: Path) -> None:
    from stiction._frames import frames

    of = stiction.SceneBuilder("a ball far away soon", gravity=[0, 0, 0]).body("ball", mass=1.0, velocity=[20, 0, 0], shape=sphere(0.1, color=list(RED))).build()
    for camera in (Camera(), Camera(follow="ball")):
        scene, shown = frames(of, 0.0, 1.0, 5.0, 1.0)
        for picture in Renderer(scene, 96, 72, camera=camera).film(shown):
            rows, columns = np.nonzero(is_color(picture, RED))
            assert 20 < columns.mean() < 76 and 10 < rows.mean() < 62


def test_comparisons(scenes: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    of = stiction.Scene.load(scenes / "incline.toml")
    count = render.compare(of, of.with_settings(model="frictionless"), tmp_path / "a.html", labels=("rough", "smooth"), end=0.2, fps=10, width=240, height=180)
    page = (tmp_path / "a.html").read_text()
    assert count == 3 and "rough" in page and "smooth" in page and "data:video/mp4;base64," in page and "http" not in page.replace("http-equiv", "")
    other = stiction.SceneBuilder().body("ball", mass=1.0, shape=sphere(0.1)).build()
    with pytest.raises(errors.InputError, match="the same bodies"):
        render.compare(of, other, tmp_path / "b.mp4", end=0.1)


def test_beside_mujoco(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    file = Path(__file__).resolve().parents[2] / "examples" / "capsule.xml"
    of = stiction.Scene.load(file)
    theirs = _mujoco.frames(file, of, [0.0, 0.5, 1.0], [12.0, -12.0])
    np.testing.assert_allclose(theirs[0].poses, stiction.Simulation(of).poses, atol=1e-12)
    sunk = [frame.poses[of.body("capsule"), 2] for frame in theirs]
    assert sunk[2] < sunk[1] < -1e-4
    with pytest.raises(errors.InputError, match="2 actuators, and 1 controls"):
        _mujoco.frames(file, of, [0.0], [1.0])


@pytest.mark.parametrize("name", ["stack", "wall", "pyramid", "heap", "chain"])
def test_a_scene_in_mujoco(name: str) -> None:
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    small = {"n": 6.0} if "n" in stiction.scene.shipped(name).parameters else {}
    scene = stiction.scene.shipped(name, **small)
    simulation = stiction.Simulation(scene)
    times = [0.0, 5 * scene.dt]
    theirs = _mujoco.frames(f"{name}.toml", scene, times, None)
    np.testing.assert_allclose(theirs[0].poses, simulation.poses, atol=1e-9)
    simulation.run(5)
    # A few steps on both fell as far, or stand.
    np.testing.assert_allclose(theirs[1].poses[:, :3], simulation.poses[:, :3], atol=2e-3)


def test_a_scene_begins_in_mujoco_with_its_velocities() -> None:
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    turned = {"rpy": [0.3, -0.4, 0.5], "mass": 2.0, "shape": box(0.1, 0.2, 0.3)}
    hinge = {"type": "revolute", "axis": [0.6, 0, 0.8], "position": 0.4, "velocity": 2.0}
    builder = stiction.SceneBuilder(dt=1e-4, gravity=[0, 0, 0])
    builder.body("free", position=[1, 2, 3], velocity=[1, 2, 3], angular_velocity=[3, -2, 1], **turned)
    builder.body("hinge", position=[-1, 2, 3], joint=hinge, **turned)
    scene = builder.build()
    simulation = stiction.Simulation(scene)
    start = simulation.poses.copy()
    theirs = _mujoco.frames("a.toml", scene, [0.0, 0.01], None)
    simulation.run(100)
    np.testing.assert_allclose(theirs[0].poses, start, atol=1e-12)
    assert np.abs(simulation.poses - start).max(axis=1).min() > 5e-3, "both move"
    np.testing.assert_allclose(theirs[1].poses, simulation.poses, atol=1e-5)


@pytest.mark.parametrize("name", ["gripper", "capsule", "dominoes", "quad-flat", "block-in-corner"])
def test_a_scene_with_controllers_in_mujoco(name: str) -> None:
    """They see what MuJoCo does: servos, efforts, motions and wrenches move it as they move it here, as long as contacts differ little."""
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    scene = stiction.scene.shipped(name)
    simulation = stiction.Simulation(scene, separate=True)
    theirs = _mujoco.frames(f"{name}.toml", scene, [0.0, 20 * scene.dt], None)
    np.testing.assert_allclose(theirs[0].poses, simulation.poses, atol=1e-9)
    simulation.run(20)
    np.testing.assert_allclose(theirs[1].poses[:, :3], simulation.poses[:, :3], atol=5e-3)


def driven(**controller: Any) -> stiction.Scene:
    """An arm on a hinge, a slider on it, and a free body, none of which touches another."""
    builder = stiction.SceneBuilder(dt=1e-3, gravity=[0, 0, -9.81])
    hinge = {"type": "revolute", "axis": [0, 1, 0], "effort": 50.0}
    slide = {"type": "prismatic", "axis": [1, 0, 0]}
    builder.body("arm", mass=1.0, inertia=[0.1, 0.2, 0.3], joint=hinge)
    builder.body("hand", mass=0.5, inertia=[0.1, 0.1, 0.1], parent="arm", position=[0.3, 0, 0], joint=slide)
    builder.body("free", mass=2.0, inertia=[0.1, 0.2, 0.3], position=[3, 0, 0], rpy=[0.3, 0.5, -0.2], angular_velocity=[1, 2, 3])
    return builder._add("controllers", controller).build()


@pytest.mark.parametrize(
    "controller",
    [
        {"type": "servo", "joint": "arm", "kp": 400.0, "kd": 30.0, "ki": 20.0, "target": "= 0.5 * sin(5 * t)"},
        {"type": "servo", "joint": "arm", "kp": 1e6, "kd": 1e3, "target": 0.4},
        {"type": "effort", "joint": "hand", "effort": "= 3 * cos(4 * t)"},
        {"type": "motion", "joint": "hand", "position": "= 0.1 * sin(8 * t)"},
        {"type": "wrench", "body": "free", "force": [1.0, "= 5 * t", 20.0], "torque": [0.1, 0.2, "= sin(9 * t)"], "point": [0.1, 0, 0.05]},
    ],
)
def test_controllers_do_the_same_in_mujoco(controller: dict[str, Any]) -> None:
    """Without contacts both engines integrate the same motion, to the order of the step."""
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    scene = driven(**controller)
    simulation = stiction.Simulation(scene)
    start = simulation.poses.copy()
    theirs = _mujoco.frames("a.toml", scene, [0.0, 0.5], None)
    simulation.run(500)
    assert np.abs(simulation.poses - start).max() > 0.02, "it moves"
    np.testing.assert_allclose(theirs[1].poses[:, :3], simulation.poses[:, :3], atol=1e-2)
    same = np.abs(np.einsum("ij,ij->i", theirs[1].poses[:, 3:], simulation.poses[:, 3:]))
    np.testing.assert_allclose(same, 1.0, atol=1e-4)


def test_a_scene_that_mujoco_cannot_have() -> None:
    pytest.importorskip("mujoco")
    from stiction.render import _mujoco

    with pytest.raises(errors.SceneError, match="restitution cannot be written as MJCF"):
        _mujoco.frames("bounce.toml", stiction.scene.shipped("bounce"), [0.0], None)
    with pytest.raises(errors.SceneError, match="controllers cannot be written as MJCF"):
        stiction.scene.shipped("grasp").to_mjcf()


def seen(picture: np.ndarray, color: tuple[float, ...]) -> int:
    """Pixels of about the hue of a colour."""
    pixels = picture.reshape(-1, 3).astype(float)
    lit = pixels / np.maximum(pixels.max(axis=1, keepdims=True), 1.0)
    return int((np.abs(lit - np.array(color[:3]) / max(color[:3])).max(axis=1) < 0.08).sum())


def test_the_camera_goes_to_the_side_that_hides_least() -> None:
    of = stiction.scene.shipped("capsule")
    simulation = stiction.Simulation(of)
    (capsule,) = [g for g in of.geoms if g.shape == "capsule"]
    assert seen(render.picture(simulation, width=160, height=120), capsule.color) > 100, "the capsule between the plates is seen"


@pytest.mark.parametrize("name", ["pyramid", "chain", "stack"])
def test_arrows_hide_no_bodies_and_are_in_the_picture(name: str) -> None:
    simulation = stiction.Simulation(stiction.scene.shipped(name))
    simulation.run(20)
    renderer = Renderer(simulation.scene, 160, 120, forces=True)
    renderer.render(simulation.poses, simulation.contacts)
    sides = [g.size["sides"] for g in simulation.scene.geoms if g.shape == "box"]
    assert name == "chain" or renderer._stage.arrow_length(renderer.view) <= 1.01 * np.linalg.norm(sides[0])
    frame = Frame(simulation.t, simulation.poses.copy(), simulation.contacts)
    tips = renderer.view.project(renderer._stage.tips([frame], renderer.view, renderer._newtons), 160, 120)
    assert (tips[:, :2] > 0.0).all() and (tips[:, :2] < [160.0, 120.0]).all()
    renderer.close()


def test_notebooks_show_animations(scenes: Path) -> None:
    simulation = stiction.Simulation(scenes / "slide.toml")
    before = simulation.hash
    text = simulation._repr_html_()
    assert "data:image/webp;base64," in text and 'type="range"' in text and "<table>" in text and simulation.hash == before
    trajectory = stiction.record(simulation, 100)
    text = trajectory._repr_html_()
    assert "data:image/webp;base64," in text and len(text) < 1_000_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: render.picture(scene(), width=4), "width must be from 16 to"),
        (lambda: render.picture(scene(), camera=Camera(follow="nobody")), "nobody"),
        (lambda: Camera(fov=0.0), "fov must be above 0"),
        (lambda: Camera(zoom=float("nan")), "zoom must be finite"),
        (lambda: render.picture(scene(), at=-1.0), "at least 0"),
        (lambda: render.picture("no-such-file.toml"), "no-such-file.toml: No such file"),
        (lambda: render.picture(3), "found int"),  # type: ignore[arg-type]
        (lambda: render.video(scene(), "a.avi"), "videos are .mp4"),
        (lambda: render.video(scene(), "no-such-folder/a.mp4"), "there is no folder"),
        (lambda: render.video(scene(), "a.mp4", fps=0.0), "fps must be above 0"),
        (lambda: render.video(scene(), "a.mp4", start=2.0, end=1.0), "is before the start"),
        (lambda: render.save(np.zeros((4, 4, 3), np.uint8), "a.xyz"), "pictures are .png"),
        (lambda: Renderer(scene(), 64, 64).render(np.zeros((1, 7))), "poses must have shape"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(call: Any, message: str) -> None:
    with pytest.raises(errors.StictionError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "stiction", *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_the_command(scenes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, plot = tmp_path / "a.png", tmp_path / "b.svg"
    done = command("render", str(scenes / "slide.toml"), "--at", "0.1", "--size", "96x72", "--forces", "--out", str(picture))
    assert done.returncode == 0 and done.stderr == "" and Image.open(picture).size == (96, 72)
    assert _python("plot", [str(scenes / "slide.toml"), "--out", str(plot), "--what", "slip"]) == 0 and plot.stat().st_size > 1000
    capsys.readouterr()
    for command_name, arguments, message in (
        ("render", ["slide", "--out", str(picture)], "a.png exists: --force replaces it"),
        ("render", ["slide"], "say where the picture goes"),
        ("render", ["slide", "--out", "a.png", "--size", "9"], "expected WIDTHxHEIGHT"),
        ("render", ["slide", "--model", "nonsense", "--out", "a.png"], "nonsense"),
        ("render", ["slide", "--set", "nonsense=3", "--out", "a.png"], "nonsense"),
        ("compare", ["slide", "--with", "nonsense", "--video", "a.mp4"], "expected mujoco, a file, or one of"),
        ("plot", ["slide", "--bodies", "nobody", "--out", str(tmp_path / "c.png")], "nobody"),
    ):
        assert _python(command_name, arguments) == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1, said


def test_a_missing_extra_is_named_in_a_line(tmp_path: Path) -> None:
    """Modules that fail to import stand in for packages that are not installed."""
    for name in ("vtkmodules", "matplotlib"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not installed')\n")
    for arguments, extra in ((["render", "slide", "--out", "x.png"], "stiction[render]"), (["plot", "slide", "--out", "x.png"], "stiction[plot]")):
        done = command(*arguments, PYTHONPATH=str(tmp_path))
        assert done.returncode == 2 and extra in done.stderr and done.stderr.count("\n") == 1, done.stderr
    code = "import stiction; s = stiction.Simulation(stiction.scene.shipped('slide'))\nassert '<table>' in s._repr_html_()\ns.render()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.stderr.strip().splitlines()[-1].startswith("ImportError: stiction.render needs VTK")


def test_no_graphics_library_is_said_in_a_line(tmp_path: Path) -> None:
    """Files that are no libraries stand in for libraries that are not there."""
    for name in ("libEGL.so.1", "libEGL.so", "libOSMesa.so", "libOSMesa.so.8", "libOSMesa.so.6"):
        (tmp_path / name).write_text("")
    done = command("render", "slide", "--out", str(tmp_path / "x.png"), LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 2 and "apt-get install libegl1" in done.stderr and done.stderr.count("\n") == 1, done.stderr

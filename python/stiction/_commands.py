"""Commands that draw: ``stiction render``, ``stiction plot``, ``stiction compare``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ._drawn import SHAPES
from ._stiction import Recording, Scene, Simulation
from .errors import InputError
from .sim import Trajectory, record

if TYPE_CHECKING:
    from .render import Camera

__all__ = ["compare", "plot", "render"]


class _Parser(argparse.ArgumentParser):
    """Complaints are one line, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (`{self.prog} --help` lists all options)")


def _parser(name: str, what: str) -> _Parser:
    parser = _Parser(prog=f"stiction {name}", description=what, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {text!r}") from None


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"expected WIDTHxHEIGHT such as 640x480, found {text!r}")
    return int(width), int(height)


def _triple(text: str) -> tuple[float, float, float]:
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f"expected X,Y,Z, found {text!r}")
    x, y, z = (_number(part) for part in parts)
    return x, y, z


def _setting(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    return name, _number(value)


def _scene_options(parser: _Parser) -> None:
    group = parser.add_argument_group("how a scene is simulated; a recording is what it is")
    group.add_argument("--set", dest="parameters", metavar="NAME=VALUE", type=_setting, action="append", default=[], help="give a parameter of the scene another value")
    group.add_argument("--model", metavar="NAME", help="the contact model, instead of the scene's")
    group.add_argument("--dt", metavar="S", type=_number, help="the step (s), instead of the scene's")
    group.add_argument("--simulator", choices=("time-stepping", "event-driven"), help="instead of the scene's way")
    group.add_argument("--on-failure", choices=("stop", "accept", "fallback"), help="what to do where a step is not certified")


def _camera_options(parser: _Parser) -> None:
    group = parser.add_argument_group("camera; without these it sees all that moves, and goes along with what travels")
    group.add_argument("--follow", metavar="BODY", help="keep a body in the middle")
    group.add_argument("--azimuth", metavar="DEG", type=_number, help="from which side: 0 from +x, -90 from -y")
    group.add_argument("--elevation", metavar="DEG", type=_number, help="above the horizon")
    group.add_argument("--distance", metavar="M", type=_number, help="from the target (m)")
    group.add_argument("--target", metavar="X,Y,Z", type=_triple, help="what is in the middle of the picture (m)")
    group.add_argument("--zoom", metavar="X", type=_number, default=1.0, help="2 is twice as near")
    group.add_argument("--fov", metavar="DEG", type=_number, help="angle of view, from the lower to the upper edge")


def _video_options(parser: _Parser) -> None:
    group = parser.add_argument_group("videos")
    group.add_argument("--from", dest="start", metavar="T", type=_number, default=0.0, help="when it begins (s)")
    group.add_argument("--to", dest="end", metavar="T", type=_number, help="when it ends (s)")
    group.add_argument("--fps", metavar="N", type=_number, default=30.0, help="frames per second (30)")
    group.add_argument("--speed", metavar="X", type=_number, default=1.0, help="1 is real time, 0.1 slow motion")


def _picture_options(parser: _Parser, size: str) -> None:
    parser.add_argument("--size", metavar="WxH", type=_size, default=_size(size), help=f"in pixels ({size})")
    parser.add_argument("--forces", metavar="N", type=_number, nargs="?", const=True, default=False, help="draw contact forces as arrows; N newtons are the longest one")
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def _camera(options: argparse.Namespace) -> Camera:
    from .render import Camera

    given = {name: getattr(options, name) for name in ("azimuth", "elevation", "distance", "target", "follow", "zoom", "fov")}
    return Camera(**{name: value for name, value in given.items() if value is not None})


def _source(options: argparse.Namespace, file: str) -> Scene | Recording:
    """What a path leads to, with the settings asked for."""
    from ._frames import opened

    source = opened(file, **dict(options.parameters))
    settings = {name: getattr(options, name) for name in ("model", "dt", "simulator", "on_failure") if getattr(options, name) is not None}
    if isinstance(source, Recording):
        if settings:
            raise InputError(f"{file}: a recording has its own settings; --{next(iter(settings)).replace('_', '-')} is of scenes")
        for note in source.notes:
            print(f"note: {note}", file=sys.stderr)
        return source
    assert isinstance(source, Scene)
    return source.with_settings(**settings) if settings else source


def _done(options: argparse.Namespace, path: Path, words: str = "", **numbers: Any) -> int:
    """Says what was written: a line, or a JSON object."""
    print(json.dumps({"files": [str(path)], **numbers}) if options.json else f"{path}{words}")
    return 0


def _new(file: str, force: bool) -> Path:
    path = Path(file)
    if path.exists() and not force:
        raise InputError(f"{path} exists: --force replaces it")
    return path


def render(arguments: Sequence[str]) -> int:
    """``stiction render``."""
    parser = _parser("render", "Draw a scene, a robot or a recording: a picture, or a video of a run. Needs no display.")
    parser.add_argument("source", metavar="SCENE|ROBOT|RECORDING")
    parser.add_argument("--at", metavar="T", type=_number, help="the time of the picture (s): a scene is simulated up to there; a recording's end unless given")
    parser.add_argument("--out", metavar="FILE", help="where the picture goes: .png, .jpg or .webp")
    parser.add_argument("--video", metavar="FILE", help="where a video goes: .mp4, .webm, .gif or .webp")
    parser.add_argument("--shapes", choices=SHAPES, default="visual", help="what to draw: visual shapes (and what touches, where there are none), what touches, or both")
    _picture_options(parser, "640x480")
    _video_options(parser)
    _camera_options(parser)
    _scene_options(parser)
    options = parser.parse_args(arguments)
    if (options.out is None) == (options.video is None):
        raise InputError("say where the picture goes, --out FILE, or a video, --video FILE")
    from . import render as drawing

    path, source, begun = _new(options.out or options.video, options.force), _source(options, options.source), time.monotonic()
    shape: dict[str, Any] = {"width": options.size[0], "height": options.size[1], "camera": _camera(options), "forces": options.forces, "shapes": options.shapes}
    if options.out is not None:
        drawing.save(drawing.picture(source, at=options.at, **shape), path)
        return _done(options, path, f"  {options.size[0]} × {options.size[1]}", frames=1, seconds=time.monotonic() - begun)
    if options.at is not None:
        raise InputError("--at is the time of a picture; a video has --from and --to")
    count = drawing.video(source, path, start=options.start, end=options.end, fps=options.fps, speed=options.speed, **shape)
    seconds = time.monotonic() - begun
    return _done(options, path, f"  {count} frames of {options.size[0]} × {options.size[1]} in {seconds:.1f} s", frames=count, seconds=seconds)


#: Figures of ``stiction plot``.
_FIGURES = ("summary", "trajectory", "forces", "energy", "slip", "certificates", "work")


def plot(arguments: Sequence[str]) -> int:
    """``stiction plot``."""
    parser = _parser("plot", "Plot a recording, or a run of a scene: trajectories, forces, energy, slip, certificates.")
    parser.add_argument("source", metavar="RECORDING|SCENE")
    parser.add_argument("--what", choices=_FIGURES, default="summary", help="which figure (summary)")
    parser.add_argument("--bodies", metavar="NAME,NAME", help="whose trajectories; all unless given")
    parser.add_argument("--out", metavar="FILE", required=True, help="where it goes: .png, .svg or .pdf")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    _scene_options(parser)
    options = parser.parse_args(arguments)
    path, source = _new(options.out, options.force), _recorded(options, options.source)
    os.environ.setdefault("MPLBACKEND", "Agg")
    from . import plot as figures

    names = options.bodies.split(",") if options.bodies else None
    for name in names or []:
        source.scene.body(name)
    if options.what in ("summary", "trajectory"):
        drawn = getattr(figures, options.what)(source, names)
    else:
        drawn = getattr(figures, options.what)(source)
    figure = drawn if options.what == "summary" else drawn.figure
    try:
        figure.savefig(path, dpi=150)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: {error}") from None
    return _done(options, path)


def _recorded(options: argparse.Namespace, file: str) -> Trajectory:
    """The trajectory of a recording, or of a scene that is run."""
    source = _source(options, file)
    return source.trajectory() if isinstance(source, Recording) else record(Simulation(source, raises=False, separate=True))


def _controls(text: str) -> list[float]:
    return [_number(part) for part in text.split(",")]


def compare(arguments: Sequence[str]) -> int:
    """``stiction compare``."""
    parser = _parser("compare", "The same scene twice, side by side, over a plot of how far the two are apart: under two models, in MuJoCo, or in two recordings.")
    parser.add_argument("source", metavar="SCENE|ROBOT|RECORDING")
    parser.add_argument("--with", dest="other", metavar="MODEL|mujoco|FILE", required=True, help="another contact model; MuJoCo; or another scene or recording of the same bodies")
    parser.add_argument("--video", metavar="FILE", required=True, help="where it goes: .mp4, .webm, .gif, .webp, or .html, a page that holds the video")
    parser.add_argument("--labels", metavar="A,B", help="names of the two")
    parser.add_argument("--bodies", metavar="NAME,NAME", help="whose motion is plotted; all unless given")
    parser.add_argument("--ctrl", metavar="X,X,…", type=_controls, help="controls of the actuators of a robot file, held for the whole run")
    _picture_options(parser, "480x360")
    _video_options(parser)
    _camera_options(parser)
    _scene_options(parser)
    options = parser.parse_args(arguments)
    from .render._compare import Run, beside

    path, begun = _new(options.video, options.force), time.monotonic()
    left, right = _pair(options, Run)
    if options.labels is not None:
        names = options.labels.split(",")
        if len(names) != 2:
            raise InputError(f"--labels needs two names, A,B, found {options.labels!r}")
        left, right = Run(names[0], left.scene, left.frames), Run(names[1], right.scene, right.frames)
    bodies = options.bodies.split(",") if options.bodies else None
    width, height = options.size
    count = beside(left, right, path, bodies=bodies, fps=options.fps, width=width, height=height, camera=_camera(options), forces=options.forces)
    seconds = time.monotonic() - begun
    return _done(options, path, f"  {count} frames in {seconds:.1f} s", frames=count, seconds=seconds)


def _pair(options: argparse.Namespace, run: Any) -> tuple[Any, Any]:
    """The two runs of a comparison."""
    from ._frames import frames
    from .contact import catalog

    moments = (options.start, options.end, options.fps, options.speed)
    source = _source(options, options.source)
    models = [entry["name"] for entry in catalog()]
    if options.other in models and isinstance(source, Recording):
        raise InputError(f"{options.source}: a recording has its own model; compare its scene, or two recordings")
    first, shown = frames(_controlled(source, options.ctrl), *moments)
    if options.other == "mujoco":
        from .render import _mujoco

        if isinstance(source, Recording):
            raise InputError(f"{options.source}: a recording is of this engine; compare its scene")

        other = _mujoco.frames(options.source, first, [frame.t for frame in shown], options.ctrl)
        return run("stiction", first, shown), run("MuJoCo", first, other)
    if options.other in models:
        assert isinstance(source, Scene)
        second, also = frames(_controlled(source.with_settings(model=options.other), options.ctrl), *moments)
        return run(first.model, first, shown), run(options.other, second, also)
    if not Path(options.other).exists():
        raise InputError(f"--with {options.other}: expected mujoco, a file, or one of {', '.join(models)}")
    second, also = frames(_controlled(_source(options, options.other), options.ctrl), *moments)
    return run(Path(options.source).stem, first, shown), run(Path(options.other).stem, second, also)


def _controlled(source: Scene | Recording, ctrl: Sequence[float] | None) -> Scene | Recording | Simulation:
    """A scene with the controls of its actuators."""
    if ctrl is None:
        return source
    if isinstance(source, Recording):
        raise InputError("a recording has its own controls; --ctrl is of robot files")
    simulation = Simulation(source, raises=False, separate=True)
    if len(ctrl) != len(simulation.actuators):
        raise InputError(f"--ctrl needs {len(simulation.actuators)} numbers, one per actuator, found {len(ctrl)}")
    simulation.ctrl[:] = ctrl
    return simulation

"""``stiction view``: the command."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections.abc import Sequence

from .._stiction import Recording, Simulation
from ..errors import StictionError
from . import view
from ._target import is_robot, opened, simulation_of

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Serve a page until Ctrl-C; returns the exit code: 0 done, 2 bad input, with one line that says what is wrong."""
    options = _parser().parse_args(list(arguments))
    try:
        viewer = view(_target(options), host=options.host, port=options.port, run=not (options.paused or is_robot(options.target)), speed=options.speed)
    except (StictionError, ImportError, OSError) as error:
        if options.json:
            print(json.dumps({"error": str(error), "exit_code": 2}))
        else:
            print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"url": viewer.url}) if options.json else f"{viewer.url}  (Ctrl-C ends it)", flush=True)
    if options.open:
        webbrowser.open(viewer.url)
    viewer.wait()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stiction view", description="Show a scene, robot or recording in the browser, and push it.")
    parser.add_argument("target", nargs="?", default="grasp", help="a scene (.toml), robot (URDF, MJCF) or recording, or the name of a scene that comes along [default: grasp]")
    parser.add_argument("--port", type=int, default=8080, help="where to listen; 0 is any that is free [default: 8080]")
    parser.add_argument("--host", default="127.0.0.1", help="other machines can connect if this is 0.0.0.0 [default: 127.0.0.1]")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another value for a parameter of the scene")
    parser.add_argument("--model", help="the contact model")
    parser.add_argument("--dt", type=float, help="the step (s)")
    parser.add_argument("--speed", type=float, default=1.0, help="simulated seconds per second [default: 1]")
    parser.add_argument("--paused", action="store_true", help="wait for the button, as robot files do")
    parser.add_argument("--fixed", action="store_true", help="fix the base of a robot file")
    parser.add_argument("--json", action="store_true", help="print one JSON object: where the page is")
    parser.add_argument("--open", action="store_true", help="open the page in a browser of this machine")
    return parser


def _target(options: argparse.Namespace) -> Simulation | Recording:
    target = opened(options.target, fixed=options.fixed)
    settings = {name: x for name, x in (("model", options.model), ("dt", options.dt)) if x is not None}
    parameters = dict(_parameter(text) for text in options.set)
    if not settings and not parameters:
        return target
    if isinstance(target, Recording):
        raise StictionError("a recording is shown as it was: --set, --model and --dt are for scenes")
    scene = target.scene.with_parameters(**parameters) if parameters else target.scene
    return simulation_of(scene.with_settings(**settings))


def _parameter(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise StictionError(f"--set takes NAME=VALUE, found {text!r}") from None

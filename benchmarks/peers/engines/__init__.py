"""One module per engine. Each has `SETTINGS`, what it is run with, and `build(scene, setting)`.

What is built has `step(count)`; `poses()`, position and quaternion (w, x, y, z) of each body that is not
fixed; and `certificate()`, the worst certificate so far, or None where there is none. A step that is
refused raises `Failed`. An engine that takes robots has `READS_MJCF`; then what is built has `control(values)`
and `pose(name)` of a body too.
"""

from __future__ import annotations

import importlib

#: Name of the engine, and its module here.
NAMES = {
    "Stiction": "stiction_engine",
    "MuJoCo": "mujoco_engine",
    "Drake": "drake_engine",
    "DART": "dart_engine",
    "Bullet": "bullet_engine",
    "ODE": "ode_engine",
    "Rapier": "rapier_engine",
}


class Failed(Exception):
    """The engine says that it has no answer."""


def load(name: str):
    """The module of an engine; ImportError, with what is missing, where it cannot be run here."""
    return importlib.import_module(f"engines.{NAMES[name]}")

"""Bodies and robots added, removed, held together and released: a new scene, and the state goes over by name."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._stiction import Scene, Simulation
from .errors import InputError

__all__ = ["released", "welded", "with_body", "with_robot", "without_body", "without_robot"]


def _added(simulation: Simulation, key: str, table: dict[str, Any]) -> Simulation:
    scene = simulation.scene
    description = scene._description()
    description.setdefault(key, []).append({k: v for k, v in table.items() if v is not None})
    return simulation._carried(scene._described(description, scene._welds))


def with_body(simulation: Simulation, name: str, **options: Any) -> Simulation:
    """See `Simulation.with_body`."""
    return _added(simulation, "bodies", {"name": name, **options})


def with_robot(simulation: Simulation, name: str, file: str | os.PathLike[str], **options: Any) -> Simulation:
    """See `Simulation.with_robot`."""
    return _added(simulation, "robots", {"name": name, "file": os.path.abspath(os.fspath(file)), **options})


def _names(table: dict[str, Any]) -> set[str]:
    """The bodies and joints that a controller, pair or loop is about."""
    named = [table.get(key) for key in ("joint", "joints", "body", "a", "b", "actuator")]
    return {name for entry in named for name in (entry if isinstance(entry, list) else [entry]) if isinstance(name, str)}


def _without(scene: Scene, kind: str, name: str) -> Scene:
    description = scene._description()
    tables = description.get(kind, [])
    kept = [table for table in tables if table.get("name") != name]
    if len(kept) == len(tables):
        what = "body" if kind == "bodies" else "robot"
        hint = "; it is one of several that a table repeats, or part of a robot" if name in scene.bodies else ""
        raise InputError(f"there is no {what} called {name!r} to take out{hint}")
    children = [table.get("name") for table in kept if table.get("parent") == name]
    if children:
        raise InputError(f"{name!r} cannot be taken out: {children[0]!r} hangs on it")

    def about(other: str) -> bool:
        return other == name or other.startswith(f"{name}/")

    description[kind] = kept
    for key in ("controllers", "pairs", "loops"):
        if key in description:
            description[key] = [table for table in description[key] if not any(about(other) for other in _names(table))]
    welds = [weld for weld in scene._welds if not about(weld[0]) and not (weld[1] and about(weld[1]))]
    return scene._described(description, welds)


def without_body(simulation: Simulation, name: str) -> Simulation:
    """See `Simulation.without_body`."""
    return simulation._carried(_without(simulation.scene, "bodies", name))


def without_robot(simulation: Simulation, name: str) -> Simulation:
    """See `Simulation.without_robot`."""
    return simulation._carried(_without(simulation.scene, "robots", name))


def welded(simulation: Simulation, a: str, b: str | None = None) -> Simulation:
    """See `Simulation.welded`."""
    scene = simulation.scene
    number = scene.body(a)
    other = None if b is None else scene.body(b)
    if number == other:
        raise InputError(f"{a!r} holds together with itself")
    if any({weld[0], weld[1]} == {a, b} for weld in scene._welds):
        raise InputError(f"{a!r} and {b or 'the world'!r} are held together already")
    # The frame of the weld is that of the first body.
    own = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    place = np.array(simulation.poses[number])
    seen = place if other is None else _seen_from(np.array(simulation.poses[other]), place)
    weld = (a, b, own.tolist(), seen.tolist())
    return simulation._carried(scene._with_welds([*scene._welds, weld]))


def released(simulation: Simulation, a: str, b: str | None = None) -> Simulation:
    """See `Simulation.released`."""
    scene = simulation.scene
    kept = [weld for weld in scene._welds if {weld[0], weld[1]} != {a, b}]
    if len(kept) == len(scene._welds):
        raise InputError(f"{a!r} and {b or 'the world'!r} are not held together")
    return simulation._carried(scene._with_welds(kept))


def _product(p: Any, q: Any) -> Any:
    """The product of two quaternions w, x, y, z."""
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def _seen_from(frame: Any, pose: Any) -> Any:
    """A pose in another frame: both are position and quaternion w, x, y, z."""
    back = frame[3:] * [1, -1, -1, -1]
    arm = np.concatenate([[0.0], pose[:3] - frame[:3]])
    return np.concatenate([_product(_product(back, arm), frame[3:])[1:], _product(back, pose[3:])])

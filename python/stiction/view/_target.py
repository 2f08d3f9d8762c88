"""What to show: from a name or a file to a simulation or a recording."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .._stiction import Recording, Scene, Simulation
from ..errors import InputError
from ..scene import SceneBuilder, shipped, shipped_names

__all__ = ["is_robot", "on_ground", "opened", "simulation_of"]

#: What recordings begin with.
_RECORDING = b"STICREC"


def opened(target: Simulation | Scene | Recording | str | os.PathLike[str], *, fixed: bool = False) -> Simulation | Recording:
    """A simulation, or a recording, of anything that can be shown; the base of a robot file may be fixed."""
    if isinstance(target, (Simulation, Recording)):
        return target
    if isinstance(target, Scene):
        return simulation_of(target)
    path = Path(target)
    if not path.exists():
        if str(target) in shipped_names():
            return simulation_of(shipped(str(target)))
        raise InputError(f"there is no file {str(target)!r}, and no scene of that name; there are {', '.join(shipped_names())}")
    if path.is_dir():
        raise InputError(f"{str(target)!r} is a folder: expected a scene, a robot file or a recording")
    with path.open("rb") as file:
        if file.read(len(_RECORDING)) == _RECORDING:
            return Recording(path)
    scene = Scene.load(path)
    return simulation_of(on_ground(scene, path, fixed=fixed) if is_robot(path) else scene)


def simulation_of(scene: Scene) -> Simulation:
    """A simulation that reports a failed step instead of raising; what overlaps at the start is taken apart."""
    return Simulation(scene, raises=False, separate=True)


def is_robot(target: object) -> bool:
    """Whether it is the file of a robot."""
    return isinstance(target, (str, os.PathLike)) and Path(target).suffix.lower() in (".urdf", ".xml", ".mjcf")


def on_ground(robot: Scene, path: Path, *, fixed: bool = False) -> Scene:
    """A robot file with a ground under its lowest point, if it would fall forever otherwise, or is to be fixed."""
    if not fixed and ("free" not in robot.joint_types or any(g.body < 0 and g.collides for g in robot.geoms)):
        return robot
    poses = simulation_of(robot).geom_poses()
    lowest = min((lowest_point(g.mesh(16)[0], pose) for g, pose in zip(robot.geoms, poses) if g.collides), default=0.0)
    builder = SceneBuilder(robot.title, directory=path.resolve().parent, dt=robot.dt, gravity=list(robot.gravity))
    base = {"base": "fixed"} if fixed else {}
    return builder.ground(position=[0.0, 0.0, float(lowest)]).robot("robot", path.name, **base).build()


def lowest_point(vertices: np.ndarray, pose: np.ndarray) -> float:
    """The least height of a mesh at a pose (m)."""
    w, x, y, z = pose[3:]
    up = np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
    return float((vertices @ up).min() + pose[2]) if len(vertices) else float(pose[2])

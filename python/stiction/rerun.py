"""Recordings for Rerun, the log viewer: shapes, transforms, contact forces and series over time in an ``.rrd`` file.

It needs Rerun's SDK: ``pip install 'stiction[rerun]'``. ``rerun FILE.rrd`` shows the file.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._stiction import Recording, Scene
from .sim import Mode

__all__ = ["log"]

#: Red, green and blue by mode: breaking, sticking, sliding.
_COLORS = np.array([(134, 142, 150), (26, 140, 92), (232, 98, 18)], dtype=np.uint8)
assert (Mode.OPEN, Mode.STICK, Mode.SLIDE) == (0, 1, 2)
#: Times of the page: seconds, and steps.
_TIME, _STEP = "t", "step"
#: Half the sides of a ground that has no bounds (m).
_GROUND = 5.0


def log(recording: Recording | str | os.PathLike[str], out: str | os.PathLike[str], *, force_scale: float | None = None) -> Path:
    """Write a recording as an ``.rrd`` file.

    Parameters
    ----------
    recording : Recording, str or path
        A file of ``stiction run --record``.
    out : str or path
        The file; one that is there is replaced.
    force_scale : float, optional
        Length of an arrow per force (m/N). Default: the largest force of a contact is as long as the scene is large.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ImportError
        Rerun's SDK is not installed.
    SceneError
        The recording is broken.
    """
    rr = _rerun()
    recording = recording if isinstance(recording, Recording) else Recording(recording)
    kept, scene = recording.trajectory(), recording.scene
    stream = rr.RecordingStream("stiction")
    stream.save(os.fspath(out))
    stream.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    _log_shapes(rr, stream, scene)
    times = [rr.TimeColumn(_TIME, duration=kept.t), rr.TimeColumn(_STEP, sequence=np.arange(len(kept)))]
    _log_motion(rr, stream, scene, recording, kept.q, times)
    series = {
        "energy": kept.energy, "normal_force": kept.normal_force, "contacts": kept.contacts, "pivots": kept.pivots,
        "factorizations": kept.factorizations, "slip": kept.slip, "certificate": kept.certificate,
    }
    for name, values in series.items():
        stream.send_columns(f"series/{name}", times, rr.Scalars.columns(scalars=np.asarray(values, dtype=np.float64)))
    _log_contacts(rr, stream, recording, kept.t, force_scale)
    stream.flush()
    stream.disconnect()
    return Path(out)


def _rerun() -> Any:
    try:
        return importlib.import_module("rerun")
    except ImportError as error:
        raise ImportError("stiction.rerun needs Rerun's SDK: pip install 'stiction[rerun]'") from error


def _body(scene: Scene, body: int) -> str:
    """The path of a body; characters that mean something in paths are replaced, and what is no longer unique gets its number."""
    if body < 0:
        return "world/fixed"
    path = _path(scene.bodies[body])
    return f"world/bodies/{path}" if sum(_path(name) == path for name in scene.bodies) == 1 else f"world/bodies/{path}_{body}"


def _path(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_-." else "_" for c in name)


def _log_shapes(rr: Any, stream: Any, scene: Scene) -> None:
    for geom in (g for g in scene.geoms if g.drawn):
        vertices, faces = geom.mesh(extent=_GROUND)
        if len(faces) == 0:
            continue
        path = f"{_body(scene, geom.body)}/geom{geom.number}"
        w, x, y, z = geom.quaternion
        color = [round(255 * c) for c in geom.color]
        stream.log(path, rr.Transform3D(translation=geom.position, quaternion=rr.Quaternion(xyzw=[x, y, z, w])), static=True)
        normals = _normals(vertices, faces)
        flat, corners = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
        mesh = rr.Mesh3D(vertex_positions=flat, triangle_indices=corners, vertex_normals=normals, albedo_factor=color)
        stream.log(path, mesh, static=True)


def _normals(vertices: npt.NDArray[np.float64], faces: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """A normal for each corner of each triangle."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return np.repeat(normals, 3, axis=0)


def _log_motion(rr: Any, stream: Any, scene: Scene, recording: Recording, q: npt.NDArray[np.float64], times: list[Any]) -> None:
    from ._stiction import Simulation

    simulation = Simulation(scene, raises=False, separate=True)
    poses = np.empty((len(q), len(scene.bodies), 7))
    for row, configuration in enumerate(q):
        simulation.q = configuration
        poses[row] = simulation.poses
    for body in range(len(scene.bodies)):
        track = poses[:, body]
        columns = rr.Transform3D.columns(translation=track[:, :3], quaternion=track[:, [4, 5, 6, 3]])
        stream.send_columns(_body(scene, body), times, columns)


def _log_contacts(rr: Any, stream: Any, recording: Recording, t: npt.NDArray[np.float64], force_scale: float | None) -> None:
    steps = [recording.contacts(i) for i in range(len(recording))]
    sizes = [float(np.linalg.norm(c["force"], axis=1).max()) for c in steps if len(c)]
    spread = [float(np.ptp(c["point"], axis=0).max()) for c in steps if len(c) > 1]
    largest, size = max(sizes, default=0.0), max(spread, default=0.2) or 0.2
    scale = force_scale if force_scale is not None else size / largest if largest > 0.0 else 1.0
    for row, contacts in enumerate(steps, start=1):
        stream.set_time(_TIME, duration=float(t[row]))
        stream.set_time(_STEP, sequence=row)
        colors = _COLORS[np.clip(contacts["mode"], 0, 2)]
        arrows = rr.Arrows3D(origins=contacts["point"], vectors=scale * contacts["force"], colors=colors, radii=np.full(len(contacts), 0.01 * size))
        stream.log("world/contacts", arrows)

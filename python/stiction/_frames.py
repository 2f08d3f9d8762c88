"""Runs as frames: what a picture shows of a moment, whatever it comes from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._stiction import Recording, Scene, Simulation
from .errors import InputError, StictionError
from .scene import shipped, shipped_names
from .sim import Trajectory

__all__ = ["Frame", "Source", "frame", "frames", "opened"]

Array = npt.NDArray[np.float64]

#: What can be drawn.
Source: TypeAlias = "Simulation | Scene | Recording | Trajectory | str | os.PathLike[str]"

#: First bytes of a recording.
_MAGIC = b"STICREC\n"


@dataclass(frozen=True)
class Frame:
    """A moment: time (s), poses of the bodies (k, 7), contacts (as ``Simulation.contacts``; none where they are not known)."""

    t: float
    poses: Array
    contacts: npt.NDArray[Any] | None


def opened(source: Source, **parameters: float) -> Simulation | Scene | Recording | Trajectory:
    """What a path leads to: a recording, a scene or a robot; or the shipped scene of that name."""
    if not isinstance(source, (str, os.PathLike)):
        if not isinstance(source, (Simulation, Scene, Recording, Trajectory)):
            raise InputError(f"expected a simulation, scene, recording, trajectory or path, found {type(source).__name__}")
        if parameters:
            raise InputError("parameters are set of files only; scene.with_parameters gives another scene")
        return source
    path = Path(source)
    if not path.exists() and str(source) in shipped_names():
        return shipped(str(source), **parameters)
    try:
        with path.open("rb") as file:
            recorded = file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    if recorded and parameters:
        raise InputError(f"{path}: a recording has the parameters it was made with")
    return Recording(path) if recorded else Scene.load(path, keyframe=None, **parameters)


def _begun(scene: Scene) -> Simulation:
    return Simulation(scene, raises=False, separate=True)


def _now(simulation: Simulation) -> Frame:
    return Frame(simulation.t, simulation.poses.copy(), simulation.contacts)


class _Rows:
    """Rows of a trajectory as frames."""

    def __init__(self, source: Recording | Trajectory) -> None:
        self.recording = source if isinstance(source, Recording) else None
        self.rows = source.trajectory() if isinstance(source, Recording) else source
        self._posed = _begun(self.rows.scene)

    def at(self, t: float) -> Frame:
        # The row nearest to the time, the first one if two are.
        k = int(np.abs(self.rows.t - t).argmin())
        self._posed.q[:] = self.rows.q[k]
        contacts = self.recording.contacts(k - 1) if self.recording is not None and k > 0 else None
        return Frame(float(self.rows.t[k]), self._posed.poses.copy(), contacts)


def frame(source: Simulation | Scene | Recording | Trajectory, at: float | None) -> tuple[Scene, Frame]:
    """One moment: at a time (s), or the present one of a simulation, the start of a scene, the end of a recording."""
    if at is not None and not (np.isfinite(at) and at >= 0.0):
        raise InputError(f"the time must be at least 0 and finite, found {at}")
    if isinstance(source, Simulation):
        if at is not None:
            if at < source.t - source.scene.dt / 2:
                raise InputError(f"the simulation is at {source.t:g} s already, past {at:g} s: only a recording goes back")
            source = source.copy()
            source.raises = False
            _reach(source, at)
        return source.scene, _now(source)
    if isinstance(source, Scene):
        simulation = _begun(source)
        _reach(simulation, at or 0.0)
        return source, _now(simulation)
    rows = _Rows(source)
    last = float(rows.rows.t[-1])
    if at is not None and at > last + rows.rows.scene.dt / 2:
        raise InputError(f"the recording ends at {last:g} s, before {at:g} s")
    return rows.rows.scene, rows.at(last if at is None else at)


def _reach(simulation: Simulation, t: float) -> None:
    steps = round((t - simulation.t) / simulation.scene.dt)
    if steps > 0:
        report = simulation.run(steps)
        if report.why:
            raise StictionError(f"the simulation ends at {simulation.t:g} s, before {t:g} s: {report.why}")


def frames(source: Simulation | Scene | Recording | Trajectory, start: float, end: float | None, fps: float, speed: float) -> tuple[Scene, list[Frame]]:
    """Moments `speed / fps` seconds apart. A simulation is run on; a run that fails ends with its last good step."""
    if not (np.isfinite(fps) and 0.0 < fps <= 240.0):
        raise InputError(f"fps must be above 0 and at most 240, found {fps}")
    if not (np.isfinite(speed) and speed > 0.0):
        raise InputError(f"speed must be above 0, found {speed}")
    if isinstance(source, (Simulation, Scene)):
        simulation = source if isinstance(source, Simulation) else _begun(source)
        begin = max(start, simulation.t)
        stop = begin + simulation.scene.duration if end is None else end
        return simulation.scene, list(_run(simulation, _times(begin, stop, speed / fps)))
    rows = _Rows(source)
    stop = float(rows.rows.t[-1]) if end is None else min(end, float(rows.rows.t[-1]))
    return rows.rows.scene, [rows.at(t) for t in _times(max(start, float(rows.rows.t[0])), stop, speed / fps)]


def _times(start: float, stop: float, apart: float) -> Array:
    if stop < start:
        raise InputError(f"the end, {stop:g} s, is before the start, {start:g} s")
    count = int((stop - start) / apart + 1e-9) + 1
    return start + apart * np.arange(count, dtype=np.float64)


def _run(simulation: Simulation, times: Array) -> Iterator[Frame]:
    for t in times:
        steps = round((float(t) - simulation.t) / simulation.scene.dt)
        report = simulation.run(steps) if steps > 0 else None
        if report is not None and report.why:
            warnings.warn(f"the simulation ends at {simulation.t:g} s, before {times[-1]:g} s: {report.why}", stacklevel=2)
            return
        yield _now(simulation)

"""Motion between two steps, for simulations whose steps take longer than a picture."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._frame import Frame

__all__ = ["Between"]

Array = npt.NDArray[np.float64]


class Between:
    """Poses that go from what was shown to a frame, in the time that the frame took.

    What is shown is late by a step then, and moves as often as it is drawn. Frames that come as fast as they are drawn are shown as they are.

    Parameters
    ----------
    interval : float
        Frames that come within this time (s) of each other are shown at once.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._frame: Frame | None = None
        self._came = 0.0
        self._takes = 0.0
        self._from = (np.zeros((0, 7)), np.zeros((0, 3)))

    def add(self, frame: Frame, now: float, *, running: bool) -> None:
        """Take the latest frame, which came now (s)."""
        last, takes = self._frame, now - self._came
        goes_on = last is not None and running and last.world == frame.world and last.step < frame.step and takes > self._interval
        if goes_on:
            self._from = self.at(now)
        self._frame, self._came, self._takes = frame, now, takes if goes_on else 0.0

    def moves(self, now: float) -> bool:
        """Whether the latest frame is not reached yet."""
        return now < self._came + self._takes

    def at(self, now: float) -> tuple[Array, Array]:
        """Poses of geoms, (geoms, 7), and positions of bodies, (bodies, 3), at a time (s)."""
        assert self._frame is not None
        to = self._frame
        if not self.moves(now):
            return to.poses, to.bodies
        part = (now - self._came) / self._takes
        poses, bodies = self._from
        # Turns of q and -q are the same: the nearer one, or what moves a little would turn around.
        turn = np.where(np.einsum("ij,ij->i", poses[:, 3:], to.poses[:, 3:])[:, None] < 0.0, -to.poses[:, 3:], to.poses[:, 3:])
        mixed = (1.0 - part) * poses + part * np.concatenate([to.poses[:, :3], turn], axis=1)
        mixed[:, 3:] /= np.maximum(np.linalg.norm(mixed[:, 3:], axis=1, keepdims=True), 1e-300)
        return mixed, (1.0 - part) * bodies + part * to.bodies

"""The spring between the mouse and a body: critically damped whatever the body weighs, and with a largest force."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._stiction import Simulation
from ._frame import Pull

__all__ = ["Spring"]

Array = npt.NDArray[np.float64]

#: Natural frequency of the spring with what it pulls (rad/s): it settles in a fifth of a second.
_FREQUENCY = 30.0
#: Its frequency times the step stays below this: far within what an explicit spring of that damping needs to be stable.
_LARGEST_FREQUENCY_STEP = 0.3
#: The largest acceleration it gives what it pulls (m/s²), 30 times that of gravity on earth.
_LARGEST_ACCELERATION = 300.0
#: Directions that give way less than this part of the softest one, as those that joints forbid, are not pulled along.
_RIGID = 1e-3


class Spring:
    """Pulls a point of a body to a place in the world.

    The force is ``A (w² x - 2 w v)`` with x the way to go, v the velocity of the point and A the inertia that a force there feels, so that the
    point moves like a critically damped oscillator of frequency w; its size is limited.

    Parameters
    ----------
    simulation : Simulation
    body : int
    held : ndarray, (3,)
        The point, in the world (m).
    """

    def __init__(self, simulation: Simulation, body: int, held: Array) -> None:
        pose = simulation.poses[body]
        self.body = body
        self.point = _matrix(pose).T @ (held - pose[:3])
        self.target = held.copy()
        #: Forces of others, which stay (N, N m).
        self._others = simulation.force.copy()

    def apply(self, simulation: Simulation) -> Pull:
        """Set the force of the next step."""
        pose = simulation.poses[self.body]
        rows = simulation.jacobian(self.body, self.point)[:3]
        held = pose[:3] + _matrix(pose) @ self.point
        frequency = min(_FREQUENCY, _LARGEST_FREQUENCY_STEP / simulation.scene.dt)
        wanted = frequency**2 * (self.target - held) - 2.0 * frequency * (rows @ simulation.v)
        length = float(np.linalg.norm(wanted))
        if length > _LARGEST_ACCELERATION:
            wanted *= _LARGEST_ACCELERATION / length
        force = np.linalg.pinv(simulation.mobility(self.body, self.point), rcond=_RIGID, hermitian=True) @ wanted
        simulation.force = self._others + rows.T @ force
        return Pull(held, self.target.copy(), force)

    def release(self, simulation: Simulation) -> None:
        """Leave the forces of others."""
        simulation.force = self._others


def _matrix(pose: Array) -> Array:
    w, x, y, z = pose[3:]
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])

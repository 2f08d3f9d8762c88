"""The two tasks: hold a box, walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._stiction import BatchSimulation, Scene, Simulation
from .task import Array, Task

__all__ = ["GraspHold", "QuadrupedWalk"]

_HERE = Path(__file__).parent


class GraspHold(Task):
    """Two fingers on a shaking palm hold a box that is pushed at random; the less force the better.

    Actions (2): how hard each finger presses, -1 is nothing and 1 is 20 N. Observations (18): the box against the palm (position m, quaternion,
    velocity m/s, angular velocity rad/s), fingers (m, m/s), palm (m/s). Reward: 1 per step in which the box is held, less up to 0.5 for the force.
    The episode ends when the box has slipped by 2 cm.

    Parameters
    ----------
    **parameters : float
        Of its scene: ``shake``, ``frequency``, ``mass``.
    """

    frame_skip: ClassVar[int] = 20
    observation_size: ClassVar[int] = 18
    action_size: ClassVar[int] = 2

    #: Largest force of a finger (N).
    strongest: ClassVar[float] = 20.0
    #: Spread of the random pushes (N).
    push: ClassVar[float] = 0.3
    #: A box that has slipped this far is lost (m).
    lost: ClassVar[float] = 0.02

    def __init__(self, **parameters: float) -> None:
        super().__init__(Scene.load(_HERE / "grasp.toml", keyframe=None, **parameters))
        scene = self.scene
        self._box_q, self._box_v = scene.q_slice("box"), scene.v_slice("box")
        self._palm_q, self._palm_v = scene.q_slice("palm").start, scene.v_slice("palm").start
        self._fingers_q = [scene.q_slice(f"finger{k}").start for k in (1, 2)]
        self._fingers_v = [scene.v_slice(f"finger{k}").start for k in (1, 2)]

    def start(self, q: Array, v: Array, rng: np.random.Generator) -> None:
        """The box a little off its place along the fingers."""
        q[self._box_q][1:3] += rng.uniform(-0.004, 0.004, 2)

    def disturb(self, rng: np.random.Generator) -> Array:
        """A push on the box."""
        force = np.zeros(self.scene.nv)
        force[self._box_v][:3] = self.push * rng.standard_normal(3)
        return force

    def act(self, simulation: Simulation | BatchSimulation, action: Array) -> None:
        """Fingers press."""
        simulation.effort[..., self._fingers_v] = 0.5 * self.strongest * (1.0 + action)

    def _slip(self, q: Array) -> Array:
        """The box against the palm (m), (..., 3)."""
        place: Array = q[..., self._box_q][..., :3].copy()
        place[..., 2] -= q[..., self._palm_q]
        return place

    def observe(self, q: Array, v: Array) -> Array:
        """See the class."""
        speed = v[..., self._box_v].copy()
        speed[..., 2] -= v[..., self._palm_v]
        parts = [
            self._slip(q),
            q[..., self._box_q][..., 3:],
            speed,
            q[..., self._fingers_q],
            v[..., self._fingers_v],
            v[..., [self._palm_v]],
        ]
        return np.concatenate(parts, axis=-1)

    def judge(self, q: Array, v: Array, action: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """See the class."""
        dropped = np.linalg.norm(self._slip(q), axis=-1) > self.lost
        reward = np.where(dropped, 0.0, 1.0 - 0.25 * (1.0 + action).mean(axis=-1))
        return reward, dropped

    def info(self, q: Array, v: Array) -> dict[str, Any]:
        """How far the box is from its place (m)."""
        return {"slip": np.linalg.norm(self._slip(q), axis=-1)}


class QuadrupedWalk(Task):
    """A quadruped of 1.8 kg walks along x on flat ground, with servos on its twelve joints.

    Actions (12): targets of the servos, half a radian to either side, leg by leg (hip, thigh, shank). Observations (35): height of the trunk (m),
    its quaternion, velocity and angular velocity, joints (rad) and their speeds. Reward: forward speed (m/s), and 0.1 for being up, less the
    square of the actions times 0.01. The episode ends when the trunk is low or has tipped over.

    Parameters
    ----------
    **parameters : float
        Of its scene: ``bend``, ``start``.
    """

    frame_skip: ClassVar[int] = 10
    observation_size: ClassVar[int] = 35
    action_size: ClassVar[int] = 12
    follow: ClassVar[str | None] = "trunk"

    #: Reach of an action (rad).
    reach: ClassVar[float] = 0.5
    #: Gains of the servos (N m/rad, N m s/rad).
    gains: ClassVar[tuple[float, float]] = (20.0, 0.5)
    #: A trunk below this height has fallen (m).
    fallen: ClassVar[float] = 0.09

    def __init__(self, **parameters: float) -> None:
        super().__init__(Scene.load(_HERE / "quadruped.toml", keyframe=None, **parameters))
        scene, legs = self.scene, [(i, j) for i in (1, 2) for j in (1, 2)]
        names = [f"{part}{i}{j}" for i, j in legs for part in ("hip", "thigh", "shank")]
        trunk = scene.q_slice("trunk").start
        if (trunk, scene.v_slice("trunk").start) != (0, 0):
            raise AssertionError("the trunk comes first")
        self._joints_q = [scene.q_slice(name).start for name in names]
        self._joints_v = [scene.v_slice(name).start for name in names]

    def prepare(self, simulation: Simulation | BatchSimulation) -> None:
        """Gains of the servos."""
        simulation.kp[..., self._joints_v], simulation.kd[..., self._joints_v] = self.gains

    def start(self, q: Array, v: Array, rng: np.random.Generator) -> None:
        """A little push."""
        v[:2] = rng.uniform(-0.05, 0.05, 2)

    def act(self, simulation: Simulation | BatchSimulation, action: Array) -> None:
        """Targets of the servos."""
        simulation.target[..., self._joints_v] = self.reach * action

    def observe(self, q: Array, v: Array) -> Array:
        """See the class."""
        return np.concatenate([q[..., 2:7], v[..., :6], q[..., self._joints_q], v[..., self._joints_v]], axis=-1)

    def judge(self, q: Array, v: Array, action: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """See the class."""
        upright = 1.0 - 2.0 * (q[..., 4] ** 2 + q[..., 5] ** 2)
        down = (q[..., 2] < self.fallen) | (upright < 0.5)
        reward = v[..., 0] + 0.1 - 0.01 * (action**2).sum(axis=-1)
        return np.where(down, 0.0, reward), down

    def info(self, q: Array, v: Array) -> dict[str, Any]:
        """Where the trunk is along x (m)."""
        return {"x": q[..., 0].copy()}

"""A scene's controllers at work in MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._stiction import Scene, Simulation
from ..errors import InputError

__all__ = ["Drive"]

Array = npt.NDArray[np.float64]

#: A joint that moves as told is pulled by this many times the inertia it moves over the step.
_RIGID = 1e4


class Drive:
    """Steps MuJoCo with what the controllers of a scene ask for in the state that MuJoCo is in.

    Servos are implicit in the step, as they are here: MuJoCo's integrator is so in the damping of joints, and with the damping ``kd + dt kp`` and
    the force ``kp (target - q) + kd (target velocity)`` its step is the same. A joint that is told how to move has a stiff damper to that velocity.

    Parameters
    ----------
    mujoco
        The module.
    model
        The scene in MuJoCo.
    scene : Scene
    bodies : sequence of int
        MuJoCo's numbers of the scene's bodies.
    ctrl : sequence of float or None
        Controls of the motors of robot files.
    """

    def __init__(self, mujoco: Any, model: Any, scene: Scene, bodies: Sequence[int], ctrl: Sequence[float] | None) -> None:
        self._mujoco, self._model = mujoco, model
        self._simulation = Simulation(scene, raises=False, separate=True)
        if ctrl is not None:
            if len(ctrl) != len(self._simulation.actuators):
                raise InputError(f"there are {len(self._simulation.actuators)} actuators, and {len(ctrl)} controls")
            self._simulation.ctrl[:] = ctrl
        self._damping = np.array(model.dof_damping)
        self._q_here, self._v_here, self._q_there, self._v_there = _places(model, scene, bodies)
        free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
        #: The first of the three angular velocities of each free body and ball there, and where its quaternion is.
        self._turning = [
            (int(model.jnt_dofadr[j]) + 3 * (kind == free), int(model.jnt_qposadr[j]) + 3 * (kind == free))
            for j, kind in enumerate(int(k) for k in model.jnt_type) if kind in (free, ball)
        ]
        #: What each velocity here moves, alone, at the start.
        self._inertia = np.zeros(scene.nv)
        self._inertia[self._v_here] = model.dof_M0[self._v_there]
        #: Where in q the joint of each velocity is, if it has one velocity.
        self._q_of = _q_of(scene)

    def step(self, data: Any, steps: int) -> None:
        """Make steps.

        Parameters
        ----------
        data
            MuJoCo's state.
        steps : int
        """
        for _ in range(steps):
            self._ask(data)
            self._mujoco.mj_step(self._model, data)
            if not np.isfinite(data.qpos).all():
                return

    def _ask(self, data: Any) -> None:
        """Forces and damping of the step from here."""
        simulation, dt = self._simulation, float(self._model.opt.timestep)
        q, v = self._state(data)
        simulation.q[:], simulation.v[:] = q, v
        asked = simulation._commands(float(data.time))
        at = np.where(self._q_of >= 0, q[np.maximum(self._q_of, 0)], 0.0)
        pull = asked["effort"] + asked["pull"] - asked["kp"] * at
        damping = asked["kd"] + dt * asked["kp"]
        # A motor that would go beyond its limit in the step stays at it: by the end of the step damping has taken its part.
        inertia = np.maximum(self._inertia, 1e-300)
        wanted = (pull - damping * v) * inertia / (inertia + dt * damping)
        possible = np.clip(wanted, asked["least"], asked["most"])
        over = possible != wanted
        pull, damping = np.where(over, possible, pull), np.where(over, 0.0, damping)
        told = np.isfinite(asked["prescribed"])
        if told.any():
            stiff = _RIGID * self._inertia / dt
            damping = np.where(told, stiff, damping)
            pull = np.where(told, stiff * np.where(told, asked["prescribed"], 0.0), pull)
        force = np.zeros(self._model.nv)
        force[self._v_there] = (pull + asked["force"])[self._v_here]
        data.qfrc_applied[:] = self._turned(data, force, inward=True)
        self._model.dof_damping[:] = self._damping
        self._model.dof_damping[self._v_there] += damping[self._v_here]

    def _state(self, data: Any) -> tuple[Array, Array]:
        """Configuration and velocities as they are here."""
        q, v = self._simulation.q.copy(), np.zeros(len(self._simulation.v))
        q[self._q_here] = data.qpos[self._q_there]
        v[self._v_here] = self._turned(data, np.array(data.qvel), inward=False)[self._v_there]
        return q, v

    def _turned(self, data: Any, rows: Array, *, inward: bool) -> Array:
        """Angular parts of free bodies and balls from world axes to the body's own, which are MuJoCo's, or back."""
        turn = np.zeros(9)
        for v, q in self._turning:
            self._mujoco.mju_quat2Mat(turn, data.qpos[q : q + 4])
            matrix = turn.reshape(3, 3)
            rows[v : v + 3] = (matrix.T if inward else matrix) @ rows[v : v + 3]
        return rows


def _places(model: Any, scene: Scene, bodies: Sequence[int]) -> tuple[npt.NDArray[np.int64], ...]:
    """Numbers in q and in v, here and in MuJoCo, that mean the same."""
    q_here: list[int] = []
    v_here: list[int] = []
    q_there: list[int] = []
    v_there: list[int] = []
    for name, body in zip(scene.bodies, bodies, strict=True):
        if model.body_jntnum[body] == 0:
            continue
        joint = int(model.body_jntadr[body])
        q, v = scene.q_slice(name), scene.v_slice(name)
        q_here += range(q.start, q.stop)
        v_here += range(v.start, v.stop)
        q_there += range(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + q.stop - q.start)
        v_there += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + v.stop - v.start)
    return tuple(np.array(x, dtype=np.int64) for x in (q_here, v_here, q_there, v_there))


def _q_of(scene: Scene) -> npt.NDArray[np.int64]:
    out = np.full(scene.nv, -1, dtype=np.int64)
    for name in scene.bodies:
        q, v = scene.q_slice(name), scene.v_slice(name)
        if v.stop - v.start == 1:
            out[v.start] = q.start
    return out

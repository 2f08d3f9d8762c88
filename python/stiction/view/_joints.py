"""Sliders for motors of robot files, and for servos that hold joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._stiction import Scene, Simulation
from ..errors import InputError
from ._runner import Runner

__all__ = ["Joints"]

#: Most sliders: a longer panel is of no use.
_MOST = 40
#: Natural frequency of a servo with what it moves (rad/s).
_FREQUENCY = 15.0
#: A slider's range where a joint or motor has no limits: rad, m or units of control.
_UNLIMITED = {"revolute": np.pi, "continuous": np.pi, "prismatic": 1.0, "": 1.0}


class Joints:
    """The sliders; a joint without a motor is held by a servo from when its slider is moved.

    Parameters
    ----------
    gui
        Of viser.
    runner : Runner
    scene : Scene
    """

    def __init__(self, gui: Any, runner: Runner, scene: Scene) -> None:
        self._gui = gui
        self._runner = runner
        self.handles: list[Any] = []
        limits = dict(zip(scene.actuators, scene.ctrl_limits.tolist()))
        for i, name in enumerate(runner.simulation.actuators):
            self._add(f"{name} (motor)", limits[name], "", 0.0, lambda x, i=i: self._control(i, x))
        trial = Simulation(scene)
        for name, kind in zip(scene.joints, scene.joint_types):
            if kind in ("revolute", "continuous", "prismatic") and len(self.handles) < _MOST:
                v = scene.v_slice(name).start
                if not _takes_servo(trial, v):
                    continue
                start = float(np.clip(0.0, *scene.joint_limits[v]))
                self._add(name, scene.joint_limits[v].tolist(), kind, start, lambda x, v=v: self._hold(v, x))
        if not self.handles:
            self.handles.append(gui.add_markdown("This scene has no joints with one axis."))

    def _add(self, name: str, limits: list[float], kind: str, start: float, changed: Any) -> None:
        if len(self.handles) >= _MOST:
            return
        low, high = (x if np.isfinite(x) else sign * _UNLIMITED[kind] for x, sign in zip(limits, (-1.0, 1.0)))
        if not low < high:
            return
        start = float(np.clip(start, low, high))
        slider = self._gui.add_slider(name, min=low, max=high, step=(high - low) / 400.0, initial_value=start)
        slider.on_update(lambda _: changed(float(slider.value)))
        self.handles.append(slider)

    def _control(self, i: int, x: float) -> None:
        def control() -> None:
            self._runner.simulation.ctrl[i] = x

        self._runner.do(control)

    def _hold(self, v: int, x: float) -> None:
        def hold() -> None:
            simulation = self._runner.simulation
            if simulation.kp[v] == 0.0:
                inertia = float(simulation.mass_matrix()[v, v])
                simulation.kp[v] = inertia * _FREQUENCY**2
                simulation.kd[v] = 2.0 * inertia * _FREQUENCY
            simulation.target[v] = x

        self._runner.do(hold)


def _takes_servo(trial: Simulation, v: int) -> bool:
    """Whether a servo may hold the joint of a velocity: not where a controller of the scene says how it moves."""
    trial.kp[v] += 1.0
    try:
        trial.geom_poses()
    except InputError:
        return False
    finally:
        trial.kp[v] -= 1.0
    return True

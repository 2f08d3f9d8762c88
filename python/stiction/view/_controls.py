"""The panel of a simulation that runs: run, pause, step, reset, speed; scene, contact, joints, plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._stiction import Scene
from ..contact import catalog
from ..scene import shipped, shipped_names
from ._changes import Changes
from ._contacts import ContactStyle
from ._frame import Frame
from ._history import SERIES
from ._joints import Joints
from ._plots import Plots
from ._runner import Runner
from ._style import add_style

__all__ = ["Controls"]

#: Simulated seconds per second, by what the buttons say.
_SPEEDS = {"0.1×": 0.1, "0.25×": 0.25, "1×": 1.0, "4×": 4.0, "max": np.inf}
#: What the menu of solvers calls that of the model.
_USUAL = "usual"


class Controls:
    """The panel.

    Parameters
    ----------
    server
        Of viser.
    runner : Runner
    style : callable
        Gives what is shown of contacts, to be changed.
    look : callable
        Moves the camera to where all is seen.
    add_menus : callable
        Adds the menus of what is seen.
    """

    def __init__(
        self, server: Any, runner: Runner, style: Callable[[], ContactStyle], look: Callable[[], None], add_menus: Callable[[], None]
    ) -> None:
        self._look = look
        self._gui = server.gui
        self._runner = runner
        self._style = style
        self._changes = Changes(runner)
        self._dynamic: list[Any] = []
        self._add_run()
        add_menus()
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Scene"):
            self._add_menu()
            self._scene_folder = self._gui.add_folder("Physics")
        with tabs.add_tab("Contact"):
            self._add_contact()
        with tabs.add_tab("Joints"):
            self._joints_folder = self._gui.add_folder("Targets")
        with tabs.add_tab("Plots"):
            self._plots = Plots(server, SERIES, cursor=False)
        self._add_of_scene()

    def show(self, frame: Frame) -> None:
        """Bring what changes by itself up to date."""
        t, series = self._runner.history.series()
        self._plots.update(t, series)
        running = self._runner.running
        if self._run.label != self._run_label(running):
            self._run.label = self._run_label(running)

    @staticmethod
    def _run_label(running: bool) -> str:
        return "Pause" if running else "Run"

    def _add_run(self) -> None:
        runner = self._runner
        self._run = self._gui.add_button(self._run_label(runner.running), color="blue")

        def run_or_pause(_: Any) -> None:
            # What the button says now is what was asked for, though a step may take long.
            running = not runner.running
            self._run.label = self._run_label(running)
            runner.do(lambda: runner.run(running), at_once=True)

        self._run.on_click(run_or_pause)
        buttons = self._gui.add_button_group("Once", ("Step", "Reset", "Frame"), hint="one step; back to the start; the camera back to where all is seen")

        def once(_: Any) -> None:
            if buttons.value == "Frame":
                self._look()
            else:
                # Another step waits for the one that is under way.
                runner.do(runner.step if buttons.value == "Step" else runner.reset, at_once=buttons.value == "Reset")

        buttons.on_click(once)
        speeds = self._gui.add_button_group("Speed", tuple(_SPEEDS))

        def chosen(_: Any) -> None:
            speed = _SPEEDS[speeds.value]

            def set_speed() -> None:
                runner.speed = speed

            runner.do(set_speed)

        speeds.on_click(chosen)

    # The scene.

    def _add_menu(self) -> None:
        names = shipped_names()
        first = self._changes.scene
        own = first.title or "as given"
        menu = self._gui.add_dropdown("Scene", (own, *(n for n in names if n != own)), initial_value=own)

        def changed(_: Any) -> None:
            scene = shipped(menu.value) if menu.value != own else first

            def change() -> None:
                self._runner.replace(scene, keep=False)
                self._changes.begin(scene)
                self._add_of_scene()

            self._runner.do(change, at_once=True)

        menu.on_update(changed)

    def _add_of_scene(self) -> None:
        """What depends on the scene: its parameters, settings and joints."""
        for handle in self._dynamic:
            handle.remove()
        self._dynamic = []
        scene = self._changes.scene
        with self._scene_folder:
            self._add_settings(scene)
            for name, value in scene.parameters.items():
                if np.isfinite(value):
                    self._add_parameter(name, value)
        self._model.options, self._solver.options = _models(scene), self._solvers[scene.model]
        self._model.value, self._solver.value = scene.model, scene.solver or _USUAL
        with self._joints_folder:
            self._dynamic += Joints(self._gui, self._runner, scene).handles

    def _slider(self, label: str, low: float, high: float, value: float, step: float, changed: Callable[[float], None], hint: str) -> None:
        low, high = min(low, value), max(high, value)
        slider = self._gui.add_slider(label, min=low, max=high, step=step, initial_value=value, hint=hint)
        slider.on_update(lambda _: changed(float(slider.value)))
        self._dynamic.append(slider)

    def _add_settings(self, scene: Scene) -> None:
        gravity = np.array(scene.gravity)
        size = float(np.linalg.norm(gravity))
        down = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        self._gravity = [size, 0.0]

        def pull(i: int, x: float) -> None:
            self._gravity[i] = x
            angle = np.radians(self._gravity[1])
            turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
            self._changes.set(gravity=[float(c) for c in self._gravity[0] * (turn @ down)])

        self._slider("Gravity", 0.0, 20.0, round(size, 2), 0.01, lambda x: pull(0, x), "m/s²")
        self._slider("Tilt", -60.0, 60.0, 0.0, 0.5, lambda x: pull(1, -x), "of gravity, towards x, in degrees")
        own = [g.friction for g in scene.geoms if g.friction is not None and np.isfinite(g.friction)]
        mu = round(float(np.median(own)), 3) if own else 0.5
        self._slider("Friction", 0.0, 1.5, mu, 0.005, lambda x: self._changes.set(friction=x), "of every surface, once it is moved")
        milliseconds = round(1e3 * scene.dt, 4)
        self._slider("Step", 0.1, 20.0, milliseconds, 0.05, lambda x: self._changes.set(dt=1e-3 * x), "length of a step in milliseconds")

    def _add_parameter(self, name: str, value: float) -> None:
        whole = value == round(value) and abs(value) >= 2.0
        low, high = (min(0.0, 3.0 * value), max(0.0, 3.0 * value)) if value != 0.0 else (-1.0, 1.0)
        step = 1.0 if whole else (high - low) / 300.0
        if whole and value > 0.0:
            low = 1.0

        self._slider(name, low, high, value, step, lambda x: self._changes.set_parameter(name, x), "parameter of the scene")

    # Contact.

    def _add_contact(self) -> None:
        scene = self._changes.scene
        self._solvers = {e["name"]: (_USUAL, *e["solvers"]) for e in catalog()}
        self._model = self._gui.add_dropdown("Model", _models(scene), initial_value=scene.model, hint="the law of contact and friction")
        self._solver = self._gui.add_dropdown("Solver", self._solvers[scene.model], initial_value=scene.solver or _USUAL)

        def other_model(event: Any) -> None:
            if event.client is not None:
                self._solver.options = self._solvers[self._model.value]
                self._solver.value = _USUAL
                self._changes.set(model=self._model.value, solver=None)

        def other_solver(event: Any) -> None:
            if event.client is not None:
                solver = None if self._solver.value == _USUAL else self._solver.value
                self._changes.set(model=self._model.value, solver=solver)

        self._model.on_update(other_model)
        self._solver.on_update(other_solver)

        add_style(self._gui, self._style, self._runner.offer_again)


def _models(scene: Scene) -> tuple[str, ...]:
    """Models that the scene can be simulated with."""
    level = "velocity" if scene.simulator == "time-stepping" else "acceleration"
    return tuple(e["name"] for e in catalog() if level in e["levels"])

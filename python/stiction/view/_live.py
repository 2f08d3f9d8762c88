"""A simulation on a page, while it runs."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .._stiction import Scene, Simulation
from ._between import Between
from ._controls import Controls
from ._frame import Frame
from ._light import Light
from ._runner import Runner
from ._viewer import Pace, Viewer

__all__ = ["LiveViewer"]

Array = npt.NDArray[np.float64]

#: Frames per second that are sent at most: some more than the 30 that are meant to arrive.
_RATE = 33.0
#: Steps that take more than this many pictures are shown as motion from one to the next.
_SLOW_FRAMES = 1.5
#: Plots and texts per second: slower, for they are read.
_SLOW_RATE = 4.0
#: A step that takes longer (s) is said to be under way.
_LONG_STEP = 0.4


class LiveViewer(Viewer):
    """A page that runs a simulation; made by `view`."""

    def __init__(self, server: Any, simulation: Simulation, *, run: bool, speed: float) -> None:
        super().__init__(server)
        self._runner = Runner(simulation, run=run, speed=speed)
        self._light = Light(server)
        self.frame, _ = self._runner.next_frame(0, 0.0)
        self._world = self.frame.world
        self._draw_scene(self.frame.scene, self.frame.poses)
        self._controls = Controls(
            server, self._runner, self._contact_style, lambda: self._look_at(self.frame.scene, self.frame.poses),
            lambda: self._add_view_menus(server.gui, self._runner.offer_again),
        )
        self._draw(self.frame)
        self._show_light(self.frame)
        self._runner.start()
        self._thread = threading.Thread(target=self._loop, name="stiction-viewer", daemon=True)
        self._thread.start()

    @property
    def simulation(self) -> Simulation:
        """The simulation. While it runs, another thread may find it busy; ``pause()`` first."""
        return self._runner.simulation

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._runner.running

    def run(self) -> None:
        """Let it run."""
        self._runner.do(lambda: self._runner.run(True))

    def pause(self) -> None:
        """Stop it, between two steps, and return when it stands. A step that takes long is abandoned, as if it had not begun."""
        stands = threading.Event()

        def pause() -> None:
            self._runner.run(False)
            stands.set()

        self._runner.do(pause, at_once=True)
        stands.wait(timeout=None if self._thread.is_alive() else 0.0)

    def show(self) -> None:
        """Show the state as it is now: after steps that you made yourself, with the viewer paused."""
        self._runner.do(lambda: None)

    def close(self) -> None:
        """Take the page down; the simulation is left as it is, between two steps."""
        if not self._closed.is_set():
            self._closed.set()
            self._runner.close()
            if threading.current_thread() is not self._thread:
                self._thread.join()
            self._stop_server()

    def _contact_style(self) -> Any:
        assert self._contacts is not None
        return self._contacts.style

    def _draw_shapes(self, scene: Scene, poses: Array) -> None:
        super()._draw_shapes(scene, poses)
        self._begin_drags()

    def _begin_drags(self) -> None:
        assert self._shapes is not None
        runner = self._runner

        def dragged(body: int, event: Any) -> None:
            target = np.array(event.end_position) - self._follow.shift
            held = np.array(event.start_position) - self._follow.shift
            if event.phase == "start":
                runner.do(lambda: runner.grab(body, held))
            if event.phase == "end":
                runner.do(runner.let_go)
            else:
                runner.do(lambda: runner.drag(target))
            # At once, though a step may take long.
            if self._contacts is not None:
                self._contacts.pull(*((None, None) if event.phase == "end" else (held, target)))

        self._shapes.on_drag(dragged)

    def _loop(self) -> None:
        seen, pace, slow = 1, Pace(), 0.0
        between, moving, due = Between(_SLOW_FRAMES / _RATE), False, 0.0
        while not self._closed.is_set():
            time.sleep(max(0.0, due - time.perf_counter()))
            frame, number = self._runner.next_frame(seen, 0.0 if moving else 0.5)
            busy = self._runner.busy()
            if busy > _LONG_STEP and time.perf_counter() - slow > 1.0 / _SLOW_RATE:
                slow = time.perf_counter()
                self._show_light(frame, busy=busy)
            if self._closed.is_set() or (number == seen and not moving):
                continue
            now = time.perf_counter()
            # A picture that is late does not make the next one late, but leaves others time.
            due = max(due + 1.0 / _RATE, now + 0.5 / _RATE)
            if number == seen:
                moving = between.moves(now)
                self._move(*between.at(now))
                continue
            seen = number
            if frame.world != self._world:
                self._world = frame.world
                self._draw_scene(frame.scene, frame.poses)
            between.add(frame, now, running=self._runner.running)
            moving = between.moves(now)
            self._draw(frame, *between.at(now))
            measured = pace.add(frame.t) if self._runner.running else None
            if time.perf_counter() - slow > 1.0 / _SLOW_RATE or not self._runner.running:
                slow = time.perf_counter()
                self._show_light(frame, pace=measured)
                self._controls.show(frame)

    def _show_light(self, frame: Frame, *, pace: float | None = None, busy: float = 0.0) -> None:
        self._light.show(frame, pace=pace, active=int((frame.contacts["normal_force"] > 0.0).sum()), busy=busy)

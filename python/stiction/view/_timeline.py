"""A recording on a page: scrub, play, jump, with plots that follow the cursor."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .._stiction import Recording, Simulation
from ._frame import Frame
from ._history import SERIES
from ._light import Light
from ._plots import Plots
from ._style import add_style
from ._viewer import Viewer

__all__ = ["TimelineViewer"]

#: Frames per second while it plays.
_RATE = 30.0
#: Plots per second while it plays.
_PLOT_RATE = 8.0
#: Recorded seconds per second, by what the buttons say.
_SPEEDS = {"0.1×": 0.1, "0.25×": 0.25, "1×": 1.0, "4×": 4.0}
#: Certificates below this are drawn as this.
_SMALLEST_CERTIFICATE = 1e-18


class TimelineViewer(Viewer):
    """A page that shows a recording; made by `view`."""

    def __init__(self, server: Any, recording: Recording, *, run: bool, speed: float) -> None:
        super().__init__(server)
        self.recording = recording
        self._trajectory = recording.trajectory()
        # For kinematics alone: it makes no step.
        self._simulation = Simulation(recording.scene, raises=False, separate=True)
        self._lock = threading.Lock()
        self._cursor = 0
        self._speed = speed
        self._playing = run and len(self._trajectory) > 1
        self._since = (time.perf_counter(), float(self._trajectory.t[0]))
        self._wake = threading.Event()
        self._light = Light(server)
        self.frame = self._look(0)
        self._draw_scene(recording.scene, self.frame.poses)
        self._add_controls(server)
        self._thread = threading.Thread(target=self._loop, name="stiction-timeline", daemon=True)
        self._thread.start()

    @property
    def cursor(self) -> int:
        """The row of the recording's trajectory that is shown; 0 is the state before its first step."""
        return self._cursor

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._playing

    def seek(self, row: int) -> None:
        """Show a row of the recording's trajectory."""
        with self._lock:
            self._cursor = int(np.clip(row, 0, len(self._trajectory) - 1))
            self._since = (time.perf_counter(), float(self._trajectory.t[self._cursor]))
        self._wake.set()

    def play(self, playing: bool = True) -> None:
        """Play from the cursor, or from the start where it is at the end; or pause."""
        last = len(self._trajectory) - 1
        if playing and self._cursor == last:
            self.seek(0)
        with self._lock:
            self._playing = playing and last > 0
            self._since = (time.perf_counter(), float(self._trajectory.t[self._cursor]))
        self._wake.set()

    def close(self) -> None:
        """Take the page down."""
        if not self._closed.is_set():
            self._closed.set()
            self._wake.set()
            if threading.current_thread() is not self._thread:
                self._thread.join()
            self._stop_server()

    # The panel.

    def _add_controls(self, server: Any) -> None:
        gui, last = server.gui, len(self._trajectory) - 1
        self._play = gui.add_button("Pause" if self._playing else "Play", color="blue")
        self._play.on_click(lambda _: self.play(not self._playing))
        self._slider = gui.add_slider("Step", min=0, max=max(last, 1), step=1, initial_value=0)

        def scrub(event: Any) -> None:
            if event.client is not None:
                self.seek(int(self._slider.value))

        self._slider.on_update(scrub)

        buttons = gui.add_button_group("Go", ("|<", "<", ">", ">|"))
        moves = {"|<": -last, "<": -1, ">": 1, ">|": last}

        def go(_: Any) -> None:
            self.play(False)
            self.seek(self._cursor + moves[buttons.value])

        buttons.on_click(go)

        speeds = gui.add_button_group("Speed", tuple(_SPEEDS))

        def set_speed(_: Any) -> None:
            self._speed = _SPEEDS[speeds.value]
            self.seek(self._cursor)

        speeds.on_click(set_speed)

        self._add_view_menus(gui, self._wake.set)
        self._add_jumps(gui)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Plots"):
            self._plots = Plots(server, SERIES, cursor=True)
        with tabs.add_tab("Contact"):
            contacts = self._contacts
            assert contacts is not None
            add_style(gui, lambda: contacts.style, self._wake.set)
        for note in [*self.recording.notes, *([self.recording.damage] if self.recording.damage else [])]:
            gui.add_markdown(f"⚠ {note}")

    def _add_jumps(self, gui: Any) -> None:
        kept = self._trajectory
        jumps = {"worst certificate": kept.certificate, "most contacts": kept.contacts, "largest force": kept.normal_force, "fastest slip": kept.slip}
        with gui.add_folder("Jump to"):
            for name, values in jumps.items():
                button = gui.add_button(name, color="gray")
                row = int(np.argmax(values))

                def jump(_: Any, row: int = row) -> None:
                    self.play(False)
                    self.seek(row)

                button.on_click(jump)

    # The thread that draws.

    def _look(self, row: int) -> Frame:
        kept, scene = self._trajectory, self.recording.scene
        self._simulation.q = kept.q[row]
        self._simulation.v = kept.v[row]
        contacts: npt.NDArray[Any] = self.recording.contacts(row - 1) if row > 0 else self._simulation.contacts
        verdict = "" if row == 0 else "accepted" if kept.accepted[row] else "certified"
        return Frame(
            world=0, scene=scene, step=row, t=float(kept.t[row]), poses=self._simulation.geom_poses(),
            bodies=self._simulation.poses[:, :3].copy(), contacts=contacts,
            certificate=float(kept.certificate[row]) if row > 0 else None, tolerance=scene.tolerance, verdict=verdict,
        )

    def _advance(self) -> int:
        """The row to show now."""
        with self._lock:
            if self._playing:
                wall, start = self._since
                t = start + self._speed * (time.perf_counter() - wall)
                row = int(np.searchsorted(self._trajectory.t, t, side="right")) - 1
                self._cursor = max(row, self._cursor)
                if self._cursor >= len(self._trajectory) - 1:
                    self._playing = False
            return self._cursor

    def _loop(self) -> None:
        shown, plotted, last_plot, times = -1, -1, 0.0, self._trajectory.t
        kept = self._trajectory
        series = {
            "energy": kept.energy, "force": kept.normal_force, "contacts": kept.contacts.astype(float), "work": kept.factorizations.astype(float),
            "slip": kept.slip, "certificate": np.log10(np.maximum(kept.certificate, _SMALLEST_CERTIFICATE)),
        }
        while not self._closed.is_set():
            row = self._advance()
            forced = self._wake.is_set()
            self._wake.clear()
            if row != shown or forced:
                shown = row
                frame = self._look(row)
                self._draw(frame)
                self._light.show(frame, pace=None, active=int(kept.contacts[row]))
                if self._slider.value != row:
                    self._slider.value = row
                label = "Pause" if self._playing else "Play"
                if self._play.label != label:
                    self._play.label = label
            if row != plotted and (not self._playing or time.perf_counter() - last_plot > 1.0 / _PLOT_RATE):
                plotted, last_plot = row, time.perf_counter()
                self._plots.update(times, series, float(times[row]))
            self._wake.wait(1.0 / _RATE)

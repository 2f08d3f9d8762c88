"""A simulation in a thread of its own, at its own pace: whoever looks at it never slows it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .._stiction import Scene, Simulation, StepReport
from ..errors import StepInterrupted, StictionError
from ._frame import Frame, Pull
from ._history import History
from ._spring import Spring

__all__ = ["Runner"]

Array = npt.NDArray[np.float64]

#: Frames per second that are offered to the page.
_RATE = 60.0
#: Without a frame for this long (s) somebody waits for a sign of life: a long step is shown when it is done.
_IDLE = 0.2
#: If it is this late (s), the simulation is slower than asked for: it goes on from here, at the pace it has.
_LATE = 0.1


class Runner:
    """Runs a simulation.

    Parameters
    ----------
    simulation : Simulation
    run : bool
        Whether it starts at once.
    speed : float
        Simulated seconds per second; infinite for as fast as it goes.
    """

    def __init__(self, simulation: Simulation, *, run: bool, speed: float) -> None:
        self.simulation = simulation
        self.running = run
        self.speed = speed
        self.history = History()
        self._raised, self._asked = simulation.raises, simulation.interrupt
        self._given = simulation
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = threading.Event()
        #: Somebody waits for the end of the step, whatever it comes to.
        self._hurry = threading.Event()
        self._stop = False
        #: Since when the step that is under way is made (s); None between steps.
        self._since: float | None = None
        #: The last step was abandoned, so that the simulation no longer knows its contacts.
        self._abandoned = False
        self._adopt(simulation)
        self._spring: Spring | None = None
        self._pull: Pull | None = None
        self._report: StepReport | None = None
        self._failed = ""
        self._world = 0
        self._news = threading.Condition()
        self._frame = self._look()
        self._count = 1
        self._thread = threading.Thread(target=self._loop, name="stiction-simulation", daemon=True)

    def _adopt(self, simulation: Simulation) -> None:
        """Run this one from here on: it reports failed steps, and ends a step that somebody does not want any more."""
        self.simulation = simulation
        simulation.raises = False
        simulation.interrupt = self._hurry.is_set

    def start(self) -> None:
        """Begin to run."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; the simulation is left in order, between two steps. A step that is under way is abandoned."""
        self._stop = True
        self._hurry.set()
        self._wake.set()
        with self._news:
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._let_go()
        for simulation in (self.simulation, self._given):
            simulation.raises, simulation.interrupt = self._raised, self._asked

    def do(self, command: Callable[[], None], *, at_once: bool = False) -> None:
        """Do something between two steps, in the thread of the simulation.

        Parameters
        ----------
        command : callable
        at_once : bool
            Whether the step that is under way is abandoned for it: as if it had not begun.
        """
        self._commands.put(command)
        if at_once:
            self._hurry.set()
        self._wake.set()

    def busy(self) -> float:
        """For how long the step that is under way has been made (s); 0 between steps."""
        since = self._since
        return 0.0 if since is None else time.perf_counter() - since

    def offer_again(self) -> None:
        """Offer the latest frame as a new one: it is to be drawn otherwise."""
        with self._news:
            self._count += 1
            self._news.notify_all()

    def next_frame(self, after: int, timeout: float) -> tuple[Frame, int]:
        """The latest frame and its number, once there is one after the given number or time is up."""
        with self._news:
            self._news.wait_for(lambda: self._count > after or self._stop, timeout)
            return self._frame, self._count

    # Commands, to be given to `do`.

    def run(self, running: bool) -> None:
        """Run or pause."""
        self.running = running
        self._failed = ""

    def step(self) -> None:
        """Pause, and make one step."""
        self.running = False
        self._failed = ""
        self._make_step()

    def reset(self) -> None:
        """Back to the start of the scene."""
        self._let_go()
        self.simulation.reset()
        self._report, self._failed, self._abandoned = None, "", False
        self.history.clear()

    def replace(self, scene: Scene, *, keep: bool, same_shapes: bool = False) -> None:
        """Go on with another scene: from the state it is in, or from its start where that is not asked for or does not fit."""
        self._let_go()
        if keep:
            try:
                self._adopt(self.simulation.with_scene(scene))
            except StictionError:
                keep = False
        if not keep:
            self._adopt(Simulation(scene, raises=False, separate=True))
            self.history.clear()
        if not (keep and same_shapes):
            self._world += 1
        self._report, self._failed, self._abandoned = None, "", False

    def grab(self, body: int, held: Array) -> None:
        """Hold a body at a point of the world."""
        self._let_go()
        self._spring = Spring(self.simulation, body, held)
        self._pull = Pull(held, held, np.zeros(3))

    def drag(self, target: Array) -> None:
        """Pull what is held to there."""
        if self._spring is not None:
            self._spring.target = target
            if self._pull is not None and not self.running:
                self._pull = Pull(self._pull.held, target, self._pull.force)

    def let_go(self) -> None:
        """Hold nothing."""
        self._let_go()

    # The thread.

    def _loop(self) -> None:
        anchor = (time.perf_counter(), self.simulation.t)
        shown = 0.0
        while not self._stop:
            if self._obey():
                anchor = (time.perf_counter(), self.simulation.t)
                shown = 0.0
            now = time.perf_counter()
            if self.running:
                ahead = self.simulation.t - anchor[1] - self.speed * (now - anchor[0])
                if ahead < 0.0:
                    self._make_step()
                    if -ahead > _LATE * max(self.speed, 1e-9) or not np.isfinite(self.speed):
                        anchor = (time.perf_counter(), self.simulation.t)
                else:
                    self._wait(min(ahead / self.speed, 1.0 / _RATE))
            elif shown != 0.0:
                self._wait(_IDLE)
            if time.perf_counter() - shown >= 1.0 / _RATE and (self.running or shown == 0.0):
                self._offer()
                shown = time.perf_counter()

    def _wait(self, seconds: float) -> None:
        if self._wake.wait(seconds):
            self._wake.clear()

    def _obey(self) -> bool:
        """Do what was asked for; True if there was something."""
        any_done = False
        while True:
            # Before the look: a command that comes after it may end the next step.
            self._hurry.clear()
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return any_done
            any_done = True
            try:
                command()
            except Exception as error:  # whatever a button asked for, the thread lives on and says what is wrong
                self.running = False
                self._failed = str(error) or type(error).__name__

    def _make_step(self) -> None:
        self._since = time.perf_counter()
        try:
            report = self._step()
        except StepInterrupted:
            self._abandoned = True
            return
        except StictionError as error:
            self.running = False
            self._failed = str(error)
            return
        finally:
            self._since = None
        self._report, self._abandoned = report, False
        if report.ok or report.accepted:
            self.history.add(self.simulation, report)
            return
        self.running = False
        self._failed = report.why

    def _step(self) -> StepReport:
        while True:
            try:
                if self._spring is not None:
                    self._pull = self._spring.apply(self.simulation)
                report = self.simulation.step()
                if not report.ok and not report.accepted and self._spring is not None:
                    # Without the pull the step is that of the scene alone.
                    self._let_go()
                    report = self.simulation.step()
                return report
            except (StepInterrupted, KeyboardInterrupt) as error:
                # Ctrl-C never comes to this thread: it is what a step says whose threads were ended.
                if self._stop or not self._commands.empty():
                    raise StepInterrupted(str(error)) from None
                # What it was ended for was done before it began.
                self._hurry.clear()

    def _let_go(self) -> None:
        if self._spring is not None:
            self._spring.release(self.simulation)
        self._spring, self._pull = None, None

    def _offer(self) -> None:
        frame = self._look()
        with self._news:
            self._frame = frame
            self._count += 1
            self._news.notify_all()

    def _look(self) -> Frame:
        simulation, report = self.simulation, self._report
        return Frame(
            world=self._world, scene=simulation.scene, step=simulation.steps, t=simulation.t, poses=simulation.geom_poses(),
            bodies=simulation.poses[:, :3].copy(), contacts=self._frame.contacts if self._abandoned else simulation.contacts,
            certificate=None if report is None else report.certificate, tolerance=simulation.scene.tolerance, verdict=self._verdict(),
            why=self._failed, pull=self._pull,
        )

    def _verdict(self) -> str:
        if self._failed:
            return "failed"
        if self._report is None:
            return ""
        return "certified" if self._report.ok else "accepted" if self._report.accepted else "failed"

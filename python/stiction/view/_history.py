"""What the last seconds of a run came to, for plots: a fixed amount of memory."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
import numpy.typing as npt

from .._stiction import Simulation, StepReport

__all__ = ["SERIES", "History"]

Array = npt.NDArray[np.float64]

#: Names of the series and what their plots are called.
SERIES = {
    "energy": "energy (J)",
    "force": "sum of normal forces (N)",
    "contacts": "contacts with a force",
    "work": "factorizations",
    "slip": "largest slip speed (m/s)",
    "certificate": "certificate, log10",
}
#: Points that are kept of each.
_POINTS = 600
#: Certificates below this are drawn as this.
_SMALLEST_CERTIFICATE = 1e-18


class History:
    """Keeps a point every so many steps: ten seconds of a run in real time."""

    def __init__(self, seconds: float = 10.0) -> None:
        self._lock = threading.Lock()
        self._rows: deque[tuple[float, ...]] = deque(maxlen=_POINTS)
        self._every = seconds / _POINTS

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._rows.clear()

    def add(self, simulation: Simulation, report: StepReport) -> None:
        """Keep the last step, if it is time for one."""
        t = simulation.t
        with self._lock:
            if self._rows and 0.0 <= t - self._rows[-1][0] < self._every:
                return
            if self._rows and t < self._rows[-1][0]:
                self._rows.clear()
        kinetic, potential = simulation.energy()
        force = float(simulation.contacts["normal_force"].sum())
        certificate = float(np.log10(max(report.certificate, _SMALLEST_CERTIFICATE)))
        row = (t, kinetic + potential, force, float(report.active), float(report.factorizations), report.slip, certificate)
        with self._lock:
            self._rows.append(row)

    def series(self) -> tuple[Array, dict[str, Array]]:
        """Times (s), and the values of each series."""
        with self._lock:
            rows = np.array(self._rows, dtype=np.float64).reshape(-1, 1 + len(SERIES))
        return rows[:, 0], {name: rows[:, k + 1] for k, name in enumerate(SERIES)}

"""Plots in the panel that follow a cursor in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Plots"]

Array = npt.NDArray[np.float64]

#: Points of a line: about as many as a plot is wide.
_POINTS = 400


class Plots:
    """Lines over time, one plot each, with a vertical line at the cursor.

    Parameters
    ----------
    server
        Of viser.
    titles : dict
        Titles of the plots, by the names of their series.
    cursor : bool
        Whether there is one.
    """

    def __init__(self, server: Any, titles: dict[str, str], *, cursor: bool) -> None:
        empty = np.array([0.0, 1.0])
        line = {"stroke": "#2e62a0", "width": 1.5, "points": {"show": False}}
        now = {"label": "now", "stroke": "#c2255c", "width": 1.0, "points": {"show": False}}
        lines = (empty, 0.0 * empty, 0.0 * empty) if cursor else (empty, 0.0 * empty)
        more = (now,) if cursor else ()
        self._cursor = cursor
        axis = {"font": "10px sans-serif", "size": 26}
        self._plots = {
            name: server.gui.add_uplot(
                lines, ({"label": "t"}, {"label": name, **line}, *more), title=title, height=130,
                legend={"show": False}, scales={"x": {"time": False}}, axes=(axis, {**axis, "size": 46}), padding=(8, 8, 0, 0),
            )
            for name, title in titles.items()
        }

    def update(self, t: Array, series: dict[str, Array], at: float = 0.0) -> None:
        """Draw series over times (s), with the cursor, if there is one, at a time."""
        if len(t) < 2:
            return
        keep = np.unique(np.linspace(0, len(t) - 1, min(len(t), _POINTS)).round().astype(np.int64))
        # Of an even sample a peak may be missing: each point is the largest of those it stands for.
        for name, values in series.items():
            drawn = values[keep] if len(keep) == len(t) else np.maximum.reduceat(values, keep)
            x, y = t[keep], drawn
            if not self._cursor:
                self._plots[name].data = (x, y)
                continue
            low, high = float(drawn.min()), float(drawn.max())
            if high - low < 1e-12 * max(abs(high), 1e-300):
                low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
            # A line up and down again at the cursor, along the lower edge elsewhere.
            place = int(np.searchsorted(x, at))
            x = np.insert(x, [place] * 3, [at] * 3)
            y = np.insert(y, [place] * 3, [np.interp(at, t[keep], drawn)] * 3)
            now = np.insert(np.full(len(keep), low), [place] * 3, [low, high, low])
            self._plots[name].data = (x, y, now)

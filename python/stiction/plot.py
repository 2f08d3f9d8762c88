"""Figures with matplotlib: trajectories, forces, energy, slip, certificates, work.

Every function takes a `Trajectory` or a `Recording`, draws into the axes given, or into new ones, and returns them. Legends stand above the axes.

Examples
--------
>>> import matplotlib; matplotlib.use("Agg")
>>> import stiction, stiction.plot
>>> scene = stiction.SceneBuilder().ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=stiction.scene.box(0.2, 0.2, 0.2)).build()
>>> trajectory = stiction.record(stiction.Simulation(scene), 20)
>>> stiction.plot.energy(trajectory).get_ylabel()
'energy (J)'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

try:
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator
except ImportError as error:  # pragma: no cover
    raise ImportError("stiction.plot needs matplotlib: pip install 'stiction[plot]'") from error

from ._stiction import Recording, Simulation
from .sim import Mode, Trajectory

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["certificates", "contacts", "difference", "energy", "forces", "slip", "summary", "trajectory", "work"]

Array = npt.NDArray[np.float64]

#: Below this a certificate, or a slip speed (m/s), is drawn as if it were this: zero has no place on a logarithmic axis.
_EXACT = 1e-18
#: More lines than this have no legend, and are thin.
_MOST_NAMED = 12

_COLORS = {Mode.OPEN: "0.6", Mode.STICK: "tab:blue", Mode.SLIDE: "tab:red"}


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _rows(source: Trajectory | Recording) -> Trajectory:
    return source.trajectory() if isinstance(source, Recording) else source


def _legend(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """A legend above the axes, where no data is."""
    shown = list(handles) if handles is not None else ax.get_legend_handles_labels()[0]
    if shown:
        columns = min(len(shown), 4)
        ax.legend(handles=shown, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, borderaxespad=0.2, fontsize="small")


def _per_step(t: Array, values: Array, label: str, unit: str, ax: Axes | None) -> Axes:
    """A dot for each step, on a logarithmic axis."""
    ax = _axes(ax)
    ax.semilogy(t[1:], np.maximum(values[1:], _EXACT), ".", markersize=3, label=label)
    ax.set_xlabel("time (s)")
    ax.set_ylabel(unit)
    _legend(ax)
    return ax


def trajectory(trajectory: Trajectory | Recording, bodies: Sequence[str] | None = None, *, axis: str = "xyz", ax: Axes | None = None) -> Axes:
    """Positions of bodies over time.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    bodies : sequence of str, optional
        Default: all.
    axis : str
        Which of the coordinates: letters of ``"xyz"``.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax, rows = _axes(ax), _rows(trajectory)
    names = rows.scene.bodies if bodies is None else list(bodies)
    few = len(names) * len(axis) <= _MOST_NAMED
    for name in names:
        for letter in axis:
            style = {"label": f"{name} {letter}"} if few else {"color": f"C{'xyz'.index(letter)}", "linewidth": 0.6, "alpha": 0.6}
            ax.plot(rows.t, rows.position(name)[:, "xyz".index(letter)], **style)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("position (m)")
    if few:
        _legend(ax)
    else:
        _legend(ax, [Line2D([], [], color=f"C{'xyz'.index(letter)}", label=letter) for letter in axis])
    return ax


def forces(trajectory: Trajectory | Recording, *, ax: Axes | None = None) -> Axes:
    """The sum of all normal forces over time, and the number of contacts with a force.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax, rows = _axes(ax), _rows(trajectory)
    ax.plot(rows.t[1:], rows.normal_force[1:], label="normal forces")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("force (N)")
    other = ax.twinx()
    other.step(rows.t[1:], rows.contacts[1:], color="0.6", where="post", label="contacts")
    other.set_ylabel("contacts with a force")
    other.yaxis.set_major_locator(MaxNLocator(integer=True))
    # From 0: a force that is constant but for rounding is a straight line. Contacts lie below, so that none hides the other.
    ax.set_ylim(0.0, 1.1 * (float(rows.normal_force[1:].max(initial=0.0)) or 1.0))
    other.set_ylim(0.0, 1.6 * (int(rows.contacts[1:].max(initial=0)) or 1))
    _legend(ax, [*ax.lines, *other.lines])
    return ax


def energy(trajectory: Trajectory | Recording, *, ax: Axes | None = None) -> Axes:
    """Kinetic and potential energy over time, and their sum.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax, rows = _axes(ax), _rows(trajectory)
    ax.plot(rows.t, rows.kinetic, label="kinetic")
    ax.plot(rows.t, rows.potential, label="potential")
    ax.plot(rows.t, rows.energy, "k--", label="both")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("energy (J)")
    _legend(ax)
    return ax


def slip(trajectory: Trajectory | Recording, *, ax: Axes | None = None) -> Axes:
    """The largest slip speed of a contact with a force over time; contacts that hold have one of rounding.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    rows = _rows(trajectory)
    return _per_step(rows.t, rows.slip, "largest slip speed", "slip speed (m/s)", ax)


def certificates(trajectory: Trajectory | Recording, *, ax: Axes | None = None) -> Axes:
    """The largest measure of each step's certificate over time, beside the tolerance.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    rows = _rows(trajectory)
    ax = _per_step(rows.t, rows.certificate, "certificate", "largest measure", ax)
    ax.axhline(rows.scene.tolerance, color="tab:red", linestyle="--", label="tolerance")
    _legend(ax)
    return ax


def work(trajectory: Trajectory | Recording, *, ax: Axes | None = None) -> Axes:
    """What each step took: linear systems that were factored, and pivots or iterations.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax, rows = _axes(ax), _rows(trajectory)
    ax.step(rows.t[1:], rows.pivots[1:], color="0.6", linewidth=0.8, where="pre", label="pivots")
    ax.step(rows.t[1:], rows.factorizations[1:], linewidth=1.2, where="pre", label="factorizations")
    ax.set_ylim(bottom=0.0)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("time (s)")
    ax.set_ylabel("per step")
    _legend(ax)
    return ax


def difference(
    a: Trajectory | Recording, b: Trajectory | Recording, bodies: Sequence[str] | None = None, *, labels: Sequence[str] = ("a", "b"), ax: Axes | None = None
) -> Axes:
    """How far bodies are from where they began in two runs of the same bodies, and how far apart the two runs are.

    Parameters
    ----------
    a, b : Trajectory or Recording
    bodies : sequence of str, optional
        Default: all; the one that is farthest apart at each time counts.
    labels : sequence of two str
        Names of the runs.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    pair = [_rows(a), _rows(b)]
    names = pair[0].scene.bodies if bodies is None else list(bodies)
    tracks = [np.stack([rows.position(name) for name in names], axis=1) for rows in pair]
    for rows, track, label in zip(pair, tracks, labels, strict=True):
        ax.plot(rows.t, np.linalg.norm(track - track[0], axis=2).max(axis=1), label=f"{label}: from its start")
    last = min(rows.t[-1] for rows in pair)
    t = pair[0].t[pair[0].t <= last]
    other = np.stack([[np.interp(t, pair[1].t, tracks[1][:, i, k]) for k in range(3)] for i in range(len(names))])
    apart = np.linalg.norm(tracks[0][: len(t)] - other.transpose(2, 0, 1), axis=2).max(axis=1)
    ax.plot(t, apart, "k--", label="difference")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("distance (m)")
    _legend(ax)
    return ax


def contacts(simulation: Simulation, *, plane: str = "xz", scale: float | None = None, ax: Axes | None = None) -> Axes:
    """The contacts of the last step with their forces as arrows on body b, colored by what they do: stick blue, slide red, open grey.

    Parameters
    ----------
    simulation : Simulation
    plane : str
        The two coordinates to draw.
    scale : float, optional
        Newtons per metre of arrow; default: the largest is a fifth of the figure.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    found = simulation.contacts
    i, j = ("xyz".index(letter) for letter in plane)
    point, force = found["point"][:, [i, j]], found["force"][:, [i, j]]
    largest = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    extent = float(np.ptp(point, axis=0).max()) if len(found) else 0.0
    per_metre = scale if scale is not None else (largest or 1.0) / (0.2 * (extent or 1.0))
    for mode in Mode:
        of = found["mode"] == mode
        if of.any():
            label = mode.name.lower()
            ax.plot(*point[of].T, "o", color=_COLORS[mode], markersize=4, label=label)
            ax.quiver(*point[of].T, *force[of].T / per_metre, color=_COLORS[mode], angles="xy", scale_units="xy", scale=1, width=0.004)
    # Axes are fitted to points alone, and would cut arrows off.
    ax.update_datalim(np.concatenate([point, point + force / per_metre]))
    ax.autoscale_view()
    ax.set_xlabel(f"{plane[0]} (m)")
    ax.set_ylabel(f"{plane[1]} (m)")
    ax.set_aspect("equal", adjustable="datalim")
    _legend(ax)
    return ax


def summary(trajectory: Trajectory | Recording, bodies: Sequence[str] | None = None) -> Figure:
    """Trajectories, forces, energy, slip, certificates and work in one figure.

    Parameters
    ----------
    trajectory : Trajectory or Recording
    bodies : sequence of str, optional
        Whose positions are drawn. Default: all.

    Returns
    -------
    Figure
    """
    rows = _rows(trajectory)
    figure, grid = plt.subplots(4, 2, figsize=(10, 12), layout="constrained")
    axes = grid.ravel()
    for letter, ax in zip("xyz", axes, strict=False):
        _positions(rows, bodies, axis=letter, ax=ax)
        ax.set_ylabel(f"position {letter} (m)")
    for draw, ax in zip((forces, energy, slip, certificates, work), axes[3:], strict=True):
        draw(rows, ax=ax)
    figure.suptitle(rows.scene.title)
    return figure


#: `trajectory` where that name means something else.
_positions = trajectory

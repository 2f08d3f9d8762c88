"""Figures with matplotlib: trajectories, forces, energy, certificates.

Every function draws into the axes given, or into new ones, and returns them.

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

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
except ImportError as error:  # pragma: no cover
    raise ImportError("stiction.plot needs matplotlib: pip install 'stiction[plot]'") from error

from ._stiction import Simulation
from .sim import Mode, Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["certificates", "contacts", "energy", "forces", "summary", "trajectory"]

#: Below this a certificate is drawn as if it were this: zero has no place on a logarithmic axis.
_EXACT = 1e-18

_COLORS = {Mode.OPEN: "0.6", Mode.STICK: "tab:blue", Mode.SLIDE: "tab:red"}


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def trajectory(trajectory: Trajectory, bodies: Sequence[str] | None = None, *, axis: str = "xyz", ax: Axes | None = None) -> Axes:
    """Positions of bodies over time.

    Parameters
    ----------
    trajectory : Trajectory
    bodies : sequence of str, optional
        Default: all.
    axis : str
        Which of the coordinates: letters of ``"xyz"``.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    for name in trajectory.scene.bodies if bodies is None else bodies:
        for letter in axis:
            ax.plot(trajectory.t, trajectory.position(name)[:, "xyz".index(letter)], label=f"{name} {letter}")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("position (m)")
    if len(ax.lines) <= 12:
        ax.legend()
    return ax


def forces(trajectory: Trajectory, *, ax: Axes | None = None) -> Axes:
    """The sum of all normal forces over time, and the number of contacts with a force.

    Parameters
    ----------
    trajectory : Trajectory
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    ax.plot(trajectory.t[1:], trajectory.normal_force[1:], label="normal forces")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("force (N)")
    other = ax.twinx()
    other.step(trajectory.t[1:], trajectory.contacts[1:], color="0.6", where="post", label="contacts")
    other.set_ylabel("contacts with a force")
    other.yaxis.set_major_locator(MaxNLocator(integer=True))
    # From 0: a force that is constant but for rounding is a straight line. Contacts lie below, so that none hides the other.
    ax.set_ylim(0.0, 1.1 * (float(trajectory.normal_force[1:].max(initial=0.0)) or 1.0))
    other.set_ylim(0.0, 1.6 * (int(trajectory.contacts[1:].max(initial=0)) or 1))
    ax.legend(handles=[*ax.lines, *other.lines])
    return ax


def energy(trajectory: Trajectory, *, ax: Axes | None = None) -> Axes:
    """Kinetic and potential energy over time, and their sum.

    Parameters
    ----------
    trajectory : Trajectory
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    ax.plot(trajectory.t, trajectory.kinetic, label="kinetic")
    ax.plot(trajectory.t, trajectory.potential, label="potential")
    ax.plot(trajectory.t, trajectory.energy, "k--", label="both")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("energy (J)")
    ax.legend()
    return ax


def certificates(trajectory: Trajectory, *, ax: Axes | None = None) -> Axes:
    """The largest measure of each step's certificate over time, beside the tolerance.

    Parameters
    ----------
    trajectory : Trajectory
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    ax.semilogy(trajectory.t[1:], np.maximum(trajectory.certificate[1:], _EXACT), ".", markersize=3, label="certificate")
    ax.axhline(trajectory.scene.tolerance, color="tab:red", linestyle="--", label="tolerance")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("largest measure")
    ax.legend()
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
    ax.set_xlabel(f"{plane[0]} (m)")
    ax.set_ylabel(f"{plane[1]} (m)")
    ax.set_aspect("equal", adjustable="datalim")
    if len(found):
        ax.legend()
    return ax


def summary(trajectory: Trajectory, bodies: Sequence[str] | None = None) -> Figure:
    """Trajectories, forces, energy and certificates in one figure.

    Parameters
    ----------
    trajectory : Trajectory
    bodies : sequence of str, optional
        Default: all.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    _positions(trajectory, bodies, ax=axes[0, 0])
    forces(trajectory, ax=axes[0, 1])
    energy(trajectory, ax=axes[1, 0])
    certificates(trajectory, ax=axes[1, 1])
    figure.suptitle(trajectory.scene.title)
    return figure


#: `trajectory` where that name means something else.
_positions = trajectory

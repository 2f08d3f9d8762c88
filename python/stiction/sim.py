"""Simulations, and what they leave: trajectories, inverse dynamics, modes of contacts."""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ._stiction import BatchSimulation, EnergyBalance, PhysicalCertificate, RunReport, Scene, Simulation, StepReport, _dtypes

__all__ = [
    "CONTACT_DTYPE",
    "PAIR_DTYPE",
    "BatchSimulation",
    "EnergyBalance",
    "InverseDynamics",
    "Mode",
    "Recorder",
    "RunReport",
    "Simulation",
    "StepReport",
    "Trajectory",
    "inverse_dynamics",
    "record",
]

Array = npt.NDArray[np.float64]

#: Fields of ``Simulation.contacts``.
CONTACT_DTYPE: np.dtype[Any] = _dtypes["contact"]
#: Fields of ``Simulation.contact_pairs``.
PAIR_DTYPE: np.dtype[Any] = _dtypes["pair"]


class Mode(enum.IntEnum):
    """What a contact does: the field ``mode`` of ``Simulation.contacts``."""

    OPEN = 0
    STICK = 1
    SLIDE = 2


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """What a recorded run came to, a row per kept step; the first row is the state before the run.

    Attributes
    ----------
    scene : Scene
    report : RunReport
        How the run went.
    step : ndarray of int, (k,)
        Numbers of the steps, from 0; -1 for the state before the run.
    t : ndarray, (k,)
        Times (s).
    q : ndarray, (k, nq)
        Configurations.
    v : ndarray, (k, nv)
        Velocities.
    positions : ndarray, (k, bodies, 3)
        Origins of the bodies (m).
    orientations : ndarray, (k, bodies, 4)
        Their quaternions w, x, y, z.
    kinetic, potential : ndarray, (k,)
        Energies (J).
    certificate : ndarray, (k,)
        Largest measure of each step's certificate.
    accepted : ndarray of bool, (k,)
        Whether the step was accepted without being certified (``on_failure="accept"``).
    pivots : ndarray of int, (k,)
        Pivots or iterations of each step.
    factorizations : ndarray of int, (k,)
        Linear systems that each step factored; 0 in recordings of before these were recorded.
    contacts : ndarray of int, (k,)
        Contacts with a force.
    normal_force : ndarray, (k,)
        Sum of all normal forces (N).
    slip : ndarray, (k,)
        Largest slip speed of a contact with a force (m/s).
    """

    scene: Scene
    report: RunReport
    step: npt.NDArray[np.int64]
    t: Array
    q: Array
    v: Array
    positions: Array
    orientations: Array
    kinetic: Array
    potential: Array
    certificate: Array
    accepted: npt.NDArray[np.bool_]
    pivots: npt.NDArray[np.int64]
    factorizations: npt.NDArray[np.int64]
    contacts: npt.NDArray[np.int64]
    normal_force: Array
    slip: Array

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy together (J), (k,)."""
        return self.kinetic + self.potential

    def position(self, body: str | int) -> Array:
        """Positions of a body's origin.

        Parameters
        ----------
        body : str or int

        Returns
        -------
        ndarray, (k, 3)
            In metres.
        """
        track: Array = self.positions[:, self.scene.body(body)]
        return track

    def __len__(self) -> int:
        return len(self.t)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the arrays to an ``.npz`` file, which ``numpy.load`` reads: under their names here, which are those of ``stiction export``, with
        ``bodies``, ``q_names``, ``v_names`` and ``dt`` of the scene.

        Parameters
        ----------
        file : str or path
        """
        of = self.scene
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("scene", "report")}
        names = {"bodies": of.bodies, "q_names": of.q_names, "v_names": of.v_names}
        arrays |= {key: np.array(x, dtype=np.str_) for key, x in names.items()}
        np.savez(file, **arrays, dt=np.float64(of.dt))

    def __repr__(self) -> str:
        return f"Trajectory({self.scene.title!r}, rows={len(self)}, t={self.t[0]:.6g} to {self.t[-1]:.6g}, report={self.report!r})"

    def _repr_html_(self) -> str:
        from ._html import render

        return render(self)


class Recorder:
    """Writes all steps of a simulation to a recording, for ``stiction replay``, ``view``, ``plot``, ``extract`` and ``export``, until it is closed.

    However the simulation is stepped, and whatever is done to it between steps (inputs, wrenches, mocap bodies, state, parameters), is recorded, so
    that ``stiction replay`` finds no bit that differs. Steps go forward: after ``reset`` or ``load_state`` a recording cannot go on.

    Parameters
    ----------
    simulation : Simulation
    path : str or path
    every : int
        Record every so many steps.
    overwrite : bool
        Whether a file that exists is replaced; by default it is a `FileExistsError`.

    Examples
    --------
    >>> import stiction, tempfile
    >>> simulation = stiction.Simulation(stiction.scene.shipped("slide"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with stiction.Recorder(simulation, f"{folder}/slide.rec"):
    ...         for _ in range(10):
    ...             simulation.force[0] = 1.0
    ...             _ = simulation.step()
    ...     len(stiction.Recording(f"{folder}/slide.rec"))
    10
    """

    def __init__(self, simulation: Simulation, path: str | os.PathLike[str], *, every: int = 1, overwrite: bool = False) -> None:
        simulation._begin_recording(path, every, overwrite)
        self._simulation: Simulation | None = simulation
        self.path = os.fspath(path)

    def close(self) -> None:
        """Ends the recording; the simulation goes on. A second time it does nothing."""
        simulation, self._simulation = self._simulation, None
        if simulation is not None:
            simulation._end_recording()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Recorder({self.path!r}, {'closed' if self._simulation is None else 'open'})"


def record(
    simulation: Simulation,
    steps: int | None = None,
    *,
    every: int = 1,
    controller: Callable[[Simulation], object] | None = None,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Trajectory:
    """Run a simulation and keep what it came to, with the GIL released.

    Parameters
    ----------
    simulation : Simulation
    steps : int, optional
        Default: those of the scene's duration.
    every : int
        Keep every so many steps.
    controller : callable, optional
        Called with the simulation before each step, to set its inputs.
    path : str or path, optional
        Write a recording, too, which ``stiction replay``, ``view``, ``plot``, ``extract`` and ``export`` read: see `Recorder`.
    overwrite : bool
        Whether a recording that exists is replaced.

    Returns
    -------
    Trajectory
        Of a simulation with ``raises=False`` also where a step failed: what was kept up to there, and ``report`` says why.

    Raises
    ------
    StepFailed, InputError, BusyError
        As ``simulation.run``.
    FileExistsError
        The recording is there already.

    Examples
    --------
    >>> import stiction
    >>> scene = stiction.SceneBuilder().body("ball", mass=1.0, shape=stiction.scene.sphere(0.1)).build()
    >>> trajectory = stiction.record(stiction.Simulation(scene), 100, every=10)
    >>> trajectory.position("ball").shape
    (11, 3)
    """
    with contextlib.nullcontext() if path is None else Recorder(simulation, path, every=every, overwrite=overwrite):
        report, arrays = simulation._record(steps, every, controller)
    return Trajectory(scene=simulation.scene, report=report, **arrays)


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics:
    """Efforts that an acceleration takes, with the contact forces that go with it.

    Attributes
    ----------
    effort : ndarray, (nv,)
        Of the actuated joints (N, N m); 0 for the others.
    acceleration : ndarray, (nv,)
        Of all velocities: as asked for where actuated, what follows elsewhere.
    contacts : structured ndarray
        As ``Simulation.contacts``.
    certificate : PhysicalCertificate
    """

    effort: Array
    acceleration: Array
    contacts: npt.NDArray[Any]
    certificate: PhysicalCertificate

    def __repr__(self) -> str:
        return f"InverseDynamics(nv={len(self.effort)}, contacts={len(self.contacts)}, certificate={self.certificate!r})"

    def _repr_html_(self) -> str:
        from ._html import render

        return render(self)


def inverse_dynamics(simulation: Simulation, a: npt.ArrayLike, *, actuated: npt.ArrayLike | None = None) -> InverseDynamics:
    """Inverse dynamics with contact: which efforts give the actuated joints the accelerations `a`, and which contact forces go with them.

    The contacts obey the scene's contact model over one step of the scene's length, with the actuated joints moved as asked; gravity,
    springs and damping act, controllers and inputs do not.

    Parameters
    ----------
    simulation : Simulation
        At the state in question; it is not changed.
    a : array_like, (nv,), or float
        Accelerations; entries of joints that are not actuated do not count.
    actuated : array_like of bool, (nv,), optional
        Default: all joints but those of free bodies.

    Returns
    -------
    InverseDynamics

    Raises
    ------
    StepFailed
        No certified forces go with the motion.
    """
    effort, acceleration, contacts, certificate = simulation._inverse_contact(a, None if actuated is None else np.asarray(actuated))
    return InverseDynamics(effort, acceleration, contacts, certificate)

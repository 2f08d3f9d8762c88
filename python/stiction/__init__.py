"""Exact, certified rigid contact: complementarity solvers, contact models and simulation on NumPy arrays.

``stiction.lcp``
    complementarity problems
``stiction.contact``
    contact problems from matrices
``stiction.Scene``, ``stiction.SceneBuilder``, ``stiction.Simulation``, ``stiction.BatchSimulation``
    simulation
``stiction.verify``
    certificates checked by arithmetic of their own; ``python -m stiction.verify FILE`` checks a recording
``stiction.envs``, ``stiction.ray``, ``stiction.plot``
    Gymnasium environments, sweeps on Ray, figures: with the extras ``[rl]``, ``[ray]`` and ``[plot]``
``stiction.view``, ``stiction.rerun``
    the viewer in the browser, recordings for Rerun: with the extras ``[view]`` and ``[rerun]``
"""

from __future__ import annotations

from . import contact, lcp, scene
from ._mujoco import from_mujoco, state_from_mujoco, state_to_mujoco
from ._parts import Body, Joint
from ._pinocchio import FrameContact, from_pinocchio
from ._queries import Distance, RayHit, RayHits
from ._stiction import Geom, Recording, __version__
from .errors import BusyError, InputError, InternalError, NotSolved, SceneError, SceneNotFound, StepFailed, StepInterrupted, StictionError, StictionWarning
from .scene import Scene, SceneBuilder
from .sim import (
    BatchSimulation,
    EnergyBalance,
    InverseDynamics,
    Mode,
    Recorder,
    RunReport,
    Simulation,
    StepReport,
    Trajectory,
    inverse_dynamics,
    record,
)

__all__ = [
    "BatchSimulation",
    "Body",
    "BusyError",
    "Distance",
    "EnergyBalance",
    "FrameContact",
    "Geom",
    "InputError",
    "InternalError",
    "InverseDynamics",
    "Joint",
    "Mode",
    "NotSolved",
    "RayHit",
    "RayHits",
    "Recorder",
    "Recording",
    "RunReport",
    "Scene",
    "SceneBuilder",
    "SceneError",
    "SceneNotFound",
    "Simulation",
    "StepFailed",
    "StepInterrupted",
    "StepReport",
    "StictionError",
    "StictionWarning",
    "Trajectory",
    "__version__",
    "contact",
    "from_mujoco",
    "from_pinocchio",
    "inverse_dynamics",
    "lcp",
    "record",
    "scene",
    "state_from_mujoco",
    "state_to_mujoco",
]

"""What an environment is about, for one simulation and for a batch alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .._stiction import BatchSimulation, Scene, Simulation

__all__ = ["Task"]

Array = npt.NDArray[np.float64]


class Task(ABC):
    """A scene, what an agent sees and does in it, and what that is worth. Write one to have both an environment and a vectorized one of it.

    Parameters
    ----------
    scene : Scene

    Notes
    -----
    Arrays have the agent's own axis last: ``q[..., i]`` is right for one simulation, where q is (nq,), and for a batch, where it is (n, nq).

    Attributes
    ----------
    frame_skip : int
        Steps of the simulation per step of the environment.
    observation_size, action_size : int
        Actions are from -1 to 1.
    follow : str, optional
        The body that stays in the middle of pictures; without one the camera stays where it is.
    """

    frame_skip: ClassVar[int] = 10
    observation_size: ClassVar[int]
    action_size: ClassVar[int]
    follow: ClassVar[str | None] = None

    #: What the states are of, once there is an environment: for poses, contact wrenches and sensors in `observe` and `judge`. Of a
    #: vectorized one it is a `BatchSimulation`, whose arrays have the environments first.
    simulation: Simulation | BatchSimulation | None = None

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def observation_space(self) -> spaces.Space[Array]:
        """Of one environment."""
        return cast("spaces.Space[Array]", spaces.Box(-np.inf, np.inf, (self.observation_size,), np.float64))

    @property
    def action_space(self) -> spaces.Space[npt.NDArray[np.float32]]:
        """Of one environment."""
        return cast("spaces.Space[npt.NDArray[np.float32]]", spaces.Box(-1.0, 1.0, (self.action_size,), np.float32))

    @property
    def period(self) -> float:
        """Time between two steps of the environment (s)."""
        return self.frame_skip * self.scene.dt

    def prepare(self, simulation: Simulation | BatchSimulation) -> None:
        """Sets what stays, such as gains, or varies masses and friction. Called after every reset.

        Parameters
        ----------
        simulation : Simulation or BatchSimulation
        """

    @abstractmethod
    def start(self, q: Array, v: Array, rng: np.random.Generator) -> None:
        """Varies the start of one episode: writes to its state.

        Parameters
        ----------
        q : ndarray, (nq,)
        v : ndarray, (nv,)
        rng : numpy.random.Generator
            The environment's own, from its seed.
        """

    def disturb(self, rng: np.random.Generator) -> Array | None:
        """What pushes one environment in its next step.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        ndarray, (nv,), or None
            Generalized forces.
        """
        return None

    @abstractmethod
    def act(self, simulation: Simulation | BatchSimulation, action: Array) -> None:
        """Writes actions to the simulation's inputs.

        Parameters
        ----------
        simulation : Simulation or BatchSimulation
        action : ndarray, (..., action_size)
            From -1 to 1.
        """

    @abstractmethod
    def observe(self, q: Array, v: Array) -> Array:
        """What the agent sees.

        Parameters
        ----------
        q : ndarray, (..., nq)
        v : ndarray, (..., nv)

        Returns
        -------
        ndarray, (..., observation_size)
        """

    @abstractmethod
    def judge(self, q: Array, v: Array, action: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """What a step was worth.

        Parameters
        ----------
        q : ndarray, (..., nq)
        v : ndarray, (..., nv)
            The states after the step.
        action : ndarray, (..., action_size)

        Returns
        -------
        reward : ndarray, (...,)
        ended : ndarray of bool, (...,)
            Whether the episodes end in these states.
        """

    def info(self, q: Array, v: Array) -> dict[str, Any]:
        """More about the states, for logs.

        Parameters
        ----------
        q : ndarray, (..., nq)
        v : ndarray, (..., nv)

        Returns
        -------
        dict of ndarray, (...,)
        """
        return {}

"""Environments of a task: one, and many at once."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .._stiction import BatchSimulation, Simulation
from ..errors import InputError
from ._screen import MODES, Screen, checked
from .task import Array, Task

__all__ = ["TaskEnv", "TaskVectorEnv"]

Actions = npt.NDArray[np.float32]
Info = dict[str, Any]


def _clipped(action: Actions, shape: tuple[int, ...] | None) -> Array:
    """Actions as numbers within their range."""
    numbers = np.asarray(action, np.float64)
    if numbers.shape != shape:
        raise InputError(f"actions must have shape {shape}, found {numbers.shape}")
    return np.clip(numbers, -1.0, 1.0)


class TaskEnv(gym.Env[Array, Actions]):
    """One simulation of a task.

    A step that cannot be certified ends the episode; ``info["failure"]`` says why. With ``on_failure="accept"`` the best answer goes on if its
    certificate is at most `accept_bound`: ``info["accepted"]`` is then the number of such steps, ``info["certificate"]`` the largest certificate.

    Parameters
    ----------
    task : Task
    render_mode : {"rgb_array", "human"}, optional
        What ``render`` does: a picture as an array, or a window that shows every step. Both need the extra ``[render]``, a window pygame, too.
    on_failure : {"stop", "accept", "fallback"}, optional
        What to do where a step is not certified. Default: what the task's scene says.
    accept_bound : float, optional
        With "accept": the largest certificate that is accepted.
    width, height : int
        Of pictures, in pixels.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 50}

    def __init__(self, task: Task, render_mode: str | None = None, *, on_failure: str | None = None, accept_bound: float | None = None,
                 width: int = 640, height: int = 480) -> None:
        self.task = task
        self.render_mode = checked(render_mode, MODES)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / task.period)}
        self._screen = Screen(task, width, height)
        scene = task.scene.with_settings(on_failure=on_failure, accept_bound=accept_bound, threads=1)
        self.simulation = task.simulation = Simulation(scene, raises=False)
        self.observation_space = task.observation_space
        self.action_space = task.action_space

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Begins an episode.

        Parameters
        ----------
        seed : int, optional
        options : dict, optional
            Not used.

        Returns
        -------
        observation : ndarray
        info : dict
        """
        super().reset(seed=seed)
        simulation = self.simulation
        simulation.reset()
        self.task.prepare(simulation)
        self.task.start(simulation.q, simulation.v, self.np_random)
        self._show()
        return self.task.observe(simulation.q, simulation.v), self.task.info(simulation.q, simulation.v)

    def step(self, action: Actions) -> tuple[Array, float, bool, bool, Info]:
        """Acts for ``task.period`` seconds.

        Parameters
        ----------
        action : array_like, (action_size,)
            What is beyond -1 and 1 is cut off.

        Returns
        -------
        observation, reward, terminated, truncated, info
        """
        task, simulation = self.task, self.simulation
        clipped = _clipped(action, self.action_space.shape)
        task.act(simulation, clipped)
        force = task.disturb(self.np_random)
        if force is not None:
            simulation.force = force
        report = simulation.run(task.frame_skip)
        self._show()
        q, v = simulation.q, simulation.v
        reward, terminated = task.judge(q, v, clipped)
        info = task.info(q, v)
        if report.accepted:
            info.update(accepted=report.accepted, certificate=report.certificate)
        if report.why:
            info["failure"] = report.why
            return task.observe(q, v), 0.0, True, False, info
        return task.observe(q, v), float(reward), bool(terminated), False, info

    def render(self) -> Any:
        """What the environment looks like now.

        Returns
        -------
        ndarray of uint8, (height, width, 3), or None
            A picture with ``render_mode="rgb_array"``; nothing with "human", which shows every step in a window.
        """
        if self.render_mode is None:
            gym.logger.warn("there is no render_mode: gymnasium.make(..., render_mode='rgb_array') gives pictures")
        elif self.render_mode == "rgb_array":
            return self._screen.picture(self.simulation.poses)
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self._screen.show(self.simulation.poses)

    def close(self) -> None:
        """Closes the window."""
        self._screen.close()


class TaskVectorEnv(gym.vector.VectorEnv[Array, Actions, npt.NDArray[Any]]):
    """Many copies of a task in one `BatchSimulation`, over all cores. Copy i of seed s does what a `TaskEnv` of seed s + i does.

    An episode that ended begins anew in the next step, whose action does not count for it. ``info["accepted"]`` and ``info["certificate"]`` are
    those of `TaskEnv`, where there are any.

    Parameters
    ----------
    task : Task
    num_envs : int
    max_episode_steps : int, optional
        Longer episodes are truncated.
    threads : int, optional
        Default: one per core.
    render_mode : {"rgb_array"}, optional
        What ``render`` does: a tuple of pictures, one per copy.
    on_failure : {"stop", "accept", "fallback"}, optional
        As of `TaskEnv`.
    accept_bound : float, optional
        As of `TaskEnv`.
    width, height : int
        Of pictures, in pixels.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int = 1, *, max_episode_steps: int | None = None, threads: int | None = None,
                 render_mode: str | None = None, on_failure: str | None = None, accept_bound: float | None = None,
                 width: int = 640, height: int = 480) -> None:
        self.task = task
        self.num_envs = num_envs
        self.render_mode = checked(render_mode, ("rgb_array",))
        self.metadata = {**self.metadata, "render_fps": round(1.0 / task.period)}
        self._screens = [Screen(task, width, height)] * num_envs if task.follow is None else [Screen(task, width, height) for _ in range(num_envs)]
        self.max_episode_steps = max_episode_steps
        scene = task.scene.with_settings(on_failure=on_failure, accept_bound=accept_bound)
        self.batch = task.simulation = BatchSimulation(scene, num_envs, threads=threads)
        self.single_observation_space = task.observation_space
        self.single_action_space = task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rngs: list[np.random.Generator] = []
        self._over = np.zeros(num_envs, np.bool_)
        self._elapsed = np.zeros(num_envs, np.int64)

    def reset(self, *, seed: int | list[int | None] | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Begins an episode in every copy.

        Parameters
        ----------
        seed : int or list of int, optional
            Of copy 0, the others have the numbers after it; or one per copy.
        options : dict, optional
            Not used.

        Returns
        -------
        observations : ndarray, (num_envs, observation_size)
        infos : dict
        """
        if seed is None:
            seeds: list[int | None] = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"seed must have {self.num_envs} entries, one per environment, found {len(seeds)}")
        if not self._rngs or seed is not None:
            self._rngs = [seeding.np_random(s)[0] for s in seeds]
        self._begin(np.ones(self.num_envs, np.bool_))
        return self.task.observe(self.batch.q, self.batch.v), self._info()

    def _info(self) -> Info:
        """What the task says about every copy, with Gymnasium's marks of whom it is about: all."""
        found = self.task.info(self.batch.q, self.batch.v)
        return {**found, **{f"_{key}": np.ones(self.num_envs, np.bool_) for key in found}}

    def _begin(self, which: npt.NDArray[np.bool_]) -> None:
        self.batch.reset(which)
        self.task.prepare(self.batch)
        for i in np.flatnonzero(which):
            self.task.start(self.batch.q[i], self.batch.v[i], self._rngs[i])
        self._over[which] = False
        self._elapsed[which] = 0

    def step(self, actions: Actions) -> tuple[Array, Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_], Info]:
        """Acts in every copy for ``task.period`` seconds.

        Parameters
        ----------
        actions : array_like, (num_envs, action_size)

        Returns
        -------
        observations, rewards, terminated, truncated, infos
        """
        task, batch, begun = self.task, self.batch, self._over.copy()
        clipped = _clipped(actions, self.action_space.shape)
        task.act(batch, clipped)
        for i in np.flatnonzero(~begun):
            force = task.disturb(self._rngs[i])
            if force is not None:
                batch.force[i] = force
        # Copies that begin anew are put to their start after the step, which they make with the others.
        well = batch.step(task.frame_skip) | begun
        messages = batch.messages if not well.all() else []
        accepted, certificate = np.where(begun, 0, batch.accepted), batch.certificate
        self._begin(begun) if begun.any() else None
        reward, terminated = task.judge(batch.q, batch.v, clipped)
        terminated = (terminated | ~well) & ~begun
        reward = np.where(well & ~begun, reward, 0.0)
        self._elapsed[~begun] += 1
        limit = self.max_episode_steps
        truncated = (self._elapsed >= limit) & ~terminated & ~begun if limit is not None else np.zeros(self.num_envs, np.bool_)
        self._over = terminated | truncated
        info = self._info()
        if (accepted > 0).any():
            info.update(accepted=accepted, certificate=certificate, _accepted=accepted > 0, _certificate=accepted > 0)
        if messages:
            info["failure"] = np.array(messages, dtype=object)
            info["_failure"] = ~well
        return task.observe(batch.q, batch.v), reward, terminated, truncated, info

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """What the copies look like now.

        Returns
        -------
        tuple of ndarray of uint8, (height, width, 3), or None
            A picture per copy with ``render_mode="rgb_array"``.
        """
        if self.render_mode is None:
            gym.logger.warn("there is no render_mode: gymnasium.make_vec(..., render_mode='rgb_array') gives pictures")
            return None
        return tuple(screen.picture(self.batch.simulation(i).poses) for i, screen in enumerate(self._screens))

    def close_extras(self, **kwargs: Any) -> None:
        """Gives back what pictures hold.

        Parameters
        ----------
        **kwargs
        """
        for screen in self._screens:
            screen.close()

"""Gymnasium environments: ``stiction/GraspHold-v0`` and ``stiction/QuadrupedWalk-v0``, single and vectorized.

Importing this module registers them. They are also the example of how to write one's own: a `Task` says what an agent sees and does, `TaskEnv` and
`TaskVectorEnv` do the rest.

Examples
--------
>>> import gymnasium, stiction.envs
>>> env = gymnasium.make("stiction/GraspHold-v0")
>>> observation, info = env.reset(seed=0)
>>> observation.shape
(18,)
>>> many = gymnasium.make_vec("stiction/GraspHold-v0", num_envs=4, vectorization_mode="vector_entry_point")
>>> many.reset(seed=0)[0].shape
(4, 18)
"""

from __future__ import annotations

from typing import Any

try:
    import gymnasium as gym
except ImportError as error:  # pragma: no cover
    raise ImportError("stiction.envs needs Gymnasium: pip install 'stiction[rl]'") from error

from .env import TaskEnv, TaskVectorEnv
from .task import Task
from .tasks import GraspHold, QuadrupedWalk

__all__ = [
    "GraspHold",
    "QuadrupedWalk",
    "Task",
    "TaskEnv",
    "TaskVectorEnv",
    "grasp_hold",
    "grasp_hold_vector",
    "quadruped_walk",
    "quadruped_walk_vector",
]

#: Steps of an episode.
_LIMITS = {"GraspHold": 200, "QuadrupedWalk": 500}


def grasp_hold(
    render_mode: str | None = None, *, on_failure: str | None = None, accept_bound: float | None = None, width: int = 640, height: int = 480,
    **parameters: float
) -> TaskEnv:
    """One `GraspHold`.

    Parameters
    ----------
    render_mode, on_failure, accept_bound, width, height : optional
        As of `TaskEnv`.
    **parameters : float
        Of its scene: ``shake``, ``frequency``, ``mass``.

    Returns
    -------
    TaskEnv
    """
    return TaskEnv(GraspHold(**parameters), render_mode, on_failure=on_failure, accept_bound=accept_bound, width=width, height=height)


def quadruped_walk(
    render_mode: str | None = None, *, on_failure: str | None = None, accept_bound: float | None = None, width: int = 640, height: int = 480,
    **parameters: float
) -> TaskEnv:
    """One `QuadrupedWalk`.

    Parameters
    ----------
    render_mode, on_failure, accept_bound, width, height : optional
        As of `TaskEnv`.
    **parameters : float
        Of its scene: ``bend``, ``start``.

    Returns
    -------
    TaskEnv
    """
    return TaskEnv(QuadrupedWalk(**parameters), render_mode, on_failure=on_failure, accept_bound=accept_bound, width=width, height=height)


def grasp_hold_vector(
    num_envs: int = 1, *, max_episode_steps: int | None = None, threads: int | None = None, render_mode: str | None = None,
    on_failure: str | None = None, accept_bound: float | None = None, width: int = 640, height: int = 480, **parameters: Any
) -> TaskVectorEnv:
    """Many `GraspHold` at once.

    Parameters
    ----------
    num_envs : int
    max_episode_steps : int, optional
    threads : int, optional
        Default: one per core.
    render_mode, on_failure, accept_bound, width, height : optional
        As of `TaskVectorEnv`.
    **parameters : float
        As of one.

    Returns
    -------
    TaskVectorEnv
    """
    limit = _LIMITS["GraspHold"] if max_episode_steps is None else max_episode_steps
    options: dict[str, Any] = {"on_failure": on_failure, "accept_bound": accept_bound, "render_mode": render_mode, "width": width, "height": height}
    return TaskVectorEnv(GraspHold(**parameters), num_envs, max_episode_steps=limit, threads=threads, **options)


def quadruped_walk_vector(
    num_envs: int = 1, *, max_episode_steps: int | None = None, threads: int | None = None, render_mode: str | None = None,
    on_failure: str | None = None, accept_bound: float | None = None, width: int = 640, height: int = 480, **parameters: Any
) -> TaskVectorEnv:
    """Many `QuadrupedWalk` at once.

    Parameters
    ----------
    num_envs : int
    max_episode_steps : int, optional
    threads : int, optional
        Default: one per core.
    render_mode, on_failure, accept_bound, width, height : optional
        As of `TaskVectorEnv`.
    **parameters : float
        As of one.

    Returns
    -------
    TaskVectorEnv
    """
    limit = _LIMITS["QuadrupedWalk"] if max_episode_steps is None else max_episode_steps
    options: dict[str, Any] = {"on_failure": on_failure, "accept_bound": accept_bound, "render_mode": render_mode, "width": width, "height": height}
    return TaskVectorEnv(QuadrupedWalk(**parameters), num_envs, max_episode_steps=limit, threads=threads, **options)


#: Gymnasium asks the function that makes an environment which render modes there are.
for _one in (grasp_hold, quadruped_walk):
    _one.metadata = TaskEnv.metadata  # type: ignore[attr-defined]
for _many in (grasp_hold_vector, quadruped_walk_vector):
    _many.metadata = TaskVectorEnv.metadata  # type: ignore[attr-defined]


def _register() -> None:
    for name, one, many in (
        ("GraspHold", "grasp_hold", "grasp_hold_vector"),
        ("QuadrupedWalk", "quadruped_walk", "quadruped_walk_vector"),
    ):
        if f"stiction/{name}-v0" not in gym.registry:
            gym.register(
                id=f"stiction/{name}-v0",
                entry_point=f"stiction.envs:{one}",
                vector_entry_point=f"stiction.envs:{many}",
                max_episode_steps=_LIMITS[name],
            )


_register()

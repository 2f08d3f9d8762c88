"""Gymnasium environments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import stiction  # noqa: E402
from stiction import envs  # noqa: E402

from conftest import need_pictures  # noqa: E402

NAMES = ["stiction/GraspHold-v0", "stiction/QuadrupedWalk-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_environments_pass_the_checker(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Unbounded observations are what they are.
        warnings.filterwarnings("ignore", message=".*A Box observation space (minimum|maximum) value is -?infinity.*")
        check_env(gym.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_is_its_environments(name: str) -> None:
    many = gym.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point")
    alone = [gym.make(name) for _ in range(3)]
    seen, _ = many.reset(seed=5)
    rng, over = np.random.default_rng(0), np.zeros(3, bool)
    for i, env in enumerate(alone):
        np.testing.assert_array_equal(env.reset(seed=5 + i)[0], seen[i])
    for _ in range(60):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        seen, rewards, terminated, truncated, _ = many.step(actions)
        for i, env in enumerate(alone):
            if over[i]:
                one, reward, ended = env.reset()[0], 0.0, False
            else:
                one, reward, ended, _, _ = env.step(actions[i])
            np.testing.assert_array_equal(one, seen[i])
            assert (reward, ended) == (rewards[i], terminated[i])
        over = terminated | truncated


def test_accepted_steps_are_in_info() -> None:
    task = envs.GraspHold()
    task.scene = task.scene.with_settings(tolerance=1e-20)
    stops = envs.TaskEnv(task)
    stops.reset(seed=1)
    assert "failure" in stops.step(np.ones(2, np.float32))[4]
    env = envs.TaskEnv(task, on_failure="accept")
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(np.ones(2, np.float32))
    assert reward > 0 and not terminated and info["accepted"] == task.frame_skip and 1e-20 < info["certificate"] < 1e-6
    many = envs.TaskVectorEnv(task, 2, on_failure="accept", accept_bound=1e-5)
    many.reset(seed=1)
    info = many.step(np.ones((2, 2), np.float32))[4]
    assert info["accepted"].tolist() == 2 * [task.frame_skip] and info["_accepted"].all() and (info["certificate"] > 1e-20).all()


def test_a_firm_grasp_holds_and_a_loose_one_drops() -> None:
    env = gym.make("stiction/GraspHold-v0")
    results = {}
    for press in (-1.0, 1.0):
        env.reset(seed=1)
        total, steps, over = 0.0, 0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(np.full(2, press, np.float32))
            total, steps, over = total + reward, steps + 1, terminated or truncated
        results[press] = (steps, terminated, info["slip"])
    assert results[-1.0][1] and results[-1.0][0] < 20
    assert results[1.0][0] == 200 and not results[1.0][1] and results[1.0][2] < 0.007


def test_a_quadruped_stands() -> None:
    env = gym.make("stiction/QuadrupedWalk-v0")
    env.reset(seed=2)
    for _ in range(100):
        _, reward, terminated, _, info = env.step(np.zeros(12, np.float32))
        assert not terminated
    assert abs(info["x"]) < 0.02 and abs(reward - 0.1) < 0.01


def test_episodes_are_cut_off() -> None:
    many = envs.grasp_hold_vector(2, max_episode_steps=5)
    many.reset(seed=0)
    cut = [many.step(np.ones((2, 2), np.float32))[3].tolist() for _ in range(11)]
    # Five steps, one that begins anew, five steps.
    assert [i for i, c in enumerate(cut) if c == [True, True]] == [4, 10]


class Balance(envs.Task):
    """A task of one's own: a rod on a hinge."""

    observation_size = 2
    action_size = 1

    def __init__(self) -> None:
        joint = {"type": "revolute", "axis": [0, 1, 0]}
        rod = stiction.scene.box(0.05, 0.05, 0.5, position=[0, 0, 0.25])
        super().__init__(stiction.SceneBuilder().body("rod", mass=1.0, shape=rod, joint=joint).build())

    def start(self, q, v, rng):
        q[0] = rng.uniform(-0.1, 0.1)

    def act(self, simulation, action):
        simulation.effort[..., :] = 5.0 * action

    def observe(self, q, v):
        return np.concatenate([q, v], axis=-1)

    def judge(self, q, v, action):
        return np.cos(q[..., 0]), np.abs(q[..., 0]) > 1.0


def test_a_task_of_ones_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(envs.TaskEnv(Balance()), skip_render_check=True)
    many = envs.TaskVectorEnv(Balance(), 4)
    many.reset(seed=0)
    for _ in range(20):
        _, rewards, *_ = many.step(-np.sign(many.batch.q).astype(np.float32))
    assert rewards.shape == (4,)


def test_a_failed_step_ends_its_episode_alone() -> None:
    many = envs.TaskVectorEnv(Balance(), 3)
    many.reset(seed=0)
    many.batch.q[1] = np.nan
    _, rewards, terminated, _, info = many.step(np.zeros((3, 1), np.float32))
    assert terminated.tolist() == [False, True, False] and rewards[1] == 0 and "q[0]" in info["failure"][1]
    _, _, terminated, _, _ = many.step(np.zeros((3, 1), np.float32))
    assert not terminated.any() and np.isfinite(many.batch.q).all()


def test_infos_have_gymnasiums_marks() -> None:
    many = envs.grasp_hold_vector(2)
    _, info = many.reset(seed=0)
    assert info["slip"].shape == (2,) and info["_slip"].tolist() == [True, True]


def test_wrong_seeds_and_actions_are_refused() -> None:
    many, one = envs.grasp_hold_vector(3), envs.grasp_hold()
    with pytest.raises(stiction.InputError, match="seed must have 3 entries, one per environment, found 2"):
        many.reset(seed=[1, 2])
    many.reset(seed=0), one.reset(seed=0)
    with pytest.raises(stiction.InputError, match=r"actions must have shape \(3, 2\), found \(2,\)"):
        many.step(np.zeros(2))
    with pytest.raises(stiction.InputError, match=r"actions must have shape \(2,\), found \(3, 2\)"):
        one.step(np.zeros((3, 2)))
    with pytest.raises(stiction.InputError, match=r"effort\[\d+\] is NaN"):
        one.step(np.full(2, np.nan))


@pytest.mark.parametrize("name", NAMES)
def test_environments_are_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need_pictures()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*A Box observation space (minimum|maximum) value is -?infinity.*")
        env = gym.make(name, render_mode="rgb_array", width=96, height=72)
        assert env.metadata["render_modes"] == ["human", "rgb_array"] and env.metadata["render_fps"] == round(1 / env.unwrapped.task.period)
        env.reset(seed=0)
        first = env.render()
        for _ in range(3):
            env.step(env.action_space.sample())
        later = env.render()
    assert first.shape == later.shape == (72, 96, 3) and first.dtype == np.uint8 and (first != later).any()
    env.close()
    many = gym.make_vec(name, num_envs=2, vectorization_mode="vector_entry_point", render_mode="rgb_array", width=96, height=72)
    many.reset(seed=0)
    pictures = many.render()
    assert len(pictures) == 2 and pictures[0].shape == (72, 96, 3)
    many.close()
    with pytest.raises(stiction.InputError, match="render_mode must be one of"):
        envs.TaskEnv(envs.GraspHold(), "ansi")


def test_a_window_shows_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    need_pictures()
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make("stiction/GraspHold-v0", render_mode="human", width=96, height=72)
    env.reset(seed=0)
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(env.action_space.sample())
    assert pygame.display.get_surface().get_size() == (96, 72) and first.std() > 5 and env.render() is None
    env.close()
    assert not pygame.display.get_init()
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    with pytest.raises(stiction.InputError, match="needs a display"):
        gym.make("stiction/GraspHold-v0", render_mode="human").reset()

"""The example of learning: a short piece of it, on threads and on Ray."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("autograd", reason="autograd is not installed: pip install autograd")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "learning"
sys.path.insert(0, str(FOLDER))

import ppo  # noqa: E402
import walk  # noqa: E402

import stiction  # noqa: E402
from stiction.envs import Task, TaskVectorEnv  # noqa: E402


class Push(Task):
    """A mass on a rail with drag is to be fast: what a policy can learn in seconds. Its speed follows the action within a second."""

    frame_skip = 10
    observation_size = 2
    action_size = 1

    def __init__(self) -> None:
        joint = {"type": "prismatic", "axis": [1, 0, 0], "damping": 2.0}
        super().__init__(stiction.SceneBuilder(dt=0.005).body("mass", mass=1.0, shape=stiction.scene.box(0.1, 0.1, 0.1), joint=joint).build())

    def start(self, q, v, rng):
        q[0] = rng.uniform(-1.0, 1.0)

    def act(self, simulation, action):
        simulation.effort[..., :] = 2.0 * action

    def observe(self, q, v):
        return np.concatenate([q, v], axis=-1)

    def judge(self, q, v, action):
        return v[..., 0], np.abs(q[..., 0]) > 2.0

    def info(self, q, v):
        return {"x": q[..., 0].copy()}


def push(copies: int, threads: int | None = None) -> TaskVectorEnv:
    return TaskVectorEnv(Push(), copies, max_episode_steps=60, threads=threads)


def learned(seed: int, improvements: int, shares: list[range]) -> tuple[ppo.Learner, list[float], list[dict[str, float]]]:
    """Mean reward of every improvement, with the copies shared by several rollouts."""
    settings = ppo.Settings(exploration=0.5)
    learner, rewards, said = ppo.Learner(2, 1, seed, settings), [], []
    rollouts = [ppo.Rollouts(push, share, seed, "x") for share in shares]
    for _ in range(improvements):
        noise = learner.noise(shares[-1].stop)
        samples = ppo.Samples.join([r.collect(learner.policy, noise[:, s.start : s.stop]) for r, s in zip(rollouts, shares)])
        rewards.append(float(samples.rewards[samples.valid].mean()))
        said.append(learner.improve(samples))
    return learner, rewards, said


def test_a_policy_learns_to_push() -> None:
    """From no speed on average to more than half of the largest, 1 m/s."""
    for seed in (1, 2):
        _, rewards, said = learned(seed, 15, [range(16)])
        assert all(np.isfinite(list(row.values())).all() for row in said)
        assert abs(rewards[0]) < 0.1 and np.mean(rewards[-3:]) > 0.5, rewards


def test_a_run_is_the_same_again_and_does_not_depend_on_who_steps() -> None:
    alone, first, _ = learned(3, 4, [range(8)])
    again, second, _ = learned(3, 4, [range(8)])
    np.testing.assert_array_equal(alone.parameters, again.parameters)
    assert first == second
    # Copies have their own seeds and noise; only the rounding of matrix products depends on how many are together.
    shared, third, _ = learned(3, 2, [range(0, 3), range(3, 8)])
    np.testing.assert_allclose(third, first[:2], rtol=1e-6)
    other, _, _ = learned(4, 4, [range(8)])
    assert np.abs(alone.parameters - other.parameters).max() > 1e-3


def test_advantages_end_where_episodes_end() -> None:
    """Beside the sum by hand: two copies, one cut off after the first step, one that ended there; the step after only begins anew."""
    settings = ppo.Settings(discount=0.5, trace=0.5)
    shape = (3, 2)
    rewards, marks = np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]), np.zeros(shape, bool)
    terminated, truncated, valid = marks.copy(), marks.copy(), ~marks
    truncated[0, 0] = terminated[0, 1] = True
    valid[1] = False
    empty = np.zeros((*shape, 1))
    samples = ppo.Samples(empty, empty, rewards, empty, terminated, truncated, valid, np.zeros(shape))
    now, later = np.full(shape, 3.0), np.full(shape, 4.0)
    found = ppo.advantages(samples, now, later, settings)
    # 1 + 0.5 * 4 - 3 where it was cut off, 1 - 3 where it ended; then 2 + 0.5 * 4 - 3.
    np.testing.assert_allclose(found, [[0.0, -2.0], [0.0, 0.0], [1.0, 1.0]])


def test_gradients_are_those_of_the_objective() -> None:
    learner, rng = ppo.Learner(3, 2, 5, ppo.Settings(hidden=4)), np.random.default_rng(0)
    data = (rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.normal(size=20) - 5.0, rng.normal(size=20), rng.normal(size=20))
    _, gradient = learner._loss(learner.parameters, *data)
    for k in rng.choice(learner.parameters.size, 12, replace=False):
        step = np.zeros_like(learner.parameters)
        step[k] = 1e-6
        slope = (learner._objective(learner.parameters + step, *data) - learner._objective(learner.parameters - step, *data)) / 2e-6
        assert abs(slope - gradient[k]) <= 1e-6 * (1.0 + abs(slope))


def test_scaling_is_that_of_all_samples() -> None:
    rng, scaling = np.random.default_rng(1), ppo.Scaling(3)
    parts = [rng.normal([1.0, -2.0, 300.0], [0.1, 5.0, 40.0], (n, 3)) for n in (7, 100, 33)]
    for part in parts:
        scaling.see(part)
    whole = np.concatenate(parts)
    np.testing.assert_allclose(scaling(whole), (whole - whole.mean(axis=0)) / whole.std(axis=0), rtol=1e-3, atol=1e-3)


def test_a_quadruped_begins_to_learn() -> None:
    """The real task, two improvements of it: finite, and the same again."""
    def begun() -> tuple[np.ndarray, list[dict[str, float]]]:
        learner = walk.new_learner(7)
        rows = list(itertools.islice(walk.train(learner, 7, 8), 2))
        return learner.parameters, rows

    parameters, rows = begun()
    assert rows[-1]["steps"] == 2 * 8 * ppo.Settings().horizon and all(np.isfinite(list(row.values())).all() for row in rows)
    assert rows[0]["change"] > 1e-4 and -1.0 < rows[0]["speed"] < 1.0
    np.testing.assert_array_equal(parameters, begun()[0])


def run(*arguments: str) -> str:
    path = os.pathsep.join([str(Path(stiction.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(FOLDER / "walk.py"), *arguments], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_quadruped_learns_to_walk(tmp_path: Path) -> None:
    """Half a minute of the example: 60,000 steps lead to about three times the untrained progress."""
    out = tmp_path / "walk.json"
    said = run("--seed", "7", "--steps", "60000", "--out", str(out))
    learned = json.loads(out.read_text())
    assert learned["curve"][-1]["steps"] >= 60000 and all(np.isfinite(list(row.values())).all() for row in learned["curve"])
    assert learned["trained"] > 1.5 * learned["untrained"] > 0.0, said


def test_the_script_on_ray(tmp_path: Path) -> None:
    """Two workers see what one process sees, but for rounding."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed: pip install 'stiction[ray]'")
    curves = []
    for workers in ("0", "2"):
        out = tmp_path / f"walk-{workers}.json"
        said = run("--seed", "1", "--copies", "6", "--steps", "300", "--episodes", "2", "--workers", workers, "--out", str(out))
        assert "untrained: " in said and "times as far" in said
        curves.append(json.loads(out.read_text())["curve"])
    assert [row["steps"] for row in curves[0]] == [row["steps"] for row in curves[1]] and len(curves[0]) == 2
    np.testing.assert_allclose([row["speed"] for row in curves[1]], [row["speed"] for row in curves[0]], rtol=1e-3)

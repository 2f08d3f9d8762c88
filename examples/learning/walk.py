"""A quadruped learns to walk forward, by proximal policy optimization (`ppo.py`) on copies of `stiction/QuadrupedWalk-v0`.

    python examples/learning/walk.py --seed 1 --minutes 10 --out walk-1.json
    python examples/learning/walk.py --seed 1 --minutes 10 --workers 2       # the same on Ray

Needs `pip install "stiction[rl]" autograd`, and Ray for workers. It begins and ends with how far the policy walks in ten seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The matrices are small: threads of the linear algebra would only take turns with those of the simulations.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
from ppo import Array, Learner, Policy, Rollouts, Samples  # noqa: E402

from stiction.envs import QuadrupedWalk, TaskVectorEnv, quadruped_walk_vector  # noqa: E402

#: Episodes of `progress` are seeded apart from those of training.
EVALUATION_SEED = 1_000_000


def make(copies: int, threads: int | None = None) -> TaskVectorEnv:
    """The environments."""
    return quadruped_walk_vector(copies, threads=threads)


def new_learner(seed: int) -> Learner:
    """That has seen nothing."""
    return Learner(QuadrupedWalk.observation_size, QuadrupedWalk.action_size, seed)


def progress(policy: Policy, episodes: int = 16, seed: int = EVALUATION_SEED) -> float:
    """How far the policy walks in an episode of ten seconds (m), with its exploration; one that falls stays where it fell."""
    env, rng = make(episodes), np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    ended, far = np.zeros(episodes, np.bool_), np.zeros(episodes)
    while not ended.all():
        seen, _, terminated, truncated, info = env.step(policy.act(seen, rng.standard_normal(env.action_space.shape or ())).astype(np.float32))
        far = np.where(ended, far, info["x"])
        ended |= terminated | truncated
    return float(far.mean())


class Crew:
    """The rollouts of all copies: in this process, or shared by workers of Ray."""

    def __init__(self, copies: int, seed: int, workers: int = 0) -> None:
        self.workers: list[Any] = []
        if workers:
            import ray

            if not ray.is_initialized():
                ray.init(configure_logging=False, include_dashboard=False)
            self.ray = ray
            ends = [copies * k // workers for k in range(workers + 1)]
            self.shares = [range(a, b) for a, b in zip(ends, ends[1:])]
            self.workers = [ray.remote(Rollouts).remote(make, share, seed, "x", 1) for share in self.shares]
        else:
            self.here = Rollouts(make, range(copies), seed, "x")

    def collect(self, policy: Policy, noise: Array) -> Samples:
        """One step of all copies per row of noise."""
        if not self.workers:
            return self.here.collect(policy, noise)
        shared = self.ray.put(policy)
        asked = [w.collect.remote(shared, noise[:, share.start : share.stop]) for w, share in zip(self.workers, self.shares)]
        return Samples.join(self.ray.get(asked))

    def close(self) -> None:
        """Ends the workers."""
        for worker in self.workers:
            self.ray.kill(worker)


def train(learner: Learner, seed: int, copies: int, workers: int = 0) -> Iterator[dict[str, float]]:
    """Improves the learner without end: after each improvement, what came of it and the forward speed of the copies (m/s)."""
    crew, steps, period = Crew(copies, seed, workers), 0, QuadrupedWalk().period
    start, used = time.monotonic(), time.process_time()
    try:
        while True:
            samples = crew.collect(learner.policy, learner.noise(copies))
            steps += int(samples.valid.sum())
            speed = samples.progress.sum() / (samples.valid.sum() * period)
            yield {**learner.improve(samples), "steps": steps, "seconds": time.monotonic() - start,
                   "processor_seconds": time.process_time() - used, "speed": float(speed)}
    finally:
        crew.close()


def main() -> None:
    """Trains, and says how far the policy walks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, help="steps of the environment, instead of minutes")
    parser.add_argument("--workers", type=int, default=0, help="of Ray; 0: threads of this process")
    parser.add_argument("--episodes", type=int, default=16, help="that its progress is measured over")
    parser.add_argument("--out", type=Path, help="a JSON file for the learning curve, see `curves.py`")
    asked = parser.parse_args()

    learner = new_learner(asked.seed)
    untrained = progress(learner.policy, asked.episodes)
    print(f"untrained: {untrained:.3f} m in ten seconds", flush=True)
    rows: list[dict[str, float]] = []
    for row in train(learner, asked.seed, asked.copies, asked.workers):
        rows.append(row)
        if len(rows) % 10 == 1:
            print(f"{row['steps']:9} steps {row['seconds']:6.1f} s {row['speed']:7.3f} m/s", flush=True)
        if row["steps"] >= asked.steps if asked.steps else row["seconds"] >= 60.0 * asked.minutes:
            break
    trained = progress(learner.policy, asked.episodes)
    print(f"trained: {trained:.3f} m in ten seconds, {trained / untrained:.1f} times as far, after {row['steps']} steps and {row['seconds']:.0f} s")
    if asked.out:
        asked.out.write_text(json.dumps({"seed": asked.seed, "untrained": untrained, "trained": trained, "curve": rows}))


if __name__ == "__main__":
    main()

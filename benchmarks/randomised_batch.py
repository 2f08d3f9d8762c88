"""Sixty-four quadrupeds, all alike and each with masses, friction and damping of its own: steps per second of both.

Run with ``python benchmarks/randomised_batch.py``. Where MuJoCo is installed, the count of its ``rollout`` for the same scene as MJCF is printed
beside it; its steps are not certified.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np

import stiction

COPIES, STEPS = 64, int(sys.argv[1]) if len(sys.argv) > 1 else 200


def randomise(batch: stiction.BatchSimulation, rng: np.random.Generator) -> None:
    """Other masses, friction and damping for each copy."""
    scale = rng.uniform(0.9, 1.1, batch.mass.shape)
    batch.mass *= scale
    batch.inertia *= scale[:, :, None, None]
    batch.friction[:] = rng.uniform(0.4, 0.9, (batch.n, 1))
    batch.damping += rng.uniform(0.0, 0.01, (batch.n, 1))


def per_second(work: Callable[[], object]) -> float:
    """Steps of all copies in a second of processor time of all cores."""
    start = time.process_time()
    work()
    return COPIES * STEPS / (time.process_time() - start)


def mujoco_rollout(scene: stiction.Scene) -> float:
    """The same scene in MuJoCo."""
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(scene.to_mjcf(controllers=False))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.tile(state, (COPIES, 1))
    return per_second(lambda: rollout.rollout(model, [data], start, nstep=STEPS))


def main() -> None:
    """Prints the counts."""
    scene = stiction.scene.shipped("quad-flat")
    rng = np.random.default_rng(0)
    alike, random = stiction.BatchSimulation(scene, COPIES), stiction.BatchSimulation(scene, COPIES)
    randomise(random, rng)
    alike.step(20), random.step(20)
    # In turns, so that a busy machine slows both.
    counts: dict[str, list[float]] = {"alike": [], "randomised": []}
    for _ in range(3):
        counts["alike"].append(per_second(lambda: alike.step(STEPS)))
        counts["randomised"].append(per_second(lambda: random.step(STEPS)))
    best = {name: max(found) for name, found in counts.items()}
    print(f"{COPIES} quadrupeds alike:      {best['alike']:10.0f} steps/s of processor time, {alike.failed.sum()} failed")
    print(f"{COPIES} quadrupeds randomised: {best['randomised']:10.0f} steps/s, {random.failed.sum()} failed, {best['randomised'] / best['alike']:.0%} of it")
    if importlib.util.find_spec("mujoco") is not None:
        print(f"MuJoCo's rollout, one thread: {mujoco_rollout(scene):8.0f} steps/s")


if __name__ == "__main__":
    main()

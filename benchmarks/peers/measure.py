"""One engine on one scene: time, error and what it says of itself."""

from __future__ import annotations

import math
import time

import numpy as np

from engines import Failed, load
from scenes import Scene, mjcf

#: Steps per look at the clock.
CHUNK = 10


def run(engine: str, setting: str, scene: Scene, cap: float) -> dict:
    """Runs a scene until its end, or until it took `cap` seconds of processor time."""
    module = load(engine)
    world = module.build(scene, setting)
    start = world.poses()
    failure, made, spent, timed = None, 0, 0.0, 0
    try:
        while made < scene.steps:
            count = min(CHUNK, scene.steps - made)
            clock = time.process_time()
            took = world.step(count)
            took = time.process_time() - clock if took is None else took
            made += count
            if made > scene.warm_up:
                spent, timed = spent + took, timed + count
            cap -= took
            if cap < 0.0:
                break
        end = world.poses()
    except Failed as error:
        failure, end = str(error), world.poses()
    certificate = world.certificate()
    getattr(world, "close", lambda: None)()
    return {
        "version": module.VERSION,
        "steps": made,
        "us_per_step": 1e6 * spent / timed if timed else None,
        "error_m": error_of(scene, start, end, made),
        "overlap_m": overlap_of(scene, end),
        "certificate": certificate,
        "failure": failure,
    }


def error_of(scene: Scene, start: np.ndarray, end: np.ndarray, made: int) -> float | None:
    """How far the result is from the exact one (m), where that is known and the run came to its end."""
    if not np.isfinite(end).all():
        return math.inf
    if scene.group == "resting":
        return float(np.linalg.norm(end[:, :3] - start[:, :3], axis=1).max())
    if scene.travel is not None and made == scene.steps:
        return float(abs(end[-1, 0] - start[-1, 0] - scene.travel))
    return None


def overlap_of(scene: Scene, poses: np.ndarray) -> float | None:
    """Deepest overlap of the bodies at the end (m), by MuJoCo's collision detection for every engine; None without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return None
    if scene.mjcf or not np.isfinite(poses).all():
        return None
    model = mujoco.MjModel.from_xml_string(mjcf(scene))
    data = mujoco.MjData(model)
    at = 0
    for body, pose in zip(scene.moving(), poses, strict=True):
        if body.slides:
            data.qpos[at] = pose[0] - body.position[0]
            at += 1
        else:
            data.qpos[at : at + 7] = pose
            at += 7
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return float(max((-contact.dist for contact in data.contact), default=0.0))

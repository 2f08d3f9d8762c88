"""One engine on one scene, or one solver on one problem: time, error and what it says of itself."""

from __future__ import annotations

import importlib
import math
import statistics
import time

import numpy as np

from engines import Failed, load
from scenes import Scene, mjcf

import solvers

#: Steps per look at the clock, and per change of a robot's controls.
CHUNK = 10
#: Calls of a solver of which the median counts, unless they take longer than `SOLVES_S` together.
SOLVES = 15
SOLVES_S = 3.0


def run(engine: str, setting: str, scene: Scene, cap: float) -> dict:
    """Runs a scene until its end, or until it took `cap` seconds of processor time."""
    module = load(engine)
    world = module.build(scene, setting)
    start, held = world.poses(), None
    failure, made, spent, timed = None, 0, 0.0, 0
    try:
        while made < scene.steps:
            count = min(CHUNK, scene.steps - made)
            if scene.sway:
                phase = math.sin(2 * math.pi * made * scene.dt)
                world.control([c + s * phase for c, s in zip(scene.control, scene.sway, strict=True)])
            if scene.stays and made == scene.warm_up:
                held = points_held(world, scene)
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
        # In the middle of a cycle of its motion a robot is elsewhere.
        moved = None if held is None or made < scene.steps else float(np.linalg.norm(points_held(world, scene) - held, axis=1).max())
    except Failed as error:
        failure, end, moved = str(error), world.poses(), None
    certificate = world.certificate()
    getattr(world, "close", lambda: None)()
    return {
        "version": module.VERSION,
        "steps": made,
        "us_per_step": 1e6 * spent / timed if timed else None,
        "error_m": moved if scene.stays else error_of(scene, start, end, made),
        "overlap_m": overlap_of(scene, end),
        "certificate": certificate,
        "failure": failure,
    }


def points_held(world, scene: Scene) -> np.ndarray:
    """Where the points are that should stay where they are (m)."""
    points = []
    for stays in scene.stays:
        point = rotate(world.pose(stays.body), stays.point) + world.pose(stays.body)[:3]
        if stays.holder:
            holder = world.pose(stays.holder)
            w, x, y, z = holder[3:]
            point = rotate([0, 0, 0, w, -x, -y, -z], point - holder[:3])
        points.append(point)
    return np.array(points)


def rotate(pose, vector) -> np.ndarray:
    """A vector of the body's frame in that of its pose."""
    w, axis = pose[3], np.array(pose[4:7])
    return vector + 2 * np.cross(axis, np.cross(axis, vector) + w * np.array(vector))


def solve(solver: str, setting: str, problem, tolerance: float | None, cap: float) -> dict:
    """Solves a problem several times from the start: the median time, and how far the answer is from one."""
    module = importlib.import_module(f"solvers.{solvers.NAMES[solver]}")
    call = module.prepare(problem, setting, tolerance)
    times, answer = [], None
    # The first call is not timed: it may compile, or make room.
    while len(times) <= SOLVES and sum(times) < min(SOLVES_S, cap):
        clock = time.process_time()
        answer = call()
        times.append(time.process_time() - clock)
    residual = None if answer is None else problem.residual(np.asarray(answer).ravel())
    return {
        "us": 1e6 * statistics.median(times[1:] or times),
        "residual": residual,
        "failure": "no answer" if answer is None else None,
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

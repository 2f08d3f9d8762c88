"""Rapier, by cargo: a program of our own around it, which is told what to do line by line."""

import os
import pathlib
import re
import shutil
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).parent.parent / "native" / "rapier"
VERSION = re.search(r'rapier3d = "=(.*)"', (HERE / "Cargo.toml").read_text())[1]
WHAT = "velocity-level friction by small steps of projected Gauss-Seidel with soft contact"
SETTINGS = {"default": "f32", "f64": "f64", "accurate": "f64, 50 substeps of 10 sweeps, Coulomb's cone, stiff contact"}
KINDS = {"plane": 0, "box": 1, "sphere": 2, "capsule": 3, "cylinder": 4}


def _build():
    if not shutil.which("cargo"):
        raise ImportError("cargo")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
    made = subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, capture_output=True, text=True)
    if made.returncode:
        raise ImportError(f"Rapier cannot be built: {made.stderr.strip().splitlines()[-1]}")
    return target / "release" / "rapier-peer"


_PROGRAM = _build()


class Engine:
    """The scene in a process of its own, which measures its own time."""

    def __init__(self, scene, setting):
        self.process = subprocess.Popen([_PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.count = len(scene.moving())
        self._tell("world", *scene.gravity, scene.friction, scene.dt, setting, len(scene.bodies))
        for body in scene.bodies:
            size = (*body.size, 0.0, 0.0, 0.0)[:3]
            inertia = body.inertia() if body.mass else (0.0,) * 3
            self._tell(KINDS[body.shape], *size, body.mass, *inertia, *body.position, *body.quaternion, *body.velocity, int(body.slides), body.force)

    def _tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")

    def step(self, count):
        """Makes steps, and returns the processor time they took (s)."""
        self._tell("step", count)
        return float(self.process.stdout.readline())

    def poses(self):
        self._tell("poses")
        return np.array([[float(x) for x in self.process.stdout.readline().split()] for _ in range(self.count)])

    def certificate(self):
        return None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


build = Engine

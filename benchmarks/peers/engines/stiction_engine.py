"""Stiction: exact contact, each step certified."""

import pathlib
import tempfile

import numpy as np
import stiction

from engines import Failed
from scenes import mjcf

VERSION = stiction.__version__
WHAT = "rigid contact with Coulomb's cone, each step solved to a certificate of 1e-10"
READS_MJCF = True
SETTINGS = {"default": "coulomb-cone", "no-slip": "no-slip"}


class Engine:
    """The scene, read as MJCF."""

    def __init__(self, scene, setting):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "scene.xml"
            file.write_text(mjcf(scene))
            # Every step is computed: at rest they would cost next to nothing.
            loaded = stiction.Scene.load(file).with_settings(threads=1, sleeping=False, model=SETTINGS[setting])
        self.simulation = stiction.Simulation(loaded, raises=False)
        control = tuple(body.force for body in scene.moving() if body.slides)
        if control:
            self.simulation.ctrl = np.array(control)
        velocities = [body.velocity for body in scene.moving()]
        if any(map(any, velocities)):
            v = self.simulation.v.copy()
            at = 0
            for body in scene.moving():
                if not body.slides:
                    v[at : at + 6] = (*body.velocity, 0.0, 0.0, 0.0)
                at += 1 if body.slides else 6
            self.simulation.v = v
        self.worst = 0.0

    def step(self, count):
        for _ in range(count):
            report = self.simulation.step()
            if not report.ok:
                raise Failed(report.why)
            self.worst = max(self.worst, report.certificate)

    def control(self, values):
        self.simulation.ctrl = values

    def pose(self, name):
        body = self.simulation.body(name)
        return np.concatenate([body.position, body.quaternion])

    def poses(self):
        return self.simulation.poses.copy()

    def certificate(self):
        return self.worst


build = Engine

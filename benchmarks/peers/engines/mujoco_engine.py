"""MuJoCo: soft contact, a convex problem per step."""

import mujoco
import numpy as np

from scenes import mjcf

VERSION = mujoco.__version__
WHAT = "soft contact: bodies sink in and creep as the parameters of the softness say"
ACCURATE = 'cone="elliptic" noslip_iterations="100" noslip_tolerance="1e-12" iterations="100" tolerance="1e-12" impratio="10"'
READS_MJCF = True
SETTINGS = {
    "default": "",
    "no-slip pass": 'cone="elliptic" noslip_iterations="10" iterations="100" tolerance="1e-10"',
    "accurate": ACCURATE,
}


class Engine:
    """The scene, read as MJCF."""

    def __init__(self, scene, setting):
        stiff = f'solref="{2 * scene.dt} 1" solimp="0.99 0.9999 0.0001"' if setting == "accurate" else ""
        self.model = mujoco.MjModel.from_xml_string(mjcf(scene, SETTINGS[setting], stiff))
        self.data = mujoco.MjData(self.model)
        self.data.ctrl[:] = scene.control or tuple(body.force for body in scene.moving() if body.slides)
        at = 0
        for body in scene.moving():
            if not body.slides:
                self.data.qvel[at : at + 3] = body.velocity
            at += 1 if body.slides else 6

    def step(self, count):
        mujoco.mj_step(self.model, self.data, nstep=count)

    def control(self, values):
        self.data.ctrl[:] = values

    def pose(self, name):
        mujoco.mj_kinematics(self.model, self.data)
        body = self.data.body(name)
        return np.concatenate([body.xpos, body.xquat])

    def poses(self):
        mujoco.mj_kinematics(self.model, self.data)
        return np.hstack([self.data.xpos[1:], self.data.xquat[1:]])

    def certificate(self):
        return None


build = Engine

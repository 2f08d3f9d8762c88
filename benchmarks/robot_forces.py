"""Forces and sensors of a robot file here and in MuJoCo, at the same random states without contact."""

from __future__ import annotations

import mujoco
import numpy as np
import stiction

# Sensors that the present state tells, whatever acts.
PRESENT = ("JOINTPOS", "JOINTVEL", "TENDONPOS", "TENDONVEL", "ACTUATORPOS", "ACTUATORVEL", "ACTUATORFRC", "JOINTACTFRC", "TENDONACTFRC")
PRESENT += ("BALLQUAT", "BALLANGVEL", "VELOCIMETER", "GYRO", "MAGNETOMETER", "FRAMEPOS", "FRAMEQUAT", "FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS")
PRESENT += ("FRAMELINVEL", "FRAMEANGVEL", "SUBTREECOM", "SUBTREELINVEL", "SUBTREEANGMOM", "CLOCK")


class Pair:
    """A file in both engines, with states going from MuJoCo's numbers to Stiction's and forces back."""

    def __init__(self, file: str) -> None:
        self.model = mujoco.MjModel.from_xml_path(file)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.data = mujoco.MjData(self.model)
        self.simulation = stiction.Simulation(stiction.Scene.load(file, keyframe=-1), raises=False, separate=True)
        scene = self.simulation.scene
        sizes = {"free": (7, 6), "spherical": (4, 3), "planar": (3, 3), "fixed": (0, 0), "mocap": (0, 0)}  # Poses that are set from outside come after all others in q.
        offsets, q, v = {}, 0, 0
        for name, kind in zip(scene.bodies, scene.joint_types):
            offsets[name] = (q, v)
            nq, nv = sizes.get(kind, (1, 1))
            q, v = q + nq, v + nv
        self.joints = []
        for j in range(self.model.njnt):
            body = int(self.model.jnt_bodyid[j])
            first, count = int(self.model.body_jntadr[body]), int(self.model.body_jntnum[body])
            name = self.model.body(body).name or f"body{body}"
            if j + 1 < first + count:
                name += "/" + (self.model.joint(j).name or f"joint{j - first + 1}")
            place = offsets[name]
            self.joints.append((int(self.model.jnt_type[j]), int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j]), *place))

    def set_state(self) -> None:
        """Gives Stiction the state and inputs that MuJoCo has."""
        sim, d = self.simulation, self.data
        for kind, q, v, own_q, own_v in self.joints:
            nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[kind]
            sim.q[own_q : own_q + nq] = d.qpos[q : q + nq]
            velocity = d.qvel[v : v + nv].copy()
            if nv > 1:
                velocity[-3:] = turned(d.qpos[q + nq - 4 : q + nq], velocity[-3:])
            sim.v[own_v : own_v + nv] = velocity
        sim.ctrl[:] = d.ctrl
        if self.model.na:
            act = np.zeros(self.model.nu)
            has = self.model.actuator_actadr >= 0
            act[has] = d.act[self.model.actuator_actadr[has] + self.model.actuator_actnum[has] - 1]
            sim.act = act

    def forces(self, own: np.ndarray) -> np.ndarray:
        """Generalized forces in MuJoCo's order and along its axes."""
        out = np.zeros(self.model.nv)
        for kind, q, v, _, own_v in self.joints:
            nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[kind]
            part = own[own_v : own_v + nv].copy()
            if nv > 1:
                w, *xyz = self.data.qpos[q + nq - 4 : q + nq]
                part[-3:] = turned(np.array([w, *(-np.array(xyz))]), part[-3:])
            out[v : v + nv] = part
        return out

    def randomize(self, rng: np.random.Generator) -> None:
        """A random state, controls and activations within their ranges."""
        m, d = self.model, self.data
        mujoco.mj_resetData(m, d)
        for kind, q, v, *_ in self.joints:
            nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[kind]
            if nv > 1:
                d.qpos[q : q + nq - 4] = rng.normal(size=nq - 4)
                quaternion = rng.normal(size=4)
                d.qpos[q + nq - 4 : q + nq] = quaternion / np.linalg.norm(quaternion)
            else:
                d.qpos[q] += rng.uniform(-1, 1)
            d.qvel[v : v + nv] = rng.normal(size=nv)
        low, high = m.actuator_ctrlrange.T if m.nu else (np.zeros(0), np.zeros(0))
        limited = m.actuator_ctrllimited.astype(bool)
        d.ctrl[:] = np.where(limited, rng.uniform(np.minimum(low, high), high), rng.normal(size=m.nu))
        d.act[:] = rng.uniform(0, 1, size=m.na)
        mujoco.mj_forward(m, d)


def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.ascontiguousarray(vector), np.ascontiguousarray(quaternion))
    return out


def compare(file: str, states: int) -> dict[str, float]:
    """The largest differences of each kind over random states, beside the largest number of that kind in MuJoCo."""
    pair, rng = Pair(file), np.random.default_rng(0)
    m, d, sim = pair.model, pair.data, pair.simulation
    worst, size = {}, {}

    def note(kind: str, theirs: np.ndarray, ours: np.ndarray) -> None:
        if np.size(theirs):
            # Not Python's max, which would lose what is not a number.
            worst[kind] = float(np.maximum(worst.get(kind, 0.0), np.max(np.abs(theirs - ours))))
            size[kind] = float(np.maximum(size.get(kind, 0.0), np.max(np.abs(theirs))))

    own = set(sim.scene.sensors)
    names = [(i, m.sensor(i).name) for i in range(m.nsensor) if m.sensor(i).name in own]
    present = [(i, name) for i, name in names if mujoco.mjtSensor(m.sensor_type[i]).name.removeprefix("mjSENS_") in PRESENT]
    for _ in range(states):
        pair.randomize(rng)
        pair.set_state()
        note("actuator length", d.actuator_length, sim.actuator_length)
        note("actuator force", d.actuator_force, sim.actuator_force)
        if m.ntendon:
            note("tendon length", d.ten_length, sim.tendon_length)
        motors, passive = pair.forces(sim.motor_effort), pair.forces(sim.passive_force)
        if m.jnt_actgravcomp.any():
            note("actuators and passive", d.qfrc_actuator + d.qfrc_passive, motors + passive)
        else:
            note("generalized actuator force", d.qfrc_actuator, motors)
            note("passive force", d.qfrc_passive, passive)
        readings = sim.sensors if present else {}
        for i, name in present:
            first, count = m.sensor_adr[i], m.sensor_dim[i]
            ours, theirs = readings[name], d.sensordata[first : first + count]
            if count == 4 and np.dot(ours, theirs) < 0:  # The same rotation.
                ours = -ours
            note("sensor " + mujoco.mjtSensor(m.sensor_type[i]).name.removeprefix("mjSENS_").lower(), theirs, ours)
    # Numbers that are 0 in MuJoCo at every state compare nothing, unless they are not 0 here.
    return {kind: worst[kind] / size[kind] if size[kind] > 0 else worst[kind] for kind in worst if size[kind] > 0 or worst[kind] != 0}

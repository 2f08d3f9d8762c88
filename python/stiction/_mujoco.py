"""Models and states of MuJoCo, with its conventions turned into those of this package, and back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ._parts import _matrix
from ._stiction import Scene, Simulation
from .errors import InputError

__all__ = ["from_mujoco", "state_from_mujoco", "state_to_mujoco"]

#: Names of MuJoCo's kinds of joints, in the order of ``mjtJoint``, with the sizes of q and v.
_KINDS = {0: ("free", 7, 6), 1: ("spherical", 4, 3), 2: ("prismatic", 1, 1), 3: ("revolute", 1, 1)}


def _joints(simulation: Simulation, model: Any) -> Iterator[tuple[int, slice, slice, int, int]]:
    """The kind of each joint with its places here and in MuJoCo: both go through bodies in the order of the file."""
    scene = simulation.scene
    moving = [i for i, kind in enumerate(scene.joint_types) if kind not in ("fixed", "mocap")]
    nq = scene.nq - 7 * len(scene.mocap_bodies)
    if (nq, scene.nv, len(moving)) != (model.nq, model.nv, model.njnt):
        found = f"nq {model.nq}, nv {model.nv} and {model.njnt} joints"
        raise InputError(f"the simulation has nq {nq}, nv {scene.nv} and {len(moving)} joints, the MuJoCo model {found}")
    q = v = 0
    for number, body in enumerate(moving):
        kind = int(model.jnt_type[number])
        name, size_q, size_v = _KINDS[kind]
        here = scene.joint_types[body]
        if here != name and {here, name} != {"continuous", "revolute"}:
            raise InputError(f"joint {number} is {here} here ({scene.bodies[body]!r}) and {name} in the MuJoCo model")
        yield kind, slice(q, q + size_q), slice(v, v + size_v), int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
        q, v = q + size_q, v + size_v


def _turning(kind: int) -> int | None:
    """Where the quaternion of a joint with one is in its part of q."""
    return {0: 3, 1: 0}.get(kind)


def _actuators(simulation: Simulation, model: Any) -> Iterator[tuple[int, int, int]]:
    """The number of each actuator that has a control here, in ``ctrl`` and in MuJoCo, with the place of its activation there or -1."""
    names = [model.actuator(i).name for i in range(model.nu)]
    same = list(simulation.actuators) == names or len(simulation.actuators) == model.nu
    for here, name in enumerate(simulation.actuators):
        there = here if same else names.index(name) if name in names else -1
        if there < 0:
            raise InputError(f"the MuJoCo model has no actuator {name!r}")
        yield here, there, int(model.actuator_actadr[there])


def state_from_mujoco(simulation: Simulation, model: Any, data: Any) -> None:
    """Takes over configuration, velocities, activations, controls, poses of mocap bodies and active equalities of MuJoCo.

    MuJoCo has angular velocities of free and ball joints along the body's axes; here they are along the axes of the parent, or the world.

    Parameters
    ----------
    simulation : Simulation
        Of the same file.
    model : mujoco.MjModel
    data : mujoco.MjData

    Raises
    ------
    InputError
        The joints or actuators are not the same.
    """
    for kind, q, v, at_q, at_v in _joints(simulation, model):
        simulation.q[q] = data.qpos[at_q : at_q + (q.stop - q.start)]
        own = np.array(data.qvel[at_v : at_v + (v.stop - v.start)])
        place = _turning(kind)
        if place is not None:
            unit = simulation.q[q][place : place + 4]
            unit /= np.linalg.norm(unit)
            own[-3:] = _matrix(unit) @ own[-3:]
        simulation.v[v] = own
    act = np.array(simulation.act)
    for here, there, at in _actuators(simulation, model):
        simulation.ctrl[here] = data.ctrl[there]
        if at >= 0:
            act[there] = data.act[at]
    simulation.act = act
    for name in simulation.scene.mocap_bodies:
        number = int(model.body(name).mocapid[0])
        simulation.set_mocap(name, data.mocap_pos[number], data.mocap_quat[number])
    if len(simulation.scene.equalities) == model.neq:
        simulation.equality_active = data.eq_active


def state_to_mujoco(simulation: Simulation, model: Any, data: Any) -> None:
    """Gives configuration, velocities, activations, controls, poses of mocap bodies, active equalities and time to MuJoCo, in its conventions; ``mujoco.mj_forward`` does the rest.

    Parameters
    ----------
    simulation : Simulation
    model : mujoco.MjModel
        Of the same file.
    data : mujoco.MjData
        It is written to.

    Raises
    ------
    InputError
        The joints or actuators are not the same.
    """
    for kind, q, v, at_q, at_v in _joints(simulation, model):
        data.qpos[at_q : at_q + (q.stop - q.start)] = simulation.q[q]
        own = np.array(simulation.v[v])
        place = _turning(kind)
        if place is not None:
            own[-3:] = _matrix(simulation.q[q][place : place + 4]).T @ own[-3:]
        data.qvel[at_v : at_v + (v.stop - v.start)] = own
    for here, there, at in _actuators(simulation, model):
        data.ctrl[there] = simulation.ctrl[here]
        if at >= 0:
            data.act[at] = simulation.act[there]
    for name in simulation.scene.mocap_bodies:
        number = int(model.body(name).mocapid[0])
        data.mocap_pos[number], data.mocap_quat[number] = simulation.mocap(name)
    if len(simulation.scene.equalities) == model.neq:
        data.eq_active[:] = simulation.equality_active
    data.time = simulation.t


def from_mujoco(model: Any, data: Any = None, *, file: str | os.PathLike[str] | None = None) -> Simulation:
    """A simulation of a MuJoCo model, at the state of its data.

    Parameters
    ----------
    model : mujoco.MjModel
    data : mujoco.MjData, optional
        Default: the start of the file.
    file : str or path, optional
        The MJCF file of the model. Without it MuJoCo writes it to a temporary one, which it can of the model that was loaded last.

    Returns
    -------
    Simulation

    Raises
    ------
    InputError
        MuJoCo cannot write this model, or the joints are not the same.
    SceneError
        Something of the file is not supported.

    Examples
    --------
    >>> import stiction, mujoco  # doctest: +SKIP
    >>> model = mujoco.MjModel.from_xml_path("examples/slider.xml")  # doctest: +SKIP
    >>> simulation = stiction.from_mujoco(model, mujoco.MjData(model))  # doctest: +SKIP
    """
    if file is None:
        import mujoco

        file = Path(tempfile.mkdtemp(prefix="stiction-")) / "model.xml"
        mujoco.mj_saveLastXML(str(file), model)
        again = mujoco.MjModel.from_xml_path(str(file))
        same = (again.nq, again.nv, again.nbody, again.ngeom) == (model.nq, model.nv, model.nbody, model.ngeom)
        if not same or not np.allclose(again.body_mass, model.body_mass):
            raise InputError("MuJoCo writes the model that was loaded last, and that is another one: give its file")
    simulation = Simulation(Scene.load(file))
    if data is not None:
        state_from_mujoco(simulation, model, data)
    return simulation

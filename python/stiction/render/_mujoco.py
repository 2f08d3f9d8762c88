"""The same file or scene in MuJoCo, as frames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._frames import Frame
from .._stiction import Scene
from ..errors import InputError
from ._drive import Drive

__all__ = ["frames"]


def frames(file: str | os.PathLike[str], scene: Scene, times: Sequence[float], ctrl: Sequence[float] | None) -> list[Frame]:
    """What MuJoCo makes of a file, with its own settings, at these times (s).

    The frames have the bodies of `scene`, which is the same file read here; `ctrl` holds the controls of its actuators. MJCF and URDF files are read by
    MuJoCo itself. A scene is written as MJCF, and driven by its controllers, which see the state that MuJoCo is in.
    """
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("a comparison with MuJoCo needs mujoco: pip install mujoco") from error
    robot = Path(file).suffix.lower() in (".xml", ".mjcf", ".urdf")
    written = "" if robot else scene.to_mjcf(controllers=False)
    try:
        model = mujoco.MjModel.from_xml_path(os.fspath(file)) if robot else mujoco.MjModel.from_xml_string(written)
    except ValueError as error:
        raise InputError(f"{file}: MuJoCo does not read it: {' '.join(str(error).split())}") from None
    data = mujoco.MjData(model)
    bodies = [_number(mujoco, model, name) for name in scene.bodies]
    if robot:
        if ctrl is not None:
            if len(ctrl) != model.nu:
                raise InputError(f"there are {model.nu} actuators, and {len(ctrl)} controls")
            data.ctrl[:] = ctrl
        drive = None
    else:
        mujoco.mj_resetDataKeyframe(model, data, 0)
        drive = Drive(mujoco, model, scene, bodies, ctrl)
    mujoco.mj_forward(model, data)
    out = []
    for t in times:
        steps = max(0, round((t - data.time) / model.opt.timestep))
        if drive is None:
            mujoco.mj_step(model, data, nstep=steps)
        else:
            drive.step(data, steps)
        # Positions of bodies are those before the last step until they are computed again.
        mujoco.mj_kinematics(model, data)
        poses = np.concatenate([data.xpos[bodies], data.xquat[bodies]], axis=1)
        if not np.isfinite(poses).all():
            break
        out.append(Frame(float(t), poses, None))
    return out


def _number(mujoco: Any, model: Any, name: str) -> int:
    """The body of that name in MuJoCo; names here may have that of the robot before them."""
    for wanted in (name, name.rpartition("/")[2]):
        found = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, wanted))
        if found >= 0:
            return found
    raise InputError(f"MuJoCo has no body {name!r}: bodies are found by their names, so all need one")

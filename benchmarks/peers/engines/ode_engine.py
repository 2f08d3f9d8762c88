"""ODE, as Debian has it (libode-dev and a C compiler): Dantzig's algorithm, or sweeps."""

import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent.parent
WHAT = "velocity-level friction pyramid, by 20 sweeps (QuickStep) or Dantzig's algorithm (Step)"
SETTINGS = {"default": "QuickStep", "accurate": "Step"}
KINDS = {"plane": 0, "box": 1, "sphere": 2, "capsule": 3, "cylinder": 4}


def _compile():
    if not shutil.which("cc") or not shutil.which("pkg-config"):
        raise ImportError("a C compiler and pkg-config")
    try:
        version = subprocess.run(["pkg-config", "--modversion", "ode"], check=True, capture_output=True, text=True).stdout.strip()
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ode"], check=True, capture_output=True, text=True).stdout.split()
    except subprocess.CalledProcessError:
        raise ImportError("libode-dev") from None
    target = pathlib.Path(tempfile.mkdtemp()) / "ode_world.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", target, HERE / "native" / "ode_world.c", *flags], check=True)
    return ctypes.CDLL(str(target)), version


_library, VERSION = _compile()
_library.world_new.restype = _library.world_add.restype = ctypes.c_void_p


def _doubles(values):
    return (ctypes.c_double * max(1, len(values)))(*values)


class Engine:
    """The scene in a world of its own."""

    def __init__(self, scene, setting):
        quick = int(setting == "default")
        self.world = ctypes.c_void_p(_library.world_new(_doubles(scene.gravity), ctypes.c_double(scene.friction), quick))
        self.dt, self.bodies = ctypes.c_double(scene.dt), []
        for body in scene.bodies:
            inertia = body.inertia() if body.mass else (0.0,) * 3
            made = _library.world_add(
                self.world, KINDS[body.shape], _doubles(body.size), ctypes.c_double(body.mass), _doubles(inertia), _doubles(body.position),
                _doubles(body.quaternion), _doubles(body.velocity), int(body.slides), ctypes.c_double(body.force),
            )
            if body.mass:
                self.bodies.append(ctypes.c_void_p(made))

    def step(self, count):
        _library.world_step(self.world, self.dt, count)

    def poses(self):
        pose = (ctypes.c_double * 7)()
        out = []
        for body in self.bodies:
            _library.body_pose(body, pose)
            out.append(list(pose))
        return np.array(out)

    def certificate(self):
        return None

    def close(self):
        _library.world_free(self.world)


build = Engine

"""Makes the pictures of the documentation: python docs/pictures/make.py [--only NAME]

Needs the package with its extras `render` and `plot`, and mujoco for the two that compare. About 4 minutes on two cores.
"""

import argparse
import pathlib
import subprocess
import sys

import stiction
from stiction import render
from stiction.render import Camera

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
SCENES = ROOT / "scenes"


def capsule(out):
    """The pinched capsule that holds here, and creeps in MuJoCo."""
    from stiction._cli import _python

    options = ["--ctrl", "12,-12", "--to", "6", "--fps", "12", "--speed", "2", "--bodies", "capsule", "--azimuth", "-70", "--elevation", "12"]
    code = _python("compare", [str(ROOT / "examples" / "capsule.xml"), "--with", "mujoco", *options, "--size", "400x300", "--video", str(out), "--force"])
    if code:
        sys.exit(code)


def grasp(out):
    """Two grippers hold a row of cubes by friction alone: the forces that do it."""
    simulation = stiction.Simulation(stiction.Scene.load(SCENES / "grasp.toml", n=4))
    simulation.run(200)
    render.save(simulation.render(900, 420, camera=Camera(azimuth=-72, elevation=20), forces=True), out)


def quadruped(out):
    """A quadruped trots over hills, with the forces on its feet."""
    render.video(HERE / "quadruped.toml", out, start=0.5, end=3.5, fps=15, width=480, height=300, camera=Camera(follow="trunk", azimuth=-60, elevation=14), forces=True)


def feeder(out):
    """Baraff's block feeder."""
    render.video(SCENES / "block-feeder.toml", out, end=4.0, fps=12, width=420, height=300, camera=Camera(azimuth=-70, elevation=15))


def heap(out):
    """A heap of all shapes tumbles into a bin."""
    scene = stiction.Scene.load(SCENES / "heap.toml", n=60, kind=6, seed=3)
    render.video(scene, out, end=1.6, fps=15, width=360, height=400, camera=Camera(elevation=30))


def accuracy(out):
    """Time against error: the figures of the benchmark, measured now."""
    subprocess.run([sys.executable, str(ROOT / "benchmarks" / "accuracy_vs_mujoco.py"), "--plot", str(out)], check=True)


PICTURES = {
    "capsule.webp": capsule,
    "grasp.png": grasp,
    "quadruped.webp": quadruped,
    "block-feeder.webp": feeder,
    "heap.webp": heap,
    "accuracy.png": accuracy,
}
#: All pictures together are smaller than this (bytes).
LIMIT = 6_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[name.partition(".")[0] for name in PICTURES])
    only = parser.parse_args().only
    for name, make in PICTURES.items():
        if only in (None, name.partition(".")[0]):
            make(HERE / name)
            print(f"{name:20} {(HERE / name).stat().st_size / 1e3:8.0f} kB")
    total = sum(file.stat().st_size for file in HERE.glob("*.*"))
    if total > LIMIT:
        sys.exit(f"all together {total} bytes: more than {LIMIT}")


if __name__ == "__main__":
    main()

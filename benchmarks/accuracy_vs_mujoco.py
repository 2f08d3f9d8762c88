"""Time per step against error, beside MuJoCo: python benchmarks/accuracy_vs_mujoco.py [--json FILE] [--plot FILE]

Needs the Python packages stiction and mujoco (and matplotlib for --plot). The same MJCF in both engines, one second of four scenes in which the exact answer is known: nothing moves.
MuJoCo runs with its defaults, with its no-slip pass, and stiffer (solref, solimp); both with steps from 0.5 to 10 ms. The error is how far the body that moved most is from its start.
"""

import argparse
import json
import pathlib
import tempfile
import time

import mujoco
import numpy as np

import stiction

SECONDS = 1.0
STEPS = (0.0005, 0.001, 0.002, 0.005, 0.01)
CAPSULE = (pathlib.Path(__file__).parent.parent / "examples" / "capsule.xml").read_text()
OPTIONS = {
    "MuJoCo": "",
    "MuJoCo, no-slip pass": 'noslip_iterations="50"',
    "MuJoCo, stiff": "stiff",
}


def boxes(places, gravity="0 0 -9.81", friction=0.5):
    bodies = "".join(f'<body name="b{i}" pos="0 0 {z}"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="{m}"/></body>' for i, (z, m) in enumerate(places))
    return f"""<mujoco><option timestep="0.001" cone="elliptic" gravity="{gravity}"/><default><geom friction="{friction}"/></default>
<worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>"""


#: The text, and the controls of its actuators. Mass ratios and slopes are as in the README.
SCENES = {
    "pinched capsule": (CAPSULE, [12.0, -12.0]),
    "cube on a slope": (boxes([(0.05, 1.0)], gravity=f"{9.81 * np.sin(np.radians(20)):.15g} 0 {-9.81 * np.cos(np.radians(20)):.15g}"), []),
    "tower of 10 cubes": (boxes([(0.05 + 0.1 * i, 1.0) for i in range(10)]), []),
    "1000 times its mass": (boxes([(0.05, 1.0), (0.15, 1000.0)]), []),
}


def timed(steps, one):
    """Processor time per step (µs) of many."""
    clock = time.process_time()
    for _ in range(steps):
        one()
    return (time.process_time() - clock) * 1e6 / steps


def in_mujoco(text, control, dt, option):
    text = text.replace('timestep="0.001"', f'timestep="{dt}" {option if option != "stiff" else ""}')
    model = mujoco.MjModel.from_xml_string(text)
    if option == "stiff":
        # As stiff as the step allows.
        model.geom_solref[:] = [2 * dt, 1.0]
        model.geom_solimp[:, :2] = [0.99, 0.999]
    data = mujoco.MjData(model)
    data.ctrl[:] = control
    mujoco.mj_forward(model, data)
    start = data.xpos.copy()
    spent = timed(round(SECONDS / dt), lambda: mujoco.mj_step(model, data))
    return spent, float(np.linalg.norm(data.xpos - start, axis=1).max())


def in_stiction(text, control, dt):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scene.xml"
        file.write_text(text)
        # Every step is computed: at rest they would cost next to nothing.
        scene = stiction.Scene.load(file).with_settings(dt=dt, threads=1, sleeping=False)
    simulation = stiction.Simulation(scene)
    simulation.ctrl[:] = control
    start = simulation.poses[:, :3].copy()
    steps = round(SECONDS / dt)
    clock = time.process_time()
    simulation.run(steps)
    return (time.process_time() - clock) * 1e6 / steps, float(np.linalg.norm(simulation.poses[:, :3] - start, axis=1).max())


def measured():
    rows = []
    for scene, (text, control) in SCENES.items():
        for dt in STEPS:
            rows.append({"scene": scene, "engine": "Stiction", "dt": dt, **dict(zip(("us", "error"), in_stiction(text, control, dt), strict=True))})
            for engine, option in OPTIONS.items():
                rows.append({"scene": scene, "engine": engine, "dt": dt, **dict(zip(("us", "error"), in_mujoco(text, control, dt, option), strict=True))})
    return rows


def plotted(rows, file):
    """Processor time per simulated second against error, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    styles = {"Stiction": ("#1f5fa8", "o"), "MuJoCo": ("#c8442c", "s"), "MuJoCo, no-slip pass": ("#e0a030", "^"), "MuJoCo, stiff": ("#777777", "v")}
    axes = figure.subplots(1, len(SCENES), sharey=True)
    for ax, scene in zip(axes, SCENES, strict=True):
        for engine, (color, marker) in styles.items():
            of = [row for row in rows if row["scene"] == scene and row["engine"] == engine]
            ax.loglog([row["us"] / row["dt"] * 1e-3 for row in of], [max(row["error"], 1e-18) for row in of], marker=marker, color=color, markersize=4, linewidth=1, label=engine)
        ax.set_title(scene, fontsize=10)
        ax.set_xlabel("ms per simulated second", fontsize=9)
        ax.grid(True, alpha=0.3)
    axes[0].set_ylabel("error (m); exact is 0", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    rows = measured()
    for row in rows:
        print(f"{row['scene']:22} {row['engine']:22} dt {1e3 * row['dt']:5.1f} ms {row['us']:9.1f} µs per step   error {row['error']:.1e} m")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    if options.plot:
        plotted(rows, options.plot)


if __name__ == "__main__":
    main()

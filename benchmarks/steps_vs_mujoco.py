"""Time per step beside MuJoCo: python benchmarks/steps_vs_mujoco.py [--turns N]

Needs the Python package mujoco. The same scenes in both: grasp of two cubes, quadruped on flat ground, tower of 50 cubes, pyramid of 55 boxes. Turns alternate in one
run; the smallest median of each side is printed. MuJoCo runs with its defaults (soft contact): it is the yardstick of speed, not of what is computed.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).parent
CHUNKS = 15


def grasp(n=2, side=0.1):
    half = side / 2
    body = lambda name, x, joint: (
        f'<body name="{name}" pos="{x} 0 0">{joint}<geom type="box" size="{half} {half} {half}" mass="1" friction="100 0.005 0.0001"/></body>'
    )
    blocks = "".join(body(f"block{i}", (i - (n + 1) / 2) * side, "<freejoint/>") for i in range(1, n + 1))
    slide = lambda k: f'<joint name="g{k}" type="slide" axis="1 0 0"/>'
    grippers = "".join(body(f"gripper{k}", (2 * k - 3) * (n + 1) / 2 * side, slide(k)) for k in (1, 2))
    motors = "".join(f'<motor joint="g{k}"/>' for k in (1, 2))
    xml = f'<mujoco><option timestep="0.001"/><worldbody>{blocks}{grippers}</worldbody><actuator>{motors}</actuator></mujoco>'
    return xml, [100.0 * n, -100.0 * n], 200, 200


def boxes(places, side=0.1):
    half = side / 2
    geom = f'<freejoint/><geom type="box" size="{half} {half} {half}" mass="1" friction="0.5 0.005 0.0001"/>'
    bodies = "".join(f'<body pos="{x} 0 {z}">{geom}</body>' for x, z in places)
    ground = '<geom type="plane" size="10 10 1" friction="0.5 0.005 0.0001"/>'
    return f'<mujoco><option timestep="0.001"/><worldbody>{ground}{bodies}</worldbody></mujoco>'


def stack(n=50):
    return boxes([(0, (i - 0.5) * 0.1) for i in range(1, n + 1)]), [], 100, 20


def pyramid(base=10):
    places = [
        ((i + (row - base) / 2 - 0.5) * 0.11, (row - 0.5) * 0.1)
        for row in range(1, base + 1)
        for i in range(1, base + 2 - row)
    ]
    return boxes(places), [], 100, 20


def quadruped(bend=0.6):
    legs, motors = "", ""
    degrees = math.degrees(bend)
    for i in (1, 2):
        for j in (1, 2):
            x, y, out = (3 - 2 * i) * 0.12, (3 - 2 * j) * 0.06, (3 - 2 * j)
            none = 'contype="0" conaffinity="0"'
            joint = lambda part, axis: f'<joint name="{part}{i}{j}" axis="{axis}" damping="0.5"/>'
            legs += f"""
            <body pos="{x} {y} 0">{joint("hip", "1 0 0")}
              <geom type="box" size="0.015 0.025 0.015" pos="0 {out * 0.025} 0" mass="0.1" {none}/>
              <body pos="0 {out * 0.05} 0" euler="0 {degrees} 0">{joint("thigh", "0 1 0")}
                <geom type="box" size="0.01 0.01 0.05" pos="0 0 -0.05" mass="0.1" {none}/>
                <body pos="0 0 -0.1" euler="0 {-2 * degrees} 0">{joint("shank", "0 1 0")}
                  <geom type="cylinder" size="0.005 0.05" pos="0 0 -0.05" mass="0.04" {none}/>
                  <geom type="sphere" size="0.01" pos="0 0 -0.1" mass="0.01" friction="0.8 0.005 0.0001"/>
                </body></body></body>"""
            motors += "".join(f'<position joint="{part}{i}{j}" kp="20"/>' for part in ("hip", "thigh", "shank"))
    xml = f"""<mujoco><option timestep="0.001"/><worldbody>
      <geom type="plane" size="5 5 1" friction="0.8 0.005 0.0001"/>
      <body name="trunk" pos="0 0 {0.2 * math.cos(bend) + 0.01}"><freejoint/>
        <geom type="box" size="0.15 0.06 0.025" mass="0.4" contype="0" conaffinity="0"/>{legs}</body>
      </worldbody><actuator>{motors}</actuator></mujoco>"""
    return xml, [0.0] * 12, 1000, 200


CASES = {"grasp": grasp, "quad-flat": quadruped, "stack": stack, "pyramid": pyramid}


def mujoco_times():
    import mujoco

    out = {}
    for name, make in CASES.items():
        xml, control, warm_up, chunk = make()
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        data.ctrl[:] = control
        trunk = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "trunk")

        def steps(count):
            if trunk < 0:
                mujoco.mj_step(model, data, nstep=count)
                return
            for _ in range(count):
                data.xfrc_applied[trunk, 1] = math.sin(2 * math.pi * data.time)
                mujoco.mj_step(model, data)

        steps(warm_up)
        times = []
        for _ in range(CHUNKS):
            clock = time.process_time()
            steps(chunk)
            times.append((time.process_time() - clock) * 1e6 / chunk)
        out[name] = statistics.median(times)
    return out


def our_times():
    command = ["cargo", "run", "--release", "--quiet", "--manifest-path", str(HERE / "Cargo.toml"), "--bin", "steps", "--", "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line["scene"]: line["us_per_step"] for line in map(json.loads, filter(lambda l: l.startswith("{"), lines))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    ours, theirs = {}, {}
    for _ in range(turns):
        for best, new in ((ours, our_times()), (theirs, mujoco_times())):
            for name, value in new.items():
                best[name] = min(value, best.get(name, math.inf))
    print(f"{'scene':12} {'stiction µs':>12} {'mujoco µs':>12} {'ratio':>8}")
    for name in CASES:
        a, b = ours.get(name, math.nan), theirs.get(name, math.nan)
        print(f"{name:12} {a:12.1f} {b:12.1f} {a / b:8.2f}")


if __name__ == "__main__":
    main()

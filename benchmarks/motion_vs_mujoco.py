"""Contact in motion beside MuJoCo: the same MJCF in both engines, processor time per step over the first 2 s.

    python benchmarks/motion_vs_mujoco.py                                    # every scene with 30 and 60 bodies
    python benchmarks/motion_vs_mujoco.py --scenes boxes,planks --sizes 100 --mus 0.3,0.7 --dts 0.002,0.005 --seeds 1,2
    python benchmarks/motion_vs_mujoco.py --draw 60 --json draw.json         # 60 runs drawn from scene, size (30, 100, 300), seed, mu and step

Needs the Python packages stiction and mujoco. MuJoCo runs with its defaults (soft contact): it is the yardstick of speed, not of what is computed. A run of
Stiction ends at a step that is not certified, whose problem is saved (--save DIR), unless --on-failure says otherwise; MuJoCo's times are those of the same steps.
Where MuJoCo's simulation becomes unstable it starts again from the beginning by itself: its steps count up to there, and ratios are those of the steps before.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import random
import statistics
import tempfile
import time

import mujoco

import stiction

DURATION = 2.0  # s
SIZE = 0.1  # of a box of the heaps (m)
CELL = 1.85 * SIZE  # of their grid at the start: bodies do not overlap, however they are turned


@dataclasses.dataclass(frozen=True)
class Case:
    """One run: how many bodies of which kind, drawn from which seed, with which friction and step (s)."""

    scene: str
    size: int
    seed: int
    mu: float
    dt: float


@dataclasses.dataclass(frozen=True)
class Built:
    """A scene for both engines: the MJCF text, and the controls of its actuators over time."""

    mjcf: str
    control: object = None


def numbers(*values):
    return " ".join(f"{x:.17g}" for x in values)


def document(case, world, more=""):
    """The MJCF around a world."""
    return f"""<mujoco><compiler angle="radian"/><option timestep="{case.dt}"/><default><geom friction="{case.mu} 0.005 0.0001" density="1000"/></default>
<worldbody><geom type="plane" size="50 50 1"/>{world}</worldbody>{more}</mujoco>"""


def walls(width, height, thick=SIZE, x=0.0):
    """Four walls around a square."""
    out, at = "", (width + thick) / 2
    for sign in (-1, 1):
        out += f'<geom type="box" pos="{numbers(x + sign * at, 0, height / 2)}" size="{numbers(thick / 2, width / 2 + thick, height / 2)}"/>'
        out += f'<geom type="box" pos="{numbers(x, sign * at, height / 2)}" size="{numbers(width / 2 + thick, thick / 2, height / 2)}"/>'
    return out


def turned(rng):
    """A random unit quaternion."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    length = math.sqrt(sum(x * x for x in q))
    return numbers(*(x / length for x in q))


SHAPES = {
    "boxes": f'type="box" size="{numbers(SIZE / 2, SIZE / 2, SIZE / 2)}"',
    "spheres": f'type="sphere" size="{numbers(SIZE / 2)}"',
    "capsules": f'type="capsule" size="{numbers(0.3 * SIZE, 0.4 * SIZE)}"',
    "cylinders": f'type="cylinder" size="{numbers(0.4 * SIZE, 0.4 * SIZE)}"',
    "planks": f'type="box" size="{numbers(0.8 * SIZE, 0.2 * SIZE, 0.1 * SIZE)}"',
}
MIXED = ["boxes", "spheres", "capsules", "cylinders"]


def heap(case):
    """Bodies tumble into a bin."""
    rng = random.Random(case.seed)
    per = math.ceil((case.size / 3) ** (1 / 3))
    world = walls(per * CELL, CELL * (case.size // per**2 + 2))
    for i in range(case.size):
        column, row, layer = i % per, i // per % per, i // per**2
        jitter = [0.1 * SIZE * (rng.random() - 0.5) for _ in range(3)]
        place = [CELL * (column - (per - 1) / 2), CELL * (row - (per - 1) / 2), CELL * (layer + 0.6)]
        place = numbers(*(a + b for a, b in zip(place, jitter, strict=True)))
        shape = SHAPES[MIXED[i % 4] if case.scene == "mixed" else case.scene]
        world += f'<body pos="{place}" quat="{turned(rng)}"><freejoint/><geom {shape}/></body>'
    return Built(document(case, world))


def ragdolls(case):
    """Dolls of nine links fall on each other; the size counts links."""
    rng = random.Random(case.seed)
    world = ""
    joint = lambda kind: f'<joint type="{kind}" damping="0.3"'
    for i in range(max(1, round(case.size / 9))):
        yaw = rng.uniform(0, 2 * math.pi)
        place = numbers(rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), 0.45 * (i + 1))
        limbs = ""
        for side in (-1, 1):
            limbs += f"""<body pos="0.15 {side * 0.16} 0">{joint("ball")}/><geom type="capsule" size="0.045" fromto="0 {side * 0.045} 0 0 {side * 0.245} 0"/>
<body pos="0 {side * 0.29} 0">{joint("hinge")} axis="0 0 {side}" range="0 2.4" limited="true"/><geom type="capsule" size="0.04" fromto="0 {side * 0.04} 0 0 {side * 0.24} 0"/></body></body>
<body pos="-0.26 {side * 0.1} 0">{joint("ball")}/><geom type="capsule" size="0.07" fromto="-0.07 0 0 -0.37 0 0"/>
<body pos="-0.44 0 0">{joint("hinge")} axis="0 1 0" range="0 2.4" limited="true"/><geom type="capsule" size="0.055" fromto="-0.055 0 0 -0.355 0 0"/></body></body>"""
        world += f"""<body pos="{place}" quat="{numbers(math.cos(yaw / 2), 0, 0, math.sin(yaw / 2))}"><freejoint/>
<geom type="capsule" size="0.11" fromto="-0.175 0 0 0.175 0 0"/><geom type="sphere" size="0.1" pos="0.4 0 0"/>{limbs}</body>"""
    return Built(document(case, world))


def bin_picking(case):
    """An arm takes objects out of a bin: the program of scenes/bin-picking.toml."""
    rng = random.Random(case.seed)
    size, link, middle, cycle = 0.035, 0.3, 0.5, 2.4
    cell = 1.8 * size
    per = max(4, math.ceil((case.size / 3) ** (1 / 3)))
    shapes = [
        f'type="box" size="{numbers(size / 2, size / 2, size / 2)}"',
        f'type="capsule" size="{numbers(0.4 * size, 0.4 * size)}"',
        f'type="cylinder" size="{numbers(0.45 * size, 0.5 * size)}"',
        f'type="sphere" size="{numbers(size / 2)}"',
    ]
    world = walls(per * cell, 0.08, 0.02, middle)
    for i in range(case.size):
        place = numbers(middle + cell * (i % per - (per - 1) / 2), cell * (i // per % per - (per - 1) / 2), cell * (i // per**2 + 0.55))
        world += f'<body pos="{place}" quat="{turned(rng)}"><freejoint/><geom {shapes[i % 4]}/></body>'
    none = 'contype="0" conaffinity="0"'
    fingers = "".join(
        f'<body pos="0 {side * 0.04} -0.285"><joint name="finger{side}" type="slide" axis="0 {-side} 0" range="-0.01 0.03" limited="true" damping="5"/>'
        '<geom type="box" size="0.01 0.006 0.04" mass="0.1"/></body>'
        for side in (-1, 1)
    )
    # The arm waits above everything that falls.
    world += f"""<body pos="0 0 {0.45 + cell * (case.size // per**2)}"><joint name="shoulder" axis="0 0 1"/><geom type="box" pos="{link / 2} 0 0" size="{link / 2} 0.03 0.025" mass="2" {none}/>
<body pos="{link} 0 0"><joint name="elbow" axis="0 0 1"/><geom type="box" pos="{link / 2} 0 0" size="{link / 2} 0.025 0.025" mass="1.5" {none}/>
<body pos="{link} 0 0"><joint name="lift" type="slide" axis="0 0 1"/><geom type="box" pos="0 0 -0.1" size="0.015 0.015 0.12" mass="0.3"/>
<geom type="box" pos="0 0 -0.23" size="0.015 0.06 0.01" mass="0.2"/>{fingers}</body></body></body>"""
    servo = lambda joint, kp, kv, most: f'<position joint="{joint}" kp="{kp}" kv="{kv}" forcerange="-{most} {most}"/>'
    motors = servo("shoulder", 800, 60, 100) + servo("elbow", 400, 30, 50) + servo("lift", 4000, 200, 80)
    motors += '<motor joint="finger-1"/><motor joint="finger1"/>'
    spots = [(0.43 + 0.13 * rng.random(), 0.15 * (2 * rng.random() - 1)) for _ in range(100)]
    above = cell * (case.size // per**2)

    def control(t):
        (reach, angle), phase = spots[int(t / cycle) % len(spots)], t % cycle
        ramp = lambda a, b: max(0.0, min(1.0, (phase - a) / (b - a)))
        bend = math.acos(reach / (2 * link))
        grip = 8.0 if 0.8 < phase < 1.9 else -2.0
        down = (0.215 + above) * (ramp(0.4, 0.8) - ramp(1.1, 1.5))
        return [angle - bend + math.pi / 2 * (ramp(1.5, 1.9) - ramp(2.1, 2.4)), 2 * bend, 0.1 - down, grip, grip]

    return Built(document(case, world, f"<actuator>{motors}</actuator>"), control)


SCENES = {"boxes": heap, "mixed": heap, "capsules": heap, "planks": heap, "ragdolls": ragdolls, "bin-picking": bin_picking}


def spread(seconds):
    """Mean, median, 99 % and worst of times (ms), and which was the worst."""
    if not seconds:
        return {"mean": math.nan, "median": math.nan, "p99": math.nan, "worst": math.nan, "worst_step": None}
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered), math.ceil(0.99 * len(ordered))) - 1]
    all_of = {"mean": statistics.fmean(ordered), "median": statistics.median(ordered), "p99": p99, "worst": ordered[-1]}
    return {**{name: 1e3 * x for name, x in all_of.items()}, "worst_step": seconds.index(ordered[-1])}


def run_stiction(built, steps, options, label):
    """Times of the steps made (s), and what is to be said of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(built.mjcf)
        file.flush()
        scene = stiction.Scene.load(file.name).with_settings(threads=1, sleeping=False)
    if options.on_failure != "stop":
        scene = scene.with_settings(on_failure=options.on_failure)
    simulation = stiction.Simulation(scene, raises=False)
    seconds, found = [], {"uncertified": 0, "fallbacks": 0, "failure": None, "saved": None, "factorizations": 0, "most_factorizations": 0, "penetration": 0.0}
    begin = time.process_time()
    for k in range(steps):
        if built.control:
            simulation.ctrl = built.control(k * scene.dt)
        clock = time.process_time()
        report = simulation.step()
        seconds.append(time.process_time() - clock)
        found["uncertified"] += not report.ok
        found["fallbacks"] += report.fallback
        found["factorizations"] += report.factorizations
        found["most_factorizations"] = max(found["most_factorizations"], report.most_factorizations)
        found["penetration"] = max(found["penetration"], report.penetration)
        if report.why:
            found["failure"] = f"step {k}: {report.why}"
            if options.save and report.problem:
                options.save.mkdir(parents=True, exist_ok=True)
                target = options.save / f"{label}-step-{k}.json"
                target.write_text(report.problem.to_json())
                found["saved"] = str(target)
            seconds.pop()
            break
        if options.cap and time.process_time() - begin > options.cap:
            break
    return seconds, found


#: MuJoCo's warnings of positions, velocities or accelerations that are not finite or huge.
UNSTABLE = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)


def run_mujoco(built, steps):
    """Times of as many steps (s), or of those before it becomes unstable."""
    model = mujoco.MjModel.from_xml_string(built.mjcf)
    data = mujoco.MjData(model)
    seconds = []
    for k in range(steps):
        if built.control:
            data.ctrl[:] = built.control(k * model.opt.timestep)
        clock = time.process_time()
        mujoco.mj_step(model, data)
        clock = time.process_time() - clock
        if any(data.warning[kind].number for kind in UNSTABLE):
            break
        seconds.append(clock)
    return seconds


def run(case, options):
    """One case in both engines."""
    built, steps = SCENES[case.scene](case), round(DURATION / case.dt)
    label = f"{case.scene}-n{case.size}-s{case.seed}-mu{case.mu:g}-dt{case.dt:g}"
    ours, found = run_stiction(built, steps, options, label)
    theirs = run_mujoco(built, max(1, len(ours)))
    a, b, same = spread(ours), spread(theirs), spread(ours[: len(theirs)])
    ratio = {key: same[key] / b[key] for key in ("mean", "median")}
    return {**dataclasses.asdict(case), "steps": len(ours), "of": steps, **found, "stiction_ms": a, "mujoco_ms": b, "mujoco_steps": len(theirs), "ratio": ratio}


HEAD = f"{'scene':12} {'n':>4} {'seed':>4} {'mu':>5} {'dt':>6} {'steps':>10} {'stiction ms: mean / median / 99 % / worst':>44} {'mujoco ms: the same':>36} {'ratio':>12} {'not certified':>14}"


def line(r):
    """A row of the table."""
    times = lambda t, width: " / ".join(f"{t[key]:{width}.3f}" for key in ("mean", "median", "p99", "worst"))
    ratio = f"{r['ratio']['mean']:.1f} / {r['ratio']['median']:.1f}"
    made = f"{r['steps']}/{r['of']}"
    out = f"{r['scene']:12} {r['size']:4} {r['seed']:4} {r['mu']:5.2f} {r['dt']:6.3f} {made:>10} {times(r['stiction_ms'], 8):>44} {times(r['mujoco_ms'], 6):>36} {ratio:>12} {r['uncertified']:14}"
    if r["mujoco_steps"] < r["steps"]:
        out += f"\n    MuJoCo is unstable in step {r['mujoco_steps']}"
    return out + (f"\n    {r['failure'][:150]}" if r["failure"] else "")


def draw(count, seed):
    """Cases drawn at random; three of four have mu up to 0.7, the others up to 2."""
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        mu = rng.uniform(0.1, 0.7) if rng.random() < 0.75 else rng.uniform(0.7, 2.0)
        cases.append(Case(rng.choice(list(SCENES)), rng.choice([30, 100, 300]), rng.randrange(1000), round(mu, 2), rng.choice([0.001, 0.002, 0.005])))
    return cases


def verdicts(results):
    """What the runs came to, in lines."""
    for name, chosen in (("mu up to 0.7", [r for r in results if r["mu"] <= 0.7]), ("mu above 0.7", [r for r in results if r["mu"] > 0.7])):
        if chosen:
            steps = sum(r["steps"] + bool(r["failure"]) for r in chosen)
            unfinished = sum(r["steps"] < r["of"] for r in chosen)
            yield f"{name}: {len(chosen)} runs, {steps} steps, {sum(r['uncertified'] for r in chosen)} not certified, {unfinished} runs not finished"
    for name, least, most in (("up to 60 bodies", 0, 60), ("up to 300 bodies", 61, 300)):
        chosen = [r["ratio"] for r in results if least <= r["size"] <= most and r["steps"]]
        if chosen:
            worst = {key: max(ratio[key] for ratio in chosen) for key in ("mean", "median")}
            middle = {key: statistics.median(ratio[key] for ratio in chosen) for key in ("mean", "median")}
            yield f"{name}: ratio of means at most {worst['mean']:.1f} (median {middle['mean']:.1f}), of medians at most {worst['median']:.1f} (median {middle['median']:.1f})"
    tails = [r["stiction_ms"]["p99"] / r["stiction_ms"]["median"] for r in results if r["steps"]]
    if tails:
        yield f"99 % beside the median: at most {max(tails):.1f} times (median {statistics.median(tails):.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    many = lambda kind: lambda text: [kind(x) for x in text.split(",")]
    parser.add_argument("--scenes", type=many(str), default=list(SCENES), help=",".join(SCENES))
    parser.add_argument("--sizes", type=many(int), default=[30, 60])
    parser.add_argument("--seeds", type=many(int), default=[1])
    parser.add_argument("--mus", type=many(float), default=[0.5])
    parser.add_argument("--dts", type=many(float), default=[0.002])
    parser.add_argument("--draw", type=int, metavar="N", help="N cases drawn at random instead of the grid above")
    parser.add_argument("--draw-seed", type=int, default=1)
    parser.add_argument("--on-failure", choices=["stop", "accept", "fallback"], default="stop")
    parser.add_argument("--cap", type=float, metavar="S", help="end a run of Stiction after so much processor time")
    parser.add_argument("--save", type=pathlib.Path, metavar="DIR", help="where contact problems of failed steps go")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all results there, after every run")
    options = parser.parse_args()
    unknown = [name for name in options.scenes if name not in SCENES]
    if unknown:
        parser.error(f"there is no scene {unknown[0]!r}; there are {', '.join(SCENES)}")
    grid = [Case(*x) for x in ((s, n, seed, mu, dt) for s in options.scenes for n in options.sizes for seed in options.seeds for mu in options.mus for dt in options.dts)]
    cases = draw(options.draw, options.draw_seed) if options.draw else grid
    print(HEAD)
    results = []
    for case in cases:
        results.append(run(case, options))
        print(line(results[-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps({"results": results, "verdicts": list(verdicts(results))}, indent=1))
    print(*verdicts(results), sep="\n")


if __name__ == "__main__":
    main()

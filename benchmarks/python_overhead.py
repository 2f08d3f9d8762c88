"""What crossing the border between Python and Rust costs: python benchmarks/python_overhead.py [--turns N]

Needs the package installed from a release build (pip install .). Turns alternate between Rust (crates/stiction/examples/python_overhead.rs) and
Python in one run; the smallest mean of a chunk of calls of each side is printed. Processor time, but for the batch.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import stiction

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHUNKS, CALLS = 100, 50
SCENE = ROOT / "scenes" / "grasp.toml"


def problem(n=24):
    """A box at rest on four contacts has order 24; this one has its shape: positive semidefinite, plus what makes it solvable."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(n, n // 2))
    return factor @ factor.T + 0.1 * np.eye(n), rng.normal(size=n)


def smallest(call, chunks=CHUNKS, calls=CALLS):
    times = []
    for _ in range(chunks):
        start = time.process_time_ns()
        for _ in range(calls):
            call()
        times.append((time.process_time_ns() - start) / (1e3 * calls))
    return min(times)


def python_side(m, q):
    simulation, many = stiction.Simulation(SCENE), stiction.Simulation(SCENE)
    solve, fortran = stiction.lcp.solve, np.asfortranarray(m)
    return {
        "solve": smallest(lambda: solve(m, q)),
        "solve, Fortran order": smallest(lambda: solve(fortran, q)),
        "solve and z": smallest(lambda: solve(m, q).z),
        "step": smallest(simulation.step),
        "run": smallest(lambda: many.run(CALLS), calls=1) / CALLS,
    }


def batch_side(threads, n=64, steps=20):
    batch = stiction.BatchSimulation(ROOT / "scenes" / "quad-flat.toml", n, threads=threads)
    batch.step(steps)
    wall, processor = [], []
    for _ in range(5):
        start, work = time.perf_counter(), time.process_time()
        batch.step(steps)
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - work)
    return np.array([min(wall), min(processor)]) / (n * steps) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rust", type=pathlib.Path, help="the built example; default: built by cargo")
    args = parser.parse_args()
    rust = args.rust
    if rust is None:
        subprocess.run(["cargo", "build", "--release", "-p", "stiction", "--example", "python_overhead"], cwd=ROOT, check=True)
        rust = ROOT / "target" / "release" / "examples" / "python_overhead"
    m, q = problem()
    ours, theirs, one, two = {}, {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "problem.json"
        file.write_text(json.dumps({"kind": "lcp", "M": m.tolist(), "q": q.tolist()}))
        for _ in range(args.turns):
            out = subprocess.run([rust, file, SCENE, str(CHUNKS), str(CALLS)], check=True, capture_output=True, text=True).stdout
            for key, value in json.loads(out).items():
                theirs[key] = min(value, theirs.get(key, value))
            for key, value in python_side(m, q).items():
                ours[key] = min(value, ours.get(key, value))
            one.append(batch_side(1))
            two.append(batch_side(2))
    rows = [
        ("lcp.solve, order 24", ours["solve"], theirs["solve"], "at most 3 µs more"),
        ("the same, Fortran order", ours["solve, Fortran order"], theirs["solve"], ""),
        ("the same, and z read", ours["solve and z"], theirs["solve"], ""),
        ("(Rust with the problem built each time)", ours["solve"], theirs["build_and_solve"], ""),
        ("Simulation.step(), grasp", ours["step"], theirs["step"], "at most 1 µs more"),
        ("Simulation.run(100), per step", ours["run"], theirs["step"], "nothing"),
    ]
    print(f"{'':<42}{'Python µs':>10}{'Rust µs':>10}{'more µs':>10}  bar")
    for name, here, there, bar in rows:
        print(f"{name:<42}{here:>10.2f}{there:>10.2f}{here - there:>10.2f}  {bar}")
    (wall1, cpu1), (wall2, cpu2) = np.min(one, axis=0), np.min(two, axis=0)
    print(f"BatchSimulation, 64 quadrupeds: {wall1:.2f} µs per step on one thread, {wall2:.2f} on two: {wall1 / wall2:.2f} times  (bar: 1.8)")
    print(f"  processor time {cpu1:.2f} and {cpu2:.2f} µs: {2 * cpu1 / cpu2:.2f} times where both cores are free")


if __name__ == "__main__":
    main()

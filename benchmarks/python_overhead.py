"""What crossing the border between Python and Rust costs: python benchmarks/python_overhead.py [--pairs N]

Needs the package installed from a release build (pip install .). Blocks of calls alternate between Rust
(crates/stiction/examples/python_overhead.rs) and Python, on one core, with the same solves and the same steps of the same simulation; each pair of
neighbours gives a difference of processor times, and the median of the differences is what counts. Half of them lie within the spread. The batch is
measured by the clock: one thread, two threads, and two threads of Python that step two batches of half the size, which is what the machine itself
gives at that moment.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import numpy as np

import stiction

ROOT = pathlib.Path(__file__).resolve().parents[1]
WARM, CALLS = 10, 50
SCENE = ROOT / "scenes" / "grasp.toml"
BATCH = ROOT / "scenes" / "quad-flat.toml"


def problem(n=24):
    """A box at rest on four contacts has order 24; this one has its shape: positive semidefinite, plus what makes it solvable."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(n, n // 2))
    return factor @ factor.T + 0.1 * np.eye(n), rng.normal(size=n)


def block(call, calls=CALLS, per_call=1):
    """Mean processor time of a call (µs), after some that do not count."""
    for _ in range(WARM // per_call):
        call()
    start = time.process_time_ns()
    for _ in range(calls // per_call):
        call()
    return (time.process_time_ns() - start) / (1e3 * calls)


class Rust:
    """The other side."""

    def __init__(self, program, *files):
        self.process = subprocess.Popen([program, *map(str, files)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def block(self, what):
        print(f"{what} {WARM} {CALLS}", file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def border(rust, m, q, pairs):
    """Rows of a table: name, bar, and pairs of times of Python and Rust."""
    awake = stiction.Scene.load(SCENE).with_settings(sleeping=False)
    simulation, many = stiction.Simulation(awake), stiction.Simulation(awake)
    solve, fortran = stiction.lcp.solve, np.asfortranarray(m)
    rows = [
        ("lcp.solve, order 24", "at most 3 µs more", "solve", lambda: block(lambda: solve(m, q))),
        ("the same, Fortran order", "", "solve", lambda: block(lambda: solve(fortran, q))),
        ("the same, and z read", "", "solve", lambda: block(lambda: solve(m, q).z)),
        ("(Rust with the problem built each time)", "", "build_and_solve", lambda: block(lambda: solve(m, q))),
        ("Simulation.step(), grasp", "at most 1 µs more", "step", lambda: block(simulation.step)),
    ]
    for name, bar, what, ours in rows:
        yield name, bar, np.array([(ours(), rust.block(what)) for _ in range(pairs)])
    with_run = [(block(lambda: many.run(WARM), per_call=WARM), block(simulation.step)) for _ in range(pairs)]
    yield "Simulation.run(n) per step, beside step()", "less", np.array(with_run)


def quartiles(x):
    low, middle, high = np.percentile(x, [25, 50, 75])
    return f"{middle:8.2f}  ({low:.2f} to {high:.2f})"


def clock(work):
    """Time and processor time of some work (s)."""
    start, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - processor


def batches(pairs, n=64, steps=20):
    """Time of a step (µs); one thread's time over that of two: of the batch, and of two threads with half a batch each; the ratio of processor times."""
    awake = stiction.Scene.load(BATCH).with_settings(sleeping=False)
    one, two = (stiction.BatchSimulation(awake, n, threads=k) for k in (1, 2))
    halves = [stiction.BatchSimulation(awake, n // 2, threads=1) for _ in range(2)]

    def both():
        threads = [threading.Thread(target=half.step, args=(steps,)) for half in halves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    works = [lambda: one.step(steps), lambda: two.step(steps), both]
    for work in works:
        work()
    times, work = np.moveaxis([[clock(work) for work in works] for _ in range(pairs)], 2, 0)
    return times[:, 0] / (n * steps) * 1e6, times[:, 0] / times[:, 1], times[:, 0] / times[:, 2], work[:, 1] / work[:, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200, help="blocks of each side")
    parser.add_argument("--rust", type=pathlib.Path, help="the built example; default: built by cargo")
    args = parser.parse_args()
    rust = args.rust
    if rust is None:
        subprocess.run(["cargo", "build", "--release", "-p", "stiction", "--example", "python_overhead"], cwd=ROOT, check=True)
        rust = ROOT / "target" / "release" / "examples" / "python_overhead"
    m, q = problem()
    cores = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "problem.json"
        file.write_text(json.dumps({"kind": "lcp", "M": m.tolist(), "q": q.tolist()}))
        os.sched_setaffinity(0, {max(cores)})
        print(f"{'':<42}{'here µs':>9}{'there µs':>9}{'more µs':>9}  (half of the pairs)  bar")
        with Rust(rust, file, SCENE) as other:
            for name, bar, times in border(other, m, q, args.pairs):
                here, there = np.median(times, axis=0)
                print(f"{name:<42}{here:>9.2f}{there:>9.2f} {quartiles(times[:, 0] - times[:, 1]):<28}  {bar}")
        os.sched_setaffinity(0, cores)
    step, batch, machine, work = batches(max(5, args.pairs // 4))
    print(f"BatchSimulation, 64 quadrupeds, {np.median(step):.2f} µs per step on one thread")
    print(f"  two threads: times {quartiles(batch)}  bar: 1.8")
    print(f"  two batches of 32 side by side: times {quartiles(machine)}: what this machine gives now")
    print(f"  processor time of two threads beside one: times {quartiles(work)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""`Lemke` beside its peers on the same problems in one run.

    python benchmarks/lemke_vs_peers.py [--quick]

Peers: quantecon's lexicographic Lemke (pip), and Siconos' where it is installed. Every figure is the median processor time of 30 calls
after three warm-up calls, with arrays prepared; all take five turns on each problem and the smallest median counts, so that a passing load on
the machine does not decide. Needs numpy and quantecon; builds the Rust side itself.

Families: psd (rank n/2), psdskew (psd plus skew, planted solution), copplus (copositive-plus, planted), and box: Stewart-Trinkle contact of a
box on a plane with redundant contacts, 4 or 8 friction directions, at rest, sliding, or in an impact.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "peers"))

from problems import box, copositive_plus, semidefinite, skewed  # noqa: E402

CALLS, WARM_UP, ROUNDS = 30, 3, 5


def problems(quick):
    for name, family in (("psd", semidefinite), ("psdskew", skewed), ("copplus", copositive_plus)):
        for n in (10, 24, 50, 100) if quick else (10, 24, 50, 100, 200, 400, 640):
            yield f"{name}_{n}", family(n, np.random.default_rng([n, 7]))
    for directions in (4, 8):
        for contacts in (4, 8, 16) if quick else (4, 8, 16, 32, 64):
            for case in ("rest", "slide", "impact"):
                yield f"box_{contacts}x{directions}_{case}", box(contacts, directions, case)


def median_us(call):
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(CALLS):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return statistics.median(times) / 1e3


def residual(m, q, z):
    """max |min(z, rho w)| / (rho |q|), as the certificate has it."""
    if z is None or not np.all(np.isfinite(z)):
        return float("inf")
    rho = 1 / np.abs(m).max()
    return np.abs(np.minimum(z, rho * (m @ z + q))).max() / (rho * np.abs(q).max())


def quantecon_solver():
    from quantecon.optimize import lcp_lemke

    return lambda m, q: lcp_lemke(m, q, max_iter=10**5).z


def siconos_solver():
    import siconos.numerics as sn

    def solve(m, q):
        lcp = sn.LCP(np.asfortranarray(m), q)
        z, w = np.zeros(len(q)), np.zeros(len(q))
        options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
        sn.linearComplementarity_driver(lcp, z, w, options)
        return z

    return solve


def peers():
    for name, make in (("quantecon", quantecon_solver), ("siconos", siconos_solver)):
        try:
            yield name, make()
        except ImportError:
            print(f"# {name} is not installed: left out")


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "lemke_speed"], cwd=ROOT, check=True)


def ours(path):
    """(outcome, pivots, median in us) of `Lemke`."""
    run = subprocess.run([ROOT.parent / "target/release/lemke_speed", path], check=True, capture_output=True, text=True)
    _, _, outcome, pivots, us = run.stdout.split()
    return outcome, pivots, float(us)


def in_turns(path, m, q, others):
    """Our outcome and pivots, then the times of `Lemke` and of each peer: the smallest of its medians."""
    contiguous = np.ascontiguousarray(m)
    rounds = []
    for _ in range(ROUNDS):
        outcome, pivots, us = ours(path)
        rounds.append([us, *(median_us(lambda: solve(contiguous, q)) for _, solve in others)])
    return outcome, pivots, [min(medians) for medians in zip(*rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="orders up to 160 only")
    quick = parser.parse_args().quick
    build()
    others = list(peers())
    print(f"{'problem':20} {'n':>4} {'pivots':>6} {'Lemke us':>10}" + "".join(f" {n + ' us':>14} {'ratio':>7}" for n, _ in others))
    worst = {name: float("inf") for name, _ in others}
    with tempfile.TemporaryDirectory() as folder:
        for name, (m, q) in problems(quick):
            path = f"{folder}/{name}.npz"
            np.savez(path, M=m, q=q)
            outcome, pivots, times = in_turns(path, m, q, others)
            row = f"{name:20} {len(q):>4} {pivots:>6} {times[0]:10.1f}" + ("" if outcome == "solved" else f" ({outcome})")
            for (peer, solve), us in zip(others, times[1:]):
                wrong = residual(m, q, solve(np.ascontiguousarray(m), q)) > 1e-8
                worst[peer] = min(worst[peer], us / times[0])
                row += f" {us:13.1f}{'*' if wrong else ' '} {us / times[0]:7.1f}"
            print(row, flush=True)
    for peer, ratio in worst.items():
        print(f"# smallest ratio {peer} : Lemke = {ratio:.2f}  (* the peer's answer is wrong, residual above 1e-8)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The order of elimination beside nested dissection: multiplications and additions of the factor of heaps in motion, in our order and METIS's.

    python benchmarks/order_vs_metis.py                          # heaps of boxes and of mixed shapes, 125 and 343 bodies
    python benchmarks/order_vs_metis.py --sizes 1000 --steps 170

Needs the Python packages stiction, mujoco (for the scenes) and pymetis, and cargo. The graph is the largest island after some steps: free bodies that touch. Ours
counts the zeros that supernodes take in; METIS's order, the best of several seeds, is counted without.
"""

import argparse
import pathlib
import subprocess
import tempfile

import motion_vs_mujoco as motion
import numpy as np
import pymetis

import stiction

VELOCITIES = 6  # of a free body


def neighbours(simulation):
    """The bodies of the largest island: for each, those that it touches."""
    contacts = simulation.contacts
    tied = {}
    for a, b in zip(contacts["body_a"].tolist(), contacts["body_b"].tolist(), strict=True):
        if min(a, b) >= 0 and a != b:
            tied.setdefault(a, set()).add(b)
            tied.setdefault(b, set()).add(a)
    seen, largest = set(), []
    for start in tied:
        island = [] if start in seen else [start]
        seen.add(start)
        for body in island:
            island += tied[body] - seen
            seen |= tied[body]
        largest = max(largest, island, key=len)
    number = {body: k for k, body in enumerate(largest)}
    return [sorted(number[other] for other in tied[body]) for body in largest]


def heap(scene, size, steps):
    """The graph of a heap in motion."""
    case = motion.Case(scene, size, seed=1, mu=0.5, dt=0.005)
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(motion.SCENES[scene](case).mjcf)
        file.flush()
        loaded = stiction.Scene.load(file.name).with_settings(sleeping=False, on_failure="accept")
    simulation = stiction.Simulation(loaded, raises=False)
    for _ in range(steps):
        simulation.step()
    return neighbours(simulation)


def flops(graph, order):
    """Multiplications and additions of a symmetric factor: the squares of the heights of its columns."""
    place = {body: k for k, body in enumerate(order)}
    tied, total = [set(others) for others in graph], 0
    for body in order:
        below = {other for other in tied[body] if place[other] > place[body]}
        for other in below:
            tied[other] |= below - {other}
        total += sum((VELOCITIES * len(below) + k) ** 2 for k in range(1, VELOCITIES + 1))
    return total


def metis(graph, seeds):
    """The fewest operations in METIS's orders."""
    adjacency = [np.array(others) for others in graph]
    orders = [pymetis.nested_dissection(adjacency=adjacency, options=pymetis.Options(seed=k)) for k in range(seeds)]
    # Which of the two permutations is the order is left to the count.
    return min(flops(graph, list(order)) for pair in orders for order in pair)


def ours(graph):
    """The operations that `island_factor` counts."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{a} {b}\n" for a, others in enumerate(graph) for b in others if a < b)
        file.flush()
        root = pathlib.Path(__file__).parent.parent
        command = ["cargo", "run", "--release", "--quiet", "--package", "stiction-benchmarks", "--bin", "island_factor", file.name]
        out = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    symmetric = next(line.split() for line in out.splitlines() if " true " in line)
    return 1e6 * float(symmetric[-2])


def main():
    """Prints a line for each heap."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenes", default="boxes,mixed")
    parser.add_argument("--sizes", default="125,343")
    parser.add_argument("--steps", type=int, default=200, help="steps of 5 ms before the graph is taken")
    parser.add_argument("--seeds", type=int, default=8, help="of METIS")
    args = parser.parse_args()
    print("scene   bodies  island  pairs   ours (Mflop)   METIS (Mflop)   ratio")
    for scene in args.scenes.split(","):
        for size in map(int, args.sizes.split(",")):
            graph = heap(scene, size, args.steps)
            own, other, pairs = ours(graph), metis(graph, args.seeds), sum(map(len, graph)) // 2
            print(f"{scene:8}{size:6}{len(graph):8}{pairs:7}{own / 1e6:15.2f}{other / 1e6:16.2f}{own / other:8.2f}", flush=True)


if __name__ == "__main__":
    main()

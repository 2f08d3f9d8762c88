"""Batched rollouts on Ray: how hard must a grasp press? Start it again after an interruption, and it goes on where it was.

On a cluster, connect first: ``ray.init(address="auto")``.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import stiction
from stiction.ray import grid, sweep

SCENES = Path(__file__).resolve().parents[2] / "scenes"


def hold(case: dict[str, Any]) -> dict[str, Any]:
    """Eight cubes pushed at different speeds, held by one squeeze."""
    scene = stiction.Scene.load(SCENES / "grasp.toml", n=1, squeeze=case["squeeze"])
    batch = stiction.BatchSimulation(scene, 8, threads=1)
    batch.v[:, 2] = np.linspace(-0.5, 0.5, 8)
    well = batch.step(500)
    return {"held": int(np.sum(well & (np.abs(batch.v[:, 2]) < 1e-9))), "moved": np.abs(batch.q[:, 2])}


def main() -> None:
    """Sweeps the force of the grippers."""
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "results.jsonl"
    for record in sweep(hold, grid(squeeze=[0.01, 0.1, 1.0, 10.0]), results):
        outcome = record["result"]
        print(f"{record['case']['squeeze']:.2f} N: {outcome['held']} of 8 held, the farthest moved {max(outcome['moved']):.4f} m")


if __name__ == "__main__":
    main()

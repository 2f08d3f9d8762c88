"""Draws learning curves: python examples/learning/curves.py walk-1.json walk-2.json walk-3.json --out learning.png"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib.pyplot as plt

#: Improvements that a point of the curve is the mean of.
WINDOW = 5


def main() -> None:
    """Forward speed over steps, a curve per file; three times the untrained policy's speed as a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()

    figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    runs = [json.loads(file.read_text()) for file in asked.files]
    for run in runs:
        rows = run["curve"]
        groups = [rows[i : i + WINDOW] for i in range(0, len(rows) - WINDOW + 1, WINDOW)]
        steps = [group[-1]["steps"] / 1000 for group in groups]
        speeds = [sum(row["speed"] for row in group) / WINDOW for group in groups]
        axes.plot(steps, speeds, label=f"seed {run['seed']}: {run['untrained']:.2f} m, then {run['trained']:.2f} m in 10 s")
    bar = 3 * max(run["untrained"] for run in runs) / 10
    axes.axhline(bar, color="gray", linestyle="--", linewidth=1, label="three times the untrained policy")
    axes.set(xlabel="steps of the environment (thousands)", ylabel="forward speed of all copies (m/s)", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(asked.out, dpi=110)


if __name__ == "__main__":
    main()

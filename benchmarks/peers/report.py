"""The table and the plots of a comparison."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable

#: A body that should rest and moves farther than this is not held (m).
HELD = 1e-3


def label(row: dict) -> str:
    """Name of an engine and its settings."""
    return row["engine"] if row["setting"] == "default" else f"{row['engine']}, {row['setting']}"


def number(x: float | None, form: str = ".2g") -> str:
    """A number of a table."""
    return "–" if x is None else "inf" if math.isinf(x) else f"{x:{form}}"


def tables(rows: list[dict]) -> Iterable[str]:
    """One Markdown table per scene."""
    for scene in dict.fromkeys(row["scene"] for row in rows):
        yield f"\n### {scene}\n"
        yield "| engine | µs/step | error (m) | overlap at the end (m) | |"
        yield "|---|---|---|---|---|"
        chosen = [row for row in rows if row["scene"] == scene]
        for row in sorted(chosen, key=lambda row: row["us_per_step"] or math.inf):
            says = row["failure"] or ""
            if row["certificate"] is not None:
                says = f"certificate {row['certificate']:.1e}; {says}".strip("; ")
            if row["steps"] < row["of"]:
                says = f"{says}; {row['steps']} of {row['of']} steps".strip("; ")
            cells = (label(row), number(row["us_per_step"], ".4g"), number(row["error_m"]), number(row["overlap_m"]), says[:120])
            yield "| " + " | ".join(cells) + " |"


def plots(rows: list[dict], folder: pathlib.Path) -> list[pathlib.Path]:
    """Time against error of the scenes whose exact answer is known, and performance profiles; none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(label(row) for row in rows))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    colour = {name: f"C{engines.index(name.split(',')[0])}" for name in names}
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    marker = dict(zip(settings, "osD^vP*", strict=False))
    made = []

    known = [s for s in dict.fromkeys(r["scene"] for r in rows) if any(r["error_m"] is not None for r in rows if r["scene"] == s)]
    if known:
        across = min(4, len(known))
        down = math.ceil(len(known) / across)
        figure, axes = plt.subplots(down, across, figsize=(3.4 * across, 3.0 * down + 0.8), squeeze=False, sharex=True, sharey=True)
        for axis in axes.flat[len(known) :]:
            axis.set_visible(False)
        for axis, scene in zip(axes.flat, known, strict=False):
            for row in rows:
                if row["scene"] == scene and row["us_per_step"] and row["error_m"] is not None:
                    error = min(max(row["error_m"], 1e-16), 1e2)
                    axis.loglog(row["us_per_step"], error, marker[row["setting"]], color=colour[label(row)], label=label(row), markersize=6)
            axis.axhline(HELD, color="0.8", linewidth=0.8, zorder=0)
            axis.set_title(scene, fontsize=10)
            axis.set_xlim(1, 1e6)
            axis.grid(True, which="major", color="0.92")
        for axis in axes[:, 0]:
            axis.set_ylabel("error (m)")
        for axis in axes[-1]:
            axis.set_xlabel("µs per step")
        handles = {}
        for axis in axes.flat:
            for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
                handles.setdefault(name, handle)
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=5, fontsize=8, frameon=False)
        figure.tight_layout(rect=(0, 0.07 + 0.02 * (len(handles) // 5), 1, 1))
        made.append(folder / "precision.png")
        figure.savefig(made[-1], dpi=130)
        plt.close(figure)

    for group in dict.fromkeys(row["group"] for row in rows):
        chosen = [row for row in rows if row["group"] == group]
        scenes = list(dict.fromkeys(row["scene"] for row in chosen))
        best = {s: min((r["us_per_step"] for r in chosen if r["scene"] == s and counts(r)), default=math.inf) for s in scenes}
        figure, axis = plt.subplots(figsize=(6.4, 4.0))
        for name in dict.fromkeys(label(row) for row in chosen):
            ratios = sorted(r["us_per_step"] / best[r["scene"]] for r in chosen if label(r) == name and counts(r))
            if not ratios:
                continue
            x = [1.0, *ratios, 1e4]
            y = [sum(r <= limit for r in ratios) / len(scenes) for limit in x]
            setting = next(r["setting"] for r in chosen if label(r) == name)
            style = ["-", "--", ":", "-."][settings.index(setting) % 4]
            axis.step(x, y, style, where="post", color=colour[name], label=name)
        axis.set_xscale("log")
        axis.set_xlim(1, 1e3)
        axis.set_ylim(0, 1.03)
        axis.set_xlabel("time beside the fastest that holds")
        axis.set_ylabel(f"part of the {len(scenes)} scenes")
        axis.set_title(f"{group}: solved within a factor of the fastest", fontsize=10)
        axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
        axis.grid(True, color="0.92")
        figure.tight_layout()
        made.append(folder / f"profile-{group}.png")
        figure.savefig(made[-1], dpi=130)
        plt.close(figure)
    return made


def counts(row: dict) -> bool:
    """True if a run came to its end with what was asked for: what should rest is held."""
    done = row["us_per_step"] and not row["failure"] and row["steps"] == row["of"]
    return bool(done and (row["error_m"] is None or row["error_m"] <= HELD))

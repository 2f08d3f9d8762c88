"""Tables and plots of a comparison, and a page of the documentation made of them.

python benchmarks/peers/report.py results.json docs/peers-results.md
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Iterable

#: A body that should rest and moves farther than this is not held (m).
HELD = 1e-3
#: An answer to a problem alone counts if its residual is at most this.
SOLVED = 1e-6
#: Errors below this are drawn there.
LEAST = 1e-16


def label(row: dict) -> str:
    """Name of an engine or solver and its settings."""
    name = row.get("engine") or row["solver"]
    return name if row["setting"] == "default" else f"{name}, {row['setting']}"


def number(x: float | None, form: str = ".2g") -> str:
    """A number of a table."""
    return "–" if x is None else "inf" if math.isinf(x) else f"{x:{form}}"


def unique(rows: list[dict], field: str) -> list:
    """Values of a field, in the order in which they come."""
    return list(dict.fromkeys(row[field] for row in rows))


def counts(row: dict) -> bool:
    """True if a run came to its end with what was asked for, or a problem is solved."""
    if "residual" in row:
        return row["residual"] is not None and row["residual"] <= SOLVED
    done = row["us_per_step"] and not row["failure"] and row["steps"] == row["of"]
    return bool(done and (row["error_m"] is None or row["error_m"] <= HELD))


def tables(document: dict) -> Iterable[str]:
    """Markdown tables: one per scene, one per family that grows, one per kind of problem."""
    rows = document["runs"]
    for scene in unique([row for row in rows if row["group"] != "growth"], "scene"):
        chosen = [row for row in rows if row["scene"] == scene]
        yield f"\n### {scene}\n"
        yield "| engine | µs/step | error (m) | overlap at the end (m) | |"
        yield "|---|---|---|---|---|"
        for row in sorted(chosen, key=lambda row: row["us_per_step"] or math.inf):
            says = row["failure"] or ""
            if row["certificate"] is not None:
                says = f"certificate {row['certificate']:.1e}; {says}".strip("; ")
            if row["steps"] < row["of"]:
                says = f"{says}; {row['steps']} of {row['of']} steps".strip("; ")
            cells = (label(row), number(row["us_per_step"], ".4g"), number(row["error_m"]), number(row["overlap_m"]), says[:120].replace("|", "/"))
            yield "| " + " | ".join(cells) + " |"
    grown = [row for row in rows if row["group"] == "growth"]
    for family in unique(grown, "family"):
        chosen = [row for row in grown if row["family"] == family]
        sizes = sorted(set(unique(chosen, "size")))
        yield f"\n### {family}: µs/step\n"
        yield "| engine | " + " | ".join(map(str, sizes)) + " |"
        yield "|---" * (1 + len(sizes)) + "|"
        for name in dict.fromkeys(map(label, chosen)):
            of = {row["size"]: row for row in chosen if label(row) == name}
            cells = [number(of[size]["us_per_step"], ".4g") if counts(of[size]) else "–" for size in sizes]
            yield f"| {name} | " + " | ".join(cells) + " |"
    for group in unique(document["solves"], "group"):
        yield f"\n### {group}: time (µs), residual\n"
        chosen = [row for row in document["solves"] if row["group"] == group]
        # Of each solver, the fastest answer that counts; else its best one.
        names = list(dict.fromkeys(map(label, chosen)))
        yield "| problem | " + " | ".join(names) + " |"
        yield "|---" * (1 + len(names)) + "|"
        for problem in unique(chosen, "problem"):
            cells = []
            for name in names:
                of = [row for row in chosen if label(row) == name and row["problem"] == problem]
                good = sorted((row for row in of if counts(row)), key=lambda row: row["us"])
                best = good[0] if good else min(of, key=lambda row: math.inf if row["residual"] is None else row["residual"], default=None)
                solved = best is not None and best["residual"] is not None
                cells.append(f"{number(best['us'], '.4g')}, {best['residual']:.0e}" + ("" if good else " (not solved)") if solved else "–")
            yield f"| {problem} | " + " | ".join(cells) + " |"


def plots(document: dict, folder: pathlib.Path) -> list[pathlib.Path]:
    """Time against error, performance profiles and growth; none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    made = []
    runs = [row for row in document["runs"] if row["group"] != "growth"]
    made += precision(runs, "scene", "us_per_step", "error_m", "error (m)", "µs per step", HELD, folder / "precision.png")
    for group in unique(document["solves"], "group"):
        rows = [row for row in document["solves"] if row["group"] == group]
        file = folder / f"precision-{group.lower().replace(' ', '-')}.png"
        made += precision(rows, "problem", "us", "residual", "residual", "µs per problem", SOLVED, file)
    for rows, of, time in ((runs, "scene", "us_per_step"), (document["solves"], "problem", "us")):
        for group in unique(rows, "group"):
            chosen = [row for row in rows if row["group"] == group]
            made.append(profile(chosen, of, time, folder / f"profile-{group.lower().replace(' ', '-')}.png"))
    grown = [row for row in document["runs"] if row["group"] == "growth" and counts(row)]
    if grown:
        made.append(growth(grown, folder / "growth.png"))
    return made


def styles(rows: list[dict]) -> dict[str, tuple[str, str, str]]:
    """Colour, marker and line of each engine with its settings."""
    names, out = [], {}
    for row in rows:
        name = label(row).split(",")[0]
        if name not in names:
            names.append(name)
        mine = [key for key in out if key.split(",")[0] == name]
        if label(row) not in out:
            out[label(row)] = (f"C{names.index(name)}", "osD^vP*"[len(mine) % 7], ["-", "--", ":", "-."][len(mine) % 4])
    return out


def precision(rows: list[dict], of: str, time: str, error: str, says: str, unit: str, good: float, file: pathlib.Path) -> list[pathlib.Path]:
    """Time against error, a panel for each scene or problem whose error is known."""
    import matplotlib.pyplot as plt

    known = [row for row in rows if row[time] and row[error] is not None]
    panels, style = unique(known, of), styles(rows)
    if not panels:
        return []
    across = min(4, len(panels))
    down = math.ceil(len(panels) / across)
    figure, axes = plt.subplots(down, across, figsize=(3.4 * across, 3.0 * down + 0.8), squeeze=False, sharex=True, sharey=True)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    handles = {}
    for axis, panel in zip(axes.flat, panels, strict=False):
        for name, (colour, marker, _) in style.items():
            points = sorted((row[time], min(max(row[error], LEAST), 1e2)) for row in known if row[of] == panel and label(row) == name)
            if points:
                (handles[name],) = axis.loglog(*zip(*points, strict=True), marker=marker, color=colour, markersize=6, linewidth=0.8)
        axis.axhline(good, color="0.5", linewidth=0.8, linestyle="--", zorder=1)
        axis.set_title(panel, fontsize=10)
        axis.grid(True, which="major", color="0.92")
    for axis in axes[:, 0]:
        axis.set_ylabel(says)
    for axis in axes[-1]:
        axis.set_xlabel(unit)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=min(5, across), fontsize=8, frameon=False)
    lines = math.ceil(len(handles) / min(5, across))
    figure.tight_layout(rect=(0, (0.3 + 0.2 * lines) / (3.0 * down + 0.8), 1, 1))
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return [file]


def profile(rows: list[dict], of: str, time: str, file: pathlib.Path) -> pathlib.Path:
    """Which part of the scenes or problems each solves within a factor of the fastest that solves it."""
    import matplotlib.pyplot as plt

    panels = unique(rows, of)
    best = {p: min((row[time] for row in rows if row[of] == p and counts(row)), default=math.inf) for p in panels}
    figure, axis = plt.subplots(figsize=(6.8, 4.0))
    for name, (colour, _, line) in styles(rows).items():
        # Of several tolerances the fastest that is good enough.
        times = [min((row[time] for row in rows if row[of] == p and label(row) == name and counts(row)), default=math.inf) for p in panels]
        ratios = sorted(t / best[p] for p, t in zip(panels, times, strict=True) if t < math.inf)
        if ratios:
            x = [1.0, *ratios, 1e5]
            axis.step(x, [sum(r <= limit for r in ratios) / len(panels) for limit in x], line, where="post", color=colour, label=name)
    axis.set_xscale("log")
    axis.set_xlim(1, 1e3)
    axis.set_ylim(0, 1.03)
    axis.set_xlabel("time beside the fastest " + ("that holds" if of == "scene" else f"with a residual of at most {SOLVED:g}"))
    axis.set_ylabel(f"part of the {len(panels)} {of}s")
    axis.set_title(f"{rows[0]['group']}: solved within a factor of the fastest", fontsize=10)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    axis.grid(True, color="0.92")
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return file


def growth(rows: list[dict], file: pathlib.Path) -> pathlib.Path:
    """Time per step against the number of bodies."""
    import matplotlib.pyplot as plt

    families, style = unique(rows, "family"), styles(rows)
    figure, axes = plt.subplots(1, len(families), figsize=(4.6 * len(families), 4.4), squeeze=False)
    for axis, family in zip(axes.flat, families, strict=True):
        for name, (colour, marker, _) in style.items():
            points = sorted((row["size"], row["us_per_step"]) for row in rows if row["family"] == family and label(row) == name)
            if points:
                axis.loglog(*zip(*points, strict=True), marker=marker, color=colour, label=name, markersize=4, linewidth=1)
        sizes = sorted({row["size"] for row in rows if row["family"] == family})
        axis.set_xticks(sizes, map(str, sizes))
        axis.minorticks_off()
        axis.set_title(family, fontsize=10)
        axis.set_xlabel("bodies")
        axis.set_ylabel("µs per step")
        axis.grid(True, color="0.92")
    axes.flat[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return file


CAPTIONS = {
    "precision.png": "Time against error where the exact answer is known: lower and farther left is better. The dashed line is what counts as held, 1 mm.",
    "precision-contact-problems.png": "Contact problems alone, from the start, for each solver's tolerances; the dashed line is a residual of 10⁻⁶.",
    "precision-lcps.png": "Linear complementarity problems alone.",
    "growth.png": "Time per step as the number of bodies grows, default settings.",
}


def page(document: dict, file: pathlib.Path) -> None:
    """A page of the documentation, and its plots beside it."""
    folder = file.parent / file.stem
    folder.mkdir(parents=True, exist_ok=True)
    made = plots(document, folder)
    machine = document["machine"]
    lines = [
        "# Beside other engines: results",
        "",
        f"Made on {document['date']} by `python benchmarks/peers`, which anyone can repeat: processor time on one thread of one machine ({machine['processor']}),",
        f"the fastest of {document['turns']} turns. [What is measured, and what each engine computes](peers.md): they solve different problems, so times alone say little.",
        "",
        "| engine or solver | version | |",
        "|---|---|---|",
    ]
    for name, about in {**document["engines"], **{f"{name} (problems alone)": about for name, about in document["solvers"].items()}}.items():
        lines.append(f"| {name} | {about['version']} | {about['what']} |")
    lines += ["", "## Plots", ""]
    for path in made:
        caption = CAPTIONS.get(path.name, f"Performance profile, {path.stem.removeprefix('profile-').replace('-', ' ').replace('lcps', 'LCPs')}.")
        lines += [f"![{caption}]({folder.name}/{path.name})", "", f"*{caption}*", ""]
    lines += ["## Tables", *tables(document), ""]
    file.write_text("\n".join(lines))


if __name__ == "__main__":
    page(json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2]))

"""Stiction beside other engines and solvers, on the same scenes and problems in one run: python benchmarks/peers [--engines …] [--scenes …] [--out DIR]

Runs every engine that is installed (`pip install mujoco drake dartpy pybullet`, Debian's libode-dev, Rapier by cargo) and every solver of problems alone (`pip install
pin quantecon`, Siconos), with its defaults and with accurate settings, in turns; each in a process of its own, so that one that crashes ends alone. Writes tables,
results.json (its fields: docs/peers.md) and plots. `python benchmarks/peers/report.py results.json docs/peers-results.md` makes a page of them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import platform
import sys
from collections.abc import Iterator

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import engines  # noqa: E402
import problems  # noqa: E402
import report  # noqa: E402
import scenes  # noqa: E402
import solvers  # noqa: E402
from workers import Worker  # noqa: E402


#: Kinds of problems alone, and what makes them.
PROBLEMS = {"contact problems": problems.contact_problems, "LCPs": problems.lcps}
GROUPS = ["resting", "moving", "robots", "growth", *PROBLEMS]
EMPTY = {"version": None, "steps": 0, "us_per_step": None, "error_m": None, "overlap_m": None, "certificate": None, "failure": None}


def main() -> None:
    many = lambda text: [word.strip() for word in text.split(",")]
    parser = argparse.ArgumentParser(prog="python benchmarks/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=many, default=list(engines.NAMES), help=", ".join(engines.NAMES))
    parser.add_argument("--scenes", type=many, help="; ".join(scene.name for scene in scenes.all_scenes()))
    parser.add_argument("--solvers", type=many, default=list(solvers.NAMES), help=", ".join(solvers.NAMES))
    parser.add_argument("--groups", type=many, default=GROUPS, help=", ".join(GROUPS))
    parser.add_argument("--settings", choices=["default", "all"], default="all")
    parser.add_argument("--turns", type=int, default=3, help="the fastest turn counts")
    parser.add_argument("--cap", type=float, default=20.0, metavar="S", help="processor time after which a run ends")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", metavar="DIR")
    options = parser.parse_args()

    for group in options.groups:
        if group not in GROUPS:
            parser.error(f"there is no group {group}; known: {', '.join(GROUPS)}")
    chosen = [scene for scene in scenes.all_scenes() if scene.group in options.groups and (not options.scenes or scene.name in options.scenes)]
    alone = [] if options.scenes else [make for group, make in PROBLEMS.items() if group in options.groups]
    if not chosen and not alone:
        parser.error("no scene is left")
    options.out.mkdir(parents=True, exist_ok=True)
    document = {
        "schema": 2,
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": processor(), "system": platform.platform(), "python": platform.python_version()},
        "turns": 0,
        "engines": {},
        "runs": [],
        "solvers": {},
        "solves": [],
    }
    save = lambda: (options.out / "results.json").write_text(json.dumps(document, indent=1, default=str) + "\n")
    if alone:
        workers, document["solvers"] = load("load solver", options.solvers, solvers.NAMES, parser)
        document["solves"] = list(solve([problem for make in alone for problem in make()], workers, document["solvers"], options))
        save()
    if chosen:
        workers, document["engines"] = load("load", options.engines, engines.NAMES, parser)
        best: dict[tuple[str, str, str], dict] = {}
        for turn in range(options.turns):
            for scene in chosen:
                run(scene, workers, document["engines"], options, best, first=turn == 0)
                print(f"turn {turn + 1} of {options.turns}: {scene.name}", file=sys.stderr, flush=True)
            document |= {"turns": turn + 1, "runs": list(best.values())}
            save()
    print("\n".join(report.tables(document)))
    for path in report.plots(document, options.out):
        print(f"wrote {path}")


def load(task: str, names: list[str], every: dict, parser: argparse.ArgumentParser) -> tuple[dict, dict]:
    """A process for each engine or solver that is installed, and what it says of itself."""
    workers, known = {}, {}
    for name in names:
        if name not in every:
            parser.error(f"there is no {name}; known: {', '.join(every)}")
        worker = Worker(name)
        answer = worker.do(task)
        if "settings" in answer:
            workers[name], known[name] = worker, answer
            print(f"{name} {answer['version']}: {answer['what']}")
        else:
            print(f"{name}: left out, it needs {answer.get('missing') or answer.get('failure')}")
    return workers, known


def run(scene: scenes.Scene, workers: dict, known: dict, options: argparse.Namespace, best: dict, first: bool) -> None:
    """One turn of a scene: all engines that can have it, with all settings."""
    for name, worker in workers.items():
        if scene.mjcf and not known[name]["robots"]:
            continue
        settings = list(known[name]["settings"]) if options.settings == "all" and scene.group != "growth" else ["default"]
        for setting in settings:
            key = scene.name, name, setting
            if not first and best[key]["failure"]:
                continue
            row = {**EMPTY, **worker.do("run", setting, scene, options.cap)}
            row |= {"scene": scene.name, "group": scene.group, "engine": name, "setting": setting, "of": scene.steps}
            row |= {"family": scene.family or None, "size": scene.size or None}
            faster = key not in best or (row["us_per_step"] or 1e99) < (best[key]["us_per_step"] or 1e99)
            if faster or row["failure"]:
                best[key] = row


def solve(chosen: list, workers: dict, known: dict, options: argparse.Namespace) -> Iterator[dict]:
    """All problems by all solvers that take their kind, with all settings and tolerances."""
    for problem in chosen:
        for name, worker in workers.items():
            if problem.group not in known[name]["groups"]:
                continue
            for setting in known[name]["settings"] if options.settings == "all" else ["default"]:
                for tolerance in known[name]["tolerances"]:
                    row = {"us": None, "residual": None, "failure": None, **worker.do("solve", setting, problem, tolerance, options.cap)}
                    yield {"problem": problem.name, "group": problem.group, "solver": name, "setting": setting, "tolerance": tolerance, **row}
        print(f"solved: {problem.name}", file=sys.stderr, flush=True)


def processor() -> str:
    """Name of the processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()

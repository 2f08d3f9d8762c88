"""Stiction beside other engines, on the same scenes in one run: python benchmarks/peers [--engines …] [--scenes …] [--out DIR]

Runs every engine that is installed (`pip install mujoco drake dartpy pybullet`, Debian's libode-dev, Rapier by cargo), with its defaults and with accurate
settings, in turns; each in a process of its own, so that one that crashes ends alone. Writes a table, results.json (its fields: docs/peers.md) and plots.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import platform
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import engines  # noqa: E402
import report  # noqa: E402
import scenes  # noqa: E402
from workers import Worker  # noqa: E402


EMPTY = {"version": None, "steps": 0, "us_per_step": None, "error_m": None, "overlap_m": None, "certificate": None, "failure": None}


def main() -> None:
    many = lambda text: [word.strip() for word in text.split(",")]
    parser = argparse.ArgumentParser(prog="python benchmarks/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=many, default=list(engines.NAMES), help=", ".join(engines.NAMES))
    parser.add_argument("--scenes", type=many, help="; ".join(scene.name for scene in scenes.all_scenes()))
    parser.add_argument("--groups", type=many, default=["resting", "moving"])
    parser.add_argument("--settings", choices=["default", "all"], default="all")
    parser.add_argument("--turns", type=int, default=3, help="the fastest turn counts")
    parser.add_argument("--cap", type=float, default=20.0, metavar="S", help="processor time after which a run ends")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", metavar="DIR")
    options = parser.parse_args()

    workers, known = {}, {}
    for name in options.engines:
        if name not in engines.NAMES:
            parser.error(f"there is no engine {name}; known: {', '.join(engines.NAMES)}")
        worker = Worker(name)
        answer = worker.do("load")
        if "settings" in answer:
            workers[name], known[name] = worker, answer
            print(f"{name} {answer['version']}: {answer['what']}")
        else:
            print(f"{name}: left out, it needs {answer.get('missing') or answer.get('failure')}")
    chosen = [scene for scene in scenes.all_scenes() if scene.group in options.groups and (not options.scenes or scene.name in options.scenes)]
    if not chosen:
        parser.error("no scene is left")

    best: dict[tuple[str, str, str], dict] = {}
    options.out.mkdir(parents=True, exist_ok=True)
    for turn in range(options.turns):
        for scene in chosen:
            for name, worker in workers.items():
                for setting in known[name]["settings"] if options.settings == "all" else ["default"]:
                    key = scene.name, name, setting
                    if turn and best[key]["failure"]:
                        continue
                    row = {**EMPTY, **worker.do("run", setting, scene, options.cap)}
                    row |= {"scene": scene.name, "group": scene.group, "engine": name, "setting": setting, "of": scene.steps}
                    faster = key not in best or (row["us_per_step"] or 1e99) < (best[key]["us_per_step"] or 1e99)
                    if faster or row["failure"]:
                        best[key] = row
            print(f"turn {turn + 1} of {options.turns}: {scene.name}", file=sys.stderr, flush=True)
        write(options.out, known, list(best.values()), turn + 1)
    rows = list(best.values())
    print("\n".join(report.tables(rows)))
    for path in report.plots(rows, options.out):
        print(f"wrote {path}")


def write(folder: pathlib.Path, known: dict, rows: list[dict], turns: int) -> None:
    """results.json, after every turn."""
    document = {
        "schema": 1,
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": processor(), "system": platform.platform(), "python": platform.python_version()},
        "turns": turns,
        "engines": known,
        "runs": rows,
    }
    (folder / "results.json").write_text(json.dumps(document, indent=1, default=str) + "\n")


def processor() -> str:
    """Name of the processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()

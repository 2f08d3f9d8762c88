#!/usr/bin/env python3
"""Instructions of a step of some scenes, beside those in instructions.json: a slow-down shows on a busy machine, too.

    python3 scripts/instructions.py             # compares; exit code 1 if a step takes more, or less, than the tolerance allows
    python3 scripts/instructions.py --update    # writes what is counted: after a change that is meant to be there

Counts are those of `stiction bench --instructions`, which needs valgrind, and of target/release/stiction, which must be there.
They are compared only where the compiler and the kind of processor are those that they were counted with: others make other
instructions. Where something is missing, this says so and fails nothing.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "stiction"
COUNTS = ROOT / "scripts" / "instructions.json"


def main() -> int:
    """Compares, or updates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write what is counted")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the command to measure")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        return say("not counted: valgrind is not installed")
    known = json.loads(COUNTS.read_text(encoding="utf-8"))
    here = {"rustc": compiler(), "machine": platform.machine()}
    there = {name: known[name] for name in here}
    if known["rustc"] is None and not options.update:
        return say("not compared: nothing was counted yet; python3 scripts/instructions.py --update does it")
    if here != there and not options.update:
        return say(f"not compared: counts are of {there}, this is {here}")
    program = options.program.resolve()
    if not program.exists():
        sys.exit(f"{program} is not there: cargo build --release -p stiction-cli")
    # Others on the machine change nothing, so scenes are counted side by side.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda case: count(program, case["bench"]), known["scenes"].values())
        measured = dict(zip(known["scenes"], counts))
    if options.update:
        for name, instructions in measured.items():
            known["scenes"][name]["instructions"] = instructions
        COUNTS.write_text(json.dumps({**known, **here}, indent=2) + "\n", encoding="utf-8")
    return compare(known, measured)


def say(text: str) -> int:
    """Prints why nothing is compared: no failure."""
    print(text)
    return 0


def compiler() -> str:
    """The compiler's version."""
    return subprocess.check_output(["rustc", "--version"], cwd=ROOT, text=True).strip()


def count(program: Path, words: list[str]) -> int:
    """Instructions of a step, from `stiction bench` with these words."""
    command = [program, "bench", *words, "--turns", "1", "--instructions", "--json"]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr.strip() or result.stdout.strip()}")
    return round(json.loads(result.stdout)["instructions_per_step"])


def compare(known: dict, measured: dict[str, int]) -> int:
    """Prints a table; 1 if a count is outside the tolerance, else 0."""
    outside = []
    for name, instructions in measured.items():
        before = known["scenes"][name]["instructions"]
        change = instructions / before - 1.0
        print(f"{name:24} {before:>10} {instructions:>10} {100.0 * change:+7.2f} %")
        if abs(change) > known["tolerance"]:
            outside.append(name)
    if outside:
        allowed = 100.0 * known["tolerance"]
        print(f"more than {allowed:g} % from scripts/instructions.json: {', '.join(outside)}", file=sys.stderr)
        print("if that is meant: python3 scripts/instructions.py --update", file=sys.stderr)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())

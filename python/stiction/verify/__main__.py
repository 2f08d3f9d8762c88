"""``python -m stiction.verify FILE``: a recording, checked step by step."""

from __future__ import annotations

import argparse
import sys
import time

from .._stiction import Recording
from ..errors import StictionError
from ._arithmetic import Arithmetic, Decimals, Fractions
from ._recording import Finding, StepCheck, check_recording

#: So many findings are printed; all are counted.
MOST_FINDINGS = 20


def main(arguments: list[str] | None = None) -> int:
    """Check a recording; 0 if every step is what it says, 1 if not, 2 if the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m stiction.verify", description=__doc__)
    parser.add_argument("file", help="a file of `stiction run --record`")
    parser.add_argument("--exact", action="store_true", help="rational arithmetic instead of 60 digits")
    parser.add_argument("--every", type=int, default=0, metavar="K", help="print every K-th step (default: none)")
    options = parser.parse_args(arguments)
    arithmetic: Arithmetic = Fractions() if options.exact else Decimals()
    try:
        recording = Recording(options.file)
        for note in recording.notes:
            print(f"note: {note}")
        return _report(recording, arithmetic, options.every)
    except (StictionError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def _report(recording: Recording, arithmetic: Arithmetic, every: int) -> int:
    total, checked, worst, stated = len(recording), 0, ("nothing", 0.0, -1), 0.0
    energy = 0.0
    findings: list[Finding] = []
    bar = _Bar(total)
    for check in check_recording(recording, arithmetic):
        checked += 1
        if check.measures is not None:
            name, value = check.measures.worst()
            if value >= worst[1]:
                worst = (name, value, check.step)
            energy = max(energy, float(check.measures.energy))
        stated = max(stated, check.stated)
        if every and check.step % every == 0:
            bar.clear()
            _print_step(check)
        for finding in check.findings:
            if len(findings) < MOST_FINDINGS:
                bar.clear()
                print(finding)
            findings.append(finding)
        bar.show(checked)
    bar.clear()
    print(f"{checked} of {total} steps, {recording.model}, {type(arithmetic).__name__.lower()}")
    print(f"worst measure {worst[1]:.3e} ({worst[0]}, step {worst[2]}), tolerance {recording.tolerance:.0e}")
    print(f"worst stated {stated:.3e}")
    print(f"energy inequality: worst {energy:.3e}")
    if recording.damage:
        print(f"the file is not whole: {recording.damage}")
    if findings:
        print(f"NOT what it says: {len(findings)} findings in {len({f.step for f in findings})} steps")
        return 1
    print("every step is what it says")
    return 1 if recording.damage else 0


def _print_step(check: StepCheck) -> None:
    if check.measures is None:
        print(f"step {check.step}: no contact problem")
        return
    name, value = check.measures.worst()
    print(f"step {check.step}: {check.contacts} contacts, worst {value:.3e} ({name}), stated {check.stated:.3e}")


class _Bar:
    """A line of progress on a terminal; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.start, self.last = total, time.monotonic(), 0.0
        self.visible = sys.stderr.isatty()

    def show(self, done: int) -> None:
        now = time.monotonic()
        if not self.visible or now - self.last < 0.1:
            return
        self.last = now
        left = (now - self.start) / done * (self.total - done)
        filled = 30 * done // max(self.total, 1)
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total}, {left:.0f} s left ", end="", file=sys.stderr)

    def clear(self) -> None:
        if self.visible:
            print("\r" + " " * 72 + "\r", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

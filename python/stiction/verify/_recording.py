"""A recording checked step by step.

Of each recorded step the contact problem is made again by the engine; that the recorded forces and velocities answer it is checked
here, by arithmetic of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from .._stiction import Recording
from ._arithmetic import SLACK, Arithmetic, Decimals
from ._contact import KINDS, Measures, check_contact

__all__ = ["Finding", "StepCheck", "check_recording", "check_step"]


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was recorded or stated."""

    step: int
    what: str

    def __str__(self) -> str:
        return f"step {self.step}: {self.what}"


@dataclass
class StepCheck:
    """What a step came to."""

    step: int
    t: float
    contacts: int
    #: The exact measures; `None` if the step had no contact problem.
    measures: Measures | None
    #: The largest measure stated.
    stated: float
    findings: list[Finding] = field(default_factory=list)


def check_recording(path: str | PathLike[str] | Recording, arithmetic: Arithmetic | None = None) -> Iterator[StepCheck]:
    """The steps of a recording one after the other, each checked.

    Parameters
    ----------
    path : str or path or Recording
    arithmetic : Arithmetic, optional
        60 digits unless given.

    Yields
    ------
    StepCheck
    """
    recording = path if isinstance(path, Recording) else Recording(path)
    for step in recording:
        yield check_step(step, recording.tolerance, arithmetic)


def check_step(step: Mapping[str, Any], tolerance: float, arithmetic: Arithmetic | None = None) -> StepCheck:
    """A step of a `Recording`, checked.

    Parameters
    ----------
    step : mapping
        As `Recording` gives it.
    tolerance : float
        Of certificates.
    arithmetic : Arithmetic, optional
        60 digits unless given.

    Returns
    -------
    StepCheck
    """
    problem = json.loads(step["problem"].to_json())
    stated = step["certificate"]
    check = StepCheck(step["step"], step["t"], len(step["modes"]), None, stated.worst)

    def found(what: str) -> None:
        check.findings.append(Finding(check.step, what))

    contacts = len(problem.get("contacts") or [])
    if contacts != len(step["modes"]):
        found(f"{len(step['modes'])} contacts are recorded, the problem has {contacts}")
        return check
    v, remade_v, motion = list(step["v"]), list(step["remade_v"]), list(step["remade_motion"])
    if not motion:
        if v != remade_v:
            found("the velocities are not those of the step made again")
        return check
    # A step of one piece ends with the motion of its answer; of others only that the end is the same can be said.
    if motion == remade_v:
        motion = v
    elif v != remade_v:
        found("the velocities are not those of the step made again")
    forces = {kind: list(step["forces"][kind]) for kind in KINDS}
    try:
        check.measures = check_contact(problem, forces, motion, step["model"], step["level"], arithmetic or Decimals())
    except ValueError as error:
        found(str(error))
        return check
    _compare(check, stated, tolerance, found)
    for i, (recorded, exact) in enumerate(zip(step["modes"], check.measures.modes, strict=True)):
        if recorded != exact:
            found(f"contact {i} is recorded as {recorded}, but its motion says {exact}")
    return check


def _compare(check: StepCheck, stated: Any, tolerance: float, found: Callable[[str], None]) -> None:
    assert check.measures is not None
    for name, exact in check.measures.named().items():
        said = getattr(stated, name, None)
        if math.isnan(exact) or exact > tolerance:
            found(f"{name} is {exact:.2e}, above the tolerance of {tolerance:.0e}")
        elif said is not None and exact > said + SLACK:
            found(f"{name} is {exact:.3e}, above the {said:.3e} that is stated")

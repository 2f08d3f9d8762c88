"""The certificate of a contact problem, computed anew: `docs/certificate.md`.

It is made from the problem's matrices, the forces and the motion alone. A problem is a dictionary as in a JSON file
(`docs/file-formats.md`). Nothing of the engine is used here: not its certificate, not its linear algebra.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._arithmetic import Arithmetic, Decimals, Number
from ._laws import LAWS, Law, View, natural, ratio

__all__ = ["KINDS", "Measures", "check_contact"]

#: Forces by row kind, as an answer names them.
KINDS = ("normal", "tangent_s", "tangent_t", "spin", "roll_s", "roll_t", "bilateral", "limit", "bounded")
#: Those of contacts: normal, two tangents, the spin about the normal, rolling about two axes.
CONTACT_KINDS = KINDS[:6]
#: A row's terms count as at least this part of those of its bodies.
FLOOR = 1e-5
#: A contact touches if its gap is at most this part of its size.
TOUCHING = 1e-9
#: A contact parts now, at acceleration level, if its separation velocity is more than this part of its terms.
PARTING = 1e-9
#: A motion of at most this part of its terms is rounding, when a contact is called open, stick or slide.
MOVING = 1e-9
#: Bilateral rows whose worst measure exceeds this contradict each other.
CONTRADICTION = 1e-9


@dataclass
class Measures:
    """The measures of an answer, 0 where it is exact, and what each contact does."""

    momentum: Number
    signorini: Number
    bilateral: Number
    bounded: Number
    friction: Number
    work: Number
    energy: Number
    modes: list[str] = field(default_factory=list)

    def named(self) -> dict[str, float]:
        """The measures by name, as doubles."""
        names = ("momentum", "signorini", "bilateral", "bounded", "friction", "work", "energy")
        return {name: float(getattr(self, name)) for name in names}

    def worst(self) -> tuple[str, float]:
        """The largest measure and its name."""
        return max(self.named().items(), key=lambda item: math.inf if math.isnan(item[1]) else item[1])


def check_contact(
    problem: Mapping[str, Any],
    forces: Mapping[str, Sequence[float]],
    motion: Sequence[float],
    model: str,
    level: str = "velocity",
    arithmetic: Arithmetic | None = None,
) -> Measures:
    """The measures of forces and motion under the law of a model, from the data of the problem alone.

    Parameters
    ----------
    problem : mapping
        As in a JSON file: ``mass`` (or ``factors``), ``v``, ``force``, ``dt``, ``contacts``, ``bilateral``, ``limits``, ``bounded``.
    forces : mapping
        A force per row, by kind (`KINDS`); a kind that is not there has none.
    motion : sequence of float
        Velocities after the step, or accelerations.
    model : str
        Its name in the catalog.
    level : str
        ``velocity`` or ``acceleration``.
    arithmetic : Arithmetic, optional
        60 digits unless given.

    Returns
    -------
    Measures

    Raises
    ------
    ValueError
        If a number of forces is wrong, a force is not finite, or the inertia is not positive definite.
    """
    arithmetic = arithmetic or Decimals()
    with arithmetic.context():
        return _Check(problem, forces, motion, LAWS[model], level == "velocity", arithmetic).measures()


@dataclass
class _Row:
    """A row: its entries by block, its force, and what follows from them."""

    entries: list[tuple[int, list[Number]]]
    p: Number
    bias: Number
    #: What the row drives its island with, in units of its bias; 0 for a row that drives nothing.
    drive: Number
    #: M⁻¹ rᵀ by block.
    pushed: list[list[Number]] = field(default_factory=list)
    w: Number = 0
    u: Number = 0
    omega: Number = 0
    #: `r v⁺` without the bias.
    motion: Number = 0


class _Check:
    def __init__(
        self,
        problem: Mapping[str, Any],
        forces: Mapping[str, Sequence[float]],
        motion: Sequence[float],
        law: Law,
        velocity: bool,
        arithmetic: Arithmetic,
    ) -> None:
        self.arithmetic, self.law, self.velocity, self.problem = arithmetic, law, velocity, problem
        number = arithmetic.number
        self.dt = number(float(problem["dt"]))
        self.unit = self.dt if velocity else number(1.0)
        self.mass = [[arithmetic.numbers(row) for row in block] for block in _blocks(problem, arithmetic)]
        self.start = [0]
        for block in self.mass:
            self.start.append(self.start[-1] + len(block))
        self.inverse = [_inverse(block, arithmetic) for block in self.mass]
        self.v = arithmetic.numbers(problem["v"])
        self.force = arithmetic.numbers(problem["force"])
        self.next = arithmetic.numbers(motion)
        self.rows = {kind: self._rows(kind, forces.get(kind, ())) for kind in KINDS}
        self.all = [row for kind in KINDS for row in self.rows[kind]]
        self._measure_rows()

    # Rows

    def _rows(self, kind: str, p: Sequence[float]) -> list[_Row]:
        contacts = self.problem.get("contacts") or []
        if kind in CONTACT_KINDS:
            items = [(contact.get(kind) or [], contact) for contact in contacts]
        else:
            items = [(item["row"], item) for item in self.problem.get({"limit": "limits"}.get(kind, kind)) or []]
        if len(p) not in (0, len(items)):
            raise ValueError(f"{len(p)} forces of kind {kind} for {len(items)} rows")
        forces = [0.0] * len(items) if len(p) == 0 else [float(x) for x in p]
        return [self._row(kind, entries, item, x) for (entries, item), x in zip(items, forces, strict=True)]

    def _row(self, kind: str, entries: Sequence[Any], item: Mapping[str, Any], p: float) -> _Row:
        number = self.arithmetic.number

        def get(key: str) -> Number:
            return number(float(item.get(key) or 0.0))

        zero = self.arithmetic.zero
        if not math.isfinite(p):
            raise ValueError(f"a force is {p}")
        if kind in ("normal", "limit"):
            if self.velocity:
                # A predicted contact with a bounce closes its gap within the step and parts again.
                rebounds = bool(item.get("predicted")) and get("bounce") > zero
                gap = zero if rebounds else max(get("gap"), zero)
                bias, drive = gap / self.dt - get("bounce"), max(get("bounce"), zero)
            else:
                rate = item.get("rate")
                bias = number(float((rate[0] if isinstance(rate, list | tuple) else rate) or 0.0))
                drive = bias
        elif kind in ("tangent_s", "tangent_t"):
            k = 0 if kind == "tangent_s" else 1
            values = (item.get("surface") or (0.0, 0.0)) if self.velocity else (item.get("rate") or (0.0, 0.0, 0.0))[1:]
            bias = drive = number(float(values[k]))
        elif kind in ("spin", "roll_s", "roll_t"):
            bias = drive = zero
        else:
            bias = -get("target") if self.velocity else get("rate") - get("target")
            drive = bias
        return _Row([(int(b), self.arithmetic.numbers(x)) for b, x in entries], number(p), bias, drive)

    def _measure_rows(self) -> None:
        arithmetic, zero = self.arithmetic, self.arithmetic.zero
        free = [zero] * self.start[-1]
        for b, inverse in enumerate(self.inverse):
            part = slice(self.start[b], self.start[b + 1])
            free[part] = _times(inverse, self.force[part], zero)
        self.free = free
        speed = [self.unit * abs(a) + (abs(v) if self.velocity else zero) for a, v in zip(free, self.v, strict=True)]
        if self.law.quasistatic:
            speed = [s + abs(x) for s, x in zip(speed, self.next, strict=True)]
        for row in self.all:
            row.w = row.motion = zero
            for b, values in row.entries:
                pushed = _times(self.inverse[b], values, zero)
                row.pushed.append(pushed)
                row.w += _dot(values, pushed, zero)
                row.motion += _dot(values, self.next[self.start[b] : self.start[b + 1]], zero)
                if row.p != 0:
                    for k, x in enumerate(pushed):
                        speed[self.start[b] + k] += abs(x * row.p)
            row.u = row.motion + row.bias
        self.speed = speed
        self.block_speed = [
            max(arithmetic.root(block[k][k]) * speed[self.start[b] + k] for k in range(len(block)))
            for b, block in enumerate(self.mass)
        ]
        self._find_islands()
        for row in self.all:
            if not row.entries:
                row.omega = abs(row.bias)
                continue
            own = zero
            for b, values in row.entries:
                own += _dot([abs(x) for x in values], speed[self.start[b] : self.start[b + 1]], zero)
            root = arithmetic.root(row.w)
            own += arithmetic.number(FLOOR) * root * max(self.block_speed[b] for b, _ in row.entries)
            energy = self.energy_norm[self.island[row.entries[0][0]]]
            row.omega = abs(row.bias) + (own if energy is None else min(own, root * energy))

    def _find_islands(self) -> None:
        island = list(range(len(self.mass)))

        def find(b: int) -> int:
            while island[b] != b:
                b = island[b]
            return b

        for row in self.all:
            for b, _ in row.entries[1:]:
                island[find(b)] = find(row.entries[0][0])
        self.island = [find(b) for b in range(len(self.mass))]
        arithmetic, zero = self.arithmetic, self.arithmetic.zero
        squares = dict.fromkeys(self.island, zero)
        for b, block in enumerate(self.mass):
            part = slice(self.start[b], self.start[b + 1])
            size = self.unit * _norm(block, self.free[part], arithmetic)
            if self.velocity:
                size += _norm(block, self.v[part], arithmetic)
            squares[self.island[b]] += size * size
        drives = dict.fromkeys(self.island, zero)
        for kind in KINDS:
            for i, row in enumerate(self.rows[kind]):
                if row.drive == 0 or row.w == 0:
                    continue
                root = arithmetic.root(row.w)
                drive = abs(row.drive) / root
                if kind == "bounded":
                    lo, hi = self._limits(i)
                    if lo is not None and hi is not None:
                        drive = min(drive, max(abs(lo), abs(hi)) * root)
                own = self.island[row.entries[0][0]]
                drives[own] = max(drives[own], drive)
        self.energy_norm: dict[int, Number | None] = {
            own: None if self.law.quasistatic else arithmetic.root(squares[own]) + drives[own] for own in squares
        }

    def _limits(self, i: int) -> tuple[Number | None, Number | None]:
        """Least and largest force of a bounded row (times the step at velocity level); `None` is no limit."""
        item = self.problem["bounded"][i]
        values = [item.get(key) for key in ("lo", "hi")]
        numbers = [None if x is None else float(x) for x in values]
        return tuple(  # type: ignore[return-value]
            None if x is None or math.isinf(x) else self.unit * self.arithmetic.number(x) for x in numbers
        )

    # Measures

    def measures(self) -> Measures:
        """All of them."""
        zero = self.arithmetic.zero
        bilateral, contradict = self._bilateral()
        signorini, friction, work, modes = self._contacts()
        for i, row in enumerate(self.rows["limit"]):
            reached = float(self.problem["limits"][i].get("gap") or 0.0) <= 0.0
            has_row = reached or (self.velocity and not self.law.only_touching)
            with_row, without = natural(row.p, row.u, row.w, row.omega, zero, None), ratio(row.w * row.p, row.omega)
            signorini = max(signorini, with_row if has_row else without)
        bounded = zero
        for i, row in enumerate(self.rows["bounded"]):
            bounded = max(bounded, natural(row.p, row.u, row.w, row.omega, *self._limits(i)))
        momentum, size = self._momentum()
        energy = zero
        if self.velocity and self.law.signorini and not contradict:
            energy = self._energy(size)
        return Measures(momentum, signorini, bilateral, bounded, friction, work, energy, modes)

    def _momentum(self) -> tuple[Number, list[Number]]:
        """The measure, and the sum of the absolute values of each velocity's terms."""
        arithmetic, zero = self.arithmetic, self.arithmetic.zero
        residual = [-self.unit * f for f in self.force]
        size = [abs(x) for x in residual]
        for b, block in enumerate(self.mass):
            for k, inertia in enumerate(block):
                j = self.start[b] + k
                for i, a in enumerate(inertia):
                    if self.law.quasistatic:
                        continue
                    then = self.v[self.start[b] + i] if self.velocity else zero
                    now = self.next[self.start[b] + i]
                    residual[j] += a * (now - then)
                    size[j] += abs(a) * (abs(now) + abs(then))
        for row in self.all:
            for b, values in row.entries:
                for k, x in enumerate(values):
                    residual[self.start[b] + k] -= x * row.p
                    size[self.start[b] + k] += abs(x * row.p)
        worst = zero
        for b in range(len(self.mass)):
            energy = self.energy_norm[self.island[b]]
            for k in range(len(self.mass[b])):
                j = self.start[b] + k
                beside = size[j] + arithmetic.number(FLOOR) * arithmetic.root(self.mass[b][k][k]) * self.block_speed[b]
                if energy is not None:
                    beside = min(beside, energy / arithmetic.root(self.inverse[b][k][k]))
                worst = max(worst, ratio(residual[j], beside))
        return worst, size

    def _bilateral(self) -> tuple[Number, bool]:
        zero = self.arithmetic.zero
        rows = self.rows["bilateral"]
        # Rows of an island without targets do not contradict each other: rest satisfies them all.
        driven = {self.island[row.entries[0][0]] for row in rows if row.bias != 0 and row.entries}
        own = worst = zero
        for row in rows:
            if row.entries and self.island[row.entries[0][0]] not in driven:
                own = max(own, ratio(row.u, row.omega))
            else:
                worst = max(worst, ratio(row.u, row.omega))
        if worst <= self.arithmetic.number(CONTRADICTION):
            return max(own, worst), False
        gradient, terms = [zero] * self.start[-1], [zero] * self.start[-1]
        for row in rows:
            if row.w == 0:
                if row.u != 0:
                    return self.arithmetic.number(1e300), True
                continue
            for b, values in row.entries:
                for k, x in enumerate(values):
                    gradient[self.start[b] + k] += x * row.u / row.w
                    terms[self.start[b] + k] += abs(x) * row.omega / row.w
        return max([own, *(ratio(a, b) for a, b in zip(gradient, terms, strict=True))]), True

    def _contacts(self) -> tuple[Number, Number, Number, list[str]]:
        zero = self.arithmetic.zero
        signorini = friction = work = zero
        modes = []
        for i, contact in enumerate(self.problem.get("contacts") or []):
            view = self._view(i, contact)
            by_law = view.touching and not self.law.signorini
            has_row = view.touching or (self.velocity and not self.law.only_touching)
            if not has_row:
                measure = ratio(view.w[0] * abs(view.p[0]), view.omega[0])
            elif by_law:
                measure = ratio(max(-view.w[0] * view.p[0], -view.u[0], zero), view.omega[0])
            else:
                measure = natural(view.p[0], view.u[0], view.w[0], view.omega[0], zero, None)
            signorini = max(signorini, measure)
            friction = max(friction, self.law.friction(view))
            bounces = float(contact.get("bounce") or 0.0) > 0.0
            moves = any(float(x) != 0.0 for x in contact.get("surface") or ())
            if self.velocity and not bounces and not moves:
                work = max(work, self._work(view, self.rows["normal"][i].motion))
            modes.append(self._mode(view, by_law))
        return signorini, friction, work, modes

    def _view(self, i: int, contact: Mapping[str, Any]) -> View:
        arithmetic, zero = self.arithmetic, self.arithmetic.zero
        rows = [self.rows[kind][i] for kind in CONTACT_KINDS]
        now = [self._now(row, self.v) for row in rows]
        surface = [arithmetic.number(float(x)) for x in contact.get("surface") or (0.0, 0.0)]
        gap, size = float(contact.get("gap") or 0.0), float(contact["size"] if contact.get("size") is not None else 1.0)
        touching = gap <= TOUCHING * size or (self.velocity and bool(contact.get("predicted")))
        if not self.velocity and now[0][0] > arithmetic.number(PARTING) * now[0][1]:
            touching = False
        slips = not self.velocity
        return View(
            p=[row.p for row in rows],
            u=[row.u for row in rows],
            omega=[row.omega for row in rows],
            w=[row.w for row in rows],
            slip=[surface[k] + now[k + 1][0] if slips else zero for k in range(2)],
            slip_omega=[abs(surface[k]) + now[k + 1][1] if slips else zero for k in range(2)],
            spin_now=now[3][0] if slips else zero,
            spin_omega=now[3][1] if slips else zero,
            mu=float(contact.get("mu") or 0.0),
            mu_spin=float(contact.get("mu_spin") or 0.0),
            mu_roll=float(contact.get("mu_roll") or 0.0),
            mu_viscous=float(contact.get("mu_viscous") or 0.0),
            dt=self.dt,
            touching=touching,
            velocity=self.velocity,
            arithmetic=arithmetic,
        )

    def _now(self, row: _Row, v: Sequence[Number]) -> tuple[Number, Number]:
        """`r v`, and the sum of the absolute values of its terms."""
        zero = self.arithmetic.zero
        terms = [x * v[self.start[b] + k] for b, values in row.entries for k, x in enumerate(values)]
        return sum(terms, zero), sum((abs(t) for t in terms), zero)

    def _work(self, view: View, separation: Number) -> Number:
        zero = self.arithmetic.zero
        power = view.p[0] * separation + sum((view.p[k] * view.u[k] for k in range(1, len(view.p))), zero)
        if power <= 0:
            return zero
        size = zero
        for k in range(len(view.p)):
            stops = view.omega[k] / view.w[k] if view.w[k] > 0 else zero
            size += (abs(view.p[k]) + stops) * view.omega[k]
        return ratio(power, size)

    def _mode(self, view: View, by_law: bool) -> str:
        moving = self.arithmetic.number(MOVING)
        acts = by_law and view.w[0] * view.p[0] > moving * view.omega[0]
        if not (self.velocity or view.touching) or (view.u[0] > moving * view.omega[0] and not acts):
            return "open"
        slips_now = not self.velocity and any(abs(view.slip[k]) > moving * view.slip_omega[k] for k in range(2))
        slips_next = any(abs(view.u[k]) > moving * view.omega[k] for k in (1, 2))
        return "slide" if slips_now or slips_next else "stick"

    def _energy(self, size: list[Number]) -> Number:
        """How far kinetic energy is above what targets, bounces and moving surfaces account for, by island."""
        zero = self.arithmetic.zero
        excess, beside = dict.fromkeys(self.island, zero), dict.fromkeys(self.island, zero)
        for b, block in enumerate(self.mass):
            own = self.island[b]
            part = slice(self.start[b], self.start[b + 1])
            change = [now - then for now, then in zip(self.next[part], self.v[part], strict=True)]
            gained = _times(block, change, zero)
            for k in range(len(block)):
                j = self.start[b] + k
                excess[own] += self.next[j] * (gained[k] - self.dt * self.force[j])
                beside[own] += abs(self.next[j]) * size[j]
        for kind in KINDS:
            for i, row in enumerate(self.rows[kind]):
                if not row.entries:
                    continue
                own = self.island[row.entries[0][0]]
                excess[own] += row.p * row.bias
                beside[own] += abs(row.p) * row.omega
                if kind == "bounded":
                    lo, hi = self._limits(i)
                    nearest = lo if lo is not None and lo > 0 else hi if hi is not None and hi < 0 else zero
                    excess[own] -= nearest * row.u
                    beside[own] += abs(nearest) * row.omega
        return max((ratio(max(excess[own], zero), beside[own]) for own in excess), default=zero)


def _blocks(problem: Mapping[str, Any], arithmetic: Arithmetic) -> list[list[list[float]]]:
    """The inertia's blocks; from factors as the format says, `L Lᵀ` with sums in the order of the columns."""
    if problem.get("mass") is not None:
        return [[[float(x) for x in row] for row in block] for block in problem["mass"]]
    blocks = []
    for factor in problem["factors"]:
        n = len(factor)

        def entry(i: int, j: int, factor: Any = factor) -> float:
            return sum(float(factor[i][k]) * float(factor[j][k]) for k in range(min(i, j) + 1))

        blocks.append([[entry(i, j) for j in range(n)] for i in range(n)])
    return blocks


def _inverse(block: Sequence[Sequence[Number]], arithmetic: Arithmetic) -> list[list[Number]]:
    """The inverse of a positive definite block, by elimination without exchanges."""
    n, one, zero = len(block), arithmetic.number(1.0), arithmetic.zero
    left = [list(row) for row in block]
    right = [[one if i == j else zero for j in range(n)] for i in range(n)]
    for k in range(n):
        pivot = left[k][k]
        if pivot <= 0:
            raise ValueError("a block of the inertia is not positive definite")
        left[k] = [x / pivot for x in left[k]]
        right[k] = [x / pivot for x in right[k]]
        for i in range(n):
            factor = left[i][k]
            if i != k and factor != 0:
                left[i] = [a - factor * b for a, b in zip(left[i], left[k], strict=True)]
                right[i] = [a - factor * b for a, b in zip(right[i], right[k], strict=True)]
    return right


def _dot(a: Sequence[Number], b: Sequence[Number], zero: Number) -> Number:
    return sum((x * y for x, y in zip(a, b, strict=True)), zero)


def _times(matrix: Sequence[Sequence[Number]], x: Sequence[Number], zero: Number) -> list[Number]:
    return [_dot(row, x, zero) for row in matrix]


def _norm(block: Sequence[Sequence[Number]], x: Sequence[Number], arithmetic: Arithmetic) -> Number:
    """√(xᵀ M x), which rounding may not take below 0."""
    return arithmetic.root(max(_dot(x, _times(block, x, arithmetic.zero), arithmetic.zero), arithmetic.zero))

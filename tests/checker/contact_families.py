"""Random contact problems as dictionaries of the JSON format, by family."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

Problem = dict[str, Any]


def _cross(a: list[float], b: list[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _unit(rng: random.Random) -> list[float]:
    if rng.random() < 0.5:
        axis = [0.0, 0.0, 0.0]
        axis[rng.randint(0, 2)] = rng.choice([1.0, -1.0])
        return axis
    while True:
        a = [rng.gauss(0, 1) for _ in range(3)]
        length = math.sqrt(sum(x * x for x in a))
        if length > 1e-3:
            return [x / length for x in a]


def _frame(rng: random.Random) -> list[list[float]]:
    """A normal and two tangents."""
    n = _unit(rng)
    k = min(range(3), key=lambda i: abs(n[i]))
    e = [1.0 if i == k else 0.0 for i in range(3)]
    s = _cross(n, e)
    length = math.sqrt(sum(x * x for x in s))
    s = [x / length for x in s]
    return [n, s, _cross(n, s)]


class Builder:
    """Bodies and rows one after the other."""

    def __init__(self, rng: random.Random, *, ratio: float = 10.0, scale: float = 1.0) -> None:
        self.rng, self.ratio, self.scale = rng, ratio, scale
        self.sizes: list[int] = []
        dt = rng.choice([1e-3, 0.01, 2.0**-7])
        self.problem: Problem = {"mass": [], "v": [], "force": [], "dt": dt, "contacts": [], "bilateral": [], "limits": [], "bounded": []}

    def body(self, size: int | None = None, heavy: float | None = None) -> int:
        """A free body, a particle, a slider or a robot: the number of its block."""
        rng = self.rng
        size = size or rng.choice([6, 6, 3, 1, rng.randint(2, 5)])
        mass = heavy if heavy is not None else 10 ** rng.uniform(0, math.log10(self.ratio))
        block = [[0.0] * size for _ in range(size)]
        if size in (1, 3, 6):
            for k in range(size):
                block[k][k] = mass if k < 3 else mass * rng.uniform(0.01, 0.1)
        else:
            factor = [[rng.gauss(0, 1) for _ in range(size)] for _ in range(size)]
            for i in range(size):
                for j in range(i + 1):
                    x = sum(factor[i][k] * factor[j][k] for k in range(size)) + (1.0 if i == j else 0.0)
                    block[i][j] = block[j][i] = mass * x
        self.sizes.append(size)
        moves = rng.random() < 0.6
        self.problem["mass"].append(block)
        self.problem["v"] += [rng.gauss(0, 1) * self.scale if moves else 0.0 for _ in range(size)]
        self.problem["force"] += [-9.81 * mass * self.scale if k == min(2, size - 1) else rng.choice([0.0, rng.gauss(0, 1) * mass]) for k in range(size)]
        return len(self.sizes) - 1

    def entries(self, block: int, direction: list[float], arm: list[float], sign: float) -> list[float]:
        """The row of a block for a direction at a point."""
        size = self.sizes[block]
        if size == 1:
            return [sign * (direction[2] if abs(direction[2]) > 0.1 else 1.0)]
        if size == 3:
            return [sign * x for x in direction]
        if size == 6:
            return [sign * x for x in direction + _cross(arm, direction)]
        return [sign * self.rng.gauss(0, 1) for _ in range(size)]

    def row(self, a: int, b: int | None, direction: list[float], arms: list[list[float]]) -> list[Any]:
        row = [[a, self.entries(a, direction, arms[0], 1.0)]]
        if b is not None:
            row.append([b, self.entries(b, direction, arms[1], -1.0)])
        return row

    def contact(self, a: int, b: int | None = None, **options: Any) -> None:
        """A contact of a with b, or with the world."""
        rng = self.rng
        arms = [[rng.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(2)]
        frame = _frame(rng)
        n, s, t = (self.row(a, b, direction, arms) for direction in frame)
        contact: dict[str, Any] = {
            "normal": n,
            "tangent_s": s,
            "tangent_t": t,
            "mu": rng.choice([0.0, 0.3, 0.7, 1.5]),
            "gap": rng.choice([0.0, 0.0, 0.0, 1e-4, -1e-5, 0.1]),
        }
        if rng.random() < 0.2 and self.sizes[a] == 6 and (b is None or self.sizes[b] == 6):
            turn = [[a, [0.0, 0.0, 0.0, *frame[0]]]]
            contact["spin"] = turn if b is None else [*turn, [b, [0.0, 0.0, 0.0, *(-x for x in frame[0])]]]
            contact["mu_spin"] = rng.choice([0.0, 0.01, 0.3])
        if rng.random() < 0.2 and self.sizes[a] == 6 and (b is None or self.sizes[b] == 6):
            for key, axis in zip(("roll_s", "roll_t")[: rng.choice([1, 2, 2, 2])], frame[1:], strict=False):
                turn = [[a, [0.0, 0.0, 0.0, *axis]]]
                contact[key] = turn if b is None else [*turn, [b, [0.0, 0.0, 0.0, *(-x for x in axis)]]]
            contact["mu_roll"] = rng.choice([0.0, 0.01, 0.1, 1.0])
        contact.update(options)
        self.problem["contacts"].append(contact)
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            self.problem["contacts"].append(dict(contact))

    def others(self) -> None:
        """Some bilateral rows, limits and bounded rows."""
        rng = self.rng
        blocks = range(len(self.sizes))
        arms = [[rng.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(2)]
        if rng.random() < 0.3:
            a = rng.choice(blocks)
            b = rng.choice([None, *[k for k in blocks if k != a]])
            for direction in _frame(rng)[: rng.randint(1, 3)]:
                row = self.row(a, b, direction, arms)
                self.problem["bilateral"].append({"row": row, "target": rng.choice([0.0, 0.0, 0.1])})
                if rng.random() < 0.3:
                    self.problem["bilateral"].append(dict(self.problem["bilateral"][-1]))
        if rng.random() < 0.2:
            row = self.row(rng.choice(blocks), None, _unit(rng), arms)
            self.problem["limits"].append({"row": row, "gap": rng.choice([0.0, 1e-3]), "bounce": rng.choice([0.0, 0.0, 0.2])})
        if rng.random() < 0.3:
            row = self.row(rng.choice(blocks), None, _unit(rng), arms)
            most = rng.choice([0.1, 10.0, math.inf])
            bounded = {"row": row, "target": rng.choice([0.0, 0.5]), "lo": -most, "hi": most}
            self.problem["bounded"].append({key: _text(x) for key, x in bounded.items()})


def _text(x: Any) -> Any:
    return ("inf" if x > 0 else "-inf") if isinstance(x, float) and math.isinf(x) else x


def few_bodies(rng: random.Random) -> Problem:
    """One to four bodies of like masses that touch the world and each other."""
    return _heap(Builder(rng), rng)


def mass_ratio(rng: random.Random) -> Problem:
    """Masses over up to 10¹²."""
    return _heap(Builder(rng, ratio=10 ** rng.uniform(3, 12)), rng)


def large_numbers(rng: random.Random) -> Problem:
    """Speeds and forces over 10^±8."""
    return _heap(Builder(rng, scale=10 ** rng.uniform(-8, 8)), rng)


def bystander(rng: random.Random) -> Problem:
    """A few bodies, and one of up to 10⁹ kg that touches nothing, or the ground far away."""
    builder = Builder(rng)
    problem = _heap(builder, rng)
    other = builder.body(rng.choice([1, 3, 6]), heavy=10 ** rng.uniform(3, 12))
    if rng.random() < 0.5:
        builder.contact(other)
    return problem


def redundant(rng: random.Random) -> Problem:
    """A body on many contacts, and rows that say the same twice."""
    builder = Builder(rng)
    a = builder.body(6)
    frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for x in (-0.5, 0.5, 0.0, 0.25)[: rng.randint(2, 4)]:
        for y in (-0.5, 0.5):
            rows = [builder.row(a, None, direction, [[x, y, -0.5]]) for direction in frame]
            mu = rng.choice([0.0, 0.4, 1.0])
            builder.problem["contacts"].append({"normal": rows[0], "tangent_s": rows[1], "tangent_t": rows[2], "mu": mu})
    builder.others()
    return builder.problem


def bounce(rng: random.Random) -> Problem:
    """Contacts that bounce, and surfaces that move."""
    builder = Builder(rng)
    blocks = [builder.body() for _ in range(rng.randint(1, 3))]
    for a in blocks:
        surface = [rng.gauss(0, 1), 0.0] if rng.random() < 0.5 else [0.0, 0.0]
        builder.contact(a, gap=0.0, bounce=rng.choice([0.0, 0.5, 2.0]), surface=surface, mu_viscous=rng.choice([0.0, 5.0]))
    return builder.problem


def impossible(rng: random.Random) -> Problem:
    """A body that must move two ways at once, beside others that may be heavy."""
    builder = Builder(rng)
    a = builder.body(rng.choice([1, 3, 6]))
    arms = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    direction = [0.0, 0.0, 1.0]
    up, down = builder.row(a, None, direction, arms), builder.row(a, None, [-x for x in direction], arms)
    speed = 10 ** rng.uniform(-3, 1)
    builder.problem["limits"] += [{"row": up, "bounce": speed}, {"row": down, "bounce": speed}]
    for _ in range(rng.randint(0, 2)):
        builder.body(heavy=10 ** rng.uniform(0, 9))
    return builder.problem


def _heap(builder: Builder, rng: random.Random) -> Problem:
    blocks = [builder.body() for _ in range(rng.randint(1, 4))]
    for k, a in enumerate(blocks):
        for _ in range(rng.randint(0, 2)):
            b = rng.choice([None, *blocks[:k]])
            builder.contact(a, b)
    builder.others()
    return builder.problem


FAMILIES: dict[str, Callable[[random.Random], Problem]] = {
    "few bodies": few_bodies,
    "mass ratio": mass_ratio,
    "large numbers": large_numbers,
    "bystander": bystander,
    "redundant": redundant,
    "bounce": bounce,
    "impossible": impossible,
}

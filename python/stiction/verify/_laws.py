"""Laws of friction, and how far an answer is from them: a function per model, from `docs/certificate.md`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ._arithmetic import Arithmetic, Number

__all__ = ["LAWS", "Law", "View", "natural", "ratio"]

#: A slip of at most this part of its terms is rounding.
SLIPPING = 1e-9
#: Stands for an infinite measure.
INFINITE = 1e300
#: Sides of the polyhedral cone, as its model has them by default.
SIDES = 8


@dataclass
class View:
    """A contact: normal, two tangents, spin, rolling about two axes."""

    p: list[Number]
    u: list[Number]
    omega: list[Number]
    w: list[Number]
    #: Slip before the step, at acceleration level.
    slip: list[Number]
    slip_omega: list[Number]
    spin_now: Number
    spin_omega: Number
    mu: float
    mu_spin: float
    mu_roll: float
    mu_viscous: float
    dt: Number
    touching: bool
    velocity: bool
    arithmetic: Arithmetic

    @property
    def w_tangent(self) -> Number:
        """The larger of the tangents' inverse masses."""
        return max(self.w[1], self.w[2])

    @property
    def omega_tangent(self) -> Number:
        """Size of the tangential motion's terms."""
        return self.arithmetic.length(self.omega[1:3])

    def number(self, x: float) -> Number:
        """The double x."""
        return self.arithmetic.number(x)

    def no_friction(self) -> Number:
        """0 exactly if there is no tangential force and no moment."""
        return max(*(ratio(self.w[k] * self.p[k], self.omega[k]) for k in (1, 2)), self.no_moment())

    def no_moment(self) -> Number:
        """0 exactly if there is no moment."""
        return max(ratio(self.w[3] * self.p[3], self.omega[3]), self.no_rolling())

    def no_rolling(self) -> Number:
        """0 exactly if there is no moment against rolling."""
        return max(ratio(self.w[k] * self.p[k], self.omega[k]) for k in (4, 5))


@dataclass(frozen=True)
class Law:
    """A law of friction."""

    friction: Callable[[View], Number]
    #: 0 ≤ p ⊥ u ≥ 0 for normals; else the law says more than p ≥ 0 and u ≥ 0.
    signorini: bool = True
    #: Contacts that do not touch have no row.
    only_touching: bool = False
    quasistatic: bool = False


def ratio(value: Number, size: Number) -> Number:
    """|value| / size, with 0/0 = 0."""
    if value == 0:
        return abs(value)
    if size == 0:
        return abs(value) * 0 + type(value)(INFINITE)
    return abs(value) / size


def natural(p: Number, u: Number, w: Number, omega: Number, lo: Number | None, hi: Number | None) -> Number:
    """|p − clamp(p − u/W, lo, hi)| W / ω; `None` is no limit."""
    if w > 0:
        aim = p - u / w
        aim = aim if lo is None else max(aim, lo)
        aim = aim if hi is None else min(aim, hi)
        return ratio((p - aim) * w, omega)
    if (lo is not None and p < lo) or (hi is not None and p > hi):
        return abs(p) * 0 + type(p)(INFINITE)
    if lo is not None and hi is not None:
        return abs(u) * 0
    wrong = u if lo is None and hi is None else (min(u, u * 0) if hi is None else max(u, u * 0))
    return ratio(wrong, omega)


def frictionless(view: View) -> Number:
    """No tangential force."""
    return view.no_friction()


def cone(view: View) -> Number:
    """The force in the disc of radius μ p_n that dissipates most; opposed to the slip there is, at acceleration level."""
    if not view.touching or (view.mu == 0 and view.mu_spin == 0 and view.mu_roll == 0):
        return view.no_friction()
    slip = _slip(view)
    if not view.velocity and any(x != 0 for x in slip):
        tangential = _sliding(view, slip)
    else:
        tangential = _disc(view)
    return max(tangential, _moment(view), _rolling_disc(view))


def _slip(view: View) -> list[Number]:
    """Slip now, without what is rounding."""
    limit = view.number(SLIPPING)
    return [x if abs(x) > limit * size else x * 0 for x, size in zip(view.slip, view.slip_omega, strict=True)]


def _sliding(view: View, slip: list[Number]) -> Number:
    speed = view.arithmetic.length(slip)
    most = view.number(view.mu) * view.p[0]
    away = [view.p[k + 1] + most * slip[k] / speed for k in range(2)]
    return ratio(view.w_tangent * view.arithmetic.length(away), view.omega_tangent)


def _disc(view: View) -> Number:
    w, omega = view.w_tangent, view.omega_tangent
    length = view.arithmetic.length
    if math.isinf(view.mu):
        p, u = view.p[1:3], view.u[1:3]
        along = p[0] * u[0] + p[1] * u[1]
        against = -along / (p[0] * p[0] + p[1] * p[1]) if along < 0 else along * 0
        askew = length([u[k] + against * p[k] for k in range(2)])
        return _without_limit(view, ratio(length(p) * w, omega), ratio(length(u), omega), ratio(askew, omega))
    if w == 0:
        return ratio(length(view.u[1:3]), omega)
    radius = view.number(view.mu) * max(view.p[0], view.p[0] * 0)
    aim = [view.p[k] - view.u[k] / w for k in (1, 2)]
    size = length(aim)
    if size > radius:
        aim = [x * radius / size for x in aim]
    return ratio(length([view.p[1] - aim[0], view.p[2] - aim[1]]) * w, omega)


def _without_limit(view: View, force: Number, slip: Number, askew: Number) -> Number:
    """Friction without a limit: held where pressed, none where parting, against the slip where neither."""
    zero = view.p[0] * 0
    pressed = ratio(max(view.w[0] * view.p[0], zero), view.omega[0])
    parting = ratio(max(view.u[0], zero), view.omega[0])
    return min(max(slip, parting), max(force, pressed), max(askew, pressed, parting))


def _moment(view: View) -> Number:
    if math.isinf(view.mu_spin):
        force, spin = ratio(view.w[3] * view.p[3], view.omega[3]), ratio(view.u[3], view.omega[3])
        return _without_limit(view, force, spin, spin * 0 if view.p[3] * view.u[3] < 0 else spin)
    most = view.number(view.mu_spin) * max(view.p[0], view.p[0] * 0)
    return natural(view.p[3], view.u[3], view.w[3], view.omega[3], -most, most)


def _rolling_disc(view: View) -> Number:
    """The moment in the disc of radius μ_roll p_n that dissipates most."""
    length, w, p = view.arithmetic.length, max(view.w[4:6]), view.p[4:6]
    if w == 0:
        return abs(p[0]) * 0 if all(x == 0 for x in p) else abs(p[0]) * 0 + type(p[0])(INFINITE)
    aim = [view.p[k] - view.u[k] / w for k in (4, 5)]
    radius, size = view.number(view.mu_roll) * max(view.p[0], view.p[0] * 0), length(aim)
    if size > radius:
        aim = [x * radius / size for x in aim]
    return ratio(length([p[0] - aim[0], p[1] - aim[1]]) * w, length(view.omega[4:6]))


def no_slip(view: View) -> Number:
    """Touching contacts do not slip, nor spin where they have any spin coefficient."""
    if not view.touching:
        return view.no_friction()
    slip = [ratio(view.u[k], view.omega[k]) for k in (1, 2)]
    spin = ratio(view.u[3], view.omega[3]) if view.mu_spin > 0 else ratio(view.w[3] * view.p[3], view.omega[3])
    return max(*slip, spin, view.no_rolling())


def viscous(view: View) -> Number:
    """A force in proportion to slip along each tangent."""
    if not view.touching:
        return view.no_friction()
    return max(view.no_moment(), _drag(view, 1), _drag(view, 2))


def _drag(view: View, k: int) -> Number:
    p, u, w, omega = view.p[k], view.u[k], view.w[k], view.omega[k]
    if not view.velocity:
        mu = view.number(view.mu_viscous)
        return ratio(w * (p + mu * view.slip[k - 1]), omega + w * mu * view.slip_omega[k - 1])
    if math.isinf(view.mu_viscous):
        return ratio(u, omega)
    c = view.dt * view.number(view.mu_viscous)
    return ratio(w * (p + c * u) / (1 + w * c), omega)


def polyhedral(view: View) -> Number:
    """The nearest point of the polygon with circumradius μ p_n to p − u/W is p."""
    if not view.touching or view.w_tangent == 0:
        return view.no_friction()
    w = view.w_tangent
    radius = view.number(view.mu) * max(view.p[0], view.p[0] * 0)
    aim = [view.p[k] - view.u[k] / w for k in (1, 2)]
    nearest = _in_polygon(view.arithmetic, aim, radius)
    away = view.arithmetic.length([view.p[1] - nearest[0], view.p[2] - nearest[1]])
    return max(view.no_moment(), ratio(away * w, view.omega_tangent))


def _corners(arithmetic: Arithmetic) -> list[list[Number]]:
    """The corners of an octagon of circumradius 1."""
    half = arithmetic.root(arithmetic.number(0.5))
    one, zero = arithmetic.number(1.0), arithmetic.zero
    quarter = [[one, zero], [half, half]]
    corners = []
    for _ in range(4):
        corners += quarter
        quarter = [[-y, x] for x, y in quarter]
    return corners


def _in_polygon(arithmetic: Arithmetic, a: list[Number], radius: Number) -> list[Number]:
    """The point of the octagon nearest to a."""
    zero = arithmetic.zero
    if radius == 0:
        return [zero, zero]
    corners = _corners(arithmetic)
    best: tuple[Number, list[Number]] | None = None
    for k, to in enumerate(corners):
        start = corners[k - 1]
        edge = [radius * (to[i] - start[i]) for i in range(2)]
        arm = [a[i] - radius * start[i] for i in range(2)]
        if edge[0] * arm[1] - edge[1] * arm[0] >= 0:
            continue
        along = (edge[0] * arm[0] + edge[1] * arm[1]) / (edge[0] ** 2 + edge[1] ** 2)
        along = min(max(along, zero), arithmetic.number(1.0))
        point = [radius * start[i] + along * edge[i] for i in range(2)]
        distance = (a[0] - point[0]) ** 2 + (a[1] - point[1]) ** 2
        if best is None or distance < best[0]:
            best = (distance, point)
    return a if best is None else best[1]


def pyramid(view: View) -> Number:
    """Each tangent by itself within ±μ p_n; opposed to the slip there is."""
    if not view.touching:
        return view.no_friction()
    slip, size = _slip(view), view.omega_tangent
    if all(x == 0 for x in slip):
        along = max(_rolling(view, 1, view.mu, size), _rolling(view, 2, view.mu, size))
    else:
        along = _sliding(view, slip)
    if abs(view.spin_now) > view.number(SLIPPING) * view.spin_omega:
        sign = 1 if view.spin_now > 0 else -1
        about = ratio(view.w[3] * (view.p[3] + view.number(view.mu_spin) * view.p[0] * sign), view.omega[3])
    else:
        about = _rolling(view, 3, view.mu_spin, view.omega[3])
    return max(along, about, view.no_rolling())


def _rolling(view: View, k: int, mu: float, size: Number) -> Number:
    if math.isinf(mu):
        return natural(view.p[k], view.u[k], view.w[k], size, None, None)
    most = view.number(mu) * max(view.p[0], view.p[0] * 0)
    return natural(view.p[k], view.u[k], view.w[k], size, -most, most)


def baraff(view: View) -> Number:
    """Dynamic friction where a contact slips; else in the cone, not along the motion, on the rim or at rest."""
    if not view.touching or view.mu == 0:
        return view.no_friction()
    arithmetic = view.arithmetic
    moment = view.no_moment()
    speed, terms = arithmetic.length(view.slip), arithmetic.length(view.slip_omega)
    if not view.velocity and speed > view.number(SLIPPING) * terms:
        most = view.number(view.mu) * view.p[0]
        away = [view.p[k + 1] + most * view.slip[k] / speed for k in range(2)]
        return max(moment, ratio(view.w_tangent * arithmetic.length(away), view.omega_tangent))
    w, omega = view.w_tangent, view.omega_tangent
    force = arithmetic.length(view.p[1:3])
    room = view.number(view.mu) * view.p[0] - force
    outside = ratio(w * min(room, room * 0), omega)
    along = view.p[1] * view.u[1] + view.p[2] * view.u[2]
    direction = ratio(max(along, along * 0), force * omega)
    rim_or_rest = min(ratio(w * room, omega), ratio(arithmetic.length(view.u[1:3]), omega))
    return max(moment, outside, direction, rim_or_rest)


def shell(view: View) -> Number:
    """p is the point of the cone nearest to p − u/W."""
    p, zero = view.p, view.p[0] * 0
    if any(x != 0 for x in p[3:]):
        return zero + type(zero)(INFINITE)
    if not view.touching or view.mu == 0:
        if p[1] != 0 or p[2] != 0:
            return zero + type(zero)(INFINITE)
        return natural(p[0], view.u[0], view.w[0], view.omega[0], zero, None)
    w, size = max(view.w[:3]), max(view.omega[:3])
    if w == 0:
        return ratio(min(view.u[0], zero), size) if all(x == 0 for x in p[:3]) else zero + type(zero)(INFINITE)
    slip = [view.u[k] if view.w[k] > 0 else zero for k in (1, 2)]
    aim = [p[0] - view.u[0] / w, p[1] - slip[0] / w, p[2] - slip[1] / w]
    onto = _in_cone(view, aim)
    away = max(abs(p[0] - onto[0]), view.arithmetic.length([p[1] - onto[1], p[2] - onto[2]]))
    return ratio(away * w, size)


def _in_cone(view: View, q: list[Number]) -> list[Number]:
    """The point of |q_t| ≤ μ q_n nearest to q."""
    zero = q[0] * 0
    if math.isinf(view.mu):
        return [max(q[0], zero), q[1], q[2]]
    mu, slide = view.number(view.mu), view.arithmetic.length(q[1:])
    if slide <= mu * q[0]:
        return q
    if mu * slide <= -q[0]:
        return [zero, zero, zero]
    normal = (q[0] + mu * slide) / (1 + mu * mu)
    return [normal, mu * normal * q[1] / slide, mu * normal * q[2] / slide]


#: The law of each model.
LAWS = {
    "coulomb-cone": Law(cone),
    "coulomb-polyhedral": Law(polyhedral),
    "coulomb-pyramid": Law(pyramid),
    "frictionless": Law(frictionless),
    "viscous": Law(viscous),
    "no-slip": Law(no_slip),
    "baraff-friction": Law(baraff),
    "drumwright-shell": Law(shell, signorini=False),
}

//! The laws of contact made smooth: every law is a set of complementary pairs, each with a small positive product.
//!
//! With forces and motions of an element made dimensionless (below), for a contact with normal force x_n, friction x_t inside the disc of radius `R = μ x_n`, separation velocity u_n
//! and slip u_t:
//!
//! ```text
//! u_n x_n = τ,   R u_t + w x_t = 0,   g = ½ (R − |x_t|² / R),   w g = τ
//! ```
//!
//! As τ → 0 either g > 0 and w = 0, so u_t = 0: the contact sticks; or g = 0, so |x_t| = R, and w = |u_t|: it slides, and friction opposes the slip. There is no kink where a contact
//! stops to slide. The moment about the normal has a disc of one dimension, the moment against rolling one of two. A row with bounds has the pairs (x − lo, s_lo) and (hi − x, s_hi) with `u = s_lo − s_hi`; a row without any
//! has `u = 0`.
//!
//! Newton's step of these equations is `dx = c − C du`, element by element. A proximal term `α dx` beside each motion keeps redundant forces where they are: `dx = (1 + α C)⁻¹ (c − C du)`. It
//! bounds the stiffness by 1/α and vanishes with the steps.

use super::super::law::Block;
use super::affine::Map;
use super::elements::Element;

/// Largest coefficient of friction, in the units of an element, that the path has; what is more is without limit.
const LARGE_FRICTION: f64 = 1e4;
/// α of rows without pairs.
const FREE_ALPHA: f64 = 1e-9;

/// The pairs of one element, and its friction; also their change in a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Point {
    /// First members: x_n and g of a contact, the distances from both bounds of a bounded row.
    pub y: [f64; 2],
    /// Second members: u_n and w, or s_lo and s_hi.
    pub s: [f64; 2],
    /// Friction force.
    pub x_t: [f64; 2],
    /// Slip velocity.
    pub u_t: [f64; 2],
}

/// What an element is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// Which pairs it has.
    pub pairs: [bool; 2],
    /// Rows of its disc: first and last + 1.
    pub disc: (usize, usize),
    /// Radius of the disc beside the normal force.
    pub coefficient: f64,
    /// The first row is a normal (or a limit): its pair is (x, u).
    pub normal: bool,
    /// Its coefficient of friction is larger than that of the path.
    pub capped: bool,
    /// The first row is one with bounds.
    pub bounded: bool,
    /// Unit of force of each row, and of motion.
    pub force: [f64; 3],
    pub motion: [f64; 3],
    /// Unit of the normal force that the disc of a moment follows, and by how many places its element is before.
    force_before: f64,
    pub behind: usize,
}

/// The step's linear maps of one element: `dx_n = t (c_n − C du_n)`, `dx_t = T (c_t + f dx_n − C_t du_t)`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Linear {
    /// C and `t = 1 / (1 + α C)` of the first row.
    c: f64,
    t: f64,
    /// Direction of friction; S, `C_t = R S` and `T = (I + α C_t)⁻¹` have this and its normal as axes.
    d: [f64; 2],
    s: [f64; 2],
    ct: [f64; 2],
    tt: [f64; 2],
    /// f.
    f: [f64; 2],
    /// What is left of the equations.
    pub residual: Residual,
}

/// Product of two vectors.
pub(super) fn dot2(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// `a` with its parts along `d` and across multiplied.
fn along_across(a: [f64; 2], d: [f64; 2], factor: [f64; 2]) -> [f64; 2] {
    let along = dot2(a, d);
    [0, 1].map(|k| factor[1] * a[k] + (factor[0] - factor[1]) * along * d[k])
}

impl Shape {
    /// Of an element of an island whose velocities have this size; `before` is that of a moment's contact.
    pub(super) fn of(element: &Element, before: Option<&Self>, size: f64, substitute: f64) -> Self {
        let root = element.weight.sqrt();
        let mut shape = Self { force: [size / root; 3], motion: [1.0 / (root * size); 3], ..Self::default() };
        if let Some(before) = before {
            shape.force_before = before.force[0];
            shape.behind = element.behind;
            let coefficient = element.mu_moment * before.force[0] / shape.force[0];
            shape.capped = coefficient > LARGE_FRICTION;
            shape.coefficient = if shape.capped { substitute } else { coefficient };
            shape.disc = (0, element.rows);
            shape.pairs = [false, true];
            return shape;
        }
        match element.law {
            Block::Free => {}
            Block::Signorini | Block::Slider { .. } | Block::NoSlip { .. } => {
                (shape.pairs, shape.normal) = ([true, false], true);
            }
            // Without room between its bounds the force is given.
            Block::Bounded { lo, hi } if lo < hi => {
                shape.pairs = [lo > f64::NEG_INFINITY, hi < f64::INFINITY];
                shape.bounded = true;
            }
            Block::Bounded { .. } => {}
            Block::Coulomb { dim, mu } => {
                (shape.pairs, shape.normal) = ([true, mu > 0.0], true);
                // The cone of a contact has the same shape whatever its coefficient.
                shape.capped = mu > LARGE_FRICTION;
                let mu = if shape.capped { substitute } else { mu };
                let scale = if mu > 0.0 { mu } else { 1.0 };
                shape.force[0] /= scale;
                shape.motion[0] /= scale;
                shape.coefficient = mu / scale;
                shape.disc = if mu > 0.0 { (1, dim) } else { (0, 0) };
            }
        }
        shape
    }

    /// True if it has a disc of friction.
    pub(super) fn has_disc(&self) -> bool {
        self.disc.1 > self.disc.0
    }
}

impl Linear {
    /// At a point with this residual; `normal` is the normal force that a disc follows. Its C is added to `map`.
    pub(super) fn of(
        element: &Element,
        shape: &Shape,
        point: &Point,
        residual: Residual,
        normal: f64,
        alpha: f64,
        map: &mut Map,
    ) -> Self {
        let mut lin = Self { residual, ..Self::default() };
        let unit = shape.force[1] * shape.motion[1];
        if shape.normal {
            lin.c = point.y[0] / point.s[0];
        } else if shape.bounded {
            let stiffness = |k: usize| if shape.pairs[k] { point.s[k] / point.y[k] } else { 0.0 };
            lin.c = 1.0 / (stiffness(0) + stiffness(1));
        }
        lin.t = 1.0 / (1.0 + alpha * lin.c);
        *map = Map { acts: true, ..Map::default() };
        map.c[0][0] = lin.t * lin.c * shape.force[0] * shape.motion[0];
        if shape.has_disc() {
            lin.add_disc(shape, point, normal, alpha);
            let first = shape.disc.0;
            let follow = along_across(lin.f, lin.d, lin.tt);
            let own = [lin.tt[0] * lin.ct[0], lin.tt[1] * lin.ct[1]];
            for i in 0..element.rows - first {
                let column = along_across([[1.0, 0.0], [0.0, 1.0]][i], lin.d, own);
                for j in 0..element.rows - first {
                    map.c[first + j][first + i] = column[j] * unit;
                }
                if first == 0 {
                    map.follows[i] = follow[i] * shape.force[0] / shape.force_before;
                } else {
                    map.c[first + i][0] = follow[i] * shape.force[1] / shape.force[0] * map.c[0][0];
                }
            }
            map.coupled = true;
        }
        if let Block::Slider { friction } = element.law {
            (1..element.rows).for_each(|r| map.c[r][0] = friction[r - 1] * map.c[0][0]);
            map.coupled = true;
        }
        for r in free_rows(element, shape) {
            map.c[r][r] = unit / FREE_ALPHA;
        }
        lin
    }

    /// S, C_t, T and f of a disc.
    fn add_disc(&mut self, shape: &Shape, point: &Point, normal: f64, alpha: f64) {
        let (radius, g, w) = (shape.coefficient * normal, point.y[1], point.s[1]);
        let square = dot2(point.x_t, point.x_t);
        let length = square.sqrt();
        self.d = if length > 0.0 { point.x_t.map(|x| x / length) } else { [1.0, 0.0] };
        self.s = [g * radius / ((g * radius + square) * w), 1.0 / w];
        self.ct = self.s.map(|s| radius * s);
        self.tt = self.ct.map(|c| 1.0 / (1.0 + alpha * c));
        let h = 0.5 * (1.0 + square / (radius * radius));
        let k = [0, 1].map(|k| point.u_t[k] - w / g * h * point.x_t[k]);
        self.f = along_across(k, self.d, self.s).map(|x| -shape.coefficient * x);
    }

    /// The change of the element's forces at its motions as they are (`dx` without `−C du`), for residuals `rest` to vanish and products to grow by `missing`.
    pub(super) fn change(
        &self,
        element: &Element,
        shape: &Shape,
        point: &Point,
        rest: &Residual,
        missing: [f64; 2],
    ) -> [f64; 3] {
        let mut change = [0.0; 3];
        if shape.normal {
            change[0] = self.t * (missing[0] / point.s[0] - self.c * rest.rho[0]);
        } else if shape.bounded {
            let part = |k: usize| {
                if shape.pairs[k] { (missing[k] + point.s[k] * rest.bounds[k]) / point.y[k] } else { 0.0 }
            };
            change[0] = self.t * self.c * (part(0) - part(1) - rest.rho[0]);
        }
        if shape.has_disc() {
            let first = shape.disc.0;
            let pull = (missing[1] + point.s[1] * rest.r2) / point.y[1];
            let a = [0, 1].map(|k| -rest.r1[k] - point.x_t[k] * pull);
            let sa = along_across(a, self.d, self.s);
            let rho = [rest.rho[first], if element.rows - first > 1 { rest.rho[first + 1] } else { 0.0 }];
            let cr = along_across(rho, self.d, self.ct);
            let f = if first == 1 { change[0] } else { 0.0 };
            let own = along_across([0, 1].map(|k| sa[k] - cr[k] + f * self.f[k]), self.d, self.tt);
            (first..element.rows).for_each(|r| change[r] = own[r - first]);
        }
        if let Block::Slider { friction } = element.law {
            (change[1], change[2]) = (friction[0] * change[0], friction[1] * change[0]);
        }
        for r in free_rows(element, shape) {
            change[r] = -rest.rho[r] / FREE_ALPHA;
        }
        [0, 1, 2].map(|r| change[r] * shape.force[r])
    }
}

impl Point {
    /// Inside the law near the force `p` and the dimensionless motion `u`, at least `distance` from its boundary; `p` is moved there. `normal` is the normal force that the disc of a moment
    /// follows.
    pub(super) fn inside(
        element: &Element,
        shape: &Shape,
        p: &mut [f64; 3],
        u: [f64; 3],
        distance: f64,
        normal: f64,
    ) -> Self {
        let mut point = Self::default();
        if shape.normal {
            point.y[0] = p[0].max(0.0) / shape.force[0] + distance;
            point.s[0] = u[0].max(0.0) + distance;
            p[0] = point.y[0] * shape.force[0];
            follow_slip(element.law, p);
        }
        if shape.has_disc() {
            let (first, last) = shape.disc;
            for r in first..last {
                point.x_t[r - first] = p[r] / shape.force[r];
                point.u_t[r - first] = u[r];
            }
            let radius = shape.coefficient * if shape.normal { point.y[0] } else { normal };
            let (length, most) = (dot2(point.x_t, point.x_t).sqrt(), 0.99 * radius);
            if length > most {
                point.x_t = point.x_t.map(|x| x * most / length);
                (first..last).for_each(|r| p[r] = point.x_t[r - first] * shape.force[r]);
            }
            point.y[1] = 0.5 * (radius - dot2(point.x_t, point.x_t) / radius);
            point.s[1] = dot2(point.u_t, point.u_t).sqrt() + distance * distance / point.y[1];
        }
        if let Block::Bounded { lo, hi } = element.law
            && !element.is_moment()
        {
            if !shape.bounded {
                p[0] = lo;
                return point;
            }
            let (lo, hi, x) = (lo / shape.force[0], hi / shape.force[0], p[0] / shape.force[0]);
            let room = distance.min(0.25 * (hi - lo));
            let x = x.max(lo + room).min(hi - room);
            point.y = [x - lo, hi - x];
            let square = distance * distance;
            point.s = [u[0].max(0.0) + square / point.y[0], (-u[0]).max(0.0) + square / point.y[1]];
            p[0] = x * shape.force[0];
        }
        point
    }

    /// The change of the pairs that goes with changes of force `dp` and motion `du`. `normal` is the normal force that a disc follows, and its change.
    pub(super) fn change(
        &self,
        element: &Element,
        shape: &Shape,
        rest: &Residual,
        missing: [f64; 2],
        dp: [f64; 3],
        du: [f64; 3],
        normal: [f64; 2],
        alpha: f64,
    ) -> Self {
        let mut step = Self::default();
        let dx = [0, 1, 2].map(|r| dp[r] / shape.force[r]);
        let du = [0, 1, 2].map(|r| du[r] * shape.motion[r] + rest.rho[r] + alpha * dx[r]);
        if shape.normal {
            (step.y[0], step.s[0]) = (dx[0], du[0]);
        } else if shape.bounded {
            step.y = [dx[0] - rest.bounds[0], -dx[0] - rest.bounds[1]];
            step.s = [0, 1].map(|k| (missing[k] - self.s[k] * step.y[k]) / self.y[k]);
        }
        if shape.has_disc() {
            let first = shape.disc.0;
            for r in first..element.rows {
                (step.x_t[r - first], step.u_t[r - first]) = (dx[r], du[r]);
            }
            self.change_disc(rest, missing[1], normal.map(|x| shape.coefficient * x), &mut step);
        }
        step
    }

    /// dg and dw of a disc.
    fn change_disc(&self, rest: &Residual, missing: f64, [radius, d_radius]: [f64; 2], step: &mut Self) {
        let (g, w, square) = (self.y[1], self.s[1], dot2(self.x_t, self.x_t));
        if w > g && square > 0.01 * radius * radius {
            // Where it slides, from the slip's equation: the slack's would lose its digits to w / g.
            let t = [0, 1].map(|k| rest.r1[k] + radius * step.u_t[k] + self.u_t[k] * d_radius + w * step.x_t[k]);
            step.s[1] = -dot2(self.x_t, t) / square;
            step.y[1] = (missing - g * step.s[1]) / w;
            return;
        }
        let h = 0.5 * (1.0 + square / (radius * radius));
        step.y[1] = h * d_radius - dot2(self.x_t, step.x_t) / radius - rest.r2;
        step.s[1] = (missing - w * step.y[1]) / g;
    }

    /// A part `a` of a step from `from`, of each pair the difference that of the step, the product as given; friction stays in its disc. `normal` is the normal force that the disc of a
    /// moment follows.
    pub(super) fn after(from: &Self, step: &Self, a: f64, shape: &Shape, products: [f64; 2], normal: f64) -> Self {
        let mut point = *from;
        for k in (0..2).filter(|&k| shape.pairs[k]) {
            let difference = from.y[k] - from.s[k] + a * (step.y[k] - step.s[k]);
            (point.y[k], point.s[k]) = pair(difference, products[k]);
        }
        for k in 0..2 {
            point.x_t[k] += a * step.x_t[k];
            point.u_t[k] += a * step.u_t[k];
        }
        if shape.has_disc() {
            let radius = shape.coefficient * if shape.normal { point.y[0] } else { normal };
            let length = dot2(point.x_t, point.x_t).sqrt();
            if length > radius {
                point.x_t = point.x_t.map(|x| x * radius / length);
            }
        }
        point
    }

    /// Changes of the pairs, and of friction, beside their sizes; `normal` is the sum of the normal pair that the disc follows.
    pub(super) fn relative(&self, shape: &Shape, step: &Self, normal: f64) -> [f64; 4] {
        let mut out = [0.0; 4];
        for k in (0..2).filter(|&k| shape.pairs[k]) {
            out[k] = (step.y[k] - step.s[k]) / (self.y[k] + self.s[k]);
        }
        if shape.has_disc() {
            let radius = shape.coefficient * normal;
            (out[2], out[3]) = (step.x_t[0] / radius, step.x_t[1] / radius);
        }
        out
    }
}

/// Sets the friction of a contact whose slip is given to what goes with its normal force.
pub(super) fn follow_slip(law: Block, p: &mut [f64; 3]) {
    if let Block::Slider { friction } = law {
        (p[1], p[2]) = (friction[0] * p[0], friction[1] * p[0]);
    }
}

/// The pair of positive numbers with this difference and product.
fn pair(difference: f64, product: f64) -> (f64, f64) {
    let larger = 0.5 * (difference.abs() + (difference * difference + 4.0 * product).sqrt());
    let smaller = product / larger;
    if difference >= 0.0 { (larger, smaller) } else { (smaller, larger) }
}

/// Rows of an element without pairs.
fn free_rows(element: &Element, shape: &Shape) -> std::ops::Range<usize> {
    match element.law {
        _ if shape.has_disc() || shape.bounded => 0..0,
        Block::NoSlip { dim } => 1..dim,
        Block::Free => 0..1,
        _ => 0..0,
    }
}

/// What is left of the equations of one element, dimensionless.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Residual {
    /// `u − u of the point`.
    rho: [f64; 3],
    /// Of the slip's equation, and of the slack's definition.
    r1: [f64; 2],
    r2: f64,
    /// Of the distances from both bounds.
    bounds: [f64; 2],
}

impl Residual {
    /// Without a share of another.
    pub(super) fn less(&self, other: &Self, share: f64) -> Self {
        let two = |a: [f64; 2], b: [f64; 2]| [a[0] - share * b[0], a[1] - share * b[1]];
        Self {
            rho: [0, 1, 2].map(|r| self.rho[r] - share * other.rho[r]),
            r1: two(self.r1, other.r1),
            r2: self.r2 - share * other.r2,
            bounds: two(self.bounds, other.bounds),
        }
    }

    /// Adds a share of a disc's second-order terms along a step; `normal` is the normal force that the disc follows, and its change.
    pub(super) fn add_second_order(
        &mut self,
        shape: &Shape,
        point: &Point,
        step: &Point,
        normal: [f64; 2],
        share: f64,
    ) {
        if shape.has_disc() {
            let [radius, d_radius] = normal.map(|x| shape.coefficient * x);
            let turned = [0, 1].map(|k| step.x_t[k] - point.x_t[k] * d_radius / radius);
            self.r2 += share * dot2(turned, turned) / (2.0 * radius);
            (0..2).for_each(|k| self.r1[k] += share * (d_radius * step.u_t[k] + step.s[1] * step.x_t[k]));
        }
    }

    /// At motions `u` and a first force `p`; `normal` is the normal force that a disc follows.
    pub(super) fn of(element: &Element, shape: &Shape, point: &Point, u: [f64; 3], p: f64, normal: f64) -> Self {
        let mut out = Self::default();
        for r in 0..element.rows {
            out.rho[r] = u[r] * shape.motion[r];
        }
        if shape.normal {
            out.rho[0] -= point.s[0];
        } else if shape.bounded
            && let Block::Bounded { lo, hi } = element.law
        {
            if shape.pairs[0] {
                out.rho[0] -= point.s[0];
                out.bounds[0] = point.y[0] - (p - lo) / shape.force[0];
            }
            if shape.pairs[1] {
                out.rho[0] += point.s[1];
                out.bounds[1] = point.y[1] - (hi - p) / shape.force[0];
            }
        }
        if shape.has_disc() {
            let (first, last) = shape.disc;
            let (radius, w) = (shape.coefficient * normal, point.s[1]);
            for r in first..last {
                out.rho[r] -= point.u_t[r - first];
            }
            out.r1 = [0, 1].map(|k| radius * point.u_t[k] + w * point.x_t[k]);
            out.r2 = point.y[1] - 0.5 * (radius - dot2(point.x_t, point.x_t) / radius);
        } else if !shape.normal && !shape.bounded && !matches!(element.law, Block::Free) {
            // A force that is given.
            out.rho = [0.0; 3];
        }
        if shape.normal && !shape.has_disc() && !matches!(element.law, Block::NoSlip { .. }) {
            (out.rho[1], out.rho[2]) = (0.0, 0.0);
        }
        out
    }
}

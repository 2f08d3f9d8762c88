//! A smooth path through the interior of the laws to their solution: no kink where a contact stops to slide.
//!
//! Each law is a set of complementary pairs, each with the product τ on the path. With forces and motions of an element made dimensionless (below), for a contact with
//! normal force x_n, friction x_t inside the disc of radius `R = μ x_n`, separation velocity u_n and slip u_t:
//!
//! ```text
//! u_n x_n = τ,   R u_t + w x_t = 0,   g = ½ (R − |x_t|² / R),   w g = τ
//! ```
//!
//! As τ → 0 either g > 0 and w = 0, so u_t = 0: the contact sticks; or g = 0, so |x_t| = R, and w = |u_t|: it slides, and friction opposes the slip. A moment about the normal has
//! a disc of one dimension. A row with bounds has the pairs (x − lo, s_lo) and (hi − x, s_hi) with `u = s_lo − s_hi`; a row without any has `u = 0`.
//!
//! Newton's step of all equations is `dx = c − C du` element by element, so one system `M + Σ Aᵀ C A` of order m is factored per iteration, and used for the predictor (τ' = 0)
//! and for the correctors (Mehrotra). A proximal term α keeps redundant forces where they are.
//!
//! With friction the path may turn back: τ falls, grows again for a while, and falls. The sign of the system's determinant tells the parts of the path where τ is to grow.
//!
//! Which pairs vanish is read off the predictor: the member of a pair that the step to τ' = 0 shrinks more is the one that is zero (Tapia's indicators). That is right long before
//! sizes tell, also where redundant contacts contradict each other by rounding.
//!
//! Reference: \[Mehrotra92\], \[ElBakry94\].

use super::super::law::State;
use super::super::problem::Block;
use super::affine::Map;
use super::elements::{Element, Elements};
use super::newton::Newton;

/// Coefficient of friction that stands in for one without limit.
const LARGE_FRICTION: f64 = 1e4;
/// The proximal term: this times τ, between the two bounds.
const PROXIMAL: (f64, f64, f64) = (0.1, 1e-11, 1e-2);
/// The proximal term of rows that have no pairs.
const PROXIMAL_FREE: f64 = 1e-9;
/// Part of the way to the boundary that a step may go.
const TO_BOUNDARY: f64 = 0.9;
/// The least product of a pair beside their mean.
const CENTRED: f64 = 0.1;
/// A step that leaves too small a product is shortened by this, at most so many times.
const SHORTEN: (f64, usize) = (0.8, 25);
/// A step that leaves less of τ than this is taken at once.
const GOOD_STEP: f64 = 0.3;
/// τ below which it is not lowered by more than the least σ per iteration: there redundant contacts contradict each other.
const NOISE: f64 = 1e-6;
/// τ never falls below this.
const LEAST_TAU: f64 = 1e-16;
/// Least and largest weight of a pair.
const WEIGHTS: (f64, f64) = (1e-4, 1e2);
/// Where the path has turned back, τ grows by one of these factors per iteration.
const TAU_GROWTH: [f64; 3] = [3.0, 1.5, 1.1];
/// Steps shorter than this bring nothing.
const SHORT_STEP: f64 = 1e-3;

/// Normal force beside the separation velocity of a contact that parts.
const PARTING: f64 = 1e-3;

/// The pairs of one element, and its friction; also their change in a step.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    /// First members: x_n and g of a contact, the distances from both bounds of a bounded row.
    y: [f64; 2],
    /// Second members: u_n and w, or s_lo and s_hi.
    s: [f64; 2],
    /// Friction force.
    x_t: [f64; 2],
    /// Slip velocity.
    u_t: [f64; 2],
}

/// What an element is made of.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    /// Which pairs it has.
    pairs: [bool; 2],
    /// Rows of its disc: first and last + 1.
    disc: (usize, usize),
    /// Radius of the disc beside the normal force.
    coefficient: f64,
    /// The first row is a normal (or a limit): its pair is (x, u).
    normal: bool,
    /// Its coefficient of friction is larger than that of the path.
    capped: bool,
    /// The first row is one with bounds.
    bounded: bool,
    /// Unit of force of each row, and of motion.
    force: [f64; 3],
    motion: [f64; 3],
}

/// The step's linear maps of one element: `dx_n = t (c_n − C du_n)`, `dx_t = T (c_t + f dx_n − C_t du_t)`.
#[derive(Debug, Clone, Copy, Default)]
struct Linear {
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
    /// `u − u of the point`, dimensionless.
    rho: [f64; 3],
    /// Residuals of the disc's two equations.
    r1: [f64; 2],
    r2: f64,
}

/// A candidate for the step: `τ' = sigma τ`, and the share of the second-order terms of the predictor.
#[derive(Debug, Clone, Copy)]
struct Target {
    tau: f64,
    share: f64,
}

/// The path.
#[derive(Debug, Clone, Default)]
pub(super) struct Interior {
    shapes: Vec<Shape>,
    points: Vec<Point>,
    linear: Vec<Linear>,
    predictor: Vec<Point>,
    step: Vec<Point>,
    best: Vec<Point>,
    best_dv: Vec<f64>,
    best_dp: Vec<[f64; 3]>,
    /// Size of the velocities, m/s.
    size: f64,
    pairs: usize,
    /// Mean product of the pairs.
    pub tau: f64,
    /// States that the predictor indicated.
    pub states: Vec<State>,
    short: usize,
    /// Product of each pair on the path, beside τ.
    weights: Vec<[f64; 2]>,
}

fn dot2(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// `a` with its parts along `d` and across multiplied.
fn along_across(a: [f64; 2], d: [f64; 2], factor: [f64; 2]) -> [f64; 2] {
    let along = dot2(a, d);
    [0, 1].map(|k| factor[1] * a[k] + (factor[0] - factor[1]) * along * d[k])
}

impl Shape {
    fn of(element: &Element, contact: Option<&Element>, size: f64) -> Self {
        let root = element.weight.sqrt();
        let mut shape = Self { force: [size / root; 3], motion: [1.0 / (root * size); 3], ..Self::default() };
        if let Some(contact) = contact {
            let ratio = (element.weight / contact.weight).sqrt();
            let scale = if let Block::Coulomb { mu, .. } = contact.law { mu.min(LARGE_FRICTION) } else { 1.0 };
            shape.coefficient = element.mu_spin.min(LARGE_FRICTION) * ratio / scale;
            shape.disc = (0, element.rows);
            shape.pairs = [false, true];
            return shape;
        }
        match element.law {
            Block::Free => {}
            Block::Signorini | Block::NoSlip { .. } => (shape.pairs, shape.normal) = ([true, false], true),
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
                let mu = mu.min(LARGE_FRICTION);
                let scale = if mu > 0.0 { mu } else { 1.0 };
                shape.force[0] /= scale;
                shape.motion[0] /= scale;
                shape.coefficient = mu / scale;
                shape.disc = if mu > 0.0 { (1, dim) } else { (0, 0) };
            }
        }
        shape
    }

    fn has_disc(&self) -> bool {
        self.disc.1 > self.disc.0
    }
}

impl Interior {
    /// Lays the path out for an island; `newton` holds the velocities without any force.
    pub fn load(&mut self, el: &Elements, newton: &Newton) {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |max, x| max.max(x.abs()));
        let mut size = largest(&newton.v).max(largest(&el.v_before));
        for element in &el.list {
            size = size.max(largest(&element.bias) / element.weight.sqrt());
        }
        self.size = if size > 0.0 { size } else { 1.0 };
        self.shapes.clear();
        self.pairs = 0;
        for (e, element) in el.list.iter().enumerate() {
            let contact = element.is_moment().then(|| &el.list[e - 1]);
            let shape = Shape::of(element, contact, self.size);
            self.pairs += shape.pairs.iter().filter(|p| **p).count();
            self.shapes.push(shape);
        }
        let n = el.list.len();
        for points in [&mut self.points, &mut self.predictor, &mut self.step, &mut self.best] {
            points.clear();
            points.resize(n, Point::default());
        }
        self.linear.clear();
        self.linear.resize(n, Linear::default());
        self.states.clear();
        self.best_dp.resize(n, [0.0; 3]);
        self.best_dv.resize(el.m(), 0.0);
    }

    /// True if τ falls no further.
    pub fn is_at_end(&self) -> bool {
        self.tau <= 2.0 * LEAST_TAU
    }

    /// Size of the velocities.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Leaves out the forces of contacts that are about to part.
    pub fn drop_small_forces(&self, newton: &mut Newton) {
        let mut open = false;
        for ((shape, point), p) in self.shapes.iter().zip(&self.points).zip(&mut newton.p) {
            if shape.normal {
                open = point.y[0] < PARTING * point.s[0];
            }
            if open && (shape.normal || shape.has_disc()) {
                *p = [0.0; 3];
            }
        }
    }

    /// True if there are pairs at all; else the problem is linear.
    pub fn has_pairs(&self) -> bool {
        self.pairs > 0
    }

    /// Starts at a point with all products equal: forces and motions of size `part` of the fastest motion that the laws would stop. `newton` has the velocities without forces.
    pub fn start_cold(&mut self, el: &Elements, newton: &mut Newton, part: f64) {
        newton.find_motions(el, false);
        let mut fastest = 1e-3f64;
        for (shape, u) in self.shapes.iter().zip(&newton.u) {
            fastest = u.iter().zip(shape.motion).fold(fastest, |max, (u, unit)| max.max(u.abs() * unit));
        }
        let xi = part * fastest;
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let shape = self.shapes[e];
            let point = &mut self.points[e];
            *point = Point::default();
            if shape.normal {
                (point.y[0], point.s[0]) = (xi, xi);
                newton.p[e] = [xi * shape.force[0], 0.0, 0.0];
                normal = xi;
            }
            if shape.has_disc() {
                point.y[1] = 0.5 * shape.coefficient * normal;
                point.s[1] = xi * xi / point.y[1];
            }
            start_bounded(element, &shape, point, &mut newton.p[e], 0.0, xi);
        }
        self.begin(false);
    }

    /// Starts near the forces and velocities in `newton`, at least `distance` inside.
    pub fn start_near(&mut self, el: &Elements, newton: &mut Newton, distance: f64, weighted: bool) {
        newton.find_motions(el, false);
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let shape = self.shapes[e];
            let u = [0, 1, 2].map(|r| newton.u[e][r] * shape.motion[r]);
            let point = &mut self.points[e];
            *point = Point::default();
            if shape.normal {
                point.y[0] = newton.p[e][0].max(0.0) / shape.force[0] + distance;
                point.s[0] = u[0].max(0.0) + distance;
                newton.p[e][0] = point.y[0] * shape.force[0];
                normal = point.y[0];
            }
            if shape.has_disc() {
                let (first, last) = shape.disc;
                for r in first..last {
                    point.x_t[r - first] = newton.p[e][r] / shape.force[r];
                    point.u_t[r - first] = u[r];
                }
                let radius = shape.coefficient * normal;
                let (square, most) = (dot2(point.x_t, point.x_t), 0.99 * radius);
                if square > most * most {
                    let scale = most / square.sqrt();
                    point.x_t = point.x_t.map(|x| scale * x);
                    for r in first..last {
                        newton.p[e][r] = point.x_t[r - first] * shape.force[r];
                    }
                }
                point.y[1] = 0.5 * (radius - dot2(point.x_t, point.x_t) / radius);
                point.s[1] = dot2(point.u_t, point.u_t).sqrt() + distance * distance / point.y[1];
            }
            start_bounded(element, &shape, point, &mut newton.p[e], u[0], distance);
        }
        self.begin(weighted);
    }

    fn begin(&mut self, weighted: bool) {
        self.step.fill(Point::default());
        self.tau = self.mean_product(0.0);
        let tau = self.tau;
        self.weights.clear();
        self.weights.extend(
            self.points.iter().map(|p| {
                [0, 1].map(|k| if weighted { (p.y[k] * p.s[k] / tau).clamp(WEIGHTS.0, WEIGHTS.1) } else { 1.0 })
            }),
        );
        self.short = 0;
    }

    /// One iteration: predictor, correctors on the same factor, and the best of the steps. Leaves the states indicated by the predictor in `states`. False if there is no step.
    pub fn iterate(&mut self, el: &Elements, newton: &mut Newton, least_sigma: f64) -> bool {
        newton.find_motions(el, false);
        let (factor, least, most) = PROXIMAL;
        let alpha = (factor * self.tau).clamp(least, most);
        self.linearize(el, newton, alpha);
        if !newton.factor(el, false) {
            return false;
        }
        if !self.solve(el, newton, alpha, Target { tau: 0.0, share: 0.0 }) {
            return false;
        }
        self.predictor.copy_from_slice(&self.step);
        self.indicate();
        let reach = self.to_boundary().min(1.0);
        let left = (self.mean_product(reach) / self.tau).clamp(1e-6, 1.0);
        let floor = (LEAST_TAU / self.tau).max(if self.tau < NOISE { least_sigma } else { 0.0 }).min(1.0);
        let sigma = (left * left * left).max(floor);
        let least_product = CENTRED.min(0.5 * self.least_product(0.0) / self.tau);
        let mut length = 0.0;
        if newton.matrix.is_negative() {
            length = self.go_back(el, newton, alpha, least_product);
        }
        if length == 0.0 {
            length = self.go_on(el, newton, alpha, [sigma, floor], least_product);
        }
        if length == 0.0 {
            return false;
        }
        self.advance(newton, length);
        self.short = if length < SHORT_STEP { self.short + 1 } else { 0 };
        self.tau.is_finite() && self.short <= 3
    }

    /// Where the path goes on to smaller τ: the best of several steps on the same factor, left in
    /// `best`; returns the part of it to go, 0 if there is none.
    fn go_on(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        alpha: f64,
        [sigma, floor]: [f64; 2],
        least_product: f64,
    ) -> f64 {
        let (mut best, mut length) = (f64::INFINITY, 0.0);
        let weaker = [(sigma.max(0.1), 0.5), (floor.max(0.3), 0.0), (floor.max(0.9), 0.0)];
        for (sigma, share) in [(sigma, 1.0), (sigma, 0.0)].into_iter().chain(weaker) {
            if !self.solve(el, newton, alpha, Target { tau: sigma * self.tau, share }) {
                continue;
            }
            let Some((a, tau)) = self.step_length(least_product) else { continue };
            let score = tau.max((1.0 - a) * self.tau);
            if score < best {
                (best, length) = (score, a);
                self.keep_step(newton);
            }
            if best < GOOD_STEP * self.tau {
                break;
            }
        }
        length
    }

    /// Where the path has turned back: along it τ grows, up to the next turn. As in Lemke's method, the
    /// sign of the determinant says which way along the path is on.
    fn go_back(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, least_product: f64) -> f64 {
        let mut length = 0.0;
        for growth in TAU_GROWTH {
            if !self.solve(el, newton, alpha, Target { tau: growth * self.tau, share: 0.0 }) {
                continue;
            }
            let Some((a, _)) = self.step_length(least_product) else { continue };
            if a > length {
                length = a;
                self.keep_step(newton);
            }
            if length > 0.5 {
                break;
            }
        }
        length
    }

    fn keep_step(&mut self, newton: &Newton) {
        self.best.copy_from_slice(&self.step);
        self.best_dv.copy_from_slice(&newton.dv);
        self.best_dp.copy_from_slice(&newton.dp);
    }

    /// The maps of all elements for the step from here, into `newton` too.
    fn linearize(&mut self, el: &Elements, newton: &mut Newton, alpha: f64) {
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point) = (&self.shapes[e], &self.points[e]);
            let rho = [0, 1, 2].map(|r| newton.u[e][r] * shape.motion[r]);
            let mut lin = Linear { rho, ..Linear::default() };
            let mut map = Map { acts: true, ..Map::default() };
            let unit = shape.force[1] * shape.motion[1];
            let unit_n = shape.force[0] * shape.motion[0];
            if shape.normal {
                normal = point.y[0];
                lin.rho[0] -= point.s[0];
                lin.c = point.y[0] / point.s[0];
            } else if shape.bounded {
                let stiffness = |k: usize| if shape.pairs[k] { point.s[k] / point.y[k] } else { 0.0 };
                lin.rho[0] -= if shape.pairs[0] { point.s[0] } else { 0.0 };
                lin.rho[0] += if shape.pairs[1] { point.s[1] } else { 0.0 };
                lin.c = 1.0 / (stiffness(0) + stiffness(1));
            }
            lin.t = 1.0 / (1.0 + alpha * lin.c);
            map.c[0][0] = lin.t * lin.c * unit_n;
            if shape.has_disc() {
                linearize_disc(shape, point, &mut lin, normal, alpha);
                let first = shape.disc.0;
                let follow = along_across(lin.f, lin.d, lin.tt);
                let own = [lin.tt[0] * lin.ct[0], lin.tt[1] * lin.ct[1]];
                for i in 0..element.rows - first {
                    let axis = [[1.0, 0.0], [0.0, 1.0]][i];
                    let column = along_across(axis, lin.d, own);
                    for j in 0..element.rows - first {
                        map.c[first + j][first + i] = column[j] * unit;
                    }
                    if first == 0 {
                        map.follows[i] = follow[i] * shape.force[0] / self.shapes[e - 1].force[0];
                    } else {
                        map.c[first + i][0] = follow[i] * shape.force[1] / shape.force[0] * map.c[0][0];
                    }
                }
                map.coupled = true;
            }
            let free = free_rows(element, shape);
            for r in free.0..free.1 {
                map.c[r][r] = unit / PROXIMAL_FREE;
            }
            newton.maps[e] = map;
            self.linear[e] = lin;
        }
    }

    /// The step to a target, with the factor there is; false if it is not finite.
    fn solve(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, target: Target) -> bool {
        let mut normal = [0.0; 2];
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point, lin, second) = (&self.shapes[e], &self.points[e], &self.linear[e], &self.predictor[e]);
            let mut change = [0.0; 3];
            if shape.normal {
                let c = constants(point, second, 0, target, self.weights[e]) / point.s[0];
                change[0] = lin.t * (c - lin.c * lin.rho[0]);
                normal = [point.y[0], second.y[0]];
            } else if shape.bounded {
                let part = |k: usize| {
                    if shape.pairs[k] { constants(point, second, k, target, self.weights[e]) / point.y[k] } else { 0.0 }
                };
                change[0] = lin.t * lin.c * (part(0) - part(1) - lin.rho[0]);
            }
            if shape.has_disc() {
                let first = shape.disc.0;
                let q = SecondOrder::of(shape, point, second, normal, target.share);
                let c3 = constants(point, second, 1, target, self.weights[e]) / point.y[1];
                let pull = c3 + point.s[1] / point.y[1] * (lin.r2 + q.slack);
                let a = [0, 1].map(|k| -lin.r1[k] - q.slip[k] - point.x_t[k] * pull);
                let sa = along_across(a, lin.d, lin.s);
                let rho = [lin.rho[first], if element.rows - first > 1 { lin.rho[first + 1] } else { 0.0 }];
                let cr = along_across(rho, lin.d, lin.ct);
                let f = if first == 1 { change[0] } else { 0.0 };
                let own = [0, 1].map(|k| sa[k] - cr[k] + f * lin.f[k]);
                let own = along_across(own, lin.d, lin.tt);
                (first..element.rows).for_each(|r| change[r] = own[r - first]);
            }
            let free = free_rows(element, shape);
            for r in free.0..free.1 {
                change[r] = -lin.rho[r] / PROXIMAL_FREE;
            }
            newton.dp[e] = [0, 1, 2].map(|r| change[r] * shape.force[r]);
        }
        newton.step(el) && {
            self.recover(el, newton, alpha, target);
            true
        }
    }

    /// The change of all pairs from that of forces and motions.
    fn recover(&mut self, el: &Elements, newton: &Newton, alpha: f64, target: Target) {
        let (mut normal, mut d_normal) = ([0.0; 2], 0.0);
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point, lin, second) = (&self.shapes[e], &self.points[e], &self.linear[e], &self.predictor[e]);
            let mut step = Point::default();
            let dx = [0, 1, 2].map(|r| newton.dp[e][r] / shape.force[r]);
            let mut du = [0, 1, 2].map(|r| newton.du[e][r] * shape.motion[r]);
            for r in 0..3 {
                du[r] += lin.rho[r] + alpha * dx[r];
            }
            if shape.normal {
                (step.y[0], step.s[0]) = (dx[0], du[0]);
                (normal, d_normal) = ([point.y[0], second.y[0]], dx[0]);
            } else if shape.bounded {
                step.y = [dx[0], -dx[0]];
                for k in 0..2 {
                    step.s[k] =
                        (constants(point, second, k, target, self.weights[e]) - point.s[k] * step.y[k]) / point.y[k];
                }
            }
            if shape.has_disc() {
                let first = shape.disc.0;
                for r in first..element.rows {
                    (step.x_t[r - first], step.u_t[r - first]) = (dx[r], du[r]);
                }
                let q = SecondOrder::of(shape, point, second, normal, target.share);
                let c3 = constants(point, second, 1, target, self.weights[e]) / point.y[1];
                let (radius, d_radius) = (shape.coefficient * normal[0], shape.coefficient * d_normal);
                recover_disc(point, lin, &mut step, &q, c3, radius, d_radius);
            }
            self.step[e] = step;
        }
    }

    /// Largest step that keeps all members of pairs positive.
    fn to_boundary(&self) -> f64 {
        let mut most = f64::INFINITY;
        for ((shape, point), step) in self.shapes.iter().zip(&self.points).zip(&self.step) {
            for k in (0..2).filter(|&k| shape.pairs[k]) {
                for (x, dx) in [(point.y[k], step.y[k]), (point.s[k], step.s[k])] {
                    if dx < 0.0 {
                        most = most.min(-x / dx);
                    }
                }
            }
        }
        most
    }

    /// Products of all pairs after a part `a` of the step.
    fn products(&self, a: f64) -> impl Iterator<Item = f64> + '_ {
        self.shapes.iter().zip(&self.points).zip(&self.step).flat_map(move |((shape, point), step)| {
            let product = move |k: usize| (point.y[k] + a * step.y[k]) * (point.s[k] + a * step.s[k]);
            (0..2).filter(|&k| shape.pairs[k]).map(product)
        })
    }

    fn mean_product(&self, a: f64) -> f64 {
        self.products(a).sum::<f64>() / self.pairs.max(1) as f64
    }

    fn least_product(&self, a: f64) -> f64 {
        let weights = self
            .shapes
            .iter()
            .zip(&self.weights)
            .flat_map(|(shape, w)| (0..2).filter(|&k| shape.pairs[k]).map(|k| w[k]));
        self.products(a).zip(weights).map(|(p, w)| p / w).fold(f64::INFINITY, f64::min)
    }

    /// The part of the step that leaves every product at least `least` of their mean, and that mean; none if no part does.
    fn step_length(&self, least: f64) -> Option<(f64, f64)> {
        let mut a = (TO_BOUNDARY * self.to_boundary()).min(1.0);
        for _ in 0..SHORTEN.1 {
            let tau = self.mean_product(a);
            if self.least_product(a) >= least * tau {
                return Some((a, tau));
            }
            a *= SHORTEN.0;
        }
        None
    }

    /// Goes a part `a` of the best step.
    fn advance(&mut self, newton: &mut Newton, a: f64) {
        super::lanes::axpy(a, &self.best_dv, &mut newton.v);
        let mut normal = 0.0;
        for (e, shape) in self.shapes.iter().enumerate() {
            let (point, step) = (&mut self.points[e], &self.best[e]);
            for k in 0..2 {
                point.y[k] += a * step.y[k];
                point.s[k] += a * step.s[k];
                point.x_t[k] += a * step.x_t[k];
                point.u_t[k] += a * step.u_t[k];
            }
            for r in 0..3 {
                newton.p[e][r] += a * self.best_dp[e][r];
            }
            if shape.normal {
                normal = point.y[0];
            }
            if shape.has_disc() {
                // The slack may lag behind what the forces leave.
                let radius = shape.coefficient * normal;
                let slack = 0.5 * (radius - dot2(point.x_t, point.x_t) / radius);
                if slack > 0.5 * point.y[1] && point.y[1] > point.s[1] {
                    point.s[1] *= point.y[1] / slack;
                    point.y[1] = slack;
                }
            }
        }
        self.step.copy_from_slice(&self.best);
        self.tau = self.mean_product(0.0);
    }

    /// The states that the predictor points to.
    fn indicate(&mut self) {
        self.states.clear();
        let mut open = false;
        for (e, shape) in self.shapes.iter().enumerate() {
            let (point, step) = (&self.points[e], &self.predictor[e]);
            let ratio = |k: usize| {
                let (y, s) = ((point.y[k] + step.y[k]) / point.y[k], (point.s[k] + step.s[k]) / point.s[k]);
                if shape.pairs[k] { y - s } else { f64::INFINITY }
            };
            let (first, second) = (ratio(0), ratio(1));
            let state = if shape.bounded {
                match (first < 0.0, second < 0.0) {
                    (true, false) => State::Lower,
                    (false, true) => State::Upper,
                    (true, true) if first < second => State::Lower,
                    (true, true) => State::Upper,
                    _ => State::Stick,
                }
            } else if shape.normal {
                open = first < 0.0;
                match (open, second < 0.0) {
                    (true, _) => State::Open,
                    (_, true) if !shape.capped => State::Slide,
                    _ => State::Stick,
                }
            } else if shape.has_disc() && (open || second < 0.0) {
                if point.x_t[0] > 0.0 { State::Upper } else { State::Lower }
            } else {
                State::Stick
            };
            self.states.push(state);
        }
    }
}

/// Second-order terms of a disc: of its slip equation, and of its slack's definition.
struct SecondOrder {
    slip: [f64; 2],
    slack: f64,
}

impl SecondOrder {
    /// From the predictor `second`; `normal` is the normal force and its change there.
    fn of(shape: &Shape, point: &Point, second: &Point, normal: [f64; 2], share: f64) -> Self {
        if share == 0.0 {
            return Self { slip: [0.0; 2], slack: 0.0 };
        }
        let (radius, d_radius) = (shape.coefficient * normal[0], shape.coefficient * normal[1]);
        let slip = [0, 1].map(|k| share * (d_radius * second.u_t[k] + second.s[1] * second.x_t[k]));
        let turned = [0, 1].map(|k| second.x_t[k] - point.x_t[k] * d_radius / radius);
        Self { slip, slack: share * dot2(turned, turned) / (2.0 * radius) }
    }
}

/// `τ' − q − y s` of pair `k`.
fn constants(point: &Point, second: &Point, k: usize, target: Target, weight: [f64; 2]) -> f64 {
    let second_order = if target.share == 0.0 { 0.0 } else { target.share * second.y[k] * second.s[k] };
    weight[k] * target.tau - second_order - point.y[k] * point.s[k]
}

/// S, C_t, T, f and the residuals of a disc; `normal` is its contact's normal force.
fn linearize_disc(shape: &Shape, point: &Point, lin: &mut Linear, normal: f64, alpha: f64) {
    let (first, last) = shape.disc;
    let (radius, g, w) = (shape.coefficient * normal, point.y[1], point.s[1]);
    let square = dot2(point.x_t, point.x_t);
    let length = square.sqrt();
    lin.d = if length > 0.0 { point.x_t.map(|x| x / length) } else { [1.0, 0.0] };
    for r in first..last {
        lin.rho[r] -= point.u_t[r - first];
    }
    lin.s = [g * radius / ((g * radius + square) * w), 1.0 / w];
    lin.ct = lin.s.map(|s| radius * s);
    lin.tt = lin.ct.map(|c| 1.0 / (1.0 + alpha * c));
    let h = 0.5 * (1.0 + square / (radius * radius));
    let k = [0, 1].map(|k| point.u_t[k] - w / g * h * point.x_t[k]);
    lin.f = along_across(k, lin.d, lin.s).map(|x| -shape.coefficient * x);
    lin.r1 = [0, 1].map(|k| radius * point.u_t[k] + w * point.x_t[k]);
    lin.r2 = g - 0.5 * (radius - square / radius);
}

/// dg and dw of a disc.
fn recover_disc(point: &Point, lin: &Linear, step: &mut Point, q: &SecondOrder, c3: f64, radius: f64, d_radius: f64) {
    let (g, w, square) = (point.y[1], point.s[1], dot2(point.x_t, point.x_t));
    if w > g && square > 0.01 * radius * radius {
        // Where it slides, from the slip's equation: the slack's would lose its digits to w / g.
        let t =
            [0, 1].map(|k| lin.r1[k] + q.slip[k] + radius * step.u_t[k] + point.u_t[k] * d_radius + w * step.x_t[k]);
        step.s[1] = -dot2(point.x_t, t) / square;
        step.y[1] = g / w * (c3 - step.s[1]);
        return;
    }
    let h = 0.5 * (1.0 + square / (radius * radius));
    step.y[1] = h * d_radius - dot2(point.x_t, step.x_t) / radius - lin.r2 - q.slack;
    step.s[1] = c3 - w / g * step.y[1];
}

/// Rows of an element without pairs: first and last + 1.
fn free_rows(element: &Element, shape: &Shape) -> (usize, usize) {
    match element.law {
        _ if shape.has_disc() || shape.bounded => (0, 0),
        Block::NoSlip { dim } => (1, dim),
        Block::Free => (0, 1),
        _ => (0, 0),
    }
}

/// A row with bounds: its force at least `distance` from them, or in their middle.
fn start_bounded(element: &Element, shape: &Shape, point: &mut Point, p: &mut [f64; 3], u: f64, distance: f64) {
    let Block::Bounded { lo, hi } = element.law else { return };
    if !shape.bounded {
        if !element.is_moment() {
            p[0] = lo;
        }
        return;
    }
    let (lo, hi, x) = (lo / shape.force[0], hi / shape.force[0], p[0] / shape.force[0]);
    let distance_from = distance.min(0.25 * (hi - lo));
    let x = x.max(lo + distance_from).min(hi - distance_from);
    point.y = [x - lo, hi - x];
    let square = distance * distance;
    point.s = [u.max(0.0) + square / point.y[0], (-u).max(0.0) + square / point.y[1]];
    p[0] = x * shape.force[0];
}

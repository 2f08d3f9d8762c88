//! The path from any start to a solution: Newton's method along the smooth laws as their products vanish.
//!
//! All equations of an island, the balance of momentum and the smooth laws of [`super::smooth_law`], are `F(X) = 0` with products of pairs `ω τ`. The path is
//!
//! ```text
//! F(X) = τ/τ₀ F(X₀),   products = ω τ
//! ```
//!
//! with ω the products of the start beside their mean τ₀: the start X₀ is on it, and τ = 0 is a solution. Newton's step of all equations is `dx = c − C du` element by element, so one system
//! `M + Σ Aᵀ C A` of order m is factored per iteration. It is used for the steps to τ' = 0 and τ' = τ; every other target, and the tangent of the path, is a combination of these. The step
//! onto the path is the shortest one in (X, log τ) (Moore and Penrose), then comes one along the tangent, as long as the next correction is expected to stay small. Where friction makes the path turn
//! back, its tangent has no part along τ for a moment, and τ grows for a while: as in Lemke's method, the sign of the determinant says which way is on.
//!
//! Of each pair the step gives the difference; its members follow from that and their product, so that no pair stops the others at a boundary. Steps and corrections are measured beside
//! the members: a measure that redundant forces, large mass ratios and units do not change.
//!
//! Which pairs vanish is read off the step to τ' = 0: the member of a pair that it shrinks more is the one that is zero (Tapia's indicators).
//!
//! Reference: \[AllgowerGeorg90\], \[Deuflhard04\], \[ElBakry94\].

mod predictor_corrector;

use super::super::law::State;
use super::elements::Elements;
use super::lanes::axpy;
use super::newton::Newton;
use super::smooth_law::{Linear, Point, Residual, Shape, follow_slip};
use super::tolerances::Tolerances;

/// Largest part by which τ falls in an iteration.
const LEAST_SIGMA: f64 = 0.02;
/// By how much it grows at most where the path has turned back.
const LARGEST_GROWTH: f64 = 2.0;
/// Largest correction that a step may leave, relative to the members of the pairs, and the part of it that is aimed at.
const LARGEST_DISTANCE: f64 = 0.8;
const WANTED_DISTANCE: f64 = 0.5;
/// Least and largest relative change of a pair along the tangent in one step.
const REACH: (f64, f64) = (0.02, 8.0);
/// Correction from which on there is no way back to the path but by the point before.
const DISTANCE_TO_GO_BACK: f64 = 30.0;
/// Tries of one iteration: steps of different lengths with the same factor.
const TRIES: usize = 10;
/// Least speed of bodies beside the fastest of their island that their contacts are measured by.
const LEAST_SPEED: f64 = 0.1;
/// α of the proximal term beside [`Tolerances::path_alpha`]: at the start, then where rounding stops the path.
const ALPHAS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// A step: changes of velocities, forces, motions and pairs.
#[derive(Debug, Clone, Default)]
struct Step {
    dv: Vec<f64>,
    dp: Vec<[f64; 3]>,
    du: Vec<[f64; 3]>,
    points: Vec<Point>,
}

/// A point of an island: velocities, forces, pairs and τ.
#[derive(Debug, Clone, Default)]
struct Place {
    v: Vec<f64>,
    p: Vec<[f64; 3]>,
    points: Vec<Point>,
    tau: f64,
}

impl Place {
    fn keep(&mut self, newton: &Newton, points: &[Point], tau: f64) {
        self.v.clone_from(&newton.v);
        self.p.clone_from(&newton.p);
        self.points.clear();
        self.points.extend_from_slice(points);
        self.tau = tau;
    }
}

/// Where a step is to lead.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// τ of the products; none leaves them as they are.
    tau: Option<f64>,
    /// Share of the start's residuals that is to remain.
    kept: f64,
    /// Share of the second-order terms of the step to τ = 0.
    second_order: f64,
}

impl Target {
    /// Products of `tau`, and no residuals.
    fn products(tau: f64) -> Self {
        Self { tau: Some(tau), kept: 0.0, second_order: 0.0 }
    }
}

/// The path.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    shapes: Vec<Shape>,
    /// Product of each pair beside τ.
    weights: Vec<[f64; 2]>,
    points: Vec<Point>,
    linear: Vec<Linear>,
    /// What the step found last was to remove of each element's residuals, and what its products lacked.
    wanted: Vec<(Residual, [f64; 2])>,
    /// The step found last.
    step: Vec<Point>,
    to_zero: Step,
    to_same: Step,
    /// The best of several steps.
    best: Step,
    /// The point that a step is taken from.
    from: Place,
    /// The last one that was near the path, and the reach there.
    good: Place,
    good_reach: f64,
    /// Residuals of the start, and its τ.
    start: Vec<Residual>,
    start_momentum: Vec<f64>,
    start_tau: f64,
    /// Size of the velocities, m/s.
    size: f64,
    pairs: usize,
    /// Relative change of a pair along the tangent that the next step may bring.
    reach: f64,
    tolerances: Tolerances,
    /// α of the proximal term.
    alpha: f64,
    /// Mean product of the pairs.
    pub tau: f64,
    /// States that the step to τ' = 0 indicated.
    pub states: Vec<State>,
}

/// What tangent and correction are like.
#[derive(Debug, Clone, Copy, Default)]
struct Compared {
    /// Largest relative change along the tangent, per log τ.
    fastest: f64,
    /// Largest relative change of the step onto the path at τ as it is.
    distance: f64,
    /// Change of log τ that makes the step onto the path the shortest.
    correction: f64,
}

impl Path {
    /// Lays the path out for an island, with this coefficient in place of those without limit; `newton` holds the velocities without any force.
    pub(super) fn load(&mut self, el: &Elements, newton: &mut Newton, substitute: f64) {
        self.tolerances = newton.tolerances;
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |max, x| max.max(x.abs()));
        let mut size = largest(&newton.v).max(largest(&el.v_before));
        for element in &el.list {
            size = size.max(largest(&element.bias) / element.weight.sqrt());
        }
        self.size = if size > 0.0 { size } else { 1.0 };
        self.shapes.clear();
        for group in &el.groups {
            el.gather(group, &newton.v, &mut newton.local);
            let mut own = largest(&newton.local[..group.stride]);
            el.gather(group, &el.v_before, &mut newton.local);
            own = own.max(largest(&newton.local[..group.stride])).max(el.speed_around(group.elements.0));
            for e in group.elements.0..group.elements.1 {
                let element = &el.list[e];
                let size = own.max(largest(&element.bias) / element.weight.sqrt()).max(LEAST_SPEED * self.size);
                let before = element.is_moment().then(|| self.shapes[e - element.behind]);
                self.shapes.push(Shape::of(element, before.as_ref(), size, substitute));
            }
        }
        self.pairs = self.shapes.iter().map(|s| s.pairs.iter().filter(|p| **p).count()).sum();
        let n = el.list.len();
        for points in [&mut self.points, &mut self.step] {
            points.clear();
            points.resize(n, Point::default());
        }
        self.linear.clear();
        self.linear.resize(n, Linear::default());
        self.states.clear();
    }

    /// True if a coefficient of friction stands in for one without limit.
    pub(super) fn has_substitutes(&self) -> bool {
        self.shapes.iter().any(|shape| shape.capped)
    }

    /// True if τ falls no further.
    pub(super) fn is_at_end(&self) -> bool {
        self.tau <= 2.0 * self.tolerances.least_tau
    }

    /// Makes the proximal term larger: near the end the stiffness of redundant contacts multiplies rounding. False if it is as large as it may be.
    pub(super) fn grow_alpha(&mut self) -> bool {
        let larger = ALPHAS.into_iter().map(|x| x * self.tolerances.path_alpha).find(|&alpha| alpha > self.alpha);
        self.alpha = larger.unwrap_or(self.alpha);
        larger.is_some()
    }

    /// Leaves out the forces of contacts that are about to part.
    pub(super) fn drop_small_forces(&self, newton: &mut Newton) {
        let mut open = false;
        for ((shape, point), p) in self.shapes.iter().zip(&self.points).zip(&mut newton.p) {
            if shape.normal {
                open = point.y[0] < self.tolerances.parting_force * point.s[0];
            }
            if open && (shape.normal || shape.has_disc()) {
                *p = [0.0; 3];
            }
        }
    }

    /// True if there are pairs at all; else the problem is linear.
    pub(super) fn has_pairs(&self) -> bool {
        self.pairs > 0
    }

    /// Starts from no forces, inside the laws by `part` of the fastest motion that they would stop. `newton` has the velocities without forces.
    pub(super) fn start_cold(&mut self, el: &Elements, newton: &mut Newton, part: f64) {
        newton.find_motions(el, false);
        let mut fastest = 1e-3f64;
        for (shape, u) in self.shapes.iter().zip(&newton.u) {
            fastest = u.iter().zip(shape.motion).fold(fastest, |max, (u, unit)| max.max(u.abs() * unit));
        }
        newton.u.fill([0.0; 3]);
        self.start_inside(el, newton, part * fastest);
    }

    /// Starts near the forces and velocities in `newton`, inside the laws by at least `distance`.
    pub(super) fn start_near(&mut self, el: &Elements, newton: &mut Newton, distance: f64) {
        newton.find_motions(el, false);
        self.start_inside(el, newton, distance);
    }

    /// Starts inside the laws, near the forces and motions in `newton`.
    fn start_inside(&mut self, el: &Elements, newton: &mut Newton, distance: f64) {
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let shape = &self.shapes[e];
            let u = [0, 1, 2].map(|r| newton.u[e][r] * shape.motion[r]);
            self.points[e] = Point::inside(element, shape, &mut newton.p[e], u, distance, normal);
            if shape.normal {
                normal = self.points[e].y[0];
            }
        }
        let product = |(point, shape): (&Point, &Shape)| {
            [0, 1].map(|k| if shape.pairs[k] { point.y[k] * point.s[k] } else { 0.0 })
        };
        self.weights.clear();
        self.weights.extend(self.points.iter().zip(&self.shapes).map(product));
        self.tau = self.weights.iter().map(|w| w[0] + w[1]).sum::<f64>() / self.pairs.max(1) as f64;
        self.weights.iter_mut().flatten().for_each(|w| *w /= self.tau);
        newton.find_motions(el, false);
        self.find_residuals(el, newton);
        self.start.clear();
        self.start.extend(self.linear.iter().map(|l| l.residual));
        self.start_momentum.clone_from(&newton.momentum);
        self.start_tau = self.tau;
        self.reach = 1.0;
        self.alpha = self.tolerances.path_alpha;
        self.good.keep(newton, &self.points, self.tau);
        self.good_reach = self.reach;
    }

    /// One iteration: states from the step to τ' = 0, then a step along the path. Leaves the states in `states`. `newton` is where the last one left it. False if there is no step.
    pub(super) fn short_step(&mut self, el: &Elements, newton: &mut Newton) -> bool {
        let (from, doubled) = (self.tau, self.tau < self.tolerances.doubled_tau);
        self.linearize(el, newton);
        if !newton.factor(el, false) || !self.solve_onto(el, newton, Some(0.0)) {
            return false;
        }
        self.to_zero.keep(newton, &self.step);
        self.indicate();
        if !self.solve_onto(el, newton, Some(from)) {
            return false;
        }
        self.to_same.keep(newton, &self.step);
        self.from.keep(newton, &self.points, from);
        let Compared { fastest, distance, correction } = self.compare();
        if distance <= LARGEST_DISTANCE {
            self.good.keep(newton, &self.points, from);
            self.good_reach = self.reach;
        } else if distance > DISTANCE_TO_GO_BACK {
            return self.go_back(el, newton);
        }
        // In log τ: where the path has turned back, τ grows.
        let back = newton.matrix.is_negative();
        let furthest =
            if back { LARGEST_GROWTH.ln() } else { -LEAST_SIGMA.max((self.tolerances.least_tau / from).min(1.0)).ln() };
        let mut part = (1.0 / distance).min(1.0);
        let mut reach = self.reach;
        for _ in 0..TRIES {
            let ahead = if part < 1.0 { 0.0 } else { (reach / fastest).min(furthest) };
            let sigma = (1.0 + correction) * if back { ahead.exp() } else { (-ahead).exp() };
            self.combine(newton, sigma);
            self.go(el, newton, part, (1.0 - part + part * sigma) * from);
            newton.find_motions(el, doubled);
            // Where contacts are redundant the system is softer in proportion to τ.
            let after = self.distance_after(el, newton) / (self.tau / from).min(1.0);
            let ratio = (WANTED_DISTANCE * LARGEST_DISTANCE / after).sqrt();
            let nearer = after <= (1.0 - 0.25 * part) * distance;
            if after <= LARGEST_DISTANCE || ahead == 0.0 && nearer {
                let reached = (ahead * fastest).max(0.5 * reach);
                self.reach = (reached * ratio.clamp(0.5, 4.0)).clamp(REACH.0, REACH.1);
                return true;
            }
            match ahead * fastest {
                x if x > 0.5 * REACH.0 => reach = x * ratio.clamp(0.1, 0.5),
                x if x > 0.0 => reach = 0.0,
                _ => part *= 0.5,
            }
        }
        self.go_back(el, newton)
    }

    /// Returns to the last point that was near the path: a step past a sharp turn, of which the factor before it does not tell, can lead away. The next one is shorter; false if
    /// it was short already.
    fn go_back(&mut self, el: &Elements, newton: &mut Newton) -> bool {
        self.good_reach *= 0.1;
        self.reach = self.good_reach;
        self.tau = self.good.tau;
        self.points.copy_from_slice(&self.good.points);
        newton.v.copy_from_slice(&self.good.v);
        newton.p.copy_from_slice(&self.good.p);
        newton.find_motions(el, self.tau < self.tolerances.doubled_tau);
        self.find_residuals(el, newton);
        self.reach > self.tolerances.shortest_step
    }

    /// The tangent, which is the step to τ less the step to 0, and the step onto the path at τ as it is.
    fn compare(&self) -> Compared {
        let (mut along, mut square, mut normal) = (0.0, 1.0, 0.0);
        let mut out = Compared { fastest: 1e-3, ..Compared::default() };
        for (e, shape) in self.shapes.iter().enumerate() {
            let point = &self.points[e];
            if shape.normal {
                normal = point.y[0] + point.s[0];
            }
            let same = point.relative(shape, &self.to_same.points[e], normal);
            let zero = point.relative(shape, &self.to_zero.points[e], normal);
            for (same, zero) in same.into_iter().zip(zero) {
                let tangent = same - zero;
                along += same * tangent;
                square += tangent * tangent;
                out.fastest = out.fastest.max(tangent.abs());
                out.distance = out.distance.max(same.abs());
            }
        }
        out.correction = (-along / square).clamp(-0.5, 1.0);
        out
    }

    /// The step to `sigma` τ, from those to 0 and to τ.
    fn combine(&mut self, newton: &mut Newton, sigma: f64) {
        let mix = |zero: f64, same: f64| zero + sigma * (same - zero);
        let (zero, same) = (&self.to_zero, &self.to_same);
        for ((to, zero), same) in newton.dv.iter_mut().zip(&zero.dv).zip(&same.dv) {
            *to = mix(*zero, *same);
        }
        for ((to, zero), same) in newton.dp.iter_mut().zip(&zero.dp).zip(&same.dp) {
            *to = [0, 1, 2].map(|r| mix(zero[r], same[r]));
        }
        let two = |zero: [f64; 2], same: [f64; 2]| [mix(zero[0], same[0]), mix(zero[1], same[1])];
        for ((to, a), b) in self.step.iter_mut().zip(&zero.points).zip(&same.points) {
            *to = Point { y: two(a.y, b.y), s: two(a.s, b.s), x_t: two(a.x_t, b.x_t), u_t: two(a.u_t, b.u_t) };
        }
    }

    /// Goes a part `a` of the step, to products of `tau` times their weights.
    fn go(&mut self, el: &Elements, newton: &mut Newton, a: f64, tau: f64) {
        self.tau = tau;
        newton.v.copy_from_slice(&self.from.v);
        axpy(a, &newton.dv, &mut newton.v);
        let mut normal = 0.0;
        for (e, shape) in self.shapes.iter().enumerate() {
            let products = self.weights[e].map(|w| w * tau);
            let point = Point::after(&self.from.points[e], &self.step[e], a, shape, products, normal);
            let p = &mut newton.p[e];
            for r in 0..3 {
                p[r] = self.from.p[e][r] + a * newton.dp[e][r];
            }
            if shape.normal {
                normal = point.y[0];
                p[0] = normal * shape.force[0];
                follow_slip(el.list[e].law, p);
            }
            for r in shape.disc.0..shape.disc.1 {
                p[r] = point.x_t[r - shape.disc.0] * shape.force[r];
            }
            self.points[e] = point;
        }
    }

    /// Size of the step that the factor there is would make from the point reached onto the path.
    fn distance_after(&mut self, el: &Elements, newton: &mut Newton) -> f64 {
        self.find_residuals(el, newton);
        std::mem::swap(&mut self.points, &mut self.from.points);
        let solved = self.solve_onto(el, newton, None);
        let (mut most, mut normal) = (0.0f64, 0.0);
        for ((shape, point), step) in self.shapes.iter().zip(&self.points).zip(&self.step) {
            if shape.normal {
                normal = point.y[0] + point.s[0];
            }
            for x in point.relative(shape, step, normal) {
                // Not a number is as bad as infinite.
                most = if x.abs() <= most { most } else { x.abs() };
            }
        }
        std::mem::swap(&mut self.points, &mut self.from.points);
        if solved && most.is_finite() { most } else { f64::INFINITY }
    }

    /// What is left of the equations of all elements at the point.
    fn find_residuals(&mut self, el: &Elements, newton: &Newton) {
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point) = (&self.shapes[e], &self.points[e]);
            if shape.normal {
                normal = point.y[0];
            }
            self.linear[e].residual = Residual::of(element, shape, point, newton.u[e], newton.p[e][0], normal);
        }
    }

    /// The maps of all elements for the step from here.
    fn linearize(&mut self, el: &Elements, newton: &mut Newton) {
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point, lin) = (&self.shapes[e], &self.points[e], &mut self.linear[e]);
            if shape.normal {
                normal = point.y[0];
            }
            *lin = Linear::of(element, shape, point, lin.residual, normal, self.alpha, &mut newton.maps[e]);
        }
    }

    /// The step onto the path at `tau`; none is its present τ, with the products as they are.
    fn solve_onto(&mut self, el: &Elements, newton: &mut Newton, tau: Option<f64>) -> bool {
        let kept = tau.unwrap_or(self.tau) / self.start_tau;
        self.solve(el, newton, Target { tau, kept, second_order: 0.0 })
    }

    /// The step to a target, with the factor there is. False if it is not finite.
    fn solve(&mut self, el: &Elements, newton: &mut Newton, target: Target) -> bool {
        axpy(-target.kept, &self.start_momentum, &mut newton.momentum);
        self.wanted.clear();
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point, lin) = (&self.shapes[e], &self.points[e], &self.linear[e]);
            let (rest, missing) = self.wanted(e, target);
            newton.dp[e] = lin.change(element, shape, point, &rest, missing);
            self.wanted.push((rest, missing));
        }
        let solved = newton.step(el);
        axpy(target.kept, &self.start_momentum, &mut newton.momentum);
        if !solved {
            return false;
        }
        let mut normal = [0.0; 2];
        for (e, element) in el.list.iter().enumerate() {
            let (shape, point) = (&self.shapes[e], &self.points[e]);
            let (rest, missing) = &self.wanted[e];
            if shape.normal {
                normal = [point.y[0], newton.dp[e][0] / shape.force[0]];
            }
            let (dp, du) = (newton.dp[e], newton.du[e]);
            self.step[e] = point.change(element, shape, rest, *missing, dp, du, normal, self.alpha);
        }
        true
    }

    /// What the step is to remove of an element's residuals, and what its products lack.
    fn wanted(&self, e: usize, target: Target) -> (Residual, [f64; 2]) {
        let (shape, point, weights) = (&self.shapes[e], &self.points[e], self.weights[e]);
        let mut rest = self.linear[e].residual;
        if target.kept != 0.0 {
            rest = rest.less(&self.start[e], target.kept);
        }
        let mut missing = [0, 1].map(|k| target.tau.map_or(0.0, |tau| weights[k] * tau - point.y[k] * point.s[k]));
        if target.second_order > 0.0 {
            let zero = &self.to_zero.points;
            // A moment follows the normal force of its contact.
            let of = e - shape.behind;
            let normal = [self.points[of].y[0], zero[of].y[0]];
            rest.add_second_order(shape, point, &zero[e], normal, target.second_order);
            (0..2).for_each(|k| missing[k] -= target.second_order * zero[e].y[k] * zero[e].s[k]);
        }
        (rest, missing)
    }

    /// The states that the step to τ' = 0 points to.
    fn indicate(&mut self) {
        self.states.clear();
        let mut open = false;
        for (e, shape) in self.shapes.iter().enumerate() {
            let (point, step) = (&self.points[e], &self.to_zero.points[e]);
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
                    (_, true) => State::Slide,
                    _ => State::Stick,
                }
            } else if shape.has_disc() && (open || second < 0.0 && !shape.capped) {
                match point.x_t[0] > 0.0 {
                    _ if shape.disc.1 > 1 => State::Slide,
                    true => State::Upper,
                    false => State::Lower,
                }
            } else {
                State::Stick
            };
            self.states.push(state);
        }
    }
}

impl Step {
    fn keep(&mut self, newton: &Newton, points: &[Point]) {
        self.dv.clone_from(&newton.dv);
        self.dp.clone_from(&newton.dp);
        self.du.clone_from(&newton.du);
        self.points.clear();
        self.points.extend_from_slice(points);
    }
}

//! Long steps on the way to a solution: Mehrotra's predictor–corrector method on the smooth laws.
//!
//! On one factor the step to τ = 0 (the predictor) tells how far τ can fall, and its second-order terms correct the step to that τ. A step goes almost to where a member of a pair vanishes,
//! and all residuals fall with it, far from any curve. That is quick, but may stop where friction makes the path turn back often or sharply: then the path itself is followed (`path.rs`).
//!
//! Reference: \[Mehrotra92\].

use super::super::elements::Elements;
use super::super::lanes::axpy;
use super::super::newton::Newton;
use super::super::smooth_law::{Point, dot2};
use super::{Path, Target};

/// Part of the way to the boundary that a step may go.
const TO_BOUNDARY: f64 = 0.97;
/// The least product of a pair beside their mean.
const LEAST_PRODUCT: f64 = 0.1;
/// A step that leaves too small a product is shortened by this, at most so many times.
const SHORTEN: (f64, usize) = (0.8, 25);
/// A step that leaves less of τ than this is taken at once.
const GOOD_STEP: f64 = 0.3;
/// Below [`Tolerances::noise_tau`](super::Tolerances) τ falls to no less than this part per iteration.
const NOISE_SIGMA: f64 = 0.03;
/// Where the path has turned back, τ grows by one of these factors per iteration.
const TAU_GROWTH: [f64; 3] = [3.0, 1.5, 1.1];

impl Path {
    /// All pairs are to have the same product, whatever those of the start were.
    pub(crate) fn centre(&mut self) {
        self.weights.fill([1.0; 2]);
        self.tau = self.mean_product(0.0);
    }

    /// One iteration. Leaves the states that the predictor indicates in `states`. `newton` is where the last one left it. False if there is no step.
    pub(crate) fn long_step(&mut self, el: &Elements, newton: &mut Newton) -> bool {
        self.linearize(el, newton);
        if !newton.factor(el, false) || !self.solve(el, newton, Target::products(0.0)) {
            return false;
        }
        self.to_zero.keep(newton, &self.step);
        self.indicate();
        let least = LEAST_PRODUCT.min(0.5 * self.least_product(0.0) / self.tau);
        let left = (self.mean_product(self.to_boundary().min(1.0)) / self.tau).clamp(1e-6, 1.0);
        let mut length = if newton.matrix.is_negative() { self.grow(el, newton, least) } else { 0.0 };
        if length == 0.0 {
            length = self.shrink(el, newton, left * left * left, least);
        }
        if length == 0.0 {
            return false;
        }
        self.advance(el, newton, length);
        self.tau.is_finite()
    }

    /// The step that leaves least of τ and of the residuals, of several on the same factor, is left in `best`; returns the part of it to go, 0 if there is none.
    fn shrink(&mut self, el: &Elements, newton: &mut Newton, sigma: f64, least: f64) -> f64 {
        let floor = (self.tolerances.least_tau / self.tau)
            .max(if self.tau < self.tolerances.noise_tau { NOISE_SIGMA } else { 0.0 })
            .min(1.0);
        let sigma = sigma.max(floor);
        let (mut best, mut length) = (f64::INFINITY, 0.0);
        for (sigma, second_order) in [(sigma, 1.0), (sigma, 0.0), (sigma.max(0.1), 0.5)] {
            let target = Target { second_order, ..Target::products(sigma * self.tau) };
            if !self.solve(el, newton, target) {
                continue;
            }
            let Some((a, tau)) = self.step_length(least) else { continue };
            let left = tau.max((1.0 - a) * self.tau);
            if left < best {
                (best, length) = (left, a);
                self.best.keep(newton, &self.step);
            }
            if best < GOOD_STEP * self.tau {
                break;
            }
        }
        length
    }

    /// Where the path has turned back τ grows along it, up to the next turn. As in Lemke's method the sign of the determinant tells which way along the path is on. The longest of several steps is
    /// left in `best`; returns the part of it to go, 0 if there is none.
    fn grow(&mut self, el: &Elements, newton: &mut Newton, least: f64) -> f64 {
        let mut length = 0.0;
        for growth in TAU_GROWTH {
            if !self.solve(el, newton, Target::products(growth * self.tau)) {
                continue;
            }
            let Some((a, _)) = self.step_length(least) else { continue };
            if a > length {
                length = a;
                self.best.keep(newton, &self.step);
            }
            if length > 0.5 {
                break;
            }
        }
        length
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
        self.products(a).fold(f64::INFINITY, f64::min)
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
    fn advance(&mut self, el: &Elements, newton: &mut Newton, a: f64) {
        axpy(a, &self.best.dv, &mut newton.v);
        let mut normal = 0.0;
        for (e, shape) in self.shapes.iter().enumerate() {
            let (point, step) = (&mut self.points[e], &self.best.points[e]);
            for k in 0..2 {
                point.y[k] += a * step.y[k];
                point.s[k] += a * step.s[k];
                point.x_t[k] += a * step.x_t[k];
                point.u_t[k] += a * step.u_t[k];
            }
            for r in 0..3 {
                newton.p[e][r] += a * self.best.dp[e][r];
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
        self.step.fill(Point::default());
        self.tau = self.mean_product(0.0);
        if self.tau < self.tolerances.doubled_tau {
            newton.find_motions(el, true);
        } else {
            // Motions and momentum are linear in the step.
            newton.momentum.iter_mut().for_each(|x| *x *= 1.0 - a);
            for (u, du) in newton.u.iter_mut().zip(&self.best.du) {
                (0..3).for_each(|r| u[r] += a * du[r]);
            }
        }
        self.find_residuals(el, newton);
    }
}

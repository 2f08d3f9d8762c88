//! What a certificate's numbers are divided by.

use super::sums::{norm_bound, plain_dot, plain_dot_rounding, product_above, quotient_above, rounded_down, rounded_up};
use crate::problem::ProblemRef;

/// A number known to lie between two others.
#[derive(Debug, Clone, Copy)]
struct Between {
    least: f64,
    most: f64,
}

impl Between {
    fn exactly(x: f64) -> Self {
        Self { least: x, most: x }
    }
}

/// The scales of a problem, in units of w.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    /// μ, units of w per unit of z.
    mu: Between,
    /// s, what the natural map is divided by.
    map: Between,
    /// σ, what w of a free row of a mixed problem is divided by.
    equation: f64,
}

impl Scales {
    pub(super) fn new(problem: ProblemRef<'_>) -> Self {
        let mu = largest_entry(problem);
        let q = problem.max_abs_q();
        let bounded = match problem {
            ProblemRef::Lcp(_) | ProblemRef::Mlcp(_) => false,
            ProblemRef::Box(_) => true,
            ProblemRef::Factored(p) => p.bounds().is_some(),
        };
        let finite = |b: f64| if b.is_finite() { b.abs() } else { 0.0 };
        let bounds = (0..if bounded { problem.n() } else { 0 }).map(|i| problem.bound(i));
        let bound = bounds.fold(0.0, |m: f64, (lo, hi)| m.max(finite(lo)).max(finite(hi)));
        let map = if bound > 0.0 {
            let least = rounded_down(mu.least * bound, 1).min(f64::MAX);
            Between { least: least.max(q), most: rounded_up(mu.most * bound, 1).max(q) }
        } else if q > 0.0 {
            Between::exactly(q)
        } else if matches!(problem, ProblemRef::Mlcp(_)) {
            Between::exactly(1.0)
        } else {
            mu
        };
        Self { mu, map, equation: if q > 0.0 { q } else { 1.0 } }
    }

    /// `μ x`, rounded away from zero.
    #[inline]
    pub(super) fn distance(&self, x: f64) -> f64 {
        if x.is_infinite() { x } else { product_above(self.mu.most, x.abs(), 1).copysign(x) }
    }

    /// The residual of the largest natural map, from above.
    pub(super) fn residual_of_map(&self, map: f64) -> f64 {
        quotient_above(map, self.map.least, 0)
    }

    /// The residual of the largest |w| of the free rows of a mixed problem, from above.
    pub(super) fn residual_of_equation(&self, w: f64) -> f64 {
        quotient_above(w, self.equation, 0)
    }

    /// `2u max ωᵢ / s` from below, for an ω that is not above the largest.
    pub(super) fn rounding_limit(&self, omega: f64) -> f64 {
        let limit = f64::EPSILON * (omega.max(0.0) / self.map.most);
        if limit.is_finite() { rounded_down(limit, 3) } else { 0.0 }
    }
}

/// μ = max |Mᵢⱼ|, or 1 if M = 0. Of a Gram matrix the largest entry is on the diagonal.
fn largest_entry(problem: ProblemRef<'_>) -> Between {
    let ProblemRef::Factored(p) = problem else {
        let largest = problem.max_abs();
        return Between::exactly(if largest > 0.0 { largest } else { 1.0 });
    };
    let (mut largest, mut norm) = (0.0f64, 0.0f64);
    for j in 0..p.n() {
        let column = p.g().col(j);
        largest = largest.max(plain_dot(column, column));
        norm = norm.max(norm_bound(column));
    }
    if norm == 0.0 {
        return Between::exactly(1.0);
    }
    let m = p.g().rows();
    let lost = f64::MIN_POSITIVE * m as f64;
    let share = plain_dot_rounding(m);
    Between {
        least: rounded_down((largest * (1.0 - share) - lost).max(0.0), 3),
        most: rounded_up(largest * (1.0 + share) + lost, 3),
    }
}

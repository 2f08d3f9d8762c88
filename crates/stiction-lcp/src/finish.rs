//! From a basis to numbers: the last step of every pivoting method.
//!
//! The basis fixes which zᵢ stand at a bound; the others solve one linear system, `M_αα z_α = −(q_α + M_αβ z_β)`. It is
//! factored once and refined with residuals in twice the working precision, until the error of every row is rounding.

use crate::basis::{Basis, Position};
use crate::certificate::{Certificate, certify};
use crate::lu::Lu;
use crate::outcome::{Outcome, Solved, Stats, StopReason, Stopped};
use crate::problem::ProblemRef;
use crate::solver::Options;

/// Workspace of the last step.
#[derive(Debug, Clone, Default)]
pub struct Finish {
    lu: Lu,
    active: Vec<usize>,
    row_exponent: Vec<i32>,
    column_exponent: Vec<i32>,
    step: Vec<f64>,
    low: Vec<f64>,
}

/// Refinement steps at most; two are the rule.
const REFINEMENTS: usize = 6;

impl Finish {
    /// The vector z of `basis`, or `None` if the basis is singular.
    pub fn solution(&mut self, problem: ProblemRef<'_>, basis: &Basis) -> Option<Vec<f64>> {
        let n = problem.n();
        let mut z = vec![0.0; n];
        self.active.clear();
        for i in 0..n {
            let (lo, hi) = problem.bound(i);
            match basis.position(i) {
                Position::Basic => self.active.push(i),
                Position::Lower => z[i] = lo,
                Position::Upper => z[i] = hi,
            }
            if !z[i].is_finite() {
                return None;
            }
        }
        if !self.active.is_empty() {
            self.factor(problem);
            if self.lu.pivot_ratio() == 0.0 {
                return None;
            }
            self.refine(problem, &mut z);
        }
        for &i in &self.active {
            let (lo, hi) = problem.bound(i);
            z[i] = z[i].clamp(lo, hi);
        }
        z.iter().all(|x| x.is_finite()).then_some(z)
    }

    /// Solves the basis and certifies: `Solved`, or `Stopped` if the basis is singular or its z does not pass.
    pub fn outcome(&mut self, problem: ProblemRef<'_>, basis: Basis, options: &Options, stats: Stats) -> Outcome {
        match self.solution(problem, &basis) {
            Some(z) => outcome_of(problem, z, basis, options, stats),
            None => {
                let z = vec![0.0; problem.n()];
                let mut w = z.clone();
                let certificate = certify(problem, &z, &mut w);
                let why = StopReason::Numerical("the final basis is singular".into());
                Outcome::Stopped(Stopped { why, z, certificate, stats })
            }
        }
    }

    /// Factors `M_αα`, its rows and columns scaled by powers of two.
    fn factor(&mut self, problem: ProblemRef<'_>) {
        let (active, k) = (&self.active, self.active.len());
        self.row_exponent.clear();
        self.row_exponent.resize(k, 0);
        self.column_exponent.clear();
        self.column_exponent.resize(k, 0);
        for a in 0..k {
            let largest = (0..k).fold(0.0, |m: f64, b| m.max(problem.entry(active[a], active[b]).abs()));
            self.row_exponent[a] = exponent(largest);
        }
        for b in 0..k {
            let scaled = |a: usize| times_power(problem.entry(active[a], active[b]).abs(), -self.row_exponent[a]);
            self.column_exponent[b] = exponent((0..k).fold(0.0, |m: f64, a| m.max(scaled(a))));
        }
        let (row, column) = (&self.row_exponent, &self.column_exponent);
        self.lu.factor_with(k, |a, b| times_power(problem.entry(active[a], active[b]), -row[a] - column[b]));
    }

    fn refine(&mut self, problem: ProblemRef<'_>, z: &mut [f64]) {
        let n = z.len();
        let k = self.active.len();
        self.low.clear();
        self.low.resize(n, 0.0);
        let mut last = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.step.clear();
            let mut worst: f64 = 0.0;
            for a in 0..k {
                let (miss, size) = residual(problem, self.active[a], z, &self.low);
                worst = worst.max(if size > 0.0 { miss.abs() / size } else { 0.0 });
                self.step.push(times_power(-miss, -self.row_exponent[a]));
            }
            if worst == 0.0 || worst.is_nan() || worst > 0.5 * last {
                break;
            }
            last = worst;
            self.lu.solve(&mut self.step);
            for a in 0..k {
                let i = self.active[a];
                let step = times_power(self.step[a], -self.column_exponent[a]);
                // z is carried as z + low, so that refinement goes below the rounding of z itself.
                let (high, error) = two_sum(z[i], step);
                let (high, low) = two_sum(high, error + self.low[i]);
                z[i] = high;
                self.low[i] = low;
            }
        }
    }
}

/// `Solved` if z passes its certificate, else `Stopped`.
pub fn outcome_of(problem: ProblemRef<'_>, z: Vec<f64>, basis: Basis, options: &Options, stats: Stats) -> Outcome {
    let mut w = vec![0.0; z.len()];
    let certificate: Certificate = certify(problem, &z, &mut w);
    if certificate.holds(options.tolerance) {
        Outcome::Solved(Solved { z, w, basis, certificate, stats })
    } else {
        Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, certificate, stats })
    }
}

/// `(M (z + low) + q)ᵢ` in twice the working precision, and `|qᵢ| + Σⱼ |Mᵢⱼ| |zⱼ|`.
fn residual(problem: ProblemRef<'_>, i: usize, z: &[f64], low: &[f64]) -> (f64, f64) {
    let q = problem.q()[i];
    let (mut high, mut rest, mut size) = (q, 0.0, q.abs());
    for (j, &zj) in z.iter().enumerate() {
        if zj != 0.0 {
            let entry = problem.entry(i, j);
            let product = entry * zj;
            let product_error = entry.mul_add(zj, -product);
            let (sum, sum_error) = two_sum(high, product);
            high = sum;
            rest += product_error + sum_error + entry * low[j];
            size += product.abs();
        }
    }
    (high + rest, size)
}

/// `a + b` as a rounded sum and its exact error.
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

/// The exponent e with `2^(e−1) ≤ |x| < 2^e`; 0 for 0.
#[inline]
pub(crate) fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let bits = ((x.to_bits() >> 52) & 0x7ff) as i32;
    if bits == 0 { exponent(x * f64::from_bits(0x43f0_0000_0000_0000)) - 64 } else { bits - 1022 }
}

/// `x · 2^e`, exact unless it leaves the range of f64.
#[inline]
pub(crate) fn times_power(x: f64, e: i32) -> f64 {
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    if (-1022..=1023).contains(&e) {
        return x * power(e);
    }
    let half = (e / 2).clamp(-1022, 1023);
    let rest = (e - half).clamp(-1022, 1023);
    x * power(half) * power(rest)
}

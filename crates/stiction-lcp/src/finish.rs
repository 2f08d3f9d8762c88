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
    noise: Vec<f64>,
    /// The largest step that refinement made in each active z.
    moved: Vec<f64>,
    basis: Basis,
}

/// Refinement steps at most; one or two are the rule.
const REFINEMENTS: usize = 5;
/// A component has settled when a step changes it by no more than this share: the next one is below rounding.
const SETTLED: f64 = 1e-12;
/// A component that the last step still changed by more than this share is noise.
const NOISE: f64 = 1e-3;
/// Rounding of one operation.
const ROUNDING: f64 = f64::EPSILON;
/// Shares of the propagated data that count as rounding of the data, tried in turn.
const NOISE_THRESHOLDS: [f64; 3] = [1e-14, 1e-12, 1e-10];

impl Finish {
    /// The vector z of `basis`, or `None` if the basis is singular.
    pub fn solution(&mut self, problem: ProblemRef<'_>, basis: &Basis) -> Option<Vec<f64>> {
        let n = problem.n();
        let mut z = vec![0.0; n];
        self.basis.clone_from(basis);
        self.active.clear();
        self.moved.clear();
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
            Some(z) => {
                let outcome = outcome_of(problem, z, basis, options, stats);
                self.without_noise(problem, outcome, options)
            }
            None => {
                let z = vec![0.0; problem.n()];
                let mut w = z.clone();
                let certificate = certify(problem, &z, &mut w);
                let why = StopReason::Numerical("the final basis is singular".into());
                Outcome::Stopped(Stopped { why, z, certificate, stats })
            }
        }
    }

    /// A second look at a solution that just missed its certificate on degenerate data.
    ///
    /// A basic zᵢ that is 0 in the problem behind the data comes out as `±u Σₐ |M_αα⁻¹|ᵢₐ ωₐ` for the rounded data, and a row
    /// of nothing but such variables then misses by all of its size. They are set to 0, and the certificate decides.
    fn without_noise(&mut self, problem: ProblemRef<'_>, outcome: Outcome, options: &Options) -> Outcome {
        let Outcome::Stopped(stopped) = outcome else { return outcome };
        self.estimate_noise(problem, &stopped.z);
        let Stopped { z: original, stats, .. } = &stopped;
        for threshold in NOISE_THRESHOLDS {
            let mut z = original.clone();
            for (a, &i) in self.active.iter().enumerate() {
                if z[i].abs() <= threshold * self.noise[a] {
                    let (lo, hi) = problem.bound(i);
                    z[i] = 0f64.clamp(lo, hi);
                }
            }
            if z == *original {
                continue;
            }
            let basis = self.basis.clone();
            let again = outcome_of(problem, z, basis, options, stats.clone());
            if again.solved().is_some() {
                return again;
            }
        }
        Outcome::Stopped(stopped)
    }

    /// `noise ← |M_αα⁻¹| ω_α`, plus what refinement moved (a component that lost all its digits was noise too), plus the
    /// rounding of the largest component in scaled units.
    fn estimate_noise(&mut self, problem: ProblemRef<'_>, z: &[f64]) {
        let k = self.active.len();
        self.noise.clone_from(&self.moved);
        let scaled = |b: usize, x: f64| times_power(x, self.column_exponent[b]);
        let largest = (0..k).fold(0.0, |m: f64, b| m.max(scaled(b, z[self.active[b]].abs())));
        for b in 0..k {
            self.noise[b] += times_power(ROUNDING * largest, -self.column_exponent[b]);
        }
        for a in 0..k {
            let i = self.active[a];
            let omega = z
                .iter()
                .enumerate()
                .filter(|(_, zj)| **zj != 0.0)
                .fold(problem.q()[i].abs(), |sum, (j, zj)| sum + (problem.entry(i, j) * zj).abs());
            self.step.clear();
            self.step.resize(k, 0.0);
            self.step[a] = times_power(1.0, -self.row_exponent[a]);
            self.lu.solve(&mut self.step);
            for b in 0..k {
                self.noise[b] += omega * times_power(self.step[b], -self.column_exponent[b]).abs();
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

    /// Solves for the active z and refines. z is carried as z + low, so that refinement goes below the rounding of z itself.
    ///
    /// A component that is zero in exact arithmetic never settles: every step replaces its noise by smaller noise. Such components
    /// are set to zero, because a row of nothing but zeros and noise would otherwise miss by all of its size.
    fn refine(&mut self, problem: ProblemRef<'_>, z: &mut [f64]) {
        self.low.clear();
        self.low.resize(z.len(), 0.0);
        let mut settled = false;
        self.moved.resize(self.active.len(), 0.0);
        for _ in 0..=REFINEMENTS {
            settled = self.refine_once(problem, z);
            for (moved, step) in self.moved.iter_mut().zip(&self.step) {
                *moved = moved.max(step.abs());
            }
            if settled {
                break;
            }
        }
        if !settled {
            for (a, &i) in self.active.iter().enumerate() {
                if self.step[a].abs() > NOISE * z[i].abs() {
                    z[i] = 0.0;
                }
            }
        }
    }

    /// One step; true if it changed no component by more than rounding.
    fn refine_once(&mut self, problem: ProblemRef<'_>, z: &mut [f64]) -> bool {
        self.step.clear();
        for (a, &i) in self.active.iter().enumerate() {
            self.step.push(times_power(-residual(problem, i, z, &self.low), -self.row_exponent[a]));
        }
        self.lu.solve(&mut self.step);
        let mut settled = true;
        for (a, &i) in self.active.iter().enumerate() {
            let step = times_power(self.step[a], -self.column_exponent[a]);
            self.step[a] = step;
            settled &= step.abs() <= SETTLED * z[i].abs();
            let (high, error) = two_sum(z[i], step);
            let (high, low) = two_sum(high, error + self.low[i]);
            z[i] = high;
            self.low[i] = low;
        }
        settled
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

/// `(M (z + low) + q)ᵢ` in twice the working precision.
fn residual(problem: ProblemRef<'_>, i: usize, z: &[f64], low: &[f64]) -> f64 {
    let (mut high, mut rest) = (problem.q()[i], 0.0);
    for (j, &zj) in z.iter().enumerate() {
        if zj != 0.0 {
            let entry = problem.entry(i, j);
            let product = entry * zj;
            let product_error = entry.mul_add(zj, -product);
            let (sum, sum_error) = two_sum(high, product);
            high = sum;
            rest += product_error + sum_error + entry * low[j];
        }
    }
    high + rest
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

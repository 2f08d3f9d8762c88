//! From a basis to numbers: the last step of every pivoting method.
//!
//! The basis fixes which zᵢ stand at a bound; the others solve one linear system, `M_αα z_α = −(q_α + M_αβ z_β)`. It is
//! factored once and refined with residuals in twice the working precision, until the error of every row is rounding.

use crate::basis::{Basis, Position};
use crate::certificate::{Certificate, certify, certify_to};
use crate::matrix::Matrix;
use crate::outcome::{Outcome, Solved, Stats, StopReason, Stopped};
use crate::problem::ProblemRef;
use crate::solver::Options;
use crate::{tolerances, work};
use stiction_linalg::doubled::{add_products_of_two, two_sum};
use stiction_linalg::equilibration::rows_then_columns;
use stiction_linalg::lu::Lu;
use stiction_linalg::power::times_power;

/// Workspace of the last step.
#[derive(Debug, Clone, Default)]
pub struct Finish {
    tolerances: Tolerances,
    basis: Basis,
    active: Vec<usize>,
    /// `M_αα`, k × k.
    block: Matrix,
    lu: Lu,
    row_exponent: Vec<i32>,
    column_exponent: Vec<i32>,
    /// `q_α + M_αβ z_β` as a sum of two numbers each.
    constant: [Vec<f64>; 2],
    /// The active z as a sum of two numbers each.
    z: [Vec<f64>; 2],
    /// `M_αα z_α + constant`, accumulated in twice the working precision; then the step that mends it.
    sum: [Vec<f64>; 2],
    step: Vec<f64>,
    /// The largest step that refinement made in each active z.
    moved: Vec<f64>,
    noise: Vec<f64>,
}

/// Refinement steps at most; one or two are the rule.
const REFINEMENTS: usize = 5;
/// And with an inverse that the caller has, before a closer look.
const QUICK_REFINEMENTS: usize = 2;
/// Multiples of [`Tolerances::data_rounding`], tried in turn.
const DATA_ROUNDINGS: [f64; 3] = [1.0, 1e2, 1e4];

tolerances! {
    /// Tolerances of the last step.
    Tolerances {
        /// Refinement ends when no component moves by more than this, relative to itself: it gains as many digits again with every step,
        /// so the next one is below rounding. Less takes a step more; more leaves digits of badly conditioned bases.
        refined = 1e-12,
        /// A component that the last step of refinement moves by more than this, relative to itself, has no digit: it is a zero. The
        /// others have moved by a million times less, so the value hardly matters.
        noise = 1e-3,
        /// A z outside its bounds by more than this, relative to the largest in scaled units, belongs to the bound, and its row has the letter of
        /// that. The value is the same, so the number hardly matters.
        outside = 1e-10,
        /// A basic z below this, relative to what the data's rounding propagates to, is a zero of degenerate data; larger multiples are
        /// tried in turn, and the certificate decides.
        data_rounding = 1e-14,
    }
}

impl Finish {
    /// The vector z of `basis`, or `None` if the basis is singular.
    pub fn solution(&mut self, problem: ProblemRef<'_>, basis: &Basis, options: &Options) -> Option<Vec<f64>> {
        let mut z = self.begin(problem, basis, options)?;
        if !self.active.is_empty() {
            self.factor();
            if self.lu.pivot_ratio() == 0.0 {
                return None;
            }
            if !self.refine(REFINEMENTS, Self::solve_by_lu) {
                self.drop_noise();
            }
            self.clamp(problem, &mut z);
        }
        z.iter().all(|x| x.is_finite()).then_some(z)
    }

    /// The certified solution of `basis` by an approximate inverse that the caller has: `solve` turns a right-hand side over the active
    /// rows, ascending, into `M_αα⁻¹` of it. Refinement makes up for what the inverse lacks. `None` if z does not pass: then
    /// [`outcome`](Self::outcome) takes a closer look.
    pub(crate) fn solved_with(
        &mut self,
        problem: ProblemRef<'_>,
        basis: &Basis,
        options: &Options,
        mut solve: impl FnMut(&[usize], &mut [f64]),
    ) -> Option<Solved> {
        let mut z = self.begin(problem, basis, options)?;
        if !self.refine(QUICK_REFINEMENTS, |finish| solve(&finish.active, &mut finish.step)) {
            self.drop_noise();
        }
        for (a, &i) in self.active.iter().enumerate() {
            let (lo, hi) = problem.bound(i);
            z[i] = self.z[0][a].max(lo).min(hi);
        }
        match outcome_of(problem, z, basis.clone(), options, Stats::default()) {
            Outcome::Solved(solved) => Some(solved),
            _ => None,
        }
    }

    /// z with every row at its bound and 0 where it is basic, and the system of the others; `None` if a bound is infinite.
    fn begin(&mut self, problem: ProblemRef<'_>, basis: &Basis, options: &Options) -> Option<Vec<f64>> {
        self.tolerances = options.tolerances.finish;
        let n = problem.n();
        let mut z = vec![0.0; n];
        self.basis.clone_from(basis);
        self.active.clear();
        self.moved.clear();
        for i in 0..n {
            match basis.position(i) {
                Position::Basic => self.active.push(i),
                Position::Lower => z[i] = problem.bound(i).0,
                Position::Upper => z[i] = problem.bound(i).1,
            }
        }
        if z.iter().any(|x| !x.is_finite()) {
            return None;
        }
        self.gather(problem, &z);
        Some(z)
    }

    /// Brings the active z within their bounds. One that is off by more than rounding belongs to its bound, and so does its letter.
    fn clamp(&mut self, problem: ProblemRef<'_>, z: &mut [f64]) {
        let scaled = |a: usize, x: f64| times_power(x.abs(), self.column_exponent[a]);
        let largest = (0..self.active.len()).fold(0.0, |m: f64, a| m.max(scaled(a, self.z[0][a])));
        for (a, &i) in self.active.iter().enumerate() {
            let (lo, hi) = problem.bound(i);
            let value = self.z[0][a];
            z[i] = value.max(lo).min(hi);
            if scaled(a, value - z[i]) > self.tolerances.outside * largest {
                self.basis.set(i, if value < lo { Position::Lower } else { Position::Upper });
            }
        }
    }

    /// Solves the basis and certifies: `Solved`, or `Stopped` if the basis is singular or its z does not pass.
    pub fn outcome(&mut self, problem: ProblemRef<'_>, basis: Basis, options: &Options, mut stats: Stats) -> Outcome {
        stats.flops += Self::flops(problem.n(), basis.active().count());
        match self.solution(problem, &basis, options) {
            Some(z) => {
                let outcome = outcome_of(problem, z, self.basis.clone(), options, stats);
                self.without_noise(problem, outcome, options)
            }
            None => {
                let why = StopReason::Numerical("the final basis is singular".into());
                Outcome::Stopped(stopped_at(problem, vec![0.0; problem.n()], why, stats))
            }
        }
    }

    /// The work of [`Self::outcome`] with k of n variables basic, when it takes no second look.
    pub(crate) fn flops(n: usize, k: usize) -> u64 {
        work::factorization(k) + REFINEMENTS as u64 * work::product(k, 6 * k) + work::product(n, k)
    }

    /// A second look at a solution that is nearly certified, but not quite, on degenerate data.
    ///
    /// A basic zᵢ that is 0 in the problem behind the data comes out as `±u Σₐ |M_αα⁻¹|ᵢₐ ωₐ` for the rounded data, and a row
    /// of nothing but such variables then has a residual of its own size. They are set to 0, and the certificate decides.
    fn without_noise(&mut self, problem: ProblemRef<'_>, outcome: Outcome, options: &Options) -> Outcome {
        let Outcome::Stopped(stopped) = outcome else { return outcome };
        let mut stopped = stopped;
        stopped.stats.flops += work::product(self.active.len(), self.active.len()) * self.active.len() as u64;
        self.estimate_noise(&stopped.z);
        let Stopped { z: original, stats, .. } = &stopped;
        for threshold in DATA_ROUNDINGS.map(|k| k * self.tolerances.data_rounding) {
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
    fn estimate_noise(&mut self, z: &[f64]) {
        let k = self.active.len();
        self.noise.clone_from(&self.moved);
        let scaled = |b: usize, x: f64| times_power(x, self.column_exponent[b]);
        let largest = (0..k).fold(0.0, |m: f64, b| m.max(scaled(b, z[self.active[b]].abs())));
        for b in 0..k {
            self.noise[b] += times_power(f64::EPSILON * largest, -self.column_exponent[b]);
        }
        for a in 0..k {
            let terms = self.active.iter().enumerate().map(|(b, &j)| (self.block[(a, b)] * z[j]).abs());
            let omega = self.constant[0][a].abs() + terms.sum::<f64>();
            self.step.clear();
            self.step.resize(k, 0.0);
            self.step[a] = times_power(1.0, -self.row_exponent[a]);
            self.lu.solve(&mut self.step);
            for b in 0..k {
                self.noise[b] += omega * times_power(self.step[b], -self.column_exponent[b]).abs();
            }
        }
    }

    /// `M_αα` and `q_α + M_αβ z_β`.
    fn gather(&mut self, problem: ProblemRef<'_>, z: &[f64]) {
        let k = self.active.len();
        self.block.reset(k, k);
        for (b, &j) in self.active.iter().enumerate() {
            problem.gather_column(j, &self.active, self.block.col_mut(b));
        }
        self.step.clear();
        self.step.resize(k, 0.0);
        self.constant[0].clear();
        self.constant[0].extend(self.active.iter().map(|&i| problem.q()[i]));
        self.constant[1].clear();
        self.constant[1].resize(k, 0.0);
        for (j, &zj) in z.iter().enumerate() {
            if zj != 0.0 {
                problem.gather_column(j, &self.active, &mut self.step);
                let [high, low] = &mut self.constant;
                add_products_of_two(zj, 0.0, &self.step, high, low);
            }
        }
    }

    /// Factors `M_αα`, its rows and columns scaled by powers of two.
    fn factor(&mut self) {
        let k = self.active.len();
        rows_then_columns(&self.block, &mut self.row_exponent, &mut self.column_exponent);
        let (block, row, column) = (&self.block, &self.row_exponent, &self.column_exponent);
        self.lu.factor_with(k, |a, b| times_power(block[(a, b)], -row[a] - column[b]));
    }

    /// Solves for the active z and refines; true if all have settled. z is carried as a sum of two numbers, so that refinement goes
    /// below the rounding of z itself.
    fn refine(&mut self, steps: usize, mut solve: impl FnMut(&mut Self)) -> bool {
        let k = self.active.len();
        for part in self.z.iter_mut().chain(&mut self.sum) {
            part.clear();
            part.resize(k, 0.0);
        }
        self.moved.resize(k, 0.0);
        for _ in 0..=steps {
            crate::interrupt::check();
            self.compute_residual();
            solve(self);
            if self.take_step() {
                return true;
            }
        }
        false
    }

    /// `step ← −(M_αα z_α + constant)`.
    fn compute_residual(&mut self) {
        let [high, low] = &mut self.sum;
        high.copy_from_slice(&self.constant[0]);
        low.copy_from_slice(&self.constant[1]);
        for b in 0..self.active.len() {
            if self.z[0][b] != 0.0 {
                add_products_of_two(self.z[0][b], self.z[1][b], self.block.col(b), high, low);
            }
        }
        for (step, (high, low)) in self.step.iter_mut().zip(high.iter().zip(low)) {
            *step = -(high + *low);
        }
    }

    /// `step ← M_αα⁻¹ step` by the scaled factors.
    fn solve_by_lu(&mut self) {
        for (step, e) in self.step.iter_mut().zip(&self.row_exponent) {
            *step = times_power(*step, -e);
        }
        self.lu.solve(&mut self.step);
        for (step, e) in self.step.iter_mut().zip(&self.column_exponent) {
            *step = times_power(*step, -e);
        }
    }

    /// `z ← z + step`; true if that changed no component by more than rounding.
    fn take_step(&mut self) -> bool {
        let mut settled = true;
        let [z, rest] = &mut self.z;
        for (b, step) in self.step.iter().enumerate() {
            settled &= step.abs() <= self.tolerances.refined * z[b].abs();
            let (sum, error) = two_sum(z[b], *step);
            (z[b], rest[b]) = two_sum(sum, error + rest[b]);
            self.moved[b] = self.moved[b].max(step.abs());
        }
        settled
    }

    /// A component that is zero in exact arithmetic never settles: every step replaces its noise by smaller noise. Such components
    /// are set to zero, because a row of nothing but zeros and noise would otherwise have a residual of its own size.
    fn drop_noise(&mut self) {
        for (z, step) in self.z[0].iter_mut().zip(&self.step) {
            if step.abs() > self.tolerances.noise * z.abs() {
                *z = 0.0;
            }
        }
    }
}

/// `Solved` if z passes its certificate, else `Stopped`.
pub fn outcome_of(problem: ProblemRef<'_>, z: Vec<f64>, basis: Basis, options: &Options, stats: Stats) -> Outcome {
    let mut w = vec![0.0; z.len()];
    let certificate: Certificate = certify_to(problem, &z, &mut w, options.tolerance);
    if certificate.holds(options.tolerance) {
        Outcome::Solved(Solved::new(z, w, basis, certificate, options, stats))
    } else {
        Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, certificate, stats })
    }
}

/// A stop at the iterate z (n), with its certificate.
pub(crate) fn stopped_at(problem: ProblemRef<'_>, z: Vec<f64>, why: StopReason, stats: Stats) -> Stopped {
    let mut w = vec![0.0; z.len()];
    let certificate = certify(problem, &z, &mut w);
    Stopped { why, z, certificate, stats }
}

//! Non-negative and bounded least squares: the active-set method on the factored form.
//!
//! `w = Gᵀ G z + e` with `e = Gᵀ u` and `0 ≤ z ⊥ w ≥ 0` are the optimality conditions of `min ‖G z + u‖, z ≥ 0`; with bounds
//! `lo ≤ z ≤ hi` they are those of bounded least squares. Lawson and Hanson's method holds only independent columns, lowers
//! the norm with every step, and so ends: it is the guaranteed method for everything positive semidefinite. One step
//! costs O(m n) for w and O(m²) for the updated [QR factor](crate::factor); the n × n matrix is never formed.
//!
//! Where this departs from the book:
//!
//! * The entering column is the one with the most negative w *in units of its length*, and signs are tested relative to
//!   what the sums are made of, column by column.
//! * Variables may be bounded on either side or free (the method of Stark and Parker's BVLS).
//! * If e is not in the range of Gᵀ, a column with wᵢ < 0 can be dependent on the basic ones. Then there is a
//!   direction d with G d = 0, dᵢ = 1, along which the objective `½‖G z‖² + eᵀ z` falls at a constant rate; it is
//!   followed to the first bound. If there is none, d proves that no solution exists (as far as G d = 0 holds). This
//!   solves the same problems as the least-distance form, but for bounds and free rows too, and in the given
//!   coordinates; the [least-distance form](least_distance) is tried if the certificate fails.
//! * The basis found is factored afresh, solved with refinement and certified. Rows whose violation hid below
//!   the rounding of the plain sums are then found by the certificate's own sums, and entered too.
//!
//! It is not the "fast" NNLS on normal equations, which squares the condition and can take in dependent columns.
//!
//! Reference: [LawsonHanson74, ch. 23], [StarkParker95], [Drumwright15, §V].

pub(crate) mod active_set;
mod cholesky;
pub mod least_distance;
pub(crate) mod load;
mod ray;

use crate::basis::Basis;
use crate::certificate::{Certificate, certify};
use crate::error::InputError;
use crate::finish::{Finish, times_power};
use crate::outcome::{Outcome, Solved, StopReason, Stopped};
use crate::problem::ProblemRef;
use crate::solver::{Options, Solver};
use active_set::{ActiveSet, End, Entered, State};

/// Pivots per column allowed unless the options say otherwise; in practice it is one or two per *basic* column.
const PIVOTS_PER_COLUMN: usize = 50;

/// Violations that count after the certificate failed: this part of the certificate's tolerance.
const SHARP: f64 = 0.1;

/// The active-set method. See the [module](self).
///
/// Takes factored problems, and any other kind if M is symmetric and positive semidefinite (it is then factored first).
#[derive(Debug, Clone, Default)]
pub struct Nnls {
    options: Options,
    pub(crate) set: ActiveSet,
    finish: Finish,
    omega: Vec<f64>,
    w: Vec<f64>,
}

impl Nnls {
    /// The method with these options.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Checks and takes in a problem. `solver` is the name an error is to carry.
    pub(crate) fn load(
        &mut self,
        solver: &'static str,
        problem: ProblemRef<'_>,
        start: Option<&Basis>,
    ) -> Result<(), InputError> {
        self.options.check()?;
        if let Some(basis) = start {
            basis.check_len(problem.n())?;
        }
        let set = &mut self.set;
        set.data
            .load(problem, &mut set.qr)
            .map_err(|reason| InputError::Unsupported { solver, reason: format!("{reason}; use lemke") })?;
        let limit = self.options.max_pivots.unwrap_or(PIVOTS_PER_COLUMN * (problem.n() + 1));
        set.prepare(self.options.trace, limit);
        Ok(())
    }

    /// Searches from the present states, and certifies; searches on where the certificate sees more than the search did.
    pub(crate) fn conclude(&mut self, problem: ProblemRef<'_>) -> Outcome {
        loop {
            match self.set.search() {
                End::Ray => return ray::outcome(problem, &self.set),
                End::Limit => return self.stopped(problem, StopReason::Limit(self.set.limit)),
                End::Optimal => {}
            }
            let (z, certificate) = self.certified_solution(problem);
            if certificate.holds(self.options.tolerance) {
                let (w, basis, stats) = (self.w.clone(), self.set.basis(), self.set.stats.clone());
                return Outcome::Solved(Solved { z, w, basis, certificate, stats });
            }
            if self.set.stats.pivots >= self.set.limit || !self.enter_sharp(problem, &z) {
                let stats = self.set.stats.clone();
                return Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, certificate, stats });
            }
        }
    }

    /// z of the present basis with its certificate, by the QR factor or by [`Finish`], whichever is better; its w
    /// goes to `self.w`.
    fn certified_solution(&mut self, problem: ProblemRef<'_>) -> (Vec<f64>, Certificate) {
        let z = self.solution(problem);
        self.w.resize(z.len(), 0.0);
        let certificate = certify(problem, &z, &mut self.w);
        if certificate.holds(self.options.tolerance) {
            return (z, certificate);
        }
        if let Some(other) = self.finish.solution(problem, &self.set.basis()) {
            let better = certify(problem, &other, &mut self.w);
            if better.worst() < certificate.worst() {
                return (other, better);
            }
            certify(problem, &z, &mut self.w);
        }
        (z, certificate)
    }

    /// z of the active set in the problem's units; what is on a bound is there exactly.
    fn solution(&self, problem: ProblemRef<'_>) -> Vec<f64> {
        let of = |j: usize| {
            let (lo, hi) = problem.bound(j);
            match self.set.state[j] {
                State::Basic => times_power(self.set.z[j], -self.set.data.exponent[j]).clamp(lo, hi),
                State::Lower => lo,
                State::Upper => hi,
                State::Parked => 0.0,
            }
        };
        (0..problem.n()).map(of).collect()
    }

    fn stopped(&mut self, problem: ProblemRef<'_>, why: StopReason) -> Outcome {
        let z = self.solution(problem);
        self.w.resize(z.len(), 0.0);
        let certificate = certify(problem, &z, &mut self.w);
        Outcome::Stopped(Stopped { why, z, certificate, stats: self.set.stats.clone() })
    }

    /// Enters the worst row by the certificate's own measure, where w is known row by row. False if there is none.
    fn enter_sharp(&mut self, problem: ProblemRef<'_>, z: &[f64]) -> bool {
        let (n, sigma) = (z.len(), problem.max_abs_q());
        self.omega.clear();
        self.omega.extend(problem.q().iter().map(|q| q.abs()));
        for j in (0..n).filter(|j| z[*j] != 0.0) {
            for i in 0..n {
                self.omega[i] += (problem.entry(i, j) * z[j]).abs();
            }
        }
        for i in 0..n {
            self.set.w[i] = times_power(self.w[i], -self.set.data.exponent[i]);
        }
        let level = SHARP * self.options.tolerance;
        loop {
            let mut best = (0.0, None);
            for i in 0..n {
                let violation = self.set.violation(i, self.w[i]) / self.omega[i].min(sigma);
                if violation > best.0 && violation > level * self.set.patience(i) && !self.set.rejected[i] {
                    best = (violation, Some(i));
                }
            }
            let Some(i) = best.1 else { return false };
            match self.set.enter(i, true) {
                Entered::Yes => return true,
                Entered::Rejected | Entered::Ray => self.set.rejected[i] = true,
            }
        }
    }
}

impl Solver for Nnls {
    fn name(&self) -> &'static str {
        "nnls"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.load(self.name(), problem, start)?;
        self.set.start(start);
        Ok(self.conclude(problem))
    }
}

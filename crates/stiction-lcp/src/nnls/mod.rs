//! Non-negative and bounded least squares: the active-set method on the factored form.
//!
//! `w = Gᵀ G z + e` with `e = Gᵀ u` and `0 ≤ z ⊥ w ≥ 0` are the optimality conditions of `min ‖G z + u‖, z ≥ 0`; with bounds
//! `lo ≤ z ≤ hi` they are those of bounded least squares. Lawson and Hanson's method holds only independent columns, lowers
//! the norm with every step, and so ends: it is the guaranteed method for everything positive semidefinite. One step
//! costs O(m n) for w and O(m²) for the updated QR factor (`factor`); the n × n matrix is never formed.
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
//!   coordinates.
//! * The basis found is factored afresh, solved with refinement and certified. Rows whose violation hid below
//!   the rounding of the plain sums are then found by the certificate's own sums, and entered too.
//!
//! It is not the "fast" NNLS on normal equations, which squares the condition and can take in dependent columns.
//!
//! Reference: [LawsonHanson74, ch. 23], \[StarkParker95\], [Drumwright15, §V].

pub(crate) mod active_set;
mod cholesky;
#[cfg(test)]
mod least_distance_tests;
pub(crate) mod load;
pub(crate) mod ray;

use crate::basis::Basis;
use crate::certificate::{Certificate, certify_to};
use crate::error::InputError;
use crate::finish::Finish;
use crate::outcome::{Outcome, Solved, StopReason, Stopped};
use crate::problem::{FactoredLcp, ProblemRef};
use crate::solver::{Options, Solver};
use crate::{tolerances, work};
use active_set::{ActiveSet, End, Entered, State};
use stiction_linalg::doubled::dot2;
use stiction_linalg::power::times_power;

/// Pivots per column allowed unless the options say otherwise; in practice it is one or two per *basic* column.
const PIVOTS_PER_COLUMN: usize = 50;

tolerances! {
    /// Tolerances of the active-set method, for columns scaled to length 1.
    Tolerances {
        /// wᵢ counts as negative below −this, relative to `|eᵢ| + ‖gᵢ‖ (‖u‖ + Σ ‖gⱼ zⱼ‖)`: some hundred roundings of the sum it comes from.
        /// Less enters columns by rounding; more leaves violations to the search with the certificate's sums.
        sign = 1e-13,
        /// The basic rows must have w = 0 up to this, relative to the same size, or the factor has drifted and is built anew.
        drift = 1e-11,
        /// A column whose part outside of the basic ones is at most this, relative to its length, depends on them: some thousand roundings
        /// of the factor. More leaves out columns that are needed, less lets in columns of rounding.
        dependent = stiction_linalg::active_qr::DEPENDENT,
        /// The same if G came from a Cholesky factor of M: that knows M to rounding, so G to the root of it.
        dependent_after_cholesky = 1e-7,
        /// A coefficient of a null vector at most this, relative to the largest, is rounding, and blocks nothing.
        null_entry = 1e-11,
        /// `e = Gᵀ u` holds to rounding if no row has a residual above this, relative to `|eᵢ| + ‖gᵢ‖ ‖u‖`. Otherwise the search goes without
        /// u, which costs digits but no answer.
        consistent = 1e-12,
        /// M is symmetric to rounding if |Mᵢⱼ − Mⱼᵢ| is at most this, relative to √(Mᵢᵢ Mⱼⱼ). Others are for another method.
        symmetric = 1e-14,
        /// M is positive semidefinite to rounding if M − Gᵀ G is at most this, relative to √(Mᵢᵢ Mⱼⱼ). Others are for another method.
        semidefinite = 1e-11,
        /// Violations that count after the certificate failed, as a part of its tolerance.
        uncertified_row = 0.1,
    }
}

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
    /// The last proposal.
    z: Vec<f64>,
    basis: Basis,
}

/// Where a search ended, before any certificate.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// z, n.
    pub z: &'a [f64],
    /// The basis z belongs to.
    pub basis: &'a Basis,
    /// Pivots of the search.
    pub pivots: usize,
}

impl Nnls {
    /// The method with these options.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Stops after this many floating-point operations from now on.
    pub(crate) fn limit_flops(&mut self, max_flops: u64) {
        self.options.max_flops = Some(max_flops);
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Searches from `start` and proposes what it ends with, *not certified*: for a caller that certifies by other means, and solves again where those say
    /// no. `None` where the search met a ray or the limit on pivots. Allocates nothing once sizes have settled.
    ///
    /// # Errors
    /// As [`Solver::solve_from`].
    pub fn propose(
        &mut self,
        problem: &FactoredLcp,
        start: Option<&Basis>,
    ) -> Result<Option<Proposal<'_>>, InputError> {
        self.load(self.name(), problem.into(), start)?;
        self.set.start(start);
        Ok((self.set.search() == End::Optimal).then(|| self.proposal(problem)))
    }

    /// What the present states propose, with the z they were found with.
    pub(crate) fn proposal(&mut self, problem: &FactoredLcp) -> Proposal<'_> {
        let mut z = std::mem::take(&mut self.z);
        self.solution_into(problem.into(), &mut z);
        self.z = z;
        self.set.basis_into(&mut self.basis);
        Proposal { z: &self.z, basis: &self.basis, pivots: self.set.stats.pivots }
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
        set.tolerances = self.options.tolerances.nnls;
        set.data
            .load(problem, &mut set.qr, &set.tolerances)
            .map_err(|reason| InputError::Unsupported { solver, reason: format!("{reason}; use lemke") })?;
        let limit = self.options.max_pivots.unwrap_or(PIVOTS_PER_COLUMN * (problem.n() + 1));
        set.prepare(self.options.trace, limit);
        set.max_flops = self.options.flops_allowed(problem.n());
        if !matches!(problem, ProblemRef::Factored(_)) {
            set.stats.flops += work::factorization(problem.n());
        }
        Ok(())
    }

    /// Searches from the present states, and certifies; searches on where the certificate sees more than the search did.
    pub(crate) fn conclude(&mut self, problem: ProblemRef<'_>) -> Outcome {
        loop {
            crate::interrupt::check();
            match self.set.search() {
                End::Ray => return ray::outcome(problem, &self.set),
                End::Limit => return self.stopped(problem, self.set.stop_reason()),
                End::Optimal => {}
            }
            let (z, certificate) = self.certified_solution(problem);
            if certificate.holds(self.options.tolerance) {
                return self.outcome(z, certificate);
            }
            if self.set.is_spent() || !self.enter_sharp(problem) {
                certify_to(problem, &z, &mut self.w, self.options.tolerance);
                return self.outcome(z, certificate);
            }
        }
    }

    /// The outcome of the present states as they are, if that is certified.
    pub(crate) fn settled(&mut self, problem: ProblemRef<'_>) -> Option<Outcome> {
        let (z, certificate) = self.certified_solution(problem);
        certificate.holds(self.options.tolerance).then(|| self.outcome(z, certificate))
    }

    /// z of the present basis with its certificate: by the QR factor, or by [`Finish`] where that is better. Its w goes to `self.w`.
    fn certified_solution(&mut self, problem: ProblemRef<'_>) -> (Vec<f64>, Certificate) {
        let z = self.solution(problem);
        self.set.stats.flops += Finish::flops(problem.n(), self.set.qr.columns().len());
        self.w.resize(z.len(), 0.0);
        let certificate = certify_to(problem, &z, &mut self.w, self.options.tolerance);
        if certificate.holds(self.options.tolerance) {
            return (z, certificate);
        }
        if let Some(other) = self.finish.solution(problem, &self.set.basis(), &self.options) {
            let by_lu = certify_to(problem, &other, &mut self.w, self.options.tolerance);
            if by_lu.worst() < certificate.worst() {
                return (other, by_lu);
            }
            certify_to(problem, &z, &mut self.w, self.options.tolerance);
        }
        (z, certificate)
    }

    /// z of the active set in the problem's units; what is on a bound is there exactly.
    fn solution(&self, problem: ProblemRef<'_>) -> Vec<f64> {
        let mut z = Vec::with_capacity(problem.n());
        self.solution_into(problem, &mut z);
        z
    }

    fn solution_into(&self, problem: ProblemRef<'_>, z: &mut Vec<f64>) {
        let of = |j: usize| {
            let (lo, hi) = problem.bound(j);
            match self.set.state[j] {
                State::Basic => times_power(self.set.z[j], -self.set.data.exponent[j]).clamp(lo, hi),
                State::Lower => lo,
                State::Upper => hi,
                State::Parked => 0.0,
            }
        };
        z.clear();
        z.extend((0..problem.n()).map(of));
    }

    fn stopped(&mut self, problem: ProblemRef<'_>, why: StopReason) -> Outcome {
        let z = self.solution(problem);
        self.w.resize(z.len(), 0.0);
        let certificate = certify_to(problem, &z, &mut self.w, self.options.tolerance);
        Outcome::Stopped(Stopped { why, z, certificate, stats: self.set.stats.clone() })
    }

    /// `ωᵢ = |qᵢ| + Σ |Mᵢⱼ zⱼ|`, and the certificate's w in scaled rows.
    fn measure_rows(&mut self, problem: ProblemRef<'_>, z: &[f64]) {
        let n = z.len();
        let basic = z.iter().filter(|z| **z != 0.0).count();
        self.set.stats.flops += work::product(self.set.data.m() * n, basic);
        self.omega.clear();
        self.omega.extend(problem.q().iter().map(|q| q.abs()));
        for j in (0..n).filter(|j| z[*j] != 0.0) {
            for i in 0..n {
                // As sharp as the certificate: an entry that cancels must not show its rounding.
                let entry = match problem {
                    ProblemRef::Factored(p) => dot2(0.0, p.g().col(i), p.g().col(j)),
                    _ => problem.entry(i, j),
                };
                self.omega[i] += (entry * z[j]).abs();
            }
        }
        for i in 0..n {
            self.set.w[i] = times_power(self.w[i], -self.set.data.exponent[i]);
        }
    }

    /// The row that is worst by the certificate's own measure, of those that count and were not rejected.
    fn sharpest(&self, sigma: f64) -> Option<usize> {
        let level = self.set.tolerances.uncertified_row * self.options.tolerance;
        let mut best = (0.0, None);
        for i in 0..self.w.len() {
            let violation = self.set.violation(i, self.w[i]) / self.omega[i].min(sigma);
            if violation > best.0 && violation > level * self.set.patience(i) && !self.set.rejected[i] {
                best = (violation, Some(i));
            }
        }
        best.1
    }

    /// Enters the worst row by the certificate's measure, where w is known row by row. False if none can.
    fn enter_sharp(&mut self, problem: ProblemRef<'_>) -> bool {
        // The search goes on from the set's own z, so its w is the one that counts.
        let z = self.solution(problem);
        certify_to(problem, &z, &mut self.w, self.options.tolerance);
        self.measure_rows(problem, &z);
        let sigma = problem.max_abs_q();
        while let Some(i) = self.sharpest(sigma) {
            crate::interrupt::check();
            match self.set.enter(i, true) {
                Entered::Yes => return true,
                Entered::Rejected | Entered::Ray => self.set.rejected[i] = true,
            }
        }
        false
    }

    /// `Solved` if the certificate holds, else `Stopped`; `self.w` belongs to z.
    fn outcome(&self, z: Vec<f64>, certificate: Certificate) -> Outcome {
        let stats = self.set.stats.clone();
        if certificate.holds(self.options.tolerance) {
            Outcome::Solved(Solved::new(z, self.w.clone(), self.set.basis(), certificate, &self.options, stats))
        } else {
            Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, certificate, stats })
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

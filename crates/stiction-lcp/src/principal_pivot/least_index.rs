//! PPM I with the least-index rule, on a dense matrix.
//!
//! Murty's method: as long as a basic variable is negative, take the row r with the least index and exchange zᵣ and wᵣ. For a
//! P-matrix every diagonal entry of every principal transform is positive, and the method ends. If M is only positive
//! semidefinite (or sufficient), the diagonal entry can vanish; then the row of least index s with `M̄ᵣₛ > 0` is exchanged
//! together with r. If there is no such s, row r reads "negative = sum of non-positive multiples of non-negative variables
//! plus a negative constant", and no solution exists. With exact arithmetic this ends for every sufficient matrix.
//!
//! It follows no edge and keeps nothing feasible (that is the symmetric PPM of Dantzig and Cottle), and it may take many more
//! pivots than Lemke's method; what it has is simplicity, a warm start from any basis, and a proof.
//!
//! Reference: [CPS09, §4.1 (least-index PPM I), §4.2 (vanishing diagonal)], \[Murty74\], \[denHertog93\] (the criss-cross method for sufficient matrices).

use crate::basis::Basis;
use crate::error::InputError;
use crate::finish::{Finish, outcome_of, stopped_at};
use crate::nnls::ray::{in_whole_numbers, is_farkas};
use crate::outcome::{Outcome, Proof, Ray, Stats, StopReason, Stopped, TraceLine, Unsolvable, Variable};
use crate::principal_pivot::Tolerances;
use crate::principal_pivot::transform::Transform;
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::solve_reduced;
use crate::solver::{Options, Solver};
use stiction_linalg::power::times_power;

/// Pivots per row, and at least, unless the options say otherwise. There are P-matrices for which the rule takes 2ⁿ pivots in one order
/// of the rows and n in the other, so after half of them the order is turned round.
const PIVOTS_PER_ROW: usize = 200;
const PIVOTS_AT_LEAST: usize = 5000;

/// What an iteration comes to.
#[derive(Clone, Copy)]
enum Step {
    /// The rows to exchange: one, or a pair whose diagonal entry vanishes.
    Exchange([usize; 2], usize),
    /// No row is negative.
    Optimal,
    /// Row r cannot become non-negative.
    Ray(usize),
    /// The pair that row r needs is lost to rounding, or M is not sufficient.
    Lost(usize),
}

/// Murty's least-index principal pivoting method for LCPs with a P-matrix or a positive semidefinite one.
#[derive(Debug, Clone, Default)]
pub struct PrincipalPivot {
    options: Options,
    transform: Transform,
    finish: Finish,
    /// Of the problem before it was reduced to an LCP, and of a start basis.
    outer_finish: Finish,
    /// Rows are taken in descending order of their indices.
    descending: bool,
}

impl PrincipalPivot {
    /// The method with these options.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    fn tolerances(&self) -> &Tolerances {
        &self.options.tolerances.principal_pivot
    }

    fn run(&mut self, problem: &Lcp) -> Outcome {
        let limit = self.options.max_pivots.unwrap_or(PIVOTS_AT_LEAST + PIVOTS_PER_ROW * problem.n());
        let allowed = self.options.flops_allowed(problem.n());
        let mut stats = Stats { refactorizations: 1, ..Stats::default() };
        let mut repairs = 0;
        self.descending = false;
        loop {
            crate::interrupt::check();
            if stats.flops > allowed {
                return self.stopped(problem, StopReason::Budget(allowed), stats);
            }
            stats.flops += self.transform.check_flops();
            if self.transform.updates > 0 && self.transform.drift() > self.tolerances().drift {
                self.refactor(&mut stats);
            }
            let mut step = self.step();
            let fresh = self.transform.updates == 0;
            if let Step::Optimal = step {
                let outcome = self.certified(problem, &stats);
                stats.flops = outcome.stats().flops;
                if outcome.solved().is_some() {
                    return outcome;
                }
                if fresh {
                    repairs += 1;
                    match self.row_to_repair(&outcome).map(|r| self.step_at(r)) {
                        Some(repair @ Step::Exchange(..)) if repairs <= problem.n() => step = repair,
                        _ => return outcome,
                    }
                }
            }
            if !fresh && !matches!(step, Step::Exchange(..)) {
                self.refactor(&mut stats);
                continue;
            }
            match step {
                Step::Exchange(..) if stats.pivots >= limit => {
                    return self.stopped(problem, StopReason::Limit(limit), stats);
                }
                Step::Exchange(block, length) => self.exchange(&block[..length], &mut stats),
                Step::Ray(r) => return self.ray(problem, r, stats),
                Step::Lost(r) => {
                    let why = format!("row {r} has no usable pivot; M may be neither P nor positive semidefinite");
                    return self.stopped(problem, StopReason::Numerical(why), stats);
                }
                Step::Optimal => {}
            }
            if !self.descending && stats.pivots >= limit / 2 {
                self.descending = true;
                stats.restarts += 1;
            }
        }
    }

    /// The outcome of the present basis. If it fails, z that is zero to rounding is tried as zero: computed, it is tiny but
    /// wrong in every digit, which shows in rows where nothing else is large.
    fn certified(&mut self, problem: &Lcp, stats: &Stats) -> Outcome {
        let basis = self.basis();
        let outcome = self.finish.outcome(problem.into(), basis.clone(), &self.options, stats.clone());
        let Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, .. }) = &outcome else { return outcome };
        let (t, least) = (&self.transform, self.tolerances().negative);
        let flush = |(i, z): (usize, &f64)| if t.q[i].abs() <= least * t.size_of(i) { 0.0 } else { *z };
        let flushed: Vec<f64> = z.iter().enumerate().map(flush).collect();
        let other = outcome_of(problem.into(), flushed, basis, &self.options, stats.clone());
        if other.solved().is_some() { other } else { outcome }
    }

    /// The row that the certificate calls wrong although the transform sees no sign wrong: it is lost in the rounding of
    /// the sums, but the certificate measures every row by itself.
    fn row_to_repair(&self, outcome: &Outcome) -> Option<usize> {
        match outcome {
            Outcome::Stopped(s) if s.why == StopReason::Uncertified => s.certificate.worst_row,
            _ => None,
        }
    }

    /// The least-index rule: the first row in order that is negative.
    fn step(&mut self) -> Step {
        let n = self.transform.q.len();
        self.transform.sizes();
        let (t, least) = (&self.transform, self.tolerances().negative);
        let row = |i: usize| if self.descending { n - 1 - i } else { i };
        let negative = |i: &usize| t.q[*i] < -least * t.size_of(*i);
        (0..n).map(row).find(negative).map_or(Step::Optimal, |r| self.step_at(r))
    }

    /// What exchanges row r: itself, or with a partner if its diagonal entry vanishes.
    fn step_at(&self, r: usize) -> Step {
        let (t, n, zero) = (&self.transform, self.transform.q.len(), self.tolerances().zero_entry);
        if t.m[(r, r)].abs() > zero * t.entry_size(r, r) {
            return Step::Exchange([r, r], 1);
        }
        let row = |i: usize| if self.descending { n - 1 - i } else { i };
        let mut candidates = false;
        for s in (0..n).map(row).filter(|s| *s != r && t.m[(r, *s)] > zero * t.entry_size(r, *s)) {
            candidates = true;
            if t.m[(s, r)].abs() > zero * t.entry_size(s, r) {
                return Step::Exchange([r, s], 2);
            }
        }
        if candidates { Step::Lost(r) } else { Step::Ray(r) }
    }

    /// Exchanges z and w of one or two rows.
    fn exchange(&mut self, block: &[usize], stats: &mut Stats) {
        stats.pivots += 1;
        if self.options.trace {
            for &i in block {
                let (z, w) = (Some(Variable::Z(i)), Some(Variable::W(i)));
                let (entering, leaving) = if self.transform.active[i] { (w, z) } else { (z, w) };
                let measure = self.transform.q.iter().fold(0.0, |x: f64, q| x.min(*q));
                stats.trace.push(TraceLine { entering, leaving, measure });
            }
        }
        stats.flops += self.transform.pivot_flops(block.len());
        self.transform.pivot(block);
    }

    /// Computes the transform afresh for the present basis.
    fn refactor(&mut self, stats: &mut Stats) {
        stats.refactorizations += 1;
        let basis = self.basis();
        stats.flops += basis.active().count() as u64 * self.transform.pivot_flops(2);
        self.transform.refactor(basis.active());
    }

    fn basis(&self) -> Basis {
        let active = (0..self.transform.active.len()).filter(|i| self.transform.active[*i]);
        Basis::from_active(self.transform.active.len(), active)
    }

    /// Row r as a Farkas vector: `yⱼ = −M̄ᵣⱼ` over active rows, `yᵣ = 1` if r is inactive.
    fn ray(&self, problem: &Lcp, r: usize, stats: Stats) -> Outcome {
        let t = &self.transform;
        let part = |j: usize| match t.active[j] {
            true => (-t.m[(r, j)]).max(0.0),
            false if j == r => 1.0,
            false => 0.0,
        };
        let y: Vec<f64> = (0..problem.n()).map(|j| times_power(part(j), -t.row[j])).collect();
        let candidates = [in_whole_numbers(&y), Some(y.clone())];
        if let Some(y) = candidates.into_iter().flatten().find(|y| is_farkas(problem.into(), y)) {
            return Outcome::Unsolvable(Unsolvable { proof: Proof::Farkas(y), stats });
        }
        let claim = format!("row {r} cannot become non-negative: y ≥ 0, Mᵀ y ≤ 0 and qᵀ y < 0 hold to rounding");
        Outcome::Ray(Ray { direction: y, claim, stats })
    }

    fn stopped(&mut self, problem: &Lcp, why: StopReason, stats: Stats) -> Outcome {
        let t = &self.transform;
        let of = |i: usize| if t.active[i] { times_power(t.q[i], -t.column[i]).max(0.0) } else { 0.0 };
        let z: Vec<f64> = (0..problem.n()).map(of).collect();
        Outcome::Stopped(stopped_at(problem.into(), z, why, stats))
    }
}

impl Solver for PrincipalPivot {
    fn name(&self) -> &'static str {
        "principal-pivot"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let (options, mut finish) = (self.options.clone(), std::mem::take(&mut self.outer_finish));
        let outcome = solve_reduced(problem, start, &options, &mut finish, |lcp, start| {
            self.transform.load(lcp, &options.tolerances.principal_pivot);
            if let Some(basis) = start {
                self.transform.refactor(basis.active());
            }
            Ok(self.run(lcp))
        });
        self.outer_finish = finish;
        outcome
    }
}

//! Dantzig's driving method in Baraff's form, with bilateral rows and bounds.
//!
//! One row after the other is brought to its conditions by driving its z from where it stands until its w is zero,
//! while the conditions of the rows before it are kept: those clamped (C) hold w = 0 by moving their z along, those
//! unclamped (NC) stand at a bound. The factor of `M_CC` follows C by one row and column at a time
//! (`IncrementalFactor`).
//!
//! For symmetric positive semidefinite M of any rank the method finds a solution wherever there is one, and otherwise
//! ends on a direction along which no w changes ([`Outcome::Ray`]). It also solves problems with a P-matrix,
//! symmetric or not. For other matrices it tries, and its answer is certified like all others, or not given.
//!
//! It is the principal pivoting method of Dantzig and Cottle. It is not Lemke's method (no artificial
//! variable), nor that of principal pivots by least index (z never leaves its bounds).
//!
//! Where this departs from the paper, and why:
//! * Rows that are satisfied when their turn comes are left ignored, not put into NC: they then cost nothing and
//!   force no pivot; a row that becomes violated later is driven then. w of an ignored row is computed only at its
//!   turn.
//! * The rows violated at the start enter C together, and those whose z comes out beyond a bound are set there: any z on
//!   C within its bounds, with w = 0 there, is a place to drive from. For the same reason a start basis may be any.
//! * z has bounds on both sides; a free row has none, is driven first and never leaves C.
//! * A column that depends on C never enters it. If the driven w reaches zero on such a column, d takes the place of
//!   a row of C that reaches its bound along the direction in which no w changes (`settle`). So M_CC is always
//!   regular.
//! * The driven index comes first in ties (relative 1e-8), or a dependent column would be driven to infinity by
//!   rounding.
//! * The last C is solved for z again, refined and certified; if signs came out wrong by rounding, driving goes on
//!   from there.
//!
//! References: [Baraff94, §4]; [CPS09, §4.2–4.3].

mod drive;
mod enter;
mod index_sets;
mod polish;
mod scaled;
mod settle;
pub mod step;
mod violation;

use drive::{Driver, Halt};
use enter::INDEPENDENCE;

use crate::basis::{Basis, Position};
use crate::certificate::{Certificate, certify_to};
use crate::error::InputError;
use crate::finish::Finish;
use crate::outcome::{Outcome, Ray, Solved, Stats, StopReason, Stopped};
use crate::problem::ProblemRef;
use crate::solver::{Options, Solver};
use crate::{tolerances, work};

/// The largest order of a factored problem: its columns are formed as they are needed, at worst all of them.
pub(crate) const FACTORED_LIMIT: usize = 4096;

/// Pivots allowed unless the options say otherwise: this many per row, and for as many rows more. Problems without
/// degeneracy take one or two per row.
const PIVOTS_PER_ROW: usize = 50;
const ROWS_MORE: usize = 20;

/// Rows are driven in one go if their |w| is at least this, relative to the largest. Nearer to 1 means more passes over all rows, nearer
/// to 0 more pivots that are taken back; between 0.05 and 0.3 the sum hardly changes.
const WORST_ROWS: f64 = 0.1;

/// [`Tolerances::violated_row`] and [`Tolerances::dependent_row`] of the later attempts, as a part of the certificate's tolerance. Below 1,
/// or a row that is left alone could fail its certificate.
const LATER_ATTEMPTS: f64 = 0.5;

/// ε of the last attempts, in units of the largest entries.
const SHIFTS: [f64; 3] = [1e-9, 1e-6, 1e-3];

/// Rounds of polishing and driving on, at most.
const ROUNDS: usize = 8;

tolerances! {
    /// Tolerances of the driving method, for data scaled to 1.
    Tolerances {
        /// A row outside of C is violated if its w has the wrong sign by more than this, relative to the size of its terms: the rounding of
        /// a sum. Less drives rounding; more leaves it to the certificate, which allows a million times as much.
        violated_row = 16.0 * f64::EPSILON,
        /// A row whose column depends on C is satisfied within this, relative to the size of the terms of the rows it follows from. Its w
        /// is a sum of theirs, with their rounding; less takes that for a contradiction.
        dependent_row = 1e-13,
        /// A certificate this good needs no refinement in twice the working precision. It is near what the certificate itself can see;
        /// less refines more often, more returns fewer digits.
        refined = 1e-13,
        /// The driven index is preferred where another one comes first by no more than this, relative to the step: on rank-deficient
        /// matrices another one wins such ties by rounding, and the driven column then depends on C. The root of ε, because there a
        /// step is known to half of its digits.
        driven_tie = 1e-8,
        /// Other indices tie within this, relative to the step, and the one that moves fastest is the safest pivot. Some thousand
        /// roundings of a step.
        tie = 1e-11,
        /// A z that ends nearer to its bound than this, relative to the way it came, has ended there: the rounding of the step.
        at_end_of_step = 16.0 * f64::EPSILON,
        /// A z of C nearer to its bound than this, relative to the largest, stands there when C is mended: some roundings of its system.
        at_bound = 1e-14,
        /// Bounds further away than this many times z and q of the rows that would move are not gone to for the sake of a basis: z there
        /// would leave nothing of the other numbers. Less leaves more rows without a basis of their own.
        reach = 1e6,
    }
}

/// The solver. See the [module](self).
#[derive(Debug, Clone)]
pub struct Dantzig {
    options: Options,
    driver: Driver,
    finish: Finish,
    w: Vec<f64>,
    /// w of violated rows and the rows, in the order in which they are driven.
    turns: Vec<(f64, usize)>,
}

impl Dantzig {
    /// A solver with these options; `max_pivots` is 50 (n + 20) by default.
    pub fn new(options: Options) -> Self {
        Self { options, driver: Driver::default(), finish: Finish::default(), w: Vec::new(), turns: Vec::new() }
    }

    /// Stops after this many pivots from now on; `None` for the default.
    pub(crate) fn limit_pivots(&mut self, max_pivots: Option<usize>) {
        self.options.max_pivots = max_pivots;
    }

    /// Stops after this many floating-point operations from now on.
    pub(crate) fn limit_flops(&mut self, max_flops: u64) {
        self.options.max_flops = Some(max_flops);
    }

    /// Tries with every violation above rounding driven. If that does not end well, once more with small ones left
    /// alone: where the solution is degenerate and q is rounded, the first may be asking for too much. A matrix that
    /// is not symmetric may have regular submatrices with zeros on the diagonal, which this method cannot enter one
    /// row at a time; so the last attempt takes its basis from `M + ε I`.
    fn attempts(&mut self, problem: ProblemRef<'_>) -> Outcome {
        let symmetric = self.driver.problem.symmetric;
        self.take_pivots();
        let first = self.attempt(problem);
        if first.solved().is_some() || self.driver.is_out_of_pivots() {
            return first;
        }
        self.restart();
        let second = self.attempt(problem);
        if second.solved().is_some() || self.driver.is_out_of_pivots() {
            return second;
        }
        for shift in SHIFTS.into_iter().filter(|_| !symmetric) {
            self.restart();
            if let Some(third) = self.attempt_shifted(problem, shift) {
                return third;
            }
        }
        if matches!(first, Outcome::Ray(_)) { first } else { second }
    }

    /// From scratch and row by row.
    fn restart(&mut self) {
        self.driver.stats.restarts += 1;
        self.driver.reset();
        self.driver.tolerances.violated_row = LATER_ATTEMPTS * self.options.tolerance;
        self.driver.tolerances.dependent_row = LATER_ATTEMPTS * self.options.tolerance;
        self.driver.near_singular_allowed = true;
        self.driver.at_start = false;
        self.take_pivots();
    }

    /// An attempt may use half of the pivots that are left, or all of them if their number was asked for.
    fn take_pivots(&mut self) {
        self.driver.take_pivots(if self.options.max_pivots.is_some() { 1 } else { 2 });
    }

    fn attempt(&mut self, problem: ProblemRef<'_>) -> Outcome {
        self.compute_forces(problem).unwrap_or_else(|halt| self.halted(problem, halt))
    }

    /// A certified solution from the basis of `M + ε I`, if that is one.
    fn attempt_shifted(&mut self, problem: ProblemRef<'_>, shift: f64) -> Option<Outcome> {
        self.driver.problem.shift_diagonal(shift);
        let driven = self.drive_free_rows().and_then(|()| self.drive_violated_rows());
        self.driver.problem.load(problem);
        driven.ok()?;
        let basis = self.driver.basis();
        self.start_from(&basis).ok()?;
        self.resolve(problem, &basis).or_else(|| {
            self.driver.repair();
            self.compute_forces(problem).ok().filter(|outcome| outcome.solved().is_some())
        })
    }

    /// The certified solution of `basis`, which was installed as far as its columns are independent, if it is one.
    fn resolve(&mut self, problem: ProblemRef<'_>, basis: &Basis) -> Option<Outcome> {
        let (z, certificate) = self.polish(problem);
        if certificate.holds(self.options.tolerance) {
            return Some(self.solved(z, certificate));
        }
        let z = self.finish.solution(problem, basis, &self.options)?;
        let (z, certificate) = self.with_certificate(problem, z);
        let (w, basis) = (self.w.clone(), basis.clone());
        let holds = certificate.holds(self.options.tolerance);
        holds.then(|| Outcome::Solved(Solved::new(z, w, basis, certificate, &self.options, Stats::default())))
    }

    /// `compute-forces` of the paper, with its last C polished. Reference: [Baraff94, §4.3].
    fn compute_forces(&mut self, problem: ProblemRef<'_>) -> Result<Outcome, Halt> {
        let mut best = None;
        if self.driver.at_start {
            self.start_together()?;
        }
        for _ in 0..ROUNDS {
            self.drive_free_rows()?;
            self.drive_violated_rows()?;
            let (z, certificate) = self.polish(problem);
            if certificate.holds(self.options.tolerance) {
                return Ok(self.solved(z, certificate));
            }
            best = better(best, (z, certificate));
            self.driver.repair();
        }
        let (z, certificate) = best.unwrap_or_else(|| self.present(problem));
        Ok(Outcome::Stopped(Stopped { why: StopReason::Uncertified, z, certificate, stats: Stats::default() }))
    }

    /// The rows violated at the start enter C together. Where z comes out well this saves most of the driving; any z
    /// on C within its bounds is a place to drive from.
    fn start_together(&mut self) -> Result<(), Halt> {
        self.list_violated_rows();
        self.driver.enter_together(self.turns.iter().map(|t| t.1))
    }

    /// Free rows enter C first, those with the most independent columns before the others: what is left over then
    /// follows from C by moderate factors, and a row with nothing on its diagonal waits for the rows that give it
    /// something.
    fn drive_free_rows(&mut self) -> Result<(), Halt> {
        if !self.driver.problem.any_free {
            return Ok(());
        }
        for least in INDEPENDENCE {
            for i in 0..self.driver.problem.n {
                if !self.driver.problem.is_free(i) {
                    continue;
                }
                self.driver.refresh();
                let Some(w) = self.driver.clear_violation(i) else { continue };
                if least == 0.0 || self.driver.independence(i) > least {
                    self.driver.drive_to_zero(i, w)?;
                }
            }
        }
        Ok(())
    }

    /// Drives the rows whose conditions do not hold, the worst first: all w are computed, the rows that are among the
    /// worst are driven in this order, each if it still is, and so on until there is none. This comes close to
    /// driving the worst row each time, which takes hardly a pivot more than there are active rows, at a fraction of
    /// the cost.
    fn drive_violated_rows(&mut self) -> Result<(), Halt> {
        let mut idle = 0;
        loop {
            crate::interrupt::check();
            self.driver.check_work()?;
            let Some(worst) = self.list_violated_rows() else { return Ok(()) };
            if !worst.is_finite() {
                return Err(Halt::Numerical("w leaves the range of f64"));
            }
            let pivots = self.driver.stats.pivots;
            let among_the_worst = |w: &f64| w.abs() >= WORST_ROWS * worst;
            for at in 0..self.turns.len() {
                let (listed, i) = self.turns[at];
                if !among_the_worst(&listed) {
                    break;
                }
                // z has moved since the list was made, unless this is its first row.
                let w = if at == 0 { Some(listed) } else { self.driver.violation(i).filter(among_the_worst) };
                if let Some(w) = w {
                    self.driver.drive_to_zero(i, w)?;
                }
            }
            idle = if self.driver.stats.pivots == pivots { idle + 1 } else { 0 };
            if idle > self.driver.problem.n {
                return Err(Halt::Numerical("rows that no drive changes"));
            }
        }
    }

    /// Lists the violated rows in falling order of |w|, and returns the largest.
    fn list_violated_rows(&mut self) -> Option<f64> {
        self.turns.clear();
        self.driver.refresh();
        let n = self.driver.problem.n;
        self.driver.stats.flops += work::product(n, self.driver.sets.clamped().len() + 1);
        for i in 0..self.driver.problem.n {
            crate::interrupt::check_at(i);
            if let Some(w) = self.driver.clear_violation(i) {
                self.turns.push((w, i));
            }
        }
        self.turns.sort_unstable_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        self.turns.first().map(|t| t.0.abs())
    }

    /// The best z of the present C, and its certificate.
    fn polish(&mut self, problem: ProblemRef<'_>) -> (Vec<f64>, Certificate) {
        self.driver.stats.flops += Finish::flops(problem.n(), self.driver.sets.clamped().len());
        let good = self.options.tolerances.dantzig.refined.min(self.options.tolerance);
        let driven = self.present(problem);
        if driven.1.holds(good) {
            return driven;
        }
        self.driver.refine_plainly();
        let plain = self.present(problem);
        if plain.1.holds(good) {
            return plain;
        }
        self.driver.refine();
        let refined = self.present(problem);
        if refined.1.holds(self.options.tolerance) {
            return refined;
        }
        let pivoted = self.finish.solution(problem, &self.driver.basis(), &self.options);
        let pivoted = pivoted.map(|z| self.with_certificate(problem, z));
        pivoted.filter(|p| p.1.worst() < refined.1.worst()).unwrap_or(refined)
    }

    fn present(&mut self, problem: ProblemRef<'_>) -> (Vec<f64>, Certificate) {
        let z = self.driver.answer();
        self.with_certificate(problem, z)
    }

    fn with_certificate(&mut self, problem: ProblemRef<'_>, z: Vec<f64>) -> (Vec<f64>, Certificate) {
        self.w.clear();
        self.w.resize(z.len(), 0.0);
        let certificate = certify_to(problem, &z, &mut self.w, self.options.tolerance);
        (z, certificate)
    }

    fn solved(&mut self, z: Vec<f64>, certificate: Certificate) -> Outcome {
        let (w, basis) = (self.w.clone(), self.driver.basis());
        Outcome::Solved(Solved::new(z, w, basis, certificate, &self.options, Stats::default()))
    }

    /// What a drive that was not brought to its end comes to.
    fn halted(&mut self, problem: ProblemRef<'_>, halt: Halt) -> Outcome {
        let stats = Stats::default();
        if halt == Halt::Unbounded
            && let Some(claim) = self.driver.claim()
        {
            return Outcome::Ray(Ray { direction: self.driver.direction(), claim: claim.into(), stats });
        }
        let (z, certificate) = self.present(problem);
        let why = match halt {
            Halt::Limit(limit) => StopReason::Limit(limit),
            Halt::Budget(flops) => StopReason::Budget(flops),
            Halt::Numerical(what) => StopReason::Numerical(what.into()),
            Halt::Unbounded => StopReason::Numerical("an infinite step along which w changes".into()),
        };
        Outcome::Stopped(Stopped { why, z, certificate, stats })
    }

    /// C, NC and z as the basis says.
    fn start_from(&mut self, basis: &Basis) -> Result<(), InputError> {
        basis.check_len(self.driver.problem.n)?;
        self.driver.waiting.clear();
        for free in [true, false] {
            for i in 0..basis.len() {
                if self.driver.problem.is_free(i) != free {
                    continue;
                }
                match basis.position(i) {
                    Position::Basic => self.driver.waiting.push(i),
                    Position::Lower if self.driver.problem.lo[i].is_finite() => {
                        self.driver.z[i] = self.driver.problem.lo[i];
                    }
                    Position::Upper if self.driver.problem.hi[i].is_finite() => {
                        self.driver.z[i] = self.driver.problem.hi[i];
                    }
                    position => {
                        let place = if position == Position::Lower { "lower" } else { "upper" };
                        return Err(InputError::Basis(format!("row {i} has no {place} bound to stand at")));
                    }
                }
            }
        }
        self.driver.at_start = false;
        self.driver.clear_accepted_errors();
        self.driver.install();
        self.driver.refine_plainly();
        Ok(())
    }
}

/// The one with the smaller certificate.
fn better(best: Option<(Vec<f64>, Certificate)>, new: (Vec<f64>, Certificate)) -> Option<(Vec<f64>, Certificate)> {
    match best {
        Some(old) if old.1.worst() <= new.1.worst() => Some(old),
        _ => Some(new),
    }
}

impl Solver for Dantzig {
    fn name(&self) -> &'static str {
        "dantzig"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.options.check()?;
        let n = problem.n();
        if matches!(problem, ProblemRef::Factored(_)) && n > FACTORED_LIMIT {
            let reason = format!("{n} factored rows; up to {FACTORED_LIMIT}, above them use nnls");
            return Err(InputError::Unsupported { solver: self.name(), reason });
        }
        self.driver.problem.load(problem);
        self.driver.stats = Stats::default();
        self.driver.reset();
        self.driver.max_pivots = self.options.max_pivots.unwrap_or(PIVOTS_PER_ROW * (n + ROWS_MORE));
        self.driver.max_flops = self.options.flops_allowed(n);
        self.driver.trace = self.options.trace;
        let mut resolved = None;
        self.driver.tolerances = self.options.tolerances.dantzig;
        self.driver.near_singular_allowed = false;
        if let Some(basis) = start {
            self.start_from(basis)?;
            resolved = self.resolve(problem, basis);
            if resolved.is_none() {
                self.driver.repair();
            }
        }
        let mut outcome = resolved.unwrap_or_else(|| self.attempts(problem));
        *outcome.stats_mut() = std::mem::take(&mut self.driver.stats);
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests;

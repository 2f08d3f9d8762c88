//! What the frictionless, viscous and no-slip models share: rows that must hold, and the complementarity problem that the others leave.
//!
//! In coordinates in which the inertia (with implicit drag in it) is the identity, the rows X that must hold fix a part of the motion, and leave free
//! `P = I − Q Qᵀ`. The other rows g (normals, limits, rows with bounded force) then make
//!
//! `w = Gᵀ G p + e`, `lo ≤ p ≤ hi` complementary to w, with `G = P g` and `eᵢ = gᵢᵀ x₀ + biasᵢ`,
//!
//! where `x₀` is the motion under X alone: `P x_free`, and what satisfies X. That is a factored problem of any number of columns and m rows: O(m³ + m² n). Where
//! every bias is zero it is non-negative least squares and always solvable; otherwise it may be infeasible, and then there is a proof.
//!
//! The numbers come from the one linear system of the rows that hold in the end, refined in twice the working precision, so that what should not
//! move does not move by more than rounding.
//!
//! Reference: [Drumwright15, §§IV–VI].

mod drag;
mod farkas;
mod recover;
mod reduce;
mod row;

use stiction_lcp::matrix::dot;
use stiction_lcp::{
    Auto, Basis, FactoredLcp, InputError, Lemke, ModifiedPpm, Nnls, Outcome, Position, Proof, Solver, tolerances,
};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::Law;
use crate::find_indices::{self, FindIndices};
use crate::model::{ContactOutcome, ContactStats, Level, ModelOptions, WarmStart};
use crate::problem::ContactProblem;
use crate::whitened::Whitened;
pub(crate) use drag::Drag;
use recover::{Recovery, abs_dot};
pub(crate) use row::Row;

tolerances! {
    /// Tolerances of the frictionless, viscous and no-slip models.
    Tolerances {
        /// A proposal is taken if no row has a residual above this, relative to the certificate's tolerance. Less solves again what was
        /// right, more leaves it to the certificate.
        proposal = 0.1,
        /// What remains of a row that is taken for dependent, relative to its length, where the usual one led to no certified answer: rows that
        /// are told apart by their rounding alone would be held by forces that lose all their digits.
        carefully_dependent = 1e-9,
        /// The terms of a row count as at least this, relative to the free motion: the refined motion under the held rows is known to a rounding
        /// of a rounding of that, times a condition.
        unsure = 1e-9,
        /// The least that an entry of e is raised by along a direction that proves nothing, relative to its terms: some roundings.
        least_raise = 1e-14,
        /// A step of refinement of at most this, relative to the motion, is the last one: the next is below rounding.
        last_step = 1e-14,
        /// A next step of at most this, relative to the motion, is not worth making: it is below `zero`, so that what is zero is seen to be zero
        /// without it.
        no_step = 1e-26,
        /// Forces and motions at most this, relative to the largest in whitened units, are what refinement leaves of zero: 1e-32, times a
        /// condition. They are zero, because momentum among nothing but them would not balance.
        zero = 1e-24,
    }
}

/// The method for the complementarity problem of the normals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NormalSolver {
    /// The paper's modified principal pivoting method, with the active-set method to fall back on (counted in
    /// [`ContactStats::fallbacks`]). It has no place for bounds: islands with bounded rows go to the active-set method.
    ModifiedPpm,
    /// Lemke's method on the n × n problem, for comparison. Islands with bounded rows go to the active-set method.
    Lemke,
    /// The active-set method of non-negative and bounded least squares. Default: it needs about as many pivots, and never a second method.
    #[default]
    Nnls,
}

/// Options of the frictionless and viscous models, and part of those of the no-slip model.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalOptions {
    /// What all models have.
    pub model: ModelOptions,
    /// The method for the normals. Default [`NormalSolver::Nnls`].
    pub solver: NormalSolver,
    /// Where that method stops, try all others; where the no-slip model's answer is not certified, hold other rows. Default true.
    pub insist: bool,
}

impl Default for NormalOptions {
    fn default() -> Self {
        Self { model: ModelOptions::default(), solver: NormalSolver::default(), insist: true }
    }
}

/// The methods for the complementarity problem, in order; and the same with rows that are held with care.
const METHODS: [[&str; 3]; 2] = [
    ["search", "certified search", "auto"],
    ["search, held with care", "certified search, held with care", "auto, held with care"],
];

/// The workspace of the shared part. Per island: [`NormalProblem::begin`], the model's own rows and drag, [`NormalProblem::solve`].
#[derive(Debug, Clone, Default)]
pub(crate) struct NormalProblem {
    options: NormalOptions,
    nnls: Nnls,
    ppm: ModifiedPpm,
    lemke: Lemke,
    /// Rows that the model holds beside the bilateral ones.
    extra: Vec<Row>,
    /// All rows that must hold: bilateral, doubly infinite bounded, the model's.
    held: Vec<Row>,
    /// The rows of the complementarity problem.
    rows: Vec<Row>,
    find: FindIndices,
    /// Whether held rows are offered in the order of what they add, and those that add little are taken for dependent.
    careful: bool,
    drag: Drag,
    /// Motion without any row, m.
    x_free: Vec<f64>,
    lcp: FactoredLcp,
    /// Storage for its bounds, while it has none.
    bounds: (Vec<f64>, Vec<f64>),
    /// Sizes that the entries of e were summed from.
    terms: Vec<f64>,
    biases: Vec<f64>,
    column: Vec<f64>,
    /// The letters to start from, and those of the answer with its numbers.
    start: Basis,
    letters: Basis,
    z: Vec<f64>,
    recovery: Recovery,
}

impl NormalProblem {
    pub(crate) fn new(options: NormalOptions) -> Self {
        let (solver, tolerances) = (options.model.for_solver(), options.model.tolerances.normal_problem);
        Self {
            options,
            nnls: Nnls::new(solver.clone()),
            ppm: ModifiedPpm::new(solver.clone()),
            lemke: Lemke::new(solver),
            recovery: Recovery::new(tolerances),
            ..Self::default()
        }
    }

    /// The options.
    pub(crate) fn options(&self) -> &NormalOptions {
        &self.options
    }

    /// Solves `problem` under `law`, each island by `solve_island`, with or without care about which rows are held.
    ///
    /// # Errors
    /// Options out of range.
    pub(crate) fn solve_problem(
        &mut self,
        by_island: &mut ByIsland,
        problem: &ContactProblem,
        law: &dyn Law,
        start: Option<&WarmStart>,
        careful: bool,
        mut solve_island: impl FnMut(&mut Self, &Whitened, Guess<'_>, &mut IslandForces, &mut ContactStats) -> IslandEnd,
    ) -> Result<ContactOutcome, InputError> {
        let options = self.options.model.clone();
        options.check()?;
        self.careful = careful;
        by_island.solve(problem, law, &options, start, |island, guess, forces, stats| {
            Ok(solve_island(self, island, guess, forces, stats))
        })
    }

    fn tolerances(&self) -> &Tolerances {
        &self.options.model.tolerances.normal_problem
    }

    /// Which rows count as dependent, with or without care.
    fn dependence(&self) -> find_indices::Tolerances {
        let usual = self.options.model.tolerances.find_indices;
        let dependent = if self.careful { self.tolerances().carefully_dependent } else { usual.dependent };
        find_indices::Tolerances { dependent, ..usual }
    }

    /// Starts on an island: no rows of the model's own, no drag.
    pub(crate) fn begin(&mut self, island: &Whitened) {
        self.extra.clear();
        self.drag.reset(island.m());
        self.x_free.clear();
        self.x_free.extend_from_slice(&island.x_free);
    }

    /// Makes `row` one that must hold: `gᵀ x + bias = 0`.
    pub(crate) fn hold(&mut self, row: Row) {
        self.extra.push(row);
    }

    /// Adds drag that is implicit in the new motion: `p = −c (gᵀ x + bias)` along `row`.
    pub(crate) fn add_drag(&mut self, island: &Whitened, row: Row, c: f64) {
        self.drag.add(row, row.g(island), c);
    }

    /// Adds a known force along `row`.
    pub(crate) fn add_force(&mut self, island: &Whitened, row: Row, force: f64) {
        stiction_lcp::matrix::axpy(force, row.g(island), &mut self.x_free);
    }

    /// Reduces, solves, recovers. `forces` gets forces, motion and basis, or the multipliers of a proof.
    pub(crate) fn solve(
        &mut self,
        island: &Whitened,
        level: Level,
        guess: Option<&Basis>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> IslandEnd {
        self.list_rows(island, level);
        self.hold_rows(island, stats);
        if let Some(number) = self.find.contradiction() {
            self.prove_from_held(island, number, forces);
            return IslandEnd::Infeasible;
        }
        // Proposals come from the methods on the factored form, and from numbers of working precision.
        if self.options.solver != NormalSolver::Lemke {
            if let Err(error) = self.form(island, false) {
                return IslandEnd::Failed { why: error.to_string() };
            }
            if self.propose(island, guess, forces, stats) {
                self.answered_by(0, stats);
                return IslandEnd::Solved;
            }
        }
        if let Err(error) = self.form(island, true) {
            return IslandEnd::Failed { why: error.to_string() };
        }
        let (before, fallbacks) = (stats.pivots, stats.fallbacks);
        for _ in 0..=self.rows.len() {
            stiction_lcp::interrupt::check();
            let direction = match self.pivot(island, guess, stats) {
                Err(error) => return IslandEnd::Failed { why: error.to_string() },
                Ok(Outcome::Solved(solved)) => {
                    stats.guessed += usize::from(self.fits(island, guess) && stats.pivots == before);
                    self.answered_by(if stats.fallbacks > fallbacks { 2 } else { 1 }, stats);
                    self.recover(island, &solved.z, Some(&solved.basis), forces);
                    return IslandEnd::Solved;
                }
                Ok(Outcome::Stopped(stopped)) => {
                    // Its z may still be a solution to the physical certificate, which knows the sizes of the terms.
                    self.recover(island, &stopped.z, None, forces);
                    return IslandEnd::Solved;
                }
                Ok(Outcome::Ray(ray)) => ray.direction,
                Ok(Outcome::Unsolvable(unsolvable)) => match unsolvable.proof {
                    Proof::Farkas(y) | Proof::Ray { direction: y, .. } => y,
                    proof @ Proof::Enumeration { .. } => return IslandEnd::Failed { why: proof.to_string() },
                },
            };
            if self.prove(island, &direction, forces) {
                return IslandEnd::Infeasible;
            }
            forces.reset(island);
            if !self.forgive(&direction) {
                break;
            }
        }
        IslandEnd::Failed { why: "feasible or not is a matter of rounding".into() }
    }

    /// Notes that the answer came from one of [`METHODS`]. The no-slip model has two others before these.
    fn answered_by(&self, number: usize, stats: &mut ContactStats) {
        let careful = usize::from(self.careful);
        stats.answered_by(2 + METHODS[0].len() * careful + number, METHODS[careful][number]);
    }

    /// Solves the complementarity problem by the method on the factored form alone and looks at the motion it leads to: nearly always that is the answer, and a
    /// certificate of the complementarity problem beside the physical one would be work for nothing; so would more digits of e than working precision
    /// has, as the numbers of the answer come from the rows that hold in the end. False if it is not the answer.
    fn propose(
        &mut self,
        island: &Whitened,
        guess: Option<&Basis>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> bool {
        self.factor_held(island);
        let fits = self.take_start(island, guess);
        let start = fits.then_some(&self.start);
        let proposal = match self.options.solver {
            NormalSolver::ModifiedPpm if self.lcp.bounds().is_none() => self.ppm.propose(&self.lcp, start),
            _ => self.nnls.propose(&self.lcp, start),
        };
        let Ok(Some(proposal)) = proposal else { return false };
        let pivots = proposal.pivots;
        let mut z = std::mem::take(&mut self.z);
        z.clear();
        z.extend_from_slice(proposal.z);
        self.letters.copy_from(proposal.basis);
        let letters = std::mem::take(&mut self.letters);
        self.recover(island, &z, Some(&letters), forces);
        (self.z, self.letters) = (z, letters);
        if !self.holds_up(island, forces) {
            forces.reset(island);
            return false;
        }
        stats.pivots += pivots;
        stats.guessed += usize::from(fits && pivots == 0);
        true
    }

    /// True if no row moves against its law by what a certificate could mind: beside its own terms, those of the motion without forces included.
    fn holds_up(&mut self, island: &Whitened, forces: &mut IslandForces) -> bool {
        let tolerance = self.tolerances().proposal * self.nnls.options().tolerance;
        self.column.clear();
        self.column.extend(forces.x.iter().zip(&island.x_free).map(|(x, free)| x.abs() + free.abs()));
        self.rows.iter().all(|row| {
            let (g, bias) = (row.g(island), row.bias(island));
            let (motion, most) = (dot(g, &forces.x) + bias, tolerance * (abs_dot(g, &self.column) + bias.abs()));
            let ((lo, hi), force) = (row.bounds(island), *row.force(forces));
            (motion >= -most || force >= hi) && (motion <= most || force <= lo)
        })
    }

    /// `start ←` the letters of `guess` for the rows of the complementarity problem; false if it has not one for each of the island's rows.
    fn take_start(&mut self, island: &Whitened, guess: Option<&Basis>) -> bool {
        let Some(basis) = guess.filter(|_| self.fits(island, guess)) else { return false };
        self.start.reset(self.rows.len());
        self.rows.iter().enumerate().for_each(|(j, row)| self.start.set(j, basis.position(row.slot(island))));
        true
    }

    /// Solves the complementarity problem, from the letters of `guess` if it has one for each of the island's rows.
    fn pivot(
        &mut self,
        island: &Whitened,
        guess: Option<&Basis>,
        stats: &mut ContactStats,
    ) -> Result<Outcome, InputError> {
        let start = if self.take_start(island, guess) { Some(&self.start) } else { None };
        let solver = if self.lcp.bounds().is_none() { self.options.solver } else { NormalSolver::Nnls };
        let by_ppm = solver == NormalSolver::ModifiedPpm;
        let outcome = match solver {
            NormalSolver::ModifiedPpm => self.ppm.solve_from((&self.lcp).into(), start)?,
            NormalSolver::Lemke => self.lemke.solve_from((&self.lcp).into(), start)?,
            NormalSolver::Nnls => self.nnls.solve_from((&self.lcp).into(), start)?,
        };
        stats.pivots += outcome.stats().pivots;
        stats.fallbacks += usize::from(by_ppm && !outcome.stats().attempts.is_empty());
        if !self.options.insist || !matches!(outcome, Outcome::Stopped(_)) {
            return Ok(outcome);
        }
        // Columns that depend on each other but for rounding can lead the active-set method in a circle: whatever method ends then.
        let second = Auto::new(self.nnls.options().clone()).solve_from((&self.lcp).into(), None)?;
        stats.pivots += second.stats().pivots;
        stats.fallbacks += 1;
        Ok(if matches!(second, Outcome::Stopped(_)) { outcome } else { second })
    }

    /// True if there is a guess with a letter for each of the island's rows.
    fn fits(&self, island: &Whitened, guess: Option<&Basis>) -> bool {
        guess.is_some_and(|basis| basis.len() == Row::slots(island))
    }
}

/// The letter of a row by its force alone, for an answer that came without a basis.
fn position(z: f64, (lo, hi): (f64, f64)) -> Position {
    if z <= lo {
        Position::Lower
    } else if z >= hi {
        Position::Upper
    } else {
        Position::Basic
    }
}

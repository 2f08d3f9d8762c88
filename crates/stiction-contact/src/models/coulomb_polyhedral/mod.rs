//! Coulomb friction with a polyhedral cone at velocity level: the time-stepping schemes of Stewart and Trinkle and of Anitescu and Potra, solved
//! by Lloyd's three methods.
//!
//! Every touching contact has d directions of friction; its tangential impulse lies in `μ p_n` times their convex hull, and of all impulses in there
//! it is one that takes most energy. With gaps `≥ 0`, bounces `≤ 0` and surfaces at rest this always has a solution, which need not be the only one.
//!
//! | method | what | cost |
//! |---|---|---|
//! | [`Method::Standard`] | forms the problem (8) of order n (2 + d), and Lemke's method on it | O(n³) |
//! | [`Method::Structural`] | Lemke's method with the reduced system (31); no matrix is formed | O(n) pivots of O(n m + m³) |
//! | [`Method::Reduced`] | the same, but a contact's friction joins when its normal force does | O(m) pivots of O(n m + m³) |
//!
//! The cost is that expected, at fixed d. A method that fails is followed by the next of one list: the reduced, the structural, and every method of
//! [`Auto`](stiction_lcp::Auto) for the problem (8), which begins with the standard one; `stats.fallbacks` counts it. An answer is checked on the whole of (8)
//! before it is taken, and certified; where it is not, the list goes on.
//!
//! What is not covered by that: rows that ask for a speed, and would use any force to get it, can jam against friction. Such a problem may have no solution;
//! then the outcome is a failure that says so, or, if even the rows without friction contradict each other, the proof of that.
//!
//! Two departures from the paper: limits and bounded rows are in (8) too (see `cones.rs`), and bilateral rows are projected out first. A coefficient
//! of infinity has no place in the law: γ = μ θ − Σ φ has no meaning for it. The no-slip model is for that.
//!
//! Reference: \[Lloyd04\], \[StewartTrinkle96\].

mod active;
mod cones;
mod directions;
mod finish;
mod lanes;
mod ratio;
mod reduced;
mod standard;
mod structural;
mod system;

use stiction_lcp::{FactoredLcp, InputError, Matrix, Nnls, Outcome, Proof, Solver, Unsolvable, tolerances};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::polyhedral::PolyhedralLaw;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, ModelOptions, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::unsupported::{Values, refuse};
use crate::problem::ContactProblem;
use crate::whitened::{Whitened, why_not_formed};
use active::Active;
use cones::{Answer, Cones};
use finish::Finish;
use standard::Standard;
use structural::{Ended, Path};

pub use directions::directions;

/// How the complementarity problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The problem as a matrix, Lemke's method with restarts.
    Standard,
    /// No matrix is formed; a pivot costs O(n m + m³).
    Structural,
    /// And the friction of a contact joins only when its normal force does.
    #[default]
    Reduced,
}

/// Which contacts are in the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// All: `N v⁺ ≥ −gap/dt`, so that a predicted contact is not passed within the step. Reference: \[StewartTrinkle96\].
    #[default]
    StewartTrinkle,
    /// Those that touch: `N v⁺ ≥ 0`. Others, and limits that are not reached, are left to the next step, as in M. Anitescu, F. A. Potra, *Formulating
    /// dynamic multi-rigid-body contact problems with friction as solvable linear complementarity problems*, Nonlinear Dynamics 14, 1997.
    AnitescuPotra,
}

/// Options of [`CoulombPolyhedral`].
#[derive(Debug, Clone, PartialEq)]
pub struct PolyhedralOptions {
    /// What all models have.
    pub model: ModelOptions,
    /// Directions per contact, d: even, at least 4. A planar contact has two. Default 8.
    pub directions: usize,
    /// How the complementarity problem is solved. Default [`Method::Reduced`].
    pub method: Method,
    /// Which contacts are in the problem. Default [`Scheme::StewartTrinkle`].
    pub scheme: Scheme,
}

impl Default for PolyhedralOptions {
    fn default() -> Self {
        Self { model: ModelOptions::default(), directions: 8, method: Method::default(), scheme: Scheme::default() }
    }
}

/// Most directions: a polygon with more is a circle to any eye, and the law's cost grows with them.
const MOST_DIRECTIONS: usize = 1024;
/// Starts of the structural and reduced methods before another method takes over.
const STARTS: u64 = 8;
/// Pivots per row of (8) and start, and some more, unless the options set a limit; fewer than one per row is the rule.
const PIVOTS_PER_ROW: usize = 3;
const PIVOTS: usize = 200;
/// Pivots per velocity of the first start of the reduced method; later starts have four times as many each. Ten are the rule.
const PIVOTS_PER_FREEDOM: usize = 50;

tolerances! {
    /// Tolerances of Lloyd's methods, for columns and motion scaled to 1.
    Tolerances {
        /// An answer is taken if its residual in the whole problem (8) is at most this, relative to the certificate's tolerance. Less asks other
        /// methods for what was right, more leaves it to the certificate.
        answer = 0.1,
        /// A rate below this, relative to the terms of its sum, is zero: some ten thousand roundings. More misses variables that block, less pivots
        /// on rounding.
        pivot = 1e-11,
        /// A value below this, relative to the terms of its sum, is zero: variables that come this close together to zero are tied.
        tie = 1e-13,
        /// Rates below this many times their last correction are zero.
        rate_correction = 1e2,
        /// What is out of reach is so by this at least, relative to the motion's terms. More looks at more normals, less trusts rounding.
        reach = 1e-9,
        /// Where a path stalls, one is drawn from the tied variables that fall at least this fast, relative to the fastest.
        tied_rate = 1e-2,
        /// Motion, sums and z₀ below this, relative to their terms, are rounding: a few ε. More takes small motions for none, less pivots on
        /// rounding.
        rounding = 1e-15,
        /// Forces below this, relative to all motion's terms, are the rounding of others.
        noise_force = 1e-14,
        /// A row that nothing can move is violated by more than this, relative to its terms: then nothing satisfies it.
        violated = 1e-9,
        /// A motion below this, relative to its terms, is none.
        no_motion = 1e-11,
        /// Impulses that move this many times what the problem asks for, and cancel, fight over rows that no motion satisfies. Beside them any
        /// residual is small, so they are no answer.
        huge = 1e9,
    }
}

/// Polyhedral Coulomb friction. See the [module](self).
///
/// ```
/// use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, PolyhedralOptions};
/// use stiction_contact::{ContactModel, scenes};
///
/// let problem = scenes::peg_in_hole(16, 0.25, 1)?;
/// let mut model = CoulombPolyhedral::new(PolyhedralOptions::default())?;
/// let outcome = model.solve(&problem)?;
/// assert!(outcome.solved().is_some());
/// # Ok::<(), stiction_contact::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CoulombPolyhedral {
    options: PolyhedralOptions,
    by_island: ByIsland,
    law: PolyhedralLaw,
    engine: Engine,
}

/// What solves one island.
#[derive(Debug, Clone)]
struct Engine {
    options: PolyhedralOptions,
    cones: Cones,
    standard: Standard,
    path: Path,
    finish: Finish,
    active: Active,
    answer: Answer,
    best: Answer,
    spare: Answer,
    /// The method of the list that the problem's islands begin with, and the last one that an answer came from.
    begins: usize,
    ended: usize,
    /// Whether no method had an answer for an island of the problem.
    gave_up: bool,
}

impl CoulombPolyhedral {
    /// The model with these options.
    ///
    /// # Errors
    /// `InputError::Option` if the number of directions is odd, below 4 or above 1024, or the tolerance is out of range.
    pub fn new(options: PolyhedralOptions) -> Result<Self, InputError> {
        let d = options.directions;
        if d < 4 || d % 2 == 1 || d > MOST_DIRECTIONS {
            let reason = format!("must be even, from 4 to {MOST_DIRECTIONS}, found {d}");
            return Err(InputError::Option { name: "directions", reason });
        }
        let solver = options.model.for_solver();
        solver.check()?;
        let law = PolyhedralLaw::new(d, options.scheme == Scheme::AnitescuPotra);
        let mut cones = Cones::default();
        cones.set(directions(d), options.model.tolerances);
        let engine = Engine {
            options: options.clone(),
            cones,
            standard: Standard::new(solver),
            path: Path::default(),
            finish: Finish::default(),
            active: Active::default(),
            answer: Answer::default(),
            best: Answer::default(),
            spare: Answer::default(),
            begins: 0,
            ended: 0,
            gave_up: false,
        };
        Ok(Self { options, by_island: ByIsland::default(), law, engine })
    }

    /// The options.
    pub fn options(&self) -> &PolyhedralOptions {
        &self.options
    }

    /// Solves each island by the methods of the list from the one numbered `begins` on.
    fn attempt(
        &mut self,
        begins: usize,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        let engine = &mut self.engine;
        (engine.begins, engine.ended, engine.gave_up) = (begins, begins, false);
        self.by_island.solve(problem, &self.law, &self.options.model, start, |island, guess, forces, stats| {
            let end = engine.solve(island, guess, forces, stats)?;
            engine.gave_up |= matches!(end, IslandEnd::Failed { .. });
            Ok(end)
        })
    }
}

const NO_ANSWER: &str = "no method found forces: where rows ask for a speed that friction resists (a bounce, or a target that the row's force \
    pursues without a bound) the bodies may jam, and then the law has no solution";

/// The law has no place for infinite Coulomb, viscous, spin and rolling coefficients.
fn check(problem: &ContactProblem) -> Result<(), InputError> {
    let c = problem.contacts();
    let refused = [
        ("mu", c.mu.as_slice(), Values::Infinite, "; use no-slip, or a large coefficient"),
        ("mu_viscous", &c.mu_viscous, Values::NotZero, ", and the law has no viscous friction"),
        ("mu_spin", &c.mu_spin, Values::NotZero, ", and the law has no moment about the normal"),
        ("mu_roll", &c.mu_roll, Values::NotZero, ", and the law has no moment against rolling"),
    ];
    refuse(ModelKind::CoulombPolyhedral, &refused)
}

impl ContactModel for CoulombPolyhedral {
    fn kind(&self) -> ModelKind {
        ModelKind::CoulombPolyhedral
    }

    fn level(&self) -> Level {
        Level::Velocity
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        check(problem)?;
        let mut outcome = self.attempt(0, problem, start)?;
        // What one method calls an answer and the certificate does not, the next may end elsewhere. Where none has an answer, all were tried.
        while !self.engine.gave_up && matches!(outcome, ContactOutcome::Failed(_)) {
            let next = self.engine.ended + 1;
            if next == Attempt::list(self.options.method).count() {
                break;
            }
            outcome = outcome.or(self.attempt(next, problem, None)?);
        }
        Ok(outcome)
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        self.by_island.recycle(outcome);
    }
}

impl Engine {
    /// Reduce, solve, recover.
    fn solve(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> Result<IslandEnd, InputError> {
        self.cones.load(island, self.options.scheme);
        stats.inconsistency = stats.inconsistency.max(self.cones.inconsistency());
        if self.cones.stuck {
            return Ok(self.prove_infeasible(island, forces));
        }
        let residual = if self.guess_right(guess) {
            stats.guessed += 1;
            0.0
        } else {
            self.try_methods(stats)?
        };
        if residual > self.options.model.tolerance {
            let end = self.prove_infeasible(island, forces);
            if end == IslandEnd::Infeasible || residual == f64::INFINITY {
                return Ok(end);
            }
        }
        self.cones.recover(island, &self.best, forces);
        Ok(IslandEnd::Solved)
    }

    /// Solves the system of the basis that the last solve left, if there is one. True if that is the answer.
    fn guess_right(&mut self, guess: Guess<'_>) -> bool {
        let Some(basis) = guess.basis else { return false };
        if !self.active.set(&self.cones, basis) || !self.finish.answer(&self.cones, &self.active, &mut self.best) {
            return false;
        }
        self.finish.residual(&self.cones, &self.best) <= self.most_residual()
    }

    /// The residual up to which an answer is taken.
    fn most_residual(&self) -> f64 {
        self.cones.tolerances.coulomb_polyhedral.answer * self.options.model.tolerance
    }

    /// The methods of the list, until one has an answer. The best is in `best`; returns the residual, ∞ if there is none.
    fn try_methods(&mut self, stats: &mut ContactStats) -> Result<f64, InputError> {
        let (mut least, mut settled) = (f64::INFINITY, None);
        for (place, attempt) in Attempt::list(self.options.method).enumerate().skip(self.begins) {
            stats.fallbacks += usize::from(place == self.begins + 1);
            let residual = self.attempt(attempt, &mut stats.pivots)?;
            if residual < least {
                (least, settled) = (residual, Some((place, attempt)));
                std::mem::swap(&mut self.answer, &mut self.best);
            }
            if least <= self.most_residual() {
                break;
            }
        }
        if let Some((place, attempt)) = settled {
            self.ended = self.ended.max(place);
            stats.answered_by(place, attempt.name());
        }
        Ok(least)
    }

    /// Tries one method; returns the residual, ∞ if it has none.
    fn attempt(&mut self, attempt: Attempt, pivots: &mut usize) -> Result<f64, InputError> {
        let solved = match attempt {
            Attempt::One(Method::Reduced) => return Ok(self.follow_paths(true, pivots)),
            Attempt::One(Method::Structural) => return Ok(self.follow_paths(false, pivots)),
            Attempt::One(Method::Standard) => self.standard.solve(&self.cones, pivots, &mut self.answer)?,
            Attempt::EveryMethod => self.standard.solve_by_every_method(&self.cones, pivots, &mut self.answer)?,
        };
        Ok(if solved { self.sharpen() } else { f64::INFINITY })
    }

    /// The numbers of the answer's basis from the reduced system, where these will do or are better than those from the matrix. Returns the residual.
    fn sharpen(&mut self) -> f64 {
        let residual = self.finish.residual(&self.cones, &self.answer);
        if self.active.set(&self.cones, &self.answer.basis)
            && self.finish.answer(&self.cones, &self.active, &mut self.spare)
        {
            let sharper = self.finish.residual(&self.cones, &self.spare);
            if sharper <= residual.max(self.most_residual()) {
                std::mem::swap(&mut self.answer, &mut self.spare);
                return sharper;
            }
        }
        residual
    }

    /// The structural or reduced method, with other covering vectors when a path fails. Returns the residual of the answer, ∞ if there is none.
    fn follow_paths(&mut self, reduced: bool, pivots: &mut usize) -> f64 {
        let most = PIVOTS_PER_ROW * self.cones.order() + PIVOTS;
        for start in 0..STARTS {
            // A reduced path needs pivots by the degrees of freedom; one that takes many times as many has lost its way.
            let usual = if reduced { (PIVOTS + PIVOTS_PER_FREEDOM * self.cones.dof) << (2 * start) } else { most };
            let limit = self.options.model.max_pivots.unwrap_or(usual.min(most));
            let ended = self.path.follow(&self.cones, reduced, start, limit, pivots);
            if ended == Ended::Solved && self.finish.answer(&self.cones, &self.path.active, &mut self.answer) {
                let residual = self.finish.residual(&self.cones, &self.answer);
                if residual <= self.most_residual() {
                    return residual;
                }
            }
        }
        f64::INFINITY
    }

    /// When nothing solves the problem: a Farkas vector of the rows without friction, if there is one.
    fn prove_infeasible(&mut self, island: &Whitened, forces: &mut IslandForces) -> IslandEnd {
        let why = why_not_formed(self.cones.order());
        let failed = || IslandEnd::Failed { why: why.unwrap_or_else(|| NO_ANSWER.into()) };
        let (columns, e) = self.cones.unilateral_rows(island, self.options.scheme);
        let factored = Matrix::from_columns(self.cones.dof, e.len(), columns).and_then(|g| FactoredLcp::new(g, e));
        let Ok(factored) = factored else { return failed() };
        // Whether the multipliers prove anything is checked again, from the problem.
        let y = match Nnls::new(self.options.model.for_solver()).solve(&factored) {
            Ok(Outcome::Unsolvable(Unsolvable { proof: Proof::Farkas(y), .. })) => y,
            Ok(Outcome::Ray(ray)) => ray.direction,
            _ => return failed(),
        };
        self.cones.recover_proof(island, &y, forces);
        IslandEnd::Infeasible
    }
}

/// A method that an island is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    One(Method),
    /// Every method there is for the problem (8), the standard one first.
    EveryMethod,
}

impl Attempt {
    /// The methods to try, in order: the chosen one, the lean ones, and everything there is.
    fn list(chosen: Method) -> impl Iterator<Item = Attempt> {
        let lean = [Method::Reduced, Method::Structural].into_iter().filter(move |method| *method != chosen);
        std::iter::once(chosen).chain(lean).map(Attempt::One).chain([Attempt::EveryMethod])
    }

    fn name(self) -> &'static str {
        match self {
            Attempt::One(Method::Reduced) => "reduced",
            Attempt::One(Method::Structural) => "structural",
            Attempt::One(Method::Standard) => "standard",
            Attempt::EveryMethod => "auto",
        }
    }
}

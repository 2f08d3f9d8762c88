//! The one trait of all contact models, their options, and what a solve can come to.

use std::fmt;
use std::time::Duration;

use stiction_lcp::{Basis, InputError, Lcp, Proof};
use stiction_linalg::lanes::same_bits;

use crate::models::catalog::ModelKind;
use crate::problem::ContactProblem;
use crate::solution::{ContactForces, ContactSolution};
use crate::tolerances::Tolerances;

/// What a model solves for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Velocities after the step, and impulses (N s).
    Velocity,
    /// Accelerations, and forces (N). Only contacts that touch and do not part can have a force.
    Acceleration,
}

/// What a contact does: the modes of the literature (breaking, rolling, sliding) under shorter names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Mode {
    /// Breaking, or not touching: the surfaces part (or stay apart).
    #[default]
    Open,
    /// Rolling: they stay together and do not slip.
    Stick,
    /// Sliding: they stay together and slip.
    Slide,
}

/// A law of contact: from a problem to forces and motion, certified. It owns its workspace, so keep one and use it again, in
/// any thread.
pub trait ContactModel: Send {
    /// The model of the catalog whose law it solves.
    fn kind(&self) -> ModelKind;

    /// The model's name in kebab case.
    fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// What it solves for.
    fn level(&self) -> Level;

    /// Solves `problem`, starting from what an earlier solution left, if given. A start that does not fit is not used.
    ///
    /// # Errors
    /// `InputError` if the law has no place for something in the problem.
    fn solve_from(&mut self, problem: &ContactProblem, start: Option<&WarmStart>)
    -> Result<ContactOutcome, InputError>;

    /// Takes back an outcome that is not needed any more, so that a later solve can write into its storage: a loop that gives back every outcome
    /// allocates nothing once sizes have settled. By default the outcome is dropped.
    fn recycle(&mut self, outcome: ContactOutcome) {
        drop(outcome);
    }

    /// Lets later solves factor at most so many systems per island; `None` is what the options say. False if the model has no such limit.
    fn limit_work(&mut self, _most: Option<usize>) -> bool {
        false
    }

    /// Another model of the same law and options, to work beside this one in another thread. None by default: then a problem is not shared by threads.
    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        None
    }

    /// Solves `problem`.
    ///
    /// # Errors
    /// `InputError` if the law has no place for something in the problem.
    fn solve(&mut self, problem: &ContactProblem) -> Result<ContactOutcome, InputError> {
        self.solve_from(problem, None)
    }
}

/// Options that all models have.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    /// A solution is certified if every measure of its certificate is at most this. Dimensionless, in (0, 1); default 1e-10.
    pub tolerance: f64,
    /// Most pivots or iterations per island; `None` leaves it to the method. Default `None`.
    pub max_pivots: Option<usize>,
    /// Tolerances of the models' own decisions; none of them decides what is certified.
    pub tolerances: Tolerances,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_pivots: None, tolerances: Tolerances::default() }
    }
}

impl ModelOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `InputError::Option` naming the option out of range.
    pub fn check(&self) -> Result<(), InputError> {
        self.for_solver().check()
    }

    /// The same options for a complementarity solver.
    pub(crate) fn for_solver(&self) -> stiction_lcp::Options {
        stiction_lcp::Options { tolerance: self.tolerance, max_pivots: self.max_pivots, ..Default::default() }
    }
}

/// What one solve leaves for the next: the modes of the contacts and a basis per island. It fits a problem with the same rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WarmStart {
    /// Mode of each contact.
    pub modes: Vec<Mode>,
    /// Basis of each island's complementarity problem, in the order of the islands; empty for a model that has none.
    pub bases: Vec<Basis>,
    /// Forces of all rows.
    pub forces: ContactForces,
}

impl WarmStart {
    /// True if `other` is the same start to the last bit.
    pub fn is_same(&self, other: &Self) -> bool {
        let mut forces = self.forces.all().into_iter().zip(other.forces.all());
        self.modes == other.modes && self.bases == other.bases && forces.all(|(a, b)| same_bits(a, b))
    }
}

/// A method of the list that a model goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ListedMethod {
    /// Its place in the list.
    place: usize,
    /// Its name; empty where a model has one method only.
    pub name: &'static str,
}

/// What was done in a solve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactStats {
    /// Islands.
    pub islands: usize,
    /// Islands whose guessed basis or modes were right: no pivot, no iteration.
    pub guessed: usize,
    /// Pivots or iterations in all.
    pub pivots: usize,
    /// Linear systems factored in all, guesses included; 0 where a model does not count them.
    pub factorizations: usize,
    /// Most of them for one island.
    pub most_factorizations: usize,
    /// Islands for which the model's own method failed and its fallback answered.
    pub fallbacks: usize,
    /// The method that the answer came from.
    pub method: ListedMethod,
    /// Largest relative disagreement among dependent rows with targets, before these were made consistent.
    pub inconsistency: f64,
    /// Time that the certificates took.
    pub certificate: Elapsed,
}

impl ContactStats {
    /// Counts the linear systems factored for an island.
    pub(crate) fn count_factorizations(&mut self, of_island: usize) {
        self.factorizations += of_island;
        self.most_factorizations = self.most_factorizations.max(of_island);
    }

    /// An answer came from the method `name`, at `place` of the model's list: of several islands the one that went farthest down counts.
    pub(crate) fn answered_by(&mut self, place: usize, name: &'static str) {
        self.method = self.method.max(ListedMethod { place, name });
    }

    /// Adds what was done for another part of the problem.
    pub(crate) fn add(&mut self, part: &Self) {
        self.islands += part.islands;
        self.guessed += part.guessed;
        self.pivots += part.pivots;
        self.factorizations += part.factorizations;
        self.most_factorizations = self.most_factorizations.max(part.most_factorizations);
        self.fallbacks += part.fallbacks;
        self.method = self.method.max(part.method);
        self.inconsistency = self.inconsistency.max(part.inconsistency);
        self.certificate.0 += part.certificate.0;
    }
}

/// A time that something took. Any two are equal: it is no part of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Elapsed(pub Duration);

impl PartialEq for Elapsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The result of a solve.
// Nearly every outcome is a solution, the largest variant: a box would cost every step an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum ContactOutcome {
    /// Solved, and certified.
    Solved(Box<ContactSolution>),
    /// No motion satisfies the rows, and here is the proof.
    Infeasible(Infeasible),
    /// The law has no solution here, though motions that satisfy the rows may exist: Painlevé's paradox. With the proof.
    NoSolution(NoSolution),
    /// The method ended on a ray: forces that can grow without bound. By itself this proves nothing; under dynamic friction at
    /// acceleration level it is the direction of an impulse.
    Ray(ContactRay),
    /// The method stopped without a certified answer.
    Failed(ContactFailure),
}

impl ContactOutcome {
    /// The solution, if there is one.
    pub fn solved(&self) -> Option<&ContactSolution> {
        match self {
            Self::Solved(s) => Some(s),
            _ => None,
        }
    }

    /// The solution, or the best answer of a solve that failed: which of the two the outcome itself says.
    pub fn answer(&self) -> Option<&ContactSolution> {
        match self {
            Self::Solved(s) => Some(s),
            Self::Failed(f) => Some(&f.best),
            _ => None,
        }
    }

    /// The same, to take parts of it out.
    pub fn answer_mut(&mut self) -> Option<&mut ContactSolution> {
        match self {
            Self::Solved(s) => Some(s),
            Self::Failed(f) => Some(&mut f.best),
            _ => None,
        }
    }

    /// What was done.
    pub fn stats(&self) -> &ContactStats {
        match self {
            Self::Solved(s) => &s.stats,
            Self::Infeasible(i) => &i.stats,
            Self::NoSolution(n) => &n.stats,
            Self::Ray(r) => &r.stats,
            Self::Failed(f) => &f.best.stats,
        }
    }

    /// What this one, which failed, and `second`, another attempt at the same problem, come to: the second if it is certified or proven, else the one whose
    /// best answer has the smaller certificate; with the work of both.
    pub(crate) fn or(self, mut second: Self) -> Self {
        let Self::Failed(first) = &self else { return self };
        let stats = match &mut second {
            Self::Solved(solution) => &mut solution.stats,
            Self::Infeasible(infeasible) => &mut infeasible.stats,
            Self::Failed(other) if other.best.certificate.largest() < first.best.certificate.largest() => {
                &mut other.best.stats
            }
            _ => return self,
        };
        let earlier = &first.best.stats;
        stats.pivots += earlier.pivots;
        stats.factorizations += earlier.factorizations;
        stats.most_factorizations = stats.most_factorizations.max(earlier.most_factorizations);
        stats.fallbacks += earlier.fallbacks + 1;
        stats.certificate.0 += earlier.certificate.0;
        second
    }

    /// `solved`, `infeasible`, `no-solution`, `ray` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Solved(_) => "solved",
            Self::Infeasible(_) => "infeasible",
            Self::NoSolution(_) => "no-solution",
            Self::Ray(_) => "ray",
            Self::Failed(_) => "failed",
        }
    }
}

/// A Farkas vector: multipliers of the rows, none negative on unilateral ones, whose combination of rows vanishes while that of the biases is
/// negative. Any motion satisfying the rows would need a speed of at least `least_speed` times that of the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Infeasible {
    /// The multipliers, in the places of the rows' forces.
    pub multipliers: ContactForces,
    /// Lower bound on the speed of any motion that satisfies the rows, beside the free motion and the speeds the rows ask for; recomputed from
    /// the problem, at least 1e8. Infinite if the combination of rows is exactly zero.
    pub least_speed: f64,
    /// What was done.
    pub stats: ContactStats,
}

/// A proof that a law of friction admits no forces. It is a proof for the numbers of `lcp`, which were rounded when it was formed from the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct NoSolution {
    /// The island without a solution.
    pub island: usize,
    /// Its complementarity problem.
    pub lcp: Lcp,
    /// Why that has no solution.
    pub proof: Proof,
    /// What was done.
    pub stats: ContactStats,
}

/// A ray.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRay {
    /// The direction in which forces grow.
    pub direction: ContactForces,
    /// What the ray says, and what it does not.
    pub claim: String,
    /// What was done.
    pub stats: ContactStats,
}

/// A solve that ended without a certified answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactFailure {
    /// Why.
    pub why: String,
    /// The best answer found, which is no solution: its certificate says how far from one it is.
    pub best: Box<ContactSolution>,
}

impl Mode {
    /// `open`, `stick` or `slide`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Open => "open",
            Mode::Stick => "stick",
            Mode::Slide => "slide",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

//! The solver to reach for first: looks at the problem, picks a method, verifies, falls back, and says what it did.
//!
//! | problem | methods, in order |
//! |---|---|
//! | factored | active-set least squares, then as for a dense one |
//! | symmetric, positive semidefinite as far as 2 × 2 minors tell | Dantzig, then as below |
//! | order ≤ 12 | Lemke, enumeration of all bases |
//! | any other | Lemke, interior point with crossover, then (order ≤ 60) Lemke in exact arithmetic |
//!
//! The first certified solution, or the first proof that there is none, is the answer. A ray is turned into a proof where an exact
//! Farkas vector can be found. `stats.attempts` lists every method tried and how it ended.

use crate::basis::Basis;
use crate::classify::classify_exact;
use crate::dantzig::Dantzig;
use crate::enumerate::Enumerate;
use crate::error::InputError;
use crate::exact::{self, ExactOutcome};
use crate::finish::{Finish, outcome_of, stopped_at};
use crate::interior_point::InteriorPoint;
use crate::lemke::Lemke;
use crate::nnls::Nnls;
use crate::outcome::{Attempt, MatrixClass, Outcome, Proof, Ray, Stats, StopReason, Stopped, Unsolvable};
use crate::problem::ProblemRef;
use crate::solver::{Options, Solver};

/// Order up to which all bases are enumerated when Lemke's method fails.
const ENUMERATED: usize = 12;
/// The driving method needs one or two pivots per row where it is the right one; beyond this Lemke takes over.
const DANTZIG_PIVOTS_PER_ROW: usize = 4;
/// Rounding allowed for in a 2 × 2 minor.
const MINOR_ROUNDING: f64 = 1e-12;
/// Order up to which exact arithmetic is affordable.
const EXACT: usize = 60;

/// Picks a method by the problem. See the [module](self).
#[derive(Debug, Clone)]
pub struct Auto {
    options: Options,
    nnls: Nnls,
    dantzig: Dantzig,
    lemke: Lemke,
    interior_point: InteriorPoint,
    enumerate: Enumerate,
    finish: Finish,
}

/// A method on the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rung {
    Nnls,
    Dantzig,
    Lemke,
    InteriorPoint,
    Enumerate,
    Exact,
}

impl Auto {
    /// The automatic choice.
    pub fn new(options: Options) -> Self {
        Self {
            nnls: Nnls::new(options.clone()),
            dantzig: Dantzig::new(options.clone()),
            lemke: Lemke::new(options.clone()),
            interior_point: InteriorPoint::new(options.clone()),
            enumerate: Enumerate::new(options.clone()),
            finish: Finish::default(),
            options,
        }
    }

    fn climb(&mut self, rung: Rung, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        match rung {
            Rung::Nnls => self.nnls.solve_from(problem, start),
            Rung::Dantzig => {
                let patience = DANTZIG_PIVOTS_PER_ROW * problem.n() + 20;
                self.dantzig.limit_pivots(Some(self.options.max_pivots.unwrap_or(patience).min(patience)));
                self.dantzig.solve_from(problem, start)
            }
            Rung::Lemke => self.lemke.solve_from(problem, start),
            Rung::InteriorPoint => self.interior_point.solve_from(problem, start),
            Rung::Enumerate => self.enumerate.solve_from(problem, start),
            Rung::Exact => Ok(self.pivot_exactly(problem, start)),
        }
    }

    /// Lemke's method in rational arithmetic: what it proves is proven, and its solution is certified like any other.
    fn pivot_exactly(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Outcome {
        let n = problem.n();
        let limit = self.options.max_pivots.unwrap_or(50 * n + 100);
        let cold = Basis::lower(n);
        match exact::pivot_exact(problem, start.unwrap_or(&cold), limit) {
            ExactOutcome::Proven { basis, pivots, z } => {
                let stats = Stats { pivots, ..Stats::default() };
                let outcome = self.finish.outcome(problem, basis.clone(), &self.options, stats.clone());
                if outcome.solved().is_some() { outcome } else { outcome_of(problem, z, basis, &self.options, stats) }
            }
            ExactOutcome::Ray { farkas: Some(y), pivots, .. } => {
                let stats = Stats { pivots, ..Stats::default() };
                Outcome::Unsolvable(Unsolvable { proof: Proof::Farkas(y), stats })
            }
            ExactOutcome::Ray { direction, pivots, .. } => {
                let stats = Stats { pivots, ..Stats::default() };
                if let Some(class) = verified_class(problem) {
                    return Outcome::Unsolvable(Unsolvable { proof: Proof::Ray { direction, class }, stats });
                }
                let claim = "Lemke's path ends on a ray in exact arithmetic, and M z + q ≥ 0, z ≥ 0 was not proven infeasible: \
                             there may be a solution that the path does not reach";
                Outcome::Ray(Ray { direction, claim: claim.into(), stats })
            }
            ExactOutcome::Limit { pivots } => {
                let stats = Stats { pivots, ..Stats::default() };
                Outcome::Stopped(stopped_at(problem, vec![0.0; n], StopReason::Limit(limit), stats))
            }
        }
    }
}

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.options.check()?;
        if let Some(basis) = start {
            basis.check_len(problem.n())?;
        }
        let mut climb = Climb::default();
        for rung in ladder(problem) {
            crate::interrupt::check();
            match self.climb(rung, problem, start) {
                Ok(outcome) => {
                    if let Some(outcome) = climb.take(problem, rung, outcome) {
                        return Ok(outcome);
                    }
                }
                Err(InputError::Unsupported { reason, .. }) => climb.note(rung, reason),
                Err(error) => return Err(error),
            }
        }
        Ok(climb.best(problem))
    }
}

/// The class of an LCP's matrix, if it is one for which a ray of Lemke's method means that there is no solution; verified in exact
/// arithmetic. Reference: [CPS09, Theorem 4.4.12].
fn verified_class(problem: ProblemRef<'_>) -> Option<MatrixClass> {
    let ProblemRef::Lcp(lcp) = problem else { return None };
    match classify_exact(lcp.m()) {
        MatrixClass::Other => None,
        class => Some(class),
    }
}

/// The methods for a problem, in order.
fn ladder(problem: ProblemRef<'_>) -> Vec<Rung> {
    let n = problem.n();
    let mut rungs = Vec::new();
    if matches!(problem, ProblemRef::Factored(_)) {
        rungs.push(Rung::Nnls);
    }
    if suits_dantzig(problem) {
        rungs.push(Rung::Dantzig);
    }
    rungs.push(Rung::Lemke);
    if n <= ENUMERATED {
        rungs.push(Rung::Enumerate);
        return rungs;
    }
    rungs.push(Rung::InteriorPoint);
    if n <= EXACT {
        rungs.push(Rung::Exact);
    }
    rungs
}

/// Symmetric, and no 2 × 2 minor speaks against positive semidefinite: most likely it is, and the driving method finds out.
fn suits_dantzig(problem: ProblemRef<'_>) -> bool {
    let m = match problem {
        ProblemRef::Lcp(p) => p.m(),
        ProblemRef::Mlcp(p) => p.m(),
        ProblemRef::Box(p) => p.m(),
        ProblemRef::Factored(_) => return true,
    };
    let bounded = |i: usize, j: usize| m[(i, j)] * m[(i, j)] <= m[(i, i)] * m[(j, j)] * (1.0 + MINOR_ROUNDING);
    (0..m.rows()).all(|j| m[(j, j)] >= 0.0 && (0..j).all(|i| m[(i, j)] == m[(j, i)] && bounded(i, j)))
}

/// What the methods so far have come to.
#[derive(Default)]
struct Climb {
    stats: Stats,
    /// A thin proof.
    proof: Option<Proof>,
    ray: Option<Ray>,
    stopped: Option<Stopped>,
}

impl Climb {
    fn note(&mut self, rung: Rung, ended: String) {
        self.stats.attempts.push(Attempt { solver: rung.name(), ended });
    }

    /// Takes an outcome in; gives it back if it settles the matter.
    fn take(&mut self, problem: ProblemRef<'_>, rung: Rung, mut outcome: Outcome) -> Option<Outcome> {
        self.add(rung, &mut outcome);
        match outcome {
            Outcome::Ray(ray) => {
                if let Some(y) = exact::find_farkas(problem, Some(&ray.direction)) {
                    self.note(rung, "its ray was turned into an exact Farkas vector".into());
                    return self.settle(problem, Proof::Farkas(y));
                }
                self.ray.get_or_insert(ray);
                None
            }
            Outcome::Unsolvable(found) => self.settle(problem, found.proof),
            Outcome::Stopped(stopped) => {
                let better = |b: &Stopped| stopped.certificate.worst() < b.certificate.worst();
                if self.stopped.as_ref().is_none_or(better) {
                    self.stopped = Some(stopped);
                }
                None
            }
            mut settled => {
                *settled.stats_mut() = std::mem::take(&mut self.stats);
                Some(settled)
            }
        }
    }

    /// A proof settles the matter, unless it is thin: then a certified solution is looked for first.
    fn settle(&mut self, problem: ProblemRef<'_>, proof: Proof) -> Option<Outcome> {
        if proof.is_thin(problem.q()) {
            self.proof.get_or_insert(proof);
            return None;
        }
        Some(Outcome::Unsolvable(Unsolvable { proof, stats: std::mem::take(&mut self.stats) }))
    }

    /// Adds up what was done.
    fn add(&mut self, rung: Rung, outcome: &mut Outcome) {
        let ended = match &*outcome {
            Outcome::Stopped(s) => s.why.to_string(),
            Outcome::Unsolvable(u) => u.proof.to_string(),
            other => other.name().to_string(),
        };
        let stats = std::mem::take(outcome.stats_mut());
        self.stats.pivots += stats.pivots;
        self.stats.iterations += stats.iterations;
        self.stats.refactorizations += stats.refactorizations;
        self.stats.restarts += stats.restarts;
        self.stats.trace.extend(stats.trace);
        self.note(rung, ended);
    }

    /// When nothing settled the matter: a thin proof or a ray if there was one, else the best iterate.
    fn best(self, problem: ProblemRef<'_>) -> Outcome {
        let stats = self.stats;
        if let Some(proof) = self.proof {
            return Outcome::Unsolvable(Unsolvable { proof, stats });
        }
        if let Some(ray) = self.ray {
            return Outcome::Ray(Ray { stats, ..ray });
        }
        let zero = || stopped_at(problem, vec![0.0; problem.n()], StopReason::Uncertified, Stats::default());
        Outcome::Stopped(Stopped { stats, ..self.stopped.unwrap_or_else(zero) })
    }
}

impl Rung {
    fn name(self) -> &'static str {
        match self {
            Rung::Nnls => "nnls",
            Rung::Dantzig => "dantzig",
            Rung::Lemke => "lemke",
            Rung::InteriorPoint => "interior-point",
            Rung::Enumerate => "enumerate",
            Rung::Exact => "lemke in exact arithmetic",
        }
    }
}

//! The solver to reach for first: looks at the problem, picks a method, verifies, falls back, and says what it did.
//!
//! | problem | methods, in order |
//! |---|---|
//! | factored | active-set least squares, then as for a dense one |
//! | symmetric, positive semidefinite as far as 2 × 2 minors tell | Dantzig, then as below |
//! | order ≤ 12 | Lemke, enumeration of all bases |
//! | any other | Lemke, interior point with crossover, (order ≤ 120) branching over the pairs, (order ≤ 60) Lemke in exact arithmetic |
//!
//! The first certified solution, or the first proof that there is none, is the answer. A ray is turned into a proof where an exact
//! Farkas vector can be found. `stats.attempts` lists every method tried and how it ended.

#[cfg(feature = "exact")]
mod exactly;

use crate::basis::Basis;
use crate::branch::Branch;
use crate::dantzig::Dantzig;
#[cfg(feature = "exact")]
use crate::enumerate::Enumerate;
use crate::error::InputError;
use crate::exact;
use crate::finish::{Finish, stopped_at};
use crate::interior_point::InteriorPoint;
use crate::lemke::Lemke;
use crate::nnls::Nnls;
use crate::outcome::{Attempt, Outcome, Proof, Ray, Stats, StopReason, Stopped, Unsolvable};
use crate::problem::ProblemRef;
use crate::reduce::solve_reduced;
use crate::solver::{Options, Solver};
use crate::tolerances;

/// Order up to which all bases are enumerated when Lemke's method fails.
#[cfg(feature = "exact")]
const ENUMERATED_ORDER: usize = 12;
/// The driving method needs one or two pivots per row where it is the right one; beyond this Lemke takes over.
const DANTZIG_PIVOTS_PER_ROW: usize = 4;
/// Order up to which pairs are branched on.
const BRANCHED_ORDER: usize = 120;
/// Order up to which exact arithmetic is affordable.
#[cfg(feature = "exact")]
const EXACT_ORDER: usize = 60;

tolerances! {
    /// Tolerances of the choice.
    Tolerances {
        /// A symmetric matrix goes to the driving method first if no 2 × 2 minor is negative by more than this, relative to the product
        /// of its diagonal. Rounded Gram matrices have minors of a few ε; more or less only changes which method is asked first.
        minor_rounding = 1e-12,
    }
}

/// Picks a method by the problem. See the [module](self).
#[derive(Debug, Clone)]
pub struct Auto {
    options: Options,
    nnls: Nnls,
    dantzig: Dantzig,
    lemke: Lemke,
    interior_point: InteriorPoint,
    #[cfg(feature = "exact")]
    enumerate: Enumerate,
    finish: Finish,
}

/// A method of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Nnls,
    Dantzig,
    Lemke,
    InteriorPoint,
    #[cfg(feature = "exact")]
    Enumerate,
    #[cfg(feature = "exact")]
    Exact,
    Branch,
}

impl Auto {
    /// The automatic choice.
    pub fn new(options: Options) -> Self {
        Self {
            nnls: Nnls::new(options.clone()),
            dantzig: Dantzig::new(options.clone()),
            lemke: Lemke::new(options.clone()),
            interior_point: InteriorPoint::new(options.clone()),
            #[cfg(feature = "exact")]
            enumerate: Enumerate::new(options.clone()),
            finish: Finish::default(),
            options,
        }
    }

    /// Tries one method, with at most `flops` operations.
    fn attempt(
        &mut self,
        method: Method,
        problem: ProblemRef<'_>,
        start: Option<&Basis>,
        flops: u64,
    ) -> Result<Outcome, InputError> {
        match method {
            Method::Nnls => {
                self.nnls.limit_flops(flops);
                self.nnls.solve_from(problem, start)
            }
            Method::Dantzig => {
                let patience = DANTZIG_PIVOTS_PER_ROW * problem.n() + 20;
                self.dantzig.limit_pivots(Some(self.options.max_pivots.unwrap_or(patience).min(patience)));
                self.dantzig.limit_flops(flops);
                self.dantzig.solve_from(problem, start)
            }
            Method::Lemke => {
                self.lemke.limit_flops(flops);
                self.lemke.solve_from(problem, start)
            }
            Method::InteriorPoint => {
                self.interior_point.limit_flops(flops);
                self.interior_point.solve_from(problem, start)
            }
            #[cfg(feature = "exact")]
            Method::Enumerate => {
                self.enumerate.limit_flops(flops);
                self.enumerate.solve_from(problem, start)
            }
            #[cfg(feature = "exact")]
            Method::Exact => Ok(self.pivot_exactly(problem, start, flops)),
            Method::Branch => self.branch(problem, flops),
        }
    }

    /// Branching over the pairs, of the problem as an LCP.
    fn branch(&mut self, problem: ProblemRef<'_>, flops: u64) -> Result<Outcome, InputError> {
        let options = Options { max_flops: Some(flops), ..self.options.clone() };
        solve_reduced(problem, None, &options, &mut self.finish, |lcp, _| Branch::new(lcp, options.clone()).solve())
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
        let allowed = self.options.flops_allowed(problem.n());
        let mut tried = Tried::default();
        for method in methods(problem, &self.options.tolerances.auto) {
            crate::interrupt::check();
            if tried.stats.flops > allowed {
                return Ok(tried.spent(problem, allowed));
            }
            match self.attempt(method, problem, start, allowed - tried.stats.flops) {
                Ok(outcome) => {
                    if let Some(outcome) = tried.take(problem, method, outcome) {
                        return Ok(outcome);
                    }
                }
                Err(InputError::Unsupported { reason, .. }) => tried.note(method, reason),
                Err(error) => return Err(error),
            }
        }
        Ok(tried.best(problem))
    }
}

/// The methods for a problem, in order.
fn methods(problem: ProblemRef<'_>, tolerances: &Tolerances) -> Vec<Method> {
    let n = problem.n();
    let mut methods = Vec::new();
    if matches!(problem, ProblemRef::Factored(_)) {
        methods.push(Method::Nnls);
    }
    if suits_dantzig(problem, tolerances) {
        methods.push(Method::Dantzig);
    }
    methods.push(Method::Lemke);
    #[cfg(feature = "exact")]
    if n <= ENUMERATED_ORDER {
        methods.push(Method::Enumerate);
        return methods;
    }
    methods.push(Method::InteriorPoint);
    if n <= BRANCHED_ORDER {
        methods.push(Method::Branch);
    }
    #[cfg(feature = "exact")]
    if n <= EXACT_ORDER {
        methods.push(Method::Exact);
    }
    methods
}

/// Symmetric, and no 2 × 2 minor speaks against positive semidefinite: most likely it is, and the driving method finds out.
fn suits_dantzig(problem: ProblemRef<'_>, tolerances: &Tolerances) -> bool {
    let m = match problem {
        ProblemRef::Lcp(p) => p.m(),
        ProblemRef::Mlcp(p) => p.m(),
        ProblemRef::Box(p) => p.m(),
        ProblemRef::Factored(_) => return true,
    };
    let most = 1.0 + tolerances.minor_rounding;
    let bounded = |i: usize, j: usize| m[(i, j)] * m[(i, j)] <= m[(i, i)] * m[(j, j)] * most;
    (0..m.rows()).all(|j| m[(j, j)] >= 0.0 && (0..j).all(|i| m[(i, j)] == m[(j, i)] && bounded(i, j)))
}

/// What the methods so far have come to.
#[derive(Default)]
struct Tried {
    stats: Stats,
    /// A thin proof.
    proof: Option<Proof>,
    ray: Option<Ray>,
    stopped: Option<Stopped>,
}

impl Tried {
    fn note(&mut self, method: Method, ended: String) {
        self.stats.attempts.push(Attempt { solver: method.name(), ended });
    }

    /// Takes an outcome in; gives it back if it settles the matter.
    fn take(&mut self, problem: ProblemRef<'_>, method: Method, mut outcome: Outcome) -> Option<Outcome> {
        self.add(method, &mut outcome);
        match outcome {
            Outcome::Ray(ray) => {
                if let Some(y) = exact::find_farkas(problem, Some(&ray.direction)) {
                    self.note(method, "its ray was turned into an exact Farkas vector".into());
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
    fn add(&mut self, method: Method, outcome: &mut Outcome) {
        let ended = match &*outcome {
            Outcome::Stopped(s) => s.why.to_string(),
            Outcome::Unsolvable(u) => u.proof.to_string(),
            other => other.name().to_string(),
        };
        let stats = std::mem::take(outcome.stats_mut());
        self.stats.pivots += stats.pivots;
        self.stats.iterations += stats.iterations;
        self.stats.refactorizations += stats.refactorizations;
        self.stats.flops += stats.flops;
        self.stats.restarts += stats.restarts;
        self.stats.trace.extend(stats.trace);
        self.note(method, ended);
    }

    /// When the budget is used up before the last method was tried.
    fn spent(self, problem: ProblemRef<'_>, allowed: u64) -> Outcome {
        match self.best(problem) {
            Outcome::Stopped(stopped) => Outcome::Stopped(Stopped { why: StopReason::Budget(allowed), ..stopped }),
            other => other,
        }
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

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Nnls => "nnls",
            Method::Dantzig => "dantzig",
            Method::Lemke => "lemke",
            Method::InteriorPoint => "interior-point",
            #[cfg(feature = "exact")]
            Method::Enumerate => "enumerate",
            #[cfg(feature = "exact")]
            Method::Exact => "lemke in exact arithmetic",
            Method::Branch => "branching",
        }
    }
}

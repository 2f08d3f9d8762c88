//! Lemke's complementary pivot method.
//!
//! The problem is extended by an artificial variable, `w = M z + q + d z₀` with a covering vector d > 0. The path starts where
//! z₀ is just large enough for w ≥ 0 and follows almost complementary bases: the complement of the variable that left enters
//! next, until z₀ leaves (solved) or nothing blocks (a ray). Ties are broken lexicographically, so the path never cycles; z₀ is
//! preferred in every tie. Reference: [CPS09, Algorithms 4.4.1, 4.4.5 and §4.9], [Trinkle95, §4] for the restarts.
//!
//! Data are scaled first (exactly, see `scaling`); the basis is held as the inverse of its kernel
//! (`kernel`), O(k² + n k) per pivot with k basic z. The rows of the kernel give a check of every direction for
//! nothing: when they drift, the kernel is inverted anew. Orders up to about a hundred start in a tableau (`tableau`), O(n k) per pivot
//! in fewer and longer loops, and the kernel takes over at rays, small pivots and paths that do not move.
//!
//! With a warm start the method runs on the principal pivot transform of the given basis with d = 1 there; the basis of a
//! solution is recognised without a pivot.

mod kernel;
mod lanes;
mod path;
mod tableau;

use crate::basis::{Basis, Position};
use crate::error::InputError;
use crate::exact;
use crate::finish::{Finish, stopped_at};
use crate::generate::Rng;
use crate::outcome::{Attempt, Outcome, Proof, Ray, Solved, Stats, StopReason, Stopped, Unsolvable};
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::solve_reduced;
use crate::solver::{Options, Solver};
use crate::{tolerances, work};
use path::{Covering, Ended, Limits, Path, Start, Tuning};
use stiction_linalg::power::times_power;

/// Lemke's method. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct Lemke {
    options: Options,
    covering: Option<Vec<f64>>,
    restarts: usize,
    path: Path,
    finish: Finish,
    /// Of the problem before it was reduced to an LCP, and of a start basis.
    outer_finish: Finish,
}

tolerances! {
    /// Tolerances of Lemke's method, for data scaled to 1. Restarts have others, by fixed factors.
    Tolerances {
        /// A rate below this, relative to the direction's largest, is taken for zero: some ten thousand roundings, what an updated inverse
        /// loses. More misses variables that block and takes paths for rays; less pivots on rounding.
        pivot = 1e-11,
        /// Values that the step leaves below this, relative to the largest, are tied. Less breaks ties by rounding, more lets a path pass
        /// by the variable that blocks; the answer's own numbers come from its basis.
        tie = 1e-12,
        /// Tied variables whose rate is below this, relative to the largest tied one, do not leave: the soundest pivots are kept.
        tied_pivot = 1e-6,
        /// A direction whose rows have a larger residual than this, relative to itself, comes from a kernel inverted anew. More trusts a
        /// worse inverse, less inverts more often.
        drift = 1e-11,
        /// A pivot of the tableau below this, relative to its column, multiplies the errors of all others by as much: the kernel goes on,
        /// which checks its directions.
        tableau_pivot = 1e-6,
        /// When z₀ has fallen below this, relative to what it was when values were last computed from the data, they are computed again:
        /// rounding is relative to z₀ as it was.
        stale_values = 1e-3,
        /// Where no rate is above `pivot`, one is significant if it is this many times its last correction: then it is no ray.
        rate_correction = 1e3,
    }
}

/// Starts with other covering vectors after the first one failed; Trinkle et al. used ten starts in all.
const RESTARTS: usize = 9;
/// Pivots per row and start, unless the options set a limit; two are the rule.
const PIVOTS_PER_ROW: usize = 50;
/// Starts beyond a ray at most.
const TURNS: usize = 4;
/// Caps on q of the first restarts.
const CAPS: [f64; 2] = [1e4, 1e8];
/// Order up to which rays are turned into proofs by exact linear programming; `Auto` goes further.
const PROVEN_ORDER: usize = 12;
/// Paths from a basis that was nearly certified.
const REPAIRS: usize = 3;

impl Lemke {
    /// Lemke's method with covering vector 1 (in scaled units) and up to nine restarts.
    pub fn new(options: Options) -> Self {
        Self { options, restarts: RESTARTS, ..Self::default() }
    }

    /// Uses this covering vector (n, all positive) for the first start.
    #[must_use]
    pub fn with_covering(mut self, covering: Vec<f64>) -> Self {
        self.covering = Some(covering);
        self
    }

    /// Starts over with at most this many other covering vectors when a start fails; 0 gives the plain method, one path from z = 0
    /// or from the start basis. Default 9.
    #[must_use]
    pub fn with_restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Stops after this many floating-point operations from now on.
    pub(crate) fn limit_flops(&mut self, max_flops: u64) {
        self.options.max_flops = Some(max_flops);
    }

    fn solve_lcp(&mut self, lcp: &Lcp, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.check(lcp)?;
        let problem = ProblemRef::Lcp(lcp);
        let mut stats = Stats::default();
        let mut best = None;
        let trivial = lcp.q().iter().all(|q| *q >= 0.0).then(|| Basis::lower(lcp.n()));
        if let Some(basis) = trivial {
            let outcome = self.finish.outcome(problem, basis, &self.options, Stats::default());
            if outcome.solved().is_some() {
                return Ok(outcome);
            }
        }
        let start = start.filter(|basis| basis.positions().iter().all(|p| *p != Position::Upper));
        let mut ray: Option<Vec<f64>> = None;
        let mut proof = None;
        let mut spent = false;
        self.path.load(lcp);
        for plan in self.plans(start.is_some()) {
            crate::interrupt::check();
            if plan.rescale {
                self.path.rescale(lcp, plan.cap);
            }
            let beyond = match plan.start {
                Beginning::BeyondRay(turn) => match ray.as_deref().and_then(|ray| beyond_ray(lcp, ray, turn)) {
                    Some(basis) => Some(basis),
                    None => continue,
                },
                Beginning::AnyBasis(seed) => Some(any_basis(lcp.n(), seed)),
                _ => None,
            };
            let ended = self.run(&plan, beyond.as_ref().or(start), &mut stats);
            match ended {
                Ended::Solved => {
                    let outcome = self.certified(lcp, &mut stats);
                    if outcome.solved().is_some() {
                        return Ok(outcome);
                    }
                    note(&mut stats, "basis without certificate");
                    keep_better(&mut best, outcome);
                }
                Ended::Ray => {
                    note(&mut stats, "ray");
                    let direction = self.ray_direction();
                    if exact::check_farkas(lcp, &direction) {
                        let found = Proof::Farkas(direction);
                        if !found.is_thin(lcp.q()) {
                            return Ok(Outcome::Unsolvable(Unsolvable { proof: found, stats }));
                        }
                        proof.get_or_insert(found);
                    } else {
                        ray.get_or_insert(direction);
                    }
                }
                Ended::Limit => note(&mut stats, "pivot limit"),
                Ended::Budget => {
                    note(&mut stats, "budget of work");
                    spent = true;
                    break;
                }
                Ended::Singular => note(&mut stats, "basis lost to rounding"),
            }
            stats.restarts += 1;
        }
        stats.restarts = stats.restarts.saturating_sub(1);
        if proof.is_none() && lcp.n() <= PROVEN_ORDER {
            proof = ray.as_deref().and_then(|ray| exact::find_farkas(lcp, Some(ray))).map(Proof::Farkas);
        }
        if let Some(proof) = proof {
            return Ok(Outcome::Unsolvable(Unsolvable { proof, stats }));
        }
        Ok(self.failed(lcp, best, ray, spent, stats))
    }

    fn check(&self, lcp: &Lcp) -> Result<(), InputError> {
        self.options.check()?;
        let Some(d) = &self.covering else { return Ok(()) };
        if d.len() != lcp.n() {
            let found = d.len();
            return Err(InputError::Size { what: "covering vector".into(), expected: lcp.n(), found });
        }
        match d.iter().position(|x| !(*x > 0.0 && x.is_finite())) {
            None => Ok(()),
            Some(i) => {
                let reason = format!("entry {i} must be positive and finite, found {}", d[i]);
                Err(InputError::Option { name: "covering", reason })
            }
        }
    }

    /// The starts to try, in order.
    fn plans(&self, warm: bool) -> impl Iterator<Item = Plan> + use<> {
        let (restarts, tolerances) = (self.restarts, self.options.tolerances.lemke);
        let first = Tuning::first(tolerances);
        let plan = move |start, tuning, rescale, cap| Plan { start, tuning, rescale, cap };
        let warm_plan = warm.then(|| plan(Beginning::Basis, first, false, None));
        let cold = (!warm || restarts > 0).then(|| plan(Beginning::Zero, first, false, None));
        let turns = if restarts > 0 { TURNS } else { 0 };
        let beyond = (0..turns).map(move |turn| plan(Beginning::BeyondRay(turn), first, false, None));
        let others = (0..restarts).map(move |k| {
            let start = match k {
                0 => Beginning::ZeroWithOnes,
                k if k % 2 == 1 => Beginning::ZeroAtRandom(k as u64),
                k => Beginning::AnyBasis(k as u64),
            };
            plan(start, Tuning::restart(tolerances, k), true, CAPS.get(k).copied())
        });
        warm_plan.into_iter().chain(cold).chain(beyond).chain(others)
    }

    fn run(&mut self, plan: &Plan, basis: Option<&Basis>, stats: &mut Stats) -> Ended {
        self.path.tuning = plan.tuning;
        self.path.trace = self.options.trace;
        self.path.set_covering(match (plan.start, self.covering.as_deref()) {
            (Beginning::Zero, Some(given)) => Covering::Given(given),
            (Beginning::ZeroAtRandom(seed), _) => Covering::Random(seed),
            _ => Covering::Ones,
        });
        let start = match (plan.start, basis) {
            (Beginning::Basis | Beginning::BeyondRay(_) | Beginning::AnyBasis(_), Some(basis)) => Start::Warm(basis),
            _ => Start::Cold,
        };
        self.path.follow(start, self.limits(stats), stats)
    }

    /// The limit on pivots is of all starts together if the options set one, else of each; that on work is of all.
    fn limits(&self, stats: &Stats) -> Limits {
        let n = self.path.order();
        let pivots = match self.options.max_pivots {
            Some(limit) => limit.saturating_sub(stats.pivots),
            None => PIVOTS_PER_ROW * n + 100,
        };
        Limits { pivots, flops: self.options.flops_allowed(n) }
    }

    /// The basis the path ended on, solved and certified on the original data. Where it is not certified, a path from this very basis
    /// follows: rounding has led astray in a few rows, and few pivots mend them.
    fn certified(&mut self, lcp: &Lcp, stats: &mut Stats) -> Outcome {
        let mut basis = self.path.basis();
        let k = basis.active().count();
        stats.flops += work::product(k, 4 * k) + work::product(lcp.n(), k);
        let by_path = |active: &[usize], step: &mut [f64]| self.path.solve_basis(active, step);
        if let Some(solved) = self.finish.solved_with(ProblemRef::Lcp(lcp), &basis, &self.options, by_path) {
            return Outcome::Solved(Solved { stats: std::mem::take(stats), ..solved });
        }
        for _ in 0..REPAIRS {
            let outcome = self.finish.outcome(ProblemRef::Lcp(lcp), basis.clone(), &self.options, stats.clone());
            if outcome.solved().is_some() {
                return outcome;
            }
            stats.flops = outcome.stats().flops;
            if self.path.follow(Start::Warm(&basis), self.limits(stats), stats) != Ended::Solved {
                return outcome;
            }
            basis = self.path.basis();
        }
        self.finish.outcome(ProblemRef::Lcp(lcp), basis, &self.options, stats.clone())
    }

    /// The ray in units of the original problem.
    fn ray_direction(&self) -> Vec<f64> {
        self.path.ray().iter().zip(self.path.column_exponents()).map(|(x, e)| times_power(*x, *e)).collect()
    }

    fn failed(&self, lcp: &Lcp, best: Option<Stopped>, ray: Option<Vec<f64>>, spent: bool, stats: Stats) -> Outcome {
        let budget = StopReason::Budget(self.options.flops_allowed(lcp.n()));
        if spent {
            let z = best.map_or_else(|| vec![0.0; lcp.n()], |best| best.z);
            return Outcome::Stopped(stopped_at(ProblemRef::Lcp(lcp), z, budget, stats));
        }
        if let Some(direction) = ray {
            let claim = "no start was solved, and Lemke's path ended on a ray: for copositive-plus matrices this means that no solution \
                         exists; nothing was verified here"
                .to_string();
            return Outcome::Ray(Ray { direction, claim, stats });
        }
        let zero = || {
            let why = StopReason::Limit(stats.pivots);
            stopped_at(ProblemRef::Lcp(lcp), vec![0.0; lcp.n()], why, Stats::default())
        };
        let best = best.unwrap_or_else(zero);
        Outcome::Stopped(Stopped { stats, ..best })
    }
}

impl Solver for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let (options, mut finish) = (self.options.clone(), std::mem::take(&mut self.outer_finish));
        let outcome = solve_reduced(problem, start, &options, &mut finish, |lcp, start| self.solve_lcp(lcp, start));
        self.outer_finish = finish;
        outcome
    }
}

/// One start of the method.
#[derive(Debug, Clone, Copy)]
struct Plan {
    start: Beginning,
    tuning: Tuning,
    rescale: bool,
    /// See [`Path::rescale`].
    cap: Option<f64>,
}

/// Where a start begins, and with which covering vector.
#[derive(Debug, Clone, Copy)]
enum Beginning {
    /// The start basis.
    Basis,
    /// The basis that [`beyond_ray`] finds in this turn, if a start before ended on a ray.
    BeyondRay(usize),
    /// A random basis from this seed: paths differ more by where they begin than by their covering vectors.
    AnyBasis(u64),
    /// z = 0, the given covering vector or 1.
    Zero,
    /// z = 0, covering vector 1.
    ZeroWithOnes,
    /// z = 0, a random covering vector from this seed.
    ZeroAtRandom(u64),
}

/// A basis of two variables to start from after a ray: the variable r that grows most along it (in later turns another one), and the
/// row s that binds as zᵣ alone grows from 0 until all rows which it can raise are non-negative.
///
/// From z = 0 every path of a bimatrix game, M = [0 A; Bᵀ 0] with q < 0, ends at once on such a ray: the first driving variable
/// has nothing on its diagonal, so it does not lower z₀. Beyond it, at a pair of pure strategies, the path is one that
/// the games' theory knows to end. Reference: [CPS09, §4.4 (bimatrix games)], \[LemkeHowson64\].
fn beyond_ray(lcp: &Lcp, ray: &[f64], turn: usize) -> Option<Basis> {
    let (m, q) = (lcp.m(), lcp.q());
    let r = (0..lcp.n()).reduce(|best, j| if ray[j] > ray[best] { j } else { best })?;
    let r = (r + turn * (lcp.n() / TURNS + 1)) % lcp.n();
    let binds = |s: usize| -q[s] / m[(s, r)];
    let regular = |s: usize| m[(s, r)] > 0.0 && m[(r, s)] != 0.0 && m[(r, r)] * m[(s, s)] != m[(r, s)] * m[(s, r)];
    let rows = (0..lcp.n()).filter(|s| *s != r && regular(*s));
    let s = rows.reduce(|best, s| if binds(s) > binds(best) { s } else { best })?;
    Some(Basis::from_active(lcp.n(), [r, s]))
}

/// A basis with every other variable or so.
fn any_basis(n: usize, seed: u64) -> Basis {
    let mut rng = Rng::new(seed);
    Basis::from_active(n, (0..n).filter(|_| rng.chance(0.5)))
}

fn note(stats: &mut Stats, ended: &str) {
    stats.attempts.push(Attempt { solver: "lemke", ended: ended.into() });
}

fn keep_better(best: &mut Option<Stopped>, outcome: Outcome) {
    if let Outcome::Stopped(stopped) = outcome
        && best.as_ref().is_none_or(|b| stopped.certificate.worst() < b.certificate.worst())
    {
        *best = Some(stopped);
    }
}

//! The search for the modes: proximal points with a falling α, from several starts.

use super::gauss_seidel;
use super::law::State;
use super::newton::{End, Newton, Proximal, size};
use super::problem::{Block, ConeProblem};

/// α below which a step of a proximal point is lost in the rounding of W.
const LEAST_ALPHA: f64 = 1e-10;
/// α above which proximal points no longer move.
const LARGEST_ALPHA: f64 = 1e3;
/// α of the next point after one that was found at once (in at most [`AT_ONCE`] steps), and after one that was not, relative to the last.
const FALLS: [f64; 2] = [0.01, 0.1];
/// Newton steps of a point found at once.
const AT_ONCE: usize = 4;
/// α after a point that was not found, relative to the last.
const RISE: f64 = 5.0;
/// Tolerance of a proximal problem, dimensionless: about the rounding of W r.
const INNER: f64 = 1e-13;
/// Newton steps per proximal problem.
const INNER_LIMIT: usize = 40;
/// Gauss–Seidel sweeps where Newton's method does not find a point: they cost about what one of its steps costs.
const SWEEPS: usize = 50;
/// |F|, relative to q and r, from which on states that stay the same are worth solving for.
const SETTLED: f64 = 1e-3;
/// |F|, relative to q and r, from which on any states are.
const CLOSE: f64 = 1e-8;
/// States that failed are tried again when α has fallen by this.
const AGAIN: f64 = 0.01;
/// Most points per start.
const POINTS: usize = 200;
/// α near a known solution.
const NEAR: f64 = 1e-6;

/// α below which Gauss–Seidel does not get anywhere.
const FINE: f64 = 1e-6;

/// Newton steps spent on making a certified answer exact to rounding.
const FURTHER: usize = 30;

/// One start of the search.
struct Start {
    /// α of the first point.
    alpha: f64,
    /// Gauss–Seidel sweeps before it.
    sweeps: usize,
    /// Most Newton steps.
    budget: usize,
}

/// The starts, each from r = 0: the one that nearly always does, then others, each with more patience.
const STARTS: [Start; 6] = [
    Start { alpha: 1e-2, sweeps: 0, budget: 2000 },
    Start { alpha: 1.0, sweeps: 0, budget: 300 },
    Start { alpha: 1e-3, sweeps: 100, budget: 300 },
    Start { alpha: 1e-1, sweeps: 1000, budget: 500 },
    Start { alpha: 1e-5, sweeps: 20, budget: 500 },
    Start { alpha: 10.0, sweeps: 0, budget: 2000 },
];

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchEnd {
    /// Accepted, or not worth going on.
    Ended,
    /// All starts were tried.
    Exhausted,
    /// The limit of iterations.
    Limit,
}

/// What is to be done after an offer of impulses and states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// That was it.
    Stop,
    /// Certified, but not exact to rounding: look a little further.
    Enough,
    /// Search on.
    GoOn,
}

/// Judges impulses and states.
pub(crate) type Judge<'a> = dyn FnMut(&ConeProblem, &[f64], &[State]) -> Verdict + 'a;

/// Workspace of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    r: Vec<f64>,
    centre: Vec<f64>,
    finished: Vec<f64>,
    u: Vec<f64>,
    states: Vec<State>,
    /// States of the last point.
    last: Vec<State>,
    /// States last solved for, and α then.
    tried: (Vec<State>, f64),
}

impl Search {
    fn reset(&mut self, problem: &ConeProblem) {
        for v in [&mut self.r, &mut self.centre, &mut self.finished, &mut self.u] {
            v.clear();
            v.resize(problem.n(), 0.0);
        }
        self.last.clear();
        self.tried.0.clear();
    }

    /// Tries the states of an earlier solution, solving their system from its impulses `near` where these are given (scaled).
    pub(super) fn guess(
        &mut self,
        problem: &ConeProblem,
        newton: &mut Newton,
        states: &[State],
        near: Option<&[f64]>,
        judge: &mut Judge<'_>,
    ) -> Verdict {
        self.reset(problem);
        if let Some(near) = near {
            self.r.copy_from_slice(near);
        }
        self.states.clear();
        self.states.extend_from_slice(states);
        self.finish(problem, newton, judge)
    }

    /// Searches near the guess if there was one, then from every start in turn, until the judge says stop.
    pub(super) fn run(
        &mut self,
        problem: &ConeProblem,
        newton: &mut Newton,
        guessed: bool,
        limit: usize,
        starts: &mut usize,
        judge: &mut Judge<'_>,
    ) -> SearchEnd {
        if guessed && self.run_near(problem, newton, limit, judge) == Verdict::Stop {
            return SearchEnd::Ended;
        }
        for start in &STARTS {
            if newton.iterations >= limit {
                return SearchEnd::Limit;
            }
            *starts += 1;
            self.reset(problem);
            let free = Proximal { alpha: 0.0, centre: &self.centre };
            gauss_seidel::sweep(problem, free, start.sweeps, &mut self.r, &mut self.u);
            if self.points(problem, newton, start, limit, judge) == Verdict::Stop {
                return SearchEnd::Ended;
            }
        }
        SearchEnd::Exhausted
    }

    /// Searches near the guess alone.
    pub(super) fn run_near(
        &mut self,
        problem: &ConeProblem,
        newton: &mut Newton,
        limit: usize,
        judge: &mut Judge<'_>,
    ) -> Verdict {
        self.r.copy_from_slice(&self.finished);
        let start = Start { alpha: NEAR, sweeps: 0, budget: INNER_LIMIT };
        self.points(problem, newton, &start, limit, judge)
    }

    /// Proximal points from `r`: solve at c = r; move c there and lower α, or raise it; solve the system of states that have settled.
    fn points(
        &mut self,
        problem: &ConeProblem,
        newton: &mut Newton,
        start: &Start,
        limit: usize,
        judge: &mut Judge<'_>,
    ) -> Verdict {
        let mut last = newton.iterations.saturating_add(start.budget).min(limit);
        let (mut alpha, mut enough) = (start.alpha, false);
        for _ in 0..POINTS {
            stiction_lcp::interrupt::check();
            let before = newton.iterations;
            if self.point(problem, newton, alpha) {
                if self.have_settled(problem, newton, alpha) {
                    match self.finish(problem, newton, judge) {
                        Verdict::Stop => return Verdict::Stop,
                        Verdict::Enough if !enough => {
                            enough = true;
                            last = last.min(newton.iterations + FURTHER);
                        }
                        _ => {}
                    }
                }
                alpha = (alpha * FALLS[usize::from(newton.iterations - before > AT_ONCE)]).max(LEAST_ALPHA);
            } else {
                alpha *= RISE;
            }
            if newton.iterations >= last || alpha > LARGEST_ALPHA {
                break;
            }
        }
        newton.residual(problem, &self.r);
        match judge(problem, &self.r, &newton.states) {
            Verdict::GoOn if !enough => Verdict::GoOn,
            _ => Verdict::Stop,
        }
    }

    /// The proximal point of `r`; where it is not found, r stays and false is returned.
    fn point(&mut self, problem: &ConeProblem, newton: &mut Newton, alpha: f64) -> bool {
        self.centre.copy_from_slice(&self.r);
        let proximal = Proximal { alpha, centre: &self.centre };
        if newton.solve(problem, proximal, &mut self.r, INNER, INNER_LIMIT) == End::Converged {
            return true;
        }
        self.r.copy_from_slice(&self.centre);
        if alpha < FINE {
            return false;
        }
        gauss_seidel::sweep(problem, proximal, SWEEPS, &mut self.r, &mut self.u);
        if newton.solve(problem, proximal, &mut self.r, INNER, INNER_LIMIT) == End::Converged {
            return true;
        }
        self.r.copy_from_slice(&self.centre);
        false
    }

    /// True if the states at `r` are worth solving for; they are in `states` then.
    fn have_settled(&mut self, problem: &ConeProblem, newton: &mut Newton, alpha: f64) -> bool {
        let (error, size) = (newton.residual(problem, &self.r), size(problem, &self.r));
        let same = self.last == newton.states;
        self.last.clone_from(&newton.states);
        let new = self.tried.0 != newton.states || alpha <= AGAIN * self.tried.1;
        if !new || !(error <= CLOSE * size || (same && error <= SETTLED * size)) {
            return false;
        }
        self.tried.0.clone_from(&newton.states);
        self.tried.1 = alpha;
        self.states.clone_from(&newton.states);
        true
    }

    /// Solves the system of `states` from `r` and offers the result.
    fn finish(&mut self, problem: &ConeProblem, newton: &mut Newton, judge: &mut Judge<'_>) -> Verdict {
        self.finished.copy_from_slice(&self.r);
        newton.finish(problem, &self.states, &mut self.finished);
        make_admissible(problem, &mut self.finished);
        judge(problem, &self.finished, &self.states)
    }
}

/// Moves impulses that rounding left outside their bounds back onto them.
fn make_admissible(problem: &ConeProblem, r: &mut [f64]) {
    for (b, &block) in problem.blocks.iter().enumerate() {
        let r = &mut r[problem.rows(b)];
        match block {
            Block::Coulomb { mu, .. } => {
                r[0] = r[0].max(0.0);
                let (length, radius) = (r[1..].iter().map(|x| x * x).sum::<f64>().sqrt(), mu * r[0]);
                if length > radius {
                    r[1..].iter_mut().for_each(|x| *x *= radius / length);
                }
            }
            Block::Signorini | Block::NoSlip { .. } => r[0] = r[0].max(0.0),
            Block::Bounded { lo, hi } => r[0] = r[0].max(lo).min(hi),
            Block::Free => {}
        }
    }
}

//! The search for the states: those of an earlier solution first, then proximal points with a falling α.

use super::super::island::MARGIN;
use super::super::law::State;
use super::super::problem::Block;
use super::elements::Elements;
use super::newton::{End, Newton};

/// α below which a proximal point is lost in rounding.
const LEAST_ALPHA: f64 = 1e-9;
/// α above which proximal points no longer move.
const LARGEST_ALPHA: f64 = 1e3;
/// α of the next point after one that was found at once (in at most [`AT_ONCE`] steps), and after one that was not, relative to the last.
const FALLS: [f64; 2] = [0.01, 0.1];
/// Newton steps of a point found at once.
const AT_ONCE: usize = 4;
/// α after a point that was not found, relative to the last.
const RISE: f64 = 5.0;
/// Tolerance of a proximal problem.
const INNER: f64 = 1e-12;
/// Newton steps per proximal problem.
const INNER_LIMIT: usize = 40;
/// Residual from which on states that stay the same are worth solving for.
const SETTLED: f64 = 1e-3;
/// Residual from which on any states are.
const CLOSE: f64 = 1e-8;
/// States that failed are tried again when α has fallen by this.
const AGAIN: f64 = 0.01;
/// Most points per start.
const POINTS: usize = 60;

/// Times that forces are pulled inside their cones.
const SPREADINGS: usize = 6;
/// A time that leaves more than this of the error was in vain.
const SPREADS: f64 = 1.0;

/// Where a run of proximal points starts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Start {
    /// α of the first point.
    alpha: f64,
    /// From what the guess left, or from no forces.
    near: bool,
    /// Most Newton steps.
    budget: usize,
}

/// The starts: close to the guess, then from nothing.
const STARTS: [Start; 4] = [
    Start { alpha: 1e-6, near: true, budget: 40 },
    Start { alpha: 1e-2, near: false, budget: 300 },
    Start { alpha: 1.0, near: false, budget: 200 },
    Start { alpha: 1e-4, near: false, budget: 200 },
];

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The states given were right.
    Guessed,
    /// Others were.
    Searched,
    /// None were found; the best forces are left.
    Nothing,
}

/// Workspace of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    best_v: Vec<f64>,
    best_p: Vec<[f64; 3]>,
    best_error: f64,
    point_v: Vec<f64>,
    point_p: Vec<[f64; 3]>,
    last: Vec<State>,
    tried: Vec<State>,
    tried_alpha: f64,
}

impl Search {
    /// Forgets what was found.
    pub fn reset(&mut self) {
        self.best_error = f64::INFINITY;
    }

    /// Solves the system of the states in `newton`. Where forces leave their cones though all contacts stick or are open, a redundant support may have room: pull them inside and solve for the
    /// least change again, with the same factor. True if the error comes down to `enough`.
    pub fn try_spreading(&mut self, el: &Elements, newton: &mut Newton, enough: f64) -> bool {
        newton.finish(el);
        let mut error = self.offer(el, newton);
        for _ in 0..SPREADINGS {
            stiction_lcp::interrupt::check();
            if error <= enough || newton.states.contains(&State::Slide) || !newton.pull_inside(el) {
                break;
            }
            newton.finish_again(el);
            let next = self.offer(el, newton);
            if next > enough && next > SPREADS * error {
                break;
            }
            error = next;
        }
        error <= enough
    }

    /// Searches from what is in `newton`, then from nothing, for an error of `enough` at most. The answer, or the best found, is left there.
    pub fn run(&mut self, el: &Elements, newton: &mut Newton, enough: f64, limit: usize) -> Found {
        let found = STARTS.iter().any(|start| self.points(el, newton, start, enough, limit));
        if self.best_error == f64::INFINITY {
            // Nothing could be measured: numbers overflowed.
            newton.set_free(el);
            return Found::Nothing;
        }
        newton.v.clone_from(&self.best_v);
        newton.p.clone_from(&self.best_p);
        // What is not as good as wanted may still be good enough for the certificate.
        if found || self.best_error <= enough / MARGIN { Found::Searched } else { Found::Nothing }
    }

    /// Proximal points: solve at the centre, move it there and lower α, or raise it; solve the system of states that have settled. True when an answer is good enough.
    fn points(&mut self, el: &Elements, newton: &mut Newton, start: &Start, enough: f64, limit: usize) -> bool {
        if !start.near {
            newton.set_free(el);
        }
        self.last.clear();
        self.tried.clear();
        let last = newton.iterations.saturating_add(start.budget).min(limit);
        let mut alpha = start.alpha;
        for _ in 0..POINTS {
            stiction_lcp::interrupt::check();
            let before = newton.iterations;
            if self.point(el, newton, alpha) {
                if self.have_settled(el, newton, alpha) && self.finish(el, newton) <= enough {
                    return true;
                }
                alpha = (alpha * FALLS[usize::from(newton.iterations - before > AT_ONCE)]).max(LEAST_ALPHA);
            } else {
                alpha *= RISE;
            }
            if newton.iterations >= last || alpha > LARGEST_ALPHA {
                break;
            }
        }
        false
    }

    /// The proximal point of the forces there are; where it is not found they stay, and false is returned.
    fn point(&mut self, el: &Elements, newton: &mut Newton, alpha: f64) -> bool {
        self.keep_point(newton);
        newton.centre.copy_from_slice(&newton.p);
        if newton.solve(el, alpha, INNER, INNER_LIMIT) == End::Converged {
            return true;
        }
        self.take_point(newton);
        false
    }

    fn keep_point(&mut self, newton: &Newton) {
        self.point_v.clone_from(&newton.v);
        self.point_p.clone_from(&newton.p);
    }

    fn take_point(&self, newton: &mut Newton) {
        newton.v.copy_from_slice(&self.point_v);
        newton.p.copy_from_slice(&self.point_p);
    }

    /// True if the states are worth solving for.
    fn have_settled(&mut self, el: &Elements, newton: &mut Newton, alpha: f64) -> bool {
        let (residual, size) = (newton.residual(el), newton.size(el));
        let same = self.last == newton.states;
        self.last.clone_from(&newton.states);
        let new = self.tried != newton.states || alpha <= AGAIN * self.tried_alpha;
        if !new || !(residual <= CLOSE * size || (same && residual <= SETTLED * size)) {
            return false;
        }
        self.tried.clone_from(&newton.states);
        self.tried_alpha = alpha;
        true
    }

    /// Solves the system of the states and offers the result; the point stays where it was. Returns the error.
    fn finish(&mut self, el: &Elements, newton: &mut Newton) -> f64 {
        self.keep_point(newton);
        newton.finish(el);
        let error = self.offer(el, newton);
        self.take_point(newton);
        error
    }

    /// Measures the forces and velocities, and keeps them if they are the best so far.
    fn offer(&mut self, el: &Elements, newton: &mut Newton) -> f64 {
        let error = newton.error(el);
        if error < self.best_error {
            make_admissible(el, newton);
            self.best_error = error;
            self.best_v.clone_from(&newton.v);
            self.best_p.clone_from(&newton.p);
        }
        error
    }
}

/// Moves forces that rounding left outside their bounds back onto them.
fn make_admissible(el: &Elements, newton: &mut Newton) {
    let mut normal = 0.0;
    for (element, p) in el.list.iter().zip(&mut newton.p) {
        match element.law_beside(normal) {
            Block::Coulomb { mu, .. } => {
                p[0] = p[0].max(0.0);
                let (length, radius) = ((p[1] * p[1] + p[2] * p[2]).sqrt(), mu * p[0]);
                if length > radius {
                    p[1] *= radius / length;
                    p[2] *= radius / length;
                }
            }
            Block::Signorini | Block::NoSlip { .. } => p[0] = p[0].max(0.0),
            Block::Bounded { lo, hi } => p[0] = p[0].max(lo).min(hi),
            Block::Free => {}
        }
        normal = p[0];
    }
}

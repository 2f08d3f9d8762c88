//! States of contacts with μ = ∞ that neither hold nor part: sliding in the limit of Coulomb's law, without a normal force.
//!
//! The law with μ = ∞ has no neighbourhood of such a state in which Newton's method would see it: a contact is pressed and holds, or parts. With a large
//! finite coefficient it slides with a small normal force. So the problem is solved with a finite one, and the system of the states found
//! there is solved in the limit.

use super::law::{self, State, Steps};
use super::newton::{Newton, Proximal, size, velocities};
use super::problem::{Block, ConeProblem};
use super::proximal::{Judge, Search, Verdict};

/// Finite coefficients that stand in for infinite ones, one after the other.
const SUBSTITUTES: [f64; 5] = [1e1, 1e2, 1e4, 1e6, 1e8];

/// Finite coefficients that stand in for infinite ones, ever larger: what contacts do changes on the
/// way, and the answer with one is a start for the next only if that is near enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Substitutes {
    /// The last one with an answer.
    solved: Option<f64>,
    /// The next one, beside the last.
    ratio: f64,
    /// The next one.
    next: f64,
    /// How many more may be tried.
    left: usize,
}

impl Substitutes {
    const FIRST: f64 = 1e1;
    /// A contact that slides with this one has a normal force that is rounding beside its friction.
    const LAST: f64 = 1e13;
    const LARGEST_RATIO: f64 = 1e2;
    const LEAST_RATIO: f64 = 1.1;
    /// A ratio that led to an answer is raised to this power for the next one; one that did not, to
    /// its square root.
    const GROWTH: f64 = 1.25;
    const MOST: usize = 80;

    pub fn new() -> Self {
        Self { solved: None, ratio: Self::LARGEST_RATIO, next: Self::FIRST, left: Self::MOST }
    }

    /// The coefficient to try now; `None` where there is no further one.
    pub fn take(&mut self) -> Option<f64> {
        let ends = self.left == 0 || self.next > Self::LAST || self.ratio < Self::LEAST_RATIO;
        self.left = self.left.saturating_sub(1);
        (!ends).then_some(self.next)
    }

    /// Whether the coefficient that was taken led to an answer.
    pub fn report(&mut self, found: bool) {
        if found {
            self.solved = Some(self.next);
            self.ratio = libm::pow(self.ratio, Self::GROWTH).min(Self::LARGEST_RATIO);
        } else if self.solved.is_some() {
            self.ratio = self.ratio.sqrt();
        }
        self.next = self.solved.unwrap_or(self.next) * self.ratio;
    }
}

/// Residual of the laws, relative to the size of the problem, at which the states are believed.
const FOUND: f64 = 1e-11;

/// Solves the problem with finite coefficients in place of infinite ones, then the system of the states found there without them, until the judge
/// is content; true if it is. `limits` are the systems of each solve and of all of them.
pub(super) fn search(
    problem: &mut ConeProblem,
    newton: &mut Newton,
    search: &mut Search,
    (limit, mut left): (usize, usize),
    judge: &mut Judge<'_>,
) -> bool {
    let without_limit = |block: &Block| matches!(block, Block::Coulomb { mu, .. } if mu.is_infinite());
    if !problem.blocks.iter().any(without_limit) {
        return false;
    }
    let blocks = problem.blocks.clone();
    let (mut r, mut states, mut starts) = (vec![], vec![], 0);
    let mut known = false;
    for substitute in SUBSTITUTES {
        for block in problem.blocks.iter_mut().filter(|block| without_limit(block)) {
            if let Block::Coulomb { mu, .. } = block {
                *mu = substitute;
            }
        }
        // The answer with the last coefficient is close to that with this one.
        let near = known.then(|| (states.clone(), r.clone()));
        let mut found = false;
        let mut keep = |problem: &ConeProblem, at: &[f64], on: &[State]| {
            if residual(problem, at) > FOUND * size(problem, at) {
                return Verdict::GoOn;
            }
            r.clear();
            r.extend_from_slice(at);
            states.clear();
            states.extend_from_slice(on);
            found = true;
            Verdict::Stop
        };
        newton.iterations = 0;
        let mut guessed = Verdict::GoOn;
        if let Some((states, r)) = &near {
            guessed = search.guess(problem, newton, states, Some(r), &mut keep);
        }
        if guessed == Verdict::GoOn {
            search.run(problem, newton, near.is_some(), limit.min(left), &mut starts, &mut keep);
        }
        left = left.saturating_sub(newton.iterations);
        known |= found;
        problem.blocks.clone_from(&blocks);
        if found && search.guess(problem, newton, &states, Some(&r), judge) != Verdict::GoOn {
            return true;
        }
    }
    false
}

/// |F| of the laws at impulses `r`.
fn residual(problem: &ConeProblem, r: &[f64]) -> f64 {
    let mut u = vec![0.0; r.len()];
    velocities(problem, Proximal { alpha: 0.0, centre: r }, r, &mut u);
    let mut f = [0.0; 3];
    let mut sum = 0.0;
    for (b, &block) in problem.blocks.iter().enumerate() {
        let rows = problem.rows(b);
        let f = &mut f[..rows.len()];
        law::evaluate(block, None, Steps { normal: 1.0, tangential: 1.0 }, &r[rows.clone()], &u[rows], f);
        sum += f.iter().map(|f| f * f).sum::<f64>();
    }
    sum.sqrt()
}

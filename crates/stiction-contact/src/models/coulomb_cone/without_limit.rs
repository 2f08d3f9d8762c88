//! States of contacts with μ = ∞ that neither hold nor part: sliding in the limit of Coulomb's law, without a normal force.
//!
//! The law with μ = ∞ has no neighbourhood of such a state in which Newton's method would see it: a contact is pressed and holds, or parts. With a large
//! finite coefficient it slides with a small normal force. So the problem is solved with a finite one, and the system of the states found
//! there is solved in the limit.

use super::FEW_CONTACTS;
use super::law::{self, State, Steps};
use super::newton::{Newton, Proximal, size, velocities};
use super::problem::{Block, ConeProblem};
use super::proximal::{Judge, Search, Verdict};
use super::velocity_space::DelassusSpace;

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

    pub(super) fn new() -> Self {
        Self { solved: None, ratio: Self::LARGEST_RATIO, next: Self::FIRST, left: Self::MOST }
    }

    /// The coefficient to try now; `None` where there is no further one.
    pub(super) fn take(&mut self) -> Option<f64> {
        let ends = self.left == 0 || self.next > Self::LAST || self.ratio < Self::LEAST_RATIO;
        self.left = self.left.saturating_sub(1);
        (!ends).then_some(self.next)
    }

    /// Whether the coefficient that was taken led to an answer.
    pub(super) fn report(&mut self, found: bool) {
        if found {
            self.solved = Some(self.next);
            self.ratio = libm::pow(self.ratio, Self::GROWTH).min(Self::LARGEST_RATIO);
        } else if self.solved.is_some() {
            self.ratio = self.ratio.sqrt();
        }
        self.next = self.solved.unwrap_or(self.next) * self.ratio;
    }
}

/// Error of the laws, relative to the size of the problem, at which the states are believed.
const FOUND: f64 = 1e-11;

/// Contacts up to which the system of their states in the limit, which is dense, is solved: about
/// 5e8 multiplications each time.
const MOST_DENSE: usize = 300;

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

/// An answer with finite coefficients.
struct Answer {
    /// The coefficient that stood in for infinite ones.
    most: f64,
    /// Impulses, scaled.
    r: Vec<f64>,
    states: Vec<State>,
}

impl Answer {
    /// Where to start with a larger coefficient: contacts that slide go on sliding with the same
    /// friction, under a smaller normal impulse.
    fn followed_to(&self, most: f64, problem: &ConeProblem, unlimited: &[bool]) -> Self {
        let mut r = self.r.clone();
        for (b, _) in unlimited.iter().enumerate().filter(|(_, unlimited)| **unlimited) {
            if self.states[b] == State::Slide {
                r[problem.starts[b]] *= self.most / most;
            }
        }
        Self { most, r, states: self.states.clone() }
    }
}

/// The searches that a problem with finite coefficients is given to.
pub(super) struct Searches<'a> {
    /// On the impulses.
    pub newton: &'a mut Newton,
    pub search: &'a mut Search,
    /// On the velocities.
    pub delassus: &'a mut DelassusSpace,
}

/// The same with ever larger coefficients in steps that follow what contacts do, on the velocities first: for problems without bodies, of any size.
pub(super) fn follow(
    problem: &mut ConeProblem,
    mut searches: Searches<'_>,
    (limit, mut left): (usize, usize),
    judge: &mut Judge<'_>,
) -> bool {
    let is_unlimited = |block: &Block| matches!(block, Block::Coulomb { mu, .. } if mu.is_infinite());
    let unlimited: Vec<bool> = problem.blocks.iter().map(is_unlimited).collect();
    if !unlimited.contains(&true) {
        return false;
    }
    let blocks = problem.blocks.clone();
    let (mut last, mut substitutes) = (None::<Answer>, Substitutes::new());
    while left > 0 {
        let Some(most) = substitutes.take() else { break };
        for (block, _) in problem.blocks.iter_mut().zip(&unlimited).filter(|(_, unlimited)| **unlimited) {
            if let Block::Coulomb { mu, .. } = block {
                *mu = most;
            }
        }
        let near = last.as_ref().map(|last| last.followed_to(most, problem, &unlimited));
        let (answer, systems) = searches.solve(problem, near.as_ref(), most, limit.min(left));
        left = left.saturating_sub(systems);
        problem.blocks.clone_from(&blocks);
        substitutes.report(answer.is_some());
        let Some(answer) = answer else { continue };
        let Searches { newton, search, .. } = &mut searches;
        // Redundant contacts that slide have no system of their own in the limit, and large systems
        // cost too much; but with this coefficient their normal impulses may be as good as none.
        let dense = problem.blocks.len() <= MOST_DENSE
            && search.guess(problem, newton, &answer.states, Some(&answer.r), judge) != Verdict::GoOn;
        if dense || judge(problem, &answer.r, &answer.states) != Verdict::GoOn {
            return true;
        }
        last = Some(answer);
    }
    false
}

impl Searches<'_> {
    /// The answer of a problem with finite coefficients, if one is found with at most `limit` systems
    /// each, and how many systems that took: on the velocities, then, if there are few contacts, on
    /// the impulses, near the last answer if there is one.
    fn solve(
        &mut self,
        problem: &ConeProblem,
        near: Option<&Answer>,
        most: f64,
        limit: usize,
    ) -> (Option<Answer>, usize) {
        let Self { newton, search, delassus } = self;
        let start = near.map(|near| (&near.states[..], Some(&near.r[..])));
        let found = delassus.solve(problem, start, FOUND, limit);
        if found || problem.blocks.len() > FEW_CONTACTS {
            let answer = found.then(|| Answer { most, r: delassus.r.clone(), states: delassus.states.clone() });
            return (answer, delassus.iterations);
        }
        let mut answer = None;
        let mut keep = |problem: &ConeProblem, r: &[f64], states: &[State]| {
            if residual(problem, r) > FOUND * size(problem, r) {
                return Verdict::GoOn;
            }
            answer = Some(Answer { most, r: r.to_vec(), states: states.to_vec() });
            Verdict::Stop
        };
        newton.iterations = 0;
        let guessed = near.map(|near| search.guess(problem, newton, &near.states, Some(&near.r), &mut keep));
        if guessed.unwrap_or(Verdict::GoOn) == Verdict::GoOn {
            search.run(problem, newton, near.is_some(), limit, &mut 0, &mut keep);
        }
        (answer, delassus.iterations + newton.iterations)
    }
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

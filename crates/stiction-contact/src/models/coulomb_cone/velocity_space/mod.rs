//! The cone by Newton's method on the velocities.
//!
//! From one step to the next the states of contacts rarely change, so the states and forces of the last step are tried first: one system of order m, factored once, refined until
//! stick is rounding. Where some states are wrong, the search starts anew, and follows a path of smooth laws to theirs. The cost follows the bodies and their graph, not the contacts; redundant forces stay where they
//! were. What is found here is still certified like everything else.
//!
//! The model of contact without slip comes here too, with its large islands and its own law.

mod affine;
mod branches;
mod delassus;
mod elements;
mod finish;
mod gauss_seidel;
mod lanes;
mod measure;
mod near_contacts;
mod newton;
mod path;
mod pivoting;
mod rest;
mod search;
mod smooth_law;
mod sparse;
mod tolerances;

use super::law::{Block, State};
use crate::by_island::balance_momentum;
use crate::certificate::{Certifier, Law};
use crate::islands::{Island, Islands};
use crate::mass::Mass;
use crate::model::{ContactStats, Level, Mode, WarmStart};
use crate::problem::ContactProblem;
use crate::solution::{ContactForces, ContactSolution};
pub(super) use delassus::DelassusSpace;
pub(in crate::models) use elements::Friction;
use elements::{Elements, LawBeside, Source, slip_direction};
use finish::RELIEF;
use near_contacts::NearContacts;
use newton::Newton;
use rest::Rest;
use search::{Found, Guess, Search};
pub use tolerances::Tolerances;

/// What is found must be this many times better than the tolerance of the certificate, which measures it again in other coordinates.
pub(in crate::models) const MARGIN: f64 = 0.1;
/// Most multiplications and additions for an island: those of its factors, and of this many passes over its rows with each. It takes about ten seconds.
/// A factor comes with some 20 passes; where the rows do not fit into the caches, each takes as long as 4 would.
const MOST_WORK: f64 = 3e10;
const PASSES: f64 = 80.0;
/// Solutions whose storage is kept: the one being replaced, and one more.
const SPARE: usize = 2;

/// The workspace, and the forces and motion found.
#[derive(Debug, Clone, Default)]
pub(in crate::models) struct VelocitySpace {
    friction: Friction,
    certifier: Certifier,
    /// Storage of solutions that are not needed any more.
    #[expect(clippy::vec_box, reason = "they are handed out as they are")]
    spare: Vec<Box<ContactSolution>>,
    islands: Islands,
    rest: Rest,
    elements: Elements,
    newton: Newton,
    search: Search,
    near: NearContacts,
    /// An answer to start from with more contacts.
    near_start: WarmStart,
    held: Vec<bool>,
    /// Forces of all rows.
    forces: ContactForces,
    /// Velocities after the step, m.
    motion: Vec<f64>,
    /// Numbers of a block.
    storage: Vec<f64>,
    /// The first island that was not solved.
    unsolved: Option<Unsolved>,
}

/// An island without an answer.
#[derive(Debug, Clone, Copy)]
struct Unsolved {
    island: usize,
    contacts: usize,
    /// The most factors that the budget allowed it, if its search ended there.
    limit: Option<usize>,
}

impl VelocitySpace {
    /// Under this law of friction.
    pub(crate) fn new(friction: Friction, tolerances: Tolerances) -> Self {
        let mut space = Self { friction, ..Self::default() };
        space.newton.tolerances = tolerances;
        space
    }

    /// The solution of `problem`, if there is one that is certified under `law`; the search ends at `margin` times the tolerance of that. At most `limit` systems are factored for an island.
    pub(crate) fn solution(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        start: Option<&WarmStart>,
        margin: f64,
        tolerance: f64,
        limit: usize,
        stats: &mut ContactStats,
    ) -> Option<Box<ContactSolution>> {
        let level = law.level();
        if !self.solve(problem, level, start, margin * tolerance, limit, stats) {
            return None;
        }
        let mut certificate = self.certifier.certify_timed(problem, law, &self.forces, &self.motion, stats);
        if certificate.momentum > tolerance {
            // Forces on a light body between heavy ones are rounded beside their own size.
            balance_momentum(problem, level, &self.forces, &mut self.motion);
            certificate = self.certifier.certify_timed(problem, law, &self.forces, &self.motion, stats);
        }
        if !certificate.holds(tolerance) {
            return None;
        }
        let mut out = self.spare.pop().unwrap_or_else(|| Box::new(ContactSolution::empty(level)));
        out.level = level;
        out.modes.clear();
        out.modes.extend_from_slice(self.certifier.modes());
        out.warm_start.modes.clone_from(&out.modes);
        out.warm_start.forces.copy_from(&self.forces);
        out.forces.copy_from(&self.forces);
        out.motion.clone_from(&self.motion);
        (out.certificate, out.stats) = (certificate, stats.clone());
        Some(out)
    }

    /// Takes back a solution that is not needed any more; gives it back if there are enough.
    pub(crate) fn recycle(&mut self, solution: Box<ContactSolution>) -> Option<Box<ContactSolution>> {
        if self.spare.len() == SPARE {
            return Some(solution);
        }
        self.spare.push(solution);
        None
    }

    /// Solves every island, to an error of `enough` and with at most `limit` factors each; true if all were solved.
    fn solve(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        start: Option<&WarmStart>,
        enough: f64,
        limit: usize,
        stats: &mut ContactStats,
    ) -> bool {
        self.reset(problem);
        let mut islands = std::mem::take(&mut self.islands);
        let start = start.filter(|s| s.forces.fits(problem));
        self.unsolved = None;
        stats.islands = islands.find(problem).len();
        for (k, island) in islands.list().iter().enumerate() {
            stiction_lcp::interrupt::check_at(k);
            let rests =
                level == Level::Velocity && start.is_some_and(|start| self.keep_at_rest(problem, island, start, stats));
            if rests {
                continue;
            }
            if let Err(limit) = self.solve_island(problem, level, island, start, enough, limit, stats)
                && self.unsolved.is_none()
            {
                self.unsolved = Some(Unsolved { island: k, contacts: island.contacts.len(), limit });
            }
        }
        self.islands = islands;
        self.move_free(problem, level);
        self.unsolved.is_none()
    }

    /// Sizes the forces and the motion, and makes them zero.
    fn reset(&mut self, problem: &ContactProblem) {
        self.forces.reset(problem);
        self.motion.clear();
        self.motion.resize(problem.m(), 0.0);
        self.held.clear();
        self.held.resize(problem.layout().blocks(), false);
    }

    /// Takes over the forces of `start` if the island stays at rest under them; false if it does not.
    fn keep_at_rest(
        &mut self,
        problem: &ContactProblem,
        island: &Island,
        start: &WarmStart,
        stats: &mut ContactStats,
    ) -> bool {
        if !self.rest.holds(problem, island, start, self.friction) {
            return false;
        }
        island.blocks.iter().for_each(|&b| self.held[b] = true);
        self.forces.copy_part(&start.forces, island);
        stats.guessed += 1;
        true
    }

    /// Solves one island; if that fails, the error is the most factors that the budget allowed it, should its search have ended there.
    fn solve_island(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        island: &Island,
        start: Option<&WarmStart>,
        enough: f64,
        limit: usize,
        stats: &mut ContactStats,
    ) -> Result<(), Option<usize>> {
        let mut factors = 0;
        let chooses = level == Level::Velocity && NearContacts::are_worth_choosing(island);
        let solved = match chooses && self.solve_near(problem, island, start, enough, limit / 2, (stats, &mut factors))
        {
            true => Ok(()),
            false => self.solve_contacts(problem, level, island, start, enough, limit, (stats, &mut factors)),
        };
        stats.count_factorizations(factors);
        solved
    }

    /// Solves one island with the contacts that are near, and with those that the answer would close until there are none. False if that does not lead to an
    /// answer with at most `limit` factors, or would take as long as to solve it whole. `factors` counts them.
    fn solve_near(
        &mut self,
        problem: &ContactProblem,
        island: &Island,
        start: Option<&WarmStart>,
        enough: f64,
        limit: usize,
        (stats, factors): (&mut ContactStats, &mut usize),
    ) -> bool {
        let mut near = std::mem::take(&mut self.near);
        let mut found = std::mem::take(&mut self.near_start);
        island.blocks.iter().for_each(|&b| self.move_freely(problem, Level::Velocity, b));
        let mut solved = near.choose(problem, island, start, &self.motion);
        let mut is_first = true;
        while solved {
            let from = if is_first { start } else { Some(&found) };
            let work = (&mut *stats, &mut *factors);
            solved = self.solve_contacts(problem, Level::Velocity, &near.island, from, enough, limit, work).is_ok();
            if !solved || !near.add_closed(problem, island, &self.motion) {
                break;
            }
            is_first = false;
            found.modes.clear();
            found.modes.extend(start.iter().flat_map(|start| &start.modes));
            found.forces.copy_from(&self.forces);
        }
        (self.near, self.near_start) = (near, found);
        solved
    }

    /// Solves one island with the contacts it lists, with `limit` factors at most, of which `factors` have been used.
    fn solve_contacts(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        island: &Island,
        start: Option<&WarmStart>,
        enough: f64,
        limit: usize,
        (stats, factors): (&mut ContactStats, &mut usize),
    ) -> Result<(), Option<usize>> {
        island.blocks.iter().for_each(|&b| self.held[b] = true);
        if !self.elements.load(problem, level, island, self.friction, &mut self.newton.matrix) {
            return Err(None);
        }
        self.newton.reset(&self.elements);
        self.search.reset();
        let work = self.newton.matrix.flops(false) + PASSES * self.elements.values.len() as f64;
        let limit = limit.min((MOST_WORK / work.max(1.0)) as usize);
        if *factors >= limit {
            // Where everything touches everything a single factor takes minutes and gigabytes.
            self.recover(problem, level);
            return Err(Some(limit));
        }
        let (guess, guessed) = match start {
            Some(start) => {
                let guessed = self.try_guess(start, problem.mass(), enough);
                let known = self.newton.p.iter().any(|p| *p != [0.0; 3]);
                (if known { Guess::Forces } else { Guess::States }, guessed)
            }
            None => {
                self.guess_all_hold();
                (Guess::States, self.search.try_given_states(&self.elements, &mut self.newton, enough))
            }
        };
        let found = match guessed {
            true => Found::Guessed,
            false => {
                let left = limit - *factors;
                self.search.run(&self.elements, &mut self.newton, Some(problem.mass()), guess, enough, left)
            }
        };
        match found {
            Found::Guessed => stats.guessed += usize::from(start.is_some()),
            _ => stats.pivots += self.newton.iterations,
        }
        *factors += self.newton.iterations;
        self.recover(problem, level);
        match found {
            Found::Nothing => Err((*factors >= limit).then_some(limit)),
            _ => Ok(()),
        }
    }

    /// Tries the states of an earlier solution, relieved, then as they were; each is one system. True if one of them is right; else the first is left for the search to start from.
    fn try_guess(&mut self, start: &WarmStart, mass: &Mass, enough: f64) -> bool {
        // Forces of contacts that slide are given: there is no room to relieve.
        let relieved = self.guess(start, mass, true) && !self.newton.states.contains(&State::Slide);
        if relieved {
            if self.search.try_given_states(&self.elements, &mut self.newton, enough) {
                return true;
            }
            self.search.keep_point(&self.newton);
        }
        self.guess(start, mass, false);
        if self.search.try_given_states(&self.elements, &mut self.newton, enough) {
            return true;
        }
        if relieved {
            self.search.take_point(&mut self.newton);
        }
        false
    }

    /// Forces and states of an earlier solution. To relieve is to take friction that is at its limit, where the contact stuck, a little back; false if that was asked for and there is none.
    fn guess(&mut self, start: &WarmStart, mass: &Mass, relieve: bool) -> bool {
        let (forces, newton) = (&start.forces, &mut self.newton);
        let (mut relieved, at_limit) = (!relieve, newton.tolerances.at_limit);
        newton.v.copy_from_slice(&self.elements.v_before);
        for (e, element) in self.elements.list.iter().enumerate() {
            let mut mode = None;
            let mut p = match element.source {
                Source::Contact(i, axes) => {
                    mode = start.modes.get(i).copied();
                    let tangents = [0.0, forces.tangent_s[i], forces.tangent_t[i]];
                    [forces.normal[i], tangents[axes[0]], tangents[axes[1]]]
                }
                Source::Spin(i) => [forces.spin[i], 0.0, 0.0],
                Source::Roll(i, axes) => {
                    let about = [forces.roll_s[i], forces.roll_t[i]];
                    [about[axes[0]], if element.rows > 1 { about[axes[1]] } else { 0.0 }, 0.0]
                }
                Source::Limit(i) => [forces.limit[i], 0.0, 0.0],
                Source::Bilateral(i) => [forces.bilateral[i], 0.0, 0.0],
                Source::Bounded(i) => [forces.bounded[i], 0.0, 0.0],
            };
            if let Block::Coulomb { mu, .. } = element.law
                && relieve
                && mode == Some(Mode::Stick)
                && newton.is_at_limit(p, mu)
            {
                // Others may carry what it gives up; if not, it comes back.
                p[1] *= RELIEF;
                p[2] *= RELIEF;
                relieved = true;
            }
            newton.p[e] = p;
            let law = match element.law_beside(newton.p[e - element.behind][0]) {
                LawBeside::Block(law) => law,
                LawBeside::Disc(radius) => {
                    let slides = length([p[0], p[1]]) >= (1.0 - at_limit) * radius;
                    newton.states[e] = if slides { State::Slide } else { State::Stick };
                    continue;
                }
            };
            newton.states[e] = match law {
                Block::Bounded { lo, .. } if p[0] <= lo + at_limit * lo.abs() => State::Lower,
                Block::Bounded { hi, .. } if p[0] >= hi - at_limit * hi.abs() => State::Upper,
                Block::Coulomb { mu, .. } if mu.is_infinite() && mode == Some(Mode::Slide) => State::Slide,
                Block::Signorini | Block::Slider { .. } | Block::Coulomb { .. } | Block::NoSlip { .. }
                    if p[0] <= 0.0 =>
                {
                    State::Open
                }
                Block::Coulomb { mu, .. } if newton.is_at_limit(p, mu) => State::Slide,
                _ => State::Stick,
            };
        }
        if newton.states.contains(&State::Slide) {
            newton.follow_forces(&self.elements, mass);
        }
        relieved
    }

    /// Nothing is known: whatever touches, or would, is taken to hold; rows with bounds are taken to be strong enough.
    fn guess_all_hold(&mut self) {
        let (el, newton) = (&self.elements, &mut self.newton);
        newton.set_free(el);
        newton.find_motions(el, false);
        for (e, element) in el.list.iter().enumerate() {
            let unilateral = !matches!(element.law, Block::Free | Block::Bounded { .. });
            let apart = unilateral && element.bias[0] > 0.0;
            newton.states[e] = if apart && newton.motion(e)[0] > 0.0 { State::Open } else { State::Stick };
        }
    }

    /// The forces and the motion found last, whether they are a solution or only the best there is.
    pub(crate) fn best(&self) -> (&ContactForces, &[f64]) {
        (&self.forces, &self.motion)
    }

    /// Why an island of the last solve was not solved, if one was not.
    pub(crate) fn failure(&self) -> Option<String> {
        let Unsolved { island, contacts, limit } = self.unsolved?;
        let why = match limit {
            Some(limit) => format!("the budget of work ended at {limit} factors for its {contacts} contacts"),
            None => format!("no start led to a certified answer for its {contacts} contacts"),
        };
        Some(if self.islands.list().len() > 1 { format!("island {island}: {why}") } else { why })
    }

    /// Puts forces and motion in their places.
    fn recover(&mut self, problem: &ContactProblem, level: Level) {
        let (el, newton, forces) = (&self.elements, &self.newton, &mut self.forces);
        for (element, p) in el.list.iter().zip(&newton.p) {
            match element.source {
                Source::Contact(i, axes) => {
                    forces.normal[i] = p[0];
                    for (axis, p) in axes.into_iter().zip(&p[1..]) {
                        match axis {
                            1 => forces.tangent_s[i] = *p,
                            2 => forces.tangent_t[i] = *p,
                            _ => {}
                        }
                    }
                    if level == Level::Acceleration {
                        // Friction along a tangent that nothing moves along, but its surface does.
                        let slip = slip_direction(problem, i);
                        let most = problem.contacts().mu[i] * p[0];
                        for (axis, slip) in [1, 2].into_iter().zip(slip).filter(|(axis, _)| !axes.contains(axis)) {
                            let to = if axis == 1 { &mut forces.tangent_s } else { &mut forces.tangent_t };
                            to[i] = if slip == 0.0 { 0.0 } else { -most * slip };
                        }
                    }
                }
                Source::Spin(i) => forces.spin[i] = p[0],
                Source::Roll(i, axes) => {
                    for (&axis, p) in axes[..element.rows].iter().zip(p) {
                        [&mut forces.roll_s, &mut forces.roll_t][axis][i] = *p;
                    }
                }
                Source::Limit(i) => forces.limit[i] = p[0],
                Source::Bilateral(i) => forces.bilateral[i] = p[0],
                Source::Bounded(i) => forces.bounded[i] = p[0],
            }
        }
        for &(b, at) in &el.blocks {
            let range = problem.layout().range(b);
            for (k, j) in range.enumerate() {
                self.motion[j] = newton.v[at + k] * el.scale[at + k];
            }
        }
    }

    /// The motion of blocks without rows.
    fn move_free(&mut self, problem: &ContactProblem, level: Level) {
        for b in 0..self.held.len() {
            if !self.held[b] {
                self.move_freely(problem, level, b);
            }
        }
    }

    /// The motion of a block without forces: `v + dt M⁻¹ f`, or `M⁻¹ f`.
    fn move_freely(&mut self, problem: &ContactProblem, level: Level, b: usize) {
        let range = problem.layout().range(b);
        let part = &mut self.motion[range.clone()];
        part.copy_from_slice(&problem.force()[range.clone()]);
        problem.mass().solve_block(b, part, &mut self.storage);
        if level == Level::Velocity {
            part.iter_mut().zip(&problem.v()[range]).for_each(|(a, v)| *a = v + problem.dt() * *a);
        }
    }
}

fn length(p: [f64; 2]) -> f64 {
    (p[0] * p[0] + p[1] * p[1]).sqrt()
}

//! The cone as a contact model: on the velocities first, then island by island on the Delassus operator.

use stiction_lcp::InputError;

use super::CoulombCone;
use super::island::AfterGuess;
use crate::by_island::{IslandEnd, IslandForces};
use crate::certificate::cone::ConeLaw;
use crate::islands::{Island, Islands};
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, WarmStart};
use crate::models::coulomb_pyramid::{CoulombPyramid, PyramidOptions};
use crate::models::frictionless::Frictionless;
use crate::models::normal_problem::NormalOptions;
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;
use crate::whitened::MOST_MATRIX_ENTRIES;

/// Contacts of an island up to which its Delassus operator, which costs the cube of them per step, is worth forming where Newton's method on the velocities found nothing.
const MOST_CONTACTS: usize = 150;

/// Velocities up to which a failed problem is tried for a proof that it has no solution, by methods that are dense.
pub(super) const PROOF_ORDER: usize = 300;

/// Parts of the coefficients of rolling, one after the other, where a problem was not solved with all of them at once.
const ROLLING_PARTS: [f64; 4] = [0.1, 0.4, 0.8, 1.0];

impl ContactModel for CoulombCone {
    fn name(&self) -> &'static str {
        "coulomb-cone"
    }

    fn level(&self) -> Level {
        self.level
    }

    fn limit_work(&mut self, most: Option<usize>) -> bool {
        self.most_iterations = most;
        true
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        self.options.check()?;
        self.check_laws(problem)?;
        let law = ConeLaw { level: self.level };
        let first = self.velocity_space;
        let (tolerance, limit) = (self.options.tolerance, self.max_iterations());
        // What cannot be had from the last step's answer often can without it.
        let starts = [start, None];
        for start in &starts[..if first { 1 + usize::from(start.is_some()) } else { 0 }] {
            let found = match self.level {
                Level::Velocity => self.velocities.solution(problem, &law, *start, tolerance, limit),
                Level::Acceleration => {
                    self.accelerations.solution(problem, &mut self.velocities, *start, tolerance, limit)?
                }
            };
            if let Some(solution) = found {
                return Ok(ContactOutcome::Solved(solution));
            }
        }
        let options = self.options.clone();
        let mut driver = std::mem::take(&mut self.driver);
        let (level, velocities) = (self.level, std::mem::take(&mut self.velocities));
        let accelerations = std::mem::take(&mut self.accelerations);
        let known = |k: usize, island: &Island, forces: &mut IslandForces, stats: &mut ContactStats| {
            let solved_as = match level {
                Level::Velocity => Some(problem),
                Level::Acceleration if has_sliders(problem, island) => None,
                Level::Acceleration => accelerations.same_islands(),
            };
            if first {
                stats.count_factorizations(velocities.factors(k));
            }
            if first && solved_as.is_some_and(|problem| velocities.take(problem, k, forces)) {
                return Some(IslandEnd::Solved);
            }
            stats.fallbacks += usize::from(first);
            // What the velocities came to is the best answer there is.
            let why = why_not_dense(problem, island, first, velocities.limit_reached(k))?;
            Some(IslandEnd::Failed { why })
        };
        let outcome =
            driver.solve_unless_known(problem, &law, &options, start, known, |island, guess, forces, stats| {
                forces.reset(island);
                Ok(self.solve_island(island, guess, AfterGuess::Search, forces, stats))
            });
        (self.driver, self.velocities, self.accelerations) = (driver, velocities, accelerations);
        let outcome = outcome?;
        match outcome {
            // A search that ended at its limit may have found the answer all the same.
            ContactOutcome::Failed(failure) if failure.best.certificate.holds(tolerance) => {
                Ok(ContactOutcome::Solved(failure.best))
            }
            ContactOutcome::Failed(_) => {
                let found = match self.solve_in_the_limit(problem)? {
                    None => self.solve_by_adding_rolling(problem)?,
                    found => found,
                };
                match found {
                    Some(solution) => Ok(ContactOutcome::Solved(solution)),
                    None => Ok(self.prove(problem)?.unwrap_or(outcome)),
                }
            }
            other => Ok(other),
        }
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        let rest = match outcome {
            ContactOutcome::Solved(solution) => self.velocities.recycle(solution).map(ContactOutcome::Solved),
            other => Some(other),
        };
        rest.into_iter().for_each(|outcome| self.driver.recycle(outcome));
    }
}

impl CoulombCone {
    /// The problem without rolling, for which there are more methods, then with more and more of it, each from the last answer. `None` if there is no
    /// rolling, or nothing was found.
    fn solve_by_adding_rolling(&mut self, problem: &ContactProblem) -> Result<Option<ContactSolution>, InputError> {
        if problem.contacts().mu_roll.iter().all(|mu| *mu == 0.0) {
            return Ok(None);
        }
        let (law, limit) = (ConeLaw { level: self.level }, self.max_iterations());
        let outcome = self.solve_from(&problem.with_rolling(0.0), None)?;
        let mut start = outcome.solved().map(|solution| solution.warm_start.clone());
        for part in ROLLING_PARTS {
            let less = problem.with_rolling(part);
            let found = self.velocities.solution(&less, &law, start.as_ref(), self.options.tolerance, limit);
            if part == 1.0 {
                return Ok(found);
            }
            start = found.map(|solution| solution.warm_start).or(start);
        }
        Ok(None)
    }

    /// A proof that there is no solution, if one is found: no motion satisfies the rows, whatever the law of friction; or, at acceleration level, Painlevé's paradox on an
    /// island where the pyramid's law is that of the cone, because every contact slides, has no friction, or has one tangent.
    fn prove(&self, problem: &ContactProblem) -> Result<Option<ContactOutcome>, InputError> {
        if problem.m() > PROOF_ORDER {
            return Ok(None);
        }
        let normals = NormalOptions { model: self.options.clone(), ..NormalOptions::default() };
        let outcome = Frictionless::new(self.level, normals).solve(problem)?;
        if matches!(outcome, ContactOutcome::Infeasible(_)) {
            return Ok(Some(outcome));
        }
        if self.level == Level::Velocity {
            return Ok(None);
        }
        let contacts = problem.contacts();
        let agrees = |i: &usize| {
            let planar = contacts.tangent_s.is_zero(*i) || contacts.tangent_t.is_zero(*i);
            contacts.mu[*i] == 0.0 || planar || problem.slip(*i)[..2] != [0.0; 2]
        };
        let mut islands = Islands::default();
        let agree: Vec<bool> = islands.find(problem).iter().map(|island| island.contacts.iter().all(agrees)).collect();
        if !agree.contains(&true) {
            return Ok(None);
        }
        let options = PyramidOptions { common: self.options.clone(), ..PyramidOptions::default() };
        let outcome = CoulombPyramid::new(options).solve(problem)?;
        let proven = matches!(&outcome, ContactOutcome::NoSolution(proof) if agree[proof.island]);
        Ok(proven.then_some(outcome))
    }

    fn check_laws(&self, problem: &ContactProblem) -> Result<(), InputError> {
        let contacts = problem.contacts();
        let refuse = |reason: String| Err(InputError::Unsupported { solver: "coulomb-cone", reason });
        let moments = self.level == Level::Velocity;
        if let Some(i) = contacts.mu_spin.iter().position(|x| *x > 0.0 && !moments) {
            let else_where = "coulomb-pyramid has a place for moments at acceleration level";
            return refuse(format!("contact {i}: mu_spin is above 0; {else_where}, the cone at velocity level only"));
        }
        if let Some(i) = contacts.mu_roll.iter().position(|x| *x > 0.0 && !(moments && self.velocity_space)) {
            let only = "only the cone at velocity level, solved on the velocities, has a place for rolling";
            return refuse(format!("contact {i}: mu_roll is above 0; {only}"));
        }
        if let Some(i) = contacts.mu_viscous.iter().position(|x| *x > 0.0) {
            return refuse(format!("contact {i}: mu_viscous is above 0; the model viscous has a place for it"));
        }
        let slides = |i: &usize| contacts.mu[*i].is_infinite() && problem.slip(*i)[..2] != [0.0; 2];
        match (0..contacts.len()).find(|i| self.level == Level::Acceleration && slides(i)) {
            Some(i) => refuse(format!("contact {i} slips, and mu is infinite: no force is that large")),
            None => Ok(()),
        }
    }
}

/// Why the Delassus operator of an island is not formed, if it is not; `first` says that it was searched for on the velocities before, which
/// ended at `limit` factors if there is one.
fn why_not_dense(problem: &ContactProblem, island: &Island, first: bool, limit: Option<usize>) -> Option<String> {
    let contacts = island.contacts.len();
    if first && contacts > MOST_CONTACTS {
        return Some(match limit {
            Some(limit) => format!("the budget of work ended at {limit} factors for its {contacts} contacts"),
            None => format!("no start led to a certified answer for its {contacts} contacts"),
        });
    }
    if island.contacts.iter().any(|&i| problem.contacts().mu_roll[i] > 0.0) {
        let why = "no start led to a certified answer, and only the search on the velocities has a place for rolling";
        return Some(why.into());
    }
    let rows = 4 * contacts + island.limits.len() + island.bounded.len();
    let too_many = rows.saturating_mul(rows) > MOST_MATRIX_ENTRIES;
    too_many
        .then(|| format!("no start led to a certified answer, and its {rows} rows are too many for a dense operator"))
}

/// True if a contact slides now, against friction.
fn has_sliders(problem: &ContactProblem, island: &Island) -> bool {
    let contacts = problem.contacts();
    let acts = |i: usize| contacts.mu[i] > 0.0 && contacts.touches(i) && !problem.parts(i);
    island.contacts.iter().any(|&i| acts(i) && problem.slip(i)[..2] != [0.0; 2])
}

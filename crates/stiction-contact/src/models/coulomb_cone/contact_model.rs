//! The cone as a contact model.

use stiction_lcp::InputError;

use super::CoulombCone;
use super::velocity_space::{MARGIN, VelocitySpace};
use crate::certificate::cone::ConeLaw;
use crate::islands::Islands;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::coulomb_pyramid::{CoulombPyramid, PyramidOptions};
use crate::models::frictionless::Frictionless;
use crate::models::normal_problem::NormalOptions;
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;

/// Velocities up to which other methods, which are dense, are asked about a failed problem.
const DENSE_ORDER: usize = 300;

/// [`MARGIN`] where an answer that was good enough for the search did not pass the certificate.
const LAST_MARGIN: f64 = 1e-3;

impl ContactModel for CoulombCone {
    fn kind(&self) -> ModelKind {
        ModelKind::CoulombCone
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
        let (tolerance, limit) = (self.options.tolerance, self.max_iterations());
        let mut stats = ContactStats::default();
        let solve =
            |velocities: &mut VelocitySpace, start: Option<&WarmStart>, margin: f64, stats: &mut ContactStats| {
                velocities.solution(problem, &law, start, margin, tolerance, limit, stats)
            };
        let mut found = solve(&mut self.velocities, start, MARGIN, &mut stats);
        // What cannot be had from the last step's answer often can without it.
        if found.is_none() && start.is_some() {
            stats.fallbacks += 1;
            found = solve(&mut self.velocities, None, MARGIN, &mut stats);
        }
        // The certificate's measure is not the search's own: where an answer does not pass, a better one is looked for.
        if found.is_none() && self.velocities.failure().is_none() {
            stats.fallbacks += 1;
            found = solve(&mut self.velocities, None, LAST_MARGIN, &mut stats);
        }
        if let Some(solution) = found {
            return Ok(ContactOutcome::Solved(solution));
        }
        let (why, best) = (self.velocities.failure(), self.velocities.best());
        let outcome = self.driver.outcome_of(problem, &law, &self.options, best, stats, why);
        match outcome {
            // A search that ended at its limit may have found the answer all the same.
            ContactOutcome::Failed(failure) if failure.best.certificate.holds(tolerance) => {
                Ok(ContactOutcome::Solved(failure.best))
            }
            ContactOutcome::Failed(_) => Ok(self.solve_otherwise(problem)?.unwrap_or(outcome)),
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
    /// What other methods say of a problem that the search did not solve, if anything: a proof that no motion satisfies the rows, whatever the law of friction; or, at acceleration
    /// level, forces of the pyramid that are certified for the cone, or a proof of Painlevé's paradox on an island where the laws of both agree, because every
    /// contact slides, has no friction, or has one tangent.
    fn solve_otherwise(&mut self, problem: &ContactProblem) -> Result<Option<ContactOutcome>, InputError> {
        if problem.m() > DENSE_ORDER {
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
        let outcome = match CoulombPyramid::new(options).solve(problem)? {
            ContactOutcome::Solved(found) => {
                let ContactSolution { forces, motion, stats, .. } = *found;
                let law = ConeLaw { level: self.level };
                self.driver.outcome_of(problem, &law, &self.options, (&forces, &motion), stats, None)
            }
            other => other,
        };
        Ok(match &outcome {
            ContactOutcome::Solved(_) => Some(outcome),
            ContactOutcome::NoSolution(proof) if agree[proof.island] => Some(outcome),
            _ => None,
        })
    }

    fn check_laws(&self, problem: &ContactProblem) -> Result<(), InputError> {
        let contacts = problem.contacts();
        let refuse = |reason: String| Err(InputError::Unsupported { solver: "coulomb-cone", reason });
        let moments = self.level == Level::Velocity;
        if let Some(i) = contacts.mu_spin.iter().position(|x| *x > 0.0 && !moments) {
            let else_where = "coulomb-pyramid has a place for moments at acceleration level";
            return refuse(format!("contact {i}: mu_spin is above 0; {else_where}, the cone at velocity level only"));
        }
        if let Some(i) = contacts.mu_roll.iter().position(|x| *x > 0.0 && !moments) {
            return refuse(format!(
                "contact {i}: mu_roll is above 0; only the cone at velocity level has a place for rolling"
            ));
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

//! The cone as a contact model: on the velocities first, then island by island on the Delassus operator.

use stiction_lcp::InputError;

use super::CoulombCone;
use super::island::MARGIN;
use crate::by_island::IslandEnd;
use crate::certificate::PhysicalCertificate;
use crate::certificate::cone::ConeLaw;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, WarmStart};
use crate::problem::ContactProblem;
use crate::solution::{ContactForces, ContactSolution};

/// Contacts of an island up to which its Delassus operator, which costs the cube of them per step, is worth forming where Newton's method on the velocities found nothing.
const MOST_CONTACTS: usize = 150;

/// Solutions whose storage is kept: the one being replaced, and one more.
const SPARE: usize = 2;

impl ContactModel for CoulombCone {
    fn name(&self) -> &'static str {
        "coulomb-cone"
    }

    fn level(&self) -> Level {
        self.level
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        self.options.check()?;
        self.check_laws(problem)?;
        let law = ConeLaw { level: self.level };
        let first = self.velocity_space && self.level == Level::Velocity;
        if first && let Some(solution) = self.solve_velocities(problem, &law, start) {
            return Ok(ContactOutcome::Solved(solution));
        }
        let options = self.options.clone();
        let mut driver = std::mem::take(&mut self.driver);
        let mut next = 0..;
        let outcome = driver.solve(problem, &law, &options, start, |island, guess, forces, stats| {
            let k = next.next().unwrap_or(0);
            if first && self.velocities.take(problem, k, forces) {
                return Ok(IslandEnd::Solved);
            }
            stats.fallbacks += usize::from(first);
            if first && island.contacts() > MOST_CONTACTS {
                let why = format!(
                    "no answer on the velocities, and {} contacts are too many for the rest",
                    island.contacts()
                );
                return Ok(IslandEnd::Failed { why });
            }
            Ok(self.solve_island(island, guess, forces, stats))
        });
        self.driver = driver;
        outcome
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        match outcome {
            ContactOutcome::Solved(solution) if self.spare.len() < SPARE && self.level == Level::Velocity => {
                self.spare.push(solution);
            }
            other => self.driver.recycle(other),
        }
    }
}

impl CoulombCone {
    /// The solution by Newton's method on the velocities, if that has one that is certified.
    fn solve_velocities(
        &mut self,
        problem: &ContactProblem,
        law: &ConeLaw,
        start: Option<&WarmStart>,
    ) -> Option<ContactSolution> {
        let mut stats = ContactStats::default();
        let (enough, limit) = (MARGIN * self.options.tolerance, self.max_iterations());
        if !self.velocities.solve(problem, start, enough, limit, &mut stats) {
            return None;
        }
        let (forces, motion) = (&self.velocities.forces, &self.velocities.motion);
        let certificate = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
        if !certificate.holds(self.options.tolerance) {
            self.velocities.solved.fill(false);
            return None;
        }
        let mut out = self.spare.pop().unwrap_or_else(empty_solution);
        out.modes.clear();
        out.modes.extend_from_slice(self.certifier.modes());
        out.warm_start.modes.clone_from(&out.modes);
        out.warm_start.forces.copy_from(forces);
        out.forces.copy_from(forces);
        out.motion.clone_from(motion);
        (out.certificate, out.stats) = (certificate, stats);
        Some(out)
    }
}

/// A solution to be filled in.
fn empty_solution() -> ContactSolution {
    ContactSolution {
        level: Level::Velocity,
        forces: ContactForces::default(),
        motion: Vec::new(),
        modes: Vec::new(),
        certificate: PhysicalCertificate::default(),
        stats: ContactStats::default(),
        warm_start: WarmStart::default(),
    }
}

impl CoulombCone {
    fn check_laws(&self, problem: &ContactProblem) -> Result<(), InputError> {
        let contacts = problem.contacts();
        let refuse = |reason: String| Err(InputError::Unsupported { solver: "coulomb-cone", reason });
        let moments = self.level == Level::Velocity;
        if let Some(i) = contacts.mu_spin.iter().position(|x| *x > 0.0 && !moments) {
            let else_where = "coulomb-pyramid has a place for moments at acceleration level";
            return refuse(format!("contact {i}: mu_spin is above 0; {else_where}, the cone at velocity level only"));
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

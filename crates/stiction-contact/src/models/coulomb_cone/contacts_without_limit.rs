//! Contact problems with infinite coefficients, as the limit of Coulomb's law: what contacts do with a large coefficient is tried with an infinite one.
//!
//! Coefficients are raised step by step, each from the last answer. Where contacts are redundant the answers that are found on the way may have forces that
//! grow with the coefficient and end nowhere, although others stay bounded: then the start is an answer with polygons for cones, which is a vertex of its
//! complementarity problem and so has few forces and no larger ones than it needs.

use stiction_lcp::InputError;

use super::CoulombCone;
use super::contact_model::PROOF_ORDER;
use super::island::AfterGuess;
use super::without_limit::Substitutes;
use crate::by_island::ByIsland;
use crate::certificate::Certifier;
use crate::certificate::cone::ConeLaw;
use crate::model::{ContactModel, ContactOutcome, Level, Mode, WarmStart};
use crate::models::coulomb_polyhedral::{CoulombPolyhedral, PolyhedralOptions};
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;

/// Sides of the polygons that stand in for cones, one after the other.
const POLYGONS: [usize; 2] = [8, 64];

/// Coefficients that polygons are solved with in place of infinite ones, one after the other: with the last, a contact that slides has a normal force
/// that is nothing beside its friction at the tolerance of certificates.
const POLYGON_COEFFICIENTS: [f64; 3] = [1e3, 1e6, 1e10];

/// Contacts up to which polygons are tried: their complementarity problem has as many unknowns as all their sides.
const MOST_POLYGONS: usize = 60;

impl CoulombCone {
    /// The solution in the limit; `None` if there is no infinite coefficient, or nothing was found.
    pub(super) fn solve_in_the_limit(
        &mut self,
        problem: &ContactProblem,
    ) -> Result<Option<ContactSolution>, InputError> {
        let unlimited = problem.contacts().mu.iter().any(|mu| mu.is_infinite());
        let rolling = problem.contacts().mu_roll.iter().any(|mu| *mu > 0.0);
        if !unlimited || rolling || !self.velocity_space || self.level != Level::Velocity || problem.m() > PROOF_ORDER {
            return Ok(None);
        }
        let mut driver = std::mem::take(&mut self.driver);
        let found = match self.raise_coefficients(problem, &mut driver) {
            Ok(None) => self.start_from_polygons(problem, &mut driver),
            found => found,
        };
        self.driver = driver;
        found
    }

    /// Follows the answer from coefficient to coefficient.
    fn raise_coefficients(
        &mut self,
        problem: &ContactProblem,
        driver: &mut ByIsland,
    ) -> Result<Option<ContactSolution>, InputError> {
        // The answer with the last coefficient, and that coefficient.
        let mut last: Option<(WarmStart, f64)> = None;
        let mut substitutes = Substitutes::new();
        while let Some(most) = substitutes.take() {
            let finite = problem.with_friction_up_to(most);
            let start = last.as_ref().map(|(answer, before)| follow_sliding(problem, answer, *before, most));
            let solved = self.solve_near(&finite, start.as_ref(), driver)?;
            substitutes.report(solved.is_some());
            let Some(solution) = solved else { continue };
            last = Some((solution.warm_start.clone(), most));
            let found = self.limit_of(problem, solution, AfterGuess::Stop, driver)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Starts from answers with polygons for cones.
    fn start_from_polygons(
        &mut self,
        problem: &ContactProblem,
        driver: &mut ByIsland,
    ) -> Result<Option<ContactSolution>, InputError> {
        let contacts = problem.contacts();
        if contacts.len() > MOST_POLYGONS || contacts.mu_spin.iter().any(|mu| *mu > 0.0) {
            return Ok(None);
        }
        for directions in POLYGONS {
            let model = self.options.clone();
            let mut polygons = CoulombPolyhedral::new(PolyhedralOptions { model, directions, ..Default::default() })?;
            for most in POLYGON_COEFFICIENTS {
                let finite = problem.with_friction_up_to(most);
                let ContactOutcome::Solved(polygon) = polygons.solve(&finite)? else { continue };
                let solved = self.solve_near(&finite, Some(&polygon.warm_start), driver)?;
                for (start, after) in [(solved, AfterGuess::Stop), (Some(polygon), AfterGuess::SearchNear)] {
                    let Some(start) = start else { continue };
                    let found = self.limit_of(problem, start, after, driver)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The answer of a problem with finite coefficients, near another if there is one.
    fn solve_near(
        &mut self,
        finite: &ContactProblem,
        start: Option<&WarmStart>,
        driver: &mut ByIsland,
    ) -> Result<Option<ContactSolution>, InputError> {
        let law = ConeLaw { level: self.level };
        let (options, limit) = (self.options.clone(), self.max_iterations());
        let solved = self.velocities.solution(finite, &law, start, options.tolerance, limit);
        // On the contacts, near the last answer: forces are the unknowns there, and steep cones are no
        // harder than others.
        let (None, Some(from)) = (&solved, start) else { return Ok(solved) };
        let outcome = driver.solve(finite, &law, &options, Some(from), |island, guess, forces, stats| {
            Ok(self.solve_island(island, guess, AfterGuess::SearchNear, forces, stats))
        })?;
        Ok(if let ContactOutcome::Solved(solution) = outcome { Some(solution) } else { None })
    }

    /// The solution with infinite coefficients in which contacts do what they do in `answer`, an answer with finite ones.
    fn limit_of(
        &mut self,
        problem: &ContactProblem,
        mut answer: ContactSolution,
        after: AfterGuess,
        driver: &mut ByIsland,
    ) -> Result<Option<ContactSolution>, InputError> {
        let (law, options) = (ConeLaw { level: self.level }, self.options.clone());
        let start = answer.warm_start.clone();
        let outcome = driver.solve(problem, &law, &options, Some(&start), |island, guess, forces, stats| {
            Ok(self.solve_island(island, guess, after, forces, stats))
        })?;
        if let ContactOutcome::Solved(solution) = outcome {
            return Ok(Some(solution));
        }
        // Redundant contacts that slide have no system of their own in the limit; but with this
        // coefficient their normal forces may be as good as none.
        let mut certifier = Certifier::default();
        let ContactSolution { forces, motion, stats, .. } = &mut answer;
        answer.certificate = certifier.certify_timed(problem, &law, forces, motion, stats);
        if !answer.certificate.holds(options.tolerance) {
            return Ok(None);
        }
        answer.modes.clear();
        answer.modes.extend_from_slice(certifier.modes());
        answer.warm_start.modes.clone_from(&answer.modes);
        Ok(Some(answer))
    }
}

/// An answer with friction up to `before` as a start for friction up to `most`: contacts that slide go on
/// sliding with the same friction, under a smaller normal force.
fn follow_sliding(problem: &ContactProblem, answer: &WarmStart, before: f64, most: f64) -> WarmStart {
    let mut start = answer.clone();
    for (i, &mu) in problem.contacts().mu.iter().enumerate() {
        if start.modes[i] == Mode::Slide {
            start.forces.normal[i] *= mu.min(before) / mu.min(most);
        }
    }
    start
}

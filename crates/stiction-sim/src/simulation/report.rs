//! What a step did, why one was not made, and how long the parts took.

use std::fmt;
use std::time::Duration;

use stiction_contact::{ContactProblem, Place};

use crate::energy::EnergyBalance;
#[cfg(doc)]
use crate::simulation::OnFailure;

/// Time spent in each phase of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Kinematics, inertia, forces, controllers, integration.
    pub dynamics: Duration,
    /// Contact points.
    pub collision: Duration,
    /// Rows.
    pub assembly: Duration,
    /// The contact model, without its certificate.
    pub solve: Duration,
    /// The certificate.
    pub certificate: Duration,
    /// Removal of overlap.
    pub projection: Duration,
}

impl Phases {
    /// What was spent after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            dynamics: self.dynamics.saturating_sub(earlier.dynamics),
            collision: self.collision.saturating_sub(earlier.collision),
            assembly: self.assembly.saturating_sub(earlier.assembly),
            solve: self.solve.saturating_sub(earlier.solve),
            certificate: self.certificate.saturating_sub(earlier.certificate),
            projection: self.projection.saturating_sub(earlier.projection),
        }
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Contacts in the problem.
    pub contacts: usize,
    /// Contacts with a force.
    pub active: usize,
    /// Pivots or iterations.
    pub pivots: usize,
    /// Linear systems factored; 0 where the model does not count them.
    pub factorizations: usize,
    /// Most of them for one island.
    pub most_factorizations: usize,
    /// Solved from the last step's modes without a pivot.
    pub guessed: bool,
    /// Largest measure of the certificate.
    pub certificate: f64,
    /// Where it is.
    pub place: Place,
    /// Deepest overlap found (m).
    pub penetration: f64,
    /// Overlap that the projection could not remove (m).
    pub overlap_left: f64,
    /// Largest gap by which contacts that contradict each other were set apart, at random, in the step's problem (m); 0 in most steps.
    pub gap_spread: f64,
    /// Largest slip speed of a contact with a force (m/s).
    pub slip: f64,
    /// Work of all contact impulses (J), beside the motion without them: at most 0 but for rounding.
    pub work: f64,
    /// Kinetic energy after the step (J), for comparison.
    pub kinetic: f64,
    /// The part of the rebound speeds that contacts with restitution got: 1, or as much as gains no energy where
    /// friction, or different restitutions, would gain some.
    pub restitution_scale: f64,
    /// The fallback model answered.
    pub fallback: bool,
    /// The answer is not certified: the best one was taken, as [`OnFailure::Accept`] asks.
    pub accepted: bool,
    /// Pieces of smooth motion the step was made of; 1 in time stepping.
    pub substeps: usize,
    /// Impacts within it; 0 in time stepping, where they are part of every step.
    pub impacts: usize,
    /// Time at the end of an event-driven step that was made by time stepping (s): too many events, or forces that no acceleration goes
    /// with.
    pub stepped: f64,
    /// Where the step's energy came from and went.
    pub energy: EnergyBalance,
}

impl StepReport {
    /// True if restitution was lowered because the impact would have gained energy.
    pub fn restitution_lowered(&self) -> bool {
        self.restitution_scale < 1.0
    }
}

/// A step that was not made: the state is that before it.
#[derive(Debug, Clone)]
pub struct StepFailure {
    /// The step.
    pub step: u64,
    /// The time (s).
    pub t: f64,
    /// Why.
    pub why: String,
    /// The contact problem, if there was one.
    pub problem: Option<Box<ContactProblem>>,
    /// The certificate of the best answer found, if there was one.
    pub best: Option<f64>,
}

impl StepFailure {
    /// What one may try, in a sentence.
    pub fn advice(&self) -> String {
        match (self.best.filter(|best| best.is_finite()), &self.problem) {
            (Some(best), _) => format!(
                "try a smaller step (dt), the best answer, whose certificate is {best:.1e} (on_failure = \"accept\", \
                 accept_bound), or the polyhedral cone (on_failure = \"fallback\")"
            ),
            (None, Some(_)) => {
                "look for motions, loops or limits that contradict each other, or try a smaller step (dt)".into()
            }
            (None, None) => "try a smaller step (dt)".into(),
        }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} (t = {:.6} s): {}", self.step, self.t, self.why)
    }
}

impl std::error::Error for StepFailure {}

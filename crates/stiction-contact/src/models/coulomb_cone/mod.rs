//! Exact Coulomb friction with the true quadratic cone:
//!
//! ```text
//! K_i ∋ p_i ⊥ u_i + mu_i |u_iT| e_N ∈ K_i*   for every contact i
//! ```
//!
//! between the forces p and the relative motions u of contacts, beside joints, limits, motors and moments.
//!
//! One search solves all of it: Newton's method on the velocities of the bodies (`velocity_space`), so that the cost follows the bodies and not the contacts.
//! Contact problems come to it island by island (`contact_model`), at velocity level or, as velocities from rest, at acceleration level; problems that are given by their Delassus
//! operator, without bodies, have their relative velocities as unknowns (`friction`, `velocity_space/delassus.rs`).
//!
//! Reference: \[AlartCurnier91\], \[Acary18\].

mod contact_model;
mod friction;
mod law;
mod outcome;
#[cfg(test)]
mod tests;
pub(in crate::models) mod velocity_space;

pub use outcome::{FailureReason, FrictionFailed, FrictionOutcome, FrictionSolved, FrictionStats};

use crate::by_island::ByIsland;
use crate::model::{Level, ModelOptions};
use friction::Best;
pub use velocity_space::Tolerances;
use velocity_space::{DelassusSpace, Friction, VelocitySpace};

/// Linear systems factored before the solver stops, unless the options say otherwise.
const MOST_ITERATIONS: usize = 6000;

/// The solver; it owns its workspace, so keep one and use it again. See the [module](self).
#[derive(Debug, Clone)]
pub struct CoulombCone {
    options: ModelOptions,
    /// A limit for now.
    most_iterations: Option<usize>,
    level: Level,
    driver: ByIsland,
    velocities: VelocitySpace,
    delassus: DelassusSpace,
    best: Best,
}

impl Default for CoulombCone {
    /// At velocity level, with the default options.
    fn default() -> Self {
        Self::new(Level::Velocity, ModelOptions::default())
    }
}

impl CoulombCone {
    /// The model at `level`, with the given options. (Friction problems of their own have no level.)
    pub fn new(level: Level, options: ModelOptions) -> Self {
        let tolerances = options.tolerances.coulomb_cone;
        Self {
            options,
            most_iterations: None,
            level,
            driver: ByIsland::default(),
            velocities: VelocitySpace::new(Friction::default(), tolerances),
            delassus: DelassusSpace::new(tolerances),
            best: Best::default(),
        }
    }

    /// Most linear systems per problem or island.
    fn max_iterations(&self) -> usize {
        self.options.max_pivots.unwrap_or(MOST_ITERATIONS).min(self.most_iterations.unwrap_or(usize::MAX))
    }
}

//! Lloyd 2004: fast Lemke for Coulomb contact. Figures 5 to 10: how long the standard, the structural and the reduced method take.
//!
//! The page `docs/papers/lloyd.md` says what the paper did and where we differ.
mod full_lcp;
mod geometry;
mod measure;
mod peg_in_hole;
mod report;
mod single_body;
mod stacks;

pub use full_lcp::full_residual;
pub use geometry::{Setting, peg_in_hole, single_bodies, stacks};

use super::Experiment;

/// Sides of the friction cone, d.
const DIRECTIONS: usize = 8;
/// Random wrenches per problem.
const WRENCHES: u64 = 20;
/// An answer whose residual in the full problem (8) is more than this fraction of its terms is none.
const TOLERANCE: f64 = 1e-9;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(peg_in_hole::PegInHole), Box::new(single_body::SingleBody), Box::new(stacks::Stacks)]
}

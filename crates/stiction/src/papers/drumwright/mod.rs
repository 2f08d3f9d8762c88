//! Drumwright 2015: viscous and no-slip contact.
pub mod quadruped;

use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}

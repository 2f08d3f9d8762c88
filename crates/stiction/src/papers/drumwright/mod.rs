//! Drumwright 2015: viscous and no-slip contact.
use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}

//! Lloyd 2004: fast Lemke for Coulomb contact.
use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}

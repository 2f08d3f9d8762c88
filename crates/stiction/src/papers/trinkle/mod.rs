//! Trinkle, Pang, Sudarsky and Lo 1995: Coulomb complementarity problems.
use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}

//! Baraff 1994: Dantzig's algorithm with friction.
use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    Vec::new()
}

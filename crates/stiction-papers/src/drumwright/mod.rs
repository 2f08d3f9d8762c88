//! Drumwright 2015: viscous and no-slip contact.
pub mod complexity;
pub mod grasp;
pub mod quadruped;

use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(grasp::Grasp), Box::new(quadruped::Locomotion), Box::new(complexity::Complexity)]
}

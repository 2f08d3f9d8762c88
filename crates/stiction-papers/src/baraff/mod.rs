//! Baraff 1994: Dantzig's algorithm with friction.
pub mod bodies;
pub mod elimination;
mod friction;
mod frictionless;
mod mechanisms;
pub mod problems;
pub mod quadratic_program;
mod timelapse;

use super::Experiment;

pub use friction::Friction;
pub use frictionless::Frictionless;
pub use mechanisms::Mechanisms;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(Frictionless), Box::new(Friction), Box::new(Mechanisms)]
}

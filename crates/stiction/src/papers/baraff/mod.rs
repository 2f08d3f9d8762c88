//! Baraff 1994: Dantzig's algorithm with friction.
pub mod elimination;
mod frictionless;
pub mod problems;
pub mod quadratic_program;
mod timing;

use super::Experiment;

pub use frictionless::Frictionless;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(Frictionless)]
}

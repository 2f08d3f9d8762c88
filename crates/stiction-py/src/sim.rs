//! Simulations: one, and many at once.

mod batch;
mod contacts;
mod core;
mod report;
mod simulation;

pub use batch::BatchSimulation;
pub use contacts::dtypes;
pub use report::{RunReport, StepReport};
pub use simulation::{Simulation, restore_simulation};

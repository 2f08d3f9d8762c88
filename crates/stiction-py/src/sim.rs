//! Simulations: one, and many at once.

mod batch;
mod contacts;
mod core;
mod dynamics;
mod report;
mod run;
mod simulation;
mod state;

pub use batch::BatchSimulation;
pub use contacts::dtypes;
pub use report::{RunReport, StepReport};
pub use simulation::{Simulation, restore_simulation};

//! The contact models of the literature, each under its name there.

pub mod frictionless;
pub mod no_slip;
pub mod normal_problem;
pub mod viscous;

pub use frictionless::Frictionless;
pub use no_slip::{NoSlip, NoSlipOptions};
pub use normal_problem::{NormalOptions, NormalSolver};
pub use viscous::Viscous;

//! The models, one file or folder each, under the names of the literature.
pub mod baraff_friction;
pub mod catalog;
pub mod coulomb_cone;
pub mod coulomb_polyhedral;
pub mod coulomb_pyramid;
#[cfg(feature = "clarabel")]
pub mod drumwright_shell;
pub mod frictionless;
pub mod no_slip;
pub mod normal_problem;
mod unsupported;
pub mod viscous;

pub use baraff_friction::BaraffFriction;
pub use coulomb_cone::CoulombCone;
pub use coulomb_polyhedral::{CoulombPolyhedral, PolyhedralOptions};
pub use coulomb_pyramid::{CoulombPyramid, PyramidMethod, PyramidOptions};
#[cfg(feature = "clarabel")]
pub use drumwright_shell::DrumwrightShell;
pub use frictionless::Frictionless;
pub use no_slip::{NoSlip, NoSlipOptions};
pub use normal_problem::{NormalOptions, NormalSolver};
pub use viscous::Viscous;

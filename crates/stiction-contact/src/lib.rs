//! Rigid contact with friction, from matrices alone.
pub mod coulomb_cone;
pub mod friction_certificate;
pub mod friction_problem;
pub mod sparse;
mod sparse_lu;

pub use coulomb_cone::{CoulombCone, FrictionOutcome};
pub use friction_certificate::{FrictionCertificate, certify_friction};
pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use sparse::SparseMatrix;

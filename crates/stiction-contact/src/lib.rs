//! Rigid contact with friction, from matrices alone.
pub mod friction_problem;
pub mod sparse;

pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use sparse::SparseMatrix;

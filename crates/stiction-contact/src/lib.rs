//! Rigid contact with friction, from matrices alone.
pub mod friction_problem;
pub mod io;
pub mod sparse;

pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use sparse::SparseMatrix;
pub use stiction_lcp::InputError;

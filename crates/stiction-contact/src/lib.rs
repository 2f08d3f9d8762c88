//! Rigid contact with friction, from matrices alone.
mod check;
pub mod friction_problem;
pub mod islands;
pub mod mass;
pub mod problem;
pub mod rows;
pub mod sparse;

pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use islands::{Island, Islands};
pub use mass::{Layout, Mass};
pub use problem::{Contact, ContactProblem};
pub use rows::Rows;
pub use sparse::SparseMatrix;

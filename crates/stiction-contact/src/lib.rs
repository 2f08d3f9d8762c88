//! Rigid contact with friction, from matrices alone.
pub mod by_island;
pub mod certificate;
mod check;
pub mod find_indices;
pub mod friction_problem;
pub mod islands;
pub mod mass;
pub mod model;
pub mod models;
pub mod problem;
pub mod rows;
pub mod scenes;
pub mod solution;
pub mod sparse;
pub mod whitened;

pub use certificate::{Certifier, Law, PhysicalCertificate, Place};
pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use islands::{Island, Islands};
pub use mass::{Layout, Mass};
pub use model::{ContactModel, ContactOutcome, ContactStats, Level, Mode, ModelOptions, WarmStart};
pub use problem::{Contact, ContactProblem};
pub use rows::Rows;
pub use solution::{ContactForces, ContactSolution, Resultant};
pub use sparse::SparseMatrix;
pub use stiction_lcp::InputError;

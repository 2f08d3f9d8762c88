//! Contact problems from matrices.

mod certificate;
mod functions;
mod model;
mod outcome;
mod pickle;
mod problem;
mod pyramid;
mod rows;
mod solved;

pub use certificate::{PhysicalCertificate, forces};
pub use functions::{contact_catalog, solve_contact, solve_contact_batch};
pub use model::{Model, level_name};
pub use outcome::{ContactFailed, ContactRay, Infeasible, NoSolution};
pub use pickle::restore;
pub use problem::ContactProblem;
pub use pyramid::{pyramid_existence, pyramid_solutions};
pub use solved::ContactSolved;

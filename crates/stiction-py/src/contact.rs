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

pub(crate) use certificate::{PhysicalCertificate, forces};
pub(crate) use functions::{contact_catalog, solve_contact, solve_contact_batch};
pub(crate) use model::{Model, level_name};
pub(crate) use outcome::{ContactFailed, ContactRay, Infeasible, NoSolution};
pub(crate) use pickle::restore;
pub(crate) use problem::ContactProblem;
pub(crate) use pyramid::{pyramid_existence, pyramid_solutions};
pub(crate) use solved::ContactSolved;

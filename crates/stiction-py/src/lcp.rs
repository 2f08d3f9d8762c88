//! Complementarity problems from arrays.

mod certificate;
mod check;
mod functions;
mod outcome;
pub mod pickle;
mod solver;

pub use certificate::{Certificate, ExactCheck, Stats};
pub use check::{certify, classify, solver_catalog};
pub use functions::{all_solutions, boxed, factored, mlcp, nnls, solve, solve_batch};
pub use outcome::{Ray, Solved, Stopped, Unsolvable};
pub use pickle::restore;
pub use solver::Solver;

//! Complementarity problems from arrays.

mod certificate;
mod check;
mod functions;
mod outcome;
pub(crate) mod pickle;
mod solver;

pub(crate) use certificate::{Certificate, ExactCheck, Stats};
pub(crate) use check::{certify, classify, solver_catalog};
pub(crate) use functions::{all_solutions, boxed, factored, mlcp, nnls, solve, solve_batch};
pub(crate) use outcome::{Ray, Solved, Stopped, Unsolvable};
pub(crate) use pickle::restore;
pub(crate) use solver::Solver;

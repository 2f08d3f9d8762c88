//! Complementarity solvers that prove their answers.
#![doc = ""]
pub mod auto;
pub mod basis;
pub mod certificate;
pub mod dantzig;
pub mod enumerate;
pub mod error;
pub mod exact;
pub mod factor;
pub mod finish;
pub mod generate;
pub mod incremental_factor;
pub mod interior_point;
pub mod io;
pub mod lemke;
pub mod lu;
pub mod matrix;
pub mod nnls;
pub mod outcome;
pub mod principal_pivot;
pub mod problem;
pub mod projected_gauss_seidel;
pub mod reduce;
pub mod solver;

pub use basis::{Basis, Position};
pub use certificate::{Certificate, certify};
pub use dantzig::Dantzig;
pub use error::InputError;
pub use matrix::Matrix;
pub use outcome::{MatrixClass, Outcome, Proof, Ray, Solved, Stats, StopReason, Stopped, Unsolvable};
pub use problem::{BoxLcp, FactoredLcp, Lcp, Mlcp, Problem, ProblemRef};
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use solver::{Options, Solver};

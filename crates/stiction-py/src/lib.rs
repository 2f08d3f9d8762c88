//! The extension module `stiction._stiction`. What users see of it is in `python/stiction/`.

mod arrays;
mod contact;
mod errors;
mod inputs;
mod lcp;
mod scene;
mod sim;
mod threads;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command ``stiction`` with these arguments, the first of which is its own name; returns its exit code.
#[pyfunction(name = "_main")]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| stiction_cli::main_with(args))
}

/// The engine behind ``stiction``; use that.
#[pymodule]
mod _stiction {
    #[pymodule_export]
    use super::contact::{
        ContactFailed, ContactProblem, ContactRay, ContactSolved, Infeasible, Model, NoSolution, PhysicalCertificate,
        contact_catalog, contact_from_json, solve_contact, solve_contact_batch,
    };
    #[pymodule_export]
    use super::lcp::{
        Certificate, ExactCheck, Ray, Solved, Solver, Stats, Stopped, Unsolvable, boxed, certify, classify, factored,
        mlcp, nnls, restore_solved, solve, solve_batch, solver_catalog,
    };
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::scene::{Scene, restore_scene};
    #[pymodule_export]
    use super::sim::{BatchSimulation, RunReport, Simulation, StepReport, restore_simulation};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("_dtypes", super::sim::dtypes(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

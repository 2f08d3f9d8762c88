//! The extension module `stiction._stiction`. What users see of it is in `python/stiction/`.

mod arrays;
mod contact;
mod errors;
mod idle;
mod inputs;
mod lcp;
mod outcome;
mod pickle;
mod scene;
mod show;
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
        ContactProblem, Infeasible, Model, NoSolution, PhysicalCertificate, contact_catalog, solve_contact,
        solve_contact_batch,
    };
    #[pymodule_export]
    use super::lcp::{
        Certificate, ExactCheck, Ray, Solved, Solver, Stats, Stopped, Unsolvable, boxed, certify, classify, factored,
        mlcp, nnls, solve, solve_batch, solver_catalog,
    };
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::pickle::restore;
    #[pymodule_export]
    use super::scene::Scene;
    #[pymodule_export]
    use super::sim::{BatchSimulation, Recording, RunReport, Simulation, StepReport};
    use crate::contact::{ContactFailed, ContactRay, ContactSolved};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        // Classes of `stiction.contact` with the same names as those of `stiction.lcp`.
        module.add("ContactSolved", py.get_type::<ContactSolved>())?;
        module.add("ContactRay", py.get_type::<ContactRay>())?;
        module.add("ContactFailed", py.get_type::<ContactFailed>())?;
        module.add("_dtypes", super::sim::dtypes(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

//! The extension module `stiction._stiction`. What users see of it is in `python/stiction/`.

#[macro_use]
mod getters;

mod arrays;
mod contact;
mod display;
mod errors;
mod interrupt;
mod lcp;
mod outcome;
mod panics;
mod pickle;
mod prescribe;
mod scene;
mod sim;
mod threads;
mod workspace_pool;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command ``stiction`` with these arguments, the first of which is its own name; returns its exit code.
#[pyfunction(name = "_main")]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| stiction_cli::main_with(args))
}

/// Makes Ctrl-C end a run of the command with its summary so far: for a process that is the command and nothing else.
#[pyfunction]
fn _end_runs_on_ctrl_c() {
    stiction_cli::end_runs_on_ctrl_c();
}

/// Python places objects on multiples of this many bytes, and so the Rust value in each.
const PYTHON_ALIGNMENT: usize = 16;

/// The classes that Python's objects hold, each with the alignment it needs; one that Python's
/// allocator cannot give does not compile.
macro_rules! classes {
    ($($class:ty),+ $(,)?) => {
        $(const _: () = assert!(align_of::<$class>() <= PYTHON_ALIGNMENT);)+
        /// The names of all classes, with the alignment of each (bytes).
        const CLASSES: &[(&str, usize)] = &[$((stringify!($class), align_of::<$class>())),+];
    };
}

classes!(
    contact::ContactFailed,
    contact::ContactProblem,
    contact::ContactRay,
    contact::ContactSolved,
    contact::Infeasible,
    contact::Model,
    contact::NoSolution,
    contact::PhysicalCertificate,
    lcp::Certificate,
    lcp::ExactCheck,
    lcp::Ray,
    lcp::Solved,
    lcp::Solver,
    lcp::Stats,
    lcp::Stopped,
    lcp::Unsolvable,
    scene::Geom,
    scene::Scene,
    sim::BatchSimulation,
    sim::EnergyBalance,
    sim::Recording,
    sim::RunReport,
    sim::Simulation,
    sim::StepReport,
);

/// The engine behind ``stiction``; use that.
#[pymodule]
mod _stiction {
    #[pymodule_export]
    use super::_end_runs_on_ctrl_c;
    #[pymodule_export]
    use super::contact::{
        ContactProblem, Infeasible, Model, NoSolution, PhysicalCertificate, contact_catalog, pyramid_existence,
        pyramid_solutions, solve_contact, solve_contact_batch,
    };
    #[pymodule_export]
    use super::lcp::{
        Certificate, ExactCheck, Ray, Solved, Solver, Stats, Stopped, Unsolvable, all_solutions, boxed, certify,
        classify, factored, mlcp, nnls, solve, solve_batch, solver_catalog,
    };
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::panics::panic_for_test;
    #[pymodule_export]
    use super::pickle::restore;
    #[pymodule_export]
    use super::scene::{Geom, Scene};
    #[pymodule_export]
    use super::sim::{BatchSimulation, EnergyBalance, Recording, RunReport, Simulation, StepReport};
    use crate::contact::{ContactFailed, ContactRay, ContactSolved};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        super::panics::install(py)?;
        // Classes of `stiction.contact` with the same names as those of `stiction.lcp`.
        module.add("ContactSolved", py.get_type::<ContactSolved>())?;
        module.add("ContactRay", py.get_type::<ContactRay>())?;
        module.add("ContactFailed", py.get_type::<ContactFailed>())?;
        module.add("_alignments", super::CLASSES.iter().copied().collect::<std::collections::BTreeMap<_, _>>())?;
        module.add(
            "_shipped_scenes",
            super::scene::shipped::SCENES.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
        )?;
        module.add("_dtypes", super::sim::dtypes(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

//! The functions of `stiction.contact`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_contact::ContactOutcome;
use stiction_contact::models::catalog::{self, CATALOG};
use stiction_lcp::InputError;

use super::model::{level_name, pool, run};
use super::outcome::to_python;
use super::problem::ContactProblem;
use super::solved::ContactSolved;
use crate::{errors, threads};

/// Solve a contact problem under a law of friction.
///
/// Parameters
/// ----------
/// problem : ContactProblem
/// model : str or Model
///     ``"coulomb-cone"`` (the default), ``NoSlip()``, ...: ``stiction.contact.catalog()``.
/// start : Solved, optional
///     An earlier solution of a problem with the same rows.
///
/// Returns
/// -------
/// Solved or Infeasible or NoSolution or Ray or Failed
///     Only `Solved` has forces and motion, with a certificate computed from the problem alone.
///
/// Examples
/// --------
/// A particle of 2 kg slides over the floor at 1 m/s, in a step of 10 ms:
///
/// >>> import numpy as np, stiction
/// >>> problem = stiction.contact.ContactProblem(2.0 * np.eye(3), v=[1.0, 0.0, 0.0], force=[0.0, 0.0, -20.0], dt=0.01)
/// >>> problem.add_contacts([[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], mu=0.5)
/// >>> match stiction.contact.solve(problem):
/// ...     case stiction.contact.Solved(motion, normal):
/// ...         print(motion.round(6) + 0.0, normal.round(6))
/// [0.95 0.   0.  ] [0.2]
#[pyfunction(name = "solve_contact")]
#[pyo3(signature = (problem, model=None, *, start=None), text_signature = "(problem, model='coulomb-cone', *, start=None)")]
pub(crate) fn solve_contact<'py>(
    problem: &Bound<'py, ContactProblem>,
    model: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, ContactSolved>>,
) -> PyResult<Bound<'py, PyAny>> {
    run(&*pool(model)?, problem, start)
}

/// Solve many contact problems in parallel, with the GIL released.
///
/// Parameters
/// ----------
/// problems : sequence of ContactProblem
/// model : str or Model
/// threads : int, optional
///     Default: one per core. The outcomes do not depend on it.
///
/// Returns
/// -------
/// list of Solved or Infeasible or NoSolution or Ray or Failed
#[pyfunction(name = "solve_contact_batch")]
#[pyo3(signature = (problems, model=None, *, threads=None), text_signature = "(problems, model='coulomb-cone', *, threads=None)")]
pub(crate) fn solve_contact_batch<'py>(
    py: Python<'py>,
    problems: Vec<Bound<'py, ContactProblem>>,
    model: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let shared = problems.iter().map(|p| Ok(p.try_borrow()?.shared())).collect::<PyResult<Vec<_>>>()?;
    let pool = pool(model)?;
    let workers = threads::pool(py, threads::asked(threads)?)?;
    let outcomes: Vec<Result<ContactOutcome, InputError>> =
        threads::map(py, &workers, &shared, |problem| pool.solve(problem, None))?;
    let both = shared.into_iter().zip(outcomes).enumerate();
    both.map(|(i, (problem, outcome))| {
        let place = |e: InputError| errors::in_place(py, &format!("problem {i}"), errors::from_input(&e));
        to_python(py, &pool, problem, outcome.map_err(place)?)
    })
    .collect()
}

/// All contact models, the default first.
///
/// Returns
/// -------
/// list of dict
///     With ``name``, ``levels``, ``law`` and ``when``.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.contact.catalog()[0]["name"]
/// 'coulomb-cone'
#[pyfunction]
pub(crate) fn contact_catalog(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |e: &catalog::Entry| {
        let row = PyDict::new(py);
        row.set_item("name", e.name)?;
        row.set_item("levels", e.levels.iter().map(|l| level_name(*l)).collect::<Vec<_>>())?;
        row.set_item("law", e.law)?;
        row.set_item("when", e.when)?;
        row.set_item("solvers", e.solvers.iter().map(|s| s.name()).collect::<Vec<_>>())?;
        Ok(row)
    };
    CATALOG.iter().map(entry).collect()
}

//! Contact problems from matrices: models, and the functions of `stiction.contact`.

mod outcome;
mod problem;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use stiction_contact::models::catalog::{self, CATALOG};
use stiction_contact::{ContactModel, ContactOutcome, Level, ModelOptions, WarmStart};
use stiction_lcp::InputError;

use crate::{errors, threads};
pub use outcome::{ContactFailed, ContactRay, ContactSolved, Infeasible, NoSolution, PhysicalCertificate};
pub use problem::{ContactProblem, contact_from_json};

/// Models of one kind that nobody uses at the moment: each keeps its workspace for the next solve.
struct Pool {
    name: &'static str,
    level: Level,
    options: ModelOptions,
    idle: Mutex<Vec<Box<dyn ContactModel>>>,
}

impl Pool {
    fn new(name: &'static str, level: Level, options: ModelOptions) -> Self {
        Self { name, level, options, idle: Mutex::new(Vec::new()) }
    }

    fn solve(
        &self,
        problem: &stiction_contact::ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut model = match free {
            Some(model) => model,
            None => catalog::build_at(self.name, self.level, &self.options)?,
        };
        let outcome = model.solve_from(problem, start);
        idle().push(model);
        outcome
    }
}

/// The models with their usual options and levels, in the order of the catalog.
static USUAL: LazyLock<Vec<Arc<Pool>>> = LazyLock::new(|| {
    CATALOG.iter().map(|e| Arc::new(Pool::new(e.name, e.levels[0], ModelOptions::default()))).collect()
});

/// `velocity` or `acceleration`.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Velocity => "velocity",
        Level::Acceleration => "acceleration",
    }
}

/// A law of contact, with its options. It keeps its workspace from solve to solve, and may be used by any number of threads.
///
/// Parameters
/// ----------
/// name : str
///     One of ``stiction.contact.catalog()``.
/// level : {"velocity", "acceleration"}, optional
///     What it solves for; ``None`` is the model's usual level.
/// tolerance : float
///     A solution is certified if every measure of its certificate is at most this.
/// max_pivots : int, optional
///     Most pivots or iterations per island.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.contact.Model("no-slip").level
/// 'velocity'
#[pyclass(frozen, subclass, module = "stiction.contact")]
pub struct Model {
    pool: Arc<Pool>,
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (name="coulomb-cone", *, level=None, tolerance=1e-10, max_pivots=None))]
    fn new(
        py: Python<'_>,
        name: &str,
        level: Option<&str>,
        tolerance: f64,
        max_pivots: Option<usize>,
    ) -> PyResult<Self> {
        let options = ModelOptions { tolerance, max_pivots };
        let usual = catalog::build(name, &options).map_err(|e| errors::from_input(&e))?;
        let level = match level {
            None => usual.level(),
            Some("velocity") => Level::Velocity,
            Some("acceleration") => Level::Acceleration,
            Some(x) => {
                return Err(errors::input(py, format!("level must be 'velocity' or 'acceleration', found '{x}'")));
            }
        };
        let model = catalog::build_at(name, level, &options).map_err(|e| errors::from_input(&e))?;
        Ok(Self { pool: Arc::new(Pool::new(model.name(), level, options)) })
    }

    /// The model's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.pool.name
    }

    /// ``"velocity"`` (impulses, velocities after the step) or ``"acceleration"`` (forces, accelerations).
    #[getter]
    fn level(&self) -> &'static str {
        level_name(self.pool.level)
    }

    /// A solution is certified if every measure of its certificate is at most this.
    #[getter]
    fn tolerance(&self) -> f64 {
        self.pool.options.tolerance
    }

    /// Most pivots or iterations per island, or ``None``.
    #[getter]
    fn max_pivots(&self) -> Option<usize> {
        self.pool.options.max_pivots
    }

    /// Solves a problem; see `stiction.contact.solve`.
    #[pyo3(signature = (problem, *, start=None))]
    fn solve<'py>(
        &self,
        problem: &Bound<'py, ContactProblem>,
        start: Option<&Bound<'py, ContactSolved>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        run(&self.pool, problem, start)
    }

    fn __repr__(&self) -> String {
        format!("Model('{}', level='{}')", self.pool.name, level_name(self.pool.level))
    }

    fn __eq__(&self, other: &Self) -> bool {
        let key = |p: &Pool| (p.name, p.level, p.options.clone());
        key(&self.pool) == key(&other.pool)
    }

    fn __hash__(&self) -> u64 {
        CATALOG.iter().position(|e| e.name == self.pool.name).unwrap_or(0) as u64
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (&'static str, &'static str, f64, Option<usize>))> {
        let make = py.import("stiction.contact")?.getattr("_model")?;
        let ModelOptions { tolerance, max_pivots } = self.pool.options;
        Ok((make, (self.pool.name, level_name(self.pool.level), tolerance, max_pivots)))
    }
}

/// The pool of a model given by name or as an object.
fn pool(model: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Pool>> {
    let Some(model) = model else { return Ok(USUAL[0].clone()) };
    if let Ok(model) = model.cast::<Model>() {
        return Ok(model.get().pool.clone());
    }
    let Ok(name) = model.extract::<&str>() else {
        let message = format!("model must be a name or a stiction.contact.Model, found {}", model.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    };
    let found = USUAL.iter().find(|pool| pool.name == name).cloned();
    found.ok_or_else(|| match catalog::build(name, &ModelOptions::default()) {
        Err(e) => errors::from_input(&e),
        Ok(_) => errors::input(model.py(), format!("there is no model '{name}'")),
    })
}

fn run<'py>(
    pool: &Pool,
    problem: &Bound<'py, ContactProblem>,
    start: Option<&Bound<'py, ContactSolved>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = problem.py();
    let shared = problem.borrow().shared();
    let start = start.map(|s| s.get().warm_start());
    let outcome = py.detach(|| pool.solve(&shared, start)).map_err(|e| errors::from_input(&e))?;
    outcome::to_python(py, shared, outcome)
}

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
/// ...         print(motion.round(6), normal.round(6))
/// [0.95 0.   0.  ] [0.2]
#[pyfunction(name = "solve_contact")]
#[pyo3(signature = (problem, model=None, *, start=None), text_signature = "(problem, model='coulomb-cone', *, start=None)")]
pub fn solve_contact<'py>(
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
pub fn solve_contact_batch<'py>(
    py: Python<'py>,
    problems: Vec<Bound<'py, ContactProblem>>,
    model: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let shared: Vec<_> = problems.iter().map(|p| p.borrow().shared()).collect();
    let pool = pool(model)?;
    let workers = threads::pool(py, threads)?;
    let outcomes: Vec<Result<ContactOutcome, InputError>> =
        py.detach(|| workers.install(|| shared.par_iter().map(|problem| pool.solve(problem, None)).collect()));
    let both = shared.into_iter().zip(outcomes).enumerate();
    both.map(|(i, (problem, outcome))| {
        let place = |e: InputError| errors::in_place(py, &format!("problem {i}"), errors::from_input(&e));
        outcome::to_python(py, problem, outcome.map_err(place)?)
    })
    .collect()
}

/// All contact models: a list of dictionaries with ``name``, ``levels``, ``law`` and ``when``, the default first.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.contact.catalog()[0]["name"]
/// 'coulomb-cone'
#[pyfunction]
pub fn contact_catalog(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |e: &catalog::Entry| {
        let row = PyDict::new(py);
        row.set_item("name", e.name)?;
        row.set_item("levels", e.levels.iter().map(|l| level_name(*l)).collect::<Vec<_>>())?;
        row.set_item("law", e.law)?;
        row.set_item("when", e.when)?;
        Ok(row)
    };
    CATALOG.iter().map(entry).collect()
}

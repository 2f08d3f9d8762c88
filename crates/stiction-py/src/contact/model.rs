//! Contact models with their options.

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_contact::certificate::{baraff, cone, frictionless, no_slip, polyhedral, pyramid, shell, viscous};
use stiction_contact::models::catalog::{self, CATALOG};
use stiction_contact::models::coulomb_polyhedral::Scheme;
use stiction_contact::{
    ContactModel, ContactOutcome, CoulombPyramid, Law, Level, ModelKind, ModelOptions, NoSlipOptions,
    PolyhedralOptions, PyramidOptions, SolverKind, WarmStart,
};
use stiction_lcp::InputError;

use super::outcome::to_python;
use super::problem::ContactProblem;
use super::solved::ContactSolved;
use crate::display::number;
use crate::workspace_pool::WorkspacePool;
use crate::{arrays, errors, interrupt, pickle};

/// A model and all of its options.
#[derive(Clone, PartialEq)]
pub struct Choice {
    pub(crate) kind: ModelKind,
    pub(super) level: Level,
    pub(super) options: ModelOptions,
    /// The method it is solved by; `None` is the usual one.
    solver: Option<SolverKind>,
    /// The pyramid without inertia.
    pub(super) quasistatic: bool,
}

impl Choice {
    fn build(&self) -> Result<Box<dyn ContactModel>, InputError> {
        if self.quasistatic {
            return Ok(Box::new(self.pyramid()));
        }
        catalog::build_with(self.kind, Some(self.level), self.solver, &self.options)
    }

    /// The pyramid with these options, for what no other model can.
    pub fn pyramid(&self) -> CoulombPyramid {
        let (common, quasistatic) = (self.options.clone(), self.quasistatic);
        CoulombPyramid::new(PyramidOptions { common, quasistatic, ..PyramidOptions::default() })
    }
}

/// Models of one kind with one set of options.
pub(crate) struct Pool {
    pub(super) choice: Choice,
    workspaces: WorkspacePool<Box<dyn ContactModel>>,
}

impl Pool {
    fn new(choice: Choice) -> Self {
        Self { choice, workspaces: WorkspacePool::new() }
    }

    /// Solves with a model that is free.
    pub(crate) fn solve(
        &self,
        problem: &stiction_contact::ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        self.workspaces.with(|| self.choice.build(), |model| model.solve_from(problem, start))
    }
}

/// The models with their usual options and levels, in the order of the catalog.
static USUAL: LazyLock<Vec<Arc<Pool>>> = LazyLock::new(|| {
    let usual = |e: &catalog::Entry| Choice {
        kind: e.kind,
        level: e.levels[0],
        options: ModelOptions::default(),
        solver: None,
        quasistatic: false,
    };
    CATALOG.iter().map(|e| Arc::new(Pool::new(usual(e)))).collect()
});

/// The law that a model of the catalog certifies its solutions by.
pub(crate) fn law(kind: ModelKind, level: Level, quasistatic: bool) -> Box<dyn Law> {
    match kind {
        ModelKind::CoulombCone => Box::new(cone::ConeLaw { level }),
        ModelKind::CoulombPolyhedral => {
            let usual = PolyhedralOptions::default();
            Box::new(polyhedral::PolyhedralLaw::new(usual.directions, usual.scheme == Scheme::AnitescuPotra))
        }
        ModelKind::CoulombPyramid => Box::new(pyramid::PyramidLaw { quasistatic }),
        ModelKind::Frictionless => Box::new(frictionless::FrictionlessLaw { level }),
        ModelKind::Viscous => Box::new(viscous::ViscousLaw { level }),
        ModelKind::NoSlip => Box::new(no_slip::NoSlipLaw { release: NoSlipOptions::default().release }),
        ModelKind::BaraffFriction => Box::new(baraff::BaraffLaw { level }),
        ModelKind::DrumwrightShell => Box::new(shell::ShellLaw),
    }
}

/// `velocity` or `acceleration`.
pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Velocity => "velocity",
        Level::Acceleration => "acceleration",
    }
}

/// The level of that name.
pub(crate) fn level_of(py: Python<'_>, name: &str) -> PyResult<Level> {
    match name {
        "velocity" => Ok(Level::Velocity),
        "acceleration" => Ok(Level::Acceleration),
        x => Err(errors::input(py, format!("level must be 'velocity' or 'acceleration', found '{x}'"))),
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
/// solver : str, optional
///     The method: one of the model's ``solvers`` in the catalog; ``None`` is the usual one.
/// quasistatic : bool
///     Of ``"coulomb-pyramid"`` only: forces in equilibrium, without inertia.
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

getters!(Model, {
    /// The model's name.
    name: &'static str = |this| this.pool.choice.kind.name();
    /// ``"velocity"`` (impulses, velocities after the step) or ``"acceleration"`` (forces, accelerations).
    level: &'static str = |this| level_name(this.pool.choice.level);
    /// A solution is certified if every measure of its certificate is at most this.
    tolerance: f64 = |this| this.pool.choice.options.tolerance;
    /// Most pivots or iterations per island, or ``None``.
    max_pivots: Option<usize> = |this| this.pool.choice.options.max_pivots;
    /// The method it is solved by, or ``None`` for the usual one.
    solver: Option<&'static str> = |this| this.pool.choice.solver.map(SolverKind::name);
    /// Whether inertia is left out: forces in equilibrium.
    quasistatic: bool = |this| this.pool.choice.quasistatic;
});

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (name="coulomb-cone", *, level=None, tolerance=1e-10, max_pivots=None, solver=None, quasistatic=false))]
    fn new(
        py: Python<'_>,
        name: &str,
        level: Option<&str>,
        tolerance: f64,
        max_pivots: Option<&Bound<'_, PyAny>>,
        solver: Option<&str>,
        quasistatic: bool,
    ) -> PyResult<Self> {
        let max_pivots = max_pivots.map(|n| arrays::count("max_pivots", 0, n)).transpose()?;
        let options = ModelOptions { tolerance, max_pivots, ..ModelOptions::default() };
        let wrong = |e: InputError| errors::from_input(&e);
        let kind: ModelKind = name.parse().map_err(wrong)?;
        let level = level.map_or_else(|| Ok(kind.entry().levels[0]), |level| level_of(py, level))?;
        let solver = solver.map(|name| kind.solver(name)).transpose().map_err(wrong)?;
        catalog::build_with(kind, Some(level), solver, &options).map_err(wrong)?;
        if quasistatic && kind != ModelKind::CoulombPyramid {
            let only = ModelKind::CoulombPyramid;
            return Err(errors::input(py, format!("quasistatic: only {only} leaves inertia out, found '{kind}'")));
        }
        if quasistatic && solver.is_some() {
            return Err(errors::input(py, "quasistatic: its mixed problem has one solver, found another by name"));
        }
        Ok(Self { pool: Arc::new(Pool::new(Choice { kind, level, options, solver, quasistatic })) })
    }

    /// Solves a problem; see `stiction.contact.solve`.
    ///
    /// Parameters
    /// ----------
    /// problem : ContactProblem
    /// start : Solved, optional
    ///
    /// Returns
    /// -------
    /// Solved or Infeasible or NoSolution or Ray or Failed
    #[pyo3(signature = (problem, *, start=None))]
    fn solve<'py>(
        &self,
        problem: &Bound<'py, ContactProblem>,
        start: Option<&Bound<'py, ContactSolved>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        run(&self.pool, problem, start)
    }

    fn __repr__(&self) -> String {
        let Choice { kind, level, options, solver, quasistatic } = &self.pool.choice;
        let ModelOptions { tolerance, max_pivots, .. } = options;
        let mut text = format!("Model('{kind}', level='{}'", level_name(*level));
        if *tolerance != ModelOptions::default().tolerance {
            text += &format!(", tolerance={}", number(*tolerance));
        }
        if let Some(n) = max_pivots {
            text += &format!(", max_pivots={n}");
        }
        if let Some(solver) = solver {
            text += &format!(", solver='{solver}'");
        }
        if *quasistatic {
            text += ", quasistatic=True";
        }
        text + ")"
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.pool.choice == other.pool.choice
    }

    fn __hash__(&self) -> u64 {
        self.pool.choice.kind as u64
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Choice { kind, level, options, solver, quasistatic } = &self.pool.choice;
        let (name, solver) = (kind.name(), solver.map(SolverKind::name));
        let state = (name, level_name(*level), options.tolerance, options.max_pivots, solver, *quasistatic);
        pickle::reduce(py, "contact.model", state.into_pyobject(py)?)
    }
}

/// A model from its pickle, of the class that its name says.
pub(crate) fn restore<'py>(py: Python<'py>, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    py.import("stiction.contact")?.getattr("_model")?.call1(state.cast::<PyTuple>()?)
}

impl Model {
    /// What was chosen.
    pub fn choice(&self) -> &Choice {
        &self.pool.choice
    }
}

/// The pool of a model given by name or as an object.
pub(crate) fn pool(model: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Pool>> {
    let Some(model) = model else { return Ok(USUAL[0].clone()) };
    if let Ok(model) = model.cast::<Model>() {
        return Ok(model.get().pool.clone());
    }
    let Ok(name) = model.extract::<&str>() else {
        return Err(arrays::wrong_type("model must be a name or a stiction.contact.Model", model));
    };
    let kind: ModelKind = name.parse().map_err(|e| errors::from_input(&e))?;
    Ok(USUAL[kind as usize].clone())
}

/// Solves without the GIL until Ctrl-C, and makes an object of the outcome.
pub(crate) fn run<'py>(
    pool: &Pool,
    problem: &Bound<'py, ContactProblem>,
    start: Option<&Bound<'py, ContactSolved>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, shared) = (problem.py(), problem.try_borrow()?.shared());
    let start = start.map(|s| s.get().warm_start());
    let outcome = interrupt::detached(py, || pool.solve(&shared, start))?.map_err(|e| errors::from_input(&e))?;
    to_python(py, pool, shared, outcome)
}

//! Solvers with their options, and what all functions that solve have in common.

// Arguments have the names that Python's users write.
#![allow(non_snake_case)]

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_lcp::catalog::{self, CATALOG};
use stiction_lcp::{Basis, InputError, Lcp, Matrix, Options, Outcome, Problem};

use super::outcome::{Solved, to_python};
use crate::display::number;
use crate::workspace_pool::WorkspacePool;
use crate::{arrays, errors, interrupt, pickle};

/// Solvers of one kind with one set of options.
pub(crate) struct Pool {
    name: &'static str,
    options: Options,
    workspaces: WorkspacePool<Box<dyn stiction_lcp::Solver>>,
}

impl Pool {
    fn new(name: &'static str, options: Options) -> Self {
        Self { name, options, workspaces: WorkspacePool::new() }
    }

    /// Solves with a solver that is free.
    pub(crate) fn solve(&self, problem: &Problem, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let make = || catalog::build(self.name, &self.options);
        self.workspaces.with(make, |solver| solver.solve_from(problem.as_ref(), start))
    }

    /// The tolerance of certificates.
    pub(crate) fn tolerance(&self) -> f64 {
        self.options.tolerance
    }
}

/// The solvers with their usual options, in the order of the catalog.
static USUAL: LazyLock<Vec<Arc<Pool>>> =
    LazyLock::new(|| CATALOG.iter().map(|e| Arc::new(Pool::new(e.name, Options::default()))).collect());

/// A method for complementarity problems, with its options. It keeps its workspace from solve to solve, and may be used by any number of threads.
///
/// Parameters
/// ----------
/// name : str
///     One of ``stiction.lcp.catalog()``: ``"auto"``, ``"lemke"``, ``"dantzig"``, ...
/// tolerance : float
///     A solution is certified if its certificate holds at this tolerance (``Certificate.holds``). Above 0, below 1.
/// max_pivots : int, optional
///     Most pivots or iterations; ``None`` leaves it to the method.
/// max_flops : int, optional
///     Most floating-point operations, over everything the method tries; ``None`` for 2e10 or 20 n**3, whichever is
///     more. What ends there is `Stopped` with the reason ``"budget"``, at the same place in every run.
/// trace : bool
///     Keep a line per pivot in ``outcome.stats.trace``.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> lemke = stiction.lcp.Solver("lemke", trace=True)
/// >>> outcome = lemke.solve([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
/// >>> outcome.basis, len(outcome.stats.trace) == outcome.stats.pivots
/// ('zz', True)
#[pyclass(frozen, subclass, module = "stiction.lcp")]
pub struct Solver {
    pool: Arc<Pool>,
}

getters!(Solver, {
    /// The method's name.
    name: &'static str = |this| this.pool.name;
    /// A solution is certified if its certificate holds at this tolerance.
    tolerance: f64 = |this| this.pool.options.tolerance;
    /// Most pivots or iterations, or ``None``.
    max_pivots: Option<usize> = |this| this.pool.options.max_pivots;
    /// Most floating-point operations, or ``None`` for 2e10 or 20 n**3, whichever is more.
    max_flops: Option<u64> = |this| this.pool.options.max_flops;
    /// Whether a line per pivot is kept.
    trace: bool = |this| this.pool.options.trace;
});

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (name="auto", *, tolerance=1e-10, max_pivots=None, max_flops=None, trace=false))]
    fn new(
        name: &str,
        tolerance: f64,
        max_pivots: Option<&Bound<'_, PyAny>>,
        max_flops: Option<&Bound<'_, PyAny>>,
        trace: bool,
    ) -> PyResult<Self> {
        let max_pivots = max_pivots.map(|n| arrays::count("max_pivots", 0, n)).transpose()?;
        let max_flops = max_flops.map(|n| arrays::count("max_flops", 0, n)).transpose()?.map(|n| n as u64);
        let options = Options { tolerance, max_pivots, max_flops, trace, ..Options::default() };
        let solver = catalog::build(name, &options).map_err(|e| errors::from_input(&e))?;
        Ok(Self { pool: Arc::new(Pool::new(solver.name(), options)) })
    }

    /// Solves the problem M, q; see `stiction.lcp.solve`.
    ///
    /// Parameters
    /// ----------
    /// M : array_like, (n, n)
    /// q : array_like, (n,)
    /// start : str or Solved, optional
    ///
    /// Returns
    /// -------
    /// Solved or Unsolvable or Ray or Stopped
    #[pyo3(signature = (M, q, *, start=None), text_signature = "($self, M, q, *, start=None)")]
    fn solve<'py>(
        &self,
        M: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
        start: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        run(M.py(), &self.pool, lcp(M, q)?, start)
    }

    fn __repr__(&self) -> String {
        let Options { tolerance, max_pivots, max_flops, trace, .. } = &self.pool.options;
        let mut text = format!("Solver('{}'", self.pool.name);
        if *tolerance != Options::default().tolerance {
            text += &format!(", tolerance={}", number(*tolerance));
        }
        if let Some(n) = max_pivots {
            text += &format!(", max_pivots={n}");
        }
        if let Some(n) = max_flops {
            text += &format!(", max_flops={n}");
        }
        if *trace {
            text += ", trace=True";
        }
        text + ")"
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.pool.name == other.pool.name && self.pool.options == other.pool.options
    }

    fn __hash__(&self) -> u64 {
        let index = CATALOG.iter().position(|e| e.name == self.pool.name).unwrap_or(0) as u64;
        index ^ self.pool.options.tolerance.to_bits().rotate_left(7)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Options { tolerance, max_pivots, max_flops, trace, .. } = self.pool.options;
        pickle::reduce(py, "lcp.solver", (self.pool.name, tolerance, max_pivots, trace, max_flops).into_pyobject(py)?)
    }
}

/// A solver from its pickle, of the class that its name says.
pub(crate) fn restore<'py>(py: Python<'py>, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    py.import("stiction.lcp")?.getattr("_solver")?.call1(state.cast::<PyTuple>()?)
}

/// The pool of a solver given by name or as an object.
pub(crate) fn pool(solver: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Pool>> {
    let Some(solver) = solver else { return Ok(USUAL[0].clone()) };
    if let Ok(solver) = solver.cast::<Solver>() {
        return Ok(solver.get().pool.clone());
    }
    let Ok(name) = solver.extract::<&str>() else {
        return Err(arrays::wrong_type("solver must be a name or a stiction.lcp.Solver", solver));
    };
    let found = USUAL.iter().find(|pool| pool.name == name).cloned();
    found.ok_or_else(|| match catalog::build(name, &Options::default()) {
        Err(e) => errors::from_input(&e),
        Ok(_) => errors::input(solver.py(), format!("there is no solver '{name}'")),
    })
}

/// A start: a basis as a word, or an outcome that has one.
fn basis(start: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Basis>> {
    let Some(start) = start else { return Ok(None) };
    if let Ok(solved) = start.cast::<Solved>() {
        return Ok(Some(solved.get().basis_ref().clone()));
    }
    let Ok(word) = start.extract::<&str>() else {
        return Err(arrays::wrong_type("start must be a basis such as 'zwz' or a Solved", start));
    };
    word.parse().map(Some).map_err(|e| errors::from_input(&e))
}

/// M and q, with a message of its own where their sizes disagree.
pub(crate) fn square(m: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>) -> PyResult<(Matrix, Vec<f64>)> {
    let (py, m, q) = (m.py(), arrays::matrix("M", m)?, arrays::vector("q", q)?);
    let (rows, cols, n) = (m.rows(), m.cols(), q.len());
    if rows != cols {
        return Err(errors::input(py, format!("M must be square, found shape ({rows}, {cols})")));
    }
    if rows != n {
        return Err(errors::input(
            py,
            format!("q must have {rows} entries because M has shape ({rows}, {rows}), found {n}"),
        ));
    }
    Ok((m, q))
}

/// The problem M, q.
pub(crate) fn lcp(m: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>) -> PyResult<Problem> {
    let (m, q) = square(m, q)?;
    Lcp::new(m, q).map(Problem::Lcp).map_err(|e| errors::from_input(&e))
}

/// Solves without the GIL until Ctrl-C, and makes an object of the outcome.
pub(crate) fn run<'py>(
    py: Python<'py>,
    pool: &Pool,
    problem: Problem,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let start = basis(start)?;
    let solve = || pool.solve(&problem, start.as_ref());
    let outcome = interrupt::detached(py, solve)?.map_err(|e| errors::from_input(&e))?;
    to_python(py, problem, outcome, pool.options.tolerance)
}

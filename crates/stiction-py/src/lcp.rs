//! Complementarity problems from arrays: solvers, and the functions of `stiction.lcp`.

// Arguments have the names that Python's users write.
#![allow(non_snake_case)]

mod outcome;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use stiction_lcp::catalog::{self, CATALOG};
use stiction_lcp::{Basis, BoxLcp, FactoredLcp, InputError, Lcp, Matrix, Mlcp, Options, Outcome, Problem};

use crate::{arrays, errors, threads};
pub use outcome::{
    Certificate, ExactCheck, Ray, Solved, Stats, Stopped, Unsolvable, brief, html, no_pickle, restore_solved,
};

/// Solvers of one kind that nobody uses at the moment: each keeps its workspace for the next solve.
struct Pool {
    name: &'static str,
    options: Options,
    idle: Mutex<Vec<Box<dyn stiction_lcp::Solver>>>,
}

impl Pool {
    fn new(name: &'static str, options: Options) -> Self {
        Self { name, options, idle: Mutex::new(Vec::new()) }
    }

    fn solve(&self, problem: &Problem, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut solver = match free {
            Some(solver) => solver,
            None => catalog::build(self.name, &self.options)?,
        };
        let outcome = solver.solve_from(problem.as_ref(), start);
        idle().push(solver);
        outcome
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
///     A solution is certified if both measures of its certificate are at most this. Above 0, below 1.
/// max_pivots : int, optional
///     Most pivots or iterations; ``None`` leaves it to the method.
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

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (name="auto", *, tolerance=1e-10, max_pivots=None, trace=false))]
    fn new(name: &str, tolerance: f64, max_pivots: Option<usize>, trace: bool) -> PyResult<Self> {
        let options = Options { tolerance, max_pivots, trace };
        let solver = catalog::build(name, &options).map_err(|e| errors::from_input(&e))?;
        Ok(Self { pool: Arc::new(Pool::new(solver.name(), options)) })
    }

    /// The method's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.pool.name
    }

    /// A solution is certified if both measures of its certificate are at most this.
    #[getter]
    fn tolerance(&self) -> f64 {
        self.pool.options.tolerance
    }

    /// Most pivots or iterations, or ``None``.
    #[getter]
    fn max_pivots(&self) -> Option<usize> {
        self.pool.options.max_pivots
    }

    /// Whether a line per pivot is kept.
    #[getter]
    fn trace(&self) -> bool {
        self.pool.options.trace
    }

    /// Solves the problem M, q; see `stiction.lcp.solve`.
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
        let Options { tolerance, max_pivots, trace } = &self.pool.options;
        let mut text = format!("Solver({:?}", self.pool.name);
        if *tolerance != Options::default().tolerance {
            text += &format!(", tolerance={tolerance:e}");
        }
        if let Some(n) = max_pivots {
            text += &format!(", max_pivots={n}");
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

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (&'static str, f64, Option<usize>, bool))> {
        let Options { tolerance, max_pivots, trace } = self.pool.options;
        let make = py.import("stiction.lcp")?.getattr("_solver")?;
        Ok((make, (self.pool.name, tolerance, max_pivots, trace)))
    }
}

/// The pool of a solver given by name or as an object.
fn pool(solver: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Pool>> {
    let Some(solver) = solver else { return Ok(USUAL[0].clone()) };
    if let Ok(solver) = solver.cast::<Solver>() {
        return Ok(solver.get().pool.clone());
    }
    let Ok(name) = solver.extract::<&str>() else {
        let message = format!("solver must be a name or a stiction.lcp.Solver, found {}", solver.get_type().name()?);
        return Err(PyTypeError::new_err(message));
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
        let message = format!("start must be a basis such as 'zwz' or a Solved, found {}", start.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    };
    word.parse().map(Some).map_err(|e| errors::from_input(&e))
}

/// M and q, with a message of its own where their sizes disagree.
fn square(m: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>) -> PyResult<(Matrix, Vec<f64>)> {
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

fn lcp(m: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>) -> PyResult<Problem> {
    let (m, q) = square(m, q)?;
    Lcp::new(m, q).map(Problem::Lcp).map_err(|e| errors::from_input(&e))
}

fn run<'py>(
    py: Python<'py>,
    pool: &Pool,
    problem: Problem,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let start = basis(start)?;
    let outcome = py.detach(|| pool.solve(&problem, start.as_ref())).map_err(|e| errors::from_input(&e))?;
    outcome::to_python(py, problem, outcome, pool.options.tolerance)
}

/// Solve the linear complementarity problem ``w = M z + q, z >= 0, w >= 0, z * w == 0``.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
///     Any layout; C- and Fortran-contiguous float64 arrays are read in place. A SciPy sparse matrix is made dense.
/// q : array_like, (n,)
/// solver : str or Solver
///     ``"auto"`` looks at the problem, picks a method, verifies and falls back. Others: ``stiction.lcp.catalog()``.
/// start : str or Solved, optional
///     A basis to start from: a letter per row, ``z`` basic or ``w`` at its bound; or an earlier solution.
///
/// Returns
/// -------
/// Solved or Unsolvable or Ray or Stopped
///     Only `Solved` has ``z``, and it has a certificate computed from the problem and ``z`` alone.
///
/// Raises
/// ------
/// InputError
///     Sizes that do not fit, a NaN or an infinity, an unknown solver.
/// TypeError
///     An array that does not hold real numbers.
///
/// Examples
/// --------
/// >>> import numpy as np, stiction
/// >>> match stiction.lcp.solve(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])):
/// ...     case stiction.lcp.Solved(z, certificate=certificate):
/// ...         print(z.round(3), certificate.holds(1e-10))
/// ...     case other:
/// ...         print(other)
/// [1.333 2.333] True
#[pyfunction]
#[pyo3(signature = (M, q, solver=None, *, start=None), text_signature = "(M, q, solver='auto', *, start=None)")]
pub fn solve<'py>(
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = lcp(M, q)?;
    match solver {
        None => run(M.py(), &USUAL[0], problem, start),
        Some(_) => run(M.py(), &*pool(solver)?, problem, start),
    }
}

/// Solve the mixed problem: ``w = M z + q`` with ``w[i] == 0`` and ``z[i]`` of any sign where ``free[i]``, complementary elsewhere.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// q : array_like, (n,)
/// free : array_like of bool, (n,)
/// solver : str or Solver
/// start : str or Solved, optional
///
/// Returns
/// -------
/// Solved or Unsolvable or Ray or Stopped
///
/// Examples
/// --------
/// The equation ``2 x + y = 3`` beside ``0 <= y`` complementary to ``y - x + 1 >= 0``:
///
/// >>> import stiction
/// >>> outcome = stiction.lcp.mlcp([[2.0, 1.0], [-1.0, 1.0]], [-3.0, 1.0], [True, False])
/// >>> outcome.z.round(3).tolist(), outcome.basis
/// ([1.333, 0.333], 'zz')
#[pyfunction]
#[pyo3(signature = (M, q, free, solver=None, *, start=None), text_signature = "(M, q, free, solver='auto', *, start=None)")]
pub fn mlcp<'py>(
    py: Python<'py>,
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    free: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (m, q) = square(M, q)?;
    let free = arrays::booleans("free", free)?;
    arrays::check_len(py, "free", q.len(), free.len())?;
    let problem = Mlcp::new(m, q, free).map(Problem::Mlcp).map_err(|e| errors::from_input(&e))?;
    run(py, &*pool(solver)?, problem, start)
}

/// Solve the problem with bounds: ``lo <= z <= hi``, ``w = M z + q`` is at least 0 at a lower bound, at most 0 at an upper one, else 0.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// q : array_like, (n,)
/// lo, hi : array_like, (n,), or float
///     Bounds; infinite ones are allowed.
/// solver : str or Solver
/// start : str or Solved, optional
///     In a basis, ``u`` is a row at its upper bound.
///
/// Returns
/// -------
/// Solved or Unsolvable or Ray or Stopped
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.lcp.boxed([[1.0, 0.0], [0.0, 1.0]], [-3.0, 0.5], -1.0, 1.0).z.tolist()
/// [1.0, -0.5]
#[pyfunction]
#[pyo3(signature = (M, q, lo, hi, solver=None, *, start=None), text_signature = "(M, q, lo, hi, solver='auto', *, start=None)")]
pub fn boxed<'py>(
    py: Python<'py>,
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    lo: &Bound<'py, PyAny>,
    hi: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (m, q) = square(M, q)?;
    let (lo, hi) = (arrays::vector_of("lo", q.len(), lo)?, arrays::vector_of("hi", q.len(), hi)?);
    let problem = BoxLcp::new(m, q, lo, hi).map(Problem::Box).map_err(|e| errors::from_input(&e))?;
    run(py, &*pool(solver)?, problem, start)
}

/// Non-negative least squares: ``min ||G z + u||`` with ``z >= 0``, or with bounds. The problem ``w = G' G z + G' u``, never formed.
///
/// Parameters
/// ----------
/// G : array_like, (m, n)
/// u : array_like, (m,)
/// lo, hi : array_like, (n,), or float, optional
///     Bounds instead of ``z >= 0``; both or none.
/// solver : str or Solver
/// start : str or Solved, optional
///
/// Returns
/// -------
/// Solved or Unsolvable or Ray or Stopped
///     There is always a solution.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> outcome = stiction.lcp.nnls([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [-2.0, 1.0])
/// >>> outcome.z.round(12).tolist()
/// [2.0, 0.0, 0.0]
#[pyfunction]
#[pyo3(signature = (G, u, lo=None, hi=None, solver=None, *, start=None),
       text_signature = "(G, u, lo=None, hi=None, solver='auto', *, start=None)")]
pub fn nnls<'py>(
    py: Python<'py>,
    G: &Bound<'py, PyAny>,
    u: &Bound<'py, PyAny>,
    lo: Option<&Bound<'py, PyAny>>,
    hi: Option<&Bound<'py, PyAny>>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (g, u) = (arrays::matrix("G", G)?, arrays::vector("u", u)?);
    let problem = FactoredLcp::least_squares(g, u).map_err(|e| errors::from_input(&e))?;
    run(py, &*pool(solver)?, Problem::Factored(with_bounds(py, problem, lo, hi)?), start)
}

/// Solve the factored problem ``w = G' G z + e``, usually with far fewer rows than columns in ``G``; the square matrix is never formed.
///
/// Parameters
/// ----------
/// G : array_like, (m, n)
/// e : array_like, (n,)
/// lo, hi : array_like, (n,), or float, optional
///     Bounds instead of ``z >= 0``; both or none.
/// solver : str or Solver
/// start : str or Solved, optional
///
/// Returns
/// -------
/// Solved or Unsolvable or Ray or Stopped
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.lcp.factored([[1.0, 2.0]], [-1.0, -2.0], solver="modified-ppm").status
/// 'solved'
#[pyfunction]
#[pyo3(signature = (G, e, lo=None, hi=None, solver=None, *, start=None),
       text_signature = "(G, e, lo=None, hi=None, solver='auto', *, start=None)")]
pub fn factored<'py>(
    py: Python<'py>,
    G: &Bound<'py, PyAny>,
    e: &Bound<'py, PyAny>,
    lo: Option<&Bound<'py, PyAny>>,
    hi: Option<&Bound<'py, PyAny>>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (g, e) = (arrays::matrix("G", G)?, arrays::vector("e", e)?);
    let problem = FactoredLcp::new(g, e).map_err(|e| errors::from_input(&e))?;
    run(py, &*pool(solver)?, Problem::Factored(with_bounds(py, problem, lo, hi)?), start)
}

fn with_bounds(
    py: Python<'_>,
    problem: FactoredLcp,
    lo: Option<&Bound<'_, PyAny>>,
    hi: Option<&Bound<'_, PyAny>>,
) -> PyResult<FactoredLcp> {
    match (lo, hi) {
        (None, None) => Ok(problem),
        (Some(lo), Some(hi)) => {
            let n = problem.n();
            let (lo, hi) = (arrays::vector_of("lo", n, lo)?, arrays::vector_of("hi", n, hi)?);
            problem.with_bounds(lo, hi).map_err(|e| errors::from_input(&e))
        }
        _ => Err(errors::input(py, "lo and hi go together: give both, or none for z >= 0")),
    }
}

/// Solve many problems in parallel, with the GIL released.
///
/// Parameters
/// ----------
/// M : array_like, (k, n, n), or a sequence of k matrices of any orders
/// q : array_like, (k, n), or a sequence of k vectors
/// solver : str or Solver
/// threads : int, optional
///     Default: one per core. The outcomes do not depend on it.
///
/// Returns
/// -------
/// list of Solved or Unsolvable or Ray or Stopped
///
/// Examples
/// --------
/// >>> import numpy as np, stiction
/// >>> M = np.stack([np.eye(2), 2 * np.eye(2)])
/// >>> [outcome.z.tolist() for outcome in stiction.lcp.solve_batch(M, [[-1.0, -1.0], [-1.0, 3.0]])]
/// [[1.0, 1.0], [0.5, 0.0]]
#[pyfunction]
#[pyo3(signature = (M, q, solver=None, *, threads=None), text_signature = "(M, q, solver='auto', *, threads=None)")]
pub fn solve_batch<'py>(
    py: Python<'py>,
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (k, vectors) = (M.len()?, q.len()?);
    if k != vectors {
        return Err(errors::input(py, format!("M holds {k} matrices, q {vectors} vectors; they must be as many")));
    }
    let mut problems = Vec::with_capacity(k);
    for i in 0..k {
        let problem = lcp(&M.get_item(i)?, &q.get_item(i)?);
        problems.push(problem.map_err(|e| errors::in_place(py, &format!("problem {i}"), e))?);
    }
    let pool = pool(solver)?;
    let workers = threads::pool(py, threads)?;
    let outcomes: Vec<Result<Outcome, InputError>> =
        py.detach(|| workers.install(|| problems.par_iter().map(|problem| pool.solve(problem, None)).collect()));
    let both = problems.into_iter().zip(outcomes);
    both.map(|(problem, outcome)| {
        let outcome = outcome.map_err(|e| errors::from_input(&e))?;
        outcome::to_python(py, problem, outcome, pool.options.tolerance)
    })
    .collect()
}

/// The certificate of any vector: how well z solves ``w = M z + q, z >= 0, w >= 0, z * w == 0``.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// q : array_like, (n,)
/// z : array_like, (n,)
///
/// Returns
/// -------
/// Certificate
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.lcp.certify([[1.0]], [-1.0], [1.0]).worst
/// 0.0
/// >>> stiction.lcp.certify([[1.0]], [-1.0], [1.1]).holds(1e-10)
/// False
#[pyfunction]
#[pyo3(text_signature = "(M, q, z)")]
pub fn certify(M: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>, z: &Bound<'_, PyAny>) -> PyResult<Certificate> {
    let problem = lcp(M, q)?;
    let z = arrays::vector("z", z)?;
    arrays::check_len(M.py(), "z", problem.as_ref().n(), z.len())?;
    if let Some(i) = z.iter().position(|x| !x.is_finite()) {
        return Err(errors::input(M.py(), format!("z[{i}] is {}; every number must be finite", z[i])));
    }
    let mut w = vec![0.0; z.len()];
    Ok(Certificate(stiction_lcp::certify(problem.as_ref(), &z, &mut w)))
}

/// The class of a square matrix that a theorem speaks of: ``"symmetric positive definite"``, ...
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// exact : bool
///     Decide semidefiniteness for the numbers as they are, in integer arithmetic: for small matrices and proofs.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.lcp.classify([[2.0, 1.0], [1.0, 2.0]])
/// 'symmetric positive definite'
#[pyfunction]
#[pyo3(signature = (M, *, exact=false), text_signature = "(M, *, exact=False)")]
pub fn classify(M: &Bound<'_, PyAny>, exact: bool) -> PyResult<String> {
    let m = arrays::matrix("M", M)?;
    let n = m.rows();
    let problem = Lcp::new(m, vec![0.0; n]).map_err(|e| errors::from_input(&e))?;
    let of = if exact { stiction_lcp::classify::classify_exact } else { stiction_lcp::classify::classify };
    Ok(of(problem.m()).to_string())
}

/// All solvers: a list of dictionaries with ``name``, ``summary``, ``when`` and ``takes``, the default first.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> [entry["name"] for entry in stiction.lcp.catalog()][:3]
/// ['auto', 'lemke', 'principal-pivot']
#[pyfunction(name = "catalog")]
pub fn solver_catalog(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |e: &catalog::Entry| {
        let row = PyDict::new(py);
        for (key, text) in [("name", e.name), ("summary", e.summary), ("when", e.when), ("takes", e.takes)] {
            row.set_item(key, text)?;
        }
        Ok(row)
    };
    CATALOG.iter().map(entry).collect()
}

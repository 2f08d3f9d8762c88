//! The functions of `stiction.lcp` that solve.

// Arguments have the names that Python's users write.
#![allow(non_snake_case)]

use pyo3::prelude::*;
use stiction_lcp::{BoxLcp, Enumerate, FactoredLcp, InputError, Mlcp, Options, Outcome, Problem, Stats};

use super::outcome::{Solved, to_python};
use super::solver::{lcp, pool, run, square};
use crate::{arrays, errors, interrupt, threads};

/// Solve the linear complementarity problem ``w = M z + q, z >= 0, w >= 0, z * w == 0``.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
///     Any layout. C- and Fortran-contiguous float64 arrays go straight into the solver's own matrix, others through a copy by NumPy. A SciPy
///     sparse matrix is made dense.
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
pub(crate) fn solve<'py>(
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = lcp(M, q)?;
    run(M.py(), &*pool(solver)?, problem, start)
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
pub(crate) fn mlcp<'py>(
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
pub(crate) fn boxed<'py>(
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
pub(crate) fn nnls<'py>(
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
pub(crate) fn factored<'py>(
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
pub(crate) fn solve_batch<'py>(
    py: Python<'py>,
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    solver: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
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
    let workers = threads::pool(py, threads::asked(threads)?)?;
    let outcomes: Vec<Result<Outcome, InputError>> =
        threads::map(py, &workers, &problems, |problem| pool.solve(problem, None))?;
    let both = problems.into_iter().zip(outcomes).enumerate();
    both.map(|(i, (problem, outcome))| {
        let place = |e: InputError| errors::in_place(py, &format!("problem {i}"), errors::from_input(&e));
        to_python(py, problem, outcome.map_err(place)?, pool.tolerance())
    })
    .collect()
}

/// All solutions of a small problem, and whether there are no others; see `stiction.lcp.all_solutions`.
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// q : array_like, (n,)
/// tolerance : float
/// max_order : int
///
/// Returns
/// -------
/// (list of Solved, bool)
#[pyfunction]
pub(crate) fn all_solutions<'py>(
    M: &Bound<'py, PyAny>,
    q: &Bound<'py, PyAny>,
    tolerance: f64,
    max_order: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Bound<'py, Solved>>, bool)> {
    let (py, problem) = (M.py(), lcp(M, q)?);
    let options = Options { tolerance, ..Options::default() };
    let mut method = Enumerate::new(options.clone()).with_max_order(arrays::count("max_order", 0, max_order)?);
    let found = interrupt::detached(py, || method.all_solutions(&problem))?.map_err(|e| errors::from_input(&e))?;
    let (mut solutions, mut complete) = (Vec::new(), found.singular.is_empty());
    for s in found.solutions {
        if s.certificate.holds(tolerance) {
            let solved = stiction_lcp::Solved::new(s.z, s.w, s.basis, s.certificate, &options, Stats::default());
            solutions.push(Bound::new(py, Solved::new(problem.clone(), solved, tolerance))?);
        } else {
            complete = false;
        }
    }
    Ok((solutions, complete))
}

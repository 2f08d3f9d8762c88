//! The functions of `stiction.lcp` that look at problems and answers.

// Arguments have the names that Python's users write.
#![allow(non_snake_case)]

use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_lcp::Lcp;
use stiction_lcp::catalog::{self, CATALOG};

use super::certificate::Certificate;
use super::solver::lcp;
use crate::{arrays, errors, interrupt};

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
/// >>> stiction.lcp.certify([[1.0]], [-1.0], [1.0]).holds(1e-14)
/// True
/// >>> stiction.lcp.certify([[1.0]], [-1.0], [1.1]).holds(1e-10)
/// False
#[pyfunction]
#[pyo3(text_signature = "(M, q, z)")]
pub(crate) fn certify(M: &Bound<'_, PyAny>, q: &Bound<'_, PyAny>, z: &Bound<'_, PyAny>) -> PyResult<Certificate> {
    let problem = lcp(M, q)?;
    let z = arrays::vector("z", z)?;
    arrays::check_len(M.py(), "z", problem.as_ref().n(), z.len())?;
    let z = arrays::finite("z", z, M.py())?;
    let mut w = vec![0.0; z.len()];
    Ok(Certificate::new(&stiction_lcp::certify(problem.as_ref(), &z, &mut w)))
}

/// The class of a square matrix that a theorem speaks of: ``"symmetric positive definite"``, ...
///
/// Parameters
/// ----------
/// M : array_like, (n, n)
/// exact : bool
///     Decide semidefiniteness for the numbers as they are, in integer arithmetic: for small matrices and proofs.
///
/// Returns
/// -------
/// str
///
/// Examples
/// --------
/// >>> import stiction
/// >>> stiction.lcp.classify([[2.0, 1.0], [1.0, 2.0]])
/// 'symmetric positive definite'
#[pyfunction]
#[pyo3(signature = (M, *, exact=false), text_signature = "(M, *, exact=False)")]
pub(crate) fn classify(M: &Bound<'_, PyAny>, exact: bool) -> PyResult<String> {
    let m = arrays::matrix("M", M)?;
    let n = m.rows();
    let problem = Lcp::new(m, vec![0.0; n]).map_err(|e| errors::from_input(&e))?;
    let of = if exact { stiction_lcp::classify::classify_exact } else { stiction_lcp::classify::classify };
    Ok(interrupt::detached(M.py(), || of(problem.m()))?.to_string())
}

/// All solvers, the default first.
///
/// Returns
/// -------
/// list of dict
///     With ``name``, ``summary``, ``when`` and ``takes``.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> [entry["name"] for entry in stiction.lcp.catalog()][:3]
/// ['auto', 'lemke', 'principal-pivot']
#[pyfunction(name = "catalog")]
pub(crate) fn solver_catalog(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |e: &catalog::Entry| {
        let row = PyDict::new(py);
        for (key, text) in [("name", e.name), ("summary", e.summary), ("when", e.when), ("takes", e.takes)] {
            row.set_item(key, text)?;
        }
        Ok(row)
    };
    CATALOG.iter().map(entry).collect()
}

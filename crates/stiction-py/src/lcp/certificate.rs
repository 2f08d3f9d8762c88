//! Certificates, statistics and exact checks as Python objects.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use stiction_lcp::exact;

use crate::display::{brief, html};
use crate::pickle;

/// How well a vector solves a problem, from the problem and the vector alone: dimensionless, 0 is exact.
#[pyclass(frozen, get_all, eq, module = "stiction.lcp")]
#[derive(Clone, PartialEq)]
pub(crate) struct Certificate {
    /// Natural-map residual, scaled by the data as a whole.
    pub residual: f64,
    /// Row-by-row backward error: the vector solves exactly a problem this close to the given one, entry by entry.
    pub backward_error: f64,
    /// The residual that rounding z to doubles produces by itself.
    pub rounding_limit: f64,
    /// The row with the largest error, if there is one.
    pub worst_row: Option<usize>,
    /// The larger of the two measures.
    pub worst: f64,
}

impl Certificate {
    /// Of the engine's.
    pub(crate) fn new(of: &stiction_lcp::Certificate) -> Self {
        let (residual, backward_error, rounding_limit) = (of.residual, of.backward_error, of.rounding_limit);
        Self { residual, backward_error, rounding_limit, worst_row: of.worst_row, worst: of.worst() }
    }

    /// What it is pickled as.
    pub(crate) fn stored(&self) -> StoredCertificate {
        (self.residual, self.backward_error, self.rounding_limit, self.worst_row, self.worst)
    }

    /// From its pickle.
    pub(crate) fn restored(stored: StoredCertificate) -> Self {
        let (residual, backward_error, rounding_limit, worst_row, worst) = stored;
        Self { residual, backward_error, rounding_limit, worst_row, worst }
    }
}

/// The fields of a [`Certificate`].
pub(crate) type StoredCertificate = (f64, f64, f64, Option<usize>, f64);

#[pymethods]
impl Certificate {
    /// Whether the backward error is at most `tolerance`, and the residual too or at most `rounding_limit`.
    ///
    /// Parameters
    /// ----------
    /// tolerance : float
    ///
    /// Returns
    /// -------
    /// bool
    #[pyo3(signature = (tolerance=1e-10))]
    fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance.max(self.rounding_limit) && self.backward_error <= tolerance
    }

    /// Whether rounding z alone may leave a residual above `tolerance`: the answer is limited by double precision.
    ///
    /// Parameters
    /// ----------
    /// tolerance : float
    ///
    /// Returns
    /// -------
    /// bool
    #[pyo3(signature = (tolerance=1e-10))]
    fn limited_by_precision(&self, tolerance: f64) -> bool {
        self.rounding_limit > tolerance
    }

    fn __repr__(&self) -> String {
        let (residual, backward_error) = (brief(self.residual), brief(self.backward_error));
        let limit = match self.limited_by_precision(stiction_lcp::DEFAULT_TOLERANCE) {
            true => format!(", limited by double precision to {}", brief(self.rounding_limit)),
            false => String::new(),
        };
        format!("Certificate(residual={residual}, backward_error={backward_error}{limit})")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "lcp.certificate", self.stored().into_pyobject(py)?)
    }
}

/// The entering and the leaving variable of a pivot, and the method's measure of progress.
type TraceLine = (Option<String>, Option<String>, f64);

/// What a solver did; the counts are deterministic.
#[pyclass(frozen, get_all, eq, module = "stiction.lcp")]
#[derive(Clone, PartialEq)]
pub(crate) struct Stats {
    /// Basis changes.
    pub pivots: usize,
    /// Iterations of an iterative method.
    pub iterations: usize,
    /// Factorizations made from scratch.
    pub refactorizations: usize,
    /// Starts over with another covering vector.
    pub restarts: usize,
    /// Floating-point operations, as far as they grow with the order of the problem.
    pub flops: u64,
    /// What was tried, in order: pairs of a method and how it ended. Empty unless several were tried.
    pub attempts: Vec<(String, String)>,
    /// One tuple per pivot, if asked for: the entering and the leaving variable, and the method's measure of progress.
    pub trace: Vec<TraceLine>,
}

impl Stats {
    /// Of the engine's.
    pub(crate) fn new(of: stiction_lcp::Stats) -> Self {
        let name = |v: Option<stiction_lcp::outcome::Variable>| v.map(|v| v.to_string());
        Self {
            pivots: of.pivots,
            iterations: of.iterations,
            refactorizations: of.refactorizations,
            restarts: of.restarts,
            flops: of.flops,
            attempts: of.attempts.into_iter().map(|a| (a.solver.to_string(), a.ended)).collect(),
            trace: of.trace.into_iter().map(|line| (name(line.entering), name(line.leaving), line.measure)).collect(),
        }
    }

    /// What it is pickled as.
    pub(crate) fn stored(&self) -> StoredStats {
        let counts = (self.pivots, self.iterations, self.refactorizations, self.restarts, self.flops);
        (counts, self.attempts.clone(), self.trace.clone())
    }

    /// From its pickle.
    pub(crate) fn restored((counts, attempts, trace): StoredStats) -> Self {
        let (pivots, iterations, refactorizations, restarts, flops) = counts;
        Self { pivots, iterations, refactorizations, restarts, flops, attempts, trace }
    }
}

/// The fields of [`Stats`].
pub(crate) type StoredStats = ((usize, usize, usize, usize, u64), Vec<(String, String)>, Vec<TraceLine>);

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { pivots, iterations, refactorizations, .. } = self;
        format!("Stats(pivots={pivots}, iterations={iterations}, refactorizations={refactorizations})")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "lcp.stats", self.stored().into_pyobject(py)?)
    }
}

/// What exact arithmetic says about a basis. True in a condition if it is proven.
#[pyclass(frozen, eq, module = "stiction.lcp")]
#[derive(PartialEq)]
pub(crate) struct ExactCheck {
    /// ``"proven"``, ``"violated"`` or ``"singular"``.
    #[pyo3(get)]
    verdict: String,
    /// The row of the largest residual, if something is violated.
    #[pyo3(get)]
    row: Option<usize>,
    /// The largest residual, as a fraction.
    amount: Option<String>,
}

impl ExactCheck {
    /// Of the engine's.
    pub(crate) fn new(of: exact::ExactCheck) -> Self {
        let (verdict, row, amount) = match of {
            exact::ExactCheck::Proven => ("proven", None, Some("0".into())),
            exact::ExactCheck::Violated { row, amount } => ("violated", Some(row), Some(amount.to_string())),
            exact::ExactCheck::Singular => ("singular", None, None),
        };
        Self { verdict: verdict.into(), row, amount }
    }

    /// From its pickle.
    pub(crate) fn restored((verdict, row, amount): (String, Option<usize>, Option<String>)) -> Self {
        Self { verdict, row, amount }
    }
}

#[pymethods]
impl ExactCheck {
    /// The largest residual as a ``fractions.Fraction``; 0 if proven, ``None`` if the basis gives no point.
    #[getter]
    fn amount<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.amount.as_ref().map(|amount| fraction(py, amount)).transpose()
    }

    fn __bool__(&self) -> bool {
        self.verdict == "proven"
    }

    fn __repr__(&self) -> String {
        match (&self.row, &self.amount) {
            (Some(row), Some(amount)) => format!("ExactCheck('violated', row={row}, amount={amount})"),
            _ => format!("ExactCheck('{}')", self.verdict),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = (&self.verdict, self.row, &self.amount);
        pickle::reduce(py, "lcp.exact", state.into_pyobject(py)?)
    }
}

/// A rational number as a ``fractions.Fraction``.
pub(crate) fn fraction<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static FRACTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FRACTION.import(py, "fractions", "Fraction")?.call1((text,))
}

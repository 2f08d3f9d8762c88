//! Outcomes of complementarity problems as Python objects.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use stiction_lcp::exact::{self, Rational};
use stiction_lcp::io::{ProblemFile, ReadOptions, read_bytes};
use stiction_lcp::{Basis, Outcome, Position, Problem, Proof, StopReason};

use crate::{arrays, errors};

/// An array that is made when it is first asked for, and then stays.
type Lazy = PyOnceLock<Py<PyArray1<f64>>>;

fn lazy<'py>(py: Python<'py>, cell: &Lazy, numbers: &[f64]) -> Bound<'py, PyArray1<f64>> {
    cell.get_or_init(py, || arrays::frozen(py, numbers).unbind()).bind(py).clone()
}

/// The outcome of `problem` as an object of its class.
pub fn to_python(py: Python<'_>, problem: Problem, outcome: Outcome, tolerance: f64) -> PyResult<Bound<'_, PyAny>> {
    let problem = Arc::new(problem);
    Ok(match outcome {
        Outcome::Solved(inner) => {
            Bound::new(py, Solved { problem, inner, tolerance, z: Lazy::new(), w: Lazy::new() })?.into_any()
        }
        Outcome::Unsolvable(inner) => Bound::new(py, Unsolvable { problem, inner })?.into_any(),
        Outcome::Ray(inner) => Bound::new(py, Ray { inner })?.into_any(),
        Outcome::Stopped(inner) => Bound::new(py, Stopped { inner })?.into_any(),
    })
}

/// How well a vector solves a problem, from the problem and the vector alone: dimensionless, 0 is exact.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Certificate(pub stiction_lcp::Certificate);

#[pymethods]
impl Certificate {
    /// Natural-map residual, scaled by the data as a whole.
    #[getter]
    fn residual(&self) -> f64 {
        self.0.residual
    }

    /// Row-by-row backward error: the vector solves exactly a problem this close to the given one, entry by entry.
    #[getter]
    fn backward_error(&self) -> f64 {
        self.0.backward_error
    }

    /// The row with the largest error, if there is one.
    #[getter]
    fn worst_row(&self) -> Option<usize> {
        self.0.worst_row
    }

    /// The larger of the two measures.
    #[getter]
    fn worst(&self) -> f64 {
        self.0.worst()
    }

    /// Whether both measures are at most `tolerance`.
    #[pyo3(signature = (tolerance=1e-10))]
    fn holds(&self, tolerance: f64) -> bool {
        self.0.holds(tolerance)
    }

    fn __repr__(&self) -> String {
        format!("Certificate(residual={}, backward_error={})", brief(self.0.residual), brief(self.0.backward_error))
    }
}

/// What a solver did; the counts are deterministic.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Stats(stiction_lcp::Stats);

#[pymethods]
impl Stats {
    /// Basis changes.
    #[getter]
    fn pivots(&self) -> usize {
        self.0.pivots
    }

    /// Iterations of an iterative method.
    #[getter]
    fn iterations(&self) -> usize {
        self.0.iterations
    }

    /// Factorizations made from scratch.
    #[getter]
    fn refactorizations(&self) -> usize {
        self.0.refactorizations
    }

    /// Starts over with another covering vector.
    #[getter]
    fn restarts(&self) -> usize {
        self.0.restarts
    }

    /// What was tried, in order: pairs of a method and how it ended. Empty unless several were tried.
    #[getter]
    fn attempts(&self) -> Vec<(&'static str, String)> {
        self.0.attempts.iter().map(|a| (a.solver, a.ended.clone())).collect()
    }

    /// One tuple per pivot, if asked for: the entering and the leaving variable, and the method's measure of progress.
    #[getter]
    fn trace(&self) -> Vec<(Option<String>, Option<String>, f64)> {
        let name = |v: Option<stiction_lcp::outcome::Variable>| v.map(|v| v.to_string());
        self.0.trace.iter().map(|line| (name(line.entering), name(line.leaving), line.measure)).collect()
    }

    fn __repr__(&self) -> String {
        let s = &self.0;
        format!("Stats(pivots={}, iterations={}, refactorizations={})", s.pivots, s.iterations, s.refactorizations)
    }
}

/// What exact arithmetic says about a basis. True in a condition if it is proven.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct ExactCheck(exact::ExactCheck);

#[pymethods]
impl ExactCheck {
    /// ``"proven"``, ``"violated"`` or ``"singular"``.
    #[getter]
    fn verdict(&self) -> &'static str {
        match &self.0 {
            exact::ExactCheck::Proven => "proven",
            exact::ExactCheck::Violated { .. } => "violated",
            exact::ExactCheck::Singular => "singular",
        }
    }

    /// The row of the largest miss, if something is violated.
    #[getter]
    fn row(&self) -> Option<usize> {
        if let exact::ExactCheck::Violated { row, .. } = &self.0 { Some(*row) } else { None }
    }

    /// The largest miss as a ``fractions.Fraction``; 0 if proven, ``None`` if the basis gives no point.
    #[getter]
    fn amount<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.0 {
            exact::ExactCheck::Proven => fraction(py, "0").map(Some),
            exact::ExactCheck::Violated { amount, .. } => fraction(py, &amount.to_string()).map(Some),
            exact::ExactCheck::Singular => Ok(None),
        }
    }

    fn __bool__(&self) -> bool {
        self.0 == exact::ExactCheck::Proven
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            exact::ExactCheck::Violated { row, amount } => {
                format!("ExactCheck('violated', row={row}, amount={amount})")
            }
            _ => format!("ExactCheck('{}')", self.verdict()),
        }
    }
}

/// A certified solution. In a pattern: ``case Solved(z, w)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Solved {
    problem: Arc<Problem>,
    inner: stiction_lcp::Solved,
    tolerance: f64,
    z: Lazy,
    w: Lazy,
}

impl Solved {
    /// The basis.
    pub fn basis_ref(&self) -> &Basis {
        &self.inner.basis
    }
}

#[pymethods]
impl Solved {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("z", "w")
    }

    /// ``"solved"``.
    #[getter]
    fn status(&self) -> &'static str {
        "solved"
    }

    /// The solution, (n,), read-only.
    #[getter]
    fn z<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        lazy(py, &self.z, &self.inner.z)
    }

    /// ``M z + q``, recomputed from the problem, (n,), read-only.
    #[getter]
    fn w<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        lazy(py, &self.w, &self.inner.w)
    }

    /// The basis z belongs to: a letter per row, ``z`` basic, ``w`` at the lower bound, ``u`` at the upper. The start of the next solve.
    #[getter]
    fn basis(&self) -> String {
        self.inner.basis.to_string()
    }

    /// Which z are basic, (n,) of bool.
    #[getter]
    fn active<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let active: Vec<bool> = self.inner.basis.positions().iter().map(|p| *p == Position::Basic).collect();
        arrays::frozen(py, &active)
    }

    /// How well z solves the problem, from the problem and z alone.
    #[getter]
    fn certificate(&self) -> Certificate {
        Certificate(self.inner.certificate)
    }

    /// What was done.
    #[getter]
    fn stats(&self) -> Stats {
        Stats(self.inner.stats.clone())
    }

    /// Re-solves the basis in rational arithmetic and checks every sign of the problem exactly.
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> outcome = stiction.lcp.solve([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    /// >>> outcome.verify_exact().verdict
    /// 'proven'
    fn verify_exact(&self, py: Python<'_>) -> ExactCheck {
        ExactCheck(py.detach(|| exact::verify_exact(self.problem.as_ref().as_ref(), &self.inner.basis)))
    }

    /// The exact z and w of the basis, as two lists of ``fractions.Fraction``; ``None`` if the basis gives no point.
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> z, w = stiction.lcp.solve([[3.0]], [-1.0]).exact_solution()
    /// >>> z
    /// [Fraction(1, 3)]
    #[allow(clippy::type_complexity)]
    fn exact_solution<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>)>> {
        let found = py.detach(|| exact::solve_basis(self.problem.as_ref().as_ref(), &self.inner.basis));
        let Some(found) = found else { return Ok(None) };
        let all = |x: &[Rational]| x.iter().map(|x| fraction(py, &x.to_string())).collect::<PyResult<Vec<_>>>();
        Ok(Some((all(&found.z)?, all(&found.w)?)))
    }

    /// This outcome; the others raise `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let worst = brief(self.inner.certificate.worst());
        format!("Solved(n={}, basis='{}', certificate={worst})", self.inner.z.len(), shortened(&self.basis()))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let file = ProblemFile::from(self.problem.as_ref().clone());
        let make = py.import("stiction._stiction")?.getattr("_restore_solved")?;
        let s = &self.inner.stats;
        let counts = (s.pivots, s.iterations, s.refactorizations, s.restarts);
        let z = PyArray1::from_slice(py, &self.inner.z);
        Ok((make, (file.to_json(), z, self.basis(), self.tolerance, counts).into_pyobject(py)?))
    }
}

/// A solution from its pickle: certified again, from the problem and z alone.
#[pyfunction(name = "_restore_solved")]
pub fn restore_solved(
    py: Python<'_>,
    problem: &str,
    z: &Bound<'_, PyAny>,
    basis: &str,
    tolerance: f64,
    counts: (usize, usize, usize, usize),
) -> PyResult<Solved> {
    let bad = |e: stiction_lcp::InputError| errors::from_input(&e);
    let problem = read_bytes("pickle.json", problem.as_bytes(), &ReadOptions::default()).map_err(bad)?.problem;
    let (z, basis) = (arrays::vector("z", z)?, basis.parse::<Basis>().map_err(bad)?);
    arrays::check_len(py, "z", problem.as_ref().n(), z.len())?;
    basis.check_len(z.len()).map_err(bad)?;
    let mut w = vec![0.0; z.len()];
    let certificate = stiction_lcp::certify(problem.as_ref(), &z, &mut w);
    if !certificate.holds(tolerance) {
        return Err(errors::input(py, format!("the pickled z does not solve its problem: {certificate}")));
    }
    let (pivots, iterations, refactorizations, restarts) = counts;
    let stats = stiction_lcp::Stats { pivots, iterations, refactorizations, restarts, ..Default::default() };
    let inner = stiction_lcp::Solved { z, w, basis, certificate, stats };
    Ok(Solved { problem: Arc::new(problem), inner, tolerance, z: Lazy::new(), w: Lazy::new() })
}

/// A proof that there is no solution. In a pattern: ``case Unsolvable(proof)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Unsolvable {
    problem: Arc<Problem>,
    inner: stiction_lcp::Unsolvable,
}

#[pymethods]
impl Unsolvable {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("proof",)
    }

    /// ``"unsolvable"``.
    #[getter]
    fn status(&self) -> &'static str {
        "unsolvable"
    }

    /// The proof, in words.
    #[getter]
    fn proof(&self) -> String {
        self.inner.proof.to_string()
    }

    /// Farkas vector: ``y >= 0``, ``M' y <= 0``, ``q' y < 0``, exactly; ``None`` if the proof is of another kind.
    #[getter]
    fn farkas<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        if let Proof::Farkas(y) = &self.inner.proof { Some(arrays::frozen(py, y)) } else { None }
    }

    /// Direction of the secondary ray, if that is the proof.
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        if let Proof::Ray { direction, .. } = &self.inner.proof { Some(arrays::frozen(py, direction)) } else { None }
    }

    /// How many complementary bases were tried, if the proof is that none has a solution.
    #[getter]
    fn bases(&self) -> Option<u64> {
        if let Proof::Enumeration { bases } = &self.inner.proof { Some(*bases) } else { None }
    }

    /// What was done.
    #[getter]
    fn stats(&self) -> Stats {
        Stats(self.inner.stats.clone())
    }

    /// Checks a Farkas vector again in rational arithmetic; ``None`` if the proof is of another kind.
    fn verify_exact(&self, py: Python<'_>) -> Option<bool> {
        let Proof::Farkas(y) = &self.inner.proof else { return None };
        Some(py.detach(|| exact::check_farkas(self.problem.as_ref(), y)))
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let message = format!("no solution: {}", slf.get().inner.proof);
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("Unsolvable('{}')", self.inner.proof)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Unsolvable"))
    }
}

/// The method ended on a ray, which by itself proves nothing. In a pattern: ``case Ray(direction, claim)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Ray {
    inner: stiction_lcp::Ray,
}

#[pymethods]
impl Ray {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("direction", "claim")
    }

    /// ``"ray"``.
    #[getter]
    fn status(&self) -> &'static str {
        "ray"
    }

    /// The direction in z, (n,).
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.direction)
    }

    /// What the ray supports, in words.
    #[getter]
    fn claim(&self) -> &str {
        &self.inner.claim
    }

    /// What was done.
    #[getter]
    fn stats(&self) -> Stats {
        Stats(self.inner.stats.clone())
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let message = format!("ended on a ray: {}", slf.get().inner.claim);
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("Ray('{}')", self.inner.claim)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Ray"))
    }
}

/// The method stopped without an answer. In a pattern: ``case Stopped(why)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Stopped {
    inner: stiction_lcp::Stopped,
}

#[pymethods]
impl Stopped {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("why",)
    }

    /// ``"stopped"``.
    #[getter]
    fn status(&self) -> &'static str {
        "stopped"
    }

    /// Why, in words.
    #[getter]
    fn why(&self) -> String {
        self.inner.why.to_string()
    }

    /// Why: ``"limit"``, ``"cycle"``, ``"uncertified"``, ``"numerical"`` or ``"not-applicable"``.
    #[getter]
    fn reason(&self) -> &'static str {
        match self.inner.why {
            StopReason::Limit(_) => "limit",
            StopReason::Cycle => "cycle",
            StopReason::Uncertified => "uncertified",
            StopReason::Numerical(_) => "numerical",
            StopReason::NotApplicable(_) => "not-applicable",
        }
    }

    /// The best iterate, (n,). Not a solution, and therefore not called z.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.z)
    }

    /// How far the best iterate is from a solution.
    #[getter]
    fn certificate(&self) -> Certificate {
        Certificate(self.inner.certificate)
    }

    /// What was done.
    #[getter]
    fn stats(&self) -> Stats {
        Stats(self.inner.stats.clone())
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let inner = &slf.get().inner;
        let message = format!("stopped: {}; best: {}", inner.why, inner.certificate);
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("Stopped('{}')", self.inner.why)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Stopped"))
    }
}

/// The table of an object for a notebook, by `stiction._html`.
pub fn html<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("stiction._html")?.call_method1("render", (object,))
}

/// Why an outcome that is no solution has no pickle.
pub fn no_pickle(class: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{class} cannot be pickled: keep the problem's arrays, which give the same outcome again"
    ))
}

fn fraction<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static FRACTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FRACTION.import(py, "fractions", "Fraction")?.call1((text,))
}

/// A small number with two digits.
pub fn brief(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.1e}") }
}

/// A word of at most 40 letters.
fn shortened(word: &str) -> String {
    const MOST: usize = 40;
    if word.len() <= MOST { word.into() } else { format!("{}…", &word[..MOST]) }
}

//! Outcomes of contact problems as Python objects.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_contact::{ContactForces, ContactOutcome, ContactStats, Mode, WarmStart};

use super::level_name;
use crate::lcp::{brief, html, no_pickle};
use crate::{arrays, errors};

type Shared = Arc<stiction_contact::ContactProblem>;

/// The outcome of `problem` as an object of its class.
pub fn to_python(py: Python<'_>, problem: Shared, outcome: ContactOutcome) -> PyResult<Bound<'_, PyAny>> {
    Ok(match outcome {
        ContactOutcome::Solved(inner) => Bound::new(py, ContactSolved { problem, inner })?.into_any(),
        ContactOutcome::Infeasible(inner) => Bound::new(py, Infeasible { inner })?.into_any(),
        ContactOutcome::NoSolution(inner) => Bound::new(py, NoSolution { inner })?.into_any(),
        ContactOutcome::Ray(inner) => Bound::new(py, ContactRay { inner })?.into_any(),
        ContactOutcome::Failed(inner) => Bound::new(py, ContactFailed { inner })?.into_any(),
    })
}

/// How well forces and motion satisfy a law, from the problem alone: dimensionless, 0 is exact.
#[pyclass(frozen, module = "stiction.contact")]
pub struct PhysicalCertificate(pub stiction_contact::PhysicalCertificate);

#[pymethods]
impl PhysicalCertificate {
    /// Momentum balance.
    #[getter]
    fn momentum(&self) -> f64 {
        self.0.momentum
    }

    /// Bilateral rows.
    #[getter]
    fn bilateral(&self) -> f64 {
        self.0.bilateral
    }

    /// Signorini's condition on contacts and limits.
    #[getter]
    fn signorini(&self) -> f64 {
        self.0.signorini
    }

    /// The model's law of friction.
    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    /// Rows with bounded force.
    #[getter]
    fn bounded(&self) -> f64 {
        self.0.bounded
    }

    /// Work done by contacts, where positive.
    #[getter]
    fn work(&self) -> f64 {
        self.0.work
    }

    /// The largest measure.
    #[getter]
    fn worst(&self) -> f64 {
        self.0.largest()
    }

    /// Where the largest measure is, in words.
    #[getter]
    fn place(&self) -> String {
        self.0.worst.to_string()
    }

    /// Whether every measure is at most `tolerance`.
    #[pyo3(signature = (tolerance=1e-10))]
    fn holds(&self, tolerance: f64) -> bool {
        self.0.holds(tolerance)
    }

    fn __repr__(&self) -> String {
        format!("PhysicalCertificate(worst={}, place='{}')", brief(self.0.largest()), self.0.worst)
    }
}

fn stats<'py>(py: Python<'py>, stats: &ContactStats) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("islands", stats.islands)?;
    all.set_item("guessed", stats.guessed)?;
    all.set_item("pivots", stats.pivots)?;
    all.set_item("fallbacks", stats.fallbacks)?;
    all.set_item("inconsistency", stats.inconsistency)?;
    Ok(all)
}

/// Forces by their kinds of rows.
fn forces<'py>(py: Python<'py>, p: &ContactForces) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let kinds = [("normal", &p.normal), ("tangent_s", &p.tangent_s), ("tangent_t", &p.tangent_t), ("spin", &p.spin)];
    let others = [("bilateral", &p.bilateral), ("limit", &p.limit), ("bounded", &p.bounded)];
    for (name, x) in kinds.into_iter().chain(others) {
        all.set_item(name, arrays::frozen(py, x))?;
    }
    Ok(all)
}

/// Certified forces and motion. In a pattern: ``case Solved(motion, normal)``.
#[pyclass(frozen, module = "stiction.contact")]
pub struct ContactSolved {
    problem: Shared,
    inner: stiction_contact::ContactSolution,
}

impl ContactSolved {
    /// What the next solve may start from.
    pub fn warm_start(&self) -> &WarmStart {
        &self.inner.warm_start
    }
}

#[pymethods]
impl ContactSolved {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("motion", "normal")
    }

    /// ``"solved"``.
    #[getter]
    fn status(&self) -> &'static str {
        "solved"
    }

    /// ``"velocity"``: `motion` is velocities after the step and forces are impulses (N s); ``"acceleration"``: accelerations and forces (N).
    #[getter]
    fn level(&self) -> &'static str {
        level_name(self.inner.level)
    }

    /// Velocities after the step, or accelerations, (m,).
    #[getter]
    fn motion<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.motion)
    }

    /// Along the normals, (n,), at least 0.
    #[getter]
    fn normal<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.normal)
    }

    /// Along the first tangents, (n,).
    #[getter]
    fn tangent_s<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.tangent_s)
    }

    /// Along the second tangents, (n,).
    #[getter]
    fn tangent_t<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.tangent_t)
    }

    /// Moments about the normals, (n,).
    #[getter]
    fn spin<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.spin)
    }

    /// Of the bilateral rows.
    #[getter]
    fn bilateral<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.bilateral)
    }

    /// Of the unilateral rows, at least 0.
    #[getter]
    fn limit<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.limit)
    }

    /// Of the rows with bounded force.
    #[getter]
    fn bounded<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::frozen(py, &self.inner.forces.bounded)
    }

    /// What each contact does: ``"open"``, ``"stick"`` or ``"slide"``.
    #[getter]
    fn modes(&self) -> Vec<&'static str> {
        self.inner.modes.iter().map(|m| mode_name(*m)).collect()
    }

    /// Sum of all rows times their forces, (m,): what the rows add to ``mass @ motion``.
    #[getter]
    fn generalized_force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut sum = vec![0.0; self.problem.m()];
        for (rows, forces) in self.inner.forces.with_rows(&self.problem) {
            forces.iter().enumerate().for_each(|(i, p)| rows.add_transposed(i, *p, &mut sum));
        }
        arrays::frozen(py, &sum)
    }

    /// Sums over the contacts of each pair of mass blocks: dictionaries with ``blocks``, ``contacts`` and ``on``, the generalized force on each
    /// block. Unlike the forces of single contacts of a redundant support they are unique.
    #[getter]
    fn resultants<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let all = self.inner.resultants(&self.problem);
        let row = |r: stiction_contact::Resultant| {
            let row = PyDict::new(py);
            row.set_item("blocks", r.blocks)?;
            row.set_item("contacts", r.contacts)?;
            row.set_item("on", r.on.iter().map(|x| arrays::frozen(py, x)).collect::<Vec<_>>())?;
            Ok(row)
        };
        all.into_iter().map(row).collect()
    }

    /// How well forces and motion satisfy the law, from the problem alone.
    #[getter]
    fn certificate(&self) -> PhysicalCertificate {
        PhysicalCertificate(self.inner.certificate.clone())
    }

    /// What was done: ``islands``, ``guessed``, ``pivots``, ``fallbacks``, ``inconsistency``.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stats(py, &self.inner.stats)
    }

    /// This outcome; the others raise `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (n, active) = (self.inner.modes.len(), self.inner.active_contacts());
        let worst = brief(self.inner.certificate.largest());
        format!("contact.Solved(contacts={n}, active={active}, certificate={worst})")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("contact.Solved"))
    }
}

/// `open`, `stick` or `slide`.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Open => "open",
        Mode::Stick => "stick",
        Mode::Slide => "slide",
    }
}

/// No motion satisfies the rows: multipliers whose combination of rows vanishes while that of the biases is negative.
#[pyclass(frozen, module = "stiction.contact")]
pub struct Infeasible {
    inner: stiction_contact::model::Infeasible,
}

#[pymethods]
impl Infeasible {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("least_speed",)
    }

    /// ``"infeasible"``.
    #[getter]
    fn status(&self) -> &'static str {
        "infeasible"
    }

    /// The multipliers by kind of row.
    #[getter]
    fn multipliers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.inner.multipliers)
    }

    /// Any motion that satisfies the rows is at least this many times faster than the problem's own speeds.
    #[getter]
    fn least_speed(&self) -> f64 {
        self.inner.least_speed
    }

    /// What was done.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stats(py, &self.inner.stats)
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let message = "no motion satisfies the rows; the multipliers prove it";
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("contact.Infeasible(least_speed={:e})", self.inner.least_speed)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("contact.Infeasible"))
    }
}

/// The law of friction has no solution here, with the proof: Painlevé's paradox.
#[pyclass(frozen, module = "stiction.contact")]
pub struct NoSolution {
    inner: stiction_contact::model::NoSolution,
}

#[pymethods]
impl NoSolution {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("proof",)
    }

    /// ``"no-solution"``.
    #[getter]
    fn status(&self) -> &'static str {
        "no-solution"
    }

    /// Why the island's complementarity problem has no solution, in words.
    #[getter]
    fn proof(&self) -> String {
        self.inner.proof.to_string()
    }

    /// The island without a solution.
    #[getter]
    fn island(&self) -> usize {
        self.inner.island
    }

    /// What was done.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stats(py, &self.inner.stats)
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let message = format!("the law has no solution here: {}", slf.get().inner.proof);
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("contact.NoSolution('{}')", self.inner.proof)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("contact.NoSolution"))
    }
}

/// The method ended on a ray: forces that can grow without bound.
#[pyclass(frozen, module = "stiction.contact")]
pub struct ContactRay {
    inner: stiction_contact::model::ContactRay,
}

#[pymethods]
impl ContactRay {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("direction", "claim")
    }

    /// ``"ray"``.
    #[getter]
    fn status(&self) -> &'static str {
        "ray"
    }

    /// The direction in which forces grow, by kind of row.
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.inner.direction)
    }

    /// What the ray says, and what it does not.
    #[getter]
    fn claim(&self) -> &str {
        &self.inner.claim
    }

    /// What was done.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stats(py, &self.inner.stats)
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
        format!("contact.Ray('{}')", self.inner.claim)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("contact.Ray"))
    }
}

/// The method stopped without a certified answer.
#[pyclass(frozen, module = "stiction.contact")]
pub struct ContactFailed {
    inner: stiction_contact::model::ContactFailure,
}

#[pymethods]
impl ContactFailed {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("why",)
    }

    /// ``"failed"``.
    #[getter]
    fn status(&self) -> &'static str {
        "failed"
    }

    /// Why.
    #[getter]
    fn why(&self) -> &str {
        &self.inner.why
    }

    /// The best forces found by kind of row; not a solution.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.inner.forces)
    }

    /// How far from a solution they are.
    #[getter]
    fn certificate(&self) -> PhysicalCertificate {
        PhysicalCertificate(self.inner.certificate.clone())
    }

    /// What was done.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stats(py, &self.inner.stats)
    }

    /// Raises `NotSolved`.
    fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let message = format!("not solved: {}", slf.get().inner.why);
        Err(errors::NOT_SOLVED.raise(slf.py(), (message, slf)))
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("contact.Failed('{}')", self.inner.why)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("contact.Failed"))
    }
}

//! Outcomes of contact problems that are no solutions.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_contact::{ContactForces, ContactOutcome, ContactStats};
use stiction_lcp::{Lcp, Proof};

use super::certificate::{PhysicalCertificate, forces, stats, stored_forces};
use super::model::Pool;
use super::pickle;
use super::solved::ContactSolved;
use crate::arrays;
use crate::display::{number, quoted};
use crate::outcome::{self, Outcome};

/// The outcome of `problem` as an object of its class.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    pool: &Pool,
    problem: Arc<stiction_contact::ContactProblem>,
    outcome: ContactOutcome,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match outcome {
        ContactOutcome::Solved(inner) => Bound::new(py, ContactSolved::new(problem, *inner, &pool.choice))?.into_any(),
        ContactOutcome::Infeasible(of) => {
            let (multipliers, least_speed, stats) = (of.multipliers, of.least_speed, of.stats);
            Bound::new(py, Infeasible { multipliers, least_speed, stats })?.into_any()
        }
        ContactOutcome::NoSolution(of) => {
            let (island, lcp, proof, stats) = (of.island, of.lcp, of.proof, of.stats);
            Bound::new(py, NoSolution { island, lcp, proof, stats })?.into_any()
        }
        ContactOutcome::Ray(of) => {
            Bound::new(py, ContactRay { direction: of.direction, claim: of.claim, stats: of.stats })?.into_any()
        }
        ContactOutcome::Failed(of) => {
            let certificate = PhysicalCertificate::new(&of.best.certificate);
            let (why, best, motion, stats) = (of.why, of.best.forces, of.best.motion, of.best.stats);
            Bound::new(py, ContactFailed { why, best, motion, certificate, stats })?.into_any()
        }
    })
}

/// No motion satisfies the rows: multipliers whose combination of rows vanishes while that of the biases is negative. In a pattern:
/// ``case Infeasible(least_speed)``.
#[pyclass(frozen, module = "stiction.contact")]
pub struct Infeasible {
    pub(super) multipliers: ContactForces,
    /// Any motion that satisfies the rows is at least this many times faster than the problem's own speeds.
    #[pyo3(get)]
    pub(super) least_speed: f64,
    pub(super) stats: ContactStats,
}

outcome::outcome!(Infeasible, "contact.infeasible", ["least_speed"]);

impl Outcome for Infeasible {
    const STATUS: &'static str = "infeasible";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats(py, &self.stats)
    }

    fn why_not(&self) -> String {
        "no motion satisfies the rows; the multipliers prove it".into()
    }

    fn text(&self) -> String {
        format!("contact.Infeasible(least_speed={})", number(self.least_speed))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (stored_forces(py, &self.multipliers)?, self.least_speed, pickle::stored_stats(&self.stats)).into_pyobject(py)
    }
}

#[pymethods]
impl Infeasible {
    /// The multipliers by kind of row.
    #[getter]
    fn multipliers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.multipliers)
    }
}

/// The law of friction has no solution here, with the proof: Painlevé's paradox. In a pattern: ``case NoSolution(proof)``.
#[pyclass(frozen, module = "stiction.contact")]
pub struct NoSolution {
    /// The island without a solution.
    #[pyo3(get)]
    pub(super) island: usize,
    pub(super) lcp: Lcp,
    pub(super) proof: Proof,
    pub(super) stats: ContactStats,
}

outcome::outcome!(NoSolution, "contact.no-solution", ["proof"]);

impl Outcome for NoSolution {
    const STATUS: &'static str = "no-solution";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats(py, &self.stats)
    }

    fn why_not(&self) -> String {
        format!("the law has no solution here: {}", self.proof)
    }

    fn text(&self) -> String {
        format!("contact.NoSolution({})", quoted(&self.proof.to_string()))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::no_solution(py, self)
    }
}

#[pymethods]
impl NoSolution {
    /// Why the island's complementarity problem has no solution, in words.
    #[getter]
    fn proof(&self) -> String {
        self.proof.to_string()
    }

    /// The island's complementarity problem ``(M, q)``, which the proof is about: ``stiction.lcp.solve(*outcome.lcp)``.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn lcp<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
        Ok((arrays::from_matrix(py, self.lcp.m().clone())?, arrays::frozen(py, self.lcp.q())))
    }
}

/// The method ended on a ray: forces that can grow without bound. In a pattern: ``case Ray(direction, claim)``.
#[pyclass(frozen, name = "Ray", module = "stiction.contact")]
pub struct ContactRay {
    pub(super) direction: ContactForces,
    /// What the ray says, and what it does not.
    #[pyo3(get)]
    pub(super) claim: String,
    pub(super) stats: ContactStats,
}

outcome::outcome!(ContactRay, "contact.ray", ["direction", "claim"]);

impl Outcome for ContactRay {
    const STATUS: &'static str = "ray";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats(py, &self.stats)
    }

    fn why_not(&self) -> String {
        format!("ended on a ray: {}", self.claim)
    }

    fn text(&self) -> String {
        format!("contact.Ray({})", quoted(&self.claim))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (stored_forces(py, &self.direction)?, &self.claim, pickle::stored_stats(&self.stats)).into_pyobject(py)
    }
}

#[pymethods]
impl ContactRay {
    /// The direction in which forces grow, by kind of row.
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.direction)
    }
}

/// The method stopped without a certified answer. In a pattern: ``case Failed(why)``.
#[pyclass(frozen, name = "Failed", module = "stiction.contact")]
pub struct ContactFailed {
    /// Why.
    #[pyo3(get)]
    pub(super) why: String,
    pub(super) best: ContactForces,
    pub(super) motion: Vec<f64>,
    /// How far from a solution the best forces are.
    #[pyo3(get)]
    pub(super) certificate: PhysicalCertificate,
    pub(super) stats: ContactStats,
}

outcome::outcome!(ContactFailed, "contact.failed", ["why"]);
outcome::arrays!(ContactFailed, {
    /// The motion that belongs to the best forces, (m,); not a solution, and therefore not called motion.
    best_motion = |failed| &failed.motion;
});

impl Outcome for ContactFailed {
    const STATUS: &'static str = "failed";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats(py, &self.stats)
    }

    fn why_not(&self) -> String {
        format!("not solved: {}", self.why)
    }

    fn text(&self) -> String {
        format!("contact.Failed({})", quoted(&self.why))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (best, motion) = (stored_forces(py, &self.best)?, arrays::frozen(py, &self.motion));
        (&self.why, best, motion, self.certificate.stored(), pickle::stored_stats(&self.stats)).into_pyobject(py)
    }
}

#[pymethods]
impl ContactFailed {
    /// The best forces found by kind of row; not a solution.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        forces(py, &self.best)
    }
}

//! Certificates, statistics and forces of contact problems as Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_contact::{ContactForces, ContactStats};

use crate::display::{brief, html};
use crate::{arrays, pickle};

/// How well forces and motion satisfy a law, from the problem alone: dimensionless, 0 is exact.
#[pyclass(frozen, get_all, eq, module = "stiction.contact")]
#[derive(Clone, PartialEq)]
pub(crate) struct PhysicalCertificate {
    /// Momentum balance.
    momentum: f64,
    /// Bilateral rows.
    bilateral: f64,
    /// Signorini's condition on contacts and limits.
    signorini: f64,
    /// The model's law of friction.
    friction: f64,
    /// Rows with bounded force.
    bounded: f64,
    /// Work done by contacts, where positive.
    work: f64,
    /// The energy inequality of the worst island: contact alone never adds energy.
    energy: f64,
    /// Work of targets, bounces and moving surfaces (J), less what closing gaps takes.
    driven_work: f64,
    /// The largest of these measures.
    pub worst: f64,
    /// Where the largest measure is, in words.
    pub place: String,
    /// Largest residual of a bilateral row where rows contradict each other, beside its terms; 0 if they agree.
    inconsistency: f64,
}

/// The measures, the driven work, the largest, where it is, the inconsistency.
pub(crate) type StoredCertificate = ((f64, f64, f64, f64, f64, f64, f64), f64, f64, String, f64);

impl PhysicalCertificate {
    /// Of the engine's.
    pub(crate) fn new(of: &stiction_contact::PhysicalCertificate) -> Self {
        Self {
            momentum: of.momentum,
            bilateral: of.bilateral,
            signorini: of.signorini,
            friction: of.friction,
            bounded: of.bounded,
            work: of.work,
            energy: of.energy,
            driven_work: of.driven_work,
            worst: of.largest(),
            place: of.worst.to_string(),
            inconsistency: of.inconsistency,
        }
    }

    /// What it is pickled as.
    pub(crate) fn stored(&self) -> StoredCertificate {
        let Self { momentum, bilateral, signorini, friction, bounded, work, energy, .. } = *self;
        let measures = (momentum, bilateral, signorini, friction, bounded, work, energy);
        (measures, self.driven_work, self.worst, self.place.clone(), self.inconsistency)
    }

    /// From its pickle.
    pub(crate) fn restored((measures, driven_work, worst, place, inconsistency): StoredCertificate) -> Self {
        let (momentum, bilateral, signorini, friction, bounded, work, energy) = measures;
        Self {
            momentum,
            bilateral,
            signorini,
            friction,
            bounded,
            work,
            energy,
            driven_work,
            worst,
            place,
            inconsistency,
        }
    }
}

#[pymethods]
impl PhysicalCertificate {
    /// Whether every measure is at most `tolerance`.
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
        self.worst <= tolerance
    }

    fn __repr__(&self) -> String {
        format!("PhysicalCertificate(worst={}, place='{}')", brief(self.worst), self.place)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "contact.certificate", self.stored().into_pyobject(py)?)
    }
}

/// What was done, as a dictionary.
pub(crate) fn stats<'py>(py: Python<'py>, stats: &ContactStats) -> PyResult<Bound<'py, PyAny>> {
    let all = PyDict::new(py);
    all.set_item("islands", stats.islands)?;
    all.set_item("guessed", stats.guessed)?;
    all.set_item("pivots", stats.pivots)?;
    all.set_item("factorizations", stats.factorizations)?;
    all.set_item("most_factorizations", stats.most_factorizations)?;
    all.set_item("fallbacks", stats.fallbacks)?;
    all.set_item("inconsistency", stats.inconsistency)?;
    Ok(all.into_any())
}

/// The kinds of rows, in the order in which their forces are pickled.
const KINDS: [&str; 9] =
    ["normal", "tangent_s", "tangent_t", "spin", "bilateral", "limit", "bounded", "roll_s", "roll_t"];

/// The first kinds, which pickles from before there was rolling have.
const WITHOUT_ROLLING: usize = 7;

fn by_kind(p: &ContactForces) -> [&Vec<f64>; 9] {
    [&p.normal, &p.tangent_s, &p.tangent_t, &p.spin, &p.bilateral, &p.limit, &p.bounded, &p.roll_s, &p.roll_t]
}

/// Forces by their kinds of rows.
pub(crate) fn forces<'py>(py: Python<'py>, p: &ContactForces) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (kind, numbers) in KINDS.into_iter().zip(by_kind(p)) {
        all.set_item(kind, arrays::frozen(py, numbers))?;
    }
    Ok(all)
}

/// Forces as they are pickled.
pub(crate) fn stored_forces<'py>(py: Python<'py>, p: &ContactForces) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, by_kind(p).map(|numbers| arrays::frozen(py, numbers)))
}

/// Forces from their pickle.
pub(crate) fn restored_forces(stored: &Bound<'_, PyAny>) -> PyResult<ContactForces> {
    let all: Vec<Bound<'_, PyAny>> = stored.extract()?;
    let has_rolling = all.len() != WITHOUT_ROLLING;
    arrays::check_len(stored.py(), "forces", if has_rolling { KINDS.len() } else { WITHOUT_ROLLING }, all.len())?;
    let one = |k: usize| arrays::vector(KINDS[k], &all[k]);
    let normal = one(0)?;
    let roll = |k: usize| if has_rolling { one(k) } else { Ok(vec![0.0; normal.len()]) };
    Ok(ContactForces {
        roll_s: roll(7)?,
        roll_t: roll(8)?,
        normal,
        tangent_s: one(1)?,
        tangent_t: one(2)?,
        spin: one(3)?,
        bilateral: one(4)?,
        limit: one(5)?,
        bounded: one(6)?,
    })
}

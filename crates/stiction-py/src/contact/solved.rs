//! A certified solution of a contact problem.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_contact::WarmStart;
use stiction_contact::models::coulomb_pyramid::satisfies_cone;

use super::certificate::{PhysicalCertificate, stats};
use super::model::{Choice, level_name};
use super::pickle;
use crate::arrays;
use crate::display::brief;
use crate::outcome::{self, Outcome};

/// Certified forces and motion. In a pattern: ``case Solved(motion, normal)``.
///
/// Forces act along the rows of the problem: ``N.T @ normal + S.T @ tangent_s + ...`` is their generalized force.
#[pyclass(frozen, name = "Solved", module = "stiction.contact")]
pub struct ContactSolved {
    pub(super) problem: Arc<stiction_contact::ContactProblem>,
    pub(super) inner: stiction_contact::ContactSolution,
    /// The model it was certified for, and the tolerance.
    pub(super) model: &'static str,
    pub(super) tolerance: f64,
    /// Without inertia.
    pub(super) quasistatic: bool,
}

impl ContactSolved {
    /// Of the engine's, by the model chosen.
    pub fn new(
        problem: Arc<stiction_contact::ContactProblem>,
        inner: stiction_contact::ContactSolution,
        by: &Choice,
    ) -> Self {
        Self { problem, inner, model: by.kind.name(), tolerance: by.options.tolerance, quasistatic: by.quasistatic }
    }

    /// What the next solve may start from.
    pub fn warm_start(&self) -> &WarmStart {
        &self.inner.warm_start
    }
}

outcome::outcome!(ContactSolved, "contact.solved", ["motion", "normal"]);
outcome::arrays!(ContactSolved, {
    /// Velocities after the step, or accelerations, (m,).
    motion = |s| &s.inner.motion;
    /// Along the normals, (n,), at least 0.
    normal = |s| &s.inner.forces.normal;
    /// Along the first tangents, (n,).
    tangent_s = |s| &s.inner.forces.tangent_s;
    /// Along the second tangents, (n,).
    tangent_t = |s| &s.inner.forces.tangent_t;
    /// Moments about the normals, (n,).
    spin = |s| &s.inner.forces.spin;
    /// Moments against rolling about the first axes, (n,).
    roll_s = |s| &s.inner.forces.roll_s;
    /// Moments against rolling about the second axes, (n,).
    roll_t = |s| &s.inner.forces.roll_t;
    /// Of the bilateral rows.
    bilateral = |s| &s.inner.forces.bilateral;
    /// Of the unilateral rows, at least 0.
    limit = |s| &s.inner.forces.limit;
    /// Of the rows with bounded force.
    bounded = |s| &s.inner.forces.bounded;
});

impl Outcome for ContactSolved {
    const STATUS: &'static str = "solved";
    const SOLVED: bool = true;

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats(py, &self.inner.stats)
    }

    fn why_not(&self) -> String {
        String::new()
    }

    fn text(&self) -> String {
        let (n, active) = (self.inner.modes.len(), self.inner.active_contacts());
        let worst = brief(self.inner.certificate.largest());
        format!("contact.Solved(contacts={n}, active={active}, certificate={worst})")
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::solved(py, self)
    }
}

getters!(ContactSolved, {
    /// ``"velocity"``: `motion` is velocities after the step and forces are impulses (N s); ``"acceleration"``: accelerations and forces (N).
    level: &'static str = |this| level_name(this.inner.level);
    /// What each contact does: ``"open"``, ``"stick"`` or ``"slide"``.
    modes: Vec<&'static str> = |this| this.inner.modes.iter().map(|m| m.name()).collect();
    /// Whether every contact's friction lies in its quadratic cone, ``hypot(s, t) <= mu * normal``. A solution of the
    /// pyramid that does also solves the model with the cone (Trinkle et al., Proposition 1).
    in_cone: bool = |this| satisfies_cone(&this.problem, &this.inner);
    /// How well forces and motion satisfy the law, from the problem alone.
    certificate: PhysicalCertificate = |this| PhysicalCertificate::new(&this.inner.certificate);
});

#[pymethods]
impl ContactSolved {
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
}

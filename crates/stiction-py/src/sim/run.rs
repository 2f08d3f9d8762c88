//! Many steps without the GIL, and what is kept of them.

use std::time::Instant;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_contact::Level;
use stiction_lcp::interrupt;
use stiction_sim::Phases;

use super::core::Core;
use crate::arrays;

/// How a run ended.
pub enum Ended {
    /// All steps were made.
    Done,
    /// A step failed: its number, its time (s), why.
    Failed(u64, f64, stiction_sim::StepFailure),
}

/// The time that steps took.
#[derive(Default)]
pub struct Spent {
    /// Of each step (s).
    pub seconds: Vec<f64>,
    /// Number of the first one.
    pub first: u64,
    /// In each phase of all of them.
    pub phases: Phases,
}

/// Makes steps; between them and within them it can be interrupted.
pub fn many(
    steps: u64,
    core: &mut Core,
    seen: impl FnMut(u64, &mut Core, &stiction_sim::StepReport),
) -> (Ended, Spent) {
    let before = core.sim.phases();
    let mut spent = Spent { first: core.sim.state().step, ..Spent::default() };
    core.sim.set_timing(true);
    let ended = timed(steps, core, &mut spent.seconds, seen);
    core.sim.set_timing(false);
    spent.phases = core.sim.phases().since(&before);
    (ended, spent)
}

fn timed(
    steps: u64,
    core: &mut Core,
    seconds: &mut Vec<f64>,
    mut seen: impl FnMut(u64, &mut Core, &stiction_sim::StepReport),
) -> Ended {
    for i in 0..steps {
        interrupt::check();
        let (step, t) = (core.sim.state().step, core.sim.state().t);
        let clock = Instant::now();
        let made = core.step();
        match made {
            Ok(report) => {
                seconds.push(clock.elapsed().as_secs_f64());
                seen(i, core, &report);
            }
            Err(failure) => return Ended::Failed(step, t, failure),
        }
    }
    Ended::Done
}

/// Rows of a trajectory.
#[derive(Default)]
pub struct Kept {
    /// Times (s).
    pub t: Vec<f64>,
    /// Configurations.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Origins of the bodies (m).
    pub positions: Vec<f64>,
    /// Their orientations, quaternions w, x, y, z.
    pub orientations: Vec<f64>,
    /// Kinetic energies (J).
    pub kinetic: Vec<f64>,
    /// Potential energies (J).
    pub potential: Vec<f64>,
    /// Largest measures of the certificates.
    pub certificate: Vec<f64>,
    /// Whether the steps were accepted without being certified.
    pub accepted: Vec<bool>,
    /// Pivots or iterations.
    pub pivots: Vec<i64>,
    /// Linear systems that were factored.
    pub factorizations: Vec<i64>,
    /// Contacts with a force.
    pub contacts: Vec<i64>,
    /// Sums of the normal forces (N).
    pub normal_force: Vec<f64>,
    /// Largest slip speeds (m/s).
    pub slip: Vec<f64>,
}

impl Kept {
    /// A row: the state now, and what the step to it did.
    pub fn add(&mut self, core: &mut Core, report: Option<&stiction_sim::StepReport>) {
        core.kinematics();
        let (world, state) = (core.sim.world(), core.sim.state());
        let (kinetic, potential) = core.work.energy(&world.model, &state.v);
        self.t.push(state.t);
        self.q.extend_from_slice(&state.q);
        self.v.extend_from_slice(&state.v);
        self.positions.extend(core.work.pose.iter().flat_map(|p| p.translation.to_array()));
        self.orientations.extend(core.work.pose.iter().flat_map(|p| {
            let q = p.rotation;
            [q.w, q.x, q.y, q.z]
        }));
        self.kinetic.push(kinetic);
        self.potential.push(potential);
        self.certificate.push(report.map_or(0.0, |r| r.certificate));
        self.accepted.push(report.is_some_and(|r| r.accepted));
        self.pivots.push(report.map_or(0, |r| r.pivots as i64));
        self.factorizations.push(report.map_or(0, |r| r.factorizations as i64));
        self.contacts.push(report.map_or(0, |r| r.active as i64));
        let solution = core.sim.outcome().and_then(|o| o.answer()).filter(|_| report.is_some());
        let scale =
            if solution.is_some_and(|s| s.level == Level::Acceleration) { 1.0 } else { 1.0 / core.sim.settings().dt };
        self.normal_force.push(solution.map_or(0.0, |s| scale * s.forces.normal.iter().sum::<f64>()));
        self.slip.push(report.map_or(0.0, |r| r.slip));
    }

    /// The rows as arrays; `sizes` are those of q and v, and the number of bodies.
    pub fn into_dict(self, py: Python<'_>, sizes: [usize; 3]) -> PyResult<Bound<'_, PyDict>> {
        let ([nq, nv, nb], rows) = (sizes, self.t.len());
        let all = PyDict::new(py);
        all.set_item("t", PyArray1::from_vec(py, self.t))?;
        all.set_item("q", arrays::from_rows(py, rows, nq, self.q)?)?;
        all.set_item("v", arrays::from_rows(py, rows, nv, self.v)?)?;
        all.set_item("positions", arrays::from_rows(py, rows, 3 * nb, self.positions)?.reshape([rows, nb, 3])?)?;
        all.set_item("orientations", arrays::from_rows(py, rows, 4 * nb, self.orientations)?.reshape([rows, nb, 4])?)?;
        all.set_item("kinetic", PyArray1::from_vec(py, self.kinetic))?;
        all.set_item("potential", PyArray1::from_vec(py, self.potential))?;
        all.set_item("certificate", PyArray1::from_vec(py, self.certificate))?;
        all.set_item("accepted", PyArray1::from_vec(py, self.accepted))?;
        all.set_item("pivots", PyArray1::from_vec(py, self.pivots))?;
        all.set_item("factorizations", PyArray1::from_vec(py, self.factorizations))?;
        all.set_item("contacts", PyArray1::from_vec(py, self.contacts))?;
        all.set_item("normal_force", PyArray1::from_vec(py, self.normal_force))?;
        all.set_item("slip", PyArray1::from_vec(py, self.slip))?;
        Ok(all)
    }
}

//! Many steps without the GIL, and what is kept of them.

use std::time::Instant;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_contact::Level;
use stiction_lcp::interrupt;
use stiction_sim::recording::Rows;
use stiction_sim::{Phases, StepReport};

use super::core::Core;
use crate::arrays;

/// How a run ended.
pub(crate) enum Ended {
    /// All steps were made.
    Done,
    /// A step failed: its number, its time (s), why.
    Failed(u64, f64, stiction_sim::StepFailure),
}

/// The time that steps took.
#[derive(Default)]
pub(crate) struct Spent {
    /// Of each step (s).
    pub seconds: Vec<f64>,
    /// Number of the first one.
    pub first: u64,
    /// In each phase of all of them.
    pub phases: Phases,
}

/// Makes steps; between them and within them it can be interrupted.
pub(crate) fn many(steps: u64, core: &mut Core, seen: impl FnMut(u64, &mut Core, &StepReport)) -> (Ended, Spent) {
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
    mut seen: impl FnMut(u64, &mut Core, &StepReport),
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

/// Adds a row: the state now, and what the step to it did.
pub(crate) fn keep(rows: &mut Rows, core: &mut Core, report: Option<&StepReport>) {
    let Core { sim, work, .. } = core;
    let solution = sim.outcome().and_then(|o| o.answer());
    let scale = if solution.is_some_and(|s| s.level == Level::Acceleration) { 1.0 } else { 1.0 / sim.settings().dt };
    let force = solution.map_or(0.0, |s| scale * s.forces.normal.iter().sum::<f64>());
    rows.add(sim.world(), work, sim.state(), report.map(|report| (report, force)));
}

/// Rows as arrays; `sizes` are those of q and v, and the number of bodies.
pub(crate) fn into_dict(rows: Rows, py: Python<'_>, sizes: [usize; 3]) -> PyResult<Bound<'_, PyDict>> {
    let ([nq, nv, nb], k) = (sizes, rows.t.len());
    let all = PyDict::new(py);
    all.set_item("step", PyArray1::from_vec(py, rows.step))?;
    all.set_item("t", PyArray1::from_vec(py, rows.t))?;
    all.set_item("q", arrays::from_rows(py, k, nq, rows.q)?)?;
    all.set_item("v", arrays::from_rows(py, k, nv, rows.v)?)?;
    all.set_item("positions", arrays::from_rows(py, k, 3 * nb, rows.positions)?.reshape([k, nb, 3])?)?;
    all.set_item("orientations", arrays::from_rows(py, k, 4 * nb, rows.orientations)?.reshape([k, nb, 4])?)?;
    all.set_item("kinetic", PyArray1::from_vec(py, rows.kinetic))?;
    all.set_item("potential", PyArray1::from_vec(py, rows.potential))?;
    all.set_item("certificate", PyArray1::from_vec(py, rows.certificate))?;
    all.set_item("accepted", PyArray1::from_vec(py, rows.accepted))?;
    all.set_item("pivots", PyArray1::from_vec(py, rows.pivots))?;
    all.set_item("factorizations", PyArray1::from_vec(py, rows.factorizations))?;
    all.set_item("contacts", PyArray1::from_vec(py, rows.contacts))?;
    all.set_item("normal_force", PyArray1::from_vec(py, rows.normal_force))?;
    all.set_item("slip", PyArray1::from_vec(py, rows.slip))?;
    Ok(all)
}

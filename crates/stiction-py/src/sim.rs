//! Simulations: one, and many at once.

mod batch;
mod contacts;
mod core;
mod dynamics;
mod inspection;
mod physical;
mod queries;
mod readings;
mod recorded;
mod recording;
mod replica;
mod report;
mod robot;
mod run;
mod simulation;
mod state;
mod tape;
mod views;

use pyo3::prelude::*;

use crate::pickle;
use crate::scene::Scene;
pub(crate) use batch::BatchSimulation;
pub(crate) use contacts::dtypes;
use core::AtStart;
pub(crate) use recording::Recording;
pub(crate) use report::{EnergyBalance, RunReport, StepReport};
pub(crate) use simulation::Simulation;

/// A simulation, a batch or a report from its pickle.
pub(crate) fn restore<'py>(py: Python<'py>, kind: &str, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match kind {
        "simulation" => {
            let (scene, state, raises, separate): (Bound<'_, Scene>, Vec<u8>, bool, bool) = state.extract()?;
            Bound::new(py, Simulation::resumed(py, scene, &state, raises, AtStart::again(separate))?)?.into_any()
        }
        "batch" => Bound::new(py, BatchSimulation::restored(state)?)?.into_any(),
        "step" => Bound::new(py, StepReport::restored(state)?)?.into_any(),
        "energy" => Bound::new(py, EnergyBalance::restored(state.extract()?))?.into_any(),
        "run" => Bound::new(py, RunReport::restored(state)?)?.into_any(),
        _ => return Err(pickle::unknown(py, &format!("sim.{kind}"))),
    })
}

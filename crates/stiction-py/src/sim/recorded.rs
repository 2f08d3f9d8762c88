//! What a recording holds, as arrays: no step is made again.

use pyo3::prelude::*;
use stiction_body::math::Vec3;
use stiction_sim::recording::{Header, RecordedStep, Rows};
use stiction_sim::{Recording, SceneError, World};

use super::contacts::{Touch, array, friction_between};
use super::report::RunReport;
use super::run::Spent;

/// The rows of a trajectory, the state before the first step among them, and what the run came to.
pub(crate) fn trajectory(recording: &Recording, world: &World) -> Result<(RunReport, Rows), SceneError> {
    let header = recording.header();
    let (mut run, covered) = (RunReport::default(), header.settings.dt * header.every as f64);
    let rows = recording.rows(world, |report| run.add(covered, report))?;
    let failure = recording.end().and_then(|end| end.failure.clone());
    run.end(failure.or_else(|| recording.damage().map(str::to_string)), &Spent::default());
    Ok((run, rows))
}

/// The contacts of a recorded step as a structured array.
pub(crate) fn contacts<'py>(
    py: Python<'py>,
    step: &RecordedStep,
    header: &Header,
    world: &World,
) -> PyResult<Bound<'py, PyAny>> {
    let touches = step.contact_rows(header).zip(&step.contacts).map(|(row, contact)| Touch {
        bodies: row.bodies.map(|body| body as i32),
        geoms: row.geoms,
        feature: row.feature,
        point: Vec3::from_array(row.point),
        frame: row.frame.map(Vec3::from_array),
        gap: row.gap,
        normal: row.normal_force,
        friction: row.friction_force,
        spin: row.spin_moment,
        rolling: row.rolling_moment,
        mode: row.mode,
        mu: contact.ellipse.map_or_else(|| [friction_between(world, row.geoms); 2], |e| e.mu),
    });
    array(py, touches)
}

//! What a recording holds, as arrays: no step is made again.

use pyo3::prelude::*;
use stiction_body::Workspace;
use stiction_body::math::Vec3;
use stiction_contact::Level;
use stiction_sim::recording::{RecordedContact, RecordedStep};
use stiction_sim::{EnergyBalance, Recording, SceneError, StepReport, World};

use super::contacts::{Touch, array, friction_between};
use super::report::RunReport;
use super::run::{Kept, Spent};

/// The rows of a trajectory, the state before the first step among them, and what the run came to.
pub fn trajectory(recording: &Recording, world: &World) -> Result<(RunReport, Kept), SceneError> {
    let header = recording.header();
    let start = recording.chunk(0)?.snapshot.state;
    if (start.q.len(), start.v.len()) != (world.model.nq(), world.model.nv()) {
        return Err(SceneError::new("recording", "its states do not fit its scene"));
    }
    let (mut run, mut kept, mut work) = (RunReport::default(), Kept::default(), Workspace::default());
    let covered = header.settings.dt * header.every as f64;
    row(&mut kept, &mut work, world, (start.t, &start.q, &start.v));
    let mut before = start.q;
    for step in recording.steps() {
        let report = report(&step, slip(&step, world, &mut work, &before));
        run.add(covered, &report);
        row(&mut kept, &mut work, world, (step.state.t, &step.state.q, &step.state.v));
        let last = kept.t.len() - 1;
        kept.certificate[last] = report.certificate;
        kept.accepted[last] = report.accepted;
        kept.pivots[last] = report.pivots as i64;
        kept.factorizations[last] = report.factorizations as i64;
        kept.contacts[last] = report.active as i64;
        kept.normal_force[last] = scale(&step, header.settings.dt) * step.impulses.normal.iter().sum::<f64>();
        kept.slip[last] = report.slip;
        before = step.state.q;
    }
    let failure = recording.end().and_then(|end| end.failure.clone());
    run.end(failure.or_else(|| recording.damage().map(str::to_string)), &Spent::default());
    Ok((run, kept))
}

/// A row of a state, without what the step to it did.
fn row(kept: &mut Kept, work: &mut Workspace, world: &World, (t, q, v): (f64, &[f64], &[f64])) {
    work.update_positions(&world.model, q);
    work.update_velocities(&world.model, v);
    let (kinetic, potential) = work.energy(&world.model, v);
    kept.t.push(t);
    kept.q.extend_from_slice(q);
    kept.v.extend_from_slice(v);
    kept.positions.extend(work.pose.iter().flat_map(|p| p.translation.to_array()));
    kept.orientations.extend(work.pose.iter().flat_map(|p| [p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z]));
    kept.kinetic.push(kinetic);
    kept.potential.push(potential);
    for x in [&mut kept.certificate, &mut kept.normal_force, &mut kept.slip] {
        x.push(0.0);
    }
    kept.accepted.push(false);
    kept.pivots.push(0);
    kept.factorizations.push(0);
    kept.contacts.push(0);
}

/// Forces per recorded number: impulses are spread over the step.
fn scale(step: &RecordedStep, dt: f64) -> f64 {
    if step.level == Level::Acceleration { 1.0 } else { 1.0 / dt }
}

/// Largest slip speed of a contact with a force (m/s): velocities after the step at the places before it, which is where contacts were
/// found. `before` is the configuration of the recorded step before, that of the step itself if every step was recorded.
fn slip(step: &RecordedStep, world: &World, work: &mut Workspace, before: &[f64]) -> f64 {
    work.update_positions(&world.model, before);
    work.update_velocities(&world.model, &step.state.v);
    let forced = step.contacts.iter().zip(&step.impulses.normal).filter(|(_, p)| **p != 0.0);
    forced.map(|(contact, _)| contact_slip(contact, world, work)).fold(0.0, f64::max)
}

fn contact_slip(contact: &RecordedContact, world: &World, work: &Workspace) -> f64 {
    let (point, n) = (Vec3::from_array(contact.point), Vec3::from_array(contact.normal));
    let velocity = |geom: u32| {
        let Some(geom_of) = world.geoms.get(geom as usize) else { return Vec3::ZERO };
        let belt = geom_of.pose.rotation * world.surfaces.of[geom as usize].surface_velocity;
        match geom_of.link {
            Some(link) => work.point_velocity(link, point) + work.pose[link].rotation * belt,
            None => belt,
        }
    };
    let relative = velocity(contact.key.geoms[1]) - velocity(contact.key.geoms[0]);
    (relative - n * relative.dot(n)).length()
}

/// What a recording knows of a step's report.
fn report(step: &RecordedStep, slip: f64) -> StepReport {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    StepReport {
        contacts: step.contacts.len(),
        active: step.impulses.normal.iter().filter(|p| **p > 0.0).count(),
        pivots: count(step.pivots),
        factorizations: count(step.factorizations),
        most_factorizations: count(step.most_factorizations),
        guessed: step.guessed,
        certificate: step.certificate.largest(),
        place: step.certificate.worst,
        penetration: step.penetration,
        overlap_left: step.overlap_left,
        slip,
        work: 0.0,
        kinetic: 0.0,
        restitution_scale: step.restitution_scale,
        fallback: step.fallback,
        accepted: step.accepted,
        substeps: 1,
        impacts: 0,
        stepped: 0.0,
        energy: EnergyBalance::default(),
    }
}

/// The contacts of a recorded step as a structured array.
pub fn contacts<'py>(py: Python<'py>, step: &RecordedStep, world: &World, dt: f64) -> PyResult<Bound<'py, PyAny>> {
    let (scale, p) = (scale(step, dt), &step.impulses);
    let body = |geom: u32| world.geoms.get(geom as usize).and_then(|g| g.link).map_or(-1, |l| l as i32);
    let touch = |(i, contact): (usize, &RecordedContact)| {
        let normal = Vec3::from_array(contact.normal);
        let (s, t) = contact.tangents();
        let mu = contact.ellipse.map_or_else(|| [friction_between(world, contact.key.geoms); 2], |e| e.mu);
        Touch {
            bodies: contact.key.geoms.map(body),
            geoms: contact.key.geoms,
            feature: contact.key.feature,
            point: Vec3::from_array(contact.point),
            frame: [normal, s, t],
            gap: contact.gap,
            normal: scale * p.normal[i],
            friction: [scale * p.tangent_s[i], scale * p.tangent_t[i]],
            spin: scale * p.spin[i],
            rolling: [scale * p.roll_s[i], scale * p.roll_t[i]],
            mode: contact.mode,
            mu,
        }
    };
    array(py, step.contacts.iter().enumerate().map(touch))
}

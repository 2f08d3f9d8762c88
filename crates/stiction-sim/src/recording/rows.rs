//! A run as rows of numbers, one per kept step: what trajectories and exports hold.

use stiction_body::Workspace;
use stiction_body::math::Vec3;

use super::read::Recording;
use super::step::{RecordedContact, RecordedStep};
use crate::energy::EnergyBalance;
use crate::error::SceneError;
use crate::simulation::{State, StepReport};
use crate::world::World;

/// Rows of a run; the first one is the state before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Numbers of the steps, from 0; −1 for the state before the first.
    pub step: Vec<i64>,
    /// Times (s).
    pub t: Vec<f64>,
    /// Configurations, nq each.
    pub q: Vec<f64>,
    /// Velocities, nv each.
    pub v: Vec<f64>,
    /// Origins of the bodies (m), 3 per body.
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
    /// Largest slip speeds of contacts with a force (m/s).
    pub slip: Vec<f64>,
}

impl Rows {
    /// A row: a state, and what the step to it did, with the sum of its normal forces (N); `None` for a state that no step led to.
    pub fn add(&mut self, world: &World, work: &mut Workspace, state: &State, step: Option<(&StepReport, f64)>) {
        work.update_positions(&world.model, &state.q);
        work.update_velocities(&world.model, &state.v);
        let (kinetic, potential) = work.energy(&world.model, &state.v);
        self.t.push(state.t);
        self.q.extend_from_slice(&state.q);
        self.v.extend_from_slice(&state.v);
        self.positions.extend(work.pose.iter().flat_map(|p| p.translation.to_array()));
        let quaternion = work.pose.iter().map(|p| p.rotation);
        self.orientations.extend(quaternion.flat_map(|q| [q.w, q.x, q.y, q.z]));
        self.kinetic.push(kinetic);
        self.potential.push(potential);
        let count = |of: fn(&StepReport) -> usize| step.map_or(0, |(report, _)| of(report) as i64);
        let number = |of: fn(&StepReport) -> f64| step.map_or(0.0, |(report, _)| of(report));
        self.step.push(step.map_or(-1, |_| state.step as i64 - 1));
        self.certificate.push(number(|r| r.certificate));
        self.accepted.push(step.is_some_and(|(report, _)| report.accepted));
        self.pivots.push(count(|r| r.pivots));
        self.factorizations.push(count(|r| r.factorizations));
        self.contacts.push(count(|r| r.active));
        self.normal_force.push(step.map_or(0.0, |(_, force)| force));
        self.slip.push(number(|r| r.slip));
    }
}

impl Recording {
    /// All that was recorded as rows, the state before the first step among them; `seen` gets the report of each step. Energies and slip speeds
    /// are computed from the states and the scene's world.
    ///
    /// # Errors
    /// If the states do not fit the world.
    pub fn rows(&self, world: &World, mut seen: impl FnMut(&StepReport)) -> Result<Rows, SceneError> {
        let (start, header, model) = (self.chunk(0)?.snapshot.state, self.header(), &world.model);
        let own = [model.nq(), model.nv(), model.nq(), model.nv(), model.links().len()];
        if [start.q.len(), start.v.len(), header.q.len(), header.v.len(), header.links.len()] != own {
            return Err(SceneError::new("recording", "its states do not fit its scene"));
        }
        let (mut rows, mut work) = (Rows::default(), Workspace::default());
        rows.add(world, &mut work, &start, None);
        let mut before = start.q;
        for step in self.steps() {
            let report = report(&step, slip(&step, world, &mut work, &before));
            let force = step.force_scale(header.settings.dt) * step.impulses.normal.iter().sum::<f64>();
            rows.add(world, &mut work, &step.state, Some((&report, force)));
            seen(&report);
            before = step.state.q;
        }
        Ok(rows)
    }
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
        gap_spread: step.gap_spread,
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

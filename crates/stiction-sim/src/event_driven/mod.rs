//! Event-driven simulation: smooth motion under a model of accelerations from one impact to the next.
//!
//! A step is made of pieces. At the start of each, contacts that touch and approach collide: a problem of velocities, with restitution. Those that
//! touch and neither
//! approach nor part are at rest, and stay so over the piece: at each stage of the integrator the model of accelerations finds their forces. The
//! piece
//! ends where something else comes to touch, a joint reaches a limit, or slip comes to an end; conservative advancement along the integrated
//! motion finds
//! the first such place, so nothing is passed through. What the integrator leaves of gap and speed at contacts at rest is projected out.
//!
//! Accelerations may have no answer (Painlevé's paradox), and events may come without end: then the rest of the step is one of time stepping,
//! which has
//! impulses for all of that, and the report says for how long.
//!
//! Reference: \[Drumwright15, §VII-B\], \[Baraff94, §7\].

mod impact;
mod instant;
mod locate;
mod rest;
mod stages;

use stiction_body::math::Vec3;
use stiction_body::{LinkMotion, ShapeKind};
use stiction_contact::{ContactModel, ModelKind, Place};

use crate::assemble::ContactKey;
use crate::energy::EnergyBalance;
use crate::simulation::{Simulation, StepFailure, StepReport};

/// Pieces of a step; what is left then is made by time stepping.
const PIECES: usize = 64;

/// From so many pieces on, what is left is made by time stepping where at the pace so far there would
/// be more than [`PIECES`]: face points that part and meet again and again would use all of them up,
/// and get nowhere. An impact that runs through several bodies has fewer.
const PACED_FROM: usize = 16;

/// No body turns farther in a piece (rad): over 10⁴ steps of 10 ms at 150 rad/s the energy of a classical Runge–Kutta
/// method then drifts by less than 10⁻³.
const LARGEST_TURN: f64 = 0.1;

/// A step is cut into at most so many pieces because bodies turn fast.
const MOST_TURNS: f64 = 32.0;

/// A rest of this fraction of a step is rounding.
const USED_UP: f64 = 1e-14;

/// A speed of at most this fraction of the speeds at hand (and of what forces would make of rest within a step) is none.
const REST: f64 = 1e-9;

/// Slip ends at so many times a speed that is none: friction must have a direction up to there, at every stage.
const SLIP_END: f64 = 4.0;

/// The model of velocities for the impacts of a model of accelerations.
pub(crate) fn impact_model(kind: ModelKind) -> ModelKind {
    if kind.can_stick() { ModelKind::CoulombCone } else { kind }
}

/// A contact at rest along its normal during a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Resting {
    key: ContactKey,
    /// Slip velocity at the start of the piece (m/s).
    slip: Vec3,
    /// It can stick.
    dry: bool,
    /// It does not slip.
    stick: bool,
    /// It opened within the piece.
    open: bool,
}

/// What event-driven steps need besides the parts of all steps.
pub(crate) struct Events {
    /// The model of accelerations.
    model: Box<dyn ContactModel>,
    /// Largest distance of a point of each geom from its link's origin (m).
    arms: Vec<f64>,
    /// Links that do not move.
    still: Vec<LinkMotion>,
    /// Forces of controllers, nv.
    held: Vec<f64>,
    /// Direction of motion of joints with dry friction: 0 where they stand, nv.
    dry: Vec<f64>,
    /// Accelerations without contact (nv), and the largest of a link (m/s²).
    free: Vec<f64>,
    free_linear: f64,
    /// Contacts at rest, in the order of their keys; and the same after the first stage.
    resting: Vec<Resting>,
    resting_first: Vec<Resting>,
    /// Contacts of a stage: place among the contacts found, and in `resting`.
    chosen: Vec<(usize, usize)>,
    /// Limits that are reached and not left, by their keys, ascending.
    limits: Vec<u32>,
    /// Configuration and velocities at the start of the piece, and at the end of what was integrated.
    base: (Vec<f64>, Vec<f64>),
    end: (Vec<f64>, Vec<f64>),
    /// The way between them in exponential coordinates, and its rate at the end, nv.
    way: Vec<f64>,
    way_rate: Vec<f64>,
    /// Velocities and accelerations of the stages, nv each; the power of the contacts (W).
    rates: [Vec<f64>; 4],
    accelerations: [Vec<f64>; 4],
    powers: [f64; 4],
    /// Least slip at a later stage of a contact that slides, as by `slip_left_of`: from 0 down it came to an end on the way.
    slip_left: f64,
    /// How far the configuration is from the start of the piece, in exponential coordinates, nv.
    xi: Vec<f64>,
    /// Velocities of the problem at hand, nv.
    v: Vec<f64>,
    /// Bounds on the speeds of the geoms over the piece (m/s).
    speeds: Vec<f64>,
    motion: Vec<LinkMotion>,
    /// Why accelerations were not found.
    why: String,
    report: StepReport,
}

impl Events {
    /// For a model of accelerations.
    pub(crate) fn new(model: Box<dyn ContactModel>) -> Self {
        Self {
            model,
            arms: vec![],
            still: vec![],
            held: vec![],
            dry: vec![],
            free: vec![],
            free_linear: 0.0,
            resting: vec![],
            resting_first: vec![],
            chosen: vec![],
            limits: vec![],
            base: Default::default(),
            end: Default::default(),
            way: vec![],
            way_rate: vec![],
            rates: Default::default(),
            accelerations: Default::default(),
            powers: [0.0; 4],
            slip_left: f64::INFINITY,
            xi: vec![],
            v: vec![],
            speeds: vec![],
            motion: vec![],
            why: String::new(),
            report: empty_report(),
        }
    }

    /// Another model of accelerations.
    pub(crate) fn set_model(&mut self, model: Box<dyn ContactModel>) {
        self.model = model;
    }

    /// One step: impacts and pieces of smooth motion until it is used up.
    fn step(&mut self, sim: &mut Simulation) -> Result<StepReport, StepFailure> {
        let (start, dt) = (sim.state.t, sim.settings.dt);
        self.begin(sim)?;
        let mut left = dt;
        while left > USED_UP * dt {
            stiction_lcp::interrupt::check();
            let advanced = if gets_on(self.report.substeps, (dt - left) / dt) {
                self.meet(sim)?;
                self.advance(sim, start + (dt - left), left / turns(sim, left, dt))?
            } else {
                None
            };
            match advanced {
                Some(taken) => left -= taken,
                None => {
                    self.step_rest(sim, left)?;
                    left = 0.0;
                }
            }
            self.report.substeps += 1;
        }
        self.finish(sim)
    }

    /// What does not change from step to step: the arms of the geoms, links that do not move.
    fn measure_world(&mut self, sim: &Simulation) {
        if self.arms.len() != sim.world.geoms.len() || self.still.is_empty() {
            self.arms = sim.world.geoms.iter().map(arm).collect();
            self.still = vec![LinkMotion::ZERO; sim.world.model.links().len()];
        }
    }

    /// Controllers, and bodies that overlap taken apart.
    fn begin(&mut self, sim: &mut Simulation) -> Result<(), StepFailure> {
        self.measure_world(sim);
        self.report = empty_report();
        sim.update_dynamics();
        let (kinetic, potential) = sim.present_energy();
        (self.report.energy.kinetic_before, self.report.energy.potential_change) = (kinetic, -potential);
        sim.command(sim.state.t);
        self.hold_commands(sim);
        self.separate(sim).map_err(|e| sim.fail(e.to_string(), false))
    }

    /// The rest of the step by time stepping.
    fn step_rest(&mut self, sim: &mut Simulation, left: f64) -> Result<(), StepFailure> {
        let (dt, step) = (sim.settings.dt, sim.state.step);
        sim.settings.dt = left;
        sim.update_dynamics();
        // Activations advance once, over the whole step.
        let activation = sim.state.activation.clone();
        let result = sim.held_step();
        sim.state.activation = activation;
        sim.settings.dt = dt;
        sim.state.step = step;
        let report = result.map_err(|e| {
            let why =
                if self.why.is_empty() { e.why.clone() } else { format!("{}; time stepping: {}", self.why, e.why) };
            StepFailure { why, ..e }
        })?;
        self.report.penetration = self.report.penetration.max(report.penetration);
        self.report.overlap_left = self.report.overlap_left.max(report.overlap_left);
        self.report.gap_spread = self.report.gap_spread.max(report.gap_spread);
        self.report.fallback |= report.fallback;
        self.report.accepted |= report.accepted;
        self.report.restitution_scale = self.report.restitution_scale.min(report.restitution_scale);
        self.report.stepped = left;
        self.count(&report);
        Ok(())
    }

    /// Takes the report of a contact problem in.
    fn count(&mut self, report: &StepReport) {
        let all = &mut self.report;
        all.contacts = all.contacts.max(report.contacts);
        all.active = all.active.max(report.active);
        all.pivots += report.pivots;
        all.factorizations += report.factorizations;
        all.most_factorizations = all.most_factorizations.max(report.most_factorizations);
        all.guessed &= report.guessed;
        all.slip = all.slip.max(report.slip);
        all.work += report.work;
        if report.certificate > all.certificate || all.place == Place::Nowhere {
            (all.certificate, all.place) = (report.certificate, report.place);
        }
    }

    /// Loops are closed, time goes on.
    fn finish(&mut self, sim: &mut Simulation) -> Result<StepReport, StepFailure> {
        sim.work.update_positions(&sim.world.model, &sim.state.q);
        sim.close_loops().map_err(|e| sim.fail(e.to_string(), false))?;
        if sim.settings.controllers_per_stage {
            sim.before.restore_controllers(&mut sim.controllers);
            sim.work.update_positions(&sim.world.model, &sim.before.q);
            sim.work.update_velocities(&sim.world.model, &sim.before.v);
            sim.command(sim.before.t);
        }
        sim.advance_activations();
        sim.state.advance_time(sim.before.t, sim.settings.dt);
        sim.update_dynamics();
        self.report.kinetic = sim.kinetic(&sim.state.v);
        let energy = sim.present_energy();
        sim.check_finite(energy)?;
        self.report.energy.kinetic_after = energy.0;
        self.report.energy.potential_change += energy.1;
        Ok(self.report)
    }
}

impl Simulation {
    /// One event-driven step.
    pub(crate) fn event_step(&mut self) -> Result<StepReport, StepFailure> {
        let Some(mut events) = self.events.take() else { return self.time_step() };
        let result = events.step(self);
        self.events = Some(events);
        result
    }
}

/// True if a step that has made `done` of its way in so many pieces may come to its end in [`PIECES`].
fn gets_on(pieces: usize, done: f64) -> bool {
    pieces < PACED_FROM || pieces < PIECES && pieces as f64 <= PIECES as f64 * done
}

/// Pieces that `left` (s) of a step of `dt` (s) is cut into, so that no body turns too far in one.
fn turns(sim: &Simulation, left: f64, dt: f64) -> f64 {
    let fastest = sim.work.velocity.iter().map(|m| m.angular.length()).fold(0.0, f64::max);
    (left * (fastest / LARGEST_TURN).min(MOST_TURNS / dt)).ceil().max(1.0)
}

fn empty_report() -> StepReport {
    StepReport {
        contacts: 0,
        active: 0,
        pivots: 0,
        factorizations: 0,
        most_factorizations: 0,
        guessed: true,
        certificate: 0.0,
        place: Place::Nowhere,
        penetration: 0.0,
        overlap_left: 0.0,
        gap_spread: 0.0,
        slip: 0.0,
        work: 0.0,
        kinetic: 0.0,
        restitution_scale: 1.0,
        fallback: false,
        accepted: false,
        substeps: 0,
        impacts: 0,
        stepped: 0.0,
        energy: EnergyBalance::default(),
    }
}

/// Largest distance of a geom's points from its link's origin (m); 0 for what never moves.
fn arm(geom: &stiction_body::Geom) -> f64 {
    let farthest = |points: &[Vec3]| points.iter().fold(0.0, |m: f64, p| m.max(p.length()));
    let radius = match geom.shape.kind() {
        ShapeKind::Sphere { radius } => *radius,
        ShapeKind::Cuboid { half } => half.length(),
        ShapeKind::Capsule { half_length, radius } => half_length + radius,
        ShapeKind::Cylinder { half_length, radius } => half_length + radius,
        ShapeKind::Ellipsoid { radii } => radii.max_element(),
        ShapeKind::Hull { points } => farthest(points),
        ShapeKind::Mesh { vertices, .. } => farthest(vertices),
        ShapeKind::HeightField { heights, length_x, length_y, .. } => {
            let high = heights.iter().fold(0.0, |m: f64, h| m.max(h.abs()));
            Vec3::new(0.5 * length_x, 0.5 * length_y, high).length()
        }
        ShapeKind::HalfSpace => 0.0,
    };
    geom.pose.translation.length() + radius
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_get_nowhere_end_before_all_their_pieces() {
        // The first pieces may be as short as they are: an impact runs through several bodies.
        assert!(gets_on(PACED_FROM - 1, 0.0));
        // From then on the pace so far has to lead to the end in 64 pieces.
        assert!(!gets_on(PACED_FROM, 0.24) && gets_on(PACED_FROM, 0.25));
        assert!(!gets_on(48, 0.74) && gets_on(48, 0.75));
        assert!(gets_on(PIECES - 1, 0.99) && !gets_on(PIECES, 1.0));
    }
}

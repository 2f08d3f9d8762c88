//! What a run came to: gathered step by step, printed as a table or written as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use stiction_contact::Place;

use crate::simulation::{Phases, Simulation, SimulatorKind, StepFailure, StepReport};

/// Least, mean and largest of a count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    /// Least.
    pub min: usize,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: usize,
}

/// Mean time per step (µs).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MicrosPerStep {
    /// All of it.
    pub total: f64,
    /// Kinematics, inertia, forces, controllers, integration.
    pub dynamics: f64,
    /// Contact points.
    pub collision: f64,
    /// Rows.
    pub assembly: f64,
    /// The contact model.
    pub solve: f64,
    /// The certificate.
    pub certificate: f64,
    /// Removal of overlap.
    pub projection: f64,
}

/// The worst certificate of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct WorstCertificate {
    /// Its largest measure.
    pub worst: f64,
    /// The step it belongs to.
    pub step: Option<u64>,
    /// The contact it is at, if it is at one.
    pub contact: Option<usize>,
    /// Where it is, in words.
    pub place: String,
}

/// Energies (J): kinetic and potential together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Energy {
    /// At the start.
    pub start: f64,
    /// At the end.
    pub end: f64,
    /// Largest work of a step's contacts beside the energies it belongs to: at most rounding.
    pub worst_gain: f64,
}

/// Where a body is and how it moves, in the world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BodyState {
    /// Position of its origin (m).
    pub position: [f64; 3],
    /// Quaternion w, x, y, z.
    pub orientation: [f64; 4],
    /// Velocity of its origin (m/s).
    pub linear_velocity: [f64; 3],
    /// Angular velocity (rad/s).
    pub angular_velocity: [f64; 3],
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Steps made.
    pub steps: u64,
    /// Simulated time (s).
    pub time: f64,
    /// The step (s).
    pub dt: f64,
    /// How steps were made.
    pub simulator: SimulatorKind,
    /// The contact model.
    pub model: String,
    /// The model's solver, if it was not its usual one.
    pub solver: Option<String>,
    /// Time per step.
    pub us_per_step: MicrosPerStep,
    /// Contacts per step.
    pub contacts: Spread,
    /// Pivots or iterations in all.
    pub pivots: usize,
    /// Steps solved from the last step's modes without a pivot.
    pub guessed: u64,
    /// The worst certificate.
    pub certificate: WorstCertificate,
    /// Deepest overlap found at the start of a step (m).
    pub penetration_max: f64,
    /// Deepest overlap left after it was removed (m).
    pub overlap_left: f64,
    /// Distance slipped by the contact that slips most, summed over the steps (m).
    pub slip: f64,
    /// Energies.
    pub energy: Energy,
    /// Steps that were not certified.
    pub failed_steps: Vec<FailedStep>,
    /// Steps answered by the fallback.
    pub fallback_steps: u64,
    /// Steps in which restitution was lowered.
    pub restitution_lowered: u64,
    /// Pieces of smooth motion in all; as many as steps in time stepping.
    pub substeps: u64,
    /// Impacts in all, of event-driven steps.
    pub impacts: u64,
    /// Time of event-driven steps that was made by time stepping (s).
    pub stepped: f64,
    /// Hash of the final state, in hexadecimal.
    pub hash: String,
    /// Bodies at the end.
    pub bodies: BTreeMap<String, BodyState>,
    /// Bodies at the start.
    pub bodies_start: BTreeMap<String, BodyState>,
}

/// A step that was not certified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedStep {
    /// Which.
    pub step: u64,
    /// Why.
    pub why: String,
}

/// Gathers a [`Summary`] while a simulation runs.
#[derive(Debug, Clone)]
pub struct Gather {
    summary: Summary,
    contacts: usize,
}

impl Gather {
    /// Starts at the simulation's present state.
    pub fn start(simulation: &mut Simulation) -> Self {
        let (kinetic, potential) = simulation.energy();
        let summary = Summary {
            steps: 0,
            time: 0.0,
            dt: simulation.settings().dt,
            simulator: simulation.settings().simulator,
            model: simulation.settings().model.clone(),
            solver: simulation.settings().solver.clone(),
            us_per_step: MicrosPerStep::default(),
            contacts: Spread { min: usize::MAX, ..Spread::default() },
            pivots: 0,
            guessed: 0,
            certificate: WorstCertificate::default(),
            penetration_max: 0.0,
            overlap_left: 0.0,
            slip: 0.0,
            energy: Energy { start: kinetic + potential, ..Energy::default() },
            failed_steps: vec![],
            fallback_steps: 0,
            restitution_lowered: 0,
            substeps: 0,
            impacts: 0,
            stepped: 0.0,
            hash: String::new(),
            bodies: BTreeMap::new(),
            bodies_start: bodies(simulation),
        };
        Self { summary, contacts: 0 }
    }

    /// Takes a step's report in.
    pub fn step(&mut self, report: &StepReport) {
        let s = &mut self.summary;
        if report.certificate > s.certificate.worst || s.certificate.step.is_none() {
            let contact = if let Place::Contact(i) = report.place { Some(i) } else { None };
            let place = report.place.to_string();
            s.certificate = WorstCertificate { worst: report.certificate, step: Some(s.steps), contact, place };
        }
        s.steps += 1;
        s.contacts.min = s.contacts.min.min(report.contacts);
        s.contacts.max = s.contacts.max.max(report.contacts);
        self.contacts += report.contacts;
        s.pivots += report.pivots;
        s.guessed += u64::from(report.guessed);
        s.penetration_max = s.penetration_max.max(report.penetration);
        s.overlap_left = s.overlap_left.max(report.overlap_left);
        s.slip += report.slip * s.dt;
        let size = report.kinetic + report.work.abs();
        if report.work > 0.0 && size > 0.0 {
            s.energy.worst_gain = s.energy.worst_gain.max(report.work / size);
        }
        s.fallback_steps += u64::from(report.fallback);
        s.restitution_lowered += u64::from(report.restitution_lowered());
        s.substeps += report.substeps as u64;
        s.impacts += report.impacts as u64;
        s.stepped += report.stepped;
    }

    /// Takes a failure in.
    pub fn failed(&mut self, failure: &StepFailure) {
        self.summary.failed_steps.push(FailedStep { step: failure.step, why: failure.why.clone() });
    }

    /// The summary at the simulation's present state; `seconds` is the time the steps took.
    pub fn finish(mut self, simulation: &mut Simulation, seconds: f64) -> Summary {
        let s = &mut self.summary;
        let steps = s.steps.max(1) as f64;
        if s.steps == 0 {
            s.contacts.min = 0;
        }
        s.contacts.mean = self.contacts as f64 / steps;
        s.time = simulation.state().t;
        let Phases { dynamics, collision, assembly, solve, certificate, projection } = simulation.phases();
        let micros = |d: std::time::Duration| d.as_secs_f64() * 1e6 / steps;
        s.us_per_step = MicrosPerStep {
            total: seconds * 1e6 / steps,
            dynamics: micros(dynamics),
            collision: micros(collision),
            assembly: micros(assembly),
            solve: micros(solve),
            certificate: micros(certificate),
            projection: micros(projection),
        };
        let (kinetic, potential) = simulation.energy();
        s.energy.end = kinetic + potential;
        s.hash = format!("{:016x}", simulation.state().hash());
        s.bodies = bodies(simulation);
        self.summary
    }
}

/// Every link by its name.
pub fn bodies(simulation: &mut Simulation) -> BTreeMap<String, BodyState> {
    let world = simulation.world().clone();
    let work = simulation.kinematics();
    let state = |i: usize| {
        let (pose, motion) = (&work.pose[i], &work.velocity[i]);
        let q = pose.rotation;
        BodyState {
            position: pose.translation.to_array(),
            orientation: [q.w, q.x, q.y, q.z],
            linear_velocity: motion.linear.to_array(),
            angular_velocity: motion.angular.to_array(),
        }
    };
    world.model.links().iter().enumerate().map(|(i, link)| (link.spec.name.clone(), state(i))).collect()
}

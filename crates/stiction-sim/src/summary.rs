//! What a run came to: gathered step by step, printed as a table or written as JSON.

use std::collections::BTreeMap;
use std::time::Duration;
use stiction_contact::ModelKind;
use stiction_contact::SolverKind;

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

/// How long single steps took (µs).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StepTimes {
    /// Mean.
    pub mean: f64,
    /// Half of the steps took at most this.
    pub median: f64,
    /// 99 % of the steps took at most this.
    pub percentile_99: f64,
    /// The longest.
    pub worst: f64,
    /// The step that took the longest, from 0; the first of several.
    pub worst_step: Option<u64>,
}

impl StepTimes {
    /// Of steps that took `seconds` each, the first of them step number `first`. Quantiles are those of nearest rank.
    pub fn of(seconds: &[f64], first: u64) -> Self {
        let mut sorted = seconds.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(&longest) = sorted.last() else { return Self::default() };
        let rank = |part: f64| sorted[((part * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1];
        Self {
            mean: 1e6 * seconds.iter().sum::<f64>() / seconds.len() as f64,
            median: 1e6 * rank(0.5),
            percentile_99: 1e6 * rank(0.99),
            worst: 1e6 * longest,
            worst_step: seconds.iter().position(|x| *x == longest).map(|i| first + i as u64),
        }
    }
}

/// Linear systems factored; all 0 where the model does not count them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Factorizations {
    /// In all.
    pub total: usize,
    /// Mean of a step.
    pub per_step: f64,
    /// Most in a step.
    pub most_per_step: usize,
    /// Most for one island in one solve.
    pub most_per_island: usize,
}

/// How many steps ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Outcomes {
    /// Certified under the model asked for.
    pub certified: u64,
    /// Certified under the fallback's law.
    pub fallback: u64,
    /// Not certified; the best answer was accepted.
    pub accepted: u64,
    /// Not certified; the run ended.
    pub failed: u64,
}

impl Outcomes {
    /// Takes a step in that was made.
    pub fn count(&mut self, report: &StepReport) {
        let outcome = match (report.accepted, report.fallback) {
            (true, _) => &mut self.accepted,
            (false, true) => &mut self.fallback,
            (false, false) => &mut self.certified,
        };
        *outcome += 1;
    }
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

impl MicrosPerStep {
    /// Of `steps` steps that took `total` seconds and spent `phases`.
    pub fn of(phases: &Phases, total: f64, steps: u64) -> Self {
        let per_step = 1e6 / steps.max(1) as f64;
        let micros = |d: Duration| d.as_secs_f64() * per_step;
        let Phases { dynamics, collision, assembly, solve, certificate, projection } = *phases;
        Self {
            total: total * per_step,
            dynamics: micros(dynamics),
            collision: micros(collision),
            assembly: micros(assembly),
            solve: micros(solve),
            certificate: micros(certificate),
            projection: micros(projection),
        }
    }
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
    pub model: ModelKind,
    /// The model's solver, if it was not its usual one.
    pub solver: Option<SolverKind>,
    /// Mean time per step, and where it went.
    pub us_per_step: MicrosPerStep,
    /// Times of single steps.
    pub step_time: StepTimes,
    /// Contacts per step.
    pub contacts: Spread,
    /// Pivots or iterations in all.
    pub pivots: usize,
    /// Linear systems factored.
    pub factorizations: Factorizations,
    /// Steps solved from the last step's modes without a pivot.
    pub guessed: u64,
    /// The worst certificate.
    pub certificate: WorstCertificate,
    /// Deepest overlap found at the start of a step (m).
    pub penetration_max: f64,
    /// Deepest overlap left after it was removed (m).
    pub overlap_left: f64,
    /// Steps in which gaps of contacts that contradict each other were set apart.
    pub spread_steps: u64,
    /// The largest of these gaps (m).
    pub gap_spread: f64,
    /// Distance slipped by the contact that slips most, summed over the steps (m).
    pub slip: f64,
    /// Energies.
    pub energy: Energy,
    /// How many steps ended how.
    pub outcomes: Outcomes,
    /// Steps that were not certified, and not accepted either.
    pub failed_steps: Vec<FailedStep>,
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
    /// Time of each step (s).
    seconds: Vec<f64>,
    /// Number of the first step.
    first: u64,
    /// Time spent before it.
    before: Phases,
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
            model: simulation.settings().model,
            solver: simulation.settings().solver,
            us_per_step: MicrosPerStep::default(),
            step_time: StepTimes::default(),
            contacts: Spread { min: usize::MAX, ..Spread::default() },
            pivots: 0,
            factorizations: Factorizations::default(),
            guessed: 0,
            certificate: WorstCertificate::default(),
            penetration_max: 0.0,
            overlap_left: 0.0,
            spread_steps: 0,
            gap_spread: 0.0,
            slip: 0.0,
            energy: Energy { start: kinetic + potential, ..Energy::default() },
            outcomes: Outcomes::default(),
            failed_steps: vec![],
            restitution_lowered: 0,
            substeps: 0,
            impacts: 0,
            stepped: 0.0,
            hash: String::new(),
            bodies: BTreeMap::new(),
            bodies_start: bodies(simulation),
        };
        let (first, before) = (simulation.state().step, simulation.phases());
        Self { summary, contacts: 0, seconds: vec![], first, before }
    }

    /// Takes in the report of a step that took `seconds`.
    pub fn step(&mut self, report: &StepReport, seconds: f64) {
        self.seconds.push(seconds);
        let s = &mut self.summary;
        if report.certificate > s.certificate.worst || s.certificate.step.is_none() {
            let contact = if let Place::Contact(i) = report.place { Some(i) } else { None };
            let place = report.place.to_string();
            s.certificate =
                WorstCertificate { worst: report.certificate, step: Some(self.first + s.steps), contact, place };
        }
        s.steps += 1;
        s.contacts.min = s.contacts.min.min(report.contacts);
        s.contacts.max = s.contacts.max.max(report.contacts);
        self.contacts += report.contacts;
        s.pivots += report.pivots;
        let f = &mut s.factorizations;
        f.total += report.factorizations;
        f.most_per_step = f.most_per_step.max(report.factorizations);
        f.most_per_island = f.most_per_island.max(report.most_factorizations);
        s.guessed += u64::from(report.guessed);
        s.penetration_max = s.penetration_max.max(report.penetration);
        s.overlap_left = s.overlap_left.max(report.overlap_left);
        s.spread_steps += u64::from(report.gap_spread > 0.0);
        s.gap_spread = s.gap_spread.max(report.gap_spread);
        s.slip += report.slip * s.dt;
        let size = report.kinetic + report.work.abs();
        if report.work > 0.0 && size > 0.0 {
            s.energy.worst_gain = s.energy.worst_gain.max(report.work / size);
        }
        s.outcomes.count(report);
        s.restitution_lowered += u64::from(report.restitution_lowered());
        s.substeps += report.substeps as u64;
        s.impacts += report.impacts as u64;
        s.stepped += report.stepped;
    }

    /// Takes a failure in.
    pub fn failed(&mut self, failure: &StepFailure) {
        self.summary.outcomes.failed += 1;
        self.summary.failed_steps.push(FailedStep { step: failure.step, why: failure.why.clone() });
    }

    /// The summary at the simulation's present state.
    pub fn finish(mut self, simulation: &mut Simulation) -> Summary {
        let s = &mut self.summary;
        let steps = s.steps.max(1) as f64;
        if s.steps == 0 {
            s.contacts.min = 0;
        }
        s.contacts.mean = self.contacts as f64 / steps;
        s.time = simulation.state().t;
        let spent = simulation.phases().since(&self.before);
        s.us_per_step = MicrosPerStep::of(&spent, self.seconds.iter().sum(), s.steps);
        s.step_time = StepTimes::of(&self.seconds, self.first);
        s.factorizations.per_step = s.factorizations.total as f64 / steps;
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

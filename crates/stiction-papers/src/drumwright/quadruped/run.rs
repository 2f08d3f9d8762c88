//! Walks: a simulation of the robot, what it measures of itself, and several of them side by side.

use stiction_body::math::{Quat, Vec3};
use stiction_contact::ModelKind;
use stiction_contact::models::{DrumwrightShell, NoSlip, NoSlipOptions, NormalOptions, NormalSolver, Viscous};
use stiction_contact::problem::TOUCHING;
use stiction_contact::{ContactModel, Level, ModelOptions};
use stiction_lcp::matrix::dot;
use stiction_sim::{Integrator, Material, SceneError, Settings, Simulation, SimulatorKind};

use super::controller::{Gait, Walk, tilt};
use super::robot::Quadruped;
use super::terrain::Terrain;
use crate::timing::{median, timed};

/// The step (s).
pub const STEP: f64 = 1e-3;

/// Steps that are made at a time, and every how many a walk is looked at for plots.
const CHUNK: usize = 100;
const TRACE: usize = 10;

/// A roll or pitch from which the robot does not come back (rad).
const TIPPED: f64 = 1.2;

/// What a certificate of Drumwright and Shell's model must reach: with cones of 1 : 1000 rounding is larger than elsewhere.
const SHELL_TOLERANCE: f64 = 1e-8;

/// The law of contact of a walk, and how it is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// No slip, symplectic Euler.
    NoSlip(NormalSolver),
    /// Least energy in the cones of this coefficient, symplectic Euler.
    DrumwrightShell(f64),
    /// Drag of 0.1 N s/m, event driven with the method of Runge and Kutta.
    Viscous(NormalSolver),
}

impl Law {
    /// Its name in tables.
    pub fn name(self) -> String {
        let method = |solver| match solver {
            NormalSolver::ModifiedPpm => "modified PPM",
            NormalSolver::Nnls => "active set",
            NormalSolver::Lemke => "Lemke",
        };
        match self {
            Self::NoSlip(solver) => format!("no-slip ({})", method(solver)),
            Self::DrumwrightShell(mu) => format!("Drumwright–Shell (mu = {mu})"),
            Self::Viscous(solver) => format!("viscous ({})", method(solver)),
        }
    }

    /// True if steps are made of smooth pieces between impacts; otherwise they are those of symplectic Euler.
    pub(crate) fn is_event_driven(self) -> bool {
        matches!(self, Self::Viscous(_))
    }

    fn material(self) -> Material {
        match self {
            Self::NoSlip(_) => Material { mu: f64::INFINITY, ..Material::default() },
            Self::DrumwrightShell(mu) => Material { mu, ..Material::default() },
            Self::Viscous(_) => Material { mu: 0.0, mu_viscous: 0.1, ..Material::default() },
        }
    }

    /// The models of velocities and, for the event-driven one, of accelerations.
    fn models(self) -> Vec<Box<dyn ContactModel>> {
        let normals = |solver| NormalOptions { solver, ..NormalOptions::default() };
        match self {
            Self::NoSlip(solver) => {
                vec![Box::new(NoSlip::new(NoSlipOptions { normals: normals(solver), release: false }))]
            }
            Self::DrumwrightShell(_) => {
                let options = ModelOptions { tolerance: SHELL_TOLERANCE, ..ModelOptions::default() };
                vec![Box::new(DrumwrightShell::new(options))]
            }
            Self::Viscous(solver) => {
                let at = |level| Box::new(Viscous::new(level, normals(solver))) as Box<dyn ContactModel>;
                vec![at(Level::Velocity), at(Level::Acceleration)]
            }
        }
    }

    fn settings(self) -> Settings {
        let (model, simulator) = match self {
            Self::NoSlip(_) => (ModelKind::NoSlip, SimulatorKind::TimeStepping),
            Self::DrumwrightShell(_) => (ModelKind::DrumwrightShell, SimulatorKind::TimeStepping),
            Self::Viscous(_) => (ModelKind::Viscous, SimulatorKind::EventDriven),
        };
        Settings {
            dt: STEP,
            model,
            simulator,
            integrator: Integrator::Rk4,
            controllers_per_stage: simulator == SimulatorKind::EventDriven,
            timing: simulator == SimulatorKind::EventDriven,
            ..Settings::default()
        }
    }
}

/// How a walk ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// It has not, or it took all its time.
    No,
    /// The trunk touched the ground.
    TrunkTouched,
    /// It tipped over.
    TippedOver,
    /// A step was not certified.
    Failed(String),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::No => "walks to the end",
            Self::TrunkTouched => "the trunk touches the ground",
            Self::TippedOver => "tips over",
            Self::Failed(why) => why,
        })
    }
}

/// What a walk measured of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Processor time (s), controller included.
    pub cpu: f64,
    /// The same of each tenth of a second that was walked to its end.
    pub tenths: Vec<f64>,
    /// Steps made.
    pub steps: usize,
    /// Steps with contacts, their contacts least, in sum and most.
    pub touching: usize,
    /// Least, sum and most of the contacts of such steps.
    pub contacts: [usize; 3],
    /// Pivots in sum, and most of a step.
    pub pivots: [usize; 2],
    /// Largest roll and pitch (rad).
    pub tilt: [f64; 2],
    /// Least and largest height of the trunk's origin (m).
    pub height: [f64; 2],
    /// Way that the fastest slipping contact made, summed over the steps (m): of contacts that touched when the step began and have a
    /// force.
    pub slip: f64,
    /// Worst certificate of a step.
    pub certificate: f64,
    /// Impacts, and time made by time stepping within event-driven steps (s).
    pub impacts: usize,
    /// Time made by time stepping within event-driven steps (s).
    pub stepped: f64,
    /// How it ended.
    pub ended: Ended,
    /// Time (s), way forward (m), height (m), roll, pitch (rad).
    pub trace: Vec<[f64; 5]>,
}

impl Measured {
    fn new() -> Self {
        Self {
            cpu: 0.0,
            tenths: vec![],
            steps: 0,
            touching: 0,
            contacts: [usize::MAX, 0, 0],
            pivots: [0; 2],
            tilt: [0.0; 2],
            height: [f64::INFINITY, f64::NEG_INFINITY],
            slip: 0.0,
            certificate: 0.0,
            impacts: 0,
            stepped: 0.0,
            ended: Ended::No,
            trace: vec![],
        }
    }

    /// Simulated time (s).
    pub fn time(&self) -> f64 {
        self.steps as f64 * STEP
    }

    /// Processor time per simulated time.
    pub(crate) fn cpu_per_second(&self) -> f64 {
        self.cpu / self.time().max(STEP)
    }

    /// The same as the median over tenths of a second: what else the machine does now and then is not in it.
    pub(crate) fn median_cpu_per_second(&self) -> f64 {
        median(self.tenths.clone()) / (CHUNK as f64 * STEP)
    }

    /// Mean number of contacts of steps that have any.
    pub(crate) fn mean_contacts(&self) -> f64 {
        self.contacts[1] as f64 / self.touching.max(1) as f64
    }

    /// Way forward at the end (m).
    pub fn distance(&self) -> f64 {
        self.trace.last().map_or(0.0, |last| last[1])
    }
}

/// A walk that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Walked {
    /// The law.
    pub law: Law,
    /// The terrain's name.
    pub terrain: &'static str,
    /// What the controller is called in tables.
    pub gait: &'static str,
    /// What it measured.
    pub measured: Measured,
    /// Seconds spent in the contact model alone, where that is measured.
    pub solving: f64,
    /// True if every number of the last state is finite.
    pub is_finite: bool,
}

/// The robot walking.
pub struct Walker {
    law: Law,
    terrain: &'static str,
    gait: &'static str,
    measured: Measured,
    simulation: Simulation,
    boxes: [usize; 2],
}

impl Walker {
    /// The robot at its start.
    ///
    /// # Errors
    /// None for the laws and terrains here.
    pub fn new(law: Law, terrain: &Terrain, name: &'static str, gait: Gait) -> Result<Self, SceneError> {
        let robot = Quadruped::new(terrain, law.material())?;
        let mut simulation = Simulation::new(robot.world.clone(), law.settings())?;
        for model in law.models() {
            simulation.set_model(model).map_err(|e| SceneError::input("model", &e))?;
        }
        simulation.control(Box::new(Walk::new(&robot, gait)));
        let measured = Measured::new();
        Ok(Self { law, terrain: terrain.name, gait: name, measured, simulation, boxes: robot.boxes })
    }

    /// What is left of it when it is over.
    pub fn end(self) -> Walked {
        let state = self.simulation.state();
        Walked {
            is_finite: state.q.iter().chain(&state.v).all(|x| x.is_finite()),
            solving: self.simulation.phases().solve.as_secs_f64(),
            law: self.law,
            terrain: self.terrain,
            gait: self.gait,
            measured: self.measured,
        }
    }

    /// Makes steps until `steps` are made in all, or the walk has ended.
    pub fn walk(&mut self, steps: usize) {
        while self.measured.steps < steps && self.measured.ended == Ended::No {
            let (cpu, ended) = timed(|| self.chunk(steps.min(self.measured.steps + CHUNK)));
            self.measured.cpu += cpu;
            if self.measured.steps.is_multiple_of(CHUNK) {
                self.measured.tenths.push(cpu);
            }
            self.measured.ended = ended;
        }
    }

    fn chunk(&mut self, until: usize) -> Ended {
        while self.measured.steps < until {
            let report = match self.simulation.step() {
                Ok(report) => report,
                Err(failure) => return Ended::Failed(failure.to_string()),
            };
            let m = &mut self.measured;
            m.steps += 1;
            if report.contacts > 0 {
                m.touching += 1;
                let [least, sum, most] = m.contacts;
                m.contacts = [least.min(report.contacts), sum + report.contacts, most.max(report.contacts)];
            }
            m.pivots = [m.pivots[0] + report.pivots, m.pivots[1].max(report.pivots)];
            m.slip += STEP * if self.law.is_event_driven() { report.slip } else { slip(&self.simulation) };
            m.certificate = m.certificate.max(report.certificate);
            m.impacts += report.impacts;
            m.stepped += report.stepped;
            self.look();
            if self.trunk_touches() {
                return Ended::TrunkTouched;
            }
            if self.measured.tilt.iter().any(|t| *t > TIPPED) {
                return Ended::TippedOver;
            }
        }
        Ended::No
    }

    /// Where the trunk is.
    fn look(&mut self) {
        let (m, q) = (&mut self.measured, &self.simulation.state().q);
        let position = Vec3::new(q[0], q[1], q[2]);
        let [roll, pitch] = tilt(Quat::from_xyzw(q[4], q[5], q[6], q[3]));
        m.tilt = [m.tilt[0].max(roll.abs()), m.tilt[1].max(pitch.abs())];
        m.height = [m.height[0].min(position.z), m.height[1].max(position.z)];
        if m.steps.is_multiple_of(TRACE) {
            m.trace.push([m.time(), position.x, position.z, roll, pitch]);
        }
    }

    fn trunk_touches(&self) -> bool {
        let of_trunk = |g: [u32; 2]| g.iter().any(|g| self.boxes.contains(&(*g as usize)));
        let forces = self.simulation.impulses().map_or(&[][..], |f| &f.normal);
        let mut contacts = self.simulation.contacts().iter().zip(forces);
        contacts.any(|(frame, force)| *force > 0.0 && of_trunk(frame.key.geoms))
    }
}

/// Largest slip speed after a step (m/s) of a contact that touched when it began and has a force: one that only closes in it does not count
/// along its tangents yet.
fn slip(simulation: &Simulation) -> f64 {
    let (contacts, v) = (simulation.problem().contacts(), &simulation.state().v);
    let forces = simulation.impulses().map_or(&[][..], |f| &f.normal);
    let along = |rows: &stiction_contact::Rows, i: usize| rows.row(i).map(|(_, row)| dot(row, v)).sum::<f64>();
    let frames = simulation.contacts().iter().zip(forces).enumerate();
    let held = frames.filter(|(_, (frame, force))| **force > 0.0 && frame.gap <= TOUCHING * frame.size);
    held.map(|(i, _)| along(&contacts.tangent_s, i).hypot(along(&contacts.tangent_t, i))).fold(0.0, f64::max)
}

/// Walks all for `steps` steps, in turns of a tenth of a second, so that what else the machine does is shared among them.
pub(crate) fn side_by_side(mut walkers: Vec<Walker>, steps: usize) -> Vec<Walked> {
    let mut at = 0;
    while at < steps {
        at = (at + CHUNK).min(steps);
        walkers.iter_mut().for_each(|w| w.walk(at));
    }
    walkers.into_iter().map(Walker::end).collect()
}

/// Walks for `steps` steps by itself.
///
/// # Errors
/// None for the laws and terrains here.
pub fn alone(law: Law, terrain: &Terrain, name: &'static str, gait: Gait, steps: usize) -> Result<Walked, SceneError> {
    Ok(side_by_side(vec![Walker::new(law, terrain, name, gait)?], steps).remove(0))
}

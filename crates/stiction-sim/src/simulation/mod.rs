//! A simulation: a world, its state, and all the parts that take it from one step to the next.
//!
//! `settings.rs` says how it steps, `state.rs` what it is at a moment, `report.rs` what a step came to. A step keeps what it may
//! change (`rollback.rs`), finds contacts, solves and integrates (`time_stepping/`, `event_driven/`), and goes back if it fails.

mod overlap;
mod report;
mod rollback;
mod settings;
mod state;

use std::sync::Arc;
use std::time::{Duration, Instant};

use stiction_body::collision::Collision;
use stiction_body::{Coupling, CouplingTerm, LinkMotion, LoopRows, Workspace, range};
use stiction_contact::{
    ContactForces, ContactModel, ContactOutcome, ContactProblem, Frictionless, Level, ModelKind, ModelOptions,
    NormalOptions, SeparateIslands, WarmStart, models::catalog,
};
use stiction_lcp::threads::MOST_THREADS;
use stiction_lcp::{InputError, Matrix, Threads};
use stiction_linalg::Number;

use crate::actuation::{Drives, Transmission, UNBOUNDED};
use crate::assemble::{Assembler, ContactFrame, ContactKey};
use crate::control::{Commands, Controller};
use crate::equality::{Closing, Switch};
use crate::error::SceneError;
use crate::event_driven::Events;
use crate::physical::PhysicalChange;
use crate::projection::Projection;
use crate::sleep::Sleep;
use crate::ties::Ties;
use crate::time_stepping::{Carried, Faces};
use crate::world::World;
use overlap::CROWDED;
pub use overlap::Overlap;
pub use report::{Phases, StepFailure, StepReport};
pub(crate) use rollback::Before;
use settings::models;
pub use settings::{Integrator, OnFailure, Settings, SimulatorKind};
pub use state::{Memory, Snapshot, State};

/// A world in motion.
pub struct Simulation {
    pub(crate) world: Arc<World>,
    /// With the scene's own physical parameters.
    pub(crate) own_world: Arc<World>,
    /// What differs from them.
    pub(crate) physical_changes: Vec<PhysicalChange>,
    pub(crate) settings: Settings,
    pub(crate) state: State,
    pub(crate) memory: Memory,
    pub(crate) controllers: Vec<Box<dyn Controller>>,
    pub(crate) commands: Commands,
    pub(crate) drives: Drives,
    pub(crate) ties: Ties,
    /// What each equality is.
    pub(crate) switches: Vec<Switch>,
    pub(crate) closing: Closing,
    /// Something acts along more than single velocities.
    pub(crate) couples_velocities: bool,
    pub(crate) work: Workspace,
    pub(crate) collision: Collision,
    /// Pairs of one tree that overlap at the start, and so never touch, or only deeper than there.
    ignored: Vec<Overlap>,
    /// Size of each geom (m).
    pub(crate) sizes: Vec<f64>,
    /// Rows of closed loops and of joints that follow others.
    pub(crate) loops: LoopRows,
    pub(crate) assembler: Assembler,
    /// For projections after the step, so that the step's own problem and contacts stay to be seen.
    pub(crate) second_assembler: Assembler,
    pub(crate) threads: Threads,
    pub(crate) model: Box<dyn ContactModel>,
    pub(crate) fallback: Option<Box<dyn ContactModel>>,
    pub(crate) projector: SeparateIslands,
    pub(crate) projection: Projection,
    pub(crate) last: Option<ContactOutcome>,
    pub(crate) phases: Phases,
    pub(crate) scratch: Scratch,
    /// What event-driven steps need; `None` for time stepping.
    pub(crate) events: Option<Box<Events>>,
    pub(crate) before: Before,
    pub(crate) sleep: Sleep,
    /// The workspace's kinematics are those of the present state.
    pub(crate) kinematics_at_state: bool,
}

/// Storage that steps reuse.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// Inertia of the step, one block per tree: that of the bodies, and what acts implicitly on the diagonal.
    pub mass: Vec<Matrix>,
    /// That of the bodies alone, where something acts implicitly along more than single velocities.
    pub bodies: Vec<Matrix>,
    /// Nothing was added to the inertia yet.
    pub mass_is_of_bodies: bool,
    /// Forces of all motors, nv.
    pub motors: Vec<f64>,
    /// Efforts of the actuators before their limits.
    pub efforts: Vec<f64>,
    /// Efforts that motors gave in the step, nv.
    pub applied: Vec<f64>,
    /// Velocities after the step, nv.
    pub v_after: Vec<f64>,
    /// A row of a tree.
    pub row: Vec<f64>,
    /// Diagonal of the inertia of the bodies alone, nv.
    pub diagonal: Vec<f64>,
    /// Gravity and velocity products, nv.
    pub passive: Vec<f64>,
    /// What acts by itself besides gravity, nv; empty if nothing does.
    pub ambient: Vec<f64>,
    /// Contacts whose slip turns round within the step, ascending: static friction holds them.
    pub stopped: Vec<ContactKey>,
    /// Adhesion at each contact of the step (N); empty if there is none.
    pub adhesion: Vec<f64>,
    /// All forces of the step without contact, nv.
    pub force: Vec<f64>,
    /// Velocities without contact, nv.
    pub v_free: Vec<f64>,
    /// Velocities of the links then.
    pub motion: Vec<LinkMotion>,
    /// Motion of the links in a projection.
    pub moved: Vec<LinkMotion>,
    /// The start handed to the model where the contacts are not those of the last step.
    pub start: WarmStart,
    /// The start that motors and contacts solved for at once have found, if they were.
    pub joint_start: Option<WarmStart>,
    /// A vector of zeros, nv.
    pub zeros: Vec<f64>,
    /// Kinetic and potential energy (J) after the last step, where nothing has changed since.
    pub energy: Option<(f64, f64)>,
    /// Energy that the projections of the step added (J).
    pub projected: f64,
    /// Bodies that links of robots carry.
    pub carried: Carried,
    /// The contacts as the problem has them.
    pub faces: Faces,
    /// By how much they are spread, beside what projection leaves of overlap; empty in most steps.
    pub spread: Vec<f64>,
    /// Contacts of the step that close in it.
    pub closed: Vec<bool>,
    /// The speeds at which they are to part again (m/s); 0 where they are not.
    pub rebound: Vec<f64>,
    /// Velocities of the compression, nv.
    pub v_compressed: Vec<f64>,
    /// Velocities along a sequence of impacts, nv.
    pub sequence: Vec<f64>,
}

/// Most entries of the inertia, which is dense within an articulated body: a chain of 2,896 joints, or
/// 233,000 free bodies. There are a handful of copies, 67 MB each then.
const MOST_INERTIA_ENTRIES: usize = 1 << 23;

impl Simulation {
    /// A simulation of a world from its start.
    ///
    /// # Errors
    /// If a setting is out of range, a model is not known or does not fit, or a geom cannot collide as it is.
    pub fn new(world: Arc<World>, settings: Settings) -> Result<Self, SceneError> {
        let input = |element: &str, e: &InputError| SceneError::input(element, e);
        if !range::is_in_range(settings.dt) {
            return Err(SceneError::new("dt", format!("must be {}, found {}", range::RANGE, Number(settings.dt))));
        }
        if settings.restitution_speed.is_nan() || settings.restitution_speed < 0.0 {
            return Err(SceneError::new("restitution_speed", "must be at least 0"));
        }
        if settings.threads.is_some_and(|count| !(1..=MOST_THREADS).contains(&count)) {
            return Err(SceneError::new("threads", format!("must be from 1 to {MOST_THREADS}")));
        }
        if settings.simulator == SimulatorKind::EventDriven && world.surfaces.have_directions() {
            let why = "friction that depends on the direction of slip needs time stepping";
            return Err(SceneError::new("simulator", why));
        }
        if settings.simulator == SimulatorKind::EventDriven && world.surfaces.have_static_friction() {
            return Err(SceneError::new("simulator", "static friction unlike that of sliding needs time stepping"));
        }
        let held = world.tendons.iter().find(|t| t.limits != UNBOUNDED || t.friction > 0.0);
        if let Some(tendon) = held.filter(|_| settings.simulator == SimulatorKind::EventDriven) {
            let why = format!("limits and dry friction of tendons (\"{}\") need time stepping", tendon.name);
            return Err(SceneError::new("simulator", why));
        }
        let adhesive = world.actuators.iter().find(|a| matches!(a.transmission, Transmission::Body(_)));
        if let Some(actuator) = adhesive.filter(|_| settings.simulator == SimulatorKind::EventDriven) {
            let why = format!("adhesion (\"{}\") needs time stepping", actuator.name);
            return Err(SceneError::new("simulator", why));
        }
        if settings.simulator == SimulatorKind::EventDriven && !world.ties.is_empty() {
            return Err(SceneError::new(
                "simulator",
                "what is tied to bodies that are moved from outside needs time stepping",
            ));
        }
        let straight = |c: &Coupling| c.terms.iter().all(CouplingTerm::is_linear);
        if settings.simulator == SimulatorKind::EventDriven && !world.model.couplings().iter().all(straight) {
            return Err(SceneError::new("simulator", "joints that follow curves of others need time stepping"));
        }
        let entries: usize = world.model.trees().iter().map(|tree| tree.v.len().pow(2)).sum();
        if entries > MOST_INERTIA_ENTRIES {
            let why = format!(
                "the inertia of all articulated bodies has {entries} entries (joint velocities of a body, squared), \
                 at most {MOST_INERTIA_ENTRIES} can be"
            );
            return Err(SceneError::new("bodies", why));
        }
        let threads = settings.threads.map_or_else(Threads::one_per_core, Threads::new);
        let options = ModelOptions { tolerance: settings.tolerance, ..ModelOptions::default() };
        let (model, events) = models(&settings, &options)?;
        let model = Box::new(SeparateIslands::new(model, threads, settings.sleeping));
        let mut collision = Collision::new(&world.model, world.geoms.clone(), world.rules.clone())
            .map_err(|e| input("collision", &e))?;
        collision.set_threads(threads);
        let activation = world.activation.clone();
        let state = State { q: world.q.clone(), v: world.v.clone(), activation, t: 0.0, step: 0 };
        let memory = Memory::new(&world);
        if settings.accept_bound.is_nan() || settings.accept_bound < 0.0 {
            return Err(SceneError::new("accept_bound", "must be at least 0"));
        }
        let fallback = match settings.on_failure {
            OnFailure::Stop | OnFailure::Accept => None,
            OnFailure::Fallback => {
                Some(catalog::build(ModelKind::CoulombPolyhedral, &options).map_err(|e| input("model", &e))?)
            }
        };
        // A projection that cannot be solved has a second form; more methods would only cost.
        let normals = NormalOptions { model: options, insist: false, ..NormalOptions::default() };
        let couples_velocities = world.couples_velocities();
        let switches = world.switches();
        let ties = Ties::new(&world.model, &world.ties, world.ties_on(&switches));
        let closing = Closing::new(&world, &switches);
        let mut simulation = Self {
            ignored: vec![],
            assembler: Assembler::new(&world.model),
            second_assembler: Assembler::new(&world.model),
            loops: world.rigid_rows(&switches),
            scratch: Scratch { zeros: vec![0.0; world.model.nv()], ..Scratch::default() },
            own_world: world.clone(),
            physical_changes: vec![],
            world,
            settings,
            state,
            memory,
            controllers: vec![],
            commands: Commands::default(),
            drives: Drives::default(),
            ties,
            closing,
            switches,
            couples_velocities,
            work: Workspace::default(),
            sizes: (0..collision.geoms().len()).map(|g| collision.size(g)).collect(),
            collision,
            threads,
            model,
            fallback,
            projector: SeparateIslands::new(Box::new(Frictionless::new(Level::Velocity, normals)), threads, false),
            projection: Projection::default(),
            last: None,
            phases: Phases::default(),
            before: Before::default(),
            sleep: Sleep::default(),
            kinematics_at_state: false,
            events,
        };
        simulation.ignore_own_overlaps().map_err(|e| input("collision", &e))?;
        Ok(simulation)
    }

    /// Adds a controller.
    pub fn control(&mut self, controller: Box<dyn Controller>) {
        self.controllers.push(controller);
    }

    /// Takes a contact model of the caller's own making, such as one with other options, in place of the one the settings name: one of
    /// velocities for time stepping and for impacts, one of accelerations for the smooth motion between them.
    ///
    /// # Errors
    /// If it is one of accelerations, and the simulation is time stepping.
    pub fn set_model(&mut self, model: Box<dyn ContactModel>) -> Result<(), InputError> {
        match (model.level(), &mut self.events) {
            (Level::Velocity, _) => {
                self.model = Box::new(SeparateIslands::new(model, self.threads, self.settings.sleeping));
            }
            (Level::Acceleration, Some(events)) => events.set_model(model),
            (Level::Acceleration, None) => {
                let reason = format!("time stepping needs a model of velocities, found '{}'", model.name());
                return Err(InputError::Option { name: "model", reason });
            }
        }
        self.last = None;
        self.sleep.wake();
        Ok(())
    }

    /// Sets what controller `i`, in the order they were added, remembers: how a program speaks to a controller of its own between steps.
    ///
    /// # Errors
    /// If there is no such controller, or it remembers another number of values.
    pub fn set_controller_memory(&mut self, i: usize, memory: &[f64]) -> Result<(), InputError> {
        let found = memory.len();
        let controller = self.controllers.get_mut(i);
        if let Some(controller) = controller.filter(|controller| controller.takes_memory(found)) {
            controller.set_memory(memory);
            return Ok(());
        }
        let expected = self.controllers.get(i).map_or(0, |controller| controller.memory().len());
        Err(InputError::Size { what: format!("memory of controller {i}"), expected, found })
    }

    /// The world.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Sets configuration and velocities; what steps remember is forgotten. Quaternions within 1e-3 of unit length are made unit.
    ///
    /// # Errors
    /// If a number is not finite, a quaternion is farther from unit length, or a size is wrong.
    pub fn set_state(&mut self, q: &[f64], v: &[f64]) -> Result<(), InputError> {
        let mut unit = q.to_vec();
        self.world.model.normalize(&mut unit);
        self.world.model.check_state(&unit, v)?;
        self.state.q.copy_from_slice(&unit);
        self.state.v.copy_from_slice(v);
        self.memory = Memory::new(&self.world);
        self.kinematics_at_state = false;
        self.sleep.wake();
        Ok(())
    }

    /// Sets the activation of each actuator, in the order of the world; those of actuators that have none are 0.
    ///
    /// # Errors
    /// If a number is not finite, not 0 where there is no activation, or the size is wrong.
    pub fn set_activation(&mut self, activation: &[f64]) -> Result<(), InputError> {
        let actuators = &self.world.actuators;
        if activation.len() != actuators.len() {
            let (what, expected, found) = ("activation".into(), actuators.len(), activation.len());
            return Err(InputError::Size { what, expected, found });
        }
        for (i, (x, actuator)) in activation.iter().zip(actuators).enumerate() {
            let what = format!("activation[{i}] (actuator \"{}\")", actuator.name);
            if !x.is_finite() {
                return Err(InputError::NotFinite { what, value: *x });
            }
            if *x != 0.0 && !actuator.has_activation() {
                return Err(InputError::OutOfRange { what, expected: "0: it has none", found: *x });
            }
        }
        self.state.activation.copy_from_slice(activation);
        self.sleep.wake();
        Ok(())
    }

    /// Actuators and tendons at the present state, with what controllers ask for now; controllers remember nothing of it.
    pub fn drives(&mut self) -> &Drives {
        self.kinematics();
        self.drives.measure_tendons(self.world.driven(), &self.work, &self.state.q);
        let memories: Vec<Vec<f64>> = self.controllers.iter().map(|c| c.memory().to_vec()).collect();
        self.command(self.state.t);
        self.controllers.iter_mut().zip(&memories).for_each(|(c, memory)| c.set_memory(memory));
        &self.drives
    }

    /// Efforts of all motors at the present state, within their limits, nv (N or N m).
    pub fn motor_efforts(&mut self) -> Vec<f64> {
        self.drives();
        let mut out = vec![];
        self.present_motor_forces(&mut out);
        out
    }

    /// Forces of springs and dampers of joints and tendons, and of all else that acts by itself besides gravity, at the present state, nv (N or N m).
    pub fn spring_forces(&mut self) -> Vec<f64> {
        self.drives();
        let Self { world, state, drives, .. } = &*self;
        let mut out = vec![0.0; world.model.nv()];
        for link in world.model.joints() {
            let p = &link.spec.properties;
            for k in link.v.clone() {
                out[k] -= p.damping * state.v[k];
                if link.v.len() == 1 {
                    out[k] += p.stiffness * (p.rest - state.q[link.q.start]);
                }
            }
        }
        drives.springs.iter().for_each(|s| s.row.add_to(&world.model, s.force, &mut out));
        world.ambient.add_forces(&world.model, &self.work, &state.q, &mut out);
        out
    }

    /// Takes over a keyframe of the world: configuration, velocities and activations; equalities are as at the start. Its controls are for
    /// controllers.
    ///
    /// # Errors
    /// If there is no such keyframe, or it is no state.
    pub fn set_keyframe(&mut self, number: usize) -> Result<(), InputError> {
        let world = self.world.clone();
        let Some(key) = world.keyframes.get(number) else {
            let (what, expected) = (format!("keyframes up to number {number}"), number + 1);
            return Err(InputError::Size { what, expected, found: world.keyframes.len() });
        };
        self.set_state(&key.q, &key.v)?;
        if self.switches != world.switches() {
            self.set_switches(world.switches());
        }
        self.set_activation(&key.activation)
    }

    /// The contacts of the last step.
    pub fn contacts(&self) -> &[ContactFrame] {
        &self.assembler.frames
    }

    /// Impulses of the last step (N s), per contact and row, if there was one. Of an event-driven step the forces (N) of its last stage,
    /// or the impulses of its last impact if that came later.
    pub fn impulses(&self) -> Option<&ContactForces> {
        self.last.as_ref().and_then(ContactOutcome::answer).map(|s| &s.forces)
    }

    /// The outcome of the last step's contact problem: solved, or failed where its best answer was accepted.
    pub fn outcome(&self) -> Option<&ContactOutcome> {
        self.last.as_ref()
    }

    /// The contact problem of the last step.
    pub fn problem(&self) -> &ContactProblem {
        &self.assembler.problem
    }

    /// Measures the time of each phase from now on, or does not.
    pub fn set_timing(&mut self, timing: bool) {
        self.settings.timing = timing;
    }

    /// Time spent so far, if it is measured.
    pub fn phases(&self) -> Phases {
        self.phases
    }

    /// Poses and velocities of the links at the present state.
    pub fn kinematics(&mut self) -> &Workspace {
        self.work.update_positions(&self.world.model, &self.state.q);
        self.work.update_velocities(&self.world.model, &self.state.v);
        &self.work
    }

    /// Kinetic and potential energy (J).
    pub fn energy(&mut self) -> (f64, f64) {
        self.kinematics();
        self.work.energy(&self.world.model, &self.state.v)
    }

    /// Makes one step.
    ///
    /// # Errors
    /// [`StepFailure`] if it could not be certified; the state is that before it.
    pub fn step(&mut self) -> Result<StepReport, StepFailure> {
        self.keep();
        let result = match self.settings.simulator {
            SimulatorKind::TimeStepping => self.time_step(),
            SimulatorKind::EventDriven => self.event_step(),
        };
        let result = result.and_then(|report| match self.collision.take_crowded() {
            true => Err(self.fail(CROWDED, false)),
            false => Ok(report),
        });
        match &result {
            Ok(_) => {
                self.before.v_after.clone_from(&self.state.v);
                self.before.wrenches.clone_from(&self.commands.wrenches);
            }
            Err(_) => {
                self.sleep.wake();
                self.go_back();
            }
        }
        result
    }

    /// Adds the time since `clock` to that of the last solve and of its certificate.
    pub(crate) fn note_solve(&mut self, clock: Option<Instant>) {
        let Some(clock) = clock else { return };
        let solution = self.last.as_ref().and_then(ContactOutcome::answer);
        let certificate = solution.map_or(Duration::ZERO, |s| s.stats.certificate.0);
        self.phases.certificate += certificate;
        self.phases.solve += clock.elapsed().saturating_sub(certificate);
    }

    pub(crate) fn clock(&self) -> Option<Instant> {
        self.settings.timing.then(Instant::now)
    }

    pub(crate) fn fail(&self, why: impl Into<String>, with_problem: bool) -> StepFailure {
        StepFailure {
            step: self.state.step,
            t: self.state.t,
            why: why.into(),
            problem: with_problem.then(|| Box::new(self.assembler.problem.clone())),
            best: None,
        }
    }
}

//! A simulation: a world, its state, and all the parts that take it from one step to the next.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stiction_body::collision::{self, Collision};
use stiction_body::{Coupling, CouplingTerm, LinkMotion, LoopRows, Workspace, range};
use stiction_contact::{
    ContactForces, ContactModel, ContactOutcome, ContactProblem, Frictionless, Level, ModelOptions, NormalOptions,
    Place, SeparateIslands, WarmStart, models::catalog,
};
use stiction_lcp::threads::MOST_THREADS;
use stiction_lcp::{InputError, Matrix, Threads};

use crate::actuation::{Drives, UNBOUNDED};
use crate::assemble::{Assembler, ContactFrame, ContactKey};
use crate::control::{Commands, Controller, LinkWrench};
use crate::energy::EnergyBalance;
use crate::error::SceneError;
use crate::event_driven::{Events, impact_model};
use crate::physical::PhysicalChange;
use crate::projection::Projection;
use crate::restitution::Impacts;
use crate::sleep::Sleep;
use crate::ties::Ties;
use crate::world::World;

/// How a simulation steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The step (s).
    pub dt: f64,
    /// The contact model, by its name in the catalog.
    pub model: String,
    /// The model's solver, by its name in the catalog; none is its usual one.
    pub solver: Option<String>,
    /// A step is certified if every measure of its certificate is at most this.
    pub tolerance: f64,
    /// What to do where a step is not certified.
    pub on_failure: OnFailure,
    /// With [`OnFailure::Accept`]: the largest certificate that is accepted.
    pub accept_bound: f64,
    /// An impact slower than this does not bounce (m/s).
    pub restitution_speed: f64,
    /// How impacts at the same time are resolved.
    pub impacts: Impacts,
    /// Threads that share the contacts and islands of a step, from 1 to 1024; none is one per core. Helpers are started by the first step that is worth them, and results are the
    /// same bits for any number.
    pub threads: Option<usize>,
    /// Steps that would only repeat the last one, because it changed nothing and nothing has changed since, are not computed. Nothing but the time they take shows it. Default true; time stepping only.
    pub sleeping: bool,
    /// Measure the time of each phase.
    pub timing: bool,
    /// How steps are made.
    pub simulator: SimulatorKind,
    /// How motion is integrated between the events of event-driven steps. Time stepping has its own: symplectic Euler.
    pub integrator: Integrator,
    /// Ask the controllers at every stage of an event-driven step, not only at its start. Time stepping asks once.
    pub controllers_per_stage: bool,
}

/// How steps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SimulatorKind {
    /// Impulses over a step of fixed length, with any model of velocities.
    #[default]
    TimeStepping,
    /// Smooth motion with a model of accelerations from one impact to the next.
    EventDriven,
}

/// How smooth motion is integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Velocities first, then positions with the new velocities: first order.
    SymplecticEuler,
    /// The classical method of Runge and Kutta, in exponential coordinates where joints turn: fourth order.
    #[default]
    Rk4,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1e-3,
            model: "coulomb-cone".into(),
            solver: None,
            tolerance: 1e-10,
            on_failure: OnFailure::Stop,
            accept_bound: 1e-6,
            restitution_speed: 1e-2,
            impacts: Impacts::default(),
            threads: None,
            sleeping: true,
            timing: false,
            simulator: SimulatorKind::default(),
            integrator: Integrator::default(),
            controllers_per_stage: false,
        }
    }
}

/// What to do where a step is not certified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Stop, and leave the state before the step.
    #[default]
    Stop,
    /// Go on with the best answer, if its certificate is at most [`Settings::accept_bound`]; the step is accepted, not certified.
    Accept,
    /// Take the polyhedral cone of eight sides instead, which has a solution wherever nothing must bounce; the step says so.
    Fallback,
}

impl OnFailure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stop, Self::Accept, Self::Fallback];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Accept => "accept",
            Self::Fallback => "fallback",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// What is expected, if there is none.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let expected = || format!("expected \"stop\", \"accept\" or \"fallback\", found \"{name}\"");
        Self::ALL.into_iter().find(|what| what.name() == name).ok_or_else(expected)
    }
}

/// What changes: configuration, velocities, time.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct State {
    /// Configuration, nq.
    pub q: Vec<f64>,
    /// Velocities, nv.
    pub v: Vec<f64>,
    /// Activation of each actuator; 0 for those that have none.
    #[serde(default)]
    pub activation: Vec<f64>,
    /// Time (s).
    pub t: f64,
    /// Steps made.
    pub step: u64,
}

impl State {
    /// A step of `dt` (s) was made from time `before` (s). Where all steps were as long, time is a multiple of it, without the rounding of sums;
    /// where another length was set in between, it goes on from where it was.
    pub(crate) fn advance_time(&mut self, before: f64, dt: f64) {
        let uniform = before == self.step as f64 * dt;
        self.step += 1;
        self.t = if uniform { self.step as f64 * dt } else { before + dt };
    }

    /// A number that changes with any bit of the state: FNV-1a over the bits.
    pub fn hash(&self) -> u64 {
        // Activations of 0, as of most actuators, leave the number what it was before there were any.
        let active = self.activation.iter().any(|x| *x != 0.0).then_some(&self.activation);
        let numbers = self.q.iter().chain(&self.v).chain(active.into_iter().flatten()).chain([&self.t]);
        let numbers = numbers.map(|x| x.to_bits()).chain([self.step]);
        numbers
            .flat_map(u64::to_le_bytes)
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

/// What a step remembers for the next, besides the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// The contacts of the last step.
    pub keys: Vec<ContactKey>,
    /// Modes, bases and forces of the last step.
    pub start: WarmStart,
    /// Motors at their limit: −1, 0 or 1 per velocity, then per actuator.
    pub saturated: Vec<i8>,
}

impl Memory {
    /// Of a world that has made no step.
    fn new(world: &World) -> Self {
        Self { saturated: vec![0; world.model.nv() + world.actuators.len()], ..Self::default() }
    }
}

/// All that influences the next step: a simulation that takes it continues bit for bit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// What steps remember.
    pub memory: Memory,
    /// What each controller remembers.
    pub controllers: Vec<Vec<f64>>,
    /// Physical parameters that differ from the scene's own.
    pub physical: Vec<PhysicalChange>,
}

/// Time spent in each phase of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Kinematics, inertia, forces, controllers, integration.
    pub dynamics: Duration,
    /// Contact points.
    pub collision: Duration,
    /// Rows.
    pub assembly: Duration,
    /// The contact model, without its certificate.
    pub solve: Duration,
    /// The certificate.
    pub certificate: Duration,
    /// Removal of overlap.
    pub projection: Duration,
}

impl Phases {
    /// What was spent after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            dynamics: self.dynamics.saturating_sub(earlier.dynamics),
            collision: self.collision.saturating_sub(earlier.collision),
            assembly: self.assembly.saturating_sub(earlier.assembly),
            solve: self.solve.saturating_sub(earlier.solve),
            certificate: self.certificate.saturating_sub(earlier.certificate),
            projection: self.projection.saturating_sub(earlier.projection),
        }
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Contacts in the problem.
    pub contacts: usize,
    /// Contacts with a force.
    pub active: usize,
    /// Pivots or iterations.
    pub pivots: usize,
    /// Linear systems factored; 0 where the model does not count them.
    pub factorizations: usize,
    /// Most of them for one island.
    pub most_factorizations: usize,
    /// Solved from the last step's modes without a pivot.
    pub guessed: bool,
    /// Largest measure of the certificate.
    pub certificate: f64,
    /// Where it is.
    pub place: Place,
    /// Deepest overlap found (m).
    pub penetration: f64,
    /// Overlap that the projection could not remove (m).
    pub overlap_left: f64,
    /// Largest slip speed of a contact with a force (m/s).
    pub slip: f64,
    /// Work of all contact impulses (J), beside the motion without them: at most 0 but for rounding.
    pub work: f64,
    /// Kinetic energy after the step (J), for comparison.
    pub kinetic: f64,
    /// The part of the rebound speeds that contacts with restitution got: 1, or as much as gains no energy where
    /// friction, or different restitutions, would gain some.
    pub restitution_scale: f64,
    /// The fallback model answered.
    pub fallback: bool,
    /// The answer is not certified: the best one was taken, as [`OnFailure::Accept`] asks.
    pub accepted: bool,
    /// Pieces of smooth motion the step was made of; 1 in time stepping.
    pub substeps: usize,
    /// Impacts within it; 0 in time stepping, where they are part of every step.
    pub impacts: usize,
    /// Time at the end of an event-driven step that was made by time stepping (s): too many events, or forces that no acceleration goes
    /// with.
    pub stepped: f64,
    /// Where the step's energy came from and went.
    pub energy: EnergyBalance,
}

impl StepReport {
    /// True if restitution was lowered because the impact would have gained energy.
    pub fn restitution_lowered(&self) -> bool {
        self.restitution_scale < 1.0
    }
}

/// A step that was not made: the state is that before it.
#[derive(Debug, Clone)]
pub struct StepFailure {
    /// The step.
    pub step: u64,
    /// The time (s).
    pub t: f64,
    /// Why.
    pub why: String,
    /// The contact problem, if there was one.
    pub problem: Option<Box<ContactProblem>>,
    /// The certificate of the best answer found, if there was one.
    pub best: Option<f64>,
}

impl StepFailure {
    /// What one may try, in a sentence.
    pub fn advice(&self) -> String {
        match (self.best.filter(|best| best.is_finite()), &self.problem) {
            (Some(best), _) => format!(
                "try a smaller step (dt), the best answer, whose certificate is {best:.1e} (on_failure = \"accept\", \
                 accept_bound), or the polyhedral cone (on_failure = \"fallback\")"
            ),
            (None, Some(_)) => {
                "look for motions, loops or limits that contradict each other, or try a smaller step (dt)".into()
            }
            (None, None) => "try a smaller step (dt)".into(),
        }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} (t = {:.6} s): {}", self.step, self.t, self.why)
    }
}

impl std::error::Error for StepFailure {}

/// Two geoms that overlap at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// Their names.
    pub names: [String; 2],
    /// How deep (m).
    pub depth: f64,
    /// They belong to one model: a robot's own parts.
    pub one_model: bool,
}

impl Overlap {
    /// Why a run must not begin with these overlaps: the first that is not within one model, and
    /// how many more there are. `None` if there is none.
    pub fn refusal(all: &[Self]) -> Option<String> {
        let mut between = all.iter().filter(|o| !o.one_model);
        let first = between.next()?;
        let rest = match between.count() {
            0 => String::new(),
            1 => " (and 1 more pair)".into(),
            more => format!(" (and {more} more pairs)"),
        };
        Some(format!("{first} at the start{rest}"))
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" and \"{}\" overlap by {:.3e} m", self.names[0], self.names[1], self.depth)
    }
}

/// Overlap at the start above this part of the smaller geom's size is worth a word.
const OVERLAP_AT_START: f64 = 1e-6;

/// Why bodies all in one place are no scene.
const CROWDED: &str = "too many geoms are near each other: more pairs or contacts than can be looked at";

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
    pub(crate) afterwards: Assembler,
    pub(crate) threads: Threads,
    pub(crate) model: Box<dyn ContactModel>,
    /// The model's friction is nothing where there is no normal force.
    pub(crate) friction_needs_force: bool,
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

/// What a step that fails goes back to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Velocities that the step left; none if there was no step, or its state was replaced by a snapshot.
    pub v_after: Vec<f64>,
    /// What pushed on links from outside in it.
    pub wrenches: Vec<LinkWrench>,
    pub activation: Vec<f64>,
    t: f64,
    step: u64,
    pub saturated: Vec<i8>,
    /// Memories of all controllers, one after the other.
    controllers: Vec<f64>,
}

/// Storage that steps reuse.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// Inertia of the step, one block per tree: that of the bodies, and what acts implicitly on the diagonal.
    pub mass: Vec<Matrix>,
    /// That of the bodies alone, where something acts implicitly along more than single velocities.
    pub bodies: Vec<Matrix>,
    /// Forces of all motors, nv.
    pub motors: Vec<f64>,
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
    /// Contacts of the step before, until the step is known to succeed.
    pub keys_before: Vec<ContactKey>,
    /// Energy that the projections of the step added (J).
    pub projected: f64,
    /// Gaps of the contacts as the problem has them (m).
    pub gaps: Vec<f64>,
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
            return Err(SceneError::new("dt", format!("must be {}, found {}", range::RANGE, settings.dt)));
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
        let held = world.tendons.iter().find(|t| t.limits != UNBOUNDED || t.friction > 0.0);
        if let Some(tendon) = held.filter(|_| settings.simulator == SimulatorKind::EventDriven) {
            let why = format!("limits and dry friction of tendons (\"{}\") need time stepping", tendon.name);
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
                Some(catalog::build("coulomb-polyhedral", &options).map_err(|e| input("model", &e))?)
            }
        };
        // A projection that cannot be solved has a second form; more methods would only cost.
        let normals = NormalOptions { model: options, insist: false, ..NormalOptions::default() };
        let couples_velocities = world.couples_velocities();
        let ties = Ties::new(&world.model, &world.ties);
        let mut simulation = Self {
            ignored: vec![],
            assembler: Assembler::new(&world.model),
            afterwards: Assembler::new(&world.model),
            loops: LoopRows::new(&world.model),
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
            couples_velocities,
            work: Workspace::default(),
            sizes: (0..collision.geoms().len()).map(|g| collision.size(g)).collect(),
            collision,
            threads,
            friction_needs_force: needs_force(model.name()),
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
                self.friction_needs_force = needs_force(model.name());
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
        let (what, found) = (format!("memory of controller {i}"), memory.len());
        match self.controllers.get_mut(i) {
            Some(controller) if controller.takes_memory(found) => controller.set_memory(memory),
            Some(controller) => return Err(InputError::Size { what, expected: controller.memory().len(), found }),
            None => return Err(InputError::Size { what, expected: 0, found }),
        }
        Ok(())
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
        for link in world.model.links() {
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

    /// Takes over a keyframe of the world: configuration, velocities and activations. Its controls are for controllers.
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
        self.set_activation(&key.activation)
    }

    /// All that influences the next step.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// The same into an earlier snapshot, whose storage is used again.
    pub fn snapshot_into(&self, to: &mut Snapshot) {
        let State { q, v, activation, t, step } = &self.state;
        to.state.q.clone_from(q);
        to.state.v.clone_from(v);
        to.state.activation.clone_from(activation);
        (to.state.t, to.state.step) = (*t, *step);
        let Memory { keys, start, saturated } = &self.memory;
        to.memory.keys.clone_from(keys);
        to.memory.start.modes.clone_from(&start.modes);
        to.memory.start.bases.clone_from(&start.bases);
        to.memory.start.forces.copy_from(&start.forces);
        to.memory.saturated.clone_from(saturated);
        to.controllers.resize_with(self.controllers.len(), Vec::new);
        to.controllers.iter_mut().zip(&self.controllers).for_each(|(to, c)| {
            to.clear();
            to.extend_from_slice(c.memory());
        });
        to.physical.clone_from(&self.physical_changes);
    }

    /// Continues from a snapshot of a simulation with the same world, settings and controllers.
    ///
    /// # Errors
    /// If it does not fit this simulation.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), InputError> {
        let jointed = self.world.model.jointed_nq();
        let mut q = snapshot.state.q.clone();
        if q.len() == jointed {
            // Earlier versions did not move what is moved from outside.
            q.extend_from_slice(&self.world.q[jointed..]);
        }
        self.world.model.check_state(&q, &snapshot.state.v)?;
        let size = |what: &str, expected: usize, found: usize| {
            if expected == found { Ok(()) } else { Err(InputError::Size { what: what.into(), expected, found }) }
        };
        let (nv, nu) = (self.world.model.nv(), self.world.actuators.len());
        // Earlier versions knew of velocities only, and of no activations.
        if snapshot.memory.saturated.len() != nv {
            size("saturated motors", nv + nu, snapshot.memory.saturated.len())?;
        }
        if !snapshot.state.activation.is_empty() {
            size("activations", nu, snapshot.state.activation.len())?;
        }
        size("controllers", self.controllers.len(), snapshot.controllers.len())?;
        for (i, (controller, memory)) in self.controllers.iter().zip(&snapshot.controllers).enumerate() {
            if !controller.takes_memory(memory.len()) {
                size(&format!("memory of controller {i}"), controller.memory().len(), memory.len())?;
            }
        }
        self.set_physical_changes(&snapshot.physical)?;
        self.kinematics_at_state = false;
        self.sleep.wake();
        self.state.clone_from(&snapshot.state);
        self.state.q = q;
        self.state.activation.resize(nu, 0.0);
        self.memory.clone_from(&snapshot.memory);
        self.memory.saturated.resize(nv + nu, 0);
        // What can be seen of the last step belongs to another one.
        self.last = None;
        self.before.v_after.clear();
        self.scratch.applied.clear();
        self.assembler.frames.clear();
        for (controller, memory) in self.controllers.iter_mut().zip(&snapshot.controllers) {
            controller.set_memory(memory);
        }
        Ok(())
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

    /// Geoms that overlap now by more than 1e-6 of the smaller one's size, the deepest point of each pair; without those of [`Simulation::ignored_overlaps`].
    pub fn overlaps(&mut self) -> Vec<Overlap> {
        self.find_overlaps().iter().map(|o| self.named(o)).collect()
    }

    /// Links of one tree of joints that overlap at the start: drawn that way, and never meant to touch. They never do here, unless the
    /// world allows that overlap and no more.
    pub fn ignored_overlaps(&self) -> &[Overlap] {
        &self.ignored
    }

    fn find_overlaps(&mut self) -> Vec<collision::Overlap> {
        self.kinematics();
        self.collision.overlaps(&self.world.model, &self.work, OVERLAP_AT_START)
    }

    fn named(&self, overlap: &collision::Overlap) -> Overlap {
        let owner = |k: usize| self.world.geom_owner[overlap.geoms[k]];
        let names = overlap.geoms.map(|g| self.world.geom_name(g));
        Overlap { names, depth: overlap.depth, one_model: owner(0) == owner(1) }
    }

    /// Takes pairs of links that hang on each other and overlap at the start out of collision.
    fn ignore_own_overlaps(&mut self) -> Result<(), InputError> {
        let mut rules = self.world.rules.clone();
        let overlaps = self.find_overlaps();
        if self.collision.take_crowded() {
            return Err(InputError::Unsupported { solver: "collision", reason: CROWDED.into() });
        }
        let mut allowances = vec![];
        for overlap in overlaps {
            let tree = |k: usize| {
                let link = self.world.geoms[overlap.geoms[k]].link;
                link.map(|link| self.world.model.links()[link].tree)
            };
            if tree(0).is_some() && tree(0) == tree(1) {
                rules.excluded_geoms.push((overlap.geoms[0], overlap.geoms[1]));
                allowances.push((overlap.geoms, overlap.depth));
                self.ignored.push(self.named(&overlap));
            }
        }
        if self.world.allow_start_overlap {
            self.collision.allow_overlaps(allowances);
        } else if !self.ignored.is_empty() {
            self.collision = Collision::new(&self.world.model, self.world.geoms.clone(), rules)?;
            self.collision.set_threads(self.threads);
        }
        Ok(())
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

    /// Keeps what a step can change before it is known to succeed.
    fn keep(&mut self) {
        let Self { before, state, memory, controllers, .. } = self;
        before.q.clone_from(&state.q);
        before.v.clone_from(&state.v);
        before.activation.clone_from(&state.activation);
        (before.t, before.step) = (state.t, state.step);
        before.saturated.clone_from(&memory.saturated);
        before.controllers.clear();
        controllers.iter().for_each(|c| before.controllers.extend_from_slice(c.memory()));
    }

    /// Goes back to what was kept.
    fn go_back(&mut self) {
        self.kinematics_at_state = false;
        let Self { before, state, memory, controllers, .. } = self;
        state.q.clone_from(&before.q);
        state.v.clone_from(&before.v);
        state.activation.clone_from(&before.activation);
        (state.t, state.step) = (before.t, before.step);
        memory.saturated.clone_from(&before.saturated);
        let mut rest = before.controllers.as_slice();
        for controller in controllers {
            let (own, others) = rest.split_at(controller.memory().len());
            controller.set_memory(own);
            rest = others;
        }
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

/// True if a model's friction is nothing where there is no normal force.
fn needs_force(model: &str) -> bool {
    !matches!(model, "no-slip" | "viscous")
}

/// The model of velocities of a simulation, and for event-driven ones that of accelerations.
#[allow(clippy::type_complexity)]
fn models(
    settings: &Settings,
    options: &ModelOptions,
) -> Result<(Box<dyn ContactModel>, Option<Box<Events>>), SceneError> {
    let build = |name: &str, level| {
        let solver = settings.solver.as_deref().filter(|_| name == settings.model);
        catalog::build_with(name, Some(level), solver, options).map_err(|e| SceneError::input("model", &e))
    };
    match settings.simulator {
        SimulatorKind::TimeStepping => Ok((build(&settings.model, Level::Velocity)?, None)),
        SimulatorKind::EventDriven => {
            let smooth = build(&settings.model, Level::Acceleration)?;
            let impact = build(impact_model(&settings.model), Level::Velocity)?;
            Ok((impact, Some(Box::new(Events::new(smooth)))))
        }
    }
}

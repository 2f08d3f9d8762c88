//! How a simulation steps, and the models that its settings name.

use stiction_contact::{ContactModel, Level, ModelKind, ModelOptions, SolverKind, models::catalog};

use crate::error::SceneError;
use crate::event_driven::{Events, impact_model};
use crate::restitution::Impacts;

/// How a simulation steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The step (s).
    pub dt: f64,
    /// The contact model.
    pub model: ModelKind,
    /// The model's solver; none is its usual one.
    pub solver: Option<SolverKind>,
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

impl SimulatorKind {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeStepping => "time-stepping",
            Self::EventDriven => "event-driven",
        }
    }
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
            model: ModelKind::default(),
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

/// The model of velocities of a simulation, and for event-driven ones that of accelerations.
#[allow(clippy::type_complexity)]
pub(super) fn models(
    settings: &Settings,
    options: &ModelOptions,
) -> Result<(Box<dyn ContactModel>, Option<Box<Events>>), SceneError> {
    let build = |kind, level| {
        let solver = settings.solver.filter(|_| kind == settings.model);
        catalog::build_with(kind, Some(level), solver, options).map_err(|e| SceneError::input("model", &e))
    };
    match settings.simulator {
        SimulatorKind::TimeStepping => Ok((build(settings.model, Level::Velocity)?, None)),
        SimulatorKind::EventDriven => {
            let smooth = build(settings.model, Level::Acceleration)?;
            let impact = build(impact_model(settings.model), Level::Velocity)?;
            Ok((impact, Some(Box::new(Events::new(smooth)))))
        }
    }
}

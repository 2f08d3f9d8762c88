//! Where scenes come from: enough to make one again in another process.

use std::path::{Path, PathBuf};

use stiction_sim::mjcf::Start;
use stiction_sim::recording::{Origin, Overlay};
use stiction_sim::{Impacts, OnFailure, Scene, SceneError, Settings, SimulatorKind, Weld};

/// Where a scene came from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// TOML.
    Text {
        /// The text.
        text: String,
        /// Where files it names are looked for.
        directory: PathBuf,
        /// The file it was read from.
        file: Option<PathBuf>,
        /// Written by this package from Python values: places in the text mean nothing to a user.
        described: bool,
    },
    /// A robot file, alone, and the keyframe that it starts at.
    Robot(PathBuf, Start),
}

/// Settings put over those of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Overrides {
    /// The step (s).
    pub dt: Option<f64>,
    /// The contact model.
    pub model: Option<String>,
    /// The model's solver.
    pub solver: Option<String>,
    /// Gravity (m/s²).
    pub gravity: Option<[f64; 3]>,
    /// Coulomb coefficient of every surface.
    pub friction: Option<f64>,
    /// Tolerance of certificates.
    pub tolerance: Option<f64>,
    /// `stop`, `accept` or `fallback`.
    pub on_failure: Option<String>,
    /// The largest certificate that is accepted.
    pub accept_bound: Option<f64>,
    /// `time-stepping` or `event-driven`.
    pub simulator: Option<String>,
    /// Slower impacts do not bounce (m/s).
    pub restitution_speed: Option<f64>,
    /// `simultaneous` or `sequential`.
    pub impacts: Option<String>,
    /// How long (s).
    pub duration: Option<f64>,
    /// Threads that share the work of a step.
    pub threads: Option<usize>,
    /// Steps that would only repeat the last one are not computed.
    pub sleeping: Option<bool>,
    /// Links of one robot that overlap at the start touch where they overlap by more.
    pub allow_start_overlap: Option<bool>,
}

impl Overrides {
    /// All that a recorded run was set to.
    pub(crate) fn of(settings: &Settings, overlay: &Overlay) -> Self {
        let simulator = settings.simulator.name();
        Self {
            dt: Some(settings.dt),
            model: Some(settings.model.name().into()),
            solver: settings.solver.map(|solver| solver.name().into()),
            gravity: overlay.gravity,
            friction: overlay.friction,
            tolerance: Some(settings.tolerance),
            on_failure: Some(settings.on_failure.name().into()),
            accept_bound: Some(settings.accept_bound),
            simulator: Some(simulator.into()),
            restitution_speed: Some(settings.restitution_speed),
            impacts: Some(settings.impacts.name().into()),
            duration: None,
            threads: settings.threads,
            sleeping: Some(settings.sleeping),
            allow_start_overlap: overlay.allow_start_overlap,
        }
    }

    pub(crate) fn apply(&self, scene: &mut Scene) -> Result<(), SceneError> {
        let settings: &mut Settings = &mut scene.settings;
        if let Some(dt) = self.dt {
            settings.dt = dt;
        }
        if let Some(model) = &self.model {
            settings.model = model.parse().map_err(|e| SceneError::input("model", &e))?;
            settings.solver = None;
        }
        if let Some(solver) = &self.solver {
            settings.solver = Some(settings.model.solver(solver).map_err(|e| SceneError::input("solver", &e))?);
        }
        if let Some(tolerance) = self.tolerance {
            settings.tolerance = tolerance;
        }
        if let Some(speed) = self.restitution_speed {
            settings.restitution_speed = speed;
        }
        let unknown = |key: &str, a: &str, b: &str, x: &str| {
            Err(SceneError::new(key, format!("expected \"{a}\" or \"{b}\", found \"{x}\"")))
        };
        if let Some(what) = self.on_failure.as_deref() {
            settings.on_failure = OnFailure::from_name(what).map_err(|m| SceneError::new("on_failure", m))?;
        }
        if let Some(bound) = self.accept_bound {
            settings.accept_bound = bound;
        }
        match self.simulator.as_deref() {
            None => {}
            Some("time-stepping") => settings.simulator = SimulatorKind::TimeStepping,
            Some("event-driven") => settings.simulator = SimulatorKind::EventDriven,
            Some(x) => return unknown("simulator", "time-stepping", "event-driven", x),
        }
        if let Some(x) = self.impacts.as_deref() {
            match Impacts::from_name(x) {
                Some(impacts) => settings.impacts = impacts,
                None => return unknown("impacts", "simultaneous", "sequential", x),
            }
        }
        settings.threads = self.threads.or(settings.threads);
        settings.sleeping = self.sleeping.unwrap_or(settings.sleeping);
        match self.duration {
            Some(x) if !(x >= 0.0 && x.is_finite()) => {
                return Err(SceneError::new("duration", format!("must be at least 0 and finite, found {x}")));
            }
            Some(x) => scene.duration = x,
            None => {}
        }
        self.overlay(vec![]).apply(scene)?;
        // All that a simulation refuses, here rather than later.
        stiction_sim::Simulation::new(scene.world.clone(), scene.settings.clone()).map(drop)
    }

    /// What of it is about the world, with bodies that hold together.
    fn overlay(&self, welds: Vec<Weld>) -> Overlay {
        let Self { gravity, friction, allow_start_overlap, .. } = *self;
        Overlay { gravity, friction, allow_start_overlap, welds }
    }

    /// These with `newer` over them.
    pub(crate) fn with(&self, newer: Self) -> Self {
        let old = self.clone();
        Self {
            dt: newer.dt.or(old.dt),
            // A solver belongs to its model.
            solver: if newer.model.is_some() { newer.solver } else { newer.solver.or(old.solver) },
            model: newer.model.or(old.model),
            gravity: newer.gravity.or(old.gravity),
            friction: newer.friction.or(old.friction),
            tolerance: newer.tolerance.or(old.tolerance),
            on_failure: newer.on_failure.or(old.on_failure),
            accept_bound: newer.accept_bound.or(old.accept_bound),
            simulator: newer.simulator.or(old.simulator),
            restitution_speed: newer.restitution_speed.or(old.restitution_speed),
            impacts: newer.impacts.or(old.impacts),
            duration: newer.duration.or(old.duration),
            threads: newer.threads.or(old.threads),
            sleeping: newer.sleeping.or(old.sleeping),
            allow_start_overlap: newer.allow_start_overlap.or(old.allow_start_overlap),
        }
    }
}

/// Values for numbers of a scene's `[parameters]`.
pub(crate) type Set = Vec<(String, f64)>;

/// All that a scene is made from.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    /// The text or file.
    pub source: Source,
    /// Values for its parameters.
    pub set: Set,
    /// Settings put over its own.
    pub overrides: Overrides,
    /// Bodies that hold together.
    pub welds: Vec<Weld>,
}

/// Text, directory, file, whether it was written by this package; parameters; [`Overrides`]; the keyframe's name or number, or −1 for none;
/// bodies that hold together.
pub(crate) type Stored = (
    (Option<String>, PathBuf, Option<PathBuf>, bool),
    Set,
    StoredOverrides,
    (Option<String>, Option<i64>),
    Vec<StoredWeld>,
);

/// Two bodies and the frames on them.
pub(crate) type StoredWeld = (String, Option<String>, [f64; 7], [f64; 7]);

type StoredOverrides = (
    Option<f64>,
    Option<String>,
    Option<f64>,
    Option<String>,
    Option<String>,
    Option<f64>,
    Option<String>,
    Option<f64>,
    Option<f64>,
    (Option<usize>, Option<bool>),
    (Option<String>, Option<[f64; 3]>, Option<f64>, Option<bool>),
);

impl Recipe {
    /// Of a source as it is.
    pub(crate) fn new(source: Source, set: Set) -> Self {
        Self { source, set, overrides: Overrides::default(), welds: vec![] }
    }

    /// The file it was read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::Text { file, .. } => file.as_deref(),
            Source::Robot(file, _) => Some(file),
        }
    }

    /// The scene.
    pub(crate) fn make(&self) -> Result<Scene, SceneError> {
        let mut scene = match &self.source {
            Source::Text { text, directory, file, described } => {
                Scene::parse(text, directory, &self.set).map_err(|e| match file {
                    Some(file) => e.in_file(file),
                    None if *described => SceneError { at: None, ..e },
                    None => e,
                })?
            }
            Source::Robot(file, start) => robot(file, start, &self.set).map_err(|e| e.in_file(file))?,
        };
        self.welds.iter().try_for_each(|weld| weld.apply(&mut scene))?;
        self.overrides.apply(&mut scene)?;
        Ok(scene)
    }

    /// What a recording says of where the scene came from.
    pub(crate) fn origin(&self) -> Result<Origin, SceneError> {
        let overlay = self.overrides.overlay(self.welds.clone());
        match &self.source {
            Source::Text { text, directory, file, .. } => {
                let words = |path: &Path| path.to_string_lossy().into_owned();
                let file = file.as_deref().map(words).unwrap_or_default();
                let (directory, text, parameters) = (words(directory), text.clone(), self.set.clone());
                Ok(Origin { file, directory, text, parameters, overlay })
            }
            Source::Robot(file, start) => Ok(Origin { overlay, ..Origin::of_robot(file, start, false)? }),
        }
    }

    /// What it is pickled as.
    pub(crate) fn stored(&self) -> Stored {
        let source = match &self.source {
            Source::Text { text, directory, file, described } => {
                (Some(text.clone()), directory.clone(), file.clone(), *described)
            }
            Source::Robot(file, _) => {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                (None, PathBuf::new(), Some(file), false)
            }
        };
        let o = self.overrides.clone();
        let (speed, bound) = (o.restitution_speed, o.accept_bound);
        let speed_only = (o.threads, o.sleeping);
        let world = (o.solver, o.gravity, o.friction, o.allow_start_overlap);
        let overrides = (
            o.dt,
            o.model,
            o.tolerance,
            o.on_failure,
            o.simulator,
            speed,
            o.impacts,
            o.duration,
            bound,
            speed_only,
            world,
        );
        let start = match &self.source {
            Source::Robot(_, Start::Keyframe(name)) => (Some(name.clone()), None),
            Source::Robot(_, Start::Number(number)) => (None, Some(*number as i64)),
            Source::Robot(_, Start::Reference) => (None, Some(-1)),
            _ => (None, None),
        };
        let weld = |w: &Weld| (w.a.clone(), w.b.clone(), w.frame_a, w.frame_b);
        (source, self.set.clone(), overrides, start, self.welds.iter().map(weld).collect())
    }

    /// From its pickle.
    pub(crate) fn restored((source, set, overrides, start, welds): Stored) -> Self {
        let source = match source {
            (Some(text), directory, file, described) => Source::Text { text, directory, file, described },
            (None, _, file, _) => {
                let start = match start {
                    (Some(name), _) => Start::Keyframe(name),
                    (None, Some(number)) => usize::try_from(number).map_or(Start::Reference, Start::Number),
                    (None, None) => Start::default(),
                };
                Source::Robot(file.unwrap_or_default(), start)
            }
        };
        let (
            dt,
            model,
            tolerance,
            on_failure,
            simulator,
            restitution_speed,
            impacts,
            duration,
            accept_bound,
            speed_only,
            (solver, gravity, friction, allow_start_overlap),
        ) = overrides;
        let overrides = Overrides {
            dt,
            model,
            solver,
            gravity,
            friction,
            tolerance,
            on_failure,
            accept_bound,
            simulator,
            restitution_speed,
            impacts,
            duration,
            threads: speed_only.0,
            sleeping: speed_only.1,
            allow_start_overlap,
        };
        let welds = welds.into_iter().map(|(a, b, frame_a, frame_b)| Weld { a, b, frame_a, frame_b }).collect();
        Self { source, set, overrides, welds }
    }
}

/// A scene of one robot file, with its own gravity and step.
fn robot(file: &Path, start: &Start, set: &[(String, f64)]) -> Result<Scene, SceneError> {
    if let Some((name, _)) = set.first() {
        return Err(SceneError::new("parameters", format!("a robot file has none; found \"{name}\"")));
    }
    Scene::of_robot(file, start)
}

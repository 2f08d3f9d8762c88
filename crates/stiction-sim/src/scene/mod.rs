//! Scenes: a TOML file (or text) that says what there is, how it is simulated and for how long. The format is in `docs/scenes.md`.

mod bodies;
mod controllers;
mod section;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stiction_body::math::Vec3;
use stiction_body::range;
use stiction_lcp::threads::MOST_THREADS;
use stiction_linalg::Number;
use toml::de::DeTable;

use crate::description::{Note, NoteKind};
use crate::error::SceneError;
use crate::load_description_at;
use crate::mjcf::Start;
use crate::restitution::Impacts;
use crate::simulation::{Integrator, OnFailure, Overlap, Settings, Simulation, SimulatorKind};
use crate::world::{Placement, World, WorldBuilder};
use bodies::Names;
pub use controllers::SceneController;
use section::{Scope, Section, Source};

/// A scene, ready to be simulated.
#[derive(Debug, Clone)]
pub struct Scene {
    /// What it shows, in a line.
    pub title: String,
    /// Its numbers that can be set from outside, with their values.
    pub parameters: Vec<(String, f64)>,
    /// Bodies, geoms, surfaces, motors.
    pub world: Arc<World>,
    /// What moves them.
    pub controllers: Vec<SceneController>,
    /// How it is simulated.
    pub settings: Settings,
    /// For how long (s).
    pub duration: f64,
    /// Files it names: meshes and robots.
    pub files: Vec<PathBuf>,
}

impl Scene {
    /// Reads a scene file; `set` gives parameters other values.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the file.
    pub fn load(file: &Path, set: &[(String, f64)]) -> Result<Self, SceneError> {
        let text = crate::files::read_text(file).map_err(|e| SceneError::new("", e.to_string()).in_file(file))?;
        let directory = file.parent().unwrap_or_else(|| Path::new(""));
        read(&Source::new(Some(file), directory, &text), set).map_err(|e| e.in_file(file))
    }

    /// Reads a scene from text; files it names are looked for in `directory`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the text.
    pub fn parse(text: &str, directory: &Path, set: &[(String, f64)]) -> Result<Self, SceneError> {
        read(&Source::new(None, directory, text), set)
    }

    /// A robot file (URDF or MJCF) as a scene of its own, with its own gravity and step, from a start that it has.
    ///
    /// # Errors
    /// If it cannot be read, naming the place; if there is no such keyframe.
    pub fn of_robot(file: &Path, start: &Start) -> Result<Self, SceneError> {
        let description = load_description_at(file, start)?;
        let mut builder = WorldBuilder::new();
        if let Some(gravity) = description.gravity {
            builder.gravity(gravity);
        }
        builder.add(&description, &Placement::default())?;
        let mut settings = Settings::default();
        if let Some(dt) = description.dt {
            settings.dt = dt;
        }
        Ok(Self {
            title: description.name.clone(),
            parameters: vec![],
            world: Arc::new(builder.build()?.0),
            controllers: vec![],
            settings,
            duration: 1.0,
            files: vec![file.to_path_buf()],
        })
    }

    /// A simulation of the scene from its start.
    ///
    /// # Errors
    /// If a setting or a geom cannot be used as it is.
    pub fn simulation(&self) -> Result<Simulation, SceneError> {
        let mut simulation = Simulation::new(self.world.clone(), self.settings.clone())?;
        for controller in &self.controllers {
            simulation.control(controller.build());
        }
        Ok(simulation)
    }

    /// What becomes of links of one robot that overlap at the start, pair by pair.
    ///
    /// # Errors
    /// If a setting or a geom cannot be used as it is.
    pub fn overlap_notes(&self) -> Result<Vec<Note>, SceneError> {
        let simulation = Simulation::new(self.world.clone(), self.settings.clone())?;
        let text = match self.world.allow_start_overlap {
            true => "overlap at the start, within one robot: they touch where they overlap by more",
            false => "overlap at the start, within one robot: they never touch, unless allow_start_overlap = true",
        };
        let note = |o: &Overlap| Note {
            kind: NoteKind::Changed,
            element: format!("\"{}\" and \"{}\"", o.names[0], o.names[1]),
            text: format!("{text} ({:.3e} m)", o.depth),
        };
        Ok(simulation.ignored_overlaps().iter().map(note).collect())
    }

    /// What surfaces say that the contact model has no place for.
    pub fn unused_notes(&self) -> Vec<Note> {
        let model = self.settings.model;
        let unused = !model.has_coulomb_friction() && self.world.surfaces.have_static_friction();
        let note = Note {
            kind: NoteKind::Warning,
            element: "static_friction".into(),
            text: format!("has no effect under the model {model}, which has no Coulomb friction"),
        };
        unused.then_some(note).into_iter().collect()
    }

    /// Steps in its duration.
    pub fn steps(&self) -> u64 {
        (self.duration / self.settings.dt).round().max(0.0) as u64
    }
}

/// Most bytes of a scene's text, and most of those among them that begin a key, a value or a line: the parser takes
/// some 450 bytes of memory for each of the latter, and a scene is read within 1 GB.
const MOST_BYTES: usize = 1 << 24;
const MOST_MARKS: usize = 1 << 21;

/// Refuses a text that the parser would need too much memory for.
fn check_size(source: &Source<'_>) -> Result<(), SceneError> {
    let is_mark = |byte: &u8| matches!(byte, b',' | b'=' | b'.' | b'[' | b'{' | b'\n');
    let refuse = |message: String| Err(source.error("", 0..0, message));
    if source.text.len() > MOST_BYTES {
        return refuse(format!("the text is larger than {} MiB, the most that is read", MOST_BYTES >> 20));
    }
    if source.text.bytes().filter(|byte| is_mark(byte)).count() > MOST_MARKS {
        return refuse(format!("the text has more than {MOST_MARKS} keys, values and lines, the most that are read"));
    }
    Ok(())
}

fn read(source: &Source<'_>, set: &[(String, f64)]) -> Result<Scene, SceneError> {
    check_size(source)?;
    let parsed = DeTable::parse(source.text).map_err(|e| {
        let message = e.message().replace('\n', " ");
        source.error("", e.span().unwrap_or(0..0), message)
    })?;
    let mut top = Section::new(source, parsed.get_ref(), String::new(), 0..0, Scope::new());
    top.scope = parameters(&top, set)?;
    let title = top.string("title")?.unwrap_or_default();
    let settings = settings(&top)?;
    let duration = top.number("duration")?.unwrap_or(1.0);
    if !(duration >= 0.0 && duration.is_finite()) {
        return Err(top.error("duration", format!("must be at least 0 and finite, found {duration}")));
    }
    let mut builder = WorldBuilder::new();
    if let Some([x, y, z]) = top.numbers("gravity")? {
        let gravity = Vec3::new(x, y, z);
        for x in [x, y, z] {
            range::check_coordinate("gravity", x).map_err(|e| top.place("gravity", &e))?;
        }
        builder.gravity(gravity);
    }
    if let Some(allow) = top.bool("allow_start_overlap")? {
        builder.allow_start_overlap(allow);
    }
    if let Some(rule) = top.string("friction_rule")? {
        builder.material_rule(bodies::rule(&top, &rule)?);
    }
    builder.keep_duplicates(top.bool("keep_duplicates")?.unwrap_or(false));
    let mut names = Names::default();
    bodies::read(&top, &mut builder, &mut names)?;
    let controllers = top.sections("controllers")?;
    top.finish()?;
    let (world, number) = builder.build().map_err(|e| top.place("bodies", &e))?;
    if world.model.links().is_empty() && world.geoms.is_empty() {
        return Err(top.error("bodies", "there is nothing in this scene: it needs [[bodies]] or [[robots]]"));
    }
    names.renumber(&number);
    let controllers = controllers::read(&controllers, &world, &names)?;
    let parameters = top.scope.iter().map(|(k, x)| (k.clone(), *x)).collect();
    let files = source.files.borrow().clone();
    Ok(Scene { title, parameters, world: Arc::new(world), controllers, settings, duration, files })
}

/// The parameters of the file, with those set from outside put in; a formula may use the others, whatever their order.
fn parameters(top: &Section<'_>, set: &[(String, f64)]) -> Result<Scope, SceneError> {
    let Some(mut table) = top.section("parameters")? else { return check_known(Scope::new(), set) };
    let (mut left, all) = (Vec::new(), table.entries().collect::<Vec<_>>());
    for (name, value) in all {
        match set.iter().rev().find(|(n, _)| n == name) {
            Some((_, x)) => drop(table.scope.insert(name.into(), *x)),
            None => left.push((name, value)),
        }
    }
    while !left.is_empty() {
        let mut waiting = Vec::new();
        let mut first_error = None;
        for &(name, value) in &left {
            match table.as_number(name, value) {
                Ok(x) => drop(table.scope.insert(name.into(), x)),
                Err(e) => {
                    first_error.get_or_insert(e);
                    waiting.push((name, value));
                }
            }
        }
        match first_error {
            Some(e) if waiting.len() == left.len() => return Err(e),
            _ => left = waiting,
        }
    }
    check_known(table.scope, set)
}

/// The parameters, if all that are set from outside are among them.
fn check_known(scope: Scope, set: &[(String, f64)]) -> Result<Scope, SceneError> {
    for (name, _) in set {
        if !scope.contains_key(name) {
            let known: Vec<&str> = scope.keys().map(String::as_str).collect();
            let list = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
            return Err(SceneError::new("parameters", format!("the scene has no parameter \"{name}\"; {list}")));
        }
    }
    Ok(scope)
}

fn settings(top: &Section<'_>) -> Result<Settings, SceneError> {
    let mut settings = Settings::default();
    if let Some(dt) = top.number("dt")? {
        if !range::is_in_range(dt) {
            return Err(top.error("dt", format!("must be {}, found {}", range::RANGE, Number(dt))));
        }
        settings.dt = dt;
    }
    if let Some(model) = top.string("model")? {
        settings.model = model.parse().map_err(|e| top.place("model", &e))?;
    }
    if let Some(solver) = top.string("solver")? {
        settings.solver = Some(settings.model.solver(&solver).map_err(|e| top.place("solver", &e))?);
    }
    if let Some(tolerance) = top.number("tolerance")? {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(top.error("tolerance", format!("must be above 0 and below 1, found {tolerance}")));
        }
        settings.tolerance = tolerance;
    }
    if let Some(speed) = top.number("restitution_speed")? {
        if speed.is_nan() || speed < 0.0 {
            return Err(top.error("restitution_speed", format!("must be at least 0, found {speed}")));
        }
        settings.restitution_speed = speed;
    }
    if let Some(what) = top.string("impacts")? {
        settings.impacts = Impacts::from_name(&what).ok_or_else(|| {
            top.error("impacts", format!("expected \"simultaneous\" or \"sequential\", found \"{what}\""))
        })?;
    }
    if let Some(what) = top.string("on_failure")? {
        settings.on_failure = OnFailure::from_name(&what).map_err(|m| top.error("on_failure", m))?;
    }
    if let Some(bound) = top.number("accept_bound")? {
        if bound.is_nan() || bound < 0.0 {
            return Err(top.error("accept_bound", format!("must be at least 0, found {bound}")));
        }
        settings.accept_bound = bound;
    }
    if let Some(what) = top.string("simulator")? {
        settings.simulator = match what.as_str() {
            "time-stepping" => SimulatorKind::TimeStepping,
            "event-driven" => SimulatorKind::EventDriven,
            _ => {
                let message = format!("expected \"time-stepping\" or \"event-driven\", found \"{what}\"");
                return Err(top.error("simulator", message));
            }
        };
    }
    if let Some(what) = top.string("integrator")? {
        settings.integrator = match what.as_str() {
            "rk4" => Integrator::Rk4,
            "symplectic-euler" => Integrator::SymplecticEuler,
            _ => {
                let message = format!("expected \"rk4\" or \"symplectic-euler\", found \"{what}\"");
                return Err(top.error("integrator", message));
            }
        };
    }
    if let Some(count) = top.number("threads")? {
        if count.fract() != 0.0 || !(1.0..=MOST_THREADS as f64).contains(&count) {
            return Err(top.error("threads", format!("must be a whole number from 1 to {MOST_THREADS}, found {count}")));
        }
        settings.threads = Some(count as usize);
    }
    settings.sleeping = top.bool("sleeping")?.unwrap_or(settings.sleeping);
    settings.controllers_per_stage = top.bool("controllers_per_stage")?.unwrap_or(false);
    Ok(settings)
}

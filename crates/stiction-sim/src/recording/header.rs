//! What a recording says of its run before the first step: the scene, how it was simulated, and what the numbers of its steps mean.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stiction_contact::InputError;
use stiction_contact::ModelKind;
use stiction_contact::SolverKind;

use stiction_body::JointKind;

use super::bytes::{Broken, Reader, Writer, checksum};
use super::{WITH_ACCEPTANCE, WITH_CHANGES, WITH_RESTITUTION};
use crate::carry::Weld;
use crate::error::SceneError;
use crate::inputs::Layout;
use crate::load_description_at;
use crate::mjcf::Start;
use crate::restitution::Impacts;
use crate::scene::Scene;
use crate::simulation::{Integrator, OnFailure, Settings, Simulation, SimulatorKind};
use crate::world::World;

/// Where a scene came from: enough to build it again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origin {
    /// The scene's file, for messages.
    pub file: String,
    /// The directory in which the files it names are looked for.
    pub directory: String,
    /// Its text.
    pub text: String,
    /// Parameters that were given other values.
    pub parameters: Vec<(String, f64)>,
    /// What was put over what the text says.
    pub overlay: Overlay,
}

/// What a program puts over the world of a scene.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlay {
    /// Gravity (m/s²).
    pub gravity: Option<[f64; 3]>,
    /// Coulomb coefficient of every surface.
    pub friction: Option<f64>,
    /// Links of one robot that overlap at the start touch where they overlap by more.
    pub allow_start_overlap: Option<bool>,
    /// Bodies that hold together.
    pub welds: Vec<Weld>,
}

impl Overlay {
    /// Puts it over a scene.
    ///
    /// # Errors
    /// If a number cannot be used, or a body is not there.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), SceneError> {
        self.welds.iter().try_for_each(|weld| weld.apply(scene))?;
        if let Some(gravity) = self.gravity {
            let set = Arc::make_mut(&mut scene.world).model.set_gravity(gravity.into());
            set.map_err(|e| SceneError::input("gravity", &e))?;
        }
        if let Some(mu) = self.friction {
            let set = Arc::make_mut(&mut scene.world).surfaces.set_friction(mu);
            set.map_err(|e| SceneError::input("friction", &e))?;
        }
        if let Some(allow) = self.allow_start_overlap {
            Arc::make_mut(&mut scene.world).allow_start_overlap = allow;
        }
        Ok(())
    }

    fn put(&self, out: &mut Writer) {
        let Self { gravity, friction, allow_start_overlap, welds } = self;
        out.list(gravity.as_slice(), |out, g| out.array(g));
        out.list(friction.as_slice(), |out, mu| out.f64(*mu));
        out.list(allow_start_overlap.as_slice(), |out, allow| out.bool(*allow));
        out.list(welds, |out, Weld { a, b, frame_a, frame_b }| {
            out.text(a);
            out.list(b.as_slice(), |out, name| out.text(name));
            out.array(frame_a);
            out.array(frame_b);
        });
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, Broken> {
        Ok(Self {
            gravity: from.list(24, Reader::array)?.pop(),
            friction: from.list(8, Reader::f64)?.pop(),
            allow_start_overlap: from.list(1, Reader::bool)?.pop(),
            welds: from.list(8 + 8 + 14 * 8, |from| {
                let (a, b) = (from.text()?, from.list(8, Reader::text)?.pop());
                Ok(Weld { a, b, frame_a: from.array()?, frame_b: from.array()? })
            })?,
        })
    }
}

impl Origin {
    /// The scene in a file, with parameters that were given other values.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(file: &Path, parameters: &[(String, f64)]) -> Result<Self, SceneError> {
        let text = crate::files::read_text(file).map_err(|e| SceneError::new("", e.to_string()).in_file(file))?;
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        let directory = whole.parent().map(|d| d.to_string_lossy().into_owned()).unwrap_or_default();
        let parameters = parameters.to_vec();
        Ok(Self { file: file.to_string_lossy().into_owned(), directory, text, parameters, overlay: Overlay::default() })
    }

    /// A scene of one robot file (URDF or MJCF), with its own gravity, step and names, from a start that it has; on a floor, the plane z = 0, if
    /// that is asked for.
    ///
    /// # Errors
    /// If the file cannot be read, naming the place; if there is no such keyframe.
    pub fn of_robot(file: &Path, start: &Start, floor: bool) -> Result<Self, SceneError> {
        let description = load_description_at(file, start)?;
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!("title = {}\n", quoted(&description.name));
        if let Some(g) = description.gravity {
            text += &format!("gravity = [{:?}, {:?}, {:?}]\n", g.x, g.y, g.z);
        }
        if let Some(dt) = description.dt {
            text += &format!("dt = {dt:?}\n");
        }
        text += &format!("[[robots]]\nname = \"\"\nfile = {}\n", quoted(&whole.to_string_lossy()));
        match start {
            Start::Home => {}
            Start::Reference => text += "keyframe = -1\n",
            Start::Keyframe(name) => text += &format!("keyframe = {}\n", quoted(name)),
            Start::Number(number) => text += &format!("keyframe = {number}\n"),
        }
        if floor {
            text += "[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { plane = true }\n";
        }
        let directory = whole.parent().map(|d| d.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { file: file.to_string_lossy().into_owned(), directory, text, ..Self::default() })
    }

    /// The scene.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn scene(&self) -> Result<Scene, SceneError> {
        let mut scene = Scene::parse(&self.text, Path::new(&self.directory), &self.parameters)
            .map_err(|e| if self.file.is_empty() { e } else { e.in_file(&self.file) })?;
        self.overlay.apply(&mut scene)?;
        Ok(scene)
    }
}

/// A file that the scene names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Where it was.
    pub path: String,
    /// FNV-1a over its bytes; `None` if it could not be read.
    pub hash: Option<u64>,
}

impl NamedFile {
    /// The file at `path` as it is now.
    pub fn of(path: &Path) -> Self {
        let hash = crate::files::read(path).ok().map(|bytes| checksum(&bytes));
        Self { path: path.to_string_lossy().into_owned(), hash }
    }
}

/// A geom's name and the link it is fixed to; `None` for the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeomName {
    /// Its name; may be empty.
    pub name: String,
    /// Its link.
    pub link: Option<u32>,
}

/// What a recording says before the first step.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The version of Stiction that recorded.
    pub version: String,
    /// The scene.
    pub origin: Origin,
    /// How it was simulated.
    pub settings: Settings,
    /// Every so many steps are recorded.
    pub every: u64,
    /// It begins at the scene's own start. If not, a replay begins at the first snapshot.
    pub from_start: bool,
    /// A program speaks to it through inputs ([`Layout`]), and may change it between steps.
    pub inputs: bool,
    /// Files that the scene names.
    pub files: Vec<NamedFile>,
    /// A number that changes with the bodies, geoms and surfaces that were simulated: with the files that robot files name, too.
    pub world: u64,
    /// Names of the links.
    pub links: Vec<String>,
    /// Names of the geoms.
    pub geoms: Vec<GeomName>,
    /// Names of the configuration's numbers, nq.
    pub q: Vec<String>,
    /// Names of the velocities, nv.
    pub v: Vec<String>,
}

impl Header {
    /// The header for a run of a scene with its settings, recording every so many steps.
    pub fn new(origin: Origin, scene: &Scene, every: u64) -> Self {
        let world = &scene.world;
        let links = world.model.links();
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            origin,
            settings: Settings { timing: false, ..scene.settings.clone() },
            every: every.max(1),
            from_start: true,
            inputs: false,
            files: scene.files.iter().map(|path: &PathBuf| NamedFile::of(path)).collect(),
            world: fingerprint(world),
            links: links.iter().map(|l| l.spec.name.clone()).collect(),
            geoms: world
                .geoms
                .iter()
                .map(|g| GeomName { name: g.name.clone(), link: g.link.map(|l| l as u32) })
                .collect(),
            q: q_names(world),
            v: v_names(world),
        }
    }

    /// The scene as it was simulated, and what is no longer as it was, in words.
    ///
    /// # Errors
    /// If the scene cannot be built any more.
    pub fn scene(&self) -> Result<(Scene, Vec<String>), SceneError> {
        let mut scene = self.origin.scene()?;
        scene.settings = self.settings.clone();
        let mut notes: Vec<String> = self
            .files
            .iter()
            .filter(|f| NamedFile::of(Path::new(&f.path)).hash != f.hash)
            .map(|f| format!("{} has changed since it was recorded", f.path))
            .collect();
        if notes.is_empty() && fingerprint(&scene.world) != self.world {
            notes.push("the scene gives other bodies than when it was recorded".into());
        }
        if self.version != env!("CARGO_PKG_VERSION") {
            notes.push(format!("recorded by version {}", self.version));
        }
        Ok((scene, notes))
    }

    /// A simulation of the scene, as [`Header::scene`] gives it, with the controllers it was recorded with.
    ///
    /// # Errors
    /// As [`Scene::simulation`].
    pub fn simulation(&self, scene: &Scene) -> Result<Simulation, SceneError> {
        if self.inputs { Layout::new(scene).simulation(scene) } else { scene.simulation() }
    }

    /// The link of a geom; `None` for the world.
    pub fn link(&self, geom: u32) -> Option<u32> {
        self.geoms.get(geom as usize).and_then(|g| g.link)
    }

    /// The name of a geom's body; `world` where it has none.
    pub fn body(&self, geom: u32) -> &str {
        self.link(geom).and_then(|l| self.links.get(l as usize)).map_or("world", String::as_str)
    }

    /// The name of a geom; its number where it has none.
    pub fn geom(&self, geom: u32) -> String {
        let name = self.geoms.get(geom as usize).map(|g| g.name.as_str()).filter(|name| !name.is_empty());
        name.map_or_else(|| geom.to_string(), str::to_string)
    }

    pub(super) fn put(&self, out: &mut Writer) {
        let Self { version, origin, settings, every, from_start, inputs, files, world, links, geoms, q, v } = self;
        out.text(version);
        let Origin { file, directory, text, parameters, overlay } = origin;
        [file, directory, text].into_iter().for_each(|x| out.text(x));
        out.list(parameters, |out, (name, x)| {
            out.text(name);
            out.f64(*x);
        });
        put_settings(out, settings);
        out.u64(*every);
        out.bool(*from_start);
        out.list(files, |out, file| {
            out.text(&file.path);
            out.bool(file.hash.is_some());
            out.u64(file.hash.unwrap_or(0));
        });
        out.u64(*world);
        out.list(links, |out, name| out.text(name));
        out.list(geoms, |out, geom| {
            out.text(&geom.name);
            out.bool(geom.link.is_some());
            out.u32(geom.link.unwrap_or(0));
        });
        [q, v].into_iter().for_each(|names| out.list(names, |out, name| out.text(name)));
        out.bool(*inputs);
        overlay.put(out);
    }

    /// Reads the header of a recording of this version of the format.
    pub(super) fn get(from: &mut Reader<'_>, format: u32) -> Result<Self, Broken> {
        let version = from.text()?;
        let mut origin = Origin {
            file: from.text()?,
            directory: from.text()?,
            text: from.text()?,
            parameters: from.list(16, |from| Ok((from.text()?, from.f64()?)))?,
            overlay: Overlay::default(),
        };
        let settings = get_settings(from, format)?;
        let every = from.u64()?.max(1);
        let from_start = from.bool()?;
        let files = from.list(17, |from| {
            let (path, known, hash) = (from.text()?, from.bool()?, from.u64()?);
            Ok(NamedFile { path, hash: known.then_some(hash) })
        })?;
        let world = from.u64()?;
        let links = from.list(8, Reader::text)?;
        let geoms = from.list(13, |from| {
            let (name, fixed, link) = (from.text()?, from.bool()?, from.u32()?);
            Ok(GeomName { name, link: fixed.then_some(link) })
        })?;
        let (q, v) = (from.list(8, Reader::text)?, from.list(8, Reader::text)?);
        let mut inputs = false;
        if format >= WITH_CHANGES {
            inputs = from.bool()?;
            origin.overlay = Overlay::get(from)?;
        }
        from.end()?;
        Ok(Self { version, origin, settings, every, from_start, inputs, files, world, links, geoms, q, v })
    }
}

/// Names of the configuration's numbers, nq: `link.number`, or the link's alone where it has one.
pub fn q_names(world: &World) -> Vec<String> {
    names(world, configuration)
}

/// Names of the velocities, nv.
pub fn v_names(world: &World) -> Vec<String> {
    names(world, velocity)
}

/// The names of all links' numbers, `link.number`.
fn names(world: &World, of: fn(&JointKind) -> &'static [&'static str]) -> Vec<String> {
    let mut all = Vec::new();
    // As in q: poses that are set from outside come last.
    let (mocap, joints): (Vec<_>, Vec<_>) = world.model.links().iter().partition(|l| l.spec.kind == JointKind::Mocap);
    for link in joints.into_iter().chain(mocap) {
        let name = &link.spec.name;
        let numbers = of(&link.spec.kind).iter();
        all.extend(numbers.map(|c| if c.is_empty() { name.clone() } else { format!("{name}.{c}") }));
    }
    all
}

fn put_settings(out: &mut Writer, settings: &Settings) {
    let Settings {
        dt,
        simulator,
        integrator,
        controllers_per_stage,
        model,
        solver,
        tolerance,
        on_failure,
        accept_bound,
        restitution_speed,
        impacts,
        // None of these changes what a step comes to.
        threads: _,
        sleeping: _,
        timing: _,
    } = settings;
    out.f64(*dt);
    out.u8(u8::from(*simulator == SimulatorKind::EventDriven));
    out.u8(u8::from(*integrator == Integrator::SymplecticEuler));
    out.u8(u8::from(*controllers_per_stage));
    out.text(model.name());
    out.text(solver.map_or("", SolverKind::name));
    out.f64(*tolerance);
    out.u8(match on_failure {
        OnFailure::Stop => 0,
        OnFailure::Fallback => 1,
        OnFailure::Accept => 2,
    });
    out.f64(*restitution_speed);
    out.bool(*impacts == Impacts::Sequential);
    out.f64(*accept_bound);
}

fn get_settings(from: &mut Reader<'_>, format: u32) -> Result<Settings, Broken> {
    let unknown = |e: InputError| Broken(e.to_string());
    let dt = from.f64()?;
    let simulator = if from.bool()? { SimulatorKind::EventDriven } else { SimulatorKind::TimeStepping };
    let integrator = if from.bool()? { Integrator::SymplecticEuler } else { Integrator::Rk4 };
    let controllers_per_stage = from.bool()?;
    let model: ModelKind = from.text()?.parse().map_err(unknown)?;
    let solver = Some(from.text()?).filter(|name| !name.is_empty());
    let mut settings = Settings {
        dt,
        simulator,
        integrator,
        controllers_per_stage,
        model,
        solver: solver.map(|name| model.solver(&name)).transpose().map_err(unknown)?,
        tolerance: from.f64()?,
        on_failure: get_on_failure(from)?,
        accept_bound: Settings::default().accept_bound,
        restitution_speed: from.f64()?,
        impacts: if format >= WITH_RESTITUTION && from.bool()? { Impacts::Sequential } else { Impacts::Simultaneous },
        threads: None,
        sleeping: true,
        timing: false,
    };
    if format >= WITH_ACCEPTANCE {
        settings.accept_bound = from.f64()?;
    }
    Ok(settings)
}

fn get_on_failure(from: &mut Reader<'_>) -> Result<OnFailure, Broken> {
    match from.u8()? {
        0 => Ok(OnFailure::Stop),
        1 => Ok(OnFailure::Fallback),
        2 => Ok(OnFailure::Accept),
        x => Err(Broken(format!("there is no way {x} to deal with failures"))),
    }
}

/// What the numbers of a joint's configuration are; one alone needs no name.
fn configuration(kind: &JointKind) -> &'static [&'static str] {
    match kind {
        JointKind::Fixed => &[],
        JointKind::Revolute { .. } | JointKind::Continuous { .. } | JointKind::Prismatic { .. } => &[""],
        JointKind::Planar { .. } => &["x", "y", "angle"],
        JointKind::Spherical => &["qw", "qx", "qy", "qz"],
        JointKind::Free | JointKind::Mocap => &["x", "y", "z", "qw", "qx", "qy", "qz"],
    }
}

/// What a joint's velocities are.
fn velocity(kind: &JointKind) -> &'static [&'static str] {
    match kind {
        JointKind::Fixed | JointKind::Mocap => &[],
        JointKind::Revolute { .. } | JointKind::Continuous { .. } | JointKind::Prismatic { .. } => &[""],
        JointKind::Planar { .. } => &["vx", "vy", "w"],
        JointKind::Spherical => &["wx", "wy", "wz"],
        JointKind::Free => &["vx", "vy", "vz", "wx", "wy", "wz"],
    }
}

/// A number that changes with any number of a world.
fn fingerprint(world: &World) -> u64 {
    let World {
        model,
        geoms,
        surfaces,
        rules,
        actuators,
        tendons,
        effort_ranges,
        control,
        activation,
        ambient,
        ties,
        equalities,
        allow_start_overlap,
        q,
        v,
        ..
    } = world;
    let mut hash = Hash(checksum(&[]));
    // Debug prints every number with all its digits; hashing cannot fail.
    let _ = write!(hash, "{model:?}{geoms:?}{surfaces:?}{rules:?}{actuators:?}{q:?}{v:?}");
    // Worlds of earlier versions have none of these.
    if !ambient.is_empty() {
        let _ = write!(hash, "{ambient:?}");
    }
    if *allow_start_overlap {
        let _ = write!(hash, "allow_start_overlap");
    }
    if !ties.is_empty() {
        let _ = write!(hash, "{ties:?}");
    }
    if equalities.iter().any(|e| !e.active) {
        let _ = write!(hash, "{equalities:?}");
    }
    if !(actuators.is_empty() && tendons.is_empty()) {
        let _ = write!(hash, "{tendons:?}{effort_ranges:?}{control:?}{activation:?}");
    }
    hash.0
}

/// FNV-1a of what is written to it.
struct Hash(u64);

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(())
    }
}

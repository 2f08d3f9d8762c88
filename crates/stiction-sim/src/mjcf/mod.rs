//! MJCF, the format of MuJoCo's models, read into a [`Description`]; and scenes written as such
//! ([`fn@write`]).
//!
//! Bodies become links, one per joint; geoms that can touch become geoms; equalities become closed loops and joints that follow others; actuators
//! on joints become actuators. Coordinates are the file's own: a joint's `ref`, keyframes and set points mean what they mean there. Contact follows
//! MuJoCo's rules (bit masks, the parent filter, exclusions, pairs, priorities), but is rigid: parameters of softness have no effect. Everything
//! that is not used is noted.
//!
//! ```
//! use stiction_sim::mjcf::{MjcfOptions, parse};
//! let text = r#"
//! <mujoco model="pendulum">
//!   <worldbody>
//!     <body pos="0 0 1"><joint name="swing" axis="0 1 0"/><geom size=".1" pos="0 0 -.5" mass="2"/></body>
//!   </worldbody>
//!   <actuator><motor joint="swing" gear="3"/></actuator>
//! </mujoco>"#;
//! let robot = parse(text, ".".as_ref(), &MjcfOptions::default()).unwrap();
//! assert_eq!((robot.links.len(), robot.actuators[0].gear[0]), (1, 3.0));
//! ```
//!
//! Reference: MuJoCo's XML reference.

use std::collections::BTreeSet;
use std::path::Path;

use crate::description::Description;
use crate::error::SceneError;

mod actuators;
mod ambient;
mod assets;
mod attach;
mod attributes;
mod bodies;
mod compiler;
mod contact;
mod defaults;
mod drive;
mod equality;
mod forms;
mod frames;
mod hfield;
mod joints;
mod keyframe;
mod links;
mod msh;
mod notes;
mod replicate;
mod schema;
mod sensors;
mod solid;
mod surface;
mod tendons;
mod textures;
mod tree;
mod visuals;
mod write;

use compiler::{Compiler, Options};
use notes::Notes;
use tree::Element;
pub use write::write;

/// Which configuration a model starts in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Start {
    /// The keyframe named `home`, else the first one, else the reference.
    #[default]
    Home,
    /// The configuration in which the file writes the bodies down: `qpos0`.
    Reference,
    /// The keyframe of that name.
    Keyframe(String),
    /// The keyframe of that number, from 0.
    Number(usize),
}

/// How a model is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MjcfOptions {
    /// The configuration at the start.
    pub start: Start,
}

/// Loads a model and the files it includes and refers to.
///
/// # Errors
/// With file, line, column and element: if a file is missing or broken, a value cannot be what it says, a name is not there, or the model needs
/// what is not supported and cannot be left out.
pub fn load(path: &Path, options: &MjcfOptions) -> Result<Description, SceneError> {
    let root = tree::read(path)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    describe(root, directory, &stem, options).map_err(|e| e.in_file(path))
}

/// Reads a model from a text; files it names are relative to `directory`.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, directory: &Path, options: &MjcfOptions) -> Result<Description, SceneError> {
    describe(tree::parse(text, directory)?, directory, "model", options)
}

fn describe(mut root: Element, directory: &Path, name: &str, how: &MjcfOptions) -> Result<Description, SceneError> {
    match root.name.as_str() {
        "mujoco" => {}
        "robot" => return Err(root.error("this is URDF: expected <mujoco>")),
        "mujocoinclude" => return Err(root.error("this file is to be included by others: expected <mujoco>")),
        _ => return Err(root.error("expected <mujoco>")),
    }
    let mut notes = Notes::default();
    let mut compiler = Compiler::read(&root, &mut notes)?;
    attach::expand(&mut root, directory, &mut compiler, &mut notes)?;
    let root = &root;
    let options = Options::read(root)?;
    let defaults = defaults::Defaults::read(root)?;
    let assets = assets::Assets::read(root, &defaults, &compiler, directory)?;
    let pairs = root.all("contact").flat_map(|s| s.all("pair"));
    let paired: BTreeSet<&str> = pairs.flat_map(|p| [p.text("geom1"), p.text("geom2")]).flatten().collect();
    let context =
        bodies::Context { compiler: &compiler, options: &options, defaults: &defaults, assets: &assets, paired };
    let tree = bodies::Tree::read(root, &context, &mut notes)?;
    let mut links = links::Links::new(&tree);

    let mut out = Description::new(root.text("model").unwrap_or(name));
    contact::write(root, &tree, &links, &defaults, &options, &mut notes, &mut out)?;
    visuals::write(root, &tree, &links, &mut out);
    out.tendons = tendons::read(root, &tree, &links, &context, &mut notes)?;
    if !options.is_off("equality") {
        equality::write(root, &tree, &links, &defaults, &mut notes, &mut out)?;
    }
    actuators::write(root, &tree, &mut links, &defaults, &compiler, &options, &mut notes, &mut out)?;
    ambient::write(&tree, &links, &options, &mut out);
    links.resolve_spring_dampers()?;
    links.check_inertias()?;
    sensors::write(root, &tree, &links, &context, &mut notes, &mut out)?;
    keyframe::write(root, &links, how, &mut notes, &mut out)?;
    out.links = links.specs;
    out.gravity = Some(options.gravity);
    out.dt = Some(options.timestep);
    schema::audit(root, &mut notes);
    notes.write(&mut out);
    Ok(out)
}

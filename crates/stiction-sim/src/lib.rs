//! From a scene to motion: loaders, the assembly of contact problems, two simulators, recordings.
pub mod actuation;
pub mod ambient;
pub mod assemble;
pub mod carry;
pub mod control;
pub mod description;
pub mod energy;
pub mod error;
mod event_driven;
pub mod expression;
mod files;
mod friction_ellipse;
pub mod inputs;
pub mod looks;
pub mod material;
pub mod meshes;
pub mod mjcf;
mod mocap;
mod motor_limits;
mod motors;
pub mod physical;
mod picture;
mod projection;
pub mod queries;
pub mod readings;
pub mod recording;
pub mod restitution;
pub mod rolling;
pub mod scene;
pub mod sensors;
pub mod simulation;
mod sleep;
pub mod summary;
pub mod ties;
mod time_stepping;
pub mod urdf;
pub mod world;
pub mod xml;

use std::path::Path;

pub use actuation::{Actuator, Tendon};
pub use assemble::{ContactFrame, ContactKey};
pub use carry::Weld;
pub use control::{Commands, Controller, LinkWrench, Signal, View};
pub use description::{Description, GeomSpec, KeyframeSpec, Note, NoteKind, PairSpec};
pub use energy::EnergyBalance;
pub use error::SceneError;
pub use expression::Expression;
pub use looks::{Look, Visual};
pub use material::{Material, MaterialRule};
pub use physical::{PhysicalChange, PhysicalLayout, PhysicalPart};
pub use recording::{Recorder, Recording};
pub use restitution::Impacts;
pub use scene::Scene;
pub use simulation::{
    Integrator, OnFailure, Overlap, Phases, Settings, Simulation, SimulatorKind, Snapshot, State, StepFailure,
    StepReport,
};
pub use summary::{Gather, Summary};
pub use ties::{Softness, Tie};
pub use world::{Added, Base, Placement, Surfaces, World, WorldBuilder};

/// Reads a robot file, URDF or MJCF, told apart by the element it starts with.
///
/// # Errors
/// If it cannot be read or is neither, naming the place.
pub fn load_description(path: &Path) -> Result<Description, SceneError> {
    load_description_at(path, &mjcf::Start::default())
}

/// The same with another start, if it is a file with keyframes.
///
/// # Errors
/// As [`load_description`]; if there is no such keyframe.
pub fn load_description_at(path: &Path, start: &mjcf::Start) -> Result<Description, SceneError> {
    let bytes = files::read(path).map_err(|e| SceneError::new("", e.to_string()).in_file(path))?;
    let text = String::from_utf8_lossy(&bytes);
    let first = |tag: &str| text.find(tag).unwrap_or(usize::MAX);
    let (mujoco, robot, sdf) = (first("<mujoco"), first("<robot"), first("<sdf"));
    if sdf < mujoco.min(robot) {
        return Err(SceneError::new("<sdf>", "SDF is not supported yet; URDF and MJCF are").in_file(path));
    }
    // What xacro has made still declares its namespace, and may have elements of it in comments.
    if without_comments(&text).any(|part| part.contains("<xacro:")) {
        let why = "this is xacro, which makes URDF: run `xacro FILE > robot.urdf` (pip install xacro) and load that";
        return Err(SceneError::new("<robot>", why).in_file(path));
    }
    if mujoco < robot {
        mjcf::load(path, &mjcf::MjcfOptions { start: start.clone() })
    } else if matches!(start, mjcf::Start::Keyframe(_) | mjcf::Start::Number(_)) {
        Err(SceneError::new("keyframe", "URDF has no keyframes").in_file(path))
    } else {
        urdf::load(path, &urdf::UrdfOptions::default())
    }
}

/// The parts of an XML text that are no comments.
fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    let mut first = true;
    text.split("<!--").map(move |part| match std::mem::take(&mut first) {
        true => part,
        false => part.split_once("-->").map_or("", |(_, rest)| rest),
    })
}

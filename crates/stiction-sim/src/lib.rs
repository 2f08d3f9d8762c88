//! From a scene to motion: loaders, the assembly of contact problems, two simulators, recordings.
//!
//! A [`Scene`] is a TOML file, or a robot file (URDF, MJCF), or both; a [`World`] what it comes to: bodies, shapes,
//! materials, motors. A [`Simulation`] steps it: it finds contacts, makes one contact problem of them, has it solved under
//! a model of `stiction-contact`, and moves. Nothing about contact is to be tuned (there is no stiffness and no damping),
//! every step is certified, and equal runs are equal to the last bit.
//!
//! ```
//! use std::path::Path;
//! use stiction_sim::Scene;
//!
//! let text = r#"
//! dt = 0.001
//! [[bodies]]
//! name = "ground"
//! fixed = true
//! shape = { plane = true }
//! [[bodies]]
//! name = "ball"
//! mass = 1.0
//! position = [0, 0, 0.6]
//! shape = { sphere = 0.1 }
//! "#;
//! let mut simulation = Scene::parse(text, Path::new("."), &[])?.simulation()?;
//! let before = simulation.snapshot();
//! for _ in 0..1000 {
//!     simulation.step()?;
//! }
//! // It has fallen half a metre, and rests.
//! assert!((simulation.state().q[2] - 0.1).abs() < 1e-9);
//! assert_eq!(simulation.contacts().len(), 1);
//! let impulse = simulation.impulses().unwrap().normal[0];
//! assert!((impulse - 9.81 * 0.001).abs() < 1e-12);
//!
//! // From the same snapshot the same run, to the last bit.
//! let hash = simulation.state().hash();
//! simulation.restore(&before)?;
//! for _ in 0..1000 {
//!     simulation.step()?;
//! }
//! assert_eq!(simulation.state().hash(), hash);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! [`scene`], [`urdf`] and [`mjcf`] read files into a [`description`], of which `world` is made. [`simulation`] has the
//! step and its settings; `assemble` is the bridge to contact problems, `restitution` rebounds, [`control`] what drives
//! joints. [`readings`], [`queries`] and [`sensors`] tell what happens; [`recording`] keeps it in a file.
pub mod actuation;
mod adhesion;
mod ambient;
mod assemble;
mod carry;
pub mod control;
pub mod description;
mod energy;
mod equality;
pub mod error;
mod event_driven;
mod expression;
mod files;
mod fluid;
mod friction_ellipse;
pub mod inputs;
pub mod looks;
mod material;
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
mod restitution;
pub mod rolling;
pub mod scene;
pub mod sdf;
pub mod sensors;
pub mod simulation;
mod sleep;
pub mod summary;
mod ties;
mod time_stepping;
pub mod urdf;
mod world;
mod xml;

use std::path::Path;

pub use actuation::{Actuator, Tendon};
pub use ambient::{Ambient, TurnSpring};
pub use assemble::{ContactFrame, ContactKey};
pub use carry::Weld;
pub use control::{Commands, Controller, LinkWrench, Signal, View};
pub use description::{Description, GeomSpec, KeyframeSpec, Note, NoteKind, PairSpec};
pub use energy::EnergyBalance;
pub use equality::{CLOSED, Equality, Held, Switch};
pub use error::SceneError;
pub use expression::Expression;
pub use fluid::{FluidCoefficients, FluidEllipsoid, FluidShape, Immersed};
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
pub use world::{Added, Base, Keyframe, Placement, Surfaces, World, WorldBuilder};

/// Reads a robot file, URDF, MJCF or SDF, told apart by the element it starts with.
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
    let keyframe = matches!(start, mjcf::Start::Keyframe(_) | mjcf::Start::Number(_));
    if sdf < mujoco.min(robot) {
        return match keyframe {
            true => Err(SceneError::new("keyframe", "SDF has no keyframes").in_file(path)),
            false => sdf::load(path, &sdf::SdfOptions::default()),
        };
    }
    // What xacro has made still declares its namespace, and may have elements of it in comments.
    if without_comments(&text).any(|part| part.contains("<xacro:")) {
        return Err(SceneError::new("<robot>", urdf::XACRO).in_file(path));
    }
    if mujoco < robot {
        mjcf::load(path, &mjcf::MjcfOptions { start: start.clone() })
    } else if keyframe {
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

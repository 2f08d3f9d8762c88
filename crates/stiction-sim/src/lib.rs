//! From a scene to motion: loaders, the assembly of contact problems, two simulators, recordings.
pub mod assemble;
pub mod control;
pub mod description;
pub mod error;
mod event_driven;
pub mod expression;
pub mod material;
pub mod meshes;
pub mod rolling;
pub mod scene;
pub mod simulation;
pub mod summary;
mod time_stepping;
pub mod urdf;
pub mod world;
pub mod xml;

use std::path::Path;

pub use assemble::{ContactFrame, ContactKey};
pub use control::{Commands, Controller, Signal, View};
pub use description::{Actuator, ActuatorKind, Description, GeomSpec, Note, NoteKind, PairSpec};
pub use error::SceneError;
pub use expression::Expression;
pub use material::{Material, MaterialRule};
pub use scene::Scene;
pub use simulation::{
    Integrator, OnFailure, Settings, Simulation, SimulatorKind, Snapshot, State, StepFailure, StepReport,
};
pub use summary::{Gather, Summary};
pub use world::{Added, Base, Placement, Surfaces, World, WorldBuilder};

/// Reads a robot file: URDF (`.urdf`) or MJCF (`.xml`, `.mjcf`).
///
/// # Errors
/// If it cannot be read, naming the place.
pub fn load_description(path: &Path) -> Result<Description, SceneError> {
    urdf::load(path, &urdf::UrdfOptions::default())
}

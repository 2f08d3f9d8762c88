//! From a scene to motion: loaders, the assembly of contact problems, two simulators, recordings.
pub mod description;
pub mod error;
pub mod material;
pub mod meshes;
pub mod mjcf;
pub mod urdf;
pub mod xml;

pub use description::{Actuator, ActuatorKind, Description, GeomSpec, Note, NoteKind, PairSpec};
pub use error::SceneError;
pub use material::{Material, MaterialRule};

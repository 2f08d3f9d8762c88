//! From a scene to motion: loaders, the assembly of contact problems, two simulators, recordings.
pub mod description;
pub mod error;
pub mod expression;
pub mod material;
pub mod world;

pub use description::{Actuator, ActuatorKind, Description, GeomSpec, Note, NoteKind, PairSpec};
pub use error::SceneError;
pub use expression::Expression;
pub use material::{Material, MaterialRule};
pub use world::{Added, Base, Placement, Surfaces, World, WorldBuilder};

//! Articulated rigid bodies in reduced coordinates: a constant [`Model`], a small state, a reused [`Workspace`].
pub mod aba;
pub mod collision;
pub mod dynamics;
pub mod inertia;
pub mod joint;
pub mod kinematics;
pub mod loops;
pub mod math;
pub mod model;
pub mod range;
pub mod shape;
pub mod velocity_products;

pub use collision::{Collision, CollisionRules, ContactPoint, Geom, Overlap, RayHit, Separation};
pub use inertia::Inertia;
pub use joint::JointKind;
pub use kinematics::{LinkMotion, Workspace};
pub use loops::{LoopAction, LoopBlocks, LoopRows, RedundantRows, RowSource};
pub use model::{Coupling, CouplingTerm, JointProperties, LinkSpec, LoopClosure, LoopKind, Mimic, Model, ModelBuilder};
pub use shape::{Shape, ShapeKind, Triangulation};

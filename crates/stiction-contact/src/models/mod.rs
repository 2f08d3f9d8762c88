//! The contact models of the literature, each under its name there.
pub mod baraff_friction;

pub use baraff_friction::BaraffFriction;

//! The models of the literature, each under its own name.
pub mod coulomb_polyhedral;

pub use coulomb_polyhedral::CoulombPolyhedral;

//! The models, one file or folder each, under the names of the literature.
pub mod baraff_friction;
pub mod coulomb_pyramid;
pub mod drumwright_shell;

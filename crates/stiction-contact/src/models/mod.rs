//! The models, one file or folder each, under the names of the literature.
pub mod coulomb_pyramid;
//! The contact models, one file or folder each, under their names in the literature.
pub mod drumwright_shell;

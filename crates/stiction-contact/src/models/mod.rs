//! The contact models, one file or folder each, under their names in the literature.
pub mod drumwright_shell;

//! Principal pivoting.

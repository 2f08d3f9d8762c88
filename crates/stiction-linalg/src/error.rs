//! What can be wrong with an input, each with the place where it is wrong.

use std::fmt;

use thiserror::Error;

/// A number as people write it: very large and very small ones with an exponent.
#[derive(Debug, Clone, Copy)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(x) = *self;
        if x == 0.0 || !x.is_finite() || (1e-6..1e15).contains(&x.abs()) {
            write!(f, "{x}")
        } else {
            write!(f, "{x:e}")
        }
    }
}

/// Bad input: the problem, an option or a file cannot be used as given.
///
/// Not being solvable is no input error; it is an outcome of a solver.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InputError {
    /// A vector or matrix has the wrong size.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// The field, with its row or column where that helps.
        what: String,
        /// The size the rest of the problem asks for.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// A matrix that must be square is not.
    #[error("{what} must be square, found {rows} × {cols}")]
    NotSquare {
        /// The matrix.
        what: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// A NaN, or an infinity where none has a meaning.
    #[error("{what} is {value}; every number must be finite")]
    NotFinite {
        /// The entry, with its indices.
        what: String,
        /// The number found there.
        value: f64,
    },
    /// A lower bound above its upper bound, or a bound that leaves nothing.
    #[error("bounds of row {row}: {lo} ≤ z ≤ {hi} is empty")]
    EmptyBounds {
        /// The row.
        row: usize,
        /// Its lower bound.
        lo: f64,
        /// Its upper bound.
        hi: f64,
    },
    /// A basis that does not fit the problem.
    #[error("start basis: {0}")]
    Basis(String),
    /// The solver's method has no place for a problem of this kind.
    #[error("{solver} does not take this problem: {reason}")]
    Unsupported {
        /// The solver's name.
        solver: &'static str,
        /// Why, and what to use instead.
        reason: String,
    },
    /// An option outside its range.
    #[error("option {name}: {reason}")]
    Option {
        /// The option.
        name: &'static str,
        /// What it must be.
        reason: String,
    },
    /// A number outside the range that has a meaning: a negative mass, a step of no length.
    #[error("{what} must be {expected}, found {}", Number(*found))]
    OutOfRange {
        /// The field, with its indices.
        what: String,
        /// The range.
        expected: &'static str,
        /// The number found there.
        found: f64,
    },
    /// A matrix that must be symmetric and positive definite is not.
    #[error("{what} is not symmetric and positive definite: {reason}")]
    NotPositiveDefinite {
        /// The matrix.
        what: String,
        /// Where it fails.
        reason: String,
    },
    /// A matrix too large to be held.
    #[error("a matrix of {rows} × {cols} is too large")]
    TooLarge {
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// A file that cannot be read as what it should be.
    #[error("{place}: {message}")]
    File {
        /// File, and line or key where known: `box.dat:12`.
        place: String,
        /// What was found and what was expected.
        message: String,
    },
}

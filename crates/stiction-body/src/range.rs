//! The range of masses and lengths that can be computed with.

use stiction_linalg::InputError;

/// Masses (kg), lengths (m), times (s) and coefficients that are not zero lie between these. An
/// electron has 1e-30 kg, the visible universe 1e53 kg and 1e27 m; with them a rotational inertia
/// is at most 1e150 kg m², and its square, which factors and certificates need, is still a double,
/// as is the inverse of the smallest.
pub const SMALLEST: f64 = 1e-50;

/// See [`SMALLEST`].
pub const LARGEST: f64 = 1e50;

/// The range in words.
pub const RANGE: &str = "above 0, from 1e-50 to 1e50";

/// The largest rotational inertia (kg m²): the largest mass at the largest distance.
pub(crate) const LARGEST_INERTIA: f64 = LARGEST * LARGEST * LARGEST;

/// True for a positive number that can be computed with.
pub fn is_in_range(x: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&x)
}

/// A positive number within the range.
///
/// # Errors
/// If it is not, with `what` it is.
pub fn check(what: impl Into<String>, x: f64) -> Result<(), InputError> {
    if is_in_range(x) { Ok(()) } else { Err(InputError::OutOfRange { what: what.into(), expected: RANGE, found: x }) }
}

/// A number of either sign, zero allowed, that is not too large.
///
/// # Errors
/// If it is, or is not a number, with `what` it is.
pub fn check_coordinate(what: impl Into<String>, x: f64) -> Result<(), InputError> {
    if !x.is_finite() {
        return Err(InputError::NotFinite { what: what.into(), value: x });
    }
    if x.abs() <= LARGEST {
        return Ok(());
    }
    Err(InputError::OutOfRange { what: what.into(), expected: "of a size of at most 1e50", found: x })
}

//! Checks of single numbers and vectors, each error naming the field.

use stiction_lcp::InputError;

/// `found` numbers where `expected` are needed.
pub(crate) fn size(what: impl FnOnce() -> String, expected: usize, found: usize) -> Result<(), InputError> {
    if expected == found { Ok(()) } else { Err(InputError::Size { what: what(), expected, found }) }
}

/// A finite number.
pub(crate) fn finite(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value.is_finite() { Ok(()) } else { Err(InputError::NotFinite { what: what(), value }) }
}

/// The largest row entry and inertia that are computed with, and the inverse of the least inertia: products of three of them, as in
/// `row M⁻¹ rowᵀ`, stay within the range of numbers.
pub(crate) const LARGEST: f64 = 1e100;

/// True if [`row_entry`] has nothing against any of them, as their sum tells; false says nothing.
#[inline]
pub(crate) fn are_row_entries(values: &[f64]) -> bool {
    values.iter().map(|x| x.abs()).sum::<f64>() <= LARGEST
}

/// A number of at most 1e100.
pub(crate) fn row_entry(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    match value.abs() {
        size if size <= LARGEST => Ok(()),
        size if size.is_finite() => Err(out_of_range(what(), "at most 1e100 in size", value)),
        _ => Err(InputError::NotFinite { what: what(), value }),
    }
}

/// An entry on the diagonal of an inertia: 1e-100 to 1e100. One that is not positive is left to the factor, which says more.
pub(crate) fn inertia(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value <= 0.0 || (1.0 / LARGEST..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(out_of_range(what(), "from 1e-100 to 1e100", value))
}

/// A vector of `expected` finite numbers.
pub(crate) fn vector(what: &str, expected: usize, x: &[f64]) -> Result<(), InputError> {
    size(|| what.into(), expected, x.len())?;
    match x.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(InputError::NotFinite { what: format!("{what}[{i}]"), value: x[i] }),
        None => Ok(()),
    }
}

/// A coefficient: at least 0, infinity allowed.
pub(crate) fn coefficient(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value >= 0.0 { Ok(()) } else { Err(out_of_range(what(), "at least 0", value)) }
}

/// A positive finite number.
pub(crate) fn positive(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(out_of_range(what(), "above 0 and finite", value)) }
}

/// `InputError::OutOfRange`.
pub(crate) fn out_of_range(what: String, expected: &'static str, found: f64) -> InputError {
    InputError::OutOfRange { what, expected, found }
}

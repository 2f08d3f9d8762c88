//! Checks of single numbers and vectors, each error naming the field.

use stiction_lcp::InputError;

/// `found` numbers where `expected` are needed.
pub fn size(what: impl FnOnce() -> String, expected: usize, found: usize) -> Result<(), InputError> {
    if expected == found { Ok(()) } else { Err(InputError::Size { what: what(), expected, found }) }
}

/// A finite number.
pub fn finite(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value.is_finite() { Ok(()) } else { Err(InputError::NotFinite { what: what(), value }) }
}

/// A vector of `expected` finite numbers.
pub fn vector(what: &str, expected: usize, x: &[f64]) -> Result<(), InputError> {
    size(|| what.into(), expected, x.len())?;
    match x.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(InputError::NotFinite { what: format!("{what}[{i}]"), value: x[i] }),
        None => Ok(()),
    }
}

/// A coefficient: at least 0, infinity allowed.
pub fn coefficient(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value >= 0.0 { Ok(()) } else { Err(out_of_range(what(), "at least 0", value)) }
}

/// A positive finite number.
pub fn positive(what: impl FnOnce() -> String, value: f64) -> Result<(), InputError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(out_of_range(what(), "above 0 and finite", value)) }
}

/// `InputError::OutOfRange`.
pub fn out_of_range(what: String, expected: &'static str, found: f64) -> InputError {
    InputError::OutOfRange { what, expected, found }
}

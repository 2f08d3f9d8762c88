//! How objects look.

use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};

/// The table of an object for a notebook, by `stiction._html`.
pub(crate) fn html<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("stiction._html")?.call_method1("render", (object,))
}

/// A small number with two digits.
pub(crate) fn brief(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.1e}") }
}

/// A word of at most 40 letters.
pub(crate) fn shortened(word: &str) -> String {
    const MOST: usize = 40;
    match word.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.into(),
    }
}

/// A number as Python writes it.
pub(crate) fn number(x: f64) -> String {
    Python::attach(|py| PyFloat::new(py, x).to_string())
}

/// A text with its quotes, as Python writes it.
pub(crate) fn quoted(text: &str) -> String {
    Python::attach(|py| PyString::new(py, text).repr().map_or_else(|_| format!("{text:?}"), |text| text.to_string()))
}

//! Pickles: every object of this package is made again by one function, from a kind and plain values.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{contact, errors, lcp, scene, sim};

/// What `__reduce__` returns.
pub(crate) fn reduce<'py>(py: Python<'py>, kind: &str, state: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let make = py.import("stiction._stiction")?.getattr("_restore")?;
    (make, (kind, state)).into_pyobject(py)
}

/// An object from its pickle. A solution is certified again from its problem.
#[pyfunction(name = "_restore")]
pub(crate) fn restore<'py>(py: Python<'py>, kind: &str, state: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let state = state.as_any();
    match kind.split_once('.') {
        Some(("lcp", kind)) => lcp::restore(py, kind, state),
        Some(("contact", kind)) => contact::restore(py, kind, state),
        Some(("sim", kind)) => sim::restore(py, kind, state),
        _ if kind == "geom" => Ok(Bound::new(py, scene::geom::restore(py, state.extract()?)?)?.into_any()),
        _ if kind == "scene" => Ok(Bound::new(py, scene::restore(state.extract()?)?)?.into_any()),
        _ => Err(unknown(py, kind)),
    }
}

/// No object of this kind has a pickle.
pub(crate) fn unknown(py: Python<'_>, kind: &str) -> PyErr {
    errors::input(py, format!("this version of stiction has no \"{kind}\" to unpickle"))
}

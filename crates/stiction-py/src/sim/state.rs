//! State and inputs of a simulation as arrays that NumPy owns.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::core::Core;
use crate::errors;
use stiction_sim::inputs::{PARTS, WRENCH};

/// The arrays Python sees.
pub(crate) struct Arrays {
    /// Size of q.
    pub nq: usize,
    /// q, then v.
    pub state: Py<PyArray1<f64>>,
    /// All inputs, part after part.
    pub inputs: Py<PyArray1<f64>>,
    /// View of the configuration.
    pub q: Py<PyArray1<f64>>,
    /// View of the velocities.
    pub v: Py<PyArray1<f64>>,
    /// Views of the inputs, in the order of [`PARTS`].
    pub parts: Vec<Py<PyArray1<f64>>>,
    /// The last of them as (bodies, 6).
    pub wrench: Py<PyAny>,
}

impl Arrays {
    /// With the state and inputs of a simulation.
    pub(crate) fn new(py: Python<'_>, core: &Core) -> PyResult<Self> {
        let state = core.sim.state();
        let (nq, nv) = (state.q.len(), state.v.len());
        let both = PyArray1::from_vec(py, [state.q.as_slice(), &state.v].concat());
        let inputs = PyArray1::from_slice(py, core.inputs());
        let view = |of: &Bound<'_, PyArray1<f64>>, range: std::ops::Range<usize>| {
            let slice = PySlice::new(py, range.start as isize, range.end as isize, 1);
            Ok::<_, PyErr>(of.get_item(slice)?.cast_into::<PyArray1<f64>>()?.unbind())
        };
        let (q, v) = (view(&both, 0..nq)?, view(&both, nq..nq + nv)?);
        let parts: Vec<_> = (0..PARTS.len()).map(|i| view(&inputs, core.layout.range(i))).collect::<PyResult<_>>()?;
        let bodies = core.layout.range(WRENCH).len() / 6;
        let wrench = parts[WRENCH].bind(py).call_method1("reshape", ((bodies, 6),))?.unbind();
        Ok(Self { nq, state: both.unbind(), inputs: inputs.unbind(), q, v, parts, wrench })
    }
}

/// The numbers of an array of this package.
pub(crate) fn numbers<'a>(array: &'a Bound<'_, PyArray1<f64>>, expected: usize) -> PyResult<&'a [f64]> {
    // SAFETY: the array is contiguous and made by this package; NumPy writes to it under the GIL alone, which is held while the slice lives, and
    // `write` lets no other slice be alive while it writes.
    let slice = unsafe { array.as_slice() };
    slice.ok().filter(|s| s.len() == expected).ok_or_else(|| resized(array.py()))
}

/// Fills a part of an array of this package.
pub(crate) fn write(array: &Bound<'_, PyArray1<f64>>, first: usize, numbers: &[f64]) -> PyResult<()> {
    // SAFETY: the GIL is held, so that NumPy does not look at the array meanwhile, and no slice of it leaves this function.
    let slice = unsafe { array.as_slice_mut() };
    let part = slice.ok().and_then(|s| s.get_mut(first..first + numbers.len()));
    part.ok_or_else(|| resized(array.py()))?.copy_from_slice(numbers);
    Ok(())
}

fn resized(py: Python<'_>) -> PyErr {
    errors::input(py, "an array of the simulation was resized")
}

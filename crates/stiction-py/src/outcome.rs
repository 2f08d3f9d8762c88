//! What all outcomes have in common, whatever the problem.

use pyo3::PyClass;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{errors, pickle};

/// An outcome of a solve, as Python sees it.
pub(crate) trait Outcome {
    /// Its name in a word.
    const STATUS: &'static str;
    /// Whether it is a solution.
    const SOLVED: bool = false;

    /// What was done to get here.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Why there is no solution; not asked of one.
    fn why_not(&self) -> String;

    /// It in a line.
    fn text(&self) -> String;

    /// What [`crate::pickle::restore`] makes it again from.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>>;
}

/// `require`: the outcome itself, or `NotSolved`.
pub(crate) fn require<'py, O: Outcome + PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync>(
    outcome: Bound<'py, O>,
) -> PyResult<Bound<'py, O>> {
    if O::SOLVED {
        return Ok(outcome);
    }
    let message = outcome.get().why_not();
    Err(errors::NOT_SOLVED.raise(outcome.py(), (message, outcome)))
}

/// `__getattr__`: the error of an attribute that the outcome has not. Where another outcome may have it, that is why.
pub(crate) fn missing<O: Outcome + PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync>(
    outcome: &Bound<'_, O>,
    name: &str,
) -> PyErr {
    let class =
        outcome.as_any().get_type().fully_qualified_name().map_or_else(|_| "outcome".into(), |name| name.to_string());
    let mut message = format!("'{class}' object has no attribute '{name}'");
    if !O::SOLVED && !name.starts_with('_') {
        message += &format!(", and is no solution: {}", outcome.get().why_not());
    }
    PyAttributeError::new_err(message)
}

/// `__reduce__`: the function that makes it again, and its arguments.
pub(crate) fn reduce<'py>(py: Python<'py>, kind: &str, outcome: &impl Outcome) -> PyResult<Bound<'py, PyTuple>> {
    pickle::reduce(py, kind, outcome.stored(py)?)
}

/// The methods that every outcome has: the class, its kind in a pickle, and what a pattern such as `case Solved(z, w)` takes.
macro_rules! outcome {
    ($class:ident, $kind:literal, [$($argument:literal),+]) => {
        #[pymethods]
        impl $class {
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, [$($argument),+])
            }

            /// What it is, in a word.
            #[getter]
            fn status(&self) -> &'static str {
                <Self as $crate::outcome::Outcome>::STATUS
            }

            /// What was done to get here; the counts are deterministic.
            #[getter]
            fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                $crate::outcome::Outcome::stats(self, py)
            }

            /// This outcome if it is a solution.
            ///
            /// Returns
            /// -------
            /// Solved
            ///
            /// Raises
            /// ------
            /// NotSolved
            ///     If it is none; ``error.outcome`` is this outcome.
            fn require(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                $crate::outcome::require(slf)
            }

            fn __bool__(&self) -> bool {
                <Self as $crate::outcome::Outcome>::SOLVED
            }

            fn __repr__(&self) -> String {
                $crate::outcome::Outcome::text(self)
            }

            fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                Err($crate::outcome::missing(slf, name))
            }

            fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                $crate::display::html(slf.as_any())
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                $crate::outcome::reduce(py, $kind, self)
            }
        }
    };
}
pub(crate) use outcome;

/// Getters of arrays that are made when they are asked for, and that nobody may write to.
macro_rules! arrays {
    ($class:ident, { $($(#[$doc:meta])* $name:ident = $numbers:expr;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
                    let numbers: fn(&Self) -> &[f64] = $numbers;
                    $crate::arrays::frozen(py, numbers(self))
                }
            )+
        }
    };
}
pub(crate) use arrays;

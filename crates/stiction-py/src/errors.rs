//! The engine's errors as Python's exceptions. The classes are in `stiction/errors.py`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_lcp::InputError;
use stiction_sim::SceneError;

/// An exception class of `stiction.errors`.
pub(crate) struct Class {
    name: &'static str,
    cell: PyOnceLock<Py<PyType>>,
}

impl Class {
    const fn new(name: &'static str) -> Self {
        Self { name, cell: PyOnceLock::new() }
    }

    /// The class itself.
    pub(crate) fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        self.cell.import(py, "stiction.errors", self.name)
    }

    /// The exception with these arguments.
    pub(crate) fn raise<'py>(&self, py: Python<'py>, args: impl PyCallArgs<'py>) -> PyErr {
        match self.cell.import(py, "stiction.errors", self.name).and_then(|class| class.call1(args)) {
            Ok(value) => PyErr::from_value(value),
            Err(e) => e,
        }
    }
}

/// `InputError`: an argument that cannot be used as it is.
pub(crate) static INPUT: Class = Class::new("InputError");
/// `SceneError`: a scene or robot file that cannot be used as it is.
pub(crate) static SCENE: Class = Class::new("SceneError");
/// `SceneNotFound`: a file of a scene that is not there.
pub(crate) static SCENE_NOT_FOUND: Class = Class::new("SceneNotFound");
/// `NotSolved`: what was asked for has no certified answer.
pub(crate) static NOT_SOLVED: Class = Class::new("NotSolved");
/// `StepFailed`: a step that could not be certified.
pub(crate) static STEP_FAILED: Class = Class::new("StepFailed");
/// `StepInterrupted`: a step that was told to end.
pub(crate) static STEP_INTERRUPTED: Class = Class::new("StepInterrupted");
/// `BusyError`: a simulation used by two threads at once.
pub(crate) static BUSY: Class = Class::new("BusyError");

/// `StictionWarning`: something that is not used as it was given.
pub(crate) static WARNING: Class = Class::new("StictionWarning");

/// An input error with a message.
pub(crate) fn input(py: Python<'_>, message: impl Into<String>) -> PyErr {
    INPUT.raise(py, (message.into(),))
}

/// The engine's input error.
pub(crate) fn from_input(error: &InputError) -> PyErr {
    Python::attach(|py| input(py, error.to_string()))
}

/// The engine's scene error, with its place.
pub(crate) fn from_scene(error: &SceneError) -> PyErr {
    let file = error.file.as_ref().map(|f| f.display().to_string());
    let (line, column) = error.at.unzip();
    let missing = error.at.is_none() && error.file.as_ref().is_some_and(|f| !f.exists());
    let class = if missing { &SCENE_NOT_FOUND } else { &SCENE };
    Python::attach(|py| class.raise(py, (error.to_string(), file, line, column, error.element.as_str())))
}

/// The same error with the place where it happened before its message.
pub(crate) fn in_place(py: Python<'_>, place: &str, error: PyErr) -> PyErr {
    let message = format!("{place}: {}", error.value(py));
    match error.get_type(py).call1((message,)) {
        Ok(value) => PyErr::from_value(value),
        Err(_) => error,
    }
}

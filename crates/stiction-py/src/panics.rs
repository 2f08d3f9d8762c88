//! Faults of the engine as `InternalError`.

use std::any::Any;

use pyo3::panic::PanicException;
use pyo3::prelude::*;

/// Makes every panic that reaches Python an `InternalError`, whatever was called.
///
/// PyO3 turns a panic of any function, method or getter into its `PanicException`, which is no
/// `Exception` and so passes through `except Exception`. That class is this extension's own, so it
/// can be given another base.
pub(crate) fn install(py: Python<'_>) -> PyResult<()> {
    let base = py.import("stiction.errors")?.getattr("InternalError")?;
    let class = py.get_type::<PanicException>();
    for name in ["__name__", "__qualname__", "__module__"] {
        class.setattr(name, base.getattr(name)?)?;
    }
    class.setattr("__bases__", (base,))
}

/// What is said of a panic that was caught here.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    format!("internal error: {}; please report it", text.unwrap_or("a panic"))
}

/// Panics: for tests of what a fault of the engine comes to.
#[pyfunction(name = "_panic")]
pub(crate) fn panic_for_test(message: String) {
    std::panic::panic_any(message)
}

//! Ctrl-C while the engine works.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use stiction_lcp::interrupt::interruptible;

use crate::errors;

/// What is said about work that was told to end.
const INTERRUPTED: &str = "interrupted: the simulation is in the state before the step";

/// Between two looks for Ctrl-C, about.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Between two glances at the clock where the engine asks so often that the clock would cost
/// something.
const GLANCE: Duration = Duration::from_millis(1);
/// Most questions that pass without a glance at the clock.
const MOST_UNSEEN: u32 = 7;

/// When to look for Ctrl-C: so rarely that it costs nothing, so often that nobody waits for it,
/// whatever a pivot or a step costs.
struct Watch {
    looked: Instant,
    glanced: Instant,
    unseen: u32,
}

impl Watch {
    fn new() -> Self {
        let now = Instant::now();
        Self { looked: now, glanced: now, unseen: 0 }
    }

    /// True if it is time for a look.
    fn is_due(&mut self) -> bool {
        if self.unseen > 0 {
            self.unseen -= 1;
            return false;
        }
        let now = Instant::now();
        self.unseen = if now - self.glanced < GLANCE { MOST_UNSEEN } else { 0 };
        self.glanced = now;
        let due = now - self.looked >= LOOK;
        if due {
            self.looked = now;
        }
        due
    }
}

/// Does `work` without the GIL. A signal whose handler raises, such as Ctrl-C, abandons it; that
/// exception is the error then.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    detached_until(py, None, work)
}

/// The same; the work is abandoned, too, once `stop`, a callable without arguments that is called
/// at every look, returns true, with `StepInterrupted`, or raises, with that exception.
pub(crate) fn detached_until<R: Send>(
    py: Python<'_>,
    stop: Option<Py<PyAny>>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    py.detach(|| {
        let raised = Rc::new(Cell::new(None));
        let (mut watch, seen) = (Watch::new(), raised.clone());
        let asked = move || {
            let error = if watch.is_due() { Python::attach(|py| look(py, stop.as_ref())).err() } else { None };
            // Kept: threads that share the work may ask again before it has ended.
            error.is_some_and(|error| {
                seen.set(Some(error));
                true
            })
        };
        interruptible(asked, work).map_err(|_| raised.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())))
    })
}

/// Whether the work ends here, as an error.
fn look(py: Python<'_>, stop: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    match stop {
        Some(stop) if stop.bind(py).call0()?.is_truthy()? => Err(errors::STEP_INTERRUPTED.raise(py, (INTERRUPTED,))),
        _ => Ok(()),
    }
}

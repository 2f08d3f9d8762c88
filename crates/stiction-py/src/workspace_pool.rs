//! Solvers and models that nobody uses at the moment: each keeps its workspace for the next solve, in any thread.

use std::sync::{Mutex, PoisonError};

/// Workers of one kind.
pub(crate) struct WorkspacePool<W> {
    workers: Mutex<Vec<W>>,
}

impl<W> WorkspacePool<W> {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Self { workers: Mutex::new(Vec::new()) }
    }

    /// Does `work` with a worker that is free, or a new one, and keeps it.
    pub(crate) fn with<R, E>(
        &self,
        make: impl FnOnce() -> Result<W, E>,
        work: impl FnOnce(&mut W) -> Result<R, E>,
    ) -> Result<R, E> {
        let workers = || self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let free = workers().pop();
        let mut worker = match free {
            Some(worker) => worker,
            None => make()?,
        };
        let result = work(&mut worker);
        workers().push(worker);
        result
    }
}

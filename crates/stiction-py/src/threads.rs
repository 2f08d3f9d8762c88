//! Threads for batches.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// Most threads one may ask for.
const MOST: usize = 1024;

/// Pools that exist, by their number of threads: threads are started once per process. A process that was forked has none of its parent's threads, so it
/// starts its own.
static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Pools {
    process: u32,
    pools: Vec<Arc<ThreadPool>>,
}

/// How many threads are meant: one per core if nothing was said.
pub fn count(py: Python<'_>, threads: Option<usize>) -> PyResult<usize> {
    let count = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if (1..=MOST).contains(&count) {
        return Ok(count);
    }
    Err(errors::input(py, format!("threads must be from 1 to {MOST}, found {count}")))
}

/// A pool of that many threads, or of one per core.
pub fn pool(py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let count = count(py, threads)?;
    let mut known = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if known.process != std::process::id() {
        // Those of a parent cannot even be ended here.
        std::mem::forget(std::mem::take(&mut known.pools));
        known.process = std::process::id();
    }
    if let Some(pool) = known.pools.iter().find(|pool| pool.current_num_threads() == count) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    let pool = Arc::new(pool.map_err(|e| errors::input(py, format!("{count} threads cannot be started: {e}")))?);
    known.pools.push(pool.clone());
    Ok(pool)
}

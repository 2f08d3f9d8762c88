//! Threads for batches.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// Most threads one may ask for.
const MOST: usize = 1024;

/// Pools that exist, by their number of threads: threads are started once per process.
static POOLS: LazyLock<Mutex<Vec<Arc<ThreadPool>>>> = LazyLock::new(Mutex::default);

/// A pool of that many threads, or of one per core.
pub fn pool(py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let count = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if !(1..=MOST).contains(&count) {
        return Err(errors::input(py, format!("threads must be from 1 to {MOST}, found {count}")));
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.iter().find(|pool| pool.current_num_threads() == count) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    let pool = Arc::new(pool.map_err(|e| errors::input(py, format!("{count} threads cannot be started: {e}")))?);
    pools.push(pool.clone());
    Ok(pool)
}

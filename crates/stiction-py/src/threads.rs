//! Threads for batches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use stiction_lcp::interrupt::interruptible;

use crate::interrupt::LOOK;
use crate::{arrays, errors};

/// Most threads one may ask for.
const MOST: usize = 1024;
/// Most pools that are kept.
const MOST_IDLE: usize = 16;

/// Pools that nobody uses at the moment: threads are started once, not per call. A process that was forked has none of its parent's threads, so it
/// starts its own.
static IDLE: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Pools {
    process: u32,
    pools: Vec<ThreadPool>,
}

/// A pool for one caller alone, so that callers in several threads do not wait for each other. It is kept for the next one.
pub(crate) struct Lent {
    process: u32,
    pool: Option<ThreadPool>,
}

/// A number of threads that was asked for.
pub(crate) fn asked(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    threads.map(|threads| within(threads.py(), arrays::count("threads", 1, threads)?)).transpose()
}

/// Checks that so many threads can be had.
pub(crate) fn within(py: Python<'_>, count: usize) -> PyResult<usize> {
    if (1..=MOST).contains(&count) {
        return Ok(count);
    }
    Err(errors::input(py, format!("threads must be from 1 to {MOST}, found {count}")))
}

/// How many threads are meant: one per core if nothing was asked for.
pub(crate) fn count(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from).min(MOST))
}

/// A pool of that many threads, or of one per core.
pub(crate) fn pool(py: Python<'_>, asked: Option<usize>) -> PyResult<Lent> {
    let (count, process) = (count(asked), std::process::id());
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.process != process {
        // Those of a parent cannot even be ended here.
        std::mem::forget(std::mem::take(&mut idle.pools));
        idle.process = process;
    }
    if let Some(k) = idle.pools.iter().position(|pool| pool.current_num_threads() == count) {
        return Ok(Lent { process, pool: Some(idle.pools.swap_remove(k)) });
    }
    drop(idle);
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    let pool = pool.map_err(|e| errors::input(py, format!("{count} threads cannot be started: {e}")))?;
    Ok(Lent { process, pool: Some(pool) })
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pool) = self.pool.take() else { return };
        if idle.process != self.process {
            std::mem::forget(pool);
        } else if idle.pools.len() < MOST_IDLE {
            idle.pools.push(pool);
        }
    }
}

/// Does `work` on a pool without the GIL. This thread looks for Ctrl-C meanwhile; `work` is told by its argument, and must then end soon.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    pool: &Lent,
    work: impl FnOnce(&Arc<AtomicBool>) -> R + Send,
) -> PyResult<R> {
    let (stop, mut signal, mut result) = (Arc::new(AtomicBool::new(false)), Ok(()), None);
    let pool =
        pool.pool.as_ref().ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("the pool was given back"))?;
    py.detach(|| {
        let (done, ended) = channel::<()>();
        pool.in_place_scope(|scope| {
            let (stop, result) = (&stop, &mut result);
            scope.spawn(move |_| {
                *result = Some(work(stop));
                drop(done);
            });
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if signal.is_ok() {
                    signal = Python::attach(|py| py.check_signals());
                    stop.store(signal.is_err(), Ordering::Relaxed);
                }
            }
        });
    });
    signal?;
    result.ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("a thread ended before its work did"))
}

/// What `of` gives for each item, in their order.
pub(crate) fn map<I: Sync, R: Send>(
    py: Python<'_>,
    pool: &Lent,
    items: &[I],
    of: impl Fn(&I) -> R + Sync,
) -> PyResult<Vec<R>> {
    let all = watched(py, pool, |stop| {
        let each = items.par_iter().with_max_len(1);
        let of = |item| {
            let stop = stop.clone();
            let asked = move || stop.load(Ordering::Relaxed);
            if asked() { None } else { interruptible(asked, || of(item)).ok() }
        };
        each.map(of).collect::<Vec<_>>()
    })?;
    Ok(all.into_iter().flatten().collect())
}

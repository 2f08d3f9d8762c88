//! The threads that share work.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

use super::Threads;
use crate::interrupt::{self, interruptible};

/// Between two looks for an interruption while other threads finish.
const INTERRUPTION_INTERVAL: Duration = Duration::from_millis(5);

/// Looks for more work before a helper sleeps, about a microsecond each: as long as one thread works
/// alone between two parts of a step that are shared. To wake a helper that sleeps takes as long as
/// many of these parts.
const LOOKS_BEFORE_SLEEP: usize = 400;

thread_local! {
    /// The pool that this thread is part of together with its helpers.
    static POOL: OnceCell<Option<Pool>> = const { OnceCell::new() };

    /// This helper looks for work.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// The threads of a pool, of the process that started them.
struct Pool {
    process: u32,
    threads: Option<ThreadPool>,
    /// Helpers that look for work.
    looking: Arc<AtomicUsize>,
}

impl Pool {
    /// The calling thread and its helpers; `None` if it is part of another pool.
    fn start(count: usize) -> Option<Self> {
        let count = count.max(Threads::one_per_core().0);
        let threads = ThreadPoolBuilder::new().num_threads(count).use_current_thread().build().ok()?;
        Some(Self { process: std::process::id(), threads: Some(threads), looking: Arc::default() })
    }

    /// Lets as many helpers look for work until there is none for a while.
    fn call_helpers(&self, threads: &ThreadPool, count: usize) {
        while self.looking.load(Ordering::Relaxed) < count {
            self.looking.fetch_add(1, Ordering::Relaxed);
            let looking = self.looking.clone();
            threads.spawn(move || {
                look_for_work();
                looking.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// The threads, unless they stayed behind in the parent of a process that was forked.
    fn threads(&self) -> Option<&ThreadPool> {
        self.threads.as_ref().filter(|_| self.process == std::process::id())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Threads of a parent process cannot even be ended here.
        if self.process != std::process::id() {
            std::mem::forget(self.threads.take());
        }
    }
}

/// The work of [`Threads::share`] by the caller's thread, with `own`, and by as many helpers as there are further workspaces.
pub(super) fn share<W: Send, I: Send>(
    count: usize,
    own: &mut W,
    helpers: &mut [W],
    items: impl DoubleEndedIterator<Item = I> + Send,
    work: impl Fn(&mut W, I) + Sync,
) {
    POOL.with(|pool| {
        let pool = if helpers.is_empty() { None } else { pool.get_or_init(|| Pool::start(count)).as_ref() };
        match pool.and_then(|pool| Some((pool, pool.threads()?))) {
            Some((pool, threads)) => {
                pool.call_helpers(threads, helpers.len());
                share_in(threads, own, helpers, items, work);
            }
            None => items.for_each(|item| work(own, item)),
        }
    });
}

/// Does what there is to do until there is nothing for a while. The caller's own thread, which is the first, has other work,
/// and a helper that looks already is enough.
fn look_for_work() {
    if rayon::current_thread_index() == Some(0) || IS_LOOKING.replace(true) {
        return;
    }
    let mut idle = 0;
    while idle < LOOKS_BEFORE_SLEEP {
        if rayon::yield_now() == Some(Yield::Executed) {
            idle = 0;
        } else {
            idle += 1;
            thread::yield_now();
        }
    }
    IS_LOOKING.set(false);
}

/// As [`share`], with a job for each of `helpers`. One that no helper has begun when all items are taken ends
/// at once in the caller's thread, so that nobody waits for a helper to wake.
fn share_in<W: Send, I: Send>(
    threads: &ThreadPool,
    own: &mut W,
    helpers: &mut [W],
    items: impl DoubleEndedIterator<Item = I> + Send,
    work: impl Fn(&mut W, I) + Sync,
) {
    let (items, join) = (Mutex::new(items), Arc::new(Join::new()));
    let take = |first: bool| {
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        match join.ends.load(Ordering::Relaxed) {
            true => None,
            false if first => items.next(),
            false => items.next_back(),
        }
    };
    let (take, work, interrupted) = (&take, &work, interrupt::is_active());
    threads.scope(|scope| {
        // Whatever makes this thread leave early ends the others' work too.
        let _end = EndOnPanic(&join);
        for workspace in helpers {
            let join = join.clone();
            scope.spawn(move |_| {
                let (_at_work, _end) = (AtWork::new(&join), EndOnPanic(&join));
                let mut all = || {
                    while let Some(item) = take(false) {
                        work(workspace, item);
                    }
                };
                if interrupted {
                    let join = join.clone();
                    // If it is interrupted, so is the caller, and nobody looks at what is left here.
                    let _ = interruptible(move || join.ends.load(Ordering::Relaxed), all);
                } else {
                    all();
                }
            });
        }
        while let Some(item) = take(true) {
            work(own, item);
        }
        // The scope waits for the helpers, but does not look for interruptions.
        while interrupted && join.at_work.load(Ordering::Acquire) > 0 {
            interrupt::check();
            thread::park_timeout(INTERRUPTION_INTERVAL);
        }
    });
}

/// What the threads of a piece of work know of each other.
struct Join {
    caller: Thread,
    /// Helpers that have begun and not ended.
    at_work: AtomicUsize,
    /// All are to end.
    ends: AtomicBool,
}

impl Join {
    fn new() -> Self {
        Self { caller: thread::current(), at_work: AtomicUsize::new(0), ends: AtomicBool::new(false) }
    }
}

/// Ends everybody's work when its owner unwinds.
struct EndOnPanic<'a>(&'a Join);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.ends.store(true, Ordering::Relaxed);
        }
    }
}

/// A helper's time at work, of whose end the caller is told.
struct AtWork<'a>(&'a Join);

impl<'a> AtWork<'a> {
    fn new(join: &'a Join) -> Self {
        join.at_work.fetch_add(1, Ordering::Relaxed);
        Self(join)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if self.0.at_work.fetch_sub(1, Ordering::Release) == 1 {
            self.0.caller.unpark();
        }
    }
}

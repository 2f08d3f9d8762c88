//! Work shared by several threads, which none of its results shows.
//!
//! Every item of work is done by one thread from start to end, and writes its own result. Which
//! thread does it is left to chance; a workspace must not carry anything from item to item that
//! changes a result.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::interrupt::{self, interruptible};

/// Most threads one may ask for.
pub const MOST_THREADS: usize = 1024;

/// Between two looks for an interruption while other threads finish.
const LOOK: Duration = Duration::from_millis(5);

thread_local! {
    /// The pool that this thread is part of together with its helpers.
    static POOL: OnceCell<Option<Pool>> = const { OnceCell::new() };
}

/// How many threads a computation may have: the caller's own and helpers, which are started when
/// there is first work for them, and stay until the caller's thread ends.
///
/// A caller that is itself one of the threads of a pool, as in a batch, has no helpers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads(usize);

impl Default for Threads {
    /// The caller's own alone.
    fn default() -> Self {
        Self(1)
    }
}

impl Threads {
    /// So many threads, from 1 to [`MOST_THREADS`], the caller's own among them.
    pub fn new(count: usize) -> Self {
        Self(count.clamp(1, MOST_THREADS))
    }

    /// One thread per core.
    pub fn one_per_core() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }

    /// How many threads are worth their start where this much work can be left to helpers, each of
    /// which should have at least `grain` of it.
    pub fn worth(&self, for_helpers: usize, grain: usize) -> usize {
        (1 + for_helpers / grain.max(1)).min(self.0)
    }

    /// Calls `work` for all items, each with the workspace of the thread that does it: as many
    /// threads as there are workspaces, at most. Items are begun in their order. An
    /// [interruption](crate::interrupt) of the caller ends the work of all threads.
    ///
    /// # Panics
    /// If there is no workspace.
    pub fn share<W: Send, I: Send>(
        &self,
        workspaces: &mut [W],
        items: impl Iterator<Item = I> + Send,
        work: impl Fn(&mut W, I) + Sync,
    ) {
        let count = workspaces.len().min(self.0);
        let (own, helpers) = workspaces[..count].split_first_mut().expect("a workspace for the caller's thread");
        POOL.with(|pool| {
            let pool = if helpers.is_empty() { None } else { pool.get_or_init(|| Pool::start(self.0)).as_ref() };
            match pool.and_then(Pool::threads) {
                Some(threads) => share(threads, own, helpers, items, work),
                None => items.for_each(|item| work(own, item)),
            }
        });
    }
}

/// The threads of a pool, of the process that started them.
struct Pool {
    process: u32,
    threads: Option<ThreadPool>,
}

impl Pool {
    /// The calling thread and its helpers; `None` if it is part of another pool.
    fn start(count: usize) -> Option<Self> {
        let count = count.max(Threads::one_per_core().0);
        let threads = ThreadPoolBuilder::new().num_threads(count).use_current_thread().build().ok()?;
        Some(Self { process: std::process::id(), threads: Some(threads) })
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

/// As [`Threads::share`], with a job for each of `helpers`. One that no helper has begun when all items are taken ends
/// at once in the caller's thread, so that nobody waits for a helper to wake.
fn share<W: Send, I: Send>(
    threads: &ThreadPool,
    own: &mut W,
    helpers: &mut [W],
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(&mut W, I) + Sync,
) {
    let (items, join) = (Mutex::new(items), Arc::new(Join::new()));
    let next = || {
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        if join.ends.load(Ordering::Relaxed) { None } else { items.next() }
    };
    let (next, work, interrupted) = (&next, &work, interrupt::is_active());
    threads.scope(|scope| {
        // Whatever makes this thread leave early ends the others' work too.
        let _end = EndOnPanic(&join);
        for workspace in helpers {
            let join = join.clone();
            scope.spawn(move |_| {
                let (_at_work, _end) = (AtWork::new(&join), EndOnPanic(&join));
                let mut all = || {
                    while let Some(item) = next() {
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
        while let Some(item) = next() {
            work(own, item);
        }
        // The scope waits for the helpers, but does not look for interruptions.
        while interrupted && join.at_work.load(Ordering::Acquire) > 0 {
            interrupt::check();
            thread::park_timeout(LOOK);
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

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::interrupt::Interrupted;

    #[test]
    fn every_item_is_done_once_by_any_number_of_threads() {
        for count in [1, 2, 4] {
            let threads = Threads::new(count);
            let mut items: Vec<usize> = (0..1000).collect();
            let mut done = vec![0; count];
            threads.share(&mut done, items.iter_mut(), |done, item| {
                *done += 1;
                *item *= 2;
            });
            assert!(items.iter().enumerate().all(|(k, item)| *item == 2 * k));
            assert_eq!(done.iter().sum::<usize>(), 1000);
        }
    }

    #[test]
    fn threads_are_worth_their_start_from_a_grain_of_work_on() {
        let threads = Threads::new(4);
        assert_eq!([0, 9, 10, 29, 1000].map(|work| threads.worth(work, 10)), [1, 1, 2, 3, 4]);
    }

    #[test]
    fn an_interruption_reaches_work_in_any_thread() {
        // Whichever thread has which item: both are endless.
        let mut left = 100;
        let asked = move || {
            left -= 1;
            left == 0
        };
        let endless = |_: &mut (), _| {
            loop {
                interrupt::check();
            }
        };
        let ended = interruptible(asked, || Threads::new(2).share(&mut [(), ()], 0..2, endless));
        assert_eq!(ended, Err(Interrupted));
    }

    #[test]
    fn an_interruption_reaches_helpers_while_the_caller_waits() {
        let caller = thread::current().id();
        let asked = {
            let mut left = 3;
            move || {
                left -= 1;
                left == 0
            }
        };
        let begun = AtomicBool::new(false);
        let helper_is_endless = |_: &mut (), _| {
            while thread::current().id() != caller {
                begun.store(true, Ordering::Relaxed);
                interrupt::check();
            }
            while !begun.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        };
        let ended = interruptible(asked, || Threads::new(2).share(&mut [(), ()], 0..2, helper_is_endless));
        assert_eq!(ended, Err(Interrupted));
    }

    #[test]
    fn a_fault_of_a_helper_is_the_callers() {
        let fault = |_: &mut (), item: usize| {
            if item == 500 {
                std::panic::resume_unwind(Box::new("fault"));
            }
        };
        let caught = catch_unwind(AssertUnwindSafe(|| Threads::new(2).share(&mut [(), ()], 0..1000, fault)));
        assert_eq!(caught.err().and_then(|p| p.downcast_ref::<&str>().copied()), Some("fault"));
    }
}

//! Work shared by several threads, which none of its results shows.
//!
//! Every item of work is done by one thread from start to end, and writes its own result. Which
//! thread does it is left to chance; a workspace must not carry anything from item to item that
//! changes a result.

#[cfg(feature = "threads")]
mod pool;

use std::thread;

use crate::interrupt;

/// Most threads one may ask for.
pub const MOST_THREADS: usize = 1024;

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
    /// threads as there are workspaces, at most. The caller has the first workspace and takes the
    /// items from the first on, helpers take them from the last on: those of the caller are the
    /// first ones, and an item that comes again step after step mostly stays with its thread, and
    /// in the memory near it. An [interruption](crate::interrupt) of the caller ends the work of
    /// all threads.
    ///
    /// # Panics
    /// If there is no workspace.
    pub fn share<W: Send, I: Send>(
        &self,
        workspaces: &mut [W],
        items: impl DoubleEndedIterator<Item = I> + Send,
        work: impl Fn(&mut W, I) + Sync,
    ) {
        // Helpers may do all of the work before the caller gets to look for itself.
        interrupt::check();
        let count = workspaces.len().min(self.0);
        let (own, helpers) = workspaces[..count].split_first_mut().expect("a workspace for the caller's thread");
        #[cfg(feature = "threads")]
        pool::share(self.0, own, helpers, items, work);
        #[cfg(not(feature = "threads"))]
        {
            let _ = helpers;
            items.for_each(|item| work(own, item));
        }
    }
}

#[cfg(feature = "threads")]
#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::interrupt::{Interrupted, interruptible};

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
    fn the_caller_has_the_first_items() {
        let mut of_thread = [vec![], vec![]];
        Threads::new(2).share(&mut of_thread, 0..1000, |own: &mut Vec<usize>, item| {
            own.push(item);
            thread::yield_now();
        });
        let [own, helpers] = of_thread;
        assert!(own.iter().copied().eq(0..own.len()));
        assert!(helpers.iter().rev().copied().eq(own.len()..1000));
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

//! Ending a computation early, such as by Ctrl-C.
//!
//! The main loops of all solvers call [`check`]: once per pivot, iteration or column of a
//! factorization, and more often where one of these is long ([`check_at`]). It does nothing unless the computation runs under [`interruptible`], so results
//! never depend on it. Once the caller asks for the end, the computation is abandoned by unwinding:
//! it returns nothing, so that no part of it can be taken for an answer.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Asked = Box<dyn FnMut() -> bool>;

thread_local! {
    /// Whether this thread computes under [`interruptible`].
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    /// Says whether the caller wants the end.
    static ASKED: Cell<Option<Asked>> = const { Cell::new(None) };
}

/// A computation that was ended by its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Does `work`, which is abandoned at the next [`check`] of this thread for which `asked` returns
/// true.
///
/// Solvers, models and simulations that were at work when it was abandoned are in no defined state:
/// drop them, or build a simulation anew and restore a snapshot of before. The threads of
/// [`Threads::share`](crate::threads::Threads::share) are interrupted with it; others that `work`
/// starts are not. Needs panics that unwind, which is the default.
///
/// # Errors
/// [`Interrupted`] if the work was abandoned.
pub fn interruptible<R>(asked: impl FnMut() -> bool + 'static, work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    let _outer = Outer(exchange(Some(Box::new(asked))));
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        if payload.is::<Interrupted>() {
            return Interrupted;
        }
        resume_unwind(payload)
    })
}

/// True if this thread computes under [`interruptible`].
pub fn is_active() -> bool {
    ACTIVE.get()
}

/// Abandons the computation of this thread if the caller of [`interruptible`] asks for it.
#[inline]
pub fn check() {
    if ACTIVE.get() {
        ask();
    }
}

/// [`check`] for item `i` of a long loop over short items: looks at every 64th of them, none in short
/// loops.
#[inline]
pub fn check_at(i: usize) {
    const EVERY: usize = 64;
    if i % EVERY == EVERY - 1 {
        check();
    }
}

#[cold]
fn ask() {
    // Taken out meanwhile: it may run a signal handler that solves something itself.
    let Some(mut asked) = exchange(None) else { return };
    let end = asked();
    exchange(Some(asked));
    if end {
        resume_unwind(Box::new(Interrupted));
    }
}

fn exchange(asked: Option<Asked>) -> Option<Asked> {
    ACTIVE.set(asked.is_some());
    ASKED.replace(asked)
}

/// What the caller's own caller asked by, put back when the work ends in any way.
struct Outer(Option<Asked>);

impl Drop for Outer {
    fn drop(&mut self) {
        exchange(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn work_without_a_caller_who_asks_goes_on() {
        check();
        assert_eq!(interruptible(|| false, || (0..3).map(|i| (check(), i).1).sum::<i32>()), Ok(3));
    }

    #[test]
    fn work_ends_at_the_check_that_is_asked_to_and_no_later() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let (mut left, log) = (3, seen.clone());
        let asked = move || {
            left -= 1;
            left == 0
        };
        let ended = interruptible(asked, || {
            for i in 0.. {
                check();
                log.borrow_mut().push(i);
            }
        });
        assert_eq!((ended, &*seen.borrow()), (Err(Interrupted), &vec![0, 1]));
        check();
    }

    #[test]
    fn an_inner_call_gives_the_outer_one_its_turn_again() {
        let outer = interruptible(
            || true,
            || {
                assert_eq!(interruptible(|| false, check), Ok(()));
                assert_eq!(interruptible(|| true, check), Err(Interrupted));
                check();
                unreachable!();
            },
        );
        assert_eq!(outer, Err(Interrupted));
    }

    #[test]
    fn what_asks_may_solve_something_itself() {
        let asked = || interruptible(|| false, || (check(), true).1) == Ok(true);
        assert_eq!(interruptible(asked, check), Err(Interrupted));
    }

    #[test]
    fn other_panics_pass_through() {
        let caught = catch_unwind(|| interruptible(|| true, || resume_unwind(Box::new("fault"))));
        assert_eq!(caught.err().and_then(|p| p.downcast_ref::<&str>().copied()), Some("fault"));
        check();
    }
}

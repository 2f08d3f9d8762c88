//! Every solver can be ended early: it then gives nothing, and asking alone changes nothing.

use std::cell::Cell;
use std::rc::Rc;

use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::interrupt::{Interrupted, interruptible};
use stiction_lcp::{Lcp, Matrix, Options, Outcome};

/// Symmetric and positive definite, with about half of its rows active.
fn problem(n: usize) -> Lcp {
    let m = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => 2.5,
        1 => -1.0,
        _ => 0.0,
    });
    Lcp::new(m, (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 0.45 }).collect()).unwrap()
}

fn solve(solver: &str, problem: &Lcp) -> Outcome {
    build(solver, &Options::default()).unwrap().solve_from(problem.into(), None).unwrap()
}

/// The outcome, or nothing if the solve was asked to end at its `end`-th look; and how often it
/// looked.
fn solve_until(end: usize, solver: &str, problem: &Lcp) -> (Result<Outcome, Interrupted>, usize) {
    let looks = Rc::new(Cell::new(0));
    let seen = looks.clone();
    let asked = move || {
        seen.set(seen.get() + 1);
        seen.get() == end
    };
    let outcome = interruptible(asked, || solve(solver, problem));
    (outcome, looks.get())
}

#[test]
fn every_solver_looks_and_asking_changes_nothing() {
    let problem = problem(9);
    for entry in CATALOG {
        let (outcome, looks) = solve_until(usize::MAX, entry.name, &problem);
        assert!(looks > 0, "{} never looks", entry.name);
        assert_eq!(format!("{:?}", outcome.unwrap()), format!("{:?}", solve(entry.name, &problem)), "{}", entry.name);
    }
}

#[test]
fn every_solver_ends_wherever_it_is_asked_to() {
    let problem = problem(9);
    for entry in CATALOG {
        let looks = solve_until(usize::MAX, entry.name, &problem).1;
        for end in [1, looks / 2, looks] {
            let (outcome, last) = solve_until(end.max(1), entry.name, &problem);
            assert_eq!((outcome.err(), last), (Some(Interrupted), end.max(1)), "{}", entry.name);
        }
    }
}

#[test]
fn large_problems_look_once_per_pivot() {
    let problem = problem(150);
    for solver in ["lemke", "dantzig", "principal-pivot", "nnls", "modified-ppm"] {
        let (outcome, looks) = solve_until(usize::MAX, solver, &problem);
        let pivots = outcome.unwrap().stats().pivots;
        assert!(pivots >= 50 && looks >= pivots, "{solver}: {looks} looks in {pivots} pivots");
    }
}

/// A pivot of a large problem is itself long: it is looked up from within.
#[test]
fn a_long_pivot_is_looked_up_from_within() {
    const FLOPS_BETWEEN_LOOKS: u64 = 1_500_000;
    let n = 600;
    // All rows active, and no zeros to skip.
    let m = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 } else { 1.0 / (1 + i.abs_diff(j)) as f64 });
    let problem = Lcp::new(m, (0..n).map(|i| -1.0 - (i % 7) as f64).collect()).unwrap();
    let (outcome, looks) = solve_until(usize::MAX, "dantzig", &problem);
    let flops = outcome.unwrap().stats().flops;
    assert!(flops > 100_000_000, "{flops}");
    assert!(looks as u64 * FLOPS_BETWEEN_LOOKS > flops, "{looks} looks in {flops} floating-point operations");
}

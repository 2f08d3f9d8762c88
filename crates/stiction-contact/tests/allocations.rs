//! No allocation where sizes have settled: building a problem again.
//!
//! One test, for the counter is one for the whole process.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_contact::{Contact, ContactProblem, Mass};
use stiction_lcp::Matrix;

#[global_allocator]
static COUNTER: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations and reallocations while `work` runs, and its result.
fn allocations<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let region = Region::new(COUNTER);
    let result = work();
    let change = region.change();
    (change.allocations + change.reallocations, result)
}

/// Builds `problem` again: other numbers, `count` rows of each kind.
fn rebuild(problem: &mut ContactProblem, masses: &[Matrix], count: usize) {
    let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    problem.reset(&[count as f64; 6], &[1.0; 6], 1e-3).unwrap();
    problem.set_mass(masses).unwrap();
    for k in 0..count {
        let spin: &[(usize, &[f64])] = &[(0, &t)];
        problem
            .add_contact(Contact { spin, mu: k as f64, ..Contact::new(&[(1, &n), (0, &s)], &[(0, &s)], &[(1, &t)]) })
            .unwrap();
        problem.add_bilateral(&[(0, &n)], 0.0, 0.0).unwrap();
        problem.add_limit(&[(1, &s)], 0.1, 0.0, 0.0).unwrap();
        problem.add_bounded(&[(0, &t), (1, &s)], -1.0, 1.0, 0.0, 0.0).unwrap();
    }
}

fn a_problem_built_again_allocates_nothing() {
    let masses = |a: f64| vec![Matrix::from_fn(3, 3, |i, j| if i == j { a } else { 0.1 }); 2];
    let mut problem = ContactProblem::new(Mass::new(masses(1.0)).unwrap(), vec![0.0; 6], vec![0.0; 6], 1e-3).unwrap();
    rebuild(&mut problem, &masses(2.0), 20);
    let other = masses(3.0);
    let (count, ()) = allocations(|| (0..=20).for_each(|k| rebuild(&mut problem, &other, k)));
    assert_eq!(count, 0, "building a problem again");
}

#[test]
fn nothing_is_allocated_where_sizes_have_settled() {
    assert_eq!(allocations(|| vec![1.0; 10]).0, 1, "the counter counts");
    a_problem_built_again_allocates_nothing();
}

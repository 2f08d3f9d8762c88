//! No allocation per pivot, and none at all for a certificate.
//!
//! One test, for the counter is one for the whole process.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_lcp::catalog::build;
use stiction_lcp::generate::Rng;
use stiction_lcp::{BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Options, Outcome, Problem, Solver, certify};

#[global_allocator]
static COUNTER: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Order of the problems.
const N: usize = 48;

/// Allocations and reallocations while `work` runs, and its result.
fn allocations<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let region = Region::new(COUNTER);
    let result = work();
    let change = region.change();
    (change.allocations + change.reallocations, result)
}

fn pivots(outcome: &Outcome) -> usize {
    assert!(outcome.solved().is_some(), "{outcome:?}");
    outcome.stats().pivots
}

/// A factor of full rank, one problem that is solved in few pivots and one that takes many.
fn few_and_many(factored: bool) -> [Problem; 2] {
    let mut rng = Rng::new(1);
    let g = Matrix::from_fn(N, N, |i, j| rng.normal() + if i == j { 8.0 } else { 0.0 });
    let q = |negative: usize| (0..N).map(|i| if i < negative { -1.0 - i as f64 } else { 100.0 }).collect::<Vec<f64>>();
    [1, N].map(|negative| {
        let problem = FactoredLcp::new(g.clone(), q(negative)).unwrap();
        if factored { problem.into() } else { problem.to_dense() }
    })
}

fn no_allocation_per_pivot(solver: &mut dyn Solver, [few, many]: &[Problem; 2]) {
    let place = solver.name();
    let mut run = |problem: &Problem| allocations(|| solver.solve_from(problem.as_ref(), None).unwrap());
    run(many);
    run(few);
    let (with_few, outcome) = run(few);
    let few_pivots = pivots(&outcome);
    let (with_many, outcome) = run(many);
    let many_pivots = pivots(&outcome);
    eprintln!("{place}: {with_few} for {few_pivots} pivots, {with_many} for {many_pivots}");
    assert!(many_pivots >= few_pivots + N / 2, "{place}: {few_pivots} and {many_pivots} pivots");
    assert_eq!(with_many, with_few, "{place}: allocations for {many_pivots} and for {few_pivots} pivots");
}

fn a_certificate_allocates_nothing() {
    let [few, _] = few_and_many(false);
    let Problem::Lcp(lcp) = &few else { panic!("an LCP") };
    let free = (0..N).map(|i| i % 3 == 0).collect();
    let problems: [Problem; 4] = [
        Mlcp::new(lcp.m().clone(), lcp.q().to_vec(), free).unwrap().into(),
        BoxLcp::new(lcp.m().clone(), lcp.q().to_vec(), vec![-1.0; N], vec![1.0; N]).unwrap().into(),
        few_and_many(true)[1].clone(),
        few,
    ];
    for problem in &problems {
        // A z that is none at all goes through twice the working precision as well.
        for z in [vec![0.0; N], vec![0.3; N], vec![f64::NAN; N]] {
            let mut w = vec![0.0; N];
            let (count, _) = allocations(|| certify(problem.as_ref(), &z, &mut w));
            assert_eq!(count, 0, "{}", problem.as_ref().kind());
        }
    }
    let large = Lcp::new(Matrix::identity(1000), vec![-1.0; 1000]).unwrap();
    let (z, mut w) = (vec![1.0; 1000], vec![0.0; 1000]);
    assert_eq!(allocations(|| certify((&large).into(), &z, &mut w)).0, 0);
}

#[test]
fn a_pivot_and_a_certificate_allocate_nothing() {
    assert_eq!(allocations(|| vec![1.0; 10]).0, 1, "the counter counts");
    a_certificate_allocates_nothing();
    for name in ["lemke", "dantzig", "principal-pivot", "modified-ppm", "nnls"] {
        no_allocation_per_pivot(build(name, &Options::default()).unwrap().as_mut(), &few_and_many(false));
    }
    for name in ["modified-ppm", "nnls"] {
        no_allocation_per_pivot(build(name, &Options::default()).unwrap().as_mut(), &few_and_many(true));
    }
}

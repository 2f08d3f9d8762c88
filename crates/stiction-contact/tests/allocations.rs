//! No allocation where sizes have settled: building a problem again, and solving it in a loop that gives outcomes back.
//!
//! One test, for the counter is one for the whole process.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_contact::certificate::cone::ConeLaw;
use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method, PolyhedralOptions};
use stiction_contact::models::{Frictionless, NoSlip, NoSlipOptions, NormalOptions};
use stiction_contact::scenes::{Body, Recipe, Touch, assemble};
use stiction_contact::{
    Certifier, Contact, ContactForces, ContactModel, ContactOutcome, ContactProblem, CoulombCone, Level, Mass, scenes,
};
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

/// Two islands: a stack of two boxes pushed sideways, and a box with a joint limit and a motor.
fn two_islands() -> ContactProblem {
    let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)];
    let mut bodies = [0.0, 1.0, 0.0].map(|z| Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, z + 0.5]));
    bodies.iter_mut().for_each(|body| body.force = [0.3, 0.1, -9.81]);
    let touches: Vec<Touch> = [(0, None), (1, Some(0)), (2, None)]
        .into_iter()
        .flat_map(|(body, on)| corners.map(|(x, y)| (body, on, [x, y, if on.is_some() { 1.0 } else { 0.0 }])))
        .map(|(body, on, point)| Touch { mu: 0.3, ..Touch::new(body, on, point, [0.0, 0.0, 1.0]) })
        .collect();
    let mut problem = assemble(&bodies, &touches, 1e-3).unwrap();
    let along = |k: usize| std::array::from_fn::<f64, 6, _>(|i| if i == k { 1.0 } else { 0.0 });
    problem.add_limit(&[(2, &along(0))], 0.0, 0.0, 0.0).unwrap();
    problem.add_bounded(&[(2, &along(1))], -0.05, 0.05, 0.0, 0.0).unwrap();
    problem
}

/// Allocations in steps that follow each other, each from the last solution and giving the one before back. Sizes have settled when the same steps
/// were made twice before: storage is exchanged between two answers.
fn in_steps(model: &mut dyn ContactModel, problem: &mut ContactProblem) -> usize {
    const STEPS: usize = 20;
    let force = problem.force().to_vec();
    let mut counts = [0; 3];
    for count in &mut counts {
        let (mut v, mut last) = (vec![0.0; problem.m()], None::<ContactOutcome>);
        for step in 0..STEPS {
            problem.set_motion(&v, &force).unwrap();
            let start = last.as_ref().and_then(|last| last.solved()).map(|solution| &solution.warm_start);
            let (here, outcome) = allocations(|| model.solve_from(problem, start).unwrap());
            v.copy_from_slice(&outcome.solved().unwrap_or_else(|| panic!("step {step}: {outcome:?}")).motion);
            let (there, ()) = allocations(|| last.replace(outcome).into_iter().for_each(|last| model.recycle(last)));
            *count += here + there;
        }
        last.into_iter().for_each(|last| model.recycle(last));
    }
    counts[2]
}

/// Runs per model and scene.
const RUNS: usize = 4;

fn a_step_allocates_nothing() {
    let models: [Box<dyn ContactModel>; 4] = [
        Box::new(NoSlip::new(NoSlipOptions::default())),
        Box::new(Frictionless::new(Level::Velocity, NormalOptions::default())),
        Box::new(CoulombPolyhedral::new(PolyhedralOptions::default()).unwrap()),
        Box::new(CoulombCone::default()),
    ];
    for mut model in models {
        for (scene, mut problem) in [("grasp", scenes::grasp(2, 100.0, 1e-3).unwrap()), ("two islands", two_islands())]
        {
            // The harness's own thread allocates now and then: the least of a few runs is the model's.
            let count = (0..RUNS).map(|_| in_steps(model.as_mut(), &mut problem)).min().unwrap_or(0);
            assert_eq!(count, 0, "{} on {scene}", model.name());
        }
    }
}

/// Vectors of an outcome: forces, motion, modes, basis and their copies for the next start.
const ANSWER: usize = 40;

/// The pivots of Lloyd's structural and reduced methods allocate nothing: what a solve allocates is its answer.
fn no_allocation_per_pivot() {
    let problem = scenes::body_in_bowl(64, 0.3, 0.0, 5).unwrap();
    for (method, least) in [(Method::Structural, 100), (Method::Reduced, 10)] {
        let mut model = CoulombPolyhedral::new(PolyhedralOptions { method, ..PolyhedralOptions::default() }).unwrap();
        model.solve(&problem).unwrap();
        let (made, outcome) = allocations(|| model.solve(&problem).unwrap());
        let stats = &outcome.solved().expect("solved").stats;
        assert_eq!(stats.fallbacks, 0);
        assert!(stats.pivots >= least, "{method:?}: {} pivots", stats.pivots);
        assert!(made <= ANSWER, "{method:?}: {made} allocations in {} pivots", stats.pivots);
    }
}

/// The harness's own thread allocates now and then: the least of many counts is the certificate's.
fn a_second_certificate_allocates_nothing() {
    let recipe = Recipe { coulomb: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let problem = scenes::random(&recipe, 5).unwrap();
    let (forces, motion) = (ContactForces::zeros(&problem), vec![0.1; problem.m()]);
    let (mut certifier, law) = (Certifier::default(), ConeLaw { level: Level::Velocity });
    let mut count = || allocations(|| certifier.certify(&problem, &law, &forces, &motion)).0;
    assert!(count() > 0, "the counter counts");
    assert_eq!((0..1000).map(|_| count()).min(), Some(0));
}

#[test]
fn nothing_is_allocated_where_sizes_have_settled() {
    assert_eq!(allocations(|| vec![1.0; 10]).0, 1, "the counter counts");
    a_problem_built_again_allocates_nothing();
    a_step_allocates_nothing();
    no_allocation_per_pivot();
    a_second_certificate_allocates_nothing();
}

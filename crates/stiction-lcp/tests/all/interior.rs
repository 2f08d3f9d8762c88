//! The interior point methods over classes, kinds and scales of problems.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::interior_point::{FeasibleInteriorPoint, FeasibleSettings, InteriorPoint};
use stiction_lcp::matrix::dot;
use stiction_lcp::{
    Basis, BoxLcp, FactoredLcp, InputError, Lcp, Matrix, Mlcp, Options, Outcome, ProblemRef, Solver, StopReason,
    certify,
};

/// A solution must pass the certificate, and solving again from its basis must take nothing.
fn check_solved(solver: &mut dyn Solver, problem: ProblemRef<'_>, outcome: &Outcome) -> bool {
    let Some(solved) = outcome.solved() else { return false };
    let mut w = vec![0.0; problem.n()];
    assert!(certify(problem, &solved.z, &mut w).holds(1e-10));
    let again = solver.solve_from(problem, Some(&solved.basis)).unwrap();
    assert!(again.solved().is_some(), "{again:?}");
    assert_eq!((again.stats().iterations, again.stats().pivots), (0, 0));
    true
}

/// How many of `count` random problems of a class are solved.
fn solved_of(class: Class, count: u64) -> u64 {
    let mut solver = InteriorPoint::new(Options::default());
    (0..count)
        .filter(|&seed| {
            let problem = random(class, (seed % 41) as usize, seed).unwrap();
            let outcome = solver.solve(&problem).unwrap();
            check_solved(&mut solver, (&problem).into(), &outcome)
        })
        .count() as u64
}

#[test]
fn semidefinite_problems_are_solved() {
    assert_eq!(solved_of(Class::Psd, 1000), 1000);
}

#[test]
fn monotone_problems_are_solved() {
    assert!(solved_of(Class::PsdSkew, 1000) >= 999);
}

#[test]
fn p_matrices_are_solved() {
    assert!(solved_of(Class::P, 1000) >= 999);
}

#[test]
fn other_classes_are_mostly_solved_and_never_wrongly() {
    // No theorem promises convergence here, and no pivoting method stands behind.
    assert!(solved_of(Class::CopositivePlus, 300) >= 240);
    assert!(solved_of(Class::Contact, 300) >= 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_matrix_ends_and_solved_is_certified(n in 0usize..9, seed in any::<u64>(), decades in 0.0..12.0f64) {
        let mut rng = Rng::new(seed);
        let m = Matrix::from_fn(n, n, |_, _| if rng.chance(0.3) { 0.0 } else { rng.normal() * rng.scale(decades) });
        let q = (0..n).map(|_| rng.normal() * rng.scale(decades)).collect();
        let problem = Lcp::new(m, q).unwrap();
        let mut solver = InteriorPoint::new(Options::default());
        let outcome = solver.solve(&problem).unwrap();
        check_solved(&mut solver, (&problem).into(), &outcome);
        let mut solver = FeasibleInteriorPoint::new(Options::default());
        let outcome = solver.solve(&problem).unwrap();
        check_solved(&mut solver, (&problem).into(), &outcome);
    }

    #[test]
    fn monotone_mixed_problems(p in 0usize..6, r in 0usize..10, seed in any::<u64>()) {
        // A = [H −Jᵀ; J 0] with H positive definite and J of any rank; one contact row each.
        let mut rng = Rng::new(seed);
        let n = p + r;
        let rank = rng.below(n + 1);
        let a = Matrix::from_fn(rank, n, |_, _| rng.below(7) as f64 - 3.0);
        let k = Matrix::from_fn(n, n, |_, _| rng.below(5) as f64 - 2.0);
        let m = Matrix::from_fn(n, n, |i, j| dot(a.col(i), a.col(j)) + k[(i, j)] - k[(j, i)]);
        let free: Vec<bool> = (0..n).map(|i| i < p).collect();
        let z: Vec<f64> = (0..n).map(|i| if i < p { rng.normal() } else { rng.below(3) as f64 }).collect();
        let mut q = vec![0.0; n];
        m.mul_into(&z, &mut q);
        q.iter_mut().for_each(|x| *x = -*x);
        for i in p..n {
            if z[i] == 0.0 {
                q[i] += rng.below(3) as f64;
            }
        }
        let problem = Mlcp::new(m, q, free).unwrap();
        let mut solver = InteriorPoint::new(Options::default());
        let outcome = solver.solve(&problem).unwrap();
        prop_assert!(check_solved(&mut solver, (&problem).into(), &outcome), "{outcome:?}");
    }

    #[test]
    fn monotone_boxes(n in 0usize..15, seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let rank = rng.below(n + 1);
        let a = Matrix::from_fn(rank, n, |_, _| rng.normal());
        // One-sided and free rows need a definite matrix for a solution to exist.
        let m = Matrix::from_fn(n, n, |i, j| dot(a.col(i.min(j)), a.col(i.max(j))) + if i == j { 0.1 } else { 0.0 });
        let q: Vec<f64> = (0..n).map(|_| 3.0 * rng.normal()).collect();
        let (mut lo, mut hi) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let at = rng.normal();
            (lo[i], hi[i]) = match rng.below(6) {
                0 => (f64::NEG_INFINITY, at),
                1 => (f64::NEG_INFINITY, f64::INFINITY),
                2 => (at, f64::INFINITY),
                3 => (at, at),
                _ => (at, at + rng.uniform()),
            };
        }
        let problem = BoxLcp::new(m, q, lo, hi).unwrap();
        let mut solver = InteriorPoint::new(Options::default());
        let outcome = solver.solve(&problem).unwrap();
        prop_assert!(check_solved(&mut solver, (&problem).into(), &outcome), "{outcome:?}");
    }
}

#[test]
fn strictly_feasible_problems_are_solved_by_the_feasible_method() {
    let mut solver = FeasibleInteriorPoint::new(Options::default());
    let (mut solved, mut interior) = (0, 0);
    for seed in 0..500u64 {
        let class = [Class::Psd, Class::PsdSkew, Class::P][(seed % 3) as usize];
        let problem = random(class, (seed % 31) as usize, seed).unwrap();
        let outcome = solver.solve(&problem).unwrap();
        if matches!(&outcome, Outcome::Stopped(s) if matches!(s.why, StopReason::NotApplicable(_))) {
            continue;
        }
        interior += 1;
        solved += u32::from(check_solved(&mut solver, (&problem).into(), &outcome));
    }
    assert!(interior > 300 && solved >= interior - 1, "{solved} of {interior}");
}

#[test]
fn without_an_interior_the_feasible_method_says_so() {
    // w₂ = z₁ − z₁ = 0 always: solvable by z = (1, 0), but nothing is strictly feasible.
    let m = Matrix::from_rows(&[[1.0, 0.0], [0.0, 0.0]]).unwrap();
    let problem = Lcp::new(m, vec![-1.0, 0.0]).unwrap();
    let outcome = FeasibleInteriorPoint::new(Options::default()).solve(&problem).unwrap();
    let Outcome::Stopped(stopped) = outcome else { panic!("{outcome:?}") };
    assert_eq!(stopped.why, StopReason::NotApplicable("no strictly feasible point".into()));
    assert!(InteriorPoint::new(Options::default()).solve(&problem).unwrap().solved().is_some());
}

#[test]
fn infeasible_monotone_problems_are_not_solved() {
    let mut solver = InteriorPoint::new(Options::default());
    let mut rays = 0;
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let n = 2 + rng.below(10);
        // y = (1, 1, 0, …) with Mᵀ y = 0 and qᵀ y = −1: a Farkas vector.
        let a = Matrix::from_fn(n, n, |_, _| rng.normal());
        let column = |i: usize, k: usize| if i == 1 { -a[(k, 0)] } else { a[(k, i)] };
        let m = Matrix::from_fn(n, n, |i, j| (0..n).map(|k| column(i, k) * column(j, k)).sum());
        let mut q: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        q[1] = -1.0 - q[0];
        let outcome = solver.solve(&Lcp::new(m, q).unwrap()).unwrap();
        assert!(outcome.solved().is_none(), "seed {seed}: {outcome:?}");
        if let Outcome::Ray(ray) = &outcome {
            rays += 1;
            assert!((ray.direction[0] - ray.direction[1]).abs() < 1e-2, "{:?}", ray.direction);
        }
    }
    assert!(rays >= 90, "{rays} of 100 seen as rays");
}

#[test]
fn scale_does_not_matter() {
    let m = Matrix::identity(3);
    let problem = Lcp::new(m, vec![1e12, -1.0, -2.0]).unwrap();
    let outcome = InteriorPoint::new(Options::default()).solve(&problem).unwrap();
    assert_eq!(outcome.solved().unwrap().z, [0.0, 1.0, 2.0]);
    for unit in [1e-200, 1e-30, 1e30, 1e150] {
        let m = Matrix::from_rows(&[[2.0 * unit, unit], [unit, 2.0 * unit]]).unwrap();
        let problem = Lcp::new(m, vec![-5.0, -6.0]).unwrap();
        let outcome = InteriorPoint::new(Options::default()).solve(&problem).unwrap();
        assert!(outcome.solved().is_some(), "unit {unit}: {outcome:?}");
    }
}

#[test]
fn factored_problems_and_redundant_contacts() {
    let mut rng = Rng::new(11);
    for n in [4, 24, 80] {
        let g = Matrix::from_fn(6, n, |_, _| rng.normal());
        let problem = FactoredLcp::least_squares(g, (0..6).map(|_| rng.normal()).collect()).unwrap();
        let outcome = InteriorPoint::new(Options::default()).solve(&problem).unwrap();
        let solved = outcome.solved().unwrap();
        assert!(solved.basis.active().count() <= 6, "more columns than rows: {}", solved.basis);
    }
}

#[test]
fn trace_limits_and_bad_input() {
    let problem = random(Class::P, 20, 7).unwrap();
    let options = Options { trace: true, ..Options::default() };
    let outcome = InteriorPoint::new(options).solve(&problem).unwrap();
    assert_eq!(outcome.stats().trace.len(), outcome.stats().iterations);
    let one = Options { max_pivots: Some(1), tolerance: 1e-15, ..Options::default() };
    assert!(InteriorPoint::new(one).solve(&problem).unwrap().stats().iterations <= 1);
    let short = Basis::lower(3);
    let solved = InteriorPoint::new(Options::default()).solve_from((&problem).into(), Some(&short));
    assert!(matches!(solved, Err(InputError::Basis(_))));
    let settings = FeasibleSettings { shrink: 1.0, ..FeasibleSettings::default() };
    let solved = FeasibleInteriorPoint::with_settings(Options::default(), settings).solve(&problem);
    assert!(matches!(solved, Err(InputError::Option { name: "shrink", .. })));
}

#[test]
fn a_guess_is_handed_over() {
    // Copositive, not monotone: where the method stops and its own crossover fails, Lemke's method goes on from the guess.
    let handed_over = (0..200).filter_map(|seed| {
        let problem = random(Class::CopositivePlus, 6, seed).unwrap();
        let outcome = InteriorPoint::new(Options::default()).solve(&problem).unwrap();
        outcome.solved().map(|solved| solved.stats.pivots)
    });
    assert!(handed_over.filter(|pivots| *pivots > 0).count() > 0);
}

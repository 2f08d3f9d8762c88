//! Families of solvable problems that were not solved once, and the budget of work that ends what is not.

use crate::exact_measures::false_statement;
use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::exact::solve_basis;
use stiction_lcp::generate::Rng;
use stiction_lcp::{Auto, Lcp, Matrix, Options, Outcome, PrincipalPivot, Solver, StopReason, certify};

/// A row of n + 1 masses over `decades` decades to both sides of 1 kg that may touch: symmetric positive definite.
fn chain(n: usize, decades: f64, seed: u64) -> Lcp {
    let mut rng = Rng::new(seed);
    let mobility: Vec<f64> = (0..=n).map(|_| rng.scale(decades)).collect();
    let m = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => mobility[i] + mobility[i + 1],
        1 => -mobility[i.max(j)],
        _ => 0.0,
    });
    let q = (0..n).map(|_| rng.normal()).collect();
    Lcp::new(m, q).unwrap()
}

#[test]
fn chains_of_very_different_masses_are_solved() {
    let mut limited = 0;
    for (n, decades) in [(30, 3.0), (100, 3.0), (100, 6.0), (300, 3.0)] {
        for seed in 0..2 {
            let problem = chain(n, decades, seed);
            let outcome = Auto::new(Options::default()).solve(&problem).unwrap();
            let Some(solved) = outcome.solved() else { panic!("{n} {decades} {seed}: {outcome:?}") };
            limited += usize::from(solved.limited_by_precision);
            if n <= 100 {
                assert_eq!(false_statement((&problem).into(), &solved.z, &solved.certificate), None);
            }
        }
    }
    assert!(limited > 0);
}

/// The exact solution of the same basis, each entry rounded to the nearest f64, passes; and says that precision limits it.
#[test]
fn an_exact_solution_rounded_to_doubles_is_accepted() {
    let problem = chain(60, 5.0, 1);
    let outcome = Auto::new(Options::default()).solve(&problem).unwrap();
    let exact = solve_basis((&problem).into(), &outcome.solved().unwrap().basis).unwrap();
    let z: Vec<f64> = exact.z.iter().map(|z| z.to_f64()).collect();
    let certificate = certify((&problem).into(), &z, &mut [0.0; 60]);
    assert!(certificate.holds(1e-10) && certificate.limited_by_precision(1e-10), "{certificate}");
    assert!(certificate.to_string().contains("limited by double precision"));
    // A last digit more is still within the limit, a relative 1e-9 is not.
    let off: Vec<f64> = z.iter().map(|z| z * (1.0 + 1e-9)).collect();
    assert!(!certify((&problem).into(), &off, &mut [0.0; 60]).holds(1e-10));
}

/// Bimatrix games: from z = 0 every path of Lemke's method ends on a ray at once.
#[test]
fn games_are_solved() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let (rows, cols) = (2 + rng.below(20), 2 + rng.below(20));
        let whole = seed % 2 == 0;
        let cost = |rng: &mut Rng| if whole { 1.0 + rng.below(9) as f64 } else { 0.1 + rng.uniform() };
        let across = |i: usize, j: usize| (i < rows) != (j < rows);
        let n = rows + cols;
        let m = Matrix::from_fn(n, n, |i, j| if across(i, j) { cost(&mut rng) } else { 0.0 });
        let problem = Lcp::new(m, vec![-1.0; n]).unwrap();
        let outcome = Auto::new(Options::default()).solve(&problem).unwrap();
        assert!(outcome.solved().is_some(), "seed {seed}: {outcome:?}");
    }
}

/// A problem of this matrix with a solution: about half of the pairs have z above 0, the others w.
fn planted(m: Matrix, rng: &mut Rng) -> Lcp {
    let n = m.rows();
    let pairs: Vec<(f64, f64)> = (0..n).map(|_| (0.01 + rng.uniform(), f64::from(u8::from(rng.chance(0.5))))).collect();
    let row = |i: usize| (0..n).map(|j| m[(i, j)] * pairs[j].0 * pairs[j].1).sum::<f64>();
    let q = (0..n).map(|i| pairs[i].0 * (1.0 - pairs[i].1) - row(i)).collect();
    Lcp::new(m, q).unwrap()
}

/// Stationary points of quadratic programs that are not convex, nilpotent matrices, permutations: of no class that a path of
/// Lemke's method is known to solve, some without a single regular basis.
#[test]
fn matrices_of_no_class_are_solved() {
    for seed in 0..24 {
        let mut rng = Rng::new(seed);
        let (n, rows) = (4 + rng.below(12), 1 + rng.below(10));
        let order = n + rows;
        let h = Matrix::from_fn(order, order, |_, _| rng.normal());
        let across = |i: usize, j: usize| if (i < n) == (j < n) { 0.0 } else { h[(i.max(j), i.min(j))] };
        let saddle = Matrix::from_fn(order, order, |i, j| match (i < n, j < n) {
            (true, true) => h[(i.min(j), i.max(j))] - f64::from(u8::from(i == j)),
            (true, false) => -across(i, j),
            _ => across(i, j),
        });
        let nilpotent = Matrix::from_fn(order, order, |i, j| if i > j { h[(i, j)] } else { 0.0 });
        let shift = 1 + rng.below(order - 1);
        let permutation = Matrix::from_fn(order, order, |i, j| f64::from(u8::from((i + shift) % order == j)));
        for (name, m) in [("saddle", saddle), ("nilpotent", nilpotent), ("permutation", permutation)] {
            let problem = planted(m, &mut rng);
            let outcome = Auto::new(Options::default()).solve(&problem).unwrap();
            let Some(solved) = outcome.solved() else { panic!("{name} {seed}: {:?}", outcome.stats().attempts) };
            assert_eq!(false_statement((&problem).into(), &solved.z, &solved.certificate), None, "{name} {seed}");
        }
    }
}

/// The least-index rule takes many pivots on a chain; the budget ends it, at the same place every time.
#[test]
fn a_budget_of_work_ends_every_solve() {
    let problem = chain(120, 3.0, 1);
    let allowed = 1_500_000;
    let options = Options { max_flops: Some(allowed), ..Options::default() };
    let solve = || PrincipalPivot::new(options.clone()).solve(&problem).unwrap();
    let Outcome::Stopped(stopped) = solve() else { panic!("not stopped") };
    assert_eq!(stopped.why, StopReason::Budget(allowed));
    // One more pass over the transform and one refactorization may have been under way.
    assert!(stopped.stats.flops > allowed && stopped.stats.flops < 4 * allowed, "{}", stopped.stats.flops);
    assert_eq!(solve(), Outcome::Stopped(stopped));
}

/// Every method says what it did, and ends soon where next to nothing is allowed.
#[test]
fn every_solver_counts_its_work() {
    let mut rng = Rng::new(3);
    let g = Matrix::from_fn(8, 16, |_, _| rng.normal());
    let m = Matrix::from_fn(16, 16, |i, j| {
        (0..8).map(|k| g[(k, i)] * g[(k, j)]).sum::<f64>() + f64::from(u8::from(i == j))
    });
    let q: Vec<f64> = (0..16).map(|_| rng.normal()).collect();
    let problem = Lcp::new(m, q).unwrap();
    for entry in CATALOG {
        let outcome = build(entry.name, &Options::default()).unwrap().solve_from((&problem).into(), None).unwrap();
        assert!(outcome.solved().is_some(), "{}: {outcome:?}", entry.name);
        let flops = outcome.stats().flops;
        assert!(flops > 0, "{} counts nothing", entry.name);
        let little = Options { max_flops: Some(0), ..Options::default() };
        let outcome = build(entry.name, &little).unwrap().solve_from((&problem).into(), None).unwrap();
        assert!(outcome.stats().flops <= flops + 100_000, "{}: {} of {flops}", entry.name, outcome.stats().flops);
    }
}

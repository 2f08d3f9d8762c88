//! Exact checks, exact pivoting and Farkas vectors, on problems whose answers are known.

use stiction_lcp::exact::{
    ExactCheck, ExactOutcome, Rational, check_farkas, find_farkas, pivot_exact, solve_basis, verify_exact,
};
use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::{Basis, BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Position, ProblemRef, certify, certify_to};

fn lcp(rows: &[&[f64]], q: &[f64]) -> Lcp {
    Lcp::new(Matrix::from_rows(rows).unwrap(), q.to_vec()).unwrap()
}

fn basis(word: &str) -> Basis {
    word.parse().unwrap()
}

fn violated(problem: ProblemRef<'_>, word: &str) -> (usize, String) {
    match verify_exact(problem, &basis(word)) {
        ExactCheck::Violated { row, amount } => (row, amount.to_string()),
        other => panic!("{word}: {other:?}"),
    }
}

fn pang(first: f64) -> Lcp {
    lcp(&[&[0.0, -1.0, -1.0], &[1.0, 0.0, 0.0], &[-1.0, 0.0, 0.0]], &[first, -1.0, 1.0])
}

#[test]
fn verifies_an_lcp() {
    let p = lcp(&[&[3.0, 1.0], &[1.0, 2.0]], &[-1.0, -1.0]);
    assert_eq!(verify_exact((&p).into(), &basis("zz")), ExactCheck::Proven);
    assert_eq!(violated((&p).into(), "ww"), (0, "1".into()));
    assert_eq!(violated((&p).into(), "zw"), (1, "2/3".into()));
    let exact = solve_basis((&p).into(), &basis("zz")).unwrap();
    assert_eq!(exact.z.iter().map(|x| x.to_string()).collect::<Vec<_>>(), ["1/5", "2/5"]);
    assert!(exact.w.iter().all(Rational::is_zero));
    assert_eq!(exact.z[0].to_f64(), 0.2);
}

#[test]
fn a_basis_that_gives_no_z_is_singular() {
    let p = lcp(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]);
    assert_eq!(verify_exact((&p).into(), &basis("zz")), ExactCheck::Singular);
    assert_eq!(verify_exact((&p).into(), &basis("zw")), ExactCheck::Proven);
    assert_eq!(verify_exact((&p).into(), &basis("z")), ExactCheck::Singular);
    // At the upper bound of a row that has none.
    assert_eq!(verify_exact((&p).into(), &basis("uw")), ExactCheck::Singular);
    let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
    assert_eq!(verify_exact((&empty).into(), &basis("")), ExactCheck::Proven);
}

/// 0.1 + 0.2 is not 0.3 in f64s: the sum of the first two columns misses the third by the rounding of the data.
#[test]
fn the_amount_is_the_rounding_of_the_data() {
    let p = lcp(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[-1.0, -1.0, 1.0]], &[-0.1, -0.2, 0.3]);
    let (row, amount) = violated((&p).into(), "zzw");
    assert_eq!(row, 2);
    // 0.1 + 0.2 − 0.3 of these three f64s is 2^−55 exactly (the rounded sum would give twice that).
    assert_eq!(amount, format!("1/{}", 1u64 << 55));
}

#[test]
fn scale_does_not_matter() {
    let d = [1e-140, 1e8, 1e140];
    let m = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]];
    let p = Lcp::new(Matrix::from_fn(3, 3, |i, j| m[i][j] * d[i] * d[j]), vec![-d[0], d[1], -d[2]]).unwrap();
    assert_eq!(verify_exact((&p).into(), &basis("zwz")), ExactCheck::Proven);
    assert!(matches!(verify_exact((&p).into(), &basis("zww")), ExactCheck::Violated { row: 2, .. }));
    let ExactOutcome::Proven { basis: found, .. } = pivot_exact((&p).into(), &basis("wzw"), 100) else { panic!() };
    assert_eq!(found, basis("zwz"));
}

#[test]
fn verifies_free_rows_and_bounds() {
    // x = −(1 + y)/2 free, w = x + 2 y − 1 = 1.5 y − 1.5.
    let m = Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]).unwrap();
    let p = Mlcp::new(m.clone(), vec![1.0, -1.0], vec![true, false]).unwrap();
    assert_eq!(verify_exact((&p).into(), &basis("zz")), ExactCheck::Proven);
    assert_eq!(violated((&p).into(), "zw"), (1, "3/2".into()));
    assert_eq!(verify_exact((&p).into(), &basis("wz")), ExactCheck::Singular);

    let inf = f64::INFINITY;
    let p = BoxLcp::new(m, vec![1.0, -9.0], vec![-0.25, -inf], vec![inf, 2.0]).unwrap();
    // At (−0.25, 2): w = (2.5, −5.25).
    assert_eq!(verify_exact((&p).into(), &basis("wu")), ExactCheck::Proven);
    // Without the bounds z = (−11/3, 19/3): 41/12 below the one and 13/3 above the other.
    assert_eq!(violated((&p).into(), "zz"), (1, "13/3".into()));
    assert_eq!(verify_exact((&p).into(), &basis("ww")), ExactCheck::Singular);
    // A row with lo = hi stands at its value whatever its w.
    let p = BoxLcp::new(Matrix::identity(1), vec![-5.0], vec![1.0], vec![1.0]).unwrap();
    assert_eq!(verify_exact((&p).into(), &basis("w")), ExactCheck::Proven);
    assert_eq!(verify_exact((&p).into(), &basis("u")), ExactCheck::Proven);
}

#[test]
fn verifies_a_factored_problem_from_its_factor() {
    // G with three columns in the plane; 0.1 is no dyadic of few bits, so that GᵀG in f64s is not exact.
    let g = Matrix::from_rows(&[[1.0, 0.1, -1.0], [0.1, 1.0, -1.0]]).unwrap();
    let p = FactoredLcp::least_squares(g.clone(), vec![-0.3, -0.7]).unwrap();
    // Least squares with two independent columns leaves no residual, exactly.
    assert_eq!(verify_exact((&p).into(), &basis("zzw")), ExactCheck::Proven);
    let exact = solve_basis((&p).into(), &basis("zzw")).unwrap();
    assert!(exact.w.iter().all(Rational::is_zero));
    assert_eq!(verify_exact((&p).into(), &basis("zzz")), ExactCheck::Singular);
    // With e rounded the residual is not zero.
    let rounded = FactoredLcp::new(g, p.e().to_vec()).unwrap();
    let exact = solve_basis((&rounded).into(), &basis("zzw")).unwrap();
    assert!(!exact.w[2].is_zero() && exact.w[2].to_f64().abs() < 1e-15);
    let bounded = p.with_bounds(vec![0.0; 3], vec![0.1, f64::INFINITY, 1.0]).unwrap();
    assert!(matches!(verify_exact((&bounded).into(), &basis("zzw")), ExactCheck::Violated { row: 0, .. }));
    let ExactOutcome::Proven { basis: found, .. } = pivot_exact((&bounded).into(), &basis("zzw"), 100) else {
        panic!()
    };
    assert_eq!(verify_exact((&bounded).into(), &found), ExactCheck::Proven);
}

fn dense(n: usize, seed: u64) -> Lcp {
    let mut rng = Rng::new(seed);
    let a = Matrix::from_fn(n, n, |_, _| rng.normal());
    let skew = Matrix::from_fn(n, n, |_, _| rng.normal());
    let m = Matrix::from_fn(n, n, |i, j| stiction_lcp::matrix::dot(a.col(i), a.col(j)) + skew[(i, j)] - skew[(j, i)]);
    let q = (0..n).map(|_| rng.normal()).collect();
    Lcp::new(m, q).unwrap()
}

#[test]
fn order_60_from_a_wrong_basis() {
    let p = dense(60, 11);
    let wrong = Basis::from_active(60, (0..60).filter(|i| i % 3 == 0));
    assert!(matches!(verify_exact((&p).into(), &wrong), ExactCheck::Violated { .. }));
    let ExactOutcome::Proven { basis, pivots, z } = pivot_exact((&p).into(), &wrong, 1000) else {
        panic!("not proven")
    };
    assert!(pivots > 0);
    assert_eq!(verify_exact((&p).into(), &basis), ExactCheck::Proven);
    assert!(certify((&p).into(), &z, &mut [0.0; 60]).holds(1e-12));
    // From the proven basis no pivot is left, from its neighbour few are.
    let again = pivot_exact((&p).into(), &basis, 0);
    assert!(matches!(again, ExactOutcome::Proven { pivots: 0, .. }));
    let mut near = basis.clone();
    near.set(7, if basis.position(7) == Position::Basic { Position::Lower } else { Position::Basic });
    let ExactOutcome::Proven { basis: back, pivots: few, .. } = pivot_exact((&p).into(), &near, 1000) else { panic!() };
    assert_eq!(back, basis);
    assert!(few < 20, "{few}");
    assert!(matches!(pivot_exact((&p).into(), &wrong, 1), ExactOutcome::Limit { pivots: 1 }));
}

/// For every class with a theorem Lemke's method ends at a solution; degenerate, redundant and badly scaled data included. The data
/// is rounded after it was planted, so an infeasible problem is possible, but then it must be proven to be one.
#[test]
fn every_problem_with_a_theorem_is_decided() {
    for class in Class::ALL {
        for seed in 0..60 {
            let p = random(class, 1 + seed as usize % 12, seed).unwrap();
            let mut rng = Rng::new(seed);
            let start = Basis::from_active(p.n(), (0..p.n()).filter(|_| rng.chance(0.4)));
            match pivot_exact((&p).into(), &start, 10_000) {
                ExactOutcome::Proven { basis, z, .. } => {
                    assert_eq!(verify_exact((&p).into(), &basis), ExactCheck::Proven, "{class:?} {seed}");
                    // Nearest f64s; the residual against the data as a whole need not be small where rows span 10^16.
                    let certificate = certify_to((&p).into(), &z, &mut vec![0.0; p.n()], 0.0);
                    assert!(certificate.backward_error < 1e-15, "{class:?} {seed}: {certificate}");
                }
                ExactOutcome::Ray { farkas, .. } => {
                    // The roundings of D M D can take copositive-plus away, and feasibility with it, but never by much.
                    let from_zero = pivot_exact((&p).into(), &Basis::lower(p.n()), 10_000);
                    assert!(matches!(from_zero, ExactOutcome::Ray { .. }));
                    assert!(farkas.is_none_or(|y| check_farkas(&p, &y)), "{class:?} {seed}");
                }
                ExactOutcome::Limit { .. } => panic!("{class:?} {seed}"),
            }
        }
    }
}

#[test]
fn mixed_and_box_problems_are_pivoted_to_proven_bases() {
    let mut rng = Rng::new(21);
    for trial in 0..150 {
        let n = 1 + rng.below(9);
        let m = dense(n, 1000 + trial).m().clone();
        let q: Vec<f64> = (0..n).map(|_| 3.0 * rng.normal()).collect();
        let free: Vec<bool> = (0..n).map(|_| rng.chance(0.3)).collect();
        let mixed = Mlcp::new(m.clone(), q.clone(), free).unwrap();
        let start: Basis = Basis::from_active(n, (0..n).filter(|_| rng.chance(0.5)));
        let ExactOutcome::Proven { basis, .. } = pivot_exact((&mixed).into(), &start, 1000) else { panic!("{trial}") };
        assert_eq!(verify_exact((&mixed).into(), &basis), ExactCheck::Proven);

        let side = |rng: &mut Rng| if rng.chance(0.3) { f64::INFINITY } else { rng.below(3) as f64 * 0.5 };
        let lo: Vec<f64> = (0..n).map(|_| -side(&mut rng)).collect();
        let hi: Vec<f64> = (0..n).map(|_| side(&mut rng)).collect();
        let boxed = BoxLcp::new(m, q, lo, hi).unwrap();
        let position = |rng: &mut Rng| [Position::Basic, Position::Lower, Position::Upper][rng.below(3)];
        let start = Basis::new((0..n).map(|_| position(&mut rng)).collect());
        let ExactOutcome::Proven { basis, z, .. } = pivot_exact((&boxed).into(), &start, 1000) else {
            panic!("{trial}")
        };
        assert_eq!(verify_exact((&boxed).into(), &basis), ExactCheck::Proven);
        assert!(certify((&boxed).into(), &z, &mut vec![0.0; n]).holds(1e-12));
    }
}

/// The free block is zero: `min ½ yᵀ y, y₀ + y₁ = 2` has a multiplier with no entry of its own.
#[test]
fn a_singular_free_block_is_split() {
    let m = Matrix::from_rows(&[[0.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]).unwrap();
    let p = Mlcp::new(m, vec![-2.0, 0.0, 0.0], vec![true, false, false]).unwrap();
    for word in ["zww", "zzw", "zzz"] {
        let ExactOutcome::Proven { z, .. } = pivot_exact((&p).into(), &basis(word), 100) else { panic!("{word}") };
        assert_eq!(z, [1.0, 1.0, 1.0]);
    }
    assert_eq!(verify_exact((&p).into(), &basis("zzz")), ExactCheck::Proven);
}

#[test]
fn pangs_perturbed_problem_has_a_farkas_vector() {
    let solvable = pang(0.0);
    assert_eq!(verify_exact((&solvable).into(), &basis("zww")), ExactCheck::Singular);
    assert!(find_farkas(&solvable, None).is_none());
    let p = pang(-1e-4);
    let y = find_farkas(&p, None).unwrap();
    assert!(check_farkas(&p, &y));
    assert!(!check_farkas(&solvable, &y));
    let ExactOutcome::Ray { farkas: Some(y), .. } = pivot_exact((&p).into(), &basis("www"), 100) else {
        panic!("has no solution")
    };
    assert!(check_farkas(&p, &y));
}

#[test]
fn farkas_is_checked_to_the_last_bit() {
    // w = −z₀ − … + q: y = 1 proves exactly for q < 0.
    let least = 5e-324;
    assert!(check_farkas(&lcp(&[&[0.0]], &[-least]), &[1.0]));
    assert!(!check_farkas(&lcp(&[&[0.0]], &[0.0]), &[1.0]));
    assert!(!check_farkas(&lcp(&[&[least]], &[-1.0]), &[1.0]));
    assert!(!check_farkas(&lcp(&[&[0.0]], &[1.0]), &[-1.0]));
    assert!(!check_farkas(&lcp(&[&[0.0]], &[-1.0]), &[f64::NAN]));
    assert!(!check_farkas(&lcp(&[&[0.0]], &[-1.0]), &[1.0, 1.0]));
    // Mᵀy = 0.1 + 0.2 − 0.3 = 2^−55 > 0 for these f64s, though the rounded sums are not needed to be.
    let p = lcp(&[&[0.1, 0.0, 0.0], &[0.2, 0.0, 0.0], &[-0.3, 0.0, 0.0]], &[-1.0, 0.0, 0.0]);
    assert!(!check_farkas(&p, &[1.0, 1.0, 1.0]));
    assert!(check_farkas(&p, &[1.0, 1.0, 1.0 + f64::EPSILON]));
}

/// Bounds: `z ≤ 1` and `w = z − 2 ≥ 0` cannot both be met where w must not be negative: it may be at the upper bound, so this is solvable;
/// a free row `0 z + 1 = 0` is not.
#[test]
fn farkas_with_free_rows_and_bounds() {
    let p = BoxLcp::new(Matrix::identity(1), vec![-2.0], vec![0.0], vec![1.0]).unwrap();
    assert!(!check_farkas(&p, &[1.0]));
    let p = Mlcp::new(Matrix::zeros(1, 1), vec![1.0], vec![true]).unwrap();
    assert!(check_farkas(&p, &[-1.0]) && !check_farkas(&p, &[1.0]));
    let p = BoxLcp::new(
        Matrix::from_rows(&[[0.0, 1.0], [0.0, 1.0]]).unwrap(),
        vec![-2.0, 0.0],
        vec![0.0; 2],
        vec![f64::INFINITY, 1.0],
    );
    assert!(check_farkas(&p.unwrap(), &[1.0, 0.0]));
}

#[test]
fn a_rounded_farkas_vector_is_repaired() {
    let p = pang(-1e-4);
    // (1 − …, tiny, −tiny) instead of (1, 0, 0) would break a sign.
    let y = find_farkas(&p, Some(&[0.3, 1.0 + 1e-14, 1.0 - 1e-14])).unwrap();
    assert!(check_farkas(&p, &y));
    // Infeasible problems of all kinds: M = −A with A ≥ 0 and a negative q; rows that are copies with another q.
    let mut rng = Rng::new(31);
    for n in 2..9 {
        let mut m = dense(n, 50 + n as u64).m().clone();
        let mut q: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        for j in 0..n {
            let x = m[(0, j)];
            m[(1, j)] = -x;
        }
        (q[0], q[1]) = (-1.0, 0.5);
        let p = Lcp::new(m, q).unwrap();
        let y = find_farkas(&p, None).unwrap();
        assert!(check_farkas(&p, &y));
    }
    assert!(find_farkas(&dense(8, 1), Some(&[1.0; 8])).is_none());
}

/// Data for which the edge of the cone is no vector of f64s, but its inside holds some.
#[test]
fn a_farkas_vector_is_found_inside_the_cone() {
    let mut rng = Rng::new(41);
    let (mut proven, mut feasible) = (0, 0);
    for n in [2, 3, 5, 8, 20] {
        for _ in 0..10 {
            let m = Matrix::from_fn(n, n, |_, _| rng.normal());
            let q = (0..n).map(|_| rng.normal() - 1.0).collect();
            let p = Lcp::new(m, q).unwrap();
            match find_farkas(&p, None) {
                Some(y) => {
                    assert!(check_farkas(&p, &y));
                    proven += 1;
                }
                None => feasible += 1,
            }
        }
    }
    assert!(proven >= 10 && feasible >= 10, "{proven} {feasible}");
}

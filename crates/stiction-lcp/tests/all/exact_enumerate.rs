//! The oracle: enumeration of all bases, on problems whose solutions are known or found by brute force.

use stiction_lcp::enumerate::Solutions;
use stiction_lcp::exact::check_farkas;
use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::{
    Basis, BoxLcp, Enumerate, FactoredLcp, InputError, Lcp, Matrix, Mlcp, Options, Outcome, ProblemRef, Proof, Solver,
    StopReason, certify_to,
};

fn lcp(rows: &[&[f64]], q: &[f64]) -> Lcp {
    Lcp::new(Matrix::from_rows(rows).unwrap(), q.to_vec()).unwrap()
}

fn solve(p: &Lcp) -> Outcome {
    Enumerate::new(Options::default()).solve(p).unwrap()
}

fn all<'p>(p: impl Into<ProblemRef<'p>>) -> Solutions {
    Enumerate::new(Options::default()).all_solutions(p).unwrap()
}

fn vectors(s: &Solutions) -> Vec<Vec<f64>> {
    s.solutions.iter().map(|s| s.z.clone()).collect()
}

fn pang(first: f64) -> Lcp {
    lcp(&[&[0.0, -1.0, -1.0], &[1.0, 0.0, 0.0], &[-1.0, 0.0, 0.0]], &[first, -1.0, 1.0])
}

#[test]
fn a_p_matrix_has_one_solution() {
    let p = lcp(&[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0]);
    let found = all(&p);
    assert_eq!(vectors(&found), [[4.0 / 3.0, 7.0 / 3.0]]);
    assert!(found.singular.is_empty());
    assert_eq!(found.bases, 4);
    assert_eq!(solve(&p).solved().unwrap().basis.to_string(), "zz");
    for seed in 0..40 {
        let p = random(Class::P, 6, seed).unwrap();
        assert_eq!(all(&p).solutions.len(), 1, "{seed}");
    }
}

#[test]
fn several_solutions_in_the_order_of_their_bases() {
    // −I with q = 1 has all four corners.
    let p = lcp(&[&[-1.0, 0.0], &[0.0, -1.0]], &[1.0, 1.0]);
    assert_eq!(vectors(&all(&p)), [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    assert_eq!(solve(&p).solved().unwrap().z, [0.0, 0.0]);
}

/// z₀ + z₁ = 1 is a line of solutions: its ends have bases, its inside belongs to the singular one.
#[test]
fn a_line_of_solutions() {
    let p = lcp(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]);
    let found = all(&p);
    assert!(vectors(&found).contains(&vec![1.0, 0.0]) && vectors(&found).contains(&vec![0.0, 1.0]));
    assert_eq!(found.singular, ["zz".parse::<Basis>().unwrap()]);
}

/// Every basis with z₁ basic is singular, yet the only solutions are there.
#[test]
fn a_solution_that_only_a_singular_basis_has() {
    let p = lcp(&[&[0.0, 1.0], &[0.0, 0.0]], &[-1.0, 0.0]);
    let outcome = solve(&p);
    let solved = outcome.solved().unwrap();
    assert_eq!(solved.w, [solved.z[1] - 1.0, 0.0]);
    assert_eq!(certify_to((&p).into(), &solved.z, &mut [0.0; 2], 0.0).worst(), 0.0);
    assert!(all(&p).solutions.iter().all(|s| s.singular));
    let never = lcp(&[&[0.0, 1.0], &[0.0, 0.0]], &[-1.0, -5e-324]);
    assert!(all(&never).solutions.is_empty());
}

#[test]
fn pangs_problem_is_solvable_until_it_is_perturbed() {
    let outcome = solve(&pang(0.0));
    assert_eq!(outcome.solved().unwrap().z, [1.0, 0.0, 0.0]);
    let Outcome::Unsolvable(none) = solve(&pang(-1e-4)) else { panic!("has no solution") };
    assert_eq!(none.proof, Proof::Enumeration { bases: 8 });
    assert!(check_farkas(&pang(-1e-4), &[1.0, 0.0, 0.0]));
}

/// z₀ ≥ 1 and z₀ ≤ 1 − 10⁻¹⁴: nothing exactly, but a z that is certified.
#[test]
fn nearly_solvable_is_solved_if_certified() {
    let near = lcp(&[&[1.0, 0.0], &[-1.0, 0.0]], &[-1.0, 1.0 - 1e-14]);
    assert!(all(&near).solutions.is_empty());
    assert_eq!(solve(&near).solved().unwrap().basis.to_string(), "zw");
    let not = lcp(&[&[1.0, 0.0], &[-1.0, 0.0]], &[-1.0, 1.0 - 1e-6]);
    assert!(matches!(solve(&not), Outcome::Unsolvable(_)));
}

#[test]
fn the_empty_problem_and_the_start_basis() {
    let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
    assert!(solve(&empty).solved().is_some());
    let p = lcp(&[&[-1.0, 0.0], &[0.0, -1.0]], &[1.0, 1.0]);
    let start: Basis = "wz".parse().unwrap();
    let outcome = Enumerate::new(Options::default()).solve_from((&p).into(), Some(&start)).unwrap();
    let solved = outcome.solved().unwrap();
    assert_eq!((&solved.basis, solved.stats.iterations, solved.stats.pivots), (&start, 1, 0));
    let other: Basis = "w".parse().unwrap();
    assert!(Enumerate::new(Options::default()).solve_from((&p).into(), Some(&other)).is_err());
}

#[test]
fn too_large_is_said_to_be() {
    let p = Lcp::new(Matrix::identity(21), vec![1.0; 21]).unwrap();
    let mut solver = Enumerate::new(Options::default());
    assert!(matches!(solver.solve(&p), Err(InputError::Unsupported { solver: "enumerate", .. })));
    assert!(solver.clone().with_max_order(21).solve(&p).unwrap().solved().is_some());
    let large = Lcp::new(Matrix::identity(200), vec![1.0; 200]).unwrap();
    assert!(solver.with_max_order(1000).solve(&large).is_err());
    let bad = Options { tolerance: 2.0, ..Options::default() };
    assert!(Enumerate::new(bad).solve(&p).is_err());
}

#[test]
fn bounds_and_free_rows() {
    // z² against a wall: w = z − 3 in [0, 2] stops at the upper bound.
    let p = BoxLcp::new(Matrix::identity(1), vec![-3.0], vec![0.0], vec![2.0]).unwrap();
    assert_eq!(vectors(&all(&p)), [[2.0]]);
    // −z + 1 on [0, 2]: both ends and the middle.
    let p = BoxLcp::new(Matrix::from_rows(&[[-1.0]]).unwrap(), vec![1.0], vec![0.0], vec![2.0]).unwrap();
    assert_eq!(vectors(&all(&p)), [[0.0], [1.0], [2.0]]);
    // A whole interval: w = 0 everywhere.
    let p = BoxLcp::new(Matrix::zeros(1, 1), vec![0.0], vec![-1.0], vec![2.0]).unwrap();
    assert_eq!(all(&p).singular.len(), 1);
    // A free row that no z can meet.
    let p = Mlcp::new(Matrix::zeros(1, 1), vec![1.0], vec![true]).unwrap();
    let outcome = Enumerate::new(Options::default()).solve(&p).unwrap();
    assert!(matches!(outcome, Outcome::Unsolvable(_)));
    // min ½ yᵀ y with y₀ + y₁ = 2: the free row has no entry of its own.
    let m = Matrix::from_rows(&[[0.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]).unwrap();
    let p = Mlcp::new(m, vec![-2.0, 0.0, 0.0], vec![true, false, false]).unwrap();
    assert_eq!(vectors(&all(&p)), [[1.0, 1.0, 1.0]]);
    // An undetermined free variable beside a determined one.
    let m = Matrix::from_rows(&[[0.0, 0.0], [0.0, 2.0]]).unwrap();
    let p = Mlcp::new(m, vec![0.0, -2.0], vec![true, false]).unwrap();
    assert_eq!(vectors(&all(&p)), [[0.0, 1.0]]);
    // Rows fixed by their bounds do not count as bases.
    let p = BoxLcp::new(Matrix::identity(30), vec![-1.0; 30], vec![0.5; 30], vec![0.5; 30]).unwrap();
    assert_eq!(all(&p).bases, 1);
    assert_eq!(vectors(&all(&p)), [[0.5; 30]]);
}

#[test]
fn a_factored_problem() {
    let g = Matrix::from_rows(&[[1.0, 0.1, -1.0], [0.1, 1.0, -1.0]]).unwrap();
    let p = FactoredLcp::least_squares(g, vec![-0.3, -0.7]).unwrap();
    let outcome = Enumerate::new(Options::default()).solve(&p).unwrap();
    assert!(outcome.solved().unwrap().w.iter().all(|w| w.abs() < 1e-15));
}

/// Numbers at the ends of the range: no panic, and nothing uncertified is called solved.
#[test]
fn absurd_scales() {
    let huge = lcp(&[&[1e300, -1e-300], &[1e-300, 1e300]], &[-1e-308, 1e308]);
    let tiny = lcp(&[&[5e-324, 0.0], &[0.0, 1.0]], &[-1e308, -1.0]);
    let mixed = lcp(&[&[5e-324, 1e308], &[-1e308, 5e-324]], &[-1.0, 5e-324]);
    for p in [huge, tiny, mixed] {
        match solve(&p) {
            Outcome::Solved(s) => assert!(s.certificate.holds(1e-10)),
            Outcome::Stopped(s) => assert_eq!(s.why, StopReason::Uncertified),
            other => panic!("{other:?}"),
        }
    }
}

/// Solvability by Carathéodory: q is in a complementary cone exactly if it is a non-negative combination of independent columns,
/// at most one of each pair.
fn brute_force_solvable(m: &[Vec<i128>], q: &[i128]) -> bool {
    let n = q.len();
    (0..3usize.pow(n as u32)).any(|choice| {
        let mut columns = Vec::new();
        let mut rest = choice;
        for j in 0..n {
            match rest % 3 {
                1 => columns.push((0..n).map(|i| i128::from(i == j)).collect::<Vec<_>>()),
                2 => columns.push((0..n).map(|i| -m[i][j]).collect()),
                _ => {}
            }
            rest /= 3;
        }
        non_negative_combination(&columns, q)
    })
}

/// True if the columns are independent and `Σ x column = q` with x ≥ 0; fraction-free elimination.
fn non_negative_combination(columns: &[Vec<i128>], q: &[i128]) -> bool {
    let (n, k) = (q.len(), columns.len());
    let mut a: Vec<Vec<i128>> = (0..n).map(|i| columns.iter().map(|c| c[i]).chain([q[i]]).collect()).collect();
    for c in 0..k {
        let Some(row) = (c..n).find(|&i| a[i][c] != 0) else { return false };
        a.swap(c, row);
        let pivot = a[c].clone();
        for row in a.iter_mut().enumerate().filter(|(i, _)| *i != c).map(|(_, row)| row) {
            let factor = row[c];
            for (x, p) in row.iter_mut().zip(&pivot) {
                *x = *x * pivot[c] - factor * p;
            }
            let divisor = row.iter().fold(0i128, |d, x| gcd(d, x.abs()));
            if divisor > 1 {
                row.iter_mut().for_each(|x| *x /= divisor);
            }
        }
    }
    (k..n).all(|i| a[i][k] == 0) && (0..k).all(|i| a[i][k] == 0 || (a[i][k] > 0) == (a[i][i] > 0))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn small_integer_problems_against_brute_force() {
    let mut rng = Rng::new(77);
    let (mut solvable, mut not, mut singular) = (0, 0, 0);
    for trial in 0..1500 {
        let n = 1 + trial % 5;
        let wide = 1 + rng.below(3);
        let mut entry = || rng.below(2 * wide + 1) as i128 - wide as i128;
        let m: Vec<Vec<i128>> = (0..n).map(|_| (0..n).map(|_| entry()).collect()).collect();
        let q: Vec<i128> = (0..n).map(|_| entry()).collect();
        let p = Lcp::new(Matrix::from_fn(n, n, |i, j| m[i][j] as f64), q.iter().map(|&x| x as f64).collect()).unwrap();
        let expected = brute_force_solvable(&m, &q);
        let found = all(&p);
        assert_eq!(!found.solutions.is_empty(), expected, "trial {trial}: {p:?}");
        assert!(found.solutions.iter().all(|s| s.certificate.holds(1e-14)), "trial {trial}");
        match solve(&p) {
            Outcome::Solved(_) => solvable += 1,
            Outcome::Unsolvable(_) => not += 1,
            other => panic!("trial {trial}: {other:?}"),
        }
        singular += usize::from(expected && found.solutions.iter().all(|s| s.singular));
    }
    assert!(solvable > 300 && not > 300 && singular > 5, "{solvable} {not} {singular}");
}

/// Problems with a theorem: the oracle agrees with what was planted.
#[test]
fn every_problem_with_a_theorem_has_a_solution() {
    for class in Class::ALL {
        for seed in 0..30 {
            let p = random(class, 1 + seed as usize % 7, seed).unwrap();
            if p.n() > 12 {
                continue;
            }
            let outcome = solve(&p);
            // Rounding of the planted data can make the problem infeasible, and the rounding of z can miss the residual of
            // data that spans 10^16; neither happens often.
            let ok = matches!(outcome, Outcome::Solved(_) | Outcome::Stopped(_));
            assert!(ok, "{class:?} {seed}: {outcome:?}");
        }
    }
}

//! Problems reduced to LCPs: every solution of the LCP must come back as a certified solution of the problem.

use stiction_lcp::finish::{Finish, outcome_of};
use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::dot;
use stiction_lcp::outcome::Stats;
use stiction_lcp::reduce::Reduced;
use stiction_lcp::{Basis, BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Options, Outcome, Position, ProblemRef, certify};

/// All certified solutions of a small LCP, by trying every basis.
fn solutions(lcp: &Lcp) -> Vec<(Vec<f64>, Basis)> {
    let (n, mut finish, mut found) = (lcp.n(), Finish::default(), Vec::new());
    assert!(n <= 14, "too many bases");
    for word in 0u32..1 << n {
        let basis = Basis::from_active(n, (0..n).filter(|i| word >> i & 1 == 1));
        if let Outcome::Solved(s) = finish.outcome(lcp.into(), basis, &Options::default(), Stats::default()) {
            // A clamped z may solve the problem without belonging to the basis.
            if s.basis.active().all(|i| s.w[i].abs() < 1e-9) {
                found.push((s.z, s.basis));
            }
        }
    }
    found
}

/// The problem's outcome for a solution of its LCP, as a solver would report it.
fn back(problem: ProblemRef<'_>, reduced: &Reduced, z: &[f64], basis: &Basis) -> Outcome {
    let (z, basis) = reduced.recover(problem, z, basis);
    match Finish::default().outcome(problem, basis.clone(), &Options::default(), Stats::default()) {
        Outcome::Solved(s) => Outcome::Solved(s),
        _ => outcome_of(problem, z, basis, &Options::default(), Stats::default()),
    }
}

/// Solves by enumeration; every solution of the LCP must be one of the problem. Returns how many there are.
fn all_come_back(problem: ProblemRef<'_>) -> usize {
    let reduced = Reduced::new(problem).unwrap();
    let found = solutions(&reduced.lcp);
    for (z, basis) in &found {
        let outcome = back(problem, &reduced, z, basis);
        assert!(outcome.solved().is_some(), "{outcome:?} from {basis} of {problem:?}");
    }
    found.len()
}

fn psd_skew(rng: &mut Rng, n: usize, rank: usize) -> Matrix {
    let a = Matrix::from_fn(rank, n, |_, _| rng.below(7) as f64 - 3.0);
    let k = Matrix::from_fn(n, n, |_, _| rng.below(5) as f64 - 2.0);
    Matrix::from_fn(n, n, |i, j| dot(a.col(i), a.col(j)) + k[(i, j)] - k[(j, i)])
}

/// q for which a solution exists: `w − M z` with z, w complementary, z free and w zero in free rows.
fn planted(rng: &mut Rng, m: &Matrix, free: &[bool]) -> Vec<f64> {
    let n = free.len();
    let (mut z, mut w, mut mz) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let size = 1.0 + rng.below(4) as f64;
        match (free[i], rng.chance(0.5)) {
            (true, _) => z[i] = size - 2.5,
            (false, true) => z[i] = size,
            (false, false) => w[i] = size,
        }
    }
    m.mul_into(&z, &mut mz);
    w.iter().zip(&mz).map(|(w, mz)| w - mz).collect()
}

#[test]
fn a_regular_free_block_is_substituted_directly() {
    let mut rng = Rng::new(1);
    for _ in 0..50 {
        let (p, r) = (1 + rng.below(4), rng.below(5));
        let m = Matrix::from_fn(p + r, p + r, |i, j| rng.normal() + if i == j { 8.0 } else { 0.0 });
        let q: Vec<f64> = (0..p + r).map(|_| rng.normal()).collect();
        // Free and complementary rows in any order.
        let mut free = vec![false; p + r];
        while free.iter().filter(|f| **f).count() < p {
            free[rng.below(p + r)] = true;
        }
        let rows = |f: bool| (0..p + r).filter(|&i| free[i] == f).collect::<Vec<_>>();
        let (e, c) = (rows(true), rows(false));
        let mut lu = stiction_linalg::lu::Lu::default();
        lu.factor(&m.select(&e, &e));
        let reduced = Reduced::new((&Mlcp::new(m.clone(), q.clone(), free.clone()).unwrap()).into()).unwrap();
        assert_eq!(reduced.lcp.n(), r);
        for (b, &j) in c.iter().enumerate() {
            let mut x: Vec<f64> = e.iter().map(|&i| m[(i, j)]).collect();
            lu.solve(&mut x);
            for (a, &i) in c.iter().enumerate() {
                let f = m[(i, j)] - e.iter().zip(&x).map(|(&k, x)| m[(i, k)] * x).sum::<f64>();
                assert!((f - reduced.lcp.m()[(a, b)]).abs() < 1e-13, "F[{a}, {b}]");
            }
        }
        let mut x: Vec<f64> = e.iter().map(|&i| q[i]).collect();
        lu.solve(&mut x);
        for (a, &i) in c.iter().enumerate() {
            let h = q[i] - e.iter().zip(&x).map(|(&k, x)| m[(i, k)] * x).sum::<f64>();
            assert!((h - reduced.lcp.q()[a]).abs() < 1e-13, "e[{a}]");
        }
    }
}

#[test]
fn reduced_data_are_accurate_in_any_units() {
    // A graded: a plain inverse loses everything here. F = 1 − 1/3 exactly.
    let (big, small) = (1e12, 1e-9);
    let m = Matrix::from_rows(&[[3.0 * big, 0.0, small], [0.0, small, 0.0], [big * big, 0.0, big * small]]).unwrap();
    let mlcp = Mlcp::new(m, vec![0.0, small, -1.0], vec![true, true, false]).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    let f = reduced.lcp.m()[(0, 0)] / (big * small);
    assert!((f - 2.0 / 3.0).abs() < 1e-15, "{f}");
    assert_eq!(all_come_back((&mlcp).into()), 1);
}

#[test]
fn symmetric_data_stay_symmetric() {
    // Velocity-level equality constraints: M symmetric, J in both triangles with opposite signs.
    let mut rng = Rng::new(5);
    let (dof, joints, contacts) = (7, 3, 5);
    let jacobian = Matrix::from_fn(joints + contacts, dof, |_, _| rng.normal());
    let root = Matrix::from_fn(dof, dof, |_, _| rng.normal());
    let n = dof + joints + contacts;
    let m = Matrix::from_fn(n, n, |i, j| match (i < dof, j < dof) {
        (true, true) => dot(root.col(i.min(j)), root.col(i.max(j))),
        (true, false) => -jacobian[(j - dof, i)],
        (false, true) => jacobian[(i - dof, j)],
        (false, false) => 0.0,
    });
    let q: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let mlcp = Mlcp::new(m, q, (0..n).map(|i| i < dof + joints).collect()).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    assert!(reduced.lcp.m().is_symmetric());
    assert!(all_come_back((&mlcp).into()) >= 1);
}

#[test]
fn mixed_monotone_problems_of_any_rank_come_back() {
    let mut rng = Rng::new(2);
    let (mut solved, mut total) = (0, 0);
    for _ in 0..400 {
        let n = 1 + rng.below(9);
        let rank = rng.below(n + 1);
        let m = psd_skew(&mut rng, n, rank);
        let free: Vec<bool> = (0..n).map(|_| rng.chance(0.5)).collect();
        let q = planted(&mut rng, &m, &free);
        let mlcp = Mlcp::new(m, q, free).unwrap();
        total += 1;
        solved += usize::from(all_come_back((&mlcp).into()) > 0);
    }
    assert_eq!(solved, total, "problems with a basis of their LCP that solves them");
}

#[test]
fn redundant_equations_are_dropped() {
    // Three joint rows of which the third is the sum of the others; the free velocity is consistent.
    let j = [[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [1.0, 1.0, 1.0]];
    let contact = [0.5, -1.0, 1.0];
    let m = Matrix::from_fn(7, 7, |r, c| match (r, c) {
        (0..3, 0..3) => f64::from(u8::from(r == c)),
        (0..3, 3..6) => -j[c - 3][r],
        (0..3, 6) => -contact[r],
        (3..6, 0..3) => j[r - 3][c],
        (6, 0..3) => contact[c],
        _ => 0.0,
    });
    let free = (0..7).map(|i| i < 6).collect::<Vec<_>>();
    let mlcp = Mlcp::new(m.clone(), vec![1.0, -2.0, 3.0, 0.25, 0.5, 0.75, -1.0], free.clone()).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    assert_eq!(reduced.lcp.n(), 1, "nothing was substituted");
    assert_eq!(all_come_back((&mlcp).into()), 1);
    // An equation that contradicts the others must not be lost.
    let wrong = Mlcp::new(m, vec![1.0, -2.0, 3.0, 0.25, 0.5, 0.76, -1.0], free).unwrap();
    let reduced = Reduced::new((&wrong).into()).unwrap();
    assert!(solutions(&reduced.lcp).is_empty(), "the equations have no solution");
}

#[test]
fn a_zero_free_block_pivots_through_complementary_rows() {
    // y₁ + y₂ = 1 with a free multiplier: a matrix game's row player.
    let m = Matrix::from_rows(&[[0.0, 1.0, 1.0], [-1.0, 2.0, 0.0], [-1.0, 0.0, 3.0]]).unwrap();
    let mlcp = Mlcp::new(m, vec![-1.0, 0.0, 0.0], vec![true, false, false]).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    assert_eq!(reduced.lcp.n(), 2);
    let (z, basis) = solutions(&reduced.lcp).pop().unwrap();
    let solved = back((&mlcp).into(), &reduced, &z, &basis);
    let z = &solved.solved().unwrap().z;
    for (found, wanted) in z.iter().zip([1.2, 0.6, 0.4]) {
        assert!((found - wanted).abs() < 1e-15, "{z:?}");
    }
}

#[test]
fn free_variables_that_cannot_be_eliminated_are_substituted() {
    // The equation fixes y; the free variable acts on the other row only.
    let m = Matrix::from_rows(&[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).unwrap();
    let mlcp = Mlcp::new(m, vec![-2.0, -2.0, 5.0], vec![true, false, false]).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    assert_eq!(reduced.lcp.n(), 4);
    assert!(all_come_back((&mlcp).into()) > 0);
}

#[test]
fn boxes_of_every_kind_come_back() {
    let mut rng = Rng::new(3);
    for round in 0..300 {
        let n = 1 + rng.below(5);
        let rank = rng.below(n + 1);
        let mut m = psd_skew(&mut rng, n, rank);
        for i in 0..n {
            m[(i, i)] += 0.5;
        }
        let q: Vec<f64> = (0..n).map(|_| rng.below(21) as f64 - 10.0).collect();
        let bounds = |rng: &mut Rng| {
            let (a, b) = (rng.below(9) as f64 - 4.0, 0.25 + rng.below(4) as f64);
            match rng.below(6) {
                0 => (f64::NEG_INFINITY, a),
                1 => (f64::NEG_INFINITY, f64::INFINITY),
                2 => (a, a),
                3 => (a, f64::INFINITY),
                _ => (a, a + b),
            }
        };
        let (lo, hi): (Vec<f64>, Vec<f64>) = (0..n).map(|_| bounds(&mut rng)).unzip();
        let problem = BoxLcp::new(m, q, lo, hi).unwrap();
        // Positive definite: exactly one z, if perhaps several bases.
        assert!(all_come_back((&problem).into()) >= 1, "round {round}: {problem:?}");
    }
}

#[test]
fn a_start_maps_to_the_basis_it_came_from() {
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let n = 1 + rng.below(4);
        let m = Matrix::from_fn(n, n, |i, j| rng.normal() + if i == j { 6.0 } else { 0.0 });
        let q: Vec<f64> = (0..n).map(|_| 5.0 * rng.normal()).collect();
        let kind = |rng: &mut Rng| {
            let ends =
                [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 1.0), (-1.0, 1.0), (f64::NEG_INFINITY, f64::INFINITY)];
            ends[rng.below(4)]
        };
        let (lo, hi): (Vec<f64>, Vec<f64>) = (0..n).map(|_| kind(&mut rng)).unzip();
        let problem = BoxLcp::new(m, q, lo, hi).unwrap();
        let reduced = Reduced::new((&problem).into()).unwrap();
        for (z, basis) in solutions(&reduced.lcp) {
            let (_, word) = reduced.recover((&problem).into(), &z, &basis);
            assert_eq!(reduced.start(&word), basis);
        }
    }
}

#[test]
fn factored_problems_are_formed() {
    let g = Matrix::from_rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]).unwrap();
    let plain = FactoredLcp::least_squares(g.clone(), vec![-1.0, 0.5]).unwrap();
    assert!(all_come_back((&plain).into()) >= 1);
    let bounded = plain.with_bounds(vec![-0.1; 3], vec![0.1, 0.2, f64::INFINITY]).unwrap();
    assert!(all_come_back((&bounded).into()) >= 1);
}

#[test]
fn exactness_is_known() {
    let m = Matrix::identity(1);
    let exact = |q: f64, lo: f64, hi: f64| {
        let problem = BoxLcp::new(m.clone(), vec![q], vec![lo], vec![hi]).unwrap();
        Reduced::new((&problem).into()).unwrap().is_exact()
    };
    assert!(exact(3.0, 0.0, 1.0));
    assert!(exact(3.0, -2.0, f64::INFINITY));
    assert!(!exact(1e17, 3.0, f64::INFINITY));
    assert!(!exact(0.0, 0.1, 1e17));
}

#[test]
fn what_leaves_the_range_is_an_error() {
    let problem = BoxLcp::new(Matrix::from_fn(1, 1, |_, _| 1e308), vec![0.0], vec![1e10], vec![f64::INFINITY]).unwrap();
    assert!(Reduced::new((&problem).into()).is_err());
}

#[test]
fn empty_problems() {
    let lcp = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
    assert_eq!(all_come_back((&lcp).into()), 1);
    // Equations only: the LCP is empty, its one basis gives the solution.
    let m = Matrix::from_rows(&[[2.0, 1.0], [1.0, 1.0]]).unwrap();
    let mlcp = Mlcp::new(m, vec![-3.0, -2.0], vec![true, true]).unwrap();
    let reduced = Reduced::new((&mlcp).into()).unwrap();
    assert_eq!(reduced.lcp.n(), 0);
    let (z, basis) = reduced.recover((&mlcp).into(), &[], &Basis::lower(0));
    assert_eq!(basis.positions(), [Position::Basic; 2]);
    let mut w = vec![0.0; 2];
    assert!(certify((&mlcp).into(), &z, &mut w).holds(1e-14));
}

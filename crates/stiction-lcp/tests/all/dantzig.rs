//! The driving method on symmetric positive semidefinite problems of every kind: certificates only, none may be
//! missing.

use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::generate::{self, Class, Rng};
use stiction_lcp::matrix::dot;
use stiction_lcp::{BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Options, Outcome, ProblemRef, Solver, StopReason};

const LARGEST: usize = 61;

/// What went wrong, if anything: a solution must come back certified, and again from its basis without a pivot.
fn complaint(solver: &mut Dantzig, problem: ProblemRef<'_>) -> Option<String> {
    let outcome = solver.solve_from(problem, None).unwrap();
    let solved = match &outcome {
        Outcome::Solved(solved) => solved,
        Outcome::Stopped(s) => return Some(format!("{}, {}, {} pivots", s.why, s.certificate, s.stats.pivots)),
        Outcome::Ray(r) => return Some(format!("ray: {}", r.claim)),
        Outcome::Unsolvable(u) => return Some(format!("unsolvable: {}", u.proof)),
    };
    let again = solver.solve_from(problem, Some(&solved.basis)).unwrap();
    match again.solved() {
        Some(_) if again.stats().pivots == 0 => None,
        Some(_) => Some(format!("{} pivots from its own basis {}", again.stats().pivots, solved.basis)),
        None => Some(format!("{} from its own basis {}", again.name(), solved.basis)),
    }
}

fn check_all<P>(count: u64, mut make: impl FnMut(&mut Rng, usize) -> P)
where
    for<'p> &'p P: Into<ProblemRef<'p>>,
{
    let mut solver = Dantzig::new(Options::default());
    let mut complaints = Vec::new();
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let n = seed as usize % LARGEST;
        let problem = make(&mut rng, n);
        if let Some(complaint) = complaint(&mut solver, (&problem).into()) {
            complaints.push(format!("seed {seed}, n {n}: {complaint}"));
        }
    }
    assert!(complaints.is_empty(), "{} of {count}:\n{}", complaints.len(), complaints.join("\n"));
}

/// `A` n × r with integers or normal numbers, zero rows and rows that stand twice, as columns of `Aᵀ`.
fn factor(rng: &mut Rng, n: usize, rank: usize) -> Matrix {
    let integers = rng.chance(0.5);
    let mut at = Matrix::from_fn(rank, n, |_, _| if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() });
    for j in 0..n {
        if rng.chance(0.05) {
            at.col_mut(j).fill(0.0);
        } else if j > 0 && rng.chance(0.1) {
            let twin = at.col(rng.below(j)).to_vec();
            at.col_mut(j).copy_from_slice(&twin);
        }
    }
    at
}

fn gram(at: &Matrix) -> Matrix {
    Matrix::from_fn(at.cols(), at.cols(), |i, j| dot(at.col(i.min(j)), at.col(i.max(j))))
}

fn any_rank(rng: &mut Rng, n: usize) -> usize {
    rng.below(n + 1) + usize::from(rng.chance(0.3)) * n
}

/// Scales over 10^±8, or exactly by powers of two, or not at all.
fn scales(rng: &mut Rng, n: usize) -> Vec<f64> {
    let kind = rng.below(3);
    (0..n)
        .map(|_| match kind {
            0 => 1.0,
            1 => 2f64.powi(rng.below(53) as i32 - 26),
            _ => rng.scale(8.0),
        })
        .collect()
}

/// `D M D`.
fn congruent(m: &Matrix, d: &[f64]) -> Matrix {
    Matrix::from_fn(m.rows(), m.cols(), |i, j| m[(i, j)] * (d[i] * d[j]))
}

fn number(rng: &mut Rng, integers: bool) -> f64 {
    if integers { 1.0 + rng.below(4) as f64 } else { 0.1 + rng.uniform() }
}

/// q with a planted solution z within the bounds, degenerate in a tenth of the rows.
fn planted(rng: &mut Rng, m: &Matrix, lo: &[f64], hi: &[f64]) -> Vec<f64> {
    let n = m.rows();
    // A solution at a bound of 1e10 would leave nothing of the other numbers in q.
    let far = |bound: &f64| if bound.abs() > 1e9 { bound * f64::INFINITY } else { *bound };
    let (lo, hi): (Vec<f64>, Vec<f64>) = (lo.iter().map(far).collect(), hi.iter().map(far).collect());
    let integers = rng.chance(0.5);
    let active = rng.uniform();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let degenerate = rng.chance(0.1);
        let at_lower = lo[i].is_finite() && (!hi[i].is_finite() || rng.chance(0.5));
        let free = !lo[i].is_finite() && !hi[i].is_finite();
        if free {
            z[i] = if rng.chance(0.5) { number(rng, integers) } else { -number(rng, integers) };
        } else if rng.chance(active) {
            z[i] = match (lo[i].is_finite(), hi[i].is_finite()) {
                (true, true) => 0.5 * (lo[i] + hi[i]),
                (true, false) => lo[i] + number(rng, integers),
                _ => hi[i] - number(rng, integers),
            };
        } else {
            z[i] = if at_lower { lo[i] } else { hi[i] };
            let size = if degenerate { 0.0 } else { number(rng, integers) };
            w[i] = if at_lower { size } else { -size };
        }
    }
    let mut mz = vec![0.0; n];
    m.mul_into(&z, &mut mz);
    w.iter().zip(&mz).map(|(w, mz)| w - mz).collect()
}

#[test]
fn generated_psd_problems() {
    let mut solver = Dantzig::new(Options::default());
    for seed in 0..6000 {
        let lcp = generate::random(Class::Psd, seed as usize % LARGEST, seed).unwrap();
        let complaint = complaint(&mut solver, (&lcp).into());
        assert_eq!(complaint, None, "seed {seed}");
    }
}

#[test]
fn lcps_scaled_over_sixteen_decades() {
    check_all(3000, |rng, n| {
        let rank = any_rank(rng, n);
        let m = gram(&factor(rng, n, rank));
        let q = planted(rng, &m, &vec![0.0; n], &vec![f64::INFINITY; n]);
        let d = scales(rng, n);
        Lcp::new(congruent(&m, &d), q.iter().zip(&d).map(|(q, d)| q * d).collect()).unwrap()
    });
}

/// Baraff's own kind: b in the column space of a rank-deficient A, as for a body at rest on redundant contacts; q =
/// Aᵀu with small integers gives ties in nearly every step. No infinite step may come up.
#[test]
fn rank_deficient_gram_matrices_with_degenerate_q() {
    let mut solver = Dantzig::new(Options::default());
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let n = 2 + seed as usize % 40;
        let rank = 1 + rng.below(n.min(6));
        let at = factor(&mut rng, n, rank);
        let u: Vec<f64> = (0..rank).map(|_| rng.below(3) as f64 - 1.0).collect();
        let q: Vec<f64> = (0..n).map(|j| dot(at.col(j), &u)).collect();
        let lcp = Lcp::new(gram(&at), q).unwrap();
        assert_eq!(complaint(&mut solver, (&lcp).into()), None, "seed {seed}");
    }
}

#[test]
fn bilateral_rows_redundant_ones_too() {
    check_all(3000, |rng, n| {
        let rank = any_rank(rng, n);
        let m = gram(&factor(rng, n, rank));
        let share = rng.uniform();
        let free: Vec<bool> = (0..n).map(|_| rng.chance(share)).collect();
        let lo: Vec<f64> = free.iter().map(|f| if *f { f64::NEG_INFINITY } else { 0.0 }).collect();
        let q = planted(rng, &m, &lo, &vec![f64::INFINITY; n]);
        let d = scales(rng, n);
        Mlcp::new(congruent(&m, &d), q.iter().zip(&d).map(|(q, d)| q * d).collect(), free).unwrap()
    });
}

/// Bounds of every kind around a planted solution.
fn bounds(rng: &mut Rng, n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut lo, mut hi) = (vec![0.0; n], vec![f64::INFINITY; n]);
    for i in 0..n {
        let a = rng.below(5) as f64 - 2.0;
        (lo[i], hi[i]) = match rng.below(8) {
            0 => (f64::NEG_INFINITY, a),
            1 => (f64::NEG_INFINITY, f64::INFINITY),
            2 => (a, a),
            3 => (a, a + rng.uniform()),
            4 | 5 => (-1.0 - rng.uniform(), 1.0 + rng.uniform()),
            6 => (-1e10, 1e10),
            _ => (0.0, f64::INFINITY),
        };
    }
    (lo, hi)
}

#[test]
fn boxes() {
    check_all(3000, |rng, n| {
        let rank = any_rank(rng, n);
        let m = gram(&factor(rng, n, rank));
        let (lo, hi) = bounds(rng, n);
        let q = planted(rng, &m, &lo, &hi);
        let d = scales(rng, n);
        let divide = |bound: &[f64]| bound.iter().zip(&d).map(|(b, d)| b / d).collect();
        let q = q.iter().zip(&d).map(|(q, d)| q * d).collect();
        BoxLcp::new(congruent(&m, &d), q, divide(&lo), divide(&hi)).unwrap()
    });
}

/// With all bounds finite every q has a solution.
#[test]
fn finite_boxes_with_any_q() {
    check_all(2000, |rng, n| {
        let rank = any_rank(rng, n);
        let m = gram(&factor(rng, n, rank));
        let integers = rng.chance(0.5);
        let q = (0..n).map(|_| if integers { rng.below(9) as f64 - 4.0 } else { 5.0 * rng.normal() }).collect();
        let lo: Vec<f64> = (0..n).map(|_| -(rng.below(3) as f64)).collect();
        let hi = (0..n).map(|_| rng.below(3) as f64).collect();
        BoxLcp::new(m, q, lo, hi).unwrap()
    });
}

#[test]
fn factored_problems() {
    check_all(1500, |rng, n| {
        let rank = 1 + rng.below(8);
        let g = factor(rng, n, rank);
        let u = (0..rank).map(|_| rng.normal()).collect();
        let problem = FactoredLcp::least_squares(g, u).unwrap();
        if rng.chance(0.5) {
            return problem;
        }
        let (lo, hi) = bounds(rng, n);
        problem.with_bounds(lo, hi).unwrap()
    });
}

/// q outside of the range of M: no solution, and the direction shows it.
#[test]
fn infeasible_problems_end_on_a_farkas_direction() {
    let mut solver = Dantzig::new(Options::default());
    let mut rays = 0;
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let n = 2 + seed as usize % 30;
        let rank = rng.below(n);
        let m = gram(&factor(&mut rng, n, rank));
        let q: Vec<f64> = (0..n).map(|_| rng.below(9) as f64 - 5.0).collect();
        let lcp = Lcp::new(m, q).unwrap();
        match solver.solve(&lcp).unwrap() {
            Outcome::Solved(_) => {}
            Outcome::Ray(ray) => {
                rays += 1;
                let mut md = vec![0.0; n];
                lcp.m().mul_into(&ray.direction, &mut md);
                let size: f64 = ray.direction.iter().sum::<f64>() * lcp.m().max_abs();
                assert!(ray.direction.iter().all(|d| *d >= 0.0), "seed {seed}");
                assert!(md.iter().all(|x| x.abs() <= 1e-9 * size), "seed {seed}: {md:?}");
                assert!(dot(lcp.q(), &ray.direction) < 0.0, "seed {seed}");
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(rays > 100, "only {rays} rays");
}

#[test]
fn limit_is_reported_with_the_best_z() {
    let lcp = Lcp::new(Matrix::identity(40), vec![-1.0; 40]).unwrap();
    let mut solver = Dantzig::new(Options { max_pivots: Some(2), ..Options::default() });
    match solver.solve(&lcp).unwrap() {
        Outcome::Stopped(s) => assert_eq!(s.why, StopReason::Limit(2)),
        other => panic!("{}", other.name()),
    }
}

#[test]
fn any_matrix_is_never_wrongly_solved_and_always_ends() {
    let mut solver = Dantzig::new(Options::default());
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let n = seed as usize % 25;
        let symmetric = rng.chance(0.5);
        let a = Matrix::from_fn(n, n, |_, _| rng.below(7) as f64 - 3.0);
        let m = Matrix::from_fn(n, n, |i, j| if symmetric { a[(i.min(j), i.max(j))] } else { a[(i, j)] });
        let (lo, hi) = bounds(&mut rng, n);
        let q = (0..n).map(|_| rng.below(7) as f64 - 3.0).collect();
        let problem = BoxLcp::new(m, q, lo, hi).unwrap();
        let outcome = solver.solve(&problem).unwrap();
        if let Outcome::Solved(solved) = outcome {
            let mut w = vec![0.0; n];
            assert!(stiction_lcp::certify((&problem).into(), &solved.z, &mut w).holds(1e-10));
        }
    }
}

#[test]
fn non_symmetric_definite_problems() {
    check_all(2000, |rng, n| {
        let rank = n + 2;
        let m = gram(&factor(rng, n, rank));
        let k = Matrix::from_fn(n, n, |_, _| rng.normal());
        let m = Matrix::from_fn(n, n, |i, j| m[(i, j)] + k[(i, j)] - k[(j, i)] + if i == j { 1.0 } else { 0.0 });
        let q = planted(rng, &m, &vec![0.0; n], &vec![f64::INFINITY; n]);
        let d = scales(rng, n);
        Lcp::new(congruent(&m, &d), q.iter().zip(&d).map(|(q, d)| q * d).collect()).unwrap()
    });
}

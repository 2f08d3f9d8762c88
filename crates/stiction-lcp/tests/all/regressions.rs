//! Cases that solvers are known to get wrong: each was a failure of some implementation once.
//!
//! The exact 3 × 3 cycle of Algorithm 1 of [Drumwright15] is tested beside the method, in `principal_pivot::modified`.

use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::generate::{Class, random};
use stiction_lcp::{BoxLcp, InputError, Lcp, Lemke, Matrix, Options, Outcome, ProblemRef, Solved, Solver, certify};

/// Solves and certifies again; `None` if the solver does not take the problem.
fn solve(solver: &str, problem: ProblemRef<'_>) -> Option<Solved> {
    let solved = match build(solver, &Options::default()).unwrap().solve_from(problem, None) {
        Ok(Outcome::Solved(solved)) => solved,
        Ok(other) => panic!("{solver}: {other:?}"),
        Err(InputError::Unsupported { .. }) => return None,
        Err(error) => panic!("{solver}: {error}"),
    };
    let certificate = certify(problem, &solved.z, &mut vec![0.0; problem.n()]);
    assert!(certificate.holds(1e-10), "{solver}: {certificate}");
    Some(solved)
}

fn solves(problem: &Lcp) {
    for solver in ["lemke", "auto"] {
        assert!(solve(solver, problem.into()).is_some(), "{solver} takes every problem");
    }
}

/// The contact problems of generated orders, with what `change` makes of q.
fn contacts(change: impl Fn(&mut [f64])) -> impl Iterator<Item = Lcp> {
    (0..60).map(move |seed| {
        let problem = random(Class::Contact, 6 + seed as usize, seed).unwrap();
        let mut q = problem.q().to_vec();
        change(&mut q);
        Lcp::new(problem.m().clone(), q).unwrap()
    })
}

mod a_tiny_negative_q {
    //! q ≈ −1e-19 must neither count as ≥ 0 (its row is violated by all of its size) nor lead Lemke's path to a false ray.

    use super::*;

    fn lcp<const N: usize>(m: &[[f64; N]; N], q: [f64; N]) -> Lcp {
        Lcp::new(Matrix::from_rows(m).unwrap(), q.to_vec()).unwrap()
    }

    #[test]
    fn with_the_identity() {
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for q in [[-1e-19, 1.0, 2.0], [-1e-19, -1.0, 2.0], [-1e-19, -2e-19, -3e-19], [-1e-19, 0.0, 0.0]] {
            let problem = lcp(&identity, q);
            for solver in ["lemke", "auto"] {
                let expected: Vec<f64> = q.iter().map(|q| (-q).max(0.0)).collect();
                assert_eq!(solve(solver, (&problem).into()).unwrap().z, expected, "{solver}");
            }
        }
    }

    #[test]
    fn with_semidefinite_matrices() {
        for (m, q) in [
            ([[1.0, 1.0], [1.0, 1.0]], [-1e-19, 1.0]),
            ([[1.0, 1.0], [1.0, 1.0]], [-1e-19, -2e-19]),
            ([[1.0, -1.0], [-1.0, 1.0]], [-1e-19, 1.0]),
            ([[1.0, -1.0], [-1.0, 1.0]], [-1e-19, 1e-19]),
            ([[1.0, 0.0], [0.0, 0.0]], [-1e-19, 0.0]),
            ([[0.0, 1.0], [-1.0, 0.0]], [-1e-19, 1.0]),
        ] {
            solves(&lcp(&m, q));
        }
        for seed in 0..100 {
            let problem = random(Class::Psd, 3 + seed as usize % 20, seed).unwrap();
            let tiny = problem.q().iter().map(|q| q * 1e-19).collect();
            solves(&Lcp::new(problem.m().clone(), tiny).unwrap());
        }
    }

    #[test]
    fn in_one_contact_of_many() {
        let problems = contacts(|q| {
            q.iter_mut().for_each(|q| *q = q.abs());
            q[0] = -1e-19;
        });
        problems.for_each(|problem| solves(&problem));
    }

    #[test]
    fn in_one_contact_beside_others_that_approach() {
        contacts(|q| q[0] = -1e-19).for_each(|problem| solves(&problem));
    }

    #[test]
    fn in_all_contacts() {
        contacts(|q| q.iter_mut().for_each(|q| *q *= 1e-19)).for_each(|problem| solves(&problem));
    }
}

/// Without friction the cone's rows are `−Σ φ ≥ 0` with q = 0: what pivoting leaves of them is noise, and must not block.
#[test]
fn a_homogeneous_row_of_noise_does_not_block() {
    let mut frictionless = 0;
    for seed in 0..1000 {
        let problem = random(Class::Contact, 6 + seed as usize % 40, seed).unwrap();
        let last = problem.n() - 1;
        if (0..problem.n()).all(|j| problem.m()[(last, j)] <= 0.0) {
            frictionless += 1;
            solves(&problem);
        }
    }
    assert!(frictionless > 50, "{frictionless} problems without friction");
}

/// On a rank-deficient matrix the driving direction is lost to rounding if a tie goes to the wrong row, and a step becomes infinite.
#[test]
fn the_driving_method_makes_no_infinite_step_on_rank_deficient_matrices() {
    for seed in 0..400 {
        let problem = random(Class::Psd, 4 + seed as usize % 30, seed).unwrap();
        assert!(solve("dantzig", (&problem).into()).is_some());
    }
    for points in [4, 9, 16, 36] {
        let problem = resting_plate(points);
        assert!(solve("dantzig", (&problem).into()).is_some());
    }
}

/// A square plate on a grid of contact points: rank 3 whatever their number.
fn resting_plate(points: usize) -> Lcp {
    let side = points.isqrt();
    let at = |k: usize| 2.0 * k as f64 / (side - 1) as f64 - 1.0;
    let row = |i: usize| [1.0, at(i % side) * 3f64.sqrt(), at(i / side) * 3f64.sqrt()];
    let m = Matrix::from_fn(points, points, |i, j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum());
    Lcp::new(m, vec![-9.81e-3; points]).unwrap()
}

/// A large positive q must not become the unit in which the others are zero.
#[test]
fn a_large_q_does_not_hide_small_ones() {
    let problem = Lcp::new(Matrix::identity(3), vec![1e12, -1.0, -2.0]).unwrap();
    for entry in &CATALOG {
        let solved = solve(entry.name, (&problem).into()).expect("every solver takes the identity");
        assert_eq!(solved.z, [0.0, 1.0, 2.0], "{}", entry.name);
        assert_eq!(solved.w, [1e12, 0.0, 0.0], "{}", entry.name);
    }
}

/// The upper bound stops z where w is still negative.
#[test]
fn a_clamped_variable_is_at_its_upper_bound() {
    let problem = BoxLcp::new(Matrix::identity(1), vec![-5.0], vec![0.0], vec![2.0]).unwrap();
    for entry in &CATALOG {
        let Some(solved) = solve(entry.name, (&problem).into()) else {
            assert_eq!(entry.name, "modified-ppm", "the only method without bounds");
            continue;
        };
        assert_eq!(
            (solved.z, solved.w, solved.basis.to_string()),
            (vec![2.0], vec![-3.0], "u".into()),
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_covering_vector_is_taken_or_refused_with_the_reason() {
    let problem = Lcp::new(Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]).unwrap(), vec![-5.0, -6.0]).unwrap();
    let solve = |d: &[f64]| Lemke::new(Options::default()).with_covering(d.to_vec()).with_restarts(0).solve(&problem);
    let solved = solve(&[1.0, 3.0]).unwrap();
    assert_eq!(solved.solved().unwrap().z, [4.0 / 3.0, 7.0 / 3.0]);
    assert!(solve(&[1.0]).unwrap_err().to_string().contains("covering vector: expected 2, found 1"));
    assert!(solve(&[1.0, -1.0]).unwrap_err().to_string().contains("entry 1 must be positive"));
}

#[test]
fn a_limit_on_pivots_holds_for_all_starts_together() {
    let problem = random(Class::PsdSkew, 40, 3).unwrap();
    let outcome = Lemke::new(Options { max_pivots: Some(7), ..Options::default() }).solve(&problem).unwrap();
    assert!(matches!(outcome, Outcome::Stopped(_)) && outcome.stats().pivots <= 7);
}

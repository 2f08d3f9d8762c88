use stiction_lcp::Matrix;
use stiction_lcp::generate::Rng;

use super::{CoulombCone, FrictionOutcome, FrictionSolved};
use crate::friction_problem::FrictionProblem;
use crate::mass::Mass;
use crate::model::{ContactModel, Level, Mode, ModelOptions};
use crate::problem::ContactProblem;
use crate::sparse::SparseMatrix;

const G_DT: f64 = 0.0981;

fn solve(problem: &FrictionProblem) -> FrictionSolved {
    match CoulombCone::default().solve_friction(problem, None).unwrap() {
        FrictionOutcome::Solved(solved) => solved,
        FrictionOutcome::Failed(failed) => panic!("{}: {}", failed.why, failed.certificate),
    }
}

/// A point of unit mass on a plane.
fn point(q: [f64; 3], mu: f64) -> FrictionProblem {
    let w = SparseMatrix::from_entries(3, 3, (0..3).map(|i| (i, i, 1.0))).unwrap();
    FrictionProblem::new(3, w, q.to_vec(), vec![mu]).unwrap()
}

/// A rigid box of mass m and half sides h on the plane z = 0, contacts at the given points (x, y) of its bottom, velocity v without impulses.
fn table(m: f64, h: [f64; 3], points: &[(f64, f64)], mu: &[f64], v: [f64; 6]) -> (FrictionProblem, Matrix) {
    let i = [h[1] * h[1] + h[2] * h[2], h[0] * h[0] + h[2] * h[2], h[0] * h[0] + h[1] * h[1]].map(|x| m / 3.0 * x);
    let inverse = [m, m, m, i[0], i[1], i[2]].map(|x| 1.0 / x);
    // Rows n, t1, t2 at the arm p: d for the velocity and p × d for the spin.
    let rows: Vec<[f64; 6]> = points
        .iter()
        .flat_map(|&(x, y)| {
            let z = -h[2];
            [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]]
        })
        .collect();
    let jacobian = Matrix::from_rows(&rows).unwrap();
    let n = rows.len();
    let entry = |i: usize, j: usize| (0..6).map(|k| rows[i][k] * inverse[k] * rows[j][k]).sum::<f64>();
    let w = Matrix::from_fn(n, n, entry);
    let q = rows.iter().map(|row| (0..6).map(|k| row[k] * v[k]).sum()).collect();
    (FrictionProblem::new(3, SparseMatrix::from_dense(&w).unwrap(), q, mu.to_vec()).unwrap(), jacobian)
}

const CORNERS: [(f64, f64); 4] = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];

/// Force and moment of all contacts together.
fn resultant(jacobian: &Matrix, r: &[f64]) -> [f64; 6] {
    std::array::from_fn(|k| (0..r.len()).map(|i| jacobian[(i, k)] * r[i]).sum())
}

#[test]
fn one_contact_sticks_slides_or_opens() {
    let stick = solve(&point([-1.0, 0.2, 0.1], 0.5));
    assert_eq!(stick.modes, [Mode::Stick]);
    assert_eq!(stick.u, [0.0; 3]);
    let slide = solve(&point([-1.0, 3.0, 4.0], 0.5));
    assert_eq!(slide.modes, [Mode::Slide]);
    for (r, expected) in slide.r.iter().zip([1.0, -0.3, -0.4]) {
        assert!((r - expected).abs() < 1e-15, "{:?}", slide.r);
    }
    let open = solve(&point([1.0, 3.0, 4.0], 0.5));
    assert_eq!((open.modes, open.r), (vec![Mode::Open], vec![0.0; 3]));
}

#[test]
fn without_friction_and_without_its_limit() {
    let slippery = solve(&point([-1.0, 3.0, 4.0], 0.0));
    assert_eq!(slippery.r, [1.0, 0.0, 0.0]);
    let rough = solve(&point([-1.0, 3.0, 4.0], f64::INFINITY));
    assert_eq!(rough.r, [1.0, -3.0, -4.0]);
    // Without a limit friction still needs the surfaces to touch.
    let lifted = solve(&point([1.0, 3.0, 4.0], f64::INFINITY));
    assert_eq!((lifted.r, lifted.modes), (vec![0.0; 3], vec![Mode::Open]));
}

#[test]
fn block_on_a_slope() {
    // Slopes (sin, cos) = (3, 4)/5: tan = 0.75. Below, at and above the friction angle. Where friction is just enough, directions that
    // turn by the square root of rounding are within rounding of the law.
    for (mu, within) in [(1.0, 1e-15), (0.75, 1e-10), (0.5, 1e-15)] {
        let v = [G_DT * 0.6, 0.0, -G_DT * 0.8, 0.0, 0.0, 0.0];
        let (problem, jacobian) = table(2.0, [0.5, 0.5, 0.1], &CORNERS, &[mu; 4], v);
        let solved = solve(&problem);
        let force = resultant(&jacobian, &solved.r);
        let friction = -2.0 * G_DT * f64::min(0.6, mu * 0.8);
        for (found, expected) in force.iter().zip([friction, 0.0, 2.0 * G_DT * 0.8]) {
            assert!((found - expected).abs() < within, "mu {mu}: {force:?}");
        }
        let speed = (G_DT * (0.6 - mu * 0.8)).max(0.0);
        assert!(solved.u.chunks(3).all(|u| (u[1] - speed).abs() < within), "mu {mu}: {:?}", solved.u);
    }
}

#[test]
fn a_redundant_table_has_the_right_resultants() {
    let points: Vec<(f64, f64)> =
        (0..16).map(|k| (f64::from(k % 4) / 3.0 - 0.5, f64::from(k / 4) / 3.0 - 0.5)).collect();
    let (problem, jacobian) = table(3.0, [0.5; 3], &points, &[0.6; 16], [0.01, 0.0, -G_DT, 0.0, 0.0, 0.02]);
    let solved = solve(&problem);
    assert!(solved.modes.iter().all(|&mode| mode != Mode::Slide));
    assert!(solved.u.iter().all(|u| u.abs() < 1e-14), "{:?}", solved.u);
    let force = resultant(&jacobian, &solved.r);
    assert!((force[2] - 3.0 * G_DT).abs() < 1e-14 && (force[0] + 0.03).abs() < 1e-14, "{force:?}");
}

#[test]
fn units_do_not_matter() {
    let v = [0.03, -0.02, -G_DT, 0.1, -0.2, 0.3];
    let (problem, _) = table(1.0, [0.5; 3], &CORNERS, &[0.3; 4], v);
    let solved = solve(&problem);
    // Powers of two: the same bits, scaled.
    let (mass, speed) = (f64::powi(2.0, 40), f64::powi(2.0, -30));
    let w = SparseMatrix::from_dense(&Matrix::from_fn(12, 12, |i, j| problem.w().to_dense()[(i, j)] / mass)).unwrap();
    let q = problem.q().iter().map(|q| q * speed).collect();
    let scaled = solve(&FrictionProblem::new(3, w, q, vec![0.3; 4]).unwrap());
    assert!(scaled.r.iter().zip(&solved.r).all(|(a, b)| *a == b * mass * speed));
    assert_eq!(scaled.modes, solved.modes);
}

#[test]
fn in_two_dimensions() {
    let w = SparseMatrix::from_entries(
        4,
        4,
        [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 1.0), (3, 3, 1.0), (0, 2, 0.5), (2, 0, 0.5)],
    );
    let problem = FrictionProblem::new(2, w.unwrap(), vec![-1.0, 0.1, -1.0, -5.0], vec![0.5, 0.1]).unwrap();
    let solved = solve(&problem);
    // Normals: 2 a + b/2 = 1, a/2 + b = 1.
    let (a, b) = (0.5 / 1.75, 1.5 / 1.75);
    for (r, expected) in solved.r.iter().zip([a, -0.05, b, 0.1 * b]) {
        assert!((r - expected).abs() < 1e-15, "{:?}", solved.r);
    }
    assert_eq!(solved.modes, [Mode::Stick, Mode::Slide]);
}

#[test]
fn nothing_to_do_and_noise() {
    assert_eq!(solve(&point([0.0; 3], 0.5)).r, [0.0; 3]);
    let empty = FrictionProblem::new(3, SparseMatrix::from_entries(0, 0, []).unwrap(), vec![], vec![]).unwrap();
    assert!(solve(&empty).r.is_empty());
    let noise = solve(&point([-1e-17, 1e-18, 0.0], 0.5));
    assert!(noise.stats.rounding_noise && noise.certificate.holds(1e-15));
    assert!(!solve(&point([-1e-3, 0.0, 0.0], 0.5)).stats.rounding_noise);
}

#[test]
fn bad_options_and_starts_are_named() {
    let problem = point([-1.0, 0.0, 0.0], 0.5);
    let mut solver = CoulombCone::new(Level::Velocity, ModelOptions { tolerance: 0.0, ..ModelOptions::default() });
    assert!(solver.solve_friction(&problem, None).unwrap_err().to_string().contains("tolerance"));
    let error = CoulombCone::default().solve_friction(&problem, Some(&[Mode::Open; 2])).unwrap_err();
    assert!(error.to_string().contains("modes to start from"));
}

#[test]
fn what_has_no_solution_is_not_solved() {
    // W = 0: no impulse changes the approach.
    let w = SparseMatrix::from_entries(3, 3, []).unwrap();
    let problem = FrictionProblem::new(3, w, vec![-1.0, 0.0, 0.0], vec![0.5]).unwrap();
    let outcome = CoulombCone::default().solve_friction(&problem, None).unwrap();
    assert!(outcome.solved().is_none() && outcome.certificate().worst() > 0.1);
}

/// A random stack of boxes with four contacts between neighbours.
fn stack(rng: &mut Rng, boxes: usize) -> FrictionProblem {
    let mut rows: Vec<Vec<(usize, [f64; 6])>> = Vec::new();
    let (h, mu) = ([0.5; 3], 0.1 + 0.9 * rng.uniform());
    for b in 0..boxes {
        for (x, y) in CORNERS {
            let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            for d in frame {
                let at = |z: f64, s: f64| {
                    [d[0], d[1], d[2], y * d[2] - z * d[1], z * d[0] - x * d[2], x * d[1] - y * d[0]].map(|v| s * v)
                };
                let mut row = vec![(b, at(-h[2], 1.0))];
                if b > 0 {
                    row.push((b - 1, at(h[2], -1.0)));
                }
                rows.push(row);
            }
        }
    }
    let mass: Vec<f64> = (0..boxes).map(|_| rng.scale(1.0)).collect();
    let inverse = |b: usize, k: usize| if k < 3 { 1.0 / mass[b] } else { 6.0 / mass[b] };
    let spread = [0.0, 0.01, 0.3][rng.below(3)];
    let v: Vec<[f64; 6]> =
        (0..boxes).map(|_| std::array::from_fn(|k| spread * rng.normal() - if k == 2 { G_DT } else { 0.0 })).collect();
    let n = rows.len();
    let entry = |i: usize, j: usize| {
        let mut sum = 0.0;
        for (b, row) in &rows[i] {
            for (_, other) in rows[j].iter().filter(|(c, _)| c == b) {
                sum += (0..6).map(|k| row[k] * inverse(*b, k) * other[k]).sum::<f64>();
            }
        }
        sum
    };
    let w = SparseMatrix::from_dense(&Matrix::from_fn(n, n, entry)).unwrap();
    let q = rows
        .iter()
        .map(|row| row.iter().map(|(b, row)| (0..6).map(|k| row[k] * v[*b][k]).sum::<f64>()).sum())
        .collect();
    FrictionProblem::new(3, w, q, vec![mu; n / 3]).unwrap()
}

#[test]
fn random_stacks_are_solved_and_near_starts_hold() {
    let mut solver = CoulombCone::default();
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let boxes = 1 + rng.below(6);
        let problem = stack(&mut rng, boxes);
        let outcome = solver.solve_friction(&problem, None).unwrap();
        let solved = outcome.solved().unwrap_or_else(|| panic!("seed {seed}: {}", outcome.certificate()));
        let again = solver.solve_friction_near(&problem, solved).unwrap();
        assert!(again.solved().is_some() && again.stats().iterations == 0, "seed {seed}: {:?}", again.stats());
    }
}

#[test]
fn a_used_solver_gives_the_same_bits() {
    let mut used = CoulombCone::default();
    for seed in 0..10 {
        let mut rng = Rng::new(seed);
        let boxes = 1 + rng.below(7);
        let problem = stack(&mut rng, boxes);
        let fresh = CoulombCone::default().solve_friction(&problem, None).unwrap();
        assert_eq!(used.solve_friction(&problem, None).unwrap(), fresh, "seed {seed}");
    }
}

#[test]
fn rows_alone_obey_their_laws() {
    // One row each, on a body of its own: W = 2, q given; the impulse of each law by hand.
    let (unilateral, bilateral, bounded) = (0, 1, 2);
    let laws = [
        (unilateral, -3.0, 1.5),
        (unilateral, 3.0, 0.0),
        (bounded, -3.0, 0.5),
        (bounded, 3.0, -1.0),
        (bounded, -0.5, 0.25),
        (bilateral, 3.0, -1.5),
    ];
    let mass = Mass::new(vec![Matrix::from_fn(1, 1, |_, _| 0.5); laws.len()]).unwrap();
    let q = laws.iter().map(|law| law.1).collect();
    let mut problem = ContactProblem::new(mass, q, vec![0.0; laws.len()], 1.0).unwrap();
    for (block, law) in laws.iter().enumerate() {
        let row: &[(usize, &[f64])] = &[(block, &[1.0])];
        match law.0 {
            0 => problem.add_limit(row, 0.0, 0.0, 0.0).unwrap(),
            1 => problem.add_bilateral(row, 0.0, 0.0).unwrap(),
            _ => problem.add_bounded(row, -1.0, 0.5, 0.0, 0.0).unwrap(),
        };
    }
    let outcome = CoulombCone::default().solve(&problem).unwrap();
    let forces = &outcome.solved().unwrap().forces;
    let mut found = [forces.limit.iter(), forces.bilateral.iter(), forces.bounded.iter()];
    for law in laws {
        let p = found[law.0].next().unwrap();
        assert!((p - law.2).abs() < 1e-15, "{law:?}: {p}");
    }
}

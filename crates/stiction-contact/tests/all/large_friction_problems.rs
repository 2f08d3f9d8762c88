//! Friction problems of hundreds of contacts, given by their Delassus operators alone.

use stiction_contact::models::coulomb_cone::{CoulombCone, FrictionOutcome};
use stiction_contact::scenes::{Body, Touch, assemble, unit};
use stiction_contact::{
    ContactModel, ContactOutcome, ContactProblem, FrictionProblem, Level, ModelOptions, SparseMatrix,
};
use stiction_lcp::generate::Rng;

/// Cubes on a lattice that tumble: each touches its neighbours, and the lowest the floor.
fn heap(side: usize, mu: f64, seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed);
    let mut noise = |size: f64| size * (2.0 * rng.uniform() - 1.0);
    let mut bodies = vec![];
    for k in 0..side * side * side {
        let at = [k % side, k / side % side, k / side / side].map(|x| x as f64 * 0.1 + 0.05);
        let mut cube = Body::cuboid(1.0, [0.1; 3], at);
        cube.force = [0.0, 0.0, -9.81];
        cube.v = [noise(0.3), noise(0.3), noise(0.3)];
        bodies.push(cube);
    }
    let mut touches = vec![];
    for k in 0..bodies.len() {
        let cell = [k % side, k / side % side, k / side / side];
        for (axis, step) in [1, side, side * side].into_iter().enumerate() {
            let mut normal = [noise(0.3), noise(0.3), noise(0.3)];
            normal[axis] = 1.0;
            let mut point = bodies[k].centre;
            (0..3).for_each(|j| point[j] += noise(0.03));
            if cell[axis] + 1 < side {
                point[axis] += 0.05;
                touches.push(Touch { mu, ..Touch::new(k + step, Some(k), point, unit(normal)) });
            }
            if axis == 2 && cell[2] == 0 {
                point[2] = 0.0;
                touches.push(Touch { mu, ..Touch::new(k, None, point, [0.0, 0.0, 1.0]) });
            }
        }
    }
    assemble(&bodies, &touches, 0.002).unwrap()
}

/// `W = A M⁻¹ Aᵀ` and the velocities without impulses.
fn friction_problem(problem: &ContactProblem) -> FrictionProblem {
    let (contacts, m) = (problem.contacts(), problem.m());
    let rows = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
    let mut free: Vec<f64> = problem.force().iter().map(|f| problem.dt() * f).collect();
    problem.mass().solve(&mut free);
    free.iter_mut().zip(problem.v()).for_each(|(x, v)| *x += v);
    let (mut entries, mut q) = (vec![], vec![]);
    for j in 0..3 * contacts.len() {
        let mut response = vec![0.0; m];
        for (block, row) in rows[j % 3].row(j / 3) {
            response[problem.layout().range(block)].copy_from_slice(row);
        }
        problem.mass().solve(&mut response);
        for i in 0..3 * contacts.len() {
            let w = rows[i % 3].dot(i / 3, &response);
            if w != 0.0 {
                entries.push((i, j, w));
            }
        }
        q.push(rows[j % 3].dot(j / 3, &free));
    }
    let n = q.len();
    FrictionProblem::new(3, SparseMatrix::from_entries(n, n, entries).unwrap(), q, contacts.mu.clone()).unwrap()
}

#[test]
fn heaps_are_solved_without_their_bodies() {
    for (side, mu, seed) in [(4, 0.5, 1), (4, 1.0, 2), (5, 0.7, 3)] {
        let problem = friction_problem(&heap(side, mu, seed));
        assert!(problem.contacts() > 140, "{} contacts", problem.contacts());
        match CoulombCone::default().solve_friction(&problem, None).unwrap() {
            FrictionOutcome::Solved(solved) => {
                assert!(solved.certificate.holds(1e-10), "{:?}", solved.certificate);
                assert!(solved.r.iter().any(|r| *r > 0.0), "no impulses");
                assert!(solved.stats.iterations < 500, "{} iterations", solved.stats.iterations);
            }
            FrictionOutcome::Failed(failed) => panic!("side {side}, mu {mu}: {:?}", failed.certificate),
        }
    }
}

/// The same heaps with some coefficients infinite: these contacts hold, part, or slide in the limit of Coulomb's law.
#[test]
fn heaps_with_infinite_coefficients_are_solved_without_their_bodies() {
    for (side, mu, every, seed) in [(4, 0.5, 3, 1), (4, 1.0, 3, 2), (4, 0.3, 2, 3), (4, 0.7, 7, 4)] {
        let finite = friction_problem(&heap(side, mu, seed));
        let mus = (0..finite.contacts()).map(|i| if i % every == 0 { f64::INFINITY } else { mu }).collect();
        let problem = FrictionProblem::new(3, finite.w().clone(), finite.q().to_vec(), mus).unwrap();
        match CoulombCone::default().solve_friction(&problem, None).unwrap() {
            FrictionOutcome::Solved(solved) => assert!(solved.certificate.holds(1e-10), "{:?}", solved.certificate),
            FrictionOutcome::Failed(failed) => panic!("side {side}, mu {mu}, seed {seed}: {:?}", failed.certificate),
        }
    }
}

/// Where a search ends because of the limit of its work, the outcome says so.
#[test]
fn a_limit_that_is_reached_is_named() {
    let problem = heap(4, 1.0, 2);
    let options = ModelOptions { max_pivots: Some(4), ..ModelOptions::default() };
    match CoulombCone::new(Level::Velocity, options).solve(&problem).unwrap() {
        ContactOutcome::Failed(failed) => assert!(failed.why.contains("ended at 4 factors"), "{}", failed.why),
        other => panic!("{}", other.name()),
    }
}

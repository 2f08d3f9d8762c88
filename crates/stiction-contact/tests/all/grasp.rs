//! Drumwright's grasp without slip: the row of blocks falls as one body, and does not creep.

use stiction_contact::models::{NoSlip, NoSlipOptions, NormalOptions, NormalSolver};
use stiction_contact::{ContactModel, ContactOutcome, scenes};

/// Symplectic Euler with constant Jacobians: the largest displacement of a body beside the first one (m).
fn creep(blocks: usize, steps: usize, dt: f64, solver: NormalSolver) -> f64 {
    let normals = NormalOptions { solver, ..Default::default() };
    let mut model = NoSlip::new(NoSlipOptions { normals, release: false });
    let mut problem = scenes::grasp(blocks, 100.0, dt).unwrap();
    let force = problem.force().to_vec();
    let (mut v, mut q) = (vec![0.0; problem.m()], vec![0.0; problem.m()]);
    let mut start = None;
    for step in 0..steps {
        problem.set_motion(&v, &force).unwrap();
        let solution = match model.solve_from(&problem, start.as_ref()).unwrap() {
            ContactOutcome::Solved(solution) => solution,
            other => panic!("{blocks} blocks, step {step}: {other:?}"),
        };
        assert!(solution.active_contacts() <= 3 * (blocks - 1), "at most rank(N P) positive normals");
        assert_eq!(solution.stats.fallbacks, 0);
        assert!(step == 0 || solution.stats.pivots == 0, "step {step} took {} pivots", solution.stats.pivots);
        v.copy_from_slice(&solution.motion);
        q.iter_mut().zip(&v).for_each(|(q, v)| *q += dt * v);
        start = Some(solution.warm_start);
    }
    let time = dt * steps as f64;
    let fall = -9.81 * blocks as f64 / (blocks as f64 + 2.0) * time;
    for body in 0..blocks + 2 {
        assert!((v[6 * body + 2] / fall - 1.0).abs() < 1e-11, "all fall with g n/(n + 2)");
    }
    let off = |body: usize, k: usize| (q[6 * body + k] - q[k]).abs();
    (0..blocks + 2).flat_map(|body| (0..6).map(move |k| off(body, k))).fold(0.0, f64::max)
}

#[test]
fn blocks_do_not_creep() {
    for (blocks, steps) in [(2, 300), (5, 40), (10, 6)] {
        for solver in [NormalSolver::Nnls, NormalSolver::ModifiedPpm] {
            let creep = creep(blocks, steps, 1e-3, solver);
            assert!(creep <= 1e-13, "{blocks} blocks creep by {creep:e} m");
        }
    }
}

#[test]
#[ignore = "minutes: run in release"]
fn blocks_do_not_creep_for_long() {
    for blocks in 2..=10 {
        let (fine, coarse) =
            (creep(blocks, 10_000, 1e-3, NormalSolver::Nnls), creep(blocks, 10_000, 1e-2, NormalSolver::Nnls));
        assert!(fine <= 1e-12 && coarse <= 1e-10, "{blocks} blocks creep by {fine:e} m, at 10 ms by {coarse:e} m");
    }
}

//! Slowly changing sequences with the same contacts: the last solution starts the next solve, and nearly always nothing is left to do.

use stiction_contact::models::catalog::{self, CATALOG};
use stiction_contact::scenes::{Body, Touch, Vec3, assemble};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, ModelKind, ModelOptions, WarmStart};

/// Steps of each sequence.
const STEPS: usize = 200;

/// A stack of three boxes on the floor, pushed sideways by a force that grows and falls slowly: sticks, then slides, then sticks.
fn stack(step: usize, v: &[f64]) -> ContactProblem {
    let (corners, t) = ([(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)], step as f64 / STEPS as f64);
    let mut bodies: Vec<Body> = (0..3).map(|k| Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, k as f64 + 0.5])).collect();
    for body in &mut bodies {
        body.force = [0.0, 0.0, -9.81];
    }
    bodies[0].force[0] = 40.0 * t * (1.0 - t);
    let touches: Vec<Touch> = (0..3)
        .flat_map(|k| corners.map(|(x, y)| (k, [x, y, k as f64])))
        .map(|(k, point): (usize, Vec3)| Touch { mu: 0.3, ..Touch::new(k, k.checked_sub(1), point, [0.0, 0.0, 1.0]) })
        .collect();
    let mut problem = assemble(&bodies, &touches, 1e-3).unwrap();
    let force = problem.force().to_vec();
    problem.set_motion(v, &force).unwrap();
    problem
}

/// Runs the sequence under a model; gives how many steps needed at most one pivot or iteration.
fn at_once(model: &mut dyn ContactModel) -> usize {
    let (mut v, mut start, mut at_once): (Vec<f64>, Option<WarmStart>, usize) = (vec![0.0; 18], None, 0);
    let accelerations = model.level() == stiction_contact::Level::Acceleration;
    for step in 0..STEPS {
        let problem = stack(step, &v);
        let outcome = model.solve_from(&problem, start.as_ref()).unwrap();
        let ContactOutcome::Solved(solution) = outcome else { panic!("{} step {step}: {outcome:?}", model.name()) };
        at_once += usize::from(solution.stats.pivots <= 1);
        match accelerations {
            // At rest: the push changes slowly, nothing slips.
            true => v.fill(0.0),
            false => v.clone_from(&solution.motion),
        }
        start = Some(solution.warm_start);
    }
    at_once
}

#[test]
fn the_last_solution_starts_the_next_step() {
    for entry in &CATALOG {
        let mut model = catalog::build(entry.kind, &ModelOptions::default()).unwrap();
        let count = at_once(model.as_mut());
        assert!(count * 100 >= STEPS * 95, "{}: {count} of {STEPS} steps", entry.name);
    }
}

#[test]
fn every_model_is_in_the_catalog_under_its_name() {
    for entry in &CATALOG {
        let model = catalog::build(entry.kind, &ModelOptions::default()).unwrap();
        assert_eq!(model.name(), entry.name);
        assert_eq!(model.level(), entry.levels[0]);
    }
    let error = "coulomb".parse::<ModelKind>().unwrap_err().to_string();
    assert!(error.contains("coulomb-cone"), "{error}");
}

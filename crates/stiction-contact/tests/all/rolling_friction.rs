//! Moments against rolling under Coulomb's cone: mechanics in closed form, random problems, warm starts, what refuses them.

use stiction_contact::certificate::cone::ConeLaw;
use stiction_contact::models::catalog;
use stiction_contact::scenes::{self, Body, Recipe, Touch, assemble};
use stiction_contact::{
    Certifier, Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, CoulombCone, Level, Mass,
    ModelKind, ModelOptions,
};
use stiction_lcp::Matrix;

const G: f64 = 9.81;
const MASS: f64 = 2.0;
const RADIUS: f64 = 0.1;

fn solved(model: &mut CoulombCone, problem: &ContactProblem) -> ContactSolution {
    match model.solve(problem).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        other => panic!("{other:?}"),
    }
}

/// A solid ball on a plane of this slope, downhill along x, that rolls with the velocity (x, y).
fn ball(slope: f64, mu_roll: f64, [x, y]: [f64; 2], dt: f64) -> ContactProblem {
    let length = (1.0 + slope * slope).sqrt();
    let mut ball = Body::cuboid(MASS, [1.0; 3], [0.0, 0.0, RADIUS]);
    ball.inertia = [0.4 * MASS * RADIUS * RADIUS; 3];
    ball.force = [MASS * G * slope / length, 0.0, -MASS * G / length];
    (ball.v, ball.omega) = ([x, y, 0.0], [-y / RADIUS, x / RADIUS, 0.0]);
    let touch = Touch { mu: 0.8, mu_roll, size: RADIUS, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
    assemble(&[ball], &[touch], dt).unwrap()
}

#[test]
fn a_rolling_ball_slows_down_evenly_and_stays_where_it_stops() {
    let (dt, mu_roll) = (1e-2, 2e-3);
    // m a = f and I α = −f R − μ N with a = α R: a = −μ g / (R (1 + 2/5)).
    let brake = mu_roll * G / (RADIUS * 1.4) * dt;
    let mut model = CoulombCone::default();
    let mut problem = ball(0.0, mu_roll, [0.03, 0.04], dt);
    let force = problem.force().to_vec();
    let mut start = None;
    let mut speed = 0.05;
    for step in 0..60 {
        let outcome = model.solve_from(&problem, start.as_ref()).unwrap();
        let solution = outcome.solved().unwrap_or_else(|| panic!("step {step}"));
        speed = f64::max(speed - brake, 0.0);
        let expected = [0.6 * speed, 0.8 * speed, 0.0, -0.8 * speed / RADIUS, 0.6 * speed / RADIUS, 0.0];
        for (v, expected) in solution.motion.iter().zip(expected) {
            assert!((v - expected).abs() < 1e-14, "step {step}: {:?} instead of {expected:?}", solution.motion);
        }
        let moment = solution.forces.roll_s[0].hypot(solution.forces.roll_t[0]);
        let most = mu_roll * solution.forces.normal[0];
        if speed > 0.0 {
            assert!((moment - most).abs() < 1e-14 * most, "step {step}: {moment} of {most}");
        }
        start = Some(solution.warm_start.clone());
        problem.set_motion(&solution.motion, &force).unwrap();
    }
    assert_eq!(speed, 0.0);
    // At rest nothing changes, to the last bit.
    let last = model.solve_from(&problem, start.as_ref()).unwrap();
    let last = last.solved().unwrap();
    assert!(last.motion.iter().all(|v| *v == 0.0), "{:?}", last.motion);
    assert_eq!(&last.warm_start, start.as_ref().unwrap());
}

#[test]
fn a_ball_on_a_slope_stays_where_the_slope_is_at_most_the_coefficient_beside_the_radius() {
    let (dt, mu_roll) = (1e-2, 0.02);
    let mut model = CoulombCone::default();
    for part in [0.0, 0.5, 0.999, 1.0 - 1e-9] {
        let solution = solved(&mut model, &ball(part * mu_roll / RADIUS, mu_roll, [0.0; 2], dt));
        assert!(solution.motion.iter().all(|v| v.abs() < 1e-15), "{part}: {:?}", solution.motion);
    }
    for part in [1.0 + 1e-6, 1.5, 3.0] {
        let slope = part * mu_roll / RADIUS;
        let solution = solved(&mut model, &ball(slope, mu_roll, [0.0; 2], dt));
        let expected = dt * G * (slope - mu_roll / RADIUS) / (1.4 * (1.0 + slope * slope).sqrt());
        assert!((solution.motion[0] - expected).abs() < 1e-14, "{part}: {} not {expected}", solution.motion[0]);
    }
}

#[test]
fn a_wheel_in_the_plane_has_one_axis_to_roll_about() {
    let (dt, mu_roll, inertia) = (1e-2, 4e-3, 0.5 * MASS * RADIUS * RADIUS);
    let mass = Matrix::from_fn(3, 3, |i, j| if i == j { [MASS, MASS, inertia][i] } else { 0.0 });
    let mass = Mass::new(vec![mass]).unwrap();
    // Velocities: along x, along z, about y.
    let rows = [[0.0, 1.0, 0.0], [1.0, 0.0, -RADIUS], [0.0, 0.0, 1.0]];
    let [n, s, roll] = rows.each_ref().map(|row| [(0, &row[..])]);
    for second in [false, true] {
        let v = vec![1.0, 0.0, 1.0 / RADIUS];
        let mut problem = ContactProblem::new(mass.clone(), v, vec![0.0, -MASS * G, 0.0], dt).unwrap();
        let contact = Contact { mu: 0.5, mu_roll, ..Contact::new(&n, &s, &[]) };
        let (roll_s, roll_t): (&[_], &[_]) = if second { (&[], &roll) } else { (&roll, &[]) };
        problem.add_contact(Contact { roll_s, roll_t, ..contact }).unwrap();
        let mut model = CoulombCone::default();
        let solution = solved(&mut model, &problem);
        let expected = 1.0 - dt * mu_roll * G / (1.5 * RADIUS);
        assert!((solution.motion[0] - expected).abs() < 1e-14, "{:?}", solution.motion);
        let moments = [solution.forces.roll_s[0], solution.forces.roll_t[0]];
        assert_eq!(moments[usize::from(!second)], 0.0);
        assert!((moments[usize::from(second)] + mu_roll * MASS * G * dt).abs() < 1e-15, "{moments:?}");
        let again = model.solve_from(&problem, Some(&solution.warm_start)).unwrap();
        assert_eq!(again.solved().unwrap().stats.guessed, 1);
    }
}

#[test]
fn the_certificate_sees_a_wrong_moment() {
    let problem = ball(0.0, 2e-3, [0.3, 0.4], 1e-2);
    let solution = solved(&mut CoulombCone::default(), &problem);
    let law = ConeLaw { level: Level::Velocity };
    let certify = |s: f64, t: f64| {
        let mut forces = solution.forces.clone();
        let moment = [forces.roll_s[0], forces.roll_t[0]];
        forces.roll_s[0] = s * moment[0] - t * moment[1];
        forces.roll_t[0] = s * moment[1] + t * moment[0];
        // With the motion that it brings: momentum is right, the law is not.
        let mut motion = solution.motion.clone();
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        for (rows, p, before) in [
            (&problem.contacts().roll_s, forces.roll_s[0], moment[0]),
            (&problem.contacts().roll_t, forces.roll_t[0], moment[1]),
        ] {
            let mut change = vec![0.0; 6];
            rows.add_transposed(0, p - before, &mut change);
            motion.iter_mut().zip(change).for_each(|(v, change)| *v += change / inertia);
        }
        Certifier::default().certify(&problem, &law, &forces, &motion)
    };
    assert!(certify(1.0, 0.0).holds(1e-12));
    for (s, t) in [(0.9, 0.0), (1.1, 0.0), (0.0, 0.0), (-1.0, 0.0), (0.8, 0.6), (1.0 - 1e-6, 0.0)] {
        let certificate = certify(s, t);
        assert!(certificate.friction > 1e-10 && certificate.momentum < 1e-12, "{s} {t}: {certificate}");
    }
}

#[test]
fn random_problems_with_moments_are_solved_and_again_at_once() {
    let recipe = Recipe {
        coulomb: true,
        moments: true,
        gaps: true,
        bilaterals: true,
        limits: true,
        bounded: true,
        ..Recipe::PLAIN
    };
    let mut model = CoulombCone::default();
    let (mut at_limit, mut inside, mut again_at_once, mut count) = (0, 0, 0, 0);
    for seed in 0..1500 {
        let problem = scenes::random(&recipe, seed).unwrap();
        let solution = solved(&mut model, &problem);
        let (contacts, forces) = (problem.contacts(), &solution.forces);
        for i in (0..contacts.len()).filter(|&i| contacts.mu_roll[i] > 0.0 && forces.normal[i] > 0.0) {
            let most = contacts.mu_roll[i] * forces.normal[i];
            let moment = forces.roll_s[i].hypot(forces.roll_t[i]);
            *if moment < 0.999 * most { &mut inside } else { &mut at_limit } += 1;
        }
        let again = model.solve_from(&problem, Some(&solution.warm_start)).unwrap();
        again_at_once += usize::from(again.solved().unwrap().stats.pivots == 0);
        count += 1;
    }
    assert!(at_limit > 500 && inside > 500, "{at_limit} at their limits, {inside} inside");
    assert!(again_at_once > 95 * count / 100, "{again_at_once} of {count}");
}

#[test]
fn laws_without_a_place_for_rolling_say_so() {
    let problem = ball(0.0, 2e-3, [0.3, 0.0], 1e-2);
    for entry in &catalog::CATALOG {
        for level in [Level::Velocity, Level::Acceleration] {
            let Ok(mut model) = catalog::build_at(entry.kind, level, &ModelOptions::default()) else {
                continue;
            };
            let outcome = model.solve(&problem);
            match (entry.kind, level) {
                (ModelKind::CoulombCone, Level::Velocity)
                | (ModelKind::Frictionless | ModelKind::Viscous | ModelKind::NoSlip, _) => {
                    assert!(outcome.unwrap().solved().is_some(), "{} {level:?}", entry.name);
                }
                _ => {
                    let why = outcome.unwrap_err().to_string();
                    assert!(why.contains("contact 0: mu_roll"), "{} {level:?}: {why}", entry.name);
                }
            }
        }
    }
    // Without slip a ball rolls on for ever.
    let outcome = catalog::build(ModelKind::NoSlip, &ModelOptions::default()).unwrap().solve(&problem).unwrap();
    assert!((outcome.solved().unwrap().motion[0] - 0.3).abs() < 1e-15);
}

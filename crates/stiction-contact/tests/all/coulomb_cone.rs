//! The quadratic cone on contact problems: mechanics in closed form, random problems, warm starts.

use stiction_contact::scenes::{self, Body, Recipe, Touch, assemble};
use stiction_contact::{
    Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, CoulombCone, Level, Mass, Mode,
    ModelOptions,
};
use stiction_lcp::Matrix;
use stiction_lcp::generate::Rng;

use crate::delassus;

const G: f64 = 9.81;

fn solved(model: &mut CoulombCone, problem: &ContactProblem) -> ContactSolution {
    match model.solve(problem).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        other => panic!("{other:?}"),
    }
}

/// A unit cube of 1 kg on a slope whose downhill direction is x, gravity turned instead of the slope; four corners touch.
fn cube_on_slope(slope: f64, mu: f64, v: f64, dt: f64) -> ContactProblem {
    let mut cube = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, 0.5]);
    let length = (1.0 + slope * slope).sqrt();
    cube.force = [G * slope / length, 0.0, -G / length];
    cube.v = [v, 0.0, 0.0];
    let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)];
    let touches: Vec<Touch> =
        corners.iter().map(|&(x, y)| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) }).collect();
    assemble(&[cube], &touches, dt).unwrap()
}

#[test]
fn a_cube_on_a_slope_sticks_below_and_at_the_friction_angle_and_slides_above() {
    let (dt, mu) = (1e-2, 0.5);
    let mut model = CoulombCone::default();
    for slope in [0.0, 0.3, 0.5] {
        let solution = solved(&mut model, &cube_on_slope(slope, mu, 0.0, dt));
        // At the friction angle itself rounding decides whether it slides.
        let tolerance = if slope == mu { 1e-12 } else { 1e-16 };
        assert!(solution.motion.iter().all(|v| v.abs() < tolerance), "slope {slope}: {:?}", solution.motion);
    }
    let slope = 0.8;
    let solution = solved(&mut model, &cube_on_slope(slope, mu, 0.0, dt));
    let expected = dt * G * (slope - mu) / (1.0 + slope * slope).sqrt();
    assert!((solution.motion[0] - expected).abs() < 1e-15, "{:?}", solution.motion);
    // The two corners downhill carry the moment; where all touch, all slide.
    assert!(solution.modes.iter().all(|m| *m != Mode::Stick));
    let on_cube = &solution.resultants(&cube_on_slope(slope, mu, 0.0, dt))[0].on[0];
    assert!((on_cube[2] - dt * G / (1.0 + slope * slope).sqrt()).abs() < 1e-15);
}

#[test]
fn a_sliding_cube_brakes_by_mu_g_and_stops_without_turning_back() {
    let (dt, mu) = (1e-2, 0.3);
    let mut model = CoulombCone::default();
    let moving = solved(&mut model, &cube_on_slope(0.0, mu, 1.0, dt));
    assert!((moving.motion[0] - (1.0 - mu * G * dt)).abs() < 1e-15);
    let last = solved(&mut model, &cube_on_slope(0.0, mu, 0.5 * mu * G * dt, dt));
    assert!(last.motion.iter().all(|v| v.abs() < 1e-16), "{:?}", last.motion);
    assert!(last.modes.iter().all(|m| *m == Mode::Stick));
}

#[test]
fn a_sphere_that_slips_speeds_up_its_spin_until_it_rolls() {
    let (dt, mu, v) = (1e-3, 0.2, 1.0);
    let mut ball = Body::cuboid(2.0, [1.0; 3], [0.0, 0.0, 0.1]);
    ball.inertia = [0.4 * 2.0 * 0.01; 3];
    ball.force = [0.0, 0.0, -2.0 * G];
    ball.v = [v, 0.0, 0.0];
    let touch = Touch { mu, size: 0.1, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
    let mut model = CoulombCone::default();
    let mut problem = assemble(&[ball], &[touch], dt).unwrap();
    let force = problem.force().to_vec();
    let mut steps = 0;
    loop {
        let solution = solved(&mut model, &problem);
        problem.set_motion(&solution.motion, &force).unwrap();
        steps += 1;
        if solution.modes[0] == Mode::Stick {
            break;
        }
        assert!((solution.motion[0] - (v - mu * G * dt * steps as f64)).abs() < 1e-13);
    }
    // Slipping ends when v falls to 5/7 of its start: after 2 v / (7 mu g).
    assert!((problem.v()[0] - 5.0 / 7.0 * v).abs() < mu * G * dt);
    assert_eq!(steps, (2.0 * v / (7.0 * mu * G) / dt).ceil() as usize);
    let rolling = solved(&mut model, &problem);
    assert!((rolling.motion[0] - problem.v()[0]).abs() < 1e-15, "rolling needs no friction");
}

#[test]
fn friction_opposes_slip_in_any_direction() {
    let mut model = CoulombCone::default();
    let mass = Mass::new(vec![Matrix::identity(3)]).unwrap();
    let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    for (x, y) in [(3.0, 4.0), (-1.0, 0.2), (0.0, -2.0)] {
        let mut problem = ContactProblem::new(mass.clone(), vec![x, y, -1.0], vec![0.0; 3], 1.0).unwrap();
        problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) }).unwrap();
        let solution = solved(&mut model, &problem);
        let speed = f64::hypot(x, y);
        let left = 1.0 - 0.5 / speed;
        assert!((solution.motion[0] - left * x).abs() < 1e-15 && (solution.motion[1] - left * y).abs() < 1e-15);
    }
}

#[test]
fn painleves_rod_has_a_solution_at_velocity_level() {
    // A rod sliding on its tip, mu large enough that accelerations would admit none.
    for mu in [0.5, 1.5, 5.0] {
        for angle in [0.6f64, 1.0, 1.3] {
            let (length, mass) = (2.0, 1.0);
            let mut rod = Body::cuboid(mass, [length, 0.01, 0.01], [0.0, 0.0, 0.5 * length * angle.sin()]);
            rod.inertia = [mass * length * length / 12.0; 3];
            rod.v = [1.0, 0.0, 0.0];
            rod.force = [0.0, 0.0, -G * mass];
            let tip = [-0.5 * length * angle.cos(), 0.0, 0.0];
            let touch = Touch { mu, ..Touch::new(0, None, tip, [0.0, 0.0, 1.0]) };
            let problem = assemble(&[rod], &[touch], 1e-3).unwrap();
            let solution = solved(&mut CoulombCone::default(), &problem);
            assert!(solution.certificate.holds(1e-12), "mu {mu}, angle {angle}: {}", solution.certificate);
        }
    }
}

#[test]
fn accelerations_of_sliding_and_rolling_contacts() {
    let mut model = CoulombCone::new(Level::Acceleration, ModelOptions::default());
    let sliding = solved(&mut model, &cube_on_slope(0.0, 0.3, 1.0, 1.0));
    assert!((sliding.motion[0] + 0.3 * G).abs() < 1e-14, "{:?}", sliding.motion);
    let sticking = solved(&mut model, &cube_on_slope(0.2, 0.3, 0.0, 1.0));
    assert!(sticking.motion.iter().all(|a| a.abs() < 1e-14));
    let slipping = solved(&mut model, &cube_on_slope(0.5, 0.3, 0.0, 1.0));
    assert!((slipping.motion[0] - G * 0.2 / 1.25f64.sqrt()).abs() < 1e-14);
}

const CORNERS: [(f64, f64); 4] = [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)];

/// A tower of unit cubes of 1 kg on the floor, moving as one: along x with `v` and about its own axis with `omega`.
fn tower(cubes: usize, mu: f64, v: f64, omega: f64) -> ContactProblem {
    let (mut bodies, mut touches) = (vec![], vec![]);
    for k in 0..cubes {
        let mut cube = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, 0.5 + k as f64]);
        (cube.v, cube.omega, cube.force) = ([v, 0.0, 0.0], [0.0, 0.0, omega], [0.0, 0.0, -G]);
        bodies.push(cube);
        // It stands on three points, so that its forces are unique.
        let corners = if k == 0 { &[(0.5, 0.5), (0.5, -0.5), (-0.5, 0.0)][..] } else { &CORNERS };
        for &(x, y) in corners {
            touches.push(Touch { mu, ..Touch::new(k, k.checked_sub(1), [x, y, k as f64], [0.0, 0.0, 1.0]) });
        }
    }
    assemble(&bodies, &touches, 1.0).unwrap()
}

#[test]
fn accelerations_of_a_tower_cost_what_its_bodies_cost() {
    let mut model = CoulombCone::new(Level::Acceleration, ModelOptions::default());
    let problem = tower(60, 0.5, 0.0, 0.0);
    let solution = solved(&mut model, &problem);
    assert!(solution.motion.iter().all(|a| a.abs() < 1e-10), "{:?}", solution.motion);
    let stats = &solution.stats;
    assert!(stats.fallbacks == 0 && (1..=30).contains(&stats.factorizations), "{stats:?}");
    let again = model.solve_from(&problem, Some(&solution.warm_start)).unwrap();
    assert!(again.solved().unwrap().stats.factorizations <= 1);
}

#[test]
fn accelerations_of_a_sliding_tower_are_those_of_the_delassus_operator() {
    let mut model = CoulombCone::new(Level::Acceleration, ModelOptions::default());
    for (mu, v, omega) in [(0.3, 1.0, 0.0), (0.2, 1e-3, 2.0), (0.5, -3.0, 0.7)] {
        // The lowest contacts slide, in three directions where the tower turns, or open where it tips; the others roll.
        let problem = tower(6, mu, v, omega);
        let (found, expected) = (solved(&mut model, &problem), delassus::motion(&problem, Level::Acceleration));
        assert_eq!((found.stats.fallbacks, found.level), (0, Level::Acceleration));
        assert!(found.certificate.holds(1e-12), "{}", found.certificate);
        for (a, b) in found.motion.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-9, "{mu} {v} {omega}: {:?}, {expected:?}", found.motion);
        }
        let (lowest, others) = found.modes.split_at(3);
        assert!(lowest.iter().all(|mode| *mode != Mode::Stick), "{lowest:?}");
        assert!(others.contains(&Mode::Stick), "{others:?}");
    }
}

#[test]
fn contacts_at_rest_beside_fast_bodies_do_not_answer_rounding() {
    // A box rests on the floor; a second turns on it fast and a third on that, closing by no more than rounding. Forces that
    // answer it press the resting box by 1e-19, of which no digit is right.
    let text = include_bytes!("../data/rest-beside-motion.json");
    let file = stiction_contact::io::read_bytes("a.json", text, &stiction_contact::io::ReadOptions::default()).unwrap();
    let stiction_contact::io::AnyProblem::Contact(problem) = file else { panic!("a contact problem") };
    solved(&mut CoulombCone::default(), &problem);
}

fn all_kinds() -> Recipe {
    Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN }
}

#[test]
fn random_problems_are_solved_or_fail_honestly() {
    let mut model = CoulombCone::default();
    let count = 300;
    let failed: Vec<u64> = (0..count)
        .filter(|&seed| {
            let problem = scenes::random(&all_kinds(), seed).unwrap();
            model.solve(&problem).unwrap().solved().is_none()
        })
        .collect();
    assert!(failed.len() * 100 <= count as usize, "{failed:?}");
}

#[test]
fn the_last_solution_is_the_start_of_the_next() {
    let mut model = CoulombCone::default();
    let mut solved_from_guess = 0;
    let count = 60;
    for seed in 0..count {
        let problem = scenes::random(&Recipe { coulomb: true, ..Recipe::PLAIN }, seed).unwrap();
        let ContactOutcome::Solved(first) = model.solve(&problem).unwrap() else { continue };
        let again = model.solve_from(&problem, Some(&first.warm_start)).unwrap();
        let again = again.solved().unwrap();
        solved_from_guess += u64::from(again.stats.guessed == again.stats.islands);
    }
    assert!(solved_from_guess * 100 >= count * 95, "{solved_from_guess} of {count}");
}

#[test]
fn what_the_cone_has_no_place_for_is_named() {
    let mass = Mass::new(vec![Matrix::identity(3)]).unwrap();
    let problem = ContactProblem::new(mass, vec![1.0, 0.0, 0.0], vec![0.0; 3], 1.0).unwrap();
    let (n, s) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
    let with = |contact: Contact<'_>| {
        let mut one = problem.clone();
        one.add_contact(contact).unwrap();
        let velocity = CoulombCone::default().solve(&one).map_err(|e| e.to_string());
        let acceleration =
            CoulombCone::new(Level::Acceleration, ModelOptions::default()).solve(&one).map_err(|e| e.to_string());
        (velocity, acceleration)
    };
    let n: [(usize, &[f64]); 1] = [(0, &n)];
    let s: [(usize, &[f64]); 1] = [(0, &s)];
    let plain = Contact { spin: &s, ..Contact::new(&n, &s, &[]) };
    assert!(with(Contact { mu_viscous: 1.0, ..plain }).0.unwrap_err().contains("contact 0: mu_viscous"));
    assert!(with(Contact { mu_spin: 1.0, ..plain }).1.unwrap_err().contains("contact 0: mu_spin"));
    let (velocity, acceleration) = with(Contact { mu: f64::INFINITY, ..plain });
    assert!(velocity.unwrap().solved().is_some());
    assert!(acceleration.unwrap_err().contains("contact 0 slips"));
}

#[test]
fn a_spinning_top_is_braked_by_its_moment_and_stops() {
    let (dt, mu_spin) = (1e-2, 0.02);
    let mut model = CoulombCone::default();
    let top = |omega: f64| {
        let mut top = Body::cuboid(2.0, [0.2; 3], [0.0, 0.0, 0.1]);
        (top.omega, top.force) = ([0.0, 0.0, omega], [0.0, 0.0, -2.0 * G]);
        let touch = Touch { mu: 0.5, mu_spin, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
        (assemble(&[top], &[touch], dt).unwrap(), top.inertia[2])
    };
    let (problem, inertia) = top(5.0);
    let brake = mu_spin * 2.0 * G * dt / inertia;
    let spins = solved(&mut model, &problem);
    assert!((spins.motion[5] - (5.0 - brake)).abs() < 1e-14, "{:?}", spins.motion);
    assert!((spins.forces.spin[0] + mu_spin * 2.0 * G * dt).abs() < 1e-15);
    let again = model.solve_from(&problem, Some(&spins.warm_start)).unwrap();
    assert_eq!(again.solved().unwrap().stats.guessed, 1);
    let (problem, _) = top(0.9 * brake);
    let stops = solved(&mut model, &problem);
    assert!(stops.motion.iter().all(|v| v.abs() < 1e-15), "{:?}", stops.motion);
}

#[test]
fn soft_fingers_hold_a_rod_off_its_centre_up_to_their_moment() {
    // Pinched along y, 3 cm from its centre: gravity turns it about y unless the two moments carry m g d.
    let (dt, d, squeeze) = (1e-3, 0.03, 40.0);
    let rod = |mu_spin: f64| {
        let mut rod = Body::cuboid(0.5, [0.3, 0.02, 0.02], [d, 0.0, 0.0]);
        rod.force = [0.0, 0.0, -0.5 * G];
        let mut finger = Body::cuboid(1.0, [0.1; 3], [0.0, 0.06, 0.0]);
        finger.force = [0.0, -squeeze, 0.0];
        let touch = |other: Option<usize>, y: f64| Touch {
            mu: 1.0,
            mu_spin,
            ..Touch::new(0, other, [0.0, y, 0.0], [0.0, -y.signum(), 0.0])
        };
        let mut problem = assemble(&[rod, finger], &[touch(None, -0.01), touch(Some(1), 0.01)], dt).unwrap();
        // The finger moves along y alone.
        for k in [0, 2, 3, 4, 5] {
            let mut row = [0.0; 6];
            row[k] = 1.0;
            problem.add_bilateral(&[(1, &row)], 0.0, 0.0).unwrap();
        }
        problem
    };
    let needed = 0.5 * G * d / (2.0 * squeeze);
    let mut model = CoulombCone::default();
    let holds = solved(&mut model, &rod(1.01 * needed));
    assert!(holds.motion.iter().all(|v| v.abs() < 1e-13), "{:?}", holds.motion);
    let turns = solved(&mut model, &rod(0.5 * needed));
    // About the fingers' axis, with the moment of inertia there.
    let inertia = 0.5 * (0.3f64 * 0.3 + 0.02 * 0.02) / 12.0 + 0.5 * d * d;
    let expected = dt * 0.5 * 0.5 * G * d / inertia;
    assert!((turns.motion[4] - expected).abs() < 1e-12, "{} instead of {expected}", turns.motion[4]);
    assert!(turns.motion[..3].iter().all(|v| v.is_finite()) && turns.certificate.holds(1e-12));
}

#[test]
fn random_moments_are_solved() {
    let mut model = CoulombCone::default();
    let (mut bounded, mut inside, mut failed, mut other) = (0, 0, 0, 0);
    for seed in 0..3000u64 {
        let mut x = seed;
        let mut next = move || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as f64 / 2f64.powi(31)
        };
        let mut body = Body::cuboid(0.1 + 3.0 * next(), [0.3, 0.2, 0.1], [0.0, 0.0, 0.05]);
        body.v = [next() - 0.5, next() - 0.5, -next()];
        body.omega = [2.0 * next() - 1.0, 2.0 * next() - 1.0, 6.0 * next() - 3.0];
        body.force = [0.0, 0.0, -G * body.mass];
        let corner = |x: f64, y: f64| [0.15 * x, 0.1 * y, 0.0];
        let touches: Vec<Touch> = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)]
            .into_iter()
            .map(|(x, y)| Touch {
                mu: next(),
                mu_spin: 0.2 * next(),
                ..Touch::new(0, None, corner(x, y), scenes::unit([0.3 * next() - 0.15, 0.3 * next() - 0.15, 1.0]))
            })
            .collect();
        let problem = assemble(&[body], &touches, 1e-3).unwrap();
        let outcome = model.solve(&problem).unwrap();
        let Some(solution) = outcome.solved() else {
            failed += 1;
            continue;
        };
        // With its contacts in another order: the same law, of which there may be several solutions.
        if seed % 10 == 0 {
            let reversed: Vec<Touch> = touches.iter().rev().copied().collect();
            let second = model.solve(&assemble(&[body], &reversed, 1e-3).unwrap()).unwrap();
            let differs = |motion: &[f64]| motion.iter().zip(&solution.motion).any(|(a, b)| (a - b).abs() > 1e-9);
            other += usize::from(second.solved().is_none_or(|s| differs(&s.motion)));
        }
        for i in 0..4 {
            let most = touches[i].mu_spin * solution.forces.normal[i];
            if solution.forces.normal[i] > 0.0 {
                *if solution.forces.spin[i].abs() < 0.999 * most { &mut inside } else { &mut bounded } += 1;
            }
        }
    }
    assert!(bounded > 1000 && inside > 100, "{bounded} at their bounds, {inside} inside");
    assert_eq!(failed, 0, "of 3000");
    assert!(other <= 6, "{other} of 300 failed or have another solution");
}

#[test]
fn a_contact_whose_normal_nothing_moves_has_no_friction() {
    // A slider along x beside a wall with its normal along y: nothing presses it there.
    let mass = Mass::new(vec![Matrix::identity(1)]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![2.0], vec![0.0], 0.01).unwrap();
    let (zero, one) = ([0.0], [1.0]);
    problem.add_contact(Contact { mu: 0.8, ..Contact::new(&[(0, &zero)], &[(0, &one)], &[]) }).unwrap();
    let solution = solved(&mut CoulombCone::default(), &problem);
    assert_eq!((solution.motion[0], solution.forces.tangent_s[0]), (2.0, 0.0));
}

/// Painlevé's rod, in the plane and in space: its end slides, and where friction drives it into the
/// floor no acceleration satisfies the law. With gravity 8 and the centripetal term together, its
/// separation acceleration is `A c − 2` with `A = 1 + 3 cos (cos − mu sin)`.
#[test]
fn accelerations_without_an_answer_are_proven_to_have_none() {
    let angle = 1.0f64;
    let (sin, cos) = (angle.sin(), angle.cos());
    for (mu, second_tangent) in [(2.5, false), (2.5, true), (4.0, true), (8.0, false)] {
        assert!(1.0 + 3.0 * cos * (cos - mu * sin) < 0.0);
        let inertia = Matrix::from_fn(4, 4, |i, j| if i != j { 0.0 } else { [1.0, 1.0, 1.0 / 3.0, 1.0][i] });
        let mut problem = ContactProblem::new(
            Mass::new(vec![inertia]).unwrap(),
            vec![-1.0, 0.0, 0.0, 0.0],
            vec![0.0, -8.0, 0.0, 0.0],
            1e-3,
        )
        .unwrap();
        let (normal, s, t) = ([0.0, 1.0, -cos, 0.0], [1.0, 0.0, sin, 0.0], [0.0, 0.0, 0.0, 1.0]);
        let row = [(0, &t[..])];
        let tangent_t: &[(usize, &[f64])] = if second_tangent { &row } else { &[] };
        let rate = [6.0, 0.0, 0.0];
        problem.add_contact(Contact { mu, rate, ..Contact::new(&[(0, &normal)], &[(0, &s)], tangent_t) }).unwrap();
        let outcome = CoulombCone::new(Level::Acceleration, ModelOptions::default()).solve(&problem).unwrap();
        assert_eq!(outcome.name(), "no-solution", "mu {mu}");
    }
}

/// A particle in the plane on a belt that runs across it too: its friction is along the slip, part of which nothing in the problem moves along.
#[test]
fn a_surface_that_moves_across_the_plane_turns_friction() {
    let mass = Mass::new(vec![Matrix::identity(2)]).unwrap();
    let (n, s) = ([0.0, 1.0], [1.0, 0.0]);
    for (speed, expected) in [(0.3, [-0.6, -0.8]), (0.0, [0.0, -1.0])] {
        let mut problem = ContactProblem::new(mass.clone(), vec![speed, 0.0], vec![0.0, -10.0], 1e-3).unwrap();
        let surface = [0.0, 0.4];
        problem.add_contact(Contact { mu: 0.5, surface, ..Contact::new(&[(0, &n)], &[(0, &s)], &[]) }).unwrap();
        let solution = solved(&mut CoulombCone::new(Level::Acceleration, ModelOptions::default()), &problem);
        let found = [solution.forces.tangent_s[0], solution.forces.tangent_t[0]];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - 5.0 * expected).abs() < 1e-12, "{found}");
        }
    }
}

/// Rows that no motion satisfies are proven to be such, whatever the friction.
#[test]
fn rows_that_contradict_each_other_are_infeasible() {
    let inertia = || Mass::new(vec![Matrix::identity(3)]).unwrap();
    let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let mut problem = ContactProblem::new(inertia(), vec![1.0, 0.0, 0.0], vec![0.0; 3], 1e-2).unwrap();
    problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) }).unwrap();
    problem.add_bilateral(&[(0, &n)], 0.0, -0.5).unwrap();
    assert_eq!(CoulombCone::default().solve(&problem).unwrap().name(), "infeasible");
}

/// A planar loop closed in space: two of its rows depend on others but for rounding, and following
/// them would ask for forces 1e12 times those that act. All models leave them out.
#[test]
fn rows_that_add_only_rounding_are_left_out() {
    for noise in [0.0, 5e-17, 1e-14, 3e-13] {
        let mass = Mass::new(vec![Matrix::from_fn(4, 4, |i, j| if i == j { 0.5 + i as f64 } else { 0.1 })]).unwrap();
        let mut problem =
            ContactProblem::new(mass, vec![0.3, -0.2, 0.1, 0.0], vec![1.0, 2.0, -3.0, 1.0], 1e-2).unwrap();
        let rows = [[0.02, 0.015, -0.035, 0.0], [-0.057, 0.015, 0.042, 0.0]];
        let third: Vec<f64> = (0..4).map(|j| 4e-4 * (rows[0][j] - 0.3 * rows[1][j])).collect();
        let third = [third[0], third[1], third[2] + 4e-6 * noise, third[3] - 4e-6 * noise];
        for row in [&rows[0], &rows[1], &third] {
            problem.add_bilateral(&[(0, row)], 0.0, 0.0).unwrap();
        }
        problem.add_limit(&[(0, &[0.0, 0.0, 0.0, 1.0])], 0.0, 0.0, 0.0).unwrap();
        let free = 0.5;
        for name in ["coulomb-cone", "coulomb-polyhedral", "no-slip", "drumwright-shell", "frictionless"] {
            let mut model =
                stiction_contact::models::catalog::build(name.parse().unwrap(), &ModelOptions::default()).unwrap();
            let outcome = model.solve(&problem).unwrap();
            let solution = outcome.solved().unwrap_or_else(|| panic!("{name}, noise {noise}: {outcome:?}"));
            assert!(solution.motion.iter().all(|v| v.abs() < free), "{name}, noise {noise}: {:?}", solution.motion);
        }
    }
}

/// Numbers that overflow on the way end in an error or an outcome, never in a panic.
#[test]
fn extreme_numbers_are_refused_or_reported() {
    let (n, t) = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
    for x in [1e90, 1e100, 1e101, 1e155, 1e300, f64::MAX] {
        for (inertia, slip) in [(1.0, x), (1.0 / x, 1.0), (x, 1.0), (1.0 / x, x.min(1e100))] {
            let block = Matrix::from_fn(3, 3, |i, j| if i == j { inertia } else { 0.0 });
            let Ok(mass) = Mass::new(vec![block]) else { continue };
            let mut problem = ContactProblem::new(mass, vec![1.0, 0.0, 0.0], vec![0.0, 0.0, -9.81], 0.01).unwrap();
            let s = [slip, 0.0, 0.0];
            let added = problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) });
            if added.is_err() {
                assert!(slip > 1e100);
                continue;
            }
            CoulombCone::default().solve(&problem).unwrap();
        }
    }
}

/// A hundred contacts that nothing gets near, and one that only another contact closes.
#[test]
fn contacts_that_others_close_are_found_among_many_that_stay_open() {
    let dt = 1e-2;
    let [mut first, mut second] = [0.0, 1.0].map(|x| Body::cuboid(1.0, [1.0; 3], [x, 0.0, 0.0]));
    (first.v, second.v) = ([1.0, 0.0, 0.0], [0.0; 3]);
    let wall = Touch { gap: 0.2 * dt, ..Touch::new(1, None, [1.5, 0.0, 0.0], [-1.0, 0.0, 0.0]) };
    let mut touches = vec![Touch::new(1, Some(0), [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]), wall];
    touches.extend((0..100).map(|i| Touch {
        gap: 1.0 + 0.01 * f64::from(i),
        mu: 0.5,
        ..Touch::new(i as usize % 2, None, [0.0, 0.0, -0.5], [0.0, 0.0, 1.0])
    }));
    let problem = assemble(&[first, second], &touches, dt).unwrap();
    let solution = solved(&mut CoulombCone::default(), &problem);
    for (found, expected) in [(solution.motion[0], 0.2), (solution.motion[6], 0.2)] {
        assert!((found - expected).abs() < 1e-14, "{:?}", solution.motion);
    }
    assert!(solution.forces.normal[0] > 0.0 && solution.forces.normal[1] > 0.0);
    assert!(solution.forces.normal[2..].iter().all(|p| *p == 0.0));
}

/// Without friction the motion is unique: with most of the contacts out of reach it is that of the other models.
#[test]
fn many_contacts_out_of_reach_change_no_motion() {
    let (mut rng, mut model) = (Rng::new(7), CoulombCone::default());
    let mut between = |low: f64, high: f64| low + (high - low) * rng.uniform();
    let mut pressed = 0;
    for round in 0..60 {
        let count = 1 + round % 3;
        let bodies: Vec<Body> = (0..count)
            .map(|_| {
                let mut body = Body::cuboid(between(0.5, 2.0), [1.0; 3], [0.0; 3]);
                body.v = [0; 3].map(|_| between(-1.0, 1.0));
                body.omega = [0; 3].map(|_| between(-1.0, 1.0));
                body
            })
            .collect();
        let touches: Vec<Touch> = (0..120)
            .map(|i| {
                let direction = [0; 3].map(|_| between(-1.0, 1.0));
                let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                let body = i % count;
                let point = [0; 3].map(|_| between(-0.5, 0.5));
                let other = Some((body + 1) % count).filter(|other| *other != body && i % 4 == 0);
                // Those of the world keep to one side, so that there is a motion.
                let normal = if other.is_some() { direction } else { direction.map(f64::abs) };
                Touch { gap: between(0.0, 0.05), ..Touch::new(body, other, point, normal.map(|x| x / length)) }
            })
            .collect();
        let problem = assemble(&bodies, &touches, 1e-2).unwrap();
        let found = solved(&mut model, &problem);
        let mut reference =
            stiction_contact::models::catalog::build("frictionless".parse().unwrap(), &ModelOptions::default())
                .unwrap();
        let outcome = reference.solve(&problem).unwrap();
        let expected = outcome.solved().unwrap_or_else(|| panic!("round {round}: {outcome:?}"));
        let off = found.motion.iter().zip(&expected.motion).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "round {round}: {off:e}");
        pressed += found.forces.normal.iter().filter(|p| **p > 0.0).count();
    }
    assert!(pressed > 100, "{pressed}");
}

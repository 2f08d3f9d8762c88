//! The friction pyramid at acceleration level against closed-form mechanics.

use stiction_contact::models::coulomb_pyramid::{Existence, satisfies_cone};
use stiction_contact::scenes::{self, Body, Recipe, Touch, add_touch, assemble};
use stiction_contact::{
    Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, CoulombPyramid, Mass, Mode, ModelOptions,
    PyramidMethod, PyramidOptions,
};
use stiction_lcp::Matrix;

const G: f64 = 9.81;
/// Sine and cosine of a 3-4-5 slope.
const SIN: f64 = 0.6;
const COS: f64 = 0.8;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "found {found}, expected {expected}");
}

fn solve(problem: &ContactProblem) -> ContactSolution {
    match CoulombPyramid::default().solve(problem).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        other => panic!("{other:?}"),
    }
}

fn with_method(method: PyramidMethod) -> CoulombPyramid {
    CoulombPyramid::new(PyramidOptions { method, ..PyramidOptions::default() })
}

fn diagonal(entries: &[f64]) -> Matrix {
    Matrix::from_fn(entries.len(), entries.len(), |i, j| if i == j { entries[i] } else { 0.0 })
}

/// A cuboid of 2 kg on four corners, at `v`; x is down the slope, z its normal.
fn block_on_slope(mu: f64, sin: f64, cos: f64, v: [f64; 3]) -> ContactProblem {
    let mut body = Body::cuboid(2.0, [1.0, 1.0, 0.2], [0.0, 0.0, 0.1]);
    body.force = [2.0 * G * sin, 0.0, -2.0 * G * cos];
    body.v = v;
    let corner = |x: f64, y: f64| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) };
    let corners = [corner(0.5, 0.5), corner(0.5, -0.5), corner(-0.5, -0.5), corner(-0.5, 0.5)];
    assemble(&[body], &corners, 1e-3).unwrap()
}

#[test]
fn a_block_on_a_slope_rests_below_and_at_the_friction_angle_and_slides_above_it() {
    for (mu, moves) in [(0.76, false), (0.75, false), (0.74, true), (0.0, true)] {
        let problem = block_on_slope(mu, SIN, COS, [0.0; 3]);
        let solution = solve(&problem);
        near(solution.motion[0], if moves { G * (SIN - mu * COS) } else { 0.0 });
        solution.motion[1..].iter().for_each(|a| near(*a, 0.0));
        near(solution.forces.normal.iter().sum(), 2.0 * G * COS);
        let mode = if moves { Mode::Slide } else { Mode::Stick };
        assert!(solution.modes.iter().all(|m| *m == mode), "{mu}: {:?}", solution.modes);
        let existence = CoulombPyramid::default().existence(&problem).unwrap();
        assert_eq!(existence, Existence::Guaranteed, "rolling contacts, no velocity products");
    }
}

#[test]
fn a_sliding_block_is_braked_by_mu_g_whatever_its_direction() {
    for (direction, mu) in [([1.0, 0.0], 0.3), ([0.6, -0.8], 0.3), ([-1.0, 2.0], 0.9)] {
        let problem = block_on_slope(mu, 0.0, 1.0, [2.0 * direction[0], 2.0 * direction[1], 0.0]);
        let solution = solve(&problem);
        let length = f64::hypot(direction[0], direction[1]);
        near(solution.motion[0], -mu * G * direction[0] / length);
        near(solution.motion[1], -mu * G * direction[1] / length);
        near(solution.motion[2], 0.0);
        assert!(solution.modes.iter().all(|m| *m == Mode::Slide));
        assert!(satisfies_cone(&problem, &solution), "sliding friction lies on the cone");
    }
}

#[test]
fn a_sphere_rolls_down_a_slope_with_five_sevenths_of_g_sin_unless_friction_is_too_small() {
    let radius = 0.3;
    for mu in [0.5, 2.0 / 7.0 * 0.75 * 1.001, 0.1] {
        let mut body = Body::cuboid(2.0, [1.0; 3], [0.0, 0.0, radius]);
        body.inertia = [0.4 * 2.0 * radius * radius; 3];
        body.force = [2.0 * G * SIN, 0.0, -2.0 * G * COS];
        let touch = Touch { mu, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
        let solution = solve(&assemble(&[body], &[touch], 1e-3).unwrap());
        if mu > 0.2 {
            near(solution.motion[0], 5.0 / 7.0 * G * SIN);
            near(solution.motion[4], 5.0 / 7.0 * G * SIN / radius);
            assert_eq!(solution.modes, [Mode::Stick]);
        } else {
            near(solution.motion[0], G * (SIN - mu * COS));
            near(solution.motion[4], mu * 2.0 * G * COS * radius / body.inertia[1]);
            assert_eq!(solution.modes, [Mode::Slide]);
        }
    }
}

/// A rod of 1 kg and 2 m, coordinates (x, y, angle), that stands on its lower end at (−cos, −sin) from its centre. The end slides left, so friction
/// drives it into the floor: its separation acceleration is `A c + b`, `A = 1 + 3 cos (cos − μ sin)`, with b gravity and the centripetal term
/// together.
fn painleve(mu: f64, b: f64) -> ContactProblem {
    let mass = Mass::new(vec![diagonal(&[1.0, 1.0, 1.0 / 3.0])]).unwrap();
    let (normal, tangent) = ([0.0, 1.0, -COS], [1.0, 0.0, SIN]);
    let mut problem = ContactProblem::new(mass, vec![-1.0, 0.0, 0.0], vec![0.0, -8.0, 0.0], 1e-3).unwrap();
    let rate = [b + 8.0, 0.0, 0.0];
    problem.add_contact(Contact { mu, rate, ..Contact::new(&[(0, &normal)], &[(0, &tangent)], &[]) }).unwrap();
    problem
}

fn painleve_a(mu: f64) -> f64 {
    1.0 + 3.0 * COS * (COS - mu * SIN)
}

#[test]
fn painleves_rod_has_one_solution_none_or_two() {
    let mut model = CoulombPyramid::default();
    let small = painleve(1.0, -2.0);
    near(solve(&small).forces.normal[0], 2.0 / painleve_a(1.0));
    assert_eq!(model.existence(&small).unwrap(), Existence::Guaranteed, "Ã > 0");
    let all = model.all_solutions(&small).unwrap();
    assert!(all.complete && all.solutions.len() == 1);
    // A < 0 from μ = (1 + 3 cos²)/(3 sin cos) = 2.03 on.
    assert!(painleve_a(2.0) > 0.0 && painleve_a(2.1) < 0.0);
    let none = painleve(2.1, -2.0);
    for method in [PyramidMethod::Auto, PyramidMethod::Lemke] {
        match with_method(method).solve(&none).unwrap() {
            ContactOutcome::NoSolution(found) => {
                assert!(stiction_lcp::exact::check_farkas(&found.lcp, farkas(&found.proof)))
            }
            other => panic!("{method:?}: {other:?}"),
        }
    }
    assert!(matches!(model.existence(&none).unwrap(), Existence::Unknown { island: 0, .. }));
    let all = model.all_solutions(&none).unwrap();
    assert!(all.complete && all.solutions.is_empty(), "proven by all bases");
    let two = painleve(2.1, 2.0);
    let all = model.all_solutions(&two).unwrap();
    assert!(all.complete);
    let mut normals: Vec<f64> = all.solutions.iter().map(|s| s.forces.normal[0]).collect();
    normals.sort_by(f64::total_cmp);
    assert_eq!(normals.len(), 2);
    near(normals[0], 0.0);
    near(normals[1], -2.0 / painleve_a(2.1));
    assert!(model.solve(&two).unwrap().solved().is_some(), "one of the two");
}

fn farkas(proof: &stiction_lcp::Proof) -> &[f64] {
    match proof {
        stiction_lcp::Proof::Farkas(y) => y,
        other => panic!("{other}"),
    }
}

#[test]
fn a_rod_that_rolls_may_go_on_rolling_or_part() {
    // The paper's introduction: a rod on one point, rolling. With b > 0 it may part (c = 0); a large μ lets it also stay, pushed by friction, where
    // the coupling of normal and tangent allows: A_nn A_tt − A_nt² > 0 forbids that while b_t = 0. All solutions are found either way.
    let mass = Mass::new(vec![diagonal(&[1.0, 1.0, 1.0 / 3.0])]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 3], vec![9.0, 1.0, 0.0], 1e-3).unwrap();
    let (normal, tangent) = ([0.0, 1.0, -COS], [1.0, 0.0, SIN]);
    problem.add_contact(Contact { mu: 4.0, ..Contact::new(&[(0, &normal)], &[(0, &tangent)], &[]) }).unwrap();
    let all = CoulombPyramid::default().all_solutions(&problem).unwrap();
    let parting = all.solutions.iter().filter(|s| s.modes == [Mode::Open]).count();
    let staying = all.solutions.iter().filter(|s| s.modes != [Mode::Open]).count();
    // A_nn = 1 + 3 cos², A_tt = 1 + 3 sin², A_nt = −3 sin cos; sticking: c solves A c = −b.
    let (nn, tt, nt) = (1.0 + 3.0 * COS * COS, 1.0 + 3.0 * SIN * SIN, -3.0 * SIN * COS);
    let determinant = nn * tt - nt * nt;
    let (c_n, c_t) = ((-tt + 9.0 * nt) / determinant, (-9.0 * nn + nt) / determinant);
    assert!(c_n < 0.0 && c_t < 0.0, "sticking would pull");
    assert!(all.complete);
    assert_eq!((parting, staying), (1, 0));
    // Pushed the other way sticking presses: the rod may stay or part.
    problem.set_motion(&[0.0; 3], &[-9.0, 1.0, 0.0]).unwrap();
    let all = CoulombPyramid::default().all_solutions(&problem).unwrap();
    assert!(all.complete && all.solutions.len() >= 2, "{}", all.solutions.len());
    let stick = all.solutions.iter().find(|s| s.modes == [Mode::Stick]).unwrap();
    near(stick.forces.normal[0], (-tt - 9.0 * nt) / determinant);
    assert!(all.solutions.iter().any(|s| s.modes == [Mode::Open]));
}

/// A ladder of 1 kg and 2 m, planar (x, y, angle): foot on the floor, (cos, −sin) from its centre; top at a wall to the left, (−cos, sin) from it.
fn ladder(mu: f64, cos: f64, sin: f64) -> ContactProblem {
    let mass = Mass::new(vec![diagonal(&[1.0, 1.0, 1.0 / 3.0])]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 3], vec![0.0, -G, 0.0], 1e-3).unwrap();
    let (foot_x, foot_y) = ([1.0, 0.0, sin], [0.0, 1.0, cos]);
    let (top_x, top_y) = ([1.0, 0.0, -sin], [0.0, 1.0, -cos]);
    problem.add_contact(Contact { mu, ..Contact::new(&[(0, &foot_y)], &[(0, &foot_x)], &[]) }).unwrap();
    problem.add_contact(Contact { mu, ..Contact::new(&[(0, &top_x)], &[(0, &top_y)], &[]) }).unwrap();
    problem
}

#[test]
fn a_ladder_stands_if_it_is_steep_enough() {
    // It stands if tan ≥ (1 − μ²)/(2 μ): at tan = 4/3 from μ = 1/3 on.
    for (mu, stands) in [(1.0 / 3.0 + 1e-3, true), (0.6, true), (1.0 / 3.0 - 1e-3, false), (0.0, false)] {
        let problem = ladder(mu, 0.6, 0.8);
        let solution = solve(&problem);
        let still = solution.motion.iter().all(|a| a.abs() < 1e-12);
        assert_eq!(still, stands, "μ = {mu}: {:?}", solution.motion);
        if mu == 0.0 {
            near(solution.motion[2].abs(), 0.75 * G * 0.6);
        }
        assert_eq!(CoulombPyramid::default().existence(&problem).unwrap(), Existence::Guaranteed);
    }
}

/// A block of 1 kg, (x, y), on a wedge of 3 kg that is free along x. The slope falls to the right.
fn wedge(mu: f64) -> ContactProblem {
    let mass = Mass::new(vec![diagonal(&[1.0, 1.0]), diagonal(&[3.0])]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 3], vec![0.0, -G, 0.0], 1e-3).unwrap();
    let (n, s) = ([SIN, COS], [COS, -SIN]);
    let contact = Contact { mu, ..Contact::new(&[], &[], &[]) };
    problem
        .add_contact(Contact { normal: &[(0, &n), (1, &[-SIN])], tangent_s: &[(0, &s), (1, &[-COS])], ..contact })
        .unwrap();
    problem
}

#[test]
fn a_wedge_runs_away_from_under_its_block() {
    let solution = solve(&wedge(0.0));
    near(solution.motion[2], -G * SIN * COS / (3.0 + SIN * SIN));
    // Below the friction angle: c_n from the separation along the normal, c_t = −μ c_n along the slope.
    let mu = 0.2;
    let solution = solve(&wedge(mu));
    let lean = SIN - mu * COS;
    let c = G * COS / (1.0 + lean * SIN / 3.0);
    near(solution.forces.normal[0], c);
    near(solution.motion[2], -c * lean / 3.0);
    assert_eq!(solution.modes, [Mode::Slide]);
    // Above it they are at rest: the wedge carries the block straight up.
    let solution = solve(&wedge(0.8));
    near(solution.motion[2], 0.0);
    near(solution.motion[1], 0.0);
    assert_eq!(solution.modes, [Mode::Stick]);
}

#[test]
fn a_soft_finger_holds_a_torque_up_to_its_coefficient() {
    let (mu_spin, press, inertia) = (0.02, 50.0, 0.1);
    let finger = |torque: f64, spin: f64| {
        let mut body = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, 0.5]);
        body.inertia = [inertia; 3];
        body.force = [0.0, 0.0, -press];
        body.moment = [0.0, 0.0, torque];
        body.omega = [0.0, 0.0, spin];
        let touch = Touch { mu: 0.5, mu_spin, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
        solve(&assemble(&[body], &[touch], 1e-3).unwrap())
    };
    let most = mu_spin * press;
    let held = [(0.9 * most, 0.0, -0.9 * most), (most, 0.0, -most), (2.0 * most, 0.0, -most), (-3.0, 0.0, most)];
    let spinning = [(0.0, 2.0, -most), (0.5, -2.0, most)];
    for (torque, spin, moment) in held.into_iter().chain(spinning) {
        let solution = finger(torque, spin);
        near(solution.forces.spin[0], moment);
        near(solution.motion[5], (torque + moment) / inertia);
    }
}

/// A prismatic joint of 1 kg pushes a box of 4 kg, (x, y), along the floor.
fn pusher(mu: f64, speed: f64, effort: f64) -> ContactProblem {
    let mass = Mass::new(vec![diagonal(&[4.0, 4.0]), diagonal(&[1.0])]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![speed, 0.0, speed], vec![0.0, -4.0 * G, effort], 1e-3).unwrap();
    problem.add_contact(Contact { mu, ..Contact::new(&[(0, &[0.0, 1.0])], &[(0, &[1.0, 0.0])], &[]) }).unwrap();
    problem.add_contact(Contact::new(&[(0, &[1.0, 0.0]), (1, &[-1.0])], &[], &[])).unwrap();
    problem
}

#[test]
fn a_joint_pushes_by_effort_or_by_acceleration() {
    let (mu, drag) = (0.25, 0.25 * 4.0 * G);
    // Effort known, acceleration unknown.
    let solution = solve(&pusher(mu, 1.0, 30.0));
    let a = (30.0 - drag) / 5.0;
    near(solution.motion[2], a);
    near(solution.motion[0], a);
    near(solution.forces.normal[1], 4.0 * a + drag);
    // Acceleration known, effort unknown: the force of the row.
    let mut problem = pusher(mu, 1.0, 0.0);
    problem.add_bilateral(&[(1, &[1.0])], 0.0, a).unwrap();
    let solution = solve(&problem);
    near(solution.motion[0], a);
    near(solution.forces.bilateral[0], 30.0);
    // At rest too weak an effort moves nothing; the floor takes it.
    let solution = solve(&pusher(mu, 0.0, 0.9 * drag));
    solution.motion.iter().for_each(|a| near(*a, 0.0));
    near(solution.forces.tangent_s[0], -0.9 * drag);
    // A joint that stops harder than friction stops the box leaves it behind.
    let mut problem = pusher(mu, 1.0, 0.0);
    problem.add_bilateral(&[(1, &[1.0])], 0.0, -10.0).unwrap();
    let solution = solve(&problem);
    near(solution.motion[0], -mu * G);
    assert_eq!(solution.modes[1], Mode::Open);
    // A motor with a limit gives up at it.
    let mut problem = pusher(mu, 1.0, 0.0);
    problem.add_bounded(&[(1, &[1.0])], -12.0, 12.0, 0.0, 3.0).unwrap();
    let solution = solve(&problem);
    near(solution.forces.bounded[0], 12.0);
    near(solution.motion[0], (12.0 - drag) / 5.0);
}

#[test]
fn quasistatic_pushing_balances_forces() {
    let mut model = CoulombPyramid::new(PyramidOptions { quasistatic: true, ..PyramidOptions::default() });
    let (mu, drag) = (0.25, 0.25 * 4.0 * G);
    // The joint moves at will; without inertia the push is the drag, and the box follows.
    let mut problem = pusher(mu, 1.0, 0.0);
    problem.add_bilateral(&[(1, &[1.0])], 0.0, 3.0).unwrap();
    let outcome = model.solve(&problem).unwrap();
    let solution = outcome.solved().unwrap_or_else(|| panic!("{outcome:?}"));
    near(solution.forces.normal[1], drag);
    near(solution.forces.bilateral[0], drag);
    near(solution.motion[0], 3.0);
    // At rest without a push only the floor pushes.
    let outcome = model.solve(&pusher(mu, 0.0, 0.0)).unwrap();
    let solution = outcome.solved().unwrap_or_else(|| panic!("{outcome:?}"));
    near(solution.forces.normal[0], 4.0 * G);
    near(solution.forces.normal[1], 0.0);
    // Nothing holds a body that is pulled off the floor.
    let mut body = Body::cuboid(1.0, [1.0; 3], [0.0; 3]);
    body.force = [0.0, 0.0, 9.0];
    let up = assemble(&[body], &[Touch::new(0, None, [0.0, 0.0, -0.5], [0.0, 0.0, 1.0])], 1e-3).unwrap();
    assert!(model.solve(&up).unwrap().solved().is_none());
}

#[test]
fn rows_that_no_motion_satisfies_are_told_from_a_law_without_solution() {
    let mass = Mass::new(vec![diagonal(&[1.0, 1.0])]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 2], vec![0.0, -G], 1e-3).unwrap();
    // Floor and ceiling close in: a_y ≥ 1 and −a_y ≥ 1.
    for normal in [[0.0, 1.0], [0.0, -1.0]] {
        let rate = [-1.0, 0.0, 0.0];
        problem
            .add_contact(Contact { mu: 0.5, rate, ..Contact::new(&[(0, &normal)], &[(0, &[1.0, 0.0])], &[]) })
            .unwrap();
    }
    match CoulombPyramid::default().solve(&problem).unwrap() {
        ContactOutcome::Infeasible(found) => assert!(found.least_speed > 1e8),
        other => panic!("{other:?}"),
    }
    assert!(matches!(CoulombPyramid::default().existence(&problem).unwrap(), Existence::Unknown { .. }));
}

#[test]
fn interior_points_say_where_they_do_not_apply() {
    // A box between two walls: no acceleration parts it from both, so nothing is strictly feasible.
    let mut body = Body::cuboid(1.0, [1.0; 3], [0.0; 3]);
    body.force = [0.0, 0.0, -G];
    let wall = |x: f64| Touch { mu: 0.5, ..Touch::new(0, None, [x, 0.0, 0.0], [-2.0 * x, 0.0, 0.0]) };
    let problem = assemble(&[body], &[wall(0.5), wall(-0.5)], 1e-3).unwrap();
    match with_method(PyramidMethod::FeasibleInteriorPoint).solve(&problem).unwrap() {
        ContactOutcome::Failed(failure) => assert!(failure.why.contains("not applicable"), "{}", failure.why),
        other => panic!("{other:?}"),
    }
    assert!(with_method(PyramidMethod::Lemke).solve(&problem).unwrap().solved().is_some());
    // On a slope all three agree.
    for method in [PyramidMethod::Auto, PyramidMethod::Lemke, PyramidMethod::FeasibleInteriorPoint] {
        let outcome = with_method(method).solve(&block_on_slope(0.5, SIN, COS, [0.0; 3])).unwrap();
        let solution = outcome.solved().unwrap_or_else(|| panic!("{method:?}: {outcome:?}"));
        near(solution.motion[0], G * (SIN - 0.5 * COS));
    }
}

#[test]
fn a_pyramids_solution_in_the_cone_solves_the_cone_model() {
    // Proposition 1, by the cone's own law (11): μ c_n a + c |a| = 0.
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..300 {
        let recipe = Recipe { bodies: 2, contacts: 6, coulomb: true, ..Recipe::PLAIN };
        let problem = scenes::random_sliding(&recipe, seed).unwrap();
        let Some(solution) = CoulombPyramid::default().solve(&problem).unwrap().solved().cloned() else { continue };
        if !satisfies_cone(&problem, &solution) {
            outside += 1;
            continue;
        }
        inside += 1;
        let all = problem.contacts();
        for i in (0..all.len()).filter(|&i| problem.slip(i)[..2] == [0.0; 2] && !problem.parts(i)) {
            let a = [all.tangent_s.dot(i, &solution.motion), all.tangent_t.dot(i, &solution.motion)];
            let c = [solution.forces.tangent_s[i], solution.forces.tangent_t[i]];
            let (bound, speed) = (all.mu[i] * solution.forces.normal[i], a[0].hypot(a[1]));
            // Accelerations are 10 to 1e4 m/s² here.
            assert!(
                (0..2).all(|k| (bound * a[k] + c[k] * speed).abs() <= 1e-8 * bound * (speed + G)),
                "seed {seed}, contact {i}"
            );
        }
    }
    assert!(inside > 50 && outside > 10, "{inside} inside, {outside} outside");
}

#[test]
fn accelerations_obey_newton_and_euler_in_the_original_coordinates() {
    let recipe = Recipe { coulomb: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let mut solved = 0;
    for seed in 0..60 {
        let problem = scenes::random_sliding(&recipe, seed).unwrap();
        let Some(solution) = CoulombPyramid::default().solve(&problem).unwrap().solved().cloned() else { continue };
        solved += 1;
        // M v̇ − f − Σ rowᵀ p, from the problem as given.
        let mut rest = vec![0.0; problem.m()];
        problem.mass().mul_into(&solution.motion, &mut rest);
        let mut size: Vec<f64> = rest.iter().zip(problem.force()).map(|(r, f)| r.abs() + f.abs()).collect();
        rest.iter_mut().zip(problem.force()).for_each(|(r, f)| *r -= f);
        for (rows, forces) in solution.forces.with_rows(&problem) {
            for i in 0..rows.len() {
                rows.add_transposed(i, -forces[i], &mut rest);
                for (block, values) in rows.row(i) {
                    problem.layout().range(block).zip(values).for_each(|(j, x)| size[j] += (x * forces[i]).abs());
                }
            }
        }
        assert!(rest.iter().zip(&size).all(|(r, s)| r.abs() <= 1e-10 * s), "seed {seed}");
    }
    assert!(solved > 45, "{solved}");
}

#[test]
fn a_solution_is_its_own_warm_start() {
    for seed in 0..50 {
        let recipe = Recipe { coulomb: true, contacts: 8, ..Recipe::PLAIN };
        let problem = scenes::random_sliding(&recipe, seed).unwrap();
        let mut model = CoulombPyramid::default();
        let Some(first) = model.solve(&problem).unwrap().solved().cloned() else { continue };
        let again = model.solve_from(&problem, Some(&first.warm_start)).unwrap();
        let again = again.solved().unwrap();
        assert_eq!((again.stats.pivots, again.stats.guessed), (0, again.stats.islands), "seed {seed}");
    }
}

#[test]
fn a_slowly_changing_sequence_hardly_needs_a_pivot() {
    // A block on a slope that is pulled back and forth across the friction limit in 1000 steps.
    let mut problem = block_on_slope(0.8, SIN, COS, [0.0; 3]);
    let (mut model, mut start, mut quick) = (CoulombPyramid::default(), None, 0);
    for step in 0..1000 {
        let t = (step as f64 - 500.0) / 500.0;
        let force = [2.0 * G * (SIN + t * t - 0.5), 3.0 * t, -2.0 * G * COS, 0.1 * t, 0.0, 0.0];
        problem.set_motion(&[0.0; 6], &force).unwrap();
        let outcome = model.solve_from(&problem, start.as_ref()).unwrap();
        let solution = outcome.solved().unwrap_or_else(|| panic!("step {step}: {outcome:?}"));
        quick += usize::from(solution.stats.pivots <= 1);
        start = Some(solution.warm_start.clone());
    }
    assert!(quick >= 950, "{quick} of 1000");
}

#[test]
fn inputs_without_a_place_are_named() {
    let mut body = Body::cuboid(1.0, [1.0; 3], [0.0; 3]);
    body.force = [0.0, 0.0, -G];
    let plain = Touch { mu: 0.5, ..Touch::new(0, None, [0.0, 0.0, -0.5], [0.0, 0.0, 1.0]) };
    let message = |touch: Touch| {
        let mut problem = assemble(&[body], &[plain], 1e-3).unwrap();
        add_touch(&mut problem, &[body], &touch).unwrap();
        CoulombPyramid::default().solve(&problem).unwrap_err().to_string()
    };
    assert!(message(Touch { mu: f64::INFINITY, ..plain }).contains("contact 1: mu is infinite"));
    assert!(message(Touch { mu_spin: f64::INFINITY, ..plain }).contains("contact 1: mu_spin is infinite"));
    assert!(message(Touch { mu_viscous: 1.0, ..plain }).contains("contact 1: mu_viscous is 1"));
    let bad = ModelOptions { tolerance: 2.0, ..ModelOptions::default() };
    let bad = PyramidOptions { common: bad, ..PyramidOptions::default() };
    assert!(CoulombPyramid::new(bad).solve(&assemble(&[body], &[plain], 1e-3).unwrap()).is_err());
}

#[test]
fn a_conveyor_belt_drags_and_a_parting_contact_has_no_say() {
    let mass = Mass::new(vec![diagonal(&[2.0, 2.0])]).unwrap();
    let (n, s) = ([0.0, 1.0], [1.0, 0.0]);
    let mut problem = ContactProblem::new(mass, vec![0.0; 2], vec![0.0, -2.0 * G], 1e-3).unwrap();
    let surface = [-1.0, 0.0];
    problem.add_contact(Contact { mu: 0.4, surface, ..Contact::new(&[(0, &n)], &[(0, &s)], &[]) }).unwrap();
    near(solve(&problem).motion[0], 0.4 * G);
    problem.set_motion(&[0.0, 1.0], &[0.0, -2.0 * G]).unwrap();
    let solution = solve(&problem);
    assert_eq!(solution.forces.normal, [0.0]);
    near(solution.motion[1], -G);
}

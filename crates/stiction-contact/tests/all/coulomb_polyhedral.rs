//! Polyhedral Coulomb friction against closed forms of mechanics, with all three methods and both schemes.

use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method, PolyhedralOptions, Scheme};
use stiction_contact::scenes::{self, Body, Recipe, Touch, Vec3};
use stiction_contact::{Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, Mass, Mode};
use stiction_lcp::Matrix;
use stiction_lcp::generate::Rng;

const METHODS: [Method; 3] = [Method::Standard, Method::Structural, Method::Reduced];
const G: f64 = 9.81;
const DT: f64 = 1e-2;
const AXES: [Vec3; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

fn model(method: Method, directions: usize) -> CoulombPolyhedral {
    CoulombPolyhedral::new(PolyhedralOptions { method, directions, ..PolyhedralOptions::default() }).unwrap()
}

fn solve(method: Method, directions: usize, problem: &ContactProblem) -> ContactSolution {
    match model(method, directions).solve(problem).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        ContactOutcome::Failed(failure) => panic!("{method:?}, d = {directions}: {}", failure.why),
        other => panic!("{method:?}, d = {directions}: {}", other.name()),
    }
}

#[track_caller]
fn close(a: f64, b: f64, scale: f64) {
    assert!((a - b).abs() <= 1e-12 * scale, "{a} is not {b}");
}

/// A particle with a contact below it; `change` sets what differs from a touching contact without friction.
fn particle(mass: f64, v: Vec3, force: Vec3, change: impl Fn(Contact<'_>) -> Contact<'_>) -> ContactProblem {
    let inertia = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { mass } else { 0.0 })]).unwrap();
    let mut problem = ContactProblem::new(inertia, v.to_vec(), force.to_vec(), DT).unwrap();
    problem.add_contact(change(Contact::new(&[(0, &AXES[0])], &[(0, &AXES[1])], &[(0, &AXES[2])]))).unwrap();
    problem
}

/// A particle of 2 kg on a slope: x down the slope, z along its normal. The first direction of friction is along x.
fn on_slope(sine: f64, mu: f64, v: Vec3) -> ContactProblem {
    let cosine = (1.0 - sine * sine).sqrt();
    particle(2.0, v, [2.0 * G * sine, 0.0, -2.0 * G * cosine], |c| Contact { mu, ..c })
}

#[test]
fn block_on_a_slope_below_at_and_above_the_friction_angle() {
    // tan of the slope is 3/4.
    for method in METHODS {
        for d in [4, 6, 8, 14] {
            let below = solve(method, d, &on_slope(0.6, 0.75 * (1.0 + 1e-6), [0.0; 3]));
            assert!(below.motion.iter().all(|v| v.abs() < 1e-16), "{:?}", below.motion);
            assert_eq!(below.modes, [Mode::Stick]);
            let at = solve(method, d, &on_slope(0.6, 0.75, [0.0; 3]));
            assert!(at.motion.iter().all(|v| v.abs() < 1e-15), "{:?}", at.motion);
            close(at.forces.tangent_s[0], -2.0 * G * 0.6 * DT, 1.0);
            let above = solve(method, d, &on_slope(0.6, 0.5, [0.0; 3]));
            close(above.motion[0], G * (0.6 - 0.5 * 0.8) * DT, 1.0);
            close(above.motion[2], 0.0, 1.0);
            assert_eq!(above.modes, [Mode::Slide]);
        }
    }
}

#[test]
fn large_and_small_coefficients() {
    for method in METHODS {
        for mu in [2.0, 1e3, 1e6] {
            let held = solve(method, 8, &on_slope(0.6, mu, [0.03, -0.02, 0.0]));
            assert!(held.motion.iter().all(|v| v.abs() < 1e-15), "mu = {mu}: {:?}", held.motion);
        }
        let free = solve(method, 8, &on_slope(0.6, 0.0, [0.0; 3]));
        close(free.motion[0], G * 0.6 * DT, 1.0);
    }
}

#[test]
fn sliding_block_stops_and_stays() {
    for method in METHODS {
        let mut model = model(method, 4);
        let mut problem = on_slope(0.0, 0.3, [1.0, 0.0, 0.0]);
        let force = problem.force().to_vec();
        let mut start = None;
        let steps = (1.0 / (0.3 * G * DT)).floor() as usize;
        for step in 1..steps + 20 {
            let outcome = model.solve_from(&problem, start.as_ref()).unwrap();
            let solution = outcome.solved().expect("solved");
            let expected = (1.0 - 0.3 * G * DT * step as f64).max(0.0);
            close(solution.motion[0], expected, 10.0);
            if step > steps + 2 {
                assert!(solution.motion[0].abs() < 1e-16, "no creep");
                assert_eq!(solution.stats.guessed, 1, "a basis that stays right is guessed");
            }
            start = Some(solution.warm_start.clone());
            let v = solution.motion.clone();
            problem.set_motion(&v, &force).unwrap();
        }
    }
}

#[test]
fn rolling_sphere() {
    // Thrown without spin it slides until v = 5/7 v₀, then rolls. In one long step friction brings it there.
    let radius = 0.5;
    let mut body = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, radius]);
    body.inertia = [0.4 * radius * radius; 3];
    body.v = [1.0, 0.0, 0.0];
    body.force = [0.0, 0.0, -G];
    let touch = Touch { mu: 0.5, ..Touch::new(0, None, [0.0; 3], [0.0, 0.0, 1.0]) };
    for method in METHODS {
        let rolls = solve(method, 4, &scenes::assemble(&[body], &[touch], 1.0).unwrap());
        close(rolls.motion[0], 5.0 / 7.0, 1.0);
        close(rolls.motion[4], 5.0 / 7.0 / radius, 10.0);
        assert_eq!(rolls.modes, [Mode::Stick]);
        let slides = solve(method, 4, &scenes::assemble(&[body], &[touch], DT).unwrap());
        close(slides.motion[0], 1.0 - 0.5 * G * DT, 1.0);
        close(slides.motion[4], 2.5 * 0.5 * G * DT / radius, 1.0);
        assert_eq!(slides.modes, [Mode::Slide]);
    }
}

/// A ladder of unit length leaning with slope 4/3 on a smooth wall, on a floor with coefficient mu: it stands if mu ≥ 3/8.
fn ladder(mu: f64) -> ContactProblem {
    let (foot, head) = ([0.0, 0.0, 0.0], [-0.6, 0.0, 0.8]);
    let mut body = Body::cuboid(3.0, [0.1, 0.1, 1.0], [-0.3, 0.0, 0.4]);
    body.inertia = [0.25, 0.25, 0.01];
    body.force = [0.0, 0.0, -3.0 * G];
    let floor = Touch { mu, ..Touch::new(0, None, foot, [0.0, 0.0, 1.0]) };
    let wall = Touch::new(0, None, head, [1.0, 0.0, 0.0]);
    scenes::assemble(&[body], &[floor, wall], DT).unwrap()
}

#[test]
fn ladder_stands_and_slips() {
    for method in METHODS {
        let stands = solve(method, 4, &ladder(0.375 * 1.001));
        assert!(stands.motion.iter().all(|v| v.abs() < 1e-15), "{:?}", stands.motion);
        close(stands.forces.normal[1], 0.375 * 3.0 * G * DT, 1.0);
        let slips = solve(method, 4, &ladder(0.3));
        assert!(slips.modes[0] == Mode::Slide && slips.motion[2] < -1e-4);
    }
}

#[test]
fn wedge_holds_by_friction_and_slides_without() {
    // A weight of 2 kg on a wedge of 1 kg whose face has slope 3/4; guides along y and z keep both upright.
    let normal = [-0.6, 0.0, 0.8];
    let mut wedge = Body::cuboid(1.0, [1.0; 3], [0.0; 3]);
    wedge.force = [0.0, 0.0, -G];
    let mut block = Body::cuboid(2.0, [1.0; 3], [0.0, 0.0, 1.0]);
    block.force = [0.0, 0.0, -2.0 * G];
    let problem = |mu: f64| {
        let mut touches = Vec::new();
        for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)] {
            touches.push(Touch { mu, ..Touch::new(0, None, [x, y, -0.5], [0.0, 0.0, 1.0]) });
            touches.push(Touch { mu, ..Touch::new(1, Some(0), [0.8 * x, y, 0.4 + 0.6 * x], normal) });
        }
        let mut problem = scenes::assemble(&[wedge, block], &touches, DT).unwrap();
        for body in 0..2 {
            for turn in 3..6 {
                let mut row = [0.0; 6];
                row[turn] = 1.0;
                problem.add_bilateral(&[(body, &row)], 0.0, 0.0).unwrap();
            }
        }
        problem
    };
    for method in METHODS {
        let holds = solve(method, 4, &problem(0.8));
        assert!(holds.motion.iter().all(|v| v.abs() < 1e-14), "{:?}", holds.motion);
        // The wedge is pushed away with m g sin cos/(M + m sin²).
        let slides = solve(method, 4, &problem(0.0));
        close(slides.motion[0], 2.0 * G * 0.48 / (1.0 + 2.0 * 0.36) * DT, 1.0);
    }
}

#[test]
fn redundant_table_has_the_right_resultant() {
    let mut table = Body::cuboid(10.0, [2.0, 1.0, 0.1], [0.1, 0.0, 0.0]);
    table.force = [20.0, 5.0, -10.0 * G];
    let mut touches = Vec::new();
    for copy in 0..5 {
        for (x, y) in [(1.0, 0.5), (1.0, -0.5), (-1.0, -0.5), (-1.0, 0.5), (0.0, 0.0)] {
            let inset = 1.0 - 0.1 * copy as f64;
            let touch = Touch::new(0, None, [inset * x, inset * y, -0.05], [0.0, 0.0, 1.0]);
            touches.push(Touch { mu: 0.6, ..touch });
        }
    }
    let problem = scenes::assemble(&[table], &touches, DT).unwrap();
    for method in METHODS {
        for d in [4, 8] {
            let solution = solve(method, d, &problem);
            assert!(solution.motion.iter().all(|v| v.abs() < 1e-14), "{:?}", solution.motion);
            let on = &solution.resultants(&problem)[0].on[0];
            let expected = [-20.0, -5.0, 10.0 * G, 0.0, 0.0, 0.0].map(|f| f * DT);
            on.iter().zip(expected).for_each(|(a, b)| close(*a, b, 10.0));
        }
    }
}

#[test]
fn order_and_redundancy_of_contacts_do_not_change_a_unique_motion() {
    // A flat block pushed along without turning; its contacts in any order, and repeated.
    let mut block = Body::cuboid(1.0, [1.0, 1.0, 0.2], [0.0; 3]);
    (block.v, block.force) = ([0.3, 0.0, 0.0], [0.0, 0.0, -G]);
    let mut points = vec![[0.5, 0.5], [0.5, -0.5], [-0.5, -0.5], [-0.5, 0.5], [0.25, 0.0]];
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let at = rng.below(points.len());
        points.push(points[at]);
        let (a, b) = (rng.below(points.len()), rng.below(points.len()));
        points.swap(a, b);
        let touch = |p: &[f64; 2]| Touch { mu: 0.2, ..Touch::new(0, None, [p[0], p[1], -0.1], [0.0, 0.0, 1.0]) };
        let problem = scenes::assemble(&[block], &points.iter().map(touch).collect::<Vec<_>>(), 1e-3).unwrap();
        for method in METHODS {
            let motion = solve(method, 4, &problem).motion;
            let expected = [0.3 - 0.2 * G * 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0];
            motion.iter().zip(expected).for_each(|(a, b)| close(*a, b, 1.0));
        }
    }
}

#[test]
fn planar_contacts_slide_and_stick() {
    let inertia = || Mass::new(vec![Matrix::identity(2)]).unwrap();
    for method in METHODS {
        for (push, expected) in [(3.0, 0.0), (7.0, (7.0 - 0.5 * G) * DT)] {
            let mut problem = ContactProblem::new(inertia(), vec![0.0; 2], vec![push, -G], DT).unwrap();
            let (n, s) = ([0.0, 1.0], [1.0, 0.0]);
            problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[]) }).unwrap();
            close(solve(method, 6, &problem).motion[0], expected, 1.0);
        }
    }
}

#[test]
fn conveyor_belt_carries_a_block() {
    let on_belt =
        |v: f64| particle(2.0, [v, 0.0, 0.0], [0.0, 0.0, -2.0 * G], |c| Contact { mu: 0.4, surface: [-2.0, 0.0], ..c });
    for method in METHODS {
        close(solve(method, 8, &on_belt(0.0)).motion[0], 0.4 * G * DT, 1.0);
        close(solve(method, 8, &on_belt(1.99)).motion[0], 2.0, 1.0);
    }
}

#[test]
fn schemes_differ_in_what_a_gap_means() {
    // Falling fast towards a floor 1 mm away: Stewart–Trinkle arrives, Anitescu–Potra has not met it yet.
    let problem = particle(1.0, [1.0, 0.0, -1.0], [0.0; 3], |c| Contact { mu: 1.0, gap: 1e-3, ..c });
    for method in METHODS {
        let arrives = solve(method, 4, &problem);
        close(arrives.motion[2], -0.1, 1.0);
        assert_eq!(arrives.motion[0], 1.0, "a contact that does not touch has no friction");
        let options = PolyhedralOptions { method, scheme: Scheme::AnitescuPotra, ..PolyhedralOptions::default() };
        let outcome = CoulombPolyhedral::new(options).unwrap().solve(&problem).unwrap();
        assert_eq!(outcome.solved().expect("solved").motion, [1.0, 0.0, -1.0]);
    }
}

#[test]
fn bounded_rows_brake_up_to_their_limit() {
    for method in METHODS {
        for (lo, hi, expected) in [
            (-5.0, 5.0, 1.0 - 5.0 * DT),
            (-500.0, 500.0, 0.25),
            (f64::NEG_INFINITY, 3.0, 0.25),
            (-5.0, f64::INFINITY, 1.0 - 5.0 * DT),
            (f64::NEG_INFINITY, f64::INFINITY, 0.25),
            (-7.0, -7.0, 1.0 - 7.0 * DT),
        ] {
            let mut problem = particle(1.0, [1.0, 0.0, 0.0], [0.0, 0.0, -G], |c| c);
            problem.add_bounded(&[(0, &AXES[1])], lo, hi, 0.0, 0.25).unwrap();
            close(solve(method, 4, &problem).motion[0], expected, 1.0);
        }
    }
}

#[test]
fn grasps_of_two_to_four_blocks_hold_over_ten_steps() {
    for n in 2..=4 {
        let mut problem = scenes::grasp(n, 100.0, 1e-3).unwrap();
        let force = problem.force().to_vec();
        let mut model = model(Method::Reduced, 4);
        for _ in 0..10 {
            let outcome = model.solve(&problem).unwrap();
            let solution = outcome.solved().expect("solved");
            assert_eq!(solution.stats.fallbacks, 0);
            let v = solution.motion.clone();
            problem.set_motion(&v, &force).unwrap();
        }
        let fall = problem.v()[2];
        close(fall, -G * n as f64 / (n as f64 + 2.0) * 0.01, 1.0);
        assert!((0..n + 2).all(|b| (problem.v()[6 * b + 2] - fall).abs() < 1e-13));
    }
}

#[test]
fn random_problems_are_solved_by_every_method() {
    // Rows with infinite force and a speed to keep can jam; without them there is always a solution.
    let recipe = Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, ..Recipe::PLAIN };
    for method in METHODS {
        let mut fallbacks = 0;
        for seed in 0..150 {
            let problem = scenes::random(&recipe, 7_000_000 + seed).unwrap();
            let d = [4, 6, 8, 10][seed as usize % 4];
            let solution = solve(method, d, &problem);
            fallbacks += solution.stats.fallbacks;
            let again = model(method, d).solve_from(&problem, Some(&solution.warm_start)).unwrap();
            assert!(again.solved().is_some());
        }
        assert!(fallbacks <= 1, "{method:?}: {fallbacks}");
    }
}

#[test]
fn a_problem_without_contacts_is_solved() {
    for method in METHODS {
        let mass = Mass::new(vec![Matrix::identity(3)]).unwrap();
        let mut problem = ContactProblem::new(mass, vec![1.0, 2.0, -3.0], vec![0.0; 3], 0.01).unwrap();
        close(solve(method, 4, &problem).motion[2], -3.0, 1.0);
        problem.add_bilateral(&[(0, &[1.0, -1.0, 0.0])], 0.0, 0.0).unwrap();
        problem.add_limit(&[(0, &[0.0, 0.0, 1.0])], 0.0, 0.0, 0.0).unwrap();
        let motion = solve(method, 4, &problem).motion;
        motion.iter().zip([1.5, 1.5, 0.0]).for_each(|(v, exact)| close(*v, exact, 1.0));
    }
}

#[test]
fn impossible_targets_are_proven_so() {
    // Pushed into the floor by a bilateral row.
    let mut problem = on_slope(0.0, 0.5, [0.0; 3]);
    problem.add_bilateral(&[(0, &AXES[0])], 0.0, -1.0).unwrap();
    for method in METHODS {
        let outcome = model(method, 4).solve(&problem).unwrap();
        assert_eq!(outcome.name(), "infeasible");
    }
}

#[test]
fn inputs_without_a_place_in_the_law_are_named() {
    let refused = |change: &dyn Fn(Contact<'static>) -> Contact<'static>, text: &str| {
        let mut problem = on_slope(0.0, 0.5, [0.0; 3]);
        problem.add_contact(change(Contact::new(&[], &[], &[]))).unwrap();
        let message = model(Method::Reduced, 4).solve(&problem).unwrap_err().to_string();
        assert!(message.contains("coulomb-polyhedral") && message.contains(text), "{message}");
    };
    refused(&|c| Contact { mu: f64::INFINITY, ..c }, "contact 1: mu is infinite");
    refused(&|c| Contact { mu_viscous: 1.0, ..c }, "contact 1: mu_viscous");
    refused(&|c| Contact { mu_spin: 1.0, ..c }, "contact 1: mu_spin");
    for directions in [0, 2, 3, 7, 5000] {
        assert!(CoulombPolyhedral::new(PolyhedralOptions { directions, ..PolyhedralOptions::default() }).is_err());
    }
}

#[test]
fn another_method_is_asked_where_the_first_ones_answer_is_not_certified() {
    let everything =
        Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let problem = scenes::random(&everything, 30_027_077).unwrap();
    let outcome = CoulombPolyhedral::new(PolyhedralOptions::default()).unwrap().solve(&problem).unwrap();
    let solution = outcome.solved().expect("another method solves it");
    assert_eq!(solution.stats.fallbacks, 1);
}

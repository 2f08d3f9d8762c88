//! The convex impact model against closed forms, its limits and other properties.

use stiction_contact::models::drumwright_shell::{DrumwrightShell, Method};
use stiction_contact::scenes::{Body, Recipe, Touch, assemble, body_in_bowl, grasp, peg_in_hole, random};
use stiction_contact::{
    Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, InputError, Mass, Mode,
};
use stiction_lcp::Matrix;

const EVERYTHING: Recipe =
    Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };

const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn solve(problem: &ContactProblem) -> ContactSolution {
    match DrumwrightShell::default().solve(problem).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        other => panic!("{other:?}"),
    }
}

/// A particle with velocities (x, y, z).
fn particle(mass: f64, v: [f64; 3]) -> ContactProblem {
    let mass = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { mass } else { 0.0 })]).unwrap();
    ContactProblem::new(mass, v.to_vec(), vec![0.0; 3], 1e-3).unwrap()
}

fn add_floor(problem: &mut ContactProblem, mu: f64, gap: f64) {
    let [s, t, n] = &AXES;
    problem.add_contact(Contact { mu, gap, ..Contact::new(&[(0, n)], &[(0, s)], &[(0, t)]) }).unwrap();
}

fn energy(problem: &ContactProblem, v: &[f64]) -> f64 {
    let mut momentum = vec![0.0; v.len()];
    problem.mass().mul_into(v, &mut momentum);
    0.5 * v.iter().zip(&momentum).map(|(v, p)| v * p).sum::<f64>()
}

fn free_motion(problem: &ContactProblem) -> Vec<f64> {
    let mut v = problem.force().to_vec();
    problem.mass().solve(&mut v);
    v.iter_mut().zip(problem.v()).for_each(|(a, v)| *a = v + problem.dt() * *a);
    v
}

fn assert_near(found: &[f64], expected: &[f64], within: f64) {
    let scale = expected.iter().fold(f64::MIN_POSITIVE, |max, x| max.max(x.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= within * scale, "{found:?} instead of {expected:?}");
    }
}

/// The contacts, bilateral rows and limits of a problem again, each contact `times` times and with coefficient `mu` where one is given.
fn rebuilt(problem: &ContactProblem, mu: Option<f64>, times: usize) -> ContactProblem {
    let (v, force) = (problem.v().to_vec(), problem.force().to_vec());
    let mut out = ContactProblem::new(problem.mass().clone(), v, force, problem.dt()).unwrap();
    let all = problem.contacts();
    for i in (0..all.len()).flat_map(|i| vec![i; times]) {
        let [n, s, t] = [&all.normal, &all.tangent_s, &all.tangent_t].map(|rows| rows.row(i).collect::<Vec<_>>());
        let mu = mu.unwrap_or(all.mu[i]);
        out.add_contact(Contact { mu, gap: all.gap[i], size: all.size[i], ..Contact::new(&n, &s, &t) }).unwrap();
    }
    let (held, limits) = (problem.bilaterals(), problem.limits());
    for i in 0..held.rows.len() {
        out.add_bilateral(&held.rows.row(i).collect::<Vec<_>>(), 0.0, held.target[i]).unwrap();
    }
    for i in 0..limits.rows.len() {
        out.add_limit(&limits.rows.row(i).collect::<Vec<_>>(), limits.gap[i], 0.0, limits.bounce[i]).unwrap();
    }
    out
}

/// The impulse is the projection of −m v onto the cone: with v = (a, 0, −c) it is zero, stops all, or is `m (c + μ a)/(1 + μ²) · (−μ, 0, 1)`.
#[test]
fn a_particle_gets_the_projection_onto_its_cone() {
    let cases =
        [(0.5, 3.0, 1.0), (0.5, 0.1, 1.0), (2.0, 1.0, 0.1), (1e-3, 1.0, 1.0), (0.3, 1.0, 0.0), (0.5, 1.0, -2.0)];
    for (mass, (mu, a, c)) in [1e-6, 2.0, 1e6].into_iter().flat_map(|m| cases.map(|case| (m, case))) {
        let mut problem = particle(mass, [a, 0.0, -c]);
        add_floor(&mut problem, mu, 0.0);
        let solution = solve(&problem);
        let normal = (c + mu * a) / (1.0 + mu * mu);
        let (v, mode) = if -c >= mu * a {
            ([a, 0.0, -c], Mode::Open)
        } else if a <= mu * c {
            ([0.0; 3], Mode::Stick)
        } else {
            ([a - mu * normal, 0.0, normal - c], Mode::Slide)
        };
        for k in 0..3 {
            assert!((solution.motion[k] - v[k]).abs() < 1e-13 * a.hypot(c), "{mu} {a} {c}: {:?}", solution.motion);
        }
        assert_eq!(solution.modes, [mode], "{mu} {a} {c}");
        // What makes this law another than Coulomb's: a sliding contact leaves the floor.
        if mode == Mode::Slide {
            assert!((solution.motion[2] - mu * solution.motion[0]).abs() < 1e-13 && solution.motion[2] > 0.0);
        }
    }
}

#[test]
fn a_block_on_a_table_stays_and_carries_its_weight() {
    for mu in [0.3, 1e3, f64::INFINITY] {
        let mut body = Body::cuboid(2.0, [1.0, 0.6, 0.2], [0.0, 0.0, 0.1]);
        body.force = [3.0, 1.0, -2.0 * 9.81];
        let corners = [(0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3)];
        let touches = corners.map(|(x, y)| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) });
        let problem = assemble(&[body], &touches, 1e-3).unwrap();
        let solution = solve(&problem);
        assert!(solution.motion.iter().all(|v| v.abs() < 1e-15), "{:?}", solution.motion);
        assert_eq!(solution.modes, [Mode::Stick; 4]);
        let resultant = &solution.resultants(&problem)[0].on[0];
        assert_near(&resultant[..3], &[-3e-3, -1e-3, 2.0 * 9.81e-3], 1e-12);
    }
}

/// Nothing acts before it is reached, however much energy braking would save; and what is not reached has no friction.
#[test]
fn a_gap_is_not_braked_for() {
    let moving = || particle(1.0, [2.0, 0.0, -1.0]);
    // 1 mm per step, half a millimetre to go.
    let mut problem = moving();
    add_floor(&mut problem, 0.8, 0.5e-3);
    assert_near(&solve(&problem).motion, &[2.0, 0.0, -0.5], 1e-14);
    let mut problem = moving();
    add_floor(&mut problem, 0.8, 2e-3);
    assert_eq!(solve(&problem).motion, [2.0, 0.0, -1.0]);
}

/// With μ = ∞ nothing slips, and Signorini's condition holds again.
#[test]
fn infinite_friction_is_no_slip() {
    let recipe = Recipe { bilaterals: true, limits: true, ..Recipe::PLAIN };
    // The interior point may leave internal forces so large that their rounding is motion.
    let mut failed = 0;
    for seed in 0..300 {
        let problem = rebuilt(&random(&recipe, seed).unwrap(), Some(f64::INFINITY), 1);
        let solution = match DrumwrightShell::default().solve(&problem).unwrap() {
            ContactOutcome::Solved(solution) => solution,
            ContactOutcome::Failed(_) => {
                failed += 1;
                continue;
            }
            other => panic!("{other:?}"),
        };
        let all = problem.contacts();
        let free = free_motion(&problem);
        let fastest = free.iter().chain(problem.v()).fold(0.0, |max: f64, v| max.max(v.abs()));
        let bound = vec![fastest; problem.m()];
        for i in 0..all.len() {
            for rows in [&all.tangent_s, &all.tangent_t] {
                let slip = rows.dot(i, &solution.motion).abs();
                assert!(slip <= 1e-9 * rows.abs_dot(i, &bound), "seed {seed}, contact {i} slips by {slip}");
            }
            let (p, u) = (solution.forces.normal[i], all.normal.dot(i, &solution.motion));
            let mut change = vec![0.0; problem.m()];
            all.normal.add_transposed(i, p, &mut change);
            problem.mass().solve(&mut change);
            assert!(
                all.normal.dot(i, &change).min(u) <= 1e-10 * all.normal.abs_dot(i, &bound),
                "seed {seed}, contact {i}: Signorini"
            );
        }
    }
    assert!(failed <= 3, "{failed}");
}

/// Without friction the motion is that of the frictionless impact: a projection, the same however often a contact is given.
#[test]
fn repeated_contacts_do_not_change_the_motion() {
    for (seed, mu) in (0..100).flat_map(|seed| [(seed, 0.0), (seed, 0.4), (seed, 2.0)]) {
        let once = body_in_bowl(6, mu, 0.0, seed).unwrap();
        let (a, b) = (solve(&once).motion, solve(&rebuilt(&once, None, 3)).motion);
        let speed = free_motion(&once).iter().fold(0.0, |max: f64, v| max.max(v.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-10 * speed), "seed {seed}, mu {mu}: {a:?} {b:?}");
    }
}

#[test]
fn random_problems_are_solved_and_lose_energy() {
    let recipe = Recipe { bounded: false, ..EVERYTHING };
    for seed in 0..400 {
        let problem = random(&recipe, seed).unwrap();
        let solution = solve(&problem);
        assert!(solution.certificate.holds(1e-10));
        let (before, after) = (energy(&problem, &free_motion(&problem)), energy(&problem, &solution.motion));
        assert!(after <= before * (1.0 + 1e-12), "seed {seed}: {before} to {after}");
    }
}

/// Adding an impulse from an edge of any cone never lowers the energy.
#[test]
fn no_other_impulse_leaves_less_energy() {
    let recipe = Recipe { coulomb: true, ..Recipe::PLAIN };
    for seed in 0..60 {
        let problem = random(&recipe, seed).unwrap();
        let solution = solve(&problem);
        let (least, scale) = (energy(&problem, &solution.motion), energy(&problem, &free_motion(&problem)));
        let all = problem.contacts();
        for (i, (s, t)) in (0..all.len()).flat_map(|i| [(i, (0.0, 0.0)), (i, (0.6, -0.8)), (i, (-0.6, 0.8))]) {
            let mut change = vec![0.0; problem.m()];
            all.normal.add_transposed(i, 1.0, &mut change);
            all.tangent_s.add_transposed(i, s * all.mu[i], &mut change);
            all.tangent_t.add_transposed(i, t * all.mu[i], &mut change);
            problem.mass().solve(&mut change);
            let size = (scale / energy(&problem, &change)).sqrt();
            for step in [1e-4, 1e-2, 1.0] {
                let v: Vec<f64> = solution.motion.iter().zip(&change).map(|(v, c)| v + step * size * c).collect();
                assert!(energy(&problem, &v) >= least - 1e-9 * step * scale, "seed {seed}, contact {i}");
            }
        }
    }
}

#[test]
fn the_grasp_falls_together() {
    let problem = grasp(2, 100.0, 1e-3).unwrap();
    let solution = solve(&problem);
    let expected = [0.0, 0.0, -0.5 * 9.81e-3, 0.0, 0.0, 0.0];
    for (k, v) in solution.motion.iter().enumerate() {
        assert!((v - expected[k % 6]).abs() < 1e-14, "{:?}", solution.motion);
    }
}

/// Newton's method alone comes to the same motion.
#[test]
fn both_methods_agree() {
    let mut newton = DrumwrightShell::default();
    newton.method = Method::Newton;
    for seed in 0..200 {
        let problem = random(&Recipe { bounded: false, ..EVERYTHING }, seed).unwrap();
        let (a, b) = (solve(&problem), newton.solve(&problem).unwrap());
        let b = b.solved().unwrap();
        let difference: Vec<f64> = a.motion.iter().zip(&b.motion).map(|(a, b)| a - b).collect();
        let scale = energy(&problem, &free_motion(&problem));
        assert!(energy(&problem, &difference) <= 1e-18 * scale, "seed {seed}");
    }
}

#[test]
fn one_body_with_many_contacts() {
    for n in [1, 8, 64, 256] {
        solve(&peg_in_hole(n, 0.3, 7).unwrap());
    }
}

/// A motor pulls as far as its bounds let it, a drive without bounds goes at its speed.
#[test]
fn bounded_rows_pull_up_to_their_bounds() {
    for (hi, expected) in [(50.0, 0.05), (5e4, 1.0), (f64::INFINITY, 1.0)] {
        let mut problem = particle(1.0, [0.0; 3]);
        add_floor(&mut problem, 0.0, 0.0);
        problem.add_bounded(&[(0, &AXES[0])], -1.0, hi, 0.0, 1.0).unwrap();
        assert_near(&solve(&problem).motion, &[expected, 0.0, 0.0], 1e-12);
    }
}

/// A floor that throws the particle up under a ceiling at rest leaves no way out.
#[test]
fn contradicting_bounces_are_proven_infeasible() {
    let mut problem = particle(1.0, [0.3, 0.0, -1.0]);
    let ([s, t, n], down) = (&AXES, [0.0, 0.0, -1.0]);
    problem.add_contact(Contact { mu: 0.5, bounce: 1.0, ..Contact::new(&[(0, n)], &[(0, s)], &[(0, t)]) }).unwrap();
    problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &down)], &[(0, s)], &[(0, t)]) }).unwrap();
    match DrumwrightShell::default().solve(&problem).unwrap() {
        ContactOutcome::Infeasible(proof) => assert!(proof.least_speed > 1e8),
        other => panic!("{other:?}"),
    }
}

#[test]
fn inputs_without_a_place_are_named() {
    for (mu_viscous, mu_spin, field) in [(0.1, 0.0, "mu_viscous"), (0.0, 0.2, "mu_spin")] {
        let mut problem = particle(1.0, [0.0; 3]);
        let [s, t, n] = &AXES;
        let rows: [[(usize, &[f64]); 1]; 4] = [[(0, n)], [(0, s)], [(0, t)], [(0, &[0.0; 3])]];
        let contact = Contact { mu_viscous, mu_spin, spin: &rows[3], ..Contact::new(&rows[0], &rows[1], &rows[2]) };
        problem.add_contact(contact).unwrap();
        match DrumwrightShell::default().solve(&problem) {
            Err(InputError::Unsupported { solver, reason }) => {
                assert_eq!(solver, "drumwright-shell");
                assert!(reason.contains(field), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Rows that move nothing, and numbers at the ends of the range: an outcome, never a panic.
#[test]
fn nothing_panics() {
    let mut empty = particle(1.0, [1.0, 0.0, -1.0]);
    empty.add_contact(Contact { mu: 0.5, ..Contact::new(&[], &[], &[]) }).unwrap();
    empty.add_bounded(&[], -1.0, 1.0, 0.0, 0.0).unwrap();
    assert_eq!(solve(&empty).motion, [1.0, 0.0, -1.0]);
    for (mass, speed, mu) in
        [(1e-100, 1e100, 1e-300), (1e100, 1e-150, 1e300), (1e-90, 1e300, 0.5), (1e90, 1e308, 1e150)]
    {
        let mut problem = particle(mass, [speed, 0.0, -speed]);
        add_floor(&mut problem, mu, 0.0);
        problem.add_bounded(&[(0, &AXES[1])], -1e300, f64::INFINITY, 0.0, 0.0).unwrap();
        DrumwrightShell::default().solve(&problem).unwrap();
    }
}

#[test]
fn the_same_problem_gives_the_same_bits() {
    let mut model = DrumwrightShell::default();
    for seed in 0..20 {
        let problem = random(&EVERYTHING, seed).unwrap();
        let outcome = model.solve(&problem).unwrap();
        assert_eq!(outcome, DrumwrightShell::default().solve(&problem).unwrap(), "seed {seed}");
    }
}

#[test]
#[ignore = "long: 10,000 problems; run in release"]
fn soak() {
    let (mut model, mut failed, mut infeasible) = (DrumwrightShell::default(), 0, 0);
    for seed in 0..10_000 {
        match model.solve(&random(&EVERYTHING, seed).unwrap()).unwrap() {
            ContactOutcome::Solved(_) => {}
            ContactOutcome::Infeasible(_) => infeasible += 1,
            _ => failed += 1,
        }
    }
    // Drives without bounds may contradict each other or the contacts.
    assert!(failed <= 10 && infeasible <= 300, "{failed} failed, {infeasible} infeasible");
}

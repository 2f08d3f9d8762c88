//! `BaraffFriction` on mechanics with known answers, and on random problems.

use stiction_contact::find_indices::FindIndices;
use stiction_contact::model::ContactRay;
use stiction_contact::models::BaraffFriction;
use stiction_contact::scenes::{Body, Recipe, Touch, assemble, random, unit};
use stiction_contact::{
    Contact, ContactModel, ContactOutcome, ContactProblem, ContactSolution, Mass, Mode, ModelOptions,
};
use stiction_lcp::Matrix;
use stiction_lcp::generate::Rng;

const G: f64 = 9.81;

fn solve(problem: &ContactProblem) -> ContactOutcome {
    BaraffFriction::new(ModelOptions::default()).solve(problem).unwrap()
}

fn solved(problem: &ContactProblem) -> ContactSolution {
    let outcome = solve(problem);
    outcome.solved().unwrap_or_else(|| panic!("{outcome:?}")).clone()
}

fn near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-11 * scale
}

fn rests(motion: &[f64]) -> bool {
    motion.iter().all(|a| a.abs() < 1e-11)
}

/// A cube of 2 kg standing with four corners on a slope of tangent `slope`, moving down it at `speed`.
fn cube_on_slope(slope: f64, mu: f64, speed: f64) -> ContactProblem {
    let normal = unit([slope, 0.0, 1.0]);
    let down = [normal[2], 0.0, -normal[0]];
    let mut cube = Body::cuboid(2.0, [1.0; 3], normal.map(|x| 0.5 * x));
    cube.force = [0.0, 0.0, -2.0 * G];
    cube.v = down.map(|x| speed * x);
    let touch = |(a, b): (f64, f64)| {
        let corner = [0.5 * a * down[0], 0.5 * b, 0.5 * a * down[2]];
        Touch { mu, ..Touch::new(0, None, corner, normal) }
    };
    let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    assemble(&[cube], &corners.map(touch), 1e-3).unwrap()
}

/// Acceleration along the slope.
fn down_slope(slope: f64, motion: &[f64]) -> f64 {
    let normal = unit([slope, 0.0, 1.0]);
    motion[0] * normal[2] - motion[2] * normal[0]
}

#[test]
fn block_on_a_slope() {
    for mu in [0.1, 0.3, 0.9] {
        for part in [0.0, 0.5, 0.999] {
            let s = solved(&cube_on_slope(part * mu, mu, 0.0));
            assert!(rests(&s.motion), "below the angle of friction it rests: {:?}", s.motion);
        }
        let s = solved(&cube_on_slope(mu, mu, 0.0));
        assert!(rests(&s.motion), "at the angle it rests: {:?}", s.motion);
        assert!(near(s.forces.normal.iter().sum(), 2.0 * G * unit([mu, 0.0, 1.0])[2], 20.0));
        let steep = unit([1.5 * mu, 0.0, 1.0]);
        let s = solved(&cube_on_slope(1.5 * mu, mu, 0.0));
        let expected = G * (steep[0] - mu * steep[2]);
        assert!(near(down_slope(1.5 * mu, &s.motion), expected, G), "above it slides: {:?}", s.motion);
        assert!(rests(&s.motion[3..]), "and does not turn: {:?}", s.motion);
    }
}

#[test]
fn sliding_block() {
    for (slope, mu, speed) in [(0.0, 0.4, 1.0), (0.3, 0.1, 2.0), (0.3, 0.5, 1e-3), (0.2, 0.4, -1.0)] {
        let n = unit([slope, 0.0, 1.0]);
        let s = solved(&cube_on_slope(slope, mu, speed));
        let expected = G * (n[0] - f64::signum(speed) * mu * n[2]);
        assert!(near(down_slope(slope, &s.motion), expected, G), "{:?}", s.motion);
        assert!(s.modes.iter().all(|m| *m == Mode::Slide));
        for i in 0..4 {
            let friction = s.forces.tangent_s[i].hypot(s.forces.tangent_t[i]);
            assert!(near(friction, mu * s.forces.normal[i], 20.0));
        }
    }
}

/// Planar bodies of (mass, inertia): velocities (x, y, turn) each.
fn planar(bodies: &[(f64, f64)], v: Vec<f64>, force: Vec<f64>) -> ContactProblem {
    let block = |&(m, i): &(f64, f64)| Matrix::from_fn(3, 3, |r, c| if r != c { 0.0 } else { [m, m, i][r] });
    ContactProblem::new(Mass::new(bodies.iter().map(block).collect()).unwrap(), v, force, 1e-3).unwrap()
}

/// Row of direction `d` at the arm `r` from the centre.
fn row(r: [f64; 2], d: [f64; 2]) -> [f64; 3] {
    [d[0], d[1], r[0] * d[1] - r[1] * d[0]]
}

fn add_planar(problem: &mut ContactProblem, arm: [f64; 2], normal: [f64; 2], tangent: [f64; 2], mu: f64) {
    let (n, s) = (row(arm, normal), row(arm, tangent));
    problem.add_contact(Contact { mu, ..Contact::new(&[(0, &n)], &[(0, &s)], &[]) }).unwrap();
}

/// A ladder of length 2 whose foot stands `x` out from a wall and whose top leans at height `y`; coefficients of floor and wall.
fn ladder(x: f64, y: f64, mu: [f64; 2]) -> ContactProblem {
    let mut problem = planar(&[(1.0, 1.0 / 3.0)], vec![0.0; 3], vec![0.0, -G, 0.0]);
    add_planar(&mut problem, [0.5 * x, -0.5 * y], [0.0, 1.0], [1.0, 0.0], mu[0]);
    add_planar(&mut problem, [-0.5 * x, 0.5 * y], [1.0, 0.0], [0.0, 1.0], mu[1]);
    problem
}

#[test]
fn ladder_at_a_wall() {
    // The wall pushes with m g x / (2 y), and the floor's friction takes that.
    let (x, y) = (1.2, 1.6);
    let least = x / (2.0 * y);
    for mu in [least + 1e-6, 0.5, 1.0] {
        let s = solved(&ladder(x, y, [mu, 0.0]));
        assert!(rests(&s.motion), "mu {mu}: {:?}", s.motion);
        assert!(near(s.forces.normal[0], G, G) && near(s.forces.normal[1], G * least, G));
        assert!(near(s.forces.tangent_s[0], -G * least, G));
    }
    for mu in [0.0, 0.5 * least, least - 1e-6] {
        let s = solved(&ladder(x, y, [mu, 0.0]));
        assert!(s.motion[0] > 1e-7 && s.modes[0] == Mode::Slide, "its foot goes out: {:?}", s.motion);
        assert!(near(s.forces.tangent_s[0], -mu * s.forces.normal[0], G));
    }
    assert!(rests(&solved(&ladder(x, y, [0.36, 0.5])).motion), "a rough wall helps");
}

/// A wedge of mass 3 and tangent `slope` on the floor, a block of mass 1 on its face; nothing turns.
fn wedge(slope: f64, mu_block: f64, mu_floor: f64) -> ContactProblem {
    let block = |m: f64| Matrix::from_fn(2, 2, |i, j| if i == j { m } else { 0.0 });
    let mass = Mass::new(vec![block(1.0), block(3.0)]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 4], vec![0.0, -G, 0.0, -3.0 * G], 1e-3).unwrap();
    let n = unit([slope, 0.0, 1.0]);
    let (up, along) = ([n[0], n[2]], [n[2], -n[0]]);
    let (down, back) = (up.map(|x| -x), along.map(|x| -x));
    let normal: [(usize, &[f64]); 2] = [(0, &up), (1, &down)];
    let tangent: [(usize, &[f64]); 2] = [(0, &along), (1, &back)];
    problem.add_contact(Contact { mu: mu_block, ..Contact::new(&normal, &tangent, &[]) }).unwrap();
    let floor: ([f64; 2], [f64; 2]) = ([0.0, 1.0], [1.0, 0.0]);
    problem.add_contact(Contact { mu: mu_floor, ..Contact::new(&[(1, &floor.0)], &[(1, &floor.1)], &[]) }).unwrap();
    problem
}

#[test]
fn block_on_a_wedge() {
    let slope = 0.75;
    let n = unit([slope, 0.0, 1.0]);
    let (sine, cosine) = (n[0], n[2]);
    // Without friction the wedge goes back with m g sin cos / (M + m sin²).
    let s = solved(&wedge(slope, 0.0, 0.0));
    let back = G * sine * cosine / (3.0 + sine * sine);
    assert!(near(s.motion[2], -back, G), "{:?}", s.motion);
    assert!(near(s.forces.normal[0], G * cosine - back * sine, G));
    assert!(rests(&solved(&wedge(slope, 0.8, 0.0)).motion));
    assert!(rests(&solved(&wedge(slope, 0.8, 0.8)).motion));
    // Held by the floor alone, the wedge is a fixed slope.
    let s = solved(&wedge(slope, 0.0, 0.8));
    assert!(s.motion[2].abs() < 1e-12 && near(s.motion[0], G * sine * cosine, G), "{:?}", s.motion);
}

/// Painlevé's rod of length 2 and mass 1, its tip on the floor at `arm` from the centre, sliding at 1 m/s.
fn rod(arm: [f64; 2], mu: f64) -> ContactProblem {
    let mut problem = planar(&[(1.0, 1.0 / 3.0)], vec![1.0, 0.0, 0.0], vec![0.0, -G, 0.0]);
    add_planar(&mut problem, arm, [0.0, 1.0], [1.0, 0.0], mu);
    problem
}

#[test]
fn painleve_rod_jams_exactly_when_its_inverse_mass_is_negative() {
    let mut jams = 0;
    for (c, s) in [(0.6, 0.8), (0.8, 0.6), (0.28, 0.96)] {
        for k in 0..40 {
            let mu = 0.1 * k as f64 + 0.013;
            let a = 1.0 + 3.0 * c * c - mu * 3.0 * c * s;
            let problem = rod([c, -s], mu);
            match solve(&problem) {
                ContactOutcome::Solved(found) => {
                    assert!(a > 0.0 && near(found.forces.normal[0], G / a, G / a), "mu {mu}, A {a}");
                }
                ContactOutcome::Ray(ray) => {
                    assert!(a < 0.0, "mu {mu}, A {a}");
                    assert!(near(ray.direction.tangent_s[0], -mu * ray.direction.normal[0], mu));
                    check_impact(&problem, &ray, mu, [c, s]);
                    jams += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(jams > 20);
}

/// The impulse stops the slip, and the impact after it the approach.
fn check_impact(problem: &ContactProblem, ray: &ContactRay, mu: f64, [c, s]: [f64; 2]) {
    let impact = BaraffFriction::new(ModelOptions::default()).impact(problem, ray).unwrap().unwrap();
    let expected = 1.0 / (mu * (1.0 + 3.0 * s * s) - 3.0 * c * s);
    assert!(near(impact.strength * ray.direction.normal[0], expected, expected));
    let contacts = problem.contacts();
    assert!(contacts.tangent_s.dot(0, &impact.v_stopped).abs() < 1e-12);
    assert!(contacts.normal.dot(0, &impact.v_stopped) < 0.0, "jamming, it is drawn into the floor");
    let after = impact.outcome.solved().unwrap();
    assert!(contacts.normal.dot(0, &after.motion).abs() < 1e-12, "{:?}", after.motion);
    assert!(contacts.tangent_s.dot(0, &after.motion).abs() < 1e-12, "mu {mu} is enough to stick: {:?}", after.motion);
    let energy = |v: &[f64]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3.0;
    assert!(energy(&after.motion) < energy(&impact.v_stopped) && energy(&impact.v_stopped) < energy(problem.v()));
    let mut next = problem.clone();
    next.set_motion(&after.motion, problem.force()).unwrap();
    assert!(solve(&next).solved().is_some(), "then there are forces again");
}

#[test]
fn rays_of_other_problems_are_refused() {
    let problem = rod([0.6, -0.8], 3.0);
    let ContactOutcome::Ray(mut ray) = solve(&problem) else { panic!() };
    ray.direction.normal.push(1.0);
    assert!(BaraffFriction::new(ModelOptions::default()).impact(&problem, &ray).is_err());
}

#[test]
fn table_with_redundant_legs() {
    let mut top = Body::cuboid(3.0, [2.0, 1.0, 0.1], [0.0, 0.0, 1.0]);
    top.force = [0.0, 0.0, -3.0 * G];
    top.moment = [-0.4, 0.9, 0.0];
    let leg = |k: usize| {
        let point = [(k % 4) as f64 * 0.5 - 0.75, (k / 4) as f64 * 0.4 - 0.4, 0.0];
        Touch { mu: 0.5, ..Touch::new(0, None, point, [0.0, 0.0, 1.0]) }
    };
    let problem = assemble(&[top], &(0..12).map(leg).collect::<Vec<_>>(), 1e-3).unwrap();
    let s = solved(&problem);
    assert!(rests(&s.motion));
    let all = s.resultants(&problem);
    let expected = [0.0, 0.0, 3.0 * G, 0.4, -0.9, 0.0];
    assert!(all[0].on[0].iter().zip(expected).all(|(a, b)| near(*a, b, 3.0 * G)), "{:?}", all[0].on);
    assert!(s.active_contacts() <= 6, "never more forces than independent ones");
}

#[test]
fn stack_of_blocks() {
    let block = |k: usize| {
        let mut b = Body::cuboid(1.0 + k as f64, [1.0; 3], [0.0, 0.0, k as f64 + 0.5]);
        b.force = [0.0, 0.0, -G * b.mass];
        b
    };
    let mut touches = Vec::new();
    for k in 0..5usize {
        for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)] {
            touches.push(Touch { mu: 0.4, ..Touch::new(k, k.checked_sub(1), [x, y, k as f64], [0.0, 0.0, 1.0]) });
        }
    }
    let mut problem = assemble(&(0..5).map(block).collect::<Vec<_>>(), &touches, 1e-3).unwrap();
    let s = solved(&problem);
    assert!(rests(&s.motion), "{:?}", s.motion);
    for k in 0..5 {
        let carried: f64 = (k..5).map(|j| G * (1.0 + j as f64)).sum();
        assert!(near(s.forces.normal[4 * k..4 * k + 4].iter().sum::<f64>(), carried, carried));
    }
    // The top pushed sideways at its foot: with half of what would move it all rest, with twice that the top slides alone.
    for (push, moves) in [(0.5, false), (2.0, true)] {
        let mut force = problem.force().to_vec();
        force[24] = push * 0.4 * 5.0 * G;
        force[28] = -0.5 * force[24];
        problem.set_motion(&[0.0; 30], &force).unwrap();
        let s = solved(&problem);
        assert!(rests(&s.motion[..24]), "{:?}", s.motion);
        let expected = if moves { 0.4 * G } else { 0.0 };
        assert!(near(s.motion[24], expected, G), "{:?}", s.motion);
    }
}

#[test]
fn what_the_law_has_no_place_for() {
    let with = |change: &dyn Fn(&mut Contact<'_>)| {
        let mut problem = planar(&[(1.0, 1.0)], vec![0.0; 3], vec![0.0; 3]);
        let blocks: [(usize, &[f64]); 1] = [(0, &[0.0, 1.0, 0.0])];
        let slips: [(usize, &[f64]); 1] = [(0, &[1.0, 0.0, 0.0])];
        let mut contact = Contact { spin: &[(0, &[0.0, 0.0, 1.0])], ..Contact::new(&blocks, &slips, &[]) };
        change(&mut contact);
        problem.add_contact(contact).unwrap();
        BaraffFriction::new(ModelOptions::default()).solve(&problem).map(|_| ()).map_err(|e| e.to_string())
    };
    assert!(with(&|c| c.mu = f64::INFINITY).unwrap_err().contains("contact 0: mu is infinite"));
    assert!(with(&|c| c.mu_spin = 1.0).unwrap_err().contains("mu_spin"));
    assert!(with(&|c| c.mu_viscous = 1.0).unwrap_err().contains("mu_viscous"));
    assert!(with(&|_| ()).is_ok());
}

#[test]
fn bounded_rows_limits_and_joints() {
    // A particle on the floor pushed with 5 N, a brake of at most 3 N, friction of at most 1 N.
    let mass = Mass::new(vec![Matrix::identity(2)]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 2], vec![5.0, -10.0], 1e-3).unwrap();
    let (x, y) = ([1.0, 0.0], [0.0, 1.0]);
    problem.add_contact(Contact { mu: 0.1, ..Contact::new(&[(0, &y)], &[(0, &x)], &[]) }).unwrap();
    problem.add_bounded(&[(0, &x)], -3.0, 3.0, 0.0, 0.0).unwrap();
    let s = solved(&problem);
    assert!(near(s.motion[0], 1.0, 1.0), "{:?}", s.motion);
    assert!(near(s.forces.bounded[0], -3.0, 3.0) && near(s.forces.tangent_s[0], -1.0, 1.0));
    let mut stopped = problem.clone();
    stopped.add_limit(&[(0, &[-1.0, 0.0])], 0.0, 0.0, 0.0).unwrap();
    let s = solved(&stopped);
    assert!(s.motion[0].abs() < 1e-14);
    assert!(near(s.forces.limit[0] - s.forces.bounded[0] - s.forces.tangent_s[0], 5.0, 5.0));
    // A joint is obeyed, unless that is impossible.
    problem.add_bilateral(&[(0, &[0.6, 0.8])], 0.0, 0.5).unwrap();
    let s = solved(&problem);
    assert!(near(0.6 * s.motion[0] + 0.8 * s.motion[1], 0.5, 1.0));
    problem.add_bilateral(&[(0, &y)], 0.0, -1.0).unwrap();
    assert_eq!(solve(&problem).name(), "infeasible");
}

/// The velocities of `problem` become random ones that slide along all contacts.
fn slide(problem: &mut ContactProblem, seed: u64) {
    let mut rng = Rng::new(seed);
    let m = problem.m();
    let mut v: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
    let normals = problem.contacts().normal.to_dense();
    let mut find = FindIndices::default();
    find.reset(m, normals.rows());
    for i in 0..normals.rows() {
        let row: Vec<f64> = (0..m).map(|k| normals[(i, k)]).collect();
        find.add(&row, 0.0);
    }
    find.project_out(&mut v);
    let most = v.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    v.iter_mut().filter(|x| x.abs() < 1e-11 * most || most < 1e-9).for_each(|x| *x = 0.0);
    let force = problem.force().to_vec();
    problem.set_motion(&v, &force).unwrap();
}

#[test]
fn random_problems_end_with_a_certificate_or_a_ray() {
    let mut model = BaraffFriction::new(ModelOptions::default());
    let recipe = Recipe { coulomb: true, ..Recipe::PLAIN };
    let (mut solutions, mut rays, mut impacts) = (0, 0, 0);
    for seed in 0..300 {
        let plain = random(&Recipe { bilaterals: true, limits: true, ..Recipe::PLAIN }, seed).unwrap();
        assert!(model.solve(&plain).unwrap().solved().is_some(), "frictionless, seed {seed}");
        let mut problem = random(&recipe, seed).unwrap();
        let (v, force) = (vec![0.0; problem.m()], problem.force().to_vec());
        problem.set_motion(&v, &force).unwrap();
        assert!(model.solve(&problem).unwrap().solved().is_some(), "static, seed {seed}");
        slide(&mut problem, seed);
        match model.solve(&problem).unwrap() {
            ContactOutcome::Solved(_) => solutions += 1,
            ContactOutcome::Ray(ray) => {
                rays += 1;
                if let Some(impact) = model.impact(&problem, &ray).unwrap() {
                    assert!(impact.strength >= 0.0);
                    impacts += usize::from(impact.outcome.solved().is_some());
                }
            }
            other => panic!("sliding, seed {seed}: {other:?}"),
        }
    }
    assert!(solutions > 200 && rays > 0 && impacts > 0, "{solutions} solved, {rays} rays, {impacts} impacts");
}

/// Forces that change slowly: the index sets of one step are those of the next, nearly always. Of contacts at rest that start to slide in space
/// the direction is found anew; so here contacts slide, or stick, or are planar.
#[test]
fn a_warm_start_needs_no_steps() {
    let mut model = BaraffFriction::new(ModelOptions::default());
    let (mut guessed, mut islands) = (0, 0);
    let mut run = |mut problem: ContactProblem, name: &str| {
        let (v, force) = (problem.v().to_vec(), problem.force().to_vec());
        let mut start = None;
        for step in 0..20 {
            let change = |(k, f): (usize, &f64)| f * (1.0 + 1e-4 * (step * (1 + k % 3)) as f64);
            let force: Vec<f64> = force.iter().enumerate().map(change).collect();
            problem.set_motion(&v, &force).unwrap();
            let outcome = model.solve_from(&problem, start.as_ref()).unwrap();
            let Some(found) = outcome.solved() else {
                assert_eq!(outcome.name(), "ray", "{name}, step {step}: {outcome:?}");
                return;
            };
            if step > 0 {
                guessed += found.stats.guessed;
                islands += found.stats.islands;
            }
            start = Some(found.warm_start.clone());
        }
    };
    for seed in 0..40 {
        let mut problem = random(&Recipe { coulomb: true, ..Recipe::PLAIN }, seed).unwrap();
        slide(&mut problem, seed);
        run(problem, &format!("sliding, seed {seed}"));
    }
    for k in 0..10 {
        run(cube_on_slope(0.05 * k as f64, 0.6, 0.0), "cube");
        run(ladder(1.2, 1.6, [0.1 * k as f64, 0.1]), "ladder");
        run(wedge(0.1 * k as f64, 0.3, 0.1), "wedge");
    }
    assert!(islands > 500 && guessed as f64 >= 0.95 * islands as f64, "{guessed} of {islands}");
}

/// The ladder in other units of mass and length: forces scale with both, accelerations with lengths.
#[test]
fn units_do_not_matter() {
    for (mass, length) in [(1e-6, 1e3), (1e6, 1e-3), (1e-60, 1e40), (1e80, 1e-40)] {
        let (mut problem, x, y) = (
            planar(&[(mass, mass * length * length / 3.0)], vec![0.0; 3], vec![0.0, -G * mass * length, 0.0]),
            1.2,
            1.6,
        );
        for (arm, normal, tangent, mu) in
            [([0.5 * x, -0.5 * y], [0.0, 1.0], [1.0, 0.0], 0.2), ([-0.5 * x, 0.5 * y], [1.0, 0.0], [0.0, 1.0], 0.1)]
        {
            add_planar(&mut problem, arm.map(|a| a * length), normal, tangent, mu);
        }
        let (scaled, plain) = (solved(&problem), solved(&ladder(x, y, [0.2, 0.1])));
        for i in 0..2 {
            assert!(near(scaled.forces.normal[i] / (mass * length), plain.forces.normal[i], G));
            assert!(near(scaled.motion[i] / length, plain.motion[i], G));
        }
        assert_eq!(scaled.modes, plain.modes);
    }
}

#[test]
fn rows_without_entries_and_no_rows_at_all() {
    let problem = planar(&[(1.0, 1.0)], vec![0.0; 3], vec![1.0, 2.0, 3.0]);
    assert_eq!(solved(&problem).motion, [1.0, 2.0, 3.0]);
    let with_rate = |rate: f64| {
        let mut problem = problem.clone();
        problem.add_contact(Contact { mu: 0.5, rate: [rate, 0.0, 0.0], ..Contact::new(&[], &[], &[]) }).unwrap();
        solve(&problem)
    };
    assert_eq!(with_rate(1.0).name(), "solved");
    assert_eq!(with_rate(-1.0).name(), "infeasible");
}

#[test]
fn as_many_steps_as_asked_for() {
    let problem = cube_on_slope(0.3, 0.4, 0.0);
    let with = |steps| {
        let options = ModelOptions { max_pivots: Some(steps), ..ModelOptions::default() };
        BaraffFriction::new(options).solve(&problem).unwrap()
    };
    let needed = with(1000).solved().unwrap().stats.pivots;
    assert!(with(needed).solved().is_some());
    assert_eq!(with(needed - 1).name(), "failed");
    assert_eq!(with(0).name(), "failed");
}

#[test]
fn the_same_bits_again() {
    let mut problem = random(&Recipe { coulomb: true, ..Recipe::PLAIN }, 6).unwrap();
    slide(&mut problem, 6);
    let mut model = BaraffFriction::new(ModelOptions::default());
    let first = model.solve(&problem).unwrap();
    assert_eq!(first, model.solve(&problem).unwrap());
    assert_eq!(first, solve(&problem));
}

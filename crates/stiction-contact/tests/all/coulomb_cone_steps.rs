//! Sequences of steps under the quadratic cone: the last step's modes and forces solve the next at once, piles are solved from nothing, and the motion is that of the
//! Delassus operator.

use stiction_contact::scenes::{self, Body, Recipe, Touch, assemble, piles};
use stiction_contact::{
    ContactModel, ContactOutcome, ContactProblem, ContactSolution, CoulombCone, Level, Mode, WarmStart,
};

use crate::delassus;

const G: f64 = 9.81;

fn solved(model: &mut CoulombCone, problem: &ContactProblem, start: Option<&WarmStart>, what: &str) -> ContactSolution {
    match model.solve_from(problem, start).unwrap() {
        ContactOutcome::Solved(solution) => *solution,
        other => panic!("{what}: {other:?}"),
    }
}

/// What came of a sequence.
struct Run {
    /// Steps whose islands were all guessed.
    guessed: usize,
    /// Steps that were not solved from the last one.
    fell_back: usize,
    last: ContactSolution,
}

/// Steps `problem` forward with the forces that `push` adds at each step; every `check`th step's motion is compared with that of the Delassus operator.
fn steps(mut problem: ContactProblem, count: usize, check: usize, push: impl Fn(usize, &mut [f64])) -> Run {
    let mut model = CoulombCone::default();
    let still = problem.force().to_vec();
    let mut run: Option<Run> = None;
    for step in 0..count {
        let mut force = still.clone();
        push(step, &mut force);
        let v = run.as_ref().map_or(problem.v().to_vec(), |r| r.last.motion.clone());
        problem.set_motion(&v, &force).unwrap();
        let start = run.as_ref().map(|r| &r.last.warm_start);
        let last = solved(&mut model, &problem, start, &format!("step {step}"));
        if step % check == check - 1 {
            let expected = delassus::motion(&problem, Level::Velocity);
            let scale = expected.iter().fold(G * problem.dt(), |max, v| v.abs().max(max));
            for (a, b) in last.motion.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-9 * scale, "step {step}: {a} against {b}");
            }
        }
        let (guessed, fell_back) = run.as_ref().map_or((0, 0), |r| (r.guessed, r.fell_back));
        run = Some(Run {
            guessed: guessed + usize::from(last.stats.guessed == last.stats.islands),
            fell_back: fell_back + usize::from(last.stats.fallbacks > 0),
            last,
        });
    }
    run.unwrap()
}

/// A slow wave of forces, another phase for every velocity. Rational, so that it is the same everywhere.
fn wave(size: f64) -> impl Fn(usize, &mut [f64]) {
    move |step, force| {
        for (j, f) in force.iter_mut().enumerate() {
            let phase = ((step + 37 * j) % 200) as f64 / 100.0 - 1.0;
            *f += size * (1.0 - 2.0 * phase * phase);
        }
    }
}

#[test]
fn piles_at_rest_are_guessed_step_after_step() {
    for (name, problem, check) in [
        ("stack", piles::stack(8, 0.5, 1e-3).unwrap(), 50),
        ("pyramid", piles::pyramid(4, 0.5, 1e-3).unwrap(), 100),
        ("grasp", scenes::grasp(2, 0.8, 1e-3).unwrap(), 50),
    ] {
        let run = steps(problem, 200, check, wave(0.1));
        assert!(run.guessed >= 190, "{name}: {} of 200 guessed", run.guessed);
        assert_eq!(run.fell_back, 0, "{name}");
        if name != "grasp" {
            let fastest = run.last.motion.iter().fold(0.0, |max: f64, v| max.max(v.abs()));
            assert!(fastest < 1e-15, "{name} moves by {fastest:e}");
        }
    }
}

#[test]
fn large_piles_are_solved_from_nothing() {
    for (problem, most) in [(piles::stack(50, 0.5, 1e-3).unwrap(), 20), (piles::pyramid(10, 0.5, 1e-3).unwrap(), 100)] {
        let solution = solved(&mut CoulombCone::default(), &problem, None, "cold");
        assert!(solution.stats.pivots <= most && solution.stats.fallbacks == 0, "{:?}", solution.stats);
        assert!(solution.motion.iter().all(|v| v.abs() < 1e-14));
        // All of the weight is on the floor.
        let weight: f64 = problem.force().iter().sum::<f64>() * problem.dt();
        let floor: f64 = (0..problem.contacts().len())
            .filter(|&i| problem.contacts().normal.row(i).count() == 1)
            .map(|i| solution.forces.normal[i])
            .sum();
        assert!((floor + weight).abs() < 1e-11 * weight.abs(), "{floor} {weight}");
    }
}

#[test]
fn forces_of_a_redundant_support_do_not_drift() {
    let problem = piles::stack(5, 0.5, 1e-3).unwrap();
    let first = steps(problem.clone(), 2, 3, |_, _| {}).last;
    let last = steps(problem, 300, 301, |_, _| {}).last;
    for (a, b) in first.forces.normal.iter().zip(&last.forces.normal) {
        assert!((a - b).abs() < 1e-12 * G * 5e-3, "{a} {b}");
    }
}

/// A unit cube of 1 kg on the floor.
fn cube(v: f64, mu: f64, height: f64) -> ContactProblem {
    let mut body = Body::cuboid(1.0, [1.0, 1.0, height], [0.0, 0.0, 0.5 * height]);
    body.v = [v, 0.0, 0.0];
    body.force = [0.0, 0.0, -G];
    let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)];
    let touches = corners.map(|(x, y)| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) });
    assemble(&[body], &touches, 1e-3).unwrap()
}

#[test]
fn a_sliding_cube_comes_to_rest_and_stays() {
    // It stops after v / (mu g) = 102 steps.
    let run = steps(cube(0.3, 0.3, 1.0), 150, 10, |_, _| {});
    assert!(run.last.motion.iter().all(|v| v.abs() < 1e-16), "{:?}", run.last.motion);
    assert!(run.last.modes.iter().all(|m| *m == Mode::Stick));
    assert!(run.guessed >= 145, "{}", run.guessed);
    assert_eq!(run.fell_back, 0);
}

#[test]
fn a_cube_pushed_harder_and_harder_slides_at_its_limit() {
    let run = steps(cube(0.0, 0.3, 1.0), 200, 20, |step, f| f[0] += 4.0 * step as f64 / 200.0);
    // Above mu m g = 2.943 N, from step 148 on.
    let impulse: f64 = (0..200).map(|k| (4.0 * k as f64 / 200.0 - 0.3 * G).max(0.0) * 1e-3).sum();
    assert!((run.last.motion[0] - impulse).abs() < 1e-14, "{} {impulse}", run.last.motion[0]);
    assert!(run.guessed >= 190, "{}", run.guessed);
}

#[test]
fn a_tall_box_pushed_at_its_middle_tips() {
    // Half as much again as m g a / h, with enough friction not to slide.
    let run = steps(cube(0.0, 0.9, 3.0), 60, 1, |_, f| f[0] += 1.5 * G / 3.0);
    assert!(run.last.motion[4] > 0.01, "turns about y: {:?}", run.last.motion);
    assert_eq!(run.last.modes.iter().filter(|m| **m == Mode::Open).count(), 2);
    assert!(run.guessed >= 57, "{}", run.guessed);
}

#[test]
fn a_shaken_grasp_holds() {
    let run = steps(scenes::grasp(2, 0.6, 1e-3).unwrap(), 200, 50, |step, f| {
        let t = (step % 50) as f64 / 25.0 - 1.0;
        (0..4).for_each(|b| f[6 * b + 1] += 8.0 * t);
    });
    assert_eq!(run.fell_back, 0);
    assert!(run.guessed >= 190, "{}", run.guessed);
    // All four bodies move together.
    let v = &run.last.motion;
    for b in 1..4 {
        (0..3).for_each(|k| assert!((v[6 * b + k] - v[k]).abs() < 1e-15 + 1e-14 * v[k].abs(), "{v:?}"));
    }
}

#[test]
fn a_machine_of_one_block_stands_and_moves() {
    let run = steps(piles::quadruped(0.8, 1e-3, 1).unwrap(), 100, 10, wave(0.05));
    assert!(run.guessed >= 90, "{}", run.guessed);
    assert_eq!(run.fell_back, 0);
}

/// Random problems are solved without contradicting their own answers: from the answer of each its own problem is solved again without a search.
#[test]
fn random_problems_are_solved_again_from_their_answers() {
    let recipe = Recipe { coulomb: true, gaps: true, bilaterals: true, limits: true, bounded: true, ..Recipe::PLAIN };
    let mut model = CoulombCone::default();
    let searched: Vec<u64> = (0..300)
        .filter(|&seed| {
            let problem = scenes::random(&recipe, seed).unwrap();
            let first = solved(&mut model, &problem, None, &format!("seed {seed}"));
            let again = solved(&mut model, &problem, Some(&first.warm_start), &format!("seed {seed} again"));
            again.stats.pivots > 0
        })
        .collect();
    assert!(searched.len() <= 6, "{searched:?}");
}

//! Sleep shows in nothing but time: every step, report and force is the same with and without it.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};

use stiction_sim::{Scene, Simulation};

/// A scene, its parameters, and a number of steps.
type Case = (&'static str, &'static [(&'static str, f64)], usize);

fn load(name: &str, parameters: &[(&str, f64)]) -> Scene {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
    let parameters: Vec<(String, f64)> = parameters.iter().map(|(name, x)| (name.to_string(), *x)).collect();
    Scene::load(&path, &parameters).unwrap_or_else(|e| panic!("{e}"))
}

fn simulation(scene: &Scene, sleeping: bool) -> Simulation {
    let mut scene = scene.clone();
    scene.settings.sleeping = sleeping;
    scene.simulation().unwrap_or_else(|e| panic!("{e}"))
}

/// All that can be seen of a step.
fn step(simulation: &mut Simulation) -> String {
    let report = simulation.step().map_err(|e| e.to_string());
    let answer = simulation.outcome().and_then(|outcome| outcome.answer());
    let answer = answer.map(|a| (&a.forces, &a.motion, &a.modes, &a.certificate, &a.stats.guessed));
    format!("{:x} {report:?} {answer:?} {:?}", simulation.state().hash(), simulation.contacts())
}

/// Uniform numbers in 0..1, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Steps of a simulation that sleeps beside one that does not, both poked now and then; returns how many steps were slept through.
fn compare(scene: &Scene, steps: usize, pokes: f64) -> usize {
    let [mut sleeps, mut wakes] = [true, false].map(|sleeping| simulation(scene, sleeping));
    let (mut random, mut asleep) = (Random(7), 0);
    for k in 0..steps {
        if random.next() < pokes {
            let (q, mut v) = (sleeps.state().q.clone(), sleeps.state().v.clone());
            let at = (random.next() * v.len() as f64) as usize;
            v[at] += 0.2 * (random.next() - 0.5);
            [&mut sleeps, &mut wakes].into_iter().for_each(|simulation| simulation.set_state(&q, &v).unwrap());
        }
        let [one, other] = [&mut sleeps, &mut wakes].map(step);
        assert!(one == other, "{:?}, step {k}:\n{one}\n{other}", scene.title);
        asleep += usize::from(sleeps.is_asleep());
        assert!(!wakes.is_asleep());
    }
    asleep
}

/// A tower that stands, and a ball that rolls towards it.
fn ball_and_tower() -> Scene {
    let text = "title = \"ball and tower\"\n\
                [[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"box{i}\"\nrepeat = \"i = 1..3\"\nmass = 1\n\
                position = [0, 0, \"= 0.1 * i - 0.05\"]\nshape = { box = [0.1, 0.1, 0.1] }\n\
                [[bodies]]\nname = \"ball\"\nmass = 0.1\nposition = [0.3, 0, 0.05]\nvelocity = [-0.5, 0, 0]\n\
                shape = { sphere = 0.05 }\n";
    Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn scenes() -> Vec<Scene> {
    vec![
        ball_and_tower(),
        load("stack", &[]),
        load("pyramid", &[("base", 4.0)]),
        load("stacks", &[("n", 4.0), ("drop", 1e-3), ("tilt", 0.3)]),
        load("incline", &[]),
        load("grasp", &[]),
        load("heap", &[("n", 12.0)]),
    ]
}

#[test]
fn every_step_is_the_same_with_and_without_sleep() {
    for scene in scenes() {
        let asleep = compare(&scene, 500, 0.01);
        let moves = |name: &&str| scene.title.contains(name);
        assert!(asleep > 50 || ["heap", "ball"].iter().any(moves), "{:?}: {asleep} of 500 steps", scene.title);
    }
}

#[test]
#[ignore = "minutes: cargo test --release -p stiction-sim --test all sleeping -- --ignored --nocapture"]
fn every_of_ten_thousand_steps_is_the_same_with_and_without_sleep() {
    for scene in scenes() {
        let asleep = compare(&scene, 10_000, 0.002);
        println!("{:?}: asleep in {asleep} of 10000 steps", scene.title);
    }
}

#[test]
fn what_stands_falls_asleep() {
    let cases: [Case; 5] = [
        ("stack", &[], 10),
        ("pyramid", &[], 10),
        ("stacks", &[("n", 4.0), ("drop", 1e-3), ("tilt", 0.3)], 200),
        ("incline", &[], 20),
        ("bridge", &[], 500),
    ];
    for (name, parameters, within) in cases {
        let mut simulation = load(name, parameters).simulation().unwrap();
        let asleep = (0..within).position(|_| {
            simulation.step().unwrap();
            simulation.is_asleep()
        });
        assert!(asleep.is_some(), "{name} is awake after {within} steps");
    }
}

#[test]
fn a_force_that_begins_later_wakes() {
    let text = "[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"box\"\nmass = 1\nposition = [0, 0, 0.05]\nshape = { box = [0.1, 0.1, 0.1] }\n\
                [[controllers]]\ntype = \"wrench\"\nbody = \"box\"\nforce = [\"= if(t < 0.05, 0, 20)\", 0, 0]\n";
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(compare(&scene, 200, 0.0) > 30);
    let mut simulation = simulation(&scene, true);
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    assert!(simulation.state().q[0] > 0.01, "it was pushed");
}

#[test]
fn a_run_goes_on_from_a_snapshot_of_what_sleeps() {
    let scene = load("stack", &[("n", 4.0)]);
    let mut first = simulation(&scene, true);
    (0..50).for_each(|_| drop(step(&mut first)));
    assert!(first.is_asleep());
    let mut second = simulation(&scene, true);
    second.restore(&first.snapshot()).unwrap();
    for _ in 0..10 {
        assert_eq!(step(&mut first), step(&mut second));
    }
    assert!(second.is_asleep());
}

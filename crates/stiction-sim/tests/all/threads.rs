//! The same bits on any number of threads, and an end at once when the caller asks for it.

use std::path::PathBuf;

use stiction_lcp::interrupt::{Interrupted, interruptible};
use stiction_sim::{Scene, Simulation};

/// A scene, its parameters, and a number of steps.
type Case = (&'static str, &'static [(&'static str, f64)], usize);

fn simulation(name: &str, parameters: &[(&str, f64)], threads: usize) -> Simulation {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
    let parameters: Vec<(String, f64)> = parameters.iter().map(|(name, x)| (name.to_string(), *x)).collect();
    let mut scene = Scene::load(&path, &parameters).unwrap_or_else(|e| panic!("{e}"));
    scene.settings.threads = Some(threads);
    scene.simulation().unwrap_or_else(|e| panic!("{e}"))
}

/// Hashes of the state, and all numbers of the reports, over some steps.
fn run(name: &str, parameters: &[(&str, f64)], threads: usize, steps: usize) -> Vec<String> {
    let mut simulation = simulation(name, parameters, threads);
    let mut step = |_| match simulation.step() {
        Ok(report) => format!("{:x} {report:?}", simulation.state().hash()),
        Err(failure) => failure.to_string(),
    };
    (0..steps).map(&mut step).collect()
}

#[test]
fn steps_are_the_same_on_any_number_of_threads() {
    let cases: [Case; 5] = [
        ("stacks", &[("n", 30.0), ("drop", 1e-3), ("tilt", 0.3)], 200),
        ("stacks", &[("n", 60.0), ("height", 1.0), ("drop", 0.01), ("tilt", 3.0)], 200),
        ("heaps", &[("n", 20.0)], 150),
        ("heap", &[("n", 60.0), ("kind", 6.0)], 150),
        ("ragdolls", &[("n", 12.0)], 200),
    ];
    for (name, parameters, steps) in cases {
        let one = run(name, parameters, 1, steps);
        for threads in [2, 4] {
            let several = run(name, parameters, threads, steps);
            let differs = (0..steps).find(|&k| one[k] != several[k]);
            assert_eq!(differs, None, "{name}, {threads} threads: {:?}", differs.map(|k| [&one[k], &several[k]]));
        }
    }
}

#[test]
fn a_step_on_several_threads_is_interrupted_and_can_be_made_again() {
    let parameters = [("n", 30.0), ("drop", 1e-3), ("tilt", 0.3)];
    let mut expected = simulation("stacks", &parameters, 1);
    for _ in 0..20 {
        expected.step().unwrap();
    }
    let mut begun = simulation("stacks", &parameters, 2);
    for _ in 0..19 {
        begun.step().unwrap();
    }
    let before = begun.snapshot();
    let mut left = 2;
    let asked = move || {
        left -= 1;
        left == 0
    };
    assert_eq!(interruptible(asked, || begun.step().is_ok()), Err(Interrupted));
    let mut again = simulation("stacks", &parameters, 2);
    again.restore(&before).unwrap();
    again.step().unwrap();
    assert_eq!(again.state().hash(), expected.state().hash());
}

//! What becomes of a step that is not certified: it stops the run, is accepted, or the fallback answers. A tolerance below rounding makes every step
//! with contacts such a one.

use std::path::Path;

use stiction_contact::ContactOutcome;
use stiction_sim::recording::{Header, Origin, replay};
use stiction_sim::summary::StepTimes;
use stiction_sim::{Gather, OnFailure, Recorder, Recording, Scene, Simulation};

const SLIDE: &str = r#"
title = "A cube slides"
dt = 0.002
[material]
friction = 0.3
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "cube"
mass = 0.7
position = [0, 0, 0.05]
velocity = [0.3, 0.1, 0]
shape = { box = [0.1, 0.1, 0.1] }
"#;

/// Below what rounding leaves.
const UNREACHABLE: f64 = 1e-20;

fn scene(on_failure: OnFailure, tolerance: f64, accept_bound: f64) -> Scene {
    let mut scene = Scene::parse(SLIDE, Path::new("."), &[]).unwrap();
    scene.settings.on_failure = on_failure;
    scene.settings.tolerance = tolerance;
    scene.settings.accept_bound = accept_bound;
    scene
}

#[test]
fn stop_is_the_default_and_says_what_to_try() {
    assert_eq!(Scene::parse(SLIDE, Path::new("."), &[]).unwrap().settings.on_failure, OnFailure::Stop);
    let mut simulation = scene(OnFailure::Stop, UNREACHABLE, 1e-6).simulation().unwrap();
    let before = simulation.snapshot();
    let failure = simulation.step().unwrap_err();
    assert!(failure.problem.is_some());
    let best = failure.best.unwrap();
    assert!(best > UNREACHABLE && best < 1e-10, "{best}");
    let advice = failure.advice();
    assert!(advice.contains("smaller step") && advice.contains("accept") && advice.contains("fallback"), "{advice}");
    assert_eq!(simulation.snapshot(), before);
}

#[test]
fn an_accepted_step_goes_on_with_the_best_answer_and_is_not_certified() {
    let mut certified = scene(OnFailure::Stop, 1e-10, 1e-6).simulation().unwrap();
    let mut accepted = scene(OnFailure::Accept, UNREACHABLE, 1e-6).simulation().unwrap();
    let mut gather = Gather::start(&mut accepted);
    for step in 0..10 {
        assert!(!certified.step().unwrap().accepted);
        let report = accepted.step().unwrap();
        assert!(report.accepted && !report.fallback, "step {step}");
        assert!(report.certificate > UNREACHABLE && report.certificate < 1e-9, "step {step}: {}", report.certificate);
        assert!(matches!(accepted.outcome(), Some(ContactOutcome::Failed(_))));
        assert_eq!(accepted.impulses().unwrap().normal.len(), accepted.contacts().len());
        gather.step(&report, 1e-3);
    }
    for (a, b) in certified.state().v.iter().zip(&accepted.state().v) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let summary = gather.finish(&mut accepted);
    assert_eq!((summary.outcomes.certified, summary.outcomes.accepted, summary.outcomes.failed), (0, 10, 0));
}

#[test]
fn above_the_bound_nothing_is_accepted() {
    let mut simulation = scene(OnFailure::Accept, UNREACHABLE, 0.0).simulation().unwrap();
    let failure = simulation.step().unwrap_err();
    assert!(failure.why.contains("not accepted: the bound is 0"), "{failure}");
    assert!(failure.problem.is_some() && failure.best.is_some());
    let with_bound = |bound: f64| scene(OnFailure::Accept, 1e-10, bound).simulation().map(drop);
    assert!(with_bound(f64::NAN).is_err() && with_bound(-1.0).is_err() && with_bound(1e-3).is_ok());
}

#[test]
fn scenes_name_what_to_do() {
    for what in OnFailure::ALL {
        let text = format!("on_failure = \"{}\"\naccept_bound = 1e-4\n{SLIDE}", what.name());
        let settings = Scene::parse(&text, Path::new("."), &[]).unwrap().settings;
        assert_eq!((settings.on_failure, settings.accept_bound), (what, 1e-4));
    }
    for (line, message) in [
        ("on_failure = \"ignore\"", "expected \"stop\", \"accept\" or \"fallback\", found \"ignore\""),
        ("accept_bound = -1", "at least 0"),
    ] {
        let error = Scene::parse(&format!("{line}\n{SLIDE}"), Path::new("."), &[]).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("1:"), "{error}");
    }
}

#[test]
fn recordings_hold_accepted_steps() {
    let scene = scene(OnFailure::Accept, UNREACHABLE, 1e-5);
    let mut simulation = scene.simulation().unwrap();
    let origin = Origin { text: SLIDE.into(), ..Origin::default() };
    let mut recorder = Recorder::new(Vec::new(), &Header::new(origin, &scene, 1), &simulation).unwrap();
    for _ in 0..5 {
        let report = simulation.step().unwrap();
        recorder.step(&simulation, &report).unwrap();
    }
    let recording = Recording::parse(recorder.finish(&simulation, None).unwrap()).unwrap();
    let settings = &recording.header().settings;
    assert_eq!((settings.on_failure, settings.accept_bound), (OnFailure::Accept, 1e-5));
    assert_eq!(recording.steps().filter(|s| s.accepted && s.certificate.largest() > UNREACHABLE).count(), 5);
    let (again, _) = recording.header().scene().unwrap();
    let same: Simulation = again.simulation().unwrap();
    let result = replay(&recording, &mut { same }, |_| {}).unwrap();
    assert_eq!((result.steps, result.difference), (5, None));
}

#[test]
fn quantiles_of_step_times() {
    let seconds: Vec<f64> = (1..=200).map(|k| 1e-6 * f64::from(201 - k)).collect();
    let times = StepTimes::of(&seconds, 7);
    assert!((times.mean - 100.5).abs() < 1e-9 && (times.median - 100.0).abs() < 1e-9, "{times:?}");
    assert!((times.percentile_99 - 198.0).abs() < 1e-9 && (times.worst - 200.0).abs() < 1e-9, "{times:?}");
    assert_eq!(times.worst_step, Some(7));
    assert_eq!(StepTimes::of(&[], 0), StepTimes::default());
}

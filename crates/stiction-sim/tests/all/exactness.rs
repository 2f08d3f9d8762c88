//! The shipped scenes against closed forms, with the default model and with no-slip where nothing should slide. The short forms run in every test; the full
//! lengths are `--ignored`, for release builds, and print their figures.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};

use stiction_sim::summary::{BodyState, bodies};
use stiction_sim::{Scene, Simulation, StepReport};

fn scene(name: &str, set: &[(&str, f64)]) -> Scene {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
    let set: Vec<(String, f64)> = set.iter().map(|(k, x)| ((*k).to_string(), *x)).collect();
    Scene::load(&path, &set).unwrap_or_else(|e| panic!("{e}"))
}

fn simulation(name: &str, set: &[(&str, f64)], model: &str, dt: f64) -> Simulation {
    let mut scene = scene(name, set);
    scene.settings.model = model.parse().unwrap();
    scene.settings.dt = dt;
    scene.simulation().unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Makes steps, each certified.
fn run(simulation: &mut Simulation, steps: u64, mut see: impl FnMut(&StepReport)) {
    for _ in 0..steps {
        let report = simulation.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.certificate <= 1e-10, "certificate {} at {}", report.certificate, report.place);
        let size = report.kinetic + report.work.abs();
        assert!(report.work <= 1e-12 * size, "contacts gained {} J of {size}", report.work);
        see(&report);
    }
}

fn distance(a: &BodyState, b: &BodyState) -> f64 {
    a.position.iter().zip(&b.position).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The capsule's displacement per second (m/s) after `settle` steps.
fn capsule_creep(force: f64, model: &str, settle: u64, steps: u64) -> f64 {
    let mut s = simulation("capsule", &[("force", force)], model, 1e-3);
    run(&mut s, settle, |_| {});
    let start = bodies(&mut s);
    run(&mut s, steps, |_| {});
    distance(&start["capsule"], &bodies(&mut s)["capsule"]) / (steps as f64 * 1e-3)
}

/// The largest motion of a block against the grippers (m).
fn grasp_motion(n: usize, model: &str, dt: f64, steps: u64) -> f64 {
    let mut s = simulation("grasp", &[("n", n as f64)], model, dt);
    let start = bodies(&mut s);
    run(&mut s, steps, |_| {});
    let end = bodies(&mut s);
    (1..=n).map(|i| format!("block{i}")).map(|b| distance(&start[&b], &end[&b])).fold(0.0, f64::max)
}

#[test]
fn a_pinched_capsule_does_not_creep() {
    for model in ["coulomb-cone", "no-slip"] {
        for force in [12.0, 60.0] {
            let creep = capsule_creep(force, model, 20, 80);
            assert!(creep <= 1e-12, "{model}, {force} N: {creep} m/s");
        }
    }
}

#[test]
fn a_grasped_row_does_not_move() {
    for model in ["coulomb-cone", "no-slip"] {
        for (n, dt) in [(1, 1e-3), (2, 1e-2), (5, 1e-3)] {
            let motion = grasp_motion(n, model, dt, 60);
            assert!(motion <= 1e-11, "{model}, {n} blocks, {dt} s: {motion} m");
        }
    }
}

#[test]
fn a_cube_below_the_friction_angle_stays() {
    for model in ["coulomb-cone", "no-slip"] {
        let mut s = simulation("incline", &[], model, 1e-3);
        let start = bodies(&mut s);
        run(&mut s, 300, |_| {});
        let moved = distance(&start["cube"], &bodies(&mut s)["cube"]);
        assert!(moved <= 1e-12, "{model}: {moved}");
    }
}

#[test]
fn a_cube_above_the_friction_angle_slides_as_it_must() {
    let (angle, mu, steps) = (35.0f64, 0.5, 200u64);
    let mut s = simulation("incline", &[("angle", angle), ("mu", mu)], "coulomb-cone", 1e-3);
    let start = bodies(&mut s);
    run(&mut s, steps, |_| {});
    let a = 9.81 * (angle.to_radians().sin() - mu * angle.to_radians().cos());
    // Symplectic Euler from rest: a dt² (1 + 2 + … + k).
    let expected = a * 1e-6 * (steps * (steps + 1) / 2) as f64;
    let moved = distance(&start["cube"], &bodies(&mut s)["cube"]);
    assert!((moved - expected).abs() <= 1e-10, "{moved} {expected}");
}

#[test]
fn a_sliding_cube_stops_where_it_must() {
    let mut s = simulation("slide", &[], "coulomb-cone", 1e-3);
    let start = bodies(&mut s);
    run(&mut s, 1100, |_| {});
    let exact = 9.0 / (2.0 * 0.3 * 9.81);
    let end = bodies(&mut s);
    let error = (distance(&start["cube"], &end["cube"]) - exact).abs() / exact;
    assert!(error <= 1e-3 * 9.81 * 0.3 / 3.0, "{error}");
    assert!(end["cube"].linear_velocity.iter().all(|v| v.abs() < 1e-12), "{:?}", end["cube"]);
}

#[test]
fn feet_do_not_slip() {
    for model in ["coulomb-cone", "no-slip"] {
        let mut s = simulation("quad-flat", &[], model, 1e-3);
        run(&mut s, 100, |_| {});
        let mut slipped = 0.0;
        run(&mut s, 900, |r| slipped += 1e-3 * r.slip);
        assert!(slipped <= 1e-12, "{model}: {slipped} m");
    }
}

#[test]
fn towers_and_heavy_loads_stand() {
    for (name, set, steps) in
        [("stack", [("n", 5.0)], 100), ("mass-ratio", [("ratio", 1e3)], 200), ("mass-ratio", [("ratio", 1e6)], 200)]
    {
        let mut s = simulation(name, &set, "coulomb-cone", 1e-3);
        let start = bodies(&mut s);
        let mut deepest = 0.0f64;
        run(&mut s, steps, |r| deepest = deepest.max(r.penetration));
        let end = bodies(&mut s);
        assert!(deepest <= 1e-12, "{name} {set:?}: {deepest}");
        for (body, at) in &start {
            assert!(distance(at, &end[body]) <= 1e-12, "{name} {set:?}: {body} moved");
        }
    }
}

#[test]
#[ignore = "long; for release builds"]
fn capsule_in_full() {
    for model in ["coulomb-cone", "no-slip"] {
        for force in [12.0, 60.0] {
            let creep = capsule_creep(force, model, 2000, 8000);
            println!("capsule {force} N, {model}: {:.1e} µm/s", creep * 1e6);
            assert!(creep <= 1e-12, "{model}, {force} N: {creep} m/s");
        }
    }
}

#[test]
#[ignore = "long; for release builds"]
fn grasp_in_full() {
    for model in ["coulomb-cone", "no-slip"] {
        for n in [1, 2, 5, 10] {
            for dt in [1e-3, 1e-2] {
                let motion = grasp_motion(n, model, dt, 10_000);
                println!("grasp {n}, {dt} s, {model}: {motion:.1e} m");
                assert!(motion <= 1e-9, "{model}, {n} blocks, {dt} s: {motion} m");
            }
        }
    }
}

#[test]
#[ignore = "long; for release builds"]
fn standing_in_full() {
    let cases = [
        ("incline", ("angle", 20.0)),
        ("mass-ratio", ("ratio", 1e3)),
        ("mass-ratio", ("ratio", 1e6)),
        ("stack", ("n", 50.0)),
    ];
    for model in ["coulomb-cone", "no-slip"] {
        for (name, set) in cases {
            let mut s = simulation(name, &[set], model, 1e-3);
            let start = bodies(&mut s);
            let mut deepest = 0.0f64;
            run(&mut s, 10_000, |r| deepest = deepest.max(r.penetration));
            let end = bodies(&mut s);
            let moved = start.iter().map(|(b, at)| distance(at, &end[b])).fold(0.0, f64::max);
            println!("{name} {set:?}, {model}: moved {moved:.1e} m, penetration {deepest:.1e} m");
            assert!(moved <= 1e-9 && deepest <= 1e-9, "{name}: {moved} {deepest}");
        }
    }
}

#[test]
fn a_ball_that_spins_on_the_floor_is_braked_by_torsional_friction() {
    let text = r#"
        dt = 0.001
        material = { friction = 0.5, torsional_friction = 0.01 }
        [[bodies]]
        name = "ground"
        fixed = true
        shape = { plane = true }
        [[bodies]]
        name = "ball"
        mass = 2.0
        position = [0, 0, 0.1]
        angular_velocity = [0, 0, 10]
        shape = { sphere = 0.1 }
    "#;
    let mut s = Scene::parse(text, Path::new("."), &[]).unwrap().simulation().unwrap();
    // mu_spin m g = 2/5 m r² α.
    let brake = 0.01 * 9.81 / (0.4 * 0.1 * 0.1);
    run(&mut s, 200, |_| {});
    let spin = bodies(&mut s)["ball"].angular_velocity[2];
    assert!((spin - (10.0 - 0.2 * brake)).abs() < 1e-12, "{spin}");
    run(&mut s, 300, |_| {});
    let ball = &bodies(&mut s)["ball"];
    assert!(ball.angular_velocity.iter().all(|w| w.abs() < 1e-14), "{ball:?}");
}

/// A box that comes down by `speed` (m/s), turned by `tilt` (rad), its lowest corners `height` above the floor (m).
fn falling_box(tilt: f64, height: f64, speed: f64) -> Simulation {
    let half_height = 0.05 * (tilt.cos() + tilt.sin());
    let text = format!(
        r#"
dt = 0.001
[[bodies]]
name = "floor"
fixed = true
shape = {{ plane = true }}
[[bodies]]
name = "box"
mass = 1.0
position = [0, 0, {}]
rpy = [0, {tilt:e}, 0]
velocity = [0, 0, -{speed}]
shape = {{ box = [0.1, 0.1, 0.1] }}
"#,
        height + half_height
    );
    Scene::parse(&text, Path::new("."), &[]).unwrap().simulation().unwrap()
}

#[test]
fn corners_that_close_together_have_one_gap_in_the_problem() {
    // The corners are 1e-6 m apart, a thousandth of what the box moves in the step; then a tenth.
    for (tilt, together) in [(1e-5, true), (1e-3, false)] {
        let mut simulation = falling_box(tilt, 1e-4, 1.0);
        simulation.step().unwrap();
        let (gaps, frames) = (&simulation.problem().contacts().gap, simulation.contacts());
        assert_eq!(frames.len(), 4);
        let least = frames.iter().map(|f| f.gap).fold(f64::INFINITY, f64::min);
        let most = frames.iter().map(|f| f.gap).fold(0.0, f64::max);
        assert!((most - least - 0.1 * tilt).abs() < 1e-9, "what is reported is what is there");
        assert!((least - 1e-4).abs() < 1e-9);
        for (gap, frame) in gaps.iter().zip(frames) {
            assert_eq!(*gap, if together { least } else { frame.gap });
        }
    }
}

#[test]
fn a_box_that_lands_flat_rests_on_the_floor() {
    // At rest, gaps are told apart down to what gravity closes in a hundredth of the step: 1e-7 m here.
    let mut simulation = falling_box(1e-5, 1e-4, 1.0);
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    let gaps = simulation.contacts().iter().map(|f| f.gap);
    let (least, most) = gaps.fold((f64::INFINITY, 0.0f64), |(least, most), gap| (least.min(gap), most.max(gap)));
    assert!(least.abs() < 1e-9 && most < 2e-7, "{least:e} {most:e}");
    assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-12));
}

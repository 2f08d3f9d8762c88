//! Rolling friction in simulation: balls and wheels that slow down, hold on slopes, and are recorded.

use std::path::Path;

use stiction_sim::recording::{Header, Origin, replay};
use stiction_sim::summary::bodies;
use stiction_sim::{Recorder, Recording, Scene, Simulation};

const G: f64 = 9.81;

fn simulation(text: &str) -> Simulation {
    scene(text).simulation().unwrap_or_else(|e| panic!("{e}"))
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// A body that rolls along x on a plane whose slope is that of turned gravity, downhill along x.
fn rolling(shape: &str, inertia: f64, slope: f64, mu_roll: f64, speed: f64) -> String {
    let (radius, length) = (0.1, (1.0 + slope * slope).sqrt());
    format!(
        r#"dt = 1e-3
gravity = [{}, 0, {}]
[material]
friction = 0.8
rolling_friction = {mu_roll}
[[bodies]]
name = "floor"
fixed = true
shape = {{ plane = true }}
[[bodies]]
name = "ball"
mass = 2
inertia = [{inertia}, {inertia}, {inertia}]
position = [0, 0, {radius}]
velocity = [{speed}, 0, 0]
angular_velocity = [0, {}, 0]
{shape}"#,
        G * slope / length,
        -G / length,
        speed / radius,
    )
}

const BALL: &str = "shape = { sphere = 0.1 }";

#[test]
fn a_ball_slows_down_evenly_stops_and_stays() {
    let (mu_roll, speed) = (2e-3, 0.05);
    let mut s = simulation(&rolling(BALL, 0.4 * 2.0 * 0.01, 0.0, mu_roll, speed));
    let brake = mu_roll * G / (1.4 * 0.1) * 1e-3;
    let mut v = speed;
    let mut resting = None;
    for step in 0..600 {
        let report = s.step().unwrap();
        assert!(report.certificate <= 1e-10);
        v = f64::max(v - brake, 0.0);
        let ball = &bodies(&mut s)["ball"];
        assert!((ball.linear_velocity[0] - v).abs() < 1e-13, "step {step}: {} not {v}", ball.linear_velocity[0]);
        if v == 0.0 {
            let at = resting.get_or_insert(ball.position);
            assert!((ball.position[0] - at[0]).abs() < 1e-15, "it creeps");
        }
    }
    assert!(resting.is_some());
    assert!((resting.unwrap()[0] - speed * speed / (2.0 * brake) * 1e-3).abs() < speed * 1e-3, "where it stops");
}

#[test]
fn a_ball_stays_on_a_slope_up_to_the_coefficient_beside_its_radius() {
    let mu_roll = 0.01;
    for (part, moves) in [(0.99, false), (1.01, true)] {
        let mut s = simulation(&rolling(BALL, 0.4 * 2.0 * 0.01, part * mu_roll / 0.1, mu_roll, 0.0));
        (0..100).for_each(|_| assert!(s.step().unwrap().certificate <= 1e-10));
        let slope = part * mu_roll / 0.1;
        let a = G * (slope - mu_roll / 0.1) / (1.4 * (1.0 + slope * slope).sqrt());
        let v = bodies(&mut s)["ball"].linear_velocity[0];
        let expected = if moves { 0.1 * a } else { 0.0 };
        assert!((v - expected).abs() < 1e-13, "{part}: {v} not {expected}");
    }
}

#[test]
fn a_wheel_on_its_rim_slows_down() {
    // Two lines of contact points share the load of a cylinder that lies on its side: so do their moments.
    let wheel = "shape = { cylinder = [0.1, 0.2] }\n";
    let text = rolling(wheel, 0.5 * 2.0 * 0.01, 0.0, 2e-3, 1.0)
        .replace("position = [0, 0, 0.1]", "position = [0, 0, 0.1]\nrpy = [1.5707963267948966, 0, 0]");
    let mut s = simulation(&text);
    for _ in 0..200 {
        assert!(s.step().unwrap().certificate <= 1e-10);
    }
    let v = bodies(&mut s)["ball"].linear_velocity[0];
    let expected = 1.0 - 0.2 * 2e-3 * G / (1.5 * 0.1);
    assert!((v - expected).abs() < 1e-9, "{v} not {expected}");
}

#[test]
fn moments_are_recorded_and_replayed() {
    let text = rolling(BALL, 0.4 * 2.0 * 0.01, 0.0, 2e-3, 0.02);
    let scene = scene(&text);
    let mut s = scene.simulation().unwrap();
    let origin = Origin { file: "ball.toml".into(), directory: ".".into(), text, ..Origin::default() };
    let mut recorder = Recorder::new(Vec::new(), &Header::new(origin, &scene, 1), &s).unwrap();
    let mut saved = vec![];
    for k in 0..200 {
        let report = s.step().unwrap();
        recorder.step(&s, &report).unwrap();
        if k == 100 {
            saved = s.save_state();
        }
    }
    let recording = Recording::parse(recorder.finish(&s, None).unwrap()).unwrap();
    let first = recording.steps().next().unwrap();
    let most = 2e-3 * 2.0 * G * 1e-3;
    let moment = first.impulses.roll_s[0].hypot(first.impulses.roll_t[0]);
    assert!((moment - most).abs() < 1e-15, "{moment} not {most}");
    let (again, notes) = recording.header().scene().unwrap();
    assert!(notes.is_empty());
    let same = replay(&recording, &mut again.simulation().unwrap(), |_| {}).unwrap();
    assert_eq!((same.steps, same.difference), (200, None));
    // A saved state goes on to the last bit.
    let mut other = scene.simulation().unwrap();
    other.load_state(&saved).unwrap();
    (0..99).for_each(|_| assert!(other.step().unwrap().certificate <= 1e-10));
    assert_eq!(other.state(), s.state());
}

#[test]
fn mjcf_and_bad_numbers() {
    let text = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" condim="6" friction="1 .005 .002"/>
        <body pos="0 0 .1"><freejoint/><geom size=".1" condim="6" friction=".5 .01 .001"/></body></worldbody></mujoco>"#;
    let d = stiction_sim::mjcf::parse(text, Path::new("."), &stiction_sim::mjcf::MjcfOptions::default()).unwrap();
    assert_eq!(d.geoms[1].material.mu_roll, 0.001);
    assert!(d.notes.iter().all(|n| !format!("{n:?}").contains("rolling")), "{:?}", d.notes);
    for bad in ["-1", "inf"] {
        let text =
            rolling(BALL, 0.01, 0.0, 0.1, 0.0).replace("rolling_friction = 0.1", &format!("rolling_friction = {bad}"));
        let why = Scene::parse(&text, Path::new("."), &[]).unwrap_err().to_string();
        assert!(why.contains("material.rolling_friction") && why.contains("at least 0 and finite"), "{why}");
    }
}

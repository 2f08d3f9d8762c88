//! Friction that depends on the direction of slip, against closed forms.

use std::path::Path;

use stiction_sim::recording::{Header, Origin, replay};
use stiction_sim::summary::bodies;
use stiction_sim::{Recorder, Recording, Scene, Simulation};

pub(crate) const G: f64 = 9.81;
pub(crate) const DT: f64 = 1e-3;

/// A cube of 1 kg on a floor with this surface, with gravity turned towards (x, y) by these parts of g, and a velocity.
pub(crate) fn cube(surface: &str, push: [f64; 2], velocity: [f64; 2]) -> String {
    format!(
        r#"dt = {DT}
gravity = [{}, {}, {}]
friction_rule = "minimum"
[[bodies]]
name = "floor"
fixed = true
shape = {{ plane = true }}
{surface}
[[bodies]]
name = "cube"
friction = 10
mass = 1
position = [0, 0, 0.01]
velocity = [{}, {}, 0]
shape = {{ box = [0.2, 0.2, 0.02] }}
"#,
        push[0] * G,
        push[1] * G,
        -G,
        velocity[0],
        velocity[1],
    )
}

pub(crate) fn simulation(text: &str) -> Simulation {
    scene(text).simulation().unwrap_or_else(|e| panic!("{e}"))
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn steps(s: &mut Simulation, count: usize) {
    for _ in 0..count {
        let report = s.step().unwrap();
        assert!(report.certificate <= 1e-10);
    }
}

const PLANKS: &str = "friction = [0.8, 0.2]\nfriction_direction = [3, 4, 0]";

/// (along, across) of [`PLANKS`] to (x, y).
fn from_planks([along, across]: [f64; 2]) -> [f64; 2] {
    [0.6 * along - 0.8 * across, 0.8 * along + 0.6 * across]
}

#[test]
fn a_cube_holds_inside_the_ellipse_and_slips_outside() {
    for angle in 0..12 {
        let (c, s) = (libm::cos(f64::from(angle) * 0.55), libm::sin(f64::from(angle) * 0.55));
        for (part, holds) in [(0.99, true), (1.01, false)] {
            let push = from_planks([part * 0.8 * c, part * 0.2 * s]);
            let mut sim = simulation(&cube(PLANKS, push, [0.0; 2]));
            steps(&mut sim, 30);
            let v = bodies(&mut sim)["cube"].linear_velocity;
            let speed = libm::hypot(v[0], v[1]);
            assert!(if holds { speed < 1e-13 } else { speed > 1e-5 }, "angle {angle}, part {part}: {v:?}");
        }
    }
}

#[test]
fn sliding_friction_is_the_point_of_the_ellipse_that_dissipates_most() {
    // Friction against the slip u (unit, along and across) is −(μ_s² u_s, μ_t² u_t) / √(μ_s² u_s² + μ_t² u_t²) N.
    for slip in [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]] {
        let velocity = from_planks(slip.map(|x: f64| 3.0 * x));
        let mut sim = simulation(&cube(PLANKS, [0.0; 2], velocity));
        steps(&mut sim, 1);
        let v = bodies(&mut sim)["cube"].linear_velocity;
        // The law is that of the velocity after the step.
        let after = [0.6 * v[0] + 0.8 * v[1], -0.8 * v[0] + 0.6 * v[1]];
        let size = libm::hypot(0.8 * after[0], 0.2 * after[1]);
        let friction = from_planks([-0.64 * after[0] / size, -0.04 * after[1] / size]);
        for k in 0..2 {
            let expected = velocity[k] + DT * G * friction[k];
            assert!((v[k] - expected).abs() < 1e-13, "{slip:?}: {v:?}, expected {expected} at {k}");
        }
    }
}

#[test]
fn a_skate_glides_along_its_blade_and_holds_across() {
    let blade = "friction = [0, 0.5]\nfriction_direction = [1, 1, 0]";
    let mut sim = simulation(&cube(blade, [0.2, 0.0], [1.0, 1.0]));
    steps(&mut sim, 100);
    let v = bodies(&mut sim)["cube"].linear_velocity;
    // Of the push along x half is along the blade.
    let expected = 1.0 + 100.0 * DT * 0.1 * G;
    assert!((v[0] - expected).abs() < 1e-11 && (v[1] - expected).abs() < 1e-11, "{v:?} not {expected}");
}

#[test]
fn forces_are_recorded_along_unit_tangents_and_replayed() {
    let text = cube(PLANKS, from_planks([0.1, 0.15]), [0.0; 2]);
    let scene = scene(&text);
    let mut s = scene.simulation().unwrap();
    let origin = Origin { file: "cube.toml".into(), directory: ".".into(), text, ..Origin::default() };
    let mut recorder = Recorder::new(Vec::new(), &Header::new(origin, &scene, 1), &s).unwrap();
    for _ in 0..50 {
        let report = s.step().unwrap();
        recorder.step(&s, &report).unwrap();
    }
    let recording = Recording::parse(recorder.finish(&s, None).unwrap()).unwrap();
    let (again, notes) = recording.header().scene().unwrap();
    assert!(notes.is_empty());
    let same = replay(&recording, &mut again.simulation().unwrap(), |_| {}).unwrap();
    assert_eq!((same.steps, same.difference), (50, None));
    let last = recording.steps().last().unwrap();
    let mut force = [0.0; 3];
    for (i, contact) in last.contacts.iter().enumerate() {
        let (s, t) = contact.tangents();
        let mu = contact.ellipse.unwrap().mu;
        assert!((mu[0] - 0.8).abs() < 1e-15 && (mu[1] - 0.2).abs() < 1e-15, "{mu:?}");
        let (p, q) = (last.impulses.tangent_s[i], last.impulses.tangent_t[i]);
        assert!(libm::hypot(p / mu[0], q / mu[1]) <= (1.0 + 1e-9) * last.impulses.normal[i]);
        let total = s * p + t * q;
        force.iter_mut().zip(total.to_array()).for_each(|(f, x)| *f += x / DT);
    }
    let weight = from_planks([0.1 * G, 0.15 * G]);
    for k in 0..2 {
        assert!((force[k] + weight[k]).abs() < 1e-9, "{force:?} against {weight:?}");
    }
}

#[test]
fn equal_coefficients_are_one() {
    let state = |surface: &str| {
        let mut sim = simulation(&cube(surface, [0.5, 0.3], [1.0, 0.2]));
        steps(&mut sim, 50);
        sim.state().hash()
    };
    assert_eq!(state("friction = [0.4, 0.4]\nfriction_direction = [3, 4, 0]"), state("friction = 0.4"));
}

#[test]
fn directions_turn_with_their_geom_and_combine() {
    // A cube whose own surface has a direction: what counts is how it lies.
    for (turn, expected) in [(0.0, 0.3), (std::f64::consts::FRAC_PI_2, 0.1)] {
        let text = cube("friction = 10", [0.0; 2], [2.0, 0.0])
            .replace("friction = 10\nmass", &format!("friction = [0.3, 0.1]\nrpy = [0, 0, {turn}]\nmass"));
        let mut sim = simulation(&text);
        steps(&mut sim, 100);
        let v = bodies(&mut sim)["cube"].linear_velocity;
        assert!((v[0] - (2.0 - 0.1 * expected * G)).abs() < 1e-11 && v[1].abs() < 1e-11, "{turn}: {v:?}");
    }
    // Its direction is along the normal: all is across.
    let text = cube("friction = 10", [0.0; 2], [2.0, 0.0])
        .replace("friction = 10\nmass", "friction = [0.3, 0.1]\nfriction_direction = [0, 0, 1]\nmass");
    let mut sim = simulation(&text);
    steps(&mut sim, 100);
    assert!((bodies(&mut sim)["cube"].linear_velocity[0] - (2.0 - 0.1 * 0.1 * G)).abs() < 1e-11);
    // Both have one, at right angles: along x the floor has 0.4 and the cube 0.1, along y 0.2 and 0.3.
    let floor = "friction = [0.4, 0.2]";
    for (velocity, k, expected) in [([2.0, 0.0], 0, 0.1), ([0.0, 2.0], 1, 0.2)] {
        let text = cube(floor, [0.0; 2], velocity)
            .replace("friction = 10\nmass", "friction = [0.3, 0.1]\nfriction_direction = [0, 1, 0]\nmass");
        let mut sim = simulation(&text);
        steps(&mut sim, 100);
        let v = bodies(&mut sim)["cube"].linear_velocity;
        assert!((v[k] - (2.0 - 0.1 * expected * G)).abs() < 1e-11 && v[1 - k].abs() < 1e-11, "{k}: {v:?}");
    }
}

#[test]
fn a_pair_in_mjcf_has_two_coefficients() {
    let text = r#"<mujoco><option timestep=".001"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body pos="0 0 .01"><freejoint/><geom name="cube" type="box" size=".1 .1 .01" mass="1"/></body></worldbody>
        <contact><pair geom1="floor" geom2="cube" friction=".6 .2 .005 .0001 .0001"/></contact></mujoco>"#;
    let d = stiction_sim::mjcf::parse(text, Path::new("."), &stiction_sim::mjcf::MjcfOptions::default()).unwrap();
    let material = d.pairs[0].material.unwrap();
    assert_eq!((material.mu, material.mu_across), (0.6, Some(0.2)));
    assert_eq!(material.mu_direction.to_array(), [0.0, 1.0, 0.0]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refusal = |surface: &str| {
        let text = cube(surface, [0.0; 2], [0.0; 2]);
        Scene::parse(&text, Path::new("."), &[]).unwrap_err().to_string()
    };
    assert!(refusal("friction = [0.5, -1]").contains("friction: must be at least 0"));
    assert!(refusal("friction = [0.5, inf]").contains("two coefficients must be finite"));
    assert!(refusal("friction = [0.5]").contains("friction"));
    assert!(refusal("friction = [0.5, 0.1]\nfriction_direction = [0, 0, 0]").contains("friction_direction"));
    assert!(refusal("friction = 0.5\nfriction_direction = [1, 0, 0]").contains("needs two coefficients"));
    let text = format!("simulator = \"event-driven\"\n{}", cube(PLANKS, [0.0; 2], [0.0; 2]));
    let why = scene(&text).simulation().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(why.contains("needs time stepping"), "{why}");
}

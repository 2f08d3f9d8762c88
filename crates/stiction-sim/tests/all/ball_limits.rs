//! Limits of ball joints: the angle of the joint's rotation is at most the largest.

use std::f64::consts::PI;
use std::path::Path;

use stiction_linalg::rng::Rng;
use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{PhysicalLayout, PhysicalPart, Scene, Simulation, StepReport};

/// No step leads farther beyond a limit (rad).
const BEYOND: f64 = 1e-9;

fn scene(text: &str) -> Simulation {
    Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}")).simulation().unwrap()
}

/// A ball of 2 kg, 0.5 m from the joint along `arm`.
fn pendulum(options: &str, largest: f64, arm: [f64; 3]) -> Simulation {
    let [x, y, z] = arm.map(|x| 0.5 * x);
    scene(&format!(
        "dt = 0.001\n{options}\n[[bodies]]\nname = \"bob\"\nmass = 2\n\
         joint = {{ type = \"spherical\", limits = [0, {largest}] }}\n\
         shape = {{ sphere = 0.1, position = [{x}, {y}, {z}] }}"
    ))
}

const DOWN: [f64; 3] = [0.0, 0.0, -1.0];
const SIDEWAYS: [f64; 3] = [1.0, 0.0, 0.0];

/// The quaternion of a rotation by `angle` about a unit axis.
fn turned(axis: [f64; 3], angle: f64) -> Vec<f64> {
    let s = libm::sin(0.5 * angle);
    vec![libm::cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]]
}

fn angle(q: &[f64]) -> f64 {
    let s = q[1..4].iter().map(|x| x * x).sum::<f64>().sqrt();
    2.0 * libm::atan2(s, q[0].abs())
}

fn total(simulation: &mut Simulation) -> f64 {
    let (kinetic, potential) = simulation.energy();
    kinetic + potential
}

fn certified(simulation: &mut Simulation) -> StepReport {
    let report = simulation.step().unwrap();
    assert!(report.certificate <= 1e-10 && !report.accepted && !report.fallback, "{report:?}");
    report
}

#[test]
fn a_pendulum_swings_into_its_limit() {
    for axis in [[0.0, 1.0, 0.0], [0.6, -0.8, 0.0]] {
        let mut simulation = pendulum("", 0.6, DOWN);
        simulation.set_state(&turned(axis, 0.1), &axis.map(|x| 3.0 * x)).unwrap();
        let (mut most, mut before) = (0.0_f64, total(&mut simulation));
        for _ in 0..3000 {
            certified(&mut simulation);
            let q = &simulation.state().q;
            assert!(angle(q) <= 0.6 + BEYOND, "{:e}", angle(q) - 0.6);
            most = most.max(angle(q));
        }
        // An impact at the limit takes its energy, and no step brings any.
        let after = total(&mut simulation);
        assert!(most >= 0.6 - 1e-12 && after < before, "{most} {before} {after}");
        before = after;
        (0..3000).for_each(|_| _ = certified(&mut simulation));
        assert!(total(&mut simulation) < before + 1e-2 * before.abs());
    }
}

#[test]
fn it_slides_along_the_limit_freely() {
    let mut simulation = pendulum("gravity = [0, 0, 0]", 0.6, DOWN);
    // Tipped to the limit about y, it moves on about x.
    simulation.set_state(&turned([0.0, 1.0, 0.0], 0.6), &[3.0, 0.0, 0.0]).unwrap();
    let (start, mut after, mut way) = (total(&mut simulation), 0.0, 0.0);
    let mut last = simulation.state().q.clone();
    for _ in 0..1000 {
        certified(&mut simulation);
        let (q, kinetic) = (simulation.state().q.clone(), simulation.energy().0);
        // A step moves the inertia after it has found velocities: 1e-5 of the energy.
        assert!((angle(&q) - 0.6).abs() <= BEYOND && kinetic <= start * (1.0 + 1e-5), "{} {kinetic}", angle(&q));
        let along: f64 = (1..4).map(|k| (q[k] - last[k]) * (q[k] - last[k])).sum();
        way += along.sqrt() / libm::sin(0.3);
        (after, last) = (kinetic, q);
    }
    // The axis has gone around nearly as fast as at first.
    assert!(after > 0.98 * start && after < start && way > 1.0, "{after} of {start}, {way}");
}

#[test]
fn it_hangs_at_its_limit() {
    for options in ["", "simulator = \"event-driven\"", "model = \"no-slip\""] {
        let mut simulation = pendulum(options, 0.4, SIDEWAYS);
        for _ in 0..2000 {
            let report = certified(&mut simulation);
            assert!(angle(&simulation.state().q) <= 0.4 + BEYOND, "{report:?}");
        }
        let (state, torque) = (simulation.state().clone(), simulation.joint_forces().limit);
        assert!((angle(&state.q) - 0.4).abs() < 1e-9 && state.v.iter().all(|v| v.abs() < 1e-9), "{options}: {state:?}");
        // The limit carries the weight.
        let weight = 2.0 * 9.81 * 0.5 * libm::cos(0.4);
        assert!((torque[1] + weight).abs() < 1e-6 && torque[0].hypot(torque[2]) < 1e-6, "{options}: {torque:?}");
        (0..100).for_each(|_| _ = certified(&mut simulation));
        assert!((angle(&simulation.state().q) - angle(&state.q)).abs() < 1e-12);
    }
}

#[test]
fn accelerations_follow_the_limit() {
    let mut simulation = pendulum("simulator = \"event-driven\"\ngravity = [0, 0, 0]\n", 0.6, DOWN);
    simulation.set_state(&turned([0.0, 1.0, 0.0], 0.6), &[3.0, 0.0, 0.0]).unwrap();
    let start = total(&mut simulation);
    for _ in 0..1000 {
        let report = certified(&mut simulation);
        assert!(report.stepped == 0.0 && report.impacts <= 1, "{report:?}");
        assert!((angle(&simulation.state().q) - 0.6).abs() <= BEYOND, "{}", angle(&simulation.state().q));
    }
    // Smooth motion along the limit keeps its energy.
    assert!((total(&mut simulation) / start - 1.0).abs() < 1e-6, "{} {start}", total(&mut simulation));
}

/// A trunk with limbs that may turn by less and less, and the ground below.
fn limbs() -> (Simulation, [f64; 4]) {
    let largest = [1.5, 0.6, 0.1, 0.01];
    let mut text = "dt = 0.002\n[material]\nfriction = 0.6\n[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
                    [[bodies]]\nname = \"trunk\"\nmass = 3\nposition = [0, 0, 0.8]\nshape = { box = [0.3, 0.3, 0.3] }\n"
        .to_string();
    for (i, largest) in largest.iter().enumerate() {
        let x = 0.2 * if i % 2 == 0 { 1.0 } else { -1.0 };
        let y = 0.2 * if i < 2 { 1.0 } else { -1.0 };
        text += &format!(
            "[[bodies]]\nname = \"limb{i}\"\nparent = \"trunk\"\nmass = 0.5\nposition = [{x}, {y}, 0]\n\
             joint = {{ type = \"spherical\", limits = [0, {largest}] }}\n\
             shape = {{ capsule = [0.03, 0.2], position = [{x}, {y}, 0] }}\n"
        );
    }
    (scene(&text), largest)
}

#[test]
fn spins_against_the_limits_are_certified() {
    let (mut simulation, largest) = limbs();
    let mut rng = Rng::new(7);
    let mut reached = [0; 4];
    for step in 0..2000 {
        if step % 50 == 0 {
            let q = simulation.state().q.clone();
            let v: Vec<f64> = simulation.state().v.iter().map(|v| v + 8.0 * rng.normal()).collect();
            simulation.set_state(&q, &v).unwrap();
        }
        certified(&mut simulation);
        let q = &simulation.state().q;
        for (i, largest) in largest.iter().enumerate() {
            let angle = angle(&q[7 + 4 * i..]);
            assert!(angle <= largest + BEYOND, "step {step}, limb {i}: {:e}", angle - largest);
            reached[i] += usize::from(angle > largest - BEYOND);
        }
    }
    assert!(reached.iter().all(|n| *n > 20), "{reached:?}");
}

#[test]
fn a_limit_of_zero_holds_the_joint() {
    let mut simulation = pendulum("", 0.0, SIDEWAYS);
    for _ in 0..100 {
        certified(&mut simulation);
    }
    let torque = simulation.joint_forces().limit;
    assert!(angle(&simulation.state().q) <= 1e-12 && (torque[1] + 2.0 * 9.81 * 0.5).abs() < 1e-6, "{torque:?}");
    assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-9), "{:?}", simulation.state());
}

#[test]
fn half_a_turn_is_no_limit_and_nearly_as_much_is_one() {
    let axis = [0.0, 0.6, 0.8];
    let spin = |largest: f64| {
        let mut simulation = pendulum("gravity = [0, 0, 0]", largest, DOWN);
        simulation.set_state(&turned(axis, 3.0), &axis.map(|x| 2.0 * x)).unwrap();
        let mut most = 0.0_f64;
        for _ in 0..200 {
            certified(&mut simulation);
            most = most.max(angle(&simulation.state().q));
        }
        (simulation, most)
    };
    let (simulation, most) = spin(PI);
    assert!(simulation.problem().limits().rows.is_empty() && most > 3.13, "{most}");
    let (_, most) = spin(3.1);
    assert!((most - 3.1).abs() <= BEYOND, "{most}");
}

#[test]
fn a_state_far_beyond_the_limit_is_put_at_it() {
    let mut simulation = pendulum("gravity = [0, 0, 0]", 0.5, DOWN);
    let axis = [0.36, 0.48, -0.8];
    simulation.set_state(&turned(axis, 2.0), &[0.0; 3]).unwrap();
    certified(&mut simulation);
    let (q, expected) = (&simulation.state().q, turned(axis, 0.5));
    assert!(q.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{q:?}");
    assert!(simulation.state().v.iter().all(|v| *v == 0.0));
}

#[test]
fn limits_that_are_no_angles_name_their_place() {
    let wrong = |limits: &str| {
        let text =
            format!("[[bodies]]\nname = \"a\"\nmass = 1\njoint = {{ type = \"spherical\", limits = {limits} }}\n");
        Scene::parse(&text, Path::new("."), &[]).unwrap_err().to_string()
    };
    for limits in ["[-1, 1]", "[0.5, 1]"] {
        assert!(wrong(limits).contains("0 and its largest angle") && wrong(limits).contains("4"), "{}", wrong(limits));
    }
    let mut simulation = pendulum("", 0.5, DOWN);
    let range = PhysicalLayout::new(simulation.world()).range(PhysicalPart::JointLimits);
    let mut row = simulation.physical();
    row[range.clone()].copy_from_slice(&[-1.0, 0.2, -1.0, 0.2, -1.0, 0.2]);
    let error = simulation.set_physical(&row).unwrap_err().to_string();
    assert!(error.contains("bob") && error.contains("spherical"), "{error}");
    row[range].copy_from_slice(&[0.0, 0.2, 0.0, 0.2, 0.0, 0.2]);
    simulation.set_physical(&row).unwrap();
    simulation.set_state(&turned([1.0, 0.0, 0.0], 0.3), &[0.0; 3]).unwrap();
    certified(&mut simulation);
    assert!(angle(&simulation.state().q) <= 0.2 + BEYOND);
}

fn mjcf(joint: &str) -> Result<stiction_sim::Description, String> {
    let text = format!(
        "<mujoco><worldbody><body name=\"a\"><joint name=\"j\" type=\"ball\" {joint}/><geom size=\".1\" pos=\"0 0 -.5\"/></body></worldbody></mujoco>"
    );
    mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn ranges_of_mjcf_files_are_angles() {
    let limits = |joint: &str| {
        let found = mjcf(joint).unwrap();
        assert!(found.notes.is_empty(), "{joint}: {:?}", found.notes);
        found.links[0].properties.limits
    };
    assert_eq!(limits("range=\"0 90\"")[1], 0.5 * PI);
    assert_eq!(limits("limited=\"true\" range=\"0 0\""), [0.0, 0.0]);
    assert_eq!(limits("limited=\"true\""), [0.0, 0.0]);
    for none in ["", "range=\"0 0\"", "limited=\"false\" range=\"0 90\""] {
        assert_eq!(limits(none)[1], f64::INFINITY, "{none}");
    }
    for wrong in ["range=\"-1 90\"", "range=\"10 90\"", "range=\"0 -1\""] {
        let error = mjcf(wrong).unwrap_err();
        assert!(error.contains("range") && error.contains("largest angle") && error.contains("name=\"j\""), "{error}");
    }
}

#[test]
fn they_are_written_as_mjcf() {
    let text = "[[bodies]]\nname = \"a\"\nmass = 1\nshape = { sphere = 0.1 }\njoint = { type = \"spherical\", limits = [0, 0.75] }\n";
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap();
    let text = mjcf::write(&scene).unwrap();
    let read = mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).unwrap();
    assert_eq!(read.links[0].properties.limits, [0.0, 0.75], "{text}");
}

//! A quadruped trots: servos follow sines, diagonal legs together. Where it got, and what its feet did. `examples/python/quadruped.py` is its twin.
#![allow(clippy::print_stdout)]

use std::f64::consts::PI;
use std::path::Path;

use stiction::prelude::*;
use stiction::sim::{Commands, Controller, View};

const STRIDE: f64 = 0.25;
const LIFT: f64 = 0.5;
const FREQUENCY: f64 = 2.0;

/// The servos of a leg: the places of its joints, and whether it moves with the second pair.
struct Leg {
    joints: [usize; 3],
    second: bool,
}

/// The gait.
struct Trot(Vec<Leg>);

impl Controller for Trot {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        for leg in &self.0 {
            let phase = 2.0 * PI * FREQUENCY * view.t + if leg.second { PI } else { 0.0 };
            let targets = [0.0, STRIDE * phase.cos(), -LIFT * phase.sin().max(0.0)];
            for (k, target) in leg.joints.into_iter().zip(targets) {
                commands.servo(k, 20.0, target, 0.5, 0.0);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let set = ["push", "kp", "kd"].map(|name| (name.to_string(), 0.0));
    let scene = Scene::load(&scenes.join("quad-flat.toml"), &set)?;
    let mut simulation = scene.simulation()?;
    simulation.control(Box::new(Trot(legs(&scene)?)));
    let (mut worst, mut slip) = (0.0f64, 0.0);
    for _ in 0..3000 {
        let report = simulation.step()?;
        worst = worst.max(report.certificate);
        slip += report.slip * scene.settings.dt;
    }
    let state = simulation.state();
    println!("in {:.3} s the trunk went {:.4} m forward and is {:.4} m high", state.t, state.q[0], state.q[2]);
    let certified = if worst <= 1e-10 { "True" } else { "False" };
    println!("feet slipped {slip:.4} m in all; every certificate is at most 1e-10: {certified}");
    Ok(())
}

fn legs(scene: &Scene) -> Result<Vec<Leg>, SceneError> {
    let model = &scene.world.model;
    let place = |name: String| {
        let link = model.link(&name).ok_or_else(|| SceneError::new(name.as_str(), "there is no such joint"))?;
        Ok(model.links()[link].v.start)
    };
    let mut legs = Vec::new();
    for (i, j) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let joints = ["hip", "thigh", "shank"].map(|part| place(format!("{part}{i}{j}")));
        let [hip, thigh, shank] = joints;
        legs.push(Leg { joints: [hip?, thigh?, shank?], second: (i + j) % 2 == 1 });
    }
    Ok(legs)
}

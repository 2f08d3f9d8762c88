//! How far a cube slides, over friction: beside the closed form v² / (2 mu g), which a step of symplectic Euler misses by half a step's way.
//! `examples/python/friction_sweep.py` is its twin.
#![allow(clippy::print_stdout)]

use std::path::Path;

use stiction::prelude::*;

const SPEED: f64 = 2.0;
const GRAVITY: f64 = 9.81;
const DT: f64 = 0.001;

const SCENE: &str = r#"
title = "a cube slides to rest"
dt = 0.001
[parameters]
mu = 0.5
[material]
friction = "= mu"
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "cube"
mass = 1.0
position = [0, 0, 0.1]
velocity = [2.0, 0, 0]
shape = { box = [0.2, 0.2, 0.2] }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for mu in [0.2, 0.4, 0.6, 0.8] {
        let mut simulation = Scene::parse(SCENE, Path::new("."), &[("mu".into(), mu)])?.simulation()?;
        for _ in 0..1500 {
            simulation.step()?;
        }
        let (slid, steps) = (simulation.state().q[0], simulation.state().step);
        let exact = SPEED * SPEED / (2.0 * mu * GRAVITY) - SPEED * DT / 2.0;
        println!("mu = {mu:.1}: {slid:.6} m, closed form {exact:.6} m, {steps} steps certified");
    }
    Ok(())
}

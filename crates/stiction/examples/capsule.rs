//! A capsule pinched at many times the force that friction needs: it must not creep.
//! `examples/python/capsule.py` is its twin, which shows MuJoCo's side too.
#![allow(clippy::print_stdout)]

use std::path::Path;

use stiction::prelude::*;

const SECONDS: f64 = 2.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let scene = Scene::load(&scenes.join("capsule.toml"), &[])?;
    let mut simulation = scene.simulation()?;
    let steps = (SECONDS / scene.settings.dt).round() as usize;
    for _ in 0..steps {
        simulation.step()?;
    }
    let force = scene.parameters.iter().find(|(name, _)| name == "force").map_or(f64::NAN, |(_, x)| *x);
    let weight = scene.world.model.links()[0].spec.inertia.mass * 9.81;
    println!("pinched with {force:.1} N, {:.0} times what holds it", 2.0 * 0.7 * force / weight);
    let sunk = simulation.state().q[2].abs() * 1e6;
    println!("stiction: the capsule sinks {sunk:.3} um in {SECONDS:.0} s");
    Ok(())
}

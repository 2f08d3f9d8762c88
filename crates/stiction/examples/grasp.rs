//! Grasp a row of cubes between two grippers, and read the forces. `examples/python/grasp.py` is its twin.
#![allow(clippy::print_stdout)]

use std::path::Path;

use stiction::body::math::Vec3;
use stiction::prelude::*;

/// A pair of bodies, the number of its contacts, and the force on the second body (N).
type Pair = ([usize; 2], usize, Vec3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let scene = Scene::load(&scenes.join("grasp.toml"), &[("n".into(), 3.0)])?;
    let mut simulation = scene.simulation()?;
    for _ in 0..1000 {
        simulation.step()?;
    }
    println!("after {:.3} s the cubes have sunk {:.9} m", simulation.state().t, simulation.state().q[2].abs());
    let name = |link: usize| &scene.world.model.links()[link].spec.name;
    for ([a, b], contacts, force) in pairs(&simulation) {
        println!("{} on {}: {contacts} contacts, {:.6} N along x, {:.6} N up", name(a), name(b), force.x, force.z);
    }
    Ok(())
}

/// Sums over the contacts of each pair of bodies, on the one with the larger number.
fn pairs(simulation: &Simulation) -> Vec<Pair> {
    let dt = simulation.settings().dt;
    let Some(p) = simulation.impulses() else { return vec![] };
    let mut all: Vec<Pair> = Vec::new();
    for (i, frame) in simulation.contacts().iter().enumerate() {
        let [Some(a), Some(b)] = frame.key.geoms.map(|g| simulation.world().geoms[g as usize].link) else { continue };
        let [s, t] = frame.tangents;
        let force = (frame.normal * p.normal[i] + s * p.tangent_s[i] + t * p.tangent_t[i]) * (1.0 / dt);
        let (pair, force) = if a < b { ([a, b], force) } else { ([b, a], -force) };
        match all.iter_mut().find(|known| known.0 == pair) {
            Some(known) => {
                known.1 += 1;
                known.2 += force;
            }
            None => all.push((pair, 1, force)),
        }
    }
    all
}

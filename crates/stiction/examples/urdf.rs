//! Load a URDF, let the arm swing over a table until it rests, and see what was loaded. `examples/python/urdf.py` is its twin.
#![allow(clippy::print_stdout)]

use std::path::Path;

use stiction::prelude::*;
use stiction::sim::NoteKind;

const SCENE: &str = r#"
title = "an arm over a table"
dt = 0.002
[[bodies]]
name = "table"
fixed = true
shape = { plane = true }
[[robots]]
name = "arm"
file = "arm.urdf"
joints = { shoulder = 1.0 }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let scene = Scene::parse(SCENE, &directory, &[])?;
    let model = &scene.world.model;
    let mass: f64 = model.links().iter().map(|l| l.spec.inertia.mass).sum();
    println!("{} bodies, {} velocities, {mass:.3} kg", model.links().len(), model.nv());
    for note in scene.world.notes.iter().flat_map(|(_, notes)| notes) {
        let kind = match note.kind {
            NoteKind::Ignored => "ignored",
            NoteKind::Changed => "changed",
            NoteKind::NotYet => "not yet",
            NoteKind::Warning => "warning",
        };
        println!("{kind}: {}: {}", note.element, note.text);
    }
    let mut simulation = scene.simulation()?;
    let (kinetic, potential) = simulation.energy();
    for _ in 0..4000 {
        simulation.step()?;
    }
    let angle = |joint: &str| model.joint(joint).map_or(f64::NAN, |l| simulation.state().q[model.links()[l].q.start]);
    let (t, shoulder, elbow) = (simulation.state().t, angle("arm/shoulder"), angle("arm/elbow"));
    let (kinetic_now, potential_now) = simulation.energy();
    let lost = kinetic + potential - (kinetic_now + potential_now);
    println!("after {t:.3} s: shoulder {shoulder:.4} rad, elbow {elbow:.4} rad, energy lost {lost:.4} J");
    Ok(())
}

//! Sixteen cubes thrown at different speeds, stepped over all cores; one has a bad state, which is its own affair.
//! `examples/python/batch.py` is its twin.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::thread;

use stiction::prelude::*;

const SCENE: &str = r#"
title = "a thrown cube"
dt = 0.001
[material]
friction = 0.5
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "cube"
mass = 1.0
position = [0, 0, 0.1]
shape = { box = [0.2, 0.2, 0.2] }
"#;

fn main() -> Result<(), SceneError> {
    let scene = Scene::parse(SCENE, Path::new("."), &[])?;
    let mut speeds: Vec<f64> = (0..16).map(|i| 0.25 * f64::from(i)).collect();
    speeds[5] = f64::NAN;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let each = speeds.len().div_ceil(cores);
    let slid: Vec<Result<f64, String>> = thread::scope(|scope| {
        let workers: Vec<_> = speeds.chunks(each).map(|part| scope.spawn(|| throw_all(&scene, part))).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_default()).collect()
    });
    for i in (0..16).step_by(5) {
        match &slid[i] {
            Ok(x) => println!("copy {i}: slid {x:.6} m"),
            Err(message) => println!("copy {i}: failed: {message}"),
        }
    }
    if let Ok(x) = throw(&scene, 1.25) {
        println!("copy 5: slid {x:.6} m");
    }
    Ok(())
}

fn throw_all(scene: &Scene, speeds: &[f64]) -> Vec<Result<f64, String>> {
    speeds.iter().map(|speed| throw(scene, *speed)).collect()
}

/// How far a cube thrown at that speed slides in a second (m).
fn throw(scene: &Scene, speed: f64) -> Result<f64, String> {
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    let (q, mut v) = (simulation.state().q.clone(), simulation.state().v.clone());
    v[0] = speed;
    simulation.set_state(&q, &v).map_err(|e| e.to_string())?;
    for _ in 0..1000 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    Ok(simulation.state().q[0])
}

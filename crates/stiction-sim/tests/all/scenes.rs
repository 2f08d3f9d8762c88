//! Every shipped scene: it loads, every step is certified, and it continues bit for bit from a snapshot.

use std::path::PathBuf;

use stiction_sim::{Scene, Simulation};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn names() -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| p.file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    all.sort();
    assert!(all.len() >= 15, "{all:?}");
    all
}

/// Small forms of the scenes that are large by default.
fn load(name: &str) -> Scene {
    let small: &[(&str, f64)] = match name {
        "pyramid" => &[("base", 3.0)],
        "stack" => &[("n", 4.0)],
        "dominoes" => &[("n", 4.0)],
        "heap" => &[("n", 8.0)],
        "kapla" => &[("n", 6.0), ("speed", 2.0)],
        "wall" => &[("rows", 3.0), ("columns", 2.0), ("angle", 0.3)],
        "hopper" => &[("n", 8.0)],
        "ragdolls" => &[("n", 1.0)],
        "bin-picking" => &[("n", 4.0)],
        "bridge" => &[("n", 5.0)],
        "chain" => &[("n", 5.0)],
        _ => &[],
    };
    let set: Vec<(String, f64)> = small.iter().map(|(k, x)| ((*k).to_string(), *x)).collect();
    Scene::load(&folder().join(format!("{name}.toml")), &set).unwrap_or_else(|e| panic!("{e}"))
}

fn steps(name: &str, simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        let report = simulation.step().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.certificate <= 1e-10, "{name}: {}", report.certificate);
        let size = report.kinetic + report.work.abs();
        assert!(report.work <= 1e-12 * size, "{name}: contacts gained {} J of {size}", report.work);
    }
}

#[test]
fn every_step_of_every_scene_is_certified() {
    for name in names() {
        let mut simulation = load(&name).simulation().unwrap_or_else(|e| panic!("{name}: {e}"));
        steps(&name, &mut simulation, 150);
    }
}

/// Generated scenes start without overlap, for any size, seed and kind; the same parameters give the same start.
#[test]
fn generated_scenes_start_apart() {
    let cases: [(&str, &[(&str, f64)]); 13] = [
        ("heap", &[("n", 60.0)]),
        ("heap", &[("n", 150.0), ("kind", 6.0), ("seed", 7.0)]),
        ("heap", &[("n", 30.0), ("kind", 4.0), ("size", 0.02)]),
        ("heap", &[("n", 1.0), ("kind", 5.0)]),
        ("kapla", &[("n", 41.0)]),
        ("wall", &[("rows", 9.0), ("columns", 4.0)]),
        ("hopper", &[("n", 100.0), ("seed", 3.0)]),
        ("hopper", &[("n", 20.0), ("opening", 0.1), ("slope", 0.6)]),
        ("ragdolls", &[("n", 12.0), ("seed", 2.0)]),
        ("bin-picking", &[("n", 40.0), ("seed", 5.0)]),
        ("bridge", &[("n", 40.0), ("angle", 1.4)]),
        ("chain", &[("n", 20.0), ("ends", 2.0)]),
        ("chain", &[("n", 7.0)]),
    ];
    for (name, parameters) in cases {
        let set: Vec<(String, f64)> = parameters.iter().map(|(k, x)| ((*k).to_string(), *x)).collect();
        let start = || {
            let scene = Scene::load(&folder().join(format!("{name}.toml")), &set).unwrap_or_else(|e| panic!("{e}"));
            scene.simulation().unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let mut simulation = start();
        assert_eq!(simulation.overlaps(), [], "{name} {parameters:?}");
        assert_eq!(simulation.ignored_overlaps(), [], "{name} {parameters:?}");
        assert_eq!(simulation.state().hash(), start().state().hash(), "{name} {parameters:?}");
    }
}

/// In towers and walls that are hit, faces that were parallel differ by the last digits of the motion, and contacts contradict each other at the level of the tolerance.
#[test]
fn contacts_that_nearly_contradict_each_other_are_resolved() {
    type Parameters = &'static [(&'static str, f64)];
    let cases: [(&str, f64, usize, Parameters); 4] = [
        ("kapla", 0.005, 45, &[("n", 40.0), ("mu", 0.646), ("speed", 3.83), ("hit", 0.44)]),
        ("kapla", 0.001, 60, &[("n", 60.0), ("mu", 0.642), ("speed", 1.83), ("hit", 0.73)]),
        ("wall", 0.005, 162, &[("rows", 8.0), ("columns", 4.0), ("mu", 0.647), ("mass", 5.0)]),
        // Here gaps are spread.
        ("wall", 0.002, 352, &[("rows", 10.0), ("columns", 6.0), ("mu", 0.736), ("mass", 50.0)]),
    ];
    for (name, dt, count, parameters) in cases {
        let set: Vec<(String, f64)> = parameters.iter().map(|(k, x)| ((*k).to_string(), *x)).collect();
        let mut scene = Scene::load(&folder().join(format!("{name}.toml")), &set).unwrap_or_else(|e| panic!("{e}"));
        scene.settings.dt = dt;
        let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut spread = 0.0f64;
        for _ in 0..count {
            let report = simulation.step().unwrap_or_else(|e| panic!("{name} {parameters:?}: {e}"));
            assert!(report.certificate <= 1e-10, "{name}: {}", report.certificate);
            spread = spread.max(report.gap_spread);
        }
        assert!(spread <= 1e-7, "{name}: gaps were set apart by {spread} m");
        assert!(spread > 0.0 || count != 352, "{name}: a step with gaps set apart says so");
    }
}

#[test]
fn snapshots_continue_bit_for_bit() {
    for name in names() {
        let scene = load(&name);
        let mut first = scene.simulation().unwrap();
        steps(&name, &mut first, 60);
        let snapshot = first.snapshot();
        let mut second = scene.simulation().unwrap();
        // A simulation that has been elsewhere: nothing of that may be left.
        steps(&name, &mut second, 7);
        second.restore(&snapshot).unwrap();
        assert_eq!(second.snapshot(), snapshot, "{name}");
        steps(&name, &mut first, 40);
        steps(&name, &mut second, 40);
        assert_eq!(first.state().hash(), second.state().hash(), "{name}");
        assert_eq!(first.snapshot(), second.snapshot(), "{name}");
    }
}

#[test]
fn two_threads_step_alike() {
    let hash = |name: &str| {
        let mut simulation = load(name).simulation().unwrap();
        steps(name, &mut simulation, 50);
        simulation.state().hash()
    };
    let names = ["grasp", "stack", "quad-terrain"];
    let alone = names.map(hash);
    let together = std::thread::scope(|scope| {
        let handles = names.map(|name| scope.spawn(move || hash(name)));
        handles.map(|h| h.join().unwrap())
    });
    assert_eq!(alone, together);
}

#[test]
fn the_loop_stays_closed() {
    let mut simulation = load("four-bar").simulation().unwrap();
    for _ in 0..20 {
        steps("four-bar", &mut simulation, 20);
        let bodies = stiction_sim::summary::bodies(&mut simulation);
        let end = |name: &str, reach: [f64; 3]| {
            let b = &bodies[name];
            let [w, x, y, z] = b.orientation;
            let q = stiction_body::math::Quat::from_xyzw(x, y, z, w);
            stiction_body::math::Vec3::from_array(b.position) + q * stiction_body::math::Vec3::from_array(reach)
        };
        let open = (end("coupler", [0.3, 0.0, 0.0]) - end("rocker", [0.0, 0.0, 0.25])).length();
        assert!(open < 1e-12, "{open}");
    }
    assert!(simulation.state().v[0].abs() > 0.1, "the crank turns: {:?}", simulation.state().v);
}

/// A loop is closed where the bodies are at the start, wherever that leaves their joints: here the crank starts at half a turn.
#[test]
fn a_loop_closes_where_its_joints_start() {
    let mut simulation = load("block-feeder").simulation().unwrap();
    let pusher = |simulation: &mut Simulation| stiction_sim::summary::bodies(simulation)["pusher"].position[0];
    let start = pusher(&mut simulation);
    steps("block-feeder", &mut simulation, 750);
    let stroke = pusher(&mut simulation) - start;
    assert!((stroke - 0.13).abs() < 1e-4, "twice the crank after half a turn: {stroke}");
}

//! Nothing is allocated in a steady-state step.

use std::alloc::System;
use std::path::PathBuf;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_sim::Scene;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The test harness allocates now and then in a thread of its own: the least of so many counts is the step's.
const TRIES: usize = 5;

/// Twenty steps after `settle` others allocate nothing.
fn check(scene: &Scene, settle: usize, name: &str) {
    let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut steps = |count: usize| {
        for _ in 0..count {
            simulation.step().unwrap();
        }
    };
    steps(settle);
    let count = |_| {
        let region = Region::new(GLOBAL);
        steps(20);
        let change = region.change();
        change.allocations + change.reallocations
    };
    assert_eq!((0..TRIES).map(count).min(), Some(0), "{name}");
}

#[test]
fn a_step_allocates_nothing() {
    for (name, settle) in [("grasp", 300), ("capsule", 300), ("stack", 100), ("quad-flat", 1500), ("four-bar", 300)] {
        for model in ["coulomb-cone", "no-slip"] {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
            let mut scene = Scene::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
            scene.settings.model = model.parse().unwrap();
            check(&scene, settle, &format!("{name}, {model}"));
        }
    }
    // Two arms on a rope with friction that comes to its end, and a motor that pulls at it.
    let robot = r#"<mujoco><worldbody><site name="up" pos="0 0 1"/>
<body><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/><site name="tip" pos="0.3 0 0"/></body>
<body pos="1 0 0"><joint name="b" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 -0.3 0 0"/><site name="end" pos="-0.3 0 0"/></body>
</worldbody><tendon><spatial name="rope" limited="true" range="0 2.3" frictionloss="0.1"><site site="tip"/><site site="up"/><site site="end"/></spatial></tendon>
<actuator><motor tendon="rope" gear="1"/></actuator></mujoco>"#;
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(directory.join("rope.xml"), robot).unwrap();
    let file = directory.join("rope.toml");
    std::fs::write(&file, "[[robots]]\nfile = \"rope.xml\"\n").unwrap();
    check(&Scene::load(&file, &[]).unwrap_or_else(|e| panic!("{e}")), 2000, "rope");
}

//! Nothing is allocated in a steady-state step.

use std::alloc::System;
use std::path::PathBuf;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_sim::Scene;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The test harness allocates now and then in a thread of its own: the least of so many counts is the step's.
const TRIES: usize = 5;

#[test]
fn a_step_allocates_nothing() {
    for (name, settle) in [("grasp", 300), ("capsule", 300), ("stack", 100), ("quad-flat", 1500), ("four-bar", 300)] {
        for model in ["coulomb-cone", "no-slip"] {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
            let mut scene = Scene::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
            scene.settings.model = model.into();
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
            let least = (0..TRIES).map(count).min();
            assert_eq!(least, Some(0), "{name}, {model}");
        }
    }
}

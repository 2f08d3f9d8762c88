//! The pivots of Lloyd's structural and reduced methods allocate nothing: what a solve allocates is its answer.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method, PolyhedralOptions};
use stiction_contact::{ContactModel, scenes};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Vectors of an outcome: forces, motion, modes, basis and their copies for the next start.
const ANSWER: usize = 40;

#[test]
fn no_allocation_per_pivot() {
    let problem = scenes::body_in_bowl(64, 0.3, 0.0, 5).unwrap();
    for (method, least) in [(Method::Structural, 100), (Method::Reduced, 10)] {
        let mut model = CoulombPolyhedral::new(PolyhedralOptions { method, ..PolyhedralOptions::default() }).unwrap();
        model.solve(&problem).unwrap();
        let region = Region::new(GLOBAL);
        let outcome = model.solve(&problem).unwrap();
        let change = region.change();
        let stats = &outcome.solved().expect("solved").stats;
        assert_eq!(stats.fallbacks, 0);
        assert!(stats.pivots >= least, "{method:?}: {} pivots", stats.pivots);
        let made = change.allocations + change.reallocations;
        assert!(made <= ANSWER, "{method:?}: {made} allocations in {} pivots", stats.pivots);
    }
}

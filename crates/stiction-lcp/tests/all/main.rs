//! Solvers, certificates, exact arithmetic and files. One program for all: every program is linked with the whole engine.

#[path = "../common/collection.rs"]
mod collection;
#[path = "../common/drawn.rs"]
mod drawn;
#[path = "../common/exact_measures.rs"]
mod exact_measures;
#[path = "../common/siconos.rs"]
mod siconos_files;

mod certificate_bounds;
mod classify;
mod conformance;
mod dantzig;
mod exact;
mod exact_enumerate;
mod extremes;
mod factored;
mod factored_any_e;
mod factored_edges;
mod factored_principal;
mod files;
mod hard_families;
mod interior;
mod interrupt;
mod reduce;
mod regressions;
mod tolerances;
mod warm_start;

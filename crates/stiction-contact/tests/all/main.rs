//! Contact models, certificates and files. One program for all: every program is linked with the whole engine.

#[path = "../common/delassus.rs"]
mod delassus;
#[path = "../common/hdf5.rs"]
mod hdf5_writer;
#[path = "../../../stiction-lcp/tests/common/siconos.rs"]
mod siconos_files;

mod baraff_friction;
mod certificate;
mod contact_files;
mod coulomb_cone;
mod coulomb_cone_steps;
mod coulomb_polyhedral;
mod coulomb_pyramid;
mod coulomb_pyramid_soak;
mod drumwright_shell;
mod files;
mod files_hdf5;
mod grasp;
mod infinite_friction;
mod interrupt;
mod large_friction_problems;
mod normal_models;
mod rolling_friction;
mod tolerances;
mod torsion;
mod warm_start;

//! Rigid contact with friction, from matrices alone.
//!
//! A [`ContactProblem`] is inertia, velocities, forces and the rows of everything that touches or holds; where it comes from (your own dynamics, Pinocchio, Drake)
//! does not matter. A [`ContactModel`] turns it into forces and motion under one of the laws of the literature, and every answer carries a
//! [`PhysicalCertificate`] computed from the problem as given.
//!
//! ```
//! use stiction_contact::{Contact, ContactModel, ContactOutcome, ContactProblem, CoulombCone, Mass, Mode};
//! use stiction_lcp::Matrix;
//!
//! // A particle of 2 kg slides over the floor at 1 m/s, 10 ms steps: velocities (x, y, z).
//! let mass = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.0 })])?;
//! let mut problem = ContactProblem::new(mass, vec![1.0, 0.0, 0.0], vec![0.0, 0.0, -20.0], 0.01)?;
//! let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
//! problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) })?;
//!
//! let mut model = CoulombCone::default(); // keeps its workspace: use it again
//! match model.solve(&problem)? {
//!     ContactOutcome::Solved(solution) => {
//!         assert!((solution.motion[0] - 0.95).abs() < 1e-15); // braked by mu g dt
//!         assert!((solution.forces.normal[0] - 0.2).abs() < 1e-15); // an impulse, N s
//!         assert_eq!(solution.modes, [Mode::Slide]);
//!         assert!(solution.certificate.holds(1e-10));
//!         // The next step is often like this one: its modes and forces are the start for that.
//!         let again = model.solve_from(&problem, Some(&solution.warm_start))?;
//!         assert_eq!(again.solved().unwrap().stats.pivots, 0);
//!     }
//!     other => println!("not solved: {}", other.name()),
//! }
//! # Ok::<(), stiction_lcp::InputError>(())
//! ```
//!
//! # Models
//!
//! | model | level | law |
//! |---|---|---|
//! | [`CoulombCone`] | velocity, acceleration | Coulomb with the quadratic cone: the default |
//! | [`CoulombPolyhedral`] | velocity | Coulomb with a cone of d sides; Lloyd's three methods |
//! | [`CoulombPyramid`] | acceleration | Coulomb with a pyramid; rolling, sliding, soft fingers, quasistatics |
//! | [`Frictionless`] | velocity, acceleration | Signorini alone |
//! | [`Viscous`] | velocity, acceleration | drag in proportion to slip |
//! | [`NoSlip`] | velocity | touching contacts do not slip |
//! | [`BaraffFriction`] | acceleration | static and dynamic friction by the driving method; rays become impacts |
//! | [`DrumwrightShell`] | velocity | least kinetic energy within the cones |
//!
//! [`models::catalog`] has the same table for programs. A problem given only by its Delassus operator is a [`FrictionProblem`]:
//! [`CoulombCone::solve_friction`] takes it, and [`FrictionLcp`] makes a complementarity problem of it.
//!
//! # Where things are
//!
//! Follow the data: [`problem`], `mass` and [`rows`] are what is given; [`islands`] and `whitened` prepare it; [`models`] solve; `by_island` puts the answers
//! together; [`certificate`] judges them from [`problem`] alone; `solution` and [`model`] are what comes out. `separate_islands` gives a model one island at a time, on
//! several threads. [`find_indices`] finds independent rows. [`io`] reads
//! friction problems; [`scenes`] makes problems for tests, benchmarks and experiments.
mod by_island;
pub mod certificate;
mod check;
pub mod find_indices;
pub mod friction_certificate;
mod friction_lcp;
mod friction_problem;
pub mod io;
pub mod islands;
mod mass;
pub mod model;
pub mod models;
pub mod problem;
pub mod rows;
pub mod scenes;
mod separate_islands;
mod solution;
pub mod sparse;
pub mod tolerances;
mod twins;
mod whitened;

pub use certificate::{Certifier, Law, PhysicalCertificate, Place};
pub use friction_certificate::{FrictionCertificate, certify_friction};
pub use friction_lcp::{FrictionLaw, FrictionLcp};
pub use friction_problem::{FrictionProblem, GlobalFrictionProblem};
pub use islands::{Island, Islands};
pub use mass::{Layout, Mass};
pub use model::{
    ContactModel, ContactOutcome, ContactStats, Elapsed, Level, ListedMethod, Mode, ModelOptions, WarmStart,
};
#[cfg(feature = "clarabel")]
pub use models::DrumwrightShell;
pub use models::catalog::{ModelKind, SolverKind};
pub use models::{
    BaraffFriction, CoulombCone, CoulombPolyhedral, CoulombPyramid, Frictionless, NoSlip, NoSlipOptions, NormalOptions,
    NormalSolver, PolyhedralOptions, PyramidMethod, PyramidOptions, Viscous,
};
pub use problem::{CONTACT_ROWS, Contact, ContactBatch, ContactProblem};
pub use rows::Rows;
pub use separate_islands::SeparateIslands;
pub use solution::{ContactForces, ContactSolution, Resultant};
pub use sparse::SparseMatrix;
pub use stiction_lcp::InputError;
pub use tolerances::Tolerances;

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

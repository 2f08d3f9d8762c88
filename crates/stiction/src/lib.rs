//! Rigid contact, computed exactly and proven: the front of the engine.
//!
//! A robot's foot, a grasped object, a brick in a wall: each touch either pushes or parts, sticks or slides. Most engines
//! soften that law until it is easy to compute. This one keeps it: every answer carries a certificate, computed from the
//! problem as given by code that shares nothing with the solver, and is not called solved unless the certificate holds.
//!
//! # The way data flows
//!
//! ```text
//!  scene, URDF, MJCF            your own inertia and rows             your own M and q
//!         │                                │                                 │
//!         ▼                                ▼                                 ▼
//!   Scene ─► World ─► Simulation ─► ContactProblem ─► ContactModel ─► Lcp ─► Solver
//!    sim     sim         │    ▲         contact          contact       lcp     lcp
//!                        │    │                             │                   │
//!           bodies and   │    │      ContactOutcome:        │     Outcome:      │
//!           collision ◄──┘    └───── forces, motion, ◄──────┴──── z, basis, ◄───┘
//!             body                   certificate                  certificate
//! ```
//!
//! One may enter at each of the three arrows from above. [`sim`], [`contact`], [`lcp`] and [`body`] are the crates
//! `stiction-sim`, `stiction-contact`, `stiction-lcp` and `stiction-body`; [`prelude`] has what most programs need.
//!
//! # A scene
//!
//! ```
//! use std::path::Path;
//! use stiction::prelude::*;
//!
//! let text = r#"
//! dt = 0.001
//! [material]
//! friction = 0.5
//! [[bodies]]
//! name = "ground"
//! fixed = true
//! shape = { plane = true }
//! [[bodies]]
//! name = "cube"
//! mass = 1.0
//! position = [0, 0, 0.1]
//! velocity = [1, 0, 0]
//! shape = { box = [0.2, 0.2, 0.2] }
//! "#;
//! let mut simulation = Scene::parse(text, Path::new("."), &[])?.simulation()?;
//! for _ in 0..300 {
//!     let report = simulation.step()?;
//!     assert!(report.certificate <= 1e-10);
//! }
//! // Friction has stopped it after v² / (2 mu g), and it does not creep.
//! assert!((simulation.state().q[0] - 1.0 / (2.0 * 0.5 * 9.81)).abs() < 1e-3);
//! assert!(simulation.state().v[0].abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A contact problem of one's own
//!
//! Inertia, velocities, forces, and a row per direction of contact; where they come from does not matter.
//!
//! ```
//! use stiction::prelude::*;
//!
//! // A particle of 2 kg is pushed along the floor with 4 N, less than friction can hold (0.5 · 20 N), for 10 ms.
//! let mass = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.0 })])?;
//! let mut problem = ContactProblem::new(mass, vec![0.0; 3], vec![4.0, 0.0, -20.0], 0.01)?;
//! let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
//! problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) })?;
//!
//! let outcome = CoulombCone::default().solve(&problem)?;
//! let solution = outcome.solved().expect("Coulomb's law has a solution here");
//! assert_eq!(solution.modes, [Mode::Stick]);
//! assert!(solution.certificate.holds(1e-10));
//! # Ok::<(), InputError>(())
//! ```
//!
//! # A complementarity problem
//!
//! ```
//! use stiction::prelude::*;
//!
//! // Two contacts that share one body: M is singular, as redundant contacts make it.
//! let problem = Lcp::new(Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]])?, vec![-1.0, -1.0])?;
//! match Auto::new(Options::default()).solve(&problem)? {
//!     Outcome::Solved(solved) => assert_eq!(solved.z.iter().sum::<f64>(), 1.0),
//!     other => panic!("{}", other.name()),
//! }
//! # Ok::<(), InputError>(())
//! ```

pub use stiction_body as body;
pub use stiction_contact as contact;
pub use stiction_lcp as lcp;
pub use stiction_sim as sim;

/// What most programs need: `use stiction::prelude::*;`.
pub mod prelude {
    pub use stiction_contact::{
        Contact, ContactModel, ContactOutcome, ContactProblem, CoulombCone, Mass, Mode, NoSlip,
    };
    pub use stiction_lcp::{Auto, InputError, Lcp, Matrix, Options, Outcome, Solver};
    pub use stiction_sim::{Scene, SceneError, Settings, Simulation};
}

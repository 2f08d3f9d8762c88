//! Rigid contact, computed exactly and proven: the front of the engine.
//!
//! [`lcp`] has complementarity problems and solvers, [`contact`] contact problems and models, [`body`] bodies and collision, [`sim`] scenes and simulators;
//! [`papers`] the experiments of the four papers that the engine implements. [`prelude`] has what most programs need.

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

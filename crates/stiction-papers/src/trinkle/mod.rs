//! Trinkle, Pang, Sudarsky and Lo 1995: dynamic contact problems with Coulomb friction. Table 1, and what the paper's propositions say of its
//! problems.
//!
//! The page `docs/papers/trinkle.md` says what the paper did and where we differ.
mod cone;
mod data;
mod decide;
mod formulation;
mod layout;
mod plans;
mod scene;
mod table1;
mod theorems;
mod trial;

pub use data::{DataSet, Friction, coefficients, data_sets, scene};
pub use formulation::Formulation;
pub use plans::{PLANS, Plan};
pub use scene::Scene;

use super::Experiment;

/// The paper's experiments, in its order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(table1::Table1), Box::new(cone::Cone), Box::new(theorems::Theorems)]
}

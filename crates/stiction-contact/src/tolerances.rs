//! Tolerances of the models' own decisions: which row counts as dependent, which force as rounding, which step as the last.
//!
//! One small struct per model, in its module; [`ModelOptions`](crate::ModelOptions) carry all but that of the
//! Drumwright–Shell model, which it holds itself. None decides what is certified. Those of the complementarity solvers below are
//! [`stiction_lcp::Tolerances`]. The test `tolerances` varies every field by ten both ways, and holds that outcomes stay the same.

use crate::find_indices;
use crate::models::{baraff_friction, coulomb_cone, coulomb_polyhedral, coulomb_pyramid, no_slip, normal_problem};

stiction_lcp::tolerances_of_methods! {
    /// The tolerances of all models. See the [module](self).
    Tolerances {
        /// Which rows that must hold are independent.
        find_indices: find_indices::Tolerances,
        /// Frictionless, viscous and no-slip contact.
        normal_problem: normal_problem::Tolerances,
        /// No slip.
        no_slip: no_slip::Tolerances,
        /// Lloyd's methods.
        coulomb_polyhedral: coulomb_polyhedral::Tolerances,
        /// The cone: its search on the velocities.
        coulomb_cone: coulomb_cone::Tolerances,
        /// The friction pyramid.
        coulomb_pyramid: coulomb_pyramid::Tolerances,
        /// Baraff's driving method with friction.
        baraff_friction: baraff_friction::Tolerances,
    }
}

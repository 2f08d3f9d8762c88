//! The law of contact without friction.

use crate::certificate::{ContactView, Law};
use crate::model::Level;

/// No tangential force, whatever the coefficients of the contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrictionlessLaw {
    /// What was solved for.
    pub level: Level,
}

impl Law for FrictionlessLaw {
    fn level(&self) -> Level {
        self.level
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        contact.no_friction()
    }

    fn holds_at_rest(&self, p: [f64; 4], _mu: f64, _mu_spin: f64) -> bool {
        p[1..] == [0.0; 3]
    }
}

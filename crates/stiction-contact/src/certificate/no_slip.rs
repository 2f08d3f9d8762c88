//! The law of contact without slip.

use crate::certificate::{ContactView, Law, MOTION_TOLERANCE};
use crate::model::Level;

/// No slip at touching contacts, and no spin where the spin coefficient is not zero; no tangential force at the others.
/// Rolling is no slip, and nothing resists it.
///
/// With `release`, a touching contact either does not slip or has no tangential force, and one that parts has none.
///
/// Reference: [Drumwright15, §VI].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSlipLaw {
    /// Whether contacts that part are released.
    pub release: bool,
}

impl Law for NoSlipLaw {
    fn level(&self) -> Level {
        Level::Velocity
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        let parts = contact.u[0] > MOTION_TOLERANCE * contact.omega[0];
        if !contact.touching || (self.release && parts) {
            return contact.no_friction();
        }
        let slip = |k: usize| ContactView::ratio(contact.u[k], contact.omega[k]);
        let spin = if contact.mu_spin > 0.0 {
            slip(3)
        } else {
            ContactView::ratio(contact.w[3] * contact.p[3], contact.omega[3])
        };
        let held = slip(1).max(slip(2)).max(spin).max(contact.no_rolling());
        if self.release { held.min(contact.no_friction()) } else { held }
    }

    fn rounds_forces(&self, contact: &ContactView) -> bool {
        self.release || !contact.touching
    }

    fn holds_at_rest(&self, [.., spin]: [f64; 4], _mu: f64, mu_spin: f64) -> bool {
        spin == 0.0 || mu_spin > 0.0
    }

    fn holds_tangents(&self, _mu_viscous: f64) -> bool {
        !self.release
    }

    fn holds_spin(&self, mu_spin: f64) -> bool {
        !self.release && mu_spin > 0.0
    }
}

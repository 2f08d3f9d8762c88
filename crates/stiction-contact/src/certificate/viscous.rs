//! The law of viscous friction.

use crate::certificate::{ContactView, Law};
use crate::model::Level;

/// Along each tangent of a touching contact `f = −mu_v · slip`: of the present slip at acceleration level, of that after the step at velocity
/// level, where the impulse is `p = −dt mu_v u`. An infinite mu_v asks for no slip. No moment about the normal.
///
/// With `c = dt mu_v` the measure at velocity level is `|p + c u| / (1/W + c)` beside the terms of u: a residual in slip speed where c is large, one in
/// force where it is small.
///
/// Reference: [Drumwright15, §IV].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViscousLaw {
    /// What was solved for.
    pub level: Level,
}

impl Law for ViscousLaw {
    fn level(&self) -> Level {
        self.level
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        if !contact.touching {
            return contact.no_friction();
        }
        (1..3).map(|k| self.residual(contact, k)).fold(contact.no_moment(), f64::max)
    }

    fn holds_tangents(&self, mu_viscous: f64) -> bool {
        self.level == Level::Velocity && mu_viscous == f64::INFINITY
    }
}

impl ViscousLaw {
    /// How much tangent `k` violates the law.
    fn residual(&self, contact: &ContactView, k: usize) -> f64 {
        let (p, u, w, mu) = (contact.p[k], contact.u[k], contact.w[k], contact.mu_viscous);
        match self.level {
            Level::Acceleration => {
                let drag = mu * contact.slip[k - 1];
                let size = contact.omega[k] + w * mu * contact.slip_omega[k - 1];
                ContactView::ratio(w * (p + drag), size)
            }
            Level::Velocity if mu == f64::INFINITY => ContactView::ratio(u, contact.omega[k]),
            Level::Velocity => {
                let c = contact.dt * mu;
                ContactView::ratio(w * (p + c * u) / (1.0 + w * c), contact.omega[k])
            }
        }
    }
}

//! Coulomb's law with its quadratic cone, as its certificate sees it.
//!
//! At velocity level, and for contacts that roll at acceleration level, the friction of a contact is the force in the disc of radius `μ p_n` that dissipates most:
//! `p_t = P(p_t − u_t / W_t)` with P the projection onto the disc. A contact that slides at
//! acceleration level has `p_t = −μ p_n` times the direction of its slip. The moment about the normal, at velocity level, is in the same way the one
//! in `±μ_spin p_n` that dissipates most, and the moment against rolling the one in the disc of radius `μ_roll p_n`.
//!
//! μ = ∞ is the limit of this: a contact that is pressed does not slip, one that parts has no friction, and between the two, where neither a normal force
//! nor a separation speed is above zero, it does not slip or its friction is along the slip and against it, however large. The same holds for μ_spin = ∞
//! and the spin.
//!
//! Reference: [Trinkle95, §3.1], [Drumwright15, §III-C].

use super::measures::{SHORT_ROUNDING, length};
use super::{ContactView, Law, MOTION_TOLERANCE, natural};
use crate::model::Level;

/// The law of the quadratic friction cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConeLaw {
    /// Velocity or acceleration.
    pub level: Level,
}

impl Law for ConeLaw {
    fn level(&self) -> Level {
        self.level
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        if !contact.touching || (contact.mu == 0.0 && contact.mu_spin == 0.0 && contact.mu_roll == 0.0) {
            return contact.no_friction();
        }
        if contact.p.iter().any(|p| !p.is_finite()) {
            return f64::INFINITY;
        }
        let tangential = match self.slip(contact) {
            Some(direction) => sliding(contact, direction),
            None => friction(contact),
        };
        tangential.max(moment(contact)).max(rolling(contact))
    }

    fn holds_at_rest(&self, [normal, s, t, spin]: [f64; 4], mu: f64, mu_spin: f64) -> bool {
        let most = (1.0 - SHORT_ROUNDING) * normal;
        length([s, t]) <= mu * most && spin.abs() <= mu_spin * most
    }

    /// Well inside its disc the measure is of the motion alone.
    fn rounds_forces(&self, contact: &ContactView) -> bool {
        let (p, u) = ([contact.p[1], contact.p[2]], [contact.u[1], contact.u[2]]);
        let radius = (1.0 - SHORT_ROUNDING) * contact.mu * contact.p[0];
        let is_inside = length(p) + length(u) / contact.w_tangent() < radius;
        !(self.level == Level::Velocity && contact.touching && is_inside)
    }
}

impl ConeLaw {
    /// The direction of a slip that is there now; at velocity level only the slip to come counts.
    fn slip(&self, contact: &ContactView) -> Option<[f64; 2]> {
        let speed = |k: usize| {
            if contact.slip[k].abs() > MOTION_TOLERANCE * contact.slip_omega[k] { contact.slip[k] } else { 0.0 }
        };
        let (s, t) = (speed(0), speed(1));
        let speed = length([s, t]);
        (self.level == Level::Acceleration && speed > 0.0).then(|| [s / speed, t / speed])
    }
}

/// The residual of friction along the tangents.
fn friction(contact: &ContactView) -> f64 {
    let (w, omega) = (contact.w_tangent(), contact.omega_tangent());
    let (p, u) = ([contact.p[1], contact.p[2]], [contact.u[1], contact.u[2]]);
    if contact.mu.is_infinite() {
        let along = p[0] * u[0] + p[1] * u[1];
        // The slip less the ray −κ p, κ ≥ 0.
        let kappa = if along < 0.0 { -along / (p[0] * p[0] + p[1] * p[1]) } else { 0.0 };
        let askew = length([u[0] + kappa * p[0], u[1] + kappa * p[1]]);
        let [force, slip, askew] = [length(p) * w, length(u), askew].map(|x| ContactView::ratio(x, omega));
        return without_limit(contact, force, slip, askew);
    }
    disc(p, u, w, omega, contact.mu * contact.p[0].max(0.0))
}

/// `|p − P(p − u / W)| W / ω` with P the projection onto the disc of this radius.
fn disc(p: [f64; 2], u: [f64; 2], w: f64, omega: f64, radius: f64) -> f64 {
    if w == 0.0 {
        return ContactView::ratio(length(u), omega);
    }
    let y = [p[0] - u[0] / w, p[1] - u[1] / w];
    let reach = length(y);
    if reach <= radius {
        return ContactView::ratio(length(u), omega);
    }
    let scale = radius / reach;
    ContactView::ratio(length([p[0] - scale * y[0], p[1] - scale * y[1]]) * w, omega)
}

/// The residual of the moment about the normal: the one within `±μ_spin p_n` that dissipates most.
fn moment(contact: &ContactView) -> f64 {
    if contact.mu_spin.is_infinite() {
        let (p, u) = (contact.p[3], contact.u[3]);
        let [force, spin] = [contact.w[3] * p, u].map(|x| ContactView::ratio(x.abs(), contact.omega[3]));
        return without_limit(contact, force, spin, if p * u < 0.0 { 0.0 } else { spin });
    }
    let most = contact.mu_spin * contact.p[0].max(0.0);
    natural(contact.p[3], contact.u[3], contact.w[3], contact.omega[3], -most, most)
}

/// The residual of the moment against rolling: the one in the disc of radius `μ_roll p_n` that dissipates most.
fn rolling(contact: &ContactView) -> f64 {
    let (w, p, u) = (contact.w[4].max(contact.w[5]), [contact.p[4], contact.p[5]], [contact.u[4], contact.u[5]]);
    if w == 0.0 {
        // Nothing rolls, and a moment would move nothing.
        return if p == [0.0; 2] { 0.0 } else { f64::INFINITY };
    }
    disc(p, u, w, length([contact.omega[4], contact.omega[5]]), contact.mu_roll * contact.p[0].max(0.0))
}

/// The residual of friction without a limit, given its force, the slip, and what of the slip the force does not oppose, each beside its terms: the least
/// of the three ways to obey the law.
fn without_limit(contact: &ContactView, force: f64, slip: f64, askew: f64) -> f64 {
    let pressed = ContactView::ratio((contact.w[0] * contact.p[0]).max(0.0), contact.omega[0]);
    let parting = ContactView::ratio(contact.u[0].max(0.0), contact.omega[0]);
    let (holds, is_free) = (slip.max(parting), force.max(pressed));
    let slides = askew.max(pressed).max(parting);
    holds.min(is_free).min(slides)
}

fn sliding(contact: &ContactView, direction: [f64; 2]) -> f64 {
    let residual = |k: usize| contact.p[k + 1] + contact.mu * contact.p[0] * direction[k];
    ContactView::ratio(contact.w_tangent() * length([residual(0), residual(1)]), contact.omega_tangent())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still() -> ContactView {
        ContactView::still(Level::Velocity)
    }

    #[test]
    fn each_way_to_break_the_law_is_seen() {
        let residual = |view: ContactView| ConeLaw { level: Level::Velocity }.friction(&view);
        assert_eq!(residual(still()), 0.0);
        assert_eq!(residual(ContactView { p: [10.0, 3.0, -4.0, 0.0, 0.0, 0.0], ..still() }), 0.0, "the cone's surface");
        assert!(
            residual(ContactView { p: [10.0, 5.0, -5.0, 0.0, 0.0, 0.0], ..still() }) > 0.1,
            "the pyramid's edge is outside"
        );
        assert!(
            residual(ContactView {
                p: [10.0, -3.0, 4.0, 0.0, 0.0, 0.0],
                u: [0.0, 0.6, -0.8, 0.0, 0.0, 0.0],
                ..still()
            }) < 1e-15,
            "slides"
        );
        assert!(
            residual(ContactView {
                p: [10.0, -4.0, 3.0, 0.0, 0.0, 0.0],
                u: [0.0, 0.6, -0.8, 0.0, 0.0, 0.0],
                ..still()
            }) > 0.01,
            "askew"
        );
        assert!(
            residual(ContactView { p: [10.0, -2.0, 0.0, 0.0, 0.0, 0.0], u: [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], ..still() })
                > 0.01,
            "slips inside"
        );
        let glued = ContactView { mu: f64::INFINITY, ..still() };
        assert_eq!(
            residual(ContactView { p: [0.0, 7.0, 0.0, 0.0, 0.0, 0.0], ..glued }),
            0.0,
            "neither pressed nor parting, it holds"
        );
        assert!(
            residual(ContactView { u: [0.0, 0.1, 0.0, 0.0, 0.0, 0.0], ..glued }) > 1e-3,
            "pressed, it may not slip"
        );
        let parts = ContactView { p: [0.0, -7.0, 0.0, 0.0, 0.0, 0.0], u: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..glued };
        assert!(residual(parts) > 0.04, "no friction where it parts");
        assert_eq!(
            residual(ContactView { p: [0.0; 6], u: [1.0, 2.0, 0.0, 0.0, 0.0, 0.0], ..glued }),
            0.0,
            "it parts and slips"
        );
        let between = ContactView { p: [0.0, -3.0, 4.0, 0.0, 0.0, 0.0], u: [0.0, 0.6, -0.8, 0.0, 0.0, 0.0], ..glued };
        assert!(residual(between) < 1e-16, "between the two, friction opposes the slip");
        assert!(
            residual(ContactView { u: [0.0, -0.6, 0.8, 0.0, 0.0, 0.0], ..between }) > 0.05,
            "and does not drive it"
        );
        assert!(residual(ContactView { u: [0.0, 0.8, 0.6, 0.0, 0.0, 0.0], ..between }) > 0.05, "nor turn it");
        let finger =
            ContactView { mu_spin: f64::INFINITY, omega: [20.0, 10.0, 10.0, 10.0, 0.0, 0.0], w: [1.0; 6], ..still() };
        assert!(
            residual(ContactView { u: [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], ..finger }) > 1e-3,
            "pressed, it may not spin"
        );
        let parts = ContactView { p: [0.0, 0.0, 0.0, 2.0, 0.0, 0.0], u: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..finger };
        assert!(residual(parts) > 0.04, "no moment where it parts");
        assert_eq!(residual(ContactView { p: [0.0; 6], u: [1.0, 0.0, 0.0, 0.5, 0.0, 0.0], ..finger }), 0.0);
        assert!(residual(ContactView { p: [10.0, 1.0, 0.0, 0.0, 0.0, 0.0], mu: 0.0, ..still() }) > 0.05);
        assert!(residual(ContactView { p: [10.0, 1.0, 0.0, 0.0, 0.0, 0.0], touching: false, ..still() }) > 0.05);
        let tyre = ContactView { mu_roll: 0.1, omega: [20.0, 10.0, 10.0, 0.0, 10.0, 10.0], w: [1.0; 6], ..still() };
        let rolls = ContactView { u: [0.0, 0.0, 0.0, 0.0, 0.6, -0.8], ..tyre };
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, -0.6, 0.8], ..rolls }) < 1e-15, "rolls");
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, -0.3, 0.4], ..rolls }) > 0.01, "resists too little");
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, 0.6, -0.8], ..rolls }) > 0.01, "drives");
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, 0.8, 0.6], ..rolls }) > 0.01, "askew");
        assert_eq!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, 0.3, 0.4], ..tyre }), 0.0, "holds");
        assert!(
            residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, 0.8, 0.8], ..tyre }) > 0.005,
            "the square's corner is outside"
        );
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 0.0, 0.1, 0.0], mu_roll: 0.0, ..tyre }) > 0.005);
        assert!(
            residual(ContactView { p: [0.0, 0.0, 0.0, 0.0, 0.1, 0.0], ..tyre }) > 0.005,
            "no moment without a normal force"
        );
        assert!(residual(ContactView { p: [10.0, f64::NAN, 0.0, 0.0, 0.0, 0.0], ..still() }).is_infinite());
    }

    #[test]
    fn sliding_at_acceleration_level_opposes_the_slip_there_is() {
        let residual = |view: ContactView| ConeLaw { level: Level::Acceleration }.friction(&view);
        let slides = ContactView { slip: [3.0, -4.0], slip_omega: [3.0, 4.0], level: Level::Acceleration, ..still() };
        assert!(
            residual(ContactView { p: [10.0, -3.0, 4.0, 0.0, 0.0, 0.0], u: [0.0, 9.0, 9.0, 0.0, 0.0, 0.0], ..slides })
                < 1e-15
        );
        assert!(residual(ContactView { p: [10.0, 3.0, -4.0, 0.0, 0.0, 0.0], ..slides }) > 0.1);
    }
}

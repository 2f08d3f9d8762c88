//! The certificate of Drumwright and Shell's convex impact model: least kinetic energy over impulses in the friction cones.
//!
//! The program is convex and has a multiplier for nothing but the cones, so impulses and motion prove their optimality by themselves: momentum,
//! bilateral, unilateral and bounded rows are in the shared certificate, and here, for a touching contact, `p ∈ K`, `u ∈ K*`, `p · u = 0`
//! with `K = {|p_t| ≤ μ p_n}` and `K* = {u_n ≥ μ |u_t|}`. All three hold exactly if `p = P_K(p − u/W)`; the measure is
//!
//! `|p − P_K(p − u/W)| · W / ω`, with W and ω the largest of the contact's three rows.
//!
//! Contacts that do not touch obey Signorini's condition and have no tangential impulse.
//!
//! Reference: [DrumwrightShell10, §3]; [Anitescu06, §2].

use super::{ContactView, Law, NormalLaw, natural};
use crate::model::Level;

/// The law of the convex impact model, at velocity level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShellLaw;

impl Law for ShellLaw {
    fn level(&self) -> Level {
        Level::Velocity
    }

    fn normal_law(&self) -> NormalLaw {
        NormalLaw::Unilateral
    }

    /// The cone itself: u in its dual makes no negative product with any of its points.
    fn allows_multipliers(&self, mu: f64, _mu_viscous: f64, y: [f64; 3]) -> bool {
        // Rounding of a point on the mantle is no objection: it moves the product by rounding.
        const ROUNDING: f64 = 1e-14;
        y[0] >= 0.0 && (mu == f64::INFINITY || libm::hypot(y[1], y[2]) <= mu * y[0] * (1.0 + ROUNDING))
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        let (p, w, omega) = (contact.p, contact.w, contact.omega);
        if p[3..] != [0.0; 3] {
            return f64::INFINITY;
        }
        if !contact.touching || contact.mu == 0.0 {
            let signorini = natural(p[0], contact.u[0], w[0], omega[0], 0.0, f64::INFINITY);
            return if p[1] == 0.0 && p[2] == 0.0 { signorini } else { f64::INFINITY };
        }
        let largest = w[0].max(w[1]).max(w[2]);
        let size = omega[0].max(omega[1]).max(omega[2]);
        if largest == 0.0 {
            return if p[..3] == [0.0; 3] { ContactView::ratio(contact.u[0].min(0.0), size) } else { f64::INFINITY };
        }
        // A tangent that nothing moves along has no slip.
        let slip = |k: usize| if w[k] > 0.0 { contact.u[k] } else { 0.0 };
        let from = [p[0] - contact.u[0] / largest, p[1] - slip(1) / largest, p[2] - slip(2) / largest];
        let onto = nearest_in_cone(from, contact.mu);
        let residual = (p[0] - onto[0]).abs().max(libm::hypot(p[1] - onto[1], p[2] - onto[2]));
        ContactView::ratio(residual * largest, size)
    }
}

/// The point of `|q_t| ≤ μ q_n` nearest to q.
fn nearest_in_cone(q: [f64; 3], mu: f64) -> [f64; 3] {
    let slide = libm::hypot(q[1], q[2]);
    if mu == f64::INFINITY {
        return [q[0].max(0.0), q[1], q[2]];
    }
    if slide <= mu * q[0] {
        return q;
    }
    if mu * slide <= -q[0] {
        return [0.0; 3];
    }
    // On the ray (1, μ e): its length by the product with the unit vector along it, written so that no large μ overflows.
    let normal = if mu <= 1.0 {
        (q[0] + mu * slide) / (1.0 + mu * mu)
    } else {
        let k = 1.0 / mu;
        k * (k * q[0] + slide) / (1.0 + k * k)
    };
    [normal, mu * normal * (q[1] / slide), mu * normal * (q[2] / slide)]
}

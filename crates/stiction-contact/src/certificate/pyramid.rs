//! The friction pyramid of Trinkle et al. at acceleration level, as its certificate sees it.
//!
//! A contact that slips now has `c_t = −μ c_n` times the direction of its slip (10). One that does not has `|c_k| ≤ μ c_n` along each tangent (15),
//! and
//! `c_k = −μ c_n sign(a_k)` where it begins to slip along it (16). The moment of a soft finger is one more axis, with its own coefficient, and spins
//! or not whatever the tangents do. The two tangents are measured beside the size of their terms together: a motion along one of them that is
//! nothing but the rounding of the other's is none.
//!
//! Reference: [Trinkle95, §2.3–2.5].

use super::{ContactView, Law, MOTION_TOLERANCE, natural};
use crate::model::Level;

/// The law of the friction pyramid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PyramidLaw {
    /// Equilibrium instead of the balance of momentum.
    pub quasistatic: bool,
}

impl Law for PyramidLaw {
    fn level(&self) -> Level {
        Level::Acceleration
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        if !contact.touching {
            return contact.no_friction();
        }
        if contact.p.iter().any(|p| !p.is_finite()) {
            return f64::INFINITY;
        }
        let speed =
            |k: usize| if above_rounding(contact.slip[k], contact.slip_omega[k]) { contact.slip[k] } else { 0.0 };
        let slip = [speed(0), speed(1)];
        let size = contact.omega_tangent();
        let along = if slip == [0.0; 2] {
            rolling(contact, 1, contact.mu, size).max(rolling(contact, 2, contact.mu, size))
        } else {
            sliding(contact, slip, size)
        };
        let about = if above_rounding(contact.spin_now, contact.spin_omega) {
            let residual = contact.p[3] + contact.mu_spin * contact.p[0] * contact.spin_now.signum();
            ContactView::ratio(contact.w[3] * residual, contact.omega[3])
        } else {
            rolling(contact, 3, contact.mu_spin, contact.omega[3])
        };
        along.max(about).max(contact.no_rolling())
    }

    fn quasistatic(&self) -> bool {
        self.quasistatic
    }
}

fn above_rounding(speed: f64, size: f64) -> bool {
    speed.abs() > MOTION_TOLERANCE * size
}

/// The residual of (15) and (16) along axis `k`, beside `size`.
fn rolling(contact: &ContactView, k: usize, mu: f64, size: f64) -> f64 {
    let most = mu * contact.p[0].max(0.0);
    natural(contact.p[k], contact.u[k], contact.w[k], size, -most, most)
}

/// The residual of (10), beside `size`.
fn sliding(contact: &ContactView, slip: [f64; 2], size: f64) -> f64 {
    let speed = libm::hypot(slip[0], slip[1]);
    let residual = |k: usize| contact.p[k + 1] + contact.mu * contact.p[0] * (slip[k] / speed);
    ContactView::ratio(contact.w_tangent() * libm::hypot(residual(0), residual(1)), size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still() -> ContactView {
        ContactView::still(Level::Acceleration)
    }

    #[test]
    fn each_way_to_break_the_law_is_seen() {
        let residual = |view: ContactView| PyramidLaw::default().friction(&view);
        assert_eq!(residual(still()), 0.0);
        assert_eq!(residual(ContactView { p: [10.0, 5.0, -5.0, 0.0, 0.0, 0.0], ..still() }), 0.0, "the pyramid's edge");
        assert!(residual(ContactView { p: [10.0, 6.0, 0.0, 0.0, 0.0, 0.0], ..still() }) > 0.05, "outside");
        assert!(
            residual(ContactView { p: [10.0, 4.0, 0.0, 0.0, 0.0, 0.0], u: [0.0, -1.0, 0.0, 0.0, 0.0, 0.0], ..still() })
                > 0.05,
            "slips inside"
        );
        assert_eq!(
            residual(ContactView { p: [10.0, 5.0, 0.0, 0.0, 0.0, 0.0], u: [0.0, -1.0, 0.0, 0.0, 0.0, 0.0], ..still() }),
            0.0
        );
        assert!(
            residual(ContactView { p: [10.0, 5.0, 0.0, 0.0, 0.0, 0.0], u: [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], ..still() })
                > 0.05,
            "pushes along"
        );
        let slides = ContactView { slip: [3.0, -4.0], slip_omega: [3.0, 4.0], ..still() };
        assert!(residual(ContactView { p: [10.0, -3.0, 4.0, 0.0, 0.0, 0.0], ..slides }) < 1e-15);
        assert!(
            residual(ContactView { p: [10.0, -5.0, 5.0, 0.0, 0.0, 0.0], ..slides }) > 0.05,
            "the edge, where it must oppose"
        );
        assert!(residual(ContactView { p: [10.0, 1.0, 0.0, 0.0, 0.0, 0.0], touching: false, ..still() }) > 0.05);
        let finger = ContactView { w: [1.0; 6], omega: [20.0; 6], mu_spin: 0.1, ..still() };
        assert_eq!(residual(ContactView { p: [10.0, 0.0, 0.0, 1.0, 0.0, 0.0], ..finger }), 0.0);
        assert!(residual(ContactView { p: [10.0, 0.0, 0.0, 2.0, 0.0, 0.0], ..finger }) > 0.04);
        assert!(
            residual(ContactView { p: [10.0, 0.0, 0.0, 0.5, 0.0, 0.0], spin_now: 1.0, spin_omega: 1.0, ..finger })
                > 0.04
        );
        assert_eq!(
            residual(ContactView { p: [10.0, 0.0, 0.0, -1.0, 0.0, 0.0], spin_now: 1.0, spin_omega: 1.0, ..finger }),
            0.0
        );
        assert_eq!(residual(ContactView { p: [f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], ..still() }), f64::INFINITY);
    }
}

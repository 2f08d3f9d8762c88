//! The law of [`BaraffFriction`](crate::models::BaraffFriction).
//!
//! A contact that slips has *dynamic* friction: `f_F = −μ f_N s`, s the direction of its slip, whatever its tangential acceleration. One that does not
//! has *static* friction ([Baraff94, Eqs. 16, 21, 22]), with `f_F` and `a_F` vectors in the tangent plane (numbers if it is planar):
//!
//! ```text
//! |f_F| ≤ μ f_N,    f_F · a_F ≤ 0,    |f_F| = μ f_N or a_F = 0.
//! ```
//!
//! In the plane this is Coulomb's law. In space it is weaker: the force on the rim of the cone need only be *partially* opposed to the acceleration.

use super::{ContactView, Law, MOTION_TOLERANCE};
use crate::model::Level;

/// Static and dynamic friction as in Baraff's paper.
///
/// At velocity level every contact has static friction, with velocities after the impact in place of accelerations.
///
/// Reference: [Baraff94, §5.1, §5.6, §6].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaraffLaw {
    /// Acceleration, or velocity for the impact that follows a ray.
    pub level: Level,
}

impl Law for BaraffLaw {
    fn level(&self) -> Level {
        self.level
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        if !contact.touching || contact.mu == 0.0 {
            return contact.no_friction();
        }
        let (speed, terms) = (length(contact.slip), length(contact.slip_omega));
        let slips = self.level == Level::Acceleration && speed > MOTION_TOLERANCE * terms;
        contact.no_moment().max(if slips { dynamic(contact, speed) } else { fixed(contact) })
    }
}

/// `f_F + μ f_N s`, beside the force that would undo the tangential motion's terms.
fn dynamic(contact: &ContactView, speed: f64) -> f64 {
    let most = contact.mu * contact.p[0];
    let residual = [contact.p[1] + most * contact.slip[0] / speed, contact.p[2] + most * contact.slip[1] / speed];
    ContactView::ratio(contact.w_tangent() * length(residual), contact.omega_tangent())
}

/// The worst of cone, direction, and force on the rim or no acceleration.
fn fixed(contact: &ContactView) -> f64 {
    let (f, a) = ([contact.p[1], contact.p[2]], [contact.u[1], contact.u[2]]);
    let (w, omega, force) = (contact.w_tangent(), contact.omega_tangent(), length(f));
    let room = contact.mu * contact.p[0] - force;
    let cone = ContactView::ratio(w * (-room).max(0.0), omega);
    let along = f[0] * a[0] + f[1] * a[1];
    let direction = ContactView::ratio(along.max(0.0), force * omega);
    let rim_or_rest = ContactView::ratio(w * room.abs(), omega).min(ContactView::ratio(length(a), omega));
    cone.max(direction).max(rim_or_rest)
}

fn length(a: [f64; 2]) -> f64 {
    stiction_lcp::matrix::norm(&a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(p: [f64; 3], u: [f64; 3], slip: [f64; 2]) -> ContactView {
        ContactView {
            p: [p[0], p[1], p[2], 0.0, 0.0, 0.0],
            u: [u[0], u[1], u[2], 0.0, 0.0, 0.0],
            omega: [10.0; 6],
            w: [1.0; 6],
            slip,
            slip_omega: [1.0; 2],
            ..ContactView::still(Level::Acceleration)
        }
    }

    fn residual(p: [f64; 3], u: [f64; 3], slip: [f64; 2]) -> f64 {
        BaraffLaw { level: Level::Acceleration }.friction(&view(p, u, slip))
    }

    #[test]
    fn static_friction() {
        assert_eq!(residual([10.0, 3.0, 4.0], [0.0, 0.0, 0.0], [0.0; 2]), 0.0);
        assert_eq!(residual([10.0, 3.0, 4.0], [0.0, -1.0, 0.0], [0.0; 2]), 0.0, "partially opposed is enough");
        assert!(residual([10.0, 3.0, 4.1], [0.0; 3], [0.0; 2]) > 1e-3, "outside the cone");
        assert!(residual([10.0, 3.0, 4.0], [0.0, 1.0, 0.0], [0.0; 2]) > 1e-3, "along the acceleration");
        assert!(residual([10.0, 3.0, 3.0], [0.0, -1.0, 0.0], [0.0; 2]) > 1e-3, "inside the cone and moving");
        assert_eq!(residual([0.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0; 2]), 0.0);
    }

    #[test]
    fn dynamic_friction() {
        assert_eq!(residual([10.0, -3.0, 4.0], [0.0, 9.0, 9.0], [3e-3, -4e-3]), 0.0);
        assert!(residual([10.0, -3.0, 3.9], [0.0; 3], [3e-3, -4e-3]) > 1e-3);
        assert!(residual([10.0, 0.0, 0.0], [0.0; 3], [3e-3, -4e-3]) > 1e-3, "no slip acceleration does not matter");
        assert_eq!(residual([10.0, 0.0, 0.0], [0.0; 3], [3e-12, 0.0]), 0.0, "rounding is no slip");
    }
}

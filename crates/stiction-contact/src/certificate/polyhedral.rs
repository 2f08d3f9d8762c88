//! The law of polyhedral Coulomb friction.

use super::{ContactView, Law};
use crate::model::Level;

/// Friction in a cone with d sides: the tangential impulse p lies in `μ p_n · conv{d_j}` and takes as much energy as any impulse in there:
/// `p·u + μ p_n max_j(−d_j·u) ≤ 0` for the slip u.
///
/// Both hold exactly if `p` is the point of the polygon nearest to `p − u/W`, and that is what is measured: the distance to it, times W, beside
/// the size of the slip's terms.
///
/// Reference: [Lloyd04, Eqs. 4, 5], \[StewartTrinkle96\].
#[derive(Debug, Clone, PartialEq)]
pub struct PolyhedralLaw {
    /// The corners of the polygon with circumradius 1, in the plane of the two tangents, in order.
    corners: Vec<[f64; 2]>,
    only_touching: bool,
}

impl PolyhedralLaw {
    /// The law with `sides` (even, at least 4) equally spaced directions, the first along the first tangent. With `only_touching` contacts and
    /// limits that are not reached have no normal row either.
    pub fn new(sides: usize, only_touching: bool) -> Self {
        Self { corners: corners(sides), only_touching }
    }

    /// The point of the polygon of circumradius `radius` that is nearest to `a`.
    fn nearest(&self, a: [f64; 2], radius: f64) -> [f64; 2] {
        if radius == 0.0 {
            return [0.0; 2];
        }
        let mut best = (f64::INFINITY, a);
        let mut from = self.corners[self.corners.len() - 1];
        for &to in &self.corners {
            let edge = [to[0] - from[0], to[1] - from[1]];
            let arm = [a[0] - radius * from[0], a[1] - radius * from[1]];
            // The point is inside, or nearest to a side that it is outside of.
            if edge[0] * arm[1] - edge[1] * arm[0] < 0.0 {
                let length = edge[0] * edge[0] + edge[1] * edge[1];
                let along = ((edge[0] * arm[0] + edge[1] * arm[1]) / length).clamp(0.0, radius);
                let rest = [arm[0] - along * edge[0], arm[1] - along * edge[1]];
                let distance = rest[0] * rest[0] + rest[1] * rest[1];
                if distance < best.0 {
                    best = (distance, [a[0] - rest[0], a[1] - rest[1]]);
                }
            }
            from = to;
        }
        best.1
    }
}

impl Law for PolyhedralLaw {
    fn level(&self) -> Level {
        Level::Velocity
    }

    fn friction(&self, contact: &ContactView) -> f64 {
        let (p, u, w) = ([contact.p[1], contact.p[2]], [contact.u[1], contact.u[2]], contact.w_tangent());
        if !contact.touching || w == 0.0 {
            return contact.no_friction();
        }
        let nearest = self.nearest([p[0] - u[0] / w, p[1] - u[1] / w], contact.mu * contact.p[0].max(0.0));
        let residual = libm::hypot(p[0] - nearest[0], p[1] - nearest[1]);
        contact.no_moment().max(ContactView::ratio(residual * w, contact.omega_tangent()))
    }

    fn only_touching(&self) -> bool {
        self.only_touching
    }
}

/// The d-th roots of unity: powers of the first, which Newton's method finds as a zero of `z^d − 1`.
fn corners(sides: usize) -> Vec<[f64; 2]> {
    /// Newton steps; four are enough from the start below.
    const STEPS: usize = 8;
    let multiply = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let d = sides as f64;
    // tan(π/d) to fifth order gives a point of the unit circle close to the root.
    let x = std::f64::consts::PI / d;
    let t = x * (1.0 + x * x * (1.0 / 3.0 + x * x * (2.0 / 15.0)));
    let mut root = [(1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)];
    for _ in 0..STEPS {
        // z − (z^d − 1)/(d z^(d−1)) = z (1 − (1 − z^−d)/d), and on the circle z^−d is the conjugate of z^d.
        let power = (1..sides).fold(root, |power, _| multiply(power, root));
        root = multiply(root, [1.0 - (1.0 - power[0]) / d, -power[1] / d]);
        let length = libm::hypot(root[0], root[1]);
        root = root.map(|x| x / length);
    }
    let mut all = vec![[1.0, 0.0]];
    for j in 1..sides {
        all.push(multiply(all[j - 1], root));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_on_the_circle_and_evenly_spaced() {
        for sides in [4, 6, 8, 10, 14, 64, 200] {
            let all = corners(sides);
            for (j, c) in all.iter().enumerate() {
                let angle = 2.0 * std::f64::consts::PI * j as f64 / sides as f64;
                assert!((c[0] - angle.cos()).abs() < 1e-13 && (c[1] - angle.sin()).abs() < 1e-13, "{sides} {j} {c:?}");
            }
        }
    }

    fn view(p: [f64; 3], u: [f64; 2]) -> ContactView {
        ContactView {
            p: [p[0], p[1], p[2], 0.0, 0.0, 0.0],
            u: [0.0, u[0], u[1], 0.0, 0.0, 0.0],
            omega: [1.0; 6],
            w: [1.0; 6],
            ..ContactView::still(Level::Velocity)
        }
    }

    #[test]
    fn law_tells_right_from_wrong() {
        let law = PolyhedralLaw::new(4, false);
        let residual = |p, u| law.friction(&view(p, u));
        assert!(residual([1.0, 0.2, -0.1], [0.0, 0.0]) < 1e-15, "sticking inside");
        assert!(residual([1.0, -0.5, 0.0], [3.0, 0.0]) < 1e-15, "sliding at the corner");
        assert!(residual([1.0, -0.2, -0.3], [1.0, 1.0]) < 1e-15, "sliding across a side");
        assert!(residual([0.0, 0.0, 0.0], [1.0, 1.0]) < 1e-15, "no normal impulse, no friction");
        assert!(residual([1.0, 0.2, -0.1], [1e-6, 0.0]) > 1e-7, "slips inside the cone");
        assert!(residual([1.0, 0.3, 0.3], [0.0, 0.0]) > 0.01, "outside the cone");
        assert!(residual([1.0, -0.5, 0.0], [1.0, 1.1]) > 0.01, "another corner takes more");
        assert!(residual([1.0, 0.5, 0.0], [1.0, 0.0]) > 0.1, "wrong way");
    }
}

//! An ellipsoid by its support function, and the directions along which points and lines are
//! farthest outside it: roots of one equation in one unknown, found to rounding.

use crate::collision::vector::Norm;
use crate::math::{Mat3, Vec3};

/// Most steps of Newton's method for that equation. They rise towards the root and end where
/// rounding stops them, after 5 to 15.
const ROOT_STEPS: usize = 100;

/// Rotations that make the two half axes of a shadow orthogonal: the second takes out what rounding
/// left of the first beside a much shorter axis.
const SHADOW_ROTATIONS: usize = 2;

/// An ellipsoid about a point of another frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ellipsoid {
    /// Its axes, as columns.
    pub axes: Mat3,
    /// Its half axes (m).
    pub radii: Vec3,
}

impl Ellipsoid {
    /// How far it extends from its centre along the unit vector n (m).
    pub(super) fn extent(&self, n: Vec3) -> f64 {
        (self.radii * (self.axes.transpose() * n)).norm()
    }

    /// From its centre to its point farthest along n (m).
    pub(super) fn farthest(&self, n: Vec3) -> Vec3 {
        let scaled = self.radii * (self.axes.transpose() * n);
        self.axes * (self.radii * scaled.unit_or_zero())
    }

    /// The second derivatives of [`Self::extent`]: radii of curvature where its normal is n (m).
    pub(super) fn curvature_radii(&self, n: Vec3) -> Mat3 {
        let extent = self.extent(n);
        let x = self.farthest(n);
        let square = self.radii * self.radii;
        let spread =
            Mat3::from_cols(self.axes.x_axis * square.x, self.axes.y_axis * square.y, self.axes.z_axis * square.z);
        (spread * self.axes.transpose() - Mat3::from_cols(x * x.x, x * x.y, x * x.z)) * (1.0 / extent)
    }

    /// The unit vector n for which `n · q − extent(n)` is greatest: the distance of a point at q from
    /// the centre, negative within.
    pub(super) fn normal_towards(&self, q: Vec3) -> Vec3 {
        self.axes * nearest_normal(self.axes.transpose() * q, self.radii)
    }

    /// The other unit vector for which it is greater than for all near it, if there is one: a point deep
    /// within a thin ellipsoid has a way out on either side.
    pub(super) fn other_normal_towards(&self, q: Vec3) -> Option<Vec3> {
        other_normal(self.axes.transpose() * q, self.radii).map(|n| self.axes * n)
    }

    /// The same among the unit vectors across `along` (of unit length): the distance of a line.
    pub(super) fn normal_across(&self, q: Vec3, along: Vec3) -> Vec3 {
        let [a, b, radii] = self.shadow(along);
        let n = nearest_normal(Vec3::new(a.dot(q), b.dot(q), 0.0), radii);
        (a * n.x + b * n.y).unit_or(a)
    }

    /// The other one, as [`Self::other_normal_towards`].
    pub(super) fn other_normal_across(&self, q: Vec3, along: Vec3) -> Option<Vec3> {
        let [a, b, radii] = self.shadow(along);
        let n = other_normal(Vec3::new(a.dot(q), b.dot(q), 0.0), radii)?;
        Some((a * n.x + b * n.y).unit_or(a))
    }

    /// The ellipse that is its shadow along a direction: two axes, and the lengths of their halves, of which the third is not less.
    fn shadow(&self, along: Vec3) -> [Vec3; 3] {
        let scaled = |v: Vec3| self.radii * (self.axes.transpose() * v);
        let mut a = along.any_orthogonal_vector().unit_or(Vec3::X);
        let mut b = along.cross(a);
        // Jacobi's rotation.
        for _ in 0..SHADOW_ROTATIONS {
            let (u, v) = (scaled(a), scaled(b));
            let both = u.dot(v);
            if both == 0.0 {
                break;
            }
            let ratio = 0.5 * (v.length_squared() - u.length_squared()) / both;
            let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
            let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
            (a, b) = ((a - b * tangent) * cosine, (b + a * tangent) * cosine);
        }
        let (long, wide) = (scaled(a).norm(), scaled(b).norm());
        [a, b, Vec3::new(long, wide, long.max(wide))]
    }
}

/// The equation of [`nearest_normal`].
struct Secular {
    weight: Vec3,
    shift: Vec3,
}

impl Secular {
    fn new(q: Vec3, radii: Vec3) -> Self {
        let least = radii.min_element();
        Self { weight: q * radii / (least * least), shift: (radii - least) * (radii + least) / (least * least) }
    }

    /// Newton's step for 1 / |y| = 1 from t.
    fn step(&self, t: f64) -> f64 {
        let y = self.weight / (self.shift + t);
        let square = y.length_squared();
        (square.sqrt() - 1.0) * square / (y * y / (self.shift + t)).element_sum()
    }
}

/// The unit vector n for which `n · q − |radii n|` is greatest: the outward normal of the ellipsoid
/// at its point closest to q.
///
/// That point has the coordinates `rᵢ yᵢ` with `yᵢ = rᵢ qᵢ / (rᵢ² + λ)` and |y| = 1. The unknown is
/// `t = 1 + λ / r²` with the least half axis r, which is the distance from the pole: near the middle of
/// the ellipsoid it is small, and has all its digits. 1 / |y| is concave in t, so Newton's
/// method rises to the root from the left.
///
/// Reference: Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid.
fn nearest_normal(q: Vec3, radii: Vec3) -> Vec3 {
    let equation = Secular::new(q, radii);
    let Secular { weight, shift } = equation;
    let at_pole = |k: usize| shift[k] == 0.0;
    let mut t = (0..3).filter(|k| at_pole(*k)).map(|k| weight[k] * weight[k]).sum::<f64>().sqrt();
    if t == 0.0 {
        // In the plane across the shortest axis: the nearest points may be off that plane, on both sides.
        let ratio = |k: usize| if at_pole(k) { 0.0 } else { weight[k] / shift[k] };
        let mut y = Vec3::new(ratio(0), ratio(1), ratio(2));
        let rest = 1.0 - y.length_squared();
        if rest >= 0.0 {
            y[(0..3).find(|k| at_pole(*k)).unwrap_or(2)] = rest.sqrt();
            return (y / radii).unit_or(Vec3::Z);
        }
        t = f64::MIN_POSITIVE;
    }
    for _ in 0..ROOT_STEPS {
        let next = t + equation.step(t);
        if next.is_nan() || next <= t {
            break;
        }
        t = next;
    }
    (weight / (shift + t) / radii).unit_or(Vec3::Z)
}

/// The normal at the other local minimum of the distance from a point q within, across the shortest axis: with t below the pole.
fn other_normal(q: Vec3, radii: Vec3) -> Option<Vec3> {
    let equation = Secular::new(q, radii);
    let Secular { weight, shift } = equation;
    let axis = (0..3).find(|k| shift[*k] == 0.0)?;
    let next_pole = (0..3).filter(|k| *k != axis).map(|k| shift[k]).fold(f64::INFINITY, f64::min);
    let mut t = -weight[axis].abs();
    if t == 0.0 {
        // The mirror image of the nearest one.
        let mut n = nearest_normal(q, radii);
        n[axis] = -n[axis];
        return (n[axis] != 0.0).then_some(n);
    }
    for _ in 0..ROOT_STEPS {
        if t <= -next_pole {
            return None;
        }
        let next = t + equation.step(t);
        if next.is_nan() || next >= t {
            break;
        }
        t = next;
    }
    let y = weight / (shift + t);
    ((y.length_squared() - 1.0).abs() < 1e-9).then(|| (y / radii).unit_or(Vec3::Z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::axis_angle;

    struct Random(u64);

    impl Random {
        fn within(&mut self, low: f64, high: f64) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            low + (high - low) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
        }

        fn vector(&mut self) -> Vec3 {
            Vec3::new(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0))
        }
    }

    /// The residual of the common normal: what is left of q beside the point on the surface and the
    /// distance along the normal, across the allowed directions.
    #[test]
    fn normals_are_those_of_the_closest_points() {
        let mut random = Random(5);
        for k in 0..20_000 {
            let thin = [1.0, 1.0 + 1e-9, 0.5, 1e-2, 1e-3][k % 5];
            let unit = [1.0, 1e-3, 50.0][k % 3];
            let radii = Vec3::new(1.0, random.within(thin, 1.0), thin) * unit;
            let axes = Mat3::from_quat(axis_angle(random.vector() * 3.0));
            let body = Ellipsoid { axes, radii };
            let far = [0.3, 1.0, 3.0, 1e-6][k % 4] * unit;
            let q = if k % 11 == 0 { axes * (Vec3::X * far) } else { random.vector() * far };
            let n = body.normal_towards(q);
            let distance = n.dot(q) - body.extent(n);
            let residual = q - body.farthest(n) - n * distance;
            assert!(residual.norm() < 1e-13 * (unit + far) / thin, "{k}: {residual} {q} {radii}");
            let line = random.vector().unit_or(Vec3::X);
            let across = body.normal_across(q, line);
            assert!(across.dot(line).abs() < 1e-14);
            let distance = across.dot(q) - body.extent(across);
            let residual = q - body.farthest(across) - across * distance;
            let residual = residual - line * line.dot(residual);
            assert!(residual.norm() < 1e-13 * (unit + far) / thin, "{k}: {residual} {q} {radii}");
            // No other direction is better.
            for _ in 0..20 {
                let m = random.vector().unit_or(Vec3::X);
                assert!(m.dot(q) - body.extent(m) <= n.dot(q) - body.extent(n) + 1e-14 * (unit + far));
                let m = (m - line * line.dot(m)).unit_or(across);
                assert!(m.dot(q) - body.extent(m) <= across.dot(q) - body.extent(across) + 1e-14 * (unit + far));
            }
        }
    }

    #[test]
    fn the_centre_is_nearest_to_the_ends_of_the_shortest_axis() {
        assert_eq!(nearest_normal(Vec3::ZERO, Vec3::new(3.0, 1.0, 2.0)), Vec3::Y);
        assert_eq!(nearest_normal(Vec3::X, Vec3::ONE), Vec3::X);
    }
}

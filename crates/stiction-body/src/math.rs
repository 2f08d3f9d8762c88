//! Vectors, rotations and poses, and the few transcendental functions in the step path: those of `libm`, the same bits on every machine.

pub use glamx::{DMat3 as Mat3, DPose3 as Pose, DQuat as Quat, DVec3 as Vec3};

/// Below this angle (rad) sin x / x and the like are taken from their series: the next term is below rounding.
const SMALL_ANGLE: f64 = 1e-4;

/// |v|. The root is the processor's, which rounds as IEEE 754 says and so has the same bits everywhere; that of the vectors' own `length` is computed in software.
#[inline]
pub fn length(v: Vec3) -> f64 {
    v.length_squared().sqrt()
}

/// The unit vector along `v`, which must not be zero.
#[inline]
pub fn unit(v: Vec3) -> Vec3 {
    v * (1.0 / length(v))
}

/// The quaternion along `q` with unit length.
#[inline]
pub fn unit_quaternion(q: Quat) -> Quat {
    q * (1.0 / q.length_squared().sqrt())
}

/// The rotation about `v` by |v| radians.
pub fn axis_angle(v: Vec3) -> Quat {
    let angle = length(v);
    let (half, square) = (0.5 * angle, angle * angle);
    // sin(half)/angle and cos(half), by their series where the angle is small.
    let (scale, cosine) = if angle < SMALL_ANGLE {
        (0.5 - square / 48.0, 1.0 - square / 8.0)
    } else {
        (libm::sin(half) / angle, libm::cos(half))
    };
    unit_quaternion(Quat::from_xyzw(v.x * scale, v.y * scale, v.z * scale, cosine))
}

/// The rotation vector of a unit quaternion, of length at most π: the inverse of [`axis_angle`].
pub fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = length(v);
    let scale = if s < SMALL_ANGLE { 2.0 + s * s / 3.0 } else { 2.0 * libm::atan2(s, q.w) / s };
    v * scale
}

/// The unit axis of the rotation of a unit quaternion, its angle θ in (0, π], and cot(θ/2); none for
/// no rotation.
pub fn axis_of_rotation(q: Quat) -> Option<(Vec3, f64, f64)> {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = length(v);
    (s > 0.0).then(|| (v * (1.0 / s), 2.0 * libm::atan2(s, q.w), q.w / s))
}

/// The two unit vectors that make a right-handed frame (a, b, n) with the unit vector `n`.
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let a = n.abs();
    let axis = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let s = unit(axis.cross(n));
    (s, n.cross(s))
}

/// Principal axes (columns) and moments of a symmetric matrix, by Jacobi's rotations.
pub fn principal(a: Mat3) -> (Mat3, [f64; 3]) {
    /// Each sweep squares what is left off the diagonal: far more than enough.
    const SWEEPS: usize = 12;
    let mut m = a.to_cols_array_2d();
    let mut axes = Mat3::IDENTITY.to_cols_array_2d();
    for (p, q) in [(0, 1), (0, 2), (1, 2)].into_iter().cycle().take(3 * SWEEPS) {
        if m[p][q] == 0.0 {
            continue;
        }
        // The smaller of the two angles that make the entry zero.
        let theta = 0.5 * (m[q][q] - m[p][p]) / m[p][q];
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = t * c;
        for k in 0..3 {
            (m[k][p], m[k][q]) = (c * m[k][p] - s * m[k][q], s * m[k][p] + c * m[k][q]);
        }
        for k in 0..3 {
            (m[p][k], m[q][k]) = (c * m[p][k] - s * m[q][k], s * m[p][k] + c * m[q][k]);
            (axes[p][k], axes[q][k]) = (c * axes[p][k] - s * axes[q][k], s * axes[p][k] + c * axes[q][k]);
        }
    }
    (Mat3::from_cols_array_2d(&axes), [m[0][0], m[1][1], m[2][2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_round_trip() {
        for v in [
            Vec3::ZERO,
            Vec3::new(1e-9, 0.0, 0.0),
            Vec3::new(5e-5, -5e-5, 0.0),
            Vec3::new(0.1, -0.2, 0.3),
            Vec3::new(0.0, 3.0, 0.5),
        ] {
            let back = rotation_vector(axis_angle(v));
            assert!(back.abs_diff_eq(v, 1e-14), "{v} {back}");
            assert!((axis_angle(v).length() - 1.0).abs() < 1e-15);
        }
        let turned = axis_angle(Vec3::Z * std::f64::consts::FRAC_PI_2) * Vec3::X;
        assert!(turned.abs_diff_eq(Vec3::Y, 1e-15));
    }

    #[test]
    fn frames_are_right_handed() {
        for n in [Vec3::X, Vec3::NEG_Z, Vec3::new(1.0, 2.0, -3.0).normalize()] {
            let (s, t) = tangents(n);
            assert!(s.cross(t).abs_diff_eq(n, 1e-15) && s.dot(n).abs() < 1e-15);
        }
    }

    #[test]
    fn principal_axes_diagonalize() {
        let a = Mat3::from_cols(Vec3::new(2.0, -1.0, 0.3), Vec3::new(-1.0, 3.0, 0.7), Vec3::new(0.3, 0.7, -1.0));
        let (axes, moments) = principal(a);
        let back = axes * Mat3::from_diagonal(Vec3::from_array(moments)) * axes.transpose();
        assert!(back.abs_diff_eq(a, 1e-14) && (axes * axes.transpose()).abs_diff_eq(Mat3::IDENTITY, 1e-14));
    }
}

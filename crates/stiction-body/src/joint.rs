//! Joints: how a link can move against its parent.
//!
//! A joint has a frame J fixed in the parent. The link's frame has the pose `X_JL(q)` in it. Velocities are those of the link's origin and the
//! link's angular velocity against J, along the axes of J; so a free joint of a root has velocities in world axes.

use crate::math::{Pose, Quat, Vec3, axis_angle, rotation_vector, tangents, unit_quaternion};

/// The kind of a joint.
///
/// | kind | configuration | velocity |
/// |---|---|---|
/// | `Fixed` | – | – |
/// | `Revolute`, `Continuous` | angle (rad) | rad/s |
/// | `Prismatic` | offset (m) | m/s |
/// | `Planar` | x, y (m), angle (rad) in the plane with the normal | m/s, m/s, rad/s |
/// | `Spherical` | quaternion w, x, y, z | angular velocity (rad/s) |
/// | `Free` | position (m), quaternion w, x, y, z | velocity of the origin (m/s), angular velocity (rad/s) |
/// | `Mocap` | position (m), quaternion w, x, y, z | – |
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// No motion.
    Fixed,
    /// Rotation about a unit axis.
    Revolute {
        /// The axis in J.
        axis: Vec3,
    },
    /// Rotation about a unit axis without end: never limited.
    Continuous {
        /// The axis in J.
        axis: Vec3,
    },
    /// Translation along a unit axis.
    Prismatic {
        /// The axis in J.
        axis: Vec3,
    },
    /// Translation in a plane and rotation about its unit normal.
    Planar {
        /// The normal in J.
        normal: Vec3,
    },
    /// Any rotation.
    Spherical,
    /// Any motion.
    Free,
    /// Any pose, which is set from outside: no force moves it, and it has no velocity.
    Mocap,
}

/// One velocity of a joint: with it alone at 1, the link turns with `angular` and its origin moves with `linear`, along the axes of J. One of the
/// two is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Angular velocity.
    pub angular: Vec3,
    /// Linear velocity of the link's origin.
    pub linear: Vec3,
}

impl JointKind {
    /// The name in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute { .. } => "revolute",
            Self::Continuous { .. } => "continuous",
            Self::Prismatic { .. } => "prismatic",
            Self::Planar { .. } => "planar",
            Self::Spherical => "spherical",
            Self::Free => "free",
            Self::Mocap => "mocap",
        }
    }

    /// Size of the configuration.
    pub fn nq(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Prismatic { .. } => 1,
            Self::Planar { .. } => 3,
            Self::Spherical => 4,
            Self::Free | Self::Mocap => 7,
        }
    }

    /// Number of velocities.
    pub fn nv(&self) -> usize {
        match self {
            Self::Fixed | Self::Mocap => 0,
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Prismatic { .. } => 1,
            Self::Planar { .. } | Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// The configuration in which the link's frame is J.
    pub fn neutral(&self) -> &'static [f64] {
        match self {
            Self::Fixed => &[],
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Prismatic { .. } => &[0.0],
            Self::Planar { .. } => &[0.0; 3],
            Self::Spherical => &[1.0, 0.0, 0.0, 0.0],
            Self::Free | Self::Mocap => &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        }
    }

    /// `X_JL(q)`: the link's pose in J.
    pub fn pose(&self, q: &[f64]) -> Pose {
        match *self {
            Self::Fixed => Pose::identity(),
            Self::Revolute { axis } | Self::Continuous { axis } => Pose::from_rotation(axis_angle(axis * q[0])),
            Self::Prismatic { axis } => Pose::from_translation(axis * q[0]),
            Self::Planar { normal } => {
                let (s, t) = tangents(normal);
                Pose::from_parts(s * q[0] + t * q[1], axis_angle(normal * q[2]))
            }
            Self::Spherical => Pose::from_rotation(quaternion(q)),
            Self::Free | Self::Mocap => Pose::from_parts(Vec3::new(q[0], q[1], q[2]), quaternion(&q[3..])),
        }
    }

    /// The column of velocity `k`.
    pub fn column(&self, k: usize) -> Column {
        let turn = |angular: Vec3| Column { angular, linear: Vec3::ZERO };
        let move_along = |linear: Vec3| Column { angular: Vec3::ZERO, linear };
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        match *self {
            Self::Fixed | Self::Mocap => turn(Vec3::ZERO),
            Self::Revolute { axis } | Self::Continuous { axis } => turn(axis),
            Self::Prismatic { axis } => move_along(axis),
            Self::Planar { normal } => {
                let (s, t) = tangents(normal);
                [move_along(s), move_along(t), turn(normal)][k]
            }
            Self::Spherical => turn(axes[k]),
            Self::Free if k < 3 => move_along(axes[k]),
            Self::Free => turn(axes[k - 3]),
        }
    }

    /// `q ← q ⊕ dt v`: moves with constant velocity for `dt`. Quaternions stay of unit length.
    pub fn integrate(&self, q: &mut [f64], v: &[f64], dt: f64) {
        match self {
            Self::Spherical => turn_quaternion(q, v, dt),
            Self::Free => {
                q[..3].iter_mut().zip(v).for_each(|(q, v)| *q += dt * v);
                turn_quaternion(&mut q[3..], &v[3..], dt);
            }
            _ => q.iter_mut().zip(v).for_each(|(q, v)| *q += dt * v),
        }
    }

    /// The velocity that goes from `a` to `b` in unit time: `a ⊕ v = b`. Written to `v`.
    pub fn difference(&self, a: &[f64], b: &[f64], v: &mut [f64]) {
        match self {
            Self::Spherical => quaternion_difference(a, b, v),
            Self::Free => {
                (0..3).for_each(|i| v[i] = b[i] - a[i]);
                quaternion_difference(&a[3..], &b[3..], &mut v[3..]);
            }
            _ => v.iter_mut().enumerate().for_each(|(i, v)| *v = b[i] - a[i]),
        }
    }

    /// Where in the configuration a quaternion starts, if there is one.
    pub(crate) fn quaternion_at(&self) -> Option<usize> {
        match self {
            Self::Spherical => Some(0),
            Self::Free | Self::Mocap => Some(3),
            _ => None,
        }
    }
}

/// A quaternion from w, x, y, z.
pub(crate) fn quaternion(q: &[f64]) -> Quat {
    Quat::from_xyzw(q[1], q[2], q[3], q[0])
}

/// True if a quaternion has unit length up to rounding.
fn is_unit(q: &[f64]) -> bool {
    (q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() <= 8.0 * f64::EPSILON
}

/// The angular velocity is along the axes of J, so the new rotation comes from the left.
fn turn_quaternion(q: &mut [f64], omega: &[f64], dt: f64) {
    // What does not turn stays as it is, to the last bit.
    if omega == [0.0; 3] && is_unit(q) {
        return;
    }
    let turned = unit_quaternion(axis_angle(Vec3::new(omega[0], omega[1], omega[2]) * dt) * quaternion(q));
    q.copy_from_slice(&[turned.w, turned.x, turned.y, turned.z]);
}

fn quaternion_difference(a: &[f64], b: &[f64], v: &mut [f64]) {
    let turn = rotation_vector(quaternion(b) * quaternion(a).inverse());
    v.copy_from_slice(&turn.to_array());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<JointKind> {
        let axis = Vec3::new(1.0, 2.0, -0.5).normalize();
        vec![
            JointKind::Fixed,
            JointKind::Revolute { axis },
            JointKind::Continuous { axis },
            JointKind::Prismatic { axis },
            JointKind::Planar { normal: axis },
            JointKind::Spherical,
            JointKind::Free,
            JointKind::Mocap,
        ]
    }

    #[test]
    fn columns_are_the_derivative_of_the_pose() {
        for kind in kinds() {
            let mut q = kind.neutral().to_vec();
            let start: Vec<f64> = (0..kind.nv()).map(|k| 0.3 - 0.2 * k as f64).collect();
            kind.integrate(&mut q, &start, 1.0);
            for k in 0..kind.nv() {
                let (h, mut v) = (1e-6, vec![0.0; kind.nv()]);
                v[k] = 1.0;
                let (mut a, mut b) = (q.clone(), q.clone());
                kind.integrate(&mut a, &v, -h);
                kind.integrate(&mut b, &v, h);
                let (a, b) = (kind.pose(&a), kind.pose(&b));
                let linear = (b.translation - a.translation) / (2.0 * h);
                let angular = rotation_vector(b.rotation * a.rotation.inverse()) / (2.0 * h);
                let column = kind.column(k);
                assert!(linear.abs_diff_eq(column.linear, 1e-9), "{kind:?} {k}: {linear}");
                assert!(angular.abs_diff_eq(column.angular, 1e-9), "{kind:?} {k}: {angular}");
            }
        }
    }

    #[test]
    fn differences_undo_integration() {
        for kind in kinds() {
            let mut a = kind.neutral().to_vec();
            let v: Vec<f64> = (0..kind.nv()).map(|k| 0.5 - 0.3 * k as f64).collect();
            kind.integrate(&mut a, &v, 0.7);
            let mut b = a.clone();
            kind.integrate(&mut b, &v, 1.0);
            let mut back = vec![0.0; kind.nv()];
            kind.difference(&a, &b, &mut back);
            assert!(back.iter().zip(&v).all(|(x, y)| (x - y).abs() < 1e-13), "{kind:?}");
        }
    }
}

//! The volumes of touch sensors.

use stiction_body::math::Vec3;

/// A volume about a site, in its frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Volume {
    /// Semi-axes (m); of a sphere all three are its radius.
    Ellipsoid(Vec3),
    /// Half of the edges (m).
    Box(Vec3),
    /// About z: radius and half of the length (m).
    Cylinder(f64, f64),
    /// About z: radius, and half of the length without the caps (m).
    Capsule(f64, f64),
}

impl Volume {
    /// True if a ray from a point meets its surface: from within it always does.
    pub(super) fn is_met(&self, point: Vec3, ray: Vec3) -> bool {
        match *self {
            Self::Ellipsoid(r) => meets_ball(point / r, ray / r, 1.0),
            Self::Box(half) => meets_box(point, ray, half),
            Self::Cylinder(radius, half) => meets_cylinder(point, ray, radius, half),
            Self::Capsule(radius, half) => {
                let end = Vec3::Z * half;
                meets_cylinder(point, ray, radius, half)
                    || meets_ball(point - end, ray, radius)
                    || meets_ball(point + end, ray, radius)
            }
        }
    }
}

fn meets_ball(point: Vec3, ray: Vec3, radius: f64) -> bool {
    let (a, b, c) = (ray.dot(ray), point.dot(ray), point.dot(point) - radius * radius);
    c <= 0.0 || (b <= 0.0 && b * b - a * c >= 0.0)
}

/// The part of a ray within `|x| ≤ half` along one axis.
fn slab(x: f64, step: f64, half: f64) -> Option<[f64; 2]> {
    if step == 0.0 {
        return (x.abs() <= half).then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (a, b) = ((-half - x) / step, (half - x) / step);
    Some([a.min(b), a.max(b)])
}

fn meets_box(point: Vec3, ray: Vec3, half: Vec3) -> bool {
    let (p, r, h) = (point.to_array(), ray.to_array(), half.to_array());
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for k in 0..3 {
        let Some([from, to]) = slab(p[k], r[k], h[k]) else { return false };
        (first, last) = (first.max(from), last.min(to));
    }
    first <= last
}

fn meets_cylinder(point: Vec3, ray: Vec3, radius: f64, half: f64) -> bool {
    let Some([from, to]) = slab(point.z, ray.z, half) else { return false };
    let (a, b) = (ray.x * ray.x + ray.y * ray.y, point.x * ray.x + point.y * ray.y);
    let c = point.x * point.x + point.y * point.y - radius * radius;
    let [near, far] = if a == 0.0 {
        if c > 0.0 {
            return false;
        }
        [f64::NEG_INFINITY, f64::INFINITY]
    } else {
        let square = b * b - a * c;
        if square < 0.0 {
            return false;
        }
        [(-b - square.sqrt()) / a, (-b + square.sqrt()) / a]
    };
    from.max(near).max(0.0) <= to.min(far)
}

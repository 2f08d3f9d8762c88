//! A half-space with everything else. Its normal is the normal of all contacts; they are the corners of the other shape, and of a cylinder
//! points of its rims.

use crate::collision::frame::{Frame, Query, Touch};
use crate::collision::vector::Norm;
use crate::math::{Mat3, Vec3};

/// Rim points that stand for a cylinder's flat end, evenly spread from the lowest one.
pub(crate) const RIM_POINTS: usize = 4;

/// A cylinder lies on its end, not on a point of the rim, if the end's plane is tilted by less than this (sine): the four points are then taken
/// along the cylinder's own axes, so that they do not turn with rounding.
const LEVEL: f64 = 1e-6;

/// A flat end that is tilted by less than this (sine) is not taken to wobble: between its four
/// points it sinks in by less than this fraction of its radius.
const NEARLY_LEVEL: f64 = 1e-3;

/// The plane as seen from the other shape: height of its origin, and the normal in its axes.
struct Plane {
    normal: Vec3,
    local: Vec3,
    height: f64,
}

impl Plane {
    fn new(space: &Frame, other: &Frame) -> Self {
        let normal = space.rotation.z_axis;
        Self { normal, local: other.direction_to_local(normal), height: normal.dot(other.origin - space.origin) }
    }

    /// The contact of the point `p` of the other shape, raised by `−radius`.
    fn touch(&self, other: &Frame, p: Vec3, radius: f64, feature: u64) -> Touch {
        let gap = self.height + self.local.dot(p) - radius;
        Touch::new(other.point_to_world(p) - self.normal * (radius + 0.5 * gap), self.normal, gap, feature)
    }
}

pub(crate) fn sphere(space: &Frame, ball: &Frame, radius: f64, query: &Query, out: &mut Vec<Touch>) {
    let normal = space.rotation.z_axis;
    let gap = normal.dot(ball.origin - space.origin) - radius;
    if gap <= query.limit() {
        out.push(Touch::new(ball.origin - normal * (radius + 0.5 * gap), normal, gap, 0));
    }
}

pub(crate) fn ellipsoid(space: &Frame, ellipsoid: &Frame, radii: Vec3, query: &Query, out: &mut Vec<Touch>) {
    let plane = Plane::new(space, ellipsoid);
    let lowest = -(radii * (radii * plane.local).unit_or_zero());
    let touch = plane.touch(ellipsoid, lowest, 0.0, 0);
    if touch.gap <= query.limit() {
        out.push(touch);
    }
}

pub(crate) fn capsule(
    space: &Frame,
    capsule: &Frame,
    half_length: f64,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
) {
    let plane = Plane::new(space, capsule);
    for (feature, z) in [-half_length, half_length].into_iter().enumerate() {
        let touch = plane.touch(capsule, Vec3::new(0.0, 0.0, z), radius, feature as u64);
        if touch.gap <= query.limit() {
            out.push(touch);
        }
    }
}

pub(crate) fn cuboid(space: &Frame, cuboid: &Frame, half: Vec3, query: &Query, out: &mut Vec<Touch>) {
    let plane = Plane::new(space, cuboid);
    let lowest = plane.height - (plane.local * half).abs().element_sum();
    if lowest > query.limit() {
        return;
    }
    for feature in 0..8_u64 {
        let touch = plane.touch(cuboid, corner(half, feature), 0.0, feature);
        if touch.gap <= query.limit() {
            out.push(touch);
        }
    }
}

/// Corner of a box: bit k of its number says whether axis k is positive.
pub(crate) fn corner(half: Vec3, number: u64) -> Vec3 {
    let side = |k: u64, h: f64| if number >> k & 1 == 1 { h } else { -h };
    Vec3::new(side(0, half.x), side(1, half.y), side(2, half.z))
}

pub(crate) fn points(space: &Frame, other: &Frame, points: &[Vec3], query: &Query, out: &mut Vec<Touch>) {
    let plane = Plane::new(space, other);
    for (feature, p) in points.iter().enumerate() {
        if plane.height + plane.local.dot(*p) <= query.limit() {
            out.push(plane.touch(other, *p, 0.0, feature as u64));
        }
    }
}

pub(crate) fn cylinder(
    space: &Frame,
    cylinder: &Frame,
    half_length: f64,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
) {
    let plane = Plane::new(space, cylinder);
    let spokes = spokes(-plane.local);
    for (end, z) in [-half_length, half_length].into_iter().enumerate() {
        for (k, spoke) in spokes.iter().enumerate() {
            let rim = Vec3::new(spoke.x * radius, spoke.y * radius, z);
            let touch = plane.touch(cylinder, rim, 0.0, (end * RIM_POINTS + k) as u64);
            if touch.gap <= query.limit() {
                out.push(touch);
            }
        }
        for (k, spoke) in between_spokes(-plane.local).into_iter().flatten().enumerate() {
            let rim = Vec3::new(spoke.x * radius, spoke.y * radius, z);
            let touch = plane.touch(cylinder, rim, 0.0, ((2 + end) * RIM_POINTS + k) as u64);
            if touch.gap <= query.limit() {
                out.push(touch);
            }
        }
    }
}

/// Unit vectors halfway between the [`spokes`], for a flat end that is tilted: the lowest point of
/// its rim runs along it as it wobbles, and between points a quarter turn apart it would sink in.
/// `None` where the end is nearly level, and rests on its four points.
pub(crate) fn between_spokes(towards: Vec3) -> Option<[Vec3; RIM_POINTS]> {
    let level = Vec3::new(towards.x, towards.y, 0.0).norm() <= NEARLY_LEVEL;
    let [a, b, c, d] = spokes(towards);
    (!level).then(|| [a + b, b + c, c + d, d + a].map(|spoke| spoke * std::f64::consts::FRAC_1_SQRT_2))
}

/// Unit vectors across the z axis, a quarter turn apart; the first points along `towards` as far as it can, or along x where that is along z.
pub(crate) fn spokes(towards: Vec3) -> [Vec3; RIM_POINTS] {
    let across = Vec3::new(towards.x, towards.y, 0.0);
    let length = across.norm();
    let first = if length > LEVEL { across / length } else { Vec3::X };
    let second = Mat3::from_cols(Vec3::Y, Vec3::NEG_X, Vec3::Z) * first;
    [first, second, -first, -second]
}

//! A tendon around a sphere or a cylinder: the shortest path over its surface from one point to another.
//!
//! The path lies in a plane (of a sphere: through its centre and both points; of a cylinder: across its axis, with the height
//! spread evenly over the path), where the surface is a circle. Its parts are tangents of the circle and an arc between them. A
//! point beside the surface says on which side the path goes; if that point is inside, the path runs along the inside of the surface and
//! touches it at one point.
//!
//! Reference: MuJoCo's documentation of spatial tendons; [Garner00].

use stiction_body::math::{Pose, Vec3};

/// Lengths below this are nothing, as in MuJoCo (m).
const LEAST: f64 = 1e-15;

/// What a tendon wraps around: a sphere, or a cylinder about its frame's z axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapKind {
    /// A sphere.
    Sphere,
    /// A cylinder without ends.
    Cylinder,
}

/// Where a path leaves the straight line: the first and last point on the surface (world, m), and the length between them (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wrapped {
    pub(super) points: [Vec3; 2],
    pub(super) length: f64,
}

type Plane = [f64; 2];

fn dot(a: Plane, b: Plane) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: Plane, b: Plane) -> Plane {
    [a[0] - b[0], a[1] - b[1]]
}

/// The sine of the angle from one to the other, times both lengths.
fn across(a: Plane, b: Plane) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn norm(a: Plane) -> f64 {
    dot(a, a).sqrt()
}

fn times(a: Plane, s: f64) -> Plane {
    [a[0] * s, a[1] * s]
}

/// The unit vector, or the first axis where there is none.
fn unit(a: Plane) -> Plane {
    let n = norm(a);
    if n < LEAST { [1.0, 0.0] } else { times(a, 1.0 / n) }
}

/// The way around an object from one point to another (world); `None` if the straight line is free. `side` is on the side that the path takes.
pub(super) fn wrap(ends: [Vec3; 2], frame: &Pose, radius: f64, kind: WrapKind, side: Option<Vec3>) -> Option<Wrapped> {
    let local = |p: Vec3| frame.rotation.inverse() * (p - frame.translation);
    let [p0, p1] = ends.map(local);
    if radius < LEAST || p0.length() < LEAST || p1.length() < LEAST {
        return None;
    }
    let (x, y) = match kind {
        WrapKind::Cylinder => (Vec3::X, Vec3::Y),
        WrapKind::Sphere => plane_through(p0, p1),
    };
    let flat = |p: Vec3| [p.dot(x), p.dot(y)];
    let (d0, d1, side) = (flat(p0), flat(p1), side.map(local));
    let (points, mut length) = match side {
        Some(s) if s.length() < radius => inside(d0, d1, radius)?,
        _ => outside(d0, d1, side.map(flat), radius)?,
    };
    let mut points = points.map(|p| x * p[0] + y * p[1]);
    if kind == WrapKind::Cylinder {
        let across = |a: Vec3, b: Vec3| norm([a.x - b.x, a.y - b.y]);
        let (first, last) = (across(p0, points[0]), across(p1, points[1]));
        let (rise, whole) = (p1.z - p0.z, first + length + last);
        points[0].z = p0.z + rise * first / whole;
        points[1].z = p0.z + rise * (first + length) / whole;
        let height = points[1].z - points[0].z;
        length = (length * length + height * height).sqrt();
    }
    Some(Wrapped { points: points.map(|p| frame.transform_point(p)), length })
}

/// Unit axes of the plane through the origin and both points, the first towards the first point.
fn plane_through(p0: Vec3, p1: Vec3) -> (Vec3, Vec3) {
    let x = p0 / p0.length();
    let mut normal = p0.cross(p1);
    if normal.length() < LEAST {
        // Any plane will do; the other axis is as in MuJoCo.
        let a = x.abs();
        let largest = if a.y > a.x && a.y > a.z {
            1
        } else if a.z > a.x && a.z > a.y {
            2
        } else {
            0
        };
        let mut other = [1.0; 3];
        other[largest] = 0.0;
        normal = x.cross(Vec3::from_array(other));
    }
    let y = (normal / normal.length()).cross(x);
    (x, y / y.length())
}

/// Tangents and arc around a circle about the origin; `None` if the straight line is free, or an end is inside. The path turns about the origin as
/// the straight line does, by less than half a turn; the other way round if the side is opposite of the line: behind the origin, between the
/// directions of the ends continued to there. Then it does so also where the straight line is free, as in MuJoCo.
fn outside(d0: Plane, d1: Plane, side: Option<Plane>, radius: f64) -> Option<([Plane; 2], f64)> {
    if norm(d0) < radius || norm(d1) < radius {
        return None;
    }
    let (near, _) = nearest_to_origin(d0, d1)?;
    let turn = if across(d0, d1) >= 0.0 { 1.0 } else { -1.0 };
    let is_opposite = side.is_some_and(|s| turn * across(d0, s) < 0.0 && turn * across(s, d1) < 0.0);
    if norm(near) > radius && !is_opposite {
        return None;
    }
    let turn = if is_opposite { -turn } else { turn };
    // The angle from an end's direction to where its tangent touches.
    let tangent = |d: Plane| libm::atan2(((norm(d) - radius) * (norm(d) + radius)).sqrt(), radius);
    let first = libm::atan2(d0[1], d0[0]) + turn * tangent(d0);
    let last = libm::atan2(d1[1], d1[0]) - turn * tangent(d1);
    let arc = whole_turns_off(turn * (last - first));
    Some(([on_circle(first, radius), on_circle(last, radius)], radius * arc))
}

/// The point of a circle about the origin at an angle (rad).
fn on_circle(angle: f64, radius: f64) -> Plane {
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// The same angle from 0 to 2π (rad).
fn whole_turns_off(angle: f64) -> f64 {
    let turn = 2.0 * std::f64::consts::PI;
    angle - turn * (angle / turn).floor()
}

/// The point of a segment that is nearest to the origin, and whether it is between the ends; `None` for a segment without length.
fn nearest_to_origin(a: Plane, b: Plane) -> Option<(Plane, bool)> {
    let line = minus(b, a);
    let part = -dot(line, a) / dot(line, line);
    let within = part.clamp(0.0, 1.0);
    (norm(line) > LEAST).then_some(([a[0] + within * line[0], a[1] + within * line[1]], part == within))
}

/// The point at which the shortest path along the inside of a circle touches it; `None` if the straight line passes the inside, or an end is there.
///
/// At the angle θ from the first end's direction towards the second's the path has the length `|d₀ − p(θ)| + |d₁ − p(θ)|`, which falls at the first
/// and grows at the second: the least one is where its slope changes sign.
fn inside(d0: Plane, d1: Plane, radius: f64) -> Option<([Plane; 2], f64)> {
    /// Halvings of the angle: until rounding ends them.
    const HALVINGS: usize = 60;
    if norm(d0) <= radius || norm(d1) <= radius {
        return None;
    }
    if nearest_to_origin(d0, d1).is_some_and(|(near, between)| between && norm(near) <= radius) {
        return None;
    }
    let turn = libm::atan2(across(d0, d1), dot(d0, d1));
    let first = libm::atan2(d0[1], d0[0]);
    let slope = |angle: f64| {
        let (p, tangent) = (on_circle(angle, radius), on_circle(angle, turn.signum()));
        let part = |d: Plane| dot(unit(minus(p, d)), [-tangent[1], tangent[0]]);
        part(d0) + part(d1)
    };
    let [mut low, mut high] = [0.0, 1.0];
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if slope(first + middle * turn) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    let touch = on_circle(first + 0.5 * (low + high) * turn, radius);
    Some(([touch; 2], 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(angle: f64, distance: f64) -> Plane {
        on_circle(angle, distance)
    }

    /// Ends, and the angle between them (rad).
    fn cases() -> impl Iterator<Item = (Plane, Plane, f64)> {
        let angles = (0..40).map(|k| (0.157 * f64::from(k), 0.08 * f64::from(k % 39)));
        angles.flat_map(|(start, between)| {
            [(1.001, 1.001), (1.5, 1.01), (3.0, 40.0)].map(|(a, b)| (at(start, a), at(start + between, b), between))
        })
    }

    #[test]
    fn ways_around_are_tangents_and_an_arc() {
        let mut wrapped = 0;
        for (d0, d1, between) in cases() {
            let line = norm(minus(d1, d0));
            let Some((points, arc)) = outside(d0, d1, None, 1.0) else {
                assert!(nearest_to_origin(d0, d1).is_none_or(|(near, _)| norm(near) > 1.0 - 1e-12));
                continue;
            };
            wrapped += 1;
            for (p, d) in points.into_iter().zip([d0, d1]) {
                assert!((norm(p) - 1.0).abs() < 1e-14 && dot(p, minus(d, p)).abs() < 1e-13 * norm(d).max(1.0));
            }
            let length = norm(minus(points[0], d0)) + arc + norm(minus(points[1], d1));
            assert!(length >= line - 1e-13 && arc <= between + 1e-13);
            // The way of the other side is longer; a side beside the line changes nothing.
            let middle = at(libm::atan2(points[0][1] + points[1][1], points[0][0] + points[1][0]), 1.0);
            let opposite = times(middle, -1.0);
            let (other, longer) = outside(d0, d1, Some(opposite), 1.0).unwrap();
            let other_length = norm(minus(other[0], d0)) + longer + norm(minus(other[1], d1));
            assert!(other_length >= length - 1e-13 && (longer > arc || between > 3.1));
            assert_eq!(outside(d0, d1, Some(middle), 1.0), Some((points, arc)));
        }
        assert!(wrapped > 40, "{wrapped}");
    }

    #[test]
    fn paths_along_the_inside_are_the_shortest() {
        let mut wrapped = 0;
        for (d0, d1, between) in cases() {
            let Some((points, arc)) = inside(d0, d1, 1.0) else { continue };
            wrapped += 1;
            let length = |p: Plane| norm(minus(p, d0)) + norm(minus(p, d1));
            assert!((norm(points[0]) - 1.0).abs() < 1e-14 && points[0] == points[1] && arc == 0.0);
            let start = libm::atan2(d0[1], d0[0]);
            for k in 0..=1000 {
                let other = length(at(start + between * f64::from(k) / 1000.0, 1.0));
                assert!(length(points[0]) <= other + 1e-12, "{d0:?} {d1:?}");
            }
        }
        assert!(wrapped > 20, "{wrapped}");
    }
}

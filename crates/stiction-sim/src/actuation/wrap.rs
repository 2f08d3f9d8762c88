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
        _ => outside(d0, d1, side.map(|s| times(unit(flat(s)), radius)), radius)?,
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

/// Tangents and arc around a circle about the origin; `None` if the straight line is free, or there are none.
fn outside(d0: Plane, d1: Plane, side: Option<Plane>, radius: f64) -> Option<([Plane; 2], f64)> {
    let (square0, square1, square) = (dot(d0, d0), dot(d1, d1), radius * radius);
    let line = minus(d1, d0);
    let length = dot(line, line);
    if square0 < square || square1 < square || length < LEAST {
        return None;
    }
    let part = (-dot(line, d0) / length).clamp(0.0, 1.0);
    let near = [d0[0] + part * line[0], d0[1] + part * line[1]];
    if dot(near, near) > square && side.is_none_or(|s| dot(s, near) >= 0.0) {
        return None;
    }
    let tangent = |d: Plane, square_d: f64, sign: f64| {
        let root = (square_d - square).max(0.0).sqrt();
        [
            (d[0] * square + sign * radius * d[1] * root) / square_d,
            (d[1] * square - sign * radius * d[0] * root) / square_d,
        ]
    };
    let [first, second] = [1.0, -1.0].map(|sign| [tangent(d0, square0, sign), tangent(d1, square1, -sign)]);
    let good = |[a, b]: [Plane; 2]| {
        if crosses(d0, a, d1, b) {
            return -10_000.0;
        }
        match side {
            Some(side) => dot(unit([a[0] + b[0], a[1] + b[1]]), side),
            None => -dot(minus(a, b), minus(a, b)),
        }
    };
    let is_second = good(first) <= good(second);
    let points = if is_second { second } else { first };
    if crosses(d0, points[0], d1, points[1]) {
        return None;
    }
    Some((points, arc(points, is_second, radius)))
}

/// Length of the arc between two points of a circle, clockwise for the first kind of solution.
fn arc([a, b]: [Plane; 2], is_second: bool, radius: f64) -> f64 {
    let angle = libm::acos(dot(unit(a), unit(b)).clamp(-1.0, 1.0));
    let turn = a[1] * b[0] - a[0] * b[1];
    let long = (turn > 0.0 && is_second) || (turn < 0.0 && !is_second);
    radius * if long { 2.0 * std::f64::consts::PI - angle } else { angle }
}

/// True if two segments meet.
fn crosses(a: Plane, b: Plane, c: Plane, d: Plane) -> bool {
    let (ab, cd, ca) = (minus(b, a), minus(d, c), minus(a, c));
    let det = cd[1] * ab[0] - cd[0] * ab[1];
    if det.abs() < LEAST {
        return false;
    }
    let (s, t) = ((cd[0] * ca[1] - cd[1] * ca[0]) / det, (ab[0] * ca[1] - ab[1] * ca[0]) / det);
    (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)
}

/// The point at which the shortest path along the inside of a circle touches it; `None` if the straight line does not leave
/// the inside's complement.
fn inside(d0: Plane, d1: Plane, radius: f64) -> Option<([Plane; 2], f64)> {
    /// As in MuJoCo, so that lengths agree: rounds, the first guess, and what is left of the equation (rad).
    const ROUNDS: usize = 20;
    const FIRST: f64 = 1.0 - 1e-7;
    const LEFT: f64 = 1e-6;
    let (n0, n1) = (norm(d0), norm(d1));
    if n0 <= radius || n1 <= radius || n0.min(n1) < LEAST {
        return None;
    }
    let line = minus(d1, d0);
    let square = dot(line, line);
    if square > LEAST {
        let part = -dot(line, d0) / square;
        let near = [d0[0] + part * line[0], d0[1] + part * line[1]];
        if part > 0.0 && part < 1.0 && norm(near) <= radius {
            return None;
        }
    }
    let both = |p: Plane| Some(([p, p], 0.0));
    // Where the equation has no solution to be found, the point half way.
    let middle = both(times(unit([0.5 * (d0[0] + d1[0]), 0.5 * (d0[1] + d1[1])]), radius));
    let (a, b) = (radius / n0, radius / n1);
    let cosine = (n0 * n0 + n1 * n1 - square) / (2.0 * n0 * n1);
    if cosine < -1.0 + LEAST {
        return None;
    }
    if cosine > 1.0 - LEAST {
        return middle;
    }
    let angle = libm::acos(cosine);
    let equation = |z: f64| libm::asin(a * z) + libm::asin(b * z) - 2.0 * libm::asin(z) + angle;
    let (mut z, mut round) = (FIRST, 0);
    let mut f = equation(z);
    if f > 0.0 {
        return middle;
    }
    while f.abs() > LEFT {
        let part = |c: f64| c / (1.0 - z * z * c * c).max(0.0).sqrt().max(LEAST);
        let slope = part(a) + part(b) - 2.0 * part(1.0);
        let next = z - f / slope;
        round += 1;
        if slope > -LEAST || next > z || round > ROUNDS {
            return middle;
        }
        z = next;
        f = equation(z);
        if f > LEFT {
            return middle;
        }
    }
    let turns_left = d0[0] * d1[1] - d0[1] * d1[0] > 0.0;
    let (from, ratio) = if turns_left { (unit(d0), a) } else { (unit(d1), b) };
    let turn = libm::asin(z) - libm::asin(ratio * z);
    let (sine, cosine) = (libm::sin(turn), libm::cos(turn));
    both(times([cosine * from[0] - sine * from[1], sine * from[0] + cosine * from[1]], radius))
}

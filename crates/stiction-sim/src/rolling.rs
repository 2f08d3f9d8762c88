//! How contacts move over the surfaces they are on: the velocity products of a contact's rows at acceleration level.
//!
//! With normal n from the first body (a) to the second (b), angular velocities ω, material velocities u at the contact point, Δu = u_b − u_a, and
//! w_a, w_b the velocities of the contact point over the two surfaces, a gap φ = 0 changes by
//!
//! `φ̈ = n · (a_b − a_a) + n · (ω_b × w_b − ω_a × w_a) + ṅ · Δu`,  `w_a − w_b = Δu_t`,
//!
//! and slip along a tangent s by `s · (a_b − a_a + ω_b × w_b − ω_a × w_a)` where nothing slips. Every surface here is a face, lies at a radius
//! from a
//! point (ball, corner) or from a line (side of a capsule or cylinder, edge), or is that of an ellipsoid; each pair of these has its own ṅ.

use stiction_body::math::{Mat3, Vec3};
use stiction_body::{ContactPoint, ShapeKind, Workspace};

use crate::world::World;

/// A normal is along an axis of a box, or across that of a cylinder, up to this (sine).
const ALIGNED: f64 = 1e-6;

/// A point is on an edge or corner up to this fraction of the geom's size.
const ON_EDGE: f64 = 1e-6;

/// Lines whose directions differ by less than this (sine) are parallel.
const PARALLEL: f64 = 1e-6;

/// What a geom is like at a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    /// Flat: the normal is fixed in the body.
    Face,
    /// All that lies at the radius from a point of the body.
    Point,
    /// All that lies at the radius from a line of the body with this unit direction.
    Line(Vec3),
    /// Smooth, with these radii of curvature across its normal (m): an outward normal that turns by δ against the body
    /// is that of a point which lies farther by the matrix times δ.
    Curved(Mat3),
}

/// One body at a contact.
#[derive(Debug, Clone, Copy)]
struct Side {
    element: Element,
    radius: f64,
    omega: Vec3,
    /// Velocity of the body's material at the contact point, and its velocity product there.
    velocity: Vec3,
    bias: Vec3,
}

/// `Ṅ v`, `Ṡ v`, `Ṫ v` of a contact (m/s²), with the contact point moving over both surfaces: `N v̇ + Ṅ v` is the second derivative of the gap.
/// The gap
/// itself counts as closed. Rims of cylinders and edges of hulls are taken for corners and faces.
pub fn contact_rates(world: &World, work: &Workspace, at: &ContactPoint, s: Vec3, t: Vec3) -> [f64; 3] {
    let n = at.normal;
    let (a, b) = (side(world, work, at, 0), side(world, work, at, 1));
    let slip = a.slip(&b, n);
    let n_dot = normal_rate(&a, &b, n);
    let (w_a, w_b) = travel(&a, &b, n, n_dot, slip);
    let r = b.bias - a.bias + b.omega.cross(w_b) - a.omega.cross(w_a);
    [n.dot(r) + n_dot.dot(b.velocity - a.velocity), s.dot(r), t.dot(r)]
}

fn side(world: &World, work: &Workspace, at: &ContactPoint, which: usize) -> Side {
    let geom = &world.geoms[at.geoms[which]];
    let pose = geom.link.map_or(geom.pose, |l| work.pose[l] * geom.pose);
    let outward = if which == 0 { at.normal } else { -at.normal };
    let surface = at.point - outward * (0.5 * at.gap);
    let (point, normal) = (pose.inverse_transform_point(surface), pose.rotation.inverse() * outward);
    let (element, radius) = element(geom.shape.kind(), point, normal);
    let element = match element {
        Element::Line(axis) => Element::Line(pose.rotation * axis),
        Element::Curved(radii) => {
            let turn = Mat3::from_quat(pose.rotation);
            Element::Curved(turn * radii * turn.transpose())
        }
        other => other,
    };
    let (omega, velocity, bias) = geom.link.map_or((Vec3::ZERO, Vec3::ZERO, Vec3::ZERO), |l| {
        (work.velocity[l].angular, work.point_velocity(l, at.point), work.point_bias(l, at.point))
    });
    Side { element, radius, omega, velocity, bias }
}

/// What a shape is like at a point of its surface with an outward normal, both in its frame, and the radius that belongs to it.
fn element(kind: &ShapeKind, point: Vec3, normal: Vec3) -> (Element, f64) {
    match kind {
        ShapeKind::Sphere { radius } => (Element::Point, *radius),
        ShapeKind::Capsule { half_length, radius } => {
            let z = (point - normal * *radius).z.abs();
            (if z >= half_length - ON_EDGE * radius { Element::Point } else { Element::Line(Vec3::Z) }, *radius)
        }
        ShapeKind::Cylinder { radius, .. } if normal.z.abs() < ALIGNED => (Element::Line(Vec3::Z), *radius),
        ShapeKind::Cylinder { .. } if 1.0 - normal.z.abs() < ALIGNED * ALIGNED => (Element::Face, 0.0),
        ShapeKind::Cylinder { .. } => (Element::Point, 0.0),
        ShapeKind::Ellipsoid { radii } => (Element::Curved(curvature_radii(*radii, normal)), 0.0),
        ShapeKind::Cuboid { half } => (of_box(*half, point, normal), 0.0),
        ShapeKind::Hull { points } => {
            let size = points.iter().fold(0.0, |m: f64, p| m.max(p.abs().max_element()));
            let corner = points.iter().any(|p| (*p - point).abs().max_element() <= ON_EDGE * size);
            (if corner { Element::Point } else { Element::Face }, 0.0)
        }
        ShapeKind::Mesh { .. } | ShapeKind::HeightField { .. } | ShapeKind::HalfSpace => (Element::Face, 0.0),
    }
}

/// The second derivatives of an ellipsoid's extent along n.
fn curvature_radii(radii: Vec3, n: Vec3) -> Mat3 {
    let (extent, square) = ((radii * n).length(), radii * radii);
    let x = square * n / extent;
    (Mat3::from_diagonal(square) - Mat3::from_cols(x * x.x, x * x.y, x * x.z)) * (1.0 / extent)
}

fn of_box(half: Vec3, point: Vec3, normal: Vec3) -> Element {
    let (point, normal) = (point.abs().to_array(), normal.abs().to_array());
    if (0..3).any(|k| (0..3).all(|i| i == k || normal[i] < ALIGNED)) {
        return Element::Face;
    }
    let slack = ON_EDGE * half.min_element();
    let inner: Vec3 = Vec3::from_array([0, 1, 2].map(|i| f64::from(point[i] < half.to_array()[i] - slack)));
    match inner.element_sum() as usize {
        0 => Element::Point,
        1 => Element::Line(inner),
        _ => Element::Face,
    }
}

impl Side {
    /// Δu_t: velocity of the other body's material against this one's, across n.
    fn slip(&self, other: &Self, n: Vec3) -> Vec3 {
        let relative = other.velocity - self.velocity;
        relative - n * n.dot(relative)
    }

    /// How far the point whose normal is given moves over the surface as that normal turns by `turn` against the body.
    fn rolled(&self, turn: Vec3) -> Vec3 {
        if let Element::Curved(radii) = self.element { radii * turn } else { turn * self.radius }
    }

    /// Velocity of the material at `arm` from the contact point.
    fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.omega.cross(arm)
    }
}

/// ṅ.
fn normal_rate(a: &Side, b: &Side, n: Vec3) -> Vec3 {
    use Element::{Curved, Face, Line, Point};
    let (fixed_a, fixed_b) = (a.omega.cross(n), b.omega.cross(n));
    let reach = a.radius + b.radius;
    // Centres of the two, from the contact point.
    let (c_a, c_b) = (n * -a.radius, n * b.radius);
    let across = |v: Vec3| v - n * n.dot(v);
    match (a.element, b.element) {
        (Face, _) => fixed_a,
        (_, Face) => fixed_b,
        (Line(e), Line(f)) if n.dot(e.cross(f)).abs() > PARALLEL => {
            // n stays across both lines.
            let (x, y) = (-n.dot(a.omega.cross(e)), -n.dot(b.omega.cross(f)));
            let (e, f) = (across(e), across(f));
            (f.cross(n) * x + n.cross(e) * y) / n.dot(e.cross(f))
        }
        (Line(e), Curved(_)) => {
            // n stays across the line.
            let c = n.cross(e);
            let slope = c.dot(a.slip(b, n) + b.rolled(fixed_b - fixed_a));
            fixed_a + c * (slope / (a.radius + c.dot(b.rolled(c))))
        }
        (Curved(_), Line(e)) => {
            let c = n.cross(e);
            let slope = c.dot(a.slip(b, n) + a.rolled(fixed_a - fixed_b));
            fixed_b + c * (slope / (b.radius + c.dot(a.rolled(c))))
        }
        (Curved(_), _) | (_, Curved(_)) => {
            // Both points have the same normal: w_a − w_b is the slip.
            let rest = a.slip(b, n) + a.rolled(fixed_a) + b.rolled(fixed_b);
            let e = n.any_orthonormal_vector();
            let f = n.cross(e);
            let (to_e, to_f) = (a.rolled(e) + b.rolled(e), a.rolled(f) + b.rolled(f));
            let (p, q, r) = (e.dot(to_e), e.dot(to_f), f.dot(to_f));
            let (x, y) = (e.dot(rest), f.dot(rest));
            (e * (r * x - q * y) + f * (p * y - q * x)) / (p * r - q * q)
        }
        _ if reach == 0.0 => fixed_a,
        (Point, Point) => across(b.velocity_at(c_b) - a.velocity_at(c_a)) / reach,
        (Line(e), _) => {
            let c = n.cross(e);
            fixed_a + c * (c.dot(b.velocity_at(c_b) - a.velocity_at(c_b)) / reach)
        }
        (Point, Line(e)) => {
            let c = n.cross(e);
            fixed_b - c * (c.dot(a.velocity_at(c_a) - b.velocity_at(c_a)) / reach)
        }
    }
}

/// w_a and w_b.
fn travel(a: &Side, b: &Side, n: Vec3, n_dot: Vec3, slip: Vec3) -> (Vec3, Vec3) {
    let (roll_a, roll_b) = (a.rolled(n_dot - a.omega.cross(n)), b.rolled(b.omega.cross(n) - n_dot));
    match (a.element, b.element) {
        (Element::Line(e), Element::Line(f)) if n.dot(e.cross(f)).abs() > PARALLEL => {
            // x e − y f = slip − roll_a + roll_b in the plane across n.
            let rest = slip - roll_a + roll_b;
            let area = n.dot(e.cross(f));
            let (x, y) = (n.dot(rest.cross(f)) / area, n.dot(rest.cross(e)) / area);
            (roll_a + e * x, roll_b + f * y)
        }
        (Element::Point | Element::Curved(_), Element::Face | Element::Line(_)) | (Element::Line(_), Element::Face) => {
            (roll_a, roll_a - slip)
        }
        (Element::Face, Element::Face) => (slip, Vec3::ZERO),
        _ => (slip + roll_b, roll_b),
    }
}

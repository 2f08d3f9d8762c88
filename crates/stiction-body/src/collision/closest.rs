//! The point of a shape that is closest to a given point, in the shape's frame: by exact formulas, of hulls of many corners
//! those of one face after the other.

use crate::collision::polytope::{Around, Edge, Planes, PolytopeRef};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// The surface point closest to a point p.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closest {
    /// The point on the surface.
    pub point: Vec3,
    /// Outward unit normal there: from `point` to p where p is outside.
    pub normal: Vec3,
    /// Signed distance of p, negative inside.
    pub distance: f64,
}

impl Closest {
    /// From the closest point of a curve or surface without inside; `fallback` is the normal where p lies on it.
    pub(super) fn outside(p: Vec3, point: Vec3, fallback: Vec3) -> Self {
        let (normal, distance) = direction(p - point, fallback);
        Self { point, normal, distance }
    }

    /// The same for the shape grown by a radius.
    pub(super) fn grown(self, radius: f64) -> Self {
        Self { point: self.point + self.normal * radius, distance: self.distance - radius, ..self }
    }
}

/// Unit vector and length of `v`; the fallback where v is zero. Safe from overflow and underflow.
pub(crate) fn direction(v: Vec3, fallback: Vec3) -> (Vec3, f64) {
    let scale = v.abs().max_element();
    if scale == 0.0 || !scale.is_finite() {
        return (fallback, 0.0);
    }
    let u = v / scale;
    let length = u.norm();
    (u / length, scale * length)
}

/// Parameter in [0, 1] of the point of the segment from `a` to `b` that is closest to `p`.
pub(crate) fn on_segment(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let (along, from_a) = (b - a, p - a);
    let squared = along.length_squared();
    if squared > 0.0 { (from_a.dot(along) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// Closest to the segment from −h to h on the z axis; on the axis itself the normal is x.
pub(crate) fn to_axis(p: Vec3, half_length: f64) -> Closest {
    Closest::outside(p, Vec3::new(0.0, 0.0, p.z.clamp(-half_length, half_length)), Vec3::X)
}

/// Closest to a box.
pub(crate) fn to_cuboid(p: Vec3, half: Vec3) -> Closest {
    let clamped = p.clamp(-half, half);
    if clamped != p {
        return Closest::outside(p, clamped, Vec3::Z);
    }
    // Inside: the nearest face, z before y before x where they are equally near.
    let depth = half - p.abs();
    let k = if depth.z <= depth.x && depth.z <= depth.y {
        2
    } else if depth.y <= depth.x {
        1
    } else {
        0
    };
    let side = if p[k] < 0.0 { -1.0 } else { 1.0 };
    let (mut point, mut normal) = (p, Vec3::ZERO);
    point[k] = side * half[k];
    normal[k] = side;
    Closest { point, normal, distance: -depth[k] }
}

/// Closest to a cylinder along z.
pub(crate) fn to_cylinder(p: Vec3, half_length: f64, radius: f64) -> Closest {
    let across = Vec3::new(p.x, p.y, 0.0);
    let (spoke, rho) = direction(across, Vec3::X);
    let side = if p.z < 0.0 { -1.0 } else { 1.0 };
    let (beyond_end, beyond_side) = (p.z.abs() - half_length, rho - radius);
    let cap = Vec3::new(0.0, 0.0, side);
    match (beyond_end > 0.0, beyond_side > 0.0) {
        (true, true) => Closest::outside(p, spoke * radius + cap * half_length, cap),
        (true, false) => Closest { point: across + cap * half_length, normal: cap, distance: beyond_end },
        (false, true) => {
            Closest { point: spoke * radius + Vec3::new(0.0, 0.0, p.z), normal: spoke, distance: beyond_side }
        }
        (false, false) if beyond_end >= beyond_side => {
            Closest { point: across + cap * half_length, normal: cap, distance: beyond_end }
        }
        (false, false) => {
            Closest { point: spoke * radius + Vec3::new(0.0, 0.0, p.z), normal: spoke, distance: beyond_side }
        }
    }
}

/// Closest to a convex polytope.
pub(crate) fn to_polytope(p: Vec3, polytope: PolytopeRef) -> Closest {
    let mut best = (f64::NEG_INFINITY, 0);
    let mut look = |i: usize| {
        let height = polytope.faces[i].normal.dot(p) - polytope.faces[i].offset;
        if height > best.0 {
            best = (height, i);
        }
    };
    match polytope.planes {
        Some(planes) => look(planes.highest(p)),
        None => (0..polytope.faces.len()).for_each(look),
    }
    let (height, i) = best;
    let Some(face) = polytope.faces.get(i) else { return Closest::outside(p, Vec3::ZERO, Vec3::Z) };
    if height <= 0.0 || polytope.projects_inside(i, p) {
        return Closest { point: p - face.normal * height, normal: face.normal, distance: height };
    }
    let point = match (polytope.planes, polytope.around) {
        (Some(planes), Some(around)) => nearest_downhill(p, i, polytope, planes, around),
        _ => nearest_of_all(p, polytope),
    };
    Closest::outside(p, point, face.normal)
}

/// The nearest point of all faces that p is above, and of all edges.
fn nearest_of_all(p: Vec3, polytope: PolytopeRef) -> Vec3 {
    let mut nearest = (f64::INFINITY, Vec3::ZERO);
    for (i, face) in polytope.faces.iter().enumerate() {
        let height = face.normal.dot(p) - face.offset;
        if height > 0.0 && height < nearest.0 && polytope.projects_inside(i, p) {
            nearest = (height, p - face.normal * height);
        }
    }
    for edge in polytope.edges {
        let (distance, point, _) = to_edge(p, polytope, edge);
        if distance < nearest.0 {
            nearest = (distance, point);
        }
    }
    nearest.1
}

/// A part of a polytope's surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Face,
    Edge(u32),
    Corner(u32),
}

/// The nearest point of an edge to p, its distance, and the corner that it is if it is one.
fn to_edge(p: Vec3, polytope: PolytopeRef, edge: &Edge) -> (f64, Vec3, Option<u32>) {
    let [a, b] = edge.vertices.map(|v| polytope.vertices[v as usize]);
    let t = on_segment(p, a, b);
    let point = a + (b - a) * t;
    let corner = if t <= 0.0 { Some(edge.vertices[0]) } else { Some(edge.vertices[1]).filter(|_| t >= 1.0) };
    ((p - point).norm(), point, corner)
}

/// The nearest point to p outside, from face to face: from one that p is above, the next is one beside the nearest point so far that has
/// a nearer one. Where there is none, no point of a convex polytope is nearer.
fn nearest_downhill(p: Vec3, from: usize, polytope: PolytopeRef, planes: &Planes, around: &Around) -> Vec3 {
    let on_face = |i: usize| {
        let face = &polytope.faces[i];
        let height = face.normal.dot(p) - face.offset;
        if height > 0.0 && polytope.projects_inside(i, p) {
            return (height, p - face.normal * height, On::Face);
        }
        let mut nearest = (f64::INFINITY, Vec3::ZERO, On::Face);
        for &e in planes.edges_of(face) {
            let (distance, point, corner) = to_edge(p, polytope, &polytope.edges[e as usize]);
            if distance < nearest.0 {
                nearest = (distance, point, corner.map_or(On::Edge(e), On::Corner));
            }
        }
        nearest
    };
    let mut nearest = on_face(from);
    loop {
        let (edge, corner) = match nearest.2 {
            On::Face => return nearest.1,
            On::Edge(e) => ([e], None),
            On::Corner(v) => ([0], Some(around.edges_at(v as usize))),
        };
        let before = nearest.0;
        for f in corner.unwrap_or(&edge).iter().flat_map(|e| polytope.edges[*e as usize].faces) {
            let there = on_face(f as usize);
            if there.0 < nearest.0 {
                nearest = there;
            }
        }
        if nearest.0 >= before {
            return nearest.1;
        }
    }
}

/// Closest points of two segments, as parameters in [0, 1]. Of parallel segments one of many pairs.
///
/// Reference: Ericson, Real-Time Collision Detection, §5.1.9.
pub(crate) fn between_segments(p: [Vec3; 2], q: [Vec3; 2]) -> [f64; 2] {
    let (u, v, w) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let (a, e, b, c, f) = (u.length_squared(), v.length_squared(), u.dot(v), u.dot(w), v.dot(w));
    if a <= 0.0 {
        return [0.0, on_segment(p[0], q[0], q[1])];
    }
    if e <= 0.0 {
        return [on_segment(q[0], p[0], p[1]), 0.0];
    }
    // |u × v|² without the cancellation of a e − b².
    let denominator = u.cross(v).length_squared();
    let mut s = if denominator > 0.0 { ((b * f - c * e) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let mut t = (b * s + f) / e;
    if t < 0.0 {
        t = 0.0;
        s = (-c / a).clamp(0.0, 1.0);
    } else if t > 1.0 {
        t = 1.0;
        s = ((b - c) / a).clamp(0.0, 1.0);
    }
    [s, t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::polytope::Polytope;
    use stiction_linalg::rng::Rng;

    #[test]
    fn the_nearest_point_of_a_hull_is_the_nearest_of_all() {
        let mut rng = Rng::new(3);
        let mut draw = || Vec3::new(rng.normal(), rng.normal(), rng.normal());
        let mut outside = 0;
        for k in 0..40 {
            let thin = [0.1, 1e-3, 1e-5][k / 3 % 3];
            let scale = [Vec3::ONE, Vec3::new(1.0, 1.0, thin), Vec3::new(1.0, thin, thin)][k % 3];
            let points: Vec<Vec3> = (0..30 + 20 * k).map(|_| draw().normalize() * scale).collect();
            let hull = Polytope::hull(&points).unwrap();
            let view = hull.view();
            for _ in 0..200 {
                let p = draw() * [scale, Vec3::ONE][k / 9 % 2] * 1.5;
                let near = to_polytope(p, view);
                let few = PolytopeRef { around: None, planes: None, ..view };
                let all = to_polytope(p, few);
                assert!((near.distance - all.distance).abs() < 1e-13, "{near:?} {all:?}");
                assert!(near.distance < 0.0 || (near.point - all.point).norm() < 1e-12, "{near:?} {all:?}");
                outside += usize::from(near.distance > 0.0);
            }
        }
        assert!(outside > 2000, "{outside}");
    }
}

//! The plane of a polytope's face, and the face of another polytope that meets it.

use crate::collision::pairs::clip::Side;
use crate::collision::polytope::{PolytopeRef, least};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Faces that look the same way up to this difference of cosines are taken in order.
const EQUAL: f64 = 1e-9;

/// Of the faces at the corner nearest to the plane with normal n (`turned` in the polytope's own frame), the one most against it.
pub(super) fn incident_face(
    p: PolytopeRef,
    faces: usize,
    seen: &[Vec3],
    [n, turned]: [Vec3; 2],
    touch: f64,
    facing: &mut Vec<u32>,
) -> usize {
    let nearest = least(seen, n);
    let is_near = |v: usize| n.dot(seen[v]) <= nearest + touch;
    facing.clear();
    match p.around {
        None => facing.extend(0..faces as u32),
        Some(around) => {
            let edges = (0..seen.len()).filter(|v| is_near(*v)).flat_map(|v| around.edges_at(v));
            let at_edges = edges.flat_map(|edge| p.edges[*edge as usize].faces);
            facing.extend(at_edges.filter(|face| (*face as usize) < faces));
            facing.sort_unstable();
            facing.dedup();
        }
    }
    let (mut best, mut cosine) = (0, f64::INFINITY);
    for &i in &*facing {
        let face = &p.faces[i as usize];
        let towards = face.normal.dot(turned);
        if towards < cosine - EQUAL && p.loops[face.range()].iter().any(|v| is_near(*v as usize)) {
            (best, cosine) = (i as usize, towards);
        }
    }
    best
}

/// Coordinates in the plane of a face.
pub(super) struct Basis {
    pub origin: Vec3,
    pub u: Vec3,
    pub v: Vec3,
}

impl Basis {
    pub(super) fn new(polytope: PolytopeRef, face: usize) -> Self {
        let normal = polytope.faces[face].normal;
        let mut corners = polytope.corners(face);
        let origin = corners.next().unwrap_or(Vec3::ZERO);
        let u = (corners.next().unwrap_or(Vec3::X) - origin).unit_or(Vec3::X);
        Self { origin, u, v: normal.cross(u) }
    }

    pub(super) fn coordinates(&self, p: Vec3) -> [f64; 2] {
        [self.u.dot(p - self.origin), self.v.dot(p - self.origin)]
    }

    pub(super) fn point(&self, u: f64, v: f64) -> Vec3 {
        self.origin + self.u * u + self.v * v
    }

    /// The sides of the face, each moved outwards by `more` of its outward direction.
    pub(super) fn sides(&self, polytope: PolytopeRef, face: usize, out: &mut Vec<Side>, more: impl Fn(Vec3) -> f64) {
        out.clear();
        let corners = polytope.corners(face);
        let next = corners.clone().cycle().skip(1);
        for (p, q) in corners.zip(next) {
            let along = (q - p).unit_or_zero();
            let outward = along.cross(polytope.faces[face].normal);
            let [a, b] = [self.u.dot(outward), self.v.dot(outward)];
            out.push(Side { a, b, c: outward.dot(p - self.origin) + more(outward) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::polytope::Polytope;
    use stiction_linalg::rng::Rng;

    #[test]
    fn the_incident_face_is_that_of_a_look_at_all_faces() {
        let mut rng = Rng::new(3);
        let mut draw = || Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5;
        for k in 0..40 {
            // Round ones, and flat ones with many corners in a plane.
            let thin = [1.0, 0.1, 1e-6][k % 3];
            let mut points: Vec<Vec3> = (0..100).map(|_| draw().unit_or(Vec3::X) * Vec3::new(1.0, 1.0, thin)).collect();
            points.iter_mut().filter(|_| k % 2 == 0).for_each(|p| p.z = p.z.min(0.2));
            let hull = Polytope::hull(&points).unwrap();
            let (view, faces) = (hull.view(), hull.faces.len());
            assert!(view.around.is_some());
            let few = PolytopeRef { around: None, planes: None, ..view };
            let mut facing = Vec::new();
            for n in (0..50).map(|_| draw().unit_or(Vec3::Z)).chain(hull.faces.iter().map(|f| -f.normal)) {
                let mut find = |p| incident_face(p, faces, &hull.vertices, [n, n], 1e-9, &mut facing);
                assert_eq!(find(view), find(few));
                assert_eq!(view.least(n, k % hull.vertices.len()), least(&hull.vertices, n));
            }
        }
    }
}

//! Contacts of a polytope and a cylinder along a given normal, by the features that face each other.

use super::{FACING, Pair, highest};
use crate::collision::frame::Touch;
use crate::collision::pairs::axes::PARALLEL;
use crate::collision::pairs::polytopes::FACES;
use crate::collision::vector::Norm;
use crate::math::Vec3;

impl<F: Fn(Vec3, usize) -> bool> Pair<'_, F> {
    /// How far a point may be beyond a feature and still come to meet it.
    fn slack(&self, gap: f64, at: Vec3, normal: Vec3) -> f64 {
        if gap <= self.query.touch {
            return self.query.touch;
        }
        let drift = self.drift.at(at);
        (drift - normal * normal.dot(drift)).norm() + self.query.touch
    }

    /// Points of the rims and the side on a face, where they leave it over a sharp edge, and sharp corners of the face under the flat end. True if
    /// the cylinder is over the face.
    pub(crate) fn on_face(&self, face: usize, out: &mut Vec<Touch>) -> bool {
        let (plane, c) = (self.polytope.faces[face], &self.cylinder);
        let height = |x: Vec3| plane.normal.dot(x) - plane.offset;
        let rim = c.rim_points(plane.normal);
        let mut found = false;
        let between = c.between_rim_points(plane.normal).into_iter().flatten();
        for (k, x) in rim.into_iter().chain(between).enumerate() {
            if height(x) <= self.query.limit() && self.inside(face, x, self.slack(height(x), x, plane.normal)) {
                found |= self.emit(x, height(x), FACES | k as u64, plane.normal, out);
            }
        }
        let (low_end, tilt) = (0.5 * (rim[0] + rim[2]), c.axis().dot(plane.normal));
        // Over a point of the face: the flat end's plane.
        let above = |p: Vec3| p + plane.normal * (c.axis().dot(low_end - p) / tilt);
        let corners = self.polytope.corners(face);
        let count = corners.len();
        for (k, (a, b)) in corners.clone().zip(corners.cycle().skip(1)).enumerate() {
            let sharp = self.sharp(k);
            let mut add = |x: Vec3, feature: usize, sharp: bool| {
                let near = height(x) <= self.query.limit();
                found |= near;
                if near && sharp {
                    self.emit(x, height(x), feature as u64, plane.normal, out);
                }
            };
            let outward = (b - a).cross(plane.normal).unit_or_zero();
            let [from, to] = [rim[0], rim[4]].map(|x| outward.dot(x - a));
            if from * to < 0.0 {
                let x = rim[0] + (rim[4] - rim[0]) * (from / (from - to));
                if self.inside(face, x, self.query.touch) {
                    add(x, 16 + k, sharp);
                }
            }
            if tilt.abs() < FACING {
                continue;
            }
            for (j, t) in c.side_crossings(above(a), above(b)).into_iter().enumerate() {
                t.into_iter().for_each(|t| add(above(a + (b - a) * t), 1024 + 4 * k + j, sharp));
            }
            if c.cylindrical(above(a))[1] < c.radius - self.query.touch {
                add(above(a), 1026 + 4 * k, sharp || self.sharp((k + count - 1) % count));
            }
        }
        found
    }

    /// True if side k of a face is an edge: all of a solid's are, of a triangle only those where the surface bends down.
    fn sharp(&self, k: usize) -> bool {
        self.solid || self.polytope.edges.iter().any(|e| e.vertices[0] as usize == k)
    }

    /// True if x is over the face, up to `slack`.
    fn inside(&self, face: usize, x: Vec3, slack: f64) -> bool {
        let normal = self.polytope.faces[face].normal;
        let corners = self.polytope.corners(face);
        corners
            .clone()
            .zip(corners.cycle().skip(1))
            .all(|(a, b)| (b - a).cross(normal).unit_or_zero().dot(x - a) <= slack)
    }

    /// Adds a contact at the point x of the cylinder, `gap` above the polytope; false if it is too far.
    fn emit(&self, x: Vec3, gap: f64, feature: u64, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let near = gap <= self.query.limit();
        if near {
            out.push(Touch::new(x - normal * (0.5 * gap), normal, gap, feature));
        }
        near
    }

    /// Corners and edges of the polytope on the flat end.
    pub(crate) fn on_cap(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let (p, c) = (self.polytope, &self.cylinder);
        let level = normal.dot(c.centre) - c.half_length;
        let gap = |x: Vec3| level - normal.dot(x);
        let mut found = false;
        for (k, x) in p.vertices.iter().enumerate() {
            let gap = gap(*x);
            if gap <= self.query.limit() && c.cylindrical(*x)[1] <= c.radius + self.slack(gap, *x, normal) {
                found |= self.emit(*x + normal * gap, gap, 1 << 24 | k as u64, normal, out);
            }
        }
        for (k, edge) in p.edges.iter().enumerate() {
            let [a, b] = edge.vertices.map(|v| p.vertices[v as usize]);
            for (j, t) in c.side_crossings(a, b).into_iter().enumerate() {
                let Some(x) = t.map(|t| a + (b - a) * t).filter(|x| gap(*x) <= self.query.limit()) else { continue };
                found |= self.emit(x + normal * gap(x), gap(x), (1 << 25) | (2 * k + j) as u64, normal, out);
            }
        }
        found
    }

    /// Corners of the polytope on the side, and the ends of an edge along it, up to the angle from which on it is one across.
    pub(crate) fn on_side(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let (p, c) = (self.polytope, &self.cylinder);
        let (top, corner) = highest(p.vertices, normal);
        let [middle, _] = c.cylindrical(p.vertices[corner]);
        // Place along the axis and height of the lowest and the highest of them.
        let (mut low, mut high) = ([middle, top], [middle, top]);
        for x in p.vertices {
            let ([along, _], height) = (c.cylindrical(*x), normal.dot(*x));
            if height >= top - self.query.touch - PARALLEL.sqrt() * (along - middle).abs() {
                low = if along < low[0] { [along, height] } else { low };
                high = if along > high[0] { [along, height] } else { high };
            }
        }
        let gap = |height: f64| normal.dot(c.centre) - c.radius - height;
        let slack = self.slack(gap(top), c.centre, normal);
        if low[0] > c.half_length + slack || high[0] < -c.half_length - slack {
            return false;
        }
        let ends = [low[0], high[0]].map(|z| z.clamp(-c.half_length, c.half_length));
        let count = if ends[1] - ends[0] > self.query.touch { 2 } else { 1 };
        let slope = if high[0] > low[0] { (high[1] - low[1]) / (high[0] - low[0]) } else { 0.0 };
        for (k, z) in ends.into_iter().take(count).enumerate() {
            let x = c.centre + c.axis() * z - normal * c.radius;
            self.emit(x, gap(low[1] + slope * (z - low[0])), 1 << 26 | k as u64, normal, out);
        }
        true
    }

    /// An edge across the side.
    pub(crate) fn across_side(&self, k: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let c = &self.cylinder;
        let [a, b] = self.polytope.edges[k].vertices.map(|v| self.polytope.vertices[v as usize]);
        let length = (b - a).norm();
        let (u, v, w) = ((b - a) / length, c.axis(), c.centre - a);
        let (cos, sin2) = (u.dot(v), u.cross(v).length_squared());
        let s = (w.dot(u) - cos * w.dot(v)) / sin2;
        let t = (cos * w.dot(u) - w.dot(v)) / sin2;
        let gap = normal.dot(w) - c.radius;
        let x = c.centre + v * t - normal * c.radius;
        let slack = self.slack(gap, x, normal);
        let meets = s >= -slack && s <= length + slack && t.abs() <= c.half_length + slack;
        meets && self.emit(x, gap, 1 << 27 | k as u64, normal, out)
    }

    /// An edge across a rim.
    pub(crate) fn across_rim(&self, k: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let [a, b] = self.polytope.edges[k].vertices.map(|v| self.polytope.vertices[v as usize]);
        let x = self.cylinder.lowest(normal);
        let length = (b - a).norm();
        let s = (b - a).dot(x - a) / length;
        let gap = normal.dot(x - a);
        let slack = self.slack(gap, x, normal);
        let meets = s >= -slack && s <= length + slack;
        meets && self.emit(x, gap, 1 << 28 | k as u64, normal, out)
    }
}

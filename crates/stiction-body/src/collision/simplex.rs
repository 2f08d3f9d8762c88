//! The simplex of the method of Gilbert, Johnson and Keerthi: which of the points found so far the nearest one lies between.

use crate::math::Vec3;

/// A point of the difference of two shapes, with the two points it is the difference of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vertex {
    pub w: Vec3,
    pub a: Vec3,
    pub b: Vec3,
}

/// At most four points of a difference of shapes, and the point of their hull that is nearest to
/// the origin.
pub(crate) struct Simplex {
    vertices: [Vertex; 4],
    count: usize,
    pub nearest: Vertex,
}

impl Simplex {
    pub(crate) fn new(first: Vertex) -> Self {
        Self { vertices: [first; 4], count: 1, nearest: first }
    }

    /// True if the origin is within the hull of four points.
    pub(crate) fn is_full(&self) -> bool {
        self.count == 4
    }

    /// Takes a point in, and drops those that the nearest point does not need; false if it is there
    /// already.
    pub(crate) fn add(&mut self, next: Vertex) -> bool {
        if self.vertices[..self.count].iter().any(|v| v.w == next.w) {
            return false;
        }
        debug_assert!(self.count < 4, "the origin is within the simplex of four points");
        let last = self.count.min(3);
        self.vertices[last] = next;
        let count = last + 1;
        let mut best: Option<(f64, usize, [f64; 4])> = None;
        // The hull of a part of the points holds the nearest one within: all parts with the new
        // point are tried.
        for subset in (0..1usize << last).map(|others| others | 1 << last) {
            let Some(weights) = self.weights(subset, count) else { continue };
            let squared = self.mix(&weights).w.length_squared();
            if best.is_none_or(|(least, ..)| squared < least) {
                best = Some((squared, subset, weights));
            }
        }
        let Some((_, subset, weights)) = best else { return false };
        self.nearest = self.mix(&weights);
        let mut kept = 0;
        for k in (0..count).filter(|k| subset >> k & 1 == 1) {
            self.vertices[kept] = self.vertices[k];
            kept += 1;
        }
        self.count = kept;
        true
    }

    /// The mean of the points with these weights, whose sum is 1.
    fn mix(&self, weights: &[f64; 4]) -> Vertex {
        let sum = |of: fn(&Vertex) -> Vec3| {
            self.vertices.iter().zip(weights).filter(|(_, x)| **x != 0.0).map(|(v, x)| of(v) * *x).sum::<Vec3>()
        };
        Vertex { w: sum(|v| v.w), a: sum(|v| v.a), b: sum(|v| v.b) }
    }

    /// Weights of the point of the subset's affine hull that is nearest to the origin, if it is
    /// within the subset's hull.
    fn weights(&self, subset: usize, count: usize) -> Option<[f64; 4]> {
        let mut chosen = [0; 4];
        let mut n = 0;
        for k in (0..count).filter(|k| subset >> k & 1 == 1) {
            chosen[n] = k;
            n += 1;
        }
        let at = |i: usize| self.vertices[chosen[i]].w;
        let p = at(0);
        let local = match n {
            1 => [1.0, 0.0, 0.0, 0.0],
            2 => {
                let u = at(1) - p;
                let t = -p.dot(u) / u.length_squared();
                [1.0 - t, t, 0.0, 0.0]
            }
            3 => {
                let (u, v) = (at(1) - p, at(2) - p);
                let normal = u.cross(v);
                let squared = normal.length_squared();
                let (s, t) = (-p.cross(v).dot(normal) / squared, -u.cross(p).dot(normal) / squared);
                [1.0 - s - t, s, t, 0.0]
            }
            _ => {
                let (u, v, w) = (at(1) - p, at(2) - p, at(3) - p);
                let volume = u.dot(v.cross(w));
                let (r, s, t) = (-p.dot(v.cross(w)) / volume, -u.dot(p.cross(w)) / volume, -u.dot(v.cross(p)) / volume);
                [1.0 - r - s - t, r, s, t]
            }
        };
        if !local[..n].iter().all(|x| *x >= 0.0 && x.is_finite()) {
            return None;
        }
        let mut weights = [0.0; 4];
        (0..n).for_each(|i| weights[chosen[i]] = local[i]);
        Some(weights)
    }
}

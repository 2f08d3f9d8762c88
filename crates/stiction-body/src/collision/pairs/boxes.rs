//! Two boxes: the separating axis they meet along, then either the overlap of two faces or the crossing of two edges.

use crate::collision::frame::{Apart, Drift, Frame, Query, Touch};
use crate::collision::pairs::axes::{ALONG_FACE, FACE_LIKE, PARALLEL, Rank, Ranking, keep_beside};
use crate::collision::pairs::clip::{Clip, Corner, Side, comes_in};
use crate::collision::vector::Norm;
use crate::math::{Mat3, Vec3};

/// How many axes are tried: the best one may have no overlap of faces that can meet within the step.
const TRIES: usize = 3;

/// Faces of the first box, of the second, pairs of edges from [`EDGES`] on.
const AXES: usize = 15;
const EDGES: usize = 6;

/// The second box in the frame of the first.
struct Boxes<'a> {
    /// Halves of the sides.
    half: [Vec3; 2],
    /// Columns: axes of the second box.
    rotation: Mat3,
    /// Centre of the second box.
    centre: Vec3,
    /// Motion of the second box against the first.
    drift: Drift,
    query: &'a Query,
}

/// An axis: unit normal from the first box to the second, and the separation along it.
#[derive(Clone, Copy)]
struct Axis {
    normal: Vec3,
    separation: f64,
}

/// Contacts of two boxes; false if an axis keeps them farther apart than they can travel, or they are level with each other along one.
pub(crate) fn boxes(
    frames: [&Frame; 2],
    half: [Vec3; 2],
    query: &Query,
    clip: &mut Clip,
    out: &mut Vec<Touch>,
) -> bool {
    let relative = frames[0].relative(frames[1]);
    let drift = query.drift.seen_from(frames[0]);
    let pair = Boxes { half, rotation: relative.rotation, centre: relative.origin, drift, query };
    let mut axes = [Axis { normal: Vec3::ZERO, separation: f64::NEG_INFINITY }; AXES];
    if !pair.separations(&mut axes) {
        return false;
    }
    let ranking = Ranking::new(query, pair.drift.linear.norm());
    let mut ranks = axes.map(|a| {
        if a.normal == Vec3::ZERO { Rank::WORST } else { ranking.rank(a.separation, a.normal.dot(pair.drift.linear)) }
    });
    let mut apart = false;
    for _ in 0..TRIES {
        let mut best = 0;
        (1..AXES).for_each(|k| best = if ranking.better(ranks[k], ranks[best]) { k } else { best });
        // Where an axis keeps them apart, no other can push them out.
        if apart && !ranks[best].apart {
            break;
        }
        apart |= ranks[best].apart;
        let start = out.len();
        let (axis, number) = pair.reference(best, axes[best]);
        if pair.contacts(number, &axis, clip, out) {
            if out.len() == start {
                return !ranking.is_level(axis.separation);
            }
            if number >= EDGES && axis.separation >= -ranking.skin {
                pair.beside_crossing(number - EDGES, axis.normal, clip, start, out);
            }
            for touch in &mut out[start..] {
                touch.point = frames[0].point_to_world(touch.point);
                touch.normal = frames[0].rotation * touch.normal;
            }
            break;
        }
        ranks[best] = Rank::WORST;
    }
    true
}

/// The separations of two boxes.
pub(crate) fn boxes_apart(frames: [&Frame; 2], half: [Vec3; 2], query: &Query, out: &mut Vec<Apart>) {
    let relative = frames[0].relative(frames[1]);
    let drift = query.drift.seen_from(frames[0]);
    let pair = Boxes { half, rotation: relative.rotation, centre: relative.origin, drift, query };
    let mut axes = [Axis { normal: Vec3::ZERO, separation: f64::NEG_INFINITY }; AXES];
    pair.separations(&mut axes);
    let found = axes.iter().filter(|a| a.normal != Vec3::ZERO);
    out.extend(found.map(|a| Apart { normal: frames[0].rotation * a.normal, separation: a.separation }));
}

impl Boxes<'_> {
    /// All axes; false as soon as one keeps the boxes farther apart than they can travel.
    fn separations(&self, axes: &mut [Axis; AXES]) -> bool {
        let ([a, b], r, t) = (self.half, &self.rotation, self.centre);
        let limit = self.query.limit();
        let extent = |half: Vec3, n: Vec3| (half * n).abs().element_sum();
        let rows = r.transpose();
        for k in 0..3 {
            let separation = t[k].abs() - (a[k] + extent(b, rows.col(k)));
            if separation > limit {
                return false;
            }
            let mut normal = Vec3::ZERO;
            normal[k] = if t[k] < 0.0 { -1.0 } else { 1.0 };
            axes[k] = Axis { normal, separation };
        }
        let along = rows * t;
        for k in 0..3 {
            let separation = along[k].abs() - (b[k] + extent(a, r.col(k)));
            if separation > limit {
                return false;
            }
            axes[3 + k] = Axis { normal: if along[k] < 0.0 { -r.col(k) } else { r.col(k) }, separation };
        }
        (0..9).all(|k| {
            let Some(axis) = self.edge_axis(k / 3, k % 3) else { return true };
            axes[6 + k] = axis;
            axis.separation <= limit
        })
    }

    /// Axis across edge i of the first and edge j of the second box, unless that is as good as a face normal.
    fn edge_axis(&self, i: usize, j: usize) -> Option<Axis> {
        let ([a, b], r) = (self.half, &self.rotation);
        let edge = r.col(j);
        // eᵢ × edge
        let cross = match i {
            0 => Vec3::new(0.0, -edge.z, edge.y),
            1 => Vec3::new(edge.z, 0.0, -edge.x),
            _ => Vec3::new(-edge.y, edge.x, 0.0),
        };
        let squared = cross.length_squared();
        if squared < PARALLEL {
            return None;
        }
        let normal = cross / squared.sqrt();
        let turned = r.transpose() * normal;
        if normal.abs().max_element() > FACE_LIKE || turned.abs().max_element() > FACE_LIKE {
            return None;
        }
        let along = normal.dot(self.centre);
        let separation = along.abs() - (a * normal).abs().element_sum() - (b * turned).abs().element_sum();
        Some(Axis { normal: if along < 0.0 { -normal } else { normal }, separation })
    }

    /// Where faces are parallel, or nearly so, the first box's is the reference, whichever is the better axis: both tell the same, and the choice
    /// does not change with rounding.
    fn reference(&self, k: usize, axis: Axis) -> (Axis, usize) {
        let own = (0..3).find(|i| (3..6).contains(&k) && axis.normal[*i].abs() > FACE_LIKE);
        let Some(i) = own else { return (axis, k) };
        let mut normal = Vec3::ZERO;
        normal[i] = 1.0_f64.copysign(axis.normal[i]);
        (Axis { normal, ..axis }, i)
    }

    /// Contacts along axis k; false if the features cannot meet there within the step.
    fn contacts(&self, k: usize, axis: &Axis, clip: &mut Clip, out: &mut Vec<Touch>) -> bool {
        match k {
            0..3 => {
                let reference = Reference {
                    half: self.half[0],
                    incident_half: self.half[1],
                    rotation: self.rotation,
                    centre: self.centre,
                    drift: self.drift,
                    query: self.query,
                };
                reference.faces(k, axis.normal[k] < 0.0, axis.separation, k as u64, clip, out)
            }
            3..6 => {
                let back = Frame { rotation: self.rotation, origin: self.centre };
                let reference = Reference {
                    half: self.half[1],
                    incident_half: self.half[0],
                    rotation: self.rotation.transpose(),
                    centre: back.point_to_local(Vec3::ZERO),
                    drift: self.drift.seen_from(&back).reversed(),
                    query: self.query,
                };
                let start = out.len();
                // The normal of the second box's face looks towards the first.
                let negative = axis.normal.dot(self.rotation.col(k - 3)) > 0.0;
                let found = reference.faces(k - 3, negative, axis.separation, k as u64, clip, out);
                for touch in &mut out[start..] {
                    touch.point = back.point_to_world(touch.point);
                    touch.normal = -(back.rotation * touch.normal);
                }
                found
            }
            _ => self.edges((k - 6) / 3, (k - 6) % 3, axis.normal, out),
        }
    }

    /// Where an edge is nearly along a face of the other box, the contacts of that face too: a turn
    /// within the step lays the edge on it, and the crossing of two edges alone would let its ends
    /// through.
    fn beside_crossing(&self, edges: usize, normal: Vec3, clip: &mut Clip, first: usize, out: &mut Vec<Touch>) {
        let Some(crossing) = out.get(first).copied() else { return };
        let (i, j, turned) = (edges / 3, edges % 3, self.rotation.transpose() * normal);
        for k in (0..3).filter(|&k| k != i && self.rotation.col(j)[k].abs() <= ALONG_FACE) {
            let start = out.len();
            let mut face = Vec3::ZERO;
            face[k] = 1.0_f64.copysign(normal[k]);
            self.contacts(k, &Axis { normal: face, separation: 0.0 }, clip, out);
            keep_beside(&crossing, start, self.query, out);
        }
        for k in (0..3).filter(|&k| k != j && self.rotation.col(k)[i].abs() <= ALONG_FACE) {
            let start = out.len();
            let face = self.rotation.col(k) * 1.0_f64.copysign(turned[k]);
            self.contacts(3 + k, &Axis { normal: face, separation: 0.0 }, clip, out);
            keep_beside(&crossing, start, self.query, out);
        }
    }

    /// The crossing of two edges.
    fn edges(&self, i: usize, j: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let turned = self.rotation.transpose() * normal;
        let on = |half: Vec3, n: Vec3, free: usize| {
            let mut p = Vec3::select(n.cmplt(Vec3::ZERO), -half, half);
            p[free] = 0.0;
            p
        };
        let p = on(self.half[0], normal, i);
        let q = self.centre + self.rotation * on(self.half[1], -turned, j);
        let (u, v) = (Vec3::AXES[i], self.rotation.col(j));
        // p + s u and q + t v are closest.
        let (w, cos) = (q - p, u.dot(v));
        let sin2 = u.cross(v).length_squared();
        let s = (w.dot(u) - cos * w.dot(v)) / sin2;
        let t = (cos * w.dot(u) - w.dot(v)) / sin2;
        let gap = w.dot(normal);
        let travel = if gap > self.query.touch { self.drift.at(q + v * t).norm() } else { 0.0 } + self.query.touch;
        if s.abs() > self.half[0][i] + travel || t.abs() > self.half[1][j] + travel {
            return false;
        }
        if gap <= self.query.limit() {
            let signs = |n: Vec3| (0..3).fold(0, |bits, k| bits | u64::from(n[k] < 0.0) << k);
            let feature = 1 << 40 | (3 * i + j) as u64 | signs(normal) << 8 | signs(turned) << 16;
            let point = 0.5 * (p + u * s + q + v * t);
            out.push(Touch::new(point, normal, gap, feature));
        }
        true
    }
}

/// A box whose face is the reference, and the other in its frame.
struct Reference<'a> {
    half: Vec3,
    incident_half: Vec3,
    rotation: Mat3,
    centre: Vec3,
    drift: Drift,
    query: &'a Query,
}

impl Reference<'_> {
    /// The overlap of face k (the negative or the positive one) with the face of the other box that looks towards it most. The overlap is
    /// the present one; faces that do not overlap yet but come to in this step have that of their ways.
    fn faces(
        &self,
        k: usize,
        negative: bool,
        separation: f64,
        code: u64,
        clip: &mut Clip,
        out: &mut Vec<Touch>,
    ) -> bool {
        let sign = if negative { -1.0 } else { 1.0 };
        let (ku, kv) = ((k + 1) % 3, (k + 2) % 3);
        let (corners, face) = self.incident(k, sign);
        let incident = |clip: &mut Clip| {
            clip.polygon.clear();
            clip.polygon.extend(
                corners
                    .iter()
                    .enumerate()
                    .map(|(i, p)| Corner::vertex(p[ku], p[kv], sign * p[k] - self.half[k], i as u32)),
            );
        };
        let (hu, hv) = (self.half[ku], self.half[kv]);
        let sides = |more: [f64; 4]| {
            [
                Side { a: 1.0, b: 0.0, c: hu + more[0] },
                Side { a: -1.0, b: 0.0, c: hu + more[1] },
                Side { a: 0.0, b: 1.0, c: hv + more[2] },
                Side { a: 0.0, b: -1.0, c: hv + more[3] },
            ]
        };
        incident(clip);
        let present = sides([0.0; 4]);
        let overlaps = clip.overlap(&present, self.query.touch);
        if !overlaps {
            let mut more = [0.0_f64; 4];
            for d in corners.map(|p| self.drift.at(p)) {
                more = [more[0].max(-d[ku]), more[1].max(d[ku]), more[2].max(-d[kv]), more[3].max(d[kv])];
            }
            incident(clip);
            if !clip.overlap(&sides(more), self.query.touch) {
                return false;
            }
            // What will be on the face but is below its plane now has come from the side of a neighbour, which holds it.
            if separation < -self.query.touch {
                return true;
            }
        }
        // Corners that are not over the face yet, but come to be.
        for (i, p) in corners.iter().enumerate().filter(|_| overlaps) {
            let (corner, d) = (Corner::vertex(p[ku], p[kv], sign * p[k] - self.half[k], i as u32), self.drift.at(*p));
            if comes_in(&corner, &present, [d[ku], d[kv], sign * d[k]], self.query.touch) {
                clip.polygon.push(corner);
            }
        }
        let mut normal = Vec3::ZERO;
        normal[k] = sign;
        for corner in clip.polygon.iter().filter(|c| c.height <= self.query.limit()) {
            let mut point = Vec3::ZERO;
            point[ku] = corner.u;
            point[kv] = corner.v;
            point[k] = sign * (self.half[k] + 0.5 * corner.height);
            let feature = u64::from(corner.name) | face << 33 | code << 36 | u64::from(negative) << 39;
            out.push(Touch::new(point, normal, corner.height, feature));
        }
        true
    }

    /// Corners of the other box's face that is most against the reference face, and the face's number.
    fn incident(&self, k: usize, sign: f64) -> ([Vec3; 4], u64) {
        /// Faces that look towards the reference equally, up to rounding, are taken in order.
        const EQUAL: f64 = 1e-9;
        let cosines = self.rotation.transpose().col(k) * sign;
        let mut m = 0;
        (1..3).for_each(|j| m = if cosines[j].abs() > cosines[m].abs() + EQUAL { j } else { m });
        let side = if cosines[m] > 0.0 { -1.0 } else { 1.0 };
        let (mu, mv) = ((m + 1) % 3, (m + 2) % 3);
        let arm = |j: usize| self.rotation.col(j) * self.incident_half[j];
        let (middle, u, v) = (self.centre + arm(m) * side, arm(mu), arm(mv));
        ([middle - u - v, middle + u - v, middle + u + v, middle - u + v], 2 * m as u64 + u64::from(side > 0.0))
    }
}

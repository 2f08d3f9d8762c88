//! The convex hull of points: triangles that are right for the points as given, whatever their
//! shape, and the faces that these triangles make up.
//!
//! Quickhull with exact orientations. With rounded ones, points nearly in a plane or on a line give
//! surfaces that do not close or leave points outside. Faces are joined afterwards, by distances
//! from planes and not by angles, so that a thin plate keeps its shape.
//!
//! Reference: Barber, Dobkin, Huhdanpaa, The Quickhull Algorithm for Convex Hulls (1996).

use robust::{Coord3D, orient3d};

use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Least thickness of a hull, beside its size: thinner ones are flat.
const LEAST_THICKNESS: f64 = 1e-9;

/// Corners of a face may be this far from its plane, beside the hull's size: what single precision
/// leaves of a flat face in a mesh file.
const FLATNESS: f64 = 1e-7;

/// The same beside the hull's thickness.
const FLATNESS_OF_THICKNESS: f64 = 1e-3;

/// Normals of triangles of one face agree up to this difference of their cosine from 1.
const SAME_DIRECTION: f64 = 1.5e-8;

/// No face.
const NONE: u32 = u32::MAX;

/// A hull: the loops of its faces, counterclockwise seen from outside, numbers of the given points.
#[derive(Debug, Default)]
pub(crate) struct Faces {
    pub loops: Vec<u32>,
    /// First corner in `loops` and number of corners of each face.
    pub ranges: Vec<[u32; 2]>,
}

/// The triangles of a hull, before they are joined to faces.
pub(crate) struct ConvexHull<'a> {
    points: &'a [Vec3],
    triangles: Vec<Triangle>,
    flatness: f64,
}

impl<'a> ConvexHull<'a> {
    /// The hull of points; `None` if they are in one plane, up to [`LEAST_THICKNESS`].
    pub(super) fn new(points: &'a [Vec3]) -> Option<Self> {
        let Start { corners, size, thickness } = Start::new(points)?;
        let mut hull = Quickhull::new(points, corners);
        hull.run();
        let flatness = (FLATNESS * size).min(FLATNESS_OF_THICKNESS * thickness);
        Some(Self { points, triangles: hull.triangles, flatness })
    }

    /// Its faces: triangles in one plane are joined, up to `slack` times the flatness of a face.
    pub(super) fn faces(&self, slack: f64) -> Faces {
        let mut faces = joined(self.points, &self.triangles, slack * self.flatness);
        straighten(self.points, &mut faces, slack * self.flatness);
        faces
    }
}

/// Four points that span a volume, the first three counterclockwise seen from outside.
struct Start {
    corners: [u32; 4],
    /// Size and thickness of all points (m).
    size: f64,
    thickness: f64,
}

impl Start {
    fn new(points: &[Vec3]) -> Option<Self> {
        let (_, a) = farthest(points, |p| -p.x);
        let pa = *points.get(a)?;
        let (size, b) = farthest(points, |p| (p - pa).norm());
        let along = (points[b] - pa).unit_or_zero();
        let (_, c) = farthest(points, |p| (p - pa).cross(along).norm());
        let normal = (points[b] - pa).cross(points[c] - pa).unit_or_zero();
        let (thickness, d) = farthest(points, |p| normal.dot(p - pa).abs());
        if thickness.is_nan() || thickness <= LEAST_THICKNESS * size {
            return None;
        }
        let side = above(points, [a, b, c].map(|v| v as u32), d as u32);
        let corners = if side < 0.0 { [a, b, c, d] } else { [a, c, b, d] };
        (side != 0.0).then_some(Self { corners: corners.map(|v| v as u32), size, thickness })
    }
}

/// The greatest measure of a point, and the first point that has it.
fn farthest(points: &[Vec3], measure: impl Fn(Vec3) -> f64) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, p) in points.iter().enumerate() {
        let m = measure(*p);
        if m > best.0 {
            best = (m, k);
        }
    }
    best
}

/// How far a point is above the plane of three others, times twice their triangle's area: the sign
/// is exact. Above is where the three are counterclockwise.
fn above(points: &[Vec3], triangle: [u32; 3], point: u32) -> f64 {
    let at = |v: u32| {
        let [x, y, z] = points[v as usize].to_array();
        Coord3D { x, y, z }
    };
    -orient3d(at(triangle[0]), at(triangle[1]), at(triangle[2]), at(point))
}

/// A triangle in work.
#[derive(Debug)]
struct Triangle {
    corners: [u32; 3],
    /// The triangles beyond its edges; edge k leads from corner k to the next.
    neighbours: [u32; 3],
    /// Points above it, of which the hull is to be taken yet.
    outside: Vec<u32>,
    alive: bool,
}

struct Quickhull<'a> {
    points: &'a [Vec3],
    triangles: Vec<Triangle>,
    /// The new triangle whose edge on the horizon starts at each point.
    starting_at: Vec<u32>,
}

impl<'a> Quickhull<'a> {
    fn new(points: &'a [Vec3], start: [u32; 4]) -> Self {
        let [a, b, c, d] = start;
        let corners = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        let neighbours = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        let face =
            |k: usize| Triangle { corners: corners[k], neighbours: neighbours[k], outside: Vec::new(), alive: true };
        let mut out = Self { points, triangles: (0..4).map(face).collect(), starting_at: vec![NONE; points.len()] };
        let others = (0..points.len() as u32).filter(|v| !start.contains(v));
        out.distribute(others.collect(), 0);
        out
    }

    fn run(&mut self) {
        let mut next = 0;
        // New triangles come last, so all are looked at.
        while next < self.triangles.len() {
            match self.farthest(next) {
                Some(point) => self.add(next, point),
                None => next += 1,
            }
        }
    }

    /// The point farthest above a triangle.
    fn farthest(&self, face: usize) -> Option<u32> {
        let Triangle { corners, outside, alive, .. } = &self.triangles[face];
        let [a, b, c] = corners.map(|v| self.points[v as usize]);
        let normal = (b - a).cross(c - a);
        let mut best = None;
        for &v in outside.iter().filter(|_| *alive) {
            let height = normal.dot(self.points[v as usize] - a);
            if best.is_none_or(|(_, h)| height > h) {
                best = Some((v, height));
            }
        }
        best.map(|(v, _)| v)
    }

    /// Replaces the triangles that a point is above, or in the plane of, by a cone of new ones. Those
    /// in whose plane it is go too: so no new triangle is without area.
    fn add(&mut self, face: usize, point: u32) {
        self.triangles[face].alive = false;
        let mut visible = vec![face as u32];
        let mut horizon: Vec<(u32, u32, u32)> = Vec::new();
        let mut k = 0;
        while let Some(&f) = visible.get(k) {
            for edge in 0..3 {
                let other = self.triangles[f as usize].neighbours[edge];
                let neighbour = &mut self.triangles[other as usize];
                if neighbour.alive && above(self.points, neighbour.corners, point) >= 0.0 {
                    neighbour.alive = false;
                    visible.push(other);
                }
            }
            k += 1;
        }
        for &f in &visible {
            let Triangle { corners, neighbours, .. } = &self.triangles[f as usize];
            let edges = (0..3).filter(|&k| self.triangles[neighbours[k] as usize].alive);
            horizon.extend(edges.map(|k| (corners[k], corners[(k + 1) % 3], neighbours[k])));
        }
        let first = self.triangles.len();
        for (k, &(a, b, other)) in horizon.iter().enumerate() {
            let new = (first + k) as u32;
            self.starting_at[a as usize] = new;
            let corners = [a, b, point];
            self.triangles.push(Triangle {
                corners,
                neighbours: [other, NONE, NONE],
                outside: Vec::new(),
                alive: true,
            });
            let neighbour = &mut self.triangles[other as usize];
            let edge = neighbour.corners.iter().position(|v| *v == b).unwrap_or(0);
            neighbour.neighbours[edge] = new;
        }
        for new in first..self.triangles.len() {
            let after = self.starting_at[self.triangles[new].corners[1] as usize];
            self.triangles[new].neighbours[1] = after;
            self.triangles[after as usize].neighbours[2] = new as u32;
        }
        let mut orphans = Vec::new();
        for f in visible {
            orphans.append(&mut self.triangles[f as usize].outside);
        }
        orphans.retain(|v| *v != point);
        self.distribute(orphans, first);
    }

    /// Gives each point to a triangle from `first` on that it is above; those above none are inside.
    fn distribute(&mut self, points: Vec<u32>, first: usize) {
        for v in points {
            let sees = |f: &&mut Triangle| above(self.points, f.corners, v) > 0.0;
            if let Some(face) = self.triangles[first..].iter_mut().find(sees) {
                face.outside.push(v);
            }
        }
    }
}

/// A triangle's plane: a corner and the normal, whose length is zero where the corners are in line.
fn plane(points: &[Vec3], corners: [u32; 3]) -> (Vec3, Vec3) {
    let [a, b, c] = corners.map(|v| points[v as usize]);
    (a, (b - a).cross(c - a).unit_or_zero())
}

/// Joins triangles whose corners are within the tolerance of one plane, largest first.
fn joined(points: &[Vec3], all: &[Triangle], tolerance: f64) -> Faces {
    let measure = |f: usize| {
        let [a, b, c] = all[f].corners.map(|v| points[v as usize]);
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let area = (b - a).cross(c - a).norm();
        (area, area <= 2.0 * tolerance * longest)
    };
    let measures: Vec<(f64, bool)> = (0..all.len()).map(measure).collect();
    let mut order: Vec<usize> = (0..all.len()).filter(|f| all[*f].alive).collect();
    order.sort_by(|f, g| measures[*g].0.total_cmp(&measures[*f].0).then(f.cmp(g)));
    let mut owner = vec![NONE; all.len()];
    let mut out = Faces::default();
    for seed in order {
        if owner[seed] != NONE {
            continue;
        }
        let (origin, normal) = plane(points, all[seed].corners);
        let flat = |f: u32| {
            let in_plane = |v: u32| normal.dot(points[v as usize] - origin).abs() <= tolerance;
            let corners = all[f as usize].corners;
            let same_way = || normal.dot(plane(points, corners).1) >= 1.0 - SAME_DIRECTION;
            corners.into_iter().all(in_plane) && (measures[f as usize].1 || same_way())
        };
        let face = out.ranges.len() as u32;
        let mut members = vec![seed as u32];
        owner[seed] = face;
        let mut k = 0;
        while let Some(&f) = members.get(k) {
            for other in all[f as usize].neighbours {
                if owner[other as usize] == NONE && flat(other) {
                    owner[other as usize] = face;
                    members.push(other);
                }
            }
            k += 1;
        }
        outline(all, &members, &mut owner, face, &mut out);
    }
    out
}

/// Adds the outline of a face. Where it is no simple loop, the triangles are faces of their own.
fn outline(all: &[Triangle], members: &[u32], owner: &mut [u32], face: u32, out: &mut Faces) {
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for &f in members {
        let Triangle { corners, neighbours, .. } = &all[f as usize];
        let outer = (0..3).filter(|&k| owner[neighbours[k] as usize] != face);
        sides.extend(outer.map(|k| [corners[k], corners[(k + 1) % 3]]));
    }
    sides.sort_unstable();
    let first = out.loops.len() as u32;
    let start = sides[0][0];
    let mut at = start;
    for _ in 0..sides.len() {
        out.loops.push(at);
        let k = sides.partition_point(|s| s[0] < at);
        at = sides.get(k).map_or(start, |s| s[1]);
        if at == start {
            break;
        }
    }
    let count = out.loops.len() as u32 - first;
    if count as usize == sides.len() {
        out.ranges.push([first, count]);
        return;
    }
    out.loops.truncate(first as usize);
    for &f in members {
        owner[f as usize] = out.ranges.len() as u32;
        out.ranges.push([out.loops.len() as u32, 3]);
        out.loops.extend(all[f as usize].corners);
    }
}

/// Takes out corners where only two faces meet, on a straight edge up to the tolerance.
fn straighten(points: &[Vec3], faces: &mut Faces, tolerance: f64) {
    let mut meeting = vec![0_u32; points.len()];
    faces.loops.iter().for_each(|v| meeting[*v as usize] += 1);
    let mut straight = vec![false; points.len()];
    for &[first, count] in &faces.ranges {
        let corners = &faces.loops[first as usize..][..count as usize];
        let at = |k: usize| corners[k % corners.len()] as usize;
        let real: Vec<usize> = (0..corners.len()).filter(|k| meeting[at(*k)] > 2).collect();
        for (i, &from) in real.iter().enumerate() {
            let to = real.get(i + 1).copied().unwrap_or(real[0] + corners.len());
            let [p, q] = [from, to].map(|k| points[at(k)]);
            let along = (q - p).unit_or_zero();
            let between = (from + 1..to).map(at);
            if between.clone().all(|v| (points[v] - p).cross(along).norm() <= tolerance) {
                between.for_each(|v| straight[v] = true);
            }
        }
    }
    // A face keeps three corners.
    for &[first, count] in &faces.ranges {
        let corners = &faces.loops[first as usize..][..count as usize];
        if corners.iter().filter(|v| !straight[**v as usize]).count() < 3 {
            corners.iter().for_each(|v| straight[*v as usize] = false);
        }
    }
    let mut kept = Vec::with_capacity(faces.loops.len());
    for [first, count] in &mut faces.ranges {
        let start = kept.len();
        let corners = &faces.loops[*first as usize..][..*count as usize];
        kept.extend(corners.iter().filter(|v| !straight[**v as usize]));
        (*first, *count) = (start as u32, (kept.len() - start) as u32);
    }
    faces.loops = kept;
}

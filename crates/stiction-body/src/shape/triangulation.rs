//! Surfaces of shapes as triangles: for pictures, and for programs that know nothing else.

use std::f64::consts::PI;

use super::{Shape, ShapeKind};
use crate::collision::polytope::Polytope;
use crate::math::Vec3;

/// Fewest segments of a circle.
const FEWEST_SEGMENTS: usize = 3;

/// A surface of triangles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Triangulation {
    /// Vertices (m), in the frame of the shape.
    pub vertices: Vec<Vec3>,
    /// Triples of vertices, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Shape {
    /// Its surface as triangles, closed but for height fields, open meshes and half-spaces.
    ///
    /// Circles become `segments` chords (at least 3), with vertices on them. A half-space is shown
    /// by a square of its plane about the origin, with sides of `2 · extent` (m).
    pub fn triangulated(&self, segments: usize, extent: f64) -> Triangulation {
        match &*self.kind {
            ShapeKind::Sphere { radius } => ellipsoid(Vec3::splat(*radius), segments),
            ShapeKind::Ellipsoid { radii } => ellipsoid(*radii, segments),
            ShapeKind::Cuboid { half } => polytope(&Polytope::cuboid(*half)),
            ShapeKind::Capsule { half_length, radius } => {
                let arc = quarter_circle(*radius, segments);
                let top = arc.iter().map(|&[r, z]| [r, z + half_length]);
                let bottom = arc.iter().rev().map(|&[r, z]| [r, -z - half_length]);
                revolution(&top.chain(bottom).collect::<Vec<_>>(), segments)
            }
            ShapeKind::Cylinder { half_length: h, radius: r } => {
                revolution(&[[0.0, *h], [*r, *h], [*r, -h], [0.0, -h]], segments)
            }
            ShapeKind::Hull { points } => Polytope::hull(points).as_ref().map(polytope).unwrap_or_default(),
            ShapeKind::Mesh { vertices, triangles } => {
                Triangulation { vertices: vertices.clone(), triangles: triangles.clone() }
            }
            ShapeKind::HeightField { heights, rows, columns, length_x, length_y } => {
                height_field(heights, *rows, *columns, *length_x, *length_y)
            }
            ShapeKind::HalfSpace => {
                let corner = |x: f64, y: f64| Vec3::new(x * extent, y * extent, 0.0);
                let vertices = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                Triangulation { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] }
            }
        }
    }
}

/// The surface of an ellipsoid about the origin with these half axes (m).
fn ellipsoid(radii: Vec3, segments: usize) -> Triangulation {
    let arc = quarter_circle(1.0, segments);
    let below = arc.iter().rev().skip(1).map(|&[r, z]| [r, -z]);
    let mut out = revolution(&arc.iter().copied().chain(below).collect::<Vec<_>>(), segments);
    out.vertices.iter_mut().for_each(|v| *v *= radii);
    out
}

/// From the pole (0, radius) to the equator (radius, 0): distance from the axis, height.
fn quarter_circle(radius: f64, segments: usize) -> Vec<[f64; 2]> {
    let count = segments.max(FEWEST_SEGMENTS).div_ceil(4);
    let point = |i: usize| {
        let angle = 0.5 * PI * i as f64 / count as f64;
        [radius * libm::sin(angle), radius * libm::cos(angle)]
    };
    (0..count).map(point).chain([[radius, 0.0]]).collect()
}

/// A profile (distance from the axis, height), from top to bottom with both ends on the axis,
/// turned about z.
fn revolution(profile: &[[f64; 2]], segments: usize) -> Triangulation {
    let n = segments.max(FEWEST_SEGMENTS);
    let rings = &profile[1..profile.len() - 1];
    let circle: Vec<[f64; 2]> =
        (0..n).map(|i| 2.0 * PI * i as f64 / n as f64).map(|angle| [libm::cos(angle), libm::sin(angle)]).collect();
    let mut out = Triangulation::default();
    for &[r, z] in rings {
        out.vertices.extend(circle.iter().map(|[x, y]| Vec3::new(r * x, r * y, z)));
    }
    let [top, bottom] = [profile[0], profile[profile.len() - 1]];
    let (first, last) = (out.vertices.len() as u32, out.vertices.len() as u32 + 1);
    out.vertices.extend([Vec3::new(0.0, 0.0, top[1]), Vec3::new(0.0, 0.0, bottom[1])]);
    let at = |ring: usize, i: usize| (ring * n + i % n) as u32;
    let end = rings.len() - 1;
    for i in 0..n {
        out.triangles.push([first, at(0, i), at(0, i + 1)]);
        for ring in 0..end {
            let [a, b, c, d] = [at(ring, i), at(ring + 1, i), at(ring + 1, i + 1), at(ring, i + 1)];
            out.triangles.extend([[a, b, c], [a, c, d]]);
        }
        out.triangles.push([last, at(end, i + 1), at(end, i)]);
    }
    out
}

fn polytope(polytope: &Polytope) -> Triangulation {
    Triangulation { vertices: polytope.vertices.clone(), triangles: fans(polytope).collect() }
}

/// The faces of a polytope, each as a fan of triangles.
pub(super) fn fans(polytope: &Polytope) -> impl Iterator<Item = [u32; 3]> {
    polytope.faces.iter().flat_map(|face| {
        let corners = &polytope.loops[face.first as usize..][..face.count as usize];
        corners.windows(2).skip(1).map(|w| [corners[0], w[0], w[1]])
    })
}

/// The triangles that contact is computed with.
fn height_field(heights: &[f64], rows: usize, columns: usize, length_x: f64, length_y: f64) -> Triangulation {
    let along = |i: usize, n: usize, length: f64| (i as f64 / (n - 1) as f64 - 0.5) * length;
    let at = |i: usize, j: usize| (i * columns + j) as u32;
    let point =
        |i: usize, j: usize| Vec3::new(along(i, rows, length_x), along(j, columns, length_y), heights[i * columns + j]);
    let vertices = (0..rows).flat_map(|i| (0..columns).map(move |j| point(i, j))).collect();
    let cells = (0..rows - 1).flat_map(|i| (0..columns - 1).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    Triangulation { vertices, triangles: triangles.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every edge of a closed surface is in two triangles, once each way.
    fn is_closed(surface: &Triangulation) -> bool {
        let edges = surface.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let mut edges: Vec<(u32, u32)> = edges.collect();
        let mut back: Vec<(u32, u32)> = edges.iter().map(|&(a, b)| (b, a)).collect();
        edges.sort_unstable();
        back.sort_unstable();
        edges == back && edges.windows(2).all(|w| w[0] != w[1])
    }

    fn volume(surface: &Triangulation) -> f64 {
        let corner = |v: u32| surface.vertices[v as usize];
        surface.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
    }

    #[test]
    fn solids_are_closed_and_have_their_volumes() {
        let tetrahedron = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(0.1)];
        let shapes = [
            Shape::sphere(0.7).unwrap(),
            Shape::cuboid(Vec3::new(0.1, 0.2, 0.3)).unwrap(),
            Shape::ellipsoid(Vec3::new(1.0, 2.0, 3.0)).unwrap(),
            Shape::capsule(0.4, 0.2).unwrap(),
            Shape::cylinder(0.4, 0.2).unwrap(),
            Shape::hull(tetrahedron).unwrap(),
        ];
        for shape in shapes {
            for segments in [0, 3, 7, 200] {
                let surface = shape.triangulated(segments, 1.0);
                assert!(is_closed(&surface), "{shape:?} with {segments}");
                assert!(volume(&surface) > 0.0, "{shape:?} with {segments}");
            }
            let (found, expected) = (volume(&shape.triangulated(200, 1.0)), shape.volume().unwrap());
            assert!((found / expected - 1.0).abs() < 1e-3, "{shape:?}: {found} against {expected}");
        }
    }

    #[test]
    fn terrain_looks_up() {
        let field = Shape::height_field(vec![0.0, 1.0, 2.0, 0.0, 1.0, 5.0], 2, 3, 2.0, 4.0).unwrap();
        for shape in [field, Shape::half_space()] {
            let surface = shape.triangulated(8, 2.0);
            let corner = |v: u32| surface.vertices[v as usize];
            for &[a, b, c] in &surface.triangles {
                assert!((corner(b) - corner(a)).cross(corner(c) - corner(a)).z > 0.0, "{shape:?}");
            }
        }
    }
}

//! Convex polytopes with faces, edges and their neighbours: boxes, hulls and single triangles alike.

use parry3d_f64::shape::ConvexPolyhedron;
use parry3d_f64::transformation::try_convex_hull;

use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Grids that corners are moved onto where a hull does not close, beside its size.
const GRIDS: [f64; 3] = [1e-9, 1e-7, 1e-5];

/// A face: the points with `normal · x = offset`, bounded by a loop of vertices counterclockwise seen from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Face {
    pub normal: Vec3,
    pub offset: f64,
    /// Its part of the loops.
    pub first: u32,
    pub count: u32,
}

/// An edge and the two faces that meet in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub vertices: [u32; 2],
    pub faces: [u32; 2],
}

/// A convex polytope in its own frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Polytope {
    pub vertices: Vec<Vec3>,
    pub faces: Vec<Face>,
    pub loops: Vec<u32>,
    pub edges: Vec<Edge>,
}

/// A polytope whose parts lie anywhere: the view that all computations take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolytopeRef<'a> {
    pub vertices: &'a [Vec3],
    pub faces: &'a [Face],
    pub loops: &'a [u32],
    pub edges: &'a [Edge],
}

impl Polytope {
    /// A box: corner c has bit k set where axis k is positive; face 2k is at −k, 2k + 1 at +k.
    pub fn cuboid(half: Vec3) -> Self {
        let vertices = (0..8).map(|c| super::pairs::half_space::corner(half, c)).collect();
        let loops: Vec<u32> = CUBOID_LOOPS.iter().flatten().copied().collect();
        let faces = (0..6)
            .map(|f| {
                let mut normal = Vec3::ZERO;
                normal[f / 2] = if f % 2 == 1 { 1.0 } else { -1.0 };
                Face { normal, offset: half[f / 2], first: 4 * f as u32, count: 4 }
            })
            .collect::<Vec<_>>();
        let edges = edges_of(&faces, &loops);
        Self { vertices, faces, loops, edges }
    }

    /// The convex hull of points, with coplanar triangles as one face; `None` if they span no volume. Where fine meshes leave faces that do not close, corners are moved
    /// onto a grid as fine as can be; where that does not help, coplanar triangles stay apart.
    pub fn hull(points: &[Vec3]) -> Option<Self> {
        let low = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
        let high = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
        let size = (high - low).max_element();
        let snapped = |grid: f64| {
            let h = grid * size;
            points.iter().map(|p| low + ((*p - low) / h).round() * h).collect::<Vec<Vec3>>()
        };
        Self::merged_hull(points)
            .or_else(|| GRIDS.iter().find_map(|grid| Self::merged_hull(&snapped(*grid))))
            .or_else(|| Self::triangle_hull(points))
    }

    fn merged_hull(points: &[Vec3]) -> Option<Self> {
        let hull = ConvexPolyhedron::from_convex_hull(points)?;
        let (vertices, loops) = compact(hull.points(), hull.vertices_adj_to_face());
        let counts: Vec<[u32; 2]> =
            hull.faces().iter().map(|f| [f.first_vertex_or_edge, f.num_vertices_or_edges]).collect();
        Self::closed(vertices, loops, &counts)
    }

    fn triangle_hull(points: &[Vec3]) -> Option<Self> {
        let (vertices, triangles) = try_convex_hull(points).ok()?;
        let (vertices, loops) = compact(&vertices, triangles.as_flattened());
        let counts: Vec<[u32; 2]> = (0..triangles.len() as u32).map(|t| [3 * t, 3]).collect();
        Self::closed(vertices, loops, &counts)
    }

    /// The polytope of these faces (first corner in `loops` and their number), if they have areas and close a surface.
    fn closed(vertices: Vec<Vec3>, loops: Vec<u32>, faces: &[[u32; 2]]) -> Option<Self> {
        let mut all = Vec::with_capacity(faces.len());
        for &[first, count] in faces {
            let corners = &loops[first as usize..][..count as usize];
            let normal = polygon_normal(&vertices, corners)?;
            let offset = corners.iter().map(|v| normal.dot(vertices[*v as usize])).fold(f64::MIN, f64::max);
            all.push(Face { normal, offset, first, count });
        }
        let edges = edges_of(&all, &loops);
        (edges.len() + 2 == vertices.len() + all.len()).then_some(Self { vertices, faces: all, loops, edges })
    }

    pub fn view(&self) -> PolytopeRef<'_> {
        PolytopeRef { vertices: &self.vertices, faces: &self.faces, loops: &self.loops, edges: &self.edges }
    }
}

const CUBOID_LOOPS: [[u32; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// Newell's normal of a polygon: right for polygons that are flat up to rounding, whichever corners are nearly in line.
fn polygon_normal(vertices: &[Vec3], corners: &[u32]) -> Option<Vec3> {
    let origin = vertices[*corners.first()? as usize];
    let at = |k: usize| vertices[corners[k % corners.len()] as usize] - origin;
    let sum: Vec3 = (0..corners.len()).map(|k| at(k).cross(at(k + 1))).sum();
    Some(sum.unit_or_zero()).filter(|n| *n != Vec3::ZERO)
}

/// The vertices that are on a loop, in their order, and the loops with their new numbers: where triangles were joined to a face, vertices within it belong to nothing.
fn compact(points: &[Vec3], loops: &[u32]) -> (Vec<Vec3>, Vec<u32>) {
    let mut number = vec![u32::MAX; points.len()];
    loops.iter().for_each(|&v| number[v as usize] = 0);
    let mut vertices = Vec::with_capacity(points.len());
    for (number, p) in number.iter_mut().zip(points).filter(|(number, _)| **number == 0) {
        *number = vertices.len() as u32;
        vertices.push(*p);
    }
    (vertices, loops.iter().map(|&v| number[v as usize]).collect())
}

/// The edges of loops that close a surface, each once, in the order of the faces.
fn edges_of(faces: &[Face], loops: &[u32]) -> Vec<Edge> {
    let mut sides: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(loops.len());
    for (f, face) in faces.iter().enumerate() {
        let corners = &loops[face.first as usize..][..face.count as usize];
        for (k, &a) in corners.iter().enumerate() {
            let b = corners[(k + 1) % corners.len()];
            sides.push((a.min(b), a.max(b), f as u32, a < b));
        }
    }
    sides.sort_unstable();
    let pairs = sides.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 == w[1].1);
    pairs.map(|w| Edge { vertices: [w[0].0, w[0].1], faces: [w[0].2, w[1].2] }).collect()
}

impl<'a> PolytopeRef<'a> {
    /// The corners of a face in turn.
    pub fn corners(&self, face: usize) -> impl ExactSizeIterator<Item = Vec3> + Clone + use<'a> {
        let face = self.faces[face];
        let vertices = self.vertices;
        self.loops[face.first as usize..][..face.count as usize].iter().map(move |v| vertices[*v as usize])
    }

    /// True if the foot of the perpendicular from p on the face's plane lies in the face.
    pub fn projects_inside(&self, face: usize, p: Vec3) -> bool {
        let corners = self.corners(face);
        let normal = self.faces[face].normal;
        let next = corners.clone().cycle().skip(1);
        corners.zip(next).all(|(a, b)| (b - a).cross(p - a).dot(normal) >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(p: &Polytope) {
        assert_eq!(p.vertices.len() + p.faces.len(), p.edges.len() + 2);
        let view = p.view();
        for (i, face) in p.faces.iter().enumerate() {
            assert!(p.vertices.iter().all(|v| face.normal.dot(*v) <= face.offset + 1e-12));
            assert!(view.corners(i).all(|v| (face.normal.dot(v) - face.offset).abs() < 1e-12));
        }
    }

    #[test]
    fn boxes_and_hulls_are_closed_and_look_outwards() {
        let cuboid = Polytope::cuboid(Vec3::new(1.0, 2.0, 3.0));
        check(&cuboid);
        let hull = Polytope::hull(&cuboid.vertices).unwrap();
        assert_eq!((hull.faces.len(), hull.edges.len()), (6, 12));
        check(&hull);
        let ball: Vec<Vec3> = (0..60)
            .map(|k| {
                let z = 1.0 - (2 * k + 1) as f64 / 60.0;
                let (angle, r) = (2.399963 * k as f64, (1.0 - z * z).sqrt());
                Vec3::new(r * libm::cos(angle), r * libm::sin(angle), z)
            })
            .collect();
        check(&Polytope::hull(&ball).unwrap());
    }

    #[test]
    fn points_within_faces_and_edges_belong_to_no_hull() {
        // A grid over the surface of a box, as meshes from modelling programs are.
        let n = 6;
        let on = |k: usize| k == 0 || k == n;
        let mut points = Vec::new();
        for (i, j, k) in (0..=n).flat_map(|i| (0..=n).flat_map(move |j| (0..=n).map(move |k| (i, j, k)))) {
            if on(i) || on(j) || on(k) {
                points.push(Vec3::new(0.1 * i as f64, 0.07 * j as f64, 0.03 * k as f64));
            }
        }
        let hull = Polytope::hull(&points).unwrap();
        check(&hull);
        assert_eq!(hull.faces.len(), 6);
    }
}

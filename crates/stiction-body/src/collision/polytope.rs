//! Convex polytopes with faces, edges and their neighbours: boxes, hulls and single triangles alike.

use std::ops::Range;

use crate::collision::box_tree::{Bounds, BoxTree, meet};
use crate::collision::convex_hull::ConvexHull;
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// How much less flat than usual faces may be, tried in turn: where triangles without area are left.
const JOINING_SLACK: [f64; 3] = [1.0, 10.0, 100.0];

/// Corners up to which all are looked at where the farthest one is asked for.
const FEW_CORNERS: usize = 24;

/// A face: the points with `normal · x = offset`, bounded by a loop of vertices counterclockwise seen from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Face {
    pub normal: Vec3,
    pub offset: f64,
    /// Its part of the loops.
    pub first: u32,
    pub count: u32,
}

impl Face {
    /// Its part of the loops.
    pub(crate) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
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
    around: Around,
    planes: Planes,
    inside: Inside,
}

/// A ball within a polytope: every supporting plane is at least its radius away from its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Inside {
    pub centre: Vec3,
    /// 0 for a polytope without an inside.
    pub radius: f64,
}

/// A polytope whose parts lie anywhere: the view that all computations take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolytopeRef<'a> {
    pub vertices: &'a [Vec3],
    pub faces: &'a [Face],
    pub loops: &'a [u32],
    pub edges: &'a [Edge],
    /// Corners next to each other; `None` for polytopes of few corners.
    pub around: Option<&'a Around>,
    /// Faces by their planes; `None` as above.
    pub planes: Option<&'a Planes>,
    pub inside: Inside,
}

impl PolytopeRef<'_> {
    /// The least `n · p` of all corners, looked for from one of them.
    pub(crate) fn least(&self, n: Vec3, from: usize) -> f64 {
        match self.around {
            None => least(self.vertices, n),
            Some(around) => around.least(n, n.dot(self.vertices[from])),
        }
    }
}

/// The least `n · p`.
pub(crate) fn least(points: &[Vec3], n: Vec3) -> f64 {
    let mut least = [f64::INFINITY; 4];
    let (fours, rest) = points.as_chunks::<4>();
    for four in fours {
        (0..4).for_each(|k| least[k] = least[k].min(n.dot(four[k])));
    }
    rest.iter().map(|p| n.dot(*p)).chain(least).fold(f64::INFINITY, f64::min)
}

impl Polytope {
    /// A box: corner c has bit k set where axis k is positive; face 2k is at −k, 2k + 1 at +k.
    pub(crate) fn cuboid(half: Vec3) -> Self {
        let vertices = (0..8).map(|c| super::pairs::half_space::corner(half, c)).collect();
        let loops: Vec<u32> = CUBOID_LOOPS.iter().flatten().copied().collect();
        let faces = (0..6)
            .map(|f| {
                let mut normal = Vec3::ZERO;
                normal[f / 2] = if f % 2 == 1 { 1.0 } else { -1.0 };
                Face { normal, offset: half[f / 2], first: 4 * f as u32, count: 4 }
            })
            .collect::<Vec<_>>();
        Self::new(vertices, faces, loops)
    }

    fn new(vertices: Vec<Vec3>, faces: Vec<Face>, loops: Vec<u32>) -> Self {
        let edges = edges_of(&faces, &loops);
        let around = Around::new(&vertices, &edges);
        let centre = vertices.iter().copied().sum::<Vec3>() / vertices.len().max(1) as f64;
        let (planes, inside) = (Planes::default(), Inside { centre, radius: 0.0 });
        Self { vertices, faces, loops, edges, around, planes, inside }.settled()
    }

    /// With offsets of faces that no corner is above, whatever rounding did to the normals, the radius
    /// of the ball within, and the planes.
    fn settled(mut self) -> Self {
        for face in &mut self.faces {
            let from = self.loops[face.first as usize];
            face.offset = face.normal.dot(self.vertices[self.around.farthest(&self.vertices, face.normal, from)]);
        }
        let room = |least: f64, face: &Face| least.min(face.offset - face.normal.dot(self.inside.centre));
        self.inside.radius = self.faces.iter().fold(f64::INFINITY, room).max(0.0);
        if self.vertices.len() > FEW_CORNERS {
            self.planes = Planes::new(&self.faces, &self.loops, &self.edges, self.inside.centre);
        }
        self
    }

    /// The convex hull of points, with triangles in one plane as one face; `None` if they span no volume.
    pub(crate) fn hull(points: &[Vec3]) -> Option<Self> {
        let hull = ConvexHull::new(points)?;
        JOINING_SLACK.iter().find_map(|slack| {
            let faces = hull.faces(*slack);
            let (vertices, loops) = compact(points, &faces.loops);
            Self::closed(vertices, loops, &faces.ranges)
        })
    }

    /// The polytope of these faces (first corner in `loops` and their number), if they have areas and close a surface.
    fn closed(vertices: Vec<Vec3>, loops: Vec<u32>, faces: &[[u32; 2]]) -> Option<Self> {
        let mut all = Vec::with_capacity(faces.len());
        for &[first, count] in faces {
            let corners = &loops[first as usize..][..count as usize];
            all.push(Face { normal: polygon_normal(&vertices, corners)?, offset: 0.0, first, count });
        }
        let polytope = Self::new(vertices, all, loops);
        (polytope.edges.len() + 2 == polytope.vertices.len() + polytope.faces.len()).then_some(polytope)
    }

    pub(crate) fn view(&self) -> PolytopeRef<'_> {
        let many = self.vertices.len() > FEW_CORNERS;
        PolytopeRef {
            vertices: &self.vertices,
            faces: &self.faces,
            loops: &self.loops,
            edges: &self.edges,
            around: many.then_some(&self.around),
            planes: many.then_some(&self.planes),
            inside: self.inside,
        }
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

/// Corners and their neighbours: the farthest corner along a direction is found by climbing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Around {
    /// Where each corner's neighbours start.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// The edges to them.
    edges: Vec<u32>,
    /// The corners by their places, and the edges; empty where there are few.
    tree: BoxTree<3>,
    edge_tree: BoxTree<3>,
}

impl Around {
    fn new(vertices: &[Vec3], edges_of_polytope: &[Edge]) -> Self {
        let both_ways = |(k, e): (usize, &Edge)| [0, 1].map(|i| [e.vertices[i], e.vertices[1 - i], k as u32]);
        let mut pairs: Vec<[u32; 3]> = edges_of_polytope.iter().enumerate().flat_map(both_ways).collect();
        pairs.sort_unstable();
        let starts = (0..=vertices.len()).map(|v| pairs.partition_point(|p| (p[0] as usize) < v) as u32).collect();
        let (neighbours, edges) = pairs.iter().map(|p| (p[1], p[2])).unzip();
        let many = vertices.len() > FEW_CORNERS;
        let tree = BoxTree::new(vertices.iter().filter(|_| many).map(|p| [p.to_array(); 2]));
        let ends = |e: &Edge| e.vertices.map(|v| vertices[v as usize]);
        let bounds = |[a, b]: [Vec3; 2]| [a.min(b).to_array(), a.max(b).to_array()];
        let edge_tree = BoxTree::new(edges_of_polytope.iter().filter(|_| many).map(|e| bounds(ends(e))));
        Self { starts, neighbours, edges, tree, edge_tree }
    }

    /// The least `n · p` of all corners, of which `of_one` has one: unlike climbing, right whatever faces are.
    fn least(&self, n: Vec3, of_one: f64) -> f64 {
        let lowest = |[low, high]: &Bounds<3>| {
            let at = |k: usize| n[k] * if n[k] < 0.0 { high[k] } else { low[k] };
            at(0) + at(1) + at(2)
        };
        self.tree.least(lowest, of_one).0
    }

    /// The corners and edges whose bounds meet a box, ascending.
    pub(crate) fn find(&self, box_around: &Bounds<3>, corners: &mut Vec<u32>, edges: &mut Vec<u32>) {
        for (tree, found) in [(&self.tree, corners), (&self.edge_tree, edges)] {
            found.clear();
            tree.find(|own| meet(own, box_around), found);
            found.sort_unstable();
        }
    }

    fn range(&self, corner: usize) -> Range<usize> {
        self.starts[corner] as usize..self.starts[corner + 1] as usize
    }

    /// The corners next to a corner.
    pub(crate) fn neighbours(&self, corner: usize) -> &[u32] {
        &self.neighbours[self.range(corner)]
    }

    /// The edges that meet in a corner.
    pub(crate) fn edges_at(&self, corner: usize) -> &[u32] {
        &self.edges[self.range(corner)]
    }

    /// The corner with the greatest `n · p` (`points` are the corners, in any frame), found from another one:
    /// right up to what the rounding of heights and faces that are not quite flat leave open.
    pub(crate) fn farthest(&self, points: &[Vec3], n: Vec3, from: u32) -> usize {
        self.farther(points, n, from, f64::INFINITY)
    }

    /// The same, or the first corner on the way there with `n · p > enough`.
    pub(crate) fn farther(&self, points: &[Vec3], n: Vec3, from: u32, enough: f64) -> usize {
        let (mut at, mut best) = (from as usize, n.dot(points[from as usize]));
        while best <= enough {
            let mut next = at;
            for &v in self.neighbours(at) {
                let height = n.dot(points[v as usize]);
                if height > best {
                    (next, best) = (v as usize, height);
                }
            }
            if next == at {
                break;
            }
            at = next;
        }
        at
    }
}

/// Faces by their planes: those that a point is not deep behind are found without a look at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Planes {
    /// Distances are measured from here.
    centre: Vec3,
    /// Normals and distances from the centre.
    tree: BoxTree<4>,
    farthest: f64,
    /// The edges of each face: that from each corner of the loops to the next.
    sides: Vec<u32>,
}

impl Planes {
    fn new(faces: &[Face], loops: &[u32], edges: &[Edge], centre: Vec3) -> Self {
        let distance = |face: &Face| face.offset - face.normal.dot(centre);
        let plane = |face: &Face| [face.normal.x, face.normal.y, face.normal.z, distance(face)];
        let mut of_face: Vec<(u32, u32)> =
            edges.iter().enumerate().flat_map(|(k, edge)| edge.faces.map(|face| (face, k as u32))).collect();
        of_face.sort_unstable();
        let mut sides = vec![0; loops.len()];
        for (f, face) in faces.iter().enumerate() {
            let first = of_face.partition_point(|(other, _)| (*other as usize) < f);
            sides[face.range()].iter_mut().zip(&of_face[first..]).for_each(|(side, (_, edge))| *side = *edge);
        }
        Self {
            centre,
            tree: BoxTree::new(faces.iter().map(|face| [plane(face); 2])),
            farthest: faces.iter().map(distance).fold(0.0, f64::max),
            sides,
        }
    }

    /// All faces with `normal · x − offset ≥ least`, in no order; rounding may add others.
    pub(crate) fn find(&self, x: Vec3, least: f64, out: &mut Vec<u32>) {
        out.clear();
        self.visit(x, least, |face| out.push(face));
    }

    /// The same, one after the other.
    fn visit(&self, x: Vec3, least: f64, face: impl FnMut(u32)) {
        /// More than the rounding of a height above a plane.
        const ROUNDING: f64 = 32.0 * f64::EPSILON;
        let from = x - self.centre;
        let sizes = from.abs().element_sum() + self.centre.abs().element_sum() + self.farthest;
        let least = least - ROUNDING * sizes;
        let above = |[low, high]: &[[f64; 4]; 2]| {
            let most = |k: usize| (low[k] * from[k]).max(high[k] * from[k]);
            most(0) + most(1) + most(2) - low[3] >= least
        };
        self.tree.visit(above, face);
    }

    /// The face that a point is highest above, or least deep below; up to rounding.
    pub(crate) fn highest(&self, x: Vec3) -> usize {
        let from = x - self.centre;
        let above = |[low, high]: &[[f64; 4]; 2]| {
            let least = |k: usize| (-low[k] * from[k]).min(-high[k] * from[k]);
            least(0) + least(1) + least(2) + low[3]
        };
        self.tree.least(above, f64::INFINITY).1.unwrap_or(0) as usize
    }

    /// The edges of a face.
    pub(crate) fn edges_of(&self, face: &Face) -> &[u32] {
        &self.sides[face.range()]
    }
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
        let corners = &loops[face.range()];
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
    /// The faces that a point is higher above than `least`, with its height, in no order.
    pub(crate) fn faces_below(&self, x: Vec3, least: f64, mut face: impl FnMut(usize, f64)) {
        let mut look = |i: usize| {
            let height = self.faces[i].normal.dot(x) - self.faces[i].offset;
            if height > least {
                face(i, height);
            }
        };
        match self.planes {
            Some(planes) => planes.visit(x, least, |i| look(i as usize)),
            None => (0..self.faces.len()).for_each(look),
        }
    }

    /// The corners of a face in turn.
    pub(crate) fn corners(&self, face: usize) -> impl ExactSizeIterator<Item = Vec3> + Clone + use<'a> {
        let face = self.faces[face];
        let vertices = self.vertices;
        self.loops[face.range()].iter().map(move |v| vertices[*v as usize])
    }

    /// True if the foot of the perpendicular from p on the face's plane lies in the face.
    pub(crate) fn projects_inside(&self, face: usize, p: Vec3) -> bool {
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

    /// Plates, needles and boxes that are turned: no point is outside, whatever is nearly flat or straight.
    #[test]
    fn hulls_of_thin_shapes_hold_all_their_points() {
        let mut state = 1_u64;
        let mut unit = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for k in 0..2000 {
            let thin = [1.0, 1e-1, 1e-3, 1e-5, 1e-7][k % 5];
            let scale = [Vec3::ONE, Vec3::new(1.0, 1.0, thin), Vec3::new(1.0, thin, thin)][k % 3];
            let turn = crate::math::axis_angle(Vec3::new(unit(), unit(), unit()) * [1.0, 1e-8][k % 2]);
            let corners = Polytope::cuboid(scale).vertices;
            let count = 4 + (unit() * 36.0) as usize;
            let cloud = |_| (Vec3::new(unit(), unit(), unit()) - 0.5) * scale;
            let points = if k % 7 == 0 { corners } else { (0..count).map(cloud).collect() };
            let points: Vec<Vec3> = points.iter().map(|p| turn * *p + Vec3::splat(0.3)).collect();
            let hull = Polytope::hull(&points).unwrap();
            assert_eq!(hull.vertices.len() + hull.faces.len(), hull.edges.len() + 2);
            if k % 7 == 0 && thin > 1e-7 {
                assert_eq!((hull.faces.len(), hull.edges.len()), (6, 12));
            }
            let out = |f: &Face| points.iter().map(|p| f.normal.dot(*p) - f.offset).fold(0.0, f64::max);
            assert!(hull.faces.iter().all(|f| out(f) <= 1e-3 * thin), "{k}");
        }
    }

    #[test]
    fn planes_near_a_point_are_those_of_a_look_at_all() {
        let mut rng = stiction_linalg::rng::Rng::new(9);
        let mut draw = || Vec3::new(rng.normal(), rng.normal(), rng.normal());
        for k in 0..20 {
            let scale = Vec3::new(1.0, 1.0, [1.0, 0.1, 1e-4][k % 3]);
            let far = [Vec3::ZERO, Vec3::splat(30.0)][k % 2];
            let points: Vec<Vec3> = (0..40 + 20 * k).map(|_| draw().normalize() * scale + far).collect();
            let hull = Polytope::hull(&points).unwrap();
            let (view, mut found) = (hull.view(), Vec::new());
            let planes = view.planes.unwrap();
            for _ in 0..50 {
                let (x, least) = (draw() * scale + far, 0.3 * draw().x);
                planes.find(x, least, &mut found);
                let is_above = |f: &usize| hull.faces[*f].normal.dot(x) - hull.faces[*f].offset >= least;
                assert!((0..hull.faces.len()).filter(is_above).all(|f| found.contains(&(f as u32))));
                let slack = |f: &u32| hull.faces[*f as usize].normal.dot(x) - hull.faces[*f as usize].offset - least;
                assert!(found.iter().all(|f| slack(f) > -1e-12));
            }
            for (f, face) in hull.faces.iter().enumerate() {
                let all = (0..hull.edges.len() as u32).filter(|e| hull.edges[*e as usize].faces.contains(&(f as u32)));
                assert!(planes.edges_of(face).iter().copied().eq(all));
            }
        }
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

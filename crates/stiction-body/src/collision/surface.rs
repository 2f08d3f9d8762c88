//! Surfaces of triangles: meshes and height fields, with neighbours, so that a contact at an edge that is not sharp has the normal of a face.

use crate::collision::box_tree::{BoxTree, meet};
use crate::collision::closest::{Closest, direction, on_segment};
use crate::collision::polytope::{Edge, Face, Inside, PolytopeRef};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// A triangles' neighbour that is not there.
const NONE: u32 = u32::MAX;

/// Part of a cell by which the cells looked at are grown.
const CELL: f64 = 1e-6;

/// Triangles with their neighbours.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    pub vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vec3>,
    /// Per triangle and side (from corner k to k + 1): the vertex opposite that side in the next triangle, and that triangle.
    across: Vec<[(u32, u32); 3]>,
    /// Vertices joined to vertex v by a side: `around[first_around[v]..first_around[v + 1]]`.
    around: Vec<u32>,
    first_around: Vec<u32>,
    /// Per triangle and side: true if the surface bends down there, or ends.
    sharp: Vec<[bool; 3]>,
    lookup: Lookup,
    /// True if everything below is solid: a shape that is under the surface is pushed up.
    pub solid_below: bool,
}

#[derive(Debug, Clone)]
enum Lookup {
    /// Cells of a height field: number along x and y, sides, and the lower and upper height of each.
    Grid {
        cells: [usize; 2],
        sides: [f64; 2],
        heights: Vec<[f64; 2]>,
    },
    Tree(BoxTree<3>),
}

impl Surface {
    /// A mesh; triangles without area are left out.
    pub(super) fn mesh(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let corner = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        let kept: Vec<[u32; 3]> = triangles.iter().filter(|t| normal(corner(t)).is_some()).copied().collect();
        let bounds = kept.iter().map(|t| {
            let [a, b, c] = corner(t);
            [a.min(b).min(c), a.max(b).max(c)].map(|corner| corner.to_array())
        });
        let tree = BoxTree::new(bounds);
        Self::new(vertices.to_vec(), kept, Lookup::Tree(tree), false)
    }

    /// A height field: each cell is cut from its corner with the least x and y to the opposite one.
    pub(super) fn height_field(heights: &[f64], rows: usize, columns: usize, length: [f64; 2]) -> Self {
        let along = |i: usize, n: usize, length: f64| (i as f64 / (n - 1) as f64 - 0.5) * length;
        let vertex = |i: usize, j: usize| {
            Vec3::new(along(i, rows, length[0]), along(j, columns, length[1]), heights[i * columns + j])
        };
        let vertices = (0..rows).flat_map(|i| (0..columns).map(move |j| vertex(i, j))).collect();
        let cells = [rows - 1, columns - 1];
        let (mut triangles, mut extent) = (Vec::with_capacity(2 * cells[0] * cells[1]), Vec::new());
        for i in 0..cells[0] {
            for j in 0..cells[1] {
                let at = |di: usize, dj: usize| ((i + di) * columns + j + dj) as u32;
                triangles.push([at(0, 0), at(1, 0), at(1, 1)]);
                triangles.push([at(0, 0), at(1, 1), at(0, 1)]);
                let h = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)].map(|v| heights[v as usize]);
                extent.push([
                    h.into_iter().fold(f64::INFINITY, f64::min),
                    h.into_iter().fold(f64::NEG_INFINITY, f64::max),
                ]);
            }
        }
        let sides = [length[0] / cells[0] as f64, length[1] / cells[1] as f64];
        Self::new(vertices, triangles, Lookup::Grid { cells, sides, heights: extent }, true)
    }

    fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, lookup: Lookup, solid_below: bool) -> Self {
        let normals: Vec<Vec3> =
            triangles.iter().map(|t| normal(t.map(|v| vertices[v as usize])).unwrap_or(Vec3::Z)).collect();
        let mut sides: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(3 * triangles.len());
        for (i, t) in triangles.iter().enumerate() {
            sides.extend((0..3).map(|k| (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]), i as u32, k)));
        }
        sides.sort_unstable();
        let mut across = vec![[(NONE, NONE); 3]; triangles.len()];
        for pair in sides.windows(2) {
            let [(a, b, i, k), (c, d, j, l)] = [pair[0], pair[1]];
            if (a, b) == (c, d) {
                across[i as usize][k] = (triangles[j as usize][(l + 2) % 3], j);
                across[j as usize][l] = (triangles[i as usize][(k + 2) % 3], i);
            }
        }
        let (around, first_around) = neighbours(vertices.len(), &sides);
        let sharp = sharp_sides(&vertices, &triangles, &normals, &across);
        Self { vertices, triangles, normals, across, around, first_around, sharp, lookup, solid_below }
    }

    /// True if it has no triangles.
    pub(super) fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Triangles whose bounds meet the box, in ascending order. Of a height field those are left out that lie below the middle of the box and farther
    /// from it than `radius`: what reaches that far only, such as a ball, has no contact with them.
    pub(super) fn near(&self, low: Vec3, high: Vec3, radius: f64, out: &mut Vec<u32>) {
        out.clear();
        match &self.lookup {
            Lookup::Tree(tree) => {
                let asked = [low, high].map(|corner| corner.to_array());
                tree.find(|own| meet(own, &asked), out);
                out.sort_unstable();
            }
            Lookup::Grid { cells, sides, heights } => {
                let range = |k: usize| {
                    let middle = 0.5 * cells[k] as f64;
                    // Rounding must not lose a cell that is just touched.
                    let clamped = |x: f64| x.clamp(0.0, cells[k] as f64) as usize;
                    clamped((low[k] / sides[k] + middle - CELL).floor())
                        ..clamped((high[k] / sides[k] + middle + CELL).ceil())
                };
                let middle = 0.5 * (low + high);
                // How far the middle is from the cells of number i along an axis.
                let beside = |k: usize, i: usize| {
                    let first = (i as f64 - 0.5 * cells[k] as f64) * sides[k];
                    (first - middle[k]).max(middle[k] - first - sides[k]).max(0.0)
                };
                let square = radius * radius * (1.0 + CELL);
                for i in range(0) {
                    let along_x = beside(0, i) * beside(0, i);
                    for j in range(1) {
                        let cell = i * cells[1] + j;
                        let [bottom, top] = heights[cell];
                        let (along_y, up) = (beside(1, j), middle.z - top);
                        let out_of_reach = up > 0.0 && along_x + along_y * along_y + up * up > square;
                        if (self.solid_below || bottom <= high.z) && low.z <= top && !out_of_reach {
                            out.extend([2 * cell as u32, 2 * cell as u32 + 1]);
                        }
                    }
                }
            }
        }
    }

    /// Number of triangles.
    pub(super) fn count(&self) -> usize {
        self.triangles.len()
    }

    /// The corners of a triangle.
    pub(super) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// Height of p above a triangle's plane, and its normal.
    pub(super) fn plane(&self, triangle: u32, p: Vec3) -> (f64, Vec3) {
        let t = triangle as usize;
        let normal = self.normals[t];
        (normal.dot(p - self.vertices[self.triangles[t][0] as usize]), normal)
    }

    /// True if p is above a triangle, and farther from it than `within`: a cheap look at its plane and the lines of its sides.
    pub(super) fn is_far(&self, triangle: u32, p: Vec3, within: f64) -> bool {
        let t = triangle as usize;
        let (normal, corners) = (self.normals[t], self.triangles[t].map(|v| self.vertices[v as usize]));
        let height = normal.dot(p - corners[0]);
        let rest = (within * within - height * height) * (1.0 + CELL);
        height > 0.0
            && (0..3).any(|k| {
                let (a, along) = (corners[k], corners[(k + 1) % 3] - corners[k]);
                let inside = along.cross(p - a).dot(normal);
                inside < 0.0 && inside * inside > rest * along.length_squared()
            })
    }

    /// A triangle made ready.
    pub(super) fn tile(&self, triangle: u32, slack: f64) -> Tile<'_> {
        let t = triangle as usize;
        let corners = self.triangles[t].map(|v| self.vertices[v as usize]);
        let normal = self.normals[t];
        let face = |normal: Vec3, at: Vec3| Face { normal, offset: normal.dot(at), first: 0, count: 3 };
        let mut tile = Tile {
            surface: self,
            triangle: t,
            corners,
            faces: [face(normal, corners[0]); 4],
            edges: [Edge { vertices: [0, 1], faces: [0, 0] }; 3],
            sharp: [0; 3],
            sharp_count: 0,
            slack,
        };
        for k in (0..3).filter(|k| self.sharp[t][*k]) {
            let (_, other) = self.across[t][k];
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            // Without a neighbour: the rim of a sheet.
            let rim = || (b - a).cross(normal).unit_or(normal);
            let beyond = self.normals.get(other as usize).copied().unwrap_or_else(rim);
            tile.faces[k + 1] = face(beyond, a);
            let count = tile.sharp_count;
            tile.edges[count] = Edge { vertices: [k as u32, (k as u32 + 1) % 3], faces: [0, k as u32 + 1] };
            tile.sharp[count] = k;
            tile.sharp_count += 1;
        }
        tile
    }

    fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.first_around[v] as usize..self.first_around[v + 1] as usize]
    }
}

/// A side is flat if the next triangle's far corner is below the plane by no more than this fraction of its distance.
const FLAT: f64 = 1e-12;

fn sharp_sides(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    normals: &[Vec3],
    across: &[[(u32, u32); 3]],
) -> Vec<[bool; 3]> {
    let sharp = |t: usize, k: usize| {
        let to = |v: u32| vertices[v as usize] - vertices[triangles[t][k] as usize];
        let (opposite, other) = across[t][k];
        other == NONE || normals[t].dot(to(opposite)) < -FLAT * to(opposite).norm()
    };
    (0..triangles.len()).map(|t| [0, 1, 2].map(|k| sharp(t, k))).collect()
}

fn normal([a, b, c]: [Vec3; 3]) -> Option<Vec3> {
    let scale = (b - a).abs().max_element().max((c - a).abs().max_element());
    if scale > 0.0 {
        Some(((b - a) / scale).cross((c - a) / scale).unit_or_zero()).filter(|n| *n != Vec3::ZERO)
    } else {
        None
    }
}

/// Vertices joined by sides, in rows.
fn neighbours(n: usize, sides: &[(u32, u32, u32, usize)]) -> (Vec<u32>, Vec<u32>) {
    let mut joined: Vec<(u32, u32)> = sides.iter().flat_map(|&(a, b, _, _)| [(a, b), (b, a)]).collect();
    joined.sort_unstable();
    joined.dedup();
    let mut first = vec![0; n + 1];
    joined.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
    (0..n).for_each(|v| first[v + 1] += first[v]);
    (joined.into_iter().map(|(_, b)| b).collect(), first)
}

/// A triangle of a surface as a polytope of one face, with its sharp edges only; further faces bound the normals of those.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile<'a> {
    surface: &'a Surface,
    triangle: usize,
    pub corners: [Vec3; 3],
    faces: [Face; 4],
    edges: [Edge; 3],
    /// The side of each sharp edge.
    sharp: [usize; 3],
    sharp_count: usize,
    slack: f64,
}

/// A place on a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spot {
    Corner(usize),
    /// The side from corner k to the next.
    Side(usize),
}

impl Tile<'_> {
    pub(super) fn view(&self) -> PolytopeRef<'_> {
        PolytopeRef {
            vertices: &self.corners,
            faces: &self.faces,
            loops: &[0, 1, 2],
            edges: &self.edges[..self.sharp_count],
            around: None,
            planes: None,
            inside: Inside { centre: (self.corners[0] + self.corners[1] + self.corners[2]) / 3.0, radius: 0.0 },
        }
    }

    pub(super) fn normal(&self) -> Vec3 {
        self.faces[0].normal
    }

    /// True if the surface bends down at no side: only the face can be nearest.
    pub(super) fn is_smooth(&self) -> bool {
        self.sharp_count == 0
    }

    /// True if p is over the triangle, up to the slack, so that seams have no gaps.
    pub(super) fn is_over(&self, p: Vec3) -> bool {
        (0..3).all(|k| {
            let (a, along) = (self.corners[k], self.corners[(k + 1) % 3] - self.corners[k]);
            along.cross(p - a).dot(self.normal()) >= -self.slack * along.norm()
        })
    }

    /// Height above the triangle's plane.
    pub(super) fn height(&self, p: Vec3) -> f64 {
        self.normal().dot(p - self.corners[0])
    }

    /// The side that is sharp edge k.
    pub(super) fn side(&self, k: usize) -> Spot {
        Spot::Side(self.sharp[k])
    }

    /// Whether n is a normal of the whole surface at that place: nothing next to it is beyond the plane.
    pub(super) fn allowed(&self, n: Vec3, spot: Spot) -> bool {
        let vertices = &self.surface.vertices;
        match spot {
            Spot::Side(k) => {
                let (opposite, _) = self.surface.across[self.triangle][k];
                let below = |p: Vec3| n.dot(p - self.corners[k]) <= self.slack;
                below(self.corners[(k + 2) % 3]) && (opposite == NONE || below(vertices[opposite as usize]))
            }
            Spot::Corner(k) => {
                let around = self.surface.around(self.surface.triangles[self.triangle][k]);
                around.iter().all(|v| n.dot(vertices[*v as usize] - self.corners[k]) <= self.slack)
            }
        }
    }

    /// The closest point to p, unless the surface is nearer elsewhere or p is behind by more than `behind`.
    pub(super) fn closest(&self, p: Vec3, behind: f64) -> Option<Closest> {
        let (height, normal) = (self.height(p), self.normal());
        if height < -behind {
            return None;
        }
        if self.is_over(p) {
            return Some(Closest { point: p - normal * height, normal, distance: height });
        }
        if height < -self.slack || self.is_smooth() {
            return None;
        }
        let mut best = (f64::INFINITY, Vec3::ZERO, Spot::Side(0));
        for k in 0..3 {
            let (a, b) = (self.corners[k], self.corners[(k + 1) % 3]);
            let t = on_segment(p, a, b);
            let point = a + (b - a) * t;
            let distance = (p - point).norm();
            if distance < best.0 {
                let spot = if t <= 0.0 {
                    Spot::Corner(k)
                } else if t >= 1.0 {
                    Spot::Corner((k + 1) % 3)
                } else {
                    Spot::Side(k)
                };
                best = (distance, point, spot);
            }
        }
        let (normal, distance) = direction(p - best.1, normal);
        self.allowed(normal, best.2).then_some(Closest { point: best.1, normal, distance })
    }
}

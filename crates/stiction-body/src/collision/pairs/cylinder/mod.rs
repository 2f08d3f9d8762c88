//! A cylinder with a polytope. Besides normals of flat faces there are those of its side, against corners and edges, and of its rims,
//! against edges: the latter is the one search, for the zero of a function of one variable.

mod features;
mod geometry;

pub(crate) use geometry::Cylinder;

use crate::collision::frame::{Apart, Drift, Frame, Query, Touch};
use crate::collision::pairs::axes::{ALONG_FACE, FACE_LIKE, PARALLEL, Rank, Ranking, keep_beside};
use crate::collision::pairs::polytopes::to_world;
use crate::collision::polytope::{Edge, PolytopeRef};
use crate::collision::sign_change::sign_change;
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// How many axes are tried, as for polytopes.
const TRIES: usize = 4;

/// The feature of a triangle that goes through the cylinder.
const PIERCED: u64 = 1 << 29;

/// A flat end faces a plane if the cosine between their normals is at least this.
const FACING: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Face(usize),
    Cap,
    /// Against a corner, or edges along the axis.
    Side,
    SideEdge(usize),
    RimEdge(usize),
}

#[derive(Debug, Clone, Copy)]
struct Axis {
    normal: Vec3,
    separation: f64,
    kind: Kind,
    rank: Rank,
}

/// Scratch, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    axes: Vec<Axis>,
    all: Vec<Axis>,
    /// The cylinder's lowest point along the normal of each face, as far as they were asked for.
    lowest: Vec<Vec3>,
}

/// A polytope and a cylinder in its frame.
pub(crate) struct Pair<'a, F> {
    pub polytope: PolytopeRef<'a>,
    /// As for polytopes.
    pub own_faces: usize,
    pub solid: bool,
    /// True for a triangle that is even with its neighbours, or lower: only its face has contacts.
    pub smooth: bool,
    pub cylinder: Cylinder,
    pub drift: Drift,
    pub query: &'a Query,
    /// Whether a normal may be one of the polytope at that corner.
    pub allowed: F,
}

impl<F: Fn(Vec3, usize) -> bool> Pair<'_, F> {
    /// Contacts in the polytope's frame: along plain normals, and with rims on edges only where those leave it open.
    pub(crate) fn contacts(&self, scratch: &mut Scratch, out: &mut Vec<Touch>) {
        let start = out.len();
        let ranking = Ranking::new(self.query, self.drift.linear.norm());
        if !self.plain_axes(scratch, &ranking) {
            return;
        }
        let greatest = scratch.axes.iter().map(|a| a.separation).fold(f64::NEG_INFINITY, f64::max);
        let plain = scratch.axes.len();
        scratch.all.clone_from(&scratch.axes);
        let mut faced = self.along(&mut scratch.axes, &ranking, out);
        // What touches there, or is as near as it can be, is found; what overlaps may overlap less elsewhere.
        let lowest = out[start..].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        if greatest >= -self.query.touch && lowest <= greatest + self.query.touch {
            return;
        }
        if self.rim_axes(&mut scratch.lowest, &mut scratch.all, &ranking) && scratch.all.len() > plain {
            out.truncate(start);
            faced = self.along(&mut scratch.all, &ranking, out);
        }
        if !faced && self.solid && self.face_like_axes(scratch, &ranking) {
            faced = self.along(&mut scratch.all, &ranking, out);
        }
        // A triangle that faces the cylinder without a contact of its own leaves that to its neighbours.
        let open = !faced || (out.len() > start && out[start..].iter().all(|t| t.gap > self.query.touch));
        if !self.solid && !self.smooth && open {
            self.pierced(out);
        }
    }

    /// A triangle whose sides go through the cylinder pushes it out by the nearest way, or by its face where that leads into the ground.
    fn pierced(&self, out: &mut Vec<Touch>) {
        let Some(face) = self.polytope.faces.first() else { return };
        let corners = self.polytope.corners(0);
        let mut sides = corners.clone().zip(corners.cycle().skip(1));
        let Some(point) = sides.find_map(|(a, b)| self.cylinder.inside_on(a, b)) else { return };
        let (normal, gap) = self.cylinder.way_out(point);
        let touch = if normal.dot(face.normal) > 0.0 {
            Touch::new(point, normal, gap, PIERCED)
        } else {
            let gap = face.normal.dot(self.cylinder.lowest(face.normal)) - face.offset;
            Touch::new(point, face.normal, gap, PIERCED)
        };
        out.push(touch);
    }

    /// Contacts along the best of the axes; false if no features face each other.
    fn along(&self, axes: &mut Vec<Axis>, ranking: &Ranking, out: &mut Vec<Touch>) -> bool {
        let mut apart = false;
        for _ in 0..TRIES {
            let mut best: Option<usize> = None;
            for k in 0..axes.len() {
                if best.is_none_or(|b| ranking.better(axes[k].rank, axes[b].rank)) {
                    best = Some(k);
                }
            }
            let Some(best) = best else { return false };
            let axis = axes.swap_remove(best);
            if apart && !axis.rank.apart {
                return false;
            }
            apart |= axis.rank.apart;
            let start = out.len();
            let found = match axis.kind {
                Kind::Face(face) => self.on_face(face, out),
                Kind::Cap => self.on_cap(axis.normal, out),
                Kind::Side => self.on_side(axis.normal, out),
                Kind::SideEdge(edge) => self.across_side(edge, axis.normal, out),
                Kind::RimEdge(edge) => self.across_rim(edge, axis.normal, out),
            };
            out[start..].iter_mut().for_each(|t| t.normal = axis.normal);
            if found {
                if let (Kind::SideEdge(edge) | Kind::RimEdge(edge), true) = (axis.kind, self.solid)
                    && axis.separation >= -ranking.skin
                {
                    self.beside_crossing(edge, axis.normal, start, out);
                }
                return true;
            }
        }
        false
    }

    /// Where an edge is nearly along the flat end that its crossing is on the rim of, or the
    /// cylinder nearly along a face beside the edge, the contacts of that flat end or face too: a
    /// turn within the step lays one on the other.
    fn beside_crossing(&self, edge: usize, normal: Vec3, first: usize, out: &mut Vec<Touch>) {
        let Some(crossing) = out.get(first).copied() else { return };
        let (edge, axis) = (self.polytope.edges[edge], self.cylinder.axis());
        let [p, q] = edge.vertices.map(|v| self.polytope.vertices[v as usize]);
        for face in edge.faces.map(|f| f as usize).into_iter().filter(|f| *f < self.own_faces) {
            let cosine = self.polytope.faces[face].normal.dot(axis).abs();
            // The side along the face, or a flat end.
            if cosine <= ALONG_FACE || cosine * cosine >= 1.0 - ALONG_FACE * ALONG_FACE {
                let start = out.len();
                self.on_face(face, out);
                keep_beside(&crossing, start, self.query, out);
            }
        }
        if (q - p).unit_or_zero().dot(axis).abs() <= ALONG_FACE {
            let start = out.len();
            self.on_cap(axis * 1.0_f64.copysign(axis.dot(normal)), out);
            keep_beside(&crossing, start, self.query, out);
        }
    }

    /// Adds an axis; false if it keeps the shapes farther apart than they can travel.
    fn add(&self, axes: &mut Vec<Axis>, ranking: &Ranking, normal: Vec3, separation: f64, kind: Kind) -> bool {
        let rank = ranking.rank(separation, normal.dot(self.drift.linear));
        if self.solid || separation >= -ranking.skin || matches!(kind, Kind::Face(_)) {
            axes.push(Axis { normal, separation, kind, rank });
        }
        separation <= self.query.limit()
    }

    /// Axes of rims on edges; false as for [`Self::add`].
    fn rim_axes(&self, lowest: &mut Vec<Vec3>, axes: &mut Vec<Axis>, ranking: &Ranking) -> bool {
        let rest = &self.polytope.faces[lowest.len()..];
        lowest.extend(rest.iter().map(|face| self.cylinder.lowest(face.normal)));
        self.polytope.edges.iter().enumerate().all(|(k, edge)| {
            let normal = self.rim_normal(edge, lowest).filter(|n| self.is_plain(*n, edge));
            normal.is_none_or(|normal| self.add_edge(axes, ranking, normal, edge, Kind::RimEdge(k)))
        })
    }

    /// Axes of edges that are nearly along a normal of a face or a flat end, for where that has no contacts; false as for [`Self::add`].
    fn face_like_axes(&self, scratch: &mut Scratch, ranking: &Ranking) -> bool {
        let Scratch { all, lowest, .. } = scratch;
        all.clear();
        self.polytope.edges.iter().enumerate().all(|(k, edge)| {
            let normals =
                [(self.side_normal(edge), Kind::SideEdge(k)), (self.rim_normal(edge, lowest), Kind::RimEdge(k))];
            normals.into_iter().all(|(normal, kind)| {
                let normal = normal.filter(|n| !self.is_plain(*n, edge));
                normal.is_none_or(|normal| self.add_edge(all, ranking, normal, edge, kind))
            })
        })
    }

    /// Adds the axis of an edge; false as for [`Self::add`].
    fn add_edge(&self, axes: &mut Vec<Axis>, ranking: &Ranking, normal: Vec3, edge: &Edge, kind: Kind) -> bool {
        let on = self.polytope.vertices[edge.vertices[0] as usize];
        self.add(axes, ranking, normal, normal.dot(self.cylinder.lowest(normal) - on), kind)
    }

    /// All other axes; false as for [`Self::add`].
    fn plain_axes(&self, scratch: &mut Scratch, ranking: &Ranking) -> bool {
        let (p, c) = (self.polytope, &self.cylinder);
        let Scratch { axes, lowest, .. } = scratch;
        axes.clear();
        lowest.clear();
        let mut add = |normal: Vec3, separation: f64, kind: Kind| self.add(axes, ranking, normal, separation, kind);
        for (i, face) in p.faces[..self.own_faces].iter().enumerate() {
            let low = c.lowest(face.normal);
            lowest.push(low);
            if !add(face.normal, face.normal.dot(low) - face.offset, Kind::Face(i)) {
                return false;
            }
        }
        if self.smooth {
            return true;
        }
        for normal in [c.axis(), -c.axis()] {
            let (top, corner) = highest(p.vertices, normal);
            let separation = normal.dot(c.centre) - c.half_length - top;
            if separation > self.query.limit() {
                return false;
            }
            if (self.allowed)(normal, corner) {
                add(normal, separation, Kind::Cap);
            }
        }
        for (k, corner) in p.vertices.iter().enumerate() {
            let normal = c.across(c.centre - *corner).unit_or_zero();
            let level = normal.dot(*corner);
            let is_lower = |v: &Vec3| normal.dot(*v) <= level + self.query.touch;
            // A neighbour tells most corners that are not highest.
            let next_to = p.around.map_or(&[][..], |around| around.neighbours(k));
            let is_highest =
                || next_to.iter().all(|v| is_lower(&p.vertices[*v as usize])) && p.vertices.iter().all(is_lower);
            if normal != Vec3::ZERO && is_highest() {
                let separation = normal.dot(c.centre) - c.radius - level;
                if separation > self.query.limit() {
                    return false;
                }
                if (self.allowed)(normal, k) {
                    add(normal, separation, Kind::Side);
                }
            }
        }
        for (k, edge) in p.edges.iter().enumerate() {
            let normal = self.side_normal(edge).filter(|n| self.is_plain(*n, edge));
            if normal.is_some_and(|normal| !self.add_edge(axes, ranking, normal, edge, Kind::SideEdge(k))) {
                return false;
            }
        }
        true
    }

    fn sides(&self, edge: &Edge) -> [Vec3; 2] {
        edge.faces.map(|f| self.polytope.faces[f as usize].normal)
    }

    /// The normal across an edge and the axis, if it is between those of the edge's faces.
    fn side_normal(&self, edge: &Edge) -> Option<Vec3> {
        let [p, q] = edge.vertices.map(|v| self.polytope.vertices[v as usize]);
        let [n0, n1] = self.sides(edge);
        let axis = self.cylinder.axis();
        if n0.dot(axis) * n1.dot(axis) >= 0.0 {
            return None;
        }
        let cross = (q - p).cross(axis);
        let squared = cross.length_squared();
        if squared <= PARALLEL * (q - p).length_squared() {
            return None;
        }
        let normal = cross / squared.sqrt();
        Some(if normal.dot(n0 + n1) < 0.0 { -normal } else { normal })
    }

    /// True if a normal of an edge is far enough from those of its faces and of the flat ends, which else speak for it.
    fn is_plain(&self, normal: Vec3, edge: &Edge) -> bool {
        let sides = self.sides(edge);
        sides.iter().all(|s| s.dot(normal) < FACE_LIKE) && normal.dot(self.cylinder.axis()).abs() < FACE_LIKE
    }

    /// The normal between those of an edge's faces at which the cylinder is farthest: the slope of the separation along the arc is
    /// `t · (lowest point − edge)`, t the arc's tangent, and has its zero there. `lowest` are the cylinder's lowest points along the
    /// normals of faces.
    fn rim_normal(&self, edge: &Edge, lowest: &[Vec3]) -> Option<Vec3> {
        let on = self.polytope.vertices[edge.vertices[0] as usize];
        let [n0, n1] = self.sides(edge);
        let turn = n0.cross(n1);
        let slope = |n: Vec3, low: Vec3| turn.cross(n).dot(low - on);
        let [low0, low1] = edge.faces.map(|f| lowest[f as usize]);
        if !(slope(n0, low0) > 0.0 && slope(n1, low1) < 0.0) {
            return None;
        }
        let normal = |t: f64| (n0 + (n1 - n0) * t).unit_or_zero();
        let middle = normal(sign_change(0.0, 1.0, |t| slope(normal(t), self.cylinder.lowest(normal(t)))));
        // At a kink the flat end or the side touches, not the rim.
        let tilt = middle.dot(self.cylinder.axis()).abs();
        (middle != Vec3::ZERO && tilt > 1.0 - FACE_LIKE).then_some(middle)
    }
}

/// The greatest `n · p`, and which point has it.
fn highest(points: &[Vec3], n: Vec3) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, p) in points.iter().enumerate() {
        let height = n.dot(*p);
        if height > best.0 {
            best = (height, k);
        }
    }
    best
}

/// A solid polytope and a cylinder.
pub(crate) fn polytope_cylinder(
    frames: [&Frame; 2],
    polytope: PolytopeRef,
    [half_length, radius]: [f64; 2],
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    let start = out.len();
    solids(frames, polytope, [half_length, radius], query).contacts(scratch, out);
    to_world(frames[0], &mut out[start..]);
}

/// The separations of a solid polytope and a cylinder.
pub(crate) fn polytope_cylinder_apart(
    frames: [&Frame; 2],
    polytope: PolytopeRef,
    [half_length, radius]: [f64; 2],
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Apart>,
) {
    let pair = solids(frames, polytope, [half_length, radius], query);
    let ranking = Ranking::new(query, 0.0);
    pair.plain_axes(scratch, &ranking);
    pair.rim_axes(&mut scratch.lowest, &mut scratch.axes, &ranking);
    let to_world = |a: &Axis| Apart { normal: frames[0].rotation * a.normal, separation: a.separation };
    out.extend(scratch.axes.iter().map(to_world));
}

fn solids<'a>(
    frames: [&Frame; 2],
    polytope: PolytopeRef<'a>,
    [half_length, radius]: [f64; 2],
    query: &'a Query,
) -> Pair<'a, impl Fn(Vec3, usize) -> bool + use<'a>> {
    Pair {
        polytope,
        own_faces: polytope.faces.len(),
        solid: true,
        smooth: false,
        cylinder: Cylinder::new(&frames[0].relative(frames[1]), half_length, radius),
        drift: query.drift.seen_from(frames[0]),
        query,
        allowed: |_, _| true,
    }
}

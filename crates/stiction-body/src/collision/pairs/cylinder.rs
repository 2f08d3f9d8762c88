//! A cylinder with a polytope. Besides normals of flat faces there are those of its side, against corners and edges, and of its rims, against edges:
//! the latter is the one search, for the zero of a function of one variable.

use crate::collision::frame::{Apart, Drift, Frame, Query, Touch};
use crate::collision::pairs::axes::{FACE_LIKE, PARALLEL, Rank, Ranking};
use crate::collision::pairs::half_space::spokes;
use crate::collision::pairs::polytopes::{FACES, to_world};
use crate::collision::polytope::{Edge, PolytopeRef};
use crate::math::Vec3;

/// Halvings of the arc of normals in the search for the normal between an edge and a rim: down to rounding.
const HALVINGS: usize = 60;

/// How many axes are tried, as for polytopes.
const TRIES: usize = 4;

/// A flat end faces a plane if the cosine between their normals is at least this.
const FACING: f64 = 0.5;

/// A cylinder in the frame of the other shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cylinder {
    pub centre: Vec3,
    /// Unit vectors; the third is the axis.
    pub axes: [Vec3; 3],
    pub half_length: f64,
    pub radius: f64,
}

impl Cylinder {
    pub fn new(relative: &Frame, half_length: f64, radius: f64) -> Self {
        let r = &relative.rotation;
        Self { centre: relative.origin, axes: [r.x_axis, r.y_axis, r.z_axis], half_length, radius }
    }

    pub fn axis(&self) -> Vec3 {
        self.axes[2]
    }

    /// The part of a vector across the axis.
    pub fn across(&self, v: Vec3) -> Vec3 {
        v - self.axis() * self.axis().dot(v)
    }

    /// The cylinder's lowest point in direction n; one of them where there are many.
    pub fn lowest(&self, n: Vec3) -> Vec3 {
        let end = if self.axis().dot(n) < 0.0 { self.half_length } else { -self.half_length };
        self.centre + self.axis() * end - self.spoke(n) * self.radius
    }

    /// The unit vector across the axis that is most along the unit vector n; zero if n is along the axis.
    fn spoke(&self, n: Vec3) -> Vec3 {
        /// Below this nothing but rounding is left across the axis.
        const NOTHING: f64 = 1e-15;
        let across = self.across(n);
        let length = across.length();
        // What rounding left along the axis is large beside a short vector: taken out once more.
        if length > NOTHING { self.across(across / length).normalize_or_zero() } else { Vec3::ZERO }
    }

    /// Four points of the rim that is lower in direction n, the lowest first, and the point of the other rim above that.
    pub fn rim_points(&self, n: Vec3) -> [Vec3; 5] {
        let [x, y, z] = self.axes;
        let end = z * if z.dot(n) < 0.0 { self.half_length } else { -self.half_length };
        let spokes = spokes(Vec3::new(-x.dot(n), -y.dot(n), 0.0)).map(|s| (x * s.x + y * s.y) * self.radius);
        let on = |k: usize, end: Vec3| self.centre + end + spokes[k];
        [on(0, end), on(1, end), on(2, end), on(3, end), on(0, -end)]
    }

    /// Coordinates along the axis and distance from it.
    pub fn cylindrical(&self, p: Vec3) -> [f64; 2] {
        [self.axis().dot(p - self.centre), self.across(p - self.centre).length()]
    }

    /// Parameters in [0, 1] where the segment from p to q crosses the cylinder's side, endless along the axis.
    pub fn side_crossings(&self, p: Vec3, q: Vec3) -> [Option<f64>; 2] {
        let (from, along) = (self.across(p - self.centre), self.across(q - p));
        let (a, b, c) = (along.length_squared(), from.dot(along), from.length_squared() - self.radius * self.radius);
        let discriminant = b * b - a * c;
        if a <= 0.0 || discriminant <= 0.0 {
            return [None; 2];
        }
        // Both roots without cancellation.
        let s = -b - discriminant.sqrt().copysign(b);
        [s / a, c / s].map(|t| (0.0..=1.0).contains(&t).then_some(t))
    }
}

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
}

/// A polytope and a cylinder in its frame.
pub(crate) struct Pair<'a, F> {
    pub polytope: PolytopeRef<'a>,
    /// As for polytopes.
    pub own_faces: usize,
    pub solid: bool,
    pub cylinder: Cylinder,
    pub drift: Drift,
    pub query: &'a Query,
    /// Whether a normal may be one of the polytope at that corner.
    pub allowed: F,
}

impl<F: Fn(Vec3, usize) -> bool> Pair<'_, F> {
    /// Contacts in the polytope's frame.
    pub fn contacts(&self, scratch: &mut Scratch, out: &mut Vec<Touch>) {
        let axes = &mut scratch.axes;
        axes.clear();
        let ranking = Ranking::new(self.query, self.drift.linear.length());
        if !self.all_axes(axes, &ranking) {
            return;
        }
        let mut apart = false;
        for _ in 0..TRIES {
            let mut best: Option<usize> = None;
            for k in 0..axes.len() {
                if best.is_none_or(|b| ranking.better(axes[k].rank, axes[b].rank)) {
                    best = Some(k);
                }
            }
            let Some(best) = best else { return };
            let axis = axes.swap_remove(best);
            if apart && !axis.rank.apart {
                return;
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
                return;
            }
        }
    }

    /// All axes; false as soon as one keeps the shapes farther apart than they can travel.
    fn all_axes(&self, axes: &mut Vec<Axis>, ranking: &Ranking) -> bool {
        let (p, c) = (self.polytope, &self.cylinder);
        let mut add = |normal: Vec3, separation: f64, kind: Kind| {
            let rank = ranking.rank(separation, normal.dot(self.drift.linear));
            if self.solid || separation >= -ranking.skin || matches!(kind, Kind::Face(_)) {
                axes.push(Axis { normal, separation, kind, rank });
            }
            separation <= self.query.limit()
        };
        for (i, face) in p.faces[..self.own_faces].iter().enumerate() {
            if !add(face.normal, face.normal.dot(c.lowest(face.normal)) - face.offset, Kind::Face(i)) {
                return false;
            }
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
            let normal = c.across(c.centre - *corner).normalize_or_zero();
            let level = normal.dot(*corner);
            if normal != Vec3::ZERO && highest(p.vertices, normal).0 <= level + self.query.touch {
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
            for (normal, kind) in
                [(self.side_normal(edge), Kind::SideEdge(k)), (self.rim_normal(edge), Kind::RimEdge(k))]
            {
                let Some(normal) = normal else { continue };
                let on = p.vertices[edge.vertices[0] as usize];
                if !add(normal, normal.dot(c.lowest(normal) - on), kind) {
                    return false;
                }
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
        let normal = if normal.dot(n0 + n1) < 0.0 { -normal } else { normal };
        self.plain(normal, [n0, n1]).then_some(normal)
    }

    fn plain(&self, normal: Vec3, sides: [Vec3; 2]) -> bool {
        sides.iter().all(|s| s.dot(normal) < FACE_LIKE) && normal.dot(self.cylinder.axis()).abs() < FACE_LIKE
    }

    /// The normal between those of an edge's faces at which the cylinder is farthest: the slope of the separation along the arc is
    /// `t · (lowest point − edge)`, t the arc's tangent, and has its zero there.
    fn rim_normal(&self, edge: &Edge) -> Option<Vec3> {
        let on = self.polytope.vertices[edge.vertices[0] as usize];
        let [n0, n1] = self.sides(edge);
        let turn = n0.cross(n1);
        let slope = |n: Vec3| turn.cross(n).dot(self.cylinder.lowest(n) - on);
        if !(slope(n0) > 0.0 && slope(n1) < 0.0) {
            return None;
        }
        let (mut low, mut high) = (n0, n1);
        let mut middle = (low + high).normalize_or_zero();
        for _ in 0..HALVINGS {
            let rising = slope(middle) > 0.0;
            (low, high) = if rising { (middle, high) } else { (low, middle) };
            let next = (low + high).normalize_or_zero();
            if next == middle {
                break;
            }
            middle = next;
        }
        // At a kink the flat end or the side touches, not the rim.
        let tilt = middle.dot(self.cylinder.axis()).abs();
        (middle != Vec3::ZERO && self.plain(middle, [n0, n1]) && tilt > 1.0 - FACE_LIKE).then_some(middle)
    }

    /// How far a point may be beyond a feature and still come to meet it.
    fn slack(&self, gap: f64, at: Vec3, normal: Vec3) -> f64 {
        if gap <= self.query.touch {
            return self.query.touch;
        }
        let drift = self.drift.at(at);
        (drift - normal * normal.dot(drift)).length() + self.query.touch
    }

    /// Points of the rims and the side on a face, where they leave it over a sharp edge, and sharp corners of the face under the flat end. True if
    /// the cylinder is over the face.
    fn on_face(&self, face: usize, out: &mut Vec<Touch>) -> bool {
        let (plane, c) = (self.polytope.faces[face], &self.cylinder);
        let height = |x: Vec3| plane.normal.dot(x) - plane.offset;
        let rim = c.rim_points(plane.normal);
        let mut found = false;
        for (k, x) in rim.into_iter().enumerate() {
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
            let outward = (b - a).cross(plane.normal).normalize_or_zero();
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
            .all(|(a, b)| (b - a).cross(normal).normalize_or_zero().dot(x - a) <= slack)
    }

    /// Adds a contact at the point x of the cylinder, `gap` above the polytope; false if it is too far.
    fn emit(&self, x: Vec3, gap: f64, feature: u64, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let near = gap <= self.query.limit();
        if near {
            out.push(Touch { point: x - normal * (0.5 * gap), normal, gap, feature });
        }
        near
    }

    /// Corners and edges of the polytope on the flat end.
    fn on_cap(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
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
                found |= self.emit(x + normal * gap(x), gap(x), 1 << 25 | 2 * k as u64 + j as u64, normal, out);
            }
        }
        found
    }

    /// Corners of the polytope on the side, and the ends of an edge along it.
    fn on_side(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let (p, c) = (self.polytope, &self.cylinder);
        let (top, _) = highest(p.vertices, normal);
        let gap = normal.dot(c.centre) - c.radius - top;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in p.vertices.iter().filter(|x| normal.dot(**x) >= top - self.query.touch) {
            let [along, _] = c.cylindrical(*x);
            (low, high) = (low.min(along), high.max(along));
        }
        let slack = self.slack(gap, c.centre, normal);
        if low > c.half_length + slack || high < -c.half_length - slack {
            return false;
        }
        let ends = [low, high].map(|z| z.clamp(-c.half_length, c.half_length));
        let count = if ends[1] - ends[0] > self.query.touch { 2 } else { 1 };
        for (k, z) in ends.into_iter().take(count).enumerate() {
            let x = c.centre + c.axis() * z - normal * c.radius;
            self.emit(x, gap, 1 << 26 | k as u64, normal, out);
        }
        true
    }

    /// An edge across the side.
    fn across_side(&self, k: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let c = &self.cylinder;
        let [a, b] = self.polytope.edges[k].vertices.map(|v| self.polytope.vertices[v as usize]);
        let length = (b - a).length();
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
    fn across_rim(&self, k: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let [a, b] = self.polytope.edges[k].vertices.map(|v| self.polytope.vertices[v as usize]);
        let x = self.cylinder.lowest(normal);
        let length = (b - a).length();
        let s = (b - a).dot(x - a) / length;
        let gap = normal.dot(x - a);
        let slack = self.slack(gap, x, normal);
        let meets = s >= -slack && s <= length + slack;
        meets && self.emit(x, gap, 1 << 28 | k as u64, normal, out)
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
    scratch.axes.clear();
    let pair = solids(frames, polytope, [half_length, radius], query);
    pair.all_axes(&mut scratch.axes, &Ranking::new(query, 0.0));
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
        cylinder: Cylinder::new(&frames[0].relative(frames[1]), half_length, radius),
        drift: query.drift.seen_from(frames[0]),
        query,
        allowed: |_, _| true,
    }
}

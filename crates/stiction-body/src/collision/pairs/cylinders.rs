//! A cylinder with a cylinder, and with a capsule.

use crate::collision::closest::to_cylinder;
use crate::collision::frame::{Apart, Drift, Frame, Query, Touch};
use crate::collision::pairs::axes::{ALONG_FACE, PARALLEL, Rank, Ranking, keep_beside};
use crate::collision::pairs::cylinder::Cylinder;
use crate::collision::pairs::round::{Ball, segment};
use crate::collision::sign_change::sign_change;
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Halvings of a segment.
const HALVINGS: usize = 60;

/// Steps of an ascent on the sphere.
const ASCENTS: usize = 100;

/// Separations that differ by less than this fraction of the size are the same up to rounding.
const LEVEL: f64 = 1e-13;

/// Turn of a normal (rad) below which an ascent has arrived.
const ARRIVED: f64 = 1e-15;

/// Steps of Newton's method to where two rims cross; where they do, a few are enough.
const RIM_STEPS: usize = 12;

/// Two flat ends, the sides, a rim on each side, and four starts for rim on rim.
const AXES: usize = 9;

/// A capsule's ball at which its segment runs along the cylinder's surface up to this sine.
const ALONG: f64 = 1e-3;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Cap(usize),
    Sides,
    Point,
}

#[derive(Debug, Clone, Copy)]
struct Axis {
    normal: Vec3,
    kind: Kind,
    rank: Rank,
}

/// Two cylinders in the frame of the first.
struct Pair<'a> {
    cylinders: [Cylinder; 2],
    drift: Drift,
    query: &'a Query,
}

pub(crate) fn cylinders(frames: [&Frame; 2], half: [f64; 2], radius: [f64; 2], query: &Query, out: &mut Vec<Touch>) {
    let start = out.len();
    pair(frames, half, radius, query).contacts(out);
    super::polytopes::to_world(frames[0], &mut out[start..]);
}

/// The separations of two cylinders.
pub(crate) fn cylinders_apart(
    frames: [&Frame; 2],
    half: [f64; 2],
    radius: [f64; 2],
    query: &Query,
    out: &mut Vec<Apart>,
) {
    let pair = pair(frames, half, radius, query);
    for (normal, _) in pair.with_rims(pair.plain_normals()).into_iter().filter(|(n, _)| *n != Vec3::ZERO) {
        out.push(Apart { normal: frames[0].rotation * normal, separation: pair.separation(normal) });
    }
}

fn pair<'a>(frames: [&Frame; 2], half: [f64; 2], radius: [f64; 2], query: &'a Query) -> Pair<'a> {
    Pair {
        cylinders: [
            Cylinder::new(&Frame::IDENTITY, half[0], radius[0]),
            Cylinder::new(&frames[0].relative(frames[1]), half[1], radius[1]),
        ],
        drift: query.drift.seen_from(frames[0]),
        query,
    }
}

impl Pair<'_> {
    fn separation(&self, n: Vec3) -> f64 {
        let [a, b] = &self.cylinders;
        n.dot(b.lowest(n) - a.lowest(-n))
    }

    /// Normals along which the two can meet, some of them zero: flat ends, sides, a rim on a side.
    fn plain_normals(&self) -> [(Vec3, Kind); AXES] {
        let [z0, z1] = [self.cylinders[0].axis(), self.cylinders[1].axis()];
        let between = self.cylinders[1].centre;
        let outward = |n: Vec3| if n.dot(between) < 0.0 { -n } else { n };
        let across = if self.parallel() { self.cylinders[0].across(between) } else { z0.cross(z1) };
        let mut normals = [(Vec3::ZERO, Kind::Point); AXES];
        normals[0] = (outward(z0), Kind::Cap(0));
        normals[1] = (outward(z1), Kind::Cap(1));
        normals[2] = (outward(across.unit_or_zero()), Kind::Sides);
        // No need to search for what is too far apart, or parallel.
        let far = normals[..3].iter().any(|(n, _)| self.separation(*n) > self.query.limit());
        if !far && !self.parallel() {
            normals[3].0 = self.rim_on_side(0);
            normals[4].0 = self.rim_on_side(1);
        }
        normals
    }

    /// The same with those of rim on rim, from between the others.
    fn with_rims(&self, mut normals: [(Vec3, Kind); AXES]) -> [(Vec3, Kind); AXES] {
        for (k, (i, j)) in [(0, 1), (0, 2), (1, 2), (0, 3)].into_iter().enumerate() {
            let start = (normals[i].0 + normals[j].0).unit_or_zero();
            normals[5 + k].0 = if start == Vec3::ZERO { start } else { self.ascend(start) };
        }
        normals
    }

    fn parallel(&self) -> bool {
        self.cylinders[0].axis().cross(self.cylinders[1].axis()).length_squared() < PARALLEL
    }

    /// Contacts along the plain normals; rim on rim is looked for only where those leave it open.
    fn contacts(&self, out: &mut Vec<Touch>) {
        let start = out.len();
        let plain = self.plain_normals();
        let Some(best) = self.along(&plain, false, out) else { return };
        let lowest = out[start..].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        // What touches there, or is as near as it can be, is found; what overlaps may overlap less elsewhere.
        if best < -self.query.touch || lowest > best + self.query.touch {
            out.truncate(start);
            self.along(&self.with_rims(plain), true, out);
        }
    }

    /// Contacts along the best of the normals, which are `all` there are or a part; the greatest separation, or `None` if they are too far apart.
    fn along(&self, normals: &[(Vec3, Kind); AXES], all: bool, out: &mut Vec<Touch>) -> Option<f64> {
        let ranking = Ranking::new(self.query, self.drift.linear.norm());
        let mut axes = [Axis { normal: Vec3::ZERO, kind: Kind::Point, rank: Rank::WORST }; AXES];
        let mut greatest = f64::NEG_INFINITY;
        for (axis, (normal, kind)) in axes.iter_mut().zip(*normals).filter(|(_, (n, _))| *n != Vec3::ZERO) {
            let separation = self.separation(normal);
            if separation > self.query.limit() {
                return None;
            }
            greatest = greatest.max(separation);
            *axis = Axis { normal, kind, rank: ranking.rank(separation, normal.dot(self.drift.linear)) };
        }
        let mut apart = false;
        let mut deepest = None;
        for _ in 0..axes.len() {
            let mut best = 0;
            (1..axes.len()).for_each(|k| best = if ranking.better(axes[k].rank, axes[best].rank) { k } else { best });
            let Axis { normal, kind, rank } = axes[best];
            if normal == Vec3::ZERO || (apart && !rank.apart) {
                break;
            }
            deepest = deepest.or(Some((normal, best)));
            apart |= rank.apart;
            axes[best] = Axis { normal: Vec3::ZERO, kind, rank: Rank::WORST };
            let start = out.len();
            let found = match kind {
                Kind::Cap(which) => self.on_cap(which, normal, out),
                Kind::Sides if self.parallel() => self.along_sides(normal, out),
                Kind::Sides => self.across_sides(normal, out),
                Kind::Point => self.at_point(normal, best, out),
            };
            if found {
                if !matches!(kind, Kind::Cap(_)) && self.separation(normal) >= -ranking.skin {
                    self.beside_crossing(normal, start, out);
                }
                return Some(greatest);
            }
        }
        // They overlap, though no features face each other.
        if let Some((normal, number)) = deepest.filter(|_| all && !apart) {
            let x = 0.5 * (self.cylinders[1].lowest(normal) + self.cylinders[0].lowest(-normal));
            self.emit(x, normal, self.separation(normal), 150 + number as u64, out);
        }
        Some(greatest)
    }

    /// The normal across the axis of cylinder k at which the other is farthest from its side.
    fn rim_on_side(&self, k: usize) -> Vec3 {
        let (own, other) = (&self.cylinders[k], &self.cylinders[1 - k]);
        let towards = own.across(other.centre - own.centre).unit_or_zero();
        let sign = if k == 0 { 1.0 } else { -1.0 };
        let turn = own.axis();
        let along = turn.cross(towards);
        let normal = |t: f64| (towards + along * t).unit_or_zero();
        let slope = |t: f64| {
            let n = normal(t);
            turn.cross(n).dot(other.lowest(n) - own.centre)
        };
        normal(sign_change(-1.0, 1.0, slope)) * sign
    }

    /// A normal near `start` with the greatest separation, by the ascent of Barzilai and Borwein along the slope `lowest − highest point`.
    fn ascend(&self, start: Vec3) -> Vec3 {
        let [a, b] = &self.cylinders;
        let look = |n: Vec3| {
            let between = b.lowest(n) - a.lowest(-n);
            let separation = n.dot(between);
            (separation, between - n * separation)
        };
        let (separation, mut g) = look(start);
        let mut n = start;
        let size = a.radius.min(b.radius);
        let mut step = 0.1 / g.norm().max(size);
        // Near the top the separation does not tell normals apart beyond half the digits: the slope does.
        let equal = LEVEL * size;
        let mut best = (separation, g.norm(), n);
        for _ in 0..ASCENTS {
            let next = (n + g * step).unit_or_zero();
            let moved = next - n;
            let (separation, slope) = look(next);
            let change = g - slope;
            let bend = moved.dot(change);
            step = if bend > 0.0 { (moved.length_squared() / bend).min(1.0 / size) } else { 2.0 * step };
            (n, g) = (next, slope);
            if separation > best.0 + equal || (separation > best.0 - equal && g.norm() < best.1) {
                best = (separation, g.norm(), n);
            }
            if moved.norm() < ARRIVED || !step.is_finite() {
                break;
            }
        }
        best.2
    }

    fn slack(&self, gap: f64, at: Vec3, normal: Vec3) -> f64 {
        if gap <= self.query.touch {
            return self.query.touch;
        }
        let drift = self.drift.at(at);
        (drift - normal * normal.dot(drift)).norm() + self.query.touch
    }

    /// Adds a contact between a point of the first and one of the second that face each other along the normal.
    fn emit(&self, x: Vec3, normal: Vec3, gap: f64, feature: u64, out: &mut Vec<Touch>) -> bool {
        let near = gap <= self.query.limit();
        if near {
            out.push(Touch::new(x, normal, gap, feature));
        }
        near
    }

    /// The flat end of one cylinder, and rim and side of the other; where that is a flat end too, also where the rims cross.
    fn on_cap(&self, which: usize, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let (own, other) = (&self.cylinders[which], &self.cylinders[1 - which]);
        // Outward normal of the flat end.
        let n = if which == 0 { normal } else { -normal };
        let level = n.dot(own.centre) + own.half_length;
        let mut found = false;
        let mut add = |x: Vec3, feature: u64, slack_of: &Cylinder| {
            let gap = n.dot(x) - level;
            let inside = slack_of.cylindrical(x)[1] <= slack_of.radius + self.slack(gap, x, normal);
            found |= inside && self.emit(x - n * (0.5 * gap), normal, gap, feature, out);
        };
        let rim = other.rim_points(n);
        let code = 64 * which as u64;
        rim.into_iter().enumerate().for_each(|(k, x)| add(x, code + k as u64, own));
        let between = other.between_rim_points(n).into_iter().flatten();
        between.enumerate().for_each(|(k, x)| add(x, code + 32 + k as u64, own));
        // The side line leaves the flat end.
        for (k, t) in own.side_crossings(rim[0], rim[4]).into_iter().enumerate() {
            t.into_iter().for_each(|t| add(rim[0] + (rim[4] - rim[0]) * t, code + 8 + k as u64, own));
        }
        // The other's flat end over this one's rim.
        let tilt = n.dot(other.axis());
        if tilt * tilt > 0.5 {
            let end = 0.5 * (rim[0] + rim[2]);
            let above = |p: Vec3| p + n * (other.axis().dot(end - p) / tilt);
            for (k, x) in own.rim_points(-n).into_iter().take(4).enumerate() {
                add(above(x), code + 16 + k as u64, other);
            }
            let starts = rims_cross(own, end, other.radius, n);
            for (k, x) in starts.into_iter().enumerate() {
                let Some(x) = x.and_then(|x| self.on_both_rims(x, own, other, (n, above))) else { continue };
                let gap = n.dot(x) - level;
                self.emit(x - n * (0.5 * gap), normal, gap, code + 24 + k as u64, out);
            }
        }
        found
    }

    /// The point of the other's rim over this one's, seen along the outward normal n of this one's flat end: by Newton's method from a point of
    /// this rim near it. `above` is the point of the other's flat end over one of this one's.
    fn on_both_rims(
        &self,
        start: Vec3,
        own: &Cylinder,
        other: &Cylinder,
        (n, above): (Vec3, impl Fn(Vec3) -> Vec3),
    ) -> Option<Vec3> {
        let centre = own.centre + n * own.half_length;
        let mut x = start;
        for _ in 0..RIM_STEPS {
            let (over, along) = (above(x), n.cross(x - centre));
            let across = other.across(over - other.centre);
            let beyond = across.norm() - other.radius;
            if beyond.abs() <= self.query.touch {
                return Some(over);
            }
            // The rate at which the point above leaves the rim as this one turns.
            let rate = across.dot(above(x + along) - over) / across.norm();
            let turned = x - along * (beyond / rate);
            x = centre + (turned - centre).unit_or_zero() * own.radius;
        }
        None
    }

    /// Parallel cylinders side by side.
    fn along_sides(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let [a, b] = &self.cylinders;
        let middle = a.axis().dot(b.centre);
        let (low, high) = ((middle - b.half_length).max(-a.half_length), (middle + b.half_length).min(a.half_length));
        let gap = self.separation(normal);
        if high < low - self.slack(gap, b.centre, normal) {
            return false;
        }
        for (k, z) in [low, high].into_iter().enumerate() {
            self.emit(a.axis() * z + normal * (a.radius + 0.5 * gap), normal, gap, 128 + k as u64, out);
        }
        true
    }

    /// Sides that cross.
    fn across_sides(&self, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let [a, b] = &self.cylinders;
        let (u, v, w) = (a.axis(), b.axis(), b.centre);
        let (cos, sin2) = (u.dot(v), u.cross(v).length_squared());
        let s = (w.dot(u) - cos * w.dot(v)) / sin2;
        let t = (cos * w.dot(u) - w.dot(v)) / sin2;
        let gap = normal.dot(w) - a.radius - b.radius;
        let x = u * s + normal * (a.radius + 0.5 * gap);
        let slack = self.slack(gap, x, normal);
        let meets = s.abs() <= a.half_length + slack && t.abs() <= b.half_length + slack;
        meets && self.emit(x, normal, gap, 130, out)
    }

    /// Where a side or a rim is nearly along a flat end, or sides nearly along each other, their
    /// other contacts too: a turn within the step lays one on the other.
    fn beside_crossing(&self, normal: Vec3, first: usize, out: &mut Vec<Touch>) {
        let Some(crossing) = out.get(first).copied() else { return };
        let [a, b] = &self.cylinders;
        for which in 0..2 {
            let axis = self.cylinders[which].axis();
            let cosine = axis.dot(normal);
            if cosine * cosine >= 1.0 - ALONG_FACE * ALONG_FACE {
                let start = out.len();
                self.on_cap(which, axis * 1.0_f64.copysign(cosine), out);
                keep_beside(&crossing, start, self.query, out);
            }
        }
        let (u, v) = (a.axis(), b.axis());
        let cos = u.dot(v);
        if !self.parallel() && cos * cos >= 1.0 - ALONG_FACE * ALONG_FACE {
            let (start, middle) = (out.len(), u.dot(b.centre));
            let reach = b.half_length * cos.abs();
            let ends = [(middle - reach).max(-a.half_length), (middle + reach).min(a.half_length)];
            for (k, z) in ends.into_iter().enumerate().filter(|_| ends[0] <= ends[1]) {
                let across = b.centre + v * ((z - middle) / cos) - u * z;
                let gap = across.norm() - a.radius - b.radius;
                let normal = across.unit_or_zero();
                self.emit(u * z + normal * (a.radius + 0.5 * gap), normal, gap, 132 + k as u64, out);
            }
            keep_beside(&crossing, start, self.query, out);
        }
    }

    /// A rim against a side or a rim.
    fn at_point(&self, normal: Vec3, number: usize, out: &mut Vec<Touch>) -> bool {
        let [a, b] = &self.cylinders;
        let (gap, low) = (self.separation(normal), b.lowest(normal));
        let across = |k: usize| self.cylinders[k].axis().dot(normal).abs() < PARALLEL;
        // A side has no point of its own: the other's rim tells where, unless it is not over the side's line.
        let beyond = |own: &Cylinder, x: Vec3| {
            let aside = own.axis().cross(normal).dot(x - own.centre).abs();
            aside.max(own.cylindrical(x)[0].abs() - own.half_length)
        };
        let high = a.lowest(-normal);
        let (x, beyond) = if across(0) {
            (low - normal * (0.5 * gap), beyond(a, low))
        } else if across(1) {
            (high + normal * (0.5 * gap), beyond(b, high))
        } else {
            (0.5 * (low + high), f64::NEG_INFINITY)
        };
        beyond <= self.slack(gap, x, normal) && self.emit(x, normal, gap, 140 + number as u64, out)
    }
}

/// Where the rim of one cylinder, seen along its axis n, crosses the circle of the given radius about `centre`.
fn rims_cross(own: &Cylinder, centre: Vec3, radius: f64, n: Vec3) -> [Option<Vec3>; 2] {
    let end = own.centre + n * own.half_length;
    let between = own.across(centre - end);
    let d = between.norm();
    if d == 0.0 {
        return [None; 2];
    }
    let along = 0.5 * (d + (own.radius * own.radius - radius * radius) / d);
    let squared = own.radius * own.radius - along * along;
    if squared <= 0.0 {
        return [None; 2];
    }
    let u = between / d;
    let v = n.cross(u);
    [-1.0, 1.0].map(|s| Some(end + u * along + v * (s * squared.sqrt())))
}

/// A cylinder and a capsule: balls at the capsule's ends, where its segment passes over the edge of a flat end or leaves the side, and
/// where it is nearest.
pub(crate) fn cylinder_capsule(
    frames: [&Frame; 2],
    half: [f64; 2],
    radius: [f64; 2],
    query: &Query,
    out: &mut Vec<Touch>,
) {
    let first = frames[0];
    let [a, b] = segment(first, frames[1], half[1]);
    let own = Cylinder::new(&Frame::IDENTITY, half[0], radius[0]);
    let closest = |p: Vec3| Some(to_cylinder(p, half[0], radius[0]));
    let direction = (b - a).unit_or_zero();
    let start = out.len();
    let at = |t: f64, feature: u64, inner: bool, out: &mut Vec<Touch>| {
        let ball = Ball::new(first, first.point_to_world(a + (b - a) * t), radius[1], query);
        let Some((near, gap)) = ball.meet(query, closest) else { return };
        if !inner || near.normal.dot(direction).abs() < ALONG {
            out.push(ball.touch(first, &near, gap, feature));
        }
    };
    at(0.0, 0, false, out);
    at(1.0, 1, false, out);
    let over_end = [-half[0], half[0]].map(|z| Some((z - a.z) / (b.z - a.z)).filter(|t| *t > 0.0 && *t < 1.0));
    for (k, t) in over_end.into_iter().chain(own.side_crossings(a, b)).enumerate() {
        t.into_iter().for_each(|t| at(t, 2 + k as u64, true, out));
    }
    let nearest = out[start..].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
    let t = nearest_on_segment([a, b], [half[0], radius[0]]);
    let gap = to_cylinder(a + (b - a) * t, half[0], radius[0]).distance - radius[1];
    if gap < nearest - query.touch {
        at(t, 6, false, out);
    }
}

/// The separation of a cylinder and a capsule.
pub(crate) fn cylinder_capsule_apart(frames: [&Frame; 2], half: [f64; 2], radius: [f64; 2]) -> Apart {
    let [a, b] = segment(frames[0], frames[1], half[1]);
    let t = nearest_on_segment([a, b], [half[0], radius[0]]);
    let near = to_cylinder(a + (b - a) * t, half[0], radius[0]);
    Apart { normal: frames[0].rotation * near.normal, separation: near.distance - radius[1] }
}

/// Parameter of the point of a segment that is nearest to a cylinder of the given half length and radius.
fn nearest_on_segment([a, b]: [Vec3; 2], [half_length, radius]: [f64; 2]) -> f64 {
    let direction = (b - a).unit_or_zero();
    // The distance along the segment is convex, with slope `normal · direction`.
    let rises = |t: f64| to_cylinder(a + (b - a) * t, half_length, radius).normal.dot(direction) > 0.0;
    if rises(0.0) {
        return 0.0;
    }
    if !rises(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        (low, high) = if rises(middle) { (low, middle) } else { (middle, high) };
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Pose, axis_angle};
    use stiction_linalg::rng::Rng;

    /// Cylinders that nearly touch or overlap a little have contacts on both, also where their sides would cross beyond their ends.
    #[test]
    fn contacts_lie_on_both_cylinders() {
        let (half, radius, mut rng) = ([0.0175, 0.02], [0.01575, 0.01], Rng::new(21));
        let drift = Drift { linear: Vec3::ZERO, angular: Vec3::ZERO, about: Vec3::ZERO };
        let query = Query { reach: 1e-4, margin: 1e-4, radius: 0.03, bend: 0.0, touch: 1e-11, size: 0.01, drift };
        let (mut found, mut far) = (0, 0);
        for k in 0..1000 {
            let mut vector = |size: f64| Vec3::new(rng.normal(), rng.normal(), rng.normal()) * size;
            let turns = [vector(2.0), vector(2.0)].map(axis_angle);
            let towards = vector(1.0).normalize();
            let frames = |apart: f64| {
                [0.0, apart].map(|x| Pose { translation: towards * x, rotation: turns[usize::from(x > 0.0)] })
            };
            // So far apart that they nearly touch.
            let separation = |apart: f64| {
                let [a, b] = frames(apart).map(|pose| Frame::new(&pose));
                let mut out = vec![];
                cylinders_apart([&a, &b], half, radius, &Query { reach: 1.0, ..query }, &mut out);
                out.iter().map(|axis| axis.separation).fold(f64::NEG_INFINITY, f64::max)
            };
            let overlap = [-1e-4, -1e-6, 1e-5][k % 3];
            let apart = sign_change(1e-3, 0.1, |x| separation(x) - overlap);
            let [a, b] = frames(apart).map(|pose| Frame::new(&pose));
            let mut out = vec![];
            cylinders([&a, &b], half, radius, &query, &mut out);
            found += out.len();
            for touch in &out {
                let outside = |frame: &Frame, k: usize, side: f64| {
                    let point = touch.point + touch.normal * (0.5 * side * touch.gap);
                    to_cylinder(frame.point_to_local(point), half[k], radius[k]).distance
                };
                let outside = outside(&a, 0, -1.0).max(outside(&b, 1, 1.0));
                // The ascent to where rims meet may end near it.
                let is_rim = (145..149).contains(&touch.feature);
                assert!(outside < if is_rim { 2e-3 } else { 1e-9 }, "{k}: {outside:e} {touch:?}");
                far += usize::from(outside > 1e-6);
            }
        }
        assert!(found > 1000 && far * 300 < found, "{found} {far}");
    }
}

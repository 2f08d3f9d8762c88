//! Spheres and capsules: distances of points and segments, less the radius. All of it is exact up to rounding and continuous in the poses.

use crate::collision::closest::{Closest, between_segments, direction, on_segment, to_axis, to_polytope};
use crate::collision::frame::{Apart, Frame, Query, Touch};
use crate::collision::pairs::axes::FACE_LIKE;
use crate::collision::polytope::PolytopeRef;
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Most steps along a ball's way: 2 to 6 are usual.
const ADVANCES: usize = 60;

/// A sphere, or an end of a capsule: its centre in the frame of the other shape, and how that moves within the step.
#[derive(Clone, Copy)]
pub(crate) struct Ball {
    pub centre: Vec3,
    radius: f64,
    pub drift: Vec3,
}

impl Ball {
    pub(crate) fn new(first: &Frame, centre: Vec3, radius: f64, query: &Query) -> Self {
        Self { centre: first.point_to_local(centre), radius, drift: first.direction_to_local(query.drift.at(centre)) }
    }

    /// Contact with a shape given by its closest points, as it is or as it comes to be: a ball that is apart touches where it first meets the shape
    /// on its straight way, and not at all where it does not. The plane found supports the shape, so the gap is never more than the distance.
    pub(crate) fn meet(&self, query: &Query, closest: impl Fn(Vec3) -> Option<Closest>) -> Option<(Closest, f64)> {
        self.meet_from(closest(self.centre)?, query, closest)
    }

    /// The same, with the point that is closest now.
    pub(crate) fn meet_from(
        &self,
        mut near: Closest,
        query: &Query,
        closest: impl Fn(Vec3) -> Option<Closest>,
    ) -> Option<(Closest, f64)> {
        let gap = near.distance - self.radius;
        if gap > query.limit() {
            return None;
        }
        if gap > query.touch {
            near = self.first_touch(near, query, closest)?;
        }
        let gap = near.normal.dot(self.centre - near.point) - self.radius;
        (gap <= query.limit()).then_some((near, gap))
    }

    /// Where the ball first touches the shape on its way. If it does not, a plane between the two that the ball keeps off all the way, if it comes
    /// within the margin of it: such a contact stops no ball that passes by itself.
    ///
    /// The distance along a straight way is convex, and the closest points give its tangent. So the first touch is not before the root of any tangent
    /// that falls, and Newton's method comes to it from there; where one that falls and one that rises meet above zero, there is none, and the least
    /// distance is near that place.
    fn first_touch(&self, start: Closest, query: &Query, closest: impl Fn(Vec3) -> Option<Closest>) -> Option<Closest> {
        /// The distance less the radius at a time, and its rate.
        #[derive(Clone, Copy)]
        struct Tangent {
            time: f64,
            gap: f64,
            rate: f64,
        }
        let root = |t: Tangent| t.time - t.gap / t.rate;
        let (mut near, mut time) = (start, 0.0);
        let (mut falling, mut rising): (Option<Tangent>, Option<Tangent>) = (None, None);
        let above = |near: &Closest, p: Vec3| near.normal.dot(p - near.point) - self.radius;
        for _ in 0..ADVANCES {
            let gap = near.distance - self.radius;
            if gap <= query.touch {
                return Some(near);
            }
            let keeps_off = above(&near, self.centre).min(above(&near, self.centre + self.drift));
            if keeps_off > query.touch {
                return (keeps_off <= query.margin + query.touch).then_some(near);
            }
            let tangent = Tangent { time, gap, rate: near.normal.dot(self.drift) };
            if tangent.rate < 0.0 {
                falling = Some(tangent)
            } else {
                rising = Some(tangent)
            }
            let first = falling?;
            let next = match rising {
                Some(last) if root(first) > root(last) => {
                    (last.gap - last.rate * last.time - first.gap + first.rate * first.time) / (first.rate - last.rate)
                }
                _ => root(first).min(1.0),
            };
            if next.is_nan() || next <= first.time {
                return None;
            }
            time = next;
            near = closest(self.centre + self.drift * time)?;
        }
        None
    }

    /// The contact in the world. The ball's point is on the line through its centre, and the shape's where the ball will touch it: a normal force
    /// turns neither a ball nor a capsule about its axis.
    pub(crate) fn touch(&self, first: &Frame, near: &Closest, gap: f64, feature: u64) -> Touch {
        let own = self.centre - near.normal * (self.radius + 0.5 * gap);
        let across = near.point - own;
        let lead = if gap > 0.0 { (near.normal * near.normal.dot(across) - across) * 0.5 } else { Vec3::ZERO };
        let (point, normal) = (first.point_to_world(own - lead), first.rotation * near.normal);
        Touch { lead: first.rotation * lead, ..Touch::new(point, normal, gap, feature) }
    }
}

/// A shape, given by its closest points in its own frame, and a sphere.
pub(crate) fn sphere(
    first: &Frame,
    ball: &Frame,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
    closest: impl Fn(Vec3) -> Option<Closest>,
) {
    let ball = Ball::new(first, ball.origin, radius, query);
    if let Some((near, gap)) = ball.meet(query, closest) {
        out.push(ball.touch(first, &near, gap, 0));
    }
}

/// Closest to a ball about the origin.
pub(crate) fn to_sphere(p: Vec3, radius: f64) -> Closest {
    Closest::outside(p, Vec3::ZERO, Vec3::Z).grown(radius)
}

/// The segment of a capsule in the frame of the other shape.
pub(crate) fn segment(first: &Frame, capsule: &Frame, half_length: f64) -> [Vec3; 2] {
    let centre = first.point_to_local(capsule.origin);
    let arm = first.direction_to_local(capsule.rotation.z_axis) * half_length;
    [centre - arm, centre + arm]
}

/// Two capsules: each end of one against the other where its foot lies beside the other's segment (parallel ones so touch in two points), and the
/// closest points where those are nearer.
pub(crate) fn capsules(frames: [&Frame; 2], half: [f64; 2], radius: [f64; 2], query: &Query, out: &mut Vec<Touch>) {
    let start = out.len();
    let (first, axis) = (frames[0], Vec3::new(0.0, 0.0, half[0]));
    let other = segment(first, frames[1], half[1]);
    let [s, t] = between_segments([-axis, axis], other);
    let nearest = other[0] + (other[1] - other[0]) * t;
    let distance = (nearest - axis * (2.0 * s - 1.0)).norm();
    if distance - radius[0] - radius[1] > query.limit() + query.touch {
        return;
    }
    for side in 0..2 {
        let (own, other) = (frames[side], frames[1 - side]);
        let turned = if side == 0 { query.reversed() } else { *query };
        // Only ends of the first capsule count where ends lie side by side.
        let beside = if side == 0 { query.touch } else { -query.touch };
        for (k, z) in [-half[side], half[side]].into_iter().enumerate() {
            let ball = Ball::new(other, own.point_to_world(Vec3::new(0.0, 0.0, z)), radius[side], &turned);
            if ball.centre.z.abs() > half[1 - side] + beside {
                continue;
            }
            let to_other = |p: Vec3| Some(to_axis(p, half[1 - side]).grown(radius[1 - side]));
            if let Some((near, gap)) = ball.meet(&turned, to_other) {
                let touch = ball.touch(other, &near, gap, (2 * side + k) as u64);
                out.push(if side == 0 { touch.reversed() } else { touch });
            }
        }
    }
    let ends = out[start..].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
    // The ball of the second capsule that is nearest: where it meets the first is where they do.
    let ball = Ball::new(first, first.point_to_world(nearest), radius[1], query);
    let met = ball.meet(query, |p| Some(to_axis(p, half[0]).grown(radius[0])));
    if let Some((near, gap)) = met.filter(|(_, gap)| *gap < ends - query.touch) {
        out.push(ball.touch(first, &near, gap, 4));
    }
}

/// A feature of a polytope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spot {
    Corner(usize),
    Edge(usize),
}

/// A convex polytope and a capsule: its ends as balls, the polytope's corners beside its segment, and edges that cross it. `allowed(n, x,
/// spot)` says whether n is a normal of the surface at its point x on that feature (for a triangle of a surface: of the whole surface).
pub(crate) fn polytope_capsule(
    first: &Frame,
    polytope: PolytopeRef,
    capsule: &Frame,
    half_length: f64,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
    to_point: impl Fn(Vec3) -> Option<Closest>,
    allowed: impl Fn(Vec3, Vec3, Spot) -> bool,
    near: &mut NearSegment,
) {
    capsule_ends(first, capsule, half_length, radius, query, out, &to_point);
    let segment = segment(first, capsule, half_length);
    let along = Along { first, segment, radius, query };
    near.find(polytope, segment, radius + query.limit() + query.touch);
    for &k in &near.corners {
        let corner = polytope.vertices[k as usize];
        let touch = along.corner(corner, |n, x| allowed(n, x, Spot::Corner(k as usize)));
        out.extend(touch.map(|touch| Touch { feature: 2 + u64::from(k), ..touch }));
    }
    let features = 2 + polytope.vertices.len();
    for k in near.edges.iter().map(|k| *k as usize) {
        let ends = polytope.edges[k].vertices.map(|v| polytope.vertices[v as usize]);
        let Some((s, point)) = along.crossing(ends) else { continue };
        let touch = along.pair(point, s, |n, x| allowed(n, x, Spot::Edge(k)));
        let touch = touch.or_else(|| {
            along.over_edge(s, point, polytope.edges[k].faces.map(|f| polytope.faces[f as usize].normal), &to_point)
        });
        out.extend(touch.map(|touch| Touch { feature: (features + k) as u64, ..touch }));
    }
}

/// Corners and edges of a polytope that are near a segment. Reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct NearSegment {
    corners: Vec<u32>,
    edges: Vec<u32>,
}

impl NearSegment {
    /// Those within a distance of the segment, and others. Of few corners and edges all.
    fn find(&mut self, polytope: PolytopeRef, [a, b]: [Vec3; 2], distance: f64) {
        let Self { corners, edges } = self;
        if let Some(around) = polytope.around {
            return around.find(&[(a.min(b) - distance).to_array(), (a.max(b) + distance).to_array()], corners, edges);
        }
        corners.clear();
        edges.clear();
        corners.extend(0..polytope.vertices.len() as u32);
        edges.extend(0..polytope.edges.len() as u32);
    }
}

/// The ends of a capsule as balls, against a shape given by its closest points.
pub(crate) fn capsule_ends(
    first: &Frame,
    capsule: &Frame,
    half_length: f64,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
    to_point: impl Fn(Vec3) -> Option<Closest>,
) {
    for (k, z) in [-half_length, half_length].into_iter().enumerate() {
        let ball = Ball::new(first, capsule.point_to_world(Vec3::new(0.0, 0.0, z)), radius, query);
        if let Some((near, gap)) = ball.meet(query, &to_point) {
            out.push(ball.touch(first, &near, gap, k as u64));
        }
    }
}

/// The inner part of a capsule's segment against features of a polytope.
struct Along<'a> {
    first: &'a Frame,
    segment: [Vec3; 2],
    radius: f64,
    query: &'a Query,
}

impl Along<'_> {
    /// A corner beside the segment, strictly between its ends.
    fn corner(&self, corner: Vec3, allowed: impl Fn(Vec3, Vec3) -> bool) -> Option<Touch> {
        let [a, b] = self.segment;
        let s = on_segment(corner, a, b);
        self.inner(s).then(|| self.pair(corner, s, allowed)).flatten()
    }

    /// Where an edge crosses the segment, both strictly between their ends: parameter of the segment, and the point of the edge.
    fn crossing(&self, ends: [Vec3; 2]) -> Option<(f64, Vec3)> {
        let [s, t] = between_segments(self.segment, ends);
        let length = (ends[1] - ends[0]).norm();
        let inner = self.inner(s) && t * length > self.query.touch && (1.0 - t) * length > self.query.touch;
        inner.then(|| (s, ends[0] + (ends[1] - ends[0]) * t))
    }

    /// A ball of the capsule over an edge of a face, of which there are two with these normals, that it is almost along: it touches the face
    /// there, though not nearest.
    fn over_edge(
        &self,
        s: f64,
        point: Vec3,
        faces: [Vec3; 2],
        to_point: impl Fn(Vec3) -> Option<Closest>,
    ) -> Option<Touch> {
        let centre = self.segment[0] + (self.segment[1] - self.segment[0]) * s;
        let (normal, distance) = direction(centre - point, Vec3::ZERO);
        let near = distance - self.radius <= self.query.limit();
        if !near || faces.iter().all(|face| face.dot(normal) <= FACE_LIKE) {
            return None;
        }
        let ball = Ball::new(self.first, self.first.point_to_world(centre), self.radius, self.query);
        let (near, gap) = ball.meet(self.query, to_point)?;
        Some(ball.touch(self.first, &near, gap, 0))
    }

    fn inner(&self, s: f64) -> bool {
        let length = (self.segment[1] - self.segment[0]).norm();
        s * length > self.query.touch && (1.0 - s) * length > self.query.touch
    }

    /// The contact of a point of the polytope with the ball at parameter s, if they face each other.
    fn pair(&self, point: Vec3, s: f64, allowed: impl Fn(Vec3, Vec3) -> bool) -> Option<Touch> {
        let centre = self.segment[0] + (self.segment[1] - self.segment[0]) * s;
        let (normal, distance) = direction(centre - point, Vec3::ZERO);
        let gap = distance - self.radius;
        if gap > self.query.limit()
            || normal == Vec3::ZERO
            || !allowed(normal, point)
            || !self.meets(normal, gap, centre)
        {
            return None;
        }
        let middle = centre - normal * (self.radius + 0.5 * gap);
        Some(Touch::new(self.first.point_to_world(middle), self.first.rotation * normal, gap, 0))
    }

    /// True if the gap can close within the step.
    fn meets(&self, normal: Vec3, gap: f64, centre: Vec3) -> bool {
        let world = self.first.point_to_world(centre);
        let closing = -normal.dot(self.first.direction_to_local(self.query.drift.at(world)));
        gap <= closing.max(0.0) + self.query.margin + self.query.touch
    }

    /// True if a face keeps the capsule farther off than it can travel, by more than rounding.
    fn is_beyond_reach(&self, polytope: PolytopeRef) -> bool {
        let limit = self.query.limit() + self.query.touch + self.radius;
        polytope.faces.iter().any(|face| self.segment.iter().all(|p| face.normal.dot(*p) - face.offset > limit))
    }

    /// The segment goes through the polytope: out by the face that is nearest to be left.
    fn through(&self, polytope: PolytopeRef, out: &mut Vec<Touch>) {
        let depth =
            |n: Vec3, offset: f64| self.segment.iter().map(|p| n.dot(*p) - offset).fold(f64::INFINITY, f64::min);
        let mut best: Option<(f64, usize)> = None;
        for (i, face) in polytope.faces.iter().enumerate() {
            let height = depth(face.normal, face.offset);
            if best.is_none_or(|(h, _)| height > h) {
                best = Some((height, i));
            }
        }
        let Some((_, i)) = best else { return };
        let face = polytope.faces[i];
        for (k, p) in self.segment.into_iter().enumerate() {
            let gap = face.normal.dot(p) - face.offset - self.radius;
            let point = self.first.point_to_world(p - face.normal * (self.radius + 0.5 * gap));
            out.push(Touch::new(point, self.first.rotation * face.normal, gap, k as u64));
        }
    }
}

/// True if a segment goes through the inside of a polytope.
fn crosses(polytope: PolytopeRef, [a, b]: [Vec3; 2]) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for face in polytope.faces {
        let (from, change) = (face.normal.dot(a) - face.offset, face.normal.dot(b - a));
        if change < 0.0 {
            enter = enter.max(-from / change);
        } else if change > 0.0 {
            leave = leave.min(-from / change);
        } else if from > 0.0 {
            return false;
        }
    }
    enter < leave
}

/// True if no corner of the polytope is beyond the plane through x with normal n, up to `slack`.
pub(crate) fn supports(polytope: PolytopeRef, n: Vec3, x: Vec3, slack: f64) -> bool {
    let level = n.dot(x) + slack;
    polytope.vertices.iter().all(|v| n.dot(*v) <= level)
}

/// The separation of two capsules.
pub(crate) fn capsules_apart(frames: [&Frame; 2], half: [f64; 2], radius: [f64; 2]) -> Apart {
    let own = [Vec3::new(0.0, 0.0, -half[0]), Vec3::new(0.0, 0.0, half[0])];
    let other = segment(frames[0], frames[1], half[1]);
    let [s, t] = between_segments(own, other);
    let between = other[0] + (other[1] - other[0]) * t - own[0] - (own[1] - own[0]) * s;
    let (normal, distance) = direction(between, Vec3::X);
    Apart { normal: frames[0].rotation * normal, separation: distance - radius[0] - radius[1] }
}

/// The separation of a solid polytope and a capsule; negative without further meaning where the segment goes through.
pub(crate) fn capsule_apart(frames: [&Frame; 2], polytope: PolytopeRef, half_length: f64, radius: f64) -> Apart {
    let segment = segment(frames[0], frames[1], half_length);
    if crosses(polytope, segment) {
        return Apart { normal: Vec3::Z, separation: -radius };
    }
    let mut best = segment
        .map(|p| to_polytope(p, polytope))
        .into_iter()
        .fold(None, |best: Option<Closest>, near| Some(best.filter(|b| b.distance <= near.distance).unwrap_or(near)));
    for edge in polytope.edges {
        let ends = edge.vertices.map(|v| polytope.vertices[v as usize]);
        let [s, t] = between_segments(segment, ends);
        let (p, q) = (segment[0] + (segment[1] - segment[0]) * s, ends[0] + (ends[1] - ends[0]) * t);
        let near = Closest::outside(p, q, Vec3::Z);
        best = Some(best.filter(|b| b.distance <= near.distance).unwrap_or(near));
    }
    let (normal, distance) = best.map_or((Vec3::Z, 0.0), |b| (b.normal, b.distance));
    Apart { normal: frames[0].rotation * normal, separation: distance - radius }
}

/// A convex solid polytope and a capsule.
pub(crate) fn convex_capsule(
    first: &Frame,
    polytope: PolytopeRef,
    capsule: &Frame,
    half_length: f64,
    radius: f64,
    query: &Query,
    out: &mut Vec<Touch>,
    near: &mut NearSegment,
) {
    let along = Along { first, segment: segment(first, capsule, half_length), radius, query };
    if along.is_beyond_reach(polytope) {
        return;
    }
    if crosses(polytope, along.segment) {
        return along.through(polytope, out);
    }
    let allowed = |n: Vec3, x: Vec3, _: Spot| supports(polytope, n, x, query.touch);
    let to_point = |p: Vec3| Some(to_polytope(p, polytope));
    polytope_capsule(first, polytope, capsule, half_length, radius, query, out, to_point, allowed, near);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::frame::Drift;
    use crate::collision::pairs::ellipsoid;
    use crate::collision::polytope::Polytope;
    use crate::math::{Pose, axis_angle};
    use stiction_linalg::rng::Rng;

    /// Two frames within a few metres and their motion, at random.
    fn draw(rng: &mut Rng) -> ([Frame; 2], Query) {
        let mut vector = |size: f64| (Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5) * size;
        let frames = [vector(3.0), vector(3.0)]
            .map(|at| Frame::new(&Pose { translation: at, rotation: axis_angle(vector(6.0)) }));
        let drift = Drift { linear: vector(1.0), angular: vector(1.0), about: frames[1].origin };
        let reach = drift.linear.norm() + 0.6 * drift.angular.norm() + 0.01;
        (frames, Query { reach, margin: 0.01, radius: 0.1, bend: 0.0, touch: 1e-9, size: 0.1, drift })
    }

    #[test]
    fn capsules_beyond_reach_have_no_end_that_meets_the_other() {
        let mut rng = Rng::new(11);
        let (half, radius, mut found) = ([0.5, 0.4], [0.1, 0.15], 0);
        for _ in 0..5000 {
            let ([a, b], query) = draw(&mut rng);
            let mut out = Vec::new();
            capsules([&a, &b], half, radius, &query, &mut out);
            let meets = |z: f64| {
                let ball = Ball::new(&a, b.point_to_world(Vec3::new(0.0, 0.0, z)), radius[1], &query);
                let near = |p| Some(to_axis(p, half[0]).grown(radius[0]));
                ball.centre.z.abs() <= half[0] && ball.meet(&query, near).is_some()
            };
            assert!(!out.is_empty() || !(meets(half[1]) || meets(-half[1])));
            found += usize::from(!out.is_empty());
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn capsules_beyond_the_reach_of_a_polytope_have_no_contacts() {
        let mut rng = Rng::new(12);
        let shape = Polytope::cuboid(Vec3::new(0.3, 0.2, 0.4));
        let mut near = NearSegment::default();
        let (p, half_length, radius, mut beyond) = (shape.view(), 0.5, 0.1, 0);
        for _ in 0..5000 {
            let ([a, b], query) = draw(&mut rng);
            let along = Along { first: &a, segment: segment(&a, &b, half_length), radius, query: &query };
            if along.is_beyond_reach(p) {
                let mut out = Vec::new();
                let allowed = |n: Vec3, x: Vec3, _: Spot| supports(p, n, x, query.touch);
                let to_point = |x: Vec3| Some(to_polytope(x, p));
                polytope_capsule(&a, p, &b, half_length, radius, &query, &mut out, to_point, allowed, &mut near);
                assert!(out.is_empty() && !crosses(p, along.segment));
                beyond += 1;
            }
        }
        assert!((500..4500).contains(&beyond), "{beyond}");
    }

    /// A round hull of many corners, and the same as one of which all faces, edges and corners are looked at.
    #[test]
    fn large_hulls_have_the_contacts_of_a_look_at_all() {
        let mut rng = Rng::new(13);
        let points: Vec<Vec3> = (0..400)
            .map(|_| Vec3::new(rng.normal(), rng.normal(), rng.normal()).normalize() * Vec3::new(0.3, 0.2, 0.1))
            .collect();
        let shape = Polytope::hull(&points).unwrap();
        let (half_length, radius) = (0.3, 0.05);
        let (mut near, mut found) = (NearSegment::default(), [0; 2]);
        for _ in 0..3000 {
            let ([a, b], query) = draw(&mut rng);
            let b = Frame { origin: a.origin + (b.origin - a.origin) * 0.3, ..b };
            let all = PolytopeRef { around: None, planes: None, ..shape.view() };
            let mut touches = [vec![], vec![]];
            for (polytope, out) in [shape.view(), all].into_iter().zip(&mut touches) {
                convex_capsule(&a, polytope, &b, half_length, radius, &query, out, &mut near);
            }
            let [some, every] = &touches;
            assert_eq!(some.len(), every.len());
            for (x, y) in some.iter().zip(every) {
                assert!(x.feature == y.feature && (x.gap - y.gap).abs() < 1e-12 && (x.point - y.point).norm() < 1e-9);
            }
            found[0] += some.len();

            let radii = Vec3::new(0.1, 0.15, 0.05);
            let body = ellipsoid::seen_from(&a, &b, radii);
            let centre = a.point_to_local(b.origin);
            let [some, every] = [shape.view(), all].map(|polytope| ellipsoid::to_polytope(&body, centre, polytope));
            assert!((some.distance - every.distance).abs() < 1e-12, "{some:?} {every:?}");
            found[1] += usize::from((0.0..0.1).contains(&some.distance));
        }
        assert!(found[0] > 1000 && found[1] > 100, "{found:?}");
    }
}

//! Contacts of two shapes, by kind. Each function takes the frames of both and gives contacts with normals from the first to the second.

mod arcs;
pub(crate) mod axes;
pub(crate) mod boxes;
pub(crate) mod clip;
pub(crate) mod cylinder;
pub(crate) mod cylinders;
pub(crate) mod ellipsoid;
mod face_plane;
pub(crate) mod half_space;
mod nearest;
pub(crate) mod polytopes;
mod reach;
pub(crate) mod round;
pub(crate) mod surface;

use crate::collision::closest::{Closest, to_axis, to_cuboid, to_cylinder, to_polytope};
use crate::collision::ellipsoid::Ellipsoid;
use crate::collision::frame::{Apart, Frame, Query, Touch};
use crate::collision::pairs::reach::are_beyond_reach;
use crate::collision::pairs::surface::Region;
use crate::collision::solid::Solid;
use crate::collision::surface::Surface;
use crate::math::Vec3;

/// Scratch of the pairs, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    clip: clip::Clip,
    polytopes: polytopes::Scratch,
    surface: surface::Scratch,
    cylinder: cylinder::Scratch,
    segment: round::NearSegment,
    touches: Vec<Touch>,
}

/// A geom as its pairs see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    pub solid: &'a Solid,
    pub frame: &'a Frame,
    /// Centre and half sides of its bounding box, in its frame.
    pub centre: Vec3,
    pub half: Vec3,
}

/// Contacts of two geoms, the normals from the first to the second. With `merge`, what seams of a surface add is left out.
pub(crate) fn contacts(members: [Member; 2], query: &Query, merge: bool, scratch: &mut Scratch, out: &mut Vec<Touch>) {
    let [a, b] = members;
    if a.solid.rank() <= b.solid.rank() {
        return ordered(a, b, query, merge, scratch, out);
    }
    let start = out.len();
    ordered(b, a, &query.reversed(), merge, scratch, out);
    out[start..].iter_mut().for_each(|t| *t = t.reversed());
}

fn ordered(first: Member, second: Member, query: &Query, merge: bool, scratch: &mut Scratch, out: &mut Vec<Touch>) {
    match first.solid {
        Solid::HalfSpace => with_half_space(first.frame, second, query, out),
        Solid::Surface(surface) => with_surface(surface, first.frame, second, query, merge, scratch, out),
        _ => convex(first, second, query, scratch, out),
    }
}

fn with_half_space(space: &Frame, other: Member, query: &Query, out: &mut Vec<Touch>) {
    let frame = other.frame;
    match other.solid {
        Solid::HalfSpace => {}
        Solid::Surface(surface) => half_space::points(space, frame, &surface.vertices, query, out),
        Solid::Hull(hull) => half_space::points(space, frame, &hull.vertices, query, out),
        Solid::Cuboid { half, .. } => half_space::cuboid(space, frame, *half, query, out),
        Solid::Cylinder { half_length, radius } => {
            half_space::cylinder(space, frame, *half_length, *radius, query, out)
        }
        Solid::Capsule { half_length, radius } => half_space::capsule(space, frame, *half_length, *radius, query, out),
        Solid::Sphere { radius } => half_space::sphere(space, frame, *radius, query, out),
        Solid::Ellipsoid { radii } => half_space::ellipsoid(space, frame, *radii, query, out),
    }
}

fn with_surface(
    surface: &Surface,
    frame: &Frame,
    other: Member,
    query: &Query,
    merge: bool,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    let relative = frame.relative(other.frame);
    let r = &relative.rotation;
    let half = r.x_axis.abs() * other.half.x + r.y_axis.abs() * other.half.y + r.z_axis.abs() * other.half.z;
    let centre = relative.point_to_world(other.centre);
    let region = Region { surface, frame, centre, half, query, merge };
    let Scratch { surface: own, polytopes, cylinder, segment, .. } = scratch;
    match other.solid {
        Solid::HalfSpace | Solid::Surface(_) => {}
        Solid::Hull(polytope) | Solid::Cuboid { polytope, .. } => {
            region.polytope(other.frame, polytope.view(), own, polytopes, out)
        }
        Solid::Cylinder { half_length, radius } => {
            region.cylinder(other.frame, *half_length, *radius, own, cylinder, out)
        }
        Solid::Capsule { half_length, radius } => {
            region.capsule(other.frame, *half_length, *radius, (own, segment), out)
        }
        Solid::Sphere { radius } => region.sphere(other.frame, *radius, own, out),
        Solid::Ellipsoid { radii } => region.ellipsoid(other.frame, *radii, own, out),
    }
}

fn convex(first: Member, second: Member, query: &Query, scratch: &mut Scratch, out: &mut Vec<Touch>) {
    let frames = [first.frame, second.frame];
    if are_beyond_reach(&first, &second, query) {
        return;
    }
    let [a, b] = frames;
    let start = out.len();
    if let Some(near) = sharp(&first, &second, query, scratch, out) {
        if near && out.len() == start {
            nearest::add_where_they_meet(&first, &second, query, scratch, out);
        }
        return;
    }
    match (first.solid, second.solid) {
        (Solid::Hull(hull), Solid::Sphere { radius }) => {
            round::sphere(a, b, *radius, query, out, |p| Some(to_polytope(p, hull.view())))
        }
        (Solid::Cuboid { half, .. }, Solid::Sphere { radius }) => {
            round::sphere(a, b, *radius, query, out, |p| Some(to_cuboid(p, *half)))
        }
        (Solid::Capsule { half_length, radius: grown }, Solid::Sphere { radius }) => {
            round::sphere(a, b, *radius, query, out, |p| Some(to_axis(p, *half_length).grown(*grown)))
        }
        (Solid::Sphere { radius: own }, Solid::Sphere { radius }) => {
            round::sphere(a, b, *radius, query, out, |p| Some(round::to_sphere(p, *own)))
        }
        (Solid::Hull(polytope) | Solid::Cuboid { polytope, .. }, Solid::Capsule { half_length, radius }) => {
            round::convex_capsule(a, polytope.view(), b, *half_length, *radius, query, out, &mut scratch.segment)
        }
        (Solid::Capsule { half_length: h, radius: r }, Solid::Capsule { half_length, radius }) => {
            round::capsules(frames, [*h, *half_length], [*r, *radius], query, out)
        }
        (Solid::Hull(p) | Solid::Cuboid { polytope: p, .. }, Solid::Cylinder { half_length, radius }) => {
            cylinder::polytope_cylinder(frames, p.view(), [*half_length, *radius], query, &mut scratch.cylinder, out)
        }
        (Solid::Cylinder { half_length: h, radius: r }, Solid::Cylinder { half_length, radius }) => {
            cylinders::cylinders(frames, [*h, *half_length], [*r, *radius], query, out)
        }
        (Solid::Cylinder { half_length: h, radius: r }, Solid::Capsule { half_length, radius }) => {
            cylinders::cylinder_capsule(frames, [*h, *half_length], [*r, *radius], query, out)
        }
        (Solid::Cylinder { half_length, radius: r }, Solid::Sphere { radius }) => {
            round::sphere(a, b, *radius, query, out, |p| Some(to_cylinder(p, *half_length, *r)))
        }
        (_, Solid::Ellipsoid { radii }) => {
            let closest = |body: &Ellipsoid, p: Vec3| to_ellipsoid(first.solid, body, p);
            ellipsoid::ellipsoid(a, b, *radii, query, out, closest)
        }
        // Ranks exclude all others.
        _ => {}
    }
}

/// Contacts of two polytopes between features that face each other; false if an axis keeps them farther apart than they can travel.
/// `None` for other shapes.
fn sharp(first: &Member, second: &Member, query: &Query, scratch: &mut Scratch, out: &mut Vec<Touch>) -> Option<bool> {
    let frames = [first.frame, second.frame];
    match (first.solid, second.solid) {
        (Solid::Cuboid { half: own, .. }, Solid::Cuboid { half, .. }) => {
            Some(boxes::boxes(frames, [*own, *half], query, &mut scratch.clip, out))
        }
        (Solid::Hull(p), Solid::Hull(q) | Solid::Cuboid { polytope: q, .. }) => {
            Some(polytopes::polytopes(frames, [p.view(), q.view()], query, &mut scratch.polytopes, out))
        }
        _ => None,
    }
}

/// The point closest to an ellipsoid's centre on a convex shape grown by the ellipsoid.
fn to_ellipsoid(first: &Solid, body: &Ellipsoid, centre: Vec3) -> Option<Closest> {
    Some(match first {
        Solid::Hull(polytope) | Solid::Cuboid { polytope, .. } => ellipsoid::to_polytope(body, centre, polytope.view()),
        Solid::Cylinder { half_length, radius } => ellipsoid::to_cylinder(body, centre, *half_length, *radius),
        Solid::Capsule { half_length, radius } => ellipsoid::to_capsule(body, centre, *half_length, *radius),
        Solid::Sphere { radius } => ellipsoid::to_sphere(body, centre, *radius),
        Solid::Ellipsoid { radii } => ellipsoid::to_ellipsoid(body, centre, *radii),
        Solid::HalfSpace | Solid::Surface(_) => return None,
    })
}

/// Separations of two geoms along some directions, each from the first to the second: none is more than their distance, and the greatest is exact
/// where they touch. Nothing for surfaces, which have contacts only.
pub(crate) fn separations(members: [Member; 2], query: &Query, scratch: &mut Scratch, out: &mut Vec<Apart>) {
    let [a, b] = members;
    if a.solid.rank() <= b.solid.rank() {
        return ordered_separations(a, b, query, scratch, out);
    }
    let start = out.len();
    ordered_separations(b, a, &query.reversed(), scratch, out);
    out[start..].iter_mut().for_each(|s| s.normal = -s.normal);
}

fn ordered_separations(first: Member, second: Member, query: &Query, scratch: &mut Scratch, out: &mut Vec<Apart>) {
    let frames = [first.frame, second.frame];
    let [a, b] = frames;
    let from_point =
        |near: Closest, radius: f64| Apart { normal: a.rotation * near.normal, separation: near.distance - radius };
    let centre = a.point_to_local(b.origin);
    match (first.solid, second.solid) {
        (Solid::Surface(_), _) | (_, Solid::Surface(_)) => {}
        (Solid::HalfSpace, _) => {
            scratch.touches.clear();
            with_half_space(a, second, query, &mut scratch.touches);
            let separation = scratch.touches.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            out.push(Apart { normal: a.rotation.z_axis, separation });
        }
        (_, Solid::Ellipsoid { radii }) => {
            let body = ellipsoid::seen_from(a, b, *radii);
            out.extend(to_ellipsoid(first.solid, &body, centre).map(|near| from_point(near, 0.0)));
        }
        (Solid::Hull(hull), Solid::Sphere { radius }) => {
            out.push(from_point(to_polytope(centre, hull.view()), *radius))
        }
        (Solid::Cuboid { half, .. }, Solid::Sphere { radius }) => {
            out.push(from_point(to_cuboid(centre, *half), *radius))
        }
        (Solid::Capsule { half_length, radius: grown }, Solid::Sphere { radius }) => {
            out.push(from_point(to_axis(centre, *half_length).grown(*grown), *radius))
        }
        (Solid::Sphere { radius: own }, Solid::Sphere { radius }) => {
            out.push(from_point(round::to_sphere(centre, *own), *radius))
        }
        (Solid::Cylinder { half_length, radius: r }, Solid::Sphere { radius }) => {
            out.push(from_point(to_cylinder(centre, *half_length, *r), *radius))
        }
        (Solid::Hull(p) | Solid::Cuboid { polytope: p, .. }, Solid::Capsule { half_length, radius }) => {
            out.push(round::capsule_apart(frames, p.view(), *half_length, *radius))
        }
        (Solid::Capsule { half_length: h, radius: r }, Solid::Capsule { half_length, radius }) => {
            out.push(round::capsules_apart(frames, [*h, *half_length], [*r, *radius]))
        }
        (Solid::Cylinder { half_length: h, radius: r }, Solid::Capsule { half_length, radius }) => {
            out.push(cylinders::cylinder_capsule_apart(frames, [*h, *half_length], [*r, *radius]))
        }
        (Solid::Cuboid { half: own, .. }, Solid::Cuboid { half, .. }) => {
            boxes::boxes_apart(frames, [*own, *half], query, out)
        }
        (Solid::Hull(p), Solid::Hull(q) | Solid::Cuboid { polytope: q, .. }) => {
            polytopes::polytopes_apart(frames, [p.view(), q.view()], query, &mut scratch.polytopes, out)
        }
        (Solid::Hull(p) | Solid::Cuboid { polytope: p, .. }, Solid::Cylinder { half_length, radius }) => {
            let size = [*half_length, *radius];
            cylinder::polytope_cylinder_apart(frames, p.view(), size, query, &mut scratch.cylinder, out)
        }
        (Solid::Cylinder { half_length: h, radius: r }, Solid::Cylinder { half_length, radius }) => {
            cylinders::cylinders_apart(frames, [*h, *half_length], [*r, *radius], query, out)
        }
        // Ranks exclude all others.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::closest_points::Core;
    use crate::collision::frame::Drift;
    use crate::collision::polytope::Polytope;
    use crate::collision::sign_change::sign_change;
    use crate::math::{Pose, axis_angle};
    use stiction_linalg::rng::Rng;

    /// Every kind of convex shape, those of which hulls are made with few corners, many, and thin.
    fn solids(rng: &mut Rng) -> Vec<Solid> {
        let half = Vec3::new(0.02, 0.015, 0.01);
        let mut hull = |count: usize, size: Vec3| {
            let corner = |_| Vec3::new(rng.normal(), rng.normal(), rng.normal()).normalize() * size;
            Solid::Hull(Polytope::hull(&(0..count).map(corner).collect::<Vec<_>>()).unwrap())
        };
        vec![
            hull(8, half),
            hull(300, half),
            hull(40, Vec3::new(0.03, 0.02, 0.002)),
            Solid::Cuboid { half, polytope: Polytope::cuboid(half) },
            Solid::Cylinder { half_length: 0.0175, radius: 0.0158 },
            Solid::Cylinder { half_length: 0.003, radius: 0.02 },
            Solid::Capsule { half_length: 0.02, radius: 0.01 },
            Solid::Sphere { radius: 0.015 },
            Solid::Ellipsoid { radii: Vec3::new(0.01, 0.02, 0.015) },
        ]
    }

    fn distance([a, b]: [&Solid; 2], [first, second]: [&Frame; 2]) -> f64 {
        let [a, b] = [a, b].map(|solid| Core::new(solid).unwrap());
        a.apart(&b, &first.relative(second)).map_or(-1.0, |apart| apart.distance)
    }

    /// How far outside a shape a point is.
    fn outside(solid: &Solid, frame: &Frame, point: Vec3) -> f64 {
        let small = Solid::Sphere { radius: 1e-12 };
        distance([solid, &small], [frame, &Frame { origin: point, ..*frame }]).max(0.0)
    }

    /// Shapes at rest that hardly miss each other have contacts, whose points lie on both and are no nearer to each other than the shapes.
    #[test]
    fn shapes_that_nearly_touch_have_contacts_on_both() {
        const APART: f64 = 1e-5;
        let mut rng = Rng::new(21);
        let (solids, mut scratch) = (solids(&mut rng), Scratch::default());
        let drift = Drift { linear: Vec3::ZERO, angular: Vec3::ZERO, about: Vec3::ZERO };
        let query = Query { reach: 1e-4, margin: 1e-4, radius: 0.03, bend: 0.0, touch: 1e-11, size: 0.01, drift };
        let is_sharp = |solid: &Solid| matches!(solid, Solid::Hull(_) | Solid::Cuboid { .. });
        let is_cylinder = |solid: &Solid| matches!(solid, Solid::Cylinder { .. });
        for (i, first) in solids.iter().enumerate() {
            for second in &solids[i..] {
                let both = [first, second];
                let (mut missed, mut far) = (0, 0);
                for _ in 0..150 {
                    let mut vector = || Vec3::new(rng.normal(), rng.normal(), rng.normal());
                    let turns = [vector(), vector()].map(|turn| axis_angle(turn * 2.0));
                    let towards = vector().normalize();
                    let at = |k: usize, x: f64| Frame::new(&Pose { translation: towards * x, rotation: turns[k] });
                    let own = at(0, 0.0);
                    let other = at(1, sign_change(1e-3, 0.1, |x| distance(both, [&own, &at(1, x)]) - APART));
                    let member = |solid, frame| {
                        let [low, high] = Solid::bounds(solid);
                        Member { solid, frame, centre: 0.5 * (low + high), half: 0.5 * (high - low) }
                    };
                    let mut out = vec![];
                    contacts([member(first, &own), member(second, &other)], &query, true, &mut scratch, &mut out);
                    missed += usize::from(out.is_empty());
                    for touch in &out {
                        let end = |side: f64| touch.point + touch.normal * (0.5 * side * touch.gap);
                        let off = outside(first, &own, end(-1.0)).max(outside(second, &other, end(1.0)));
                        far += usize::from(off > 1e-7 || touch.gap < APART - 1e-9);
                    }
                }
                // Of sharp shapes a face may be nearest that lies beside the other by less than the edges' normals differ from its own; where rims
                // meet is found by an ascent that may end beside it.
                let most_missed = if both.iter().all(|solid| is_sharp(solid)) { 12 } else { 0 };
                let most_far = if both.iter().all(|solid| is_cylinder(solid)) { 3 } else { 1 };
                assert!(missed <= most_missed && far <= most_far, "{both:?}: {missed} {far}");
            }
        }
    }
}

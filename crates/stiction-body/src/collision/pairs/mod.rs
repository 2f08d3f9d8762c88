//! Contacts of two shapes, by kind. Each function takes the frames of both and gives contacts with normals from the first to the second.

pub(crate) mod axes;
pub(crate) mod boxes;
pub(crate) mod clip;
pub(crate) mod half_space;
pub(crate) mod polytopes;
pub(crate) mod round;

use crate::collision::closest::{to_axis, to_cuboid, to_polytope};
use crate::collision::frame::{Frame, Query, Touch};
use crate::collision::solid::Solid;

/// Scratch of the pairs, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    clip: clip::Clip,
    polytopes: polytopes::Scratch,
}

/// Contacts of two solids, the normals from the first to the second.
pub(crate) fn contacts(
    solids: [&Solid; 2],
    frames: [&Frame; 2],
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    if solids[0].rank() <= solids[1].rank() {
        return ordered(solids, frames, query, scratch, out);
    }
    let start = out.len();
    ordered([solids[1], solids[0]], [frames[1], frames[0]], &query.reversed(), scratch, out);
    out[start..].iter_mut().for_each(|t| *t = t.reversed());
}

fn ordered(solids: [&Solid; 2], frames: [&Frame; 2], query: &Query, scratch: &mut Scratch, out: &mut Vec<Touch>) {
    let [a, b] = frames;
    match solids {
        [Solid::HalfSpace, Solid::HalfSpace] => {}
        [Solid::HalfSpace, Solid::Hull(hull)] => half_space::points(a, b, &hull.vertices, query, out),
        [Solid::HalfSpace, Solid::Cuboid { half, .. }] => half_space::cuboid(a, b, *half, query, out),
        [Solid::HalfSpace, Solid::Capsule { half_length, radius }] => {
            half_space::capsule(a, b, *half_length, *radius, query, out)
        }
        [Solid::HalfSpace, Solid::Sphere { radius }] => half_space::sphere(a, b, *radius, query, out),
        [Solid::Hull(hull), Solid::Sphere { radius }] => {
            round::sphere(a, b, *radius, query, out, |p| to_polytope(p, hull.view()))
        }
        [Solid::Cuboid { half, .. }, Solid::Sphere { radius }] => {
            round::sphere(a, b, *radius, query, out, |p| to_cuboid(p, *half))
        }
        [Solid::Capsule { half_length, radius: grown }, Solid::Sphere { radius }] => {
            round::sphere(a, b, *radius, query, out, |p| to_axis(p, *half_length).grown(*grown))
        }
        [Solid::Sphere { radius: own }, Solid::Sphere { radius }] => {
            round::sphere(a, b, *radius, query, out, |p| round::to_sphere(p, *own))
        }
        [Solid::Hull(polytope) | Solid::Cuboid { polytope, .. }, Solid::Capsule { half_length, radius }] => {
            round::convex_capsule(a, polytope.view(), b, *half_length, *radius, query, out)
        }
        [Solid::Capsule { half_length: h, radius: r }, Solid::Capsule { half_length, radius }] => {
            round::capsules([a, b], [*h, *half_length], [*r, *radius], query, out)
        }
        [Solid::Cuboid { half: a_half, .. }, Solid::Cuboid { half: b_half, .. }] => {
            boxes::boxes([a, b], [*a_half, *b_half], query, &mut scratch.clip, out)
        }
        [Solid::Hull(p), Solid::Hull(q) | Solid::Cuboid { polytope: q, .. }] => {
            polytopes::polytopes(frames, [p.view(), q.view()], query, &mut scratch.polytopes, out)
        }
        _ => {}
    }
}

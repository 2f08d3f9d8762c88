//! Where rays meet geoms: closed formulas per shape, in the shape's frame.
//!
//! A ray meets a surface from outside only: one that starts within a shape does not meet that
//! shape, so that a sensor may sit inside the body that carries it.

use stiction_linalg::Threads;

use super::Collision;
use super::closest::direction as unit_and_length;
use super::frame::Frame;
use super::polytope::PolytopeRef;
use super::solid::Solid;
use super::surface::Surface;
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::Vec3;
use crate::model::Model;

/// Rays that are worth a thread.
const GRAIN: usize = 64;

/// Pieces that a ray over a surface of triangles is looked at in, one after the other.
const PIECES: usize = 32;

/// Where a ray meets a geom first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The geom.
    pub geom: usize,
    /// From the origin of the ray (m).
    pub distance: f64,
    /// Where, in the world (m).
    pub point: Vec3,
    /// Outward unit normal there.
    pub normal: Vec3,
}

impl Collision {
    /// The first geom that each ray meets, with the poses in `work`; `None` where it meets none
    /// within `reach` (m, at least 0, may be infinite). Origins in the world (m); directions of any
    /// length above 0. Geoms for which `skip` is true are looked through.
    pub fn cast_rays(
        &mut self,
        model: &Model,
        work: &Workspace,
        rays: &[(Vec3, Vec3)],
        reach: f64,
        skip: impl Fn(usize) -> bool + Sync,
    ) -> Vec<Option<RayHit>> {
        let still = vec![LinkMotion::ZERO; model.links().len()];
        self.place(model, work, &still, 0.0, 0.0);
        let this = &*self;
        let threads = self.threads.worth(rays.len() * self.parts.len().max(1) / 16, GRAIN);
        let mut found = vec![None; rays.len()];
        let chunk = rays.len().div_ceil(threads).max(1);
        let mut workspaces = vec![vec![]; threads];
        let pieces = rays.chunks(chunk).zip(found.chunks_mut(chunk));
        Threads::new(threads).share(&mut workspaces, pieces, |near: &mut Vec<u32>, (rays, found)| {
            for (ray, hit) in rays.iter().zip(found) {
                *hit = this.cast_ray(*ray, reach, &skip, near);
            }
        });
        found
    }

    fn cast_ray(
        &self,
        (origin, along): (Vec3, Vec3),
        reach: f64,
        skip: &impl Fn(usize) -> bool,
        near: &mut Vec<u32>,
    ) -> Option<RayHit> {
        let (along, _) = unit_and_length(along, Vec3::ZERO);
        let mut best: Option<RayHit> = None;
        for (geom, (part, placed)) in self.parts.iter().zip(&self.placed).enumerate() {
            if !placed.finite || skip(geom) {
                continue;
            }
            let most = best.map_or(reach, |hit| hit.distance);
            if part.radius.is_finite() {
                // Nearest point of the ray to the middle of the ball that holds the geom.
                let to = placed.centre - origin;
                let ahead = to.dot(along).clamp(0.0, most);
                if (to - along * ahead).length() > part.radius * (1.0 + 1e-12) {
                    continue;
                }
            }
            let frame = &placed.frame;
            let (o, d) = (frame.point_to_local(origin), frame.direction_to_local(along));
            let hit = match &part.solid {
                Solid::Surface(surface) => {
                    surface.meet_ray(o, d, [part.centre - part.half, part.centre + part.half], most, near)
                }
                solid => meet(solid, o, d),
            };
            let Some((distance, normal)) = hit.filter(|(distance, _)| *distance <= most) else { continue };
            if best.is_none_or(|b| distance < b.distance) {
                let (point, normal) = (origin + along * distance, world_direction(frame, normal));
                best = Some(RayHit { geom, distance, point, normal });
            }
        }
        best
    }
}

fn world_direction(frame: &Frame, v: Vec3) -> Vec3 {
    frame.rotation * v
}

/// Where a ray enters a convex shape: distance and outward normal.
fn meet(solid: &Solid, o: Vec3, d: Vec3) -> Option<(f64, Vec3)> {
    match solid {
        Solid::HalfSpace => (o.z > 0.0 && d.z < 0.0).then(|| (-o.z / d.z, Vec3::Z)),
        Solid::Sphere { radius } => meet_ball(o, d, Vec3::ZERO, *radius),
        Solid::Cuboid { polytope, .. } => meet_polytope(o, d, polytope.view()),
        Solid::Hull(polytope) => meet_polytope(o, d, polytope.view()),
        Solid::Ellipsoid { radii } => {
            // In coordinates in which it is the unit ball; distances along the ray are as they
            // were.
            let (o, d) = (o / *radii, d / *radii);
            let t = enter_ball(o, d)?;
            let (normal, _) = unit_and_length((o + d * t) / *radii, Vec3::Z);
            Some((t, normal))
        }
        Solid::Cylinder { half_length, radius } => meet_cylinder(o, d, *half_length, *radius),
        Solid::Capsule { half_length, radius } => meet_capsule(o, d, *half_length, *radius),
        Solid::Surface(_) => None,
    }
}

fn meet_ball(o: Vec3, d: Vec3, centre: Vec3, radius: f64) -> Option<(f64, Vec3)> {
    let from = (o - centre) / radius;
    let t = enter_ball(from, d / radius)?;
    Some((t, unit_and_length(from + d * (t / radius), Vec3::Z).0))
}

/// Where `o + t d` enters the unit ball from outside.
fn enter_ball(o: Vec3, d: Vec3) -> Option<f64> {
    let (a, b, c) = (d.length_squared(), o.dot(d), o.length_squared() - 1.0);
    // |o × d|² is what the discriminant lacks to |d|², without the cancellation of b² − a c.
    let discriminant = a - o.cross(d).length_squared();
    if c <= 0.0 || b >= 0.0 || discriminant < 0.0 {
        return None;
    }
    Some(c / (-b + discriminant.sqrt()))
}

/// Where `o + t d` enters the disc of the unit circle in x and y from outside.
fn enter_circle(o: Vec3, d: Vec3, radius: f64) -> Option<f64> {
    let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0) / radius;
    let (o, d) = (flat(o), flat(d));
    if d == Vec3::ZERO { None } else { enter_ball(o, d) }
}

fn meet_cylinder(o: Vec3, d: Vec3, half_length: f64, radius: f64) -> Option<(f64, Vec3)> {
    if let Some(t) = enter_circle(o, d, radius) {
        let at = o + d * t;
        if at.z.abs() <= half_length {
            return Some((t, unit_and_length(Vec3::new(at.x, at.y, 0.0), Vec3::X).0));
        }
    }
    let end = if o.z < 0.0 { -1.0 } else { 1.0 };
    let beyond = o.z * end - half_length;
    if beyond <= 0.0 || d.z * end >= 0.0 {
        return None;
    }
    let t = -beyond / (d.z * end);
    let at = o + d * t;
    (at.x * at.x + at.y * at.y <= radius * radius).then(|| (t, Vec3::new(0.0, 0.0, end)))
}

fn meet_capsule(o: Vec3, d: Vec3, half_length: f64, radius: f64) -> Option<(f64, Vec3)> {
    let inside = {
        let near = Vec3::new(0.0, 0.0, o.z.clamp(-half_length, half_length));
        (o - near).length() <= radius
    };
    if inside {
        return None;
    }
    let mut best: Option<(f64, Vec3)> = None;
    if let Some(t) = enter_circle(o, d, radius) {
        let at = o + d * t;
        if at.z.abs() <= half_length {
            best = Some((t, unit_and_length(Vec3::new(at.x, at.y, 0.0), Vec3::X).0));
        }
    }
    for end in [-half_length, half_length] {
        let hit = meet_ball(o, d, Vec3::new(0.0, 0.0, end), radius);
        if let Some(hit) = hit.filter(|(t, _)| best.is_none_or(|(least, _)| *t < least)) {
            best = Some(hit);
        }
    }
    best
}

/// Where a ray enters the last of the half-spaces of a polytope's faces, before it leaves the
/// first.
fn meet_polytope(o: Vec3, d: Vec3, polytope: PolytopeRef<'_>) -> Option<(f64, Vec3)> {
    let (mut enter, mut leave) = ((f64::NEG_INFINITY, Vec3::Z), f64::INFINITY);
    for face in polytope.faces {
        let (height, rate) = (face.normal.dot(o) - face.offset, face.normal.dot(d));
        if rate < 0.0 {
            let t = height / -rate;
            if t > enter.0 {
                enter = (t, face.normal);
            }
        } else if rate > 0.0 {
            leave = leave.min(-height / rate);
        } else if height > 0.0 {
            return None;
        }
    }
    (enter.0 >= 0.0 && enter.0 <= leave).then_some(enter)
}

impl Surface {
    /// The first triangle that a ray meets from its outer side, within `most` (m); `low` and `high`
    /// bound the surface.
    fn meet_ray(
        &self,
        o: Vec3,
        d: Vec3,
        [low, high]: [Vec3; 2],
        most: f64,
        near: &mut Vec<u32>,
    ) -> Option<(f64, Vec3)> {
        let (mut from, mut to) = (0.0f64, most);
        for k in 0..3 {
            if d[k] == 0.0 {
                if o[k] < low[k] || o[k] > high[k] {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low[k] - o[k]) / d[k], (high[k] - o[k]) / d[k]);
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        }
        // Rounding must not lose a surface that has no depth along the ray.
        let slack = 1e-9 * (1.0 + (high - low).length());
        (from, to) = ((from - slack).max(0.0), (to + slack).min(most));
        if from > to {
            return None;
        }
        for piece in 0..PIECES {
            let at = |k: usize| from + (to - from) * k as f64 / PIECES as f64;
            let (start, end) = (o + d * at(piece), o + d * at(piece + 1));
            let grown = Vec3::splat(slack);
            self.near(start.min(end) - grown, start.max(end) + grown, f64::INFINITY, near);
            let mut best: Option<(f64, Vec3)> = None;
            for &triangle in near.iter() {
                let hit = meet_triangle(o, d, self.corners(triangle));
                if let Some(hit) = hit.filter(|(t, _)| *t <= most && best.is_none_or(|(least, _)| *t < least)) {
                    best = Some(hit);
                }
            }
            // A triangle that is near this piece may be met in a later one, behind others.
            if best.is_some_and(|(t, _)| t <= at(piece + 1) + slack) {
                return best;
            }
        }
        None
    }
}

/// Where a ray meets the outer side of a triangle.
///
/// Reference: \[MöllerTrumbore97\] (T. Möller, B. Trumbore: Fast, minimum storage ray/triangle
/// intersection).
fn meet_triangle(o: Vec3, d: Vec3, [a, b, c]: [Vec3; 3]) -> Option<(f64, Vec3)> {
    let (u, v, from) = (b - a, c - a, o - a);
    let normal = u.cross(v);
    let rate = -normal.dot(d);
    if rate <= 0.0 {
        return None;
    }
    let turned = from.cross(d);
    let (s, t) = (v.dot(turned), -u.dot(turned));
    let distance = normal.dot(from) / rate;
    let inside = s >= 0.0 && t >= 0.0 && s + t <= rate;
    (inside && distance >= 0.0).then(|| (distance, unit_and_length(normal, Vec3::Z).0))
}

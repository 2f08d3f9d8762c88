//! Distance and closest points of two geoms, or of a geom and a point or shape that is none.
//!
//! Apart they are found by Gilbert's, Johnson's and Keerthi's method on the cores of the shapes (a
//! ball is a point, a capsule a segment, each with a radius), run until rounding ends it; where
//! cores overlap, by the contacts of the pair.
//!
//! Reference: \[GJK88\] (E. Gilbert, D. Johnson, S. Keerthi: A fast procedure for computing the
//! distance between complex objects in three-dimensional space).

use stiction_linalg::InputError;

use super::closest::direction;
use super::frame::Frame;
use super::pairs::{self, Member};
use super::simplex::{Simplex, Vertex};
use super::solid::Solid;
use super::surface::Surface;
use super::{Collision, Part, Placed, query};
use crate::collision::vector::Norm;
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Pose, Vec3};
use crate::model::Model;
use crate::shape::Shape;

/// Most steps of the method. Polytopes take a handful, curved shapes some dozens.
const MOST_STEPS: usize = 500;
/// The distance is found once a step can lower it by no more than this relative tolerance.
const DISTANCE_TOLERANCE: f64 = 1e-15;
/// Rounding of a difference of two points, beside the largest coordinate.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Two shapes, and where they are closest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// Signed distance (m), negative where they overlap.
    pub distance: f64,
    /// The closest point of each, in the world (m); where they overlap, the deepest.
    pub points: [Vec3; 2],
    /// Unit vector from the first to the second.
    pub normal: Vec3,
}

impl Separation {
    fn reversed(self) -> Self {
        let [a, b] = self.points;
        Self { points: [b, a], normal: -self.normal, ..self }
    }

    /// The one with the least distance.
    pub fn nearer(self, other: Option<Self>) -> Self {
        other.filter(|other| other.distance < self.distance).unwrap_or(self)
    }
}

impl Collision {
    /// Closest points of two geoms, whether or not they may touch, with the poses in `work`. `None`
    /// for two half-spaces, or where a pose is not finite or a number is not that of a geom. To a
    /// mesh or height field it is the distance to its triangles; of two surfaces that cross it is
    /// 0.
    pub fn closest_points(&mut self, model: &Model, work: &Workspace, geoms: [usize; 2]) -> Option<Separation> {
        let parts = [self.parts.get(geoms[0])?.clone(), self.parts.get(geoms[1])?.clone()];
        let placed = [0, 1].map(|k| still(&parts[k], model, work));
        self.closest_parts([&parts[0], &parts[1]], [&placed[0], &placed[1]])
    }

    /// Closest point of a geom to a point in the world (m); the second point of the answer is that
    /// point.
    pub fn closest_to_point(
        &mut self,
        model: &Model,
        work: &Workspace,
        geom: usize,
        point: Vec3,
    ) -> Option<Separation> {
        let part = self.parts.get(geom)?.clone();
        let ball = Part {
            solid: Solid::Sphere { radius: 0.0 },
            link: None,
            pose: Pose::from_translation(point),
            centre: Vec3::ZERO,
            half: Vec3::ZERO,
            radius: 0.0,
            size: 0.0,
            fixed: true,
            shared: false,
        };
        let placed = [still(&part, model, work), still(&ball, model, work)];
        self.closest_parts([&part, &ball], [&placed[0], &placed[1]])
    }

    /// Closest points of a geom and a shape at a pose in the world, which is no geom.
    ///
    /// # Errors
    /// If the shape cannot collide as it is, or the pose is not finite.
    pub fn closest_to_shape(
        &mut self,
        model: &Model,
        work: &Workspace,
        geom: usize,
        (shape, pose): (&Shape, &Pose),
    ) -> Result<Option<Separation>, InputError> {
        let other = super::Geom::new("", None, *pose, shape.clone());
        let other = Part::new(&other, self.parts.len(), &[], false)?;
        let Some(part) = self.parts.get(geom).cloned() else { return Ok(None) };
        let placed = [still(&part, model, work), still(&other, model, work)];
        Ok(self.closest_parts([&part, &other], [&placed[0], &placed[1]]))
    }

    fn closest_parts(&mut self, parts: [&Part; 2], placed: [&Placed; 2]) -> Option<Separation> {
        if !(placed[0].finite && placed[1].finite) {
            return None;
        }
        let members = [parts[0].member(placed[0]), parts[1].member(placed[1])];
        if let Some(apart) = apart(members) {
            return Some(apart);
        }
        // They overlap: the deepest of their contacts.
        let question = query(parts, placed, 0.0, 0.0);
        let workspace = &mut self.workspaces[0];
        workspace.touches.clear();
        pairs::contacts(members, &question, true, &mut workspace.scratch, &mut workspace.touches);
        let deepest = workspace.touches.iter().reduce(|a, b| if b.gap < a.gap { b } else { a })?;
        let half = deepest.normal * (0.5 * deepest.gap);
        let points = [deepest.point - half, deepest.point + half];
        Some(Separation { distance: deepest.gap, points, normal: deepest.normal })
    }
}

/// Where a geom is at rest.
fn still(part: &Part, model: &Model, work: &Workspace) -> Placed {
    let pose = part.link.filter(|l| *l < model.links().len()).and_then(|l| work.pose.get(l));
    part.placed(pose, Some(&LinkMotion::ZERO), 0.0)
}

/// Closest points of two members, unless their cores overlap.
fn apart([a, b]: [Member; 2]) -> Option<Separation> {
    match (a.solid, b.solid) {
        (Solid::HalfSpace, Solid::HalfSpace) => None,
        (Solid::HalfSpace, _) => Some(over_half_space(a.frame, &b)),
        (_, Solid::HalfSpace) => Some(over_half_space(b.frame, &a).reversed()),
        (Solid::Surface(surface), _) => to_surface(surface, a.frame, &b),
        (_, Solid::Surface(surface)) => to_surface(surface, b.frame, &a).map(Separation::reversed),
        _ => {
            let relative = a.frame.relative(b.frame);
            let found = Core::new(a.solid)?.apart(&Core::new(b.solid)?, &relative)?;
            Some(found.in_world(a.frame))
        }
    }
}

/// The lowest point of a shape over a half-space.
fn over_half_space(space: &Frame, other: &Member) -> Separation {
    let normal = space.rotation.z_axis;
    let down = other.frame.direction_to_local(-normal);
    let (point, radius) = match Core::new(other.solid) {
        Some(core) => (core.farthest(down), core.radius),
        None => (other.solid.points().iter().copied().fold(Vec3::ZERO, farther(down)), 0.0),
    };
    let point = other.frame.point_to_world(point) - normal * radius;
    let distance = normal.dot(point - space.origin);
    Separation { distance, points: [point - normal * distance, point], normal }
}

/// The closest triangle of a surface to a shape; `None` if one of them meets the shape's core.
fn to_surface(surface: &Surface, frame: &Frame, other: &Member) -> Option<Separation> {
    let relative = frame.relative(other.frame);
    if let Solid::Surface(second) = other.solid {
        let mut best: Option<Separation> = None;
        for triangle in 0..second.count() as u32 {
            let corners = second.corners(triangle).map(|p| relative.point_to_world(p));
            let core = Core { kind: CoreKind::Triangle(corners), radius: 0.0 };
            best = nearest_triangle(surface, &core, &Frame::IDENTITY, corners_box(&corners), best);
            if best.is_none() {
                // Triangles that cross have no depth: two surfaces touch there, and nothing more is
                // known.
                let middle = frame.point_to_world((corners[0] + corners[1] + corners[2]) / 3.0);
                return Some(Separation { distance: 0.0, points: [middle; 2], normal: frame.rotation.z_axis });
            }
        }
        return best.map(|found| found.in_world(frame));
    }
    let r = &relative.rotation;
    let half = r.x_axis.abs() * other.half.x + r.y_axis.abs() * other.half.y + r.z_axis.abs() * other.half.z;
    let centre = relative.point_to_world(other.centre);
    let found = nearest_triangle(surface, &Core::new(other.solid)?, &relative, [centre - half, centre + half], None)?;
    Some(found.in_world(frame))
}

fn corners_box(corners: &[Vec3; 3]) -> [Vec3; 2] {
    let [a, b, c] = *corners;
    [a.min(b).min(c), a.max(b).max(c)]
}

/// The triangle of a surface that is nearest to a core at `relative` within the box given, if it is
/// nearer than `best`.
fn nearest_triangle(
    surface: &Surface,
    core: &Core<'_>,
    relative: &Frame,
    [low, high]: [Vec3; 2],
    best: Option<Separation>,
) -> Option<Separation> {
    // Triangles in the order of the least distance that their bounds allow.
    let mut order: Vec<(f64, u32)> = Vec::with_capacity(surface.count());
    for triangle in 0..surface.count() as u32 {
        let [a, b] = corners_box(&surface.corners(triangle));
        let between = (a - high).max(low - b).max(Vec3::ZERO);
        order.push((between.norm(), triangle));
    }
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut best = best;
    for (least, triangle) in order {
        if best.is_some_and(|best| best.distance <= least) {
            break;
        }
        let own = Core { kind: CoreKind::Triangle(surface.corners(triangle)), radius: 0.0 };
        let found = own.apart(core, relative)?;
        best = Some(found.nearer(best));
    }
    best
}

impl Separation {
    fn in_world(self, frame: &Frame) -> Self {
        Self { points: self.points.map(|p| frame.point_to_world(p)), normal: frame.rotation * self.normal, ..self }
    }
}

impl Solid {
    /// The vertices of a surface or polytope.
    fn points(&self) -> &[Vec3] {
        match self {
            Self::Surface(surface) => &surface.vertices,
            Self::Hull(polytope) | Self::Cuboid { polytope, .. } => &polytope.vertices,
            _ => &[],
        }
    }
}

/// A convex set, and how far a shape extends beyond it in all directions.
pub(super) struct Core<'a> {
    kind: CoreKind<'a>,
    pub(super) radius: f64,
}

enum CoreKind<'a> {
    Point,
    Segment(f64),
    Points(&'a [Vec3]),
    Triangle([Vec3; 3]),
    Cylinder { half_length: f64, radius: f64 },
    Ellipsoid(Vec3),
}

/// Folds points to the one farthest along a direction.
fn farther(along: Vec3) -> impl Fn(Vec3, Vec3) -> Vec3 {
    move |best, p| if along.dot(p) > along.dot(best) { p } else { best }
}

/// How far a convex shape with bounds extends from its frame's origin along a unit vector (m).
pub(super) fn extent(solid: &Solid, along: Vec3) -> Option<f64> {
    let core = Core::new(solid)?;
    Some(along.dot(core.farthest(along)) + core.radius)
}

impl<'a> Core<'a> {
    /// Of a convex shape with bounds.
    pub(super) fn new(solid: &'a Solid) -> Option<Self> {
        let (kind, radius) = match solid {
            Solid::HalfSpace | Solid::Surface(_) => return None,
            Solid::Hull(polytope) | Solid::Cuboid { polytope, .. } => (CoreKind::Points(&polytope.vertices), 0.0),
            Solid::Cylinder { half_length, radius } => {
                (CoreKind::Cylinder { half_length: *half_length, radius: *radius }, 0.0)
            }
            Solid::Capsule { half_length, radius } => (CoreKind::Segment(*half_length), *radius),
            Solid::Sphere { radius } => (CoreKind::Point, *radius),
            Solid::Ellipsoid { radii } => (CoreKind::Ellipsoid(*radii), 0.0),
        };
        Some(Self { kind, radius })
    }

    /// The point of the core that is farthest along a direction of any length.
    pub(super) fn farthest(&self, along: Vec3) -> Vec3 {
        let side = |x: f64, y: f64| if x < 0.0 { -y } else { y };
        match &self.kind {
            CoreKind::Point => Vec3::ZERO,
            CoreKind::Segment(h) => Vec3::new(0.0, 0.0, side(along.z, *h)),
            CoreKind::Points(points) => points.iter().copied().reduce(farther(along)).unwrap_or(Vec3::ZERO),
            CoreKind::Triangle(corners) => corners.iter().copied().reduce(farther(along)).unwrap_or(Vec3::ZERO),
            CoreKind::Cylinder { half_length, radius } => {
                let (spoke, _) = direction(Vec3::new(along.x, along.y, 0.0), Vec3::ZERO);
                spoke * *radius + Vec3::new(0.0, 0.0, side(along.z, *half_length))
            }
            CoreKind::Ellipsoid(radii) => {
                let (unit, _) = direction(*radii * along, Vec3::Z);
                *radii * unit
            }
        }
    }

    /// Closest points of this shape and another at `relative`, in this one's frame; `None` if the
    /// cores overlap.
    pub(super) fn apart(&self, other: &Core<'_>, relative: &Frame) -> Option<Separation> {
        let support = |d: Vec3| {
            let a = self.farthest(d);
            let b = relative.point_to_world(other.farthest(relative.direction_to_local(-d)));
            Vertex { w: a - b, a, b }
        };
        let mut simplex = Simplex::new(support(Vec3::X));
        let mut best = simplex.nearest;
        for _ in 0..MOST_STEPS {
            let squared = best.w.length_squared();
            let next = support(-best.w);
            let scale = next.a.abs().max_element().max(next.b.abs().max_element());
            let slack = DISTANCE_TOLERANCE * squared + ROUNDING * scale * squared.sqrt();
            if squared - best.w.dot(next.w) <= slack || !simplex.add(next) {
                break;
            }
            let found = simplex.nearest.w.length_squared();
            if simplex.is_full() || found <= (ROUNDING * scale) * (ROUNDING * scale) {
                return None;
            }
            if found >= squared {
                break;
            }
            best = simplex.nearest;
        }
        let (normal, length) = direction(best.b - best.a, Vec3::ZERO);
        if normal == Vec3::ZERO {
            return None;
        }
        let points = [best.a + normal * self.radius, best.b - normal * other.radius];
        Some(Separation { distance: length - self.radius - other.radius, points, normal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::{CollisionRules, Geom};
    use crate::inertia::Inertia;
    use crate::math::axis_angle;
    use crate::model::{LinkSpec, ModelBuilder};

    fn between(a: Shape, b: Shape, pose: Pose) -> Separation {
        let mut builder = ModelBuilder::default();
        builder.add(LinkSpec::free("a", Inertia::sphere(1.0, 1.0))).unwrap();
        builder.add(LinkSpec::free("b", Inertia::sphere(1.0, 1.0))).unwrap();
        let (model, _) = builder.build().unwrap();
        let geoms = vec![Geom::new("a", Some(0), Pose::identity(), a), Geom::new("b", Some(1), Pose::identity(), b)];
        let mut collision = Collision::new(&model, geoms, CollisionRules::default()).unwrap();
        let mut work = Workspace::default();
        let q = crate_free(&Pose::identity()).into_iter().chain(crate_free(&pose)).collect::<Vec<_>>();
        work.update_positions(&model, &q);
        collision.closest_points(&model, &work, [0, 1]).unwrap()
    }

    fn crate_free(pose: &Pose) -> Vec<f64> {
        let (p, q) = (pose.translation, pose.rotation);
        vec![p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    }

    fn shapes() -> Vec<Shape> {
        let points = [[1.0, 0.0, 0.0], [-0.5, 0.8, 0.0], [-0.5, -0.8, 0.1], [0.0, 0.0, 1.2], [0.1, 0.2, -0.7]];
        vec![
            Shape::sphere(0.4).unwrap(),
            Shape::cuboid(Vec3::new(0.3, 0.5, 0.7)).unwrap(),
            Shape::capsule(0.6, 0.2).unwrap(),
            Shape::cylinder(0.5, 0.3).unwrap(),
            Shape::ellipsoid(Vec3::new(0.3, 0.6, 0.4)).unwrap(),
            Shape::hull(points.map(Vec3::from_array).to_vec()).unwrap(),
        ]
    }

    #[test]
    fn closest_points_are_as_far_apart_as_said_and_no_plane_is_farther() {
        let mut n = 0;
        for (i, a) in shapes().iter().enumerate() {
            for b in &shapes()[..=i] {
                for k in 0..20 {
                    let x = f64::from(k);
                    let turn = axis_angle(Vec3::new(0.3 * x, 1.0 - 0.2 * x, 0.17 * x));
                    let at = axis_angle(Vec3::new(x, 0.4 * x, -0.3 * x)) * Vec3::new(2.0 + 0.1 * x, 0.3, -0.2);
                    let found = between(a.clone(), b.clone(), Pose::from_parts(at, turn));
                    let [p, q] = found.points;
                    assert!(((q - p).length() - found.distance).abs() < 1e-12, "{found:?}");
                    // The planes across the normal at both points hold the shapes apart: so nothing
                    // is nearer.
                    let (sa, sb) = (Solid::new(a, "").unwrap(), Solid::new(b, "").unwrap());
                    let (ca, cb) = (Core::new(&sa).unwrap(), Core::new(&sb).unwrap());
                    let n_a = found.normal;
                    let high = n_a.dot(ca.farthest(n_a)) + ca.radius;
                    let far = at + turn * cb.farthest(turn.inverse() * -n_a);
                    let low = n_a.dot(far) - cb.radius;
                    assert!((low - high - found.distance).abs() < 1e-11, "{} {} {found:?}", low - high, k);
                    n += 1;
                }
            }
        }
        assert_eq!(n, 21 * 20);
    }

    #[test]
    fn overlap_is_negative() {
        let cube = || Shape::cuboid(Vec3::splat(0.5)).unwrap();
        let found = between(cube(), cube(), Pose::from_translation(Vec3::new(0.9, 0.0, 0.0)));
        assert!((found.distance + 0.1).abs() < 1e-12 && (found.normal - Vec3::X).length() < 1e-12, "{found:?}");
        let ball = || Shape::sphere(0.5).unwrap();
        let found = between(ball(), ball(), Pose::from_translation(Vec3::new(0.7, 0.0, 0.0)));
        assert!((found.distance + 0.3).abs() < 1e-15 && (found.points[0].x - 0.5).abs() < 1e-15);
    }
}

//! Shapes that are too far apart to touch within the step are known before their features are looked at.

use crate::collision::closest_points::Core;
use crate::collision::frame::Query;
use crate::collision::pairs::Member;
use crate::collision::pairs::axes::look_for_axis;
use crate::collision::polytope::PolytopeRef;
use crate::collision::solid::Solid;
use crate::math::Vec3;

/// True if an axis is found that keeps two convex shapes farther apart than they can travel. It is looked for where features take
/// longer: of hulls and of ellipsoids. Two polytopes look for one themselves, and go on from where it leads.
pub(super) fn are_beyond_reach(first: &Member, second: &Member, query: &Query) -> bool {
    let many = matches!(first.solid, Solid::Hull(hull) if hull.view().around.is_some());
    let costly = matches!(first.solid, Solid::Hull(_)) || matches!(second.solid, Solid::Ellipsoid { .. });
    if costly && boxes_are_apart(first, second, query.limit() + query.touch) {
        return true;
    }
    let round = !matches!(second.solid, Solid::Hull(_) | Solid::Cuboid { .. });
    (many && round || matches!(second.solid, Solid::Ellipsoid { .. })) && an_axis_keeps_apart(first, second, query)
}

/// True if the boxes around two shapes, each along the axes of its own frame, are farther apart than `limit` along one of these axes.
fn boxes_are_apart(first: &Member, second: &Member, limit: f64) -> bool {
    let relative = first.frame.relative(second.frame);
    let between = relative.point_to_world(second.centre) - first.centre;
    let r = relative.rotation;
    let (x, y, z) = (r.x_axis, r.y_axis, r.z_axis);
    let reach = x.abs() * second.half.x + y.abs() * second.half.y + z.abs() * second.half.z;
    let along_first = between.abs() - first.half - reach;
    let reach = Vec3::new(x.abs().dot(first.half), y.abs().dot(first.half), z.abs().dot(first.half));
    let along_second = (r.transpose() * between).abs() - second.half - reach;
    along_first.max_element().max(along_second.max_element()) > limit
}

/// True if an axis is found along which two shapes are farther apart than they can travel, by more than rounding.
fn an_axis_keeps_apart(first: &Member, second: &Member, query: &Query) -> bool {
    let relative = first.frame.relative(second.frame);
    let drift = query.drift.seen_from(first.frame);
    let (Some(mut a), Some(mut b)) = (Support::new(first.solid), Support::new(second.solid)) else { return false };
    let limit = |axis: Vec3| query.limit_along(axis, &drift) + query.touch;
    let grown = a.core.radius + b.core.radius;
    let start = relative.point_to_world(second.centre) - first.centre;
    let ends = |axis: Vec3| {
        let low = b.farthest(-relative.direction_to_local(axis));
        [a.farthest(axis), relative.point_to_world(low)]
    };
    let (separation, axis) = look_for_axis(start, |axis| limit(axis) + grown, ends);
    let (own, own_limit) = (relative.direction_to_local(axis), limit(axis) + grown);
    separation > own_limit && axis.dot(relative.origin) - b.reach(-own) - a.reach(axis) > own_limit
}

/// How far a shape extends, asked along one axis after the other.
pub(super) struct Support<'a> {
    core: Core<'a>,
    /// A hull of many corners, and the corner found last.
    hull: Option<(PolytopeRef<'a>, usize)>,
}

impl<'a> Support<'a> {
    /// Of a convex shape with bounds.
    pub(super) fn new(solid: &'a Solid) -> Option<Self> {
        let hull = match solid {
            Solid::Hull(hull) => Some((hull.view(), 0)).filter(|(view, _)| view.around.is_some()),
            _ => None,
        };
        Some(Self { core: Core::new(solid)?, hull })
    }

    /// The point of the core that is farthest along an axis. Of a hull with many corners one is found by climbing, which may leave out
    /// a corner that is hardly higher.
    pub(super) fn farthest(&mut self, axis: Vec3) -> Vec3 {
        let Some((hull, corner)) = &mut self.hull else { return self.core.farthest(axis) };
        let Some(around) = hull.around else { return self.core.farthest(axis) };
        *corner = around.farthest(hull.vertices, axis, *corner as u32);
        hull.vertices[*corner]
    }

    /// How far the core extends along an axis from the origin of its frame, of all corners.
    fn reach(&self, axis: Vec3) -> f64 {
        match self.hull {
            Some((hull, corner)) => -hull.least(-axis, corner),
            None => axis.dot(self.core.farthest(axis)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::frame::{Drift, Frame};
    use crate::collision::polytope::Polytope;
    use crate::collision::vector::Norm;
    use crate::math::{Pose, axis_angle};
    use stiction_linalg::rng::Rng;

    /// What is beyond reach has an axis along which no corner of a hull comes near the other shape, however they move to the end of the step.
    #[test]
    fn shapes_beyond_reach_stay_apart() {
        let mut rng = Rng::new(17);
        let mut vector = |size: f64| Vec3::new(rng.normal(), rng.normal(), rng.normal()) * size;
        let points: Vec<Vec3> = (0..200).map(|_| vector(1.0).normalize() * Vec3::new(0.3, 0.2, 0.1)).collect();
        let hull = Solid::Hull(Polytope::hull(&points).unwrap());
        let others = [
            Solid::Sphere { radius: 0.1 },
            Solid::Capsule { half_length: 0.2, radius: 0.05 },
            Solid::Cylinder { half_length: 0.2, radius: 0.1 },
            Solid::Ellipsoid { radii: Vec3::new(0.1, 0.2, 0.15) },
        ];
        let (mut beyond, mut near) = (0, 0);
        for k in 0..4000 {
            let frames = [vector(0.2), vector(0.2)]
                .map(|at| Frame::new(&Pose { translation: at, rotation: axis_angle(vector(1.0)) }));
            let drift = Drift { linear: vector(0.1), angular: Vec3::ZERO, about: frames[1].origin };
            let reach = drift.linear.norm() + 0.01;
            let query = Query { reach, margin: 0.01, radius: 0.1, bend: 0.0, touch: 1e-9, size: 0.1, drift };
            let other = &others[k % others.len()];
            let [_, half] = other.bounds();
            let [low, high] = hull.bounds();
            let (centre, own) = (0.5 * (low + high), 0.5 * (high - low));
            let first = Member { solid: &hull, frame: &frames[0], centre, half: own };
            let second = Member { solid: other, frame: &frames[1], centre: Vec3::ZERO, half };
            if !are_beyond_reach(&first, &second, &query) {
                near += 1;
                continue;
            }
            beyond += 1;
            for part in 0..=10 {
                let origin = frames[1].origin + drift.linear * (0.1 * f64::from(part));
                let moved = frames[0].relative(&Frame { origin, ..frames[1] });
                let [a, b] = [&hull, other].map(|solid| Core::new(solid).unwrap());
                let apart = a.apart(&b, &moved).unwrap();
                assert!(apart.distance > query.margin, "{k}: {}", apart.distance);
            }
        }
        assert!(beyond > 1000 && near > 1000, "{beyond} {near}");
    }
}

//! Two polytopes that come to overlap within the step although no features of theirs face each other: a corner beside a corner or an edge.
//! They meet where they are nearest.

use crate::collision::closest_points::Core;
use crate::collision::frame::{Drift, Frame, Query, Touch};
use crate::collision::pairs::axes::{SHALLOW, look_for_axis};
use crate::collision::pairs::reach::Support;
use crate::collision::pairs::{Member, Scratch, sharp};
use crate::math::{Mat3, Vec3, axis_angle};

/// The name of that contact, which no other has.
const NEAREST: u64 = 1 << 60;

/// Adds the contact at the points that are nearest, of two polytopes that have no other, if at the end of the step they would overlap, and
/// by more than is small beside them: what slides over the joint of two level tiles passes the second one's side.
pub(super) fn add_where_they_meet(
    first: &Member,
    second: &Member,
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    let Drift { linear, angular, about } = query.drift;
    let turn = Mat3::from_quat(axis_angle(angular));
    let end =
        Frame { rotation: turn * second.frame.rotation, origin: about + turn * (second.frame.origin - about) + linear };
    let moved = Member { frame: &end, ..*second };
    if are_apart(first, &moved) {
        return;
    }
    let (Some(a), Some(b)) = (Core::new(first.solid), Core::new(second.solid)) else { return };
    let Some(apart) = a.apart(&b, &first.frame.relative(second.frame)) else { return };
    if apart.distance <= query.touch || apart.distance > query.limit() {
        return;
    }
    let still = Drift { linear: Vec3::ZERO, angular: Vec3::ZERO, about };
    let question = Query { reach: 0.0, margin: 0.0, bend: 0.0, drift: still, ..*query };
    let start = out.len();
    sharp(first, &moved, &question, scratch, out);
    let overlaps = out[start..].iter().any(|touch| touch.gap < -SHALLOW * query.size);
    out.truncate(start);
    if overlaps {
        let [p, q] = apart.points.map(|p| first.frame.point_to_world(p));
        out.push(Touch::new(0.5 * (p + q), first.frame.rotation * apart.normal, apart.distance, NEAREST));
    }
}

/// True if an axis is found that keeps two shapes apart.
fn are_apart(first: &Member, second: &Member) -> bool {
    let relative = first.frame.relative(second.frame);
    let (Some(mut a), Some(mut b)) = (Support::new(first.solid), Support::new(second.solid)) else { return true };
    let ends = |axis: Vec3| {
        let low = b.farthest(-relative.direction_to_local(axis));
        [a.farthest(axis), relative.point_to_world(low)]
    };
    look_for_axis(relative.point_to_world(second.centre) - first.centre, |_| 0.0, ends).0 > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::pairs::contacts;
    use crate::collision::polytope::Polytope;
    use crate::collision::solid::Solid;
    use crate::collision::vector::Norm;
    use stiction_linalg::rng::Rng;

    /// Boxes that are hardly apart and come to overlap within the step have contacts, and so have hulls: of boxes, of few points and of many.
    #[test]
    fn what_comes_to_overlap_has_contacts() {
        let mut rng = Rng::new(23);
        let half = Vec3::splat(0.05);
        let cuboid = Polytope::cuboid(half);
        let hull = Solid::Hull(Polytope::hull(&cuboid.vertices).unwrap());
        let mut round = Rng::new(7);
        let mut cloud = |count: usize| {
            let mut point = |_| Vec3::new(round.normal(), round.normal(), round.normal()).unit_or(Vec3::X) * 0.05;
            Solid::Hull(Polytope::hull(&(0..count).map(&mut point).collect::<Vec<_>>()).unwrap())
        };
        let solids = [Solid::Cuboid { half, polytope: cuboid }, hull, cloud(8), cloud(60)];
        let (mut scratch, mut overlapping, mut nearest) = (Scratch::default(), 0, 0);
        for k in 0..20_000 {
            let mut vector = |size: f64| Vec3::new(rng.normal(), rng.normal(), rng.normal()) * size;
            let solid = &solids[k / 10 % solids.len()];
            let member = |frame| Member { solid, frame, centre: Vec3::ZERO, half };
            let turn = axis_angle(vector([1.0, 0.03, 0.01][k % 3]));
            let fixed = Frame { rotation: Mat3::IDENTITY, origin: Vec3::ZERO };
            let direction = if k % 2 == 0 { Vec3::Z } else { vector(1.0).unit_or(Vec3::X) };
            let mut other = Frame { rotation: Mat3::from_quat(turn), origin: 2.0 * direction };
            // Closer, along the closest points, until hardly apart.
            let core = Core::new(solid).unwrap();
            for _ in 0..100 {
                let apart = core.apart(&core, &fixed.relative(&other)).unwrap();
                other.origin -= apart.normal * (apart.distance - 1e-4);
            }
            let drift = Drift { linear: vector(1e-3), angular: vector(0.02), about: other.origin };
            let reach = drift.linear.norm() + drift.angular.norm() * 0.09;
            let query = Query { reach, margin: 0.0, radius: 0.09, bend: 0.0, touch: 5e-11, size: 0.05, drift };
            let mut found = Vec::new();
            contacts([member(&fixed), member(&other)], &query, true, &mut scratch, &mut found);
            nearest += usize::from(found.iter().any(|touch| touch.feature == NEAREST));
            assert!(found.iter().all(|touch| touch.feature != NEAREST || (touch.gap - 1e-4).abs() < 1e-6), "{found:?}");
            let rotation = Mat3::from_quat(axis_angle(drift.angular)) * other.rotation;
            let end = Frame { rotation, origin: other.origin + drift.linear };
            let still = Drift { linear: Vec3::ZERO, angular: Vec3::ZERO, about: end.origin };
            let mut after = Vec::new();
            let question = Query { reach: 0.0, drift: still, ..query };
            contacts([member(&fixed), member(&end)], &question, true, &mut scratch, &mut after);
            if after.iter().any(|touch| touch.gap < -1e-4) {
                overlapping += 1;
                assert!(!found.is_empty(), "{k}: {after:?} from {other:?} by {drift:?}");
            }
        }
        assert!(overlapping > 4000 && nearest > 5, "{overlapping}, {nearest}");
    }
}

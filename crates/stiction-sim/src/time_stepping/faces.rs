//! Contacts made to agree with each other, those of two faces above all.
//!
//! The points of two faces have one normal and more rows than there are ways to move, so what one row asks for others have to allow. Their gaps are
//! linear along the face and their friction is that of one plane, but for what is small: gaps that projection leaves and that count as none, points
//! midway between surfaces that are not yet parallel. Such differences of 1e-9 m/s decide which of the points slides at its limit, though nothing
//! moves, and a solver spends most of its work on them. So points that meet within a small part of the step meet at once, the gaps of the others stay
//! linear beside them, and all points are in one plane. A gap that is closed in next to no time, of any contact, counts as none.

use stiction_body::math::{Vec3, length};
use stiction_body::{ContactPoint, Workspace};

use super::parallel_normals::ParallelNormals;
use crate::projection::overlap_left;
use crate::world::World;

/// A gap that the motion closes within this fraction of the step counts as none. The curvature of
/// motion opens and closes such gaps in every step of what rolls or turns, and what they let bodies
/// move would decide which contacts stick: a third of the work in heaps that are not of boxes.
const TOUCHING_TIME: f64 = 3e-3;

/// Points of two faces that meet within this fraction of the step do so together.
const TOGETHER: f64 = 0.01;

/// Points belong to one face if their gaps explain how far they are from its plane, up to this part of a geom's size. Others of the same normal may be
/// on another step of a staircase.
const PLANE: f64 = 1e-6;

/// Contacts as the problem has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faces {
    /// The contacts, those of a face with their points in one plane, and their gaps as they are.
    pub points: Vec<ContactPoint>,
    /// The gaps of the problem (m).
    pub gaps: Vec<f64>,
    normals: ParallelNormals,
}

impl Faces {
    /// Takes contacts over, whose smaller geom has this size and whose geoms, one of this size, move
    /// at this speed against each other, in a step of `dt` (s). There are so many links; the function
    /// says on which of them a geom is. Without Coulomb friction small gaps count as gaps: what touches without slip is held at once, however little presses it.
    pub(super) fn load(
        &mut self,
        points: &[ContactPoint],
        dt: f64,
        has_coulomb_friction: bool,
        (links, link): (usize, impl Fn(usize) -> Option<usize>),
        size: impl Fn(&ContactPoint) -> f64,
        speed: impl Fn(&ContactPoint, f64) -> f64,
    ) {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.normals.align(&mut self.points, links, link);
        self.gaps.clear();
        self.gaps.extend(points.iter().map(|at| at.gap));
        let touching_time = if has_coulomb_friction { TOUCHING_TIME } else { 0.0 };
        let mut rest = &mut self.gaps[..];
        for face in self.points.chunk_by_mut(|a, b| a.geoms == b.geoms && a.normal == b.normal) {
            let (gaps, behind) = rest.split_at_mut(face.len());
            rest = behind;
            let [least, most] = gaps.iter().fold([gaps[0]; 2], |[least, most], gap| [least.min(*gap), most.max(*gap)]);
            if most <= 0.0 {
                continue;
            }
            let size = size(&face[0]);
            let way = dt * face.iter().map(|at| speed(at, size)).fold(0.0, f64::max);
            // What projection leaves of overlap is as good as none.
            let none = overlap_left(size).max(touching_time * way);
            let first = gaps.iter().position(|gap| *gap == least).unwrap_or(0);
            let least = if least <= none { 0.0 } else { least };
            let mut together = least.max(none);
            // Faces that touch do not turn against each other: there is nothing to contradict.
            if most > together {
                move_into_plane(face, first, size);
                together = together.max(least + TOGETHER * way);
                keep_linear(face, gaps, first, least, together);
            }
            gaps.iter_mut().filter(|gap| **gap <= together).for_each(|gap| *gap = gap.min(least));
        }
    }
}

/// The speed at which the geoms of a contact, the smaller of this size, move against each other and
/// turn, and what gravity changes of it in a step of `dt` (m/s). What motors add is not in it: a foot
/// that its motors press on the ground would be far off a step later, were the ground not there.
pub(super) fn relative_speed(world: &World, work: &Workspace, at: &ContactPoint, size: f64, dt: f64) -> f64 {
    let mut turning = 0.0_f64;
    let velocities = at.geoms.map(|geom| {
        let Some(link) = world.geoms[geom].link else { return Vec3::ZERO };
        turning = turning.max(size * length(work.velocity[link].angular));
        work.point_velocity(link, at.point)
    });
    turning + length(velocities[1] - velocities[0]) + dt * length(world.model.gravity())
}

/// Moves the points of a face along its normal, into the plane of the first that meets.
fn move_into_plane(face: &mut [ContactPoint], first: usize, size: f64) {
    let ContactPoint { point, normal, gap, .. } = face[first];
    for at in face {
        let height = normal.dot(point - at.point);
        // Midway between two surfaces.
        if height.abs() <= 0.5 * (at.gap - gap).abs() + PLANE * size {
            at.point += normal * height;
        }
    }
}

/// The gaps of points that do not meet in time, linear beside those up to `together`, which are to be `least`.
fn keep_linear(face: &[ContactPoint], gaps: &mut [f64], first: usize, least: f64, together: f64) {
    let those = |meet: bool| (0..face.len()).filter(move |k| (face[*k].gap <= together) == meet);
    let from_first = |k: usize| face[k].point - face[first].point;
    let furthest = |of: &mut dyn Iterator<Item = (usize, f64)>| of.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let end = furthest(&mut those(true).filter(|k| *k != first).map(|k| (k, length(from_first(k)))));
    let Some((end, _)) = end else {
        // All are moved as the one that meets is.
        let moved = least - gaps[first];
        return those(false).filter(|_| moved <= together).for_each(|k| gaps[k] += moved);
    };
    let across = face[first].normal.cross(from_first(end));
    let distance = |k: usize| across.dot(from_first(k));
    let Some((_, most)) = furthest(&mut those(false).map(|k| (k, distance(k)))) else { return };
    // The least slope: gaps that grew would let faces into each other.
    let behind = |k: usize| distance(k) * most > 0.0;
    let slope = those(false)
        .filter(|k| behind(*k))
        .map(|k| (gaps[k] - least) / distance(k).abs())
        .fold(f64::INFINITY, f64::min);
    for k in those(false).filter(|k| behind(*k)) {
        let linear = least + slope * distance(k).abs();
        if gaps[k] - linear <= together - least {
            gaps[k] = linear;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contacts of the corners of a square of side 0.1 m, midway between a plane and a face with these gaps.
    fn corners(gaps: [f64; 4]) -> Vec<ContactPoint> {
        let at = |k: usize| Vec3::new(0.1 * (k % 2) as f64, 0.1 * (k / 2) as f64, 0.5 * gaps[k]);
        let point = |k: usize| ContactPoint {
            geoms: [0, 1],
            feature: k as u64,
            point: at(k),
            normal: Vec3::Z,
            gap: gaps[k],
            lead: Vec3::ZERO,
        };
        (0..4).map(point).collect()
    }

    /// These contacts of geoms of 0.1 m that move at this speed, in a step of 2 ms.
    fn load(points: &[ContactPoint], speed: f64) -> Faces {
        let mut faces = Faces::default();
        faces.load(points, 2e-3, true, (0, |_| None), |_| 0.1, |_, _| speed);
        faces
    }

    #[test]
    fn gaps_stay_linear_beside_those_that_are_as_good_as_none() {
        // An edge that touches up to what projection leaves, and the face behind it, tilted.
        let points = corners([3e-10, -2e-10, 2e-5 + 3e-10, 2e-5 - 2e-10]);
        let gaps = load(&points, 0.0).gaps;
        let closed: Vec<f64> = gaps.iter().map(|gap| gap.max(0.0)).collect();
        assert_eq!(closed[..2], [0.0; 2]);
        assert!((closed[2] - closed[3]).abs() < 1e-18 && (closed[2] - 2e-5).abs() < 1e-9, "{closed:?}");
        // A corner alone moves all by what it is moved.
        let gaps = load(&corners([-4e-10, 1e-5, 2e-5, 3e-5]), 0.0).gaps;
        assert!((gaps[1] - (1e-5 + 4e-10)).abs() < 1e-18 && (gaps[3] - gaps[1] - gaps[2]).abs() < 1e-9, "{gaps:?}");
    }

    #[test]
    fn points_that_meet_within_a_part_of_the_step_meet_at_once() {
        // 1 % of the step at 1 m/s is 2e-5 m.
        let gaps = load(&corners([1e-4, 1.1e-4, 1.15e-4, 1.05e-4]), 1.0).gaps;
        assert_eq!(gaps, [1e-4; 4]);
        let gaps = load(&corners([1e-4, 1.1e-4, 2.0e-4, 2.1e-4]), 1.0).gaps;
        assert_eq!(gaps[..2], [1e-4; 2]);
        assert!((gaps[2] - gaps[3]).abs() < 1e-17 && gaps[2] == 2.0e-4, "no gap grows: {gaps:?}");
    }

    #[test]
    fn a_gap_that_closes_in_next_to_no_time_counts_as_none() {
        // 0.3 % of the step at 1 m/s is 6e-6 m.
        let alone = |gap: f64, speed: f64| load(&corners([gap; 4])[..1], speed).gaps[0];
        assert_eq!([5e-6, 7e-6, -1e-7].map(|gap| alone(gap, 1.0)), [0.0, 7e-6, -1e-7]);
        assert_eq!(alone(5e-6, 0.0), 5e-6);
        let mut faces = Faces::default();
        faces.load(&corners([5e-6; 4])[..1], 2e-3, false, (0, |_| None), |_| 0.1, |_, _| 1.0);
        assert_eq!(faces.gaps, [5e-6], "without Coulomb friction");
    }

    #[test]
    fn points_of_a_face_are_in_one_plane_and_those_of_stairs_are_not() {
        let tilted = corners([1e-4, 2e-4, 3e-4, 4e-4]);
        let faces = load(&tilted, 0.0);
        assert!(faces.points.iter().all(|at| (at.point.z - tilted[0].point.z).abs() < 1e-18));
        assert_eq!(faces.points.iter().map(|at| at.gap).collect::<Vec<_>>(), [1e-4, 2e-4, 3e-4, 4e-4]);
        let mut stairs = corners([0.0, 0.0, 1e-4, 1e-4]);
        stairs[2].point.z = 0.2;
        let heights: Vec<f64> = load(&stairs, 0.0).points.iter().map(|at| at.point.z).collect();
        assert_eq!(heights, [0.0, 0.0, 0.2, 0.0]);
    }
}

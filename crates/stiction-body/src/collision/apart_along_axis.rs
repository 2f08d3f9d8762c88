//! Geoms on both sides of a hinge that an axis along it keeps apart: whatever the hinge does, the gap between them stays as it is.
//!
//! Robots have many: a turntable on its base, a shoulder whose flange faces that of the arm. Contacts there would have a normal along which
//! nothing moves.

use super::closest_points::extent;
use super::rules::{Allowed, Group};
use super::{Frame, Part, TOUCH};
use crate::joint::JointKind;
use crate::kinematics::Workspace;
use crate::math::Vec3;
use crate::model::Model;

/// Worlds with more geoms are not searched: they are heaps, and the pairs would be too many to look at.
const MOST_GEOMS: usize = 1000;

/// The allowed pairs of geoms that a hinge between them cannot bring to touch, or to part.
pub(super) fn pairs(model: &Model, parts: &[Part], groups: &[Group], allowed: &Allowed) -> Vec<(usize, usize)> {
    if parts.len() > MOST_GEOMS || !model.links().iter().any(|link| is_hinge(&link.spec.kind)) {
        return vec![];
    }
    let mut work = Workspace::default();
    work.update_positions(model, &model.neutral());
    let group = |part: &Part| part.link.map_or(Group::World, |link| groups[link]);
    let mut found = vec![];
    for (i, part) in parts.iter().enumerate() {
        let Group::Moving(link) = group(part) else { continue };
        let spec = &model.links()[link].spec;
        let (JointKind::Revolute { axis } | JointKind::Continuous { axis }) = spec.kind else { continue };
        let parent = spec.parent.map_or(Group::World, |parent| groups[parent]);
        let axis = work.pose[link].rotation * axis;
        for (j, other) in parts.iter().enumerate().filter(|(_, other)| is_on(group(other), parent, model)) {
            if allowed.get(i, j) && gap_along(axis, [part, other], &work) {
                found.push((i, j));
            }
        }
    }
    found
}

fn is_hinge(kind: &JointKind) -> bool {
    matches!(kind, JointKind::Revolute { .. } | JointKind::Continuous { .. })
}

/// True if a group moves with the one that a hinge is on: it is that one, or both stay where they are.
fn is_on(group: Group, parent: Group, model: &Model) -> bool {
    let stays = |group: Group| match group {
        Group::World => true,
        Group::Fixed(tree) => {
            model.links().iter().all(|link| link.tree != tree || !matches!(link.spec.kind, JointKind::Mocap))
        }
        Group::Moving(_) => false,
    };
    group == parent || (stays(group) && stays(parent))
}

/// True if two convex geoms overlap by no more than rounding along an axis (unit, world).
fn gap_along(axis: Vec3, parts: [&Part; 2], work: &Workspace) -> bool {
    let reach = |part: &Part, along: Vec3| {
        let pose = part.link.map_or(part.pose, |link| work.pose[link] * part.pose);
        let frame = Frame::new(&pose);
        extent(&part.solid, frame.direction_to_local(along)).map(|far| far + along.dot(frame.origin))
    };
    let gap = |a: &Part, b: &Part| Some(-reach(a, axis)? - reach(b, -axis)?);
    let [a, b] = parts;
    let best = gap(a, b).into_iter().chain(gap(b, a)).fold(f64::NEG_INFINITY, f64::max);
    best >= -TOUCH * a.size.min(b.size)
}

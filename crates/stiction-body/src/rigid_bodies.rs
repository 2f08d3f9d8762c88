//! Links that are fixed to each other, which move as one body: what the dynamics are computed with. Robots have many such
//! links, for their cameras, covers and tools.

use std::ops::Range;

use crate::inertia::Inertia;
use crate::joint::JointKind;
use crate::math::{Mat3, Pose, Vec3};
use crate::model::Link;

/// A link that moves, with all links that are fixed to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RigidBody {
    /// The link whose joint it moves on, and the velocities of that joint.
    pub link: usize,
    pub v: Range<usize>,
    /// The body that its joint belongs to, which is an earlier one; the world if none.
    pub parent: Option<usize>,
    /// The joint's frame, in the frame of that body's link.
    pub frame: Pose,
    /// The rotation of that frame, and where its origin is along its own axes.
    pub rotation: Mat3,
    pub offset: Vec3,
    /// Inertia of all its links, in the frame of `link`.
    pub inertia: Inertia,
}

/// The bodies of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RigidBodies {
    /// All of them, in the order of their links.
    pub list: Vec<RigidBody>,
    /// Those of each tree.
    pub of_tree: Vec<Range<usize>>,
    /// Inertia of all links that are fixed to the world, in its frame.
    pub fixed: Inertia,
    /// Of each link that is fixed to the world its pose.
    pub fixed_poses: Vec<Option<Pose>>,
    /// The links whose joints have limits.
    pub limited: Vec<usize>,
}

impl RigidBodies {
    /// Finds the bodies of `links`, parents before children, tree by tree.
    pub(crate) fn new(links: &[Link]) -> Self {
        let limited = (0..links.len()).filter(|&i| links[i].limit_count() > 0).collect();
        let mut out = Self { list: vec![], of_tree: vec![], fixed: Inertia::ZERO, fixed_poses: vec![], limited };
        // The body of each link, or the world, and the link's pose in its frame.
        let mut of_link: Vec<(Option<usize>, Pose)> = Vec::with_capacity(links.len());
        for (i, link) in links.iter().enumerate() {
            let (parent, at) = link.spec.parent.map_or((None, Pose::identity()), |p| of_link[p]);
            let (frame, inertia) = (at * link.spec.frame, link.spec.inertia);
            if link.tree == out.of_tree.len() {
                out.of_tree.push(out.list.len()..out.list.len());
            }
            if link.spec.kind == JointKind::Fixed {
                let whole = parent.map_or(&mut out.fixed, |body| &mut out.list[body].inertia);
                *whole = with(whole, &inertia.transformed(&frame));
                of_link.push((parent, frame));
            } else {
                of_link.push((Some(out.list.len()), Pose::identity()));
                let rotation = Mat3::from_quat(frame.rotation);
                let offset = rotation.transpose() * frame.translation;
                out.list.push(RigidBody { link: i, v: link.v.clone(), parent, frame, rotation, offset, inertia });
                out.of_tree[link.tree].end = out.list.len();
            }
        }
        out.fixed_poses = of_link.into_iter().map(|(body, pose)| body.is_none().then_some(pose)).collect();
        out
    }
}

/// Two bodies as one; a body of its own keeps its last digits.
fn with(whole: &Inertia, part: &Inertia) -> Inertia {
    match (whole.mass > 0.0, part.mass > 0.0) {
        (_, false) => *whole,
        (false, true) => *part,
        (true, true) => whole.joined(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use crate::model::{LinkSpec, ModelBuilder};

    /// A base in the world with a camera, an arm with a tool on a holder, and a hand behind it.
    #[test]
    fn links_that_are_fixed_to_each_other_are_one_body() {
        let mut builder = ModelBuilder::default();
        let ball = |mass: f64| Inertia { com: Vec3::X, ..Inertia::sphere(mass, 0.1) };
        let at = |x: f64| Pose::from_parts(Vec3::new(x, 0.0, 0.0), Quat::IDENTITY);
        let hinge = JointKind::Revolute { axis: Vec3::Z };
        let mut add = |name: &str, parent, kind, x: f64, mass| {
            let inertia = if mass > 0.0 { ball(mass) } else { Inertia::ZERO };
            builder.add(LinkSpec::on(name, parent, kind, at(x), inertia)).unwrap()
        };
        let base = add("base", None, JointKind::Fixed, 1.0, 2.0);
        add("camera", Some(base), JointKind::Fixed, 1.0, 2.0);
        let arm = add("arm", Some(base), hinge, 3.0, 1.0);
        let holder = add("holder", Some(arm), JointKind::Fixed, 0.5, 0.0);
        let tool = add("tool", Some(holder), JointKind::Fixed, 0.5, 3.0);
        add("hand", Some(tool), hinge, 0.25, 1.0);
        let (model, _) = builder.build().unwrap();
        let bodies = model.bodies();
        assert_eq!((bodies.of_tree.len(), &bodies.of_tree[0]), (1, &(0..2)));
        assert_eq!(bodies.fixed_poses, [Some(at(1.0)), Some(at(2.0)), None, None, None, None]);
        assert_eq!((bodies.fixed.mass, bodies.fixed.com), (4.0, Vec3::new(2.5, 0.0, 0.0)));
        let [arm, hand] = &bodies.list[..] else { panic!("two bodies move") };
        assert_eq!((arm.link, arm.parent, arm.frame), (2, None, at(4.0)));
        assert_eq!((hand.link, hand.parent, hand.frame), (5, Some(0), at(1.25)));
        assert_eq!(hand.inertia, ball(1.0), "alone it keeps its numbers");
        assert_eq!((arm.inertia.mass, arm.inertia.com), (4.0, Vec3::new(1.75, 0.0, 0.0)));
        // 1 kg at 1 m and 3 kg at 2 m: 0.75 m² kg about their centre, beside that of the balls.
        let across = Mat3::from_diagonal(Vec3::new(0.0, 0.75, 0.75)) + ball(4.0).about_com;
        assert!((arm.inertia.about_com - across).to_cols_array().iter().all(|x| x.abs() < 1e-15));
    }
}

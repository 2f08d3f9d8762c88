//! What acts on bodies by itself besides gravity: its compensation, a fluid around them, springs of joints that turn in every direction.

use stiction_body::math::{Pose, Quat, Vec3, rotation_vector};
use stiction_body::{JointKind, Model, Workspace};

use crate::fluid::Immersed;

/// A spring of a spherical or free joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnSpring {
    /// The link.
    pub link: usize,
    /// Stiffness (N m/rad, and N/m of a free joint).
    pub stiffness: f64,
    /// Where it is at rest, in the joint's frame.
    pub rest: Pose,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ambient {
    /// Links whose gravity is compensated, and which part of it.
    pub compensated: Vec<(usize, f64)>,
    /// Bodies in a fluid.
    pub immersed: Vec<Immersed>,
    /// Springs.
    pub springs: Vec<TurnSpring>,
}

impl Ambient {
    /// True if there is nothing.
    pub fn is_empty(&self) -> bool {
        self.compensated.is_empty() && self.immersed.is_empty() && self.springs.is_empty()
    }

    /// Adds the forces at a state whose kinematics are up to date to `out`, nv (N or N m).
    pub fn add_forces(&self, model: &Model, work: &Workspace, q: &[f64], out: &mut [f64]) {
        for &(link, part) in &self.compensated {
            let inertia = &model.links()[link].spec.inertia;
            let range = model.trees()[model.links()[link].tree].v.clone();
            let centre = work.pose[link].transform_point(inertia.com);
            let force = model.gravity() * (-inertia.mass * part);
            work.add_point_row(model, link, centre, force, 1.0, &mut out[range]);
        }
        self.immersed.iter().for_each(|body| body.add_forces(model, work, out));
        for spring in &self.springs {
            let link = &model.links()[spring.link];
            let pose = link.spec.kind.pose(&q[link.q.clone()]);
            let turn = spring.rest.rotation * rotation_vector(spring.rest.rotation.inverse() * pose.rotation);
            let first = if link.spec.kind == JointKind::Free {
                let offset = pose.translation - spring.rest.translation;
                for (k, x) in offset.to_array().into_iter().enumerate() {
                    out[link.v.start + k] -= spring.stiffness * x;
                }
                link.v.start + 3
            } else {
                link.v.start
            };
            for (k, x) in turn.to_array().into_iter().enumerate() {
                out[first + k] -= spring.stiffness * x;
            }
        }
    }

    /// The same with the numbers of links changed.
    pub(crate) fn append(&mut self, other: &Self, link: impl Fn(usize) -> usize, turn: Quat) {
        self.compensated.extend(other.compensated.iter().map(|&(l, part)| (link(l), part)));
        let wind = |w: Vec3| turn * w;
        self.immersed.extend(other.immersed.iter().map(|b| Immersed { link: link(b.link), wind: wind(b.wind), ..*b }));
        self.springs.extend(other.springs.iter().map(|s| TurnSpring { link: link(s.link), ..*s }));
    }
}

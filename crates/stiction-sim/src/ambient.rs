//! What acts on bodies by itself besides gravity: its compensation, a fluid around them, springs of joints that turn in every direction.

use stiction_body::math::{Pose, Quat, Vec3, rotation_vector};
use stiction_body::{JointKind, Model, Workspace};

/// A body in a fluid, taken as the box of equal inertia.
///
/// Reference: MuJoCo's documentation, "Inertia model" of fluid forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Immersed {
    /// The link.
    pub link: usize,
    /// The box's frame in the link: its centre is the centre of mass.
    pub frame: Pose,
    /// Edges of the box (m).
    pub edges: Vec3,
    /// Density of the fluid (kg/m³).
    pub density: f64,
    /// Viscosity of the fluid (Pa s).
    pub viscosity: f64,
    /// Velocity of the fluid (m/s).
    pub wind: Vec3,
}

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

impl Immersed {
    fn add_forces(&self, model: &Model, work: &Workspace, out: &mut [f64]) {
        let frame = work.pose[self.link] * self.frame;
        let local = |x: Vec3| frame.rotation.inverse() * x;
        let linear = local(work.point_velocity(self.link, frame.translation) - self.wind);
        let angular = local(work.velocity[self.link].angular);
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        if self.viscosity > 0.0 {
            let diameter = (self.edges.x + self.edges.y + self.edges.z) / 3.0;
            force -= linear * (3.0 * std::f64::consts::PI * diameter * self.viscosity);
            moment -= angular * (std::f64::consts::PI * diameter.powi(3) * self.viscosity);
        }
        if self.density > 0.0 {
            let (a, b, c) = (self.edges.x, self.edges.y, self.edges.z);
            let areas = Vec3::new(b * c, a * c, a * b);
            force -= areas * (linear * linear.abs()) * (0.5 * self.density);
            let fourth = Vec3::new(a, b, c).to_array().map(|x| x.powi(4));
            let arms = Vec3::new(a * (fourth[1] + fourth[2]), b * (fourth[0] + fourth[2]), c * (fourth[0] + fourth[1]));
            moment -= arms * (angular * angular.abs()) * (self.density / 64.0);
        }
        let range = model.trees()[model.links()[self.link].tree].v.clone();
        let row = &mut out[range];
        work.add_point_row(model, self.link, frame.translation, frame.rotation * force, 1.0, row);
        work.add_angular_row(model, self.link, frame.rotation * moment, 1.0, row);
    }
}

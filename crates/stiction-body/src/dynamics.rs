//! Forces from motion and inertia from position: recursive Newton–Euler (RNEA) and composite rigid bodies (CRBA).
//!
//! Reference: \[Featherstone08\] (R. Featherstone: Rigid Body Dynamics Algorithms, ch. 5 and 6). Written with classical accelerations along world axes
//! about each link's own origin, instead of spatial vectors in link frames.

use stiction_linalg::Matrix;

use crate::inertia::{Inertia, point_inertia};
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Mat3, Vec3};
use crate::model::Model;

/// Force on a link and moment about its origin, world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkForce {
    /// Moment about the link's origin (N m).
    pub moment: Vec3,
    /// Force (N).
    pub force: Vec3,
}

impl LinkForce {
    /// None.
    pub const ZERO: Self = Self { moment: Vec3::ZERO, force: Vec3::ZERO };
}

/// Inertia of a link and all that hangs on it, about the link's origin, world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Composite {
    /// Mass (kg).
    pub mass: f64,
    /// Mass times the centre's offset from the origin.
    pub moment: Vec3,
    /// Rotational inertia about the origin.
    pub inertia: Mat3,
}

impl Composite {
    /// Momentum under a motion of the origin: force-like (linear) and moment-like (angular about the origin).
    pub fn momentum(&self, motion: &LinkMotion) -> LinkForce {
        LinkForce {
            force: motion.linear * self.mass + motion.angular.cross(self.moment),
            moment: self.inertia * motion.angular + self.moment.cross(motion.linear),
        }
    }
}

impl Workspace {
    /// Inverse dynamics: the generalized forces τ (nv) that accelerations `a` (nv) need, against gravity and velocity products:
    /// `τ = M a + c − gravity`. Positions and velocities must be up to date. Armature is included, damping and friction are not.
    pub fn inverse_dynamics(&mut self, model: &Model, a: &[f64], tau: &mut [f64]) {
        self.accelerate(model, a);
        self.forces.clear();
        for (i, link) in model.links().iter().enumerate() {
            let force = self.force_for(&link.spec.inertia, i, self.accelerations[i]);
            self.forces.push(force);
        }
        for (i, link) in model.links().iter().enumerate().rev() {
            let LinkForce { moment, force } = self.forces[i];
            for k in link.v.clone() {
                let column = &self.columns[k];
                tau[k] = column.angular.dot(moment) + column.linear.dot(force) + link.spec.properties.armature * a[k];
            }
            if let Some(p) = link.spec.parent {
                let arm = self.pose[i].translation - self.pose[p].translation;
                self.forces[p].force += force;
                self.forces[p].moment += moment + arm.cross(force);
            }
        }
    }

    /// The generalized forces at rest in v̇: gravity minus velocity products, `−(c − gravity)`: what `M v̇` is without other forces.
    pub fn passive_forces(&mut self, model: &Model, force: &mut [f64]) {
        self.forces_at_rest(model, model.gravity(), force);
    }

    /// The same with another gravity.
    pub(crate) fn forces_at_rest(&mut self, model: &Model, gravity: Vec3, force: &mut [f64]) {
        let bodies = &model.bodies().list;
        self.forces.clear();
        for body in bodies {
            let bias = self.bias[body.link];
            // With accelerations of zero the velocity products are all there is.
            let motion = LinkMotion { angular: bias.angular, linear: bias.linear - gravity };
            let needed = self.force_for(&body.inertia, body.link, motion);
            self.forces.push(needed);
        }
        for (n, body) in bodies.iter().enumerate().rev() {
            let LinkForce { moment, force: f } = self.forces[n];
            for k in model.links()[body.link].v.clone() {
                let column = &self.columns[k];
                force[k] = -(column.angular.dot(moment) + column.linear.dot(f));
            }
            if let Some(p) = body.parent {
                let arm = self.arm(body.link, bodies[p].link);
                self.forces[p].force += f;
                self.forces[p].moment += moment + arm.cross(f);
            }
        }
    }

    /// From the origin of one link to that of another.
    fn arm(&self, to: usize, from: usize) -> Vec3 {
        self.pose[to].translation - self.pose[from].translation
    }

    /// Accelerations of the links under joint accelerations `a`, with gravity as an acceleration of the world upwards.
    fn accelerate(&mut self, model: &Model, a: &[f64]) {
        self.accelerations.clear();
        for (i, link) in model.links().iter().enumerate() {
            let joint = self.joint_motion(link.v.clone(), a);
            // What v̇ adds to the velocity products, link by link from the root.
            let (parent, arm) = match link.spec.parent {
                Some(p) => {
                    let linear = self.accelerations[p].linear - self.bias[p].linear;
                    let angular = self.accelerations[p].angular - self.bias[p].angular;
                    (LinkMotion { angular, linear }, self.pose[i].translation - self.pose[p].translation)
                }
                None => (LinkMotion { angular: Vec3::ZERO, linear: -model.gravity() }, Vec3::ZERO),
            };
            self.accelerations.push(LinkMotion {
                angular: self.bias[i].angular + parent.angular + joint.angular,
                linear: self.bias[i].linear + parent.linear + parent.angular.cross(arm) + joint.linear,
            });
        }
    }

    /// The force and moment (about its origin) that a body in the frame of link `i` needs for an acceleration.
    fn force_for(&self, inertia: &Inertia, i: usize, motion: LinkMotion) -> LinkForce {
        if inertia.mass == 0.0 {
            return LinkForce::ZERO;
        }
        let (omega, r) = (self.velocity[i].angular, Mat3::from_quat(self.pose[i].rotation));
        let (c, inverse) = (r * inertia.com, r.transpose());
        let force = (motion.linear + motion.angular.cross(c) + omega.cross(omega.cross(c))) * inertia.mass;
        let turned = |x: Vec3| r * (inertia.about_com * (inverse * x));
        let spin = turned(motion.angular) + omega.cross(turned(omega));
        LinkForce { force, moment: spin + c.cross(force) }
    }

    /// The inertia matrix of each tree, armature included, written to `blocks` (nv of the tree square). Positions must be up to date.
    pub fn mass_blocks(&mut self, model: &Model, blocks: &mut Vec<Matrix>) {
        self.composites(model);
        blocks.resize_with(model.trees().len(), Matrix::default);
        for ((tree, bodies), block) in model.trees().iter().zip(&model.bodies().of_tree).zip(blocks) {
            let size = tree.v.len();
            block.reset(size, size);
            for n in bodies.clone() {
                self.mass_columns(model, n, tree.v.start, block);
            }
            let entries = block.as_mut_slice();
            for k in 1..size {
                (0..k).for_each(|j| entries[j * size + k] = entries[k * size + j]);
            }
        }
    }

    /// The columns of the inertia matrix that belong to the joint of body `n`, above the diagonal: the momentum of what hangs on it, seen by all joints above.
    fn mass_columns(&self, model: &Model, n: usize, first: usize, block: &mut Matrix) {
        let (links, bodies) = (model.links(), &model.bodies().list);
        let link = &links[bodies[n].link];
        for k in link.v.clone() {
            let column = block.col_mut(k - first);
            let motion = LinkMotion { angular: self.columns[k].angular, linear: self.columns[k].linear };
            let mut momentum = self.composites[n].momentum(&motion);
            let (mut at, mut joint) = (&bodies[n], link.v.start..k + 1);
            loop {
                for (own, entry) in self.columns[joint.clone()].iter().zip(&mut column[joint.start - first..]) {
                    *entry = own.angular.dot(momentum.moment) + own.linear.dot(momentum.force);
                }
                let Some(p) = at.parent else { break };
                momentum.moment += self.arm(at.link, bodies[p].link).cross(momentum.force);
                at = &bodies[p];
                joint = links[at.link].v.clone();
            }
            column[k - first] += link.spec.properties.armature;
        }
    }

    /// Inertia of every body with all that hangs on it.
    fn composites(&mut self, model: &Model) {
        let bodies = &model.bodies().list;
        self.composites.clear();
        for body in bodies {
            let own = &body.inertia;
            if own.mass == 0.0 {
                self.composites.push(Composite { mass: 0.0, moment: Vec3::ZERO, inertia: Mat3::ZERO });
                continue;
            }
            let r = Mat3::from_quat(self.pose[body.link].rotation);
            let c = r * own.com;
            let inertia = r * own.about_com * r.transpose() + point_inertia(own.mass, c);
            self.composites.push(Composite { mass: own.mass, moment: c * own.mass, inertia });
        }
        for (n, body) in bodies.iter().enumerate().rev() {
            if let Some(p) = body.parent {
                let arm = self.arm(body.link, bodies[p].link);
                let child = self.composites[n];
                let parent = &mut self.composites[p];
                parent.mass += child.mass;
                parent.moment += child.moment + arm * child.mass;
                parent.inertia += child.inertia + shift(&child, arm);
            }
        }
    }

    /// Kinetic energy and potential energy against gravity (J).
    pub fn energy(&self, model: &Model, v: &[f64]) -> (f64, f64) {
        let (gravity, fixed) = (model.gravity(), &model.bodies().fixed);
        let (mut kinetic, mut potential) = (0.0, -fixed.mass * gravity.dot(fixed.com));
        for body in &model.bodies().list {
            let (link, own) = (&model.links()[body.link], &body.inertia);
            let armature = link.spec.properties.armature;
            if armature > 0.0 {
                kinetic += link.v.clone().map(|k| 0.5 * armature * v[k] * v[k]).sum::<f64>();
            }
            if own.mass == 0.0 {
                continue;
            }
            let (pose, omega) = (&self.pose[body.link], self.velocity[body.link].angular);
            let r = Mat3::from_quat(pose.rotation);
            let c = r * own.com;
            let at_com = self.velocity[body.link].linear + omega.cross(c);
            let local = r.transpose() * omega;
            kinetic += 0.5 * own.mass * at_com.length_squared() + 0.5 * local.dot(own.about_com * local);
            potential -= own.mass * gravity.dot(pose.translation + c);
        }
        (kinetic, potential)
    }
}

/// What the parallel-axis theorem adds when a composite's inertia is seen from a point `−arm` away.
fn shift(body: &Composite, arm: Vec3) -> Mat3 {
    let cross = 2.0 * arm.dot(body.moment);
    let outer = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
    point_inertia(body.mass, arm) + Mat3::from_diagonal(Vec3::splat(cross))
        - outer(arm, body.moment)
        - outer(body.moment, arm)
}

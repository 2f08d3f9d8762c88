//! Forces from motion and inertia from position: recursive Newton–Euler (RNEA) and composite rigid bodies (CRBA).
//!
//! Reference: \[Featherstone08\] (R. Featherstone: Rigid Body Dynamics Algorithms, ch. 5 and 6). Written with classical accelerations along world axes
//! about each link's own origin, instead of spatial vectors in link frames.

use stiction_linalg::Matrix;

use crate::inertia::{Inertia, point_inertia};
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Mat3, Quat, Vec3};
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

/// A rigid body where it is, world axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedBody {
    /// From the origin of the link that carries it, or the world's, to that of its own.
    arm: Vec3,
    inertia: PlacedInertia,
}

/// Inertia about the centre of mass, world axes.
#[derive(Debug, Clone, Copy)]
struct PlacedInertia {
    mass: f64,
    /// The centre of mass, from the link's origin.
    centre: Vec3,
    about_centre: Mat3,
}

impl PlacedInertia {
    fn new(inertia: &Inertia, rotation: Quat) -> Self {
        let r = Mat3::from_quat(rotation);
        let about_centre = r * inertia.about_com * r.transpose();
        Self { mass: inertia.mass, centre: r * inertia.com, about_centre }
    }

    /// The force and moment (about the link's origin) that an acceleration of the link needs while it turns with `omega`.
    fn force_for(&self, motion: LinkMotion, omega: Vec3) -> LinkForce {
        let c = self.centre;
        let force = (motion.linear + motion.angular.cross(c) + omega.cross(omega.cross(c))) * self.mass;
        let spin = self.about_centre * motion.angular + omega.cross(self.about_centre * omega);
        LinkForce { force, moment: spin + c.cross(force) }
    }
}

impl Workspace {
    /// Inverse dynamics: the generalized forces τ (nv) that accelerations `a` (nv) need, against gravity and velocity products:
    /// `τ = M a + c − gravity`. Positions and velocities must be up to date. Armature is included, damping and friction are not.
    pub fn inverse_dynamics(&mut self, model: &Model, a: &[f64], tau: &mut [f64]) {
        self.accelerate(model, a);
        self.forces.clear();
        for (i, link) in model.links().iter().enumerate() {
            let own = PlacedInertia::new(&link.spec.inertia, self.pose[i].rotation);
            self.forces.push(own.force_for(self.accelerations[i], self.velocity[i].angular));
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
        self.place_bodies(model);
        self.forces_at_rest(model, model.gravity(), force);
    }

    /// The same with another gravity; the bodies must be placed.
    pub(crate) fn forces_at_rest(&mut self, model: &Model, gravity: Vec3, force: &mut [f64]) {
        let bodies = &model.bodies().list;
        self.forces.clear();
        for (body, placed) in bodies.iter().zip(&self.placed) {
            let bias = self.bias[body.link];
            // With accelerations of zero the velocity products are all there is.
            let motion = LinkMotion { angular: bias.angular, linear: bias.linear - gravity };
            self.forces.push(placed.inertia.force_for(motion, self.velocity[body.link].angular));
        }
        for (n, body) in bodies.iter().enumerate().rev() {
            let LinkForce { moment, force: f } = self.forces[n];
            for k in body.v.clone() {
                let column = &self.columns[k];
                force[k] = -(column.angular.dot(moment) + column.linear.dot(f));
            }
            if let Some(p) = body.parent {
                self.forces[p].force += f;
                self.forces[p].moment += moment + self.placed[n].arm.cross(f);
            }
        }
    }

    /// Arms and inertias of the bodies; positions must be up to date.
    fn place_bodies(&mut self, model: &Model) {
        let bodies = &model.bodies().list;
        self.placed.clear();
        for body in bodies {
            let pose = &self.pose[body.link];
            let from = body.parent.map_or(Vec3::ZERO, |p| self.pose[bodies[p].link].translation);
            let inertia = PlacedInertia::new(&body.inertia, pose.rotation);
            self.placed.push(PlacedBody { arm: pose.translation - from, inertia });
        }
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
        let bodies = &model.bodies().list;
        let armature = model.links()[bodies[n].link].spec.properties.armature;
        for k in bodies[n].v.clone() {
            let column = block.col_mut(k - first);
            let motion = LinkMotion { angular: self.columns[k].angular, linear: self.columns[k].linear };
            let mut momentum = self.composites[n].momentum(&motion);
            let (mut at, mut end) = (n, k + 1);
            loop {
                let v = bodies[at].v.start..end;
                for (entry, own) in column[v.start - first..end - first].iter_mut().zip(&self.columns[v]) {
                    *entry = own.angular.dot(momentum.moment) + own.linear.dot(momentum.force);
                }
                let Some(p) = bodies[at].parent else { break };
                momentum.moment += self.placed[at].arm.cross(momentum.force);
                (at, end) = (p, bodies[p].v.end);
            }
            column[k - first] += armature;
        }
    }

    /// Inertia of every body with all that hangs on it.
    fn composites(&mut self, model: &Model) {
        let bodies = &model.bodies().list;
        self.place_bodies(model);
        self.composites.clear();
        for PlacedBody { inertia: PlacedInertia { mass, centre, about_centre }, .. } in &self.placed {
            let inertia = *about_centre + point_inertia(*mass, *centre);
            self.composites.push(Composite { mass: *mass, moment: *centre * *mass, inertia });
        }
        for (n, body) in bodies.iter().enumerate().rev() {
            if let Some(p) = body.parent {
                let (child, arm) = (self.composites[n], self.placed[n].arm);
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

//! Where every link is and how it moves: poses, velocities, Jacobian rows and their rates.
//!
//! Everything is along world axes, with a link's own origin as the point of reference: no large numbers far from the world's origin.

use crate::joint::{Column, JointKind};
use crate::math::{Pose, Vec3, length};
use crate::model::Model;

/// Motion of one link: rates of its origin and its rotation, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkMotion {
    /// Angular part.
    pub angular: Vec3,
    /// Linear part, of the link's origin.
    pub linear: Vec3,
}

impl LinkMotion {
    /// No motion.
    pub const ZERO: Self = Self { angular: Vec3::ZERO, linear: Vec3::ZERO };
}

/// Everything computed from a state, kept for reuse.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// `X_WL` of each link.
    pub pose: Vec<Pose>,
    /// Each velocity's column in world axes: what the link of that joint does when this velocity alone is 1, nv.
    pub columns: Vec<Column>,
    /// Velocities of the links.
    pub velocity: Vec<LinkMotion>,
    /// Accelerations of the links when every v̇ is 0: the velocity products. Classical accelerations (of the origins), without gravity.
    pub bias: Vec<LinkMotion>,
    /// Scratch of the dynamics: forces on links, bodies in place, and composite inertias.
    pub(crate) forces: Vec<crate::dynamics::LinkForce>,
    pub(crate) accelerations: Vec<LinkMotion>,
    pub(crate) placed: Vec<crate::dynamics::PlacedBody>,
    pub(crate) composites: Vec<crate::dynamics::Composite>,
    pub(crate) articulated: Vec<crate::aba::Articulated>,
    pub(crate) step: crate::velocity_products::StepScratch,
}

impl Workspace {
    /// Poses and joint columns at configuration `q` (nq).
    pub fn update_positions(&mut self, model: &Model, q: &[f64]) {
        self.pose.clear();
        self.columns.clear();
        for (link, fixed) in model.links().iter().zip(&model.bodies().fixed_poses) {
            if let Some(pose) = fixed {
                self.pose.push(*pose);
                continue;
            }
            let parent = link.spec.parent.map_or(Pose::identity(), |p| self.pose[p]);
            let joint = parent * link.spec.frame;
            if link.spec.kind == JointKind::Fixed {
                self.pose.push(joint);
                continue;
            }
            self.pose.push(joint * link.spec.kind.pose(&q[link.q.clone()]));
            // A column has one part alone.
            let turned = |x: Vec3| if x == Vec3::ZERO { x } else { joint.rotation * x };
            for k in 0..link.v.len() {
                let column = link.spec.kind.column(k);
                self.columns.push(Column { angular: turned(column.angular), linear: turned(column.linear) });
            }
        }
    }

    /// Velocities and velocity products at velocity `v` (nv); positions must be up to date.
    pub fn update_velocities(&mut self, model: &Model, v: &[f64]) {
        self.velocity.clear();
        self.bias.clear();
        for (i, (link, fixed)) in model.links().iter().zip(&model.bodies().fixed_poses).enumerate() {
            if fixed.is_some() {
                self.velocity.push(LinkMotion::ZERO);
                self.bias.push(LinkMotion::ZERO);
                continue;
            }
            let (parent, bias, arm) = match link.spec.parent {
                Some(p) => (self.velocity[p], self.bias[p], self.pose[i].translation - self.pose[p].translation),
                None => (LinkMotion::ZERO, LinkMotion::ZERO, Vec3::ZERO),
            };
            let joint = self.joint_motion(link.v.clone(), v);
            let omega = parent.angular;
            self.velocity.push(LinkMotion {
                angular: omega + joint.angular,
                linear: parent.linear + omega.cross(arm) + joint.linear,
            });
            self.bias.push(LinkMotion {
                angular: bias.angular + omega.cross(joint.angular),
                linear: bias.linear + bias.angular.cross(arm) + omega.cross(omega.cross(arm) + 2.0 * joint.linear),
            });
        }
    }

    /// Velocities of the links under the velocities `v` (nv), written to `out`; positions must be up to date.
    pub fn link_velocities(&self, model: &Model, v: &[f64], out: &mut Vec<LinkMotion>) {
        out.clear();
        for (i, (link, fixed)) in model.links().iter().zip(&model.bodies().fixed_poses).enumerate() {
            if fixed.is_some() {
                out.push(LinkMotion::ZERO);
                continue;
            }
            let (parent, arm) = match link.spec.parent {
                Some(p) => (out[p], self.pose[i].translation - self.pose[p].translation),
                None => (LinkMotion::ZERO, Vec3::ZERO),
            };
            let joint = self.joint_motion(link.v.clone(), v);
            out.push(LinkMotion {
                angular: parent.angular + joint.angular,
                linear: parent.linear + parent.angular.cross(arm) + joint.linear,
            });
        }
    }

    /// `Σ columnₖ xₖ` over the velocities of one joint.
    pub(crate) fn joint_motion(&self, range: std::ops::Range<usize>, x: &[f64]) -> LinkMotion {
        let mut out = LinkMotion::ZERO;
        for k in range {
            out.angular += self.columns[k].angular * x[k];
            out.linear += self.columns[k].linear * x[k];
        }
        out
    }

    /// Moves link `i`, which is on a free joint, in the configuration `q` (nq) with all that hangs on it: its origin goes by `by`, and it turns about
    /// it by the rotation vector `turn` (world axes).
    pub fn displace(&self, model: &Model, i: usize, by: Vec3, turn: Vec3, q: &mut [f64]) {
        let link = &model.links()[i];
        debug_assert_eq!(link.spec.kind, JointKind::Free);
        let mut way = [0.0; 6];
        for (k, column) in self.columns[link.v.clone()].iter().enumerate() {
            way[k] = column.linear.dot(by) + column.angular.dot(turn);
        }
        link.spec.kind.integrate(&mut q[link.q.clone()], &way, 1.0);
    }

    /// Velocity of the point of link `i` that is at `point` (world).
    pub fn point_velocity(&self, i: usize, point: Vec3) -> Vec3 {
        let arm = point - self.pose[i].translation;
        self.velocity[i].linear + self.velocity[i].angular.cross(arm)
    }

    /// Acceleration of that point when every v̇ is 0: `J̇ v`.
    pub fn point_bias(&self, i: usize, point: Vec3) -> Vec3 {
        let (arm, omega) = (point - self.pose[i].translation, self.velocity[i].angular);
        self.bias[i].linear + self.bias[i].angular.cross(arm) + omega.cross(omega.cross(arm))
    }

    /// Adds `scale` times the row of the speed along `direction` of the point of link `i` at `point` (world) to `row`, the velocities of the
    /// link's tree.
    pub fn add_point_row(&self, model: &Model, i: usize, point: Vec3, direction: Vec3, scale: f64, row: &mut [f64]) {
        self.add_point_rows(model, i, point, [direction], scale, [row]);
    }

    /// [`Workspace::add_point_row`] along several directions.
    pub fn add_point_rows<const N: usize>(
        &self,
        model: &Model,
        i: usize,
        point: Vec3,
        directions: [Vec3; N],
        scale: f64,
        rows: [&mut [f64]; N],
    ) {
        let forces = directions.map(|direction| direction * scale);
        let sizes = forces.map(length);
        self.add_rows(model, i, rows, |origin| {
            // Both are places in the world, and rounded as such.
            let (arm, reach) = (point - origin, length(point.abs() + origin.abs()));
            std::array::from_fn(|n| Wrench {
                force: forces[n],
                moment: arm.cross(forces[n]),
                sizes: [sizes[n], sizes[n] * reach],
            })
        });
    }

    /// Adds `scale` times the row of the angular speed of link `i` about `axis` to `row`, the velocities of the link's tree.
    pub fn add_angular_row(&self, model: &Model, i: usize, axis: Vec3, scale: f64, row: &mut [f64]) {
        let moment = axis * scale;
        let sizes = [0.0, length(moment)];
        self.add_rows(model, i, [row], |_| [Wrench { force: Vec3::ZERO, moment, sizes }]);
    }

    /// Walks from link `i` to its root and adds to each velocity on the way the powers of `wrenches(origin of its joint's link)` on its column. What
    /// is rounding beside its terms is nothing: an axis that is parallel to a row's direction but for rounding must not become a row of noise.
    #[inline]
    fn add_rows<const N: usize>(
        &self,
        model: &Model,
        i: usize,
        mut rows: [&mut [f64]; N],
        wrenches: impl Fn(Vec3) -> [Wrench; N],
    ) {
        let first = model.trees()[model.links()[i].tree].v.start;
        let mut at = Some(i);
        while let Some(i) = at {
            let link = &model.links()[i];
            at = link.spec.parent;
            if link.v.is_empty() {
                continue;
            }
            let wrenches = wrenches(self.pose[i].translation);
            if link.moves_along_world_axes() {
                for (row, wrench) in rows.iter_mut().zip(&wrenches) {
                    wrench.add_parts(&mut row[link.v.start - first..]);
                }
                continue;
            }
            for k in link.v.clone() {
                let column = &self.columns[k];
                let turns = column.linear == Vec3::ZERO;
                for n in 0..N {
                    rows[n][k - first] += wrenches[n].power(column, turns);
                }
            }
        }
    }
}

/// A power of at most this fraction of its terms is rounding: a few times that of a rotated unit vector.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A force and a moment, with the sizes of the terms they came from.
struct Wrench {
    force: Vec3,
    moment: Vec3,
    sizes: [f64; 2],
}

impl Wrench {
    /// Power on a joint's column: a unit vector in one of its parts, the angular one if it turns, nothing in the other.
    #[inline]
    fn power(&self, column: &Column, turns: bool) -> f64 {
        let (power, size) = if turns {
            (column.angular.dot(self.moment), self.sizes[1])
        } else {
            (column.linear.dot(self.force), self.sizes[0])
        };
        if power.abs() > ROUNDING * size { power } else { 0.0 }
    }

    /// Adds the powers on the columns of a free joint along the world's axes: the parts of force and moment.
    #[inline]
    fn add_parts(&self, row: &mut [f64]) {
        let Some(row) = row.first_chunk_mut::<6>() else { return };
        let (least, parts) = (self.sizes.map(|size| ROUNDING * size), [self.force.to_array(), self.moment.to_array()]);
        for k in 0..6 {
            let part = parts[k / 3][k % 3];
            row[k] += if part.abs() > least[k / 3] { part } else { 0.0 };
        }
    }
}

//! Velocity products over a step: gyroscopic, centrifugal and Coriolis forces as the impulse of a
//! whole step, so that they do no work however fast bodies spin.
//!
//! Taken at the start of a step they add energy, a part (|ω| Δt)² of it per step: without bound.
//! Two things replace that.
//!
//! A body that turns freely obeys Euler's equations in its own frame. There the implicit midpoint
//! rule
//!
//! ```text
//! I (ω⁺ − ω) + Δt ω_m × I ω_m = 0,    ω_m = ½ (ω + ω⁺)
//! ```
//!
//! keeps the energy (multiply by ω_m) and the length of the angular momentum (multiply by I ω_m),
//! and the step turns the body about ω⁺, which changes neither. So both stay to rounding for a body
//! alone. Every free or spherical joint gets this for what hangs on it, as if that were rigid.
//!
//! Where joints move against each other the inertia changes with them. There the velocities that
//! the velocity products alone lead to are scaled such that the kinetic energy is that at the start
//! *in the configuration they lead to*, beside the motion of the centre of mass, which keeps its
//! momentum.

use std::ops::Range;

use stiction_linalg::Matrix;
use stiction_linalg::block_factor::BlockFactor;
use stiction_linalg::matrix::dot;

use crate::inertia::point_inertia;
use crate::joint::JointKind;
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Mat3, Vec3, axis_angle, length};
use crate::model::{Link, Model, Tree};
use crate::rigid_bodies::RigidBody;

/// Iterations of Newton's method for one turn; up to [`LARGEST_TURN`] five are enough.
const NEWTON_ITERATIONS: usize = 12;

/// Newton's method ends at a correction of this relative size.
const NEWTON_TOLERANCE: f64 = 1e-14;

/// A free turn of more than this (rad) is computed in several.
const LARGEST_TURN: f64 = 0.5;

/// At most so many.
const MOST_TURNS: f64 = 64.0;

/// Relative change of the kinetic energy in a step that is accepted: 10⁶ steps stay within the 1e-3
/// that time stepping is good for.
const ENERGY_TOLERANCE: f64 = 1e-9;

/// Part of [`ENERGY_TOLERANCE`] up to which the kinetic energy at a scale may be taken from a polynomial.
const POLYNOMIAL_TOLERANCE: f64 = 0.1;

/// Relative change of the kinetic energy along a step up to which each term of its polynomial is smaller than the one before.
const POLYNOMIAL_RANGE: f64 = 0.01;

/// Rounds of scaling, by secants: slow motion needs one to three; bisection reaches the tolerance from anywhere.
const SCALING_ROUNDS: usize = 40;

/// The largest factor by which velocities are scaled.
const LARGEST_SCALE: f64 = 2.0;

/// A turn of less than this (rad) changes the angular velocity by less than rounding.
const SMALLEST_TURN: f64 = 1e-16;

/// Storage of [`Workspace::passive_forces_over_step`].
#[derive(Debug, Clone, Default)]
pub(crate) struct StepScratch {
    /// Cholesky factor of a tree's inertia.
    factor: BlockFactor,
    /// Velocities of a tree at the start, and under velocity products at the end; momenta or
    /// impulses.
    before: Vec<f64>,
    after: Vec<f64>,
    impulse: Vec<f64>,
    /// Configuration of one joint at the end, and the tree's bodies there.
    q: Vec<f64>,
    at_end: Vec<BodyAtEnd>,
}

/// A body at the end of a step, along the axes of its own link, which need no pose in the world.
#[derive(Debug, Clone, Copy)]
struct BodyAtEnd {
    /// Its axes, in those of its joint.
    turn: Mat3,
    /// Its velocity.
    velocity: LinkMotion,
    /// Its momentum (kg m/s).
    momentum: Vec3,
}

/// A tree that hangs on a free joint: its mass (kg), and the directions of the joint's first three
/// velocities.
struct Floating {
    mass: f64,
    axes: [Vec3; 3],
}

/// What a tree's links have together.
struct Energy {
    /// Kinetic energy (J).
    kinetic: f64,
    /// Velocity of the centre of mass (m/s).
    drift: Vec3,
}

impl Workspace {
    /// Generalized forces of gravity and of velocity products (nv), like
    /// [`Workspace::passive_forces`], but velocity products such that over a step of `dt` (s) they
    /// do no work. `mass` is what [`Workspace::mass_blocks`] of this workspace gave last, at the same
    /// positions; positions and velocities must be up to date at (`q`, `v`).
    pub fn passive_forces_over_step(
        &mut self,
        model: &Model,
        (q, v): (&[f64], &[f64]),
        mass: &[Matrix],
        dt: f64,
        force: &mut [f64],
    ) {
        self.forces_at_rest(model, Vec3::ZERO, force);
        let bodies = &model.bodies().list;
        for (n, body) in bodies.iter().enumerate() {
            if matches!(model.links()[body.link].spec.kind, JointKind::Free | JointKind::Spherical) {
                self.turn_freely(model, n, dt, force);
            }
        }
        for ((tree, of_tree), block) in model.trees().iter().zip(&model.bodies().of_tree).zip(mass) {
            if tree.articulated && v[tree.v.clone()].iter().any(|x| *x != 0.0) {
                let (v, force) = (&v[tree.v.clone()], &mut force[tree.v.clone()]);
                let floating = tree.floating.filter(|&i| model.links()[i].spec.properties.armature == 0.0);
                let floating = floating.and_then(|i| of_tree.clone().find(|&n| bodies[n].link == i));
                let floating = floating.map(|n| Floating {
                    mass: self.composites[n].mass,
                    axes: [0, 1, 2].map(|k| self.columns[tree.v.start + k].linear),
                });
                self.step.keep_energy(model, tree, (q, v), block, floating.as_ref(), dt, force);
            }
        }
        self.add_gravity(model, force);
    }

    /// The gyroscopic moment on the joint of body `n`, of all that hangs on it taken as rigid: over
    /// the step instead of at its start.
    fn turn_freely(&self, model: &Model, n: usize, dt: f64, force: &mut [f64]) {
        let i = model.bodies().list[n].link;
        let (link, body, omega) = (&model.links()[i], &self.composites[n], self.velocity[i].angular);
        if dt * length(omega) < SMALLEST_TURN || body.mass <= 0.0 {
            return;
        }
        let (free, armature) = (link.spec.kind == JointKind::Free, link.spec.properties.armature);
        let centre = body.moment / body.mass;
        // A free body turns about its centre of mass, a body on a spherical joint about the joint.
        let about = if free { body.inertia - point_inertia(body.mass, centre) } else { body.inertia };
        let r = Mat3::from_quat(self.pose[i].rotation);
        let own = r.transpose() * about * r + Mat3::from_diagonal(Vec3::splat(armature));
        let after = r * turned(&own, r.transpose() * omega, dt);
        let change = after - omega;
        let mut moment = about * change + change * armature + omega.cross(about * omega) * dt;
        let mut push = Vec3::ZERO;
        // The centre of mass keeps its velocity; so the origin gets that which it has about the
        // centre where the step ends.
        if model.trees()[link.tree].floating == Some(i) && centre != Vec3::ZERO {
            let origin = omega.cross(centre) - after.cross(axis_angle(after * dt) * centre);
            push = (origin + change.cross(centre) + omega.cross(omega.cross(centre)) * dt) * body.mass;
            moment += centre.cross(push);
        }
        for k in link.v.clone() {
            let column = &self.columns[k];
            force[k] += (column.angular.dot(moment) + column.linear.dot(push)) / dt;
        }
    }

    /// Adds the weight of what hangs on each joint.
    fn add_gravity(&self, model: &Model, force: &mut [f64]) {
        let gravity = model.gravity();
        for (body, whole) in model.bodies().list.iter().zip(&self.composites) {
            let (weight, moment) = (gravity * whole.mass, whole.moment.cross(gravity));
            for k in body.v.clone() {
                let column = &self.columns[k];
                force[k] += column.linear.dot(weight) + column.angular.dot(moment);
            }
        }
    }
}

impl StepScratch {
    /// Scales what the velocity products `force` (nv of the tree) make of a tree's velocities `v`,
    /// so that they do no work over the step.
    fn keep_energy(
        &mut self,
        model: &Model,
        tree: &Tree,
        (q, v): (&[f64], &[f64]),
        mass: &Matrix,
        floating: Option<&Floating>,
        dt: f64,
        force: &mut [f64],
    ) {
        if !self.free_velocities(mass, v, force, dt) {
            return;
        }
        // The base's own velocities are the first: their momenta are those of the whole tree.
        mass.mul_into(&self.before, &mut self.impulse);
        if let Some(base) = floating {
            for x in [&mut self.before, &mut self.after] {
                (0..3).for_each(|k| x[k] -= self.impulse[k] / base.mass);
            }
            mass.mul_into(&self.before, &mut self.impulse);
        }
        let kinetic = 0.5 * dot(&self.before, &self.impulse);
        if !(kinetic > 0.0 && kinetic.is_finite()) {
            return;
        }
        // Motion under velocity products keeps its energy: ½ vᵀ Ṁ v = −v · force, which is the rate along the step.
        let slope = -dt * dot(&self.before, force);
        mass.mul_into(&self.after, &mut self.impulse);
        let momentum = floating.map_or(0.0, |base| dot(&self.impulse[..3], &self.impulse[..3]) / base.mass);
        let start = [0.5 * (dot(&self.after, &self.impulse) - momentum), slope];
        let (scale, drift) = self.find_scale(model, tree, q, kinetic, (floating, start), dt);
        self.after.iter_mut().zip(&self.before).for_each(|(after, before)| *after = scale * *after - before);
        if let Some(base) = floating {
            (0..3).for_each(|k| self.after[k] -= scale * base.axes[k].dot(drift));
        }
        mass.mul_into(&self.after, &mut self.impulse);
        force.iter_mut().zip(&self.impulse).for_each(|(f, p)| *f = p / dt);
    }

    /// Velocities at the start, and what the forces make of them in a step. False if the inertia is
    /// not positive definite.
    fn free_velocities(&mut self, mass: &Matrix, v: &[f64], force: &[f64], dt: f64) -> bool {
        self.before.clear();
        self.before.extend_from_slice(v);
        self.after.clear();
        self.after.extend(force.iter().map(|f| dt * f));
        self.impulse.clear();
        self.impulse.resize(v.len(), 0.0);
        if self.factor.factor(mass, |_, pivot| (pivot > 0.0).then_some(pivot)).is_err() {
            return false;
        }
        self.factor.solve(&mut self.after);
        self.after.iter_mut().zip(v).for_each(|(x, v)| *x += v);
        true
    }

    /// The factor for the velocities after the step with which their kinetic energy where they lead
    /// to is `kinetic`; and, of a tree that floats, the velocity of the centre of mass there, unscaled. `start` is the
    /// energy of these velocities in the present configuration, and its rate with the factor.
    fn find_scale(
        &mut self,
        model: &Model,
        tree: &Tree,
        q: &[f64],
        kinetic: f64,
        (floating, start): (Option<&Floating>, [f64; 2]),
        dt: f64,
    ) -> (f64, Vec3) {
        let (mut low, mut high, mut scale) = (0.0, LARGEST_SCALE, 1.0);
        let mut curve = EnergyCurve { start: start[0], slope: start[1], curvature: 0.0, skewness: 0.0 };
        // The scale before, and what its energy was beside the one wanted.
        let mut before = [0.0; 2];
        for round in 0..SCALING_ROUNDS {
            let end = self.energy_at_end(model, tree, q, scale * dt, floating);
            let excess = scale * scale * end.kinetic / kinetic - 1.0;
            if excess.abs() <= ENERGY_TOLERANCE || !excess.is_finite() {
                return (scale, end.drift);
            }
            if excess > 0.0 {
                high = scale;
            } else {
                low = scale;
            }
            let next = if round < 2 {
                curve.pass_through(round, scale, end.kinetic);
                let next = curve.scale_of(kinetic, scale);
                // Of a tree that floats, the centre of mass is to be known to rounding.
                if floating.is_none() && curve.is_certain(round, scale, next, kinetic) {
                    return (next, end.drift);
                }
                next
            } else {
                scale - excess * (scale - before[0]) / (excess - before[1])
            };
            before = [scale, excess];
            scale = if low < next && next < high { next } else { 0.5 * (low + high) };
        }
        // No scale has that energy, or it is a matter of rounding: rather less than more.
        (low, self.energy_at_end(model, tree, q, low * dt, floating).drift)
    }

    /// Kinetic energy of the velocities after the step, in the configuration that they lead to in
    /// `dt`; of a tree that floats, beside the motion of its centre of mass.
    fn energy_at_end(&mut self, model: &Model, tree: &Tree, q: &[f64], dt: f64, floating: Option<&Floating>) -> Energy {
        let mut kinetic = 0.0;
        self.at_end.clear();
        let bodies = model.bodies().of_tree[model.links()[tree.links.start].tree].clone();
        for body in &model.bodies().list[bodies.clone()] {
            let (link, own) = (&model.links()[body.link], &body.inertia);
            let joint = link.v.start - tree.v.start..link.v.end - tree.v.start;
            let above = body.parent.map_or(LinkMotion::ZERO, |p| self.at_end[p - bodies.start].velocity);
            let mut at_end = self.body_at_end(link, body, &above, (q, joint.clone()), dt);
            let armature = link.spec.properties.armature;
            if armature > 0.0 {
                kinetic += armature * dot(&self.after[joint.clone()], &self.after[joint]);
            }
            if own.mass > 0.0 {
                let LinkMotion { angular, linear } = at_end.velocity;
                let at_centre = linear + angular.cross(own.com);
                kinetic += own.mass * at_centre.length_squared() + angular.dot(own.about_com * angular);
                at_end.momentum = at_centre * own.mass;
            }
            self.at_end.push(at_end);
        }
        let drift = floating.map_or(Vec3::ZERO, |base| self.momentum_at_end(model, bodies) / base.mass);
        let whole = floating.map_or(0.0, |base| base.mass * drift.length_squared());
        Energy { kinetic: 0.5 * (kinetic - whole), drift }
    }

    /// A body at the end of a step of `dt` with the velocities after it, of which `joint` are its own; `above` is the motion of the body it
    /// hangs on.
    fn body_at_end(
        &mut self,
        link: &Link,
        body: &RigidBody,
        above: &LinkMotion,
        (q, joint): (&[f64], Range<usize>),
        dt: f64,
    ) -> BodyAtEnd {
        let v = &self.after[joint];
        self.q.clear();
        self.q.extend_from_slice(&q[link.q.clone()]);
        link.spec.kind.integrate(&mut self.q, v, dt);
        let at = link.spec.kind.pose(&self.q);
        let turn = Mat3::from_quat(at.rotation);
        let in_joint = body.rotation.transpose();
        let (angular, linear) = (in_joint * above.angular, in_joint * above.linear);
        // Along the axes of the joint.
        let arm = body.offset + at.translation;
        let mut velocity = LinkMotion { angular, linear: linear + angular.cross(arm) };
        for (k, x) in v.iter().enumerate() {
            let column = link.spec.kind.column(k);
            velocity.angular += column.angular * *x;
            velocity.linear += column.linear * *x;
        }
        let in_body = turn.transpose();
        velocity = LinkMotion { angular: in_body * velocity.angular, linear: in_body * velocity.linear };
        BodyAtEnd { turn, velocity, momentum: Vec3::ZERO }
    }

    /// Momentum of the bodies of a tree (kg m/s), in world axes.
    fn momentum_at_end(&mut self, model: &Model, bodies: Range<usize>) -> Vec3 {
        let mut whole = Vec3::ZERO;
        for n in bodies.clone().rev() {
            let (BodyAtEnd { turn, momentum, .. }, body) = (self.at_end[n - bodies.start], &model.bodies().list[n]);
            let above = body.parent.map(|p| &mut self.at_end[p - bodies.start].momentum);
            *above.unwrap_or(&mut whole) += body.rotation * (turn * momentum);
        }
        whole
    }
}

/// Kinetic energy `E(s) = start + s (slope + s (curvature + skewness (s − 1)))` in the configuration that velocities lead to, over the
/// factor s of the step: by its value and rate at 0, its value at 1, and then that at another factor near 1.
struct EnergyCurve {
    start: f64,
    slope: f64,
    curvature: f64,
    skewness: f64,
}

impl EnergyCurve {
    fn at(&self, s: f64) -> f64 {
        self.start + s * (self.slope + s * (self.curvature + self.skewness * (s - 1.0)))
    }

    /// Takes up the value at the first or the second factor, of which the first is 1.
    fn pass_through(&mut self, round: usize, s: f64, value: f64) {
        let left = value - self.at(s);
        if round == 0 {
            self.curvature = left;
        } else {
            self.skewness = left / (s * s * (s - 1.0));
        }
    }

    /// The scale with `s² E(s) = kinetic`, by Newton's method from one near it: the second correction is small, and the
    /// third one rounding.
    fn scale_of(&self, kinetic: f64, from: f64) -> f64 {
        let mut s = from;
        for _ in 0..3 {
            let rate = self.slope + s * (2.0 * self.curvature + self.skewness * (3.0 * s - 2.0));
            let energy = self.at(s);
            s -= (s * s * energy - kinetic) / (s * (2.0 * energy + s * rate));
        }
        s
    }

    /// True if the energy cannot be told from the curve at the scale `next` beyond doubt, `s` being the last one that it was
    /// computed at. The first term that is left out is smaller still than the last there is.
    fn is_certain(&self, round: usize, s: f64, next: f64, kinetic: f64) -> bool {
        let left_out = if round == 0 {
            self.curvature * (next - 1.0)
        } else {
            self.skewness.abs().max(POLYNOMIAL_RANGE * self.curvature.abs()) * (next - 1.0) * (next - s)
        };
        let change = self.at(1.0) - self.start;
        left_out.abs() <= POLYNOMIAL_TOLERANCE * ENERGY_TOLERANCE * kinetic
            && change.abs() <= POLYNOMIAL_RANGE * kinetic
    }
}

/// The angular velocity of a free body after `dt`, both in its own axes: the implicit midpoint
/// rule, in several turns if the step is long. Where Newton's method does not end the body turns on
/// as it did, which keeps its energy too.
fn turned(inertia: &Mat3, omega: Vec3, dt: f64) -> Vec3 {
    let turns = (dt * length(omega) / LARGEST_TURN).ceil().clamp(1.0, MOST_TURNS);
    let mut at = omega;
    for _ in 0..turns as usize {
        at = midpoint_turn(inertia, at, dt / turns).unwrap_or(at);
    }
    at
}

/// Solves `I (x − ω) + ½ Δt x × I x = 0` by Newton's method: x is the angular velocity in the
/// middle of the step.
fn midpoint_turn(inertia: &Mat3, omega: Vec3, dt: f64) -> Option<Vec3> {
    // The equation is homogeneous in the inertia; with entries about 1 nothing under- or overflows.
    let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
    let (inertia, half) = (*inertia * (1.0 / trace), 0.5 * dt);
    let skew =
        |a: Vec3| Mat3::from_cols(Vec3::new(0.0, a.z, -a.y), Vec3::new(-a.z, 0.0, a.x), Vec3::new(a.y, -a.x, 0.0));
    let mut x = omega;
    for _ in 0..NEWTON_ITERATIONS {
        let momentum = inertia * x;
        let residual = inertia * (x - omega) + x.cross(momentum) * half;
        let jacobian = inertia + (skew(x) * inertia - skew(momentum)) * half;
        let step = jacobian.inverse() * residual;
        x -= step;
        if !x.is_finite() {
            return None;
        }
        if length(step) <= NEWTON_TOLERANCE * length(omega) {
            return Some(2.0 * x - omega);
        }
    }
    None
}

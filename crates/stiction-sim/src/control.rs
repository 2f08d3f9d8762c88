//! What moves a scene besides gravity: joint servos, efforts, prescribed motion, wrenches. Called once per step, and held over it.

use stiction_body::math::Vec3;
use stiction_body::{Model, Workspace};

use crate::actuation::UNBOUNDED;
use crate::expression::Expression;
use crate::world::World;

/// What controllers ask of a step, nv each. Gains act implicitly: on the configuration and velocity after the step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Commands {
    /// Generalized forces that no motor gives (N, N m).
    pub force: Vec<f64>,
    /// Efforts of motors (N, N m), within the joint's limit together with the gains'.
    pub effort: Vec<f64>,
    /// Stiffness (N/m, N m/rad): adds `kp (target − q)`; `pull` holds kp · target.
    pub kp: Vec<f64>,
    /// Damping (N s/m, N m s/rad): adds `kd (target − v)`; `pull` holds kd · target too.
    pub kd: Vec<f64>,
    /// `kp · q target + kd · v target`.
    pub pull: Vec<f64>,
    /// Least and largest effort of all motors on each velocity together (N, N m).
    pub limit: Vec<[f64; 2]>,
    /// Control of each actuator, in its own units: that of the start, unless a controller says otherwise.
    pub control: Vec<f64>,
    /// Velocities that joints shall have after the step.
    pub prescribed: Vec<Option<f64>>,
    /// Forces on links from outside, which are in `force` too: see [`Commands::push`].
    pub wrenches: Vec<LinkWrench>,
}

/// A force and a moment on a link, world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkWrench {
    /// The link.
    pub link: usize,
    /// Force (N).
    pub force: Vec3,
    /// Moment about the link's origin (N m).
    pub moment: Vec3,
}

impl Commands {
    /// Nothing asked, with the limits of the joints.
    pub fn reset(&mut self, world: &World) {
        let model = &world.model;
        for x in [&mut self.force, &mut self.effort, &mut self.kp, &mut self.kd, &mut self.pull] {
            x.clear();
            x.resize(model.nv(), 0.0);
        }
        self.control.clone_from(&world.control);
        self.prescribed.clear();
        self.prescribed.resize(model.nv(), None);
        self.wrenches.clear();
        self.limit.clear();
        for link in model.joints() {
            let effort = link.spec.properties.effort;
            self.limit.extend(link.v.clone().map(|_| [-effort, effort]));
        }
        for (link, range) in &world.effort_ranges {
            self.limit[model.links()[*link].v.clone()].fill(*range);
        }
    }

    /// True if the motors on velocity `k` have a limit.
    pub(crate) fn is_limited(&self, k: usize) -> bool {
        self.limit[k] != UNBOUNDED
    }

    /// A force (N) at a point of the world (m) and a moment (N m) on a link, along world axes.
    pub fn push(&mut self, view: &View<'_>, link: usize, point: Vec3, force: Vec3, torque: Vec3) {
        let row = &mut self.force[view.model.trees()[view.model.links()[link].tree].v.clone()];
        view.work.add_point_row(view.model, link, point, force, 1.0, row);
        view.work.add_angular_row(view.model, link, torque, 1.0, row);
        let moment = torque + (point - view.work.pose[link].translation).cross(force);
        self.wrenches.push(LinkWrench { link, force, moment });
    }

    /// A servo on velocity `k`: `kp (q − ·) + kd (v − ·)`.
    pub fn servo(&mut self, k: usize, kp: f64, q: f64, kd: f64, v: f64) {
        self.kp[k] += kp;
        self.kd[k] += kd;
        self.pull[k] += kp * q + kd * v;
    }
}

/// What a controller sees.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The bodies.
    pub model: &'a Model,
    /// Poses and velocities of the links.
    pub work: &'a Workspace,
    /// Configuration.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// Time at the start of the step (s).
    pub t: f64,
    /// The step (s).
    pub dt: f64,
}

/// Turns what it sees into commands. What it remembers is in its memory and nowhere else, so that a snapshot holds all of it.
pub trait Controller: Send {
    /// Adds its commands for the step that starts now.
    fn command(&mut self, view: &View<'_>, commands: &mut Commands);

    /// All it remembers from step to step.
    fn memory(&self) -> &[f64] {
        &[]
    }

    /// True if it can take over a memory of this many values: those of [`Controller::memory`], or what an earlier version
    /// of it had.
    fn takes_memory(&self, count: usize) -> bool {
        count == self.memory().len()
    }

    /// Sets what it remembers; [`Controller::takes_memory`] is true for its length.
    fn set_memory(&mut self, memory: &[f64]) {
        let _ = memory;
    }
}

/// A number over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A formula of the time `t` (s).
    Formula(Expression),
    /// Straight lines between points in time, constant before the first and after the last: times (s, ascending) and values.
    Table(Vec<(f64, f64)>),
}

impl Signal {
    /// A constant.
    pub fn constant(x: f64) -> Self {
        Self::Formula(Expression::constant(x))
    }

    /// Its value at time `t`.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Formula(e) => e.evaluate(|name| if name == "t" { t } else { f64::NAN }),
            Self::Table(points) => {
                let after = points.partition_point(|p| p.0 <= t);
                match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
                    (Some((t0, x0)), Some(&(t1, x1))) => x0 + (x1 - x0) * ((t - t0) / (t1 - t0)),
                    (Some((_, x)), None) | (None, Some(&(_, x))) => x,
                    (None, None) => 0.0,
                }
            }
        }
    }
}

/// A joint's place in q and v.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joint {
    /// In q.
    pub q: usize,
    /// In v.
    pub v: usize,
}

/// A servo on a joint: `kp (target − q) + ki ∫(target − q) + kd (target velocity − v) + effort`.
#[derive(Debug, Clone, PartialEq)]
pub struct JointServo {
    /// The joint.
    pub joint: Joint,
    /// Stiffness.
    pub kp: f64,
    /// Integral gain (per second).
    pub ki: f64,
    /// Damping.
    pub kd: f64,
    /// Where it shall be (rad or m).
    pub target: Signal,
    /// How fast it shall move (rad/s or m/s).
    pub velocity: Signal,
    /// ∫ (target − q) dt.
    pub integral: f64,
}

impl Controller for JointServo {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        let target = self.target.at(view.t + view.dt);
        self.integral += view.dt * (self.target.at(view.t) - view.q[self.joint.q]);
        commands.servo(self.joint.v, self.kp, target, self.kd, self.velocity.at(view.t + view.dt));
        commands.effort[self.joint.v] += self.ki * self.integral;
    }

    fn memory(&self) -> &[f64] {
        std::slice::from_ref(&self.integral)
    }

    fn set_memory(&mut self, memory: &[f64]) {
        self.integral = memory[0];
    }
}

/// An effort on a joint (N m or N).
#[derive(Debug, Clone, PartialEq)]
pub struct JointEffort {
    /// The joint.
    pub joint: Joint,
    /// The effort.
    pub effort: Signal,
}

impl Controller for JointEffort {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        commands.effort[self.joint.v] += self.effort.at(view.t);
    }
}

/// A joint that moves as told, whatever force that takes up to the joint's effort limit: at the end of each step it is where the signal says.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMotion {
    /// The joint.
    pub joint: Joint,
    /// Where it is (rad or m).
    pub position: Signal,
}

impl Controller for JointMotion {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        let velocity = (self.position.at(view.t + view.dt) - view.q[self.joint.q]) / view.dt;
        commands.prescribed[self.joint.v] = Some(velocity);
    }
}

/// A force and a moment on a link, along world axes, at a point fixed in the link.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrench {
    /// The link.
    pub link: usize,
    /// Where the force acts, in the link's frame (m).
    pub point: Vec3,
    /// Force (N).
    pub force: [Signal; 3],
    /// Moment (N m).
    pub torque: [Signal; 3],
}

impl Controller for Wrench {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        let at = |s: &[Signal; 3]| Vec3::new(s[0].at(view.t), s[1].at(view.t), s[2].at(view.t));
        let (force, torque) = (at(&self.force), at(&self.torque));
        let point = view.work.pose[self.link].transform_point(self.point);
        commands.push(view, self.link, point, force, torque);
    }
}

/// The control of an actuator, in its own units.
#[derive(Debug, Clone, PartialEq)]
pub struct ActuatorControl {
    /// The actuator's number in the world.
    pub actuator: usize,
    /// Its control.
    pub control: Signal,
}

impl Controller for ActuatorControl {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        commands.control[self.actuator] = self.control.at(view.t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_follow_their_points() {
        let s = Signal::Table(vec![(1.0, 2.0), (2.0, 4.0), (2.0, 10.0), (4.0, 0.0)]);
        for (t, x) in [(0.0, 2.0), (1.0, 2.0), (1.5, 3.0), (2.0, 10.0), (3.0, 5.0), (9.0, 0.0)] {
            assert_eq!(s.at(t), x, "{t}");
        }
        assert_eq!(Signal::Table(vec![]).at(1.0), 0.0);
        assert_eq!(Signal::Formula(Expression::parse("2 * t").unwrap()).at(3.0), 6.0);
    }
}

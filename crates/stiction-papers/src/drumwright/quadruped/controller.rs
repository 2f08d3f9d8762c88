//! The gait and controller of the locomotion experiment: feet follow splines beside the trunk, by feedback in joint space and in the
//! space of the feet.
//!
//! [`Gait::published`] is what the experiment ran; the other settings are ours, where that does not get over the ground.

use stiction_body::math::{Quat, Vec3};
use stiction_sim::{Commands, Controller, View};

use super::leg::{FootMotion, LEGS};
use super::robot::{Quadruped, TORQUE};
use super::spline::{NUMBERS, Spline};

/// How the integral of the feet's errors grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Integral {
    /// By every call, whatever the step: as published. The number is how often a step calls the controller: once in symplectic Euler,
    /// four times in the method of Runge and Kutta.
    PerCall(f64),
    /// By time.
    PerSecond,
}

/// How fast the robot is told to walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Twice the speed while the nose is down by more than 0.01 rad and not at all otherwise: as published.
    ByPitch,
    /// Always the speed.
    Steady,
}

/// The velocity with which a foot's way starts and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// That of the foot beside the trunk when the way is planned: as published.
    Measured,
    /// That with which the last way ended, from rest.
    Planned,
}

/// What the controller is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gait {
    /// Period of the gait (s).
    pub period: f64,
    /// Part of the period that a foot is on the ground.
    pub duty: f64,
    /// How high a foot is lifted (m).
    pub height: f64,
    /// Speed forward (m/s); a cycle takes the robot two thirds of it.
    pub speed: f64,
    /// When to go that fast.
    pub pace: Pace,
    /// How ways start and end.
    pub ends: Ends,
    /// Stiffness and damping of the joints (N m/rad, N m s/rad).
    pub joint: [f64; 2],
    /// Gain on the present error of a joint that stands where an integral is meant (N m/rad).
    pub joint_integral: f64,
    /// Stiffness and damping of the feet (N/m, N s/m).
    pub foot: [f64; 2],
    /// Integral gain of the feet, of their stiffness.
    pub foot_integral: f64,
    /// How that integral grows.
    pub integral: Integral,
}

impl Gait {
    /// The controller as published, called so many times a step.
    pub fn published(calls: f64) -> Self {
        Self {
            period: 0.7,
            duty: 0.75,
            height: 0.015,
            speed: 0.05,
            pace: Pace::ByPitch,
            ends: Ends::Measured,
            joint: [10.0, 0.1],
            joint_integral: 3e-3,
            foot: [1000.0, 10.0],
            foot_integral: 0.01,
            integral: Integral::PerCall(calls),
        }
    }

    /// The same with the integral by time.
    pub(crate) fn per_second() -> Self {
        Self { integral: Integral::PerSecond, ..Self::published(1.0) }
    }

    /// What gets over hills and steps: the integral by time, always the same speed whatever the pitch, and ways of the feet that start
    /// and end at rest rather than with whatever velocity a foot has when it strikes the ground.
    pub fn improved() -> Self {
        Self { pace: Pace::Steady, ends: Ends::Planned, ..Self::per_second() }
    }
}

/// When a foot is set down, in parts of the period: in the order of [`LEGS`].
const TOUCHDOWN: [f64; 4] = [0.25, 0.75, 0.75, 0.25];

/// Phases that differ by less are equal.
const PHASE: f64 = 1e-9;

/// Legs of this length (m) and gravity (m/s²) say how far a faster trunk makes the feet reach.
const CAPTURE: [f64; 2] = [0.30, 9.8];

/// Pitch from which the published gait goes faster (rad).
const NOSE_DOWN: f64 = 0.01;

/// What a foot remembers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Foot {
    /// Where it was at the first call, beside the trunk (m).
    origin: Vec3,
    /// Sum of its errors times the stiffness (N).
    integral: Vec3,
    /// Where it shall go.
    way: Spline,
}

/// Numbers that a foot remembers.
const FOOT: usize = 6 + NUMBERS;

/// The controller of a [`Quadruped`].
#[derive(Debug, Clone)]
pub struct Walk {
    gait: Gait,
    trunk: usize,
    /// Places of the joints in q and v.
    joints: [[(usize, usize); 3]; 4],
    started: bool,
    feet: [Foot; 4],
    memory: Vec<f64>,
}

/// What the controller sees of the trunk.
struct Trunk {
    /// Velocity along its own axes (m/s).
    velocity: Vec3,
    /// Roll and pitch (rad).
    tilt: [f64; 2],
}

impl Walk {
    /// A controller at the start of its gait.
    pub fn new(robot: &Quadruped, gait: Gait) -> Self {
        let links = robot.world.model.links();
        let joints = robot.joints.map(|leg| leg.map(|l| (links[l].q.start, links[l].v.start)));
        let mut out =
            Self { gait, trunk: robot.trunk, joints, started: false, feet: Default::default(), memory: vec![] };
        out.remember();
        out
    }

    /// Plans the way of a foot that moves with `measured` (m/s) from where its last one ended to the end of its phase.
    fn plan(&self, leg: usize, t: f64, trunk: &Trunk, measured: Vec3) -> Spline {
        let (gait, foot) = (&self.gait, &self.feet[leg]);
        let phase = (t / gait.period - TOUCHDOWN[leg]).rem_euclid(1.0);
        // From touchdown on: on the ground, then in the air.
        let phase = if phase > 1.0 - PHASE { 0.0 } else { phase };
        let stance = phase < gait.duty - PHASE;
        let left = if stance { gait.duty - phase } else { 1.0 - phase };
        let speed = match gait.pace {
            Pace::Steady => gait.speed,
            Pace::ByPitch if trunk.tilt[1] > NOSE_DOWN => 2.0 * gait.speed,
            Pace::ByPitch => 0.0,
        };
        let forward = Vec3::X * speed;
        let ((from, planned), duration) = (foot.way.at(t), left * gait.period);
        let velocity = match gait.ends {
            Ends::Measured => measured,
            Ends::Planned => planned,
        };
        if stance {
            let to = from - forward * (0.5 * duration / gait.duty);
            return Spline::through(&over_the_middle(from, to), velocity, t, duration);
        }
        let reach = (forward - trunk.velocity) * (0.5 * libm::sqrt(CAPTURE[0] / CAPTURE[1]));
        let step = forward * (0.5 * duration / (1.0 - gait.duty)) - Vec3::new(reach.x, reach.y, 0.0);
        let (to, up) = (foot.origin + step, Vec3::Z * gait.height);
        Spline::through(&[from, from + up, to + up, to], velocity, t, duration)
    }

    /// Torques of a leg's joints (N m), within their limits.
    fn torques(&mut self, leg: usize, t: f64, dt: f64, q: [f64; 3], rates: [f64; 3], at: &FootMotion) -> [f64; 3] {
        let gait = &self.gait;
        let foot = &mut self.feet[leg];
        let (place, velocity) = foot.way.at(t);
        let (wanted, there) = LEGS[leg].reach(place, q);
        let wanted_rates = there.rates(velocity).unwrap_or_default();
        let off = place - at.foot;
        foot.integral += off
            * (gait.foot[0]
                * match gait.integral {
                    Integral::PerCall(calls) => calls,
                    Integral::PerSecond => dt,
                });
        let slower = velocity - at.velocity(rates);
        let force = off * gait.foot[0] + slower * gait.foot[1] + foot.integral * gait.foot_integral;
        let by_foot = at.torques(force);
        [0, 1, 2].map(|k| {
            let by_joint = (gait.joint[0] + gait.joint_integral) * (wanted[k] - q[k])
                + gait.joint[1] * (wanted_rates[k] - rates[k]);
            (by_joint + by_foot[k]).clamp(-TORQUE, TORQUE)
        })
    }

    /// Writes what it remembers into the memory.
    fn remember(&mut self) {
        self.memory.clear();
        self.memory.push(f64::from(u8::from(self.started)));
        for foot in &self.feet {
            self.memory.extend(foot.origin.to_array());
            self.memory.extend(foot.integral.to_array());
            foot.way.write(&mut self.memory);
        }
    }
}

impl Controller for Walk {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        let pose = &view.work.pose[self.trunk];
        let velocity = pose.rotation.inverse() * view.work.velocity[self.trunk].linear;
        let trunk = Trunk { velocity, tilt: tilt(pose.rotation) };
        for (leg, joints) in self.joints.into_iter().enumerate() {
            let (q, rates) = (joints.map(|(q, _)| view.q[q]), joints.map(|(_, v)| view.v[v]));
            let at = LEGS[leg].motion(q);
            if !self.started {
                self.feet[leg].origin = at.foot;
                self.feet[leg].way = Spline::through(&[at.foot; 2], Vec3::ZERO, view.t - 1.0, 1.0);
            }
            if self.feet[leg].way.is_over(view.t) {
                self.feet[leg].way = self.plan(leg, view.t, &trunk, at.velocity(rates));
            }
            let torques = self.torques(leg, view.t, view.dt, q, rates, &at);
            for (k, (_, v)) in joints.into_iter().enumerate() {
                commands.effort[v] += torques[k];
            }
        }
        self.started = true;
        self.remember();
    }

    fn memory(&self) -> &[f64] {
        &self.memory
    }

    fn set_memory(&mut self, memory: &[f64]) {
        let Some((started, feet)) = memory.split_first() else { return };
        self.started = *started != 0.0;
        for (foot, numbers) in self.feet.iter_mut().zip(feet.chunks_exact(FOOT)) {
            foot.origin = Vec3::new(numbers[0], numbers[1], numbers[2]);
            foot.integral = Vec3::new(numbers[3], numbers[4], numbers[5]);
            foot.way = Spline::read(&numbers[6..]);
        }
        self.remember();
    }
}

/// Two points with one between them as far from the trunk's origin as they are on average.
fn over_the_middle(from: Vec3, to: Vec3) -> [Vec3; 3] {
    let middle = (from + to) * 0.5;
    let far = 0.5 * (from.length() + to.length());
    [from, middle * (far / middle.length().max(f64::MIN_POSITIVE)), to]
}

/// Roll and pitch of a rotation (rad): pitch is positive with the nose down.
pub fn tilt(rotation: Quat) -> [f64; 2] {
    let (x, y, z) = (rotation * Vec3::X, rotation * Vec3::Y, rotation * Vec3::Z);
    [libm::atan2(y.z, z.z), -libm::asin(x.z.clamp(-1.0, 1.0))]
}

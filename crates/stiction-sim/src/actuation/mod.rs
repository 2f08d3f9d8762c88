//! What acts along lengths: actuators, and the springs and dampers of tendons.
//!
//! An actuator's transmission has a length that depends on the configuration; its force acts along the row of that length's rate. What the
//! force is depends on control or activation, length and velocity (`laws.rs`). One form serves all: a [`Drive`] with the force at the present state, and
//! how it falls with length and velocity, so that steps can take it implicitly.

mod laws;
mod row;
mod tendon;
mod transmission;
mod wrap;

use stiction_body::{Model, Workspace};

pub use laws::{Dynamics, Law, Muscle, Value};
pub use row::TreeRow;
pub use tendon::{Anchor, Tendon, TendonPath, Via};
pub(crate) use transmission::Measured;
pub use transmission::Transmission;
pub use wrap::WrapKind;

/// No bounds.
pub(crate) const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// What moves joints, with a control in the units of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Actuator {
    /// Name.
    pub name: String,
    /// What it acts on.
    pub transmission: Transmission,
    /// What lengths and rows are multiplied by: one number, or one per axis of a joint or site.
    pub gear: [f64; 6],
    /// How its activation follows the control.
    pub dynamics: Dynamics,
    /// Force per unit of control or activation (N or N m), before the gear.
    pub gain: Law,
    /// Force without control (N or N m), before the gear.
    pub bias: Law,
    /// Least and largest control; infinite for no limit.
    pub control: [f64; 2],
    /// Least and largest force, before the gear (N or N m); infinite for no limit.
    pub force: [f64; 2],
    /// The same of all actuators on its joint, if it is the only one of them: what the limit leaves of its force.
    pub reach: [f64; 2],
    /// Least and largest activation; infinite for no limit.
    pub activation: [f64; 2],
    /// The activation at the end of a step acts in it, not the one at its start.
    pub early: bool,
}

impl Actuator {
    /// A motor on a joint: force = control.
    pub fn motor(name: impl Into<String>, link: usize) -> Self {
        let mut gear = [0.0; 6];
        gear[0] = 1.0;
        Self {
            name: name.into(),
            transmission: Transmission::Joint { link, in_parent: false },
            gear,
            dynamics: Dynamics::None,
            gain: Law::Affine([1.0, 0.0, 0.0]),
            bias: Law::NONE,
            control: UNBOUNDED,
            force: UNBOUNDED,
            reach: UNBOUNDED,
            activation: UNBOUNDED,
            early: false,
        }
    }

    /// True if it has an activation.
    pub(crate) fn has_activation(&self) -> bool {
        self.dynamics != Dynamics::None
    }

    /// The activation after a step of `dt` (s) under a control.
    pub(crate) fn next_activation(&self, control: f64, activation: f64, dt: f64) -> f64 {
        match self.has_activation() {
            true => self.dynamics.next(clamp(control, self.control), activation, dt, self.activation),
            false => 0.0,
        }
    }

    /// The length that gain and bias see: servos on rotations in space go the short way to their set point.
    fn nearest_turn(&self, length: f64, input: f64, model: &Model) -> f64 {
        let period = match (self.transmission.turn(&self.gear, model), self.gain, self.bias) {
            (Some(turn), Law::Affine([kp, 0.0, 0.0]), Law::Affine([_, slope, _])) if slope == -kp && turn > 0.0 => turn,
            _ => return length,
        };
        length + period * ((input - length) / period).round()
    }

    /// What the gain is multiplied by.
    fn input(&self, control: f64, activation: f64, dt: f64) -> f64 {
        match (self.has_activation(), self.early) {
            (false, _) => clamp(control, self.control),
            (true, false) => activation,
            (true, true) => self.next_activation(control, activation, dt),
        }
    }
}

/// A number within a range, of which either end may be infinite.
pub(crate) fn clamp(x: f64, [low, high]: [f64; 2]) -> f64 {
    x.max(low).min(high)
}

/// A force along a row: `force − stiffness · (change of length) − damping · (change of velocity)`, within its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// Length, with the gear (m, rad, or those times the gear).
    pub length: f64,
    /// Its rate.
    pub velocity: f64,
    /// The row of the rate.
    pub row: TreeRow,
    /// Force at the present state, not yet within the range (N or N m).
    pub force: f64,
    /// At least 0: how the force falls with the length.
    pub stiffness: f64,
    /// At least 0: how the force falls with the velocity.
    pub damping: f64,
    /// Least and largest force that reaches what it acts on.
    pub range: [f64; 2],
    /// Least and largest force of its own.
    pub own: [f64; 2],
}

impl Default for Drive {
    fn default() -> Self {
        let row = TreeRow::default();
        Self {
            length: 0.0,
            velocity: 0.0,
            row,
            force: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            range: UNBOUNDED,
            own: UNBOUNDED,
        }
    }
}

impl Drive {
    /// How the force falls with the velocity at the end of a step of `dt` (s).
    pub(crate) fn slope(&self, dt: f64) -> f64 {
        self.damping + dt * self.stiffness
    }

    /// The force at the end of a step with this velocity then, not yet within the range.
    pub(crate) fn force_after(&self, velocity: f64, dt: f64) -> f64 {
        self.force - dt * self.stiffness * velocity - self.damping * (velocity - self.velocity)
    }

    /// True if its range can matter.
    pub(crate) fn is_bounded(&self) -> bool {
        self.range != UNBOUNDED
    }

    /// The force at the present state, within its own range (N or N m).
    pub fn present_force(&self) -> f64 {
        clamp(self.force, self.own)
    }
}

/// Tendons and actuators at a state. Keeps its storage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Drives {
    /// Length and row of each tendon.
    pub tendons: Vec<(f64, TreeRow)>,
    /// Springs and dampers of the tendons, one per tendon.
    pub springs: Vec<Drive>,
    /// The actuators.
    pub motors: Vec<Drive>,
    /// Rows of ties to bodies that are moved from outside; their forces are those of no acceleration.
    pub ties: Vec<Drive>,
}

/// The constant side of what [`Drives`] computes.
#[derive(Debug, Clone, Copy)]
pub struct Driven<'a> {
    /// Links and joints.
    pub model: &'a Model,
    /// Tendons.
    pub tendons: &'a [Tendon],
    /// Actuators.
    pub actuators: &'a [Actuator],
}

impl Drives {
    /// Lengths and rows of the tendons, at kinematics that are up to date.
    pub(crate) fn measure_tendons(&mut self, of: Driven<'_>, work: &Workspace, q: &[f64]) {
        self.tendons.resize_with(of.tendons.len(), Default::default);
        for (tendon, (length, row)) in of.tendons.iter().zip(&mut self.tendons) {
            *length = tendon.measure(of.model, work, q, row);
        }
    }

    /// Forces of the tendons' springs and dampers; tendons must be measured.
    pub(crate) fn update_springs(&mut self, of: Driven<'_>, v: &[f64]) {
        self.springs.resize_with(of.tendons.len(), Drive::default);
        for ((tendon, (length, row)), spring) in of.tendons.iter().zip(&self.tendons).zip(&mut self.springs) {
            spring.row.copy_from(row);
            (spring.length, spring.velocity) = (*length, row.dot(of.model, v));
            let pull = tendon.spring(*length);
            spring.force = pull - tendon.damping * spring.velocity;
            // Between its two lengths at rest the spring does not act.
            spring.stiffness = if pull == 0.0 { 0.0 } else { tendon.stiffness };
            spring.damping = tendon.damping;
        }
    }

    /// Forces of the actuators with these controls and activations, in a step of `dt` (s); tendons must be measured.
    pub(crate) fn update_motors(
        &mut self,
        of: Driven<'_>,
        work: &Workspace,
        (q, v): (&[f64], &[f64]),
        (control, activation): (&[f64], &[f64]),
        dt: f64,
    ) {
        self.motors.resize_with(of.actuators.len(), Drive::default);
        let at = Measured { model: of.model, work, q, tendons: &self.tendons };
        for (i, (actuator, drive)) in of.actuators.iter().zip(&mut self.motors).enumerate() {
            drive.length = actuator.transmission.measure(&actuator.gear, at, &mut drive.row);
            drive.velocity = drive.row.dot(of.model, v);
            let (length, velocity) = (drive.length, drive.velocity);
            let input = actuator.input(control[i], activation[i], dt);
            let length = actuator.nearest_turn(length, input, of.model);
            let (gain, bias) = (actuator.gain.gain(length, velocity), actuator.bias.bias(length, velocity));
            drive.force = gain.at * input + bias.at;
            // What would push away is taken as it is at the start of the step.
            drive.stiffness = (-(gain.by_length * input + bias.by_length)).max(0.0);
            drive.damping = (-(gain.by_velocity * input + bias.by_velocity)).max(0.0);
            drive.own = actuator.force;
            drive.range = [0, 1].map(|end| clamp(actuator.force[end], actuator.reach));
        }
    }
}

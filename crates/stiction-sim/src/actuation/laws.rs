//! From control to force: activation dynamics, gain and bias of an actuator, as data and as functions of length and velocity.
//!
//! All kinds of actuators are one: `force = gain(length, velocity) · input + bias(length, velocity)`, where the input is the control,
//! or an activation that follows it.
//!
//! Reference: the actuation model of MuJoCo's documentation; muscles after [Thelen03] in the form given there.

/// Denominators are at least this, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// How an activation follows the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dynamics {
    /// There is none: the control acts at once.
    None,
    /// The control is the activation's rate.
    Integrator,
    /// `(control − activation) / time`, by Euler's rule: the time constant (s).
    Filter(f64),
    /// The same, integrated exactly.
    FilterExact(f64),
    /// Activation of a muscle.
    Muscle {
        /// Time constants of activation and deactivation (s).
        time: [f64; 2],
        /// Width of the smooth transition between both, in units of control; 0 for none.
        smoothing: f64,
    },
}

impl Dynamics {
    /// The activation's rate (1/s) under a control.
    pub fn rate(&self, control: f64, activation: f64) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Integrator => control,
            Self::Filter(time) | Self::FilterExact(time) => (control - activation) / time.max(LEAST),
            Self::Muscle { time, smoothing } => muscle_rate(control, activation, time, smoothing),
        }
    }

    /// The activation after `dt` (s), within `range`.
    pub fn next(&self, control: f64, activation: f64, dt: f64, range: [f64; 2]) -> f64 {
        let rate = self.rate(control, activation);
        let step = match *self {
            Self::FilterExact(time) => -time.max(LEAST) * libm::expm1(-dt / time.max(LEAST)),
            _ => dt,
        };
        (activation + rate * step).max(range[0]).min(range[1])
    }
}

/// A muscle's rate of activation, with time constants that depend on the activation.
fn muscle_rate(control: f64, activation: f64, [rise, fall]: [f64; 2], smoothing: f64) -> f64 {
    let (excess, clamped) = (control.clamp(0.0, 1.0) - activation, activation.clamp(0.0, 1.0));
    let factor = 0.5 + 1.5 * clamped;
    let (rise, fall) = (rise * factor, fall / factor);
    let time = if smoothing < LEAST {
        if excess > 0.0 { rise } else { fall }
    } else {
        fall + (rise - fall) * smooth_step(excess / smoothing + 0.5)
    };
    excess / time.max(LEAST)
}

/// From 0 to 1 over the unit interval, twice differentiable.
fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
}

/// A force that depends on length and velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// `c₀ + c₁ length + c₂ velocity`.
    Affine([f64; 3]),
    /// The active force of a muscle at full activation (as a gain), or its passive force (as a bias).
    Muscle(Muscle),
}

/// Parameters of a muscle, in the units of its transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Muscle {
    /// Operating range of lengths, in units of the optimal length.
    pub range: [f64; 2],
    /// The lengths of the transmission that these are (m).
    pub lengths: [f64; 2],
    /// Peak active force at rest (N).
    pub peak: f64,
    /// Least and largest length with active force, in units of the optimal length.
    pub reach: [f64; 2],
    /// Shortening speed at which active force vanishes, in optimal lengths per second.
    pub fastest: f64,
    /// Passive force at the largest length, in units of the peak.
    pub passive: f64,
    /// Active force at saturating lengthening speed, in units of the peak.
    pub lengthening: f64,
}

/// A value with its derivatives by length and velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The value.
    pub at: f64,
    /// Its derivative by the length.
    pub by_length: f64,
    /// Its derivative by the velocity.
    pub by_velocity: f64,
}

impl Law {
    /// No force.
    pub const NONE: Self = Self::Affine([0.0; 3]);

    /// As a gain: the force per unit of input.
    pub fn gain(&self, length: f64, velocity: f64) -> Value {
        match self {
            Self::Affine(c) => affine(c, length, velocity),
            Self::Muscle(muscle) => muscle.active(length, velocity),
        }
    }

    /// As a bias: the force without input.
    pub fn bias(&self, length: f64, velocity: f64) -> Value {
        match self {
            Self::Affine(c) => affine(c, length, velocity),
            Self::Muscle(muscle) => muscle.passive(length),
        }
    }
}

fn affine(c: &[f64; 3], length: f64, velocity: f64) -> Value {
    Value { at: c[0] + c[1] * length + c[2] * velocity, by_length: c[1], by_velocity: c[2] }
}

impl Muscle {
    /// The optimal length (m).
    fn optimal(&self) -> f64 {
        (self.lengths[1] - self.lengths[0]) / (self.range[1] - self.range[0]).max(LEAST)
    }

    /// A length in units of the optimal one.
    fn normalized(&self, length: f64) -> f64 {
        self.range[0] + (length - self.lengths[0]) / self.optimal().max(LEAST)
    }

    /// Active force at full activation: it pulls. Its derivative by the length is left out: it would not always be a spring.
    fn active(&self, length: f64, velocity: f64) -> Value {
        let scale = (self.optimal() * self.fastest).max(LEAST);
        let (by_speed, slope) = self.force_of_velocity(velocity / scale);
        let force = -self.peak * self.force_of_length(self.normalized(length));
        Value { at: force * by_speed, by_length: 0.0, by_velocity: force * slope / scale }
    }

    /// The bell of active force over the normalized length: four parabolas.
    fn force_of_length(&self, x: f64) -> f64 {
        let [least, most] = self.reach;
        if x < least || x > most {
            return 0.0;
        }
        let (below, above) = (0.5 * (least + 1.0), 0.5 * (1.0 + most));
        let part = |from: f64, width: f64| (x - from) / width.max(LEAST);
        if x <= below {
            0.5 * part(least, below - least).powi(2)
        } else if x <= 1.0 {
            1.0 - 0.5 * part(1.0, 1.0 - below).powi(2)
        } else if x <= above {
            1.0 - 0.5 * part(1.0, above - 1.0).powi(2)
        } else {
            0.5 * part(most, most - above).powi(2)
        }
    }

    /// Active force over the normalized velocity, with its slope.
    fn force_of_velocity(&self, v: f64) -> (f64, f64) {
        let above = self.lengthening - 1.0;
        if v <= -1.0 {
            (0.0, 0.0)
        } else if v <= 0.0 {
            ((v + 1.0) * (v + 1.0), 2.0 * (v + 1.0))
        } else if v <= above {
            let left = above - v;
            (self.lengthening - left * left / above.max(LEAST), 2.0 * left / above.max(LEAST))
        } else {
            (self.lengthening, 0.0)
        }
    }

    /// Passive force of a stretched muscle: it pulls.
    fn passive(&self, length: f64) -> Value {
        let x = self.normalized(length);
        let above = 0.5 * (1.0 + self.reach[1]);
        let (width, scale) = ((above - 1.0).max(LEAST), -self.peak * self.passive);
        let (at, slope) = if x <= 1.0 {
            (0.0, 0.0)
        } else if x <= above {
            let part = (x - 1.0) / width;
            (0.5 * part * part, part)
        } else {
            (0.5 + (x - above) / width, 1.0)
        };
        Value { at: scale * at, by_length: scale * slope / width / self.optimal().max(LEAST), by_velocity: 0.0 }
    }
}

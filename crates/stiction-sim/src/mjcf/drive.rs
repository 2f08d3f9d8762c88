//! What drives an actuator: gain, bias and limits, as its element and the defaults behind it set them.

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::notes::Notes;
use super::tree::Element;
use crate::actuation::{Dynamics, Law, Muscle};
use crate::description::NoteKind;
use crate::error::SceneError;

/// Parameters of a muscle as its element gives them: range, peak force, scale, least and largest length, fastest shortening, passive force,
/// force of lengthening.
const MUSCLE: [f64; 9] = [0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2];

/// The parameters of an actuator.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    dynamics: &'static str,
    gain_type: &'static str,
    bias_type: &'static str,
    pub(super) gain: [f64; 10],
    pub(super) bias: [f64; 10],
    dynamics_parameters: [f64; 10],
    muscle: [f64; 9],
    muscle_times: [f64; 3],
    pub(super) gear: [f64; 6],
    pub(super) group: f64,
    pub(super) armature: f64,
    pub(super) damping: f64,
    control_range: Option<[f64; 2]>,
    control_limited: Option<bool>,
    pub(super) force_range: Option<[f64; 2]>,
    pub(super) force_limited: Option<bool>,
    activation_range: Option<[f64; 2]>,
    activation_limited: Option<bool>,
    pub(super) length_range: Option<[f64; 2]>,
    inherit_range: f64,
    pub(super) early: bool,
    delay: f64,
}

impl Default for Drive {
    fn default() -> Self {
        let mut one = [0.0; 10];
        one[0] = 1.0;
        Self {
            dynamics: "none",
            gain_type: "fixed",
            bias_type: "none",
            gain: one,
            bias: [0.0; 10],
            dynamics_parameters: one,
            muscle: MUSCLE,
            muscle_times: [0.01, 0.04, 0.0],
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            group: 0.0,
            armature: 0.0,
            damping: 0.0,
            control_range: None,
            control_limited: None,
            force_range: None,
            force_limited: None,
            activation_range: None,
            activation_limited: None,
            length_range: None,
            inherit_range: 0.0,
            early: false,
            delay: 0.0,
        }
    }
}

const DYNAMICS: [&str; 9] =
    ["none", "integrator", "filter", "filterexact", "muscle", "user", "pid", "dcmotor", "activation"];
const GAINS: [&str; 7] = ["fixed", "affine", "muscle", "user", "dcmotor", "pid", "so3"];
const BIASES: [&str; 6] = ["none", "affine", "muscle", "user", "dcmotor", "so3"];

/// Kinds of actuators that are understood.
const KINDS: [&str; 9] =
    ["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"];

impl Drive {
    /// The parameters of an actuator; none, with a note, if it is of a kind that is not supported.
    pub(super) fn read(element: &Element, defaults: &Defaults, notes: &mut Notes) -> Result<Option<Self>, SceneError> {
        if !KINDS.contains(&element.name.as_str()) {
            defaults.check(element, "class")?;
            notes.element(NoteKind::NotYet, element, "this kind of actuator is not supported: it does nothing");
            return Ok(None);
        }
        let mut drive = Self::default();
        for layer in defaults.actuator_layers(element)? {
            drive.apply(layer)?;
        }
        drive.apply(element)?;
        drive.note_unsupported(element, notes)
    }

    /// Sets what an element of any kind sets.
    fn apply(&mut self, element: &Element) -> Result<(), SceneError> {
        let a = Attributes::of(element);
        self.gear = a.merged::<6>("gear", self.gear)?.0;
        self.group = a.number("group")?.unwrap_or(self.group);
        self.armature = a.nonnegative("armature")?.unwrap_or(self.armature);
        self.damping = a.merged::<3>("damping", [self.damping, 0.0, 0.0])?.0[0];
        self.control_range = a.range("ctrlrange")?.or(self.control_range);
        self.force_range = a.range("forcerange")?.or(self.force_range);
        self.activation_range = a.range("actrange")?.or(self.activation_range);
        self.length_range = a.numbers::<2>("lengthrange")?.or(self.length_range);
        self.early = a.flag("actearly")?.unwrap_or(self.early);
        self.delay = a.nonnegative("delay")?.unwrap_or(self.delay);
        for (name, limited) in [
            ("ctrllimited", &mut self.control_limited),
            ("forcelimited", &mut self.force_limited),
            ("actlimited", &mut self.activation_limited),
        ] {
            if a.has(name) {
                *limited = a.automatic(name)?;
            }
        }
        match element.name.as_str() {
            "general" => self.general(&a),
            "motor" => {
                let plain = Self::default();
                (self.gain, self.bias) = (plain.gain, plain.bias);
                self.set_types("none", "fixed", "none");
                Ok(())
            }
            "position" => self.position(&a),
            "velocity" => {
                let kv = a.nonnegative("kv")?.unwrap_or(self.gain[0]);
                (self.gain, self.bias) = ([0.0; 10], [0.0; 10]);
                (self.gain[0], self.bias[2]) = (kv, -kv);
                self.set_types("none", "fixed", "affine");
                Ok(())
            }
            "intvelocity" => {
                self.position(&a)?;
                self.activation_limited = self.activation_limited.or(Some(true));
                self.set_types("integrator", "fixed", "affine");
                Ok(())
            }
            "damper" => {
                let kv = a.nonnegative("kv")?.unwrap_or(-self.gain[2]);
                (self.gain, self.bias) = ([0.0; 10], [0.0; 10]);
                self.gain[2] = -kv;
                self.control_limited = Some(true);
                self.set_types("none", "affine", "none");
                Ok(())
            }
            "cylinder" => self.cylinder(&a),
            "muscle" => self.muscle(&a),
            "adhesion" => {
                let gain = a.nonnegative("gain")?.unwrap_or(self.gain[0]);
                (self.gain, self.bias) = ([0.0; 10], [0.0; 10]);
                self.gain[0] = gain;
                self.control_limited = Some(true);
                self.set_types("none", "fixed", "none");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn set_types(&mut self, dynamics: &'static str, gain: &'static str, bias: &'static str) {
        (self.dynamics, self.gain_type, self.bias_type) = (dynamics, gain, bias);
    }

    fn general(&mut self, a: &Attributes) -> Result<(), SceneError> {
        self.dynamics = a.keyword("dyntype", &DYNAMICS)?.unwrap_or(self.dynamics);
        self.gain_type = a.keyword("gaintype", &GAINS)?.unwrap_or(self.gain_type);
        self.bias_type = a.keyword("biastype", &BIASES)?.unwrap_or(self.bias_type);
        self.gain = a.merged::<10>("gainprm", self.gain)?.0;
        self.bias = a.merged::<10>("biasprm", self.bias)?.0;
        self.dynamics_parameters = a.merged::<10>("dynprm", self.dynamics_parameters)?.0;
        self.inherit_range = a.nonnegative("inheritrange")?.unwrap_or(self.inherit_range);
        Ok(())
    }

    fn position(&mut self, a: &Attributes) -> Result<(), SceneError> {
        let kp = a.nonnegative("kp")?.unwrap_or(self.gain[0]);
        let (kv, ratio) = (a.nonnegative("kv")?, a.nonnegative("dampratio")?);
        if kv.is_some() && ratio.is_some() {
            return Err(a.error("dampratio", "give either kv or dampratio"));
        }
        (self.gain[0], self.bias[1]) = (kp, -kp);
        if let Some(kv) = kv {
            self.bias[2] = -kv;
        }
        // A positive coefficient of the velocity is the damping ratio, as in compiled models.
        if let Some(ratio) = ratio {
            self.bias[2] = ratio;
        }
        if let Some(time) = a.nonnegative("timeconst")? {
            self.dynamics_parameters[0] = time;
            self.dynamics = if time > 0.0 { "filterexact" } else { "none" };
        }
        self.inherit_range = a.nonnegative("inheritrange")?.unwrap_or(self.inherit_range);
        (self.gain_type, self.bias_type) = ("fixed", "affine");
        Ok(())
    }

    /// A pneumatic or hydraulic cylinder: pressure follows the control.
    fn cylinder(&mut self, a: &Attributes) -> Result<(), SceneError> {
        self.dynamics_parameters[0] = a.nonnegative("timeconst")?.unwrap_or(self.dynamics_parameters[0]);
        self.gain[0] = a.number("area")?.unwrap_or(self.gain[0]);
        if let Some(diameter) = a.number("diameter")? {
            self.gain[0] = 0.25 * std::f64::consts::PI * diameter * diameter;
        }
        let [c0, c1, c2] = a.merged::<3>("bias", [self.bias[0], self.bias[1], self.bias[2]])?.0;
        (self.bias[0], self.bias[1], self.bias[2]) = (c0, c1, c2);
        self.set_types("filter", "fixed", "affine");
        Ok(())
    }

    fn muscle(&mut self, a: &Attributes) -> Result<(), SceneError> {
        let [rise, fall] = a.merged::<2>("timeconst", [self.muscle_times[0], self.muscle_times[1]])?.0;
        self.muscle_times = [rise, fall, a.nonnegative("tausmooth")?.unwrap_or(self.muscle_times[2])];
        let [low, high] = a.merged::<2>("range", [self.muscle[0], self.muscle[1]])?.0;
        (self.muscle[0], self.muscle[1]) = (low, high);
        let names = ["force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"];
        for (name, x) in names.into_iter().zip(&mut self.muscle[2..]) {
            *x = a.number(name)?.unwrap_or(*x);
        }
        self.gain[..9].copy_from_slice(&self.muscle);
        self.bias[..9].copy_from_slice(&self.muscle);
        self.dynamics_parameters[..3].copy_from_slice(&self.muscle_times);
        self.set_types("muscle", "muscle", "muscle");
        Ok(())
    }

    fn note_unsupported(mut self, element: &Element, notes: &mut Notes) -> Result<Option<Self>, SceneError> {
        let known = ["none", "integrator", "filter", "filterexact", "muscle"].contains(&self.dynamics)
            && ["fixed", "affine", "muscle"].contains(&self.gain_type)
            && ["none", "affine", "muscle"].contains(&self.bias_type);
        if !known {
            let text = "actuators with such dynamics, gain or bias are not supported: it does nothing";
            notes.element(NoteKind::NotYet, element, text);
            return Ok(None);
        }
        if self.delay > 0.0 {
            notes.attribute(NoteKind::NotYet, element, "delay", "delays are not supported: control acts at once");
        }
        if self.bias_type == "none" {
            self.bias = [0.0; 10];
        }
        Ok(Some(self))
    }

    /// How its activation follows the control.
    pub(super) fn dynamics(&self) -> Dynamics {
        let [first, second, third, ..] = self.dynamics_parameters;
        match self.dynamics {
            "integrator" => Dynamics::Integrator,
            "filter" => Dynamics::Filter(first),
            "filterexact" => Dynamics::FilterExact(first),
            "muscle" => Dynamics::Muscle { time: [first, second], smoothing: third },
            _ => Dynamics::None,
        }
    }

    /// True if it is a muscle, whose force depends on the range of its lengths.
    pub(super) fn is_muscle(&self) -> bool {
        self.gain_type == "muscle" || self.bias_type == "muscle"
    }

    /// Gain and bias; for a muscle, the lengths of its range and the acceleration that a unit of force gives are needed.
    pub(super) fn laws(&self, lengths: [f64; 2], acceleration: f64) -> [Law; 2] {
        let law = |kind: &str, p: &[f64; 10]| match kind {
            "fixed" => Law::Affine([p[0], 0.0, 0.0]),
            "affine" => Law::Affine([p[0], p[1], p[2]]),
            "muscle" => Law::Muscle(Muscle {
                range: [p[0], p[1]],
                lengths,
                peak: if p[2] < 0.0 { p[3] / acceleration.max(1e-15) } else { p[2] },
                reach: [p[4], p[5]],
                fastest: p[6],
                passive: p[7],
                lengthening: p[8],
            }),
            _ => Law::NONE,
        };
        [law(self.gain_type, &self.gain), law(self.bias_type, &self.bias)]
    }

    /// The range of activations.
    pub(super) fn activation_range(
        &self,
        target: Option<[f64; 2]>,
        compiler: &Compiler,
        a: &Attributes,
    ) -> Result<[f64; 2], SceneError> {
        if self.dynamics == "integrator" && self.inherit_range > 0.0 && self.activation_range.is_none() {
            return self.inherited(target, a);
        }
        self.limited("actrange", self.activation_range, self.activation_limited, compiler, a)
    }

    fn inherited(&self, target: Option<[f64; 2]>, a: &Attributes) -> Result<[f64; 2], SceneError> {
        let [low, high] = target.ok_or_else(|| a.error("inheritrange", "the target has no range to inherit"))?;
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low) * self.inherit_range);
        Ok([middle - half, middle + half])
    }

    /// The damping ratio of a position actuator that gives one in place of a damping.
    pub(super) fn damping_ratio(&self) -> Option<f64> {
        (self.bias[1] < 0.0 && self.gain[0] == -self.bias[1] && self.bias[2] > 0.0).then_some(self.bias[2])
    }

    /// A range that limits, or one that does not.
    pub(super) fn limited(
        &self,
        name: &str,
        range: Option<[f64; 2]>,
        limited: Option<bool>,
        compiler: &Compiler,
        a: &Attributes,
    ) -> Result<[f64; 2], SceneError> {
        if !limited.unwrap_or(compiler.at(a).autolimits && range.is_some()) {
            return Ok([f64::NEG_INFINITY, f64::INFINITY]);
        }
        match range {
            Some(range) if range[0] <= range[1] => Ok(range),
            Some([low, high]) => Err(a.error(name, format!("expected an increasing range, found {low} to {high}"))),
            None => Err(a.error(name, "is limited, but has no range")),
        }
    }

    /// The range of controls; that of the target if the actuator inherits it.
    pub(super) fn control_range(
        &self,
        target: Option<[f64; 2]>,
        compiler: &Compiler,
        a: &Attributes,
    ) -> Result<[f64; 2], SceneError> {
        if self.inherit_range > 0.0 && self.control_range.is_none() && self.dynamics != "integrator" {
            return self.inherited(target, a);
        }
        self.limited("ctrlrange", self.control_range, self.control_limited, compiler, a)
    }
}

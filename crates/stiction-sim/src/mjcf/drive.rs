//! What drives an actuator: gain, bias and limits, as its element and the defaults behind it set them.

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::notes::Notes;
use super::tree::Element;
use crate::description::NoteKind;
use crate::error::SceneError;

/// The parameters of an actuator.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    dynamics: &'static str,
    gain_type: &'static str,
    bias_type: &'static str,
    pub(super) gain: [f64; 10],
    pub(super) bias: [f64; 10],
    time_constant: f64,
    pub(super) gear: f64,
    pub(super) group: f64,
    pub(super) armature: f64,
    pub(super) damping: f64,
    control_range: Option<[f64; 2]>,
    control_limited: Option<bool>,
    pub(super) force_range: Option<[f64; 2]>,
    pub(super) force_limited: Option<bool>,
    inherit_range: f64,
    delay: f64,
}

impl Default for Drive {
    fn default() -> Self {
        let mut gain = [0.0; 10];
        gain[0] = 1.0;
        Self {
            dynamics: "none",
            gain_type: "fixed",
            bias_type: "none",
            gain,
            bias: [0.0; 10],
            time_constant: 1.0,
            gear: 1.0,
            group: 0.0,
            armature: 0.0,
            damping: 0.0,
            control_range: None,
            control_limited: None,
            force_range: None,
            force_limited: None,
            inherit_range: 0.0,
            delay: 0.0,
        }
    }
}

const DYNAMICS: [&str; 9] =
    ["none", "integrator", "filter", "filterexact", "muscle", "user", "pid", "dcmotor", "activation"];
const GAINS: [&str; 7] = ["fixed", "affine", "muscle", "user", "dcmotor", "pid", "so3"];
const BIASES: [&str; 6] = ["none", "affine", "muscle", "user", "dcmotor", "so3"];

impl Drive {
    /// The parameters of an actuator; none, with a note, if it is of a kind that is not supported.
    pub(super) fn read(element: &Element, defaults: &Defaults, notes: &mut Notes) -> Result<Option<Self>, SceneError> {
        if !matches!(element.name.as_str(), "general" | "motor" | "position" | "velocity") {
            defaults.check(element, "class")?;
            notes.element(NoteKind::NotYet, element, "this kind of actuator is not supported: left out");
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
        self.gear = a.merged::<6>("gear", [self.gear, 0.0, 0.0, 0.0, 0.0, 0.0])?.0[0];
        self.group = a.number("group")?.unwrap_or(self.group);
        self.armature = a.nonnegative("armature")?.unwrap_or(self.armature);
        self.damping = a.merged::<3>("damping", [self.damping, 0.0, 0.0])?.0[0];
        self.control_range = a.range("ctrlrange")?.or(self.control_range);
        self.force_range = a.range("forcerange")?.or(self.force_range);
        self.delay = a.nonnegative("delay")?.unwrap_or(self.delay);
        if a.has("ctrllimited") {
            self.control_limited = a.automatic("ctrllimited")?;
        }
        if a.has("forcelimited") {
            self.force_limited = a.automatic("forcelimited")?;
        }
        match element.name.as_str() {
            "general" => self.general(&a),
            "motor" => {
                let plain = Self::default();
                (self.gain, self.bias) = (plain.gain, plain.bias);
                (self.dynamics, self.gain_type, self.bias_type) = ("none", "fixed", "none");
                Ok(())
            }
            "position" => self.position(&a),
            "velocity" => {
                let kv = a.nonnegative("kv")?.unwrap_or(self.gain[0]);
                (self.gain, self.bias) = ([0.0; 10], [0.0; 10]);
                (self.gain[0], self.bias[2]) = (kv, -kv);
                (self.dynamics, self.gain_type, self.bias_type) = ("none", "fixed", "affine");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn general(&mut self, a: &Attributes) -> Result<(), SceneError> {
        self.dynamics = a.keyword("dyntype", &DYNAMICS)?.unwrap_or(self.dynamics);
        self.gain_type = a.keyword("gaintype", &GAINS)?.unwrap_or(self.gain_type);
        self.bias_type = a.keyword("biastype", &BIASES)?.unwrap_or(self.bias_type);
        self.gain = a.merged::<10>("gainprm", self.gain)?.0;
        self.bias = a.merged::<10>("biasprm", self.bias)?.0;
        let [time, ..] = a.merged::<10>("dynprm", [self.time_constant; 10])?.0;
        self.time_constant = time;
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
            self.time_constant = time;
            self.dynamics = if time > 0.0 { "filterexact" } else { "none" };
        }
        self.inherit_range = a.nonnegative("inheritrange")?.unwrap_or(self.inherit_range);
        (self.gain_type, self.bias_type) = ("fixed", "affine");
        Ok(())
    }

    fn note_unsupported(mut self, element: &Element, notes: &mut Notes) -> Result<Option<Self>, SceneError> {
        match self.dynamics {
            "none" => {}
            "filter" | "filterexact" => {
                let text = "the filter between control and force is not supported: it acts at once";
                notes.element(NoteKind::NotYet, element, text);
            }
            _ => {
                notes.element(NoteKind::NotYet, element, "actuators with such dynamics are not supported: left out");
                return Ok(None);
            }
        }
        if self.delay > 0.0 {
            notes.attribute(NoteKind::NotYet, element, "delay", "delays are not supported: control acts at once");
        }
        if self.bias_type == "none" {
            self.bias = [0.0; 10];
        }
        let gain = self.gain_type == "fixed" || self.gain_type == "affine" && self.gain[1..3] == [0.0; 2];
        if !gain || !["none", "affine"].contains(&self.bias_type) {
            notes.element(NoteKind::NotYet, element, "this kind of gain or bias is not supported: left out");
            return Ok(None);
        }
        Ok(Some(self))
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
        if !limited.unwrap_or(compiler.autolimits && range.is_some()) {
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
        if self.inherit_range > 0.0 && self.control_range.is_none() {
            let message = "the target has no range to inherit";
            let [low, high] = target.ok_or_else(|| a.error("inheritrange", message))?;
            let (middle, half) = (0.5 * (low + high), 0.5 * (high - low) * self.inherit_range);
            return Ok([middle - half, middle + half]);
        }
        self.limited("ctrlrange", self.control_range, self.control_limited, compiler, a)
    }
}

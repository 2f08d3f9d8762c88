//! Joints of a body.

use stiction_body::JointProperties;
use stiction_body::math::{Pose, Vec3};

use super::attributes::Attributes;
use super::compiler::{Compiler, Options};
use super::frames::unit;
use super::notes::Notes;
use super::tree::Element;
use crate::description::NoteKind;
use crate::error::SceneError;

/// The kind of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JointType {
    Hinge,
    Slide,
    Ball,
    Free,
}

/// A joint in the frame of its body.
#[derive(Debug)]
pub(super) struct Joint<'a> {
    pub(super) element: &'a Element,
    pub(super) name: String,
    pub(super) kind: JointType,
    /// A point on the axis.
    pub(super) anchor: Vec3,
    /// Unit axis.
    pub(super) axis: Vec3,
    /// The coordinate at which the body is where the file puts it.
    pub(super) reference: f64,
    pub(super) properties: JointProperties,
    /// Stiffness of a ball or free joint.
    pub(super) turn_stiffness: f64,
    /// Least and largest total effort of its actuators.
    pub(super) effort: Option<[f64; 2]>,
    /// Time constant and damping ratio that stiffness and damping are to be computed from.
    pub(super) spring_damper: Option<[f64; 2]>,
}

impl<'a> Joint<'a> {
    /// Reads a joint that stands in `frame` in its body.
    pub(super) fn read(
        element: &'a Element,
        name: String,
        a: &Attributes,
        frame: Pose,
        compiler: &Compiler,
        options: &Options,
        notes: &mut Notes,
    ) -> Result<Self, SceneError> {
        let compiler = compiler.at(a);
        let kind = match a.keyword("type", &["free", "ball", "slide", "hinge"])? {
            _ if element.name == "freejoint" => JointType::Free,
            Some("free") => JointType::Free,
            Some("ball") => JointType::Ball,
            Some("slide") => JointType::Slide,
            _ => JointType::Hinge,
        };
        if element.text("align") == Some("true") {
            let text = "free bodies keep their own frames: positions in keyframes may be of other frames";
            notes.attribute(NoteKind::Changed, element, "align", text);
        }
        let scalar = matches!(kind, JointType::Hinge | JointType::Slide);
        let axis = match a.vector("axis")? {
            Some(axis) if scalar => unit(a, "axis", axis)?,
            _ => Vec3::Z,
        };
        let angle = if kind == JointType::Slide { 1.0 } else { compiler.angle };
        let shift = |name: &str| Ok(if scalar { a.number(name)?.unwrap_or(0.0) * angle } else { 0.0 });
        let mut joint = Self {
            element,
            name,
            kind,
            anchor: frame.transform_point(a.vector("pos")?.unwrap_or(Vec3::ZERO)),
            axis: frame.rotation * axis,
            reference: shift("ref")?,
            properties: JointProperties { rest: shift("springref")?, ..JointProperties::default() },
            turn_stiffness: 0.0,
            effort: effort(a, compiler, scalar)?,
            spring_damper: a.numbers::<2>("springdamper")?.filter(|[t, r]| scalar && *t > 0.0 && *r > 0.0),
        };
        if !options.is_off("limit") {
            joint.limits(a, compiler, angle, notes)?;
        }
        joint.passive(a, options, notes)?;
        Ok(joint)
    }

    fn limits(&mut self, a: &Attributes, compiler: &Compiler, angle: f64, notes: &mut Notes) -> Result<(), SceneError> {
        let range = a.range("range")?;
        let limited = a.automatic("limited")?.unwrap_or(compiler.autolimits && range.is_some());
        if !limited || self.kind == JointType::Free {
            if range.is_some() && !a.has("limited") && self.kind != JointType::Free {
                let text = "without \"limited\" and with autolimits off there are no limits";
                notes.attribute(NoteKind::Warning, self.element, "range", text);
            }
            return Ok(());
        }
        let [low, high] = range.unwrap_or([0.0; 2]);
        let ball = self.kind == JointType::Ball;
        if ball && (low != 0.0 || high < 0.0) {
            let text = format!("of a ball joint is 0 and its largest angle, found {low} and {high}");
            return Err(a.error("range", text));
        }
        if low > high || low == high && !ball {
            return Err(a.error("range", format!("expected an increasing range, found {low} to {high}")));
        }
        // As in MuJoCo an empty range limits a ball only where the file says that it does.
        if low < high || a.automatic("limited")?.is_some() {
            self.properties.limits = [low * angle, high * angle];
        }
        Ok(())
    }

    /// Springs, damping, friction, armature.
    fn passive(&mut self, a: &Attributes, options: &Options, notes: &mut Notes) -> Result<(), SceneError> {
        let scalar = matches!(self.kind, JointType::Hinge | JointType::Slide);
        let mut coefficient = |name: &str, part: &str| -> Result<f64, SceneError> {
            let [linear, others @ ..] = a.merged::<3>(name, [0.0; 3])?.0;
            if options.is_off(part) {
                return Ok(0.0);
            }
            if linear < 0.0 {
                let text = "below 0 in the file, taken as 0: it would add energy";
                notes.attribute(NoteKind::Changed, self.element, name, text);
            }
            if others != [0.0; 2] {
                notes.attribute(NoteKind::NotYet, self.element, name, "only linear springs and dampers are supported");
            }
            Ok(linear.max(0.0))
        };
        let p = &mut self.properties;
        p.damping = coefficient("damping", "damper")?;
        p.stiffness = coefficient("stiffness", "spring")?;
        if !scalar {
            self.turn_stiffness = std::mem::take(&mut p.stiffness);
        }
        p.armature = a.nonnegative("armature")?.unwrap_or(0.0);
        p.friction = match options.is_off("frictionloss") {
            true => 0.0,
            false => a.nonnegative("frictionloss")?.unwrap_or(0.0),
        };
        Ok(())
    }
}

/// `actuatorfrcrange`, if it limits.
fn effort(a: &Attributes, compiler: &Compiler, scalar: bool) -> Result<Option<[f64; 2]>, SceneError> {
    let range = a.range("actuatorfrcrange")?;
    let limited = a.automatic("actuatorfrclimited")?.unwrap_or(compiler.autolimits && range.is_some());
    match range.filter(|_| limited && scalar) {
        Some([low, high]) if low > high => Err(a.error("actuatorfrcrange", "expected an increasing range")),
        range => Ok(range),
    }
}

//! Controllers of a scene.

use stiction_body::math::Vec3;

use super::bodies::Names;
use super::section::Section;
use crate::control::{ActuatorControl, Controller, Joint, JointEffort, JointMotion, JointServo, Signal, Wrench};
use crate::error::{SceneError, nearest};
use crate::world::World;

/// A controller of a scene: what it does is in [`crate::control`].
#[derive(Debug, Clone, PartialEq)]
pub enum SceneController {
    /// `type = "servo"`.
    Servo(JointServo),
    /// `type = "effort"`.
    Effort(JointEffort),
    /// `type = "motion"`.
    Motion(JointMotion),
    /// `type = "wrench"`.
    Wrench(Wrench),
    /// `type = "actuator"`.
    Actuator(ActuatorControl),
}

impl SceneController {
    /// A controller at its start.
    pub fn build(&self) -> Box<dyn Controller> {
        match self.clone() {
            Self::Servo(c) => Box::new(c),
            Self::Effort(c) => Box::new(c),
            Self::Motion(c) => Box::new(c),
            Self::Wrench(c) => Box::new(c),
            Self::Actuator(c) => Box::new(c),
        }
    }
}

pub(crate) fn read(sections: &[Section<'_>], world: &World, names: &Names) -> Result<Vec<SceneController>, SceneError> {
    let mut all = Vec::new();
    let mut sources = Vec::new();
    for section in sections {
        one(section, world, names, &mut all)?;
        section.finish()?;
        sources.resize(all.len(), section);
    }
    // A joint that moves as told takes whatever that needs: nothing else can drive it.
    for (section, controller) in sources.iter().zip(&all) {
        let driven = match controller {
            SceneController::Servo(c) => c.joint,
            SceneController::Effort(c) => c.joint,
            _ => continue,
        };
        if all.iter().any(|c| matches!(c, SceneController::Motion(m) if m.joint == driven)) {
            let key = if section.has("joints") { "joints" } else { "joint" };
            return Err(
                section.error(key, "this joint moves as a controller of type \"motion\" says: nothing else drives it")
            );
        }
    }
    // Motors of robots without a control of their own hold that of the start.
    let controlled = |i: usize| all.iter().any(|c| matches!(c, SceneController::Actuator(a) if a.actuator == i));
    let rest: Vec<_> = (0..world.actuators.len()).filter(|i| !controlled(*i)).collect();
    for actuator in rest {
        let control = Signal::constant(world.control[actuator]);
        all.push(SceneController::Actuator(ActuatorControl { actuator, control }));
    }
    Ok(all)
}

fn one(section: &Section<'_>, world: &World, names: &Names, all: &mut Vec<SceneController>) -> Result<(), SceneError> {
    let zero = || Signal::constant(0.0);
    match section.needed_string("type")?.as_str() {
        "servo" => {
            let gain = |key: &'static str| -> Result<f64, SceneError> {
                match section.number(key)?.unwrap_or(0.0) {
                    x if x >= 0.0 && x.is_finite() => Ok(x),
                    x => Err(section.error(key, format!("must be at least 0 and finite, found {x}"))),
                }
            };
            let (kp, ki, kd) = (gain("kp")?, gain("ki")?, gain("kd")?);
            let (target, velocity) = (section.signal("target")?, section.signal("velocity")?);
            for joint in joints(section, world, names)? {
                let hold = || Signal::constant(world.q[joint.q]);
                let target = target.clone().unwrap_or_else(hold);
                let velocity = velocity.clone().unwrap_or_else(zero);
                all.push(SceneController::Servo(JointServo { joint, kp, ki, kd, target, velocity, integral: 0.0 }));
            }
        }
        "effort" => {
            let effort = section.signal("effort")?.ok_or_else(|| section.missing("effort"))?;
            for joint in joints(section, world, names)? {
                all.push(SceneController::Effort(JointEffort { joint, effort: effort.clone() }));
            }
        }
        "motion" => {
            let position = section.signal("position")?.ok_or_else(|| section.missing("position"))?;
            for joint in joints(section, world, names)? {
                all.push(SceneController::Motion(JointMotion { joint, position: position.clone() }));
            }
        }
        "wrench" => {
            let body = section.needed_string("body")?;
            let link = names.link(section, "body", &body)?;
            let point = section.numbers::<3>("point")?.map_or(Vec3::ZERO, Vec3::from_array);
            let force = section.signals("force")?.unwrap_or_else(|| [zero(), zero(), zero()]);
            let torque = section.signals("torque")?.unwrap_or_else(|| [zero(), zero(), zero()]);
            all.push(SceneController::Wrench(Wrench { link, point, force, torque }));
        }
        "actuator" => {
            let name = section.needed_string("actuator")?;
            let Some(actuator) = world.actuators.iter().position(|a| a.name == name) else {
                let hint = nearest(&name, world.actuators.iter().map(|a| a.name.as_str()));
                let hint = hint.map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
                return Err(section.error("actuator", format!("there is no actuator called \"{name}\"{hint}")));
            };
            let control = section.signal("control")?.ok_or_else(|| section.missing("control"))?;
            all.push(SceneController::Actuator(ActuatorControl { actuator, control }));
        }
        other => {
            let known = ["servo", "effort", "motion", "wrench", "actuator"];
            return Err(section.error("type", format!("expected one of {}, found \"{other}\"", known.join(", "))));
        }
    }
    Ok(())
}

/// The joints a controller names: `joint`, or `joints`.
fn joints(section: &Section<'_>, world: &World, names: &Names) -> Result<Vec<Joint>, SceneError> {
    let key = if section.has("joints") { "joints" } else { "joint" };
    let list = section.strings(key)?.ok_or_else(|| section.missing("joint"))?;
    let one = |name: &String| {
        let link = names.joint(section, key, name)?;
        joint_of(world, link).ok_or_else(|| section.error(key, format!("\"{name}\" has not just one velocity")))
    };
    list.iter().map(one).collect()
}

/// The place of a joint with one velocity.
fn joint_of(world: &World, link: usize) -> Option<Joint> {
    let link = &world.model.links()[link];
    (link.v.len() == 1).then_some(Joint { q: link.q.start, v: link.v.start })
}

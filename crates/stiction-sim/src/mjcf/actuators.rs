//! Actuators on joints, and on fixed tendons whose joints follow one of them.
//!
//! All kinds are one in the format: `force = gain · control + bias₀ + bias₁ · length + bias₂ · velocity`, with `length = gear · q`. Shortcuts
//! set gain and bias.

use super::attributes::Attributes;
use super::compiler::{Compiler, Options};
use super::defaults::Defaults;
use super::drive::Drive;
use super::links::{AtReference, Links};
use super::notes::Notes;
use super::tendons::Tendon;
use super::tree::Element;
use crate::description::{Actuator, ActuatorKind, Description, NoteKind};
use crate::error::{SceneError, nearest};

/// What an actuator acts on.
struct Target {
    /// The link whose joint it moves.
    link: usize,
    /// `length = ratio · q + offset`, before the gear.
    ratio: f64,
    offset: f64,
    /// The joints themselves, with coefficients.
    joints: Vec<(usize, f64)>,
    /// The range of joint or tendon, if limited.
    range: Option<[f64; 2]>,
}

/// Writes actuators; first their rotors, which change the inertia that some are tuned to.
pub(super) fn write<'a>(
    root: &'a Element,
    links: &mut Links<'a>,
    tendons: &[Tendon],
    defaults: &Defaults<'a>,
    compiler: &Compiler,
    options: &Options,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let mut found = vec![];
    for element in root.all("actuator").flat_map(|s| &s.children) {
        let drive = Drive::read(element, defaults, notes)?;
        let Some(drive) = drive else { continue };
        if options.actuator_groups_off.contains(&drive.group) {
            notes.element(NoteKind::Ignored, element, "its group is switched off by the file");
            continue;
        }
        let Some(target) = target(element, links, tendons, out, notes)? else { continue };
        found.push((element, drive, target));
    }
    for (element, drive, target) in &found {
        add_rotor(element, drive, target, links, notes);
    }
    let tuned = found.iter().any(|(_, drive, _)| drive.damping_ratio().is_some());
    let mut at_reference = if tuned { Some(AtReference::new(links)?) } else { None };
    for (element, mut drive, target) in found {
        if let (Some(ratio), Some(model)) = (drive.damping_ratio(), &mut at_reference) {
            let along: Vec<(usize, f64)> = target.joints.iter().map(|(l, c)| (*l, c * drive.gear)).collect();
            drive.bias[2] = -2.0 * ratio * (drive.gain[0] * model.reflected_inertia(&along)).max(0.0).sqrt();
        }
        let number = out.actuators.len();
        out.actuators.extend(actuator(element, &drive, &target, number, compiler, notes)?);
    }
    limit_joints(links, notes, out);
    Ok(())
}

/// The joint an actuator moves; none, with a note, if it moves something else.
fn target(
    element: &Element,
    links: &Links,
    tendons: &[Tendon],
    out: &Description,
    notes: &mut Notes,
) -> Result<Option<Target>, SceneError> {
    for attribute in ["joint", "jointinparent"] {
        let Some(name) = element.text(attribute) else { continue };
        let joint = links.joint(element, attribute, name)?;
        if !joint.is_scalar() {
            notes.element(NoteKind::NotYet, element, "actuators on ball and free joints are not supported: left out");
            return Ok(None);
        }
        let limits = links.specs[joint.link].properties.limits;
        let range = Some(limits).filter(|l| l[0].is_finite());
        return Ok(Some(Target { link: joint.link, ratio: 1.0, offset: 0.0, joints: vec![(joint.link, 1.0)], range }));
    }
    if let Some(name) = element.text("tendon") {
        let tendon = tendons.iter().find(|t| t.name == name && !name.is_empty());
        let tendon = tendon.ok_or_else(|| {
            let near = nearest(name, tendons.iter().map(|t| t.name.as_str()));
            let near = near.map_or(String::new(), |n| format!(" (did you mean \"{n}\"?)"));
            element.attribute_error("tendon", format!("there is no tendon \"{name}\"{near}"))
        })?;
        let target = tendon_target(tendon, out);
        if target.is_none() {
            let text = "actuators on tendons whose joints move independently are not supported: left out";
            notes.element(NoteKind::NotYet, element, text);
        }
        return Ok(target);
    }
    let others = ["site", "refsite", "body", "cranksite", "slidersite"];
    if others.iter().all(|a| element.text(a).is_none()) {
        return Err(element.error("needs something to act on: a joint, tendon, site or body"));
    }
    notes.element(NoteKind::NotYet, element, "actuators on sites, bodies and cranks are not supported: left out");
    Ok(None)
}

/// A tendon all of whose joints follow one: `Σ c (m q + o) = (Σ c m) q + Σ c o`.
fn tendon_target(tendon: &Tendon, out: &Description) -> Option<Target> {
    let (mut ratio, mut offset, mut leader) = (0.0, 0.0, None);
    for &(link, coefficient) in &tendon.joints {
        let (lead, m, o) = followed(link, out);
        if *leader.get_or_insert(lead) != lead {
            return None;
        }
        ratio += coefficient * m;
        offset += coefficient * o;
    }
    Some(Target { link: leader?, ratio, offset, joints: tendon.joints.clone(), range: tendon.range })
}

/// The joint that a joint follows in the end: its link, and `q = m · q_leader + o`.
fn followed(mut link: usize, out: &Description) -> (usize, f64, f64) {
    let (mut m, mut o) = (1.0, 0.0);
    // No ring of mimics is ever written; the bound is their number.
    for _ in 0..out.mimics.len() {
        let Some(mimic) = out.mimics.iter().find(|x| x.link == link) else { break };
        o += m * mimic.offset;
        m *= mimic.multiplier;
        link = mimic.of;
    }
    (link, m, o)
}

/// An actuator's armature and damping, seen at its joint.
fn add_rotor(element: &Element, drive: &Drive, target: &Target, links: &mut Links, notes: &mut Notes) {
    if drive.armature == 0.0 && drive.damping == 0.0 {
        return;
    }
    if target.joints.len() > 1 {
        let text = "armature and damping of actuators on tendons are not supported: left out";
        return notes.element(NoteKind::NotYet, element, text);
    }
    let square = (drive.gear * target.ratio).powi(2);
    let properties = &mut links.specs[target.link].properties;
    properties.armature += drive.armature * square;
    properties.damping += drive.damping * square;
}

/// The actuator, with controls in units of what it controls.
fn actuator(
    element: &Element,
    drive: &Drive,
    target: &Target,
    number: usize,
    compiler: &Compiler,
    notes: &mut Notes,
) -> Result<Option<Actuator>, SceneError> {
    let a = Attributes::of(element);
    let [gain, bias] = [drive.gain[0], drive.bias[0] + drive.bias[1] * drive.gear * target.offset];
    let (stiffness, damping) = (0.0 - drive.bias[1], 0.0 - drive.bias[2]);
    if stiffness < 0.0 || damping < 0.0 {
        notes.element(
            NoteKind::NotYet,
            element,
            "actuators that push away from their set point are not supported: left out",
        );
        return Ok(None);
    }
    let mut gear = drive.gear * target.ratio;
    let mut effort = drive.limited("forcerange", drive.force_range, drive.force_limited, compiler, &a)?;
    let mut control = drive.control_range(target.range, compiler, &a)?;
    // Control in the format's units times `scale` plus `shift` is control here.
    let (kind, scale, shift) = if stiffness > 0.0 {
        (ActuatorKind::Position { kp: stiffness, kd: damping }, gain / stiffness, bias / stiffness)
    } else if damping > 0.0 {
        (ActuatorKind::Velocity { kd: damping }, gain / damping, bias / damping)
    } else {
        // The gain goes into the gear, so that controls keep their meaning.
        gear *= gain;
        effort = if gain == 0.0 { [f64::NEG_INFINITY, f64::INFINITY] } else { scaled(effort, 1.0 / gain, 0.0) };
        (ActuatorKind::Effort, 1.0, if gain == 0.0 { 0.0 } else { bias / gain })
    };
    if scale != 1.0 || shift != 0.0 {
        let text = match scale == 1.0 {
            true => format!("control here is control in the file plus {shift}"),
            false => format!("control here is control in the file times {scale} plus {shift}"),
        };
        notes.element(NoteKind::Changed, element, text);
        control = scaled(control, scale, shift);
    }
    let name = element.text("name").map_or_else(|| format!("actuator{number}"), str::to_string);
    Ok(Some(Actuator { name, link: target.link, kind, gear, control, effort }))
}

/// A range times a factor plus a shift.
fn scaled([low, high]: [f64; 2], factor: f64, shift: f64) -> [f64; 2] {
    // Nothing times an infinite bound is nothing.
    let at = |x: f64| if factor == 0.0 { shift } else { x * factor + shift };
    if factor < 0.0 { [at(high), at(low)] } else { [at(low), at(high)] }
}

/// Limits of the total effort on a joint: with one actuator they are its own.
fn limit_joints(links: &Links, notes: &mut Notes, out: &mut Description) {
    for joint in &links.joints {
        let Some(range) = joint.effort else { continue };
        let mut acting = out.actuators.iter_mut().filter(|a| a.link == joint.link);
        match (acting.next(), acting.next()) {
            (Some(actuator), None) if actuator.gear != 0.0 => {
                let [low, high] = scaled(range, 1.0 / actuator.gear, 0.0);
                actuator.effort = [actuator.effort[0].max(low).min(high), actuator.effort[1].min(high).max(low)];
            }
            _ if range[0] != -range[1] => {
                let text = "the larger of both limits counts in both directions";
                notes.attribute(NoteKind::Changed, joint.element, "actuatorfrcrange", text);
            }
            _ => {}
        }
    }
}

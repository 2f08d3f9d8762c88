//! Actuators on joints, tendons, sites, bodies and cranks.
//!
//! All kinds are one in the format: `force = gain · input + bias`, with the input a control or an activation, and gain and bias functions of length and
//! velocity. Shortcuts set these. Each element has a control, in the file's units and order, also if it does nothing here.

use super::attributes::Attributes;
use super::bodies::Tree;
use super::compiler::{Compiler, Options};
use super::defaults::Defaults;
use super::drive::Drive;
use super::links::{AtReference, Links};
use super::notes::Notes;
use super::tendons::anchor;
use super::tree::Element;
use crate::actuation::{Actuator, Dynamics, Law, Transmission, UNBOUNDED};
use crate::description::{Description, NoteKind};
use crate::error::{SceneError, did_you_mean};

/// What an actuator acts on.
struct Target {
    transmission: Transmission,
    /// The range of joint or tendon, if limited.
    range: Option<[f64; 2]>,
}

/// Writes actuators; first their rotors, which change the inertia that some are tuned to.
pub(super) fn write<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &mut Links<'a>,
    defaults: &Defaults<'a>,
    compiler: &Compiler,
    options: &Options,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let mut found = vec![];
    for element in root.all("actuator").flat_map(|s| &s.children) {
        let drive = Drive::read(element, defaults, notes)?;
        let group_off = drive.as_ref().is_some_and(|d| options.actuator_groups_off.contains(&d.group));
        if group_off {
            notes.element(NoteKind::Ignored, element, "its group is switched off by the file");
        }
        let target = if drive.is_some() { target(element, tree, links, out)? } else { None };
        found.push((element, drive.filter(|_| !group_off && !options.is_off("actuation")), target));
    }
    for (element, drive, target) in &found {
        if let (Some(drive), Some(target)) = (drive, target) {
            add_rotor(element, drive, target, links, notes);
        }
    }
    let needs = |d: &Drive| d.damping_ratio().is_some() || d.is_muscle();
    let tuned = found.iter().any(|(_, drive, _)| drive.as_ref().is_some_and(needs));
    let mut at_reference = if tuned { Some(AtReference::new(links)?) } else { None };
    for (element, drive, target) in found {
        let number = out.actuators.len();
        let name = element.text("name").map_or_else(|| format!("actuator{number}"), str::to_string);
        let mut actuator = Actuator { gain: Law::NONE, ..Actuator::motor(name, 0) };
        match (drive, target) {
            (Some(drive), Some(target)) => {
                complete(&mut actuator, element, drive, &target, &mut at_reference, compiler, options, notes, out)?;
            }
            (None, Some(target)) => actuator.transmission = target.transmission,
            (_, None) if links.specs.is_empty() => continue,
            (_, None) => {
                notes.element(
                    NoteKind::NotYet,
                    element,
                    "adhesion of the world's own geoms is not supported: it does nothing",
                );
            }
        }
        out.actuators.push(actuator);
    }
    limit_joints(links, notes, out);
    limit_tendons(notes, root, out);
    Ok(())
}

/// What an actuator acts on; an error if there is nothing.
fn target<'a>(
    element: &'a Element,
    tree: &Tree<'a>,
    links: &Links<'a>,
    out: &Description,
) -> Result<Option<Target>, SceneError> {
    let alone = |transmission| Ok(Some(Target { transmission, range: None }));
    for attribute in ["joint", "jointinparent"] {
        let Some(name) = element.text(attribute) else { continue };
        let joint = links.joint(element, attribute, name)?;
        let limits = links.specs[joint.link].properties.limits;
        let transmission = Transmission::Joint { link: joint.link, in_parent: attribute == "jointinparent" };
        return Ok(Some(Target {
            transmission,
            range: Some(limits).filter(|l| joint.is_scalar() && l[0].is_finite()),
        }));
    }
    if let Some(name) = element.text("tendon") {
        let tendon = out.tendons.iter().position(|t| t.name == name && !name.is_empty());
        let tendon = tendon.ok_or_else(|| {
            let near = did_you_mean(name, out.tendons.iter().map(|t| t.name.as_str()));
            element.attribute_error("tendon", format!("there is no tendon \"{name}\"{near}"))
        })?;
        let limits = Some(out.tendons[tendon].limits).filter(|l| l[0].is_finite());
        return Ok(Some(Target { transmission: Transmission::Tendon(tendon), range: limits }));
    }
    let site = |attribute: &str| tree.find_site(element, attribute).map(|s| anchor(links, s.body, s.pose));
    if element.text("cranksite").is_some() {
        let rod = Attributes::of(element).number("cranklength")?;
        let rod = rod.filter(|x| *x > 0.0).ok_or_else(|| element.error("needs a \"cranklength\" above 0"))?;
        return alone(Transmission::SliderCrank { crank: site("cranksite")?, slider: site("slidersite")?, rod });
    }
    if element.text("site").is_some() {
        let reference = element.text("refsite").map(|_| site("refsite")).transpose()?;
        return alone(Transmission::Site { site: site("site")?, reference });
    }
    if element.text("body").is_some() {
        let body = tree.find_body(element, "body")?;
        return match links.of_body[body] {
            Some(link) => alone(Transmission::Body(link)),
            None => Ok(None),
        };
    }
    Err(element.error("needs something to act on: a joint, tendon, site or body"))
}

/// An actuator's armature and damping, seen at its joint.
fn add_rotor(element: &Element, drive: &Drive, target: &Target, links: &mut Links, notes: &mut Notes) {
    if drive.armature == 0.0 && drive.damping == 0.0 {
        return;
    }
    let Some(link) = target.transmission.joint().filter(|l| links.specs[*l].kind.nv() == 1) else {
        let text = "armature and damping of actuators on other than hinges and slides are not supported: left out";
        return notes.element(NoteKind::NotYet, element, text);
    };
    let square = drive.gear[0] * drive.gear[0];
    let properties = &mut links.specs[link].properties;
    properties.armature += drive.armature * square;
    properties.damping += drive.damping * square;
}

/// Gains, biases and ranges of an actuator.
fn complete(
    actuator: &mut Actuator,
    element: &Element,
    mut drive: Drive,
    target: &Target,
    at_reference: &mut Option<AtReference>,
    compiler: &Compiler,
    options: &Options,
    notes: &mut Notes,
    out: &Description,
) -> Result<(), SceneError> {
    let a = Attributes::of(element);
    (actuator.transmission, actuator.gear) = (target.transmission, drive.gear);
    actuator.force = drive.limited("forcerange", drive.force_range, drive.force_limited, compiler, &a)?;
    let control = drive.control_range(target.range, compiler, &a)?;
    actuator.control = if options.is_off("clampctrl") { UNBOUNDED } else { control };
    actuator.activation = drive.activation_range(target.range, compiler, &a)?;
    (actuator.dynamics, actuator.early) = (drive.dynamics(), drive.early);
    let mut acceleration = 1.0;
    if let Some(model) = at_reference.as_mut().filter(|_| drive.damping_ratio().is_some() || drive.is_muscle()) {
        let row = model.transmission_row(actuator, &out.tendons);
        if let Some(ratio) = drive.damping_ratio() {
            drive.bias[2] = -2.0 * ratio * (drive.gain[0] * model.inertia_along(&row)).max(0.0).sqrt();
        }
        acceleration = model.acceleration(&row);
    }
    let lengths = match (drive.length_range, at_reference.as_ref()) {
        (Some(range), _) => range,
        (None, Some(model)) if drive.is_muscle() => {
            let found = match target.range {
                Some(range) => Some(scaled(range, drive.gear[0])),
                None => model.clone().extreme_lengths(actuator, &out.tendons),
            };
            let bounded = found.filter(|[low, high]| high - low > SHORTEST_MUSCLE);
            let Some(range) = bounded else {
                let text = "the length of this muscle has no range (lengthrange), or no end to it: it does nothing";
                notes.element(NoteKind::NotYet, element, text);
                actuator.dynamics = Dynamics::None;
                return Ok(());
            };
            range
        }
        _ => [0.0; 2],
    };
    [actuator.gain, actuator.bias] = drive.laws(lengths, acceleration);
    Ok(())
}

/// Muscles whose lengths differ by less than this (m, or rad times the gear) have no range.
const SHORTEST_MUSCLE: f64 = 1e-9;

/// A range times a factor.
fn scaled([low, high]: [f64; 2], factor: f64) -> [f64; 2] {
    let at = |x: f64| if factor == 0.0 { 0.0 } else { x * factor };
    if factor < 0.0 { [at(high), at(low)] } else { [at(low), at(high)] }
}

/// Limits of the total effort on a joint: with one actuator they are its own, too.
fn limit_joints(links: &Links, notes: &mut Notes, out: &mut Description) {
    for joint in &links.joints {
        let Some(range) = joint.effort else { continue };
        if range[0] != -range[1] {
            out.effort_ranges.push((joint.link, range));
        }
        if range[0] > 0.0 || range[1] < 0.0 {
            notes.attribute(NoteKind::Warning, joint.element, "actuatorfrcrange", "does not contain 0");
        }
        let mut acting = out.actuators.iter_mut().filter(|a| a.transmission.joint() == Some(joint.link));
        if let (Some(actuator), None) = (acting.next(), acting.next())
            && actuator.gear[0] != 0.0
        {
            let [low, high] = scaled(range, 1.0 / actuator.gear[0]);
            actuator.reach = [low, high];
        }
    }
}

/// Limits of the total force on a tendon: with one actuator they are its own.
fn limit_tendons(notes: &mut Notes, root: &Element, out: &mut Description) {
    for (i, tendon) in out.tendons.iter().enumerate().filter(|(_, t)| t.effort != UNBOUNDED) {
        let mut acting = out.actuators.iter_mut().filter(|a| a.transmission == Transmission::Tendon(i));
        match (acting.next(), acting.next()) {
            (Some(actuator), None) => {
                let [low, high] = tendon.effort;
                actuator.force = [actuator.force[0].max(low).min(high), actuator.force[1].min(high).max(low)];
            }
            (Some(_), Some(_)) => {
                let section = root.all("tendon").next().unwrap_or(root);
                let text = "the total force of several actuators on a tendon is not limited";
                notes.attribute(NoteKind::NotYet, section, "actuatorfrcrange", text);
            }
            _ => {}
        }
    }
}

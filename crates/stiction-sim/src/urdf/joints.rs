//! Joints: kinds, axes, limits, and those that follow others.

use stiction_body::math::{Pose, Vec3};
use stiction_body::{JointKind, JointProperties, Mimic};

use super::origin;
use super::tree::Tree;
use crate::description::{Description, NoteKind};
use crate::error::{SceneError, did_you_mean, nearest};
use crate::xml::Element;

/// A joint of the file.
pub(super) struct Joint<'a> {
    pub name: &'a str,
    pub element: Element<'a>,
    /// The link above, by its number in the file.
    pub parent: usize,
    pub kind: JointKind,
    pub frame: Pose,
    pub properties: JointProperties,
}

const KINDS: [&str; 8] = ["fixed", "revolute", "continuous", "prismatic", "planar", "floating", "spherical", "ball"];

pub(super) fn read<'a>(element: Element<'a>, parent: usize) -> Result<Joint<'a>, SceneError> {
    let name = element.required("name")?;
    let kind = read_kind(element)?;
    let properties = read_properties(element, &kind)?;
    for (tag, why) in [
        ("safety_controller", "limits of a controller have no effect"),
        ("calibration", "calibration has no effect"),
        ("hardwareInterface", "motors are given by the scene"),
    ] {
        element.children_named(tag).for_each(|e| e.ignore(why));
    }
    Ok(Joint { name, element, parent, kind, frame: origin(element)?, properties })
}

fn read_kind(element: Element) -> Result<JointKind, SceneError> {
    let kind = match element.required("type")? {
        "fixed" => {
            element.child("axis").iter().for_each(Element::mark_all);
            JointKind::Fixed
        }
        "floating" => JointKind::Free,
        "spherical" | "ball" => JointKind::Spherical,
        "revolute" => JointKind::Revolute { axis: axis(element)? },
        "continuous" => JointKind::Continuous { axis: axis(element)? },
        "prismatic" => JointKind::Prismatic { axis: axis(element)? },
        "planar" => JointKind::Planar { normal: axis(element)? },
        other => {
            let hint = nearest(other, KINDS)
                .map_or(format!("; known are {}", KINDS.join(", ")), |n| format!(" (did you mean \"{n}\"?)"));
            return Err(element.attribute_error("type", format!("there is no kind of joint \"{other}\"{hint}")));
        }
    };
    if matches!(kind, JointKind::Free | JointKind::Spherical) {
        element.child("axis").iter().for_each(Element::mark_all);
    }
    Ok(kind)
}

/// The axis of unit length; x where none is given.
fn axis(element: Element) -> Result<Vec3, SceneError> {
    let Some(axis) = element.child("axis") else { return Ok(Vec3::X) };
    let Some(xyz) = axis.vector("xyz")? else { return Ok(Vec3::X) };
    // By the largest entry first, so that no square over- or underflows.
    let largest = xyz.abs().max_element();
    if largest == 0.0 {
        return Err(axis.attribute_error("xyz", "an axis must not be zero"));
    }
    Ok((xyz / largest).normalize())
}

fn read_properties(element: Element, kind: &JointKind) -> Result<JointProperties, SceneError> {
    let mut out = JointProperties::default();
    if let Some(limit) = element.child("limit") {
        read_limit(limit, kind, &mut out)?;
    } else if matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. }) {
        element.note(NoteKind::Warning, "has no <limit>: it moves without end");
    }
    // The old <joint_properties> says the same.
    for dynamics in element.children_named("dynamics").chain(element.children_named("joint_properties")) {
        for (name, to) in
            [("damping", &mut out.damping), ("friction", &mut out.friction), ("armature", &mut out.armature)]
        {
            if let Some(x) = dynamics.number(name)? {
                *to = at_least_zero(dynamics, name, x)?;
            }
        }
        for name in ["spring_stiffness", "spring_reference", "stiffness"] {
            if dynamics.number(name)?.is_some_and(|x| x != 0.0) {
                dynamics.note(NoteKind::NotYet, format!("\"{name}\" is not used"));
            }
        }
    }
    Ok(out)
}

fn at_least_zero(element: Element, name: &str, x: f64) -> Result<f64, SceneError> {
    if x >= 0.0 {
        return Ok(x);
    }
    Err(element.attribute_error(name, format!("must be at least 0, found {x}")))
}

fn read_limit(limit: Element, kind: &JointKind, out: &mut JointProperties) -> Result<(), SceneError> {
    let lower = limit.number_or_infinity("lower")?;
    let upper = limit.number_or_infinity("upper")?;
    if let Some(effort) = limit.number_or_infinity("effort")? {
        out.effort = at_least_zero(limit, "effort", effort)?;
        if effort == 0.0 && *kind != JointKind::Fixed {
            limit.note(NoteKind::Warning, "the effort is 0: a motor can do nothing here");
        }
    }
    if limit.number_or_infinity("velocity")?.is_some_and(f64::is_finite) {
        limit.note(NoteKind::NotYet, "limits of velocity are not kept");
    }
    for name in ["acceleration", "deceleration", "jerk"] {
        if limit.attribute(name).is_some() {
            limit.note(NoteKind::Ignored, format!("\"{name}\" has no effect"));
        }
    }
    if !matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. }) {
        if *kind != JointKind::Fixed && (lower.is_some() || upper.is_some()) {
            limit.note(NoteKind::Ignored, "joints of this kind have no limits");
        }
        return Ok(());
    }
    let (lower, upper) = (lower.unwrap_or(0.0), upper.unwrap_or(0.0));
    if lower > upper {
        limit.note(NoteKind::Changed, "the lower limit is above the upper one: taken as no limits");
        return Ok(());
    }
    if lower == upper {
        limit.note(NoteKind::Warning, "lower and upper limit are the same: the joint cannot move");
    }
    out.limits = [lower, upper];
    Ok(())
}

/// A joint of the file that follows another: the link of the other, ratio and offset.
struct Follows<'a> {
    element: Element<'a>,
    of: usize,
    multiplier: f64,
    offset: f64,
}

/// Adds the joints that follow others, each following one that follows none.
pub(super) fn add_mimics(tree: &Tree, numbers: &[Option<usize>], out: &mut Description) -> Result<(), SceneError> {
    let mut follows: Vec<Option<Follows>> = Vec::with_capacity(tree.links.len());
    for link in &tree.links {
        follows.push(match &link.joint {
            Some(joint) => read_mimic(tree, joint)?,
            None => None,
        });
    }
    for (i, first) in follows.iter().enumerate() {
        let Some(first) = first else { continue };
        let (mut of, mut multiplier, mut offset) = (first.of, first.multiplier, first.offset);
        let mut steps = 0;
        while let Some(next) = &follows[of] {
            // a = m b + o, b = n c + p: a = m n c + (m p + o).
            (of, multiplier, offset) = (next.of, multiplier * next.multiplier, multiplier * next.offset + offset);
            steps += 1;
            if steps > follows.len() {
                return Err(first.element.error("joints follow one another in a circle"));
            }
        }
        if !(multiplier.is_finite() && offset.is_finite()) {
            return Err(first.element.error("multiplier or offset is not finite along the chain of joints"));
        }
        if let (Some(link), Some(of)) = (numbers[i], numbers[of]) {
            out.mimics.push(Mimic { link, of, multiplier, offset });
        }
    }
    Ok(())
}

fn read_mimic<'a>(tree: &Tree<'a>, joint: &Joint<'a>) -> Result<Option<Follows<'a>>, SceneError> {
    let Some(element) = joint.element.child("mimic") else { return Ok(None) };
    let name = element.required("joint")?;
    let multiplier = element.number("multiplier")?.unwrap_or(1.0);
    let offset = element.number("offset")?.unwrap_or(0.0);
    let Some(of) = tree.joint(name) else {
        let hint = did_you_mean(name, tree.joints().map(|(_, j)| j.name));
        return Err(element.attribute_error("joint", format!("there is no joint \"{name}\"{hint}")));
    };
    if joint.kind == JointKind::Fixed {
        element.note(NoteKind::Ignored, "a fixed joint follows nothing");
        return Ok(None);
    }
    let other = tree.links[of].joint.as_ref().map_or(JointKind::Fixed, |j| j.kind);
    if other.nv() != 1 || joint.kind.nv() != 1 {
        return Err(
            element.attribute_error("joint", format!("\"{name}\" and the joint itself must each have one velocity"))
        );
    }
    Ok(Some(Follows { element, of, multiplier, offset }))
}

//! `<equality>`: closed loops, and joints that follow others.

use stiction_body::math::{Pose, Vec3};
use stiction_body::{LoopClosure, LoopKind, Mimic};

use super::attributes::Attributes;
use super::bodies::Tree;
use super::defaults::Defaults;
use super::frames::normalized;
use super::links::Links;
use super::notes::Notes;
use super::tree::Element;
use crate::actuation::TendonPath;
use crate::description::{Description, NoteKind};
use crate::error::SceneError;

/// Writes loops and mimics.
pub(super) fn write<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &mut Links<'a>,
    defaults: &Defaults<'a>,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    for element in root.all("equality").flat_map(|s| &s.children) {
        let a = defaults.resolve(element, "equality", None)?;
        if a.flag("active")? == Some(false) {
            notes.element(NoteKind::Ignored, element, "not active in the file");
            continue;
        }
        match element.name.as_str() {
            "connect" => {
                let closure = connect(element, &a, tree, links)?;
                push(element, closure, tree, links, notes, out);
            }
            "weld" => {
                let closure = weld(element, &a, tree, links)?;
                push(element, closure, tree, links, notes, out);
            }
            "joint" => joint(element, &a, links, notes, out)?,
            "tendon" => tendon(element, &a, links, notes, out)?,
            _ => notes.element(NoteKind::NotYet, element, "this kind of equality is not supported: left out"),
        }
    }
    Ok(())
}

/// Adds a loop, unless neither side can move.
fn push(element: &Element, closure: LoopClosure, tree: &Tree, links: &Links, notes: &mut Notes, out: &mut Description) {
    let fixed = |link: Option<usize>| {
        let body = links.of_body.iter().position(|l| *l == link).unwrap_or(0);
        tree.bodies[body].is_static
    };
    if fixed(closure.a) && fixed(closure.b) {
        return notes.element(NoteKind::Ignored, element, "ties what cannot move");
    }
    out.loops.push(closure);
}

/// Two points that stay together.
fn connect(element: &Element, a: &Attributes, tree: &Tree, links: &Links) -> Result<LoopClosure, SceneError> {
    if let Some(frames) = sites(element, tree)? {
        return Ok(closure(links, frames, LoopKind::Point));
    }
    let anchor = a.vector("anchor")?.ok_or_else(|| element.error("needs the attribute \"anchor\", or two sites"))?;
    let (first, second) = bodies(element, tree)?;
    let own = Pose::from_translation(anchor);
    let other = tree.bodies[second].world.inverse() * (tree.bodies[first].world * own);
    let other = Pose::from_translation(other.translation);
    Ok(closure(links, [(first, own), (second, other)], LoopKind::Point))
}

/// Two frames that stay together.
fn weld(element: &Element, a: &Attributes, tree: &Tree, links: &Links) -> Result<LoopClosure, SceneError> {
    let kind = if a.number("torquescale")? == Some(0.0) { LoopKind::Point } else { LoopKind::Weld };
    if let Some(frames) = sites(element, tree)? {
        return Ok(closure(links, frames, kind));
    }
    let (first, second) = bodies(element, tree)?;
    // On the second body the axes are its own; on the first they are those of the second in the pose to be kept.
    let other = Pose::from_translation(a.vector("anchor")?.unwrap_or(Vec3::ZERO));
    let given = a.numbers::<7>("relpose")?;
    let own = match given.and_then(|[x, y, z, q @ ..]| Some(Pose::from_parts(Vec3::new(x, y, z), normalized(q)?))) {
        Some(pose) => pose,
        None => tree.bodies[first].world.inverse() * (tree.bodies[second].world * other),
    };
    Ok(closure(links, [(first, own), (second, other)], kind))
}

/// The two sites of an element, if it has any.
fn sites(element: &Element, tree: &Tree) -> Result<Option<[(usize, Pose); 2]>, SceneError> {
    if element.text("site1").or(element.text("site2")).is_none() {
        return Ok(None);
    }
    let find = |attribute: &str| tree.find_site(element, attribute).map(|s| (s.body, s.pose));
    Ok(Some([find("site1")?, find("site2")?]))
}

/// The two bodies; the second is the world unless it is named.
fn bodies(element: &Element, tree: &Tree) -> Result<(usize, usize), SceneError> {
    let first = tree.find_body(element, "body1")?;
    let second = if element.text("body2").is_some() { tree.find_body(element, "body2")? } else { 0 };
    if first == second {
        return Err(element.error("ties a body to itself"));
    }
    Ok((first, second))
}

fn closure(links: &Links, [(a, on_a), (b, on_b)]: [(usize, Pose); 2], kind: LoopKind) -> LoopClosure {
    LoopClosure {
        a: links.of_body[a],
        b: links.of_body[b],
        frame_a: links.frames[a] * on_a,
        frame_b: links.frames[b] * on_b,
        kind,
    }
}

/// A joint that is a polynomial of another: a line is a mimic, a constant two equal limits.
fn joint(
    element: &Element,
    a: &Attributes,
    links: &mut Links,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let (polynomial, _) = a.merged::<5>("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    let first = scalar_joint(element, "joint1", links)?;
    let other = element.text("joint2").map(|_| scalar_joint(element, "joint2", links)).transpose()?;
    let [constant, slope, higher @ ..] = polynomial;
    let (link, y0) = (links.joints[first].link, links.joints[first].reference[0]);
    match other {
        Some(_) if higher != [0.0; 3] => {
            notes.element(NoteKind::NotYet, element, "only straight lines between joints are supported: left out");
        }
        Some(second) if second == first => return Err(element.error("ties a joint to itself")),
        Some(_) if out.mimics.iter().any(|m| m.link == link) => {
            notes.element(NoteKind::NotYet, element, "its first joint already follows another: left out");
        }
        Some(second) if slope != 0.0 => {
            let (of, x0) = (links.joints[second].link, links.joints[second].reference[0]);
            if leads_to(out, of, link) {
                notes.element(NoteKind::NotYet, element, "closes a ring of joints that follow each other: left out");
                return Ok(());
            }
            out.mimics.push(Mimic { link, of, multiplier: slope, offset: y0 + constant - slope * x0 });
        }
        _ => {
            links.specs[link].properties.limits = [y0 + constant; 2];
            notes.element(NoteKind::Changed, element, "the joint is held by two equal limits");
        }
    }
    Ok(())
}

/// A fixed tendon of two joints that keeps its length is a mimic: `c₁ (q₁ − q₁₀) + c₂ (q₂ − q₂₀) = a₀`.
fn tendon(
    element: &Element,
    a: &Attributes,
    links: &Links,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let ([constant, ..], _) = a.merged::<5>("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    let name = element.required("tendon1")?;
    let joints = out.tendons.iter().find(|t| t.name == name && !name.is_empty()).map(|t| match &t.path {
        TendonPath::Joints(joints) => joints.clone(),
        TendonPath::Through(_) => vec![],
    });
    let reference = |link: usize| links.joints.iter().find(|j| j.link == link).map_or(0.0, |j| j.reference[0]);
    match (joints.as_deref(), element.text("tendon2")) {
        (None, _) => return Err(element.attribute_error("tendon1", format!("there is no tendon \"{name}\""))),
        (Some(&[(link, c), (of, d)]), None)
            if c != 0.0 && link != of && !leads_to(out, of, link) && out.mimics.iter().all(|m| m.link != link) =>
        {
            let multiplier = -d / c;
            let offset = reference(link) - multiplier * reference(of) + constant / c;
            out.mimics.push(Mimic { link, of, multiplier, offset });
        }
        _ => notes.element(
            NoteKind::NotYet,
            element,
            "equalities of tendons with other than two joints are not supported: left out",
        ),
    }
    Ok(())
}

/// True if following mimics from one link's joint comes to another's.
fn leads_to(out: &Description, mut from: usize, to: usize) -> bool {
    for _ in 0..=out.mimics.len() {
        if from == to {
            return true;
        }
        match out.mimics.iter().find(|m| m.link == from) {
            Some(mimic) => from = mimic.of,
            None => return false,
        }
    }
    true
}

fn scalar_joint(element: &Element, attribute: &str, links: &Links) -> Result<usize, SceneError> {
    let joint = links.joint(element, attribute, element.required(attribute)?)?;
    if !joint.is_scalar() {
        return Err(element.attribute_error(attribute, "expected a hinge or slide"));
    }
    // Names are the only ones of their kind.
    Ok(links.joints.iter().position(|j| j.link == joint.link).unwrap_or(0))
}

//! `<equality>`: closed loops, and joints that follow others.

use std::collections::BTreeSet;

use stiction_body::math::{Pose, Vec3};
use stiction_body::{Coupling, CouplingTerm, LoopClosure, LoopKind, Mimic, RowSource};

use super::attributes::Attributes;
use super::bodies::Tree;
use super::defaults::Defaults;
use super::frames::normalized;
use super::links::{AtReference, Links};
use super::notes::Notes;
use super::tree::Element;
use crate::actuation::TendonPath;
use crate::description::{Description, NoteKind};
use crate::equality::{Equality, Held};
use crate::error::SceneError;
use crate::ties::{Softness, Tie};

/// Writes loops, ties, mimics and couplings, and which of them are on.
pub(super) fn write<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &Links<'a>,
    defaults: &Defaults<'a>,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    for element in root.all("equality").flat_map(|s| &s.children) {
        let a = defaults.resolve(element, "equality", None)?;
        let active = a.flag("active")?.unwrap_or(true);
        let usual = Softness::default();
        let mut softness = Softness {
            reference: a.merged::<2>("solref", usual.reference)?.0,
            impedance: a.merged::<5>("solimp", usual.impedance)?.0,
            torque_scale: a.number("torquescale")?.unwrap_or(usual.torque_scale),
            inverse_inertia: None,
        };
        let held = match element.name.as_str() {
            "connect" => {
                let closure = connect(element, &a, tree, links)?;
                push((element, active), closure, &mut softness, tree, links, notes, out)?
            }
            "weld" => {
                let closure = weld(element, &a, tree, links)?;
                push((element, active), closure, &mut softness, tree, links, notes, out)?
            }
            "joint" => joint(element, &a, active, &mut softness, links, out)?,
            "tendon" => tendon(element, &a, active, links, notes, out)?,
            _ => {
                notes.element(NoteKind::NotYet, element, "this kind of equality is not supported: left out");
                Held::Nothing
            }
        };
        let number = out.equalities.len();
        let name = element.text("name").map_or_else(|| format!("equality{number}"), str::to_string);
        out.equalities.push(Equality { name, held, active, softness });
    }
    Ok(())
}

/// Adds a loop, unless neither side can move; what is tied to a body that is moved from outside is pulled to it.
fn push(
    (element, active): (&Element, bool),
    closure: LoopClosure,
    softness: &mut Softness,
    tree: &Tree,
    links: &Links,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<Held, SceneError> {
    let body = |link: Option<usize>| links.of_body.iter().position(|l| *l == link).unwrap_or(0);
    let fixed = |link: Option<usize>| tree.bodies[body(link)].is_static;
    let placed = |link: Option<usize>| {
        let mut up = std::iter::successors(Some(body(link)), |&b| (b != 0).then(|| tree.bodies[b].parent));
        fixed(link) && up.any(|b| tree.bodies[b].mocap)
    };
    if fixed(closure.a) && fixed(closure.b) {
        notes.element(NoteKind::Ignored, element, "ties what cannot move");
        return Ok(Held::Nothing);
    }
    let tied = placed(closure.a) || placed(closure.b);
    if tied || !active {
        let mut at = AtReference::new(links)?;
        let (on_a, on_b) = (at.inverse_inertia(closure.a), at.inverse_inertia(closure.b));
        softness.inverse_inertia = Some([on_a[0] + on_b[0], on_a[1] + on_b[1]]);
    }
    // Open, the speeds of its rows are those of the second frame's origin: that of what moves.
    let closure = if !active && fixed(closure.b) { Tie::new(closure, true).closure } else { closure };
    Ok(if tied {
        out.ties.push(Tie { softness: *softness, ..Tie::new(closure, placed(closure.b)) });
        Held::Tie(out.ties.len() - 1)
    } else {
        out.loops.push(closure);
        Held::Rows(RowSource::Loop(out.loops.len() - 1))
    })
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

/// A joint that is a polynomial of another: a line that holds from the start is a mimic, all else a coupling.
fn joint(
    element: &Element,
    a: &Attributes,
    active: bool,
    softness: &mut Softness,
    links: &Links,
    out: &mut Description,
) -> Result<Held, SceneError> {
    let (polynomial, _) = a.merged::<5>("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    let first = scalar_joint(element, "joint1", links)?;
    let other = element.text("joint2").map(|_| scalar_joint(element, "joint2", links)).transpose()?;
    let [constant, slope, higher @ ..] = polynomial;
    let (link, y0) = (links.joints[first].link, links.joints[first].reference[0]);
    let own = CouplingTerm { link, reference: y0, coefficients: [1.0, 0.0, 0.0, 0.0] };
    if !active {
        let mut at = AtReference::new(links)?;
        let of = other.map_or(0.0, |second| at.inverse_joint_inertia(links.joints[second].link));
        softness.inverse_inertia = Some([at.inverse_joint_inertia(link) + of; 2]);
    }
    match other {
        Some(second) if second == first => Err(element.error("ties a joint to itself")),
        Some(second) if slope != 0.0 || higher != [0.0; 3] => {
            let (of, x0) = (links.joints[second].link, links.joints[second].reference[0]);
            let follows = out.mimics.iter().any(|m| m.link == link);
            if !active || higher != [0.0; 3] || follows || leads_to(out, of, link) {
                let [a, b, c] = higher;
                let other = CouplingTerm { link: of, reference: x0, coefficients: [-slope, -a, -b, -c] };
                return Ok(couple(out, vec![own, other], constant));
            }
            Ok(follow(out, Mimic { link, of, multiplier: slope, offset: y0 + constant - slope * x0 }))
        }
        _ => Ok(couple(out, vec![own], constant)),
    }
}

fn couple(out: &mut Description, terms: Vec<CouplingTerm>, offset: f64) -> Held {
    out.couplings.push(Coupling { terms, offset });
    Held::Rows(RowSource::Coupling(out.couplings.len() - 1))
}

fn follow(out: &mut Description, mimic: Mimic) -> Held {
    out.mimics.push(mimic);
    Held::Rows(RowSource::Mimic(out.mimics.len() - 1))
}

/// Fixed tendons are sums of coordinates: one that keeps its length, or is a line of another, or a polynomial of one with a single joint.
fn tendon(
    element: &Element,
    a: &Attributes,
    active: bool,
    links: &Links,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<Held, SceneError> {
    let ([constant, powers @ ..], _) = a.merged::<5>("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    let find = |attribute: &str| -> Result<Option<Vec<(usize, f64)>>, SceneError> {
        let name = element.required(attribute)?;
        let tendon = out.tendons.iter().find(|t| t.name == name && !name.is_empty());
        let missing = || element.attribute_error(attribute, format!("there is no tendon \"{name}\""));
        Ok(match &tendon.ok_or_else(missing)?.path {
            TendonPath::Joints(joints) => Some(joints.clone()),
            TendonPath::Through(_) => None,
        })
    };
    let first = find("tendon1")?;
    let second = element.text("tendon2").map(|_| find("tendon2")).transpose()?;
    let reference = |link: usize| links.joints.iter().find(|j| j.link == link).map_or(0.0, |j| j.reference[0]);
    let root = |link: usize| std::iter::successors(Some(link), |&l| links.specs[l].parent).last();
    let line =
        |&(link, c): &(usize, f64)| CouplingTerm { link, reference: reference(link), coefficients: [c, 0.0, 0.0, 0.0] };
    let other = match second.as_ref().map(Option::as_deref) {
        None => Some(vec![]),
        Some(None) => None,
        Some(Some([(link, c)])) => {
            let mut power = 1.0;
            let coefficients = powers.map(|a| {
                power *= c;
                -a * power
            });
            Some(vec![CouplingTerm { link: *link, reference: reference(*link), coefficients }])
        }
        Some(Some(joints)) if powers[1..] == [0.0; 3] => {
            Some(joints.iter().map(|&(link, c)| line(&(link, -powers[0] * c))).collect())
        }
        Some(Some(_)) => None,
    };
    let terms = first.zip(other).map(|(first, other)| first.iter().map(line).chain(other).collect::<Vec<_>>());
    let trees = |terms: &[CouplingTerm]| terms.iter().map(|t| root(t.link)).collect::<BTreeSet<_>>().len();
    let follows = |link: usize| out.mimics.iter().any(|m| m.link == link);
    match terms.filter(|t| trees(t) <= 2) {
        // The second joint leads the first.
        Some(terms)
            if active
                && matches!(&terms[..], [x, y] if second.is_none() && x.coefficients[0] != 0.0 && x.link != y.link)
                && !follows(terms[0].link)
                && !leads_to(out, terms[1].link, terms[0].link) =>
        {
            let (multiplier, c) = (-terms[1].coefficients[0] / terms[0].coefficients[0], terms[0].coefficients[0]);
            let offset = terms[0].reference - multiplier * terms[1].reference + constant / c;
            Ok(follow(out, Mimic { link: terms[0].link, of: terms[1].link, multiplier, offset }))
        }
        Some(terms) => Ok(couple(out, terms, constant)),
        None => {
            notes.element(
                NoteKind::NotYet,
                element,
                "equalities of tendons along sites, of curves of several joints, or over three trees are not supported: left out",
            );
            Ok(Held::Nothing)
        }
    }
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

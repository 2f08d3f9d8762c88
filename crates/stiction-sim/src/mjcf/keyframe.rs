//! Where the model starts: its reference configuration, or a keyframe.

use super::attributes::Attributes;
use super::frames::normalized;
use super::joints::JointType;
use super::links::Links;
use super::notes::Notes;
use super::tree::Element;
use super::{MjcfOptions, Start};
use crate::description::{Description, NoteKind};
use crate::error::{SceneError, nearest};

/// Writes the configuration at the start.
pub(super) fn write(
    root: &Element,
    links: &Links,
    options: &MjcfOptions,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let keys: Vec<&Element> = root.all("keyframe").flat_map(|s| s.all("key")).collect();
    let chosen = choose(&keys, &options.start)?;
    for key in &keys {
        if !chosen.is_some_and(|c| std::ptr::eq(c, *key)) {
            notes.tag(NoteKind::Ignored, key, "keyframes other than the one at the start are not used");
        }
    }
    // The file's own engine has more coordinates than there are here.
    let incomplete = root.all("worldbody").any(makes_bodies);
    let mut start: Vec<Vec<f64>> = links.joints.iter().map(|j| j.reference.clone()).collect();
    if let Some(key) = chosen.filter(|_| incomplete) {
        notes.element(NoteKind::NotYet, key, "is not used: bodies it tells the positions of were left out");
    } else if let Some(key) = chosen {
        read(key, links, &mut start, notes)?;
    }
    for (joint, q) in links.joints.iter().zip(start) {
        if links.specs[joint.link].kind.neutral() != q {
            out.initial.push((joint.link, q));
        }
    }
    Ok(())
}

/// True if there are elements that make bodies, which are left out.
fn makes_bodies(element: &Element) -> bool {
    matches!(element.name.as_str(), "composite" | "flexcomp") || element.children.iter().any(makes_bodies)
}

fn choose<'a>(keys: &[&'a Element], start: &Start) -> Result<Option<&'a Element>, SceneError> {
    let named = |name: &str| keys.iter().find(|k| k.text("name") == Some(name)).copied();
    match start {
        Start::Reference => Ok(None),
        Start::Home => Ok(named("home").or(keys.first().copied())),
        Start::Keyframe(name) => named(name).map(Some).ok_or_else(|| {
            let near = nearest(name, keys.iter().filter_map(|k| k.text("name")));
            let near = near.map_or(String::new(), |n| format!(" (did you mean \"{n}\"?)"));
            SceneError::new("<keyframe>", format!("there is no keyframe \"{name}\"{near}"))
        }),
    }
}

/// The configuration of a keyframe, joint by joint.
fn read(key: &Element, links: &Links, start: &mut [Vec<f64>], notes: &mut Notes) -> Result<(), SceneError> {
    let a = Attributes::of(key);
    for name in ["qvel", "act", "ctrl", "mpos", "mquat", "time", "plastic"] {
        if a.list(name)?.is_some_and(|l| l.iter().any(|x| *x != 0.0)) {
            notes.attribute(NoteKind::NotYet, key, name, "of a keyframe only positions are used");
        }
    }
    let Some(qpos) = a.list("qpos")? else { return Ok(()) };
    let expected: usize = start.iter().map(Vec::len).sum();
    if qpos.len() != expected {
        return Err(a.error("qpos", format!("expected {expected} numbers, found {}", qpos.len())));
    }
    let mut rest = qpos.as_slice();
    for (joint, q) in links.joints.iter().zip(start) {
        let (own, others) = rest.split_at(q.len());
        q.copy_from_slice(own);
        rest = others;
        let quaternion = match joint.kind {
            JointType::Ball => &mut q[..],
            JointType::Free => &mut q[3..],
            _ => continue,
        };
        let wxyz = [quaternion[0], quaternion[1], quaternion[2], quaternion[3]];
        let Some(unit) = normalized(wxyz) else {
            return Err(a.error("qpos", format!("the quaternion of joint \"{}\" is zero", joint.name)));
        };
        quaternion.copy_from_slice(&[unit.w, unit.x, unit.y, unit.z]);
    }
    Ok(())
}

//! Keyframes: states by name, one of which may be the start.

use super::attributes::Attributes;
use super::frames::normalized;
use super::joints::JointType;
use super::links::{JointLink, Links};
use super::notes::Notes;
use super::tree::Element;
use super::{MjcfOptions, Start};
use crate::description::{Description, KeyframeSpec, NoteKind};
use crate::error::{SceneError, did_you_mean};
use crate::world::free_configuration;
use stiction_body::math::{Quat, Vec3};

/// Writes all keyframes, and the configuration at the start.
pub(super) fn write(
    root: &Element,
    links: &Links,
    options: &MjcfOptions,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let keys: Vec<&Element> = root.all("keyframe").flat_map(|s| s.all("key")).collect();
    // The file's own engine has more coordinates than there are here.
    let incomplete = root.all("worldbody").any(makes_bodies);
    let reserved = root.all("size").map(|size| Attributes::of(size).integer("nkey"));
    let reserved = reserved.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max().unwrap_or(0);
    let chosen = choose(&keys, reserved, &options.start)?;
    let reference = links.joints.iter().map(|j| (j.link, j.reference.clone()));
    let placed = links.mocap.iter().map(|(link, pose)| (*link, free_configuration(pose)));
    let mut start: Vec<(usize, Vec<f64>)> = reference.chain(placed).collect();
    if incomplete {
        for key in &keys {
            notes.element(NoteKind::NotYet, key, "is not used: bodies it tells the positions of were left out");
        }
    } else {
        for key in &keys {
            let spec = read(key, links, notes, out)?;
            out.keyframes.push(spec);
        }
        out.start = chosen;
        if let Some(i) = chosen {
            start.clone_from(&out.keyframes[i].q);
        }
    }
    out.initial.extend(start.into_iter().filter(|(link, q)| links.specs[*link].kind.neutral() != *q));
    Ok(())
}

/// True if there are elements that make bodies, which are left out.
fn makes_bodies(element: &Element) -> bool {
    matches!(element.name.as_str(), "composite" | "flexcomp") || element.children.iter().any(makes_bodies)
}

/// The number of the keyframe that is the start; none is the reference configuration, as are places that are `reserved` for keyframes without one.
fn choose(keys: &[&Element], reserved: i64, start: &Start) -> Result<Option<usize>, SceneError> {
    let named = |name: &str| keys.iter().position(|k| k.text("name") == Some(name));
    match start {
        Start::Reference => Ok(None),
        Start::Home => Ok(named("home").or((!keys.is_empty()).then_some(0))),
        Start::Number(i) if *i < keys.len() => Ok(Some(*i)),
        Start::Number(i) if i64::try_from(*i).is_ok_and(|i| i < reserved) => Ok(None),
        Start::Number(i) => {
            Err(SceneError::new("<keyframe>", format!("there is no keyframe {i}: the file has {}", keys.len())))
        }
        Start::Keyframe(name) => named(name).map(Some).ok_or_else(|| {
            let near = did_you_mean(name, keys.iter().filter_map(|k| k.text("name")));
            SceneError::new("<keyframe>", format!("there is no keyframe \"{name}\"{near}"))
        }),
    }
}

/// The numbers of a list, if it has as many as expected; none given are the default.
fn numbers(a: &Attributes, name: &str, expected: usize) -> Result<Option<Vec<f64>>, SceneError> {
    match a.list(name)? {
        Some(list) if list.len() != expected => {
            Err(a.error(name, format!("expected {expected} numbers, found {}", list.len())))
        }
        list => Ok(list),
    }
}

/// A keyframe, joint by joint.
fn read(key: &Element, links: &Links, notes: &mut Notes, out: &Description) -> Result<KeyframeSpec, SceneError> {
    let a = Attributes::of(key);
    if a.list("plastic")?.is_some_and(|l| l.iter().any(|x| *x != 0.0)) {
        notes.attribute(NoteKind::NotYet, key, "plastic", "of a keyframe, this is not used");
    }
    let mut spec = KeyframeSpec {
        name: key.text("name").unwrap_or_default().into(),
        time: a.number("time")?.unwrap_or(0.0),
        ..KeyframeSpec::default()
    };
    let qpos = numbers(&a, "qpos", links.joints.iter().map(|j| j.reference.len()).sum())?;
    let qvel = numbers(&a, "qvel", links.joints.iter().map(JointLink::velocities).sum())?;
    let (mut q_rest, mut v_rest) = (qpos.as_deref(), qvel.as_deref());
    for joint in &links.joints {
        let q = match split(&mut q_rest, joint.reference.len()) {
            Some(q) => with_unit_quaternion(q, joint, &a)?,
            None => joint.reference.clone(),
        };
        if let Some(v) = split(&mut v_rest, joint.velocities()) {
            spec.v.push((joint.link, with_own_axes(v, &q, joint.kind)));
        }
        spec.q.push((joint.link, q));
    }
    let (mpos, mquat) = (numbers(&a, "mpos", 3 * links.mocap.len())?, numbers(&a, "mquat", 4 * links.mocap.len())?);
    for (i, (link, pose)) in links.mocap.iter().enumerate() {
        let mut q = free_configuration(pose);
        if let Some(mpos) = &mpos {
            q[..3].copy_from_slice(&mpos[3 * i..3 * i + 3]);
        }
        if let Some(mquat) = &mquat {
            let wxyz = [0, 1, 2, 3].map(|k| mquat[4 * i + k]);
            let unit = normalized(wxyz).unwrap_or(Quat::IDENTITY);
            q[3..].copy_from_slice(&[unit.w, unit.x, unit.y, unit.z]);
        }
        spec.q.push((*link, q));
    }
    spec.control = numbers(&a, "ctrl", out.actuators.len())?.unwrap_or_else(|| vec![0.0; out.actuators.len()]);
    let active = out.actuators.iter().filter(|a| a.has_activation()).count();
    let mut act = numbers(&a, "act", active)?.unwrap_or_else(|| vec![0.0; active]).into_iter();
    let activation = |a: &crate::actuation::Actuator| if a.has_activation() { act.next().unwrap_or(0.0) } else { 0.0 };
    spec.activation = out.actuators.iter().map(activation).collect();
    Ok(spec)
}

/// The next numbers of a list, if there is one.
fn split(rest: &mut Option<&[f64]>, count: usize) -> Option<Vec<f64>> {
    let (own, others) = rest.as_ref()?.split_at(count);
    *rest = Some(others);
    Some(own.to_vec())
}

/// Coordinates with a quaternion of unit length. One that is zero stands for no rotation, as in MuJoCo.
fn with_unit_quaternion(mut q: Vec<f64>, joint: &JointLink, a: &Attributes) -> Result<Vec<f64>, SceneError> {
    let first = match joint.kind {
        JointType::Ball => 0,
        JointType::Free => 3,
        _ => return Ok(q),
    };
    let wxyz = <[f64; 4]>::try_from(&q[first..]).map_err(|_| a.error("qpos", "a quaternion has 4 numbers"))?;
    let unit = normalized(wxyz).unwrap_or(Quat::IDENTITY);
    q[first..].copy_from_slice(&[unit.w, unit.x, unit.y, unit.z]);
    Ok(q)
}

/// Velocities along the axes that they have here: the file's angular velocities are along the body's own.
fn with_own_axes(mut v: Vec<f64>, q: &[f64], kind: JointType) -> Vec<f64> {
    let (quaternion, first) = match kind {
        JointType::Ball => (q, 0),
        JointType::Free => (&q[3..], 3),
        _ => return v,
    };
    let rotation = Quat::from_xyzw(quaternion[1], quaternion[2], quaternion[3], quaternion[0]);
    let turned = rotation * Vec3::new(v[first], v[first + 1], v[first + 2]);
    v[first..].copy_from_slice(&turned.to_array());
    v
}

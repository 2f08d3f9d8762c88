//! `<replicate>`: copies of parts of the tree, each in a `<frame>` of its own and with a suffix to all names; elements that refer to copied ones
//! are copied with them.

use std::collections::BTreeMap;

use stiction_body::math::Vec3;

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::frames::euler;
use super::notes::Notes;
use super::schema;
use super::tree::{ELEMENTS, Element};
use crate::error::SceneError;

/// Holds the name an element had before it was copied. No file can have such an attribute.
pub(super) const ORIGINAL: &str = "\0original";

/// Suffixes of the copies of a name, by kind of element and name.
type Replicas = BTreeMap<(&'static str, String), Vec<String>>;

/// Replaces every `<replicate>` of a model.
pub(super) fn expand(root: &mut Element, compiler: &Compiler, notes: &mut Notes) -> Result<(), SceneError> {
    let mut left = ELEMENTS;
    for world in root.children.iter_mut().filter(|c| c.name == "worldbody") {
        schema::audit_replicas(world, notes);
        expand_within(world, compiler, &mut left)?;
    }
    let mut replicas = Replicas::new();
    root.all("worldbody").for_each(|w| gather(w, &mut replicas));
    if replicas.is_empty() {
        return Ok(());
    }
    // Tendons come before what refers to them.
    for section in ["tendon", "contact", "equality", "actuator"] {
        for section in root.children.iter_mut().filter(|c| c.name == section) {
            let children = std::mem::take(&mut section.children);
            section.children = children.into_iter().flat_map(|c| copies(c, &replicas)).collect();
            section.children.iter().for_each(|c| gather_one(c, &mut replicas));
        }
    }
    Ok(())
}

fn expand_within(parent: &mut Element, compiler: &Compiler, left: &mut usize) -> Result<(), SceneError> {
    for mut child in std::mem::take(&mut parent.children) {
        expand_within(&mut child, compiler, left)?;
        if child.name == "replicate" {
            parent.children.extend(frames(&child, compiler, left)?);
        } else {
            parent.children.push(child);
        }
    }
    Ok(())
}

/// The copies of one `<replicate>`: each moved by the offset in the frame of the one before, and turned by its number times the angles.
fn frames(replicate: &Element, compiler: &Compiler, left: &mut usize) -> Result<Vec<Element>, SceneError> {
    let a = Attributes::of(replicate);
    let count = match a.integer("count")? {
        Some(n) if n > 0 => usize::try_from(n).unwrap_or(usize::MAX),
        Some(n) => return Err(a.error("count", format!("must be above 0, found {n}"))),
        None => return Err(replicate.error("needs the attribute \"count\"")),
    };
    let offset = a.vector("offset")?.unwrap_or(Vec3::ZERO);
    let angles = a.numbers::<3>("euler")?.unwrap_or([0.0; 3]);
    if count.saturating_mul(replicate.size()) > *left {
        return Err(replicate.error(format!("makes more than {ELEMENTS} elements")));
    }
    *left -= count * replicate.size();
    let digits = count.to_string().len();
    let mut p = Vec3::ZERO;
    let mut out = Vec::with_capacity(count);
    for i in 0..count {
        let mut frame = Element::synthetic("frame", replicate);
        // MuJoCo multiplies the three angles, each by itself.
        let q = euler(angles.map(|x| x * i as f64), compiler);
        frame.set("pos", format!("{} {} {}", p.x, p.y, p.z));
        frame.set("quat", format!("{} {} {} {}", q.w, q.x, q.y, q.z));
        if let Some(class) = replicate.text("childclass") {
            frame.set("childclass", class.into());
        }
        frame.children = replicate.children.clone();
        let suffix = format!("{}{i:0digits$}", replicate.text("sep").unwrap_or(""));
        frame.children.iter_mut().for_each(|c| rename(c, &suffix));
        out.push(frame);
        p += q * offset;
    }
    Ok(out)
}

/// Adds a suffix to all names in an element.
fn rename(element: &mut Element, suffix: &str) {
    if let Some(name) = element.text("name").map(str::to_string) {
        if element.text(ORIGINAL).is_none() {
            element.set(ORIGINAL, name.clone());
        }
        element.set("name", name + suffix);
    }
    element.children.iter_mut().for_each(|c| rename(c, suffix));
}

fn gather(element: &Element, replicas: &mut Replicas) {
    gather_one(element, replicas);
    element.children.iter().for_each(|c| gather(c, replicas));
}

fn gather_one(element: &Element, replicas: &mut Replicas) {
    let Some(kind) = kind_of(element) else { return };
    if let (Some(original), Some(name)) = (element.text(ORIGINAL), element.text("name")) {
        let suffix = name.get(original.len()..).unwrap_or_default().to_string();
        replicas.entry((kind, original.to_string())).or_default().push(suffix);
    }
}

/// What others call an element by, if they refer to it at all.
pub(super) fn kind_of(element: &Element) -> Option<&'static str> {
    Some(match element.name.as_str() {
        "body" => "body",
        "joint" | "freejoint" => "joint",
        "geom" => "geom",
        "site" => "site",
        "fixed" | "spatial" => "tendon",
        _ => return None,
    })
}

/// What an attribute of a section other than the tree refers to.
pub(super) fn referred(attribute: &str) -> Option<&'static str> {
    match attribute {
        "body" | "body1" | "body2" => Some("body"),
        "joint" | "joint1" | "joint2" | "jointinparent" => Some("joint"),
        "geom" | "geom1" | "geom2" => Some("geom"),
        "site" | "site1" | "site2" | "refsite" | "cranksite" | "slidersite" | "sidesite" => Some("site"),
        "tendon" | "tendon1" | "tendon2" => Some("tendon"),
        _ => None,
    }
}

/// An element once for every copy of what it refers to.
fn copies(element: Element, replicas: &Replicas) -> Vec<Element> {
    let Some(suffixes) = suffixes(&element, replicas) else { return vec![element] };
    let copy = |suffix: &String| {
        let mut copy = element.clone();
        if let Some(name) = element.text("name") {
            copy.set(ORIGINAL, name.to_string());
            copy.set("name", format!("{name}{suffix}"));
        }
        refer(&mut copy, replicas, suffix);
        copy
    };
    suffixes.iter().map(copy).collect()
}

/// The suffixes of the first copied thing an element refers to.
fn suffixes<'a>(element: &Element, replicas: &'a Replicas) -> Option<&'a Vec<String>> {
    let own = element.attributes.iter();
    let own = own.filter_map(|a| replicas.get(&(referred(&a.name)?, a.value.clone())));
    own.chain(element.children.iter().filter_map(|c| suffixes(c, replicas))).next()
}

/// Lets all references to copied things go to the copies of that suffix.
fn refer(element: &mut Element, replicas: &Replicas, suffix: &str) {
    for attribute in &mut element.attributes {
        let Some(kind) = referred(&attribute.name) else { continue };
        if replicas.get(&(kind, attribute.value.clone())).is_some_and(|s| s.iter().any(|s| s == suffix)) {
            attribute.value += suffix;
        }
    }
    element.children.iter_mut().for_each(|c| refer(c, replicas, suffix));
}

//! What is only drawn: `<visual>` with the colours that the file of a mesh gives, or that of its
//! `<material>`. Nothing here is an error: what cannot be drawn is noted.

use std::collections::BTreeMap;

use super::geometry::{Placed, Purpose, read_placed};
use super::paths::Paths;
use super::tree::LinkNode;
use crate::description::NoteKind;
use crate::looks::{Look, Rgba, Visual};
use crate::xml::Element;

/// Colours of the robot's materials, by name.
pub(super) type Colors<'a> = BTreeMap<&'a str, Rgba>;

/// Colours of the materials that the robot and its visual elements define; the first of a name counts.
pub(super) fn colors(robot: Element<'_>) -> Colors<'_> {
    let mut colors = Colors::new();
    let visuals = robot.children_named("link").flat_map(|l| l.children_named("visual"));
    for material in robot.children_named("material").chain(visuals.flat_map(|v| v.children_named("material"))) {
        if let (Some(name), Some(rgba)) = (material.attribute("name"), own_color(material)) {
            colors.entry(name).or_insert(rgba);
        }
        material.children_named("texture").for_each(|e| e.ignore("textures are not drawn"));
    }
    colors
}

/// All visual shapes of a link.
pub(super) fn read(link: &LinkNode, number: Option<usize>, paths: &Paths, colors: &Colors) -> Vec<Visual> {
    let mut out = Vec::new();
    for element in link.element.children_named("visual") {
        let material = element.child("material");
        let named = material.and_then(|m| m.attribute("name")).and_then(|name| colors.get(name).copied());
        let rgba = material.and_then(own_color).or(named);
        match read_placed(element, paths, true, Purpose::Visual) {
            Ok(parts) if number.is_some() && parts.iter().any(|p| p.shape.is_unbounded()) => {
                element.note(NoteKind::Ignored, "a plane on a link is not drawn");
            }
            Ok(parts) => out.extend(parts.into_iter().map(|Placed { name, pose, shape, rgba: own }| {
                let (look, shape) = (Look { rgba: own.or(rgba), drawn: true }, shape);
                Visual { name: name.unwrap_or(link.name).into(), link: number, pose, shape, look }
            })),
            Err(e) => element.note(NoteKind::Warning, format!("is not drawn: {}", e.message)),
        }
        element.mark_all();
    }
    out
}

fn own_color(material: Element) -> Option<Rgba> {
    let color = material.child("color")?;
    match color.list("rgba") {
        Ok(numbers) => crate::looks::color(&numbers?),
        Err(e) => {
            color.note(NoteKind::Warning, e.message);
            None
        }
    }
}

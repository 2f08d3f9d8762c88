//! Surfaces: what `<gazebo reference>` and `<contact>` say of friction and restitution.

use super::tree::{LinkNode, Tree};
use crate::description::NoteKind;
use crate::error::{SceneError, did_you_mean};
use crate::material::Material;
use crate::xml::Element;

/// What `<gazebo>` elements say of a link.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surface {
    mu1: Option<f64>,
    mu2: Option<f64>,
}

/// Reads all `<gazebo>` elements.
pub(super) fn read_gazebo(robot: Element, tree: &Tree) {
    for gazebo in robot.children_named("gazebo") {
        let Some(name) = gazebo.attribute("reference") else {
            gazebo.ignore("parts of Gazebo have no effect");
            continue;
        };
        match tree.link(name) {
            Some(link) => read_link(gazebo, &tree.links[link]),
            None if tree.joint(name).is_some() => gazebo.ignore("parts of Gazebo have no effect"),
            None => {
                let hint = did_you_mean(name, tree.link_names());
                gazebo.note(NoteKind::Warning, format!("there is no link or joint \"{name}\"{hint}: it has no effect"));
                gazebo.mark_all();
            }
        }
    }
}

fn read_link(gazebo: Element, link: &LinkNode) {
    let mut surface = link.surface.borrow_mut();
    for element in gazebo.children() {
        element.mark_all();
        match element.name() {
            "mu1" => surface.mu1 = coefficient(element).or(surface.mu1),
            "mu2" => surface.mu2 = coefficient(element).or(surface.mu2),
            "turnGravityOff" if is_true(element) => element.note(NoteKind::NotYet, "gravity acts on every link"),
            "gravity" if !is_true(element) => element.note(NoteKind::NotYet, "gravity acts on every link"),
            _ => element.note(NoteKind::Ignored, "has no effect"),
        }
    }
}

/// A coefficient of friction, in the element's text or its attribute `value`.
fn coefficient(element: Element) -> Option<f64> {
    let text =
        if element.content().is_empty() { element.attribute("value").unwrap_or_default() } else { element.content() };
    let found = text.trim().parse::<f64>().ok().filter(|x| *x >= 0.0);
    if found.is_none() {
        element.note(NoteKind::Warning, "is no coefficient of friction (a number at least 0): it has no effect");
    }
    found
}

fn is_true(element: Element) -> bool {
    matches!(element.content().to_ascii_lowercase().as_str(), "true" | "1")
}

/// The surface of a link's shapes.
pub(super) fn of_link(link: &LinkNode, default: Material) -> Result<Material, SceneError> {
    let mut out = default;
    let surface = *link.surface.borrow();
    if let Some(mu) = surface.mu1.or(surface.mu2) {
        out.mu = mu;
    }
    if surface.mu1.zip(surface.mu2).is_some_and(|(a, b)| a != b) {
        link.element.note(NoteKind::NotYet, "friction that depends on the direction: mu1 is used for all");
    }
    for contact in link.element.children_named("contact") {
        for element in contact.children() {
            element.read();
            let value = element.number("value")?;
            match (element.name(), value) {
                ("lateral_friction", Some(x)) => out.mu = x,
                ("restitution", Some(x)) => out.restitution = x,
                ("spinning_friction", Some(x)) => out.mu_spin = x,
                ("rolling_friction", Some(x)) => out.mu_roll = x,
                ("inertia_scaling", Some(x)) if x != 1.0 => {
                    element.note(NoteKind::NotYet, "the inertia is used as it is");
                }
                ("inertia_scaling", _) => {}
                _ => element.ignore("contacts are rigid: it has no effect"),
            }
            out.check().map_err(|e| element.error(e.to_string()))?;
        }
    }
    Ok(out)
}

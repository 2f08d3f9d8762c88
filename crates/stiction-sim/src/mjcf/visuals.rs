//! How geoms look: colours by `rgba` and materials, groups, and the forms of what is only drawn.

use std::collections::{BTreeMap, BTreeSet};

use stiction_body::Shape;
use stiction_body::math::Pose;

use super::attributes::Attributes;
use super::bodies::{Context, Tree};
use super::forms::{self, Form};
use super::links::Links;
use super::tree::Element;
use crate::error::SceneError;
use crate::looks::{Look, Rgba, Visual};
use crate::meshes::ColoredPart;

/// The last group that MuJoCo's viewers show unless told otherwise.
const LAST_SHOWN_GROUP: i64 = 2;

/// The colour of a geom without one of its own and without a material.
const GREY: Rgba = [0.5, 0.5, 0.5, 1.0];

/// A geom that is only drawn.
#[derive(Debug)]
pub(super) struct VisualRead {
    name: String,
    body: usize,
    /// Pose in the body.
    pose: Pose,
    shape: Shape,
    look: Look,
    pub(super) group: i64,
    /// True if it is drawn for a geom that touches with another form.
    pub(super) touches: bool,
}

/// Colour and visibility of a geom.
pub(super) fn look(a: &Attributes, group: i64, context: &Context) -> Result<Look, SceneError> {
    let own = a.list("rgba")?.as_deref().and_then(crate::looks::color);
    let material = a.text("material").and_then(|name| context.assets.material(name));
    let rgba = own.or(material.map(|m| m.rgba)).unwrap_or(GREY);
    Ok(Look { rgba: Some(rgba), drawn: group <= LAST_SHOWN_GROUP && rgba[3] > 0.0 })
}

/// A geom that touches nothing and weighs nothing, in parts of one colour; none if its form cannot
/// be drawn.
pub(super) fn read(
    a: &Attributes,
    name: String,
    body: usize,
    frame: Pose,
    look: Look,
    context: &Context,
) -> Result<Vec<VisualRead>, SceneError> {
    let (form, own) = forms::read(a, context.assets, context.compiler)?;
    of_form(&form, a, name, body, frame * own, look, context)
}

/// True if the form is drawn otherwise than it touches.
pub(super) fn looks_other(form: &Form) -> bool {
    matches!(form, Form::Mesh(_))
}

/// A form as it is drawn, in parts of one colour.
pub(super) fn of_form(
    form: &Form,
    a: &Attributes,
    name: String,
    body: usize,
    pose: Pose,
    look: Look,
    context: &Context,
) -> Result<Vec<VisualRead>, SceneError> {
    let visual =
        |shape: Shape, look: Look| VisualRead { name: name.clone(), body, pose, shape, look, group: 0, touches: false };
    // A colour of the geom's own comes before its material.
    let material = a.text("material").filter(|_| a.text("rgba").is_none());
    let paint = material.and_then(|name| context.assets.material(name)?.paint.as_ref());
    if let (Form::Mesh(mesh), Some(paint)) = (form, paint)
        && let Some(parts) = mesh.painted(paint)
    {
        let part = |part: ColoredPart| {
            let shape =
                Shape::mesh(part.mesh.vertices, part.mesh.triangles).map_err(|e| a.error("mesh", e.to_string()))?;
            Ok(visual(shape, Look { rgba: part.rgba.or(look.rgba), ..look }))
        };
        return parts.into_iter().map(part).collect();
    }
    let shape = match form {
        Form::Mesh(mesh) if !mesh.surface()?.triangles.is_empty() => {
            let surface = mesh.surface()?.clone();
            let shape = Shape::mesh(surface.vertices, surface.triangles);
            Some(shape.map_err(|e| a.error("mesh", e.to_string()))?)
        }
        _ => form.shape(a)?,
    };
    Ok(shape.into_iter().map(|shape| visual(shape, look)).collect())
}

/// What touches is not drawn on bodies that have something to look at in groups of its own: files
/// that have both keep them apart in groups, and would show each surface twice. Of the world, where
/// a floor may be anywhere, all is drawn.
pub(super) fn hide_what_touches(tree: &mut Tree) {
    let mut groups: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for visual in tree.visuals.iter().filter(|v| v.body != 0 && v.look.drawn && !v.touches) {
        groups.entry(visual.body).or_default().insert(visual.group);
    }
    let hidden = |body: usize, group: i64| groups.get(&body).is_some_and(|own| !own.contains(&group));
    tree.geoms.iter_mut().for_each(|g| g.look.drawn &= !hidden(g.body, g.group));
    tree.visuals.iter_mut().filter(|v| v.touches).for_each(|v| v.look.drawn &= !hidden(v.body, v.group));
}

/// The visuals of a description, on its links. Where nothing of what moves would be drawn, what
/// touches is; and so it is on links without anything to look at below a skin, which is not drawn.
pub(super) fn write(root: &Element, tree: &Tree, links: &Links, out: &mut crate::description::Description) {
    for read in &tree.visuals {
        let unbounded = read.shape.is_unbounded();
        let (link, pose) = match unbounded {
            true if !tree.bodies[read.body].is_static => continue,
            true => (None, tree.bodies[read.body].world * read.pose),
            false => (links.of_body[read.body], links.frames[read.body] * read.pose),
        };
        let (name, shape) = (read.name.clone(), read.shape.clone());
        out.visuals.push(Visual { name, link, pose, shape, look: read.look });
    }
    let moves = |body: usize| !tree.bodies[body].is_static;
    let seen = tree.visuals.iter().any(|v| v.look.drawn && moves(v.body))
        || tree.geoms.iter().any(|g| g.look.drawn && moves(g.body));
    let skinned = root.all("asset").chain(root.all("deformable")).any(|s| s.children.iter().any(|e| e.name == "skin"));
    let shown = out.visuals.iter().filter(|v| v.look.drawn).map(|v| v.link);
    let shown: BTreeSet<_> = shown.chain(out.geoms.iter().filter(|g| g.look.drawn).map(|g| g.geom.link)).collect();
    for spec in &mut out.geoms {
        let bare = !seen || skinned && !shown.contains(&spec.geom.link);
        spec.look.drawn |= bare && spec.look.rgba.is_none_or(|c| c[3] > 0.0);
    }
}

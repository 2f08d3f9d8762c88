//! Tendons: weighted sums of joints, and paths through sites and around spheres and cylinders.

use super::attributes::Attributes;
use super::bodies::{Context, Tree};
use super::forms::Form;
use super::links::{AtReference, Links};
use super::notes::Notes;
use super::tree::Element;
use crate::actuation::{Anchor, Tendon, TendonPath, TreeRow, UNBOUNDED, Via, WrapKind};
use crate::description::NoteKind;
use crate::error::SceneError;

/// Reads all `<tendon>` sections.
pub(super) fn read<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &Links<'a>,
    context: &Context<'_, 'a>,
    notes: &mut Notes,
) -> Result<Vec<Tendon>, SceneError> {
    let mut out = vec![];
    let mut automatic = vec![];
    for element in root.all("tendon").flat_map(|s| &s.children) {
        let path = match element.name.as_str() {
            "fixed" => TendonPath::Joints(joints(element, links)?),
            "spatial" => TendonPath::Through(path(element, tree, links, context)?),
            _ => continue,
        };
        let a = context.defaults.resolve(element, "tendon", None)?;
        let mut tendon = properties(element, path, &a, context, notes)?;
        let ([low, high], given) = a.merged::<2>("springlength", [-1.0; 2])?;
        tendon.rest = if given == 1 { [low, low] } else { [low, high] };
        if tendon.rest == [-1.0; 2] && tendon.stiffness > 0.0 {
            automatic.push(out.len());
        }
        out.push(tendon);
    }
    if !automatic.is_empty() {
        let at = AtReference::of_springs(links)?;
        for i in automatic {
            let length = at.tendon_length(&out[i], &mut TreeRow::default());
            out[i].rest = [length; 2];
        }
    }
    Ok(out)
}

/// A place of the tree on its link.
pub(super) fn anchor(links: &Links, body: usize, pose: stiction_body::math::Pose) -> Anchor {
    Anchor { link: links.of_body[body], pose: links.frames[body] * pose }
}

/// The joints of a fixed tendon.
fn joints(element: &Element, links: &Links) -> Result<Vec<(usize, f64)>, SceneError> {
    let mut joints = vec![];
    for part in element.all("joint") {
        let joint = links.joint(part, "joint", part.required("joint")?)?;
        if !joint.is_scalar() {
            return Err(part.attribute_error("joint", "expected a hinge or slide"));
        }
        let coefficient = Attributes::of(part).number("coef")?;
        joints.push((joint.link, coefficient.ok_or_else(|| part.error("needs the attribute \"coef\""))?));
    }
    if joints.is_empty() {
        return Err(element.error("has no joints"));
    }
    Ok(joints)
}

/// The path of a spatial tendon.
fn path<'a>(
    element: &Element,
    tree: &Tree<'a>,
    links: &Links,
    context: &Context<'_, 'a>,
) -> Result<Vec<Via>, SceneError> {
    let mut path: Vec<Via> = vec![];
    for part in &element.children {
        match part.name.as_str() {
            "site" => {
                let site = tree.find_site(part, "site")?;
                path.push(Via::Site(anchor(links, site.body, site.pose)));
            }
            "geom" => {
                if !matches!(path.last(), Some(Via::Site(_))) {
                    return Err(part.error("a tendon wraps around a geom between two sites"));
                }
                path.push(around(part, tree, links, context)?);
            }
            "pulley" => {
                let divisor = Attributes::of(part).number("divisor")?;
                match divisor.ok_or_else(|| part.error("needs the attribute \"divisor\""))? {
                    divisor if divisor > 0.0 => path.push(Via::Pulley(divisor)),
                    other => return Err(part.attribute_error("divisor", format!("must be above 0, found {other}"))),
                }
            }
            _ => {}
        }
    }
    let sites = path.iter().filter(|via| matches!(via, Via::Site(_))).count();
    let ends_well = !matches!(path.last(), Some(Via::Wrap { .. } | Via::Pulley(_)) | None);
    let wraps_well = path.windows(2).all(|w| !matches!(w, [Via::Wrap { .. }, Via::Pulley(_) | Via::Wrap { .. }]));
    if sites < 2 || !ends_well || !wraps_well {
        return Err(element.error("a path needs at least two sites, and a site on each side of a geom"));
    }
    Ok(path)
}

/// A sphere or cylinder that a path goes around.
fn around<'a>(part: &Element, tree: &Tree<'a>, links: &Links, context: &Context<'_, 'a>) -> Result<Via, SceneError> {
    let geom = tree.find_geom(part, "geom")?;
    let (kind, radius, pose) = match geom.form(context.assets, context.compiler)? {
        (Form::Sphere(radius), pose) => (WrapKind::Sphere, radius, pose),
        (Form::Cylinder(radius, _), pose) => (WrapKind::Cylinder, radius, pose),
        _ => return Err(part.attribute_error("geom", "expected a sphere or cylinder")),
    };
    let side = match part.text("sidesite") {
        Some(_) => Some(tree.find_site(part, "sidesite").map(|s| anchor(links, s.body, s.pose))?),
        None => None,
    };
    Ok(Via::Wrap { anchor: anchor(links, geom.body, pose), radius, kind, side })
}

/// What acts along a tendon.
fn properties(
    element: &Element,
    path: TendonPath,
    a: &Attributes,
    context: &Context,
    notes: &mut Notes,
) -> Result<Tendon, SceneError> {
    let (compiler, options) = (context.compiler, context.options);
    let range = a.numbers::<2>("range")?;
    let limited = a.automatic("limited")?.unwrap_or(compiler.at(a).autolimits && range.is_some());
    let limits = range.filter(|_| limited && !options.is_off("limit")).unwrap_or(UNBOUNDED);
    if limits[0] > limits[1] {
        return Err(a.error("range", format!("expected an increasing range, found {} to {}", limits[0], limits[1])));
    }
    let mut linear = |name: &str, part: &str| -> Result<f64, SceneError> {
        let [linear, others @ ..] = a.merged::<3>(name, [0.0; 3])?.0;
        if others != [0.0; 2] {
            notes.attribute(NoteKind::NotYet, element, name, "only linear springs and dampers are supported");
        }
        Ok(if options.is_off(part) { 0.0 } else { linear.max(0.0) })
    };
    let (stiffness, damping) = (linear("stiffness", "spring")?, linear("damping", "damper")?);
    let effort = a.range("actuatorfrcrange")?;
    let effort_limited = a.automatic("actuatorfrclimited")?.unwrap_or(compiler.at(a).autolimits && effort.is_some());
    let armature = a.nonnegative("armature")?.unwrap_or(0.0);
    if armature > 0.0 && matches!(path, TendonPath::Through(_)) {
        let text = "the armature of tendons through sites counts without the forces of its motion";
        notes.attribute(NoteKind::Changed, element, "armature", text);
    }
    Ok(Tendon {
        name: element.text("name").unwrap_or_default().to_string(),
        path,
        stiffness,
        rest: [0.0; 2],
        damping,
        friction: if options.is_off("frictionloss") { 0.0 } else { a.nonnegative("frictionloss")?.unwrap_or(0.0) },
        armature,
        limits,
        effort: effort.filter(|_| effort_limited).unwrap_or(UNBOUNDED),
    })
}

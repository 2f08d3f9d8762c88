//! Fixed tendons: weighted sums of joints that actuators can act on.

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::links::Links;
use super::notes::Notes;
use super::tree::Element;
use crate::description::NoteKind;
use crate::error::SceneError;

/// A fixed tendon: `length = Σ coefficient · q`.
#[derive(Debug)]
pub(super) struct Tendon {
    pub(super) name: String,
    /// Links and coefficients of their joints; empty for tendons through sites.
    pub(super) joints: Vec<(usize, f64)>,
    /// Its range, if it is limited.
    pub(super) range: Option<[f64; 2]>,
}

/// Reads all `<tendon>` sections; what tendons do by themselves is noted.
pub(super) fn read<'a>(
    root: &'a Element,
    links: &Links,
    defaults: &Defaults<'a>,
    compiler: &Compiler,
    notes: &mut Notes,
) -> Result<Vec<Tendon>, SceneError> {
    let mut out = vec![];
    for element in root.all("tendon").flat_map(|s| &s.children) {
        let name = element.text("name").unwrap_or_default().to_string();
        if element.name != "fixed" {
            let text = "tendons through sites are not supported: their springs, limits and actuators are left out";
            notes.tag(NoteKind::NotYet, element, text);
            out.push(Tendon { name, joints: vec![], range: None });
            continue;
        }
        let a = defaults.resolve(element, "tendon", None)?;
        let range = a.numbers::<2>("range")?;
        let limited = a.automatic("limited")?.unwrap_or(compiler.autolimits && range.is_some());
        let range = range.filter(|_| limited);
        if range.is_some() || acts(&a)? {
            let text = "springs, damping, friction, limits and armature of tendons are not supported: left out";
            notes.element(NoteKind::NotYet, element, text);
        }
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
        out.push(Tendon { name, joints, range });
    }
    Ok(out)
}

/// True if a tendon does anything by itself.
fn acts(a: &Attributes) -> Result<bool, SceneError> {
    for name in ["stiffness", "damping"] {
        if a.merged::<3>(name, [0.0; 3])?.0 != [0.0; 3] {
            return Ok(true);
        }
    }
    Ok(a.number("frictionloss")?.unwrap_or(0.0) != 0.0 || a.number("armature")?.unwrap_or(0.0) != 0.0)
}

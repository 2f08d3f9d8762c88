//! What a geom does in a contact: bit masks, friction, the motion of its surface.

use stiction_body::math::Vec3;

use super::attributes::Attributes;
use super::notes::Notes;
use super::tree::Element;
use crate::description::NoteKind;
use crate::error::SceneError;
use crate::material::Material;

/// What a contact takes from a geom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    pub(super) condim: i64,
    /// Sliding, torsional, rolling.
    pub(super) friction: [f64; 3],
    /// Sliding across the first direction, where a pair has two numbers for it.
    pub(super) across: Option<f64>,
    pub(super) priority: i64,
    pub(super) velocity: Vec3,
}

impl Surface {
    /// Reads it.
    pub(super) fn read(a: &Attributes, element: &Element, notes: &mut Notes) -> Result<Self, SceneError> {
        let condim = a.integer("condim")?.unwrap_or(3);
        if ![1, 3, 4, 6].contains(&condim) {
            return Err(a.error("condim", format!("expected 1, 3, 4 or 6, found {condim}")));
        }
        let friction = a.merged::<3>("friction", [1.0, 0.005, 0.0001])?.0;
        if let Some(x) = friction.iter().find(|x| **x < 0.0) {
            return Err(a.error("friction", format!("must be at least 0, found {x}")));
        }
        let moving = a.numbers::<6>("surfacevel")?.unwrap_or([0.0; 6]);
        if moving[3..].iter().any(|x| *x != 0.0) {
            notes.attribute(NoteKind::NotYet, element, "surfacevel", "surfaces that turn are not supported");
        }
        let velocity = Vec3::new(moving[0], moving[1], moving[2]);
        Ok(Self { condim, friction, across: None, priority: a.integer("priority")?.unwrap_or(0), velocity })
    }

    /// The material of the geom alone.
    pub(super) fn material(&self) -> Material {
        Material {
            mu: if self.condim >= 3 { self.friction[0] } else { 0.0 },
            mu_across: self.across.filter(|_| self.condim >= 3),
            // The first direction of a pair: MuJoCo's, where the normal is not within 60° of y.
            mu_direction: if self.across.is_some() { Vec3::Y } else { Material::default().mu_direction },
            mu_spin: if self.condim >= 4 { self.friction[1] } else { 0.0 },
            mu_roll: if self.condim >= 6 { self.friction[2] } else { 0.0 },
            surface_velocity: self.velocity,
            ..Material::default()
        }
    }
}

/// A bit mask; 1 by default.
pub(super) fn mask(a: &Attributes, name: &str) -> Result<u32, SceneError> {
    let value = a.integer(name)?.unwrap_or(1);
    // Files may write all bits as −1.
    let bits = u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(i32::cast_unsigned));
    bits.ok_or_else(|| a.error(name, format!("expected 32 bits, found {value}")))
}

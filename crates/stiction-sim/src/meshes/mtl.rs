//! MTL, the materials of OBJ files: the diffuse colour `Kd`, the opacity `d` or `Tr`, and the
//! texture `map_Kd`.

use std::collections::BTreeMap;

use super::colors::{Paint, Surroundings};
use crate::looks::color;

/// Adds the paints of a file's materials to those known, by name; the first of a name counts.
pub(super) fn read(bytes: &[u8], around: &mut Surroundings, out: &mut BTreeMap<String, Paint>) {
    let text = String::from_utf8_lossy(bytes);
    let mut material = Material::default();
    for line in text.lines() {
        let line = line.trim();
        let (key, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        let rest = rest.trim();
        let number = || rest.parse::<f64>().ok();
        match key {
            "newmtl" => {
                material.end(around, out);
                material = Material { name: Some(rest.into()), ..Material::default() };
            }
            "Kd" => {
                let numbers: Result<Vec<f64>, _> = rest.split_ascii_whitespace().map(str::parse).collect();
                material.diffuse = numbers.ok().and_then(|n| color(&n)).map(|[r, g, b, _]| [r, g, b]);
            }
            "d" => material.opacity = number(),
            "Tr" => material.opacity = number().map(|t| 1.0 - t),
            // Options, each with a dash, come before the file.
            "map_Kd" if !rest.starts_with('-') => material.texture = Some(rest.into()),
            _ => {}
        }
    }
    material.end(around, out);
}

#[derive(Default)]
struct Material {
    name: Option<String>,
    diffuse: Option<[f64; 3]>,
    opacity: Option<f64>,
    texture: Option<String>,
}

impl Material {
    fn end(&self, around: &mut Surroundings, out: &mut BTreeMap<String, Paint>) {
        let Some(name) = self.name.as_ref().filter(|n| !out.contains_key(*n)) else { return };
        let texture = self.texture.as_ref().and_then(|file| around.texture(file));
        let rgb = match (self.diffuse, &texture) {
            (None, None) => return,
            // Many writers leave a black diffuse colour beside a texture, which readers do not
            // multiply.
            (Some([0.0, 0.0, 0.0]) | None, Some(_)) => [1.0; 3],
            (Some(kd), _) => kd,
        };
        // Zero is what some writers take for opaque.
        let opacity = self.opacity.filter(|d| *d > 0.0).unwrap_or(1.0);
        let rgba = color(&[rgb[0], rgb[1], rgb[2], opacity]);
        out.extend(rgba.map(|rgba| (name.clone(), Paint { rgba, texture, linear: false })));
    }
}

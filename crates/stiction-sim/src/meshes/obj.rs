//! OBJ: `v x y z` and `f a b c …`, with the colours of the materials that `mtllib` and `usemtl`
//! name and the places `vt u v` in their textures.

use std::collections::BTreeMap;

use stiction_body::math::Vec3;

use super::colors::{Painted, Surroundings};
use super::{fan, mtl};

pub(super) fn parse(bytes: &[u8], around: &mut Surroundings) -> Result<Painted, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Painted::default();
    let mut materials = BTreeMap::new();
    let (mut polygon, mut places, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        let mut joined = String::new();
        let mut line = line.trim_end();
        // A backslash at its end continues a line.
        while let Some(start) = line.strip_suffix('\\') {
            joined.push_str(start);
            joined.push(' ');
            line = lines.next().map_or("", |(_, next)| next.trim_end());
        }
        joined.push_str(line);
        let mut words = joined.split_ascii_whitespace();
        match words.next() {
            Some("v") => out.mesh.vertices.push(vertex(words, i + 1)?),
            Some("vt") if around.wants_colors() => places.push(place(words)),
            Some("f") => {
                polygon.clear();
                corners.clear();
                for word in words.take_while(|w| !w.starts_with('#')) {
                    let count = out.mesh.vertices.len();
                    polygon.push(
                        index(word, count)
                            .ok_or_else(|| format!("line {}: face names vertex \"{word}\" of {count}", i + 1))?,
                    );
                    let place = word.split('/').nth(1).and_then(|number| index(number, places.len()));
                    corners.push(place.map_or([f64::NAN; 2], |k| places[k as usize]));
                }
                for (triangle, corners) in fan(&polygon).zip(fan(&corners)) {
                    out.mesh.triangles.push(triangle);
                    if !places.is_empty() {
                        out.place_last(corners);
                    }
                }
            }
            Some("mtllib") => {
                // Names of files may have spaces.
                let name = joined.trim_start().trim_start_matches("mtllib").trim();
                if let Some(bytes) = around.read(name) {
                    mtl::read(&bytes, around, &mut materials);
                }
            }
            Some("usemtl") => {
                let name = joined.trim_start().trim_start_matches("usemtl").trim();
                out.paint(materials.get(name).cloned());
            }
            _ => {}
        }
    }
    Ok(out)
}

/// The first three numbers of a line; colours and weights may follow.
pub(super) fn vertex<'a>(mut words: impl Iterator<Item = &'a str>, line: usize) -> Result<Vec3, String> {
    let mut out = [0.0; 3];
    for x in &mut out {
        let word = words.next().ok_or_else(|| format!("line {line}: a vertex needs 3 numbers"))?;
        *x = word.parse().map_err(|_| format!("line {line}: \"{word}\" is not a number"))?;
    }
    Ok(Vec3::from_array(out))
}

/// A place in a texture, whose lower left corner is the origin in these files; one without numbers
/// is nowhere.
fn place<'a>(mut words: impl Iterator<Item = &'a str>) -> [f64; 2] {
    let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
    let (u, v) = (number(), number());
    [u.unwrap_or(f64::NAN), 1.0 - v.unwrap_or(0.0)]
}

/// The vertex of `7`, `7/1`, `7/1/2` or `7//2`, from 1; negative ones count back from the last.
fn index(word: &str, count: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let index = if number < 0 { number.checked_add(i64::try_from(count).ok()?)? } else { number - 1 };
    u32::try_from(index).ok().filter(|i| (*i as usize) < count)
}

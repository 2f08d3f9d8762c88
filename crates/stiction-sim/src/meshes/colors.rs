//! Colours that mesh files give to runs of triangles, and the material files and textures that they
//! name. Nothing here is an error: what cannot be read is noted.

use std::collections::BTreeMap;
use std::path::Path;

use super::TriangleMesh;
use crate::looks::Rgba;
use crate::picture::Picture;

/// Parts of a mesh that have a colour of their own at most: each becomes a shape.
const MOST_COLORS: usize = 64;
/// Files and textures that are read of one mesh at most, so that a file that repeats itself ends.
const MOST_NAMED: usize = 16;
/// Bytes of the pixels of a texture at most: 4096 × 4096 of four.
const MOST_TEXTURE_BYTES: usize = 1 << 26;

/// Triangles as they stand in a file, with the colours it gives them.
#[derive(Debug, Clone, Default)]
pub(super) struct Painted {
    pub mesh: TriangleMesh,
    /// First triangle and colour of each run; what comes before has none.
    runs: Vec<(usize, Option<Rgba>)>,
}

impl Painted {
    /// Gives a colour to the triangles that are added from here on.
    pub fn paint(&mut self, rgba: Option<Rgba>) {
        if self.runs.last().map_or(rgba.is_some(), |(_, last)| *last != rgba) {
            self.runs.push((self.mesh.triangles.len(), rgba));
        }
    }

    /// Whether any triangle may have a colour.
    pub fn has_colors(&self) -> bool {
        !self.runs.is_empty()
    }

    /// The colour of a triangle.
    pub fn color(&self, triangle: usize) -> Option<Rgba> {
        let run = self.runs.partition_point(|(first, _)| *first <= triangle).checked_sub(1)?;
        self.runs[run].1
    }
}

impl From<TriangleMesh> for Painted {
    fn from(mesh: TriangleMesh) -> Self {
        Self { mesh, runs: vec![] }
    }
}

/// A part of a mesh in one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct ColoredPart {
    /// Its colour; `None` where the file gives none.
    pub rgba: Option<Rgba>,
    /// Its triangles.
    pub mesh: TriangleMesh,
}

/// The parts of a mesh whose triangles have these colours, or none, in the order in which colours
/// first come.
pub(super) fn split(mesh: &TriangleMesh, colors: &[Option<Rgba>]) -> Vec<ColoredPart> {
    const UNUSED: u32 = u32::MAX;
    let mut part_of = BTreeMap::new();
    let mut members: Vec<(Option<Rgba>, Vec<usize>)> = Vec::new();
    let key = |rgba: Option<Rgba>| rgba.map(|c| c.map(f64::to_bits));
    for i in 0..mesh.triangles.len() {
        let rgba = colors.get(i).copied().flatten();
        let rgba = rgba.filter(|c| members.len() < MOST_COLORS || part_of.contains_key(&key(Some(*c))));
        let part = *part_of.entry(key(rgba)).or_insert(members.len());
        if part == members.len() {
            members.push((rgba, vec![]));
        }
        members[part].1.push(i);
    }
    let mut number = vec![UNUSED; mesh.vertices.len()];
    let mut parts = Vec::new();
    for (rgba, triangles) in members {
        let mut out = TriangleMesh::default();
        for &i in &triangles {
            let corners = mesh.triangles[i].map(|v| {
                let at = &mut number[v as usize];
                if *at == UNUSED {
                    *at = out.vertices.len() as u32;
                    out.vertices.push(mesh.vertices[v as usize]);
                }
                *at
            });
            out.triangles.push(corners);
        }
        triangles.iter().flat_map(|&i| mesh.triangles[i]).for_each(|v| number[v as usize] = UNUSED);
        parts.push(ColoredPart { rgba, mesh: out });
    }
    parts
}

/// The folder of a mesh file, and what is to be said of the files it names.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// `None` where colours are of no use: then neither files nor textures are read.
    folder: Option<&'a Path>,
    /// How many more files and textures are read.
    left: usize,
    /// What could not be read.
    pub notes: Vec<String>,
}

impl<'a> Surroundings<'a> {
    pub fn new(folder: Option<&'a Path>) -> Self {
        Self { folder, left: MOST_NAMED, notes: vec![] }
    }

    /// The contents of a file that the mesh names.
    pub fn read(&mut self, name: &str) -> Option<Vec<u8>> {
        self.left = self.left.checked_sub(1)?;
        let path = self.folder?.join(name.replace('\\', "/"));
        match crate::files::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(e) => {
                self.note(format!("\"{}\" cannot be read: {e}", path.display()));
                None
            }
        }
    }

    /// The mean colour of a texture.
    pub fn texture(&mut self, name: &str) -> Option<[f64; 3]> {
        let bytes = self.read(name)?;
        self.mean_color(&bytes, name)
    }

    /// The mean colour of a picture in memory.
    pub fn mean_color(&mut self, bytes: &[u8], name: &str) -> Option<[f64; 3]> {
        self.folder?;
        self.left = self.left.checked_sub(1)?;
        let mean = Picture::from_png(bytes, MOST_TEXTURE_BYTES).map(|p| p.mean_color());
        let mean = mean.unwrap_or_else(|e| {
            self.note(format!("the texture \"{name}\" is not read, only PNG files are: {e}"));
            None
        });
        if mean.is_some() {
            self.note(format!("the texture \"{name}\" is drawn as its mean colour"));
        }
        mean
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

/// A channel from 0 to 1 of linear light as screens take it.
pub(super) fn linear_to_srgb(x: f64) -> f64 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.0 - 1.055 * (1.0 - libm::pow(x, 1.0 / 2.4)) }
}

/// A channel from 0 to 1, as screens take it, in linear light.
pub(super) fn srgb_to_linear(x: f64) -> f64 {
    if x <= 0.040_45 { x / 12.92 } else { libm::pow((x + 0.055) / 1.055, 2.4) }
}

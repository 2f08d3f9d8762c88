//! Colours that mesh files give to triangles: by runs, by the textures of materials, or one by one;
//! and the material files and textures that they name. Nothing here is an error: what cannot be read
//! is noted.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::TriangleMesh;
use super::palette::reduce;
use crate::looks::Rgba;
use crate::picture::Picture;

/// Parts of a mesh that have a colour of their own at most: each becomes a shape.
const MOST_COLORS: usize = 64;
/// Files and textures that are read of one mesh at most, so that a file that repeats itself ends.
const MOST_NAMED: usize = 32;
/// Bytes of the pixels of a texture at most: 4096 × 4096 of four.
const MOST_TEXTURE_BYTES: usize = 1 << 26;

/// Places of the three corners of a triangle in a texture: columns and rows from 0 to 1, from the
/// upper left.
pub(super) type Corners = [[f64; 2]; 3];

/// A picture that colours surfaces.
#[derive(Debug)]
pub(crate) struct Texture {
    picture: Picture,
    /// The mean of all of it, for surfaces that have no places in it.
    pub(crate) mean: [f64; 3],
}

impl Texture {
    /// Reads a PNG or JPEG file.
    ///
    /// # Errors
    /// If it is none, too large, or nothing of it is opaque.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let picture = Picture::read(bytes, MOST_TEXTURE_BYTES)?;
        let mean = picture.mean_color().ok_or("nothing of it is opaque")?;
        Ok(Self { picture, mean })
    }
}

/// What a material colours triangles with.
#[derive(Debug, Clone)]
pub(crate) struct Paint {
    /// Its colour, by which that of its texture is multiplied.
    pub(crate) rgba: Rgba,
    /// Its texture.
    pub(crate) texture: Option<Rc<Texture>>,
    /// True if colours are multiplied as linear light; they are as screens take them otherwise.
    pub(crate) linear: bool,
}

impl Paint {
    /// One colour.
    pub(super) fn plain(rgba: Rgba) -> Self {
        Self { rgba, texture: None, linear: false }
    }

    /// Whether it is the same, of the same texture.
    fn is(&self, other: &Self) -> bool {
        let texture = match (&self.texture, &other.texture) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        texture && (self.rgba, self.linear) == (other.rgba, other.linear)
    }

    /// The colour of a triangle with these corners, and with a colour of its own.
    fn color(&self, corners: Option<&Corners>, own: Option<Rgba>) -> Rgba {
        let texture = self.texture.as_ref().map(|texture| {
            let [r, g, b] = corners.and_then(|c| texture.picture.mean_over(*c)).unwrap_or(texture.mean);
            [r, g, b, 1.0]
        });
        [texture, own].into_iter().flatten().fold(self.rgba, |product, other| self.product(product, other))
    }

    fn product(&self, a: Rgba, b: Rgba) -> Rgba {
        let channel = |i: usize| {
            if self.linear { linear_to_srgb(srgb_to_linear(a[i]) * srgb_to_linear(b[i])) } else { a[i] * b[i] }
        };
        [channel(0), channel(1), channel(2), a[3] * b[3]]
    }
}

/// Triangles as they stand in a file, with the colours it gives them.
#[derive(Debug, Clone, Default)]
pub(super) struct Painted {
    pub mesh: TriangleMesh,
    /// First triangle and paint of each run; what comes before has none.
    runs: Vec<(usize, Option<Paint>)>,
    /// Places of the triangles in textures; those after the last have none.
    corners: Vec<Corners>,
    /// Colours of the triangles' own; those after the last have none.
    own: Vec<Option<Rgba>>,
}

impl Painted {
    /// Gives a paint to the triangles that are added from here on.
    pub(super) fn paint(&mut self, paint: Option<Paint>) {
        let same = match (self.runs.last().and_then(|(_, last)| last.as_ref()), &paint) {
            (Some(last), Some(paint)) => last.is(paint),
            (last, paint) => last.is_none() && paint.is_none(),
        };
        if !same {
            self.runs.push((self.mesh.triangles.len(), paint));
        }
    }

    /// Gives one paint to all triangles.
    pub(super) fn repaint(&mut self, paint: Paint) {
        self.runs = vec![(0, Some(paint))];
    }

    /// Gives the triangle that was added last its place in a texture.
    pub(super) fn place_last(&mut self, corners: Corners) {
        const NOWHERE: Corners = [[f64::NAN; 2]; 3];
        self.corners.resize(self.mesh.triangles.len().saturating_sub(1), NOWHERE);
        self.corners.push(corners);
    }

    /// Gives the triangle that was added last a colour of its own.
    pub(super) fn color_last(&mut self, rgba: Rgba) {
        self.own.resize(self.mesh.triangles.len().saturating_sub(1), None);
        self.own.push(Some(rgba));
    }

    /// Whether any triangle may have a colour.
    pub(super) fn has_colors(&self) -> bool {
        !self.runs.is_empty() || !self.own.is_empty()
    }

    /// The colour of a triangle.
    pub(super) fn color(&self, triangle: usize) -> Option<Rgba> {
        let run = self.runs.partition_point(|(first, _)| *first <= triangle).checked_sub(1);
        let own = self.own.get(triangle).copied().flatten();
        match run.and_then(|run| self.runs[run].1.as_ref()) {
            Some(paint) => Some(paint.color(self.corners.get(triangle), own)),
            None => own,
        }
    }
}

impl From<TriangleMesh> for Painted {
    fn from(mesh: TriangleMesh) -> Self {
        Self { mesh, ..Self::default() }
    }
}

/// The mean of colours; of none white.
pub(super) fn mean(colors: &[Rgba]) -> Rgba {
    let count = colors.len().max(1) as f64;
    [0, 1, 2, 3].map(|i| if colors.is_empty() { 1.0 } else { colors.iter().map(|c| c[i]).sum::<f64>() / count })
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
/// first come. Many colours become few that are near.
pub(super) fn split(mesh: &TriangleMesh, mut colors: Vec<Option<Rgba>>) -> Vec<ColoredPart> {
    const UNUSED: u32 = u32::MAX;
    let mut part_of = BTreeMap::new();
    let mut members: Vec<(Option<Rgba>, Vec<usize>)> = Vec::new();
    let key = |rgba: Option<Rgba>| rgba.map(|c| c.map(f64::to_bits));
    reduce(&mut colors, MOST_COLORS);
    for i in 0..mesh.triangles.len() {
        let rgba = colors.get(i).copied().flatten();
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
    /// `None` where the file's own colours are of no use: then neither files nor textures are read.
    folder: Option<&'a Path>,
    /// Of all triangles, whatever the file says.
    pub paint: Option<Paint>,
    /// How many more files and textures are read.
    left: usize,
    /// What could not be read.
    pub notes: Vec<String>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(folder: Option<&'a Path>) -> Self {
        Self { folder, paint: None, left: MOST_NAMED, notes: vec![] }
    }

    /// All triangles get this paint; no other file is read.
    pub(super) fn painted(paint: Paint) -> Self {
        Self { paint: Some(paint), ..Self::new(None) }
    }

    /// The contents of a file that the mesh names.
    pub(super) fn read(&mut self, name: &str) -> Option<Vec<u8>> {
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

    /// Whether colours are of use.
    pub(super) fn wants_colors(&self) -> bool {
        self.folder.is_some() || self.paint.is_some()
    }

    /// A texture in a file.
    pub(super) fn texture(&mut self, name: &str) -> Option<Rc<Texture>> {
        let bytes = self.read(name)?;
        self.texture_of(&bytes, name)
    }

    /// A texture in memory.
    pub(super) fn texture_of(&mut self, bytes: &[u8], name: &str) -> Option<Rc<Texture>> {
        self.folder?;
        self.left = self.left.checked_sub(1)?;
        match Texture::read(bytes) {
            Ok(texture) => {
                self.note(format!("the texture \"{name}\" is drawn as one colour per triangle"));
                Some(Rc::new(texture))
            }
            Err(e) => {
                self.note(format!("the texture \"{name}\" is not read, only PNG and JPEG files are: {e}"));
                None
            }
        }
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

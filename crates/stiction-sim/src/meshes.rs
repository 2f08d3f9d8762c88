//! Triangle meshes from files: STL (binary and text), OBJ, COLLADA, GLB, PLY (binary and text).
//!
//! The readers are our own: the formats' geometry is a few lines each, and what is needed here (any count checked against the file's size, text
//! read in double precision, no surprise in a broken file) is most of the work.

use std::path::Path;

use stiction_body::math::Vec3;

use crate::error::SceneError;
use crate::looks::Rgba;

mod collada;
mod colors;
mod glb;
mod mtl;
mod obj;
mod palette;
mod ply;
mod stl;

pub use colors::ColoredPart;
pub(crate) use colors::{Paint, Texture};
use colors::{Painted, Surroundings, split};

/// A surface of triangles: no two vertices at the same place, no vertex unused, no triangle with a vertex twice.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertices (m).
    pub vertices: Vec<Vec3>,
    /// Triples of vertices, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Format of a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshFormat {
    /// Stereolithography, binary or text.
    Stl,
    /// Wavefront.
    Obj,
    /// COLLADA: positions with the file's unit and node transforms, along the axes they are written in.
    Collada,
    /// Binary glTF 2.0: triangles with node transforms, along the axes they are written in.
    Glb,
    /// Polygon file format, binary or text.
    Ply,
}

impl MeshFormat {
    /// The format by the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "stl" | "stlb" => Some(Self::Stl),
            "obj" => Some(Self::Obj),
            "dae" => Some(Self::Collada),
            "glb" => Some(Self::Glb),
            "ply" => Some(Self::Ply),
            _ => None,
        }
    }
}

/// Loads a mesh and scales it along each axis; a mirroring scale turns the triangles around.
///
/// # Errors
/// Naming the file, if it is missing, of an unknown format, broken, or without triangles; or if a scale is 0.
pub fn load(path: &Path, scale: Vec3) -> Result<TriangleMesh, SceneError> {
    let (bytes, format) = read(path)?;
    parse(&bytes, format, scale).map_err(|message| broken(path, message))
}

/// A mesh by the colours its file gives, and what of these could not be read, in words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColoredMesh {
    /// All of it, as [`load`] gives it.
    pub whole: TriangleMesh,
    /// Its parts of one colour each, at least one.
    pub parts: Vec<ColoredPart>,
    /// Notes on materials and textures.
    pub notes: Vec<String>,
}

/// Loads a mesh as [`load`] does, in parts of one colour each: diffuse colours of COLLADA and of
/// the MTL files that OBJ files name, base colours of GLB, colours of vertices (GLB, PLY) and faces
/// (PLY). A texture (PNG, JPEG) gives each triangle the mean of what it covers; more than 64 colours
/// become 64 that are near.
///
/// # Errors
/// As [`load`]: colours that cannot be read are no error.
pub fn load_colored(path: &Path, scale: Vec3) -> Result<ColoredMesh, SceneError> {
    let (bytes, format) = read(path)?;
    let mut around = Surroundings::new(path.parent());
    let (whole, colors) = painted(&bytes, format, scale, &mut around).map_err(|message| broken(path, message))?;
    Ok(ColoredMesh { parts: split(&whole, colors), whole, notes: around.notes })
}

fn broken(path: &Path, message: String) -> SceneError {
    SceneError::new("mesh", message).in_file(path)
}

/// The bytes of a mesh file, and its format.
fn read(path: &Path) -> Result<(Vec<u8>, MeshFormat), SceneError> {
    let fail = |message: String| broken(path, message);
    let Some(format) = MeshFormat::of(path) else {
        return Err(fail("the format is not known by its ending; .stl, .obj, .dae, .glb and .ply are read".into()));
    };
    let bytes = crate::files::read(path).map_err(|e| fail(format!("cannot read: {e}")))?;
    Ok((bytes, format))
}

/// Reads a mesh from the bytes of a file.
///
/// # Errors
/// If the bytes are not of that format, without triangles, or a number is not finite; or if a scale is 0.
pub fn parse(bytes: &[u8], format: MeshFormat, scale: Vec3) -> Result<TriangleMesh, String> {
    painted(bytes, format, scale, &mut Surroundings::new(None)).map(|(mesh, _)| mesh)
}

/// Reads a mesh, as [`parse`] does, in parts of the colours that a paint gives it, by the places in
/// textures that the file has.
///
/// # Errors
/// As [`parse`].
pub(crate) fn parse_painted(bytes: &[u8], format: MeshFormat, paint: Paint) -> Result<Vec<ColoredPart>, String> {
    let (mesh, colors) = painted(bytes, format, Vec3::ONE, &mut Surroundings::painted(paint))?;
    Ok(split(&mesh, colors))
}

/// A mesh, and the colours of its triangles; of a file without colours none.
fn painted(
    bytes: &[u8],
    format: MeshFormat,
    scale: Vec3,
    around: &mut Surroundings,
) -> Result<(TriangleMesh, Vec<Option<Rgba>>), String> {
    if !(scale.is_finite() && scale.abs().min_element() > 0.0) {
        return Err(format!("the scale must be finite and not 0, found {scale}"));
    }
    let mut raw = match format {
        MeshFormat::Stl => stl::parse(bytes)?.into(),
        MeshFormat::Obj => obj::parse(bytes, around)?,
        MeshFormat::Collada => collada::parse(bytes, around)?,
        MeshFormat::Glb => glb::parse(bytes, around)?,
        MeshFormat::Ply => ply::parse(bytes, around)?,
    };
    around.paint.take().into_iter().for_each(|paint| raw.repaint(paint));
    if let Some(v) = raw.mesh.vertices.iter().find(|v| !v.is_finite()) {
        return Err(format!("a vertex is not finite: {v}"));
    }
    let (mut mesh, colors) = welded(&raw);
    if mesh.triangles.is_empty() {
        return Err("there are no triangles".into());
    }
    mesh.vertices.iter_mut().for_each(|v| *v *= scale);
    if let Some(v) = mesh.vertices.iter().find(|v| !v.is_finite()) {
        return Err(format!("a vertex is not finite once scaled: {v}"));
    }
    if scale.signum().element_product() < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok((mesh, colors))
}

/// Vertices at the same place become one, in the order they are first used; triangles that lose a
/// corner go. Those that stay have their colours, if there are any.
fn welded(painted: &Painted) -> (TriangleMesh, Vec<Option<Rgba>>) {
    let raw = &painted.mesh;
    let place = |i: u32| raw.vertices[i as usize];
    let compare = |a: u32, b: u32| {
        let (p, q) = (place(a) + Vec3::ZERO, place(b) + Vec3::ZERO);
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z))
    };
    let mut order: Vec<u32> = (0..raw.vertices.len() as u32).collect();
    order.sort_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    let mut first = vec![0; raw.vertices.len()];
    let mut leader = 0;
    for (k, &i) in order.iter().enumerate() {
        if k == 0 || compare(order[k - 1], i).is_ne() {
            leader = i;
        }
        first[i as usize] = leader;
    }
    const UNUSED: u32 = u32::MAX;
    let mut number = vec![UNUSED; raw.vertices.len()];
    let (mut out, mut colors) = (TriangleMesh::default(), Vec::new());
    for (i, triangle) in raw.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|i| first[i as usize]);
        if a == b || b == c || c == a {
            continue;
        }
        let triangle = [a, b, c].map(|i| {
            if number[i as usize] == UNUSED {
                number[i as usize] = out.vertices.len() as u32;
                out.vertices.push(place(i));
            }
            number[i as usize]
        });
        out.triangles.push(triangle);
        colors.extend(painted.has_colors().then(|| painted.color(i)));
    }
    (out, colors)
}

/// A polygon as a fan of triangles.
fn fan<T: Copy>(polygon: &[T]) -> impl Iterator<Item = [T; 3]> {
    polygon.get(1..).unwrap_or_default().windows(2).map(|pair| [polygon[0], pair[0], pair[1]])
}

#[cfg(test)]
mod tests;

//! Meshes and height fields: read from their files when a geom first needs them.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stiction_body::Shape;
use stiction_body::math::{Quat, Vec3};

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::frames::quaternion;
use super::hfield::HeightField;
use super::msh;
use super::notes::file_name;
use super::solid::{MeshInertia, Solid};
use super::tree::Element;
use crate::error::{SceneError, nearest};
use crate::meshes::{self, MeshFormat, TriangleMesh};

/// All assets that geoms can refer to, by name.
#[derive(Debug)]
pub(super) struct Assets<'a> {
    meshes: BTreeMap<String, Mesh<'a>>,
    height_fields: BTreeMap<String, HeightField<'a>>,
}

/// A mesh asset.
#[derive(Debug)]
pub(super) struct Mesh<'a> {
    element: &'a Element,
    file: Option<PathBuf>,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    scale: Vec3,
    refpos: Vec3,
    refquat: Quat,
    pub(super) inertia: MeshInertia,
    /// Something about it that is not supported, for geoms that need it.
    unsupported: Option<&'static str>,
    loaded: OnceCell<TriangleMesh>,
    solid: OnceCell<Option<Solid>>,
}

impl<'a> Assets<'a> {
    /// Reads all `<asset>` sections; files must be there, but are not read yet.
    pub(super) fn read(
        root: &'a Element,
        defaults: &Defaults<'a>,
        compiler: &Compiler,
        directory: &Path,
    ) -> Result<Self, SceneError> {
        let mut out = Self { meshes: BTreeMap::new(), height_fields: BTreeMap::new() };
        for element in root.all("asset").flat_map(|s| &s.children) {
            match element.name.as_str() {
                "mesh" => {
                    let mesh = Mesh::read(element, defaults, compiler, directory)?;
                    let name = asset_name(element, mesh.file.as_deref())?;
                    if out.meshes.insert(name.clone(), mesh).is_some() {
                        return Err(element.error(format!("there is already a mesh \"{name}\"")));
                    }
                }
                "hfield" => {
                    let field = HeightField::read(element, compiler, directory)?;
                    let name = asset_name(element, field.file.as_deref())?;
                    if out.height_fields.insert(name.clone(), field).is_some() {
                        return Err(element.error(format!("there is already a height field \"{name}\"")));
                    }
                }
                "model" => return Err(element.error("models within models are not supported yet")),
                _ => {}
            }
        }
        Ok(out)
    }

    /// The mesh a geom refers to.
    pub(super) fn mesh(&self, a: &Attributes, name: &str) -> Result<&Mesh<'a>, SceneError> {
        self.meshes.get(name).ok_or_else(|| missing(a, "mesh", name, self.meshes.keys()))
    }

    /// The height field a geom refers to.
    pub(super) fn height_field(&self, a: &Attributes, name: &str) -> Result<&HeightField<'a>, SceneError> {
        self.height_fields.get(name).ok_or_else(|| missing(a, "hfield", name, self.height_fields.keys()))
    }
}

fn missing<'s>(a: &Attributes, kind: &str, name: &str, known: impl Iterator<Item = &'s String>) -> SceneError {
    let near = nearest(name, known.map(String::as_str)).map_or(String::new(), |n| format!(" (did you mean \"{n}\"?)"));
    a.error(kind, format!("there is no {kind} \"{name}\" among the assets{near}"))
}

/// The name of an asset, or that of its file without folder and ending.
fn asset_name(element: &Element, file: Option<&Path>) -> Result<String, SceneError> {
    let stem = || file.and_then(Path::file_stem).map(|s| s.to_string_lossy().into_owned());
    let name = element.text("name").map(str::to_string).or_else(stem);
    name.ok_or_else(|| element.error("needs the attribute \"name\" or \"file\""))
}

/// The path of an element's file, which must be there.
pub(super) fn asset_file(
    element: &Element,
    compiler: &Compiler,
    directory: &Path,
) -> Result<Option<PathBuf>, SceneError> {
    let Some(file) = element.text("file") else { return Ok(None) };
    let path = compiler.asset_path(directory, file);
    if !path.is_file() {
        return Err(element.attribute_error("file", format!("there is no file \"{}\"", path.display())));
    }
    Ok(Some(path))
}

impl<'a> Mesh<'a> {
    fn read(
        element: &'a Element,
        defaults: &Defaults<'a>,
        compiler: &Compiler,
        directory: &Path,
    ) -> Result<Self, SceneError> {
        let a = defaults.resolve(element, "mesh", None)?;
        let word = a.keyword("inertia", &["convex", "exact", "legacy", "shell"])?;
        let inertia = match word {
            Some("convex") => MeshInertia::Convex,
            Some("shell") => MeshInertia::Shell,
            Some("exact") => MeshInertia::Exact,
            None if compiler.exact_meshes => MeshInertia::Exact,
            _ => MeshInertia::Legacy,
        };
        let file = asset_file(element, compiler, directory)?;
        let vertices = triples(element, "vertex", a.list("vertex")?)?;
        let triangles = faces(element, &a, vertices.len())?;
        let unsupported = if element.text("builtin").is_some_and(|b| b != "none") {
            Some("meshes made by the compiler (builtin) are not supported yet")
        } else if element.all("plugin").next().is_some() {
            Some("meshes made by plugins are not supported")
        } else if file.is_none() && vertices.is_empty() {
            return Err(element.error("needs the attribute \"file\" or \"vertex\""));
        } else {
            None
        };
        let scale = a.vector("scale")?.unwrap_or(Vec3::ONE);
        if scale.abs().min_element() == 0.0 {
            return Err(a.error("scale", "must not be 0"));
        }
        Ok(Self {
            element,
            file,
            vertices,
            triangles,
            scale,
            refpos: a.vector("refpos")?.unwrap_or(Vec3::ZERO),
            refquat: quaternion(&a, "refquat")?.unwrap_or(Quat::IDENTITY),
            inertia,
            unsupported,
            loaded: OnceCell::new(),
            solid: OnceCell::new(),
        })
    }

    /// Its vertices and triangles, scaled. Without triangles it is the hull of its points.
    pub(super) fn surface(&self) -> Result<&TriangleMesh, SceneError> {
        if let Some(mesh) = self.loaded.get() {
            return Ok(mesh);
        }
        if let Some(what) = self.unsupported {
            return Err(self.element.error(what));
        }
        let mut mesh = match &self.file {
            Some(file) => self.read_file(file)?,
            None => TriangleMesh { vertices: self.vertices.clone(), triangles: self.triangles.clone() },
        };
        for v in &mut mesh.vertices {
            *v = self.refquat.inverse() * (*v - self.refpos) * self.scale;
        }
        if self.scale.x * self.scale.y * self.scale.z < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        if mesh.vertices.iter().any(|v| !v.is_finite()) {
            return Err(self.element.error("a vertex is not finite once scaled"));
        }
        Ok(self.loaded.get_or_init(|| mesh))
    }

    fn read_file(&self, path: &Path) -> Result<TriangleMesh, SceneError> {
        let fail = |message: String| self.element.attribute_error("file", format!("\"{}\": {message}", path.display()));
        let bytes = crate::files::read(path).map_err(|e| fail(format!("cannot read: {e}")))?;
        let format = match self.element.text("content_type") {
            Some("model/stl") => Some(MeshFormat::Stl),
            Some("model/obj") => Some(MeshFormat::Obj),
            Some("model/vnd.mujoco.msh") => None,
            _ => MeshFormat::of(path),
        };
        match format {
            Some(format) => meshes::parse(&bytes, format, Vec3::ONE).map_err(fail),
            None if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("msh")) => msh::parse(&bytes).map_err(fail),
            None => Err(fail(format!("{} is no STL, OBJ or MSH file", file_name(path)))),
        }
    }

    /// Its convex hull as a shape.
    pub(super) fn hull(&self) -> Result<Shape, SceneError> {
        let points = self.surface()?.vertices.clone();
        Shape::hull(points).map_err(|e| self.element.error(e.to_string()))
    }

    /// Its volume, centre and inertia.
    pub(super) fn solid(&self) -> Result<&Solid, SceneError> {
        let mesh = self.surface()?;
        let solid = self.solid.get_or_init(|| match self.inertia {
            kind if kind != MeshInertia::Convex && !mesh.triangles.is_empty() => {
                Solid::new(&mesh.vertices, &mesh.triangles, kind)
            }
            MeshInertia::Shell => None,
            _ => Solid::of_hull(&mesh.vertices),
        });
        let what = if self.inertia == MeshInertia::Shell { "area" } else { "volume" };
        solid.as_ref().ok_or_else(|| self.element.error(format!("has no {what}, so its mass cannot be computed")))
    }
}

fn triples(element: &Element, name: &str, list: Option<Vec<f64>>) -> Result<Vec<Vec3>, SceneError> {
    let list = list.unwrap_or_default();
    if !list.len().is_multiple_of(3) {
        return Err(element.attribute_error(name, format!("expected three numbers each, found {}", list.len())));
    }
    Ok(list.chunks_exact(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect())
}

fn faces(element: &Element, a: &Attributes, vertices: usize) -> Result<Vec<[u32; 3]>, SceneError> {
    let corner = |x: f64| {
        let fits = x >= 0.0 && x.fract() == 0.0 && x < vertices as f64;
        fits.then_some(x as u32).ok_or_else(|| {
            element.attribute_error("face", format!("expected vertices from 0 to {}, found {x}", vertices.max(1) - 1))
        })
    };
    let triangles = triples(element, "face", a.list("face")?)?;
    triangles.iter().map(|t| Ok([corner(t.x)?, corner(t.y)?, corner(t.z)?])).collect()
}

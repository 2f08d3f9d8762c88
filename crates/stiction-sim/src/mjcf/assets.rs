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
use super::textures::{self, Material};
use super::tree::Element;
use crate::error::{SceneError, did_you_mean};
use crate::meshes::{self, ColoredPart, MeshFormat, Paint, TriangleMesh};

/// All assets that geoms can refer to, by name.
#[derive(Debug)]
pub(super) struct Assets<'a> {
    meshes: BTreeMap<String, Mesh<'a>>,
    height_fields: BTreeMap<String, HeightField<'a>>,
    materials: BTreeMap<String, Material>,
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
    /// Why it cannot be used, for geoms that need it.
    unusable: Option<SceneError>,
    loaded: OnceCell<TriangleMesh>,
    solid: OnceCell<Option<Solid>>,
}

impl<'a> Assets<'a> {
    /// Reads all `<asset>` sections; files are not read yet.
    pub(super) fn read(
        root: &'a Element,
        defaults: &Defaults<'a>,
        compiler: &Compiler,
        directory: &Path,
    ) -> Result<Self, SceneError> {
        let materials = textures::materials(root, defaults, compiler, directory)?;
        let mut out = Self { meshes: BTreeMap::new(), height_fields: BTreeMap::new(), materials };
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
                _ => {}
            }
        }
        Ok(out)
    }

    /// The mesh a geom refers to.
    pub(super) fn mesh(&self, a: &Attributes, name: &str) -> Result<&Mesh<'a>, SceneError> {
        self.meshes.get(name).ok_or_else(|| missing(a, "mesh", name, self.meshes.keys()))
    }

    /// The material of that name, if there is one.
    pub(super) fn material(&self, name: &str) -> Option<&Material> {
        self.materials.get(name)
    }

    /// The height field a geom refers to.
    pub(super) fn height_field(&self, a: &Attributes, name: &str) -> Result<&HeightField<'a>, SceneError> {
        self.height_fields.get(name).ok_or_else(|| missing(a, "hfield", name, self.height_fields.keys()))
    }
}

fn missing<'s>(a: &Attributes, kind: &str, name: &str, known: impl Iterator<Item = &'s String>) -> SceneError {
    let near = did_you_mean(name, known.map(String::as_str));
    a.error(kind, format!("there is no {kind} \"{name}\" among the assets{near}"))
}

/// The name of an asset, or that of its file without folder and ending.
fn asset_name(element: &Element, file: Option<&Path>) -> Result<String, SceneError> {
    let stem = || file.and_then(Path::file_stem).map(|s| s.to_string_lossy().into_owned());
    let name = element.text("name").map(str::to_string).or_else(stem);
    name.ok_or_else(|| element.error("needs the attribute \"name\" or \"file\""))
}

/// The path of an element's file. If it is not there, and the element stands in an included file of another folder, it is looked
/// for in that folder of the assets, as MuJoCo does.
pub(super) fn asset_file(element: &Element, compiler: &Compiler, directory: &Path) -> Option<PathBuf> {
    let file = element.text("file")?;
    let compiler = compiler.at(&Attributes::of(element));
    let directory = compiler.directory.as_deref().unwrap_or(directory);
    let path = compiler.asset_path(directory, file);
    let folder = element.file().and_then(Path::parent).and_then(|f| f.strip_prefix(directory).ok());
    let beside = folder.map(|folder| compiler.asset_path(directory, &folder.join(file).to_string_lossy()));
    Some(beside.filter(|beside| !path.exists() && beside.exists()).unwrap_or(path))
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
        let file = asset_file(element, compiler, directory);
        let vertices = triples(element, "vertex", a.list("vertex")?)?;
        let triangles = faces(element, &a, vertices.len())?;
        let gone = file.as_deref().filter(|path| !path.is_file());
        let unusable = if element.text("builtin").is_some_and(|b| b != "none") {
            Some(element.error("meshes made by the compiler (builtin) are not supported yet"))
        } else if element.all("plugin").next().is_some() {
            Some(element.error("meshes made by plugins are not supported"))
        } else if let Some(path) = gone {
            Some(element.attribute_error("file", format!("there is no file \"{}\"", path.display())))
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
            unusable,
            loaded: OnceCell::new(),
            solid: OnceCell::new(),
        })
    }

    /// Its vertices and triangles, scaled. Without triangles it is the hull of its points.
    pub(super) fn surface(&self) -> Result<&TriangleMesh, SceneError> {
        if let Some(mesh) = self.loaded.get() {
            return Ok(mesh);
        }
        if let Some(error) = &self.unusable {
            return Err(error.clone());
        }
        let mut mesh = match &self.file {
            Some(file) => self.read_file(file)?,
            None => TriangleMesh { vertices: self.vertices.clone(), triangles: self.triangles.clone() },
        };
        self.place(&mut mesh);
        if mesh.vertices.iter().any(|v| !v.is_finite()) {
            return Err(self.element.error("a vertex is not finite once scaled"));
        }
        Ok(self.loaded.get_or_init(|| mesh))
    }

    /// Scales it, and puts its frame where it is to be.
    fn place(&self, mesh: &mut TriangleMesh) {
        for v in &mut mesh.vertices {
            *v = self.refquat.inverse() * (*v - self.refpos) * self.scale;
        }
        if self.scale.x * self.scale.y * self.scale.z < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
    }

    /// Its surface in the colours of a paint with a texture, by the places in it that its file has;
    /// none where the file has none.
    pub(super) fn painted(&self, paint: &Paint) -> Option<Vec<ColoredPart>> {
        let path = self.file.as_deref()?;
        let bytes = crate::files::read(path).ok()?;
        let mut parts = meshes::parse_painted(&bytes, self.format(path)?, paint.clone()).ok()?;
        parts.iter_mut().for_each(|part| self.place(&mut part.mesh));
        Some(parts)
    }

    /// The format of its file; none if that is MuJoCo's own, or not known.
    fn format(&self, path: &Path) -> Option<MeshFormat> {
        match self.element.text("content_type") {
            Some("model/stl") => Some(MeshFormat::Stl),
            Some("model/obj") => Some(MeshFormat::Obj),
            Some("model/vnd.mujoco.msh") => None,
            _ => MeshFormat::of(path),
        }
    }

    fn read_file(&self, path: &Path) -> Result<TriangleMesh, SceneError> {
        let fail = |message: String| self.element.attribute_error("file", format!("\"{}\": {message}", path.display()));
        let bytes = crate::files::read(path).map_err(|e| fail(format!("cannot read: {e}")))?;
        match self.format(path) {
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

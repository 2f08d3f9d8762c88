//! Shapes of collision and visual elements.

use std::path::PathBuf;

use stiction_body::Shape;
use stiction_body::math::{Mat3, Pose, Quat, Vec3, tangents};
use stiction_lcp::InputError;

use super::origin;
use super::paths::Paths;
use super::tree::LinkNode;
use crate::description::NoteKind;
use crate::error::{SceneError, nearest};
use crate::looks::Rgba;
use crate::meshes::{self, ColoredMesh, TriangleMesh};
use crate::xml::Element;

/// A collision or visual element of a link.
pub(super) struct Placed<'a> {
    pub name: Option<&'a str>,
    pub pose: Pose,
    pub shape: Shape,
    /// The colour that the file of a mesh gives it.
    pub rgba: Option<Rgba>,
}

const SHAPES: [&str; 6] = ["box", "sphere", "cylinder", "capsule", "mesh", "plane"];

/// What an element is for, and so what is said where it has no shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Collision,
    Visual,
}

impl Purpose {
    fn nothing(self) -> &'static str {
        match self {
            Self::Collision => "nothing can touch it",
            Self::Visual => "nothing is drawn",
        }
    }
}

/// All collision shapes of a link.
pub(super) fn read<'a>(link: &LinkNode<'a>, paths: &Paths, keep_meshes: bool) -> Result<Vec<Placed<'a>>, SceneError> {
    let mut out = Vec::new();
    for element in link.element.children_named("collision") {
        element.attribute("group");
        let keep = keep_meshes || element.attribute("concave").is_some_and(|t| t == "yes" || t == "true");
        element.children_named("verbose").for_each(|e| e.mark_all());
        element.children_named("material").for_each(|e| e.ignore("looks of collision shapes have no effect"));
        out.extend(read_placed(element, paths, keep, Purpose::Collision)?);
    }
    Ok(out)
}

/// The shape of a collision or visual element at its place, a visual mesh in parts of one colour
/// each; none where it has none, with a note.
pub(super) fn read_placed<'a>(
    element: Element<'a>,
    paths: &Paths,
    keep: bool,
    purpose: Purpose,
) -> Result<Vec<Placed<'a>>, SceneError> {
    let name = element.attribute("name").filter(|n| !n.is_empty());
    let pose = origin(element)?;
    let Some(geometry) = element.child("geometry") else {
        element.note(NoteKind::Warning, format!("has no <geometry>: {}", purpose.nothing()));
        return Ok(vec![]);
    };
    if let Some(element) = geometry.child("mesh").filter(|_| purpose == Purpose::Visual) {
        let parts = MeshFile::read(element, paths)?.drawn()?.into_iter();
        return Ok(parts.map(|(shape, rgba)| Placed { name, pose, shape, rgba }).collect());
    }
    let read = read_geometry(geometry, pose, paths, keep, purpose)?;
    Ok(read.into_iter().map(|(pose, shape)| Placed { name, pose, shape, rgba: None }).collect())
}

fn read_geometry(
    geometry: Element,
    pose: Pose,
    paths: &Paths,
    keep: bool,
    purpose: Purpose,
) -> Result<Option<(Pose, Shape)>, SceneError> {
    let known = SHAPES.iter().find_map(|name| geometry.child(name));
    let Some(element) = known else {
        return match geometry.children().next() {
            None => {
                geometry.note(NoteKind::Warning, format!("is empty: {}", purpose.nothing()));
                Ok(None)
            }
            Some(other) if nearest(other.name(), SHAPES).is_none() => {
                let text = format!("shapes of this kind are not supported: {}", purpose.nothing());
                other.note(NoteKind::NotYet, text);
                other.mark_all();
                Ok(None)
            }
            Some(other) => {
                let hint = nearest(other.name(), SHAPES).unwrap_or_default();
                Err(other.error(format!("there is no such shape (did you mean \"{hint}\"?)")))
            }
        };
    };
    let checked = |shape: Result<Shape, InputError>| shape.map_err(|e| element.error(e.to_string()));
    let half_length = || -> Result<f64, SceneError> { Ok(0.5 * element.required_number("length")?) };
    let shape = match element.name() {
        "box" => {
            element.required("size")?;
            let size = element.vector("size")?.unwrap_or_default();
            checked(Shape::cuboid(0.5 * size))?
        }
        "sphere" => checked(Shape::sphere(element.required_number("radius")?))?,
        "cylinder" => checked(Shape::cylinder(half_length()?, element.required_number("radius")?))?,
        "capsule" => {
            let (half, radius) = (half_length()?, element.required_number("radius")?);
            // Without length a capsule is a ball.
            checked(if half == 0.0 { Shape::sphere(radius) } else { Shape::capsule(half, radius) })?
        }
        "plane" => return plane(element, pose).map(Some),
        _ => MeshFile::read(element, paths)?.collision(keep)?,
    };
    Ok(Some((pose, shape)))
}

/// The half-space below a plane: its z axis is the normal.
fn plane(element: Element, pose: Pose) -> Result<(Pose, Shape), SceneError> {
    let normal = element.vector("normal")?.unwrap_or(Vec3::Z);
    half_space(pose, normal).ok_or_else(|| element.attribute_error("normal", "a normal must not be zero"))
}

/// The half-space below a plane at a pose, with its normal; none if that is zero.
pub(crate) fn half_space(pose: Pose, normal: Vec3) -> Option<(Pose, Shape)> {
    let normal = normal.try_normalize()?;
    let (s, t) = tangents(normal);
    let turn = Quat::from_mat3(&Mat3::from_cols(s, t, normal)).normalize();
    Some((pose * Pose::from_rotation(turn), Shape::half_space()))
}

/// A mesh that an element names.
pub(crate) struct MeshFile<'a> {
    element: Element<'a>,
    path: PathBuf,
    scale: Vec3,
}

impl<'a> MeshFile<'a> {
    /// The file and the scale of a `<mesh>`.
    fn read(element: Element<'a>, paths: &Paths) -> Result<Self, SceneError> {
        let name = element.required("filename")?;
        let scale = match element.list("scale")?.as_deref() {
            None | Some([]) => Vec3::ONE,
            Some([s]) => Vec3::splat(*s),
            Some([x, y, z]) => Vec3::new(*x, *y, *z),
            Some(list) => {
                return Err(element.attribute_error("scale", format!("expected 3 numbers, found {}", list.len())));
            }
        };
        Self::find(element, name, scale, paths)
    }

    /// The file of a name.
    pub(crate) fn find(element: Element<'a>, name: &str, scale: Vec3, paths: &Paths) -> Result<Self, SceneError> {
        let (path, note) = paths.find(name).map_err(|message| element.attribute_error("filename", message))?;
        if let Some(note) = note {
            element.note(NoteKind::Changed, note);
        }
        Ok(Self { element, path, scale })
    }

    fn broken(&self, message: impl ToString) -> SceneError {
        self.element.attribute_error("filename", message.to_string())
    }

    /// As it is drawn: surfaces with the colours that its file gives.
    pub(crate) fn drawn(&self) -> Result<Vec<(Shape, Option<Rgba>)>, SceneError> {
        let loaded = meshes::load_colored(&self.path, self.scale).map_err(|e| self.broken(e))?;
        let ColoredMesh { parts, notes, .. } = loaded;
        notes.into_iter().for_each(|note| self.element.note(NoteKind::Changed, note));
        let shape = |mesh: TriangleMesh| Shape::mesh(mesh.vertices, mesh.triangles).map_err(|e| self.broken(e));
        parts.into_iter().map(|part| Ok((shape(part.mesh)?, part.rgba))).collect()
    }

    /// Its convex hull, or its triangles if it is to keep them or is flat.
    pub(crate) fn collision(&self, keep: bool) -> Result<Shape, SceneError> {
        let mesh = meshes::load(&self.path, self.scale).map_err(|e| self.broken(e))?;
        if !keep {
            if let Ok(hull) = Shape::hull(mesh.vertices.clone()) {
                self.element.note(NoteKind::Changed, "the mesh becomes its convex hull");
                return Ok(hull);
            }
            self.element.note(NoteKind::Changed, "the mesh is flat: it stays a surface of triangles");
        }
        Shape::mesh(mesh.vertices, mesh.triangles).map_err(|e| self.broken(e))
    }
}

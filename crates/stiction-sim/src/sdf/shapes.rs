//! Shapes, surfaces and inertia of links.

use stiction_body::math::{Mat3, Pose, Vec3};
use stiction_body::{Inertia, Shape};
use stiction_lcp::InputError;

use super::frames::read_pose;
use super::{child_number, number, vector};
use crate::description::NoteKind;
use crate::error::SceneError;
use crate::looks::{Look, Rgba, Visual, color};
use crate::material::Material;
use crate::urdf::{MeshFile, Paths, half_space, possible_inertia};
use crate::xml::{Element, numbers_in};

/// The inertia of a link in its own frame: that of a unit mass where it says nothing, as the format has it.
pub(super) fn inertia(link: Element) -> Result<Inertia, SceneError> {
    let Some(inertial) = link.child("inertial") else {
        return Ok(Inertia { mass: 1.0, com: Vec3::ZERO, about_com: Mat3::IDENTITY });
    };
    if inertial.attribute("auto").is_some_and(|t| t == "true" || t == "1") {
        inertial.note(NoteKind::NotYet, "inertia is not computed from shapes: it is what the element says");
    }
    let (pose, _) = read_pose(inertial)?;
    let mass = child_number(inertial, "mass")?.unwrap_or(1.0);
    if !(mass > 0.0 && mass.is_finite()) {
        return Err(inertial.error(format!("a mass must be above 0, found {mass}")));
    }
    let mut tensor = Mat3::IDENTITY;
    if let Some(element) = inertial.child("inertia") {
        let mut x = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
        for (x, name) in x.iter_mut().zip(["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]) {
            *x = child_number(element, name)?.unwrap_or(*x);
        }
        if let Some(x) = x.iter().find(|x| !x.is_finite()) {
            return Err(element.error(format!("moments of inertia are finite, found {x}")));
        }
        let [xx, xy, xz, yy, yz, zz] = x;
        tensor = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
    }
    inertial.children_named("fluid_added_mass").for_each(|e| e.ignore("added mass is not used"));
    Ok(possible_inertia(inertial, mass, tensor)?.transformed(&pose))
}

/// The shape of a collision or visual element at its place in the link; none, with a note, where it has none that is supported.
pub(super) fn shape(of: Element, pose: Pose, paths: &Paths, keep: bool) -> Result<Option<(Pose, Shape)>, SceneError> {
    let geometry = of.required_child("geometry")?;
    let Some(element) = geometry.children().next() else {
        geometry.note(NoteKind::Warning, "is empty");
        return Ok(None);
    };
    element.read();
    let checked = |shape: Result<Shape, InputError>| shape.map_err(|e| element.error(e.to_string()));
    let needed = |name: &str| element.required_child(name).and_then(number);
    let shape = match element.name() {
        "empty" => return Ok(None),
        "box" => checked(Shape::cuboid(0.5 * Vec3::from_array(vector::<3>(element.required_child("size")?)?)))?,
        "sphere" => checked(Shape::sphere(needed("radius")?))?,
        "cylinder" => checked(Shape::cylinder(0.5 * needed("length")?, needed("radius")?))?,
        "capsule" => checked(Shape::capsule(0.5 * needed("length")?, needed("radius")?))?,
        "ellipsoid" => checked(Shape::ellipsoid(Vec3::from_array(vector::<3>(element.required_child("radii")?)?)))?,
        "plane" => {
            let normal = element.child("normal").map(vector::<3>).transpose()?.unwrap_or([0.0, 0.0, 1.0]);
            element.children_named("size").for_each(|e| e.mark_all());
            return half_space(pose, Vec3::from_array(normal))
                .map(Some)
                .ok_or_else(|| element.error("a normal must not be zero"));
        }
        "mesh" => mesh(element, paths)?.collision(keep)?,
        _ => {
            element.note(NoteKind::NotYet, "shapes of this kind are not supported: it is left out");
            element.mark_all();
            return Ok(None);
        }
    };
    Ok(Some((pose, shape)))
}

fn mesh<'a>(element: Element<'a>, paths: &Paths) -> Result<MeshFile<'a>, SceneError> {
    let uri = element.required_child("uri")?;
    let scale = element.child("scale").map(vector::<3>).transpose()?.map_or(Vec3::ONE, Vec3::from_array);
    element.children_named("submesh").for_each(|e| {
        e.note(NoteKind::NotYet, "the whole mesh is taken");
        e.mark_all();
    });
    MeshFile::find(uri, uri.content(), scale, paths)
}

/// What a visual element draws; what cannot be drawn is noted.
pub(super) fn visuals(of: Element, paths: &Paths, (name, link, offset): (&str, usize, Pose)) -> Vec<Visual> {
    let rgba = of.child("material").and_then(|m| m.child("diffuse").or(m.child("ambient"))).and_then(own_color);
    let parts = || -> Result<Vec<(Pose, Shape, Option<Rgba>)>, SceneError> {
        let pose = offset * read_pose(of)?.0;
        if let Some(element) = of.child("geometry").and_then(|g| g.child("mesh")) {
            let parts = mesh(element, paths)?.drawn()?;
            return Ok(parts.into_iter().map(|(shape, own)| (pose, shape, own)).collect());
        }
        Ok(shape(of, pose, paths, true)?.into_iter().map(|(pose, shape)| (pose, shape, None)).collect())
    };
    let found = match parts() {
        Ok(found) => found.into_iter().filter(|(_, shape, _)| !shape.is_unbounded()),
        Err(e) => {
            of.note(NoteKind::Warning, format!("is not drawn: {}", e.message));
            of.mark_all();
            return vec![];
        }
    };
    let visual = |(pose, shape, own): (Pose, Shape, Option<Rgba>)| {
        let look = Look { rgba: own.or(rgba), drawn: true };
        Visual { name: name.into(), link: Some(link), pose, shape, look }
    };
    let out = found.map(visual).collect();
    of.mark_all();
    out
}

fn own_color(element: Element) -> Option<Rgba> {
    color(&numbers_in(element.content()).ok()?)
}

/// The surface of a collision element: friction is 1 where it says nothing.
pub(super) fn surface(collision: Element) -> Result<Material, SceneError> {
    let mut out = Material { mu: 1.0, ..Material::default() };
    let Some(surface) = collision.child("surface") else { return Ok(out) };
    if let Some(friction) = surface.child("friction") {
        for engine in ["ode", "bullet"] {
            let Some(element) = friction.child(engine) else { continue };
            let names = if engine == "ode" { ["mu", "mu2"] } else { ["friction", "friction2"] };
            let (first, second) = (child_number(element, names[0])?, child_number(element, names[1])?);
            out.mu = first.or(second).unwrap_or(out.mu);
            if first.zip(second).is_some_and(|(a, b)| a != b) {
                element.note(NoteKind::NotYet, "friction that depends on the direction: the first is used for all");
            }
            if engine == "ode" {
                break;
            }
        }
        friction.mark_all();
    }
    if let Some(bounce) = surface.child("bounce") {
        out.restitution = child_number(bounce, "restitution_coefficient")?.unwrap_or(0.0);
        bounce.mark_all();
    }
    surface.children_named("contact").for_each(|e| e.ignore("contacts are rigid: it has no effect"));
    surface.children_named("soft_contact").for_each(|e| e.ignore("contacts are rigid: it has no effect"));
    out.check().map_err(|e| surface.error(e.to_string()))?;
    Ok(out)
}

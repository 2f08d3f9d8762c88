//! What a geom is: its form and sizes, the shape it collides with, the mass it has.

use std::f64::consts::PI;

use stiction_body::math::{Mat3, Pose, Vec3};
use stiction_body::{Inertia, Shape};
use stiction_lcp::InputError;

use super::assets::{Assets, Mesh};
use super::attributes::Attributes;
use super::compiler::Compiler;
use super::frames::{pose, turn_z_to, unit};
use super::hfield::HeightField;
use crate::error::SceneError;

/// The form of a geom.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form<'s, 'a> {
    Plane,
    HeightField(&'s HeightField<'a>),
    Sphere(f64),
    /// Radius and half length.
    Capsule(f64, f64),
    /// Radius and half length.
    Cylinder(f64, f64),
    Cuboid(Vec3),
    Ellipsoid(Vec3),
    Mesh(&'s Mesh<'a>),
    /// A signed distance field.
    Sdf,
}

/// Kinds of geoms, as files name them.
const TYPES: [&str; 9] = ["sphere", "plane", "hfield", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];

/// Reads the form of a geom and its pose in the frame it stands in.
pub(super) fn read<'s, 'a>(
    a: &Attributes,
    assets: &'s Assets<'a>,
    compiler: &Compiler,
) -> Result<(Form<'s, 'a>, Pose), SceneError> {
    let kind = a.keyword("type", &TYPES)?.unwrap_or("sphere");
    let placed = pose(a, compiler)?;
    let compiler = compiler.at(a);
    let mesh = a.text("mesh").map(|name| assets.mesh(a, name)).transpose()?;
    let needs = |what: &str| a.error("type", format!("a geom of type \"{kind}\" needs the attribute \"{what}\""));
    match (kind, mesh) {
        ("plane", _) => Ok((Form::Plane, placed)),
        ("sdf", _) => Ok((Form::Sdf, placed)),
        ("hfield", _) => {
            let name = a.text("hfield").ok_or_else(|| needs("hfield"))?;
            Ok((Form::HeightField(assets.height_field(a, name)?), placed))
        }
        ("mesh", Some(mesh)) => Ok((Form::Mesh(mesh), placed)),
        ("mesh", None) => Err(needs("mesh")),
        (_, Some(mesh)) => {
            let (form, offset) = fitted(kind, mesh, a.number("fitscale")?.unwrap_or(1.0), compiler)?;
            Ok((form, placed * offset))
        }
        (_, None) => primitive(a, kind, placed),
    }
}

/// The pose of something that may stand along a line `fromto`.
pub(super) fn connector_pose(a: &Attributes, compiler: &Compiler) -> Result<Pose, SceneError> {
    match connector(a)? {
        Some((placed, _)) => Ok(placed),
        None => pose(a, compiler),
    }
}

/// The middle of `fromto` with z along it, and half its length.
fn connector(a: &Attributes) -> Result<Option<(Pose, f64)>, SceneError> {
    let Some([x0, y0, z0, x1, y1, z1]) = a.numbers::<6>("fromto")? else { return Ok(None) };
    let (from, to) = (Vec3::new(x0, y0, z0), Vec3::new(x1, y1, z1));
    let placed = Pose::from_parts((from + to) * 0.5, turn_z_to(unit(a, "fromto", from - to)?));
    Ok(Some((placed, (to - from).length() * 0.5)))
}

/// A primitive by `size`, and `fromto` if that is given.
fn primitive<'s, 'a>(a: &Attributes, kind: &str, mut placed: Pose) -> Result<(Form<'s, 'a>, Pose), SceneError> {
    let (mut size, mut given) = a.merged::<3>("size", [0.0; 3])?;
    if let Some((along, half)) = connector(a)? {
        if kind == "sphere" {
            return Err(a.error("fromto", "a sphere has no length"));
        }
        placed = along;
        match kind {
            "box" | "ellipsoid" => size = [size[0], size[0], half],
            _ => size[1] = half,
        }
        given = if given > 0 { 3 } else { 0 };
    }
    let needed = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        _ => 3,
    };
    if given < needed {
        let message = format!("a geom of type \"{kind}\" needs {needed} sizes, found {given}");
        return Err(a.error("size", message));
    }
    if let Some(x) = size[..needed].iter().find(|x| **x <= 0.0) {
        return Err(a.error("size", format!("must be above 0, found {x}")));
    }
    let form = match kind {
        "sphere" => Form::Sphere(size[0]),
        "capsule" => Form::Capsule(size[0], size[1]),
        "cylinder" => Form::Cylinder(size[0], size[1]),
        "box" => Form::Cuboid(Vec3::from_array(size)),
        _ => Form::Ellipsoid(Vec3::from_array(size)),
    };
    Ok((form, placed))
}

/// A primitive in place of a mesh, with the box of equal inertia, or the bounding box along the principal axes.
fn fitted<'s, 'a>(
    kind: &str,
    mesh: &Mesh,
    scale: f64,
    compiler: &Compiler,
) -> Result<(Form<'s, 'a>, Pose), SceneError> {
    let (mut frame, mut half) = mesh.solid()?.box_of_equal_inertia();
    if compiler.fit_box {
        let inside = mesh.surface()?.vertices.iter().map(|v| frame.inverse().transform_point(*v));
        let bounds = inside.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        frame *= Pose::from_translation((bounds.0 + bounds.1) * 0.5);
        half = (bounds.1 - bounds.0) * 0.5;
    }
    // The bounding box must be covered; the box of equal inertia is matched on average.
    let around = |x: f64, y: f64| if compiler.fit_box { x.max(y) } else { 0.5 * (x + y) };
    let form = match kind {
        "sphere" if compiler.fit_box => Form::Sphere(half.max_element() * scale),
        "sphere" => Form::Sphere((half.x + half.y + half.z) / 3.0 * scale),
        "capsule" => {
            let radius = around(half.x, half.y);
            let caps = if compiler.fit_box { radius } else { 0.5 * radius };
            Form::Capsule(radius * scale, (half.z - caps).max(0.0) * scale)
        }
        "cylinder" => Form::Cylinder(around(half.x, half.y) * scale, half.z * scale),
        "box" => Form::Cuboid(half * scale),
        _ => Form::Ellipsoid(half * scale),
    };
    Ok((form, frame))
}

impl Form<'_, '_> {
    /// True for forms without an inside, which only the world can have.
    pub(super) fn is_terrain(&self) -> bool {
        matches!(self, Self::Plane | Self::HeightField(_))
    }

    /// Its frame in that of its points: a mesh has its own at its centre, along its principal axes.
    pub(super) fn frame(&self) -> Result<Pose, SceneError> {
        Ok(if let Self::Mesh(mesh) = self { mesh.solid()?.frame() } else { Pose::identity() })
    }

    /// Semi-axes (m) of the ellipsoid that a fluid takes it for, along its frame.
    pub(super) fn semi_axes(&self) -> Result<Vec3, SceneError> {
        Ok(match *self {
            Self::Sphere(r) => Vec3::splat(r),
            Self::Capsule(r, half) => Vec3::new(r, r, half + r),
            Self::Cylinder(r, half) => Vec3::new(r, r, half),
            Self::Cuboid(half) | Self::Ellipsoid(half) => half,
            Self::Mesh(mesh) => {
                let back = self.frame()?.inverse();
                let inside = mesh.surface()?.vertices.iter().map(|v| back.transform_point(*v).abs());
                inside.fold(Vec3::ZERO, Vec3::max)
            }
            Self::Plane | Self::HeightField(_) | Self::Sdf => Vec3::ZERO,
        })
    }

    /// The shape it collides with; none for forms that are not supported.
    pub(super) fn shape(&self, a: &Attributes) -> Result<Option<Shape>, SceneError> {
        let checked = |shape: Result<Shape, InputError>| shape.map_err(|e| a.error("size", e.to_string()));
        Ok(Some(match *self {
            Self::Plane => Shape::half_space(),
            Self::HeightField(field) => field.shape()?,
            Self::Sphere(radius) => checked(Shape::sphere(radius))?,
            // A capsule fitted to a round mesh may have no length.
            Self::Capsule(radius, 0.0) => checked(Shape::sphere(radius))?,
            Self::Capsule(radius, half) => checked(Shape::capsule(half, radius))?,
            Self::Cylinder(radius, half) => checked(Shape::cylinder(half, radius))?,
            Self::Cuboid(half) => checked(Shape::cuboid(half))?,
            Self::Ellipsoid(radii) if radii.x == radii.y && radii.y == radii.z => checked(Shape::sphere(radii.x))?,
            Self::Ellipsoid(radii) => checked(Shape::ellipsoid(radii))?,
            Self::Mesh(mesh) => mesh.hull()?,
            Self::Sdf => return Ok(None),
        }))
    }

    /// Its inertia in its own frame, from `mass` or else `density`; none if it has none.
    pub(super) fn inertia(&self, a: &Attributes) -> Result<Option<Inertia>, SceneError> {
        let (mass, density) = (a.nonnegative("mass")?, a.nonnegative("density")?.unwrap_or(1000.0));
        if self.is_terrain() || matches!(self, Self::Sdf) || mass.unwrap_or(density) == 0.0 {
            return Ok(None);
        }
        if let Self::Mesh(mesh) = self {
            let solid = mesh.solid()?;
            return Ok(Some(solid.of_mass(mass.unwrap_or(density * solid.volume))));
        }
        let shell = a.flag("shellinertia")?.unwrap_or(false);
        let unit = if shell { self.unit_shell() } else { self.unit_solid() };
        let mass = mass.unwrap_or(density * unit.mass);
        Ok(Some(Inertia { mass, about_com: unit.about_com * (mass / unit.mass), ..unit }))
    }

    /// The inertia of a primitive of density 1.
    fn unit_solid(&self) -> Inertia {
        match *self {
            Self::Sphere(r) => Inertia::sphere(4.0 / 3.0 * PI * r * r * r, r),
            Self::Capsule(r, h) => Inertia::capsule(PI * r * r * (4.0 / 3.0 * r + 2.0 * h), r, 2.0 * h),
            Self::Cylinder(r, h) => Inertia::cylinder(PI * r * r * 2.0 * h, r, 2.0 * h),
            Self::Cuboid(half) => Inertia::cuboid(8.0 * half.x * half.y * half.z, half * 2.0),
            Self::Ellipsoid(r) => Inertia::ellipsoid(4.0 / 3.0 * PI * r.x * r.y * r.z, r),
            _ => Inertia::ZERO,
        }
    }

    /// The inertia of a primitive's surface of density 1 per area.
    fn unit_shell(&self) -> Inertia {
        match *self {
            Self::Sphere(r) => {
                let mass = 4.0 * PI * r * r;
                diagonal(mass, Vec3::ONE * (mass / 3.0), Vec3::splat(r * r))
            }
            Self::Capsule(r, h) => {
                let (wall, ball) = (4.0 * PI * r * h, 4.0 * PI * r * r);
                let along = wall * r * r + ball * 2.0 / 3.0 * r * r;
                let across = wall * (0.5 * r * r + h * h / 3.0) + ball * (2.0 / 3.0 * r * r + h * h + h * r);
                axial(wall + ball, along, across)
            }
            Self::Cylinder(r, h) => {
                let (wall, ends) = (4.0 * PI * r * h, 2.0 * PI * r * r);
                let along = wall * r * r + ends * 0.5 * r * r;
                let across = wall * (0.5 * r * r + h * h / 3.0) + ends * (0.25 * r * r + h * h);
                axial(wall + ends, along, across)
            }
            Self::Cuboid(half) => {
                let sides = Vec3::new(half.y * half.z, half.x * half.z, half.x * half.y) * 8.0;
                // ∫ x² over the surface: two sides at x = ±half.x, four with x spread.
                let total = sides.x + sides.y + sides.z;
                let square = half * half * (sides + (Vec3::splat(total) - sides) / 3.0);
                diagonal(total, Vec3::ONE, square)
            }
            _ => self.unit_solid(),
        }
    }
}

/// From the integrals of x², y², z² as `weight · square`.
fn diagonal(mass: f64, weight: Vec3, square: Vec3) -> Inertia {
    let s = weight * square;
    Inertia { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y)) }
}

fn axial(mass: f64, along: f64, across: f64) -> Inertia {
    Inertia { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::new(across, across, along)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_the_derivative_of_solids() {
        // A solid grown by h everywhere gains a shell of thickness h; for balls, boxes and capsules that is exact to first order.
        let h = 1e-6;
        let forms = [
            (Form::Sphere(0.3), Form::Sphere(0.3 + h)),
            (Form::Capsule(0.3, 0.5), Form::Capsule(0.3 + h, 0.5)),
            (Form::Cylinder(0.3, 0.5), Form::Cylinder(0.3 + h, 0.5 + h)),
            (Form::Cuboid(Vec3::new(0.1, 0.2, 0.3)), Form::Cuboid(Vec3::new(0.1, 0.2, 0.3) + Vec3::splat(h))),
        ];
        for (form, grown) in forms {
            let (a, b, shell) = (form.unit_solid(), grown.unit_solid(), form.unit_shell());
            assert!(((b.mass - a.mass) / h - shell.mass).abs() < 1e-4, "{form:?}");
            let difference = (b.about_com - a.about_com) * (1.0 / h) - shell.about_com;
            assert!(difference.abs_diff_eq(Mat3::ZERO, 1e-4), "{form:?} {difference}");
        }
    }
}

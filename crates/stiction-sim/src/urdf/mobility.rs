//! Everything that moves must have inertia: otherwise no force says how it moves.

use stiction_body::math::Vec3;
use stiction_body::{Inertia, Model, ModelBuilder, ShapeKind, Workspace};
use stiction_linalg::cholesky::singular_row;

use crate::description::{Description, NoteKind};
use crate::error::SceneError;
use crate::xml::Element;

/// A velocity has no inertia of its own if this part or less of it is left when all that hangs on it moves freely.
const SINGULAR: f64 = 1e-13;

/// Where this part or less is left, point masses are what is wrong: a small body in their place leaves far more.
const NEARLY_SINGULAR: f64 = 1e-9;

/// Trees with more velocities are not looked at: the work grows with their cube, and a simulation would report the same.
const LARGEST: usize = 1000;

/// Density of the ball that stands for a point mass without shapes where its rotation matters (kg/m³): that of water.
const DENSITY: f64 = 1000.0;

/// Refuses joints that move nothing; point masses whose rotation matters become bodies.
pub(crate) fn check<'a>(element: &dyn Fn(usize) -> Element<'a>, out: &mut Description) -> Result<(), SceneError> {
    let singular =
        |out: &Description, part: f64| joint_without_inertia(out, part).map_err(|e| SceneError::new("robot", e));
    check_masses(element, out)?;
    let Some(link) = singular(out, NEARLY_SINGULAR)? else { return Ok(()) };
    give_inertia(out, link, element);
    // Where that was not all, every point mass gets some.
    let Some(_) = singular(out, NEARLY_SINGULAR)? else { return Ok(()) };
    for root in (0..out.links.len()).filter(|&i| out.links[i].parent.is_none()).collect::<Vec<_>>() {
        give_inertia(out, root, element);
    }
    match singular(out, SINGULAR)? {
        None => Ok(()),
        Some(link) => Err(element(link).error("can move without moving any mass: it needs an <inertial> of its own")),
    }
}

/// Gives rotational inertia to the point masses among a link and all below it.
fn give_inertia<'a>(out: &mut Description, link: usize, element: impl Fn(usize) -> Element<'a>) {
    for below in subtree(out, link) {
        let inertia = out.links[below].inertia;
        if inertia.mass == 0.0 || inertia.about_com.determinant() != 0.0 {
            continue;
        }
        let (added, of) = match extent(out, below) {
            Some(sides) => (Inertia::cuboid(inertia.mass, sides).about_com, "the box around its shapes"),
            None => (Inertia::sphere(inertia.mass, ball_radius(inertia.mass)).about_com, "a ball of water"),
        };
        out.links[below].inertia.about_com += added;
        let text = format!("turns without rotational inertia: given that of {of} with its mass");
        element(below).note(NoteKind::Warning, text);
    }
}

/// Every joint that moves must carry some mass.
fn check_masses<'a>(element: &dyn Fn(usize) -> Element<'a>, out: &Description) -> Result<(), SceneError> {
    let mut carried: Vec<f64> = out.links.iter().map(|l| l.inertia.mass).collect();
    for (i, link) in out.links.iter().enumerate().rev() {
        if let Some(parent) = link.parent {
            carried[parent] += carried[i];
        }
    }
    for (i, link) in out.links.iter().enumerate().filter(|(_, link)| !link.joint_name.is_empty()) {
        if link.kind.nv() > 0 && carried[i] == 0.0 && link.properties.armature == 0.0 {
            let name = &link.joint_name;
            let message = format!("moves by joint \"{name}\", and neither it nor anything below it has a mass above 0");
            return Err(element(i).error(message));
        }
    }
    Ok(())
}

/// Radius of a ball of water: m = 4/3 π r³ · density.
fn ball_radius(mass: f64) -> f64 {
    libm::cbrt(0.75 * mass / (std::f64::consts::PI * DENSITY))
}

/// The sides of the box around all shapes of a link, along the link's axes; `None` where there are none.
fn extent(out: &Description, link: usize) -> Option<Vec3> {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for geom in out.geoms.iter().map(|g| &g.geom).filter(|g| g.link == Some(link)) {
        let mut add = |p: Vec3| {
            let p = geom.pose.transform_point(p);
            (low, high) = (low.min(p), high.max(p));
        };
        let mut add_box = |half: Vec3| {
            (0..8)
                .for_each(|k| add(half * Vec3::from_array([1, 2, 4].map(|bit| if k & bit == 0 { -1.0 } else { 1.0 }))));
        };
        match geom.shape.kind() {
            ShapeKind::Sphere { radius } => add_box(Vec3::splat(*radius)),
            ShapeKind::Cuboid { half } => add_box(*half),
            ShapeKind::Capsule { half_length, radius } => add_box(Vec3::new(*radius, *radius, half_length + radius)),
            ShapeKind::Cylinder { half_length, radius } => add_box(Vec3::new(*radius, *radius, *half_length)),
            ShapeKind::Ellipsoid { radii } => add_box(*radii),
            ShapeKind::Hull { points } => points.iter().for_each(|p| add(*p)),
            ShapeKind::Mesh { vertices, .. } => vertices.iter().for_each(|p| add(*p)),
            ShapeKind::HeightField { .. } | ShapeKind::HalfSpace => {}
        }
    }
    Some(high - low).filter(|s| s.is_finite() && s.min_element() >= 0.0 && s.max_element() > 0.0)
}

/// A link and all below it.
fn subtree(out: &Description, root: usize) -> Vec<usize> {
    let mut inside = vec![false; out.links.len()];
    for i in root..out.links.len() {
        inside[i] = i == root || out.links[i].parent.is_some_and(|p| inside[p]);
    }
    (0..inside.len()).filter(|&i| inside[i]).collect()
}

/// The first link from the leaves whose joint can move without moving any mass: where the factor of the inertia matrix breaks down. Looked at where the
/// joints are neutral, as a simulation starts there, and in a general configuration.
fn joint_without_inertia(out: &Description, part: f64) -> Result<Option<usize>, String> {
    let mut builder = ModelBuilder::default();
    for link in &out.links {
        builder.add(link.clone()).map_err(|e| e.to_string())?;
    }
    let (model, _) = builder.build().map_err(|e| e.to_string())?;
    if model.trees().iter().any(|t| t.v.len() > LARGEST) {
        return Ok(None);
    }
    // Far from the symmetric places at which axes happen to be in line.
    let v: Vec<f64> = (0..model.nv()).map(|k| 0.2 + (0.618_034 * k as f64).fract()).collect();
    let mut q = model.neutral();
    let neutral = singular_link(&model, &q, part);
    model.integrate(&mut q, &v, 1.0);
    Ok(neutral.or_else(|| singular_link(&model, &q, part)))
}

/// The link at whose joint the factor of the inertia matrix breaks down at configuration `q`.
fn singular_link(model: &Model, q: &[f64], part: f64) -> Option<usize> {
    let (mut work, mut blocks) = (Workspace::default(), vec![]);
    work.update_positions(model, q);
    work.mass_blocks(model, &mut blocks);
    let k =
        model.trees().iter().zip(&blocks).find_map(|(tree, block)| Some(tree.v.start + singular_row(block, part)?))?;
    model.links().iter().position(|l| l.v.contains(&k))
}

//! Bodies, robots, pairs and loops of a scene.

use std::collections::{BTreeMap, BTreeSet};

use stiction_body::math::{Pose, Quat, Vec3, axis_angle};
use stiction_body::{Geom, Inertia, JointKind, JointProperties, LinkSpec, LoopClosure, LoopKind, Shape, range};

use stiction_lcp::InputError;
use stiction_linalg::Number;

use super::section::Section;
use crate::description::{Description, GeomSpec};
use crate::equality::Equality;
use crate::error::{SceneError, nearest};
use crate::expression::Expression;
use crate::looks::{Look, Rgba, Visual};
use crate::material::{Material, MaterialRule};
use crate::meshes::{self, TriangleMesh};
use crate::mjcf::Start as RobotStart;
use crate::ties::Softness;
use crate::world::{Base, Placement, WorldBuilder};

/// Quaternions in a scene may be this far from unit length; they are made unit.
const UNIT: f64 = 1e-3;

/// Who is called what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// Links by name.
    pub links: BTreeMap<String, usize>,
    /// Links by the name of their joint.
    pub joints: BTreeMap<String, usize>,
    /// Geoms by the name of the body or geom; a fixed body has no link.
    geoms: BTreeMap<String, Vec<usize>>,
    /// Poses of bodies at the start, for loops.
    poses: BTreeMap<String, Pose>,
}

impl Names {
    /// Takes the final numbers of the links over.
    pub(super) fn renumber(&mut self, number: &[usize]) {
        self.links.values_mut().chain(self.joints.values_mut()).for_each(|l| *l = number[*l]);
    }

    /// The link of that name.
    pub(super) fn link(&self, section: &Section<'_>, key: &str, name: &str) -> Result<usize, SceneError> {
        find(&self.links, section, key, name, "body")
    }

    /// The link whose joint has that name.
    pub(super) fn joint(&self, section: &Section<'_>, key: &str, name: &str) -> Result<usize, SceneError> {
        find(&self.joints, section, key, name, "joint")
    }
}

fn find<X: Clone>(
    map: &BTreeMap<String, X>,
    section: &Section<'_>,
    key: &str,
    name: &str,
    what: &str,
) -> Result<X, SceneError> {
    map.get(name).cloned().ok_or_else(|| {
        let hint = nearest(name, map.keys().map(String::as_str));
        let hint = hint.map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
        section.error(key, format!("there is no {what} called \"{name}\"{hint}"))
    })
}

/// Reads everything that has a place.
pub(crate) fn read(top: &Section<'_>, builder: &mut WorldBuilder, names: &mut Names) -> Result<(), SceneError> {
    let materials = materials(top)?;
    bodies_in_order(top, |section| body(section, &materials, builder, names))?;
    for section in top.sections("robots")? {
        robot(&section, &materials, builder, names)?;
        section.finish()?;
    }
    for section in top.sections("pairs")? {
        pair(&section, &materials, builder, names)?;
        section.finish()?;
    }
    for section in top.sections("loops")? {
        closed_loop(&section, builder, names)?;
        section.finish()?;
    }
    Ok(())
}

/// Reads bodies, each after its parent and otherwise as they stand.
fn bodies_in_order(
    top: &Section<'_>,
    mut read: impl FnMut(&Section<'_>) -> Result<(), SceneError>,
) -> Result<(), SceneError> {
    let sections = top.sections("bodies")?;
    let mut waiting = Vec::with_capacity(sections.len());
    let mut names = BTreeSet::new();
    for section in &sections {
        let (name, parent) = (section.needed_string("name")?, section.string("parent")?);
        names.insert(name.clone());
        waiting.push((section, name, parent));
    }
    let mut known = BTreeSet::new();
    while !waiting.is_empty() {
        let mut left = Vec::new();
        let before = waiting.len();
        for (section, name, parent) in waiting {
            // A parent that is nowhere is an error of the body that names it.
            if parent.as_ref().is_some_and(|p| names.contains(p) && !known.contains(p)) {
                left.push((section, name, parent));
                continue;
            }
            read(section)?;
            section.finish()?;
            known.insert(name);
        }
        if left.len() == before {
            return Err(cycle(&left));
        }
        waiting = left;
    }
    Ok(())
}

/// The error of bodies that are each other's parents.
fn cycle(bodies: &[(&Section<'_>, String, Option<String>)]) -> SceneError {
    let parent = |name: &str| bodies.iter().find(|b| b.1 == name).and_then(|b| b.2.as_deref());
    // From any of them the way up leads into the cycle.
    let mut at = bodies[0].1.as_str();
    for _ in bodies {
        at = parent(at).unwrap_or(at);
    }
    let mut way = vec![at];
    let mut next = parent(at).unwrap_or(at);
    while next != at && way.len() <= bodies.len() {
        way.push(next);
        next = parent(next).unwrap_or(at);
    }
    way.push(at);
    let section = bodies.iter().find(|b| b.1 == at).map_or(bodies[0].0, |b| b.0);
    let chain = way.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" hangs on ");
    section.error("parent", format!("a cycle: {chain}"))
}

/// Materials by name; the empty name is the default.
type Materials = BTreeMap<String, Material>;

fn materials(top: &Section<'_>) -> Result<Materials, SceneError> {
    let mut all = Materials::new();
    let default = match top.section("material")? {
        Some(section) => {
            let material = surface(&section, Material::default())?;
            section.finish()?;
            material
        }
        None => Material::default(),
    };
    all.insert(String::new(), default);
    for section in top.sections("materials")? {
        let name = section.needed_string("name")?;
        let material = surface(&section, default)?;
        section.finish()?;
        if all.insert(name.clone(), material).is_some() {
            return Err(section.error("name", format!("there are two materials called \"{name}\"")));
        }
    }
    Ok(all)
}

/// The keys of a surface, over a given one.
fn surface(section: &Section<'_>, mut material: Material) -> Result<Material, SceneError> {
    let not_negative = |key: &'static str, x: f64| match x >= 0.0 {
        true => Ok(x),
        false => Err(section.error(key, format!("must be at least 0, found {x}"))),
    };
    if let Some((mu, across)) = section.one_or_two("friction")? {
        material.mu = not_negative("friction", mu)?;
        material.mu_across = across.map(|x| not_negative("friction", x)).transpose()?;
        if material.mu_across.is_some() && !(mu + material.mu_across.unwrap_or(0.0)).is_finite() {
            return Err(section.error("friction", "two coefficients must be finite"));
        }
        material.mu_static = None;
    }
    if let Some(x) = section.number("static_friction")? {
        if x.is_nan() || x < material.mu {
            let why = format!("must be at least friction, {}, found {}", Number(material.mu), Number(x));
            return Err(section.error("static_friction", why));
        }
        material.mu_static = Some(x);
    }
    if let Some(direction) = section.numbers("friction_direction")? {
        material.mu_direction = Vec3::from_array(direction);
        let length = material.mu_direction.length();
        if !(length.is_finite() && length > 0.0) {
            return Err(section.error("friction_direction", "must be finite, and not zero"));
        }
        if material.mu_across.is_none() {
            let why = "needs two coefficients: friction = [along, across]";
            return Err(section.error("friction_direction", why));
        }
    }
    let fields: [(&'static str, &mut f64); 4] = [
        ("torsional_friction", &mut material.mu_spin),
        ("rolling_friction", &mut material.mu_roll),
        ("viscous_friction", &mut material.mu_viscous),
        ("restitution", &mut material.restitution),
    ];
    for (key, field) in fields {
        if let Some(x) = section.number(key)? {
            let (top, range) = match key {
                "restitution" => (1.0, "from 0 to 1"),
                "rolling_friction" => (f64::MAX, "at least 0 and finite"),
                _ => (f64::INFINITY, "at least 0"),
            };
            if !(0.0..=top).contains(&x) {
                return Err(section.error(key, format!("must be {range}, found {}", Number(x))));
            }
            *field = x;
        }
    }
    if let Some([x, y, z]) = section.numbers("surface_velocity")? {
        material.surface_velocity = Vec3::new(x, y, z);
        if !material.surface_velocity.is_finite() {
            return Err(section.error("surface_velocity", "must be finite"));
        }
    }
    Ok(material)
}

/// The surface of a body or shape: a named material, changed by its own keys.
fn named_surface(section: &Section<'_>, materials: &Materials, base: Material) -> Result<Material, SceneError> {
    let base = match section.string("material")? {
        Some(name) => find(materials, section, "material", &name, "material")?,
        None => base,
    };
    surface(section, base)
}

pub(crate) fn rule(section: &Section<'_>, name: &str) -> Result<MaterialRule, SceneError> {
    Ok(match name {
        "geometric-mean" => MaterialRule::GeometricMean,
        "minimum" => MaterialRule::Minimum,
        "maximum" => MaterialRule::Maximum,
        "mean" => MaterialRule::Mean,
        _ => {
            let message =
                format!("expected \"geometric-mean\", \"minimum\", \"maximum\" or \"mean\", found \"{name}\"");
            return Err(section.error("friction_rule", message));
        }
    })
}

/// Position and orientation.
fn pose(section: &Section<'_>) -> Result<Pose, SceneError> {
    let translation = vector(section, "position")?.unwrap_or(Vec3::ZERO);
    for x in translation.to_array() {
        range::check_coordinate("position", x).map_err(|e| section.place("position", &e))?;
    }
    let quaternion = section.numbers::<4>("orientation")?;
    let rpy = vector(section, "rpy")?;
    let rotation = match (quaternion, rpy) {
        (Some(_), Some(_)) => return Err(section.error("rpy", "give either orientation or rpy")),
        (Some([w, x, y, z]), None) => {
            let q = Quat::from_xyzw(x, y, z, w);
            if q.is_nan() || (q.length() - 1.0).abs() > UNIT {
                let message = format!(
                    "a quaternion [w, x, y, z] must have unit length up to {UNIT:e}, found the length {}",
                    q.length()
                );
                return Err(section.error("orientation", message));
            }
            if q.length() == 1.0 { q } else { q.normalize() }
        }
        (None, Some(rpy)) => axis_angle(Vec3::Z * rpy.z) * axis_angle(Vec3::Y * rpy.y) * axis_angle(Vec3::X * rpy.x),
        (None, None) => Quat::IDENTITY,
    };
    Ok(Pose::from_parts(translation, rotation))
}

fn vector(section: &Section<'_>, key: &'static str) -> Result<Option<Vec3>, SceneError> {
    match section.numbers::<3>(key)?.map(Vec3::from_array) {
        Some(v) if !v.is_finite() => Err(section.error(key, "must be finite")),
        other => Ok(other),
    }
}

/// A body: its shapes, its inertia, and the joint that ties it to its parent.
fn body(
    section: &Section<'_>,
    materials: &Materials,
    builder: &mut WorldBuilder,
    names: &mut Names,
) -> Result<(), SceneError> {
    let name = section.needed_string("name")?;
    if names.geoms.contains_key(&name) {
        return Err(section.error("name", format!("there are two bodies called \"{name}\"")));
    }
    let place = pose(section)?;
    let base = named_surface(section, materials, materials[""])?;
    let mut shapes = shapes(section, materials, base, color(section)?)?;
    let groups = (group(section, "groups")?, group(section, "collides_with")?);
    for (i, Part { spec, visuals, collides, .. }) in shapes.iter_mut().enumerate() {
        spec.geom.name = if i == 0 { name.clone() } else { format!("{name}#{}", i + 1) };
        visuals.iter_mut().for_each(|v| v.name.clone_from(&spec.geom.name));
        (spec.geom.groups, spec.geom.collides_with) = groups;
        if !*collides {
            (spec.geom.groups, spec.geom.collides_with) = (0, 0);
        }
    }
    let mut description = Description::new(name.clone());
    let mut placement = Placement { pose: place, ..Placement::default() };
    let fixed = section.bool("fixed")?.unwrap_or(false);
    if fixed {
        take_shapes(shapes, &mut description);
        let added = builder.add(&description, &placement).map_err(|e| section.place("name", &e))?;
        names.geoms.insert(name.clone(), added.geoms);
        names.poses.insert(name, place);
        return Ok(());
    }
    if shapes.iter().any(|p| p.spec.geom.shape.is_unbounded()) {
        return Err(section.error("shape", "a plane has no bounds: only a body with fixed = true can have it"));
    }
    let parent = section.string("parent")?;
    let (kind, properties, start, joint_name) = joint(section, parent.is_some())?;
    let joint_name = joint_name.unwrap_or_else(|| name.clone());
    if joint_name != name && (names.joints.contains_key(&joint_name) || names.geoms.contains_key(&joint_name)) {
        return Err(section.error("joint", format!("there are two joints or bodies called \"{joint_name}\"")));
    }
    let moved_from_outside = kind == JointKind::Mocap;
    if moved_from_outside && parent.is_some() {
        return Err(section.error("parent", "a body that is moved from outside (mocap) has none"));
    }
    let inertia = if moved_from_outside { Inertia::ZERO } else { inertia(section, &shapes)? };
    let parent_link = match &parent {
        Some(p) => Some(names.link(section, "parent", p)?),
        None => None,
    };
    let free = kind == JointKind::Free && parent.is_none();
    let in_world = free || moved_from_outside;
    let frame = if in_world { Pose::identity() } else { place };
    placement.pose = if in_world { place } else { Pose::identity() };
    placement.base = Base::AsDescribed;
    let spec =
        LinkSpec { name: name.clone(), joint_name: joint_name.clone(), parent: None, kind, frame, properties, inertia };
    for Part { spec, visuals, .. } in &mut shapes {
        spec.geom.link = Some(0);
        visuals.iter_mut().for_each(|v| v.link = Some(0));
    }
    description.links.push(spec);
    take_shapes(shapes, &mut description);
    let added = builder.add_to(&description, &placement, parent_link).map_err(|e| section.place("name", &e))?;
    let link = added.links[0];
    // At the start the joint may be elsewhere than at position 0.
    let moved = kind.pose(start.as_ref().map_or(kind.neutral(), |(q, _)| q));
    if let Some((q, v)) = start {
        builder.set_initial(link, q).map_err(|e| section.place("joint", &e))?;
        builder.set_velocity(link, v).map_err(|e| section.place("joint", &e))?;
    }
    velocity(section, builder, link, free)?;
    let above = parent.as_ref().map_or(Pose::identity(), |p| names.poses[p]);
    names.poses.insert(name.clone(), above * place * moved);
    names.geoms.insert(name.clone(), added.geoms);
    names.joints.insert(name.clone(), link);
    names.joints.insert(joint_name, link);
    names.links.insert(name, link);
    Ok(())
}

/// Start velocities of a free body.
fn velocity(section: &Section<'_>, builder: &mut WorldBuilder, link: usize, free: bool) -> Result<(), SceneError> {
    let (linear, angular) = (vector(section, "velocity")?, vector(section, "angular_velocity")?);
    if linear.is_none() && angular.is_none() {
        return Ok(());
    }
    if !free {
        let key = if linear.is_some() { "velocity" } else { "angular_velocity" };
        return Err(section.error(key, "only a free body has it; a joint has joint.velocity"));
    }
    let (v, w) = (linear.unwrap_or(Vec3::ZERO), angular.unwrap_or(Vec3::ZERO));
    builder.set_velocity(link, vec![v.x, v.y, v.z, w.x, w.y, w.z]).map_err(|e| section.place("velocity", &e))
}

fn group(section: &Section<'_>, key: &'static str) -> Result<u32, SceneError> {
    match section.number(key)? {
        None => Ok(1),
        Some(x) if x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x) => Ok(x as u32),
        Some(x) => Err(section.error(key, format!("must be a whole number from 0 to {}, found {x}", u32::MAX))),
    }
}

/// One shape of a body.
struct Part {
    spec: GeomSpec,
    /// What is drawn in its place.
    visuals: Vec<Visual>,
    /// Its own mass (kg), if given.
    mass: Option<f64>,
    collides: bool,
}

fn take_shapes(shapes: Vec<Part>, description: &mut Description) {
    for Part { spec, visuals, .. } in shapes {
        description.geoms.push(spec);
        description.visuals.extend(visuals);
    }
}

/// The key `color`: red, green and blue from 0 to 1, and the opacity if it is below 1.
fn color(section: &Section<'_>) -> Result<Option<Rgba>, SceneError> {
    let Some(numbers) = section.list("color")? else { return Ok(None) };
    if !numbers.iter().all(|x| (0.0..=1.0).contains(x)) {
        return Err(section.error("color", "every number must be from 0 to 1"));
    }
    let color = crate::looks::color(&numbers);
    let wrong = || section.error("color", format!("expected 3 or 4 numbers, found {}", numbers.len()));
    color.ok_or_else(wrong).map(Some)
}

fn shapes(
    section: &Section<'_>,
    materials: &Materials,
    base: Material,
    base_color: Option<Rgba>,
) -> Result<Vec<Part>, SceneError> {
    let mut all = Vec::new();
    let one = section.section("shape")?;
    let list = section.sections("shapes")?;
    if one.is_some() && !list.is_empty() {
        return Err(section.error("shapes", "give either shape or shapes"));
    }
    for part in one.into_iter().chain(list) {
        let material = named_surface(&part, materials, base)?;
        let local = pose(&part)?;
        let (shape, surfaces) = shape(&part)?;
        let rgba = color(&part)?.or(base_color);
        let drawn = surfaces.into_iter().map(|(surface, own)| {
            let (look, shape) = (Look { rgba: rgba.or(own), drawn: true }, surface);
            Visual { name: String::new(), link: None, pose: local, shape, look }
        });
        let visuals: Vec<Visual> = drawn.collect();
        let mass = part.number("mass")?;
        if let Some(x) = mass.filter(|x| !range::is_in_range(*x)) {
            return Err(part.error("mass", format!("must be {}, found {}", range::RANGE, Number(x))));
        }
        let collides = part.bool("collide")?.unwrap_or(true);
        part.finish()?;
        let look = Look { rgba, drawn: visuals.is_empty() };
        let spec = GeomSpec { geom: Geom::new("", None, local, shape), material, look };
        all.push(Part { spec, visuals, mass, collides });
    }
    Ok(all)
}

const SHAPES: [&str; 9] =
    ["box", "sphere", "capsule", "cylinder", "ellipsoid", "hull", "mesh", "plane", "height_field"];

/// A surface that is drawn in the place of a shape, with the colour that its file gives.
type Surface = (Shape, Option<Rgba>);

/// A shape, and what is drawn in its place where that is another.
fn shape(section: &Section<'_>) -> Result<(Shape, Vec<Surface>), SceneError> {
    let given: Vec<&'static str> = SHAPES.into_iter().filter(|key| section.has(key)).collect();
    let [key] = given[..] else {
        let message = format!("expected one of {}, found {}", SHAPES.join(", "), given.len());
        return Err(section.error(given.get(1).copied().unwrap_or("shape"), message));
    };
    let made = match key {
        "box" => {
            let sides = section.numbers::<3>(key)?.unwrap_or_default();
            check_lengths(section, key, &sides)?;
            Shape::cuboid(Vec3::from_array(sides) * 0.5)
        }
        "sphere" => Shape::sphere(section.number(key)?.unwrap_or_default()),
        "capsule" | "cylinder" => {
            let [radius, length] = section.numbers::<2>(key)?.unwrap_or_default();
            check_lengths(section, key, &[radius, length])?;
            if key == "capsule" { Shape::capsule(0.5 * length, radius) } else { Shape::cylinder(0.5 * length, radius) }
        }
        "ellipsoid" => Shape::ellipsoid(Vec3::from_array(section.numbers::<3>(key)?.unwrap_or_default())),
        "hull" => {
            let points = section.points::<3>(key)?.unwrap_or_default();
            Shape::hull(points.into_iter().map(Vec3::from_array).collect())
        }
        "mesh" => return mesh(section),
        "plane" => {
            return match section.bool(key)? {
                Some(true) => Ok((Shape::half_space(), vec![])),
                _ => Err(section.error(key, "expected plane = true")),
            };
        }
        _ => height_field(section)?,
    };
    Ok((made.map_err(|e| section.place(key, &e))?, vec![]))
}

/// Checks lengths as they are written, before they are halved.
fn check_lengths(section: &Section<'_>, key: &'static str, lengths: &[f64]) -> Result<(), SceneError> {
    match lengths.iter().find(|x| !range::is_in_range(**x) || !range::is_in_range(0.5 * **x)) {
        Some(x) => Err(section.error(key, format!("every length must be {}, found {}", range::RANGE, Number(*x)))),
        None => Ok(()),
    }
}

/// A mesh file: its convex hull, or its triangles with `triangles = true`.
fn mesh(section: &Section<'_>) -> Result<(Shape, Vec<Surface>), SceneError> {
    let file = section.needed_string("mesh")?;
    let scale = vector(section, "scale")?.unwrap_or(Vec3::ONE);
    let keep = section.bool("triangles")?.unwrap_or(false);
    let path = section.source.path(&file);
    let mesh = meshes::load_colored(&path, scale).map_err(|e| section.place("mesh", &e))?;
    let checked = |shape: Result<Shape, InputError>| shape.map_err(|e| section.place("mesh", &e));
    let surface = |mesh: TriangleMesh| checked(Shape::mesh(mesh.vertices, mesh.triangles));
    let plain = mesh.parts.iter().all(|part| part.rgba.is_none());
    let shape = if keep { surface(mesh.whole)? } else { checked(Shape::hull(mesh.whole.vertices))? };
    let parts = mesh.parts.into_iter().filter(|_| !(keep && plain));
    Ok((shape, parts.map(|part| Ok((surface(part.mesh)?, part.rgba))).collect::<Result<_, SceneError>>()?))
}

/// `height_field = { points = [rows, columns], size = [x, y], height = "= formula of x and y" }`, or `heights = [[…], …]`.
fn height_field(section: &Section<'_>) -> Result<Result<Shape, InputError>, SceneError> {
    let Some(field) = section.section("height_field")? else { return Err(section.missing("height_field")) };
    let [length_x, length_y] = field.numbers::<2>("size")?.ok_or_else(|| field.missing("size"))?;
    let formula = field.formula("height", &["x", "y"])?;
    let made = match formula {
        Some(formula) => {
            let [rows, columns] = field.numbers::<2>("points")?.ok_or_else(|| field.missing("points"))?;
            const MOST: usize = Shape::MOST_HEIGHTS;
            if [rows, columns].iter().any(|x| x.fract() != 0.0 || *x < 2.0) || rows * columns > MOST as f64 {
                let message = format!("must be two whole numbers of at least 2, of at most {MOST} points in all");
                return Err(field.error("points", message));
            }
            let (rows, columns) = (rows as usize, columns as usize);
            let heights = heights(&formula, rows, columns, length_x, length_y);
            Shape::height_field(heights, rows, columns, length_x, length_y)
        }
        None => {
            let rows = field.rows("heights")?.ok_or_else(|| field.missing("height"))?;
            let columns = rows.first().map_or(0, Vec::len);
            if rows.iter().any(|r| r.len() != columns) {
                return Err(field.error("heights", "all rows must have the same length"));
            }
            Shape::height_field(rows.concat(), rows.len(), columns, length_x, length_y)
        }
    };
    field.finish()?;
    Ok(made)
}

fn heights(formula: &Expression, rows: usize, columns: usize, length_x: f64, length_y: f64) -> Vec<f64> {
    let along = |i: usize, n: usize, length: f64| (i as f64 / (n - 1) as f64 - 0.5) * length;
    let mut out = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        for j in 0..columns {
            let (x, y) = (along(i, rows, length_x), along(j, columns, length_y));
            out.push(formula.evaluate(|name| if name == "x" { x } else { y }));
        }
    }
    out
}

/// Inertia: given, or that of the shapes with a total mass or a density.
fn inertia(section: &Section<'_>, shapes: &[Part]) -> Result<Inertia, SceneError> {
    let (mass, density) = (section.number("mass")?, section.number("density")?);
    let moments = vector(section, "inertia")?;
    let com = vector(section, "center_of_mass")?;
    for (key, x) in [("mass", mass), ("density", density)] {
        if let Some(x) = x.filter(|x| !range::is_in_range(*x)) {
            return Err(section.error(key, format!("must be {}, found {}", range::RANGE, Number(x))));
        }
    }
    if let (Some(moments), Some(mass)) = (moments, mass) {
        let about = stiction_body::math::Mat3::from_diagonal(moments);
        return Inertia::new(mass, com.unwrap_or(Vec3::ZERO), about).map_err(|e| section.place("inertia", &e));
    }
    if shapes.is_empty() {
        return Err(section.error("mass", "a body without a shape needs mass and inertia"));
    }
    let masses = masses(section, shapes, mass, density)?;
    let mut sum = Inertia::ZERO;
    for (part, mass) in shapes.iter().zip(masses) {
        let geom = &part.spec.geom;
        let own = geom.shape.inertia(mass).map_err(|e| section.place("shape", &e))?;
        sum = sum.joined(&own.transformed(&geom.pose));
    }
    if let Some(com) = com {
        sum.com = com;
    }
    Ok(sum)
}

/// The mass of each shape: its own, or its share of the body's by volume.
fn masses(
    section: &Section<'_>,
    shapes: &[Part],
    mass: Option<f64>,
    density: Option<f64>,
) -> Result<Vec<f64>, SceneError> {
    let own: Vec<f64> = shapes.iter().filter_map(|p| p.mass).collect();
    if own.len() == shapes.len() && mass.is_none() && density.is_none() {
        return Ok(own);
    }
    if !own.is_empty() {
        return Err(section.error("mass", "give the mass of the body or that of every shape"));
    }
    if let (Some(mass), [_]) = (mass, shapes) {
        return Ok(vec![mass]);
    }
    let volumes = shapes.iter().map(|p| p.spec.geom.shape.volume()).collect::<Result<Vec<f64>, _>>();
    let volumes = volumes.map_err(|e| section.place("shape", &e))?;
    let density = match (mass, density) {
        (Some(_), Some(_)) => return Err(section.error("density", "give either mass or density")),
        (Some(mass), None) => mass / volumes.iter().sum::<f64>(),
        (None, Some(density)) => density,
        (None, None) => return Err(section.missing("mass")),
    };
    Ok(volumes.iter().map(|v| density * v).collect())
}

/// Configuration and velocity of a joint at the start.
type Start = Option<(Vec<f64>, Vec<f64>)>;

/// Kind, properties, start and name of a joint.
type JointOfBody = (JointKind, JointProperties, Start, Option<String>);

/// The joint of a body: by default free, or fixed if it has a parent; the kind alone may be given as text.
fn joint(section: &Section<'_>, has_parent: bool) -> Result<JointOfBody, SceneError> {
    let mut properties = JointProperties::default();
    if section.is_text("joint") {
        let kind = joint_kind(&section.needed_string("joint")?, Vec3::Z);
        return Ok((kind.map_err(|m| section.error("joint", m))?, properties, None, None));
    }
    let Some(joint) = section.section("joint")? else {
        let kind = if has_parent { JointKind::Fixed } else { JointKind::Free };
        return Ok((kind, properties, None, None));
    };
    let name = joint.string("name")?;
    let axis = vector(&joint, "axis")?;
    let axis = match axis {
        Some(Vec3::ZERO) => return Err(joint.error("axis", "must not be zero")),
        Some(axis) if axis.length() != 1.0 => axis.normalize(),
        axis => axis.unwrap_or(Vec3::Z),
    };
    let kind = joint_kind(&joint.needed_string("type")?, axis).map_err(|m| joint.error("type", m))?;
    if let Some(limits) = joint.numbers::<2>("limits")? {
        if limits[0] > limits[1] {
            return Err(joint.error("limits", "the lower limit is above the upper"));
        }
        if kind == JointKind::Spherical && limits[0] != 0.0 {
            return Err(joint.error("limits", "those of a spherical joint are 0 and its largest angle (rad)"));
        }
        properties.limits = limits;
    }
    let fields: [(&'static str, &mut f64); 6] = [
        ("damping", &mut properties.damping),
        ("friction", &mut properties.friction),
        ("armature", &mut properties.armature),
        ("effort", &mut properties.effort),
        ("stiffness", &mut properties.stiffness),
        ("rest", &mut properties.rest),
    ];
    for (key, field) in fields {
        if let Some(x) = joint.number(key)? {
            let ok = x >= 0.0 && (x.is_finite() || key == "effort");
            if !ok && key != "rest" {
                return Err(joint.error(key, format!("must be at least 0 and finite, found {x}")));
            }
            *field = x;
        }
    }
    let (position, velocity) = (joint.number("position")?, joint.number("velocity")?);
    let start = if position.is_some() || velocity.is_some() {
        if kind.nv() != 1 {
            return Err(joint.error("position", "only joints with one velocity have it"));
        }
        Some((vec![position.unwrap_or(0.0)], vec![velocity.unwrap_or(0.0)]))
    } else {
        None
    };
    joint.finish()?;
    Ok((kind, properties, start, name))
}

/// The kind of that name, about or along an axis of unit length.
fn joint_kind(name: &str, axis: Vec3) -> Result<JointKind, String> {
    const KNOWN: [&str; 8] = ["fixed", "revolute", "continuous", "prismatic", "planar", "spherical", "free", "mocap"];
    Ok(match name {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute { axis },
        "continuous" => JointKind::Continuous { axis },
        "prismatic" => JointKind::Prismatic { axis },
        "planar" => JointKind::Planar { normal: axis },
        "spherical" => JointKind::Spherical,
        "free" => JointKind::Free,
        "mocap" => JointKind::Mocap,
        other => {
            let hint = nearest(other, KNOWN).map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
            return Err(format!("expected one of {}, found \"{other}\"{hint}", KNOWN.join(", ")));
        }
    })
}

/// A robot from a file.
fn robot(
    section: &Section<'_>,
    materials: &Materials,
    builder: &mut WorldBuilder,
    names: &mut Names,
) -> Result<(), SceneError> {
    let file = section.needed_string("file")?;
    let path = section.source.path(&file);
    let start = match section.string_or_integer("keyframe")? {
        None => RobotStart::default(),
        Some(Ok(name)) => RobotStart::Keyframe(name),
        Some(Err(-1)) => RobotStart::Reference,
        Some(Err(number)) => RobotStart::Number(usize::try_from(number).map_err(|_| {
            section.error(
                "keyframe",
                format!("expected a name, a whole number of at least 0, or -1 for none, found {number}"),
            )
        })?),
    };
    let mut description = crate::load_description_at(&path, &start)
        .map_err(|e| if e.file.is_some() { e } else { section.place("file", &e) })?;
    let name = section.string("name")?.unwrap_or_else(|| description.name.clone());
    // A robot without a name has its own names alone.
    let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
    for geom in &mut description.geoms {
        geom.material = named_surface(section, materials, geom.material)?;
    }
    let base = match section.string("base")?.as_deref() {
        None => Base::AsDescribed,
        Some("fixed") => Base::Fixed,
        Some("free") => Base::Free,
        Some(other) => return Err(section.error("base", format!("expected \"fixed\" or \"free\", found \"{other}\""))),
    };
    let placement = Placement {
        prefix: prefix.clone(),
        pose: pose(section)?,
        base,
        no_self_collision: !section.bool("self_collision")?.unwrap_or(true),
    };
    let added = builder.add(&description, &placement).map_err(|e| section.place("file", &e))?;
    for (spec, &link) in description.links.iter().zip(&added.links) {
        names.links.insert(format!("{prefix}{}", spec.name), link);
        if !spec.joint_name.is_empty() {
            names.joints.insert(format!("{prefix}{}", spec.joint_name), link);
        }
    }
    for (spec, &geom) in description.geoms.iter().zip(&added.geoms) {
        let owner = spec.geom.link.map_or_else(|| name.clone(), |l| format!("{prefix}{}", description.links[l].name));
        names.geoms.entry(owner).or_default().push(geom);
        if !spec.geom.name.is_empty() {
            names.geoms.entry(format!("{prefix}{}", spec.geom.name)).or_insert_with(|| vec![geom]);
        }
    }
    if let Some(joints) = section.section("joints")? {
        for (joint, value) in joints.entries() {
            let link = names.joint(&joints, joint, &format!("{prefix}{joint}"))?;
            let x = joints.as_number(joint, value)?;
            builder.set_initial(link, vec![x]).map_err(|e| joints.place(joint, &e))?;
        }
    }
    Ok(())
}

/// A pair of bodies or geoms with a surface of its own, or that never touches.
fn pair(
    section: &Section<'_>,
    materials: &Materials,
    builder: &mut WorldBuilder,
    names: &Names,
) -> Result<(), SceneError> {
    let (a, b) = (section.needed_string("a")?, section.needed_string("b")?);
    let (first, second) =
        (find(&names.geoms, section, "a", &a, "body or geom")?, find(&names.geoms, section, "b", &b, "body or geom")?);
    let pairs = first.iter().flat_map(|&x| second.iter().map(move |&y| (x, y)));
    if section.bool("collide")? == Some(false) {
        pairs.for_each(|(x, y)| builder.exclude_geoms(x, y));
        return Ok(());
    }
    let material = named_surface(section, materials, materials[""])?;
    pairs.for_each(|(x, y)| builder.pair_surface(x, y, material));
    Ok(())
}

/// Two bodies tied at a place in the world at the start: `at` and, for a hinge, `axis`.
fn closed_loop(section: &Section<'_>, builder: &mut WorldBuilder, names: &Names) -> Result<(), SceneError> {
    let kind = match section.needed_string("type")?.as_str() {
        "point" => LoopKind::Point,
        "hinge" => LoopKind::Hinge,
        "weld" => LoopKind::Weld,
        other => {
            return Err(section.error("type", format!("expected \"point\", \"hinge\" or \"weld\", found \"{other}\"")));
        }
    };
    let at = vector(section, "at")?.ok_or_else(|| section.missing("at"))?;
    let axis = vector(section, "axis")?.unwrap_or(Vec3::Z);
    if axis == Vec3::ZERO {
        return Err(section.error("axis", "must not be zero"));
    }
    let frame = Pose::from_parts(at, Quat::from_rotation_arc(Vec3::Z, axis.normalize()));
    let side = |key: &'static str| -> Result<(Option<usize>, Pose), SceneError> {
        let name = section.needed_string(key)?;
        if name == "world" {
            return Ok((None, frame));
        }
        let link = names.link(section, key, &name)?;
        let pose = names
            .poses
            .get(&name)
            .ok_or_else(|| section.error(key, "loops tie bodies of the scene, not links of robots"))?;
        Ok((Some(link), pose.inverse() * frame))
    };
    let ((a, frame_a), (b, frame_b)) = (side("a")?, side("b")?);
    let (name, active) = (section.string("name")?, section.bool("active")?);
    let held =
        builder.close_loop(LoopClosure { a, b, frame_a, frame_b, kind }).map_err(|e| section.place("type", &e))?;
    match name {
        Some(name) => {
            let active = active.unwrap_or(true);
            builder.add_equality(Equality { name, held, active, softness: Softness::default() });
            Ok(())
        }
        None if active.is_some() => Err(section.error("active", "needs a name to be switched by")),
        None => Ok(()),
    }
}

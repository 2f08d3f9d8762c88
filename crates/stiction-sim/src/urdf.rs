//! URDF robots: links, joints, collision shapes, surfaces.
//!
//! What other programs forgive is forgiven here where the meaning is plain, with a note; what has no meaning is an error with its place. Everything
//! that was not read is noted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stiction_body::math::{Pose, Quat, Vec3, axis_angle};
use stiction_body::{Geom, Inertia, JointKind, LinkSpec};

use crate::description::{Description, GeomSpec, Note, NoteKind};
use crate::error::SceneError;
use crate::material::Material;
use crate::xml::{Document, Element, Source};

mod geometry;
mod inertial;
mod joints;
mod mobility;
mod paths;
mod surface;
mod tree;
mod visuals;

use geometry::Placed;
pub(crate) use geometry::{MeshFile, half_space};
pub(crate) use inertial::possible as possible_inertia;
use joints::Joint;
pub(crate) use mobility::check as check_mobility;
pub(crate) use paths::Paths;
use tree::{LinkNode, Tree};
use visuals::Colors;

/// How a URDF is read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UrdfOptions {
    /// Fixes the root link to the world; by default it floats, unless it is called "world" or has no mass.
    pub fixed_base: bool,
    /// Folders to look in for `package://` and `model://`, and for relative paths: a package itself or a folder of packages.
    pub package_paths: Vec<PathBuf>,
    /// Keeps collision meshes as surfaces of triangles; by default each becomes its convex hull.
    pub keep_meshes: bool,
    /// The surface where the file says nothing.
    pub material: Material,
}

/// Loads a URDF file.
///
/// Meshes are found by [`UrdfOptions::package_paths`], the environment (`ROS_PACKAGE_PATH`, `AMENT_PREFIX_PATH`, `GAZEBO_MODEL_PATH`), and the
/// folders above the file.
///
/// # Errors
/// If the file cannot be read, is not well-formed, is no tree of links, or has a number or mesh that cannot be used: with file, line and element.
pub fn load(path: &Path, options: &UrdfOptions) -> Result<Description, SceneError> {
    if path.extension().is_some_and(|e| e == "xacro") {
        return Err(SceneError::new("", XACRO).in_file(path));
    }
    let source = Source::read(path)?;
    // The folders above a relative path are those above the current folder too.
    let folder = std::path::absolute(path).ok().and_then(|p| p.parent().map(Path::to_path_buf)).unwrap_or_default();
    read(source, &folder, options).map_err(|e| e.in_file(path))
}

/// Reads a URDF from its text; meshes are looked for as if the text stood in a file in `base`.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, base: &Path, options: &UrdfOptions) -> Result<Description, SceneError> {
    read(Source::new(text, None), base, options)
}

pub(crate) const XACRO: &str = "this is xacro, which makes URDF: run `xacro FILE > robot.urdf` (pip install xacro) and load that; \
     Python's Scene.load does it by itself where that package is installed";

fn read(mut source: Source, folder: &Path, options: &UrdfOptions) -> Result<Description, SceneError> {
    let defaults = source.take_defaults();
    options.material.check().map_err(|e| SceneError::input("material", &e))?;
    let document = source.parse()?;
    let robot = robot_element(&document)?;
    let name = robot.attribute("name").or(source.file().and_then(|f| f.file_stem()?.to_str())).unwrap_or("robot");
    robot.attribute("version");
    let tree = tree::read(robot)?;
    surface::read_gazebo(robot, &tree);
    let paths = Paths::new(folder, options);
    let colors = visuals::colors(robot);
    let mut out =
        Builder { options, paths, colors, out: Description::new(name), numbers: vec![], names: BTreeMap::new() };
    out.add_links(&tree)?;
    joints::add_mimics(&tree, &out.numbers, &mut out.out)?;
    let of = |link: usize| tree.order.iter().copied().find(|&i| out.numbers[i] == Some(link)).unwrap_or(0);
    mobility::check(&|link| tree.links[of(link)].element, &mut out.out)?;
    ignore_the_rest(robot);
    let mut description = out.out;
    // Collision shapes are drawn on links that have nothing else to look at.
    let seen: BTreeSet<Option<usize>> = description.visuals.iter().map(|v| v.link).collect();
    description.geoms.iter_mut().for_each(|g| g.look.drawn = !seen.contains(&g.geom.link));
    description.notes = document.notes();
    if defaults {
        let text = "has the value that the file gives it, not one of the environment".into();
        description.notes.push(Note { kind: NoteKind::Changed, element: "$(optenv)".into(), text });
    }
    Ok(description)
}

/// The outermost element, if it is one of a URDF and all macros are expanded.
fn robot_element<'a>(document: &'a Document<'a>) -> Result<Element<'a>, SceneError> {
    let robot = document.root();
    let other = match robot.name() {
        "robot" => return check_expanded(robot).map(|()| robot),
        "mujoco" => ": this is MJCF",
        "sdf" => ": this is SDF",
        _ => "",
    };
    Err(robot.error(format!("expected <robot>{other}")))
}

fn check_expanded(robot: Element) -> Result<(), SceneError> {
    for element in robot.descendants() {
        let macro_in = |(_, text): &(&str, &str)| text.contains("${") || text.contains("$(");
        if element.name().starts_with("xacro:") || element.attributes().any(|a| macro_in(&a)) {
            return Err(element.error(XACRO));
        }
    }
    Ok(())
}

/// Says of well-known elements why they have no effect.
fn ignore_the_rest(robot: Element) {
    robot.children_named("transmission").for_each(|e| e.ignore("motors are given by the scene"));
    robot.children_named("ros2_control").for_each(|e| e.ignore("motors are given by the scene"));
    for e in robot.children_named("loop_joint") {
        e.note(NoteKind::NotYet, "loops are not read from URDF files yet");
        e.mark_all();
    }
}

/// The description while it grows.
struct Builder<'a> {
    options: &'a UrdfOptions,
    paths: Paths,
    /// Of materials.
    colors: Colors<'a>,
    out: Description,
    /// The number in the description of each link of the tree; `None` for one that is the world.
    numbers: Vec<Option<usize>>,
    /// Names of geoms so far, each with the last number given to one of that name.
    names: BTreeMap<String, usize>,
}

impl Builder<'_> {
    /// Adds all links, parents first, with their shapes.
    fn add_links(&mut self, tree: &Tree) -> Result<(), SceneError> {
        self.numbers = vec![None; tree.links.len()];
        let mut inertias: Vec<Option<Inertia>> = Vec::with_capacity(tree.links.len());
        for link in &tree.links {
            inertias.push(inertial::read(link.element)?);
        }
        // Where the root stands fixed, its shapes and those of links fixed to it may be unbounded: their poses in the world.
        let mut fixed: Vec<Option<Pose>> = vec![None; tree.links.len()];
        for &i in &tree.order {
            let link = &tree.links[i];
            match &link.joint {
                None => self.add_root(tree, i, &inertias, &mut fixed),
                Some(joint) => {
                    let spec = self.spec(link, joint, inertias[i].unwrap_or(Inertia::ZERO));
                    self.numbers[i] = Some(self.out.links.len());
                    self.out.links.push(spec);
                    if joint.kind == JointKind::Fixed {
                        fixed[i] = fixed[joint.parent].map(|p| p * joint.frame);
                    }
                }
            }
            self.add_shapes(link, self.numbers[i], fixed[i])?;
        }
        Ok(())
    }

    fn add_root(&mut self, tree: &Tree, i: usize, inertias: &[Option<Inertia>], fixed: &mut [Option<Pose>]) {
        let link = &tree.links[i];
        let is_world = link.name == "world";
        if is_world && inertias[i].is_none() {
            fixed[i] = Some(Pose::identity());
            return;
        }
        let inertia = inertias[i].unwrap_or(Inertia::ZERO);
        let mut spec = LinkSpec::free(link.name, inertia);
        let massless = tree.fixed_group(i).all(|k| inertias[k].is_none_or(|x| x.mass == 0.0));
        if massless && !(is_world || self.options.fixed_base) {
            link.element.note(NoteKind::Changed, "has no mass: it is fixed to the world");
        }
        if massless || is_world || self.options.fixed_base {
            spec.kind = JointKind::Fixed;
            fixed[i] = Some(Pose::identity());
        }
        self.numbers[i] = Some(self.out.links.len());
        self.out.links.push(spec);
    }

    fn spec(&self, link: &LinkNode, joint: &Joint, inertia: Inertia) -> LinkSpec {
        LinkSpec {
            name: link.name.into(),
            joint_name: joint.name.into(),
            parent: self.numbers[joint.parent],
            kind: joint.kind,
            frame: joint.frame,
            properties: joint.properties,
            inertia,
        }
    }

    /// Collision shapes, and what is only drawn.
    fn add_shapes(&mut self, link: &LinkNode, number: Option<usize>, fixed: Option<Pose>) -> Result<(), SceneError> {
        let material = surface::of_link(link, self.options.material)?;
        let visuals = visuals::read(link, number, &self.paths, &self.colors);
        self.out.visuals.extend(visuals);
        for Placed { name, pose, shape, .. } in geometry::read(link, &self.paths, self.options.keep_meshes)? {
            let (number, pose) = match (shape.is_unbounded(), fixed) {
                (true, Some(root)) => (None, root * pose),
                (true, None) => return Err(link.element.error("a plane must be on a link that is fixed to the world")),
                _ => (number, pose),
            };
            let name = self.unused_name(name.unwrap_or(link.name));
            self.out.geoms.push(GeomSpec::new(Geom::new(name, number, pose, shape), material));
        }
        Ok(())
    }

    /// The name itself, or with the next number that makes it new.
    fn unused_name(&mut self, name: &str) -> String {
        let mut unused = name.to_string();
        while self.names.contains_key(&unused) {
            let count = self.names.entry(name.to_string()).or_insert(1);
            *count += 1;
            unused = format!("{name}_{count}");
        }
        self.names.insert(unused.clone(), 1);
        unused
    }
}

/// The pose of an `<origin xyz rpy>` within an element; the identity where there is none. Rotations are about the fixed axes x, y, z, in that order.
fn origin(of: Element) -> Result<Pose, SceneError> {
    let Some(origin) = of.child("origin") else { return Ok(Pose::identity()) };
    let xyz = origin.vector("xyz")?.unwrap_or(Vec3::ZERO);
    if let Some(quaternion) = origin.numbers::<4>("quat_xyzw")? {
        let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Err(origin.attribute_error("quat_xyzw", "a quaternion must not be zero"));
        }
        return Ok(Pose::from_parts(xyz, Quat::from_array(quaternion.map(|x| x / length)).normalize()));
    }
    let rpy = origin.vector("rpy")?.unwrap_or(Vec3::ZERO);
    Ok(Pose::from_parts(xyz, rotation(rpy)))
}

/// Roll about x, then pitch about y, then yaw about z.
pub(crate) fn rotation(rpy: Vec3) -> Quat {
    let turn = |axis: Vec3, angle: f64| if angle == 0.0 { Quat::IDENTITY } else { axis_angle(axis * angle) };
    (turn(Vec3::Z, rpy.z) * turn(Vec3::Y, rpy.y) * turn(Vec3::X, rpy.x)).normalize()
}

//! SDFormat, the format of Gazebo's models and worlds (1.6 to 1.11), read into a [`Description`].
//!
//! Frames are resolved as the format says: poses are relative to the model unless `relative_to` names a frame, those of joints to the child link. A link
//! with a joint has its origin in the joint's frame. Models that others include keep their names behind `name::`. Everything that is not used is noted.

use std::path::{Path, PathBuf};

use stiction_body::math::{Pose, Quat, Vec3};
use stiction_body::{Geom, Inertia, JointKind, JointProperties, LinkSpec};

use crate::description::{Description, GeomSpec, NoteKind};
use crate::error::{SceneError, did_you_mean};
use crate::urdf::{Paths, UrdfOptions, check_mobility, rotation};
use crate::world::free_configuration;
use crate::xml::{Element, Source, numbers_in};

mod frames;
mod shapes;

use frames::{Files, Model, read_pose};

/// How SDFormat is read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SdfOptions {
    /// Folders to look in for `model://` and `package://`, and for relative paths: models themselves or folders of them.
    pub model_paths: Vec<PathBuf>,
    /// Keeps collision meshes as surfaces of triangles; by default each becomes its convex hull.
    pub keep_meshes: bool,
}

/// Loads a model or a world, and the models it includes.
///
/// Files are found by [`SdfOptions::model_paths`], the environment (`GAZEBO_MODEL_PATH`, `GZ_SIM_RESOURCE_PATH`, and those of URDF), and the folders
/// above the file.
///
/// # Errors
/// With file, line and element, if something cannot be read or cannot be.
pub fn load(path: &Path, options: &SdfOptions) -> Result<Description, SceneError> {
    let source = Source::read(path)?;
    let folder = std::path::absolute(path).ok().and_then(|p| p.parent().map(Path::to_path_buf)).unwrap_or_default();
    read(source, &folder, options).map_err(|e| if e.file.is_some() { e } else { e.in_file(path) })
}

/// Reads a model or a world from its text; files are looked for as if it stood in a file in `base`.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, base: &Path, options: &SdfOptions) -> Result<Description, SceneError> {
    read(Source::new(text, None), base, options)
}

fn read(source: Source, folder: &Path, options: &SdfOptions) -> Result<Description, SceneError> {
    let paths = UrdfOptions { package_paths: options.model_paths.clone(), ..UrdfOptions::default() };
    let (sources, includes) = frames::gather(source, folder, &paths)?;
    let documents = sources.iter().map(|(source, _)| source.parse()).collect::<Result<Vec<_>, _>>()?;
    let parts = documents.iter().zip(&sources);
    let parts = parts.map(|(document, (_, folder))| (document.root(), Paths::new(folder, &paths)));
    let files = Files::new(parts.collect(), includes);
    let root = files.root();
    if root.name() != "sdf" {
        return Err(root.error("expected <sdf>"));
    }
    root.attribute("version");
    let name = root.child("world").or(root.child("model")).and_then(|e| e.attribute("name")).unwrap_or("model");
    let mut reader =
        Reader { models: 0, files: &files, options, out: Description::new(name), bodies: vec![], joints: vec![] };
    for world in root.children_named("world") {
        reader.world(world)?;
    }
    reader.models(root)?;
    if reader.bodies.is_empty() {
        return Err(root.error("has no model with a <link>"));
    }
    let mut out = reader.finish()?;
    for document in &documents {
        out.notes.extend(document.notes());
    }
    Ok(out)
}

/// A link of a model.
struct Body<'a> {
    name: String,
    element: Element<'a>,
    /// The file that it stands in.
    part: usize,
    /// In the world, at the start.
    pose: Pose,
    is_static: bool,
}

/// A joint of a model.
struct Joint<'a> {
    name: String,
    element: Element<'a>,
    /// None is the world.
    parent: Option<usize>,
    /// In the world, at the start.
    pose: Pose,
    /// Kind and properties, one per axis.
    axes: Vec<(JointKind, JointProperties)>,
}

/// Models that a file may have, with all that they include: a file may include itself.
const MOST_MODELS: usize = 10_000;

struct Reader<'a, 'f> {
    /// Models so far.
    models: usize,
    files: &'f Files<'a>,
    options: &'f SdfOptions,
    out: Description,
    bodies: Vec<Body<'a>>,
    /// With the number of the child.
    joints: Vec<(usize, Joint<'a>)>,
}

/// The number in an element's text.
fn number(element: Element) -> Result<f64, SceneError> {
    let word = element.content();
    match word.parse::<f64>() {
        Ok(x) if !x.is_nan() => Ok(x),
        _ => Err(element.error(format!("expected a number, found \"{word}\""))),
    }
}

/// The number of a child, if it is there.
fn child_number(element: Element, name: &str) -> Result<Option<f64>, SceneError> {
    element.child(name).map(number).transpose()
}

/// The numbers in an element's text.
fn vector<const N: usize>(element: Element) -> Result<[f64; N], SceneError> {
    let numbers = numbers_in(element.content()).map_err(|message| element.error(message))?;
    let found = numbers.len();
    numbers.try_into().map_err(|_| element.error(format!("expected {N} numbers, found {found}")))
}

fn is_true(element: Element) -> bool {
    matches!(element.content(), "true" | "1")
}

impl<'a> Reader<'a, '_> {
    fn world(&mut self, world: Element<'a>) -> Result<(), SceneError> {
        if let Some(gravity) = world.child("gravity") {
            self.out.gravity = Some(Vec3::from_array(vector::<3>(gravity)?));
        }
        for physics in world.children_named("physics") {
            self.out.dt = child_number(physics, "max_step_size")?.or(self.out.dt);
            physics.mark_all();
        }
        self.models(world)
    }

    /// The models of a world, which go before the names of their links, or of a file.
    fn models(&mut self, parent: Element<'a>) -> Result<(), SceneError> {
        for model in self.files.nested(parent, 0)? {
            let pose = model.own_pose()?;
            let first = self.bodies.len();
            let prefix = if parent.name() == "world" { format!("{}::", model.name) } else { String::new() };
            self.model(&model, &prefix, pose, false)?;
            // Links of one model touch each other only if it says so.
            let collides = model.element.child("self_collide").is_some_and(is_true);
            for b in (first..self.bodies.len()).filter(|_| !collides) {
                let pairs = (first..b).map(|a| (Some(a), Some(b)));
                self.out.excluded.extend(pairs);
            }
        }
        Ok(())
    }

    fn model(&mut self, model: &Model<'a>, prefix: &str, pose: Pose, is_static: bool) -> Result<(), SceneError> {
        self.models += 1;
        if self.models > MOST_MODELS || prefix.matches("::").count() > frames::DEPTH {
            return Err(model.element.error("too many models within each other: does a file include itself?"));
        }
        let is_static = is_static || model.is_static();
        for link in model.element.children_named("link") {
            let name = link.required("name")?;
            let own = pose * self.files.pose_of(model, name, link)?;
            let name = format!("{prefix}{name}");
            if self.bodies.iter().any(|b| b.name == name) {
                return Err(link.error("there is another link of that name"));
            }
            self.bodies.push(Body { name, element: link, part: model.part, pose: own, is_static });
        }
        for nested in self.files.nested(model.element, model.part)? {
            let name = nested.name.clone();
            let own = pose * self.files.pose_of(model, &name, nested.element)?;
            self.model(&nested, &format!("{prefix}{name}::"), own, is_static)?;
        }
        for element in model.element.children_named("joint") {
            let name = element.required("name")?;
            let frame = pose * self.files.pose_of(model, name, element)?;
            let joint = self.joint(model, element, prefix, (pose, frame))?;
            if !is_static {
                self.joints.push(joint);
            }
        }
        for (tag, why) in [("plugin", "plugins are not run"), ("gripper", "grippers of Gazebo have no effect")] {
            model.element.children_named(tag).for_each(|e| e.ignore(why));
        }
        Ok(())
    }

    fn joint(
        &self,
        model: &Model<'a>,
        element: Element<'a>,
        prefix: &str,
        (model_pose, pose): (Pose, Pose),
    ) -> Result<(usize, Joint<'a>), SceneError> {
        let end = |tag: &str| -> Result<Option<usize>, SceneError> {
            let end = element.required_child(tag)?;
            let name = end.content();
            if name == "world" {
                return Ok(None);
            }
            let name = format!("{prefix}{}", self.files.link_of(model, name, end)?);
            let found = self.bodies.iter().position(|b| b.name == name);
            found.map(Some).ok_or_else(|| {
                let near = did_you_mean(&name, self.bodies.iter().map(|b| b.name.as_str()));
                end.error(format!("there is no link \"{name}\"{near}"))
            })
        };
        let parent = end("parent")?;
        let child = end("child")?.ok_or_else(|| element.error("the world cannot be a child"))?;
        if parent == Some(child) {
            return Err(element.error("parent and child are the same link"));
        }
        let kind = element.required("type")?;
        let axis = |tag: &str| self.axis(model, element, tag, (model_pose, pose));
        let with = |kind: fn(Vec3) -> JointKind, tag: &str| -> Result<(JointKind, JointProperties), SceneError> {
            let (axis, properties) = axis(tag)?;
            Ok((kind(axis), properties))
        };
        let revolute = |axis: Vec3| JointKind::Revolute { axis };
        let free = |kind: JointKind| vec![(kind, JointProperties::default())];
        let axes = match kind {
            "revolute" => vec![with(revolute, "axis")?],
            "continuous" => vec![with(|axis| JointKind::Continuous { axis }, "axis")?],
            "prismatic" => vec![with(|axis| JointKind::Prismatic { axis }, "axis")?],
            "universal" | "revolute2" => vec![with(revolute, "axis")?, with(revolute, "axis2")?],
            "ball" => free(JointKind::Spherical),
            "fixed" => free(JointKind::Fixed),
            "screw" | "gearbox" => {
                return Err(element.attribute_error("type", format!("{kind} joints are not supported")));
            }
            other => {
                let kinds = ["revolute", "continuous", "prismatic", "universal", "revolute2", "ball", "fixed"];
                let near = did_you_mean(other, kinds);
                return Err(element.attribute_error("type", format!("there is no kind of joint \"{other}\"{near}")));
            }
        };
        for tag in ["physics", "sensor"] {
            element.children_named(tag).for_each(|e| e.ignore("has no effect"));
        }
        Ok((child, Joint { name: format!("{prefix}{}", element.required("name")?), element, parent, pose, axes }))
    }

    /// The direction of an axis in the joint's frame, and what acts along it.
    fn axis(
        &self,
        model: &Model<'a>,
        joint: Element<'a>,
        tag: &str,
        (model_pose, pose): (Pose, Pose),
    ) -> Result<(Vec3, JointProperties), SceneError> {
        let Some(axis) = joint.child(tag) else { return Ok((Vec3::Z, JointProperties::default())) };
        let mut direction = Vec3::Z;
        if let Some(xyz) = axis.child("xyz") {
            direction = Vec3::from_array(vector::<3>(xyz)?);
            let frame = xyz.attribute("expressed_in").filter(|f| !f.is_empty());
            let in_model = axis.child("use_parent_model_frame").is_some_and(is_true);
            let from = match frame {
                Some(frame) => Some(model_pose * self.files.pose_of(model, frame, xyz)?),
                None => in_model.then_some(model_pose),
            };
            if let Some(from) = from {
                direction = pose.rotation.inverse() * (from.rotation * direction);
            }
            let largest = direction.abs().max_element();
            if largest == 0.0 {
                return Err(xyz.error("an axis must not be zero"));
            }
            direction = (direction / largest).normalize();
        }
        let mut out = JointProperties::default();
        if let Some(limit) = axis.child("limit") {
            /// Limits beyond this are none.
            const UNLIMITED: f64 = 1e16;
            let end = |name: &str, none: f64| -> Result<f64, SceneError> {
                Ok(child_number(limit, name)?.filter(|x| x.abs() < UNLIMITED).unwrap_or(none))
            };
            out.limits = [end("lower", f64::NEG_INFINITY)?, end("upper", f64::INFINITY)?];
            if out.limits[0] > out.limits[1] {
                return Err(limit.error("the lower limit is above the upper one"));
            }
            out.effort = child_number(limit, "effort")?.filter(|x| *x >= 0.0).unwrap_or(out.effort);
            if child_number(limit, "velocity")?.is_some_and(|x| (0.0..UNLIMITED).contains(&x)) {
                limit.note(NoteKind::NotYet, "limits of velocity are not kept");
            }
            for tag in ["stiffness", "dissipation"] {
                limit.children_named(tag).for_each(|e| e.ignore("limits are rigid: it has no effect"));
            }
        }
        if let Some(dynamics) = axis.child("dynamics") {
            for (name, to) in [
                ("damping", &mut out.damping),
                ("friction", &mut out.friction),
                ("spring_stiffness", &mut out.stiffness),
                ("spring_reference", &mut out.rest),
            ] {
                let Some(x) = child_number(dynamics, name)? else { continue };
                if (x < 0.0 && name != "spring_reference") || !x.is_finite() {
                    return Err(dynamics.error(format!("{name} must be at least 0, found {x}")));
                }
                *to = x;
            }
        }
        Ok((direction, out))
    }

    /// The description of all bodies and joints.
    fn finish(mut self) -> Result<Description, SceneError> {
        let count = self.bodies.len();
        let mut joint_of: Vec<Option<usize>> = vec![None; count];
        for (k, (child, joint)) in self.joints.iter().enumerate() {
            if joint_of[*child].replace(k).is_some() {
                let name = &self.bodies[*child].name;
                let why = format!("link \"{name}\" already has a parent: closed loops are not read from SDF");
                return Err(joint.element.error(why));
            }
        }
        let (mut order, mut stack, mut reached) = (vec![], vec![], vec![false; count]);
        let mut children = vec![vec![]; count];
        for (child, joint) in &self.joints {
            if let Some(parent) = joint.parent {
                children[parent].push(*child);
            }
        }
        let is_root = |i: &usize| joint_of[*i].is_none_or(|k| self.joints[k].1.parent.is_none());
        stack.extend((0..count).filter(is_root).collect::<Vec<_>>().into_iter().rev());
        while let Some(i) = stack.pop() {
            order.push(i);
            reached[i] = true;
            stack.extend(children[i].iter().rev());
        }
        if let Some((_, joint)) = self.joints.iter().find(|(child, _)| !reached[*child]) {
            return Err(joint.element.error("is part of a loop of joints: its links hang on no root"));
        }
        let mut number = vec![0; count];
        let mut elements = vec![];
        for &i in &order {
            let offset = self.add_link(i, joint_of[i], &number, &mut elements)?;
            number[i] = self.out.links.len() - 1;
            self.add_shapes(i, number[i], offset)?;
        }
        for pair in &mut self.out.excluded {
            *pair = (pair.0.map(|a| number[a]), pair.1.map(|b| number[b]));
        }
        check_mobility(&|link| elements[link], &mut self.out)?;
        Ok(self.out)
    }

    /// Adds the links of a body, one per axis of its joint; returns the body's frame in the last one.
    fn add_link(
        &mut self,
        i: usize,
        joint: Option<usize>,
        number: &[usize],
        elements: &mut Vec<Element<'a>>,
    ) -> Result<Pose, SceneError> {
        let body = &self.bodies[i];
        let inertia = shapes::inertia(body.element)?;
        let Some((_, joint)) = joint.map(|k| &self.joints[k]) else {
            let kind = if body.is_static { JointKind::Fixed } else { JointKind::Free };
            let frame = if body.is_static { body.pose } else { Pose::identity() };
            if !body.is_static {
                self.out.initial.push((self.out.links.len(), free_configuration(&body.pose)));
            }
            self.out.links.push(LinkSpec::on(body.name.clone(), None, kind, frame, inertia));
            elements.push(body.element);
            return Ok(Pose::identity());
        };
        let offset = joint.pose.inverse() * body.pose;
        let base = joint.parent.map_or(Pose::identity(), |p| self.frame_of(p));
        let mut parent = joint.parent.map(|p| number[p]);
        let mut frame = base.inverse() * joint.pose;
        for (k, (kind, properties)) in joint.axes.iter().enumerate() {
            let last = k + 1 == joint.axes.len();
            let name = if last { body.name.clone() } else { format!("{}/1", joint.name) };
            let own = if last { inertia.transformed(&offset) } else { Inertia::ZERO };
            let mut spec = LinkSpec::on(name, parent, *kind, frame, own);
            spec.joint_name = if last { joint.name.clone() } else { format!("{}/1", joint.name) };
            spec.properties = *properties;
            parent = Some(self.out.links.len());
            frame = Pose::identity();
            self.out.links.push(spec);
            elements.push(body.element);
        }
        Ok(offset)
    }

    /// The frame of a body's last link in the world, at the start.
    fn frame_of(&self, body: usize) -> Pose {
        let joint = self.joints.iter().find(|(child, _)| *child == body);
        joint.map_or(self.bodies[body].pose, |(_, joint)| joint.pose)
    }

    fn add_shapes(&mut self, i: usize, link: usize, offset: Pose) -> Result<(), SceneError> {
        let Body { name, element, part, pose, is_static } = &self.bodies[i];
        let paths = self.files.paths(*part);
        for tag in ["sensor", "light", "projector", "audio_source", "battery", "particle_emitter"] {
            element.children_named(tag).for_each(|e| e.ignore("has no effect on motion"));
        }
        if element.child("gravity").is_some_and(|e| !is_true(e)) {
            element.note(NoteKind::NotYet, "gravity acts on every link");
        }
        let mut seen = false;
        for visual in element.children_named("visual") {
            let drawn = shapes::visuals(visual, paths, (name, link, offset));
            seen |= !drawn.is_empty();
            self.out.visuals.extend(drawn);
        }
        for collision in element.children_named("collision") {
            let own = offset * read_pose(collision)?.0;
            let Some((own, shape)) = shapes::shape(collision, own, paths, self.options.keep_meshes)? else { continue };
            let (link, own) = match shape.is_unbounded() {
                false => (Some(link), own),
                true if *is_static => (None, *pose * own),
                true => return Err(collision.error("a plane must be on a static model")),
            };
            let label = collision.attribute("name").unwrap_or("collision");
            let mut geom =
                GeomSpec::new(Geom::new(format!("{name}/{label}"), link, own, shape), shapes::surface(collision)?);
            geom.look.drawn = !seen;
            self.out.geoms.push(geom);
        }
        Ok(())
    }
}

/// Turns a text of three or four numbers into a rotation: roll, pitch and yaw, or a quaternion x, y, z, w.
fn turned(element: Element, numbers: &[f64], degrees: bool) -> Result<Quat, SceneError> {
    match *numbers {
        [r, p, y] => Ok(rotation(Vec3::new(r, p, y) * if degrees { std::f64::consts::PI / 180.0 } else { 1.0 })),
        [x, y, z, w] => {
            let length = (x * x + y * y + z * z + w * w).sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return Err(element.error("a quaternion must not be zero"));
            }
            Ok(Quat::from_xyzw(x / length, y / length, z / length, w / length).normalize())
        }
        _ => Err(element.error("expected a position and a rotation")),
    }
}

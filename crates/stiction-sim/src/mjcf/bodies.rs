//! The tree of bodies: what stands in `<worldbody>`, with frames resolved and everything in the frame of its body.

use std::collections::BTreeSet;

use stiction_body::math::{Mat3, Pose, Quat, Vec3};
use stiction_body::{Inertia, Shape};

use super::assets::Assets;
use super::attributes::Attributes;
use super::compiler::{Compiler, InertiaFromGeom, Options};
use super::defaults::Defaults;
use super::forms::{self, Form};
use super::frames::pose;
use super::joints::{Joint, JointType};
use super::notes::Notes;
use super::solid::{principal, with_moments};
use super::surface::{Surface, mask};
use super::tree::Element;
use super::visuals::{self, VisualRead};
use crate::description::NoteKind;
use crate::error::{SceneError, did_you_mean};
use crate::fluid::{FluidCoefficients, FluidEllipsoid};
use crate::looks::Look;
use crate::sensors::Volume;

/// A body. The world is the first of a model.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) element: &'a Element,
    pub(super) name: String,
    /// Number of the parent; the world is its own.
    pub(super) parent: usize,
    /// Pose in the parent when all joints are at their reference.
    pub(super) pose: Pose,
    /// Pose in the world when all joints are at their reference.
    pub(super) world: Pose,
    pub(super) joints: Vec<Joint<'a>>,
    /// In the body's frame.
    pub(super) inertia: Inertia,
    /// Axes of the inertia, where the file tells them: of `<inertial>`, or of the only geom that weighs.
    axes: Option<Quat>,
    /// Geoms that weigh.
    weighing: usize,
    /// The part of its weight that is compensated.
    pub(super) compensation: f64,
    /// True if no joint moves it.
    pub(super) is_static: bool,
    /// True if it is moved from outside.
    pub(super) mocap: bool,
    /// What a fluid flows around instead of the box of equal inertia, in the body's frame.
    pub(super) ellipsoids: Vec<(Pose, FluidEllipsoid)>,
}

/// A geom that can collide.
#[derive(Debug)]
pub(super) struct GeomRead<'a> {
    pub(super) element: &'a Element,
    pub(super) name: String,
    pub(super) body: usize,
    /// Pose in the body.
    pub(super) pose: Pose,
    pub(super) shape: Shape,
    pub(super) contype: u32,
    pub(super) conaffinity: u32,
    pub(super) surface: Surface,
    pub(super) look: Look,
    pub(super) group: i64,
}

/// A named place on a body.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) body: usize,
    pub(super) pose: Pose,
    pub(super) volume: Volume,
}

/// A geom that tendons and sensors can name, whether it touches, weighs or is only drawn.
#[derive(Debug)]
pub(super) struct NamedGeom<'a> {
    pub(super) name: String,
    pub(super) body: usize,
    /// Of the enclosing `<frame>`s, in the body.
    frame: Pose,
    attributes: Attributes<'a>,
}

impl<'a> NamedGeom<'a> {
    /// Its form, and its pose in the body. Meshes are only read where this is asked for.
    pub(super) fn form<'s>(
        &self,
        assets: &'s Assets<'a>,
        compiler: &Compiler,
    ) -> Result<(Form<'s, 'a>, Pose), SceneError> {
        let (form, own) = forms::read(&self.attributes, assets, compiler)?;
        Ok((form, self.frame * own))
    }
}

/// A named camera.
#[derive(Debug)]
pub(super) struct Camera {
    pub(super) name: String,
    pub(super) body: usize,
    /// Pose in the body.
    pub(super) pose: Pose,
    /// True if it turns by itself.
    pub(super) turns: bool,
}

/// Everything in the tree.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub(super) bodies: Vec<Body<'a>>,
    pub(super) geoms: Vec<GeomRead<'a>>,
    pub(super) visuals: Vec<VisualRead>,
    pub(super) sites: Vec<Site>,
    pub(super) named_geoms: Vec<NamedGeom<'a>>,
    pub(super) cameras: Vec<Camera>,
    names: BTreeSet<(&'static str, String)>,
}

/// What the tree is read with.
pub(super) struct Context<'s, 'a> {
    pub(super) compiler: &'s Compiler,
    pub(super) options: &'s Options,
    pub(super) defaults: &'s Defaults<'a>,
    pub(super) assets: &'s Assets<'a>,
    /// Names of geoms that pairs refer to.
    pub(super) paired: BTreeSet<&'a str>,
}

/// Where in the tree an element stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    body: usize,
    /// Of the enclosing `<frame>`s, in the body.
    frame: Pose,
    class: Option<&'a str>,
    /// True if the body's inertia is to be computed from geoms.
    weighs: bool,
}

impl Body<'_> {
    /// The axes of its inertia: those of the file, or else the principal ones.
    pub(super) fn axes(&self) -> Quat {
        self.axes.unwrap_or_else(|| principal(self.inertia.about_com).1)
    }
}

impl<'a> Tree<'a> {
    /// Reads all `<worldbody>` sections.
    pub(super) fn read(root: &'a Element, context: &Context<'_, 'a>, notes: &mut Notes) -> Result<Self, SceneError> {
        let mut tree = Self::default();
        tree.bodies.push(Body {
            element: root,
            name: "world".into(),
            parent: 0,
            pose: Pose::identity(),
            world: Pose::identity(),
            joints: vec![],
            inertia: Inertia::ZERO,
            axes: None,
            weighing: 0,
            compensation: 0.0,
            is_static: true,
            mocap: false,
            ellipsoids: vec![],
        });
        for section in root.all("worldbody") {
            let place = Place { body: 0, frame: Pose::identity(), class: section.text("childclass"), weighs: false };
            context.defaults.check(section, "childclass")?;
            tree.content(section, place, context, notes)?;
        }
        tree.finish_inertias(context.compiler)?;
        visuals::hide_what_touches(&mut tree);
        Ok(tree)
    }

    /// Reads what stands within a body or frame.
    fn content(
        &mut self,
        parent: &'a Element,
        place: Place<'a>,
        context: &Context<'_, 'a>,
        notes: &mut Notes,
    ) -> Result<(), SceneError> {
        for element in &parent.children {
            match element.name.as_str() {
                "body" => self.body(element, place, context, notes)?,
                "frame" => {
                    context.defaults.check(element, "childclass")?;
                    let own = pose(&Attributes::of(element), context.compiler)?;
                    let class = element.text("childclass").or(place.class);
                    self.content(element, Place { frame: place.frame * own, class, ..place }, context, notes)?;
                }
                "joint" | "freejoint" => self.joint(element, place, context, notes)?,
                "geom" => self.geom(element, place, context, notes)?,
                "site" => self.site(element, place, context)?,
                "inertial" => self.inertial(element, place, context)?,
                "camera" => self.camera(element, place, context)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn body(
        &mut self,
        element: &'a Element,
        place: Place<'a>,
        context: &Context<'_, 'a>,
        notes: &mut Notes,
    ) -> Result<(), SceneError> {
        context.defaults.check(element, "childclass")?;
        let a = Attributes::of(element);
        let number = self.bodies.len();
        let name = match self.take_name("body", element)? {
            Some(name) => name,
            None => self.invented_name(number),
        };
        let mocap = a.flag("mocap")? == Some(true);
        if mocap && (place.body != 0 || has_joint(element)) {
            return Err(a.error("mocap", "such a body must be a child of the world, and have no joints"));
        }
        let pose = place.frame * pose(&a, context.compiler)?;
        let parent = &self.bodies[place.body];
        let (world, is_static) = (parent.world * pose, parent.is_static && !has_joint(element));
        self.bodies.push(Body {
            element,
            name,
            parent: place.body,
            pose,
            world,
            joints: vec![],
            inertia: Inertia::ZERO,
            axes: None,
            weighing: 0,
            compensation: a.number("gravcomp")?.unwrap_or(0.0),
            is_static,
            mocap,
            ellipsoids: vec![],
        });
        let weighs = match context.compiler.at(&a).inertia_from_geom {
            InertiaFromGeom::Never => false,
            InertiaFromGeom::Always => true,
            InertiaFromGeom::WhereMissing => !has_inertial(element),
        };
        let class = element.text("childclass").or(place.class);
        self.content(element, Place { body: number, frame: Pose::identity(), class, weighs }, context, notes)
    }

    fn joint(
        &mut self,
        element: &'a Element,
        place: Place<'a>,
        context: &Context<'_, 'a>,
        notes: &mut Notes,
    ) -> Result<(), SceneError> {
        if place.body == 0 {
            return Err(element.error("the world cannot have a joint"));
        }
        let name = self.take_name("joint", element)?.unwrap_or_default();
        let a = match element.name.as_str() {
            "freejoint" => Attributes::of(element),
            _ => context.defaults.resolve(element, "joint", place.class)?,
        };
        let joint = Joint::read(element, name, &a, place.frame, context.compiler, context.options, notes)?;
        let body = &mut self.bodies[place.body];
        let free = joint.kind == JointType::Free || body.joints.iter().any(|j| j.kind == JointType::Free);
        if free && (body.parent != 0 || !body.joints.is_empty()) {
            return Err(element.error("a free joint must be the only joint of a body directly in the world"));
        }
        body.joints.push(joint);
        Ok(())
    }

    fn geom(
        &mut self,
        element: &'a Element,
        place: Place<'a>,
        context: &Context<'_, 'a>,
        notes: &mut Notes,
    ) -> Result<(), SceneError> {
        let name = self.take_name("geom", element)?.unwrap_or_default();
        let a = context.defaults.resolve(element, "geom", place.class)?;
        let (contype, conaffinity) = (mask(&a, "contype")?, mask(&a, "conaffinity")?);
        let surface = Surface::read(&a, element, notes)?;
        let paired = context.paired.contains(name.as_str()) && !name.is_empty();
        let collides = !context.options.is_off("contact") && (contype | conaffinity != 0 || paired);
        let group = a.integer("group")?.unwrap_or(0);
        let [low, high] = context.compiler.at(&a).inertia_groups;
        let weighs = place.weighs && (low..=high).contains(&group);
        a.nonnegative("mass")?;
        a.nonnegative("density")?;
        if !name.is_empty() {
            let (name, attributes) = (name.clone(), a.clone());
            self.named_geoms.push(NamedGeom { name, body: place.body, frame: place.frame, attributes });
        }
        if a.keyword("fluidshape", &["none", "ellipsoid"])? == Some("ellipsoid") {
            let (form, own) = forms::read(&a, context.assets, context.compiler)?;
            let ellipsoid = FluidEllipsoid::new(form.semi_axes()?, fluid_coefficients(&a)?);
            self.bodies[place.body].ellipsoids.push((place.frame * own * form.frame()?, ellipsoid));
        }
        let mut look = visuals::look(&a, group, context)?;
        if !collides && !weighs {
            check_unused(&a, context)?;
            notes.tag(NoteKind::Ignored, element, "geoms that touch nothing and weigh nothing: only drawn");
            let visual = visuals::read(&a, name, place.body, place.frame, look, context);
            self.add_visual(visual, (group, false), element, notes);
            return Ok(());
        }
        let (form, own) = forms::read(&a, context.assets, context.compiler)?;
        let pose = place.frame * own;
        if !collides || visuals::looks_other(&form) {
            let visual = visuals::of_form(&form, &a, name.clone(), place.body, pose, look, context);
            look.drawn &= !self.add_visual(visual, (group, collides), element, notes);
        }
        let body = &mut self.bodies[place.body];
        if form.is_terrain() && !body.is_static {
            return Err(element.error("planes and height fields must be fixed to the world"));
        }
        // What cannot move needs no mass: flat meshes are fine there.
        let weighs = weighs && !(body.is_static && matches!(form, Form::Mesh(mesh) if mesh.solid().is_err()));
        if weighs && let Some(inertia) = form.inertia(&a)? {
            body.inertia = body.inertia.joined(&inertia.transformed(&pose));
            body.weighing += 1;
            body.axes = if body.weighing == 1 { Some((pose * form.frame()?).rotation) } else { None };
            if matches!(form, Form::Ellipsoid(_)) && a.flag("shellinertia")? == Some(true) {
                notes.element(NoteKind::Changed, element, "the shell of an ellipsoid weighs as its inside");
            }
        }
        if !collides {
            notes.tag(NoteKind::Ignored, element, "geoms that touch nothing: drawn, and their mass counts");
            return Ok(());
        }
        if matches!(form, Form::Mesh(_)) {
            notes.tag(NoteKind::Ignored, element, "meshes touch with their convex hulls, as in MuJoCo");
        }
        let Some(shape) = form.shape(&a)? else {
            notes.element(NoteKind::NotYet, element, "signed distance fields are not supported: it touches nothing");
            return Ok(());
        };
        let body = place.body;
        self.geoms.push(GeomRead { element, name, body, pose, shape, contype, conaffinity, surface, look, group });
        Ok(())
    }

    /// Keeps what can be drawn, of that group and touching or not, and says so; the rest is noted,
    /// and no error.
    fn add_visual(
        &mut self,
        visual: Result<Vec<VisualRead>, SceneError>,
        (group, touches): (i64, bool),
        element: &Element,
        notes: &mut Notes,
    ) -> bool {
        match visual {
            Ok(visual) => {
                let first = self.visuals.len();
                self.visuals.extend(visual);
                self.visuals[first..].iter_mut().for_each(|v| (v.group, v.touches) = (group, touches));
                first < self.visuals.len()
            }
            Err(e) => {
                notes.element(NoteKind::Warning, element, format!("is not drawn: {}", e.message));
                false
            }
        }
    }

    fn site(&mut self, element: &'a Element, place: Place<'a>, context: &Context<'_, 'a>) -> Result<(), SceneError> {
        let Some(name) = self.take_name("site", element)? else { return Ok(()) };
        let a = context.defaults.resolve(element, "site", place.class)?;
        let pose = place.frame * forms::connector_pose(&a, context.compiler)?;
        self.sites.push(Site { name, body: place.body, pose, volume: volume(&a)? });
        Ok(())
    }

    fn camera(&mut self, element: &'a Element, place: Place<'a>, context: &Context<'_, 'a>) -> Result<(), SceneError> {
        let Some(name) = self.take_name("camera", element)? else { return Ok(()) };
        let a = context.defaults.resolve(element, "camera", place.class)?;
        let pose = place.frame * pose(&a, context.compiler)?;
        let turns = !matches!(a.text("mode"), None | Some("fixed"));
        self.cameras.push(Camera { name, body: place.body, pose, turns });
        Ok(())
    }

    /// `<inertial>`: mass, centre and moments.
    fn inertial(&mut self, element: &'a Element, place: Place<'a>, context: &Context) -> Result<(), SceneError> {
        let a = Attributes::of(element);
        if place.body == 0 || context.compiler.at(&a).inertia_from_geom == InertiaFromGeom::Always {
            return Ok(());
        }
        let mass = a.nonnegative("mass")?.ok_or_else(|| element.error("needs the attribute \"mass\""))?;
        let frame = pose(&a, context.compiler)?;
        let about_com = match (a.numbers::<6>("fullinertia")?, a.vector("diaginertia")?) {
            (Some(_), Some(_)) => return Err(element.error("has both \"fullinertia\" and \"diaginertia\"")),
            (Some([xx, yy, zz, xy, xz, yz]), None) => {
                Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
            }
            (None, diagonal) => Mat3::from_diagonal(diagonal.unwrap_or(Vec3::ZERO)),
        };
        if mass == 0.0 && about_com != Mat3::ZERO {
            return Err(a.error("mass", "a body with inertia needs a mass above 0"));
        }
        let inertia = Inertia { mass, com: Vec3::ZERO, about_com };
        let frame = place.frame * frame;
        self.bodies[place.body].inertia = inertia.transformed(&frame);
        let own = if a.has("fullinertia") { principal(about_com).1 } else { Quat::IDENTITY };
        self.bodies[place.body].axes = Some(frame.rotation * own);
        Ok(())
    }

    /// The site that an attribute names.
    pub(super) fn find_site(&self, element: &Element, attribute: &str) -> Result<&Site, SceneError> {
        named(&self.sites, |s| &s.name, "site", element, attribute)
    }

    /// The geom that an attribute names.
    pub(super) fn find_geom(&self, element: &Element, attribute: &str) -> Result<&NamedGeom<'a>, SceneError> {
        named(&self.named_geoms, |g| &g.name, "geom", element, attribute)
    }

    /// The camera that an attribute names.
    pub(super) fn find_camera(&self, element: &Element, attribute: &str) -> Result<&Camera, SceneError> {
        named(&self.cameras, |c| &c.name, "camera", element, attribute)
    }

    /// The name of an element, which must be the only one of its kind.
    fn take_name(&mut self, kind: &'static str, element: &Element) -> Result<Option<String>, SceneError> {
        let Some(name) = element.text("name").filter(|n| !n.is_empty()) else { return Ok(None) };
        if !self.names.insert((kind, name.to_string())) || (kind, name) == ("body", "world") {
            return Err(element.attribute_error("name", format!("there is already a {kind} \"{name}\"")));
        }
        Ok(Some(name.to_string()))
    }

    fn invented_name(&mut self, number: usize) -> String {
        let mut name = format!("body{number}");
        while !self.names.insert(("body", name.clone())) {
            name.push('_');
        }
        name
    }

    /// The compiler's bounds and totals, then the check that a body can have such an inertia.
    fn finish_inertias(&mut self, compiler: &Compiler) -> Result<(), SceneError> {
        for body in &mut self.bodies[1..] {
            let bounds = compiler.bound_mass.max(compiler.bound_inertia) > 0.0;
            if bounds && body.inertia.mass < compiler.bound_mass {
                body.inertia.mass = compiler.bound_mass;
            }
            if bounds || compiler.balance_inertia {
                body.inertia = with_moments(&body.inertia, |moments| adjusted(moments, compiler));
            }
        }
        let total: f64 = self.bodies.iter().map(|b| b.inertia.mass).sum();
        let scale = compiler.total_mass.filter(|_| total > 0.0).map_or(1.0, |t| t / total);
        for body in &mut self.bodies[1..] {
            body.inertia.mass *= scale;
            body.inertia.about_com *= scale;
            let Inertia { mass, com, about_com } = body.inertia;
            if mass > 0.0 {
                let checked = Inertia::new(mass, com, about_com);
                body.inertia = checked.map_err(|e| body.element.error(e.to_string()))?;
            } else {
                // Wherever its centre is said to be.
                body.inertia = Inertia::ZERO;
            }
        }
        Ok(())
    }
}

/// The one of a kind that an attribute names.
fn named<'s, T>(
    all: &'s [T],
    name_of: impl Fn(&T) -> &str,
    kind: &str,
    element: &Element,
    attribute: &str,
) -> Result<&'s T, SceneError> {
    let name = element.required(attribute)?;
    all.iter().find(|x| name_of(x) == name).ok_or_else(|| {
        let near = did_you_mean(name, all.iter().map(name_of));
        element.attribute_error(attribute, format!("there is no {kind} \"{name}\"{near}"))
    })
}

/// Principal moments within the compiler's bounds.
fn adjusted(moments: [f64; 3], compiler: &Compiler) -> [f64; 3] {
    let bounded = moments.map(|m| m.max(compiler.bound_inertia));
    // Sorted, the largest first.
    if compiler.balance_inertia && bounded[1] + bounded[2] < bounded[0] {
        return [bounded.iter().sum::<f64>() / 3.0; 3];
    }
    bounded
}

/// Checks what can be checked of a geom without reading its files.
fn check_unused(a: &Attributes, context: &Context) -> Result<(), SceneError> {
    match a.text("mesh") {
        Some(mesh) => {
            context.assets.mesh(a, mesh)?;
            pose(a, context.compiler).map(|_| ())
        }
        None => forms::read(a, context.assets, context.compiler).map(|_| ()),
    }
}

/// How strongly a fluid acts on a geom.
fn fluid_coefficients(a: &Attributes) -> Result<FluidCoefficients, SceneError> {
    let list = a.merged::<5>("fluidcoef", [0.5, 0.25, 1.5, 1.0, 1.0])?.0;
    let [blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift] = list;
    Ok(FluidCoefficients { blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift })
}

/// The volume of a site.
fn volume(a: &Attributes) -> Result<Volume, SceneError> {
    /// Half of a site's size unless it says otherwise (m).
    const HALF: f64 = 0.005;
    let kind = a.keyword("type", &["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"])?.unwrap_or("sphere");
    let mut size = a.merged::<3>("size", [HALF; 3])?.0;
    if let Some([x0, y0, z0, x1, y1, z1]) = a.numbers::<6>("fromto")? {
        let half = 0.5 * Vec3::new(x1 - x0, y1 - y0, z1 - z0).length();
        size = if matches!(kind, "capsule" | "cylinder") { [size[0], half, 0.0] } else { [size[0], size[0], half] };
    }
    Ok(match kind {
        "capsule" => Volume::Capsule(size[0], size[1]),
        "cylinder" => Volume::Cylinder(size[0], size[1]),
        "ellipsoid" => Volume::Ellipsoid(Vec3::from_array(size)),
        "box" => Volume::Box(Vec3::from_array(size)),
        _ => Volume::Ellipsoid(Vec3::splat(size[0])),
    })
}

/// True if a body has an `<inertial>`, within frames or not.
fn has_inertial(body: &Element) -> bool {
    body.children.iter().any(|c| c.name == "inertial" || (c.name == "frame" && has_inertial(c)))
}

/// True if a body has a joint, within frames or not.
fn has_joint(body: &Element) -> bool {
    let joint = |c: &Element| matches!(c.name.as_str(), "joint" | "freejoint");
    body.children.iter().any(|c| joint(c) || (c.name == "frame" && has_joint(c)))
}

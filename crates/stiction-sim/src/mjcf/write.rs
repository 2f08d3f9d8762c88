//! A scene as MJCF: what MuJoCo can simulate of it, and what it cannot as one clear error.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt::Write as _;

use stiction_body::math::{Pose, Quat, Vec3, tangents};
use stiction_body::model::Link;
use stiction_body::{Geom, JointKind, JointProperties, LinkSpec, ShapeKind};

use crate::error::SceneError;
use crate::scene::Scene;
use crate::world::World;

/// Limits of one side only have this on the other (rad or m): MuJoCo wants both.
const NO_LIMIT: f64 = 1e10;

/// A scene's bodies, joints, shapes, friction, gravity, step and start as MJCF, with the bodies'
/// names. Its first key frame is the start. All else, as how soft contact is, is left to MuJoCo.
///
/// # Errors
/// Naming the first thing that MuJoCo has no equal of, or that is not written: controllers, closed
/// loops, joints that follow others, restitution, moving surfaces, viscous and infinite friction,
/// friction of single pairs and of surfaces whose rule is not the larger coefficient, meshes that
/// are not convex, height fields.
pub fn write(scene: &Scene) -> Result<String, SceneError> {
    let world = &*scene.world;
    refuse_what_is_no_body(scene)?;
    refuse_surfaces(world)?;
    let links = world.model.links();
    let children = by_link(links.len(), links.iter().map(|l| l.spec.parent));
    let geoms = by_link(links.len(), world.geoms.iter().map(|g| g.link));
    let (assets, bodies, start) = (String::new(), String::new(), Start::default());
    let mut out = Writer { world, children, geoms, assets, bodies, start };
    out.write()?;
    let Vec3 { x, y, z } = world.model.gravity();
    let excluded: String = world.rules.excluded.iter().map(|&(a, b)| exclude(world, a, b)).collect();
    let Writer { assets, bodies, start, .. } = out;
    Ok(format!(
        "<mujoco model=\"{}\">\n<compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n<option timestep=\"{}\" gravity=\"{x} {y} {z}\"/>\n\
         <asset>\n{assets}</asset>\n<worldbody>\n{bodies}</worldbody>\n<contact>\n{excluded}</contact>\n\
         <keyframe><key qpos=\"{}\" qvel=\"{}\"/></keyframe>\n</mujoco>\n",
        escaped(&scene.title),
        scene.settings.dt,
        numbers(&start.q),
        numbers(&start.v),
    ))
}

fn refuse(place: &str, what: &str) -> SceneError {
    SceneError::new(place, format!("{what} cannot be written as MJCF"))
}

fn refuse_what_is_no_body(scene: &Scene) -> Result<(), SceneError> {
    let (model, rules) = (&scene.world.model, &scene.world.rules);
    for (some, place, what) in [
        (!scene.controllers.is_empty(), "controllers", "controllers"),
        (!model.loops().is_empty(), "loops", "closed loops"),
        (!model.mimics().is_empty(), "joints", "joints that follow others"),
        (!model.couplings().is_empty(), "joints", "joints that are coupled"),
        (!rules.touches_parent.is_empty(), "pairs", "links that touch their parents"),
        (!(rules.pairs.is_empty() && rules.excluded_geoms.is_empty()), "pairs", "rules for single pairs of geoms"),
        (!scene.world.surfaces.pairs.is_empty(), "pairs", "surfaces of single pairs"),
    ] {
        if some {
            return Err(refuse(place, what));
        }
    }
    Ok(())
}

/// MuJoCo takes the larger of two coefficients, and knows neither restitution nor belts.
fn refuse_surfaces(world: &World) -> Result<(), SceneError> {
    let surfaces = &world.surfaces;
    let mut different: BTreeMap<_, usize> = BTreeMap::new();
    for (i, m) in surfaces.of.iter().enumerate() {
        let name = || world.geom_name(i);
        for (some, what) in [
            (m.restitution > 0.0, "restitution"),
            (m.mu_viscous > 0.0, "viscous friction"),
            (m.surface_velocity != Vec3::ZERO, "the velocity of a surface"),
            (!m.mu.max(m.mu_spin).max(m.mu_roll).is_finite(), "infinite friction"),
            (m.mu_across.is_some(), "friction that depends on the direction of slip"),
            (m.mu_static.is_some(), "static friction unlike that of sliding"),
        ] {
            if some {
                return Err(refuse(&name(), what));
            }
        }
        let coefficients = [m.mu, m.mu_spin, m.mu_roll].map(f64::to_bits);
        different.entry((coefficients, surfaces.rule_of[i].map(|r| r as u8))).or_insert(i);
    }
    for (k, &i) in different.values().enumerate() {
        for &j in different.values().skip(k + 1) {
            let (a, b, both) = (&surfaces.of[i], &surfaces.of[j], surfaces.between(i, j));
            let larger = [a.mu.max(b.mu), a.mu_spin.max(b.mu_spin), a.mu_roll.max(b.mu_roll)];
            if [both.mu, both.mu_spin, both.mu_roll] != larger {
                let place = format!("{} and {}", world.geom_name(i), world.geom_name(j));
                return Err(refuse(&place, "friction that is not the larger coefficient of the two"));
            }
        }
    }
    Ok(())
}

/// Numbers of things by the link they are on; those on the world come last.
fn by_link(links: usize, on: impl Iterator<Item = Option<usize>>) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]; links + 1];
    on.enumerate().for_each(|(i, link)| all[link.unwrap_or(links)].push(i));
    all
}

fn exclude(world: &World, a: Option<usize>, b: Option<usize>) -> String {
    let name = |link: Option<usize>| link.map_or("world".into(), |l| escaped(&world.model.links()[l].spec.name));
    format!("<exclude body1=\"{}\" body2=\"{}\"/>\n", name(a), name(b))
}

/// Configuration and velocities at the start, in MuJoCo's order.
#[derive(Default)]
struct Start {
    q: Vec<f64>,
    v: Vec<f64>,
}

struct Writer<'a> {
    world: &'a World,
    /// Links and geoms on each link; those on the world come last.
    children: Vec<Vec<usize>>,
    geoms: Vec<Vec<usize>>,
    assets: String,
    bodies: String,
    start: Start,
}

impl Writer<'_> {
    fn write(&mut self) -> Result<(), SceneError> {
        let world = self.world;
        let links = world.model.links();
        self.geoms(links.len())?;
        // Links to begin, the next one last; `None` ends a body.
        let mut left: Vec<Option<usize>> = self.children[links.len()].iter().rev().map(|&l| Some(l)).collect();
        while let Some(next) = left.pop() {
            let Some(l) = next else {
                self.bodies.push_str("</body>\n");
                continue;
            };
            self.link(&links[l])?;
            self.geoms(l)?;
            left.push(None);
            left.extend(self.children[l].iter().rev().map(|&c| Some(c)));
        }
        Ok(())
    }

    fn link(&mut self, link: &Link) -> Result<(), SceneError> {
        let LinkSpec { name, kind, frame, inertia, properties, parent, .. } = &link.spec;
        let world = self.world;
        let (q, v) = (&world.q[link.q.clone()], &world.v[link.v.clone()]);
        let (place, how) = match kind {
            JointKind::Mocap => (*frame * kind.pose(q), " mocap=\"true\""),
            _ => (*frame, ""),
        };
        let _ = writeln!(self.bodies, "<body name=\"{}\" {}{how}>", escaped(name), pose(&place));
        let joint = |type_name: &str, axis: Vec3| {
            format!("<joint type=\"{type_name}\" axis=\"{}\"{}/>\n", vector(axis), moving(*kind, properties))
        };
        let text = match *kind {
            JointKind::Fixed | JointKind::Mocap => String::new(),
            JointKind::Revolute { axis } | JointKind::Continuous { axis } => joint("hinge", axis),
            JointKind::Prismatic { axis } => joint("slide", axis),
            JointKind::Planar { normal } => {
                let (s, t) = tangents(normal);
                joint("slide", s) + &joint("slide", t) + &joint("hinge", normal)
            }
            JointKind::Spherical => joint("ball", Vec3::Z),
            JointKind::Free if parent.is_none() => "<freejoint/>\n".into(),
            JointKind::Free => return Err(refuse(name, "a free joint on another body")),
        };
        self.bodies.push_str(&text);
        // Angular velocities of balls and free bodies are along the body's own axes there, and free
        // bodies are placed in the world.
        let local = kind.pose(q);
        let inward = |v: &[f64]| (local.rotation.inverse() * Vec3::new(v[0], v[1], v[2])).to_array();
        match kind {
            JointKind::Free => {
                let (placed, turn) = (*frame * local, frame.rotation);
                self.start.q.extend(placed.translation.to_array().into_iter().chain(quaternion(placed.rotation)));
                self.start.v.extend((turn * Vec3::new(v[0], v[1], v[2])).to_array().into_iter().chain(inward(&v[3..])));
            }
            JointKind::Mocap => {}
            JointKind::Spherical => {
                self.start.q.extend(quaternion(local.rotation));
                self.start.v.extend(inward(v));
            }
            _ => {
                self.start.q.extend(q);
                self.start.v.extend(v);
            }
        }
        if inertia.mass > 0.0 {
            let m = inertia.about_com;
            let full = [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.x_axis.z, m.y_axis.z];
            let (com, mass) = (vector(inertia.com), inertia.mass);
            let _ =
                writeln!(self.bodies, "<inertial pos=\"{com}\" mass=\"{mass}\" fullinertia=\"{}\"/>", numbers(&full));
        }
        Ok(())
    }

    fn geoms(&mut self, link: usize) -> Result<(), SceneError> {
        let world = self.world;
        for i in std::mem::take(&mut self.geoms[link]) {
            let (geom, m) = (&world.geoms[i], &world.surfaces.of[i]);
            let shape = self.shape(i, geom)?;
            let dimensions = if m.mu_roll > 0.0 {
                6
            } else if m.mu_spin > 0.0 {
                4
            } else if m.mu > 0.0 {
                3
            } else {
                1
            };
            // MuJoCo's masks have 31 bits.
            let [groups, with] = [geom.groups, geom.collides_with].map(|mask| mask & 0x7fff_ffff);
            let _ = writeln!(
                self.bodies,
                "<geom {shape} {} friction=\"{} {} {}\" condim=\"{dimensions}\" contype=\"{groups}\" conaffinity=\"{with}\"/>",
                pose(&geom.pose),
                m.mu,
                m.mu_spin,
                m.mu_roll,
            );
        }
        Ok(())
    }

    /// Type and size of a shape; the points of a hull become an asset.
    fn shape(&mut self, number: usize, geom: &Geom) -> Result<String, SceneError> {
        Ok(match geom.shape.kind() {
            ShapeKind::Sphere { radius } => format!("type=\"sphere\" size=\"{radius}\""),
            ShapeKind::Cuboid { half } => format!("type=\"box\" size=\"{}\"", vector(*half)),
            ShapeKind::Capsule { half_length, radius } => format!("type=\"capsule\" size=\"{radius} {half_length}\""),
            ShapeKind::Cylinder { half_length, radius } => format!("type=\"cylinder\" size=\"{radius} {half_length}\""),
            ShapeKind::Ellipsoid { radii } => format!("type=\"ellipsoid\" size=\"{}\"", vector(*radii)),
            ShapeKind::HalfSpace => "type=\"plane\" size=\"0 0 1\"".into(),
            ShapeKind::Hull { points } => {
                let all: Vec<f64> = points.iter().flat_map(|p| p.to_array()).collect();
                let _ = writeln!(self.assets, "<mesh name=\"hull{number}\" vertex=\"{}\"/>", numbers(&all));
                format!("type=\"mesh\" mesh=\"hull{number}\"")
            }
            kind @ (ShapeKind::Mesh { .. } | ShapeKind::HeightField { .. }) => {
                return Err(refuse(&self.world.geom_name(number), &format!("a {}", kind.name())));
            }
        })
    }
}

/// Limits, springs and friction of a joint.
fn moving(kind: JointKind, properties: &JointProperties) -> String {
    let JointProperties { limits: [low, high], damping, friction, armature, stiffness, rest, effort: _ } = *properties;
    let mut out = format!(" armature=\"{armature}\" damping=\"{damping}\" frictionloss=\"{friction}\"");
    if stiffness > 0.0 {
        let _ = write!(out, " stiffness=\"{stiffness}\" springref=\"{rest}\"");
    }
    if kind == JointKind::Spherical {
        // An angle of π or more is no limit, and the lower end is always 0.
        if high < PI {
            let _ = write!(out, " limited=\"true\" range=\"0 {high}\"");
        }
    } else if low.is_finite() || high.is_finite() {
        let _ = write!(out, " limited=\"true\" range=\"{} {}\"", low.max(-NO_LIMIT), high.min(NO_LIMIT));
    }
    out
}

fn pose(pose: &Pose) -> String {
    format!("pos=\"{}\" quat=\"{}\"", vector(pose.translation), numbers(&quaternion(pose.rotation)))
}

fn quaternion(q: Quat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

fn vector(v: Vec3) -> String {
    numbers(&v.to_array())
}

/// Numbers with all their digits.
fn numbers(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ")
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

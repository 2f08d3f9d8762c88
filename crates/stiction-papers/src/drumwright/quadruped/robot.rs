//! The robot of the locomotion experiment, "LINKS": a trunk of 0.34 kg on four legs of 0.25 kg with three joints each.
//!
//! With all joints at zero the legs are stretched along ±x at the height of the trunk's origin, and all frames are parallel to the trunk's.

use std::sync::Arc;

use stiction_body::math::{Mat3, Pose, Vec3, axis_angle};
use stiction_body::{Geom, Inertia, JointKind, LinkSpec, Shape};
use stiction_lcp::InputError;
use stiction_sim::{Description, GeomSpec, Material, Placement, SceneError, World, WorldBuilder};

use super::leg::{HIP, LEGS, Leg, SHANK, THIGH};
use super::terrain::Terrain;

/// Radius of a foot (m).
pub(crate) const FOOT: f64 = 0.01;

/// Largest torque of a joint (N m).
pub(crate) const TORQUE: f64 = 4.0;

/// Height of the trunk's origin over the highest ground under a foot at the start (m).
pub(crate) const START_HEIGHT: f64 = 0.15;

/// The robot on a terrain.
#[derive(Debug, Clone)]
pub struct Quadruped {
    /// Robot and ground.
    pub world: Arc<World>,
    /// The trunk.
    pub trunk: usize,
    /// Joints of the legs, in the order of `LEGS`: the links they move.
    pub joints: [[usize; 3]; 4],
    /// Geoms of the feet, in the same order.
    pub feet: [usize; 4],
    /// Geoms of the trunk.
    pub boxes: [usize; 2],
}

/// A box of the trunk: mass, sides, centre.
const TRUNK: [(f64, [f64; 3], [f64; 3]); 7] = [
    (0.1, [0.10, 0.14, 0.02], [0.0, 0.0, 0.0]),
    (0.05, [0.05, 0.16, 0.04], [0.075, 0.0, 0.0]),
    (0.05, [0.05, 0.16, 0.04], [-0.075, 0.0, 0.0]),
    (0.005, [0.04, 0.08, 0.025], [0.1, 0.0, 0.0325]),
    (0.025, [0.07, 0.10, 0.05], [0.0, 0.0, 0.02]),
    (0.05, [0.04, 0.14, 0.03], [-0.075, 0.0, 0.035]),
    (0.05, [0.025, 0.035, 0.015], [0.065, 0.06, 0.0275]),
];

/// A part of mass and inertia `inertia`, whose own frame is moved to `centre`.
fn at(inertia: Inertia, centre: Vec3) -> Inertia {
    inertia.transformed(&Pose::from_translation(centre))
}

/// A cylinder along x.
fn cylinder_along_x(mass: f64, radius: f64, length: f64) -> Inertia {
    let turn = axis_angle(Vec3::Y * std::f64::consts::FRAC_PI_2);
    let lying = Inertia::cylinder(mass, radius, length).transformed(&Pose::from_rotation(turn));
    // A turn by a quarter leaves rounding off the diagonal.
    let d = [lying.about_com.x_axis.x, lying.about_com.y_axis.y, lying.about_com.z_axis.z];
    Inertia { about_com: Mat3::from_diagonal(d.into()), ..lying }
}

/// The trunk with all that is fixed to it: boxes and two cameras.
pub(crate) fn trunk_inertia() -> Inertia {
    let boxes = TRUNK.iter().map(|(mass, sides, centre)| at(Inertia::cuboid(*mass, (*sides).into()), (*centre).into()));
    let camera = |y: f64| at(cylinder_along_x(0.005, 0.005, 0.005), Vec3::new(0.12, y, 0.0341));
    boxes.chain([0.025, -0.025].map(camera)).fold(Inertia::ZERO, |all, part| all.joined(&part))
}

/// Inertias of hip, thigh, and shank with its foot, of a leg that points along `front` times x, about their joints.
fn leg_inertias(front: f64) -> [Inertia; 3] {
    let along = |x: f64| Vec3::new(front * x, 0.0, 0.0);
    let hip = at(Inertia::cuboid(0.1, Vec3::new(0.05, 0.03, 0.03)), along(0.5 * HIP));
    let thigh = at(Inertia::cuboid(0.1, Vec3::new(0.12, 0.03, 0.02)), along(0.5 * THIGH));
    let shank = at(cylinder_along_x(0.04, 0.005, 0.1), along(0.5 * SHANK));
    let foot = at(Inertia::sphere(0.01, FOOT), along(SHANK));
    [hip, thigh, shank.joined(&foot)]
}

/// The robot at the pose it starts in. Only feet and the trunk's two ends can touch, and nothing of the robot touches itself.
///
/// # Errors
/// None for the numbers here.
pub fn description(material: Material) -> Result<Description, InputError> {
    let mut robot = Description::new("links");
    robot.links.push(LinkSpec::free("trunk", trunk_inertia()));
    let end = Shape::cuboid(Vec3::new(0.025, 0.08, 0.02))?;
    for (name, x) in [("front", 0.075), ("hind", -0.075)] {
        let pose = Pose::from_translation(Vec3::new(x, 0.0, 0.0));
        robot.geoms.push(GeomSpec::new(Geom::new(name, Some(0), pose, end.clone()), material));
    }
    for leg in &LEGS {
        add_leg(&mut robot, leg, material)?;
    }
    Ok(robot)
}

fn add_leg(robot: &mut Description, leg: &Leg, material: Material) -> Result<(), InputError> {
    let along = |x: f64| Pose::from_translation(Vec3::new(leg.front * x, 0.0, 0.0));
    let places = [Pose::from_translation(leg.root()), along(HIP), along(THIGH)];
    let axes = [Vec3::X * leg.roll, Vec3::Y * leg.pitch, Vec3::Y * leg.pitch];
    for (k, inertia) in leg_inertias(leg.front).into_iter().enumerate() {
        let (number, joint) = (robot.links.len(), ["X_1", "Y_2", "Y_3"][k]);
        let parent = if k == 0 { 0 } else { number - 1 };
        let kind = JointKind::Revolute { axis: axes[k] };
        let part = ["hip", "thigh", "shank"][k];
        let mut link = LinkSpec::on(format!("{}_{part}", leg.name), Some(parent), kind, places[k], inertia);
        link.joint_name = format!("{}_{joint}", leg.name);
        link.properties.effort = TORQUE;
        robot.links.push(link);
        robot.initial.push((number, vec![leg.start[k]]));
    }
    let foot = Geom::new(format!("{}_foot", leg.name), Some(robot.links.len() - 1), along(SHANK), Shape::sphere(FOOT)?);
    robot.geoms.push(GeomSpec::new(foot, material));
    Ok(())
}

impl Quadruped {
    /// The robot over a terrain, both of one material, as it starts: above the highest ground under a foot by as much as in the
    /// experiment over flat ground.
    ///
    /// # Errors
    /// None for the numbers here.
    pub fn new(terrain: &Terrain, material: Material) -> Result<Self, SceneError> {
        let input = |e: InputError| SceneError::input("quadruped", &e);
        let mut builder = WorldBuilder::new();
        builder.gravity(Vec3::new(0.0, 0.0, -9.81));
        let mut ground = Description::new("ground");
        let shape = terrain.shape().map_err(input)?;
        ground.geoms.push(GeomSpec::new(Geom::new("ground", None, Pose::identity(), shape), material));
        builder.add(&ground, &Placement::default())?;
        let below = LEGS.iter().map(|leg| leg.foot(leg.start)).map(|p| terrain.highest(p.x, p.y, FOOT));
        let height = START_HEIGHT + below.fold(f64::NEG_INFINITY, f64::max);
        let pose = Pose::from_translation(Vec3::new(0.0, 0.0, height));
        let placement = Placement { pose, no_self_collision: true, ..Placement::default() };
        let added = builder.add(&description(material).map_err(input)?, &placement)?;
        let (world, number) = builder.build()?;
        let link = |i: usize| number[added.links[i]];
        Ok(Self {
            world: Arc::new(world),
            trunk: link(0),
            joints: [0, 1, 2, 3].map(|leg| [0, 1, 2].map(|k| link(1 + 3 * leg + k))),
            feet: [0, 1, 2, 3].map(|leg| added.geoms[2 + leg]),
            boxes: [added.geoms[0], added.geoms[1]],
        })
    }
}

#[cfg(test)]
mod tests {
    use stiction_body::Workspace;

    use super::*;

    #[test]
    fn the_trunk_has_the_published_inertia() {
        let trunk = trunk_inertia();
        assert!((trunk.mass - 0.34).abs() < 1e-15);
        assert!(trunk.com.abs_diff_eq(Vec3::new(0.00353, 0.00882, 0.01214), 1e-5), "{}", trunk.com);
        let about = trunk.about_com;
        let found = [about.x_axis.x, about.y_axis.y, about.z_axis.z, about.x_axis.y, about.y_axis.z];
        for (found, expected) in found.into_iter().zip([7.50e-4, 1.472e-3, 2.016e-3, -1.84e-4, -4.6e-5]) {
            assert!((found - expected).abs() < 1e-6, "{found:e} {expected:e}");
        }
    }

    #[test]
    fn feet_start_where_they_did() {
        let robot = Quadruped::new(&Terrain::level(), Material::default()).unwrap();
        let model = &robot.world.model;
        let mass: f64 = model.links().iter().map(|l| l.spec.inertia.mass).sum();
        assert!((mass - 1.34).abs() < 1e-12);
        assert_eq!((model.nq(), model.nv()), (19, 18));
        let mut work = Workspace::default();
        work.update_positions(model, &robot.world.q);
        for (i, leg) in LEGS.iter().enumerate() {
            let geom = &robot.world.geoms[robot.feet[i]];
            let foot = (work.pose[geom.link.unwrap()] * geom.pose).translation - work.pose[robot.trunk].translation;
            let left = if leg.name.starts_with('L') { 1.0 } else { -1.0 };
            let expected = Vec3::new(leg.front * 0.15, left * 0.1141, -0.1306);
            assert!(foot.abs_diff_eq(expected, 1e-4), "{} {foot}", leg.name);
            assert!(leg.foot(leg.start).abs_diff_eq(foot, 1e-15));
        }
    }
}

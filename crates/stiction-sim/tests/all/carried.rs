//! What sticks to a link that goes along an arc keeps its place there.

use std::path::Path;
use std::sync::Arc;

use stiction_body::math::{Pose, Vec3, rotation_vector};
use stiction_sim::mjcf::{self, MjcfOptions, Start};
use stiction_sim::{Placement, Settings, Simulation, WorldBuilder};

fn robot(text: &str, dt: f64) -> Simulation {
    let text =
        format!("<mujoco><default><geom friction='.9 .005 .0001'/></default>{text}</mujoco>").replace('\'', "\"");
    let description = mjcf::parse(&text, Path::new("."), &MjcfOptions { start: Start::Home }).unwrap();
    let mut builder = WorldBuilder::new();
    builder.add(&description, &Placement::default()).unwrap();
    Simulation::new(Arc::new(builder.build().unwrap().0), Settings { dt, ..Settings::default() }).unwrap()
}

fn link(sim: &Simulation, name: &str) -> usize {
    let links = sim.world().model.links();
    links.iter().position(|link| link.spec.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn pose(sim: &mut Simulation, name: &str) -> Pose {
    let i = link(sim, name);
    sim.kinematics().pose[i]
}

/// Lets everything move as one body that turns with `omega` about the origin, where these joints turn.
fn turn_all(sim: &mut Simulation, joints: &[(&str, f64)], omega: Vec3) {
    let (q, world) = (sim.state().q.clone(), sim.world().clone());
    let mut v = vec![0.0; world.model.nv()];
    joints.iter().for_each(|(name, speed)| v[world.model.links()[link(sim, name)].v.start] = *speed);
    for (i, link) in world.model.links().iter().enumerate().filter(|(_, link)| link.v.len() == 6) {
        let at = sim.kinematics().pose[i].translation;
        v[link.v.start..][..3].copy_from_slice(&omega.cross(at).to_array());
        v[link.v.start + 3..][..3].copy_from_slice(&omega.to_array());
    }
    sim.set_state(&q, &v).unwrap();
}

/// How far `body` has come from its place in `holder` after so many steps (m; rad).
fn drift(sim: &mut Simulation, [body, holder]: [&str; 2], steps: usize) -> [f64; 2] {
    let before = pose(sim, holder).inverse() * pose(sim, body);
    for k in 0..steps {
        let report = sim.step().unwrap();
        assert!(report.certificate <= 1e-10 && report.overlap_left <= 1e-9, "{k}");
    }
    let after = pose(sim, holder).inverse() * pose(sim, body);
    let turned = rotation_vector(after.rotation * before.rotation.inverse());
    [(after.translation - before.translation).length(), turned.length()]
}

const TABLE: &str = "<body name='table'><joint axis='0 0 1'/><geom type='cylinder' size='1 .05' mass='50'/></body>";

#[test]
fn a_tower_on_a_turntable_does_not_creep_outwards() {
    let cube = |name: &str, z: f64| {
        format!("<body name='{name}' pos='.5 0 {z}'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body>")
    };
    let world = format!("<worldbody>{TABLE}{}{}</worldbody>", cube("cube", 0.1), cube("top", 0.2));
    for dt in [5e-4, 5e-3] {
        let mut sim = robot(&world, dt);
        turn_all(&mut sim, &[("table", 2.0)], Vec3::new(0.0, 0.0, 2.0));
        for body in ["cube", "top"] {
            let [way, angle] = drift(&mut sim, [body, "table"], 300);
            // By their velocities they would creep by 2² · 0.5 · dt / 2 every second: 0.15 to 15 mm.
            assert!(way < 1e-12 && angle < 1e-12, "{body}, {dt}: {way:e}, {angle:e}");
        }
        assert!(sim.state().q[0] > 0.5);
    }
}

#[test]
fn a_box_stays_in_a_gripper_that_swings_about_two_axes() {
    let finger = |side: i32| {
        format!(
            "<body name='finger{side}' pos='.6 {} 0'><joint type='slide' axis='0 {} 0' stiffness='1000' springref='.05' damping='20'/>
             <geom type='box' size='.03 .01 .03' mass='.1'/></body>",
            0.06 * f64::from(side),
            -side
        )
    };
    let arm = format!(
        "<body name='base'><joint axis='0 0 1' armature='5'/><geom type='sphere' size='.02' mass='1' contype='0' conaffinity='0'/>
         <body name='arm'><joint axis='1 0 0' armature='1' damping='.1'/><geom type='box' size='.02 .02 .02' mass='1' contype='0' conaffinity='0'/>{}{}</body></body>",
        finger(1),
        finger(-1)
    );
    let cube = "<body name='cube' pos='.6 0 0'><freejoint/><geom type='box' size='.04 .05 .02' mass='.5'/></body>";
    let mut sim = robot(&format!("<worldbody>{arm}{cube}</worldbody>"), 1e-3);
    turn_all(&mut sim, &[("base", 3.0), ("arm", 1.0)], Vec3::new(1.0, 0.0, 3.0));
    // Until the fingers press as they do from then on.
    drift(&mut sim, ["cube", "finger1"], 100);
    let start = sim.state().q.clone();
    let [way, angle] = drift(&mut sim, ["cube", "finger1"], 500);
    assert!(way < 1e-12 && angle < 1e-12, "{way:e}, {angle:e}");
    let turned = [0, 1].map(|k| (sim.state().q[k] - start[k]).abs());
    assert!(turned[0] > 1.0 && turned[1] > 0.05, "{turned:?}");
}

#[test]
fn a_robot_that_stands_on_a_turntable_is_carried_with_its_arm() {
    let robot_text = "<body name='robot' pos='.5 0 .15'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/>
        <body name='arm' pos='0 0 .1'><joint axis='0 1 0' stiffness='500' damping='5'/>
        <geom type='capsule' size='.02' fromto='0 0 .03 0 0 .2' mass='.2' contype='0' conaffinity='0'/></body></body>";
    let mut sim = robot(&format!("<worldbody>{TABLE}{robot_text}</worldbody>"), 2e-3);
    turn_all(&mut sim, &[("table", 2.0)], Vec3::new(0.0, 0.0, 2.0));
    // The arm gives way to the centrifugal force first.
    drift(&mut sim, ["robot", "table"], 300);
    let [way, angle] = drift(&mut sim, ["robot", "table"], 500);
    assert!(way < 1e-9 && angle < 1e-9, "{way:e}, {angle:e}");
}

#[test]
fn what_slides_or_lies_on_the_ground_is_not_carried() {
    let slippery = "<body name='puck' pos='.5 0 .1'><freejoint/><geom type='box' size='.05 .05 .05' mass='1' friction='0 0 0'/></body>";
    let table = TABLE.replace("mass='50'", "mass='50' friction='0 0 0'");
    let mut sim = robot(&format!("<worldbody>{table}{slippery}</worldbody>"), 1e-3);
    turn_all(&mut sim, &[("table", 2.0)], Vec3::new(0.0, 0.0, 2.0));
    let before = pose(&mut sim, "puck").translation;
    for _ in 0..200 {
        sim.step().unwrap();
    }
    let way = pose(&mut sim, "puck").translation - before;
    assert!((way - Vec3::new(0.0, 0.2, 0.0)).length() < 1e-9, "{way:?}");
}

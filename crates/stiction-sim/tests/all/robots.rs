//! What robot files say of equalities, sensors and parts that overlap, as it comes out in motion.

use std::path::Path;
use std::sync::Arc;

use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{Placement, Settings, Simulation, WorldBuilder};

fn robot(text: &str, dt: f64, allow_start_overlap: bool) -> Simulation {
    let text = format!("<mujoco><compiler angle=\"radian\"/>{text}</mujoco>");
    let description = mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut builder = WorldBuilder::new();
    builder.allow_start_overlap(allow_start_overlap);
    builder.add(&description, &Placement::default()).unwrap();
    Simulation::new(Arc::new(builder.build().unwrap().0), Settings { dt, ..Settings::default() }).unwrap()
}

const CHAIN: &str = r#"<body pos="0 0 2"><joint name="x" axis="0 1 0"/><geom size=".05" pos=".3 0 0" contype="0" conaffinity="0"/>
  <body pos=".3 0 0"><joint name="y" axis="0 1 0"/><geom size=".05" pos=".3 0 0" contype="0" conaffinity="0"/>
    <body pos=".3 0 0"><joint name="z" axis="1 0 0"/><geom size=".05" pos="0 .2 .1" contype="0" conaffinity="0"/></body></body></body>"#;

#[test]
fn joints_follow_curves_and_sums_of_others() {
    let mut sim = robot(
        &format!(
            r#"<worldbody>{CHAIN}</worldbody><tendon><fixed name="sum"><joint joint="x" coef="1"/><joint joint="y" coef="2"/>
               <joint joint="z" coef="-.5"/></fixed></tendon>
               <equality><joint joint1="y" joint2="x" polycoef=".1 .5 .3 0 -.02"/><tendon tendon1="sum" polycoef=".2"/></equality>"#
        ),
        1e-3,
        false,
    );
    let mut turned = 0.0_f64;
    for k in 0..500 {
        let report = sim.step().unwrap_or_else(|e| panic!("{k}: {e}"));
        assert!(report.certificate < 1e-10);
        let (x, y, z) = (sim.state().q[0], sim.state().q[1], sim.state().q[2]);
        let curve = 0.1 + x * (0.5 + x * (0.3 - 0.02 * x * x));
        assert!((y - curve).abs() < 1e-12, "{k}: {y} {curve}");
        assert!((x + 2.0 * y - 0.5 * z - 0.2).abs() < 1e-12, "{k}");
        turned = turned.max(x.abs());
    }
    assert!(turned > 0.1, "{turned}");
}

#[test]
fn acceleration_sensors_read_the_start_of_the_step() {
    let text = format!(
        r#"<worldbody>{}</worldbody><sensor><accelerometer site="s"/><force site="s"/><torque site="s"/></sensor>
           <keyframe><key qpos=".3 -.4 .5" qvel="3 -4 5"/></keyframe>"#,
        CHAIN.replace(
            "pos=\"0 .2 .1\" contype=\"0\" conaffinity=\"0\"/>",
            "pos=\"0 .2 .1\" contype=\"0\" conaffinity=\"0\"/><site name=\"s\" pos=\".1 .1 0\"/>"
        )
    );
    let read = |dt: f64| {
        let mut sim = robot(&text, dt, false);
        let mut readings = vec![];
        sim.step().unwrap();
        sim.read_sensors(&mut readings);
        readings
    };
    let (long, short) = (read(2e-3), read(1e-7));
    assert_eq!(long.len(), 9);
    let size = short.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in long.iter().zip(&short) {
        assert!((a - b).abs() < 1e-6 * size, "{long:?} {short:?}");
    }
}

/// Two boxes on a rail that overlap by 20 mm at the start.
const OVERLAPPING: &str = r#"<option gravity="0 0 0"/><worldbody><body><joint type="slide" axis="1 0 0"/><geom name="a" type="box" size=".1 .1 .1" mass="1"/>
  <body><joint type="slide" axis="1 0 0"/><geom type="sphere" size=".01" mass="1" contype="0" conaffinity="0"/>
    <body pos=".18 0 0"><joint type="slide" axis="1 0 0"/><geom name="b" type="box" size=".1 .1 .1" mass="1"/></body></body></body></worldbody>
  <keyframe><key qvel="0 0 -1"/></keyframe>"#;

#[test]
fn parts_that_overlap_at_the_start_can_be_made_to_touch() {
    let end = |allow: bool| {
        let mut sim = robot(OVERLAPPING, 1e-3, allow);
        assert_eq!(sim.ignored_overlaps().len(), 1);
        assert!((sim.ignored_overlaps()[0].depth - 0.02).abs() < 1e-9);
        for _ in 0..300 {
            sim.step().unwrap();
        }
        sim.state().q[1] + sim.state().q[2]
    };
    assert!((end(false) + 0.3).abs() < 1e-9, "they pass through each other: {}", end(false));
    assert!(end(true).abs() < 1e-9, "they overlap by no more than at the start: {}", end(true));
}

#[test]
fn meshes_are_found_beside_included_files_and_xacro_is_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("included");
    std::fs::create_dir_all(folder.join("parts")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("parts/tetrahedron.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write(
        "parts/robot.xml",
        r#"<mujoco><asset><mesh name="m" file="tetrahedron.obj"/></asset><worldbody><body><freejoint/>
           <geom type="mesh" mesh="m" density="6"/></body></worldbody></mujoco>"#,
    );
    write("main.xml", r#"<mujoco><include file="parts/robot.xml"/></mujoco>"#);
    let robot = stiction_sim::load_description(&folder.join("main.xml")).unwrap_or_else(|e| panic!("{e}"));
    assert!((robot.links[0].inertia.mass - 1.0).abs() < 1e-12);
    write("arm.urdf.xacro", r#"<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/></robot>"#);
    write(
        "made.urdf",
        r#"<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- <xacro:a/> --><link name="l"/><!-- <xacro:b/> --></robot>"#,
    );
    assert_eq!(stiction_sim::load_description(&folder.join("made.urdf")).unwrap().links.len(), 1);
    let error = stiction_sim::load_description(&folder.join("arm.urdf.xacro")).unwrap_err().to_string();
    assert!(error.contains("xacro FILE > robot.urdf"), "{error}");
}

#[test]
fn a_body_without_mass_can_carry_others_on_a_joint_beside_its_origin() {
    let sim = robot(
        r#"<worldbody><body><body pos=".1 0 0"><geom size=".1" mass="2"/></body><joint pos="-.2 0 0" type="slide" axis="1 0 0"/>
           <joint pos="-.2 0 0" axis="0 0 1"/></body></worldbody>"#,
        1e-3,
        false,
    );
    assert_eq!(sim.world().model.nv(), 2);
}

//! The MJCF loader, feature by feature, on small models.

use std::f64::consts::PI;
use std::path::Path;

use stiction_body::math::{Pose, Vec3};
use stiction_body::{Inertia, JointKind, LoopKind, ModelBuilder, ShapeKind, Workspace};
use stiction_sim::actuation::{Law, TendonPath, Transmission};
use stiction_sim::mjcf::{self, MjcfOptions, Start};
use stiction_sim::{Description, MaterialRule, NoteKind, SceneError};

fn parse(text: &str) -> Result<Description, SceneError> {
    mjcf::parse(text, Path::new("."), &MjcfOptions::default())
}

/// A model with the given sections.
fn model(sections: &str) -> Description {
    parse(&format!("<mujoco>{sections}</mujoco>")).unwrap_or_else(|e| panic!("{e}"))
}

fn world(bodies: &str) -> Description {
    model(&format!("<worldbody>{bodies}</worldbody>"))
}

fn error(sections: &str) -> String {
    parse(&format!("<mujoco>{sections}</mujoco>")).expect_err(sections).to_string()
}

/// Poses of the links where the description starts, or with one joint elsewhere.
fn poses(d: &Description, moved: Option<(usize, &[f64])>) -> Vec<Pose> {
    let mut builder = ModelBuilder::default();
    d.links.iter().for_each(|l| {
        builder.add(l.clone()).unwrap();
    });
    let (model, number) = builder.build().unwrap();
    let mut q = model.neutral();
    let moved = moved.map(|(l, x)| (l, x.to_vec()));
    for (link, x) in d.initial.iter().cloned().chain(moved) {
        q[model.links()[number[link]].q.clone()].copy_from_slice(&x);
    }
    model.check_state(&q, &vec![0.0; model.nv()]).unwrap();
    let mut workspace = Workspace::default();
    workspace.update_positions(&model, &q);
    number.iter().map(|n| workspace.pose[*n]).collect()
}

/// Where the centre of a link's mass is.
fn centre(d: &Description, link: usize, moved: Option<(usize, &[f64])>) -> Vec3 {
    poses(d, moved)[link].transform_point(d.links[link].inertia.com)
}

#[track_caller]
fn near(a: Vec3, b: [f64; 3]) {
    assert!(a.abs_diff_eq(Vec3::from_array(b), 1e-12), "{a} is not {b:?}");
}

fn noted(d: &Description, kind: NoteKind, text: &str) -> bool {
    d.notes.iter().any(|n| n.kind == kind && format!("{}: {}", n.element, n.text).contains(text))
}

#[test]
fn a_hinge_turns_about_its_anchor() {
    let d = world(
        r#"<body name="a" pos="1 0 0"><joint name="j" axis="0 0 2" pos="0 1 0"/><geom size=".1" pos="0 2 0" mass="3"/></body>"#,
    );
    assert_eq!(d.links[0].kind, JointKind::Revolute { axis: Vec3::Z });
    assert_eq!((d.links[0].name.as_str(), d.links[0].joint_name.as_str(), d.links[0].inertia.mass), ("a", "j", 3.0));
    near(centre(&d, 0, None), [1.0, 2.0, 0.0]);
    near(centre(&d, 0, Some((0, &[PI / 2.0]))), [0.0, 1.0, 0.0]);
    assert_eq!((d.gravity, d.dt, d.rule), (Some(Vec3::new(0.0, 0.0, -9.81)), Some(0.002), Some(MaterialRule::Maximum)));
}

#[test]
fn several_joints_make_a_chain_of_links_without_mass() {
    let d = world(
        r#"<body name="a"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" axis="0 0 1" pos="0 1 0"/><joint axis="1 0 0"/>
           <geom size=".1" pos="1 0 0" mass="1"/></body>"#,
    );
    let names: Vec<&str> = d.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["a/x", "a/z", "a"]);
    assert_eq!(d.links.iter().map(|l| l.inertia.mass).collect::<Vec<_>>(), [0.0, 0.0, 1.0]);
    near(centre(&d, 2, Some((0, &[0.5]))), [1.5, 0.0, 0.0]);
    near(centre(&d, 2, Some((1, &[PI]))), [-1.0, 2.0, 0.0]);
    assert_eq!(d.geoms[0].geom.link, Some(2));
}

#[test]
fn a_reference_shifts_the_coordinate_not_the_body() {
    let d = world(
        r#"<body><joint name="h" ref="90" axis="0 0 1" range="0 180" springref="45" stiffness="2"/><geom size=".1" pos="1 0 0"/>
           <body><joint name="s" type="slide" axis="1 0 0" ref=".25"/><geom size=".1" pos="2 0 0"/></body></body>"#,
    );
    near(centre(&d, 0, None), [1.0, 0.0, 0.0]);
    near(centre(&d, 0, Some((0, &[PI]))), [0.0, 1.0, 0.0]);
    near(centre(&d, 1, None), [2.0, 0.0, 0.0]);
    near(centre(&d, 1, Some((1, &[0.0]))), [1.75, 0.0, 0.0]);
    let p = d.links[0].properties;
    assert!((p.limits[1] - PI).abs() < 1e-15 && (p.rest - PI / 4.0).abs() < 1e-15 && p.stiffness == 2.0);
    assert_eq!(d.initial, vec![(0, vec![PI / 2.0]), (1, vec![0.25])]);
}

#[test]
fn free_and_ball_joints() {
    let d = world(
        r#"<body pos="1 2 3" euler="0 0 90"><freejoint name="root"/><geom size=".1" pos="1 0 0"/>
           <body pos="0 0 1"><joint type="ball" pos="0 0 1" damping=".5"/><geom size=".1"/></body></body>"#,
    );
    assert_eq!((d.links[0].kind, d.links[1].kind), (JointKind::Free, JointKind::Spherical));
    near(centre(&d, 0, None), [1.0, 3.0, 3.0]);
    let turned = [0.0, 1.0, 0.0, 0.0];
    near(centre(&d, 1, None), [1.0, 2.0, 4.0]);
    near(centre(&d, 1, Some((1, &turned))), [1.0, 2.0, 6.0]);
    assert_eq!(d.initial[0].1[..3], [1.0, 2.0, 3.0]);
    assert_eq!(d.links[1].properties.damping, 0.5);
}

#[test]
fn orientations_in_all_ways() {
    for (attribute, z) in [
        (r#"quat="2 2 0 0""#, [0.0, -1.0, 0.0]),
        (r#"axisangle="3 0 0 90""#, [0.0, -1.0, 0.0]),
        (r#"euler="90 0 0""#, [0.0, -1.0, 0.0]),
        (r#"euler="90 0 90""#, [0.0, -1.0, 0.0]),
        (r#"zaxis="0 -5 0""#, [0.0, -1.0, 0.0]),
        (r#"zaxis="0 0 -1""#, [0.0, 0.0, -1.0]),
        (r#"xyaxes="2 0 0 1 0 3""#, [0.0, -1.0, 0.0]),
    ] {
        let d = world(&format!(r#"<body {attribute}><geom size=".1" pos="0 0 1"/></body>"#));
        near(centre(&d, 0, None), z);
    }
    let d = model(
        r#"<compiler eulerseq="XYZ" angle="radian"/><worldbody><body euler="1.5707963267948966 0 1.5707963267948966">
            <geom size=".1" pos="0 0 1"/></body></worldbody>"#,
    );
    near(centre(&d, 0, None), [1.0, 0.0, 0.0]);
}

#[test]
fn frames_and_replicas_vanish_into_their_parents() {
    let d = world(
        r#"<frame pos="1 0 0" euler="0 0 90"><frame pos="1 0 0"><body name="b" pos="0 0 1"><frame pos="0 0 1">
             <joint axis="1 0 0" pos="0 0 1"/></frame><geom size=".1"/></body></frame></frame>"#,
    );
    near(centre(&d, 0, None), [1.0, 1.0, 1.0]);
    near(centre(&d, 0, Some((0, &[PI]))), [1.0, 1.0, 5.0]);

    let d = model(
        r#"<worldbody><replicate count="3" offset="2 0 0" sep="-"><body name="b"><joint name="j"/><geom name="g" size=".1"/></body>
            </replicate></worldbody>
           <actuator><motor name="m" joint="j"/></actuator><contact><exclude body1="b" body2="world"/></contact>"#,
    );
    assert_eq!(d.links.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["b-0", "b-1", "b-2"]);
    near(centre(&d, 2, None), [4.0, 0.0, 0.0]);
    assert_eq!(
        d.actuators.iter().map(|a| (a.name.as_str(), a.transmission.joint())).collect::<Vec<_>>(),
        [("m-0", Some(0)), ("m-1", Some(1)), ("m-2", Some(2))]
    );
    assert_eq!(d.excluded.len(), 3);
    // Rotations: each copy stands in the frame of the one before.
    let d = world(r#"<replicate count="4" offset="1 0 0" euler="0 0 90"><body><geom size=".1"/></body></replicate>"#);
    near(centre(&d, 3, None), [0.0, 1.0, 0.0]);
}

#[test]
fn defaults_nest_and_merge_number_by_number() {
    let d = model(
        r#"<default><geom friction=".9" density="500"/><joint damping="1"/>
             <default class="soft"><geom friction=".5 .1" condim="4" size=".1 .2"/><default class="softer"><joint damping="3"/></default>
                 </default></default>
           <worldbody><geom type="sphere" size="1"/><body childclass="softer"><joint/><geom type="capsule" friction=".3"/>
             <body><joint class="main"/><geom class="main" type="box" size="1 1 1"/></body></body></worldbody>"#,
    );
    let mu: Vec<f64> = d.geoms.iter().map(|g| g.material.mu).collect();
    let spin: Vec<f64> = d.geoms.iter().map(|g| g.material.mu_spin).collect();
    assert_eq!((mu, spin), (vec![0.9, 0.3, 0.9], vec![0.0, 0.1, 0.0]));
    assert_eq!(d.geoms[1].geom.shape.kind(), &ShapeKind::Capsule { half_length: 0.2, radius: 0.1 });
    assert_eq!(d.links.iter().map(|l| l.properties.damping).collect::<Vec<_>>(), [3.0, 1.0]);
    assert_eq!(d.links[1].inertia.mass, 4000.0);
}

#[test]
fn shapes_have_their_sizes_and_masses() {
    let d = world(
        r#"<geom type="plane" size="5 5 1" pos="0 0 -1"/>
           <body><freejoint/><geom type="capsule" fromto="0 0 0 0 2 0" size=".5" density="1"/></body>
           <body><freejoint/><geom type="box" fromto="1 0 0 1 0 4" size=".5" mass="2"/></body>
           <body><freejoint/><geom type="ellipsoid" size="1 2 3" density="1"/></body>
           <body><freejoint/><geom type="ellipsoid" size="1 1 1" contype="0" conaffinity="0"/><geom type="cylinder" size="1 2" mass="0"/></body>"#,
    );
    assert_eq!(d.geoms[0].geom.shape.kind(), &ShapeKind::HalfSpace);
    assert_eq!((d.geoms[0].geom.link, d.geoms[0].geom.pose.translation), (None, Vec3::new(0.0, 0.0, -1.0)));
    assert_eq!(d.geoms[1].geom.shape.kind(), &ShapeKind::Capsule { half_length: 1.0, radius: 0.5 });
    let volume = PI * 0.25 * 2.0 + 4.0 / 3.0 * PI * 0.125;
    assert!((d.links[0].inertia.mass - volume).abs() < 1e-14);
    near(d.links[0].inertia.com, [0.0, 1.0, 0.0]);
    assert_eq!(d.geoms[2].geom.shape.kind(), &ShapeKind::Cuboid { half: Vec3::new(0.5, 0.5, 2.0) });
    near(d.links[1].inertia.com, [1.0, 0.0, 2.0]);
    assert_eq!(d.geoms[3].geom.shape.kind(), &ShapeKind::Ellipsoid { radii: Vec3::new(1.0, 2.0, 3.0) });
    assert!(!noted(&d, NoteKind::Changed, "ellipsoid"));
    assert!((d.links[2].inertia.mass - 8.0 * PI).abs() < 1e-13, "4/3 π · 6");
    // The last body weighs as a ball, and touches as a cylinder.
    assert!((d.links[3].inertia.mass - 4000.0 / 3.0 * PI).abs() < 1e-9);
    assert_eq!(d.geoms[4].geom.shape.kind(), &ShapeKind::Cylinder { half_length: 2.0, radius: 1.0 });
}

#[test]
fn inertias_as_given_or_computed() {
    let inertial = r#"<body pos="0 0 1"><joint/><inertial pos="1 0 0" mass="2" diaginertia="1 2 3" euler="0 0 90"/><geom size=".1"/></body>"#;
    let d = world(inertial);
    let i = d.links[0].inertia;
    assert_eq!((i.mass, i.com), (2.0, Vec3::X));
    near(Vec3::new(i.about_com.x_axis.x, i.about_com.y_axis.y, i.about_com.z_axis.z), [2.0, 1.0, 3.0]);
    let d = model(&format!(r#"<compiler inertiafromgeom="true"/><worldbody>{inertial}</worldbody>"#));
    assert!((d.links[0].inertia.mass - 4000.0 / 3.0 * PI * 1e-3).abs() < 1e-12);
    let d = model(&format!(r#"<compiler settotalmass="10"/><worldbody>{inertial}</worldbody>"#));
    assert_eq!((d.links[0].inertia.mass, d.links[0].inertia.about_com.z_axis.z), (10.0, 15.0));
    let d = world(r#"<body><joint/><inertial pos="0 0 0" mass="2" fullinertia="2 3 4 .1 .2 .3"/></body>"#);
    let m = d.links[0].inertia.about_com;
    assert_eq!((m.x_axis.y, m.x_axis.z, m.y_axis.z, m.z_axis.z), (0.1, 0.2, 0.3, 4.0));
    // A frame without mass, whose centre is given nevertheless.
    let d = world(
        r#"<body><joint/><geom size=".1"/><body name="frame"><inertial pos="1 0 0" mass="0" diaginertia="0 0 0"/></body></body>"#,
    );
    assert_eq!(d.links[1].inertia, Inertia::ZERO);
    // Impossible moments: an error, or balanced on request.
    let thin = r#"<worldbody><body name="thin"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/></body></worldbody>"#;
    assert!(error(thin).contains(r#"<body name="thin">"#), "{}", error(thin));
    let d = model(&format!(r#"<compiler balanceinertia="true"/>{thin}"#));
    assert_eq!(d.links[0].inertia.about_com.x_axis.x, 2.0);
    let d = model(r#"<compiler boundmass="1" boundinertia=".5"/><worldbody><body><joint/></body></worldbody>"#);
    assert_eq!((d.links[0].inertia.mass, d.links[0].inertia.about_com.x_axis.x), (1.0, 0.5));
    let d = model(
        r#"<compiler inertiagrouprange="1 2"/><worldbody><body><joint/><geom size="1" mass="1"/><geom size="1" mass="2" group="2"/></body>
            </worldbody>"#,
    );
    assert_eq!(d.links[0].inertia.mass, 2.0);
}

#[test]
fn meshes_touch_as_hulls_and_weigh_as_meshes() {
    let tetrahedron = r#"<asset><mesh name="t" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="2 2 -2"/></asset>"#;
    let d = model(&format!(
        r#"{tetrahedron}<worldbody><body><freejoint/><geom type="mesh" mesh="t" density="3"/></body></worldbody>"#
    ));
    let i = d.links[0].inertia;
    assert!((i.mass - 4.0).abs() < 1e-14, "{}", i.mass);
    near(i.com, [0.5, 0.5, -0.5]);
    assert!(matches!(d.geoms[0].geom.shape.kind(), ShapeKind::Hull { points } if points.len() == 4));
    assert!(noted(&d, NoteKind::Ignored, "convex hulls"));
    // A box in place of a mesh of a box.
    let brick = r#"<asset><mesh name="b" vertex="0 0 0 2 0 0 0 4 0 2 4 0 0 0 6 2 0 6 0 4 6 2 4 6"/></asset>"#;
    let d = model(&format!(r#"{brick}<worldbody><body><freejoint/><geom type="box" mesh="b"/></body></worldbody>"#));
    let geom = &d.geoms[0].geom;
    let ShapeKind::Cuboid { half } = geom.shape.kind() else { panic!("a box") };
    near((geom.pose.rotation * *half).abs(), [1.0, 2.0, 3.0]);
    near(geom.pose.translation, [1.0, 2.0, 3.0]);
}

#[test]
fn height_fields_run_along_x_and_y() {
    let d = model(
        r#"<asset><hfield name="h" nrow="2" ncol="3" size="3 1 .5 .1" elevation="1 2 3  5 3 1"/></asset>
           <worldbody><geom type="hfield" hfield="h"/></worldbody>"#,
    );
    let ShapeKind::HeightField { heights, rows, columns, length_x, length_y } = d.geoms[0].geom.shape.kind() else {
        panic!("a height field")
    };
    assert_eq!((*rows, *columns, *length_x, *length_y), (3, 2, 6.0, 2.0));
    // The file's last row is at the least y: at x = −3 heights are 5 and 1 of 1 to 5.
    assert_eq!(heights, &[0.5, 0.0, 0.25, 0.125, 0.0, 0.25]);
    assert!(
        error(
            r#"<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="1"/></asset><worldbody>
        <geom type="hfield" hfield="h"/></worldbody>"#
        )
        .contains("elevation")
    );
    assert!(
        error(
            r#"<asset><hfield name="h" nrow="2000" ncol="2000" size="1 1 1 1"/></asset><worldbody>
        <geom type="hfield" hfield="h"/></worldbody>"#
        )
        .contains("more than 1048576 points")
    );
}

#[test]
fn masks_parents_exclusions() {
    let d = model(
        r#"<worldbody><geom type="plane" size="1 1 1" contype="2" conaffinity="-1"/>
           <body name="a"><freejoint/><geom size=".1"/>
             <body name="b"><joint/><geom size=".1" contype="4" conaffinity="5"/><body name="c"><geom size=".1"/></body>
               <body name="d"><joint axis="1 0 0"/><joint axis="0 1 0"/><geom size=".1"/></body></body></body></worldbody>
           <contact><exclude body1="a" body2="d"/><exclude body1="world" body2="c"/></contact>"#,
    );
    assert_eq!((d.geoms[0].geom.groups, d.geoms[0].geom.collides_with), (2, u32::MAX));
    assert_eq!((d.geoms[2].geom.groups, d.geoms[2].geom.collides_with), (4, 5));
    let link = |name: &str| d.link(name);
    assert_eq!(d.touches_parent, vec![link("a").unwrap()], "the parent filter spares the world");
    // d has two joints: it and its parent, with what is fixed to it, are not neighbours among links.
    let excluded = [(link("d"), link("b")), (link("d"), link("c")), (None, link("c")), (link("a"), link("d"))];
    assert!(excluded.iter().all(|e| d.excluded.contains(e)) && d.excluded.len() == 4, "{:?}", d.excluded);
    let d = model(
        r#"<option><flag filterparent="disable"/></option><worldbody><body><joint/><geom size=".1"/><body><joint/><geom size=".1"/></body>
            </body></worldbody>"#,
    );
    assert_eq!(d.touches_parent, vec![0, 1]);
}

#[test]
fn pairs_priorities_and_dimensions() {
    let d = model(
        r#"<worldbody><geom name="floor" type="plane" size="1 1 1" friction=".6"/>
           <body><freejoint/><geom name="foot" size=".1" friction=".2" priority="1"/><geom name="slick" size=".1" condim="1"/>
             <geom name="shown" size=".1" contype="0" conaffinity="0"/></body></worldbody>
           <contact><pair geom1="shown" geom2="floor" friction=".7 .7 .01" condim="4"/></contact>"#,
    );
    assert_eq!(d.geoms.len(), 4);
    let material = |a: &str, b: &str| {
        let number = |n: &str| d.geoms.iter().position(|g| g.geom.name == n).unwrap();
        let (i, j) = (number(a), number(b));
        d.pairs.iter().find(|p| p.geoms == (i.min(j), i.max(j))).and_then(|p| p.material)
    };
    assert_eq!(material("shown", "floor").map(|m| (m.mu, m.mu_spin)), Some((0.7, 0.01)));
    let own = model(
        r#"<default><geom friction=".3" condim="1"/><default class="ice"><pair friction=".02 .02" condim="6"/></default></default>
           <worldbody><geom name="floor" type="plane" size="1 1 1" priority="3"/><body><freejoint/><geom name="foot" size=".1"/>
             <geom name="toe" size=".1"/><geom name="heel" size=".1"/></body></worldbody>
           <contact><pair geom1="foot" geom2="floor"/><pair geom1="toe" geom2="floor" class="ice"/>
             <pair geom1="heel" geom2="floor" friction=".5"/></contact>"#,
    );
    let of = |k: usize| own.pairs[k].material.map(|m| (m.mu, m.mu_across, m.mu_spin, m.mu_roll)).unwrap();
    assert_eq!(of(0), (1.0, None, 0.0, 0.0), "MuJoCo's friction of pairs, whatever the geoms say");
    assert_eq!(of(1), (0.02, None, 0.005, 0.0001));
    assert_eq!(of(2), (0.5, Some(1.0), 0.0, 0.0), "one number is that of one direction");
    assert_eq!(material("foot", "floor").map(|m| m.mu), Some(0.2), "the higher priority counts alone");
    // Against a floor of three dimensions, the friction of a geom of one counts too.
    assert_eq!(material("slick", "floor").map(|m| m.mu), Some(1.0));
    assert_eq!(material("foot", "slick"), None, "both are on one body");
    assert!(noted(&d, NoteKind::Changed, "priority"));
    assert!(
        error(
            r#"<worldbody><geom name="floor" size="1"/></worldbody><contact><pair geom1="flor" geom2="floor"/>
        </contact>"#
        )
        .contains("did you mean \"floor\"")
    );
}

#[test]
fn loops_close_where_the_file_closes_them() {
    let d = model(
        r#"<worldbody><body name="a" pos="1 0 0"><joint pos="0 0 1" ref="30"/><geom size=".1"/><site name="s" pos="0 1 0"/></body>
             <body name="b" pos="0 2 0" euler="0 0 90"><joint axis="1 0 0"/><geom size=".1"/><site name="t" pos="0 0 1" euler="90 0 0"/>
                 </body></worldbody>
           <equality><connect body1="a" body2="b" anchor="0 .5 0"/><weld body1="a"/><weld body1="a" body2="b" anchor="0 0 1"/>
             <connect site1="s" site2="t"/><weld site1="s" site2="t" torquescale="0"/><weld body1="a" body2="b" active="false"/>
             <weld body1="a" body2="b" relpose="1 2 3 0 1 0 0"/></equality>"#,
    );
    assert_eq!(
        d.loops.iter().map(|l| l.kind).collect::<Vec<_>>(),
        [
            LoopKind::Point,
            LoopKind::Weld,
            LoopKind::Weld,
            LoopKind::Point,
            LoopKind::Point,
            LoopKind::Weld,
            LoopKind::Weld
        ]
    );
    let at = poses(&d, None);
    let side = |link: Option<usize>, frame: Pose| link.map_or(frame, |l| at[l] * frame);
    let frames = |i: usize| (side(d.loops[i].a, d.loops[i].frame_a), side(d.loops[i].b, d.loops[i].frame_b));
    for i in 0..3 {
        let (a, b) = frames(i);
        near(a.translation - b.translation, [0.0; 3]);
        assert!(i == 0 || (a.rotation.inverse() * b.rotation).w.abs() > 1.0 - 1e-12, "loop {i}");
    }
    near(frames(0).0.translation, [1.0, 0.5, 0.0]);
    near(frames(3).0.translation, [1.0, 1.0, 0.0]);
    near(frames(3).1.translation, [0.0, 2.0, 1.0]);
    near(frames(6).0.translation, [2.0, 2.0, 3.0]);
    let active: Vec<bool> = d.equalities.iter().map(|e| e.active).collect();
    assert_eq!(active, [true, true, true, true, true, false, true]);
    assert_eq!(d.equalities[5].name, "equality5");
}

#[test]
fn joints_follow_others_in_the_files_coordinates() {
    let d = model(
        r#"<compiler angle="radian"/><worldbody><body><joint name="x" ref=".5"/><geom size=".1"/><body><joint name="y" ref=".1"/><geom size=".1"/>
             <body><joint name="z"/><geom size=".1"/></body></body></body></worldbody>
           <equality><joint joint1="y" joint2="x" polycoef=".2 3"/><joint joint1="z" joint2="x" polycoef="0 0 1 0 0"/></equality>"#,
    );
    // y − 0.1 = 0.2 + 3 (x − 0.5).
    let m = d.mimics[0];
    assert_eq!((m.link, m.of, m.multiplier, d.mimics.len()), (1, 0, 3.0, 1));
    assert!((m.offset - (0.1 + 0.2 - 1.5)).abs() < 1e-15);
    // z − (x − 0.5)² = 0.
    let terms = &d.couplings[0].terms;
    assert_eq!((terms[0].link, terms[0].coefficients, d.couplings[0].offset), (2, [1.0, 0.0, 0.0, 0.0], 0.0));
    assert_eq!((terms[1].link, terms[1].reference, terms[1].coefficients), (0, 0.5, [0.0, -1.0, 0.0, 0.0]));
    let d = model(
        r#"<worldbody><body><joint name="x" type="slide"/><geom size=".1"/></body></worldbody><equality><joint joint1="x" polycoef=".2"/>
            </equality>"#,
    );
    assert_eq!((d.couplings[0].terms.len(), d.couplings[0].terms[0].link, d.couplings[0].offset), (1, 0, 0.2));
}

/// Two links on hinges x and y.
const ARM: &str = r#"<worldbody><body><joint name="x" range="-1 3" actuatorfrcrange="-8 4"/><geom size=".1"/><body><joint name="y"/>
    <geom size=".1"/></body></body></worldbody>"#;

#[test]
fn actuators_of_all_supported_kinds() {
    let d = model(&format!(
        r#"<compiler angle="radian"/>{ARM}<default><default class="p"><position kp="50"/></default><default class="g">
            <general biastype="affine" gainprm="10" biasprm="0 -100 -5" ctrlrange="0 255"/></default></default>
           <actuator><motor name="m" joint="x" gear="2" ctrlrange="-1 1"/><position name="p" class="p" joint="y" kv="3" forcerange="-7 7"/>
             <velocity name="v" joint="y" kv="4" gear="-2"/><general name="g" class="g" joint="y"/>
             <general name="k" joint="y" gainprm="4" forcerange="-8 2"/></actuator>"#
    ));
    let a = |name: &str| d.actuators.iter().find(|a| a.name == name).unwrap();
    let laws = |name: &str| (a(name).gain, a(name).bias);
    assert_eq!(laws("m"), (Law::Affine([1.0, 0.0, 0.0]), Law::NONE));
    assert_eq!((a("m").gear[0], a("m").control, a("m").transmission.joint()), (2.0, [-1.0, 1.0], Some(0)));
    assert_eq!(
        (a("m").force, a("m").reach),
        ([f64::NEG_INFINITY, f64::INFINITY], [-4.0, 2.0]),
        "the joint's, before the gear"
    );
    assert_eq!((d.links[0].properties.effort, d.effort_ranges.as_slice()), (8.0, &[(0, [-8.0, 4.0])][..]));
    assert_eq!(laws("p"), (Law::Affine([50.0, 0.0, 0.0]), Law::Affine([0.0, -50.0, -3.0])));
    assert_eq!(a("p").force, [-7.0, 7.0]);
    assert_eq!((laws("v").1, a("v").gear[0]), (Law::Affine([0.0, 0.0, -4.0]), -2.0));
    // Controls are in the file's units.
    assert_eq!(laws("g"), (Law::Affine([10.0, 0.0, 0.0]), Law::Affine([0.0, -100.0, -5.0])));
    assert_eq!(a("g").control, [0.0, 255.0]);
    assert_eq!((laws("k").0, a("k").force), (Law::Affine([4.0, 0.0, 0.0]), [-8.0, 2.0]));
}

#[test]
fn actuators_are_tuned_to_the_inertia_they_move() {
    // A ball of 2 kg at 1 m on a hinge: inertia 2 + 0.4 · 2 · 0.01 about it, with the rotor 0.5 · 4 more.
    let d = model(
        r#"<worldbody><body><joint name="x" range="-90 90"/><geom size=".1" pos="1 0 0" mass="2"/></body></worldbody>
           <actuator><position name="p" joint="x" kp="9" dampratio=".5" gear="2" armature=".5" inheritrange=".5"/></actuator>"#,
    );
    let inertia: f64 = 2.008 + 2.0;
    assert!((d.links[0].properties.armature - 2.0).abs() < 1e-15);
    let Law::Affine([_, slope, rate]) = d.actuators[0].bias else { panic!() };
    let (kp, kd) = (-slope, -rate);
    assert!(kp == 9.0 && (kd - (9.0 * inertia / 4.0).sqrt()).abs() < 1e-12, "{kd}");
    assert!((d.actuators[0].control[1] - PI / 4.0).abs() < 1e-15);
    let d = world(r#"<body><joint springdamper=".1 .5"/><geom size=".1" pos="1 0 0" mass="2"/></body>"#);
    let p = d.links[0].properties;
    assert!((p.damping - 2.0 * 2.008 / 0.1).abs() < 1e-10 && (p.stiffness - 2.008 / 0.0025).abs() < 1e-9);
}

#[test]
fn fixed_tendons_of_fingers_that_follow_each_other() {
    let fingers = r#"<worldbody><body><joint name="x" type="slide"/><geom size=".1"/></body><body><joint name="y" type="slide"/>
        <geom size=".1"/></body></worldbody>
        <tendon><fixed name="both"><joint joint="x" coef=".5"/><joint joint="y" coef=".25"/></fixed></tendon>
        <actuator><position name="grip" tendon="both" kp="10" gear="2"/></actuator>"#;
    let d = model(&format!(r#"{fingers}<equality><joint joint1="y" joint2="x" polycoef="0 2 0 0 0"/></equality>"#));
    assert_eq!((d.actuators[0].transmission, d.actuators[0].gear[0]), (Transmission::Tendon(0), 2.0));
    assert_eq!(d.tendons[0].path, TendonPath::Joints(vec![(0, 0.5), (1, 0.25)]));
    // The tendon itself kept 1 above its length: x = 2 − y/2.
    let d = model(&format!(r#"{fingers}<equality><tendon tendon1="both" polycoef="1 0 0 0 0"/></equality>"#));
    assert_eq!((d.mimics[0].link, d.mimics[0].of, d.mimics[0].multiplier, d.mimics[0].offset), (0, 1, -0.5, 2.0));
    let d = model(fingers);
    assert!(d.actuators.len() == 1 && !noted(&d, NoteKind::NotYet, ""), "{:?}", d.notes);
}

#[test]
fn keyframes_choose_the_start() {
    let text = r#"<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size=".1"/></body><body><joint ref="0" range="-90 90"/>
        <geom size=".1"/></body></worldbody>
        <keyframe><key name="up" qpos="0 0 2 2 0 0 0 .5"/><key name="home" qpos="1 0 3 0 0 0 3 .25" qvel="1 0 0 0 0 2 3"/></keyframe></mujoco>"#;
    let with = |start| mjcf::parse(text, Path::new("."), &MjcfOptions { start }).map(|d| d.initial);
    assert_eq!(with(Start::Home).unwrap(), vec![(0, vec![1.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0]), (1, vec![0.25])]);
    assert_eq!(with(Start::Keyframe("up".into())).unwrap()[1], (1, vec![0.5]));
    assert_eq!(with(Start::Reference).unwrap(), vec![(0, vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])]);
    assert_eq!(with(Start::Number(0)).unwrap()[1], (1, vec![0.5]));
    assert!(with(Start::Number(2)).unwrap_err().to_string().contains("the file has 2"));
    // Places without a keyframe are the reference configuration.
    let more = text.replace("<worldbody>", r#"<size nkey="4"/><worldbody>"#);
    let with = |start| mjcf::parse(&more, Path::new("."), &MjcfOptions { start }).map(|d| d.initial);
    assert_eq!(with(Start::Number(3)).unwrap(), with(Start::Reference).unwrap());
    assert!(with(Start::Number(4)).is_err());
    let d = mjcf::parse(text, Path::new("."), &MjcfOptions::default()).unwrap();
    assert_eq!((d.start, d.keyframes[0].v.len(), d.keyframes[1].v[1].1[0]), (Some(1), 0, 3.0));
    let soft = text.replace("<worldbody>", r#"<worldbody><flexcomp name="cloth"/>"#);
    let d = mjcf::parse(&soft, Path::new("."), &MjcfOptions::default()).unwrap();
    assert!(
        noted(&d, NoteKind::NotYet, "<key name=\"home\">") && noted(&d, NoteKind::NotYet, "<flexcomp name=\"cloth\">")
    );
    assert!(with(Start::Keyframe("hom".into())).unwrap_err().to_string().contains("did you mean \"home\""));
    assert!(
        error(r#"<worldbody><body><joint/><geom size="1"/></body></worldbody><keyframe><key qpos="1 2"/></keyframe>"#)
            .contains("expected 1 numbers, found 2")
    );
}

#[test]
fn flags_that_switch_parts_off() {
    let d = model(&format!(
        r#"<option gravity="0 0 -5" timestep=".01"><flag gravity="disable" contact="disable" limit="disable" actuation="disable"/>
            </option>{ARM}<actuator><motor joint="x"/></actuator>"#
    ));
    assert_eq!((d.gravity, d.dt, d.geoms.len()), (Some(Vec3::ZERO), Some(0.01), 0));
    assert_eq!(d.actuators[0].gain, Law::NONE, "it keeps its control, and does nothing");
    assert_eq!(d.links[0].properties.limits, [f64::NEG_INFINITY, f64::INFINITY]);
    assert!(noted(&d, NoteKind::Ignored, "switched off by the file"));
}

#[test]
fn everything_left_out_is_named() {
    let d = model(
        r#"<option integrator="RK4" density="1.2"/><visual/><sensor/><size njmax="5"/>
           <default><geom solref=".01 1" rgba="1 0 0 1"/></default><asset><texture name="t"/><material name="m"/></asset>
           <worldbody><light/><camera/><site name="s" pos="0 0 1"/><body><joint type="ball" range="0 30"/><site name="tip" pos="1 0 0"/>
               <geom size=".1" condim="6" margin=".01" solimp=".9 .9 .01"/>
             <geom size=".1" contype="0" conaffinity="0" mass="0" group="3"/></body>
             </worldbody>
           <tendon><spatial name="rope"><site site="s"/><site site="tip"/></spatial></tendon>
           <actuator><muscle name="biceps" tendon="rope"/></actuator><equality><tendon name="e" tendon1="rope"/></equality>"#,
    );
    for (kind, text) in [
        (NoteKind::Ignored, "integrator of <option>"),
        (NoteKind::Ignored, "<visual>, <size>"),
        (NoteKind::Ignored, "solref of <geom>, margin of <geom>, solimp of <geom>"),
        (NoteKind::Ignored, "rgba of <geom>"),
        (NoteKind::Ignored, "<texture>"),
        (NoteKind::Ignored, "<light>, <camera>"),
        (NoteKind::NotYet, "<muscle name=\"biceps\">"),
        (NoteKind::NotYet, "<tendon name=\"e\">"),
        (NoteKind::Ignored, "for display"),
        (NoteKind::Ignored, "geoms that touch nothing: drawn"),
    ] {
        assert!(noted(&d, kind, text), "no {kind:?} note with {text} in {:#?}", d.notes);
    }
}

#[test]
fn unknown_names_are_warned_of_with_the_nearest_known_one() {
    let d = model(
        r#"<default clas="x"><joint dampng="1"/></default><option timstep=".1"><flag gravty="disable"/></option><worldbdy/><worldbody>
            <geom size="1" fricton=".1"/><bdy/><replicate count="1" ofset="1 0 0"/></worldbody><actuator><moter/></actuator>"#,
    );
    for (wrong, right) in [
        ("timstep", "timestep"),
        ("clas of <default>", "class"),
        ("dampng", "damping"),
        ("ofset", "offset"),
        ("gravty", "gravity"),
        ("<worldbdy>", "worldbody"),
        ("fricton", "friction"),
        ("<bdy>", "body"),
    ] {
        let found = |n: &&stiction_sim::Note| {
            n.kind == NoteKind::Warning && n.element.contains(wrong) && n.text.contains(&format!("\"{right}\""))
        };
        assert!(d.notes.iter().any(|n| found(&n)), "{wrong}: {:#?}", d.notes);
    }
}

#[test]
fn bad_input_is_named_with_its_place() {
    let cases = [
        (
            r#"<worldbody><body><joint range="1 x"/></body></worldbody>"#,
            "<joint> range: expected finite numbers, found \"x\"",
        ),
        (r#"<worldbody><body><joint range="2 1"/></body></worldbody>"#, "increasing range, found 2 to 1"),
        (r#"<worldbody><geom size="-1"/></worldbody>"#, "<geom> size: must be above 0, found -1"),
        (r#"<worldbody><geom type="bx" size="1"/></worldbody>"#, "(did you mean \"box\"?)"),
        (r#"<worldbody><geom type="box" size="1 2"/></worldbody>"#, "needs 3 sizes, found 2"),
        (r#"<worldbody><geom type="mesh" mesh="no"/></worldbody>"#, "there is no mesh \"no\""),
        (r#"<worldbody><geom type="mesh"/></worldbody>"#, "needs the attribute \"mesh\""),
        (r#"<worldbody><geom size="1" friction="1 2 3 4"/></worldbody>"#, "expected 1 to 3 numbers, found 4"),
        (r#"<worldbody><geom size="1" condim="2"/></worldbody>"#, "expected 1, 3, 4 or 6, found 2"),
        (r#"<worldbody><geom size="1" contype="1.5"/></worldbody>"#, "expected a whole number"),
        (r#"<worldbody><body quat="0 0 0 0"/></worldbody>"#, "<body> quat: the quaternion is zero"),
        (
            r#"<worldbody><body name="a"><joint axis="0 0 0"/></body></worldbody>"#,
            "<joint> axis: a direction has length 0",
        ),
        (r#"<worldbody><body name="a"/><body name="a"/></worldbody>"#, "there is already a body \"a\""),
        (
            r#"<worldbody><body name="m"><joint name="j"/></body></worldbody>"#,
            "<joint name=\"j\">: mass moved by the joint",
        ),
        (
            r#"<worldbody><body><joint name="j"/><inertial pos="0 0 0" mass="1"/></body></worldbody>"#,
            "<joint name=\"j\">: moves without inertia of its own",
        ),
        (r#"<worldbody><joint/></worldbody>"#, "the world cannot have a joint"),
        (
            r#"<worldbody><body><joint/><body><freejoint/></body></body></worldbody>"#,
            "a free joint must be the only joint",
        ),
        (
            r#"<worldbody><body><joint/><geom type="plane" size="1 1 1"/></body></worldbody>"#,
            "must be fixed to the world",
        ),
        (
            r#"<worldbody><body><inertial mass="-1"/></body></worldbody>"#,
            "<inertial> mass: must be at least 0, found -1",
        ),
        (r#"<worldbody><geom size="1" class="no"/></worldbody>"#, "there is no default class \"no\""),
        (r#"<worldbody><body childclass="man"/></worldbody>"#, "(did you mean \"main\"?)"),
        (r#"<default><default/></default>"#, "needs the attribute \"class\""),
        (r#"<compiler coordinate="global"/>"#, "global coordinates"),
        (r#"<compiler angle="degrees"/>"#, "(did you mean \"degree\"?)"),
        (r#"<compiler eulerseq="xy"/>"#, "expected 3 letters"),
        (r#"<option timestep="0"/>"#, "must be above 0"),
        (
            r#"<asset><mesh name="m" file="gone.stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>"#,
            "<mesh name=\"m\"> file: there is no file \"./gone.stl\"",
        ),
        (r#"<asset><mesh name="m" vertex="0 0"/></asset>"#, "expected three numbers each"),
        (
            r#"<asset><mesh name="m" vertex="0 0 0 1 1 1" face="0 1 2"/></asset>"#,
            "expected vertices from 0 to 1, found 2",
        ),
        (r#"<actuator><motor name="m" joint="no"/></actuator>"#, "<motor name=\"m\"> joint: there is no joint \"no\""),
        (r#"<actuator><motor/></actuator>"#, "needs something to act on"),
        (r#"<equality><connect body1="no" anchor="0 0 0"/></equality>"#, "there is no body \"no\""),
        (r#"<worldbody><replicate count="0"/></worldbody>"#, "must be above 0"),
        (r#"<worldbody><replicate count="99999999999"><body/></replicate></worldbody>"#, "makes more than"),
        (r#"<include file="gone.xml"/>"#, "<include> file"),
        (r#"<worldbody><attach model="m"/></worldbody>"#, "there is no model \"m\" among the assets"),
    ];
    for (text, expected) in cases {
        let message = error(text);
        assert!(message.contains(expected), "{text}\n  {message}\n  lacks {expected}");
    }
    let at = |text: &str| parse(text).unwrap_err().at;
    assert_eq!(at("<mujoco>\n <worldbody>\n  <geom size=\"1\"\n   mass=\"x\"/></worldbody></mujoco>"), Some((4, 4)));
    assert_eq!(at("<mujoco>\n</mujco>").map(|p| p.0), Some(2));
    assert!(parse("<robot/>").unwrap_err().to_string().contains("URDF"));
    assert!(parse("").is_err() && parse("<a><a>").is_err());
}

#[test]
fn deep_nesting_is_refused() {
    let deep =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<body>".repeat(100_000), "</body>".repeat(100_000));
    assert!(parse(&deep).unwrap_err().to_string().contains("within each other"));
}

/// A folder of its own that is gone afterwards.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
        let folder = std::env::temp_dir().join(format!("stiction-mjcf-{name}-{}", std::process::id()));
        for (file, content) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Self(folder)
    }

    fn load(&self, file: &str) -> Result<Description, SceneError> {
        mjcf::load(&self.0.join(file), &MjcfOptions::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_included_once_and_found_beside_the_main_one() {
    let folder = Folder::new(
        "include",
        &[
            ("main.xml", br#"<mujoco model="m"><include file="sub/part.xml"/><worldbody><include file="sub/body.xml"/></worldbody></mujoco>"#),
            ("sub/part.xml", br#"<mujocoinclude><include file="sub/defaults.xml"/><option timestep=".01"/></mujocoinclude>"#),
            ("sub/defaults.xml", b"<mujocoinclude><default><geom density=\"1\"/></default></mujocoinclude>"),
            ("sub/body.xml", br#"<mujocoinclude><body name="b"><joint/><geom type="box" size=".5 .5 .5"/></body></mujocoinclude>"#),
            ("loop.xml", br#"<mujoco><include file="loop2.xml"/></mujoco>"#),
            ("loop2.xml", br#"<mujoco><include file="loop.xml"/></mujoco>"#),
            ("bad.xml", b"<mujoco>\n<include file=\"sub/bad.xml\"/></mujoco>"),
            ("sub/bad.xml", b"<mujoco>\n\n  <option timestep=\"x\"/></mujoco>"),
        ],
    );
    let d = folder.load("main.xml").unwrap();
    assert_eq!((d.name.as_str(), d.dt, d.links[0].inertia.mass), ("m", Some(0.01), 1.0));
    assert!(folder.load("loop.xml").unwrap_err().to_string().contains("already included"));
    let error = folder.load("bad.xml").unwrap_err();
    assert!(error.file.as_ref().is_some_and(|f| f.ends_with("sub/bad.xml")) && error.at == Some((3, 11)), "{error}");
    assert!(folder.load("none.xml").unwrap_err().to_string().contains("none.xml"));
}

#[test]
fn meshes_and_height_fields_from_files() {
    let stl = "solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n\
        facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n\
        facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n\
        facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid";
    let mut field: Vec<u8> = [2i32, 2].iter().flat_map(|x| x.to_le_bytes()).collect();
    field.extend([0f32, 1.0, 2.0, 4.0].iter().flat_map(|x| x.to_le_bytes()));
    let folder = Folder::new(
        "assets",
        &[
            ("meshes/t.stl", stl.as_bytes()),
            ("meshes/terrain.bin", &field),
            (
                "main.xml",
                br#"<mujoco><compiler meshdir="meshes"/><asset><mesh file="t.stl" scale="6 1 1"/><hfield file="terrain.bin" size="1 2 3 1"/></asset>
                <worldbody><geom type="hfield" hfield="terrain"/><body><freejoint/><geom type="mesh" mesh="t" density="1"/></body>
                    </worldbody></mujoco>"#,
            ),
            ("strip.xml", br#"<mujoco><compiler assetdir="meshes" strippath="true"/><asset><mesh name="x" file="C:\far\away\t.stl"/>
                </asset></mujoco>"#),
            ("broken.xml", br#"<mujoco><asset><mesh name="x" file="meshes/terrain.bin"/></asset><worldbody><geom type="mesh" mesh="x"/>
                </worldbody></mujoco>"#),
        ],
    );
    let d = folder.load("main.xml").unwrap();
    assert!((d.links[0].inertia.mass - 1.0).abs() < 1e-14);
    let ShapeKind::HeightField { heights, .. } = d.geoms[0].geom.shape.kind() else { panic!("a height field") };
    assert_eq!(heights, &[0.0, 1.5, 0.75, 3.0]);
    assert!(folder.load("strip.xml").is_ok());
    assert!(folder.load("broken.xml").unwrap_err().to_string().contains("terrain.bin"));
}

#[test]
fn sensors_of_joints_name_the_kind_of_joint_they_need() {
    let with = |sensor: &str| {
        error(&format!(
            r#"<worldbody><body><freejoint name="free"/><geom size=".1"/>
                 <body><joint name="ball" type="ball"/><geom size=".1"/>
                   <body><joint name="hinge"/><geom size=".1"/></body></body></body></worldbody>
               <sensor>{sensor}</sensor>"#
        ))
    };
    for kind in ["jointpos", "jointvel", "jointactuatorfrc"] {
        for joint in ["free", "ball"] {
            let message = with(&format!(r#"<{kind} joint="{joint}"/>"#));
            assert!(message.contains("expected a hinge or slide") && message.contains(kind), "{message}");
        }
    }
    for kind in ["ballquat", "ballangvel"] {
        for joint in ["free", "hinge"] {
            let message = with(&format!(r#"<{kind} joint="{joint}"/>"#));
            assert!(message.contains("expected a ball joint") && message.contains(kind), "{message}");
        }
    }
    let message = with(r#"<jointpos joint="hing"/>"#);
    assert!(message.contains("did you mean \"hinge\""), "{message}");
}

/// Figures are those of MuJoCo's compiler.
#[test]
fn models_within_models_keep_their_own_units_and_defaults() {
    let text = r#"<mujoco><compiler angle="radian"/><default><joint damping="9"/></default>
      <asset><model name="a" file="attached_arm.xml"/></asset>
      <worldbody><body name="cart" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/><geom size=".2"/>
        <frame pos="0 0 .2" euler="0 0 1.5707963267948966"><attach model="a" body="base" prefix="L/"/></frame></body>
        <attach model="a" prefix="R/" body="upper"/></worldbody>
      <actuator><motor joint="L/e"/></actuator></mujoco>"#;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let d = mjcf::parse(text, &folder, &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = d.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["cart", "L/base", "L/upper", "L/lower", "R/upper", "R/lower"]);
    let masses = [33.510_321_638, 4.0, 0.480_663_676, 0.902_395_221, 0.480_663_676, 0.902_395_221];
    for (link, mass) in d.links.iter().zip(masses) {
        assert!((link.inertia.mass - mass).abs() < 1e-8, "{}: {}", link.name, link.inertia.mass);
    }
    let joint = |name: &str| d.links.iter().find(|l| l.joint_name == name).unwrap();
    let quarter = std::f64::consts::FRAC_PI_2;
    for side in ["L/", "R/"] {
        let [low, high] = joint(&format!("{side}s")).properties.limits;
        assert!((low + quarter).abs() < 1e-12 && (high - 0.5 * quarter).abs() < 1e-12, "{low} {high}");
        assert_eq!(joint(&format!("{side}e")).properties.damping, 2.0);
    }
    assert_eq!(joint("x").properties.damping, 9.0);
    let actuators: Vec<(&str, f64)> = d.actuators.iter().map(|a| (a.name.as_str(), a.gear[0])).collect();
    assert_eq!(actuators, [("actuator0", 1.0), ("L/ms", 3.0), ("L/me", 1.0), ("R/ms", 3.0), ("R/me", 1.0)]);
    assert_eq!(d.equalities.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["L/c", "R/c"]);
    assert_eq!(d.sensors.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["L/ps", "R/ps"]);
    assert!(d.excluded.is_empty() && noted(&d, NoteKind::Ignored, "not attached"));
    let whole = text.replace(" body=\"upper\"", "");
    let d = mjcf::parse(&whole, &folder, &MjcfOptions::default()).unwrap();
    assert!(d.link("R/other").is_some() && d.excluded.len() == 1);
    let broken = |from: &str, to: &str| {
        mjcf::parse(&text.replace(from, to), &folder, &MjcfOptions::default()).unwrap_err().to_string()
    };
    assert!(broken("attach model=\"a\" body", "attach model=\"b\" body").contains("there is no model \"b\""));
    assert!(broken("body=\"base\"", "body=\"bse\"").contains("there is no body \"bse\""));
    assert!(broken("attached_arm.xml", "nothing.xml").contains("nothing.xml"));
}

/// Figures are those of MuJoCo's compiler, which simulates: it is up to 3e-4 beyond the limits.
#[test]
fn muscles_find_the_range_of_their_lengths() {
    let d = model(
        r#"<compiler angle="radian"/><worldbody><site name="o" pos="0 0 .2"/>
           <body><joint name="j" axis="0 1 0" range="-1 1.2"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
             <site name="i" pos=".2 0 .02"/>
             <body pos=".3 0 0"><joint name="k" axis="0 1 0" range="-.5 .5"/>
               <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/><site name="e" pos=".15 0 .02"/></body></body></worldbody>
           <tendon><spatial name="one"><site site="o"/><site site="i"/></spatial>
             <spatial name="two"><site site="o"/><site site="i"/><site site="e"/></spatial></tendon>
           <actuator><muscle joint="j" gear="-.05"/><muscle tendon="one"/><muscle tendon="two"/><muscle site="e"/></actuator>"#,
    );
    let expected = [[-0.06001512, 0.05001576], [0.09353289, 0.38996831], [0.32600271, 0.64327778]];
    for (actuator, expected) in d.actuators.iter().zip(expected) {
        let Law::Muscle(muscle) = actuator.gain else { panic!("{:?}", actuator.gain) };
        for (found, expected) in muscle.lengths.into_iter().zip(expected) {
            assert!((found - expected).abs() < 5e-4, "{}: {found}, MuJoCo {expected}", actuator.name);
        }
    }
    assert!(noted(&d, NoteKind::NotYet, "has no range") && d.actuators[3].gain == Law::NONE);
}

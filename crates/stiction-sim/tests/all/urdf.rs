//! URDF files: what they mean, and what is said about those that mean nothing.

use std::path::Path;

use stiction_body::math::{Mat3, Vec3};
use stiction_body::{JointKind, ModelBuilder, ShapeKind};
use stiction_sim::description::{Description, NoteKind};
use stiction_sim::urdf::{self, UrdfOptions};

const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="1 1 1 1"/></material>
  <link name="base">
    <inertial><mass value="3"/><origin xyz="0 0 0.1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <collision name="foot"><origin xyz="0 0 0.05"/><geometry><box size="0.2 0.4 0.1"/></geometry></collision>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="1 2 3" rpy="1.5707963267948966 0 1.5707963267948966"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/>
    <safety_controller k_velocity="1" soft_lower_limit="0"/>
  </joint>
  <link name="upper">
    <inertial><mass value="1"/><origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="0.6"/></geometry></collision>
    <collision><geometry><capsule radius="0.1" length="0.6"/></geometry></collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="hand"/><limit lower="0" upper="0.1" effort="1" velocity="1"/>
    <mimic joint="shoulder" multiplier="2" offset="0.5"/>
  </joint>
  <link name="hand"><inertial><mass value="0.5"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="tool" type="fixed"><parent link="hand"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>
  <link name="tip"/>
  <transmission name="t"><type>simple</type></transmission>
  <gazebo reference="hand"><kp>1</kp></gazebo>
</robot>"#;

const INERTIAL: &str =
    r#"<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"#;

fn parse(text: &str) -> Result<Description, String> {
    urdf::parse(text, Path::new("/nowhere"), &UrdfOptions::default()).map_err(|e| e.to_string())
}

/// A robot of links with inertia named a, b, c and the given other elements.
fn robot(links: &[&str], rest: &str) -> String {
    let links: String = links.iter().map(|l| format!("<link name='{l}'>{INERTIAL}</link>\n")).collect();
    format!("<robot name='r'>\n{links}{rest}\n</robot>")
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, rest: &str) -> String {
    format!("<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>{rest}</joint>\n")
}

fn has_note(d: &Description, kind: NoteKind, text: &str) -> bool {
    d.notes.iter().any(|n| n.kind == kind && format!("{}: {}", n.element, n.text).contains(text))
}

/// Everything a description says is accepted by those who use it.
fn check_usable(d: &Description) {
    let mut builder = ModelBuilder::default();
    d.links.iter().for_each(|l| assert!(builder.add(l.clone()).is_ok()));
    d.mimics.iter().for_each(|m| builder.mimic(*m).unwrap());
    builder.build().unwrap();
    assert!(d.geoms.iter().all(|g| g.material.check().is_ok() && g.geom.link.is_none_or(|l| l < d.links.len())));
}

#[test]
fn an_arm_is_read_as_it_is_meant() {
    let d = parse(ARM).unwrap();
    check_usable(&d);
    let names: Vec<_> = d.links.iter().map(|l| (l.name.as_str(), l.joint_name.as_str(), l.parent)).collect();
    assert_eq!(
        names,
        [("base", "", None), ("upper", "shoulder", Some(0)), ("hand", "slide", Some(1)), ("tip", "tool", Some(2))]
    );
    assert_eq!(d.links[0].kind, JointKind::Free);
    assert_eq!(d.links[0].inertia.com, Vec3::new(0.0, 0.0, 0.1));
    let upper = &d.links[1];
    assert_eq!(upper.kind, JointKind::Revolute { axis: Vec3::Z });
    assert_eq!(upper.frame.translation, Vec3::new(1.0, 2.0, 3.0));
    // First about x, then about the fixed z: x goes to y, z goes to −y and then to x.
    assert!((upper.frame.rotation * Vec3::X).abs_diff_eq(Vec3::Y, 1e-15));
    assert!((upper.frame.rotation * Vec3::Z).abs_diff_eq(Vec3::X, 1e-15));
    let p = &upper.properties;
    assert_eq!((p.limits, p.effort, p.damping, p.friction), ([-1.0, 2.0], 30.0, 0.5, 0.25));
    // The inertia's own axes are turned by 90° about z.
    assert!(upper.inertia.about_com.abs_diff_eq(Mat3::from_diagonal(Vec3::new(0.2, 0.1, 0.25)), 1e-15));
    assert_eq!(d.links[2].kind, JointKind::Prismatic { axis: Vec3::X }, "the default axis");
    assert_eq!((d.mimics[0].link, d.mimics[0].of, d.mimics[0].multiplier, d.mimics[0].offset), (2, 1, 2.0, 0.5));
    let geoms: Vec<_> = d.geoms.iter().map(|g| (g.geom.name.as_str(), g.geom.link)).collect();
    assert_eq!(geoms, [("foot", Some(0)), ("base", Some(0)), ("upper", Some(1)), ("upper_2", Some(1))]);
    assert_eq!(d.geoms[0].geom.shape.kind(), &ShapeKind::Cuboid { half: Vec3::new(0.1, 0.2, 0.05) });
    assert_eq!(d.geoms[0].geom.pose.translation, Vec3::new(0.0, 0.0, 0.05));
    assert_eq!(d.geoms[2].geom.shape.kind(), &ShapeKind::Cylinder { half_length: 0.3, radius: 0.1 });
    assert_eq!(d.geoms[3].geom.shape.kind(), &ShapeKind::Capsule { half_length: 0.3, radius: 0.1 });
}

#[test]
fn nothing_is_dropped_silently() {
    let d = parse(ARM).unwrap();
    for (kind, text) in [
        (NoteKind::Ignored, "<transmission"),
        (NoteKind::Ignored, "<safety_controller>"),
        (NoteKind::Ignored, "<kp>"),
        (NoteKind::NotYet, "velocity"),
    ] {
        assert!(has_note(&d, kind, text), "{text}: {:?}", d.notes);
    }
    let text =
        ARM.replace("<axis xyz=\"0 0 2\"/>", "<axis xyz='0 0 2' xyzw='1'/><axes/>").replace("friction=", "fricton=");
    let d = parse(&text).unwrap();
    assert!(has_note(&d, NoteKind::Ignored, "\"xyzw\" is not read (did you mean \"xyz\"?)"));
    assert!(has_note(
        &d,
        NoteKind::Ignored,
        "<axes> in <joint name=\"shoulder\"> (line 13): is not read (did you mean \"axis\"?)"
    ));
    assert!(has_note(&d, NoteKind::Ignored, "\"fricton\" is not read (did you mean \"friction\"?)"));
}

#[test]
fn every_kind_of_joint() {
    let kinds = [
        ("fixed", JointKind::Fixed),
        ("revolute", JointKind::Revolute { axis: Vec3::Y }),
        ("continuous", JointKind::Continuous { axis: Vec3::Y }),
        ("prismatic", JointKind::Prismatic { axis: Vec3::Y }),
        ("planar", JointKind::Planar { normal: Vec3::Y }),
        ("floating", JointKind::Free),
    ];
    for (name, kind) in kinds {
        let text =
            robot(&["a", "b"], &joint("j", name, "a", "b", "<axis xyz='0 1e-200 0'/><limit lower='-1' upper='1'/>"));
        let d = parse(&text).unwrap();
        check_usable(&d);
        assert_eq!(d.links[1].kind, kind);
        let limited = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        assert_eq!(d.links[1].properties.limits[1].is_finite(), limited, "{name}");
    }
    let limits = |limit: &str| parse(&robot(&["a", "b"], &joint("j", "revolute", "a", "b", limit))).unwrap();
    let none = limits("");
    assert!(
        none.links[1].properties.limits[0] == f64::NEG_INFINITY && has_note(&none, NoteKind::Warning, "without end")
    );
    let crossed = limits("<limit lower='1' upper='-1'/>");
    assert!(crossed.links[1].properties.limits[1] == f64::INFINITY && has_note(&crossed, NoteKind::Changed, "above"));
    assert_eq!(limits("<limit lower='-inf' upper='3'/>").links[1].properties.limits, [f64::NEG_INFINITY, 3.0]);
    assert!(has_note(&limits("<limit effort='1'/>"), NoteKind::Warning, "cannot move"));
}

#[test]
fn the_base_floats_unless_told_otherwise() {
    let fixed = UrdfOptions { fixed_base: true, ..UrdfOptions::default() };
    let d = urdf::parse(ARM, Path::new("."), &fixed).unwrap();
    assert_eq!(d.links[0].kind, JointKind::Fixed);
    let world = "<link name='world'><collision><origin rpy='0 1.5707963267948966 0'/><geometry><plane normal='0 0 2'/></geometry></collision></link>";
    let d =
        parse(&robot(&["a"], &format!("{world}{}", joint("j", "continuous", "world", "a", "<origin xyz='0 0 1'/>"))))
            .unwrap();
    assert_eq!((d.links.len(), d.links[0].parent, d.links[0].frame.translation), (1, None, Vec3::Z));
    assert_eq!((d.geoms[0].geom.link, d.geoms[0].geom.shape.is_unbounded()), (None, true));
    assert!((d.geoms[0].geom.pose.rotation * Vec3::Z).abs_diff_eq(Vec3::X, 1e-15));
    let d = parse(
        "<robot name='r'><link name='ground'><collision><geometry><plane/></geometry></collision></link></robot>",
    )
    .unwrap();
    assert_eq!((d.links[0].kind, d.geoms[0].geom.link), (JointKind::Fixed, None));
    assert!(has_note(&d, NoteKind::Changed, "has no mass"));
    // A frame without mass to which the real base is fixed still floats.
    let d = parse(&robot(&["a"], &format!("<link name='frame'/>{}", joint("j", "fixed", "frame", "a", "")))).unwrap();
    assert_eq!(d.links[0].kind, JointKind::Free);
}

#[test]
fn mimics_of_mimics_follow_the_first() {
    let mimic = |of: &str, m: f64, o: f64| format!("<limit/><mimic joint='{of}' multiplier='{m}' offset='{o}'/>");
    let joints = |last: &str| {
        [
            joint("j1", "revolute", "a", "b", last),
            joint("j2", "revolute", "b", "c", &mimic("j1", 2.0, 0.5)),
            joint("j3", "prismatic", "c", "d", &mimic("j2", -3.0, 1.0)),
        ]
        .concat()
    };
    let d = parse(&robot(&["a", "b", "c", "d"], &joints(""))).unwrap();
    let found: Vec<_> = d.mimics.iter().map(|m| (m.link, m.of, m.multiplier, m.offset)).collect();
    assert_eq!(found, [(2, 1, 2.0, 0.5), (3, 1, -6.0, -0.5)]);
    let circle = parse(&robot(&["a", "b", "c", "d"], &joints(&mimic("j3", 1.0, 0.0)))).unwrap_err();
    assert!(circle.contains("<mimic> in <joint name=\"j1\">: joints follow one another in a circle"), "{circle}");
}

#[test]
fn what_is_no_tree_is_named() {
    let j = |name: &str, parent: &str, child: &str| joint(name, "fixed", parent, child, "");
    let cases = [
        (
            robot(&["a", "b", "c"], &[j("j1", "a", "c"), j("j2", "b", "c")].concat()),
            "<joint name=\"j2\">: link \"c\" already has a parent, by joint \"j1\"",
        ),
        (robot(&["a", "b"], &[j("j1", "a", "b"), j("j2", "b", "a")].concat()), "joint \"j2\" is part of a loop"),
        (robot(&["a", "b", "c"], &[j("j1", "b", "c"), j("j2", "c", "b")].concat()), "is part of a loop of joints"),
        (robot(&["a", "b"], ""), "links have no parent, the first two are \"a\" and \"b\""),
        (robot(&["a"], &j("j1", "a", "a")), "parent and child are the same link \"a\""),
        (
            robot(&["arm", "hand"], &j("j1", "arm", "hnad")),
            "<child link> in <joint name=\"j1\">: there is no link \"hnad\" (did you mean \"hand\"?)",
        ),
        (
            robot(&["arm", "hand"], &j("j1", "amr", "hand")),
            "<parent link> in <joint name=\"j1\">: there is no link \"amr\"",
        ),
        (robot(&["a", "a"], ""), "<link name=\"a\">: there is another link of that name"),
        (robot(&["a", "b", "c"], &[j("j", "a", "b"), j("j", "a", "c")].concat()), "another joint of that name"),
        (
            robot(&["a", "b"], "<joint name='j' type='fixed'><child link='b'/></joint>"),
            "<joint name=\"j\">: needs an element <parent>",
        ),
        (
            robot(&["a", "b"], "<joint type='fixed'><parent link='a'/><child link='b'/></joint>"),
            "needs the attribute \"name\"",
        ),
        ("<robot><link/></robot>".into(), "<link>: needs the attribute \"name\""),
        ("<robot name='x'/>".into(), "has no <link>"),
        ("<mujoco/>".into(), "expected <robot>: this is MJCF"),
        ("<sdf/>".into(), "this is SDF"),
        ("<robot><link name='a'></robot>".into(), "XML: "),
        ("<robot><xacro:include filename='b'/></robot>".into(), "this is xacro"),
        (
            robot(&["a"], "<link name='b'><collision><geometry><sphere radius='${r}'/></geometry></collision></link>"),
            "this is xacro",
        ),
        (robot(&["a"], "<link name='b'><inertial><mass value='$(env MASS)'/></inertial></link>"), "this is xacro"),
        (robot(&[], "<link name='b'><inertial><mass value='$(optenv MASS x)'/></inertial></link>"), "found \"x"),
    ];
    for (text, expected) in cases {
        let message = parse(&text).unwrap_err();
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
    // Places are those of the file, though `$(optenv …)` before them is replaced.
    let fixed = joint("j", "fixed", "a", "b", "<origin xyz='$(optenv AT 0.19 0\t1)' rpy='$(optenv  TURN 0 x 0)'/>");
    let message = parse(&robot(&["a", "b"], &fixed)).unwrap_err();
    let column = fixed.find("rpy=").unwrap() + 1;
    assert!(message.starts_with(&format!("4:{column}: ")), "{message}, expected in column {column}");
    let xacro = urdf::load(Path::new("a.urdf.xacro"), &UrdfOptions::default()).unwrap_err().to_string();
    assert!(xacro.starts_with("a.urdf.xacro: this is xacro"), "{xacro}");
    let missing = urdf::load(Path::new("/nowhere/a.urdf"), &UrdfOptions::default()).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/a.urdf: cannot read"), "{missing}");
}

#[test]
fn bad_numbers_are_named_with_their_place() {
    let cases = [
        (
            "<mass value=\"3\"/>",
            "<mass value=\"-3\"/>",
            "<mass value> in <link name=\"base\">: a mass must be at least 0, found -3",
        ),
        (
            "<mass value=\"3\"/>",
            "<mass value=\"nan\"/>",
            "<mass value> in <link name=\"base\">: expected finite numbers, found \"nan\"",
        ),
        (
            "<mass value=\"3\"/>",
            "<mass vaule=\"3\"/>",
            "<mass> in <link name=\"base\">: needs the attribute \"value\" (found \"vaule\")",
        ),
        ("ixx=\"0.1\"", "ixx=\"-9\" ", "<inertial> in <link name=\"base\">: no body has the principal moments"),
        ("ixx=\"0.1\" ", "", "needs the attribute \"ixx\""),
        (
            "<mass value=\"0.5\"/>",
            "<mass value=\"0\"/>",
            "<link name=\"hand\">: moves by joint \"slide\", and neither it nor anything below it has a mass",
        ),
        (
            "size=\"0.2 0.4 0.1\"",
            "size=\"0.2 0 0.1\"",
            "<box> in <collision name=\"foot\">: half side of a box must be above 0",
        ),
        ("size=\"0.2 0.4 0.1\"", "size=\"0.2 0.1\"", "expected 3 numbers, found 2"),
        (
            "<sphere radius=\"0.3\"/>",
            "<spere radius=\"0.3\"/>",
            "<spere> in <link name=\"base\">: there is no such shape (did you mean \"sphere\"?)",
        ),
        ("<sphere radius=\"0.3\"/>", "<mesh/>", "needs the attribute \"filename\""),
        ("<sphere radius=\"0.3\"/>", "<mesh filename='http://a/b.stl'/>", "files from \"http://\" are not read"),
        (
            "<sphere radius=\"0.3\"/>",
            "<mesh filename='package://p/b.stl'/>",
            "there is no file \"b.stl\" in a package \"p\"",
        ),
        ("<sphere radius=\"0.3\"/>", "<mesh filename='b.stl' scale='1 2'/>", "expected 3 numbers, found 2"),
        ("<cylinder radius=\"0.1\"", "<plane radius=\"0.1\"", "a plane must be on a link that is fixed to the world"),
        ("xyz=\"0 0 2\"", "xyz=\"0 0 0\"", "<axis xyz> in <joint name=\"shoulder\">: an axis must not be zero"),
        ("damping=\"0.5\"", "damping=\"-1\"", "<dynamics damping> in <joint name=\"shoulder\">: must be at least 0"),
        ("effort=\"30\"", "effort=\"-1\"", "<limit effort>"),
        ("type=\"revolute\"", "type=\"revolut\"", "there is no kind of joint \"revolut\" (did you mean \"revolute\"?)"),
        ("joint=\"shoulder\"", "joint=\"sholder\"", "there is no joint \"sholder\" (did you mean \"shoulder\"?)"),
        ("joint=\"shoulder\"", "joint=\"tool\"", "must each have one velocity"),
    ];
    for (from, to, expected) in cases {
        assert!(ARM.contains(from), "{from}");
        let message = parse(&ARM.replacen(from, to, 1)).map(|_| ()).unwrap_err();
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
    let text = ARM.replacen("<mass value=\"3\"/>", "<mass value=\"-3\"/>", 1);
    let error = urdf::parse(&text, Path::new("."), &UrdfOptions::default()).unwrap_err();
    assert_eq!(error.at, Some((5, 21)));
}

#[test]
fn impossible_inertias_are_raised_and_points_that_turn_get_some() {
    let inertia = |tensor: &str, rest: &str| {
        let link = format!("<inertial><mass value='2'/>{tensor}</inertial>{rest}");
        parse(&format!("<robot name='r'><link name='a'>{link}</link></robot>")).unwrap()
    };
    let d = inertia("<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='3'/>", "");
    check_usable(&d);
    let moments = d.links[0].inertia.about_com;
    // Second moments ½(1+1+3) − (1, 1, 3) = (1.5, 1.5, −0.5): the last is raised to 0.
    assert!(moments.abs_diff_eq(Mat3::from_diagonal(Vec3::new(1.5, 1.5, 3.0)), 1e-12), "{moments}");
    assert!(has_note(&d, NoteKind::Warning, "no body has this inertia"));
    let d = inertia("<inertia ixx='-1' ixy='0' ixz='0' iyy='4' iyz='0' izz='4'/>", "");
    // (4.5, −0.5, −0.5): a rod that is to be turned about its axis needs some thickness.
    let expected = Mat3::from_diagonal(Vec3::new(0.009, 4.5045, 4.5045));
    assert!(d.links[0].inertia.about_com.abs_diff_eq(expected, 1e-12), "{}", d.links[0].inertia.about_com);
    let point = "<inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='-1e-20'/>";
    let d = inertia(point, "<collision><geometry><box size='1 2 3'/></geometry></collision>");
    assert!(d.links[0].inertia.about_com.abs_diff_eq(Mat3::from_diagonal(Vec3::new(13.0, 10.0, 5.0) / 6.0), 1e-14));
    assert!(has_note(&d, NoteKind::Warning, "the box around its shapes"));
    let d = inertia("", "");
    let radius = (2.0 / (4.0 / 3.0 * std::f64::consts::PI * 1000.0)).cbrt();
    assert!((d.links[0].inertia.about_com.x_axis.x - 0.8 * radius * radius).abs() < 1e-15);
    // A point on an arm is a pendulum and stays one.
    let pendulum = "<robot name='r'><link name='world'/><link name='a'><inertial><mass value='2'/><origin xyz='0 1 0'/></inertial></link>\
        <joint name='j' type='continuous'><parent link='world'/><child link='a'/></joint></robot>";
    assert_eq!(parse(pendulum).unwrap().links[0].inertia.about_com, Mat3::ZERO);
    // Two axes in line with nothing between them.
    let both = [joint("j1", "continuous", "a", "b", ""), joint("j2", "continuous", "b", "c", "")].concat();
    let text =
        format!("<robot name='r'><link name='a'/><link name='b'/><link name='c'>{INERTIAL}</link>{both}</robot>");
    let message = parse(&text).unwrap_err();
    assert!(message.contains("<link name=\"b\">: can move without moving any mass"), "{message}");
}

#[test]
fn surfaces_come_from_gazebo_and_contact() {
    let body = "<collision><geometry><sphere radius='1'/></geometry></collision>";
    let text = |rest: &str, inside: &str| {
        format!("<robot name='r'><link name='a'>{INERTIAL}{body}{inside}</link>{rest}</robot>")
    };
    let d = parse(&text("<gazebo reference='a'><mu1>0.7</mu1><mu2>0.7</mu2></gazebo><gazebo><plugin/></gazebo>", ""))
        .unwrap();
    assert_eq!(d.geoms[0].material.mu, 0.7);
    let d = parse(&text(
        "<gazebo reference='a'><mu1 value='0.9'/><mu2>0.2</mu2><turnGravityOff>true</turnGravityOff></gazebo>",
        "",
    ))
    .unwrap();
    assert_eq!(d.geoms[0].material.mu, 0.9);
    assert!(has_note(&d, NoteKind::NotYet, "direction") && has_note(&d, NoteKind::NotYet, "gravity acts"));
    let contact = "<contact><lateral_friction value='0.3'/><restitution value='0.4'/><spinning_friction value='0.01'/>\
        <rolling_friction value='0.1'/><stiffness value='3'/></contact>";
    let d = parse(&text("<gazebo reference='b'><mu1>x</mu1></gazebo>", contact)).unwrap();
    let m = d.geoms[0].material;
    assert_eq!((m.mu, m.restitution, m.mu_spin, m.mu_roll), (0.3, 0.4, 0.01, 0.1));
    assert!(has_note(&d, NoteKind::Warning, "no link or joint \"b\""));
    let options =
        UrdfOptions { material: stiction_sim::Material { mu: 0.11, ..Default::default() }, ..UrdfOptions::default() };
    let d = urdf::parse(&text("<gazebo reference='a'><mu1>-1</mu1></gazebo>", ""), Path::new("."), &options).unwrap();
    assert_eq!(d.geoms[0].material.mu, 0.11);
    let message = parse(&text("", "<contact><restitution value='2'/></contact>")).unwrap_err();
    assert!(message.contains("<restitution> in <link name=\"a\">"), "{message}");
}

/// A folder that goes when the test ends.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-urdf-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn meshes_are_found_and_become_hulls() {
    let folder = Folder::new("meshes");
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    folder.write("ws/my_robot/meshes/a.obj", obj);
    folder.write("ws/renamed/package.xml", "<package><name>other_robot</name></package>");
    folder.write("ws/renamed/meshes/b.obj", obj);
    folder.write("ws/my_robot/meshes/flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    folder.write("ws/my_robot/meshes/empty.stl", "");
    folder.write("elsewhere/third/c.obj", obj);
    let options = UrdfOptions { package_paths: vec![folder.0.join("elsewhere")], ..UrdfOptions::default() };
    let load = |from: &str, mesh: &str, options: &UrdfOptions| {
        let mesh = format!("<collision><geometry><mesh {mesh}/></geometry></collision>");
        folder.write(from, &format!("<robot name='r'><link name='a'>{INERTIAL}{mesh}</link></robot>"));
        urdf::load(&folder.0.join(from), options).map_err(|e| e.to_string())
    };
    let inside = folder.0.join("ws/my_robot/meshes/a.obj");
    for (from, name) in [
        ("ws/my_robot/urdf/r.urdf", "package://my_robot/meshes/a.obj".to_string()),
        ("ws/my_robot/urdf/r.urdf", "model://my_robot/meshes/a.obj".into()),
        ("ws/my_robot/urdf/r.urdf", "../meshes/a.obj".into()),
        ("ws/my_robot/urdf/r.urdf", "..\\meshes\\a.obj".into()),
        ("ws/my_robot/urdf/r.urdf", format!("file://{}", inside.display())),
        ("ws/renamed/urdf/r.urdf", "package://other_robot/meshes/b.obj".into()),
        ("ws/renamed/urdf/r.urdf", "package://my_robot/meshes/a.obj".into()),
        ("ws/r.urdf", "package://third/c.obj".into()),
        ("ws/r.urdf", "third/c.obj".into()),
    ] {
        let d = load(from, &format!("filename='{name}' scale='2 2 -2'"), &options).unwrap();
        let ShapeKind::Hull { points } = d.geoms[0].geom.shape.kind() else { panic!("{name}: no hull") };
        assert_eq!((points.len(), points.iter().fold(0.0, |a: f64, p| a.min(p.z))), (4, -2.0), "{name}");
        assert!(has_note(&d, NoteKind::Changed, "convex hull"));
    }
    let copied = load("ws/my_robot/urdf/r.urdf", "filename='package://unknown/meshes/a.obj'", &options).unwrap();
    assert!(has_note(&copied, NoteKind::Changed, "there is no package \"unknown\""));
    let kept = UrdfOptions { keep_meshes: true, ..UrdfOptions::default() };
    let kept = load("ws/my_robot/r.urdf", "filename='meshes/a.obj'", &kept).unwrap();
    assert!(matches!(kept.geoms[0].geom.shape.kind(), ShapeKind::Mesh { triangles, .. } if triangles.len() == 4));
    let flat = load("ws/my_robot/r.urdf", "filename='meshes/flat.obj'", &options).unwrap();
    assert!(
        matches!(flat.geoms[0].geom.shape.kind(), ShapeKind::Mesh { .. }) && has_note(&flat, NoteKind::Changed, "flat")
    );
    for (mesh, text) in [
        ("filename='meshes/none.stl'", "there is no file"),
        ("filename='meshes/empty.stl'", "empty.stl: mesh: neither a text STL"),
        ("filename='meshes/a.obj' scale='1 0 1'", "scale must be finite and not 0"),
    ] {
        let message = load("ws/my_robot/r.urdf", mesh, &options).unwrap_err();
        assert!(
            message.contains("r.urdf:1:") && message.contains("<mesh filename>") && message.contains(text),
            "{message}"
        );
    }
}

#[test]
fn garbled_files_are_refused_or_usable() {
    let mut state = 11_u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let (mut loaded, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = ARM.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] = b"0123456789-+e.<>/\"= "[random(20)],
                2 => drop(bytes.drain(at..(at + 1 + random(20)).min(bytes.len()))),
                3 => {
                    let piece: Vec<u8> = bytes[at..(at + random(80)).min(bytes.len())].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ if random(10) == 0 => bytes.truncate(at.max(1)),
                _ => {}
            }
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(d) => {
                check_usable(&d);
                loaded += 1;
            }
            Err(message) => {
                assert!(!message.is_empty());
                refused += 1;
            }
        }
    }
    assert!(loaded > 200 && refused > 200, "{loaded} {refused}");
}

#[test]
fn optional_arguments_have_the_values_of_the_file() {
    let slide =
        joint("j", "prismatic", "a", "b", "<origin xyz='$(optenv PATH 0.19 0 1)'/><limit effort='1' velocity='1'/>");
    let d = parse(&robot(&["a", "b"], &slide)).unwrap();
    assert_eq!(d.links[1].frame.translation, Vec3::new(0.19, 0.0, 1.0));
    assert!(d.notes.iter().any(|n| n.element == "$(optenv)" && n.kind == NoteKind::Changed), "{:?}", d.notes);
    for broken in ["$(optenv", "$(optenv )", "$(optenv X)", "$(optenv X ", "$(optenv X (0)"] {
        let text = robot(&["a"], &format!("<link name='b'><inertial><mass value='{broken}'/></inertial></link>"));
        assert!(parse(&text).is_err(), "{broken}");
    }
}

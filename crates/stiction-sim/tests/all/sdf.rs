//! Models and worlds of Gazebo.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stiction_body::math::Vec3;
use stiction_body::{JointKind, ShapeKind, Workspace};
use stiction_sim::sdf::{self, SdfOptions};
use stiction_sim::{Description, NoteKind, Placement, Settings, Simulation, WorldBuilder};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn read(text: &str) -> Description {
    sdf::parse(text, &folder(), &SdfOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn simulation(d: &Description) -> Simulation {
    let mut builder = WorldBuilder::new();
    builder.add(d, &Placement::default()).unwrap();
    Simulation::new(Arc::new(builder.build().unwrap().0), Settings::default()).unwrap()
}

/// A double pendulum on a stand, whose links are turned and shifted against their joints, beside an included gripper.
const WORLD: &str = r#"<sdf version="1.9"><world name="lab"><gravity>0 0 -9.8</gravity>
  <physics type="ode"><max_step_size>0.002</max_step_size></physics>
  <model name="ground"><static>true</static><link name="floor"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry>
    <surface><friction><ode><mu>0.7</mu><mu2>0.7</mu2></ode></friction></surface></collision></link></model>
  <model name="pendulum"><pose>1 0 2 0 0 1.5707963267948966</pose>
    <frame name="pivot"><pose>0 0 0.5 0 0 0</pose></frame>
    <link name="upper"><pose relative_to="pivot">0 0 -0.25 0 0 0</pose>
      <inertial><mass>2</mass><pose>0 0 0.05 0 0 0</pose><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.001</izz></inertia></inertial>
      <collision name="c"><geometry><cylinder><radius>0.02</radius><length>0.5</length></cylinder></geometry></collision></link>
    <link name="lower"><pose relative_to="upper">0 0 -0.5 0 0 0</pose>
      <inertial><mass>1</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.001</izz></inertia></inertial>
      <collision name="c"><geometry><ellipsoid><radii>0.02 0.02 0.2</radii></ellipsoid></geometry></collision></link>
    <joint name="top" type="revolute"><pose relative_to="pivot"/><parent>world</parent><child>upper</child>
      <axis><xyz expressed_in="__model__">1 0 0</xyz><limit><lower>-1</lower><upper>1e16</upper></limit>
        <dynamics><damping>0.1</damping><friction>0.2</friction></dynamics></axis></joint>
    <joint name="elbow" type="universal"><pose>0 0 0.25 0 0 0</pose><parent>upper</parent><child>lower</child>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  </model>
  <include><uri>gripper.sdf</uri><name>left</name><pose>0 3 1 0 0 0</pose></include>
  <light name="sun"/></world></sdf>"#;

#[test]
fn frames_joints_and_included_models() {
    let d = read(WORLD);
    let names: Vec<&str> = d.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(
        names,
        ["ground::floor", "pendulum::upper", "pendulum::elbow/1", "pendulum::lower", "left::palm", "left::finger"]
    );
    assert_eq!((d.gravity, d.dt), (Some(Vec3::new(0.0, 0.0, -9.8)), Some(0.002)));
    let link = |name: &str| &d.links[d.link(name).unwrap()];
    let JointKind::Revolute { axis } = link("pendulum::upper").kind else {
        panic!("{:?}", link("pendulum::upper").kind)
    };
    assert!((axis - Vec3::X).length() < 1e-12);
    let p = link("pendulum::upper").properties;
    assert_eq!((p.limits, p.damping, p.friction), ([-1.0, f64::INFINITY], 0.1, 0.2));
    let plane = d.geoms.iter().find(|g| g.geom.link.is_none()).unwrap();
    assert!(matches!(plane.geom.shape.kind(), ShapeKind::HalfSpace) && plane.material.mu == 0.7);
    assert_eq!(d.geoms.iter().find(|g| g.geom.name == "left::finger/c").unwrap().material.mu, 1.0);
    assert_eq!(link("left::finger").properties.limits, [-0.02, 0.02]);
    assert!(d.notes.iter().any(|n| n.kind == NoteKind::Ignored && n.element.contains("light")), "{:?}", d.notes);

    // Centres of mass at the start, by hand.
    let sim = simulation(&d);
    let model = &sim.world().model;
    let mut work = Workspace::default();
    work.update_positions(model, &sim.state().q);
    let com = |name: &str| {
        let i = model.link(name).unwrap();
        work.pose[i].transform_point(model.links()[i].spec.inertia.com)
    };
    for (name, expected) in [
        ("pendulum::upper", Vec3::new(1.0, 0.0, 2.3)),
        ("pendulum::lower", Vec3::new(1.0, 0.0, 1.75)),
        ("left::palm", Vec3::new(0.0, 3.0, 1.0)),
        ("left::finger", Vec3::new(0.0, 3.03, 1.05)),
    ] {
        assert!((com(name) - expected).length() < 1e-12, "{name} is at {}", com(name));
    }
}

#[test]
fn a_pendulum_swings_as_it_must_and_the_gripper_falls() {
    let d = read(&WORLD.replace("<friction>0.2</friction>", "").replace("<damping>0.1</damping>", ""));
    let mut sim = simulation(&d);
    let energy = |sim: &mut Simulation| sim.energy().0 + sim.energy().1;
    let start = energy(&mut sim);
    for _ in 0..100 {
        sim.step().unwrap();
    }
    assert!((energy(&mut sim) - start).abs() < 0.2, "{} J", energy(&mut sim) - start);
    let palm = &sim.world().model.links()[sim.world().model.link("left::palm").unwrap()];
    assert!((sim.state().v[palm.v.start + 2] + 9.81 * 0.1).abs() < 1e-3, "{:?}", sim.state().v);
}

#[test]
fn malformed_files_name_the_place() {
    let broken = |from: &str, to: &str| {
        assert!(WORLD.contains(from), "{from}");
        sdf::parse(&WORLD.replacen(from, to, 1), &folder(), &SdfOptions::default()).unwrap_err().to_string()
    };
    for (from, to, message) in [
        ("relative_to=\"upper\"", "relative_to=\"uper\"", "there is no frame \"uper\""),
        ("relative_to=\"pivot\">0 0 -0.25", "relative_to=\"lower\">0 0 -0.25", "in a circle"),
        ("<parent>upper</parent>", "<parent>uper</parent>", "there is no link \"pendulum::uper\""),
        ("type=\"universal\"", "type=\"screw\"", "screw joints are not supported"),
        ("type=\"universal\"", "type=\"univrsal\"", "did you mean \"universal\""),
        ("gripper.sdf", "griper.sdf", "griper.sdf"),
        ("<mass>2</mass>", "<mass>-2</mass>", "a mass must be above 0"),
        ("<radius>0.02</radius>", "<radius>x</radius>", "expected a number"),
        ("1 0 2 0 0 1.5707963267948966", "1 0 2 0", "expected 6 numbers"),
        ("<link name=\"lower\">", "<link name=\"upper\">", "there is another link of that name"),
        ("<static>true</static>", "", "a plane must be on a static model"),
    ] {
        let error = broken(from, to);
        assert!(error.contains(message), "{from} → {to}: {error}");
    }
    // A file that includes itself.
    let own = std::env::temp_dir().join(format!("stiction-sdf-{}", std::process::id()));
    std::fs::create_dir_all(&own).unwrap();
    let file = own.join("self.sdf");
    let text = "<sdf><model name='m'><link name='l'/><include><uri>self.sdf</uri></include></model></sdf>";
    std::fs::write(&file, text).unwrap();
    let error = sdf::load(&file, &SdfOptions::default()).unwrap_err().to_string();
    std::fs::remove_dir_all(&own).unwrap();
    assert!(error.contains("include itself"), "{error}");
    for text in ["<sdf/>", "<sdf version='1.6'><model name='m'/></sdf>", "<model/>", "<sdf><model>"] {
        assert!(sdf::parse(text, &folder(), &SdfOptions::default()).is_err(), "{text}");
    }
}

//! Colours and what is only drawn: read from every kind of file, and without any effect on a simulation.

use stiction_body::ShapeKind;
use stiction_body::math::Vec3;
use stiction_sim::looks::{Visual, VisualShape, default_color};
use stiction_sim::mjcf::MjcfOptions;
use stiction_sim::urdf::UrdfOptions;
use stiction_sim::{Description, NoteKind, Scene, Simulation, mjcf, urdf};

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A folder of its own with a good and a broken mesh.
fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("stiction-looks-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("good.obj"), TETRAHEDRON).unwrap();
    std::fs::write(path.join("broken.obj"), "v 0 0\nf 1 2 3\n").unwrap();
    path
}

fn noted(d: &Description, text: &str) -> bool {
    d.notes.iter().any(|n| n.kind == NoteKind::Warning && n.text.contains(text))
}

fn triangles(visual: &Visual) -> usize {
    visual.shape.triangulated(8, 1.0).triangles.len()
}

#[test]
fn urdf_visuals_have_shapes_and_colors() {
    let folder = folder("urdf");
    let visual = |geometry: &str, more: &str| format!("<visual><geometry>{geometry}</geometry>{more}</visual>");
    let text = format!(
        "<robot name='r'><material name='steel'><color rgba='.1 .2 .3 1'/></material><link name='a'>
           <inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
           <collision><geometry><sphere radius='1'/></geometry></collision>{}{}{}{}{}</link></robot>",
        visual("<box size='1 2 3'/>", "<origin xyz='1 0 0'/><material name='steel'/>"),
        visual("<mesh filename='good.obj' scale='2 2 2'/>", "<material><color rgba='1 0 0 .5'/></material>"),
        visual("<mesh filename='broken.obj'/>", ""),
        visual("<mesh filename='missing.obj'/>", ""),
        visual("<bx size='1 1 1'/>", "<material><color rgba='red'/></material>"),
    );
    let d = urdf::parse(&text, &folder, &UrdfOptions::default()).unwrap();
    assert_eq!(d.visuals.len(), 2);
    assert_eq!(d.visuals[0].look.rgba, Some([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(d.visuals[0].pose.translation, Vec3::X);
    assert_eq!(d.visuals[1].look.rgba, Some([1.0, 0.0, 0.0, 0.5]));
    assert_eq!(triangles(&d.visuals[1]), 4);
    assert!(!d.geoms[0].look.drawn, "the collision shape is not drawn where there are others");
    for text in ["broken.obj", "missing.obj", "there is no such shape", "finite numbers"] {
        assert!(noted(&d, text), "no note with {text} in {:#?}", d.notes);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mjcf_visuals_have_shapes_colors_and_groups() {
    let folder = folder("mjcf");
    let text = r#"<mujoco><asset><mesh name="good" file="good.obj"/><mesh name="gone" file="gone.obj"/><mesh name="broken" file="broken.obj"/>
        <texture name="t" builtin="checker" rgb1="1 0 0" rgb2="0 0 1"/><material name="m" texture="t"/><material name="n" rgba=".1 .2 .3 .4"/></asset>
        <default><default class="v"><geom contype="0" conaffinity="0" group="2" mass="0"/></default></default>
        <worldbody><geom type="plane" size="1 1 1" material="m"/>
          <body name="seen"><freejoint/><geom size=".1" group="3"/><geom class="v" type="mesh" mesh="good" material="n"/>
            <geom class="v" type="mesh" mesh="gone"/><geom class="v" type="mesh" mesh="broken"/>
            <geom class="v" type="ellipsoid" size="1 2 3" rgba="0 1 0 1"/></body>
          <body name="bare"><freejoint/><geom size=".1" group="3"/></body>
          <body name="own"><freejoint/><geom type="mesh" mesh="good"/></body></worldbody></mujoco>"#;
    let d = mjcf::parse(text, &folder, &MjcfOptions::default()).unwrap();
    let colors: Vec<_> = d.visuals.iter().map(|v| v.look.rgba.unwrap()).collect();
    assert_eq!(colors, [[0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]]);
    assert_eq!(d.visuals[1].shape, VisualShape::Ellipsoid { radii: Vec3::new(1.0, 2.0, 3.0) });
    assert_eq!((triangles(&d.visuals[0]), triangles(&d.visuals[2])), (4, 4));
    assert_eq!(d.geoms[0].look.rgba, Some([0.5, 0.0, 0.5, 1.0]));
    // The plane; a group that is not shown, twice; a hull, whose mesh is shown.
    let drawn = |d: &Description| d.geoms.iter().map(|g| g.look.drawn).collect::<Vec<_>>();
    assert_eq!(drawn(&d), [true, false, false, false]);
    let bare = r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body><freejoint/><geom size=".1" group="3"/><geom size=".1" group="3" rgba="1 1 1 0"/></body></worldbody></mujoco>"#;
    let bare = mjcf::parse(bare, &folder, &MjcfOptions::default()).unwrap();
    assert_eq!(drawn(&bare), [true, true, false], "where nothing else is to be seen, what touches is");
    assert!(noted(&d, "gone.obj") && noted(&d, "broken.obj"), "{:#?}", d.notes);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn scenes_have_colors_and_the_meshes_of_hulls() {
    let folder = folder("scene");
    let body = |name: &str, more: &str| format!("[[bodies]]\nname = \"{name}\"\nmass = 1\n{more}\n");
    let text = body("mesh", "color = [1, 0, 0]\nshape = { mesh = \"good.obj\" }")
        + &body("ball", "position = [9, 0, 0]\nshape = { sphere = 0.1, color = [0, \"= 1/2\", 0, 0.5] }")
        + &body("plain", "position = [0, 9, 0]\nshape = { sphere = 0.1 }");
    let world = Scene::parse(&text, &folder, &[]).unwrap().world;
    let colors: Vec<_> = (0..3).map(|g| world.geom_color(g)).collect();
    assert_eq!(colors, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 0.5], default_color(Some(2))]);
    assert_eq!(world.looks.iter().map(|l| l.drawn).collect::<Vec<_>>(), [false, true, true]);
    assert!(matches!(world.geoms[0].shape.kind(), ShapeKind::Hull { .. }));
    assert_eq!((world.visuals.len(), world.visuals[0].link, triangles(&world.visuals[0])), (1, Some(0), 4));
    for (color, message) in [("[1, 2, 0]", "from 0 to 1"), ("[1, 0]", "expected 3 or 4"), ("\"red\"", "a list")] {
        let text = body("b", &format!("color = {color}\nshape = {{ sphere = 1 }}"));
        let error = Scene::parse(&text, &folder, &[]).unwrap_err().to_string();
        assert!(error.contains("color") && error.contains(message), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn looks_change_no_bit_of_a_simulation() {
    let folder = folder("bits");
    let run = |visuals: &str| {
        let robot = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
              <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1"/>{visuals}</body></worldbody></mujoco>"#
        );
        std::fs::write(folder.join("robot.xml"), robot).unwrap();
        let scene = Scene::parse("[[robots]]\nfile = \"robot.xml\"\n", &folder, &[]).unwrap();
        let mut simulation: Simulation = scene.simulation().unwrap();
        for _ in 0..400 {
            simulation.step().unwrap();
        }
        (simulation.state().hash(), simulation.world().visuals.len())
    };
    let drawn = r#"<geom type="ellipsoid" size="1 1 2" contype="0" conaffinity="0" mass="0" rgba="1 0 0 1"/>"#;
    let ((plain, none), (with, one)) = (run(""), run(drawn));
    assert_eq!((plain, none, one), (with, 0, 1));
    std::fs::remove_dir_all(folder).unwrap();
}

//! What is wrong in a scene is said in one message with its place; nothing panics.

use std::path::Path;

use stiction_sim::{Description, Placement, Scene, SceneError, WorldBuilder, mjcf, urdf};

const GOOD: &str = r#"
dt = 0.001
[parameters]
n = 2
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "box{i}"
repeat = "i = 1..n"
mass = 1.0
position = [0, 0, "= 0.1 * i"]
shape = { box = [0.1, 0.1, 0.1] }
[[controllers]]
type = "wrench"
body = "box1"
force = [0, 0, "= sin(t)"]
"#;

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(text, Path::new("."), &[]).map_err(|e| e.to_string())
}

#[test]
fn a_text_that_would_fill_the_memory_is_refused() {
    let refusal = |text: String| parse(&text).unwrap_err();
    assert!(refusal(format!("title = \"{}\"", "a".repeat(1 << 24))).contains("larger than 16 MiB"));
    for many in ["[[b]]\n", "a = 0\n", "a.b = 0\n"] {
        let message = refusal(many.repeat((1 << 20) + 1));
        assert!(message.contains("keys, values and lines"), "{message}");
    }
    // Numbers by the hundred thousand are read: only the key is unknown.
    assert!(refusal(format!("x = [{}]", "0.5,".repeat(200_000))).contains("unknown key"));
}

#[test]
fn the_good_one_is_good() {
    let scene = parse(GOOD).unwrap();
    assert_eq!((scene.world.model.links().len(), scene.world.geoms.len()), (2, 3));
    assert_eq!(scene.parameters, [("n".to_string(), 2.0)]);
    let more = Scene::parse(GOOD, Path::new("."), &[("n".into(), 5.0)]).unwrap();
    assert_eq!(more.world.model.links().len(), 5);
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (from, to, parts) in [
        ("dt = 0.001", "dt = 0", &["dt", "above 0"][..]),
        ("dt = 0.001", "dt = nan", &["dt", "not a number"]),
        ("dt = 0.001", "gravty = [0, 0, 0]", &["gravty", "unknown key", "gravity"]),
        ("dt = 0.001", "dt = \"fast\"", &["dt", "a number", "fast"]),
        ("dt = 0.001", "model = \"coulomb-con\"", &["model", "coulomb-cone"]),
        ("dt = 0.001", "model = \"coulomb-pyramid\"\nduration = -1", &["duration", "at least 0"]),
        ("mass = 1.0", "mass = -1.0", &["bodies[1].mass", "above 0", "-1"]),
        ("mass = 1.0", "mass = 1e300", &["bodies[1].mass", "1e50"]),
        ("mass = 1.0", "mass = 1e-310", &["bodies[1].mass", "1e-50", "found 1e-310"]),
        ("mass = 1.0", "density = 1e80", &["bodies[1].density", "1e50"]),
        ("\"= 0.1 * i\"", "1e90", &["position", "1e50"]),
        ("[0.1, 0.1, 0.1]", "[1e80, 0.1, 0.1]", &["box", "1e50"]),
        ("dt = 0.001", "dt = 1e-300", &["dt", "1e-50", "found 1e-300"]),
        ("dt = 0.001", "gravity = [0, 0, -1e200]", &["gravity", "1e50"]),
        ("mass = 1.0", "", &["bodies[1].mass", "missing"]),
        ("mass = 1.0", "mas = 1.0", &["bodies[1].mas"]),
        ("mass = 1.0", "mass = 1.0\norientation = [1, 1, 0, 0]", &["orientation", "unit length"]),
        ("mass = 1.0", "mass = 1.0\nfriction = -0.1", &["friction", "at least 0"]),
        ("mass = 1.0", "mass = 1.0\nparent = \"box9\"", &["parent", "no body called \"box9\""]),
        ("mass = 1.0", "mass = 1.0\njoint = { type = \"hinge\" }", &["joint.type", "revolute"]),
        ("mass = 1.0", "mass = 1.0\njoint = { type = \"revolute\", axis = [0, 0, 0] }", &["axis", "zero"]),
        ("[0.1, 0.1, 0.1]", "[0.1, 0.1, 0.0]", &["box", "above 0"]),
        ("[0.1, 0.1, 0.1]", "[0.1, 0.1]", &["box", "3 numbers"]),
        ("{ box = [0.1, 0.1, 0.1] }", "{ mesh = \"nowhere.stl\" }", &["mesh", "nowhere.stl"]),
        ("{ box = [0.1, 0.1, 0.1] }", "{ plane = true }", &["fixed = true"]),
        ("\"= 0.1 * i\"", "\"= 0.1 * k\"", &["position", "\"k\"", "i, n"]),
        ("\"= 0.1 * i\"", "\"= 0.1 * \"", &["position", "ends too early"]),
        ("\"i = 1..n\"", "\"i = 1..1e9\"", &["repeat", "100000"]),
        ("\"i = 1..n\"", "\"i 1 n\"", &["repeat", "name = first..last"]),
        ("name = \"box{i}\"", "name = \"box\"", &["two bodies called \"box\""]),
        ("body = \"box1\"", "body = \"bx1\"", &["controllers[0].body", "did you mean \"box1\""]),
        ("type = \"wrench\"", "type = \"push\"", &["controllers[0].type", "wrench"]),
        ("\"= sin(t)\"", "\"= sin(x)\"", &["force", "\"x\""]),
        ("[[controllers]]", "[[controllers", &[":"]),
        ("name = \"ground\"", "file = \"x.urdf\"", &["name", "missing"]),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        let message = parse(&text).expect_err(to);
        for part in parts {
            assert!(message.contains(part), "{to}: {message:?} lacks {part:?}");
        }
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn lines_and_columns_are_right() {
    let error = Scene::parse("dt = 0.001\nduration = -1\n", Path::new("."), &[]).unwrap_err();
    assert_eq!(error.at, Some((2, 12)));
    let error = Scene::parse(GOOD, Path::new("."), &[("m".into(), 1.0)]).unwrap_err();
    assert!(error.to_string().contains("no parameter \"m\"; it has n"), "{error}");
}

#[test]
fn garbled_scenes_never_panic() {
    let mut seed = 12345u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let alphabet = b"[]{}=\"'.,0123456789-+eEinfatrue \n#_*()\\\xc3\xa9";
    for _ in 0..3000 {
        let mut bytes = GOOD.as_bytes().to_vec();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = alphabet[random(alphabet.len())],
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.insert(at, alphabet[random(alphabet.len())]),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(Ok(mut simulation)) = Scene::parse(&text, Path::new("."), &[]).map(|scene| scene.simulation()) {
            let _ = simulation.step();
        }
    }
}

#[test]
fn a_scene_with_nothing_in_it_is_an_error() {
    for text in ["", "title = \"nothing\"", "dt = 0.01\n[material]\nfriction = 0.3"] {
        let message = parse(text).expect_err(text);
        assert!(message.contains("nothing in this scene"), "{message}");
    }
}

/// Robot files have the same range of masses as scenes.
#[test]
fn robot_files_with_numbers_that_cannot_be_computed_with_are_refused() {
    let link = |mass: &str, length: &str| {
        format!(
            "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='{mass}'/><inertia ixx='1' iyy='1' izz='1' \
             ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='revolute'><parent link='a'/><child link='b'/>\
             <origin xyz='{length} 0 0'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"
        )
    };
    let body = |mass: &str, length: &str| {
        format!(
            "<mujoco><worldbody><body name='b' pos='{length} 0 0'><joint type='hinge'/><inertial pos='0 0 0' mass='{mass}' \
             diaginertia='1 1 1'/></body></worldbody></mujoco>"
        )
    };
    let build = |d: Result<Description, SceneError>| -> Result<(), String> {
        let mut builder = WorldBuilder::new();
        builder.add(&d.map_err(|e| e.to_string())?, &Placement::default()).map_err(|e| e.to_string())?;
        builder.build().map(|_| ()).map_err(|e| e.to_string())
    };
    for (mass, length) in [("1", "1"), ("1e300", "1"), ("1e-310", "1"), ("1", "1e80")] {
        let urdf = build(urdf::parse(&link(mass, length), Path::new("."), &urdf::UrdfOptions::default()));
        let mjcf = build(mjcf::parse(&body(mass, length), Path::new("."), &mjcf::MjcfOptions::default()));
        for result in [urdf, mjcf] {
            match result {
                Ok(()) => assert_eq!((mass, length), ("1", "1")),
                Err(e) => assert!(e.contains("1e50") && e.contains('b') && mass != length, "{mass} {length}: {e}"),
            }
        }
    }
}

/// So many balls all in one place.
fn crowd(count: usize) -> String {
    let body = "mass = 1\nshape = { sphere = 0.1 }";
    format!("[[bodies]]\nname = \"ball{{i}}\"\nrepeat = \"i = 1..{count}\"\n{body}")
}

#[test]
fn scenes_that_memory_has_no_room_for_are_refused() {
    let refused = |text: &str| match parse(text).and_then(|scene| scene.simulation().map_err(|e| e.to_string())) {
        Ok(_) => String::new(),
        Err(message) => message,
    };
    assert_eq!(refused(&crowd(50)), "");
    for count in [1000, 20_000] {
        assert!(refused(&crowd(count)).contains("too many geoms are near each other"));
    }
    let field = "{ height_field = { points = [2000, 2000], size = [1, 1], height = \"= x\" } }";
    let message = refused(&format!("[[bodies]]\nname = \"ground\"\nfixed = true\nshape = {field}"));
    assert!(message.contains("points") && message.contains("1048576"), "{message}");
}

/// A chain of so many hinges; each link has so many balls that lie on the ground.
fn chain(links: usize, balls: usize) -> String {
    let hinge = "joint = { type = \"revolute\", axis = [0, 1, 0] }\nmass = 1";
    let shapes =
        format!("shapes = [{{ repeat = \"k = 1..{balls}\", sphere = 0.01, position = [0, \"= 0.05 * k\", 0] }}]");
    let place = |i: usize| match i {
        0 => "position = [0, 0, 0.01]".to_string(),
        _ => format!("position = [0.1, 0, 0]\nparent = \"link{}\"", i - 1),
    };
    let link = |i: usize| format!("[[bodies]]\nname = \"link{i}\"\n{}\n{hinge}\n{shapes}\n", place(i));
    let ground = "[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n";
    ground.to_string() + &(0..links).map(link).collect::<String>()
}

#[test]
fn contacts_whose_rows_memory_has_no_room_for_are_refused() {
    let step = |balls: usize| {
        let mut simulation = parse(&chain(200, balls)).unwrap().simulation().map_err(|e| e.to_string())?;
        simulation.step().map(|report| report.contacts).map_err(|e| e.to_string())
    };
    assert_eq!(step(1), Ok(200));
    // 200 joints move each of 28,000 contacts along three directions: 16,800,000 entries, more than 2²⁴.
    assert!(step(140).unwrap_err().contains("too many geoms"));
}

#[test]
fn an_inertia_that_memory_has_no_room_for_is_refused() {
    // That of 2896 joints would have 8,386,816 entries, and 2²³ lies between.
    let message = parse(&chain(2897, 1)).unwrap().simulation().err().unwrap().to_string();
    assert!(message.contains("8392609 entries") && message.contains("8388608"), "{message}");
}

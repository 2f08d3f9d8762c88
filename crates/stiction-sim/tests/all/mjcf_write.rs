//! Scenes written as MJCF, and read again.

use std::path::{Path, PathBuf};

use stiction_body::Workspace;
use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{Placement, Scene, World, WorldBuilder};

fn shipped(name: &str, parameters: &[(&str, f64)]) -> Scene {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"));
    let parameters: Vec<_> = parameters.iter().map(|(name, x)| (name.to_string(), *x)).collect();
    Scene::load(&file, &parameters).unwrap()
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The world of what was written.
fn again(scene: &Scene) -> World {
    let text = mjcf::write(scene).unwrap();
    let description =
        mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut builder = WorldBuilder::new();
    builder.add(&description, &Placement::default()).unwrap();
    builder.build().unwrap().0
}

/// Name, place and inertia of each link with a name of the scene. (Velocities of key frames are not
/// read here; Python's tests look at them in MuJoCo.)
fn links(world: &World, names: &[String]) -> Vec<(String, Vec<f64>)> {
    let mut work = Workspace::default();
    work.update_positions(&world.model, &world.q);
    let links = world.model.links();
    let numbers = |l: usize| {
        let (pose, inertia) = (work.pose[l], links[l].spec.inertia);
        let turn = stiction_body::math::Mat3::from_quat(pose.rotation);
        let about = turn * inertia.about_com * turn.transpose();
        let com = pose * inertia.com;
        let mut all = vec![inertia.mass];
        for v in [pose.translation, turn.x_axis, turn.y_axis, com, about.x_axis, about.y_axis, about.z_axis] {
            all.extend(v.to_array());
        }
        all
    };
    let find = |name: &String| links.iter().position(|l| l.spec.name == *name).unwrap_or_else(|| panic!("no {name}"));
    names.iter().map(|name| (name.clone(), numbers(find(name)))).collect()
}

fn same(scene: &Scene) {
    let names: Vec<String> = scene.world.model.links().iter().map(|l| l.spec.name.clone()).collect();
    let read = again(scene);
    for ((name, a), (_, b)) in links(&scene.world, &names).iter().zip(&links(&read, &names)) {
        let scale = a.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-9 * scale), "{name}:\n{a:?}\n{b:?}");
    }
    // What touches nothing is only drawn when it is read.
    let surfaces = |world: &World| {
        let touching = (0..world.geoms.len()).filter(|&i| world.can_touch(i));
        let mut all: Vec<_> = touching
            .map(|i| {
                let (g, m) = (&world.geoms[i], &world.surfaces.of[i]);
                (g.shape.kind().name(), g.groups, g.collides_with, m.mu.to_bits(), m.mu_spin.to_bits())
            })
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(surfaces(&read), surfaces(&scene.world));
}

#[test]
fn shipped_scenes_come_back() {
    for (name, parameters) in [
        ("stack", &[("n", 3.0)][..]),
        ("pyramid", &[]),
        ("wall", &[]),
        ("slide", &[]),
        ("incline", &[]),
        ("heap", &[("n", 6.0), ("kind", 6.0)]),
        ("chain", &[]),
    ] {
        same(&shipped(name, parameters));
    }
}

#[test]
fn joints_of_every_kind_come_back() {
    let body = |name: &str, joint: &str, more: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmass = 2\nposition = [1, 2, 3]\nrpy = [0.3, -0.4, 0.5]\nshape = {{ box = [0.1, 0.2, 0.3] }}\n{joint}\n{more}\n"
        )
    };
    let joint = |kind: &str, more: &str| format!("joint = {{ type = \"{kind}\", axis = [0.6, 0, 0.8]{more} }}");
    same(&scene(&body("a \\\"<b>\\\" & c", "", "velocity = [1, 2, 3]\nangular_velocity = [3, -2, 1]")));
    same(&scene(&body("hinge", &joint("revolute", ", position = 0.4, velocity = 2"), "")));
    same(&scene(&body("slide", &joint("prismatic", ", limits = [-1, 2], position = 0.5, velocity = -3"), "")));
    same(&scene(&body("planar", &joint("planar", ""), "")));
    same(&scene(&body("ball", "joint = { type = \"spherical\" }", "")));
}

#[test]
fn what_mujoco_has_no_equal_of_is_refused() {
    let body = |more: &str| format!("[[bodies]]\nname = \"a\"\nmass = 1\n{more}\n");
    let floor = "[[bodies]]\nname = \"floor\"\nfixed = true\nfriction = 0.2\nshape = { plane = true }\n";
    for (text, expected) in [
        (body("restitution = 0.5\nshape = { sphere = 1 }"), "a: restitution cannot be written as MJCF"),
        (body("friction = inf\nshape = { sphere = 1 }"), "infinite friction"),
        (
            format!("{floor}{}", body("friction = 0.8\nposition = [0, 0, 2]\nshape = { sphere = 1 }")),
            "floor and a: friction that is not the larger",
        ),
    ] {
        let message = mjcf::write(&scene(&text)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = mjcf::write(&shipped("grasp", &[])).unwrap_err().to_string();
    assert!(message.contains("controllers"), "{message}");
    // The rule of MuJoCo itself is fine.
    let text = format!(
        "friction_rule = \"maximum\"\n{floor}{}",
        body("friction = 0.8\nposition = [0, 0, 2]\nshape = { sphere = 1 }")
    );
    same(&scene(&text));
}

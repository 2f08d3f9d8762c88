//! Physical parameters that change, what can be read of a step, rays and distances, bodies in any order.

use stiction_body::math::Vec3;
use stiction_sim::{PhysicalLayout, PhysicalPart, Scene, Simulation};

const CUBE: &str = r#"
dt = 0.001
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "cube"
mass = 1.0
position = [0, 0, 0.1]
shape = { box = [0.2, 0.2, 0.2] }
"#;

fn simulation(text: &str) -> Simulation {
    Scene::parse(text, ".".as_ref(), &[]).unwrap().simulation().unwrap()
}

fn set(sim: &mut Simulation, part: PhysicalPart, i: usize, x: f64) {
    let mut row = sim.physical();
    row[PhysicalLayout::new(sim.world()).range(part).start + i] = x;
    sim.set_physical(&row).unwrap();
}

#[test]
fn numbers_that_do_not_change_change_nothing() {
    let (mut a, mut b) = (simulation(CUBE), simulation(CUBE));
    let row = a.physical();
    a.set_physical(&row).unwrap();
    assert!(a.physical_changes().is_empty());
    for _ in 0..20 {
        a.step().unwrap();
        b.step().unwrap();
        assert_eq!(a.state().hash(), b.state().hash());
    }
}

#[test]
fn what_rests_wakes_and_goes_back_to_rest_with_its_own_numbers() {
    let mut sim = simulation(CUBE);
    for _ in 0..10 {
        sim.step().unwrap();
    }
    assert!(sim.is_asleep());
    set(&mut sim, PhysicalPart::Gravity, 0, 8.0);
    sim.step().unwrap();
    assert!(!sim.is_asleep() && (sim.state().v[0] - 1e-3 * (8.0 - 0.5 * 9.81)).abs() < 1e-12, "{:?}", sim.state().v);
    assert_eq!(sim.physical_changes(), [(0, 8.0)]);
    sim.set_physical_changes(&[]).unwrap();
    for _ in 0..10 {
        sim.step().unwrap();
    }
    assert_eq!(sim.state().v[0], 0.0);
}

#[test]
fn saved_states_and_snapshots_have_the_numbers() {
    let (mut a, mut b) = (simulation(CUBE), simulation(CUBE));
    set(&mut a, PhysicalPart::Mass, 0, 5.0);
    set(&mut a, PhysicalPart::Friction, 1, 0.1);
    for _ in 0..5 {
        a.step().unwrap();
    }
    b.load_state(&a.save_state()).unwrap();
    assert_eq!(a.physical(), b.physical());
    set(&mut a, PhysicalPart::Gravity, 1, 9.0);
    set(&mut b, PhysicalPart::Gravity, 1, 9.0);
    (0..20).for_each(|_| assert!(a.step().is_ok() && b.step().is_ok()));
    assert_eq!(a.state().hash(), b.state().hash());
    let mut c = simulation(CUBE);
    c.restore(&a.snapshot()).unwrap();
    assert_eq!(c.physical_changes(), a.physical_changes());
    c.restore(&simulation(CUBE).snapshot()).unwrap();
    assert!(c.physical_changes().is_empty());
}

#[test]
fn numbers_that_cannot_be_are_refused_and_nothing_changes() {
    let mut sim = simulation(CUBE);
    let layout = PhysicalLayout::new(sim.world());
    for (part, x) in [
        (PhysicalPart::Mass, 0.0),
        (PhysicalPart::Mass, f64::NAN),
        (PhysicalPart::Inertia, -1.0),
        (PhysicalPart::Friction, -1.0),
        (PhysicalPart::Restitution, 2.0),
        (PhysicalPart::Gravity, f64::INFINITY),
        (PhysicalPart::Damping, 0.1),
    ] {
        let mut row = sim.physical();
        row[layout.range(part).start] = x;
        assert!(sim.set_physical(&row).is_err(), "{part:?} {x}");
        assert!(sim.physical_changes().is_empty());
    }
    assert!(sim.set_physical(&[1.0]).is_err());
    assert!(sim.set_physical_changes(&[(1_000_000, 1.0)]).is_err());
    sim.step().unwrap();
}

#[test]
fn a_ray_meets_a_sphere_where_it_should() {
    let mut sim = simulation(
        "[[bodies]]\nname = \"ball\"\nmass = 1\nposition = [1, 2, 3]\nshape = { sphere = 0.5 }\n[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }",
    );
    let rays = [(Vec3::new(1.0, 2.0, 10.0), -Vec3::Z), (Vec3::new(5.0, 2.0, 10.0), -2.0 * Vec3::Z), (Vec3::Z, Vec3::Z)];
    let hits = sim.cast_rays(&rays, f64::INFINITY, |_| false).unwrap();
    assert!((hits[0].unwrap().distance - 6.5).abs() < 1e-14 && hits[0].unwrap().normal == Vec3::Z);
    assert!((hits[1].unwrap().distance - 10.0).abs() < 1e-14 && hits[2].is_none());
    assert!(sim.cast_rays(&[(Vec3::ZERO, Vec3::ZERO)], 1.0, |_| false).is_err());
    assert!(sim.cast_rays(&rays, -1.0, |_| false).is_err());
    let found = sim.nearest(&[0], &[1]).unwrap().separation;
    assert!((found.distance - 2.5).abs() < 1e-14 && (found.points[1] - Vec3::new(1.0, 2.0, 0.0)).length() < 1e-14);
}

#[test]
fn bodies_may_stand_in_any_order_and_a_cycle_is_called_one() {
    let body = |name: &str, parent: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nparent = \"{parent}\"\nmass = 1\njoint = \"revolute\"\nshape = {{ sphere = 0.1 }}\n"
        )
    };
    let root = "[[bodies]]\nname = \"a\"\nmass = 1\njoint = \"fixed\"\nshape = { sphere = 0.1 }\n";
    let any = [body("c", "b"), body("b", "a"), root.into()].concat();
    let model = Scene::parse(&any, ".".as_ref(), &[]).unwrap().world.model.clone();
    let names: Vec<&str> = model.links().iter().map(|l| l.spec.name.as_str()).collect();
    assert_eq!((names, model.nv()), (vec!["a", "b", "c"], 2));
    let e = Scene::parse(&[body("x", "z"), body("y", "x"), body("z", "y")].concat(), ".".as_ref(), &[]).unwrap_err();
    assert!(e.to_string().contains("a cycle: \"x\" hangs on \"z\" hangs on \"y\" hangs on \"x\""), "{e}");
    let e = Scene::parse(&body("x", "nobody"), ".".as_ref(), &[]).unwrap_err();
    assert!(e.to_string().contains("there is no body called \"nobody\""), "{e}");
}

#[test]
fn messages_speak_of_what_was_written() {
    let wrong = |text: &str| Scene::parse(text, ".".as_ref(), &[]).unwrap_err().to_string();
    let e = wrong("[[bodies]]\nname = \"a\"\nmass = 1\nshape = { box = [0.2, -0.4, 0.2] }");
    assert!(e.contains("-0.4"), "{e}");
    let e = wrong("[[bodies]]\nnmae = \"a\"\nmass = 1\nshape = { sphere = 1 }");
    assert!(e.contains("\"nmae\""), "{e}");
    let two = "[[bodies]]\nname = \"a\"\nmass = 1\njoint = \"revolute\"\nshape = { sphere = 1 }\n[[controllers]]\ntype = \"motion\"\njoint = \"a\"\nposition = 0\n[[controllers]]\ntype = \"servo\"\njoint = \"a\"\nkp = 1";
    assert!(wrong(two).contains("motion"), "{}", wrong(two));
}

#[test]
fn velocities_of_one_joint_agree_on_its_limits() {
    let mut sim = simulation(CUBE);
    for (part, name) in
        [(PhysicalPart::JointLimits, "joint_limits[1]"), (PhysicalPart::EffortLimits, "effort_limits[1]")]
    {
        let mut row = sim.physical();
        row[PhysicalLayout::new(sim.world()).range(part).start + 3] = 2.0;
        let error = sim.set_physical(&row).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("cube"), "{error}");
        assert!(sim.physical_changes().is_empty());
    }
}

#[test]
fn states_go_over_between_joints_of_one_kind_only() {
    let arm = |kind: &str| {
        let joint = format!("joint = {{ type = \"{kind}\", axis = [0, 1, 0], position = 0.25 }}");
        simulation(&format!("[[bodies]]\nname = \"arm\"\nmass = 1.0\nshape = {{ sphere = 0.1 }}\n{joint}\n"))
    };
    let (mut same, mut other) = (arm("revolute"), arm("prismatic"));
    let mut turned = arm("revolute");
    turned.set_state(&[1.0], &[2.0]).unwrap();
    same.carry_from(&turned).unwrap();
    other.carry_from(&turned).unwrap();
    assert_eq!((same.state().q[0], same.state().v[0]), (1.0, 2.0));
    assert_eq!((other.state().q[0], other.state().v[0]), (0.25, 0.0));
}

//! Equality constraints that are switched on and off while a simulation runs. Figures are MuJoCo's (3.x, the same file and step).

use std::path::Path;
use std::sync::Arc;
use stiction_contact::ModelKind;

use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::recording::{Header, Origin, replay};
use stiction_sim::{
    CLOSED, Placement, Recorder, Recording, Scene, Settings, Simulation, SimulatorKind, Switch, WorldBuilder,
};

const SWITCHED: &str = r#"<mujoco><option timestep="0.001"/><worldbody>
  <body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="arm" pos="1 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.5" mass="1"/></body>
  <body name="arm2" pos="2 0 1"><joint name="b" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.5" mass="1"/></body>
  </worldbody><equality>
  <weld name="w" body1="world" body2="box" active="false"/>
  <joint name="j" joint1="b" joint2="a" polycoef="0.3 0.5 0 0 0" active="false"/>
  <connect name="c" body1="box" anchor=".1 0 0" active="false"/>
  </equality></mujoco>"#;

fn scene(text: &str) -> Scene {
    let description = mjcf::parse(text, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut builder = WorldBuilder::new();
    builder.add(&description, &Placement::default()).unwrap();
    let settings = Settings { dt: description.dt.unwrap(), ..Settings::default() };
    let mut scene =
        Scene::parse("[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }", Path::new("."), &[])
            .unwrap();
    (scene.world, scene.settings) = (Arc::new(builder.build().unwrap().0), settings);
    scene
}

fn simulation(text: &str) -> Simulation {
    scene(text).simulation().unwrap()
}

fn run(sim: &mut Simulation, steps: u64) {
    for _ in 0..steps {
        sim.step().unwrap_or_else(|e| panic!("{}", e.why));
    }
}

fn switch(sim: &mut Simulation, name: &str, active: bool) {
    let i = sim.world().equality(name).unwrap();
    sim.set_equality_active(i, active).unwrap();
}

fn to(sim: &mut Simulation, step: u64) {
    let made = sim.state().step;
    run(sim, step - made);
}

#[test]
fn a_weld_that_is_switched_on_pulls_as_in_mujoco_and_then_is_rigid() {
    let mut sim = simulation(SWITCHED);
    assert_eq!(sim.equality_active().collect::<Vec<_>>(), [false; 3]);
    let mut q = sim.state().q.clone();
    (q[0], q[2], q[3], q[5], q[7]) = (0.3, 1.2, 0.2f64.cos(), 0.2f64.sin(), 0.4);
    let v = sim.state().v.clone();
    sim.set_state(&q, &v).unwrap();
    switch(&mut sim, "w", true);
    switch(&mut sim, "j", true);
    // Step, x, z and turn of the box, the two joints.
    let figures = [
        (5, [0.29020, 1.19346, 0.19296, 0.39350, 0.01267]),
        (10, [0.26964, 1.17974, 0.18059, 0.37968, 0.03941]),
        (20, [0.21607, 1.14399, 0.14688, 0.34292, 0.10947]),
        (40, [0.11846, 1.07886, 0.08122, 0.27215, 0.23740]),
        (80, [0.02767, 1.01827, 0.01687, 0.18948, 0.34927]),
    ];
    for (step, expected) in figures {
        to(&mut sim, step);
        let q = &sim.state().q;
        for (found, expected) in [q[0], q[2], q[5], q[7], q[8]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 4e-3, "step {step}: {found}, MuJoCo {expected}");
        }
    }
    to(&mut sim, 400);
    // MuJoCo's weld gives way to the weight by 3.7e-4 m.
    let q = &sim.state().q;
    assert_eq!(sim.switches(), [Switch::On, Switch::On, Switch::Off]);
    assert!(q[0].abs() < 1e-12 && (q[2] - 1.0).abs() < 1e-12 && q[5].abs() < 1e-12, "{q:?}");
    assert!((q[8] - 0.3 - 0.5 * q[7]).abs() < 1e-12);
    assert!((q[7] + 0.2886).abs() < 0.03, "{}", q[7]);
    switch(&mut sim, "w", false);
    run(&mut sim, 100);
    assert!((sim.state().q[2] - 1.0 + 0.5 * 9.81 * 0.01).abs() < 1e-3);
}

#[test]
fn a_point_is_pulled_as_in_mujoco() {
    let mut sim = simulation(SWITCHED);
    let (mut q, v) = (sim.state().q.clone(), sim.state().v.clone());
    (q[0], q[2]) = (0.1, 1.1);
    sim.set_state(&q, &v).unwrap();
    switch(&mut sim, "c", true);
    for (step, expected) in [(10, [0.09004, 1.09558, 0.02968]), (20, [0.07327, 1.08762, 0.08033])] {
        to(&mut sim, step);
        let q = &sim.state().q;
        for (found, expected) in [q[0], q[2], q[5]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 4e-3, "step {step}: {found}, MuJoCo {expected}");
        }
    }
}

#[test]
fn what_is_switched_off_falls_at_once_and_what_is_closed_is_rigid_at_once() {
    let text =
        SWITCHED.replace("\"w\" body1=\"world\" body2=\"box\" active=\"false\"", "\"w\" body1=\"world\" body2=\"box\"");
    let mut sim = simulation(&text);
    run(&mut sim, 5);
    assert!((sim.state().q[2] - 1.0).abs() < 1e-12);
    switch(&mut sim, "w", false);
    run(&mut sim, 1);
    assert!((sim.state().v[2] + 9.81e-3).abs() < 1e-12, "{:?}", sim.state().v);
    // Open by less than what counts as closed.
    switch(&mut sim, "w", true);
    run(&mut sim, 1);
    assert_eq!(sim.switches()[0], Switch::On);
    assert!((sim.state().q[2] - 1.0).abs() < 1e-12 && sim.state().v[2].abs() < 1e-12);
    assert!(sim.world().equality("W").unwrap_err().to_string().contains("\"w\""));
    assert!(sim.set_equality_active(3, true).is_err());
}

#[test]
fn switches_are_part_of_snapshots_saved_states_and_recordings() {
    let scene = scene(SWITCHED);
    let mut sim = scene.simulation().unwrap();
    let header = Header { inputs: true, ..Header::new(Origin::default(), &scene, 5) };
    let mut recorder = Recorder::new(Vec::new(), &header, &sim).unwrap();
    for step in 0..120 {
        match step {
            10 => switch(&mut sim, "w", true),
            60 => switch(&mut sim, "w", false),
            90 => switch(&mut sim, "j", true),
            _ => {}
        }
        recorder.before_step(&sim).unwrap();
        let report = sim.step().unwrap();
        recorder.step(&sim, &report).unwrap();
    }
    let bytes = recorder.finish(&sim, None).unwrap();
    let recording = Recording::parse(bytes).unwrap();
    let mut again = scene.simulation().unwrap();
    let replayed = replay(&recording, &mut again, |_| {}).unwrap();
    assert_eq!((replayed.steps, replayed.difference), (24, None));
    assert_eq!(again.state().hash(), sim.state().hash());

    let saved = sim.save_state();
    let mut other = scene.simulation().unwrap();
    other.load_state(&saved).unwrap();
    assert_eq!(other.switches(), sim.switches());
    run(&mut other, 40);
    run(&mut sim, 40);
    assert_eq!(other.state().hash(), sim.state().hash());
    let snapshot = scene.simulation().unwrap().snapshot();
    sim.restore(&snapshot).unwrap();
    assert_eq!(sim.switches(), [Switch::Off; 3]);
}

#[test]
fn event_driven_simulation_closes_nothing_that_is_open() {
    let mut scene = scene(SWITCHED);
    scene.settings.simulator = SimulatorKind::EventDriven;
    scene.settings.model = ModelKind::CoulombPyramid;
    let mut sim = scene.simulation().unwrap();
    switch(&mut sim, "w", true);
    sim.step().unwrap();
    assert!((sim.state().q[2] - 1.0).abs() < 1e-9);
    switch(&mut sim, "w", false);
    run(&mut sim, 100);
    assert!(sim.state().q[2] < 1.0 - CLOSED);
    let refused = sim.set_equality_active(0, true).unwrap_err().to_string();
    assert!(refused.contains("time stepping"), "{refused}");
}

#[test]
fn ties_to_bodies_that_are_moved_from_outside_are_switched_too() {
    let text = r#"<mujoco><option timestep="0.001"/><worldbody>
      <body name="hand" mocap="true" pos="0 0 1"/>
      <body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
      <equality><weld name="grip" body1="hand" body2="box" active="false"/></equality></mujoco>"#;
    let mut sim = simulation(text);
    run(&mut sim, 10);
    assert!((sim.state().v[2] + 9.81e-2).abs() < 1e-9);
    switch(&mut sim, "grip", true);
    run(&mut sim, 300);
    assert!((sim.state().q[2] - 1.0).abs() < 1e-3 && sim.state().v[2].abs() < 1e-6, "{:?}", sim.state().q);
    let hung = Simulation::new(Arc::clone(sim.world()), sim.settings().clone()).unwrap();
    assert_eq!(hung.switches(), [Switch::Off]);
}

#[test]
fn loops_of_scenes_have_names_and_switches() {
    let text = r#"
        dt = 0.001
        [[bodies]]
        name = "cube"
        position = [0, 0, 1]
        mass = 1.0
        shape = { box = [0.2, 0.2, 0.2] }
        [[loops]]
        name = "latch"
        type = "weld"
        a = "cube"
        b = "world"
        at = [0, 0, 1]
        active = false
    "#;
    let mut sim = Scene::parse(text, ".".as_ref(), &[]).unwrap().simulation().unwrap();
    run(&mut sim, 3);
    assert!(sim.state().q[2] < 1.0);
    switch(&mut sim, "latch", true);
    run(&mut sim, 2);
    assert!((sim.state().q[2] - 1.0).abs() < 1e-12);
    let nameless = Scene::parse(&text.replace("name = \"latch\"", ""), ".".as_ref(), &[]).unwrap_err().to_string();
    assert!(nameless.contains("active"), "{nameless}");
}

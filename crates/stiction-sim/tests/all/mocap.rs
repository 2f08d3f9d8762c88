//! Bodies that are moved from outside.

use std::path::Path;
use std::sync::Arc;

use stiction_body::math::{Pose, Quat, Vec3, axis_angle};
use stiction_sim::mjcf::{self, MjcfOptions, Start};
use stiction_sim::recording::{Header, Origin, replay};
use stiction_sim::{Placement, Recorder, Recording, Scene, Settings, Simulation, SimulatorKind, WorldBuilder};

fn robot_at(text: &str, start: Start, placement: &Placement) -> Simulation {
    let text = format!("<mujoco>{text}</mujoco>");
    let description = mjcf::parse(&text, Path::new("."), &MjcfOptions { start }).unwrap_or_else(|e| panic!("{e}"));
    let mut builder = WorldBuilder::new();
    builder.add(&description, placement).unwrap();
    let settings = Settings { dt: description.dt.unwrap(), ..Settings::default() };
    Simulation::new(Arc::new(builder.build().unwrap().0), settings).unwrap()
}

fn robot(text: &str) -> Simulation {
    robot_at(text, Start::Home, &Placement::default())
}

const PUSHED: &str = r#"<option timestep=".001"/><worldbody><geom type="plane" size="1 1 1"/>
  <body name="hand" mocap="true" pos="0 0 .1"><geom type="box" size=".1 .1 .1"/></body>
  <body name="cube" pos=".21 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>"#;

#[test]
fn poses_follow_the_joints_in_q_and_change_by_hand_alone() {
    let mut sim = robot(PUSHED);
    let world = sim.world().clone();
    assert_eq!((world.model.nq(), world.model.jointed_nq(), world.model.nv()), (14, 7, 6));
    let hand = world.mocap_link("hand").unwrap();
    assert_eq!(world.model.links()[hand].q, 7..14);
    assert_eq!(&sim.state().q[7..], [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]);
    for _ in 0..10 {
        sim.step().unwrap();
    }
    assert_eq!(&sim.state().q[7..], [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]);
    let turned = Pose::from_parts(Vec3::new(0.0, -1.0, 2.0), Quat::from_xyzw(0.0, 0.0, 3.0, 4.0));
    sim.set_mocap("hand", &turned).unwrap();
    let unit = [0.0, -1.0, 2.0, 0.8, 0.0, 0.0, 0.6];
    assert!(sim.state().q[7..].iter().zip(unit).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", sim.state().q);
    let error = sim.set_mocap("hnad", &turned).unwrap_err().to_string();
    assert!(error.contains("did you mean \"hand\""), "{error}");
    assert!(sim.set_mocap("cube", &turned).is_err());
    assert!(sim.set_mocap("hand", &Pose::from_translation(Vec3::new(f64::NAN, 0.0, 0.0))).is_err());
}

#[test]
fn what_it_is_put_into_moves_out_of_the_way() {
    let mut sim = robot(PUSHED);
    for k in 0..200 {
        sim.set_mocap("hand", &Pose::from_translation(Vec3::new(0.001 * f64::from(k), 0.0, 0.1))).unwrap();
        let report = sim.step().unwrap();
        assert!(report.overlap_left < 1e-9, "{k}: {}", report.overlap_left);
    }
    let x = sim.state().q[0];
    assert!((x - 0.399).abs() < 2e-3, "the cube is at {x}");
}

#[test]
fn a_sleeping_scene_wakes() {
    let mut sim = robot(PUSHED);
    for _ in 0..50 {
        sim.step().unwrap();
    }
    assert!(sim.is_asleep());
    sim.set_mocap("hand", &Pose::from_translation(Vec3::new(0.05, 0.0, 0.1))).unwrap();
    sim.step().unwrap();
    assert!(!sim.is_asleep() && sim.state().q[0] > 0.24, "{:?}", sim.state().q);
}

/// A free body of mass m, tied at its centre: MuJoCo's law in closed form,
/// `a = (1 − d) g + d (−b v − k d φ)`.
#[test]
fn ties_pull_as_in_mujoco() {
    for (weld, time, ratio, limits) in [(true, 0.02, 1.0, [0.9, 0.95]), (false, 0.05, 0.7, [0.6, 0.8])] {
        let kind = if weld { "weld" } else { "connect anchor=\"0 0 0\"" };
        let mut sim = robot(&format!(
            r#"<option timestep=".002"/><worldbody><body name="hand" mocap="true"/>
               <body name="ball"><freejoint/><geom size=".1" mass="3"/></body></worldbody>
               <equality><{kind} body1="ball" body2="hand" solref="{time} {ratio}" solimp="{} {} .001"/></equality>"#,
            limits[0], limits[1]
        ));
        let (offset, d, dt) = (Vec3::new(0.03, 0.0, -0.04), limits[1], 0.002);
        sim.set_mocap("hand", &Pose::from_translation(offset)).unwrap();
        let (mut p, mut v) = (Vec3::ZERO, Vec3::ZERO);
        let (k, b) = (1.0 / (d * d * time * time * ratio * ratio), 2.0 / (d * time));
        for step in 0..5 {
            sim.step().unwrap();
            let a = Vec3::new(0.0, 0.0, -9.81) * (1.0 - d) + (-b * v - k * d * (p - offset)) * d;
            v += a * dt;
            p += v * dt;
            let q = &sim.state().q;
            assert!(p.abs_diff_eq(Vec3::new(q[0], q[1], q[2]), 1e-12), "{kind} {step}: {p} {q:?}");
        }
    }
}

const ARM: &str = r#"<option timestep=".002"/><worldbody><body name="hand" mocap="true" pos=".3 0 .5"/>
  <body pos="0 0 .5"><joint axis="0 1 0" armature=".01"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
    <body name="tip" pos=".3 0 0"><joint axis="0 1 0" armature=".01"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body>
  </body></worldbody><equality><weld body1="hand" body2="tip"/></equality>
  <keyframe><key name="out" mpos="9 0 9" mquat="0 2 0 0"/></keyframe>"#;

#[test]
fn what_is_out_of_reach_is_pulled_at() {
    let mut sim = robot(ARM);
    assert_eq!(
        sim.mocap("hand").unwrap(),
        Pose::from_parts(Vec3::new(9.0, 0.0, 9.0), Quat::from_xyzw(1.0, 0.0, 0.0, 0.0))
    );
    for k in 0..400 {
        let report = sim.step().unwrap_or_else(|e| panic!("{k}: {e}"));
        assert!(report.certificate < 1e-10);
    }
    // Stretched towards it, up to what turning the tip over costs.
    assert!(sim.state().q.iter().all(|x| x.is_finite()));
}

#[test]
fn keyframes_snapshots_and_recordings_have_them() {
    let mut sim = robot_at(ARM, Start::Reference, &Placement::default());
    assert_eq!(sim.mocap("hand").unwrap().translation, Vec3::new(0.3, 0.0, 0.5));
    sim.set_mocap("hand", &Pose::from_parts(Vec3::new(0.3, 0.0, 0.6), axis_angle(Vec3::Y * 0.2))).unwrap();
    sim.step().unwrap();
    let snapshot = sim.snapshot();
    let ahead = |sim: &mut Simulation| {
        for _ in 0..20 {
            sim.step().unwrap();
        }
        sim.state().clone()
    };
    let first = ahead(&mut sim);
    let mut other = robot_at(ARM, Start::Reference, &Placement::default());
    other.restore(&snapshot).unwrap();
    assert_eq!(ahead(&mut other), first);
    // Snapshots of versions that kept such bodies still have no pose for them.
    let mut old = snapshot.clone();
    old.state.q.truncate(2);
    other.restore(&old).unwrap();
    assert_eq!(other.mocap("hand").unwrap().translation, Vec3::new(0.3, 0.0, 0.5));
    other.set_keyframe(0).unwrap();
    assert_eq!(other.mocap("hand").unwrap().translation, Vec3::new(9.0, 0.0, 9.0));
}

#[test]
fn a_scene_has_them_and_its_recording_replays() {
    let text = r#"
        [[bodies]]
        name = "hand"
        position = [0, 0, 1]
        joint = { type = "mocap" }
        shape = { sphere = 0.1, collide = false }
        [[bodies]]
        name = "lamp"
        mass = 2.0
        position = [0, 0, 0.5]
        shape = { sphere = 0.1 }
        [[loops]]
        type = "point"
        a = "lamp"
        b = "hand"
        at = [0, 0, 1]
    "#;
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap();
    let mut sim = scene.simulation().unwrap();
    assert_eq!((sim.world().ties.len(), sim.world().model.loops().len()), (1, 0));
    let origin = Origin { text: text.into(), directory: ".".into(), ..Origin::default() };
    let header = Header::new(origin, &scene, 1);
    assert_eq!(header.q[7..9], ["hand.x", "hand.y"]);
    let mut recorder = Recorder::new(Vec::new(), &header, &sim).unwrap();
    for _ in 0..50 {
        let report = sim.step().unwrap();
        recorder.step(&sim, &report).unwrap();
    }
    // It hangs on the hand, drawn out by (1 − d) g / (d k), where d is 0.9 and a little.
    assert!((sim.state().q[2] - 0.5).abs() < 1e-3, "{}", sim.state().q[2]);
    let file = recorder.finish(&sim, None).unwrap();
    let recording = Recording::parse(file).unwrap();
    let again = replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
    assert_eq!((again.steps, again.difference), (50, None));
    let refused = Scene::parse(&format!("simulator = \"event-driven\"\n{text}"), Path::new("."), &[]).unwrap();
    assert_eq!(refused.settings.simulator, SimulatorKind::EventDriven);
    assert!(refused.simulation().is_err_and(|e| e.to_string().contains("need")));
}

#[test]
fn placed_robots_take_them_along() {
    let placement = Placement { pose: Pose::from_translation(Vec3::new(0.0, 5.0, 0.0)), ..Placement::default() };
    let mut sim = robot_at(ARM, Start::Reference, &placement);
    assert_eq!(sim.mocap("hand").unwrap().translation, Vec3::new(0.3, 5.0, 0.5));
    sim.set_keyframe(0).unwrap();
    assert_eq!(sim.mocap("hand").unwrap().translation, Vec3::new(9.0, 5.0, 9.0));
}

//! Closed loops as files have them: planar ones with rounded numbers, on an arm that carries them
//! through space.

use std::path::Path;
use std::sync::Arc;

use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{Commands, Controller, NoteKind, Placement, Settings, Simulation, View, World, WorldBuilder};

/// A finger of a gripper: a four-bar linkage in the plane of y and z. `side` is 1 or −1; `noise` is
/// how far axes and points are off.
fn finger(name: &str, side: f64, noise: f64) -> String {
    let (n, s) = (noise, side);
    format!(
        r#"
        <body name="{name}_driver" pos="{x0} {y0} 0.03">
          <inertial pos="0 {y1} 0.018" mass="0.02" diaginertia="1e-5 1e-5 1e-5"/>
          <joint name="{name}_driver" axis="1 {n} 0" range="-0.3 0.6" damping="0.01" armature="0.001"/>
          <body name="{name}_finger" pos="{x1} {y2} 0.035">
            <inertial pos="0 0 0.03" mass="0.03" diaginertia="2e-5 2e-5 1e-5"/>
            <joint name="{name}_finger" axis="1 0 {n2}" damping="0.001" armature="0.0001"/>
          </body>
        </body>
        <body name="{name}_follower" pos="0 {y3} 0.045">
          <inertial pos="0 {y1} 0.018" mass="0.01" diaginertia="1e-5 1e-5 1e-5"/>
          <joint name="{name}_follower" axis="1 {n3} {n}" damping="0.001" armature="0.0001"/>
        </body>"#,
        x0 = 0.3 * n,
        x1 = -0.4 * n,
        y0 = 0.03 * s,
        y1 = 0.01 * s,
        y2 = 0.02 * s,
        y3 = 0.012 * s,
        n2 = -2.0 * n,
        n3 = 0.7 * n,
    )
}

/// An arm of three joints with such a gripper: 9 joints, two loops, one joint that follows.
fn robot(noise: f64) -> Arc<World> {
    let text = format!(
        r#"<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
        <body name="shoulder" pos="0 0 0.5">
          <inertial pos="0 0 0.1" mass="2" diaginertia="0.01 0.01 0.01"/>
          <joint name="shoulder" axis="0 0 1" damping="1" armature="0.1"/>
          <body name="upper" pos="0 0 0.1" euler="0.35 0 0">
            <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
            <joint name="upper" axis="0 1 0" damping="1" armature="0.1"/>
            <body name="hand" pos="0.3 0 0" quat="0.7071 0.1 0.7071 -0.2">
              <inertial pos="0 0 0" mass="0.5" diaginertia="0.002 0.002 0.002"/>
              <joint name="hand" axis="0.6 0 0.8" damping="1" armature="0.1"/>{}{}
            </body></body></body></worldbody>
        <equality>
          <connect body1="left_finger" body2="left_follower" anchor="0 -0.016 0.013"/>
          <connect body1="right_finger" body2="right_follower" anchor="0 0.016 0.013"/>
          <joint joint1="right_driver" joint2="left_driver" polycoef="0 -1 0 0 0"/>
        </equality></mujoco>"#,
        finger("left", 1.0, noise),
        finger("right", -1.0, -noise)
    );
    let description = mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut builder = WorldBuilder::new();
    builder.add(&description, &Placement::default()).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(builder.build().unwrap_or_else(|e| panic!("{e}")).0)
}

/// Moves the arm, and opens and closes the gripper.
struct Wave;

impl Controller for Wave {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        for (joint, kp, size) in
            [("shoulder", 50.0, 0.5), ("upper", 50.0, 0.3), ("hand", 20.0, 0.6), ("left_driver", 2.0, 0.25)]
        {
            let link = view.model.joint(joint).unwrap();
            let target = size * (2.0 * view.t).sin();
            commands.servo(view.model.links()[link].v.start, kp, target, 0.1 * kp, 0.0);
        }
    }
}

fn simulation(world: &Arc<World>) -> Simulation {
    let settings = Settings { dt: 2e-3, ..Settings::default() };
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    simulation.control(Box::new(Wave));
    simulation
}

fn left_out(world: &World) -> usize {
    world.model.loop_axes().iter().map(|a| a.used[..3].iter().filter(|used| !**used).count()).sum()
}

#[test]
fn rows_across_the_plane_of_a_loop_are_left_out_and_noted() {
    for noise in [0.0, 1e-9, 1e-7, 1e-5, 1e-4] {
        let world = robot(noise);
        assert_eq!(left_out(&world), 2, "{noise}: {:?}", world.model.loop_axes());
        let notes: Vec<_> = world.notes.iter().filter(|(of, _)| of == "closed loops").flat_map(|n| &n.1).collect();
        assert_eq!(notes.len(), if noise == 0.0 { 0 } else { 2 }, "{noise}: {notes:?}");
        assert!(notes.iter().all(|n| n.kind == NoteKind::Changed && n.element.contains("finger")), "{notes:?}");
    }
    // Hinges that are not parallel by design: every row counts, but for one, for there are seven
    // over six joints.
    assert_eq!(left_out(&robot(0.05)), 1);
}

#[test]
fn a_gripper_with_rounded_numbers_moves_and_never_explodes() {
    for noise in [1e-9, 1e-5] {
        let world = robot(noise);
        let (mut warm, mut cold) = (simulation(&world), simulation(&world));
        let fastest = |s: &Simulation| s.state().v.iter().fold(0.0, |max: f64, v| max.max(v.abs()));
        let (mut swing, driver) = ([0.0_f64; 2], world.model.joint("left_driver").unwrap());
        for step in 0..2000 {
            if step % 100 == 99 {
                let mut snapshot = warm.snapshot();
                (snapshot.memory.start, snapshot.memory.keys) = Default::default();
                cold.restore(&snapshot).unwrap();
                cold.step().unwrap_or_else(|e| panic!("{noise}, cold: {e}"));
            }
            let report = warm.step().unwrap_or_else(|e| panic!("{noise}: {e}"));
            assert!(report.certificate <= 1e-10 && fastest(&warm) < 5.0, "{noise}, {step}: {} rad/s", fastest(&warm));
            if step % 100 == 99 {
                let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9);
                assert!(close(&warm.state().v, &cold.state().v), "{noise}, {step}: warm and cold differ");
            }
            let q = warm.state().q[world.model.links()[driver].q.start];
            swing = [swing[0].min(q), swing[1].max(q)];
        }
        assert!(swing[1] - swing[0] > 0.3, "the gripper hardly moved: {swing:?}");
    }
}

//! Overlap, and joints beyond their limits, are put right by moving.

use stiction_sim::Scene;

#[test]
fn a_body_in_a_gap_too_narrow_for_it_is_put_where_it_overlaps_least() {
    // Two fixed walls 0.18 m apart, a cube of 0.2 m, off the middle by 3 mm and without gravity.
    let text = r#"
        gravity = [0, 0, 0]
        [[bodies]]
        name = "left"
        fixed = true
        position = [-0.19, 0, 0]
        shape = { box = [0.2, 1, 1] }
        [[bodies]]
        name = "right"
        fixed = true
        position = [0.19, 0, 0]
        shape = { box = [0.2, 1, 1] }
        [[bodies]]
        name = "cube"
        mass = 1.0
        position = [0.003, 0, 0]
        shape = { box = [0.2, 0.2, 0.2] }
    "#;
    let mut s = Scene::parse(text, std::path::Path::new("."), &[]).unwrap().simulation().unwrap();
    let left = s.take_apart().unwrap();
    assert!((left - 0.01).abs() < 1e-6, "{left}");
    let report = s.step().unwrap();
    assert!((report.overlap_left - 0.01).abs() < 1e-6 && report.kinetic < 1e-20, "{report:?}");
}

#[test]
fn a_joint_beyond_its_limit_is_put_back_without_a_push() {
    let text = r#"
        gravity = [0, 0, 0]
        [[bodies]]
        name = "slider"
        mass = 1.0
        shape = { box = [0.1, 0.1, 0.1] }
        joint = { type = "prismatic", axis = [1, 0, 0], limits = [0, 1] }
    "#;
    let mut s = Scene::parse(text, std::path::Path::new("."), &[]).unwrap().simulation().unwrap();
    s.set_state(&[-0.01], &[0.0]).unwrap();
    s.step().unwrap();
    assert!(s.state().q[0].abs() < 1e-15 && s.state().v[0] == 0.0, "{:?}", s.state());
}

/// Joints far beyond their limits are put at them, each by itself; one that is within its own stays where it is.
#[test]
fn a_start_far_beyond_limits_moves_no_other_joint() {
    let text = r#"
        gravity = [0, 0, 0]
        [[bodies]]
        name = "upper"
        mass = 1.0
        shape = { box = [0.3, 0.1, 0.1] }
        position = [0.0, 0.0, 1.0]
        joint = { type = "revolute", axis = [0, 1, 0], limits = [-1, 1] }
        [[bodies]]
        name = "lower"
        parent = "upper"
        position = [0.5, 0.0, 0.0]
        mass = 1.0
        shape = { box = [0.3, 0.1, 0.1] }
        joint = { type = "revolute", axis = [0, 1, 0], limits = [0.5, 2] }
    "#;
    let mut s = Scene::parse(text, std::path::Path::new("."), &[]).unwrap().simulation().unwrap();
    s.set_state(&[0.3, 0.0], &[0.0, 0.0]).unwrap();
    s.step().unwrap();
    assert_eq!(s.state().q, [0.3, 0.5]);
    assert_eq!(s.state().v, [0.0, 0.0]);
}

/// What cannot be put right is left where it is, and does not keep the rest from being put right.
#[test]
fn overlap_that_nothing_removes_is_left_and_others_are_removed() {
    let text = r#"
        gravity = [0, 0, 0]
        [[bodies]]
        name = "low"
        fixed = true
        shape = { box = [1, 1, 0.5] }
        [[bodies]]
        name = "high"
        fixed = true
        shape = { box = [1, 1, 0.5] }
        position = [0, 0, 0.98]
        [[bodies]]
        name = "caught"
        mass = 1.0
        shape = { sphere = 0.25 }
        position = [0, 0, 0.49]
        [[bodies]]
        name = "free"
        mass = 1.0
        shape = { sphere = 0.25 }
        position = [0.3, 0, 1.4799]
    "#;
    let mut s = Scene::parse(text, std::path::Path::new("."), &[]).unwrap().simulation().unwrap();
    let caught = s.state().q[..3].to_vec();
    for _ in 0..3 {
        let report = s.step().unwrap();
        assert!((report.overlap_left - 0.01).abs() < 1e-6, "{report:?}");
        assert_eq!(s.state().q[..3], caught);
        assert!((s.state().q[9] - 1.48).abs() < 1e-9, "{:?}", s.state().q);
    }
}

/// Limits of tendons are put right by moving, as those of joints: here by three parts of four of the lighter body.
#[test]
fn tendons_beyond_their_limits_are_put_at_them() {
    let text = r#"<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
      <body><joint name="a" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
      <body pos="0 1 0"><joint name="b" type="slide" axis="1 0 0"/><geom size=".1" mass="3"/></body></worldbody>
      <tendon><fixed name="t" limited="true" range="-1 .2"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>
      <keyframe><key qpos=".3 .1"/></keyframe></mujoco>"#;
    let options = stiction_sim::mjcf::MjcfOptions::default();
    let description = stiction_sim::mjcf::parse(text, ".".as_ref(), &options).unwrap();
    let mut builder = stiction_sim::WorldBuilder::new();
    builder.add(&description, &stiction_sim::Placement::default()).unwrap();
    let world = std::sync::Arc::new(builder.build().unwrap().0);
    let mut sim = stiction_sim::Simulation::new(world, stiction_sim::Settings::default()).unwrap();
    sim.step().unwrap();
    let q = &sim.state().q;
    assert!((q[0] - 0.15).abs() < 1e-9 && (q[1] - 0.05).abs() < 1e-9, "{q:?}");
    assert!(sim.state().v.iter().all(|v| v.abs() < 1e-9), "{:?}", sim.state().v);
}

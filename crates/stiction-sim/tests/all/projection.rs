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

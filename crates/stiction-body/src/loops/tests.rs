use super::*;
use crate::math::axis_angle;
use crate::{Inertia, JointKind, LinkSpec, ModelBuilder};

/// A small generator of numbers in (−1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }

    fn pose(&mut self) -> Pose {
        Pose::from_parts(self.vector(), axis_angle(self.vector()))
    }
}

/// Three trees: a floating one with all kinds of joints, an arm on the world, a link that cannot move; all kinds of loops within, between and to the world.
fn model(seed: u64) -> Model {
    let mut n = Numbers(seed);
    let mut builder = ModelBuilder::default();
    let body = Inertia::cuboid(1.0, Vec3::ONE);
    let axis = Vec3::new(0.3, -0.5, 0.8).normalize();
    let (revolute, prismatic) = (JointKind::Revolute { axis }, JointKind::Prismatic { axis });
    let mut add = |parent, kind, name: &str| builder.add(LinkSpec::on(name, parent, kind, n.pose(), body)).unwrap();
    let base = add(None, JointKind::Free, "base");
    let left = add(Some(base), revolute, "left");
    let left2 = add(Some(left), prismatic, "left2");
    let right = add(Some(base), JointKind::Spherical, "right");
    let arm = add(None, revolute, "arm");
    let arm2 = add(Some(arm), JointKind::Planar { normal: axis }, "arm2");
    let arm3 = add(Some(arm2), JointKind::Continuous { axis }, "arm3");
    let still = add(None, JointKind::Fixed, "still");
    let ends = [
        (Some(left2), Some(right)),
        (Some(arm3), Some(left2)),
        (None, Some(arm2)),
        (Some(right), None),
        (Some(still), Some(base)),
    ];
    for (a, b) in ends {
        for kind in [LoopKind::Point, LoopKind::Hinge, LoopKind::Weld] {
            builder.close_loop(LoopClosure { a, b, frame_a: n.pose(), frame_b: n.pose(), kind }).unwrap();
        }
    }
    builder.mimic(Mimic { link: left, of: left2, multiplier: -1.5, offset: 0.2 }).unwrap();
    builder.mimic(Mimic { link: arm3, of: left, multiplier: 2.0, offset: 0.0 }).unwrap();
    builder.build().unwrap().0
}

/// Values and speeds of all rows at `q ⊕ t v`.
fn at(model: &Model, rows: &mut LoopRows, q: &[f64], v: &[f64], t: f64) -> (Vec<f64>, Vec<f64>) {
    let mut q = q.to_vec();
    model.integrate(&mut q, v, t);
    let mut work = Workspace::default();
    work.update_positions(model, &q);
    rows.update(model, &work, &q);
    (0..rows.len()).map(|i| (rows.value(i), rows.speed(model, i, v))).unzip()
}

/// Speeds against differences of values, rates against differences of speeds, along the motion of constant v.
#[test]
fn rows_are_derivatives() {
    for seed in 1..20 {
        let model = model(seed);
        let mut n = Numbers(seed + 1000);
        let mut q = model.neutral();
        let start: Vec<f64> = (0..model.nv()).map(|_| n.next()).collect();
        model.integrate(&mut q, &start, 1.0);
        let v: Vec<f64> = (0..model.nv()).map(|_| n.next()).collect();
        let mut rows = LoopRows::new(&model);
        assert_eq!(rows.len(), 5 * (3 + 5 + 6) + 2);
        let h = 1e-5;
        let (before, after) = (at(&model, &mut rows, &q, &v, -h), at(&model, &mut rows, &q, &v, h));
        let now = at(&model, &mut rows, &q, &v, 0.0);
        let mut work = Workspace::default();
        work.update_positions(&model, &q);
        work.update_velocities(&model, &v);
        rows.update_rates(&model, &work);
        for i in 0..rows.len() {
            let what = rows.source(i);
            let speed = (after.0[i] - before.0[i]) / (2.0 * h);
            assert!((speed - now.1[i]).abs() < 1e-7, "{seed} {what:?} {i}: {speed} {}", now.1[i]);
            let rate = (after.1[i] - before.1[i]) / (2.0 * h);
            assert!((rate - rows.rate(i)).abs() < 1e-6, "{seed} {what:?} {i}: {rate} {}", rows.rate(i));
        }
        assert!((0..rows.len()).any(|i| rows.rate(i).abs() > 0.1), "rates that are all small test nothing");
    }
}

#[test]
fn rows_have_entries_for_their_trees_only() {
    let model = model(3);
    let rows = LoopRows::new(&model);
    let trees = |loop_number: usize| -> Vec<usize> {
        let i = (0..rows.len()).find(|&i| rows.source(i) == RowSource::Loop(loop_number)).unwrap();
        rows.blocks(i).iter().map(|b| b.0).collect()
    };
    assert_eq!(trees(0), [0], "within one tree");
    assert_eq!(trees(3), [0, 1], "between two trees, ascending whichever comes first");
    assert_eq!(trees(6), [1], "world and tree");
    assert_eq!(trees(9), [0], "tree and world");
    assert_eq!(trees(12), [0], "a tree that cannot move has no entries");
    let mimic = rows.len() - 1;
    assert_eq!((rows.source(mimic), rows.blocks(mimic).len()), (RowSource::Mimic(1), 2));
    assert!(rows.blocks(0)[0].1.len() == model.trees()[0].v.len());
}

#[test]
fn a_closed_loop_is_at_zero_and_a_turned_one_is_not() {
    let frame_b = Pose::from_parts(Vec3::new(0.4, 0.1, -0.3), axis_angle(Vec3::new(0.2, 1.0, -0.4)));
    let free = |turn: Vec3, kind: LoopKind| {
        let mut builder = ModelBuilder::default();
        let b = builder.add(LinkSpec::free("b", Inertia::sphere(1.0, 1.0))).unwrap();
        // A is where B is at the neutral configuration, turned in its own axes.
        let frame_a = frame_b * Pose::from_rotation(axis_angle(-turn));
        builder.close_loop(LoopClosure { a: None, b: Some(b), frame_a, frame_b, kind }).unwrap();
        let (model, _) = builder.build().unwrap();
        let (q, mut rows, mut work) = (model.neutral(), LoopRows::new(&model), Workspace::default());
        work.update_positions(&model, &q);
        rows.update(&model, &work, &q);
        (0..rows.len()).map(|i| rows.value(i)).collect::<Vec<_>>()
    };
    for kind in [LoopKind::Point, LoopKind::Hinge, LoopKind::Weld] {
        assert!(free(Vec3::ZERO, kind).iter().all(|x| x.abs() < 1e-15), "{kind:?}");
    }
    let turn = Vec3::new(1e-3, -2e-3, 3e-3);
    let (hinge, weld) = (free(turn, LoopKind::Hinge), free(turn, LoopKind::Weld));
    assert!((0..3).all(|k| (weld[3 + k] - turn[k]).abs() < 1e-8), "{weld:?}");
    assert!((0..2).all(|k| (hinge[3 + k] - turn[k]).abs() < 1e-5), "{hinge:?}");
    let about_z = free(Vec3::Z * 2.0, LoopKind::Hinge);
    assert!(about_z[3].abs() < 1e-15 && about_z[4].abs() < 1e-15, "a hinge turns about z");
    let half = free(Vec3::X * 3.0, LoopKind::Weld);
    assert!((half[3] - 2.0 * (1.5_f64).sin()).abs() < 1e-14);
}

/// A four-bar linkage in a plane with the given normal, its last hinge `tilt` off (rad); at the
/// reference pose folded flat or not.
fn four_bar(normal: Vec3, tilt: f64, flat: bool, kind: LoopKind) -> (Model, Vec<f64>) {
    let (s, t) = crate::math::tangents(normal);
    let body = Inertia::sphere(1.0, 0.1);
    let at = |x: f64, y: f64| Pose::from_translation(s * x + t * y);
    let hinge = |axis: Vec3| JointKind::Revolute { axis: axis.normalize() };
    let mut builder = ModelBuilder::default();
    let crank = builder.add(LinkSpec::on("crank", None, hinge(normal), at(0.0, 0.0), body)).unwrap();
    let rise = if flat { 0.0 } else { 0.1 };
    let coupler = builder.add(LinkSpec::on("coupler", Some(crank), hinge(normal), at(0.1, rise), body)).unwrap();
    let rocker = builder.add(LinkSpec::on("rocker", None, hinge(normal + s * tilt), at(0.3, 0.0), body)).unwrap();
    // The frames' z axes are the hinge's.
    let turn = crate::math::Quat::from_mat3(&Mat3::from_cols(s, t, normal));
    let frame = |x: f64, y: f64| Pose::from_parts(s * x + t * y, turn);
    let (frame_a, frame_b) = (frame(0.3, 0.5 * rise), frame(0.1, 1.5 * rise));
    builder.close_loop(LoopClosure { a: Some(coupler), b: Some(rocker), frame_a, frame_b, kind }).unwrap();
    let (model, _) = builder.build().unwrap();
    let q = model.neutral();
    (model, q)
}

#[test]
fn rows_that_are_redundant_but_for_rounding_are_left_out() {
    let normal = Vec3::new(0.3, -0.5, 0.8).normalize();
    for (kind, redundant) in [(LoopKind::Point, 1), (LoopKind::Hinge, 3), (LoopKind::Weld, 3)] {
        for tilt in [0.0, 1e-10, 1e-7, 1e-5] {
            let (mut model, q) = four_bar(normal, tilt, false, kind);
            let found = model.leave_out_redundant_rows(&q, |_| true);
            assert_eq!(found.iter().map(|f| f.count).sum::<usize>(), redundant, "{kind:?} {tilt}: {found:?}");
            let rows = LoopRows::new(&model);
            assert_eq!(rows.len(), kind.rows() - redundant);
            // Across the plane, and not along it.
            let axes = &model.loop_axes()[0];
            let across = (0..3).find(|k| !axes.used[*k]).unwrap();
            let turn = Mat3::from_quat(model.loops()[0].frame_a.rotation);
            assert!((turn * axes.point.col(across)).dot(normal).abs() > 1.0 - 1e-6, "{kind:?} {tilt}: {axes:?}");
            // Decided in the same way every time.
            let (mut again, q) = four_bar(normal, tilt, false, kind);
            again.leave_out_redundant_rows(&q, |_| true);
            assert_eq!(again, model);
        }
    }
}

/// What is dependent in one singular pose only, and what is tilted by design, stays.
#[test]
fn rows_that_are_needed_elsewhere_stay() {
    let (mut model, q) = four_bar(Vec3::Z, 0.0, true, LoopKind::Point);
    assert_eq!(model.leave_out_redundant_rows(&q, |_| true).iter().map(|f| f.count).sum::<usize>(), 1);
    let (mut model, q) = four_bar(Vec3::Z, 0.05, false, LoopKind::Point);
    assert!(model.leave_out_redundant_rows(&q, |_| true).is_empty());
}

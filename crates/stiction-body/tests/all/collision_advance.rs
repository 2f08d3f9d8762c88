//! Times of impact by conservative advancement, distances, and overlaps at the start.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3, axis_angle};
use stiction_body::{LinkMotion, Shape};

/// Advances a single body with constant velocities until nothing more can be proven safe; the time and the number of steps.
fn impact(world: &[(Shape, Pose)], body: (Shape, Pose), linear: Vec3, angular: Vec3, end: f64) -> (f64, usize) {
    let start = body.1;
    let mut scene = Scene::new(world, &[body]).moving(0, linear, angular);
    let mut time = 0.0;
    for count in 0..2000 {
        let rotation = (axis_angle(angular * time) * start.rotation).normalize();
        scene.work.pose[0] = Pose::from_parts(start.translation + linear * time, rotation);
        let step = scene.collision.safe_time(&scene.model, &scene.work, &scene.motion, end - time);
        if !scene.find(0.0, 0.0).is_empty() {
            return (time, count);
        }
        if time + step >= end {
            return (end, count);
        }
        time += step;
    }
    (time, 2000)
}

#[test]
fn times_of_impact_are_exact() {
    let ground = vec![(Shape::half_space(), Pose::identity())];
    let field = vec![(Shape::height_field(vec![0.0; 121], 11, 11, 4.0, 4.0).unwrap(), Pose::identity())];
    let slab = vec![(cuboid(2.0, 2.0, 0.5), at(0.0, 0.0, -0.5))];
    let hull = vec![(box_hull(2.0, 2.0, 0.5), at(0.0, 0.0, -0.5))];
    let v = Vec3::new(0.3, 0.1, -2.0);
    for world in [ground, field, slab, hull] {
        for (shape, height) in [
            (sphere(0.1), 0.1),
            (cuboid(0.1, 0.1, 0.1), 0.1),
            (capsule(0.2, 0.1), 0.3),
            (cylinder(0.2, 0.1), 0.2),
            (box_hull(0.1, 0.1, 0.1), 0.1),
        ] {
            let (time, steps) = impact(&world, (shape.clone(), at(0.0, 0.0, height + 1.0)), v, Vec3::ZERO, 2.0);
            assert!((time - 0.5).abs() < 1e-8 && steps < 10, "{shape:?} {time} {steps}");
        }
    }
}

#[test]
fn a_turning_rod_meets_a_wall_when_its_end_does() {
    // A rod of half length 1 along z turns about its middle; its end meets the plane 0.8 below at cos(angle) = 0.8 − radius.
    let world = [(Shape::half_space(), at(0.0, 0.0, -0.8))];
    let start = turned(0.0, 0.0, 0.0, Vec3::X * std::f64::consts::FRAC_PI_2);
    let spin = Vec3::X * 3.0;
    let (time, steps) = impact(&world, (capsule(1.0, 0.1), start), Vec3::ZERO, spin, 2.0);
    let expected = 0.7_f64.asin() / 3.0;
    assert!((time - expected).abs() < 1e-8 && steps < 100, "{time} {expected} {steps}");
    // The same against a box.
    let world = [(cuboid(5.0, 5.0, 1.0), at(0.0, 0.0, -1.8))];
    let (time, steps) = impact(&world, (capsule(1.0, 0.1), start), Vec3::ZERO, spin, 2.0);
    assert!((time - expected).abs() < 1e-8 && steps < 200, "{time} {expected} {steps}");
}

#[test]
fn safe_times_are_safe() {
    let mut random = Random(5);
    let world = vec![
        (cuboid(0.5, 0.4, 0.3), turned(0.0, 0.0, 0.0, Vec3::new(0.3, 0.2, 0.1))),
        (cylinder(0.5, 0.3), turned(1.5, 0.0, 0.0, Vec3::new(1.0, 0.2, 0.1))),
        (capsule(0.5, 0.3), turned(0.0, 1.5, 0.0, Vec3::new(1.0, 0.2, 0.1))),
        (box_hull(0.5, 0.4, 0.3), turned(1.5, 1.5, 0.0, Vec3::new(0.7, 0.2, 0.1))),
    ];
    let shapes = [sphere(0.2), cuboid(0.2, 0.1, 0.15), cylinder(0.2, 0.1), capsule(0.2, 0.1), box_hull(0.1, 0.2, 0.1)];
    let mut short = 0;
    for k in 0..1500 {
        let shape = shapes[k % 5].clone();
        let start = Pose::from_parts(random.vector(2.0), random.rotation());
        let mut scene = Scene::new(&world, &[(shape, start)]).moving(0, random.vector(3.0), random.vector(3.0));
        let LinkMotion { linear, angular } = scene.motion[0];
        let apart = scene.find(0.0, 0.0).is_empty();
        let safe = scene.collision.safe_time(&scene.model, &scene.work, &scene.motion, 1.0);
        assert!((0.0..=1.0).contains(&safe));
        short += usize::from(safe < 1.0);
        for i in 0..20 {
            let time = safe * f64::from(i) / 20.0;
            scene.work.pose[0] = Pose::from_parts(
                start.translation + linear * time,
                (axis_angle(angular * time) * start.rotation).normalize(),
            );
            let touching = scene.find(0.0, 0.0).iter().any(|c| c.gap < -1e-9);
            assert!(!apart || !touching, "{k} touches at {time} of {safe}");
        }
    }
    assert!(short > 300, "{short}");
}

#[test]
fn distances_are_signed_and_exact_at_touch() {
    let pair = |a: Shape, b: Shape, pose: Pose| {
        let mut scene = Scene::new(&[(a, Pose::identity())], &[(b, pose)]);
        scene.collision.distance(&scene.model, &scene.work, [0, 1], 1.0)
    };
    let near =
        |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-15, "{found:?} {expected}");
    for gap in [-0.01, 0.0, 0.25] {
        near(pair(Shape::half_space(), cuboid(0.1, 0.1, 0.1), at(0.0, 0.0, 0.1 + gap)), gap);
        near(pair(cuboid(1.0, 1.0, 1.0), cuboid(0.1, 0.1, 0.1), at(0.2, 0.0, 1.1 + gap)), gap);
        near(pair(cuboid(1.0, 1.0, 1.0), sphere(0.1), at(0.2, 0.0, 1.1 + gap)), gap);
        near(pair(box_hull(1.0, 1.0, 1.0), cylinder(0.1, 0.1), at(0.2, 0.0, 1.1 + gap)), gap);
        near(pair(cylinder(1.0, 1.0), cylinder(0.1, 0.1), at(0.2, 0.0, 1.1 + gap)), gap);
        let field = Shape::height_field(vec![1.0; 9], 3, 3, 4.0, 4.0).unwrap();
        near(pair(field, capsule(0.1, 0.1), at(0.2, 0.1, 1.2 + gap)), gap);
    }
    let mut scene = Scene::new(&[], &[(sphere(1.0), at(f64::NAN, 0.0, 0.0)), (sphere(1.0), at(0.0, 0.0, 0.0))]);
    assert_eq!(scene.collision.distance(&scene.model, &scene.work, [0, 1], 1.0), None);
    assert_eq!(scene.collision.distance(&scene.model, &scene.work, [0, 7], 1.0), None);
}

#[test]
fn overlaps_at_the_start_are_listed_with_their_depth() {
    let bodies = [
        (cuboid(0.5, 0.5, 0.5), at(0.0, 0.0, 0.0)),
        (cuboid(0.5, 0.5, 0.5), at(0.0, 0.0, 0.99)),
        (sphere(0.1), at(0.0, 0.0, 1.59 - 1e-9)),
        (sphere(0.1), at(3.0, 0.0, 0.0)),
    ];
    let mut scene = Scene::new(&[], &bodies);
    let found = scene.collision.overlaps(&scene.model, &scene.work, 1e-6);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].geoms == [0, 1] && (found[0].depth - 0.01).abs() < 1e-15 && (found[0].relative - 0.02).abs() < 1e-15
    );
    assert_eq!(scene.collision.overlaps(&scene.model, &scene.work, 1e-9).len(), 2);
}

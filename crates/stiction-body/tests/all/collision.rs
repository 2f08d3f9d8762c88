//! Contacts with known answers: resting shapes, exact to rounding, with all corners of touching faces.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{ContactPoint, Shape};

const ROUNDING: f64 = 4e-16;

fn square(contacts: &[ContactPoint], x: f64, y: f64, z: f64) {
    assert_eq!(contacts.len(), 4, "{contacts:#?}");
    for (sx, sy) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        assert!(has_point(contacts, Vec3::new(sx * x, sy * y, z), ROUNDING), "{contacts:#?}");
    }
    for c in contacts {
        assert_eq!(c.normal, Vec3::Z);
        assert!(c.gap.abs() <= ROUNDING);
    }
}

#[test]
fn shapes_rest_on_a_half_space_at_gap_zero() {
    let ground = (Shape::half_space(), Pose::identity());
    let rest = |shape: Shape, pose: Pose| Scene::new(std::slice::from_ref(&ground), &[(shape, pose)]).find(0.0, 0.0);
    let ball = rest(sphere(0.3), at(1.0, 2.0, 0.3));
    assert_eq!(ball.len(), 1);
    assert_eq!((ball[0].normal, ball[0].gap, ball[0].point), (Vec3::Z, 0.0, Vec3::new(1.0, 2.0, 0.0)));
    square(&rest(cuboid(0.5, 0.4, 0.1), at(0.0, 0.0, 0.1)), 0.5, 0.4, 0.0);
    let lying = rest(capsule(0.5, 0.1), turned(0.0, 0.0, 0.1, Vec3::Y * std::f64::consts::FRAC_PI_2));
    assert_eq!(lying.len(), 2);
    assert!(lying.iter().all(|c| c.gap.abs() < ROUNDING && c.normal == Vec3::Z));
    let standing = rest(capsule(0.5, 0.1), at(0.0, 0.0, 0.6));
    assert!(standing.len() == 1 && standing[0].gap.abs() < ROUNDING);
}

#[test]
fn equal_boxes_on_each_other_touch_in_four_corners() {
    let (a, b) = (cuboid(0.5, 0.5, 0.5), cuboid(0.5, 0.5, 0.5));
    square(&touch((&a, at(0.0, 0.0, 0.0)), (&b, at(0.0, 0.0, 1.0)), 0.0), 0.5, 0.5, 0.5);
    let table = cuboid(2.0, 2.0, 0.5);
    square(&touch((&table, at(0.0, 0.0, 0.0)), (&b, at(0.0, 0.0, 1.0)), 0.0), 0.5, 0.5, 0.5);
}

#[test]
fn a_stack_of_fifty_boxes_is_the_same_at_every_level() {
    let h = 0.05;
    let bodies: Vec<_> = (0..50).map(|k| (cuboid(h, h, h), at(0.0, 0.0, h * (2 * k + 1) as f64))).collect();
    let contacts = Scene::new(&[(Shape::half_space(), Pose::identity())], &bodies).find(1e-3, 0.0);
    assert_eq!(contacts.len(), 200);
    for (k, level) in contacts.chunks(4).enumerate() {
        assert!(level.iter().all(|c| c.geoms == [k, k + 1] && c.normal == Vec3::Z && c.gap.abs() < 1e-15));
        let middle: Vec3 = level.iter().map(|c| c.point).sum();
        assert_eq!((middle.x, middle.y), (0.0, 0.0));
    }
}

#[test]
fn a_box_turned_by_45_degrees_touches_in_eight_corners() {
    let a = cuboid(0.5, 0.5, 0.5);
    let b = touch((&a, at(0.0, 0.0, 0.0)), (&a, turned(0.0, 0.0, 1.0, Vec3::Z * std::f64::consts::FRAC_PI_4)), 0.0);
    assert_eq!(b.len(), 8);
    assert!(b.iter().all(|c| c.gap.abs() < ROUNDING && c.normal == Vec3::Z));
}

#[test]
fn crossing_edges_touch_in_one_point() {
    // A roof ridge along x under one along y.
    let a = cuboid(1.0, 0.5, 0.5);
    let half = std::f64::consts::FRAC_PI_4;
    let lower = turned(0.0, 0.0, 0.0, Vec3::X * half);
    let upper = turned(0.0, 0.0, 2.0_f64.sqrt(), Vec3::Z * 2.0 * half);
    let upper = Pose::from_parts(upper.translation, upper.rotation * turned(0.0, 0.0, 0.0, Vec3::X * half).rotation);
    let c = touch((&a, lower), (&a, upper), 1e-12);
    assert_eq!(c.len(), 1, "{c:#?}");
    assert!(c[0].normal.abs_diff_eq(Vec3::Z, 1e-15) && c[0].gap.abs() < 1e-15);
    assert!(c[0].point.abs_diff_eq(Vec3::Z * 0.5_f64.sqrt(), 1e-15));
}

#[test]
fn spheres_touch_everything_at_the_closest_point() {
    let ball = sphere(0.5);
    let c = touch((&ball, at(0.0, 0.0, 0.0)), (&sphere(0.25), at(0.75, 0.0, 0.0)), 0.0);
    assert_eq!((c.len(), c[0].gap, c[0].normal, c[0].point), (1, 0.0, Vec3::X, Vec3::X * 0.5));
    let c = touch((&cuboid(1.0, 1.0, 1.0), at(0.0, 0.0, 0.0)), (&ball, at(0.3, 0.2, 1.5)), 0.0);
    assert_eq!((c[0].gap, c[0].normal, c[0].point), (0.0, Vec3::Z, Vec3::new(0.3, 0.2, 1.0)));
    let c = touch((&capsule(1.0, 0.25), at(0.0, 0.0, 0.0)), (&ball, at(0.0, -0.75, 0.4)), 0.0);
    assert_eq!((c[0].gap, c[0].normal), (0.0, Vec3::NEG_Y));
    // Exchanged, the normal turns.
    let c = touch((&ball, at(0.3, 0.2, 1.5)), (&cuboid(1.0, 1.0, 1.0), at(0.0, 0.0, 0.0)), 0.0);
    assert_eq!((c[0].gap, c[0].normal, c[0].point), (0.0, Vec3::NEG_Z, Vec3::new(0.3, 0.2, 1.0)));
    // A corner.
    let d = 0.5 / 3.0_f64.sqrt();
    let c = touch((&cuboid(1.0, 1.0, 1.0), at(0.0, 0.0, 0.0)), (&ball, at(1.0 + d, 1.0 + d, 1.0 + d)), 1e-12);
    assert!(c[0].gap.abs() < ROUNDING && c[0].normal.abs_diff_eq(Vec3::splat(1.0 / 3.0_f64.sqrt()), 1e-15));
}

#[test]
fn capsules_touch_along_their_sides() {
    let (a, b) = (capsule(0.5, 0.1), capsule(0.3, 0.2));
    let side = touch((&a, at(0.0, 0.0, 0.0)), (&b, at(0.3, 0.0, 0.1)), 1e-12);
    assert_eq!(side.len(), 2, "{side:#?}");
    for (c, z) in side.iter().zip([-0.2, 0.4]) {
        assert!(c.gap.abs() < ROUNDING && c.normal.abs_diff_eq(Vec3::X, ROUNDING));
        assert!(c.point.abs_diff_eq(Vec3::new(0.1, 0.0, z), ROUNDING), "{c:?}");
    }
    let equal = touch((&a, at(0.0, 0.0, 0.0)), (&a, at(0.2, 0.0, 0.0)), 0.0);
    assert_eq!(equal.len(), 2, "{equal:#?}");
    let crossed = touch((&a, at(0.0, 0.0, 0.0)), (&a, turned(0.2, 0.0, 0.0, Vec3::X * 0.7)), 0.0);
    assert!(crossed.len() == 1 && crossed[0].gap.abs() < ROUNDING && crossed[0].normal.abs_diff_eq(Vec3::X, 1e-15));
    let in_line = touch((&a, at(0.0, 0.0, 0.0)), (&a, at(0.0, 0.0, 1.2)), 1e-12);
    assert!(in_line.len() == 1 && in_line[0].normal.abs_diff_eq(Vec3::Z, 1e-15), "{in_line:#?}");
}

#[test]
fn a_capsule_lies_on_a_box_in_two_points() {
    let table = cuboid(1.0, 1.0, 1.0);
    let lying = |half: f64, x: f64| {
        let pose = turned(x, 0.2, 1.1, Vec3::Y * std::f64::consts::FRAC_PI_2);
        touch((&table, at(0.0, 0.0, 0.0)), (&capsule(half, 0.1), pose), 1e-12)
    };
    for (half, x, ends) in [(0.5, 0.1, [-0.4, 0.6]), (0.5, 0.8, [0.3, 1.0]), (2.0, 0.0, [-1.0, 1.0])] {
        let c = lying(half, x);
        assert_eq!(c.len(), 2, "{c:#?}");
        for e in ends {
            assert!(has_point(&c, Vec3::new(e, 0.2, 1.0), 1e-15), "{c:#?}");
        }
        assert!(c.iter().all(|c| c.gap.abs() < ROUNDING && c.normal.abs_diff_eq(Vec3::Z, 1e-15)));
    }
    // Along an edge, normal halfway between the faces.
    let d = 1.0 + 0.1 * 0.5_f64.sqrt();
    let c = touch((&table, at(0.0, 0.0, 0.0)), (&capsule(0.4, 0.1), at(d, d, 0.0)), 1e-12);
    assert_eq!(c.len(), 2);
    assert!(
        c.iter().all(|c| c.gap.abs() < ROUNDING && c.normal.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0).normalize(), 1e-14))
    );
}

/// The shallowest axis of these is a crossing of edges within 0.01 rad of a face's normal, and the overlap of that face is empty.
#[test]
fn slivers_whose_crossing_edges_are_nearly_along_a_face_meet() {
    let hull = |points: &[[f64; 3]]| Shape::hull(points.iter().map(|p| Vec3::from_array(*p)).collect()).unwrap();
    let first = hull(&[
        [0.896905, 0.683692, 0.014109],
        [0.89588, 0.68476, 0.014327],
        [0.826865, 0.725334, 0.019814],
        [0.81743, 0.709578, 0.017634],
    ]);
    let second = hull(&[
        [0.867253, 0.69857, 0.031],
        [0.853106, 0.678102, 0.022814],
        [0.855233, 0.678584, 0.02403],
        [0.866685, 0.698644, 0.031141],
        [0.891855, 0.738633, 0.040989],
        [0.879371, 0.721712, 0.038182],
        [0.831532, 0.716935, 0.014163],
        [0.854978, 0.711237, -0.02149],
    ]);
    for contacts in [
        touch((&first, Pose::IDENTITY), (&second, Pose::IDENTITY), 0.0),
        touch((&second, Pose::IDENTITY), (&first, Pose::IDENTITY), 0.0),
    ] {
        let depth = contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        assert!(depth > 1e-4 && depth < 0.015, "{contacts:?}");
    }
}

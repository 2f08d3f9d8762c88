//! Cylinders at rest on and beside everything else.

use std::f64::consts::FRAC_PI_2;

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{ContactPoint, Shape};

fn lying(x: f64, y: f64, z: f64) -> Pose {
    turned(x, y, z, Vec3::Y * FRAC_PI_2)
}

/// All contacts touch, with the normal.
fn all_touch(contacts: &[ContactPoint], count: usize, normal: Vec3) {
    assert_eq!(contacts.len(), count, "{contacts:#?}");
    for c in contacts {
        assert!(c.gap.abs() < 1e-15 && c.normal.abs_diff_eq(normal, 1e-14), "{c:#?}");
    }
}

fn spread(contacts: &[ContactPoint], point: Vec3, tolerance: f64) {
    assert!(has_point(contacts, point, tolerance), "{point} in {contacts:#?}");
}

#[test]
fn on_a_half_space_a_cylinder_stands_on_four_points_and_lies_on_two() {
    let ground = [(Shape::half_space(), Pose::identity())];
    let rest = |pose: Pose| Scene::new(&ground, &[(cylinder(0.5, 0.2), pose)]).find(0.0, 0.0);
    let standing = rest(at(0.0, 0.0, 0.5));
    all_touch(&standing, 4, Vec3::Z);
    for (x, y) in [(0.2, 0.0), (-0.2, 0.0), (0.0, 0.2), (0.0, -0.2)] {
        spread(&standing, Vec3::new(x, y, 0.0), 1e-16);
    }
    let lying = rest(lying(0.0, 0.0, 0.2));
    all_touch(&lying, 2, Vec3::Z);
    spread(&lying, Vec3::X * 0.5, 1e-15);
    spread(&lying, Vec3::X * -0.5, 1e-15);
    let tilt = 0.3_f64;
    let height = 0.5 * tilt.cos() + 0.2 * tilt.sin();
    all_touch(&rest(turned(0.0, 0.0, height, Vec3::X * tilt)), 1, Vec3::Z);
}

#[test]
fn on_a_box_a_cylinder_rests_like_on_the_ground() {
    for table in [cuboid(1.0, 1.0, 1.0), box_hull(1.0, 1.0, 1.0)] {
        let rest = |pose: Pose| touch((&table, at(0.0, 0.0, 0.0)), (&cylinder(0.5, 0.2), pose), 1e-12);
        all_touch(&rest(at(0.3, 0.1, 1.5)), 4, Vec3::Z);
        all_touch(&rest(lying(0.3, 0.1, 1.2)), 2, Vec3::Z);
        // Lying over the edge: from the end to the edge.
        let over = rest(lying(0.8, 0.1, 1.2));
        all_touch(&over, 2, Vec3::Z);
        spread(&over, Vec3::new(0.3, 0.1, 1.0), 1e-15);
        spread(&over, Vec3::new(1.0, 0.1, 1.0), 1e-15);
        // Standing over the edge: rim points on the table and the two where the rim leaves it.
        let over = rest(at(0.9, 0.0, 1.5));
        assert!(over.iter().all(|c| c.gap.abs() < 1e-15 && c.point.x < 1.0 + 1e-9), "{over:#?}");
        let y = (0.2_f64 * 0.2 - 0.1 * 0.1).sqrt();
        for (x, y) in [(0.7, 0.0), (0.9, 0.2), (0.9, -0.2), (1.0, y), (1.0, -y)] {
            spread(&over, Vec3::new(x, y, 1.0), 1e-15);
        }
        // Side against a wall.
        all_touch(&rest(at(1.2, 0.0, 0.3)), 2, Vec3::X);
        // Side against an upright edge.
        let d = 1.0 + 0.2 * 0.5_f64.sqrt();
        all_touch(&rest(at(d, d, 0.0)), 2, Vec3::new(1.0, 1.0, 0.0).normalize());
        // Side across a level edge.
        let d = 1.0 + 0.2 * 0.5_f64.sqrt();
        let c = rest(turned(d, 0.0, d, Vec3::Y * -FRAC_PI_2 * 0.5));
        all_touch(&c, 1, Vec3::new(1.0, 0.0, 1.0).normalize());
    }
    // A small box under a large flat end.
    let c = touch((&cuboid(0.1, 0.1, 0.1), at(0.0, 0.0, 0.0)), (&cylinder(0.5, 1.0), at(0.2, 0.1, 0.6)), 1e-12);
    all_touch(&c, 4, Vec3::Z);
}

#[test]
fn a_rim_across_an_edge_touches_at_the_right_distance() {
    // Tilted by 45° about y, axis in the x–z plane; its lower rim's lowest point is over an edge along y, which is a tangent of the rim.
    let edge = 0.5_f64.sqrt();
    let table = turned(0.0, 0.0, -edge, Vec3::Y * FRAC_PI_2 * 0.5);
    let tilt = 0.6_f64;
    for gap in [0.0, 1e-3] {
        let lowest = 0.5 * tilt.cos() + 0.2 * tilt.sin();
        // The ridge runs along y; turn the cylinder's tilt so that its lowest point is not a tangent but crosses.
        let pose = turned(0.0, 0.0, 0.0, Vec3::X * tilt);
        let low = pose.transform_point(Vec3::new(0.0, -0.2, -0.5));
        assert!((low.z + lowest).abs() < 1e-15);
        let pose = Pose::from_parts(-low + Vec3::Z * gap, pose.rotation);
        let c = touch((&cuboid(0.5, 0.5, 0.5), table), (&cylinder(0.5, 0.2), pose), 2e-3);
        assert_eq!(c.len(), 1, "{c:#?}");
        assert!((c[0].gap - gap).abs() < 1e-15 && c[0].normal.abs_diff_eq(Vec3::Z, 1e-9), "{c:#?}");
    }
}

/// Between parallel and crossing there is no angle at which side and edge miss each other, and bodies are pushed out the long way.
#[test]
fn a_side_along_an_edge_touches_at_any_angle() {
    let table = turned(0.0, 0.0, -0.5_f64.sqrt(), Vec3::Y * FRAC_PI_2 * 0.5);
    let (half, overlap) = (0.3, 1e-5);
    for angle in [0.0, 1e-10, 1e-8, 1e-6, 2.4e-5, 9.9e-5, 1.01e-4, 1e-3] {
        for sign in [-1.0, 1.0] {
            let pose = turned(0.0, 0.0, 0.2 - overlap, Vec3::X * (FRAC_PI_2 + sign * angle));
            let c = touch((&cuboid(0.5, 0.5, 0.5), table), (&cylinder(half, 0.2), pose), 1e-12);
            let deepest = c.iter().map(|c| -c.gap).fold(0.0, f64::max);
            let most = overlap + half * angle;
            assert!(deepest > 0.9 * overlap && deepest < 1.001 * most, "{angle}: {c:#?}");
            assert!(c.iter().all(|c| c.normal.abs_diff_eq(Vec3::Z, 2.0 * angle + 1e-12)), "{angle}: {c:#?}");
        }
    }
}

#[test]
fn cylinders_touch_cylinders() {
    let (a, b) = (cylinder(0.5, 0.2), cylinder(0.5, 0.2));
    let pair = |pose: Pose| touch((&a, at(0.0, 0.0, 0.0)), (&b, pose), 1e-12);
    all_touch(&pair(at(0.0, 0.0, 1.0)), 4, Vec3::Z);
    let c = pair(at(0.4, 0.0, 0.3));
    all_touch(&c, 2, Vec3::X);
    spread(&c, Vec3::new(0.2, 0.0, -0.2), 1e-15);
    spread(&c, Vec3::new(0.2, 0.0, 0.5), 1e-15);
    all_touch(&pair(turned(0.4, 0.0, 0.0, Vec3::X * 0.8)), 1, Vec3::X);
    // Lying across a standing one.
    all_touch(&pair(lying(0.0, 0.0, 0.7)), 2, Vec3::Z);
    // Offset stack: rim points of either inside the other, and where the rims cross.
    let c = pair(at(0.2, 0.0, 1.0));
    assert!(c.len() >= 4 && c.iter().all(|c| c.gap.abs() < 1e-15 && c.normal == Vec3::Z), "{c:#?}");
    spread(&c, Vec3::new(0.1, 0.03_f64.sqrt(), 0.5), 1e-15);
    spread(&c, Vec3::new(0.0, 0.0, 0.5), 1e-15);
}

#[test]
fn spheres_and_capsules_touch_cylinders() {
    let a = cylinder(0.5, 0.2);
    let ball = |x: f64, z: f64| touch((&a, at(0.0, 0.0, 0.0)), (&sphere(0.1), at(x, 0.0, z)), 1e-12);
    all_touch(&ball(0.3, 0.2), 1, Vec3::X);
    all_touch(&ball(0.1, 0.6), 1, Vec3::Z);
    all_touch(&ball(0.2 + 0.06, 0.5 + 0.08), 1, Vec3::new(0.6, 0.0, 0.8));
    let rod = |half: f64, pose: Pose| touch((&a, at(0.0, 0.0, 0.0)), (&capsule(half, 0.1), pose), 1e-12);
    let c = rod(0.5, lying(0.0, 0.0, 0.6));
    all_touch(&c, 2, Vec3::Z);
    spread(&c, Vec3::new(0.2, 0.0, 0.5), 1e-15);
    let c = rod(1.0, at(0.3, 0.0, 0.0));
    all_touch(&c, 2, Vec3::X);
    spread(&c, Vec3::new(0.2, 0.0, 0.5), 1e-15);
    all_touch(&rod(0.5, turned(0.3, 0.0, 0.1, Vec3::X * 1.1)), 1, Vec3::X);
}

#[test]
fn a_cylinder_on_a_height_field_stands_and_lies() {
    let field = Shape::height_field(vec![0.0; 441], 21, 21, 2.0, 2.0).unwrap();
    let rest =
        |pose: Pose| Scene::new(&[(field.clone(), Pose::identity())], &[(cylinder(0.3, 0.2), pose)]).find(0.0, 1e-12);
    for (x, y) in [(0.0, 0.0), (0.013, 0.37), (0.05, 0.05)] {
        let c = rest(at(x, y, 0.3));
        assert!(c.len() >= 4 && c.iter().all(|c| c.gap.abs() < 1e-15 && c.normal == Vec3::Z), "{c:#?}");
        for (dx, dy) in [(0.2, 0.0), (-0.2, 0.0), (0.0, 0.2), (0.0, -0.2)] {
            spread(&c, Vec3::new(x + dx, y + dy, 0.0), 1e-15);
        }
        let c = rest(lying(x, y, 0.2));
        assert!(
            c.len() >= 2 && c.iter().all(|c| c.gap.abs() < 1e-15 && c.normal.abs_diff_eq(Vec3::Z, 1e-15)),
            "{c:#?}"
        );
        spread(&c, Vec3::new(x + 0.3, y, 0.0), 1e-15);
        spread(&c, Vec3::new(x - 0.3, y, 0.0), 1e-15);
    }
}

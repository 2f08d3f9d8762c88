//! Random poses: symmetry, invariance, one pair against another that is the same shape, and parry's distances.

mod collision_support;

use collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{ContactPoint, Shape};

/// Same resultant geometry: the same number of contacts, each with a partner at the same place.
fn same(a: &[ContactPoint], b: &[ContactPoint], tolerance: f64) -> bool {
    a.len() == b.len()
        && a.iter().all(|c| {
            b.iter().any(|d| {
                (c.point - d.point).length() < tolerance
                    && (c.normal - d.normal).length() < tolerance
                    && (c.gap - d.gap).abs() < tolerance
            })
        })
}

/// A second pose for which the shapes are near each other.
fn near(random: &mut Random) -> Pose {
    let pose = random.pose(1.0);
    Pose::from_parts(pose.translation.normalize_or(Vec3::X) * random.within(0.4, 1.4), pose.rotation)
}

#[test]
fn a_hull_of_a_box_is_a_box() {
    let mut random = Random(1);
    let (mut found, mut different) = (0, 0);
    for _ in 0..4000 {
        let (a, b) = ((0.3, 0.4, 0.5), (0.2, 0.6, 0.4));
        let pose = near(&mut random);
        let boxes = touch((&cuboid(a.0, a.1, a.2), at(0.0, 0.0, 0.0)), (&cuboid(b.0, b.1, b.2), pose), 0.05);
        let hulls = touch((&box_hull(a.0, a.1, a.2), at(0.0, 0.0, 0.0)), (&box_hull(b.0, b.1, b.2), pose), 0.05);
        found += usize::from(!boxes.is_empty());
        if !same(&boxes, &hulls, 1e-12) {
            different += 1;
            if different < 3 {
                println!("{pose:?}\n{boxes:#?}\n{hulls:#?}");
            }
        }
    }
    println!("{found} {different}");
    assert!(found > 1000 && different == 0);
}

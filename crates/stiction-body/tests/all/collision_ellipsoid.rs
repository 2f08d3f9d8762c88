//! Ellipsoids against every shape: the common normal, points on both surfaces, and no direction that
//! is better, found by trying.

use crate::collision_support::*;
use stiction_body::math::{Mat3, Pose, Vec3};
use stiction_body::{ContactPoint, Shape, ShapeKind};

fn ellipsoid(x: f64, y: f64, z: f64) -> Shape {
    Shape::ellipsoid(Vec3::new(x, y, z)).unwrap()
}

/// How far a point is outside a shape, roughly; at most 0 within.
fn outside(shape: &Shape, p: Vec3) -> f64 {
    let across = (p.x * p.x + p.y * p.y).sqrt();
    match shape.kind() {
        ShapeKind::Sphere { radius } => p.length() - radius,
        ShapeKind::Cuboid { half } => (p.abs() - *half).max_element(),
        ShapeKind::Capsule { half_length, radius } => {
            (p - Vec3::Z * p.z.clamp(-half_length, *half_length)).length() - radius
        }
        ShapeKind::Cylinder { half_length, radius } => (p.z.abs() - half_length).max(across - radius),
        ShapeKind::Ellipsoid { radii } => ((p / *radii).length() - 1.0) * radii.min_element(),
        // No direction is tried in which all points are lower.
        ShapeKind::Hull { points } => {
            let mut random = Random(3);
            let directions = (0..200).map(|_| random.vector(1.0).normalize());
            let above =
                directions.map(|n| n.dot(p) - points.iter().map(|q| n.dot(*q)).fold(f64::NEG_INFINITY, f64::max));
            above.fold(f64::NEG_INFINITY, f64::max)
        }
        _ => unreachable!(),
    }
}

/// The separation of b at a pose from a, along n.
fn along(a: &Shape, b: &Shape, pose: Pose, n: Vec3) -> f64 {
    n.dot(pose.translation) - extent(b, -(pose.rotation.inverse() * n)) - extent(a, n)
}

/// The greatest separation that a search finds.
fn searched(a: &Shape, b: &Shape, pose: Pose, random: &mut Random) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for k in 0..24 {
        let mut n = if k == 0 { pose.translation } else { random.vector(1.0) }.normalize();
        let (mut here, mut width) = (along(a, b, pose, n), 0.5);
        for _ in 0..200 {
            let next = (n + random.vector(width)).normalize();
            let there = along(a, b, pose, next);
            if there > here {
                (n, here) = (next, there);
                width *= 1.5;
            } else {
                width *= 0.8;
            }
        }
        best = best.max(here);
    }
    best
}

fn shapes() -> Vec<Shape> {
    let mut random = Random(17);
    let stone = (0..60).map(|_| random.vector(1.0).normalize() * random.within(0.3, 0.35)).collect();
    vec![
        sphere(0.3),
        cuboid(0.3, 0.4, 0.2),
        capsule(0.3, 0.15),
        cylinder(0.3, 0.25),
        cylinder(0.02, 0.4),
        Shape::hull(stone).unwrap(),
        box_hull(0.2, 0.5, 0.3),
        ellipsoid(0.3, 0.2, 0.1),
        ellipsoid(0.3, 0.3, 0.003),
        ellipsoid(0.3, 0.3 + 1e-12, 0.3 - 1e-9),
        ellipsoid(0.004, 0.3, 0.005),
    ]
}

/// What is wrong with the one contact of a shape in the world's frame and an ellipsoid.
fn fault(a: &Shape, b: &Shape, pose: Pose, c: &ContactPoint, random: &mut Random) -> Option<String> {
    let gap = along(a, b, pose, c.normal);
    if (gap - c.gap).abs() > 1e-14 {
        return Some(format!("gap {:e}, along its normal {gap:e}", c.gap));
    }
    let found = searched(a, b, pose, random);
    if found > c.gap + 1e-14 {
        return Some(format!("gap {:e}, but {found:e} is found", c.gap));
    }
    let [of_a, of_b] = [-0.5, 0.5].map(|k| c.point + c.normal * (k * c.gap));
    let out = outside(a, of_a).max(outside(b, pose.inverse_transform_point(of_b)));
    (out > 1e-13).then(|| format!("a point is outside by {out:e}, gap {:e}", c.gap))
}

#[test]
fn contacts_have_the_common_normal_of_the_closest_or_deepest_points() {
    let mut random = Random(29);
    let all = shapes();
    let (mut overlapping, mut apart, mut faults) = (0, 0, 0);
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().skip(7) {
            for k in 0..24 {
                let rotation = random.rotation();
                let n = random.vector(1.0).normalize();
                let touching = extent(a, n) + extent(b, rotation.inverse() * n);
                let shift = [0.3, -0.01, 1e-6, -1e-4, -0.1, 0.01][k % 6] * random.unit();
                let pose = Pose::from_parts(n * (touching + shift) + random.vector(0.01), rotation);
                let contacts = touch((a, Pose::IDENTITY), (b, pose), 1.0);
                assert!(contacts.len() == 1, "{i} {j} {k}: {contacts:?}");
                let c = &contacts[0];
                overlapping += usize::from(c.gap < 0.0);
                apart += usize::from(c.gap > 0.0);
                if let Some(fault) = fault(a, b, pose, c, &mut random) {
                    faults += 1;
                    eprintln!("{i} {j} {k}: {fault} {pose:?} {c:?}");
                }
            }
        }
    }
    assert!(overlapping > 100 && apart > 500, "{overlapping} {apart}");
    assert_eq!(faults, 0);
}

/// The order of the two, the unit of length and the place in the world change nothing.
#[test]
fn contacts_do_not_depend_on_order_unit_or_place() {
    let mut random = Random(31);
    let all = shapes();
    for a in &all {
        for b in &all[7..] {
            for _ in 0..20 {
                let pose =
                    Pose::from_parts(random.vector(1.0).normalize() * random.within(0.3, 0.7), random.rotation());
                let one = touch((a, Pose::IDENTITY), (b, pose), 1.0)[0];
                let other = touch((b, pose), (a, Pose::IDENTITY), 1.0)[0];
                let thin = 1e3;
                assert!((one.gap - other.gap).abs() < 1e-14, "{a:?} {b:?} {pose:?} {one:?} {other:?}");
                let world = random.pose(3.0);
                let moved = touch((a, world), (b, world * pose), 1.0)[0];
                assert!((one.gap - moved.gap).abs() < 1e-14);
                let normal = world.rotation.inverse() * moved.normal;
                // Deep overlaps may have two ways out that are as long.
                if one.gap > 0.0 {
                    assert!((one.normal + other.normal).length() < 1e-11 * thin, "{one:?} {other:?}");
                    assert!((one.normal - normal).length() < 1e-11 * thin, "{a:?} {b:?} {one:?} {moved:?}");
                }
            }
        }
    }
}

#[test]
fn an_ellipsoid_touches_a_plane_in_its_lowest_point() {
    let mut random = Random(37);
    for _ in 0..500 {
        let radii = Vec3::ZERO.map(|_| 10_f64.powf(random.within(-4.0, 0.0)));
        let pose = random.pose(0.5);
        let shape = Shape::ellipsoid(radii).unwrap();
        let space = random.pose(1.0);
        let found = Scene::new(&[(Shape::half_space(), space)], &[(shape, pose)]).find(0.0, 10.0);
        assert_eq!(found.len(), 1);
        let c = found[0];
        let up = space.rotation * Vec3::Z;
        let height = up.dot(pose.translation - space.translation);
        let gap = height - (radii * (pose.rotation.inverse() * up)).length();
        assert!((c.gap - gap).abs() < 1e-15 * (1.0 + height.abs()) * 4.0 && (c.normal - up).length() < 1e-15);
        let lowest = pose.inverse_transform_point(c.point + up * (0.5 * c.gap)) / radii;
        assert!((lowest.length() - 1.0).abs() < 1e-9, "{lowest}");
    }
}

/// A flat mesh and a flat height field are a plane to an ellipsoid over their middle, seams or not; a block
/// of triangles is a box.
#[test]
fn surfaces_are_like_the_solids_they_bound() {
    let mut random = Random(41);
    let field = Shape::height_field(vec![0.0; 81], 9, 9, 4.0, 4.0).unwrap();
    let half = Vec3::new(0.5, 0.4, 0.3);
    let corner = |c: i32| half * Vec3::new(1.0, 2.0, 4.0).map(|bit| if c & bit as i32 > 0 { 1.0 } else { -1.0 });
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|f: &[u32; 4]| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).collect();
    let mesh = Shape::mesh((0..8).map(corner).collect(), triangles).unwrap();
    for shape in [ellipsoid(0.3, 0.2, 0.1), ellipsoid(0.2, 0.2, 0.002), ellipsoid(0.2, 0.2 - 1e-10, 0.2)] {
        for k in 0..200 {
            let rotation = random.rotation();
            let up = rotation.inverse() * Vec3::Z;
            let ShapeKind::Ellipsoid { radii } = *shape.kind() else { unreachable!() };
            let height = (radii * up).length() + [0.05, -0.001, 1e-7, 0.0][k % 4];
            let place = if k % 3 == 0 {
                Vec3::ZERO
            } else {
                Vec3::new(random.within(-0.5, 0.5), random.within(-0.5, 0.5), 0.0)
            };
            let pose = Pose::from_parts(place + Vec3::Z * height, rotation);
            let plane = Scene::new(&[(Shape::half_space(), Pose::IDENTITY)], &[(shape.clone(), pose)]).find(0.0, 0.1);
            let terrain = Scene::new(&[(field.clone(), Pose::IDENTITY)], &[(shape.clone(), pose)]).find(0.0, 0.1);
            let lowest = terrain.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            assert!((lowest - plane[0].gap).abs() < 1e-14, "{k}: {plane:?} {terrain:?}");
            // Apart from a block, or hardly in it.
            let n = random.vector(1.0).normalize();
            let shift = [0.03, 1e-6, -1e-7][k % 3];
            let far = half.dot(n.abs()) + (radii * (rotation.inverse() * n)).length() + shift;
            let pose = Pose::from_parts(n * far, rotation);
            let solid = touch((&cuboid(half.x, half.y, half.z), Pose::IDENTITY), (&shape, pose), 2.0);
            let surface = Scene::new(&[(mesh.clone(), Pose::IDENTITY)], &[(shape.clone(), pose)]).find(0.0, 2.0);
            let gap = surface.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            assert!((gap - solid[0].gap).abs() < 1e-12, "{k}: {solid:?} {surface:?}");
        }
    }
}

/// A gap is foreseen with the normal of the moment it closes, and a body that passes has no contact.
#[test]
fn gaps_close_when_they_are_foreseen_to() {
    let dt = 0.01;
    for (shape, other) in [(ellipsoid(0.3, 0.2, 0.1), cuboid(0.5, 0.5, 0.1)), (ellipsoid(0.2, 0.1, 0.1), sphere(0.3))] {
        let scene = |velocity: Vec3, spin: Vec3| {
            let bodies = [(other.clone(), Pose::IDENTITY), (shape.clone(), at(0.0, 0.0, 0.43))];
            Scene::new(&[], &bodies).moving(1, velocity, spin).find(dt, 0.0)
        };
        let falling = scene(Vec3::Z * -30.0, Vec3::ZERO);
        assert_eq!(falling.len(), 1);
        assert!((falling[0].normal - Vec3::Z).length() < 1e-12 && falling[0].gap > 0.0);
        assert!(scene(Vec3::X * 30.0, Vec3::ZERO).is_empty());
    }
    // A turn alone lays it down on the box.
    let tilted = turned(0.0, 0.0, 0.0, Vec3::Y * 0.5);
    let across = Mat3::from_quat(tilted.rotation).transpose() * Vec3::Z;
    let height = (Vec3::new(0.3, 0.2, 0.1) * across).length() + 0.1 + 1e-4;
    let pose = Pose::from_parts(Vec3::Z * height, tilted.rotation);
    let bodies = [(cuboid(0.5, 0.5, 0.1), Pose::IDENTITY), (ellipsoid(0.3, 0.2, 0.1), pose)];
    let spinning = Scene::new(&[], &bodies).moving(1, Vec3::ZERO, Vec3::Y * 2.0).find(dt, 0.0);
    let back = Scene::new(&[], &bodies).moving(1, Vec3::ZERO, Vec3::Y * -2.0).find(dt, 0.0);
    assert_eq!([spinning.len(), back.len()].iter().sum::<usize>(), 1, "{spinning:?} {back:?}");
}

//! Contacts beside the distances that parry finds, which come from other methods and another's hands.

#[path = "../../crates/stiction-body/tests/collision_support/mod.rs"]
mod collision_support;

use collision_support::*;
use parry3d_f64::query;
use parry3d_f64::shape::SharedShape;
use stiction_body::math::{Pose, Vec3, axis_angle};
use stiction_body::{Shape, ShapeKind};

/// What parry's iterations are good for.
const PARRY: f64 = 1e-5;

/// Parry's shape; its cylinders are along y.
fn parry(shape: &Shape) -> (SharedShape, Pose) {
    let along_z = Pose::from_rotation(axis_angle(Vec3::X * std::f64::consts::FRAC_PI_2));
    match shape.kind() {
        ShapeKind::Sphere { radius } => (SharedShape::ball(*radius), Pose::identity()),
        ShapeKind::Cuboid { half } => (SharedShape::cuboid(half.x, half.y, half.z), Pose::identity()),
        ShapeKind::Capsule { half_length, radius } => (SharedShape::capsule_z(*half_length, *radius), Pose::identity()),
        ShapeKind::Cylinder { half_length, radius } => (SharedShape::cylinder(*half_length, *radius), along_z),
        ShapeKind::Hull { points } => (SharedShape::convex_hull(points).unwrap(), Pose::identity()),
        _ => unreachable!(),
    }
}

/// The greatest separation along a direction, found by trying: it proves that shapes are apart, where parry's distance is 0 at times (two cylinders).
fn separation(a: &Shape, b: &Shape, pose: Pose, random: &mut Random) -> f64 {
    let along = |n: Vec3| {
        let turned = pose.rotation.inverse() * n;
        n.dot(pose.translation) - extent(b, -turned) - extent(a, n)
    };
    let mut best = (f64::NEG_INFINITY, Vec3::X);
    let mut width = 1.0;
    for k in 0..3000 {
        let n = if k < 1000 { random.vector(1.0) } else { best.1 + random.vector(width) }.normalize();
        let separation = along(n);
        if separation > best.0 {
            best = (separation, n);
        } else if k >= 1000 {
            width = f64::max(0.985 * width, 1e-9);
        }
    }
    best.0
}

#[test]
fn gaps_bound_the_distances_that_it_finds() {
    let mut random = Random(23);
    let shapes = shapes();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            let (pa, pb) = (parry(a), parry(b));
            // Sharp shapes that are apart have a gap along a face's or edge's normal, exact where it closes.
            let nearly = if i.max(j) > 3 { 2.0 } else { 1.2 };
            let (mut touching, mut equal) = (0, 0);
            for _ in 0..300 {
                let pose = near(&mut random);
                let pose = Pose::from_parts(pose.translation * 0.8, pose.rotation);
                let distance = query::distance(&pa.1, &*pa.0, &(pose * pb.1), &*pb.0).unwrap().distance;
                let distance = if distance == 0.0 { separation(a, b, pose, &mut random).max(0.0) } else { distance };
                let contacts = touch((a, at(0.0, 0.0, 0.0)), (b, pose), 0.1);
                let gap = contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
                let right = if contacts.is_empty() {
                    distance > 0.1 - PARRY || distance > PARRY
                } else if distance > 0.0 {
                    gap <= nearly * distance + PARRY && gap > -PARRY
                } else {
                    gap <= PARRY
                };
                touching += usize::from(!contacts.is_empty());
                equal += usize::from(!contacts.is_empty() && distance > 0.0 && (gap - distance).abs() < PARRY);
                assert!(right, "{i} {j} distance {distance} gap {gap} {pose:?} {contacts:#?}");
            }
            assert!(touching > 50 && equal > 10, "{i} {j} {touching} {equal}");
        }
    }
}

/// A bumpy square as height field and as mesh, the same triangles.
fn bumps(random: &mut Random) -> (Shape, Shape) {
    let n = 15;
    let heights: Vec<f64> = (0..n * n).map(|_| random.within(-0.08, 0.08)).collect();
    let along = |i: usize| (i as f64 / (n - 1) as f64 - 0.5) * 2.0;
    let vertices = (0..n * n).map(|k| Vec3::new(along(k / n), along(k % n), heights[k])).collect();
    let at = |i: usize, j: usize| (i * n + j) as u32;
    let cell = |k: usize| {
        let (i, j) = (k / (n - 1), k % (n - 1));
        [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
    };
    let triangles = (0..(n - 1) * (n - 1)).flat_map(cell).collect();
    (Shape::height_field(heights, n, n, 2.0, 2.0).unwrap(), Shape::mesh(vertices, triangles).unwrap())
}

/// Parry's distance to the mesh: 0 where they meet.
fn distance(mesh: &Shape, shape: &Shape, pose: Pose) -> f64 {
    let ShapeKind::Mesh { vertices, triangles } = mesh.kind() else { unreachable!() };
    let mesh = SharedShape::trimesh(vertices.clone(), triangles.clone()).unwrap();
    let (other, local) = parry(shape);
    query::distance(&Pose::identity(), &*mesh, &(pose * local), &*other).unwrap().distance
}

#[test]
fn on_bumpy_ground_gaps_agree_with_distances() {
    let mut random = Random(53);
    let shapes =
        [sphere(0.15), cuboid(0.15, 0.1, 0.2), capsule(0.15, 0.08), cylinder(0.15, 0.1), box_hull(0.1, 0.2, 0.1)];
    let (mut apart, mut meeting) = (0, 0);
    for k in 0..1000 {
        let (field, mesh) = bumps(&mut random);
        let shape = shapes[k % 5].clone();
        let pose = Pose::from_parts(
            Vec3::new(random.within(-0.6, 0.6), random.within(-0.6, 0.6), random.within(0.1, 0.35)),
            random.rotation(),
        );
        let distance = distance(&mesh, &shape, pose);
        for ground in [field, mesh] {
            let contacts = Scene::new(&[(ground.clone(), Pose::identity())], &[(shape.clone(), pose)]).find(0.0, 0.03);
            let gap = contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            let told = || format!("{k} distance {distance} gap {gap} {shape:?} {pose:?} {contacts:#?}");
            if distance > PARRY {
                assert!(gap > -PARRY, "apart: {}", told());
                apart += usize::from(!contacts.is_empty());
                // Round shapes have their distance as gap.
                if distance < 0.03 - PARRY && k % 5 % 2 == 0 && k % 5 < 4 {
                    assert!(gap < distance + PARRY, "too far: {}", told());
                }
            } else {
                assert!(gap < PARRY, "meets: {}", told());
                meeting += 1;
            }
            // Contacts that are not deep push the shape out of the ground, upwards.
            assert!(contacts.iter().all(|c| c.normal.z > 0.0 || gap < -0.01), "{}", told());
        }
    }
    assert!(apart > 100 && meeting > 100, "{apart} {meeting}");
}

//! Meshes and height fields: contacts as on the smooth solid, whatever the triangles.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{CollisionRules, ContactPoint, Shape};

fn flat_field(n: usize, length: f64) -> Shape {
    Shape::height_field(vec![0.0; n * n], n, n, length, length).unwrap()
}

/// A box as twelve triangles.
fn box_mesh(x: f64, y: f64, z: f64) -> Shape {
    let corner = |c: i32| {
        Vec3::new(if c & 1 > 0 { x } else { -x }, if c & 2 > 0 { y } else { -y }, if c & 4 > 0 { z } else { -z })
    };
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).collect();
    Shape::mesh((0..8).map(corner).collect(), triangles).unwrap()
}

fn on(ground: Shape, shape: Shape, pose: Pose, margin: f64) -> Vec<ContactPoint> {
    Scene::new(&[(ground, Pose::identity())], &[(shape, pose)]).find(0.0, margin)
}

#[test]
fn a_ball_on_a_flat_field_has_one_contact_wherever_it_is() {
    let mut random = Random(3);
    let places = (0..500).map(|_| (random.within(-0.9, 0.9), random.within(-0.9, 0.9)));
    let seams =
        [(0.0, 0.0), (0.2, 0.2), (0.1, 0.1), (0.2, 0.05), (0.05, 0.2), (0.2 + 1e-10, 0.05), (0.2 - 1e-13, 0.05)];
    for (x, y) in places.chain(seams) {
        let c = on(flat_field(11, 2.0), sphere(0.1), at(x, y, 0.1), 1e-3);
        assert_eq!(c.len(), 1, "at {x} {y}: {c:#?}");
        assert!(c[0].normal.abs_diff_eq(Vec3::Z, 1e-15) && c[0].gap.abs() < 1e-16, "at {x} {y}: {c:?}");
    }
}

#[test]
fn a_box_on_a_flat_field_has_its_four_corners() {
    let mut random = Random(5);
    for k in 0..200 {
        let angle = if k % 2 == 0 { 0.0 } else { random.within(-1.0, 1.0) };
        let (x, y) = if k == 0 { (0.0, 0.0) } else { (random.within(-0.5, 0.5), random.within(-0.5, 0.5)) };
        let pose = turned(x, y, 0.1, Vec3::Z * angle);
        let c = on(flat_field(21, 2.0), cuboid(0.3, 0.2, 0.1), pose, 1e-6);
        assert_eq!(c.len(), 4, "{pose:?}: {c:#?}");
        for c in &c {
            assert!(c.gap.abs() < 1e-15 && c.normal == Vec3::Z);
        }
        for (sx, sy) in [(-0.3, -0.2), (-0.3, 0.2), (0.3, -0.2), (0.3, 0.2)] {
            let corner = pose.transform_point(Vec3::new(sx, sy, -0.1));
            assert!(has_point(&c, corner, 1e-14), "{corner} in {c:#?}");
        }
    }
    let rules = CollisionRules { keep_duplicates: true, ..CollisionRules::default() };
    let scene = [(flat_field(21, 2.0), Pose::identity())];
    let all = Scene::with_rules(&scene, &[(cuboid(0.3, 0.2, 0.1), at(0.0, 0.0, 0.1))], rules).find(0.0, 0.0);
    assert!(all.len() > 100, "{}", all.len());
}

#[test]
fn a_capsule_lies_on_a_flat_field_in_two_points() {
    let mut random = Random(7);
    for _ in 0..200 {
        let pose =
            turned(random.within(-0.5, 0.5), random.within(-0.5, 0.5), 0.1, Vec3::Y * std::f64::consts::FRAC_PI_2);
        let c = on(flat_field(21, 2.0), capsule(0.3, 0.1), pose, 1e-9);
        assert_eq!(c.len(), 2, "{c:#?}");
        assert!(c.iter().all(|c| c.gap.abs() < 1e-15 && c.normal.abs_diff_eq(Vec3::Z, 1e-14)));
    }
}

#[test]
fn a_mesh_of_a_box_is_a_box() {
    let mut random = Random(11);
    let mut found = 0;
    for k in 0..9000 {
        let shape = match k % 3 {
            0 => cuboid(0.2, 0.3, 0.25),
            1 => sphere(0.25),
            _ => capsule(0.3, 0.1),
        };
        let pose = random.pose(1.0);
        let pose = Pose::from_parts(pose.translation.normalize() * random.within(0.5, 1.0), pose.rotation);
        let solid = on(cuboid(0.5, 0.4, 0.3), shape.clone(), pose, 0.02);
        let lowest = |c: &[ContactPoint]| c.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        // Deep overlaps are a matter of taste.
        if lowest(&solid) < -1e-4 {
            continue;
        }
        let mesh = on(box_mesh(0.5, 0.4, 0.3), shape, pose, 0.02);
        found += usize::from(!solid.is_empty());
        let same =
            solid.is_empty() == mesh.is_empty() && (solid.is_empty() || (lowest(&solid) - lowest(&mesh)).abs() < 1e-12);
        assert!(same, "{k} {pose:?}\n{solid:#?}\n{mesh:#?}");
    }
    assert!(found > 200, "{found}");
}

#[test]
fn a_box_on_a_box_mesh_has_four_corners_and_the_seam_none() {
    let c = on(box_mesh(1.0, 1.0, 0.5), cuboid(0.2, 0.3, 0.1), at(0.0, 0.0, 0.6), 0.0);
    assert_eq!(c.len(), 4, "{c:#?}");
    assert!(c.iter().all(|c| c.gap.abs() < 1e-15 && c.normal == Vec3::Z));
    // Overhanging: the corners of the overlap.
    let c = on(box_mesh(1.0, 1.0, 0.5), cuboid(0.2, 0.3, 0.1), at(1.0, 0.9, 0.6), 0.0);
    assert_eq!(c.len(), 4, "{c:#?}");
    for (x, y) in [(0.8, 0.6), (1.0, 0.6), (0.8, 1.0), (1.0, 1.0)] {
        assert!(has_point(&c, Vec3::new(x, y, 0.5), 1e-15), "{c:#?}");
    }
}

#[test]
fn slopes_have_their_own_normals() {
    // A roof along y with sides of slope 1/2.
    let heights = (0..21).flat_map(|i| vec![-0.5 * (i as f64 - 10.0).abs() * 0.1; 21]).collect();
    let roof = Shape::height_field(heights, 21, 21, 2.0, 2.0).unwrap();
    let n = Vec3::new(1.0, 0.0, 2.0).normalize();
    let foot = Vec3::new(0.5, 0.03, -0.25);
    let c = on(roof.clone(), sphere(0.2), Pose::from_translation(foot + n * 0.2), 1e-6);
    assert_eq!(c.len(), 1);
    assert!(c[0].normal.abs_diff_eq(n, 1e-15) && c[0].gap.abs() < 1e-15);
    // On the ridge: straight up.
    let c = on(roof, sphere(0.2), at(0.0, 0.07, 0.2), 1e-6);
    assert_eq!(c.len(), 1, "{c:#?}");
    assert!(c[0].normal.abs_diff_eq(Vec3::Z, 1e-15) && c[0].gap.abs() < 1e-15);
}

#[test]
fn a_box_slides_over_seams_without_a_bump() {
    for k in 0..400 {
        let x = -0.5 + 0.0025 * f64::from(k);
        let mut scene =
            Scene::new(&[(flat_field(11, 2.0), Pose::identity())], &[(cuboid(0.1, 0.1, 0.1), at(x, 0.013, 0.1))])
                .moving(0, Vec3::new(3.0, 0.4, -0.01), Vec3::ZERO);
        let c = scene.find(1e-3, 1e-5);
        assert_eq!(c.len(), 4, "{x}: {c:#?}");
        assert!(c.iter().all(|c| c.normal == Vec3::Z && c.gap.abs() < 1e-15));
    }
}

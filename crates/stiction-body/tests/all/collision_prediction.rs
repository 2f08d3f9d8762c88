//! Contacts that are not touching yet are given where the shapes come to meet within the step, and only there.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{ContactPoint, Shape};

const DT: f64 = 1e-2;

fn step(world: &[(Shape, Pose)], body: (Shape, Pose), velocity: Vec3) -> Vec<ContactPoint> {
    Scene::new(world, &[body]).moving(0, velocity, Vec3::ZERO).find(DT, 0.0)
}

/// How far the body gets in the step when every contact row `n·v ≥ −gap/dt` must hold, as a part of its way.
fn stopped(contacts: &[ContactPoint], velocity: Vec3) -> bool {
    contacts.iter().any(|c| c.normal.dot(velocity) < -c.gap.max(0.0) / DT - 1e-12)
}

#[test]
fn what_falls_onto_a_face_is_stopped_there() {
    let table = [(cuboid(1.0, 1.0, 0.5), Pose::identity())];
    let down = Vec3::new(0.0, 0.0, -10.0);
    for shape in [cuboid(0.1, 0.1, 0.1), sphere(0.1), box_hull(0.1, 0.1, 0.1), cylinder(0.1, 0.1)] {
        for gap in [0.0, 0.01, 0.09] {
            let c = step(&table, (shape.clone(), at(0.3, 0.2, 0.6 + gap)), down);
            assert!(stopped(&c, down), "{shape:?} {gap} {c:#?}");
            assert!(c.iter().all(|c| c.normal == Vec3::Z && (c.gap - gap).abs() < 1e-15), "{c:#?}");
        }
        assert!(step(&table, (shape.clone(), at(0.3, 0.2, 0.6 + 0.11)), down).is_empty());
    }
}

#[test]
fn a_box_flies_past_the_edge_of_a_table() {
    for table in [cuboid(1.0, 1.0, 0.5), box_hull(1.0, 1.0, 0.5)] {
        let world = [(table, Pose::identity())];
        let fall = |x: f64, v: Vec3| {
            let c = step(&world, (cuboid(0.1, 0.1, 0.1), at(x, 0.0, 0.6 + 1e-3)), v);
            stopped(&c, v)
        };
        // Just past the edge, moving away and down: free.
        assert!(!fall(1.1 + 1e-4, Vec3::new(3.0, 0.0, -1.0)));
        // Past the edge, straight down: free.
        assert!(!fall(1.1 + 1e-4, Vec3::new(0.0, 0.0, -1.0)));
        // Over the edge by a bit: held.
        assert!(fall(1.1 - 1e-3, Vec3::new(0.0, 0.0, -1.0)));
        // Coming in over the edge while falling: held by the top, not by the side.
        assert!(fall(1.1 + 1e-3, Vec3::new(-3.0, 0.0, -1.0)));
    }
}

#[test]
fn a_ball_falls_beside_a_box() {
    let world = [(cuboid(1.0, 1.0, 0.5), Pose::identity())];
    let down = Vec3::new(0.0, 0.0, -10.0);
    for z in [0.5, 0.55, 0.6, 0.65] {
        let v = |x: f64| stopped(&step(&world, (sphere(0.1), at(x, 0.0, z)), down), down);
        assert!(!v(1.1 + 1e-6), "{z}: passes");
    }
    assert!(stopped(&step(&world, (sphere(0.1), at(1.05, 0.0, 0.65)), down), down), "hits the edge");
    let capsule = (capsule(0.2, 0.1), at(1.1 + 1e-6, 0.0, 0.78));
    assert!(!stopped(&step(&world, capsule, down), down));
}

/// Two balls, one of them on a straight way: stopped if and only if it hits, with the normal of the moment it does, and forces
/// along it through both centres; however far contacts are looked for.
#[test]
fn a_ball_is_stopped_by_another_where_it_hits_it() {
    let mut random = Random(17);
    let (mut hits, mut passes) = (0, 0);
    for _ in 0..20_000 {
        let (r, other) = (random.within(0.05, 0.2), random.within(0.05, 0.2));
        let centre = random.vector(1.0).normalize() * (r + other + random.within(1e-6, 0.05));
        let velocity = random.vector(10.0);
        let margin = if random.unit() < 0.5 { 0.0 } else { random.within(0.0, 0.1) };
        let world = [(sphere(other), Pose::identity())];
        let body = (sphere(r), Pose::from_translation(centre));
        let contacts = Scene::new(&world, &[body]).moving(0, velocity, Vec3::ZERO).find(DT, margin);
        // |centre + velocity t| = r + other, the first time.
        let (a, b) = (velocity.length_squared(), centre.dot(velocity));
        let root = b * b - a * (centre.length_squared() - (r + other) * (r + other));
        let time = if b < 0.0 && root > 0.0 { (-b - root.sqrt()) / a } else { f64::INFINITY };
        // Neither grazing nor right at the end of the step.
        if root.abs() < 1e-6 * a || (time - DT).abs() < 1e-6 {
            continue;
        }
        assert_eq!(stopped(&contacts, velocity), time < DT, "{centre} {velocity} {margin} {contacts:#?}");
        if time < DT {
            let (normal, c) = ((centre + velocity * time).normalize(), contacts[0]);
            assert!((c.normal - normal).length() < 1e-6, "{centre} {velocity}: {} instead of {normal}", c.normal);
            let arms = [c.point - c.lead, c.point + c.lead - centre];
            assert!(arms.iter().all(|arm| arm.cross(c.normal).length() < 1e-12), "{arms:?} {}", c.normal);
            hits += 1;
        } else {
            passes += 1;
        }
    }
    assert!(hits > 3000 && passes > 3000, "{hits} {passes}");
}

#[test]
fn boxes_pass_corner_to_corner() {
    let world = [(cuboid(0.5, 0.5, 0.5), Pose::identity())];
    let gap = 0.01;
    let pass = |v: Vec3| stopped(&step(&world, (cuboid(0.5, 0.5, 0.5), at(1.0 + gap, 0.0, 1.0 + gap)), v), v);
    assert!(!pass(Vec3::new(0.0, 0.0, -5.0)), "down beside it");
    assert!(!pass(Vec3::new(-5.0, 0.0, 0.0)), "across above it");
    assert!(!pass(Vec3::new(-5.0, 0.0, 5.0)), "away");
    assert!(pass(Vec3::new(-5.0, 0.0, -5.0)), "into the corner");
    // Landing on top, not against a wall that is not there.
    let v = Vec3::new(-5.0, 0.0, -1.5);
    let c = step(&world, (cuboid(0.5, 0.5, 0.5), at(1.0 + gap, 0.0, 1.0 + gap)), v);
    assert!(!c.is_empty() && c.iter().all(|c| c.normal == Vec3::Z), "{c:#?}");
}

#[test]
fn a_box_slides_over_the_joint_of_level_tiles() {
    let tiles = [(cuboid(0.5, 0.5, 0.1), at(-0.5, 0.0, -0.1)), (cuboid(0.5, 0.5, 0.1), at(0.5, 0.0, -0.1))];
    let v = Vec3::new(3.0, 0.0, -0.0981);
    for sink in [0.0, 1e-13, -1e-13, -1e-9, -1e-8] {
        for k in 0..300 {
            let x = -0.2 + 1.0371e-3 * f64::from(k);
            let c = step(&tiles, (cuboid(0.1, 0.1, 0.1), at(x, 0.0, 0.1 + sink)), v);
            let (up, other): (Vec<_>, Vec<_>) = c.iter().copied().partition(|c| c.normal == Vec3::Z);
            assert!(stopped(&up, v) && !stopped(&other, v), "{x} {sink} {c:#?}");
        }
    }
}

#[test]
fn a_peg_goes_into_a_hole_that_fits() {
    // Four walls around a square hole, clearance 1e-5 on each side.
    let (hole, c) = (0.1, 1e-5);
    let w = 0.2;
    let walls: Vec<_> = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .map(|(x, y)| (cuboid(w, w, 0.1), at(x * (hole + c + w), y * (hole + c + w), -0.1)))
        .to_vec();
    for z in [1e-3, 1e-6, 0.0, -1e-6, -1e-3, -0.05] {
        for v in [Vec3::new(0.0, 0.0, -0.5), Vec3::new(2e-4, 0.0, -0.5)] {
            let found = step(&walls, (cuboid(hole, hole, 0.3), at(0.0, 0.0, 0.3 + z)), v);
            let falling = Vec3::new(0.0, 0.0, -0.5);
            assert!(!stopped(&found, falling), "{z} {v} {found:#?}");
        }
    }
}

#[test]
fn what_moves_together_is_not_looked_at() {
    let v = Vec3::new(100.0, 0.0, 0.0);
    let bodies = [(cuboid(0.1, 0.1, 0.1), at(0.0, 0.0, 0.0)), (cuboid(0.1, 0.1, 0.1), at(0.3, 0.0, 0.0))];
    let mut scene = Scene::new(&[], &bodies).moving(0, v, Vec3::ZERO).moving(1, v, Vec3::ZERO);
    assert!(scene.find(DT, 0.0).is_empty());
    let mut scene = Scene::new(&[], &bodies).moving(0, v, Vec3::ZERO);
    assert_eq!(scene.find(DT, 0.0).len(), 4);
}

//! No allocation in a step once the buffers have their sizes, whatever the shapes.
//!
//! One test, for the counter is one for the whole process.

mod collision_support;

use std::alloc::System;

use collision_support::*;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stiction_body::math::{Pose, Vec3};
use stiction_body::{LinkMotion, Shape};

#[global_allocator]
static COUNTER: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_steady_scene_allocates_nothing() {
    let mut random = Random(7);
    let field = Shape::height_field((0..400).map(|_| random.within(-0.1, 0.1)).collect(), 20, 20, 6.0, 6.0).unwrap();
    let points: Vec<Vec3> =
        (0..400).map(|k| Vec3::new(0.3 * f64::from(k % 20) - 3.0, 0.3 * f64::from(k / 20) - 3.0, -0.1)).collect();
    let cell = |i: u32, j: u32| {
        [[20 * j + i, 20 * j + i + 1, 20 * j + i + 21], [20 * j + i, 20 * j + i + 21, 20 * j + i + 20]]
    };
    let triangles = (0..19).flat_map(|j| (0..19).flat_map(move |i| cell(i, j))).collect();
    let world = [
        (Shape::half_space(), at(0.0, 0.0, -0.2)),
        (field, Pose::identity()),
        (Shape::mesh(points, triangles).unwrap(), Pose::identity()),
    ];
    let ellipsoid = Shape::ellipsoid(Vec3::new(0.3, 0.2, 0.1)).unwrap();
    let stone = Shape::hull((0..60).map(|_| random.vector(1.0).normalize() * 0.3).collect()).unwrap();
    let shapes = [
        sphere(0.3),
        cuboid(0.3, 0.2, 0.3),
        capsule(0.3, 0.2),
        cylinder(0.3, 0.2),
        box_hull(0.3, 0.3, 0.2),
        ellipsoid,
        stone,
    ];
    let place = |random: &mut Random| {
        Pose::from_parts(Vec3::new(random.within(-1.0, 1.0), random.within(-1.0, 1.0), 0.2), random.rotation())
    };
    let bodies: Vec<_> = (0..40).map(|k| (shapes[k % 7].clone(), place(&mut random))).collect();
    let mut scene = Scene::new(&world, &bodies);
    let mut least = usize::MAX;
    for _ in 0..40 {
        scene.work.pose.iter_mut().for_each(|p| *p = place(&mut random));
        scene
            .motion
            .iter_mut()
            .for_each(|m| *m = LinkMotion { angular: random.vector(1.0), linear: random.vector(1.0) });
        let region = Region::new(COUNTER);
        let found = scene.collision.find(&scene.model, &scene.work, &scene.motion, 1e-2, 1e-3).len();
        let safe = scene.collision.safe_time(&scene.model, &scene.work, &scene.motion, 1e-2);
        let change = region.change();
        assert!(found > 100 && safe >= 0.0);
        least = least.min(change.allocations + change.reallocations);
        // The same again, twice, as contacts have two buffers in turn: every buffer has its size then.
        scene.collision.find(&scene.model, &scene.work, &scene.motion, 1e-2, 1e-3);
        let region = Region::new(COUNTER);
        scene.collision.find(&scene.model, &scene.work, &scene.motion, 1e-2, 1e-3);
        scene.collision.safe_time(&scene.model, &scene.work, &scene.motion, 1e-2);
        let change = region.change();
        assert_eq!(change.allocations + change.reallocations, 0);
    }
    assert_eq!(least, 0, "buffers settle");
}

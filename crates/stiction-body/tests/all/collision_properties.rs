//! Random poses: symmetry, invariance, one pair against another that is the same shape.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3, axis_angle};
use stiction_body::{ContactPoint, LinkMotion, Shape, ShapeKind};

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

#[test]
fn a_hull_of_a_box_is_a_box() {
    let mut random = Random(1);
    let mut found = 0;
    for _ in 0..4000 {
        let (a, b) = ((0.3, 0.4, 0.5), (0.2, 0.6, 0.4));
        let pose = near(&mut random);
        let boxes = touch((&cuboid(a.0, a.1, a.2), at(0.0, 0.0, 0.0)), (&cuboid(b.0, b.1, b.2), pose), 0.05);
        let hulls = touch((&box_hull(a.0, a.1, a.2), at(0.0, 0.0, 0.0)), (&box_hull(b.0, b.1, b.2), pose), 0.05);
        found += usize::from(!boxes.is_empty());
        assert!(same(&boxes, &hulls, 1e-12), "{pose:?}\n{boxes:#?}\n{hulls:#?}");
    }
    assert!(found > 1000, "{found}");
}

fn pairs() -> impl Iterator<Item = (Shape, Shape)> {
    let all = shapes();
    let other = all.clone();
    all.into_iter().flat_map(move |a| other.clone().into_iter().map(move |b| (a.clone(), b)))
}

#[test]
fn exchanged_shapes_have_the_same_gaps_and_opposite_normals() {
    let mut random = Random(29);
    for (a, b) in pairs() {
        for _ in 0..100 {
            let pose = near(&mut random);
            let ab = touch((&a, at(0.0, 0.0, 0.0)), (&b, pose), 0.02);
            let ba = touch((&b, pose), (&a, at(0.0, 0.0, 0.0)), 0.02);
            let turned: Vec<_> = ba.iter().map(|c| ContactPoint { normal: -c.normal, ..*c }).collect();
            assert!(same(&ab, &turned, 1e-9), "{a:?} {b:?} {pose:?}\n{ab:#?}\n{turned:#?}");
        }
    }
}

#[test]
fn contacts_move_with_everything() {
    let mut random = Random(31);
    for (a, b) in pairs() {
        for _ in 0..100 {
            let (pose, motion) = (near(&mut random), random.pose(3.0));
            let here = touch((&a, at(0.0, 0.0, 0.0)), (&b, pose), 0.02);
            let there = touch((&a, motion), (&b, motion * pose), 0.02);
            let moved: Vec<_> = here
                .iter()
                .map(|c| ContactPoint {
                    point: motion.transform_point(c.point),
                    normal: motion.rotation * c.normal,
                    ..*c
                })
                .collect();
            assert!(same(&moved, &there, 1e-12), "{a:?} {b:?} {pose:?}\n{moved:#?}\n{there:#?}");
        }
    }
}

/// Shapes resting on a box: the second shape and its pose.
fn resting() -> Vec<(Shape, Pose)> {
    let lying = Vec3::Y * std::f64::consts::FRAC_PI_2;
    vec![
        (sphere(0.1), at(0.1, 0.0, 0.6)),
        (cuboid(0.5, 0.5, 0.5), at(0.0, 0.0, 1.0)),
        (cuboid(0.2, 0.3, 0.1), at(0.1, 0.1, 0.6)),
        (cuboid(0.2, 0.3, 0.1), turned(0.4, 0.1, 0.6, Vec3::Z * 0.3)),
        (capsule(0.2, 0.1), turned(0.0, 0.0, 0.6, lying)),
        (capsule(1.0, 0.1), turned(0.0, 0.0, 0.6, lying)),
        (cylinder(0.2, 0.1), at(0.0, 0.0, 0.7)),
        (cylinder(0.2, 0.1), turned(0.0, 0.0, 0.6, lying)),
        (box_hull(0.2, 0.3, 0.1), at(0.1, 0.1, 0.6)),
    ]
}

fn grounds() -> Vec<(Shape, Pose)> {
    vec![
        (cuboid(0.5, 0.5, 0.5), at(0.0, 0.0, 0.0)),
        (box_hull(0.5, 0.5, 0.5), at(0.0, 0.0, 0.0)),
        (Shape::half_space(), at(0.0, 0.0, 0.5)),
        (Shape::height_field(vec![0.5; 36], 6, 6, 2.0, 2.0).unwrap(), at(0.0, 0.0, 0.0)),
    ]
}

#[test]
fn rounding_of_the_poses_is_rounding_of_the_contacts() {
    let mut random = Random(37);
    for (ground, place) in grounds() {
        for (shape, pose) in resting() {
            let world = [(ground.clone(), place)];
            let rest = Scene::new(&world, &[(shape.clone(), pose)]).find(0.0, 1e-9);
            for _ in 0..200 {
                let shift = random.vector(1e-13);
                let rotation = axis_angle(random.vector(1e-13)) * pose.rotation;
                let moved = Pose::from_parts(pose.translation + shift, rotation);
                let c = Scene::new(&world, &[(shape.clone(), moved)]).find(0.0, 1e-9);
                assert!(same(&rest, &c, 3e-12), "{ground:?} {shape:?}\n{rest:#?}\n{c:#?}");
                let ids = |c: &[ContactPoint]| c.iter().map(|c| c.feature).collect::<Vec<_>>();
                assert_eq!(ids(&rest), ids(&c), "{ground:?} {shape:?}");
            }
        }
    }
}

#[test]
fn names_and_order_stay_over_small_motion() {
    let mut random = Random(41);
    for (ground, place) in grounds() {
        // Not exactly aligned: corners that coincide may part.
        for (shape, pose) in resting().into_iter().filter(|(s, _)| *s != cuboid(0.5, 0.5, 0.5)) {
            let world = [(ground.clone(), place)];
            let mut pose = Pose::from_parts(pose.translation + Vec3::new(0.013, 0.017, 0.0), pose.rotation);
            let ids = |pose: Pose| {
                let mut scene = Scene::new(&world, &[(shape.clone(), pose)]);
                scene.find(0.0, 1e-3).iter().map(|c| c.feature).collect::<Vec<_>>()
            };
            let first = ids(pose);
            let unique: std::collections::BTreeSet<_> = first.iter().collect();
            assert!(unique.len() == first.len() && !first.is_empty());
            for _ in 0..200 {
                pose = Pose::from_parts(
                    pose.translation + random.vector(1e-6),
                    axis_angle(random.vector(1e-7)) * pose.rotation,
                );
                assert_eq!(ids(pose), first, "{ground:?} {shape:?} {pose:?}");
            }
        }
    }
}

#[test]
fn a_used_finder_gives_the_same_bits_as_a_fresh_one() {
    let mut random = Random(43);
    let world = grounds();
    let bodies: Vec<_> = shapes().into_iter().chain(shapes()).map(|s| (s, at(0.0, 0.0, 0.0))).collect();
    let mut used = Scene::new(&world, &bodies);
    for _ in 0..50 {
        used.work.pose = bodies.iter().map(|_| random.pose(1.5)).collect();
        used.motion =
            bodies.iter().map(|_| LinkMotion { angular: random.vector(1.0), linear: random.vector(1.0) }).collect();
        let mut fresh = Scene::new(&world, &bodies);
        fresh.work.pose.clone_from(&used.work.pose);
        fresh.motion.clone_from(&used.motion);
        let (a, b) = (used.find(0.01, 1e-3), fresh.find(0.01, 1e-3));
        assert!(!a.is_empty());
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
        let order: Vec<_> = a.iter().map(|c| (c.geoms, c.feature)).collect();
        assert!(order.windows(2).all(|w| w[0] < w[1]), "ordered by geoms and feature");
        assert!(a.iter().all(|c| (c.normal.length() - 1.0).abs() < 1e-14 && c.gap.is_finite()));
    }
}

#[test]
fn what_is_not_finite_touches_nothing() {
    let world = grounds();
    let bodies: Vec<_> = shapes().into_iter().map(|s| (s, at(0.0, 0.0, 0.4))).collect();
    let mut scene = Scene::new(&world, &bodies);
    assert!(!scene.find(0.0, 0.0).is_empty());
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(scene.find(bad, 0.0).is_empty() && scene.find(0.0, bad).is_empty());
        let mut broken = Scene::new(&world, &bodies);
        broken.work.pose[0].translation.x = bad;
        broken.work.pose[1].rotation.w = bad;
        broken.motion[2].linear.y = bad;
        broken.motion[3].angular.z = bad;
        let first = world.len();
        assert!(broken.find(1e-3, 0.0).iter().all(|c| c.geoms.iter().all(|g| *g < first || *g >= first + 4)));
    }
    // Everything far too large or too small.
    for scale in [1e-300, 1e-150, 1e150, 1e300] {
        let bodies: Vec<_> =
            bodies.iter().map(|(s, p)| (s.clone(), Pose::from_parts(p.translation * scale, p.rotation))).collect();
        Scene::new(&world, &bodies).find(1e-3, 1e-3);
    }
}

/// The same shape, `scale` times as large.
fn scaled(shape: &Shape, scale: f64) -> Shape {
    match shape.kind() {
        ShapeKind::Sphere { radius } => sphere(scale * radius),
        ShapeKind::Cuboid { half } => Shape::cuboid(*half * scale).unwrap(),
        ShapeKind::Capsule { half_length, radius } => capsule(scale * half_length, scale * radius),
        ShapeKind::Cylinder { half_length, radius } => cylinder(scale * half_length, scale * radius),
        ShapeKind::Hull { points } => Shape::hull(points.iter().map(|p| *p * scale).collect()).unwrap(),
        _ => unreachable!(),
    }
}

#[test]
fn units_do_not_matter() {
    let mut random = Random(47);
    // Powers of two: exact.
    for scale in [2.0_f64.powi(-20), 2.0_f64.powi(20)] {
        for (a, b) in pairs() {
            for _ in 0..20 {
                let pose = near(&mut random);
                let large = Pose::from_parts(pose.translation * scale, pose.rotation);
                let one = touch((&a, at(0.0, 0.0, 0.0)), (&b, pose), 0.02);
                let other = touch((&scaled(&a, scale), at(0.0, 0.0, 0.0)), (&scaled(&b, scale), large), 0.02 * scale);
                let back: Vec<_> =
                    other.iter().map(|c| ContactPoint { point: c.point / scale, gap: c.gap / scale, ..*c }).collect();
                assert!(same(&one, &back, 1e-12), "{scale} {a:?} {b:?} {pose:?}\n{one:#?}\n{back:#?}");
            }
        }
    }
}

#[test]
fn far_from_the_origin_only_the_poses_round() {
    let far = Vec3::new(1e4, -2e4, 3e4);
    for (ground, place) in grounds() {
        for (shape, pose) in resting() {
            let contacts = |shift: Vec3| {
                let moved = |p: &Pose| Pose::from_parts(p.translation + shift, p.rotation);
                Scene::new(&[(ground.clone(), moved(&place))], &[(shape.clone(), moved(&pose))]).find(0.0, 1e-9)
            };
            let (here, there) = (contacts(Vec3::ZERO), contacts(far));
            let back: Vec<_> = there.iter().map(|c| ContactPoint { point: c.point - far, ..*c }).collect();
            assert!(same(&here, &back, 1e-10), "{ground:?} {shape:?}\n{here:#?}\n{back:#?}");
        }
    }
}

#[test]
fn aligned_shapes_have_plain_contacts() {
    let mut random = Random(59);
    let half = std::f64::consts::FRAC_PI_2;
    let step = |random: &mut Random| 0.1 * (random.within(-6.0, 7.0)).floor();
    let quarter = |random: &mut Random| half * random.within(0.0, 4.0).floor();
    let ground = grounds();
    for k in 0..3000 {
        let all = shapes();
        let mut pose = || {
            let rotation = axis_angle(Vec3::X * quarter(&mut random)) * axis_angle(Vec3::Z * quarter(&mut random));
            Pose::from_parts(Vec3::new(step(&mut random), step(&mut random), step(&mut random)), rotation)
        };
        let bodies = [(all[k % 6].clone(), pose()), (all[k / 6 % 6].clone(), pose())];
        let mut scene = Scene::new(&ground[k % 4..=k % 4], &bodies);
        let contacts = scene.find(0.0, 1e-3);
        for c in &contacts {
            assert!(c.point.is_finite() && c.gap.is_finite() && (c.normal.length() - 1.0).abs() < 1e-14, "{c:?}");
        }
        let names: std::collections::BTreeSet<_> = contacts.iter().map(|c| (c.geoms, c.feature)).collect();
        assert_eq!(names.len(), contacts.len(), "{bodies:?} {contacts:#?}");
        // The deepest gap does not depend on the order.
        let [a, b] = &bodies;
        let deepest = |c: Vec<ContactPoint>| c.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let (ab, ba) = (deepest(touch((&a.0, a.1), (&b.0, b.1), 1e-3)), deepest(touch((&b.0, b.1), (&a.0, a.1), 1e-3)));
        assert!(ab == ba || (ab - ba).abs() < 1e-12, "{bodies:?} {ab} {ba}");
    }
}

#[test]
fn every_bit_is_the_same_on_every_machine_and_at_every_optimization() {
    /// Of the contacts below, in debug and release builds.
    const GOLDEN: u64 = 0xc4920200332ff40f;
    let mut random = Random(61);
    let world = grounds();
    let bodies: Vec<_> = shapes().into_iter().chain(shapes()).map(|s| (s, at(0.0, 0.0, 0.0))).collect();
    let mut scene = Scene::new(&world, &bodies);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    for _ in 0..100 {
        scene.work.pose = bodies.iter().map(|_| random.pose(1.5)).collect();
        let motion = |random: &mut Random| LinkMotion { angular: random.vector(1.0), linear: random.vector(1.0) };
        scene.motion = bodies.iter().map(|_| motion(&mut random)).collect();
        for c in scene.find(0.01, 1e-3) {
            let numbers = [c.point.x, c.point.y, c.point.z, c.normal.x, c.normal.y, c.normal.z, c.gap];
            numbers.iter().chain(&c.lead.to_array()).for_each(|x| add(x.to_bits()));
            add(c.feature ^ ((c.geoms[0] as u64) << 32) ^ ((c.geoms[1] as u64) << 48));
        }
        add(scene.collision.safe_time(&scene.model, &scene.work, &scene.motion, 0.01).to_bits());
    }
    assert_eq!(hash, GOLDEN, "{hash:#x}");
}

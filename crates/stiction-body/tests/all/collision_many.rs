//! Many geoms of all sizes: every pair that is near is found, once and in order, and contacts found
//! again are those of a fresh look.

use crate::collision_support::*;
use stiction_body::math::{Pose, Vec3};
use stiction_body::{
    Collision, CollisionRules, Geom, Inertia, LinkMotion, LinkSpec, LoopClosure, LoopKind, Margin, ModelBuilder, Shape,
    Workspace,
};

/// Balls whose radii span four decades, dense enough that many touch.
fn balls(random: &mut Random, count: usize) -> Vec<(f64, Vec3)> {
    let radius = |random: &mut Random| 10.0_f64.powi(-(random.within(0.0, 4.0) as i32)) * random.within(0.05, 0.5);
    (0..count).map(|_| (radius(random), random.vector(2.0))).collect()
}

#[test]
fn every_pair_that_touches_is_found_whatever_the_sizes() {
    let mut random = Random(3);
    for (count, away) in [(40, 0.0), (400, 0.0), (400, 1e6)] {
        let offset = Vec3::new(away, -away, 0.5 * away);
        let all: Vec<(f64, Vec3)> = balls(&mut random, count).iter().map(|(r, c)| (*r, *c + offset)).collect();
        let bodies: Vec<_> = all.iter().map(|(r, c)| (sphere(*r), Pose::from_translation(*c))).collect();
        let ground = (Shape::half_space(), Pose::from_translation(offset));
        let contacts = Scene::new(&[ground], &bodies).find(0.0, 0.0);
        let found: Vec<[usize; 2]> = contacts.iter().map(|c| c.geoms).collect();
        assert!(found.windows(2).all(|w| w[0] < w[1]), "in order, and each once");
        let clearly = 1.0 - 1e-9;
        let mut expected = 0;
        for (i, (r, c)) in all.iter().enumerate() {
            if c.z - offset.z < r * clearly {
                expected += 1;
                assert!(found.contains(&[0, i + 1]), "{i} on the ground");
            }
            for (j, (s, d)) in all.iter().enumerate().skip(i + 1) {
                if (*c - *d).length() < (r + s) * clearly {
                    expected += 1;
                    assert!(found.contains(&[i + 1, j + 1]), "{i} {j}");
                }
            }
        }
        assert!(expected > count / 2 && found.len() >= expected, "{expected} of {count}");
    }
}

#[test]
fn contacts_found_again_are_those_of_a_fresh_look() {
    let mut random = Random(9);
    let shapes = [sphere(0.3), cuboid(0.3, 0.2, 0.3), capsule(0.3, 0.2), cylinder(0.3, 0.2), box_hull(0.3, 0.3, 0.2)];
    let bodies: Vec<_> = (0..60).map(|k| (shapes[k % 5].clone(), random.pose(1.0))).collect();
    let ground = [(Shape::half_space(), Pose::identity())];
    let mut scene = Scene::new(&ground, &bodies);
    let turn = |random: &mut Random| LinkMotion { angular: random.vector(1.0), linear: random.vector(1.0) };
    scene.motion.iter_mut().for_each(|m| *m = turn(&mut random));
    let (dt, margin) = (1e-2, 1e-3);
    scene.find(dt, margin);
    for round in 0..20 {
        for pose in &mut scene.work.pose {
            if random.unit() < 0.05 * f64::from(round) {
                pose.translation += random.vector(1e-2);
            }
        }
        let fresh = Scene::new(&ground, &bodies).find_at(&scene, dt, margin);
        let Scene { model, collision, work, motion, .. } = &mut scene;
        assert_eq!(collision.find_again(model, work, motion, dt), fresh, "round {round}");
        if round % 5 == 4 {
            // Geoms are placed for another step, without contacts.
            work.pose[0].translation += random.vector(1e-2);
            collision.safe_time(model, work, motion, dt);
            let fresh = Scene::new(&ground, &bodies).find_at(&scene, dt, margin);
            assert_eq!(scene.find(dt, margin), fresh, "round {round}");
        }
    }
}

#[test]
fn contacts_after_any_motion_are_those_of_a_fresh_look() {
    let mut random = Random(4);
    // Few geoms and many; some stand still, some creep, some jump, and one is lost for a while.
    for count in [30, 500] {
        let bodies: Vec<_> =
            balls(&mut random, count).iter().map(|(r, c)| (sphere(*r), Pose::from_translation(*c))).collect();
        let ground = [(Shape::half_space(), Pose::identity())];
        let mut scene = Scene::new(&ground, &bodies);
        for round in 0..40 {
            for (k, pose) in scene.work.pose.iter_mut().enumerate() {
                match k % 4 {
                    0 => pose.translation += random.vector(1e-3),
                    1 if round % 10 == 9 => pose.translation += random.vector(1.0),
                    _ => {}
                }
            }
            scene.work.pose[2].translation.x = if round % 7 == 3 { f64::NAN } else { 0.5 };
            scene.motion.iter_mut().step_by(5).for_each(|m| m.linear = random.vector(1.0));
            let dt = [1e-3, 1e-2][round / 4 % 2];
            let margin = [0.0.into(), 1e-3.into(), Margin::OfHits(1.0), Margin::OfHits(1.0)][round / 2 % 4];
            let fresh = Scene::new(&ground, &bodies).find_at(&scene, dt, margin);
            assert_eq!(scene.find(dt, margin), fresh, "{count} geoms, round {round}");
        }
    }
}

#[test]
fn contacts_that_no_step_can_be_made_of_are_not_kept() {
    // 512 balls in one place have 130,816 contacts, 513 have 131,328: 2¹⁷ lies between.
    for (count, contacts) in [(512, 130_816), (513, 0)] {
        let bodies: Vec<_> = (0..count)
            .map(|k| (sphere(0.1), Pose::from_translation(Vec3::new(1e-4 * f64::from(k), 0.0, 0.0))))
            .collect();
        let mut scene = Scene::new(&[], &bodies);
        assert_eq!(scene.find(0.0, 0.0).len(), contacts);
        assert_eq!(scene.collision.take_crowded(), contacts == 0);
        assert!(!scene.collision.take_crowded());
    }
}

#[test]
fn contacts_are_looked_for_as_far_as_a_hit_may_push() {
    // Two cubes with 1 cm between them, and a ball that flies 3 cm in the step: past them, or at the first one.
    let at = |x: f64, z: f64| Pose::from_translation(Vec3::new(x, 0.0, z));
    let cubes = [(cuboid(0.1, 0.1, 0.1), at(0.0, 0.0)), (cuboid(0.1, 0.1, 0.1), at(0.21, 0.0))];
    for (height, found) in [(1.0, vec![]), (0.0, vec![[0, 1], [0, 2]])] {
        let ball = (sphere(0.1), at(-0.22, height));
        let mut scene = Scene::new(&[], &[cubes[0].clone(), cubes[1].clone(), ball]);
        scene.motion[2].linear = Vec3::new(3.0, 0.0, 0.0);
        let Scene { model, collision, work, motion } = &mut scene;
        let contacts = collision.find(model, work, motion, 1e-2, Margin::OfHits(0.5));
        let mut pairs: Vec<_> = contacts.iter().map(|c| c.geoms).collect();
        pairs.dedup();
        assert_eq!(pairs, found, "{height}");
        assert!(!collision.find(model, work, motion, 1e-2, 0.015).is_empty(), "a margin for all");
    }
}

#[test]
fn bodies_that_move_alike_are_looked_at_as_if_they_stood_still() {
    // Two cubes with 1 cm between them fall by 3 cm in the step, with the ground out of reach, and within it.
    let cubes = [0.0, 0.21].map(|x| (cuboid(0.1, 0.1, 0.1), Pose::from_translation(Vec3::new(x, 0.0, 0.0))));
    for (depth, found) in [(1.0, vec![]), (0.12, vec![[0, 1], [0, 2], [1, 2]])] {
        let ground = (Shape::half_space(), Pose::from_translation(Vec3::new(0.0, 0.0, -depth)));
        let mut scene = Scene::new(&[ground], &cubes);
        scene.motion.iter_mut().for_each(|motion| motion.linear = Vec3::new(0.0, 0.0, -3.0));
        let Scene { model, collision, work, motion } = &mut scene;
        let mut pairs: Vec<_> =
            collision.find(model, work, motion, 1e-2, Margin::OfHits(0.5)).iter().map(|c| c.geoms).collect();
        pairs.dedup();
        assert_eq!(pairs, found, "{depth}");
        // As fast as before, but towards each other.
        motion[0].linear = Vec3::new(3.0, 0.0, 0.0);
        assert!(!collision.find(model, work, motion, 1e-2, Margin::OfHits(0.5)).is_empty());
    }
}

#[test]
fn a_hit_passes_on_through_what_is_tied_together() {
    // A ball flies at the first of two cubes that a loop ties together, 1 m apart; a third one is 1 cm beside the second.
    let at = |x: f64, y: f64| Pose::from_translation(Vec3::new(x, y, 0.0));
    let poses = [at(0.0, 0.0), at(0.0, 1.0), at(0.21, 1.0), at(-0.22, 0.0)];
    for tied in [false, true] {
        let mut builder = ModelBuilder::default();
        for name in ["first", "second", "third", "ball"] {
            builder.add(LinkSpec::free(name, Inertia::sphere(1.0, 0.1))).unwrap();
        }
        if tied {
            let (frame_a, frame_b) = (at(0.0, 1.0), Pose::identity());
            builder
                .close_loop(LoopClosure { a: Some(0), b: Some(1), frame_a, frame_b, kind: LoopKind::Point })
                .unwrap();
        }
        let (model, _) = builder.build().unwrap();
        let shape = |k: usize| if k < 3 { cuboid(0.1, 0.1, 0.1) } else { sphere(0.1) };
        let geoms = (0..4).map(|k| Geom::new("", Some(k), Pose::identity(), shape(k))).collect();
        let mut collision = Collision::new(&model, geoms, CollisionRules::default()).unwrap();
        let mut work = Workspace::default();
        work.pose = poses.to_vec();
        let mut motion = vec![LinkMotion::ZERO; 4];
        motion[3].linear = Vec3::new(3.0, 0.0, 0.0);
        let contacts = collision.find(&model, &work, &motion, 1e-2, Margin::OfHits(0.5));
        assert_eq!(contacts.iter().any(|c| c.geoms == [1, 2]), tied);
    }
}

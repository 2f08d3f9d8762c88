//! Every pair of overlapping hulls has a contact, checked against a search over all axes that can
//! separate two polytopes.

use crate::collision_support::*;
use stiction_body::Shape;
use stiction_body::math::{Pose, Vec3, axis_angle};

/// Overlap from which on a contact is asked for, beside the size of the smaller hull.
const DEEP: f64 = 1e-6;

/// Depth by which contacts may be deeper than the least motion, beside the same size: what is
/// shallow may be held along another axis.
const SKIN: f64 = 2e-3;

/// The greatest separation of two sets of points over all directions that can be the best one: the
/// normals of planes through three points of one set, and the common normals of two lines. Negative
/// where the hulls overlap; nothing here knows which points are corners or which lines are edges.
fn separation(a: &[Vec3], b: &[Vec3]) -> f64 {
    let along = |n: Vec3| {
        let ends = |points: &[Vec3]| {
            let heights = points.iter().map(|p| n.dot(*p));
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |e, h| (e.0.min(h), e.1.max(h)))
        };
        let (a, b) = (ends(a), ends(b));
        (b.0 - a.1).max(a.0 - b.1)
    };
    let lines = |points: &[Vec3]| -> Vec<Vec3> {
        let from = |i: usize| points[i + 1..].iter().map(move |q| *q - points[i]);
        (0..points.len()).flat_map(from).collect()
    };
    let [first, second] = [lines(a), lines(b)];
    let across = |one: &[Vec3], other: &[Vec3]| {
        let mut best = f64::NEG_INFINITY;
        for u in one {
            for v in other {
                let cross = u.cross(*v);
                if cross.length() > 1e-12 * u.length() * v.length() {
                    best = best.max(along(cross.normalize()));
                }
            }
        }
        best
    };
    across(&first, &second).max(across(&first, &first)).max(across(&second, &second))
}

fn size(points: &[Vec3]) -> f64 {
    let low = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let high = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    0.5 * (high - low).length()
}

/// Points of one of the kinds of hull: stones, flat ones, needles, bars.
fn points(kind: usize, most: usize, random: &mut Random) -> Vec<Vec3> {
    let thin = 10_f64.powi(-(random.within(0.5, 4.0) as i32));
    let count = 4 + random.within(0.0, (most - 3) as f64) as usize;
    let scale = match kind {
        0 => Vec3::ONE,
        1 => Vec3::new(1.0, 1.0, thin),
        2 => Vec3::new(1.0, thin, thin),
        _ => Vec3::new(1.0, random.within(0.1, 1.0), random.within(0.01, 0.1)),
    };
    if kind == 3 {
        let side = |bit: usize, c: usize| if c & bit > 0 { 1.0 } else { -1.0 };
        return (0..8).map(|c| Vec3::new(side(1, c), side(2, c), side(4, c)) * scale * 0.5).collect();
    }
    (0..count).map(|_| random.vector(0.5) * scale).collect()
}

/// Two hulls that are turned against each other at random, or hardly.
fn pair(random: &mut Random, most: usize) -> [Vec<Vec3>; 2] {
    let kinds = [0, 1].map(|_| random.within(0.0, 4.0) as usize);
    let a = points(kinds[0], most, random);
    let same = random.unit() < 0.2;
    let b = if same { a.clone() } else { points(kinds[1], most, random) };
    let turn = if random.unit() < 0.5 {
        axis_angle(random.vector(1.0) * 10_f64.powf(random.within(-10.0, 0.0)))
    } else {
        random.rotation()
    };
    let far = 10_f64.powf(random.within(-4.0, 0.0));
    let away = random.vector(far);
    let pose = Pose::from_parts(away, turn);
    [a, b.iter().map(|p| pose * *p).collect()]
}

/// The deepest contact of two shapes.
fn deepest(a: (&Shape, Pose), b: (&Shape, Pose)) -> f64 {
    touch(a, b, 0.0).iter().map(|c| -c.gap).fold(f64::NEG_INFINITY, f64::max)
}

/// What is wrong with the depth that was found, if anything is. A contact may be less deep than the
/// least motion that takes the shapes apart, not by more than half of it.
fn fault(found: f64, exact: f64, size: f64) -> Option<String> {
    let missed = -exact > DEEP * size && found < -0.49 * exact;
    let invented = found > DEEP * size && found > -1.001 * exact + SKIN * size;
    (missed || invented).then(|| format!("overlap {:e}, found {:e}", -exact / size, found / size))
}

fn check_hulls(seeds: std::ops::Range<u64>, most: usize) -> usize {
    let mut overlapping = 0;
    for seed in seeds {
        let [a, b] = pair(&mut Random(7919 * seed), most);
        let [first, second] = [&a, &b].map(|points| Shape::hull(points.clone()).unwrap());
        let found = deepest((&first, Pose::IDENTITY), (&second, Pose::IDENTITY));
        let (exact, size) = (separation(&a, &b), size(&a).min(size(&b)));
        overlapping += usize::from(exact < -DEEP * size);
        let fault = fault(found, exact, size);
        assert!(fault.is_none(), "seed {seed}: {fault:?}");
    }
    overlapping
}

#[test]
fn hulls_have_a_contact_where_they_overlap_and_only_there() {
    assert!(check_hulls(0..2000, 10) > 1000);
}

#[test]
fn hulls_of_many_points_have_a_contact_where_they_overlap() {
    assert!(check_hulls(10_000..10_020, 40) > 10);
}

#[test]
fn boxes_have_a_contact_where_they_overlap_and_only_there() {
    let mut overlapping = 0;
    for seed in 0..3000 {
        let mut random = Random(104_729 * seed);
        let halves = [0, 1].map(|_| Vec3::ZERO.map(|_| 10_f64.powf(random.within(-3.0, 0.0))));
        let mut pose = random.pose(0.3);
        if random.unit() < 0.5 {
            let angle = 10_f64.powf(random.within(-10.0, 0.0));
            pose = Pose::from_parts(pose.translation, axis_angle(random.vector(angle)));
        }
        let [first, second] = halves.map(|half| Shape::cuboid(half).unwrap());
        let found = deepest((&first, Pose::IDENTITY), (&second, pose));
        let corner =
            |half: Vec3, c: i32| half * Vec3::new(1.0, 2.0, 4.0).map(|bit| if c & bit as i32 > 0 { 1.0 } else { -1.0 });
        let a: Vec<Vec3> = (0..8).map(|c| corner(halves[0], c)).collect();
        let b: Vec<Vec3> = (0..8).map(|c| pose * corner(halves[1], c)).collect();
        let (exact, size) = (separation(&a, &b), size(&a).min(size(&b)));
        overlapping += usize::from(exact < -DEEP * size);
        let fault = fault(found, exact, size);
        assert!(fault.is_none(), "seed {seed}: {fault:?}, {halves:?}, {pose:?}");
    }
    assert!(overlapping > 500, "{overlapping}");
}

//! Which geoms may touch, and inputs that are refused with their place.

use stiction_body::math::{Pose, Vec3};
use stiction_body::{
    Collision, CollisionRules, Geom, Inertia, JointKind, LinkMotion, LinkSpec, Model, ModelBuilder, Shape, Workspace,
};

/// A base fixed to the world, an arm of two hinged links, a tool fixed to the last, and a free body.
fn robot() -> Model {
    let mut builder = ModelBuilder::default();
    let inertia = Inertia::sphere(1.0, 1.0);
    let hinge = JointKind::Revolute { axis: Vec3::Y };
    let mut add =
        |name: &str, parent, kind| builder.add(LinkSpec::on(name, parent, kind, Pose::identity(), inertia)).unwrap();
    let base = add("base", None, JointKind::Fixed);
    let upper = add("upper", Some(base), hinge);
    let lower = add("lower", Some(upper), hinge);
    add("tool", Some(lower), JointKind::Fixed);
    add("free", None, JointKind::Free);
    builder.build().unwrap().0
}

fn geoms() -> Vec<Geom> {
    let ball = || Shape::sphere(1.0).unwrap();
    let on = |name: &str, link| Geom::new(name, link, Pose::identity(), ball());
    let mut geoms: Vec<_> =
        ["base", "upper", "lower", "tool", "free"].iter().enumerate().map(|(i, n)| on(n, Some(i))).collect();
    geoms.push(Geom::new("ground", None, Pose::identity(), Shape::half_space()));
    geoms
}

fn touching(rules: CollisionRules, geoms: Vec<Geom>) -> Vec<(String, String)> {
    let model = robot();
    let mut collision = Collision::new(&model, geoms, rules).unwrap();
    let mut work = Workspace::default();
    work.update_positions(&model, &model.neutral());
    let motion = vec![LinkMotion::ZERO; 5];
    let mut pairs: Vec<_> = collision.find(&model, &work, &motion, 0.0, 0.0).iter().map(|c| c.geoms).collect();
    pairs.dedup();
    pairs.iter().map(|[a, b]| (collision.geoms()[*a].name.clone(), collision.geoms()[*b].name.clone())).collect()
}

fn names(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn neighbours_and_fixed_groups_do_not_touch() {
    let expected = [
        ("base", "lower"),
        ("base", "tool"),
        ("base", "free"),
        ("upper", "free"),
        ("upper", "ground"),
        ("lower", "free"),
        ("lower", "ground"),
        ("tool", "free"),
        ("tool", "ground"),
        ("free", "ground"),
    ];
    assert_eq!(touching(CollisionRules::default(), geoms()), names(&expected));
}

#[test]
fn rules_add_and_remove_pairs() {
    let rules = CollisionRules {
        touches_parent: vec![2],
        excluded: vec![(Some(4), None), (Some(3), Some(0)), (None, Some(1)), (Some(2), None), (Some(3), None)],
        ..CollisionRules::default()
    };
    let found = touching(rules, geoms());
    let has = |a: &str, b: &str| found.contains(&(a.into(), b.into()));
    assert!(has("upper", "lower") && has("upper", "tool"), "a chain of fixed joints is one link: {found:?}");
    assert!(!has("free", "ground") && !has("base", "tool") && has("base", "lower") && !has("upper", "ground"));
    let mut none = geoms();
    none.iter_mut().for_each(|g| (g.groups, g.collides_with) = (0, 0));
    (none[4].groups, none[5].collides_with) = (4, 6);
    let rules = CollisionRules { pairs: vec![(2, 0), (0, 5)], ..CollisionRules::default() };
    assert_eq!(
        touching(rules, none),
        names(&[("base", "lower"), ("free", "ground")]),
        "one direction of groups suffices"
    );
}

#[test]
fn bad_geoms_and_rules_are_named() {
    let model = robot();
    let message =
        |geoms: Vec<Geom>, rules: CollisionRules| Collision::new(&model, geoms, rules).unwrap_err().to_string();
    let ball = Shape::sphere(1.0).unwrap();
    let triangle = || Shape::mesh(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]).unwrap();
    let geom = |name: &str, link, shape: Shape| Geom::new(name, link, Pose::identity(), shape);
    let rules = CollisionRules::default;
    let cases = [
        (message(vec![geom("floor", Some(1), Shape::half_space())], rules()), "geom \"floor\": a half-space"),
        (message(vec![geom("", Some(7), ball.clone())], rules()), "geom 0: link"),
        (message(vec![geom("a", None, ball.clone()), geom("a", None, ball.clone())], rules()), "named \"a\""),
        (
            message(vec![geom("m", Some(1), triangle()), geom("n", Some(4), triangle())], rules()),
            "geom \"m\" and geom \"n\"",
        ),
        (message(vec![], CollisionRules { pairs: vec![(0, 1)], ..rules() }), "geom of a pair"),
        (message(vec![], CollisionRules { touches_parent: vec![9], ..rules() }), "touches its parent"),
        (message(vec![], CollisionRules { excluded: vec![(None, Some(9))], ..rules() }), "excluded pair"),
    ];
    for (message, part) in cases {
        assert!(message.contains(part), "{message} lacks {part}");
    }
    let flat = Shape::mesh(vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0], vec![[0, 1, 2]]).unwrap();
    assert!(message(vec![geom("flat", Some(1), flat)], rules()).contains("area"));
    let mut bad = geom("nan", None, ball);
    bad.pose.translation.x = f64::NAN;
    assert!(message(vec![bad], rules()).contains("geom \"nan\": pose"));
    // Meshes that never meet are fine.
    let apart = vec![geom("m", None, triangle()), geom("n", None, triangle()), geom("k", Some(0), triangle())];
    assert!(Collision::new(&model, apart, rules()).is_ok());
}

#[test]
fn duplicates_of_two_geoms_of_one_link_are_merged() {
    // Two boxes of the world, the second half inside the first, level on top: the seam's corners are there twice.
    let mut builder = ModelBuilder::default();
    builder.add(LinkSpec::free("body", Inertia::sphere(1.0, 1.0))).unwrap();
    let (model, _) = builder.build().unwrap();
    let cuboid = |x, y, z| Shape::cuboid(Vec3::new(x, y, z)).unwrap();
    let geoms = vec![
        Geom::new("a", None, Pose::from_translation(Vec3::new(-1.0, 0.0, -1.0)), cuboid(1.0, 1.0, 1.0)),
        Geom::new("b", None, Pose::from_translation(Vec3::new(1.0, 0.0, -1.0)), cuboid(1.0, 1.0, 1.0)),
        Geom::new("c", Some(0), Pose::identity(), cuboid(0.2, 0.2, 0.2)),
    ];
    let mut work = Workspace::default();
    work.pose = vec![Pose::from_translation(Vec3::new(0.0, 0.0, 0.2))];
    for (keep_duplicates, count) in [(false, 6), (true, 8)] {
        let rules = CollisionRules { keep_duplicates, ..CollisionRules::default() };
        let mut collision = Collision::new(&model, geoms.clone(), rules).unwrap();
        assert_eq!(collision.find(&model, &work, &[LinkMotion::ZERO], 0.0, 0.0).len(), count);
    }
}

/// A turntable on its base: what a hinge's axis keeps apart never touches, whatever the hinge does. What overlaps along the axis, and
/// what slides, may.
#[test]
fn geoms_that_a_hinge_keeps_apart_are_not_looked_at() {
    let may = |kind: JointKind, height: f64| {
        let mut builder = ModelBuilder::default();
        let inertia = Inertia::sphere(1.0, 1.0);
        let turn = stiction_body::math::axis_angle(Vec3::new(0.3, -0.2, 0.7));
        let base = LinkSpec::on("base", None, JointKind::Fixed, Pose::from_parts(Vec3::splat(0.3), turn), inertia);
        let base = builder.add(base).unwrap();
        let frame = Pose::from_translation(Vec3::new(0.1, 0.2, height));
        builder.add(LinkSpec::on("table", Some(base), kind, frame, inertia)).unwrap();
        let model = builder.build().unwrap().0;
        let cube = |half: f64| {
            let corner = |k: usize| half * if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            Shape::hull((0..8).map(|k| Vec3::new(corner(k), corner(k / 2), corner(k / 4))).collect()).unwrap()
        };
        let geoms = vec![
            Geom::new("base", Some(0), Pose::identity(), Shape::cylinder(0.5, 0.7).unwrap()),
            Geom::new("table", Some(1), Pose::identity(), cube(0.25)),
        ];
        let rules = CollisionRules { touches_parent: vec![1], ..CollisionRules::default() };
        Collision::new(&model, geoms, rules).unwrap().may_touch(0, 1)
    };
    for hinge in [JointKind::Revolute { axis: Vec3::Z }, JointKind::Continuous { axis: -Vec3::Z }] {
        assert!(!may(hinge, 0.75) && !may(hinge, -0.75) && !may(hinge, 0.8));
        assert!(may(hinge, 0.75 - 1e-6) && may(hinge, 0.0));
    }
    assert!(may(JointKind::Revolute { axis: Vec3::X }, 0.75));
    assert!(may(JointKind::Prismatic { axis: Vec3::X }, 0.75));
}

//! One algorithm against another, and both against mechanics known in closed form.

use stiction_body::math::{Mat3, Pose, Vec3, axis_angle, rotation_vector};
use stiction_body::{Inertia, JointKind, JointProperties, LinkSpec, Model, ModelBuilder, Workspace};
use stiction_linalg::rng::Rng;

fn random_vec(rng: &mut Rng) -> Vec3 {
    Vec3::new(rng.normal(), rng.normal(), rng.normal())
}

fn random_inertia(rng: &mut Rng) -> Inertia {
    let sides = Vec3::new(0.2 + rng.uniform(), 0.2 + rng.uniform(), 0.2 + rng.uniform());
    let body = Inertia::cuboid(0.1 + rng.uniform(), sides);
    body.transformed(&Pose::from_parts(random_vec(rng) * 0.3, axis_angle(random_vec(rng))))
}

/// Two trees with every kind of joint.
fn random_model(rng: &mut Rng) -> Model {
    let mut builder = ModelBuilder::default();
    let links = 2 + rng.below(8);
    for i in 0..links {
        let parent = if i == 0 || rng.chance(0.2) { None } else { Some(rng.below(i)) };
        let axis = random_vec(rng).normalize();
        let kind = match rng.below(7) {
            0 => JointKind::Revolute { axis },
            1 => JointKind::Continuous { axis },
            2 => JointKind::Prismatic { axis },
            3 => JointKind::Planar { normal: axis },
            4 => JointKind::Spherical,
            5 if parent.is_some() => JointKind::Fixed,
            _ => JointKind::Free,
        };
        let frame = Pose::from_parts(random_vec(rng), axis_angle(random_vec(rng)));
        let properties = JointProperties {
            armature: if rng.chance(0.3) { rng.uniform() } else { 0.0 },
            ..JointProperties::default()
        };
        let inertia = random_inertia(rng);
        builder.add(LinkSpec { properties, ..LinkSpec::on(format!("link{i}"), parent, kind, frame, inertia) }).unwrap();
    }
    builder.build().unwrap().0
}

fn random_state(rng: &mut Rng, model: &Model) -> (Vec<f64>, Vec<f64>) {
    let mut q = model.neutral();
    let step: Vec<f64> = (0..model.nv()).map(|_| rng.normal()).collect();
    model.integrate(&mut q, &step, 1.0);
    (q, (0..model.nv()).map(|_| rng.normal()).collect())
}

fn updated(model: &Model, q: &[f64], v: &[f64]) -> Workspace {
    let mut work = Workspace::default();
    work.update_positions(model, q);
    work.update_velocities(model, v);
    work
}

/// Wherever in the world it is, and though the arm to it is short beside that.
#[test]
fn a_point_on_an_axis_does_not_move_about_it() {
    let mut rng = Rng::new(12);
    for _ in 0..500 {
        let (axis, at) = (random_vec(&mut rng).normalize(), random_vec(&mut rng) * 3.0);
        let frame = Pose::from_parts(at, axis_angle(random_vec(&mut rng)));
        let mut builder = ModelBuilder::default();
        let inertia = random_inertia(&mut rng);
        builder.add(LinkSpec::on("link", None, JointKind::Continuous { axis }, frame, inertia)).unwrap();
        let model = builder.build().unwrap().0;
        let (q, v) = random_state(&mut rng, &model);
        let work = updated(&model, &q, &v);
        let point = work.pose[0].transform_point(axis * (0.02 * rng.normal()));
        let mut row = [0.0];
        work.add_point_row(&model, 0, point, random_vec(&mut rng).normalize(), 1.0, &mut row);
        assert_eq!(row, [0.0]);
    }
}

#[test]
fn inverse_dynamics_is_the_inertia_matrix_plus_the_passive_forces() {
    let mut rng = Rng::new(1);
    for _ in 0..200 {
        let model = random_model(&mut rng);
        let (q, v) = random_state(&mut rng, &model);
        let mut work = updated(&model, &q, &v);
        let a: Vec<f64> = (0..model.nv()).map(|_| rng.normal()).collect();
        let (mut tau, mut passive, mut blocks) = (vec![0.0; model.nv()], vec![0.0; model.nv()], Vec::new());
        work.inverse_dynamics(&model, &a, &mut tau);
        work.passive_forces(&model, &mut passive);
        work.mass_blocks(&model, &mut blocks);
        for (tree, block) in model.trees().iter().zip(&blocks) {
            for i in tree.v.clone() {
                let product: f64 = tree.v.clone().map(|j| block[(i - tree.v.start, j - tree.v.start)] * a[j]).sum();
                assert!((tau[i] - product + passive[i]).abs() < 1e-10 * (1.0 + tau[i].abs() + passive[i].abs()));
            }
        }
    }
}

#[test]
fn forward_dynamics_undoes_inverse_dynamics() {
    let mut rng = Rng::new(2);
    for _ in 0..200 {
        let model = random_model(&mut rng);
        let (q, v) = random_state(&mut rng, &model);
        let mut work = updated(&model, &q, &v);
        let a: Vec<f64> = (0..model.nv()).map(|_| rng.normal()).collect();
        let (mut tau, mut back) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
        work.inverse_dynamics(&model, &a, &mut tau);
        work.forward_dynamics(&model, &tau, &mut back);
        for (x, y) in a.iter().zip(&back) {
            assert!((x - y).abs() < 1e-8, "{x} {y}");
        }
    }
}

#[test]
fn velocities_and_velocity_products_are_derivatives_of_the_poses() {
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let model = random_model(&mut rng);
        let (q, v) = random_state(&mut rng, &model);
        let work = updated(&model, &q, &v);
        let h = 1e-5;
        let at = |t: f64| {
            let mut q = q.clone();
            model.integrate(&mut q, &v, t);
            updated(&model, &q, &v)
        };
        let (before, after) = (at(-h), at(h));
        for i in 0..model.links().len() {
            let local = Vec3::new(0.3, -0.2, 0.5);
            let point = |w: &Workspace| w.pose[i].transform_point(local);
            let speed = (point(&after) - point(&before)) / (2.0 * h);
            let here = point(&work);
            assert!(speed.abs_diff_eq(work.point_velocity(i, here), 1e-6), "link {i}");
            let turn = rotation_vector(after.pose[i].rotation * before.pose[i].rotation.inverse()) / (2.0 * h);
            assert!(turn.abs_diff_eq(work.velocity[i].angular, 1e-6));
            let rate = (after.point_velocity(i, point(&after)) - before.point_velocity(i, point(&before))) / (2.0 * h);
            assert!(rate.abs_diff_eq(work.point_bias(i, here), 1e-5), "link {i}: {rate} {}", work.point_bias(i, here));
        }
    }
}

#[test]
fn jacobian_rows_give_point_velocities() {
    let mut rng = Rng::new(4);
    for _ in 0..100 {
        let model = random_model(&mut rng);
        let (q, v) = random_state(&mut rng, &model);
        let work = updated(&model, &q, &v);
        let i = rng.below(model.links().len());
        let (point, direction) = (random_vec(&mut rng), random_vec(&mut rng));
        let tree = &model.trees()[model.links()[i].tree];
        let product = |row: &[f64]| row.iter().zip(&v[tree.v.clone()]).map(|(a, b)| a * b).sum::<f64>();
        let mut row = vec![0.0; tree.v.len()];
        work.add_point_row(&model, i, point, direction, 1.0, &mut row);
        assert!((product(&row) - work.point_velocity(i, point).dot(direction)).abs() < 1e-11);
        row.fill(0.0);
        work.add_angular_row(&model, i, direction, 1.0, &mut row);
        assert!((product(&row) - work.velocity[i].angular.dot(direction)).abs() < 1e-11);
    }
}

#[test]
fn a_free_body_falls_and_a_pendulum_swings() {
    let mut builder = ModelBuilder::default();
    builder.add(LinkSpec::free("stone", Inertia::sphere(3.0, 0.1))).unwrap();
    let bob = Inertia::new(2.0, Vec3::new(0.0, 0.0, -0.5), Mat3::IDENTITY * 0.01).unwrap();
    let kind = JointKind::Revolute { axis: Vec3::Y };
    builder.add(LinkSpec::on("pendulum", None, kind, Pose::identity(), bob)).unwrap();
    let (model, _) = builder.build().unwrap();
    let mut q = model.neutral();
    q[7] = 0.3;
    let mut work = updated(&model, &q, &vec![0.0; model.nv()]);
    let mut a = vec![0.0; model.nv()];
    work.forward_dynamics(&model, &vec![0.0; model.nv()], &mut a);
    assert!((a[2] + 9.81).abs() < 1e-14 && a[..2].iter().chain(&a[3..6]).all(|x| x.abs() < 1e-14));
    let expected = -2.0 * 9.81 * 0.5 * 0.3f64.sin() / (2.0 * 0.25 + 0.01);
    assert!((a[6] - expected).abs() < 1e-12, "{} {expected}", a[6]);
}

#[test]
fn energy_is_half_v_m_v_and_its_rate_is_the_power_of_forces() {
    let mut rng = Rng::new(6);
    for _ in 0..50 {
        let model = random_model(&mut rng);
        let (q, v) = random_state(&mut rng, &model);
        let mut work = updated(&model, &q, &v);
        let mut blocks = Vec::new();
        work.mass_blocks(&model, &mut blocks);
        let mut twice = 0.0;
        for (tree, block) in model.trees().iter().zip(&blocks) {
            for i in tree.v.clone() {
                twice += tree.v.clone().map(|j| v[i] * block[(i - tree.v.start, j - tree.v.start)] * v[j]).sum::<f64>();
            }
        }
        let (kinetic, _) = work.energy(&model, &v);
        assert!((kinetic - 0.5 * twice).abs() < 1e-11 * (1.0 + kinetic));
        // Without other forces the total is conserved: d/dt (T + V) = 0.
        let mut a = vec![0.0; model.nv()];
        work.forward_dynamics(&model, &vec![0.0; model.nv()], &mut a);
        let h = 1e-5;
        let total = |t: f64| {
            let (mut q, mut v2) = (q.clone(), v.clone());
            let middle: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + 0.5 * t * a).collect();
            model.integrate(&mut q, &middle, t);
            v2.iter_mut().zip(&a).for_each(|(v, a)| *v += t * a);
            let (kinetic, potential) = updated(&model, &q, &v2).energy(&model, &v2);
            kinetic + potential
        };
        let rate = (total(h) - total(-h)) / (2.0 * h);
        assert!(rate.abs() < 1e-4 * (1.0 + kinetic), "{rate}");
    }
}

#[test]
fn trees_are_contiguous_however_links_were_added() {
    let mut builder = ModelBuilder::default();
    let body = || Inertia::sphere(1.0, 0.1);
    let hinge = JointKind::Revolute { axis: Vec3::X };
    let a = builder.add(LinkSpec::free("a", body())).unwrap();
    let b = builder.add(LinkSpec::free("b", body())).unwrap();
    builder.add(LinkSpec::on("a1", Some(a), hinge, Pose::identity(), body())).unwrap();
    builder.add(LinkSpec::on("b1", Some(b), hinge, Pose::identity(), body())).unwrap();
    let (model, number) = builder.build().unwrap();
    assert_eq!(number, [0, 2, 1, 3]);
    assert_eq!(model.trees().iter().map(|t| t.v.clone()).collect::<Vec<_>>(), [0..7, 7..14]);
    assert_eq!(model.links()[3].spec.parent, Some(2));
    assert_eq!(model.link("b"), Some(2));
}

#[test]
fn bad_links_and_states_are_named() {
    let mut builder = ModelBuilder::default();
    let spec = LinkSpec::free("box", Inertia::sphere(1.0, 0.1));
    builder.add(spec.clone()).unwrap();
    assert!(builder.add(spec.clone()).unwrap_err().to_string().contains("\"box\""));
    let on = |name: &str, kind| LinkSpec::on(name, Some(0), kind, Pose::identity(), Inertia::ZERO);
    assert!(
        builder.add(on("x", JointKind::Revolute { axis: Vec3::X * 2.0 })).unwrap_err().to_string().contains("axis")
    );
    assert!(builder.add(LinkSpec { parent: Some(9), ..on("y", JointKind::Fixed) }).is_err());
    let negative = JointProperties { damping: -1.0, ..JointProperties::default() };
    assert!(
        builder
            .add(LinkSpec { properties: negative, ..on("z", JointKind::Fixed) })
            .unwrap_err()
            .to_string()
            .contains("damping")
    );
    let mut massless = builder.clone();
    massless.add(on("light", JointKind::Revolute { axis: Vec3::X })).unwrap();
    assert!(massless.build().unwrap_err().to_string().contains("light"));
    let (model, _) = builder.build().unwrap();
    let mut q = model.neutral();
    assert!(model.check_state(&q, &[0.0; 6]).is_ok());
    assert!(model.check_state(&q, &[0.0; 5]).is_err());
    q[3] = 1.1;
    assert!(model.check_state(&q, &[0.0; 6]).unwrap_err().to_string().contains("quaternion"));
    q[3] = f64::NAN;
    assert!(model.check_state(&q, &[0.0; 6]).unwrap_err().to_string().contains("q[3]"));
}

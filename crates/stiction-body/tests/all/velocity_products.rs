//! Velocity products do no work: energy, momentum and angular momentum of free motion, however
//! fast.

use stiction_body::math::{Mat3, Pose, Vec3, axis_angle};
use stiction_body::{Inertia, JointKind, JointProperties, LinkSpec, Model, ModelBuilder, Workspace};
use stiction_linalg::Matrix;
use stiction_linalg::rng::Rng;

/// Steps of the long runs.
const STEPS: usize = 10_000;

/// Free motion by time stepping: what a simulation does without contact.
struct Free {
    model: Model,
    work: Workspace,
    mass: Vec<Matrix>,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// Energy (J), momentum (kg m/s) and angular momentum about the centre of mass (kg m²/s).
struct Totals {
    kinetic: f64,
    momentum: Vec3,
    spin: Vec3,
}

impl Free {
    fn new(mut builder: ModelBuilder) -> Self {
        builder.gravity(Vec3::ZERO);
        let model = builder.build().unwrap().0;
        let (q, v) = (model.neutral(), vec![0.0; model.nv()]);
        Self { model, work: Workspace::default(), mass: vec![], q, v }
    }

    fn update(&mut self) {
        self.work.update_positions(&self.model, &self.q);
        self.work.update_velocities(&self.model, &self.v);
    }

    fn step(&mut self, dt: f64) {
        self.update();
        self.work.mass_blocks(&self.model, &mut self.mass);
        let mut force = vec![0.0; self.model.nv()];
        self.work.passive_forces_over_step(&self.model, (&self.q, &self.v), &self.mass, dt, &mut force);
        for (tree, block) in self.model.trees().iter().zip(&self.mass) {
            let change = solve(block, &force[tree.v.clone()]);
            self.v[tree.v.clone()].iter_mut().zip(change).for_each(|(v, a)| *v += dt * a);
        }
        self.model.integrate(&mut self.q, &self.v, dt);
    }

    fn totals(&mut self) -> Totals {
        self.update();
        let (mut mass, mut momentum, mut first, mut about_origin) = (0.0, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for (i, link) in self.model.links().iter().enumerate() {
            let (own, pose) = (&link.spec.inertia, self.work.pose[i]);
            let at = pose.transform_point(own.com);
            let r = Mat3::from_quat(pose.rotation);
            let linear = self.work.point_velocity(i, at) * own.mass;
            (mass, momentum, first) = (mass + own.mass, momentum + linear, first + at * own.mass);
            about_origin += at.cross(linear) + r * own.about_com * r.transpose() * self.work.velocity[i].angular;
        }
        let kinetic = self.work.energy(&self.model, &self.v).0;
        Totals { kinetic, momentum, spin: about_origin - (first / mass).cross(momentum) }
    }
}

/// Gaussian elimination: test systems are small and positive definite.
fn solve(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let (mut a, mut x) = (a.clone(), b.to_vec());
    for k in 0..n {
        for i in k + 1..n {
            let f = a[(i, k)] / a[(k, k)];
            (k..n).for_each(|j| a[(i, j)] -= f * a[(k, j)]);
            x[i] -= f * x[k];
        }
    }
    for k in (0..n).rev() {
        x[k] = (x[k] - (k + 1..n).map(|j| a[(k, j)] * x[j]).sum::<f64>()) / a[(k, k)];
    }
    x
}

fn shapes() -> Vec<(&'static str, Inertia)> {
    let random = |rng: &mut Rng| Vec3::new(rng.normal(), rng.normal(), rng.normal());
    let mut rng = Rng::new(7);
    let mut shapes = vec![
        ("box", Inertia::cuboid(1.0, Vec3::new(0.1, 0.2, 0.3))),
        ("cylinder", Inertia::cylinder(2.0, 0.1, 0.5)),
        ("coin", Inertia::cylinder(0.01, 0.02, 1e-3)),
        ("needle", Inertia::cylinder(1e-3, 1e-5, 0.1)),
        ("plate", Inertia::cuboid(5.0, Vec3::new(1.0, 0.7, 1e-6))),
    ];
    let tilted = shapes[0].1.transformed(&Pose::from_parts(random(&mut rng) * 0.2, axis_angle(random(&mut rng))));
    shapes.push(("box whose frame is elsewhere", tilted));
    shapes
}

fn spins() -> [Vec3; 4] {
    [Vec3::new(5.0, 100.0, 5.0), Vec3::new(20.0, 146.0, 20.0), Vec3::new(-80.0, 90.0, 89.0), Vec3::new(1.0, 2.0, 30.0)]
}

/// Largest relative gain of energy, relative change of the angular momentum's length, and its turn
/// (rad).
fn drift(free: &mut Free, dt: f64, steps: usize) -> [f64; 3] {
    let start = free.totals();
    let mut worst = [0.0_f64; 3];
    for _ in 0..steps {
        free.step(dt);
        let now = free.totals();
        let turn = start.spin.cross(now.spin).length().atan2(start.spin.dot(now.spin));
        let grown = (now.spin.length() / start.spin.length() - 1.0).abs();
        assert!(now.kinetic.is_finite(), "the state is not finite");
        worst = [worst[0].max(now.kinetic / start.kinetic - 1.0), worst[1].max(grown), worst[2].max(turn)];
        let size = start.momentum.length() + (start.kinetic * free.model.links()[0].spec.inertia.mass).sqrt();
        assert!((now.momentum - start.momentum).length() < 1e-7 * size, "{} {}", now.momentum, start.momentum);
    }
    worst
}

#[test]
fn a_body_alone_keeps_its_energy_and_the_length_of_its_angular_momentum() {
    for (name, inertia) in shapes() {
        for spin in spins() {
            for dt in [1e-2, 2e-3] {
                let mut builder = ModelBuilder::default();
                builder.add(LinkSpec::free("body", inertia)).unwrap();
                let mut free = Free::new(builder);
                let linear = Vec3::new(0.3, -1.0, 2.0) - spin.cross(inertia.com);
                free.v.copy_from_slice(&[linear.x, linear.y, linear.z, spin.x, spin.y, spin.z]);
                let [gain, length, turn] = drift(&mut free, dt, STEPS);
                let what = format!("{name}, {spin} rad/s, {dt} s: {gain:e} {length:e} {turn:e}");
                assert!(gain < 1e-10 && length < 1e-10, "{what}");
                // Its direction is off by about half the turn of a step, and does not drift. (That
                // of a thin needle that spins about itself does: next to no inertia holds it.)
                assert!(!["box", "cylinder"].contains(&name) || turn < 0.6 * dt * spin.length(), "{what}");
            }
        }
    }
}

#[test]
fn a_steady_spin_about_a_principal_axis_is_exact() {
    for (axis, frame) in [(Vec3::X, 0.0), (Vec3::Y, 0.0), (Vec3::Z, 0.0), (Vec3::Z, 0.7)] {
        let mut builder = ModelBuilder::default();
        builder.add(LinkSpec::free("body", Inertia::cuboid(1.0, Vec3::new(0.1, 0.2, 0.3)))).unwrap();
        let mut free = Free::new(builder);
        free.model.integrate(&mut free.q, &[0.0, 0.0, 0.0, 0.0, 0.0, frame], 1.0);
        let spin = axis * 150.0;
        free.v[3..].copy_from_slice(&spin.to_array());
        (0..1000).for_each(|_| free.step(1e-2));
        assert_eq!(free.v[3..], spin.to_array(), "{axis}");
    }
}

/// A top on a spherical joint turns about the joint: the same, with the inertia there.
#[test]
fn a_body_on_a_spherical_joint_keeps_its_energy() {
    let inertia = Inertia::cylinder(1.0, 0.1, 0.05).transformed(&Pose::from_translation(Vec3::new(0.0, 0.02, 0.3)));
    for spin in spins() {
        let mut builder = ModelBuilder::default();
        let frame = Pose::from_parts(Vec3::ONE, axis_angle(Vec3::new(0.3, 1.0, -0.2)));
        let properties = JointProperties { armature: 0.01, ..JointProperties::default() };
        let link = LinkSpec::on("top", None, JointKind::Spherical, frame, inertia);
        builder.add(LinkSpec { properties, ..link }).unwrap();
        let mut free = Free::new(builder);
        free.v.copy_from_slice(&spin.to_array());
        let start = free.totals().kinetic;
        for _ in 0..STEPS {
            free.step(1e-2);
            assert!((free.totals().kinetic / start - 1.0).abs() < 1e-10, "{spin}");
        }
    }
}

/// A floating base with an arm on a spherical joint and one on a hinge, all of them fast.
#[test]
fn a_floating_base_never_gains_energy() {
    for spin in [Vec3::new(20.0, 146.0, 20.0), Vec3::new(-80.0, 90.0, 89.0)] {
        let mut builder = ModelBuilder::default();
        let rod = Inertia::cylinder(0.4, 0.02, 0.3).transformed(&Pose::from_translation(Vec3::new(0.0, 0.0, -0.15)));
        let at = |x: f64| Pose::from_translation(Vec3::new(x, 0.0, -0.1));
        let base = builder.add(LinkSpec::free("base", Inertia::cuboid(2.0, Vec3::new(0.3, 0.2, 0.1)))).unwrap();
        builder.add(LinkSpec::on("left", Some(base), JointKind::Spherical, at(-0.1), rod)).unwrap();
        let axis = JointKind::Revolute { axis: Vec3::X };
        builder.add(LinkSpec::on("right", Some(base), axis, at(0.1), rod)).unwrap();
        let mut free = Free::new(builder);
        free.v[3..6].copy_from_slice(&spin.to_array());
        free.v[6..].copy_from_slice(&[40.0, -20.0, 10.0, -30.0]);
        let [gain, ..] = drift(&mut free, 1e-2, STEPS);
        assert!(gain < 1e-3, "{spin}: {gain:e}");
    }
}

/// Trees of spherical and other joints, floating and on the world, with fast motion of every joint.
#[test]
fn trees_never_gain_energy() {
    let mut rng = Rng::new(3);
    for case in 0..40 {
        let mut builder = ModelBuilder::default();
        let links = 2 + rng.below(8);
        let mut vector = |size: f64| Vec3::new(rng.normal(), rng.normal(), rng.normal()) * size;
        for i in 0..links {
            let axis = vector(1.0).normalize();
            let kind = match (i, case % 4) {
                (0, 0 | 1) => JointKind::Free,
                (_, 0 | 2) => JointKind::Spherical,
                (0, _) => JointKind::Planar { normal: axis },
                (k, _) if k % 3 == 1 => JointKind::Revolute { axis },
                (k, _) if k % 3 == 2 => JointKind::Spherical,
                _ => JointKind::Prismatic { axis },
            };
            let parent = (i > 0).then(|| (i * 7 + case) % i);
            let inertia = Inertia::cuboid(0.5, vector(0.1).abs() + Vec3::splat(0.02))
                .transformed(&Pose::from_parts(vector(0.1), axis_angle(vector(1.0))));
            let frame = Pose::from_parts(vector(0.2), axis_angle(vector(1.0)));
            builder.add(LinkSpec::on(format!("link{i}"), parent, kind, frame, inertia)).unwrap();
        }
        let mut free = Free::new(builder);
        for link in free.model.links() {
            let prismatic = matches!(link.spec.kind, JointKind::Prismatic { .. });
            link.v.clone().for_each(|k| free.v[k] = rng.normal() * if prismatic { 1.0 } else { 60.0 });
        }
        let floats = free.model.trees()[0].floating.is_some();
        let start = free.totals();
        for step in 0..300 {
            free.step(1e-2);
            let now = free.totals();
            let ratio = now.kinetic / start.kinetic;
            assert!(ratio < 1.001, "{case}, step {step}: {ratio}");
            let change = (now.momentum - start.momentum).length();
            assert!(!floats || change < 1e-8 * start.momentum.length(), "{case}, step {step}: {change:e}");
        }
    }
}

/// First order in the step, like all of time stepping: half the step, half the error.
#[test]
fn the_motion_of_a_tree_converges() {
    let run = |dt: f64| {
        let mut builder = ModelBuilder::default();
        let rod = Inertia::cylinder(1.0, 0.02, 0.5).transformed(&Pose::from_translation(Vec3::new(0.0, 0.0, -0.25)));
        let down = Pose::from_translation(Vec3::new(0.0, 0.0, -0.5));
        let base = builder.add(LinkSpec::free("base", Inertia::cuboid(2.0, Vec3::splat(0.3)))).unwrap();
        let upper = builder.add(LinkSpec::on("upper", Some(base), JointKind::Spherical, down, rod)).unwrap();
        let axis = JointKind::Revolute { axis: Vec3::X };
        builder.add(LinkSpec::on("lower", Some(upper), axis, down, rod)).unwrap();
        let mut free = Free::new(builder);
        free.v.copy_from_slice(&[0.1, 0.2, 0.0, 1.0, -2.0, 3.0, 0.5, 4.0, -1.0, 3.0]);
        (0..(0.5 / dt).round() as usize).for_each(|_| free.step(dt));
        free.update();
        free.work.pose[2].translation
    };
    let exact = run(2.5e-5);
    let errors = [2e-3, 1e-3, 5e-4].map(|dt| (run(dt) - exact).length());
    assert!(errors[0] < 0.05 && errors.windows(2).all(|e| e[1] < 0.6 * e[0]), "{errors:?}");
}

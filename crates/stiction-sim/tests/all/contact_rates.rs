//! Velocity products of contacts against finite differences of the collision's own gaps along the motion.

use std::path::Path;

use stiction_body::math::{Vec3, tangents};
use stiction_body::{Collision, ContactPoint, LinkMotion, Workspace};
use stiction_sim::rolling::contact_rates;
use stiction_sim::{Scene, World};

/// Step of the differences (s).
const H: f64 = 1e-3;

struct Case {
    world: std::sync::Arc<World>,
    collision: Collision,
    work: Workspace,
}

impl Case {
    fn new(bodies: &str) -> Self {
        let scene = Scene::parse(bodies, Path::new("."), &[]).unwrap();
        let world = scene.world;
        let collision = Collision::new(&world.model, world.geoms.clone(), world.rules.clone()).unwrap();
        Self { world, collision, work: Workspace::default() }
    }

    /// The contacts at the start configuration moved by `t v`.
    fn at(&mut self, v: &[f64], t: f64) -> Vec<ContactPoint> {
        let model = &self.world.model;
        let mut q = self.world.q.clone();
        model.integrate(&mut q, v, t);
        self.work.update_positions(model, &q);
        self.work.update_velocities(model, v);
        let still = vec![LinkMotion::ZERO; model.links().len()];
        self.collision.find(model, &self.work, &still, 0.0, 0.02).to_vec()
    }

    fn relative_velocity(&self, at: &ContactPoint) -> Vec3 {
        let of = |g: usize| self.world.geoms[g].link.map_or(Vec3::ZERO, |l| self.work.point_velocity(l, at.point));
        of(at.geoms[1]) - of(at.geoms[0])
    }

    /// Compares the rates of all touching contacts with differences over both sides of now.
    fn check(&mut self, v: &[f64], slips: bool) {
        let now = self.at(v, 0.0);
        let touching: Vec<&ContactPoint> = now.iter().filter(|c| c.gap.abs() < 1e-9).collect();
        assert!(!touching.is_empty());
        for contact in touching {
            let same = |all: &[ContactPoint]| {
                let found = all.iter().find(|c| c.geoms == contact.geoms && c.feature == contact.feature);
                *found.expect("the contact is still there")
            };
            self.at(v, 0.0);
            let (s, t) = tangents(contact.normal);
            let rates = contact_rates(&self.world, &self.work, contact, s, t);
            let mut sides = [-2.0, -1.0, 1.0, 2.0].map(|k| {
                let at = same(&self.at(v, k * H));
                (at.gap, self.relative_velocity(&at))
            });
            // Fourth order.
            let second = |x: [f64; 5]| (-x[0] + 16.0 * x[1] - 30.0 * x[2] + 16.0 * x[3] - x[4]) / (12.0 * H * H);
            let gap = second([sides[0].0, sides[1].0, contact.gap, sides[2].0, sides[3].0]);
            assert!((rates[0] - gap).abs() <= 1e-5 * (1.0 + gap.abs()), "normal {} {gap}", rates[0]);
            if !slips {
                sides.iter_mut().for_each(|x| x.0 = 0.0);
                let slip = (sides[0].1 - 8.0 * sides[1].1 + 8.0 * sides[2].1 - sides[3].1) / (12.0 * H);
                let (along, across) = (slip.dot(s), slip.dot(t));
                assert!((rates[1] - along).abs() <= 1e-5 * (1.0 + along.abs()), "s {} {along}", rates[1]);
                assert!((rates[2] - across).abs() <= 1e-5 * (1.0 + across.abs()), "t {} {across}", rates[2]);
            }
        }
    }
}

const PLANE: &str = "[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n";

fn body(name: &str, position: [f64; 3], rpy: [f64; 3], shape: &str) -> String {
    format!("[[bodies]]\nname = \"{name}\"\nmass = 1\nposition = {position:?}\nrpy = {rpy:?}\nshape = {{ {shape} }}\n")
}

#[test]
fn a_sphere_on_a_plane() {
    let mut case = Case::new(&(PLANE.to_string() + &body("ball", [0.0, 0.0, 0.1], [0.0; 3], "sphere = 0.1")));
    // Sliding and spinning.
    case.check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0], true);
    // Rolling and spinning: v = ω × r.
    let (a, b) = (1.5, -0.7);
    case.check(&[0.1 * b, -0.1 * a, 0.0, a, b, 4.0], false);
}

#[test]
fn two_spheres() {
    let text = body("a", [0.0; 3], [0.0; 3], "sphere = 0.1") + &body("b", [0.18, 0.0, 0.24], [0.0; 3], "sphere = 0.2");
    let mut case = Case::new(&text);
    case.check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0], true);
    // Rolling over each other: both have the contact point's velocity.
    let (n, w, o) = (Vec3::new(0.6, 0.0, 0.8), Vec3::new(1.0, 2.0, -0.5), Vec3::new(-0.4, 1.0, 2.0));
    let at = w.cross(n * 0.1);
    let v = at - o.cross(n * -0.2);
    case.check(&[0.0, 0.0, 0.0, w.x, w.y, w.z, v.x, v.y, v.z, o.x, o.y, o.z], false);
}

#[test]
fn a_box_corner_on_a_plane() {
    // Corner (-, -, -) lowest.
    let rpy = [0.3, 0.4, 0.2];
    let mut case = Case::new(&(PLANE.to_string() + &body("box", [0.0, 0.0, 0.0], rpy, "box = [0.2, 0.3, 0.4]")));
    let lowest = case.at(&[0.0; 6], 0.0).iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
    let text = PLANE.to_string() + &body("box", [0.0, 0.0, -lowest], rpy, "box = [0.2, 0.3, 0.4]");
    case = Case::new(&text);
    case.check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0], true);
}

#[test]
fn a_capsule_on_a_plane() {
    let flat = [std::f64::consts::FRAC_PI_2, 0.0, 0.3];
    let mut case = Case::new(&(PLANE.to_string() + &body("rod", [0.0, 0.0, 0.1], flat, "capsule = [0.1, 0.5]")));
    case.check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0], true);
    // Rolling along, spinning not.
    let (c, s) = (0.3f64.cos(), 0.3f64.sin());
    let axis = Vec3::new(s, -c, 0.0) * 2.0;
    let v = axis.cross(Vec3::new(0.0, 0.0, 0.1));
    case.check(&[v.x, v.y, v.z, axis.x, axis.y, axis.z], false);
}

#[test]
fn a_sphere_on_a_moving_box_and_beside_a_capsule() {
    let text = body("box", [0.0; 3], [0.0; 3], "box = [0.4, 0.4, 0.4]")
        + &body("ball", [0.1, 0.05, 0.3], [0.0; 3], "sphere = 0.1");
    Case::new(&text).check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0], true);
    let (a, b) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.5, -1.0, 2.0));
    let v = a.cross(Vec3::new(0.1, 0.05, 0.2)) + b.cross(Vec3::new(0.0, 0.0, 0.1));
    Case::new(&text).check(&[0.0, 0.0, 0.0, a.x, a.y, a.z, v.x, v.y, v.z, b.x, b.y, b.z], false);
    let text = body("rod", [0.0; 3], [0.0; 3], "capsule = [0.1, 0.5]")
        + &body("ball", [0.18, 0.24, 0.07], [0.0; 3], "sphere = 0.2");
    let any = [0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0];
    Case::new(&text).check(&any, true);
    let at = a.cross(Vec3::new(0.06, 0.08, 0.07));
    let v = at + b.cross(Vec3::new(0.12, 0.16, 0.0));
    Case::new(&text).check(&[0.0, 0.0, 0.0, a.x, a.y, a.z, v.x, v.y, v.z, b.x, b.y, b.z], false);
}

#[test]
fn crossed_capsules() {
    let text = body("a", [0.0; 3], [0.0; 3], "capsule = [0.1, 0.6]")
        + &body("b", [0.3, 0.05, 0.1], [1.1, 0.0, 0.0], "capsule = [0.2, 0.6]");
    let any = [0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0];
    Case::new(&text).check(&any, true);
}

#[test]
fn a_sphere_on_an_edge_of_a_box() {
    let r = 0.1 / 2f64.sqrt();
    let text = body("box", [0.0; 3], [0.0; 3], "box = [0.4, 0.4, 0.4]")
        + &body("ball", [0.2 + r, 0.05, 0.2 + r], [0.0; 3], "sphere = 0.1");
    Case::new(&text).check(&[0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0], true);
}

/// The body lowered onto the plane, or onto the other, so that they touch.
fn lowered(first: &str, shape: &str, rpy: [f64; 3]) -> Case {
    let mut height = 1.0;
    for _ in 0..60 {
        let mut case = Case::new(&(first.to_string() + &body("top", [0.03, 0.02, height], rpy, shape)));
        let model = case.world.model.clone();
        case.work.update_positions(&model, &case.world.q);
        let gap = case.collision.distance(&model, &case.work, [0, 1], 10.0).unwrap();
        if gap.abs() < 1e-15 {
            return case;
        }
        height -= gap;
    }
    Case::new(&(first.to_string() + &body("top", [0.03, 0.02, height], rpy, shape)))
}

#[test]
fn an_ellipsoid_on_a_plane_and_other_shapes() {
    let shape = "ellipsoid = [0.3, 0.2, 0.1]";
    let rpy = [0.3, 0.4, 0.2];
    let any = [0.3, -0.2, 0.1, 1.0, 2.0, 3.0];
    lowered(PLANE, shape, rpy).check(&any, true);
    // Rolling and spinning on the plane: v = ω × r with r from the lowest point to the centre.
    let mut case = lowered(PLANE, shape, rpy);
    let lowest = case.at(&[0.0; 6], 0.0)[0].point;
    let arm = Vec3::new(case.world.q[0], case.world.q[1], case.world.q[2]) - lowest;
    let w = Vec3::new(1.5, -0.7, 2.0);
    let v = w.cross(arm);
    case.check(&[v.x, v.y, v.z, w.x, w.y, w.z], false);
    let any = [0.3, -0.2, 0.1, 1.0, 2.0, 3.0, -0.1, 0.4, 0.2, 0.5, -1.0, 2.0];
    for other in ["sphere = 0.2", "box = [1, 1, 0.2]", "capsule = [0.1, 0.6]", shape] {
        for turn in [[0.0; 3], [0.2, 1.3, 0.1]] {
            let first = body(
                "first",
                [0.0; 3],
                if other == shape || other.starts_with("cap") { turn } else { [0.0; 3] },
                other,
            );
            lowered(&first, shape, rpy).check(&any, true);
        }
    }
}

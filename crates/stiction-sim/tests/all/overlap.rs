//! Overlap of bodies that tumble: before it is removed no more than what the curvature of motion
//! makes, afterwards none.

use std::fmt::Write;
use std::path::Path;

use stiction_body::{Collision, LinkMotion, Workspace};
use stiction_sim::Scene;

/// Uniform numbers, the same every time.
struct Random(u64);

impl Random {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * (((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn quaternion(&mut self) -> [f64; 4] {
        loop {
            let q = [0; 4].map(|_| self.within(-1.0, 1.0));
            let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.1 && length < 1.0 {
                return q.map(|x| x / length);
            }
        }
    }
}

/// Bodies of 60 to 100 mm thrown into a bin, spinning.
fn tumbling(kind: &str, n: usize, seed: u64, dt: f64) -> String {
    let mut r = Random(seed);
    let mut text = format!("dt = {dt}\non_failure = \"fallback\"\n[material]\nfriction = 0.5\n");
    text += "[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n";
    for (k, (x, y)) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)].into_iter().enumerate() {
        let side = |along: f64| if along == 0.0 { 4.0 } else { 1.0 };
        let _ = writeln!(
            text,
            "[[bodies]]\nname = \"wall{k}\"\nfixed = true\nposition = [{}, {}, 2]\nshape = {{ box = [{}, {}, 4] }}",
            0.66 * x,
            0.66 * y,
            side(x),
            side(y)
        );
    }
    for i in 0..n {
        let q = r.quaternion();
        let shape = match kind {
            "box" => "box = [0.1, 0.06, 0.08]".to_string(),
            "capsule" => "capsule = [0.03, 0.06]".to_string(),
            _ => {
                let points: Vec<String> =
                    (0..10).map(|_| format!("{:?}", &r.quaternion().map(|x| 0.07 * x)[..3])).collect();
                format!("hull = [{}]", points.join(", "))
            }
        };
        let (spin, place) = ([0; 3].map(|_| r.within(-10.0, 10.0)), |k: usize| k as f64 * 0.15 - 0.075);
        let _ = writeln!(
            text,
            "[[bodies]]\nname = \"b{i}\"\ndensity = 1000\nposition = [{}, {}, {}]\norientation = {q:?}\n\
             angular_velocity = {spin:?}\nvelocity = [{}, {}, -1]\nshape = {{ {shape} }}",
            place(i % 4 / 2),
            place(i % 2),
            0.12 + (i / 4) as f64 * 0.16,
            r.within(-1.0, 1.0),
            r.within(-1.0, 1.0)
        );
    }
    text
}

/// The curvature of motion bends the way of a point by ω² dt² r; an edge that crossed an edge in
/// one contact alone let bodies in by 10 to 30 times that.
#[test]
fn tumbling_bodies_overlap_by_the_curvature_of_their_motion_alone() {
    const FACTOR: f64 = 8.0;
    /// Largest distance of a corner from the middle (m).
    const RADIUS: f64 = 0.07;
    let dt = 0.005;
    // Of boxes 17 has faces of which one edge meets first, of hulls 15, 52 and 74 have faces that are nearly parallel to others of their own.
    let boxes = [0, 3, 17].map(|seed| ("box", seed));
    let hulls = [1, 2, 15, 52, 74].map(|seed| ("hull", seed));
    for (kind, seed) in boxes.into_iter().chain(hulls).chain([("capsule", 1)]) {
        let scene = Scene::parse(&tumbling(kind, 8, seed, dt), Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
        let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let world = simulation.world().clone();
        let mut collision = Collision::new(&world.model, world.geoms.clone(), world.rules.clone()).unwrap();
        let still = vec![LinkMotion::ZERO; world.model.links().len()];
        let mut work = Workspace::default();
        for step in 0..70 {
            let report = simulation.step().unwrap_or_else(|e| panic!("{kind} {seed}: {e}"));
            assert!(report.overlap_left <= 1e-9, "{kind} {seed}, step {step}: {:e} m are left", report.overlap_left);
            work.update_positions(&world.model, &simulation.state().q);
            for contact in collision.find(&world.model, &work, &still, 0.0, 0.0) {
                let links = contact.geoms.iter().filter_map(|g| world.geoms[*g].link);
                let spin = links.map(|link| {
                    let first = world.model.links()[link].v.start + 3;
                    simulation.state().v[first..first + 3].iter().map(|w| w * w).sum::<f64>().sqrt()
                });
                let turn = dt * spin.sum::<f64>();
                let most = FACTOR * turn * turn * RADIUS + 1e-6;
                assert!(-contact.gap <= most, "{kind} {seed}, step {step}: {:e} above {most:e}", -contact.gap);
            }
        }
    }
}

/// Balls in a grid that is a little too narrow: one large island, and bodies far from it that have
/// nothing to do with it.
#[test]
fn a_crowd_is_taken_apart_and_others_stay_where_they_are() {
    let (n, spacing) = (5, 0.0999);
    let mut text = String::from("gravity = [0, 0, 0]\n");
    for k in 0..n * n * n {
        let place = [k % n, k / n % n, k / n / n].map(|i| spacing * i as f64);
        let _ =
            writeln!(text, "[[bodies]]\nname = \"b{k}\"\nmass = 1\nposition = {place:?}\nshape = {{ sphere = 0.05 }}");
    }
    text += "[[bodies]]\nname = \"far\"\nmass = 1\nposition = [3, 0, 0]\nshape = { sphere = 0.05 }\n";
    text += "[[bodies]]\nname = \"beside\"\nmass = 1\nposition = [3.1, 0, 0]\nshape = { sphere = 0.05 }\n";
    let mut simulation = Scene::parse(&text, Path::new("."), &[]).unwrap().simulation().unwrap();
    let before = simulation.state().q.clone();
    let report = simulation.step().unwrap();
    assert!((report.penetration - 1e-4).abs() < 1e-12 && report.overlap_left <= 1e-9, "{report:?}");
    let far = 7 * n * n * n;
    assert_eq!(simulation.state().q[far..], before[far..], "bit for bit");
    assert!(simulation.overlaps().is_empty());
    let middle = |q: &[f64]| q[..far].chunks(7).map(|q| q[0]).sum::<f64>();
    assert!((middle(&simulation.state().q) - middle(&before)).abs() < 1e-9, "nothing pushes the whole");
}

//! Restitution in time stepping: rebound speeds against closed forms, energy, rest.

use std::path::Path;

use stiction_sim::{Scene, Simulation, StepReport};

const G: f64 = 9.81;

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Simulation::new(scene.world.clone(), scene.settings.clone()).unwrap()
}

fn step(simulation: &mut Simulation) -> StepReport {
    let report = simulation.step().unwrap_or_else(|e| panic!("{e}"));
    assert!(report.certificate <= 1e-10);
    report
}

/// A ball's scene: radius `r`, mass `m`, centre at height `z`, restitution `e`.
fn drop_scene(dt: f64, e: f64, r: f64, m: f64, z: f64, floor: &str) -> String {
    format!(
        "dt = {dt}\n[material]\nfriction = 0\nrestitution = {e}\n{floor}\
         [[bodies]]\nname = \"ball\"\nmass = {m}\nposition = [0, 0, {z}]\nshape = {{ sphere = {r} }}\n"
    )
}

const FLOOR: &str = "[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { plane = true }\n";

/// Steps until velocity `k` turns from below to above 0; the velocities right before and after.
fn rebound(simulation: &mut Simulation, k: usize, steps: usize) -> (f64, f64) {
    for _ in 0..steps {
        let before = simulation.state().v[k];
        let report = step(simulation);
        let after = simulation.state().v[k];
        if before < 0.0 && after >= -1e-12 {
            assert_eq!(report.restitution_scale, 1.0);
            return (before, after);
        }
    }
    panic!("no rebound");
}

#[test]
fn balls_rebound_with_their_restitution() {
    for dt in [1e-2, 1e-3, 1e-4] {
        for e in [0.0, 0.2, 0.5, 0.8, 1.0] {
            for (k, (r, m)) in [(0.1, 1.0), (0.02, 1e-3), (0.7, 300.0)].into_iter().enumerate() {
                let drop = 0.05 + 0.0137 * k as f64 + 0.031 * e;
                let mut simulation = simulation(&drop_scene(dt, e, r, m, r + drop, FLOOR));
                let impact = (2.0 * G * drop).sqrt();
                let steps = (1.2 * impact / G / dt) as usize + 5;
                let (_, after) = rebound(&mut simulation, 2, steps);
                let bar = 0.01 + 2.0 * G * dt / impact;
                let measured = after / impact;
                // A plastic impact ends at the floor, which it may reach a little later than it stops.
                let error = (measured - e).abs();
                assert!(error <= bar, "dt {dt} e {e} r {r}: {measured}");
            }
        }
    }
}

#[test]
fn elastic_bounces_keep_their_height() {
    for dt in [4e-3, 1e-3] {
        let mut simulation = simulation(&drop_scene(dt, 1.0, 0.1, 1.0, 0.35, FLOOR));
        let (mut top, mut tops) = (0.0f64, vec![]);
        for _ in 0..(20.0 / dt) as usize {
            let before = simulation.state().v[2];
            step(&mut simulation);
            top = top.max(simulation.state().q[2]);
            if before > 0.0 && simulation.state().v[2] <= 0.0 {
                tops.push(std::mem::take(&mut top));
            }
        }
        assert!(tops.len() > 30);
        for top in tops {
            assert!((top - 0.35).abs() <= 2.0 * dt * (2.0 * G * 0.25f64).sqrt(), "dt {dt}: {top}");
        }
    }
}

/// Two balls, impact parameter `b` of the sum of their radii, no gravity: the velocities after, the part of the kinetic
/// energy that is left, and the least part of restitution. The second has `ratio` times the mass and moves across.
fn pair(b: f64, dt: f64, e: f64, ratio: f64, across: f64) -> ([f64; 12], f64, f64) {
    let (r, m) = (0.03, 0.17);
    let mut simulation = simulation(&format!(
        "dt = {dt}\ngravity = [0, 0, 0]\n[material]\nfriction = 0\nrestitution = {e}\n\
         [[bodies]]\nname = \"a\"\nmass = {m}\nposition = [-0.1, {}, {}]\nvelocity = [1, {across}, 0]\nshape = {{ sphere = {r} }}\n\
         [[bodies]]\nname = \"b\"\nmass = {}\nposition = [0, 0, 0]\nvelocity = [0, {across}, 0]\nshape = {{ sphere = {r} }}\n",
        1.2 * r * b,
        1.6 * r * b,
        m * ratio
    ));
    let (mut scale, start) = (1.0f64, simulation.energy().0);
    for _ in 0..(0.2 / dt) as usize {
        scale = scale.min(step(&mut simulation).restitution_scale);
    }
    (simulation.state().v.clone().try_into().unwrap(), simulation.energy().0 / start, scale)
}

/// The normal is that of the moment of impact, wherever in the step that is.
#[test]
fn oblique_impacts_of_two_balls_exchange_the_normal_component() {
    for e in [0.0, 0.5, 1.0] {
        for b in [0.0, 1e-3, 0.1, 0.5, 0.8, 0.95, 0.99] {
            for (dt, ratio, across) in [(1e-2, 1.0, 0.0), (1e-3, 1.0, 0.0), (1e-4, 1.0, 0.0), (1.37e-2, 7.0, 0.4)] {
                let (v, energy, scale) = pair(b, dt, e, ratio, across);
                let what = format!("dt {dt} e {e} b {b} ratio {ratio}");
                assert_eq!(scale, 1.0, "{what}");
                // Balls that do not rebound come to touch a step later, where the normal has turned by the way of a step.
                let bar = if e > 0.0 { 1e-6 } else { 0.01 + 0.5 * dt / 0.06 };
                // From the second ball to the first at the impact, and what the first loses along it.
                let normal = [-(1.0 - b * b).sqrt(), 0.6 * b, 0.8 * b];
                let lost = (1.0 + e) * normal[0] * ratio / (1.0 + ratio);
                let exact = |k: usize, before: f64, share: f64| before + share * lost * normal[k];
                for k in 0..3 {
                    let first = exact(k, [1.0, across, 0.0][k], -1.0);
                    let second = exact(k, [0.0, across, 0.0][k], 1.0 / ratio);
                    let error = (v[k] - first).abs().max((v[6 + k] - second).abs());
                    assert!(error < bar, "{what}: {v:?}");
                }
                let reduced = 0.5 * 0.17 * ratio / (1.0 + ratio);
                let start = 0.5 * 0.17 * (1.0 + (1.0 + ratio) * across * across);
                let left = 1.0 - (1.0 - e * e) * normal[0] * normal[0] * reduced / start;
                assert!((energy - left).abs() < bar, "{what}: {energy} {left}");
                let spin = v[3..6].iter().chain(&v[9..]).fold(0.0f64, |max, w| max.max(w.abs()));
                assert!(spin < 1e-9, "{what}: a ball without friction spins at {spin} rad/s");
            }
        }
    }
}

/// Gravity, a fixed ball below and off to the side: what the impact leaves along the normal, and across it.
#[test]
fn a_ball_falls_obliquely_on_another() {
    for dt in [1e-2, 1e-3, 1e-4] {
        for e in [0.0, 0.5, 1.0] {
            for x in [0.0f64, 0.06, 0.2, 0.35] {
                let z = (0.4f64 * 0.4 - x * x).sqrt();
                let drop = 0.05;
                let floor = "[[bodies]]\nname = \"below\"\nfixed = true\nshape = { sphere = 0.3 }\n";
                let scene = drop_scene(dt, e, 0.1, 1.0, z + drop, floor).replace("[0, 0, ", &format!("[{x}, 0, "));
                let mut simulation = simulation(&scene);
                let impact = (2.0 * G * drop).sqrt();
                let mut before = 0.0;
                for k in 0.. {
                    assert!(k as f64 * dt < 0.2, "no impact");
                    before = simulation.state().v[2].min(before);
                    step(&mut simulation);
                    if simulation.state().v[2] > before + 0.5 * G * dt {
                        break;
                    }
                }
                if e == 0.0 {
                    // What does not rebound comes to touch a step later than it is stopped.
                    step(&mut simulation);
                }
                let (v, normal) = (&simulation.state().v, [x / 0.4, 0.0, z / 0.4]);
                let along = v[0] * normal[0] + v[2] * normal[2];
                let bar = 0.01 + 2.0 * G * dt / (impact * normal[2]);
                let measured = along / (impact * normal[2]);
                assert!((measured - e).abs() <= bar, "dt {dt} e {e} x {x}: {measured}");
                assert!(v[3..].iter().all(|w| w.abs() < 1e-9), "{v:?}");
            }
        }
    }
}

#[test]
fn a_ball_in_a_groove_comes_straight_back() {
    let half = std::f64::consts::FRAC_PI_4;
    let plane = |name: &str, angle: f64| {
        format!("[[bodies]]\nname = \"{name}\"\nfixed = true\nrpy = [0, {angle}, 0]\nshape = {{ plane = true }}\n")
    };
    let groove = plane("left", half) + &plane("right", -half);
    for dt in [4e-3, 1e-3, 2e-4] {
        for e in [0.0, 0.5, 1.0] {
            let (r, drop) = (0.1f64, 0.05f64);
            let z = r * 2.0f64.sqrt() + drop;
            let mut simulation = simulation(&drop_scene(dt, e, r, 1.0, z, &groove));
            let impact = (2.0 * G * drop).sqrt();
            let (_, after) = rebound(&mut simulation, 2, (1.3 * impact / G / dt) as usize);
            assert!((after / impact - e).abs() <= 0.01 + 2.0 * G * dt / impact, "dt {dt} e {e}: {after}");
            assert!(simulation.state().v[0].abs() < 1e-12);
        }
    }
}

#[test]
fn boxes_rebound_on_a_face_and_on_an_edge() {
    for dt in [1e-2, 1e-3, 1e-4] {
        for e in [0.3, 1.0] {
            let (drop, impact) = (0.05f64, (2.0 * G * 0.05f64).sqrt());
            let body = |z: f64, rpy: &str| {
                format!(
                    "dt = {dt}\n[material]\nfriction = 0\nrestitution = {e}\n{FLOOR}\
                     [[bodies]]\nname = \"box\"\nmass = 2\nposition = [0, 0, {z}]\nrpy = {rpy}\n\
                     shape = {{ box = [0.2, 0.3, 0.2] }}\n"
                )
            };
            let bar = 0.01 + 2.0 * G * dt / impact;
            let steps = (1.3 * impact / G / dt) as usize + 3;
            let mut flat = simulation(&body(0.1 + drop, "[0, 0, 0]"));
            let (_, after) = rebound(&mut flat, 2, steps);
            assert!((after / impact - e).abs() <= bar, "flat, dt {dt} e {e}: {after}");
            assert!(flat.state().v[3..].iter().all(|w| w.abs() < 1e-9), "{:?}", flat.state().v);
            // On the edge along y, right below the centre: no turn either.
            let mut edge = simulation(&body(0.1 * 2.0f64.sqrt() + drop, "[0, 0.7853981633974483, 0]"));
            let (_, after) = rebound(&mut edge, 2, steps);
            assert!((after / impact - e).abs() <= bar, "edge, dt {dt} e {e}: {after}");
        }
    }
}

/// A row of `n` equal balls along x that touch, but for the first `moving`, which come from the left at 1 m/s.
fn row(n: usize, moving: usize, e: f64, impacts: &str, simulator: &str, dt: f64) -> Vec<f64> {
    let r = 0.05;
    let mut text = format!(
        "dt = {dt}\ngravity = [0, 0, 0]\nimpacts = \"{impacts}\"\nsimulator = \"{simulator}\"\n\
         [material]\nfriction = 0\nrestitution = {e}\n"
    );
    for i in 0..n {
        let (x, v) = if i < moving { (2.0 * r * i as f64 - 0.0317, 1) } else { (2.0 * r * i as f64, 0) };
        text += &format!(
            "[[bodies]]\nname = \"b{i}\"\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n\
             shape = {{ sphere = {r} }}\n"
        );
    }
    let mut simulation = simulation(&text);
    let mut energy = f64::INFINITY;
    for _ in 0..(0.06 / dt) as usize {
        let report = step(&mut simulation);
        assert_eq!(report.restitution_scale, 1.0);
        assert!(report.kinetic <= energy * (1.0 + 1e-12));
        energy = report.kinetic;
    }
    (0..n).map(|i| simulation.state().v[6 * i]).collect()
}

#[test]
fn newtons_cradle_passes_the_momentum_on_where_impacts_are_sequential() {
    for simulator in ["time-stepping", "event-driven"] {
        for dt in [1e-2, 1e-3] {
            for (n, moving) in [(2, 1), (3, 1), (5, 1), (5, 2), (5, 3)] {
                let v = row(n, moving, 1.0, "sequential", simulator, dt);
                for (i, v) in v.iter().enumerate() {
                    let expected = if i >= n - moving { 1.0 } else { 0.0 };
                    assert!((v - expected).abs() < 1e-9, "{simulator} dt {dt} {n}/{moving}: {i} has {v}");
                }
            }
        }
    }
}

#[test]
fn three_balls_at_once_share_the_momentum() {
    for dt in [1e-2, 1e-3, 1e-4] {
        for e in [0.0, 0.5, 1.0] {
            // The rebound of the first pair, and the other pair together: v⁺ = v (1/3, 1/3, 1/3) + e v (−2, 1, 1)/3.
            let v = row(3, 1, e, "simultaneous", "time-stepping", dt);
            let expected = [(1.0 - 2.0 * e) / 3.0, (1.0 + e) / 3.0, (1.0 + e) / 3.0];
            for (v, expected) in v.iter().zip(expected) {
                assert!((v - expected).abs() < 1e-9, "dt {dt} e {e}: {v} instead of {expected}");
            }
        }
    }
}

#[test]
fn different_restitutions_and_a_body_between_gain_nothing() {
    // A heavy ball comes from the left and meets a light one that has just left the wall.
    for (e_wall, e_ball) in [(0.0, 1.0), (1.0, 1.0), (0.3, 0.9)] {
        let mut simulation = simulation(&format!(
            "dt = 0.001\ngravity = [0, 0, 0]\nfriction_rule = \"minimum\"\n[material]\nfriction = 0\nrestitution = {e_ball}\n\
             [[bodies]]\nname = \"wall\"\nfixed = true\nrpy = [0, -1.5707963267948966, 0]\nrestitution = {e_wall}\nshape = {{ plane = true }}\n\
             [[bodies]]\nname = \"light\"\nmass = 1\nposition = [-0.0502, 0, 0]\nvelocity = [-1, 0, 0]\nshape = {{ sphere = 0.05 }}\n\
             [[bodies]]\nname = \"heavy\"\nmass = 10\nposition = [-0.1522, 0, 0]\nvelocity = [1, 0, 0]\nshape = {{ sphere = 0.05 }}\n"
        ));
        let mut energy = 5.5;
        for _ in 0..50 {
            let report = step(&mut simulation);
            assert!(report.kinetic <= energy * (1.0 + 1e-11), "{} after {energy}", report.kinetic);
            assert!((0.0..=1.0).contains(&report.restitution_scale));
            energy = report.kinetic;
        }
    }
}

#[test]
fn friction_never_gains_energy() {
    let rod = |mu: f64, e: f64, angle: f64, vx: f64| {
        format!(
            "dt = 0.001\ngravity = [0, 0, 0]\n[material]\nfriction = {mu}\nrestitution = {e}\n{FLOOR}\
             [[bodies]]\nname = \"rod\"\nmass = 1\nposition = [0, 0, 0.52]\nrpy = [0, {angle}, 0]\nvelocity = [{vx}, 0, -1]\n\
             shape = {{ capsule = [0.02, 0.9] }}\n"
        )
    };
    let mut lowered = 0;
    for mu in [0.1, 0.5, 1.0, 3.0] {
        for e in [0.3, 0.7, 1.0] {
            for angle in [0.2, 0.5, 0.9, 1.2] {
                for vx in [-2.0, -0.5, 0.0, 0.5, 2.0] {
                    let mut simulation = simulation(&rod(mu, e, angle, vx));
                    let mut energy = simulation.energy().0;
                    for _ in 0..700 {
                        let report = step(&mut simulation);
                        // Without gravity nothing but contact changes the energy; turning at finite steps is not part of it.
                        assert!(report.work <= 1e-12 * energy, "mu {mu} e {e} angle {angle} vx {vx}: {}", report.work);
                        lowered += u32::from(report.restitution_lowered());
                        energy = report.kinetic;
                    }
                }
            }
        }
    }
    assert!(lowered > 0, "some of these impacts gain energy under Newton's hypothesis");
}

/// Rods that fall under gravity on one end and go on bouncing: steps keep E − ½ dt m g v_z in flight, so that only contacts
/// change it, and they take from it alone, up to ½ m g² dt² where gravity closes a contact again that just parted.
#[test]
fn a_falling_rod_never_gains_energy() {
    const DT: f64 = 0.002;
    let mut lowered = 0;
    for mu in [0.1, 0.5, 1.0, 3.0] {
        for e in [0.5, 0.9, 1.0] {
            for (angle, spin) in [(0.2, -8.0), (0.6, 3.0), (1.0, 0.0), (1.4, 7.0)] {
                let mut simulation = simulation(&format!(
                    "dt = {DT}\n[material]\nfriction = {mu}\nrestitution = {e}\n{FLOOR}\
                     [[bodies]]\nname = \"rod\"\nmass = 1\nposition = [0, 0, 1]\nrpy = [0, {angle}, 0]\nvelocity = [1.5, 0, -1]\n\
                     angular_velocity = [0, {spin}, 0]\nshape = {{ capsule = [0.02, 0.9] }}\n"
                ));
                let energy = |simulation: &mut Simulation| {
                    let (kinetic, potential) = simulation.energy();
                    kinetic + potential - 0.5 * DT * G * simulation.state().v[2]
                };
                let start = energy(&mut simulation);
                let mut last = start;
                for k in 0..1000 {
                    let report = step(&mut simulation);
                    let now = energy(&mut simulation) - report.energy.projection;
                    assert!(
                        now <= last + 0.5 * (G * DT).powi(2),
                        "mu {mu} e {e} angle {angle} spin {spin}: step {k}, {last} to {now} J"
                    );
                    lowered += u32::from(report.restitution_lowered());
                    last = energy(&mut simulation);
                }
                assert!(last <= start, "mu {mu} e {e} angle {angle} spin {spin}: from {start} to {last} J");
            }
        }
    }
    assert!(lowered > 0, "some of these impacts gain energy under Newton's hypothesis");
}

/// A ball that slips, rolls, bounces with backspin, goes up and down a slope.
#[test]
fn a_rolling_ball_never_gains_energy() {
    for (mu, slope) in [(0.05, 0.0), (0.4, 0.3), (1.5, 0.1), (f64::INFINITY, 0.2)] {
        for e in [0.0, 0.6, 1.0] {
            for (spin, height) in [(0.0, 0.0), (60.0, 0.0), (-60.0, 0.05), (20.0, 0.05)] {
                let mut simulation = simulation(&format!(
                    "dt = 0.002\n[material]\nfriction = {mu}\nrestitution = {e}\n\
                     [[bodies]]\nname = \"floor\"\nfixed = true\nrpy = [0, {slope}, 0]\nshape = {{ plane = true }}\n\
                     [[bodies]]\nname = \"ball\"\nmass = 0.3\nposition = [0, 0, {}]\nvelocity = [-1.5, 0.2, 0]\n\
                     angular_velocity = [1, {spin}, 3]\nshape = {{ sphere = 0.05 }}\n",
                    0.05 / f64::cos(slope) + height
                ));
                // In free fall symplectic Euler keeps E − ½ dt m g v_z, up to m g² dt² where forces act as well; where
                // nothing bounces, E itself never grows.
                let energy = |simulation: &mut Simulation| {
                    let ((kinetic, potential), v) = (simulation.energy(), simulation.state().v[2]);
                    let shift = if e > 0.0 { 0.5 * 0.002 * 0.3 * G * v } else { 0.0 };
                    (kinetic + potential - shift, kinetic)
                };
                let slack = if e > 0.0 { 0.3 * (G * 0.002f64).powi(2) } else { 0.0 };
                let mut least = energy(&mut simulation).0;
                for k in 0..1000 {
                    let report = step(&mut simulation);
                    let (now, kinetic) = energy(&mut simulation);
                    let what = format!("mu {mu} slope {slope} e {e} spin {spin}, step {k}");
                    assert!(report.work <= 1e-12 * kinetic, "{what}: the contact adds {} J", report.work);
                    assert!(now <= least + slack + 1e-12 * kinetic, "{what}: from {least} to {now} J");
                    least = least.min(now);
                }
            }
        }
    }
}

#[test]
fn bodies_come_to_rest_and_stay() {
    for dt in [1e-2, 1e-3] {
        let mut simulation = simulation(
            &(drop_scene(dt, 0.8, 0.1, 1.0, 0.3, FLOOR)
                + "[[bodies]]\nname = \"low\"\nmass = 1\nposition = [1, 0, 0.1]\nrestitution = 0.5\nshape = { box = [0.2, 0.2, 0.2] }\n\
                   [[bodies]]\nname = \"high\"\nmass = 3\nposition = [1, 0, 0.3]\nrestitution = 0.5\nshape = { box = [0.2, 0.2, 0.2] }\n"),
        );
        let stack = simulation.state().q[7..].to_vec();
        for _ in 0..(6.0 / dt) as usize {
            step(&mut simulation);
        }
        let (q, v) = (&simulation.state().q, &simulation.state().v);
        assert!(v.iter().all(|v| v.abs() < 1e-9), "dt {dt}: {v:?}");
        assert!((q[2] - 0.1).abs() < 1e-9, "dt {dt}: {}", q[2]);
        for (now, then) in q[7..].iter().zip(stack) {
            assert!((now - then).abs() < 1e-12, "dt {dt}: the stack moved from {then} to {now}");
        }
    }
}

#[test]
fn a_rebound_on_a_ceiling_is_elastic_too() {
    let mut simulation = simulation(
        "dt = 0.001\n[material]\nfriction = 0\nrestitution = 1\n\
         [[bodies]]\nname = \"ceiling\"\nfixed = true\nposition = [0, 0, 1]\nrpy = [3.141592653589793, 0, 0]\nshape = { plane = true }\n\
         [[bodies]]\nname = \"ball\"\nmass = 1\nposition = [0, 0, 0.8]\nvelocity = [0, 0, 3]\nshape = { sphere = 0.1 }\n",
    );
    for _ in 0..60 {
        assert_eq!(step(&mut simulation).restitution_scale, 1.0);
    }
    let speed = (9.0 - 2.0 * G * 0.1f64).sqrt();
    let t: f64 = 0.06 - (3.0 - speed) / G;
    let expected = -(speed + G * t);
    assert!((simulation.state().v[2] - expected).abs() < 3.0 * G * 1e-3, "{} {expected}", simulation.state().v[2]);
}

#[test]
fn the_recorded_problem_has_the_steps_answer() {
    use stiction_contact::io::{AnyProblem, ReadOptions, contact_to_json, read_bytes};
    use stiction_contact::{ContactModel, CoulombCone};
    let mut simulation = simulation(&drop_scene(1e-3, 0.7, 0.1, 1.0, 0.15, FLOOR));
    for _ in 0..200 {
        let before = simulation.state().v[2];
        step(&mut simulation);
        if before < 0.0 && simulation.state().v[2] > 0.0 {
            let problem = simulation.problem();
            let contacts = problem.contacts();
            assert!(contacts.predicted[0] && contacts.gap[0] > 0.0 && contacts.bounce[0] > 0.6);
            let text = contact_to_json(problem);
            let AnyProblem::Contact(again) = read_bytes("a.json", text.as_bytes(), &ReadOptions::default()).unwrap()
            else {
                panic!("no contact problem")
            };
            assert_eq!(*again, *problem);
            let outcome = CoulombCone::default().solve(&again).unwrap();
            let solved = outcome.solved().unwrap();
            assert!((solved.motion[2] - simulation.state().v[2]).abs() < 1e-14);
            assert!((solved.motion[2] - contacts.bounce[0]).abs() < 1e-14, "a bounce is the speed after it");
            return;
        }
    }
    panic!("no rebound");
}

#[test]
fn friction_without_limit_needs_touch() {
    for (dt, lift) in [(1e-3, 0.5), (1e-2, 0.01), (1e-3, 0.0)] {
        let mut simulation = simulation(&format!(
            "dt = {dt}\ngravity = [0, 0, 0]\n[material]\nfriction = inf\n\
             [[bodies]]\nname = \"wall\"\nfixed = true\nposition = [0, 0, -0.5]\nshape = {{ box = [10, 10, 1] }}\n\
             [[bodies]]\nname = \"box\"\nmass = 1\nposition = [-1, 0, 0.101]\nvelocity = [10, 0, {lift}]\nshape = {{ box = [0.2, 0.2, 0.2] }}\n"
        ));
        for _ in 0..5 {
            step(&mut simulation);
            assert_eq!(simulation.state().v[..3], [10.0, 0.0, lift]);
        }
    }
}

//! Servos at the limits of their motors: arms that lie on the ground and want to be elsewhere.

use stiction_sim::{Scene, Simulation};

const DT: f64 = 0.01;
const LINKS: usize = 10;

/// Gains and largest effort of joint `i`, as the scene computes them.
struct Servo {
    kp: f64,
    kd: f64,
    target: f64,
    limit: f64,
}

fn random(i: usize, what: usize, seed: u64) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (what as u64) << 40
        ^ seed.wrapping_mul(0xD1B5_4A32_D192_ED03);
    for _ in 0..3 {
        x ^= x >> 31;
        x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// An arm of links with round ends beside the ground.
fn arm(seed: u64) -> (Simulation, Vec<Servo>) {
    let mut text = format!(
        "dt = {DT}\nduration = 1.0\n[material]\nfriction = 0.8\n[[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n"
    );
    let mut servos = vec![];
    for i in 0..LINKS {
        let servo = Servo {
            kp: libm::exp10(4.0 * random(i, 1, seed)),
            kd: libm::exp10(2.0 * random(i, 2, seed)),
            target: 4.0 * random(i, 3, seed) - 2.0,
            limit: libm::exp10(2.0 * random(i, 4, seed) - 1.0),
        };
        let parent = if i == 0 { String::new() } else { format!("parent = \"link{}\"\n", i - 1) };
        let at = if i == 0 { "[0, 0, 0.06]" } else { "[0.1, 0, 0]" };
        let axis = if i % 2 == 0 { "[0, 1, 0]" } else { "[0, 0, 1]" };
        text += &format!(
            "[[bodies]]\nname = \"link{i}\"\n{parent}mass = {}\nposition = {at}\n\
             joint = {{ type = \"revolute\", axis = {axis}, effort = {}, velocity = {} }}\n\
             shape = {{ capsule = [0.03, 0.08], rpy = [0, 1.5707963267948966, 0], position = [0.05, 0, 0] }}\n\
             [[controllers]]\ntype = \"servo\"\njoint = \"link{i}\"\nkp = {}\nkd = {}\ntarget = {}\n",
            0.1 + random(i, 5, seed),
            servo.limit,
            6.0 * random(i, 6, seed) - 3.0,
            servo.kp,
            servo.kd,
            servo.target
        );
        servos.push(servo);
    }
    let scene = Scene::parse(&text, std::path::Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    (scene.simulation().unwrap_or_else(|e| panic!("{e}")), servos)
}

#[test]
fn every_servo_is_within_its_limit_or_at_it() {
    let mut at_limit = 0;
    for seed in 0..100 {
        let (mut simulation, servos) = arm(seed);
        for step in 0..20 {
            simulation.step().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let (q, v) = (&simulation.state().q, &simulation.state().v);
            let saturated = simulation.snapshot().memory.saturated;
            for (k, servo) in servos.iter().enumerate() {
                let effort = servo.kp * (servo.target - q[k]) - servo.kd * v[k];
                let place = format!("seed {seed}, step {step}, joint {k}: {effort} of {}", servo.limit);
                match saturated[k] {
                    0 => assert!(effort.abs() <= servo.limit * (1.0 + 1e-6), "{place}"),
                    sign => assert!(effort * f64::from(sign) >= servo.limit * (1.0 - 1e-6), "{place}"),
                }
                at_limit += usize::from(saturated[k] != 0);
            }
        }
    }
    assert!(at_limit > 2000, "{at_limit} efforts were at their limits");
}

//! Ellipsoids that rock and roll, against closed-form mechanics.

use std::path::Path;

use stiction_sim::{Scene, Simulation};

const G: f64 = 9.81;

/// An ellipsoid on a plane without slip, tilted about y, with its lowest point on the plane; lengths in units of `unit` (m).
fn rocking(simulator: &str, dt: f64, radii: [f64; 3], tilt: f64, floor: &str) -> Simulation {
    let [a, b, c] = radii;
    let height = (a * a * tilt.sin() * tilt.sin() + c * c * tilt.cos() * tilt.cos()).sqrt();
    let text = format!(
        "simulator = \"{simulator}\"\ndt = {dt}\n[material]\nfriction = 100\n\
         [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ {floor} }}\n\
         [[bodies]]\nname = \"stone\"\nmass = 0.1\nposition = [0, 0, {height:?}]\nrpy = [0, {tilt:?}, 0]\n\
         shape = {{ ellipsoid = [{a:?}, {b:?}, {c:?}] }}\n"
    );
    Scene::parse(&text, Path::new("."), &[]).unwrap().simulation().unwrap()
}

fn tilt(simulation: &Simulation) -> f64 {
    let q = &simulation.state().q;
    2.0 * q[5].atan2(q[3])
}

/// Angular frequency of small rocking about y, with the radius of curvature a²/c where it touches.
fn frequency([a, _, c]: [f64; 3]) -> f64 {
    (G * (a * a / c - c) / ((a * a + c * c) / 5.0 + c * c)).sqrt()
}

/// Times at which the tilt goes through zero, and the largest tilt between the last two.
fn swings(simulation: &mut Simulation, count: usize) -> (Vec<f64>, f64) {
    let (mut times, mut last, mut largest) = (vec![], (0.0, tilt(simulation)), 0.0f64);
    while times.len() < count {
        assert!(simulation.step().unwrap().certificate <= 1e-10);
        let here = (simulation.state().t, tilt(simulation));
        if last.1 * here.1 <= 0.0 && last.1 != 0.0 {
            times.push(last.0 + (here.0 - last.0) * last.1 / (last.1 - here.1));
            if times.len() < count {
                largest = 0.0;
            }
        }
        largest = largest.max(here.1.abs());
        last = here;
        assert!(here.0 < 100.0);
    }
    (times, largest)
}

#[test]
fn small_rocking_has_the_frequency_of_its_curvature() {
    let cases = [
        ([0.03, 0.04, 0.02], 0.01, 1e-3, "plane = true"),
        ([0.03, 0.04, 0.02], 0.01, 1e-3, "box = [1, 1, 1], position = [0, 0, -0.5]"),
        // A metre, a pebble of millimetres, nearly a ball, a disc.
        ([0.6, 0.5, 0.3], 0.01, 2e-3, "plane = true"),
        ([0.003, 0.004, 0.002], 0.01, 2e-4, "plane = true"),
        ([0.0303, 0.03, 0.03], 0.01, 2e-3, "plane = true"),
        ([0.1, 0.1, 0.02], 0.002, 2e-4, "plane = true"),
    ];
    for (radii, start, dt, floor) in cases {
        let mut simulation = rocking("time-stepping", dt, radii, start, floor);
        let (times, largest) = swings(&mut simulation, 9);
        let period = (times[8] - times[0]) / 4.0;
        let expected = 2.0 * std::f64::consts::PI / frequency(radii);
        assert!((period / expected - 1.0).abs() < 2e-3, "{radii:?}: {period} {expected}");
        assert!((0.95..1.05).contains(&(largest / start)), "{radii:?}: {largest}");
    }
}

/// Event-driven steps keep the energy of large rocking without slip.
#[test]
fn large_rocking_keeps_its_energy() {
    for radii in [[0.03, 0.04, 0.02], [0.3, 0.3, 0.1], [0.003, 0.004, 0.002]] {
        let size: f64 = radii[2];
        let mut simulation = rocking("event-driven", 0.005 * size.sqrt(), radii, 0.5, "plane = true");
        let energy = |simulation: &mut Simulation| {
            let (kinetic, potential) = simulation.energy();
            kinetic + potential
        };
        let start = energy(&mut simulation);
        let (_, largest) = swings(&mut simulation, 12);
        let end = energy(&mut simulation);
        assert!((end / start - 1.0).abs() < 1e-6, "{radii:?}: {}", end / start - 1.0);
        assert!((largest / 0.5 - 1.0).abs() < 1e-3, "{radii:?}: {largest}");
    }
}

/// A spheroid that rolls about its axis of symmetry is a wheel: it keeps its speed.
#[test]
fn a_spheroid_rolls_on() {
    let text = "dt = 0.01\n[material]\nfriction = 0.5\n\
        [[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
        [[bodies]]\nname = \"wheel\"\nmass = 2\nposition = [0, 0, 0.2]\nvelocity = [1, 0, 0]\nangular_velocity = [0, 5, 0]\n\
        shape = { ellipsoid = [0.2, 0.5, 0.2] }\n";
    let mut simulation = Scene::parse(text, Path::new("."), &[]).unwrap().simulation().unwrap();
    for _ in 0..1000 {
        assert!(simulation.step().unwrap().certificate <= 1e-10);
    }
    let state = simulation.state();
    assert!((state.v[0] - 1.0).abs() < 1e-9 && (state.q[0] - 10.0).abs() < 1e-6, "{:?} {:?}", state.q, state.v);
    assert!((state.q[2] - 0.2).abs() < 1e-9 && state.q[1].abs() < 1e-9);
}

/// Heavy on light and light on heavy: both stay where they are put.
#[test]
fn ellipsoids_stack_with_any_ratio_of_masses() {
    for mass in [1e-3, 1.0, 1e3] {
        let text = format!(
            "dt = 0.005\n[material]\nfriction = 0.5\n\
             [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ box = [2, 2, 0.2], position = [0, 0, -0.1] }}\n\
             [[bodies]]\nname = \"low\"\nmass = 1\nposition = [0, 0, 0.1]\nshape = {{ ellipsoid = [0.6, 0.6, 0.1] }}\n\
             [[bodies]]\nname = \"high\"\nmass = {mass}\nposition = [0, 0, 0.3]\nshape = {{ ellipsoid = [0.6, 0.6, 0.1] }}\n"
        );
        let mut simulation = Scene::parse(&text, Path::new("."), &[]).unwrap().simulation().unwrap();
        for _ in 0..400 {
            assert!(simulation.step().unwrap().certificate <= 1e-10);
        }
        let q = &simulation.state().q;
        assert!((q[2] - 0.1).abs() < 1e-9 && (q[9] - 0.3).abs() < 1e-9, "{q:?}");
    }
}

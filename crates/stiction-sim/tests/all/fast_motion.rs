//! Motion too fast for its steps: energy that does not grow, and a state that is never called good
//! when it is not finite.

use std::path::Path;

use stiction_sim::{Scene, Simulation};

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    scene.simulation().unwrap_or_else(|e| panic!("{e}"))
}

fn spinning(spin: [f64; 3], dt: f64) -> Simulation {
    simulation(&format!(
        "dt = {dt}\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"b\"\nmass = 1.0\nshape = {{ box = [0.1, 0.2, 0.3] }}\nangular_velocity = {spin:?}\n"
    ))
}

/// The rotational energy of a free box, which grew until the state was not finite.
#[test]
fn a_spinning_box_does_not_gain_energy() {
    for spin in [[5.0, 100.0, 5.0], [20.0, 146.0, 20.0], [1.0, 2.0, 30.0]] {
        for dt in [1e-2, 1e-3] {
            let mut s = spinning(spin, dt);
            let start = s.energy().0;
            for _ in 0..1000 {
                let report = s.step().unwrap();
                assert!(report.energy.kinetic_after <= 1.000_001 * start, "{spin:?} {dt}: {:?}", report.energy);
            }
            assert!(s.energy().0 >= 0.999_999 * start, "{spin:?} {dt}");
        }
    }
}

/// A plank thrown up, spinning: gravity and spin do not disturb each other.
#[test]
fn a_thrown_plank_keeps_its_spin() {
    for dt in [1e-2, 2e-3] {
        let mut s = simulation(&format!(
            "dt = {dt}\n[[bodies]]\nname = \"b\"\nmass = 1.0\nshape = {{ box = [0.05, 0.1, 0.4] }}\nvelocity = [0, 0, 9.81]\nangular_velocity = [3, 40, 3]\n"
        ));
        let rotation = |s: &mut Simulation| s.energy().0 - 0.5 * s.state().v[..3].iter().map(|v| v * v).sum::<f64>();
        let start = rotation(&mut s);
        for _ in 0..(2.0 / dt) as usize {
            s.step().unwrap();
        }
        assert!((rotation(&mut s) / start - 1.0).abs() < 1e-9, "{dt}");
    }
}

/// An energy that is not a number of doubles is a failed step, which leaves everything as it was.
#[test]
fn a_step_that_is_not_finite_is_taken_back() {
    for simulator in ["time-stepping", "event-driven"] {
        let mut s = simulation(&format!(
            "dt = 1e-3\nsimulator = \"{simulator}\"\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ plane = true }}\n[[bodies]]\nname = \"b\"\nmass = 1.0\nshape = {{ box = [0.2, 0.2, 0.2] }}\nposition = [0, 0, 0.1]\n[[bodies]]\nname = \"c\"\nmass = 1.0\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 9]\n"
        ));
        for _ in 0..5 {
            s.step().unwrap();
        }
        let mut fast = s.snapshot();
        let at = fast.state.v.len() - 4;
        fast.state.v[at] = 1e200;
        s.restore(&fast).unwrap();
        let failure = s.step().unwrap_err();
        assert!(
            failure.why.contains("not finite") || failure.why.contains("energy inf"),
            "{simulator}: {}",
            failure.why
        );
        assert_eq!(s.snapshot(), fast, "{simulator}");
    }
}

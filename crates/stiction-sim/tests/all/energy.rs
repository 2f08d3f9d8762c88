//! The energy balance of a step against closed forms.

use std::path::Path;

use stiction_sim::{EnergyBalance, Scene, Simulation};

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    scene.simulation().unwrap_or_else(|e| panic!("{e}"))
}

/// The balances of some steps.
fn balances(text: &str, steps: usize) -> Vec<EnergyBalance> {
    let mut simulation = simulation(text);
    (0..steps).map(|_| simulation.step().unwrap_or_else(|e| panic!("{e}")).energy).collect()
}

#[test]
fn a_motor_gives_what_its_slider_gains() {
    let slider = |properties: &str| {
        format!(
            "dt = 0.01\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"slider\"\nmass = 2\nshape = {{ sphere = 0.1 }}\n\
             joint = {{ type = \"prismatic\", axis = [1, 0, 0]{properties} }}\n\
             [[controllers]]\ntype = \"effort\"\njoint = \"slider\"\neffort = 3\n"
        )
    };
    for (properties, passive) in [("", false), (", damping = 5", true), (", stiffness = 40", true)] {
        let all = balances(&slider(properties), 50);
        for e in &all {
            let gained = e.kinetic_after - e.kinetic_before;
            assert!((gained - e.actuators - e.joints).abs() <= 1e-14, "{properties}: {e:?}");
            assert!(e.actuators > 0.0 && (e.joints < 0.0) == passive && e.potential_change == 0.0, "{e:?}");
        }
        assert!(all.windows(2).all(|e| e[0].kinetic_after == e[1].kinetic_before));
    }
}

/// A fall turns potential into kinetic energy, but for ½ m g² dt²: symplectic Euler.
#[test]
fn a_fall_turns_potential_into_kinetic_energy() {
    let (m, g, dt) = (0.5, 9.81, 0.01);
    for e in balances("dt = 0.01\n[[bodies]]\nname = \"b\"\nmass = 0.5\nshape = { sphere = 0.1 }\n", 20) {
        let total = e.kinetic_after - e.kinetic_before + e.potential_change;
        assert!((total + 0.5 * m * g * g * dt * dt).abs() <= 1e-13, "{e:?}");
        assert!(e.actuators == 0.0 && e.joints == 0.0 && e.projection == 0.0, "{e:?}");
    }
}

/// Two balls that overlap are moved apart, one of them up: the report says what that cost.
#[test]
fn moving_bodies_out_of_overlap_is_in_the_balance() {
    let text = "dt = 0.001\n[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"b\"\nmass = 2\nposition = [0, 0, 0.099]\nshape = { sphere = 0.1 }\n";
    let e = balances(text, 1)[0];
    assert!((e.projection - 2.0 * 9.81 * 1e-3).abs() <= 1e-9, "{e:?}");
    assert!((e.potential_change - e.projection).abs() <= 1e-9, "{e:?}");
}

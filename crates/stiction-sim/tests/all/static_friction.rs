//! Static friction unlike that of sliding, against closed forms.

use std::path::Path;

use crate::friction_ellipse::{DT, G, cube as cube_in_plane, simulation};
use stiction_sim::summary::bodies;
use stiction_sim::{Scene, Simulation};

/// A cube of 1 kg on a floor, with gravity turned towards x by this part of g, and a velocity along x.
fn cube(surface: &str, push: f64, velocity: f64) -> String {
    cube_in_plane(surface, [push, 0.0], [velocity, 0.0])
}

/// Makes steps, each certified; the velocity of the cube along x after them.
fn after(s: &mut Simulation, count: usize) -> f64 {
    for _ in 0..count {
        assert!(s.step().unwrap().certificate <= 1e-10);
    }
    bodies(s)["cube"].linear_velocity[0]
}

const SURFACE: &str = "friction = 0.3\nstatic_friction = 0.5";

#[test]
fn what_rests_is_held_by_the_static_coefficient_and_what_slides_by_the_other() {
    // Between the two coefficients: at rest it stays, in motion it goes on, faster and faster.
    assert_eq!(after(&mut simulation(&cube(SURFACE, 0.4, 0.0)), 500), 0.0);
    let v = after(&mut simulation(&cube(SURFACE, 0.4, 0.1)), 500);
    assert!((v - (0.1 + 500.0 * DT * (0.4 - 0.3) * G)).abs() < 1e-10, "{v}");
    // Above both it breaks loose: held by the static one for the first step alone.
    let v = after(&mut simulation(&cube(SURFACE, 0.6, 0.0)), 500);
    assert!((v - DT * G * ((0.6 - 0.5) + 499.0 * (0.6 - 0.3))).abs() < 1e-10, "{v}");
    // Below both it comes to rest, and stays.
    assert_eq!(after(&mut simulation(&cube(SURFACE, 0.2, 0.1)), 500), 0.0);
}

#[test]
fn a_cube_that_is_thrown_up_a_slope_stays_where_it_stops() {
    // Pushed back by 0.4 of its weight, where 0.3 would not hold it and 0.5 does.
    let mut s = simulation(&cube(SURFACE, -0.4, 0.1));
    assert_eq!(after(&mut s, 300), 0.0);
    let (x, way) = (bodies(&mut s)["cube"].position[0], 0.1 * 0.1 / (2.0 * 0.7 * G));
    assert!((x - way).abs() <= 0.1 * DT, "{x} {way}");
    // One coefficient of 0.3 lets it come back.
    assert!(after(&mut simulation(&cube("friction = 0.3", -0.4, 0.1)), 300) < -0.1);
    // Pushed by more than both, it turns round.
    assert!(after(&mut simulation(&cube(SURFACE, -0.6, 0.1)), 300) < -0.5);
}

#[test]
fn the_coefficient_that_counts_is_reported() {
    for (velocity, expected) in [(0.0, 0.5), (0.1, 0.3)] {
        let mut s = simulation(&cube(SURFACE, 0.0, velocity));
        after(&mut s, 3);
        assert!(s.contacts().iter().all(|frame| frame.material.mu == expected) && s.contacts().len() == 4);
    }
}

#[test]
fn a_belt_that_moves_slides_under_what_lies_on_it() {
    // The belt takes the cube along with the coefficient of sliding.
    let belt = format!("{SURFACE}\nsurface_velocity = [1, 0, 0]");
    let v = after(&mut simulation(&cube(&belt, 0.0, 0.0)), 100);
    assert!((v - 100.0 * DT * 0.3 * G).abs() < 1e-10, "{v}");
}

#[test]
fn directions_and_rests_are_scaled_alike() {
    // Across the planks 0.1 in motion, and so 0.1 · 0.5/0.3 at rest.
    let planks = "friction = [0.3, 0.1]\nstatic_friction = 0.5\nfriction_direction = [0, 1, 0]";
    assert_eq!(after(&mut simulation(&cube(planks, 0.16, 0.0)), 200), 0.0);
    assert!(after(&mut simulation(&cube(planks, 0.17, 0.0)), 200) > 0.01);
}

#[test]
fn models_without_coulomb_friction_say_that_it_has_no_effect() {
    for (model, said) in [("coulomb-cone", 0), ("frictionless", 1), ("no-slip", 1), ("viscous", 1)] {
        for (surface, times) in [(SURFACE, said), ("friction = 0.3", 0)] {
            let text = format!("model = \"{model}\"\n{}", cube(surface, 0.0, 0.0));
            let notes = Scene::parse(&text, Path::new("."), &[]).unwrap().unused_notes();
            assert_eq!(notes.len(), times, "{model} {notes:?}");
            assert!(notes.iter().all(|n| n.element == "static_friction" && n.text.contains(model)), "{notes:?}");
        }
    }
}

#[test]
fn a_static_coefficient_below_the_other_is_an_error_and_so_is_event_driven_simulation() {
    let wrong = cube("friction = 0.3\nstatic_friction = 0.2", 0.0, 0.0);
    let error = Scene::parse(&wrong, Path::new("."), &[]).unwrap_err().to_string();
    assert!(error.contains("static_friction") && error.contains("at least friction, 0.3, found 0.2"), "{error}");
    let text = format!("simulator = \"event-driven\"\nmodel = \"coulomb-pyramid\"\n{}", cube(SURFACE, 0.0, 0.0));
    let error = Scene::parse(&text, Path::new("."), &[]).and_then(|scene| scene.simulation().map(|_| ())).unwrap_err();
    assert!(error.to_string().contains("static friction"), "{error}");
}

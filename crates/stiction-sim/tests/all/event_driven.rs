//! Event-driven simulation against closed-form mechanics.

use std::path::Path;
use std::sync::Arc;

use stiction_body::math::{Mat3, Pose, Vec3};
use stiction_body::{Inertia, JointKind, LinkSpec};
use stiction_contact::{ContactModel, ContactProblem, CoulombPyramid};
use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{
    Description, Integrator, Placement, Scene, Settings, Simulation, SimulatorKind, StepReport, World, WorldBuilder,
};

const G: f64 = 9.81;

fn scene(text: &str) -> Simulation {
    let text = format!("simulator = \"event-driven\"\n{text}");
    Scene::parse(&text, Path::new("."), &[]).unwrap().simulation().unwrap()
}

/// Makes steps, each with contact work of at most rounding and no rest left to time stepping.
fn run(simulation: &mut Simulation, steps: usize) -> Vec<StepReport> {
    (0..steps).map(|_| smooth_step(simulation)).collect()
}

fn smooth_step(simulation: &mut Simulation) -> StepReport {
    let report = simulation.step().unwrap();
    assert_eq!(report.stepped, 0.0, "at t = {}", simulation.state().t);
    assert!(report.work <= 1e-12 * (report.kinetic + report.work.abs()), "work {:e}", report.work);
    assert!(report.certificate <= 1e-10);
    report
}

fn total(simulation: &mut Simulation) -> f64 {
    let (kinetic, potential) = simulation.energy();
    kinetic + potential
}

fn ball(restitution: f64, friction: f64, extra: &str) -> Simulation {
    scene(&format!(
        "dt = 0.01\n[material]\nfriction = {friction}\nrestitution = {restitution}\n\
         [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n\
         [[bodies]]\nname = \"ball\"\nmass = 0.2\nshape = {{ sphere = 0.05 }}\n{extra}"
    ))
}

#[test]
fn a_ball_bounces_a_hundred_times_without_loss() {
    let mut simulation = ball(1.0, 0.0, "position = [0, 0, 0.35]\nvelocity = [0.3, 0, 0]");
    let start = total(&mut simulation);
    let (mut impacts, mut worst) = (0, 0.0f64);
    while impacts < 100 {
        impacts += smooth_step(&mut simulation).impacts;
        worst = worst.max((total(&mut simulation) - start).abs() / start);
        assert!(simulation.state().step < 10_000);
    }
    let fall = (2.0 * 0.3 / G).sqrt();
    let expected = 199.0 * fall;
    assert!((simulation.state().t - expected).abs() <= 0.01 + 1e-9, "{} {expected}", simulation.state().t);
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn a_ball_comes_to_rest_and_stays() {
    let mut simulation = ball(0.5, 0.3, "position = [0, 0, 0.15]");
    let reports = run(&mut simulation, 150);
    // Rebounds of 1.4/2, 1.4/4 … m/s down to a hundredth.
    let impacts: usize = reports.iter().map(|r| r.impacts).sum();
    assert_eq!(impacts, 8);
    let q = simulation.state().q.clone();
    assert!((q[2] - 0.05).abs() <= 1e-10, "{}", q[2] - 0.05);
    run(&mut simulation, 500);
    assert!(simulation.state().v.iter().all(|v| v.abs() <= 1e-15), "{:?}", simulation.state().v);
    assert!(q.iter().zip(&simulation.state().q).all(|(a, b)| (a - b).abs() <= 1e-14));
}

#[test]
fn a_snapshot_continues_bit_for_bit() {
    let mut simulation = ball(0.5, 0.3, "position = [0, 0, 0.15]\nvelocity = [1, 0, 0]\nangular_velocity = [0, 0, 9]");
    for steps in [10, 13, 40] {
        run(&mut simulation, steps);
        let snapshot = simulation.snapshot();
        run(&mut simulation, 30);
        let hash = simulation.state().hash();
        let mut other = ball(0.5, 0.3, "position = [0, 0, 0.15]");
        other.restore(&snapshot).unwrap();
        run(&mut other, 30);
        assert_eq!(hash, other.state().hash());
        simulation.restore(&snapshot).unwrap();
    }
}

#[test]
fn a_sliding_ball_comes_to_roll() {
    // It slides until v = 5/7 of the start, at t = 2 v / (7 mu g), and rolls on from there.
    let mut simulation = ball(0.0, 0.2, "position = [0, 0, 0.05]\nvelocity = [1, 0, 0]");
    let reports = run(&mut simulation, 100);
    let (slide, v) = (2.0 / (7.0 * 0.2 * G), 5.0 / 7.0);
    let distance = slide * (1.0 + v) / 2.0 + (1.0 - slide) * v;
    let state = simulation.state();
    assert!((state.v[0] - v).abs() <= 1e-8, "{}", state.v[0] - v);
    assert!((state.v[4] - v / 0.05).abs() <= 1e-6, "{}", state.v[4] * 0.05 - v);
    assert!((state.q[0] - distance).abs() <= 1e-8, "{}", state.q[0] - distance);
    assert!(reports.iter().all(|r| r.impacts == 0));
    assert!(reports[20..].iter().all(|r| r.slip == 0.0));
}

fn block_on_slope(angle: f64, model: &str, mu: f64, extra: &str) -> Simulation {
    let (s, c) = (angle.sin(), angle.cos());
    scene(&format!(
        "dt = 0.01\nmodel = \"{model}\"\n[material]\nfriction = {mu}\n\
         [[bodies]]\nname = \"slope\"\nfixed = true\nrpy = [0, {angle}, 0]\nshape = {{ plane = true }}\n\
         [[bodies]]\nname = \"block\"\nmass = 1.3\nrpy = [0, {angle}, 0]\nposition = [{}, 0, {}]\nshape = {{ box = [0.2, 0.2, 0.2] }}\n{extra}",
        0.1 * s,
        0.1 * c
    ))
}

#[test]
fn a_block_on_a_slope_sticks_or_slides() {
    let angle = 0.35f64;
    for model in ["coulomb-cone", "coulomb-pyramid", "baraff-friction"] {
        let mut simulation = block_on_slope(angle, model, 0.5, "");
        let start = simulation.state().q.clone();
        run(&mut simulation, 100);
        let moved = simulation.state().q.iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved <= 1e-12, "{model}: {moved:e}");
        let mut simulation = block_on_slope(angle, model, 0.2, "");
        let start = simulation.state().q.clone();
        run(&mut simulation, 100);
        let a = G * (angle.sin() - 0.2 * angle.cos());
        let along = (simulation.state().q[0] - start[0]) / angle.cos();
        assert!((along - 0.5 * a).abs() <= 1e-9, "{model}: {along} {}", 0.5 * a);
    }
}

#[test]
fn a_block_pushed_up_a_slope_stops_and_stays_or_turns_back() {
    let angle = 0.35f64;
    let up = format!("velocity = [{}, 0, {}]", -angle.cos(), angle.sin());
    for (mu, returns) in [(0.5, false), (0.2, true)] {
        let mut simulation = block_on_slope(angle, "coulomb-cone", mu, &up);
        let start = simulation.state().q[0];
        run(&mut simulation, 100);
        let deceleration = G * (angle.sin() + mu * angle.cos());
        let (time, distance) = (1.0 / deceleration, 0.5 / deceleration);
        let back = 0.5 * G * (angle.sin() - mu * angle.cos()) * (1.0 - time) * (1.0 - time);
        let expected = if returns { distance - back } else { distance };
        let along = (start - simulation.state().q[0]) / angle.cos();
        assert!((along - expected).abs() <= 1e-8, "{mu}: {along} {expected}");
    }
}

#[test]
fn two_balls_exchange_their_momentum() {
    let mut simulation = scene(
        "dt = 0.01\ngravity = [0, 0, 0]\n[material]\nfriction = 0\nrestitution = 1\n\
         [[bodies]]\nname = \"a\"\nmass = 1\nposition = [0, 0, 0]\nvelocity = [1, 0, 0]\nshape = { sphere = 0.1 }\n\
         [[bodies]]\nname = \"b\"\nmass = 3\nposition = [0.5, 0, 0]\nvelocity = [-0.5, 0, 0]\nshape = { sphere = 0.1 }",
    );
    let reports = run(&mut simulation, 50);
    assert_eq!(reports.iter().map(|r| r.impacts).sum::<usize>(), 1);
    let v = [simulation.state().v[0], simulation.state().v[6]];
    // Elastic: v₁ = ((m₁ − m₂) u₁ + 2 m₂ u₂)/(m₁ + m₂), v₂ likewise.
    assert!((v[0] - -1.25).abs() <= 1e-12 && (v[1] - 0.25).abs() <= 1e-12, "{v:?}");
    let meet = 0.3 / 1.5;
    assert!((simulation.state().q[0] - (meet - 1.25 * (0.5 - meet))).abs() <= 1e-9);
}

#[test]
fn a_fast_small_ball_does_not_tunnel_through_a_thin_plate() {
    for speed in [20.0, 100.0, 700.0] {
        let mut simulation = scene(&format!(
            "dt = 0.01\ngravity = [0, 0, 0]\n[material]\nfriction = 0\nrestitution = 1\n\
             [[bodies]]\nname = \"plate\"\nfixed = true\nshape = {{ box = [1, 1, 0.001] }}\n\
             [[bodies]]\nname = \"ball\"\nmass = 0.01\nposition = [0.1, 0.2, 0.1]\nvelocity = [0, 0, {}]\nshape = {{ sphere = 0.002 }}",
            -speed
        ));
        run(&mut simulation, 5);
        let state = simulation.state();
        assert!(state.q[2] > 0.0 && (state.v[2] - speed).abs() <= 1e-9 * speed, "{} {}", state.q[2], state.v[2]);
    }
}

#[test]
fn a_rod_bounces_on_its_end() {
    // An impact at one end of a rod at angle θ: u⁺ = −e u⁻ there, with the impulse p = (1 + e) u / (1/m + x²/I).
    let (length, radius, angle) = (0.4, 0.01, 0.6f64);
    let mut simulation = scene(&format!(
        "dt = 0.01\n[material]\nfriction = 0\nrestitution = 0.8\n\
         [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n\
         [[bodies]]\nname = \"rod\"\nmass = 0.5\nposition = [0, 0, 0.5]\nrpy = [0, {}, 0]\nshape = {{ capsule = [{radius}, {length}] }}",
        std::f64::consts::FRAC_PI_2 - angle
    ));
    let start = total(&mut simulation);
    let mut before = simulation.state().clone();
    loop {
        let report = smooth_step(&mut simulation);
        assert!(report.impacts == 0 || simulation.state().v[2] > before.v[2]);
        if report.impacts > 0 {
            break;
        }
        before = simulation.state().clone();
    }
    let x = 0.5 * length * angle.cos();
    let mass = 0.5;
    let inertia = simulation.world().model.links()[0].spec.inertia.about_com.x_axis.x;
    let fall = 0.5 - (radius + 0.5 * length * angle.sin());
    let u = (2.0 * G * fall).sqrt();
    let p = 1.8 * u / (1.0 / mass + x * x / inertia);
    let expected = start - mass * G * 0.0 - (u * p - 0.5 * p * p * (1.0 / mass + x * x / inertia));
    let found = total(&mut simulation);
    assert!((found - expected).abs() <= 1e-9 * start, "{found} {expected}");
    // It turns and comes down on the other end too, and never gains.
    let mut last = found;
    for _ in 0..200 {
        smooth_step(&mut simulation);
        let now = total(&mut simulation);
        assert!(now <= last + 1e-9 * start, "{now} {last}");
        last = now;
    }
}

fn double_pendulum() -> Arc<World> {
    let mut builder = WorldBuilder::new();
    let axis = Vec3::Y;
    let rod = |mass: f64, length: f64| {
        let about = mass * length * length / 12.0;
        Inertia::new(
            mass,
            Vec3::new(0.0, 0.0, -0.5 * length),
            Mat3::from_diagonal(Vec3::new(about, about, about * 1e-2)),
        )
        .unwrap()
    };
    let links = vec![
        LinkSpec::on("upper", None, JointKind::Continuous { axis }, Pose::identity(), rod(1.0, 0.5)),
        LinkSpec::on(
            "lower",
            Some(0),
            JointKind::Continuous { axis },
            Pose::from_translation(Vec3::new(0.0, 0.0, -0.5)),
            rod(0.7, 0.4),
        ),
    ];
    let description =
        Description { links, initial: vec![(0, vec![1.2]), (1, vec![0.7])], ..Description::new("pendulum") };
    builder.add(&description, &Placement::default()).unwrap();
    Arc::new(builder.build().unwrap().0)
}

fn smooth(world: &Arc<World>, dt: f64, integrator: Integrator) -> Simulation {
    let simulator = SimulatorKind::EventDriven;
    Simulation::new(world.clone(), Settings { dt, simulator, integrator, ..Settings::default() }).unwrap()
}

fn end(world: &Arc<World>, steps: usize, integrator: Integrator) -> Vec<f64> {
    let mut simulation = smooth(world, 1.0 / steps as f64, integrator);
    run(&mut simulation, steps);
    let state = simulation.state();
    state.q.iter().chain(&state.v).copied().collect()
}

fn orders(world: &Arc<World>, steps: [usize; 3], integrator: Integrator) -> f64 {
    let [a, b, c] = steps.map(|n| end(world, n, integrator));
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    (distance(&a, &b) / distance(&b, &c)).log2()
}

#[test]
fn a_double_pendulum_shows_the_order_of_the_integrator() {
    let world = double_pendulum();
    let order = orders(&world, [200, 400, 800], Integrator::Rk4);
    assert!((3.7..=4.3).contains(&order), "{order}");
    let order = orders(&world, [800, 1600, 3200], Integrator::SymplecticEuler);
    assert!((0.7..=1.3).contains(&order), "{order}");
}

#[test]
fn a_spinning_body_keeps_energy_and_momentum() {
    let mut builder = WorldBuilder::new();
    builder.gravity(Vec3::ZERO);
    let inertia = Inertia::new(2.0, Vec3::ZERO, Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.25))).unwrap();
    let links = vec![LinkSpec::free("top", inertia)];
    let added = builder.add(&Description { links, ..Description::new("top") }, &Placement::default()).unwrap();
    builder.set_velocity(added.links[0], vec![0.1, 0.2, 0.3, 0.1, 5.0, 0.2]).unwrap();
    let world = Arc::new(builder.build().unwrap().0);
    let order = orders(&world, [100, 200, 400], Integrator::Rk4);
    assert!((3.7..=4.5).contains(&order), "{order}");
    let mut simulation = smooth(&world, 1e-3, Integrator::Rk4);
    let momentum = |simulation: &mut Simulation| {
        let inertia = simulation.world().model.links()[0].spec.inertia.about_com;
        let work = simulation.kinematics();
        let (r, omega) = (work.pose[0].rotation, work.velocity[0].angular);
        r * (inertia * (r.inverse() * omega))
    };
    let (energy, spin) = (total(&mut simulation), momentum(&mut simulation));
    run(&mut simulation, 3000);
    assert!((total(&mut simulation) - energy).abs() <= 1e-11 * energy);
    assert!((momentum(&mut simulation) - spin).length() <= 1e-11 * spin.length());
}

/// A tenth of 10⁴ steps, with a tenth of the drift that is allowed over those.
#[test]
fn a_body_that_turns_far_in_a_step_keeps_its_energy() {
    for spin in ["[5, 100, 5]", "[20, 146, 20]", "[-80, 90, 89]"] {
        let mut simulation = scene(&format!(
            "dt = 0.01\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"box\"\nmass = 1\nangular_velocity = {spin}\n\
             shape = {{ box = [0.1, 0.2, 0.3] }}\n"
        ));
        let start = total(&mut simulation);
        for _ in 0..1000 {
            smooth_step(&mut simulation);
        }
        let ratio = total(&mut simulation) / start;
        assert!((ratio - 1.0).abs() < 1e-4, "{spin}: {ratio}");
    }
}

fn pendulum(limits: &str, q: f64, v: f64) -> Simulation {
    scene(&format!(
        "dt = 0.01\n[[bodies]]\nname = \"arm\"\nmass = 1\njoint = {{ type = \"revolute\", axis = [0, 1, 0], position = {q}, velocity = {v}, {limits} }}\n\
         shape = {{ box = [0.1, 0.1, 0.4], position = [0, 0, -0.3] }}"
    ))
}

#[test]
fn a_pendulum_stops_at_its_limit_and_leaves_it() {
    // It swings from 0.5 to the limit at −0.2, is stopped there, and swings back as if let go at that place.
    let mut simulation = pendulum("limits = [-0.2, 1]", 0.5, 0.0);
    let mut impacts = 0;
    let mut low = f64::INFINITY;
    for _ in 0..300 {
        impacts += smooth_step(&mut simulation).impacts;
        low = low.min(simulation.state().q[0]);
    }
    assert_eq!(impacts, 1);
    assert!(low >= -0.2 - 2e-9, "{low}");
    let mut free = pendulum("limits = [-3, 3]", -0.2, 0.0);
    let energy = total(&mut free);
    assert!((total(&mut simulation) - energy).abs() <= 1e-7 * energy.abs(), "{} {energy}", total(&mut simulation));
}

#[test]
fn dry_friction_brings_a_joint_to_a_stop() {
    // A slider of 1 kg at 1 m/s against 2 N: 0.5 s and 0.25 m.
    let mut simulation = scene(
        "dt = 0.01\n[[bodies]]\nname = \"slider\"\nmass = 1\nshape = { box = [0.1, 0.1, 0.1] }\n\
         joint = { type = \"prismatic\", axis = [1, 0, 0], friction = 2, velocity = 1 }",
    );
    run(&mut simulation, 100);
    assert!((simulation.state().q[0] - 0.25).abs() <= 1e-8, "{}", simulation.state().q[0]);
    assert_eq!(simulation.state().v[0], 0.0);
}

#[test]
fn viscous_friction_slows_a_block_exponentially() {
    // Drag at each of the four corners: m v̇ = −4 mu_v v.
    let mut simulation = scene(
        "dt = 0.01\nmodel = \"viscous\"\n[material]\nviscous_friction = 0.5\n\
         [[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n\
         [[bodies]]\nname = \"block\"\nmass = 1\nposition = [0, 0, 0.01]\nvelocity = [1, 0, 0]\nshape = { box = [2, 2, 0.02] }",
    );
    run(&mut simulation, 100);
    let expected = (-2.0f64).exp();
    assert!((simulation.state().v[0] - expected).abs() <= 1e-8, "{} {expected}", simulation.state().v[0]);
}

#[test]
fn a_four_bar_linkage_keeps_its_energy_and_stays_closed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/four-bar.toml");
    let text = std::fs::read_to_string(path).unwrap().replace(", damping = 0.002", "");
    let error = |steps: usize| {
        let mut scene = Scene::parse(&text, Path::new("."), &[]).unwrap();
        scene.settings = Settings { simulator: SimulatorKind::EventDriven, dt: 0.5 / steps as f64, ..scene.settings };
        let mut simulation = scene.simulation().unwrap();
        let (start, crank) = (total(&mut simulation), simulation.state().q[0]);
        run(&mut simulation, steps);
        let work = 0.05 * (simulation.state().q[0] - crank);
        assert!(work > 0.02);
        (total(&mut simulation) - start - work).abs()
    };
    let (coarse, fine) = (error(500), error(1000));
    assert!(coarse <= 2e-8 && fine <= coarse / 12.0, "{coarse:e} {fine:e}");
}

#[test]
fn servos_are_held_over_a_step_or_follow_the_stages() {
    // A slider on a spring made by a servo: x = cos(ω t), to fourth order only if the servo is asked at every stage.
    let end = |per_stage: bool| {
        let mut simulation = scene(&format!(
            "dt = 0.01\ncontrollers_per_stage = {per_stage}\n\
             [[bodies]]\nname = \"slider\"\nmass = 1\nshape = {{ box = [0.1, 0.1, 0.1] }}\n\
             joint = {{ type = \"prismatic\", axis = [1, 0, 0], position = 1 }}\n\
             [[controllers]]\ntype = \"servo\"\njoint = \"slider\"\nkp = 4\nkd = 0\ntarget = 0"
        ));
        run(&mut simulation, 100);
        simulation.state().q[0] - 2f64.cos()
    };
    assert!(end(true).abs() <= 1e-8, "{}", end(true));
    assert!(end(false).abs() > 1e-3 && end(false).abs() < 0.05, "{}", end(false));
}

#[test]
fn a_sliding_rod_without_an_answer_of_accelerations_goes_on_by_time_stepping() {
    // Painlevé's rod: leaning forward into its slide with much friction.
    let angle = 1.1f64;
    let mut simulation = scene(&format!(
        "dt = 0.001\n[material]\nfriction = 3\n[[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n\
         [[bodies]]\nname = \"rod\"\nmass = 1\nposition = [0, 0, {}]\nrpy = [0, {}, 0]\nvelocity = [5, 0, 0]\nshape = {{ capsule = [0.001, 1.0] }}",
        0.001 + 0.5 * angle.sin(),
        angle - std::f64::consts::FRAC_PI_2
    ));
    let mut energy = total(&mut simulation);
    let mut stepped = 0.0;
    for _ in 0..200 {
        stepped += simulation.step().unwrap().stepped;
        let now = total(&mut simulation);
        assert!(now <= energy + 1e-5 * energy.abs(), "{now} {energy}");
        energy = now;
    }
    assert!(stepped > 0.0);
}

#[test]
fn events_without_end_are_left_to_time_stepping() {
    // A ball between two plates that close in on it: it bounces ever faster.
    let mut simulation = scene(
        "dt = 0.01\ngravity = [0, 0, 0]\nrestitution_speed = 0\n[material]\nfriction = 0\nrestitution = 1\n\
         [[bodies]]\nname = \"a\"\nmass = 1e6\nposition = [0, 0, 0.2]\nvelocity = [0, 0, -1]\nshape = { box = [1, 1, 0.1] }\n\
         [[bodies]]\nname = \"b\"\nmass = 1e6\nposition = [0, 0, -0.2]\nvelocity = [0, 0, 1]\nshape = { box = [1, 1, 0.1] }\n\
         [[bodies]]\nname = \"ball\"\nmass = 1e-3\nposition = [0, 0, 0.01]\nvelocity = [0, 0, 3]\nshape = { sphere = 0.05 }",
    );
    let mut most = 0;
    for _ in 0..15 {
        match simulation.step() {
            Ok(report) => most = most.max(report.substeps),
            Err(failure) => panic!("{failure}"),
        }
    }
    assert!(most > 5 && most <= 65, "{most}");
}

/// A block's slip ends early in a step, and late in it a ball lands somewhere else: both events are met, the first one too.
#[test]
fn slip_that_ends_before_something_else_lands_is_not_passed_over() {
    let (mu, slip_ends, lands) = (0.5, 3e-3, 8e-3);
    let (speed, height) = (mu * G * slip_ends, 0.05 + 0.5 * G * lands * lands);
    let mut simulation = scene(&format!(
        "dt = 0.01\n[material]\nfriction = {mu}\n\
         [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n\
         [[bodies]]\nname = \"block\"\nmass = 1.3\nposition = [0, 0, 0.1]\nvelocity = [{speed}, 0, 0]\nshape = {{ box = [0.2, 0.2, 0.2] }}\n\
         [[bodies]]\nname = \"ball\"\nmass = 0.2\nposition = [1, 0, {height}]\nshape = {{ sphere = 0.05 }}"
    ));
    let report = smooth_step(&mut simulation);
    let state = simulation.state();
    assert!(state.v.iter().all(|v| v.abs() <= 1e-9), "{:?}", state.v);
    let (moved, expected) = (state.q[0], 0.5 * speed * slip_ends);
    assert!((moved - expected).abs() <= 1e-9 * expected, "{moved:e} {expected:e}");
    assert!(report.impacts == 1 && report.substeps <= 4, "{} impacts, {} pieces", report.impacts, report.substeps);
}

#[test]
fn a_pyramid_at_rest_costs_one_search() {
    let text = include_str!("../../../../scenes/pyramid.toml");
    let text = format!("simulator = \"event-driven\"\n{text}");
    let mut simulation = Scene::parse(&text, Path::new("."), &[("base".into(), 7.0)]).unwrap().simulation().unwrap();
    let reports = run(&mut simulation, 5);
    assert_eq!(reports[0].contacts, 196);
    assert!(reports[0].factorizations <= 30, "{}", reports[0].factorizations);
    assert!(reports[1..].iter().all(|report| report.factorizations == 0 && report.slip <= 1e-15));
}

#[test]
fn limits_and_friction_of_tendons_are_refused() {
    let build = |attributes: &str| {
        let text = format!(
            r#"<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos="1 0 0"/></body></worldbody>
               <tendon><fixed name="rope" {attributes}><joint joint="a" coef="1"/></fixed></tendon></mujoco>"#
        );
        let mut builder = WorldBuilder::new();
        let description = mjcf::parse(&text, Path::new("."), &MjcfOptions::default()).unwrap();
        builder.add(&description, &Placement::default()).unwrap();
        let settings = Settings { simulator: SimulatorKind::EventDriven, ..Settings::default() };
        Simulation::new(Arc::new(builder.build().unwrap().0), settings).map(|_| ())
    };
    assert!(build(r#"stiffness="3" damping="1""#).is_ok());
    for attributes in [r#"range="-1 1" limited="true""#, r#"frictionloss="0.1""#] {
        let message = build(attributes).unwrap_err().to_string();
        assert!(message.contains("rope") && message.contains("simulator"), "{message}");
    }
}

#[test]
fn accelerations_at_an_instant_follow_from_efforts_and_efforts_from_accelerations() {
    // A slider of 1 kg on rails pushes a cube of 4 kg along the floor at 1 m/s.
    let text = |effort: f64| {
        format!(
            "[material]\nfriction = 0.25\n\
             [[bodies]]\nname = \"ground\"\nfixed = true\nshape = {{ plane = true }}\n\
             [[bodies]]\nname = \"cube\"\nmass = 4.0\nposition = [0, 0, 0.1]\nvelocity = [1, 0, 0]\n\
             shape = {{ box = [0.2, 0.2, 0.2] }}\n\
             [[bodies]]\nname = \"slider\"\nmass = 1.0\nposition = [-0.15, 0, 0.1]\n\
             shape = {{ box = [0.1, 0.1, 0.1], friction = 0.0 }}\n\
             joint = {{ type = \"prismatic\", axis = [1, 0, 0], velocity = 1.0 }}\n\
             [[controllers]]\ntype = \"effort\"\njoint = \"slider\"\neffort = {effort}\n"
        )
    };
    let mut model = CoulombPyramid::default();
    let mut solve = |problem: &ContactProblem| model.solve(problem).unwrap().solved().unwrap().clone();
    let drag = 0.25 * 4.0 * G;
    let mut pushed = scene(&text(30.0));
    let before = pushed.state().clone();
    let found = solve(&pushed.acceleration_problem().unwrap());
    let a = (30.0 - drag) / 5.0;
    assert!((found.motion[0] - a).abs() <= 1e-9 && (found.motion[6] - a).abs() <= 1e-9, "{:?}", found.motion);
    assert_eq!(*pushed.state(), before);
    let mut free = scene(&text(0.0));
    let mut problem = free.acceleration_problem().unwrap();
    problem.add_bilateral(&[(1, &[1.0])], 0.0, a).unwrap();
    let effort = solve(&problem).forces.bilateral[0];
    assert!((effort - 30.0).abs() <= 1e-9, "{effort}");
    // A ball that falls onto the floor has an impact first; time stepping has none of this.
    let mut falling = ball(0.0, 0.5, "position = [0, 0, 0.05]\nvelocity = [0, 0, -1]");
    assert!(falling.acceleration_problem().unwrap_err().to_string().contains("there is an impact first"));
    let plain = "[[bodies]]\nname = \"ball\"\nmass = 1.0\nshape = { sphere = 0.1 }";
    let mut stepping = Scene::parse(plain, Path::new("."), &[]).unwrap().simulation().unwrap();
    assert!(stepping.acceleration_problem().unwrap_err().to_string().contains("need an event-driven simulation"));
}

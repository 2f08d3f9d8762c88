//! Adhesion actuators. Figures are MuJoCo's (elliptic cones, the same file and step).

use std::path::Path;
use std::sync::Arc;

use stiction_sim::control::{Commands, Controller, View};
use stiction_sim::mjcf::{self, MjcfOptions};
use stiction_sim::{Placement, Settings, Simulation, SimulatorKind, WorldBuilder};

const HELD: &str = r#"<mujoco><option timestep="0.001"/><worldbody>
  <geom name="wall" type="box" size=".1 1 5" pos="-.1 0 1"/><geom name="roof" type="box" size="1 1 .1" pos="2 0 1.1"/>
  <body name="box" pos=".1 0 1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="lamp" pos="2 0 .9"><freejoint/><geom name="lamp" type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="plate" pos="4 0 0.5"><freejoint/><geom name="plate" type="box" size=".2 .2 .02" mass="1"/></body>
  <body name="grip" pos="4 0 .62"><joint name="lift" type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="tile" pos=".02 .5 1"><freejoint/><geom name="tile" type="box" size=".02 .1 .1" mass="1"/></body>
  </worldbody><actuator>
  <adhesion name="hold" body="box" ctrlrange="0 2" gain="10"/><adhesion body="lamp" ctrlrange="0 2" gain="10"/>
  <adhesion body="grip" ctrlrange="0 3" gain="10"/><motor joint="lift"/>
  <adhesion body="tile" ctrlrange="0 2" gain="10"/></actuator></mujoco>"#;

/// Controls that stay what they are.
struct Constant(Vec<f64>);

impl Controller for Constant {
    fn command(&mut self, _: &View<'_>, commands: &mut Commands) {
        commands.control.copy_from_slice(&self.0);
    }
}

fn simulation(control: [f64; 5], simulator: SimulatorKind) -> Result<Simulation, stiction_sim::SceneError> {
    let description = mjcf::parse(HELD, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(description.notes.iter().all(|n| !n.text.contains("adhesion")), "{:?}", description.notes);
    let mut builder = WorldBuilder::new();
    builder.add(&description, &Placement::default()).unwrap();
    let settings = Settings { dt: description.dt.unwrap(), simulator, ..Settings::default() };
    let mut sim = Simulation::new(Arc::new(builder.build().unwrap().0), settings)?;
    sim.control(Box::new(Constant(control.to_vec())));
    Ok(sim)
}

fn run(control: [f64; 5]) -> Simulation {
    let mut sim = simulation(control, SimulatorKind::TimeStepping).unwrap();
    for _ in 0..200 {
        let report = sim.step().unwrap_or_else(|e| panic!("{}", e.why));
        assert!(report.certificate < 1e-10, "{}", report.certificate);
    }
    sim
}

fn velocity(sim: &Simulation, body: &str, k: usize) -> f64 {
    let link = &sim.world().model.links()[sim.world().model.link(body).unwrap()];
    sim.state().v[link.v.start + k]
}

/// Normal forces of all contacts of a geom (N).
fn pressed(sim: &Simulation, geom: &str) -> f64 {
    let own = sim.world().geoms.iter().position(|g| g.name == geom).unwrap() as u32;
    let forces = &sim.impulses().unwrap().normal;
    let of = sim.contacts().iter().zip(forces).filter(|(frame, _)| frame.key.geoms.contains(&own));
    of.map(|(_, p)| p / sim.settings().dt).sum()
}

#[test]
fn what_adheres_hangs_on_walls_and_roofs_and_is_lifted() {
    let sim = run([1.5, 1.2, 2.0, 25.0, 1.5]);
    assert_eq!((velocity(&sim, "box", 2), velocity(&sim, "lamp", 2)), (0.0, 0.0));
    for (geom, newtons) in [("box", 15.0), ("lamp", 2.19), ("plate", 7.5)] {
        assert!((pressed(&sim, geom) - newtons).abs() < 1e-2, "{geom}: {} N, MuJoCo {newtons}", pressed(&sim, geom));
    }
    assert!((velocity(&sim, "plate", 2) - 0.538).abs() < 1e-6, "{}", velocity(&sim, "plate", 2));
}

#[test]
fn what_adheres_too_little_slides_or_falls() {
    let sim = run([0.8, 0.9, 0.5, 25.0, 0.8]);
    // It slides under 9.81 − 8 N: friction is 1.
    assert!((velocity(&sim, "tile", 2) + 0.362).abs() < 1e-6, "{}", velocity(&sim, "tile", 2));
    // Both let go some steps after the first one: MuJoCo's lamp falls at 1.818 m/s.
    assert!((velocity(&sim, "lamp", 2) + 1.9).abs() < 0.1, "{}", velocity(&sim, "lamp", 2));
    assert!(velocity(&sim, "plate", 2) < -1.9 && velocity(&sim, "grip", 0) > 3.0);
    // A control beyond its range is at its end.
    assert!((pressed(&run([5.0, 1.2, 2.0, 25.0, 1.5]), "box") - 20.0).abs() < 1e-9);
}

#[test]
fn event_driven_simulation_refuses_it() {
    let refused = simulation([0.0; 5], SimulatorKind::EventDriven).err().unwrap().to_string();
    assert!(refused.contains("adhesion (\"hold\") needs time stepping"), "{refused}");
}

//! The grasp through the simulator: whole steps, collision included.

use std::sync::Arc;

use stiction_body::math::{Pose, Vec3};
use stiction_body::{Geom, Inertia, JointKind, LinkSpec, Shape};
use stiction_sim::control::{Joint, JointEffort};
use stiction_sim::{
    Description, GeomSpec, Material, Placement, SceneError, Settings, Signal, Simulation, World, WorldBuilder,
};

use super::Method;
use crate::compose::{Rule, claim, columns, count, text};
use crate::report::short;
use crate::timing::{median, timed};
use crate::{Cell, Claim, Effort, Table};

/// Cubes between the grippers.
const BLOCKS: usize = 2;

/// Processor time of a whole step of the published simulator, run again (s), in the order of [`Method::ALL`]; of the last the least of two.
const PUBLISHED: [f64; 3] = [0.194, 0.364, 0.243];

/// Force of a gripper per cube (N).
const SQUEEZE: f64 = 100.0;

/// What a method's steps took.
pub(super) struct WholeSteps {
    pub method: Method,
    /// Median time of a step of the first ten of a run, and of later ones (s).
    first: f64,
    later: f64,
    contacts: usize,
    /// Steps made in the longest run, and the largest motion of a cube beside its place (m).
    pub steps: usize,
    /// Largest motion of a cube beside its place (m).
    pub motion: f64,
    /// Steps made when a cube was first seen to have moved.
    pub lost: Option<usize>,
    failure: Option<String>,
}

/// The row of cubes between two grippers on prismatic joints in the world.
fn world() -> Result<World, SceneError> {
    let input = |e: stiction_lcp::InputError| SceneError::input("grasp", &e);
    let mut row = Description::new("grasp");
    let (material, cube) = (Material { mu: 100.0, ..Material::default() }, Vec3::ONE);
    for k in 0..BLOCKS + 2 {
        let gripper = k == 0 || k == BLOCKS + 1;
        let pose = Pose::from_translation(Vec3::new(k as f64, 0.0, 0.0));
        let inertia = Inertia::cuboid(1.0, cube);
        let kind = if gripper { JointKind::Prismatic { axis: Vec3::X } } else { JointKind::Free };
        row.links.push(LinkSpec::on(format!("body{k}"), None, kind, pose, inertia));
        let shape = Shape::cuboid(cube * 0.5).map_err(input)?;
        row.geoms.push(GeomSpec::new(Geom::new(format!("cube{k}"), Some(k), Pose::identity(), shape), material));
    }
    let mut builder = WorldBuilder::new();
    builder.gravity(Vec3::new(0.0, 0.0, -9.81));
    builder.add(&row, &Placement::default())?;
    Ok(builder.build()?.0)
}

/// A simulation from the start, with the method's model.
fn simulation(world: &Arc<World>, method: Method, dt: f64) -> Result<Simulation, SceneError> {
    // Every step is timed: none may be left out or shared.
    let timed = Settings { threads: Some(1), sleeping: false, ..Settings::default() };
    let settings = Settings { dt, model: method.model().kind(), ..timed };
    let mut simulation = Simulation::new(world.clone(), settings)?;
    simulation.set_model(method.model()).map_err(|e| SceneError::input("model", &e))?;
    for (name, push) in [("body0".to_string(), 1.0), (format!("body{}", BLOCKS + 1), -1.0)] {
        let link = world.model.link(&name).map(|l| &world.model.links()[l]);
        let joint = link.map(|l| Joint { q: l.q.start, v: l.v.start });
        let joint = joint.ok_or_else(|| SceneError::new("grasp", "a gripper has no joint"))?;
        let effort = Signal::constant(push * SQUEEZE * BLOCKS as f64);
        simulation.control(Box::new(JointEffort { joint, effort }));
    }
    Ok(simulation)
}

/// Trials of ten steps of 10 ms, the methods in turns; then a long run of 1 ms each.
pub(super) fn whole_steps(effort: &Effort) -> Result<Vec<WholeSteps>, SceneError> {
    let world = Arc::new(world()?);
    let mut first: [Vec<f64>; 3] = Default::default();
    for _ in 0..if effort.quick { 5 } else { 10 } {
        for (times, method) in first.iter_mut().zip(Method::ALL) {
            let mut simulation = simulation(&world, method, 1e-2)?;
            let (time, made) = timed(|| (0..10).take_while(|_| simulation.step().is_ok()).count());
            times.push(time / made.max(1) as f64);
        }
    }
    let run = |(times, method): (Vec<f64>, Method)| long_run(&world, method, median(times), effort);
    first.into_iter().zip(Method::ALL).map(run).collect()
}

fn long_run(world: &Arc<World>, method: Method, first: f64, effort: &Effort) -> Result<WholeSteps, SceneError> {
    let mut simulation = simulation(world, method, 1e-3)?;
    let start = simulation.state().q.clone();
    let mut out =
        WholeSteps { method, first, later: 0.0, contacts: 0, steps: 0, motion: 0.0, lost: None, failure: None };
    let mut times = Vec::new();
    let chunks = if effort.quick { 10 } else { 100 };
    for _ in 0..chunks {
        let mut chunk = 0.0;
        let made = (0..100).try_for_each(|_| {
            let (time, made) = timed(|| simulation.step());
            chunk += time;
            out.contacts = out.contacts.max(made?.contacts);
            out.steps += 1;
            let moved = simulation.state().q.iter().zip(&start).map(|(a, b)| (a - b).abs());
            out.motion = moved.fold(out.motion, f64::max);
            if out.motion > super::LOST {
                out.lost.get_or_insert(out.steps);
            }
            Ok::<(), stiction_sim::StepFailure>(())
        });
        if let Err(failure) = made {
            out.failure = Some(failure.to_string());
            break;
        }
        times.push(chunk / 100.0);
    }
    out.later = median(times);
    Ok(out)
}

/// The table of whole steps.
pub(super) fn table(all: &[WholeSteps]) -> Table {
    let columns = columns(&[
        ("method", ""),
        ("contacts", ""),
        ("paper's simulator, run again: a step", "ms"),
        ("a step of the first ten", "µs"),
        ("a later step, median", "µs"),
        ("steps of 1 ms", ""),
        ("largest motion of a cube", "m"),
        ("end", ""),
    ]);
    let row = |(w, paper): (&WholeSteps, f64)| {
        vec![
            text(w.method.name()),
            count(w.contacts),
            Cell::Number(1e3 * paper),
            Cell::Number(1e6 * w.first),
            Cell::Number(1e6 * w.later),
            count(w.steps),
            Cell::Number(w.motion),
            text(w.failure.clone().unwrap_or_else(|| {
                w.lost.map_or_else(|| "holds to the end".into(), |step| format!("a cube has moved at step {step}"))
            })),
        ]
    };
    let title = "Whole steps of the simulator, two cubes, collision included".into();
    Table { name: "grasp-whole-steps".into(), title, columns, rows: all.iter().zip(PUBLISHED).map(row).collect() }
}

/// What is claimed of whole steps.
pub(super) fn claims(all: &[WholeSteps]) -> Vec<Claim> {
    let no_slip: Vec<(&WholeSteps, f64)> =
        all.iter().zip(PUBLISHED).filter(|(w, _)| w.method != Method::Lemke).collect();
    let speed = |(w, published): &(&WholeSteps, f64)| {
        let times = published / w.first;
        claim(
            format!(
                "A whole step of {} takes a thousandth of the published simulator's (that is interpreted and has 36 contacts, here 12)",
                w.method.name()
            ),
            format!("run again: {:.0} ms", 1e3 * published),
            format!("{:.0} µs, {times:.0} times less", 1e6 * w.first),
            Rule::when(times >= 1000.0, "1000 times less").ours(),
            format!("{times:.0} times less"),
        )
    };
    let worst = no_slip.iter().map(|(w, _)| w.motion).fold(0.0, f64::max);
    let steps = no_slip.iter().map(|(w, _)| w.lost.map_or(w.steps, |step| step - 1)).min().unwrap_or(0);
    let holds = claim(
        "No-slip holds the cubes in the simulator",
        "at least 100 steps",
        format!("{steps} steps of 1 ms, motion ≤ {} m", short(worst, 2)),
        Rule::at_least(steps as f64, 100.0).better_at_least(steps as f64, 1000.0),
        "a cube moves",
    );
    no_slip.iter().map(speed).chain([holds]).collect()
}

//! The two mechanisms of the paper's figures: a block feeder and a double-action jack.

mod claims;

use std::path::Path;
use stiction_contact::ModelKind;

use stiction_sim::summary::bodies;
use stiction_sim::{Integrator, OnFailure, Scene, Simulation, SimulatorKind};

use super::timelapse::{Frame, View, picture};
use crate::compose::{columns, count, failed, line, of_paper, plot, text};
use crate::timing::{range, timed};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Picture, Plot, Progress, Section, Table};

const NAME: &str = "baraff/mechanisms";
/// Frames per second of simulated time that the paper's mechanisms ran at: at least and at best. Ours are of the shorter ones.
const FRAME_RATES: [f64; 2] = [20.0, 30.0];
const FRAME_RATE: f64 = FRAME_RATES[1];
/// The step with the paper's own law (s), with accelerations and impacts: four to a frame.
const SMOOTH_STEP: f64 = 1.0 / 120.0;

/// A mechanism.
struct Mechanism {
    name: &'static str,
    title: &'static str,
    scene: &'static str,
    view: View,
    /// Times of the pictures (s).
    times: [f64; 6],
    /// What it must do.
    works: fn(&Motion) -> Claim,
    /// A body whose motion is plotted, the coordinate, and what that is.
    shown: (&'static str, usize, &'static str),
}

/// The block feeder of Fig. 1.
const FEEDER: Mechanism = Mechanism {
    name: "block-feeder",
    title: "Block feeder",
    scene: include_str!("block-feeder.toml"),
    view: View {
        x: [-0.5, 1.02],
        z: [-0.28, 0.42],
        levels: &[("block", "ink fill-1"), ("pusher", "ink fill-2"), ("crank", "ink fill-4"), ("rod", "ink fill-3")],
        columns: 2,
    },
    times: [0.0, 0.6, 2.2, 5.2, 7.0, 12.0],
    works: claims::feeds,
    shown: ("pusher", 0, "position of the pusher (m)"),
};

/// The double-action jack of Fig. 2.
const JACK: Mechanism = Mechanism {
    name: "double-action-jack",
    title: "Double-action jack",
    scene: include_str!("double-action-jack.toml"),
    view: View {
        x: [-0.12, 0.33],
        z: [-0.23, 0.48],
        levels: &[
            ("lever", "ink fill-4"),
            ("tooth", "ink fill-2"),
            ("bar", "ink fill-2"),
            ("load", "ink fill-1"),
            ("right pawl", "ink fill-3"),
            ("left pawl", "ink fill-3"),
        ],
        columns: 3,
    },
    times: [0.0, 0.5, 1.0, 1.5, 3.5, 6.0],
    works: claims::lifts,
    shown: ("load", 2, "height of the load (m)"),
};

/// What the colours of the pictures mean.
const LEGEND: &str = "Fixed bodies have the colour of text, levels that do not touch each other have colours of their own, hollow circles are \
                      hinges, green dots contacts with a force";

/// How names of blocks begin.
const BLOCK: &str = "block";

/// How a mechanism is simulated.
struct Way {
    name: &'static str,
    model: ModelKind,
    /// Event driven, at accelerations; otherwise time stepping as in the scene.
    smooth: bool,
}

const WAYS: [Way; 2] = [
    Way { name: "quadratic cone, time stepping", model: ModelKind::CoulombCone, smooth: false },
    Way { name: "the paper's law, event driven", model: ModelKind::BaraffFriction, smooth: true },
];

/// What a run came to.
#[derive(Default)]
struct Motion {
    dt: f64,
    /// Simulated time (s).
    time: f64,
    steps: u64,
    contacts: f64,
    most_contacts: usize,
    worst: f64,
    /// Steps in which the polyhedral cone answered an impact.
    fallbacks: usize,
    /// Time of event-driven steps that was made by time stepping (s).
    stepped: f64,
    /// Processor time (s).
    spent: f64,
    /// End of each frame and the processor time it took (s).
    frames: Vec<(f64, f64)>,
    /// A step that could not be made, and why.
    failed: Option<String>,
    /// Time, and positions of bodies, once per frame.
    path: Vec<(f64, std::collections::BTreeMap<String, [f64; 3]>)>,
    pictures: Vec<Frame>,
}

impl Motion {
    /// Simulated time over processor time.
    fn factor(&self) -> f64 {
        self.time / self.spent
    }

    /// Processor time of the slowest frame (s).
    fn slowest(&self) -> f64 {
        range(self.frames.iter().map(|frame| frame.1))[1]
    }

    /// A coordinate of a body over time.
    fn coordinate<'a>(&'a self, body: &'a str, k: usize) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.path.iter().filter_map(move |(t, all)| all.get(body).map(|p| (*t, p[k])))
    }
}

/// Both mechanisms.
pub struct Mechanisms;

impl Experiment for Mechanisms {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Figs. 1 and 2: a block feeder and a double-action jack"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let mut section = Section { text: explain(), tables: vec![empty_table()], ..Section::default() };
        for (k, mechanism) in [FEEDER, JACK].iter().enumerate() {
            let mut frames = Vec::new();
            for (i, way) in WAYS.iter().enumerate() {
                let what = format!("{}, {}", mechanism.title, way.name);
                progress.report(2 * k + i, 4, &what);
                let part = if way.smooth && effort.quick { 0.125 } else { 1.0 };
                let motion = run(mechanism, way, part).map_err(failed(NAME))?;
                section.tables[0].rows.push(row(mechanism, way, &motion));
                section.claims.extend(claims::claims(mechanism, way, &motion));
                if !way.smooth {
                    section.plots.push(motion_plot(mechanism, &motion));
                    section.pictures.push(Picture {
                        name: mechanism.name.into(),
                        title: format!("Fig. {}: {}, time-lapse picture. {LEGEND}", k + 1, mechanism.title),
                        svg: picture(&motion.pictures, &mechanism.view),
                    });
                }
                frames.push((way.name, motion.frames));
            }
            section.plots.push(frames_plot(mechanism, frames));
        }
        Ok(section)
    }
}

/// Simulates a part of the scene's duration; every step is certified, or the run ends there.
fn run(mechanism: &Mechanism, way: &Way, part: f64) -> Result<Motion, String> {
    let mut scene = Scene::parse(mechanism.scene, Path::new(""), &[]).map_err(|e| e.to_string())?;
    scene.settings.model = way.model;
    if way.smooth {
        scene.settings.simulator = SimulatorKind::EventDriven;
        scene.settings.integrator = Integrator::SymplecticEuler;
        scene.settings.on_failure = OnFailure::Fallback;
        scene.settings.dt = SMOOTH_STEP;
    }
    scene.duration *= part;
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    let mut motion = Motion { dt: scene.settings.dt, ..Motion::default() };
    let (mut frame, mut before, mut contacts) = (0.0, 0.0, 0);
    motion.watch(&mut simulation, mechanism);
    for _ in 0..scene.steps() {
        let (spent, made) = timed(|| simulation.step());
        match made {
            Ok(report) => {
                contacts += report.contacts;
                motion.most_contacts = motion.most_contacts.max(report.contacts);
                motion.worst = motion.worst.max(report.certificate);
                motion.fallbacks += usize::from(report.fallback);
                motion.stepped += report.stepped;
            }
            Err(e) => {
                motion.failed = Some(e.to_string());
                break;
            }
        }
        motion.spent += spent;
        motion.steps += 1;
        motion.time = simulation.state().t;
        motion.look(&mut simulation, mechanism);
        if (motion.time * FRAME_RATE + 1e-9).floor() > frame {
            frame = (motion.time * FRAME_RATE + 1e-9).floor();
            motion.frames.push((motion.time, motion.spent - before));
            before = motion.spent;
            motion.watch(&mut simulation, mechanism);
        }
    }
    motion.contacts = contacts as f64 / motion.steps.max(1) as f64;
    Ok(motion)
}

impl Motion {
    /// Notes where all bodies are.
    fn watch(&mut self, simulation: &mut Simulation, mechanism: &Mechanism) {
        let t = simulation.state().t;
        self.path.push((t, bodies(simulation).into_iter().map(|(name, b)| (name, b.position)).collect()));
        self.look(simulation, mechanism);
    }

    /// Takes the next picture when its time has come.
    fn look(&mut self, simulation: &mut Simulation, mechanism: &Mechanism) {
        let due = mechanism.times.get(self.pictures.len()).is_some_and(|t| simulation.state().t >= t - 0.5 * self.dt);
        if due {
            self.pictures.push(Frame::of(simulation, &mechanism.view));
        }
    }
}

fn explain() -> Vec<String> {
    vec![
        "The paper shows two planar mechanisms with bilateral joints, contacts and friction, simulated interactively at 20 to 30 frames per \
         second on a workstation of 1994, and gives no dimensions. Ours are drawn anew, as scenes/block-feeder.toml and \
         scenes/double-action-jack.toml: bodies with planar joints in levels that do not touch each other, hinges, a closed loop in the \
         feeder."
            .into(),
        "The feeder's crank drives a pusher through a rod; at each turn the pusher takes the lowest block out of a magazine. The jack's \
         lever rocks on a pivot; of its two pawls one lifts the toothed bar while the other goes down to a lower tooth, so the load rises \
         on both strokes."
            .into(),
        "Both run under the default model (the quadratic cone with time stepping) and under the paper's law (static and dynamic friction at \
         accelerations, event driven with symplectic Euler, impacts under the quadratic cone between; an impact that it cannot certify is \
         answered by the polyhedral cone). Every step is certified. Faster than real time is simulated time over processor time, \
         collision and dynamics included. The paper speaks of a consistent frame rate, so the slowest frame of 1/30 s counts as well."
            .into(),
    ]
}

fn empty_table() -> Table {
    Table {
        name: "mechanisms".into(),
        title: "Mechanisms: processor time and certificates".into(),
        columns: columns(&[
            ("mechanism", ""),
            ("model", ""),
            ("simulated", "s"),
            ("step", "ms"),
            ("contacts, mean", ""),
            ("contacts, most", ""),
            ("time per simulated second", "ms"),
            ("faster than real time", "times"),
            ("frames", ""),
            ("frames slower than 1/30 s", ""),
            ("slowest frame", "ms"),
            ("worst certificate", ""),
            ("steps", ""),
            ("answered by the polyhedral cone", ""),
            ("by time stepping", "s"),
        ]),
        rows: Vec::new(),
    }
}

fn row(mechanism: &Mechanism, way: &Way, motion: &Motion) -> Vec<Cell> {
    vec![
        text(mechanism.title),
        text(way.name),
        Cell::Number(motion.time),
        Cell::Number(1e3 * motion.dt),
        Cell::Number(motion.contacts),
        count(motion.most_contacts),
        Cell::Number(1e3 / motion.factor()),
        Cell::Number(motion.factor()),
        count(motion.frames.len()),
        count(motion.frames.iter().filter(|frame| frame.1 > 1.0 / FRAME_RATE).count()),
        Cell::Number(1e3 * motion.slowest()),
        Cell::Number(motion.worst),
        Cell::Count(motion.steps),
        count(motion.fallbacks),
        Cell::Number(motion.stepped),
    ]
}

/// Where the bodies that matter are, over time.
fn motion_plot(mechanism: &Mechanism, motion: &Motion) -> Plot {
    let (body, k, label) = mechanism.shown;
    let blocks = motion.path.first().into_iter().flat_map(|(_, all)| all.keys()).filter(|name| name.starts_with(BLOCK));
    let bodies = std::iter::once(body).chain(blocks.map(String::as_str));
    let series: Vec<_> = bodies.map(|name| line(name, motion.coordinate(name, k).collect())).collect();
    let label = if series.len() > 1 { "position along the table (m)" } else { label };
    let (name, title) = (format!("{}-motion", mechanism.name), format!("{}: motion", mechanism.title));
    plot(&name, &title, ("time (s)", false), (label, false), series)
}

/// What each frame took, beside the paper's frame rates.
fn frames_plot(mechanism: &Mechanism, ways: Vec<(&'static str, Vec<(f64, f64)>)>) -> Plot {
    let [start, end] = range(ways.iter().flat_map(|(_, frames)| frames).map(|frame| frame.0));
    let theirs =
        FRAME_RATES.map(|rate| of_paper(format!("paper: {rate} Hz"), vec![(start, 1e3 / rate), (end, 1e3 / rate)]));
    let ms = |frames: Vec<(f64, f64)>| frames.into_iter().map(|(t, spent)| (t, 1e3 * spent)).collect();
    let ours = ways.into_iter().map(|(name, frames)| line(name, ms(frames)));
    let (name, title) =
        (format!("{}-frames", mechanism.name), format!("{}: processor time of each frame", mechanism.title));
    plot(
        &name,
        &title,
        ("time (s)", false),
        ("processor time of a frame of 1/30 s (ms)", true),
        ours.chain(theirs).collect(),
    )
}

//! The two mechanisms of the paper's figures: a block feeder and a double-action jack.

use std::path::Path;

use stiction_sim::summary::bodies;
use stiction_sim::{Integrator, OnFailure, Scene, Simulation, SimulatorKind};

use super::timelapse::{Frame, View, picture};
use super::timing::seconds;
use crate::papers::{
    Axis, Cell, Claim, Column, Effort, Experiment, ExperimentError, Picture, Plot, Progress, Section, Series, Table,
    Verdict,
};

const NAME: &str = "baraff/mechanisms";
/// Frames per second of simulated time that the paper's mechanisms ran at, at best.
const FRAME_RATE: f64 = 30.0;
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
    scene: include_str!("../../../../../scenes/block-feeder.toml"),
    view: View {
        x: [-0.5, 1.02],
        z: [-0.28, 0.42],
        levels: &[("block", "ink fill-1"), ("pusher", "ink fill-2"), ("crank", "ink fill-4"), ("rod", "ink fill-3")],
        columns: 2,
    },
    times: [0.0, 0.6, 2.2, 5.2, 7.0, 12.0],
    works: feeds,
    shown: ("pusher", 0, "position of the pusher (m)"),
};

/// The double-action jack of Fig. 2.
const JACK: Mechanism = Mechanism {
    name: "double-action-jack",
    title: "Double-action jack",
    scene: include_str!("../../../../../scenes/double-action-jack.toml"),
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
    works: lifts,
    shown: ("load", 2, "height of the load (m)"),
};

/// How a mechanism is simulated.
struct Way {
    name: &'static str,
    model: &'static str,
    /// Event driven, at accelerations; otherwise time stepping as in the scene.
    smooth: bool,
}

const WAYS: [Way; 2] = [
    Way { name: "quadratic cone, time stepping", model: "coulomb-cone", smooth: false },
    Way { name: "the paper's law, event driven", model: "baraff-friction", smooth: true },
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
    /// Processor time (s), all and of the slowest frame.
    spent: f64,
    slowest: f64,
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

    /// How many of the slowest frame fit into the time it stands for.
    fn worst_factor(&self) -> f64 {
        1.0 / (FRAME_RATE * self.slowest)
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
        "Mechanisms faster than real time: block feeder and double-action jack (Figs. 1 and 2)"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let mut section = Section { text: text(), tables: vec![empty_table()], ..Section::default() };
        for (k, mechanism) in [FEEDER, JACK].iter().enumerate() {
            for (i, way) in WAYS.iter().enumerate() {
                let what = format!("{}, {}", mechanism.title, way.name);
                progress.report(2 * k + i, 4, &what);
                let part = if way.smooth && effort.quick { 0.125 } else { 1.0 };
                let motion =
                    run(mechanism, way, part).map_err(|message| ExperimentError { experiment: NAME, message })?;
                section.tables[0].rows.push(row(mechanism, way, &motion));
                section.claims.extend(claims(mechanism, way, &motion));
                if !way.smooth {
                    section.plots.push(plot(mechanism, &motion));
                    section.pictures.push(Picture {
                        name: mechanism.name.into(),
                        title: format!("{}: time-lapse picture", mechanism.title),
                        svg: picture(&motion.pictures, &mechanism.view),
                    });
                }
            }
        }
        Ok(section)
    }
}

/// Simulates a part of the scene's duration; every step is certified, or the run ends there.
fn run(mechanism: &Mechanism, way: &Way, part: f64) -> Result<Motion, String> {
    let mut scene = Scene::parse(mechanism.scene, Path::new(""), &[]).map_err(|e| e.to_string())?;
    scene.settings.model = way.model.into();
    if way.smooth {
        scene.settings.simulator = SimulatorKind::EventDriven;
        scene.settings.integrator = Integrator::SymplecticEuler;
        scene.settings.on_failure = OnFailure::Fallback;
        scene.settings.dt = SMOOTH_STEP;
    }
    scene.duration *= part;
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    let mut motion = Motion { dt: scene.settings.dt, ..Motion::default() };
    let (mut frame, mut in_frame, mut contacts) = (0.0, 0.0, 0);
    motion.watch(&mut simulation, mechanism);
    for _ in 0..scene.steps() {
        let mut made = None;
        let spent = seconds(|| made = Some(simulation.step()));
        match made {
            Some(Ok(report)) => {
                contacts += report.contacts;
                motion.most_contacts = motion.most_contacts.max(report.contacts);
                motion.worst = motion.worst.max(report.certificate);
                motion.fallbacks += usize::from(report.fallback);
                motion.stepped += report.stepped;
            }
            Some(Err(e)) => {
                motion.failed = Some(e.to_string());
                break;
            }
            None => break,
        }
        motion.spent += spent;
        in_frame += spent;
        motion.steps += 1;
        motion.time = simulation.state().t;
        motion.look(&mut simulation, mechanism);
        if (motion.time * FRAME_RATE + 1e-9).floor() > frame {
            frame = (motion.time * FRAME_RATE + 1e-9).floor();
            motion.slowest = motion.slowest.max(in_frame);
            in_frame = 0.0;
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

fn text() -> Vec<String> {
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
         answered by the polyhedral cone). Every step is certified. The factor is simulated time over processor time, \
         collision and dynamics included; a factor of 1 is real time, in which each frame of 1/30 s takes 1/30 s."
            .into(),
    ]
}

fn empty_table() -> Table {
    let column = |name: &str, unit: &str| Column { name: name.into(), unit: unit.into() };
    Table {
        name: "mechanisms".into(),
        title: "Mechanisms: processor time and certificates".into(),
        columns: vec![
            column("mechanism", ""),
            column("model", ""),
            column("simulated", "s"),
            column("step", "ms"),
            column("contacts, mean", ""),
            column("contacts, most", ""),
            column("time per simulated second", "ms"),
            column("faster than real time", ""),
            column("slowest frame", "ms"),
            column("worst certificate", ""),
            column("steps", ""),
            column("answered by the polyhedral cone", ""),
            column("by time stepping", "s"),
        ],
        rows: Vec::new(),
    }
}

fn row(mechanism: &Mechanism, way: &Way, motion: &Motion) -> Vec<Cell> {
    vec![
        Cell::Text(mechanism.title.into()),
        Cell::Text(way.name.into()),
        Cell::Number(motion.time),
        Cell::Number(1e3 * motion.dt),
        Cell::Number(motion.contacts),
        Cell::Count(motion.most_contacts as u64),
        Cell::Number(1e3 / motion.factor()),
        Cell::Number(motion.factor()),
        Cell::Number(1e3 * motion.slowest),
        Cell::Number(motion.worst),
        Cell::Count(motion.steps),
        Cell::Count(motion.fallbacks as u64),
        Cell::Number(motion.stepped),
    ]
}

fn plot(mechanism: &Mechanism, motion: &Motion) -> Plot {
    let (body, k, label) = mechanism.shown;
    let mut series =
        vec![Series { name: body.into(), points: motion.coordinate(body, k).collect(), ..Series::default() }];
    let blocks: Vec<&String> = motion.path.first().map_or_else(Vec::new, |(_, all)| all.keys().collect());
    for name in blocks.into_iter().filter(|name| name.starts_with("block")) {
        series.push(Series { name: name.clone(), points: motion.coordinate(name, k).collect(), ..Series::default() });
    }
    let label = if series.len() > 1 { "position along the table (m)" } else { label };
    Plot {
        name: format!("{}-motion", mechanism.name),
        title: format!("{}: motion", mechanism.title),
        x: Axis { label: "time (s)".into(), log: false },
        y: Axis { label: label.into(), log: false },
        series,
    }
}

impl Motion {
    /// What of the run was not by the way it is named after; empty if all was.
    fn by_other_means(&self) -> String {
        let mut text = String::new();
        if self.stepped > 0.0 {
            text +=
                &format!("; {:.2} s of it by time stepping, where accelerations had no certified answer", self.stepped);
        }
        if self.fallbacks > 0 {
            text += &format!("; {} impacts by the polyhedral cone", self.fallbacks);
        }
        text
    }
}

fn claims(mechanism: &Mechanism, way: &Way, motion: &Motion) -> Vec<Claim> {
    let title = mechanism.title;
    let robust = Claim {
        claim: format!("{title}, {}: simulated robustly, every step certified", way.name),
        paper_value: "robustly".into(),
        ours: format!(
            "{} steps, {:.1} s, worst certificate {:.0e}{}",
            motion.steps,
            motion.time,
            motion.worst,
            motion.by_other_means()
        ),
        verdict: motion.failed.clone().map_or(Verdict::Holds, Verdict::DoesNotHold),
    };
    let factor = motion.factor();
    let fast = Claim {
        claim: format!("{title}, {}: at 30 frames per second of real time or better", way.name),
        paper_value: "20 to 30 Hz".into(),
        ours: format!("{factor:.1} times real time; the slowest frame {:.1} times", motion.worst_factor()),
        verdict: match factor {
            x if x >= 2.0 && motion.worst_factor() >= 1.0 => Verdict::Better,
            x if x >= 1.0 => Verdict::Holds,
            _ => Verdict::DoesNotHold(format!("{factor:.2} times real time")),
        },
    };
    let works = (!way.smooth).then(|| (mechanism.works)(motion));
    [robust, fast].into_iter().chain(works).collect()
}

/// One block per turn leaves the magazine, in order, and none goes back.
fn feeds(motion: &Motion) -> Claim {
    /// Where the magazine ends, and the period of the crank in the scene.
    const OUTSIDE: f64 = 0.1;
    const PERIOD: f64 = 1.5;
    let out = |k: usize| motion.coordinate(&format!("block{k}"), 0).find(|(_, x)| *x > OUTSIDE).map(|(t, _)| t);
    let times: Vec<f64> = (1..).map_while(|k| out_of(motion, k).then(|| out(k)).flatten()).collect();
    let every_turn = times.windows(2).all(|w| ((w[1] - w[0]) / PERIOD - 1.0).abs() < 0.05);
    let right = times.len() == 6 && every_turn;
    Claim {
        claim: "Block feeder: every turn of the crank feeds one block".into(),
        paper_value: "shown in Fig. 1".into(),
        ours: format!("{} blocks, one per turn of {PERIOD} s", times.len()),
        verdict: if right {
            Verdict::Holds
        } else {
            Verdict::DoesNotHold(format!("out of the magazine at {times:.2?} s"))
        },
    }
}

/// True if there is a block of that number.
fn out_of(motion: &Motion, k: usize) -> bool {
    motion.path.first().is_some_and(|(_, all)| all.contains_key(&format!("block{k}")))
}

/// The load rises in every half period of the lever.
fn lifts(motion: &Motion) -> Claim {
    /// Half the period of the lever in the scene (s): from one end of its swing to the other.
    const STROKE: f64 = 1.0;
    let height: Vec<(f64, f64)> = motion.coordinate("load", 2).collect();
    let at =
        |t: f64| height.iter().min_by(|a, b| (a.0 - t).abs().total_cmp(&(b.0 - t).abs())).map_or(f64::NAN, |p| p.1);
    let strokes = ((motion.time - 0.5) / STROKE).floor().max(0.0) as usize;
    let rise = |k: usize| at(0.5 + STROKE * (k + 1) as f64) - at(0.5 + STROKE * k as f64);
    let lifted = (0..strokes).filter(|&k| rise(k) > 0.0).count();
    let all = at(motion.time) - at(0.0);
    Claim {
        claim: "Double-action jack: the load rises on both strokes of the lever".into(),
        paper_value: "shown in Fig. 2".into(),
        ours: format!("{lifted} of {strokes} strokes lift; {:.0} mm in {:.0} s", 1e3 * all, motion.time),
        verdict: if lifted == strokes && strokes > 0 {
            Verdict::Holds
        } else {
            Verdict::DoesNotHold("a stroke does not lift".into())
        },
    }
}

//! `stiction run`: simulate a scene.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use stiction_contact::ModelKind;
use stiction_contact::io::contact_to_json;
use stiction_lcp::threads::MOST_THREADS;
use stiction_sim::mjcf::Start;
use stiction_sim::recording::{Header, Origin};
use stiction_sim::{
    Gather, Impacts, OnFailure, Overlap, Recorder, Scene, SceneError, Simulation, SimulatorKind, StepFailure, Summary,
};

use crate::args::model_parser;
use crate::output::{Failure, write_new};

/// Steps between two looks at the clock of the progress bar.
const BAR_EVERY: u64 = 64;

/// Options of `stiction run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 all steps certified, 1 a step failed or was accepted, 2 bad input, 130 after Ctrl-C, which ends the run with its summary so far."
)]
pub(crate) struct RunArgs {
    /// The scene (.toml), or a robot (.urdf, .xml) alone, with its own gravity and step.
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// The keyframe that a robot file starts at, by name or number, -1 for none; without it the one named `home`, else the first.
    #[arg(long, value_name = "NAME|NUMBER", allow_negative_numbers = true)]
    pub keyframe: Option<String>,
    /// The contact model, instead of the scene's.
    #[arg(long, value_name = "NAME", value_parser = model_parser())]
    pub model: Option<ModelKind>,
    /// The model's solver, instead of its usual one: nnls, modified-ppm or lemke (frictionless, viscous, no-slip); reduced, structural or standard
    /// (coulomb-polyhedral); auto, lemke or feasible-interior-point (coulomb-pyramid).
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// How steps are made, instead of the scene's way.
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(["time-stepping", "event-driven"]))]
    pub simulator: Option<String>,
    /// How impacts at the same time are resolved, instead of the scene's way.
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(Impacts::ALL.map(Impacts::name)))]
    pub impacts: Option<String>,
    /// The step (s), instead of the scene's.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// How long to simulate (s), instead of the scene's.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// How many steps to make, instead of a duration.
    #[arg(long, value_name = "N", conflicts_with = "duration", value_parser = count)]
    pub steps: Option<u64>,
    /// Put a floor, the plane z = 0, under a robot file.
    #[arg(long)]
    pub floor: bool,
    /// Give a parameter of the scene another value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// What to do where a step is not certified: stop, go on with the best answer (accept), or take the polyhedral cone instead (fallback).
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(OnFailure::ALL.map(OnFailure::name)))]
    pub on_failure: Option<String>,
    /// With --on-failure accept: the largest certificate that is accepted, instead of the scene's (1e-6).
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub accept_bound: Option<f64>,
    /// Threads that share the work of a step, instead of the scene's number or one per core. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS as i64))]
    pub threads: Option<u16>,
    /// Whether steps that would only repeat the last one, because nothing changes, are left out, instead of what the scene says. Results do not depend on it.
    #[arg(long, value_name = "ON|OFF", value_parser = PossibleValuesParser::new(["on", "off"]))]
    pub sleeping: Option<String>,
    /// Take bodies apart that overlap at the start.
    #[arg(long)]
    pub separate: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Record the run, for `stiction replay`, `extract` and `export`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Record every K-th step only.
    #[arg(long, value_name = "K", requires = "record", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub record_every: u64,
    /// Where to write the contact problem of a step that fails; without it, `failed-step-K.json` beside the recording, or a file in the directory for temporary ones.
    #[arg(long, value_name = "OUT")]
    pub save_failure: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

type Recording = Recorder<BufWriter<File>>;

/// What is printed as JSON.
#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// Whether Ctrl-C ended it.
    interrupted: bool,
    files: Vec<String>,
}

/// Runs a scene; true if every step was certified.
pub(crate) fn run(args: &RunArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<bool, Failure> {
    let wanted = Wanted { file: &args.scene, keyframe: args.keyframe.as_deref(), floor: args.floor, set: &args.set };
    let origin = wanted.origin()?;
    let mut scene = origin.scene().map_err(|e| Failure::Message(e.to_string()))?;
    for line in left_out(&scene) {
        writeln!(err, "warning: {line}")?;
    }
    apply(args, &mut scene)?;
    scene.settings.timing = true;
    let mut simulation = scene.simulation().map_err(|e| Failure::Message(e.in_file(&args.scene).to_string()))?;
    separate(args, &mut simulation, err)?;
    let steps = args.steps.unwrap_or_else(|| scene.steps());
    let mut recorder = recorder(args, origin, &scene, &simulation)?;
    let (summary, failure, interrupted) = simulate(&mut simulation, steps, args.json, recorder.as_mut())?;
    if let Some(recorder) = recorder {
        let why = failure.as_ref().map(|failure| failure.why.as_str());
        recorder.finish(&simulation, why).map_err(|e| not_recorded(&e))?;
    }
    if let Some(failure) = &failure {
        writeln!(err, "failed: {failure}")?;
        save_failure(args, failure, err)?;
        writeln!(err, "{}", failure.advice())?;
    }
    if args.json {
        let files: Vec<String> = args.record.iter().map(|file| file.display().to_string()).collect();
        let run = Run { summary: &summary, interrupted, files };
        let text = serde_json::to_string(&run).map_err(|e| Failure::Message(e.to_string()))?;
        writeln!(out, "{text}")?;
    } else {
        print(&summary, out)?;
        if let Some(file) = &args.record {
            writeln!(out, "{:<14} {}", "recording", file.display())?;
        }
        bodies(&summary, out)?;
        if interrupted {
            writeln!(out, "{:<14} after {} of {steps} steps", "interrupted", summary.steps)?;
        }
    }
    if interrupted {
        return Err(Failure::Interrupted);
    }
    Ok(failure.is_none() && summary.outcomes.accepted == 0)
}

/// A whole number, also as `1e3`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    if let Ok(count) = text.parse() {
        return Ok(count);
    }
    match text.parse::<f64>() {
        Ok(x) if x.fract() == 0.0 && (0.0..=9e15).contains(&x) => Ok(x as u64),
        _ => Err("expected a whole number of at least 0, such as 1000 or 1e3".into()),
    }
}

/// What a subcommand that simulates says of the scene.
pub(crate) struct Wanted<'a> {
    /// The scene's file, or a robot's.
    pub file: &'a Path,
    /// The keyframe of a robot file.
    pub keyframe: Option<&'a str>,
    /// A floor under a robot file.
    pub floor: bool,
    /// Parameters NAME=VALUE of a scene.
    pub set: &'a [String],
}

impl Wanted<'_> {
    /// A file's scene, or one with a robot file alone.
    pub(crate) fn origin(&self) -> Result<Origin, Failure> {
        let message = |e: SceneError| Failure::Message(e.to_string());
        let is_robot = |e: &OsStr| ["urdf", "xml", "mjcf", "sdf", "world"].iter().any(|x| e.eq_ignore_ascii_case(x));
        if !self.file.extension().is_some_and(is_robot) {
            if self.keyframe.is_some() {
                let why = "--keyframe is for robot files; a robot of a scene has its own: [[robots]] keyframe = ...";
                return Err(Failure::Message(why.into()));
            }
            if self.floor {
                return Err(Failure::Message("--floor is for robot files; a scene has its own [[bodies]]".into()));
            }
            return Origin::read(self.file, &parameters(self.set)?).map_err(message);
        }
        if let Some(set) = self.set.first() {
            return Err(Failure::Message(format!("--set {set}: a robot file has no parameters")));
        }
        let start = match self.keyframe {
            None => Start::default(),
            Some("-1") => Start::Reference,
            Some(text) => text.parse().map_or_else(|_| Start::Keyframe(text.into()), Start::Number),
        };
        Origin::of_robot(self.file, &start, self.floor).map_err(message)
    }
}

/// What of the scene's files is not used as it stands there, a line per file; and what the contact model does not use.
fn left_out(scene: &Scene) -> impl Iterator<Item = String> {
    let of_files = scene.world.notes.iter().filter_map(|(of, notes)| {
        let summary = stiction_sim::description::summary_of_notes(notes)?;
        Some(format!("{of}: {summary}; stiction check lists all"))
    });
    of_files.chain(scene.unused_notes().into_iter().map(|note| format!("{}: {}", note.element, note.text)))
}

/// Reads a scene with parameters `NAME=VALUE`.
pub(crate) fn load(file: &Path, set: &[String]) -> Result<Scene, Failure> {
    Scene::load(file, &parameters(set)?).map_err(|e| Failure::Message(e.to_string()))
}

/// The parameters `NAME=VALUE`.
fn parameters(set: &[String]) -> Result<Vec<(String, f64)>, Failure> {
    let mut parameters = Vec::new();
    for text in set {
        let wrong = || Failure::Message(format!("--set expects NAME=VALUE with a number, found \"{text}\""));
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let x: f64 = value.trim().parse().map_err(|_| wrong())?;
        if x.is_nan() {
            return Err(wrong());
        }
        parameters.push((name.trim().to_string(), x));
    }
    Ok(parameters)
}

/// Begins the recording, if one is asked for.
fn recorder(
    args: &RunArgs,
    origin: Origin,
    scene: &Scene,
    simulation: &Simulation,
) -> Result<Option<Recording>, Failure> {
    let Some(file) = &args.record else { return Ok(None) };
    let target = write_new(file, args.force)?;
    let recorder =
        Recorder::new(BufWriter::new(target.file), &Header::new(origin, scene, args.record_every), simulation);
    recorder.map(Some).map_err(|e| not_recorded(&e))
}

fn not_recorded(error: &io::Error) -> Failure {
    Failure::Message(format!("the recording cannot be written: {error}"))
}

/// Saves the contact problem of a failed step, and says where it is.
fn save_failure(args: &RunArgs, failure: &StepFailure, err: &mut dyn Write) -> Result<(), Failure> {
    let Some(problem) = &failure.problem else { return Ok(()) };
    let name = format!("failed-step-{}.json", failure.step);
    let mut force = args.force;
    let target = match (&args.save_failure, &args.record) {
        (Some(target), _) if target.is_dir() => target.join(name),
        (Some(target), _) => target.clone(),
        (None, Some(recording)) => recording.with_file_name(name),
        (None, None) => {
            // Nobody else's file has this process's number.
            force = true;
            let scene = args.scene.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
            std::env::temp_dir().join(format!("stiction-{}-{scene}-{name}", std::process::id()))
        }
    };
    match write_new(&target, force).and_then(|file| file.write(contact_to_json(problem).as_bytes())) {
        Ok(()) => writeln!(err, "its contact problem is in {}; stiction solve reads it", target.display())?,
        Err(e) => writeln!(err, "its contact problem is not saved: {e}")?,
    }
    Ok(())
}

/// Puts the options over the scene's settings.
fn apply(args: &RunArgs, scene: &mut Scene) -> Result<(), Failure> {
    if let Some(model) = args.model {
        scene.settings.model = model;
        scene.settings.solver = None;
    }
    if let Some(solver) = &args.solver {
        scene.settings.solver = Some(scene.settings.model.solver(solver)?);
    }
    match args.simulator.as_deref() {
        Some("event-driven") => scene.settings.simulator = SimulatorKind::EventDriven,
        Some(_) => scene.settings.simulator = SimulatorKind::TimeStepping,
        None => {}
    }
    if let Some(impacts) = args.impacts.as_deref().and_then(Impacts::from_name) {
        scene.settings.impacts = impacts;
    }
    for (name, value, above) in [("--dt", args.dt, true), ("--duration", args.duration, false)] {
        let Some(x) = value else { continue };
        if !(x.is_finite() && if above { x > 0.0 } else { x >= 0.0 }) {
            let range = if above { "above 0" } else { "at least 0" };
            return Err(Failure::Message(format!("{name} must be {range} and finite, found {x}")));
        }
        if above {
            scene.settings.dt = x;
        } else {
            scene.duration = x;
        }
    }
    if let Some(what) = &args.on_failure {
        scene.settings.on_failure = OnFailure::from_name(what).map_err(Failure::Message)?;
    }
    if let Some(bound) = args.accept_bound {
        if bound.is_nan() || bound < 0.0 {
            return Err(Failure::Message(format!("--accept-bound must be at least 0, found {bound}")));
        }
        scene.settings.accept_bound = bound;
    }
    if let Some(sleeping) = &args.sleeping {
        scene.settings.sleeping = sleeping == "on";
    }
    if let Some(count) = args.threads {
        scene.settings.threads = Some(count.into());
    }
    Ok(())
}

/// Bodies that overlap at the start are an error, or are taken apart; parts of one robot are only mentioned.
fn separate(args: &RunArgs, simulation: &mut Simulation, err: &mut dyn Write) -> Result<(), Failure> {
    for overlap in simulation.ignored_overlaps() {
        let what = match simulation.world().allow_start_overlap {
            true => "the two may overlap by that",
            false => "the two never touch",
        };
        writeln!(err, "warning: {overlap} at the start, within one robot: {what}")?;
    }
    let overlaps = simulation.overlaps();
    for overlap in overlaps.iter().filter(|o| o.one_model) {
        writeln!(err, "warning: {overlap} at the start, within one file")?;
    }
    let Some(refusal) = Overlap::refusal(&overlaps) else { return Ok(()) };
    if !args.separate {
        let file = args.scene.display();
        return Err(Failure::Message(format!("{file}: {refusal}; --separate takes them apart")));
    }
    let left = simulation.take_apart()?;
    writeln!(err, "bodies taken apart; the deepest overlap left is {left:.1e} m")?;
    Ok(())
}

/// A run is under way, which Ctrl-C ends with its summary; it has ended it.
static RUNNING: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C ends a run with its summary so far, and anything else, or a second time, at once. For a program that is this command and nothing
/// else: Python has its own handler.
pub fn end_runs_on_ctrl_c() {
    // Where it cannot be set, Ctrl-C ends the command as ever.
    let _ = ctrlc::set_handler(|| {
        if !RUNNING.load(Ordering::Relaxed) || STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(crate::INTERRUPTED));
        }
    });
}

/// Makes the steps, up to the first failure.
fn simulate(
    simulation: &mut Simulation,
    steps: u64,
    quiet: bool,
    mut recorder: Option<&mut Recording>,
) -> Result<(Summary, Option<StepFailure>, bool), Failure> {
    RUNNING.store(true, Ordering::Relaxed);
    let bar = if quiet || !io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::new(steps) };
    let style = "{elapsed_precise} {bar:30} {percent}% {msg} (eta {eta})";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut gather = Gather::start(simulation);
    let clock = Instant::now();
    let mut failure = None;
    for step in 0..steps {
        if STOP.load(Ordering::Relaxed) {
            break;
        }
        let step_clock = Instant::now();
        let made = simulation.step();
        let seconds = step_clock.elapsed().as_secs_f64();
        match made {
            Ok(report) => {
                gather.step(&report, seconds);
                if let Some(recorder) = &mut recorder {
                    recorder.step(simulation, &report).map_err(|e| not_recorded(&e))?;
                }
                if step % BAR_EVERY == 0 {
                    let (t, real) = (simulation.state().t, clock.elapsed().as_secs_f64());
                    bar.set_position(step);
                    bar.set_message(format!("t = {t:.3} s, {} contacts, {:.1} × real time", report.contacts, t / real));
                }
            }
            Err(e) => {
                gather.failed(&e);
                failure = Some(e);
                break;
            }
        }
    }
    bar.finish_and_clear();
    Ok((gather.finish(simulation), failure, STOP.load(Ordering::Relaxed)))
}

/// Where the bodies are at the end.
fn bodies(s: &Summary, out: &mut dyn Write) -> Result<(), Failure> {
    /// Most bodies that are listed; --json has all.
    const MOST_LISTED: usize = 20;
    let widest = s.bodies.keys().take(MOST_LISTED).map(|name| name.chars().count()).max().unwrap_or(0);
    for (i, (name, body)) in s.bodies.iter().take(MOST_LISTED).enumerate() {
        let (title, [x, y, z], [w, a, b, c]) = (if i == 0 { "bodies" } else { "" }, body.position, body.orientation);
        writeln!(
            out,
            "{title:<14} {name:<widest$}  at {x:.6} {y:.6} {z:.6} m, quaternion {w:.6} {a:.6} {b:.6} {c:.6}"
        )?;
    }
    match s.bodies.len().saturating_sub(MOST_LISTED) {
        0 => {}
        1 => writeln!(out, "{:<14} and 1 more (--json)", "")?,
        more => writeln!(out, "{:<14} and {more} more (--json)", "")?,
    }
    Ok(())
}

fn print(s: &Summary, out: &mut dyn Write) -> Result<(), Failure> {
    let line = |out: &mut dyn Write, name: &str, text: String| writeln!(out, "{name:<14} {text}");
    let u = &s.us_per_step;
    line(out, "steps", format!("{} of {} s, t = {} s, model {}", s.steps, s.dt, s.time, s.model))?;
    if s.simulator == SimulatorKind::EventDriven {
        let pieces = format!("{} pieces of smooth motion, {} impacts", s.substeps, s.impacts);
        line(out, "events", format!("{pieces}; {:.3} s by time stepping", s.stepped))?;
    }
    let c = &s.contacts;
    line(out, "contacts", format!("min {}, mean {:.1}, max {}", c.min, c.mean, c.max))?;
    line(out, "pivots", format!("{}; {} steps without", s.pivots, s.guessed))?;
    let f = &s.factorizations;
    if f.total > 0 {
        let most = format!("at most {} in a step, {} for an island", f.most_per_step, f.most_per_island);
        line(out, "factors", format!("{}, {:.1} per step; {most}", f.total, f.per_step))?;
    }
    let worst = &s.certificate;
    let step = worst.step.map_or_else(|| "–".into(), |k| k.to_string());
    line(out, "certificate", format!("worst {:.1e} in step {step} at {}", worst.worst, worst.place))?;
    let e = &s.energy;
    line(out, "energy", format!("{:.6e} J → {:.6e} J (change {:.3e} J)", e.start, e.end, e.end - e.start))?;
    line(out, "penetration", format!("{:.1e} m, left after projection {:.1e} m", s.penetration_max, s.overlap_left))?;
    line(out, "slip", format!("{:.3e} m", s.slip))?;
    line(out, "time per step", format!("{:.1} µs = {:.1} × real time", u.total, s.dt * 1e6 / u.total))?;
    let t = &s.step_time;
    let slowest = t.worst_step.map_or_else(String::new, |k| format!(" (step {k})"));
    let quantiles = format!("median {:.1}, 99 % {:.1}", t.median, t.percentile_99);
    line(out, "  spread", format!("{quantiles}, worst {:.1} µs{slowest}", t.worst))?;
    let phases = [
        ("dynamics", u.dynamics),
        ("collision", u.collision),
        ("assembly", u.assembly),
        ("solve", u.solve),
        ("certificate", u.certificate),
        ("projection", u.projection),
    ];
    line(out, "  by phase", phases.map(|(name, x)| format!("{name} {x:.1}")).join(", "))?;
    for (count, what) in [
        (s.outcomes.fallback, "steps answered by the fallback"),
        (s.outcomes.accepted, "steps accepted without being certified"),
        (s.spread_steps, &format!("steps with gaps set apart at random, by at most {:.1e} m", s.gap_spread)),
        (s.restitution_lowered, "steps with lowered restitution"),
        (s.outcomes.failed, "failed steps"),
    ] {
        if count > 0 {
            line(out, "note", format!("{count} {what}"))?;
        }
    }
    line(out, "hash", s.hash.clone())?;
    Ok(())
}

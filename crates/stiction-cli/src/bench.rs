//! `stiction bench`: what a step of a scene costs, by phase, in work and in instructions.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use stiction_contact::ModelKind;
use stiction_sim::{Scene, Simulation};

use crate::args::model_parser;
use crate::output::Failure;
use crate::run::Wanted;

/// Options of `stiction bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "One thread, sleeping off, nothing recorded. Exit code: 0 measured, 1 a step failed, 2 bad input."
)]
pub(crate) struct BenchArgs {
    /// The scene (.toml), or a robot (.urdf, .xml) alone, with its own gravity and step.
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// The keyframe that a robot file starts at, by name or number, -1 for none.
    #[arg(long, value_name = "NAME|NUMBER", allow_negative_numbers = true)]
    pub keyframe: Option<String>,
    /// Put a floor, the plane z = 0, under a robot file.
    #[arg(long)]
    pub floor: bool,
    /// Give a parameter of the scene another value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// The contact model, instead of the scene's.
    #[arg(long, value_name = "NAME", value_parser = model_parser())]
    pub model: Option<ModelKind>,
    /// Steps before the measurement: a start is no steady state.
    #[arg(long, value_name = "N", default_value = "100", value_parser = crate::run::count)]
    pub warm_up: u64,
    /// Steps of a turn.
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    pub steps: u64,
    /// Turns, which go on from each other; times are those of the turn in the middle.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u64).range(1..))]
    pub turns: u64,
    /// Count the instructions of a step, too, by valgrind's callgrind: the same on a busy machine.
    #[arg(long)]
    pub instructions: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// A whole number of at least 1, also as `1e3`.
fn at_least_one(text: &str) -> Result<u64, String> {
    crate::run::count(text).and_then(|n| if n == 0 { Err("expected at least 1".into()) } else { Ok(n) })
}

/// What was measured; times are µs per step.
#[derive(Debug, Serialize)]
struct Bench {
    scene: String,
    model: ModelKind,
    nv: usize,
    steps_per_turn: u64,
    turns: u64,
    /// The first step, from a cold start.
    first_us: f64,
    us_per_step: Times,
    /// Means over all measured steps.
    per_step: Work,
    certificate: Worst,
    instructions_per_step: Option<f64>,
}

/// The worst certificate of all measured steps.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Worst {
    worst: f64,
}

/// Times of a step (µs).
#[derive(Debug, Clone, Copy, Serialize)]
struct Times {
    total: f64,
    fastest_turn: f64,
    dynamics: f64,
    collision: f64,
    assembly: f64,
    solve: f64,
    certificate: f64,
    projection: f64,
}

/// Work of a step.
#[derive(Debug, Default, Serialize)]
struct Work {
    contacts: f64,
    active: f64,
    pivots: f64,
    factorizations: f64,
}

/// Measures a scene; true if every step was certified.
pub(crate) fn run(args: &BenchArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<bool, Failure> {
    let wanted = Wanted { file: &args.scene, keyframe: args.keyframe.as_deref(), floor: args.floor, set: &args.set };
    let mut scene = wanted.origin()?.scene().map_err(|e| Failure::Message(e.to_string()))?;
    if let Some(model) = args.model {
        scene.settings.model = model;
        scene.settings.solver = None;
    }
    (scene.settings.threads, scene.settings.sleeping, scene.settings.timing) = (Some(1), false, true);
    let mut simulation = scene.simulation().map_err(|e| Failure::Message(e.in_file(&args.scene).to_string()))?;
    let measured = match measure(args, &scene, &mut simulation) {
        Ok(measured) => measured,
        Err(failure) => {
            if args.json {
                writeln!(out, "{}", json!({ "error": failure, "exit_code": crate::NOT_SOLVED }))?;
            } else {
                writeln!(err, "failed: {failure}")?;
            }
            return Ok(false);
        }
    };
    let instructions_per_step = if args.instructions { Some(count_instructions(args)?) } else { None };
    let bench = Bench { instructions_per_step, ..measured };
    if args.json {
        let text = serde_json::to_string(&bench).map_err(|e| Failure::Message(e.to_string()))?;
        writeln!(out, "{text}")?;
    } else {
        print(&bench, out)?;
    }
    Ok(true)
}

fn measure(args: &BenchArgs, scene: &Scene, simulation: &mut Simulation) -> Result<Bench, String> {
    let clock = Instant::now();
    simulation.step().map_err(|e| e.to_string())?;
    let first_us = clock.elapsed().as_secs_f64() * 1e6;
    for _ in 1..args.warm_up {
        simulation.step().map_err(|e| e.to_string())?;
    }
    let (mut turns, mut work, mut certificate) = (vec![], Work::default(), Worst::default());
    for _ in 0..args.turns {
        let (before, clock) = (simulation.phases(), Instant::now());
        for _ in 0..args.steps {
            let report = simulation.step().map_err(|e| e.to_string())?;
            work.contacts += report.contacts as f64;
            work.active += report.active as f64;
            work.pivots += report.pivots as f64;
            work.factorizations += report.factorizations as f64;
            certificate.worst = certificate.worst.max(report.certificate);
        }
        let per_step = |x: std::time::Duration| x.as_secs_f64() * 1e6 / args.steps as f64;
        let (total, spent) = (per_step(clock.elapsed()), simulation.phases().since(&before));
        turns.push(Times {
            total,
            fastest_turn: total,
            dynamics: per_step(spent.dynamics),
            collision: per_step(spent.collision),
            assembly: per_step(spent.assembly),
            solve: per_step(spent.solve),
            certificate: per_step(spent.certificate),
            projection: per_step(spent.projection),
        });
    }
    let all = (args.turns * args.steps) as f64;
    for x in [&mut work.contacts, &mut work.active, &mut work.pivots, &mut work.factorizations] {
        *x /= all;
    }
    turns.sort_by(|a, b| a.total.total_cmp(&b.total));
    Ok(Bench {
        scene: args.scene.display().to_string(),
        model: scene.settings.model,
        nv: simulation.world().model.nv(),
        steps_per_turn: args.steps,
        turns: args.turns,
        first_us,
        us_per_step: Times { fastest_turn: turns[0].total, ..turns[turns.len() / 2] },
        per_step: work,
        certificate,
        instructions_per_step: None,
    })
}

/// Instructions of a step: the difference of two runs, so that loading does not count.
fn count_instructions(args: &BenchArgs) -> Result<f64, Failure> {
    let until = |steps: u64| instructions_of(args, steps);
    let (start, end) = (args.warm_up, args.warm_up + args.steps);
    Ok((until(end)? as f64 - until(start)? as f64) / args.steps as f64)
}

/// Instructions of a whole run of so many steps.
fn instructions_of(args: &BenchArgs, steps: u64) -> Result<u64, Failure> {
    let program = std::env::current_exe()?;
    if program.file_stem().is_none_or(|name| name != "stiction") {
        let text = "--instructions needs the command that cargo builds, not that of the Python package";
        return Err(Failure::Message(text.into()));
    }
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).arg("run").arg(&args.scene);
    command.args(["--threads", "1", "--sleeping", "off", "--json", "--steps", &steps.to_string()]);
    if let Some(keyframe) = &args.keyframe {
        command.args(["--keyframe", keyframe]);
    }
    if args.floor {
        command.arg("--floor");
    }
    for set in &args.set {
        command.args(["--set", set]);
    }
    if let Some(model) = args.model {
        command.args(["--model", model.name()]);
    }
    let output = command.output().map_err(|e| {
        Failure::Message(format!("--instructions needs valgrind: {e} (apt install valgrind, or leave the option out)"))
    })?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let why = if text.contains("unhandled instruction") {
            "it does not know this processor's newest instructions, which the program was built for (target-cpu)"
        } else {
            text.lines().last().unwrap_or("no output")
        };
        return Err(Failure::Message(format!("valgrind cannot run the scene: {why}")));
    }
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let count = collected.and_then(|(_, rest)| rest.trim().parse().ok());
    count.ok_or_else(|| {
        let last = text.lines().last().unwrap_or("no output");
        Failure::Message(format!("valgrind counted nothing: {last}"))
    })
}

fn print(b: &Bench, out: &mut dyn Write) -> Result<(), Failure> {
    let line = |out: &mut dyn Write, name: &str, text: String| writeln!(out, "{name:<14} {text}");
    let (t, w) = (&b.us_per_step, &b.per_step);
    line(out, "scene", format!("{}, model {}, {} velocities", b.scene, b.model, b.nv))?;
    line(
        out,
        "steps",
        format!("{} turns of {}; the first step, cold: {:.1} µs", b.turns, b.steps_per_turn, b.first_us),
    )?;
    line(out, "time per step", format!("{:.1} µs (median turn), {:.1} µs (fastest)", t.total, t.fastest_turn))?;
    let phases = [
        ("dynamics", t.dynamics),
        ("collision", t.collision),
        ("assembly", t.assembly),
        ("solve", t.solve),
        ("certificate", t.certificate),
        ("projection", t.projection),
    ];
    for (name, x) in phases {
        line(out, &format!("  {name}"), format!("{x:8.1} µs {:5.1} %", 100.0 * x / t.total))?;
    }
    let work = format!("{:.1} contacts, {:.1} active", w.contacts, w.active);
    line(out, "work per step", format!("{work}, {:.2} pivots, {:.2} factors", w.pivots, w.factorizations))?;
    if let Some(count) = b.instructions_per_step {
        line(out, "instructions", format!("{count:.0} per step"))?;
    }
    line(out, "certificate", format!("worst {:.1e}", b.certificate.worst))?;
    Ok(())
}

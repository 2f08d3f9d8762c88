//! `stiction replay`: run a recorded scene again, and find the first difference.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use stiction_sim::Recording;
use stiction_sim::recording::{Difference, replay};

use crate::output::Failure;

/// Options of `stiction replay`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 identical, 1 something differs, 2 bad input.")]
pub(crate) struct ReplayArgs {
    /// The recording.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// What is reported.
#[derive(Serialize)]
struct Report<'a> {
    identical: bool,
    /// Recorded steps that were the same.
    steps: u64,
    /// False if the recording breaks off.
    complete: bool,
    notes: &'a [String],
    difference: Option<Found<'a>>,
}

#[derive(Serialize)]
struct Found<'a> {
    step: Option<u64>,
    what: &'a str,
    recorded: &'a str,
    found: &'a str,
}

impl<'a> Found<'a> {
    fn of(difference: &'a Difference) -> Self {
        let Difference { step, what, recorded, found } = difference;
        Self { step: *step, what, recorded, found }
    }
}

/// Runs the command; true if nothing differs.
pub(crate) fn run(args: &ReplayArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let wrong = |e: stiction_sim::SceneError| Failure::Message(e.in_file(&args.file).to_string());
    let recording = Recording::load(&args.file).map_err(wrong)?;
    let (scene, mut notes) = recording.header().scene().map_err(wrong)?;
    notes.extend(recording.damage().map(|damage| format!("the recording is not whole: {damage}")));
    let mut simulation = recording.header().simulation(&scene).map_err(wrong)?;
    let quiet = args.json || !std::io::stderr().is_terminal();
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(recording.step_count() as u64) };
    let result = replay(&recording, &mut simulation, |step| bar.set_position(step));
    bar.finish_and_clear();
    let result = result.map_err(wrong)?;
    let difference = result.difference.as_ref();
    if args.json {
        let (identical, complete) = (difference.is_none(), recording.damage().is_none());
        let report =
            Report { identical, steps: result.steps, complete, notes: &notes, difference: difference.map(Found::of) };
        writeln!(out, "{}", serde_json::to_string(&report).map_err(std::io::Error::other)?)?;
    } else {
        for note in &notes {
            writeln!(out, "note: {note}")?;
        }
        match difference {
            None => writeln!(out, "identical: {} steps", result.steps)?,
            Some(d) => {
                let place = d.step.map_or("before the first step".into(), |k| format!("step {k}"));
                writeln!(out, "differs: {place}: {}\nrecorded {}\nfound    {}", d.what, d.recorded, d.found)?;
                writeln!(out, "identical before: {} recorded steps", result.steps)?;
            }
        }
    }
    Ok(difference.is_none())
}

//! `stiction extract`: the contact problem of a recorded step.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use stiction_contact::io::contact_to_json;
use stiction_sim::Recording;
use stiction_sim::recording::problem_of_step;

use crate::output::{Failure, write_new};

/// Options of `stiction extract`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 done, 2 bad input.")]
pub(crate) struct ExtractArgs {
    /// The recording.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The step, from 0: step k brings the state from time k·dt to (k + 1)·dt.
    #[arg(long, value_name = "K")]
    pub step: u64,
    /// Where to write the problem as JSON, for `stiction solve`; without it, to standard output.
    #[arg(long, value_name = "PROBLEM")]
    pub out: Option<PathBuf>,
    /// Let --out replace a file that exists.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print one JSON object: with --out what was written, without it the problem itself, which is one.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ExtractArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<bool, Failure> {
    let wrong = |e: stiction_sim::SceneError| Failure::Message(e.in_file(&args.file).to_string());
    let recording = Recording::load(&args.file).map_err(wrong)?;
    let (scene, notes) = recording.header().scene().map_err(wrong)?;
    let mut simulation = recording.header().simulation(&scene).map_err(wrong)?;
    let problem = problem_of_step(&recording, &mut simulation, args.step).map_err(wrong)?;
    if !args.json {
        notes.iter().try_for_each(|note| writeln!(err, "note: {note}"))?;
    }
    let json = contact_to_json(&problem);
    match &args.out {
        None => out.write_all(json.as_bytes())?,
        Some(target) => write_new(target, args.force)?.write(json.as_bytes())?,
    }
    if let (Some(target), true) = (&args.out, args.json) {
        let files = [target.display().to_string()];
        writeln!(out, "{}", serde_json::json!({ "files": files, "step": args.step, "notes": notes }))?;
    }
    Ok(true)
}

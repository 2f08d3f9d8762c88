//! `stiction export`: the numbers of a recording as CSV or NumPy arrays.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use stiction_sim::Recording;
use stiction_sim::recording::{export_csv, export_npz};

use crate::output::{Failure, write_new};

/// Options of `stiction export`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 done, 2 bad input.")]
pub(crate) struct ExportArgs {
    /// The recording.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write states.csv and contacts.csv into this directory.
    #[arg(long, value_name = "DIR", required_unless_present = "npz")]
    pub csv: Option<PathBuf>,
    /// Write an archive of NumPy arrays.
    #[arg(long, value_name = "OUT")]
    pub npz: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let wrong = |e: stiction_sim::SceneError| Failure::Message(e.in_file(&args.file).to_string());
    let recording = Recording::load(&args.file).map_err(wrong)?;
    let (scene, mut notes) = recording.header().scene().map_err(wrong)?;
    notes.extend(recording.damage().map(|damage| format!("the recording is not whole: {damage}")));
    let rows = recording.rows(&scene.world, |_| {}).map_err(wrong)?;
    let (steps, mut files) = (recording.step_count(), vec![]);
    if let Some(directory) = &args.csv {
        let failed = |e| Failure::Message(format!("{}: cannot be made: {e}", directory.display()));
        std::fs::create_dir_all(directory).map_err(failed)?;
        let states = write_new(&directory.join("states.csv"), args.force)?;
        let contacts = write_new(&directory.join("contacts.csv"), args.force)?;
        let written = export_csv(&recording, &rows, BufWriter::new(&states.file), BufWriter::new(&contacts.file));
        written.map_err(|e| states.failed(&e))?;
        files.extend([(states.name, format!("{steps} steps")), (contacts.name, "their contacts".into())]);
    }
    if let Some(target) = &args.npz {
        let target = write_new(target, args.force)?;
        export_npz(&recording, &rows, BufWriter::new(&target.file)).map_err(|e| target.failed(&e))?;
        files.push((target.name, format!("{steps} steps")));
    }
    if args.json {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        writeln!(out, "{}", serde_json::json!({ "files": names, "steps": steps, "notes": notes }))?;
        return Ok(true);
    }
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    for (name, what) in files {
        writeln!(out, "{name}: {what}")?;
    }
    Ok(true)
}

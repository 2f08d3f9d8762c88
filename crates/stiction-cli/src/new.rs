//! `stiction new`: a commented scene and a Python script to start from.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::output::{Failure, write_new};

/// The scene, in which NAME stands for its name.
const SCENE: &str = include_str!("new/scene.toml");
/// The script, in which NAME stands for the scene's name.
const SCRIPT: &str = include_str!("new/script.py");

/// Options of `stiction new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// NAME.toml and NAME.py are written.
    #[arg(value_name = "NAME")]
    pub name: PathBuf,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Writes both files.
pub(crate) fn run(args: &NewArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let stem = args.name.with_extension("");
    let Some(name) = stem.file_name().and_then(|name| name.to_str()).filter(|name| !name.contains(['"', '\\'])) else {
        return Err(Failure::Message(format!("\"{}\" cannot be the name of a scene", args.name.display())));
    };
    let [scene, script] = ["toml", "py"].map(|extension| stem.with_extension(extension));
    // Neither is written if one is there.
    if let Some(there) = [&scene, &script].into_iter().find(|file| file.exists()).filter(|_| !args.force) {
        return Err(Failure::Message(format!("{}: exists already; --force replaces it", there.display())));
    }
    for (file, text) in [(&scene, SCENE), (&script, SCRIPT)] {
        write_new(file, args.force)?.write(text.replace("NAME", name).as_bytes())?;
    }
    let (scene, script) = (scene.display().to_string(), script.display().to_string());
    if args.json {
        writeln!(out, "{}", serde_json::json!({ "files": [scene, script] }))?;
    } else {
        writeln!(out, "{scene}: a scene; try: stiction run {scene}, stiction view {scene}")?;
        writeln!(out, "{script}: the same from Python; try: python {script}")?;
    }
    Ok(true)
}

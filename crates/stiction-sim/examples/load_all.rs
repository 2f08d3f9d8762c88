//! Loads every robot file under a folder and prints one line for each: `load_all DIR [--notes]`.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use stiction_sim::SceneError;
use stiction_sim::description::{Description, NoteKind};
use stiction_sim::urdf::{self, UrdfOptions};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let with_notes = arguments.iter().any(|a| a == "--notes");
    let Some(folder) = arguments.iter().find(|a| !a.starts_with("--")) else {
        println!("usage: load_all DIR [--notes]");
        return;
    };
    let mut files = Vec::new();
    collect(Path::new(folder), &mut files);
    files.sort();
    let mut loaded = 0;
    for file in &files {
        let start = Instant::now();
        let result = urdf::load(file, &UrdfOptions::default());
        loaded += usize::from(result.is_ok());
        report(file, &result, start.elapsed().as_secs_f64(), with_notes);
    }
    println!("{loaded} of {} loaded", files.len());
}

fn report(file: &Path, result: &Result<Description, SceneError>, seconds: f64, with_notes: bool) {
    match result {
        Err(error) => println!("FAILED {}: {error}", file.display()),
        Ok(d) => {
            let count = |kind| d.notes.iter().filter(|n| n.kind == kind).count();
            println!(
                "ok {}: {} links, {} geoms, {} mimics; notes: {} ignored, {} changed, {} not yet, {} warnings; {seconds:.3} s",
                file.display(),
                d.links.len(),
                d.geoms.len(),
                d.mimics.len(),
                count(NoteKind::Ignored),
                count(NoteKind::Changed),
                count(NoteKind::NotYet),
                count(NoteKind::Warning)
            );
            if with_notes {
                d.notes.iter().for_each(|n| println!("    {:?} {}: {}", n.kind, n.element, n.text));
            }
        }
    }
}

/// All URDF files under a folder; links to folders are not followed, so there are no circles.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, files),
            Ok(_) if path.extension().is_some_and(|e| e == "urdf") => files.push(path),
            _ => {}
        }
    }
}

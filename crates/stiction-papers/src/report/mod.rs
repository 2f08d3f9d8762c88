//! What a run of experiments leaves: one page of HTML, a CSV file of every table and plot, an SVG file of every figure, and the claims as JSON.
mod csv;
mod html;
mod machine;
mod number;
mod scale;
mod style;
mod summary;
mod svg;
mod terminal;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

pub use machine::Machine;
pub(crate) use number::short;
pub use summary::ClaimLine;

use super::{Effort, Experiment, ExperimentError, Progress, Section, Verdict};

/// The page.
pub const PAGE: &str = "report.html";
/// The claims.
pub const SUMMARY: &str = "summary.json";

/// The papers: short name, name, title.
pub const PAPERS: [(&str, &str, &str); 4] = [
    ("drumwright", "Drumwright 2015", "Rapidly computable viscous friction and no-slip rigid contact models"),
    ("lloyd", "Lloyd 2004", "Fast implementation of Lemke's algorithm for rigid body contact simulation"),
    (
        "trinkle",
        "Trinkle, Pang, Sudarsky and Lo 1995",
        "On dynamic multi-rigid-body contact problems with Coulomb friction",
    ),
    ("baraff", "Baraff 1994", "Fast contact force computation for nonpenetrating rigid bodies"),
];

/// An experiment that was run.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its name, `paper/name`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it found.
    pub section: Section,
    /// How long it took, by the clock (s).
    pub seconds: f64,
}

impl Run {
    /// The paper's short name.
    pub fn paper(&self) -> &str {
        self.name.split_once('/').map_or("", |(paper, _)| paper)
    }

    /// The name without the paper.
    pub(crate) fn short_name(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, name)| name)
    }
}

/// How many claims came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// As the paper says.
    pub holds: usize,
    /// More than it says.
    pub better: usize,
    /// Not.
    pub does_not_hold: usize,
}

impl Tally {
    fn of<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let mut tally = Self::default();
        for claim in runs.into_iter().flat_map(|run| &run.section.claims) {
            match claim.verdict {
                Verdict::Holds => tally.holds += 1,
                Verdict::Better => tally.better += 1,
                Verdict::DoesNotHold(_) => tally.does_not_hold += 1,
            }
        }
        tally
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.holds + self.better + self.does_not_hold
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { holds, better, does_not_hold } = self;
        write!(f, "{} claims: {holds} hold, {better} better, {does_not_hold} not", self.total())
    }
}

/// A run of experiments.
#[derive(Debug, Clone)]
pub struct Report {
    /// Where and when.
    pub machine: Machine,
    /// The quick form.
    pub quick: bool,
    /// What was run, in order.
    pub experiments: Vec<Run>,
    /// What could not be run.
    pub failed: Vec<ExperimentError>,
}

impl Report {
    /// A report of nothing yet, on this machine.
    pub fn new(effort: &Effort) -> Self {
        Self { machine: Machine::here(), quick: effort.quick, experiments: Vec::new(), failed: Vec::new() }
    }

    /// Runs one experiment, and adds what it found.
    pub fn run(&mut self, experiment: &dyn Experiment, progress: &mut dyn Progress) {
        let clock = Instant::now();
        match experiment.run(&Effort { quick: self.quick }, progress) {
            Ok(section) => self.experiments.push(Run {
                name: experiment.name().into(),
                title: experiment.title().into(),
                section,
                seconds: clock.elapsed().as_secs_f64(),
            }),
            Err(error) => self.failed.push(error),
        }
    }

    /// The claims, in order.
    pub fn claims(&self) -> Vec<ClaimLine> {
        summary::claims(self)
    }

    /// What became of the claims.
    pub fn tally(&self) -> Tally {
        Tally::of(&self.experiments)
    }

    /// How long all of it took, by the clock (s).
    pub fn seconds(&self) -> f64 {
        self.experiments.iter().map(|run| run.seconds).sum()
    }

    /// All files: path within the report's folder, and contents. The page and the summary come last.
    pub fn files(&self) -> Vec<(String, String)> {
        let names = self.file_names();
        let mut files = Vec::new();
        for (run, names) in self.experiments.iter().zip(&names) {
            let section = &run.section;
            files.extend(section.tables.iter().zip(&names.tables).map(|(t, n)| (format!("{n}.csv"), csv::table(t))));
            for (plot, name) in section.plots.iter().zip(&names.plots) {
                files.push((format!("{name}.csv"), csv::plot(plot)));
                files.push((format!("{name}.svg"), svg::plot_file(plot)));
            }
            let pictures = section.pictures.iter().zip(&names.pictures);
            files.extend(pictures.map(|(p, n)| (format!("{n}.svg"), svg::picture_file(p))));
        }
        files.push((SUMMARY.into(), summary::json(self)));
        files.push((PAGE.into(), html::page(self, &names)));
        files
    }

    /// Paths of files without their endings, per experiment; no two are the same.
    fn file_names(&self) -> Vec<FileNames> {
        let mut taken = BTreeSet::new();
        let mut all = Vec::new();
        for run in &self.experiments {
            let mut unique = |name: &str| {
                let wish = format!("{}/{}", kebab(run.paper()), kebab(name));
                let more = (2..).map(|k| format!("{wish}-{k}"));
                let name = std::iter::once(wish.clone()).chain(more).find(|name| !taken.contains(name)).unwrap_or(wish);
                taken.insert(name.clone());
                name
            };
            all.push(FileNames {
                tables: run.section.tables.iter().map(|t| unique(&t.name)).collect(),
                plots: run.section.plots.iter().map(|p| unique(&p.name)).collect(),
                pictures: run.section.pictures.iter().map(|p| unique(&p.name)).collect(),
            });
        }
        all
    }

    /// Writes all files into a folder, which is made if need be; each is there whole or as it was before.
    ///
    /// # Errors
    /// If a file cannot be written; the message names it.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (name, contents) in self.files() {
            write_whole(&folder.join(&name), contents.as_bytes())?;
        }
        Ok(())
    }

    /// An experiment's text for the terminal: tables, then claims.
    pub fn terminal(run: &Run) -> String {
        terminal::run(run)
    }
}

/// Paths of one experiment's files, without their endings.
struct FileNames {
    tables: Vec<String>,
    plots: Vec<String>,
    pictures: Vec<String>,
}

/// Small letters, digits and hyphens.
fn kebab(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(letter).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

/// Makes sure that a folder is there and can be written into.
///
/// # Errors
/// If not; the message names it.
pub fn prepare(folder: &Path) -> io::Result<()> {
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: cannot be written: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(named)?;
    let probe = folder.join(format!(".stiction-{}", std::process::id()));
    std::fs::write(&probe, b"").map_err(named)?;
    std::fs::remove_file(&probe).map_err(named)
}

/// Writes a file beside its place, and moves it there when it is whole.
fn write_whole(target: &Path, contents: &[u8]) -> io::Result<()> {
    let beside = target.with_extension(format!("stiction-{}", std::process::id()));
    let written = (|| {
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(contents)?;
        file.sync_all()?;
        std::fs::rename(&beside, target)
    })();
    written.map_err(|e| {
        let _ = std::fs::remove_file(&beside);
        io::Error::new(e.kind(), format!("{}: cannot be written: {e}", target.display()))
    })
}

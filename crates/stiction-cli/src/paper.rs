//! `stiction paper`: the experiments of the papers, with a report.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use stiction_papers::report::{PAGE, PAPERS, Report, prepare};
use stiction_papers::{Effort, Experiment, Progress};

use crate::output::Failure;

/// Options of `stiction paper`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 run (claims that do not hold are results), 1 an experiment could not be run, 2 bad input."
)]
pub(crate) struct PaperArgs {
    /// `list`, a paper (drumwright, lloyd, trinkle, baraff), one experiment (paper/name), or `all`.
    #[arg(value_name = "WHAT", hide_possible_values = true, value_parser = PossibleValuesParser::new(names()))]
    pub what: String,
    /// A few trials of each experiment instead of all: seconds instead of minutes.
    #[arg(long)]
    pub quick: bool,
    /// Where to write the report, its figures and their data.
    #[arg(long, value_name = "DIR", default_value = "stiction-paper")]
    pub out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// All that WHAT can be.
fn names() -> Vec<&'static str> {
    let papers = PAPERS.iter().map(|paper| paper.0);
    ["list", "all"].into_iter().chain(papers).chain(stiction_papers::all().iter().map(|e| e.name())).collect()
}

/// Runs experiments one after the other, so that none disturbs the timing of another; true if all could be run.
pub(crate) fn run(args: &PaperArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<bool, Failure> {
    if args.what == "list" {
        return list(args.json, out);
    }
    let of_paper = |name: &str| name.split_once('/').is_some_and(|(paper, _)| paper == args.what);
    let chosen = stiction_papers::all()
        .into_iter()
        .filter(|e| args.what == "all" || e.name() == args.what || of_paper(e.name()));
    prepare(&args.out).map_err(|e| Failure::Message(e.to_string()))?;
    let mut report = Report::new(&Effort { quick: args.quick });
    for experiment in chosen {
        one(experiment.as_ref(), &mut report, args, out, err)?;
    }
    report.write(&args.out).map_err(|e| Failure::Message(e.to_string()))?;
    let page = args.out.join(PAGE).display().to_string();
    if args.json {
        let failed: Vec<String> = report.failed.iter().map(ToString::to_string).collect();
        let object = json!({
            "files": [page], "quick": args.quick, "seconds": report.seconds(), "machine": report.machine, "claims": report.claims(), "failures": failed,
        });
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{}; {:.1} s", report.tally(), report.seconds())?;
        writeln!(out, "{page}")?;
    }
    Ok(report.failed.is_empty())
}

/// Runs one experiment, prints what it found, and writes the report so far: a run that is stopped leaves what it has.
fn one(
    experiment: &dyn Experiment,
    report: &mut Report,
    args: &PaperArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut bar = Bar::new(experiment.name(), args.json);
    let (ran, failed) = (report.experiments.len(), report.failed.len());
    report.run(experiment, &mut bar);
    bar.0.finish_and_clear();
    if let Some(error) = report.failed.get(failed) {
        writeln!(err, "failed: {error}")?;
    }
    if let Some(run) = report.experiments.get(ran).filter(|_| !args.json) {
        writeln!(out, "{}", Report::terminal(run))?;
        out.flush()?;
    }
    report.write(&args.out).map_err(|e| Failure::Message(e.to_string()))
}

/// The experiments, by paper.
fn list(as_json: bool, out: &mut dyn Write) -> Result<bool, Failure> {
    let all = stiction_papers::all();
    if as_json {
        let lines: Vec<_> = all.iter().map(|e| json!({ "name": e.name(), "title": e.title() })).collect();
        writeln!(out, "{}", json!({ "experiments": lines }))?;
        return Ok(true);
    }
    let width = all.iter().map(|e| e.name().len()).max().unwrap_or(0);
    for (key, name, title) in PAPERS {
        writeln!(out, "{key}: {name}, {title}")?;
        for e in all.iter().filter(|e| e.name().split_once('/').is_some_and(|(paper, _)| paper == key)) {
            writeln!(out, "  {:width$}  {}", e.name(), e.title())?;
        }
    }
    Ok(true)
}

/// A progress bar on a terminal, and nothing anywhere else.
struct Bar(ProgressBar);

impl Bar {
    fn new(name: &'static str, quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::new(1) };
        let style = "{elapsed_precise} {bar:30} {percent}% {prefix} {wide_msg}";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(name);
        Self(bar)
    }
}

impl Progress for Bar {
    fn report(&mut self, done: usize, total: usize, what: &str) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        self.0.set_message(what.to_string());
    }
}

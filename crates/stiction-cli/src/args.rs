//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use stiction_contact::ModelKind;
use stiction_contact::io::Kind;
use stiction_contact::models::catalog::CATALOG as MODELS;
use stiction_lcp::catalog::CATALOG;

/// Exact, certified rigid contact.
#[derive(Debug, Parser)]
#[command(name = "stiction", version, arg_required_else_help = false)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Solve a complementarity, friction or contact problem from a file, and certify the answer.
    Solve(SolveArgs),
    /// Simulate a scene.
    Run(crate::run::RunArgs),
    /// Say what a scene or robot file holds, and what of it is not used.
    Check(crate::check::CheckArgs),
    /// Run a recorded scene again, and find the first difference.
    Replay(crate::replay::ReplayArgs),
    /// Write the contact problem of a recorded step, for `stiction solve`.
    Extract(crate::extract::ExtractArgs),
    /// Write the numbers of a recording as CSV or NumPy arrays.
    Export(crate::export::ExportArgs),
    /// Run the experiments of the papers, and write a report.
    Paper(crate::paper::PaperArgs),
    /// Solve random problems by the thousand and check every answer.
    Soak(crate::soak::SoakArgs),
    /// Measure what a step of a scene costs: time by phase, work, instructions.
    Bench(crate::bench::BenchArgs),
    /// Write a commented scene and a Python script to start from.
    New(crate::new::NewArgs),
    /// Print the completions of a shell.
    Completions(crate::shell::CompletionsArgs),
    /// Print the manual page, in roff, or write those of all subcommands.
    Man(crate::shell::ManArgs),
    /// Show a scene, robot or recording in the browser, and push it (Python package).
    #[command(disable_help_flag = true)]
    View(PythonArgs),
    /// Make a picture or a video of a scene or recording (Python package).
    #[command(disable_help_flag = true)]
    Render(PythonArgs),
    /// Plot a recording (Python package).
    #[command(disable_help_flag = true)]
    Plot(PythonArgs),
    /// The same scene under two models, or in MuJoCo, side by side in a video (Python package).
    #[command(disable_help_flag = true)]
    Compare(PythonArgs),
}

/// Arguments of a subcommand that only the Python package has, which reads them itself.
#[derive(Debug, Args)]
pub(crate) struct PythonArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    all: Vec<std::ffi::OsString>,
}

/// Options of `stiction solve`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 solved and certified, 1 not solved, 2 bad input.")]
pub(crate) struct SolveArgs {
    /// The problem: Siconos text, FCLIB .hdf5, .npz or .json; - is standard input (JSON or text).
    #[arg(required_unless_present = "list", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Explain the solvers and when to use which, and stop.
    #[arg(long)]
    pub list: bool,
    /// The method.
    #[arg(long, value_name = "NAME", default_value = "auto", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(CATALOG.iter().map(|entry| entry.name)))]
    pub solver: String,
    /// The law of friction, for friction and contact problems [default: coulomb-cone].
    #[arg(long, value_name = "NAME", value_parser = model_parser())]
    pub model: Option<ModelKind>,
    /// Re-check the final basis in rational arithmetic.
    #[arg(long)]
    pub exact: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print one line per pivot (on standard error with --json).
    #[arg(long)]
    pub trace: bool,
    /// Both residuals of a solution are at most this; above 0 and below 1 [default: 1e-10].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub tolerance: Option<f64>,
    /// Stop after this many pivots or iterations.
    #[arg(long, value_name = "N")]
    pub max_pivots: Option<usize>,
    /// Stop a complementarity problem after this many floating-point operations [default: 2e10 or 20 n³].
    #[arg(long, value_name = "N")]
    pub max_flops: Option<u64>,
    /// What a text file holds, where it must not be guessed.
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::name)))]
    pub kind: Option<String>,
    /// Start from this basis: a letter per row, z basic, w at the lower bound, u at the upper.
    #[arg(long, value_name = "BASIS")]
    pub start: Option<String>,
    /// Write the problem to OUT as JSON.
    #[arg(long, value_name = "OUT")]
    pub write_json: Option<PathBuf>,
    /// Let --write-json replace a file that exists.
    #[arg(long, requires = "write_json")]
    pub force: bool,
}

/// clap's message up to its usage, on one line.
pub(crate) fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let kept: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    kept.join(" ")
}

/// Reads the name of a contact model.
pub(crate) fn model_parser() -> impl TypedValueParser<Value = ModelKind> {
    PossibleValuesParser::new(MODELS.iter().map(|entry| entry.name)).try_map(|name| name.parse())
}

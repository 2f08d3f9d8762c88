//! The command `stiction`.
//!
//! Exit codes: 0 done, 1 not solved, 2 bad input (one message on standard error and nothing else).

mod args;
mod bench;
mod check;
mod checks;
mod contact;
mod export;
mod extract;
mod friction;
mod json;
mod list;
mod new;
mod output;
mod paper;
mod replay;
mod report;
mod run;
mod shell;
mod soak;
mod soak_contact;
mod solve;

use std::ffi::OsString;
use std::io::Write;

use args::{Cli, Command};
use clap::Parser;
use output::{Failure, Pipe};
pub use run::end_runs_on_ctrl_c;

/// Exit code of what was done.
const DONE: u8 = 0;
/// Exit code of bad input.
const BAD_INPUT: u8 = 2;
/// Exit code of a problem that was not solved.
const NOT_SOLVED: u8 = 1;
/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// Runs the command with these arguments, the first of which is its own name; returns its exit code.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let as_json = args.iter().any(|arg| arg == "--json");
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, as_json),
    };
    let mut out = Pipe::new(std::io::BufWriter::new(std::io::stdout().lock()));
    // Not locked: a thread that panics writes its message there, and would wait for ever.
    let mut err = Pipe::new(std::io::stderr());
    let result = match &cli.command {
        Command::Solve(args) => solve::run(args, &stiction_lcp::catalog::build, &mut out, &mut err),
        Command::Run(args) => run::run(args, &mut out, &mut err),
        Command::Check(args) => check::run(args, &mut out),
        Command::Replay(args) => replay::run(args, &mut out),
        Command::Extract(args) => extract::run(args, &mut out, &mut err),
        Command::Export(args) => export::run(args, &mut out),
        Command::New(args) => new::run(args, &mut out),
        Command::Completions(args) => shell::completions(args, &mut out),
        Command::Man(args) => shell::man(args, &mut out),
        Command::Paper(args) => paper::run(args, &mut out, &mut err),
        Command::Soak(args) => soak::run(args, &mut out),
        Command::Bench(args) => bench::run(args, &mut out, &mut err),
        Command::View(_) => Err(in_python("view", "view")),
        Command::Render(_) => Err(in_python("render", "render")),
        Command::Plot(_) => Err(in_python("plot", "plot")),
        Command::Compare(_) => Err(in_python("compare", "render,plot")),
    };
    let result = result.and_then(|solved| out.flush().map(|()| solved).map_err(Failure::from));
    match result {
        Ok(true) => DONE,
        Ok(false) => NOT_SOLVED,
        Err(Failure::Interrupted) => {
            let _ = out.flush();
            INTERRUPTED
        }
        Err(failure) => {
            refuse(&failure.to_string(), as_json, &mut out, &mut err);
            BAD_INPUT
        }
    }
}

/// Says what is wrong: one line on standard error, or one object on standard output for who asked for JSON.
fn refuse(message: &str, as_json: bool, out: &mut dyn Write, err: &mut dyn Write) {
    if as_json {
        let _ = writeln!(out, "{}", serde_json::json!({ "error": message, "exit_code": BAD_INPUT }));
        let _ = out.flush();
    } else {
        let _ = writeln!(err, "error: {message}");
    }
}

/// What is said of a subcommand that only the Python package has, with the extras it needs.
fn in_python(command: &str, extras: &str) -> Failure {
    Failure::Message(format!("`stiction {command}` is part of the Python package: pip install \"stiction[{extras}]\""))
}

/// Help and version as asked for; anything else is one line on standard error.
fn usage(error: &clap::Error, as_json: bool) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return DONE;
    }
    let line = args::one_line(&error.render().to_string());
    if as_json {
        let message = line.strip_prefix("error: ").unwrap_or(&line);
        refuse(message, true, &mut std::io::stdout(), &mut std::io::stderr());
    } else {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    BAD_INPUT
}

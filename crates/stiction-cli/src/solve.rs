//! `stiction solve`: read, solve, certify, report.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use stiction_contact::io::{self as files, AnyProblem, Kind, ReadOptions};
use stiction_lcp::io::ProblemFile;
use stiction_lcp::outcome::{TraceLine, Variable};
use stiction_lcp::{Basis, InputError, Options, Solver};

use crate::args::SolveArgs;
use crate::checks;
use crate::output::{Failure, write_new};
use crate::report::Report;
use crate::{contact, friction, json, list, report};

/// Makes a solver from its name.
pub(crate) type Build<'a> = &'a dyn Fn(&str, &Options) -> Result<Box<dyn Solver>, InputError>;

/// Runs the command; true if the problem was solved, or nothing was to be solved.
pub(crate) fn run(
    args: &SolveArgs,
    build: Build<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<bool, Failure> {
    let Some(path) = args.file.as_deref().filter(|_| !args.list) else {
        if args.json {
            list::print_json(out)?
        } else {
            list::print(out)?
        }
        return Ok(true);
    };
    let options = options(args)?;
    let name = path.display().to_string();
    let file = match read(args, path)? {
        AnyProblem::Complementarity(_) if args.model.is_some() => {
            return Err(Failure::Message(format!(
                "{name}: --model is for friction and contact problems; this is a complementarity problem"
            )));
        }
        AnyProblem::Complementarity(file) => with_start(args, file)?,
        AnyProblem::Friction(file) => {
            if let Some(target) = &args.write_json {
                write_new(target, args.force)?.write(file.to_json().as_bytes())?;
            }
            return friction::run(args, &file, &name, &options, out);
        }
        AnyProblem::Contact(problem) => {
            if let Some(target) = &args.write_json {
                write_new(target, args.force)?.write(files::contact_to_json(&problem).as_bytes())?;
            }
            return contact::run(args, &problem, &name, &options, out);
        }
    };
    let mut solver = build(&args.solver, &options)?;
    if let Some(target) = &args.write_json {
        write_new(target, args.force)?.write(file.to_json().as_bytes())?;
    }
    let problem = file.problem.as_ref();
    let clock = Instant::now();
    let outcome = solver.solve_from(problem, file.basis.as_ref())?;
    let time = clock.elapsed();
    let (outcome, exact) = if args.exact { checks::exact_check(problem, outcome, &options) } else { (outcome, None) };
    let report = Report {
        file: name,
        problem,
        class: checks::matrix_class(problem),
        solver: solver.name(),
        options: &options,
        outcome: &outcome,
        exact_asked: args.exact,
        exact,
        time,
    };
    if args.trace {
        print_trace(&outcome.stats().trace, if args.json { err } else { out })?;
    }
    if args.json {
        json::print(&report, out)?;
    } else {
        report::print(&report, out)?;
    }
    Ok(outcome.solved().is_some())
}

fn options(args: &SolveArgs) -> Result<Options, Failure> {
    let default = Options::default();
    let tolerance = args.tolerance.unwrap_or(default.tolerance);
    let options =
        Options { tolerance, max_pivots: args.max_pivots, max_flops: args.max_flops, trace: args.trace, ..default };
    options.check()?;
    Ok(options)
}

fn read(args: &SolveArgs, path: &Path) -> Result<AnyProblem, Failure> {
    let kind: Option<Kind> = args.kind.as_deref().map(str::parse).transpose()?;
    Ok(files::read(path, &ReadOptions { kind, ..ReadOptions::default() })?)
}

/// The problem, with the basis of `--start` in place of the file's own.
fn with_start(args: &SolveArgs, mut file: ProblemFile) -> Result<ProblemFile, Failure> {
    if let Some(word) = &args.start {
        let basis: Basis = word.parse()?;
        basis.check_len(file.problem.as_ref().n())?;
        file.basis = Some(basis);
    }
    Ok(file)
}

/// One line per pivot: its number, what enters, what leaves, and the method's measure.
fn print_trace(trace: &[TraceLine], out: &mut dyn Write) -> std::io::Result<()> {
    let width = trace.len().to_string().len();
    for (k, line) in trace.iter().enumerate() {
        let name = |v: Option<Variable>| v.map_or("-".to_string(), |v| v.to_string());
        let (entering, leaving) = (name(line.entering), name(line.leaving));
        writeln!(out, "pivot {:>width$}  enters {entering:<6}  leaves {leaving:<6}  {:.6e}", k + 1, line.measure)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

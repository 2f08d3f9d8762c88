//! `stiction solve` on a friction problem: solve under a model, certify, report.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use stiction_contact::io::FrictionFile;
use stiction_contact::models::coulomb_cone::{CoulombCone, FrictionOutcome};
use stiction_contact::{FrictionLaw, FrictionLcp, FrictionProblem, Level, ModelKind, ModelOptions, certify_friction};
use stiction_lcp::{InputError, Options, Outcome, catalog};

use crate::args::SolveArgs;
use crate::output::Failure;
use crate::report::aligned;

/// Sides of the polyhedral cone.
const SIDES: usize = 8;

/// Up to this many contacts impulses are printed.
const MOST_PRINTED: usize = 12;

/// What is reported.
#[derive(Serialize, Default)]
struct Report<'a> {
    problem: Problem<'a>,
    model: &'a str,
    solver: &'static str,
    outcome: &'static str,
    claim: Option<String>,
    why: Option<String>,
    r: Option<Vec<f64>>,
    u: Option<Vec<f64>>,
    modes: Option<Vec<String>>,
    residual: Option<f64>,
    contact_error: Option<f64>,
    backward_error: Option<f64>,
    worst_contact: Option<usize>,
    tolerance: f64,
    /// Always null: friction with a quadratic cone has no finite basis to check exactly.
    exact: Option<bool>,
    #[serde(rename = "notes", serialize_with = "as_list")]
    note: Option<&'static str>,
    iterations: usize,
    pivots: usize,
    time_us: f64,
}

#[derive(Serialize, Default)]
struct Problem<'a> {
    kind: &'static str,
    dim: usize,
    contacts: usize,
    n: usize,
    file: &'a str,
}

/// A note as the list of one, or of none.
fn as_list<S: serde::Serializer>(note: &Option<&'static str>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(note)
}

/// Runs the command on a friction problem; true if it was solved.
pub(crate) fn run(
    args: &SolveArgs,
    file: &FrictionFile,
    name: &str,
    options: &Options,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    for (given, flag) in [(args.exact, "--exact"), (args.trace, "--trace"), (args.start.is_some(), "--start")] {
        if given {
            return Err(Failure::Message(format!(
                "{name}: {flag} is for complementarity problems; this is a friction problem"
            )));
        }
    }
    let local = match file {
        FrictionFile::Local(problem) => problem.clone(),
        FrictionFile::Global(problem) => problem.to_local().map_err(|error| match error {
            InputError::Unsupported { reason, .. } => Failure::Message(format!("{name}: {reason}")),
            other => other.into(),
        })?,
    };
    let model = args.model.unwrap_or_default();
    let clock = Instant::now();
    let mut report = match model {
        ModelKind::CoulombCone => cone(args, &local, options)?,
        ModelKind::CoulombPolyhedral => polyhedral(args, &local, FrictionLaw::Polyhedral { sides: SIDES }, options)?,
        ModelKind::Frictionless => polyhedral(args, &local, FrictionLaw::Frictionless, options)?,
        _ => return Err(Failure::Message(format!("{name}: {model} needs mass and Jacobians; the file has neither"))),
    };
    report.time_us = rounded(clock.elapsed());
    report.model = model.name();
    report.problem = Problem {
        kind: file.kind().name(),
        dim: local.dim(),
        contacts: local.contacts(),
        n: local.q().len(),
        file: name,
    };
    let solved = report.outcome == "solved";
    if args.json {
        let text = serde_json::to_string(&report).map_err(io::Error::other)?;
        writeln!(out, "{text}")?;
    } else {
        print(&report, out)?;
    }
    Ok(solved)
}

fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

/// A report with nothing in it yet.
fn empty<'a>(options: &Options, solver: &'static str, outcome: &'static str) -> Report<'a> {
    Report { solver, outcome, tolerance: options.tolerance, ..Report::default() }
}

/// The quadratic cone.
fn cone<'a>(args: &SolveArgs, problem: &FrictionProblem, options: &Options) -> Result<Report<'a>, InputError> {
    if args.solver != "auto" {
        let reason =
            format!("it has one method; --solver {} is for complementarity problems and polyhedral cones", args.solver);
        return Err(InputError::Unsupported { solver: "coulomb-cone", reason });
    }
    if args.max_flops.is_some() {
        let reason = "--max-flops is for complementarity problems and polyhedral cones".to_string();
        return Err(InputError::Unsupported { solver: "coulomb-cone", reason });
    }
    let mut solver = CoulombCone::new(
        Level::Velocity,
        ModelOptions { tolerance: options.tolerance, max_pivots: options.max_pivots, ..Default::default() },
    );
    let outcome = solver.solve_friction(problem, None)?;
    let name = if outcome.solved().is_some() { "solved" } else { "stopped" };
    let mut report = empty(options, "coulomb-cone", name);
    let (certificate, stats) = (outcome.certificate(), outcome.stats());
    report.residual = Some(certificate.residual);
    report.contact_error = Some(certificate.contact_error);
    report.worst_contact = certificate.worst_contact;
    report.iterations = stats.iterations;
    report.note =
        stats.rounding_noise.then_some("max |q| is below 1e-14: this is likely the rounding of a problem at rest");
    match outcome {
        FrictionOutcome::Solved(s) => {
            report.modes = Some(s.modes.iter().map(ToString::to_string).collect());
            (report.r, report.u) = (Some(s.r), Some(s.u));
        }
        FrictionOutcome::Failed(f) => {
            report.why = Some(f.why.to_string());
            let mut u = vec![0.0; f.best_r.len()];
            certify_friction(problem, &f.best_r, &mut u);
            (report.r, report.u) = (Some(f.best_r), Some(u));
        }
    }
    Ok(report)
}

/// No friction, or a polyhedral cone: a complementarity problem.
fn polyhedral<'a>(
    args: &SolveArgs,
    problem: &FrictionProblem,
    law: FrictionLaw,
    options: &Options,
) -> Result<Report<'a>, InputError> {
    let form = FrictionLcp::new(problem, law)?;
    let mut solver = catalog::build(&args.solver, options)?;
    let outcome = solver.solve_from((&form.lcp).into(), None)?;
    let mut report = empty(options, solver.name(), outcome.name());
    report.pivots = outcome.stats().pivots;
    let (certificate, z) = match &outcome {
        Outcome::Solved(o) => (Some(&o.certificate), Some(&o.z)),
        Outcome::Stopped(o) => {
            report.why = Some(o.why.to_string());
            (Some(&o.certificate), Some(&o.z))
        }
        Outcome::Unsolvable(o) => {
            report.claim = Some(o.proof.to_string());
            (None, None)
        }
        Outcome::Ray(o) => {
            report.claim = Some(o.claim.clone());
            (None, None)
        }
    };
    report.residual = certificate.map(|c| c.residual);
    report.backward_error = certificate.map(|c| c.backward_error);
    if let Some(z) = z {
        let r = form.impulses(z);
        let mut u = vec![0.0; r.len()];
        certify_friction(problem, &r, &mut u);
        (report.r, report.u) = (Some(r), Some(u));
    }
    Ok(report)
}

/// The report for people.
fn print(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let p = &r.problem;
    let contacts = if p.contacts == 1 { "contact" } else { "contacts" };
    let mut lines = vec![
        ("file", p.file.to_string()),
        ("problem", format!("{}, {} {contacts} of dimension {}", p.kind, p.contacts, p.dim)),
    ];
    lines.push(("model", r.model.to_string()));
    let words = r.claim.as_ref().or(r.why.as_ref());
    lines.push(("outcome", words.map_or(r.outcome.to_string(), |w| format!("{}: {w}", r.outcome))));
    let of = if r.outcome == "solved" { "" } else { ", of the best impulses found" };
    lines.extend(r.residual.map(|x| ("residual", format!("{x:.2e} (tolerance {:e}{of})", r.tolerance))));
    let at = r.worst_contact.map_or(String::new(), |i| format!(" (worst contact {i})"));
    lines.extend(r.contact_error.map(|x| ("contact error", format!("{x:.2e}{at}"))));
    lines.extend(r.backward_error.map(|x| ("backward error", format!("{x:.2e}"))));
    lines.extend(r.modes.as_ref().map(|m| ("contacts", modes(m))));
    lines.extend(r.note.map(|n| ("note", n.to_string())));
    lines.push(if r.modes.is_some() {
        ("iterations", r.iterations.to_string())
    } else {
        ("pivots", r.pivots.to_string())
    });
    lines.push(("time", format!("{:.1?}", Duration::from_secs_f64(r.time_us * 1e-6))));
    aligned(&lines, out)?;
    vectors(r, out)
}

/// `3 open, 2 stick, 1 slide`.
pub(crate) fn modes(modes: &[String]) -> String {
    let count = |name: &str| modes.iter().filter(|m| *m == name).count();
    format!("{} open, {} stick, {} slide", count("open"), count("stick"), count("slide"))
}

/// r and u, contact by contact, if they are few.
fn vectors(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (Some(impulses), Some(velocities)) = (&r.r, &r.u) else { return Ok(()) };
    if r.problem.contacts == 0 {
        return Ok(());
    }
    if r.problem.contacts > MOST_PRINTED {
        return writeln!(out, "\nr and u have {} entries each; --json prints them", impulses.len());
    }
    writeln!(out, "\n{:>7} {:>4} {:>24} {:>24}", "contact", "", "r", "u")?;
    for (row, (impulse, velocity)) in impulses.iter().zip(velocities).enumerate() {
        let (contact, k) = (row / r.problem.dim, row % r.problem.dim);
        let component = ["n", "t1", "t2"][k];
        writeln!(out, "{contact:>7} {component:>4} {:>24} {:>24}", format!("{impulse:?}"), format!("{velocity:?}"))?;
    }
    Ok(())
}

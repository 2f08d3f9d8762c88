//! `stiction solve` on a contact problem: solve under a model, certify, report.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use stiction_contact::models::catalog;
use stiction_contact::{
    ContactForces, ContactOutcome, ContactProblem, ContactStats, Level, ModelOptions, PhysicalCertificate,
};
use stiction_lcp::Options;

use crate::args::SolveArgs;
use crate::output::Failure;
use crate::report::aligned;

/// Up to this many contacts, rows or velocities are printed.
const MOST_PRINTED: usize = 12;

/// What is reported.
#[derive(Serialize, Default)]
struct Report<'a> {
    problem: Problem<'a>,
    model: &'a str,
    level: &'static str,
    outcome: &'static str,
    claim: Option<String>,
    why: Option<String>,
    forces: Option<Forces<'a>>,
    motion: Option<&'a [f64]>,
    modes: Option<Vec<String>>,
    certificate: Option<Certificate>,
    tolerance: f64,
    islands: usize,
    guessed: usize,
    pivots: usize,
    time_us: f64,
}

#[derive(Serialize, Default)]
struct Problem<'a> {
    kind: &'static str,
    m: usize,
    contacts: usize,
    bilateral: usize,
    limits: usize,
    bounded: usize,
    dt: f64,
    file: &'a str,
}

/// One number per row: impulses (N s) or forces (N).
#[derive(Serialize)]
struct Forces<'a> {
    normal: &'a [f64],
    tangent_s: &'a [f64],
    tangent_t: &'a [f64],
    spin: &'a [f64],
    roll_s: &'a [f64],
    roll_t: &'a [f64],
    bilateral: &'a [f64],
    limit: &'a [f64],
    bounded: &'a [f64],
}

#[derive(Serialize)]
struct Certificate {
    worst: f64,
    place: String,
    momentum: f64,
    bilateral: f64,
    signorini: f64,
    friction: f64,
    bounded: f64,
    work: f64,
    energy: f64,
    inconsistency: f64,
}

/// Runs the command on a contact problem; true if it was solved.
pub(crate) fn run(
    args: &SolveArgs,
    problem: &ContactProblem,
    name: &str,
    options: &Options,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let solver = args.solver != "auto";
    for (given, flag) in [
        (args.exact, "--exact"),
        (args.trace, "--trace"),
        (args.start.is_some(), "--start"),
        (args.max_flops.is_some(), "--max-flops"),
        (solver, "--solver"),
    ] {
        if given {
            return Err(Failure::Message(format!(
                "{name}: {flag} is for complementarity problems; this is a contact problem"
            )));
        }
    }
    let model = args.model.unwrap_or_default();
    let options = ModelOptions { tolerance: options.tolerance, max_pivots: options.max_pivots, ..Default::default() };
    let mut solver = catalog::build(model, &options)?;
    let clock = Instant::now();
    let outcome = solver.solve(problem)?;
    let time = clock.elapsed();
    let mut report = report(&outcome);
    report.time_us = (time.as_secs_f64() * 1e7).round() / 10.0;
    report.model = model.name();
    report.level = if solver.level() == Level::Velocity { "velocity" } else { "acceleration" };
    report.tolerance = options.tolerance;
    report.problem = Problem {
        kind: "contact",
        m: problem.m(),
        contacts: problem.contacts().len(),
        bilateral: problem.bilaterals().rows.len(),
        limits: problem.limits().rows.len(),
        bounded: problem.bounded().rows.len(),
        dt: problem.dt(),
        file: name,
    };
    if args.json {
        let text = serde_json::to_string(&report).map_err(io::Error::other)?;
        writeln!(out, "{text}")?;
    } else {
        print(&report, out)?;
    }
    Ok(outcome.solved().is_some())
}

/// What an outcome says.
fn report(outcome: &ContactOutcome) -> Report<'_> {
    let mut report = Report { outcome: outcome.name(), ..Report::default() };
    match outcome {
        ContactOutcome::Solved(s) => {
            report.modes = Some(s.modes.iter().map(ToString::to_string).collect());
            answer(&mut report, &s.forces, &s.motion, &s.certificate, &s.stats);
        }
        ContactOutcome::Failed(f) => {
            report.why = Some(f.why.clone());
            let best = &f.best;
            answer(&mut report, &best.forces, &best.motion, &best.certificate, &best.stats);
        }
        ContactOutcome::Infeasible(i) => {
            let speed = i.least_speed;
            report.claim = Some(format!("no motion satisfies the rows; any would need {speed:.1e} times the speed"));
            report.forces = Some(forces(&i.multipliers));
            report.pivots = i.stats.pivots;
        }
        ContactOutcome::NoSolution(n) => {
            report.claim = Some(format!("the law has no solution for island {}: {}", n.island, n.proof));
            report.pivots = n.stats.pivots;
        }
        ContactOutcome::Ray(r) => {
            report.claim = Some(r.claim.clone());
            report.forces = Some(forces(&r.direction));
            report.pivots = r.stats.pivots;
        }
    }
    report
}

fn answer<'a>(
    report: &mut Report<'a>,
    all: &'a ContactForces,
    motion: &'a [f64],
    c: &PhysicalCertificate,
    stats: &ContactStats,
) {
    report.forces = Some(forces(all));
    report.motion = Some(motion);
    report.certificate = Some(Certificate {
        worst: c.largest(),
        place: c.worst.to_string(),
        momentum: c.momentum,
        bilateral: c.bilateral,
        signorini: c.signorini,
        friction: c.friction,
        bounded: c.bounded,
        work: c.work,
        energy: c.energy,
        inconsistency: c.inconsistency,
    });
    (report.islands, report.guessed, report.pivots) = (stats.islands, stats.guessed, stats.pivots);
}

fn forces(f: &ContactForces) -> Forces<'_> {
    Forces {
        normal: &f.normal,
        tangent_s: &f.tangent_s,
        tangent_t: &f.tangent_t,
        spin: &f.spin,
        roll_s: &f.roll_s,
        roll_t: &f.roll_t,
        bilateral: &f.bilateral,
        limit: &f.limit,
        bounded: &f.bounded,
    }
}

/// The report for people.
fn print(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let p = &r.problem;
    let rows =
        [(p.contacts, "contacts"), (p.bilateral, "bilateral rows"), (p.limits, "limits"), (p.bounded, "bounded rows")];
    let rows: Vec<String> = rows.iter().filter(|r| r.0 > 0).map(|(count, what)| format!(", {count} {what}")).collect();
    let mut lines = vec![
        ("file", p.file.to_string()),
        ("problem", format!("contact, {} velocities{}, step {} s", p.m, rows.concat(), p.dt)),
        ("model", format!("{}, {} level", r.model, r.level)),
    ];
    let words = r.claim.as_ref().or(r.why.as_ref());
    lines.push(("outcome", words.map_or(r.outcome.to_string(), |w| format!("{}: {w}", r.outcome))));
    if let Some(c) = &r.certificate {
        let of = if r.outcome == "solved" { "" } else { ", of the best forces found" };
        lines.push(("certificate", format!("{:.2e} at {} (tolerance {:e}{of})", c.worst, c.place, r.tolerance)));
    }
    lines.extend(r.modes.as_ref().filter(|m| !m.is_empty()).map(|m| ("contacts", crate::friction::modes(m))));
    lines.push(("pivots", format!("{} in {} islands, {} of them guessed", r.pivots, r.islands, r.guessed)));
    lines.push(("time", format!("{:.1?}", Duration::from_secs_f64(r.time_us * 1e-6))));
    aligned(&lines, out)?;
    tables(r, out)
}

/// Forces and motion, if they are few.
fn tables(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(f) = &r.forces else { return Ok(()) };
    let what = if r.level == "velocity" { ["impulse (N s)", "velocity"] } else { ["force (N)", "acceleration"] };
    let few = |n: usize| n <= MOST_PRINTED;
    if !(few(f.normal.len()) && few(r.problem.m) && few(f.bilateral.len() + f.limit.len() + f.bounded.len())) {
        return writeln!(out, "\n--json prints all forces and the motion");
    }
    if !f.normal.is_empty() {
        writeln!(
            out,
            "\n{:>7} {:>6} {:>24} {:>24} {:>24}",
            "contact",
            "mode",
            format!("normal {}", what[0]),
            "tangent s",
            "tangent t"
        )?;
    }
    for i in 0..f.normal.len() {
        let mode = r.modes.as_ref().map_or("", |m| &m[i]);
        let [n, s, t] = [f.normal[i], f.tangent_s[i], f.tangent_t[i]].map(|x| format!("{x:?}"));
        writeln!(out, "{i:>7} {mode:>6} {n:>24} {s:>24} {t:>24}")?;
    }
    for (kind, forces) in [("bilateral", f.bilateral), ("limit", f.limit), ("bounded", f.bounded)] {
        for (i, x) in forces.iter().enumerate() {
            writeln!(out, "{:>14} {:>24}", format!("{kind} {i}"), format!("{x:?}"))?;
        }
    }
    for (i, x) in r.motion.unwrap_or(&[]).iter().enumerate() {
        let head = if i == 0 { format!("\n{} after the step\n", what[1]) } else { String::new() };
        writeln!(out, "{head}{i:>7} {:>24}", format!("{x:?}"))?;
    }
    Ok(())
}

//! What came out, for programs: one JSON object. A number that JSON has no word for is null.

use std::io::{self, Write};

use serde::Serialize;
use stiction_lcp::{Outcome, Proof};

use crate::checks::Exact;
use crate::report::Report;

#[derive(Serialize)]
struct Problem<'a> {
    kind: &'static str,
    n: usize,
    file: &'a str,
}

#[derive(Serialize)]
struct Attempt<'a> {
    solver: &'a str,
    ended: &'a str,
}

/// The vector that shows why there is no solution, or the ray that was met.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Evidence<'a> {
    Farkas { y: &'a [f64] },
    Ray { direction: &'a [f64], class: Option<String> },
    Enumeration { bases: u64 },
}

#[derive(Serialize)]
struct Object<'a> {
    problem: Problem<'a>,
    class: Option<String>,
    solver: &'static str,
    outcome: &'static str,
    claim: Option<String>,
    why: Option<String>,
    z: Option<&'a [f64]>,
    w: Option<&'a [f64]>,
    basis: Option<String>,
    residual: Option<f64>,
    backward_error: Option<f64>,
    rounding_limit: Option<f64>,
    limited_by_precision: Option<bool>,
    worst_row: Option<usize>,
    tolerance: f64,
    exact: Option<bool>,
    exact_amount: Option<&'a str>,
    exact_row: Option<usize>,
    best_z: Option<&'a [f64]>,
    evidence: Option<Evidence<'a>>,
    pivots: usize,
    iterations: usize,
    refactorizations: usize,
    restarts: usize,
    flops: u64,
    time_us: f64,
    attempts: Vec<Attempt<'a>>,
}

/// Prints the object and a line break.
pub(crate) fn print(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(&object(r)).map_err(io::Error::other)?;
    writeln!(out, "{text}")
}

fn object<'a>(r: &'a Report<'_>) -> Object<'a> {
    let (solved, stats, certificate) = (r.outcome.solved(), r.outcome.stats(), r.certificate());
    let best_z = match r.outcome {
        Outcome::Stopped(o) => Some(&o.z[..]),
        _ => None,
    };
    let (exact_row, exact_amount) = match &r.exact {
        Some(Exact::Violated { row, amount }) => (Some(*row), Some(&amount[..])),
        _ => (None, None),
    };
    Object {
        problem: Problem { kind: r.problem.kind(), n: r.problem.n(), file: &r.file },
        class: r.class.map(|class| class.to_string()),
        solver: r.solver,
        outcome: r.outcome.name(),
        claim: r.claim(),
        why: r.why(),
        z: solved.map(|s| &s.z[..]),
        w: solved.map(|s| &s.w[..]),
        basis: solved.map(|s| s.basis.to_string()),
        residual: certificate.map(|c| c.residual),
        backward_error: certificate.map(|c| c.backward_error),
        rounding_limit: certificate.map(|c| c.rounding_limit),
        limited_by_precision: solved.map(|s| s.limited_by_precision),
        worst_row: certificate.and_then(|c| c.worst_row),
        tolerance: r.options.tolerance,
        exact: r.exact.as_ref().map(|e| *e == Exact::Proven),
        exact_amount,
        exact_row,
        best_z,
        evidence: evidence(r.outcome),
        pivots: stats.pivots,
        iterations: stats.iterations,
        refactorizations: stats.refactorizations,
        restarts: stats.restarts,
        flops: stats.flops,
        time_us: (r.time.as_secs_f64() * 1e7).round() / 10.0,
        attempts: stats.attempts.iter().map(|a| Attempt { solver: a.solver, ended: &a.ended }).collect(),
    }
}

fn evidence(outcome: &Outcome) -> Option<Evidence<'_>> {
    match outcome {
        Outcome::Unsolvable(o) => Some(match &o.proof {
            Proof::Farkas(y) => Evidence::Farkas { y },
            Proof::Ray { direction, class } => Evidence::Ray { direction, class: Some(class.to_string()) },
            Proof::Enumeration { bases } => Evidence::Enumeration { bases: *bases },
        }),
        Outcome::Ray(o) => Some(Evidence::Ray { direction: &o.direction, class: None }),
        Outcome::Solved(_) | Outcome::Stopped(_) => None,
    }
}

//! What came out, for people: aligned lines, then z and w of a small problem.

use std::io::{self, Write};
use std::time::Duration;

use stiction_lcp::outcome::Stats;
use stiction_lcp::{Certificate, MatrixClass, Options, Outcome, ProblemRef};

use crate::checks::Exact;

/// All that is reported about a solve.
pub(crate) struct Report<'a> {
    /// The file as given.
    pub file: String,
    /// The problem.
    pub problem: ProblemRef<'a>,
    /// The class of its matrix, if known.
    pub class: Option<MatrixClass>,
    /// The solver's name.
    pub solver: &'static str,
    /// The solver's options.
    pub options: &'a Options,
    /// What came out.
    pub outcome: &'a Outcome,
    /// Whether the basis was to be re-checked.
    pub exact_asked: bool,
    /// What exact arithmetic says about the basis.
    pub exact: Option<Exact>,
    /// Time of the solve.
    pub time: Duration,
}

impl Report<'_> {
    /// The certificate of the solution, or of the best iterate.
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        match self.outcome {
            Outcome::Solved(o) => Some(&o.certificate),
            Outcome::Stopped(o) => Some(&o.certificate),
            Outcome::Unsolvable(_) | Outcome::Ray(_) => None,
        }
    }

    /// What an outcome without a solution claims.
    pub(crate) fn claim(&self) -> Option<String> {
        match self.outcome {
            Outcome::Unsolvable(o) => Some(o.proof.to_string()),
            Outcome::Ray(o) => Some(o.claim.clone()),
            Outcome::Solved(_) | Outcome::Stopped(_) => None,
        }
    }

    /// Why it stopped.
    pub(crate) fn why(&self) -> Option<String> {
        match self.outcome {
            Outcome::Stopped(o) => Some(o.why.to_string()),
            _ => None,
        }
    }
}

/// Up to this order z and w are printed.
const MOST_PRINTED: usize = 20;
/// Up to this order the basis is printed.
const BASIS_LINE: usize = 100;

/// Prints the report.
pub(crate) fn print(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = vec![("file", r.file.clone()), ("problem", size(r.problem))];
    lines.extend(r.class.map(|class| ("matrix", class.to_string())));
    lines.push(("solver", solver(r.solver, r.outcome.stats())));
    lines.push(("outcome", outcome(r)));
    if let Some(c) = r.certificate() {
        let of = if r.outcome.solved().is_some() { "" } else { ", of the best iterate" };
        lines.push(("residual", format!("{:.2e} (tolerance {:e}{of})", c.residual, r.options.tolerance)));
        let row = c.worst_row.map_or(String::new(), |row| format!(" (worst row {row})"));
        lines.push(("backward error", format!("{:.2e}{row}", c.backward_error)));
        if c.limited_by_precision(r.options.tolerance) {
            let limit = format!("rounding z alone may leave a residual of {:.2e}", c.rounding_limit);
            lines.push(("limited", format!("by double precision: {limit}")));
        }
    }
    if r.exact_asked {
        lines.push(("exact", exact(r)));
    }
    if let Some(solved) = r.outcome.solved().filter(|s| !s.basis.is_empty() && s.basis.len() <= BASIS_LINE) {
        lines.push(("basis", solved.basis.to_string()));
    }
    lines.push(("pivots", counts(r.outcome.stats())));
    lines.push(("time", format!("{:.1?}", r.time)));
    aligned(&lines, out)?;
    vectors(r, out)
}

/// Lines with their names in a column.
pub(crate) fn aligned(lines: &[(&str, String)], out: &mut dyn Write) -> io::Result<()> {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().try_for_each(|(name, value)| writeln!(out, "{name:width$}  {value}"))
}

/// `mlcp, n = 32, 20 free`.
fn size(problem: ProblemRef<'_>) -> String {
    let more = match problem {
        ProblemRef::Mlcp(p) => format!(", {} free", p.free().iter().filter(|f| **f).count()),
        ProblemRef::Factored(p) => format!(", G is {} × {}", p.g().rows(), p.g().cols()),
        ProblemRef::Lcp(_) | ProblemRef::Box(_) => String::new(),
    };
    format!("{}, n = {}{more}", problem.kind(), problem.n())
}

/// `auto: dantzig (cycles), lemke (ray) 3 times`.
fn solver(name: &str, stats: &Stats) -> String {
    let mut tried: Vec<(String, usize)> = Vec::new();
    for attempt in &stats.attempts {
        let words = format!("{} ({})", attempt.solver, attempt.ended);
        match tried.last_mut() {
            Some((last, count)) if *last == words => *count += 1,
            _ => tried.push((words, 1)),
        }
    }
    let tried = tried.iter().map(|(words, n)| if *n == 1 { words.clone() } else { format!("{words} {n} times") });
    let tried = tried.collect::<Vec<_>>().join(", ");
    if tried.is_empty() { name.to_string() } else { format!("{name}: {tried}") }
}

fn outcome(r: &Report<'_>) -> String {
    let name = r.outcome.name();
    r.claim().or_else(|| r.why()).map_or(name.to_string(), |words| format!("{name}: {words}"))
}

fn exact(r: &Report<'_>) -> String {
    match &r.exact {
        Some(Exact::Proven) => "proven".into(),
        Some(Exact::Violated { row, amount }) => format!("violated in row {row} by {amount}"),
        Some(Exact::Singular) => "the basis is singular".into(),
        None if r.outcome.solved().is_none() => "there is no basis to check".into(),
        None => "not checked".into(),
    }
}

fn counts(stats: &Stats) -> String {
    let more =
        [("iterations", stats.iterations), ("refactorizations", stats.refactorizations), ("restarts", stats.restarts)];
    let more = more.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!(", {count} {name}"));
    format!("{}{}", stats.pivots, more.collect::<String>())
}

/// z and w side by side, if they are short.
fn vectors(r: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(solved) = r.outcome.solved() else { return Ok(()) };
    let n = solved.z.len();
    if n == 0 {
        return Ok(());
    }
    if n > MOST_PRINTED {
        return writeln!(out, "\nz and w have {n} entries each; --json prints them");
    }
    writeln!(out, "\n{:>4} {:>24} {:>24}", "row", "z", "w")?;
    for i in 0..n {
        writeln!(out, "{i:>4} {:>24} {:>24}", format!("{:?}", solved.z[i]), format!("{:?}", solved.w[i]))?;
    }
    Ok(())
}

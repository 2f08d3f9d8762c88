//! `stiction solve --list`: the solvers, and when to use which.

use std::io::{self, Write};

use serde_json::json;
use stiction_contact::models::catalog::CATALOG as MODELS;
use stiction_lcp::catalog::{CATALOG, Entry};

/// Prints the table: two lines per solver.
pub(crate) fn print(out: &mut dyn Write) -> io::Result<()> {
    let width = |column: fn(&Entry) -> &str| CATALOG.iter().map(|e| column(e).chars().count()).max().unwrap_or(0);
    let (name, takes) = (width(|e| e.name), width(|e| e.takes));
    writeln!(out, "{:name$}  {:takes$}  when to use it, and what it is", "solver", "takes")?;
    for e in &CATALOG {
        writeln!(out, "{:name$}  {:takes$}  {}", e.name, e.takes, e.when)?;
        writeln!(out, "{:name$}  {:takes$}    {}", "", "", e.summary)?;
    }
    writeln!(out)?;
    writeln!(out, "lcp       0 ≤ z ⊥ M z + q ≥ 0")?;
    writeln!(out, "mlcp      the same, but some rows are equations with a free variable")?;
    writeln!(out, "box       lo ≤ z ≤ hi instead of z ≥ 0; a relay problem where both are finite")?;
    writeln!(out, "factored  M = Gᵀ G, never formed")?;
    writeln!(out)?;
    writeln!(out, "Friction problems are solved under a model, --model NAME:")?;
    let name = MODELS.iter().map(|e| e.name.len()).max().unwrap_or(0);
    for e in MODELS.iter().filter(|e| e.needs_only_delassus) {
        writeln!(out, "{:name$}  {}; {}", e.name, e.law, e.when)?;
    }
    let others: Vec<&str> = MODELS.iter().filter(|e| !e.needs_only_delassus).map(|e| e.name).collect();
    writeln!(out, "({} need mass and Jacobians, which files do not have)", others.join(", "))?;
    writeln!(out)?;
    writeln!(out, "Every answer is certified: its residuals are computed from the problem and z alone.")
}

/// The same as one JSON object.
pub(crate) fn print_json(out: &mut dyn Write) -> io::Result<()> {
    let solver = |e: &Entry| json!({ "name": e.name, "takes": e.takes, "when": e.when, "summary": e.summary });
    let solvers: Vec<_> = CATALOG.iter().map(solver).collect();
    let models: Vec<_> = MODELS.iter().map(|e| json!({ "name": e.name, "law": e.law, "when": e.when })).collect();
    writeln!(out, "{}", json!({ "solvers": solvers, "models": models }))
}

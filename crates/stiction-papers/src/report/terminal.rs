//! What an experiment found, for a terminal.

use std::fmt::Write;

use super::{Run, csv, number};
use crate::{Cell, Table, Verdict};

/// Tables, then claims.
pub(super) fn run(run: &Run) -> String {
    let mut text = format!("{}: {} ({:.1} s)\n", run.name, run.title, run.seconds);
    for one in &run.section.tables {
        let _ = write!(text, "\n{}\n{}", one.title, table(one));
    }
    if !run.section.claims.is_empty() {
        text.push('\n');
    }
    for claim in &run.section.claims {
        let (mark, why) = match &claim.verdict {
            Verdict::Holds => ("holds", ""),
            Verdict::Better => ("better", ""),
            Verdict::DoesNotHold(why) => ("NOT", why.as_str()),
        };
        let _ = writeln!(text, "{mark:<7} {}", claim.claim);
        let _ = writeln!(text, "        paper: {}; ours: {}", claim.paper_value, claim.ours);
        let _ = writeln!(text, "        rule: {}", claim.rule);
        if !why.is_empty() {
            let _ = writeln!(text, "        why: {why}");
        }
    }
    text
}

/// Columns of equal width, numbers to the right.
fn table(table: &Table) -> String {
    let headings: Vec<String> = table.columns.iter().map(csv::heading).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(number::cell).collect()).collect();
    let cell = |row: &Vec<String>, k: usize| row.get(k).map_or(0, |c| c.chars().count());
    let width = |k: usize| rows.iter().map(|r| cell(r, k)).max().unwrap_or(0).max(headings[k].chars().count());
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let right: Vec<bool> = (0..headings.len()).map(|k| is_number(table, k)).collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(&rows) {
        let mut line = String::new();
        for (k, cell) in row.iter().enumerate().take(widths.len()) {
            let width = widths[k];
            let _ = if right[k] { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:<width$}  ") };
        }
        let _ = writeln!(text, "  {}", line.trim_end());
    }
    text
}

/// True if a column has numbers and no words.
pub(super) fn is_number(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column)).filter(|c| **c != Cell::Empty).peekable();
    cells.peek().is_some() && cells.all(|c| matches!(c, Cell::Number(_) | Cell::Count(_)))
}

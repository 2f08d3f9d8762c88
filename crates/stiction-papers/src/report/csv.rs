//! Tables and the data of plots as CSV (RFC 4180), every number with all of its digits.

use crate::{Cell, Plot, Table};

/// A table: a line of headings with units, then its rows.
pub(super) fn table(table: &Table) -> String {
    let mut text = line(table.columns.iter().map(heading));
    for row in &table.rows {
        text += &line(row.iter().map(|cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(x) => number(*x),
            Cell::Count(n) => n.to_string(),
            Cell::Empty => String::new(),
        }));
    }
    text
}

/// A column's name with its unit.
pub(super) fn heading(column: &crate::Column) -> String {
    if column.unit.is_empty() { column.name.clone() } else { format!("{} ({})", column.name, column.unit) }
}

/// A plot's data: a line per point.
pub(super) fn plot(plot: &Plot) -> String {
    let or = |label: &str, other: &str| if label.is_empty() { other.to_string() } else { label.to_string() };
    let mut text = line(["series".into(), "from".into(), or(&plot.x.label, "x"), or(&plot.y.label, "y")]);
    for series in &plot.series {
        let from = if series.paper { "paper" } else { "ours" };
        for (x, y) in &series.points {
            text += &line([series.name.clone(), from.into(), number(*x), number(*y)]);
        }
    }
    text
}

/// All digits; nothing where there is no number.
fn number(x: f64) -> String {
    if x.is_nan() { String::new() } else { x.to_string() }
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\r\n"
}

fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

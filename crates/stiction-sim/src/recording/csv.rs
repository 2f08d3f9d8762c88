//! A recording as tables of text.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::header::Header;
use super::read::Recording;
use super::rows::Rows;

/// Writes two tables: states (a line per row) and contacts (a line per contact of each step), each with its names in the first line;
/// `docs/recordings.md` says what they mean. The names are those of [`export_npz`](super::export_npz), those of columns of an array with the
/// column's after them, and nothing but letters, digits and underscores.
///
/// # Errors
/// Of the writers.
pub fn export_csv(
    recording: &Recording,
    rows: &Rows,
    mut states: impl Write,
    mut contacts: impl Write,
) -> io::Result<()> {
    let header = recording.header();
    writeln!(states, "{}", columns(header).join(","))?;
    (0..rows.t.len()).try_for_each(|i| state_line(rows, i, header, &mut states))?;
    writeln!(contacts, "{}", contact_columns().join(","))?;
    for step in recording.steps() {
        for (i, row) in step.contact_rows(header).enumerate() {
            write!(contacts, "{},{:?},{i}", step.number(), step.state.t)?;
            let [a, b] = row.geoms;
            for name in [header.body(a), header.body(b), &header.geom(a), &header.geom(b)] {
                write!(contacts, ",{}", quoted(name))?;
            }
            write!(contacts, ",{},{}", row.feature, row.mode)?;
            numbers(&mut contacts, &[row.gap])?;
            numbers(&mut contacts, &row.point)?;
            row.frame.iter().try_for_each(|axis| numbers(&mut contacts, axis))?;
            numbers(&mut contacts, &[row.normal_force])?;
            numbers(&mut contacts, &row.friction_force)?;
            numbers(&mut contacts, &[row.spin_moment])?;
            numbers(&mut contacts, &row.rolling_moment)?;
            numbers(&mut contacts, &row.force)?;
            writeln!(contacts)?;
        }
    }
    states.flush()?;
    contacts.flush()
}

/// The names of the columns of states.
fn columns(header: &Header) -> Vec<String> {
    let plain = [
        "step",
        "t",
        "certificate",
        "accepted",
        "pivots",
        "factorizations",
        "contacts",
        "normal_force",
        "slip",
        "kinetic",
        "potential",
    ];
    let mut names: Vec<String> = plain.map(str::to_string).into();
    names.extend(header.q.iter().map(|name| format!("q_{name}")));
    names.extend(header.v.iter().map(|name| format!("v_{name}")));
    for (array, axes) in [("positions", &["x", "y", "z"][..]), ("orientations", &["w", "x", "y", "z"])] {
        names
            .extend(header.links.iter().flat_map(|body| axes.iter().map(move |axis| format!("{array}_{body}_{axis}"))));
    }
    plain_and_single(&names)
}

/// Names of letters, digits and underscores, each there once: a number after those that are not.
fn plain_and_single(names: &[String]) -> Vec<String> {
    let mut used = BTreeSet::new();
    let plain = |name: &String| name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let single = |name: String| {
        let numbered = (2..).map(|i| format!("{name}_{i}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| used.insert(name.clone()));
        free.unwrap_or(name)
    };
    names.iter().map(plain).map(single).collect()
}

fn contact_columns() -> Vec<String> {
    let names = ["step", "t", "contact", "body_a", "body_b", "geom_a", "geom_b", "feature", "mode", "gap"];
    let mut all: Vec<String> = names.map(str::to_string).into();
    let mut vector = |name: &str, axes: &[&str]| all.extend(axes.iter().map(|axis| format!("{name}_{axis}")));
    let (axes, tangents) = (["x", "y", "z"], ["s", "t"]);
    ["point", "normal", "tangent_s", "tangent_t"].iter().for_each(|name| vector(name, &axes));
    all.push("normal_force".into());
    all.extend(tangents.map(|axis| format!("friction_force_{axis}")));
    all.push("spin_moment".into());
    all.extend(tangents.map(|axis| format!("rolling_moment_{axis}")));
    all.extend(axes.map(|axis| format!("force_{axis}")));
    all
}

fn state_line(rows: &Rows, i: usize, header: &Header, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{},{:?},{:?}", rows.step[i], rows.t[i], rows.certificate[i])?;
    let counts = [rows.pivots[i], rows.factorizations[i], rows.contacts[i]];
    write!(out, ",{},{},{},{}", u8::from(rows.accepted[i]), counts[0], counts[1], counts[2])?;
    numbers(out, &[rows.normal_force[i], rows.slip[i], rows.kinetic[i], rows.potential[i]])?;
    let bodies = header.links.len();
    let arrays = [
        (&rows.q, header.q.len()),
        (&rows.v, header.v.len()),
        (&rows.positions, 3 * bodies),
        (&rows.orientations, 4 * bodies),
    ];
    arrays.into_iter().try_for_each(|(array, size)| numbers(out, &array[i * size..(i + 1) * size]))?;
    writeln!(out)
}

/// Numbers with all their digits, a comma before each.
fn numbers(out: &mut impl Write, numbers: &[f64]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| write!(out, ",{x:?}"))
}

/// A name as it can stand in a table.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_each_there_once() {
        let names = ["q_a/b.x", "q_a_b_x", "q_a.b x", "q_ä", "t"].map(str::to_string);
        assert_eq!(plain_and_single(&names), ["q_a_b_x", "q_a_b_x_2", "q_a_b_x_3", "q__", "t"]);
    }
}

//! A recording as arrays of NumPy.

use std::io::{self, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::contact::ContactRow;
use super::read::Recording;
use super::rows::Rows;

/// Writes an `.npz` archive: the arrays of [`Rows`] under their names, with those of the contacts of all steps, and the names of what is in them.
///
/// | array | shape | what |
/// |---|---|---|
/// | `step`, `t` | k | number (from 0) and time at the end (s) of each recorded step; before them the state before the first, as step −1 |
/// | `q`, `v` | k × nq, k × nv | state after it |
/// | `positions`, `orientations` | k × bodies × 3, 4 | origins of the bodies (m), quaternions w, x, y, z |
/// | `kinetic`, `potential` | k | energies (J) |
/// | `certificate`, `accepted` | k | largest measure of its certificate; whether it was accepted without being certified |
/// | `pivots`, `factorizations` | k | pivots or iterations; linear systems that were factored |
/// | `contacts`, `normal_force`, `slip` | k | contacts with a force, sum of their normal forces (N), largest slip speed (m/s) |
/// | `contact_step` | c | the step each contact belongs to |
/// | `contact_body_a`, `contact_body_b` | c | its bodies by their number in `bodies`; −1 is the world |
/// | `contact_geom_a`, `contact_geom_b`, `contact_feature` | c | its geoms by number, and which of their features touch |
/// | `contact_point`, `contact_frame` | c × 3, c × 3 × 3 | where it is (m); unit normal from the first body to the second, two tangents |
/// | `contact_gap`, `contact_mode` | c | signed distance (m); 0 open, 1 stick, 2 slide |
/// | `contact_normal_force`, `contact_friction_force` | c, c × 2 | along the normal and along the tangents (N), averaged over the step |
/// | `contact_spin_moment`, `contact_rolling_moment` | c, c × 2 | about the normal and about the tangents (N m) |
/// | `contact_force` | c × 3 | on the second body (N), world axes |
/// | `bodies`, `q_names`, `v_names` | | names |
/// | `dt` | | the step (s) |
///
/// # Errors
/// Of the writer.
pub fn export_npz(recording: &Recording, rows: &Rows, out: impl Write + Seek) -> io::Result<()> {
    let header = recording.header();
    let mut zip = ZipWriter::new(out);
    let (k, bodies) = (rows.t.len(), header.links.len());
    for (name, shape, x) in [
        ("dt", &[][..], &[header.settings.dt][..]),
        ("t", &[k], &rows.t),
        ("q", &[k, header.q.len()], &rows.q),
        ("v", &[k, header.v.len()], &rows.v),
        ("positions", &[k, bodies, 3], &rows.positions),
        ("orientations", &[k, bodies, 4], &rows.orientations),
        ("kinetic", &[k], &rows.kinetic),
        ("potential", &[k], &rows.potential),
        ("certificate", &[k], &rows.certificate),
        ("normal_force", &[k], &rows.normal_force),
        ("slip", &[k], &rows.slip),
    ] {
        numbers(&mut zip, name, shape, x.iter())?;
    }
    let counts = [
        ("step", &rows.step),
        ("pivots", &rows.pivots),
        ("factorizations", &rows.factorizations),
        ("contacts", &rows.contacts),
    ];
    counts.into_iter().try_for_each(|(name, x)| integers(&mut zip, name, x.iter().copied()))?;
    array(&mut zip, "accepted", "|b1", &[k], rows.accepted.iter().map(|x| [u8::from(*x)]))?;
    let mut touching = vec![];
    for step in recording.steps() {
        touching.extend(step.contact_rows(header).map(|row| (step.number() as i64, row)));
    }
    contacts(&mut zip, &touching)?;
    for (name, words) in [("bodies", &header.links), ("q_names", &header.q), ("v_names", &header.v)] {
        text_array(&mut zip, name, words)?;
    }
    zip.finish().map_err(io::Error::other)?.flush()
}

/// The arrays of the contacts, each with the step it belongs to.
fn contacts<W: Write + Seek>(zip: &mut ZipWriter<W>, all: &[(i64, ContactRow)]) -> io::Result<()> {
    let c = all.len();
    integers(zip, "contact_step", all.iter().map(|(step, _)| *step))?;
    let of = |name: &str, zip: &mut ZipWriter<W>, x: fn(&ContactRow) -> i64| {
        integers(zip, name, all.iter().map(|(_, row)| x(row)))
    };
    of("contact_body_a", zip, |row| row.bodies[0])?;
    of("contact_body_b", zip, |row| row.bodies[1])?;
    of("contact_geom_a", zip, |row| i64::from(row.geoms[0]))?;
    of("contact_geom_b", zip, |row| i64::from(row.geoms[1]))?;
    of("contact_mode", zip, |row| row.mode as i64)?;
    array(zip, "contact_feature", "<u8", &[c], all.iter().map(|(_, row)| row.feature.to_le_bytes()))?;
    let of = |name: &str, zip: &mut ZipWriter<W>, shape: &[usize], x: fn(&ContactRow) -> &[f64]| {
        numbers(zip, name, &[&[c], shape].concat(), all.iter().flat_map(|(_, row)| x(row)))
    };
    of("contact_point", zip, &[3], |row| &row.point)?;
    of("contact_frame", zip, &[3, 3], |row| row.frame.as_flattened())?;
    of("contact_gap", zip, &[], |row| std::slice::from_ref(&row.gap))?;
    of("contact_normal_force", zip, &[], |row| std::slice::from_ref(&row.normal_force))?;
    of("contact_friction_force", zip, &[2], |row| &row.friction_force)?;
    of("contact_spin_moment", zip, &[], |row| std::slice::from_ref(&row.spin_moment))?;
    of("contact_rolling_moment", zip, &[2], |row| &row.rolling_moment)?;
    of("contact_force", zip, &[3], |row| &row.force)
}

fn numbers<'a, W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    shape: &[usize],
    x: impl Iterator<Item = &'a f64>,
) -> io::Result<()> {
    array(zip, name, "<f8", shape, x.map(|x| x.to_le_bytes()))
}

fn integers<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    x: impl ExactSizeIterator<Item = i64>,
) -> io::Result<()> {
    array(zip, name, "<i8", &[x.len()], x.map(i64::to_le_bytes))
}

/// An array of elements of so many bytes.
fn array<const BYTES: usize, W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    descr: &str,
    shape: &[usize],
    elements: impl Iterator<Item = [u8; BYTES]>,
) -> io::Result<()> {
    start(zip, name, descr, shape)?;
    let bytes: Vec<u8> = elements.flatten().collect();
    zip.write_all(&bytes)
}

/// An array of words, each as long as the longest, in UTF-32.
fn text_array<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str, words: &[String]) -> io::Result<()> {
    let longest = words.iter().map(|w| w.chars().count()).max().unwrap_or(0).max(1);
    start(zip, name, &format!("<U{longest}"), &[words.len()])?;
    let padded = |w: &String| w.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest).collect::<Vec<u32>>();
    let bytes: Vec<u8> = words.iter().flat_map(padded).flat_map(u32::to_le_bytes).collect();
    zip.write_all(&bytes)
}

/// The header of an array: magic, version 1.0, and a dictionary padded to a multiple of 64 bytes.
fn start<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str, descr: &str, shape: &[usize]) -> io::Result<()> {
    // Beyond 4 GiB a zip needs its larger form, which must be known beforehand.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)?;
    let shape = shape.iter().map(|n| format!("{n},")).collect::<String>();
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length are 10 bytes; the line break counts, too.
    while (10 + dict.len() + 1) % 64 != 0 {
        dict.push(' ');
    }
    dict.push('\n');
    zip.write_all(b"\x93NUMPY\x01\x00")?;
    zip.write_all(&(dict.len() as u16).to_le_bytes())?;
    zip.write_all(dict.as_bytes())
}

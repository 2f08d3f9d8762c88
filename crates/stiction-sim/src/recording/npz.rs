//! A recording as arrays of NumPy.

use std::io::{self, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::csv::WorldForce;
use super::read::Recording;

/// Writes an `.npz` archive.
///
/// | array | shape | what |
/// |---|---|---|
/// | `step`, `t` | N | number (from 0) and time at the end (s) of each recorded step |
/// | `q`, `v` | N × nq, N × nv | state after it |
/// | `certificate`, `accepted` | N | largest measure of its certificate; 1 if it was accepted without being certified |
/// | `pivots`, `factorizations` | N | pivots or iterations; linear systems that were factored |
/// | `contact_step` | C | the step each contact belongs to |
/// | `contact_bodies` | C × 2 | its bodies by their number in `links`; −1 is the world |
/// | `contact_point`, `contact_normal` | C × 3 | where it is (m); unit normal from the first body to the second |
/// | `contact_gap`, `contact_mode` | C | signed distance (m); 0 open, 1 stick, 2 slide |
/// | `contact_force_normal`, `contact_force_tangential` | C × 3 | force on the second body (N), along world axes, averaged over the step |
/// | `contact_moment` | C | moment on the second body about the normal (N m) |
/// | `contact_rolling_moment` | C × 3 | moment on the second body against rolling (N m), along world axes |
/// | `links`, `q_names`, `v_names` | | names |
/// | `dt` | | the step (s) |
///
/// # Errors
/// Of the writer.
pub fn export_npz(recording: &Recording, out: impl Write + Seek) -> io::Result<()> {
    let header = recording.header();
    let dt = header.settings.dt;
    let mut all = Arrays::default();
    for step in recording.steps() {
        all.step.push(step.number() as i64);
        all.pivots.push(step.pivots as i64);
        all.factorizations.push(step.factorizations as i64);
        all.accepted.push(i64::from(step.accepted));
        all.t.push(step.state.t);
        all.certificate.push(step.certificate.largest());
        all.q.extend_from_slice(&step.state.q);
        all.v.extend_from_slice(&step.state.v);
        for (i, contact) in step.contacts.iter().enumerate() {
            let link = |geom: u32| header.geoms.get(geom as usize).and_then(|g| g.link).map_or(-1, i64::from);
            all.contact_step.push(step.number() as i64);
            all.bodies.extend(contact.key.geoms.map(link));
            all.mode.push(contact.mode as i64);
            all.point.extend(contact.point);
            all.normal.extend(contact.normal);
            all.gap.push(contact.gap);
            let force = WorldForce::of(&step, i, dt);
            all.force_normal.extend(force.normal);
            all.force_tangential.extend(force.tangential);
            all.moment.push(force.moment);
            all.rolling.extend(force.rolling);
        }
    }
    let mut zip = ZipWriter::new(out);
    let (n, c) = (all.t.len(), all.gap.len());
    let mut integers =
        |name: &str, shape: &[usize], x: &[i64]| array(&mut zip, name, "<i8", shape, x.iter().map(|x| x.to_le_bytes()));
    integers("step", &[n], &all.step)?;
    integers("pivots", &[n], &all.pivots)?;
    integers("factorizations", &[n], &all.factorizations)?;
    integers("accepted", &[n], &all.accepted)?;
    integers("contact_step", &[c], &all.contact_step)?;
    integers("contact_bodies", &[c, 2], &all.bodies)?;
    integers("contact_mode", &[c], &all.mode)?;
    for (name, shape, x) in [
        ("dt", &[][..], &[dt][..]),
        ("t", &[n], &all.t),
        ("certificate", &[n], &all.certificate),
        ("q", &[n, header.q.len()], &all.q),
        ("v", &[n, header.v.len()], &all.v),
        ("contact_point", &[c, 3], &all.point),
        ("contact_normal", &[c, 3], &all.normal),
        ("contact_gap", &[c], &all.gap),
        ("contact_force_normal", &[c, 3], &all.force_normal),
        ("contact_force_tangential", &[c, 3], &all.force_tangential),
        ("contact_moment", &[c], &all.moment),
        ("contact_rolling_moment", &[c, 3], &all.rolling),
    ] {
        array(&mut zip, name, "<f8", shape, x.iter().map(|x| x.to_le_bytes()))?;
    }
    for (name, words) in [("links", &header.links), ("q_names", &header.q), ("v_names", &header.v)] {
        text_array(&mut zip, name, words)?;
    }
    zip.finish().map_err(io::Error::other)?.flush()
}

/// The numbers of all steps and contacts.
#[derive(Debug, Default)]
struct Arrays {
    step: Vec<i64>,
    pivots: Vec<i64>,
    factorizations: Vec<i64>,
    accepted: Vec<i64>,
    t: Vec<f64>,
    certificate: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    contact_step: Vec<i64>,
    bodies: Vec<i64>,
    mode: Vec<i64>,
    point: Vec<f64>,
    normal: Vec<f64>,
    gap: Vec<f64>,
    force_normal: Vec<f64>,
    force_tangential: Vec<f64>,
    moment: Vec<f64>,
    rolling: Vec<f64>,
}

/// An array of elements of 8 bytes.
fn array<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    descr: &str,
    shape: &[usize],
    elements: impl Iterator<Item = [u8; 8]>,
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

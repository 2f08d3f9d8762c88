//! A recording as tables of text.

use std::io::{self, Write};

use stiction_body::math::Vec3;
use stiction_contact::Level;

use super::read::Recording;
use super::step::RecordedStep;

/// Forces of a contact along world axes (N), on the second body; the first one has the opposite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorldForce {
    /// Along the normal.
    pub normal: [f64; 3],
    /// Along the tangent plane.
    pub tangential: [f64; 3],
    /// Moment about the normal (N m).
    pub moment: f64,
    /// Moment against rolling (N m), in the tangent plane.
    pub rolling: [f64; 3],
}

impl WorldForce {
    /// That of contact `i`: its impulse over the step `dt` (s), or its force at the end of the step.
    pub(super) fn of(step: &RecordedStep, i: usize, dt: f64) -> Self {
        let dt = if step.level == Level::Acceleration { 1.0 } else { dt };
        let n = Vec3::from_array(step.contacts[i].normal);
        let (s, t) = step.contacts[i].tangents();
        let p = &step.impulses;
        Self {
            normal: (n * (p.normal[i] / dt)).to_array(),
            tangential: (s * (p.tangent_s[i] / dt) + t * (p.tangent_t[i] / dt)).to_array(),
            moment: p.spin[i] / dt,
            rolling: (s * (p.roll_s[i] / dt) + t * (p.roll_t[i] / dt)).to_array(),
        }
    }
}

/// Writes two tables: states (a line per recorded step) and contacts (a line per contact of each), each with its names in the first
/// line; `docs/recordings.md` says what they mean.
///
/// # Errors
/// Of the writers.
pub fn export_csv(recording: &Recording, mut states: impl Write, mut contacts: impl Write) -> io::Result<()> {
    let header = recording.header();
    let dt = header.settings.dt;
    let names =
        |letter: &str, names: &[String]| names.iter().map(|n| quoted(&format!("{letter}:{n}"))).collect::<Vec<_>>();
    let columns = [
        "step".to_string(),
        "t".into(),
        "certificate".into(),
        "pivots".into(),
        "factorizations".into(),
        "accepted".into(),
    ];
    let columns = [&columns[..], &names("q", &header.q), &names("v", &header.v)].concat();
    writeln!(states, "{}", columns.join(","))?;
    writeln!(
        contacts,
        "step,t,contact,body_a,body_b,geom_a,geom_b,feature,mode,gap,x,y,z,nx,ny,nz,fn_x,fn_y,fn_z,ft_x,ft_y,ft_z,moment,mr_x,mr_y,mr_z"
    )?;
    for step in recording.steps() {
        write!(states, "{},{:?},{:?}", step.number(), step.state.t, step.certificate.largest())?;
        write!(states, ",{},{},{}", step.pivots, step.factorizations, u8::from(step.accepted))?;
        numbers(&mut states, step.state.q.iter().chain(&step.state.v))?;
        writeln!(states)?;
        for (i, contact) in step.contacts.iter().enumerate() {
            let [a, b] = contact.key.geoms;
            let f = WorldForce::of(&step, i, dt);
            write!(contacts, "{},{:?},{i}", step.number(), step.state.t)?;
            for name in [header.body(a), header.body(b), &header.geom(a), &header.geom(b)] {
                write!(contacts, ",{}", quoted(name))?;
            }
            write!(contacts, ",{},{}", contact.key.feature, contact.mode)?;
            let places = [contact.gap].into_iter().chain(contact.point).chain(contact.normal);
            let forces = f.normal.into_iter().chain(f.tangential).chain([f.moment]).chain(f.rolling);
            numbers(&mut contacts, places.chain(forces).collect::<Vec<_>>().iter())?;
            writeln!(contacts)?;
        }
    }
    states.flush()?;
    contacts.flush()
}

/// Numbers with all their digits, a comma before each.
fn numbers<'a>(out: &mut impl Write, numbers: impl Iterator<Item = &'a f64>) -> io::Result<()> {
    for x in numbers {
        write!(out, ",{x:?}")?;
    }
    Ok(())
}

/// A name as it can stand in a table.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

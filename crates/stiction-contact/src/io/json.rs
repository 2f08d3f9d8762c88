//! Friction problems in JSON: reading.

use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::json_values::{Fields, Infinite, Keys, Shape, has_key, read_fields};

use super::build::{self, Entries};
use super::{FrictionFile, Kind};

/// All keys.
const KEYS: Keys = &[
    ("kind", Shape::Text),
    ("name", Shape::Text),
    ("comment", Shape::Text),
    ("dim", Shape::Whole),
    ("W", Shape::Sparse),
    ("q", Shape::NUMBERS),
    ("mu", Shape::Numbers(Infinite::Words)),
    ("M", Shape::Sparse),
    ("H", Shape::Sparse),
    ("f", Shape::NUMBERS),
    ("b", Shape::NUMBERS),
];
/// The keys that complementarity problems do not have.
pub(super) const OWN_KEYS: [&str; 6] = ["dim", "W", "mu", "H", "f", "b"];

/// True if an object with this text is a friction problem: by what it is said to be, by its kind, or by its keys.
pub(super) fn is_friction(bytes: &[u8], asked: Option<Kind>) -> bool {
    let kinds = [Kind::Friction, Kind::GlobalFriction];
    asked.is_some_and(|asked| kinds.contains(&asked)) || has_key(bytes, &OWN_KEYS, &kinds.map(Kind::name))
}

/// The friction problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<FrictionFile, Fault> {
    let mut fields = read_fields(bytes, "a friction problem", KEYS, usize::MAX)?;
    let [kind, _, _] = ["kind", "name", "comment"].map(|key| fields.text(key));
    let kind = match kind.as_deref() {
        None if ["M", "H", "f", "b"].iter().any(|key| fields.has(key)) => Kind::GlobalFriction,
        None => Kind::Friction,
        Some(word) if word == Kind::Friction.name() => Kind::Friction,
        Some(word) if word == Kind::GlobalFriction.name() => Kind::GlobalFriction,
        Some(word) => {
            return Err(Fault::whole(format!(
                "kind: the keys are those of friction or global-friction, found {word:?}"
            )));
        }
    };
    let dim = fields.whole("dim");
    let problem = if kind == Kind::GlobalFriction {
        let (mass, h) = (matrix(&mut fields, "M")?, matrix(&mut fields, "H")?);
        let [f, b, mu] = ["f", "b", "mu"].map(|key| vector(&mut fields, key));
        let (f, b, mu) = (f?, b?, mu?);
        // A matrix without a row does not show its columns.
        let h = if h.rows == 0 && h.cols == 0 { Entries { cols: b.len(), ..h } } else { h };
        build::global(dim, mass, h, f, b, mu)?
    } else {
        build::local(dim, matrix(&mut fields, "W")?, vector(&mut fields, "q")?, vector(&mut fields, "mu")?)?
    };
    match fields.keys().next() {
        None => Ok(problem),
        Some(key) => Err(Fault::whole(format!("{key} has no place in a problem of kind {}", kind.name()))),
    }
}

fn matrix(fields: &mut Fields, key: &str) -> Result<Entries, Fault> {
    let (rows, cols, entries) = fields.sparse(key).ok_or_else(|| missing(key))?;
    Ok(Entries { rows, cols, entries })
}

fn vector(fields: &mut Fields, key: &str) -> Result<Vec<f64>, Fault> {
    fields.numbers(key).ok_or_else(|| missing(key))
}

fn missing(key: &str) -> Fault {
    Fault::whole(format!("{key} is missing"))
}

//! Friction problems in JSON: reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::json_values::{Infinite, Numbers, Row, Text, parse, unknown_key};

use super::build::{self, Entries};
use super::{FrictionFile, Kind};

/// All keys.
const KEYS: [&str; 11] = ["kind", "name", "comment", "dim", "W", "q", "mu", "M", "H", "f", "b"];
/// The keys that complementarity problems do not have.
pub(super) const OWN_KEYS: [&str; 6] = ["dim", "W", "mu", "H", "f", "b"];

/// True if an object with this text is a friction problem: by what it is said to be, by its kind, or by its keys.
pub(super) fn is_friction(bytes: &[u8], asked: Option<Kind>) -> bool {
    let mut found = matches!(asked, Some(Kind::Friction | Kind::GlobalFriction));
    // A broken text is what its keys up to there say.
    let _ = parse(bytes, Keys { friction: &mut found });
    found
}

/// Looks through the keys of an object.
struct Keys<'a> {
    friction: &'a mut bool,
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a problem")
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<(), O::Error> {
        while let Some(key) = object.next_key::<String>()? {
            *self.friction |= OWN_KEYS.contains(&key.as_str());
            if key == "kind" {
                let kind = object.next_value_seed(Text("kind"))?;
                *self.friction |= kind == Kind::Friction.name() || kind == Kind::GlobalFriction.name();
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The friction problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<FrictionFile, Fault> {
    parse(bytes, FieldsVisitor)?.build()
}

/// The fields found so far.
#[derive(Default)]
struct Fields {
    kind: Option<String>,
    dim: Option<usize>,
    matrices: Vec<(&'static str, Entries)>,
    vectors: Vec<(&'static str, Vec<f64>)>,
}

impl Fields {
    fn has(&self, key: &str) -> bool {
        self.matrices.iter().any(|m| m.0 == key) || self.vectors.iter().any(|v| v.0 == key)
    }

    fn matrix(&mut self, key: &str) -> Result<Entries, Fault> {
        let i = self.matrices.iter().position(|m| m.0 == key).ok_or_else(|| missing(key))?;
        Ok(self.matrices.swap_remove(i).1)
    }

    fn vector(&mut self, key: &str) -> Result<Vec<f64>, Fault> {
        let i = self.vectors.iter().position(|v| v.0 == key).ok_or_else(|| missing(key))?;
        Ok(self.vectors.swap_remove(i).1)
    }

    fn build(mut self) -> Result<FrictionFile, Fault> {
        let kind = match self.kind.as_deref() {
            None if ["M", "H", "f", "b"].iter().any(|key| self.has(key)) => Kind::GlobalFriction,
            None => Kind::Friction,
            Some(word) if word == Kind::Friction.name() => Kind::Friction,
            Some(word) if word == Kind::GlobalFriction.name() => Kind::GlobalFriction,
            Some(word) => {
                return Err(Fault::whole(format!(
                    "kind: the keys are those of friction or global-friction, found {word:?}"
                )));
            }
        };
        let dim = self.dim;
        let mut problem = || match kind {
            Kind::GlobalFriction => {
                let (mass, h) = (self.matrix("M")?, self.matrix("H")?);
                let (f, b, mu) = (self.vector("f")?, self.vector("b")?, self.vector("mu")?);
                // A matrix without a row does not show its columns.
                let h = if h.rows == 0 && h.cols == 0 { Entries { cols: b.len(), ..h } } else { h };
                build::global(dim, mass, h, f, b, mu)
            }
            _ => build::local(dim, self.matrix("W")?, self.vector("q")?, self.vector("mu")?),
        };
        let problem = problem()?;
        let left = self.matrices.iter().map(|m| m.0).chain(self.vectors.iter().map(|v| v.0)).next();
        match left {
            None => Ok(problem),
            Some(key) => Err(Fault::whole(format!("{key} has no place in a problem of kind {}", kind.name()))),
        }
    }
}

fn missing(key: &str) -> Fault {
    Fault::whole(format!("{key} is missing"))
}

/// The object with the fields of a problem.
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a friction problem")
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<Fields, O::Error> {
        let mut fields = Fields::default();
        let mut seen = Vec::new();
        while let Some(key) = object.next_key::<String>()? {
            let Some(&key) = KEYS.iter().find(|k| **k == key) else {
                return Err(O::Error::custom(unknown_key(&key, &KEYS)));
            };
            if seen.contains(&key) {
                return Err(O::Error::custom(format!("{key} is given twice")));
            }
            seen.push(key);
            let numbers = |infinite| Numbers { name: key, infinite };
            match key {
                "kind" => fields.kind = Some(object.next_value_seed(Text(key))?),
                "name" | "comment" => drop(object.next_value_seed(Text(key))?),
                "dim" => fields.dim = Some(object.next_value_seed(Whole(key))?),
                "W" | "M" | "H" => fields.matrices.push((key, object.next_value_seed(AnyMatrix(key))?)),
                "mu" => fields.vectors.push((key, object.next_value_seed(numbers(Infinite::Words))?)),
                _ => fields.vectors.push((key, object.next_value_seed(numbers(Infinite::No))?)),
            }
        }
        Ok(fields)
    }
}

/// A whole number; the key, for messages.
struct Whole(&'static str);

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = usize;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<usize, P::Error> {
        parser.deserialize_u64(self)
    }
}

impl Visitor<'_> for Whole {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number for {}", self.0)
    }
    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<usize, E> {
        usize::try_from(x).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(x), &self))
    }
}

/// A matrix: a list of rows, or an object with its size and its entries.
struct AnyMatrix(&'static str);

impl<'de> DeserializeSeed<'de> for AnyMatrix {
    type Value = Entries;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Entries, P::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyMatrix {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of rows, or an object with rows, cols and entries, for {}", self.0)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Entries, L::Error> {
        let (mut rows, mut cols) = (0, None);
        let (mut row, mut entries) = (Vec::new(), Vec::new());
        while let Some(found) = list.next_element_seed(Row { name: self.0, row: rows, data: &mut row })? {
            let cols = *cols.get_or_insert(found);
            if found != cols {
                let message = format!("{}[{rows}] has {found} numbers, the rows before it have {cols}", self.0);
                return Err(L::Error::custom(message));
            }
            let numbers = row.drain(..).enumerate().filter(|(_, x)| *x != 0.0);
            entries.extend(numbers.map(|(j, x)| (rows, j, x)));
            rows += 1;
        }
        Ok(Entries { rows, cols: cols.unwrap_or(0), entries })
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<Entries, O::Error> {
        const KEYS: [&str; 3] = ["rows", "cols", "entries"];
        let (mut sizes, mut entries) = ([None; 2], None);
        while let Some(key) = object.next_key::<String>()? {
            let twice = match KEYS.iter().position(|k| **k == key) {
                Some(k @ (0 | 1)) => sizes[k].replace(object.next_value_seed(Whole(KEYS[k]))?).is_some(),
                Some(_) => entries.replace(object.next_value_seed(Triples(self.0))?).is_some(),
                None => return Err(O::Error::custom(format!("{}: {}", self.0, unknown_key(&key, &KEYS)))),
            };
            if twice {
                return Err(O::Error::custom(format!("{}: {key} is given twice", self.0)));
            }
        }
        match (sizes, entries) {
            ([Some(rows), Some(cols)], Some(entries)) => Ok(Entries { rows, cols, entries }),
            _ => Err(O::Error::custom(format!("{}: rows, cols and entries are needed", self.0))),
        }
    }
}

/// A list of entries `[row, column, number]`.
struct Triples(&'static str);

impl<'de> DeserializeSeed<'de> for Triples {
    type Value = Vec<(usize, usize, f64)>;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Self::Value, P::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Triples {
    type Value = Vec<(usize, usize, f64)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of entries [row, column, number] for {}", self.0)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Self::Value, L::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element_seed(Triple(self.0, entries.len()))? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// An entry `[row, column, number]`: the matrix, and which of its entries.
struct Triple(&'static str, usize);

impl<'de> DeserializeSeed<'de> for Triple {
    type Value = (usize, usize, f64);
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Self::Value, P::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Triple {
    type Value = (usize, usize, f64);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[row, column, number] for entry {} of {}", self.1, self.0)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Self::Value, L::Error> {
        let length = |found| L::Error::invalid_length(found, &self);
        let i = list.next_element_seed(Whole("the row of an entry"))?.ok_or_else(|| length(0))?;
        let j = list.next_element_seed(Whole("the column of an entry"))?.ok_or_else(|| length(1))?;
        let x = list.next_element::<f64>()?.ok_or_else(|| length(2))?;
        match list.next_element::<IgnoredAny>()? {
            None => Ok((i, j, x)),
            Some(_) => Err(length(4)),
        }
    }
}

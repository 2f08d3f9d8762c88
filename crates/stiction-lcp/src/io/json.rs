//! The JSON format: reading.
//!
//! The values are those of [`json_values`](super::json_values).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::fault::Fault;
use super::fields::{FIELDS, Fields, Shape, Value};
use super::json_values::{Infinite, Numbers, Place, Row, Text, parse, unknown_key};
use super::siconos_matrix::check_limit;
use super::{ProblemFile, ReadOptions};
use crate::matrix::Matrix;

/// The keys that are no numbers.
const WORDS: [&str; 4] = ["kind", "basis", "name", "comment"];

/// The problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, Fault> {
    parse(bytes, FieldsVisitor { limit: options.max_numbers })?.build(options.kind)
}

/// The object with the fields of a problem.
struct FieldsVisitor {
    limit: usize,
}

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a problem")
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<Fields, O::Error> {
        let mut fields = Fields::default();
        while let Some(key) = object.next_key::<String>()? {
            if let Some(word) = WORDS.iter().find(|w| **w == key) {
                let slot = match *word {
                    "kind" => &mut fields.kind,
                    "basis" => &mut fields.basis,
                    "name" => &mut fields.name,
                    _ => &mut fields.comment,
                };
                let value = object.next_value_seed(Text(word))?;
                if slot.replace(value).is_some() {
                    return Err(O::Error::custom(format!("{key} is given twice")));
                }
                continue;
            }
            let Some((name, shape, _)) = FIELDS.iter().find(|f| f.0 == key) else {
                return Err(O::Error::custom(unknown_key(&key, &known_keys())));
            };
            if fields.has(name) {
                return Err(O::Error::custom(format!("{key} is given twice")));
            }
            let value = object.next_value_seed(Field { name, shape: *shape, limit: self.limit })?;
            fields.insert(name, value);
        }
        Ok(fields)
    }
}

fn known_keys() -> Vec<&'static str> {
    FIELDS.iter().map(|f| f.0).chain(WORDS).collect()
}

/// A field of numbers.
struct Field {
    name: &'static str,
    shape: Shape,
    limit: usize,
}

impl<'de> DeserializeSeed<'de> for Field {
    type Value = Value;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Value, P::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Field {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Matrix => write!(f, "a list of rows for {}", self.name),
            Shape::Flags => write!(f, "a list of true and false for {}", self.name),
            Shape::Vector | Shape::Bounds => write!(f, "a list of numbers for {}", self.name),
        }
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Value, L::Error> {
        match self.shape {
            Shape::Matrix => self.rows(list).map(Value::Matrix),
            Shape::Flags => {
                let mut flags = Vec::new();
                while let Some(flag) = list.next_element_seed(Flag(Place(self.name, flags.len(), None)))? {
                    flags.push(flag);
                }
                Ok(Value::Flags(flags))
            }
            Shape::Vector | Shape::Bounds => {
                let numbers = Numbers { name: self.name, infinite: infinite(self.name, self.shape) };
                numbers.visit_seq(list).map(Value::Vector)
            }
        }
    }
}

impl Field {
    fn rows<'de, L: SeqAccess<'de>>(&self, mut list: L) -> Result<Matrix, L::Error> {
        let (mut rows, mut cols) = (0, None);
        let mut data = Vec::new();
        while let Some(found) = list.next_element_seed(Row { name: self.name, row: rows, data: &mut data })? {
            let cols = *cols.get_or_insert(found);
            if found != cols {
                let message = format!("{}[{rows}] has {found} numbers, the rows before it have {cols}", self.name);
                return Err(L::Error::custom(message));
            }
            rows += 1;
        }
        let cols = cols.unwrap_or(0);
        check_limit(rows, cols, self.limit).map_err(|e| L::Error::custom(format!("{}: {e}", self.name)))?;
        Ok(Matrix::from_fn(rows, cols, |i, j| data[i * cols + j]))
    }
}

fn infinite(name: &str, shape: Shape) -> Infinite {
    match (shape, name) {
        (Shape::Bounds, "lo") => Infinite::OrNull(f64::NEG_INFINITY),
        (Shape::Bounds, _) => Infinite::OrNull(f64::INFINITY),
        _ => Infinite::No,
    }
}

/// True or false.
struct Flag(Place);

impl<'de> DeserializeSeed<'de> for Flag {
    type Value = bool;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<bool, P::Error> {
        parser.deserialize_bool(self)
    }
}

impl Visitor<'_> for Flag {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "true or false for {}", self.0)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<bool, E> {
        Ok(flag)
    }
}

//! The JSON format: reading.
//!
//! The parser is told what to expect at every place, so an error names both the line and the key: `M[1][2]`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::fault::Fault;
use super::fields::{FIELDS, Fields, Shape, Value, nearest};
use super::siconos_matrix::check_limit;
use super::{ProblemFile, ReadOptions};
use crate::matrix::Matrix;

/// The keys that are no numbers.
const WORDS: [&str; 4] = ["kind", "basis", "name", "comment"];

/// The problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, Fault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut parser = serde_json::Deserializer::from_slice(text);
    let fields = parser.deserialize_map(FieldsVisitor { limit: options.max_numbers });
    let fields = fields.and_then(|fields| parser.end().map(|()| fields));
    fields.map_err(|e| fault(&e, text, bytes.len() - text.len()))?.build(options.kind)
}

/// The parser's error with the byte of its line and column instead of their numbers; `skipped` bytes stood before them.
fn fault(error: &serde_json::Error, bytes: &[u8], skipped: usize) -> Fault {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    let message = if error.is_eof() { format!("the file ends early: {}", &text[..end]) } else { text[..end].into() };
    let line = (1..error.line()).try_fold(0, |at, _| Some(at + bytes[at..].iter().position(|b| *b == b'\n')? + 1));
    match line {
        Some(start) if error.line() > 0 => {
            Fault::at(skipped + (start + error.column().saturating_sub(1)).min(bytes.len()), message)
        }
        _ => Fault::whole(message),
    }
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
                return Err(O::Error::custom(unknown(&key)));
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

fn unknown(key: &str) -> String {
    let known = || FIELDS.iter().map(|f| f.0).chain(WORDS);
    match nearest(key, known()) {
        Some(near) => format!("unknown key {key:?}; did you mean {near:?}?"),
        None => format!("unknown key {key:?}; known are {}", known().collect::<Vec<_>>().join(", ")),
    }
}

/// A string.
struct Text(&'static str);

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<String, P::Error> {
        parser.deserialize_str(self)
    }
}

impl Visitor<'_> for Text {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string for {}", self.0)
    }
    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_string())
    }
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
                let mut numbers = Vec::new();
                let unbounded = unbounded(self.name, self.shape);
                while let Some(x) =
                    list.next_element_seed(Number { place: Place(self.name, numbers.len(), None), unbounded })?
                {
                    numbers.push(x);
                }
                Ok(Value::Vector(numbers))
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

/// A row of a matrix, put at the end of `data`; gives its length.
struct Row<'a> {
    name: &'static str,
    row: usize,
    data: &'a mut Vec<f64>,
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = usize;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<usize, P::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of numbers for {}[{}]", self.name, self.row)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<usize, L::Error> {
        let mut count = 0;
        while let Some(x) =
            list.next_element_seed(Number { place: Place(self.name, self.row, Some(count)), unbounded: Unbounded::No })?
        {
            self.data.push(x);
            count += 1;
        }
        Ok(count)
    }
}

/// `M[1][2]` or `q[3]`.
#[derive(Clone, Copy)]
struct Place(&'static str, usize, Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.0, self.1)?;
        self.2.map_or(Ok(()), |j| write!(f, "[{j}]"))
    }
}

/// Whether a number may be infinite, and which infinity `null` stands for.
#[derive(Clone, Copy, PartialEq)]
enum Unbounded {
    No,
    Null(f64),
}

fn unbounded(name: &str, shape: Shape) -> Unbounded {
    match (shape, name) {
        (Shape::Bounds, "lo") => Unbounded::Null(f64::NEG_INFINITY),
        (Shape::Bounds, _) => Unbounded::Null(f64::INFINITY),
        _ => Unbounded::No,
    }
}

/// A number; for bounds also `"inf"`, `"-inf"` and `null`.
struct Number {
    place: Place,
    unbounded: Unbounded,
}

impl<'de> DeserializeSeed<'de> for Number {
    type Value = f64;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<f64, P::Error> {
        if self.unbounded == Unbounded::No { parser.deserialize_f64(self) } else { parser.deserialize_any(self) }
    }
}

impl Visitor<'_> for Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unbounded {
            Unbounded::No => write!(f, "a number for {}", self.place),
            Unbounded::Null(_) => write!(f, "a number, \"inf\", \"-inf\" or null for {}", self.place),
        }
    }

    fn visit_f64<E>(self, x: f64) -> Result<f64, E> {
        Ok(x)
    }

    fn visit_u64<E>(self, x: u64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_i64<E>(self, x: i64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<f64, E> {
        match (self.unbounded, word) {
            (Unbounded::Null(_), "inf" | "+inf") => Ok(f64::INFINITY),
            (Unbounded::Null(_), "-inf") => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_type(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<f64, E> {
        match self.unbounded {
            Unbounded::Null(infinity) => Ok(infinity),
            Unbounded::No => Err(E::invalid_type(serde::de::Unexpected::Unit, &self)),
        }
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

//! The values inside a JSON file, for readers that tell the parser what to expect at every place, so that an error names both the line
//! and the key: `M[1][2]`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::fault::Fault;
use super::fields::nearest;

/// What `visitor` makes of the object that the JSON text `bytes` is.
///
/// # Errors
/// A fault at the byte where the text is not as expected, or goes on after the object.
pub fn parse<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Fault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut parser = serde_json::Deserializer::from_slice(text);
    let value = parser.deserialize_map(visitor);
    let value = value.and_then(|value| parser.end().map(|()| value));
    value.map_err(|e| fault(&e, text, bytes.len() - text.len()))
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

/// The message for a key that is none of the `known` ones.
pub fn unknown_key(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("unknown key {key:?}; did you mean {near:?}?"),
        None => format!("unknown key {key:?}; known are {}", known.join(", ")),
    }
}

/// A string; the key, for messages.
pub struct Text(pub &'static str);

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

/// A list of numbers.
pub struct Numbers {
    /// The key, for messages.
    pub name: &'static str,
    /// What its numbers may be beside finite.
    pub infinite: Infinite,
}

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = Vec<f64>;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Vec<f64>, P::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Numbers {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of numbers for {}", self.name)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Vec<f64>, L::Error> {
        let mut numbers = Vec::new();
        let seed = |k| Number { place: Place(self.name, k, None), infinite: self.infinite };
        while let Some(x) = list.next_element_seed(seed(numbers.len()))? {
            numbers.push(x);
        }
        Ok(numbers)
    }
}

/// A row of finite numbers, put at the end of `data`; gives its length.
pub struct Row<'a> {
    /// The matrix, for messages.
    pub name: &'static str,
    /// The row's number.
    pub row: usize,
    /// Where the numbers go.
    pub data: &'a mut Vec<f64>,
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
            list.next_element_seed(Number { place: Place(self.name, self.row, Some(count)), infinite: Infinite::No })?
        {
            self.data.push(x);
            count += 1;
        }
        Ok(count)
    }
}

/// `M[1][2]` or `q[3]`.
#[derive(Clone, Copy)]
pub struct Place(pub &'static str, pub usize, pub Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.0, self.1)?;
        self.2.map_or(Ok(()), |j| write!(f, "[{j}]"))
    }
}

/// Whether a number may be infinite, and which infinity `null` stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum Infinite {
    /// It must be finite.
    No,
    /// `"inf"` and `"-inf"` are numbers, too.
    Words,
    /// So are they, and `null` is the given one.
    OrNull(f64),
}

/// A number, infinite where it may be.
pub struct Number {
    /// The place, for messages.
    pub place: Place,
    /// What else it may be.
    pub infinite: Infinite,
}

impl<'de> DeserializeSeed<'de> for Number {
    type Value = f64;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<f64, P::Error> {
        if self.infinite == Infinite::No { parser.deserialize_f64(self) } else { parser.deserialize_any(self) }
    }
}

impl Visitor<'_> for Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.infinite {
            Infinite::No => write!(f, "a number for {}", self.place),
            Infinite::Words => write!(f, "a number or \"inf\" for {}", self.place),
            Infinite::OrNull(_) => write!(f, "a number, \"inf\", \"-inf\" or null for {}", self.place),
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
        match (self.infinite, word) {
            (Infinite::Words | Infinite::OrNull(_), "inf" | "+inf") => Ok(f64::INFINITY),
            (Infinite::Words | Infinite::OrNull(_), "-inf") => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_type(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<f64, E> {
        match self.infinite {
            Infinite::OrNull(infinity) => Ok(infinity),
            _ => Err(E::invalid_type(serde::de::Unexpected::Unit, &self)),
        }
    }
}

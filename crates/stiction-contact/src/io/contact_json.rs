//! Objects of JSON by a table of their keys: every value is read where it stands, so that an error names both the line and the key,
//! `contacts[3].normal[0]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use stiction_lcp::Matrix;
use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::json_values::{Text, parse, unknown_key};

/// A row by its blocks.
pub(super) type Row = Vec<(usize, Vec<f64>)>;

/// What stands behind a key.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    /// A string.
    Text,
    /// True or false.
    Bool,
    /// A finite number.
    Number,
    /// A number, `"inf"` or `"-inf"`.
    Extended,
    /// A list of finite numbers.
    Numbers,
    /// A list of pairs [block, entries].
    Row,
    /// A list of matrices, each a list of rows.
    Matrices,
    /// A list of objects with these keys.
    Objects(&'static [(&'static str, Shape)]),
}

/// What was found there.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Number(f64),
    Numbers(Vec<f64>),
    Row(Row),
    Matrices(Vec<Matrix>),
    Objects(Vec<Fields>),
}

/// The fields of an object that were found.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn take(&mut self, key: &str) -> Option<Value> {
        let i = self.0.iter().position(|field| field.0 == key)?;
        Some(self.0.swap_remove(i).1)
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        if let Some(Value::Text(x)) = self.take(key) { Some(x) } else { None }
    }

    pub(super) fn bool(&mut self, key: &str) -> Option<bool> {
        if let Some(Value::Bool(x)) = self.take(key) { Some(x) } else { None }
    }

    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        if let Some(Value::Number(x)) = self.take(key) { Some(x) } else { None }
    }

    pub(super) fn numbers(&mut self, key: &str) -> Option<Vec<f64>> {
        if let Some(Value::Numbers(x)) = self.take(key) { Some(x) } else { None }
    }

    pub(super) fn row(&mut self, key: &str) -> Option<Row> {
        if let Some(Value::Row(x)) = self.take(key) { Some(x) } else { None }
    }

    pub(super) fn matrices(&mut self, key: &str) -> Option<Vec<Matrix>> {
        if let Some(Value::Matrices(x)) = self.take(key) { Some(x) } else { None }
    }

    /// None if the key is not there.
    pub(super) fn objects(&mut self, key: &str) -> Vec<Fields> {
        if let Some(Value::Objects(x)) = self.take(key) { x } else { vec![] }
    }
}

/// The fields of the object that the JSON text `bytes` is.
pub(super) fn read_fields(bytes: &[u8], keys: &'static [(&'static str, Shape)]) -> Result<Fields, Fault> {
    parse(bytes, Object { keys, path: None })
}

/// True if an object with this text has one of the keys, or this kind. A broken text is what its keys up to there say.
pub(super) fn has_key(bytes: &[u8], keys: &[&str], kind: &str) -> bool {
    let mut found = false;
    let _ = parse(bytes, Keys { keys, kind, found: &mut found });
    found
}

/// Looks through the keys of an object.
struct Keys<'a> {
    keys: &'a [&'a str],
    kind: &'a str,
    found: &'a mut bool,
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a problem")
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<(), O::Error> {
        while let Some(key) = object.next_key::<String>()? {
            *self.found |= self.keys.contains(&key.as_str());
            if key == "kind" {
                *self.found |= object.next_value_seed(Text("kind"))? == self.kind;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Where a value stands: `contacts[3].normal[0]`.
#[derive(Clone, Copy)]
struct Path<'a> {
    before: Option<&'a Path<'a>>,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Key(&'static str),
    Index(usize),
}

impl<'a> Path<'a> {
    fn at(&'a self, i: usize) -> Self {
        Self { before: Some(self), part: Part::Index(i) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(before) = self.before {
            before.fmt(f)?;
        }
        match self.part {
            Part::Key(key) => write!(f, "{}{key}", if self.before.is_some() { "." } else { "" }),
            Part::Index(i) => write!(f, "[{i}]"),
        }
    }
}

/// An object with these keys.
struct Object<'a> {
    keys: &'static [(&'static str, Shape)],
    path: Option<Path<'a>>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Fields;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Fields, P::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            None => f.write_str("an object with the fields of a contact problem"),
            Some(path) => write!(f, "an object for {path}"),
        }
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<Fields, O::Error> {
        let mut fields = Fields::default();
        let at = |message: String| self.path.map_or(message.clone(), |path| format!("{path}: {message}"));
        while let Some(key) = object.next_key::<String>()? {
            let Some((key, shape)) = self.keys.iter().find(|k| k.0 == key) else {
                let known: Vec<&str> = self.keys.iter().map(|k| k.0).collect();
                return Err(O::Error::custom(at(unknown_key(&key, &known))));
            };
            if fields.0.iter().any(|field| field.0 == *key) {
                return Err(O::Error::custom(at(format!("{key} is given twice"))));
            }
            let path = Path { before: self.path.as_ref(), part: Part::Key(key) };
            fields.0.push((key, object.next_value_seed(OfShape { shape, path })?));
        }
        Ok(fields)
    }
}

/// A value of a shape.
struct OfShape<'a> {
    shape: &'static Shape,
    path: Path<'a>,
}

impl<'de> DeserializeSeed<'de> for OfShape<'_> {
    type Value = Value;

    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Value, P::Error> {
        let path = self.path;
        Ok(match self.shape {
            Shape::Text => Value::Text(parser.deserialize_str(Word(path))?),
            Shape::Bool => Value::Bool(parser.deserialize_bool(Bool(path))?),
            Shape::Number => Value::Number(parser.deserialize_f64(Number { path, infinite: false })?),
            Shape::Extended => Value::Number(parser.deserialize_any(Number { path, infinite: true })?),
            Shape::Numbers => Value::Numbers(<Vec<f64>>::read(path, parser)?),
            Shape::Row => Value::Row(<Vec<(usize, Vec<f64>)>>::read(path, parser)?),
            Shape::Matrices => Value::Matrices(<Vec<Matrix>>::read(path, parser)?),
            Shape::Objects(keys) => Value::Objects(parser.deserialize_seq(Objects { path, keys })?),
        })
    }
}

/// A string.
struct Word<'a>(Path<'a>);

impl Visitor<'_> for Word<'_> {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string for {}", self.0)
    }
    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_string())
    }
}

/// True or false.
struct Bool<'a>(Path<'a>);

impl Visitor<'_> for Bool<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "true or false for {}", self.0)
    }
    fn visit_bool<E>(self, x: bool) -> Result<bool, E> {
        Ok(x)
    }
}

/// A number, infinite where it may be.
struct Number<'a> {
    path: Path<'a>,
    infinite: bool,
}

impl Visitor<'_> for Number<'_> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.infinite { "a number, \"inf\" or \"-inf\"" } else { "a number" };
        write!(f, "{what} for {}", self.path)
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
        match word {
            "inf" | "+inf" if self.infinite => Ok(f64::INFINITY),
            "-inf" if self.infinite => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_type(Unexpected::Str(word), &self)),
        }
    }
}

/// The number of a block.
struct Block<'a>(Path<'a>);

impl<'de> DeserializeSeed<'de> for Block<'_> {
    type Value = usize;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<usize, P::Error> {
        parser.deserialize_u64(self)
    }
}

impl Visitor<'_> for Block<'_> {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the number of a block for {}", self.0)
    }
    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<usize, E> {
        usize::try_from(x).map_err(|_| E::invalid_value(Unexpected::Unsigned(x), &self))
    }
}

/// What lists are made of.
trait Item: Sized {
    /// A list of them, in words.
    const LIST: &'static str;
    /// Reads one.
    fn read<'de, P: Deserializer<'de>>(path: Path<'_>, parser: P) -> Result<Self, P::Error>;
}

impl Item for f64 {
    const LIST: &'static str = "a list of numbers";
    fn read<'de, P: Deserializer<'de>>(path: Path<'_>, parser: P) -> Result<Self, P::Error> {
        parser.deserialize_f64(Number { path, infinite: false })
    }
}

impl Item for (usize, Vec<f64>) {
    const LIST: &'static str = "a list of pairs [block, entries]";
    fn read<'de, P: Deserializer<'de>>(path: Path<'_>, parser: P) -> Result<Self, P::Error> {
        parser.deserialize_seq(Pair(path))
    }
}

impl<I: Item> Item for Vec<I> {
    const LIST: &'static str = "a list of lists";
    fn read<'de, P: Deserializer<'de>>(path: Path<'_>, parser: P) -> Result<Self, P::Error> {
        parser.deserialize_seq(List(path, PhantomData))
    }
}

impl Item for Matrix {
    const LIST: &'static str = "a list of matrices";
    fn read<'de, P: Deserializer<'de>>(path: Path<'_>, parser: P) -> Result<Self, P::Error> {
        let rows = <Vec<Vec<f64>>>::read(path, parser)?;
        let cols = rows.first().map_or(0, Vec::len);
        if let Some(i) = rows.iter().position(|row| row.len() != cols) {
            let message = format!("{} has {} numbers, the rows before it have {cols}", path.at(i), rows[i].len());
            return Err(P::Error::custom(message));
        }
        Ok(Matrix::from_fn(rows.len(), cols, |i, j| rows[i][j]))
    }
}

/// One item.
struct One<'a, I>(Path<'a>, PhantomData<I>);

impl<'de, I: Item> DeserializeSeed<'de> for One<'_, I> {
    type Value = I;
    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<I, P::Error> {
        I::read(self.0, parser)
    }
}

/// A list of items.
struct List<'a, I>(Path<'a>, PhantomData<I>);

impl<'de, I: Item> Visitor<'de> for List<'_, I> {
    type Value = Vec<I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", I::LIST, self.0)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Vec<I>, L::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(One(self.0.at(items.len()), PhantomData))? {
            items.push(item);
        }
        Ok(items)
    }
}

/// A pair [block, entries].
struct Pair<'a>(Path<'a>);

impl<'de> Visitor<'de> for Pair<'_> {
    type Value = (usize, Vec<f64>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a pair [block, entries] for {}", self.0)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Self::Value, L::Error> {
        let length = |found| L::Error::invalid_length(found, &self);
        let block = list.next_element_seed(Block(self.0.at(0)))?.ok_or_else(|| length(0))?;
        let entries = list.next_element_seed(One(self.0.at(1), PhantomData))?.ok_or_else(|| length(1))?;
        match list.next_element::<IgnoredAny>()? {
            None => Ok((block, entries)),
            Some(_) => Err(length(3)),
        }
    }
}

/// A list of objects with these keys.
struct Objects<'a> {
    path: Path<'a>,
    keys: &'static [(&'static str, Shape)],
}

impl<'de> Visitor<'de> for Objects<'_> {
    type Value = Vec<Fields>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of objects for {}", self.path)
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Vec<Fields>, L::Error> {
        let mut items = Vec::new();
        let seed = |i| Object { keys: self.keys, path: Some(self.path.at(i)) };
        while let Some(item) = list.next_element_seed(seed(items.len()))? {
            items.push(item);
        }
        Ok(items)
    }
}

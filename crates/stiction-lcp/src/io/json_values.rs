//! Objects of JSON by a table of their keys: the parser is told what to expect at every place, so that an error names both the line and the
//! key, `M[1][2]` or `contacts[3].normal[0]`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::fault::Fault;
use super::fields::nearest;
use super::siconos_matrix::check_limit;
use crate::matrix::Matrix;

/// The keys of an object, each with what stands behind it.
pub type Keys = &'static [(&'static str, Shape)];

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A string.
    Text,
    /// True or false.
    Bool,
    /// A whole number.
    Whole,
    /// A number.
    Number(Infinite),
    /// A list of numbers.
    Numbers(Infinite),
    /// A list of true and false.
    Flags,
    /// A matrix of finite numbers: a list of rows.
    Matrix,
    /// A list of matrices.
    Matrices,
    /// A matrix: a list of rows, or an object with its size and its entries.
    Sparse,
    /// A list of entries of a matrix.
    Entries,
    /// An entry of a matrix: [row, column, number].
    Entry,
    /// A row of a matrix by its blocks: a list of pairs.
    Blocks,
    /// A block of a row: a pair [block, entries].
    Block,
    /// An object with these keys.
    Object(Keys),
    /// A list of objects with these keys.
    Objects(Keys),
}

/// Whether a number may be infinite, and which infinity `null` stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Infinite {
    /// It must be finite.
    No,
    /// `"inf"` and `"-inf"` are numbers, too.
    Words,
    /// So are they, and `null` is the given one.
    OrNull(f64),
}

impl Shape {
    /// A finite number.
    pub const NUMBER: Self = Self::Number(Infinite::No);
    /// A list of finite numbers.
    pub const NUMBERS: Self = Self::Numbers(Infinite::No);

    fn words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Bool => "true or false",
            Self::Whole => "a whole number",
            Self::Number(Infinite::No) => "a number",
            Self::Number(Infinite::Words) => "a number or \"inf\"",
            Self::Number(Infinite::OrNull(_)) => "a number, \"inf\", \"-inf\" or null",
            Self::Numbers(_) => "a list of numbers",
            Self::Flags => "a list of true and false",
            Self::Matrix => "a list of rows",
            Self::Matrices => "a list of matrices",
            Self::Sparse => "a list of rows, or an object with rows, cols and entries,",
            Self::Entries => "a list of entries [row, column, number]",
            Self::Entry => "[row, column, number]",
            Self::Blocks => "a list of pairs [block, entries]",
            Self::Block => "a pair [block, entries]",
            Self::Object(_) => "an object",
            Self::Objects(_) => "a list of objects",
        }
    }
}

/// The fields of an object that were found.
#[derive(Debug, Default)]
pub struct Fields(Vec<(&'static str, Value)>);

/// What was found at a place, and how it is taken out.
macro_rules! values {
    ($($(#[$doc:meta])* $variant:ident($kind:ty), $take:ident;)+) => {
        /// What was found at a place.
        #[derive(Debug)]
        pub enum Value {
            $($(#[$doc])* $variant($kind),)+
        }

        impl Value {
            $(fn $take(self) -> Option<$kind> {
                if let Self::$variant(x) = self { Some(x) } else { None }
            })+
        }

        impl Fields {
            $($(#[$doc])* pub fn $take(&mut self, key: &str) -> Option<$kind> {
                self.take(key)?.$take()
            })+
        }
    };
}

values! {
    /// A string.
    Text(String), text;
    /// True or false.
    Bool(bool), bool;
    /// A whole number.
    Whole(usize), whole;
    /// A number.
    Number(f64), number;
    /// A list of numbers.
    Numbers(Vec<f64>), numbers;
    /// A list of true and false.
    Flags(Vec<bool>), flags;
    /// A matrix.
    Matrix(Matrix), matrix;
    /// A list of matrices.
    Matrices(Vec<Matrix>), matrices;
    /// Rows and columns of a matrix, and its entries.
    Sparse((usize, usize, Vec<Entry>)), sparse;
    /// Entries of a matrix.
    Entries(Vec<Entry>), entries;
    /// An entry of a matrix.
    Entry(Entry), entry;
    /// A row by its blocks.
    Blocks(Vec<(usize, Vec<f64>)>), blocks;
    /// A block of a row.
    Block((usize, Vec<f64>)), block;
    /// An object.
    Object(Fields), object;
    /// A list of objects.
    Objects(Vec<Fields>), objects;
}

/// Row, column and value.
pub type Entry = (usize, usize, f64);

impl Fields {
    /// True if the key is there, and was not taken out.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|field| field.0 == key)
    }

    /// The keys that are there, and were not taken out.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|field| field.0)
    }

    pub(super) fn insert(&mut self, key: &'static str, value: Value) {
        self.0.push((key, value));
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        let i = self.0.iter().position(|field| field.0 == key)?;
        Some(self.0.swap_remove(i).1)
    }
}

/// The fields of the object that the JSON text `bytes` is: those of `what`, by their keys. A dense matrix has at most `limit` numbers.
///
/// # Errors
/// A fault at the byte where the text is not as expected, or goes on after the object.
pub fn read_fields(bytes: &[u8], what: &'static str, keys: Keys, limit: usize) -> Result<Fields, Fault> {
    let path = Path { before: None, part: Part::Whole(what) };
    let found = parse(bytes, Place { shape: Shape::Object(keys), path, limit })?;
    Ok(found.object().unwrap_or_default())
}

/// True if an object with this text has one of the keys, or is of one of the kinds. A broken text is what its keys up to there say.
pub fn has_key(bytes: &[u8], keys: &[&str], kinds: &[&str]) -> bool {
    let mut found = false;
    let _ = parse(bytes, FindKey { keys, kinds, found: &mut found });
    found
}

/// What `visitor` makes of the object that the JSON text `bytes` is.
fn parse<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Fault> {
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
fn unknown_key(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("unknown key {key:?}; did you mean {near:?}?"),
        None => format!("unknown key {key:?}; known are {}", known.join(", ")),
    }
}

/// Looks through the keys of an object.
struct FindKey<'a> {
    keys: &'a [&'a str],
    kinds: &'a [&'a str],
    found: &'a mut bool,
}

impl<'de> Visitor<'de> for FindKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a problem")
    }

    fn visit_map<O: MapAccess<'de>>(self, mut object: O) -> Result<(), O::Error> {
        while let Some(key) = object.next_key::<String>()? {
            *self.found |= self.keys.contains(&key.as_str());
            if key == "kind" {
                *self.found |= self.kinds.contains(&object.next_value::<String>()?.as_str());
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
    /// All there is: what it is.
    Whole(&'static str),
    Key(&'static str),
    Index(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.before.filter(|before| !matches!(before.part, Part::Whole(_)));
        if let Some(before) = before {
            before.fmt(f)?;
        }
        match self.part {
            Part::Whole(what) => f.write_str(what),
            Part::Key(key) => write!(f, "{}{key}", if before.is_some() { "." } else { "" }),
            Part::Index(i) => write!(f, "[{i}]"),
        }
    }
}

/// A value of a shape, at a place.
#[derive(Clone, Copy)]
struct Place<'a> {
    shape: Shape,
    path: Path<'a>,
    /// Numbers that a dense matrix may have.
    limit: usize,
}

impl Place<'_> {
    /// Item `i` of a list.
    fn item(&self, i: usize, shape: Shape) -> Place<'_> {
        Place { shape, path: Path { before: Some(&self.path), part: Part::Index(i) }, limit: self.limit }
    }

    /// The items of a list, each of this shape.
    fn items<'de, L: SeqAccess<'de>, I>(
        &self,
        mut list: L,
        shape: Shape,
        take: impl Fn(Value) -> Option<I>,
    ) -> Result<Vec<I>, L::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self.item(items.len(), shape))? {
            items.extend(take(item));
        }
        Ok(items)
    }

    /// Item `i` of a list that must have it.
    fn needed<'de, L: SeqAccess<'de>, I>(
        &self,
        list: &mut L,
        i: usize,
        shape: Shape,
        take: impl Fn(Value) -> Option<I>,
    ) -> Result<I, L::Error> {
        let found = list.next_element_seed(self.item(i, shape))?;
        found.and_then(take).ok_or_else(|| L::Error::invalid_length(i, self))
    }

    /// Nothing more may follow the `n` items of a list.
    fn end<'de, L: SeqAccess<'de>>(&self, list: &mut L, n: usize) -> Result<(), L::Error> {
        match list.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(L::Error::invalid_length(n + 1, self)),
        }
    }

    /// Gives each row of numbers to `take`; returns how many there are, and how long they are.
    fn rows<'de, L: SeqAccess<'de>>(
        &self,
        mut list: L,
        mut take: impl FnMut(usize, Vec<f64>),
    ) -> Result<(usize, usize), L::Error> {
        let (mut rows, mut cols) = (0, None);
        while let Some(row) = list.next_element_seed(self.item(rows, Shape::NUMBERS))? {
            let row = row.numbers().unwrap_or_default();
            let (found, cols) = (row.len(), *cols.get_or_insert(row.len()));
            if found != cols {
                let path = self.item(rows, Shape::NUMBERS).path;
                return Err(L::Error::custom(format!("{path} has {found} numbers, the rows before it have {cols}")));
            }
            take(rows, row);
            rows += 1;
        }
        Ok((rows, cols.unwrap_or(0)))
    }

    /// The fields of an object.
    fn fields<'de, O: MapAccess<'de>>(&self, keys: Keys, mut object: O) -> Result<Fields, O::Error> {
        let mut fields = Fields::default();
        let at = |message: String| match self.path.part {
            Part::Whole(_) => O::Error::custom(message),
            _ => O::Error::custom(format!("{}: {message}", self.path)),
        };
        while let Some(key) = object.next_key::<String>()? {
            let Some(&(key, shape)) = keys.iter().find(|k| k.0 == key) else {
                let known: Vec<&str> = keys.iter().map(|k| k.0).collect();
                return Err(at(unknown_key(&key, &known)));
            };
            if fields.has(key) {
                return Err(at(format!("{key} is given twice")));
            }
            let path = Path { before: Some(&self.path), part: Part::Key(key) };
            fields.insert(key, object.next_value_seed(Place { shape, path, limit: self.limit })?);
        }
        Ok(fields)
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<P: Deserializer<'de>>(self, parser: P) -> Result<Value, P::Error> {
        match self.shape {
            Shape::Text => parser.deserialize_str(self),
            Shape::Bool => parser.deserialize_bool(self),
            Shape::Whole => parser.deserialize_u64(self),
            Shape::Number(Infinite::No) => parser.deserialize_f64(self),
            Shape::Number(_) | Shape::Sparse => parser.deserialize_any(self),
            Shape::Object(_) => parser.deserialize_map(self),
            _ => parser.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if matches!(self.path.part, Part::Whole(_)) { "with the fields of" } else { "for" };
        write!(f, "{} {of} {}", self.shape.words(), self.path)
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<Value, E> {
        match self.shape {
            Shape::Bool => Ok(Value::Bool(x)),
            _ => Err(E::invalid_type(Unexpected::Bool(x), &self)),
        }
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Value, E> {
        match self.shape {
            Shape::Number(_) => Ok(Value::Number(x)),
            _ => Err(E::invalid_type(Unexpected::Float(x), &self)),
        }
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Value, E> {
        match self.shape {
            Shape::Number(_) => Ok(Value::Number(x as f64)),
            Shape::Whole => {
                let whole = usize::try_from(x).map_err(|_| E::invalid_value(Unexpected::Unsigned(x), &self));
                whole.map(Value::Whole)
            }
            _ => Err(E::invalid_type(Unexpected::Unsigned(x), &self)),
        }
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Value, E> {
        match self.shape {
            Shape::Number(_) => Ok(Value::Number(x as f64)),
            _ => Err(E::invalid_type(Unexpected::Signed(x), &self)),
        }
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Value, E> {
        match (self.shape, word) {
            (Shape::Text, _) => Ok(Value::Text(word.into())),
            (Shape::Number(_), "inf" | "+inf") => Ok(Value::Number(f64::INFINITY)),
            (Shape::Number(_), "-inf") => Ok(Value::Number(f64::NEG_INFINITY)),
            _ => Err(E::invalid_type(Unexpected::Str(word), &self)),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        match self.shape {
            Shape::Number(Infinite::OrNull(infinity)) => Ok(Value::Number(infinity)),
            _ => Err(E::invalid_type(Unexpected::Unit, &self)),
        }
    }

    fn visit_seq<L: SeqAccess<'de>>(self, mut list: L) -> Result<Value, L::Error> {
        Ok(match self.shape {
            Shape::Numbers(infinite) => Value::Numbers(self.items(list, Shape::Number(infinite), Value::number)?),
            Shape::Flags => Value::Flags(self.items(list, Shape::Bool, Value::bool)?),
            Shape::Matrices => Value::Matrices(self.items(list, Shape::Matrix, Value::matrix)?),
            Shape::Entries => Value::Entries(self.items(list, Shape::Entry, Value::entry)?),
            Shape::Blocks => Value::Blocks(self.items(list, Shape::Block, Value::block)?),
            Shape::Objects(keys) => Value::Objects(self.items(list, Shape::Object(keys), Value::object)?),
            Shape::Matrix => {
                let mut data = Vec::new();
                let (rows, cols) = self.rows(list, |_, row| data.extend(row))?;
                let too_large = |e| L::Error::custom(format!("{}: {e}", self.path));
                check_limit(rows, cols, self.limit).map_err(too_large)?;
                Value::Matrix(Matrix::from_fn(rows, cols, |i, j| data[i * cols + j]))
            }
            Shape::Sparse => {
                let mut entries = Vec::new();
                let (rows, cols) = self.rows(list, |i, row| {
                    let numbers = row.into_iter().enumerate().filter(|(_, x)| *x != 0.0);
                    entries.extend(numbers.map(|(j, x)| (i, j, x)));
                })?;
                Value::Sparse((rows, cols, entries))
            }
            Shape::Entry => {
                let i = self.needed(&mut list, 0, Shape::Whole, Value::whole)?;
                let j = self.needed(&mut list, 1, Shape::Whole, Value::whole)?;
                let x = self.needed(&mut list, 2, Shape::NUMBER, Value::number)?;
                self.end(&mut list, 3)?;
                Value::Entry((i, j, x))
            }
            Shape::Block => {
                let block = self.needed(&mut list, 0, Shape::Whole, Value::whole)?;
                let entries = self.needed(&mut list, 1, Shape::NUMBERS, Value::numbers)?;
                self.end(&mut list, 2)?;
                Value::Block((block, entries))
            }
            _ => return Err(L::Error::invalid_type(Unexpected::Seq, &self)),
        })
    }

    fn visit_map<O: MapAccess<'de>>(self, object: O) -> Result<Value, O::Error> {
        const SPARSE: Keys = &[("rows", Shape::Whole), ("cols", Shape::Whole), ("entries", Shape::Entries)];
        match self.shape {
            Shape::Object(keys) => self.fields(keys, object).map(Value::Object),
            Shape::Sparse => {
                let mut fields = self.fields(SPARSE, object)?;
                match (fields.whole("rows"), fields.whole("cols"), fields.entries("entries")) {
                    (Some(rows), Some(cols), Some(entries)) => Ok(Value::Sparse((rows, cols, entries))),
                    _ => Err(O::Error::custom(format!("{}: rows, cols and entries are needed", self.path))),
                }
            }
            _ => Err(O::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

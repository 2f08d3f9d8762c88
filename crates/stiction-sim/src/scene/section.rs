//! Reading a scene's TOML: typed access to tables whose every error points into the file, and whose unread keys are errors.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::control::Signal;
use crate::error::{SceneError, nearest};
use crate::expression::Expression;

/// Most tables that one `repeat` may make.
const MAX_REPEAT: usize = 100_000;

/// The text of a scene and where it came from.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub file: Option<PathBuf>,
    pub directory: PathBuf,
    pub text: &'a str,
    /// Files that were asked for so far.
    pub files: RefCell<Vec<PathBuf>>,
}

impl<'a> Source<'a> {
    /// A text with its file, if it has one, and the directory for the files it names.
    pub(super) fn new(file: Option<&Path>, directory: &Path, text: &'a str) -> Self {
        Self { file: file.map(Path::to_path_buf), directory: directory.to_path_buf(), text, files: RefCell::default() }
    }

    /// An error at a range of the text.
    pub(super) fn error(&self, element: &str, span: Range<usize>, message: impl Into<String>) -> SceneError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        let error = SceneError::new(element, message).at(line, column);
        match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        }
    }

    /// A path of the scene, relative to its directory.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        let path = self.directory.join(Path::new(path));
        let mut files = self.files.borrow_mut();
        if !files.contains(&path) {
            files.push(path.clone());
        }
        path
    }
}

/// Named numbers that expressions may use.
pub(crate) type Scope = BTreeMap<String, f64>;

/// A table of the file.
pub(crate) struct Section<'a> {
    pub source: &'a Source<'a>,
    table: &'a DeTable<'a>,
    /// Where it is: `bodies[2].joint`.
    pub path: String,
    span: Range<usize>,
    pub scope: Scope,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        source: &'a Source<'a>,
        table: &'a DeTable<'a>,
        path: String,
        span: Range<usize>,
        scope: Scope,
    ) -> Self {
        Self { source, table, path, span, scope, asked: RefCell::default() }
    }

    /// The name of a key in messages.
    pub(super) fn element(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// An error at a key's value, or at the table if the key is not there.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> SceneError {
        match self.table.get(key) {
            Some(value) => self.source.error(&self.element(key), value.span(), message),
            None => self.source.error(&self.element(key), self.span.clone(), message),
        }
    }

    /// Puts an error without a place at a key.
    pub(super) fn place(&self, key: &str, error: &impl std::fmt::Display) -> SceneError {
        self.error(key, error.to_string())
    }

    pub(super) fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    /// True if the key's value is text.
    pub(super) fn is_text(&self, key: &'static str) -> bool {
        self.value(key).is_some_and(|at| matches!(at.get_ref(), DeValue::String(_)))
    }

    fn value(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    /// Keys and values, in the order of the keys.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Spanned<DeValue<'a>>)> {
        self.table.iter().map(|(key, value)| (key.get_ref().as_ref(), value))
    }

    /// Fails if a key was never asked for.
    pub(super) fn finish(&self) -> Result<(), SceneError> {
        let asked = self.asked.borrow();
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if asked.contains(&name) {
                continue;
            }
            let known = nearest(name, asked.iter().copied());
            let hint = known.map_or_else(String::new, |k| format!("; did you mean \"{k}\"?"));
            return Err(self.source.error(&self.element(name), key.span(), format!("unknown key{hint}")));
        }
        Ok(())
    }

    fn wrong(&self, at: &Spanned<DeValue<'_>>, key: &str, expected: &str) -> SceneError {
        let found = match at.get_ref() {
            DeValue::String(s) => format!("the text \"{s}\""),
            DeValue::Integer(i) => format!("the number {}", i.as_str()),
            DeValue::Float(x) => format!("the number {}", x.as_str()),
            DeValue::Boolean(b) => b.to_string(),
            DeValue::Datetime(d) => format!("the date {d}"),
            DeValue::Array(a) => format!("a list of {}", a.len()),
            DeValue::Table(_) => "a table".into(),
        };
        self.source.error(&self.element(key), at.span(), format!("expected {expected}, found {found}"))
    }

    /// Text, with `{name}` replaced by the number of that name.
    pub(super) fn string(&self, key: &'static str) -> Result<Option<String>, SceneError> {
        self.value(key).map(|at| self.as_string(key, at)).transpose()
    }

    fn as_string(&self, key: &str, at: &Spanned<DeValue<'_>>) -> Result<String, SceneError> {
        let DeValue::String(text) = at.get_ref() else { return Err(self.wrong(at, key, "text")) };
        let mut out = text.to_string();
        for (name, value) in &self.scope {
            out = out.replace(&format!("{{{name}}}"), &value.to_string());
        }
        Ok(out)
    }

    /// Text, or a whole number.
    pub(super) fn string_or_integer(&self, key: &'static str) -> Result<Option<Result<String, i64>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        if let DeValue::String(_) = at.get_ref() {
            return self.as_string(key, at).map(|text| Some(Ok(text)));
        }
        match self.as_number(key, at)? {
            x if x.fract() == 0.0 && x.abs() < 1e9 => Ok(Some(Err(x as i64))),
            x => Err(self.error(key, format!("expected a name or a whole number, found {x}"))),
        }
    }

    /// Text that must be there.
    pub(super) fn needed_string(&self, key: &'static str) -> Result<String, SceneError> {
        self.string(key)?.ok_or_else(|| self.missing(key))
    }

    pub(super) fn missing(&self, key: &str) -> SceneError {
        let asked = self.asked.borrow();
        let unread = self.entries().filter(|(name, _)| !asked.contains(name)).map(|(name, _)| name);
        let hint = nearest(key, unread).map_or_else(String::new, |k| format!("; is it what \"{k}\" was meant to be?"));
        self.source.error(&self.element(key), self.span.clone(), format!("missing{hint}"))
    }

    /// One text or a list of texts.
    pub(super) fn strings(&self, key: &'static str) -> Result<Option<Vec<String>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        match at.get_ref() {
            DeValue::Array(list) => list.iter().map(|x| self.as_string(key, x)).collect::<Result<_, _>>().map(Some),
            _ => self.as_string(key, at).map(|s| Some(vec![s])),
        }
    }

    pub(super) fn bool(&self, key: &'static str) -> Result<Option<bool>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        match at.get_ref() {
            DeValue::Boolean(b) => Ok(Some(*b)),
            _ => Err(self.wrong(at, key, "true or false")),
        }
    }

    /// A number or a formula of the parameters.
    pub(super) fn number(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        self.value(key).map(|at| self.as_number(key, at)).transpose()
    }

    pub(super) fn as_number(&self, key: &str, at: &Spanned<DeValue<'_>>) -> Result<f64, SceneError> {
        let expression = self.as_formula(key, at)?;
        if let Some(name) = expression.names().first() {
            return Err(self.unknown_name(key, at, name, false));
        }
        let x = expression.evaluate(|_| f64::NAN);
        if x.is_nan() {
            return Err(self.source.error(&self.element(key), at.span(), "is not a number"));
        }
        Ok(x)
    }

    fn unknown_name(&self, key: &str, at: &Spanned<DeValue<'_>>, name: &str, over_time: bool) -> SceneError {
        let mut known: Vec<&str> = self.scope.keys().map(String::as_str).collect();
        if over_time {
            known.push("t");
        }
        let list = if known.is_empty() { "there are none".into() } else { format!("there are {}", known.join(", ")) };
        self.source.error(&self.element(key), at.span(), format!("no parameter is called \"{name}\"; {list}"))
    }

    /// A number, or text that starts with `=`; parameters are put in.
    fn as_formula(&self, key: &str, at: &Spanned<DeValue<'_>>) -> Result<Expression, SceneError> {
        match at.get_ref() {
            DeValue::Integer(i) => {
                let x = i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| self.wrong(at, key, "a number"))?;
                Ok(Expression::constant(x as f64))
            }
            DeValue::Float(x) => {
                let text = x.as_str().trim_start_matches('+');
                text.parse().map(Expression::constant).map_err(|_| self.wrong(at, key, "a number"))
            }
            DeValue::String(s) if s.trim_start().starts_with('=') => {
                let text = s.trim_start().trim_start_matches('=');
                let parsed = Expression::parse(text);
                let e = parsed.map_err(|m| self.source.error(&self.element(key), at.span(), m))?;
                Ok(e.bind(|name| self.scope.get(name).copied()))
            }
            _ => Err(self.wrong(at, key, "a number or a formula (\"= …\")")),
        }
    }

    /// A formula of the names given besides the parameters.
    pub(super) fn formula(&self, key: &'static str, names: &[&str]) -> Result<Option<Expression>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let e = self.as_formula(key, at)?;
        match e.names().iter().find(|n| !names.contains(&n.as_str())) {
            Some(name) => Err(self.unknown_name(key, at, name, false)),
            None => Ok(Some(e)),
        }
    }

    /// A list of exactly N numbers.
    pub(super) fn numbers<const N: usize>(&self, key: &'static str) -> Result<Option<[f64; N]>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let expected = format!("a list of {N} numbers");
        let DeValue::Array(list) = at.get_ref() else { return Err(self.wrong(at, key, &expected)) };
        let values: Vec<f64> = list.iter().map(|x| self.as_number(key, x)).collect::<Result<_, _>>()?;
        <[f64; N]>::try_from(values).map(Some).map_err(|_| self.wrong(at, key, &expected))
    }

    /// One number, or a list of two.
    pub(super) fn one_or_two(&self, key: &'static str) -> Result<Option<(f64, Option<f64>)>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        match at.get_ref() {
            DeValue::Array(_) => Ok(self.numbers::<2>(key)?.map(|[first, second]| (first, Some(second)))),
            _ => self.as_number(key, at).map(|x| Some((x, None))),
        }
    }

    /// A list of numbers.
    pub(super) fn list(&self, key: &'static str) -> Result<Option<Vec<f64>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let DeValue::Array(list) = at.get_ref() else { return Err(self.wrong(at, key, "a list of numbers")) };
        list.iter().map(|x| self.as_number(key, x)).collect::<Result<_, _>>().map(Some)
    }

    /// A list of lists of N numbers.
    pub(super) fn points<const N: usize>(&self, key: &'static str) -> Result<Option<Vec<[f64; N]>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let expected = format!("a list of lists of {N} numbers");
        let DeValue::Array(list) = at.get_ref() else { return Err(self.wrong(at, key, &expected)) };
        let mut out = Vec::with_capacity(list.len());
        for item in list.iter() {
            let DeValue::Array(point) = item.get_ref() else { return Err(self.wrong(item, key, &expected)) };
            let values: Vec<f64> = point.iter().map(|x| self.as_number(key, x)).collect::<Result<_, _>>()?;
            out.push(<[f64; N]>::try_from(values).map_err(|_| self.wrong(item, key, &format!("{N} numbers")))?);
        }
        Ok(Some(out))
    }

    /// A list of lists of numbers.
    pub(super) fn rows(&self, key: &'static str) -> Result<Option<Vec<Vec<f64>>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let DeValue::Array(list) = at.get_ref() else { return Err(self.wrong(at, key, "a list of lists of numbers")) };
        let row = |item: &Spanned<DeValue<'_>>| {
            let DeValue::Array(row) = item.get_ref() else { return Err(self.wrong(item, key, "a list of numbers")) };
            row.iter().map(|x| self.as_number(key, x)).collect()
        };
        list.iter().map(row).collect::<Result<_, _>>().map(Some)
    }

    /// A number over time: a number, a formula of `t`, or a list of points `[t, value]`.
    pub(super) fn signal(&self, key: &'static str) -> Result<Option<Signal>, SceneError> {
        self.value(key).map(|at| self.as_signal(key, at)).transpose()
    }

    /// Three numbers over time.
    pub(super) fn signals(&self, key: &'static str) -> Result<Option<[Signal; 3]>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        let DeValue::Array(list) = at.get_ref() else {
            return Err(self.wrong(at, key, "a list of 3 numbers or formulas"));
        };
        let values: Vec<Signal> = list.iter().map(|x| self.as_signal(key, x)).collect::<Result<_, _>>()?;
        <[Signal; 3]>::try_from(values).map(Some).map_err(|_| self.wrong(at, key, "a list of 3 numbers or formulas"))
    }

    fn as_signal(&self, key: &str, at: &Spanned<DeValue<'_>>) -> Result<Signal, SceneError> {
        let DeValue::Array(list) = at.get_ref() else {
            let e = self.as_formula(key, at)?;
            return match e.names().iter().find(|n| *n != "t") {
                Some(name) => Err(self.unknown_name(key, at, name, true)),
                None => Ok(Signal::Formula(e)),
            };
        };
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(list.len());
        for item in list.iter() {
            let DeValue::Array(pair) = item.get_ref() else { return Err(self.wrong(item, key, "a point [t, value]")) };
            let [t, x] = pair
                .get(0..2)
                .filter(|_| pair.len() == 2)
                .ok_or_else(|| self.wrong(item, key, "a point [t, value]"))?
            else {
                return Err(self.wrong(item, key, "a point [t, value]"));
            };
            let (t, x) = (self.as_number(key, t)?, self.as_number(key, x)?);
            if points.last().is_some_and(|last| last.0 > t) {
                return Err(self.source.error(&self.element(key), item.span(), "times must ascend"));
            }
            points.push((t, x));
        }
        Ok(Signal::Table(points))
    }

    /// A table.
    pub(super) fn section(&self, key: &'static str) -> Result<Option<Section<'a>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(None) };
        match at.get_ref() {
            DeValue::Table(table) => {
                Ok(Some(Section::new(self.source, table, self.element(key), at.span(), self.scope.clone())))
            }
            _ => Err(self.wrong(at, key, "a table")),
        }
    }

    /// A list of tables, each as often as its `repeat` says, without those whose `when` is 0.
    pub(super) fn sections(&self, key: &'static str) -> Result<Vec<Section<'a>>, SceneError> {
        let Some(at) = self.value(key) else { return Ok(vec![]) };
        let DeValue::Array(list) = at.get_ref() else { return Err(self.wrong(at, key, "a list of tables ([[…]])")) };
        let mut out = Vec::new();
        for (i, item) in list.iter().enumerate() {
            let DeValue::Table(table) = item.get_ref() else { return Err(self.wrong(item, key, "a table")) };
            let path = format!("{}[{i}]", self.element(key));
            let first = Section::new(self.source, table, path.clone(), item.span(), self.scope.clone());
            for scope in first.repeats()? {
                let section = Section::new(self.source, table, path.clone(), item.span(), scope);
                section.has("repeat");
                if section.number("when")? != Some(0.0) {
                    out.push(section);
                }
            }
        }
        Ok(out)
    }

    /// The scopes a table is read in: one, or one per value of `repeat = ["i = 1..n", …]` (both ends count; later ones vary fastest).
    fn repeats(&self) -> Result<Vec<Scope>, SceneError> {
        let mut scopes = vec![self.scope.clone()];
        let Some(loops) = self.strings("repeat")? else { return Ok(scopes) };
        for text in loops {
            let wrong = || self.error("repeat", format!("expected \"name = first..last\", found \"{text}\""));
            let (name, range) = text.split_once('=').ok_or_else(wrong)?;
            let (first, last) = range.split_once("..").ok_or_else(wrong)?;
            let name = name.trim();
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if name.is_empty() || !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(wrong());
            }
            let mut next = Vec::new();
            for scope in scopes {
                let end = |text: &str| -> Result<f64, SceneError> {
                    let e = Expression::parse(text).map_err(|m| self.error("repeat", m))?;
                    let e = e.bind(|name| scope.get(name).copied());
                    match e.names().first() {
                        Some(name) => Err(self.error("repeat", format!("no parameter is called \"{name}\""))),
                        None => Ok(e.evaluate(|_| f64::NAN)),
                    }
                };
                let (first, last) = (end(first)?, end(last)?);
                if first.fract() != 0.0 || last.fract() != 0.0 || !(last - first).is_finite() {
                    return Err(self.error(
                        "repeat",
                        format!("\"{text}\" runs from {first} to {last}; both must be whole numbers"),
                    ));
                }
                let mut i = first;
                while i <= last {
                    let mut inner = scope.clone();
                    inner.insert(name.into(), i);
                    next.push(inner);
                    if next.len() > MAX_REPEAT {
                        return Err(self.error("repeat", format!("makes more than {MAX_REPEAT} tables")));
                    }
                    i += 1.0;
                }
            }
            scopes = next;
        }
        Ok(scopes)
    }
}

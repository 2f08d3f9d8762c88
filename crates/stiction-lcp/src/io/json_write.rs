//! The JSON format: writing. [`Object`] is for writers of further formats.

use std::fmt::Write;

use super::ProblemFile;
use crate::matrix::Matrix;
use crate::problem::{FactoredLcp, Problem};

/// The file as JSON. Rust prints the shortest decimals that read back as the same double, and keeps −0.
pub(super) fn to_json(file: &ProblemFile) -> String {
    let mut out = Object::new();
    out.text("kind", file.problem.as_ref().kind());
    for (key, value) in [("name", &file.name), ("comment", &file.comment)] {
        if let Some(value) = value {
            out.text(key, value);
        }
    }
    match &file.problem {
        Problem::Lcp(p) => out.square(p.m(), p.q()),
        Problem::Mlcp(p) => {
            out.square(p.m(), p.q());
            out.list("free", p.free().iter().map(|f| f.to_string()));
        }
        Problem::Box(p) => {
            out.square(p.m(), p.q());
            out.numbers("lo", p.lo());
            out.numbers("hi", p.hi());
        }
        Problem::Factored(p) => factored(&mut out, p),
    }
    if let Some(basis) = &file.basis {
        out.text("basis", &basis.to_string());
    }
    out.end()
}

fn factored(out: &mut Object, p: &FactoredLcp) {
    out.matrix("G", p.g());
    match p.u() {
        // A matrix without a row does not show its columns; e does.
        Some(u) if !u.is_empty() || p.n() == 0 => out.numbers("u", u),
        _ => out.numbers("e", p.e()),
    }
    if let Some((lo, hi)) = p.bounds() {
        out.numbers("lo", lo);
        out.numbers("hi", hi);
    }
}

/// An object under construction, one key per line.
pub struct Object(String);

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// An object without a key.
    pub fn new() -> Self {
        Self("{".into())
    }

    /// A key; its value is to follow.
    fn key(&mut self, key: &str) {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\n  \"{key}\": ");
    }

    /// A key with a string.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        let _ = write!(self.0, "{}", serde_json::Value::from(value));
    }

    /// A key with a list of items, each written as it is.
    pub fn list(&mut self, key: &str, items: impl Iterator<Item = String>) {
        self.key(key);
        let items: Vec<String> = items.collect();
        let _ = write!(self.0, "[{}]", items.join(", "));
    }

    /// A key with a value that is JSON already.
    pub fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.0.push_str(value);
    }

    /// A key with a list of numbers, infinite ones as strings.
    pub fn numbers(&mut self, key: &str, numbers: &[f64]) {
        self.list(key, numbers.iter().map(|x| number(*x)));
    }

    /// A key with a matrix, a line per row.
    pub fn matrix(&mut self, key: &str, m: &Matrix) {
        self.key(key);
        self.0.push('[');
        for i in 0..m.rows() {
            self.0.push_str(if i == 0 { "\n    [" } else { ",\n    [" });
            for j in 0..m.cols() {
                let _ = write!(self.0, "{}{}", if j == 0 { "" } else { ", " }, number(m[(i, j)]));
            }
            self.0.push(']');
        }
        self.0.push_str(if m.rows() == 0 { "]" } else { "\n  ]" });
    }

    fn square(&mut self, m: &Matrix, q: &[f64]) {
        self.matrix("M", m);
        self.numbers("q", q);
    }

    /// The text.
    pub fn end(mut self) -> String {
        self.0.push_str("\n}\n");
        self.0
    }
}

/// A number as JSON: the shortest decimals that read back as the same double; an infinite one as a string.
pub fn number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { format!("\"{x}\"") }
}

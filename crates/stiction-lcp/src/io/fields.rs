//! The named fields of a problem, as JSON and `.npz` files give them.

use super::fault::Fault;
use super::json_values::{Fields, Infinite, Keys, Shape};
use super::{Kind, ProblemFile};
use crate::basis::Basis;
use crate::error::InputError;
use crate::matrix::Matrix;
use crate::problem::{BoxLcp, FactoredLcp, Lcp, Mlcp, Problem};

/// All fields with their shapes.
pub(super) const KEYS: Keys = &[
    ("M", Shape::Matrix),
    ("q", Shape::NUMBERS),
    ("free", Shape::Flags),
    ("A", Shape::Matrix),
    ("B", Shape::Matrix),
    ("C", Shape::Matrix),
    ("D", Shape::Matrix),
    ("g", Shape::NUMBERS),
    ("h", Shape::NUMBERS),
    ("lo", Shape::Numbers(Infinite::OrNull(f64::NEG_INFINITY))),
    ("hi", Shape::Numbers(Infinite::OrNull(f64::INFINITY))),
    ("G", Shape::Matrix),
    ("e", Shape::NUMBERS),
    ("u", Shape::NUMBERS),
    ("kind", Shape::Text),
    ("basis", Shape::Text),
    ("name", Shape::Text),
    ("comment", Shape::Text),
];

/// The kinds of problem that a field of numbers belongs to.
fn kinds_of(field: &str) -> &'static [&'static str] {
    match field {
        "M" | "q" => &["lcp", "mlcp", "box"],
        "lo" | "hi" => &["box", "factored"],
        "G" | "e" | "u" => &["factored"],
        _ => &["mlcp"],
    }
}

/// The fields of a problem that were found.
pub(super) struct ProblemFields(pub(super) Fields);

impl ProblemFields {
    fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }

    fn matrix(&mut self, name: &str) -> Result<Matrix, Fault> {
        self.0.matrix(name).ok_or_else(|| missing(name))
    }

    /// A matrix with `cols` columns if it has no row, which the file cannot say.
    fn matrix_with(&mut self, name: &str, cols: usize) -> Result<Matrix, Fault> {
        let m = self.matrix(name)?;
        Ok(if m.rows() == 0 { Matrix::zeros(0, cols) } else { m })
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f64>, Fault> {
        self.0.numbers(name).ok_or_else(|| missing(name))
    }

    fn flags(&mut self, name: &str) -> Result<Vec<bool>, Fault> {
        self.0.flags(name).ok_or_else(|| missing(name))
    }

    /// The kind that the fields make, if none is written.
    fn likely_kind(&self) -> &'static str {
        if self.has("G") {
            "factored"
        } else if self.has("free") || self.has("A") {
            "mlcp"
        } else if self.has("lo") || self.has("hi") {
            "box"
        } else {
            "lcp"
        }
    }

    /// The problem of these fields; `asked` is the kind the reader was told to expect.
    pub(super) fn build(mut self, asked: Option<Kind>) -> Result<ProblemFile, Fault> {
        let [kind, basis, name, comment] = ["kind", "basis", "name", "comment"].map(|key| self.0.text(key));
        let kind = match kind.as_deref() {
            None => self.likely_kind(),
            Some("lcp") => "lcp",
            Some("mlcp") => "mlcp",
            Some("box" | "relay") => "box",
            Some("factored") => "factored",
            Some(other) => {
                return Err(Fault::whole(format!("kind: expected lcp, mlcp, box or factored, found {other:?}")));
            }
        };
        let asked = asked.map(|k| if k == Kind::Relay { "box" } else { k.name() });
        if let Some(asked) = asked.filter(|a| *a != kind) {
            return Err(Fault::whole(format!("the file holds a problem of kind {kind}, not {asked}")));
        }
        self.check_belonging(kind)?;
        let problem = match kind {
            "lcp" => Lcp::new(self.matrix("M")?, self.vector("q")?).map(Problem::Lcp),
            "mlcp" if self.has("M") => {
                Mlcp::new(self.matrix("M")?, self.vector("q")?, self.flags("free")?).map(Problem::Mlcp)
            }
            "mlcp" => self.mlcp_blocks()?.map(Problem::Mlcp),
            "box" => {
                let (lo, hi) = (self.vector("lo")?, self.vector("hi")?);
                BoxLcp::new(self.matrix("M")?, self.vector("q")?, lo, hi).map(Problem::Box)
            }
            _ => self.factored()?.map(Problem::Factored),
        };
        let problem = problem.map_err(Fault::whole)?;
        let basis = basis.map(|word| basis_of(&word, problem.as_ref().n())).transpose();
        Ok(ProblemFile { problem, basis: basis.map_err(|e| Fault::whole(format!("basis: {e}")))?, name, comment })
    }

    /// Refuses fields that this kind of problem has no place for.
    fn check_belonging(&self, kind: &str) -> Result<(), Fault> {
        for name in self.0.keys() {
            let kinds = kinds_of(name);
            if !kinds.contains(&kind) {
                let message =
                    format!("{name} has no place in a problem of kind {kind}; it belongs to {}", kinds.join(", "));
                return Err(Fault::whole(message));
            }
        }
        let both = |a, b| self.has(a) && self.has(b);
        for (a, b) in [("M", "A"), ("free", "A"), ("e", "u")] {
            if both(a, b) {
                return Err(Fault::whole(format!("{a} and {b} cannot both be given")));
            }
        }
        Ok(())
    }

    fn mlcp_blocks(&mut self) -> Result<Result<Mlcp, InputError>, Fault> {
        if !self.has("A") && self.has("free") {
            return Err(missing("M"));
        }
        let (g, h) = (self.vector("g")?, self.vector("h")?);
        let (p, r) = (g.len(), h.len());
        let (a, b) = (self.matrix_with("A", p)?, self.matrix_with("B", r)?);
        let (c, d) = (self.matrix_with("C", r)?, self.matrix_with("D", p)?);
        Ok(Mlcp::from_blocks(&a, &b, &c, &d, &g, &h))
    }

    fn factored(&mut self) -> Result<Result<FactoredLcp, InputError>, Fault> {
        let problem = if self.has("u") {
            FactoredLcp::least_squares(self.matrix("G")?, self.vector("u")?)
        } else {
            let e = self.vector("e").map_err(|_| Fault::whole("e or u is missing"))?;
            FactoredLcp::new(self.matrix_with("G", e.len())?, e)
        };
        if !self.has("lo") && !self.has("hi") {
            return Ok(problem);
        }
        let (lo, hi) = (self.vector("lo")?, self.vector("hi")?);
        Ok(problem.and_then(|p| p.with_bounds(lo, hi)))
    }
}

/// A basis as written, for a problem of order n.
fn basis_of(word: &str, n: usize) -> Result<Basis, InputError> {
    let basis: Basis = word.parse()?;
    basis.check_len(n)?;
    Ok(basis)
}

fn missing(name: &str) -> Fault {
    Fault::whole(format!("{name} is missing"))
}

/// The known name nearest to `name`: the one that the fewest changes of letters lead to.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const FAR: usize = 3;
    let cost = |k: &str| 2 * distance(&name.to_lowercase(), &k.to_lowercase()) + usize::from(name != k);
    known.into_iter().min_by_key(|k| cost(k)).filter(|k| distance(&name.to_lowercase(), &k.to_lowercase()) < FAR)
}

/// Insertions, deletions and changes of a letter that turn `a` into `b`; of long words only the beginning counts.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 32;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

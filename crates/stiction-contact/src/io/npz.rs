//! Friction problems as NumPy `.npz`: dense W, q, mu, or dense M, H, f, b, mu.

use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::npy::Array;
use stiction_lcp::io::npz::{arrays, names};
use stiction_lcp::io::siconos_matrix::Stored;

use super::build::{self, Entries};
use super::json::OWN_KEYS;
use super::{FrictionFile, Kind};

const NAMES: [&str; 8] = ["W", "q", "mu", "dim", "M", "H", "f", "b"];

/// True if the archive holds a friction problem: by what it is said to be, or by the names of its arrays.
pub(super) fn is_friction(bytes: &[u8], asked: Option<Kind>) -> bool {
    let own = |names: Vec<String>| names.iter().any(|name| OWN_KEYS.contains(&name.as_str()));
    matches!(asked, Some(Kind::Friction | Kind::GlobalFriction)) || names(bytes).is_ok_and(own)
}

/// The friction problem in the archive `bytes`, of at most `max_numbers` numbers.
pub(super) fn read(bytes: &[u8], max_numbers: usize) -> Result<FrictionFile, Fault> {
    let mut found = Arrays(arrays(bytes, &NAMES, max_numbers)?);
    let dim = found.dim()?;
    let problem = if ["M", "H", "f", "b"].iter().any(|name| found.has(name)) {
        let (mass, h) = (found.matrix("M")?, found.matrix("H")?);
        build::global(dim, mass, h, found.vector("f")?, found.vector("b")?, found.vector("mu")?)?
    } else {
        build::local(dim, found.matrix("W")?, found.vector("q")?, found.vector("mu")?)?
    };
    match found.0.first() {
        None => Ok(problem),
        Some((name, _)) => {
            Err(Fault::whole(format!("{name} has no place in a problem of kind {}", problem.kind().name())))
        }
    }
}

/// The arrays not yet taken.
struct Arrays(Vec<(&'static str, Array)>);

impl Arrays {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|a| a.0 == name)
    }

    fn take(&mut self, name: &str) -> Result<Array, Fault> {
        let i = self.0.iter().position(|a| a.0 == name);
        let i = i.ok_or_else(|| Fault::whole(format!("{name} is missing")))?;
        Ok(self.0.swap_remove(i).1)
    }

    fn matrix(&mut self, name: &str) -> Result<Entries, Fault> {
        let dense = self.take(name)?.into_matrix().map_err(|e| Fault::whole(format!("{name}: {e}")))?;
        let (rows, cols) = (dense.rows(), dense.cols());
        Ok(Entries { rows, cols, entries: Stored::Dense(dense).into_entries() })
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f64>, Fault> {
        self.take(name)?.into_vector().map_err(|e| Fault::whole(format!("{name}: {e}")))
    }

    /// The rows per contact, if they are given.
    fn dim(&mut self) -> Result<Option<usize>, Fault> {
        if !self.has("dim") {
            return Ok(None);
        }
        match self.take("dim")?.data[..] {
            [2.0] => Ok(Some(2)),
            [3.0] => Ok(Some(3)),
            ref found => Err(Fault::whole(format!("dim: expected 2 or 3, found {found:?}"))),
        }
    }
}

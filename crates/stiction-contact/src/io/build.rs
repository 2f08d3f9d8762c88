//! From the parts of a file to a problem; sizes are compared before anything is allocated by them.

use stiction_lcp::InputError;
use stiction_lcp::io::fault::Fault;

use super::FrictionFile;
use crate::friction_problem::{FrictionProblem, GlobalFrictionProblem};
use crate::sparse::SparseMatrix;

/// A matrix as a file gives it: entries that add up.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// Row, column and value.
    pub(super) entries: Vec<(usize, usize, f64)>,
}

impl Entries {
    /// The matrix `name`, which must be `rows × cols`.
    fn into_matrix(self, name: &str, rows: usize, cols: usize) -> Result<SparseMatrix, Fault> {
        let size = |what: &str, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(Fault::whole(InputError::Size { what: format!("{what} of {name}"), expected, found })),
        };
        size("rows", rows, self.rows)?;
        size("columns", cols, self.cols)?;
        SparseMatrix::from_entries(rows, cols, self.entries).map_err(|e| Fault::whole(format!("{name}: {e}")))
    }
}

/// The local problem; without `dim`, the sizes of q and mu give it.
pub(super) fn local(dim: Option<usize>, w: Entries, q: Vec<f64>, mu: Vec<f64>) -> Result<FrictionFile, Fault> {
    let dim = dim.map_or_else(|| dim_of("q", &q, &mu), Ok)?;
    let w = w.into_matrix("W", q.len(), q.len())?;
    FrictionProblem::new(dim, w, q, mu).map(FrictionFile::Local).map_err(Fault::whole)
}

/// The global problem; without `dim`, the sizes of b and mu give it.
pub(super) fn global(
    dim: Option<usize>,
    mass: Entries,
    h: Entries,
    f: Vec<f64>,
    b: Vec<f64>,
    mu: Vec<f64>,
) -> Result<FrictionFile, Fault> {
    let dim = dim.map_or_else(|| dim_of("b", &b, &mu), Ok)?;
    let mass = mass.into_matrix("M", f.len(), f.len())?;
    let h = h.into_matrix("H", f.len(), b.len())?;
    GlobalFrictionProblem::new(dim, mass, h, f, b, mu).map(FrictionFile::Global).map_err(Fault::whole)
}

/// Numbers per contact.
fn dim_of(name: &str, vector: &[f64], mu: &[f64]) -> Result<usize, Fault> {
    const WITHOUT_CONTACTS: usize = 3;
    match (vector.len(), mu.len()) {
        (0, 0) => Ok(WITHOUT_CONTACTS),
        (n, contacts) if contacts > 0 && n == 2 * contacts => Ok(2),
        (n, contacts) if contacts > 0 && n == 3 * contacts => Ok(3),
        (n, contacts) => Err(Fault::whole(format!(
            "{name} has {n} numbers and mu {contacts}; expected 2 or 3 numbers of {name} for each of mu"
        ))),
    }
}

/// The words for kinds of problem that are known but not read.
pub(super) fn not_supported(what: &str) -> Fault {
    Fault::whole(format!("this is {what}, which is not supported yet"))
}

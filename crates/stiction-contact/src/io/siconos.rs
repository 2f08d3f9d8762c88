//! The text formats of Siconos for friction problems.
//!
//! A local problem is `d nc`, the matrix W, q (d nc) and mu (nc); a global one is `d nc`, the matrices M and H, f, b and mu. The file does not
//! say which it is: it is global if M does not have d nc rows, or if what follows it begins as a matrix H that fits does. d = 5, or a second
//! nc coefficients after mu, mean rolling friction, which is not read.

use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::siconos_matrix::{self as matrix, Stored};
use stiction_lcp::io::tokens::Tokens;

use super::build::{self, Entries, not_supported};
use super::{FrictionFile, Kind, ReadOptions};

/// True if the first numbers are those of a friction problem, rolling ones included, and not of an LCP or MLCP; or if it is said to be one.
pub(super) fn looks_like_friction(bytes: &[u8], kind: Option<Kind>) -> bool {
    if let Some(kind) = kind {
        return matches!(kind, Kind::Friction | Kind::GlobalFriction);
    }
    let mut t = Tokens::new(bytes);
    let mut next = || t.step().and_then(|token| token.integer());
    let (Some(dim), Some(contacts), Some(storage), Some(rows), Some(cols)) = (next(), next(), next(), next(), next())
    else {
        return false;
    };
    // Without contacts it could only be an LCP, whose second and third number are the storage and again the order.
    let fits = dim >= 2 && rows == cols && (contacts >= 1 || matches!(dim, 2 | 3) && storage != dim);
    let known = matches!(dim, 2 | 3 | 5) || dim.checked_mul(contacts) == Some(rows);
    // An LCP of order 2 whose matrix is in blocks may begin so, too; but not with what CSparse prints.
    fits && known && (storage < 2 || storage == 2 && mentions_csparse(bytes))
}

fn mentions_csparse(bytes: &[u8]) -> bool {
    const HEAD: usize = 1024;
    bytes[..bytes.len().min(HEAD)].windows(4).any(|w| w == b"-by-")
}

/// The problem in the text `bytes`; `label` is the file's path, for its hints.
pub(super) fn read(label: &str, bytes: &[u8], options: &ReadOptions) -> Result<FrictionFile, Fault> {
    let t = &mut Tokens::new(bytes);
    let dim = t.integer("the rows per contact, 2 or 3")?;
    let at = t.here();
    let contacts = t.integer("the number of contacts")?;
    let n = dim.checked_mul(contacts).filter(|n| *n <= t.left_at_most());
    let n = n.ok_or_else(|| Fault::at(t.here(), format!("{contacts} contacts do not fit into this file")))?;
    match dim {
        2 | 3 => {}
        5 => return Err(not_supported(&rolling(t, n, contacts, options))),
        _ => return Err(Fault::at(at, format!("a contact has 2 or 3 rows, found {dim}"))),
    }
    let first = matrix::read(t, options.max_numbers)?;
    if first.rows() != first.cols() {
        let message = format!("the matrix must be square, found {} × {}", first.rows(), first.cols());
        return Err(Fault::at(t.here(), message));
    }
    let problem = Parts { dim, contacts, n, first };
    let is_local = match options.kind {
        Some(Kind::Friction) => true,
        Some(Kind::GlobalFriction) => false,
        _ => problem.first.rows() == n && !problem.continues_as_global(t),
    };
    let (file, second_mu) = if is_local { problem.local(t)? } else { problem.global(t, options.max_numbers)? };
    let says_rolling = contacts > 1 || label.to_lowercase().contains("rolling");
    if dim == 3 && options.kind.is_none() && second_mu && says_rolling {
        let hint = "kind friction reads it as one in space, and what follows mu as a comment";
        return Err(not_supported("a rolling friction-contact problem in the plane").with_hint(hint));
    }
    Ok(file)
}

/// What a rolling problem is called.
fn rolling(t: &Tokens<'_>, n: usize, contacts: usize, options: &ReadOptions) -> String {
    let rows = matrix::read(&mut t.clone(), options.max_numbers).map(|m| m.rows());
    let global = if rows.is_ok_and(|rows| rows != n) { "global " } else { "" };
    let s = if contacts == 1 { "" } else { "s" };
    format!("a {global}rolling friction-contact problem ({contacts} contact{s} of dimension 5)")
}

/// What the file begins with.
struct Parts {
    dim: usize,
    contacts: usize,
    /// dim · contacts.
    n: usize,
    /// W or M.
    first: Stored,
}

impl Parts {
    /// True if what follows begins as a matrix H of the right size does. A q that does so, in whole numbers, is no file's that Siconos wrote, and
    /// were it taken for one, so would be a global problem that is cut off.
    fn continues_as_global(&self, t: &Tokens<'_>) -> bool {
        let mut head = *t;
        let mut next = || head.step().and_then(|token| token.integer());
        let size = (self.first.rows(), self.n);
        matches!((next(), next(), next()), (Some(0..=2), Some(rows), Some(cols)) if (rows, cols) == size)
    }

    /// q and mu, and whether as many numbers follow as a rolling problem has.
    fn local(self, t: &mut Tokens<'_>) -> Result<(FrictionFile, bool), Fault> {
        if self.first.rows() != self.n {
            return Err(self.wrong_size("W", self.first.rows(), t));
        }
        let q = t.numbers(self.n, "an entry of q")?;
        let mu = t.bounds(self.contacts, "a friction coefficient")?;
        let second_mu = self.second_mu(t);
        build::local(Some(self.dim), entries(self.first), q, mu).map(|file| (file, second_mu))
    }

    /// H, f, b and mu, and whether as many numbers follow as a rolling problem has.
    fn global(self, t: &mut Tokens<'_>, limit: usize) -> Result<(FrictionFile, bool), Fault> {
        let freedoms = self.first.rows();
        let h = matrix::read(t, limit)
            .map_err(|fault| fault.with_hint("in H of a global problem; kind friction reads W and q here"))?;
        if h.rows() != freedoms {
            let message = format!("M has {freedoms} rows, so H must have as many, found {}", h.rows());
            return Err(Fault::at(t.here(), message));
        }
        if h.cols() != self.n {
            return Err(self.wrong_size("H", h.cols(), t));
        }
        let f = t.numbers(freedoms, "an entry of f")?;
        let b = t.numbers(self.n, "an entry of b")?;
        let mu = t.bounds(self.contacts, "a friction coefficient")?;
        let second_mu = self.second_mu(t);
        let file = build::global(Some(self.dim), entries(self.first), entries(h), f, b, mu)?;
        Ok((file, second_mu))
    }

    fn wrong_size(&self, name: &str, found: usize, t: &Tokens<'_>) -> Fault {
        let (contacts, dim) = (self.contacts, self.dim);
        let what = format!("{contacts} contacts of {dim} rows ask for a matrix {name} with {} columns", self.n);
        Fault::at(t.here(), format!("{what}, found {found}"))
    }

    /// True if nc numbers follow, or those and one more, as Siconos' files often end with.
    fn second_mu(&self, t: &Tokens<'_>) -> bool {
        let nc = self.contacts;
        let ahead = t.numbers_ahead(nc + 2);
        nc > 0 && (ahead == nc || ahead == nc + 1)
    }
}

fn entries(stored: Stored) -> Entries {
    Entries { rows: stored.rows(), cols: stored.cols(), entries: stored.into_entries() }
}

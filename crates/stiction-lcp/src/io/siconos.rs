//! The text formats of Siconos for linear complementarity, mixed and relay problems.
//!
//! A file does not say what it holds. All formats begin with whole numbers, and these tell them apart:
//!
//! | kind | begins | then |
//! |---|---|---|
//! | LCP | `n` matrix, n × n | q (n) |
//! | relay | `n` matrix, n × n | q, lower bounds, upper bounds (n each) |
//! | MLCP | `0\|1 0\|1 n m` | block rows, block types, matrix, q; and, or instead, the blocks A B C D a b |
//! | friction contact | `d nc` matrix | not read here: named in the error |
//! | generic mechanical | matrix by blocks | not read: named in the error |
//!
//! where a matrix begins `storage rows cols`. What comes after the last number needed is a comment. The
//! name of the file decides only between an LCP and a relay problem, and only where both fit.

use super::fault::Fault;
use super::siconos_matrix::{self as matrix, Stored};
use super::tokens::Tokens;
use super::{Kind, ReadOptions};
use crate::matrix::Matrix;
use crate::problem::{BoxLcp, Lcp, Mlcp, Problem};

/// The problem in the text `bytes`; `label` is the file's path, for its hints.
pub(super) fn read(label: &str, bytes: &[u8], options: &ReadOptions) -> Result<Problem, Fault> {
    let limit = options.max_numbers;
    if Tokens::new(bytes).step().is_none() {
        return Err(Fault::whole("the file is empty"));
    }
    match options.kind {
        Some(Kind::Lcp) => read_lcp(bytes, limit, Bounds::Ignored).map_err(|f| explain(f, bytes)),
        Some(Kind::Relay) => read_lcp(bytes, limit, Bounds::Required).map_err(|f| explain(f, bytes)),
        Some(Kind::Mlcp) => read_mlcp(bytes, limit).map_err(|f| explain(f, bytes)),
        None => read_any(label, bytes, limit),
    }
}

/// Whether a text is friction, told to a user who asked for another kind.
fn explain(fault: Fault, bytes: &[u8]) -> Fault {
    match foreign(bytes, 0) {
        Some(what) => fault.with_hint(format!("the file looks like {what}")),
        None => fault,
    }
}

/// Decides by the first numbers; where these fit an LCP and an MLCP, by which of them can be read.
fn read_any(label: &str, bytes: &[u8], limit: usize) -> Result<Problem, Fault> {
    let head = head(bytes);
    let bounds = Bounds::hinted(label);
    match (begins_mlcp(&head), begins_lcp(&head)) {
        (true, false) => read_mlcp(bytes, limit).or_else(|f| unless_foreign(f, bytes, limit)),
        (true, true) => match (read_mlcp(bytes, limit), read_lcp(bytes, limit, bounds)) {
            (Ok(p), _) => Ok(p),
            (Err(_), Ok(p)) => Ok(p),
            (Err(a), Err(b)) => unless_foreign(if a.depth() > b.depth() { a } else { b }, bytes, limit),
        },
        (false, true) => read_lcp(bytes, limit, bounds).or_else(|f| unless_foreign(f, bytes, limit)),
        // Neither: either another kind of file, or a broken one, which the reader of the likeliest kind explains.
        (false, false) => {
            let mixed = name_has(label, "mlcp");
            let read = if mixed { read_mlcp(bytes, limit) } else { read_lcp(bytes, limit, bounds) };
            read.or_else(|f| unless_foreign(f, bytes, limit))
        }
    }
}

/// Replaces a reader's fault by what the file is, if it is something else.
fn unless_foreign(fault: Fault, bytes: &[u8], limit: usize) -> Result<Problem, Fault> {
    Err(match foreign(bytes, limit) {
        Some(what) if what == GENERIC => Fault::whole(format!("this looks like {what}, which is not supported yet")),
        Some(what) => Fault::whole(format!("this looks like {what}, not like an LCP, MLCP or relay problem")),
        None => fault,
    })
}

/// The whole numbers that the file begins with, at most eight.
fn head(bytes: &[u8]) -> Vec<usize> {
    let mut t = Tokens::new(bytes);
    (0..8).map_while(|_| t.step().and_then(|token| token.integer())).collect()
}

fn begins_lcp(head: &[usize]) -> bool {
    matches!(head, [n, 0..=2, rows, cols, ..] if rows == n && cols == n)
}

fn begins_mlcp(head: &[usize]) -> bool {
    match head {
        [1, 0 | 1, _, _, first, ..] => *first == 0,
        [0, 1, _, _, ..] => true,
        _ => false,
    }
}

const GENERIC: &str = "a generic mechanical problem";

/// What the file looks like if it is a problem of Siconos that is not read; `limit` as for reading.
fn foreign(bytes: &[u8], limit: usize) -> Option<String> {
    let head = head(bytes);
    if let [d @ (2 | 3 | 5), contacts @ 1..=usize::MAX, storage @ 0..=2, rows, cols, ..] = head[..]
        && rows == cols
        && (storage != 2 || mentions(bytes, b"-by-"))
    {
        let local = Some(rows) == d.checked_mul(contacts);
        let rolling = if d == 5 { "rolling " } else { "" };
        let global = if local { "" } else { "global " };
        let s = if contacts == 1 { "" } else { "s" };
        return Some(format!("a {global}{rolling}friction-contact problem ({contacts} contact{s} of dimension {d})"));
    }
    let generic = matches!(head[..], [1, rows, cols, ..] if rows == cols) && generic_mechanical(bytes, limit).is_ok();
    generic.then(|| GENERIC.to_string())
}

fn mentions(bytes: &[u8], word: &[u8]) -> bool {
    const HEAD: usize = 1024;
    bytes[..bytes.len().min(HEAD)].windows(word.len()).any(|w| w == word)
}

/// A matrix by blocks, q, and the type of the first block.
fn generic_mechanical(bytes: &[u8], limit: usize) -> Result<(), Fault> {
    let t = &mut Tokens::new(bytes);
    let rows = matrix::read(t, limit)?.rows();
    t.numbers(rows, "q")?;
    t.integer("the type of a block").map(|_| ())
}

/// What to make of the numbers after q.
#[derive(Clone, Copy, PartialEq)]
enum Bounds {
    /// They are a comment: the problem is an LCP.
    Ignored,
    /// They are the bounds of a relay problem.
    Required,
    /// They are bounds if there are enough of them and each pair is in order.
    IfTheyFit,
}

impl Bounds {
    /// What the path says: `relay` in the name or folder means a relay problem, `lcp` an LCP; both or none, nothing.
    fn hinted(label: &str) -> Self {
        match (name_has(label, "relay"), name_has(label, "lcp")) {
            (true, false) => Self::Required,
            (false, true) => Self::Ignored,
            _ => Self::IfTheyFit,
        }
    }
}

/// True if the file's name has `word` in it, or its folder is called so.
fn name_has(label: &str, word: &str) -> bool {
    let path = std::path::Path::new(label);
    let lower = |name: Option<&std::ffi::OsStr>| name.map_or(String::new(), |n| n.to_string_lossy().to_lowercase());
    lower(path.file_name()).contains(word) || lower(path.parent().and_then(|p| p.file_name())) == word
}

/// `n M q`, and the bounds of a relay problem if there are any.
fn read_lcp(bytes: &[u8], limit: usize, bounds: Bounds) -> Result<Problem, Fault> {
    let t = &mut Tokens::new(bytes);
    let n = t.integer("the order n of the problem")?;
    let m = matrix::read(t, limit)?;
    if (m.rows(), m.cols()) != (n, n) {
        let message = format!("the order is {n}, so the matrix must be {n} × {n}, found {} × {}", m.rows(), m.cols());
        return Err(Fault::at(t.here(), message));
    }
    let q = t.numbers(n, "an entry of q")?;
    let bounds = match bounds {
        Bounds::Ignored => None,
        Bounds::Required => Some(relay_bounds(t, n).map_err(|f| f.with_hint("read as a relay problem"))?),
        Bounds::IfTheyFit if n > 0 && t.numbers_ahead(2 * n) == 2 * n => {
            relay_bounds(t, n).ok().filter(|(lo, hi)| lo.iter().zip(hi).all(|(l, h)| l <= h))
        }
        Bounds::IfTheyFit => None,
    };
    let m = m.into_dense(limit)?;
    match bounds {
        None => Lcp::new(m, q).map(Problem::Lcp),
        Some((lo, hi)) => BoxLcp::new(m, q, lo, hi).map(Problem::Box),
    }
    .map_err(Fault::whole)
}

fn relay_bounds(t: &mut Tokens<'_>, n: usize) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    Ok((t.bounds(n, "a lower bound")?, t.bounds(n, "an upper bound")?))
}

/// `st1 st2 n m`, then the whole matrix if st1, and the four blocks if st2.
fn read_mlcp(bytes: &[u8], limit: usize) -> Result<Problem, Fault> {
    let t = &mut Tokens::new(bytes);
    let whole = flag(t, "whether M is stored")?;
    let blocks = flag(t, "whether A, B, C, D are stored")?;
    if !whole && !blocks {
        return Err(Fault::at(t.here(), "the file says that it stores neither M nor the blocks A, B, C, D"));
    }
    let free = t.integer("the number of equations")?;
    let complementary = t.integer("the number of complementarity conditions")?;
    let first = if whole { Some(whole_storage(t, free, complementary, limit)?) } else { None };
    let second = if blocks { Some(block_storage(t, free, complementary, limit)?) } else { None };
    let problem = match (first, second) {
        (Some(first), Some(second)) => agreed(first, &second)?,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return Err(Fault::whole("the file stores no matrix")),
    };
    Ok(Problem::Mlcp(problem))
}

fn flag(t: &mut Tokens<'_>, what: &str) -> Result<bool, Fault> {
    match t.integer(what)? {
        value @ (0 | 1) => Ok(value == 1),
        value => Err(Fault::at(t.here(), format!("expected 0 or 1, {what}, found {value}"))),
    }
}

/// Storage 1: the blocks of rows and their types, M and q.
fn whole_storage(t: &mut Tokens<'_>, free: usize, complementary: usize, limit: usize) -> Result<Mlcp, Fault> {
    let n = free
        .checked_add(complementary)
        .filter(|n| *n <= t.left_at_most())
        .ok_or_else(|| Fault::at(t.here(), format!("{free} + {complementary} rows do not fit into this file")))?;
    let mut starts = vec![t.integer("the first row of a block")?];
    if starts[0] != 0 {
        return Err(Fault::at(t.here(), format!("the first block begins at row 0, found {}", starts[0])));
    }
    let mut end = 0;
    while end < n {
        let next = t.integer("the first row of a block")?;
        if next < end || next > n {
            return Err(Fault::at(t.here(), format!("the blocks rise to row {n}, found {next} after {end}")));
        }
        starts.push(next);
        end = next;
    }
    let mut is_free = Vec::with_capacity(n);
    for block in starts.windows(2) {
        let complementary = flag(t, "whether a block is complementary")?;
        is_free.extend((block[0]..block[1]).map(|_| !complementary));
    }
    let equations = is_free.iter().filter(|f| **f).count();
    if equations != free {
        let message = format!("the header says {free} equations, the blocks have {equations}");
        return Err(Fault::at(t.here(), message));
    }
    let m = square(matrix::read(t, limit)?, n, t)?;
    let q = t.numbers(n, "an entry of q")?;
    Mlcp::new(m.into_dense(limit)?, q, is_free).map_err(Fault::whole)
}

fn square(m: Stored, n: usize, t: &Tokens<'_>) -> Result<Stored, Fault> {
    if (m.rows(), m.cols()) == (n, n) {
        return Ok(m);
    }
    let (rows, cols) = (m.rows(), m.cols());
    let message = if rows == cols {
        format!("the matrix is {rows} × {cols}, the header says {n} rows")
    } else {
        format!("the matrix is {rows} × {cols}; mixed problems are read only with as many equations as unknowns ({n})")
    };
    Err(Fault::at(t.here(), message))
}

/// Storage 2: A, B, C, D row by row, a and b; equations first.
fn block_storage(t: &mut Tokens<'_>, free: usize, complementary: usize, limit: usize) -> Result<Mlcp, Fault> {
    let mut block = |name: &str, rows: usize, cols: usize| {
        matrix::check_limit(rows, cols, limit).map_err(|message| Fault::at(t.here(), message))?;
        let data = t.numbers(rows * cols, &format!("an entry of {name}"))?;
        Matrix::from_columns(cols, rows, data).map(|transposed| transposed.transposed()).map_err(Fault::whole)
    };
    let (p, r) = (free, complementary);
    let (a, b, c, d) = (block("A", p, p)?, block("B", r, r)?, block("C", p, r)?, block("D", r, p)?);
    let g = t.numbers(p, "an entry of a")?;
    let h = t.numbers(r, "an entry of b")?;
    matrix::check_limit(p + r, p + r, limit).map_err(Fault::whole)?;
    Mlcp::from_blocks(&a, &b, &c, &d, &g, &h).map_err(Fault::whole)
}

/// Two spellings of a number are the same if they agree to this fraction of it: block storage has seven digits.
const NUMBER_TOLERANCE: f64 = 1e-5;

/// The problem of the first storage, if the second holds the same one (equations first).
fn agreed(first: Mlcp, second: &Mlcp) -> Result<Mlcp, Fault> {
    let n = first.n();
    let (equations, others): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| first.free()[*i]);
    let order: Vec<usize> = equations.into_iter().chain(others).collect();
    let same = |a: f64, b: f64| (a - b).abs() <= NUMBER_TOLERANCE * a.abs().max(b.abs());
    for (i, &row) in order.iter().enumerate() {
        let mut pairs = order.iter().enumerate().map(|(j, &col)| (first.m()[(row, col)], second.m()[(i, j)]));
        let wrong = pairs.find(|(a, b)| !same(*a, *b));
        let wrong = wrong.or_else(|| Some((first.q()[row], second.q()[i])).filter(|(a, b)| !same(*a, *b)));
        if let Some((a, b)) = wrong {
            return Err(Fault::whole(format!(
                "the file stores the problem twice, and the two differ: row {row} has {a} in M, q and {b} in A, B, C, D, a, b"
            )));
        }
    }
    Ok(first)
}

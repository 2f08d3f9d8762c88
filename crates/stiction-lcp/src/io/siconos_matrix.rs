//! The matrix inside a Siconos text file: dense, sparse by blocks, or sparse as CSparse prints it.

use super::fault::{Fault, quote};
use super::tokens::{Token, Tokens};
use crate::matrix::Matrix;

/// A matrix as the file stores it. A sparse one stays sparse until the vectors after it were seen, so that a
/// short file cannot ask for a large dense matrix.
#[derive(Debug)]
pub enum Stored {
    /// All entries.
    Dense(Matrix),
    /// Entries that add up, with their rows and columns.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// Row, column and value of each entry.
        entries: Vec<(usize, usize, f64)>,
    },
}

impl Stored {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(m) => m.rows(),
            Self::Sparse { rows, .. } => *rows,
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Self::Dense(m) => m.cols(),
            Self::Sparse { cols, .. } => *cols,
        }
    }

    /// The entries (row, column, value) that are not zero; those at the same place add up.
    pub fn into_entries(self) -> Vec<(usize, usize, f64)> {
        match self {
            Self::Dense(m) => {
                let all = (0..m.cols()).flat_map(|j| m.col(j).iter().enumerate().map(move |(i, x)| (i, j, *x)));
                all.filter(|e| e.2 != 0.0).collect()
            }
            Self::Sparse { mut entries, .. } => {
                entries.retain(|e| e.2 != 0.0);
                entries
            }
        }
    }

    /// The matrix with all its entries, at most `limit` of them.
    ///
    /// # Errors
    /// If there are more, or entries at one place add up to an infinity.
    pub(crate) fn into_dense(self, limit: usize) -> Result<Matrix, Fault> {
        match self {
            Self::Dense(m) => Ok(m),
            Self::Sparse { rows, cols, entries } => {
                check_limit(rows, cols, limit).map_err(Fault::whole)?;
                let mut m = Matrix::zeros(rows, cols);
                for (i, j, x) in entries {
                    m[(i, j)] += x;
                }
                match m.as_slice().iter().position(|x| !x.is_finite()) {
                    None => Ok(m),
                    Some(k) => Err(Fault::whole(format!(
                        "the entries given for M[{}, {}] add up to more than a double holds",
                        k % rows.max(1),
                        k / rows.max(1)
                    ))),
                }
            }
        }
    }
}

/// Refuses a dense matrix of more than `limit` entries.
///
/// # Errors
/// The message.
pub(crate) fn check_limit(rows: usize, cols: usize, limit: usize) -> Result<(), String> {
    match rows.checked_mul(cols) {
        Some(count) if count <= limit => Ok(()),
        _ => Err(format!("a dense matrix of {rows} × {cols} is above the limit of {limit} numbers")),
    }
}

/// `storage rows cols`, and then the entries in the form that `storage` names; a dense matrix has at most `limit` of them.
///
/// # Errors
/// A fault at the token that does not fit.
pub fn read(t: &mut Tokens<'_>, limit: usize) -> Result<Stored, Fault> {
    let storage = t.integer("the storage of the matrix (0 dense, 1 blocks, 2 sparse)")?;
    if storage > 2 {
        let message = format!("'{storage}' is no storage of a matrix, expected 0 (dense), 1 (blocks) or 2 (sparse)");
        return Err(Fault::at(t.here(), message));
    }
    let rows = t.integer("the rows of the matrix")?;
    let cols = t.integer("the columns of the matrix")?;
    match storage {
        0 => dense(t, rows, cols, limit),
        1 => blocks(t, rows, cols),
        _ => csparse(t, rows, cols),
    }
}

/// The size once more, then all entries in column-major order (the line breaks suggest rows; they are wrong).
fn dense(t: &mut Tokens<'_>, rows: usize, cols: usize, limit: usize) -> Result<Stored, Fault> {
    let again = [t.integer("the rows of the matrix, again")?, t.integer("the columns of the matrix, again")?];
    if again != [rows, cols] {
        let message = format!("the size {rows} × {cols} is repeated as {} × {}", again[0], again[1]);
        return Err(Fault::at(t.here(), message));
    }
    check_limit(rows, cols, limit).map_err(|message| Fault::at(t.here(), message))?;
    let data = t.numbers(rows * cols, "an entry of the matrix")?;
    Matrix::from_columns(rows, cols, data).map(Stored::Dense).map_err(Fault::whole)
}

/// Sparse by blocks: a CSR structure over blocks, each column-major.
fn blocks(t: &mut Tokens<'_>, rows: usize, cols: usize) -> Result<Stored, Fault> {
    let mut entries = Vec::new();
    if t.integer("the number of blocks")? == 0 {
        return Ok(Stored::Sparse { rows, cols, entries });
    }
    let across = [t.integer("the number of block rows")?, t.integer("the number of block columns")?];
    let row_ends = ends(t, across[0], rows, "the end of a block row")?;
    let col_ends = ends(t, across[1], cols, "the end of a block column")?;
    let filled = [t.integer("the length of the block row pointer")?, t.integer("the number of stored blocks")?];
    let pointer = t.integers(filled[0], "a block row pointer")?;
    let column = t.integers(filled[1], "the column of a block")?;
    let bad = |message: String| Err(Fault::at(t.here(), message));
    if pointer.len() > row_ends.len() + 1 || pointer.windows(2).any(|w| w[0] > w[1]) {
        return bad(format!("the block row pointer does not fit {} block rows", row_ends.len()));
    }
    if pointer.first().is_some_and(|p| *p != 0) || pointer.last().is_some_and(|p| *p > column.len()) {
        return bad(format!("the block row pointer must run from 0 to at most {}", column.len()));
    }
    if let Some(j) = column.iter().find(|j| **j >= col_ends.len()) {
        return bad(format!("a block stands in block column {j}, there are {}", col_ends.len()));
    }
    let span = |ends: &[usize], k: usize| (if k == 0 { 0 } else { ends[k - 1] }, ends[k]);
    for (block_row, stored) in pointer.windows(2).enumerate() {
        for k in stored[0]..stored[1] {
            let ((top, bottom), (left, right)) = (span(&row_ends, block_row), span(&col_ends, column[k]));
            let number = t.integer("the number of a block")?;
            if number != k {
                return Err(Fault::at(t.here(), format!("block {number} stands where block {k} was expected")));
            }
            t.check_count((bottom - top).saturating_mul(right - left), "a block")?;
            for j in left..right {
                for i in top..bottom {
                    entries.push((i, j, t.number("an entry of a block")?));
                }
            }
        }
    }
    Ok(Stored::Sparse { rows, cols, entries })
}

/// Cumulative block sizes: never falling, and ending at the size of the matrix.
fn ends(t: &mut Tokens<'_>, count: usize, total: usize, what: &str) -> Result<Vec<usize>, Fault> {
    let ends = t.integers(count, what)?;
    if ends.windows(2).any(|w| w[0] > w[1]) || ends.last() != Some(&total) {
        let message = format!("the block sizes (cumulative) must rise to the size of the matrix, {total}");
        return Err(Fault::at(t.here(), message));
    }
    Ok(ends)
}

/// How a CSparse matrix is laid out.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Triplet,
    Columns,
    Rows,
}

/// CSparse prints counts with six digits only, so a larger one is not exact.
const EXACT_COUNT: f64 = 1e6;

/// Origin, a banner, a line with the size and number of entries, then the entries with six digits.
fn csparse(t: &mut Tokens<'_>, rows: usize, cols: usize) -> Result<Stored, Fault> {
    let origin = t.integer("the origin of the sparse matrix (1 triplet, 2 columns, 3 rows)")?;
    if !(1..=3).contains(&origin) {
        return Err(Fault::at(t.here(), format!("the origin of a sparse matrix is 1, 2 or 3, found {origin}")));
    }
    let (layout, size) = csparse_header(t)?;
    if size != (rows, cols) {
        let message = format!("the size {rows} × {cols} is repeated as {} × {}", size.0, size.1);
        return Err(Fault::at(t.here(), message));
    }
    let stated = csparse_count(t)?;
    let entries = match layout {
        Layout::Triplet => triplets(t, rows, cols)?,
        Layout::Columns => compressed(t, cols, rows)?.into_iter().map(|(j, i, x)| (i, j, x)).collect(),
        Layout::Rows => compressed(t, rows, cols)?,
    };
    if stated < EXACT_COUNT && stated != entries.len() as f64 {
        let message = format!("{stated} entries were announced, {} follow", entries.len());
        return Err(Fault::at(t.here(), message));
    }
    Ok(Stored::Sparse { rows, cols, entries })
}

/// The words of the banner and `triplet:`, `csr:` or nothing, up to the size `m-by-n`.
fn csparse_header(t: &mut Tokens<'_>) -> Result<(Layout, (usize, usize)), Fault> {
    const LONGEST_BANNER: usize = 64;
    let mut before: Option<Token<'_>> = None;
    for _ in 0..LONGEST_BANNER {
        let token = t.expect("the size m-by-n of a sparse matrix")?;
        if let Some(size) = by(token.text) {
            let layout = match before {
                Some(word) if word.is("triplet:") => Layout::Triplet,
                Some(word) if word.is("csr:") => Layout::Rows,
                _ => Layout::Columns,
            };
            return Ok((layout, size));
        }
        before = Some(token);
    }
    Err(Fault::at(t.here(), "expected the size m-by-n of a sparse matrix"))
}

/// `675-by-675,` as two numbers.
fn by(text: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(text).ok()?;
    let (rows, cols) = text.strip_suffix(',').unwrap_or(text).split_once("-by-")?;
    Some((printed_count(rows)? as usize, printed_count(cols)? as usize))
}

/// A count that may be printed as `1e+06`.
fn printed_count(text: &str) -> Option<f64> {
    let largest = u32::MAX as f64;
    text.parse().ok().filter(|x: &f64| *x >= 0.0 && *x <= largest && x.fract() == 0.0)
}

/// `nzmax: a nnz: b[,] [1-norm: c]`; gives b.
fn csparse_count(t: &mut Tokens<'_>) -> Result<f64, Fault> {
    word(t, "nzmax:")?;
    t.expect("nzmax")?;
    word(t, "nnz:")?;
    let token = t.expect("the number of entries")?;
    let text = String::from_utf8_lossy(token.text);
    let count = printed_count(text.strip_suffix(',').unwrap_or(&text))
        .ok_or_else(|| Fault::at(token.at, format!("{} is no number of entries", quote(token.text))))?;
    let mut ahead = *t;
    if ahead.step().is_some_and(|token| token.is("1-norm:")) {
        ahead.expect("the 1-norm")?;
        *t = ahead;
    }
    Ok(count)
}

fn word(t: &mut Tokens<'_>, wanted: &str) -> Result<(), Fault> {
    let token = t.expect(&format!("'{wanted}'"))?;
    if token.is(wanted) {
        Ok(())
    } else {
        Err(Fault::at(token.at, format!("{} stands where '{wanted}' was expected", quote(token.text))))
    }
}

/// Lines `i j : x`, as many as follow.
fn triplets(t: &mut Tokens<'_>, rows: usize, cols: usize) -> Result<Vec<(usize, usize, f64)>, Fault> {
    let mut entries = Vec::new();
    loop {
        let mut ahead = *t;
        let (i, j) = (ahead.step(), ahead.step());
        if !ahead.step().is_some_and(|token| token.is(":")) {
            return Ok(entries);
        }
        let (i, j) = (index(i, rows, "row")?, index(j, cols, "column")?);
        *t = ahead;
        entries.push((i, j, t.number("an entry of the sparse matrix")?));
    }
}

/// For each of the `majors` columns (or rows): `col k : locations a to b`, then lines `i : x`. Gives (k, i, x).
fn compressed(t: &mut Tokens<'_>, majors: usize, minors: usize) -> Result<Vec<(usize, usize, f64)>, Fault> {
    let mut entries = Vec::new();
    for major in 0..majors {
        let token = t.expect("'col'")?;
        if !(token.is("col") || token.is("row")) {
            return Err(Fault::at(token.at, format!("{} stands where 'col' was expected", quote(token.text))));
        }
        let found = t.integer("the number of a column")?;
        if found != major {
            return Err(Fault::at(t.here(), format!("column {found} stands where {major} was expected")));
        }
        word(t, ":")?;
        word(t, "locations")?;
        t.expect("the first location")?;
        word(t, "to")?;
        t.expect("the last location")?;
        loop {
            let mut ahead = *t;
            let minor = ahead.step();
            if !ahead.step().is_some_and(|token| token.is(":")) {
                break;
            }
            let minor = index(minor, minors, "row")?;
            *t = ahead;
            entries.push((major, minor, t.number("an entry of the sparse matrix")?));
        }
    }
    Ok(entries)
}

fn index(token: Option<Token<'_>>, size: usize, what: &str) -> Result<usize, Fault> {
    let Some(token) = token else { return Err(Fault::whole(format!("a {what} index is missing"))) };
    match token.integer() {
        Some(i) if i < size => Ok(i),
        _ => Err(Fault::at(token.at, format!("{} is no {what} index below {size}", quote(token.text)))),
    }
}

//! Rows and inertia from dense or sparse matrices.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use stiction_contact::Layout;
use stiction_lcp::Matrix;

use crate::{arrays, errors};

/// Entries of a row.
pub(crate) type Entries = Vec<(usize, f64)>;

/// A row by blocks.
pub(crate) type Blocks = Vec<(usize, Vec<f64>)>;

/// The rows of a dense or sparse matrix with `m` columns.
pub(crate) fn entries(what: &str, m: usize, x: &Bound<'_, PyAny>) -> PyResult<Vec<Entries>> {
    let py = x.py();
    let (cols, rows) = if x.hasattr(intern!(py, "tocsr"))? {
        sparse(what, &x.call_method0(intern!(py, "tocsr"))?)?
    } else {
        let matrix = arrays::matrix(what, x)?;
        let row = |i: usize| (0..matrix.cols()).map(|j| (j, matrix[(i, j)])).filter(|(_, x)| *x != 0.0).collect();
        (matrix.cols(), (0..matrix.rows()).map(row).collect())
    };
    if cols != m {
        return Err(errors::input(py, format!("{what} must have {m} columns, one per velocity, found {cols}")));
    }
    Ok(rows)
}

/// The number of columns and the rows of a matrix in SciPy's compressed rows.
fn sparse(what: &str, csr: &Bound<'_, PyAny>) -> PyResult<(usize, Vec<Entries>)> {
    let py = csr.py();
    let broken = || errors::input(py, format!("{what} is no valid sparse matrix: its indices point outside of it"));
    let shape: Vec<usize> = csr.getattr(intern!(py, "shape"))?.extract()?;
    let [rows, cols] = shape[..] else {
        return Err(errors::input(py, format!("{what} must be a matrix (two dimensions), found {}", shape.len())));
    };
    let starts = places(&csr.getattr(intern!(py, "indptr"))?)?;
    let columns = places(&csr.getattr(intern!(py, "indices"))?)?;
    let values = arrays::vector(what, &csr.getattr(intern!(py, "data"))?)?;
    if starts.len() != rows + 1 {
        return Err(broken());
    }
    let row = |ends: &[usize]| {
        let (columns, values) = (columns.get(ends[0]..ends[1])?, values.get(ends[0]..ends[1])?);
        let inside = columns.iter().all(|j| *j < cols);
        inside.then(|| columns.iter().copied().zip(values.iter().copied()).collect::<Entries>())
    };
    let all: Option<Vec<_>> = starts.windows(2).map(row).collect();
    Ok((cols, all.ok_or_else(broken)?))
}

/// Indices of a sparse matrix; one that is negative is beyond any matrix.
fn places(x: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let py = x.py();
    let whole = x.call_method1(intern!(py, "astype"), (intern!(py, "int64"),))?;
    let whole = whole.cast::<PyArray1<i64>>()?.to_vec()?;
    Ok(whole.into_iter().map(|i| usize::try_from(i).unwrap_or(usize::MAX)).collect())
}

/// A row by the blocks of a layout.
pub(crate) fn by_block(layout: &Layout, entries: &Entries) -> Blocks {
    let mut blocks: Blocks = Vec::new();
    for &(j, x) in entries {
        let b = block_of(layout, j);
        let at = blocks.iter().position(|(known, _)| *known == b).unwrap_or_else(|| {
            blocks.push((b, vec![0.0; layout.size(b)]));
            blocks.len() - 1
        });
        blocks[at].1[j - layout.range(b).start] += x;
    }
    blocks.sort_by_key(|(b, _)| *b);
    blocks
}

fn block_of(layout: &Layout, j: usize) -> usize {
    let (mut low, mut high) = (0, layout.blocks());
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if layout.range(middle).start <= j {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A row by blocks, as the engine takes it.
pub(crate) fn borrowed(blocks: &Blocks) -> Vec<(usize, &[f64])> {
    blocks.iter().map(|(b, row)| (*b, row.as_slice())).collect()
}

/// The blocks of an inertia: as given, or the finest ones along the diagonal.
pub(crate) fn mass_blocks(mass: &Bound<'_, PyAny>) -> PyResult<Vec<Matrix>> {
    let py = mass.py();
    let list = mass.cast::<pyo3::types::PyList>().ok();
    if let Some(list) = list.filter(|l| l.iter().all(|b| b.hasattr("shape").unwrap_or(false))) {
        let blocks = list.iter().enumerate();
        return blocks.map(|(i, block)| arrays::matrix(&format!("mass block {i}"), &block)).collect();
    }
    let whole = arrays::matrix("mass", mass)?;
    let m = whole.rows();
    if m != whole.cols() {
        return Err(errors::input(py, format!("mass must be square, found shape ({m}, {})", whole.cols())));
    }
    let (mut blocks, mut start, mut end) = (Vec::new(), 0, 0);
    for i in 0..m {
        let coupled = (i..m).rev().find(|&j| whole[(i, j)] != 0.0 || whole[(j, i)] != 0.0).unwrap_or(i);
        end = end.max(coupled + 1).max(i + 1);
        if end == i + 1 {
            blocks.push(Matrix::from_fn(end - start, end - start, |a, b| whole[(start + a, start + b)]));
            start = end;
        }
    }
    Ok(blocks)
}

/// Rows of a contact kind beside those of the normals, or none. A row of zeros is given all the
/// same, so it keeps an entry: the contact cannot move along it, which is not the same as no row.
pub(crate) fn optional(
    what: &str,
    m: usize,
    normal: &[Entries],
    x: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Entries>> {
    let n = normal.len();
    let Some(x) = x else { return Ok(vec![Vec::new(); n]) };
    let mut rows = entries(what, m, x)?;
    if rows.len() != n {
        return Err(errors::input(x.py(), format!("{what} must have {n} rows, as N has, found {}", rows.len())));
    }
    for (row, normal) in rows.iter_mut().zip(normal).filter(|(row, _)| row.is_empty()) {
        row.extend(normal.first().map(|(j, _)| (*j, 0.0)));
    }
    Ok(rows)
}

/// (n, k) numbers, or zeros.
pub(crate) fn columns<const K: usize>(what: &str, n: usize, x: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<[f64; K]>> {
    let Some(x) = x else { return Ok(vec![[0.0; K]; n]) };
    let matrix = arrays::matrix(what, x)?;
    if (matrix.rows(), matrix.cols()) != (n, K) {
        let found = format!("({}, {})", matrix.rows(), matrix.cols());
        return Err(errors::input(x.py(), format!("{what} must have shape ({n}, {K}), found {found}")));
    }
    Ok((0..n).map(|i| std::array::from_fn(|k| matrix[(i, k)])).collect())
}

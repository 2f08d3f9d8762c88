//! The sparse matrix of problems given by their Delassus operator: compressed columns, sorted, without repeats.

use stiction_lcp::{InputError, Matrix};

/// A sparse `rows × cols` matrix by columns; within a column the row indices ascend and none repeats.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseMatrix {
    rows: usize,
    cols: usize,
    /// Start of each column in `indices` and `values`, cols + 1.
    starts: Vec<usize>,
    /// Row of each entry.
    indices: Vec<usize>,
    /// Value of each entry.
    values: Vec<f64>,
}

impl SparseMatrix {
    /// A matrix from entries (row, column, value) in any order; entries at the same place are added, in the order given.
    ///
    /// # Errors
    /// `InputError::Size` if an index is outside `rows × cols`; `InputError::NotFinite` for a NaN or an infinity.
    pub fn from_entries(
        rows: usize,
        cols: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, InputError> {
        let mut sorted: Vec<(usize, usize, f64)> = Vec::new();
        for (i, j, x) in entries {
            if i >= rows {
                return Err(InputError::Size { what: "row of an entry, below".into(), expected: rows, found: i });
            }
            if j >= cols {
                return Err(InputError::Size { what: "column of an entry, below".into(), expected: cols, found: j });
            }
            if !x.is_finite() {
                return Err(InputError::NotFinite { what: format!("entry ({i}, {j})"), value: x });
            }
            sorted.push((j, i, x));
        }
        // Stable, so that entries at one place are added in the order given.
        sorted.sort_by_key(|&(j, i, _)| (j, i));
        let mut out = Self { rows, cols, starts: vec![0; cols + 1], ..Self::default() };
        let mut last = None;
        for (j, i, x) in sorted {
            if last == Some((j, i)) {
                *out.values.last_mut().expect("an entry was pushed") += x;
            } else {
                out.indices.push(i);
                out.values.push(x);
                out.starts[j + 1] += 1;
                last = Some((j, i));
            }
        }
        for j in 0..cols {
            out.starts[j + 1] += out.starts[j];
        }
        match out.values.iter().position(|x| !x.is_finite()) {
            Some(k) => {
                Err(InputError::NotFinite { what: "a sum of entries at one place".into(), value: out.values[k] })
            }
            None => Ok(out),
        }
    }

    /// The nonzero entries of a dense matrix.
    ///
    /// # Errors
    /// `InputError::NotFinite` for a NaN or an infinity.
    pub fn from_dense(dense: &Matrix) -> Result<Self, InputError> {
        let (rows, cols) = (dense.rows(), dense.cols());
        let entries = (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j, dense[(i, j)])));
        Self::from_entries(rows, cols, entries.filter(|e| e.2 != 0.0))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The entries (row, value) of column `j`, rows ascending.
    pub fn col(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[j]..self.starts[j + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Start of each column (cols + 1), row of each entry, value of each entry: the raw compressed columns.
    pub fn parts(&self) -> (&[usize], &[usize], &[f64]) {
        (&self.starts, &self.indices, &self.values)
    }

    /// `y ← A x`.
    pub fn mul_into(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (j, &xj) in x.iter().enumerate() {
            if xj != 0.0 {
                for (i, a) in self.col(j) {
                    y[i] += a * xj;
                }
            }
        }
    }

    /// `y ← Aᵀ x`.
    pub fn mul_transposed_into(&self, x: &[f64], y: &mut [f64]) {
        for (j, yj) in y.iter_mut().enumerate() {
            *yj = self.col(j).map(|(i, a)| a * x[i]).sum();
        }
    }

    /// The diagonal, min(rows, cols).
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.rows.min(self.cols)).map(|j| self.col(j).find(|e| e.0 == j).map_or(0.0, |e| e.1)).collect()
    }

    /// The sets of rows and columns, `size` of them at a time, that entries couple, each ascending; of a square matrix, which may have entries without their
    /// mirror images.
    pub(crate) fn components(&self, size: usize) -> Vec<Vec<usize>> {
        let count = self.cols.div_ceil(size);
        let mut ties = vec![vec![]; count];
        for j in 0..self.cols {
            let (own, mut last) = (j / size, None);
            for to in self.col(j).filter(|(_, x)| *x != 0.0).map(|(i, _)| i / size) {
                if to != own && last != Some(to) {
                    ties[own].push(to);
                    ties[to].push(own);
                    last = Some(to);
                }
            }
        }
        let (mut met, mut all) = (vec![false; count], vec![]);
        for first in 0..count {
            if met[first] {
                continue;
            }
            met[first] = true;
            let (mut members, mut next) = (vec![first], 0);
            while let Some(&b) = members.get(next) {
                next += 1;
                for &to in &ties[b] {
                    if !std::mem::replace(&mut met[to], true) {
                        members.push(to);
                    }
                }
            }
            members.sort_unstable();
            all.push(members);
        }
        all
    }

    /// The dense matrix.
    pub fn to_dense(&self) -> Matrix {
        let mut out = Matrix::zeros(self.rows, self.cols);
        for j in 0..self.cols {
            for (i, x) in self.col(j) {
                out[(i, j)] = x;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_any_order_are_sorted_and_added() {
        let a = SparseMatrix::from_entries(2, 3, [(1, 2, 5.0), (0, 0, 1.0), (1, 2, 2.0), (0, 2, -1.0)]).unwrap();
        let dense = Matrix::from_rows(&[[1.0, 0.0, -1.0], [0.0, 0.0, 7.0]]).unwrap();
        assert_eq!(a.to_dense(), dense);
        assert_eq!(a.entries(), 3);
        assert_eq!(SparseMatrix::from_dense(&dense).unwrap(), a);
        let (mut y, mut x) = ([0.0; 2], [0.0; 3]);
        a.mul_into(&[1.0, 2.0, 3.0], &mut y);
        assert_eq!(y, [-2.0, 21.0]);
        a.mul_transposed_into(&[1.0, 2.0], &mut x);
        assert_eq!(x, [1.0, 0.0, 13.0]);
    }

    #[test]
    fn entries_outside_and_infinite_sums_are_named() {
        assert!(SparseMatrix::from_entries(2, 2, [(2, 0, 1.0)]).is_err());
        assert!(SparseMatrix::from_entries(2, 2, [(0, 2, 1.0)]).is_err());
        assert!(SparseMatrix::from_entries(2, 2, [(0, 0, f64::NAN)]).is_err());
        assert!(SparseMatrix::from_entries(1, 1, [(0, 0, f64::MAX), (0, 0, f64::MAX)]).is_err());
    }
}

//! A matrix that is zero outside its envelope, factored without filling anything beyond it.
//!
//! Row i of the lower triangle and column i of the upper one begin at the same `first[i]`, so the shape is symmetric though the numbers need not be. The
//! envelope of a chain of bodies is a band, and the cost of a factor linear in their number.

use super::lanes::{axpy, dot};

/// A pivot of at most this part of its diagonal entry is rounding.
const PIVOT: f64 = 1e-15;

/// An n × n matrix with a symmetric envelope, then its factor: `L Lᵀ` (in `lower`, with the inverse of the diagonal) or `L U`.
#[derive(Debug, Clone, Default)]
pub(super) struct Skyline {
    /// First column of each row inside the envelope, n.
    first: Vec<usize>,
    /// Where each row's entries left of the diagonal start, n + 1.
    starts: Vec<usize>,
    lower: Vec<f64>,
    /// Columns above the diagonal; not used while the matrix is symmetric.
    upper: Vec<f64>,
    /// The diagonal; after factoring its inverse (that of L's for a symmetric matrix).
    diagonal: Vec<f64>,
    symmetric: bool,
}

impl Skyline {
    /// Takes the envelope in which row i begins at `first[i] ≤ i`.
    pub fn shape(&mut self, first: &[usize]) {
        self.first.clear();
        self.first.extend_from_slice(first);
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for (i, first) in first.iter().enumerate() {
            end += i - first;
            self.starts.push(end);
        }
    }

    /// Order of the matrix.
    pub fn n(&self) -> usize {
        self.first.len()
    }

    /// Makes all entries zero.
    pub fn clear(&mut self, symmetric: bool) {
        let (n, size) = (self.n(), self.starts.last().copied().unwrap_or(0));
        self.symmetric = symmetric;
        self.lower.clear();
        self.lower.resize(size, 0.0);
        self.upper.clear();
        if !symmetric {
            self.upper.resize(size, 0.0);
        }
        self.diagonal.clear();
        self.diagonal.resize(n, 0.0);
    }

    /// Adds the `rows × cols` numbers `g` (rows of length `stride`) at (row, col), which lie inside the envelope. Of a block on the diagonal of a symmetric matrix only the
    /// lower triangle is read; blocks above it are not added.
    pub fn add(&mut self, row: usize, col: usize, rows: usize, cols: usize, g: &[f64], stride: usize) {
        if row > col {
            for i in 0..rows {
                let start = self.starts[row + i] + col - self.first[row + i];
                axpy(1.0, &g[i * stride..i * stride + cols], &mut self.lower[start..start + cols]);
            }
        } else if row < col {
            if !self.symmetric {
                for j in 0..cols {
                    let start = self.starts[col + j] + row - self.first[col + j];
                    for i in 0..rows {
                        self.upper[start + i] += g[i * stride + j];
                    }
                }
            }
        } else {
            for i in 0..rows {
                let start = self.starts[row + i] + row - self.first[row + i];
                axpy(1.0, &g[i * stride..i * stride + i], &mut self.lower[start..start + i]);
                self.diagonal[row + i] += g[i * stride + i];
                if !self.symmetric {
                    for j in 0..i {
                        self.upper[start + j] += g[j * stride + i];
                    }
                }
            }
        }
    }

    /// Factors in place; false if a pivot is rounding or, in a symmetric matrix, not positive.
    pub fn factor(&mut self) -> bool {
        if self.symmetric { self.cholesky() } else { self.eliminate() }
    }

    fn cholesky(&mut self) -> bool {
        for i in 0..self.n() {
            stiction_lcp::interrupt::check();
            let (first, start) = (self.first[i], self.starts[i]);
            let (above, rest) = self.lower.split_at_mut(start);
            let row = &mut rest[..i - first];
            for j in first..i {
                let from = first.max(self.first[j]);
                let other = &above[self.starts[j] + from - self.first[j]..self.starts[j] + j - self.first[j]];
                let sum = dot(&row[from - first..j - first], other);
                row[j - first] = (row[j - first] - sum) * self.diagonal[j];
            }
            let entry = self.diagonal[i];
            let pivot = entry - dot(row, row);
            if pivot.is_nan() || pivot <= PIVOT * entry {
                return false;
            }
            self.diagonal[i] = 1.0 / pivot.sqrt();
        }
        true
    }

    fn eliminate(&mut self) -> bool {
        for i in 0..self.n() {
            stiction_lcp::interrupt::check();
            let (first, start) = (self.first[i], self.starts[i]);
            let (rows_above, rest) = self.lower.split_at_mut(start);
            let row = &mut rest[..i - first];
            let (columns_before, rest) = self.upper.split_at_mut(start);
            let column = &mut rest[..i - first];
            for j in first..i {
                let from = first.max(self.first[j]);
                let at = self.starts[j] + from - self.first[j]..self.starts[j] + j - self.first[j];
                let span = from - first..j - first;
                column[j - first] -= dot(&column[span.clone()], &rows_above[at.clone()]);
                row[j - first] = (row[j - first] - dot(&row[span], &columns_before[at])) * self.diagonal[j];
            }
            let entry = self.diagonal[i];
            let pivot = entry - dot(row, column);
            if pivot.is_nan() || pivot.abs() <= PIVOT * entry.abs() {
                return false;
            }
            self.diagonal[i] = 1.0 / pivot;
        }
        true
    }

    /// `x ← A⁻¹ x` after a factor.
    pub fn solve(&self, x: &mut [f64]) {
        for i in 0..self.n() {
            let row = &self.lower[self.starts[i]..self.starts[i + 1]];
            let sum = x[i] - dot(row, &x[self.first[i]..i]);
            x[i] = if self.symmetric { sum * self.diagonal[i] } else { sum };
        }
        let columns = if self.symmetric { &self.lower } else { &self.upper };
        for i in (0..self.n()).rev() {
            x[i] *= self.diagonal[i];
            let xi = x[i];
            axpy(-xi, &columns[self.starts[i]..self.starts[i + 1]], &mut x[self.first[i]..i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves with a band of blocks and compares A x with the right-hand side.
    fn check(symmetric: bool) {
        let first = [0, 0, 0, 1, 1, 3, 3];
        let entry = |i: usize, j: usize| {
            if i == j {
                9.0 + i as f64
            } else if i > j || symmetric {
                0.3 * (i * j + 1) as f64 / 7.0 - 0.8
            } else {
                0.5 * i as f64 - 0.2 * j as f64
            }
        };
        let inside = |i: usize, j: usize| first[i.max(j)] <= i.min(j);
        let mut a = Skyline::default();
        a.shape(&first);
        a.clear(symmetric);
        for i in 0..7 {
            for j in (0..7).filter(|&j| inside(i, j)) {
                a.add(i, j, 1, 1, &[entry(i, j)], 1);
            }
        }
        assert!(a.factor());
        let b = [1.0, -2.0, 3.0, 0.5, 0.0, 7.0, -1.0];
        let mut x = b;
        a.solve(&mut x);
        for i in 0..7 {
            let sum: f64 = (0..7).filter(|&j| inside(i, j)).map(|j| entry(i, j) * x[j]).sum();
            assert!((sum - b[i]).abs() < 1e-13, "row {i}: {sum} {}", b[i]);
        }
    }

    #[test]
    fn solves_inside_its_envelope() {
        check(true);
        check(false);
    }

    #[test]
    fn an_indefinite_matrix_has_no_symmetric_factor() {
        let mut a = Skyline::default();
        a.shape(&[0, 0]);
        a.clear(true);
        a.add(0, 0, 2, 2, &[1.0, 0.0, 2.0, 1.0], 2);
        assert!(!a.factor());
    }
}

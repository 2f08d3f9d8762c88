//! The inverse of the basis, reduced to its kernel and updated at every pivot.
//!
//! A basis of `w = M z + q + d z₀` holds the columns of some z (and z₀) and unit columns of the other w. Its non-trivial part
//! is the square kernel `K = [M d]_{rows, cols}`: `rows` are those whose w is nonbasic, `cols` the basic z and z₀. A pivot
//! changes K by one row, one column, or both, and its inverse by a matrix of rank one: O(k²).

use super::lanes::{LANES, axpy, axpy4, dot4, padded};
use super::tableau::Tableau;
use crate::matrix::dot;
use stiction_linalg::lu::Lu;

/// "Not in the kernel".
pub(super) const NONE: usize = usize::MAX;

/// `[M d]`, n × (n + 1), column-major; columns are padded with zeros to whole lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Extended {
    n: usize,
    stride: usize,
    data: Vec<f64>,
}

impl Extended {
    /// Takes the size for a problem of order `n`; the numbers are to be written.
    pub(super) fn reset(&mut self, n: usize) {
        if self.n != n || self.data.is_empty() {
            self.n = n;
            self.stride = padded(n);
            self.data.clear();
            self.data.resize(self.stride * (n + 1), 0.0);
        }
    }

    /// Order of the problem.
    pub(super) fn order(&self) -> usize {
        self.n
    }

    /// Column `j` with its padding.
    #[inline]
    pub(super) fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.stride..(j + 1) * self.stride]
    }

    /// Column `j` without its padding, writable.
    pub(super) fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.stride..j * self.stride + self.n]
    }

    /// Entry (i, j).
    #[inline]
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.data[j * self.stride + i]
    }

    /// `y ← y + Σ x_p [M d]_{:, cols_p}`.
    pub(super) fn add_columns(&self, cols: &[usize], x: &[f64], y: &mut [f64]) {
        let (quads, rest) = cols.as_chunks::<4>();
        let (x_quads, x_rest) = x[..cols.len()].as_chunks::<4>();
        for (c, x) in quads.iter().zip(x_quads) {
            axpy4(*x, [self.col(c[0]), self.col(c[1]), self.col(c[2]), self.col(c[3])], y);
        }
        for (c, x) in rest.iter().zip(x_rest) {
            axpy(*x, self.col(*c), y);
        }
    }
}

/// `K⁻¹` with the index sets of K. `inverse` is |cols| × |rows|, column-major with stride `capacity`; in the columns in use the
/// numbers below the last row, up to whole lanes, are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernel {
    /// Rows of K: indices whose w is nonbasic.
    pub rows: Vec<usize>,
    /// Columns of K: indices whose z is basic; n stands for z₀.
    pub cols: Vec<usize>,
    row_position: Vec<usize>,
    col_position: Vec<usize>,
    inverse: Vec<f64>,
    capacity: usize,
    left: Vec<f64>,
    right: Vec<f64>,
    /// Rows of a tableau.
    places: Vec<usize>,
    lu: Lu,
}

impl Kernel {
    /// The empty kernel for a problem of order `n`.
    pub(super) fn reset(&mut self, n: usize) {
        self.capacity = padded(n + 1);
        self.rows.clear();
        self.cols.clear();
        self.row_position.clear();
        self.row_position.resize(n, NONE);
        self.col_position.clear();
        self.col_position.resize(n + 1, NONE);
        if self.inverse.len() < self.capacity * self.capacity {
            self.inverse = vec![0.0; self.capacity * self.capacity];
        }
        self.left.resize(self.capacity, 0.0);
        self.right.resize(self.capacity, 0.0);
        self.rows.reserve(n + 1);
        self.cols.reserve(n + 1);
        self.places.reserve(n + 1);
    }

    /// Order of K.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Order of K rounded up to whole lanes.
    #[inline]
    pub(super) fn padded_len(&self) -> usize {
        padded(self.len())
    }

    /// Where row `i` stands in K, or `NONE`.
    #[inline]
    pub(super) fn row_position(&self, i: usize) -> usize {
        self.row_position[i]
    }

    /// Where column `j` stands in K, or `NONE`.
    #[inline]
    pub(super) fn col_position(&self, j: usize) -> usize {
        self.col_position[j]
    }

    /// Column `p` of K⁻¹, padded: the answer of the basic z to a unit of w in row `rows[p]`.
    #[inline]
    pub(super) fn inverse_col(&self, p: usize) -> &[f64] {
        &self.inverse[p * self.capacity..p * self.capacity + self.padded_len()]
    }

    /// `x ← K⁻¹ b` for b over the rows of K; x over its columns, padded.
    pub(super) fn solve_into(&self, b: &[f64], x: &mut [f64]) {
        let k = self.len();
        let x = &mut x[..padded(k)];
        x.fill(0.0);
        let full = k - k % 4;
        for p in (0..full).step_by(4) {
            let column = |c: usize| self.inverse_col(p + c);
            axpy4([b[p], b[p + 1], b[p + 2], b[p + 3]], [column(0), column(1), column(2), column(3)], x);
        }
        for p in full..k {
            axpy(b[p], self.inverse_col(p), x);
        }
    }

    /// `left ← c`, row `i` of `[M d]` over the columns of K, padded.
    fn gather_row(&mut self, m: &Extended, i: usize) {
        let k = self.len();
        for (x, &j) in self.left.iter_mut().zip(&self.cols) {
            *x = m.at(i, j);
        }
        self.left[k..padded(k)].fill(0.0);
    }

    /// For every column of K⁻¹: adds `−f · vector` to it, where `f = leftᵀ column · scale`, then calls `then(column, f)`.
    fn update_by_left(&mut self, scale: f64, vector: &[f64], then: impl Fn(&mut [f64], f64)) {
        let (k, capacity) = (self.len(), self.capacity);
        let kp = padded(k);
        let (left, vector) = (&self.left[..kp], &vector[..kp]);
        let (quads, rest) = self.inverse[..k * capacity].split_at_mut((k - k % 4) * capacity);
        for quad in quads.chunks_exact_mut(4 * capacity) {
            let column = |c: usize| &quad[c * capacity..c * capacity + kp];
            let products = dot4(left, [column(0), column(1), column(2), column(3)]);
            for (c, product) in products.into_iter().enumerate() {
                let f = product * scale;
                let column = &mut quad[c * capacity..(c + 1) * capacity];
                axpy(-f, vector, &mut column[..kp]);
                then(column, f);
            }
        }
        for column in rest.chunks_exact_mut(capacity) {
            let f = dot(left, &column[..kp]) * scale;
            axpy(-f, vector, &mut column[..kp]);
            then(column, f);
        }
    }

    /// z_s enters and w_r leaves: K grows by row r and column s. `direction` is −K⁻¹ M_{rows,s}, `pivot` the rate of w_r.
    pub(super) fn append(&mut self, m: &Extended, r: usize, s: usize, direction: &[f64], pivot: f64) {
        let (k, capacity) = (self.len(), self.capacity);
        self.gather_row(m, r);
        if k % LANES == 0 {
            for column in self.inverse[..k * capacity].chunks_exact_mut(capacity) {
                column[k..k + LANES].fill(0.0);
            }
        }
        self.update_by_left(1.0 / pivot, direction, |column, f| column[k] = -f);
        let last = &mut self.inverse[k * capacity..(k + 1) * capacity];
        for (x, d) in last.iter_mut().zip(&direction[..k]) {
            *x = d / pivot;
        }
        last[k] = 1.0 / pivot;
        last[k + 1..padded(k + 1)].fill(0.0);
        self.row_position[r] = k;
        self.rows.push(r);
        self.col_position[s] = k;
        self.cols.push(s);
    }

    /// z_s enters and z_c, column `p` of K, leaves. `direction` is −K⁻¹ M_{rows,s}.
    pub(super) fn replace_col(&mut self, p: usize, s: usize, direction: &[f64]) {
        let (k, kp) = (self.len(), self.padded_len());
        for column in self.inverse[..k * self.capacity].chunks_exact_mut(self.capacity) {
            let factor = -column[p] / direction[p];
            axpy(factor, &direction[..kp], &mut column[..kp]);
            column[p] = factor;
        }
        self.col_position[self.cols[p]] = NONE;
        self.col_position[s] = p;
        self.cols[p] = s;
    }

    /// w_s, row `p` of K, enters and w_r leaves.
    pub(super) fn replace_row(&mut self, m: &Extended, p: usize, r: usize) {
        let kp = self.padded_len();
        self.gather_row(m, r);
        let pivot = dot(&self.left[..kp], self.inverse_col(p));
        let mut scaled = std::mem::take(&mut self.right);
        for (x, y) in scaled.iter_mut().zip(self.inverse_col(p)) {
            *x = y / pivot;
        }
        self.update_by_left(1.0, &scaled, |_, _| {});
        self.inverse[p * self.capacity..p * self.capacity + kp].copy_from_slice(&scaled[..kp]);
        self.right = scaled;
        self.row_position[self.rows[p]] = NONE;
        self.row_position[r] = p;
        self.rows[p] = r;
    }

    /// w_s, row `p` of K, enters and z_c, column `c` of K, leaves: K shrinks by both.
    pub(super) fn remove(&mut self, p: usize, c: usize) {
        let (k, kp) = (self.len(), self.padded_len());
        self.left[..kp].copy_from_slice(&self.inverse[p * self.capacity..p * self.capacity + kp]);
        let pivot = self.left[c];
        for column in self.inverse[..k * self.capacity].chunks_exact_mut(self.capacity) {
            let factor = column[c] / pivot;
            axpy(-factor, &self.left[..kp], &mut column[..kp]);
            column[c] = column[k - 1];
            column[k - 1] = 0.0;
        }
        if p != k - 1 {
            self.inverse.copy_within((k - 1) * self.capacity..(k - 1) * self.capacity + kp, p * self.capacity);
        }
        self.row_position[self.rows[p]] = NONE;
        self.rows.swap_remove(p);
        if p < self.rows.len() {
            self.row_position[self.rows[p]] = p;
        }
        self.col_position[self.cols[c]] = NONE;
        self.cols.swap_remove(c);
        if c < self.cols.len() {
            self.col_position[self.cols[c]] = c;
        }
    }

    /// Makes K the principal block of the indices `active` and inverts it. False if it is singular to working precision.
    pub(super) fn set(&mut self, m: &Extended, active: impl Iterator<Item = usize>) -> bool {
        for i in active {
            self.row_position[i] = self.rows.len();
            self.col_position[i] = self.cols.len();
            self.rows.push(i);
            self.cols.push(i);
        }
        self.refactor(m)
    }

    /// Takes the kernel of the basis that a tableau stands at. Its inverse is there to be read: how basic z answer to nonbasic w.
    pub(super) fn take(&mut self, tableau: &Tableau) {
        self.reset(tableau.order());
        self.places.clear();
        for (j, r) in tableau.kernel_cols() {
            self.col_position[j] = self.cols.len();
            self.cols.push(j);
            self.places.push(r);
        }
        let k = self.places.len();
        for (p, &i) in tableau.kernel_rows().iter().enumerate() {
            let column = &mut self.inverse[p * self.capacity..p * self.capacity + padded(k)];
            tableau.gather_column(p, &self.places, column);
            column[k..].fill(0.0);
            self.row_position[i] = p;
            self.rows.push(i);
        }
    }

    /// Inverts K from scratch. False if it is singular to working precision.
    pub(super) fn refactor(&mut self, m: &Extended) -> bool {
        let (k, kp) = (self.len(), self.padded_len());
        let (rows, cols) = (&self.rows, &self.cols);
        self.lu.factor_with(k, |a, b| m.at(rows[a], cols[b]));
        if self.lu.pivot_ratio() < f64::EPSILON {
            return false;
        }
        for p in 0..k {
            let column = &mut self.inverse[p * self.capacity..p * self.capacity + kp];
            column.fill(0.0);
            column[p] = 1.0;
            self.lu.solve(&mut column[..k]);
        }
        true
    }
}

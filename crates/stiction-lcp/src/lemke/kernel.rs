//! The inverse of the basis, reduced to its kernel and updated at every pivot.
//!
//! A basis of `w = M z + q + d z₀` holds the columns of some z (and z₀) and unit columns of the other w. Its non-trivial part
//! is the square kernel `K = [M d]_{rows, cols}`: `rows` are those whose w is nonbasic, `cols` the basic z and z₀. A pivot
//! changes K by one row, one column, or both, and its inverse by a matrix of rank one: O(k²).

use crate::lu::Lu;
use crate::matrix::{Matrix, axpy, axpy4, dot};

/// "Not in the kernel".
pub const NONE: usize = usize::MAX;

/// `K⁻¹` with the index sets of K. `inverse` is |cols| × |rows|, column-major with stride `capacity`.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
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
    lu: Lu,
}

impl Kernel {
    /// The empty kernel for a problem of order `n`.
    pub fn reset(&mut self, n: usize) {
        self.capacity = n + 1;
        self.rows.clear();
        self.cols.clear();
        self.row_position.clear();
        self.row_position.resize(n, NONE);
        self.col_position.clear();
        self.col_position.resize(n + 1, NONE);
        if self.inverse.len() < self.capacity * self.capacity {
            self.inverse = vec![0.0; self.capacity * self.capacity];
        }
        self.left.resize(n + 1, 0.0);
        self.right.resize(n + 1, 0.0);
    }

    /// Order of K.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Where row `i` stands in K, or `NONE`.
    pub fn row_position(&self, i: usize) -> usize {
        self.row_position[i]
    }

    /// Where column `j` stands in K, or `NONE`.
    pub fn col_position(&self, j: usize) -> usize {
        self.col_position[j]
    }

    /// Column `p` of K⁻¹: the answer of the basic z to a unit of w in row `rows[p]`.
    pub fn inverse_col(&self, p: usize) -> &[f64] {
        &self.inverse[p * self.capacity..p * self.capacity + self.len()]
    }

    /// `x ← K⁻¹ b` for b over the rows of K; x over its columns.
    pub fn solve_into(&self, b: &[f64], x: &mut [f64]) {
        let k = self.len();
        let x = &mut x[..k];
        x.fill(0.0);
        let full = k - k % 4;
        for p in (0..full).step_by(4) {
            let columns = [0, 1, 2, 3].map(|c| self.inverse_col(p + c));
            axpy4([b[p], b[p + 1], b[p + 2], b[p + 3]], columns, x);
        }
        for p in full..k {
            axpy(b[p], self.inverse_col(p), x);
        }
    }

    /// `left ← c`, row `i` of `[M d]` over the columns of K.
    fn gather_row(&mut self, m: &Matrix, i: usize) {
        for (x, &j) in self.left.iter_mut().zip(&self.cols) {
            *x = m[(i, j)];
        }
    }

    /// z_s enters and w_r leaves: K grows by row r and column s. `direction` is −K⁻¹ M_{rows,s}, `pivot` the rate of w_r.
    pub fn append(&mut self, m: &Matrix, r: usize, s: usize, direction: &[f64], pivot: f64) {
        let k = self.len();
        self.gather_row(m, r);
        for p in 0..k {
            let column = &mut self.inverse[p * self.capacity..p * self.capacity + k + 1];
            let factor = dot(&self.left[..k], &column[..k]) / pivot;
            axpy(-factor, &direction[..k], &mut column[..k]);
            column[k] = -factor;
        }
        let last = &mut self.inverse[k * self.capacity..k * self.capacity + k + 1];
        for p in 0..k {
            last[p] = direction[p] / pivot;
        }
        last[k] = 1.0 / pivot;
        self.row_position[r] = k;
        self.rows.push(r);
        self.col_position[s] = k;
        self.cols.push(s);
    }

    /// z_s enters and z_c, column `p` of K, leaves. `direction` is −K⁻¹ M_{rows,s}.
    pub fn replace_col(&mut self, p: usize, s: usize, direction: &[f64]) {
        let k = self.len();
        for r in 0..k {
            let column = &mut self.inverse[r * self.capacity..r * self.capacity + k];
            let factor = -column[p] / direction[p];
            if factor != 0.0 {
                axpy(factor, &direction[..k], column);
            }
            column[p] = factor;
        }
        self.col_position[self.cols[p]] = NONE;
        self.col_position[s] = p;
        self.cols[p] = s;
    }

    /// w_s, row `p` of K, enters and w_r leaves.
    pub fn replace_row(&mut self, m: &Matrix, p: usize, r: usize) {
        let k = self.len();
        self.gather_row(m, r);
        let pivot = dot(&self.left[..k], self.inverse_col(p));
        self.right[..k].copy_from_slice(&self.inverse[p * self.capacity..p * self.capacity + k]);
        for x in &mut self.right[..k] {
            *x /= pivot;
        }
        for j in 0..k {
            let column = &mut self.inverse[j * self.capacity..j * self.capacity + k];
            if j == p {
                column.copy_from_slice(&self.right[..k]);
            } else {
                let factor = dot(&self.left[..k], column);
                axpy(-factor, &self.right[..k], column);
            }
        }
        self.row_position[self.rows[p]] = NONE;
        self.row_position[r] = p;
        self.rows[p] = r;
    }

    /// w_s, row `p` of K, enters and z_c, column `c` of K, leaves: K shrinks by both.
    pub fn remove(&mut self, p: usize, c: usize) {
        let k = self.len();
        self.left[..k].copy_from_slice(&self.inverse[p * self.capacity..p * self.capacity + k]);
        let pivot = self.left[c];
        for j in 0..k {
            let column = &mut self.inverse[j * self.capacity..j * self.capacity + k];
            let factor = column[c] / pivot;
            if factor != 0.0 && j != p {
                axpy(-factor, &self.left[..k], column);
            }
            column[c] = column[k - 1];
        }
        if p != k - 1 {
            self.inverse.copy_within((k - 1) * self.capacity..(k - 1) * self.capacity + k, p * self.capacity);
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
    pub fn set(&mut self, m: &Matrix, active: impl Iterator<Item = usize>) -> bool {
        for i in active {
            self.row_position[i] = self.rows.len();
            self.col_position[i] = self.cols.len();
            self.rows.push(i);
            self.cols.push(i);
        }
        self.refactor(m)
    }

    /// Inverts K from scratch. False if it is singular to working precision.
    pub fn refactor(&mut self, m: &Matrix) -> bool {
        let k = self.len();
        let (rows, cols) = (&self.rows, &self.cols);
        self.lu.factor_with(k, |a, b| m[(rows[a], cols[b])]);
        if self.lu.pivot_ratio() < f64::EPSILON {
            return false;
        }
        for p in 0..k {
            let column = &mut self.inverse[p * self.capacity..p * self.capacity + k];
            column.fill(0.0);
            column[p] = 1.0;
            self.lu.solve(column);
        }
        true
    }
}

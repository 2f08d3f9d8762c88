//! Equilibration by powers of two.
//!
//! An LCP keeps its solutions under any positive scaling of rows and columns: with `z = C z′` and `w′ = R w` it becomes
//! `w′ = R M C z′ + R q`. The path of Lemke's method is the same too, but for its covering vector. Powers of two make the
//! change of units exact. Rows and columns are fitted so that the logarithms of the entries of `[M q]` are small in the
//! sense of least squares (Curtis and Reid), then every row of M is brought to size 1.

use crate::matrix::{Matrix, max_abs};
use crate::power::{exponent, times_power};

/// Rounds of the alternating fit; it converges fast, and a good start is enough.
const ROUNDS: usize = 4;
/// A matrix is left as it is if every row and column has an entry of at least this share of the largest.
const WELL_SCALED: f64 = 1.0 / 4096.0;
/// Keeps every exponent, and sums of a few of them, inside the range of f64.
const MOST_BITS: i32 = 400;

/// Exponents of the row and column scales: entry (i, j) is multiplied by `2^(row[i] + column[j])`.
#[derive(Debug, Clone, Default)]
pub struct Equilibration {
    /// Row exponents, n.
    pub row: Vec<i32>,
    /// Column exponents, n, and that of q as the last: n + 1.
    pub column: Vec<i32>,
    /// All row exponents are 0.
    rows_stay: bool,
    sum: Vec<i32>,
    count: Vec<i32>,
}

impl Equilibration {
    /// Fits the scales to `[M q]`. With `lazy`, a matrix that is even already only gets one common unit.
    pub fn fit(&mut self, m: &Matrix, q: &[f64], lazy: bool) {
        let n = q.len();
        self.row.clear();
        self.row.resize(n, 0);
        self.rows_stay = true;
        self.column.clear();
        self.column.resize(n + 1, 0);
        let size = m.max_abs();
        if lazy && is_even(m, size) {
            self.column.fill(-exponent(size).clamp(-MOST_BITS, MOST_BITS));
            self.column[n] = -exponent(max_abs(q)).clamp(-MOST_BITS, MOST_BITS);
            return;
        }
        for _ in 0..ROUNDS {
            self.fit_rows(m, q);
            self.fit_columns(m, q);
        }
        for exponent_of_column in &mut self.column {
            *exponent_of_column = (*exponent_of_column).clamp(-MOST_BITS, MOST_BITS);
        }
        self.bring_rows_to_one(m, q);
        self.rows_stay = self.row.iter().all(|e| *e == 0);
    }

    /// True if only one common unit was chosen for M.
    pub fn is_uniform(&self) -> bool {
        let n = self.row.len();
        self.rows_stay && self.column[..n].windows(2).all(|c| c[0] == c[1])
    }

    fn fit_rows(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.sum.clear();
        self.sum.resize(n, 0);
        self.count.clear();
        self.count.resize(n, 0);
        for j in 0..=n {
            let column = if j < n { m.col(j) } else { q };
            let shift = self.column[j];
            for ((sum, count), x) in self.sum.iter_mut().zip(&mut self.count).zip(column) {
                let (e, one) = exponent_or_nothing(*x);
                *sum += e + shift * one;
                *count += one;
            }
        }
        for ((row, sum), count) in self.row.iter_mut().zip(&self.sum).zip(&self.count) {
            *row = -sum.div_euclid((*count).max(1));
        }
    }

    fn fit_columns(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        for j in 0..=n {
            let column = if j < n { m.col(j) } else { q };
            let (mut sum, mut count) = (0, 0);
            for (x, row) in column.iter().zip(&self.row) {
                let (e, one) = exponent_or_nothing(*x);
                sum += e + row * one;
                count += one;
            }
            self.column[j] = -sum.div_euclid(count.max(1));
        }
    }

    fn bring_rows_to_one(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.sum.clear();
        self.sum.resize(n, NOTHING);
        for j in 0..n {
            let shift = self.column[j];
            for (largest, x) in self.sum.iter_mut().zip(m.col(j)) {
                let (e, one) = exponent_or_nothing(*x);
                *largest = (*largest).max(if one == 1 { e + shift } else { NOTHING });
            }
        }
        for i in 0..n {
            if self.sum[i] > NOTHING {
                self.row[i] = -self.sum[i];
            } else if q[i] != 0.0 {
                self.row[i] = -(exponent(q[i]) + self.column[n]);
            }
            self.row[i] = self.row[i].clamp(-MOST_BITS, MOST_BITS);
        }
        let largest = (0..n).filter(|i| q[*i] != 0.0).map(|i| exponent(q[i]) + self.row[i]).max();
        self.column[n] = -largest.unwrap_or(0);
    }

    /// Scales column `j` of M, or q for j = n, into `target` (n).
    pub fn apply_to_column(&self, j: usize, column: &[f64], target: &mut [f64]) {
        if self.rows_stay {
            let factor = times_power(1.0, self.column[j]);
            for (t, x) in target.iter_mut().zip(column) {
                *t = x * factor;
            }
        } else {
            for ((t, x), row) in target.iter_mut().zip(column).zip(&self.row) {
                *t = times_power(*x, row + self.column[j]);
            }
        }
    }
}

/// Below every exponent.
const NOTHING: i32 = i32::MIN / 2;

/// The exponent of x and 1; (0, 0) if x is zero or subnormal. Without a branch, so that loops over it are vectorised.
#[inline]
fn exponent_or_nothing(x: f64) -> (i32, i32) {
    let biased = ((x.to_bits() >> 52) & 0x7ff) as i32;
    let one = i32::from(biased != 0);
    ((biased - 1022) * one, one)
}

/// True if every column, and every row, has an entry near the largest of all.
fn is_even(m: &Matrix, size: f64) -> bool {
    let near = size * WELL_SCALED;
    let n = m.rows();
    (0..n).all(|i| (0..n).any(|j| m[(i, j)].abs() >= near)) && (0..n).all(|j| m.col(j).iter().any(|x| x.abs() >= near))
}

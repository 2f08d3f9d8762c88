//! Equilibration by powers of two: Curtis and Reid's fit ([`Equilibration`]), largest entries of rows and
//! columns brought towards one together ([`balance`]), or one after the other ([`rows_then_columns`]).
//!
//! An LCP keeps its solutions under any positive scaling of rows and columns: with `z = C z′` and `w′ = R w` it becomes
//! `w′ = R M C z′ + R q`. The path of Lemke's method is the same too, but for its covering vector. Powers of two make the
//! change of units exact. Rows and columns are fitted so that the logarithms of the entries of `[M q]` are small in the
//! sense of least squares (Curtis and Reid), then every row of M is brought to size 1.

use crate::interrupt;
use crate::matrix::{Matrix, max_abs};
use crate::power::{exponent, times_power};

/// Rounds of the alternating fit; it converges fast, and a good start is enough.
const ROUNDS: usize = 4;
/// A matrix is left as it is if every row and column has an entry of at least this share of the largest.
const WELL_SCALED_SHARE: f64 = 1.0 / 4096.0;
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

crate::vectorized! {
    fn fit(scales: &'a mut Equilibration, m: &'a Matrix, q: &'a [f64], lazy: bool) = scales.fit_plainly(m, q, lazy)
}

impl Equilibration {
    /// Fits the scales to `[M q]`. With `lazy`, a matrix that is even already only gets one common unit.
    pub fn fit(&mut self, m: &Matrix, q: &[f64], lazy: bool) {
        fit(self, m, q, lazy);
    }

    #[inline(always)]
    fn fit_plainly(&mut self, m: &Matrix, q: &[f64], lazy: bool) {
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

    #[inline(always)]
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

    #[inline(always)]
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

    #[inline(always)]
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

/// Sweeps of [`balance`] at most; each halves the distance, in exponents, to entries of size one.
const SWEEPS: usize = 12;

/// Exponents r, c such that the largest entry of every row and column of `2^−r M 2^−c` is near one.
pub fn balance(m: &Matrix) -> (Vec<i32>, Vec<i32>) {
    let (mut row, mut column) = (vec![0; m.rows()], vec![0; m.cols()]);
    let mut row_max = vec![0.0f64; m.rows()];
    for _ in 0..SWEEPS {
        interrupt::check();
        row_max.fill(0.0);
        let mut moved = false;
        for (j, of_column) in column.iter_mut().enumerate() {
            let mut column_max = 0.0f64;
            for ((x, of_row), row_max) in m.col(j).iter().zip(&row).zip(&mut row_max) {
                let size = times_power(x.abs(), -of_row - *of_column);
                *row_max = row_max.max(size);
                column_max = column_max.max(size);
            }
            let step = halved(exponent(column_max));
            *of_column += step;
            moved |= step != 0;
        }
        for (of_row, row_max) in row.iter_mut().zip(&row_max) {
            let step = halved(exponent(*row_max));
            *of_row += step;
            moved |= step != 0;
        }
        if !moved {
            break;
        }
    }
    (row, column)
}

/// Half of e, away from zero; exponents 0 and 1 are near enough to one.
fn halved(e: i32) -> i32 {
    if (0..=1).contains(&e) { 0 } else { e.signum() * (e.abs() + 1) / 2 }
}

/// Exponents r, c with which the largest entry of every row of `2^−r M`, then of every column of
/// `2^−r M 2^−c`, is between ½ and 1. Both vectors keep their storage.
pub fn rows_then_columns(m: &Matrix, row: &mut Vec<i32>, column: &mut Vec<i32>) {
    row.clear();
    row.resize(m.rows(), NOTHING);
    for j in 0..m.cols() {
        for (largest, x) in row.iter_mut().zip(m.col(j)).filter(|(_, x)| **x != 0.0) {
            *largest = exponent(*x).max(*largest);
        }
    }
    row.iter_mut().filter(|e| **e == NOTHING).for_each(|e| *e = 0);
    column.clear();
    for j in 0..m.cols() {
        interrupt::check_at(j);
        let scaled = m.col(j).iter().zip(&*row).map(|(x, e)| times_power(x.abs(), -e));
        column.push(exponent(scaled.fold(0.0, f64::max)));
    }
}

/// Below every exponent.
const NOTHING: i32 = i32::MIN / 2;

/// The exponent of x and 1; (0, 0) if x is zero or subnormal. Without a branch, so that loops over it are vectorised.
#[inline(always)]
fn exponent_or_nothing(x: f64) -> (i32, i32) {
    let biased = ((x.to_bits() >> 52) & 0x7ff) as i32;
    let one = i32::from(biased != 0);
    ((biased - 1022) * one, one)
}

/// True if every column, and every row, has an entry near the largest of all.
fn is_even(m: &Matrix, size: f64) -> bool {
    let near = size * WELL_SCALED_SHARE;
    let n = m.rows();
    (0..n).all(|i| (0..n).any(|j| m[(i, j)].abs() >= near)) && (0..n).all(|j| m.col(j).iter().any(|x| x.abs() >= near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A matrix with entries over 2^±600 by rows and columns, and two rows and columns of zeros.
    fn badly_scaled() -> Matrix {
        let mut rng = Rng::new(2);
        let power: Vec<i32> = (0..14).map(|_| rng.below(600) as i32 - 300).collect();
        let mut entry = |i: usize, j: usize| times_power(rng.normal(), power[i] + power[7 + j]);
        Matrix::from_fn(7, 7, |i, j| if i == 3 || j == 5 { 0.0 } else { entry(i, j) })
    }

    /// Exponents of the largest entries of the rows and columns that are not zero.
    fn largest(m: &Matrix, row: &[i32], column: &[i32]) -> (Vec<i32>, Vec<i32>) {
        let scaled = Matrix::from_fn(7, 7, |i, j| times_power(m[(i, j)], -row[i] - column[j]));
        let of = |m: &Matrix| (0..7).map(|j| max_abs(m.col(j))).filter(|x| *x > 0.0).map(exponent).collect();
        (of(&scaled.transposed()), of(&scaled))
    }

    #[test]
    fn largest_entries_come_near_one() {
        let m = badly_scaled();
        let (row, column) = balance(&m);
        let (rows, columns) = largest(&m, &row, &column);
        assert!(rows.iter().chain(&columns).all(|e| (-2..=2).contains(e)), "{rows:?} {columns:?}");
        assert_eq!((rows.len(), columns.len(), row[3], column[5]), (6, 6, 0, 0));
        let (mut row, mut column) = (vec![7; 9], vec![7; 9]);
        rows_then_columns(&m, &mut row, &mut column);
        let (_, columns) = largest(&m, &row, &column);
        assert!(columns.iter().all(|e| *e == 0), "{columns:?}");
        assert_eq!((row[3], column[5]), (0, 0));
    }

    #[test]
    fn a_fit_takes_back_any_scaling_and_applies_exactly() {
        let m = badly_scaled();
        let q = [1.0; 7];
        let mut fit = Equilibration::default();
        fit.fit(&m, &q, false);
        let mut column = [0.0; 7];
        for j in (0..7).filter(|j| *j != 5) {
            fit.apply_to_column(j, m.col(j), &mut column);
            assert!((0.0..=1.0).contains(&max_abs(&column)), "{column:?}");
            let back = (0..7).all(|i| times_power(column[i], -fit.row[i] - fit.column[j]) == m[(i, j)]);
            assert!(back && max_abs(&column) > 1e-4, "{j}: {column:?}");
        }
        assert!(!fit.is_uniform());
        fit.fit(&Matrix::identity(7), &q, true);
        assert!(fit.is_uniform());
    }
}

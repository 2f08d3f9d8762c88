//! Equilibration by powers of two.
//!
//! An LCP keeps its solutions under any positive scaling of rows and columns: with `z = C z′` and `w′ = R w` it becomes
//! `w′ = R M C z′ + R q`. The path of Lemke's method is the same too, but for its covering vector. Powers of two make the
//! change of units exact. Rows and columns are fitted so that the logarithms of the entries of `[M q]` are small in the
//! sense of least squares (Curtis and Reid), then every row of M is brought to size 1.

use crate::finish::{exponent, times_power};
use crate::matrix::Matrix;

/// Rounds of the alternating fit; it converges fast, and a good start is enough.
const ROUNDS: usize = 4;
/// Entries whose sizes span fewer bits than this are left as they are.
const WELL_SCALED_BITS: i32 = 12;
/// Keeps every exponent, and sums of a few of them, inside the range of f64.
const MOST_BITS: i32 = 400;

/// Exponents of the row and column scales: entry (i, j) is multiplied by `2^(row[i] + column[j])`.
#[derive(Debug, Clone, Default)]
pub struct Equilibration {
    /// Row exponents, n.
    pub row: Vec<i32>,
    /// Column exponents, n, and that of q as the last: n + 1.
    pub column: Vec<i32>,
    sums: Vec<(i64, i64)>,
}

impl Equilibration {
    /// Fits the scales to `[M q]`.
    pub fn fit(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.row.clear();
        self.row.resize(n, 0);
        self.column.clear();
        self.column.resize(n + 1, 0);
        let (matrix, vector) = (span(m.as_slice()), span(q));
        let narrow = |(low, high): (i32, i32)| high - low <= WELL_SCALED_BITS;
        if narrow(matrix) && narrow(vector) {
            self.column.fill((-matrix.1).clamp(-MOST_BITS, MOST_BITS));
            self.column[n] = (-vector.1).clamp(-MOST_BITS, MOST_BITS);
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
    }

    fn fit_rows(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.sums.clear();
        self.sums.resize(n, (0, 0));
        for j in 0..=n {
            let column = if j < n { m.col(j) } else { q };
            for (i, &x) in column.iter().enumerate() {
                if x != 0.0 {
                    self.sums[i].0 += i64::from(exponent(x) + self.column[j]);
                    self.sums[i].1 += 1;
                }
            }
        }
        for (row, (sum, count)) in self.row.iter_mut().zip(&self.sums) {
            *row = if *count > 0 { -(sum.div_euclid(*count)) as i32 } else { 0 };
        }
    }

    fn fit_columns(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        for j in 0..=n {
            let column = if j < n { m.col(j) } else { q };
            let (mut sum, mut count) = (0i64, 0i64);
            for (i, &x) in column.iter().enumerate() {
                if x != 0.0 {
                    sum += i64::from(exponent(x) + self.row[i]);
                    count += 1;
                }
            }
            self.column[j] = if count > 0 { -(sum.div_euclid(count)) as i32 } else { 0 };
        }
    }

    fn bring_rows_to_one(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.sums.clear();
        self.sums.resize(n, (i64::from(i32::MIN), 0));
        for j in 0..n {
            for (i, &x) in m.col(j).iter().enumerate() {
                if x != 0.0 {
                    self.sums[i].0 = self.sums[i].0.max(i64::from(exponent(x) + self.column[j]));
                }
            }
        }
        for i in 0..n {
            if self.sums[i].0 > i64::from(i32::MIN) {
                self.row[i] = -self.sums[i].0 as i32;
            } else if q[i] != 0.0 {
                self.row[i] = -(exponent(q[i]) + self.column[n]);
            }
            self.row[i] = self.row[i].clamp(-MOST_BITS, MOST_BITS);
        }
        let largest = (0..n).filter(|i| q[*i] != 0.0).map(|i| exponent(q[i]) + self.row[i]).max();
        self.column[n] = -largest.unwrap_or(0);
    }

    /// Writes the scaled matrix into the first n columns of `scaled` (n × n or wider) and the scaled vector into `q_scaled`.
    pub fn apply(&self, m: &Matrix, q: &[f64], scaled: &mut Matrix, q_scaled: &mut [f64]) {
        let n = q.len();
        for j in 0..n {
            let target = scaled.col_mut(j);
            for (i, &x) in m.col(j).iter().enumerate() {
                target[i] = times_power(x, self.row[i] + self.column[j]);
            }
        }
        for i in 0..n {
            q_scaled[i] = times_power(q[i], self.row[i] + self.column[n]);
        }
    }
}

/// The smallest and largest exponent of the non-zero values; (0, 0) if there is none.
fn span(values: &[f64]) -> (i32, i32) {
    let mut range = (i32::MAX, i32::MIN);
    for &x in values {
        if x != 0.0 {
            let e = exponent(x);
            range = (range.0.min(e), range.1.max(e));
        }
    }
    if range.0 > range.1 { (0, 0) } else { range }
}

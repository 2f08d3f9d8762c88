//! Gaussian elimination, as the textbook has it: what the paper measures the driving method against.

use stiction_lcp::Matrix;

/// Right-looking Gaussian elimination with partial pivoting, column by column, not blocked; its storage is kept from call to call.
#[derive(Debug, Clone, Default)]
pub struct Elimination {
    a: Vec<f64>,
    x: Vec<f64>,
}

impl Elimination {
    /// The solution of `m x = q`; not finite where the matrix is singular. Empty if the sizes do not agree.
    pub fn solve(&mut self, m: &Matrix, q: &[f64]) -> &[f64] {
        self.a.clear();
        self.x.clear();
        let n = q.len();
        if m.rows() != n || m.cols() != n {
            return &self.x;
        }
        self.a.extend_from_slice(m.as_slice());
        self.x.extend_from_slice(q);
        let (a, x) = (&mut self.a[..], &mut self.x[..]);
        for k in 0..n {
            exchange(a, x, k);
            let (left, right) = a.split_at_mut((k + 1) * n);
            let pivot = left[k * n + k];
            let multipliers = &mut left[k * n + k + 1..];
            multipliers.iter_mut().for_each(|l| *l /= pivot);
            for column in right.chunks_exact_mut(n) {
                subtract(column[k], multipliers, &mut column[k + 1..]);
            }
            subtract(x[k], multipliers, &mut x[k + 1..]);
        }
        for k in (0..n).rev() {
            x[k] /= a[k * n + k];
            let (above, rest) = x.split_at_mut(k);
            subtract(rest[0], &a[k * n..k * n + k], above);
        }
        x
    }
}

/// Brings the largest entry at or below the diagonal of column `k` to the diagonal.
fn exchange(a: &mut [f64], x: &mut [f64], k: usize) {
    let n = x.len();
    let column = &a[k * n..(k + 1) * n];
    let mut row = k;
    for i in k + 1..n {
        if column[i].abs() > column[row].abs() {
            row = i;
        }
    }
    if row != k {
        for j in 0..n {
            a.swap(j * n + k, j * n + row);
        }
        x.swap(k, row);
    }
}

/// `y − factor x`.
fn subtract(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= factor * x;
    }
}

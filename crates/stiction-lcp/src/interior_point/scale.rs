//! Scaling: `R M C` and `R q / s` with R and C diagonal and positive.
//!
//! A complementarity problem allows any R and C, but only `R = C` keeps a positive semidefinite matrix so. Where M is semidefinite as it
//! is, R = C; otherwise rows and columns are balanced independently, to equal sums. Such a balance is unique, so it
//! takes back a row scaling of a symmetric matrix.

use crate::classify::classify;
use crate::matrix::Matrix;
use crate::outcome::MatrixClass;
use crate::problem::Lcp;

/// Sweeps of the scaling at most; each takes the square root of the imbalance.
const SWEEPS: usize = 30;

/// The scaling is done when no row or column is further than this factor from balance.
const BALANCED: f64 = 1.1;

/// A scaled problem: `z = s C z̃`, `w = s R⁻¹ w̃`.
#[derive(Debug, Clone, Default)]
pub(super) struct Scaled {
    pub m: Matrix,
    pub q: Vec<f64>,
    row: Vec<f64>,
    column: Vec<f64>,
    size: f64,
}

impl Scaled {
    pub(super) fn set(&mut self, lcp: &Lcp) {
        let n = lcp.n();
        self.row.clear();
        let largest = lcp.m().max_abs();
        let start = if largest > 0.0 { 1.0 / largest.sqrt() } else { 1.0 };
        self.row.resize(n, start);
        self.column.clear();
        self.column.resize(n, start);
        let symmetric = !matches!(classify(lcp.m()), MatrixClass::Other | MatrixClass::StrictlyCopositive);
        for _ in 0..SWEEPS {
            crate::interrupt::check();
            if self.sweep(lcp.m(), symmetric) <= BALANCED {
                break;
            }
        }
        self.scale_empty_rows(lcp);
        self.m.reset(n, n);
        for j in 0..n {
            crate::interrupt::check_at(j);
            for i in 0..n {
                self.m[(i, j)] = self.row[i] * lcp.m()[(i, j)] * self.column[j];
            }
        }
        self.q.clear();
        self.q.extend(lcp.q().iter().zip(&self.row).map(|(q, r)| q * r));
        let size = crate::matrix::max_abs(&self.q);
        self.size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        self.q.iter_mut().for_each(|q| *q /= self.size);
    }

    /// A row of zeros has w = q: only q can scale it.
    fn scale_empty_rows(&mut self, lcp: &Lcp) {
        let n = lcp.n();
        let empty = |i: usize| (0..n).all(|j| lcp.m()[(i, j)] == 0.0);
        let others = (0..n).filter(|&i| !empty(i)).fold(0.0, |s: f64, i| s.max((self.row[i] * lcp.q()[i]).abs()));
        let target = if others > 0.0 { others } else { 1.0 };
        for i in (0..n).filter(|&i| empty(i) && lcp.q()[i] != 0.0) {
            let scale = target / lcp.q()[i].abs();
            if scale.is_finite() && scale > 0.0 {
                self.row[i] = scale;
            }
        }
    }

    /// One sweep; returns the largest factor by which a row or column was out of balance.
    fn sweep(&mut self, m: &Matrix, symmetric: bool) -> f64 {
        let n = m.rows();
        let mut row_sum = vec![0.0f64; n];
        let mut column_sum = vec![0.0f64; n];
        for j in 0..n {
            for i in 0..n {
                let entry = (self.row[i] * m[(i, j)] * self.column[j]).abs();
                row_sum[i] += entry;
                column_sum[j] += entry;
            }
        }
        let mut worst: f64 = 1.0;
        for i in 0..n {
            if symmetric {
                let mean = row_sum[i] + column_sum[i];
                row_sum[i] = 0.5 * mean;
                column_sum[i] = row_sum[i];
            }
            for (sum, scale) in [(row_sum[i], &mut self.row[i]), (column_sum[i], &mut self.column[i])] {
                if sum > 0.0 && sum.is_finite() {
                    worst = worst.max(sum).max(1.0 / sum);
                    *scale /= sum.sqrt();
                }
            }
        }
        worst
    }

    /// z in the units of the problem.
    pub(super) fn unscale_z(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.column).map(|(z, c)| self.size * c * z).collect()
    }
}

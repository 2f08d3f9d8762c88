//! LU with partial pivoting, unblocked, for the small systems of a basis. Reuses its storage.

use crate::matrix::{Matrix, axpy, dot};

/// `P A = L U`, packed in one matrix.
#[derive(Debug, Clone, Default)]
pub struct Lu {
    factors: Matrix,
    /// Row `k` was exchanged with row `exchange[k]`.
    exchange: Vec<usize>,
    /// The smallest |pivot| over the largest; 0 if A is singular.
    pivot_ratio: f64,
}

impl Lu {
    /// Factors the matrix of order `n` whose entry (i, j) is `entry(i, j)`.
    pub fn factor_with(&mut self, n: usize, mut entry: impl FnMut(usize, usize) -> f64) {
        self.factors.reset(n, n);
        for j in 0..n {
            crate::interrupt::check_at(j);
            let column = self.factors.col_mut(j);
            for (i, x) in column.iter_mut().enumerate() {
                *x = entry(i, j);
            }
        }
        self.eliminate();
    }

    /// Factors a square matrix.
    pub fn factor(&mut self, a: &Matrix) {
        self.factors.copy_from(a);
        self.eliminate();
    }

    fn eliminate(&mut self) {
        let n = self.factors.rows();
        self.exchange.clear();
        let (mut largest, mut smallest) = (0.0f64, f64::INFINITY);
        for k in 0..n {
            crate::interrupt::check();
            let column = self.factors.col(k);
            let mut row = k;
            for i in k + 1..n {
                if column[i].abs() > column[row].abs() {
                    row = i;
                }
            }
            self.exchange.push(row);
            let pivot = column[row];
            largest = largest.max(pivot.abs());
            smallest = smallest.min(pivot.abs());
            if pivot == 0.0 {
                continue;
            }
            let data = self.factors.as_mut_slice();
            if row != k {
                for j in 0..n {
                    data.swap(j * n + k, j * n + row);
                }
            }
            let (left, right) = data.split_at_mut((k + 1) * n);
            let multipliers = &mut left[k * n + k + 1..];
            for x in multipliers.iter_mut() {
                *x /= pivot;
            }
            for column in right.chunks_exact_mut(n) {
                let a = column[k];
                if a != 0.0 {
                    axpy(-a, multipliers, &mut column[k + 1..]);
                }
            }
        }
        self.pivot_ratio = if n == 0 {
            1.0
        } else if largest > 0.0 {
            smallest / largest
        } else {
            0.0
        };
        if self.pivot_ratio.is_nan() {
            self.pivot_ratio = 0.0;
        }
    }

    /// True if the determinant is negative.
    pub fn is_negative(&self) -> bool {
        let exchanges = self.exchange.iter().enumerate().filter(|(k, row)| k != *row).count();
        let pivots = (0..self.n()).filter(|&k| self.factors[(k, k)] < 0.0).count();
        (exchanges + pivots) % 2 == 1
    }

    /// Order of the factored matrix.
    pub fn n(&self) -> usize {
        self.factors.rows()
    }

    /// The smallest |pivot| over the largest: a cheap hint at the condition. 0 means singular.
    pub fn pivot_ratio(&self) -> f64 {
        self.pivot_ratio
    }

    /// `x ← A⁻¹ x`. The matrix must not be singular.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n();
        for k in 0..n {
            x.swap(k, self.exchange[k]);
        }
        for k in 0..n {
            crate::interrupt::check_at(k);
            let xk = x[k];
            if xk != 0.0 {
                axpy(-xk, &self.factors.col(k)[k + 1..], &mut x[k + 1..]);
            }
        }
        for k in (0..n).rev() {
            crate::interrupt::check_at(k);
            x[k] /= self.factors[(k, k)];
            let xk = x[k];
            if xk != 0.0 {
                axpy(-xk, &self.factors.col(k)[..k], &mut x[..k]);
            }
        }
    }

    /// `x ← A⁻ᵀ x`. The matrix must not be singular.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        let n = self.n();
        for k in 0..n {
            let column = self.factors.col(k);
            x[k] = (x[k] - dot(&column[..k], &x[..k])) / column[k];
        }
        for k in (0..n).rev() {
            let column = self.factors.col(k);
            x[k] -= dot(&column[k + 1..], &x[k + 1..]);
        }
        for k in (0..n).rev() {
            x.swap(k, self.exchange[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn solves_with_the_matrix_and_its_transpose() {
        let mut rng = Rng::new(1);
        let mut lu = Lu::default();
        for n in [0, 1, 2, 5, 19] {
            let a = Matrix::from_fn(n, n, |_, _| rng.normal());
            lu.factor(&a);
            assert!(lu.n() == n && lu.pivot_ratio() > 1e-6);
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let (mut y, mut z) = (vec![0.0; n], vec![0.0; n]);
            a.mul_into(&x, &mut y);
            a.mul_transposed_into(&x, &mut z);
            lu.solve(&mut y);
            lu.solve_transposed(&mut z);
            assert!((0..n).all(|i| (x[i] - y[i]).abs() < 1e-9 && (x[i] - z[i]).abs() < 1e-9), "{n}");
        }
    }

    #[test]
    fn the_sign_of_the_determinant() {
        let mut lu = Lu::default();
        for (a, negative) in
            [([[1.0, 2.0], [3.0, 4.0]], true), ([[1.0, 2.0], [-3.0, 4.0]], false), ([[-1.0, 0.0], [0.0, 4.0]], true)]
        {
            lu.factor(&Matrix::from_rows(&a).unwrap());
            assert_eq!(lu.is_negative(), negative, "{a:?}");
        }
        lu.factor(&Matrix::zeros(0, 0));
        assert!(!lu.is_negative());
    }

    #[test]
    fn a_singular_matrix_has_no_pivots_left() {
        let mut lu = Lu::default();
        lu.factor_with(2, |i, j| ((i + 1) * (j + 1)) as f64);
        assert_eq!(lu.pivot_ratio(), 0.0);
        lu.factor(&Matrix::zeros(3, 3));
        assert_eq!(lu.pivot_ratio(), 0.0);
    }
}

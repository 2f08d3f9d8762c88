//! Cholesky's factor `A = L Lᵀ` of symmetric matrices: plain, and with diagonal pivoting where A is only
//! semidefinite. Of A the lower triangle is read, and overwritten by L.

use crate::interrupt;
use crate::matrix::{Matrix, axpy, axpy_four, dot};

/// A pivot that was not accepted: A is not positive definite as the caller understands it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RejectedPivot {
    /// Its column.
    pub column: usize,
    /// What elimination has left of the diagonal entry.
    pub pivot: f64,
}

/// Factors the matrix in the first `rows` columns of `a`. `accept` is given the number of each pivot and
/// the pivot, and returns the pivot to go on with, or `None` to end there.
///
/// # Errors
/// The pivot that was not accepted.
pub fn factor(a: &mut Matrix, accept: impl FnMut(usize, f64) -> Option<f64>) -> Result<(), RejectedPivot> {
    let n = a.rows();
    factor_columns(n, n, a.as_mut_slice(), accept)
}

/// [`factor`] of order `n` whose columns start `stride` numbers apart.
///
/// # Errors
/// The pivot that was not accepted.
pub fn factor_columns(
    n: usize,
    stride: usize,
    a: &mut [f64],
    mut accept: impl FnMut(usize, f64) -> Option<f64>,
) -> Result<(), RejectedPivot> {
    for j in 0..n {
        interrupt::check_at(j);
        let column = eliminate(j, j, n, stride, a);
        let pivot = column[0];
        column[0] = accept(j, pivot).ok_or(RejectedPivot { column: j, pivot })?;
        divide_by_root(column);
    }
    Ok(())
}

/// Takes from column `j`, from its diagonal on, what belongs to the first `done` columns of the factor; returns what is left.
fn eliminate(j: usize, done: usize, n: usize, stride: usize, a: &mut [f64]) -> &mut [f64] {
    let (before, rest) = a.split_at_mut(j * stride);
    let column = &mut rest[j..n];
    let mut fours = before[..done * stride].chunks_exact(4 * stride);
    for four in &mut fours {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| &four[k * stride + j..k * stride + n]);
        axpy_four([-a[0], -b[0], -c[0], -d[0]], a, b, c, d, column);
    }
    for k in fours.remainder().chunks_exact(stride) {
        axpy(-k[j], &k[j..n], column);
    }
    column
}

/// A column of the factor from what elimination has left of it, the pivot first.
fn divide_by_root(column: &mut [f64]) {
    let root = column[0].sqrt();
    column.iter_mut().for_each(|x| *x /= root);
}

/// `x ← A⁻¹ x` by the factor of [`factor`].
pub fn solve(l: &Matrix, x: &mut [f64]) {
    solve_columns(l.rows(), l.as_slice(), x);
}

/// `x ← A⁻¹ x` by the factor of [`factor_columns`]; its order is the length of x.
pub fn solve_columns(stride: usize, l: &[f64], x: &mut [f64]) {
    let n = x.len();
    let below = |j: usize| &l[j * stride + j + 1..j * stride + n];
    for j in 0..n {
        x[j] /= l[j * stride + j];
        let xj = x[j];
        axpy(-xj, below(j), &mut x[j + 1..]);
    }
    for j in (0..n).rev() {
        x[j] = (x[j] - dot(below(j), &x[j + 1..])) / l[j * stride + j];
    }
}

/// The last row of a symmetric matrix, in the order of elimination from the last to the first, of whose
/// diagonal entry at most the relative `tolerance` is left: positive semidefinite matrices are singular
/// in the rows from there on. `None` if A is positive definite.
pub fn singular_row(a: &Matrix, tolerance: f64) -> Option<usize> {
    let n = a.rows();
    let from_last = |i: usize| n - 1 - i;
    let mut reversed = Matrix::from_fn(n, n, |i, j| a[(from_last(i), from_last(j))]);
    let accept = |j: usize, pivot: f64| (pivot > tolerance * a[(from_last(j), from_last(j))]).then_some(pivot);
    factor(&mut reversed, accept).err().map(|rejected| from_last(rejected.column))
}

/// Cholesky's factor with diagonal pivoting, `Pᵀ A P = L Lᵀ + rest`: the largest pivot first, until what
/// is left of every diagonal entry is rounding. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub struct PivotedCholesky {
    /// L in its first columns, below it what is left of A; both in the order of the pivots.
    work: Matrix,
    /// What is left of the diagonal entries that are no pivots yet.
    diagonal: Vec<f64>,
    order: Vec<usize>,
    rank: usize,
}

impl PivotedCholesky {
    /// Factors the matrix of order `n` whose entry (i, j), i ≥ j, is `entry(i, j)`. A diagonal entry of
    /// which no more than `rounding(i)` is left is no pivot.
    pub fn factor_with(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64, rounding: impl Fn(usize) -> f64) {
        self.work.reset(n, n);
        for j in 0..n {
            (j..n).for_each(|i| self.work[(i, j)] = entry(i, j));
        }
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|i| self.work[(i, i)]));
        self.order.clear();
        self.order.extend(0..n);
        self.rank = 0;
        while let Some(pivot) = self.largest_pivot(&rounding) {
            interrupt::check();
            let k = self.rank;
            self.exchange(k, pivot);
            let column = eliminate(k, k, n, n, self.work.as_mut_slice());
            divide_by_root(column);
            self.diagonal[k..].iter_mut().zip(column).for_each(|(d, x)| *d -= *x * *x);
            self.rank += 1;
        }
        for j in self.rank..n {
            interrupt::check();
            eliminate(j, self.rank, n, n, self.work.as_mut_slice());
        }
    }

    /// The largest of the diagonal entries that are left and not rounding.
    fn largest_pivot(&self, rounding: impl Fn(usize) -> f64) -> Option<usize> {
        let left = |i: usize| self.diagonal[i];
        let larger = |best: Option<usize>, i: usize| match best {
            _ if left(i) <= rounding(self.order[i]) || left(i).is_nan() => best,
            Some(b) if left(b) >= left(i) => best,
            _ => Some(i),
        };
        (self.rank..self.order.len()).fold(None, larger)
    }

    /// Number of pivots: the rank of A, but for rounding.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The row of A that each pivot belongs to, then those that are left; n.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Column `k` of L from its diagonal on, in the order of the pivots.
    pub fn column(&self, k: usize) -> &[f64] {
        &self.work.col(k)[k..]
    }

    /// What is left of A, the lower triangle column by column.
    pub fn rest(&self) -> impl Iterator<Item = f64> + '_ {
        (self.rank..self.work.cols()).flat_map(|j| self.column(j)).copied()
    }

    /// Exchanges rows and columns a ≤ b of the lower triangle, and of L.
    fn exchange(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        self.order.swap(a, b);
        self.diagonal.swap(a, b);
        let n = self.work.rows();
        let data = self.work.as_mut_slice();
        (0..a).for_each(|j| data.swap(j * n + a, j * n + b));
        data.swap(a * n + a, b * n + b);
        (a + 1..b).for_each(|i| data.swap(a * n + i, i * n + b));
        (b + 1..n).for_each(|i| data.swap(a * n + i, b * n + i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// `G Gᵀ` of a random G (n × rank).
    fn gram(rng: &mut Rng, n: usize, rank: usize) -> Matrix {
        let g = Matrix::from_fn(n, rank, |_, _| rng.normal());
        Matrix::from_fn(n, n, |i, j| (0..rank).map(|k| g[(i, k)] * g[(j, k)]).sum())
    }

    #[test]
    fn solves_and_names_the_pivot_that_is_not_positive() {
        let mut rng = Rng::new(4);
        for n in [1, 2, 7, 23] {
            let a = gram(&mut rng, n, n + 2);
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mut y = vec![0.0; n];
            a.mul_into(&x, &mut y);
            let mut l = a.clone();
            assert_eq!(factor(&mut l, |_, pivot| (pivot > 0.0).then_some(pivot)), Ok(()));
            solve(&l, &mut y);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-8), "{n}: {x:?} {y:?}");
        }
        let mut a = Matrix::from_rows(&[[4.0, 2.0], [2.0, 1.0]]).unwrap();
        let rejected = factor(&mut a, |_, pivot| (pivot > 0.0).then_some(pivot));
        assert_eq!(rejected, Err(RejectedPivot { column: 1, pivot: 0.0 }));
        // A block of a larger array: [4 2; 2 5] and (8, 9).
        let mut a = [4.0, 2.0, f64::NAN, f64::NAN, 5.0, f64::NAN];
        assert!(factor_columns(2, 3, &mut a, |_, pivot| Some(pivot)).is_ok());
        let mut x = [8.0, 9.0];
        solve_columns(3, &a, &mut x);
        assert!((x[0] - 1.375).abs() < 1e-15 && (x[1] - 1.25).abs() < 1e-15, "{x:?}");
    }

    #[test]
    fn the_row_without_anything_of_its_own_is_found_from_the_end() {
        let a = Matrix::from_rows(&[[2.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]).unwrap();
        assert_eq!(singular_row(&a, 1e-13), Some(1));
        assert_eq!(singular_row(&Matrix::identity(3), 1e-13), None);
        assert_eq!(singular_row(&Matrix::zeros(2, 2), 1e-13), Some(1));
    }

    #[test]
    fn pivoting_reveals_the_rank_and_leaves_nothing_else() {
        let mut rng = Rng::new(6);
        for (n, rank) in [(1, 1), (5, 0), (6, 2), (9, 9), (20, 7)] {
            let a = gram(&mut rng, n, rank);
            let mut factor = PivotedCholesky::default();
            factor.factor_with(n, |i, j| a[(i, j)], |i| 1e-13 * a[(i, i)]);
            assert_eq!(factor.rank(), rank);
            assert!(factor.rest().all(|x| x.abs() < 1e-12));
            let mut product = Matrix::zeros(n, n);
            for k in 0..rank {
                let (column, rows) = (factor.column(k), &factor.order()[k..]);
                for (x, &i) in column.iter().zip(rows) {
                    column.iter().zip(rows).for_each(|(y, &j)| product[(i, j)] += x * y);
                }
            }
            let error = a.as_slice().iter().zip(product.as_slice()).fold(0.0, |e: f64, (x, y)| e.max((x - y).abs()));
            assert!(error < 1e-12, "{n} {rank}: {error:e}");
        }
        // Indefinite: what is left is not small.
        let mut factor = PivotedCholesky::default();
        factor.factor_with(2, |i, j| if i == j { 1.0 } else { 2.0 }, |_| 1e-13);
        assert_eq!((factor.rank(), factor.rest().collect::<Vec<_>>()), (1, vec![-3.0]));
    }
}

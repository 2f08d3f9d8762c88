//! Cholesky's factor `A = U Uᵀ` with U upper triangular, from the last row to the first, of matrices with many zeros.
//!
//! The inertia matrix of a tree of bodies, parents before children, has no entry between two branches. Eliminated from the leaves to the
//! root it keeps all these zeros (\[Featherstone08\], ch. 6.5): U has entries only between a velocity and those that carry it. The zeros are
//! found while eliminating; a matrix without any costs what [`crate::cholesky`] does.

use crate::cholesky::RejectedPivot;
use crate::interrupt;
use crate::matrix::{Matrix, axpy, dot};

/// The factor, by columns. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub struct BranchedCholesky {
    /// U, of which column k is read at the rows of its runs and at its diagonal.
    u: Matrix,
    /// Ranges of rows above the diagonal that have entries, column by column, from the last to the first.
    runs: Vec<(usize, usize)>,
    /// Where the runs of column k are: from `starts[k + 1]` to `starts[k]`.
    starts: Vec<usize>,
    /// One over the diagonal of U.
    reciprocals: Vec<f64>,
}

impl PartialEq for BranchedCholesky {
    fn eq(&self, other: &Self) -> bool {
        let entries = |k: usize| self.entries(k).eq(other.entries(k));
        self.reciprocals == other.reciprocals && self.starts == other.starts && (0..self.rows()).all(entries)
    }
}

impl BranchedCholesky {
    /// Factors a symmetric matrix, of which the upper triangle is read. `accept` is given the number of each pivot and the pivot, and returns the pivot to
    /// go on with, or `None` to end there.
    ///
    /// # Errors
    /// The pivot that was not accepted.
    pub fn factor(
        &mut self,
        a: &Matrix,
        mut accept: impl FnMut(usize, f64) -> Option<f64>,
    ) -> Result<(), RejectedPivot> {
        let n = a.rows();
        self.u.reshape(n, n);
        (0..n).for_each(|k| self.u.col_mut(k)[..=k].copy_from_slice(&a.col(k)[..=k]));
        self.runs.clear();
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        self.reciprocals.clear();
        self.reciprocals.resize(n, 0.0);
        for k in (0..n).rev() {
            interrupt::check_at(k);
            let (above, column) = self.u.as_mut_slice().split_at_mut(k * n);
            let pivot = accept(k, column[k]).ok_or(RejectedPivot { column: k, pivot: column[k] })?;
            column[k] = pivot.sqrt();
            let (root, column) = (column[k], &mut column[..k]);
            self.reciprocals[k] = 1.0 / root;
            let first = self.runs.len();
            push_runs(column, &mut self.runs);
            self.starts[k] = self.runs.len();
            let runs = &self.runs[first..];
            for &(start, end) in runs {
                column[start..end].iter_mut().for_each(|x| *x /= root);
            }
            for (n_run, &(start, end)) in runs.iter().enumerate() {
                for i in start..end {
                    let (x, to) = (column[i], &mut above[i * n..i * n + i + 1]);
                    for &(a, b) in &runs[..n_run] {
                        axpy(-x, &column[a..b], &mut to[a..b]);
                    }
                    axpy(-x, &column[start..=i], &mut to[start..]);
                }
            }
        }
        Ok(())
    }

    /// Becomes a copy of another factor.
    pub fn copy_from(&mut self, other: &Self) {
        self.u.copy_from(&other.u);
        self.runs.clone_from(&other.runs);
        self.starts.clone_from(&other.starts);
        self.reciprocals.clone_from(&other.reciprocals);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.u.rows()
    }

    /// The diagonal of U.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.rows()).map(|k| self.u[(k, k)])
    }

    /// True if U has nothing but its diagonal.
    pub fn is_diagonal(&self) -> bool {
        self.runs.is_empty()
    }

    /// Ranges of rows above the diagonal of column k that have entries, with these entries.
    #[inline(always)]
    fn entries(&self, k: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let column = self.u.col(k);
        self.runs[self.starts[k + 1]..self.starts[k]].iter().map(move |&(start, end)| (start, &column[start..end]))
    }

    /// `x ← U⁻¹ x`.
    pub fn solve_factor(&self, x: &mut [f64]) {
        for k in (0..x.len()).rev() {
            x[k] *= self.reciprocals[k];
            let xk = x[k];
            if xk != 0.0 {
                self.entries(k).for_each(|(start, u)| axpy(-xk, u, &mut x[start..start + u.len()]));
            }
        }
    }

    /// `x ← U⁻ᵀ x`.
    pub fn solve_factor_transposed(&self, x: &mut [f64]) {
        for k in 0..x.len() {
            let mut sum = 0.0;
            self.entries(k).for_each(|(start, u)| sum += dot(u, &x[start..start + u.len()]));
            x[k] = (x[k] - sum) * self.reciprocals[k];
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_factor(x);
        self.solve_factor_transposed(x);
    }

    /// `x ← Uᵀ x`.
    pub fn mul_factor_transposed(&self, x: &mut [f64]) {
        for k in (0..x.len()).rev() {
            let mut sum = self.u[(k, k)] * x[k];
            self.entries(k).for_each(|(start, u)| sum += dot(u, &x[start..start + u.len()]));
            x[k] = sum;
        }
    }

    /// [`BranchedCholesky::solve_factor`] for `N` vectors side by side: `x[i]` has entry i of each. Those from `end` on are zero.
    #[inline(always)]
    pub fn solve_factor_lanes<const N: usize>(&self, end: usize, x: &mut [[f64; N]]) {
        for k in (0..end).rev() {
            let (above, xk) = x.split_at_mut(k);
            if xk[0] == [0.0; N] {
                continue;
            }
            xk[0] = xk[0].map(|x| x * self.reciprocals[k]);
            for (start, u) in self.entries(k) {
                for (to, u) in above[start..].iter_mut().zip(u) {
                    for lane in 0..N {
                        to[lane] -= u * xk[0][lane];
                    }
                }
            }
        }
    }

    /// [`BranchedCholesky::solve_factor_transposed`] for `N` vectors side by side.
    #[inline(always)]
    pub fn solve_factor_transposed_lanes<const N: usize>(&self, x: &mut [[f64; N]]) {
        for k in 0..x.len() {
            let (above, xk) = x.split_at_mut(k);
            for (start, u) in self.entries(k) {
                for (from, u) in above[start..].iter().zip(u) {
                    for lane in 0..N {
                        xk[0][lane] -= u * from[lane];
                    }
                }
            }
            xk[0] = xk[0].map(|x| x * self.reciprocals[k]);
        }
    }
}

/// Adds the ranges of a column that have entries.
fn push_runs(column: &[f64], runs: &mut Vec<(usize, usize)>) {
    let mut start = count_zeros(column);
    while start < column.len() {
        let length = column[start..].iter().position(|x| *x == 0.0).unwrap_or(column.len() - start);
        let end = start + length;
        runs.push((start, end));
        start = end + count_zeros(&column[end..]);
    }
}

/// Number of zeros before the first other number. There are many: they are looked at several at a time.
fn count_zeros(x: &[f64]) -> usize {
    let (eights, _) = x.as_chunks::<8>();
    let is_zero = |x: &[f64; 8]| x.iter().fold(0, |bits, x| bits | x.to_bits() << 1) == 0;
    let first = 8 * eights.iter().take_while(|eight| is_zero(eight)).count();
    first + x[first..].iter().take_while(|x| **x == 0.0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The inertia of a random tree, whose rows hang on the given earlier ones: `A = Σ cᵢ cᵢᵀ + I` with vectors cᵢ along the paths to the root.
    fn tree(parents: &[Option<usize>], rng: &mut Rng) -> Matrix {
        let n = parents.len();
        let mut a = Matrix::identity(n);
        for i in 0..n {
            let path: Vec<usize> = std::iter::successors(Some(i), |&j| parents[j]).collect();
            let c: Vec<f64> = path.iter().map(|_| rng.normal()).collect();
            for (p, x) in path.iter().zip(&c) {
                path.iter().zip(&c).for_each(|(q, y)| a[(*p, *q)] += x * y);
            }
        }
        a
    }

    fn shapes() -> [Vec<Option<usize>>; 4] {
        let chain = (0..9).map(|i: usize| i.checked_sub(1)).collect();
        let star = (0..9).map(|i: usize| (i > 0).then_some(0)).collect();
        // A base of two, three arms of two; and a body of its own.
        let arms = vec![None, Some(0), Some(1), Some(2), Some(1), Some(4), Some(1), Some(6), None];
        [chain, star, arms, vec![]]
    }

    #[test]
    fn factors_solve_and_keep_zeros() {
        let mut rng = Rng::new(7);
        let mut factor = BranchedCholesky::default();
        for parents in shapes() {
            let a = tree(&parents, &mut rng);
            let n = a.rows();
            factor.factor(&a, |_, pivot| (pivot > 0.0).then_some(pivot)).unwrap();
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mut y = vec![0.0; n];
            a.mul_into(&x, &mut y);
            factor.solve(&mut y);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-12), "{parents:?}");
            // |Uᵀ x|² = xᵀ A x, and Uᵀ U⁻ᵀ x = x.
            let mut white = x.clone();
            factor.mul_factor_transposed(&mut white);
            a.mul_into(&x, &mut y);
            assert!((dot(&white, &white) - dot(&x, &y)).abs() < 1e-12);
            factor.solve_factor_transposed(&mut white);
            assert!(x.iter().zip(&white).all(|(x, y)| (x - y).abs() < 1e-12));
            let entries: usize = (0..n).map(|k| factor.entries(k).map(|(_, u)| u.len()).sum::<usize>()).sum();
            let in_a = (0..n).map(|k| a.col(k)[..k].iter().filter(|x| **x != 0.0).count()).sum();
            assert_eq!(entries, in_a, "{parents:?}: no fill");
        }
    }

    #[test]
    fn lanes_are_single_solves() {
        let mut rng = Rng::new(8);
        let mut factor = BranchedCholesky::default();
        for parents in shapes() {
            let a = tree(&parents, &mut rng);
            factor.factor(&a, |_, pivot| Some(pivot)).unwrap();
            let mut lanes: Vec<[f64; 3]> = (0..a.rows()).map(|_| [0; 3].map(|_| rng.normal())).collect();
            let mut single: Vec<Vec<f64>> = (0..3).map(|lane| lanes.iter().map(|x| x[lane]).collect()).collect();
            factor.solve_factor_lanes(a.rows(), &mut lanes);
            factor.solve_factor_transposed_lanes(&mut lanes);
            single.iter_mut().for_each(|x| factor.solve(x));
            for (i, x) in lanes.iter().enumerate() {
                (0..3).for_each(|lane| assert!((x[lane] - single[lane][i]).abs() < 1e-13));
            }
        }
    }

    #[test]
    fn a_pivot_that_is_not_accepted_is_named() {
        let a = Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).unwrap();
        let end = BranchedCholesky::default().factor(&a, |_, pivot| (pivot > 0.0).then_some(pivot));
        assert_eq!(end, Err(RejectedPivot { column: 0, pivot: -3.0 }));
    }
}

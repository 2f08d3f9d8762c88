//! The triangular factor `A = L Lᵀ` of a symmetric positive definite block, dense or with the zeros of a tree: whichever costs less.

use crate::branched_cholesky::BranchedCholesky;
use crate::cholesky::{self, RejectedPivot};
use crate::matrix::{Matrix, axpy, dot};

/// From this part of zeros among the pairs of rows on their places are worth knowing: at 0.35, with four legs of three joints, the certificate of a
/// step takes 1.4 times as long with them; at 0.6 and more, with hands and many limbs, steps take 0.7 to 0.9 of the time. Arms with grippers
/// have 0.05.
const BRANCHED_FROM: f64 = 0.5;

/// Blocks up to the size of a free body's are dense: callers have code of that size.
const DENSE_UP_TO: usize = 6;

/// The factor. Keeps its storage.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockFactor {
    /// L lower triangular, without known zeros.
    Dense(DenseFactor),
    /// L upper triangular, with those of a tree.
    Branched(BranchedCholesky),
}

/// A lower triangular factor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenseFactor {
    l: Matrix,
    /// One over its diagonal: a substitution is a chain, and a product is several times quicker than a quotient.
    reciprocals: Vec<f64>,
}

impl Default for BlockFactor {
    fn default() -> Self {
        Self::Dense(DenseFactor::default())
    }
}

impl BlockFactor {
    /// The factor with this lower triangular L, which has a positive diagonal.
    pub fn from_lower(l: Matrix) -> Self {
        let mut out = DenseFactor { l, reciprocals: vec![] };
        out.invert_diagonal();
        Self::Dense(out)
    }

    /// Becomes the factor of a symmetric matrix, dense up to six rows. `accept` is given the number of each pivot and the pivot, and
    /// returns the pivot to go on with, or `None` to end there.
    ///
    /// # Errors
    /// The pivot that was not accepted; then this factor has no meaning.
    pub fn factor(&mut self, a: &Matrix, accept: impl FnMut(usize, f64) -> Option<f64>) -> Result<(), RejectedPivot> {
        if a.rows() > DENSE_UP_TO && is_branched(a) {
            if let Self::Branched(branched) = self {
                return branched.factor(a, accept);
            }
            let mut branched = BranchedCholesky::default();
            let end = branched.factor(a, accept);
            *self = Self::Branched(branched);
            return end;
        }
        if let Self::Dense(dense) = self {
            return dense.factor(a, accept);
        }
        let mut dense = DenseFactor::default();
        let end = dense.factor(a, accept);
        *self = Self::Dense(dense);
        end
    }

    /// Becomes a copy of another one.
    pub fn copy_from(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Dense(own), Self::Dense(other)) => {
                own.l.copy_from(&other.l);
                own.reciprocals.clone_from(&other.reciprocals);
            }
            (Self::Branched(own), Self::Branched(other)) => own.copy_from(other),
            (own, other) => *own = other.clone(),
        }
    }

    /// L, if it is lower triangular.
    #[inline]
    pub fn lower(&self) -> Option<&Matrix> {
        match self {
            Self::Dense(dense) => Some(&dense.l),
            Self::Branched(_) => None,
        }
    }

    /// Adds the diagonal of L to `out`.
    pub fn push_diagonal(&self, out: &mut Vec<f64>) {
        match self {
            Self::Dense(dense) => out.extend((0..dense.l.cols()).map(|j| dense.l[(j, j)])),
            Self::Branched(branched) => out.extend(branched.diagonal()),
        }
    }

    /// True if L has nothing but its diagonal.
    pub fn is_diagonal(&self) -> bool {
        match self {
            Self::Dense(dense) => (0..dense.l.cols()).all(|j| dense.l.col(j)[j + 1..].iter().all(|x| *x == 0.0)),
            Self::Branched(branched) => branched.is_diagonal(),
        }
    }

    /// `x ← L⁻¹ x`.
    #[inline]
    pub fn solve_factor(&self, x: &mut [f64]) {
        match self {
            Self::Dense(dense) => dense.solve_factor(x),
            Self::Branched(branched) => branched.solve_factor(x),
        }
    }

    /// `x ← L⁻ᵀ x`.
    #[inline]
    pub fn solve_factor_transposed(&self, x: &mut [f64]) {
        match self {
            Self::Dense(dense) => dense.solve_factor_transposed(x),
            Self::Branched(branched) => branched.solve_factor_transposed(x),
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_factor(x);
        self.solve_factor_transposed(x);
    }

    /// `x ← Lᵀ x`.
    pub fn mul_factor_transposed(&self, x: &mut [f64]) {
        match self {
            Self::Dense(dense) => (0..x.len()).for_each(|j| x[j] = dot(&dense.l.col(j)[j..], &x[j..])),
            Self::Branched(branched) => branched.mul_factor_transposed(x),
        }
    }

    /// [`BlockFactor::solve_factor`] for `N` vectors side by side, at the price of little more than one: `x[i]` has entry i of each, and is zero
    /// outside `rows`.
    #[inline(always)]
    pub fn solve_factor_lanes<const N: usize>(&self, rows: std::ops::Range<usize>, x: &mut [[f64; N]]) {
        match self {
            Self::Dense(dense) => dense.solve_factor_lanes(rows.start, x),
            Self::Branched(branched) => branched.solve_factor_lanes(rows.end, x),
        }
    }

    /// [`BlockFactor::solve_factor_transposed`] for `N` vectors side by side.
    #[inline(always)]
    pub fn solve_factor_transposed_lanes<const N: usize>(&self, x: &mut [[f64; N]]) {
        match self {
            Self::Dense(dense) => dense.solve_factor_transposed_lanes(x),
            Self::Branched(branched) => branched.solve_factor_transposed_lanes(x),
        }
    }
}

impl DenseFactor {
    fn factor(&mut self, a: &Matrix, accept: impl FnMut(usize, f64) -> Option<f64>) -> Result<(), RejectedPivot> {
        let n = a.rows();
        self.l.reset(n, n);
        for j in 0..n {
            self.l.col_mut(j)[j..].copy_from_slice(&a.col(j)[j..]);
        }
        cholesky::factor(&mut self.l, accept)?;
        self.invert_diagonal();
        Ok(())
    }

    fn invert_diagonal(&mut self) {
        self.reciprocals.clear();
        self.reciprocals.extend((0..self.l.cols()).map(|j| 1.0 / self.l[(j, j)]));
    }

    fn solve_factor(&self, x: &mut [f64]) {
        for j in 0..x.len() {
            x[j] *= self.reciprocals[j];
            let xj = x[j];
            if xj != 0.0 {
                axpy(-xj, &self.l.col(j)[j + 1..], &mut x[j + 1..]);
            }
        }
    }

    fn solve_factor_transposed(&self, x: &mut [f64]) {
        for j in (0..x.len()).rev() {
            x[j] = (x[j] - dot(&self.l.col(j)[j + 1..], &x[j + 1..])) * self.reciprocals[j];
        }
    }

    #[inline(always)]
    fn solve_factor_lanes<const N: usize>(&self, first: usize, x: &mut [[f64; N]]) {
        let l = &self.l;
        for j in first..x.len() {
            let (done, rest) = x.split_at_mut(j);
            // By rows of L: a loop over the columns' rows would be made into one that gathers.
            let row = &l.as_slice()[first * l.rows() + j..];
            less_products(&mut rest[0], |i| row[i * l.rows()], &done[first..], self.reciprocals[j]);
        }
    }

    #[inline(always)]
    fn solve_factor_transposed_lanes<const N: usize>(&self, x: &mut [[f64; N]]) {
        for j in (0..x.len()).rev() {
            let (head, rest) = x.split_at_mut(j + 1);
            let column = &self.l.col(j)[j + 1..];
            less_products(&mut head[j], |i| column[i], rest, self.reciprocals[j]);
        }
    }
}

/// Whether enough entries above the diagonal are zero.
fn is_branched(a: &Matrix) -> bool {
    let n = a.rows();
    let zeros: usize = (1..n).map(|j| a.col(j)[..j].iter().filter(|x| **x == 0.0).count()).sum();
    zeros as f64 >= BRANCHED_FROM * (n * (n - 1) / 2) as f64
}

/// `to ← (to − Σ lᵢ xᵢ) r` with `lᵢ = entry(i)`, the even and the odd terms apart: a single sum would wait for each of its terms.
#[inline(always)]
fn less_products<const N: usize>(to: &mut [f64; N], entry: impl Fn(usize) -> f64, x: &[[f64; N]], r: f64) {
    let (mut even, mut odd) = (*to, [0.0; N]);
    let (pairs, last) = x.as_chunks::<2>();
    for (i, [x, y]) in pairs.iter().enumerate() {
        let (a, b) = (entry(2 * i), entry(2 * i + 1));
        for k in 0..N {
            even[k] -= a * x[k];
            odd[k] -= b * y[k];
        }
    }
    if let [x] = last {
        let a = entry(2 * pairs.len());
        for k in 0..N {
            even[k] -= a * x[k];
        }
    }
    for k in 0..N {
        to[k] = (even[k] + odd[k]) * r;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_solve_the_same() {
        // Four chains of three on one row: 54 of 78 pairs are zero; and the same without zeros.
        let n = 13;
        let tied = |i: usize, j: usize| i == 0 || j == 0 || (i - 1) / 3 == (j - 1) / 3;
        let tree = Matrix::from_fn(n, n, |i, j| match (i == j, tied(i, j)) {
            (true, _) => 10.0,
            (false, tied) => f64::from(u8::from(tied)),
        });
        let full = Matrix::from_fn(n, n, |i, j| tree[(i, j)] + 0.01);
        for (a, is_branched) in [(&tree, true), (&full, false)] {
            let mut factor = BlockFactor::default();
            factor.factor(a, |_, pivot| Some(pivot)).unwrap();
            assert_eq!(matches!(factor, BlockFactor::Branched(_)), is_branched);
            let mut lower = a.clone();
            cholesky::factor(&mut lower, |_, pivot| Some(pivot)).unwrap();
            let lower = BlockFactor::from_lower(lower);
            let x: Vec<f64> = (0..n).map(|i| (i as f64 - 4.0) / 7.0).collect();
            let mut y = vec![0.0; n];
            a.mul_into(&x, &mut y);
            for factor in [&factor, &lower] {
                let mut one = y.clone();
                factor.solve(&mut one);
                assert!(one.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-13));
                let mut lanes: Vec<[f64; 2]> = y.iter().map(|y| [*y, 2.0 * y]).collect();
                factor.solve_factor_lanes(0..n, &mut lanes);
                factor.solve_factor_transposed_lanes(&mut lanes);
                assert!(lanes.iter().zip(&x).all(|(a, b)| (a[0] - b).abs() < 1e-13 && (a[1] - 2.0 * b).abs() < 1e-13));
                let mut white = x.clone();
                factor.mul_factor_transposed(&mut white);
                factor.solve_factor_transposed(&mut white);
                assert!(white.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
    }
}

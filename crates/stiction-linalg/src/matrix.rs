//! The dense matrix, and the vector kernels that everything is built on.
//!
//! Column-major and contiguous: a column of `M` is what pivoting methods read, and a NumPy array in
//! Fortran order has this very layout. The kernels fix the order of their additions, so that they give the
//! same bits at every optimisation level and vector width.

use std::hint::black_box;
use std::ops::{Index, IndexMut};

use crate::error::InputError;

/// A dense `rows × cols` matrix, column-major.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// The zero matrix.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity of order `n`.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// The matrix whose entry (i, j) is `entry(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for j in 0..cols {
            for i in 0..rows {
                data.push(entry(i, j));
            }
        }
        Self { rows, cols, data }
    }

    /// A matrix from its entries in column-major order.
    ///
    /// # Errors
    /// `InputError::Size` if `data` does not hold `rows · cols` numbers.
    pub fn from_columns(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self, InputError> {
        let expected = rows.checked_mul(cols).ok_or(InputError::TooLarge { rows, cols })?;
        if data.len() != expected {
            return Err(InputError::Size { what: "matrix entries".into(), expected, found: data.len() });
        }
        Ok(Self { rows, cols, data })
    }

    /// A matrix from its rows: `Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]])`.
    ///
    /// # Errors
    /// `InputError::Size` if the rows differ in length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, InputError> {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        for (i, row) in rows.iter().enumerate() {
            let found = row.as_ref().len();
            if found != cols {
                return Err(InputError::Size { what: format!("row {i} of the matrix"), expected: cols, found });
            }
        }
        Ok(Self::from_fn(rows.len(), cols, |i, j| rows[i].as_ref()[j]))
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Column `j` as a slice of length `rows`.
    #[inline]
    pub fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j`, writable.
    #[inline]
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// All entries in column-major order.
    #[inline]
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries in column-major order, writable.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Makes this the zero matrix of another size, keeping its storage where that is large enough.
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Takes another size, keeping its storage where that is large enough. The entries have no meaning until they are written.
    pub fn reshape(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.resize(rows * cols, 0.0);
    }

    /// Becomes a copy of `other`, keeping its storage where that is large enough.
    pub fn copy_from(&mut self, other: &Matrix) {
        self.rows = other.rows;
        self.cols = other.cols;
        self.data.clear();
        self.data.extend_from_slice(&other.data);
    }

    /// The transpose, as a new matrix.
    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// The sub-matrix of the given rows and columns, as a new matrix.
    pub fn select(&self, rows: &[usize], cols: &[usize]) -> Matrix {
        Matrix::from_fn(rows.len(), cols.len(), |i, j| self[(rows[i], cols[j])])
    }

    /// The largest |entry|; 0 for an empty matrix.
    pub fn max_abs(&self) -> f64 {
        max_abs(&self.data)
    }

    /// `y ← A x`.
    pub fn mul_into(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        let (fours, rest) = x.as_chunks::<4>();
        for (k, x) in fours.iter().enumerate().filter(|(_, x)| **x != [0.0; 4]) {
            axpy_four(*x, self.col(4 * k), self.col(4 * k + 1), self.col(4 * k + 2), self.col(4 * k + 3), y);
        }
        for (j, x) in rest.iter().enumerate() {
            axpy(*x, self.col(4 * fours.len() + j), y);
        }
    }

    /// `y ← Aᵀ x`.
    pub fn mul_transposed_into(&self, x: &[f64], y: &mut [f64]) {
        for (j, yj) in y.iter_mut().enumerate() {
            *yj = dot(self.col(j), x);
        }
    }

    /// True if every entry equals its mirror image to the last bit.
    pub fn is_symmetric(&self) -> bool {
        // Without a way out of the inner loop, which is quicker.
        let is_mirrored = |j: usize| {
            let above = self.col(j)[..=j].iter().zip(self.data.chunks_exact(self.rows));
            above.fold(true, |same, (x, other)| same & (*x == other[j]))
        };
        self.rows == self.cols && (0..self.cols).all(is_mirrored)
    }

    /// An error that names the first entry of `what` that is not finite.
    ///
    /// # Errors
    /// `InputError::NotFinite`.
    pub fn check_finite(&self, what: &str) -> Result<(), InputError> {
        for j in 0..self.cols {
            if let Some(i) = self.col(j).iter().position(|x| !x.is_finite()) {
                return Err(InputError::NotFinite { what: format!("{what}[{i}, {j}]"), value: self[(i, j)] });
            }
        }
        Ok(())
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(i < self.rows);
        &self.data[j * self.rows + i]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(i < self.rows);
        &mut self.data[j * self.rows + i]
    }
}

/// `xᵀ y`, summed in eight fixed lanes.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    if n < 8 {
        // The same sum: all eight lanes would be zero.
        return x[..n].iter().zip(&y[..n]).fold(0.0, |sum, (a, b)| sum + a * b);
    }
    let (xc, xr) = x[..n].as_chunks::<8>();
    let (yc, yr) = y[..n].as_chunks::<8>();
    let mut lane = [0.0f64; 8];
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..8 {
            lane[k] += a[k] * b[k];
        }
    }
    // Keeps the compiler from shuffling lanes inside the loop to please the sum that follows.
    let lane = black_box(lane);
    let mut sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    for (a, b) in xr.iter().zip(yr) {
        sum += a * b;
    }
    sum
}

/// `y ← y + a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (yi, xi) in y.iter_mut().zip(x) {
        *yi += a * xi;
    }
}

/// `y ← y + a₀ x₀ + a₁ x₁ + a₂ x₂ + a₃ x₃`, with the bits of one [`axpy`] after the other.
#[inline]
pub fn axpy_four(a: [f64; 4], x0: &[f64], x1: &[f64], x2: &[f64], x3: &[f64], y: &mut [f64]) {
    for ((((y, x0), x1), x2), x3) in y.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3) {
        *y = (((*y + a[0] * x0) + a[1] * x1) + a[2] * x2) + a[3] * x3;
    }
}

/// The largest |entry|; 0 if empty.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    let (chunks, rest) = x.as_chunks::<8>();
    let mut lane = [0.0f64; 8];
    for c in chunks {
        for k in 0..8 {
            let v = c[k].abs();
            lane[k] = if v > lane[k] { v } else { lane[k] };
        }
    }
    lane.iter().copied().chain(rest.iter().map(|v| v.abs())).fold(0.0, f64::max)
}

/// Where a sum of squares is in here, no square of a number that matters has left the range of f64.
pub(crate) const SAFE_SQUARES: std::ops::Range<f64> = 1e-270..1e270;

/// The Euclidean norm, safe from overflow and underflow.
#[inline]
pub fn norm(x: &[f64]) -> f64 {
    let sum = dot(x, x);
    if SAFE_SQUARES.contains(&sum) {
        return sum.sqrt();
    }
    scaled_norm(x)
}

/// The norm of numbers near the ends of the range, or of none.
#[cold]
fn scaled_norm(x: &[f64]) -> f64 {
    let scale = max_abs(x);
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    if (1e-140..1e140).contains(&scale) {
        return dot(x, x).sqrt();
    }
    scale * x.iter().map(|v| (v / scale) * (v / scale)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_right_at_every_length_and_norms_at_the_ends_of_the_range() {
        for n in 0..40 {
            let x: Vec<f64> = (1..=n).map(f64::from).collect();
            let squares = f64::from(n * (n + 1) * (2 * n + 1) / 6);
            assert_eq!(dot(&x, &x), squares);
            assert_eq!(max_abs(&x), f64::from(n));
            let mut y = x.clone();
            axpy(-2.0, &x, &mut y);
            assert!(y.iter().zip(&x).all(|(y, x)| *y == -x));
            let (a, mut one_by_one) = ([0.1, 0.2, 0.3, 0.4], y.clone());
            axpy_four(a, &x, &x, &x, &x, &mut y);
            a.iter().for_each(|a| axpy(*a, &x, &mut one_by_one));
            assert_eq!(y, one_by_one);
        }
        assert!((norm(&[3e200, 4e200]) - 5e200).abs() < 1e186);
        assert!((norm(&[3e-200, -4e-200]) - 5e-200).abs() < 1e-214);
        assert_eq!((norm(&[]), norm(&[0.0]), norm(&[f64::INFINITY])), (0.0, 0.0, f64::INFINITY));
    }

    #[test]
    fn sizes_that_do_not_fit_are_errors() {
        assert!(Matrix::from_columns(2, 2, vec![0.0; 3]).is_err());
        assert!(Matrix::from_columns(usize::MAX, 2, vec![]).is_err());
        assert!(Matrix::from_rows(&[vec![1.0], vec![1.0, 2.0]]).is_err());
        let a = Matrix::from_rows(&[[1.0, 2.0], [3.0, f64::NAN]]).unwrap();
        assert!(a.check_finite("A").unwrap_err().to_string().contains("A[1, 1]"));
        assert_eq!((a[(1, 0)], a.transposed()[(0, 1)], a.select(&[0], &[1])[(0, 0)]), (3.0, 3.0, 2.0));
    }
}

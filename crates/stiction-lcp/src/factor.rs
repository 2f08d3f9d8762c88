//! The updated thin QR factor of the active columns: `G_α = Q R`, one column in or out at a time.
//!
//! `Q` (m × k) has orthonormal columns and is kept explicitly, `R` (k × k) is upper triangular, and k ≤ m always, because a
//! column that depends on the others is never taken. A column enters by Gram–Schmidt with reorthogonalization, O(m k), and
//! leaves by a sweep of Givens rotations, O(m k). The pivot of a Cholesky factor of `G_αᵀ G_α` would be the *square* of the
//! residual tested here: it cannot tell a residual of 1e-9 from rounding, this can.
//!
//! Reference: [LawsonHanson74, ch. 24], \[Daniel76\] (J. W. Daniel, W. B. Gragg, L. Kaufman, G. W. Stewart: reorthogonalization
//! and stable algorithms for updating the Gram–Schmidt QR factorization).

use crate::matrix::{Matrix, axpy, dot, norm};

/// A column whose residual after reorthogonalization is at most this part of its own length counts as dependent.
///
/// Exactly dependent columns leave 1e-15 or so, times the coefficients they depend with; columns that are told apart by
/// less than this would be given weights that lose all their digits.
pub const DEPENDENT: f64 = 1e-12;

/// Gram–Schmidt passes at most. Two are enough for an independent column.
const PASSES: usize = 3;

/// A pass that leaves at least this part of the vector has removed only rounding: it was the last one needed.
const ORTHOGONAL: f64 = 0.5;

/// `G_α = Q R` with columns added and removed one by one. Allocates only in [`ActiveQr::reset`].
#[derive(Debug, Clone, Default)]
pub struct ActiveQr {
    /// Length of a column.
    m: usize,
    /// Most columns: min(m, n).
    most: usize,
    /// The columns of Q, m × most; the first k are in use.
    q: Matrix,
    /// R, most × most; the leading k × k triangle is in use.
    r: Matrix,
    /// The label of each column of R, k.
    columns: Vec<usize>,
    /// Workspace: the vector being orthogonalized, m, and its coefficients, most.
    v: Vec<f64>,
    h: Vec<f64>,
    /// Residual ratio at and below which a column is dependent.
    dependent: f64,
    /// Updates since the factor was last empty.
    updates: usize,
}

impl ActiveQr {
    /// Empties the factor and makes room for columns of length `m`, at most `n` of them. `dependent` is the
    /// threshold on a column's relative residual, usually [`DEPENDENT`].
    pub fn reset(&mut self, m: usize, n: usize, dependent: f64) {
        self.m = m;
        self.most = m.min(n);
        self.q.reset(m, self.most);
        self.r.reset(self.most, self.most);
        self.columns.reserve(self.most);
        self.v.resize(m, 0.0);
        self.h.resize(self.most, 0.0);
        self.dependent = dependent;
        self.clear();
    }

    /// Removes all columns.
    pub fn clear(&mut self) {
        self.columns.clear();
        self.updates = 0;
    }

    /// Number of columns, k.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True if there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The labels of the columns in the order of R.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Columns removed since the factor was last empty; 0 means that it is as fresh as a new one.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Appends the column `g` (m) under `label`, or returns false and changes nothing if it depends on the others.
    pub fn append(&mut self, g: &[f64], label: usize) -> bool {
        let k = self.len();
        let size = norm(g);
        if k == self.most || size == 0.0 {
            return false;
        }
        let rest = self.orthogonalize(g);
        if rest.is_nan() || rest <= self.dependent * size {
            return false;
        }
        let column = self.r.col_mut(k);
        column[..k].copy_from_slice(&self.h[..k]);
        column[k] = rest;
        for (q, v) in self.q.col_mut(k).iter_mut().zip(&self.v) {
            *q = v / rest;
        }
        self.columns.push(label);
        true
    }

    /// `v ← (I − Q Qᵀ) g`, `h ← Qᵀ g`; returns ‖v‖.
    fn orthogonalize(&mut self, g: &[f64]) -> f64 {
        let k = self.len();
        self.v.copy_from_slice(g);
        self.h[..k].fill(0.0);
        let mut before = norm(g);
        let dependent = self.dependent * before;
        for _ in 0..PASSES {
            for j in 0..k {
                let c = dot(self.q.col(j), &self.v);
                self.h[j] += c;
                axpy(-c, self.q.col(j), &mut self.v);
            }
            let after = norm(&self.v);
            // Further passes only take more away, so what is dependent stays so.
            if after >= ORTHOGONAL * before || after <= dependent {
                return after;
            }
            before = after;
        }
        before
    }

    /// Removes the column at `position` in the order of R.
    pub fn remove(&mut self, position: usize) {
        let k = self.len();
        self.columns.remove(position);
        self.updates += 1;
        for j in position..k - 1 {
            let (left, right) = self.r.as_mut_slice().split_at_mut((j + 1) * self.most);
            let source = &right[..=j + 1];
            left[j * self.most..j * self.most + j + 2].copy_from_slice(source);
        }
        for j in position..k - 1 {
            self.rotate(j, k - 1);
        }
    }

    /// Rotates rows j and j+1 of R (columns j.. of it) so that R[j+1, j] vanishes, and the columns of Q with them.
    fn rotate(&mut self, j: usize, k: usize) {
        let (a, b) = (self.r[(j, j)], self.r[(j + 1, j)]);
        if b == 0.0 {
            return;
        }
        let length = norm(&[a, b]);
        let (c, s) = (a / length, b / length);
        for column in j..k {
            let (x, y) = (self.r[(j, column)], self.r[(j + 1, column)]);
            self.r[(j, column)] = c * x + s * y;
            self.r[(j + 1, column)] = c * y - s * x;
        }
        let (left, right) = self.q.as_mut_slice().split_at_mut((j + 1) * self.m);
        for (x, y) in left[j * self.m..].iter_mut().zip(&mut right[..self.m]) {
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
    }

    /// The newest column of Q (m); empty if there is none.
    pub fn last_q(&self) -> &[f64] {
        self.len().checked_sub(1).map_or(&[], |k| self.q.col(k))
    }

    /// `out ← Qᵀ b`, k numbers from m.
    pub fn mul_qt_into(&self, b: &[f64], out: &mut [f64]) {
        for (j, x) in out.iter_mut().enumerate().take(self.len()) {
            *x = dot(self.q.col(j), b);
        }
    }

    /// `b ← b + Q c`, m numbers from k.
    pub fn add_q(&self, c: &[f64], b: &mut [f64]) {
        for (j, x) in c.iter().enumerate().take(self.len()) {
            axpy(*x, self.q.col(j), b);
        }
    }

    /// `b ← (I − Q Qᵀ) b`: what of b (m) the columns cannot reach. Done twice, so that the rest is orthogonal to rounding.
    pub fn project_out(&self, b: &mut [f64]) {
        for _ in 0..2 {
            for j in 0..self.len() {
                let c = dot(self.q.col(j), b);
                axpy(-c, self.q.col(j), b);
            }
        }
    }

    /// `x ← R⁻¹ x`, k numbers.
    pub fn solve_r(&self, x: &mut [f64]) {
        for j in (0..self.len()).rev() {
            let column = self.r.col(j);
            x[j] /= column[j];
            let xj = x[j];
            axpy(-xj, &column[..j], &mut x[..j]);
        }
    }

    /// `x ← R⁻ᵀ x`, k numbers.
    pub fn solve_rt(&self, x: &mut [f64]) {
        for j in 0..self.len() {
            let column = self.r.col(j);
            x[j] = (x[j] - dot(&column[..j], &x[..j])) / column[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;
    use crate::matrix::max_abs;

    fn random(rng: &mut Rng, m: usize, n: usize) -> Matrix {
        Matrix::from_fn(m, n, |_, _| rng.normal())
    }

    /// ‖G_α − Q R‖ and ‖QᵀQ − I‖, the largest entries.
    fn errors(qr: &ActiveQr, g: &Matrix) -> (f64, f64) {
        let k = qr.len();
        let (mut product, mut orthogonality) = (0.0f64, 0.0f64);
        for (a, &label) in qr.columns().iter().enumerate() {
            let mut x = vec![0.0; g.rows()];
            qr.add_q(&qr.r.col(a)[..=a], &mut x);
            product = x.iter().zip(g.col(label)).fold(product, |m, (x, g)| m.max((x - g).abs()));
            let mut c = vec![0.0; k];
            qr.mul_qt_into(qr.q.col(a), &mut c);
            c[a] -= 1.0;
            orthogonality = orthogonality.max(max_abs(&c));
        }
        (product, orthogonality)
    }

    #[test]
    fn stays_a_factor_over_thousands_of_updates() {
        let mut rng = Rng::new(3);
        let g = random(&mut rng, 12, 40);
        let mut qr = ActiveQr::default();
        qr.reset(12, 40, DEPENDENT);
        for _ in 0..5000 {
            let j = rng.below(40);
            match qr.columns().iter().position(|c| *c == j) {
                Some(at) => qr.remove(at),
                None if qr.len() == 12 => assert!(!qr.append(g.col(j), j), "13 columns in 12 dimensions"),
                None => assert!(qr.append(g.col(j), j)),
            }
        }
        let (product, orthogonality) = errors(&qr, &g);
        assert!(product < 1e-13 && orthogonality < 1e-14, "{product:e} {orthogonality:e}");
    }

    #[test]
    fn dependence_does_not_depend_on_units() {
        let mut rng = Rng::new(7);
        for scale in [1e-150, 1e-8, 1.0, 1e8, 1e150] {
            let g = random(&mut rng, 8, 3);
            let mut qr = ActiveQr::default();
            qr.reset(8, 5, DEPENDENT);
            for j in 0..3 {
                assert!(qr.append(g.col(j), j));
            }
            let mixed: Vec<f64> = (0..8).map(|i| scale * (g[(i, 0)] - 3.0 * g[(i, 1)] + 0.7 * g[(i, 2)])).collect();
            assert!(!qr.append(&mixed, 3), "dependent at scale {scale:e}");
            let mut off = mixed.clone();
            off[2] += 1e-9 * norm(&mixed);
            assert!(qr.append(&off, 3), "independent at scale {scale:e}");
        }
    }

    #[test]
    fn solves_least_squares() {
        let mut rng = Rng::new(11);
        let g = random(&mut rng, 9, 6);
        let mut qr = ActiveQr::default();
        qr.reset(9, 6, DEPENDENT);
        for j in [4, 0, 5, 2] {
            assert!(qr.append(g.col(j), j));
        }
        qr.remove(1);
        let b: Vec<f64> = (0..9).map(|_| rng.normal()).collect();
        let mut x = vec![0.0; 3];
        qr.mul_qt_into(&b, &mut x);
        qr.solve_r(&mut x);
        let mut rest = b.clone();
        qr.columns().iter().zip(&x).for_each(|(&j, x)| axpy(-x, g.col(j), &mut rest));
        for &j in qr.columns() {
            assert!(dot(g.col(j), &rest).abs() < 1e-13);
        }
        let mut projected = b;
        qr.project_out(&mut projected);
        assert!(projected.iter().zip(&rest).all(|(a, b)| (a - b).abs() < 1e-13));
        // RᵀR x = G_αᵀ b by the other route.
        let mut y: Vec<f64> = qr.columns().iter().map(|&j| dot(g.col(j), &projected) + 1.0).collect();
        qr.solve_rt(&mut y);
        qr.solve_r(&mut y);
        let mut back = vec![0.0; 9];
        qr.columns().iter().zip(&y).for_each(|(&j, y)| axpy(*y, g.col(j), &mut back));
        for &j in qr.columns() {
            assert!((dot(g.col(j), &back) - 1.0).abs() < 1e-12);
        }
    }
}

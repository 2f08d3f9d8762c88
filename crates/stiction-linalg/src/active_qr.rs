//! The updated thin QR factor of the active columns: `G_α = Q R`, one column in or out at a time.
//!
//! `Q` (m × k) has orthonormal columns and is kept explicitly, `R` (k × k) is upper triangular, and k ≤ m always, because a
//! column that depends on the others is never taken. A column enters by Gram–Schmidt with reorthogonalization, O(m k), and
//! leaves by a sweep of Givens rotations, O(m k). The pivot of a Cholesky factor of `G_αᵀ G_α` would be the *square* of the
//! residual tested here: it cannot tell a residual of 1e-9 from rounding, this can.
//!
//! Reference: [LawsonHanson74, ch. 24], \[Daniel76\] (J. W. Daniel, W. B. Gragg, L. Kaufman, G. W. Stewart: reorthogonalization
//! and stable algorithms for updating the Gram–Schmidt QR factorization).

use crate::matrix::{SAFE_SQUARES, axpy, dot, norm};

/// A column whose residual after reorthogonalization is at most this fraction of its own length counts as dependent.
///
/// Exactly dependent columns leave 1e-15 or so, times the coefficients they depend with; columns that are told apart by
/// less than this would be given weights that lose all their digits.
pub const DEPENDENT: f64 = 1e-12;

/// Gram–Schmidt passes at most. Two are enough for an independent column.
const PASSES: usize = 3;

/// A pass that leaves at least this fraction of the vector has removed only rounding: it was the last one needed.
const ORTHOGONAL: f64 = 0.5;

/// Numbers that are worked on side by side; sums have this many fixed lanes, so that every vector width gives the same bits.
const LANES: usize = 8;

/// Sums that run beside each other in a product with Qᵀ.
const SUMS: usize = 4;

type Lane = [f64; LANES];

/// `G_α = Q R` with columns added and removed one by one. Allocates only in [`ActiveQr::reset`], where it has to grow.
///
/// Q is kept twice: by columns for `Q h`, and in panels of eight columns, row by row, for `Qᵀ b`. So neither product sums across a vector.
#[derive(Debug, Clone, Default)]
pub struct ActiveQr {
    /// Length of a column.
    m: usize,
    /// Most columns: min(m, n).
    most: usize,
    /// Lanes per column of Q.
    rows: usize,
    /// The columns of Q, `rows` lanes each, filled up with zeros; the first k are in use.
    q: Vec<Lane>,
    /// Q in panels of eight columns, m lanes each. What is beyond column k has no meaning.
    panels: Vec<Lane>,
    /// R, `most` numbers per column; the leading k × k triangle is in use.
    r: Vec<f64>,
    /// 1/Rⱼⱼ, k.
    inverse: Vec<f64>,
    /// The label of each column of R, k.
    columns: Vec<usize>,
    /// Workspace: the vector being orthogonalized, as a column of Q, and its coefficients, of all passes (most) and of one.
    v: Vec<Lane>,
    h: Vec<f64>,
    c: Vec<Lane>,
    /// Residual ratio at and below which a column is dependent.
    dependent: f64,
    /// Updates since the factor was last empty.
    updates: usize,
    /// What was left of the column taken last, as a part of its length.
    part: f64,
}

impl ActiveQr {
    /// Empties the factor and makes room for columns of length `m`, at most `n` of them. `dependent` is the
    /// threshold on a column's relative residual, usually [`DEPENDENT`].
    pub fn reset(&mut self, m: usize, n: usize, dependent: f64) {
        self.m = m;
        self.most = m.min(n);
        self.rows = m.div_ceil(LANES);
        grow(&mut self.q, self.most * self.rows, [0.0; LANES]);
        grow(&mut self.panels, self.most.div_ceil(LANES) * m, [0.0; LANES]);
        grow(&mut self.r, self.most * self.most, 0.0);
        self.columns.clear();
        self.columns.reserve(self.most);
        self.v.resize(self.rows, [0.0; LANES]);
        self.h.resize(self.most, 0.0);
        self.c.resize(self.most.div_ceil(LANES), [0.0; LANES]);
        grow(&mut self.inverse, self.most, 0.0);
        self.dependent = dependent;
        self.updates = 0;
        self.part = 1.0;
    }

    /// Becomes a copy of `other` with room for `n` columns, keeping its storage.
    pub fn copy_from(&mut self, other: &Self, n: usize) {
        self.reset(other.m, n.max(other.len()), other.dependent);
        let k = other.len();
        self.q[..k * self.rows].copy_from_slice(&other.q[..k * other.rows]);
        let panels = k.div_ceil(LANES) * self.m;
        self.panels[..panels].copy_from_slice(&other.panels[..panels]);
        for j in 0..k {
            self.r[j * self.most..][..=j].copy_from_slice(&other.r[j * other.most..][..=j]);
        }
        self.inverse[..k].copy_from_slice(&other.inverse[..k]);
        self.columns.extend_from_slice(&other.columns);
        self.updates = other.updates;
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
        crate::interrupt::check();
        let k = self.len();
        if k == self.most {
            return false;
        }
        let (filled, padding) = self.v.as_flattened_mut().split_at_mut(self.m);
        filled.copy_from_slice(g);
        padding.fill(0.0);
        let size = length(&self.v);
        if size == 0.0 {
            return false;
        }
        let rest = self.orthogonalize(size);
        if rest.is_nan() || rest <= self.dependent * size {
            return false;
        }
        let column = &mut self.r[k * self.most..];
        column[..k].copy_from_slice(&self.h[..k]);
        column[k] = rest;
        self.inverse[k] = 1.0 / rest;
        self.part = rest / size;
        self.set_q(k, rest);
        self.columns.push(label);
        true
    }

    /// Makes `v / length` column `k` of Q, in both its forms.
    fn set_q(&mut self, k: usize, length: f64) {
        for (q, v) in self.q[k * self.rows..(k + 1) * self.rows].iter_mut().zip(&self.v) {
            *q = v.map(|v| v / length);
        }
        self.copy_to_panel(k);
    }

    /// Copies column `k` of Q to its panel.
    fn copy_to_panel(&mut self, k: usize) {
        let q = self.q[k * self.rows..(k + 1) * self.rows].as_flattened();
        let panel = &mut self.panels[k / LANES * self.m..][..self.m];
        panel.iter_mut().zip(q).for_each(|(row, q)| row[k % LANES] = *q);
    }

    /// `v ← (I − Q Qᵀ) v`, `h ← Qᵀ v`, for v of length `size`; returns the length of what is left.
    fn orthogonalize(&mut self, size: f64) -> f64 {
        let k = self.len();
        self.h[..k].fill(0.0);
        let mut before = size;
        for _ in 0..PASSES {
            for panel in 0..k.div_ceil(LANES) {
                self.c[panel] = self.coefficients(panel, self.v.as_flattened());
            }
            let c = &self.c.as_flattened()[..k];
            self.h.iter_mut().zip(c).for_each(|(h, c)| *h += c);
            for (at, v) in self.v.iter_mut().enumerate() {
                let mut sum = *v;
                for (j, c) in c.iter().enumerate() {
                    let q = &self.q[j * self.rows + at];
                    for i in 0..LANES {
                        sum[i] -= c * q[i];
                    }
                }
                *v = sum;
            }
            let after = length(&self.v);
            // Further passes only take more away, so what is dependent stays so.
            let last = after >= ORTHOGONAL * before || after <= self.dependent * size;
            before = after;
            if last {
                break;
            }
        }
        before
    }

    /// `b ← (I − Q_c Q_cᵀ) b` with the columns Q_c of one panel; returns their coefficients.
    #[inline]
    fn project_panel(&self, panel: usize, b: &mut [f64]) -> Lane {
        let c = self.coefficients(panel, b);
        self.add_panel(panel, &c.map(|c| -c), b);
        c
    }

    /// `Q_cᵀ b` with the columns Q_c of one panel; beyond the last column it has no meaning.
    #[inline]
    fn coefficients(&self, panel: usize, b: &[f64]) -> Lane {
        let rows = &self.panels[panel * self.m..(panel + 1) * self.m];
        let mut sums = [[0.0; LANES]; SUMS];
        let ((rows, last_rows), (b, last_b)) = (rows.as_chunks::<SUMS>(), b[..self.m].as_chunks::<SUMS>());
        for (rows, b) in rows.iter().zip(b) {
            for a in 0..SUMS {
                for i in 0..LANES {
                    sums[a][i] += rows[a][i] * b[a];
                }
            }
        }
        for (row, b) in last_rows.iter().zip(last_b) {
            for i in 0..LANES {
                sums[0][i] += row[i] * b;
            }
        }
        std::array::from_fn(|i| (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]))
    }

    /// `b ← b + Q_c c` with the columns Q_c of one panel.
    #[inline]
    fn add_panel(&self, panel: usize, c: &[f64], b: &mut [f64]) {
        let columns = self.columns_of(panel);
        let (lanes, rest) = b[..self.m].as_chunks_mut::<LANES>();
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = self.sum_columns(columns, at, c, *lane);
        }
        if !rest.is_empty() {
            let mut lane = [0.0; LANES];
            lane[..rest.len()].copy_from_slice(rest);
            let sum = self.sum_columns(columns, self.rows - 1, c, lane);
            rest.copy_from_slice(&sum[..rest.len()]);
        }
    }

    /// The columns of Q in one panel.
    #[inline]
    fn columns_of(&self, panel: usize) -> &[Lane] {
        let (first, end) = (panel * LANES, self.len().min((panel + 1) * LANES));
        &self.q[first * self.rows..end * self.rows]
    }

    /// `start + Σ cⱼ qⱼ` of lane `at` of some columns.
    #[inline]
    fn sum_columns(&self, columns: &[Lane], at: usize, c: &[f64], start: Lane) -> Lane {
        let mut sum = start;
        for (q, c) in columns[at..].iter().step_by(self.rows).zip(c) {
            for i in 0..LANES {
                sum[i] += c * q[i];
            }
        }
        sum
    }

    /// Removes the column at `position` in the order of R.
    pub fn remove(&mut self, position: usize) {
        crate::interrupt::check();
        let k = self.len();
        self.columns.remove(position);
        self.updates += 1;
        for j in position..k - 1 {
            let (left, right) = self.r.split_at_mut((j + 1) * self.most);
            left[j * self.most..j * self.most + j + 2].copy_from_slice(&right[..=j + 1]);
        }
        for j in position..k - 1 {
            self.rotate(j, k - 1);
        }
    }

    /// Rotates rows j and j+1 of R (columns j.. of it) so that R[j+1, j] vanishes, and the columns of Q with them.
    fn rotate(&mut self, j: usize, k: usize) {
        let (a, b) = (self.r[j * self.most + j], self.r[j * self.most + j + 1]);
        if b == 0.0 {
            return;
        }
        let length = norm(&[a, b]);
        let (c, s) = (a / length, b / length);
        for column in j..k {
            let [x, y] = &mut self.r[column * self.most + j..][..2] else { return };
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
        let (left, right) = self.q.split_at_mut((j + 1) * self.rows);
        let (left, right) = (left[j * self.rows..].as_flattened_mut(), right[..self.rows].as_flattened_mut());
        for (x, y) in left.iter_mut().zip(right) {
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
        self.inverse[j] = 1.0 / self.r[j * self.most + j];
        self.copy_to_panel(j);
        self.copy_to_panel(j + 1);
    }

    /// The newest column of Q (m); empty if there is none.
    pub fn last_q(&self) -> &[f64] {
        self.len().checked_sub(1).map_or(&[], |k| &self.q[k * self.rows..(k + 1) * self.rows].as_flattened()[..self.m])
    }

    /// What the others leave of the newest column, as a part of its length; 1 if there is none.
    pub fn last_part(&self) -> f64 {
        self.part
    }

    /// `out ← Qᵀ b`, k numbers from m.
    pub fn mul_qt_into(&self, b: &[f64], out: &mut [f64]) {
        let k = self.len();
        for (panel, out) in out[..k].chunks_mut(LANES).enumerate() {
            out.iter_mut().zip(self.coefficients(panel, b)).for_each(|(out, c)| *out = c);
        }
    }

    /// `b ← b + Q c`, m numbers from k.
    pub fn add_q(&self, c: &[f64], b: &mut [f64]) {
        for (panel, c) in c[..self.len()].chunks(LANES).enumerate() {
            self.add_panel(panel, c, b);
        }
    }

    /// `b ← (I − Q Qᵀ) b`: what of b (m) the columns cannot reach. Done again where much is taken away, so that the rest is orthogonal to rounding.
    /// Returns its length.
    pub fn project_out(&self, b: &mut [f64]) -> f64 {
        let before = norm(b);
        self.project_once(b);
        let after = norm(b);
        if after >= ORTHOGONAL * before {
            return after;
        }
        self.project_once(b);
        norm(b)
    }

    fn project_once(&self, b: &mut [f64]) {
        for panel in 0..self.len().div_ceil(LANES) {
            self.project_panel(panel, b);
        }
    }

    /// `x ← R⁻¹ x`, k numbers.
    pub fn solve_r(&self, x: &mut [f64]) {
        for j in (0..self.len()).rev() {
            x[j] *= self.inverse[j];
            let xj = x[j];
            axpy(-xj, &self.r[j * self.most..][..j], &mut x[..j]);
        }
    }

    /// `x ← R⁻ᵀ x`, k numbers.
    pub fn solve_rt(&self, x: &mut [f64]) {
        for j in 0..self.len() {
            let column = &self.r[j * self.most..][..j];
            x[j] = (x[j] - dot(column, &x[..j])) * self.inverse[j];
        }
    }
}

/// The length of a vector in lanes.
#[inline]
fn length(v: &[Lane]) -> f64 {
    let mut sums = [0.0; LANES];
    for v in v {
        for i in 0..LANES {
            sums[i] += v[i] * v[i];
        }
    }
    for width in [4, 2, 1] {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
    }
    if SAFE_SQUARES.contains(&sums[0]) { sums[0].sqrt() } else { norm(v.as_flattened()) }
}

/// Makes room for `len` entries; what is there stays, without a meaning.
fn grow<V: Clone>(vector: &mut Vec<V>, len: usize, value: V) {
    if vector.len() < len {
        vector.resize(len, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Matrix, max_abs};
    use crate::rng::Rng;

    fn random(rng: &mut Rng, m: usize, n: usize) -> Matrix {
        Matrix::from_fn(m, n, |_, _| rng.normal())
    }

    /// ‖G_α − Q R‖ and ‖QᵀQ − I‖, the largest entries.
    fn errors(qr: &ActiveQr, g: &Matrix) -> (f64, f64) {
        let k = qr.len();
        let (mut product, mut orthogonality) = (0.0f64, 0.0f64);
        for (a, &label) in qr.columns().iter().enumerate() {
            let mut x = vec![0.0; g.rows()];
            let mut column = qr.r[a * qr.most..][..=a].to_vec();
            column.resize(k, 0.0);
            qr.add_q(&column, &mut x);
            product = x.iter().zip(g.col(label)).fold(product, |m, (x, g)| m.max((x - g).abs()));
            let mut c = vec![0.0; k];
            qr.mul_qt_into(&qr.q[a * qr.rows..(a + 1) * qr.rows].as_flattened()[..qr.m], &mut c);
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

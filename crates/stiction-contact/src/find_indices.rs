//! FIND-INDICES: which of the rows that must hold are independent, and the motion that satisfies them.
//!
//! The paper adds rows one at a time and asks the Cholesky factor of `X M⁻¹ Xᵀ` whether the new pivot is positive; that pivot is the *square* of
//! what the new row adds. Here the whitened rows are orthogonalized instead (Gram–Schmidt with reorthogonalization, O(m k) per row), and a row counts
//! as dependent if what remains of it is at most 1e-11 of its own length: no units, and dependent rows leave 1e-15. The search ends at rank m.
//!
//! Reference: [Drumwright15, Algorithm 2].

use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_lcp::{Matrix, tolerances};
use stiction_linalg::active_qr::ActiveQr;
use stiction_linalg::cholesky;
use stiction_linalg::doubled::dot2;

tolerances! {
    /// Tolerances of the search, whatever the units of the rows.
    Tolerances {
        /// A row of which no more than this remains beside the rows before it, relative to its length, is dependent on them. To leave out what
        /// remains costs the certificate that much of a relative error, a tenth of its tolerance; to follow it costs forces as many times
        /// larger, and their rounding.
        dependent = DEPENDENT,
        /// Rows whose residual beside what the others imply is at most this, relative to its terms, agree with them: the rest is rounding. More
        /// lets contradictions pass that the certificate then sees, less calls rounding a contradiction.
        consistent = 1e-11,
        /// The terms of a row count as at least this, relative to `‖g‖ ‖x‖`: x is known to 1e-15 of its length, and a row that sees nothing but
        /// that rounding contradicts nothing.
        floor = 1e-4,
        /// A row of which less than this is left, relative to its length, is asked whether that is the rounding of its combination of the others.
        /// More only asks more often.
        suspect = 1e-6,
    }
}

/// The independent rows among `X x + bias = 0`, with an orthonormal basis of what they span. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub struct FindIndices {
    qr: ActiveQr,
    /// Rows offered, in the order of their numbers: columns (m each) and biases.
    m: usize,
    rows: Vec<f64>,
    bias: Vec<f64>,
    /// The motion in span(X) that satisfies the rows, m.
    x_rows: Vec<f64>,
    /// Largest relative disagreement among dependent rows before their targets were made consistent.
    inconsistency: f64,
    work: Vec<f64>,
    rest: Vec<f64>,
    inside: Vec<f64>,
    gram: Matrix,
    tolerances: Tolerances,
}

/// The usual [`Tolerances::dependent`].
pub const DEPENDENT: f64 = 1e-11;

impl FindIndices {
    /// Starts anew on velocities of dimension `m`, for at most `rows` rows.
    pub fn reset(&mut self, m: usize, rows: usize) {
        self.reset_with(m, rows, Tolerances::default());
    }

    /// The same, with other tolerances.
    pub(crate) fn reset_with(&mut self, m: usize, rows: usize, tolerances: Tolerances) {
        self.m = m;
        self.tolerances = tolerances;
        self.qr.reset(m, rows, tolerances.dependent);
        self.rows.clear();
        self.rows.reserve(m * rows);
        self.bias.clear();
        self.bias.reserve(rows);
        self.x_rows.clear();
        self.x_rows.resize(m, 0.0);
        self.inconsistency = 0.0;
    }

    /// Offers the next row: its whitened column (m) and the bias of `gᵀ x + bias = 0`. True if it is independent of those before and kept.
    pub fn add(&mut self, g: &[f64], bias: f64) -> bool {
        stiction_lcp::interrupt::check();
        let number = self.bias.len();
        self.rows.extend_from_slice(g);
        self.bias.push(bias);
        if self.rank() == self.m || !self.qr.append(g, number) {
            return false;
        }
        // What is left of the row is plain nearly always; else it may be the rounding of its combination of those before.
        if self.qr.last_part() > self.tolerances.suspect {
            return true;
        }
        let combined = self.is_combined(g);
        if combined {
            self.qr.remove(self.rank() - 1);
        }
        !combined
    }

    /// True if the row kept last is a combination of those before to the rounding of that combination.
    fn is_combined(&mut self, g: &[f64]) -> bool {
        let mut rest = std::mem::take(&mut self.rest);
        rest.clear();
        rest.extend_from_slice(self.qr.last_q());
        let length = dot(&rest, g);
        rest.iter_mut().for_each(|x| *x *= length);
        let combined = self.is_rounding(g, norm(g), &rest, norm(&rest));
        self.rest = rest;
        combined
    }

    /// True if `rest`, which the rows kept leave of `g` (m each; of these lengths), is the rounding of their combination that makes up for the others:
    /// where these are nearly dependent themselves the terms of that are larger than g, and so is the rest that rounding leaves.
    pub(crate) fn is_rounding(&mut self, g: &[f64], size: f64, rest: &[f64], left: f64) -> bool {
        let Tolerances { dependent, suspect, .. } = self.tolerances;
        if left <= dependent * size || left > suspect * size {
            return left <= dependent * size;
        }
        let (mut inside, mut terms) = (std::mem::take(&mut self.inside), std::mem::take(&mut self.work));
        inside.clear();
        inside.extend(g.iter().zip(rest).map(|(g, rest)| g - rest));
        self.impulses(&inside, &mut terms);
        let length = |i: usize| norm(&self.rows[i * self.m..(i + 1) * self.m]);
        let combined = self.qr.columns().iter().zip(&terms).map(|(&i, c)| c.abs() * length(i)).sum::<f64>();
        (self.inside, self.work) = (inside, terms);
        left <= dependent * combined
    }

    /// What remains of a dependent row, relative to its length, at most.
    pub(crate) fn dependent(&self) -> f64 {
        self.tolerances.dependent
    }

    /// Number of rows kept.
    pub fn rank(&self) -> usize {
        self.qr.len()
    }

    /// The numbers of the rows kept, in the order they were offered.
    pub fn kept(&self) -> &[usize] {
        self.qr.columns()
    }

    /// `x ← (I − Q Qᵀ) x`: the part of x (m) that the rows leave free. Returns its length.
    pub fn project_out(&self, x: &mut [f64]) -> f64 {
        self.qr.project_out(x)
    }

    /// The factor of the rows kept.
    pub fn factor(&self) -> &ActiveQr {
        &self.qr
    }

    /// Finds the motion in the span of the rows that satisfies them. Where dependent rows contradict each other their targets are first made
    /// consistent, in the least-squares sense over rows of unit length. Call it once all rows are in.
    pub fn satisfy(&mut self) {
        self.satisfy_kept();
        self.inconsistency = self.largest_residual().map_or(0.0, |(_, residual)| residual);
        if self.is_inconsistent() {
            self.satisfy_least_squares();
        }
    }

    /// [`FindIndices::satisfy`], after which the rows offered so far have the targets that were found: rows that follow meet consistent ones.
    pub(crate) fn reconcile(&mut self) {
        self.satisfy();
        if self.is_inconsistent() {
            for i in 0..self.bias.len() {
                self.bias[i] = -dot(&self.rows[i * self.m..(i + 1) * self.m], &self.x_rows);
            }
        }
    }

    /// Finds the motion in the span of the rows that satisfies those kept, refined once in twice the working precision. The others may
    /// contradict them: see [`FindIndices::contradiction`].
    pub(crate) fn satisfy_kept(&mut self) {
        let k = self.rank();
        self.x_rows.fill(0.0);
        if self.bias.iter().all(|b| *b == 0.0) {
            return;
        }
        for _ in 0..2 {
            self.work.clear();
            for &i in self.qr.columns() {
                let g = &self.rows[i * self.m..(i + 1) * self.m];
                self.work.push(-dot2(self.bias[i], g, &self.x_rows));
            }
            self.qr.solve_rt(&mut self.work);
            self.qr.add_q(&self.work[..k], &mut self.x_rows);
        }
    }

    /// The row with the largest residual, relative to its terms, if that is more than rounding.
    pub fn contradiction(&self) -> Option<usize> {
        self.largest_residual().filter(|(_, residual)| *residual > self.tolerances.consistent).map(|(i, _)| i)
    }

    /// The row whose |gᵀ x + bias| is largest beside the size of its terms, and that measure. None if every target is zero.
    fn largest_residual(&self) -> Option<(usize, f64)> {
        if self.bias.len() == self.rank() || self.bias.iter().all(|b| *b == 0.0) {
            return None;
        }
        let speed = norm(&self.x_rows);
        let mut worst: Option<(usize, f64)> = None;
        for (i, (g, b)) in self.columns().zip(&self.bias).enumerate() {
            let terms: f64 = g.iter().zip(&self.x_rows).map(|(g, x)| (g * x).abs()).sum();
            let (motion, size) = (dot(g, &self.x_rows) + b, terms + b.abs() + self.tolerances.floor * norm(g) * speed);
            let residual = if size > 0.0 { motion.abs() / size } else { 0.0 };
            if worst.is_none_or(|(_, w)| residual > w) {
                worst = Some((i, residual));
            }
        }
        worst
    }

    /// The bias of row `i`: the one it was offered with, or that of `reconcile`.
    pub fn bias(&self, i: usize) -> f64 {
        self.bias[i]
    }

    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        let m = self.m;
        (0..self.bias.len()).map(move |i| &self.rows[i * m..(i + 1) * m])
    }

    /// `x_rows ← Q α` with α minimizing `Σ ((gᵢᵀ Q α + biasᵢ)/‖gᵢ‖)²`, from its k × k normal equations. Rows of unit length keep them
    /// well conditioned unless the rows themselves are nearly dependent.
    fn satisfy_least_squares(&mut self) {
        let k = self.rank();
        self.gram.reset(k, k + 1);
        self.work.clear();
        self.work.resize(k, 0.0);
        for i in 0..self.bias.len() {
            let g = &self.rows[i * self.m..(i + 1) * self.m];
            let length = norm(g);
            if length == 0.0 {
                continue;
            }
            self.qr.mul_qt_into(g, &mut self.work);
            self.work.iter_mut().for_each(|c| *c /= length);
            for j in 0..k {
                axpy(self.work[j], &self.work, self.gram.col_mut(j));
            }
            axpy(-self.bias[i] / length, &self.work, self.gram.col_mut(k));
        }
        // Independent rows give positive pivots; one that rounding has made zero may not end it.
        let _ = cholesky::factor(&mut self.gram, |_, pivot| Some(pivot.max(f64::MIN_POSITIVE)));
        self.work.copy_from_slice(self.gram.col(k));
        cholesky::solve(&self.gram, &mut self.work);
        self.x_rows.fill(0.0);
        self.qr.add_q(&self.work, &mut self.x_rows);
    }

    /// The motion in the span of the rows that satisfies them, m; zero before [`FindIndices::satisfy`].
    pub(crate) fn x_rows(&self) -> &[f64] {
        &self.x_rows
    }

    /// How much dependent rows contradicted each other: the largest residual, relative to the size of its terms. Rounding if they agreed.
    pub fn inconsistency(&self) -> f64 {
        self.inconsistency
    }

    /// True if the rows contradicted each other by more than rounding, so that [`FindIndices::x_rows`] is their least-squares compromise.
    pub(crate) fn is_inconsistent(&self) -> bool {
        self.inconsistency > self.tolerances.consistent
    }

    /// Impulses of the kept rows that change x by `change` (m, in their span): `Σ gᵢ pᵢ = change`. Written to `p` in the order of
    /// [`FindIndices::kept`].
    pub fn impulses(&self, change: &[f64], p: &mut Vec<f64>) {
        p.clear();
        p.resize(self.rank(), 0.0);
        self.qr.mul_qt_into(change, p);
        self.qr.solve_r(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::generate::Rng;

    #[test]
    fn keeps_independent_rows_whatever_their_units() {
        let mut rng = Rng::new(5);
        for scale in [1e-9, 1.0, 1e9] {
            let base: Vec<Vec<f64>> = (0..3).map(|_| (0..6).map(|_| rng.normal()).collect()).collect();
            let mixed: Vec<f64> = (0..6).map(|i| scale * (2.0 * base[0][i] - base[2][i])).collect();
            let mut find = FindIndices::default();
            find.reset(6, 5);
            let offered = [&base[0], &base[1], &base[2], &mixed, &base[1]];
            let kept: Vec<bool> = offered.iter().map(|g| find.add(g, 0.0)).collect();
            assert_eq!(kept, [true, true, true, false, false]);
            assert_eq!(find.kept(), [0, 1, 2]);
        }
    }

    #[test]
    fn satisfies_consistent_rows_and_spreads_contradictions() {
        let mut find = FindIndices::default();
        find.reset(3, 4);
        for (g, bias) in [([1.0, 0.0, 0.0], -1.0), ([0.0, 2.0, 0.0], 4.0), ([1.0, 2.0, 0.0], 3.0)] {
            find.add(&g, bias);
        }
        find.satisfy();
        assert!(find.inconsistency() < 1e-15);
        assert!(find.x_rows().iter().zip([1.0, -2.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14));
        // The same row twice with other targets: halfway.
        find.add(&[10.0, 0.0, 0.0], -20.0);
        find.reset(3, 2);
        find.add(&[1.0, 0.0, 0.0], -1.0);
        find.add(&[10.0, 0.0, 0.0], -20.0);
        find.satisfy();
        assert!(find.inconsistency() > 0.1);
        assert!((find.x_rows()[0] - 1.5).abs() < 1e-14, "{:?}", find.x_rows());
    }

    #[test]
    fn impulses_of_the_kept_rows_make_the_change() {
        let mut rng = Rng::new(8);
        let mut find = FindIndices::default();
        find.reset(5, 3);
        let rows: Vec<Vec<f64>> = (0..3).map(|_| (0..5).map(|_| rng.normal()).collect()).collect();
        rows.iter().for_each(|g| assert!(find.add(g, 0.0)));
        let change: Vec<f64> = (0..5).map(|i| rows[0][i] - 2.0 * rows[1][i] + 0.5 * rows[2][i]).collect();
        let mut p = Vec::new();
        find.impulses(&change, &mut p);
        assert!(p.iter().zip([1.0, -2.0, 0.5]).all(|(a, b)| (a - b).abs() < 1e-13));
        let mut rest = change;
        find.project_out(&mut rest);
        assert!(norm(&rest) < 1e-14);
    }

    #[test]
    fn stops_at_full_rank() {
        let mut find = FindIndices::default();
        find.reset(2, 4);
        let kept: Vec<bool> =
            [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [3.0, 1.0]].iter().map(|g| find.add(g, 0.0)).collect();
        assert_eq!(kept, [true, true, false, false]);
    }
}

//! The clamped conditions and the factor of their matrix, which follows them one by one.

use stiction_lcp::matrix::{axpy, dot};
use stiction_linalg::incremental_factor::{Border, IncrementalFactor};
use stiction_linalg::lu::Lu;

use super::sets::Clamp;

/// Passes of refinement of a direction.
const REFINEMENTS: usize = 2;

/// Conditions `rowₖᵀ x = 0`, each held by a force that changes x by `columnₖ`: the matrix is `rowᵢᵀ columnⱼ`.
///
/// Its factor is updated as conditions come and go. That needs every leading block to be regular, which friction does not promise: where the
/// updated factor fails, the matrix is factored anew with pivoting.
#[derive(Debug, Clone, Default)]
pub(super) struct Clamped {
    /// [`Tolerances::drift`](super::Tolerances::drift).
    drift: f64,
    m: usize,
    clamps: Vec<Clamp>,
    /// m numbers each.
    rows: Vec<f64>,
    columns: Vec<f64>,
    factor: IncrementalFactor,
    symmetric: bool,
    capacity: usize,
    border: Border,
    /// Whether the updated factor is one of the present matrix.
    updated: bool,
    lu: Lu,
    pivoted: bool,
    step: Vec<f64>,
}

impl Clamped {
    /// No conditions; at most `capacity` on motions of dimension `m` later. `symmetric` if no force brings friction with it.
    pub(super) fn reset(&mut self, m: usize, capacity: usize, symmetric: bool, drift: f64) {
        self.m = m;
        self.drift = drift;
        self.symmetric = symmetric;
        self.capacity = capacity;
        self.clamps.clear();
        self.rows.clear();
        self.columns.clear();
        self.factor.reset(capacity, symmetric);
        self.border.reset(capacity);
        self.updated = true;
        self.pivoted = false;
    }

    /// The conditions, in the order of the matrix.
    pub(super) fn list(&self) -> &[Clamp] {
        &self.clamps
    }

    /// The row of the condition at position `k`, m.
    pub(super) fn row(&self, k: usize) -> &[f64] {
        &self.rows[k * self.m..(k + 1) * self.m]
    }

    /// The column of the force at position `k`, m.
    pub(super) fn column(&self, k: usize) -> &[f64] {
        &self.columns[k * self.m..(k + 1) * self.m]
    }

    /// Adds a condition.
    pub(super) fn push(&mut self, clamp: Clamp, row: &[f64], column: &[f64]) {
        if self.updated {
            self.append(row, column);
        }
        self.pivoted = false;
        self.clamps.push(clamp);
        self.rows.extend_from_slice(row);
        self.columns.extend_from_slice(column);
    }

    /// The updated factor takes in one more row and column.
    fn append(&mut self, row: &[f64], column: &[f64]) {
        let Self { border, factor, rows, columns, m, .. } = self;
        border.column.clear();
        border.row.clear();
        if !rows.is_empty() {
            border.column.extend(rows.chunks_exact(*m).map(|r| dot(r, column)));
            border.row.extend(columns.chunks_exact(*m).map(|c| dot(row, c)));
        }
        border.pivot = dot(row, column);
        factor.border(border);
        self.updated = factor.append(border).is_ok();
    }

    /// Removes the conditions that `is` says.
    pub(super) fn remove(&mut self, is: impl Fn(&Clamp) -> bool) {
        for k in (0..self.clamps.len()).rev() {
            if is(&self.clamps[k]) {
                self.clamps.remove(k);
                self.rows.drain(k * self.m..(k + 1) * self.m);
                self.columns.drain(k * self.m..(k + 1) * self.m);
                self.updated = self.updated && self.factor.remove(k).is_ok();
                self.pivoted = false;
            }
        }
    }

    /// `x ← A⁻¹ x`; false if A is singular.
    pub(super) fn solve(&mut self, x: &mut [f64]) -> bool {
        if self.updated {
            self.factor.solve(x);
            return true;
        }
        if !self.factor_anew() {
            return false;
        }
        self.lu.solve(x);
        true
    }

    fn factor_anew(&mut self) -> bool {
        if !self.pivoted {
            let Self { lu, rows, columns, m, clamps, .. } = self;
            let part = |k: usize| k * *m..(k + 1) * *m;
            lu.factor_with(clamps.len(), |i, j| dot(&rows[part(i)], &columns[part(j)]));
            self.pivoted = true;
        }
        self.lu.pivot_ratio() > 0.0
    }

    /// Adds to `dx` (m) the change that keeps all conditions, `dx ← dx + Σ columnₖ yₖ`, sets y, and adds the sizes of the terms to `dsize`. False
    /// if the matrix is singular.
    pub(super) fn hold(&mut self, dx: &mut [f64], dsize: &mut [f64], y: &mut Vec<f64>) -> bool {
        y.clear();
        y.resize(self.clamps.len(), 0.0);
        if !self.refine(dx, y) {
            return false;
        }
        if self.updated && self.has_lost(dx, dsize, y) {
            self.updated = false;
            if !self.refine(dx, y) {
                return false;
            }
        }
        for (at, y) in y.iter().enumerate() {
            add_abs(*y, self.column(at), dsize);
        }
        true
    }

    /// Solves for y such that no condition changes, and refines it.
    fn refine(&mut self, dx: &mut [f64], y: &mut [f64]) -> bool {
        let mut step = std::mem::take(&mut self.step);
        let mut sound = true;
        for _ in 0..REFINEMENTS {
            step.clear();
            step.extend((0..self.clamps.len()).map(|k| -dot(self.row(k), dx)));
            sound = sound && self.solve(&mut step);
            for (at, step) in step.iter().enumerate() {
                y[at] += step;
                axpy(*step, self.column(at), dx);
            }
        }
        self.step = step;
        sound
    }

    /// True if a clamped acceleration changes by more than rounding of the terms `dsize + Σ |columnₖ yₖ|`.
    fn has_lost(&mut self, dx: &[f64], dsize: &[f64], y: &[f64]) -> bool {
        let mut size = std::mem::take(&mut self.step);
        size.clear();
        size.extend_from_slice(dsize);
        for (at, y) in y.iter().enumerate() {
            add_abs(*y, self.column(at), &mut size);
        }
        let lost = |k: usize| {
            let change = dot(self.row(k), dx).abs();
            change.is_nan() || change > self.drift * abs_dot(self.row(k), &size)
        };
        let any = (0..self.clamps.len()).any(lost);
        self.step = size;
        any
    }

    /// Builds the updated factor again, if it was lost.
    pub(super) fn mend(&mut self) {
        if self.updated {
            return;
        }
        let (k, m) = (self.clamps.len(), self.m);
        let (rows, columns) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.columns));
        self.factor.reset(self.capacity, self.symmetric);
        self.updated = true;
        for at in 0..k {
            let part = at * m..(at + 1) * m;
            if self.updated {
                self.append(&rows[part.clone()], &columns[part.clone()]);
            }
            self.rows.extend_from_slice(&rows[part.clone()]);
            self.columns.extend_from_slice(&columns[part]);
        }
    }
}

/// `y ← y + |a x|`, entry by entry.
pub(super) fn add_abs(a: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += (a * x).abs());
}

/// `Σ |gⱼ| sⱼ`.
pub(super) fn abs_dot(g: &[f64], s: &[f64]) -> f64 {
    g.iter().zip(s).map(|(g, s)| g.abs() * s).sum()
}

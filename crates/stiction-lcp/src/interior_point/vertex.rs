//! From a point of a face to a vertex of it, as in linear programming.

use crate::matrix::Matrix;
use stiction_linalg::elimination::eliminate;

/// The columns `M_α` of the positive z, by row operations: unit vectors in the independent ones, and in the others the rates
/// at which basic z (and the w of rows outside α) change with them.
#[derive(Debug, Clone, Default)]
pub(super) struct Vertex {
    a: Matrix,
    /// The column whose unit vector stands in each row, if any.
    basic: Vec<Option<usize>>,
    is_basic: Vec<bool>,
    /// The problem's row of each row of the tableau: those of α first.
    rows: Vec<usize>,
    multipliers: Vec<f64>,
}

impl Vertex {
    /// Takes the columns `active` of M; `guess` is true in these rows.
    pub(super) fn set(&mut self, m: &Matrix, active: &[usize], guess: &[bool]) {
        let (n, k) = (m.rows(), active.len());
        self.rows.clear();
        self.rows.extend_from_slice(active);
        self.rows.extend((0..n).filter(|&i| !guess[i]));
        self.a.reset(n, k);
        for b in 0..k {
            for a in 0..n {
                self.a[(a, b)] = m[(self.rows[a], active[b])];
            }
        }
        self.basic.clear();
        self.basic.resize(n, None);
        self.is_basic.clear();
        self.is_basic.resize(k, false);
    }

    /// Gauss–Jordan elimination of the rows of α with complete pivoting, as far as pivots are above `dependent`.
    pub(super) fn eliminate(&mut self, dependent: f64) {
        let k = self.a.cols();
        for _ in 0..k {
            crate::interrupt::check();
            let mut best = (dependent, 0, 0);
            for j in (0..k).filter(|&j| !self.is_basic[j]) {
                for i in (0..k).filter(|&i| self.basic[i].is_none()) {
                    let size = self.a[(i, j)].abs();
                    if size > best.0 {
                        best = (size, i, j);
                    }
                }
            }
            let (size, row, column) = best;
            if size <= dependent {
                break;
            }
            self.make_basic(row, column);
        }
    }

    /// Columns that are not basic, smallest z first.
    pub(super) fn dependent(&self, z: &[f64]) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..z.len()).filter(|&j| !self.is_basic[j]).collect();
        columns.sort_by(|&i, &j| z[i].total_cmp(&z[j]));
        columns
    }

    /// Basic columns.
    pub(super) fn basic_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.basic.iter().flatten().copied()
    }

    /// Lowers z_j to zero within the null space. If another variable reaches zero first, at a rate above `least_rate`, j takes its
    /// place: true.
    pub(super) fn remove(&mut self, z: &mut [f64], w: &mut [f64], j: usize, least_rate: f64) -> bool {
        let k = z.len();
        let (mut step, mut blocking) = (z[j], None);
        // Lowering z_j by θ raises the basic z of a row by θ a_rj, and lowers the w of a row without one by θ a_rj.
        for r in 0..self.rows.len() {
            let (value, rate) = match self.basic[r] {
                Some(b) => (z[b], -self.a[(r, j)]),
                None if r >= k => (w[self.rows[r]], self.a[(r, j)]),
                None => continue,
            };
            if rate > least_rate && value / rate < step {
                (step, blocking) = (value / rate, Some(r));
            }
        }
        for r in 0..self.rows.len() {
            let change = step * self.a[(r, j)];
            match self.basic[r] {
                Some(b) => z[b] = (z[b] + change).max(0.0),
                None if r >= k => w[self.rows[r]] = (w[self.rows[r]] - change).max(0.0),
                None => {}
            }
        }
        z[j] -= step;
        let Some(r) = blocking else { return false };
        match self.basic[r] {
            Some(b) => {
                z[b] = 0.0;
                self.is_basic[b] = false;
            }
            None => w[self.rows[r]] = 0.0,
        }
        self.make_basic(r, j);
        true
    }

    /// Makes `column` the unit vector of row `r`, by row operations on the columns that are not basic.
    fn make_basic(&mut self, r: usize, column: usize) {
        self.basic[r] = Some(column);
        self.is_basic[column] = true;
        self.multipliers.clear();
        self.multipliers.extend_from_slice(self.a.col(column));
        let pivot = self.multipliers[r];
        self.multipliers[r] = 0.0;
        let is_basic = &self.is_basic;
        eliminate(&mut self.a, r, pivot, &self.multipliers, |j| !is_basic[j]);
        let target = self.a.col_mut(column);
        target.fill(0.0);
        target[r] = 1.0;
    }
}

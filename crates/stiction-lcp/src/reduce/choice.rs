//! Which free rows are eliminated with what, by complete pivoting on the scaled matrix.
//!
//! The whole matrix is scaled by powers of two, rows and columns independently, so that "zero" means small beside the row and the column.

use super::Tolerances;
use crate::matrix::Matrix;
use stiction_linalg::elimination::eliminate;
use stiction_linalg::equilibration::balance;
use stiction_linalg::power::{exponent, times_power};

/// Which rows and columns of the standard form are pivots, and which are left.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    /// Eliminated equations, and the free variables eliminated with them (in no particular pairing).
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
    /// Complementary rows in the pivot block: K.
    pub flipped: Vec<usize>,
    /// Equations and free variables that are substituted.
    pub left_rows: Vec<usize>,
    pub left_columns: Vec<usize>,
    /// Redundant equations.
    pub dropped: usize,
    /// Complementary rows, ascending: the first rows of the LCP.
    pub complementary: Vec<usize>,
    /// Scaling: entry (i, j) times `2^−(row[i] + column[j])` is of size one.
    pub row_exponent: Vec<i32>,
    pub column_exponent: Vec<i32>,
}

impl Choice {
    /// Gaussian elimination with complete pivoting on the scaled matrix, for the sake of its pivots only.
    pub(super) fn new(m: &Matrix, q: &[f64], free: &[bool], tolerances: &Tolerances) -> Self {
        let n = q.len();
        let mut choice = Self { complementary: (0..n).filter(|&i| !free[i]).collect(), ..Self::default() };
        (choice.row_exponent, choice.column_exponent) = balance(m);
        let mut work = Work::new(m, q, &choice, tolerances);
        choice.left_rows = (0..n).filter(|&i| free[i]).collect();
        choice.left_columns = choice.left_rows.clone();
        while let Some(pivot) = work.best(&choice) {
            crate::interrupt::check();
            choice.left_rows.retain(|&i| i != pivot.row);
            choice.left_columns.retain(|&j| j != pivot.column);
            choice.rows.push(pivot.row);
            choice.columns.push(pivot.column);
            match pivot.through {
                None => work.eliminate(pivot.row, pivot.column),
                Some(k) => {
                    choice.flipped.push(k);
                    work.eliminate(pivot.row, k);
                    work.eliminate(k, pivot.column);
                }
            }
        }
        choice.drop_redundant(&work);
        choice
    }

    /// Drops as many empty equations as there are variables that nothing depends on.
    fn drop_redundant(&mut self, work: &Work) {
        let empty_rows: Vec<usize> = self.left_rows.iter().copied().filter(|&i| work.is_redundant(i)).collect();
        let empty_columns: Vec<usize> = self.left_columns.iter().copied().filter(|&j| work.is_idle(j)).collect();
        self.dropped = empty_rows.len().min(empty_columns.len());
        self.left_rows.retain(|i| !empty_rows[..self.dropped].contains(i));
        self.left_columns.retain(|j| !empty_columns[..self.dropped].contains(j));
    }

    /// Order of the LCP that this choice leaves.
    pub(super) fn lcp_order(&self) -> usize {
        let left = self.left_rows.len();
        self.complementary.len() + left + usize::from(left > 0)
    }
}

/// A pivot of the choice: on (row, column), or on (row, k) and then (k, column).
struct Pivot {
    row: usize,
    column: usize,
    through: Option<usize>,
}

/// The scaled matrix under elimination, with q as its last column.
struct Work {
    a: Matrix,
    /// `|qᵢ|` plus the sizes of all that was added to it.
    q_size: Vec<f64>,
    done_rows: Vec<bool>,
    done_columns: Vec<bool>,
    tolerances: Tolerances,
}

impl Work {
    fn new(m: &Matrix, q: &[f64], choice: &Choice, tolerances: &Tolerances) -> Self {
        let n = q.len();
        let (r, c) = (&choice.row_exponent, &choice.column_exponent);
        let q_exponent = (0..n).map(|i| exponent(q[i]) - r[i]).max().unwrap_or(0);
        let a = Matrix::from_fn(n, n + 1, |i, j| {
            if j < n { times_power(m[(i, j)], -r[i] - c[j]) } else { times_power(q[i], -r[i] - q_exponent) }
        });
        let q_size = a.col(n).iter().map(|x| x.abs()).collect();
        Self { a, q_size, done_rows: vec![false; n], done_columns: vec![false; n], tolerances: *tolerances }
    }

    /// The next pivot, or `None` if only rounding is left.
    fn best(&self, choice: &Choice) -> Option<Pivot> {
        let (mut size, mut direct) = (0.0, None);
        for &column in &choice.left_columns {
            for &row in &choice.left_rows {
                let entry = self.a[(row, column)].abs();
                if entry > size {
                    (size, direct) = (entry, Some(Pivot { row, column, through: None }));
                }
            }
        }
        let Tolerances { good_pivot, zero_pivot, .. } = self.tolerances;
        if size >= good_pivot {
            return direct;
        }
        match self.best_through(choice) {
            Some((other, pivot)) if other > size => (other > zero_pivot).then_some(pivot),
            _ if size > zero_pivot => direct,
            _ => None,
        }
    }

    /// The complementary row k with the largest `min(|C_ik|, |D_kj|)`.
    fn best_through(&self, choice: &Choice) -> Option<(f64, Pivot)> {
        let mut best: Option<(f64, Pivot)> = None;
        for &k in choice.complementary.iter().filter(|&&k| !self.done_rows[k]) {
            let (mut row, mut column) = ((0.0, 0), (0.0, 0));
            for &i in &choice.left_rows {
                let entry = self.a[(i, k)].abs();
                if entry > row.0 {
                    row = (entry, i);
                }
            }
            for &j in &choice.left_columns {
                let entry = self.a[(k, j)].abs();
                if entry > column.0 {
                    column = (entry, j);
                }
            }
            let size = row.0.min(column.0);
            if size > best.as_ref().map_or(0.0, |b| b.0) {
                best = Some((size, Pivot { row: row.1, column: column.1, through: Some(k) }));
            }
        }
        best
    }

    fn eliminate(&mut self, row: usize, column: usize) {
        let n = self.a.rows();
        self.done_rows[row] = true;
        self.done_columns[column] = true;
        let pivot = self.a[(row, column)];
        let multipliers: Vec<f64> = (0..n).map(|i| if self.done_rows[i] { 0.0 } else { self.a[(i, column)] }).collect();
        let done = &self.done_columns;
        eliminate(&mut self.a, row, pivot, &multipliers, |j| j == n || !done[j]);
        let head = self.q_size[row] / pivot.abs();
        for (size, multiplier) in self.q_size.iter_mut().zip(&multipliers) {
            *size += multiplier.abs() * head;
        }
    }

    /// True if nothing but rounding is left of an equation, its right-hand side included.
    fn is_redundant(&self, row: usize) -> bool {
        let (n, zero) = (self.a.rows(), self.tolerances.zero_pivot);
        let empty = (0..n).all(|j| self.done_columns[j] || self.a[(row, j)].abs() <= zero);
        empty && self.a[(row, n)].abs() <= zero * self.q_size[row]
    }

    /// True if nothing depends on a free variable any more.
    fn is_idle(&self, column: usize) -> bool {
        (0..self.a.rows()).all(|i| self.done_rows[i] || self.a[(i, column)].abs() <= self.tolerances.zero_pivot)
    }
}

/// Rows whose z can be basic together: `wanted` ones as far as they are independent, and others of `rows` where a regular principal
/// block needs them. For completing a vertex to a basis.
pub(crate) fn regular_block(
    m: &Matrix,
    q: &[f64],
    rows: &[usize],
    wanted: &[bool],
    tolerances: &Tolerances,
) -> Vec<usize> {
    let block = m.select(rows, rows);
    let vector: Vec<f64> = rows.iter().map(|&i| q[i]).collect();
    let free: Vec<bool> = rows.iter().map(|&i| wanted[i]).collect();
    let choice = Choice::new(&block, &vector, &free, tolerances);
    choice.columns.iter().chain(&choice.flipped).map(|&a| rows[a]).collect()
}

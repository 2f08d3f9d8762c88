//! The linear system of a set of states, dense or sparse.

use stiction_lcp::Matrix;
use stiction_linalg::lu::Lu;

use super::law::{self, Row, Slip, State, Steps};
use super::newton::{friction_part, own_part};
use super::problem::ConeProblem;
use crate::sparse_lu::{Columns, SparseLu};

/// Marks a row that is not in the system.
const ABSENT: usize = usize::MAX;
/// Systems of at most this order are solved dense.
const DENSE_ORDER: usize = 60;

/// The rows of a problem whose impulses are unknown, and their system.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    /// The unknown rows, ascending.
    pub active: Vec<usize>,
    /// Right-hand side, then solution.
    pub right: Vec<f64>,
    /// Place of each row of the problem in `active`.
    place: Vec<usize>,
    matrix: Matrix,
    lu: Lu,
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    sparse: SparseLu,
}

impl System {
    /// Collects the rows that the states leave unknown.
    pub(super) fn choose_rows(&mut self, problem: &ConeProblem, states: &[State]) {
        self.active.clear();
        self.place.clear();
        self.place.resize(problem.n(), ABSENT);
        for (b, &block) in problem.blocks.iter().enumerate() {
            for i in problem.rows(b) {
                if !matches!(law::row(block, states[b], i - problem.starts[b]), Row::Fixed(_)) {
                    self.place[i] = self.active.len();
                    self.active.push(i);
                }
            }
        }
        self.right.clear();
        self.right.resize(self.active.len(), 0.0);
    }

    /// Solves in place; false if the result is not finite.
    pub(super) fn solve(
        &mut self,
        problem: &ConeProblem,
        alpha: f64,
        states: &[State],
        slips: &[Slip],
        rho: &[Steps],
    ) -> bool {
        let order = self.active.len();
        if order == 0 {
            return true;
        }
        if problem.w.is_dense() || order <= DENSE_ORDER {
            self.matrix.reset(order, order);
            for j in 0..order {
                let column = self.matrix.col_mut(j);
                fill(problem, alpha, states, slips, rho, &self.place, self.active[j], |i, x| column[i] = x);
            }
            self.lu.factor(&self.matrix);
            if self.lu.pivot_ratio() == 0.0 {
                return false;
            }
            self.lu.solve(&mut self.right);
            return self.right.iter().all(|x| x.is_finite());
        }
        self.starts.clear();
        self.rows.clear();
        self.values.clear();
        self.starts.push(0);
        for &j in &self.active {
            let (rows, values) = (&mut self.rows, &mut self.values);
            fill(problem, alpha, states, slips, rho, &self.place, j, |i, x| {
                rows.push(i);
                values.push(x);
            });
            self.starts.push(self.rows.len());
        }
        self.sparse.solve(Columns { starts: &self.starts, rows: &self.rows, values: &self.values }, &mut self.right)
    }
}

/// Gives every entry (place, value) of the column of unknown `j`, places ascending.
#[inline]
fn fill(
    problem: &ConeProblem,
    alpha: f64,
    states: &[State],
    slips: &[Slip],
    rho: &[Steps],
    place: &[usize],
    j: usize,
    mut put: impl FnMut(usize, f64),
) {
    let own = problem.block_of[j];
    let local = j - problem.starts[own];
    problem.w.visit(j, &problem.starts, |b, w| {
        let start = problem.starts[b];
        let du = |k: usize| if b == own && k == local { w[k] + alpha } else { w[k] };
        for k in 0..w.len() {
            let i = place[start + k];
            if i == ABSENT {
                continue;
            }
            match law::row(problem.blocks[b], states[b], k) {
                Row::Friction => {
                    let mut x = friction_part(problem.blocks[b], slips[b], rho[b], k, du);
                    if b == own {
                        x += own_part(problem.blocks[b], slips[b], k, local);
                    }
                    put(i, x);
                }
                _ => put(i, du(k)),
            }
        }
    });
}

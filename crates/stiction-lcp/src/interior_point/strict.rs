//! A strictly feasible point: the linear program `max t`, `z ≥ t`, `M z + q ≥ t`, `t ≤ 1`.
//!
//! With `z = y + t`, `t = 1 − τ` it reads `min τ`, `A (y, τ) ≥ b`, `y, τ ≥ 0`, where `A = [M, e − M e]` and `b = e − M e − q`. Its
//! optimality conditions are the complementarity problem of `[0 −Aᵀ; A 0]`, which Newton's equations solve from a point that is
//! feasible for the program: so every iterate is, and the first good one will do.

use super::Tolerances;
use super::newton::{Newton, Pair};
use crate::matrix::{Matrix, dot, max_abs};

/// Iterations at most.
const MAX_ITERATIONS: usize = 100;

/// Stop when t has this fraction of its upper bound.
const GOOD_PART: f64 = 0.5;

/// How near to the boundary a step goes, and how far each step aims down the path.
const STEP_TO_BOUNDARY: f64 = 0.95;
const CENTERING: f64 = 0.1;

/// The linear program of a margin.
#[derive(Debug, Clone, Default)]
pub(super) struct StrictlyFeasible {
    newton: Newton,
    /// `[0 −Aᵀ; A 0]`, order 2n + 1.
    matrix: Matrix,
    vector: Vec<f64>,
    at: Pair,
    direction: Pair,
    residual: Vec<f64>,
    complementarity: Vec<f64>,
}

impl StrictlyFeasible {
    /// A pair (z, w) > 0 with w = M z + q into `out`; the number of iterations, or `None` if there is no such pair.
    pub(super) fn find(&mut self, m: &Matrix, q: &[f64], tolerances: &Tolerances, out: &mut Pair) -> Option<usize> {
        let Tolerances { start, converged, .. } = *tolerances;
        self.set(m, q);
        self.start(m, q);
        for iteration in 0..MAX_ITERATIONS {
            crate::interrupt::check();
            let margin = self.margin(m, q, out);
            let dual_residual = self.update_residual(q.len());
            let gap = self.at.mean_gap();
            let bound = self.upper_bound(q.len());
            if margin > start && dual_residual <= start && margin >= GOOD_PART * bound {
                return Some(iteration);
            }
            if gap <= converged || dual_residual <= start && bound <= start || !self.iterate(gap) {
                break;
            }
        }
        (self.margin(m, q, out) > start).then_some(MAX_ITERATIONS)
    }

    fn set(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.matrix.reset(2 * n + 1, 2 * n + 1);
        let row_sum = |i: usize| (0..n).map(|j| m[(i, j)]).sum::<f64>();
        self.vector.clear();
        self.vector.resize(2 * n + 1, 0.0);
        self.vector[n] = 1.0;
        for i in 0..n {
            crate::interrupt::check_at(i);
            let last = 1.0 - row_sum(i);
            self.vector[n + 1 + i] = q[i] - last;
            for j in 0..=n {
                let entry = if j < n { m[(i, j)] } else { last };
                self.matrix[(n + 1 + i, j)] = entry;
                self.matrix[(j, n + 1 + i)] = -entry;
            }
        }
    }

    /// z = 1, and t so low that all its rows have room.
    fn start(&mut self, m: &Matrix, q: &[f64]) {
        let n = q.len();
        self.at.reset(2 * n + 1);
        let w: Vec<f64> = (0..n).map(|i| q[i] + (0..n).map(|j| m[(i, j)]).sum::<f64>()).collect();
        let lowest = w.iter().fold(0.0, |l: f64, x| l.min(*x));
        let t = lowest - 1.0;
        for i in 0..n {
            self.at.z[i] = 1.0 - t;
            self.at.w[n + 1 + i] = w[i] - t;
            self.at.z[n + 1 + i] = 1.0;
        }
        self.at.z[n] = 1.0 - t;
        self.at.w[..=n].fill(1.0);
    }

    /// (z, w) of the present iterate, recomputed, and its least entry.
    fn margin(&self, m: &Matrix, q: &[f64], out: &mut Pair) -> f64 {
        let n = q.len();
        out.reset(n);
        let t = 1.0 - self.at.z[n];
        for i in 0..n {
            out.z[i] = self.at.z[i] + t;
        }
        m.mul_into(&out.z, &mut out.w);
        out.w.iter_mut().zip(q).for_each(|(w, q)| *w += q);
        out.z.iter().chain(&out.w).fold(f64::INFINITY, |l, x| l.min(*x))
    }

    /// `K x + k − w`; the rows of the program itself are kept at zero. Returns the largest entry of the dual rows.
    fn update_residual(&mut self, n: usize) -> f64 {
        self.residual.resize(2 * n + 1, 0.0);
        self.matrix.mul_into(&self.at.z, &mut self.residual);
        for i in 0..2 * n + 1 {
            self.residual[i] += self.vector[i] - self.at.w[i];
        }
        max_abs(&self.residual[..=n])
    }

    /// No t exceeds `1 − bᵀu` for a feasible dual u.
    fn upper_bound(&self, n: usize) -> f64 {
        1.0 + dot(&self.vector[n + 1..], &self.at.z[n + 1..])
    }

    fn iterate(&mut self, gap: f64) -> bool {
        if !self.newton.factor(&self.matrix, &self.at) {
            return false;
        }
        self.complementarity.clear();
        self.complementarity.extend(self.at.z.iter().zip(&self.at.w).map(|(z, w)| CENTERING * gap - z * w));
        self.newton.solve(&self.matrix, &self.at, &self.residual, &self.complementarity, &mut self.direction);
        let step = STEP_TO_BOUNDARY * self.at.step_to_boundary(&self.direction);
        if !(step > 0.0 && step.is_finite()) {
            return false;
        }
        self.at.advance(&self.direction, step);
        self.at.is_positive()
    }
}

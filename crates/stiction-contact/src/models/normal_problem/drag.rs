//! Drag that is implicit in the new velocity: it acts like more inertia.

use stiction_lcp::Matrix;
use stiction_lcp::matrix::{axpy, dot};

use crate::models::normal_problem::row::Row;

/// The rows with drag `p = −c (gᵀ x + bias)`, and the factor of `K = I + Σ c g gᵀ = L Lᵀ`, the inertia with the drag in it.
///
/// L comes from rotating the rows `√c gᵀ` one by one into the identity: K itself, which has the square of its condition, is never formed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drag {
    /// The rows and their c.
    pub rows: Vec<(Row, f64)>,
    /// Number of velocities, m.
    m: usize,
    /// L, m × m, lower triangular; without rows it is the identity, and not kept.
    l: Matrix,
    work: Vec<f64>,
}

impl Drag {
    /// No drag on velocities of dimension `m`.
    pub(crate) fn reset(&mut self, m: usize) {
        self.rows.clear();
        self.m = m;
    }

    /// True if there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds drag `c` ≥ 0 along `row`, whose column is `g` (m).
    pub(crate) fn add(&mut self, row: Row, g: &[f64], c: f64) {
        if self.is_empty() {
            self.l.reset(self.m, self.m);
            (0..self.m).for_each(|j| self.l[(j, j)] = 1.0);
        }
        let root = c.sqrt();
        self.rows.push((row, c));
        self.work.clear();
        self.work.extend(g.iter().map(|x| root * x));
        for j in 0..self.work.len() {
            let b = self.work[j];
            if b == 0.0 {
                continue;
            }
            let column = &mut self.l.col_mut(j)[j..];
            let a = column[0];
            let length = (a * a + b * b).sqrt();
            let (cos, sin) = (a / length, b / length);
            for (x, y) in column.iter_mut().zip(&mut self.work[j..]) {
                (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
            }
        }
    }

    /// `x ← L⁻¹ x`: a column or a force among the coordinates `y = Lᵀ x`, in which K is the identity.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        for j in 0..x.len() {
            x[j] /= self.l[(j, j)];
            let xj = x[j];
            if xj != 0.0 {
                axpy(-xj, &self.l.col(j)[j + 1..], &mut x[j + 1..]);
            }
        }
    }

    /// `x ← L⁻ᵀ x`: a motion from the coordinates `y`.
    pub(crate) fn solve_transposed(&self, x: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        for j in (0..x.len()).rev() {
            x[j] = (x[j] - dot(&self.l.col(j)[j + 1..], &x[j + 1..])) / self.l[(j, j)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::generate::Rng;

    #[test]
    fn the_factor_is_that_of_the_inertia_with_drag() {
        let mut rng = Rng::new(4);
        let mut drag = Drag::default();
        drag.reset(4);
        let rows: Vec<(Vec<f64>, f64)> =
            (0..7).map(|k| ((0..4).map(|_| rng.normal()).collect(), [0.0, 0.3, 1e3][k % 3])).collect();
        rows.iter().for_each(|(g, c)| drag.add(Row::TangentS(0), g, *c));
        let x: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
        let mut force = x.clone();
        rows.iter().for_each(|(g, c)| axpy(c * dot(g, &x), g, &mut force));
        drag.solve(&mut force);
        drag.solve_transposed(&mut force);
        assert!(force.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12), "{force:?} {x:?}");
    }
}

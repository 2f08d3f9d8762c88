//! Bases excluded in f64s, rigorously, so that exact arithmetic is left with the few that are close.
//!
//! For the system `A x = b` of a basis and an approximate inverse R with `‖I − R A‖ ≤ δ < 1`, the error of an approximate x̃ is at most
//! `|R| |b − A x̃| + δ/(1 − δ) ‖|R| |b − A x̃|‖` entry by entry. All sums are bounded with their own rounding errors and with that of
//! the entries of A, which are the exact ones rounded. Reference: \[Rump10\].

use num_traits::ToPrimitive;

use crate::basis::{Basis, Position};
use crate::exact::Integers;
use crate::matrix::Matrix;
use stiction_linalg::equilibration::rows_then_columns;
use stiction_linalg::lu::Lu;
use stiction_linalg::power::times_power;

/// The problem in rounded f64s, rows and columns scaled by powers of two, and the workspace.
pub(super) struct Filter {
    m: Matrix,
    q: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
    /// lo = hi: w may have any sign.
    fixed: Vec<bool>,
    lu: Lu,
    active: Vec<usize>,
    /// z of the rows at bounds, 0 elsewhere.
    at_bounds: Vec<f64>,
    /// Right-hand side and the bound of its error.
    right: Vec<(f64, f64)>,
    x: Vec<f64>,
    error: Vec<f64>,
    inverse: Matrix,
}

/// Above this the approximate inverse proves nothing useful.
const MOST_DEFECT: f64 = 0.5;

/// A bound on the relative rounding error of a sum of `terms` products, of rounded data and of the bound itself: twice what analysis asks for.
fn rounding(terms: usize) -> f64 {
    (terms + 8) as f64 * f64::EPSILON
}

/// More than all underflows of such a sum.
fn underflow(terms: usize) -> f64 {
    (terms + 8) as f64 * f64::MIN_POSITIVE
}

impl Filter {
    /// The filter of a problem; its results are `false` wherever the f64s overflow.
    pub(super) fn new(problem: &Integers) -> Self {
        let n = problem.n();
        let float = |x: &num_bigint::BigInt| x.to_f64().unwrap_or(f64::INFINITY);
        let mut m = Matrix::from_fn(n, n, |i, j| float(&problem.entry(i, j)));
        let mut q: Vec<f64> = problem.q.iter().map(float).collect();
        let (mut row, mut column) = (Vec::new(), Vec::new());
        rows_then_columns(&m, &mut row, &mut column);
        for j in 0..n {
            m.col_mut(j).iter_mut().zip(&row).for_each(|(x, row)| *x = times_power(*x, -row - column[j]));
            q[j] = times_power(q[j], -row[j]);
        }
        let bound = |x: &Option<num_bigint::BigInt>, infinite: f64| x.as_ref().map_or(infinite, float);
        let mut lo: Vec<f64> = problem.lo.iter().map(|x| bound(x, f64::NEG_INFINITY)).collect();
        let mut hi: Vec<f64> = problem.hi.iter().map(|x| bound(x, f64::INFINITY)).collect();
        for j in 0..n {
            lo[j] = times_power(lo[j], column[j]);
            hi[j] = times_power(hi[j], column[j]);
        }
        let fixed = (0..n).map(|i| problem.lo[i].is_some() && problem.lo[i] == problem.hi[i]).collect();
        Self {
            m,
            q,
            lo,
            hi,
            fixed,
            lu: Lu::default(),
            active: Vec::with_capacity(n),
            at_bounds: vec![0.0; n],
            right: Vec::with_capacity(n),
            x: Vec::with_capacity(n),
            error: Vec::with_capacity(n),
            inverse: Matrix::default(),
        }
    }

    /// True if the basis has no solution for certain. False says nothing.
    pub(super) fn excludes(&mut self, basis: &Basis) -> bool {
        self.prepare(basis);
        let (active, m) = (&self.active, &self.m);
        self.lu.factor_with(active.len(), |a, b| m[(active[a], active[b])]);
        if self.lu.pivot_ratio() == 0.0 {
            return false;
        }
        self.x.clear();
        self.x.extend(self.right.iter().map(|r| r.0));
        self.lu.solve(&mut self.x);
        self.error.clear();
        self.error.resize(self.x.len(), 0.0);
        // Only where the approximate solution has a wrong sign is it worth bounding its error.
        self.wrong_for_certain(basis) && self.bound_error() && self.wrong_for_certain(basis)
    }

    /// The active rows, and `b = −(q + M z_β)` for them.
    fn prepare(&mut self, basis: &Basis) {
        self.active.clear();
        self.active.extend(basis.active());
        for i in 0..self.q.len() {
            self.at_bounds[i] = match basis.position(i) {
                Position::Basic => 0.0,
                Position::Lower => self.lo[i],
                Position::Upper => self.hi[i],
            };
        }
        self.right.clear();
        for a in 0..self.active.len() {
            let (sum, size) = self.constant(self.active[a]);
            self.right.push((-sum, rounding(self.q.len()) * size + underflow(self.q.len())));
        }
    }

    /// `(q + M z_β)ᵢ` and the sum of the sizes of its terms.
    fn constant(&self, i: usize) -> (f64, f64) {
        let (mut sum, mut size) = (self.q[i], self.q[i].abs());
        for (j, &z) in self.at_bounds.iter().enumerate() {
            if z != 0.0 {
                sum += self.m[(i, j)] * z;
                size += (self.m[(i, j)] * z).abs();
            }
        }
        (sum, size)
    }

    /// Bounds the error of x entry by entry; false if that cannot be done.
    fn bound_error(&mut self) -> bool {
        let k = self.x.len();
        self.inverse.reset(k, k);
        for j in 0..k {
            self.inverse[(j, j)] = 1.0;
            self.lu.solve(self.inverse.col_mut(j));
        }
        let defect = self.defect();
        if defect.is_nan() || defect > MOST_DEFECT {
            return false;
        }
        for b in 0..k {
            let (mut sum, error_of_right) = self.right[b];
            let mut size = sum.abs();
            for (a, x) in self.x.iter().enumerate() {
                let product = self.m[(self.active[b], self.active[a])] * x;
                sum -= product;
                size += product.abs();
            }
            let residual = sum.abs() + error_of_right + rounding(k) * size + underflow(k);
            for a in 0..k {
                self.error[a] += self.inverse[(a, b)].abs() * residual;
            }
        }
        let largest = self.error.iter().fold(0.0, |l: f64, x| l.max(*x));
        let spread = defect / (1.0 - defect) * largest;
        self.error.iter_mut().for_each(|e| *e = (*e + spread) * (1.0 + rounding(k)) + underflow(k));
        true
    }

    /// An upper bound of `‖I − R A‖∞`.
    fn defect(&self) -> f64 {
        let k = self.x.len();
        let mut worst: f64 = 0.0;
        for a in 0..k {
            let mut row = 0.0;
            for b in 0..k {
                let (mut sum, mut size) = (if a == b { -1.0 } else { 0.0 }, 1.0);
                for c in 0..k {
                    let product = self.inverse[(a, c)] * self.m[(self.active[c], self.active[b])];
                    sum += product;
                    size += product.abs();
                }
                row += sum.abs() + rounding(k) * size + underflow(k);
            }
            worst = if row > worst || row.is_nan() { row } else { worst };
        }
        worst * (1.0 + rounding(k))
    }

    /// True if some z is beyond its bound or some w on the wrong side, whatever the errors within their bounds.
    fn wrong_for_certain(&self, basis: &Basis) -> bool {
        let beyond = |(a, &j): (usize, &usize)| {
            let slack = |bound: f64| self.error[a] + rounding(1) * bound.abs() + underflow(1);
            let (x, lo, hi) = (self.x[a], self.lo[j], self.hi[j]);
            lo.is_finite() && x < lo - slack(lo) || hi.is_finite() && x > hi + slack(hi)
        };
        self.active.iter().enumerate().any(beyond) || (0..self.q.len()).any(|i| self.wrong_side(basis.position(i), i))
    }

    fn wrong_side(&self, position: Position, i: usize) -> bool {
        if position == Position::Basic || self.fixed[i] {
            return false;
        }
        let (mut w, mut size) = self.constant(i);
        let mut error = 0.0;
        for (a, &j) in self.active.iter().enumerate() {
            let entry = self.m[(i, j)];
            w += entry * self.x[a];
            size += (entry * self.x[a]).abs();
            error += entry.abs() * self.error[a];
        }
        let terms = 2 * self.q.len();
        let bound = error * (1.0 + rounding(terms)) + rounding(terms) * size + underflow(terms);
        if position == Position::Lower { w < -bound } else { w > bound }
    }
}

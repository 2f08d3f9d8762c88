//! Elimination of the free rows of a mixed problem `A x + C y + g = 0`, `0 ≤ y ⊥ D x + B y + h ≥ 0`.
//!
//! *A well conditioned*: x = −A⁻¹ (C y + g) leaves the LCP of `F = B − D A⁻¹ C`, `e = h − D A⁻¹ g`.
//! Reference: [Drumwright15, Eqs. 4–7].
//!
//! *A singular, or nearly*: the pivot block is enlarged by complementary rows K so that it becomes regular (a circuit's A is
//! often singular while `[A C_K; D_K B_KK]` is not). That is a principal pivot on the free rows and K: in the LCP that is left,
//! w_K and y_K have changed places. Like every principal pivot it keeps a positive semidefinite matrix so [CPS09, §4.1].
//!
//! *What then remains of A is zero*: an equation without any entry, paired with a variable that nothing depends on, is
//! redundant; it is dropped and the variable set to 0. Whatever else remains is substituted, `x = y − t·1` with `y, t ≥ 0`: the
//! rows of y are the equations, the row of t their negated sum, so all of them are zero in any solution.
//!
//! The pivots are chosen first ([`Choice`]); the reduced data are then computed from that choice anew, refined in twice the working
//! precision.

use super::Tolerances;
use super::choice::Choice;
use crate::basis::{Basis, Position};
use crate::matrix::{Matrix, max_abs};
use crate::problem::Lcp;
use stiction_linalg::doubled::{Doubled, two_sum};
use stiction_linalg::lu::Lu;
use stiction_linalg::power::{exponent, times_power};

/// A reduced number this small beside its terms is zero: a few roundings of the data it came from. What is lost by that is far
/// below any certificate's tolerance; what is gained is that degenerate rows are not infeasible by rounding.
const ENTRY_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Refinement steps of the reduced data at most.
const REFINEMENTS: usize = 5;

/// How the free rows went, and how to get them back.
#[derive(Debug, Clone)]
pub(super) struct Elimination {
    order: usize,
    choice: Choice,
    /// Values of the pivot block's variables, `u = X (v, 1)`: one row per pivot, one column per variable of the LCP and one more.
    x: Matrix,
}

impl Elimination {
    /// The LCP's matrix and vector, and the way back.
    pub(super) fn new(m: &Matrix, q: &[f64], free: &[bool], tolerances: &Tolerances) -> (Matrix, Vec<f64>, Self) {
        let choice = Choice::new(m, q, free, tolerances);
        let block = PivotBlock::new(m, q, &choice, tolerances.refined_zero);
        let (mixed, mixed_q, x) = block.transform(m, q, &choice);
        let (lcp_m, lcp_q) = substitute(&mixed, &mixed_q, &choice);
        let x = substitute_columns(&x, &choice);
        (lcp_m, lcp_q, Self { order: q.len(), choice, x })
    }

    /// True if equations were dropped as redundant.
    pub(super) fn has_dropped(&self) -> bool {
        self.choice.dropped > 0 && self.choice.left_rows.is_empty()
    }

    /// The eliminated equations and free variables, one of each at a time.
    pub(super) fn pivots(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.choice.rows.iter().copied().zip(self.choice.columns.iter().copied())
    }

    /// A basis of the standard form as one of the LCP.
    pub(super) fn start(&self, standard: &Basis) -> Basis {
        let choice = &self.choice;
        let mut basis = Basis::lower(choice.lcp_order());
        for (a, &i) in choice.complementary.iter().enumerate() {
            let basic = standard.position(i) == Position::Basic;
            if basic != choice.flipped.contains(&i) {
                basis.set(a, Position::Basic);
            }
        }
        // Of the substituted variables and t all but one can be basic; t is taken for the last.
        for a in 0..choice.left_rows.len() {
            basis.set(choice.complementary.len() + a, Position::Basic);
        }
        basis
    }

    /// z and basis of the standard form from those of the LCP.
    pub(super) fn recover(&self, lcp: &Lcp, z: &[f64], basis: &Basis) -> (Vec<f64>, Basis) {
        let choice = &self.choice;
        let mut y = vec![0.0; self.order];
        let mut standard = Basis::new(vec![Position::Basic; self.order]);
        for (a, &i) in choice.complementary.iter().enumerate() {
            let flipped = choice.flipped.contains(&i);
            let basic = (basis.position(a) == Position::Basic) != flipped;
            standard.set(i, if basic { Position::Basic } else { Position::Lower });
            y[i] = match (basic, flipped) {
                (false, _) => 0.0,
                (true, false) => z[a],
                (true, true) => row_value(lcp, z, a).max(0.0),
            };
        }
        self.free_values(z, 1.0, &mut y);
        (y, standard)
    }

    /// The direction in the standard form that corresponds to one of the LCP.
    pub(super) fn direction(&self, lcp: &Lcp, direction: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.order];
        for (a, &i) in self.choice.complementary.iter().enumerate() {
            let flipped = self.choice.flipped.contains(&i);
            y[i] = if flipped { row_value(lcp, direction, a) - lcp.q()[a] } else { direction[a] };
        }
        self.free_values(direction, 0.0, &mut y);
        y
    }

    /// The free variables for `(z, constant)`, into `y`.
    fn free_values(&self, z: &[f64], constant: f64, y: &mut [f64]) {
        let choice = &self.choice;
        for (a, &column) in choice.columns.iter().enumerate() {
            let mut sum = Doubled::new(constant * self.x[(a, z.len())]);
            for (b, &zb) in z.iter().enumerate() {
                sum.add_product(self.x[(a, b)], zb);
            }
            y[column] = sum.value();
        }
        let nc = choice.complementary.len();
        if let Some(&t) = z.get(nc + choice.left_columns.len()) {
            for (a, &j) in choice.left_columns.iter().enumerate() {
                y[j] = times_power(z[nc + a] - t, -choice.column_exponent[j]);
            }
        }
    }
}

/// `(M z + q)ₐ`.
fn row_value(lcp: &Lcp, z: &[f64], a: usize) -> f64 {
    let mut sum = Doubled::new(lcp.q()[a]);
    for (b, &zb) in z.iter().enumerate() {
        sum.add_product(lcp.m()[(a, b)], zb);
    }
    sum.value()
}

/// The pivot block `P` of rows (R, K) and columns (C, K), factored.
struct PivotBlock {
    rows: Vec<usize>,
    columns: Vec<usize>,
    lu: Lu,
    /// Power of two that q is divided by while solving.
    q_exponent: i32,
    refined_zero: f64,
}

impl PivotBlock {
    fn new(m: &Matrix, q: &[f64], choice: &Choice, refined_zero: f64) -> Self {
        let rows = [choice.rows.as_slice(), &choice.flipped].concat();
        let columns = [choice.columns.as_slice(), &choice.flipped].concat();
        let mut lu = Lu::default();
        lu.factor_with(rows.len(), |a, b| {
            let (i, j) = (rows[a], columns[b]);
            times_power(m[(i, j)], -choice.row_exponent[i] - choice.column_exponent[j])
        });
        Self { rows, columns, lu, q_exponent: exponent(max_abs(q)), refined_zero }
    }

    /// The mixed problem after the pivot, in the variables `v` = complementary (w_k for k in K), then left-over free ones: its
    /// matrix and vector, and `X` with `u = X (v, 1)` for the eliminated variables (first R, then K).
    fn transform(&self, m: &Matrix, q: &[f64], choice: &Choice) -> (Matrix, Vec<f64>, Matrix) {
        let out_rows = [choice.complementary.as_slice(), &choice.left_rows].concat();
        let variables = [choice.complementary.as_slice(), &choice.left_columns].concat();
        let (k, order) = (self.rows.len(), variables.len());
        let mut result = Matrix::zeros(order, order + 1);
        let mut x_all = Matrix::zeros(k, order + 1);
        let mut rounding = Matrix::zeros(order, order);
        let (mut high, mut low) = (vec![0.0; k], vec![0.0; k]);
        for b in 0..=order {
            let variable = variables.get(b).copied();
            self.solve_column(m, q, choice, variable, &mut high, &mut low);
            x_all.col_mut(b).copy_from_slice(&high);
            for (a, &i) in out_rows.iter().enumerate() {
                let flipped = choice.flipped.iter().position(|&f| f == i);
                let entry = match flipped {
                    Some(f) => high[choice.rows.len() + f],
                    None => {
                        let start = match variable {
                            None => q[i],
                            Some(j) if choice.flipped.contains(&j) => 0.0,
                            Some(j) => m[(i, j)],
                        };
                        let (entry, size) = self.outside(m, i, start, &high, &low);
                        if b < order {
                            rounding[(a, b)] = size;
                        }
                        entry
                    }
                };
                result[(a, b)] = entry;
            }
        }
        let vector = result.col(order).to_vec();
        let mut matrix = Matrix::from_fn(order, order, |i, j| result[(i, j)]);
        if choice.flipped.is_empty() && choice.left_rows.is_empty() {
            symmetrize(&mut matrix, &rounding);
        }
        (matrix, vector, x_all)
    }

    /// `start + Σ M_iκ X_κ` and the size of its terms.
    fn outside(&self, m: &Matrix, i: usize, start: f64, high: &[f64], low: &[f64]) -> (f64, f64) {
        let mut sum = Doubled::new(start);
        let mut size = start.abs();
        for (b, &j) in self.columns.iter().enumerate() {
            let entry = m[(i, j)];
            sum.add_product(entry, high[b]);
            sum.low += entry * low[b];
            size += (entry * high[b]).abs();
        }
        let value = sum.value();
        (if value.abs() <= ENTRY_ROUNDING * size { 0.0 } else { value }, size)
    }

    /// Zeroes what is `noise` beside the largest entry, in scaled units.
    fn clear_noise(&self, choice: &Choice, noise: f64, high: &mut [f64], low: &mut [f64]) {
        let scaled = |b: usize, x: f64| times_power(x.abs(), choice.column_exponent[self.columns[b]]);
        let largest = (0..high.len()).fold(0.0, |m: f64, b| m.max(scaled(b, high[b])));
        for b in 0..high.len() {
            if scaled(b, high[b]) <= noise * largest {
                (high[b], low[b]) = (0.0, 0.0);
            }
        }
    }

    /// One column of X, as high + low: the values of the eliminated variables for a unit of `variable` (for the constant part
    /// where that is `None`). Solves `P u = s − M_ρj` (`s` a unit vector for a flipped variable, `−q_ρ` for the constant part).
    fn solve_column(
        &self,
        m: &Matrix,
        q: &[f64],
        choice: &Choice,
        variable: Option<usize>,
        high: &mut [f64],
        low: &mut [f64],
    ) {
        let k = self.rows.len();
        let shift = if variable.is_none() { self.q_exponent } else { 0 };
        let right: Vec<f64> = (self.rows.iter())
            .map(|&i| match variable {
                None => -times_power(q[i], -shift),
                Some(j) if choice.flipped.contains(&j) => f64::from(u8::from(i == j)),
                Some(j) => -m[(i, j)],
            })
            .collect();
        high.fill(0.0);
        low.fill(0.0);
        let mut step = vec![0.0; k];
        let mut last = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            let mut worst: f64 = 0.0;
            for a in 0..k {
                let mut sum = Doubled::new(right[a]);
                let mut size = right[a].abs();
                for b in 0..k {
                    let entry = m[(self.rows[a], self.columns[b])];
                    sum.add_product(-entry, high[b]);
                    sum.low -= entry * low[b];
                    size += (entry * high[b]).abs();
                }
                let residual = sum.value();
                worst = worst.max(if size > 0.0 { residual.abs() / size } else { 0.0 });
                step[a] = times_power(residual, -choice.row_exponent[self.rows[a]]);
            }
            if worst == 0.0 || worst.is_nan() || worst > 0.5 * last {
                break;
            }
            last = worst;
            self.lu.solve(&mut step);
            for b in 0..k {
                let (sum, error) = two_sum(high[b], times_power(step[b], -choice.column_exponent[self.columns[b]]));
                (high[b], low[b]) = two_sum(sum, error + low[b]);
            }
        }
        let noise = if variable.is_none() { ENTRY_ROUNDING } else { self.refined_zero };
        self.clear_noise(choice, noise, high, low);
        for b in 0..k {
            high[b] = times_power(high[b], shift);
            low[b] = times_power(low[b], shift);
        }
    }
}

/// Makes the matrix symmetric to the last bit if it is so up to the rounding of its terms, whose sizes are given.
fn symmetrize(m: &mut Matrix, size: &Matrix) {
    let n = m.rows();
    let close =
        |i: usize, j: usize| (m[(i, j)] - m[(j, i)]).abs() <= 4.0 * f64::EPSILON * (size[(i, j)] + size[(j, i)]);
    if (0..n).all(|j| (0..j).all(|i| close(i, j))) {
        for j in 0..n {
            for i in 0..j {
                let mean = 0.5 * m[(i, j)] + 0.5 * m[(j, i)];
                m[(i, j)] = mean;
                m[(j, i)] = mean;
            }
        }
    }
}

/// The LCP of a mixed problem whose last rows are free: `x = 2^−c (y − t·1)`.
fn substitute(m: &Matrix, q: &[f64], choice: &Choice) -> (Matrix, Vec<f64>) {
    let (nc, left) = (choice.complementary.len(), choice.left_rows.len());
    if left == 0 {
        return (m.clone(), q.to_vec());
    }
    let order = nc + left + 1;
    let scale_row = |i: usize| if i < nc { 0 } else { -choice.row_exponent[choice.left_rows[i - nc]] };
    let scale_column = |j: usize| if j < nc { 0 } else { -choice.column_exponent[choice.left_columns[j - nc]] };
    let mut out = Matrix::zeros(order, order);
    for j in 0..nc + left {
        for i in 0..nc + left {
            out[(i, j)] = times_power(m[(i, j)], scale_row(i) + scale_column(j));
        }
    }
    let mut vector: Vec<f64> = (0..nc + left).map(|i| times_power(q[i], scale_row(i))).collect();
    for i in 0..nc + left {
        out[(i, order - 1)] = -(nc..nc + left).map(|j| out[(i, j)]).sum::<f64>();
    }
    for j in 0..order {
        out[(order - 1, j)] = -(nc..nc + left).map(|i| out[(i, j)]).sum::<f64>();
    }
    vector.push(-vector[nc..].iter().sum::<f64>());
    (out, vector)
}

/// The columns of X in the variables of the LCP.
fn substitute_columns(x: &Matrix, choice: &Choice) -> Matrix {
    let (nc, left) = (choice.complementary.len(), choice.left_rows.len());
    let order = choice.lcp_order();
    let column = |a: usize, b: usize| times_power(x[(a, nc + b)], -choice.column_exponent[choice.left_columns[b]]);
    Matrix::from_fn(x.rows(), order + 1, |a, b| {
        if b == order {
            x[(a, nc + left)]
        } else if b < nc {
            x[(a, b)]
        } else if b < nc + left {
            column(a, b - nc)
        } else {
            -(0..left).map(|c| column(a, c)).sum::<f64>()
        }
    })
}

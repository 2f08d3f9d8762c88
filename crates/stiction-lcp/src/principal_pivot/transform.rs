//! The principal transform of (M, q): the LCP written for another set of basic variables.
//!
//! With α the rows whose z is basic, `M̄_αα = M_αα⁻¹`, `M̄_αβ = −M_αα⁻¹ M_αβ`, `M̄_βα = M_βα M_αα⁻¹` and
//! `M̄_ββ = M_ββ − M_βα M_αα⁻¹ M_αβ`. So it carries the inverse of the active block, and the rows that a least-index rule reads.
//! A pivot updates it in O(n²); it is computed afresh when it has drifted.
//!
//! Reference: [CPS09, §2.3, Eq. 2.3.9].

use crate::matrix::{Matrix, axpy};
use crate::principal_pivot::Tolerances;
use crate::problem::Lcp;
use crate::work;
use stiction_linalg::elimination::eliminate;
use stiction_linalg::equilibration::balance;
use stiction_linalg::power::times_power;

/// (M̄, q̄) for the rows in `active`, in scaled rows and columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transform {
    tolerances: Tolerances,
    /// M̄, n × n.
    pub m: Matrix,
    /// q̄, n: z of the active rows, w of the others.
    pub q: Vec<f64>,
    /// α.
    pub active: Vec<bool>,
    /// M and q in scaled rows and columns.
    pub m0: Matrix,
    pub q0: Vec<f64>,
    /// Row i of M was divided by 2^row[i], column j by 2^column[j].
    pub row: Vec<i32>,
    pub column: Vec<i32>,
    /// Pivots since (M̄, q̄) was computed afresh.
    pub updates: usize,
    /// The pivot's column, without the pivot.
    others: Vec<f64>,
    wanted: Vec<bool>,
    w: Vec<f64>,
    size: Vec<f64>,
}

impl Transform {
    /// Takes in a problem, nothing active.
    pub(super) fn load(&mut self, problem: &Lcp, tolerances: &Tolerances) {
        let n = problem.n();
        self.tolerances = *tolerances;
        (self.row, self.column) = balance(problem.m());
        let scaled = |i: usize, j: usize| times_power(problem.m()[(i, j)], -self.row[i] - self.column[j]);
        self.m0.reset(n, n);
        for j in 0..n {
            for i in 0..n {
                self.m0[(i, j)] = scaled(i, j);
            }
        }
        self.q0.clear();
        self.q0.extend(problem.q().iter().zip(&self.row).map(|(q, k)| times_power(*q, -k)));
        for vector in [&mut self.w, &mut self.size, &mut self.others] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        self.wanted.clear();
        self.wanted.resize(n, false);
        self.restart();
    }

    /// Back to M and q, nothing active.
    fn restart(&mut self) {
        self.m.copy_from(&self.m0);
        self.q.clear();
        self.q.extend_from_slice(&self.q0);
        self.active.clear();
        self.active.resize(self.q.len(), false);
        self.updates = 0;
    }

    /// Computes (M̄, q̄) afresh for the rows in `wanted`, the largest pivots first. False if that block is singular; then as many
    /// rows as could be are active.
    pub(super) fn refactor(&mut self, wanted: impl Iterator<Item = usize>) -> bool {
        self.wanted.fill(false);
        for i in wanted {
            self.wanted[i] = true;
        }
        self.restart();
        loop {
            crate::interrupt::check();
            let n = self.q.len();
            let left = |i: &usize| self.wanted[*i] && !self.active[*i];
            let Some(r) = (0..n).filter(left).max_by(|a, b| self.quality(*a).total_cmp(&self.quality(*b))) else {
                self.updates = 0;
                return true;
            };
            if self.quality(r) > self.tolerances.tiny_pivot {
                self.pivot(&[r]);
                continue;
            }
            let pair = |s: &usize| left(s) && *s != r;
            let strength = |s: usize| (self.m[(r, s)] * self.m[(s, r)]).abs();
            match (0..n).filter(pair).max_by(|a, b| strength(*a).total_cmp(&strength(*b))) {
                Some(s) if strength(s) > self.tolerances.tiny_pivot => self.pivot(&[r, s]),
                _ => {
                    self.updates = 0;
                    return false;
                }
            }
        }
    }

    /// The diagonal entry of a row as a part of the largest entry of its row.
    fn quality(&self, i: usize) -> f64 {
        let largest = (0..self.q.len()).fold(0.0, |x: f64, j| x.max(self.m[(i, j)].abs()));
        if largest > 0.0 { self.m[(i, i)].abs() / largest } else { 0.0 }
    }

    /// Exchanges z and w of the one or two rows of `block`: `M̄_KK ← M̄_KK⁻¹` and so on. The block must not be singular.
    pub(super) fn pivot(&mut self, block: &[usize]) {
        match *block {
            // Of a pair it is the entries beside the diagonal that are large.
            [r, s] => {
                self.exchange(r, s);
                self.exchange(s, r);
                // Each stands in the other's row and column now.
                let n = self.q.len();
                (0..n).for_each(|i| self.m.as_mut_slice().swap(r * n + i, s * n + i));
                (0..n).for_each(|j| self.m.col_mut(j).swap(r, s));
                self.q.swap(r, s);
            }
            _ => block.iter().for_each(|&r| self.exchange(r, r)),
        }
        for &k in block {
            self.active[k] = !self.active[k];
        }
        self.updates += 1;
    }

    /// Solves row `r` for the variable of column `c`, which takes the place of the row's own, and puts it into the other rows.
    fn exchange(&mut self, r: usize, c: usize) {
        let pivot = self.m[(r, c)];
        self.others.copy_from_slice(self.m.col(c));
        self.others[r] = 0.0;
        eliminate(&mut self.m, r, pivot, &self.others, |j| j != c);
        let head = self.q[r] / pivot;
        axpy(-head, &self.others, &mut self.q);
        self.q[r] = -head;
        (0..self.q.len()).for_each(|j| self.m[(r, j)] *= -1.0);
        let column = self.m.col_mut(c);
        column.copy_from_slice(&self.others);
        column[r] = 1.0;
        column.iter_mut().for_each(|x| *x /= pivot);
    }

    /// The work of exchanging that many rows.
    pub(super) fn pivot_flops(&self, rows: usize) -> u64 {
        rows as u64 * work::product(self.q.len(), self.q.len())
    }

    /// The work of [`Self::sizes`] and [`Self::drift`].
    pub(super) fn check_flops(&self) -> u64 {
        4 * work::product(self.q.len(), self.active.iter().filter(|a| **a).count())
    }

    /// What q̄ᵢ is summed from, as of the last call of [`Self::sizes`].
    pub(super) fn size_of(&self, i: usize) -> f64 {
        self.size[i]
    }

    /// Computes what each q̄ᵢ is summed from: `|qᵢ|` (inactive rows) `+ Σ_α |M̄ᵢⱼ qⱼ|`, where no entry of M̄ counts for less than a
    /// small part of the largest in its row, because that is how well it is known.
    pub(super) fn sizes(&mut self) {
        let n = self.q.len();
        self.w.fill(0.0);
        let mut total = 0.0;
        for i in 0..n {
            self.size[i] = if self.active[i] { 0.0 } else { self.q0[i].abs() };
        }
        for j in (0..n).filter(|j| self.active[*j]) {
            let q = self.q0[j].abs();
            total += q;
            for ((size, largest), m) in self.size.iter_mut().zip(&mut self.w).zip(self.m.col(j)) {
                *size += m.abs() * q;
                *largest = largest.max(m.abs());
            }
        }
        for (size, largest) in self.size.iter_mut().zip(&self.w) {
            *size += self.tolerances.known_entry * largest * total;
        }
    }

    /// What M̄ᵣₛ is summed from. For an entry of the inverse, which is no sum, the largest entry of its row.
    pub(super) fn entry_size(&self, r: usize, s: usize) -> f64 {
        let active = (0..self.q.len()).filter(|j| self.active[*j]);
        if self.active[s] {
            return active.fold(0.0, |x: f64, j| x.max(self.m[(r, j)].abs()));
        }
        let start = if self.active[r] { 0.0 } else { self.m0[(r, s)].abs() };
        active.fold(start, |x, j| x + (self.m[(r, j)] * self.m0[(j, s)]).abs())
    }

    /// How far q̄ is from solving the rows it stands for, the worst row, relative to the largest terms it could have.
    pub(super) fn drift(&mut self) -> f64 {
        let n = self.q.len();
        self.w.copy_from_slice(&self.q0);
        let active = (0..n).filter(|j| self.active[*j]);
        let largest = active.clone().fold(0.0, |x: f64, j| x.max(self.q[j].abs()));
        for i in 0..n {
            self.size[i] = self.q0[i].abs();
        }
        for j in active {
            let z = self.q[j];
            for ((w, size), m) in self.w.iter_mut().zip(&mut self.size).zip(self.m0.col(j)) {
                *w += m * z;
                *size += m.abs() * largest;
            }
        }
        let residual = |i: usize| (self.w[i] - if self.active[i] { 0.0 } else { self.q[i] }).abs();
        let part = |i: usize| if residual(i) == 0.0 { 0.0 } else { residual(i) / self.size[i] };
        (0..n).fold(0.0, |x: f64, i| x.max(part(i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;

    /// Any sequence of pivots ends where a fresh computation does.
    #[test]
    fn updates_agree_with_a_fresh_transform() {
        let mut rng = Rng::new(5);
        let n = 9;
        let m = Matrix::from_fn(n, n, |i, j| rng.normal() + if i == j { 4.0 } else { 0.0 });
        let q: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let problem = Lcp::new(m, q).unwrap();
        let mut updated = Transform::default();
        updated.load(&problem, &Tolerances::default());
        for round in 0..60 {
            let (r, s) = (rng.below(n), rng.below(n));
            if round % 3 == 0 && r != s { updated.pivot(&[r, s]) } else { updated.pivot(&[r]) }
        }
        assert!(updated.drift() < 1e-10, "{:e}", updated.drift());
        let mut fresh = Transform::default();
        fresh.load(&problem, &Tolerances::default());
        assert!(fresh.refactor((0..n).filter(|i| updated.active[*i])));
        assert_eq!(fresh.active, updated.active);
        for (a, b) in fresh.m.as_slice().iter().zip(updated.m.as_slice()) {
            assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

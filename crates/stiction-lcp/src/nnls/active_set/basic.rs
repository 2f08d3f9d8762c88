//! The linear algebra of a basis: its factor, its minimizer, and the refinement of that.

use crate::matrix::dot;
use crate::nnls::active_set::{ActiveSet, State};
use stiction_linalg::doubled::{add_products, dot2};

/// Refinement steps of an established basis at most.
const REFINEMENTS: usize = 6;

impl ActiveSet {
    /// Builds factor and base anew from the states; what cannot be basic is put aside.
    pub(crate) fn establish_basis(&mut self) {
        self.order.clear();
        for pass in [true, false] {
            for j in 0..self.data.n() {
                if matches!(self.state[j], State::Basic | State::Parked) && self.is_free(j) == pass {
                    self.order.push(j);
                }
            }
        }
        self.qr.clear();
        self.stats.refactorizations += 1;
        for a in 0..self.order.len() {
            let j = self.order[a];
            let basic = self.qr.append(self.data.g.col(j), j);
            self.state[j] = if basic { State::Basic } else { self.nearest_bound(j) };
        }
        self.rebuild_base();
    }

    /// `base ← u + Σ gⱼ zⱼ` over the nonbasic columns, with their z on its bound, in twice the working precision.
    pub(super) fn rebuild_base(&mut self) {
        self.base.copy_from_slice(&self.data.u);
        self.base_low.fill(0.0);
        for j in 0..self.data.n() {
            match self.state[j] {
                State::Basic => continue,
                State::Lower => self.z[j] = self.data.lo[j],
                State::Upper => self.z[j] = self.data.hi[j],
                State::Parked => self.z[j] = 0.0,
            }
            if self.z[j] != 0.0 {
                add_products(self.z[j], self.data.g.col(j), &mut self.base, &mut self.base_low);
            }
        }
    }

    /// The minimizer over the basic columns: `R z = R⁻ᵀ η_α − Qᵀ base`, and its `r = G z + u`.
    pub(crate) fn solve_basic(&mut self) {
        let k = self.qr.len();
        let (target, dual) = (&mut self.target[..k], &mut self.dual[..k]);
        for (x, &j) in dual.iter_mut().zip(self.qr.columns()) {
            *x = self.data.eta[j];
        }
        self.qr.solve_rt(dual);
        self.qr.mul_qt_into(&self.base, target);
        for (x, p) in target.iter_mut().zip(dual.iter()) {
            *x = p - *x;
        }
        self.qr.solve_r(target);
        self.r.copy_from_slice(&self.base);
        self.qr.project_out(&mut self.r);
        self.qr.add_q(dual, &mut self.r);
    }

    /// Newton steps `z_α ← z_α − R⁻¹ R⁻ᵀ w_α` with w in twice the working precision, while the worst row gets better.
    pub(super) fn refine(&mut self) {
        let k = self.qr.len();
        let mut last = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            let worst = self.basic_error();
            if worst.is_nan() || worst >= last {
                self.target.copy_from_slice(&self.dual);
                self.sum_up();
                return;
            }
            if worst == 0.0 || worst > 0.5 * last {
                return;
            }
            last = worst;
            self.dual.copy_from_slice(&self.target);
            let step = &mut self.work[..k];
            self.qr.solve_rt(step);
            self.qr.solve_r(step);
            for (z, step) in self.target.iter_mut().zip(step.iter()) {
                *z -= step;
            }
        }
    }

    /// `work ← w` of the basic rows at the target, in twice the working precision; returns the largest |wᵢ| as a
    /// part of `|eᵢ| + Σ |Mᵢⱼ zⱼ|` over the basic columns.
    fn basic_error(&mut self) -> f64 {
        self.sum_up();
        let (data, columns, sizes) = (&self.data, self.qr.columns(), &mut self.sizes);
        sizes.clear();
        sizes.resize(columns.len(), 0.0);
        for (a, &i) in columns.iter().enumerate() {
            crate::interrupt::check();
            let column = data.g.col(i);
            self.work[a] = dot2(-data.eta[i], column, &self.r) + dot(column, &self.low);
            // M is symmetric.
            for (b, &j) in columns[..=a].iter().enumerate() {
                let entry = dot(column, data.g.col(j));
                sizes[a] += (entry * self.target[b]).abs();
                if b < a {
                    sizes[b] += (entry * self.target[a]).abs();
                }
            }
        }
        let part =
            |((&i, &w), size): ((&usize, &f64), &f64)| if w == 0.0 { 0.0 } else { w.abs() / (data.e[i].abs() + size) };
        columns.iter().zip(&self.work).zip(&*sizes).map(part).fold(0.0, f64::max)
    }

    /// `r + low ← base + Σ gⱼ zⱼ` over the basic columns at the target, in twice the working precision.
    fn sum_up(&mut self) {
        self.r.copy_from_slice(&self.base);
        self.low.copy_from_slice(&self.base_low);
        for (&j, z) in self.qr.columns().iter().zip(&self.target) {
            add_products(*z, self.data.g.col(j), &mut self.r, &mut self.low);
        }
    }

    /// The minimizer with the newest column `i`, as a step from z, where w of the others vanishes: `RᵀR Δz = (0, …, 0, −wᵢ)`.
    /// Unlike [`Self::solve_basic`] it cannot lose the sign of a tiny step in the rounding of large sums.
    pub(super) fn step_to(&mut self, i: usize) {
        let k = self.qr.len();
        let step = &mut self.work[..k];
        step.fill(0.0);
        step[k - 1] = -self.w[i];
        self.qr.solve_rt(step);
        self.qr.solve_r(step);
        for (a, &j) in self.qr.columns().iter().enumerate() {
            self.target[a] = self.z[j] + step[a];
        }
    }
}

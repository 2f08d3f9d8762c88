//! Columns in the span of the basic ones: they enter along a null direction.

use crate::matrix::{axpy, norm};
use crate::nnls::active_set::{ActiveSet, Entered, State};

impl ActiveSet {
    /// A column in the span of the basic ones: moves along the null direction `dᵢ = ±1`, `G d = 0`, along which the
    /// objective falls at the constant rate |wᵢ|, until a bound stops it.
    pub(super) fn enter_dependent(&mut self, i: usize, side: f64, sharp: bool) -> Entered {
        if !sharp && !self.is_real(i) {
            return Entered::Rejected;
        }
        self.null_direction(i, side);
        let Some((step, blocking)) = self.null_step(i) else { return Entered::Ray };
        let k = self.qr.len();
        for a in 0..k {
            let j = self.qr.columns()[a];
            self.z[j] += step * self.direction[j];
        }
        axpy(-self.z[i], self.data.g.col(i), &mut self.base);
        self.z[i] += step * side;
        if blocking == i {
            self.state[i] = if side > 0.0 { State::Upper } else { State::Lower };
            self.settle(i);
            self.count(i, Some(i));
        } else {
            let at = self.qr.columns().iter().position(|&j| j == blocking).unwrap_or(k - 1);
            let bound = if self.direction[blocking] < 0.0 { State::Lower } else { State::Upper };
            self.leave(at, bound);
            self.state[i] = State::Basic;
            if !self.qr.append(self.data.g.col(i), i) {
                self.state[i] = self.nearest_bound(i);
                self.settle(i);
            }
            self.count(i, Some(blocking));
        }
        self.solve_basic();
        self.walk();
        Entered::Yes
    }

    /// True if w of the dependent column `i` is more than what the dependence test lets through.
    pub(crate) fn is_real(&self, i: usize) -> bool {
        let leak = self.data.dependent * self.data.length[i] * norm(&self.r);
        self.w[i].abs() > leak + self.tolerances.sign * self.row_size(i, self.magnitude())
    }

    /// `direction ← d` with `dᵢ = side`, `d_α = −side R⁻¹ Qᵀ gᵢ`, zero elsewhere.
    fn null_direction(&mut self, i: usize, side: f64) {
        let k = self.qr.len();
        let x = &mut self.work[..k];
        self.qr.mul_qt_into(self.data.g.col(i), x);
        self.qr.solve_r(x);
        let largest = x.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        self.direction.fill(0.0);
        self.direction[i] = side;
        for (x, &j) in x.iter().zip(self.qr.columns()) {
            self.direction[j] = if x.abs() > self.tolerances.null_entry * largest { -side * x } else { 0.0 };
        }
    }

    /// The longest step along `direction`, and the column that stops it; `None` if nothing does.
    fn null_step(&self, i: usize) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for &j in self.qr.columns().iter().chain([&i]) {
            let d = self.direction[j];
            let room = if d < 0.0 { self.data.lo[j] - self.z[j] } else { self.data.hi[j] - self.z[j] };
            if d != 0.0 && room.is_finite() {
                let step = (room / d).max(0.0);
                if best.is_none_or(|(s, _)| step < s) {
                    best = Some((step, j));
                }
            }
        }
        best
    }
}

//! From the driven z to the returned one: z on C solves one linear system, refined with the factor at hand.

use super::drive::Driver;
use super::index_sets::Place;
use crate::basis::{Basis, Position};
use crate::interrupt;
use crate::outcome::Variable;
use stiction_linalg::doubled::{two_product, two_sum};

/// Refinement steps in twice the working precision, at most.
const REFINEMENTS: usize = 4;

impl Driver {
    /// One step of refinement in working precision: `z_C ← z_C − M_CC⁻¹ w_C`.
    pub(super) fn refine_plainly(&mut self) {
        self.x.clear();
        for p in 0..self.sets.clamped().len() {
            interrupt::check_at(p);
            self.x.push(self.w_of(self.sets.clamped()[p]));
        }
        self.factor.solve(&mut self.x);
        for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
            self.z[i] -= x;
        }
    }

    /// Refinement with residuals in twice the working precision, and z carried in twice, until it no longer helps.
    pub(super) fn refine(&mut self) {
        self.dz.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            self.x.clear();
            let mut worst: f64 = 0.0;
            for (p, &i) in self.sets.clamped().iter().enumerate() {
                interrupt::check_at(p);
                let (w, size) = doubled_w(self.problem.row(i), self.problem.q[i], &self.z, &self.dz);
                worst = worst.max(if size > 0.0 { w.abs() / size } else { 0.0 });
                self.x.push(w);
            }
            if worst == 0.0 || worst.is_nan() || worst > 0.5 * last {
                break;
            }
            last = worst;
            self.factor.solve(&mut self.x);
            for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
                let (high, error) = two_sum(self.z[i], -x);
                (self.z[i], self.dz[i]) = two_sum(high, error + self.dz[i]);
            }
        }
    }

    /// The z of the problem as it was given, within its bounds.
    pub(super) fn answer(&self) -> Vec<f64> {
        (0..self.problem.n)
            .map(|i| self.problem.unscaled(i, self.z[i].clamp(self.problem.lo[i], self.problem.hi[i])))
            .collect()
    }

    /// The direction of an infinite step, for the problem as it was given.
    pub(super) fn direction(&self) -> Vec<f64> {
        (0..self.problem.n).map(|i| self.problem.unscaled(i, self.dz[i])).collect()
    }

    /// The basis that the index sets stand for.
    pub(super) fn basis(&self) -> Basis {
        let position = |i: usize| match self.sets.place(i) {
            Place::Lower => Position::Lower,
            Place::Upper => Position::Upper,
            Place::Clamped if !self.problem.symmetric => Position::Basic,
            // A clamped row that stands exactly at a bound is as well described by that: M_CC stays regular without it.
            Place::Clamped | Place::Redundant | Place::Ignored => match self.bound_reached(i) {
                Some(Place::Upper) => Position::Upper,
                Some(_) => Position::Lower,
                None => Position::Basic,
            },
        };
        Basis::new((0..self.problem.n).map(position).collect())
    }

    /// Makes z a possible start again: C without the rows whose z is outside of its bounds, or at one to rounding.
    pub(super) fn repair(&mut self) {
        self.clear_accepted_errors();
        loop {
            self.refine_plainly();
            let largest = self.sets.clamped().iter().fold(0.0, |m, &i| f64::max(m, self.z[i].abs()));
            match self.furthest_outside() {
                Some((p, beyond)) if beyond > -self.tolerances.at_bound * largest => {
                    let i = self.sets.clamped()[p];
                    self.drop_clamped(p);
                    // A limit reached here ends the next drive.
                    let _ = self.count(Variable::W(i), Variable::Z(i), 0.0);
                }
                _ => return,
            }
        }
    }

    /// The position in C of the z that is furthest beyond its bounds, and how far; negative if it is within.
    fn furthest_outside(&self) -> Option<(usize, f64)> {
        let all = self.sets.clamped().iter().map(|&i| self.beyond(i)).enumerate();
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// How far `zᵢ` is beyond its bounds; negative if it is within.
    pub(super) fn beyond(&self, i: usize) -> f64 {
        (self.problem.lo[i] - self.z[i]).max(self.z[i] - self.problem.hi[i])
    }
}

/// `q + (row · (z + low))` in twice the working precision, and the size of its terms.
fn doubled_w(row: &[f64], q: f64, z: &[f64], low: &[f64]) -> (f64, f64) {
    let (mut high, mut rest, mut size) = (q, 0.0, q.abs());
    for ((m, z), low) in row.iter().zip(z).zip(low) {
        if *z != 0.0 {
            let (product, product_error) = two_product(*m, *z);
            let (sum, sum_error) = two_sum(high, product);
            high = sum;
            rest += product_error + sum_error + m * low;
            size += product.abs();
        }
    }
    (high + rest, size)
}

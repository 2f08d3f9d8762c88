//! Which rows do not meet their conditions.

use super::drive::Driver;
use super::index_sets::Place;

impl Driver {
    /// Makes ready for [`Driver::violation`] of many rows at the present z.
    pub(super) fn refresh(&mut self) {
        self.z_sum = self.z.iter().map(|z| z.abs()).sum();
        self.problem.refresh(&self.z);
    }

    /// wᵢ if row `i`, outside of C, does not meet its conditions at the present z.
    pub(super) fn violation(&self, i: usize) -> Option<f64> {
        if self.sets.place(i) == Place::Clamped {
            return None;
        }
        let (at_lo, at_hi) = (self.z[i] == self.problem.lo[i], self.z[i] == self.problem.hi[i]);
        if at_lo && at_hi {
            return None;
        }
        let w = self.w_of(i);
        let holds = at_lo && w >= 0.0 || at_hi && w <= 0.0;
        if holds || self.accepted_error[i] > 0.0 && w.abs() <= self.accepted_error[i] { None } else { Some(w) }
    }

    /// [`Self::violation`], unless it may come from rounding.
    pub(super) fn clear_violation(&mut self, i: usize) -> Option<f64> {
        let w = self.violation(i)?;
        self.problem.form(i);
        let noise = self.tolerances.violated_row;
        let clear = self.sets.place(i) == Place::Ignored && self.bound_reached(i).is_none()
            || w.abs() > noise * self.problem.most(i, self.z_sum)
            || w.abs() > noise * self.problem.size(i, &self.z);
        clear.then_some(w)
    }

    /// `wᵢ`, which is qᵢ as long as z is zero.
    pub(super) fn w_of(&self, i: usize) -> f64 {
        if self.at_start && self.z_sum == 0.0 { self.problem.q[i] } else { self.problem.w(i, &self.z) }
    }

    /// Looks again at rows whose error was accepted as rounding.
    pub(super) fn clear_accepted_errors(&mut self) {
        self.accepted_error.fill(0.0);
    }

    /// The bound that `zᵢ` stands at, if any; the lower one if both are the same.
    pub(super) fn bound_reached(&self, i: usize) -> Option<Place> {
        if self.z[i] == self.problem.lo[i] {
            Some(Place::Lower)
        } else if self.z[i] == self.problem.hi[i] {
            Some(Place::Upper)
        } else {
            None
        }
    }
}

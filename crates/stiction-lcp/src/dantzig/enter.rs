//! Rows that enter C, or leave it, without being driven: at the start, from a basis, in a repair.

use super::drive::{Driver, Halt, gather};
use super::index_sets::Place;
use crate::outcome::Variable;

/// Rows that enter C in a group do so in this order: the part of the column that is not in the span of C, squared,
/// above this. The last time all are let in that are not dependent to rounding.
pub(super) const INDEPENDENCE: [f64; 4] = [1e-2, 1e-4, 1e-8, 0.0];

impl Driver {
    /// Factors `M_CC` from scratch.
    ///
    /// # Errors
    /// `Halt::Numerical` if a row was lost to rounding; it is ignored from now on, and z does not solve the rows of C.
    pub(super) fn refactor(&mut self) -> Result<(), Halt> {
        self.stats.refactorizations += 1;
        self.waiting.clear();
        self.waiting.extend_from_slice(self.sets.clamped());
        if self.install() { Ok(()) } else { Err(Halt::Numerical("the factor of the clamped rows")) }
    }

    /// C becomes the rows of [`Driver::waiting`], as far as their columns are independent: a free row is then
    /// redundant, any other one ignored. True if all others were taken.
    pub(super) fn install(&mut self) -> bool {
        let n = self.problem.n;
        self.factor.reset(n, self.problem.symmetric);
        while !self.sets.clamped().is_empty() {
            self.sets.take_clamped(self.sets.clamped().len() - 1);
        }
        for &i in &self.waiting {
            self.sets.release(i);
        }
        for least in INDEPENDENCE {
            for at in 0..self.waiting.len() {
                let i = self.waiting[at];
                if self.sets.place(i) == Place::Ignored {
                    self.problem.form(i);
                    self.enter(i, least);
                }
            }
        }
        self.waiting.iter().all(|&i| self.sets.place(i) != Place::Ignored)
    }

    /// Row `i` enters C if its column is independent enough. If not, it waits, and a free row that waited in vain is
    /// redundant.
    fn enter(&mut self, i: usize, least: f64) {
        if least > 0.0 {
            if self.independence(i) > least && self.factor.append(&self.border).is_ok() {
                self.sets.clamp(i);
            }
            return;
        }
        self.fdirection(i);
        if !self.flat && self.factor.append(&self.border).is_ok() {
            self.sets.clamp(i);
        } else if self.problem.is_free(i) {
            self.accepted_error[i] = self.rounding(i);
            self.sets.set_redundant(i);
        }
    }

    /// The `rows` enter an empty C as far as their columns are clearly independent, and those whose z comes out
    /// beyond a bound are set there, until there are none.
    pub(super) fn enter_together(&mut self, rows: impl Iterator<Item = usize>) -> Result<(), Halt> {
        for i in rows {
            crate::interrupt::check();
            self.problem.form(i);
            self.enter(i, INDEPENDENCE[0]);
        }
        let mut before = usize::MAX;
        while self.sets.clamped().len() < before {
            before = self.sets.clamped().len();
            self.refine_plainly();
            self.at_start = false;
            for p in (0..before).rev() {
                // Dropping one may lose others to rounding.
                if self.sets.clamped().get(p).is_some_and(|&i| self.beyond(i) > 0.0) {
                    self.drop_clamped(p);
                }
            }
        }
        for p in 0..self.sets.clamped().len() {
            let i = self.sets.clamped()[p];
            self.count(Variable::Z(i), Variable::W(i), 0.0)?;
        }
        Ok(())
    }

    /// |pivot| that row `d` would enter C with, in units of the largest entries: 1 if it has nothing to do with C, 0
    /// if it depends on it.
    pub(super) fn independence(&mut self, d: usize) -> f64 {
        gather(&self.problem, &self.sets, d, &mut self.border);
        self.factor.border(&mut self.border);
        self.border.pivot.abs()
    }

    /// Takes the row at position `p` out of C and puts it at its nearest bound, ignored.
    pub(super) fn drop_clamped(&mut self, p: usize) {
        let i = self.sets.take_clamped(p);
        let (lo, hi) = (self.problem.lo[i], self.problem.hi[i]);
        self.z[i] = if self.z[i] - lo <= hi - self.z[i] { lo } else { hi };
        if self.factor.remove(p).is_err() {
            // A row that is lost here is ignored like the one that was dropped.
            let _ = self.refactor();
        }
    }
}

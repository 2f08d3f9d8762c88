//! Rows whose column depends on C: they cannot enter it, and where they lead to.

use super::drive::{Driver, Halt};
use super::index_sets::Place;
use super::step::{Limit, MaxStep};

impl Driver {
    /// What `w_d`, which follows from w on C, can be by rounding: its own, and that of the rows it follows from.
    pub(super) fn rounding(&self, d: usize) -> f64 {
        let size = |i: usize| self.problem.size(i, &self.z);
        let own = self.tolerances.dependent_row * size(d);
        if self.w[d].abs() <= own {
            return own;
        }
        let following = self.sets.clamped().iter().zip(&self.x).map(|(&i, x)| x.abs() * size(i));
        own + self.tolerances.dependent_row * following.sum::<f64>()
    }

    /// `w_d` is zero and the column of d depends on C: d cannot enter it. If z_d is not at a bound, follow the
    /// direction, along which no w changes, until z_d is, or until a row of C is and d can take its place. If there
    /// is no bound within reach, z_d stays where it is.
    pub(super) fn settle(&mut self, d: usize) -> Result<(), Halt> {
        loop {
            crate::interrupt::check();
            if let Some(at) = self.bound_reached(d) {
                self.accepted_error[d] = self.rounding(d);
                self.sets.unclamp(d, at);
                return Ok(());
            }
            if !self.flat {
                return self.clamp_driven(d);
            }
            let Some((sign, s, limit)) = self.flat_step(d) else {
                self.accepted_error[d] = self.rounding(d);
                self.sets.set_redundant(d);
                return Ok(());
            };
            self.advance(d, sign, s);
            match limit {
                Limit::Clamped(p) => {
                    self.unclamp(p, sign)?;
                    self.fdirection(d);
                }
                _ => return self.unclamp_driven(d, sign),
            }
        }
    }

    /// The shorter of the two ways along the flat direction, with its sign; `None` if neither ends within reach.
    fn flat_step(&mut self, d: usize) -> Option<(f64, f64, Limit)> {
        self.dw[d] = 0.0;
        for &j in self.sets.unclamped() {
            self.dw[j] = 0.0;
        }
        let way = |sign: f64| {
            let mut step = MaxStep::new(false, &self.tolerances);
            self.offer_bounds(d, sign, &mut step);
            step.choose().map(|(s, limit)| (sign, s, limit))
        };
        let shorter = match (way(-1.0), way(1.0)) {
            (Some(back), Some(on)) => Some(if back.1 <= on.1 { back } else { on }),
            (back, on) => back.or(on),
        };
        let size = |i: usize| self.z[i].abs() + self.problem.q[i].abs();
        let reach = self.tolerances.reach * self.sets.clamped().iter().map(|&i| size(i)).fold(size(d), f64::max);
        shorter.filter(|(_, s, _)| s * self.length <= reach)
    }

    /// Before a step is called infinite, the ignored rows that are satisfied may limit it too. True if there were any.
    pub(super) fn take_in_ignored(&mut self, d: usize) -> bool {
        if self.flat && self.problem.symmetric {
            return false;
        }
        let mut any = false;
        for i in 0..self.problem.n {
            if i != d && self.sets.place(i) == Place::Ignored && self.clear_violation(i).is_none() {
                let Some(at) = self.bound_reached(i) else { continue };
                self.problem.form(i);
                self.w[i] = self.problem.w(i, &self.z);
                self.sets.unclamp(i, at);
                any = true;
            }
        }
        any
    }

    /// What an infinite step supports, in words; `None` if it can only come from rounding.
    pub(super) fn claim(&self) -> Option<&'static str> {
        if !self.problem.symmetric {
            return Some("the driven z grows without end; for a matrix that is not symmetric this proves nothing");
        }
        if !self.flat {
            return Some("the driven w falls as its z grows: M is not positive semidefinite, and this proves nothing");
        }
        let noise = self.noise.sqrt();
        let still = |i: usize| {
            crate::interrupt::check();
            self.problem.row_is_still(i, &self.dz, noise)
        };
        (0..self.problem.n).all(still).then_some(
            "M d is zero to rounding and qᵀ d < 0: for positive semidefinite M, d is a Farkas vector, \
             and there is no solution",
        )
    }
}

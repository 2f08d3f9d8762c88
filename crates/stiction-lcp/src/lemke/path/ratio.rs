//! Which variable leaves: the ratio test, and what breaks its ties.

use super::{Basic, NONE, Path, Variable};
use crate::lemke::lanes::{largest, least_ratio};

/// A variable that blocks, with the rate at which it falls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tied {
    variable: Basic,
    fall: f64,
    key: f64,
}

impl Path {
    /// The first pivot: z₀ enters until every basic variable is non-negative; the last to become so leaves.
    pub(super) fn most_negative(&mut self) -> Option<Basic> {
        self.tied.clear();
        let mut needed = 0.0f64;
        for (_, value, rate) in self.basics() {
            if value < 0.0 && rate > 0.0 {
                needed = needed.max(-value / rate);
            }
        }
        let slack = self.tuning.tolerances.tie * needed;
        let mut tied = std::mem::take(&mut self.tied);
        for (variable, value, rate) in self.basics() {
            if rate > 0.0 && -value / rate >= needed - slack {
                // Seen from the other side: falling z₀ brings this variable to zero first.
                tied.push(Tied { variable, fall: rate, key: 0.0 });
            }
        }
        self.tied = tied;
        self.break_tie(true)
    }

    /// All basic variables with value and rate: z by kernel place, then w by row. The artificial one included.
    fn basics(&self) -> impl Iterator<Item = (Basic, f64, f64)> + '_ {
        let z = (0..self.kernel.len()).map(|p| (Basic::Z(p), self.z[p], self.z_rate[p]));
        let w = (0..self.n)
            .filter(|i| self.kernel.row_position(*i) == NONE)
            .map(|i| (Basic::W(i), self.w[i], self.w_rate[i]));
        z.chain(w)
    }

    /// The variable that blocks first as the entering one grows; `None` on a ray. z₀ wins ties, then the lexicographic rule.
    pub(super) fn ratio_test(&mut self, entering: Variable) -> Option<Basic> {
        let kp = self.kernel.padded_len();
        let (z, w) = ((&self.z[..kp], &self.z_rate[..kp]), (&self.w[..], &self.w_rate[..]));
        let (largest, fastest) = largest(z, w);
        let fastest = fastest.max(1.0);
        let floor = self.tuning.tolerances.pivot * fastest;
        let mut step = least_ratio(z, w, |_| floor, |_| floor);
        if step < f64::INFINITY {
            self.near = self.tuning.tolerances.tie * (largest + step * fastest).max(f64::MIN_POSITIVE);
            self.collect_tied(step, |_| floor, |_| floor);
        } else {
            step = self.careful_step(entering, largest, fastest);
        }
        if step == f64::INFINITY {
            return None;
        }
        let fastest_tied = self.tied.iter().fold(0.0, |m: f64, t| m.max(t.fall));
        let enough = self.tuning.tolerances.tied_pivot * fastest_tied;
        self.tied.retain(|t| t.fall >= enough);
        let z0 = Basic::Z(self.kernel.col_position(self.n));
        if self.tied.iter().any(|t| t.variable == z0) {
            return Some(z0);
        }
        self.break_tie(step * fastest > self.near)
    }

    /// The step and the tied variables again with a floor for each rate; ∞ on a ray.
    fn careful_step(&mut self, entering: Variable, largest: f64, fastest: f64) -> f64 {
        let kp = self.kernel.padded_len();
        self.measure_floors(entering);
        let (z_floor, w_floor) = (std::mem::take(&mut self.z_floor), std::mem::take(&mut self.w_floor));
        let (z, w) = ((&self.z[..kp], &self.z_rate[..kp]), (&self.w[..], &self.w_rate[..]));
        let step = least_ratio(z, w, |p| z_floor[p], |i| w_floor[i]);
        if step < f64::INFINITY {
            self.near = self.tuning.tolerances.tie * (largest + step * fastest).max(f64::MIN_POSITIVE);
            self.collect_tied(step, |p| z_floor[p], |i| w_floor[i]);
        }
        (self.z_floor, self.w_floor) = (z_floor, w_floor);
        step
    }

    /// Floors from the rounding of each rate, where one floor for all finds nothing that falls: rates may differ by more
    /// orders of magnitude than a number has digits, and a ray must not be claimed for that.
    fn measure_floors(&mut self, entering: Variable) {
        let k = self.kernel.len();
        self.multiply_direction(entering);
        self.check_rows(entering);
        self.refine_direction(entering);
        self.clear_kernel_rates();
        for p in 0..k {
            self.z_floor[p] = self.tuning.tolerances.rate_correction * self.correction[p].abs();
        }
        match entering {
            Variable::W(_) => self.w_floor.fill(0.0),
            _ => {
                let s = self.column_of(entering);
                for (floor, x) in self.w_floor.iter_mut().zip(self.m.col(s)) {
                    *floor = self.tuning.tolerances.pivot * x.abs();
                }
            }
        }
        for p in 0..k {
            let size = self.tuning.tolerances.pivot * self.z_rate[p].abs();
            for (floor, x) in self.w_floor.iter_mut().zip(self.m.col(self.kernel.cols[p])) {
                *floor += size * x.abs();
            }
        }
    }

    /// Collects the variables that this step brings to zero, up to rounding.
    fn collect_tied(&mut self, step: f64, z_floor: impl Fn(usize) -> f64, w_floor: impl Fn(usize) -> f64) {
        let (k, near) = (self.kernel.len(), self.near);
        self.tied.clear();
        for (p, (value, rate)) in self.z[..k].iter().zip(&self.z_rate).enumerate() {
            if *rate < -z_floor(p) && value + step * rate <= near {
                self.tied.push(Tied { variable: Basic::Z(p), fall: -rate, key: 0.0 });
            }
        }
        for (i, (value, rate)) in self.w.iter().zip(&self.w_rate).enumerate() {
            if *rate < -w_floor(i) && value + step * rate <= near {
                self.tied.push(Tied { variable: Basic::W(i), fall: -rate, key: 0.0 });
            }
        }
    }

    /// One of the tied variables: the one that falls fastest, which is the soundest pivot. When that leads nowhere for many pivots
    /// in a row, the lexicographic rule takes over until the path moves again.
    fn break_tie(&mut self, moves: bool) -> Option<Basic> {
        if moves {
            self.stalled = 0;
            self.anchor.clear();
        } else {
            self.stalled += 1;
            if self.stalled > self.tuning.patience && self.anchor.is_empty() {
                self.set_anchor();
            }
        }
        if self.anchor.is_empty() {
            return self.tied.iter().reduce(|a, b| if b.fall > a.fall { b } else { a }).map(|t| t.variable);
        }
        self.lexicographic()
    }

    /// Anchors the perturbation at the present basis: its variables are lifted by ε₁ ≫ ε₂ ≫ … > 0.
    fn set_anchor(&mut self) {
        self.anchor.extend(self.kernel.cols.iter().map(|j| match *j {
            j if j == self.n => Variable::Artificial,
            j => Variable::Z(j),
        }));
        self.anchor.extend((0..self.n).filter(|i| self.kernel.row_position(*i) == NONE).map(Variable::W));
    }

    /// The lexicographic rule: of the tied variables the one that would block first in the perturbed problem. No basis comes
    /// twice. Reference: [CPS09, §4.9].
    fn lexicographic(&mut self) -> Option<Basic> {
        for a in 0..self.anchor.len() {
            if self.tied.len() <= 1 {
                break;
            }
            let lifted = self.anchor[a];
            match self.place_of(lifted) {
                // ε lifts this variable and no other.
                Some(basic) => self.tied.retain(|t| t.variable != basic),
                None => self.keep_least_lifted(lifted),
            }
        }
        self.tied.first().map(|t| t.variable)
    }

    /// Where a variable stands among the basic ones; `None` if it is nonbasic.
    fn place_of(&self, variable: Variable) -> Option<Basic> {
        match variable {
            Variable::W(i) => (self.kernel.row_position(i) == NONE).then_some(Basic::W(i)),
            _ => match self.kernel.col_position(self.column_of(variable)) {
                NONE => None,
                p => Some(Basic::Z(p)),
            },
        }
    }

    /// Keeps those of the tied variables that the perturbation of a nonbasic variable lifts least: all basic variables move by
    /// minus their rates with that variable entering.
    fn keep_least_lifted(&mut self, lifted: Variable) {
        let mut lift_of_z = std::mem::take(&mut self.correction);
        let column = match lifted {
            Variable::W(i) => {
                let p = self.kernel.row_position(i);
                lift_of_z[..self.kernel.padded_len()].copy_from_slice(self.kernel.inverse_col(p));
                lift_of_z.iter_mut().for_each(|x| *x = -*x);
                None
            }
            _ => {
                let j = self.column_of(lifted);
                for (b, &i) in self.rhs.iter_mut().zip(&self.kernel.rows) {
                    *b = self.m.at(i, j);
                }
                self.kernel.solve_into(&self.rhs, &mut lift_of_z);
                Some(j)
            }
        };
        let (mut least, mut size) = (f64::INFINITY, 0.0f64);
        for t in &mut self.tied {
            let lift = match t.variable {
                Basic::Z(c) => lift_of_z[c],
                Basic::W(i) => {
                    let direct = column.map_or(0.0, |j| -self.m.at(i, j));
                    self.kernel.cols.iter().zip(&lift_of_z).fold(direct, |sum, (&j, x)| sum + x * self.m.at(i, j))
                }
            };
            t.key = lift / t.fall;
            least = least.min(t.key);
            size = size.max(t.key.abs());
        }
        let near = least + self.tuning.tolerances.tie * size;
        self.tied.retain(|t| t.key <= near);
        self.correction = lift_of_z;
    }
}

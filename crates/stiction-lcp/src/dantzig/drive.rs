//! `drive_to_zero`, `fdirection` and `maxstep`. Reference: [Baraff94, §4.3].

use super::Tolerances;
use super::index_sets::{IndexSets, Place};
use super::scaled::Scaled;
use super::step::{Limit, MaxStep};
use crate::matrix::dot;
use crate::outcome::{Stats, TraceLine, Variable};
use crate::work;
use stiction_linalg::incremental_factor::{Border, IncrementalFactor, LostPivot};

/// Rounding of a pivot in units of `ε (k + NOISE_ROWS) (1 + ‖x‖₁)²`: the factor is exact for a matrix within ε k of
/// the given one, entry by entry in units of its diagonal, and (x, 1) is the vector in which the pivot is the
/// quadratic form.
const NOISE_ROWS: usize = 16;

/// Steps of no length in a row after which ties go to the least index, which cannot cycle.
const STALL: usize = 8;

/// Why a drive could not be brought to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Halt {
    /// The step is infinite; the direction is in [`Driver::dz`].
    Unbounded,
    /// The limit on pivots.
    Limit(usize),
    /// The budget of floating-point operations.
    Budget(u64),
    /// Something was lost to rounding.
    Numerical(&'static str),
}

/// The state of the driving method: z, the index sets, the factor of `M_CC`, and the workspace of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Driver {
    pub problem: Scaled,
    pub sets: IndexSets,
    pub factor: IncrementalFactor,
    /// f of the paper, n; rows outside of C stand at a bound, or at their start if they are ignored.
    pub z: Vec<f64>,
    /// a of the paper, n; up to date for the driven row and NC only.
    pub w: Vec<f64>,
    /// Δf, n.
    pub dz: Vec<f64>,
    /// Δa, n; for the driven row and NC only.
    pub dw: Vec<f64>,
    pub border: Border,
    /// The border of an unclamped row that enters C while another one is driven.
    entering: Border,
    /// Δf on C for Δf_d = 1, in the order of C.
    pub x: Vec<f64>,
    left: Vec<f64>,
    /// `1 + ‖x‖₁`.
    pub length: f64,
    /// What the pivot of the driven row could be by rounding alone.
    pub noise: f64,
    /// The driven row's w does not change along the direction, to rounding.
    pub flat: bool,
    /// What was found to be the rounding of a w that cannot be driven, n: no violation up to this.
    pub accepted_error: Vec<f64>,
    /// Rows whose entry into C was refused during this drive.
    pub refused: Vec<bool>,
    /// No row was driven yet.
    pub at_start: bool,
    /// `‖z‖₁` at the last [`Driver::refresh`].
    pub z_sum: f64,
    /// The rows that [`Driver::install`] puts into C.
    pub waiting: Vec<usize>,
    /// Those of this attempt.
    pub tolerances: Tolerances,
    /// Without symmetry, regular submatrices can be arbitrarily near to singular ones: a P-matrix may be triangular
    /// with entries that grow on the way to the solution.
    pub near_singular_allowed: bool,
    pub max_pivots: usize,
    pub max_flops: u64,
    /// Pivots after which this attempt ends.
    pivot_budget: usize,
    pub trace: bool,
    pub stats: Stats,
}

impl Driver {
    /// An empty state for the loaded problem: z at 0 or the bound next to it, all rows ignored.
    pub(super) fn reset(&mut self) {
        let n = self.problem.n;
        self.sets.reset(n);
        self.factor.reset(n, self.problem.symmetric);
        self.border.reset(n);
        self.entering.reset(n);
        for vector in [&mut self.z, &mut self.w, &mut self.dz, &mut self.dw, &mut self.accepted_error] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        for vector in [&mut self.x, &mut self.left] {
            vector.clear();
            vector.reserve(n);
        }
        self.refused.clear();
        self.refused.resize(n, false);
        for i in 0..n {
            self.z[i] = 0.0f64.clamp(self.problem.lo[i], self.problem.hi[i]);
        }
        self.waiting.clear();
        self.waiting.reserve(n);
        self.at_start = true;
        self.refresh();
    }

    /// Increases (or decreases) `z_d` from the present `w_d = w` until it is zero or `z_d` at a bound, and keeps the
    /// conditions of C and NC.
    pub(super) fn drive_to_zero(&mut self, d: usize, w: f64) -> Result<(), Halt> {
        self.start(d, w);
        let sign = if w <= 0.0 { 1.0 } else { -1.0 };
        let mut idle = 0;
        loop {
            crate::interrupt::check();
            self.fdirection(d);
            if self.flat && self.w[d].abs() <= self.rounding(d) {
                return self.settle(d);
            }
            self.adirection(d, sign);
            let step = self.maxstep(d, sign, idle > STALL);
            let Some((s, limit)) = step.choose() else {
                if self.take_in_ignored(d) {
                    continue;
                }
                self.drop_noise();
                self.spread(d, sign);
                return Err(Halt::Unbounded);
            };
            self.advance(d, sign, s);
            if step.is_tied() {
                self.snap(sign, s);
            }
            idle = if s > 0.0 { 0 } else { idle + 1 };
            match limit {
                Limit::DrivenZero => return self.clamp_driven(d),
                Limit::DrivenBound => return self.unclamp_driven(d, sign),
                Limit::Clamped(p) => self.unclamp(p, sign)?,
                Limit::Unclamped(p) => self.clamp(p)?,
            }
            self.w[d] = self.problem.w(d, &self.z);
        }
    }

    /// Row `d` is driven from now on: it is in neither set, and all w that are looked at are fresh.
    fn start(&mut self, d: usize, w: f64) {
        self.problem.form(d);
        self.sets.release(d);
        self.w[d] = w;
        self.at_start = false;
        self.refused.fill(false);
        for &j in self.sets.unclamped() {
            self.w[j] = self.problem.w(j, &self.z);
        }
    }

    /// Δf on C for `Δf_d = 1`, so that w there stays zero. Reference: [Baraff94, Eq. 9].
    pub(super) fn fdirection(&mut self, d: usize) {
        gather(&self.problem, &self.sets, d, &mut self.border);
        self.factor.border(&mut self.border);
        self.factor.direction(&self.border, &mut self.x);
        self.length = one_norm(&self.x);
        let size = self.pivot_size();
        self.noise = f64::EPSILON * (self.x.len() + NOISE_ROWS) as f64 * size;
        self.flat = is_lost(self.border.pivot, self.noise);
    }

    /// What the rounding of the pivot is relative to: the length of the two vectors in which it is the bilinear form;
    /// or, if C may be nearly singular, no more than its terms.
    fn pivot_size(&mut self) -> f64 {
        if self.problem.symmetric {
            return self.length * self.length;
        }
        if self.near_singular_allowed {
            return self.factor.size(&self.border);
        }
        self.factor.left_direction(&self.border, &mut self.left);
        self.length * one_norm(&self.left)
    }

    /// Δf as a vector of all rows.
    pub(super) fn spread(&mut self, d: usize, sign: f64) {
        self.dz.fill(0.0);
        self.dz[d] = sign;
        for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
            self.dz[i] = sign * x;
        }
    }

    /// What [`Driver::offer_bounds`] takes for zero becomes zero.
    fn drop_noise(&mut self) {
        let noise = f64::EPSILON * self.length;
        self.x.iter_mut().filter(|x| x.abs() <= noise).for_each(|x| *x = 0.0);
    }

    /// `Δa = A Δf` where it is looked at: the driven row and NC. Reference: [Baraff94, Eq. 8].
    fn adirection(&mut self, d: usize, sign: f64) {
        self.dw[d] = if self.flat { 0.0 } else { sign * self.border.pivot };
        if self.sets.unclamped().is_empty() {
            return;
        }
        self.spread(d, sign);
        // In a semidefinite matrix an entry is at most the root of the product of its two diagonals, and one is noise.
        let noise = if self.flat && self.problem.symmetric { self.noise.sqrt() } else { self.noise };
        for &j in self.sets.unclamped() {
            let dw = dot(self.problem.row(j), &self.dz);
            self.dw[j] = if dw.abs() > noise { dw } else { 0.0 };
        }
    }

    /// The longest step that keeps all conditions. Reference: [Baraff94, Eqs. 10–12].
    fn maxstep(&self, d: usize, sign: f64, least_index: bool) -> MaxStep {
        let mut step = MaxStep::new(least_index, &self.tolerances);
        if self.dw[d] * sign > 0.0 {
            step.offer(Limit::DrivenZero, d, -self.w[d] * sign, self.dw[d].abs());
        }
        self.offer_bounds(d, sign, &mut step);
        for (p, &j) in self.sets.unclamped().iter().enumerate() {
            let inward = if self.sets.place(j) == Place::Lower { 1.0 } else { -1.0 };
            if self.dw[j] * inward < 0.0 && !self.refused[j] {
                step.offer(Limit::Unclamped(p), j, self.w[j] * inward, self.dw[j].abs());
            }
        }
        step
    }

    /// The bounds of z: of the driven row and of C.
    pub(super) fn offer_bounds(&self, d: usize, sign: f64, step: &mut MaxStep) {
        let bounds = |upward: bool| if upward { &self.problem.hi } else { &self.problem.lo };
        step.offer(Limit::DrivenBound, d, (bounds(sign > 0.0)[d] - self.z[d]) * sign, 1.0);
        let noise = f64::EPSILON * self.length;
        for (p, (&i, x)) in self.sets.clamped().iter().zip(&self.x).enumerate() {
            let upward = sign * x > 0.0;
            let bound = bounds(upward)[i];
            if bound.is_finite() && x.abs() > noise {
                let distance = if upward { bound - self.z[i] } else { self.z[i] - bound };
                step.offer(Limit::Clamped(p), i, distance, x.abs());
            }
        }
    }

    /// `f ← f + s Δf`, `a ← a + s Δa`.
    pub(super) fn advance(&mut self, d: usize, sign: f64, s: f64) {
        self.z[d] += s * sign;
        self.w[d] += s * self.dw[d];
        for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
            self.z[i] += s * sign * x;
        }
        for &j in self.sets.unclamped() {
            self.w[j] += s * self.dw[j];
        }
    }

    /// After a step of length `s` that was tied: a z of C that has reached its bound to rounding is put there exactly.
    fn snap(&mut self, sign: f64, s: f64) {
        for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
            let step = s * sign * x;
            let bound = if step < 0.0 { self.problem.lo[i] } else { self.problem.hi[i] };
            if (self.z[i] - bound).abs() <= self.tolerances.at_end_of_step * step.abs() {
                self.z[i] = bound;
            }
        }
    }

    /// `w_d` has reached zero: d enters C with the border that the direction was made of.
    pub(super) fn clamp_driven(&mut self, d: usize) -> Result<(), Halt> {
        self.count(Variable::Z(d), Variable::W(d), 0.0)?;
        self.factor.append(&self.border).map_err(|LostPivot| Halt::Numerical("the pivot of the driven row"))?;
        self.sets.clamp(d);
        Ok(())
    }

    /// `z_d` has reached a bound before w_d was zero: d enters NC there.
    pub(super) fn unclamp_driven(&mut self, d: usize, sign: f64) -> Result<(), Halt> {
        let at = if sign > 0.0 { Place::Upper } else { Place::Lower };
        self.z[d] = if sign > 0.0 { self.problem.hi[d] } else { self.problem.lo[d] };
        self.sets.unclamp(d, at);
        self.count(Variable::W(d), Variable::Z(d), self.w[d])
    }

    /// `z` of the row at position `p` of C has reached a bound: it moves to NC.
    pub(super) fn unclamp(&mut self, p: usize, sign: f64) -> Result<(), Halt> {
        let i = self.sets.take_clamped(p);
        let (at, bound) = if sign * self.x[p] < 0.0 {
            (Place::Lower, self.problem.lo[i])
        } else {
            (Place::Upper, self.problem.hi[i])
        };
        self.z[i] = bound;
        self.w[i] = 0.0;
        self.sets.unclamp(i, at);
        self.refused.fill(false);
        if self.factor.remove(p).is_err() {
            self.refactor()?;
        }
        self.count(Variable::W(i), Variable::Z(i), 0.0)
    }

    /// `w` of the row at position `p` of NC has reached zero: it moves to C, unless its column depends on those
    /// there. Then its w cannot really fall, and the step goes on without it.
    fn clamp(&mut self, p: usize) -> Result<(), Halt> {
        let j = self.sets.unclamped()[p];
        gather(&self.problem, &self.sets, j, &mut self.entering);
        let least = f64::EPSILON * (self.x.len() + NOISE_ROWS) as f64;
        self.factor.border(&mut self.entering);
        if is_lost(self.entering.pivot, least) || self.factor.append(&self.entering).is_err() {
            self.refused[j] = true;
            return Ok(());
        }
        self.sets.clamp(j);
        self.refused.fill(false);
        self.count(Variable::Z(j), Variable::W(j), 0.0)
    }

    /// Counts a basis change.
    pub(super) fn count(&mut self, entering: Variable, leaving: Variable, measure: f64) -> Result<(), Halt> {
        self.stats.pivots += 1;
        let clamped = self.sets.clamped().len();
        self.stats.flops +=
            work::product(clamped, 3 * clamped) + work::product(clamped, 2 * self.sets.unclamped().len());
        if self.trace {
            self.stats.trace.push(TraceLine { entering: Some(entering), leaving: Some(leaving), measure });
        }
        if self.stats.pivots > self.pivot_budget { Err(Halt::Limit(self.max_pivots)) } else { self.check_work() }
    }

    /// An error if the budget of floating-point operations is used up.
    pub(super) fn check_work(&self) -> Result<(), Halt> {
        if self.stats.flops > self.max_flops { Err(Halt::Budget(self.max_flops)) } else { Ok(()) }
    }

    /// Allows the next attempt one in `share` of the pivots that are left.
    pub(super) fn take_pivots(&mut self, share: usize) {
        let left = self.max_pivots.saturating_sub(self.stats.pivots);
        self.pivot_budget = self.stats.pivots + left.div_ceil(share);
    }

    /// True if there is no pivot left for another attempt.
    pub(super) fn is_out_of_pivots(&self) -> bool {
        self.stats.pivots >= self.max_pivots || self.check_work().is_err()
    }
}

/// Row and column `d` of the matrix at C, and its diagonal.
pub(super) fn gather(problem: &Scaled, sets: &IndexSets, d: usize, border: &mut Border) {
    let column = problem.column(d);
    border.column.clear();
    border.column.extend(sets.clamped().iter().map(|&i| column[i]));
    if !problem.symmetric {
        let row = problem.row(d);
        border.row.clear();
        border.row.extend(sets.clamped().iter().map(|&i| row[i]));
    }
    border.pivot = column[d];
}

/// True if a pivot may be rounding alone; one that is not a number is lost, too.
fn is_lost(pivot: f64, noise: f64) -> bool {
    pivot.is_nan() || noise.is_nan() || pivot.abs() <= noise
}

fn one_norm(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |s, x| s + x.abs())
}

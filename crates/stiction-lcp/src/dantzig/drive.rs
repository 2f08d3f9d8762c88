//! `drive_to_zero`, `fdirection` and `maxstep`. Reference: [Baraff94, §4.3].

use super::index_sets::{IndexSets, Place};
use super::scaled::Scaled;
use super::step::{Limit, MaxStep};
use crate::incremental_factor::{Border, IncrementalFactor, LostPivot};
use crate::outcome::{Stats, TraceLine, Variable};

/// Rounding of a pivot in units of `ε (k + NOISE_ROWS) (1 + ‖x‖₁)²`: the factor is exact for a matrix within ε k of the given
/// one, entry by entry in units of its diagonal, and (x, 1) is the vector in which the pivot is the quadratic form.
const NOISE_ROWS: usize = 16;

/// A row with a flat direction counts as satisfied within this, relative to the size of the terms of the rows it
/// follows from. Above rounding, well below the certificate.
const SETTLED: f64 = 1e-13;

/// Bounds further away than this many times z and q of the rows that would move are not gone to for the sake of a basis: z there would leave
/// nothing of the other numbers.
const REACH: f64 = 1e6;

/// A z that ends nearer to its bound than this part of the way it came has ended there: rounding.
const SNAP: f64 = 16.0 * f64::EPSILON;

/// Steps of no length in a row after which ties go to the least index, which cannot cycle.
const STALL: usize = 8;

/// Rows that enter C in a group do so in this order: the part of the column that is not in the span of C, squared, above this.
/// The last time all are let in that are not dependent to rounding.
pub(super) const INDEPENDENCE: [f64; 4] = [1e-2, 1e-4, 1e-8, 0.0];

/// Why a drive could not be brought to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Halt {
    /// The step is infinite; the direction is in [`Driver::dz`].
    Unbounded,
    /// The limit on pivots.
    Limit(usize),
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
    w: Vec<f64>,
    /// Δf, n.
    pub dz: Vec<f64>,
    /// Δa, n; for the driven row and NC only.
    dw: Vec<f64>,
    border: Border,
    /// The border of an unclamped row that enters C while another one is driven.
    entering: Border,
    /// Δf on C for Δf_d = 1, in the order of C.
    pub(super) x: Vec<f64>,
    left: Vec<f64>,
    /// `1 + ‖x‖₁`.
    length: f64,
    /// What the pivot of the driven row could be by rounding alone.
    noise: f64,
    /// The driven row's w does not change along the direction, to rounding.
    pub flat: bool,
    /// What was found to be the rounding of a w that cannot be driven, n: no violation up to this.
    excuse: Vec<f64>,
    /// Rows whose entry into C was refused during this drive.
    refused: Vec<bool>,
    /// No row was driven yet.
    pub at_start: bool,
    /// `‖z‖₁` at the last [`Driver::refresh`].
    z_sum: f64,
    /// The rows that [`Driver::install`] puts into C.
    pub waiting: Vec<usize>,
    /// A row is violated by more than this, relative to the size of its terms.
    pub violated: f64,
    /// Without symmetry, regular submatrices can be arbitrarily near to singular ones: a P-matrix may be triangular with entries that
    /// grow on the way to the solution.
    pub near_singular_allowed: bool,
    pub max_pivots: usize,
    /// Pivots after which this attempt ends.
    pivot_budget: usize,
    pub trace: bool,
    pub stats: Stats,
}

impl Driver {
    /// An empty state for the loaded problem: z at 0 or the bound next to it, all rows ignored.
    pub fn reset(&mut self) {
        let n = self.problem.n;
        self.sets.reset(n);
        self.factor.reset(n, self.problem.symmetric);
        self.border.reset(n);
        self.entering.reset(n);
        for vector in [&mut self.z, &mut self.w, &mut self.dz, &mut self.dw, &mut self.excuse] {
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

    /// Increases (or decreases) `z_d` from the present `w_d = w` until it is zero or `z_d` at a bound, and keeps the conditions of C and NC.
    pub fn drive_to_zero(&mut self, d: usize, w: f64) -> Result<(), Halt> {
        self.start(d, w);
        let sign = if w <= 0.0 { 1.0 } else { -1.0 };
        let mut idle = 0;
        loop {
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
    fn fdirection(&mut self, d: usize) {
        gather(&self.problem, &self.sets, d, &mut self.border);
        self.factor.border(&mut self.border);
        self.factor.direction(&self.border, &mut self.x);
        self.length = one_norm(&self.x);
        let size = self.pivot_size();
        self.noise = f64::EPSILON * (self.x.len() + NOISE_ROWS) as f64 * size;
        // A NaN is as flat as a zero.
        self.flat = !(self.border.pivot.abs() > self.noise);
    }

    /// What the rounding of the pivot is relative to: the length of the two vectors in which it is the bilinear form; or, if C may
    /// be nearly singular, no more than its terms.
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

    /// What [`Driver::offer_bounds`] takes for zero becomes zero.
    fn drop_noise(&mut self) {
        let noise = f64::EPSILON * self.length;
        self.x.iter_mut().filter(|x| x.abs() <= noise).for_each(|x| *x = 0.0);
    }

    /// Δf as a vector of all rows.
    fn spread(&mut self, d: usize, sign: f64) {
        self.dz.fill(0.0);
        self.dz[d] = sign;
        for (&i, x) in self.sets.clamped().iter().zip(&self.x) {
            self.dz[i] = sign * x;
        }
    }

    /// |pivot| that row `d` would enter C with, in units of the largest entries: 1 if it has nothing to do with C, 0 if it depends on it.
    pub fn independence(&mut self, d: usize) -> f64 {
        gather(&self.problem, &self.sets, d, &mut self.border);
        self.factor.border(&mut self.border);
        self.border.pivot.abs()
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
            let dw = crate::matrix::dot(self.problem.row(j), &self.dz);
            self.dw[j] = if dw.abs() > noise { dw } else { 0.0 };
        }
    }

    /// The longest step that keeps all conditions. Reference: [Baraff94, Eqs. 10–12].
    fn maxstep(&self, d: usize, sign: f64, least_index: bool) -> MaxStep {
        let mut step = MaxStep::new(least_index);
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
    fn offer_bounds(&self, d: usize, sign: f64, step: &mut MaxStep) {
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
    fn advance(&mut self, d: usize, sign: f64, s: f64) {
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
            if (self.z[i] - bound).abs() <= SNAP * step.abs() {
                self.z[i] = bound;
            }
        }
    }

    /// `w_d` has reached zero: d enters C with the border that the direction was made of.
    fn clamp_driven(&mut self, d: usize) -> Result<(), Halt> {
        self.count(Variable::Z(d), Variable::W(d), 0.0)?;
        self.factor.append(&self.border).map_err(|LostPivot| Halt::Numerical("the pivot of the driven row"))?;
        self.sets.clamp(d);
        Ok(())
    }

    /// `z_d` has reached a bound before w_d was zero: d enters NC there.
    fn unclamp_driven(&mut self, d: usize, sign: f64) -> Result<(), Halt> {
        let at = if sign > 0.0 { Place::Upper } else { Place::Lower };
        self.z[d] = if sign > 0.0 { self.problem.hi[d] } else { self.problem.lo[d] };
        self.sets.unclamp(d, at);
        self.count(Variable::W(d), Variable::Z(d), self.w[d])
    }

    /// `z` of the row at position `p` of C has reached a bound: it moves to NC.
    fn unclamp(&mut self, p: usize, sign: f64) -> Result<(), Halt> {
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

    /// `w` of the row at position `p` of NC has reached zero: it moves to C, unless its column depends on those there. Then its
    /// w cannot really fall, and the step goes on without it.
    fn clamp(&mut self, p: usize) -> Result<(), Halt> {
        let j = self.sets.unclamped()[p];
        gather(&self.problem, &self.sets, j, &mut self.entering);
        let least = f64::EPSILON * (self.x.len() + NOISE_ROWS) as f64;
        self.factor.border(&mut self.entering);
        if !(self.entering.pivot.abs() > least) || self.factor.append(&self.entering).is_err() {
            self.refused[j] = true;
            return Ok(());
        }
        self.sets.clamp(j);
        self.refused.fill(false);
        self.count(Variable::Z(j), Variable::W(j), 0.0)
    }

    /// What `w_d`, which follows from w on C, can be by rounding: its own, and that of the rows it follows from.
    fn rounding(&self, d: usize) -> f64 {
        let size = |i: usize| self.problem.size(i, &self.z);
        let own = SETTLED * size(d);
        if self.w[d].abs() <= own {
            return own;
        }
        let following = self.sets.clamped().iter().zip(&self.x).map(|(&i, x)| x.abs() * size(i));
        own + SETTLED * following.sum::<f64>()
    }

    /// `w_d` is zero and the column of d depends on C: d cannot enter it. If z_d is not at a bound, follow the direction,
    /// along which no w changes, until z_d is, or until a row of C is and d can take its place. If there is no bound within
    /// reach, z_d stays where it is.
    fn settle(&mut self, d: usize) -> Result<(), Halt> {
        loop {
            if let Some(at) = self.bound_reached(d) {
                self.excuse[d] = self.rounding(d);
                self.sets.unclamp(d, at);
                return Ok(());
            }
            if !self.flat {
                return self.clamp_driven(d);
            }
            let Some((sign, s, limit)) = self.flat_step(d) else {
                self.excuse[d] = self.rounding(d);
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

    /// The bound that `z_i` stands at, if any; the upper one only where w asks for it.
    pub fn bound_reached(&self, i: usize) -> Option<Place> {
        if self.z[i] == self.problem.lo[i] {
            Some(Place::Lower)
        } else if self.z[i] == self.problem.hi[i] {
            Some(Place::Upper)
        } else {
            None
        }
    }

    /// The shorter of the two ways along the flat direction, with its sign; `None` if neither ends within reach.
    fn flat_step(&mut self, d: usize) -> Option<(f64, f64, Limit)> {
        self.dw[d] = 0.0;
        for &j in self.sets.unclamped() {
            self.dw[j] = 0.0;
        }
        let way = |sign: f64| {
            let mut step = MaxStep::new(false);
            self.offer_bounds(d, sign, &mut step);
            step.choose().map(|(s, limit)| (sign, s, limit))
        };
        let shorter = match (way(-1.0), way(1.0)) {
            (Some(back), Some(on)) => Some(if back.1 <= on.1 { back } else { on }),
            (back, on) => back.or(on),
        };
        let size = |i: usize| self.z[i].abs() + self.problem.q[i].abs();
        let reach = REACH * self.sets.clamped().iter().map(|&i| size(i)).fold(size(d), f64::max);
        shorter.filter(|(_, s, _)| s * self.length <= reach)
    }

    /// Before a step is called infinite, the ignored rows that are satisfied may limit it too. True if there were any.
    fn take_in_ignored(&mut self, d: usize) -> bool {
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

    /// wᵢ if row `i`, outside of C, does not meet its conditions at the present z.
    pub fn violation(&self, i: usize) -> Option<f64> {
        if self.sets.place(i) == Place::Clamped {
            return None;
        }
        let (at_lo, at_hi) = (self.z[i] == self.problem.lo[i], self.z[i] == self.problem.hi[i]);
        if at_lo && at_hi {
            return None;
        }
        let w = self.w_of(i);
        let holds = at_lo && w >= 0.0 || at_hi && w <= 0.0;
        if holds || self.excuse[i] > 0.0 && w.abs() <= self.excuse[i] { None } else { Some(w) }
    }

    /// [`Self::violation`], unless it may come from rounding.
    pub fn clear_violation(&mut self, i: usize) -> Option<f64> {
        let w = self.violation(i)?;
        self.problem.form(i);
        let noise = self.violated;
        let clear = self.sets.place(i) == Place::Ignored && self.bound_reached(i).is_none()
            || w.abs() > noise * self.problem.most(i, self.z_sum)
            || w.abs() > noise * self.problem.size(i, &self.z);
        clear.then_some(w)
    }

    /// `wᵢ`, which is qᵢ as long as z is zero.
    fn w_of(&self, i: usize) -> f64 {
        if self.at_start && self.z_sum == 0.0 { self.problem.q[i] } else { self.problem.w(i, &self.z) }
    }

    /// What an infinite step supports, in words; `None` if it can only come from rounding.
    pub fn claim(&self) -> Option<&'static str> {
        if !self.problem.symmetric {
            return Some("the driven z grows without end; for a matrix that is not symmetric this proves nothing");
        }
        if !self.flat {
            return Some("the driven w falls as its z grows: M is not positive semidefinite, and this proves nothing");
        }
        let noise = self.noise.sqrt();
        let still = |i: usize| self.problem.row_is_still(i, &self.dz, noise);
        (0..self.problem.n).all(still).then_some(
            "M d is zero to rounding and qᵀ d < 0: for positive semidefinite M, d is a Farkas vector, and no z has M z + q ≥ 0 within the bounds",
        )
    }

    /// Makes ready for [`Driver::violation`] of many rows at the present z.
    pub fn refresh(&mut self) {
        self.z_sum = self.z.iter().map(|z| z.abs()).sum();
        self.problem.refresh(&self.z);
    }

    /// Looks at excused rows again.
    pub fn excuse_none(&mut self) {
        self.excuse.fill(0.0);
    }

    /// Factors `M_CC` from scratch.
    ///
    /// # Errors
    /// `Halt::Numerical` if a row was lost to rounding; it is ignored from now on, and z does not solve the rows of C.
    fn refactor(&mut self) -> Result<(), Halt> {
        self.stats.refactorizations += 1;
        self.waiting.clear();
        self.waiting.extend_from_slice(self.sets.clamped());
        if self.install() { Ok(()) } else { Err(Halt::Numerical("the factor of the clamped rows")) }
    }

    /// C becomes the rows of [`Driver::waiting`], as far as their columns are independent: a free row is then redundant,
    /// any other one ignored. True if all others were taken.
    pub fn install(&mut self) -> bool {
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

    /// Row `i` enters C if its column is independent enough. If not, it waits, and a free row that waited in vain is redundant.
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
            self.excuse[i] = self.rounding(i);
            self.sets.set_redundant(i);
        }
    }

    /// The `rows` enter an empty C as far as their columns are clearly independent, and those whose z comes out beyond a bound are
    /// set there, until there are none.
    pub fn enter_together(&mut self, rows: impl Iterator<Item = usize>) -> Result<(), Halt> {
        self.at_start = false;
        for i in rows {
            self.problem.form(i);
            self.enter(i, INDEPENDENCE[0]);
        }
        let mut before = usize::MAX;
        while self.sets.clamped().len() < before {
            before = self.sets.clamped().len();
            self.refine_plainly();
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

    /// Takes the row at position `p` out of C and puts it at its nearest bound, ignored.
    pub fn drop_clamped(&mut self, p: usize) {
        let i = self.sets.take_clamped(p);
        let (lo, hi) = (self.problem.lo[i], self.problem.hi[i]);
        self.z[i] = if self.z[i] - lo <= hi - self.z[i] { lo } else { hi };
        if self.factor.remove(p).is_err() {
            // A row that is lost here is ignored like the one that was dropped.
            let _ = self.refactor();
        }
    }

    /// Counts a basis change.
    fn count(&mut self, entering: Variable, leaving: Variable, measure: f64) -> Result<(), Halt> {
        self.stats.pivots += 1;
        if self.trace {
            self.stats.trace.push(TraceLine { entering: Some(entering), leaving: Some(leaving), measure });
        }
        if self.stats.pivots > self.pivot_budget { Err(Halt::Limit(self.max_pivots)) } else { Ok(()) }
    }

    /// Allows the next attempt half of the pivots that are left.
    pub fn take_pivots(&mut self) {
        let left = self.max_pivots.saturating_sub(self.stats.pivots);
        self.pivot_budget = self.stats.pivots + left.div_ceil(2);
    }

    /// True if there is no pivot left for another attempt.
    pub fn is_out_of_pivots(&self) -> bool {
        self.stats.pivots >= self.max_pivots
    }
}

/// Row and column `d` of the matrix at C, and its diagonal.
fn gather(problem: &Scaled, sets: &IndexSets, d: usize, border: &mut Border) {
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

fn one_norm(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |s, x| s + x.abs())
}

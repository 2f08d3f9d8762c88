//! The active-set method itself, in scaled columns: `min ½‖G z + u‖² − ηᵀ z`, `lo ≤ z ≤ hi`.
//!
//! Invariants. The basic columns are independent, and each basic zᵢ is strictly between its bounds, so that a step is never
//! of length zero and every accepted step lowers the objective. Free columns are basic unless they depend on earlier free
//! ones. In exact arithmetic no basis is met twice. In floating point, a column that keeps coming back is asked for a larger
//! and larger violation, so the number of steps is bounded there too.

mod basic;
mod null;

use crate::basis::{Basis, Position};
use crate::matrix::{axpy, dot, norm};
use crate::nnls::Tolerances;
use crate::nnls::load::Scaled;
use crate::outcome::{Stats, StopReason, TraceLine, Variable};
use crate::work;
use stiction_linalg::active_qr::ActiveQr;

/// A column may enter this often before its violation must grow; far more than a problem without rounding asks for.
const FREE_ENTRIES: u32 = 8;

/// Factor by which the violation must grow with each further entry.
const ENTRY_GROWTH: f64 = 4.0;

/// Where a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Basic,
    Lower,
    Upper,
    /// A free column that depends on other free ones; z = 0.
    Parked,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// No row is violated.
    Optimal,
    /// The objective falls without end along `direction`.
    Ray,
    /// The limit on pivots.
    Limit,
}

/// How an entering column fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    Yes,
    /// Taking it would not lower the objective: its violation was rounding.
    Rejected,
    /// Nothing stops it.
    Ray,
}

/// The method's state and workspace. Allocates in `load` only.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActiveSet {
    pub tolerances: Tolerances,
    pub data: Scaled,
    pub qr: ActiveQr,
    pub state: Vec<State>,
    /// ẑ, n.
    pub z: Vec<f64>,
    /// w in scaled rows, n, as of the last `price`.
    pub w: Vec<f64>,
    /// The basic z of the minimizer over the basic columns, in the order of the factor.
    pub target: Vec<f64>,
    /// G z + u there, m.
    pub r: Vec<f64>,
    /// u + Σ gⱼ zⱼ over nonbasic columns, m, and what rounding took from it when it was last built.
    base: Vec<f64>,
    base_low: Vec<f64>,
    /// A null direction, n.
    pub direction: Vec<f64>,
    /// Columns found useless since the last accepted step.
    pub rejected: Vec<bool>,
    entries: Vec<u32>,
    order: Vec<usize>,
    work: Vec<f64>,
    low: Vec<f64>,
    dual: Vec<f64>,
    /// What w of the basic rows is summed from, in the order of the factor.
    sizes: Vec<f64>,
    pub stats: Stats,
    pub trace: bool,
    pub limit: usize,
    pub max_flops: u64,
}

impl ActiveSet {
    /// Sizes the workspace for the loaded `data`.
    pub(crate) fn prepare(&mut self, trace: bool, limit: usize) {
        let (m, n) = (self.data.m(), self.data.n());
        let most = m.min(n);
        self.qr.reset(m, n, self.data.dependent);
        refill(&mut self.state, n, State::Lower);
        refill(&mut self.rejected, n, false);
        refill(&mut self.entries, n, 0);
        for (vector, size) in [(&mut self.z, n), (&mut self.w, n), (&mut self.direction, n), (&mut self.r, m)] {
            refill(vector, size, 0.0);
        }
        for (vector, size) in [(&mut self.base, m), (&mut self.base_low, m), (&mut self.low, m)] {
            refill(vector, size, 0.0);
        }
        for vector in [&mut self.work, &mut self.dual, &mut self.target, &mut self.sizes] {
            refill(vector, most, 0.0);
        }
        self.order.clear();
        self.order.reserve(n);
        self.stats = Stats::default();
        self.trace = trace;
        self.limit = limit;
    }

    /// Puts every column where `start` wants it, or at its bound nearest to −∞; free columns are basic.
    pub(crate) fn start(&mut self, start: Option<&Basis>) {
        for j in 0..self.data.n() {
            let (lo, hi) = (self.data.lo[j], self.data.hi[j]);
            let wanted = start.map_or(Position::Lower, |b| b.position(j));
            self.state[j] = match wanted {
                _ if self.is_free(j) => State::Basic,
                Position::Basic if lo < hi => State::Basic,
                Position::Upper if hi < f64::INFINITY => State::Upper,
                _ if lo > f64::NEG_INFINITY => State::Lower,
                _ => State::Upper,
            };
        }
    }

    /// From the present states to an optimal basis. Lawson and Hanson's loop, with bounds on either side.
    pub(crate) fn search(&mut self) -> End {
        loop {
            let settled = self.establish();
            if !settled {
                self.solve_basic();
                self.walk();
            }
            let mut moved = false;
            while let Some(i) = self.entering() {
                crate::interrupt::check();
                if self.is_spent() {
                    return End::Limit;
                }
                match self.enter(i, false) {
                    Entered::Yes => moved = true,
                    Entered::Rejected => self.rejected[i] = true,
                    Entered::Ray => return End::Ray,
                }
            }
            if settled && !moved {
                return End::Optimal;
            }
            if self.is_spent() {
                return End::Limit;
            }
        }
    }

    /// No pivot, or no work, is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.stats.pivots >= self.limit || self.stats.flops > self.max_flops
    }

    /// The limit that [`Self::is_spent`] speaks of.
    pub(crate) fn stop_reason(&self) -> StopReason {
        if self.stats.flops > self.max_flops {
            StopReason::Budget(self.max_flops)
        } else {
            StopReason::Limit(self.limit)
        }
    }

    /// Builds the factor anew from the states, free columns first, then in index order, and solves for the basic z with
    /// refinement. True if all of them are inside their bounds; the others are put on theirs.
    ///
    /// The result depends on the set of basic columns alone, not on how it was reached: solving again from a returned
    /// basis repeats the same arithmetic, and so takes no pivot.
    pub(crate) fn establish(&mut self) -> bool {
        self.establish_basis();
        self.solve_basic();
        self.refine();
        let mut settled = true;
        for a in (0..self.qr.len()).rev() {
            let j = self.qr.columns()[a];
            let (lo, hi) = (self.data.lo[j], self.data.hi[j]);
            self.z[j] = self.target[a];
            if self.target[a] <= lo || self.target[a] >= hi {
                self.leave(a, if self.target[a] <= lo { State::Lower } else { State::Upper });
                settled = false;
            }
        }
        settled
    }

    fn is_free(&self, j: usize) -> bool {
        self.data.lo[j] == f64::NEG_INFINITY && self.data.hi[j] == f64::INFINITY
    }

    /// Where a column that cannot be basic goes.
    fn nearest_bound(&self, j: usize) -> State {
        let (lo, hi, z) = (self.data.lo[j], self.data.hi[j], self.z[j]);
        if self.is_free(j) {
            State::Parked
        } else if hi == f64::INFINITY || z - lo <= hi - z {
            State::Lower
        } else {
            State::Upper
        }
    }

    /// `‖u‖ + Σ ‖gⱼ zⱼ‖` at the present point: what r is summed from.
    pub(crate) fn magnitude(&self) -> f64 {
        self.z.iter().zip(&self.data.length).fold(self.data.u_length, |s, (z, l)| s + z.abs() * l)
    }

    /// The size of what wⱼ is summed from.
    pub(crate) fn row_size(&self, j: usize, magnitude: f64) -> f64 {
        self.data.e[j].abs() + self.data.length[j] * magnitude
    }

    /// `w ← Gᵀ r − η`. False if the basic rows, whose w should vanish, show that the factor has drifted.
    pub(crate) fn price(&mut self) -> bool {
        let magnitude = self.magnitude();
        let mut drifted = false;
        self.stats.flops += work::product(self.data.m(), self.data.n());
        for j in 0..self.data.n() {
            self.w[j] = dot(self.data.g.col(j), &self.r) - self.data.eta[j];
            drifted |=
                self.state[j] == State::Basic && self.w[j].abs() > self.tolerances.drift * self.row_size(j, magnitude);
        }
        !drifted
    }

    /// The nonbasic column with the largest violation, in units of its length, if one is violated.
    fn entering(&mut self) -> Option<usize> {
        if !self.price() && self.qr.updates() > 0 {
            if !self.establish() {
                self.solve_basic();
                self.walk();
            }
            self.price();
        }
        let magnitude = self.magnitude();
        let mut best = (0.0, None);
        for j in 0..self.data.n() {
            let violation = self.violation(j, self.w[j]);
            if violation > best.0
                && !self.rejected[j]
                && violation > self.tolerances.sign * self.patience(j) * self.row_size(j, magnitude)
            {
                best = (violation, Some(j));
            }
        }
        best.1
    }

    /// How far w of a nonbasic column is on the wrong side; 0 for a basic or a fixed one.
    pub(crate) fn violation(&self, j: usize, w: f64) -> f64 {
        match self.state[j] {
            State::Basic => 0.0,
            _ if self.data.lo[j] == self.data.hi[j] => 0.0,
            State::Lower => -w,
            State::Upper => w,
            State::Parked => w.abs(),
        }
    }

    /// By how much more than rounding a column must be violated: grows with every entry beyond the first few.
    pub(crate) fn patience(&self, j: usize) -> f64 {
        let extra = self.entries[j].saturating_sub(FREE_ENTRIES);
        (0..extra.min(64)).fold(1.0, |p, _| p * ENTRY_GROWTH)
    }

    /// Makes column `i` basic and walks to the new minimizer. `sharp` says that `w[i]` is known to more than working
    /// precision.
    pub(crate) fn enter(&mut self, i: usize, sharp: bool) -> Entered {
        let side = if self.w[i] < 0.0 { 1.0 } else { -1.0 };
        if !self.qr.append(self.data.g.col(i), i) {
            return self.enter_dependent(i, side, sharp);
        }
        let from = self.z[i];
        axpy(-from, self.data.g.col(i), &mut self.base);
        let before = std::mem::replace(&mut self.state[i], State::Basic);
        if sharp {
            self.step_to(i)
        } else {
            self.solve_basic()
        }
        let to = self.target[self.qr.len() - 1];
        if side * (to - from) > 0.0 {
            self.count(i, None);
            self.walk();
            return Entered::Yes;
        }
        self.qr.remove(self.qr.len() - 1);
        self.state[i] = before;
        axpy(from, self.data.g.col(i), &mut self.base);
        self.solve_basic();
        Entered::Rejected
    }

    /// From z towards the minimizer over the basic columns, which `solve_basic` has found; whatever meets a bound on the way stays there and leaves the
    /// basis, until the minimizer is reached. Lawson and Hanson's inner loop: at most one round per basic column.
    fn walk(&mut self) {
        loop {
            crate::interrupt::check();
            let (alpha, blocking) = self.ratio_test();
            let Some(blocking) = blocking else {
                for (&j, x) in self.qr.columns().iter().zip(&self.target) {
                    self.z[j] = *x;
                }
                self.rejected.fill(false);
                return;
            };
            for a in (0..self.qr.len()).rev() {
                let j = self.qr.columns()[a];
                let (lo, hi) = (self.data.lo[j], self.data.hi[j]);
                let to = self.target[a];
                self.z[j] += alpha * (to - self.z[j]);
                if self.z[j] <= lo || (j == blocking && to <= lo) {
                    self.leave(a, State::Lower);
                } else if self.z[j] >= hi || j == blocking {
                    self.leave(a, State::Upper);
                }
            }
            self.solve_basic();
        }
    }

    /// The part of the way to the target that keeps within the bounds, and the first column to meet one.
    fn ratio_test(&self) -> (f64, Option<usize>) {
        let mut best = (1.0, None);
        for (&j, &to) in self.qr.columns().iter().zip(&self.target) {
            let (lo, hi, z) = (self.data.lo[j], self.data.hi[j], self.z[j]);
            let room = if to <= lo {
                z - lo
            } else if to >= hi {
                hi - z
            } else {
                continue;
            };
            let way = (z - to).abs();
            let alpha = if way > 0.0 { (room / way).clamp(0.0, 1.0) } else { 0.0 };
            if best.1.is_none() || alpha < best.0 {
                best = (alpha, Some(j));
            }
        }
        best
    }

    /// Takes the column at `position` of the factor out of the basis, onto a bound.
    fn leave(&mut self, position: usize, bound: State) {
        let j = self.qr.columns()[position];
        self.stats.flops += self.update_flops();
        self.qr.remove(position);
        self.state[j] = bound;
        self.settle(j);
        self.stats.pivots += 1;
        if self.trace {
            let measure = norm(&self.r);
            self.stats.trace.push(TraceLine { entering: Some(Variable::W(j)), leaving: Some(Variable::Z(j)), measure });
        }
    }

    /// Puts a nonbasic z on its bound exactly, and its column into the base.
    fn settle(&mut self, j: usize) {
        self.z[j] = match self.state[j] {
            State::Upper => self.data.hi[j],
            State::Parked => 0.0,
            _ => self.data.lo[j],
        };
        if self.z[j] != 0.0 {
            axpy(self.z[j], self.data.g.col(j), &mut self.base);
        }
    }

    /// The work of an update of the factor, and of solving with it.
    fn update_flops(&self) -> u64 {
        work::product(self.data.m(), 4 * self.qr.columns().len())
    }

    /// Books the entry of column `i`.
    fn count(&mut self, i: usize, flipped: Option<usize>) {
        self.entries[i] += 1;
        self.stats.pivots += 1;
        self.stats.flops += self.update_flops();
        if self.trace {
            let leaving = if flipped == Some(i) { Variable::Z(i) } else { Variable::W(i) };
            let line = TraceLine { entering: Some(Variable::Z(i)), leaving: Some(leaving), measure: norm(&self.r) };
            self.stats.trace.push(line);
        }
    }

    /// The present basis.
    pub(crate) fn basis(&self) -> Basis {
        let mut basis = Basis::default();
        self.basis_into(&mut basis);
        basis
    }

    /// Writes the present basis, keeping the storage.
    pub(crate) fn basis_into(&self, basis: &mut Basis) {
        basis.reset(self.state.len());
        for (j, state) in self.state.iter().enumerate() {
            match state {
                State::Basic | State::Parked => basis.set(j, Position::Basic),
                State::Lower => {}
                State::Upper => basis.set(j, Position::Upper),
            }
        }
    }
}

fn refill<V: Clone>(vector: &mut Vec<V>, size: usize, value: V) {
    vector.clear();
    vector.resize(size, value);
}

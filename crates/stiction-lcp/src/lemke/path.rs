//! The path of almost complementary bases. The ratio test is in [`ratio`]; small problems go as far as they can in a
//! [tableau](super::tableau).

mod ratio;

use super::Tolerances;
use super::kernel::{Extended, Kernel, NONE};
use super::lanes::{axpy, padded};
use super::tableau::{Stretch, Tableau};
use crate::basis::Basis;
use crate::generate::Rng;
use crate::outcome::{Stats, TraceLine, Variable};
use crate::problem::Lcp;
use crate::work;
use ratio::Tied;
use stiction_linalg::equilibration::Equilibration;
use stiction_linalg::power::{exponent, times_power};

/// How a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// z₀ left: the basis is complementary.
    Solved,
    /// The driving variable can grow for ever.
    Ray,
    /// Too many pivots.
    Limit,
    /// Too much work.
    Budget,
    /// The kernel became singular in working precision.
    Singular,
}

/// Where a path ends at the latest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Pivots from now on.
    pub pivots: usize,
    /// Floating-point operations in all, as the statistics count them.
    pub flops: u64,
}

/// Where a path starts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start<'a> {
    /// At z = 0.
    Cold,
    /// At a complementary basis.
    Warm(&'a Basis),
}

/// The covering vector of a start.
#[derive(Debug, Clone, Copy)]
pub(super) enum Covering<'a> {
    /// 1 in scaled units.
    Ones,
    /// In units of the original rows, n.
    Given(&'a [f64]),
    /// Random numbers in [½, 2) in scaled units, from this seed.
    Random(u64),
}

/// How a start goes about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tuning {
    pub tolerances: Tolerances,
    /// Recompute all values from the data at every pivot.
    pub fresh_values: bool,
    /// Pivots without a move before the lexicographic rule takes over; 0 applies it in every tie.
    pub patience: usize,
}

impl Tuning {
    /// For the first start.
    pub(super) fn first(tolerances: Tolerances) -> Self {
        Self { tolerances, fresh_values: false, patience: 12 }
    }

    /// For the `k`th restart: values recomputed at every pivot, and other tolerances each time.
    pub(super) fn restart(mut tolerances: Tolerances, k: usize) -> Self {
        let [pivot, tie, tied_pivot] = [[1.0, 1e-1, 1.0], [1e2, 1e1, 1e2], [1e-1, 1e-2, 1e-2]][k % 3];
        tolerances.pivot *= pivot;
        tolerances.tie *= tie;
        tolerances.tied_pivot *= tied_pivot;
        tolerances.drift *= 1e-2;
        Self { tolerances, fresh_values: true, patience: if k.is_multiple_of(2) { 12 } else { 0 } }
    }
}

/// Workspace and state of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    /// Tolerances of this start.
    pub tuning: Tuning,
    /// Keep a line per pivot.
    pub trace: bool,
    n: usize,
    scales: Equilibration,
    /// `[M d]` scaled.
    m: Extended,
    q: Vec<f64>,
    tableau: Tableau,
    /// The basis is the tableau's, not the kernel's.
    in_tableau: bool,
    kernel: Kernel,
    /// Values of the basic z by kernel column, and rates of change.
    z: Vec<f64>,
    z_rate: Vec<f64>,
    /// Values of w by row (those in the kernel are nonbasic and 0), and rates of change.
    w: Vec<f64>,
    w_rate: Vec<f64>,
    /// Rates below these are taken for zero.
    z_floor: Vec<f64>,
    w_floor: Vec<f64>,
    rhs: Vec<f64>,
    correction: Vec<f64>,
    tied: Vec<Tied>,
    /// Values up to this counted as zero in the last ratio test.
    near: f64,
    /// Pivots since the path last moved.
    stalled: usize,
    /// Variables lifted by the lexicographic perturbation, the most first; empty while it is not in use.
    anchor: Vec<Variable>,
    ray: Vec<f64>,
    /// z₀ when the values were last computed from the data.
    z0_when_fresh: f64,
    fresh_kernel: bool,
}

/// A basic variable: z by its place in the kernel, or w by its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basic {
    Z(usize),
    W(usize),
}

impl Path {
    /// Takes a problem: scales it into the workspace.
    pub(super) fn load(&mut self, lcp: &Lcp) {
        let n = lcp.n();
        self.n = n;
        self.m.reset(n);
        for v in [&mut self.q, &mut self.w, &mut self.w_rate, &mut self.w_floor] {
            v.clear();
            v.resize(padded(n), 0.0);
        }
        for v in [&mut self.z, &mut self.z_rate, &mut self.z_floor, &mut self.rhs, &mut self.correction] {
            v.clear();
            v.resize(padded(n + 1), 0.0);
        }
        self.scales.fit(lcp.m(), lcp.q(), true);
        self.scale(lcp);
    }

    /// Scales the problem anew, fitting q too where the first scaling had no need to. With a `cap`, positive q above that many times the
    /// most negative one are lowered to it: they do not bind, and tiny negative ones beside them are no longer lost in rounding.
    pub(super) fn rescale(&mut self, lcp: &Lcp, cap: Option<f64>) {
        if self.scales.is_uniform() {
            self.scales.fit(lcp.m(), lcp.q(), false);
        }
        self.scale(lcp);
        let needed = self.q.iter().fold(0.0, |m: f64, q| m.max(-q));
        if let Some(cap) = cap.filter(|_| needed > 0.0) {
            let unit = times_power(1.0, -exponent(needed));
            for q in &mut self.q {
                *q = q.min(cap * needed) * unit;
            }
        }
    }

    fn scale(&mut self, lcp: &Lcp) {
        for j in 0..self.n {
            self.scales.apply_to_column(j, lcp.m().col(j), self.m.col_mut(j));
        }
        self.scales.apply_to_column(self.n, lcp.q(), &mut self.q[..self.n]);
    }

    /// Sets the covering vector d.
    pub(super) fn set_covering(&mut self, covering: Covering<'_>) {
        let d = self.m.col_mut(self.n);
        match covering {
            Covering::Ones => d.fill(1.0),
            Covering::Given(given) => {
                for ((d, x), e) in d.iter_mut().zip(given).zip(&self.scales.row) {
                    *d = times_power(*x, *e);
                }
            }
            Covering::Random(seed) => {
                let mut rng = Rng::new(seed);
                d.iter_mut().for_each(|d| *d = 0.5 + 1.5 * rng.uniform());
            }
        }
    }

    /// Order of the problem.
    pub(super) fn order(&self) -> usize {
        self.n
    }

    /// Column exponents: z = 2^column · z_scaled, up to the common scale of q.
    pub(super) fn column_exponents(&self) -> &[i32] {
        &self.scales.column[..self.n]
    }

    /// The direction in z of the ray the path ended on, in scaled units, n.
    pub(super) fn ray(&self) -> &[f64] {
        &self.ray
    }

    /// The basis of the path's end; z₀ is left out.
    pub(super) fn basis(&self) -> Basis {
        let z = |j: &usize| *j < self.n;
        if self.in_tableau {
            Basis::from_active(self.n, self.tableau.kernel_cols().map(|(j, _)| j).filter(z))
        } else {
            Basis::from_active(self.n, self.kernel.cols.iter().copied().filter(z))
        }
    }

    /// `step ← M_αα⁻¹ step` over the rows `active` of the basis at the path's end, in units of the original problem.
    pub(super) fn solve_basis(&mut self, active: &[usize], step: &mut [f64]) {
        let row = |i: usize| if self.in_tableau { i } else { self.kernel.row_position(i) };
        let col = |j: usize| if self.in_tableau { j } else { self.kernel.col_position(j) };
        for (x, &i) in step.iter().zip(active) {
            self.rhs[row(i)] = times_power(*x, self.scales.row[i]);
        }
        if self.in_tableau {
            self.tableau.solve_into(&self.rhs, &mut self.correction);
        } else {
            self.kernel.solve_into(&self.rhs, &mut self.correction);
        }
        for (x, &j) in step.iter_mut().zip(active) {
            *x = times_power(self.correction[col(j)], self.scales.column[j]);
        }
    }

    /// Follows the path from `start`. Reference: [CPS09, Algorithm 4.4.5].
    pub(super) fn follow(&mut self, start: Start<'_>, limits: Limits, stats: &mut Stats) -> Ended {
        let before = stats.pivots;
        let mut entering = Variable::Artificial;
        if self.suits_tableau(start) {
            self.in_tableau = true;
            match self.tableau.follow(&self.m, &self.q, &self.tuning, self.trace, limits.pivots, stats) {
                Stretch::Solved => return Ended::Solved,
                Stretch::Until(next) => entering = next,
            }
            if !self.take_over(stats) {
                return Ended::Singular;
            }
        } else if !self.begin(start, stats) {
            return Ended::Singular;
        }
        for _ in stats.pivots - before..limits.pivots {
            crate::interrupt::check();
            if stats.flops > limits.flops {
                return Ended::Budget;
            }
            if !self.direction(entering, stats) {
                return Ended::Singular;
            }
            let leaving =
                if entering == Variable::Artificial { self.most_negative() } else { self.ratio_test(entering) };
            let Some(leaving) = leaving else {
                if !self.fresh_kernel {
                    if !self.renew(stats) {
                        return Ended::Singular;
                    }
                    continue;
                }
                self.keep_ray(entering);
                return Ended::Ray;
            };
            let left = self.name_of(leaving);
            self.pivot(entering, leaving);
            stats.pivots += 1;
            if self.trace {
                let line = TraceLine { entering: Some(entering), leaving: Some(left), measure: self.z0() };
                stats.trace.push(line);
            }
            entering = match left {
                Variable::Artificial => return Ended::Solved,
                Variable::Z(i) => Variable::W(i),
                Variable::W(i) => Variable::Z(i),
            };
            let k = self.kernel.len();
            stats.flops += work::product(k, 2 * k) + work::product(self.n, k);
            if self.values_are_stale() {
                stats.flops += work::product(k, 3 * k) + work::product(self.n, 2 * k);
                if !self.recompute_values() {
                    return Ended::Singular;
                }
            }
        }
        Ended::Limit
    }

    /// Small problems have a tableau; a careful path and one from a basis are left to the kernel.
    fn suits_tableau(&self, start: Start<'_>) -> bool {
        matches!(start, Start::Cold) && !self.tuning.fresh_values && Tableau::suits(self.n)
    }

    /// Goes on from where the tableau stands. False if its basis is lost.
    fn take_over(&mut self, stats: &mut Stats) -> bool {
        self.in_tableau = false;
        self.kernel.take(&self.tableau);
        self.clear();
        self.stalled = self.tableau.stalled;
        self.fresh_kernel = false;
        self.recompute_values() || self.renew(stats)
    }

    /// Forgets the last path.
    fn clear(&mut self) {
        self.z.fill(0.0);
        self.z_rate.fill(0.0);
        self.stalled = 0;
        self.anchor.clear();
        self.fresh_kernel = true;
        self.z0_when_fresh = f64::INFINITY;
    }

    fn begin(&mut self, start: Start<'_>, stats: &mut Stats) -> bool {
        self.in_tableau = false;
        self.kernel.reset(self.n);
        self.clear();
        if let Start::Warm(basis) = start {
            stats.refactorizations += 1;
            stats.flops += work::inversion(basis.active().count());
            if !self.kernel.set(&self.m, basis.active()) {
                return false;
            }
            self.cover_transform(basis);
        }
        self.recompute_values()
    }

    /// Sets d so that it is 1 in the principal pivot transform of `basis`: −M_αα 1 on α, 1 − M_βα 1 on β.
    fn cover_transform(&mut self, basis: &Basis) {
        let n = self.n;
        self.w_rate.fill(0.0);
        for j in basis.active() {
            axpy(-1.0, self.m.col(j), &mut self.w_rate);
        }
        for (i, d) in self.m.col_mut(n).iter_mut().enumerate() {
            let one = if self.kernel.row_position(i) == NONE { 1.0 } else { 0.0 };
            *d = self.w_rate[i] + one;
        }
    }

    fn z0(&self) -> f64 {
        match self.kernel.col_position(self.n) {
            NONE => 0.0,
            p => self.z[p],
        }
    }

    fn column_of(&self, variable: Variable) -> usize {
        match variable {
            Variable::Z(j) => j,
            _ => self.n,
        }
    }

    /// Rates of all basic variables as `entering` grows: K z_rate = −M_{rows,s} (or e_s for w_s), w_rate = M z_rate + M_s.
    /// The rows of the kernel must come out as 0 (or e_s): that is the check on drift. A direction with a residual is refined; if that
    /// is not enough the kernel is inverted anew. False if the kernel is lost.
    fn direction(&mut self, entering: Variable, stats: &mut Stats) -> bool {
        loop {
            self.solve_direction(entering);
            if self.check_rows(entering) <= self.tuning.tolerances.drift {
                break;
            }
            self.refine_direction(entering);
            if self.fresh_kernel || self.check_rows(entering) <= self.tuning.tolerances.drift {
                break;
            }
            if !self.renew(stats) {
                return false;
            }
        }
        self.clear_kernel_rates();
        true
    }

    /// The w of the kernel's rows are nonbasic: with rate 0 the loops over all rows pass them by.
    fn clear_kernel_rates(&mut self) {
        for &i in &self.kernel.rows {
            self.w_rate[i] = 0.0;
        }
    }

    fn solve_direction(&mut self, entering: Variable) {
        match entering {
            Variable::W(s) => {
                let p = self.kernel.row_position(s);
                self.z_rate[..self.kernel.padded_len()].copy_from_slice(self.kernel.inverse_col(p));
            }
            _ => {
                let s = self.column_of(entering);
                for (b, &i) in self.rhs.iter_mut().zip(&self.kernel.rows) {
                    *b = -self.m.at(i, s);
                }
                self.kernel.solve_into(&self.rhs, &mut self.z_rate);
            }
        }
        self.multiply_direction(entering);
    }

    fn multiply_direction(&mut self, entering: Variable) {
        match entering {
            Variable::W(_) => self.w_rate.fill(0.0),
            _ => {
                let s = self.column_of(entering);
                self.w_rate.copy_from_slice(self.m.col(s));
            }
        }
        self.m.add_columns(&self.kernel.cols, &self.z_rate, &mut self.w_rate);
    }

    /// The residuals of the kernel's rows, added up and relative to the direction; they go to `rhs`.
    fn check_rows(&mut self, entering: Variable) -> f64 {
        let k = self.kernel.len();
        for (residual, &i) in self.rhs.iter_mut().zip(&self.kernel.rows) {
            *residual = self.w_rate[i];
        }
        if let Variable::W(i) = entering {
            self.rhs[self.kernel.row_position(i)] -= 1.0;
        }
        // A sum, so that what is no number shows.
        let worst = self.rhs[..k].iter().fold(0.0, |sum: f64, residual| sum + residual.abs());
        let size = self.z_rate[..k].iter().fold(1.0, |m: f64, x| if x.abs() > m { x.abs() } else { m });
        let drift = worst / size;
        if drift.is_nan() { f64::INFINITY } else { drift }
    }

    /// One step of refinement from the residuals in `rhs`.
    fn refine_direction(&mut self, entering: Variable) {
        let k = self.kernel.len();
        self.kernel.solve_into(&self.rhs, &mut self.correction);
        for p in 0..k {
            self.z_rate[p] -= self.correction[p];
        }
        self.multiply_direction(entering);
    }

    /// A fresh kernel and fresh values. False if the kernel is singular.
    fn renew(&mut self, stats: &mut Stats) -> bool {
        stats.refactorizations += 1;
        stats.flops += work::inversion(self.kernel.len());
        self.fresh_kernel = true;
        self.kernel.refactor(&self.m) && self.recompute_values()
    }

    fn values_are_stale(&self) -> bool {
        self.tuning.fresh_values || self.z0() < self.tuning.tolerances.stale_values * self.z0_when_fresh
    }

    /// Values of all basic variables from the data: K z = −q_rows, w = M z + q. False if they are no numbers.
    fn recompute_values(&mut self) -> bool {
        let k = self.kernel.len();
        for p in 0..k {
            self.rhs[p] = -self.q[self.kernel.rows[p]];
        }
        self.kernel.solve_into(&self.rhs, &mut self.z);
        for _ in 0..2 {
            self.w.copy_from_slice(&self.q);
            self.m.add_columns(&self.kernel.cols, &self.z, &mut self.w);
            for p in 0..k {
                self.rhs[p] = self.w[self.kernel.rows[p]];
            }
            self.kernel.solve_into(&self.rhs, &mut self.correction);
            for p in 0..k {
                self.z[p] -= self.correction[p];
            }
        }
        for p in 0..k {
            self.w[self.kernel.rows[p]] = 0.0;
        }
        self.z0_when_fresh = self.z0();
        self.z[..k].iter().chain(&self.w).all(|x| x.is_finite())
    }

    fn name_of(&self, variable: Basic) -> Variable {
        match variable {
            Basic::W(i) => Variable::W(i),
            Basic::Z(p) if self.kernel.cols[p] == self.n => Variable::Artificial,
            Basic::Z(p) => Variable::Z(self.kernel.cols[p]),
        }
    }

    /// Moves all values along the direction and exchanges the two variables.
    fn pivot(&mut self, entering: Variable, leaving: Basic) {
        let k = self.kernel.len();
        let (value, rate) = match leaving {
            Basic::Z(p) => (self.z[p], self.z_rate[p]),
            Basic::W(i) => (self.w[i], self.w_rate[i]),
        };
        let step = -value / rate;
        let step = if entering == Variable::Artificial { step } else { step.max(0.0) };
        let kp = self.kernel.padded_len();
        axpy(step, &self.z_rate[..kp], &mut self.z[..kp]);
        axpy(step, &self.w_rate, &mut self.w);
        self.fresh_kernel = false;
        match (entering, leaving) {
            (Variable::W(s), Basic::W(r)) => {
                self.kernel.replace_row(&self.m, self.kernel.row_position(s), r);
                self.w[s] = step;
                self.w[r] = 0.0;
            }
            (Variable::W(s), Basic::Z(c)) => {
                let p = self.kernel.row_position(s);
                self.kernel.remove(p, c);
                self.z[c] = self.z[k - 1];
                self.z[k - 1] = 0.0;
                self.w[s] = step;
            }
            (_, Basic::W(r)) => {
                let s = self.column_of(entering);
                self.kernel.append(&self.m, r, s, &self.z_rate, rate);
                self.z[k] = step;
                self.w[r] = 0.0;
            }
            (_, Basic::Z(c)) => {
                let s = self.column_of(entering);
                self.kernel.replace_col(c, s, &self.z_rate);
                self.z[c] = step;
            }
        }
    }

    fn keep_ray(&mut self, entering: Variable) {
        self.ray.clear();
        self.ray.resize(self.n, 0.0);
        for (p, &j) in self.kernel.cols.iter().enumerate() {
            if j < self.n {
                self.ray[j] = self.z_rate[p].max(0.0);
            }
        }
        if let Variable::Z(s) = entering {
            self.ray[s] = 1.0;
        }
    }
}

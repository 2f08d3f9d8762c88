//! From the letters of the complementarity problem to forces and motion: one linear system, refined.

use stiction_lcp::matrix::{dot, max_abs, norm};
use stiction_lcp::{Basis, Position};
use stiction_linalg::active_qr::ActiveQr;

use crate::by_island::IslandForces;
use crate::models::normal_problem::{Drag, NormalProblem, Row, Tolerances, position};
use crate::whitened::Whitened;
use stiction_linalg::doubled::{add_products, add_to, dot2};

/// Solves of the system at most: the first, and refinements.
const ROUNDS: usize = 4;

/// The rows that hold in the end, and the solution of their system
///
/// `K x − G p = b`, `Gᵀ x + bias = 0`, with `K = I + Σ c g gᵀ` the inertia with drag and b what is known:
///
/// a step from residuals (ρ, σ) is `t = L⁻¹ ρ`, `h = R⁻ᵀ σ − Qᵀ t`, `Δp = R⁻¹ h`, `Δx = L⁻ᵀ (t + Q h)` with `L⁻¹ G = Q R`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recovery {
    tolerances: Tolerances,
    pub qr: ActiveQr,
    /// The rows that hold, in the order of the factor, with their biases.
    pub active: Vec<(Row, f64)>,
    /// Their forces.
    pub p: Vec<f64>,
    /// Rows with a known force.
    pub fixed: Vec<(Row, f64)>,
    /// The motion as a sum of two vectors, m each.
    x: Vec<f64>,
    x_low: Vec<f64>,
    /// Forces of the rows with drag.
    drag: Vec<f64>,
    /// What [`Recovery::step`] leaves out of a sum.
    low: Vec<f64>,
    step: Vec<f64>,
    h: Vec<f64>,
    column: Vec<f64>,
    /// Rows of the complementarity problem that shall hold, with the forces found for them.
    basic: Vec<(Row, f64)>,
}

impl NormalProblem {
    /// Forces and motion for the answer z of the complementarity problem with its basis. A row whose force leaves its bounds in the refined
    /// system is put on its bound: z had it inside by rounding only.
    pub(super) fn recover(&mut self, island: &Whitened, z: &[f64], basis: Option<&Basis>, forces: &mut IslandForces) {
        let at = |j: usize| basis.map_or_else(|| position(z[j], self.rows[j].bounds(island)), |b| b.position(j));
        forces.basis.reset(Row::slots(island));
        self.recovery.basic.clear();
        self.recovery.fixed.clear();
        for (j, row) in self.rows.iter().enumerate() {
            forces.basis.set(row.slot(island), at(j));
            match at(j) {
                Position::Basic => self.recovery.basic.push((*row, z[j])),
                _ if z[j] != 0.0 => self.recovery.fixed.push((*row, z[j])),
                _ => {}
            }
        }
        for _ in 0..=self.recovery.basic.len() {
            self.factor_active(island);
            self.recovery.refine(island, &self.x_free, &self.drag);
            if !self.recovery.drop_outside(island) {
                break;
            }
        }
        self.recovery.drop_noise(island, &self.x_free, &self.drag);
        self.recovery.write(&self.drag, forces);
    }

    /// Factors the basic rows beside the held ones. A basic row that depends on those before keeps the force it has.
    fn factor_active(&mut self, island: &Whitened) {
        let recovery = &mut self.recovery;
        recovery.truncate(self.find.rank());
        for a in 0..recovery.basic.len() {
            let (row, z) = recovery.basic[a];
            if !recovery.append(island, &self.drag, row, row.bias(island)) {
                recovery.fixed.push((row, z));
            }
        }
    }

    /// Starts the factor with the held rows that FIND-INDICES kept, which has it already.
    pub(super) fn factor_held(&mut self, island: &Whitened) {
        let recovery = &mut self.recovery;
        recovery.qr.copy_from(self.find.factor(), island.m());
        recovery.fixed.clear();
        recovery.active.clear();
        recovery.active.extend(self.find.kept().iter().map(|&number| (self.held[number], self.find.bias(number))));
    }

    /// The motion under the held rows and drag alone, as exact as the data: noise in it would be forces and motion where there are none.
    pub(super) fn move_held(&mut self, island: &Whitened) {
        self.factor_held(island);
        self.recovery.refine(island, &self.x_free, &self.drag);
    }

    /// The same motion in working precision: what satisfies the held rows, and `u`, the free motion as far as they leave it free.
    pub(super) fn move_roughly(&mut self, u: &[f64]) {
        let x = &mut self.recovery.x;
        x.clear();
        x.extend(u.iter().zip(self.find.x_rows()).map(|(u, x)| u + x));
        self.drag.solve_transposed(x);
    }
}

impl Recovery {
    pub(super) fn new(tolerances: Tolerances) -> Self {
        Self { tolerances, ..Self::default() }
    }

    /// Takes `row` into the factor; false if it depends on those before.
    pub(super) fn append(&mut self, island: &Whitened, drag: &Drag, row: Row, bias: f64) -> bool {
        stiction_lcp::interrupt::check();
        self.column.clear();
        self.column.extend_from_slice(row.g(island));
        drag.solve(&mut self.column);
        let independent = self.qr.append(&self.column, self.active.len());
        if independent {
            self.active.push((row, bias));
        }
        independent
    }

    /// Leaves the first `count` rows in the factor.
    fn truncate(&mut self, count: usize) {
        while self.active.len() > count {
            self.active.pop();
            self.qr.remove(self.active.len());
        }
    }

    /// `gᵀ x + bias` of `row` at the motion found last, in twice the working precision if it shall be `exact`, and the size of its terms.
    pub(super) fn motion(&self, island: &Whitened, row: Row, exact: bool) -> (f64, f64) {
        let (g, bias) = (row.g(island), row.bias(island));
        let motion = if exact { self.motion_of(g, bias) } else { dot(g, &self.x) + bias };
        (motion, bias.abs() + abs_dot(g, &self.x))
    }

    /// `gᵀ x + bias` at the motion found last, in twice the working precision.
    fn motion_of(&self, g: &[f64], bias: f64) -> f64 {
        dot2(bias, g, &self.x) + dot(g, &self.x_low)
    }

    /// The length of the motion found last.
    pub(super) fn speed(&self) -> f64 {
        norm(&self.x)
    }

    /// Solves the system from nothing, and refines.
    fn refine(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        let (m, k) = (island.m(), self.active.len());
        for (vector, size) in [(&mut self.x, m), (&mut self.x_low, m), (&mut self.p, k), (&mut self.h, k)] {
            vector.clear();
            vector.resize(size, 0.0);
        }
        let mut before = f64::INFINITY;
        for round in 0..ROUNDS {
            stiction_lcp::interrupt::check();
            self.momentum_residual(island, x_free, drag);
            drag.solve(&mut self.step);
            self.row_residual(island, round);
            self.take_step(drag);
            // Steps shrink by the same factor again and again, so the size of the next one is known.
            let (step, speed) = (norm(&self.step), norm(&self.x));
            let Tolerances { last_step, no_step, .. } = self.tolerances;
            if step <= last_step * speed || (round > 0 && step * (step / before) <= no_step * speed) {
                break;
            }
            before = step;
        }
        self.drag_forces(island, drag);
    }

    /// Sets to zero what is zero but for what refinement leaves.
    fn drop_noise(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        let push = |row: &Row, p: f64| max_abs(row.g(island)) * p.abs();
        let largest = max_abs(x_free).max(max_abs(&self.x));
        let mut pushes = std::mem::take(&mut self.column);
        pushes.clear();
        pushes.extend(self.active.iter().zip(&self.p).map(|((row, _), p)| push(row, *p)));
        let known = self.fixed.iter().map(|(row, p)| push(row, *p));
        let largest = pushes.iter().copied().chain(known).fold(largest, f64::max);
        let most = self.tolerances.zero * largest;
        let zero = |size: f64, x: &mut f64| {
            if size <= most {
                *x = 0.0;
            }
        };
        self.x.iter_mut().for_each(|x| zero(x.abs(), x));
        self.p.iter_mut().zip(&pushes).for_each(|(p, push)| zero(*push, p));
        drag.rows.iter().zip(&mut self.drag).for_each(|((row, _), p)| zero(push(row, *p), p));
        self.column = pushes;
    }

    /// `step ← x_free + Σ g p − x` over all rows, those with drag too, in twice the working precision.
    fn momentum_residual(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        self.drag_forces(island, drag);
        self.begin_sum(x_free.len());
        self.step.copy_from_slice(x_free);
        let active = self.active.iter().map(|(row, _)| *row).zip(self.p.iter().copied());
        let dragged = drag.rows.iter().map(|(row, _)| *row).zip(self.drag.iter().copied());
        for (row, p) in active.chain(self.fixed.iter().copied()).chain(dragged).filter(|(_, p)| *p != 0.0) {
            add_products(p, row.g(island), &mut self.step, &mut self.low);
        }
        add_products(-1.0, &self.x, &mut self.step, &mut self.low);
        self.step.iter_mut().zip(&self.low).zip(&self.x_low).for_each(|((step, low), x)| *step += low - x);
    }

    /// `step + low ← 0`, m numbers each.
    fn begin_sum(&mut self, m: usize) {
        for vector in [&mut self.step, &mut self.low] {
            vector.clear();
            vector.resize(m, 0.0);
        }
    }

    /// `drag ← −c (gᵀ x + bias)`. Where c is large this is a small difference times a large number, so it takes both parts of x.
    fn drag_forces(&mut self, island: &Whitened, drag: &Drag) {
        self.drag.clear();
        for (row, c) in &drag.rows {
            let slip = self.motion_of(row.g(island), row.bias(island));
            self.drag.push(-c * slip);
        }
    }

    /// `h ← −(Gᵀ x + bias)` in twice the working precision. Before the first round x is zero, and after it its low part still is.
    fn row_residual(&mut self, island: &Whitened, round: usize) {
        for k in 0..self.active.len() {
            let (row, bias) = self.active[k];
            let g = row.g(island);
            self.h[k] = match round {
                0 => -bias,
                1 => -dot2(bias, g, &self.x),
                _ => -self.motion_of(g, bias),
            };
        }
    }

    /// From residuals in `step` (as `t = L⁻¹ ρ`) and `h` (as σ) to new x and p.
    fn take_step(&mut self, drag: &Drag) {
        self.qr.solve_rt(&mut self.h);
        self.column.resize(self.h.len(), 0.0);
        self.qr.mul_qt_into(&self.step, &mut self.column);
        self.h.iter_mut().zip(&self.column).for_each(|(h, c)| *h -= c);
        self.qr.add_q(&self.h, &mut self.step);
        drag.solve_transposed(&mut self.step);
        self.qr.solve_r(&mut self.h);
        self.p.iter_mut().zip(&self.h).for_each(|(p, h)| *p += h);
        for (i, step) in self.step.iter().enumerate() {
            add_to(&mut self.x[i], &mut self.x_low[i], *step);
        }
    }

    /// Puts the basic row whose force is furthest outside its bounds on its bound; false if all are inside.
    fn drop_outside(&mut self, island: &Whitened) -> bool {
        let mut worst = (0.0, None);
        for ((row, _), p) in self.active.iter().zip(&self.p) {
            let (lo, hi) = row.bounds(island);
            let outside = (lo - p).max(p - hi);
            if outside > 0.0 && outside * norm(row.g(island)) > worst.0 {
                worst = (outside * norm(row.g(island)), Some((*row, p.clamp(lo, hi))));
            }
        }
        let Some((row, bound)) = worst.1 else { return false };
        // A row that was fixed for its dependence may be independent of the others now.
        self.fixed.retain(|(fixed, _)| !self.basic.iter().any(|(basic, _)| basic == fixed));
        self.basic.retain(|(basic, _)| *basic != row);
        if bound != 0.0 {
            self.fixed.push((row, bound));
        }
        true
    }

    /// Writes forces and motion.
    fn write(&self, drag: &Drag, forces: &mut IslandForces) {
        let active = self.active.iter().map(|(row, _)| *row).zip(self.p.iter().copied());
        for (row, p) in active.chain(self.fixed.iter().copied()) {
            *row.force(forces) = p;
        }
        for ((row, _), p) in drag.rows.iter().zip(&self.drag) {
            *row.force(forces) = *p;
        }
        forces.x.copy_from_slice(&self.x);
    }
}

impl Recovery {
    /// Multipliers p of the rows in the factor with `Σ g p = −Σ g y` over the `fixed` rows (row, y), refined once.
    pub(super) fn balance(&mut self, island: &Whitened, drag: &Drag) {
        self.p.clear();
        self.p.resize(self.active.len(), 0.0);
        for _ in 0..2 {
            self.begin_sum(island.m());
            let active = self.active.iter().map(|(row, _)| *row).zip(self.p.iter().copied());
            for (row, y) in active.chain(self.fixed.iter().copied()) {
                add_products(y, row.g(island), &mut self.step, &mut self.low);
            }
            self.step.iter_mut().zip(&self.low).for_each(|(step, low)| *step = -(*step + low));
            drag.solve(&mut self.step);
            self.h.resize(self.active.len(), 0.0);
            self.qr.mul_qt_into(&self.step, &mut self.h);
            self.qr.solve_r(&mut self.h);
            self.p.iter_mut().zip(&self.h).for_each(|(p, h)| *p += h);
        }
    }
}

/// `Σ |gᵢ xᵢ|`.
pub(super) fn abs_dot(g: &[f64], x: &[f64]) -> f64 {
    let ((gc, gr), (xc, xr)) = (g.as_chunks::<4>(), x.as_chunks::<4>());
    let mut lane = [0.0f64; 4];
    for (g, x) in gc.iter().zip(xc) {
        for k in 0..4 {
            lane[k] += (g[k] * x[k]).abs();
        }
    }
    let rest: f64 = gr.iter().zip(xr).map(|(g, x)| (g * x).abs()).sum();
    (lane[0] + lane[1]) + (lane[2] + lane[3]) + rest
}

//! From the letters of the complementarity problem to forces and motion: one linear system, refined.

use stiction_lcp::factor::{ActiveQr, DEPENDENT};
use stiction_lcp::matrix::{max_abs, norm};
use stiction_lcp::{Basis, Position};

use crate::by_island::IslandForces;
use crate::doubled::{Doubled, add_to};
use crate::models::normal_problem::{Drag, NormalProblem, Row, position};
use crate::whitened::Whitened;

/// Solves of the system at most: the first, and refinements.
const ROUNDS: usize = 4;

/// A step of at most this part of the motion is the last one: the next is below rounding.
const SETTLED: f64 = 1e-14;

/// Forces and motions at most this part of the largest, in whitened units, are what refinement leaves of zero: 1e-32, times a condition. They are
/// zero, because momentum among nothing but them would not balance.
const VANISHES: f64 = 1e-24;

/// The rows that hold in the end, and the solution of their system
///
/// `K x − G p = b`, `Gᵀ x + bias = 0`, with `K = I + Σ c g gᵀ` the inertia with drag and b what is known:
///
/// a step from residuals (ρ, σ) is `t = L⁻¹ ρ`, `h = R⁻ᵀ σ − Qᵀ t`, `Δp = R⁻¹ h`, `Δx = L⁻ᵀ (t + Q h)` with `L⁻¹ G = Q R`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recovery {
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
    sum: Vec<Doubled>,
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
        let mut letters = Basis::lower(Row::slots(island));
        self.recovery.basic.clear();
        self.recovery.fixed.clear();
        for (j, row) in self.rows.iter().enumerate() {
            letters.set(row.slot(island), at(j));
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
        forces.basis = letters;
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

    /// Starts the factor with the held rows that FIND-INDICES kept.
    pub(super) fn factor_held(&mut self, island: &Whitened) {
        let m = island.m();
        self.recovery.qr.reset(m, m, DEPENDENT);
        self.recovery.active.clear();
        self.recovery.fixed.clear();
        for &number in self.find.kept() {
            self.recovery.append(island, &self.drag, self.held[number], self.find.bias(number));
        }
    }

    /// The motion under the held rows and drag alone, as exact as the data: noise in it would be forces and motion where there are none.
    pub(super) fn move_held(&mut self, island: &Whitened) {
        self.factor_held(island);
        self.recovery.refine(island, &self.x_free, &self.drag);
    }
}

impl Recovery {
    /// Takes `row` into the factor; false if it depends on those before.
    pub fn append(&mut self, island: &Whitened, drag: &Drag, row: Row, bias: f64) -> bool {
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

    /// `gᵀ x + bias` of `row` at the motion found last, in twice the working precision, and the size of its terms.
    pub fn motion(&self, island: &Whitened, row: Row) -> (f64, f64) {
        let (g, bias) = (row.g(island), row.bias(island));
        let mut motion = Doubled::dot(bias, g, &self.x);
        motion.add_dot(g, &self.x_low);
        let size = g.iter().zip(&self.x).fold(bias.abs(), |size, (g, x)| size + (g * x).abs());
        (motion.value(), size)
    }

    /// The length of the motion found last.
    pub fn speed(&self) -> f64 {
        norm(&self.x)
    }

    /// Solves the system from nothing, and refines.
    fn refine(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        let (m, k) = (island.m(), self.active.len());
        for (vector, size) in [(&mut self.x, m), (&mut self.x_low, m), (&mut self.p, k), (&mut self.h, k)] {
            vector.clear();
            vector.resize(size, 0.0);
        }
        for _ in 0..ROUNDS {
            self.momentum_residual(island, x_free, drag);
            drag.solve(&mut self.step);
            self.row_residual(island);
            self.take_step(drag);
            if norm(&self.step) <= SETTLED * norm(&self.x) {
                break;
            }
        }
        self.drag_forces(island, drag);
    }

    /// Sets to zero what is zero but for what refinement leaves.
    fn drop_noise(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        let push = |row: &Row, p: f64| max_abs(row.g(island)) * p.abs();
        let active = self.active.iter().zip(&self.p).map(|((row, _), p)| push(row, *p));
        let known = self.fixed.iter().map(|(row, p)| push(row, *p));
        let largest = active.chain(known).fold(max_abs(x_free).max(max_abs(&self.x)), f64::max);
        let zero = |size: f64, x: &mut f64| {
            if size <= VANISHES * largest {
                *x = 0.0;
            }
        };
        self.x.iter_mut().for_each(|x| zero(x.abs(), x));
        self.active.iter().zip(&mut self.p).for_each(|((row, _), p)| zero(push(row, *p), p));
        drag.rows.iter().zip(&mut self.drag).for_each(|((row, _), p)| zero(push(row, *p), p));
    }

    /// `step ← x_free + Σ g p − x` over all rows, those with drag too, in twice the working precision.
    fn momentum_residual(&mut self, island: &Whitened, x_free: &[f64], drag: &Drag) {
        self.drag_forces(island, drag);
        self.sum.clear();
        self.sum.extend(x_free.iter().map(|x| Doubled::new(*x)));
        let active = self.active.iter().map(|(row, _)| *row).zip(self.p.iter().copied());
        let dragged = drag.rows.iter().map(|(row, _)| *row).zip(self.drag.iter().copied());
        for (row, p) in active.chain(self.fixed.iter().copied()).chain(dragged).filter(|(_, p)| *p != 0.0) {
            self.sum.iter_mut().zip(row.g(island)).for_each(|(sum, g)| sum.add_product(*g, p));
        }
        self.step.clear();
        for (i, sum) in self.sum.iter_mut().enumerate() {
            sum.add(-self.x[i]);
            sum.add(-self.x_low[i]);
            self.step.push(sum.value());
        }
    }

    /// `drag ← −c (gᵀ x + bias)`. Where c is large this is a small difference times a large number, so it takes both parts of x.
    fn drag_forces(&mut self, island: &Whitened, drag: &Drag) {
        self.drag.clear();
        for (row, c) in &drag.rows {
            let mut slip = Doubled::dot(row.bias(island), row.g(island), &self.x);
            slip.add_dot(row.g(island), &self.x_low);
            self.drag.push(-c * slip.value());
        }
    }

    /// `h ← −(Gᵀ x + bias)` in twice the working precision.
    fn row_residual(&mut self, island: &Whitened) {
        for (h, (row, bias)) in self.h.iter_mut().zip(&self.active) {
            let mut motion = Doubled::dot(*bias, row.g(island), &self.x);
            motion.add_dot(row.g(island), &self.x_low);
            *h = -motion.value();
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
            let outside = (lo - p).max(p - hi) * norm(row.g(island));
            if outside > worst.0 {
                worst = (outside, Some((*row, p.clamp(lo, hi))));
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
    pub fn balance(&mut self, island: &Whitened, drag: &Drag) {
        self.p.clear();
        self.p.resize(self.active.len(), 0.0);
        for _ in 0..2 {
            self.sum.clear();
            self.sum.resize(island.m(), Doubled::default());
            let active = self.active.iter().map(|(row, _)| *row).zip(self.p.iter().copied());
            for (row, y) in active.chain(self.fixed.iter().copied()) {
                self.sum.iter_mut().zip(row.g(island)).for_each(|(sum, g)| sum.add_product(*g, y));
            }
            self.step.clear();
            self.step.extend(self.sum.iter().map(|sum| -sum.value()));
            drag.solve(&mut self.step);
            self.h.resize(self.active.len(), 0.0);
            self.qr.mul_qt_into(&self.step, &mut self.h);
            self.qr.solve_r(&mut self.h);
            self.p.iter_mut().zip(&self.h).for_each(|(p, h)| *p += h);
        }
    }
}

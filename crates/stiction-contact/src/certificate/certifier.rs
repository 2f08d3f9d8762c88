//! Certificates from the problem as given: sizes of all terms, momentum, then row by row (see `rows.rs`).

use std::time::Instant;

use super::measures::{Worst, ratio};
use super::{Law, PhysicalCertificate, Place};
use crate::mass::{LANES, Mass};
use crate::model::{ContactStats, Level, Mode};
use crate::problem::ContactProblem;
use crate::rows::Rows;
use crate::solution::ContactForces;

/// The terms of a row, or of a velocity's momentum, count as at least this part of those of the bodies they belong to, in units of energy: beside a
/// speed along z, the rounding of directions is a speed along x.
const FLOOR: f64 = 1e-5;

/// The terms of a row count as at most this many times the motion of the whole with and without forces, in units of energy. Internal forces are of the size of what
/// squeezes; larger ones by this much are no answer.
const GROWTH: f64 = 1e4;

/// Computes certificates; keeps its workspace, so that none is allocated again.
#[derive(Debug, Clone, Default)]
pub struct Certifier {
    /// Size of each velocity's (acceleration's) terms, m.
    pub(super) speed: Vec<f64>,
    /// Momentum residual and the size of its terms, m each.
    pub(super) residual: Vec<f64>,
    pub(super) size: Vec<f64>,
    /// `row M⁻¹ rowᵀ` of all rows, kind after kind.
    pub(super) w: Vec<f64>,
    /// The four rows of each contact, n.
    pub(super) seen: Vec<[Seen; 4]>,
    /// For the first of contacts with the same rows: the last of them that has no forces and was measured, n.
    pub(super) idle: Vec<Option<usize>>,
    lanes: Lanes,
    /// Largest `√Mᵢᵢ sᵢ` of each block.
    block_speed: Vec<f64>,
    /// `√(Σ M s²)` of the motion with and without forces.
    reach: f64,
    pub(super) modes: Vec<Mode>,
}

/// What a row shows of the motion: `row v⁺`, and the size of its terms; without its bias.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub motion: f64,
    pub terms: f64,
}

impl Certifier {
    /// The certificate of `forces` and `motion` under `law`.
    pub fn certify(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
    ) -> PhysicalCertificate {
        let mut out = PhysicalCertificate::default();
        let mut worst = Worst::default();
        self.measure_speeds(problem, law.level(), forces, motion);
        if law.quasistatic() {
            // Without inertia there is no motion that forces could be measured by.
            self.reach = f64::INFINITY;
            self.speed.iter_mut().zip(motion).for_each(|(s, a)| *s += a.abs());
        }
        out.momentum = self.momentum(problem, law, forces, motion, &mut worst);
        out.momentum = out.momentum.max(not_numbers(problem, forces, &mut worst));
        self.contacts(problem, law, forces, motion, &mut out, &mut worst);
        self.limits(problem, law, forces, motion, &mut out, &mut worst);
        self.bilaterals(problem, law.level(), motion, &mut out, &mut worst);
        self.bounded(problem, law.level(), forces, motion, &mut out, &mut worst);
        let whole = law.whole(problem, forces, motion);
        out.friction = out.friction.max(worst.see(whole, Place::Whole));
        out.worst = worst.place;
        out
    }

    /// [`Certifier::certify`], and the time it takes into `stats`.
    pub(crate) fn certify_timed(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        stats: &mut ContactStats,
    ) -> PhysicalCertificate {
        let start = Instant::now();
        let certificate = self.certify(problem, law, forces, motion);
        stats.certificate.0 += start.elapsed();
        certificate
    }

    /// What each contact does, as seen by the last certificate.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// `speed ← |v| + dt |M⁻¹ f| + Σ |M⁻¹ rowᵀ p|` (without v and dt at acceleration level) and `w ← row M⁻¹ rowᵀ`.
    fn measure_speeds(&mut self, problem: &ContactProblem, level: Level, forces: &ContactForces, motion: &[f64]) {
        let (mass, layout) = (problem.mass(), problem.layout());
        self.speed.clear();
        self.speed.extend_from_slice(problem.force());
        mass.solve(&mut self.speed);
        for (s, v) in self.speed.iter_mut().zip(problem.v()) {
            *s = if level == Level::Velocity { problem.dt() * s.abs() + v.abs() } else { s.abs() };
        }
        self.measure_reach(problem, motion);
        self.w.clear();
        for (kind, (rows, p)) in forces.with_rows(problem).into_iter().enumerate() {
            let first = self.w.len();
            for i in 0..rows.len() {
                // Contacts with the same rows share their W.
                let twin = if kind < 4 { problem.contacts().twin[i] } else { i };
                if twin < i && p[i] == 0.0 {
                    self.lanes.flush(mass, &mut self.w, &mut self.speed);
                    self.w.push(self.w[first + twin]);
                } else {
                    self.push(problem, rows, i, p[i]);
                }
            }
        }
        self.lanes.flush(mass, &mut self.w, &mut self.speed);
        self.block_speed.clear();
        for b in 0..layout.blocks() {
            let (speeds, block) = (&self.speed[layout.range(b)], mass.block(b));
            let largest = speeds.iter().enumerate().fold(0.0, |max: f64, (i, s)| max.max(block[(i, i)].sqrt() * s));
            self.block_speed.push(largest);
        }
    }

    /// Adds what the force `p` along row `i` does to the speeds of its bodies, and the row's W to `w`: at once for free bodies, a few rows at a time for larger
    /// blocks.
    fn push(&mut self, problem: &ContactProblem, rows: &Rows, i: usize, p: f64) {
        let at = self.w.len();
        self.w.push(0.0);
        for (block, values) in rows.row(i) {
            if let Ok(mut free) = <[f64; 6]>::try_from(values) {
                let speed = &mut self.speed[problem.layout().range(block)];
                self.w[at] += push_block(problem.mass(), block, &mut free, p, speed);
            } else {
                if !self.lanes.has_room_for(block) {
                    self.lanes.flush(problem.mass(), &mut self.w, &mut self.speed);
                }
                self.lanes.add(block, values, Lane { at, p });
            }
        }
    }

    /// `reach ← √(Σ Mᵢᵢ (sᵢ + |motionᵢ|)²)` of the speeds without forces.
    fn measure_reach(&mut self, problem: &ContactProblem, motion: &[f64]) {
        let layout = problem.layout();
        let mut sum = 0.0;
        for b in 0..layout.blocks() {
            let (range, block) = (layout.range(b), problem.mass().block(b));
            for (k, i) in range.enumerate() {
                let speed = self.speed[i] + motion[i].abs();
                sum += block[(k, k)] * speed * speed;
            }
        }
        self.reach = sum.sqrt();
    }

    /// What row `i`, of this W, shows of `motion`.
    #[inline]
    pub(super) fn see(&self, rows: &Rows, i: usize, motion: &[f64], w: f64) -> Seen {
        let bodies = rows.blocks(i).fold(0.0, |max: f64, b| max.max(self.block_speed[b]));
        let root = w.sqrt();
        let most = if root > 0.0 { GROWTH * root * self.reach } else { 0.0 };
        let terms = (rows.abs_dot(i, &self.speed) + FLOOR * root * bodies).min(most);
        Seen { motion: rows.dot(i, motion), terms }
    }

    fn momentum(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        worst: &mut Worst,
    ) -> f64 {
        self.inertia(problem, law, motion);
        for (rows, p) in forces.with_rows(problem) {
            for i in (0..rows.len()).filter(|&i| p[i] != 0.0) {
                for (block, values) in rows.row(i) {
                    let range = problem.layout().range(block);
                    let sums = self.residual[range.clone()].iter_mut().zip(&mut self.size[range]);
                    for (x, (residual, size)) in values.iter().zip(sums) {
                        *residual -= x * p[i];
                        *size += (x * p[i]).abs();
                    }
                }
            }
        }
        // Forces are rounded beside their own size, so momentum is measured beside it too.
        (0..problem.m())
            .fold(0.0, |max: f64, j| max.max(worst.see(ratio(self.residual[j], self.size[j]), Place::Velocity(j))))
    }

    /// `residual ← M (v⁺ − v) − dt f` (or `M v̇ − f`; without M in quasistatics), and the size of its terms.
    fn inertia(&mut self, problem: &ContactProblem, law: &dyn Law, motion: &[f64]) {
        let (velocity, unit) = match law.level() {
            Level::Velocity => (1.0, problem.dt()),
            Level::Acceleration => (0.0, 1.0),
        };
        let inertia = if law.quasistatic() { 0.0 } else { 1.0 };
        self.residual.clear();
        self.residual.extend(problem.force().iter().map(|f| -unit * f));
        self.size.clear();
        self.size.extend(problem.force().iter().map(|f| (unit * f).abs()));
        for b in 0..problem.layout().blocks() {
            let (range, block) = (problem.layout().range(b), problem.mass().block(b));
            let (residual, size) = (&mut self.residual[range.clone()], &mut self.size[range.clone()]);
            for (k, j) in range.enumerate() {
                let (next, now) = (motion[j], velocity * problem.v()[j]);
                let (change, terms) = (next - now, next.abs() + now.abs());
                for ((residual, size), a) in residual.iter_mut().zip(size.iter_mut()).zip(block.col(k)) {
                    let a = inertia * a;
                    *residual += a * change;
                    *size += a.abs() * terms;
                }
            }
            for (k, size) in size.iter_mut().enumerate() {
                *size += FLOOR * block[(k, k)].sqrt() * self.block_speed[b];
            }
        }
    }
}

/// `‖L⁻¹ yᵀ‖²` for a row's entries y of one block, and `speed ← speed + |M⁻¹ yᵀ p|`; y is overwritten.
#[inline]
fn push_block(mass: &Mass, block: usize, y: &mut [f64], p: f64, speed: &mut [f64]) -> f64 {
    mass.solve_factor(block, y);
    let w = y.iter().map(|x| x * x).sum::<f64>();
    if p != 0.0 {
        mass.solve_factor_transposed(block, y);
        speed.iter_mut().zip(y.iter()).for_each(|(s, x)| *s += (x * p).abs());
    }
    w
}

/// A row among [`Lanes`]: the place of its W and its force.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    at: usize,
    p: f64,
}

/// Rows' entries for one block, to be pushed together.
#[derive(Debug, Clone, Default)]
struct Lanes {
    block: usize,
    lanes: [Lane; LANES],
    used: usize,
    /// Entry by entry, all lanes beside each other; unused ones are zero.
    y: Vec<[f64; LANES]>,
}

impl Lanes {
    fn has_room_for(&self, block: usize) -> bool {
        self.used == 0 || (self.used < LANES && self.block == block)
    }

    fn add(&mut self, block: usize, values: &[f64], lane: Lane) {
        if self.used == 0 {
            self.block = block;
            self.y.clear();
            self.y.resize(values.len(), [0.0; LANES]);
        }
        self.y.iter_mut().zip(values).for_each(|(y, x)| y[self.used] = *x);
        self.lanes[self.used] = lane;
        self.used += 1;
    }

    /// [`push_block`] for each row that waits.
    fn flush(&mut self, mass: &Mass, w: &mut [f64], speed: &mut [f64]) {
        if self.used == 0 {
            return;
        }
        mass.solve_factor_lanes(self.block, &mut self.y);
        let mut squares = [0.0; LANES];
        for y in &self.y {
            for k in 0..LANES {
                squares[k] += y[k] * y[k];
            }
        }
        let lanes = &self.lanes[..self.used];
        lanes.iter().zip(squares).for_each(|(lane, square)| w[lane.at] += square);
        if lanes.iter().any(|lane| lane.p != 0.0) {
            mass.solve_factor_transposed_lanes(self.block, &mut self.y);
            for (s, y) in speed[mass.layout().range(self.block)].iter_mut().zip(&self.y) {
                for (lane, y) in lanes.iter().zip(y).filter(|(lane, _)| lane.p != 0.0) {
                    *s += (y * lane.p).abs();
                }
            }
        }
        self.used = 0;
    }
}

/// Infinity if a force is not finite, also along a row that moves nothing and so is in no sum; else 0.
fn not_numbers(problem: &ContactProblem, forces: &ContactForces, worst: &mut Worst) -> f64 {
    for (kind, (_, p)) in forces.with_rows(problem).into_iter().enumerate() {
        if let Some(i) = p.iter().position(|p| !p.is_finite()) {
            let place = [Place::Contact, Place::Bilateral, Place::Limit, Place::Bounded][kind.max(3) - 3](i);
            return worst.see(f64::INFINITY, place);
        }
    }
    0.0
}

//! Certificates from the problem as given: sizes of all terms, momentum, then row by row (see `rows.rs`).

use std::time::Instant;

use super::energy::EnergySums;
use super::measures::{UNIT, Worst, ratio};
use super::scales::Scales;
use super::sums::add_multiple;
use super::{Law, NormalLaw, PhysicalCertificate, Place};
use crate::mass::{LANES, Mass};
use crate::model::{ContactStats, Level, Mode};
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;
use crate::solution::ContactForces;

/// The terms of a row, or of a velocity's momentum, count as at least this part of those of the bodies they belong to, in units of energy: beside a
/// speed along z, the rounding of directions is a speed along x.
const FLOOR: f64 = 1e-5;

/// Additions in a sum besides those that are counted.
const SHORT_SUM: usize = 4;

/// Velocities of a free body.
const FREE: usize = 6;

/// Computes certificates; keeps its workspace, so that none is allocated again.
#[derive(Debug, Clone, Default)]
pub struct Certifier {
    /// Size of each velocity's (acceleration's) terms, m.
    pub(super) speed: Vec<f64>,
    /// Momentum residual, what its last digits leave, and the size of its terms, m each.
    pub(super) residual: Vec<f64>,
    low: Vec<f64>,
    pub(super) size: Vec<f64>,
    /// `row M⁻¹ rowᵀ` of all rows, kind after kind.
    pub(super) w: Vec<f64>,
    /// The rows of each contact, n.
    pub(super) seen: Vec<[Seen; CONTACT_ROWS]>,
    /// For the first of contacts with the same rows: the last of them that has no forces and was measured, n.
    pub(super) idle: Vec<Option<usize>>,
    lanes: Lanes,
    /// Largest `√Mᵢᵢ sᵢ` of each block.
    block_speed: Vec<f64>,
    /// Islands and their energy norms E_I.
    pub(super) scales: Scales,
    /// The energy inequality of each island.
    pub(super) energy: EnergySums,
    /// `√(M⁻¹)ⱼⱼ`, m.
    unit_motion: Vec<f64>,
    /// `M⁻¹` of each block, of those of free bodies only: most blocks are, and a product costs less than two triangular solves.
    inverses: Vec<[[f64; FREE]; FREE]>,
    /// Forces that act on each block.
    forces_on: Vec<usize>,
    pub(super) modes: Vec<Mode>,
}

/// What a row shows of the motion, without its bias.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// `row v⁺`.
    pub motion: f64,
    /// A bound on the rounding of `motion`.
    pub rounding: f64,
    /// The size of its terms: ω without the bias.
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
        let level = law.level();
        self.find_inverses(problem.mass());
        self.measure_speeds(problem, level, forces);
        self.scales.measure(problem, level, &self.w);
        if law.quasistatic() {
            // Without inertia there is no motion that forces could be measured by.
            self.scales.lift();
            self.speed.iter_mut().zip(motion).for_each(|(s, a)| *s += a.abs());
        }
        self.energy.start(problem.layout().blocks());
        out.momentum = self.momentum(problem, law, forces, motion, &mut worst);
        out.momentum = out.momentum.max(not_numbers(problem, forces, &mut worst));
        self.contacts(problem, law, forces, motion, &mut out, &mut worst);
        self.limits(problem, law, forces, motion, &mut out, &mut worst);
        self.bilaterals(problem, level, forces, motion, &mut out, &mut worst);
        self.bounded(problem, level, forces, motion, &mut out, &mut worst);
        let whole = law.whole(problem, forces, motion);
        out.friction = out.friction.max(worst.see(whole, Place::Whole));
        let obeys = level == Level::Velocity && law.normal_law() == NormalLaw::Signorini;
        if obeys && !law.quasistatic() && out.inconsistency == 0.0 {
            out.energy = self.energy.measure(&mut worst);
            out.driven_work = self.energy.driven_work();
        }
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

    /// The row whose force is the largest beside what the data of its island warrant, `√W |p| / E_I`, as seen by the last certificate; with that number.
    pub fn largest_force(&self, problem: &ContactProblem, forces: &ContactForces) -> (f64, Place) {
        let (mut largest, mut first) = ((0.0, Place::Nowhere), 0);
        for (kind, (rows, p)) in forces.with_rows(problem).into_iter().enumerate() {
            for i in (0..rows.len()).filter(|&i| p[i] != 0.0) {
                let Some(block) = rows.blocks(i).next() else { continue };
                let size = ratio(self.w[first + i].sqrt() * p[i], self.scales.energy_norm(block));
                if size > largest.0 {
                    largest = (size, place_of(kind, i));
                }
            }
            first += rows.len();
        }
        largest
    }

    /// Drops the forces of contacts and limits that are at most `part` of what the data of their island warrant, `√W |p| ≤ part E_I`
    /// in every row, as seen by the last certificate; true if there were any.
    pub(crate) fn drop_forces(&self, problem: &ContactProblem, forces: &mut ContactForces, part: f64) -> bool {
        let (n, joints) = (problem.contacts().len(), problem.bilaterals().rows.len());
        let is_small = |rows: &Rows, i: usize, w: usize, p: f64| {
            let norm = rows.blocks(i).next().map_or(0.0, |block| self.scales.energy_norm(block));
            self.w[w].sqrt() * p.abs() <= part * norm
        };
        let mut dropped = false;
        for i in 0..n {
            let all = forces.with_rows(problem);
            let mut kinds = all.iter().take(CONTACT_ROWS).enumerate().filter(|(_, (_, p))| p[i] != 0.0).peekable();
            if kinds.peek().is_some() && kinds.all(|(kind, (rows, p))| is_small(rows, i, kind * n + i, p[i])) {
                forces.contacts_mut().into_iter().for_each(|p| p[i] = 0.0);
                dropped = true;
            }
        }
        for (i, p) in forces.limit.iter_mut().enumerate().filter(|(_, p)| **p != 0.0) {
            if is_small(&problem.limits().rows, i, CONTACT_ROWS * n + joints + i, *p) {
                *p = 0.0;
                dropped = true;
            }
        }
        dropped
    }

    /// What each contact does, as seen by the last certificate.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// `speed ← |v| + dt |M⁻¹ f| + Σ |M⁻¹ rowᵀ p|` (without v and dt at acceleration level) and `w ← row M⁻¹ rowᵀ`.
    fn measure_speeds(&mut self, problem: &ContactProblem, level: Level, forces: &ContactForces) {
        let (mass, layout) = (problem.mass(), problem.layout());
        self.speed.clear();
        self.speed.extend_from_slice(problem.force());
        mass.solve(&mut self.speed);
        for (s, v) in self.speed.iter_mut().zip(problem.v()) {
            *s = if level == Level::Velocity { problem.dt() * s.abs() + v.abs() } else { s.abs() };
        }
        self.w.clear();
        for (kind, (rows, p)) in forces.with_rows(problem).into_iter().enumerate() {
            let first = self.w.len();
            if rows.is_all_zero() {
                self.w.resize(first + rows.len(), 0.0);
                continue;
            }
            for i in 0..rows.len() {
                // Contacts with the same rows share their W.
                let twin = if kind < CONTACT_ROWS { problem.contacts().twin[i] } else { i };
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
            if let Ok(row) = <&[f64; FREE]>::try_from(values) {
                if let Some(speed) = self.speed[problem.layout().range(block)].first_chunk_mut() {
                    self.w[at] += push_free(&self.inverses[block], row, p, speed);
                }
            } else {
                if !self.lanes.has_room_for(block) {
                    self.lanes.flush(problem.mass(), &mut self.w, &mut self.speed);
                }
                self.lanes.add(block, values, Lane { at, p });
            }
        }
    }

    /// What row `i`, of this W, shows of `motion`.
    #[inline]
    pub(super) fn see(&self, rows: &Rows, i: usize, motion: &[f64], w: f64) -> Seen {
        let Some(block) = rows.blocks(i).next() else { return Seen::default() };
        let bodies = rows.blocks(i).fold(0.0, |max: f64, b| max.max(self.block_speed[b]));
        let root = w.sqrt();
        let most = if root > 0.0 { root * self.scales.energy_norm(block) } else { 0.0 };
        let [motion, sizes, speeds] = rows.dot_and_terms(i, motion, &self.speed);
        let terms = (speeds + FLOOR * root * bodies).min(most);
        Seen { motion, rounding: UNIT * (rows.numbers(i) + 1) as f64 * sizes, terms }
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
        self.forces_on.clear();
        self.forces_on.resize(problem.layout().blocks(), 0);
        for (rows, p) in forces.with_rows(problem) {
            for i in (0..rows.len()).filter(|&i| p[i] != 0.0) {
                for (block, values) in rows.row(i) {
                    self.forces_on[block] += 1;
                    let range = problem.layout().range(block);
                    let (high, low) = (&mut self.residual[range.clone()], &mut self.low[range.clone()]);
                    add_multiple(-p[i], values, high, low);
                    self.size[range].iter_mut().zip(values).for_each(|(size, x)| *size += (x * p[i]).abs());
                }
            }
        }
        // Forces are rounded beside their own size, so momentum is measured beside it too; but no
        // force may be so large that its rounding is motion beside that of the data.
        let mut largest = 0.0f64;
        for b in 0..problem.layout().blocks() {
            let range = problem.layout().range(b);
            let energy_norm = self.scales.energy_norm(b);
            // Of a sum in twice the working precision.
            let rounding = (UNIT * (self.forces_on[b] + 2 * range.len() + SHORT_SUM) as f64).powi(2);
            for j in range {
                let residual = (self.residual[j] + self.low[j]).abs() + rounding * self.size[j];
                let measure = ratio(residual, self.size[j]).max(ratio(residual * self.unit_motion[j], energy_norm));
                largest = largest.max(worst.see(measure, Place::Velocity(j)));
            }
        }
        largest
    }

    /// `unit_motion ← √(M⁻¹)ⱼⱼ` and the inverses of free bodies' blocks, a few columns at a time.
    fn find_inverses(&mut self, mass: &Mass) {
        self.unit_motion.clear();
        self.inverses.clear();
        for b in 0..mass.layout().blocks() {
            let size = mass.layout().size(b);
            let mut inverse = [[0.0; FREE]; FREE];
            for first in (0..size).step_by(LANES) {
                let squares = self.lanes.inverse_columns(mass, b, first);
                let columns = LANES.min(size - first);
                self.unit_motion.extend(squares.iter().take(columns).map(|x| x.sqrt()));
                if size == FREE {
                    mass.solve_factor_transposed_lanes(b, &mut self.lanes.y);
                    for (k, column) in inverse[first..first + columns].iter_mut().enumerate() {
                        column.iter_mut().zip(&self.lanes.y).for_each(|(x, y)| *x = y[k]);
                    }
                }
            }
            self.inverses.push(inverse);
        }
    }

    /// `residual ← M (v⁺ − v) − dt f` (or `M v̇ − f`; without M in quasistatics), and the size of its terms.
    fn inertia(&mut self, problem: &ContactProblem, law: &dyn Law, motion: &[f64]) {
        let (velocity, unit) = match law.level() {
            Level::Velocity => (1.0, problem.dt()),
            Level::Acceleration => (0.0, 1.0),
        };
        let inertia = if law.quasistatic() { 0.0 } else { 1.0 };
        self.residual.clear();
        self.residual.resize(problem.m(), 0.0);
        self.low.clear();
        self.low.resize(problem.m(), 0.0);
        add_multiple(-unit, problem.force(), &mut self.residual, &mut self.low);
        self.size.clear();
        self.size.extend(problem.force().iter().map(|f| (unit * f).abs()));
        for b in 0..problem.layout().blocks() {
            let (range, block) = (problem.layout().range(b), problem.mass().block(b));
            let (high, low) = (&mut self.residual[range.clone()], &mut self.low[range.clone()]);
            let size = &mut self.size[range.clone()];
            for (k, j) in range.enumerate().filter(|_| inertia > 0.0) {
                let (next, now) = (motion[j], velocity * problem.v()[j]);
                add_multiple(next, block.col(k), high, low);
                add_multiple(-now, block.col(k), high, low);
                let terms = next.abs() + now.abs();
                size.iter_mut().zip(block.col(k)).for_each(|(size, a)| *size += a.abs() * terms);
            }
            if inertia > 0.0 {
                let island = self.scales.island(b);
                let range = problem.layout().range(b);
                self.energy.add_inertia(island, &motion[range], high, size);
            }
            for (k, size) in size.iter_mut().enumerate() {
                *size += FLOOR * block[(k, k)].sqrt() * self.block_speed[b];
            }
        }
    }
}

/// `y M⁻¹ yᵀ` for a row's entries y of a free body, and `speed ← speed + |M⁻¹ yᵀ p|`.
#[inline]
fn push_free(inverse: &[[f64; FREE]; FREE], y: &[f64; FREE], p: f64, speed: &mut [f64; FREE]) -> f64 {
    let mut motion = [0.0; FREE];
    for (column, y) in inverse.iter().zip(y) {
        for k in 0..FREE {
            motion[k] += column[k] * y;
        }
    }
    if p != 0.0 {
        for k in 0..FREE {
            speed[k] += (motion[k] * p).abs();
        }
    }
    let w: f64 = (0..FREE).map(|k| y[k] * motion[k]).sum();
    w.max(0.0)
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
    /// Squared lengths of the columns of `L⁻¹` of block `b` from `first` on: `(M⁻¹)ⱼⱼ`. Nothing may wait.
    fn inverse_columns(&mut self, mass: &Mass, b: usize, first: usize) -> [f64; LANES] {
        let size = mass.layout().size(b);
        self.y.clear();
        self.y.resize(size, [0.0; LANES]);
        (0..LANES.min(size - first)).for_each(|k| self.y[first + k][k] = 1.0);
        mass.solve_factor_lanes(b, &mut self.y);
        let mut squares = [0.0; LANES];
        for y in &self.y[first..] {
            (0..LANES).for_each(|k| squares[k] += y[k] * y[k]);
        }
        squares
    }

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

    /// [`push_free`] for each row that waits, by the factor.
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
            return worst.see(f64::INFINITY, place_of(kind, i));
        }
    }
    0.0
}

/// The place of row `i` of a kind: the first are those of contacts.
fn place_of(kind: usize, i: usize) -> Place {
    const LAST: usize = CONTACT_ROWS - 1;
    [Place::Contact, Place::Bilateral, Place::Limit, Place::Bounded][kind.max(LAST) - LAST](i)
}

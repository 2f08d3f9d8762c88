//! Certificates from the problem as given: sizes of all terms, momentum, then row by row (see `rows.rs`).

use std::time::Instant;

use super::energy::EnergySums;
use super::measures::{UNIT, Worst, larger, ratio};
use super::scales::Scales;
use super::sums::{add_multiple, add_product};
use super::{Law, NormalLaw, PhysicalCertificate, Place};
use crate::mass::{LANES, Mass};
use crate::model::{ContactStats, Level, Mode};
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;
use crate::solution::ContactForces;
use stiction_linalg::lanes;
use stiction_linalg::simd::{self, Kernel};

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
    /// What the rows of each contact show, n.
    pub(super) seen: Vec<SeenContact>,
    /// For the first of contacts with the same rows: the last of them that has no forces and was measured, n.
    pub(super) idle: Vec<Option<usize>>,
    lanes: Lanes,
    /// Largest `√Mᵢᵢ sᵢ` of each block.
    block_speed: Vec<f64>,
    /// Islands and their energy norms E_I.
    pub(super) scales: Scales,
    /// The energy inequality of each island.
    pub(super) energy: EnergySums,
    /// `√(M⁻¹)ⱼⱼ` and `√Mⱼⱼ`, m each.
    unit_motion: Vec<f64>,
    mass_root: Vec<f64>,
    /// Each block of six velocities, as those of free bodies are; of other blocks nothing.
    bodies: Vec<Body>,
    /// Forces that act on each block.
    forces_on: Vec<usize>,
    pub(super) modes: Vec<Mode>,
}

/// A block of six velocities, with everything that its rows are multiplied by and added to side by side.
#[derive(Debug, Clone, Copy, Default)]
struct Body {
    /// `M⁻¹`: a product costs less than two triangular solves.
    inverse: [[f64; FREE]; FREE],
    /// The body's part of [`Certifier`]'s vectors of these names, while rows are added.
    residual: [f64; FREE],
    low: [f64; FREE],
    size: [f64; FREE],
    speed: [f64; FREE],
    /// v⁺.
    motion: [f64; FREE],
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

/// What the rows of a contact show of the motion, without their biases: [`Seen`] row by row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeenContact {
    pub motion: [f64; CONTACT_ROWS],
    pub rounding: [f64; CONTACT_ROWS],
    pub terms: [f64; CONTACT_ROWS],
}

/// An answer and what it is judged by.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    pub problem: &'a ContactProblem,
    pub law: &'a dyn Law,
    pub forces: &'a ContactForces,
    pub motion: &'a [f64],
}

/// The sums over blocks and rows that all measures are made of, with wide vectors.
struct SumUp<'a>(&'a mut Certifier, Answer<'a>);

impl Kernel for SumUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(certifier, answer) = self;
        let problem = answer.problem;
        certifier.find_inverses(problem.mass());
        certifier.measure_free_speeds(problem, answer.law.level());
        certifier.sum_inertia(answer);
        certifier.load_bodies(answer);
        certifier.sum_rows(problem, answer.forces);
        certifier.store_bodies(problem);
        certifier.find_block_speeds(problem);
    }
}

/// The contacts of an answer, measured with wide vectors.
struct MeasureContacts<'a>(&'a mut Certifier, Answer<'a>, &'a mut PhysicalCertificate, &'a mut Worst);

impl Kernel for MeasureContacts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(certifier, answer, out, worst) = self;
        certifier.contacts(answer, out, worst);
    }
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
        let answer = Answer { problem, law, forces, motion };
        self.scales.find_islands(problem);
        self.energy.start(problem.layout().blocks());
        simd::run(SumUp(self, answer));
        self.scales.measure(problem, level, &self.w);
        if law.quasistatic() {
            // Without inertia there is no motion that forces could be measured by.
            self.scales.lift();
            self.speed.iter_mut().zip(motion).for_each(|(s, a)| *s += a.abs());
            self.load_bodies(answer);
        }
        out.momentum = self.momentum(problem, &mut worst);
        out.momentum = out.momentum.max(not_numbers(problem, forces, &mut worst));
        simd::run(MeasureContacts(self, answer, &mut out, &mut worst));
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

    /// `speed ← |v| + dt |M⁻¹ f|` (without v and dt at acceleration level).
    #[inline(always)]
    fn measure_free_speeds(&mut self, problem: &ContactProblem, level: Level) {
        self.speed.clear();
        self.speed.extend_from_slice(problem.force());
        problem.mass().solve(&mut self.speed);
        for (s, v) in self.speed.iter_mut().zip(problem.v()) {
            *s = if level == Level::Velocity { problem.dt() * s.abs() + v.abs() } else { s.abs() };
        }
    }

    /// Row by row: `w ← row M⁻¹ rowᵀ`, and where the row has a force p, `speed ← speed + |M⁻¹ rowᵀ p|` and
    /// `residual ← residual − rowᵀ p` with the size of its terms.
    #[inline(always)]
    fn sum_rows(&mut self, problem: &ContactProblem, forces: &ContactForces) {
        let (mass, twins) = (problem.mass(), &problem.contacts().twin);
        self.w.clear();
        self.forces_on.clear();
        self.forces_on.resize(problem.layout().blocks(), 0);
        for (kind, (rows, p)) in forces.with_rows(problem).into_iter().enumerate() {
            let first = self.w.len();
            if rows.is_all_zero() {
                self.w.resize(first + rows.len(), 0.0);
                continue;
            }
            for (i, &p) in p.iter().enumerate() {
                // Contacts with the same rows share their W.
                if kind < CONTACT_ROWS && p == 0.0 && twins[i] < i {
                    self.lanes.flush(mass, &mut self.w, &mut self.speed);
                    self.w.push(self.w[first + twins[i]]);
                } else {
                    self.add_row(mass, rows, i, p);
                }
            }
        }
        self.lanes.flush(mass, &mut self.w, &mut self.speed);
    }

    /// The part of row `i` with the force `p` in [`Certifier::sum_rows`]: at once for free bodies, a few rows at a time for larger blocks.
    #[inline(always)]
    fn add_row(&mut self, mass: &Mass, rows: &Rows, i: usize, p: f64) {
        let at = self.w.len();
        self.w.push(0.0);
        let mut w = 0.0;
        for (block, from, values) in rows.row_from(i) {
            if p != 0.0 {
                self.forces_on[block] += 1;
            }
            if let Ok(row) = <&[f64; FREE]>::try_from(values) {
                w += self.bodies[block].add(row, p);
                continue;
            }
            if p != 0.0 {
                let range = from..from + values.len();
                let (high, low) = (&mut self.residual[range.clone()], &mut self.low[range.clone()]);
                add_multiple(-p, values, high, low);
                self.size[range].iter_mut().zip(values).for_each(|(size, x)| *size += (x * p).abs());
            }
            if let [x] = values {
                let r = mass.reciprocals(block)[0];
                w += (x * r) * (x * r);
                self.speed[from] += (x * r * r * p).abs();
                continue;
            }
            if !self.lanes.has_room_for(block) {
                self.lanes.flush(mass, &mut self.w, &mut self.speed);
            }
            self.lanes.add(block, values, Lane { at, p });
        }
        self.w[at] += w;
    }

    /// Takes what was summed so far, and the motion, to the bodies.
    #[inline(always)]
    fn load_bodies(&mut self, Answer { problem, motion, .. }: Answer<'_>) {
        for (b, body) in self.bodies.iter_mut().enumerate().filter(|(b, _)| problem.layout().size(*b) == FREE) {
            let range = problem.layout().range(b);
            body.residual.copy_from_slice(&self.residual[range.clone()]);
            body.low.copy_from_slice(&self.low[range.clone()]);
            body.size.copy_from_slice(&self.size[range.clone()]);
            body.speed.copy_from_slice(&self.speed[range.clone()]);
            body.motion.copy_from_slice(&motion[range]);
        }
    }

    /// Puts what was added to the bodies back among the other velocities.
    #[inline(always)]
    fn store_bodies(&mut self, problem: &ContactProblem) {
        for (b, body) in self.bodies.iter().enumerate().filter(|(b, _)| problem.layout().size(*b) == FREE) {
            let range = problem.layout().range(b);
            self.residual[range.clone()].copy_from_slice(&body.residual);
            self.low[range.clone()].copy_from_slice(&body.low);
            self.size[range.clone()].copy_from_slice(&body.size);
            self.speed[range].copy_from_slice(&body.speed);
        }
    }

    /// The largest `√Mᵢᵢ sᵢ` of each block.
    #[inline(always)]
    fn find_block_speeds(&mut self, problem: &ContactProblem) {
        let layout = problem.layout();
        self.block_speed.clear();
        self.block_speed.extend((0..layout.blocks()).map(|b| {
            let range = layout.range(b);
            let sizes = self.mass_root[range.clone()].iter().zip(&self.speed[range]).map(|(root, s)| root * s);
            sizes.fold(0.0, f64::max)
        }));
    }

    /// What row `i`, of this W, shows of `motion`.
    #[inline(always)]
    pub(super) fn see(&self, rows: &Rows, i: usize, motion: &[f64], w: f64) -> Seen {
        let (mut first, mut numbers, mut bodies) = (None, 0, 0.0);
        // `Σ rowⱼ vⱼ`, `Σ |rowⱼ vⱼ|` and `Σ |rowⱼ| sⱼ`: of bodies in six lanes, and of other blocks.
        let (mut lane, mut sums) = ([[0.0; FREE]; 3], [0.0; 3]);
        for (block, from, values) in rows.row_from(i) {
            first = first.or(Some(block));
            numbers += values.len();
            bodies = larger(bodies, self.block_speed[block]);
            if let Ok(row) = <&[f64; FREE]>::try_from(values) {
                let body = &self.bodies[block];
                for k in 0..FREE {
                    let product = row[k] * body.motion[k];
                    lane[0][k] += product;
                    lane[1][k] += product.abs();
                    lane[2][k] += row[k].abs() * body.speed[k];
                }
            } else {
                let range = from..from + values.len();
                sums[0] += lanes::dot(values, &motion[range.clone()]);
                sums[1] += lanes::dot_of_sizes(values, &motion[range.clone()]);
                sums[2] += lanes::dot_of_sizes(values, &self.speed[range]);
            }
        }
        let Some(block) = first else { return Seen::default() };
        for (sum, t) in sums.iter_mut().zip(&lane) {
            *sum += (t[0] + t[2] + t[4]) + (t[1] + t[3] + t[5]);
        }
        let [motion, sizes, speeds] = sums;
        let root = w.sqrt();
        let most = if root > 0.0 { root * self.scales.energy_norm(block) } else { 0.0 };
        let terms = (speeds + FLOOR * root * bodies).min(most);
        Seen { motion, rounding: UNIT * (numbers + 1) as f64 * sizes, terms }
    }

    /// The residual of momentum beside its terms, velocity by velocity.
    fn momentum(&mut self, problem: &ContactProblem, worst: &mut Worst) -> f64 {
        // Forces are rounded beside their own size, so momentum is measured beside it too; but no
        // force may be so large that its rounding is motion beside that of the data.
        let mut largest = 0.0f64;
        for b in 0..problem.layout().blocks() {
            let range = problem.layout().range(b);
            let energy_norm = self.scales.energy_norm(b);
            // Of a sum in twice the working precision.
            let rounding = (UNIT * (self.forces_on[b] + 2 * range.len() + SHORT_SUM) as f64).powi(2);
            for j in range {
                let size = self.size[j] + FLOOR * self.mass_root[j] * self.block_speed[b];
                let residual = (self.residual[j] + self.low[j]).abs() + rounding * size;
                let measure = ratio(residual, size).max(ratio(residual * self.unit_motion[j], energy_norm));
                largest = largest.max(worst.see(measure, Place::Velocity(j)));
            }
        }
        largest
    }

    /// `unit_motion ← √(M⁻¹)ⱼⱼ`, `mass_root ← √Mⱼⱼ`, and the inverses of free bodies' blocks.
    #[inline(always)]
    fn find_inverses(&mut self, mass: &Mass) {
        self.unit_motion.clear();
        self.mass_root.clear();
        self.bodies.resize(mass.layout().blocks(), Body::default());
        for b in 0..mass.layout().blocks() {
            let (size, block, reciprocals) = (mass.layout().size(b), mass.block(b), mass.reciprocals(b));
            self.mass_root.extend((0..size).map(|j| block[(j, j)].sqrt()));
            let inverse = &mut self.bodies[b].inverse;
            let factor = mass.factor(b).as_slice();
            if mass.is_diagonal(b) {
                self.unit_motion.extend_from_slice(reciprocals);
                *inverse = [[0.0; FREE]; FREE];
                for (k, (column, r)) in inverse.iter_mut().zip(reciprocals).enumerate() {
                    column[k] = r * r;
                }
            } else if let (Ok(l), Ok(reciprocals)) = (factor.try_into(), reciprocals.try_into()) {
                let squares = invert_free(l, reciprocals, inverse);
                self.unit_motion.extend(squares.map(f64::sqrt));
            } else {
                for first in (0..size).step_by(LANES) {
                    let squares = self.lanes.inverse_columns(mass, b, first);
                    self.unit_motion.extend(squares.iter().take(size - first).map(|x| x.sqrt()));
                }
            }
        }
    }

    /// `residual ← M (v⁺ − v) − dt f` (or `M v̇ − f`; without M in quasistatics), and the size of its terms.
    #[inline(always)]
    fn sum_inertia(&mut self, Answer { problem, law, motion, .. }: Answer<'_>) {
        let (velocity, unit) = match law.level() {
            Level::Velocity => (1.0, problem.dt()),
            Level::Acceleration => (0.0, 1.0),
        };
        self.residual.clear();
        self.residual.resize(problem.m(), 0.0);
        self.low.clear();
        self.low.resize(problem.m(), 0.0);
        add_multiple(-unit, problem.force(), &mut self.residual, &mut self.low);
        self.size.clear();
        self.size.extend(problem.force().iter().map(|f| (unit * f).abs()));
        if law.quasistatic() {
            return;
        }
        for b in 0..problem.layout().blocks() {
            let (range, block) = (problem.layout().range(b), problem.mass().block(b));
            let (high, low) = (&mut self.residual[range.clone()], &mut self.low[range.clone()]);
            let size = &mut self.size[range.clone()];
            for (k, j) in range.clone().enumerate() {
                let (next, now) = (motion[j], velocity * problem.v()[j]);
                // What rests adds nothing.
                if next == 0.0 && now == 0.0 {
                    continue;
                }
                add_multiple(next, block.col(k), high, low);
                add_multiple(-now, block.col(k), high, low);
                let terms = next.abs() + now.abs();
                size.iter_mut().zip(block.col(k)).for_each(|(size, a)| *size += a.abs() * terms);
            }
            self.energy.add_inertia(self.scales.island(b), &motion[range], high, size);
        }
    }
}

impl Body {
    /// Adds what the force `p` along a row does, whose entries for this body are `y`; returns `y M⁻¹ yᵀ`.
    #[inline(always)]
    fn add(&mut self, y: &[f64; FREE], p: f64) -> f64 {
        let mut motion = [0.0; FREE];
        for (column, y) in self.inverse.iter().zip(y) {
            for k in 0..FREE {
                motion[k] += column[k] * y;
            }
        }
        if p != 0.0 {
            // Copies, so that all numbers are seen to be apart, and are added to side by side.
            let (mut residual, mut low, mut size, mut speed) = (self.residual, self.low, self.size, self.speed);
            for k in 0..FREE {
                add_product(-p, y[k], &mut residual[k], &mut low[k]);
                size[k] += (y[k] * p).abs();
                speed[k] += (motion[k] * p).abs();
            }
            (self.residual, self.low, self.size, self.speed) = (residual, low, size, speed);
        }
        let t: [f64; FREE] = std::array::from_fn(|k| y[k] * motion[k]);
        larger((t[0] + t[2] + t[4]) + (t[1] + t[3] + t[5]), 0.0)
    }
}

/// `inverse ← M⁻¹ = L⁻ᵀ L⁻¹` of a free body, given the reciprocals of L's diagonal; returns the squared lengths of the columns of
/// `L⁻¹`, which are its diagonal, as sums of squares.
#[inline(always)]
fn invert_free(l: &[f64; FREE * FREE], reciprocals: &[f64; FREE], inverse: &mut [[f64; FREE]; FREE]) -> [f64; FREE] {
    // Row i of L⁻¹, all columns side by side.
    let x = inverse;
    for i in 0..FREE {
        x[i] = [0.0; FREE];
        x[i][i] = 1.0;
    }
    for j in 0..FREE {
        x[j] = x[j].map(|x| x * reciprocals[j]);
        let done = x[j];
        for i in j + 1..FREE {
            let l = l[j * FREE + i];
            for k in 0..FREE {
                x[i][k] -= l * done[k];
            }
        }
    }
    let mut squares = [0.0; FREE];
    for row in x.iter() {
        for k in 0..FREE {
            squares[k] += row[k] * row[k];
        }
    }
    for j in (0..FREE).rev() {
        let mut sum = x[j];
        for i in j + 1..FREE {
            let (l, row) = (l[j * FREE + i], x[i]);
            for k in 0..FREE {
                sum[k] -= l * row[k];
            }
        }
        x[j] = sum.map(|s| s * reciprocals[j]);
    }
    squares
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
    #[inline(always)]
    fn inverse_columns(&mut self, mass: &Mass, b: usize, first: usize) -> [f64; LANES] {
        let size = mass.layout().size(b);
        self.y.clear();
        self.y.resize(size, [0.0; LANES]);
        (0..LANES.min(size - first)).for_each(|k| self.y[first + k][k] = 1.0);
        // What is above these columns stays zero.
        mass.solve_factor_lanes(b, first, &mut self.y);
        let mut squares = [0.0; LANES];
        for y in &self.y[first..] {
            (0..LANES).for_each(|k| squares[k] += y[k] * y[k]);
        }
        squares
    }

    #[inline(always)]
    fn has_room_for(&self, block: usize) -> bool {
        self.used == 0 || (self.used < LANES && self.block == block)
    }

    #[inline(always)]
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

    /// W and speeds of each row that waits, by the factor.
    #[inline(always)]
    fn flush(&mut self, mass: &Mass, w: &mut [f64], speed: &mut [f64]) {
        if self.used == 0 {
            return;
        }
        mass.solve_factor_lanes(self.block, 0, &mut self.y);
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

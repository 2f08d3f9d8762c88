//! Certificates from the problem as given: sizes of all terms, momentum, then row by row (see `rows.rs`).

use std::time::Instant;

use super::energy::EnergySums;
use super::measures::{UNIT, Worst, larger, ratio, root_or};
use super::scales::Scales;
use super::sums::{add_multiple, add_product, difference};
use super::{Law, NormalLaw, PhysicalCertificate, Place};
use crate::mass::Mass;
use crate::model::{ContactStats, Level, Mode};
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;
use crate::solution::ContactForces;
use stiction_linalg::lanes;

/// The terms of a row, or of a velocity's momentum, count as at least this part of those of the bodies they belong to, in units of energy: beside a
/// speed along z, the rounding of directions is a speed along x.
const FLOOR: f64 = 1e-5;

/// Additions in a sum besides those that are counted.
const SHORT_SUM: usize = 4;

/// Velocities of a free body.
const FREE: usize = 6;

/// Rows of larger blocks that are taken at a time.
const LANES: usize = 8;

/// Computes certificates; keeps its workspace, so that none is allocated again.
#[derive(Debug, Clone, Default)]
pub struct Certifier {
    /// Size of each velocity's (acceleration's) terms, m; where only contacts that rest act without those of forces, and so too small.
    pub(super) speed: Vec<f64>,
    /// Momentum residual, what its last digits leave, and the size of its terms, m each.
    pub(super) residual: Vec<f64>,
    low: Vec<f64>,
    pub(super) size: Vec<f64>,
    /// `row M⁻¹ rowᵀ` of all rows, kind after kind; not of contacts that rest.
    pub(super) w: Vec<f64>,
    /// What the rows of contacts show, and for the first of contacts with the same rows where it is, n.
    pub(super) seen: Vec<SeenContact>,
    pub(super) seen_at: Vec<Option<usize>>,
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
    /// Rows that act on each block.
    forces_on: Vec<usize>,
    /// Whether each contact rests, n: see [`Certifier::find_rest`].
    pub(super) rests: Vec<bool>,
    /// Whether each block has a row that does not, so that its speeds are needed.
    needs_speeds: Vec<bool>,
    /// Whether something may move in each island, at its first block.
    moves: Vec<bool>,
    pub(super) modes: Vec<Mode>,
}

/// A block of six velocities, with everything that its rows are multiplied by and added to side by side.
#[derive(Debug, Clone, Copy, Default)]
struct Body {
    /// `M⁻¹`: a product costs less than two triangular solves.
    inverse: [[f64; FREE]; FREE],
    /// Whether the first three velocities are apart from all others, as those of a centre of mass: then `inverse` has the diagonal of
    /// these alone, and `turning` the block of the last three, with a zero below each column.
    is_apart: bool,
    turning: [[f64; 4]; 3],
    /// The body's part of [`Certifier`]'s vectors of these names, while rows are added.
    residual: [f64; FREE],
    low: [f64; FREE],
    speed: [f64; FREE],
    /// `Σ |row p|`: the part of rows in the size of the residual's terms.
    size: [f64; FREE],
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

stiction_linalg::vectorized! {
    /// The sums over blocks and rows that all measures are made of.
    fn sum_up(certifier: &'a mut Certifier, answer: Answer<'a>) = certifier.sum_up(answer)
}

stiction_linalg::vectorized! {
    /// The contacts of an answer.
    fn measure_contacts(certifier: &'a mut Certifier, answer: Answer<'a>, out: &'a mut PhysicalCertificate, worst: &'a mut Worst) =
        certifier.contacts(answer, out, worst)
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
        sum_up(self, answer);
        self.scales.measure(problem, level, &self.w);
        if law.quasistatic() {
            // Without inertia there is no motion that forces could be measured by.
            self.scales.lift();
            self.speed.iter_mut().zip(motion).for_each(|(s, a)| *s += a.abs());
            self.load_bodies(answer);
        }
        out.momentum = self.momentum(problem, &mut worst);
        out.momentum = out.momentum.max(not_numbers(problem, forces, &mut worst));
        measure_contacts(self, answer, &mut out, &mut worst);
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
        let mut largest = (0.0, Place::Nowhere);
        for (kind, (rows, p)) in forces.with_rows(problem).into_iter().enumerate() {
            for i in (0..rows.len()).filter(|&i| p[i] != 0.0) {
                let Some(block) = rows.blocks(i).next() else { continue };
                let size = ratio(inverse_mass(problem, rows, i).sqrt() * p[i], self.scales.energy_norm(block));
                if size > largest.0 {
                    largest = (size, place_of(kind, i));
                }
            }
        }
        largest
    }

    /// What each contact does, as seen by the last certificate.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    #[inline(always)]
    fn sum_up(&mut self, answer: Answer<'_>) {
        let problem = answer.problem;
        self.find_rest(answer);
        self.find_inverses(problem.mass());
        self.measure_free_speeds(problem, answer.law.level());
        self.sum_inertia(answer);
        self.load_bodies(answer);
        self.sum_rows(problem, answer.forces);
        self.store_bodies(problem);
        self.find_block_speeds(problem);
    }

    /// Finds the contacts that rest: nothing in their island moves, no row but those of contacts is there, their rows have no bias, and their forces are
    /// within the limits by more than rounding. All their measures are exactly zero, whatever they are measured beside.
    #[inline(always)]
    fn find_rest(&mut self, Answer { problem, law, forces, motion }: Answer<'_>) {
        let (contacts, layout, scales) = (problem.contacts(), problem.layout(), &self.scales);
        let may_rest = law.level() == Level::Velocity && law.normal_law() == NormalLaw::Signorini && !law.quasistatic();
        self.moves.clear();
        self.moves.resize(layout.blocks(), !may_rest);
        for b in 0..layout.blocks() {
            self.moves[scales.island(b)] |= motion[layout.range(b)].iter().any(|v| *v != 0.0);
        }
        for rows in [&problem.bilaterals().rows, &problem.limits().rows, &problem.bounded().rows] {
            for block in (0..rows.len()).filter_map(|i| rows.blocks(i).next()) {
                self.moves[scales.island(block)] = true;
            }
        }
        self.needs_speeds.clear();
        self.needs_speeds.extend((0..layout.blocks()).map(|b| self.moves[scales.island(b)]));
        self.rests.clear();
        for i in 0..contacts.len() {
            let moves = contacts.normal.blocks(i).next().is_none_or(|block| self.moves[scales.island(block)]);
            let p = [forces.normal[i], forces.tangent_s[i], forces.tangent_t[i], forces.spin[i]];
            let rests = !moves
                && contacts.has_friction(i)
                && contacts.separation_bias(i, problem.dt()) == 0.0
                && contacts.surface[i] == [0.0; 2]
                && (forces.roll_s[i], forces.roll_t[i]) == (0.0, 0.0)
                && p[0] >= 0.0
                && law.holds_at_rest(p, contacts.mu[i], contacts.mu_spin[i]);
            self.rests.push(rests);
            if !rests && !moves {
                for block in contacts.rows().into_iter().flat_map(|rows| rows.blocks(i)) {
                    self.needs_speeds[block] = true;
                }
            }
        }
    }

    /// `speed ← |v| + dt |M⁻¹ f|` (without v and dt at acceleration level), and `‖M⁻¹ f‖` of each block.
    #[inline(always)]
    fn measure_free_speeds(&mut self, problem: &ContactProblem, level: Level) {
        let (mass, force) = (problem.mass(), problem.force());
        self.speed.clear();
        self.speed.extend_from_slice(force);
        self.scales.forced_norm.clear();
        for b in 0..problem.layout().blocks() {
            let range = problem.layout().range(b);
            let (force, speed) = (&force[range.clone()], &mut self.speed[range]);
            // fᵀ M⁻¹ f, where L⁻¹ f is at hand as a sum of squares.
            let mut square = 0.0;
            if let (Ok(force), Ok(speed)) = (<&[f64; FREE]>::try_from(force), <&mut [f64; FREE]>::try_from(&mut *speed))
            {
                *speed = self.bodies[b].push(force);
                (0..FREE).for_each(|k| square += force[k] * speed[k]);
            } else {
                mass.solve_factor(b, speed);
                speed.iter().for_each(|x| square += x * x);
                mass.solve_factor_transposed(b, speed);
            }
            // (M⁻¹ f)ⱼ / √(M⁻¹)ⱼⱼ is at most that, for every j.
            let units = &self.unit_motion[problem.layout().range(b)];
            let largest = || speed.iter().zip(units).fold(0.0, |most: f64, (x, unit)| most.max(x.abs() / unit));
            self.scales.forced_norm.push(root_or(square.max(0.0), largest));
        }
        for (s, v) in self.speed.iter_mut().zip(problem.v()) {
            *s = if level == Level::Velocity { problem.dt() * s.abs() + v.abs() } else { s.abs() };
        }
    }

    /// Row by row: `w ← row M⁻¹ rowᵀ`, and where the row has a force p, `speed ← speed + |M⁻¹ rowᵀ p|` and
    /// `residual ← residual − rowᵀ p` with the size of its terms.
    #[inline(always)]
    fn sum_rows(&mut self, problem: &ContactProblem, forces: &ContactForces) {
        let (mass, contacts) = (problem.mass(), problem.contacts());
        let (n, all) = (contacts.len(), forces.with_rows(problem));
        self.w.clear();
        self.w.resize(all.iter().map(|(rows, _)| rows.len()).sum(), 0.0);
        self.forces_on.clear();
        self.forces_on.resize(problem.layout().blocks(), 0);
        let (of_contacts, others) = all.split_at(CONTACT_ROWS);
        let used = contacts.used_kinds();
        for i in 0..n {
            // Contacts with the same rows share their W.
            if contacts.twin[i] == i || of_contacts[..used].iter().any(|(_, p)| p[i] != 0.0) {
                self.add_contact(mass, &of_contacts[..used], i);
            }
        }
        let mut first = CONTACT_ROWS * n;
        for (rows, p) in others {
            for i in 0..rows.len() {
                self.add_row(mass, rows, i, p[i], first + i);
            }
            first += rows.len();
        }
        self.lanes.flush(mass, &mut self.w, &mut self.speed);
        for i in (0..n).filter(|&i| contacts.twin[i] < i) {
            (0..used).for_each(|k| self.w[k * n + i] = self.w[k * n + contacts.twin[i]]);
        }
    }

    /// The part of contact `i` in [`Certifier::sum_rows`]. The normal and the tangents of a free body are added together.
    #[inline(always)]
    fn add_contact(&mut self, mass: &Mass, kinds: &[(&Rows, &[f64])], i: usize) {
        let [(normal, p_n), (tangent_s, p_s), (tangent_t, p_t), rest @ ..] = kinds else {
            return self.add_rows(mass, kinds, i, 0);
        };
        if !(tangent_s.has_blocks_of(normal, i) && tangent_t.has_blocks_of(normal, i)) {
            return self.add_rows(mass, kinds, i, 0);
        }
        let (n, p) = (normal.len(), [p_n[i], p_s[i], p_t[i]]);
        let tangents = tangent_s.row_from(i).zip(tangent_t.row_from(i));
        let mut w = [0.0; 3];
        for ((block, from, normal), ((_, _, s), (_, _, t))) in normal.row_from(i).zip(tangents) {
            let rows = [normal, s, t];
            if let (Ok(normal), Ok(s), Ok(t)) = (normal.try_into(), s.try_into(), t.try_into()) {
                self.forces_on[block] += p.len();
                let more = self.add_to_body(block, [normal, s, t], p);
                for k in 0..3 {
                    w[k] += more[k];
                }
            } else {
                for k in 0..3 {
                    w[k] += self.add_part(mass, (block, from, rows[k]), p[k], k * n + i);
                }
            }
        }
        for k in 0..3 {
            self.w[k * n + i] += w[k];
        }
        self.add_rows(mass, rest, i, 3);
    }

    /// The rows of contact `i` one by one, of kinds that come after `before` others.
    #[inline(always)]
    fn add_rows(&mut self, mass: &Mass, kinds: &[(&Rows, &[f64])], i: usize, before: usize) {
        for (k, (rows, p)) in kinds.iter().enumerate() {
            self.add_row(mass, rows, i, p[i], (before + k) * rows.len() + i);
        }
    }

    /// The part of row `i` with the force `p` in [`Certifier::sum_rows`]; the place of its W is `at`.
    #[inline(always)]
    fn add_row(&mut self, mass: &Mass, rows: &Rows, i: usize, p: f64, at: usize) {
        let mut w = 0.0;
        for part in rows.row_from(i) {
            w += self.add_part(mass, part, p, at);
        }
        self.w[at] += w;
    }

    /// What rows have for a free body, as [`Certifier::add_part`].
    #[inline(always)]
    fn add_to_body<const N: usize>(&mut self, block: usize, rows: [&[f64; FREE]; N], p: [f64; N]) -> [f64; N] {
        let body = &mut self.bodies[block];
        if p != [0.0; N] {
            body.add_forces(rows, p);
        }
        if self.needs_speeds[block] { body.add_speeds(rows, p) } else { [0.0; N] }
    }

    /// What a row has for one block: at once for free bodies, a few rows at a time for larger blocks, whose part of W comes later. Returns the part of W that is known.
    #[inline(always)]
    fn add_part(&mut self, mass: &Mass, (block, from, values): (usize, usize, &[f64]), p: f64, at: usize) -> f64 {
        self.forces_on[block] += 1;
        if let Ok(row) = <&[f64; FREE]>::try_from(values) {
            return self.add_to_body(block, [row], [p])[0];
        }
        if p != 0.0 {
            let range = from..from + values.len();
            let (high, low) = (&mut self.residual[range.clone()], &mut self.low[range.clone()]);
            add_multiple(-p, values, high, low);
            self.size[range].iter_mut().zip(values).for_each(|(size, x)| *size += (x * p).abs());
        }
        if !self.needs_speeds[block] {
            return 0.0;
        }
        if let [x] = values {
            let r = mass.reciprocals(block)[0];
            self.speed[from] += (x * r * r * p).abs();
            return (x * r) * (x * r);
        }
        if !self.lanes.has_room_for(block) {
            self.lanes.flush(mass, &mut self.w, &mut self.speed);
        }
        self.lanes.add(block, values, Lane { at, p });
        0.0
    }

    /// Takes what was summed so far, and the motion, to the bodies.
    #[inline(always)]
    fn load_bodies(&mut self, Answer { problem, motion, .. }: Answer<'_>) {
        for (b, body) in self.bodies.iter_mut().enumerate().filter(|(b, _)| problem.layout().size(*b) == FREE) {
            let range = problem.layout().range(b);
            body.residual.copy_from_slice(&self.residual[range.clone()]);
            body.low.copy_from_slice(&self.low[range.clone()]);
            body.size = [0.0; FREE];
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
            (0..FREE).for_each(|k| self.size[range.start + k] += body.size[k]);
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
            *sum += sum_six(*t);
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
            let body = &mut self.bodies[b];
            if let (Some(l), Ok(reciprocals)) = (mass.free_factor(b), reciprocals.try_into()) {
                let squares = match body.invert_apart(l, reciprocals) {
                    Some(squares) => squares,
                    None => invert_free(l, reciprocals, &mut body.inverse),
                };
                self.unit_motion.extend(squares.map(f64::sqrt));
            } else if mass.is_diagonal(b) {
                self.unit_motion.extend_from_slice(reciprocals);
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
                let (change, lost) = difference(next, now);
                let terms = next.abs() + now.abs();
                for (((a, high), low), size) in block.col(k).iter().zip(&mut *high).zip(&mut *low).zip(&mut *size) {
                    add_product(change, *a, high, low);
                    *low += lost * a;
                    *size += a.abs() * terms;
                }
            }
            self.energy.add_inertia(self.scales.island(b), &motion[range], high, size);
        }
    }
}

impl Body {
    /// Adds what the forces `p` along rows, whose entries for this body are `y`, do to its momentum.
    #[inline(always)]
    fn add_forces<const N: usize>(&mut self, y: [&[f64; FREE]; N], p: [f64; N]) {
        // Copies, so that all numbers are seen to be apart, and are added to side by side.
        let (mut residual, mut low, mut size) = (self.residual, self.low, self.size);
        for (y, p) in y.iter().zip(p) {
            if p != 0.0 {
                for k in 0..FREE {
                    size[k] += add_product(-p, y[k], &mut residual[k], &mut low[k]).abs();
                }
            }
        }
        (self.residual, self.low, self.size) = (residual, low, size);
    }

    /// Adds the speeds `|M⁻¹ yᵀ p|`; returns `y M⁻¹ yᵀ` of each row.
    #[inline(always)]
    fn add_speeds<const N: usize>(&mut self, y: [&[f64; FREE]; N], p: [f64; N]) -> [f64; N] {
        let (mut w, mut speed) = ([0.0; N], self.speed);
        for r in 0..N {
            let (motion, mut terms) = (self.push(y[r]), [0.0; FREE]);
            for k in 0..FREE {
                speed[k] += (motion[k] * p[r]).abs();
                terms[k] = y[r][k] * motion[k];
            }
            w[r] = larger(sum_six(terms), 0.0);
        }
        self.speed = speed;
        w
    }

    /// `M⁻¹ y`.
    #[inline(always)]
    fn push(&self, y: &[f64; FREE]) -> [f64; FREE] {
        if self.is_apart {
            let mut turn = [0.0; 4];
            for (column, y) in self.turning.iter().zip(&y[3..]) {
                for k in 0..4 {
                    turn[k] += column[k] * y;
                }
            }
            let along = |k: usize| self.inverse[k][k] * y[k];
            return [along(0), along(1), along(2), turn[0], turn[1], turn[2]];
        }
        let mut motion = [0.0; FREE];
        for (column, y) in self.inverse.iter().zip(y) {
            for k in 0..FREE {
                motion[k] += column[k] * y;
            }
        }
        motion
    }

    /// `M⁻¹ = L⁻ᵀ L⁻¹` where the first three velocities are apart from all others in L, given the reciprocals of its diagonal; returns the diagonal of
    /// `M⁻¹` as sums of squares. `None` if they are not.
    #[inline(always)]
    fn invert_apart(&mut self, l: &[f64; FREE * FREE], r: &[f64; FREE]) -> Option<[f64; FREE]> {
        let mut coupled = false;
        for j in 0..3 {
            for i in j + 1..FREE {
                coupled |= l[j * FREE + i] != 0.0;
            }
        }
        self.is_apart = !coupled;
        if coupled {
            return None;
        }
        let along = [r[0] * r[0], r[1] * r[1], r[2] * r[2]];
        for k in 0..3 {
            self.inverse[k][k] = along[k];
        }
        // L⁻¹ of the last three: its diagonal is that of r.
        let (l43, l53, l54) = (l[3 * FREE + 4], l[3 * FREE + 5], l[4 * FREE + 5]);
        let x43 = -(l43 * r[3]) * r[4];
        let x54 = -(l54 * r[4]) * r[5];
        let x53 = -(l53 * r[3] + l54 * x43) * r[5];
        let squares = [r[3] * r[3] + x43 * x43 + x53 * x53, r[4] * r[4] + x54 * x54, r[5] * r[5]];
        let (m43, m53, m54) = (x43 * r[4] + x53 * x54, x53 * r[5], x54 * r[5]);
        let turning = [[squares[0], m43, m53], [m43, squares[1], m54], [m53, m54, squares[2]]];
        for (own, column) in self.turning.iter_mut().zip(&turning) {
            own[..3].copy_from_slice(column);
        }
        Some([along[0], along[1], along[2], squares[0], squares[1], squares[2]])
    }
}

/// The sum of six numbers, in the order in which vectors of two are added.
#[inline(always)]
fn sum_six(t: [f64; FREE]) -> f64 {
    (t[0] + t[2] + t[4]) + (t[1] + t[3] + t[5])
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
        let count = LANES.min(size - first);
        (0..count).for_each(|k| self.y[first + k][k] = 1.0);
        mass.factor(b).solve_factor_lanes(first..first + count, &mut self.y);
        let mut squares = [0.0; LANES];
        for y in &self.y {
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
        mass.factor(self.block).solve_factor_lanes(0..self.y.len(), &mut self.y);
        let mut squares = [0.0; LANES];
        for y in &self.y {
            for k in 0..LANES {
                squares[k] += y[k] * y[k];
            }
        }
        let (lanes, mut p) = (&self.lanes[..self.used], [0.0; LANES]);
        for (k, lane) in lanes.iter().enumerate() {
            w[lane.at] += squares[k];
            p[k] = lane.p;
        }
        if p != [0.0; LANES] {
            mass.factor(self.block).solve_factor_transposed_lanes(&mut self.y);
            for (s, y) in speed[mass.layout().range(self.block)].iter_mut().zip(&self.y) {
                let mut t = [0.0; LANES];
                for k in 0..LANES {
                    t[k] = (y[k] * p[k]).abs();
                }
                *s += ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
            }
        }
        self.used = 0;
    }
}

/// `row M⁻¹ rowᵀ`, for where it is asked for seldom.
fn inverse_mass(problem: &ContactProblem, rows: &Rows, i: usize) -> f64 {
    let square = |(block, row): (usize, &[f64])| {
        let mut x = row.to_vec();
        problem.mass().solve_factor(block, &mut x);
        x.iter().map(|x| x * x).sum::<f64>()
    };
    rows.row(i).map(square).sum()
}

/// Infinity if a force is not finite, also along a row that moves nothing and so is in no sum; else 0.
fn not_numbers(problem: &ContactProblem, forces: &ContactForces, worst: &mut Worst) -> f64 {
    for (kind, (_, p)) in forces.with_rows(problem).into_iter().enumerate() {
        let are_finite = p.iter().fold(true, |all, p| all & p.is_finite());
        if !are_finite && let Some(i) = p.iter().position(|p| !p.is_finite()) {
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

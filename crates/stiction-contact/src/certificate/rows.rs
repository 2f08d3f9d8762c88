//! Certificates row by row: contacts, limits, bilateral and bounded rows.

use super::certifier::{Answer, Certifier, SeenContact};
use super::measures::{SHORT_ROUNDING, UNIT, Worst, larger, natural, ratio, unilateral};
use super::{ContactView, Law, MOTION_TOLERANCE, NormalLaw, PhysicalCertificate, Place};
use crate::model::{Level, Mode};
use crate::problem::{CONTACT_ROWS, ContactProblem, Contacts};
use crate::rows::Rows;
use crate::solution::ContactForces;
use crate::whitened::separation_bias;

impl Certifier {
    #[inline(always)]
    pub(super) fn contacts(&mut self, answer: Answer<'_>, out: &mut PhysicalCertificate, worst: &mut Worst) {
        let Answer { problem, law, forces, motion } = answer;
        let (contacts, level, only_touching) = (problem.contacts(), law.level(), law.only_touching());
        let (law_of_normals, rows) = (law.normal_law(), contacts.rows());
        let rows = &rows[..contacts.used_kinds()];
        self.modes.clear();
        self.seen.clear();
        self.seen_at.clear();
        self.seen_at.resize(contacts.len(), None);
        self.idle.clear();
        self.idle.resize(contacts.len(), None);
        for i in 0..contacts.len() {
            if self.rests[i] {
                self.modes.push(Mode::Stick);
                continue;
            }
            let p = [
                forces.normal[i],
                forces.tangent_s[i],
                forces.tangent_t[i],
                forces.spin[i],
                forces.roll_s[i],
                forces.roll_t[i],
            ];
            if p == [0.0; CONTACT_ROWS] {
                // The same rows without forces, the same surfaces: the same measures.
                match self.idle[contacts.twin[i]].filter(|&other| contacts.is_alike(i, other)) {
                    Some(other) => {
                        self.modes.push(self.modes[other]);
                        continue;
                    }
                    None => self.idle[contacts.twin[i]] = Some(i),
                }
            }
            let seen = self.see_contact(contacts, rows, motion, i);
            let (view, bias) = self.view(problem, level, p, &seen, i);
            let rounding = rounding(&seen, &bias);
            let normal_law = if view.touching { law_of_normals } else { NormalLaw::Signorini };
            let has_row = view.touching || (view.has_normal_row() && !only_touching);
            let signorini = if !has_row {
                ratio(view.w[0] * view.p[0].abs(), view.omega[0])
            } else {
                let measure = if normal_law == NormalLaw::Signorini {
                    natural(view.p[0], view.u[0], view.w[0], view.omega[0], 0.0, f64::INFINITY)
                } else {
                    unilateral(view.p[0], view.u[0], view.w[0], view.omega[0])
                };
                measure + ratio(rounding[0], view.omega[0])
            };
            out.signorini = out.signorini.max(worst.see(signorini, Place::Contact(i)));
            let rounds_forces = law.rounds_forces(&view);
            let friction = law.friction(&view) + friction_rounding(&view, &rounding, normal_law, rounds_forces);
            out.friction = out.friction.max(worst.see(friction, Place::Contact(i)));
            if level == Level::Velocity && contacts.bounce[i] <= 0.0 && contacts.surface[i] == [0.0; 2] {
                out.work = out.work.max(worst.see(work(&view, &rounding, seen.motion[0]), Place::Contact(i)));
            }
            if let Some(block) = contacts.normal.blocks(i).next() {
                let island = self.scales.island(block);
                for k in 0..rows.len() {
                    self.energy.add_row(island, view.p[k], bias[k], view.omega[k], 0.0, view.u[k]);
                }
            }
            self.modes.push(view.mode(normal_law));
        }
    }

    /// What the rows of contact `i` show of `motion`; the same as those of a twin. `kinds` has the rows of all contacts, kind by kind.
    #[inline(always)]
    fn see_contact(&mut self, contacts: &Contacts, kinds: &[&Rows], motion: &[f64], i: usize) -> SeenContact {
        let first = contacts.twin[i];
        if let Some(at) = self.seen_at[first] {
            return self.seen[at];
        }
        let mut all = SeenContact::default();
        for k in 0..kinds.len().min(CONTACT_ROWS) {
            if kinds[k].has_entries(i) {
                let seen = self.see(kinds[k], i, motion, self.w[k * contacts.len() + i]);
                (all.motion[k], all.rounding[k], all.terms[k]) = (seen.motion, seen.rounding, seen.terms);
            }
        }
        self.seen_at[first] = Some(self.seen.len());
        self.seen.push(all);
        all
    }

    /// Contact `i`, which has these forces and whose rows show this, as a law sees it; and the biases of its rows.
    #[inline(always)]
    fn view(
        &self,
        problem: &ContactProblem,
        level: Level,
        p: [f64; CONTACT_ROWS],
        seen: &SeenContact,
        i: usize,
    ) -> (ContactView, [f64; CONTACT_ROWS]) {
        let (contacts, dt, v) = (problem.contacts(), problem.dt(), problem.v());
        let (n, surface) = (contacts.len(), contacts.surface[i]);
        let [normal, s, t] = match level {
            Level::Velocity => [contacts.separation_bias(i, dt), surface[0], surface[1]],
            Level::Acceleration => contacts.rate[i],
        };
        let bias = [normal, s, t, 0.0, 0.0, 0.0];
        let mut view = ContactView {
            p,
            u: [0.0; CONTACT_ROWS],
            omega: [0.0; CONTACT_ROWS],
            w: [0.0; CONTACT_ROWS],
            slip: [0.0; 2],
            slip_omega: [0.0; 2],
            spin_now: 0.0,
            spin_omega: 0.0,
            mu: contacts.mu[i],
            mu_spin: contacts.mu_spin[i],
            mu_roll: contacts.mu_roll[i],
            mu_viscous: contacts.mu_viscous[i],
            dt,
            touching: match level {
                Level::Velocity => contacts.has_friction(i),
                Level::Acceleration => contacts.touches(i) && !problem.parts(i),
            },
            level,
        };
        for k in 0..CONTACT_ROWS {
            view.u[k] = seen.motion[k] + bias[k];
            view.omega[k] = seen.terms[k] + bias[k].abs();
            view.w[k] = self.w[k * n + i];
        }
        // What slips now matters to accelerations alone.
        if level == Level::Acceleration {
            for (k, rows) in [&contacts.tangent_s, &contacts.tangent_t].into_iter().enumerate() {
                view.slip[k] = rows.accurate_dot(surface[k], i, v);
                view.slip_omega[k] = surface[k].abs() + rows.terms(i, v);
            }
            (view.spin_now, view.spin_omega) = (contacts.spin.accurate_dot(0.0, i, v), contacts.spin.terms(i, v));
        }
        (view, bias)
    }

    pub(super) fn limits(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let (limits, level) = (problem.limits(), law.level());
        let first = CONTACT_ROWS * problem.contacts().len() + problem.bilaterals().rows.len();
        for i in 0..limits.rows.len() {
            let bias = match level {
                Level::Velocity => separation_bias(limits.gap[i], problem.dt(), limits.bounce[i]),
                Level::Acceleration => limits.rate[i],
            };
            let (p, w) = (forces.limit[i], self.w[first + i]);
            let Motion { u, omega, rounding } = self.motion(&limits.rows, i, motion, bias, w);
            let residual = if limits.gap[i] <= 0.0 || (level == Level::Velocity && !law.only_touching()) {
                natural(p, u, w, omega, 0.0, f64::INFINITY) + ratio(rounding, omega)
            } else {
                ratio(w * p.abs(), omega)
            };
            out.signorini = out.signorini.max(worst.see(residual, Place::Limit(i)));
            self.add_energy(&limits.rows, i, p, bias, omega, 0.0, u);
        }
    }

    pub(super) fn bilaterals(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let all = problem.bilaterals();
        let first = CONTACT_ROWS * problem.contacts().len();
        let mut own = Worst::default();
        for i in 0..all.rows.len() {
            let (w, bias) = (self.w[first + i], bilateral_bias(problem, level, i));
            let Motion { u, omega, rounding } = self.motion(&all.rows, i, motion, bias, w);
            own.see(ratio(u.abs() + rounding, omega), Place::Bilateral(i));
            self.add_energy(&all.rows, i, forces.bilateral[i], bias, omega, 0.0, u);
        }
        if own.value <= MOTION_TOLERANCE {
            out.bilateral = worst.see(own.value, own.place);
            return;
        }
        // Rows may contradict each other: then v⁺ must be a least-squares compromise. Those of an island without targets do not: rest satisfies them all.
        let island = |i: usize| all.rows.row(i).next().map(|(block, _)| block);
        let with_target = |&i: &usize| bilateral_bias(problem, level, i) != 0.0;
        let driven: Vec<usize> =
            (0..all.rows.len()).filter(with_target).filter_map(island).map(|block| self.scales.island(block)).collect();
        let (mut own, mut contradicting) = (Worst::default(), Worst::default());
        for i in 0..all.rows.len() {
            let Motion { u, omega, rounding } =
                self.motion(&all.rows, i, motion, bilateral_bias(problem, level, i), self.w[first + i]);
            let is_driven = island(i).is_none_or(|block| driven.contains(&self.scales.island(block)));
            let list = if is_driven { &mut contradicting } else { &mut own };
            list.see(ratio(u.abs() + rounding, omega), Place::Bilateral(i));
        }
        if contradicting.value > MOTION_TOLERANCE {
            out.inconsistency = contradicting.value;
            contradicting.value = self.compromise(problem, level, motion);
        }
        out.bilateral = worst.see(own.value, own.place).max(worst.see(contradicting.value, contradicting.place));
    }

    /// How far `motion` is from minimizing `Σ uᵢ²/Wᵢᵢ` over the bilateral rows: the gradient `Σ rowᵢᵀ uᵢ/Wᵢᵢ` beside its terms.
    fn compromise(&mut self, problem: &ContactProblem, level: Level, motion: &[f64]) -> f64 {
        let rows = &problem.bilaterals().rows;
        let first = CONTACT_ROWS * problem.contacts().len();
        self.residual.iter_mut().for_each(|x| *x = 0.0);
        self.size.iter_mut().for_each(|x| *x = 0.0);
        let mut numbers = 0;
        for i in 0..rows.len() {
            numbers = numbers.max(rows.numbers(i));
            let w = self.w[first + i];
            let Motion { u, omega, .. } = self.motion(rows, i, motion, bilateral_bias(problem, level, i), w);
            if w > 0.0 {
                rows.add_transposed(i, u / w, &mut self.residual);
                for (block, values) in rows.row(i) {
                    let size = &mut self.size[problem.layout().range(block)];
                    size.iter_mut().zip(values).for_each(|(s, x)| *s += x.abs() * omega / w);
                }
            } else if u != 0.0 {
                return f64::INFINITY;
            }
        }
        // Motions and sums are rounded beside their terms.
        let rounding = SHORT_ROUNDING + UNIT * (rows.len() + numbers) as f64;
        self.residual.iter().zip(&self.size).fold(0.0, |max: f64, (r, s)| max.max(ratio(*r, *s))) + rounding
    }

    pub(super) fn bounded(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let all = problem.bounded();
        let first =
            CONTACT_ROWS * problem.contacts().len() + problem.bilaterals().rows.len() + problem.limits().rows.len();
        let (unit, rate) = match level {
            Level::Velocity => (problem.dt(), 0.0),
            Level::Acceleration => (1.0, 1.0),
        };
        for i in 0..all.rows.len() {
            let (w, p, bias) = (self.w[first + i], forces.bounded[i], rate * all.rate[i] - all.target[i]);
            let (lo, hi) = (unit * all.lo[i], unit * all.hi[i]);
            let Motion { u, omega, rounding } = self.motion(&all.rows, i, motion, bias, w);
            // Bounds times dt are rounded, which matters only where p is at one or beyond.
            let (bound, room) = if p - lo < hi - p { (lo, p - lo) } else { (hi, hi - p) };
            let rounded = if bound.is_finite() { SHORT_ROUNDING * bound.abs() } else { 0.0 };
            let rounding = if w * (room - rounded) > u.abs() { rounding } else { rounding + w * rounded };
            let residual = natural(p, u, w, omega, lo, hi) + ratio(rounding, omega);
            out.bounded = out.bounded.max(worst.see(residual, Place::Bounded(i)));
            self.add_energy(&all.rows, i, p, bias, omega, 0.0f64.clamp(lo, hi), u);
        }
    }

    /// `row v⁺ + bias`, for a row with this W.
    fn motion(&self, rows: &Rows, i: usize, motion: &[f64], bias: f64, w: f64) -> Motion {
        let seen = self.see(rows, i, motion, w);
        let rounding = seen.rounding + SHORT_ROUNDING * (seen.motion.abs() + bias.abs());
        Motion { u: seen.motion + bias, omega: seen.terms + bias.abs(), rounding }
    }

    /// The part of row `i` in the energy inequality of its island.
    fn add_energy(&mut self, rows: &Rows, i: usize, p: f64, bias: f64, omega: f64, least: f64, u: f64) {
        if let Some(block) = rows.blocks(i).next() {
            self.energy.add_row(self.scales.island(block), p, bias, omega, least, u);
        }
    }
}

/// The motion of a row with its bias, the size of its terms, and a bound on its rounding.
struct Motion {
    u: f64,
    omega: f64,
    rounding: f64,
}

/// Bounds on the rounding of a contact's motions u.
#[inline(always)]
fn rounding(seen: &SeenContact, bias: &[f64; CONTACT_ROWS]) -> [f64; CONTACT_ROWS] {
    let mut rounding = [0.0; CONTACT_ROWS];
    for k in 0..CONTACT_ROWS {
        rounding[k] = seen.rounding[k] + SHORT_ROUNDING * (seen.motion[k].abs() + bias[k].abs());
    }
    rounding
}

/// A bound on the rounding of a law's measure: laws are Lipschitz in the motions with constant 1,
/// and round forces beside their own size where these are projected onto a cone, or measured at all.
#[inline(always)]
fn friction_rounding(
    view: &ContactView,
    rounding: &[f64; CONTACT_ROWS],
    normal_law: NormalLaw,
    rounds_forces: bool,
) -> f64 {
    let first = if normal_law == NormalLaw::Unilateral { 0 } else { 1 };
    let motions = (first..CONTACT_ROWS).fold(0.0, |max, k| larger(max, ratio(rounding[k], view.omega[k])));
    let largest = |x: &[f64; CONTACT_ROWS]| x[first..3].iter().fold(0.0, |max, x| larger(max, *x));
    let forces: f64 = if rounds_forces { view.p[first..3].iter().map(|p| p.abs()).sum() } else { 0.0 };
    let spin = ratio(SHORT_ROUNDING * view.w[3] * view.p[3], view.omega[3]);
    let rolling = view.w[4].max(view.w[5]) * (view.p[4].abs() + view.p[5].abs());
    let rolling = ratio(SHORT_ROUNDING * rolling, view.omega[4].max(view.omega[5]));
    motions + ratio(SHORT_ROUNDING * largest(&view.w) * forces, largest(&view.omega)) + spin + rolling
}

/// The work of a contact that moves apart at `separation` (m/s), where positive: beside that of its forces, and of those that would stop its
/// motion, for a force that is rounding does no work.
#[inline(always)]
fn work(view: &ContactView, rounding: &[f64; CONTACT_ROWS], separation: f64) -> f64 {
    if view.p == [0.0; CONTACT_ROWS] {
        return 0.0;
    }
    let power = view.p[0] * separation + (1..CONTACT_ROWS).map(|k| view.p[k] * view.u[k]).sum::<f64>();
    let rounding: f64 =
        (0..CONTACT_ROWS).map(|k| view.p[k].abs() * (rounding[k] + SHORT_ROUNDING * view.u[k].abs())).sum();
    if power + rounding <= 0.0 {
        return 0.0;
    }
    let stops = |k: usize| if view.w[k] > 0.0 { view.omega[k] / view.w[k] } else { 0.0 };
    let size: f64 = (0..CONTACT_ROWS).map(|k| (view.p[k].abs() + stops(k)) * view.omega[k]).sum();
    ratio(power + rounding, size)
}

fn bilateral_bias(problem: &ContactProblem, level: Level, i: usize) -> f64 {
    let all = problem.bilaterals();
    match level {
        Level::Velocity => -all.target[i],
        Level::Acceleration => all.rate[i] - all.target[i],
    }
}

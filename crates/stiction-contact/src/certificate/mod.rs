//! The physical certificate: how well forces and motion satisfy a law, from the problem as given.
//!
//! It knows nothing of whitened coordinates, bases or solvers. Every number is dimensionless, and scaled by the terms of its own row: the size that
//! the row's motion would have if nothing cancelled. So a large contact cannot hide a small one.
//!
//! With p the forces and u the motion of the rows (`row v⁺ + bias`), and per row `ω = |bias| + Σⱼ |rowⱼ| sⱼ` where
//! `s = |v| + dt |M⁻¹ f| + Σ |M⁻¹ rowᵀ p|` bounds the speeds before anything cancels, and `W = row M⁻¹ rowᵀ`:
//!
//! | measure | what |
//! |---|---|
//! | momentum | `M (v⁺ − v) − dt f − Σ rowᵀ p`, beside the sum of its terms, per velocity |
//! | bilateral | `|u| / ω`; where rows contradict each other, how far v⁺ is from the least-squares compromise |
//! | signorini | `|min(W p, u)| / ω` for normals and limits: zero exactly if 0 ≤ p ⊥ u ≥ 0 |
//! | bounded | the same natural map on lo ≤ p ≤ hi |
//! | friction | the model's own [`Law`] |
//! | work | a contact's `p · row v⁺` above zero, beside its terms: contact takes energy, unless a bounce or a moving surface brings some |
pub mod polyhedral;

use std::fmt;

use crate::model::{Level, Mode};
use crate::problem::ContactProblem;
use crate::rows::Rows;
use crate::solution::ContactForces;
use crate::whitened::separation_bias;

/// A contact slips, or parts, if its motion is more than this part of its terms. Well above rounding, well below any motion one would call one.
const MOVING: f64 = 1e-9;

/// Where the worst measure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// There is nothing to measure.
    #[default]
    Nowhere,
    /// Momentum along this velocity.
    Velocity(usize),
    /// This contact.
    Contact(usize),
    /// This bilateral row.
    Bilateral(usize),
    /// This unilateral row.
    Limit(usize),
    /// This row with bounded force.
    Bounded(usize),
    /// The problem as a whole.
    Whole,
}

/// How well forces and motion satisfy a law: dimensionless, 0 is exact.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhysicalCertificate {
    /// Momentum balance.
    pub momentum: f64,
    /// Bilateral rows.
    pub bilateral: f64,
    /// Signorini's condition on contacts and limits.
    pub signorini: f64,
    /// The model's law of friction.
    pub friction: f64,
    /// Rows with bounded force.
    pub bounded: f64,
    /// Work done by contacts, where positive.
    pub work: f64,
    /// Where the largest of these is.
    pub worst: Place,
    /// Largest miss of a bilateral row when rows contradict each other, beside its terms; 0 if they agree.
    pub inconsistency: f64,
}

impl PhysicalCertificate {
    /// The largest measure.
    pub fn largest(&self) -> f64 {
        let all = [self.momentum, self.bilateral, self.signorini, self.friction, self.bounded, self.work];
        all.iter().fold(0.0, |max: f64, x| if x.is_nan() { f64::INFINITY } else { max.max(*x) })
    }

    /// True if every measure is at most `tolerance`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.largest() <= tolerance
    }
}

impl fmt::Display for PhysicalCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "momentum {:.1e}, bilateral {:.1e}, signorini {:.1e}, friction {:.1e}, bounded {:.1e}, work {:.1e} (worst: {})",
            self.momentum, self.bilateral, self.signorini, self.friction, self.bounded, self.work, self.worst
        )
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Nowhere => f.write_str("nowhere"),
            Place::Velocity(i) => write!(f, "velocity {i}"),
            Place::Contact(i) => write!(f, "contact {i}"),
            Place::Bilateral(i) => write!(f, "bilateral row {i}"),
            Place::Limit(i) => write!(f, "limit {i}"),
            Place::Bounded(i) => write!(f, "bounded row {i}"),
            Place::Whole => f.write_str("the whole"),
        }
    }
}

/// Everything a law of friction may look at, for one contact. Index 0 is the normal, then the two tangents, then the spin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactView {
    /// Forces or impulses.
    pub p: [f64; 4],
    /// Motions `row v⁺ + bias` (or `row v̇ + rate`).
    pub u: [f64; 4],
    /// Sizes of the motions' terms.
    pub omega: [f64; 4],
    /// `row M⁻¹ rowᵀ`.
    pub w: [f64; 4],
    /// Slip speeds before the step: `S v + surface[0]`, `T v + surface[1]`.
    pub slip: [f64; 2],
    /// Sizes of the slip speeds' terms.
    pub slip_omega: [f64; 2],
    /// Coulomb coefficient.
    pub mu: f64,
    /// Spin coefficient (m).
    pub mu_spin: f64,
    /// Viscous coefficient (N s/m).
    pub mu_viscous: f64,
    /// The step (s).
    pub dt: f64,
    /// Whether the contact touches (at acceleration level: and does not part). One that does not has no tangential force.
    pub touching: bool,
    /// What is solved for.
    pub level: Level,
}

impl ContactView {
    /// `W_t`: the larger of the two tangential inverse masses.
    pub fn w_tangent(&self) -> f64 {
        self.w[1].max(self.w[2])
    }

    /// `ω_t`: size of the tangential motion's terms.
    pub fn omega_tangent(&self) -> f64 {
        self.omega[1].hypot(self.omega[2])
    }

    /// `value / size`, 0 for 0/0: a miss beside its terms.
    pub fn ratio(value: f64, size: f64) -> f64 {
        ratio(value, size)
    }

    /// The tangential and spin forces beside the force that would undo the motion's terms: 0 exactly if there are none.
    pub fn no_friction(&self) -> f64 {
        let part = |k: usize| ratio(self.w[k] * self.p[k].abs(), self.omega[k]);
        part(1).max(part(2)).max(part(3))
    }
}

/// A law of friction, as its certificate sees it.
pub trait Law {
    /// What the solve was for.
    fn level(&self) -> Level;

    /// How much one contact violates the law: 0 is exact.
    fn friction(&self, contact: &ContactView) -> f64;

    /// Whether touching contacts may not slip at all, so that a proof of infeasibility may use their tangential rows. False by default.
    fn holds_tangents(&self) -> bool {
        false
    }

    /// Whether contacts that do not touch, and limits that are not reached, have no row at all, at velocity level too. False by default: there
    /// such rows keep the bodies from passing through each other within the step.
    fn only_touching(&self) -> bool {
        false
    }

    /// How much the whole violates the law, for laws that are not of single contacts. 0 by default.
    fn whole(&self, _problem: &ContactProblem, _forces: &ContactForces, _motion: &[f64]) -> f64 {
        0.0
    }
}

/// Computes certificates; keeps its workspace, so that none is allocated again.
#[derive(Debug, Clone, Default)]
pub struct Certifier {
    /// Size of each velocity's (acceleration's) terms, m.
    speed: Vec<f64>,
    /// Momentum residual and the size of its terms, m each.
    residual: Vec<f64>,
    size: Vec<f64>,
    /// `row M⁻¹ rowᵀ` of all rows, kind after kind.
    w: Vec<f64>,
    work: Vec<f64>,
    modes: Vec<Mode>,
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
        self.measure_speeds(problem, law.level(), forces);
        out.momentum = self.momentum(problem, law.level(), forces, motion, &mut worst);
        self.contacts(problem, law, forces, motion, &mut out, &mut worst);
        self.limits(problem, law, forces, motion, &mut out, &mut worst);
        self.bilaterals(problem, law.level(), motion, &mut out, &mut worst);
        self.bounded(problem, law.level(), forces, motion, &mut out, &mut worst);
        let whole = law.whole(problem, forces, motion);
        out.friction = out.friction.max(worst.see(whole, Place::Whole));
        out.worst = worst.place;
        out
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
        for (rows, p) in forces.with_rows(problem) {
            for i in 0..rows.len() {
                let mut w = 0.0;
                for (block, values) in rows.row(i) {
                    self.work.clear();
                    self.work.extend_from_slice(values);
                    mass.solve_factor(block, &mut self.work);
                    w += self.work.iter().map(|x| x * x).sum::<f64>();
                    if p[i] != 0.0 {
                        mass.solve_factor_transposed(block, &mut self.work);
                        let speed = &mut self.speed[layout.range(block)];
                        speed.iter_mut().zip(&self.work).for_each(|(s, x)| *s += (x * p[i]).abs());
                    }
                }
                self.w.push(w);
            }
        }
    }

    fn momentum(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        forces: &ContactForces,
        motion: &[f64],
        worst: &mut Worst,
    ) -> f64 {
        let m = problem.m();
        let (velocity, unit) = match level {
            Level::Velocity => (1.0, problem.dt()),
            Level::Acceleration => (0.0, 1.0),
        };
        self.residual.clear();
        self.size.clear();
        for b in 0..problem.layout().blocks() {
            let (range, block) = (problem.layout().range(b), problem.mass().block(b));
            for i in range.clone() {
                let (mut sum, mut size) = (-unit * problem.force()[i], (unit * problem.force()[i]).abs());
                for j in range.clone() {
                    let a = block[(i - range.start, j - range.start)];
                    let (next, now) = (motion[j], velocity * problem.v()[j]);
                    sum += a * (next - now);
                    size += a.abs() * (next.abs() + now.abs());
                }
                self.residual.push(sum);
                self.size.push(size);
            }
        }
        for (rows, p) in forces.with_rows(problem) {
            for i in (0..rows.len()).filter(|&i| p[i] != 0.0) {
                for (block, values) in rows.row(i) {
                    let range = problem.layout().range(block);
                    for (j, x) in range.zip(values) {
                        self.residual[j] -= x * p[i];
                        self.size[j] += (x * p[i]).abs();
                    }
                }
            }
        }
        (0..m).fold(0.0, |max: f64, j| max.max(worst.see(ratio(self.residual[j], self.size[j]), Place::Velocity(j))))
    }

    fn contacts(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let contacts = problem.contacts();
        let n = contacts.len();
        self.modes.clear();
        for i in 0..n {
            let view = self.view(problem, law.level(), forces, motion, i);
            let signorini = if view.touching || (view.has_normal_row() && !law.only_touching()) {
                natural(view.p[0], view.u[0], view.w[0], view.omega[0], 0.0, f64::INFINITY)
            } else {
                ratio(view.w[0] * view.p[0].abs(), view.omega[0])
            };
            out.signorini = out.signorini.max(worst.see(signorini, Place::Contact(i)));
            out.friction = out.friction.max(worst.see(law.friction(&view), Place::Contact(i)));
            if law.level() == Level::Velocity && contacts.bounce[i] <= 0.0 && contacts.surface[i] == [0.0; 2] {
                let power =
                    view.p[0] * contacts.normal.dot(i, motion) + (1..4).map(|k| view.p[k] * view.u[k]).sum::<f64>();
                let size: f64 = (0..4).map(|k| view.p[k].abs() * view.omega[k]).sum();
                out.work = out.work.max(worst.see(ratio(power.max(0.0), size), Place::Contact(i)));
            }
            self.modes.push(view.mode());
        }
    }

    /// Contact `i` as a law sees it.
    fn view(
        &self,
        problem: &ContactProblem,
        level: Level,
        forces: &ContactForces,
        motion: &[f64],
        i: usize,
    ) -> ContactView {
        let (contacts, dt) = (problem.contacts(), problem.dt());
        let n = contacts.len();
        let rows: [&Rows; 4] = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t, &contacts.spin];
        let bias = match level {
            Level::Velocity => [
                separation_bias(contacts.gap[i], dt, contacts.bounce[i]),
                contacts.surface[i][0],
                contacts.surface[i][1],
                0.0,
            ],
            Level::Acceleration => [contacts.rate[i][0], contacts.rate[i][1], contacts.rate[i][2], 0.0],
        };
        let per = |f: &dyn Fn(usize) -> f64| [f(0), f(1), f(2), f(3)];
        let slip = |k: usize| contacts.surface[i][k] + rows[k + 1].dot(i, problem.v());
        let slip_size = |k: usize| {
            let terms = |(b, x): (usize, &[f64])| {
                let v = &problem.v()[problem.layout().range(b)];
                x.iter().zip(v).map(|(x, v)| (x * v).abs()).sum::<f64>()
            };
            contacts.surface[i][k].abs() + rows[k + 1].row(i).map(terms).sum::<f64>()
        };
        ContactView {
            p: [forces.normal[i], forces.tangent_s[i], forces.tangent_t[i], forces.spin[i]],
            u: per(&|k| rows[k].dot(i, motion) + bias[k]),
            omega: per(&|k| rows[k].abs_dot(i, &self.speed) + bias[k].abs()),
            w: per(&|k| self.w[k * n + i]),
            slip: [slip(0), slip(1)],
            slip_omega: [slip_size(0), slip_size(1)],
            mu: contacts.mu[i],
            mu_spin: contacts.mu_spin[i],
            mu_viscous: contacts.mu_viscous[i],
            dt,
            touching: contacts.touches(i) && (level == Level::Velocity || !problem.parts(i)),
            level,
        }
    }

    fn limits(
        &self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let (limits, level) = (problem.limits(), law.level());
        let first = 4 * problem.contacts().len() + problem.bilaterals().rows.len();
        for i in 0..limits.rows.len() {
            let bias = match level {
                Level::Velocity => separation_bias(limits.gap[i], problem.dt(), limits.bounce[i]),
                Level::Acceleration => limits.rate[i],
            };
            let (u, omega) = self.motion(&limits.rows, i, motion, bias);
            let (p, w) = (forces.limit[i], self.w[first + i]);
            let miss = if limits.gap[i] <= 0.0 || (level == Level::Velocity && !law.only_touching()) {
                natural(p, u, w, omega, 0.0, f64::INFINITY)
            } else {
                ratio(w * p.abs(), omega)
            };
            out.signorini = out.signorini.max(worst.see(miss, Place::Limit(i)));
        }
    }

    fn bilaterals(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let all = problem.bilaterals();
        let mut own = Worst::default();
        for i in 0..all.rows.len() {
            let (u, omega) = self.motion(&all.rows, i, motion, bilateral_bias(problem, level, i));
            own.see(ratio(u, omega), Place::Bilateral(i));
        }
        if own.value > MOVING {
            // The rows may contradict each other: then v⁺ must be a least-squares compromise.
            out.inconsistency = own.value;
            own.value = self.compromise(problem, level, motion);
        }
        out.bilateral = worst.see(own.value, own.place);
    }

    /// How far `motion` is from minimizing `Σ uᵢ²/Wᵢᵢ` over the bilateral rows: the gradient `Σ rowᵢᵀ uᵢ/Wᵢᵢ` beside its terms.
    fn compromise(&mut self, problem: &ContactProblem, level: Level, motion: &[f64]) -> f64 {
        let rows = &problem.bilaterals().rows;
        let first = 4 * problem.contacts().len();
        self.residual.iter_mut().for_each(|x| *x = 0.0);
        self.size.iter_mut().for_each(|x| *x = 0.0);
        for i in 0..rows.len() {
            let (u, omega) = self.motion(rows, i, motion, bilateral_bias(problem, level, i));
            let w = self.w[first + i];
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
        self.residual.iter().zip(&self.size).fold(0.0, |max: f64, (r, s)| max.max(ratio(*r, *s)))
    }

    fn bounded(
        &self,
        problem: &ContactProblem,
        level: Level,
        forces: &ContactForces,
        motion: &[f64],
        out: &mut PhysicalCertificate,
        worst: &mut Worst,
    ) {
        let all = problem.bounded();
        let first = 4 * problem.contacts().len() + problem.bilaterals().rows.len() + problem.limits().rows.len();
        let (unit, rate) = match level {
            Level::Velocity => (problem.dt(), 0.0),
            Level::Acceleration => (1.0, 1.0),
        };
        for i in 0..all.rows.len() {
            let (u, omega) = self.motion(&all.rows, i, motion, rate * all.rate[i] - all.target[i]);
            let miss = natural(forces.bounded[i], u, self.w[first + i], omega, unit * all.lo[i], unit * all.hi[i]);
            out.bounded = out.bounded.max(worst.see(miss, Place::Bounded(i)));
        }
    }

    /// `row v⁺ + bias` and the size of its terms.
    fn motion(&self, rows: &Rows, i: usize, motion: &[f64], bias: f64) -> (f64, f64) {
        (rows.dot(i, motion) + bias, rows.abs_dot(i, &self.speed) + bias.abs())
    }
}

impl ContactView {
    /// At acceleration level a contact that does not touch, or parts, has no row.
    fn has_normal_row(&self) -> bool {
        self.level == Level::Velocity || self.touching
    }

    /// Open if it parts (or has no say), else sliding or sticking by its slip.
    fn mode(&self) -> Mode {
        if !self.has_normal_row() || self.u[0] > MOVING * self.omega[0] {
            return Mode::Open;
        }
        let still = |u: f64, omega: f64| u.abs() <= MOVING * omega;
        let slips_now = self.level == Level::Acceleration && !(0..2).all(|k| still(self.slip[k], self.slip_omega[k]));
        let slips_next = !(1..3).all(|k| still(self.u[k], self.omega[k]));
        if slips_now || slips_next { Mode::Slide } else { Mode::Stick }
    }
}

fn bilateral_bias(problem: &ContactProblem, level: Level, i: usize) -> f64 {
    let all = problem.bilaterals();
    match level {
        Level::Velocity => -all.target[i],
        Level::Acceleration => all.rate[i] - all.target[i],
    }
}

/// `|p − clamp(p − u/W, lo, hi)| W / ω`: zero exactly if lo ≤ p ≤ hi, u ≥ 0 at lo, u ≤ 0 at hi, u = 0 between.
pub fn natural(p: f64, u: f64, w: f64, omega: f64, lo: f64, hi: f64) -> f64 {
    if w > 0.0 {
        let projected = (p - u / w).clamp(lo, hi);
        return ratio((p - projected).abs() * w, omega);
    }
    // A row that moves nothing: only the signs can be asked for.
    let miss = match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
        (false, true) => (-u).max(0.0),
        (true, false) => u.max(0.0),
        (true, true) => u.abs(),
        (false, false) => 0.0,
    };
    if p < lo || p > hi { f64::INFINITY } else { ratio(miss, omega) }
}

/// `|value| / size`, with 0/0 = 0.
fn ratio(value: f64, size: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.abs() / size }
}

/// The largest value seen, and where.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    value: f64,
    place: Place,
}

impl Worst {
    /// Takes note of `value`, a NaN as infinity; returns it.
    fn see(&mut self, value: f64, place: Place) -> f64 {
        let value = if value.is_nan() { f64::INFINITY } else { value };
        if value > self.value || self.place == Place::Nowhere {
            *self = Self { value, place };
        }
        value
    }
}

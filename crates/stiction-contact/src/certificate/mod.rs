//! The physical certificate: how well forces and motion satisfy a law, from the problem as given.
//!
//! It knows nothing of whitened coordinates, bases or solvers. Every number is dimensionless, and scaled by the terms of its own row: the size that
//! the row's motion would have if nothing cancelled. So a large contact cannot hide a small one.
//!
//! With p the forces and u the motion of the rows (`row v⁺ + bias`), and per row `ω = |bias| + Σⱼ |rowⱼ| sⱼ` where
//! `s = |v| + dt |M⁻¹ f| + Σ |M⁻¹ rowᵀ p|` bounds the speeds before anything cancels, and `W = row M⁻¹ rowᵀ` (ω is at least 1e-5 of `√W` times the
//! largest `√M s` of the row's own bodies, so that nothing is measured beside rounding alone; and in ω the forces count for at most 1e4 times the motion
//! there is with and without them, so that forces which grow without end in an unsolvable problem do not make their own error look small):
//!
//! | measure | what |
//! |---|---|
//! | momentum | `M (v⁺ − v) − dt f − Σ rowᵀ p`, beside the sum of its terms, per velocity |
//! | bilateral | `|u| / ω`; where rows contradict each other, how far v⁺ is from the least-squares compromise |
//! | signorini | `|min(W p, u)| / ω` for normals and limits: zero exactly if 0 ≤ p ⊥ u ≥ 0 |
//! | bounded | the same natural map on lo ≤ p ≤ hi |
//! |  | where the law is [`NormalLaw::Unilateral`], p ≥ 0 and u ≥ 0 alone: `max(−W p, −u, 0) / ω` on touching contacts |
//! | friction | the model's own [`Law`] |
//! | work | a contact's `p · row v⁺` above zero, beside its terms: contact takes energy, unless a bounce or a moving surface brings some |

pub mod baraff;
pub mod cone;
pub mod frictionless;
pub mod no_slip;
pub mod polyhedral;
pub mod pyramid;
pub mod shell;
pub mod viscous;

use std::fmt;

use crate::model::{Level, Mode};
use crate::problem::ContactProblem;
use crate::rows::Rows;
use crate::solution::ContactForces;
use crate::whitened::separation_bias;

/// A contact slips, or parts, if its motion is more than this part of its terms. Well above rounding, well below any motion one would call one.
const MOVING: f64 = 1e-9;

/// The terms of a row, or of a velocity's momentum, count as at least this part of those of the bodies they belong to, in units of energy: beside a
/// speed along z, the rounding of directions is a speed along x.
const FLOOR: f64 = 1e-5;

/// The terms of a row count as at most this many times the motion of the whole with and without forces, in units of energy. Internal forces are of the size of what
/// squeezes; larger ones by this much are no answer.
const GROWTH: f64 = 1e4;

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
    /// Slip speeds before the step: `S v + surface[0]`, `T v + surface[1]`; 0 at velocity level, where they do not matter.
    pub slip: [f64; 2],
    /// Sizes of the slip speeds' terms.
    pub slip_omega: [f64; 2],
    /// Spin about the normal before the step (rad/s).
    pub spin_now: f64,
    /// Size of the spin's terms.
    pub spin_omega: f64,
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

#[cfg(test)]
impl ContactView {
    /// A particle of 1 kg pressed with 10 N (or N s), μ = 0.5, nothing moving: where the tests of laws begin.
    fn still(level: Level) -> Self {
        Self {
            p: [10.0, 0.0, 0.0, 0.0],
            u: [0.0; 4],
            omega: [20.0, 10.0, 10.0, 0.0],
            w: [1.0, 1.0, 1.0, 0.0],
            slip: [0.0; 2],
            slip_omega: [0.0; 2],
            spin_now: 0.0,
            spin_omega: 0.0,
            mu: 0.5,
            mu_spin: 0.0,
            mu_viscous: 0.0,
            dt: 1.0,
            touching: true,
            level,
        }
    }
}

/// A law of friction, as its certificate sees it.
pub trait Law {
    /// What the solve was for.
    fn level(&self) -> Level;

    /// How much one contact violates the law: 0 is exact.
    fn friction(&self, contact: &ContactView) -> f64;

    /// Whether a touching contact with this viscous coefficient may not slip at all, so that a proof of infeasibility may use its tangential
    /// rows. False by default.
    fn holds_tangents(&self, _mu_viscous: f64) -> bool {
        false
    }

    /// Whether a touching contact with this spin coefficient may not spin at all. False by default.
    fn holds_spin(&self, _mu_spin: f64) -> bool {
        false
    }

    /// Whether the law leaves inertia out: `f + Σ rowᵀ p = 0` instead of the balance of momentum. False by default.
    fn quasistatic(&self) -> bool {
        false
    }

    /// What normal forces have to do with normal motion. Signorini's condition by default.
    fn normal_law(&self) -> NormalLaw {
        NormalLaw::Signorini
    }

    /// Whether a proof of infeasibility may give a touching contact of coefficient `mu` the multipliers `y` (normal, two tangents): every motion
    /// that satisfies the law has `y · u ≥ 0`. By default normals alone, or any tangents where these may not slip.
    fn allows_multipliers(&self, _mu: f64, mu_viscous: f64, y: [f64; 3]) -> bool {
        y[0] >= 0.0 && (self.holds_tangents(mu_viscous) || y[1] == 0.0 && y[2] == 0.0)
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

/// What normal forces of touching contacts have to do with normal motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalLaw {
    /// 0 ≤ p ⊥ u ≥ 0.
    Signorini,
    /// p ≥ 0 and u ≥ 0; the law of friction says the rest.
    Unilateral,
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
    /// Largest `√Mᵢᵢ sᵢ` of each block.
    block_speed: Vec<f64>,
    /// `√(Σ M s²)` of the motion with and without forces.
    reach: f64,
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
        self.block_speed.clear();
        for b in 0..layout.blocks() {
            let speeds = self.speed[layout.range(b)].iter().enumerate();
            let block = mass.block(b);
            self.block_speed.push(speeds.fold(0.0, |max: f64, (i, s)| max.max(block[(i, i)].sqrt() * s)));
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

    /// The size of the terms of a row with this W, without its bias.
    fn terms(&self, rows: &Rows, i: usize, w: f64) -> f64 {
        let bodies = rows.row(i).fold(0.0, |max: f64, (b, _)| max.max(self.block_speed[b]));
        let root = w.sqrt();
        let most = if root > 0.0 { GROWTH * root * self.reach } else { 0.0 };
        (rows.abs_dot(i, &self.speed) + FLOOR * root * bodies).min(most)
    }

    fn momentum(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        forces: &ContactForces,
        motion: &[f64],
        worst: &mut Worst,
    ) -> f64 {
        let (velocity, unit) = match law.level() {
            Level::Velocity => (1.0, problem.dt()),
            Level::Acceleration => (0.0, 1.0),
        };
        let inertia = if law.quasistatic() { 0.0 } else { 1.0 };
        self.residual.clear();
        self.size.clear();
        for b in 0..problem.layout().blocks() {
            let (range, block) = (problem.layout().range(b), problem.mass().block(b));
            for i in range.clone() {
                let (mut sum, mut size) = (-unit * problem.force()[i], (unit * problem.force()[i]).abs());
                for j in range.clone() {
                    let a = inertia * block[(i - range.start, j - range.start)];
                    let (next, now) = (motion[j], velocity * problem.v()[j]);
                    sum += a * (next - now);
                    size += a.abs() * (next.abs() + now.abs());
                }
                let own = block[(i - range.start, i - range.start)].sqrt();
                self.residual.push(sum);
                self.size.push(size + FLOOR * own * self.block_speed[b]);
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
        // Forces are rounded beside their own size, so momentum is measured beside it too.
        (0..problem.m())
            .fold(0.0, |max: f64, j| max.max(worst.see(ratio(self.residual[j], self.size[j]), Place::Velocity(j))))
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
            let normal_law = if view.touching { law.normal_law() } else { NormalLaw::Signorini };
            let has_row = view.touching || (view.has_normal_row() && !law.only_touching());
            let signorini = if !has_row {
                ratio(view.w[0] * view.p[0].abs(), view.omega[0])
            } else if normal_law == NormalLaw::Signorini {
                natural(view.p[0], view.u[0], view.w[0], view.omega[0], 0.0, f64::INFINITY)
            } else {
                unilateral(view.p[0], view.u[0], view.w[0], view.omega[0])
            };
            out.signorini = out.signorini.max(worst.see(signorini, Place::Contact(i)));
            out.friction = out.friction.max(worst.see(law.friction(&view), Place::Contact(i)));
            if law.level() == Level::Velocity && contacts.bounce[i] <= 0.0 && contacts.surface[i] == [0.0; 2] {
                let power =
                    view.p[0] * contacts.normal.dot(i, motion) + (1..4).map(|k| view.p[k] * view.u[k]).sum::<f64>();
                // Beside the work of its forces, and of those that would stop its motion: a force that is rounding does no work.
                let stops = |k: usize| if view.w[k] > 0.0 { view.omega[k] / view.w[k] } else { 0.0 };
                let size: f64 = (0..4).map(|k| (view.p[k].abs() + stops(k)) * view.omega[k]).sum();
                out.work = out.work.max(worst.see(ratio(power.max(0.0), size), Place::Contact(i)));
            }
            self.modes.push(view.mode(normal_law));
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
        // What slips now matters to accelerations alone.
        let now = level == Level::Acceleration;
        let slip = |k: usize| contacts.surface[i][k] + rows[k + 1].dot(i, problem.v());
        let terms = |k: usize| {
            let part = |(b, x): (usize, &[f64])| {
                let v = &problem.v()[problem.layout().range(b)];
                x.iter().zip(v).map(|(x, v)| (x * v).abs()).sum::<f64>()
            };
            rows[k].row(i).map(part).sum::<f64>()
        };
        let slip_size = |k: usize| contacts.surface[i][k].abs() + terms(k + 1);
        ContactView {
            p: [forces.normal[i], forces.tangent_s[i], forces.tangent_t[i], forces.spin[i]],
            u: per(&|k| rows[k].dot(i, motion) + bias[k]),
            omega: per(&|k| self.terms(rows[k], i, self.w[k * n + i]) + bias[k].abs()),
            w: per(&|k| self.w[k * n + i]),
            slip: if now { [slip(0), slip(1)] } else { [0.0; 2] },
            slip_omega: if now { [slip_size(0), slip_size(1)] } else { [0.0; 2] },
            spin_now: if now { contacts.spin.dot(i, problem.v()) } else { 0.0 },
            spin_omega: if now { terms(3) } else { 0.0 },
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
            let (p, w) = (forces.limit[i], self.w[first + i]);
            let (u, omega) = self.motion(&limits.rows, i, motion, bias, w);
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
        let first = 4 * problem.contacts().len();
        let mut own = Worst::default();
        for i in 0..all.rows.len() {
            let w = self.w[first + i];
            let (u, omega) = self.motion(&all.rows, i, motion, bilateral_bias(problem, level, i), w);
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
            let w = self.w[first + i];
            let (u, omega) = self.motion(rows, i, motion, bilateral_bias(problem, level, i), w);
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
            let w = self.w[first + i];
            let (u, omega) = self.motion(&all.rows, i, motion, rate * all.rate[i] - all.target[i], w);
            let miss = natural(forces.bounded[i], u, w, omega, unit * all.lo[i], unit * all.hi[i]);
            out.bounded = out.bounded.max(worst.see(miss, Place::Bounded(i)));
        }
    }

    /// `row v⁺ + bias` and the size of its terms, for a row with this W.
    fn motion(&self, rows: &Rows, i: usize, motion: &[f64], bias: f64, w: f64) -> (f64, f64) {
        (rows.dot(i, motion) + bias, self.terms(rows, i, w) + bias.abs())
    }
}

impl ContactView {
    /// At acceleration level a contact that does not touch, or parts, has no row.
    fn has_normal_row(&self) -> bool {
        self.level == Level::Velocity || self.touching
    }

    /// Open if it parts (or has no say), else sliding or sticking by its slip. Where a force may act while the surfaces part, that is no break.
    fn mode(&self, law: NormalLaw) -> Mode {
        let acts = law == NormalLaw::Unilateral && self.w[0] * self.p[0] > MOVING * self.omega[0];
        if !self.has_normal_row() || (self.u[0] > MOVING * self.omega[0] && !acts) {
            return Mode::Open;
        }
        let still = |u: f64, omega: f64| u.abs() <= MOVING * omega;
        let slips_now = self.level == Level::Acceleration && !(0..2).all(|k| still(self.slip[k], self.slip_omega[k]));
        let slips_next = !(1..3).all(|k| still(self.u[k], self.omega[k]));
        if slips_now || slips_next { Mode::Slide } else { Mode::Stick }
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

/// `max(−W p, −u, 0) / ω`: zero exactly if p ≥ 0 and u ≥ 0.
fn unilateral(p: f64, u: f64, w: f64, omega: f64) -> f64 {
    if p.is_nan() || u.is_nan() || (p < 0.0 && w == 0.0) {
        return f64::INFINITY;
    }
    ratio((-w * p).max(-u).max(0.0), omega)
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

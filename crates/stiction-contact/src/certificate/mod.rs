//! The physical certificate: how well forces and motion satisfy a law, from the problem as given.
//!
//! It knows nothing of whitened coordinates, bases or solvers, and its sums are its own (`sums.rs`); of what solvers use it reads the problem: rows, and the inertia
//! with its factor, which gives the scales. Every number is dimensionless, and scaled by the terms of its own row: the size that the row's motion would have
//! if nothing cancelled. So a large contact cannot hide a small one.
//!
//! With p the forces and u the motion of the rows (`row v⁺ + bias`), per row `ω = |bias| + min(Σⱼ |rowⱼ| sⱼ + floor, √W E)`, where
//! `s = |v| + dt |M⁻¹ f| + Σ |M⁻¹ rowᵀ p|` bounds the speeds before anything cancels, `W = row M⁻¹ rowᵀ`, the floor is 1e-5 of `√W` times the largest `√M s` of the
//! row's own bodies, so that nothing is measured beside rounding alone, and E is the energy norm of the row's island, data alone: forces that grow
//! without end in an unsolvable problem do not make their own error look small. `docs/certificate.md` has the definitions and the theorem.
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

mod certifier;
mod energy;
mod measures;
mod rows;
mod scales;
pub(crate) mod sums;
mod view;

use std::fmt;

use crate::model::Level;
use crate::problem::ContactProblem;
use crate::solution::ContactForces;

pub use certifier::Certifier;
pub use measures::natural;
pub use view::ContactView;

/// A contact slips, or parts, if its speed is more than this fraction of its terms: well above rounding, well below any motion one would call one.
pub(crate) const MOTION_TOLERANCE: f64 = 1e-9;

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
    /// The island of this block.
    Island(usize),
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
    /// The energy inequality of the worst island: `T(v⁺) + T(v⁺ − v_f) ≤ T(v_f) + W`. 0 where it is not asked for: at acceleration level, under a law
    /// without Signorini's condition, or where bilateral rows contradict each other.
    pub energy: f64,
    /// W (J): the work of targets, bounces and moving surfaces, less what closing gaps takes.
    pub driven_work: f64,
    /// Where the largest of these is.
    pub worst: Place,
    /// Largest residual of a bilateral row when rows contradict each other, beside its terms; 0 if they agree.
    pub inconsistency: f64,
}

impl PhysicalCertificate {
    /// The largest measure.
    pub fn largest(&self) -> f64 {
        let all = [self.momentum, self.bilateral, self.signorini, self.friction, self.bounded, self.work, self.energy];
        all.iter().fold(0.0, |max: f64, x| if x.is_nan() { f64::INFINITY } else { max.max(*x) })
    }

    /// Takes in that of another part of the problem; `place` says where its places are in the whole.
    pub(crate) fn add_part(&mut self, part: &Self, place: impl FnOnce(Place) -> Place) {
        if self.worst == Place::Nowhere || part.largest() > self.largest() {
            self.worst = place(part.worst);
        }
        let larger = |own: &mut f64, part: f64| *own = if part.is_nan() { f64::INFINITY } else { own.max(part) };
        larger(&mut self.momentum, part.momentum);
        larger(&mut self.bilateral, part.bilateral);
        larger(&mut self.signorini, part.signorini);
        larger(&mut self.friction, part.friction);
        larger(&mut self.bounded, part.bounded);
        larger(&mut self.work, part.work);
        larger(&mut self.energy, part.energy);
        larger(&mut self.inconsistency, part.inconsistency);
        self.driven_work += part.driven_work;
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
            "momentum {:.1e}, bilateral {:.1e}, signorini {:.1e}, friction {:.1e}, bounded {:.1e}, work {:.1e}, energy {:.1e} (worst: {})",
            self.momentum,
            self.bilateral,
            self.signorini,
            self.friction,
            self.bounded,
            self.work,
            self.energy,
            self.worst
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
            Place::Island(block) => write!(f, "the island of block {block}"),
            Place::Whole => f.write_str("the whole"),
        }
    }
}

/// A law of friction, as its certificate sees it.
pub trait Law {
    /// What the solve was for.
    fn level(&self) -> Level;

    /// How much one contact violates the law: 0 is exact.
    fn friction(&self, contact: &ContactView) -> f64;

    /// Whether [`Law::friction`] of `contact` is computed from its tangential forces, and so rounds them. A law of the motion alone does not. Default true.
    fn rounds_forces(&self, contact: &ContactView) -> bool {
        let _ = contact;
        true
    }

    /// Whether the law certainly holds to the last bit where nothing moves, for a touching contact with these forces (normal ≥ 0, two tangents, moment about the
    /// normal) and coefficients: forces are within their limits by more than rounding. False by default: then it is measured.
    fn holds_at_rest(&self, _p: [f64; 4], _mu: f64, _mu_spin: f64) -> bool {
        false
    }

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

//! One contact as a law of friction sees it.

use super::measures::{length, ratio};
use super::{MOTION_TOLERANCE, NormalLaw};
use crate::model::{Level, Mode};
use crate::problem::CONTACT_ROWS;

/// Everything a law of friction may look at, for one contact. Index 0 is the normal, then come the two tangents, the spin, and rolling about
/// two axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactView {
    /// Forces or impulses.
    pub p: [f64; CONTACT_ROWS],
    /// Motions `row v⁺ + bias` (or `row v̇ + rate`).
    pub u: [f64; CONTACT_ROWS],
    /// Sizes of the motions' terms.
    pub omega: [f64; CONTACT_ROWS],
    /// `row M⁻¹ rowᵀ`.
    pub w: [f64; CONTACT_ROWS],
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
    /// Rolling coefficient (m).
    pub mu_roll: f64,
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
    pub(crate) fn w_tangent(&self) -> f64 {
        self.w[1].max(self.w[2])
    }

    /// `ω_t`: size of the tangential motion's terms.
    pub(crate) fn omega_tangent(&self) -> f64 {
        length([self.omega[1], self.omega[2]])
    }

    /// `value / size`, 0 for 0/0: a residual beside its terms.
    #[inline]
    pub fn ratio(value: f64, size: f64) -> f64 {
        ratio(value, size)
    }

    /// The tangential forces and moments beside the forces that would undo the motion's terms: 0 exactly if there are none.
    #[inline]
    pub(crate) fn no_friction(&self) -> f64 {
        self.none(1).max(self.none(2)).max(self.no_moment())
    }

    /// The moments about the normal and against rolling in the same way.
    #[inline]
    pub(crate) fn no_moment(&self) -> f64 {
        self.none(3).max(self.no_rolling())
    }

    /// The moments against rolling in the same way.
    #[inline]
    pub(crate) fn no_rolling(&self) -> f64 {
        self.none(4).max(self.none(5))
    }

    /// The force of row `k` beside the one that would undo the motion's terms.
    #[inline]
    fn none(&self, k: usize) -> f64 {
        ratio(self.w[k] * self.p[k].abs(), self.omega[k])
    }
}

impl ContactView {
    /// At acceleration level a contact that does not touch, or parts, has no row.
    pub(super) fn has_normal_row(&self) -> bool {
        self.level == Level::Velocity || self.touching
    }

    /// Open if it parts (or did before, at acceleration level), else sliding or sticking by its slip. Where a force may act while the surfaces part, that is no break.
    #[inline]
    pub(super) fn mode(&self, law: NormalLaw) -> Mode {
        let acts = law == NormalLaw::Unilateral && self.w[0] * self.p[0] > MOTION_TOLERANCE * self.omega[0];
        if !self.has_normal_row() || (self.u[0] > MOTION_TOLERANCE * self.omega[0] && !acts) {
            return Mode::Open;
        }
        let still = |u: f64, omega: f64| u.abs() <= MOTION_TOLERANCE * omega;
        let slips_now = self.level == Level::Acceleration && !(0..2).all(|k| still(self.slip[k], self.slip_omega[k]));
        let slips_next = !(1..3).all(|k| still(self.u[k], self.omega[k]));
        if slips_now || slips_next { Mode::Slide } else { Mode::Stick }
    }
}

#[cfg(test)]
impl ContactView {
    /// A particle of 1 kg pressed with 10 N (or N s), μ = 0.5, nothing moving: where the tests of laws begin.
    pub(super) fn still(level: Level) -> Self {
        Self {
            p: [10.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            u: [0.0; 6],
            omega: [20.0, 10.0, 10.0, 0.0, 0.0, 0.0],
            w: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            slip: [0.0; 2],
            slip_omega: [0.0; 2],
            spin_now: 0.0,
            spin_omega: 0.0,
            mu: 0.5,
            mu_spin: 0.0,
            mu_roll: 0.0,
            mu_viscous: 0.0,
            dt: 1.0,
            touching: true,
            level,
        }
    }
}

//! The laws of elements on one piece each: force as an affine function of motion.

use super::super::law::{Slip, State, Steps};
use super::super::problem::Block;
use super::elements::Element;

/// An element's force as a function of its motion: `p = k − C u`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Map {
    /// The force without motion.
    pub k: [f64; 3],
    /// C.
    pub c: [[f64; 3]; 3],
    /// C has entries off its diagonal.
    pub coupled: bool,
    /// C is not zero.
    pub acts: bool,
    /// For a moment at its bound: its force is this times the normal force of the element before, and `k` and C are zero. Else 0.
    pub follows: f64,
}

impl Map {
    /// `k − C u`.
    pub fn force(&self, u: &[f64; 3]) -> [f64; 3] {
        let mut p = self.k;
        if self.acts {
            for r in 0..3 {
                p[r] -= self.c[r][0] * u[0] + self.c[r][1] * u[1] + self.c[r][2] * u[2];
            }
        }
        p
    }
}

/// `p = k − C u` of one element on the piece `state` of its law.
pub(super) fn affine_law(
    element: &Element,
    state: State,
    slip: Slip,
    steps: Steps,
    alpha: f64,
    centre: [f64; 3],
) -> Map {
    let mut map = Map::default();
    let stiffness = 1.0 / (alpha * element.weight);
    let mut hold = |r: usize| {
        map.k[r] = centre[r];
        map.c[r][r] = stiffness;
        map.acts = true;
    };
    match (element.law, state) {
        // Without a limit the moment is none where there is no normal force.
        (_, State::Lower | State::Upper) if element.mu_spin.is_infinite() => {}
        (_, State::Lower) if element.mu_spin > 0.0 => map.follows = -element.mu_spin,
        (_, State::Upper) if element.mu_spin > 0.0 => map.follows = element.mu_spin,
        (Block::Bounded { lo, .. }, State::Lower) => map.k[0] = lo,
        (Block::Bounded { hi, .. }, State::Upper) => map.k[0] = hi,
        (Block::NoSlip { .. }, State::Open) => (1..element.rows).for_each(hold),
        (_, State::Open) => {}
        (Block::Coulomb { mu, .. }, State::Slide) => {
            hold(0);
            let d = slip.direction;
            let across = [-d[1], d[0]];
            // What a change of motion across the slip turns the friction by.
            let kappa = slip.ratio.min(1.0);
            let tau = kappa * steps.tangential
                / (1.0 - kappa + kappa * steps.tangential * alpha * element.weight).max(f64::MIN_POSITIVE);
            for r in 1..element.rows {
                map.k[r] = mu * d[r - 1] * centre[0];
                map.c[r][0] = mu * d[r - 1] * stiffness;
                if element.rows == 3 {
                    let along = across[0] * centre[1] + across[1] * centre[2];
                    map.k[r] += tau * alpha * element.weight * along * across[r - 1];
                    for l in 1..3 {
                        map.c[r][l] = tau * across[r - 1] * across[l - 1];
                    }
                }
            }
            map.coupled = true;
        }
        _ => (0..element.rows).for_each(hold),
    }
    map
}

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
    /// Of a moment that the normal force of the element before bounds: how its force changes with that force.
    pub follows: [f64; 3],
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

/// `p = k − C u` of one element on the piece `state` of its law, near the forces `centre`; `normal` is the normal force of the element before.
pub(super) fn affine_law(
    element: &Element,
    state: State,
    slip: Slip,
    steps: Steps,
    alpha: f64,
    centre: [f64; 3],
    normal: f64,
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
        (_, State::Lower) if element.is_moment() => follow(&mut map, -element.mu_spin, normal),
        (_, State::Upper) if element.is_moment() => follow(&mut map, element.mu_spin, normal),
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

/// A moment at its bound: `coefficient` times the normal force.
fn follow(map: &mut Map, coefficient: f64, normal: f64) {
    map.k[0] = coefficient * normal;
    map.follows[0] = coefficient;
}

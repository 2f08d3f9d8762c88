//! The laws of elements on one piece each: force as an affine function of motion.

use super::super::law::{Block, Slip, State, Steps};
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
    /// Of a moment that the normal force of its contact bounds: how its force changes with that force.
    pub follows: [f64; 3],
}

impl Map {
    /// `k − C u`.
    pub(super) fn force(&self, u: &[f64; 3]) -> [f64; 3] {
        let mut p = self.k;
        if self.acts {
            for r in 0..3 {
                p[r] -= self.c[r][0] * u[0] + self.c[r][1] * u[1] + self.c[r][2] * u[2];
            }
        }
        p
    }

    /// Row `r` of a moment at its limit is `coefficient` times the normal force of its contact.
    fn follow(&mut self, r: usize, coefficient: f64, normal: f64) {
        self.k[r] = coefficient * normal;
        self.follows[r] = coefficient;
    }

    /// Adds what a change of motion across the slip turns friction by, in the disc of the rows from `first` on.
    fn turn(&mut self, element: &Element, first: usize, slip: Slip, steps: Steps, alpha: f64, centre: [f64; 3]) {
        self.acts = true;
        self.coupled = true;
        if element.rows - first < 2 {
            return;
        }
        let across = [-slip.direction[1], slip.direction[0]];
        let kappa = slip.ratio.min(1.0);
        let tau = kappa * steps.tangential
            / (1.0 - kappa + kappa * steps.tangential * alpha * element.weight).max(f64::MIN_POSITIVE);
        let along = across[0] * centre[first] + across[1] * centre[first + 1];
        for r in 0..2 {
            self.k[first + r] += tau * alpha * element.weight * along * across[r];
            for l in 0..2 {
                self.c[first + r][first + l] = tau * across[r] * across[l];
            }
        }
    }
}

/// `p = k − C u` of one element on the piece `state` of its law, near the forces `centre`; `normal` is the normal force of a moment's contact.
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
        (_, State::Lower | State::Upper) if element.mu_moment.is_infinite() => {}
        (_, State::Lower) if element.is_moment() => map.follow(0, -element.mu_moment, normal),
        (_, State::Upper) if element.is_moment() => map.follow(0, element.mu_moment, normal),
        (_, State::Slide) if element.is_moment() => {
            (0..element.rows).for_each(|r| map.follow(r, element.mu_moment * slip.direction[r], normal));
            map.turn(element, 0, slip, steps, alpha, centre);
        }
        (Block::Bounded { lo, .. }, State::Lower) => map.k[0] = lo,
        (Block::Bounded { hi, .. }, State::Upper) => map.k[0] = hi,
        (Block::NoSlip { .. }, State::Open) => (1..element.rows).for_each(hold),
        (_, State::Open) => {}
        (Block::Slider { friction }, _) => {
            hold(0);
            for r in 1..element.rows {
                map.k[r] = friction[r - 1] * centre[0];
                map.c[r][0] = friction[r - 1] * stiffness;
            }
            map.coupled = element.rows > 1;
        }
        // In the limit friction alone keeps what slides from moving into contact.
        (Block::Coulomb { mu, .. }, State::Slide) if mu.is_infinite() => {
            let d = slip.direction;
            let along = (1..element.rows).map(|r| centre[r] * d[r - 1]).sum::<f64>();
            for r in 1..element.rows {
                map.k[r] = along * d[r - 1];
                map.c[r][0] = stiffness * d[r - 1];
            }
            map.turn(element, 1, slip, steps, alpha, centre);
        }
        (Block::Coulomb { mu, .. }, State::Slide) => {
            hold(0);
            let d = slip.direction;
            for r in 1..element.rows {
                map.k[r] = mu * d[r - 1] * centre[0];
                map.c[r][0] = mu * d[r - 1] * stiffness;
            }
            map.turn(element, 1, slip, steps, alpha, centre);
        }
        _ => (0..element.rows).for_each(hold),
    }
    map
}

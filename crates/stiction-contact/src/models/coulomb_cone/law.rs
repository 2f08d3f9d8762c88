//! The laws of contact as a nonsmooth equation: the function of Alart and Curnier, block by block.
//!
//! With `y_N = r_N − ρ_N u_N`, `y_T = r_T − ρ_T u_T` and the radius `g = mu max(0, y_N)`:
//!
//! ```text
//! F_N = r_N − max(0, y_N),   F_T = r_T − P_{|·| ≤ g}(y_T)
//! ```
//!
//! which is zero exactly where Signorini's condition and Coulomb's law hold, for any ρ > 0. On each piece it is smooth; the piece is the block's [`State`].
//!
//! Reference: \[AlartCurnier91\].

/// The law of one block of rows. With `u = W r + q`:
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Block {
    /// Signorini and Coulomb on `dim` rows, the normal first; mu = 0 means `r_T = 0`, mu = ∞ the limit of Coulomb's law: `u_T = 0` where `r_N > 0`,
    /// `r_T = 0` where `u_N > 0`.
    Coulomb {
        /// 2 or 3.
        dim: usize,
        /// The friction coefficient, in [0, ∞].
        mu: f64,
    },
    /// Signorini on the normal and `u_T = 0`, whatever the normal force, on `dim` rows.
    NoSlip {
        /// 2 or 3.
        dim: usize,
    },
    /// One row, `0 ≤ r ⊥ u ≥ 0`.
    Signorini,
    /// A contact whose slip is given: Signorini on the normal, and this friction along its tangents beside the normal force, whatever their motion.
    Slider {
        /// Friction beside the normal force.
        friction: [f64; 2],
    },
    /// One row, `lo ≤ r ≤ hi`, `u ≥ 0` where r = lo, `u ≤ 0` where r = hi, u = 0 between.
    Bounded {
        /// Lower bound, may be −∞.
        lo: f64,
        /// Upper bound, may be ∞.
        hi: f64,
    },
    /// One row, `u = 0`.
    Free,
}

/// The piece of its law that a block is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No normal impulse.
    Open,
    /// No relative velocity (for scalar rows: u = 0).
    Stick,
    /// Normal impulse, and friction at its limit.
    Slide,
    /// A bounded row at its lower bound.
    Lower,
    /// A bounded row at its upper bound.
    Upper,
}

/// What the derivative of a sliding block needs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Slip {
    /// `y_T / |y_T|`; one entry in two dimensions.
    pub direction: [f64; 2],
    /// `g / |y_T|`.
    pub ratio: f64,
}

/// The steps ρ of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steps {
    /// ρ_N (or ρ of a scalar row).
    pub normal: f64,
    /// ρ_T.
    pub tangential: f64,
}

/// Writes F of one block into `f`, on the piece `frozen` if given, else on the one r and u are on; returns that piece.
pub(crate) fn evaluate(
    block: Block,
    frozen: Option<State>,
    steps: Steps,
    r: &[f64],
    u: &[f64],
    f: &mut [f64],
) -> (State, Slip) {
    let y = r[0] - steps.normal * u[0];
    match block {
        Block::Coulomb { mu, .. } => coulomb(mu, frozen, steps, r, u, f),
        Block::NoSlip { dim } => {
            let state = frozen.unwrap_or(if y > 0.0 { State::Stick } else { State::Open });
            f[0] = if state == State::Open { r[0] } else { steps.normal * u[0] };
            for k in 1..dim {
                f[k] = steps.tangential * u[k];
            }
            (state, Slip::default())
        }
        Block::Free => {
            f[0] = steps.normal * u[0];
            (State::Stick, Slip::default())
        }
        Block::Signorini | Block::Slider { .. } => {
            let state = frozen.unwrap_or(if y > 0.0 { State::Stick } else { State::Open });
            f[0] = if state == State::Open { r[0] } else { steps.normal * u[0] };
            if let Block::Slider { friction } = block {
                (1..r.len()).for_each(|k| f[k] = r[k] - friction[k - 1] * r[0]);
            }
            (state, Slip::default())
        }
        Block::Bounded { lo, hi } => {
            let on = if y <= lo {
                State::Lower
            } else if y >= hi {
                State::Upper
            } else {
                State::Stick
            };
            let state = frozen.unwrap_or(on);
            f[0] = match state {
                State::Lower => r[0] - lo,
                State::Upper => r[0] - hi,
                _ => steps.normal * u[0],
            };
            (state, Slip::default())
        }
    }
}

fn coulomb(mu: f64, frozen: Option<State>, steps: Steps, r: &[f64], u: &[f64], f: &mut [f64]) -> (State, Slip) {
    let dim = r.len();
    let y_n = r[0] - steps.normal * u[0];
    let mut y_t = [0.0; 2];
    for k in 1..dim {
        y_t[k - 1] = r[k] - steps.tangential * u[k];
    }
    let length = (y_t[0] * y_t[0] + y_t[1] * y_t[1]).sqrt();
    let radius = if y_n > 0.0 { mu * y_n } else { 0.0 };
    let on = if y_n <= 0.0 {
        State::Open
    } else if length <= radius {
        State::Stick
    } else {
        State::Slide
    };
    let mut state = frozen.unwrap_or(on);
    // Without friction nothing sticks.
    if state == State::Stick && mu == 0.0 {
        state = State::Slide;
    }
    f[0] = if state == State::Open { r[0] } else { steps.normal * u[0] };
    let mut slip = Slip::default();
    match state {
        // In the limit there is no normal impulse, friction is against the slip, and as large as u_N = 0 needs.
        State::Slide if mu.is_infinite() => {
            let n = if length > 0.0 { [y_t[0] / length, y_t[1] / length] } else { [1.0, 0.0] };
            let along: f64 = (1..dim).map(|k| r[k] * n[k - 1]).sum();
            slip = Slip { direction: n, ratio: if length > 0.0 { (along / length).clamp(0.0, 1.0) } else { 0.0 } };
            for k in 1..dim {
                f[k] = r[k] - along * n[k - 1] + steps.normal * u[0] * n[k - 1];
            }
            f[0] = r[0];
        }
        State::Slide => {
            if length > 0.0 {
                slip = Slip { direction: [y_t[0] / length, y_t[1] / length], ratio: radius / length };
            }
            for k in 1..dim {
                f[k] = r[k] - radius * slip.direction[k - 1];
            }
        }
        State::Open => f[1..dim].copy_from_slice(&r[1..dim]),
        _ => {
            for k in 1..dim {
                f[k] = steps.tangential * u[k];
            }
        }
    }
    (state, slip)
}

/// Writes F of a moment in the disc of this radius into `f`, on the piece `frozen` if given, else on the one r and u are on; returns that piece, which
/// is stick or slide.
pub(crate) fn evaluate_disc(
    radius: f64,
    frozen: Option<State>,
    step: f64,
    r: &[f64],
    u: &[f64],
    f: &mut [f64],
) -> (State, Slip) {
    let y = [r[0] - step * u[0], r[1] - step * u[1]];
    let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
    let state = frozen.unwrap_or(if length < radius { State::Stick } else { State::Slide });
    if state == State::Stick {
        (f[0], f[1]) = (step * u[0], step * u[1]);
        return (state, Slip::default());
    }
    let mut slip = Slip::default();
    if length > 0.0 {
        slip = Slip { direction: [y[0] / length, y[1] / length], ratio: radius / length };
    }
    (0..2).for_each(|k| f[k] = r[k] - radius * slip.direction[k]);
    (state, slip)
}

/// How far a contact with mu = ∞ is from the limit of Coulomb's law, each number beside its terms: `pressed` the normal force, `parting` the separation
/// speed, `force` the friction, `slip` the slip speed, and `askew` what of the slip friction does not oppose.
pub(crate) fn limit_error(pressed: f64, parting: f64, force: f64, slip: f64, askew: f64) -> f64 {
    let held = slip.max(parting);
    let free = force.max(pressed);
    let slides = askew.max(pressed).max(parting);
    held.min(free).min(slides)
}

/// The part of the slip velocity `u` that friction `p` does not oppose: its distance from the ray `−κ p`, κ ≥ 0.
pub(crate) fn askew(p: [f64; 2], u: [f64; 2]) -> f64 {
    let (along, square) = (p[0] * u[0] + p[1] * u[1], p[0] * p[0] + p[1] * p[1]);
    let kappa = if along < 0.0 && square > 0.0 { -along / square } else { 0.0 };
    libm::hypot(u[0] + kappa * p[0], u[1] + kappa * p[1])
}

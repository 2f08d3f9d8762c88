//! Nonsmooth Newton on the Alart–Curnier function of the proximal problem `u = W r + α (r − c) + q`.
//!
//! The Newton system of a piece is the linear system of the blocks' states: rows at rest have `u = 0`, rows with a given impulse leave the system,
//! and the friction of a sliding contact adds the derivative of its direction. With α > 0 a redundant (rank-deficient) set of sticking contacts has a regular system.

use super::law::{self, Row, Slip, State, Steps};
use super::problem::{Block, ConeProblem};
use super::system::System;

/// Halvings of a step before the line search gives up.
const HALVINGS: usize = 12;
/// Share of the predicted decrease a step must bring.
const DECREASE: f64 = 1e-4;

/// Full steps that may go by without a decrease of |F|: the way over the kinks of the laws, and along the curved paths of sliding, is not downhill.
const WATCH: usize = 4;
/// The same at small α, where W itself may be indefinite by the rounding of its entries: there |F| is a poor guide.
const PATIENT_WATCH: usize = 8;
/// That α.
const SMALL_ALPHA: f64 = 1e-6;
/// α at which the system of the modes is first solved, dimensionless: far below what a contact feels, far above rounding.
const FINISH_ALPHA: f64 = 1e-10;
/// The least α of that system.
const LEAST_FINISH_ALPHA: f64 = 1e-13;
/// Its largest.
const LARGEST_FINISH_ALPHA: f64 = 1e-2;
/// Its growth where a step brings nothing.
const FINISH_GROWTH: f64 = 30.0;
/// A step that leaves less than this of |F| is one of a method that converges.
const CONVERGING_DECREASE: f64 = 0.25;
/// Steps on given states.
const FINISH_LIMIT: usize = 12;
/// |F| relative to q and r that is rounding.
const ROUNDING: f64 = 1e-17;
/// |F| relative to q and r below which a step that brings nothing is lost in rounding.
const HALF_DIGITS: f64 = 1e-13;

/// How a run of Newton's method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The norm is below the tolerance asked for.
    Converged,
    /// No step decreases the norm, or the system is singular.
    Stalled,
    /// The limit of iterations.
    Limit,
}

/// The proximal problem's α and its centre c.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proximal<'a> {
    /// α ≥ 0, relative to W's mean diagonal.
    pub alpha: f64,
    /// The centre c, n.
    pub centre: &'a [f64],
}

/// Newton's method and its workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newton {
    /// Velocities of the iterate, α included, n.
    pub u: Vec<f64>,
    /// State of each block at the iterate.
    pub states: Vec<State>,
    /// Iterations of all runs so far.
    pub iterations: usize,
    slips: Vec<Slip>,
    /// ρ of each block.
    rho: Vec<Steps>,
    f: Vec<f64>,
    step: Vec<f64>,
    /// `(W + α I) step`.
    moved: Vec<f64>,
    low: Vec<f64>,
    trial_r: Vec<f64>,
    trial_u: Vec<f64>,
    best_r: Vec<f64>,
    best_u: Vec<f64>,
    system: System,
}

impl Newton {
    /// Sizes the workspace for a problem.
    pub(super) fn reset(&mut self, problem: &ConeProblem) {
        let n = problem.n();
        for v in [
            &mut self.u,
            &mut self.f,
            &mut self.step,
            &mut self.moved,
            &mut self.low,
            &mut self.trial_r,
            &mut self.trial_u,
            &mut self.best_r,
            &mut self.best_u,
        ] {
            v.clear();
            v.resize(n, 0.0);
        }
        self.states.clear();
        self.states.resize(problem.blocks.len(), State::Open);
        self.slips.clear();
        self.slips.resize(problem.blocks.len(), Slip::default());
        self.iterations = 0;
    }

    /// Solves the proximal problem from `r` to `|F| ≤ tolerance` relative to the size of q and r; r becomes the last iterate.
    pub(super) fn solve(
        &mut self,
        problem: &ConeProblem,
        proximal: Proximal<'_>,
        r: &mut [f64],
        tolerance: f64,
        limit: usize,
    ) -> End {
        self.choose_rho(problem, proximal.alpha, stretch(proximal.alpha));
        velocities(problem, proximal, r, &mut self.u);
        let mut norm = self.evaluate(problem, r);
        let watch = if proximal.alpha < SMALL_ALPHA { PATIENT_WATCH } else { WATCH };
        let mut best = norm;
        let mut since = 0;
        self.best_r.copy_from_slice(r);
        self.best_u.copy_from_slice(&self.u);
        for _ in 0..limit {
            stiction_lcp::interrupt::check();
            if norm <= tolerance * size(problem, r) {
                return End::Converged;
            }
            if since == watch {
                r.copy_from_slice(&self.best_r);
                self.u.copy_from_slice(&self.best_u);
                self.evaluate(problem, r);
            }
            if !self.direction(problem, proximal.alpha, r) {
                return End::Stalled;
            }
            self.iterations += 1;
            if since == watch {
                since = 0;
                match self.search(problem, r, best) {
                    Some(next) => norm = next,
                    None => return End::Stalled,
                }
            } else {
                norm = self.full_step(problem, r);
            }
            if norm < (1.0 - DECREASE) * best {
                best = norm;
                since = 0;
                self.best_r.copy_from_slice(r);
                self.best_u.copy_from_slice(&self.u);
            } else {
                since += 1;
            }
        }
        if norm <= tolerance * size(problem, r) { End::Converged } else { End::Limit }
    }

    /// F at (r, u), with each block's state and slip; returns |F|₂.
    fn evaluate(&mut self, problem: &ConeProblem, r: &[f64]) -> f64 {
        let mut sum = 0.0;
        for b in 0..problem.blocks.len() {
            let rows = problem.rows(b);
            let f = &mut self.f[rows.clone()];
            let (state, slip) =
                law::evaluate(problem.blocks[b], None, self.rho[b], &r[rows.clone()], &self.u[rows.clone()], f);
            self.states[b] = state;
            self.slips[b] = slip;
            sum += f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// The Newton step of the current states; false if their system has no finite solution.
    fn direction(&mut self, problem: &ConeProblem, alpha: f64, r: &[f64]) -> bool {
        self.system.choose_rows(problem, &self.states);
        self.fix_impulses(problem, alpha, r);
        for (place, &i) in self.system.active.iter().enumerate() {
            let b = problem.block_of[i];
            let s = problem.starts[b];
            let right = match law::row(problem.blocks[b], self.states[b], i - s) {
                Row::Friction => {
                    -self.f[i]
                        - friction_part(problem.blocks[b], self.slips[b], self.rho[b], i - s, |k| self.moved[s + k])
                }
                _ => -(self.u[i] + self.moved[i]),
            };
            self.system.right[place] = right;
        }
        if !self.system.solve(problem, alpha, &self.states, &self.slips, &self.rho) {
            return false;
        }
        for (place, &i) in self.system.active.iter().enumerate() {
            self.step[i] = self.system.right[place];
        }
        self.moved.fill(0.0);
        problem.w.mul_add(&self.step, &problem.starts, &mut self.moved);
        for (moved, step) in self.moved.iter_mut().zip(&self.step) {
            *moved += alpha * step;
        }
        true
    }

    /// The steps of rows whose impulse is given, and in `moved` what they do to the velocities.
    fn fix_impulses(&mut self, problem: &ConeProblem, alpha: f64, r: &[f64]) {
        self.moved.fill(0.0);
        for b in 0..problem.blocks.len() {
            let start = problem.starts[b];
            for i in problem.rows(b) {
                self.step[i] = match law::row(problem.blocks[b], self.states[b], i - start) {
                    Row::Fixed(value) => value - r[i],
                    _ => 0.0,
                };
                if self.step[i] != 0.0 {
                    problem.w.add_column(i, self.step[i], &problem.starts, &mut self.moved);
                    self.moved[i] += alpha * self.step[i];
                }
            }
        }
    }

    /// Takes the whole step, whatever it does to |F|, and returns that.
    fn full_step(&mut self, problem: &ConeProblem, r: &mut [f64]) -> f64 {
        for i in 0..r.len() {
            r[i] += self.step[i];
            self.u[i] += self.moved[i];
        }
        self.evaluate(problem, r)
    }

    /// Halves the step until |F| is below `reference` by enough; r and u become the point found, and its norm is returned.
    fn search(&mut self, problem: &ConeProblem, r: &mut [f64], reference: f64) -> Option<f64> {
        let mut t = 1.0;
        self.trial_r.copy_from_slice(r);
        self.trial_u.copy_from_slice(&self.u);
        for _ in 0..HALVINGS {
            for i in 0..r.len() {
                r[i] = self.trial_r[i] + t * self.step[i];
                self.u[i] = self.trial_u[i] + t * self.moved[i];
            }
            let norm = self.evaluate(problem, r);
            if norm <= (1.0 - DECREASE * t) * reference {
                return Some(norm);
            }
            t *= 0.5;
        }
        r.copy_from_slice(&self.trial_r);
        self.u.copy_from_slice(&self.trial_u);
        None
    }

    /// Newton steps on the given states, not changing them, until |F| is rounding: the system of the modes, linear but for the directions of sliding,
    /// refined with velocities in twice the working precision. Each step is the least one up to α: what a redundant set leaves open stays as it is.
    /// Where a step brings nothing, α grows. Returns |F|.
    pub(super) fn finish(&mut self, problem: &ConeProblem, states: &[State], r: &mut [f64]) -> f64 {
        self.states.copy_from_slice(states);
        self.choose_rho(problem, 0.0, 1.0);
        let mut alpha = FINISH_ALPHA;
        let mut norm = self.evaluate_frozen(problem, r);
        self.best_r.copy_from_slice(r);
        for _ in 0..FINISH_LIMIT {
            stiction_lcp::interrupt::check();
            let floor = ROUNDING * size(problem, r);
            if norm <= floor {
                break;
            }
            self.iterations += 1;
            if !self.direction(problem, alpha, r) {
                break;
            }
            let next = self.frozen_step(problem, alpha, r, norm);
            if next < norm {
                alpha = if next <= CONVERGING_DECREASE * norm {
                    (alpha / FINISH_GROWTH).max(LEAST_FINISH_ALPHA)
                } else {
                    alpha
                };
                norm = next;
            } else {
                alpha *= FINISH_GROWTH;
                if alpha > LARGEST_FINISH_ALPHA || norm <= HALF_DIGITS * size(problem, r) {
                    break;
                }
            }
        }
        r.copy_from_slice(&self.best_r);
        norm
    }

    /// Takes full steps, up to a few before |F| is below `norm`: where contacts slide the way is curved, and the first step leaves it.
    /// Leaves r and F at the best point.
    fn frozen_step(&mut self, problem: &ConeProblem, alpha: f64, r: &mut [f64], norm: f64) -> f64 {
        for _ in 0..WATCH {
            for i in 0..r.len() {
                r[i] += self.step[i];
            }
            let next = self.evaluate_frozen(problem, r);
            if next < (1.0 - DECREASE) * norm {
                self.best_r.copy_from_slice(r);
                return next;
            }
            if norm <= HALF_DIGITS * size(problem, r) || next.is_nan() || next > size(problem, r) {
                break;
            }
            self.iterations += 1;
            if !self.direction(problem, alpha, r) {
                break;
            }
        }
        r.copy_from_slice(&self.best_r);
        self.evaluate_frozen(problem, r)
    }

    /// |F| of the states as they are, with u in twice the working precision and without α.
    fn evaluate_frozen(&mut self, problem: &ConeProblem, r: &[f64]) -> f64 {
        self.u.copy_from_slice(&problem.q);
        problem.w.mul_add_doubled(r, &problem.starts, &mut self.u, &mut self.low);
        let mut sum = 0.0;
        for b in 0..problem.blocks.len() {
            let rows = problem.rows(b);
            let f = &mut self.f[rows.clone()];
            let frozen = Some(self.states[b]);
            let (_, slip) =
                law::evaluate(problem.blocks[b], frozen, self.rho[b], &r[rows.clone()], &self.u[rows.clone()], f);
            self.slips[b] = slip;
            sum += f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// |F| of the problem itself (α = 0) at r; leaves velocities and states of r behind.
    pub(super) fn residual(&mut self, problem: &ConeProblem, r: &[f64]) -> f64 {
        self.choose_rho(problem, 0.0, 1.0);
        velocities(problem, Proximal { alpha: 0.0, centre: r }, r, &mut self.u);
        self.evaluate(problem, r)
    }

    /// ρ of every block: `stretch` times the inverse of its diagonal.
    fn choose_rho(&mut self, problem: &ConeProblem, alpha: f64, stretch: f64) {
        self.rho.clear();
        self.rho.extend((0..problem.blocks.len()).map(|b| steps(problem, alpha, stretch, b)));
    }
}

/// The size of q and r, which rounding is relative to.
pub(crate) fn size(problem: &ConeProblem, r: &[f64]) -> f64 {
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    (square(&problem.q) + square(r)).sqrt()
}

/// `u ← W r + α (r − c) + q`.
pub(crate) fn velocities(problem: &ConeProblem, proximal: Proximal<'_>, r: &[f64], u: &mut [f64]) {
    for i in 0..r.len() {
        u[i] = problem.q[i] + proximal.alpha * (r[i] - proximal.centre[i]);
    }
    problem.w.mul_add(r, &problem.starts, u);
}

/// α^(−3/8): in the weak directions of W a change of impulses of size 1 changes velocities by α; with ρ between the inverses of the strong and of
/// the weak ones, F weighs both alike, and Newton steps may pass over contacts that open or slide on the way.
fn stretch(alpha: f64) -> f64 {
    let fourth = alpha.sqrt().sqrt();
    1.0 / (fourth * fourth.sqrt())
}

/// ρ of block `b`: `stretch` times the inverse of its diagonal, normal and tangential apart; `stretch` where that is not positive.
fn steps(problem: &ConeProblem, alpha: f64, stretch: f64, b: usize) -> Steps {
    let inverse = |w: f64| if w > 0.0 { stretch / w } else { stretch };
    let rows = problem.rows(b);
    let diagonal = &problem.diagonal[rows];
    let normal = inverse(diagonal[0] + alpha);
    match problem.blocks[b] {
        Block::Coulomb { dim, .. } | Block::NoSlip { dim } => {
            let mean = diagonal[1..].iter().sum::<f64>() / (dim - 1) as f64;
            Steps { normal, tangential: inverse(mean + alpha) }
        }
        _ => Steps { normal, tangential: normal },
    }
}

/// Row `k ≥ 1` of `P ρ_T du_T + mu n ρ_N du_N`, with `P = (g/|y_T|) (I − n nᵀ)`: what a change of velocities does to a sliding contact's F_T.
#[inline]
pub(crate) fn friction_part(block: Block, slip: Slip, rho: Steps, k: usize, du: impl Fn(usize) -> f64) -> f64 {
    let Block::Coulomb { dim, mu } = block else { return 0.0 };
    let n = slip.direction;
    let mut along = 0.0;
    for l in 1..dim {
        along += n[l - 1] * du(l);
    }
    // Without a limit, friction is as large as u_N = 0 needs.
    let mu = if mu.is_infinite() { 1.0 } else { mu };
    slip.ratio * rho.tangential * (du(k) - n[k - 1] * along) + mu * n[k - 1] * rho.normal * du(0)
}

/// Row `k ≥ 1` of `(I − P) dr_T − mu n dr_N` for the unit impulse of row `l` of the same contact.
#[inline]
pub(crate) fn own_part(block: Block, slip: Slip, k: usize, l: usize) -> f64 {
    let Block::Coulomb { mu, .. } = block else { return 0.0 };
    let n = slip.direction;
    let same = if k == l { 1.0 } else { 0.0 };
    if mu.is_infinite() {
        return if l == 0 { 0.0 } else { (1.0 - slip.ratio) * (same - n[k - 1] * n[l - 1]) };
    }
    if l == 0 {
        return -mu * n[k - 1];
    }
    same - slip.ratio * (same - n[k - 1] * n[l - 1])
}

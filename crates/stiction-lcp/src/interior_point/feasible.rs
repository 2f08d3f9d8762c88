//! The feasible interior point method of Trinkle, Pang, Sudarsky and Lo.

use super::crossover::Crossover;
use super::newton::{Newton, Pair, iteration_flops};
use super::scale::Scaled;
use super::strict::StrictlyFeasible;
use super::{Core, Ending, conclude};
use crate::basis::Basis;
use crate::error::InputError;
use crate::finish::Finish;
use crate::lemke::Lemke;
use crate::outcome::{Outcome, StopReason, TraceLine};
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::solve_reduced;
use crate::solver::{Options, Solver};
use stiction_linalg::power::{exponent, times_power};

/// The constants of the method; the paper leaves all but the first two open.
#[derive(Debug, Clone, PartialEq)]
pub struct FeasibleSettings {
    /// ε: crossover begins when `zᵀw` is at most this, for the problem scaled to q of size one. In (0, 1); default 1e-6 as in the paper.
    pub gap: f64,
    /// Iterations at most, unless `Options::max_pivots` says otherwise; default 300 as in the paper.
    pub max_iterations: usize,
    /// β₀: the first centering parameter, in [0, 1); default 0.5. It is halved after every step longer than one half.
    pub centering: f64,
    /// η: the part of the way to the boundary that a step goes at most, in (0, 1); default 0.95.
    pub boundary: f64,
    /// ρ: the factor by which the line search shortens a step, in (0, 1); default 0.7.
    pub shrink: f64,
    /// σ: the part of the predicted decrease of ψ that a step must reach, in (0, 1); default 0.1.
    pub decrease: f64,
    /// ζ in the potential function ψ, divided by √n; above 0; default 1.
    pub potential: f64,
}

impl Default for FeasibleSettings {
    fn default() -> Self {
        Self {
            gap: 1e-6,
            max_iterations: 300,
            centering: 0.5,
            boundary: 0.95,
            shrink: 0.7,
            decrease: 0.1,
            potential: 1.0,
        }
    }
}

impl FeasibleSettings {
    fn check(&self) -> Result<(), InputError> {
        let inside = |x: f64| x > 0.0 && x < 1.0;
        let wrong = |name| Err(InputError::Option { name, reason: "must be above 0 and below 1".into() });
        for (name, x) in
            [("gap", self.gap), ("boundary", self.boundary), ("shrink", self.shrink), ("decrease", self.decrease)]
        {
            if !inside(x) {
                return wrong(name);
            }
        }
        if !(self.centering >= 0.0 && self.centering < 1.0) {
            return Err(InputError::Option { name: "centering", reason: "must be at least 0 and below 1".into() });
        }
        if !(self.potential > 0.0 && self.potential.is_finite()) {
            return Err(InputError::Option { name: "potential", reason: "must be above 0".into() });
        }
        Ok(())
    }
}

/// Trinkle and Pang's feasible interior point method, with crossover to a vertex.
///
/// From `(w⁰, z⁰) > 0` with `w⁰ = M z⁰ + q` it steps along `M dz = dw`, `W dz + Z dw = β ξ e − w∘z` (ξ the mean of w∘z), as far
/// as the potential `ψ = (n + ζ) log wᵀz − Σ log wᵢzᵢ` falls enough. The paper's (38) has the opposite sign on the right,
/// which its Steps 2–3 would need subtracted. Theory asks that M be P₀ and a strictly feasible point exist; without one the
/// outcome is `Stopped(NotApplicable)`, although the problem may have a solution.
/// Reference: [Trinkle95, §8], \[Kojima91\].
#[derive(Debug, Clone, Default)]
pub struct FeasibleInteriorPoint {
    options: Options,
    settings: FeasibleSettings,
    lemke: Lemke,
    scaled: Scaled,
    strict: StrictlyFeasible,
    newton: Newton,
    crossover: Crossover,
    finish: Finish,
    at: Pair,
    direction: Pair,
    zero: Vec<f64>,
    complementarity: Vec<f64>,
}

/// Shortenings of a step before the line search gives up.
const MAX_SHRINKS: usize = 100;

/// A step longer than this halves β.
const LONG_STEP: f64 = 0.5;

impl FeasibleInteriorPoint {
    /// The method with these options and the paper's limits.
    pub fn new(options: Options) -> Self {
        Self { lemke: Lemke::new(options.clone()).with_restarts(0), options, ..Self::default() }
    }

    /// The method with these options and constants.
    pub fn with_settings(options: Options, settings: FeasibleSettings) -> Self {
        Self { settings, ..Self::new(options) }
    }

    fn run(&mut self, lcp: &Lcp) -> Core {
        let (n, tolerances) = (lcp.n(), self.options.tolerances.interior_point);
        let mut core = Core::new(n);
        self.scaled.set(lcp);
        // Step 0. A strictly feasible start.
        let Some(iterations) = self.strict.find(&self.scaled.m, &self.scaled.q, &tolerances, &mut self.at) else {
            core.ending = Ending::Stopped(StopReason::NotApplicable("no strictly feasible point".into()));
            return core;
        };
        core.stats.refactorizations += iterations;
        core.stats.flops += iterations as u64 * iteration_flops(n);
        let limit = self.options.max_pivots.unwrap_or(self.settings.max_iterations);
        let mut beta = self.settings.centering;
        let mut next_guess = self.settings.gap;
        core.ending = loop {
            crate::interrupt::check();
            let gap = n as f64 * self.at.mean_gap();
            if gap <= next_guess {
                core.solved = self.crossover.run(lcp, &self.scaled, &self.at, &self.options, &mut core.stats);
                if core.solved.is_some() {
                    break Ending::Solved;
                }
                next_guess = gap * tolerances.next_guess;
            }
            if gap <= tolerances.converged {
                break Ending::Stopped(StopReason::Uncertified);
            }
            if core.stats.iterations >= limit {
                break Ending::Stopped(StopReason::Limit(limit));
            }
            if core.stats.flops > self.options.flops_allowed(n) {
                break Ending::Stopped(StopReason::Budget(self.options.flops_allowed(n)));
            }
            core.stats.flops += iteration_flops(n);
            // Steps 1–3.
            let Some(step) = self.search_direction(beta).then(|| self.step_size(beta)).flatten() else {
                break Ending::Stopped(StopReason::Numerical("no step decreases the potential".into()));
            };
            self.update(step);
            core.stats.iterations += 1;
            core.stats.refactorizations += 1;
            if self.options.trace {
                core.stats.trace.push(TraceLine { entering: None, leaving: None, measure: gap });
            }
            if step > LONG_STEP {
                beta *= 0.5;
            }
        };
        self.close(lcp, core)
    }

    /// Step 1: the direction of (38), with the sign that Steps 2–3 need.
    fn search_direction(&mut self, beta: f64) -> bool {
        let xi = self.at.mean_gap();
        self.complementarity.clear();
        self.complementarity.extend(self.at.z.iter().zip(&self.at.w).map(|(z, w)| beta * xi - w * z));
        self.zero.clear();
        self.zero.resize(self.at.z.len(), 0.0);
        if !self.newton.factor(&self.scaled.m, &self.at) {
            return false;
        }
        self.newton.solve(&self.scaled.m, &self.at, &self.zero, &self.complementarity, &mut self.direction);
        true
    }

    /// Step 2: the longest step η λ̄ ρᵐ for which ψ falls enough (39).
    fn step_size(&self, beta: f64) -> Option<f64> {
        let FeasibleSettings { boundary, shrink, decrease, .. } = self.settings;
        let zeta = self.settings.potential * (self.at.z.len() as f64).sqrt();
        let mut step = boundary * self.at.step_to_boundary(&self.direction);
        for _ in 0..MAX_SHRINKS {
            let change = potential_change(&self.at, &self.direction, step, zeta);
            if change <= -decrease * (1.0 - beta) * zeta * step {
                return Some(step);
            }
            step *= shrink;
        }
        None
    }

    /// Step 3. w is taken from z anew, so that the iterate stays feasible, unless rounding would make it negative.
    fn update(&mut self, step: f64) {
        self.at.advance(&self.direction, step);
        self.scaled.m.mul_into(&self.at.z, &mut self.zero);
        for (w, (mz, q)) in self.at.w.iter_mut().zip(self.zero.iter().zip(&self.scaled.q)) {
            let fresh = mz + q;
            // Both agree to rounding; where w is small beside its terms, only the updated one is accurate.
            if (fresh - *w).abs() <= 0.5 * *w {
                *w = fresh;
            }
        }
    }

    fn close(&mut self, lcp: &Lcp, mut core: Core) -> Core {
        if core.solved.is_none() {
            let crossed = self.crossover.run(lcp, &self.scaled, &self.at, &self.options, &mut core.stats);
            core.solved = crossed
                .or_else(|| self.crossover.hand_over(lcp, &self.at, &mut self.lemke, &self.options, &mut core.stats));
            core.z = self.scaled.unscale_z(&self.at.z);
        }
        core
    }
}

/// `ψ(x + λ d) − ψ(x)`.
fn potential_change(at: &Pair, direction: &Pair, step: f64, zeta: f64) -> f64 {
    let n = at.z.len();
    let mut sum = (n as f64 + zeta) * logarithm(at.mean_gap_after(direction, step) / at.mean_gap());
    for i in 0..n {
        let z = 1.0 + step * direction.z[i] / at.z[i];
        let w = 1.0 + step * direction.w[i] / at.w[i];
        sum -= logarithm(z * w);
    }
    sum
}

/// The natural logarithm, from the same additions on every machine; −∞ for what is not positive.
fn logarithm(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let e = exponent(x);
    let f = times_power(x, -e);
    // log f = 2 artanh s with s = (f − 1) / (f + 1), |s| ≤ 1/3 on [1/2, 1).
    let s = (f - 1.0) / (f + 1.0);
    let (square, mut sum) = (s * s, 0.0);
    for k in (0..17).rev() {
        sum = sum * square + 1.0 / f64::from(2 * k + 1);
    }
    f64::from(e) * std::f64::consts::LN_2 + 2.0 * s * sum
}

impl Solver for FeasibleInteriorPoint {
    fn name(&self) -> &'static str {
        "feasible-interior-point"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.options.check()?;
        self.settings.check()?;
        let options = self.options.clone();
        let mut finish = std::mem::take(&mut self.finish);
        let outcome = solve_reduced(problem, start, &options, &mut finish, |lcp, _| Ok(conclude(lcp, self.run(lcp))));
        self.finish = finish;
        outcome
    }
}

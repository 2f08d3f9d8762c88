//! An infeasible-start predictor–corrector method for monotone problems.

use super::crossover::Crossover;
use super::newton::{Newton, Pair, iteration_flops};
use super::scale::Scaled;
use super::{Core, Ending, conclude};
use crate::basis::Basis;
use crate::error::InputError;
use crate::finish::Finish;
use crate::lemke::Lemke;
use crate::matrix::{dot, max_abs};
use crate::outcome::{Outcome, StopReason, TraceLine};
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::solve_reduced;
use crate::solver::{Options, Solver};

/// Mehrotra's predictor–corrector method from an infeasible start, with crossover to a vertex.
///
/// Each iteration factors `[−I M; Z W]` once and solves twice: for the affine direction (the predictor), whose step length sets
/// the centering, and for the direction that also takes back the predictor's second-order error. For positive
/// semidefinite M it converges wherever there is a solution; for other matrices it may, and the certificate tells.
/// Reference: \[Mehrotra92\], \[Wright97\].
///
/// `Options::max_pivots` limits the iterations (default 200).
#[derive(Debug, Clone, Default)]
pub struct InteriorPoint {
    options: Options,
    lemke: Lemke,
    scaled: Scaled,
    newton: Newton,
    crossover: Crossover,
    finish: Finish,
    work: Work,
}

#[derive(Debug, Clone, Default)]
struct Work {
    at: Pair,
    best: Pair,
    /// The z that proves most against a solution of moderate size.
    ray: Vec<f64>,
    affine: Pair,
    direction: Pair,
    residual: Vec<f64>,
    complementarity: Vec<f64>,
}

/// Iterations at most, unless the options say otherwise. Twenty are the rule.
const MAX_ITERATIONS: usize = 200;

/// How near to the boundary a step goes, at least and at most.
const STEP_TO_BOUNDARY: (f64, f64) = (0.9, 0.9995);

/// A step shorter than this is followed by a centering step.
const SHORT_STEP: f64 = 0.05;

/// A short step that raises z by this factor is progress, towards a ray.
const RAY_GROWTH: f64 = 1.5;

/// This many short steps in a row end the method.
const MAX_SHORT_STEPS: usize = 12;

impl InteriorPoint {
    /// The method with these options.
    pub fn new(options: Options) -> Self {
        Self { lemke: Lemke::new(options.clone()).with_restarts(0), options, ..Self::default() }
    }

    /// Stops after this many floating-point operations from now on.
    pub(crate) fn limit_flops(&mut self, max_flops: u64) {
        self.options.max_flops = Some(max_flops);
    }

    fn max_iterations(&self) -> usize {
        self.options.max_pivots.unwrap_or(MAX_ITERATIONS)
    }

    fn run(&mut self, lcp: &Lcp) -> Core {
        let mut core = Core::new(lcp.n());
        self.scaled.set(lcp);
        self.start();
        self.work.best.copy_from(&self.work.at);
        let tolerances = self.options.tolerances.interior_point;
        let (mut next_guess, mut short_steps) = (tolerances.first_guess, 0);
        let (mut best, mut largest_ray) = (f64::INFINITY, 0.0);
        let ending = loop {
            crate::interrupt::check();
            let gap = self.work.at.mean_gap();
            let error = gap.max(self.update_residual());
            if error < best {
                best = error;
                self.work.best.copy_from(&self.work.at);
            }
            if error <= next_guess && self.try_basis(lcp, &mut core) {
                break Ending::Solved;
            }
            while error <= next_guess && next_guess > tolerances.converged * tolerances.next_guess {
                next_guess *= tolerances.next_guess;
            }
            if error <= tolerances.converged {
                break Ending::Stopped(StopReason::Uncertified);
            }
            largest_ray = self.keep_ray(largest_ray);
            if largest_ray >= tolerances.diverged {
                break Ending::Diverged;
            }
            if core.stats.iterations >= self.max_iterations() {
                break Ending::Stopped(StopReason::Limit(self.max_iterations()));
            }
            if core.stats.flops > self.options.flops_allowed(lcp.n()) {
                break Ending::Stopped(StopReason::Budget(self.options.flops_allowed(lcp.n())));
            }
            core.stats.flops += iteration_flops(lcp.n());
            let size = max_abs(&self.work.at.z);
            let Some(step) = self.iterate(gap, short_steps > 0) else {
                break Ending::Stopped(StopReason::Numerical("Newton's equations are singular".into()));
            };
            core.stats.iterations += 1;
            core.stats.refactorizations += 1;
            if self.options.trace {
                core.stats.trace.push(TraceLine { entering: None, leaving: None, measure: gap });
            }
            // On its way along a ray z grows, however short the steps.
            let stuck = step < SHORT_STEP && max_abs(&self.work.at.z) < RAY_GROWTH * size;
            short_steps = if stuck { short_steps + 1 } else { 0 };
            if short_steps > MAX_SHORT_STEPS {
                break Ending::Stopped(StopReason::Numerical("the steps became too short".into()));
            }
        };
        let ending = if largest_ray >= tolerances.ray { Ending::Diverged } else { ending };
        self.close(lcp, core, ending)
    }

    /// A positive start: the minimizer of a regularized problem, `(M + I) z = −q`, shifted inside.
    fn start(&mut self) {
        let n = self.scaled.q.len();
        let at = &mut self.work.at;
        at.reset(n);
        at.z.fill(1.0);
        at.w.fill(1.0);
        self.work.residual.clear();
        self.work.residual.extend_from_slice(&self.scaled.q);
        self.work.complementarity.clear();
        self.work.complementarity.resize(n, 0.0);
        if !self.newton.factor(&self.scaled.m, at) {
            return;
        }
        // With z = w = 1 Newton's equations read M dz − dw = −q, dz + dw = 0.
        let work = &mut self.work;
        self.newton.solve(&self.scaled.m, &work.at, &work.residual, &work.complementarity, &mut work.affine);
        let shift = work.affine.z.iter().chain(&work.affine.w).fold(0.0, |s: f64, x| s.max(-1.5 * x));
        let shift = if shift.is_finite() { shift.max(0.1) } else { return };
        for (x, d) in [(&mut work.at.z, &work.affine.z), (&mut work.at.w, &work.affine.w)] {
            for (x, d) in x.iter_mut().zip(d) {
                *x = d + shift;
            }
        }
    }

    /// `M z + q − w`, and its largest entry.
    fn update_residual(&mut self) -> f64 {
        let Work { at, residual, .. } = &mut self.work;
        residual.resize(at.z.len(), 0.0);
        self.scaled.m.mul_into(&at.z, residual);
        for i in 0..residual.len() {
            residual[i] += self.scaled.q[i] - at.w[i];
        }
        let worst = max_abs(residual);
        if worst.is_nan() { f64::INFINITY } else { worst }
    }

    /// How large every feasible z must be by the present one; the best proof of that is kept.
    fn keep_ray(&mut self, largest: f64) -> f64 {
        let Work { at, ray, .. } = &mut self.work;
        let decrease = -dot(&self.scaled.q, &at.z);
        if decrease <= 0.0 {
            return largest;
        }
        let violation = (0..at.z.len()).fold(0.0, |v: f64, j| v.max(dot(self.scaled.m.col(j), &at.z)));
        if decrease > largest * violation {
            ray.clone_from(&at.z);
            return decrease / violation;
        }
        largest
    }

    /// One predictor–corrector step; a pure centering step after a short one. Returns its length.
    fn iterate(&mut self, gap: f64, recenter: bool) -> Option<f64> {
        let m = &self.scaled.m;
        let Work { at, affine, direction, residual, complementarity, .. } = &mut self.work;
        if !self.newton.factor(m, at) {
            return None;
        }
        let n = at.z.len();
        let mut centering = 0.5;
        complementarity.clear();
        complementarity.extend((0..n).map(|i| -at.z[i] * at.w[i]));
        if !recenter {
            self.newton.solve(m, at, residual, complementarity, affine);
            let step = at.step_to_boundary(affine);
            let ratio = at.mean_gap_after(affine, step) / gap;
            centering = ratio.clamp(0.0, 1.0).powi(3);
            for i in 0..n {
                // Where the predictor's error exceeds the gap itself, taking it back does harm.
                complementarity[i] -= (affine.z[i] * affine.w[i]).clamp(-gap, gap.max(at.z[i] * at.w[i]));
            }
        }
        complementarity.iter_mut().for_each(|c| *c += centering * gap);
        self.newton.solve(m, at, residual, complementarity, direction);
        let step = at.step_to_boundary(direction) * (1.0 - gap).clamp(STEP_TO_BOUNDARY.0, STEP_TO_BOUNDARY.1);
        if !step.is_finite() || direction.z.iter().chain(&direction.w).any(|x| !x.is_finite()) {
            return None;
        }
        at.advance(direction, step);
        keep_positive(at);
        Some(step)
    }

    /// Crossover from the present iterate; true if its basis is certified.
    fn try_basis(&mut self, lcp: &Lcp, core: &mut Core) -> bool {
        core.solved = self.crossover.run(lcp, &self.scaled, &self.work.at, &self.options, &mut core.stats);
        core.solved.is_some()
    }

    /// The last attempts: crossover from the best iterate, then the pivoting method.
    fn close(&mut self, lcp: &Lcp, mut core: Core, ending: Ending) -> Core {
        if core.solved.is_none() {
            let best = std::mem::take(&mut self.work.best);
            core.solved = self
                .crossover
                .run(lcp, &self.scaled, &best, &self.options, &mut core.stats)
                .or_else(|| self.crossover.hand_over(lcp, &best, &mut self.lemke, &self.options, &mut core.stats));
            let z = if matches!(ending, Ending::Diverged) { &self.work.ray } else { &best.z };
            core.z = self.scaled.unscale_z(z);
            self.work.best = best;
        }
        core.ending = if core.solved.is_some() { Ending::Solved } else { ending };
        core
    }
}

/// Lifts entries that rounding has made zero or negative.
fn keep_positive(at: &mut Pair) {
    for x in at.z.iter_mut().chain(&mut at.w) {
        *x = x.max(f64::MIN_POSITIVE.sqrt());
    }
}

impl Solver for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.options.check()?;
        let options = self.options.clone();
        let mut finish = std::mem::take(&mut self.finish);
        let outcome = solve_reduced(problem, start, &options, &mut finish, |lcp, _| Ok(conclude(lcp, self.run(lcp))));
        self.finish = finish;
        outcome
    }
}

//! The last of `Auto`'s methods: Lemke's path without rounding.

use super::Auto;
use crate::basis::Basis;
use crate::classify::classify_exact;
use crate::exact::{self, ExactOutcome};
use crate::finish::{outcome_of, stopped_at};
use crate::outcome::{MatrixClass, Outcome, Proof, Ray, Stats, StopReason, Unsolvable};
use crate::problem::ProblemRef;

impl Auto {
    /// Lemke's method in rational arithmetic: what it proves is proven, and its solution is certified like any other.
    pub(super) fn pivot_exactly(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>, flops: u64) -> Outcome {
        let n = problem.n();
        let limit = self.options.max_pivots.unwrap_or(50 * n + 100);
        let cold = Basis::lower(n);
        let mut work = 0;
        let found = exact::pivot_within(problem, start.unwrap_or(&cold), limit, &mut work, flops);
        let stats = |pivots: usize| Stats { pivots, flops: work, ..Stats::default() };
        match found {
            ExactOutcome::Proven { basis, pivots, z } => {
                let outcome = self.finish.outcome(problem, basis.clone(), &self.options, stats(pivots));
                if outcome.solved().is_some() {
                    outcome
                } else {
                    outcome_of(problem, z, basis, &self.options, stats(pivots))
                }
            }
            ExactOutcome::Ray { farkas: Some(y), pivots, .. } => {
                Outcome::Unsolvable(Unsolvable { proof: Proof::Farkas(y), stats: stats(pivots) })
            }
            ExactOutcome::Ray { direction, pivots, .. } => {
                if let Some(class) = verified_class(problem) {
                    let proof = Proof::Ray { direction, class };
                    return Outcome::Unsolvable(Unsolvable { proof, stats: stats(pivots) });
                }
                let claim = "Lemke's path ends on a ray in exact arithmetic, and M z + q ≥ 0, z ≥ 0 was not proven infeasible: \
                             there may be a solution that the path does not reach";
                Outcome::Ray(Ray { direction, claim: claim.into(), stats: stats(pivots) })
            }
            ExactOutcome::Limit { pivots } => {
                let why = if work > flops { StopReason::Budget(flops) } else { StopReason::Limit(limit) };
                Outcome::Stopped(stopped_at(problem, vec![0.0; n], why, stats(pivots)))
            }
        }
    }
}

/// The class of an LCP's matrix, if it is one for which a ray of Lemke's method means that there is no solution; verified in exact
/// arithmetic. Reference: [CPS09, Theorem 4.4.12].
fn verified_class(problem: ProblemRef<'_>) -> Option<MatrixClass> {
    let ProblemRef::Lcp(lcp) = problem else { return None };
    match classify_exact(lcp.m()) {
        MatrixClass::Other => None,
        class => Some(class),
    }
}

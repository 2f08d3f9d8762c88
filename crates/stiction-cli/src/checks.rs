//! What is said about a problem and an answer beside the solver's own word.

use stiction_lcp::classify::classify;
use stiction_lcp::exact::{ExactCheck, ExactOutcome, pivot_exact, verify_exact};
use stiction_lcp::finish::outcome_of;
use stiction_lcp::{MatrixClass, Options, Outcome, ProblemRef};

/// What exact arithmetic says about a basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exact {
    /// It gives an exact solution.
    Proven,
    /// It does not.
    Violated {
        /// The row of the largest residual.
        row: usize,
        /// The largest residual, a fraction.
        amount: String,
    },
    /// It gives no solution at all.
    Singular,
}

/// Order up to which a basis that is not proven is pivoted on; beyond it a pivot takes seconds.
const MOST_PIVOTED: usize = 100;

/// Re-checks the basis of a solution in rational arithmetic, and goes on from a violated one to a proven one where
/// it can; then the outcome is the proven one. `None` if there is no basis.
pub(crate) fn exact_check(problem: ProblemRef<'_>, outcome: Outcome, options: &Options) -> (Outcome, Option<Exact>) {
    let Outcome::Solved(solved) = &outcome else { return (outcome, None) };
    let first = match verify_exact(problem, &solved.basis) {
        ExactCheck::Proven => return (outcome, Some(Exact::Proven)),
        ExactCheck::Violated { row, amount } => Exact::Violated { row, amount: amount.to_string() },
        ExactCheck::Singular => Exact::Singular,
    };
    if problem.n() > MOST_PIVOTED {
        return (outcome, Some(first));
    }
    let limit = options.max_pivots.unwrap_or(10 * problem.n() + 100);
    if let ExactOutcome::Proven { basis, pivots, z } = pivot_exact(problem, &solved.basis, limit) {
        let mut stats = solved.stats.clone();
        stats.pivots += pivots;
        let proven = outcome_of(problem, z, basis, options, stats);
        if proven.solved().is_some() {
            return (proven, Some(Exact::Proven));
        }
    }
    (outcome, Some(first))
}

/// The class of the problem's matrix; `None` if it is never formed.
pub(crate) fn matrix_class(problem: ProblemRef<'_>) -> Option<MatrixClass> {
    match problem {
        ProblemRef::Lcp(p) => Some(classify(p.m())),
        ProblemRef::Mlcp(p) => Some(classify(p.m())),
        ProblemRef::Box(p) => Some(classify(p.m())),
        ProblemRef::Factored(_) => None,
    }
}

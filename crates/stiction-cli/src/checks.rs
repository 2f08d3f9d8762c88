//! What is said about a problem and an answer beside the solver's own word.

use stiction_lcp::{MatrixClass, Options, Outcome, ProblemRef};

/// What exact arithmetic says about a basis.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(dead_code, reason = "exact_check makes them as soon as exact arithmetic is part of the build")]
pub enum Exact {
    /// It gives an exact solution.
    Proven,
    /// It does not.
    Violated {
        /// The row of the largest miss.
        row: usize,
        /// The largest miss, a fraction.
        amount: String,
    },
    /// It gives no solution at all.
    Singular,
}

/// Re-checks the basis of a solution in rational arithmetic, and goes on from a violated one to a proven one where
/// it can; then the outcome is the proven one. `None` if there is no basis, or exact arithmetic is not part of this build.
pub fn exact_check(problem: ProblemRef<'_>, outcome: Outcome, options: &Options) -> (Outcome, Option<Exact>) {
    let _ = (problem, options);
    (outcome, None)
}

/// The class of the problem's matrix; `None` if it was not looked for.
pub fn matrix_class(problem: ProblemRef<'_>) -> Option<MatrixClass> {
    let _ = problem;
    None
}

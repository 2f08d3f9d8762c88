//! What the solvers ask of exact arithmetic where the feature `exact` is off: nothing is proven.

use crate::problem::ProblemRef;

/// No vector is taken for a proof.
pub fn check_farkas<'p>(_: impl Into<ProblemRef<'p>>, _: &[f64]) -> bool {
    false
}

/// No proof is found.
pub fn find_farkas<'p>(_: impl Into<ProblemRef<'p>>, _: Option<&[f64]>) -> Option<Vec<f64>> {
    None
}

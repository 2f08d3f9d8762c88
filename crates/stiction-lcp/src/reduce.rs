//! To come.
use crate::basis::Basis;
use crate::error::InputError;
use crate::outcome::Outcome;
use crate::problem::{Lcp, ProblemRef};
use crate::solver::Options;
/// To come.
pub fn solve_reduced(
    problem: ProblemRef<'_>,
    _start: Option<&Basis>,
    _options: &Options,
    _solve: impl FnMut(&Lcp, Option<&Basis>) -> Result<Outcome, InputError>,
) -> Result<Outcome, InputError> {
    let _ = problem;
    Err(InputError::Unsupported { solver: "lemke", reason: "to come".into() })
}

//! Any problem through a solver of LCPs.

use super::Reduced;
use crate::basis::Basis;
use crate::certificate::certify;
use crate::error::InputError;
use crate::finish::{Finish, outcome_of};
use crate::outcome::{Outcome, Proof, Ray, Solved, Stats, Stopped, Unsolvable};
use crate::problem::{Lcp, ProblemRef};
use crate::solver::Options;

/// Solves a mixed, boxed or factored problem by a solver of LCPs: reduce, solve, recover, certify on the problem itself.
///
/// # Errors
/// Those of `solve`, and `InputError::NotFinite` if the reduction leaves the range of f64.
pub fn solve_reduced(
    problem: ProblemRef<'_>,
    start: Option<&Basis>,
    options: &Options,
    mut solve: impl FnMut(&Lcp, Option<&Basis>) -> Result<Outcome, InputError>,
) -> Result<Outcome, InputError> {
    let mut finish = Finish::default();
    if let Some(basis) = start {
        let outcome = finish.outcome(problem, basis.clone(), options, Stats::default());
        if outcome.solved().is_some() {
            return Ok(outcome);
        }
    }
    let reduced = Reduced::new(problem)?;
    let start = start.map(|basis| reduced.start(basis));
    Ok(match solve(&reduced.lcp, start.as_ref())? {
        Outcome::Solved(solved) => recovered(problem, &reduced, solved, options, &mut finish),
        Outcome::Unsolvable(found) if !reduced.is_exact() => unproven(found),
        Outcome::Stopped(stopped) => {
            let basis = Basis::from_active(stopped.z.len(), (0..stopped.z.len()).filter(|i| stopped.z[*i] > 0.0));
            let (z, _) = reduced.recover(problem, &stopped.z, &basis);
            let mut w = vec![0.0; z.len()];
            let certificate = certify(problem, &z, &mut w);
            Outcome::Stopped(Stopped { z, certificate, ..stopped })
        }
        other => other,
    })
}

/// The solution in terms of the problem: from its basis, or as it was recovered where that is singular.
fn recovered(
    problem: ProblemRef<'_>,
    reduced: &Reduced,
    solved: Solved,
    options: &Options,
    finish: &mut Finish,
) -> Outcome {
    let (z, basis) = reduced.recover(problem, &solved.z, &solved.basis);
    let from_basis = finish.outcome(problem, basis.clone(), options, solved.stats.clone());
    if from_basis.solved().is_some() {
        return from_basis;
    }
    outcome_of(problem, z, basis, options, solved.stats)
}

/// A proof for the reduced numbers is none for the problem where the reduction rounded.
fn unproven(found: Unsolvable) -> Outcome {
    let claim = format!(
        "the problem's LCP form has no solution: {}; its numbers were rounded, so this is no proof",
        found.proof
    );
    let direction = match found.proof {
        Proof::Farkas(y) => y,
        Proof::Ray { direction, .. } => direction,
        Proof::Enumeration { .. } => Vec::new(),
    };
    Outcome::Ray(Ray { direction, claim, stats: found.stats })
}

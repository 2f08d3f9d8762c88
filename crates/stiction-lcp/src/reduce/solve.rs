//! Any problem through a solver of LCPs.

use super::Reduced;
use crate::basis::Basis;
use crate::error::InputError;
use crate::finish::{Finish, outcome_of, stopped_at};
use crate::outcome::{Outcome, Proof, Ray, Solved, Stats, StopReason, Unsolvable};
use crate::problem::{Lcp, ProblemRef};
use crate::solver::Options;

/// Solves a problem of any kind by a solver of LCPs: reduce, solve, recover, certify on the problem itself. An [`Lcp`] is passed on
/// as it is; a start basis that already solves the problem takes no further work.
///
/// # Errors
/// Those of `solve`, and `InputError::Basis` if the start does not fit.
pub(crate) fn solve_reduced(
    problem: ProblemRef<'_>,
    start: Option<&Basis>,
    options: &Options,
    finish: &mut Finish,
    mut solve: impl FnMut(&Lcp, Option<&Basis>) -> Result<Outcome, InputError>,
) -> Result<Outcome, InputError> {
    options.check()?;
    if let Some(basis) = start {
        basis.check_len(problem.n())?;
        let outcome = finish.outcome(problem, basis.clone(), options, Stats::default());
        if outcome.solved().is_some() {
            return Ok(outcome);
        }
    }
    if let ProblemRef::Lcp(lcp) = problem {
        return solve(lcp, start);
    }
    let Ok(reduced) = Reduced::with_options(problem, options) else {
        let why = StopReason::Numerical("the problem's form as an LCP leaves the range of f64".into());
        return Ok(Outcome::Stopped(stopped_at(problem, nearest_to_zero(problem), why, Stats::default())));
    };
    let start = start.map(|basis| reduced.start(basis));
    if let Some(basis) = &start {
        // Where equations are redundant a basis is singular in the problem, but not in the LCP.
        let there = finish.outcome((&reduced.lcp).into(), basis.clone(), options, Stats::default());
        if let Outcome::Solved(solved) = there {
            let outcome = recovered(problem, &reduced, solved, options, finish);
            if outcome.solved().is_some() {
                return Ok(outcome);
            }
        }
    }
    Ok(match solve(&reduced.lcp, start.as_ref())? {
        Outcome::Solved(solved) => recovered(problem, &reduced, solved, options, finish),
        Outcome::Unsolvable(found) if !reduced.is_exact() => unproven(&reduced, found),
        Outcome::Unsolvable(found) => Outcome::Unsolvable(found),
        Outcome::Ray(ray) => Outcome::Ray(Ray { direction: reduced.direction(&ray.direction), ..ray }),
        Outcome::Stopped(stopped) => {
            let positive = (0..stopped.z.len()).filter(|i| stopped.z[*i] > 0.0);
            let (z, _) = reduced.recover(problem, &stopped.z, &Basis::from_active(stopped.z.len(), positive));
            Outcome::Stopped(stopped_at(problem, z, stopped.why, stopped.stats))
        }
    })
}

/// The z within its bounds that is nearest to zero, n.
fn nearest_to_zero(problem: ProblemRef<'_>) -> Vec<f64> {
    (0..problem.n()).map(|i| problem.bound(i)).map(|(lo, hi)| 0f64.clamp(lo, hi)).collect()
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
fn unproven(reduced: &Reduced, found: Unsolvable) -> Outcome {
    let claim = format!(
        "the problem's LCP form has no solution: {}; its numbers were rounded, so this is no proof",
        found.proof
    );
    let direction = match found.proof {
        Proof::Farkas(y) => y,
        Proof::Ray { direction, .. } => direction,
        Proof::Enumeration { .. } => vec![0.0; reduced.lcp.n()],
    };
    Outcome::Ray(Ray { direction: reduced.direction(&direction), claim, stats: found.stats })
}

//! Interior point methods: they follow the path `z ∘ w = μ e` to its end, then cross over to an exact vertex.
//!
//! * [`InteriorPoint`]: infeasible start, predictor–corrector. The one to choose.
//! * [`FeasibleInteriorPoint`]: Trinkle and Pang's method, from a strictly feasible start, with a line search on a potential function.
//!
//! Both solve LCPs; other problems are [reduced](crate::reduce) to one. Both work on a scaled copy of the problem, and take from it
//! nothing but the basis: z comes from that basis and the problem's own numbers.

mod crossover;
mod feasible;
mod newton;
mod predictor_corrector;
mod scale;
mod strict;
mod vertex;

pub use feasible::{FeasibleInteriorPoint, FeasibleSettings};
pub use predictor_corrector::InteriorPoint;

use crate::basis::{Basis, Position};
use crate::certificate::certify;
use crate::error::InputError;
use crate::finish::{Finish, outcome_of};
use crate::matrix::max_abs;
use crate::outcome::{Outcome, Ray, Solved, Stats, StopReason, Stopped};
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::Reduced;
use crate::solver::Options;

/// How a method ended on an LCP.
enum Ending {
    Solved,
    /// z grew without bound.
    Diverged,
    Stopped(StopReason),
}

/// What a method hands back: a certified basis, or its best z.
struct Core {
    ending: Ending,
    solved: Option<Solved>,
    z: Vec<f64>,
    stats: Stats,
}

impl Core {
    fn new(n: usize) -> Self {
        Self { ending: Ending::Solved, solved: None, z: vec![0.0; n], stats: Stats::default() }
    }
}

/// Solves a problem of any kind by a method for LCPs, and certifies against the problem itself.
fn solve_any(
    problem: ProblemRef<'_>,
    start: Option<&Basis>,
    options: &Options,
    finish: &mut Finish,
    mut method: impl FnMut(&Lcp) -> Core,
) -> Result<Outcome, InputError> {
    if let Some(basis) = start {
        basis.check_len(problem.n())?;
        let outcome = finish.outcome(problem, basis.clone(), options, Stats::default());
        if outcome.solved().is_some() {
            return Ok(outcome);
        }
    }
    if let ProblemRef::Lcp(lcp) = problem {
        let core = method(lcp);
        return Ok(conclude(problem, core, |z| z));
    }
    let reduced = Reduced::new(problem)?;
    let mut back = |solved: &Solved, stats: Stats| {
        let (z, basis) = reduced.recover(problem, &solved.z, &solved.basis);
        let outcome = finish.outcome(problem, basis.clone(), options, stats);
        if outcome.solved().is_some() {
            return outcome;
        }
        outcome_of(problem, z, basis, options, outcome.stats().clone())
    };
    if let Some(basis) = start {
        // Where equations are redundant the basis is singular in the problem, but not in the LCP.
        let basis = reduced.start(basis);
        let outcome = Finish::default().outcome((&reduced.lcp).into(), basis, options, Stats::default());
        if let Some(outcome) = outcome.solved().map(|s| back(s, Stats::default())).filter(|o| o.solved().is_some()) {
            return Ok(outcome);
        }
    }
    let mut core = method(&reduced.lcp);
    if let Some(solved) = core.solved.take() {
        return Ok(back(&solved, core.stats));
    }
    if matches!(core.ending, Ending::Diverged) {
        return Ok(conclude(problem, core, |direction| reduced.direction(&direction)));
    }
    Ok(conclude(problem, core, |z| {
        let position = |x: &f64| if *x > 0.0 { Position::Basic } else { Position::Lower };
        reduced.recover(problem, &z, &Basis::new(z.iter().map(position).collect())).0
    }))
}

/// The outcome of what a method came to; `back` takes z to the problem.
fn conclude(problem: ProblemRef<'_>, core: Core, back: impl FnOnce(Vec<f64>) -> Vec<f64>) -> Outcome {
    if let Some(solved) = core.solved {
        return Outcome::Solved(Solved { stats: core.stats, ..solved });
    }
    let why = match core.ending {
        Ending::Diverged => {
            let mut direction = back(core.z);
            let size = max_abs(&direction);
            direction.iter_mut().for_each(|x| *x /= size);
            let claim = "z grew along a direction that no small solution allows; not proven".into();
            return Outcome::Ray(Ray { direction, claim, stats: core.stats });
        }
        Ending::Stopped(why) => why,
        Ending::Solved => StopReason::Uncertified,
    };
    let z = back(core.z);
    let mut w = vec![0.0; z.len()];
    let certificate = certify(problem, &z, &mut w);
    Outcome::Stopped(Stopped { why, z, certificate, stats: core.stats })
}

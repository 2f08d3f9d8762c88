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

use crate::finish::stopped_at;
use crate::matrix::max_abs;
use crate::outcome::{Outcome, Ray, Solved, Stats, StopReason};
use crate::problem::{Lcp, ProblemRef};
use crate::tolerances;

tolerances! {
    /// Tolerances of the interior point methods and their crossover, for data scaled to 1.
    Tolerances {
        /// Mean gap and residual at which a first basis is tried: variables that stay and those that vanish are then apart by three digits.
        /// More tries bases that fail, less takes iterations that were not needed.
        first_guess = 1e-7,
        /// After a basis that failed, the next is tried when the gap has fallen by this factor.
        next_guess = 1e-3,
        /// Mean gap and residual at which rounding ends all progress, of the strictly feasible start too.
        converged = 1e-15,
        /// From `Mᵀy ≤ ε`, `qᵀy < 0` for a y ≥ 0 follows `Σ zᵢ ≥ −qᵀy / ε` for every feasible z. A z that proves as y that no solution is
        /// smaller than this, beside q of size one, ends the method as a ray.
        diverged = 1e6,
        /// And one that proves this much is called a ray if the method ended without an answer.
        ray = 1e3,
        /// A margin of the strictly feasible start, or a dual residual of its linear program, below this is rounding. More stops at a start
        /// nearer to the boundary, less takes more iterations for it.
        start = 1e-9,
        /// A pivot or a rate at most this, beside entries up to one, is that of a dependent column.
        dependent = 1e-10,
        /// A z or w below this times the root of the mean gap may be zero.
        nearly_zero = 10.0,
        /// A z or w below −this, relative to its scale, has the wrong sign.
        wrong_sign = 1e-10,
    }
}

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

/// The outcome of what a method came to.
fn conclude(lcp: &Lcp, core: Core) -> Outcome {
    if let Some(solved) = core.solved {
        return Outcome::Solved(Solved { stats: core.stats, ..solved });
    }
    let why = match core.ending {
        Ending::Diverged => {
            let mut direction = core.z;
            let size = max_abs(&direction);
            direction.iter_mut().for_each(|x| *x /= size);
            let claim = "z grew along a direction that no small solution allows; not proven".into();
            return Outcome::Ray(Ray { direction, claim, stats: core.stats });
        }
        Ending::Stopped(why) => why,
        Ending::Solved => StopReason::Uncertified,
    };
    Outcome::Stopped(stopped_at(ProblemRef::Lcp(lcp), core.z, why, core.stats))
}

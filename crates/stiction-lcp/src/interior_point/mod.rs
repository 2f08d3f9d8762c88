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

//! The data sets: problems and coefficients of friction.

use stiction_contact::{ContactProblem, InputError};
use stiction_lcp::generate::Rng;

use super::plans::{PLANS, Plan};
use super::scene::Scene;

/// Data sets per problem in a quick run, and with large friction in either.
const QUICK: usize = 3;
const LARGE: usize = 3;

/// Which coefficients of friction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Friction {
    /// Uniform between 0 and 1: the 328 data sets.
    Usual,
    /// Uniform between 1 and 3: three more per problem, kept apart.
    Large,
}

/// One data set.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// Number of its problem, in [`PLANS`].
    pub plan: usize,
    /// The coefficient of friction of every contact.
    pub mu: f64,
    /// The contact problem.
    pub problem: ContactProblem,
}

/// The scene of problem `plan`: its seed is its number.
///
/// # Errors
/// If the plan has no scene.
pub fn scene(plan: usize) -> Result<Scene, InputError> {
    Scene::draw(&PLANS[plan], plan as u64)
}

/// The coefficients of a problem's data sets, from a stream of random numbers of its own.
pub fn coefficients(plan: usize, friction: Friction, quick: bool) -> Vec<f64> {
    let Plan { sets, .. } = PLANS[plan];
    let (seed, count) = match friction {
        Friction::Usual => (1000 + plan as u64, if quick { sets.min(QUICK) } else { sets }),
        Friction::Large => (2000 + plan as u64, if quick { 1 } else { LARGE }),
    };
    let mut rng = Rng::new(seed);
    let mut draw = || match friction {
        Friction::Usual => rng.uniform(),
        Friction::Large => 1.0 + 2.0 * rng.uniform(),
    };
    (0..count).map(|_| draw()).collect()
}

/// The data sets of a problem.
///
/// # Errors
/// If the plan has no scene.
pub fn data_sets(plan: usize, friction: Friction, quick: bool) -> Result<Vec<DataSet>, InputError> {
    let scene = scene(plan)?;
    let set = |mu: f64| Ok(DataSet { plan, mu, problem: scene.problem(mu)? });
    coefficients(plan, friction, quick).into_iter().map(set).collect()
}

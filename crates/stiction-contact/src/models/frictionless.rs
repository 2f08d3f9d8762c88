//! Contact without friction: Signorini's condition alone.

use stiction_lcp::InputError;

use crate::by_island::ByIsland;
use crate::certificate::frictionless::FrictionlessLaw;
use crate::model::{ContactModel, ContactOutcome, Level, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::normal_problem::{NormalOptions, NormalProblem};
use crate::problem::ContactProblem;

/// Contact without friction.
///
/// At velocity level `M v⁺ = M v + dt f + Jᵀ p_j + Nᵀ p_n`, `J v⁺ = target`, `0 ≤ p_n ⊥ N v⁺ + max(gap, 0)/dt − bounce ≥ 0`: an inelastic impact
/// unless a bounce is asked for. At acceleration level `M v̇ = f + Jᵀ f_j + Nᵀ f_n`, `J v̇ + J̇ v = target`, `0 ≤ f_n ⊥ N v̇ + Ṅ v ≥ 0` over the contacts
/// that touch and do not part already.
///
/// Coefficients of friction describe the surfaces and are not looked at: the same scene can be solved under several models.
///
/// ```
/// use stiction_contact::models::{Frictionless, NormalOptions};
/// use stiction_contact::{Contact, ContactModel, ContactProblem, Level, Mass};
/// use stiction_lcp::Matrix;
///
/// // A particle of 2 kg falls on the floor: it stops there, and slides on.
/// let mass = Mass::new(vec![Matrix::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 0.0 })])?;
/// let mut problem = ContactProblem::new(mass, vec![0.5, -3.0], vec![0.0, -19.62], 1e-3)?;
/// problem.add_contact(Contact::new(&[(0, &[0.0, 1.0])], &[(0, &[1.0, 0.0])], &[]))?;
/// let outcome = Frictionless::new(Level::Velocity, NormalOptions::default()).solve(&problem)?;
/// assert_eq!(outcome.solved().unwrap().motion, [0.5, 0.0]);
/// # Ok::<(), stiction_lcp::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Frictionless {
    level: Level,
    normals: NormalProblem,
    by_island: ByIsland,
}

impl Frictionless {
    /// The model at `level`.
    pub fn new(level: Level, options: NormalOptions) -> Self {
        let normals = NormalProblem::new(options);
        Self { level, normals, by_island: ByIsland::default() }
    }
}

impl ContactModel for Frictionless {
    fn kind(&self) -> ModelKind {
        ModelKind::Frictionless
    }

    fn level(&self) -> Level {
        self.level
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        let level = self.level;
        let law = FrictionlessLaw { level };
        self.normals.solve_problem(
            &mut self.by_island,
            problem,
            &law,
            start,
            false,
            |normals, island, guess, forces, stats| {
                normals.begin(island);
                normals.solve(island, level, guess.basis, forces, stats)
            },
        )
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        self.by_island.recycle(outcome);
    }
}

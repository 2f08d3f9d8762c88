//! All solutions of a small problem.

use stiction_lcp::{Basis, Enumerate, InputError, Position, Solved, Stats};

use super::formulation::Formulation;
use super::{Core, CoulombPyramid};
use crate::by_island::IslandEnd;
use crate::islands::Islands;
use crate::model::{ContactOutcome, Level};
use crate::models::catalog::ModelKind;
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;
use crate::whitened::Whitened;

/// Largest order of an island's complementarity problem: 2¹² bases in exact arithmetic.
const MOST_ROWS: usize = 12;

/// Most combinations of the islands' solutions.
const MOST_SOLUTIONS: usize = 1024;

/// All solutions of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct AllSolutions {
    /// The solutions, each certified, with different forces or motions.
    pub solutions: Vec<ContactSolution>,
    /// True if there are no others. False if a singular basis has a solution (there may be infinitely many like it, as where a support is
    /// redundant), or if a solution of the complementarity problem did not pass the certificate.
    pub complete: bool,
}

impl CoulombPyramid {
    /// Every solution of a small problem, found by trying all bases of each island in exact arithmetic. None at all with `complete` is a proof that
    /// there is none (for the rounded complementarity problem).
    ///
    /// # Errors
    /// As [`solve`](crate::ContactModel::solve)'s, and `InputError::Unsupported` for the quasistatic variant, for an island with more than 12
    /// unknowns, and for more than 1024 solutions.
    pub fn all_solutions(&mut self, problem: &ContactProblem) -> Result<AllSolutions, InputError> {
        super::check(problem)?;
        let unsupported = |reason: String| InputError::Unsupported { solver: ModelKind::CoulombPyramid.name(), reason };
        if self.options.quasistatic {
            return Err(unsupported("all solutions are found for the dynamic model only".into()));
        }
        let (mut islands, mut whitened, mut complete) = (Islands::default(), Whitened::default(), true);
        let mut choices: Vec<Vec<Solved>> = Vec::new();
        for (k, island) in islands.find(problem).iter().enumerate() {
            whitened.build(problem, island, Level::Acceleration);
            self.core.formulation.read(&whitened);
            let order = self.core.formulation.order();
            if order > MOST_ROWS {
                return Err(unsupported(format!(
                    "island {k} has {order} unknowns; all solutions are found up to {MOST_ROWS}"
                )));
            }
            let (solutions, all) = self.core.enumerate(&whitened, self.options.common.for_solver())?;
            choices.push(solutions);
            complete &= all;
        }
        let count = choices
            .iter()
            .try_fold(1_usize, |product, c| product.checked_mul(c.len()))
            .filter(|c| *c <= MOST_SOLUTIONS);
        let count = count.ok_or_else(|| unsupported(format!("it has more than {MOST_SOLUTIONS} solutions")))?;
        let mut all = AllSolutions { solutions: Vec::new(), complete };
        for number in 0..count {
            stiction_lcp::interrupt::check();
            match self.choose(problem, &choices, number)? {
                ContactOutcome::Solved(solution) => {
                    let known = |s: &ContactSolution| s.forces == solution.forces && s.motion == solution.motion;
                    if !all.solutions.iter().any(known) {
                        all.solutions.push(*solution);
                    }
                }
                _ => all.complete = false,
            }
        }
        Ok(all)
    }

    /// The certified combination of solutions with this number; its digits choose the islands' own.
    fn choose(
        &mut self,
        problem: &ContactProblem,
        choices: &[Vec<Solved>],
        number: usize,
    ) -> Result<ContactOutcome, InputError> {
        let (law, core) = (self.law(), &mut self.core);
        let (mut island_number, mut rest) = (0, number);
        self.driver.solve(problem, &law, &self.options.common, None, |island, _, forces, _| {
            let list = &choices[island_number];
            let solved = list[rest % list.len()].clone();
            rest /= list.len();
            island_number += 1;
            core.formulation.read(island);
            core.recover(island, solved, forces)?;
            Ok(IslandEnd::Solved)
        })
    }
}

impl Core {
    /// All solutions of an island's complementarity problem, and whether there are no others.
    fn enumerate(&self, island: &Whitened, options: stiction_lcp::Options) -> Result<(Vec<Solved>, bool), InputError> {
        let lcp = self.formulation.lcp(island)?;
        let found = Enumerate::new(options.clone()).with_max_order(MOST_ROWS).all_solutions(&lcp)?;
        let complete = found.singular.iter().all(|basis| self.formulation.is_repeated(basis));
        let solved = |s: stiction_lcp::enumerate::EnumeratedSolution| {
            Solved::new(s.z, s.w, s.basis, s.certificate, &options, Stats::default())
        };
        Ok((found.solutions.into_iter().map(solved).collect(), complete))
    }
}

impl Formulation {
    /// True if the forces of every solution at this basis are found at another one too. Where an axis has `s⁺` at 0 and `a⁻` basic, both its bounds
    /// meet (μ c_n = 0) and a⁻ is arbitrary (a⁺ and a⁻ are not the parts of a there): the basis is singular, but it says no more than its neighbours
    /// with both at 0 or both basic.
    fn is_repeated(&self, basis: &Basis) -> bool {
        let basic = |row: usize| basis.position(row) == Position::Basic;
        (0..self.axes.len()).any(|k| !basic(self.singles.len() + k) && basic(self.moving() + k))
    }
}

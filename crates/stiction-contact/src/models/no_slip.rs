//! Contact without slip.

use stiction_lcp::{Basis, InputError, tolerances};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::no_slip::NoSlipLaw;
use crate::islands::{Island, Islands};
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, Mode, ModelOptions, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::coulomb_cone::velocity_space::{Friction, MARGIN, VelocitySpace};
use crate::models::normal_problem::{NormalOptions, NormalProblem, NormalSolver, Row};
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;
use crate::whitened::{Columns, Whitened};

tolerances! {
    /// Tolerances of the no-slip model.
    Tolerances {
        /// A contact separates if its speed is more than this, relative to its terms (and it has no normal impulse). Rounding is a million times
        /// less; more holds contacts that part slowly.
        separates = 1e-9,
        /// Velocities of at most this, relative to what the forces would bring in a step, in units of energy, may be rounding: then the forces of
        /// the last step are tried first, which is right or costs a look.
        at_rest = 1e-9,
    }
}

/// Velocities of an island above which the O(m³) of its reduction is more than Newton's method on the velocities takes, whose cost follows the graph of the
/// bodies. Below it the few forces of the reduction are worth having.
const MOST_REDUCED: usize = 72;

/// Systems that Newton's method may factor for an island before the reduction is tried, unless the options set a limit.
const MOST_SYSTEMS: usize = 300;

/// The place of the search on the velocities in the list of methods, where it comes last.
const LAST_PLACE: usize = 8;

/// Options of the no-slip model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NoSlipOptions {
    /// Those of the normals.
    pub normals: NormalOptions,
    /// Release contacts that separate: see [`NoSlip`]. Default false, as in the paper.
    pub release: bool,
}

/// Contact without slip, at velocity level.
///
/// `M v⁺ = M v + dt f + Xᵀ λ + Nᵀ p_n` with `X = [J; S; T]`, `J v⁺ = target`, `S v⁺ = T v⁺ = 0` (or against the speed of a moving surface) at the contacts
/// that touch, `0 ≤ p_n ⊥ N v⁺ + max(gap, 0)/dt − bounce ≥ 0`. Independent rows of X are found first; v⁺ is unique, and at most rank(N P) normals are
/// positive.
///
/// What to know before using it:
///
/// * Tangential impulses are not bounded by normal ones: a contact without load holds like any other.
/// * A contact that separates in this step is still held tangentially in this step. With `release` such contacts are let go and the problem is solved
///   again, until no contact that is held separates; one that was let go stays so in this step even if it closes again, so that this
///   ends after at most as many rounds as there are contacts. If holding contacts makes a problem infeasible, they are let go too.
/// * A contact that is only predicted gives its normal row only, or a body that flies past a wall would be glued to it.
/// * With the default method, a problem with an island of more than 72 velocities is first solved by Newton's method on the
///   velocities (as [`CoulombCone`](super::CoulombCone), which has another law where friction is infinite): the same law and the same certificate, but forces that are spread over redundant contacts.
/// * With the default method, where the forces of the last step keep everything at rest, they are the answer, as they are for that model, and where the contacts that had a force hold again, their
///   forces are found by one system on the velocities: nothing is reduced.
/// * Coulomb and viscous coefficients are not looked at: without slip there is no drag, and friction is infinite. A soft finger (mu_spin > 0) does not
///   spin about its normal either. Rolling is no slip, and nothing resists it: mu_roll is not looked at.
///
/// Reference: [Drumwright15, §VI].
#[derive(Debug, Clone)]
pub struct NoSlip {
    release: bool,
    normals: NormalProblem,
    by_island: ByIsland,
    islands: Islands,
    /// Large islands, and what stays at rest.
    velocities: VelocitySpace,
    /// Which contacts of the island are held, n.
    holds: Vec<bool>,
}

impl NoSlip {
    /// The model.
    pub fn new(options: NoSlipOptions) -> Self {
        let tolerances = options.normals.model.tolerances.coulomb_cone;
        let normals = NormalProblem::new(options.normals);
        Self {
            release: options.release,
            normals,
            by_island: ByIsland::default(),
            islands: Islands::default(),
            velocities: VelocitySpace::new(Friction::NoSlip, tolerances),
            holds: Vec::new(),
        }
    }

    /// True if another method may be tried where the one asked for fails.
    fn may_fall_back(&self) -> bool {
        let options = self.normals.options();
        !self.release && options.insist && options.model.check().is_ok()
    }

    /// The solution of `problem` if the forces of `start` keep it at rest or, where no island is large, if the contacts that had a force hold again: one
    /// system instead of a reduction.
    fn as_before(
        &mut self,
        problem: &ContactProblem,
        law: &NoSlipLaw,
        start: &WarmStart,
        is_large: bool,
    ) -> Option<Box<ContactSolution>> {
        let options = &self.normals.options().model;
        let rests = is_nearly_at_rest(problem, options.tolerances.no_slip.at_rest);
        let holds = start.modes.iter().any(|mode| *mode != Mode::Open);
        let (is_valid, tolerance) = (options.check().is_ok(), options.tolerance);
        // Without a system to factor, rest is all that is looked for.
        let limit = usize::from(!rests);
        if !is_valid || !rests && (!holds || self.release || is_large) {
            return None;
        }
        let mut stats = ContactStats::default();
        stats.answered_by(0, if rests { "rest" } else { "as before" });
        self.velocities.solution(problem, law, Some(start), MARGIN, tolerance, limit, &mut stats)
    }

    /// Solves `problem` by the paper's reduction, with or without care about which rows are held.
    fn reduce(
        &mut self,
        problem: &ContactProblem,
        law: &NoSlipLaw,
        start: Option<&WarmStart>,
        careful: bool,
    ) -> Result<ContactOutcome, InputError> {
        let (release, holds) = (self.release, &mut self.holds);
        self.normals.solve_problem(
            &mut self.by_island,
            problem,
            law,
            start,
            careful,
            |normals, island, guess, forces, stats| {
                let mut held = Held { island, normals, holds };
                if release {
                    held.solve_with_release(guess, forces, stats)
                } else {
                    held.solve(guess.basis, forces, stats)
                }
            },
        )
    }

    /// True if an island of `problem` is large.
    fn is_large(&mut self, problem: &ContactProblem) -> bool {
        let velocities =
            |island: &Island| island.blocks.iter().map(|&b| problem.layout().range(b).len()).sum::<usize>();
        problem.m() > MOST_REDUCED && self.islands.find(problem).iter().any(|island| velocities(island) > MOST_REDUCED)
    }
}

impl ContactModel for NoSlip {
    fn kind(&self) -> ModelKind {
        ModelKind::NoSlip
    }

    fn level(&self) -> Level {
        Level::Velocity
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        let law = NoSlipLaw { release: self.release };
        let ModelOptions { tolerance, max_pivots, .. } = self.normals.options().model;
        let limit = max_pivots.unwrap_or(MOST_SYSTEMS);
        let by_default = self.normals.options().solver == NormalSolver::default();
        let (may_fall_back, large) = (self.may_fall_back(), self.is_large(problem));
        if by_default && let Some(solution) = start.and_then(|start| self.as_before(problem, &law, start, large)) {
            return Ok(ContactOutcome::Solved(solution));
        }
        let on_velocities = may_fall_back && large && by_default;
        let mut stats = ContactStats::default();
        stats.answered_by(if on_velocities { 1 } else { LAST_PLACE }, "velocities");
        if on_velocities
            && let Some(solution) = self.velocities.solution(problem, &law, start, MARGIN, tolerance, limit, &mut stats)
        {
            return Ok(ContactOutcome::Solved(solution));
        }
        let mut outcome = self.reduce(problem, &law, start, false)?;
        if self.normals.options().insist && matches!(outcome, ContactOutcome::Failed(_)) {
            outcome = outcome.or(self.reduce(problem, &law, start, true)?);
        }
        // Rows that are nearly dependent ask the reduction for large forces; on the velocities what they leave open stays small.
        if may_fall_back
            && !on_velocities
            && matches!(outcome, ContactOutcome::Failed(_))
            && let Some(solution) = self.velocities.solution(problem, &law, None, MARGIN, tolerance, limit, &mut stats)
        {
            return Ok(outcome.or(ContactOutcome::Solved(solution)));
        }
        Ok(outcome)
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        let rest = match outcome {
            // A solution on the velocities has no bases.
            ContactOutcome::Solved(solution) if solution.warm_start.bases.is_empty() => {
                self.velocities.recycle(solution).map(ContactOutcome::Solved)
            }
            other => Some(other),
        };
        rest.into_iter().for_each(|outcome| self.by_island.recycle(outcome));
    }
}

/// True if the velocities may be the rounding of a problem at rest.
fn is_nearly_at_rest(problem: &ContactProblem, tolerance: f64) -> bool {
    let (mut moving, mut driven) = (0.0, 0.0);
    for b in 0..problem.layout().blocks() {
        let block = problem.mass().block(b);
        for (k, j) in problem.layout().range(b).enumerate() {
            let (v, push, mass) = (problem.v()[j], problem.dt() * problem.force()[j], block[(k, k)]);
            moving += mass * v * v;
            driven += push * push / mass;
        }
    }
    moving <= tolerance * tolerance * driven
}

/// An island and which of its contacts are held.
struct Held<'a> {
    island: &'a Whitened,
    normals: &'a mut NormalProblem,
    holds: &'a mut Vec<bool>,
}

impl Held<'_> {
    /// Holds every contact that touches.
    fn solve(&mut self, guess: Option<&Basis>, forces: &mut IslandForces, stats: &mut ContactStats) -> IslandEnd {
        self.holds.clear();
        self.holds.extend_from_slice(&self.island.touching);
        self.solve_held(guess, forces, stats)
    }

    /// Holds the contacts that touched and did not separate last time; if that is not consistent every contact that touches, then fewer and fewer.
    fn solve_with_release(
        &mut self,
        guess: Guess<'_>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> IslandEnd {
        let guessed = stats.guessed;
        if guess.modes.len() == self.island.contacts() {
            self.holds.clear();
            self.holds.extend(self.island.touching.iter().zip(guess.modes).map(|(t, mode)| *t && *mode != Mode::Open));
            let end = self.solve_held(guess.basis, forces, stats);
            if end == IslandEnd::Solved && self.is_consistent(forces) {
                return end;
            }
            forces.reset(self.island);
        }
        let mut end = self.solve(guess.basis, forces, stats);
        while self.let_go(forces, &end) {
            let basis = std::mem::take(&mut forces.basis);
            forces.reset(self.island);
            end = self.solve_held(Some(&basis), forces, stats);
        }
        stats.guessed = guessed;
        end
    }

    /// True if exactly the touching contacts that do not separate are held.
    fn is_consistent(&self, forces: &IslandForces) -> bool {
        let right = |k: usize| self.holds[k] != (forces.normal[k] == 0.0 && self.separates(&forces.x, k));
        (0..self.holds.len()).filter(|&k| self.island.touching[k]).all(right)
    }

    /// Solves with the tangents of the held contacts in X.
    fn solve_held(&mut self, guess: Option<&Basis>, forces: &mut IslandForces, stats: &mut ContactStats) -> IslandEnd {
        self.normals.begin(self.island);
        for k in (0..self.holds.len()).filter(|&k| self.holds[k]) {
            if !self.is_held_by_twin(k) {
                self.normals.hold(Row::TangentS(k));
                self.normals.hold(Row::TangentT(k));
            }
            if self.island.mu_spin[k] > 0.0 {
                self.normals.hold(Row::Spin(k));
            }
        }
        self.normals.solve(self.island, Level::Velocity, guess, forces, stats)
    }

    /// True if an earlier contact with the same tangents, moving surfaces included, is held: then `k` depends on it.
    fn is_held_by_twin(&self, k: usize) -> bool {
        let twin = self.island.twin[k];
        let same = |columns: &Columns| columns.bias[k] == columns.bias[twin];
        twin < k && self.holds[twin] && same(&self.island.tangent_s) && same(&self.island.tangent_t)
    }

    /// Lets go of the contacts that separate, or that a proof of infeasibility needs; true if there was one.
    fn let_go(&mut self, forces: &IslandForces, end: &IslandEnd) -> bool {
        let mut any = false;
        for k in 0..self.holds.len() {
            let go = match end {
                IslandEnd::Solved => forces.normal[k] == 0.0 && self.separates(&forces.x, k),
                IslandEnd::Infeasible => {
                    forces.tangent_s[k] != 0.0 || forces.tangent_t[k] != 0.0 || forces.spin[k] != 0.0
                }
                IslandEnd::NoSolution { .. } | IslandEnd::Ray { .. } | IslandEnd::Failed { .. } => false,
            };
            if self.holds[k] && go {
                self.holds[k] = false;
                any = true;
            }
        }
        any
    }

    /// True if contact `k` moves apart by more than rounding.
    fn separates(&self, x: &[f64], k: usize) -> bool {
        let (g, bias) = (self.island.normal.g.col(k), self.island.normal.bias[k]);
        let (sum, size) =
            g.iter().zip(x).fold((bias, bias.abs()), |(sum, size), (g, x)| (sum + g * x, size + (g * x).abs()));
        sum > self.normals.options().model.tolerances.no_slip.separates * size
    }
}

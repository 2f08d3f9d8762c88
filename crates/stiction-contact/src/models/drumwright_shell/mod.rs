//! Drumwright and Shell's convex impact model: of all impulses in the friction cones, those that leave the least kinetic energy.
//!
//! # The problem
//!
//! Unknown are the impulses p of all rows: (p_n, p_s, p_t) of touching contacts with friction, p_n of other contacts, λ of bilateral rows, those of
//! limits and of bounded rows. With the motion `v⁺ = v + M⁻¹ (dt f + Σ rowᵀ p)` they minimize
//!
//! `½ v⁺ᵀ M v⁺ + Σ bias · p`
//!
//! subject to `|p_t| ≤ μ p_n` (a true quadratic cone, 0 ≤ μ ≤ ∞), p ≥ 0 on frictionless normals and limits, lo ≤ p ≤ hi on bounded rows, and
//! nothing on bilateral ones. In contact space this is `½ pᵀ W p + pᵀ u_free` with `W = G M⁻¹ Gᵀ` and u_free the motion of the rows without
//! impulses. The biases (see `whitened.rs`) are zero at touching contacts without bounce or moving surface, and the objective is then the kinetic
//! energy; a gap of the bias `gap/dt` keeps a contact from acting before it is reached, for braking at a distance would save energy too.
//!
//! # The law
//!
//! The problem is convex, and with `u = row v⁺ + bias` its optimality (Karush–Kuhn–Tucker) conditions are, row by row,
//!
//! | rows | condition |
//! |---|---|
//! | touching contact | p in the cone `|p_t| ≤ μ p_n`, u in its dual `u_n ≥ μ |u_t|`, `p · u = 0` |
//! | other contact, limit | 0 ≤ p ⊥ u ≥ 0 |
//! | bilateral | u = 0 |
//! | bounded | lo ≤ p ≤ hi, u ≥ 0 at lo, u ≤ 0 at hi, u = 0 between |
//!
//! Drumwright and Shell also ask for `N v⁺ ≥ 0` and `J v⁺ = 0` as constraints. Both follow from the conditions above (the dual cone has u_n ≥ 0),
//! so a minimizer without them is the minimizer with them and their multipliers are zero: this program has none. Their bound on `Σ p_n` by the
//! frictionless impact's is not part of the model here: with it the least energy is no longer least.
//!
//! What to know before using it: sticking contacts are those of Coulomb's law, but a sliding contact leaves with `u_n = μ |u_t|`, where Coulomb's
//! law keeps it closed, so Signorini's condition holds for u_n − μ|u_t| and not for u_n. `v⁺` is unique, impulses need not be. With
//! μ = 0 everywhere this is the frictionless model, and with μ = ∞ (the cone's closure: p_t is free even where p_n = 0) it is no-slip. Contacts
//! that do not touch yet give their normal row alone. Energy never grows: p = 0 is allowed.
//!
//! # Method
//!
//! The interior point method of `clarabel` on the dual, which has m unknowns and n cones, then Newton's method on the active cones
//! until the conditions hold to rounding (`newton.rs`). From an earlier solution Newton's method alone is tried first. Where clarabel stops short, Newton's method starts from no impulse at all; it converges
//! from anywhere. What neither solves ends as failed.
//!
//! Reference: [DrumwrightShell10, §3]; [Drumwright15, §VII-B].

mod conic;
mod interior;
mod newton;

use stiction_lcp::matrix::{max_abs, norm};
use stiction_lcp::{InputError, tolerances};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::shell::ShellLaw;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, ModelOptions, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::unsupported::{Values, refuse};
use crate::problem::ContactProblem;
use crate::whitened::Whitened;
use conic::{Conic, Within};
use newton::Newton;

/// Most entries of a conic program, whose rows are dense and which the interior-point method copies and factors: 67 MB each.
const MOST_CONIC_ENTRIES: usize = 1 << 23;

/// Iterations of clarabel, at most, unless the options say otherwise; it takes 8 to 30.
const ITERATIONS: u32 = 100;

/// Newton steps, at most, unless the options say otherwise; it takes 2 to 40.
const STEPS: usize = 1000;

/// Newton steps from earlier impulses, at most, unless the options say otherwise: near a solution it takes few.
const NEAR_STEPS: usize = 100;

/// The name of Newton's method from no impulse, which may come before the interior point method or after it.
const FROM_REST: &str = "newton from rest";

/// Multiples of [`Tolerances::noise`], tried in turn.
const NOISE_MULTIPLES: [f64; 4] = [1.0, 1e1, 1e2, 1e3];

tolerances! {
    /// Tolerances of the model, for columns of length 1 and motion scaled to 1.
    Tolerances {
        /// Residuals and gap asked of clarabel: about what its regularized factorization can reach. Newton's method takes it from there, with
        /// a few steps more or less.
        interior = 1e-9,
        /// A gradient below this, relative to the motion, is rounding.
        flat = 1e-15,
        /// Impulses with a residual of this size are good enough to stop at. Less takes steps that rounding undoes.
        residual = 1e-14,
        /// Impulses with a residual of this size fight rounding: slow progress ends a penalty at once, and no larger penalties are tried.
        good = 1e-12,
        /// Multipliers whose combination of rows and biases comes this close to (0, −1) are handed in as a proof of infeasibility; it is checked on
        /// the data.
        proof = 1e-9,
        /// Impulses above this, where 1 changes a contact's motion by the largest speed in the problem, are a reason to look for a proof of
        /// infeasibility.
        huge = 1e6,
        /// Largest residual beside the largest speed in the problem, whatever the impulses. Only impulses that grow without end bring it near this.
        plain_residual = 1e-7,
        /// Impulses that are at most this, or a multiple of it, relative to their contact's motion, may be rounding; the residual decides.
        noise = 1e-15,
        /// Friction within this of its limit, relative to that, is on the mantle. It tells whether modes have changed.
        on_mantle = 1e-9,
    }
}

/// What the model begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// clarabel's interior point method, then Newton's on the active cones.
    #[default]
    InteriorPoint,
    /// Newton's method alone, from no impulse: several times faster. Where it fails the interior point method follows.
    Newton,
}

/// The convex impact model. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct DrumwrightShell {
    /// Options.
    pub options: ModelOptions,
    /// What to begin with.
    pub method: Method,
    /// Tolerances of its own decisions; none of them decides what is certified.
    pub tolerances: Tolerances,
    by_island: ByIsland,
    island: IslandSolver,
}

impl DrumwrightShell {
    /// The model with these options.
    pub fn new(options: ModelOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

impl ContactModel for DrumwrightShell {
    fn kind(&self) -> ModelKind {
        ModelKind::DrumwrightShell
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
        check(problem)?;
        let (options, method, solver) = (&self.options, self.method, &mut self.island);
        (solver.tolerances, solver.newton.tolerances) = (self.tolerances, self.tolerances);
        self.by_island.solve(problem, &ShellLaw, options, start, |island, guess, forces, stats| {
            Ok(solver.solve(island, guess, options, method, forces, stats))
        })
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        self.by_island.recycle(outcome);
    }
}

/// The law knows neither viscous friction nor moments.
fn check(problem: &ContactProblem) -> Result<(), InputError> {
    let c = problem.contacts();
    let all = [("mu_viscous", &c.mu_viscous), ("mu_spin", &c.mu_spin), ("mu_roll", &c.mu_roll)];
    let why = ", and this law has no place for it";
    refuse(ModelKind::DrumwrightShell, &all.map(|(name, mu)| (name, mu.as_slice(), Values::NotZero, why)))
}

/// Reduce, solve, recover: one island.
#[derive(Debug, Clone, Default)]
struct IslandSolver {
    tolerances: Tolerances,
    conic: Conic,
    /// The program of a proof of infeasibility.
    proof: Conic,
    newton: Newton,
    /// Scaled impulses and motion.
    p: Vec<f64>,
    x: Vec<f64>,
    /// Other impulses: what clarabel led to while Newton's method starts again, p without noise.
    other: Vec<f64>,
    /// Modes of earlier impulses, and of those found from them.
    modes: Vec<Within>,
    other_modes: Vec<Within>,
}

impl IslandSolver {
    fn solve(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        options: &ModelOptions,
        method: Method,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> IslandEnd {
        self.conic.load(island, stats);
        if guess.forces.is_some_and(|earlier| self.solve_near(earlier, options, forces, stats)) {
            return IslandEnd::Solved;
        }
        if method == Method::Newton {
            let residual = self.polish_from_rest(options, stats);
            let found = residual <= options.tolerance && max_abs(&self.p) <= self.tolerances.huge;
            if found && self.recover_solution(options, forces) == IslandEnd::Solved {
                stats.answered_by(0, FROM_REST);
                return IslandEnd::Solved;
            }
            stats.fallbacks += 1;
        }
        let entries = island.m().saturating_mul(self.conic.rows());
        if entries > MOST_CONIC_ENTRIES {
            let why =
                format!("its conic program of {entries} entries is not solved: at most {MOST_CONIC_ENTRIES} can be");
            return IslandEnd::Failed { why };
        }
        let most = options.max_pivots.map_or(ITERATIONS, |most| u32::try_from(most).unwrap_or(u32::MAX));
        let (end, iterations) = interior::solve(&self.conic, most, self.tolerances.interior, &mut self.p);
        stats.pivots += iterations;
        if end == interior::End::Infeasible && self.prove(forces, stats) {
            return IslandEnd::Infeasible;
        }
        let residual = self.polish(options, end, stats);
        // Impulses that grow without end make any residual small beside them.
        if (residual > options.tolerance || max_abs(&self.p) > self.tolerances.huge) && self.prove(forces, stats) {
            return IslandEnd::Infeasible;
        }
        if residual > options.tolerance {
            self.recover(forces);
            return IslandEnd::Failed {
                why: "neither clarabel nor Newton's method reached a certified optimum".into(),
            };
        }
        self.recover_solution(options, forces)
    }

    /// Newton's method from earlier impulses; true if it ends at a solution. If these have the modes of the earlier ones, then those were right and nothing is counted.
    fn solve_near(
        &mut self,
        earlier: &IslandForces,
        options: &ModelOptions,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> bool {
        self.conic.load_impulses(earlier, &mut self.p);
        self.conic.modes_into(&self.p, self.tolerances.on_mantle, &mut self.modes);
        let residual = self.newton.polish(&mut self.conic, &mut self.p, options.max_pivots.unwrap_or(NEAR_STEPS));
        self.conic.modes_into(&self.p, self.tolerances.on_mantle, &mut self.other_modes);
        let guessed = self.modes == self.other_modes;
        stats.pivots += if guessed { 0 } else { self.newton.steps };
        let found = residual <= options.tolerance
            && max_abs(&self.p) <= self.tolerances.huge
            && self.recover_solution(options, forces) == IslandEnd::Solved;
        stats.guessed += usize::from(guessed && found);
        found
    }

    /// Looks for multipliers that prove that no motion satisfies the rows; true if there are.
    fn prove(&mut self, forces: &mut IslandForces, stats: &mut ContactStats) -> bool {
        self.proof.load_proof(&self.conic);
        self.other.clone_from(&self.p);
        let most = max_abs(&self.other).max(1.0);
        self.other.iter_mut().for_each(|p| *p /= most);
        self.newton.polish(&mut self.proof, &mut self.other, STEPS);
        stats.pivots += self.newton.steps;
        self.proof.motion_into(&self.other, &mut self.x);
        if norm(&self.x) > self.tolerances.proof {
            return false;
        }
        self.conic.unload_multipliers(&self.other, forces);
        true
    }

    /// Newton's method from clarabel's impulses and, if they lead nowhere, from none. Returns the residual of the better.
    fn polish(&mut self, options: &ModelOptions, end: interior::End, stats: &mut ContactStats) -> f64 {
        let most = options.max_pivots.unwrap_or(STEPS);
        let residual = self.newton.polish(&mut self.conic, &mut self.p, most);
        stats.pivots += self.newton.steps;
        stats.answered_by(1, "interior point");
        if residual <= options.tolerance && end == interior::End::Impulses {
            return residual;
        }
        stats.fallbacks += 1;
        std::mem::swap(&mut self.other, &mut self.p);
        let again = self.polish_from_rest(options, stats);
        if residual < again {
            std::mem::swap(&mut self.other, &mut self.p);
        } else {
            stats.answered_by(2, FROM_REST);
        }
        residual.min(again)
    }

    /// Newton's method from no impulse. Returns the residual.
    fn polish_from_rest(&mut self, options: &ModelOptions, stats: &mut ContactStats) -> f64 {
        self.p.clear();
        self.p.resize(self.conic.rows(), 0.0);
        let residual = self.newton.polish(&mut self.conic, &mut self.p, options.max_pivots.unwrap_or(STEPS));
        stats.pivots += self.newton.steps;
        residual
    }

    /// Takes rounding out of the impulses where it spoils them.
    fn remove_noise(&mut self, options: &ModelOptions) {
        let mut least = self.newton.measure_strictly(&mut self.conic, &self.p);
        for noise in NOISE_MULTIPLES.map(|k| k * self.tolerances.noise) {
            if least <= options.tolerance {
                return;
            }
            self.other.clone_from(&self.p);
            self.conic.remove_noise(&mut self.other, noise);
            let residual = self.newton.measure_strictly(&mut self.conic, &self.other);
            if residual < least {
                least = residual;
                std::mem::swap(&mut self.other, &mut self.p);
            }
        }
    }

    /// Writes the impulses down as a solution, if the motion is still to be seen beside them.
    fn recover_solution(&mut self, options: &ModelOptions, forces: &mut IslandForces) -> IslandEnd {
        self.remove_noise(options);
        self.recover(forces);
        self.conic.row_motion_into(&self.x, &mut self.other);
        if self.conic.plain_residual(&self.p, &self.other) > self.tolerances.plain_residual {
            return IslandEnd::Failed {
                why: "the impulses grew so large that the motion drowned in their rounding".into(),
            };
        }
        IslandEnd::Solved
    }

    fn recover(&mut self, forces: &mut IslandForces) {
        self.conic.motion_into(&self.p, &mut self.x);
        self.conic.unload(&self.p, &self.x, forces);
    }
}

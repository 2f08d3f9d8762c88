//! The friction pyramid of Trinkle, Pang, Sudarsky and Lo at acceleration level: contacts that roll and contacts that slide.
//!
//! Given positions and velocities, the unknowns are accelerations and contact forces. A contact that slips now has the friction `−μ c_n` times the
//! direction of its slip; one that rolls has `|c_t| ≤ μ c_n` along each of its tangents, and the full `μ c_n` against the way it begins to slip.
//! That is a linear complementarity problem, (32), built in `formulation.rs`. The quadratic cone is not this model; see [`satisfies_cone`] for when
//! the two agree.
//!
//! *Rolling and sliding.* A contact slides if its slip now is above rounding ([`ContactProblem::slip`]); contacts that part already have no force. The
//! moment of a soft finger is one more axis, `|moment| ≤ mu_spin c_n`, that rolls or slides by the spin alone.
//!
//! *Joints.* A manipulator is a block of the mass like any other. Efforts that are known are part of [`ContactProblem::force`]; a joint whose
//! *acceleration* is known is a bilateral row with that target, and the force of that row is the effort (§2.5).
//!
//! *No solution, several solutions.* With sliding contacts and large μ the law may admit no forces at all (Painlevé's paradox): then the outcome is
//! [`ContactOutcome::NoSolution`] with a proof, or a ray, which is the direction of an impulse. It may also admit several: see
//! [`CoulombPyramid::all_solutions`]. [`CoulombPyramid::existence`] says when Theorem 1 guarantees a solution.
//!
//! Reference: [Trinkle95, §2–5].

mod all;
mod existence;
mod feasible;
mod formulation;
mod polish;
mod quasistatic;
mod recover;

use stiction_lcp::finish::Finish;
use stiction_lcp::{
    Auto, Basis, FeasibleInteriorPoint, InputError, Lcp, Lemke, Nnls, Outcome, ProblemRef, Proof, Solved, Solver,
    tolerances,
};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::pyramid::PyramidLaw;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, ModelOptions, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::unsupported::{Values, refuse};
use crate::problem::ContactProblem;
use crate::solution::ContactSolution;
use crate::whitened::{Whitened, why_not_formed};
pub use all::AllSolutions;
pub use existence::Existence;
use formulation::Formulation;
use recover::is_near;

tolerances! {
    /// Tolerances of the pyramid.
    Tolerances {
        /// Forces of a basis, solved in their own variables, are taken if they differ from those found by less than this, relative to all forces
        /// together. Where the basis is nearly singular they differ by all there is, so the value hardly matters.
        polished = 1e-8,
    }
}

/// How far outside the cone, as a part of μ c_n, a force may be for rounding.
const CONE_TOLERANCE: f64 = 1e-10;

/// Steps in which friction is raised, coarse and fine: on the first the matrix is most likely copositive, so that Lemke's method succeeds.
const FRICTION_STEPS: [(usize, &str); 2] = [(8, "friction in 8 steps"), (50, "friction in 50 steps")];

/// How the complementarity problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PyramidMethod {
    /// Lemke's method with restarts; where that fails, friction raised step by step from a small one, each step from the basis of the last; then
    /// [`stiction_lcp::Auto`]: interior points with crossover, exact arithmetic or all bases where the problem is small, proofs where there is no
    /// solution.
    #[default]
    Auto,
    /// Lemke's method with restarts, the paper's first.
    Lemke,
    /// The feasible interior point method, the paper's second. It needs a strictly feasible point, and says so where there is none.
    FeasibleInteriorPoint,
}

/// Options of [`CoulombPyramid`].
#[derive(Debug, Clone, PartialEq)]
pub struct PyramidOptions {
    /// What all models have.
    pub common: ModelOptions,
    /// How the complementarity problem is solved. Default [`PyramidMethod::Auto`].
    pub method: PyramidMethod,
    /// Starts of [`PyramidMethod::Lemke`] with other covering vectors after the first failed. Default 9: ten starts, as in the paper.
    pub restarts: usize,
    /// Leaves inertia out: forces are in equilibrium, `f + Σ rowᵀ p = 0`, and the motion is whatever the rows then allow. Default false.
    ///
    /// The paper only says that `M v̇` is set to zero, and that this changes the model fundamentally. The algebra is the same for velocities: with
    /// targets and rates that are speeds, the motion is a velocity. It need not be unique, and there may be no equilibrium.
    pub quasistatic: bool,
}

impl Default for PyramidOptions {
    fn default() -> Self {
        Self { common: ModelOptions::default(), method: PyramidMethod::Auto, restarts: 9, quasistatic: false }
    }
}

/// The friction pyramid at acceleration level. See the [module](self).
///
/// ```
/// use stiction_contact::{Contact, ContactModel, ContactProblem, CoulombPyramid, Mass};
/// use stiction_lcp::Matrix;
///
/// // A particle of 4 kg slides over the floor at 1 m/s: friction brakes it with μ g.
/// let mass = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { 4.0 } else { 0.0 })])?;
/// let mut problem = ContactProblem::new(mass, vec![1.0, 0.0, 0.0], vec![0.0, 0.0, -40.0], 1e-3)?;
/// let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
/// problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) })?;
/// let outcome = CoulombPyramid::default().solve(&problem)?;
/// assert_eq!(outcome.solved().unwrap().motion, [-5.0, 0.0, 0.0]);
/// # Ok::<(), stiction_lcp::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CoulombPyramid {
    options: PyramidOptions,
    driver: ByIsland,
    core: Core,
}

/// The model's own mathematics: one island, reduced, solved and recovered.
#[derive(Debug, Clone)]
struct Core {
    quasistatic: bool,
    tolerances: Tolerances,
    formulation: Formulation,
    method: Method,
    finish: Finish,
    nnls: Nnls,
}

#[derive(Debug, Clone)]
enum Method {
    Auto(Box<(Lemke, Auto)>),
    Lemke(Box<Lemke>),
    Interior(Box<FeasibleInteriorPoint>),
}

impl Method {
    /// The solver to begin with; the mixed problem of quasistatics has no small friction to fall back to.
    fn solver(&mut self, mixed: bool) -> &mut dyn Solver {
        match self {
            Method::Auto(both) => {
                let (lemke, auto) = &mut **both;
                if mixed { auto } else { lemke }
            }
            Method::Lemke(solver) => &mut **solver,
            Method::Interior(solver) => &mut **solver,
        }
    }
}

impl Default for CoulombPyramid {
    fn default() -> Self {
        Self::new(PyramidOptions::default())
    }
}

impl CoulombPyramid {
    /// The model with these options.
    pub fn new(options: PyramidOptions) -> Self {
        let solver = options.common.for_solver();
        let method = match options.method {
            PyramidMethod::Auto => Method::Auto(Box::new((Lemke::new(solver.clone()), Auto::new(solver.clone())))),
            PyramidMethod::Lemke => Method::Lemke(Box::new(Lemke::new(solver.clone()).with_restarts(options.restarts))),
            PyramidMethod::FeasibleInteriorPoint => {
                Method::Interior(Box::new(FeasibleInteriorPoint::new(solver.clone())))
            }
        };
        let core = Core {
            quasistatic: options.quasistatic,
            tolerances: options.common.tolerances.coulomb_pyramid,
            formulation: Formulation::new(options.common.tolerances.find_indices),
            method,
            finish: Finish::default(),
            nnls: Nnls::new(solver),
        };
        Self { options, driver: ByIsland::default(), core }
    }

    /// The options.
    pub fn options(&self) -> &PyramidOptions {
        &self.options
    }

    fn law(&self) -> PyramidLaw {
        PyramidLaw { quasistatic: self.options.quasistatic }
    }
}

/// Whether the law has a place for everything in `problem`.
fn check(problem: &ContactProblem) -> Result<(), InputError> {
    let c = problem.contacts();
    let refused = [
        ("mu", c.mu.as_slice(), Values::Infinite, "; the pyramid needs a finite one"),
        ("mu_spin", &c.mu_spin, Values::Infinite, "; the pyramid needs a finite one"),
        ("mu_roll", &c.mu_roll, Values::NotZero, "; the law has no moment against rolling"),
        ("mu_viscous", &c.mu_viscous, Values::NotZero, "; the law has dry friction only"),
    ];
    refuse(ModelKind::CoulombPyramid, &refused)
}

impl ContactModel for CoulombPyramid {
    fn kind(&self) -> ModelKind {
        ModelKind::CoulombPyramid
    }

    fn level(&self) -> Level {
        Level::Acceleration
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    /// Solves `problem`.
    ///
    /// # Errors
    /// `InputError::Unsupported` for an infinite `mu` or `mu_spin`, for rolling friction and for viscous friction.
    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        check(problem)?;
        let (law, core) = (self.law(), &mut self.core);
        self.driver.solve(problem, &law, &self.options.common, start, |island, guess, forces, stats| {
            core.solve(island, guess, forces, stats)
        })
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        self.driver.recycle(outcome);
    }
}

impl Core {
    /// Reduce, solve, recover.
    fn solve(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> Result<IslandEnd, InputError> {
        self.formulation.read(island);
        stats.inconsistency = stats.inconsistency.max(self.formulation.held.inconsistency());
        let held = if self.quasistatic { island.m() + self.formulation.held.rank() } else { 0 };
        if let Some(why) = why_not_formed(held + self.formulation.order()) {
            return Ok(IslandEnd::Failed { why });
        }
        if self.quasistatic {
            return self.solve_quasistatic(island, guess, forces, stats);
        }
        let lcp = self.formulation.lcp(island)?;
        let outcome = match self.run((&lcp).into(), guess, stats)? {
            solved @ Outcome::Solved(_) => solved,
            Outcome::Unsolvable(found) if !found.proof.is_thin(lcp.q()) => Outcome::Unsolvable(found),
            open => self.try_harder(island, &lcp, open, stats)?,
        };
        Ok(match outcome {
            Outcome::Solved(solved) => {
                self.recover(island, solved, forces)?;
                IslandEnd::Solved
            }
            _ if self.no_motion(island, forces)? => IslandEnd::Infeasible,
            Outcome::Unsolvable(found) => no_solution(lcp, found.proof),
            Outcome::Ray(ray) => {
                self.formulation.direction_into(island, &ray.direction, forces);
                IslandEnd::Ray { claim: format!("the direction of an impulse; {}", ray.claim) }
            }
            Outcome::Stopped(stopped) => {
                self.formulation.forces_into(island, &stopped.z, None, forces);
                self.formulation.motion_into(island, forces);
                IslandEnd::Failed { why: stopped.why.to_string() }
            }
        })
    }

    /// Solves the complementarity problem, from the guessed basis if that is one of it.
    fn run(
        &mut self,
        problem: ProblemRef<'_>,
        guess: Guess<'_>,
        stats: &mut ContactStats,
    ) -> Result<Outcome, InputError> {
        let start: Option<&Basis> = guess.basis.filter(|basis| basis.len() == problem.n());
        let solver = self.method.solver(self.quasistatic);
        let outcome = solver.solve_from(problem, start)?;
        stats.answered_by(0, solver.name());
        let done = outcome.stats();
        stats.pivots += done.pivots + done.iterations;
        let guessed = start.is_some() && outcome.solved().is_some() && done.pivots + done.iterations == 0;
        stats.guessed += usize::from(guessed);
        Ok(outcome)
    }

    /// [`PyramidMethod::Auto`] when Lemke's method left `open` what it found: friction step by step, then everything else.
    fn try_harder(
        &mut self,
        island: &Whitened,
        lcp: &Lcp,
        open: Outcome,
        stats: &mut ContactStats,
    ) -> Result<Outcome, InputError> {
        let Method::Auto(both) = &mut self.method else { return Ok(open) };
        let (lemke, auto) = &mut **both;
        stats.fallbacks += 1;
        for (place, (steps, name)) in FRICTION_STEPS.into_iter().enumerate() {
            let mut basis: Option<Basis> = None;
            for step in 1..=steps {
                stiction_lcp::interrupt::check();
                self.formulation.read_scaled(island, step as f64 / steps as f64);
                let outcome = lemke.solve_from((&self.formulation.lcp(island)?).into(), basis.as_ref())?;
                stats.pivots += outcome.stats().pivots;
                match outcome {
                    Outcome::Solved(solved) if step < steps => basis = Some(solved.basis),
                    Outcome::Solved(_) => {
                        stats.answered_by(1 + place, name);
                        return Ok(outcome);
                    }
                    _ => break,
                }
            }
        }
        self.formulation.read(island);
        let outcome = auto.solve_from(lcp.into(), None)?;
        stats.pivots += outcome.stats().pivots + outcome.stats().iterations;
        stats.answered_by(1 + FRICTION_STEPS.len(), auto.name());
        Ok(outcome)
    }

    fn recover(&mut self, island: &Whitened, solved: Solved, forces: &mut IslandForces) -> Result<(), InputError> {
        self.formulation.forces_into(island, &solved.z, Some(&solved.basis), forces);
        let found = forces.clone();
        self.formulation.polish(island, &solved.basis, &mut self.finish, self.nnls.options(), forces)?;
        if !is_near(island, forces, &found, self.tolerances.polished) {
            *forces = found;
        }
        self.formulation.motion_into(island, forces);
        forces.basis = solved.basis;
        Ok(())
    }
}

/// A proof that there is no solution; a thin one is none.
fn no_solution(lcp: Lcp, proof: Proof) -> IslandEnd {
    if proof.is_thin(lcp.q()) {
        return IslandEnd::Failed {
            why: format!("no solution was found, and the proof that there is none hangs on rounding: {proof}"),
        };
    }
    IslandEnd::NoSolution { lcp: Box::new(lcp), proof }
}

/// Whether a solution of the pyramid also solves the model with the quadratic cone: Proposition 1 says that it does if every contact's force lies in
/// its cone, `c_s² + c_t² ≤ μ² c_n²`. (On an edge of the pyramid it does not; along a tangent it does.)
///
/// Reference: [Trinkle95, Proposition 1].
pub fn satisfies_cone(problem: &ContactProblem, solution: &ContactSolution) -> bool {
    let (forces, mu) = (&solution.forces, &problem.contacts().mu);
    (0..mu.len()).all(|i| {
        libm::hypot(forces.tangent_s[i], forces.tangent_t[i]) <= mu[i] * forces.normal[i] * (1.0 + CONE_TOLERANCE)
    })
}

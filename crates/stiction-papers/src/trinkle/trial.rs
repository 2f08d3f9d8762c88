//! One data set through all solvers.

use stiction_contact::models::coulomb_pyramid::CoulombPyramid;
use stiction_contact::{
    BaraffFriction, ContactModel, ContactOutcome, ContactProblem, CoulombCone, InputError, Level, ModelOptions,
};
use stiction_lcp::generate::Rng;
use stiction_lcp::interior_point::FeasibleSettings;
use stiction_lcp::{FeasibleInteriorPoint, Lcp, Lemke, Options, Outcome, Solver, StopReason, exact::find_farkas};

use super::data::DataSet;
use super::decide::{BOUND, Decision, decide};
use super::formulation::Formulation;

/// The paper's limits: pivots per start of Lemke's method; iterations and gap of the interior point method are the solver's own defaults.
const PAPER_PIVOTS: usize = 100;
/// Starts with other covering vectors; the paper does not say how many it allowed.
pub(super) const STARTS: usize = 10;
/// Our limit on the iterations of the interior point method.
const ITERATIONS: usize = 1000;
/// Starts of Lemke's method on what nothing else solves.
const LAST_STARTS: usize = 800;
/// Branches that are tried before them.
const FEW_NODES: usize = 60;
/// An answer with a larger residual in (32) is none.
const TOLERANCE: f64 = 1e-9;

/// What a method did on one data set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub solved: bool,
    /// Starts of Lemke's method.
    pub starts: usize,
    /// Pivots, or iterations of the interior point method.
    pub iterations: usize,
    /// The method needs something the problem does not have.
    pub not_applicable: bool,
}

/// What became of a data set in the end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    /// Solved by the pyramid model, certified there, and on (32).
    Solved,
    /// Solved on (32) by the methods that come after it.
    SolvedLate(&'static str),
    /// Proven to have no solution, and how.
    Proven(String),
    /// Neither.
    Open(String),
}

/// A data set's results.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub plan: usize,
    pub size: usize,
    pub slides: bool,
    pub mu: f64,
    pub lemke: Run,
    pub interior: Run,
    pub lemke_ours: Run,
    pub interior_ours: Run,
    pub fate: Fate,
    /// How far the model's answer is from (32) as written down here.
    pub residual: f64,
}

impl Trial {
    /// Runs all solvers; what none solves is branched over with at most `nodes` nodes.
    pub(super) fn run(set: &DataSet, nodes: usize) -> Result<Self, InputError> {
        let DataSet { plan, mu, problem } = set;
        let (plan, mu) = (*plan, *mu);
        let form = Formulation::new(problem)?;
        let outcome = CoulombPyramid::default().solve(problem)?;
        let residual = outcome.solved().map_or(0.0, |solution| form.residual(&solution.forces));
        let fate = fate(&form, problem, &outcome, residual, nodes)?;
        Ok(Self {
            plan,
            size: form.lcp.n(),
            slides: !form.sliding.is_empty(),
            mu,
            lemke: lemke_as_in_paper(&form.lcp, plan as u64)?,
            interior: interior_as_in_paper(&form.lcp)?,
            lemke_ours: lemke_ours(&form.lcp)?,
            interior_ours: interior_ours(&form.lcp)?,
            fate,
            residual,
        })
    }

    /// Solved by one of our solvers, and certified.
    pub(super) fn is_solved(&self) -> bool {
        matches!(self.fate, Fate::Solved | Fate::SolvedLate(_))
    }
}

/// Lemke's method with 100 pivots per start, first from a covering vector of ones, then from random ones.
fn lemke_as_in_paper(lcp: &Lcp, seed: u64) -> Result<Run, InputError> {
    let mut rng = Rng::new(seed);
    let mut run = Run::default();
    for start in 0..STARTS {
        let covering: Vec<f64> = (0..lcp.n()).map(|_| if start == 0 { 1.0 } else { 0.05 + rng.uniform() }).collect();
        let options = Options { max_pivots: Some(PAPER_PIVOTS), ..Options::default() };
        let outcome = Lemke::new(options).with_restarts(0).with_covering(covering).solve(lcp)?;
        run.starts += 1;
        run.iterations += outcome.stats().pivots;
        if outcome.solved().is_some() {
            run.solved = true;
            break;
        }
        // Infeasible, by a proof: no other start can help.
        if matches!(outcome, Outcome::Unsolvable(_)) {
            break;
        }
    }
    Ok(run)
}

fn lemke_ours(lcp: &Lcp) -> Result<Run, InputError> {
    let outcome = Lemke::new(Options::default()).solve(lcp)?;
    let stats = outcome.stats();
    let solved = outcome.solved().is_some();
    Ok(Run { solved, starts: stats.restarts + 1, iterations: stats.pivots, not_applicable: false })
}

/// The feasible interior point method alone: what only Lemke's method found from its last iterate, or what took all iterations, is not counted.
fn interior_as_in_paper(lcp: &Lcp) -> Result<Run, InputError> {
    let settings = FeasibleSettings::default();
    let most = settings.max_iterations;
    let options = Options { max_pivots: Some(most), ..Options::default() };
    let outcome = FeasibleInteriorPoint::with_settings(options, settings).solve(lcp)?;
    let run = interior_run(&outcome);
    Ok(Run { solved: run.solved && run.iterations < most && !was_handed_over(&outcome), ..run })
}

fn interior_ours(lcp: &Lcp) -> Result<Run, InputError> {
    let settings = FeasibleSettings { max_iterations: ITERATIONS, ..FeasibleSettings::default() };
    Ok(interior_run(&FeasibleInteriorPoint::with_settings(Options::default(), settings).solve(lcp)?))
}

fn interior_run(outcome: &Outcome) -> Run {
    let not_applicable =
        matches!(outcome, Outcome::Stopped(stopped) if matches!(stopped.why, StopReason::NotApplicable(_)));
    Run { solved: outcome.solved().is_some(), starts: 1, iterations: outcome.stats().iterations, not_applicable }
}

/// Whether the answer took more basis changes than crossover from a small gap needs.
fn was_handed_over(outcome: &Outcome) -> bool {
    outcome.solved().is_some_and(|solved| solved.stats.pivots > solved.z.len())
}

/// What became of it: the model's answer, or one found later, or a proof that there is none.
fn fate(
    form: &Formulation,
    problem: &ContactProblem,
    outcome: &ContactOutcome,
    residual: f64,
    nodes: usize,
) -> Result<Fate, InputError> {
    let why = match outcome {
        ContactOutcome::Solved(_) if residual <= TOLERANCE => return Ok(Fate::Solved),
        ContactOutcome::Solved(_) => format!("the model's answer has a residual in (32) of {residual:.0e}"),
        ContactOutcome::Infeasible(_) => return Ok(Fate::Proven("no motion satisfies the contacts".into())),
        ContactOutcome::NoSolution(none) => return Ok(Fate::Proven(none.proof.to_string())),
        ContactOutcome::Ray(_) => "all methods end on rays".into(),
        ContactOutcome::Failed(failed) => failed.why.clone(),
    };
    let lcp = &form.lcp;
    // A few branches often prove that there is nothing to look for.
    if let Decision::None { nodes } = decide(lcp, FEW_NODES)? {
        return Ok(Fate::Proven(in_branches(nodes)));
    }
    if let Some(how) = solve_late(form, problem)? {
        return Ok(Fate::SolvedLate(how));
    }
    if find_farkas(lcp, None).is_some() {
        return Ok(Fate::Proven(
            "no forces of the pyramids keep the bodies apart (Farkas vector, checked exactly)".into(),
        ));
    }
    Ok(match decide(lcp, nodes)? {
        Decision::Solved => Fate::SolvedLate("by branching over the pairs"),
        Decision::None { nodes } => Fate::Proven(in_branches(nodes)),
        Decision::Undecided { nodes } => {
            Fate::Open(format!("{why}; {nodes} branches over the pairs did not decide it"))
        }
    })
}

fn in_branches(nodes: usize) -> String {
    let branches =
        if nodes == 1 { "one branch over the pairs,".into() } else { format!("{nodes} branches over the pairs, each") };
    format!("{branches} infeasible, with unknowns up to {BOUND:.0e} times their scale")
}

/// Solves what the model left: from where the cone's solvers end, then with very many starts. Returns how.
pub(super) fn solve_late(form: &Formulation, problem: &ContactProblem) -> Result<Option<&'static str>, InputError> {
    let options = ModelOptions::default();
    let cone = CoulombCone::new(Level::Acceleration, options.clone()).solve(problem)?;
    let baraff = BaraffFriction::new(options).solve(problem)?;
    for (outcome, how) in [(cone, "from the cone's solution"), (baraff, "from that of Baraff's method")] {
        let forces = match &outcome {
            ContactOutcome::Solved(solution) => &solution.forces,
            ContactOutcome::Failed(failed) => &failed.best.forces,
            _ => continue,
        };
        let basis = form.basis_near(forces);
        let mut lemke = Lemke::new(Options::default()).with_restarts(0);
        if lemke.solve_from((&form.lcp).into(), Some(&basis))?.solved().is_some() {
            return Ok(Some(how));
        }
    }
    let outcome = Lemke::new(Options::default()).with_restarts(LAST_STARTS).solve(&form.lcp)?;
    Ok(outcome.solved().map(|_| "by one of 800 starts of Lemke's method"))
}

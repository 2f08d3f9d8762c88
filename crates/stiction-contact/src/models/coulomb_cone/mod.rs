//! Exact Coulomb friction with the true quadratic cone, on problems given by their Delassus operator.
//!
//! ```text
//! u = W r + q,   K_i ∋ r_i ⊥ u_i + mu_i |u_iT| e_N ∈ K_i*   for every contact i
//! ```
//!
//! 1. The problem is made dimensionless, contact by contact, by powers of two (`problem`).
//! 2. Proximal points: solve the problem with `W + α I` and `q − α c` by a nonsmooth Newton method (`newton`), move the centre c to its solution,
//!    lower α. Every proximal problem has a regular W, and the next is close to the last.
//! 3. Where Newton's method stalls, block Gauss–Seidel (`gauss_seidel`) moves on, with a larger α.
//! 4. The modes found (open, stick, slide) define one system, linear but for the directions of sliding. Its solution, refined with velocities in twice the
//!    working precision, is the answer, if its certificate holds.
//!
//! Where that ends without an answer, and for more than a hundred contacts from the start, the path of smooth laws is followed (`velocity_space/delassus.rs`).
//!
//! Contact problems are first solved on their velocities (`velocity_space`), or their accelerations as if they were velocities (`accelerations`): there the cost follows the bodies and not the contacts.
//! The Delassus operator is formed only where that finds no certified answer.
//!
//! Reference: \[AlartCurnier91\], \[Acary18\].

mod accelerations;
mod contact_model;
mod contacts_without_limit;
mod gauss_seidel;
mod island;
mod law;
mod newton;
mod operator;
mod outcome;
mod problem;
mod proximal;
mod spins;
mod system;
#[cfg(test)]
mod tests;
pub(in crate::models) mod velocity_space;
mod without_limit;

use stiction_lcp::InputError;

pub use outcome::{FailureReason, FrictionFailed, FrictionOutcome, FrictionSolved, FrictionStats};

use crate::by_island::ByIsland;
use crate::friction_certificate::{FrictionCertificate, certify_friction};
use crate::friction_problem::FrictionProblem;
use crate::model::{Level, Mode, ModelOptions};
use accelerations::Accelerations;
use island::{IslandProblem, MARGIN};
use law::State;
use newton::Newton;
use problem::{Block, ConeProblem};
use proximal::{Search, SearchEnd, Verdict};
pub use velocity_space::Tolerances;
use velocity_space::{DelassusSpace, Friction, VelocitySpace};
use without_limit::Searches;

/// Linear systems solved before the solver stops, unless the options say otherwise.
const MOST_ITERATIONS: usize = 6000;

/// Contacts up to which proximal points are looked for first: they end exact to rounding, also where friction is just enough. Beyond, their cost grows with the square of the contacts and more.
const FEW_CONTACTS: usize = 100;

/// max |q| below which a problem is likely one at rest, with nothing in q but rounding.
const NOISE: f64 = 1e-14;

/// Contact error of impulses that are exact to rounding: a few units in the last place.
const LAST_DIGITS: f64 = 1e-15;

/// What the certificate states of such impulses at most: its bounds of rounding are part of it.
const STATED_LAST_DIGITS: f64 = 4e-15;

/// Errors of an answer that is not worth improving.
const POLISHED: f64 = 1e-13;

/// Options of [`CoulombCone`].
#[derive(Debug, Clone, PartialEq)]
pub struct ConeOptions {
    /// Those of all models.
    pub model: ModelOptions,
    /// Whether contact problems are first solved on their velocities (or accelerations). Default true; without it every island goes through its Delassus operator, which costs what the
    /// contacts cost.
    pub velocity_space: bool,
}

impl Default for ConeOptions {
    fn default() -> Self {
        Self { model: ModelOptions::default(), velocity_space: true }
    }
}

/// The solver; it owns its workspace, so keep one and use it again. See the [module](self).
#[derive(Debug, Clone)]
pub struct CoulombCone {
    options: ModelOptions,
    /// A limit for now.
    most_iterations: Option<usize>,
    velocity_space: bool,
    level: Level,
    driver: ByIsland,
    velocities: VelocitySpace,
    delassus: DelassusSpace,
    accelerations: Accelerations,
    island: IslandProblem,
    problem: ConeProblem,
    newton: Newton,
    search: Search,
    best: Best,
}

/// The best impulses so far, in the problem's own units.
#[derive(Debug, Clone, Default)]
struct Best {
    r: Vec<f64>,
    u: Vec<f64>,
    states: Vec<State>,
    certificate: Option<FrictionCertificate>,
    trial_r: Vec<f64>,
    trial_u: Vec<f64>,
    /// Impulses to start near, scaled.
    near: Vec<f64>,
}

impl Default for CoulombCone {
    /// At velocity level, with the default options.
    fn default() -> Self {
        Self::new(Level::Velocity, ModelOptions::default())
    }
}

impl CoulombCone {
    /// The model at `level`, with the given options. (Friction problems of their own have no level.)
    pub fn new(level: Level, options: ModelOptions) -> Self {
        Self::with_options(level, ConeOptions { model: options, ..ConeOptions::default() })
    }

    /// The model at `level`, with options of its own.
    pub fn with_options(level: Level, options: ConeOptions) -> Self {
        let tolerances = options.model.tolerances.coulomb_cone;
        Self {
            options: options.model,
            most_iterations: None,
            velocity_space: options.velocity_space,
            level,
            driver: ByIsland::default(),
            velocities: VelocitySpace::new(Friction::default(), tolerances),
            delassus: DelassusSpace::new(tolerances),
            accelerations: Accelerations::default(),
            island: IslandProblem::default(),
            problem: ConeProblem::default(),
            newton: Newton::default(),
            search: Search::default(),
            best: Best::default(),
        }
    }

    /// Most linear systems per problem or island.
    fn max_iterations(&self) -> usize {
        self.options.max_pivots.unwrap_or(MOST_ITERATIONS).min(self.most_iterations.unwrap_or(usize::MAX))
    }

    /// Solves a friction problem, trying the modes in `start` first: where their one system gives a certified answer, that is the solution.
    ///
    /// # Errors
    /// `InputError` if an option is out of range or `start` has not one mode per contact.
    pub fn solve_friction(
        &mut self,
        problem: &FrictionProblem,
        start: Option<&[Mode]>,
    ) -> Result<FrictionOutcome, InputError> {
        self.solve(problem, start, None)
    }

    /// Solves a friction problem near an earlier solution (of a similar problem): its modes are tried first, their system solved by the least change of its
    /// impulses. For redundant contacts this finds admissible impulses where the modes alone leave too much open.
    ///
    /// # Errors
    /// `InputError` if an option is out of range or the earlier solution is of another size.
    pub fn solve_friction_near(
        &mut self,
        problem: &FrictionProblem,
        earlier: &FrictionSolved,
    ) -> Result<FrictionOutcome, InputError> {
        self.solve(problem, Some(&earlier.modes), Some(&earlier.r))
    }

    fn solve(
        &mut self,
        problem: &FrictionProblem,
        modes: Option<&[Mode]>,
        near: Option<&[f64]>,
    ) -> Result<FrictionOutcome, InputError> {
        self.options.check()?;
        let (contacts, n) = (problem.contacts(), problem.q().len());
        check_size("modes to start from", contacts, modes.map(<[Mode]>::len))?;
        check_size("impulses to start from", n, near.map(<[f64]>::len))?;
        let dim = problem.dim();
        let blocks = problem.mu().iter().map(|&mu| Block::Coulomb { dim, mu });
        self.problem.load(blocks, problem.q(), |j| problem.w().col(j));
        self.newton.reset(&self.problem);
        self.delassus.begin();
        self.best.reset(n, near, &self.problem);
        let rounding_noise = contacts > 0 && problem.q().iter().all(|q| q.abs() < NOISE);
        let mut stats = FrictionStats { rounding_noise, ..FrictionStats::default() };
        let why = self.search(problem, modes, near.is_some(), &mut stats);
        Ok(self.best.outcome(self.options.tolerance, why, stats))
    }

    /// Guesses, then searches; the best impulses are in `best`. Returns why these are no solution, if they are none.
    fn search(
        &mut self,
        problem: &FrictionProblem,
        modes: Option<&[Mode]>,
        near: bool,
        stats: &mut FrictionStats,
    ) -> FailureReason {
        let limit = self.max_iterations();
        let Self { options, problem: scaled, newton, search, best, delassus, .. } = self;
        let near = near.then(|| best.near.clone());
        let mut judge = |scaled: &ConeProblem, r: &[f64], states: &[State]| {
            let certificate = best.offer(problem, scaled, r, states);
            if is_rounding(&certificate) || certificate.worst() <= POLISHED.min(options.tolerance) {
                Verdict::Stop
            } else if certificate.holds(options.tolerance) {
                Verdict::Enough
            } else {
                Verdict::GoOn
            }
        };
        let states: Option<Vec<State>> = modes.map(|modes| modes.iter().map(|&mode| state(mode)).collect());
        if let Some(states) = &states
            && search.guess(scaled, newton, states, near.as_deref(), &mut judge) != Verdict::GoOn
        {
            return FailureReason::Rounding;
        }
        let mut why = FailureReason::Uncertified;
        if problem.contacts() <= FEW_CONTACTS {
            newton.iterations = 0;
            let end = search.run(scaled, newton, modes.is_some(), limit, &mut stats.starts, &mut judge);
            stats.iterations = newton.iterations;
            if end == SearchEnd::Ended {
                return FailureReason::Rounding;
            }
            if end == SearchEnd::Limit {
                why = FailureReason::Limit(limit);
            }
        }
        let mut start = states.map(|states| (states, near));
        // The certificate's measure is not the search's own: where it does not hold, once more to the last digits.
        for enough in [MARGIN * options.tolerance, LAST_DIGITS] {
            let from = start.as_ref().map(|(states, near)| (&states[..], near.as_deref()));
            delassus.solve(scaled, from, enough, limit);
            stats.starts += 1;
            stats.iterations += delassus.iterations;
            if judge(scaled, &delassus.r, &delassus.states) != Verdict::GoOn {
                return FailureReason::Rounding;
            }
            start = Some((delassus.states.clone(), Some(delassus.r.clone())));
        }
        let few = problem.contacts() <= FEW_CONTACTS;
        if few && without_limit::search(scaled, newton, search, (limit, usize::MAX), &mut judge)
            || without_limit::follow(scaled, Searches { newton, search, delassus }, (limit, limit), &mut judge)
        {
            why = FailureReason::Rounding;
        }
        why
    }
}

fn check_size(what: &str, expected: usize, found: Option<usize>) -> Result<(), InputError> {
    match found {
        Some(found) if found != expected => Err(InputError::Size { what: what.into(), expected, found }),
        _ => Ok(()),
    }
}

/// True if every contact is exact to the last digits: no other impulses would be better.
fn is_rounding(certificate: &FrictionCertificate) -> bool {
    certificate.contact_error <= STATED_LAST_DIGITS
}

impl Best {
    fn reset(&mut self, n: usize, near: Option<&[f64]>, scaled: &ConeProblem) {
        self.certificate = None;
        self.r.clear();
        self.r.resize(n, 0.0);
        self.near.clear();
        if let Some(near) = near {
            self.near.resize(n, 0.0);
            scaled.scale_into(near, &mut self.near);
        }
    }

    /// Certifies impulses of the scaled problem, and keeps them if they are the best so far; returns their certificate.
    fn offer(
        &mut self,
        problem: &FrictionProblem,
        scaled: &ConeProblem,
        r: &[f64],
        states: &[State],
    ) -> FrictionCertificate {
        self.trial_r.resize(r.len(), 0.0);
        self.trial_u.resize(r.len(), 0.0);
        scaled.unscale_into(r, &mut self.trial_r);
        let certificate = certify_friction(problem, &self.trial_r, &mut self.trial_u);
        if self.certificate.is_none_or(|best| certificate.worst() < best.worst()) {
            self.certificate = Some(certificate);
            std::mem::swap(&mut self.r, &mut self.trial_r);
            std::mem::swap(&mut self.u, &mut self.trial_u);
            self.states.clear();
            self.states.extend_from_slice(states);
        }
        certificate
    }

    /// The outcome: the best impulses, solved only if their certificate holds.
    fn outcome(&self, tolerance: f64, why: FailureReason, stats: FrictionStats) -> FrictionOutcome {
        let none = FrictionCertificate { residual: f64::INFINITY, contact_error: f64::INFINITY, worst_contact: None };
        let certificate = self.certificate.unwrap_or(none);
        if !certificate.holds(tolerance) {
            return FrictionOutcome::Failed(FrictionFailed { why, best_r: self.r.clone(), certificate, stats });
        }
        let modes = self.states.iter().map(|&state| mode(state)).collect();
        FrictionOutcome::Solved(FrictionSolved { r: self.r.clone(), u: self.u.clone(), modes, certificate, stats })
    }
}

fn state(mode: Mode) -> State {
    match mode {
        Mode::Open => State::Open,
        Mode::Stick => State::Stick,
        Mode::Slide => State::Slide,
    }
}

fn mode(state: State) -> Mode {
    match state {
        State::Stick => Mode::Stick,
        State::Slide => Mode::Slide,
        State::Open | State::Lower | State::Upper => Mode::Open,
    }
}

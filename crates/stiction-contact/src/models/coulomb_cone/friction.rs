//! Problems given by their Delassus operator: modes and impulses to start from in, certified impulses out.

use stiction_lcp::InputError;

use super::law::State;
use super::{CoulombCone, FailureReason, FrictionFailed, FrictionOutcome, FrictionSolved, FrictionStats};
use crate::friction_certificate::{FrictionCertificate, certify_friction};
use crate::friction_problem::FrictionProblem;
use crate::model::Mode;

/// max |q| below which a problem is likely one at rest, with nothing in q but rounding.
const NOISE: f64 = 1e-14;

/// Contact error, as the search measures it, of impulses that are exact to rounding: a few units in the last place.
const LAST_DIGITS: f64 = 1e-15;

/// What the certificate states of such impulses at most: its bounds of rounding are part of it.
const STATED_LAST_DIGITS: f64 = 4e-15;

/// Errors of an answer that is not worth improving.
const POLISHED: f64 = 1e-13;

/// The best impulses so far, in the problem's own units.
#[derive(Debug, Clone, Default)]
pub(super) struct Best {
    r: Vec<f64>,
    u: Vec<f64>,
    states: Vec<State>,
    certificate: Option<FrictionCertificate>,
    trial_u: Vec<f64>,
}

impl CoulombCone {
    /// Solves a friction problem, trying the modes in `start` first: where their one system gives a certified answer, that is the solution.
    ///
    /// # Errors
    /// `InputError` if an option is out of range or `start` has not one mode per contact.
    pub fn solve_friction(
        &mut self,
        problem: &FrictionProblem,
        start: Option<&[Mode]>,
    ) -> Result<FrictionOutcome, InputError> {
        self.solve_friction_from(problem, start, None)
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
        self.solve_friction_from(problem, Some(&earlier.modes), Some(&earlier.r))
    }

    fn solve_friction_from(
        &mut self,
        problem: &FrictionProblem,
        modes: Option<&[Mode]>,
        near: Option<&[f64]>,
    ) -> Result<FrictionOutcome, InputError> {
        self.options.check()?;
        let (contacts, n) = (problem.contacts(), problem.q().len());
        check_size("modes to start from", contacts, modes.map(<[Mode]>::len))?;
        check_size("impulses to start from", n, near.map(<[f64]>::len))?;
        self.best.reset(n);
        let rounding_noise = contacts > 0 && problem.q().iter().all(|q| q.abs() < NOISE);
        let mut stats = FrictionStats { rounding_noise, ..FrictionStats::default() };
        let (tolerance, limit) = (self.options.tolerance, self.max_iterations());
        let Self { delassus, best, .. } = self;
        delassus.begin(problem);
        let mut states: Option<Vec<State>> = modes.map(|modes| modes.iter().map(|&mode| state(mode)).collect());
        let mut near = near.map(<[f64]>::to_vec);
        // The certificate's measure is not the search's own: where it does not hold, once more to the last digits.
        for enough in [super::velocity_space::MARGIN * tolerance, LAST_DIGITS] {
            delassus.solve(problem, states.as_deref(), near.as_deref(), enough, limit);
            stats.starts += 1;
            stats.iterations += delassus.iterations;
            best.offer(problem, &delassus.r, &delassus.states);
            if best.is_final(tolerance) {
                break;
            }
            (states, near) = (Some(delassus.states.clone()), Some(delassus.r.clone()));
        }
        let why = match delassus.limit_reached {
            _ if best.is_rounding() => FailureReason::Rounding,
            true => FailureReason::Limit(limit),
            false => FailureReason::Uncertified,
        };
        Ok(self.best.outcome(tolerance, why, stats))
    }
}

fn check_size(what: &str, expected: usize, found: Option<usize>) -> Result<(), InputError> {
    match found {
        Some(found) if found != expected => Err(InputError::Size { what: what.into(), expected, found }),
        _ => Ok(()),
    }
}

impl Best {
    fn reset(&mut self, n: usize) {
        self.certificate = None;
        self.r.clear();
        self.r.resize(n, 0.0);
    }

    /// Certifies impulses, and keeps them if they are the best so far.
    fn offer(&mut self, problem: &FrictionProblem, r: &[f64], states: &[State]) {
        self.trial_u.resize(r.len(), 0.0);
        let certificate = certify_friction(problem, r, &mut self.trial_u);
        if self.certificate.is_none_or(|best| certificate.worst() < best.worst()) {
            self.certificate = Some(certificate);
            self.r.copy_from_slice(r);
            std::mem::swap(&mut self.u, &mut self.trial_u);
            self.states.clear();
            self.states.extend_from_slice(states);
        }
    }

    /// True if every contact is exact to the last digits: no other impulses would be better.
    fn is_rounding(&self) -> bool {
        self.certificate.is_some_and(|certificate| certificate.contact_error <= STATED_LAST_DIGITS)
    }

    /// True if there is an answer that is not worth improving.
    fn is_final(&self, tolerance: f64) -> bool {
        let polished = POLISHED.min(tolerance);
        self.is_rounding() || self.certificate.is_some_and(|certificate| certificate.worst() <= polished)
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

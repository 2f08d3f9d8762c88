//! Solves every problem of a setting with the three methods: what they answer, and how long they take.

use stiction_contact::models::coulomb_polyhedral::Method;
use stiction_contact::{ContactModel, ContactProblem, CoulombPolyhedral, InputError, PolyhedralOptions};

use super::{DIRECTIONS, Setting, TOLERANCE, WRENCHES, full_residual};
use crate::timing::{median, timed};
use crate::{Effort, Progress};

/// The three methods, in the paper's order.
pub(super) const METHODS: [(Method, &str); 3] =
    [(Method::Standard, "standard"), (Method::Structural, "structural"), (Method::Reduced, "reduced")];

/// The problems of one setting.
pub(super) struct Case {
    pub name: String,
    pub bodies: usize,
    pub contacts: usize,
    problems: Vec<ContactProblem>,
    /// Which of [`METHODS`] solve it.
    pub methods: [bool; 3],
    /// What came of each method.
    pub results: [Tally; 3],
}

/// What one method made of a setting's problems.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Problems with an answer that is certified and solves the full problem (8).
    pub solved: usize,
    /// Pivots per problem, mean.
    pub pivots: f64,
    /// Problems that another method had to answer.
    pub fallbacks: usize,
    /// Largest residual of the full problem (8).
    pub residual: f64,
    /// Largest measure of the physical certificates.
    pub certificate: f64,
    /// Processor time per problem (ms), mean over the wrenches; the least of several medians. `None` if not measured.
    pub time: Option<f64>,
}

impl Case {
    /// The problems of `setting`, one per wrench.
    pub(super) fn new(setting: &Setting, methods: [bool; 3]) -> Result<Self, InputError> {
        Ok(Self {
            name: setting.name.clone(),
            bodies: setting.bodies.len(),
            contacts: setting.contacts(),
            problems: (0..WRENCHES).map(|seed| setting.problem(seed)).collect::<Result<_, _>>()?,
            methods,
            results: Default::default(),
        })
    }

    /// Number of problems.
    pub(super) fn problems(&self) -> usize {
        self.problems.len()
    }

    /// Time of a method per problem (ms), if it was measured.
    pub(super) fn time(&self, method: usize) -> Option<f64> {
        self.results[method].time
    }
}

/// How long to measure.
pub(super) struct Timing {
    /// Rounds over all cases and methods: the time of each is the least of its medians in them.
    pub rounds: usize,
    /// Processor time for one median (s); at least one pass over the problems.
    pub seconds: f64,
}

/// Solves all problems of all cases and judges the answers, then measures times. Cases and methods take turns, so that what disturbs the machine
/// disturbs all of them.
pub(super) fn run(
    cases: &mut [Case],
    timing: &Timing,
    what: &str,
    progress: &mut dyn Progress,
) -> Result<(), InputError> {
    let mut models = METHODS.map(|(method, _)| model(method));
    let total = cases.len() * (timing.rounds + 1);
    for (k, case) in cases.iter_mut().enumerate() {
        progress.report(k, total, &format!("{what}: answers for {} contacts", case.contacts));
        for (j, model) in models.iter_mut().enumerate().filter(|(j, _)| case.methods[*j]) {
            case.results[j] = judge(model.as_mut().map_err(|e| e.clone())?, &case.problems)?;
        }
    }
    let mut done = cases.len();
    for _ in 0..timing.rounds {
        for case in cases.iter_mut() {
            progress.report(done, total, &format!("{what}: times for {} contacts", case.contacts));
            for (j, model) in models.iter_mut().enumerate().filter(|(j, _)| case.methods[*j]) {
                let time = median_ms(model.as_mut().map_err(|e| e.clone())?, &case.problems, timing.seconds)?;
                let best = &mut case.results[j].time;
                *best = Some(best.map_or(time, |least| least.min(time)));
            }
            done += 1;
        }
    }
    Ok(())
}

/// The same for settings that all three methods solve.
pub(super) fn run_all(
    settings: &[Setting],
    effort: &Effort,
    what: &str,
    progress: &mut dyn Progress,
) -> Result<Vec<Case>, InputError> {
    let timing = if effort.quick { Timing { rounds: 5, seconds: 0.015 } } else { Timing { rounds: 11, seconds: 0.1 } };
    let mut cases = settings.iter().map(|s| Case::new(s, [true; 3])).collect::<Result<Vec<_>, _>>()?;
    run(&mut cases, &timing, what, progress)?;
    Ok(cases)
}

fn model(method: Method) -> Result<CoulombPolyhedral, InputError> {
    CoulombPolyhedral::new(PolyhedralOptions { method, directions: DIRECTIONS, ..Default::default() })
}

/// The answers, judged on the full problem.
fn judge(model: &mut CoulombPolyhedral, problems: &[ContactProblem]) -> Result<Tally, InputError> {
    let mut tally = Tally::default();
    for problem in problems {
        let outcome = model.solve(problem)?;
        let Some(solution) = outcome.solved() else { continue };
        let residual = full_residual(problem, &solution.forces, DIRECTIONS);
        tally.solved += usize::from(residual <= TOLERANCE);
        tally.residual = tally.residual.max(residual);
        tally.certificate = tally.certificate.max(solution.certificate.largest());
        tally.pivots += solution.stats.pivots as f64 / problems.len() as f64;
        tally.fallbacks += usize::from(solution.stats.fallbacks > 0);
    }
    Ok(tally)
}

/// Median over passes of the mean processor time per problem (ms).
fn median_ms(model: &mut CoulombPolyhedral, problems: &[ContactProblem], seconds: f64) -> Result<f64, InputError> {
    /// Passes at most; one at least.
    const PASSES: usize = 101;
    let mut times: Vec<f64> = Vec::new();
    while times.is_empty() || (times.len() < PASSES && times.iter().sum::<f64>() < seconds) {
        let (time, solved) = timed(|| {
            problems.iter().try_for_each(|problem| {
                let outcome = model.solve(problem)?;
                model.recycle(outcome);
                Ok::<(), InputError>(())
            })
        });
        solved?;
        times.push(time);
    }
    Ok(1e3 * median(times) / problems.len().max(1) as f64)
}

//! `stiction soak --model`: random contact problems by the thousand under the contact models.

use std::collections::BTreeMap;
use std::io::Write;

use indicatif::ProgressBar;
use serde::Serialize;
use stiction_contact::models::catalog;
use stiction_contact::scenes::{self, Recipe};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, InputError, Level, ModelOptions};

use crate::output::Failure;
use crate::soak::{FAILURES_SHOWN, add_methods, on_threads, print_methods};

/// Models that have a solution whenever some motion satisfies the rows: there anything else is a failure of the soak.
const ALWAYS_SOLVED: [&str; 3] = ["frictionless", "viscous", "no-slip"];

/// The model that has one too, but not where rows ask for speeds that friction resists.
const SOLVED_WITHOUT_RATES: &str = "coulomb-polyhedral";

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Problems.
    pub count: u64,
    /// First seed.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Velocity products, targets and bounces, with which a problem may be infeasible.
    pub rates: bool,
}

/// What came of one model.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    model: String,
    solved: u64,
    infeasible: u64,
    no_solution: u64,
    rays: u64,
    fallbacks: u64,
    pivots: u64,
    /// Solutions whose warm start solved the problem again at once.
    guessed: u64,
    /// The worst certificate.
    worst: f64,
    /// Problems settled by each method of a model that goes through several.
    settled_by: BTreeMap<&'static str, u64>,
    failures: Vec<Unsettled>,
}

/// A problem that was not settled.
#[derive(Debug, Serialize)]
struct Unsettled {
    seed: u64,
    why: String,
}

/// Runs the soak of one model.
pub(crate) fn run(model: &str, plan: &Plan, bar: &ProgressBar) -> Result<Tally, Failure> {
    let kind = model.parse()?;
    let build = || catalog::build(kind, &ModelOptions::default()).ok();
    let one = |method: &mut Box<dyn ContactModel>, k, tally: &mut Tally| {
        tally.one(method.as_mut(), plan.seed.wrapping_add(k), plan.rates);
    };
    let mut tally = on_threads(plan.threads, plan.count, bar, &build, &one, Tally::add);
    tally.failures.sort_by_key(|failure| failure.seed);
    tally.model = model.into();
    Ok(tally)
}

/// A problem with everything the model's law has a place for.
fn problem(model: &dyn ContactModel, seed: u64, rates: bool) -> Result<ContactProblem, InputError> {
    let name = model.name();
    let recipe = Recipe {
        coulomb: name.starts_with("coulomb") || name == "baraff-friction" || name == "drumwright-shell",
        moments: name == "coulomb-cone" && model.level() == Level::Velocity,
        viscous: name == "viscous",
        gaps: true,
        bilaterals: true,
        limits: true,
        bounded: true,
        rates,
        ..Recipe::PLAIN
    };
    match model.level() {
        Level::Velocity => scenes::random(&recipe, seed),
        Level::Acceleration => scenes::random_sliding(&recipe, seed),
    }
}

impl Tally {
    /// True if every problem was answered as it must be.
    pub(crate) fn is_well(&self, plan: &Plan) -> bool {
        let model = self.model.as_str();
        let must_solve = ALWAYS_SOLVED.contains(&model) || (model == SOLVED_WITHOUT_RATES && !plan.rates);
        !must_solve || self.failures.is_empty() && (plan.rates || self.infeasible == 0)
    }

    fn one(&mut self, model: &mut dyn ContactModel, seed: u64, rates: bool) {
        let solved = problem(model, seed, rates).and_then(|p| model.solve(&p).map(|outcome| (p, outcome)));
        match solved {
            Err(error) => self.failures.push(Unsettled { seed, why: format!("bad input: {error}") }),
            Ok((problem, ContactOutcome::Solved(solution))) => {
                self.solved += 1;
                let method = solution.stats.method.name;
                if !method.is_empty() {
                    *self.settled_by.entry(method).or_default() += 1;
                }
                self.fallbacks += solution.stats.fallbacks as u64;
                self.pivots += solution.stats.pivots as u64;
                self.worst = self.worst.max(solution.certificate.largest());
                let again = model.solve_from(&problem, Some(&solution.warm_start));
                let again = again.ok().and_then(|o| o.solved().map(|s| s.stats.pivots));
                self.guessed += u64::from(again == Some(0));
            }
            Ok((_, ContactOutcome::Infeasible(_))) => self.infeasible += 1,
            Ok((_, ContactOutcome::NoSolution(_))) => self.no_solution += 1,
            Ok((_, ContactOutcome::Ray(_))) => self.rays += 1,
            Ok((_, ContactOutcome::Failed(failure))) => self.failures.push(Unsettled { seed, why: failure.why }),
        }
    }

    fn add(&mut self, other: Tally) {
        self.solved += other.solved;
        self.infeasible += other.infeasible;
        self.no_solution += other.no_solution;
        self.rays += other.rays;
        self.fallbacks += other.fallbacks;
        self.pivots += other.pivots;
        self.guessed += other.guessed;
        self.worst = self.worst.max(other.worst);
        add_methods(&mut self.settled_by, other.settled_by);
        self.failures.extend(other.failures);
    }

    /// Prints a line, and the first problems that were not settled.
    pub(crate) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(
            out,
            "{:>20} {:>8} solved {:>6} proven infeasible {:>6} proven without solution {:>6} rays {:>5} failed   worst certificate {:.1e}   {:.1} pivots   {} fallbacks   {:.2} % again at once",
            self.model,
            self.solved,
            self.infeasible,
            self.no_solution,
            self.rays,
            self.failures.len(),
            self.worst,
            self.pivots as f64 / self.solved.max(1) as f64,
            self.fallbacks,
            100.0 * self.guessed as f64 / self.solved.max(1) as f64,
        )?;
        print_methods(&self.settled_by, out)?;
        for failure in self.failures.iter().take(FAILURES_SHOWN) {
            writeln!(out, "                     seed {}: {}", failure.seed, failure.why)?;
        }
        Ok(())
    }
}

//! `stiction soak`: random problems by the thousand, every answer checked.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::output::Failure;
use crate::soak_contact;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;
use stiction_lcp::generate::{self, Class};
use stiction_lcp::{Lcp, Options, Outcome, Solver, catalog, certify};

/// Solve random problems of the classes with a theorem, and of none; every one must be certified, or proven unsolvable.
#[derive(Debug, Args)]
pub(crate) struct SoakArgs {
    /// Problems per class.
    #[arg(long, default_value = "100000", value_parser = crate::run::count)]
    count: u64,
    /// First seed; problem k of a class has seed SEED + k.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Classes: psd, psd-skew, p, copositive-plus, contact, any. All by default.
    #[arg(long, value_delimiter = ',')]
    class: Vec<String>,
    /// Solvers to try.
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    solver: Vec<String>,
    /// Largest order (12 at most for class any, where the oracle has to keep up).
    #[arg(long, default_value_t = 60)]
    max_order: usize,
    /// Contact models to try on random contact problems, instead of solvers on complementarity problems.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    model: Vec<String>,
    /// With --model: velocity products, targets and bounces, with which a problem may be infeasible.
    #[arg(long, requires = "model")]
    rates: bool,
    /// Threads; 0 for all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Largest order of class `any`: all bases are tried there.
const ORACLE_ORDER: usize = 12;
/// Threads at most.
const MOST_THREADS: usize = 256;
/// Failures printed per class and solver, or model.
pub(crate) const FAILURES_SHOWN: usize = 10;

/// A problem that was not answered as it must be.
#[derive(Debug, Serialize)]
struct Unsettled {
    order: usize,
    seed: u64,
    why: String,
}

/// What came of one class with one solver.
#[derive(Debug, Default, Serialize)]
struct Tally {
    class: String,
    solver: String,
    solved: u64,
    unsolvable: u64,
    pivots: u64,
    /// The worst certificate.
    worst: f64,
    /// Problems settled by each method of a solver that tries several.
    settled_by: BTreeMap<&'static str, u64>,
    failures: Vec<Unsettled>,
}

/// Runs the soak. True if every problem was answered as it must be.
pub(crate) fn run(args: &SoakArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    if !args.model.is_empty() {
        return run_models(args, out);
    }
    let all: Vec<&str> = Class::ALL.iter().map(|c| c.name()).chain(["any"]).collect();
    let classes: Vec<&str> =
        if args.class.is_empty() { all.clone() } else { args.class.iter().map(String::as_str).collect() };
    if let Some(unknown) = classes.iter().find(|c| !all.contains(c)) {
        return Err(Failure::Message(format!("--class {unknown}: the classes are {}", all.join(", "))));
    }
    if args.max_order == 0 {
        return Err(Failure::Message("--max-order must be at least 1".into()));
    }
    let mut tallies = vec![];
    for class in classes {
        for solver in &args.solver {
            let tally = soak(class, solver, args)?;
            if !args.json {
                print(&tally, out)?;
                out.flush()?;
            }
            tallies.push(tally);
        }
    }
    let well = tallies.iter().all(|tally| tally.failures.is_empty());
    if args.json {
        writeln!(out, "{}", json!({ "ok": well, "seed": args.seed, "tallies": tallies }))?;
    }
    Ok(well)
}

/// The soak of the contact models.
fn run_models(args: &SoakArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let plan = soak_contact::Plan { count: args.count, seed: args.seed, threads: threads(args), rates: args.rates };
    let (mut well, mut tallies) = (true, vec![]);
    for model in &args.model {
        let tally = soak_contact::run(model, &plan, &progress(args.count, model.clone()))?;
        well &= tally.is_well(&plan);
        if !args.json {
            tally.print(out)?;
            out.flush()?;
        }
        tallies.push(tally);
    }
    if args.json {
        writeln!(out, "{}", json!({ "ok": well, "seed": args.seed, "tallies": tallies }))?;
    }
    Ok(well)
}

fn progress(count: u64, what: String) -> ProgressBar {
    let bar = ProgressBar::new(count);
    if let Ok(style) = ProgressStyle::with_template("{prefix:>24} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_prefix(what);
    bar
}

fn threads(args: &SoakArgs) -> usize {
    match args.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n.min(MOST_THREADS),
    }
}

/// Does `one` with the numbers below `count`, shared by threads that each `build` a solver, and adds up what they tell.
pub(crate) fn on_threads<S, T: Default + Send>(
    threads: usize,
    count: u64,
    bar: &ProgressBar,
    build: &(dyn Fn() -> Option<S> + Sync),
    one: &(dyn Fn(&mut S, u64, &mut T) + Sync),
    add: fn(&mut T, T),
) -> T {
    let (next, total) = (AtomicU64::new(0), Mutex::new(T::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let Some(mut solver) = build() else { return };
                let mut tally = T::default();
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= count {
                        break;
                    }
                    one(&mut solver, k, &mut tally);
                    bar.inc(1);
                }
                add(&mut total.lock().unwrap_or_else(PoisonError::into_inner), tally);
            });
        }
    });
    bar.finish_and_clear();
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Adds up how many problems each method settled.
pub(crate) fn add_methods(to: &mut BTreeMap<&'static str, u64>, other: BTreeMap<&'static str, u64>) {
    other.into_iter().for_each(|(method, count)| *to.entry(method).or_default() += count);
}

/// Prints how many problems each method settled, if that is known.
pub(crate) fn print_methods(methods: &BTreeMap<&'static str, u64>, out: &mut dyn Write) -> std::io::Result<()> {
    if methods.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> = methods.iter().map(|(method, count)| format!("{method} {count}")).collect();
    writeln!(out, "                 settled by: {}", counts.join(", "))
}

fn soak(class: &str, solver: &str, args: &SoakArgs) -> Result<Tally, Failure> {
    let build = || catalog::build(solver, &Options::default());
    build()?;
    let bar = progress(args.count, format!("{class} · {solver}"));
    let draw = |method: &mut Box<dyn Solver>, k, tally: &mut Tally| {
        one(class, method.as_mut(), args.max_order, args.seed.wrapping_add(k), tally);
    };
    let mut tally = on_threads(threads(args), args.count, &bar, &|| build().ok(), &draw, Tally::add);
    tally.failures.sort_by_key(|f| f.seed);
    (tally.class, tally.solver) = (class.into(), solver.into());
    Ok(tally)
}

/// Draws, solves and judges one problem.
fn one(class: &str, solver: &mut dyn Solver, max_order: usize, seed: u64, tally: &mut Tally) {
    let known = Class::ALL.iter().find(|c| c.name() == class);
    let most = if known.is_some() { max_order } else { max_order.min(ORACLE_ORDER) };
    let order = 1 + (seed % most as u64) as usize;
    let problem = match known {
        Some(class) => generate::random(*class, order, seed),
        None => generate::any(order, seed),
    };
    let judged = problem.and_then(|p| solver.solve_from((&p).into(), None).map(|o| (p, o)));
    match judged {
        Err(error) => tally.fail(order, seed, format!("bad input: {error}")),
        Ok((problem, outcome)) => tally.judge(&problem, &outcome, known.is_some(), order, seed),
    }
}

impl Tally {
    fn judge(&mut self, problem: &Lcp, outcome: &Outcome, has_theorem: bool, order: usize, seed: u64) {
        self.pivots += outcome.stats().pivots as u64;
        if let (Outcome::Solved(_) | Outcome::Unsolvable(_), Some(last)) = (outcome, outcome.stats().attempts.last()) {
            *self.settled_by.entry(last.solver).or_default() += 1;
        }
        match outcome {
            Outcome::Solved(solved) => {
                let mut w = vec![0.0; problem.n()];
                let certificate = certify(problem.into(), &solved.z, &mut w);
                self.worst = self.worst.max(certificate.worst());
                self.solved += 1;
                if !certificate.holds(Options::default().tolerance) {
                    self.fail(order, seed, format!("called solved, but {certificate}"));
                }
            }
            Outcome::Unsolvable(_) if has_theorem => {
                self.fail(order, seed, "called unsolvable, but has a solution".into())
            }
            Outcome::Unsolvable(u) if oracle_solves(problem) => {
                self.fail(order, seed, format!("called unsolvable ({}), but the oracle finds a solution", u.proof));
            }
            Outcome::Unsolvable(_) => self.unsolvable += 1,
            other => self.fail(order, seed, format!("not settled: {}", other.name())),
        }
    }

    fn fail(&mut self, order: usize, seed: u64, why: String) {
        self.failures.push(Unsettled { order, seed, why });
    }

    fn add(&mut self, other: Tally) {
        self.solved += other.solved;
        self.unsolvable += other.unsolvable;
        self.pivots += other.pivots;
        self.worst = self.worst.max(other.worst);
        add_methods(&mut self.settled_by, other.settled_by);
        self.failures.extend(other.failures);
    }
}

/// True if some complementary basis has a solution.
fn oracle_solves(problem: &Lcp) -> bool {
    let solved = |mut oracle: Box<dyn Solver>| oracle.solve_from(problem.into(), None).map(|o| o.solved().is_some());
    catalog::build("enumerate", &Options::default()).and_then(solved).unwrap_or(false)
}

fn print(tally: &Tally, out: &mut dyn Write) -> std::io::Result<()> {
    let count = tally.solved + tally.unsolvable + tally.failures.len() as u64;
    writeln!(
        out,
        "{:>16} {:<18} {:>8} solved {:>7} proven unsolvable {:>5} failed   worst certificate {:.1e}   {:.1} pivots",
        tally.class,
        tally.solver,
        tally.solved,
        tally.unsolvable,
        tally.failures.len(),
        tally.worst,
        tally.pivots as f64 / count.max(1) as f64,
    )?;
    if tally.solver == "auto" {
        print_methods(&tally.settled_by, out)?;
    }
    for failure in tally.failures.iter().take(FAILURES_SHOWN) {
        writeln!(out, "                 order {} seed {}: {}", failure.order, failure.seed, failure.why)?;
    }
    Ok(())
}

//! How the contact models grow with the number of contacts on one body: `cargo run --release --bin contact_growth` in `benchmarks/`.
//!
//! Prints medians over several problems per size, the slope of a log–log fit, and the last doubling. With `--once MODEL N` it solves one set of problems
//! and prints nothing, for counting instructions: `valgrind --tool=callgrind …/contact_growth --once no-slip 4096` (in a build without
//! `target-cpu=native`). `--build MODEL N` only builds its problems, to be subtracted.

use cpu_time::ThreadTime;

use stiction_contact::models::{Frictionless, NoSlip, NoSlipOptions, NormalOptions, NormalSolver, Viscous};
use stiction_contact::{ContactModel, ContactProblem, Level, scenes};

const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
const PROBLEMS: u64 = 11;
const CALLS: usize = 3;

/// A name, the model, and one body of six degrees of freedom with n contacts, all different, by its seed.
type Entry = (&'static str, fn() -> Box<dyn ContactModel>, fn(usize, u64) -> ContactProblem);

/// The models: add one by a line. In the bowl contacts without slip hold the body fast; on the floor its normals are left to find.
const MODELS: [Entry; 7] = [
    ("frictionless", || Box::new(Frictionless::new(Level::Velocity, NormalOptions::default())), bowl),
    ("frictionless-ppm", || Box::new(Frictionless::new(Level::Velocity, ppm())), bowl),
    ("frictionless-acceleration", || Box::new(Frictionless::new(Level::Acceleration, NormalOptions::default())), bowl),
    ("viscous", || Box::new(Viscous::new(Level::Velocity, NormalOptions::default())), bowl),
    ("viscous-acceleration", || Box::new(Viscous::new(Level::Acceleration, NormalOptions::default())), bowl),
    ("no-slip", || Box::new(NoSlip::new(NoSlipOptions::default())), floor),
    ("no-slip-bowl", || Box::new(NoSlip::new(NoSlipOptions::default())), bowl),
];

fn bowl(n: usize, seed: u64) -> ContactProblem {
    scenes::body_in_bowl(n, 0.3, 0.5, seed).expect("valid")
}

fn floor(n: usize, seed: u64) -> ContactProblem {
    scenes::body_on_floor(n, seed).expect("valid")
}

fn ppm() -> NormalOptions {
    NormalOptions { solver: NormalSolver::ModifiedPpm, ..Default::default() }
}

/// Seconds of each solve of `problem`, and its pivots.
fn measure(model: &mut dyn ContactModel, problem: &ContactProblem, times: &mut Vec<f64>) -> usize {
    let mut pivots = 0;
    for call in 0..=CALLS {
        let start = ThreadTime::now();
        let outcome = model.solve(problem).expect("a problem of this kind");
        let time = start.elapsed().as_secs_f64();
        let solution = outcome.solved().expect("every problem is solved");
        // The first call warms up.
        if call == 0 {
            pivots = solution.stats.pivots;
        } else {
            times.push(time);
        }
    }
    pivots
}

/// The slope of the least squares line through (ln n, ln t).
fn slope(times: &[f64]) -> f64 {
    let x: Vec<f64> = SIZES.iter().map(|n| (*n as f64).ln()).collect();
    let y: Vec<f64> = times.iter().map(|t| t.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let top: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    top / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

/// Sizes take turns, so that a change of the processor's clock meets all of them.
fn growth((name, make, problem): Entry) {
    println!("{name}, m = 6");
    let mut model = make();
    let mut times = vec![Vec::new(); SIZES.len()];
    let mut pivots = vec![0; SIZES.len()];
    for seed in 0..PROBLEMS {
        for (k, n) in SIZES.into_iter().enumerate() {
            pivots[k] += measure(model.as_mut(), &problem(n, seed), &mut times[k]);
        }
    }
    let mut medians = Vec::new();
    for (k, n) in SIZES.into_iter().enumerate() {
        times[k].sort_by(f64::total_cmp);
        let (time, pivots) = (times[k][times[k].len() / 2], pivots[k] as f64 / PROBLEMS as f64);
        println!(
            "  n = {n:5}  {:9.2} µs  {:6.3} µs per contact  {pivots:5.1} pivots",
            1e6 * time,
            1e6 * time / n as f64
        );
        medians.push(time);
    }
    println!("  slope {:.3}, last doubling {:.3}", slope(&medians), (medians[6] / medians[5]).log2());
}

/// The entry of this name.
fn named(name: &str) -> Entry {
    *MODELS.iter().find(|(known, ..)| *known == name).expect("a known model")
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let problems = |problem: fn(usize, u64) -> ContactProblem, n: &str| {
        let n = n.parse().expect("a number of contacts");
        (0..PROBLEMS).map(move |seed| problem(n, seed))
    };
    match args.as_slice() {
        ["--build", name, n] => assert_eq!(problems(named(name).2, n).count() as u64, PROBLEMS),
        ["--once", name, n] => {
            let (_, make, problem) = named(name);
            let mut model = make();
            for problem in problems(problem, n) {
                assert!(model.solve(&problem).expect("a problem of this kind").solved().is_some());
            }
        }
        [] => MODELS.into_iter().for_each(growth),
        names => names.iter().for_each(|name| growth(named(name))),
    }
}

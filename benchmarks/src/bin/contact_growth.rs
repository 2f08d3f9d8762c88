//! How the contact models grow with the number of contacts on one body: `cargo run --release --bin contact_growth` in `benchmarks/`.
//!
//! Prints medians over several problems per size, the slope of a log–log fit, and the last doubling. With `--once MODEL N` it solves one set of problems
//! and prints nothing, for counting instructions: `valgrind --tool=callgrind …/contact_growth --once no-slip 4096` (in a build without
//! `target-cpu=native`). `--build N` only builds the problems, to be subtracted.

use cpu_time::ThreadTime;

use stiction_contact::models::{Frictionless, NoSlip, NoSlipOptions, NormalOptions, NormalSolver, Viscous};
use stiction_contact::{ContactModel, ContactProblem, Level, scenes};

const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
const PROBLEMS: u64 = 11;
const CALLS: usize = 3;

/// A name, and the model.
type Entry = (&'static str, fn() -> Box<dyn ContactModel>);

/// The models: add one by a line.
const MODELS: [Entry; 6] = [
    ("frictionless", || Box::new(Frictionless::new(Level::Velocity, NormalOptions::default()))),
    ("frictionless-ppm", || Box::new(Frictionless::new(Level::Velocity, ppm()))),
    ("frictionless-acceleration", || Box::new(Frictionless::new(Level::Acceleration, NormalOptions::default()))),
    ("viscous", || Box::new(Viscous::new(Level::Velocity, NormalOptions::default()))),
    ("viscous-acceleration", || Box::new(Viscous::new(Level::Acceleration, NormalOptions::default()))),
    ("no-slip", || Box::new(NoSlip::new(NoSlipOptions::default()))),
];

fn ppm() -> NormalOptions {
    NormalOptions { solver: NormalSolver::ModifiedPpm, ..Default::default() }
}

/// One body of six degrees of freedom and n contacts, all different.
fn problems(n: usize) -> Vec<ContactProblem> {
    (0..PROBLEMS).map(|seed| scenes::body_in_bowl(n, 0.3, 0.5, seed).expect("valid")).collect()
}

/// Median seconds of a solve, and mean pivots.
fn measure(model: &mut dyn ContactModel, problems: &[ContactProblem]) -> (f64, f64) {
    let mut pivots = 0;
    let mut times: Vec<f64> = Vec::new();
    for problem in problems {
        for call in 0..=CALLS {
            let start = ThreadTime::now();
            let outcome = model.solve(problem).expect("a problem of this kind");
            let time = start.elapsed().as_secs_f64();
            let solution = outcome.solved().expect("every problem is solved");
            if call == 0 {
                pivots += solution.stats.pivots;
            } else {
                times.push(time);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], pivots as f64 / problems.len() as f64)
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

fn growth(name: &str, model: &mut dyn ContactModel) {
    println!("{name}, m = 6");
    let mut times = Vec::new();
    for n in SIZES {
        let (time, pivots) = measure(model, &problems(n));
        println!(
            "  n = {n:5}  {:9.2} µs  {:6.3} µs per contact  {pivots:5.1} pivots",
            1e6 * time,
            1e6 * time / n as f64
        );
        times.push(time);
    }
    println!("  slope {:.3}, last doubling {:.3}", slope(&times), (times[6] / times[5]).log2());
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["--build", n] => assert_eq!(problems(n.parse().expect("a number of contacts")).len() as u64, PROBLEMS),
        ["--once", name, n] => {
            let make = MODELS.iter().find(|(known, _)| known == name).expect("a known model").1;
            let mut model = make();
            for problem in problems(n.parse().expect("a number of contacts")) {
                assert!(model.solve(&problem).expect("a problem of this kind").solved().is_some());
            }
        }
        names => {
            for (name, make) in MODELS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
                growth(name, make().as_mut());
            }
        }
    }
}

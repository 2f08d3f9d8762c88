//! Lloyd's three methods on polyhedral Coulomb friction: `cargo run --release --bin lloyd_growth` in `benchmarks/`.
//!
//! Prints the peg-in-hole comparison (d = 8, medians of one run, and the ratios) and how structural and reduced grow with the number of contacts on
//! one body (m = 6), with the slope of a log–log fit and the last doubling. With `--once METHOD N` it solves one set of problems of each family and prints
//! nothing, for counting instructions: build with `RUSTFLAGS="-C target-cpu=x86-64"` and run `valgrind --tool=callgrind …/lloyd_growth --once reduced 4096`;
//! `--once none N` builds the same problems and solves none, to be subtracted.

use cpu_time::ThreadTime;
use stiction_benchmarks::median_us;
use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method, PolyhedralOptions};
use stiction_contact::{ContactModel, ContactProblem, scenes};

const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// Structural pivots are O(n) and each costs O(n): up to here in one run.
const STRUCTURAL: usize = 4;
const PROBLEMS: u64 = 15;
const MU: f64 = 0.25;

fn model(method: Method) -> CoulombPolyhedral {
    CoulombPolyhedral::new(PolyhedralOptions { method, ..PolyhedralOptions::default() }).expect("valid options")
}

fn problem(family: &str, n: usize, seed: u64) -> ContactProblem {
    match family {
        "bowl" => scenes::body_in_bowl(n, MU, 0.0, seed),
        _ => scenes::peg_in_hole(n, MU, seed),
    }
    .expect("a valid scene")
}

/// Solves all problems once; returns pivots and fallbacks.
fn solve_all(model: &mut CoulombPolyhedral, problems: &[ContactProblem]) -> (usize, usize) {
    problems.iter().fold((0, 0), |sum, p| {
        let outcome = model.solve(p).expect("a problem of this kind");
        let stats = &outcome.solved().expect("every problem is solved").stats;
        (sum.0 + stats.pivots, sum.1 + stats.fallbacks)
    })
}

/// The slope of the least squares line through (ln n, ln t).
fn slope(sizes: &[usize], times: &[f64]) -> f64 {
    let x: Vec<f64> = sizes.iter().map(|n| (*n as f64).ln()).collect();
    let y: Vec<f64> = times.iter().map(|t| t.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let top: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    top / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

fn growth(name: &str, method: Method, family: &str, sizes: &[usize]) {
    let mut model = model(method);
    let mut times = Vec::new();
    println!("{name}, {family}, m = 6, d = 8");
    for &n in sizes {
        let problems: Vec<_> = (0..PROBLEMS).map(|seed| problem(family, n, seed)).collect();
        let (pivots, fallbacks) = solve_all(&mut model, &problems);
        let time = if method == Method::Reduced {
            median_us(|| _ = solve_all(&mut model, &problems)) / PROBLEMS as f64
        } else {
            let start = ThreadTime::now();
            solve_all(&mut model, &problems);
            start.elapsed().as_secs_f64() * 1e6 / PROBLEMS as f64
        };
        println!("  n = {n:5}  {time:11.1} µs  {:7.1} pivots  {fallbacks} fallbacks", pivots as f64 / PROBLEMS as f64);
        times.push(time);
    }
    let last = (times[times.len() - 1] / times[times.len() - 2]).log2();
    println!("  slope {:.3}, last doubling {last:.3}", slope(sizes, &times));
}

fn peg_in_hole() {
    println!("peg-in-hole, d = 8, median µs per solve");
    for n in [8, 16, 24, 32] {
        let problems: Vec<_> = (0..20).map(|seed| problem("peg", n, seed)).collect();
        let time = |method: Method| {
            let mut model = model(method);
            median_us(|| _ = solve_all(&mut model, &problems)) / problems.len() as f64
        };
        let [standard, structural, reduced] = [Method::Standard, Method::Structural, Method::Reduced].map(time);
        println!(
            "  n = {n:2}  standard {standard:8.1}  structural {structural:7.1}  reduced {reduced:6.1}  standard/reduced {:.1}",
            standard / reduced
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [once, name, n] = args.as_slice()
        && once == "--once"
    {
        let n = n.parse().expect("a number of contacts");
        let method = match name.as_str() {
            "standard" => Some(Method::Standard),
            "structural" => Some(Method::Structural),
            "reduced" => Some(Method::Reduced),
            _ => None,
        };
        for family in ["bowl", "peg"] {
            let problems: Vec<_> = (0..PROBLEMS).map(|seed| problem(family, n, seed)).collect();
            if let Some(method) = method {
                solve_all(&mut model(method), &problems);
            }
        }
        return;
    }
    peg_in_hole();
    for family in ["bowl", "peg"] {
        growth("reduced", Method::Reduced, family, &SIZES);
        growth("structural", Method::Structural, family, &SIZES[..STRUCTURAL]);
    }
}

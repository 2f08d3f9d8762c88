//! How the factored methods grow with the number of columns: `cargo run --release --bin growth` in `benchmarks/`.
//!
//! Prints medians over several problems per size, the slope of a log–log fit, and the last doubling. With `--once NAME FAMILY N` it solves one
//! set of problems and prints nothing, for counting instructions: `valgrind --tool=callgrind …/growth --once nnls random 4096`.

use cpu_time::ThreadTime;

use stiction_lcp::generate::Rng;
use stiction_lcp::nnls::Nnls;
use stiction_lcp::principal_pivot::ModifiedPpm;
use stiction_lcp::{FactoredLcp, Matrix, Options, Solver};

const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
const PROBLEMS: u64 = 31;
const CALLS: usize = 5;

/// Columns of normal numbers.
fn random(m: usize, n: usize, seed: u64) -> FactoredLcp {
    let mut rng = Rng::new(seed);
    let g = Matrix::from_fn(m, n, |_, _| rng.normal());
    let u = (0..m).map(|_| rng.normal()).collect();
    FactoredLcp::least_squares(g, u).expect("finite")
}

/// Contacts all over the lower half of one rigid body, falling and turning: wrenches over the root of the inertia.
fn contact(n: usize, seed: u64) -> FactoredLcp {
    let mut rng = Rng::new(seed);
    let inertia = [1.0, 1.0, 1.0, 0.1, 0.12, 0.08f64];
    let mut g = Matrix::zeros(6, n);
    for j in 0..n {
        let normal = [0.2 * rng.normal(), 0.2 * rng.normal(), 1.0];
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let d = normal.map(|x| x / length);
        let p = [rng.uniform() - 0.5, 0.6 * (rng.uniform() - 0.5), -0.2 - 0.1 * rng.uniform()];
        let torque = [p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0]];
        let wrench = [d[0], d[1], d[2], torque[0], torque[1], torque[2]];
        for i in 0..6 {
            g[(i, j)] = wrench[i] / inertia[i].sqrt();
        }
    }
    let v = [0.3, -0.2, -1.0, 0.5 * rng.normal(), 0.5 * rng.normal(), 0.5 * rng.normal()];
    let u = v.iter().zip(&inertia).map(|(v, m)| v * m.sqrt()).collect();
    FactoredLcp::least_squares(g, u).expect("finite")
}

fn problem(family: &str, n: usize, seed: u64) -> FactoredLcp {
    if family == "contact" { contact(n, seed) } else { random(6, n, seed) }
}

/// Median seconds of a solve, and mean pivots.
fn measure(solver: &mut impl Solver, problems: &[FactoredLcp]) -> (f64, f64) {
    let mut pivots = 0;
    let mut times: Vec<f64> = Vec::new();
    for p in problems {
        for call in 0..=CALLS {
            let start = ThreadTime::now();
            let outcome = solver.solve_from(p.into(), None).expect("a problem of this kind");
            let time = start.elapsed().as_secs_f64();
            assert!(outcome.solved().is_some(), "every problem is solved");
            if call == 0 {
                pivots += outcome.stats().pivots;
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

fn growth(name: &str, solver: &mut impl Solver, family: &str) {
    let mut times = Vec::new();
    println!("{name}, {family}, m = 6");
    for n in SIZES {
        let problems: Vec<_> = (0..PROBLEMS).map(|seed| problem(family, n, seed)).collect();
        let (time, pivots) = measure(solver, &problems);
        println!("  n = {n:5}  {:9.2} µs  {pivots:5.1} pivots", 1e6 * time);
        times.push(time);
    }
    let last = (times[6] / times[5]).log2();
    println!("  slope {:.3}, last doubling {last:.3}", slope(&times));
}

fn large(name: &str, solver: &mut impl Solver) {
    let full: Vec<_> = (0..5).map(|seed| random(60, 400, seed)).collect();
    let deficient: Vec<_> = (0..5).map(rank_40_of_60).collect();
    for (what, problems) in [("60 × 400", &full), ("60 × 60 of rank 40", &deficient)] {
        let (time, pivots) = measure(solver, problems);
        println!("{name}, {what}: {:.2} ms, {pivots:.1} pivots", 1e3 * time);
    }
}

fn rank_40_of_60(seed: u64) -> FactoredLcp {
    let mut rng = Rng::new(seed);
    let left = Matrix::from_fn(60, 40, |_, _| rng.normal());
    let mut g = Matrix::zeros(60, 60);
    for j in 0..60 {
        let weights: Vec<f64> = (0..40).map(|_| rng.normal()).collect();
        left.mul_into(&weights, g.col_mut(j));
    }
    let u = (0..60).map(|_| rng.normal()).collect();
    FactoredLcp::least_squares(g, u).expect("finite")
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut nnls = Nnls::new(Options::default());
    let mut ppm = ModifiedPpm::new(Options::default());
    if let [once, name, family, n] = args.as_slice()
        && once == "--once"
    {
        let n = n.parse().expect("a number of columns");
        for seed in 0..PROBLEMS {
            let p = problem(family, n, seed);
            let outcome = if name == "nnls" { nnls.solve(&p) } else { ppm.solve(&p) };
            assert!(outcome.expect("a problem of this kind").solved().is_some());
        }
        return;
    }
    for family in ["random", "contact"] {
        growth("nnls", &mut nnls, family);
        growth("modified-ppm", &mut ppm, family);
    }
    large("nnls", &mut nnls);
    large("modified-ppm", &mut ppm);
}

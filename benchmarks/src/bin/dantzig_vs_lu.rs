//! Baraff's comparison: the driving method against Gaussian elimination of the same order.
//!
//! `cargo run --release --bin dantzig_vs_lu` in `benchmarks/` prints, for each order and for half and all rows
//! active at the solution, the median time of `Dantzig` (a whole certified solve), of an unblocked LU with partial
//! pivoting (factor and solve, in its own storage), of faer's blocked LU, and the ratios. The three take turns on the
//! same matrix, so that the noise of the machine falls on all of them. With `count ORDER all|half dantzig|lu REPEATS`
//! it runs one of them only, for an instruction counter.

use cpu_time::ThreadTime;
use std::hint::black_box;

use faer::linalg::solvers::Solve;
use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::{Lcp, Matrix, Options, Solver};
use stiction_papers::baraff::elimination::Elimination;
use stiction_papers::baraff::problems::random;

const ORDERS: [usize; 6] = [10, 24, 50, 100, 200, 400];
const WARM_UP: usize = 3;
/// Problems per line.
const PROBLEMS: u64 = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "count") {
        return count(&arguments[1..]);
    }
    println!("width  order  active  pivots  dantzig µs     lu µs   faer µs  dantzig/lu  dantzig/faer");
    for width in [2, 1] {
        for half in [true, false] {
            for n in ORDERS {
                compare(n, width, half);
            }
        }
    }
}

/// One line of the table; times are those of [`PROBLEMS`] problems together, divided by their number.
fn compare(n: usize, width: usize, half: bool) {
    let problems: Vec<Lcp> = (0..PROBLEMS).map(|seed| random(n, width, half, seed).expect("finite")).collect();
    let mut dantzig = Dantzig::new(Options::default());
    let mut elimination = Elimination::default();
    let (mut active, mut pivots) = (0, 0);
    for lcp in &problems {
        let outcome = dantzig.solve(lcp).expect("an lcp");
        let solved = outcome.solved().expect("positive definite");
        active += solved.basis.active().count();
        pivots += solved.stats.pivots;
    }
    let repeats = (60_000_000 / (n * n * n + 20_000)).clamp(31, 1001);
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..WARM_UP + repeats {
        let mut sums = [0.0; 3];
        for lcp in &problems {
            let (m, q) = (lcp.m(), lcp.q());
            sums[0] += time(|| drop(black_box(dantzig.solve(black_box(lcp)))));
            sums[1] += time(|| _ = black_box(elimination.solve(black_box(m), black_box(q)).len()));
            sums[2] += time(|| drop(black_box(blocked(black_box(m), black_box(q)))));
        }
        if round >= WARM_UP {
            for (all, sum) in times.iter_mut().zip(sums) {
                all.push(sum / PROBLEMS as f64);
            }
        }
    }
    let [d, l, f] = times.map(median);
    let (active, pivots) = (active as f64 / PROBLEMS as f64, pivots as f64 / PROBLEMS as f64);
    println!(
        "{width:5}  {n:5}  {active:6.1}  {pivots:6.1}  {d:10.2}  {l:8.2}  {f:8.2}  {:10.2}  {:12.2}",
        d / l,
        d / f
    );
}

fn count(arguments: &[String]) {
    let n: usize = arguments[0].parse().expect("an order");
    let lcp = random(n, 2, arguments[1] == "half", 0).expect("finite");
    let repeats: usize = arguments[3].parse().expect("a number of repeats");
    let mut dantzig = Dantzig::new(Options::default());
    let mut elimination = Elimination::default();
    for _ in 0..repeats {
        if arguments[2] == "lu" {
            black_box(elimination.solve(black_box(lcp.m()), black_box(lcp.q())).len());
        } else {
            drop(black_box(dantzig.solve(black_box(&lcp))));
        }
    }
}

/// Microseconds.
fn time(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn blocked(m: &Matrix, q: &[f64]) -> faer::Mat<f64> {
    let view = faer::MatRef::from_column_major_slice(m.as_slice(), m.rows(), m.cols());
    let lu = view.partial_piv_lu();
    lu.solve(faer::Mat::from_fn(q.len(), 1, |i, _| q[i]))
}

//! Steps under the exact cone: `cargo run --release --bin cone_steps` in `benchmarks/`.
//!
//! Per scene: a step from nothing, steps from the last one's modes and forces while the forces change slowly (median of the processor time, certificate included), and how many of
//! those steps the guess solved. The slopes at the end are of the median over the number of bodies.

use cpu_time::ThreadTime;

use stiction_contact::scenes::{self, piles};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, CoulombCone, InputError};

/// Steps per scene.
const STEPS: usize = 300;
/// Steps before anything is timed.
const SETTLING: usize = 50;
/// Forces of the slow wave (N, N m).
const WAVE: f64 = 0.1;

fn main() -> Result<(), InputError> {
    println!("scene            m contacts    cold µs    step µs   guessed   worst certificate");
    let dt = 1e-3;
    run("grasp-2", &mut scenes::grasp(2, 100.0, dt)?)?;
    run("quadruped", &mut piles::quadruped(0.8, dt, 1)?)?;
    let mut stacks = Vec::new();
    for n in [5, 10, 20, 50, 100] {
        stacks.push((n, run(&format!("stack-{n}"), &mut piles::stack(n, 0.5, dt)?)?));
    }
    let mut pyramids = Vec::new();
    for base in [3, 5, 10, 15] {
        let time = run(&format!("pyramid-{base}"), &mut piles::pyramid(base, 0.5, dt)?)?;
        pyramids.push((base * (base + 1) / 2, time));
    }
    for (name, times) in [("stack", stacks), ("pyramid", pyramids)] {
        let [first, .., last] = times[..] else { continue };
        let slope = (last.1 / first.1).ln() / (last.0 as f64 / first.0 as f64).ln();
        println!("{name}: slope {slope:.2} from {} to {} bodies", first.0, last.0);
    }
    Ok(())
}

/// Steps one scene and prints its line; gives the median time of a step.
fn run(name: &str, problem: &mut ContactProblem) -> Result<f64, InputError> {
    let mut model = CoulombCone::default();
    let still = problem.force().to_vec();
    let mut force = still.clone();
    let (mut last, mut times, mut cold, mut guessed, mut worst) = (None::<ContactOutcome>, Vec::new(), 0.0, 0, 0.0f64);
    for step in 0..SETTLING + STEPS {
        let v = last.as_ref().and_then(|o| o.solved()).map_or(problem.v().to_vec(), |s| s.motion.clone());
        for (j, (f, still)) in force.iter_mut().zip(&still).enumerate() {
            let phase = ((step + 37 * j) % 200) as f64 / 100.0 - 1.0;
            *f = still + WAVE * (1.0 - 2.0 * phase * phase);
        }
        problem.set_motion(&v, &force)?;
        let start = last.as_ref().and_then(|o| o.solved()).map(|s| &s.warm_start);
        let clock = ThreadTime::now();
        let outcome = model.solve_from(problem, start)?;
        let time = clock.elapsed().as_secs_f64() * 1e6;
        match outcome.solved() {
            Some(solution) if step >= SETTLING => {
                times.push(time);
                guessed += usize::from(solution.stats.guessed == solution.stats.islands);
                worst = worst.max(solution.certificate.largest());
            }
            Some(_) => cold = if step == 0 { time } else { cold },
            None => println!("{name}, step {step}: {}", outcome.name()),
        }
        if let Some(old) = last.replace(outcome) {
            model.recycle(old);
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let (m, n) = (problem.m(), problem.contacts().len());
    println!(
        "{name:<12} {m:5} {n:8} {cold:10.1} {median:10.1} {:8.1}% {worst:19.1e}",
        100.0 * guessed as f64 / STEPS as f64
    );
    Ok(median)
}

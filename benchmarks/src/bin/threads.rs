//! How much of two cores one simulation uses: `cargo run --release --bin threads` in `benchmarks/`.
//!
//! One simulation of many equal islands on several threads, beside as many simulations of the same
//! scene at the same time, each on one thread of its own. Their throughput together is what the
//! machine has to give at that moment; the ratio is the part of it that one simulation gets. They
//! take turns, and the ratio is the median over the turns.
//!
//! `threads [--scene NAME] [--set NAME=VALUE]... [--threads N] [--steps N] [--warm-up N] [--turns N]`

use std::path::PathBuf;
use std::time::Instant;

use stiction_sim::{Scene, Simulation};

struct Options {
    scene: String,
    set: Vec<(String, f64)>,
    threads: usize,
    steps: usize,
    warm_up: usize,
    turns: usize,
}

fn main() {
    let options = options();
    let mut one = warm(&options, options.threads);
    let mut copies: Vec<Simulation> = (0..options.threads).map(|_| warm(&options, 1)).collect();
    let start = one.snapshot();
    let mut ratios = Vec::new();
    println!("turn  one simulation (steps/s)  {} copies together (steps/s)  ratio", options.threads);
    for turn in 0..options.turns {
        let clock = Instant::now();
        run(&mut one, options.steps);
        let shared = options.steps as f64 / clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        std::thread::scope(|scope| {
            copies.iter_mut().for_each(|copy| drop(scope.spawn(|| run(copy, options.steps))));
        });
        let apart = (options.threads * options.steps) as f64 / clock.elapsed().as_secs_f64();
        ratios.push(shared / apart);
        println!("{turn:4}  {shared:24.1}  {apart:27.1}  {:.3}", shared / apart);
        for simulation in copies.iter_mut().chain([&mut one]) {
            simulation.restore(&start).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
}

fn options() -> Options {
    let mut options = Options { scene: "heaps".into(), set: vec![], threads: 2, steps: 60, warm_up: 60, turns: 9 };
    let args: Vec<String> = std::env::args().skip(1).collect();
    for pair in args.chunks(2) {
        let [name, value] = pair else { panic!("{} needs a value", pair[0]) };
        let number = |text: &str| text.parse::<f64>().unwrap_or_else(|e| panic!("{name} {text}: {e}"));
        match name.as_str() {
            "--scene" => options.scene.clone_from(value),
            "--set" => {
                let (key, x) = value.split_once('=').unwrap_or_else(|| panic!("--set expects NAME=VALUE"));
                options.set.push((key.into(), number(x)));
            }
            "--threads" => options.threads = number(value) as usize,
            "--steps" => options.steps = number(value) as usize,
            "--warm-up" => options.warm_up = number(value) as usize,
            "--turns" => options.turns = number(value) as usize,
            _ => panic!("unknown option {name}"),
        }
    }
    options
}

/// The simulation after the steps that are not measured.
fn warm(options: &Options, threads: usize) -> Simulation {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(format!("{}.toml", options.scene));
    let mut scene = Scene::load(&path, &options.set).unwrap_or_else(|e| panic!("{e}"));
    (scene.settings.threads, scene.settings.sleeping) = (Some(threads), false);
    let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    run(&mut simulation, options.warm_up);
    simulation
}

fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
}

//! The Rust side of `benchmarks/python_overhead.py`: `python_overhead PROBLEM.json SCENE.toml` reads lines such as `step 10 50` and answers each with
//! the processor time (µs) of a call, after 10 that do not count, over 50 that do. Python asks for a block, does one itself, and compares.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;

use cpu_time::ProcessTime;
use stiction::lcp::io::{ReadOptions, read};
use stiction::lcp::{Lcp, Problem};
use stiction::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, scene] = arguments.as_slice() else {
        return Err("usage: python_overhead PROBLEM.json SCENE.toml".into());
    };
    let Problem::Lcp(problem) = read(Path::new(problem), &ReadOptions::default())?.problem else {
        return Err("the file holds no LCP".into());
    };
    let mut solver = Auto::new(Options::default());
    let mut scene = Scene::load(Path::new(scene), &[])?;
    scene.settings.sleeping = false;
    let mut simulation = scene.simulation()?;
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [what, warm, calls] = words.as_slice() else { return Err(format!("not understood: {line}").into()) };
        let (warm, calls) = (warm.parse()?, calls.parse()?);
        let time = match *what {
            "solve" => block(warm, calls, || drop(black_box(solver.solve(black_box(&problem))))),
            "build_and_solve" => block(warm, calls, || {
                let built = Lcp::new(black_box(problem.m()).clone(), black_box(problem.q()).to_vec());
                drop(black_box(built.and_then(|p| solver.solve(&p))));
            }),
            _ => block(warm, calls, || drop(black_box(simulation.step()))),
        };
        println!("{time}");
        stdout().flush()?;
    }
    Ok(())
}

/// Mean processor time of a call (µs), after some that do not count.
fn block(warm: u32, calls: u32, mut call: impl FnMut()) -> f64 {
    (0..warm).for_each(|_| call());
    let clock = ProcessTime::now();
    (0..calls).for_each(|_| call());
    clock.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

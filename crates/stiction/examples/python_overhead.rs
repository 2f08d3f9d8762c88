//! The Rust side of `benchmarks/python_overhead.py`: processor time per solve of a problem file and per step of a scene, as JSON.
//! `python_overhead PROBLEM.json SCENE.toml CHUNKS CALLS`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::Path;

use cpu_time::ProcessTime;
use stiction::lcp::io::{ReadOptions, read};
use stiction::lcp::{Lcp, Problem};
use stiction::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, scene, chunks, calls] = arguments.as_slice() else {
        return Err("usage: python_overhead PROBLEM.json SCENE.toml CHUNKS CALLS".into());
    };
    let (chunks, calls): (usize, u32) = (chunks.parse()?, calls.parse()?);
    let Problem::Lcp(problem) = read(Path::new(problem), &ReadOptions::default())?.problem else {
        return Err("the file holds no LCP".into());
    };
    let mut solver = Auto::new(Options::default());
    let solve = smallest(chunks, calls, || drop(black_box(solver.solve(black_box(&problem)))));
    let build = smallest(chunks, calls, || {
        let built = Lcp::new(black_box(problem.m()).clone(), black_box(problem.q()).to_vec());
        drop(black_box(built.and_then(|p| solver.solve(&p))));
    });
    let mut simulation = Scene::load(Path::new(scene), &[])?.simulation()?;
    let step = smallest(chunks, calls, || drop(black_box(simulation.step())));
    println!("{{\"solve\": {solve}, \"build_and_solve\": {build}, \"step\": {step}}}");
    Ok(())
}

/// Smallest over the chunks of the mean processor time of a call (µs): what is left when nothing else disturbs.
fn smallest(chunks: usize, calls: u32, mut call: impl FnMut()) -> f64 {
    let chunk = |_| {
        let clock = ProcessTime::now();
        (0..calls).for_each(|_| call());
        clock.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
    };
    (0..chunks).map(chunk).fold(f64::INFINITY, f64::min)
}

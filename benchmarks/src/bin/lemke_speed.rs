//! Times `Lemke` on problem files: `lemke_speed FILE…` prints `name n outcome pivots µs` per file. Called by `lemke_vs_peers.py`.

use std::path::PathBuf;

use stiction_benchmarks::median_us;
use stiction_lcp::{Lemke, Options, Solver, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1).map(PathBuf::from) {
        let problem = io::read(&path, &io::ReadOptions::default())?.problem;
        let mut solver = Lemke::new(Options::default());
        let outcome = solver.solve(&problem)?;
        let us = median_us(|| {
            let _ = std::hint::black_box(solver.solve(&problem));
        });
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name} {} {} {} {us:.2}", problem.as_ref().n(), outcome.name(), outcome.stats().pivots);
    }
    Ok(())
}

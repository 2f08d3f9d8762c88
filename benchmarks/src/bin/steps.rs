//! Time per simulated step by phase: `cargo run --release --bin steps [-- --json]` in `benchmarks/`.
//!
//! Each scene is simulated on one thread with the default model, certificate included, nothing recorded. After a warm-up the steps are timed in chunks; the chunk with the
//! median time is printed, with its phases.

use std::path::PathBuf;

use cpu_time::ThreadTime;
use stiction_sim::{Scene, Simulation};

/// Chunks that the timed steps are divided into.
const CHUNKS: usize = 21;

struct Case {
    name: &'static str,
    set: &'static [(&'static str, f64)],
    warm_up: usize,
    chunk: usize,
}

const CASES: [Case; 5] = [
    Case { name: "grasp", set: &[("n", 2.0)], warm_up: 200, chunk: 200 },
    Case { name: "quad-flat", set: &[], warm_up: 1000, chunk: 200 },
    Case { name: "quad-terrain", set: &[], warm_up: 1000, chunk: 200 },
    Case { name: "stack", set: &[("n", 50.0)], warm_up: 20, chunk: 10 },
    Case { name: "pyramid", set: &[("base", 10.0)], warm_up: 20, chunk: 5 },
];

fn main() {
    let json = std::env::args().any(|a| a == "--json");
    if !json {
        println!(
            "scene         dof contacts     µs/step   dynamics collision assembly    solve certificate projection   guessed"
        );
    }
    for case in &CASES {
        match run(case) {
            Ok(line) => println!("{}", if json { line.json() } else { line.text() }),
            Err(message) => println!("{}: {message}", case.name),
        }
    }
}

struct Line {
    name: &'static str,
    dof: usize,
    contacts: usize,
    micros: f64,
    phases: [f64; 6],
    guessed: f64,
}

impl Line {
    fn text(&self) -> String {
        let [dynamics, collision, assembly, solve, certificate, projection] = self.phases;
        format!(
            "{:12} {:4} {:8} {:11.1} {dynamics:10.1} {collision:9.1} {assembly:8.1} {solve:8.1} {certificate:11.1} {projection:10.1} {:8.0}%",
            self.name,
            self.dof,
            self.contacts,
            self.micros,
            100.0 * self.guessed
        )
    }

    fn json(&self) -> String {
        format!("{{\"scene\": \"{}\", \"us_per_step\": {}}}", self.name, self.micros)
    }
}

fn run(case: &Case) -> Result<Line, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(format!("{}.toml", case.name));
    let set: Vec<(String, f64)> = case.set.iter().map(|(k, x)| ((*k).to_string(), *x)).collect();
    let mut scene = Scene::load(&path, &set).map_err(|e| e.to_string())?;
    // Scenes at rest would sleep, and nothing would be timed.
    (scene.settings.threads, scene.settings.sleeping) = (Some(1), false);
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    steps(&mut simulation, case.warm_up)?;
    let mut times = Vec::with_capacity(CHUNKS);
    let (mut contacts, mut guessed) = (0, 0.0);
    for _ in 0..CHUNKS {
        let clock = ThreadTime::now();
        let (n, share) = steps(&mut simulation, case.chunk)?;
        times.push(clock.elapsed().as_secs_f64() * 1e6 / case.chunk as f64);
        (contacts, guessed) = (n, guessed + share / CHUNKS as f64);
    }
    times.sort_by(f64::total_cmp);
    // The phases in a second simulation, so that looking at the clock does not count above.
    scene.settings.timing = true;
    let mut timed = scene.simulation().map_err(|e| e.to_string())?;
    steps(&mut timed, case.warm_up)?;
    let before = timed.phases();
    steps(&mut timed, 3 * case.chunk)?;
    let after = timed.phases();
    let share = |a: std::time::Duration, b: std::time::Duration| (a - b).as_secs_f64() * 1e6 / (3 * case.chunk) as f64;
    let phases = [
        share(after.dynamics, before.dynamics),
        share(after.collision, before.collision),
        share(after.assembly, before.assembly),
        share(after.solve, before.solve),
        share(after.certificate, before.certificate),
        share(after.projection, before.projection),
    ];
    let dof = simulation.world().model.nv();
    Ok(Line { name: case.name, dof, contacts, micros: times[CHUNKS / 2], phases, guessed })
}

/// Makes steps; the last one's contacts and the share of steps that were guessed.
fn steps(simulation: &mut Simulation, count: usize) -> Result<(usize, f64), String> {
    let (mut contacts, mut guessed) = (0, 0);
    for _ in 0..count {
        let report = simulation.step().map_err(|e| e.to_string())?;
        contacts = report.contacts;
        guessed += usize::from(report.guessed);
    }
    Ok((contacts, guessed as f64 / count as f64))
}

//! Time per step around the solve, by phase, over the number of bodies: `cargo run --release --bin
//! heaps` in `benchmarks/`.
//!
//! Boxes, or boxes, balls, capsules and cylinders, fall into a bin and tumble. So that what stands
//! around the solve can be measured whatever the solver, contacts are solved by a fixed number of
//! Gauss–Seidel sweeps: linear in the contacts, and not certified, though the certificate is
//! computed as ever. `--model NAME` takes a model of the catalog instead. Times are lower quartiles
//! over the steps: what others do on the machine disturbs them least.
//!
//! `heaps [--kind box|mix] [--from N] [--to N] [--steps N] [--warm-up N] [--dt S] [--mu X] [--model NAME]`

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use stiction_contact::certificate::cone::ConeLaw;
use stiction_contact::{
    Certifier, ContactForces, ContactModel, ContactOutcome, ContactProblem, ContactSolution, ContactStats, Elapsed,
    InputError, Islands, Level, ModelKind, Rows, WarmStart,
};
use stiction_sim::{Scene, Simulation};

/// Side of the cells that bodies start in (m).
const CELL: f64 = 0.18;

/// Gauss–Seidel sweeps of a step.
const SWEEPS: usize = 20;

struct Options {
    kind: String,
    from: usize,
    to: usize,
    steps: usize,
    warm_up: usize,
    dt: f64,
    mu: f64,
    model: Option<String>,
}

fn main() {
    let options = options();
    println!(
        "bodies contacts islands | µs/step: dynamics collision assembly  islands certificate projection | overlap before and after (m)"
    );
    let mut lines: Vec<(usize, [f64; PHASES])> = Vec::new();
    let mut n = options.from;
    while n <= options.to {
        match run(&options, n) {
            Ok(phases) => lines.push((n, phases)),
            Err(message) => println!("{n}: {message}"),
        }
        n = (n as f64 * 10.0_f64.sqrt()).round() as usize;
    }
    if let [first, .., last] = lines[..] {
        let slope = |k: usize| (last.1[k] / first.1[k]).ln() / (last.0 as f64 / first.0 as f64).ln();
        print!("growth from {} to {} bodies, exponents:", first.0, last.0);
        NAMES.iter().enumerate().for_each(|(k, name)| print!(" {name} {:.2}", slope(k)));
        println!();
    }
}

const PHASES: usize = 6;
const NAMES: [&str; PHASES] = ["dynamics", "collision", "assembly", "islands", "certificate", "projection"];

fn options() -> Options {
    let mut options =
        Options { kind: "box".into(), from: 10, to: 1000, steps: 50, warm_up: 150, dt: 2e-3, mu: 0.5, model: None };
    let args: Vec<String> = std::env::args().skip(1).collect();
    for pair in args.chunks(2) {
        let [name, value] = pair else { panic!("{} needs a value", pair[0]) };
        let number = || value.parse::<f64>().unwrap_or_else(|e| panic!("{name} {value}: {e}"));
        match name.as_str() {
            "--kind" => options.kind.clone_from(value),
            "--from" => options.from = number() as usize,
            "--to" => options.to = number() as usize,
            "--steps" => options.steps = number() as usize,
            "--warm-up" => options.warm_up = number() as usize,
            "--dt" => options.dt = number(),
            "--mu" => options.mu = number(),
            "--model" => options.model = Some(value.clone()),
            _ => panic!("unknown option {name}"),
        }
    }
    options
}

fn run(options: &Options, n: usize) -> Result<[f64; PHASES], String> {
    let mut scene = Scene::parse(&text(options, n), Path::new("."), &[]).map_err(|e| e.to_string())?;
    scene.settings.timing = true;
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    if options.model.is_none() {
        simulation.set_model(Box::new(Sweeps::default())).map_err(|e| e.to_string())?;
    }
    make_steps(&mut simulation, options.warm_up)?;
    let seen = make_steps(&mut simulation, options.steps)?;
    let phases = std::array::from_fn(|k| {
        let mut times: Vec<f64> = seen.phases.iter().map(|p| p[k].as_secs_f64() * 1e6).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 4]
    });
    let [dynamics, collision, assembly, split, certificate, projection] = phases;
    println!(
        "{n:6} {:8} {:7} | {dynamics:17.1} {collision:9.1} {assembly:8.1} {split:8.1} {certificate:11.1} {projection:10.1} | {:.2e} {:.2e}",
        seen.contacts / options.steps,
        seen.islands / options.steps,
        seen.penetration,
        seen.left
    );
    Ok(phases)
}

#[derive(Default)]
struct Seen {
    contacts: usize,
    islands: usize,
    phases: Vec<[Duration; PHASES]>,
    penetration: f64,
    left: f64,
}

fn make_steps(simulation: &mut Simulation, count: usize) -> Result<Seen, String> {
    let (mut seen, mut islands) = (Seen::default(), Islands::default());
    for _ in 0..count {
        let before = simulation.phases();
        let report = simulation.step().map_err(|e| e.to_string())?;
        let after = simulation.phases();
        seen.contacts += report.contacts;
        seen.penetration = seen.penetration.max(report.penetration);
        seen.left = seen.left.max(report.overlap_left);
        let clock = Instant::now();
        seen.islands += islands.find(simulation.problem()).len();
        seen.phases.push([
            after.dynamics - before.dynamics,
            after.collision - before.collision,
            after.assembly - before.assembly,
            clock.elapsed(),
            after.certificate - before.certificate,
            after.projection - before.projection,
        ]);
    }
    Ok(seen)
}

/// The scene: a bin over which bodies start in cells, layer over layer, turned at random.
fn text(options: &Options, n: usize) -> String {
    let mut random = Random(5);
    let per = (((n as f64).cbrt() * 0.11 * 2.0 / CELL).ceil() as usize).max(2);
    let (half, middle) = (per as f64 * CELL / 2.0 + 0.05, (per - 1) as f64 / 2.0);
    let model = options.model.as_deref().unwrap_or("coulomb-cone");
    let mut text = format!("dt = {}\nmodel = \"{model}\"\n[material]\nfriction = {}\n", options.dt, options.mu);
    text += "[[bodies]]\nname = \"ground\"\nfixed = true\nshape = { plane = true }\n";
    for (k, (x, y)) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)].into_iter().enumerate() {
        let (at, long) = (half + 0.5, 2.0 * half + 2.0);
        let size = if x == 0.0 { [long, 1.0] } else { [1.0, long] };
        let _ = writeln!(
            text,
            "[[bodies]]\nname = \"wall{k}\"\nfixed = true\nposition = [{}, {}, 5]\nshape = {{ box = [{}, {}, 10] }}",
            x * at,
            y * at,
            size[0],
            size[1]
        );
    }
    for i in 0..n {
        let (layer, rest) = (i / (per * per), i % (per * per));
        let place = |k: usize| (k as f64 - middle) * CELL;
        let q = random.quaternion();
        let shape = match (options.kind.as_str(), i % 4) {
            ("box", _) | (_, 0) => "box = [0.1, 0.1, 0.1]",
            (_, 1) => "sphere = 0.05",
            (_, 2) => "capsule = [0.03, 0.06]",
            _ => "cylinder = [0.04, 0.08]",
        };
        let _ = writeln!(
            text,
            "[[bodies]]\nname = \"b{i}\"\ndensity = 1000\nposition = [{}, {}, {}]\norientation = {q:?}\nshape = {{ {shape} }}",
            place(rest / per),
            place(rest % per),
            0.12 + layer as f64 * CELL
        );
    }
    text
}

/// Uniform numbers, the same every time.
struct Random(u64);

impl Random {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * (((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn quaternion(&mut self) -> [f64; 4] {
        loop {
            let q = [0; 4].map(|_| self.within(-1.0, 1.0));
            let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.1 && length < 1.0 {
                return q.map(|x| x / length);
            }
        }
    }
}

/// Coulomb's law by sweeps of Gauss–Seidel from the last step's forces: quick, and as wrong as such
/// methods are.
#[derive(Default)]
struct Sweeps {
    certifier: Certifier,
}

impl ContactModel for Sweeps {
    fn kind(&self) -> ModelKind {
        ModelKind::CoulombCone
    }

    fn name(&self) -> &'static str {
        "sweeps"
    }

    fn level(&self) -> Level {
        Level::Velocity
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        let (mass, contacts, dt) = (problem.mass(), problem.contacts(), problem.dt());
        let mut forces = ContactForces::zeros(problem);
        if let Some(start) = start.filter(|s| s.forces.fits(problem)) {
            forces.copy_from(&start.forces);
        }
        let mut motion = problem.force().to_vec();
        mass.solve(&mut motion);
        motion.iter_mut().zip(problem.v()).for_each(|(a, v)| *a = v + dt * *a);
        // M⁻¹ rowᵀ of every row, in the places of the row's numbers, and row M⁻¹ rowᵀ.
        let kinds = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
        let pushes: Vec<Pushes> = kinds.iter().map(|rows| Pushes::new(problem, rows)).collect();
        for i in 0..contacts.len() {
            let p = [forces.normal[i], forces.tangent_s[i], forces.tangent_t[i]];
            (0..3).for_each(|k| pushes[k].push(problem, kinds[k], i, p[k], &mut motion));
        }
        for _ in 0..SWEEPS {
            for i in 0..contacts.len() {
                let w = pushes[0].w[i];
                if w == 0.0 {
                    continue;
                }
                let u = kinds[0].dot(i, &motion) + contacts.separation_bias(i, dt);
                let old = forces.normal[i];
                forces.normal[i] = (old - u / w).max(0.0);
                pushes[0].push(problem, kinds[0], i, forces.normal[i] - old, &mut motion);
                if !contacts.has_friction(i) {
                    continue;
                }
                let w = 0.5 * (pushes[1].w[i] + pushes[2].w[i]);
                let old = [forces.tangent_s[i], forces.tangent_t[i]];
                let mut p = [0, 1].map(|k| old[k] - kinds[k + 1].dot(i, &motion) / w);
                let (size, most) = ((p[0] * p[0] + p[1] * p[1]).sqrt(), contacts.mu[i] * forces.normal[i]);
                if size > most {
                    p = p.map(|p| p * most / size);
                }
                (forces.tangent_s[i], forces.tangent_t[i]) = (p[0], p[1]);
                (0..2).for_each(|k| pushes[k + 1].push(problem, kinds[k + 1], i, p[k] - old[k], &mut motion));
            }
        }
        let clock = Instant::now();
        let certificate = self.certifier.certify(problem, &ConeLaw { level: Level::Velocity }, &forces, &motion);
        let stats = ContactStats { certificate: Elapsed(clock.elapsed()), ..ContactStats::default() };
        let modes = self.certifier.modes().to_vec();
        let warm_start = WarmStart { modes: modes.clone(), bases: vec![], forces: forces.clone() };
        let solution =
            ContactSolution { level: Level::Velocity, forces, motion, modes, certificate, stats, warm_start };
        Ok(ContactOutcome::Solved(Box::new(solution)))
    }
}

/// What unit forces along rows do.
struct Pushes {
    starts: Vec<usize>,
    values: Vec<f64>,
    w: Vec<f64>,
}

impl Pushes {
    fn new(problem: &ContactProblem, rows: &Rows) -> Self {
        let (mut starts, mut values, mut w) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..rows.len() {
            starts.push(values.len());
            let mut sum = 0.0;
            for (block, row) in rows.row(i) {
                let at = values.len();
                values.extend_from_slice(row);
                problem.mass().solve_factor(block, &mut values[at..]);
                problem.mass().solve_factor_transposed(block, &mut values[at..]);
                sum += values[at..].iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
            }
            w.push(sum);
        }
        Self { starts, values, w }
    }

    fn push(&self, problem: &ContactProblem, rows: &Rows, i: usize, p: f64, motion: &mut [f64]) {
        if p == 0.0 {
            return;
        }
        let mut at = self.starts[i];
        for block in rows.blocks(i) {
            let v = &mut motion[problem.layout().range(block)];
            v.iter_mut().zip(&self.values[at..]).for_each(|(v, x)| *v += p * x);
            at += v.len();
        }
    }
}

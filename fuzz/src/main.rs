//! Runs targets over garbled input: `cargo run --release -p stiction-fuzz -- TARGET [--count N] [--seed S] [--from K] [--verbose]`.
//!
//! `TARGET` is a name, several with commas, or `all`; a file's path after `--input` runs that one file. Inputs that panic, take more than 10 s
//! or more than 1 GB are written to `fuzz/artifacts/`. A stack overflow ends the process: `--from K --verbose` prints the number of each input
//! before it is run, and writes it to `fuzz/artifacts/last`. The exit code is 0 if nothing was found.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cpu_time::ProcessTime;
use indicatif::{ProgressBar, ProgressStyle};
use peak_alloc::PeakAlloc;
use stiction_fuzz::{Inputs, Random, TARGETS, Target, shape_of};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// No input may take longer, in processor time.
const MOST_TIME: Duration = Duration::from_secs(10);
/// No input may take more memory beside its own bytes.
const MOST_MEMORY: usize = 1_000_000_000;
/// So many different panics are written down; more are only counted.
const MOST_ARTIFACTS: usize = 20;

fn main() -> ExitCode {
    match Arguments::read(std::env::args().skip(1)).and_then(|arguments| run_all(&arguments)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

struct Arguments {
    targets: Vec<&'static Target>,
    count: Option<u64>,
    seed: u64,
    from: u64,
    verbose: bool,
    input: Option<PathBuf>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut out = Self { targets: vec![], count: None, seed: 1, from: 0, verbose: false, input: None };
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().and_then(|x| x.parse().ok());
                value.ok_or_else(|| format!("{word} needs a number"))
            };
            match word.as_str() {
                "--count" => out.count = Some(number()?),
                "--seed" => out.seed = number()?,
                "--from" => out.from = number()?,
                "--verbose" => out.verbose = true,
                "--input" => out.input = words.next().map(PathBuf::from),
                "all" => out.targets.extend(TARGETS.iter()),
                names => {
                    for name in names.split(',') {
                        let target = TARGETS.iter().find(|t| t.name == name).ok_or_else(|| unknown(name))?;
                        out.targets.push(target);
                    }
                }
            }
        }
        if out.targets.is_empty() { Err(unknown("")) } else { Ok(out) }
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    format!("there is no target \"{name}\"; there are all, {}", names.join(", "))
}

/// What a run came to.
#[derive(Default)]
struct Figures {
    inputs: u64,
    read: u64,
    panics: u64,
    slow: u64,
    large: u64,
    longest: Duration,
    peak: usize,
    shapes: usize,
}

fn run_all(arguments: &Arguments) -> Result<u64, String> {
    let last_panic = Arc::new(Mutex::new(String::new()));
    let seen = last_panic.clone();
    panic::set_hook(Box::new(move |info| *seen.lock().unwrap_or_else(|e| e.into_inner()) = info.to_string()));
    if let Some(path) = &arguments.input {
        let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        panic::set_hook(Box::new(|info| eprintln!("{info}")));
        eprintln!("{:?}", (arguments.targets[0].run)(&bytes));
        return Ok(0);
    }
    eprintln!("target            inputs      read  answers   panics  >10 s  >1 GB   longest  peak memory");
    let mut found = 0;
    for target in &arguments.targets {
        let figures = run(target, arguments, &last_panic)?;
        let Figures { inputs, read, panics, slow, large, longest, peak, shapes } = figures;
        eprintln!(
            "{:<15} {inputs:>8}  {read:>8} {shapes:>8} {panics:>8} {slow:>6} {large:>6} {:>7.3} s {:>9.1} MB",
            target.name,
            longest.as_secs_f64(),
            peak as f64 / 1e6
        );
        found += panics + slow + large;
    }
    Ok(found)
}

fn run(target: &Target, arguments: &Arguments, last_panic: &Mutex<String>) -> Result<Figures, String> {
    let mut inputs = Inputs::new(target);
    let mut figures = Figures::default();
    let mut shapes = BTreeSet::new();
    let mut panics = BTreeSet::new();
    for (k, bytes) in inputs.good().enumerate() {
        let answer = panic::catch_unwind(|| (target.run)(&bytes));
        let answer = answer.map_err(|_| last_panic.lock().map(|x| x.clone()).unwrap_or_default());
        if let Ok(Err(message)) | Err(message) = answer {
            eprintln!("{}: good file {k}: {message}", target.name);
        }
    }
    let count = arguments.count.unwrap_or(target.count);
    let bar = ProgressBar::new(count);
    if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_prefix(target.name);
    let watch = Watch::start(target.name, arguments.seed);
    for index in 0..arguments.from + count {
        let mut random = Random::new(arguments.seed, index);
        let (bytes, parts) = inputs.next(&mut random);
        if arguments.verbose && index >= arguments.from {
            eprintln!("{} {index}: {} bytes", target.name, bytes.len());
            save("last", &bytes)?;
        }
        watch.begin(index);
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let start = ProcessTime::now();
        let answer = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let (took, used) = (start.elapsed(), MEMORY.peak_usage().saturating_sub(before));
        watch.end();
        figures.inputs += 1;
        figures.read += u64::from(matches!(answer, Ok(Ok(()))));
        figures.longest = figures.longest.max(took);
        figures.peak = figures.peak.max(used);
        let name = format!("{}-{}-{index}", target.name, arguments.seed);
        let answer = match answer {
            Ok(Ok(())) => "read".to_string(),
            Ok(Err(message)) => message,
            Err(_) => {
                figures.panics += 1;
                let message = last_panic.lock().map(|x| x.clone()).unwrap_or_default();
                if panics.len() < MOST_ARTIFACTS && panics.insert(shape_of(&message)) {
                    let path = save(&name, &bytes)?;
                    bar.suspend(|| eprintln!("{message}\n  {}", path.display()));
                }
                message
            }
        };
        if took > MOST_TIME {
            figures.slow += 1;
            let path = save(&name, &bytes)?;
            bar.suspend(|| eprintln!("{:.1} s: {}", took.as_secs_f64(), path.display()));
        }
        if used > MOST_MEMORY {
            figures.large += 1;
            let path = save(&name, &bytes)?;
            bar.suspend(|| eprintln!("{} MB: {}", used / 1_000_000, path.display()));
        }
        if shapes.insert(shape_of(&answer)) {
            inputs.keep(parts);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    figures.shapes = shapes.len();
    Ok(figures)
}

fn save(name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let path = folder.join(name);
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes));
    written.map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// Ends the process if an input does not come to an end.
struct Watch(Arc<AtomicU64>);

impl Watch {
    /// No input is being run.
    const IDLE: u64 = u64::MAX;
    /// An input that takes so long will not end: many times what is allowed, so that most slow ones are still measured.
    const HOPELESS: Duration = Duration::from_secs(60);

    fn start(name: &'static str, seed: u64) -> Self {
        let now = Arc::new(AtomicU64::new(Self::IDLE));
        let seen = now.clone();
        std::thread::spawn(move || {
            let (mut last, mut since) = (Self::IDLE, ProcessTime::now());
            while Arc::strong_count(&seen) > 1 {
                std::thread::sleep(Duration::from_millis(200));
                let index = seen.load(Ordering::Relaxed);
                if index != last || index == Self::IDLE {
                    (last, since) = (index, ProcessTime::now());
                } else if since.elapsed() > Self::HOPELESS {
                    eprintln!("{name}: input {index} of seed {seed} does not end");
                    std::process::exit(1);
                }
            }
        });
        Self(now)
    }

    fn begin(&self, index: u64) {
        self.0.store(index, Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.store(Self::IDLE, Ordering::Relaxed);
    }
}

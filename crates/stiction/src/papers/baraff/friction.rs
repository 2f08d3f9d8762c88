//! Static and dynamic friction, in the plane and in space.

use stiction_contact::models::BaraffFriction;
use stiction_contact::scenes::{Body, Touch, assemble};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, ModelOptions};
use stiction_lcp::InputError;

use super::bodies::{self, Dimension, GRAVITY, Heap};
use super::timing::{exponent, seconds};
use crate::papers::{
    Axis, Cell, Claim, Column, Effort, Experiment, ExperimentError, Plot, Progress, Section, Series, Table, Verdict,
};

const NAME: &str = "baraff/friction";
/// Coefficients as surfaces have them, and beyond.
const USUAL: [f64; 2] = [0.0, 0.5];
const LARGE: [f64; 2] = [0.5, 1.0];
const UNREALISTIC: [f64; 2] = [1.0, 3.0];
/// Contacts of the random heaps: 1 to this.
const MOST_CONTACTS: usize = 24;
/// Contacts of the heaps whose steps are counted.
const GROWTH: [usize; 6] = [4, 8, 16, 32, 64, 128];
/// A slip slower than this beside the speeds of the problem is none (m/s).
const SLIPS: f64 = 1e-9;

/// Problems of one kind.
struct Family {
    name: &'static str,
    dimension: Dimension,
    mu: [f64; 2],
    moving: bool,
}

const FAMILIES: [Family; 8] = [
    Family { name: "2D, static, mu 0 to 0.5", dimension: Dimension::Two, mu: USUAL, moving: false },
    Family { name: "2D, static, mu 1 to 3", dimension: Dimension::Two, mu: UNREALISTIC, moving: false },
    Family { name: "3D, static, mu 0 to 0.5", dimension: Dimension::Three, mu: USUAL, moving: false },
    Family { name: "3D, static, mu 1 to 3", dimension: Dimension::Three, mu: UNREALISTIC, moving: false },
    Family { name: "2D, dynamic, mu 0 to 0.5", dimension: Dimension::Two, mu: USUAL, moving: true },
    Family { name: "2D, dynamic, mu 1 to 3", dimension: Dimension::Two, mu: UNREALISTIC, moving: true },
    Family { name: "3D, dynamic, mu 0.5 to 1", dimension: Dimension::Three, mu: LARGE, moving: true },
    Family { name: "3D, dynamic, mu 1 to 3", dimension: Dimension::Three, mu: UNREALISTIC, moving: true },
];

/// What became of the problems of a family.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    problems: usize,
    contacts: usize,
    slipping: usize,
    solved: usize,
    rays: usize,
    /// Rays that became an impact after which there are forces again, or another ray.
    impacts: usize,
    other: usize,
    steps: usize,
    most_steps: usize,
    fallbacks: usize,
    worst: f64,
    seconds: f64,
}

/// The scenes.
pub struct Friction;

impl Experiment for Friction {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Static and dynamic friction in two and three dimensions"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let count = if effort.quick { 400 } else { 4000 };
        run(count, progress).map_err(|e| ExperimentError { experiment: NAME, message: e.to_string() })
    }
}

fn run(count: u64, progress: &mut dyn Progress) -> Result<Section, InputError> {
    let total = FAMILIES.len() + GROWTH.len() + 2;
    let mut tallies = Vec::new();
    for (k, family) in FAMILIES.iter().enumerate() {
        progress.report(k, total, family.name);
        tallies.push(tally(family, count)?);
    }
    let mut growth = Vec::new();
    for (k, n) in GROWTH.into_iter().enumerate() {
        progress.report(FAMILIES.len() + k, total, &format!("{n} contacts"));
        growth.push(steps(n, (count / 10).max(5))?);
    }
    progress.report(total - 2, total, "Painlevé's rod");
    let rods = painleve()?;
    progress.report(total - 1, total, "directions and towers");
    let (spread, towers) = (isotropy()?, towers()?);
    Ok(Section {
        text: text(),
        tables: vec![table(&tallies), growth_table(&growth)],
        plots: vec![growth_plot(&growth)],
        pictures: Vec::new(),
        claims: claims(&tallies, &growth, &rods, spread, &towers),
    })
}

fn tally(family: &Family, count: u64) -> Result<Tally, InputError> {
    let mut tally = Tally::default();
    let mut model = BaraffFriction::new(ModelOptions::default());
    for seed in 0..count {
        let contacts = 1 + seed as usize % MOST_CONTACTS;
        let heap = Heap { dimension: family.dimension, contacts, mu: family.mu, moving: family.moving };
        let problem = bodies::heap(&heap, seed)?;
        tally.add(&mut model, &problem)?;
    }
    Ok(tally)
}

impl Tally {
    fn add(&mut self, model: &mut BaraffFriction, problem: &ContactProblem) -> Result<(), InputError> {
        let contacts = problem.contacts().len();
        self.problems += 1;
        self.contacts += contacts;
        self.slipping += (0..contacts).filter(|&i| problem.slip(i).iter().any(|s| s.abs() > SLIPS)).count();
        let mut outcome = None;
        self.seconds += seconds(|| outcome = Some(model.solve(problem)));
        let Some(outcome) = outcome.transpose()? else { return Ok(()) };
        match &outcome {
            ContactOutcome::Solved(solved) => {
                self.solved += 1;
                self.steps += solved.stats.pivots;
                self.most_steps = self.most_steps.max(solved.stats.pivots);
                self.fallbacks += solved.stats.fallbacks;
                self.worst = self.worst.max(solved.certificate.largest());
            }
            ContactOutcome::Ray(ray) => {
                self.rays += 1;
                let impact = model.impact(problem, ray)?;
                self.impacts += usize::from(impact.is_some_and(|i| i.outcome.solved().is_some()));
            }
            _ => self.other += 1,
        }
        Ok(())
    }

    fn share(part: usize, of: usize) -> f64 {
        part as f64 / of.max(1) as f64
    }
}

/// Steps of heaps of `n` contacts at rest: mean in the plane and in space, and mean times (s).
struct Growth {
    n: usize,
    steps: [f64; 2],
    seconds: [f64; 2],
}

fn steps(n: usize, count: u64) -> Result<Growth, InputError> {
    let mut growth = Growth { n, steps: [f64::NAN; 2], seconds: [f64::NAN; 2] };
    for (k, dimension) in [Dimension::Two, Dimension::Three].into_iter().enumerate() {
        let mut all = Tally::default();
        let mut model = BaraffFriction::new(ModelOptions::default());
        for seed in 0..count {
            let heap = Heap { dimension, contacts: n, mu: USUAL, moving: false };
            all.add(&mut model, &bodies::heap(&heap, seed)?)?;
        }
        growth.steps[k] = all.steps as f64 / all.solved.max(1) as f64;
        growth.seconds[k] = all.seconds / all.problems.max(1) as f64;
    }
    Ok(growth)
}

/// Rods of many angles and coefficients: (rods, answers as `A = 1/m + (c² − mu c s)/J` says, rays, rays that end in an impact).
fn painleve() -> Result<[usize; 4], InputError> {
    let mut counts = [0; 4];
    let mut model = BaraffFriction::new(ModelOptions::default());
    for slope in (1..20).map(|k| f64::from(k) * 0.1) {
        let length = (1.0 + slope * slope).sqrt();
        let (c, s) = (1.0 / length, slope / length);
        for mu in (0..60).map(|k| 0.05 * f64::from(k) + 0.013) {
            let inverse_mass = 1.0 + 3.0 * c * c - 3.0 * mu * c * s;
            let problem = bodies::rod([c, s], mu)?;
            let outcome = model.solve(&problem)?;
            counts[0] += 1;
            counts[1] += usize::from(match &outcome {
                ContactOutcome::Solved(_) => inverse_mass > 0.0,
                ContactOutcome::Ray(_) => inverse_mass < 0.0,
                _ => false,
            });
            if let ContactOutcome::Ray(ray) = &outcome {
                counts[2] += 1;
                let Some(impact) = model.impact(&problem, ray)? else { continue };
                let Some(after) = impact.outcome.solved() else { continue };
                let mut next = problem.clone();
                next.set_motion(&after.motion, problem.force())?;
                counts[3] += usize::from(model.solve(&next)?.solved().is_some());
            }
        }
    }
    Ok(counts)
}

/// A cube on the floor pushed along 64 directions, twice as hard as friction holds: the largest part by which its acceleration differs from mu g along the push.
fn isotropy() -> Result<f64, InputError> {
    const DIRECTIONS: usize = 64;
    let mu = 0.4;
    let mut model = BaraffFriction::new(ModelOptions::default());
    let mut worst = 0.0f64;
    for k in 0..DIRECTIONS {
        let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
        let (c, s) = (libm::cos(angle), libm::sin(angle));
        let push = 2.0 * mu * GRAVITY;
        // At the height of the floor: the cube slides and does not tip.
        let mut cube = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, 0.5]);
        cube.force = [push * c, push * s, -GRAVITY];
        cube.moment = [0.5 * push * s, -0.5 * push * c, 0.0];
        let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)];
        let touches = corners.map(|(x, y)| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) });
        let outcome = model.solve(&assemble(&[cube], &touches, 1e-3)?)?;
        let Some(solved) = outcome.solved() else { return Ok(f64::INFINITY) };
        let expected = mu * GRAVITY;
        let miss = (solved.motion[0] - expected * c).hypot(solved.motion[1] - expected * s);
        worst = worst.max(miss / expected);
    }
    Ok(worst)
}

/// Towers whose top is pushed: how many, and how many move as they must (all at rest below the limit, the top alone above).
fn towers() -> Result<[usize; 2], InputError> {
    let mut counts = [0; 2];
    let mut model = BaraffFriction::new(ModelOptions::default());
    for dimension in [Dimension::Two, Dimension::Three] {
        let (per_body, first) = if dimension == Dimension::Two { (3, 0) } else { (6, 0) };
        for (n, mu) in (1..=10).flat_map(|n| [0.1, 0.3, 0.6].map(|mu| (n, mu))) {
            for push in [0.0, 0.5, 0.99, 1.01, 2.0] {
                counts[0] += 1;
                let outcome = model.solve(&bodies::tower(dimension, n, mu, push)?)?;
                let Some(solved) = outcome.solved() else { continue };
                let expected = (push - 1.0f64).max(0.0) * mu * GRAVITY;
                let top = (n - 1) * per_body + first;
                let right = solved.motion.iter().enumerate().all(|(k, a)| {
                    let wanted = if k == top { expected } else { 0.0 };
                    (a - wanted).abs() <= 1e-10 * GRAVITY
                });
                counts[1] += usize::from(right);
            }
        }
    }
    Ok(counts)
}

fn text() -> Vec<String> {
    vec![
        "The paper describes its algorithm for friction in two and three dimensions and reports no figures for it: only that it always ended, that the work is about O(n), and that infinite \
         steps, which become impulses, occur mostly with unrealistically large coefficients."
            .into(),
        "Here heaps of 1 to 24 contacts are drawn at random, at rest (all contacts have static friction) and in motion without parting (those that slip have dynamic friction). Each problem \
         ends with forces that pass the certificate, or with a ray; a ray is turned into an impact that ends the jam. Towers whose top is pushed, a cube pushed along 64 directions, and \
         Painlevé's rod have known answers."
            .into(),
        "We depart from the paper where its method loops or depends on the user's choice of tangents; docs/papers/baraff.md says how.".into(),
    ]
}

fn column(name: &str, unit: &str) -> Column {
    Column { name: name.into(), unit: unit.into() }
}

fn table(tallies: &[Tally]) -> Table {
    let row = |(family, t): (&Family, &Tally)| {
        let count = |x: usize| Cell::Count(x as u64);
        vec![
            Cell::Text(family.name.into()),
            count(t.problems),
            Cell::Number(Tally::share(t.contacts, t.problems)),
            Cell::Number(100.0 * Tally::share(t.slipping, t.contacts)),
            count(t.solved),
            count(t.rays),
            count(t.impacts),
            count(t.other),
            count(t.fallbacks),
            Cell::Number(Tally::share(t.steps, t.solved)),
            count(t.most_steps),
            Cell::Number(t.worst),
            Cell::Number(1e6 * t.seconds / t.problems.max(1) as f64),
        ]
    };
    Table {
        name: "friction".into(),
        title: "What became of random heaps".into(),
        columns: vec![
            column("problems", ""),
            column("count", ""),
            column("contacts, mean", ""),
            column("slipping", "%"),
            column("solved", ""),
            column("rays", ""),
            column("rays ended by an impact", ""),
            column("neither", ""),
            column("fallbacks", ""),
            column("steps, mean", ""),
            column("steps, most", ""),
            column("worst certificate", ""),
            column("time, mean", "µs"),
        ],
        rows: FAMILIES.iter().zip(tallies).map(row).collect(),
    }
}

fn growth_table(growth: &[Growth]) -> Table {
    let row = |g: &Growth| {
        let numbers = [g.steps[0], g.steps[1], 1e6 * g.seconds[0], 1e6 * g.seconds[1]];
        std::iter::once(Cell::Count(g.n as u64)).chain(numbers.map(Cell::Number)).collect()
    };
    Table {
        name: "friction-steps".into(),
        title: "Steps of the method and time: heaps at rest, mu 0 to 0.5".into(),
        columns: vec![
            column("contacts", ""),
            column("steps in 2D, mean", ""),
            column("steps in 3D, mean", ""),
            column("time in 2D, mean", "µs"),
            column("time in 3D, mean", "µs"),
        ],
        rows: growth.iter().map(row).collect(),
    }
}

fn growth_plot(growth: &[Growth]) -> Plot {
    let line = |name: &str, k: usize| Series {
        name: name.into(),
        points: growth.iter().map(|g| (g.n as f64, g.steps[k])).collect(),
        ..Series::default()
    };
    let first = growth.first().map_or(1.0, |g| g.steps[0] / g.n as f64);
    let linear = growth.iter().map(|g| (g.n as f64, first * g.n as f64)).collect();
    Plot {
        name: "friction-steps-over-contacts".into(),
        title: "Steps of the method over contacts: heaps at rest".into(),
        x: Axis { label: "contacts n".into(), log: true },
        y: Axis { label: "steps, mean".into(), log: true },
        series: vec![
            line("two dimensions", 0),
            line("three dimensions", 1),
            Series { name: "paper: O(n)".into(), points: linear, paper: true, scattered: false },
        ],
    }
}

fn claims(tallies: &[Tally], growth: &[Growth], rods: &[usize; 4], spread: f64, towers: &[usize; 2]) -> Vec<Claim> {
    let sum = |moving: bool, pick: fn(&Tally) -> usize| -> usize {
        FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving == moving).map(|(_, t)| pick(t)).sum()
    };
    let (still, still_solved) = (sum(false, |t| t.problems), sum(false, |t| t.solved));
    let (moving, ended) = (sum(true, |t| t.problems), sum(true, |t| t.solved + t.rays));
    let (rays, impacts) = (sum(true, |t| t.rays), sum(true, |t| t.impacts));
    let exponents = [0, 1].map(|k| exponent(&growth.iter().map(|g| (g.n as f64, g.steps[k])).collect::<Vec<_>>()));
    let steepest = exponents[0].max(exponents[1]);
    let share = |large: bool| {
        let chosen = || FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving && (f.mu[0] >= 1.0) == large);
        let (rays, all) = chosen().fold((0, 0), |s, (_, t)| (s.0 + t.rays, s.1 + t.problems));
        100.0 * Tally::share(rays, all)
    };
    let (usual, unrealistic) = (share(false), share(true));
    let all = |claim: &str, paper: &str, done: usize, of: usize, what: &str| Claim {
        claim: claim.into(),
        paper_value: paper.into(),
        ours: format!("{done} of {of} {what}"),
        verdict: if done == of { Verdict::Holds } else { Verdict::DoesNotHold(format!("{} of {of} not", of - done)) },
    };
    let holds = |holds: bool, why: String| if holds { Verdict::Holds } else { Verdict::DoesNotHold(why) };
    vec![
        all(
            "With static friction alone the method never loops and never takes an infinite step",
            "never met",
            still_solved,
            still,
            "solved and certified",
        ),
        all(
            "Static friction: towers whose top is pushed move as they must, in 2D and 3D",
            "",
            towers[1],
            towers[0],
            "right to 1e-10 g",
        ),
        all("With dynamic friction it ends with a solution or with an infinite step", "always", ended, moving, "did"),
        all(
            "An infinite step gives the direction of an impulse; an impact along it ends the jam",
            "direction only",
            impacts,
            rays,
            "rays became a certified impact",
        ),
        all(
            "Painlevé's rod: an infinite step exactly when its inverse mass A is negative",
            "",
            rods[1],
            rods[0],
            "rods",
        ),
        all("… and after the impact there are forces again", "", rods[3], rods[2], "jammed rods"),
        Claim {
            claim: "Infinite steps are met mostly where mu is unrealistically large".into(),
            paper_value: "mostly".into(),
            ours: format!("{usual:.2} % of the problems with mu < 1, {unrealistic:.1} % with mu from 1 to 3"),
            verdict: holds(unrealistic > 2.0 * usual, format!("{usual:.2} % against {unrealistic:.1} %")),
        },
        Claim {
            claim: "The work is about O(n) with friction too: exponent of steps over contacts".into(),
            paper_value: "1".into(),
            ours: format!("{:.2} in 2D, {:.2} in 3D", exponents[0], exponents[1]),
            verdict: holds(steepest <= 1.2, format!("{steepest:.2}")),
        },
        Claim {
            claim: "Three dimensions need no approximation: friction is the same in all directions".into(),
            paper_value: "exact cone".into(),
            ours: format!("accelerations along 64 directions differ by {spread:.0e}"),
            verdict: holds(spread <= 1e-12, format!("{spread:.1e}")),
        },
    ]
}

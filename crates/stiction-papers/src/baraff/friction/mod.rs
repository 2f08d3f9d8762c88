//! Static and dynamic friction, in the plane and in space.

mod claims;
mod growth;
mod known;

use stiction_contact::models::BaraffFriction;
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, ModelOptions};
use stiction_lcp::InputError;

use super::bodies::{self, Dimension, Heap};
use crate::compose::{columns, count, failed, text};
use crate::timing::timed;
use crate::{Cell, Effort, Experiment, ExperimentError, Progress, Section, Table};
use growth::Growth;

const NAME: &str = "baraff/friction";
/// Coefficients as surfaces have them, and beyond.
const USUAL: [f64; 2] = [0.0, 0.5];
const LARGE: [f64; 2] = [0.5, 1.0];
const UNREALISTIC: [f64; 2] = [1.0, 3.0];
/// Contacts of the random heaps: 1 to this.
const MOST_CONTACTS: usize = 24;
/// Contacts of the towers and heaps whose steps are counted; so many of them in the quick form.
const GROWTH: [usize; 6] = [4, 8, 16, 32, 64, 128];
const QUICK_GROWTH: usize = 4;
/// A slip slower than this beside the speeds of the problem is none (m/s).
const SLIPS: f64 = 1e-9;

/// Problems of one kind.
struct Family {
    name: &'static str,
    dimension: Dimension,
    mu: [f64; 2],
    moving: bool,
}

const FAMILIES: [Family; 10] = [
    Family { name: "2D, static, mu 0 to 0.5", dimension: Dimension::Two, mu: USUAL, moving: false },
    Family { name: "2D, static, mu 1 to 3", dimension: Dimension::Two, mu: UNREALISTIC, moving: false },
    Family { name: "3D, static, mu 0 to 0.5", dimension: Dimension::Three, mu: USUAL, moving: false },
    Family { name: "3D, static, mu 1 to 3", dimension: Dimension::Three, mu: UNREALISTIC, moving: false },
    Family { name: "2D, dynamic, mu 0 to 0.5", dimension: Dimension::Two, mu: USUAL, moving: true },
    Family { name: "2D, dynamic, mu 0.5 to 1", dimension: Dimension::Two, mu: LARGE, moving: true },
    Family { name: "2D, dynamic, mu 1 to 3", dimension: Dimension::Two, mu: UNREALISTIC, moving: true },
    Family { name: "3D, dynamic, mu 0 to 0.5", dimension: Dimension::Three, mu: USUAL, moving: true },
    Family { name: "3D, dynamic, mu 0.5 to 1", dimension: Dimension::Three, mu: LARGE, moving: true },
    Family { name: "3D, dynamic, mu 1 to 3", dimension: Dimension::Three, mu: UNREALISTIC, moving: true },
];

/// What became of the problems of a family.
#[derive(Debug, Clone, Default)]
struct Tally {
    problems: usize,
    contacts: usize,
    slipping: usize,
    solved: usize,
    rays: usize,
    /// Rays along which an impulse stops a slip.
    directed: usize,
    /// Of these, those after which the inelastic impact is certified too.
    impacts: usize,
    /// Seeds of those that ended neither way, and how they ended.
    unanswered: Vec<(u64, String)>,
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
        "§§5 to 7: static and dynamic friction in two and three dimensions"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let (count, sizes) = if effort.quick { (200, &GROWTH[..QUICK_GROWTH]) } else { (4000, &GROWTH[..]) };
        run(count, sizes, progress).map_err(failed(NAME))
    }
}

fn run(count: u64, sizes: &[usize], progress: &mut dyn Progress) -> Result<Section, InputError> {
    let total = FAMILIES.len() + sizes.len() + 2;
    let mut tallies = Vec::new();
    for (k, family) in FAMILIES.iter().enumerate() {
        progress.report(k, total, family.name);
        tallies.push(tally(family, count)?);
    }
    let mut growth = Vec::new();
    for (k, n) in sizes.iter().enumerate() {
        progress.report(FAMILIES.len() + k, total, &format!("{n} contacts"));
        growth.push(Growth::measure(*n)?);
    }
    progress.report(total - 2, total, "Painlevé's rod");
    let rods = known::painleve()?;
    progress.report(total - 1, total, "directions and towers");
    let (spread, towers) = (known::isotropy()?, known::towers()?);
    Ok(Section {
        text: explain(),
        tables: vec![table(&tallies), growth::table(&growth)],
        plots: vec![growth::plot(&growth)],
        pictures: Vec::new(),
        claims: claims::claims(&tallies, &growth, &rods, spread, &towers),
    })
}

fn tally(family: &Family, count: u64) -> Result<Tally, InputError> {
    let mut tally = Tally::default();
    let mut model = BaraffFriction::new(ModelOptions::default());
    for seed in 0..count {
        let contacts = 1 + seed as usize % MOST_CONTACTS;
        let heap = Heap { dimension: family.dimension, contacts, mu: family.mu, moving: family.moving };
        let problem = bodies::heap(&heap, seed)?;
        tally.add(&mut model, &problem, seed)?;
    }
    Ok(tally)
}

impl Tally {
    fn add(&mut self, model: &mut BaraffFriction, problem: &ContactProblem, seed: u64) -> Result<(), InputError> {
        let contacts = problem.contacts().len();
        self.problems += 1;
        self.contacts += contacts;
        self.slipping += (0..contacts).filter(|&i| problem.slip(i).iter().any(|s| s.abs() > SLIPS)).count();
        let (seconds, outcome) = timed(|| model.solve(problem));
        self.seconds += seconds;
        match &outcome? {
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
                self.directed += usize::from(impact.is_some());
                self.impacts += usize::from(impact.is_some_and(|i| i.outcome.solved().is_some()));
            }
            ContactOutcome::Failed(failure) => self.unanswered.push((seed, failure.why.clone())),
            other => self.unanswered.push((seed, other.name().into())),
        }
        Ok(())
    }

    fn share(part: usize, of: usize) -> f64 {
        part as f64 / of.max(1) as f64
    }
}

fn explain() -> Vec<String> {
    vec![
        "The paper describes its algorithm for friction in two and three dimensions and reports no figures for it: only that it always \
         ended, that the work is about O(n), and that infinite steps, which become impulses, occur mostly with unrealistically large \
         coefficients."
            .into(),
        "Here heaps of 1 to 24 contacts are drawn at random, at rest (all contacts have static friction) and in motion without parting \
         (those that slip have dynamic friction). Each problem ends with forces that pass the certificate, or with a ray; a ray is turned \
         into an impact that ends the jam. Towers whose top is pushed, a cube pushed along 64 directions, and Painlevé's rod have known \
         answers."
            .into(),
        "We depart from the paper where its method loops or depends on the user's choice of tangents; docs/papers/baraff.md says how.".into(),
    ]
}

fn table(tallies: &[Tally]) -> Table {
    let row = |(family, t): (&Family, &Tally)| {
        vec![
            text(family.name),
            count(t.problems),
            Cell::Number(Tally::share(t.contacts, t.problems)),
            Cell::Number(100.0 * Tally::share(t.slipping, t.contacts)),
            count(t.solved),
            count(t.rays),
            count(t.directed),
            count(t.impacts),
            count(t.unanswered.len()),
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
        columns: columns(&[
            ("problems", ""),
            ("count", ""),
            ("contacts, mean", ""),
            ("slipping", "%"),
            ("solved", ""),
            ("rays", ""),
            ("rays that stop a slip", ""),
            ("impacts certified", ""),
            ("neither", ""),
            ("fallbacks", ""),
            ("steps, mean", ""),
            ("steps, most", ""),
            ("worst certificate", ""),
            ("time, mean", "µs"),
        ]),
        rows: FAMILIES.iter().zip(tallies).map(row).collect(),
    }
}

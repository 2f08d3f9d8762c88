//! §V: what the models cost with more contacts, and with more coordinates.

use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method as Lloyd};
use stiction_contact::{
    Contact, ContactModel, ContactProblem, Level, Mass, NoSlip, NoSlipOptions, NormalOptions, NormalSolver,
    PolyhedralOptions, Viscous, scenes,
};
use stiction_lcp::generate::Rng;
use stiction_lcp::{InputError, Matrix};

use super::report::{claim, columns, count, line, median, plot, slope, text, timed};
use crate::papers::{Cell, Claim, Effort, Experiment, ExperimentError, Progress, Section, Series, Table, Verdict};

/// The experiment of §V.
pub struct Complexity;

/// A model that is measured: its name, the most contacts it is given, and how to make it.
type Entry = (&'static str, usize, fn() -> Box<dyn ContactModel>);

const MODELS: [Entry; 4] = [
    ("no-slip (modified PPM)", usize::MAX, || Box::new(NoSlip::new(NoSlipOptions { normals: ppm(), release: false }))),
    ("viscous (modified PPM)", usize::MAX, || Box::new(Viscous::new(Level::Velocity, ppm()))),
    ("viscous, accelerations (modified PPM)", usize::MAX, || Box::new(Viscous::new(Level::Acceleration, ppm()))),
    ("Stewart–Trinkle (Lemke)", 64, || {
        let options = PolyhedralOptions { directions: 4, method: Lloyd::Standard, ..PolyhedralOptions::default() };
        Box::new(CoulombPolyhedral::new(options).expect("four directions are allowed"))
    }),
];

fn ppm() -> NormalOptions {
    NormalOptions { solver: NormalSolver::ModifiedPpm, ..NormalOptions::default() }
}

/// The bound that the exponents are compared with: linear but for small sizes and noise.
const LINEAR: f64 = 1.15;
const CUBIC: f64 = 3.1;

impl Experiment for Complexity {
    fn name(&self) -> &'static str {
        "drumwright/complexity"
    }

    fn title(&self) -> &'static str {
        "§V: time against the number of contacts, and of coordinates"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let error = |e: InputError| ExperimentError { experiment: "drumwright/complexity", message: e.to_string() };
        let mut section = Section { text: introduction(), ..Section::default() };
        progress.report(0, 2, "more contacts");
        contacts(effort, &mut section).map_err(error)?;
        progress.report(1, 2, "more coordinates");
        coordinates(effort, &mut section).map_err(error)?;
        progress.report(2, 2, "done");
        Ok(section)
    }
}

fn introduction() -> Vec<String> {
    [
        "The paper gives O(m³ + m² n) as the expected time of its two models, for n contacts on m coordinates, against O(n³) with \
         Coulomb friction; it has no measurements, and its own implementation had not the updated factors that this takes. Ours has \
         them.",
        "Time against n: one body with six coordinates and n contacts at random places, all different, mu_v = 0.5 (mu = 0.3 for \
         Stewart and Trinkle's model with four directions, by Lemke's standard method). Time against m: one articulated body with m \
         coordinates, a random inertia and 512 random contacts. Every problem is solved from scratch and certified; medians over \
         problems. The exponents are those of straight lines through the second half of the points on logarithmic axes.",
    ]
    .map(String::from)
    .to_vec()
}

/// Median time (µs) of a solve over problems, and mean pivots; `None` if one is not solved.
fn measure(model: &mut dyn ContactModel, problems: &[ContactProblem]) -> Result<Option<(f64, f64)>, InputError> {
    let (mut times, mut pivots) = (Vec::new(), 0);
    for problem in problems {
        for call in 0..4 {
            let (time, outcome) = timed(|| model.solve(problem));
            let outcome = outcome?;
            let Some(solution) = outcome.solved() else { return Ok(None) };
            // The first call grows the workspace.
            if call > 0 {
                times.push(1e6 * time.as_secs_f64());
            } else {
                pivots += solution.stats.pivots;
            }
        }
    }
    Ok(Some((median(times), pivots as f64 / problems.len() as f64)))
}

fn table(name: &str, title: &str, size: &str) -> Table {
    let columns = columns(&[("model", ""), (size, ""), ("time", "µs"), ("pivots, mean", "")]);
    Table { name: name.into(), title: title.into(), columns, rows: vec![] }
}

/// The exponent of the second half of the points.
fn exponent(points: &[(f64, f64)]) -> f64 {
    slope(&points[points.len() / 2..])
}

fn contacts(effort: &Effort, section: &mut Section) -> Result<(), InputError> {
    let mut all = table("complexity-contacts", "Time against the number of contacts n on one body (m = 6)", "contacts");
    let mut lines: Vec<Series> = Vec::new();
    let most = if effort.quick { 2048 } else { 8192 };
    for (name, bound, make) in MODELS {
        let (mut model, mut points, mut n) = (make(), Vec::new(), 8);
        while n <= most.min(bound) {
            let problems = (0..if effort.quick { 3 } else { 7 })
                .map(|seed| {
                    scenes::body_in_bowl(
                        n,
                        if bound < most { 0.3 } else { 0.0 },
                        if bound < most { 0.0 } else { 0.5 },
                        seed,
                    )
                })
                .collect::<Result<Vec<_>, _>>()?;
            if let Some((time, pivots)) = measure(model.as_mut(), &problems)? {
                all.rows.push(vec![text(name), count(n), Cell::Number(time), Cell::Number(pivots)]);
                points.push((n as f64, time));
            }
            n *= 2;
        }
        section.claims.push(contacts_claim(name, bound, &points));
        lines.push(line(name, points));
    }
    section.tables.push(all);
    let title = "Time against the number of contacts on one body (m = 6)";
    section.plots.push(plot("complexity-contacts", title, ("contacts n", true), ("time (µs)", true), lines));
    Ok(())
}

fn contacts_claim(name: &str, bound: usize, points: &[(f64, f64)]) -> Claim {
    let found = exponent(points);
    if bound < usize::MAX {
        let what = format!("{name}: expected time grows as n³");
        let ours = format!("n^{found:.2} for n ≤ {bound}");
        return claim(&what, "n³", ours, found > 1.5, "it grows more slowly here");
    }
    let what = format!("{name}: at fixed m, time grows no faster than n");
    claim(&what, "n¹", format!("n^{found:.2}"), found <= LINEAR, "it grows faster")
}

/// One articulated body: a random inertia of m coordinates and n random contacts, each with rows of unit size.
fn articulated(m: usize, n: usize, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let factor = Matrix::from_fn(m, m, |_, _| rng.normal());
    let inertia = Matrix::from_fn(m, m, |i, j| {
        let product: f64 = (0..m).map(|k| factor[(i, k)] * factor[(j, k)]).sum();
        product / m as f64 + if i == j { 1.0 } else { 0.0 }
    });
    let mut vector = |scale: f64| (0..m).map(|_| scale * rng.normal()).collect::<Vec<f64>>();
    let (v, force) = (vector(0.1), vector(10.0));
    let mut problem = ContactProblem::new(Mass::new(vec![inertia])?, v, force, 1e-3)?;
    for _ in 0..n {
        let scale = 1.0 / (m as f64).sqrt();
        let [normal, s, t] = [vector(scale), vector(scale), vector(scale)];
        problem.add_contact(Contact { mu_viscous: 0.5, ..Contact::new(&[(0, &normal)], &[(0, &s)], &[(0, &t)]) })?;
    }
    Ok(problem)
}

fn coordinates(effort: &Effort, section: &mut Section) -> Result<(), InputError> {
    const CONTACTS: usize = 512;
    let title = "Time against the number of coordinates m of an articulated body with 512 contacts";
    let mut all = table("complexity-coordinates", title, "coordinates");
    let sizes: &[usize] = if effort.quick { &[6, 12, 24, 48] } else { &[6, 12, 24, 48, 96, 192] };
    let mut lines = Vec::new();
    for (name, _, make) in MODELS.into_iter().filter(|(_, bound, _)| *bound == usize::MAX) {
        let (mut model, mut points) = (make(), Vec::new());
        for &m in sizes {
            let problems = (0..if effort.quick { 2 } else { 5 })
                .map(|seed| articulated(m, CONTACTS, seed))
                .collect::<Result<Vec<_>, _>>()?;
            if let Some((time, pivots)) = measure(model.as_mut(), &problems)? {
                all.rows.push(vec![text(name), count(m), Cell::Number(time), Cell::Number(pivots)]);
                points.push((m as f64, time));
            }
        }
        let found = exponent(&points);
        let what = format!("{name}: at fixed n, time grows no faster than m³");
        let mut claim = claim(&what, "m³", format!("m^{found:.2}"), found <= CUBIC, "it grows faster");
        if found < 2.5 {
            claim.verdict = Verdict::Better;
        }
        section.claims.push(claim);
        lines.push(line(name, points));
    }
    section.tables.push(all);
    section.plots.push(plot("complexity-coordinates", title, ("coordinates m", true), ("time (µs)", true), lines));
    Ok(())
}

//! §V: what the models cost with more contacts, and with more coordinates.

use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method as Lloyd};
use stiction_contact::scenes;
use stiction_contact::{
    Contact, ContactModel, ContactProblem, Level, Mass, NoSlip, NoSlipOptions, NormalOptions, NormalSolver,
    PolyhedralOptions, Viscous,
};
use stiction_lcp::generate::Rng;
use stiction_lcp::{InputError, Matrix};

use crate::compose::{Rule, claim, columns, count, failed, line, plot, text};
use crate::timing::{exponent, median, timed};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Progress, Section, Series, Table};

/// The experiment of §V.
pub struct Complexity;

const NAME: &str = "drumwright/complexity";

/// A law of contact that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    NoSlip,
    Viscous(Level),
    StewartTrinkle,
}

const LAWS: [Law; 4] =
    [Law::NoSlip, Law::Viscous(Level::Velocity), Law::Viscous(Level::Acceleration), Law::StewartTrinkle];

impl Law {
    fn name(self) -> &'static str {
        match self {
            Self::NoSlip => "no-slip (modified PPM)",
            Self::Viscous(Level::Velocity) => "viscous (modified PPM)",
            Self::Viscous(Level::Acceleration) => "viscous, accelerations (modified PPM)",
            Self::StewartTrinkle => "Stewart–Trinkle (Lemke)",
        }
    }

    fn model(self) -> Result<Box<dyn ContactModel>, InputError> {
        let normals = NormalOptions { solver: NormalSolver::ModifiedPpm, ..NormalOptions::default() };
        Ok(match self {
            Self::NoSlip => Box::new(NoSlip::new(NoSlipOptions { normals, release: false })),
            Self::Viscous(level) => Box::new(Viscous::new(level, normals)),
            Self::StewartTrinkle => {
                let method = Lloyd::Standard;
                Box::new(CoulombPolyhedral::new(PolyhedralOptions { directions: 4, method, ..Default::default() })?)
            }
        })
    }

    /// Most contacts it is given.
    fn most(self, effort: &Effort) -> usize {
        match (self, effort.quick) {
            (Self::StewartTrinkle, true) => 128,
            (Self::StewartTrinkle, false) => 256,
            (_, true) => 2048,
            (_, false) => 8192,
        }
    }

    /// One body with `n` contacts. Without slip three points that are not on a line and whose normals differ hold a body fast, and no normal force is
    /// left to find; so there all normals are parallel.
    fn one_body(self, n: usize, seed: u64) -> Result<ContactProblem, InputError> {
        match self {
            Self::NoSlip => scenes::body_on_floor(n, seed),
            Self::Viscous(_) => scenes::body_in_bowl(n, 0.0, 0.5, seed),
            Self::StewartTrinkle => scenes::body_in_bowl(n, 0.3, 0.0, seed),
        }
    }
}

/// The exponents that are claimed, with what small sizes and noise may add to them.
const LINEAR: f64 = 1.15;
const CUBIC: f64 = 3.1;

/// Contacts of the articulated bodies.
const CONTACTS: usize = 512;

impl Experiment for Complexity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "§V: time against the number of contacts, and of coordinates"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let mut section = Section { text: introduction(), ..Section::default() };
        progress.report(0, 2, "more contacts");
        contacts(effort, &mut section).map_err(failed(NAME))?;
        progress.report(1, 2, "more coordinates");
        coordinates(effort, &mut section).map_err(failed(NAME))?;
        progress.report(2, 2, "done");
        Ok(section)
    }
}

fn introduction() -> Vec<String> {
    [
        "The paper gives O(m³ + m² n) as the expected time of its two models, for n contacts on m coordinates, against O(n³) with \
         Coulomb friction; it has no measurements, and its own implementation had not the updated factors that this takes. Ours has \
         them.",
        "Time against n: one body with six coordinates and n contacts at random places, all different. Without slip it stands on a floor \
         (where normals differ, three points without slip hold a body fast, and no normal force is left to find); with viscous friction \
         (mu_v = 0.5) and with Stewart and Trinkle's model (mu = 0.3, four directions, Lemke's standard method) it lies in a bowl. Time \
         against m: one articulated body with m coordinates, a random inertia and 512 random contacts, whose tangents act on half of the \
         coordinates. Every problem is solved from scratch and certified; medians over problems. The exponents are those of straight \
         lines through the second half of the points on logarithmic axes.",
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
                times.push(1e6 * time);
            } else {
                pivots += solution.stats.pivots;
            }
        }
    }
    Ok(Some((median(times), pivots as f64 / problems.len() as f64)))
}

/// A row of a table; a problem that is not solved leaves it without numbers, and its claim without a verdict in our favour.
fn row(law: Law, size: usize, measured: Option<(f64, f64)>) -> Vec<Cell> {
    let (time, pivots) = measured.unwrap_or((f64::NAN, f64::NAN));
    vec![text(law.name()), count(size), Cell::Number(time), Cell::Number(pivots)]
}

fn table(name: &str, title: &str, size: &str) -> Table {
    let columns = columns(&[("model", ""), (size, ""), ("time, median", "µs"), ("pivots, mean", "")]);
    Table { name: name.into(), title: title.into(), columns, rows: vec![] }
}

/// The exponent of the second half of the points; NaN if a size was not solved.
fn growth(points: &[(f64, f64)]) -> f64 {
    if points.iter().any(|p| p.1.is_nan()) { f64::NAN } else { exponent(&points[points.len() / 2..]) }
}

fn contacts(effort: &Effort, section: &mut Section) -> Result<(), InputError> {
    let title = "Time against the number of contacts n on one body (m = 6)";
    let mut all = table("complexity-contacts", title, "contacts");
    let mut lines: Vec<Series> = Vec::new();
    for law in LAWS {
        let (mut model, mut points, mut n) = (law.model()?, Vec::new(), 8);
        while n <= law.most(effort) {
            let seeds = 0..if effort.quick { 3 } else { 7 };
            let problems = seeds.map(|seed| law.one_body(n, seed)).collect::<Result<Vec<_>, _>>()?;
            let measured = measure(model.as_mut(), &problems)?;
            all.rows.push(row(law, n, measured));
            points.push((n as f64, measured.map_or(f64::NAN, |m| m.0)));
            n *= 2;
        }
        section.claims.push(contacts_claim(law, law.most(effort), growth(&points)));
        lines.push(line(law.name(), points));
    }
    section.tables.push(all);
    section.plots.push(plot("complexity-contacts", title, ("contacts n", true), ("time (µs)", true), lines));
    Ok(())
}

fn contacts_claim(law: Law, most: usize, found: f64) -> Claim {
    let name = law.name();
    let ours = format!("n^{found:.2} for n ≤ {most}");
    if law == Law::StewartTrinkle {
        let rule = Rule::when((2.5..=3.5).contains(&found), "an exponent from 2.5 to 3.5");
        return claim(format!("{name}: expected time grows as n³"), "n³", ours, rule, "it does not grow so here");
    }
    let what = format!("{name}: at fixed m, time grows no faster than n");
    claim(what, "n¹", ours, Rule::at_most(found, LINEAR), "it grows faster, or was not solved")
}

/// One articulated body: a random inertia of m coordinates and n random contacts. Normals act on all coordinates; tangents on the first half, so that
/// without slip the other half is left to the normals.
fn articulated(m: usize, n: usize, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let factor = Matrix::from_fn(m, m, |_, _| rng.normal());
    let inertia = Matrix::from_fn(m, m, |i, j| {
        let product: f64 = (0..m).map(|k| factor[(i, k)] * factor[(j, k)]).sum();
        product / m as f64 + if i == j { 1.0 } else { 0.0 }
    });
    let mut vector = |most: usize, scale: f64| {
        (0..m).map(|k| if k < most { scale * rng.normal() } else { 0.0 }).collect::<Vec<f64>>()
    };
    let (v, force) = (vector(m, 0.1), vector(m, 10.0));
    let mut problem = ContactProblem::new(Mass::new(vec![inertia])?, v, force, 1e-3)?;
    for _ in 0..n {
        let scale = 1.0 / (m as f64).sqrt();
        let [normal, s, t] = [vector(m, scale), vector(m / 2, scale), vector(m / 2, scale)];
        problem.add_contact(Contact { mu_viscous: 0.5, ..Contact::new(&[(0, &normal)], &[(0, &s)], &[(0, &t)]) })?;
    }
    Ok(problem)
}

fn coordinates(effort: &Effort, section: &mut Section) -> Result<(), InputError> {
    let title = format!("Time against the number of coordinates m of an articulated body with {CONTACTS} contacts");
    let mut all = table("complexity-coordinates", &title, "coordinates");
    let sizes: &[usize] = if effort.quick { &[6, 12, 24, 48] } else { &[6, 12, 24, 48, 96, 192] };
    let mut lines = Vec::new();
    for law in LAWS.into_iter().filter(|law| *law != Law::StewartTrinkle) {
        let (mut model, mut points) = (law.model()?, Vec::new());
        for &m in sizes {
            let seeds = 0..if effort.quick { 2 } else { 5 };
            let problems = seeds.map(|seed| articulated(m, CONTACTS, seed)).collect::<Result<Vec<_>, _>>()?;
            let measured = measure(model.as_mut(), &problems)?;
            all.rows.push(row(law, m, measured));
            points.push((m as f64, measured.map_or(f64::NAN, |x| x.0)));
        }
        let found = growth(&points);
        let rule = Rule::at_most(found, CUBIC).better_at_most(found, 2.5);
        let what = format!("{}: at fixed n, time grows no faster than m³", law.name());
        section.claims.push(claim(what, "m³", format!("m^{found:.2}"), rule, "it grows faster, or was not solved"));
        lines.push(line(law.name(), points));
    }
    section.tables.push(all);
    section.plots.push(plot("complexity-coordinates", &title, ("coordinates m", true), ("time (µs)", true), lines));
    Ok(())
}
